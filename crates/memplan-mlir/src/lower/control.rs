//! Regions: how control enters and leaves them, and what it takes along.
//!
//! Values are handed over by position: the first operand goes to the first argument, and so on. In the program only
//! those positions exist where the result, the argument or the operand is memory; numbers are left out.
//!
//! # Words
//!
//! | `dialect::Control` | how regions run |
//! |---|---|
//! | `Once` | every region once, in order |
//! | `Loop` | the body again and again |
//! | `Alternatives` | one of the regions, or none: `scf.if` |
//! | `Parallel` | the body for every iteration, in any interleaving |
//! | `Async` | at any time until somebody waits for the op's token |
//! | `Unknown` | nobody knows |
//!
//! | `Flow` | which values pass |
//! |---|---|
//! | `Carried` | initial values are the last operands, as many as results; the last arguments carry them round:
//! `scf.for` |
//! | `While` | two regions: the first decides and passes values on, the second gives the next ones: `scf.while` |
//! | `Yields` | what the terminator takes is a result: `scf.if` |
//! | `Execute` | as `Yields`, with a token as first result; operands enter as arguments: `async.execute` |
//! | `Unknown` | any operand may be any argument, and any result |
//! | `SharedOuts` | as `Unknown`, for tensors that are followed as memory: `scf.forall` |
//! | others | nothing is known to pass: an argument is external memory, a result may be any operand |
//!
//! A result or argument is `Incoming` if control flow hands it over, `External` if it is memory from outside, and
//! `Opaque` if it may be any of some values or external memory. A *draft* is an op of the program under construction,
//! which the *builder* adds to the program. The *entry* is the first block of a region. An *unclear block* is one that
//! an op without a row may branch to.
//!
//! # An example
//!
//! A loop starts with `%x`, and each iteration hands `%y` to the next one. So the
//! argument `%a` is `%x` the first time and `%y` afterwards, and the result is
//! `%x` if the loop does not run at all:
//!
//! ```text
//!   scf.for … iter_args(%a = %x)           scf.for  result %r, loop 0.., init %x { (%a)
//!     "use"(%a)                              use  update %a
//!     scf.yield %y                           leave %y
//!                                          }
//!
//!   outside        inside                  outside
//!   %x ──init──►   %a ◄──────┐
//!    │             use %a    │ next iteration
//!    │             leave %y ─┤
//!    │                       └──────────►  %r
//!    └─────── no iteration ─────────────►  %r
//! ```
//!
//! The loop's index is a number and does not appear. Which of the arrows exist
//! follows from the op's row in the tables: its `Control` says how the regions run,
//! and its `Flow` which values go along. Two types are called `Control`: `dialect::Control` is the answer of the
//! tables, `Control` alone is what the program knows.
//!
//! ```
//! use memplan_mlir::{Dialects, Document, lower};
//!
//! let text = r#"
//! func.func @f(%n: index) {
//!   %c0 = arith.constant 0 : index
//!   %c1 = arith.constant 1 : index
//!   %x = memref.alloc() : memref<8xf32>
//!   %y = memref.alloc() : memref<8xf32>
//!   %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (memref<8xf32>) {
//!     "use"(%a) : (memref<8xf32>) -> ()
//!     scf.yield %y : memref<8xf32>
//!   }
//!   return
//! }
//! "#;
//! let document = Document::read(text, Dialects::builtin())?;
//! let program = memplan_program::text::print(&lower(&document)?.program);
//! assert!(program.contains("loop 0.., init %x { (%a)"));
//! assert!(program.contains("leave %y"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use memplan_program::{Control, OpDraft, Target, Trips};

use super::*;
use crate::dialect;

/// How the regions of one op run, after a look at how many it has.
pub(super) struct Shape {
    pub(super) control: dialect::Control,
    pub(super) flow: Flow,
}

impl Lowering<'_> {
    /// How the op's regions run and which values pass, as its row says. `regions` is how many regions with blocks the
    /// op has. If its row speaks of another number, nothing is known about them (`Unknown`).
    pub(super) fn shape(&self, op: OpId, regions: usize) -> Shape {
        let info = self.document.info(op);
        let control = self.document.control(op);
        let fits = match (control, info.flow) {
            (_, Flow::While) => regions == 2,
            (dialect::Control::Alternatives | dialect::Control::Once, _) => true,
            // If it is not known how the regions run, it is not known either what passes through them.
            (dialect::Control::Unknown, _) => false,
            // Loops, parallel loops and asynchronous work have one body.
            _ => regions == 1,
        };
        match fits {
            true => Shape { control, flow: info.flow },
            false => Shape { control: dialect::Control::Unknown, flow: Flow::Unknown },
        }
    }

    /// The flow of an op with regions, as [`Self::shape`] decides it.
    pub(super) fn flow_of(&self, op: OpId) -> Flow {
        // A region without blocks is one that is not there, such as a missing `else`.
        let has_blocks = |region: &RegionId| !self.document.blocks(*region).is_empty();
        let regions = self.document.regions(op).iter().filter(|region| has_blocks(region));
        self.shape(op, regions.count()).flow
    }

    /// Adds to the draft of an op with regions how the regions run, the values they start with, and the op's results.
    pub(super) fn region_op(&mut self, op: OpId, shape: &Shape, mut draft: OpDraft) -> OpDraft {
        let info = self.document.info(op);
        // To MLIR an `scf.for` is an allocation scope, too. Its iterations follow each other and may reuse the memory,
        // so buffers inside of it belong to the scope around.
        if info.traits.has(Traits::ALLOCATION_SCOPE) && self.document.name(op) != "scf.for" {
            draft = draft.scope();
        }
        let control = self.control(op, shape);
        draft = draft.control(control);
        let inits = self.inits(op, shape.flow);
        draft = draft.inits(&inits);
        for id in self.region_results(op, shape.flow) {
            draft = draft.result(id);
        }
        draft
    }

    /// How often and in which order the regions of an op run.
    fn control(&mut self, op: OpId, shape: &Shape) -> Control {
        let document = self.document;
        match shape.control {
            dialect::Control::Once => Control::Once,
            dialect::Control::Loop if shape.flow == Flow::While => Control::While,
            dialect::Control::Loop => Control::Loop(self.trips(op)),
            dialect::Control::Alternatives => Control::Alternatives {
                // None runs if the region that would run is not there (an `scf.if` without `else`). Where the row
                // does not say what passes, as for `omp.single`, a thread may skip the region.
                may_skip: document.regions(op).iter().any(|&region| document.blocks(region).is_empty())
                    || shape.flow == Flow::Unknown,
            },
            dialect::Control::Parallel => {
                // Without known bounds it is one dimension with an unknown number of iterations.
                Control::Parallel { trips: document.trip_counts(op).unwrap_or_else(|| vec![None]).into() }
            }
            dialect::Control::Async => Control::Async { token: self.start_work(op) },
            dialect::Control::Unknown => Control::Unknown,
        }
    }

    /// How often a loop runs: exactly known if the loop has one dimension with constant bounds, otherwise any number
    /// of times.
    fn trips(&self, op: OpId) -> Trips {
        match self.document.trip_counts(op).as_deref() {
            Some([Some(count)]) => Trips::exactly(*count),
            _ => Trips::any(),
        }
    }

    /// The values that a loop carries from one iteration to the next, as far as they are memory: the initial value of
    /// each and its position among the loop's results. The initial values are the last operands, as many as there are
    /// results ([`Flow::Carried`]).
    fn carried(&self, op: OpId) -> Vec<(ValueId, usize)> {
        let results = self.document.results(op);
        let operands = self.document.operands(op);
        // A faulty text may have fewer operands than results; then the pairs end with the shorter list.
        let first = operands.len().saturating_sub(results.len());
        let pairs = results.iter().zip(&operands[first..]).enumerate();
        pairs
            .filter(|(_, (result, init))| self.is_memory(**result) || self.is_memory(**init))
            .map(|(at, (_, init))| (*init, at))
            .collect()
    }

    /// The memory that an op hands to its regions at the start. Other kinds of flow than these three hand no operand
    /// over in a way that is known.
    fn inits(&mut self, op: OpId, flow: Flow) -> Vec<program::ValueId> {
        let inits: Vec<ValueId> = match flow {
            Flow::Carried => self.carried(op).into_iter().map(|(init, _)| init).collect(),
            Flow::While => {
                let mask = self.while_mask(op);
                let operands = self.document.operands(op).iter().zip(mask);
                operands.filter(|(_, memory)| *memory).map(|(value, _)| *value).collect()
            }
            Flow::Execute => self.executed_operands(op).into_iter().map(|(value, _)| value).collect(),
            _ => Vec::new(),
        };
        inits.into_iter().map(|value| self.value(value)).collect()
    }

    /// For each operand of an `scf.while` whether it is memory. The first region has an argument for each operand, and
    /// the terminator of the second region hands on a value for each, so one mask serves all three.
    fn while_mask(&self, op: OpId) -> Vec<bool> {
        let operands = self.document.operands(op).iter();
        operands.map(|&value| self.is_memory(value)).collect()
    }

    /// The memory operands of an `async.execute`, each with the argument of the region that it becomes. The tokens
    /// that the op waits for come first among the operands, so the arguments are matched with the last operands.
    fn executed_operands(&self, op: OpId) -> Vec<(ValueId, ValueId)> {
        let document = self.document;
        let block = document.regions(op).first().and_then(|&region| document.blocks(region).first());
        let arguments = block.map_or(&[][..], |&block| document.arguments(block));
        let operands = document.operands(op);
        let first = operands.len().saturating_sub(arguments.len());
        let pairs = operands[first..].iter().copied().zip(arguments.iter().copied());
        pairs.filter(|&(outside, inside)| self.is_memory(outside) || self.is_memory(inside)).collect()
    }

    /// Defines those results of an op with regions that are memory, and gives the program's values for them, in order.
    /// With the first four kinds of flow below a result is what a terminator hands out at its position, which
    /// [`Self::end_block`] adds when the regions are lowered. With any other kind a result may be any memory that the
    /// op was given, or external memory.
    fn region_results(&mut self, op: OpId, flow: Flow) -> Vec<program::ValueId> {
        let results = self.document.results(op);
        let mut ids = Vec::new();
        for at in self.memory_results(op, flow) {
            let origin = match flow {
                Flow::Carried | Flow::While | Flow::Yields | Flow::Execute => Origin::Incoming,
                _ => self.any_operand(op, results[at]),
            };
            ids.push(self.define(results[at], origin));
        }
        ids
    }

    /// The memory of a result or an argument of an op that may be any memory operand of the op, or external memory.
    pub(super) fn any_operand(&mut self, op: OpId, value: ValueId) -> Origin {
        let sources = self.memory_operands(op);
        // Blocks need not stand in the order in which they run, so a source may be defined further down and not be
        // lowered yet. Then `named_later` gives an origin without sources, which are added when all is lowered.
        let later = self.named_later(value, &sources);
        later.unwrap_or_else(|| Origin::Opaque(sources.into_iter().map(|source| self.value(source)).collect()))
    }

    /// Positions of the results that are memory. Of a loop that carries values, also those whose initial value is
    /// memory: all lists of the program that belong to one loop must have the same positions ([`Self::carried`]).
    fn memory_results(&self, op: OpId, flow: Flow) -> Vec<usize> {
        if flow == Flow::Carried {
            return self.carried(op).into_iter().map(|(_, at)| at).collect();
        }
        let results = self.document.results(op);
        (0..results.len()).filter(|&at| self.is_memory(results[at])).collect()
    }

    /// Opens a region of the program, makes its blocks, and pushes them so that their ops are lowered next.
    pub(super) fn region(&mut self, op: OpId, region: RegionId, stack: &mut Vec<Todo>) {
        let document = self.document;
        let Some((&entry, others)) = document.blocks(region).split_first() else {
            self.builder.open_region(&[]);
            return;
        };
        let arguments = self.entry_arguments(op, entry);
        let block = self.builder.open_region(&arguments);
        self.blocks[entry] = Some(block);
        self.add_blocks(others);
        push_blocks(stack, document.blocks(region));
    }

    /// Defines the arguments of a region's first block: those that come along with control (`Incoming`), and those
    /// whose memory is not known.
    fn entry_arguments(&mut self, op: OpId, entry: BlockId) -> Vec<program::ValueId> {
        let document = self.document;
        let flow = self.flow_of(op);
        let arguments = document.arguments(entry);
        let incoming: HashSet<ValueId> = match flow {
            Flow::Carried => {
                // Carried values come last among the arguments; a loop index stands before them. So positions are
                // counted from the end.
                let first = arguments.len().saturating_sub(document.results(op).len());
                let carried = self.carried(op).into_iter();
                carried.filter_map(|(_, at)| arguments.get(first + at).copied()).collect()
            }
            Flow::Execute => self.executed_operands(op).into_iter().map(|(_, inside)| inside).collect(),
            _ => HashSet::new(),
        };
        // Arguments of a region that nobody knows may be any operand of its op. So may the tensors that the iterations
        // of an `scf.forall` share; which of the operands is not asked. All other arguments that are memory come from
        // outside of the program.
        let mut ids = Vec::new();
        for &argument in arguments {
            if incoming.contains(&argument) {
                ids.push(self.define(argument, Origin::Incoming));
            } else if self.is_memory(argument) {
                let other = match flow {
                    Flow::Unknown | Flow::SharedOuts => self.any_operand(op, argument),
                    _ => Origin::External,
                };
                ids.push(self.define(argument, other));
            }
        }
        ids
    }

    /// Opens the one region of an `scf.while` and makes its blocks: first those that decide (`before`), then the
    /// body's (`after`). In MLIR these are two regions that run in turn. In one region, a branch leads from the first
    /// part to the body, and leaving the body begins the next iteration, so the program needs no control of its own
    /// for this op.
    pub(super) fn while_region(&mut self, op: OpId, before: RegionId, after: RegionId) {
        let document = self.document;
        let mask = self.while_mask(op);
        let mut entry_arguments = Vec::new();
        // The first block gets the operands of the op, those that are memory.
        let (entry, others) = match document.blocks(before).split_first() {
            Some((&entry, others)) => (Some(entry), others),
            None => (None, &[][..]),
        };
        let arguments = entry.map_or(&[][..], |entry| document.arguments(entry));
        // An argument beyond the operands (a faulty text) counts as no memory.
        for (at, &argument) in arguments.iter().enumerate() {
            if mask.get(at).copied().unwrap_or(false) {
                entry_arguments.push(self.define(argument, Origin::Incoming));
            }
        }
        let block = self.builder.open_region(&entry_arguments);
        if let Some(entry) = entry {
            self.blocks[entry] = Some(block);
        }
        // The blocks of the body get their arguments by a branch from the first part ([`Self::end_while`]).
        self.add_blocks(others);
        self.add_blocks(document.blocks(after));
    }

    /// Makes the program's blocks for blocks that are not the first of their region, before any op is lowered that
    /// branches to them.
    pub(super) fn add_blocks(&mut self, blocks: &[BlockId]) {
        for &block in blocks {
            // If an unknown op may branch to the block, nothing is known about the block's arguments. The list of
            // sources is empty, because whatever is handed to such a block escapes ([`Self::lets_go`]), so it shares
            // memory with no other buffer.
            let origin = match self.unclear_blocks.contains(&block) {
                true => Origin::Opaque(Box::new([])),
                false => Origin::Incoming,
            };
            let mut arguments = Vec::new();
            for &argument in self.document.arguments(block) {
                if self.is_memory(argument) {
                    arguments.push(self.define(argument, origin.clone()));
                }
            }
            let made = self.builder.add_block(&arguments);
            self.blocks[block] = Some(made);
        }
    }

    /// Tells the program where control goes from the end of a block, and which memory it takes along: to other blocks
    /// if the last op names any, otherwise out of the region. A terminator that hands on too few values is an error.
    pub(super) fn end_block(&mut self, block: BlockId) -> Result<(), LowerError> {
        let document = self.document;
        let terminator = document.ops(block).last().copied();
        if let Some(op) = terminator
            && !document.successors(op).is_empty()
        {
            return self.branches(op);
        }
        // A block at the top level of the file has no op around it, and nothing to hand on to.
        let Some(parent) = document.block_parent(block) else {
            self.builder.leave(&[]);
            return Ok(());
        };
        let flow = self.flow_of(parent);
        let operands = terminator.map_or(&[][..], |op| document.operands(op));
        let span = terminator.map_or(document.op(parent).span, |op| document.op(op).span);
        if flow == Flow::While {
            return self.end_while(parent, block, operands, span);
        }
        let positions = match flow {
            Flow::Carried | Flow::Yields => self.memory_results(parent, flow),
            // The first result is the token, which the terminator does not hand out. So its first operand is the second
            // result.
            Flow::Execute => {
                let results = self.memory_results(parent, flow).into_iter();
                results.filter_map(|at| at.checked_sub(1)).collect()
            }
            _ => Vec::new(),
        };
        // A terminator of `async.execute` hands out one value less than the op has results: the token is not one of
        // them.
        let token = usize::from(flow == Flow::Execute);
        let expected = document.results(parent).len().saturating_sub(token);
        let values = self.pick(operands, &positions, expected, span)?;
        self.builder.leave(&values);
        Ok(())
    }

    /// The values at these positions of a terminator's operands. If the terminator has too few operands, the error
    /// says how many were `expected`.
    fn pick(
        &mut self,
        operands: &[ValueId],
        positions: &[usize],
        expected: usize,
        span: Span,
    ) -> Result<Vec<program::ValueId>, LowerError> {
        let found = operands.len();
        let mut values = Vec::new();
        for &at in positions {
            let error = LowerError::Yields { found, expected, span };
            let operand = *operands.get(at).ok_or(error)?;
            values.push(self.handed_on(operand, span)?);
        }
        Ok(values)
    }

    /// The program's value for a value that control flow hands on as memory. If by its type it is no memory, the text
    /// contradicts itself, and lowering stops: otherwise it would be lost what happens to the memory.
    fn handed_on(&mut self, value: ValueId, span: Span) -> Result<program::ValueId, LowerError> {
        if !self.is_memory(value) {
            return Err(LowerError::NoMemory { name: self.document.value_name(value).to_owned(), span });
        }
        Ok(self.value(value))
    }

    /// The end of a block in an `scf.while`. The first region ends in `scf.condition`, which leaves the loop or goes
    /// to the body; the end of the second region begins the next iteration.
    fn end_while(&mut self, op: OpId, block: BlockId, operands: &[ValueId], span: Span) -> Result<(), LowerError> {
        let document = self.document;
        let regions = document.regions(op);
        let decides = regions.first() == Some(&document.block(block).parent);
        if !decides {
            let mask = self.while_mask(op);
            let positions: Vec<usize> = (0..mask.len()).filter(|&at| mask[at]).collect();
            let values = self.pick(operands, &positions, mask.len(), span)?;
            self.builder.leave(&values);
            return Ok(());
        }
        // `scf.condition(%c) %a, %b`: the first operand decides. The others are the loop's results if it ends, and the
        // arguments of the body if it goes on, so both branches are added.
        let passed = operands.split_first().map_or(&[][..], |(_, rest)| rest);
        let results = self.memory_results(op, Flow::While);
        let values = self.pick(passed, &results, document.results(op).len(), span)?;
        self.builder.branch(Target::Break, &values);
        let body = regions.get(1).and_then(|&region| document.blocks(region).first());
        if let Some(&body) = body {
            self.branch_to(body, passed, span)?;
        }
        Ok(())
    }

    /// The branches of a terminator to other blocks of its region.
    fn branches(&mut self, op: OpId) -> Result<(), LowerError> {
        let document = self.document;
        let span = document.op(op).span;
        for (index, successor) in document.successors(op).iter().enumerate() {
            if let Some(block) = successor.block {
                let operands = document.successor_operands(op, index).to_vec();
                self.branch_to(block, &operands, span)?;
            }
        }
        Ok(())
    }

    /// Adds a branch from the end of the current block to `block`. It hands over the operands at the positions of the
    /// block's arguments that are memory. A branch to an unclear block hands nothing over: the arguments of such a
    /// block are opaque ([`Self::add_blocks`]), and in a program only arguments that are `Incoming` receive values. An
    /// error if there are too few operands, or if an operand for memory is no memory.
    fn branch_to(&mut self, block: BlockId, operands: &[ValueId], span: Span) -> Result<(), LowerError> {
        let document = self.document;
        // A label names a block of its own region, and all blocks of a region are made before its ops are lowered. So
        // the block is there; otherwise there would be nothing to branch to.
        let Some(target) = self.blocks[block] else {
            return Ok(());
        };
        let arguments = document.arguments(block);
        let unclear = self.unclear_blocks.contains(&block);
        let mut values = Vec::new();
        for (at, &argument) in arguments.iter().enumerate() {
            if unclear || !self.is_memory(argument) {
                continue;
            }
            let error = LowerError::Branch { found: operands.len(), expected: arguments.len(), span };
            let operand = *operands.get(at).ok_or(error)?;
            values.push(self.handed_on(operand, span)?);
        }
        self.builder.branch(Target::Block(target), &values);
        Ok(())
    }
}
