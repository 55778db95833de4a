//! The checks that say whether a proposal of the rewriter is right.
//!
//! The rewriter proposes plans and layouts. Whether they are right is decided by checks that know nothing of the
//! rewriter, and the caller brings them: the driver of the facade does so with the ones it judges every other result
//! by. So there is one place in the workspace that decides which checks a result has to pass.

use memplan_core::{Plan, Problem};
use memplan_program::Program;
use memplan_verify::dataflow::{self, SitePlan};
use memplan_verify::packing;

/// The checks that a proposal has to pass.
#[derive(Clone, Copy, Debug)]
pub struct Judge {
    /// Everything in which a plan breaks the rules of its problem.
    pub packing: fn(&Problem, &Plan) -> Vec<packing::Violation>,
    /// Everything in which a plan changes what a program computes.
    pub dataflow: fn(&Program, &SitePlan) -> Vec<dataflow::Violation>,
}
