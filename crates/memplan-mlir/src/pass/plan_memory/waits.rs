//! What it costs if two buffers of a kernel share bytes: waits that nobody would need otherwise.
//!
//! Pipes (execution units) run side by side; each does its ops in order. If two buffers whose lives are apart share
//! bytes, the earlier one *hands them over* to the later one: the later one's first writes have to wait for the
//! earlier one's last accesses. Each such pair of ops on different pipes is a wait, unless [`Order`] says that the
//! one is over (has ended) anyway when the other begins. In a loop the bytes are also handed back: in the next
//! iteration the buffer that comes first takes them over from the one that came last.
//!
//! ```text
//!   for … {                       z on the bytes of x:
//!     load x          mte2          vadd z behind vexp x     both on the vector pipe            no wait
//!     vexp x → y      vector        the next load x behind store z                              one wait
//!     vadd y → z      vector
//!     store z         mte3        a wait in one loop weighs 8, in two loops 64
//!   }
//! ```
//!
//! The weight of a pair of buffers is the sum over its waits of `factor` (the pass option `wait-weight`, 8 by
//! default) to the power of the number of loops around both ops. A loop around only one of the two ops does not
//! count: an op in a loop that waits for an op in front of the loop waits once, not in every iteration. If a last
//! access `x` is over anyway when another last access `y` begins, only `y` counts: an op that waits for `y` need not
//! wait for `x` as well. Buffers with one address are one buffer here, as large as the largest.
//!
//! A buffer of several slots costs the same whichever of its slots are shared. Buffers at fixed addresses cost
//! nothing: they cannot be moved.

use std::collections::{BTreeMap, BTreeSet};

use memplan_core::{BufferId, Id, Lifetime, Problem, ProblemError, ReuseCost, SpaceId};
use memplan_program::{Control, FunctionId, OpId, SiteId};

// `Order` numbers the ops that use buffers: a *position* below is an index into `Order::steps`. `Order::is_over` asks
// whether one of them has ended when a later one begins.
use super::KernelView;
use super::order::{Order, loops_around};

/// Kernels with more buffers than this get no prices: every two buffers are compared, which takes too long.
const MOST_COMPARED: usize = 1_500;
/// Kernels with more ops than this get no prices: [`Order`] keeps a clock for every op, and more for branches and
/// loops.
const MOST_OPS: usize = 100_000;
/// The largest weight of a wait, however many loops are around it. It keeps sums from overflowing.
const HEAVIEST: u64 = 1 << 20;

/// The problem with a price (a reuse cost) for every two buffers that make a pipe wait if they share bytes. A kernel
/// that is too large gets no prices.
///
/// The first buffers of the problem are those of the sites, in their order.
pub(super) fn priced(
    view: &KernelView,
    function: FunctionId,
    problem: Problem,
    sites: &[SiteId],
) -> Result<Problem, ProblemError> {
    let ops = view.tree.function_range(function).map_or(0, |(first, last)| last.index() - first.index());
    // All pairs are compared, which takes too long in a very large function. It is planned without prices.
    if sites.len() > MOST_COMPARED || ops > MOST_OPS {
        return Ok(problem);
    }
    let waits = Waits { view, order: Order::new(view, function) };
    let entries = waits.entries(&problem, sites);
    let in_place = in_place(&problem);
    let mut builder = problem.to_builder();
    for entries in entries.values() {
        for (position, one) in entries.iter().enumerate() {
            for other in &entries[position + 1..] {
                let may_share = in_place.contains(&(one.block.min(other.block), one.block.max(other.block)));
                // Buffers that are alive together never share bytes, unless one takes the other's place.
                let weight = if may_share || are_apart(one, other) { waits.weight(one, other) } else { 0 };
                if weight > 0 {
                    builder.reuse_cost(ReuseCost { one: one.largest, other: other.largest, weight });
                }
            }
        }
    }
    builder.build()
}

/// Buffers with one address, which count as one here.
struct Entry {
    /// A number that no other entry has (see [`block_of`]).
    block: usize,
    /// The largest of the buffers. The prices of the entry are prices of this one.
    largest: BufferId,
    /// The lives of all of them.
    lives: Vec<Lifetime>,
    /// Positions of the steps that use it, and whether they write.
    accesses: Vec<(usize, bool)>,
}

/// The number of the entry that a buffer belongs to: that of its block (buffers that must lie together), or, for a
/// buffer in no block, a number of its own behind all blocks.
fn block_of(problem: &Problem, buffer: BufferId) -> usize {
    let block = problem.blocks().place_of(buffer).map(|(block, _)| block.index());
    block.unwrap_or_else(|| problem.buffers().len() + buffer.index())
}

/// Pairs of entries, the smaller number first, that may share bytes although both are alive at one step, because the
/// result of an op is computed in place of its input.
fn in_place(problem: &Problem) -> BTreeSet<(usize, usize)> {
    let blocks =
        problem.overlays().iter().map(|overlay| [overlay.buffer, overlay.over].map(|id| block_of(problem, id)));
    blocks.map(|[one, other]| (one.min(other), one.max(other))).collect()
}

/// Whether two entries are never alive at the same step.
fn are_apart(one: &Entry, other: &Entry) -> bool {
    // The stretches of all members of an entry, start and end (half-open).
    let intervals = |entry: &Entry| -> Vec<(u64, u64)> {
        entry.lives.iter().flat_map(Lifetime::intervals).map(|part| (part.start.0, part.end.0)).collect()
    };
    let others = intervals(other);
    intervals(one).iter().all(|here| others.iter().all(|there| here.1 <= there.0 || there.1 <= here.0))
}

/// Computes the weights of pairs in one function.
struct Waits<'a> {
    view: &'a KernelView<'a>,
    order: Order,
}

/// Accesses of one of two entries, with none of the other in between: for each the position of the step, which entry
/// it is (0 or 1), and whether it writes.
type Run<'r> = &'r [(usize, usize, bool)];

impl Waits<'_> {
    /// The entries of each memory, with all their accesses. Only entries of one memory can share bytes.
    fn entries(&self, problem: &Problem, sites: &[SiteId]) -> BTreeMap<SpaceId, Vec<Entry>> {
        let mut accesses: BTreeMap<SiteId, Vec<(usize, bool)>> = BTreeMap::new();
        for (position, step) in self.order.steps.iter().enumerate() {
            for &(site, writes) in &step.accesses {
                accesses.entry(site).or_default().push((position, writes));
            }
        }
        let mut entries: BTreeMap<(SpaceId, usize), Entry> = BTreeMap::new();
        for ((id, buffer), site) in problem.buffers().iter_enumerated().zip(sites) {
            let Some(&space) = buffer.spaces.first() else { continue };
            let block = block_of(problem, id);
            let entry = entries.entry((space, block)).or_insert_with(|| Entry {
                block,
                largest: id,
                lives: Vec::new(),
                accesses: Vec::new(),
            });
            if buffer.bytes() > problem.buffers()[entry.largest].bytes() {
                entry.largest = id;
            }
            // Members begin at one address, so a buffer that shares a byte with any of them shares one with the
            // largest.
            entry.lives.push(buffer.lifetime.clone());
            entry.accesses.extend(accesses.get(site).into_iter().flatten());
        }
        let mut by_space: BTreeMap<SpaceId, Vec<Entry>> = BTreeMap::new();
        for ((space, _), entry) in entries {
            by_space.entry(space).or_default().push(entry);
        }
        by_space
    }

    /// What it costs if two entries share bytes: the weights of all waits. The accesses of both, in program order,
    /// are cut into runs of one entry. From each run to the next the bytes are handed over.
    fn weight(&self, one: &Entry, other: &Entry) -> u64 {
        // The accesses of one entry, each with the number of the entry (`who`).
        let of = |who: usize, entry: &Entry| -> Vec<(usize, usize, bool)> {
            entry.accesses.iter().map(|&(at, writes)| (at, who, writes)).collect()
        };
        let mut merged = of(0, one);
        merged.extend(of(1, other));
        // An op that works in place reads the donor before it writes the result.
        // (At one position `false`, a read, is sorted before `true`, a write.)
        merged.sort_unstable_by_key(|&(at, who, writes)| (at, writes, who));
        let runs: Vec<Run> = merged.chunk_by(|here, next| here.1 == next.1).collect();
        let forward: u64 = runs.windows(2).map(|pair| self.handover(pair[0], pair[1], false)).sum();
        // In the next iteration the first run comes after the last one. If both are of the same entry, nothing is
        // handed over there.
        match (runs.first(), runs.last()) {
            (Some(first), Some(last)) if first[0].1 != last[0].1 => forward + self.handover(last, first, true),
            _ => forward,
        }
    }

    /// The weights of the waits of one handover: each last access of the earlier run with each first write of the
    /// later run. `is_back` says that the later run is that of the next iteration.
    fn handover(&self, earlier: Run, later: Run, is_back: bool) -> u64 {
        let mut sum = 0u64;
        for &last in &self.last_accesses(earlier) {
            for &first in &self.first_writes(later) {
                let [one, other] = [last, first].map(|position| self.order.steps[position].op);
                // The innermost loop around both ops.
                let around = loops_around(self.view, one).find(|&op| self.view.tree.contains(op, other));
                let is_over = match around {
                    // If the later run is that of the next iteration, the clocks of two iterations are asked. So they
                    // are for two ops in branches that exclude each other: such ops both run only in different
                    // iterations.
                    Some(around) if is_back || self.exclude(one, other) => {
                        self.order.is_over_around(around, last, first)
                    }
                    // Without a loop around both there is no next iteration, so the second op never runs after the
                    // first.
                    None if is_back || self.exclude(one, other) => true,
                    _ => self.order.is_over(last, first),
                };
                sum += if is_over { 0 } else { self.wait(around) };
            }
        }
        sum
    }

    /// The weight of a wait between two ops of which `around` is the innermost loop around both; `None` is no loop.
    fn wait(&self, around: Option<OpId>) -> u64 {
        let depth = around.map_or(0, |around| 1 + loops_around(self.view, around).count());
        self.view.options.wait_weight.saturating_pow(depth as u32).min(HEAVIEST)
    }

    /// The positions of the last access of each pipe in a run. An access that is over when another of them begins is
    /// left out: an op that waits for the other access need not wait for this one as well.
    fn last_accesses(&self, run: Run) -> Vec<usize> {
        let mut last: BTreeMap<usize, usize> = BTreeMap::new();
        for &(at, _, _) in run {
            // Accesses come in program order, so the last one of each pipe stays in the map.
            last.insert(self.order.steps[at].pipe, at);
        }
        let is_followed = |&at: &usize| last.values().any(|&other| at < other && self.order.is_over(at, other));
        last.values().copied().filter(|at| !is_followed(at)).collect()
    }

    /// The positions of the first write of each pipe in a run. A write that begins only when another of them is over is
    /// left out: the other write waits, and this one comes after it anyway. Reads destroy nothing, so they do not
    /// count.
    fn first_writes(&self, run: Run) -> Vec<usize> {
        let mut first: BTreeMap<usize, usize> = BTreeMap::new();
        for &(at, _, _) in run.iter().filter(|&&(_, _, writes)| writes) {
            first.entry(self.order.steps[at].pipe).or_insert(at);
        }
        let is_led = |&at: &usize| first.values().any(|&other| other < at && self.order.is_over(other, at));
        first.values().copied().filter(|at| !is_led(at)).collect()
    }

    /// Whether two ops are in different branches of one op.
    fn exclude(&self, one: OpId, other: OpId) -> bool {
        let program = &self.view.lowered.program;
        let Some(around) = self.view.tree.around_both(one, other) else { return false };
        // The region of `around` that an op is in.
        let region = |op: OpId| {
            let child = self.view.tree.child_towards(Some(around), op);
            program.block(program.op(child).block).region
        };
        matches!(program.op(around).control(), Control::Alternatives { .. }) && region(one) != region(other)
    }
}
