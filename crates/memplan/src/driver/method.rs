//! A function of the planner as a strategy, so that what it makes goes through the driver, too.

use memplan_core::{Outcome, Problem};
use memplan_planner::{Assign, Feature, Refusal, Request, Strategy};

/// A function that plans as `base` does and finds out more on the way. What it finds out besides the plan
/// stays with the code that made the function.
pub(crate) struct Method<'s, F> {
    /// The strategy whose name and limits it has.
    pub(crate) base: &'s dyn Strategy,
    /// The function.
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
