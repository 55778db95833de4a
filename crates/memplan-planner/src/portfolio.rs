//! The instant tier: every quick way to place the pieces, until one is good enough.
//!
//! One pass of [`OrderedFit`] is cheap and each order fails on other problems,
//! so trying them all and keeping the best is the best that can be had in a
//! few passes. The first member alone meets the lower bound on most real
//! programs; then nothing else is tried.
//!
//! For very many buffers one pass takes seconds, so the number of placements is
//! limited ([`PATIENCE`]) unless nothing fits yet: the first two members, by size and by
//! load, are mostly the best, and a local search makes more of the time than the others would. A pass
//! that reaches the best extent so far is given up on the spot, and so is one that
//! is not done in time if there is a plan already.
//!
//! A plan within the capacities beats one that is not; of two such plans the
//! smaller one wins, and of equally small ones the one found first, so the
//! result does not depend on anything but the problem.

use std::time::Instant;

use memplan_core::{Bytes, IndexVec, Plan, Problem, SpaceId, Stop, Witness, bound};

use crate::piece::Pieces;
use crate::placer::Placer;
use crate::strategy::ordered_fit::{self, OrderedFit, Pass};
use crate::{Request, collision};

/// The members, most promising first.
pub const MEMBERS: [OrderedFit; 12] = [
    ordered_fit::FIRST_SIZE,
    ordered_fit::FIRST_LOAD,
    ordered_fit::BEST_SIZE,
    ordered_fit::FIRST_AREA,
    ordered_fit::FIRST_LIFETIME,
    ordered_fit::FIRST_CONFLICTS,
    ordered_fit::BEST_AREA,
    ordered_fit::BEST_LIFETIME,
    ordered_fit::BEST_CONFLICTS,
    ordered_fit::BEST_LOAD,
    ordered_fit::FIRST_START,
    ordered_fit::BEST_START,
];

/// From the third on, members are added as long as they place no more than this many pieces together.
pub const PATIENCE: usize = 2_000_000;

/// What the portfolio found: the starting point of anything cleverer.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The best plan within the capacities.
    pub best: Option<Plan>,
    /// No plan is smaller.
    pub lower_bound: Bytes,
    /// What each space needs at least.
    pub per_space: IndexVec<SpaceId, Bytes>,
    /// Proof that there is no plan at all, if it was met on the way.
    pub witness: Option<Witness>,
    /// Why no further member was tried.
    pub stop: Stop,
    /// Pieces that were to be placed, all passes together.
    pub placements: u64,
}

impl Tried {
    /// Whether nothing can be better: a plan that meets the bound, or a proof that there is none.
    pub fn is_final(&self) -> bool {
        self.witness.is_some() || self.best.as_ref().is_some_and(|plan| plan.extent() <= self.lower_bound)
    }
}

/// Runs members until one meets the lower bound, a limit cuts in or all are done.
pub fn try_members(pieces: &Pieces, request: &Request) -> Tried {
    let problem = pieces.problem();
    let deadline = request.time_limit.map(|limit| Instant::now() + limit);
    let witness = bound::overfull(problem);
    let peaks = bound::space_lower_bounds(problem);
    let lower_bound = bound::lower_bound_with(problem, &peaks);
    let per_space = peaks.iter().map(|peak| peak.bytes).collect();
    let mut tried = Tried { best: None, lower_bound, per_space, witness, stop: Stop::Finished, placements: 0 };
    let mut placer = Placer::new(pieces);
    for (number, member) in MEMBERS.iter().enumerate() {
        if tried.is_final() {
            break;
        }
        let passes = Passes { done: number, found: tried.best.is_some(), deadline };
        if let Some(stop) = passes.should_stop(pieces, request) {
            tried.stop = stop;
            break;
        }
        placer.clear();
        tried.placements += pieces.len() as u64;
        let is_late = || passes.found && passes.is_late(request).is_some();
        let ceiling = tried.best.as_ref().map(Plan::extent);
        match member.run(&mut placer, &Pass { ceiling, gives_up: &is_late, threads: request.threads() }) {
            Ok(true) => keep_better(problem, &mut tried.best, placer.finish()),
            Ok(false) => {}
            Err(piece) => tried.witness = collision::witness(&placer, piece),
        }
        if let Some(observer) = request.observer {
            observer.progress(tried.best.as_ref().map(Plan::extent), tried.lower_bound);
        }
    }
    tried
}

/// What has been done so far.
struct Passes {
    done: usize,
    found: bool,
    deadline: Option<Instant>,
}

impl Passes {
    fn should_stop(&self, pieces: &Pieces, request: &Request) -> Option<Stop> {
        if self.done == 0 {
            return None;
        }
        let placements = pieces.len().saturating_mul(self.done + 1);
        let is_enough = self.found && self.done >= 2 && placements > PATIENCE;
        self.is_late(request).or(is_enough.then_some(Stop::WorkLimit))
    }

    fn is_late(&self, request: &Request) -> Option<Stop> {
        if request.is_cancelled() {
            return Some(Stop::Interrupted);
        }
        self.deadline.filter(|&deadline| Instant::now() >= deadline).map(|_| Stop::TimeLimit)
    }
}

fn keep_better(problem: &Problem, best: &mut Option<Plan>, plan: Option<Plan>) {
    let Some(plan) = plan.filter(|plan| fits(problem, plan)) else { return };
    if best.as_ref().is_none_or(|best| plan.extent() < best.extent()) {
        *best = Some(plan);
    }
}

/// Whether a plan keeps to the capacities.
pub(crate) fn fits(problem: &Problem, plan: &Plan) -> bool {
    let fits = |(space, extent): (SpaceId, &Bytes)| {
        problem.spaces()[space].capacity.is_none_or(|capacity| *extent <= capacity)
    };
    plan.extents.iter_enumerated().all(fits)
}
