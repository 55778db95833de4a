//! What a strategy is, and the list of them.

use memplan_core::{Outcome, Problem};

use crate::{Assign, Feature, Refusal, Request};

/// A way to plan.
pub trait Strategy: Sync {
    /// The name on the command line.
    fn name(&self) -> &'static str;

    /// One line for listings.
    fn describe(&self) -> &'static str;

    /// The kinds of plans it makes, its natural one first.
    fn assigns(&self) -> &'static [Assign];

    /// Whether it honours a feature when making this kind of plan.
    fn supports(&self, feature: Feature, assign: Assign) -> bool;

    /// Plans. Only called with problems whose features it supports; use [`plan`].
    fn plan(&self, problem: &Problem, request: &Request) -> Outcome;
}

/// All strategies, in the order of listings.
pub const STRATEGIES: &[&dyn Strategy] = &[];

/// The strategy of that name.
pub fn find(name: &str) -> Option<&'static dyn Strategy> {
    STRATEGIES.iter().copied().find(|strategy| strategy.name() == name)
}

/// Runs a strategy, or refuses what it cannot honour.
pub fn plan(strategy: &dyn Strategy, problem: &Problem, request: &Request) -> Result<Outcome, Refusal> {
    if !strategy.assigns().contains(&request.assign) {
        return Err(Refusal::Assign { strategy: strategy.name(), kind: request.assign.describe() });
    }
    let unsupported = |&(feature, _): &(Feature, _)| !strategy.supports(feature, request.assign);
    match Feature::of(problem).into_iter().find(unsupported) {
        Some((feature, buffer)) => {
            let buffer = buffer.map(|id| problem.buffers()[id].name.clone());
            Err(Refusal::Feature { strategy: strategy.name(), feature, buffer })
        }
        None => Ok(strategy.plan(problem, request)),
    }
}
