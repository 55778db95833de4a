//! `auto`: whatever is best for the problem, with every feature honoured.
//!
//! *Offsets.* The [`portfolio`](crate::portfolio) of quick placements runs until one of them
//! meets the lower bound, which on most real programs is the first:
//!
//! ```text
//!   problem ──► portfolio ──► meets the bound? ──yes──► optimal
//!                                   │no
//!                                   ▼
//!                            search within the limits, or for a second if there are none
//! ```
//!
//! The portfolio has no member for every other strategy. Where the search ends
//! above the bound, those that were not tried are run too ([`no_worse`]), until one meets it. So no
//! strategy is ever better than this one, unless there is a time limit that runs out before they were asked;
//! an eighth of it is kept for them. On up to [`ALWAYS_ASKED`] buffers they are asked even then. With a capacity, a
//! plan of more buffers that fits is the answer. A strategy that
//! lays shared objects end to end is left out where their own lower bound says that it has nothing to offer.
//!
//! If the bound itself exceeds a capacity the answer is "infeasible" with a
//! witness; if only the plans do, every member is tried before giving up.
//!
//! *Shared objects.* Every other strategy that makes shared objects and honours
//! all features of the problem is run, until
//! one meets the lower bound or the time limit is over; the smallest sum of object sizes wins, then the
//! smallest number of objects, then the first in the list.

use memplan_core::{BufferId, Bytes, Outcome, Plan, Problem, Stop, bound};

use super::object_fit::ObjectFit;
use super::ordered_fit::{has_addresses, too_many_dependencies};
use super::{STRATEGIES, Strategy};
use crate::portfolio::MEMBERS;
use crate::search::{self, Budget, Clock, OTHERS_WORK};
use crate::{Assign, Effort, Feature, Refusal, Request};

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

/// Searches, and asks the other strategies where that did not settle it.
pub(super) fn no_worse(problem: &Problem, request: &Request) -> Outcome {
    let clock = Clock::start(request);
    let answer = search::search(problem, request);
    // A capacity asks whether there is a plan; whether there is a smaller one is left open.
    let has_capacity = problem.spaces().iter().any(|space| space.capacity.is_some());
    if has_capacity && answer.outcome.plan().is_some() && request.effort != Effort::Thorough {
        return answer.outcome;
    }
    let all_others = answer.pass_cost.of(problem.buffers().len() as u64).saturating_mul(STRATEGIES.len() as u64);
    let work = match request.effort {
        Effort::Thorough => u64::MAX,
        Effort::Normal if all_others <= OTHERS_WORK => OTHERS_WORK,
        Effort::Normal | Effort::Quick => 0,
    };
    ask_others(problem, answer, &mut Budget::new(request, work, clock), request)
}

/// An outcome, or a better one if another strategy has it.
fn ask_others(problem: &Problem, answer: search::Answer, budget: &mut Budget, request: &Request) -> Outcome {
    let tried = MEMBERS[..answer.members].iter().map(|member| member.name());
    let done: Vec<&str> = tried.chain(["auto", "search"]).collect();
    let mut best = answer.outcome;
    let mut bounds = None;
    for strategy in STRATEGIES.iter().filter(|strategy| !done.contains(&strategy.name())) {
        let is_open = matches!(best, Outcome::Feasible { .. } | Outcome::Exhausted { .. });
        if !is_open || budget.stop().is_some() {
            break;
        }
        let (least, least_objects) =
            *bounds.get_or_insert_with(|| (bound::lower_bound(problem), bound::objects_lower_bound(problem)));
        let ceiling = best.plan().map(Plan::extent);
        let is_hopeless = ceiling.is_some_and(|ceiling| lays_objects(*strategy) && ceiling <= least_objects);
        if !is_hopeless {
            // Strategies that would search have nothing to add to the search that was made.
            let request = Request {
                work_limit: Some(0),
                ceiling,
                time_limit: budget.time_left(),
                observer: None,
                ..request.clone()
            };
            let other = super::plan(*strategy, problem, &request).ok();
            budget.spend(answer.pass_cost.of(problem.buffers().len() as u64));
            best = better(best, other.as_ref().and_then(Outcome::plan), least);
            if let Outcome::Feasible { plan, lower_bound, .. } = &best {
                budget.report(Some(plan.extent()), *lower_bound);
            }
        }
    }
    match best {
        Outcome::Feasible { plan, lower_bound, .. } if budget.has_been_late() => {
            Outcome::Feasible { plan, lower_bound, stop: Stop::TimeLimit }
        }
        best => best,
    }
}

/// Whether a strategy's offsets are those of shared objects laid end to end: where objects come naturally.
fn lays_objects(strategy: &dyn Strategy) -> bool {
    strategy.assigns().first() == Some(&Assign::Objects)
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
    // The better of two others is never better than both.
    let others = STRATEGIES.iter().copied().filter(|strategy| !["auto", "greedy-best"].contains(&strategy.name()));
    others.filter(|strategy| strategy.assigns().contains(&Assign::Objects))
}

/// The object strategies that honour every feature of the problem.
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
    let clock = Clock::start(request);
    for strategy in applicable(problem, request) {
        if best.is_some() && (clock.is_over() || request.is_cancelled()) {
            break;
        }
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
        (Some(plan), _) => {
            let stop = if clock.has_cut_in() { Stop::TimeLimit } else { Stop::Finished };
            Outcome::judge(problem, plan, stop)
        }
        (None, Some(witness)) => Outcome::Infeasible(witness),
        (None, None) => Outcome::Exhausted { stop: Stop::Finished },
    }
}
