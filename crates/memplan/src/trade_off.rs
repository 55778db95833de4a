//! What more or less memory would cost: the price of reuse against the capacity.
//!
//! The sweep goes from an unlimited capacity downwards. Without a limit a plan costs least, and the extent of that plan
//! says how far the capacity may fall before anything more has to be paid. Then a plan is made for a capacity a little
//! below that extent, and so on:
//!
//! ```text
//!   cost
//!    9 ┤ ●──┐
//!    4 ┤    ●────┐              asked from the right to the left: each plan ends at some extent,
//!    0 ┤         ●───────       and the next capacity lies just below it
//!      └──────────────── bytes
//! ```
//!
//! One space is swept at a time, the others keep the capacities they have. Every plan on the way is made and checked by
//! the [`driver`]. A time limit ends the sweep; the last point then has the status `time limit` and the capacity at
//! which that happened.

use std::sync::Arc;

use memplan_core::patience::Patience;
use memplan_core::{Bytes, SpaceId, Stop, bound};

use crate::driver::{self, Failure, How};
use crate::format::Input;
use crate::front_end::Plain;

/// About how many capacities of a space are planned; each takes a whole search. If the cost changes at capacities that
/// are closer together, some of the changes are not seen.
const MOST_POINTS: u64 = 16;

/// What reuse costs within one capacity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// The space that was swept.
    pub space: String,
    /// Its capacity; `None` for any.
    pub capacity: Option<Bytes>,
    /// What the plan needs of the space; `None` if there is no plan.
    pub extent: Option<Bytes>,
    /// What the plan's reuse costs; `None` if there is no plan.
    pub cost: Option<u64>,
    /// What every plan costs at least within this capacity.
    pub lower_bound: Option<u64>,
    /// `optimal`, `feasible`, `infeasible` or `exhausted`; `time limit` where that has ended the sweep.
    pub status: &'static str,
}

/// The status of the capacity at which the time limit has ended a sweep.
const TIME_LIMIT: &str = "time limit";

/// Sweeps the capacity of every space in which reuse costs something, from large to small. The points of the spaces
/// follow each other; the time limit ends everything.
pub fn sweep(plain: &Plain, input: &Input, how: &How) -> Result<Vec<Point>, Failure> {
    let problem = &input.problem;
    // Whether two buffers with a price between them may both be in the space.
    let is_priced = |space: SpaceId| {
        let lives_here = |buffer| problem.buffers()[buffer].spaces.contains(&space);
        problem.reuse_costs().iter().any(|cost| cost.weight > 0 && lives_here(cost.one) && lives_here(cost.other))
    };
    let _current = driver::patience_for_many(how).enter();
    let mut points: Vec<Point> = Vec::new();
    for space in problem.spaces().ids().filter(|&space| is_priced(space)) {
        points.extend(sweep_space(plain, input, how, space)?);
        if points.last().is_some_and(|point| point.status == TIME_LIMIT) {
            break;
        }
    }
    Ok(points)
}

/// Plans a space with less and less capacity, from what the cheapest plan needs down to the lower bound, or until
/// there is no plan.
fn sweep_space(plain: &Plain, input: &Input, how: &How, space: SpaceId) -> Result<Vec<Point>, Failure> {
    // No plan needs fewer bytes of this space, so smaller capacities are not tried.
    let least = bound::space_lower_bounds(&input.problem)[space].bytes.0;
    // The first point is that of an unlimited capacity. `widest` is what its plan needs.
    let mut points = vec![point(plain, input, how, space, None)?];
    let widest = points[0].extent.map_or(least, |extent| extent.0);
    // The step is a fixed part of the way down, so that a sweep makes at most about `MOST_POINTS` plans.
    let step = (widest.saturating_sub(least) / MOST_POINTS).max(1);
    // Each capacity is a step below what the last plan needs, so the loop ends: the extents become
    // smaller. It also ends where there is no plan (`None`).
    let mut extent = points[0].extent.map(|extent| extent.0);
    while let Some(last) = extent.filter(|&last| last > least) {
        let capacity = last.saturating_sub(step).max(least);
        let point = point(plain, input, how, space, Some(Bytes(capacity)))?;
        extent = point.extent.map(|extent| extent.0);
        points.push(point);
    }
    Ok(points)
}

/// Plans with another capacity of one space (`None` for no limit), and says what the plan needs and costs.
fn point(plain: &Plain, input: &Input, how: &How, space: SpaceId, capacity: Option<Bytes>) -> Result<Point, Failure> {
    // The same input with another capacity.
    let mut builder = input.problem.to_builder();
    builder.spaces_mut()[space].capacity = capacity;
    let problem = builder.build().map_err(|error| Failure::NoPlan(error.to_string()))?;
    let input = Input { problem: Arc::new(problem), ..input.clone() };
    let planned = match driver::lay_out(plain, &input, how) {
        Ok(planned) => planned,
        Err(Failure::Stopped(stopped)) if stopped.why == Stop::TimeLimit => {
            let space = input.problem.spaces()[space].name.clone();
            return Ok(Point { space, capacity, extent: None, cost: None, lower_bound: None, status: TIME_LIMIT });
        }
        Err(failure) => return Err(failure),
    };
    // The points so far are an answer. Without an answer, a time limit lets a first plan be
    // finished; from now on it ends a plan before it is made.
    if let Some(patience) = Patience::current() {
        patience.have_answer();
    }
    let plan = planned.outcome.plan();
    let cost = plan.and_then(|plan| plan.cost);
    Ok(Point {
        space: planned.problem.spaces()[space].name.clone(),
        capacity,
        extent: plan.map(|plan| plan.extents[space]),
        cost: plan.map(|_| cost.map_or(0, |cost| cost.total)),
        lower_bound: plan.map(|_| cost.map_or(0, |cost| cost.lower_bound)),
        status: planned.outcome.status(),
    })
}
