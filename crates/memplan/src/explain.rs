//! What stands in the way of fitting, or of a smaller plan.

use std::sync::Mutex;

use memplan_core::{BufferId, Bytes, IndexVec, Problem, SpaceId, Witness};
use memplan_planner::Request;
use memplan_planner::explain;
use memplan_planner::strategy::search::Search;

use crate::driver::{self, Checked, Failure, How, Method};
use crate::format::Input;
use crate::front_end::{Plain, Planned};

/// What stands in the way.
pub struct Explanation {
    /// What planning came to.
    pub planned: Checked<Planned>,
    /// The obstacle: buffers that do not fit together into a capacity. That is the capacity of the space or, if it
    /// has none, a byte less than the best plan needs. `None` if everything fits, or if no obstacle was found.
    pub obstacle: Option<Witness>,
    /// Buffers of the obstacle each of which, were it gone, would make room for all others.
    pub single: Vec<BufferId>,
    /// If the plan pays for reuse: how many bytes of each space a plan needs that pays only for what cannot be avoided.
    /// `None` if the plan pays for nothing, or if no such plan was found.
    pub free_extents: Option<IndexVec<SpaceId, Bytes>>,
}

/// Plans an input and finds out on the way what stands in the way of a smaller plan. The plan goes
/// through the driver, so it is checked; the rest comes out of the closure through `found`. A
/// `Method` is a strategy that plans with a closure and is called `search` like its base.
pub fn explain(input: &Input, how: &How) -> Result<Explanation, Failure> {
    // The obstacle, its single buffers and the free extents. A strategy returns an outcome only, so
    // the rest goes here. A strategy may be called from any thread, which is why there is a lock.
    let found = Mutex::new((None, Vec::new(), None));
    let method = Method {
        base: &Search,
        plan: |problem: &Problem, request: &Request| {
            let explain::Explanation { outcome, obstacle, single, free_extents } = explain::explain(problem, request);
            if let Ok(mut found) = found.lock() {
                *found = (obstacle, single, free_extents);
            }
            outcome
        },
    };
    let planned = driver::lay_out(&Plain::default(), input, &How { strategy: Some(&method), ..how.clone() })?;
    let (obstacle, single, free_extents) = found.into_inner().unwrap_or_default();
    Ok(Explanation { planned, obstacle, single, free_extents })
}
