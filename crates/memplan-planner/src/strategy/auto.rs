//! `auto`: whatever is best for the problem, with every feature honoured.
//!
//! *Offsets.* The [`portfolio`](crate::portfolio) of quick placements runs until one of them
//! meets the lower bound, which on most real programs is the first:
//!
//! ```text
//!   problem ──► portfolio ──► meets the bound? ──yes──► optimal
//!                                   │no
//!                                   ▼
//!                            the schedule of the search, as much as the effort says
//! ```
//!
//! Some strategies are no members of the portfolio. If the search ends above the bound, the last stage of the schedule,
//! `others`, runs the strategies that were not tried, until one meets the bound. With
//! [`Effort::Thorough`](crate::Effort) all of them have their turn, so no strategy is ever better than this one, unless
//! a time limit ends the stage; with less effort they are run only if they are cheap. The strategy `search` does not
//! have this stage.
//!
//! If the bound itself exceeds a capacity the answer is "infeasible" with a
//! witness; if only the plans do, every member is tried before giving up.
//!
//! *Shared objects.* Every other strategy that makes shared objects and honours
//! all features of the problem is run, until
//! one meets the lower bound or the time limit is over; the smallest sum of object sizes wins, then the
//! smallest number of objects, then the first in the list.
//!
//! Words from other files: [`Feature::of`] lists the features of a problem, each with a buffer that has it;
//! [`has_addresses`] says whether strategies that make offsets honour a feature; a [`Clock`] knows whether the time
//! limit is over.

use memplan_core::{BufferId, Outcome, Plan, Problem, Stop, bound};

use super::object_fit::ObjectFit;
use super::ordered_fit::{has_addresses, too_many_dependencies};
use super::{STRATEGIES, Strategy};
use crate::search::{self, Clock};
use crate::{Assign, Feature, Refusal, Request};

/// The default strategy. See the module documentation.
pub struct Auto;

impl Strategy for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn describe(&self) -> &'static str {
        "the cheapest strategy that meets the lower bound, else search"
    }

    fn assigns(&self) -> &'static [Assign] {
        &[Assign::Offsets, Assign::Objects]
    }

    fn supports(&self, feature: Feature, assign: Assign) -> bool {
        match assign {
            Assign::Offsets => has_addresses(feature),
            Assign::Objects => object_strategies().any(|strategy| strategy.supports(feature, assign)),
        }
    }

    /// Refuses dependencies between too many buffers, and, for shared objects, what no strategy can honour.
    fn refuse(&self, problem: &Problem, request: &Request) -> Option<Refusal> {
        match request.assign {
            Assign::Offsets => too_many_dependencies(self.name(), problem),
            Assign::Objects => {
                applicable(problem, request).next().is_none().then(|| no_object_strategy(problem, request))
            }
        }
    }

    fn plan(&self, problem: &Problem, request: &Request) -> Outcome {
        match request.assign {
            Assign::Offsets => search::search_and_ask(problem, request).outcome,
            Assign::Objects => plan_objects(problem, request),
        }
    }
}

/// The strategies that make shared objects, without this one.
fn object_strategies() -> impl Iterator<Item = &'static dyn Strategy> {
    // `greedy-best` only chooses between two other strategies of this list, so it can add nothing.
    let others = STRATEGIES.iter().copied().filter(|strategy| !["auto", "greedy-best"].contains(&strategy.name()));
    others.filter(|strategy| strategy.assigns().contains(&Assign::Objects))
}

/// The object strategies that honour every feature of the problem and do not refuse it for another reason.
fn applicable(problem: &Problem, request: &Request) -> impl Iterator<Item = &'static dyn Strategy> {
    let features = Feature::of(problem);
    let refused: Vec<&str> = object_strategies()
        .filter(|strategy| strategy.refuse(problem, request).is_some())
        .map(|strategy| strategy.name())
        .collect();
    object_strategies().filter(move |strategy| {
        let supported = features.iter().all(|&(feature, _)| strategy.supports(feature, Assign::Objects));
        supported && !refused.contains(&strategy.name())
    })
}

/// Why no strategy can make shared objects for this problem. `object-fit` honours the most features, so the reason is
/// the one that it gives.
fn no_object_strategy(problem: &Problem, request: &Request) -> Refusal {
    let honours = |feature: &(Feature, Option<BufferId>)| ObjectFit.supports(feature.0, Assign::Objects);
    match Feature::of(problem).into_iter().find(|feature| !honours(feature)) {
        Some((feature, buffer)) => {
            let buffer = buffer.map(|id| problem.buffers()[id].name.clone());
            Refusal::Nobody { kind: Assign::Objects, feature, buffer }
        }
        None => {
            let nothing = Refusal::Assign { strategy: "auto", kind: Assign::Objects.describe() };
            ObjectFit.refuse(problem, request).unwrap_or(nothing)
        }
    }
}

/// Whether one plan of shared objects is better than another: a smaller extent wins, and of equal extents the one with
/// fewer objects.
fn is_smaller(one: &Plan, other: &Plan) -> bool {
    (one.extent(), one.objects.len()) < (other.extent(), other.objects.len())
}

/// Makes shared objects: runs every strategy that can, until one is proved optimal or time is over, and returns the
/// best plan.
fn plan_objects(problem: &Problem, request: &Request) -> Outcome {
    let mut best: Option<Plan> = None;
    let mut infeasible = None;
    let clock = Clock::start(request);
    for strategy in applicable(problem, request) {
        // The first plan is always made, however little time there is; after that the clock decides.
        if best.is_some() && (clock.is_over() || request.is_cancelled()) {
            break;
        }
        // An optimal plan cannot be beaten.
        match strategy.plan(problem, request) {
            Outcome::Optimal(plan) => return Outcome::Optimal(plan),
            Outcome::Feasible { plan, .. } => {
                if best.as_ref().is_none_or(|best| is_smaller(&plan, best)) {
                    best = Some(plan);
                }
            }
            Outcome::Infeasible(witness) => infeasible = Some(witness),
            Outcome::Exhausted { .. } => {}
        }
    }
    // Without any plan the problem is infeasible only if a strategy or the lower bound has a witness; otherwise it is
    // not known whether there is a plan.
    match (best, infeasible.or_else(|| bound::overfull(problem))) {
        (Some(plan), _) => {
            let stop = if clock.has_cut_in() { Stop::TimeLimit } else { Stop::Finished };
            Outcome::judge(problem, plan, stop)
        }
        (None, Some(witness)) => Outcome::Infeasible(witness),
        (None, None) => Outcome::Exhausted { stop: Stop::Finished },
    }
}
