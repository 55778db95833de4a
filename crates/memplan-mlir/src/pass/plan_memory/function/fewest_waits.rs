//! Plans whose reuse makes nobody wait, as far as that goes: `-s search`.

use memplan_core::{PlanCost, Stop};
use memplan_planner::{Assign, Feature};

use super::super::waits;
use super::*;

/// Whether a strategy looks for the least costs, so that it is worth telling it what costs something.
pub(super) fn minds_waits(strategy: &dyn Strategy) -> bool {
    matches!(strategy.name(), "auto" | "search") && strategy.supports(Feature::ReuseCosts, Assign::Offsets)
}

/// A plan that was made without a look at costs, with what it costs.
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

impl Planner<'_> {
    /// Plans a function so that its reuse makes nobody wait, as far as that goes.
    ///
    /// The levels plan first. Their plan is what the strategy has to better, on the same problem with the waits as
    /// prices: so it never has more waits than theirs, and there is a plan whenever they have one.
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
        let start = match by_levels.outcome.plan() {
            Some(_) => by_levels,
            None => self.attempt(function, target, sites, groups, Some(strategy), request)?,
        };
        if start.outcome.plan().is_none() {
            return Ok(start);
        }
        // Prices go onto the very problem that was planned, so that both plans are plans of it.
        let problem = waits::priced(self.view, function, &start.problem, sites)?;
        let cost = |plan: &Plan| plan.reuse_cost(&problem);
        let known = start.outcome.plan().map(cost);
        let found = plan(strategy, &problem, request)?;
        let at_least = found.plan().and_then(|plan| plan.cost).map_or(0, |cost| cost.lower_bound);
        let is_better = found.plan().map(cost).is_some_and(|cost| known.is_none_or(|known| cost <= known));
        let by_levels = known.filter(|_| start.report.is_some());
        let outcome = if is_better { found } else { keep(&problem, start.outcome, at_least) };
        let here = outcome.plan().map_or(0, cost);
        let waits = Some(Waits { here, at_least, by_levels });
        Ok(Attempt { problem, outcome, report: None, waits, refuted: BTreeSet::new() })
    }

    /// Says what the reuse costs, and who waits for whom.
    pub(super) fn tell_waits(&mut self, op: crate::OpId, problem: &Problem, plan: &Plan, waits: Waits) {
        if waits.here == 0 && waits.by_levels.unwrap_or(0) == 0 {
            return;
        }
        let span = self.view.document.op(op).name_span;
        let name = |buffer: BufferId| &problem.buffers()[buffer].name;
        for pair in plan.active_pairs(problem).into_iter().take(MOST_CROSSINGS) {
            let message =
                format!("{} and {} share bytes: waits of weight {}", name(pair.one), name(pair.other), pair.weight);
            self.all.remarks.push(Remark { span, message });
        }
        let least = match waits.here == waits.at_least {
            true => "the least possible".to_owned(),
            false => format!("at least {}", waits.at_least),
        };
        let levels = waits.by_levels.map_or_else(String::new, |weight| format!(", {weight} by levels"));
        let message = format!("reuse adds waits of weight {}: {least}{levels}", waits.here);
        self.all.remarks.push(Remark { span, message });
    }
}
