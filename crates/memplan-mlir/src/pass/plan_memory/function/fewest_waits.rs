//! Plans in which sharing bytes makes as few ops wait as possible: the default of the pass.
//!
//! The cost of a plan is the weight of all waits that its sharing adds. The strategy `levels` (the planner of the
//! original) keeps waits few by its rules, but knows no costs. A strategy that takes costs is given the pairs of
//! buffers that would make an op wait, each with a price.

use memplan_core::{PlanCost, Stop};
use memplan_planner::{Assign, Feature, strategy};

use super::super::waits;
use super::*;

/// The ways to place the buffers of a function.
#[derive(Clone, Copy)]
pub(super) enum Way<'s> {
    /// The levels alone, as in the original.
    Levels,
    /// The levels first, and a strategy where that saves waits.
    FewestWaits(&'s dyn Strategy),
    /// A strategy that does not know waits.
    Strategy(&'s dyn Strategy),
}

impl<'s> Way<'s> {
    /// What the user asked for: by a strategy, or else by the options.
    pub(super) fn of(strategy: Option<&'s dyn Strategy>, options: &Options) -> Way<'s> {
        match strategy {
            None if options.compat => Way::Levels,
            None => strategy::find("search").map_or(Way::Levels, Way::FewestWaits),
            Some(strategy) if strategy.name() == "levels" => Way::Levels,
            Some(strategy) if minds_waits(strategy) => Way::FewestWaits(strategy),
            Some(strategy) => Way::Strategy(strategy),
        }
    }
}

/// Whether a strategy looks for the least costs, so that it is worth telling it what costs something.
fn minds_waits(strategy: &dyn Strategy) -> bool {
    matches!(strategy.name(), "auto" | "search") && strategy.supports(Feature::ReuseCosts, Assign::Offsets)
}

/// The same outcome for a problem with prices: the plan gets its cost, and the outcome is no longer called optimal,
/// because the plan was made without regard to costs. `at_least` is a lower bound on the cost of any plan.
fn keep(problem: &Problem, outcome: Outcome, at_least: u64) -> Outcome {
    match outcome {
        Outcome::Optimal(plan) | Outcome::Feasible { plan, .. } => {
            let cost = Some(PlanCost { total: plan.reuse_cost(problem), lower_bound: at_least });
            let lower_bound = bound::lower_bound(problem);
            Outcome::Feasible { plan: Plan { cost, ..plan }, lower_bound, stop: Stop::Finished }
        }
        none => none,
    }
}

/// What the reuse of a plan costs; nothing if there is no plan.
fn reuse_cost(outcome: &Outcome, problem: &Problem) -> u64 {
    outcome.plan().map_or(0, |plan| plan.reuse_cost(problem))
}

/// Whether the levels have put all buffers of every memory side by side.
fn nothing_shares(report: &Report) -> bool {
    report.spaces.iter().all(|row| row.mode == Mode::Sequential)
}

impl Planner<'_> {
    /// Plans a function so that the sharing of bytes makes as few ops wait as possible.
    ///
    /// First the levels make a plan. Then the strategy plans the same problem with the waits as prices. Its plan is
    /// taken only if it has fewer waits. So there are never more waits than by levels, there is a plan whenever the
    /// levels have one, and buffers keep the addresses of the original where moving them saves nothing.
    pub(super) fn fewest_waits(
        &mut self,
        function: FunctionId,
        target: &Target,
        sites: &[SiteId],
        groups: &Groups,
        strategy: &dyn Strategy,
        request: &Request,
    ) -> Result<Attempt, PassError> {
        let by_levels = self.attempt(function, target, sites, groups, None, request)?;
        let start = match by_levels.outcome {
            Outcome::Optimal(_) | Outcome::Feasible { .. } => by_levels,
            // It is proved that nothing fits. The report of the levels explains why, so it is given to the user.
            Outcome::Infeasible(_) => return Ok(by_levels),
            // The levels found no plan, but one may exist. The strategy may find it.
            Outcome::Exhausted { .. } => {
                let second = self.attempt(function, target, sites, groups, Some(strategy), request)?;
                if second.outcome.plan().is_none() {
                    return Ok(by_levels);
                }
                second
            }
        };
        // If no two buffers share bytes, no op waits, and the prices need not be computed.
        if start.report.as_ref().is_some_and(nothing_shares) {
            return Ok(Attempt { waits: Some(Waits { here: 0, at_least: 0, by_levels: Some(0) }), ..start });
        }
        // Prices are added to the very problem that was planned, so that the costs of both plans can be compared.
        let problem = waits::priced(self.view, function, start.problem, sites)?;
        let known = reuse_cost(&start.outcome, &problem);
        // Only plans of the levels have a report.
        let by_levels = start.report.is_some().then_some(known);
        // A plan without waits cannot be improved.
        if known == 0 {
            let outcome = keep(&problem, start.outcome, 0);
            let waits = Some(Waits { here: 0, at_least: 0, by_levels });
            return Ok(Attempt { problem, outcome, report: start.report, waits, refuted: BTreeSet::new() });
        }
        let found = plan(strategy, &problem, request)?;
        let at_least = found.plan().and_then(|plan| plan.cost).map_or(0, |cost| cost.lower_bound);
        let saves_waits = found.plan().is_some() && reuse_cost(&found, &problem) < known;
        let (outcome, report) = match saves_waits {
            true => (found, None),
            false => (keep(&problem, start.outcome, at_least), start.report),
        };
        let waits = Some(Waits { here: reuse_cost(&outcome, &problem), at_least, by_levels });
        Ok(Attempt { problem, outcome, report, waits, refuted: BTreeSet::new() })
    }
}
