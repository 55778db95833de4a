//! Is there an order of execution in which less is alive at once?
//!
//! Ops may run in any order in which everything is written before it is read.
//! What is alive after a set of ops has run depends on the set alone, not on
//! the order within it:
//!
//! ```text
//!        ┌─ big ── small₁ ─┐        big₁ big₂ small₁ small₂ join    both big ones at once
//!   in ──┤                 ├─ join
//!        └─ big ── small₂ ─┘        big₁ small₁ big₂ small₂ join    one after the other
//! ```
//!
//! So the search goes through sets, from small to large, and keeps for each the
//! lowest peak with which it can be reached (dynamic programming). There can be
//! exponentially many sets: of those of one size, only the best [`WIDTH`] are kept. Where
//! that leaves none out, the answer is exact.
//!
//! An op that frees at least as much as it needs, without a new peak, can run at
//! once: putting it off could only keep more alive in between. That alone makes
//! long chains cheap.
//!
//! Ops with an effect beside their outputs stay in their order. The peak is
//! bytes alive; in-place writes do not count.

use std::collections::HashMap;

use memplan_core::{Bytes, Id, ProblemError, bound};

use super::problem::{Assumptions, place};
use super::{Graph, GraphId, Home, Model, OpId, TensorId, Timeline, TimelineError};

/// How many sets of each size are kept: a thousand ops take about a second.
pub const WIDTH: usize = 4096;

/// Sets times ops, at most; larger graphs get a narrower search.
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

/// The best order found, keeping at most `width` sets of each size.
pub fn reorder(model: &Model, assumptions: Assumptions, width: usize) -> Result<Reordered, ReorderError> {
    let assumptions = Assumptions { in_place: false, ..assumptions };
    let before = peak(model, assumptions)?;
    let Some(graph) = model.main() else {
        return Ok(Reordered { order: Vec::new(), before, after: before, is_exact: true });
    };
    let unchanged: Vec<OpId> = graph.ops.ids().collect();
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

/// Most bytes alive at once.
pub fn peak(model: &Model, assumptions: Assumptions) -> Result<Bytes, ReorderError> {
    let placed = place(model, Timeline::new(model)?, assumptions)?;
    Ok(bound::lower_bound(&placed.problem))
}

/// A set of ops that can have run, and how well it can be reached.
struct State {
    done: Box<[u64]>,
    ready: Vec<u32>,
    live: u64,
    peak: u64,
    /// Where it came from: a state of the layer before, and the op that ran.
    parent: u32,
    op: u32,
}

/// What the search needs to know about the graph, by plain indices.
struct Search {
    /// Bytes of each tensor that counts.
    bytes: Vec<u64>,
    /// Ops that read each tensor.
    readers: Vec<Vec<u32>>,
    /// Tensors that stay alive once they are there.
    stays: Vec<bool>,
    reads: Vec<Vec<u32>>,
    writes: Vec<Vec<u32>>,
    /// Memory an op needs besides its tensors.
    extra: Vec<u64>,
    before: Vec<Vec<u32>>,
    after: Vec<Vec<u32>>,
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
        // Outputs are read after the last op, and inputs must survive the run unless their memory may be
        // reused.
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

    /// Which op must wait for which.
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

    /// The best order found, and whether no set was left out.
    fn run(&self, width: usize) -> (Vec<OpId>, bool) {
        let count = self.reads.len();
        let ready = (0..count as u32).filter(|&op| self.before[op as usize].is_empty()).collect();
        let done = vec![0; count.div_ceil(64)].into_boxed_slice();
        let start = State { done, ready, live: self.at_start, peak: self.at_start, parent: 0, op: 0 };
        let mut is_exact = true;
        let mut layer = vec![start];
        let mut trace: Vec<Vec<(u32, u32)>> = Vec::with_capacity(count);
        for _ in 0..count {
            let mut next = self.successors(&layer);
            if next.len() > width {
                is_exact = false;
                next.sort_by_key(|state| (state.peak, state.live, state.parent, state.op));
                next.truncate(width);
            }
            trace.push(next.iter().map(|state| (state.parent, state.op)).collect());
            layer = next;
        }
        let best = (0..layer.len()).min_by_key(|&index| layer[index].peak).unwrap_or(0);
        let mut order = Vec::with_capacity(count);
        let mut at = best;
        for layer in trace.iter().rev() {
            let Some(&(parent, op)) = layer.get(at) else { break };
            order.push(OpId::from_index(op as usize));
            at = parent as usize;
        }
        order.reverse();
        // A graph with a cycle has no order; readers refuse it before.
        if order.len() < count { ((0..count).map(OpId::from_index).collect(), false) } else { (order, is_exact) }
    }

    /// All sets with one op more, each with the best way to it.
    fn successors(&self, layer: &[State]) -> Vec<State> {
        let mut next: Vec<State> = Vec::new();
        let mut known: HashMap<Box<[u64]>, usize> = HashMap::new();
        for (parent, state) in layer.iter().enumerate() {
            // An op that raises neither the peak nor what is alive can run at once: no other order is
            // better for waiting with it.
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

    /// Peak and live bytes once an op has run.
    fn after_op(&self, state: &State, op: u32) -> (u64, u64) {
        let index = op as usize;
        let during = state.live.saturating_add(self.sum(self.writes[index].iter()));
        let both = self.reads[index].iter().chain(&self.writes[index]);
        let freed = self.sum(both.filter(|&&tensor| self.is_over(state, op, tensor)));
        (state.peak.max(during.saturating_add(self.extra[index])), during.saturating_sub(freed))
    }

    /// The bytes of tensors together.
    fn sum<'a>(&self, tensors: impl Iterator<Item = &'a u32>) -> u64 {
        tensors.map(|&tensor| self.bytes[tensor as usize]).fold(0, u64::saturating_add)
    }

    /// Whether nobody needs a tensor any more once `op` has run, too.
    fn is_over(&self, state: &State, op: u32, tensor: u32) -> bool {
        let readers = &self.readers[tensor as usize];
        !self.stays[tensor as usize] && readers.iter().all(|&reader| reader == op || has(&state.done, reader))
    }

    fn ready_after(&self, state: &State, op: u32, done: &[u64]) -> Vec<u32> {
        let mut ready: Vec<u32> = state.ready.iter().copied().filter(|&other| other != op).collect();
        let can_run = |other: &&u32| self.before[**other as usize].iter().all(|&first| has(done, first));
        ready.extend(self.after[op as usize].iter().filter(can_run));
        ready
    }
}

/// Scratch memory and, as an upper bound, everything in the bodies.
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

fn has(set: &[u64], op: u32) -> bool {
    set[op as usize / 64] >> (op % 64) & 1 == 1
}

fn set(set: &mut [u64], op: u32) {
    set[op as usize / 64] |= 1 << (op % 64);
}
