//! Why there is no result.

use std::time::Duration;

use memplan_core::{ReadError, SpecError, Stop};
use memplan_planner::Refusal;

use crate::finding::Finding;
use crate::target::TargetError;

/// A check rejected what memplan made: a bug in memplan. No result was handed out.
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "`{maker}` made a {what} that does not verify ({} violations, the first: {}); this is a bug in memplan, \
     please report it with the input",
    .findings.len(),
    .findings.first().map_or("not named", |finding| finding.message.as_str())
)]
pub struct Unsound {
    /// The strategy or the front end that made it.
    pub maker: String,
    /// What was made: `plan`, `text` (what was written) or `model` (a changed version of a model).
    pub what: &'static str,
    /// What is wrong with it.
    pub findings: Vec<Finding>,
}

/// The time limit was over, or the caller asked to stop, before there was a result.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{} after {:.1} s, while {stage}; there is no result", self.reason(), .after.as_secs_f64())]
pub struct Stopped {
    /// What was being done, in words that go on from "while": `reading`, `planning`, `checking the
    /// plan`.
    pub stage: &'static str,
    /// The time from the start of the call, or of the caller's own limit, until it was stopped.
    pub after: Duration,
    /// What ended it: the time limit, or the caller (Ctrl-C).
    pub why: Stop,
}

impl Stopped {
    /// Why the work was stopped, as the beginning of a sentence.
    fn reason(&self) -> &'static str {
        match self.why {
            Stop::Interrupted => "interrupted",
            _ => "stopped at the time limit",
        }
    }
}

/// Why there is no result.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The input cannot be read, or the front end objects to a place in it.
    #[error(transparent)]
    Input(#[from] ReadError),
    /// What was asked for makes no sense.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The input cannot be planned on this target.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The strategy does not take the problem.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Nobody waited for the result any more.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// There is no plan; the message says why. A search may have found none, or the input may have
    /// nothing to plan.
    #[error("{0}")]
    NoPlan(String),
    /// The input is fine and the answer is no: what the original would do there is wrong, or a memory is too small.
    #[error(transparent)]
    No(ReadError),
    /// Memories are too small; the message says which, and why.
    #[error("{0}")]
    DoesNotFit(String),
    /// The plan cannot be written in the form asked for.
    #[error("{0}")]
    Form(String),
    /// A strategy of the caller's made a plan that a check rejects.
    #[error(
        "the strategy `{strategy}` made a plan that does not verify ({} violations, the first: {})",
        .findings.len(),
        .findings.first().map_or("not named", |finding| finding.message.as_str())
    )]
    WrongStrategy {
        /// The strategy.
        strategy: String,
        /// What is wrong with its plan.
        findings: Vec<Finding>,
    },
    /// A check rejected what memplan made, and it was not repaired: a bug in memplan.
    #[error(transparent)]
    Unsound(#[from] Unsound),
}
