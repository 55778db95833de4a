//! A function of the planner as a strategy, so that what it makes goes through the driver, too.
//!
//! Some functions of the planner return more than a plan: counters of the search (`corpus`), what
//! stands in the way of a smaller plan (`explain`), how many buffers kept their place (`warm`). The
//! driver only takes a strategy and only hands a plan out. So the function is a closure that stores
//! the rest in a variable of its caller.

use memplan_core::{Outcome, Problem};
use memplan_planner::{Assign, Feature, Refusal, Request, Strategy};

/// A strategy that plans with the function `plan` and answers every other question (its name, which
/// problems it takes) as `base` does.
pub(crate) struct Method<'s, F> {
    /// The strategy whose name it has, and whose limits: the features and the kinds of plan that it
    /// takes.
    pub(crate) base: &'s dyn Strategy,
    /// The function. It must make plans that `base` could have made: with the same features
    /// honoured.
    pub(crate) plan: F,
}

impl<F: Fn(&Problem, &Request) -> Outcome + Sync> Strategy for Method<'_, F> {
    fn name(&self) -> &'static str {
        self.base.name()
    }

    fn describe(&self) -> &'static str {
        self.base.describe()
    }

    fn assigns(&self) -> &'static [Assign] {
        self.base.assigns()
    }

    fn supports(&self, feature: Feature, assign: Assign) -> bool {
        self.base.supports(feature, assign)
    }

    fn refuse(&self, problem: &Problem, request: &Request) -> Option<Refusal> {
        self.base.refuse(problem, request)
    }

    fn plan(&self, problem: &Problem, request: &Request) -> Outcome {
        (self.plan)(problem, request)
    }
}
