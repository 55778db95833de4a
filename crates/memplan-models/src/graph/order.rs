//! Is there an order of execution in which less is alive at once?
//!
//! Ops may run in any order in which everything is written before it is read,
//! and the order decides how much is alive at once:
//!
//! ```text
//!        ┌─ big ── small₁ ─┐        big₁ big₂ small₁ small₂ join    both big ones at once
//!   in ──┤                 ├─ join
//!        └─ big ── small₂ ─┘        big₁ small₁ big₂ small₂ join    one after the other
//! ```
//!
//! What is alive after a set of ops has run depends on the set alone, not on the
//! order in which they ran. So the search goes through sets of ops (here called
//! states), from small to large, and keeps for each the lowest peak with which it
//! can be reached (dynamic programming). All sets of one size are a *layer*; the
//! next layer has every set that one more op makes of these. There can be
//! exponentially many sets: of each layer, only the best [`WIDTH`] are kept. If
//! none had to be left out, the answer is exact.
//!
//! If an op can run that frees at least as many bytes as it allocates, and that does not
//! raise the peak, the search runs it at once and tries nothing else: if the op ran
//! later, more bytes would be alive until then. In a long chain of ops this leaves one
//! set in most layers.
//!
//! Ops with an effect beside their outputs stay in their order. The peak is the
//! largest number of bytes alive at once; that an output may be written over an
//! input is not taken into account.

use std::collections::HashMap;

use memplan_core::{Bytes, Id, ProblemError, bound};

use super::problem::{Assumptions, place};
use super::{Graph, GraphId, Home, Model, OpId, TensorId, Timeline, TimelineError};

/// How many sets of each size are kept. A graph of a thousand ops takes about a second.
pub const WIDTH: usize = 4096;

/// Upper limit on the number of sets of each size times the number of ops. A graph of more than `WORK / WIDTH` (128)
/// ops keeps fewer sets of each size, so that the search does not take longer for it.
const WORK: usize = 1 << 19;

/// An order of the ops of the first graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reordered {
    /// The ops in their new order; the old one if none is better.
    pub order: Vec<OpId>,
    /// The peak before.
    pub before: Bytes,
    /// The peak after; never more than before.
    pub after: Bytes,
    /// No order has a lower peak.
    pub is_exact: bool,
}

/// Why no order was looked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReorderError {
    /// The model cannot be run.
    #[error("{0}")]
    Timeline(TimelineError),
    /// The numbers are too large.
    #[error(transparent)]
    Problem(#[from] ProblemError),
}

impl From<TimelineError> for ReorderError {
    fn from(error: TimelineError) -> ReorderError {
        ReorderError::Timeline(error)
    }
}

/// Looks for an order of the main graph's ops with a lower peak, keeping at most `width` sets of each size. If none is
/// found, the result is the order of the model.
pub fn reorder(model: &Model, assumptions: Assumptions, width: usize) -> Result<Reordered, ReorderError> {
    // The search does not know about writes in place, so they are left out of the peaks that are compared, too.
    let assumptions = Assumptions { in_place: false, ..assumptions };
    let before = peak(model, assumptions)?;
    let Some(graph) = model.main() else {
        return Ok(Reordered { order: Vec::new(), before, after: before, is_exact: true });
    };
    let unchanged: Vec<OpId> = graph.ops.ids().collect();
    // At least 16 sets of each size, however large the graph is.
    let width = width.min((WORK / graph.ops.len().max(1)).max(16));
    let (order, is_exact) = Search::new(model, graph, assumptions).run(width);
    // The memory that a body needs is only known as an upper bound, so with bodies the result is not exact.
    let is_exact = is_exact && graph.ops.iter().all(|op| op.bodies.is_empty());
    let after = peak(&with_order(model, &order), assumptions)?;
    Ok(match after < before {
        true => Reordered { order, before, after, is_exact },
        false => Reordered { order: unchanged, before, after: before, is_exact },
    })
}

/// The model with the ops of its first graph in another order.
pub fn with_order(model: &Model, order: &[OpId]) -> Model {
    let mut model = model.clone();
    if let Some(graph) = model.graphs.iter_mut().next() {
        graph.ops = order.iter().map(|&op| graph.ops[op].clone()).collect();
    }
    model
}

/// The lower bound on the memory of a model in the order in which its ops stand: the largest number of bytes alive at
/// once.
pub fn peak(model: &Model, assumptions: Assumptions) -> Result<Bytes, ReorderError> {
    let placed = place(model, Timeline::new(model)?, assumptions)?;
    Ok(bound::lower_bound(&placed.problem))
}

/// A set of ops that have run, and the best way to it that was found.
struct State {
    /// The set: bit `op % 64` of word `op / 64`.
    done: Box<[u64]>,
    /// The ops that can run next.
    ready: Vec<u32>,
    /// Bytes alive after these ops.
    live: u64,
    /// The lowest peak with which the set was reached so far, in bytes.
    peak: u64,
    /// The best way to it comes from this state of the layer before, by its position there.
    parent: u32,
    /// The op that made this set of the parent's.
    op: u32,
}

/// What the search needs to know about the graph, by plain indices.
struct Search {
    /// Bytes of each tensor; 0 for tensors that are not in the arena.
    bytes: Vec<u64>,
    /// Ops that read each tensor.
    readers: Vec<Vec<u32>>,
    /// Whether each tensor stays alive to the end of the run once it is written.
    stays: Vec<bool>,
    /// Tensors that each op reads.
    reads: Vec<Vec<u32>>,
    /// Tensors that each op writes.
    writes: Vec<Vec<u32>>,
    /// Bytes that each op needs besides its tensors, while it runs.
    extra: Vec<u64>,
    /// Ops that must have run before each op.
    before: Vec<Vec<u32>>,
    /// Ops that must wait for each op.
    after: Vec<Vec<u32>>,
    /// Bytes alive before the first op: the inputs of the graph.
    at_start: u64,
}

impl Search {
    /// Prepares a graph for the search: sizes, readers, and which op has to come before which.
    fn new(model: &Model, graph: &Graph, assumptions: Assumptions) -> Search {
        let mut search = Search {
            bytes: graph.tensors.iter().map(arena_bytes).collect(),
            readers: vec![Vec::new(); graph.tensors.len()],
            stays: vec![false; graph.tensors.len()],
            reads: graph.ops.iter().map(|op| sorted_indices(&op.inputs)).collect(),
            writes: graph.ops.iter().map(|op| sorted_indices(&op.outputs)).collect(),
            extra: graph.ops.iter().map(|op| extra(model, &op.scratch, &op.bodies)).collect(),
            before: vec![Vec::new(); graph.ops.len()],
            after: vec![Vec::new(); graph.ops.len()],
            at_start: 0,
        };
        for (op, reads) in search.reads.iter().enumerate() {
            for &tensor in reads {
                search.readers[tensor as usize].push(op as u32);
            }
        }
        // The caller reads outputs after the last op. Inputs stay alive to the end of the run unless their memory may
        // be reused.
        for &output in &graph.outputs {
            search.stays[output.index()] = true;
        }
        for &input in &graph.inputs {
            search.stays[input.index()] |= !assumptions.reuse_inputs;
            search.at_start = search.at_start.saturating_add(search.bytes[input.index()]);
        }
        search.connect(graph);
        search
    }

    /// Fills `before` and `after`: the readers of a tensor wait for its writer, and each stateful op waits for the
    /// one before it.
    fn connect(&mut self, graph: &Graph) {
        let mut pairs = Vec::new();
        for (op, writes) in self.writes.iter().enumerate() {
            for &tensor in writes {
                pairs.extend(self.readers[tensor as usize].iter().map(|&reader| (op as u32, reader)));
            }
        }
        let stateful: Vec<u32> =
            graph.ops.iter_enumerated().filter(|(_, op)| op.is_stateful).map(|(id, _)| id.index() as u32).collect();
        pairs.extend(stateful.windows(2).map(|pair| (pair[0], pair[1])));
        pairs.sort_unstable();
        pairs.dedup();
        for (first, second) in pairs.into_iter().filter(|(first, second)| first != second) {
            self.before[second as usize].push(first);
            self.after[first as usize].push(second);
        }
    }

    /// The best order found, and whether it is known to be the best of all: no set was left out. Each round of the
    /// first loop makes the next layer, with sets of one op more; the second loop goes back through the layers.
    fn run(&self, width: usize) -> (Vec<OpId>, bool) {
        let count = self.reads.len();
        let ready = (0..count as u32).filter(|&op| self.before[op as usize].is_empty()).collect();
        let done = vec![0; count.div_ceil(64)].into_boxed_slice();
        let start = State { done, ready, live: self.at_start, peak: self.at_start, parent: 0, op: 0 };
        let mut is_exact = true;
        let mut layer = vec![start];
        // The parent and the op of every state, layer by layer: enough to find the way back from the end.
        let mut trace: Vec<Vec<(u32, u32)>> = Vec::with_capacity(count);
        for _ in 0..count {
            let mut next = self.successors(&layer);
            // Of too many states, those with the lowest peak are kept, and of equal peaks those with the fewest live
            // bytes. Parent and op are in the key so that no two states are equal: which ones are kept does not depend
            // on how sorting treats equal keys.
            if next.len() > width {
                is_exact = false;
                next.sort_by_key(|state| (state.peak, state.live, state.parent, state.op));
                next.truncate(width);
            }
            trace.push(next.iter().map(|state| (state.parent, state.op)).collect());
            layer = next;
        }
        // The last layer has one state, all ops. Its parents, one layer back each time, are the order in reverse.
        let best = (0..layer.len()).min_by_key(|&index| layer[index].peak).unwrap_or(0);
        let mut order = Vec::with_capacity(count);
        let mut at = best;
        for layer in trace.iter().rev() {
            let Some(&(parent, op)) = layer.get(at) else { break };
            order.push(OpId::from_index(op as usize));
            at = parent as usize;
        }
        order.reverse();
        // If the graph had a cycle, the last layers would be empty and no order would be found. Readers refuse such
        // files; a model from elsewhere keeps its order.
        if order.len() < count { ((0..count).map(OpId::from_index).collect(), false) } else { (order, is_exact) }
    }

    /// The next layer: all sets that one more op makes of the sets of a layer, each with the best way to it.
    fn successors(&self, layer: &[State]) -> Vec<State> {
        let mut next: Vec<State> = Vec::new();
        // The position in `next` of each set that has been found.
        let mut known: HashMap<Box<[u64]>, usize> = HashMap::new();
        for (parent, state) in layer.iter().enumerate() {
            // If an op raises neither the peak nor the live bytes, no order that runs another op first is better. So
            // this op is the only one that is tried.
            let harmless = state.ready.iter().find(|&&op| {
                let (peak, live) = self.after_op(state, op);
                peak <= state.peak && live <= state.live
            });
            let ops = harmless.map_or(state.ready.as_slice(), std::slice::from_ref);
            for &op in ops {
                let (peak, live) = self.after_op(state, op);
                let mut done = state.done.clone();
                set(&mut done, op);
                // Two ways to the same set of ops differ only in their peak; the lower one is kept.
                match known.get(&done) {
                    Some(&index) if next[index].peak <= peak => {}
                    Some(&index) => {
                        let better = &mut next[index];
                        (better.peak, better.parent, better.op) = (peak, parent as u32, op);
                    }
                    None => {
                        let ready = self.ready_after(state, op, &done);
                        known.insert(done.clone(), next.len());
                        next.push(State { done, ready, live, peak, parent: parent as u32, op });
                    }
                }
            }
        }
        next
    }

    /// The peak and the live bytes, in this order, after an op has run in a state. While it runs, its outputs and its
    /// extra memory are alive beside everything that was alive before.
    fn after_op(&self, state: &State, op: u32) -> (u64, u64) {
        let index = op as usize;
        // An output that nobody reads is over at once; it is among `writes`, so it is counted in `during` first.
        let during = state.live.saturating_add(self.sum(self.writes[index].iter()));
        let both = self.reads[index].iter().chain(&self.writes[index]);
        let freed = self.sum(both.filter(|&&tensor| self.is_over(state, op, tensor)));
        (state.peak.max(during.saturating_add(self.extra[index])), during.saturating_sub(freed))
    }

    /// The bytes of tensors together.
    fn sum<'a>(&self, tensors: impl Iterator<Item = &'a u32>) -> u64 {
        tensors.map(|&tensor| self.bytes[tensor as usize]).fold(0, u64::saturating_add)
    }

    /// Whether a tensor is not needed any more after `op` has run in this state: all its readers have run, and it need
    /// not stay to the end of the run. For an output of `op` that nobody reads the answer is yes.
    fn is_over(&self, state: &State, op: u32, tensor: u32) -> bool {
        let readers = &self.readers[tensor as usize];
        !self.stays[tensor as usize] && readers.iter().all(|&reader| reader == op || has(&state.done, reader))
    }

    /// The ops that can run after `op` has run in a state; `done` is the set with `op`. New ones are among those that
    /// waited for `op`.
    fn ready_after(&self, state: &State, op: u32, done: &[u64]) -> Vec<u32> {
        let mut ready: Vec<u32> = state.ready.iter().copied().filter(|&other| other != op).collect();
        let can_run = |other: &&u32| self.before[**other as usize].iter().all(|&first| has(done, first));
        ready.extend(self.after[op as usize].iter().filter(can_run));
        ready
    }
}

/// Bytes that an op needs while it runs, besides its tensors: its scratch memory, and the tensors of its bodies. As an
/// upper bound, all tensors of all bodies count as alive at once.
fn extra(model: &Model, scratch: &[Bytes], bodies: &[GraphId]) -> u64 {
    let sum = |graph: &Graph| graph.tensors.iter().fold(0, |sum: u64, tensor| sum.saturating_add(tensor.bytes.0));
    let bodies = bodies.iter().filter_map(|&body| model.graphs.get(body)).map(sum);
    scratch.iter().map(|bytes| bytes.0).chain(bodies).fold(0, u64::saturating_add)
}

/// The bytes of a tensor that count here: weights stay in the file and take nothing from the arena.
fn arena_bytes(tensor: &super::Tensor) -> u64 {
    if tensor.home == Home::Arena { tensor.bytes.0 } else { 0 }
}

/// The indices of tensors in order, each once.
fn sorted_indices(tensors: &[TensorId]) -> Vec<u32> {
    let mut indices: Vec<u32> = tensors.iter().map(|tensor| tensor.index() as u32).collect();
    indices.sort_unstable();
    indices.dedup();
    indices
}

/// Whether a set of ops has this one.
fn has(set: &[u64], op: u32) -> bool {
    set[op as usize / 64] >> (op % 64) & 1 == 1
}

/// Adds an op to a set.
fn set(set: &mut [u64], op: u32) {
    set[op as usize / 64] |= 1 << (op % 64);
}
