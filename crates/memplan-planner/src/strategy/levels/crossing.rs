//! Which buffer takes over bytes from which other one.
//!
//! A sweep in the order of starts remembers for every byte the buffer that had it last. A newcomer that finds a buffer
//! of a conflicting pipe there has to wait for it: one crossing. Buffers that must share (in place) are one entry and
//! do not wait for each other.
//!
//! The same sweep tells the level of a buffer in *any* plan, whoever made it. Each pair of a buffer and an earlier
//! owner of its bytes has a level, the best one whose rule permits the pair; the worst of these is the buffer's level.
//!
//! [`Pipes`] are the execution units that use a buffer; two of them *conflict* if sharing makes one wait for the other.

use std::collections::BTreeMap;

use memplan_core::{BufferId, Bytes, Id, IndexVec, Plan, Problem, SpaceId};
use smallvec::SmallVec;

use super::Level;
use super::entry::{Pipes, pipes_of};
use crate::piece::reserved;

/// `later` has to wait until another pipe is done with `earlier`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Crossing {
    /// The buffer that had the bytes.
    pub earlier: BufferId,
    /// The buffer that takes them.
    pub later: BufferId,
}

/// The crossings of a plan, in the order of starts; `taken` are its [`takeovers`].
pub(super) fn find(problem: &Problem, taken: &[Crossing]) -> Vec<Crossing> {
    let pipes = pipes_of(problem);
    let conflict = |taken: &Crossing| pipes[taken.earlier.index()].conflict(pipes[taken.later.index()]);
    taken.iter().copied().filter(conflict).collect()
}

/// The level of each buffer of a plan; `None` for one that takes over nothing. `taken` are the plan's [`takeovers`].
pub(super) fn levels(problem: &Problem, plan: &Plan, taken: &[Crossing]) -> IndexVec<BufferId, Option<Level>> {
    let pipes = pipes_of(problem);
    let mut levels = IndexVec::filled(None, problem.buffers().len());
    for &taken in taken {
        let level = level_of(problem, plan, &pipes, taken);
        let lowest: &mut Option<Level> = &mut levels[taken.later];
        *lowest = Some(lowest.map_or(level, |other| other.min(level)));
    }
    levels
}

/// The best level whose rule permits the later buffer to take over bytes of the earlier one.
fn level_of(problem: &Problem, plan: &Plan, pipes: &[Pipes], Crossing { earlier, later }: Crossing) -> Level {
    let (one, other) = (&problem.buffers()[earlier], &problem.buffers()[later]);
    if !pipes[earlier.index()].conflict(pipes[later.index()]) {
        return Level::Pipe;
    }
    if one.enclosing_loop() != other.enclosing_loop() {
        return Level::Loop;
    }
    if one.slots > 1 && one.enclosing_loop().is_some() && takes_all_slots(problem, plan, earlier, later) {
        return Level::Slots;
    }
    Level::Lives
}

/// Whether every slot of the earlier buffer has bytes of the later one in it.
fn takes_all_slots(problem: &Problem, plan: &Plan, earlier: BufferId, later: BufferId) -> bool {
    let (Some(one), Some(other)) = (&plan.placements[earlier], &plan.placements[later]) else { return false };
    let size = |buffer: BufferId| reserved(&problem.buffers()[buffer]).0;
    let (length, width) = (size(earlier), size(later));
    let overlap = |a: Bytes, b: Bytes| a.0 < b.0.saturating_add(width) && b.0 < a.0.saturating_add(length);
    one.offsets.iter().all(|&slot| other.offsets.iter().any(|&offset| overlap(slot, offset)))
}

/// All pairs of a buffer and one whose bytes it takes over, conflicting pipes or not, in the order of the later one's
/// start. Shared objects have no addresses and are left out.
pub(super) fn takeovers(problem: &Problem, plan: &Plan) -> Vec<Crossing> {
    let used = problem.buffers().iter_enumerated().filter(|(_, buffer)| !buffer.lifetime.is_empty());
    let mut order: Vec<BufferId> = used.map(|(id, _)| id).collect();
    // Buffers come in the order of their starts, so the last owner of a byte is the one that a newcomer has to wait
    // for.
    order.sort_by_key(|&id| (problem.buffers()[id].lifetime.start(), id));
    let mut owners: BTreeMap<SpaceId, Owners> = BTreeMap::new();
    let mut found = Vec::new();
    // Owners of the bytes of one buffer before it.
    let mut before = Vec::new();
    for later in order {
        let placement = plan.placements.get(later).and_then(Option::as_ref);
        let Some(placement) = placement.filter(|placement| placement.object.is_none()) else { continue };
        let size = reserved(&problem.buffers()[later]).0;
        let owners = owners.entry(placement.space).or_default();
        before.clear();
        for offset in placement.offsets.iter().filter(|_| size > 0) {
            owners.take(offset.0, offset.0.saturating_add(size), later, &mut before);
        }
        before.sort_unstable();
        before.dedup();
        let block = problem.blocks().place_of(later).map(|(block, _)| block);
        for &earlier in &before {
            // Members of one entry lie on the same bytes on purpose (in place), and the op itself orders them.
            let other_block = problem.blocks().place_of(earlier).map(|(block, _)| block);
            let one_entry = block.is_some() && block == other_block;
            if !one_entry {
                found.push(Crossing { earlier, later });
            }
        }
    }
    found
}

/// The last owner of each stretch of addresses, by the stretch's start.
#[derive(Default)]
struct Owners {
    stretches: BTreeMap<u64, (u64, BufferId)>,
}

impl Owners {
    /// Gives `low..high` to a new owner, and adds the owners that had parts of it to `before`.
    fn take(&mut self, low: u64, high: u64, owner: BufferId, before: &mut Vec<BufferId>) {
        // The stretch that starts last below `low` may reach into the range. Parts of old stretches outside of the
        // range stay with their owners.
        let first = self.stretches.range(..=low).next_back().map_or(low, |(&start, _)| start);
        let hit: SmallVec<[(u64, (u64, BufferId)); 4]> =
            self.stretches.range(first..high).map(|(&start, &stretch)| (start, stretch)).collect();
        for (start, (end, who)) in hit {
            if end <= low {
                continue;
            }
            self.stretches.remove(&start);
            if start < low {
                self.stretches.insert(start, (low, who));
            }
            if end > high {
                self.stretches.insert(high, (end, who));
            }
            before.push(who);
        }
        self.stretches.insert(low, (high, owner));
    }
}
