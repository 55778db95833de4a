//! `greedy-best`: the better of `greedy-by-size` and `greedy-by-breadth`.
//!
//! Both make shared objects; neither is always better. `greedy-by-size` is kept
//! unless `greedy-by-breadth` needs strictly less:
//!
//! ```text
//!   MobileNet v2 (65 tensors)   by size 6.699 MiB   by breadth 6.891 MiB   -> by size
//! ```
//!
//! Every space is decided for itself.

use memplan_core::{Bytes, Outcome, Problem};

use super::greedy_by_breadth::share_by_breadth;
use super::greedy_by_size::share_by_size;
use crate::records::{Record, supports_records};
use crate::sharing::{Sharing, plan_sharing};
use crate::{Assign, Feature, Request, Strategy};

/// See the module documentation.
pub struct GreedyBest;

impl Strategy for GreedyBest {
    fn name(&self) -> &'static str {
        "greedy-best"
    }

    fn describe(&self) -> &'static str {
        "the better of greedy-by-size and greedy-by-breadth"
    }

    fn assigns(&self) -> &'static [Assign] {
        &[Assign::Objects, Assign::Offsets]
    }

    fn supports(&self, feature: Feature, _: Assign) -> bool {
        supports_records(feature)
    }

    fn plan(&self, problem: &Problem, request: &Request) -> Outcome {
        plan_sharing(problem, request.assign, |records| share_best(records, request.ceiling))
    }
}

/// The sharing with the smaller sum of object sizes, of the two that did not give up. `None` if both gave up: at the
/// ceiling, or because the caller's patience has ended.
fn share_best(records: &[Record], ceiling: Option<Bytes>) -> Option<Sharing> {
    let both = [share_by_size(records, ceiling), share_by_breadth(records, ceiling)];
    // `min_by_key` keeps the first of two sharings that are equally good.
    both.into_iter().flatten().min_by_key(Sharing::total)
}
