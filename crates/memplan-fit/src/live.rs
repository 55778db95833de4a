//! How much is alive while a list of ops runs.
//!
//! This is the estimate that changes are compared by: the sum of all tensors that are alive at once, each rounded up
//! to the runtime's alignment. A placement may need more than that, never less.

use memplan_core::Id;
use memplan_models::graph::TensorId;

use crate::net::{Net, Schedule};

/// When each tensor of a schedule is written and read for the last time, by step, and how large it is. All three lists
/// are indexed by tensor: first those of the graph, then those that only the schedule has.
#[derive(Clone, Debug)]
pub(crate) struct Lives {
    /// The step that writes it; `None` if it is there before the first.
    pub(crate) written: Vec<Option<usize>>,
    /// The last step that reads it, or the number of steps if it is needed at the end; `None` if nobody reads it.
    pub(crate) last: Vec<Option<usize>>,
    /// The bytes that it takes in the arena; 0 for tensors outside of it.
    pub(crate) bytes: Vec<u64>,
}

impl Lives {
    /// The bytes of some tensors together. `new_bytes` says those of tensors that the schedule does not have.
    fn bytes_of(&self, tensors: &[TensorId], new_bytes: impl Fn(TensorId) -> u64) -> u64 {
        let sizes = tensors.iter().map(|&tensor| match self.bytes.get(tensor.index()) {
            Some(&bytes) => bytes,
            None => new_bytes(tensor),
        });
        sizes.sum()
    }

    /// Walks over a schedule once. Outputs are needed at the end, and so are inputs, unless they may be overwritten.
    pub(crate) fn new(net: &Net, schedule: &Schedule) -> Lives {
        let count = net.graph.tensors.len() + schedule.tensors.len();
        let mut lives = Lives { written: vec![None; count], last: vec![None; count], bytes: Vec::with_capacity(count) };
        lives.bytes.extend(net.graph.tensors.ids().map(|tensor| net.arena_bytes(tensor)));
        lives.bytes.extend(schedule.tensors.iter().map(|tensor| net.bytes_like(tensor.like, &tensor.shape)));
        for (at, step) in schedule.steps.iter().enumerate() {
            step.inputs.iter().for_each(|input| lives.last[input.index()] = Some(at));
            step.outputs.iter().for_each(|output| lives.written[output.index()] = Some(at));
        }
        let end = schedule.steps.len();
        net.graph.outputs.iter().for_each(|output| lives.last[output.index()] = Some(end));
        if !net.reuses_inputs {
            net.graph.inputs.iter().for_each(|input| lives.last[input.index()] = Some(end));
        }
        lives
    }

    /// Whether a tensor is there before a step runs and still needed then or later.
    pub(crate) fn is_alive_before(&self, tensor: usize, step: usize) -> bool {
        self.written[tensor].is_none_or(|written| written < step) && self.last[tensor].is_some_and(|last| last >= step)
    }

    /// Whether a tensor of the schedule is read at a step or later. Tensors that the schedule does not have are
    /// read nowhere.
    fn is_read_from(&self, tensor: TensorId, step: usize) -> bool {
        self.last.get(tensor.index()).copied().flatten().is_some_and(|last| last >= step)
    }

    /// Bytes alive while each step runs, with its scratch memory.
    pub(crate) fn curve(&self, net: &Net, schedule: &Schedule) -> Vec<u64> {
        // For each step the bytes that begin to live there less those that ended with the step before; the sum up to a
        // step is what is alive at it.
        let steps = schedule.steps.len();
        let mut change = vec![0i128; steps + 1];
        for tensor in 0..self.bytes.len() {
            // A result that nobody reads still takes memory while it is written.
            let first = self.written[tensor].unwrap_or(0);
            let Some(last) = self.last[tensor].or(self.written[tensor]) else { continue };
            // What is needed at the end has the number of steps as its last step. It lives to the last step of the
            // list, so its bytes are taken off after the end of the list, where nobody looks.
            change[first.min(steps)] += i128::from(self.bytes[tensor]);
            change[(last + 1).min(steps)] -= i128::from(self.bytes[tensor]);
        }
        let mut alive = 0i128;
        let at = |(change, step): (&i128, &crate::net::Step)| {
            alive += change;
            let scratch: u64 = net.graph.ops[step.op].scratch.iter().map(|bytes| bytes.0).sum();
            u64::try_from(alive).unwrap_or(0).saturating_add(scratch)
        };
        change.iter().zip(&schedule.steps).map(at).collect()
    }
}

/// An op in a list that takes the place of some steps.
pub(crate) struct Run<'a> {
    /// What it reads.
    pub(crate) inputs: Vec<TensorId>,
    /// What it writes.
    pub(crate) outputs: &'a [TensorId],
    /// Bytes of scratch memory.
    pub(crate) scratch: u64,
}

/// Most bytes alive while these ops run in the place of the steps `steps`. `new_bytes` says what those tensors take
/// that only these ops have.
pub(crate) fn peak_within(
    lives: &Lives,
    steps: std::ops::Range<usize>,
    runs: &[Run],
    new_bytes: impl Fn(TensorId) -> u64,
) -> u64 {
    let known = lives.bytes.len();
    // For each tensor the last op that reads it. New tensors have the highest numbers, and each is written by one of
    // the ops.
    let written = runs.iter().flat_map(|run| run.outputs).map(|output| output.index() + 1);
    let mut last_reader: Vec<Option<usize>> = vec![None; written.fold(known, usize::max)];
    for (at, run) in runs.iter().enumerate() {
        run.inputs.iter().for_each(|input| last_reader[input.index()] = Some(at));
    }
    let before = (0..known).filter(|&tensor| lives.is_alive_before(tensor, steps.start));
    let mut alive: u64 = before.map(|tensor| lives.bytes[tensor]).sum();
    let mut peak = 0u64;
    for (at, run) in runs.iter().enumerate() {
        // While an op runs, its outputs are there beside everything that was alive before; then what is over goes.
        alive += lives.bytes_of(run.outputs, &new_bytes);
        peak = peak.max(alive.saturating_add(run.scratch));
        let mut over = run.inputs.clone();
        over.extend(run.outputs);
        over.sort_unstable();
        over.dedup();
        // A tensor that this op reads or writes ends with this op if no later op of `runs` reads it and no step from
        // `steps.end` on does.
        over.retain(|&tensor| {
            last_reader[tensor.index()].is_none_or(|last| last == at) && !lives.is_read_from(tensor, steps.end)
        });
        alive -= lives.bytes_of(&over, &new_bytes);
    }
    peak
}
