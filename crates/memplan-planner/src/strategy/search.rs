//! `search`: as small as time allows, with a proof or a certified gap.
//!
//! See [`crate::search`] for how it works. It spends what the effort or the limit on work allows. With capacities it
//! stops at the first plan that fits. Unlike [`auto`](super::auto) it does not ask other strategies in the end.

use memplan_core::{Outcome, Problem};

use super::Strategy;
use super::ordered_fit::{has_addresses, too_many_dependencies};
use crate::{Assign, Feature, Refusal, Request, search};

/// The strategy. See the module documentation.
pub struct Search;

impl Strategy for Search {
    fn name(&self) -> &'static str {
        "search"
    }

    fn describe(&self) -> &'static str {
        "exact branch and bound with an anytime improver: optimal with proof, or the gap"
    }

    fn assigns(&self) -> &'static [Assign] {
        &[Assign::Offsets]
    }

    fn supports(&self, feature: Feature, _assign: Assign) -> bool {
        has_addresses(feature)
    }

    fn refuse(&self, problem: &Problem, _request: &Request) -> Option<Refusal> {
        too_many_dependencies(self.name(), problem)
    }

    fn plan(&self, problem: &Problem, request: &Request) -> Outcome {
        search::search(problem, request).outcome
    }
}
