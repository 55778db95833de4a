//! What an op does to the memory of its operands.
//!
//! Each operand that is memory is read, written, updated, freed, or escapes. A *write* is known to assign every byte,
//! so the old content is not needed; an *update* may leave some bytes as they were. Memory *escapes* where code that we
//! do not see may use it later.
//!
//! Besides its accesses an op may have *overlay permissions* (an output may take the place of an input, because the op
//! then still computes the right thing) and *copies* (bytes of an output are nothing but bytes of an input). All of it
//! is added to the op's *draft*, the op of the program under construction. What a function does to its arguments is
//! known from its *summary*. An *unclear block* is one that an op without a row may branch to.

use memplan_core::Bytes;
use memplan_program::{AccessKind, CopyRange, OpDraft, OverlayKind};
use smallvec::SmallVec;

// `Access` and `AliasRule` belong to an op's row in the dialect tables: what the op does to which operands, and which
// operand's memory a result is. `AccessKind` is the same in the words of the program.
use super::*;
use crate::dialect::{Access, AliasRule, Relation, Selector};
use crate::document::{Form, NameKind, Op};
use crate::lex::without_comments;

/// What an op does to which value; most ops have two or three operands.
type AccessList = SmallVec<[(ValueId, AccessKind); 4]>;

/// Keeps the first of equal accesses, so that an op with the same operand twice has each access once.
fn without_repetitions(list: &mut AccessList) {
    // Up to this many accesses, comparing each with those before it is quicker than making a set.
    const FEW: usize = 8;
    if list.len() > FEW {
        let mut seen = HashSet::new();
        list.retain(|access| seen.insert(*access));
        return;
    }
    // From the end, so that a removal does not move what is still to be looked at.
    for at in (1..list.len()).rev() {
        if list[..at].contains(&list[at]) {
            list.remove(at);
        }
    }
}

/// The values that an op accesses in exactly this way.
fn values_with(accesses: &[(ValueId, AccessKind)], kind: AccessKind) -> impl Iterator<Item = ValueId> {
    accesses.iter().filter(move |access| access.1 == kind).map(|access| access.0)
}

/// Whether an op is known to write one value and to read the other.
fn writes_and_reads(accesses: &[(ValueId, AccessKind)], output: ValueId, input: ValueId) -> bool {
    accesses.iter().any(|&(value, kind)| value == output && kind.writes())
        && accesses.iter().any(|&(value, kind)| value == input && kind.reads())
}

/// What the row of an op says of its operands. A row that speaks of groups (`ins`, `outs`) assumes that every operand
/// is in one. If the op is written otherwise (`linalg.pack %a … into %b`), the operands outside of these groups may be
/// read and changed.
///
/// `take` is called for each access in turn. It is asked for every op of a text, so no list is made.
pub(super) fn row_accesses(document: &Document, op: OpId, mut take: impl FnMut(ValueId, Access)) {
    let (operands, effects) = (document.operands(op), &document.info(op).effects);
    for (selector, access) in effects.iter() {
        operands[document.select(op, selector)].iter().for_each(|&value| take(value, *access));
    }
    if effects.iter().any(|(selector, _)| matches!(selector, Selector::Group(_))) {
        let mut is_named: SmallVec<[bool; 8]> = SmallVec::from_elem(false, operands.len());
        for (selector, _) in effects.iter() {
            is_named[document.select(op, selector)].fill(true);
        }
        let others = operands.iter().zip(&is_named).filter(|(_, is_named)| !**is_named);
        others.for_each(|(&value, _)| take(value, Access::Update));
    }
}

/// Whether a branch hands its operands to blocks in a way that is not followed. A branch is followed if the op's row
/// says that its operands go to the block's arguments, and if no unknown op branches to the same block.
pub(super) fn is_unclear_branch(document: &Document, op: OpId, unclear_blocks: &HashSet<BlockId>) -> bool {
    let mut blocks = document.successors(op).iter().filter_map(|successor| successor.block);
    let branch = document.info(op).traits.has(Traits::BRANCH);
    !document.successors(op).is_empty() && (!branch || blocks.any(|block| unclear_blocks.contains(&block)))
}

/// Whether a result of the op may be an operand's memory in a form that is not followed: a value of an opaque type, a
/// tensor, a function that holds the memory. For an op without a row every result may be any operand; but a number
/// that it returns is taken for a number, and not for an address. The result of a cast is the operand, also if it is
/// a number (`unrealized_conversion_cast` to `i64`). A result whose type the form does not tell may be any of these.
pub(super) fn makes_handle(document: &Document, op: OpId, is_memory: impl Fn(ValueId) -> bool) -> bool {
    let casts = document.info(op).traits.has(Traits::EFFECT_FREE);
    // Whether a value may hold memory in a form that is not followed.
    let handle = |value: ValueId| {
        let ty = document.ty(value);
        let opaque = matches!(ty, Type::Opaque(_) | Type::Tensor { .. } | Type::Tuple | Type::Function);
        *ty == Type::Unknown || (!is_memory(value) && (casts || opaque))
    };
    // A rule that names no result speaks of all results.
    let covers = |rule: &AliasRule, at: usize| rule.result.is_none_or(|result| result as usize == at);
    let mut results = document.results(op).iter().enumerate();
    results.any(|(at, &result)| handle(result) && document.info(op).aliases.iter().any(|rule| covers(rule, at)))
}

/// Whether the op launches a kernel on a stream: it returns at once, and no token stands for the kernel. A stream may
/// have any type; it is told by its place.
pub(super) fn launches_on_stream(document: &Document, op: OpId) -> bool {
    if document.name(op) != "gpu.launch_func" {
        return false;
    }
    let Op { form, name_span, span, .. } = document.op(op);
    match form {
        // The stream is the last segment of the operands. Without segments there is no telling.
        Form::Generic => document.segment_sizes(op).is_none_or(|sizes| sizes.last() != Some(&0)),
        // `gpu.launch_func <%stream : i64> @kernels::@kernel blocks in …`: nothing else in front of `@` has a `<`.
        _ => {
            let text = document.source().get(name_span.end as usize..span.end as usize).unwrap_or("");
            let text = without_comments(text);
            text.split('@').next().is_some_and(|front| front.contains('<'))
        }
    }
}

impl Lowering<'_> {
    /// Adds to the draft of an op its accesses, the work it waits for, overlay permissions and copies.
    pub(super) fn accesses(&mut self, op: OpId, draft: &mut OpDraft) {
        let mut list = self.access_list(op);
        without_repetitions(&mut list);
        for &(value, kind) in &list {
            draft.add_access(self.value(value), kind);
        }
        for awaited in self.awaited(op) {
            draft.add_await(awaited.token, awaited.every);
        }
        self.relations(op, &list, draft);
    }

    /// What an op does to its memory operands. The first of these that knows the op decides: a summary of the function
    /// it calls, the rules for tensors ([`Self::tensor_accesses`]), the rules by which its operands escape
    /// ([`Self::lets_go`], [`Self::hides`]), the rules for NPU ops ([`Self::destination_style`]), and last its row in
    /// the dialect tables.
    fn access_list(&self, op: OpId) -> AccessList {
        let document = self.document;
        let mut list = AccessList::new();
        // Memory is accessed through operands, or from inside of the op. Tensors may be accessed in other ways.
        let nothing_given = document.operands(op).is_empty() && self.last_inside[op] == op;
        if nothing_given && self.subject == Subject::Buffers {
            return list;
        }
        // A call of a function with a summary does to each operand what the function does to its argument. But a call
        // that is also a branch may let go of its operands by itself, whatever the called function does.
        let unclear = is_unclear_branch(document, op, &self.unclear_blocks);
        if let Some(effects) = self.summaries.call(op).filter(|_| !unclear) {
            for (&value, effect) in document.operands(op).iter().zip(effects) {
                // A summary does not say which tensors are written in place, so a tensor counts as updated. What it
                // says about escapes does hold for tensors.
                if matches!(document.ty(value), Type::Tensor { .. }) && self.is_memory(value) {
                    list.push((value, AccessKind::Update));
                    let escapes = effect.accesses().contains(&AccessKind::Escape);
                    list.extend(escapes.then_some((value, AccessKind::Escape)));
                    continue;
                }
                let kinds = effect.accesses().into_iter().filter(|_| self.is_memory(value));
                list.extend(kinds.map(|kind| (value, kind)));
            }
            return list;
        }
        if let Some(list) = self.tensor_accesses(op) {
            return list.into();
        }
        // If the memory cannot be followed after this op, all operands escape, and what the regions of the op use
        // escapes with them.
        if self.lets_go(op) || self.hides(op) {
            let escaping = self.memory_operands(op).into_iter().map(|value| (value, AccessKind::Escape));
            list.extend(escaping.chain(self.captured(op)));
            return list;
        }
        if let Some(list) = self.destination_style(op) {
            return list.into();
        }
        // What a mark says of a coupled buffer, and what the op's row says of its operands.
        if document.kind(op).is(NameKind::MARK) {
            list.extend(self.mark_accesses(op));
        }
        row_accesses(document, op, |value, access| {
            if self.is_memory(value) {
                list.push((value, self.kind(op, value, access)));
            }
        });
        list
    }

    /// Whether the memrefs that this op is given cannot be followed any further, so that they escape: the op returns
    /// them to the caller, passes them along a branch or out of a region in an unknown way, or starts something that
    /// still uses them after the op.
    pub(super) fn lets_go(&self, op: OpId) -> bool {
        let document = self.document;
        if !document.successors(op).is_empty() {
            return is_unclear_branch(document, op, &self.unclear_blocks);
        }
        self.runs_on(op) || self.leaves_region(op)
    }

    /// Whether the op turns memory into something that is not followed: an unknown op that returns a handle of its
    /// own (a value of an opaque type, a tensor), a cast to a pointer, or an op whose result may be any part of the
    /// operand's allocation where that allocation cannot be told.
    fn hides(&self, op: OpId) -> bool {
        let document = self.document;
        let info = document.info(op);
        // A rule with `Base`: the result lies anywhere in the allocation behind the operand.
        let based = |rule: &AliasRule| rule.relation == Relation::Base;
        if info.aliases.iter().any(based) {
            // `root` finds the allocation behind the first operand, and is `None` if that is not known.
            let first = document.operands(op).first();
            return first.is_some_and(|&value| self.root(value).is_none());
        }
        makes_handle(document, op, |value| self.is_memory(value))
    }

    /// Whether the op's work goes on after the op: it returns a `!gpu.async.token`, or launches a kernel on a stream.
    /// Tokens of this kind and streams are not followed to their wait, so the memory is taken to be in use for ever.
    fn runs_on(&self, op: OpId) -> bool {
        if launches_on_stream(self.document, op) {
            return true;
        }
        let last = self.document.results(op).last();
        last.is_some_and(|&token| matches!(self.document.ty(token), Type::Opaque(text) if text == "!gpu.async.token"))
            && self.document.name(op) != "gpu.wait"
    }

    /// Whether the op hands its operands to code that we do not see. That is so for the `return` of a function,
    /// whose caller gets them, and for the last op of a region that belongs to an op of an unknown dialect.
    fn leaves_region(&self, op: OpId) -> bool {
        let document = self.document;
        if !is_last(document, op) {
            return false;
        }
        let Some(parent) = document.parent_op(op) else {
            return false;
        };
        let info = document.info(op);
        // An unknown op at the end of a region may be its terminator.
        let gives_back = info.traits.has(Traits::RETURN_LIKE) || !info.known;
        match self.flow_of(parent) {
            Flow::Function | Flow::Unknown => gives_back,
            _ => false,
        }
    }

    /// The memory that the regions of an op use and that is defined outside of the op, each use as an escape. It is
    /// asked for ops that let go of their operands: their regions may still run after the op.
    fn captured(&self, op: OpId) -> Vec<(ValueId, AccessKind)> {
        let document = self.document;
        // Ids are in pre-order, so the ops inside of an op are those from the next id to `last_inside`.
        // Whether a value is made in a region of the op, so that it does not come from outside.
        let inside = |value: ValueId| match document.value(value).definition {
            crate::Definition::Result { op: by, .. } => by > op && by <= self.last_inside[op],
            crate::Definition::Argument { block, .. } => {
                let parent = document.block_parent(block);
                parent.is_some_and(|parent| parent >= op && parent <= self.last_inside[op])
            }
            crate::Definition::Unresolved => false,
        };
        let range = index_of(op) + 1..index_of(self.last_inside[op]) + 1;
        let ops = range.map(OpId::from_index);
        let used = ops.flat_map(|op| self.memory_operands(op));
        let captured = used.filter(|&value| !inside(value));
        captured.map(|value| (value, AccessKind::Escape)).collect()
    }

    /// What an access of the op's row does to the bytes of an operand (`value`), in the words of the program. Only an
    /// op that assigns every byte and uses none of the old ones makes the old content dead (`Write`). Any other op
    /// that writes is an update.
    fn kind(&self, op: OpId, value: ValueId, access: Access) -> AccessKind {
        match access {
            Access::Read => AccessKind::Read,
            // The row says that the op assigns all elements. An operand with gaps has bytes between its elements, which
            // stay. The body of a `linalg.map` may also compute with the old elements of its output (`map_reads`).
            Access::Write if self.covers_all(value) && !self.map_reads(op, value) => AccessKind::Write,
            // The row says update for every `linalg.generic`. Its maps and its body may show that it assigns every
            // element of an output without gaps and reads none of them (`generic_writes`).
            Access::Update if self.generic_writes(op, value) => AccessKind::Write,
            Access::Write | Access::Update => AccessKind::Update,
            Access::Free => AccessKind::Free,
            Access::Escape => AccessKind::Escape,
        }
    }

    /// Whether writing every element of a value writes every byte of it.
    pub(super) fn covers_all(&self, value: ValueId) -> bool {
        let memref = self.document.ty(value).as_memref();
        memref.is_some_and(|memref| memref.is_dense() && memref.shape.is_some())
    }

    /// Says that the first `length` bytes of the output are a copy of the first bytes of the input.
    fn copy_from_start(&mut self, output: ValueId, input: ValueId, length: Bytes) -> CopyRange {
        CopyRange {
            output: self.value(output),
            output_start: Bytes::ZERO,
            input: self.value(input),
            input_start: Bytes::ZERO,
            length,
        }
    }

    /// Adds overlay permissions and copies to the draft. They are only stated between an output that the op is known
    /// to write and an input that it is known to read.
    fn relations(&mut self, op: OpId, accesses: &[(ValueId, AccessKind)], draft: &mut OpDraft) {
        if !accesses.iter().any(|(_, kind)| kind.writes()) {
            return;
        }
        // An op that lets go of its operands (its result is a tensor that nobody follows) has only escapes in its
        // list of accesses, so nothing is stated about it.
        let copied = self.tensor_copy(op).filter(|&(output, input, _)| writes_and_reads(accesses, output, input));
        if let Some((output, input, length)) = copied {
            draft.add_copy(self.copy_from_start(output, input, length));
        }
        let pairs = self.in_place_pairs(op).into_iter().chain(self.vector_function_pairs(op));
        for (output, input) in pairs.filter(|&(output, input)| writes_and_reads(accesses, output, input)) {
            let (output, input) = (self.value(output), self.value(input));
            draft.add_overlay(output, input, OverlayKind::SameBase);
        }
        // Ops of the dialects of MLIR itself: only an output that is written whole may lie on an input.
        for output in values_with(accesses, AccessKind::Write) {
            for input in values_with(accesses, AccessKind::Read).filter(|&input| input != output) {
                if self.permits_overlay(op, output, input) {
                    let (output, input) = (self.value(output), self.value(input));
                    draft.add_overlay(output, input, OverlayKind::SameBase);
                }
                if let Some(length) = self.copies_whole(op, output, input) {
                    draft.add_copy(self.copy_from_start(output, input, length));
                }
            }
        }
    }

    /// The number of bytes that an op copies from one buffer to another as they are; `None` if it is no copy, or
    /// shapes and element types differ, or the size is not known.
    fn copies_whole(&self, op: OpId, output: ValueId, input: ValueId) -> Option<Bytes> {
        // Of the dialects of MLIR itself only `memref.copy` and `linalg.copy` are plain copies.
        if !self.document.kind(op).is(NameKind::COPY) {
            return None;
        }
        let output = self.document.ty(output).as_memref()?;
        let input = self.document.ty(input).as_memref()?;
        let same = output.element == input.element && output.shape == input.shape;
        let bytes = input.bytes().filter(|_| same)?;
        (output.bytes() == Some(bytes)).then_some(bytes)
    }
}
