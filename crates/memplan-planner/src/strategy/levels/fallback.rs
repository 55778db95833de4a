//! When the levels find no way: search, with few crossings.
//!
//! A crossing is a buffer that takes over bytes of a buffer of another pipe and has to wait for that pipe. A DMA buffer
//! conflicts with every pipe, so it has no crossings only if it is exclusive. The smallest DMA buffers are made
//! exclusive, as many as the search still finds room for (found by bisection). If not even one can be exclusive, the
//! search plans without regard to crossings.

use std::borrow::Cow;

use memplan_core::{Buffer, BufferId, Id, Outcome, Overlay, Placement, Problem, ProblemBuilder, Reuse, SpaceId};

use super::entry::pipes_of;
use crate::{Request, search};

/// Up to this many buffers the search is asked how many DMA buffers can be exclusive. In larger problems it
/// plans without that.
const MOST_TRIED: usize = 2_000;
/// Units of work for each question about exclusive buffers.
const TRIAL: u64 = 20_000;

/// Where the buffers of a space lie.
pub(super) struct Found {
    pub(super) placements: Vec<(BufferId, Placement)>,
    pub(super) reused: Vec<Reuse>,
}

/// A plan for one space by search, or the outcome that says why there is none. The plan with the most exclusive DMA
/// buffers is taken, if there is one.
pub(super) fn search(problem: &Problem, space: SpaceId, request: &Request) -> Result<Found, Box<Outcome>> {
    let Some(alone) = Alone::of(problem, space) else {
        return Err(Box::new(Outcome::Exhausted { stop: memplan_core::Stop::Finished }));
    };
    let outcome = search::search(&alone.problem, request).outcome;
    let (Outcome::Optimal(plan) | Outcome::Feasible { plan, .. }) = outcome else {
        return Err(Box::new(alone.name(outcome)));
    };
    let plan = alone.with_exclusive(problem, request).unwrap_or(plan);
    // Back to the buffers and the space of the whole problem.
    let ids = &alone.ids;
    let placements = ids.iter().zip(&plan.placements).filter_map(|(&id, placement)| {
        let placement = placement.clone()?;
        Some((id, Placement { space, ..placement }))
    });
    let reused = plan.reused.into_iter().map(|reuse| Reuse {
        buffer: ids[reuse.buffer.index()],
        over: reuse.over.into_iter().map(|over| ids[over.index()]).collect(),
    });
    Ok(Found { placements: placements.collect(), reused: reused.collect() })
}

/// One space as a problem of its own.
struct Alone<'p> {
    /// The whole problem if it has no other space, else a part of it.
    problem: Cow<'p, Problem>,
    /// By number in that problem: the buffer of the whole problem. Ascending.
    ids: Vec<BufferId>,
    space: SpaceId,
}

/// The numbers of two buffers in the problem of some buffers alone, if both are among them. `ids` is sorted, so the
/// position in it is the number in the smaller problem.
fn pair_among(ids: &[BufferId], (one, other): (BufferId, BufferId)) -> Option<(BufferId, BufferId)> {
    let (one, other) = (ids.binary_search(&one).ok()?, ids.binary_search(&other).ok()?);
    Some((BufferId::from_index(one), BufferId::from_index(other)))
}

impl Alone<'_> {
    /// The part of the problem that lies in one space, as a problem of its own; `None` if that is no valid problem.
    fn of(problem: &Problem, space: SpaceId) -> Option<Alone<'_>> {
        // The levels place every buffer in its first space, so those of this space are the ones to be searched.
        let here = problem.buffers().iter_enumerated().filter(|(_, buffer)| buffer.spaces.first() == Some(&space));
        let ids: Vec<BufferId> = here.map(|(id, _)| id).collect();
        let is_here = |buffer: &Buffer| buffer.spaces.as_slice() == [space];
        let has_more =
            problem.dependencies().is_some() || !problem.reuse_costs().is_empty() || !problem.groups().is_empty();
        if problem.spaces().len() == 1 && problem.buffers().iter().all(is_here) && !has_more {
            return Some(Alone { problem: Cow::Borrowed(problem), ids, space });
        }
        let mut builder = ProblemBuilder::new();
        let only = builder.space(problem.spaces()[space].clone());
        for &id in &ids {
            let mut buffer = problem.buffers()[id].clone();
            buffer.spaces = std::iter::once(only).collect();
            builder.buffer(buffer);
        }
        // Relations between two memories cannot exist in a problem with one memory; those are dropped.
        for overlay in problem.overlays() {
            if let Some((buffer, over)) = pair_among(&ids, (overlay.buffer, overlay.over)) {
                builder.overlay(Overlay { buffer, over, kind: overlay.kind });
            }
        }
        for &pair in problem.must_share() {
            if let Some((one, other)) = pair_among(&ids, pair) {
                builder.must_share(one, other);
            }
        }
        for &pair in problem.must_not_share() {
            if let Some((one, other)) = pair_among(&ids, pair) {
                builder.must_not_share(one, other);
            }
        }
        Some(Alone { problem: Cow::Owned(builder.build().ok()?), ids, space })
    }

    /// The outcome with the buffers and the space of the whole problem instead of those of this one.
    fn name(&self, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Infeasible(mut witness) => {
                witness.space = self.space;
                for buffer in &mut witness.buffers {
                    *buffer = self.ids[buffer.index()];
                }
                Outcome::Infeasible(witness)
            }
            other => other,
        }
    }

    /// A plan in which as many DMA buffers as possible are exclusive, the smallest first, because they take the least
    /// room. A plan with the first n of them exclusive is also one for the first n - 1, so bisection finds the largest
    /// n, as far as the short searches find the plans that there are. `None` if not even one can be exclusive, or if
    /// there are more than [`MOST_TRIED`] buffers.
    fn with_exclusive(&self, problem: &Problem, request: &Request) -> Option<memplan_core::Plan> {
        if self.ids.len() > MOST_TRIED {
            return None;
        }
        let pipes = pipes_of(problem);
        let dma = |index: &usize| pipes[self.ids[*index].index()].is_dma();
        let mut candidates: Vec<usize> = (0..self.ids.len()).filter(dma).collect();
        let size = |index: usize| self.problem.buffers()[BufferId::from_index(index)].bytes();
        candidates.sort_by_key(|&index| size(index));
        let mut best = None;
        // The first `fits` candidates can be exclusive, the first `fails` cannot. All candidates are tried first,
        // because often all of them can.
        let (mut fits, mut fails) = (0, candidates.len() + 1);
        while fails - fits > 1 {
            let middle =
                if fits == 0 && fails > candidates.len() { candidates.len() } else { fits + (fails - fits) / 2 };
            match self.try_exclusive(&candidates[..middle], request) {
                Some(plan) => (best, fits) = (Some(plan), middle),
                None => fails = middle,
            }
        }
        best
    }

    /// A plan in which these buffers (by their numbers in `self.problem`) share with no other one. Buffers that have to
    /// lie together with an exclusive one may do so all the same, so the changed problem is a valid one, too. `None` if
    /// the search finds no plan within [`TRIAL`] units, or proves that there is none.
    fn try_exclusive(&self, exclusive: &[usize], request: &Request) -> Option<memplan_core::Plan> {
        let mut builder = self.problem.to_builder();
        for &index in exclusive {
            builder.buffers_mut()[BufferId::from_index(index)].exclusive = true;
        }
        // Only work limits this search, so that the plan does not depend on the speed of the machine.
        let trial = Request { work_limit: Some(TRIAL), time_limit: None, ..request.clone() };
        match search::search(&builder.build().ok()?, &trial).outcome {
            Outcome::Optimal(plan) | Outcome::Feasible { plan, .. } => Some(plan),
            Outcome::Infeasible(_) | Outcome::Exhausted { .. } => None,
        }
    }
}
