//! Changes of a network that are worth trying, with what each costs.
//!
//! A `Schedule` is a list of `Step`s, each one run of an op. A `Tiling` is a way to execute some neighbouring
//! steps of it tile by tile, and a `Chosen` is a set of tilings that do not overlap. The *curve* of a schedule has
//! the bytes alive at each of its steps. Each schedule is combined with each choice of its tilings; what is beaten in
//! memory and multiply-adds is dropped, and the rest become [`Candidate`]s.

use memplan_core::{Bytes, Id};
use memplan_models::graph::OpId;
use memplan_models::graph::rewrite::{Copied, NewOp, Padding, Rewrite};

use crate::choice::{Chosen, alone, choices};
use crate::live::Lives;
use crate::net::{Net, Schedule, Step};
use crate::patch::patch;
use crate::segment::{Segment, Tiling, kept_for, naive_segments, segments};

/// Which kinds of change may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// Ops may run in another order.
    pub reorder: bool,
    /// Ops may run more than once.
    pub recompute: bool,
    /// Segments may be executed tile by tile.
    pub patches: bool,
}

impl Default for Allowed {
    fn default() -> Allowed {
        Allowed { reorder: true, recompute: true, patches: true }
    }
}

/// One change of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Ops run in another order.
    Reordered,
    /// An op runs again, for a late reader.
    Recomputed {
        /// The op.
        op: OpId,
    },
    /// Ops run tile by tile.
    Patched {
        /// The first op.
        first: OpId,
        /// The last op, which computes the image that is split.
        last: OpId,
        /// How many ops.
        ops: usize,
        /// Rows and columns of tiles.
        grid: [u64; 2],
    },
}

/// A changed network, and what is estimated of it.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The ops and tensors of the changed network.
    pub rewrite: Rewrite,
    /// What was changed.
    pub changes: Vec<Change>,
    /// Most bytes alive at once, by estimate: what a placement needs at least.
    pub peak: Bytes,
    /// Multiply-adds.
    pub macs: u64,
    /// Bytes that are copied only: by slices, borders and concatenations.
    pub copied: u64,
    /// Bytes that the runtime keeps for more ops and tensors.
    pub overhead: Bytes,
}

impl Candidate {
    /// What the arena needs at least, beyond what the runtime kept for the network before.
    pub fn estimate(&self) -> Bytes {
        Bytes(self.peak.0.saturating_add(self.overhead.0))
    }
}

/// Changed networks, from few multiply-adds to many. Each needs less memory than all before it, by estimate. A given
/// schedule without tiles is one of them, unless another candidate needs no more memory and computes no more. Each
/// schedule comes with the changes that made it out of the network.
pub fn candidates(net: &Net, schedules: &[(Schedule, Vec<Change>)], allowed: Allowed) -> Vec<Candidate> {
    // The number of the schedule, the choice of tilings, and the multiply-adds of both.
    let mut found: Vec<(usize, Chosen, u64)> = Vec::new();
    // The tilings of each schedule that choices are made of.
    let mut offers = Vec::new();
    for (number, (schedule, _)) in schedules.iter().enumerate() {
        let lives = Lives::new(net, schedule);
        let curve = lives.curve(net, schedule);
        let offer = if allowed.patches { tilings(net, schedule, &lives, &curve) } else { Vec::new() };
        let base = schedule.steps.iter().map(|step| net.layers[step.op.index()].macs).fold(0, u64::saturating_add);
        // Clones cost the runtime records, whichever tilings are chosen.
        let more = more_steps(net, schedule);
        // `choices` leaves some combinations out where there are too many. Each tiling on its own is added here, so
        // that none is lost.
        let alone = (0..offer.len()).map(|index| alone(&curve, &offer, index));
        found.extend(choices(&curve, &offer).into_iter().chain(alone).map(|chosen| {
            let macs = base.saturating_add_signed(chosen.extra_macs);
            (number, Chosen { overhead: chosen.overhead.saturating_add(more), ..chosen }, macs)
        }));
        offers.push(offer);
    }
    // From few multiply-adds to many. What needs at least as much memory as something cheaper is left out.
    found.sort_by_key(|(number, chosen, macs)| (*macs, chosen.peak.saturating_add(chosen.overhead), *number));
    let mut least = u64::MAX;
    found.retain(|(_, chosen, _)| {
        let needs = chosen.peak.saturating_add(chosen.overhead);
        let is_better = needs < least;
        least = least.min(needs);
        is_better
    });
    let made = found.into_iter().filter_map(|(number, chosen, macs)| {
        let (schedule, changes) = &schedules[number];
        candidate(net, schedule, changes, &offers[number], &chosen, macs)
    });
    made.collect()
}

/// Every tiling of every segment of a schedule that is worth a look. `curve` has the bytes alive at each of its steps.
fn tilings(net: &Net, schedule: &Schedule, lives: &Lives, curve: &[u64]) -> Vec<Tiling> {
    let segment = |steps| Segment { net, schedule, lives, steps };
    let segments = segments(net, schedule, lives);
    let naive = naive_segments(&segments).into_iter().flat_map(|steps| segment(steps).naive_tilings(curve));
    segments.iter().flat_map(|steps| segment(steps.clone()).tilings(curve)).chain(naive).collect()
}

/// Bytes that the runtime keeps for steps that the network did not have.
fn more_steps(net: &Net, schedule: &Schedule) -> u64 {
    clones(net, schedule).map(|step| kept_for(net, step)).sum()
}

/// The steps that are clones: they write tensors that the graph does not have.
fn clones<'a>(net: &'a Net, schedule: &'a Schedule) -> impl Iterator<Item = &'a Step> {
    let known = net.graph.tensors.len();
    schedule.steps.iter().filter(move |step| step.outputs.iter().any(|output| output.index() >= known))
}

/// Makes the changed network out of a choice: the steps of the schedule, with a patch in the place of each chosen
/// tiling. `None` if a patch cannot be made. That does not happen, because every tiling was made from its patch
/// before.
fn candidate(
    net: &Net,
    schedule: &Schedule,
    changes: &[Change],
    offer: &[Tiling],
    chosen: &Chosen,
    macs: u64,
) -> Option<Candidate> {
    let mut rewrite = Rewrite { tensors: schedule.tensors.clone(), ops: Vec::new() };
    let mut changes = changes.to_vec();
    let mut copied = 0u64;
    let mut next = 0;
    // Tilings are sorted by their steps and do not overlap. What lies between two of them is kept as it is; `next` is
    // the first step that has not been written yet.
    for &index in &chosen.tilings {
        let Tiling { steps, grid, .. } = &offer[index];
        rewrite.ops.extend(schedule.steps[next..steps.start].iter().map(|step| kept(net, step)));
        // Numbers of new tensors follow those of the network and of the tensors made so far.
        let first = net.graph.tensors.len() + rewrite.tensors.len();
        let patch = patch(net, schedule, steps.clone(), *grid, first).ok()?;
        rewrite.tensors.extend(patch.tensors);
        rewrite.ops.extend(patch.ops);
        copied = copied.saturating_add(patch.copied);
        let (first, last) = (schedule.steps[steps.start].op, schedule.steps[steps.end - 1].op);
        changes.push(Change::Patched { first, last, ops: steps.len(), grid: *grid });
        next = steps.end;
    }
    // The steps after the last tiling.
    rewrite.ops.extend(schedule.steps[next..].iter().map(|step| kept(net, step)));
    let (peak, overhead) = (Bytes(chosen.peak), Bytes(chosen.overhead));
    Some(Candidate { rewrite, changes, peak, macs, copied, overhead })
}

/// A step as an op of the changed network: the op as it is, or a copy if it reads or writes other tensors.
fn kept(net: &Net, step: &Step) -> NewOp {
    let old = &net.graph.ops[step.op];
    if old.inputs == step.inputs && old.outputs == step.outputs {
        return NewOp::Kept(step.op);
    }
    // Which tensor the copy reads in the place of which. An op that reads a tensor twice needs the pair once.
    let mut reads: Vec<_> = old.inputs.iter().copied().zip(step.inputs.iter().copied()).collect();
    reads.retain(|(old, new)| old != new);
    reads.dedup();
    NewOp::Copy(Copied { op: step.op, reads, outputs: step.outputs.clone(), padding: Padding::Unchanged, size: None })
}
