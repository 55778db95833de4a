//! What a strategy is, and the list of them.

pub mod auto;
pub mod chunk;
pub mod end_of_life;
pub mod equality;
pub mod greedy_best;
pub mod greedy_by_breadth;
pub mod greedy_by_size;
pub mod greedy_in_order;
pub mod levels;
pub mod min_cost_flow;
pub mod naive;
pub mod object_fit;
pub mod ordered_fit;
pub mod pool;
pub mod reallocation;
pub mod search;
pub mod size_order;
pub mod stretch_largest;

use memplan_core::{Outcome, Problem};

use crate::{Assign, Feature, Refusal, Request, costs};

/// A way to make a plan from a problem.
pub trait Strategy: Sync {
    /// The name on the command line.
    fn name(&self) -> &'static str;

    /// One line for listings.
    fn describe(&self) -> &'static str;

    /// The kinds of plans it makes, its natural one first.
    fn assigns(&self) -> &'static [Assign];

    /// Whether it honours a feature when making this kind of plan.
    fn supports(&self, feature: Feature, assign: Assign) -> bool;

    /// Why it does not take this problem although it supports all of its features: some limit is exceeded, such as the
    /// number of buffers. `None` if it takes the problem.
    fn refuse(&self, problem: &Problem, request: &Request) -> Option<Refusal> {
        let _ = (problem, request);
        None
    }

    /// Plans. Only called with problems whose features it supports; use [`plan`].
    fn plan(&self, problem: &Problem, request: &Request) -> Outcome;
}

/// All strategies, in the order of listings.
pub const STRATEGIES: &[&dyn Strategy] = &[
    &auto::Auto,
    &search::Search,
    &ordered_fit::FIRST_SIZE,
    &ordered_fit::FIRST_LIFETIME,
    &ordered_fit::FIRST_AREA,
    &ordered_fit::FIRST_START,
    &ordered_fit::FIRST_CONFLICTS,
    &ordered_fit::FIRST_LOAD,
    &ordered_fit::BEST_SIZE,
    &ordered_fit::BEST_LIFETIME,
    &ordered_fit::BEST_AREA,
    &ordered_fit::BEST_START,
    &ordered_fit::BEST_CONFLICTS,
    &ordered_fit::BEST_LOAD,
    &object_fit::ObjectFit,
    &naive::Naive,
    &equality::Equality,
    &equality::EqualityLinear,
    &greedy_in_order::GreedyInOrder,
    &greedy_by_breadth::GreedyByBreadth,
    &greedy_by_size::GreedyBySize,
    &greedy_best::GreedyBest,
    &min_cost_flow::MinCostFlow,
    &pool::Pool,
    &chunk::HOT,
    &chunk::SIZE_FIRST,
    &end_of_life::EndOfLife,
    &stretch_largest::StretchLargest,
    &size_order::SizeOrder,
    &levels::Levels,
];

/// The strategy of that name.
pub fn find(name: &str) -> Option<&'static dyn Strategy> {
    STRATEGIES.iter().copied().find(|strategy| strategy.name() == name)
}

/// Runs a strategy. Refuses beforehand what the strategy cannot honour: the kind of plan, a feature of the problem, or
/// a limit of its own. The plan says what its reuse costs, also where the strategy knows nothing of prices.
pub fn plan(strategy: &dyn Strategy, problem: &Problem, request: &Request) -> Result<Outcome, Refusal> {
    if !strategy.assigns().contains(&request.assign) {
        return Err(Refusal::Assign { strategy: strategy.name(), kind: request.assign.describe() });
    }
    let unsupported = |&(feature, _): &(Feature, _)| !strategy.supports(feature, request.assign);
    if let Some((feature, buffer)) = Feature::of(problem).into_iter().find(unsupported) {
        let buffer = buffer.map(|id| problem.buffers()[id].name.clone());
        // If `auto` supports the feature, the message says so.
        return Err(if auto::Auto.supports(feature, request.assign) {
            Refusal::Feature { strategy: strategy.name(), feature, buffer }
        } else {
            Refusal::Nobody { kind: request.assign, feature, buffer }
        });
    }
    match strategy.refuse(problem, request) {
        Some(refusal) => Err(refusal),
        None => Ok(costs::price(problem, strategy.plan(problem, request))),
    }
}
