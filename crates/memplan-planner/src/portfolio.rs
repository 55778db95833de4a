//! The first plans: quick ways to place the pieces, one after the other, until one is good enough.
//!
//! A *pass* places all pieces once by first or best fit, in some order ([`OrderedFit`]). It is cheap, and each order
//! does badly on other problems. So trying several orders, the *members* of the portfolio, and keeping the best plan
//! is the best that can be had in a few passes. The first member alone meets the lower bound on most real programs;
//! then nothing else is tried.
//!
//! A pass is given up as soon as a piece ends at or above the best extent so far, and also when time is over if there
//! is a plan already.
//!
//! If a plan of many buffers is too tall, it is too tall in a few places, and repairing those is much less work than
//! another pass. So for more than `ONE_ORDER_PIECES` pieces a search runs only the first member before its stages, and
//! more members only as long as the plan is far above the bound (`REPAIRABLE`). The others follow if repairing does not
//! help ([`Tried::go_on`]). If hundreds of pieces are alive at a time, the first pass is one that is no member:
//! [`NEAR_PEAK`](ordered_fit::NEAR_PEAK), whose plan is the easiest to repair.
//!
//! A plan within the capacities beats one that is not; of two such plans the
//! smaller one wins, and of equally small ones the one found first, so the
//! result does not depend on anything but the problem.
//!
//! Words from other files: a [`Placer`] puts pieces down one by one; [`Reached`] says how far a pass came; a
//! [`PassCost`] is the work that a pass costs; [`collision::witness`] finds two fixed buffers that collide, if that is
//! why a piece found no place.

use memplan_core::{Bytes, IndexVec, Plan, Problem, SpaceId, Stop, Witness, bound};

use crate::piece::Pieces;
use crate::placer::Placer;
use crate::search::{Budget, Clock, PassCost, is_crowded};
use crate::strategy::Strategy;
use crate::strategy::ordered_fit::{self, OrderedFit, Pass, Reached};
use crate::tuning::{MOST_EXACT_PIECES, ONE_ORDER_PIECES, REPAIRABLE};
use crate::{Request, collision};

/// The members, most promising first. Each saves an extent or work on some instance of `memplan bench ablation`
/// (docs/search.md has the table): by life a generated training step takes 4,160 units and 28,898 without it, by area
/// two kernels take half as much, best fit by load settles a training step of a residual network at once, by
/// conflicts a generated training step and a jigsaw end smaller, and best fit by start is the best beginning for a
/// recorded one (resnet50). First fit by load, the second of the list, meets the bound of problems of a hundred
/// buffers that first fit by size does not, without any search. First fit by start, and best fit by size, area, life
/// and conflicts added nothing anywhere.
pub const MEMBERS: [OrderedFit; 7] = [
    ordered_fit::FIRST_SIZE,
    ordered_fit::FIRST_LOAD,
    ordered_fit::FIRST_LIFETIME,
    ordered_fit::FIRST_AREA,
    ordered_fit::BEST_LOAD,
    ordered_fit::FIRST_CONFLICTS,
    ordered_fit::BEST_START,
];

/// An upper limit for placements over all passes together, for callers that only run passes and repair
/// nothing.
pub const PATIENCE: usize = 2_000_000;

/// What the portfolio found. The stages of the search begin with it, and put what they find into it.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The best plan within the capacities.
    pub best: Option<Plan>,
    /// The best plan that exceeds the capacities, as long as there is none within them.
    pub too_tall: Option<Plan>,
    /// The lower bound of the extent, all spaces together.
    pub lower_bound: Bytes,
    /// The lower bound of the extent of each space.
    pub per_space: IndexVec<SpaceId, Bytes>,
    /// The proof that there is no plan at all, if one was found.
    pub witness: Option<Witness>,
    /// Why no further member was tried, or, later, why the search ended.
    pub stop: Stop,
    /// How many members of the list, from the first on, have had their turn: they were run to their end, or until it
    /// was clear that they were no better.
    pub members: usize,
    /// Pieces that were to be placed, all passes together.
    pub placements: u64,
    /// The members that may have a turn: all that the caller has not switched off.
    list: Vec<OrderedFit>,
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
    let mut tried = Tried::nothing(pieces, request);
    tried.go_on(pieces, MEMBERS.len(), &mut budget);
    tried
}

/// The passes that a search may begin with: the first one over a crowded problem, then the members.
pub(crate) fn passes() -> impl Iterator<Item = OrderedFit> {
    [ordered_fit::NEAR_PEAK].into_iter().chain(MEMBERS)
}

/// Runs the members that a search begins with: all of them for few pieces, one for many.
pub(crate) fn try_at_once(pieces: &Pieces, request: &Request, budget: &mut Budget) -> Tried {
    // A plan of plain pieces can be repaired after one pass. For other pieces all members are run at once, unless there
    // are more pieces than any exact search takes.
    let is_many = pieces.len() > MOST_EXACT_PIECES || (pieces.len() > ONE_ORDER_PIECES && pieces.is_plain());
    let mut tried = Tried::nothing(pieces, request);
    if is_many && is_crowded(pieces) && !request.is_without(ordered_fit::NEAR_PEAK.name()) {
        if !tried.is_final() {
            tried.run(&ordered_fit::NEAR_PEAK, pieces, &mut None, budget);
        }
        // If this pass found no plan at all, not even one that is too large, the first member of the list is tried as
        // well.
        let count = if tried.best.is_some() || tried.too_tall.is_some() { 0 } else { 1 };
        tried.go_on(pieces, count, budget);
        return tried;
    }
    tried.go_on(pieces, if is_many { 1 } else { MEMBERS.len() }, budget);
    // Repairing is for plans that are close to the bound. If the plan is far above it, another order is cheaper.
    while tried.is_far() && tried.has_more() && tried.stop == Stop::Finished {
        tried.go_on(pieces, tried.members + 1, budget);
    }
    tried
}

impl Tried {
    /// What is known before any pass: the lower bounds, and perhaps a proof by them that there is no plan.
    fn nothing(pieces: &Pieces, request: &Request) -> Tried {
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
            list: MEMBERS.into_iter().filter(|member| !request.is_without(member.name())).collect(),
            pass_cost: None,
        }
    }

    /// Whether there are members that had no turn yet.
    pub(crate) fn has_more(&self) -> bool {
        !self.is_complete() && !self.is_final()
    }

    /// Whether every member had its turn.
    pub(crate) fn is_complete(&self) -> bool {
        self.members >= self.list.len()
    }

    /// Whether a member of this name has had its turn.
    pub(crate) fn has_run(&self, name: &str) -> bool {
        self.list.iter().take(self.members).any(|member| member.name() == name)
    }

    /// Whether the best plan is so far above the bound (more than 1/[`REPAIRABLE`] of it) that another order should be
    /// tried before repairs.
    fn is_far(&self) -> bool {
        let best = self.best.as_ref().or(self.too_tall.as_ref());
        let repairable = self.lower_bound.0.saturating_add(self.lower_bound.0 / REPAIRABLE);
        best.is_some_and(|plan| plan.extent().0 > repairable)
    }

    /// Keeps a plan if it is better than the known one. A plan within the capacities is better than one that exceeds
    /// them; of two plans of the same kind the smaller one is better.
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

    /// What a pass costs, as counted in the first one. Before that it counts as next to nothing.
    pub(crate) fn pass_cost(&self) -> PassCost {
        self.pass_cost.unwrap_or(PassCost::counted(0, 0))
    }

    /// Runs the members of the list up to number `until` that have not been run yet.
    ///
    /// The first pass is always run, whatever the budget says. As long as there is no plan, a pass is given up only if
    /// the caller no longer waits.
    pub(crate) fn go_on(&mut self, pieces: &Pieces, until: usize, budget: &mut Budget) {
        let mut placer: Option<Placer> = None;
        while let Some(member) = self.list.get(self.members).copied().filter(|_| self.members < until) {
            if self.is_final() {
                return;
            }
            // What a pass costs is known only after the first one. From then on a pass needs a budget that pays for it.
            let affords = |cost: PassCost| budget.affords(cost.of(pieces.len() as u64));
            let stop =
                self.pass_cost.and_then(|cost| budget.stop().or_else(|| (!affords(cost)).then_some(Stop::WorkLimit)));
            if let Some(stop) = stop {
                self.stop = stop;
                return;
            }
            if !self.run(&member, pieces, &mut placer, budget) {
                return;
            }
            self.members += 1;
        }
    }

    /// Runs one pass and keeps its plan, or the proof that there is no plan. `false` if the time was over before the
    /// pass had an answer; then the pass does not count.
    ///
    /// `kept` is a placer that is used for one pass after the other. With very many pieces, few passes are made, and
    /// each has a placer of its own, whose tables are given back before the plan is made.
    fn run<'a>(
        &mut self,
        pass: &OrderedFit,
        pieces: &'a Pieces<'a>,
        kept: &mut Option<Placer<'a>>,
        budget: &mut Budget,
    ) -> bool {
        let mut placer = kept.take().unwrap_or_else(|| Placer::new(pieces));
        placer.clear();
        self.placements += pieces.len() as u64;
        let has_plan = self.best.is_some();
        let ceiling = self.best.as_ref().map(Plan::extent);
        // Without a plan the pass goes on although time is over: a late plan is better than none.
        let gives_up = || has_plan && budget.is_late();
        let reached = pass.run(&mut placer, &Pass { ceiling, gives_up: &gives_up, threads: budget.threads });
        let obstacles = placer.obstacles_met();
        match reached {
            Ok(Reached::All) if pieces.len() > MOST_EXACT_PIECES => self.keep(pieces.problem(), placer.into_plan()),
            Ok(Reached::All) => {
                self.keep(pieces.problem(), placer.finish());
                *kept = Some(placer);
            }
            // If the clock ended the pass, and not the ceiling, the pass has no answer.
            Ok(Reached::Early(_)) if ceiling.is_none() || gives_up() => return false,
            Ok(Reached::Early(_)) => *kept = Some(placer),
            // This piece found no place. If two fixed offsets are the reason, there is no plan at all.
            Err(piece) => {
                self.witness = collision::witness(&placer, piece);
                *kept = Some(placer);
            }
        }
        // The first pass has no ceiling and is not given up, so it is complete and shows what a pass costs.
        let cost = *self.pass_cost.get_or_insert_with(|| PassCost::counted(pieces.len() as u64, obstacles));
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
