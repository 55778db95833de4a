//! `auto`: whatever is best for the problem, with every feature honoured.
//!
//! *Offsets.* The [`portfolio`](crate::portfolio) of quick placements runs until one of them
//! meets the lower bound, which on most real programs is the first:
//!
//! ```text
//!   problem ──► portfolio ──► meets the bound? ──yes──► optimal
//!                                   │no
//!                                   ▼
//!                            search within the limits, or a second if there are none
//! ```
//!
//! The portfolio has no member for every other strategy. Where the search ends
//! above the bound, those it has not tried are run too ([`no_worse`]), until one meets it. So on up
//! to [`ALWAYS_ASKED`] buffers no strategy is ever better than this one; up to
//! [`MOST_ASKED`] they are asked as long as there is time, of which an eighth is kept for them.
//!
//! If the bound itself exceeds a capacity the answer is "infeasible" with a
//! witness; if only the plans do, every member is tried before giving up.
//!
//! *Shared objects.* Every other strategy that makes shared objects, honours
//! all features of the problem and is quick enough for its size is run, until
//! one meets the lower bound; the smallest sum of object sizes wins, then the
//! smallest number of objects, then the first in the list.

use std::time::Instant;

use memplan_core::{BufferId, Bytes, Outcome, Plan, Problem, Stop, bound};

use super::object_fit::ObjectFit;
use super::ordered_fit::{has_addresses, too_many_dependencies};
use super::{STRATEGIES, Strategy};
use crate::{Assign, Feature, Refusal, Request, search};

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
            Assign::Offsets => no_worse(problem, request),
            Assign::Objects => plan_objects(problem, request),
        }
    }
}

/// Up to this many buffers all other strategies are asked after a search, whatever the time: it is
/// a fraction of a second.
const ALWAYS_ASKED: usize = 5_000;
/// Up to this many they are asked as long as there is time.
const MOST_ASKED: usize = 100_000;

/// Searches, and asks the other strategies where that did not settle it.
pub(super) fn no_worse(problem: &Problem, request: &Request) -> Outcome {
    let limit = request.time_limit.or(request.work_limit.is_none().then_some(search::DEFAULT_TIME));
    let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
    // Whoever is asked later needs some time, too.
    let is_asked_in_time = (ALWAYS_ASKED..MOST_ASKED).contains(&problem.buffers().len());
    let time_limit = if is_asked_in_time { limit.map(|limit| limit / 8 * 7) } else { request.time_limit };
    let outcome = search::search(problem, &Request { time_limit, ..request.clone() }).outcome;
    ask_others(problem, request, outcome, deadline)
}

/// An outcome, or a better one if another strategy has it.
fn ask_others(problem: &Problem, request: &Request, outcome: Outcome, deadline: Option<Instant>) -> Outcome {
    let count = problem.buffers().len();
    let is_over = || {
        let is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        count > MOST_ASKED || (count > ALWAYS_ASKED && (is_late || request.is_cancelled()))
    };
    let searches = ["auto", "search"];
    let others = STRATEGIES
        .iter()
        .filter(|strategy| !searches.contains(&strategy.name()) && count <= quick_up_to(strategy.name()));
    let mut best = outcome;
    let mut lower_bound = None;
    // Whoever would search, too, has nothing to add to the search that was made.
    let request = Request { work_limit: Some(0), ..request.clone() };
    for strategy in others {
        let is_open = matches!(best, Outcome::Feasible { .. } | Outcome::Exhausted { .. });
        if !is_open || is_over() {
            break;
        }
        let other = super::plan(*strategy, problem, &request).ok();
        let least = *lower_bound.get_or_insert_with(|| bound::lower_bound(problem));
        best = better(best, other.as_ref().and_then(Outcome::plan), least);
    }
    best
}

/// An outcome with another plan, if that is smaller.
fn better(outcome: Outcome, other: Option<&Plan>, least: Bytes) -> Outcome {
    match (outcome, other) {
        (Outcome::Feasible { plan, lower_bound, stop }, Some(other)) if other.extent() < plan.extent() => {
            worth(other.clone(), lower_bound, stop)
        }
        (Outcome::Exhausted { stop }, Some(other)) => worth(other.clone(), least, stop),
        (outcome, _) => outcome,
    }
}

/// A plan that meets the bound is optimal.
fn worth(plan: Plan, lower_bound: Bytes, stop: Stop) -> Outcome {
    if plan.extent() <= lower_bound { Outcome::Optimal(plan) } else { Outcome::Feasible { plan, lower_bound, stop } }
}

fn object_strategies() -> impl Iterator<Item = &'static dyn Strategy> {
    let others = STRATEGIES.iter().copied().filter(|strategy| strategy.name() != "auto");
    others.filter(|strategy| strategy.assigns().contains(&Assign::Objects))
}

/// The most buffers for which a strategy answers within about half a second.
fn quick_up_to(strategy: &str) -> usize {
    match strategy {
        "min-cost-flow" => 200,
        "greedy-by-size" | "greedy-best" => 10_000,
        _ => usize::MAX,
    }
}

/// The object strategies that honour every feature of the problem and are quick enough for it.
fn applicable(problem: &Problem, request: &Request) -> impl Iterator<Item = &'static dyn Strategy> {
    let (features, count) = (Feature::of(problem), problem.buffers().len());
    let refused: Vec<&str> = object_strategies()
        .filter(|strategy| strategy.refuse(problem, request).is_some())
        .map(|strategy| strategy.name())
        .collect();
    object_strategies().filter(move |strategy| {
        let supported = features.iter().all(|&(feature, _)| strategy.supports(feature, Assign::Objects));
        let quick = count <= quick_up_to(strategy.name());
        supported && quick && !refused.contains(&strategy.name())
    })
}

/// Why there is none: what the most general of them says.
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

fn plan_objects(problem: &Problem, request: &Request) -> Outcome {
    let cost = |plan: &Plan| (plan.extent(), plan.objects.len());
    let mut best: Option<Plan> = None;
    let mut infeasible = None;
    for strategy in applicable(problem, request) {
        match strategy.plan(problem, request) {
            Outcome::Optimal(plan) => return Outcome::Optimal(plan),
            Outcome::Feasible { plan, .. } => {
                if best.as_ref().is_none_or(|best| cost(&plan) < cost(best)) {
                    best = Some(plan);
                }
            }
            Outcome::Infeasible(witness) => infeasible = Some(witness),
            Outcome::Exhausted { .. } => {}
        }
    }
    match (best, infeasible.or_else(|| bound::overfull(problem))) {
        (Some(plan), _) => Outcome::judge(problem, plan, Stop::Finished),
        (None, Some(witness)) => Outcome::Infeasible(witness),
        (None, None) => Outcome::Exhausted { stop: Stop::Finished },
    }
}
