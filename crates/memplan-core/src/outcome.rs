//! What came of planning: a plan with what is known about it, or why there is none.

use crate::{BufferId, Bytes, Plan, Problem, SpaceId, Step, bound};

/// Why a planner stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It has done all that it does. More time or work would not help: a heuristic has nothing more to try.
    Finished,
    /// The time limit cut in.
    TimeLimit,
    /// The limit on work (search nodes) cut in.
    WorkLimit,
    /// The caller asked it to stop.
    Interrupted,
}

/// Buffers that cannot fit into a space together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The space they would have to be in.
    pub space: SpaceId,
    /// The buffers, in input order.
    pub buffers: Vec<BufferId>,
    /// A step at which they are all alive, if the proof is that simple.
    pub step: Option<Step>,
    /// Bytes they need at least.
    pub needed: Bytes,
    /// The space's capacity.
    pub capacity: Bytes,
}

/// The result of planning. "Does not fit" is an answer, not an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// No plan has a smaller extent.
    Optimal(Plan),
    /// A plan, and an extent below which there is certainly none.
    Feasible {
        /// The plan.
        plan: Plan,
        /// No plan's extent is smaller than this.
        lower_bound: Bytes,
        /// Why the search for a better one ended.
        stop: Stop,
    },
    /// There is no plan within the capacities.
    Infeasible(Witness),
    /// No plan was found, and none was ruled out.
    Exhausted {
        /// Why the search ended.
        stop: Stop,
    },
}

impl Outcome {
    /// Makes an outcome of a finished plan: compares it with the capacities and with the lower bound.
    ///
    /// - The plan fits, and its extent is the lower bound: `Optimal`.
    /// - The plan fits, and is larger than the lower bound: `Feasible`.
    /// - The plan exceeds a capacity, and so does the lower bound: `Infeasible`, and the witness says why.
    /// - The plan exceeds a capacity, and the lower bound does not: `Exhausted`, because another plan may fit.
    pub fn judge(problem: &Problem, plan: Plan, stop: Stop) -> Outcome {
        // A space without a capacity takes any extent.
        let fits = |(space, extent): (SpaceId, &Bytes)| {
            problem.spaces()[space].capacity.is_none_or(|capacity| *extent <= capacity)
        };
        if !plan.extents.iter_enumerated().all(fits) {
            return match bound::overfull(problem) {
                Some(witness) => Outcome::Infeasible(witness),
                None => Outcome::Exhausted { stop },
            };
        }
        let lower_bound =
            if plan.objects.is_empty() { bound::lower_bound(problem) } else { bound::objects_lower_bound(problem) };
        // A size only known at run time counts as 0 in the bound and in the extent, and a shape is no number of
        // bytes. With one of them, equal numbers prove nothing.
        let is_measured = problem.buffers().iter().all(|buffer| buffer.bytes().is_some());
        if is_measured && plan.extent() <= lower_bound {
            Outcome::Optimal(plan)
        } else {
            Outcome::Feasible { plan, lower_bound, stop }
        }
    }

    /// The plan, if there is one.
    pub fn plan(&self) -> Option<&Plan> {
        match self {
            Outcome::Optimal(plan) | Outcome::Feasible { plan, .. } => Some(plan),
            Outcome::Infeasible(_) | Outcome::Exhausted { .. } => None,
        }
    }

    /// The word for it in tables and JSON.
    pub fn status(&self) -> &'static str {
        match self {
            Outcome::Optimal(_) => "optimal",
            Outcome::Feasible { .. } => "feasible",
            Outcome::Infeasible(_) => "infeasible",
            Outcome::Exhausted { .. } => "exhausted",
        }
    }
}
