//! From a [`Document`] to a [`Program`].
//!
//! Every op of a function becomes one op of the program, in the same order. Ops that only compute numbers are included,
//! because the position of an op is its tick. What an op does comes from its row in the
//! [dialect tables](crate::dialect).
//!
//! | in the text | in the program |
//! |---|---|
//! | a memref that is a function's argument, a global, an `alloca` | external memory |
//! | `memref.alloc` | an allocation site |
//! | a view, a cast | derived, with its bytes where they are known |
//! | `arith.select` | merged |
//! | a loop's argument or result, a block's argument | incoming: the branches that lead there say which memory it is |
//! | the memref result of an op nobody knows | opaque: any of its memref operands, or external |
//!
//! `scf.while` becomes one region: the blocks of its condition, then those of
//! its body, with a break out of the first. A call of a function in the same
//! file does what that function does ([`summary`]). If the function starts work that still runs when it returns, an
//! asynchronous op that stands for this work follows the call ([`work`]). Other calls are unknown ops.
//!
//! Where the text leaves open what happens to a memref (an unknown op hands it
//! to its regions, or out of them, or along a branch), the memref escapes: its buffer shares memory with no other.
//!
//! # Terms
//!
//! - *document*: the text as it was read; *program*: what is made of it. Both have ops, blocks and values, with ids
//!   of the same names; those of the program are written `program::OpId`, `program::ValueId` and so on.
//! - *draft*: an op of the program under construction (`OpDraft`), to which accesses and results are added.
//! - *builder*: makes the program, op by op, in the order of the text.
//! - *lowered*: an op or value of the document is lowered once its counterpart is in the program.
//! - *mark*: an op `annotation.mark`, which says something about a buffer of an NPU kernel ([`marks`]).
//! - *workspace*: memory of an NPU kernel in global memory, made by `memref_ext.alloc_workspace` ([`workspace`]).
//! - *work* (not the work of the glossary): what runs beside the code, such as the region of an `async.execute`.

mod access;
mod affine;
mod bounded;
mod control;
mod elementwise;
pub(crate) mod hivm;
mod late;
pub(crate) mod marks;
pub(crate) mod origin;
mod reach;
mod summary;
mod vector_function;
mod windows;
mod work;
mod workspace;

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use memplan_core::{Id, IndexVec, Span, patience};
use memplan_program::{self as program, OpDraft, Origin, Program, ProgramBuilder, ProgramError};
use smallvec::SmallVec;

use crate::dialect::{Control, Flow, Traits};
use crate::document::{BlockId, Document, OpId, RegionId, ValueId};
use crate::error::Note;
use crate::ty::Type;
use summary::Summaries;
use work::Works;

/// Why a document could not be lowered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LowerError {
    /// A region gives back another number of values than its op has room for.
    #[error("this gives back {found} values where {expected} are expected")]
    Yields {
        /// Values given.
        found: usize,
        /// Values expected.
        expected: usize,
        /// The terminator, or the op without one.
        span: Span,
    },
    /// A branch passes on another number of values than its block has arguments.
    #[error("this branch passes on {found} values to a block with {expected} arguments")]
    Branch {
        /// Values passed on.
        found: usize,
        /// The block's arguments.
        expected: usize,
        /// The branch.
        span: Span,
    },
    /// The caller's patience is over (time limit, Ctrl-C), so the lowering gave up.
    #[error("lowering was stopped")]
    Stopped,
    /// A view reaches past the end of the buffer or dimension that it is a view of.
    #[error("this view takes {unit} up to {end} of {what}, which has {length}")]
    PastBase {
        /// What is counted: bytes or elements.
        unit: &'static str,
        /// One past the last of them that the view takes.
        end: u64,
        /// What it is a view of.
        what: String,
        /// How many there are.
        length: u64,
        /// The view.
        span: Span,
    },
    /// An allocation with another number of sizes than its type leaves open.
    #[error("this allocation is given {found} sizes where its type leaves {expected} open")]
    Sizes {
        /// Sizes given.
        found: usize,
        /// Dimensions without a size.
        expected: usize,
        /// The allocation.
        span: Span,
    },
    /// A branch or a terminator hands a value on where memory is expected, and by its type the value is no memory.
    #[error("`{name}` is no memory, and memory is handed on here")]
    NoMemory {
        /// The value.
        name: String,
        /// The op that hands it on.
        span: Span,
    },
    /// The structure does not make a program.
    #[error("{0}")]
    Program(#[from] ProgramError),
}

impl LowerError {
    /// Where in the text the error is.
    pub fn span(&self) -> Span {
        match self {
            LowerError::Sizes { span, .. }
            | LowerError::NoMemory { span, .. }
            | LowerError::Yields { span, .. }
            | LowerError::Branch { span, .. }
            | LowerError::PastBase { span, .. } => *span,
            LowerError::Stopped | LowerError::Program(_) => Span::default(),
        }
    }
}

/// A program and where each of its parts comes from.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The program: all functions with a body, in the order of the text.
    pub program: Program,
    /// The op of the document behind each op of the program.
    pub ops: IndexVec<program::OpId, OpId>,
    /// The allocation behind each site.
    pub sites: IndexVec<program::SiteId, OpId>,
    /// The function op behind each function.
    pub functions: IndexVec<program::FunctionId, OpId>,
    /// The program's value for each value of the document, if it is memory.
    values: Counterparts,
    /// What was not understood and is taken conservatively.
    pub notes: Vec<Note>,
}

/// The program's value for each value of a document, if it is memory. A text may have millions of values, and an
/// optional number takes twice the memory of a number, so the largest number stands for none.
#[derive(Clone, Debug)]
struct Counterparts(IndexVec<ValueId, u32>);

impl Counterparts {
    /// None for each of so many values.
    fn new(count: usize) -> Counterparts {
        Counterparts(IndexVec::filled(u32::MAX, count))
    }

    /// The program's value for a value of the document.
    fn get(&self, value: ValueId) -> Option<program::ValueId> {
        let known = self.0.get(value).filter(|&&number| number != u32::MAX);
        known.map(|&number| program::ValueId::from_index(number as usize))
    }

    /// Notes the program's value for a value of the document.
    fn set(&mut self, value: ValueId, counterpart: program::ValueId) {
        // A program with 2^32 values has more bytes than any machine.
        self.0[value] = u32::try_from(counterpart.index()).unwrap_or(u32::MAX);
    }
}

impl Lowered {
    /// The program's value for a value of the document, if it is memory.
    pub fn value(&self, value: ValueId) -> Option<program::ValueId> {
        self.values.get(value)
    }

    /// Drops the program and the maps to its ops and values. What remains (the allocation behind each site, the
    /// functions and the notes) is all that is needed once a plan has been checked.
    pub fn forget_program(&mut self) {
        self.program = Program::default();
        self.ops = IndexVec::new();
        self.values = Counterparts::new(0);
    }
}

/// Lowers every function of a document that has a body.
pub fn lower(document: &Document) -> Result<Lowered, LowerError> {
    lower_as(document, Subject::Buffers)
}

/// Lowers every function, looking at workspaces: what `memref_ext.alloc_workspace`
/// makes is placed, and tensors are followed as the memory they stand for.
pub fn lower_workspaces(document: &Document) -> Result<Lowered, LowerError> {
    lower_as(document, Subject::Workspaces)
}

/// Lowers every function of a kernel: what `memref.alloc` makes is placed, and a tensor that `to_tensor` makes of a
/// buffer is followed as that buffer.
pub fn lower_kernels(document: &Document) -> Result<Lowered, LowerError> {
    // Tensors are followed only if the kernel has any: without them both subjects give the same program.
    let converts = document.op_ids().any(|op| document.name(op) == "bufferization.to_tensor");
    lower_as(document, if converts { Subject::Kernels } else { Subject::Buffers })
}

/// What is to be placed, and whether tensors are followed as the memory they stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    /// Memrefs. A buffer that is turned into a tensor is not followed any further.
    Buffers,
    /// Memrefs, and tensors that stand for them, as in NPU kernels.
    Kernels,
    /// Workspaces in global memory, followed through tensors as well.
    Workspaces,
}

/// Lowers every function of a text that is not inside of another one. A function inside of another function is
/// lowered as part of that function's body.
fn lower_as(document: &Document, subject: Subject) -> Result<Lowered, LowerError> {
    let mut lowering = Lowering::new(document, subject);
    for op in document.op_ids() {
        // Ids are in pre-order, so a function comes before the ops inside of it.
        let function = document.info(op).traits.has(Traits::FUNCTION);
        if function && !lowering.inside_function(op) {
            lowering.function(op)?;
        }
    }
    lowering.finish()
}

/// Something that the lowering still has to do. All of it lies on a stack, the innermost on top, and is done from the
/// top.
enum Todo {
    /// Lower the ops of a block from position `next` on.
    Ops {
        block: BlockId,
        next: usize,
    },
    /// Start a block of the program and lower all ops of the document's block.
    Block(BlockId),
    /// Open a region of an op that is open in the builder, and push its blocks.
    Region {
        op: OpId,
        region: RegionId,
    },
    /// Close what the builder opened last: a region, an op with regions, a function.
    CloseRegion,
    CloseOp,
    CloseFunction,
}

/// An indexing map for each operand; `None` for one that is not understood.
type Maps = Vec<Option<Rc<str>>>;

/// The state of one lowering: the document, the program so far, and the maps between the two. `ops`, `sites`,
/// `functions`, `values` and `notes` become the fields of [`Lowered`].
struct Lowering<'d> {
    document: &'d Document,
    subject: Subject,
    builder: ProgramBuilder,
    values: Counterparts,
    /// Values whose definition has been lowered. A value may be used in the text before that, and then has a program
    /// value whose origin is not known yet.
    defined: IndexVec<ValueId, bool>,
    /// Values that come from a value whose definition was not lowered yet, with all that they may come from
    /// ([`late`]).
    late: Vec<(ValueId, Vec<ValueId>)>,
    /// The program's block for each block of the document that has been made.
    blocks: IndexVec<BlockId, Option<program::BlockId>>,
    /// Asynchronous work that the function being lowered has started.
    works: Works,
    /// Blocks that an unknown op may branch to.
    unclear_blocks: HashSet<BlockId>,
    /// What each function that is called does to its arguments.
    summaries: Summaries,
    /// The last op inside each op, in the order of the text; the op itself if nothing is inside.
    last_inside: IndexVec<OpId, OpId>,
    ops: IndexVec<program::OpId, OpId>,
    sites: IndexVec<program::SiteId, OpId>,
    functions: IndexVec<program::FunctionId, OpId>,
    /// Names of ops that a note was made about.
    noted: HashSet<&'d str>,
    notes: Vec<Note>,
    /// The last op of the function lowered last; none before the first function.
    function_end: Option<OpId>,
    /// The slice that was read last, and the op that it belongs to. It is needed twice: to check that the slice lies in
    /// its source, and to tell which bytes of it the slice takes.
    slice: Option<(OpId, crate::bounds::Slice)>,
    /// What [`Self::reusable_arguments`] says of each vector function that was called so far.
    reusable: HashMap<OpId, Vec<(usize, usize)>>,
    /// The indexing maps of the `linalg.generic` that was asked for last ([`Self::map_at`]).
    maps: RefCell<Option<(OpId, Maps)>>,
}

impl<'d> Lowering<'d> {
    /// Starts with an empty program and computes what is needed about the whole text before the first op: summaries
    /// of functions, blocks that unknown ops branch to, and the last op inside each op.
    fn new(document: &'d Document, subject: Subject) -> Self {
        let last_inside = last_inside(document);
        // Both are functions of this file.
        let unclear_blocks = unclear_blocks(document);
        Lowering {
            document,
            subject,
            builder: builder_for(document, subject),
            values: Counterparts::new(document.value_ids().len()),
            defined: IndexVec::filled(false, document.value_ids().len()),
            late: Vec::new(),
            blocks: IndexVec::filled(None, document.blocks.len()),
            works: Works::default(),
            summaries: Summaries::new(document, &last_inside, &unclear_blocks),
            unclear_blocks,
            last_inside,
            ops: ops_for(document),
            sites: IndexVec::new(),
            functions: IndexVec::new(),
            noted: HashSet::new(),
            notes: Vec::new(),
            function_end: None,
            slice: None,
            reusable: HashMap::new(),
            maps: RefCell::new(None),
        }
    }

    /// The finished program, with what each of its parts was in the document.
    fn finish(mut self) -> Result<Lowered, LowerError> {
        self.name_late_sources();
        let program = self.builder.finish()?;
        Ok(Lowered {
            program,
            ops: self.ops,
            sites: self.sites,
            functions: self.functions,
            values: self.values,
            notes: self.notes,
        })
    }

    /// Whether an op lies in the function that was lowered last. Functions are lowered in the order of the text and
    /// ids are in pre-order, so everything up to the end of that function is inside of it or before it.
    fn inside_function(&self, op: OpId) -> bool {
        self.function_end.is_some_and(|end| op <= end)
    }

    /// Lowers one function with a body. Declarations have none and are left out.
    fn function(&mut self, op: OpId) -> Result<(), LowerError> {
        let document = self.document;
        let Some(&body) = document.regions(op).first() else {
            return Ok(());
        };
        let Some((&entry, others)) = document.blocks(body).split_first() else {
            return Ok(());
        };
        self.function_end = Some(self.last_inside[op]);
        // Work that is pending belongs to one function; the next function starts without any.
        self.works = Works::default();
        // The memory of an argument belongs to the caller, so it is external. Arguments that are numbers do not
        // appear in the program.
        let mut parameters = Vec::new();
        for &argument in document.arguments(entry) {
            if self.is_memory(argument) {
                parameters.push(self.define(argument, Origin::External));
            }
        }
        let name = document.symbol_name(op).unwrap_or("");
        let function = self.builder.open_function(name, &parameters);
        self.functions.push(op);
        self.builder.set_function_span(function, document.op(op).span);
        // The builder has opened the entry block by itself. The other blocks are added before any op, because
        // branches may jump forward to them.
        if let Some(block) = self.builder.current_block() {
            self.blocks[entry] = Some(block);
        }
        self.add_blocks(others);
        let mut stack = vec![Todo::CloseFunction];
        push_blocks(&mut stack, document.blocks(body));
        self.run(stack)
    }

    /// Does what is on the stack until nothing is left. Regions are pushed onto the stack and not entered by recursion,
    /// so deep nesting cannot overflow the call stack.
    fn run(&mut self, mut stack: Vec<Todo>) -> Result<(), LowerError> {
        while let Some(todo) = stack.pop() {
            if patience::is_over() {
                return Err(LowerError::Stopped);
            }
            match todo {
                Todo::Block(block) => {
                    if let Some(target) = self.blocks[block] {
                        self.builder.start_block(target);
                    }
                    self.builder.reserve_in_block(self.document.ops(block).len());
                    stack.push(Todo::Ops { block, next: 0 });
                }
                Todo::Ops { block, next } => match self.document.ops(block).get(next) {
                    Some(&op) => {
                        // The rest of the block lies below what the op pushes, so that its regions come first.
                        stack.push(Todo::Ops { block, next: next + 1 });
                        self.check_reach(op)?;
                        self.op(op, &mut stack);
                    }
                    None => self.end_block(block)?,
                },
                Todo::Region { op, region } => self.region(op, region, &mut stack),
                Todo::CloseRegion => self.builder.close_region(),
                Todo::CloseOp => self.builder.close_op(),
                Todo::CloseFunction => self.builder.close_function(),
            }
        }
        Ok(())
    }

    /// Lowers one op: its accesses, its results, and its regions. An op with regions is opened in the builder here; its
    /// regions and its end are pushed onto the stack.
    fn op(&mut self, op: OpId, stack: &mut Vec<Todo>) {
        let document = self.document;
        self.note_unknown(op);
        let mut draft = OpDraft::new(document.shared_name(op)).span(document.op(op).span);
        self.accesses(op, &mut draft);
        // An op may add work to a group, and a mark changes the site of an allocation before it. Both do nothing for
        // all other ops.
        self.join_group(op);
        self.mark(op);
        // A region without blocks does not run, such as that of a missing `else` of an `scf.if`.
        let runs = |region: &RegionId| !document.blocks(*region).is_empty();
        if !document.regions(op).iter().any(runs) {
            self.plain_results(op, &mut draft);
            self.builder.push(draft);
            self.ops.push(op);
            // Only a call can have work that is still pending behind it.
            self.pending_work(op);
            return;
        }
        let regions: SmallVec<[RegionId; 2]> = document.regions(op).iter().copied().filter(runs).collect();
        let shape = self.shape(op, regions.len());
        let draft = self.region_op(op, &shape, draft);
        self.builder.open_op(draft);
        self.ops.push(op);
        // The stack is emptied from the top, so everything is pushed in reverse order, what closes the op first.
        stack.push(Todo::CloseOp);
        if shape.flow == Flow::While {
            // The condition and the body of a `while` become one region of the program, which repeats.
            stack.push(Todo::CloseRegion);
            push_blocks(stack, document.blocks(regions[1]));
            push_blocks(stack, document.blocks(regions[0]));
            self.while_region(op, regions[0], regions[1]);
            return;
        }
        for &region in regions.iter().rev() {
            stack.push(Todo::CloseRegion);
            stack.push(Todo::Region { op, region });
        }
    }

    /// Tells the user, once for each name, that an op is not known and what is assumed about it instead. Ops that touch
    /// no memory and run no regions are passed over: nothing depends on them.
    fn note_unknown(&mut self, op: OpId) {
        let document = self.document;
        // An op with a row and without regions is not reported, whatever it does.
        if document.info(op).known && document.regions(op).is_empty() {
            return;
        }
        let memory = document.operands(op).iter().any(|&value| self.is_memory(value));
        let name = document.name(op);
        let runs = document.regions(op).iter().any(|&region| !document.blocks(region).is_empty())
            && document.control(op) == Control::Unknown;
        // Regions that run in an unknown way are reported even for an op with a row: the row may say so itself.
        let message = match document.info(op).known {
            _ if runs => format!(
                "how the regions of `{name}` run is not known: they are taken to run at any time from here to the end of the \
                 function, several at once; a dialect file (`--dialect`) can describe the op"
            ),
            false if memory => format!("`{name}` is not known: it is taken to update every memref it is given"),
            _ => return,
        };
        if self.noted.insert(name) {
            self.notes.push(Note { message, span: document.op(op).span });
        }
    }

    /// Whether a value is a handle to memory, as far as is known: a memref, the result of asynchronous work that
    /// holds a memref, and a tensor where tensors are followed.
    fn is_memory(&self, value: ValueId) -> bool {
        is_memory(self.document, self.subject, value)
    }

    fn memory_operands(&self, op: OpId) -> Vec<ValueId> {
        let operands = self.document.operands(op).iter().copied();
        operands.filter(|&value| self.is_memory(value)).collect()
    }

    /// The program's value for a value of the document. It is made on first use, even before its definition is
    /// lowered; until then it counts as external memory.
    fn value(&mut self, value: ValueId) -> program::ValueId {
        if let Some(known) = self.values.get(value) {
            return known;
        }
        let name = self.value_name(value);
        let made = self.builder.external(&name);
        self.builder.set_span(made, self.document.value(value).name);
        self.values.set(value, made);
        made
    }

    /// The name of a value in the program: as in the text without `%`, and `name#1` for the second result of
    /// `%name:2`.
    fn value_name(&self, value: ValueId) -> Cow<'d, str> {
        let name = self.document.value_name(value).trim_start_matches('%');
        match self.document.result_number(value) {
            (_, 1) => Cow::Borrowed(name),
            (index, _) => Cow::Owned(format!("{name}#{index}")),
        }
    }

    /// Says which memory a value is, once its definition is lowered. External is what [`Self::value`] has made it
    /// already.
    fn define(&mut self, value: ValueId, origin: Origin) -> program::ValueId {
        let id = self.value(value);
        if origin != Origin::External {
            self.builder.set_origin(id, origin);
        }
        self.defined[value] = true;
        id
    }
}

/// Whether a value is a handle to memory that is followed; see [`Lowering::is_memory`].
fn is_memory(document: &Document, subject: Subject, value: ValueId) -> bool {
    match document.ty(value) {
        Type::Opaque(text) => text.starts_with("!async.value<memref"),
        Type::Tensor { .. } => subject != Subject::Buffers,
        ty => ty.may_be_memory(),
    }
}

/// Pushes blocks so that the first of them is done first.
fn push_blocks(stack: &mut Vec<Todo>, blocks: &[BlockId]) {
    stack.extend(blocks.iter().rev().map(|&block| Todo::Block(block)));
}

/// A builder with room for the program of a document. Each op of the document becomes one op of the program, or rarely
/// more; each value that is memory becomes a value. Room that is not used costs no memory, whereas a list that grows is
/// copied again and again.
fn builder_for(document: &Document, subject: Subject) -> ProgramBuilder {
    let values = document.value_ids().filter(|&value| is_memory(document, subject, value)).count();
    let sites = document.op_ids().filter(|&op| document.info(op).traits.has(Traits::PLACED)).count();
    let mut builder = ProgramBuilder::new();
    builder.reserve_exact(document.op_ids().len(), values, sites);
    builder
}

/// A list with room for the op of the document behind each op of the program.
fn ops_for(document: &Document) -> IndexVec<program::OpId, OpId> {
    let mut ops = IndexVec::new();
    ops.reserve_exact(document.op_ids().len());
    ops
}

/// The last op inside each op, itself if there is none. Going backwards, every op is complete before it is added to
/// the op around it, which has a smaller id.
fn last_inside(document: &Document) -> IndexVec<OpId, OpId> {
    let mut last: IndexVec<OpId, OpId> = document.op_ids().collect();
    for op in document.op_ids().rev() {
        if let Some(parent) = document.parent_op(op) {
            last[parent] = last[parent].max(last[op]);
        }
    }
    last
}

/// Blocks that an op without the trait `BRANCH` may branch to. Nobody knows which of its operands such an op hands to
/// which argument of the block.
fn unclear_blocks(document: &Document) -> HashSet<BlockId> {
    let unknown = |op: &OpId| !document.info(*op).traits.has(Traits::BRANCH);
    let ops = document.op_ids().filter(unknown);
    ops.flat_map(|op| document.successors(op).iter().filter_map(|successor| successor.block)).collect()
}

/// Whether an op is the last of its block.
fn is_last(document: &Document, op: OpId) -> bool {
    document.ops(document.op(op).parent).last() == Some(&op)
}

/// The position of an id.
fn index_of<I: Id>(id: I) -> usize {
    id.index()
}
