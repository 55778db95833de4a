//! Who takes over bytes from another pipe.
//!
//! A sweep in the order of starts remembers for every byte who had it last. A
//! newcomer that finds a buffer of a conflicting pipe there has to wait for it:
//! one crossing. In-place pairs are one entry and wait for nobody.

use std::collections::{BTreeMap, BTreeSet};

use memplan_core::{BufferId, Id, Plan, Problem, SpaceId};

use super::entry::pipes_of;

/// `later` has to wait until another pipe is done with `earlier`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Crossing {
    /// Who had the bytes.
    pub earlier: BufferId,
    /// Who takes them.
    pub later: BufferId,
}

/// The crossings of a plan, in the order of starts.
pub(super) fn find(problem: &Problem, plan: &Plan) -> Vec<Crossing> {
    let pipes = pipes_of(problem);
    let used = |id: &BufferId| !problem.buffers()[*id].lifetime.is_empty();
    let mut order: Vec<BufferId> = problem.buffers().ids().filter(used).collect();
    order.sort_by_key(|&id| (problem.buffers()[id].lifetime.start(), id));
    let mut owners: BTreeMap<SpaceId, Owners> = BTreeMap::new();
    let mut found = Vec::new();
    for later in order {
        let Some(placement) = plan.placements[later].as_ref() else { continue };
        let size = problem.buffers()[later].bytes().unwrap_or_default().0;
        let owners = owners.entry(placement.space).or_default();
        let mut before = BTreeSet::new();
        for offset in placement.offsets.iter().filter(|_| size > 0) {
            before.extend(owners.take(offset.0, offset.0.saturating_add(size), later));
        }
        let block = |id: BufferId| problem.blocks().place_of(id).map(|(block, _)| block);
        for earlier in before {
            let one_entry = block(earlier).is_some() && block(earlier) == block(later);
            if !one_entry && pipes[earlier.index()].conflict(pipes[later.index()]) {
                found.push(Crossing { earlier, later });
            }
        }
    }
    found
}

/// Who had each stretch of addresses last, by its start.
#[derive(Default)]
struct Owners {
    stretches: BTreeMap<u64, (u64, BufferId)>,
}

impl Owners {
    /// Gives `low..high` to a new owner; those who had parts of it.
    fn take(&mut self, low: u64, high: u64, owner: BufferId) -> Vec<BufferId> {
        let mut before = Vec::new();
        let first = self.stretches.range(..=low).next_back().map_or(low, |(&start, _)| start);
        let hit: Vec<(u64, (u64, BufferId))> =
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
        before
    }
}
