//! What it costs if two buffers of a kernel share bytes: waits that nobody would need otherwise.
//!
//! Two buffers whose lives are apart hand their bytes over, and the later one's first writes have to wait for the
//! earlier one's last accesses. Each such pair of ops on different pipes is a wait, unless [`Order`] says that the one
//! is over anyway when the other begins. In a loop the bytes go back: the next iteration hands them over again, the
//! other way.
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
//! The weight of a pair is the sum over its waits of `factor` to the power of the number of loops around both ops (the
//! pass option `wait-weight`): a wait for something that ended before a loop is waited for in front of the loop, once.
//! Of several accesses only those count that no other one follows anyway. Buffers with one address are one buffer here,
//! as large as the largest.
//!
//! A buffer of several slots pays once, whichever of its slots are shared. Buffers at fixed addresses cost nothing:
//! they cannot be moved.

use std::collections::{BTreeMap, BTreeSet};

use memplan_core::{BufferId, Id, Lifetime, Problem, ProblemError, ReuseCost, SpaceId};
use memplan_program::{Control, FunctionId, OpId, SiteId};

use super::KernelView;
use super::order::{Order, loops_around};

/// Kernels with more buffers get no prices: every two of them are compared.
const MOST_COMPARED: usize = 1_500;
/// Kernels with more ops get no prices: what is known is kept for every branch and every loop.
const MOST_OPS: usize = 100_000;
/// No wait weighs more, however deep in loops.
const HEAVIEST: u64 = 1 << 20;

/// The problem with a price for every two buffers that make a pipe wait if they share bytes.
///
/// The first buffers of the problem are those of the sites, in their order.
pub(super) fn priced(
    view: &KernelView,
    function: FunctionId,
    problem: &Problem,
    sites: &[SiteId],
) -> Result<Problem, ProblemError> {
    let ops = view.tree.function_range(function).map_or(0, |(first, last)| last.index() - first.index());
    // All pairs are compared, which takes too long in a very large function. It is planned without prices.
    if sites.len() > MOST_COMPARED || ops > MOST_OPS {
        return Ok(problem.clone());
    }
    let waits = Waits { view, order: Order::new(view, function) };
    let entries = waits.entries(problem, sites);
    let in_place = in_place(problem);
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

/// Buffers with one address.
struct Entry {
    /// A number that no other entry has.
    block: usize,
    largest: BufferId,
    lives: Vec<Lifetime>,
    /// Positions of the steps that use it, and whether they write.
    accesses: Vec<(usize, bool)>,
}

/// The entry a buffer belongs to: its block, or itself.
fn block_of(problem: &Problem, buffer: BufferId) -> usize {
    let block = problem.blocks().place_of(buffer).map(|(block, _)| block.index());
    block.unwrap_or_else(|| problem.buffers().len() + buffer.index())
}

/// Entries that overlap in time and may share all the same, because a result is computed in place.
fn in_place(problem: &Problem) -> BTreeSet<(usize, usize)> {
    let blocks =
        problem.overlays().iter().map(|overlay| [overlay.buffer, overlay.over].map(|id| block_of(problem, id)));
    blocks.map(|[one, other]| (one.min(other), one.max(other))).collect()
}

fn are_apart(one: &Entry, other: &Entry) -> bool {
    let intervals = |entry: &Entry| -> Vec<(u64, u64)> {
        entry.lives.iter().flat_map(Lifetime::intervals).map(|part| (part.start.0, part.end.0)).collect()
    };
    let others = intervals(other);
    intervals(one).iter().all(|here| others.iter().all(|there| here.1 <= there.0 || there.1 <= here.0))
}

struct Waits<'a> {
    view: &'a KernelView<'a>,
    order: Order,
}

/// Some accesses of one buffer, with none of the other in between.
type Run<'r> = &'r [(usize, usize, bool)];

impl Waits<'_> {
    /// The entries of each memory.
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
            // Members begin at one address, so a buffer that meets any of them meets the largest.
            entry.lives.push(buffer.lifetime.clone());
            entry.accesses.extend(accesses.get(site).into_iter().flatten());
        }
        let mut by_space: BTreeMap<SpaceId, Vec<Entry>> = BTreeMap::new();
        for ((space, _), entry) in entries {
            by_space.entry(space).or_default().push(entry);
        }
        by_space
    }

    /// What it costs if two entries share bytes.
    fn weight(&self, one: &Entry, other: &Entry) -> u64 {
        let of = |who: usize, entry: &Entry| -> Vec<(usize, usize, bool)> {
            entry.accesses.iter().map(|&(at, writes)| (at, who, writes)).collect()
        };
        let mut merged = of(0, one);
        merged.extend(of(1, other));
        // An op that works in place reads the donor before it writes the result.
        merged.sort_unstable_by_key(|&(at, who, writes)| (at, writes, who));
        let runs: Vec<Run> = merged.chunk_by(|here, next| here.1 == next.1).collect();
        let forward: u64 = runs.windows(2).map(|pair| self.handover(pair[0], pair[1], false)).sum();
        match (runs.first(), runs.last()) {
            (Some(first), Some(last)) if first[0].1 != last[0].1 => forward + self.handover(last, first, true),
            _ => forward,
        }
    }

    /// The waits of one handover, by their weights. `is_back` says that the later one comes in the next iteration.
    fn handover(&self, earlier: Run, later: Run, is_back: bool) -> u64 {
        let mut sum = 0u64;
        for &last in &self.last_accesses(earlier) {
            for &first in &self.first_writes(later) {
                let [one, other] = [last, first].map(|position| self.order.steps[position].op);
                let around = loops_around(self.view, one).find(|&op| self.view.tree.contains(op, other));
                let is_over = match around {
                    // Branches that exclude each other meet in different iterations only.
                    Some(around) if is_back || self.exclude(one, other) => {
                        self.order.is_over_around(around, last, first)
                    }
                    None if is_back || self.exclude(one, other) => true,
                    _ => self.order.is_over(last, first),
                };
                sum += if is_over { 0 } else { self.wait(around) };
            }
        }
        sum
    }

    /// What a wait inside of this loop weighs.
    fn wait(&self, around: Option<OpId>) -> u64 {
        let depth = around.map_or(0, |around| 1 + loops_around(self.view, around).count());
        self.view.options.wait_weight.saturating_pow(depth as u32).min(HEAVIEST)
    }

    /// The last access of each pipe, but those that are over when another one of them begins.
    fn last_accesses(&self, run: Run) -> Vec<usize> {
        let mut last: BTreeMap<usize, usize> = BTreeMap::new();
        for &(at, _, _) in run {
            last.insert(self.order.steps[at].pipe, at);
        }
        let is_followed = |&at: &usize| last.values().any(|&other| at < other && self.order.is_over(at, other));
        last.values().copied().filter(|at| !is_followed(at)).collect()
    }

    /// The first write of each pipe, but those that begin when another one of them is over.
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
        let region = |op: OpId| {
            let child = self.view.tree.child_towards(Some(around), op);
            program.block(program.op(child).block).region
        };
        matches!(program.op(around).control(), Control::Alternatives { .. }) && region(one) != region(other)
    }
}
