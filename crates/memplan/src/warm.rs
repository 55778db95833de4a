//! Planning anew with as many offsets of an old plan as possible.
//!
//! A program changes a little, and its users want the plan to change as little: addresses may be burned into other
//! files, and a small difference can be reviewed. So the old plan is repaired and not made from scratch.

use std::sync::Mutex;

use memplan_core::{Plan, Problem};
use memplan_planner::Request;
use memplan_planner::strategy::search::Search;
use memplan_planner::warm;

use crate::driver::{self, Checked, Failure, How, Method};
use crate::format::Input;
use crate::front_end::{Plain, Planned};

/// A plan close to an old one.
pub struct Warm {
    /// The result of planning, which may have no plan.
    pub planned: Checked<Planned>,
    /// How many buffers are where the old plan had them; 0 if there is no plan.
    pub kept: usize,
    /// How many buffers of the input had a place in the old plan.
    pub had_place: usize,
}

/// Plans an input so that as many buffers as possible stay where `old` has them.
pub fn plan(plain: &Plain, input: &Input, old: &Plan, how: &How) -> Result<Warm, Failure> {
    // The driver takes a strategy and returns its plan only. The strategy hands out its two counts through this lock.
    let counts = Mutex::new((0, 0));
    let method = Method {
        base: &Search,
        plan: |problem: &Problem, request: &Request| {
            let repaired = warm::repair(problem, old, request);
            if let Ok(mut counts) = counts.lock() {
                *counts = (repaired.kept, repaired.had_place);
            }
            repaired.outcome
        },
    };
    // The plan that comes out has passed the checks, like every plan.
    let planned = driver::lay_out(plain, input, &How { strategy: Some(&method), ..how.clone() })?;
    let (kept, had_place) = counts.lock().map_or((0, 0), |counts| *counts);
    Ok(Warm { planned, kept, had_place })
}
