//! What the plan's reuse costs, found in the placement alone.
//!
//! The sum is formed in 128 bits and from the slots' bytes, without a look at what the planner noted.

use memplan_core::{Plan, Problem};

use super::apart::first_common;
use super::layout::Layout;
use super::violation::Violation;

/// Compares the cost that a plan claims with the one that its places have.
pub(super) fn check(problem: &Problem, plan: &Plan, layout: &Layout, out: &mut Vec<Violation>) {
    let Some(claimed) = plan.cost else { return };
    // A pair is active, and its price is paid, if the two have a byte in common in some of their slots.
    let active = problem.reuse_costs().iter().filter(|pair| first_common(layout, pair.one, pair.other).is_some());
    let found: u128 = active.map(|pair| u128::from(pair.weight)).sum();
    if found != u128::from(claimed.total) {
        out.push(Violation::CostWrong { claimed: claimed.total, found });
    }
    if claimed.lower_bound > claimed.total {
        out.push(Violation::CostBelowBound { cost: claimed.total, bound: claimed.lower_bound });
    }
}
