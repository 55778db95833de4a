//! Executing statements for a set of workers in lockstep.
//!
//! A worker is one thread of control. The function starts with one worker. A launch, or a parallel loop in lockstep
//! order, splits each active worker into one worker per index. Every statement runs for all active workers before the
//! next statement does. A condition or a loop makes the workers inactive for which it does not hold or is over.
//!
//! ```text
//! with T.launch_thread("threadIdx.x", 4) as t:    workers 1..5, copies of worker 0 with t = 0, 1, 2, 3
//!     if t < 2:                                   active: 1, 2
//!         A[t] = B[t + 1]                         both read B, then both write A
//! ```
//!
//! Which memory a worker sees under the name of a buffer depends on the buffer's scope: all workers share `global`
//! memory, the workers of a thread block share `shared` memory, each has its own `local` memory. An allocation makes a
//! [`Site`], and the memory itself appears when a worker first touches it.

use super::memory::Memory;
use super::number::{Scalar, from_bytes, to_bytes};
use super::{Order, Output, RunError, RunOptions};
use crate::DType;
use crate::ir::{
    Block, BufId, Expr, ForKind, Function, Memory as Whose, PREDICATE, Param, Rank, Stmt, StmtKind, StorageScope,
    VarId, thread_rank,
};
use crate::te::marks::{as_bind, as_realize};
use memplan_core::{Id, IndexVec, Span};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// The value of an expression.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A number.
    One(Scalar),
    /// A number for each lane of a vector.
    Many(Vec<Scalar>),
    /// A pointer.
    Address(Pointer),
}

/// An address in some buffer's memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pointer {
    /// The memory, by its position in [`Machine::memories`].
    pub(super) memory: usize,
    /// The byte in it.
    pub(super) byte: u64,
    /// Elements that may be touched through it, and their type.
    pub(super) elements: u64,
    pub(super) dtype: DType,
}

/// A thread of control.
#[derive(Clone)]
pub(super) struct Worker {
    /// The values of variables; `None` for one that has no value yet.
    vars: IndexVec<VarId, Option<Scalar>>,
    /// The allocation that was executed last for each buffer.
    buffers: IndexVec<BufId, Option<Site>>,
    /// The index of this worker on each thread axis that has been launched around it, the outermost first.
    axes: Vec<(String, i64)>,
    /// A number that tells the iterations of a parallel loop apart, where they are workers: each has its own copy of
    /// every buffer that it allocates, in whatever scope. 0 outside of such loops.
    private: u64,
    /// For tensors of which only a part exists in memory, the first element and the extent of each dimension.
    pub(super) regions: BTreeMap<BufId, Rc<[(i64, i64)]>>,
    /// For the buffers by which an extern body calls its operands, the buffers of the function that they stand for.
    pub(super) bound: BTreeMap<BufId, BufId>,
}

/// One execution of an allocation by a worker. Workers whose sites are equal, and who share memory of that rank (see
/// `sharing`), have one memory.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Site {
    /// Counts executed allocations, so that an allocation in a loop is a new one in every iteration.
    event: u64,
    /// [`Worker::private`] at the time.
    private: u64,
    /// Size in bytes.
    size: u64,
    /// The worker's indices on the axes of thread blocks at the time: global memory that is allocated inside of a
    /// block is the block's own.
    block: Vec<i64>,
    /// Which threads share the memory.
    rank: Rank,
}

/// The state of a run.
pub(super) struct Machine<'a> {
    pub(super) function: &'a Function,
    pub(super) options: &'a RunOptions,
    /// All workers; those that a launch added are at the end.
    pub(super) workers: Vec<Worker>,
    /// All memories that were ever made.
    pub(super) memories: Vec<Memory>,
    /// The memory of each site that has been touched, by the site and the indices of the threads that share it.
    instances: HashMap<(Site, Vec<i64>), usize>,
    /// The memory of each argument.
    arguments: IndexVec<BufId, Option<usize>>,
    /// Statements executed so far, one for each active worker, and elements that calls have worked on.
    steps: u64,
    /// Numbers given so far to executed allocations and to private iterations.
    events: u64,
    /// Unknown extern functions called so far.
    pub(super) extern_calls: u64,
    /// Digest of all values loaded so far.
    pub(super) loads: u64,
    /// The statement being executed, for errors.
    pub(super) span: Span,
}

/// The largest number of workers that lockstep order splits a parallel loop into; a longer loop runs its iterations one
/// after the other. A launch may make sixteen times as many workers; beyond that the run fails, because threads cannot
/// run one after the other.
const MAX_WORKERS: i64 = 4096;

/// A well-mixed number from two (splitmix64).
pub(super) fn mix(a: u64, b: u64) -> u64 {
    let mut x = a.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(b).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl<'a> Machine<'a> {
    /// A machine before the function starts: one worker, no memory.
    pub(super) fn new(function: &'a Function, options: &'a RunOptions) -> Machine<'a> {
        Machine {
            function,
            options,
            workers: vec![Worker {
                vars: IndexVec::filled(None, function.vars.len()),
                buffers: IndexVec::filled(None, function.buffers.len()),
                axes: Vec::new(),
                private: 0,
                regions: BTreeMap::new(),
                bound: BTreeMap::new(),
            }],
            memories: Vec::new(),
            instances: HashMap::new(),
            arguments: IndexVec::filled(None, function.buffers.len()),
            steps: 0,
            events: 0,
            extern_calls: 0,
            loads: 0,
            span: Span::default(),
        }
    }

    /// Runs the function and returns its outputs, and a digest of all values that it has read.
    pub(super) fn run(mut self) -> Result<(Vec<Output>, u64), RunError> {
        self.choose_scalars();
        for param in &self.function.params {
            if let Param::Buffer(buffer) = param {
                self.make_argument(*buffer)?;
            }
        }
        let body = &self.function.body;
        self.block(body, &[0])?;
        Ok((self.outputs()?, self.loads))
    }

    /// Gives every variable a value from 2 to 7 by the seed, or the one that the options name. Scalar parameters and
    /// symbolic sizes keep it; all other variables are set before they are read.
    fn choose_scalars(&mut self) {
        for (id, var) in self.function.vars.iter_enumerated() {
            // `0x5ca1_a000` keeps these numbers apart from those that fill the arguments; any constant would do.
            let chosen = 2 + (mix(self.options.seed, 0x5ca1_a000 + id.index() as u64) % 6) as i64;
            let value = self.options.scalars.get(&var.name).copied().unwrap_or(chosen);
            self.workers[0].vars[id] =
                Some(if var.dtype.is_float() { Scalar::Float(value as f64) } else { Scalar::Int(value) });
        }
    }

    /// Makes the content of a parameter out of the seed: whole numbers from 0 to 7.
    fn make_argument(&mut self, buffer: BufId) -> Result<(), RunError> {
        let declared = &self.function.buffers[buffer];
        // The number of arguments before this one, so that two arguments differ in content.
        let position = self.arguments.iter().flatten().count();
        let size = self.size_of(buffer, 0)?;
        let mut memory = Memory::new(size);
        let lane = declared.dtype.lane_bytes();
        // Every element is written, so a declared terabyte would take hours.
        self.span = declared.span;
        self.spend(size / lane.max(1))?;
        for index in 0..size / lane.max(1) {
            // Each run of eight elements is a permutation of 0..8: a random start plus a random odd step times the
            // index, modulo 8. So every value is in range if the data serve as subscripts of eight elements.
            let random = mix(mix(self.options.seed, position as u64), index / 8);
            let value = ((random >> 8) % 8 + (random | 1) % 8 * (index % 8)) % 8;
            let value = value as i64;
            let value = super::number::convert(Scalar::Int(value), declared.dtype.element());
            let bytes = to_bytes(value, declared.dtype);
            for byte in 0..lane {
                memory.write(index * lane + byte, bytes[byte as usize & 7]);
            }
        }
        self.memories.push(memory);
        self.arguments[buffer] = Some(self.memories.len() - 1);
        Ok(())
    }

    /// The contents of all arguments after the run.
    fn outputs(&self) -> Result<Vec<Output>, RunError> {
        let mut outputs = Vec::new();
        for (id, buffer) in self.function.buffers.iter_enumerated() {
            let Some(memory) = self.arguments[id] else {
                continue;
            };
            let memory = &self.memories[memory];
            let lane = buffer.dtype.lane_bytes().max(1);
            let mut values = Vec::new();
            for index in 0..memory.size() / lane {
                // `make_argument` has written every whole lane, so the zero is never used.
                let mut bytes = [0; 8];
                for byte in 0..lane {
                    bytes[byte as usize & 7] = memory.read(index * lane + byte).unwrap_or(0);
                }
                values.push(from_bytes(bytes, buffer.dtype));
            }
            outputs.push(Output { name: buffer.name.clone(), dtype: buffer.dtype, values });
        }
        Ok(outputs)
    }

    /// The bytes of a buffer, with the extents as they are for a worker at the moment.
    fn size_of(&mut self, buffer: BufId, worker: usize) -> Result<u64, RunError> {
        let declared = &self.function.buffers[buffer];
        let mut elements = 1u64;
        for extent in &declared.shape {
            let extent = self.integer(extent, worker)?;
            let product = u64::try_from(extent).ok().and_then(|extent| elements.checked_mul(extent));
            elements = product.ok_or_else(|| self.invalid(format!("`{}` has an impossible size", declared.name)))?;
        }
        let lanes = u64::from(declared.dtype.lanes) * declared.dtype.lane_bytes();
        elements
            .checked_mul(lanes)
            .filter(|bytes| *bytes <= memplan_core::MAX_BYTES)
            .ok_or_else(|| self.invalid(format!("`{}` is too large", declared.name)))
    }

    pub(super) fn invalid(&self, message: impl Into<String>) -> RunError {
        RunError::Invalid { span: self.span, message: message.into() }
    }

    pub(super) fn variable(&self, var: VarId, worker: usize) -> Result<Scalar, RunError> {
        self.workers[worker].vars[var]
            .ok_or_else(|| self.invalid(format!("`{}` has no value here", self.function.vars[var].name)))
    }

    /// Gives a variable a value for all active workers.
    fn set(&mut self, var: VarId, value: Scalar, active: &[usize]) {
        for &worker in active {
            self.workers[worker].vars[var] = Some(value);
        }
    }

    /// Executes the statements of a block for the active workers.
    fn block(&mut self, block: &Block, active: &[usize]) -> Result<(), RunError> {
        if active.is_empty() {
            return Ok(());
        }
        block.iter().try_for_each(|stmt| self.statement(stmt, active))
    }

    /// Counts steps. An error at the current statement if the limit is passed.
    pub(super) fn spend(&mut self, steps: u64) -> Result<(), RunError> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > self.options.max_steps {
            return Err(RunError::TooLong { span: self.span, steps: self.options.max_steps });
        }
        Ok(())
    }

    /// Executes a statement for all active workers before any of them goes on. Each active worker counts as a step. An
    /// error if the steps are used up, an assertion fails, or an expression or access has no meaning.
    fn statement(&mut self, stmt: &Stmt, active: &[usize]) -> Result<(), RunError> {
        self.span = stmt.span;
        self.spend(active.len() as u64)?;
        match &stmt.kind {
            StmtKind::Nothing => Ok(()),
            StmtKind::Alloc(buffer) => self.allocate(*buffer, active),
            StmtKind::Declare(buffer) => self.declare(*buffer, active),
            StmtKind::Store { buffer, index, value } => {
                // All workers compute their values and subscripts before any of them writes.
                let mut writes = Vec::with_capacity(active.len());
                for &worker in active {
                    let value = self.eval(value, worker)?;
                    let places = self.places(*buffer, index, worker)?;
                    writes.push((places, value));
                }
                let dtype = self.function.buffers[*buffer].dtype;
                writes.into_iter().try_for_each(|(places, value)| self.write(&places, &value, dtype))
            }
            StmtKind::Let { var, value } => {
                for &worker in active {
                    let value = self.scalar(value, worker)?;
                    self.workers[worker].vars[*var] = Some(value);
                }
                Ok(())
            }
            StmtKind::Assert { condition, message } => {
                for &worker in active {
                    if !self.scalar(condition, worker)?.is_true() {
                        return Err(RunError::Assertion { span: stmt.span, message: message.clone() });
                    }
                }
                Ok(())
            }
            // Programs of tensor expressions, before their buffers are laid out, bring tensors into being by a call.
            StmtKind::Evaluate(value) if as_realize(value).is_some() => self.realize(value, active),
            // A call is the one statement whose reads and writes are not kept apart: one thread has run all of it before
            // the next one begins. What threads do to the same bytes in one call has no order in the program either.
            StmtKind::Evaluate(value) => active.iter().try_for_each(|&worker| self.eval(value, worker).map(|_| ())),
            // Each branch runs for the workers that take it.
            StmtKind::If { condition, then, otherwise, .. } => {
                let (yes, no) = self.split(condition, active)?;
                self.block(then, &yes)?;
                self.block(otherwise, &no)
            }
            StmtKind::While { condition, body } => {
                // A worker leaves the loop when its condition fails; the others go on.
                let (mut running, _) = self.split(condition, active)?;
                while !running.is_empty() {
                    self.block(body, &running)?;
                    // An empty body counts, too, so that every loop ends at the step limit.
                    self.span = stmt.span;
                    self.spend(1)?;
                    running = self.split(condition, &running)?.0;
                }
                Ok(())
            }
            StmtKind::For { var, min, extent, kind, body, .. } => self.for_loop(*var, min, extent, kind, body, active),
            StmtKind::Thread { var, tag, extent, body, .. } => self.launch(*var, tag, (None, extent), body, active),
            // The mark `T.where(i < 7)` of a block: like an `if` without `else`.
            StmtKind::Attr { key, value, body, .. } if key == PREDICATE => {
                let (inside, _) = self.split(value, active)?;
                self.block(body, &inside)
            }
            // A mark changes nothing, except the one that gives a buffer of an extern body its tensor.
            StmtKind::Attr { node, key, value, body, .. } => {
                // The bounds need no look: a slot stands for a whole tensor.
                if let Some((slot, tensor, offset, _bounds)) = as_bind(node.as_ref(), key, value) {
                    self.bind(slot, tensor, offset, active);
                }
                self.block(body, active)
            }
        }
    }

    /// The active workers for which a condition holds, and those for which it does not.
    fn split(&mut self, condition: &Expr, active: &[usize]) -> Result<(Vec<usize>, Vec<usize>), RunError> {
        let (mut yes, mut no) = (Vec::new(), Vec::new());
        for &worker in active {
            let side = if self.scalar(condition, worker)?.is_true() { &mut yes } else { &mut no };
            side.push(worker);
        }
        Ok((yes, no))
    }

    /// A loop for all active workers. A loop bound to threads launches workers; every other loop runs its iterations
    /// in order, except where a parallel loop can be spread over workers.
    fn for_loop(
        &mut self,
        var: VarId,
        min: &Expr,
        extent: &Expr,
        kind: &ForKind,
        body: &Block,
        active: &[usize],
    ) -> Result<(), RunError> {
        if let ForKind::ThreadBinding(tag) = kind {
            return self.launch(var, tag, (Some(min), extent), body, active);
        }
        let mut bounds = Vec::with_capacity(active.len());
        for &worker in active {
            bounds.push((self.integer(min, worker)?, self.integer(extent, worker)?));
        }
        // Each worker has bounds of its own, because they may depend on its variables.
        let longest = bounds.iter().map(|bound| bound.1).max().unwrap_or(0);
        let uniform = bounds.iter().all(|bound| *bound == bounds[0]);
        let parallel = *kind == ForKind::Parallel;
        // In lockstep order all iterations become workers that run side by side. That needs the same bounds for
        // everybody, and a bound on the number of workers: beyond it the iterations run one after the other.
        if parallel
            && uniform
            && self.options.order == Order::Lockstep
            && longest.saturating_mul(active.len() as i64) <= MAX_WORKERS
        {
            return self.expand(var, bounds[0].0, longest, body, active, None);
        }
        for position in 0..longest {
            // An empty body executes no statement, so the iteration itself counts: every loop ends at the step limit.
            if body.is_empty() {
                self.spend(1)?;
            }
            // A parallel loop may run in any order. Running it backward shows whether the results depend on the order.
            let step =
                if parallel && self.options.order == Order::Backward { longest - 1 - position } else { position };
            if uniform {
                let value = Scalar::Int(bounds[0].0.wrapping_add(step));
                self.set(var, value, active);
                self.block(body, active)?;
                continue;
            }
            // Bounds may differ between workers. A worker whose loop is over waits until the longest one is done.
            let mut running = Vec::new();
            for (&worker, &(min, extent)) in active.iter().zip(&bounds) {
                if step < extent {
                    self.workers[worker].vars[var] = Some(Scalar::Int(min.wrapping_add(step)));
                    running.push(worker);
                }
            }
            self.block(body, &running)?;
        }
        Ok(())
    }

    /// Executes a launch: one worker per thread index. A worker that already has an index on this axis, from a launch
    /// around this one, keeps it and is not split. Indices count from 0. The variable counts from the first value of
    /// the loop (`first`), or from 0 too if there is none.
    fn launch(
        &mut self,
        var: VarId,
        tag: &str,
        (first, extent): (Option<&Expr>, &Expr),
        body: &Block,
        active: &[usize],
    ) -> Result<(), RunError> {
        // Workers that already have an index on the axis (`known`), and those that have none (`fresh`).
        let mut fresh = Vec::new();
        let mut known = Vec::new();
        for &worker in active {
            match self.workers[worker].axes.iter().find(|(axis, _)| axis == tag) {
                Some(&(_, index)) => {
                    let first = first.map_or(Ok(0), |first| self.integer(first, worker))?;
                    self.workers[worker].vars[var] = Some(Scalar::Int(first.wrapping_add(index)));
                    known.push(worker);
                }
                None => fresh.push(worker),
            }
        }
        if !known.is_empty() {
            return self.block(body, &known);
        }
        // The number of threads and the first value are the same for all workers, so the first one is asked. Without a
        // first worker nobody is active.
        let Some(&asked) = fresh.first() else {
            return Ok(());
        };
        let extent = self.integer(extent, asked)?;
        let min = first.map_or(Ok(0), |first| self.integer(first, asked))?;
        if extent.saturating_mul(fresh.len() as i64) > MAX_WORKERS * 16 {
            return Err(self.invalid("too many threads to interpret"));
        }
        self.expand(var, min, extent, body, &fresh, Some(tag))
    }

    /// Splits every active worker into `extent` workers, with `min`, `min + 1`, … for `var`, and runs the body with
    /// all of them. `axis` is the thread axis of a launch, `None` for a parallel loop.
    fn expand(
        &mut self,
        var: VarId,
        min: i64,
        extent: i64,
        body: &Block,
        active: &[usize],
        axis: Option<&str>,
    ) -> Result<(), RunError> {
        let first = self.workers.len();
        for &parent in active {
            for step in 0..extent.max(0) {
                // A child starts with everything its parent knows. Only the loop variable and the memory that is
                // private to it differ.
                let mut worker = self.workers[parent].clone();
                worker.vars[var] = Some(Scalar::Int(min.wrapping_add(step)));
                match axis {
                    Some(axis) => worker.axes.push((axis.to_owned(), step)),
                    None => {
                        // Iterations of a parallel loop have private memory; a new event number tells the copies of
                        // different iterations apart. Threads are told apart by their axes instead.
                        self.events += 1;
                        worker.private = self.events;
                    }
                }
                self.workers.push(worker);
            }
        }
        let children: Vec<usize> = (first..self.workers.len()).collect();
        let result = self.block(body, &children);
        // The children end with the body, also when it fails. Indices of workers stay valid only because workers are
        // added and removed at the end.
        self.workers.truncate(first);
        result
    }

    /// Executes an allocation: every active worker notes a new site for the buffer. Which workers share its memory is
    /// decided by the scope, when the memory is first touched.
    fn allocate(&mut self, buffer: BufId, active: &[usize]) -> Result<(), RunError> {
        self.events += 1;
        let event = self.events;
        let rank = self.function.buffers[buffer].scope.rank;
        for &worker in active {
            let size = self.size_of(buffer, worker)?;
            self.enter(buffer, event, size, rank, worker);
        }
        Ok(())
    }

    /// Notes a new site of a buffer for a worker, and forgets the memory of its old one.
    fn enter(&mut self, buffer: BufId, event: u64, size: u64, rank: Rank, worker: usize) {
        let state = &self.workers[worker];
        let site = Site { event, private: state.private, size, block: block_indices(&state.axes), rank };
        let old = self.workers[worker].buffers[buffer].replace(site);
        self.release(old, worker);
    }

    /// Executes the call by which a part of a tensor comes into being: an allocation with bounds (first element and
    /// extent of each dimension). For an argument, which exists already, nothing happens.
    fn realize(&mut self, value: &Expr, active: &[usize]) -> Result<(), RunError> {
        let Some(realize) = as_realize(value).filter(|realize| self.arguments[realize.tensor].is_none()) else {
            return Ok(());
        };
        self.events += 1;
        let event = self.events;
        let declared = &self.function.buffers[realize.tensor];
        let element = declared.dtype.lane_bytes() * u64::from(declared.dtype.lanes);
        for &worker in active {
            let (mut region, mut size) = (Vec::new(), Some(element));
            // Bounds come in pairs of start and extent, and they may depend on the worker's own loop variables.
            for pair in realize.bounds.chunks_exact(2) {
                let (min, extent) = (self.integer(&pair[0], worker)?, self.integer(&pair[1], worker)?);
                size = size.and_then(|size| size.checked_mul(u64::try_from(extent).ok()?));
                region.push((min, extent));
            }
            let size = size.filter(|size| *size <= memplan_core::MAX_BYTES);
            let size = size.ok_or_else(|| self.invalid(format!("`{}` has an impossible size", declared.name)))?;
            // A scope that is written down counts. Otherwise the innermost thread axis decides: inside of a block the
            // memory is shared by its threads, inside of a thread it is the thread's own.
            let rank = match self.workers[worker].axes.last().and_then(|(axis, _)| thread_rank(axis)) {
                _ if !realize.scope.is_empty() => StorageScope::parse(realize.scope).map_or(Rank::Global, |s| s.rank),
                None => Rank::Global,
                Some(0) => Rank::Shared,
                Some(_) => Rank::Local,
            };
            // The worker has a new site of the tensor from now on, and its subscripts count from `region`.
            self.enter(realize.tensor, event, size, rank, worker);
            self.workers[worker].regions.insert(realize.tensor, region.into());
        }
        Ok(())
    }

    /// Makes a buffer of an extern body stand for a tensor, at offset 0.
    fn bind(&mut self, slot: BufId, tensor: BufId, offset: &Expr, active: &[usize]) {
        for &worker in active {
            self.workers[worker].bound.insert(slot, tensor);
        }
        if let Expr::Var(offset) = offset {
            self.set(*offset, Scalar::Int(0), active);
        }
    }

    /// Which of a site's memories a worker uses, as the thread indices that all workers with the same memory have in
    /// common. Global memory: the block indices at the allocation. Shared memory: the worker's block indices, so each
    /// thread block has one. Local memory: all indices of the worker, so each thread has one.
    fn sharing(&self, site: &Site, worker: usize) -> Vec<i64> {
        let axes = &self.workers[worker].axes;
        match site.rank {
            Rank::Global => site.block.clone(),
            Rank::Shared | Rank::Warp => block_indices(axes),
            Rank::Local | Rank::Special => axes.iter().map(|(_, index)| *index).collect(),
        }
    }

    /// Forgets the memory of an allocation that is executed again, so that a loop of allocations does not fill the
    /// machine's memory. The entry in `memories` stays, with no bytes, because other memories are named by position.
    fn release(&mut self, old: Option<Site>, worker: usize) {
        let Some(old) = old else { return };
        let sharing = self.sharing(&old, worker);
        if let Some(memory) = self.instances.remove(&(old, sharing)) {
            self.memories[memory] = Memory::new(0);
        }
    }

    /// Executes a declaration. A view needs nothing; `T.match_buffer` makes an argument when it is executed first.
    fn declare(&mut self, buffer: BufId, active: &[usize]) -> Result<(), RunError> {
        let is_argument = self.function.buffers[buffer].memory == Whose::Argument;
        if is_argument && self.arguments[buffer].is_none() && !active.is_empty() {
            self.make_argument(buffer)?;
        }
        Ok(())
    }

    /// The buffer that a buffer of an extern body stands for; any other stands for itself.
    pub(super) fn resolve(&self, buffer: BufId, worker: usize) -> BufId {
        self.workers[worker].bound.get(&buffer).copied().unwrap_or(buffer)
    }

    /// The memory that holds a buffer for a worker, made now if the worker is the first to touch it.
    pub(super) fn memory_of(&mut self, buffer: BufId, worker: usize) -> Result<usize, RunError> {
        let root = self.resolve(self.function.root(buffer), worker);
        if let Some(memory) = self.arguments[root] {
            return Ok(memory);
        }
        let state = &self.workers[worker];
        let Some(site) = state.buffers[root].clone() else {
            return Err(self.invalid(format!("`{}` is used before it is allocated", self.function.buffers[root].name)));
        };
        let sharing = self.sharing(&site, worker);
        let size = site.size;
        let memories = &mut self.memories;
        Ok(*self.instances.entry((site, sharing)).or_insert_with(|| {
            memories.push(Memory::new(size));
            memories.len() - 1
        }))
    }
}

/// The indices on the axes that number thread blocks.
fn block_indices(axes: &[(String, i64)]) -> Vec<i64> {
    axes.iter().filter(|(axis, _)| thread_rank(axis) == Some(0)).map(|(_, index)| *index).collect()
}
