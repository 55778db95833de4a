//! Several memories for a network: what goes into the fast one.
//!
//! The memories are given in order, the fastest first. The *heat* of a buffer is how often it is read
//! and written, divided by the number of steps at which it is alive. Hot buffers go into the fast
//! memory; of equally hot ones, the smaller go first. The rest *spills* into the next memory.
//!
//! ```text
//!                   steps  accesses   per step
//!   scratch            1         2        2.0    fast
//!   result             2         2        1.0    fast
//!   kept for later    11         2        0.2    spills first
//! ```
//!
//! Buffers are taken in that order. Each goes to the first memory that, at every step of the
//! buffer's life, has room for it beside the buffers that were taken before. Room is counted in
//! bytes here, without offsets, so it is the planner that finds out whether the choice can be
//! packed. If the choice cannot be packed, it is made again with smaller capacities, a few times
//! (`HEADROOM`).

use memplan_core::{BufferId, Bytes, Outcome, Problem, Stop, bound};
use memplan_planner::Refusal;

use crate::driver::Solver;
use crate::network::Network;

/// The shares of the capacities with which memories are chosen, in thousandths, one after the other
/// until the choice can be packed. What is left over is room for the gaps that offsets leave
/// between buffers.
const HEADROOM: [u64; 6] = [1000, 980, 950, 900, 850, 750];

/// If the lives of all buffers together have more steps than this, the planner chooses the memories alone: a choice
/// here looks at every step of every life. It also has an entry for each step in each memory, and these count, too.
const WORK: u64 = 100_000_000;

/// The steps of all lives together.
fn lives(problem: &Problem) -> u64 {
    let steps = problem.buffers().iter().flat_map(|buffer| buffer.lifetime.intervals());
    steps.map(|interval| interval.end.0 - interval.start.0).fold(0, u64::saturating_add)
}

/// The step at which the last life ends.
fn last_step(problem: &Problem) -> u64 {
    problem.buffers().iter().filter_map(|buffer| buffer.lifetime.end()).map(|step| step.0).max().unwrap_or(0)
}

/// Whether there is something to choose: some buffer may live in more than one memory.
pub(crate) fn has_choice(problem: &Problem) -> bool {
    problem.spaces().len() > 1 && problem.buffers().iter().any(|buffer| buffer.spaces.len() > 1)
}

/// A plan in which hot and small buffers are in the fast memory; `None` if no
/// choice that was tried can be packed, or if the problem is too large to choose here.
pub(crate) fn plan(problem: &Problem, network: &Network, solver: &mut Solver) -> Result<Option<Outcome>, Refusal> {
    let profiles = last_step(problem).saturating_mul(problem.spaces().len() as u64);
    if lives(problem).max(profiles) > WORK {
        return Ok(None);
    }
    // First with all of the capacities, then with less and less of them.
    let heat = Heat::new(problem, network);
    for thousandths in HEADROOM {
        // A smaller share may succeed where a larger one did not: a hot buffer that no longer finds
        // room in a memory leaves it to a buffer that may live nowhere else.
        let Some(chosen) = heat.choose(problem, thousandths) else { continue };
        if let Outcome::Optimal(plan) | Outcome::Feasible { plan, .. } = solver.propose(&chosen)? {
            // The search proved at most that this choice of memories cannot be packed better. Another choice may need
            // less, so the plan counts as optimal only if it meets the bound of the whole problem.
            let lower_bound = bound::lower_bound(problem);
            return Ok(Some(match plan.extent() == lower_bound {
                true => Outcome::Optimal(plan),
                false => Outcome::Feasible { plan, lower_bound, stop: Stop::Finished },
            }));
        }
    }
    Ok(None)
}

/// Buffers, the hottest first.
struct Heat {
    /// All buffers of the problem.
    order: Vec<BufferId>,
}

impl Heat {
    /// Sorts the buffers by heat, the hottest first. Of equally hot buffers the smaller one comes first, so that more
    /// of them find room.
    fn new(problem: &Problem, network: &Network) -> Heat {
        let accesses = network.accesses();
        let steps = |buffer: BufferId| {
            let intervals = problem.buffers()[buffer].lifetime.intervals();
            intervals.map(|interval| interval.end.0 - interval.start.0).sum::<u64>().max(1)
        };
        let mut order: Vec<BufferId> = problem.buffers().ids().collect();
        order.sort_by(|&one, &other| {
            // Accesses per step, compared without dividing.
            let one_heat = u128::from(accesses[one]) * u128::from(steps(other));
            let other_heat = u128::from(accesses[other]) * u128::from(steps(one));
            let size = |buffer: BufferId| problem.buffers()[buffer].bytes();
            other_heat.cmp(&one_heat).then(size(one).cmp(&size(other))).then(one.cmp(&other))
        });
        Heat { order }
    }

    /// The problem with one memory for each buffer: the first of its memories in which there is room for it beside the
    /// buffers before it. Only `thousandths` of each capacity are used. `None` if some buffer fits into none of its
    /// memories, or if the problem does not hold with these memories (two buffers tied to each other in two of them).
    /// The buffers of a network have one slot each.
    fn choose(&self, problem: &Problem, thousandths: u64) -> Option<Problem> {
        let steps = usize::try_from(last_step(problem)).ok()?;
        // `live` is what has been put into each memory so far, step by step. It is a sum of sizes and not a packing,
        // so `thousandths` of the capacity are used: the rest is room for gaps between buffers.
        let mut live: Vec<Vec<u64>> = vec![vec![0; steps]; problem.spaces().len()];
        let mut builder = problem.to_builder();
        for &buffer in &self.order {
            let info = &problem.buffers()[buffer];
            // If the buffer fits into none of its memories, the `?` at the end ends this attempt.
            let home = info.spaces.iter().copied().find(|&space| {
                let room = problem.spaces()[space]
                    .capacity
                    // The product of capacity and thousandths may not fit 64 bits, so the thousands and the rest are
                    // multiplied separately.
                    .map(|Bytes(bytes)| bytes / 1000 * thousandths + bytes % 1000 * thousandths / 1000);
                let alignment = problem.alignment_in(buffer, space);
                // An unknown size, or one too large to be rounded up, counts as 0: the planner then
                // finds out that it has no room.
                let size = info.bytes().unwrap_or_default().align_up(alignment).unwrap_or_default().0;
                let profile = &mut live[memplan_core::Id::index(space)];
                let fits = room.is_none_or(|room| {
                    alive(info, profile).iter().all(|&step| profile[step].saturating_add(size) <= room)
                });
                if fits {
                    alive(info, profile)
                        .into_iter()
                        .for_each(|step| profile[step] = profile[step].saturating_add(size));
                }
                fits
            })?;
            builder.buffers_mut()[buffer].spaces = [home].into_iter().collect();
        }
        builder.build().ok()
    }
}

/// The steps of a buffer's life, as positions in `profile`, which has an entry for each step.
fn alive(buffer: &memplan_core::Buffer, profile: &[u64]) -> Vec<usize> {
    let intervals = buffer.lifetime.intervals();
    let steps = intervals.flat_map(|interval| interval.start.0 as usize..interval.end.0 as usize);
    steps.filter(|&step| step < profile.len()).collect()
}
