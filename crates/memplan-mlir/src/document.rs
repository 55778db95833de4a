//! An MLIR text as it was read: ops, regions, blocks and values in flat
//! vectors, each with its span.
//!
//! The text itself is kept, and nothing in a [`Document`] is ever printed: a
//! rewrite is the text with [`Edits`](crate::Edits) applied, so whatever is
//! not edited stays as it was, byte for byte.
//!
//! ```
//! use memplan_mlir::{Dialects, Document};
//! let source = "%0:2 = \"a.pair\"() : () -> (i1, memref<4xf32>)\n\"a.use\"(%0#1) : (memref<4xf32>) -> ()\n";
//! let document = Document::read(source, Dialects::builtin())?;
//! let ops = document.ops(document.top_blocks()[0]);
//! assert_eq!(document.name(ops[1]), "a.use");
//! assert_eq!(document.operands(ops[1]), &[document.results(ops[0])[1]]);
//! # Ok::<(), memplan_mlir::TextError>(())
//! ```
//!
//! Op ids count in the order of the text, an op before the ops of its regions
//! (pre-order). Ops that a custom form leaves out (the `scf.yield` of a loop
//! without results, the body of `linalg.matmul`) are there too, with
//! [`Form::Implicit`] and an empty span where they would stand.

use memplan_core::{IndexVec, Span, index_type};
use memplan_program::OpName;
use std::sync::Arc;

use crate::dialect::{Dialects, OpInfo};
use crate::error::{Note, TextError};
use crate::ty::Type;

index_type! {
    /// An op, in pre-order of the text.
    pub struct OpId;
    /// A region.
    pub struct RegionId;
    /// A block.
    pub struct BlockId;
    /// A value: an op's result or a block's argument.
    pub struct ValueId;
    /// A distinct type of the text.
    pub struct TypeId;
    /// A distinct op name of the text.
    pub struct NameId;
}

/// How an op is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `"dialect.op"(…) … : (…) -> …`.
    Generic,
    /// The dialect's own syntax.
    Custom,
    /// Left out in the text, although the op exists: an implicit terminator, for example.
    Implicit,
}

/// A part of one of the document's pools. A pool is a vector that holds the lists of all ops (or regions, or blocks)
/// one behind the other, so that no op has a vector of its own.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PoolRange {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl PoolRange {
    /// The members of a pool that belong to this range.
    #[inline]
    fn of<T>(self, pool: &[T]) -> &[T] {
        pool.get(self.start as usize..self.end as usize).unwrap_or(&[])
    }
}

/// An op.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    /// Its name, see [`Document::name`].
    pub name: NameId,
    /// How it is written.
    pub form: Form,
    /// From its first result name to the end of its location.
    pub span: Span,
    /// The name as written (a string literal in the generic form).
    pub name_span: Span,
    /// The block that holds it.
    pub parent: BlockId,
    pub(crate) operands: PoolRange,
    pub(crate) results: PoolRange,
    /// Its part of the pool of spans: its attribute dictionaries and, behind them, its types.
    pub(crate) spans: PoolRange,
    /// Where the types begin in the pool of spans.
    pub(crate) types: u32,
    /// The position of its [`Rare`] facts in the document's list of them; [`NOTHING_RARE`] if it has none.
    pub(crate) rare: u32,
}

impl Op {
    /// An op of which no parts are known yet.
    pub(crate) fn new(name: NameId, form: Form, span: Span, name_span: Span, parent: BlockId) -> Op {
        let none = PoolRange::default();
        Op {
            name,
            form,
            span,
            name_span,
            parent,
            operands: none,
            results: none,
            spans: none,
            types: 0,
            rare: NOTHING_RARE,
        }
    }
}

/// Facts that few ops have. A file may have millions of ops, so they are kept in a list of their own and not in each
/// op.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rare {
    /// The first symbol name (`@f`) in its custom form.
    pub(crate) symbol: Option<Span>,
    /// Its `loc(…)`.
    pub(crate) location: Option<Span>,
    pub(crate) regions: PoolRange,
    pub(crate) successors: PoolRange,
    pub(crate) groups: PoolRange,
}

/// The index of the rare facts of an op that has none.
pub(crate) const NOTHING_RARE: u32 = u32::MAX;

/// A region of an op, or the top level of a file.
#[derive(Clone, Debug)]
pub struct Region {
    /// The op it belongs to; none for the top level.
    pub parent: Option<OpId>,
    /// From `{` to `}`; empty if not written.
    pub span: Span,
    pub(crate) blocks: PoolRange,
}

/// A block.
#[derive(Clone, Debug)]
pub struct Block {
    /// The region it belongs to.
    pub parent: RegionId,
    /// `^name`; empty if not written.
    pub label: Span,
    pub(crate) arguments: PoolRange,
    pub(crate) ops: PoolRange,
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definition {
    /// A result of an op.
    Result {
        /// The op.
        op: OpId,
        /// Which of its results.
        index: u32,
    },
    /// An argument of a block.
    Argument {
        /// The block.
        block: BlockId,
        /// Which of its arguments.
        index: u32,
    },
    /// A name in an unknown custom form that nothing defines.
    Unresolved,
}

/// A value.
#[derive(Clone, Debug)]
pub struct Value {
    /// `%name` where it is defined; empty for results and arguments without a written name.
    pub name: Span,
    /// What it is.
    pub definition: Definition,
    /// Its type, see [`Document::ty`].
    pub ty: TypeId,
    /// Where its type is written next to its definition; empty if it is not.
    pub type_span: Span,
}

/// A block an op may branch to.
#[derive(Clone, Copy, Debug)]
pub struct Successor {
    /// The block; none if an unknown custom form names no block of its region.
    pub block: Option<BlockId>,
    /// In the custom form, which of the op's operands (by position) the branch passes on.
    pub(crate) operands: PoolRange,
}

/// A keyword of a custom form with operands in brackets: `outs(%a, %b : …)`.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// The keyword.
    pub keyword: Span,
    /// Positions of its operands among the op's.
    pub start: u32,
    /// One past the last.
    pub end: u32,
}

/// How a type is spelled: as a part of the text, or as a fixed word if the text does not write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeText {
    Source(Span),
    Known(&'static str),
}

/// A distinct type of the text.
#[derive(Clone, Debug)]
pub(crate) struct TypeEntry {
    pub(crate) text: TypeText,
    /// The part of the file (see [`Document::read`]) whose aliases it may use.
    pub(crate) chunk: u32,
    /// Its structure; unknown until the whole text has been read.
    pub(crate) ty: Type,
}

/// A distinct op name of the text, with what the dialect tables know about it.
#[derive(Clone, Debug)]
pub(crate) struct NameEntry {
    pub(crate) name: OpName,
    pub(crate) info: OpInfo,
    pub(crate) kind: NameKind,
}

impl NameEntry {
    pub(crate) fn new(name: &str, info: OpInfo) -> NameEntry {
        NameEntry { name: OpName::from(name), info, kind: NameKind::of(name) }
    }
}

/// What the reader and the lowering ask about the name of every op. A text has few distinct names and many ops, so the
/// answers are found once for each name and not by comparing texts for each op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameKind(u16);

impl NameKind {
    /// Passes write this op anew from its parts: an allocation, a deallocation or a mark.
    pub(crate) const REWRITTEN: NameKind = NameKind(1);
    /// The custom form names its operands in another order than the generic form.
    pub(crate) const REORDERED: NameKind = NameKind(1 << 1);
    /// An `if` whose `else` need not be written.
    pub(crate) const ALTERNATIVES: NameKind = NameKind(1 << 2);
    pub(crate) const AFFINE: NameKind = NameKind(1 << 3);
    pub(crate) const LINALG: NameKind = NameKind(1 << 4);
    /// An op of an NPU kernel, `hivm.hir.…`.
    pub(crate) const HIVM: NameKind = NameKind(1 << 5);
    /// `annotation.mark`.
    pub(crate) const MARK: NameKind = NameKind(1 << 6);
    /// An allocation, or a view whose base must be large enough.
    pub(crate) const REACHES: NameKind = NameKind(1 << 7);
    /// Copies one memref to another as it is.
    pub(crate) const COPY: NameKind = NameKind(1 << 8);

    /// The kind of a name.
    fn of(name: &str) -> NameKind {
        let kinds = [
            (
                NameKind::REWRITTEN,
                matches!(name, "memref.alloc" | "memref.alloca" | "memref.dealloc" | "annotation.mark"),
            ),
            (
                NameKind::REORDERED,
                matches!(
                    name,
                    "linalg.pack"
                        | "linalg.unpack"
                        | "gpu.launch_func"
                        | "nvgpu.device_async_copy"
                        | "nvgpu.tma.async.load"
                        | "nvgpu.mbarrier.test.wait"
                        | "spirv.VectorInsertDynamic"
                ),
            ),
            (NameKind::ALTERNATIVES, matches!(name, "scf.if" | "affine.if")),
            (NameKind::AFFINE, name.starts_with("affine.")),
            (NameKind::LINALG, name.starts_with("linalg.")),
            (NameKind::HIVM, name.starts_with("hivm.hir.")),
            (NameKind::MARK, name == "annotation.mark"),
            (
                NameKind::REACHES,
                matches!(
                    name,
                    "memref.alloc" | "memref.alloca" | "memref.view" | "memref.subview" | "memref.reinterpret_cast"
                ),
            ),
            (NameKind::COPY, matches!(name, "memref.copy" | "linalg.copy")),
        ];
        NameKind(kinds.iter().filter(|(_, holds)| *holds).fold(0, |all, (kind, _)| all | kind.0))
    }

    /// Whether the name is of this kind.
    #[inline]
    pub(crate) fn is(self, kind: NameKind) -> bool {
        self.0 & kind.0 != 0
    }
}

/// What `#name = …` or `!name = …` stands for: the text behind `=`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alias {
    pub(crate) value: Span,
}

/// An MLIR text and what is in it.
#[derive(Clone, Debug)]
pub struct Document {
    pub(crate) source: Arc<str>,
    pub(crate) ops: IndexVec<OpId, Op>,
    pub(crate) rare: Vec<Rare>,
    pub(crate) regions: IndexVec<RegionId, Region>,
    pub(crate) blocks: IndexVec<BlockId, Block>,
    pub(crate) values: IndexVec<ValueId, Value>,
    pub(crate) types: IndexVec<TypeId, TypeEntry>,
    pub(crate) names: IndexVec<NameId, NameEntry>,
    /// Those of the names whose ops cancel constructs of their dialect.
    pub(crate) cancelling: Vec<NameId>,
    /// The top-level block of each part of the file.
    pub(crate) top: Vec<BlockId>,
    /// The aliases of each part of the file, by name with its `#` or `!`.
    pub(crate) aliases: Vec<crate::hash::HashMap<String, Alias>>,
    pub(crate) operand_pool: Vec<ValueId>,
    pub(crate) value_pool: Vec<ValueId>,
    pub(crate) region_pool: Vec<RegionId>,
    pub(crate) block_pool: Vec<BlockId>,
    pub(crate) op_pool: Vec<OpId>,
    pub(crate) successor_pool: Vec<Successor>,
    pub(crate) group_pool: Vec<Group>,
    pub(crate) span_pool: Vec<Span>,
    pub(crate) notes: Vec<Note>,
}

impl Document {
    /// Reads a text.
    ///
    /// A line `// -----` at the top level starts a new, independent part, as
    /// `-split-input-file` does.
    pub fn read(source: &str, dialects: &Dialects) -> Result<Document, TextError> {
        Document::read_shared(Arc::from(source), dialects)
    }

    /// Reads a text that the caller shares with the document. A text may have 100 MB, and [`read`](Self::read) copies
    /// it.
    pub fn read_shared(source: Arc<str>, dialects: &Dialects) -> Result<Document, TextError> {
        crate::read::read(&source, dialects)
    }

    /// The text that was read.
    #[inline]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The text under a span.
    #[inline]
    pub fn text(&self, span: Span) -> &str {
        self.source.get(span.range()).unwrap_or("")
    }

    /// The top-level block of each part of the file (one, unless `// -----` splits it).
    pub fn top_blocks(&self) -> &[BlockId] {
        &self.top
    }

    /// Whether some op between `op` and `from`, an op around it, sees nothing of what is outside of itself: a module
    /// or a function inside of a function.
    pub(crate) fn is_cut_off(&self, op: OpId, from: OpId) -> bool {
        let around = std::iter::successors(self.parent_op(op), |&inner| self.parent_op(inner));
        let mut between = around.take_while(|&outer| outer != from);
        between.any(|outer| self.info(outer).traits.has(crate::dialect::Traits::ISOLATED))
    }

    /// All ops, in pre-order.
    #[inline]
    pub fn op_ids(&self) -> impl DoubleEndedIterator<Item = OpId> + ExactSizeIterator + use<> {
        self.ops.ids()
    }

    /// All values.
    #[inline]
    pub fn value_ids(&self) -> impl DoubleEndedIterator<Item = ValueId> + ExactSizeIterator + use<> {
        self.values.ids()
    }

    /// An op.
    #[inline]
    pub fn op(&self, op: OpId) -> &Op {
        &self.ops[op]
    }

    /// The rare facts about an op; `None` if it has none.
    #[inline]
    pub(crate) fn rare(&self, op: OpId) -> Option<&Rare> {
        self.rare.get(self.ops[op].rare as usize)
    }

    /// The rare facts about an op, to be changed.
    pub(crate) fn rare_mut(&mut self, op: OpId) -> &mut Rare {
        let place = &mut self.ops[op].rare;
        if *place == NOTHING_RARE {
            *place = self.rare.len() as u32;
            self.rare.push(Rare::default());
        }
        &mut self.rare[*place as usize]
    }

    /// The first symbol name (`@f`) in an op's custom form.
    pub fn symbol(&self, op: OpId) -> Option<Span> {
        self.rare(op)?.symbol
    }

    /// An op's `loc(…)`.
    pub fn location(&self, op: OpId) -> Option<Span> {
        self.rare(op)?.location
    }

    /// An op's full name, with its dialect: `func.return` also where the text says `return`.
    #[inline]
    pub fn name(&self, op: OpId) -> &str {
        &self.names[self.ops[op].name].name
    }

    /// What is known about an op by its name alone.
    #[inline]
    pub(crate) fn kind(&self, op: OpId) -> NameKind {
        self.names[self.ops[op].name].kind
    }

    /// An op's full name, shared, for callers that keep it.
    pub(crate) fn shared_name(&self, op: OpId) -> OpName {
        self.names[self.ops[op].name].name.clone()
    }

    /// What is known about an op.
    #[inline]
    pub fn info(&self, op: OpId) -> &OpInfo {
        &self.names[self.ops[op].name].info
    }

    /// An op's operands, in the order of its generic form.
    #[inline]
    pub fn operands(&self, op: OpId) -> &[ValueId] {
        self.ops[op].operands.of(&self.operand_pool)
    }

    /// An op's results.
    #[inline]
    pub fn results(&self, op: OpId) -> &[ValueId] {
        self.ops[op].results.of(&self.value_pool)
    }

    /// An op's regions.
    #[inline]
    pub fn regions(&self, op: OpId) -> &[RegionId] {
        self.rare(op).map_or(&[], |rare| rare.regions.of(&self.region_pool))
    }

    /// The blocks an op may branch to.
    #[inline]
    pub fn successors(&self, op: OpId) -> &[Successor] {
        self.rare(op).map_or(&[], |rare| rare.successors.of(&self.successor_pool))
    }

    /// The keyword groups of an op's custom form.
    #[inline]
    pub fn groups(&self, op: OpId) -> &[Group] {
        self.rare(op).map_or(&[], |rare| rare.groups.of(&self.group_pool))
    }

    /// The attribute dictionaries of an op, braces included, properties among them.
    #[inline]
    pub fn dictionaries(&self, op: OpId) -> &[Span] {
        let Op { spans, types, .. } = self.ops[op];
        PoolRange { end: types, ..spans }.of(&self.span_pool)
    }

    /// Where an op spells types: in the generic form those of its operands,
    /// then those of its results; in the custom form those outside brackets, in
    /// the order of the text.
    pub fn type_spans(&self, op: OpId) -> &[Span] {
        let Op { spans, types, .. } = self.ops[op];
        PoolRange { start: types, ..spans }.of(&self.span_pool)
    }

    /// A region.
    #[inline]
    pub fn region(&self, region: RegionId) -> &Region {
        &self.regions[region]
    }

    /// A region's blocks.
    #[inline]
    pub fn blocks(&self, region: RegionId) -> &[BlockId] {
        self.regions[region].blocks.of(&self.block_pool)
    }

    /// A block.
    #[inline]
    pub fn block(&self, block: BlockId) -> &Block {
        &self.blocks[block]
    }

    /// A block's arguments.
    #[inline]
    pub fn arguments(&self, block: BlockId) -> &[ValueId] {
        self.blocks[block].arguments.of(&self.value_pool)
    }

    /// A block's ops.
    #[inline]
    pub fn ops(&self, block: BlockId) -> &[OpId] {
        self.blocks[block].ops.of(&self.op_pool)
    }

    /// The op whose region holds this op; none at the top level.
    #[inline]
    pub fn parent_op(&self, op: OpId) -> Option<OpId> {
        self.block_parent(self.ops[op].parent)
    }

    /// The op whose region holds this block; none at the top level.
    #[inline]
    pub fn block_parent(&self, block: BlockId) -> Option<OpId> {
        self.regions[self.blocks[block].parent].parent
    }

    /// A value.
    #[inline]
    pub fn value(&self, value: ValueId) -> &Value {
        &self.values[value]
    }

    /// A value's name as written where it is defined, `%0` for each result of
    /// `%0:2`; empty if it has none.
    #[inline]
    pub fn value_name(&self, value: ValueId) -> &str {
        self.text(self.values[value].name)
    }

    /// The place of a result among the results of the same name, and how many of them there are: `(1, 2)` for the
    /// `%0#1` of `%0:2 = …`, and `(0, 1)` for everything that has a name of its own. The results of an op that names
    /// none of them (the generic form allows that) are counted as results of one name, the empty one.
    pub fn result_number(&self, value: ValueId) -> (u32, u32) {
        let name = self.values[value].name;
        let Definition::Result { op, index } = self.values[value].definition else {
            return (0, 1);
        };
        // Each result of `%0:2` has the span of the one `%0` in the text as its name. The reader lets an op name all of
        // its results or none, so the starts of these spans never fall from one result to the next. (Results without
        // a name all have an empty span at 0.) So both ends of the stretch with this name are found by binary search.
        let results = self.results(op);
        let start = |v: &ValueId| self.values[*v].name.start;
        let first = results.partition_point(|v| start(v) < name.start);
        let end = results.partition_point(|v| start(v) <= name.start);
        (index - first as u32, (end - first) as u32)
    }

    /// A value's type.
    #[inline]
    pub fn ty(&self, value: ValueId) -> &Type {
        &self.types[self.values[value].ty].ty
    }

    /// A value's type as spelled, aliases not expanded.
    pub fn type_text(&self, value: ValueId) -> &str {
        match self.types[self.values[value].ty].text {
            TypeText::Source(span) => self.text(span),
            TypeText::Known(text) => text,
        }
    }

    /// What an alias (`#map`, `!buffer`) stands for, as written, in the part of the file that holds `near`.
    pub fn alias(&self, name: &str, near: Span) -> Option<&str> {
        let chunk = self.chunk_at(near);
        let alias = self.aliases.get(chunk)?.get(name)?;
        Some(self.text(alias.value))
    }

    /// The number of the part of the file that holds a place: the last one that begins at or before it.
    fn chunk_at(&self, near: Span) -> usize {
        // Whether a part of the file begins at this place or before it.
        let after = |block: &BlockId| {
            let region = self.blocks[*block].parent;
            self.regions[region].span.start <= near.start
        };
        self.top.partition_point(after).saturating_sub(1)
    }

    /// What the reader could not make out and left alone.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Number of ops, implicit ones included.
    pub fn op_count(&self) -> usize {
        self.ops.len()
    }

    /// The innermost op whose span holds the position. Ops inside come behind the op around them, so the first one
    /// found from the end is the innermost.
    pub fn op_at(&self, position: usize) -> Option<OpId> {
        let holds = |op: &OpId| self.ops[*op].span.range().contains(&position);
        self.ops.ids().rev().find(holds)
    }
}
