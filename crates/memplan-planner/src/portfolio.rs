//! The instant tier: every quick way to place the pieces, until one is good enough.
//!
//! One pass of [`OrderedFit`] is cheap and each order fails on other problems,
//! so trying them all and keeping the best is the best that can be had in a
//! few passes. The first member alone meets the lower bound on most real
//! programs; then nothing else is tried.
//!
//! A pass that reaches the best extent so far is given up on the spot, and so is one that
//! is not done in time if there is a plan already.
//!
//! Where a plan of many buffers is too tall it is so in a few places, and repairing those is much less
//! work than another pass. So a search runs only the first member at once (`ONE_ORDER_PIECES`), and more of them only
//! as long as the plan is far above the bound (`REPAIRABLE`); the others follow if repairing does not help
//! ([`Tried::go_on`]). Where hundreds are alive at a time, the first
//! pass is one that is no member: [`NEAR_PEAK`](ordered_fit::NEAR_PEAK), whose plan is the easiest to repair.
//!
//! A plan within the capacities beats one that is not; of two such plans the
//! smaller one wins, and of equally small ones the one found first, so the
//! result does not depend on anything but the problem.

use memplan_core::{Bytes, IndexVec, Plan, Problem, SpaceId, Stop, Witness, bound};

use crate::piece::Pieces;
use crate::placer::Placer;
use crate::search::{Budget, Clock, PassCost, is_crowded};
use crate::strategy::ordered_fit::{self, OrderedFit, Pass, Reached};
use crate::tuning::{MOST_EXACT_PIECES, ONE_ORDER_PIECES, REPAIRABLE};
use crate::{Request, collision};

/// The members, most promising first. Each meets the bound of some generated problems on which none before it does: of
/// 652 that any of them solves, by size and by load 592, the next ones 27, 16, 9, 5 and 3. The last one
/// solves none of them, but is the best start for a recorded training step (resnet50: 5,508 units of work to the peak
/// with it, 27,540 without). Best fit by size, area, life and conflicts added nothing anywhere.
pub const MEMBERS: [OrderedFit; 8] = [
    ordered_fit::FIRST_SIZE,
    ordered_fit::FIRST_LOAD,
    ordered_fit::FIRST_LIFETIME,
    ordered_fit::FIRST_AREA,
    ordered_fit::BEST_LOAD,
    ordered_fit::FIRST_CONFLICTS,
    ordered_fit::FIRST_START,
    ordered_fit::BEST_START,
];

/// An upper limit for placements over all passes together, for callers that only run passes and repair
/// nothing.
pub const PATIENCE: usize = 2_000_000;

/// What the portfolio found: the starting point of anything cleverer.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The best plan within the capacities.
    pub best: Option<Plan>,
    /// The best plan that exceeds the capacities, as long as there is none within them.
    pub too_tall: Option<Plan>,
    /// No plan is smaller.
    pub lower_bound: Bytes,
    /// What each space needs at least.
    pub per_space: IndexVec<SpaceId, Bytes>,
    /// Proof that there is no plan at all, if it was met on the way.
    pub witness: Option<Witness>,
    /// Why no further member was tried.
    pub stop: Stop,
    /// Members that were run to their end, or until they were no better.
    pub members: usize,
    /// Pieces that were to be placed, all passes together.
    pub placements: u64,
    /// What a pass costs, as counted in the first one.
    pass_cost: Option<PassCost>,
}

impl Tried {
    /// Whether nothing can be better: a plan that meets the bound, or a proof that there is none.
    pub fn is_final(&self) -> bool {
        self.witness.is_some() || self.best.as_ref().is_some_and(|plan| plan.extent() <= self.lower_bound)
    }
}

/// Runs members until one meets the lower bound, all are done, or the time or half of the effort's work is over.
pub fn try_members(pieces: &Pieces, request: &Request) -> Tried {
    let mut budget = Budget::new(request, request.effort.work() / 2, Clock::start(request));
    try_first(pieces, MEMBERS.len(), &mut budget)
}

/// Runs the members that a search begins with: all of them for few pieces, one for many.
pub(crate) fn try_at_once(pieces: &Pieces, budget: &mut Budget) -> Tried {
    let is_many = pieces.len() > MOST_EXACT_PIECES || (pieces.len() > ONE_ORDER_PIECES && pieces.is_plain());
    if is_many && is_crowded(pieces) {
        let mut tried = nothing_tried(pieces);
        if !tried.is_final() {
            tried.run(&ordered_fit::NEAR_PEAK, &mut Placer::new(pieces), budget);
        }
        // If this pass found no plan at all, not even one that is too large, the first member of the list is tried as
        // well.
        let count = if tried.best.is_some() || tried.too_tall.is_some() { 0 } else { 1 };
        tried.go_on(pieces, count, budget);
        return tried;
    }
    let mut tried = try_first(pieces, if is_many { 1 } else { MEMBERS.len() }, budget);
    // Repairing is for plans that are nearly good. Where the first order suits a problem badly, another one is cheaper.
    while tried.is_far() && tried.has_more() && tried.stop == Stop::Finished {
        tried.go_on(pieces, tried.members + 1, budget);
    }
    tried
}

fn try_first(pieces: &Pieces, count: usize, budget: &mut Budget) -> Tried {
    let mut tried = nothing_tried(pieces);
    tried.go_on(pieces, count, budget);
    tried
}

/// What is known before any pass: bounds.
fn nothing_tried(pieces: &Pieces) -> Tried {
    let problem = pieces.problem();
    let witness = bound::overfull(problem);
    let peaks = bound::space_lower_bounds(problem);
    Tried {
        best: None,
        too_tall: None,
        lower_bound: bound::lower_bound_with(problem, &peaks),
        per_space: peaks.iter().map(|peak| peak.bytes).collect(),
        witness,
        stop: Stop::Finished,
        members: 0,
        placements: 0,
        pass_cost: None,
    }
}

impl Tried {
    /// Whether there are members that had no turn yet.
    pub(crate) fn has_more(&self) -> bool {
        self.members < MEMBERS.len() && !self.is_final()
    }

    /// Whether the best plan is so far above the bound that its order must have been the wrong one.
    fn is_far(&self) -> bool {
        let best = self.best.as_ref().or(self.too_tall.as_ref());
        let repairable = self.lower_bound.0.saturating_add(self.lower_bound.0 / REPAIRABLE);
        best.is_some_and(|plan| plan.extent().0 > repairable)
    }

    /// Keeps a plan if it is better than the one there is.
    pub(crate) fn keep(&mut self, problem: &Problem, plan: Option<Plan>) {
        let Some(plan) = plan else { return };
        let is_better = |other: &Option<Plan>| other.as_ref().is_none_or(|other| plan.extent() < other.extent());
        if fits(problem, &plan) {
            self.too_tall = None;
            if is_better(&self.best) {
                self.best = Some(plan);
            }
        } else if self.best.is_none() && is_better(&self.too_tall) {
            self.too_tall = Some(plan);
        }
    }

    /// What a pass costs; nothing as long as there was none.
    pub(crate) fn pass_cost(&self) -> PassCost {
        self.pass_cost.unwrap_or(PassCost::counted(0, 0))
    }

    /// Runs the members of the list up to number `until` that have not been run yet.
    ///
    /// The first pass is always run, whatever the budget says. As long as there is no plan, a pass is given up only if
    /// the caller no longer waits.
    pub(crate) fn go_on(&mut self, pieces: &Pieces, until: usize, budget: &mut Budget) {
        let mut placer: Option<Placer> = None;
        for member in MEMBERS.get(self.members..until).unwrap_or_default() {
            if self.is_final() {
                return;
            }
            let affords = |cost: PassCost| budget.affords(cost.of(pieces.len() as u64));
            let stop =
                self.pass_cost.and_then(|cost| budget.stop().or_else(|| (!affords(cost)).then_some(Stop::WorkLimit)));
            if let Some(stop) = stop {
                self.stop = stop;
                return;
            }
            if !self.run(member, placer.get_or_insert_with(|| Placer::new(pieces)), budget) {
                return;
            }
            self.members += 1;
        }
    }

    /// Runs one pass. False if time was over before it had an answer.
    fn run<'a>(&mut self, pass: &OrderedFit, placer: &mut Placer<'a>, budget: &mut Budget) -> bool {
        placer.clear();
        let pieces = placer.pieces();
        self.placements += pieces.len() as u64;
        let has_plan = self.best.is_some();
        let gives_up = || has_plan && budget.is_late();
        let ceiling = self.best.as_ref().map(Plan::extent);
        let reached = pass.run(placer, &Pass { ceiling, gives_up: &gives_up, threads: budget.threads });
        match reached {
            Ok(Reached::All) => self.keep(pieces.problem(), placer.finish()),
            // The pass was cut short by the clock and not because it was no better, so it says nothing.
            Ok(Reached::Early(_)) if ceiling.is_none() || gives_up() => return false,
            Ok(Reached::Early(_)) => {}
            Err(piece) => self.witness = collision::witness(placer, piece),
        }
        // The first pass has no ceiling and is not given up, so it is complete and shows what a pass costs.
        let cost =
            *self.pass_cost.get_or_insert_with(|| PassCost::counted(pieces.len() as u64, placer.obstacles_met()));
        budget.spend(cost.of(match reached {
            Ok(Reached::Early(placed)) => placed,
            Ok(Reached::All) | Err(_) => pieces.len() as u64,
        }));
        budget.report(self.best.as_ref().map(Plan::extent), self.lower_bound);
        true
    }
}

/// Whether a plan keeps to the capacities.
pub(crate) fn fits(problem: &Problem, plan: &Plan) -> bool {
    let fits = |(space, extent): (SpaceId, &Bytes)| {
        problem.spaces()[space].capacity.is_none_or(|capacity| *extent <= capacity)
    };
    plan.extents.iter_enumerated().all(fits)
}
