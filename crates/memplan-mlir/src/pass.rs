//! Passes over MLIR text: what they are asked and what they answer.
//!
//! A pass never changes a document. It looks at it, plans everything, and hands
//! back [`Edits`] together with the plan they carry out, so that the plan can be
//! checked against the original program before anybody sees the new text.

pub mod assign_gmem;
pub mod early_dealloc;
pub mod merge_alloc;
pub mod plan_memory;

use std::collections::BTreeMap;

use memplan_core::{IndexVec, Placement, SpaceId, Span, patience};
use memplan_program::{OpId, SiteId};

use crate::{ApplyError, Edits};

pub use memplan_core::{PassOptions, PassSpec, SpecError};

/// What a pass did.
#[derive(Clone, Debug)]
pub struct Rewrite {
    /// The changes to the text.
    pub edits: Edits,
    /// Where the sites of the program now live; `None` for those with memory of their own.
    pub placements: IndexVec<SiteId, Option<Placement>>,
    /// For each new space, the scope op whose instances each have a copy of that space.
    pub owners: BTreeMap<SpaceId, OpId>,
    /// What the user should know, with the place it is about.
    pub remarks: Vec<Remark>,
    /// Bytes before and after, a row for each new allocation.
    pub stats: Vec<Saving>,
}

/// A remark about a place in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// The place.
    pub span: Span,
    /// The remark.
    pub message: String,
}

/// What became of the buffers of one scope and memory space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saving {
    /// The function.
    pub function: String,
    /// The scope op's name, and the memory space if it is not the default one.
    pub scope: String,
    /// Number of buffers.
    pub buffers: usize,
    /// Sum of their sizes in bytes.
    pub before: u64,
    /// Size of the new allocation in bytes.
    pub after: u64,
    /// No plan with these lifetimes needs fewer bytes.
    pub lower_bound: u64,
}

/// Why a pass failed. The text is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PassError {
    /// The options make no sense.
    #[error(transparent)]
    Options(#[from] SpecError),
    /// The program cannot be handled; the message is about the op at the span.
    #[error("{message}")]
    Op {
        /// The op.
        span: Span,
        /// What is wrong with it.
        message: String,
    },
    /// The strategy does not take the problem.
    #[error(transparent)]
    Refused(#[from] memplan_planner::Refusal),
    /// The strategy found no plan, within its limits or at all.
    #[error("strategy `{strategy}` found no plan")]
    NoPlan {
        /// The strategy.
        strategy: &'static str,
    },
    /// On-chip memories are too small.
    #[error("{}", list(.0))]
    DoesNotFit(Vec<plan_memory::Overflow>),
    /// The program's numbers are too large.
    #[error(transparent)]
    Problem(#[from] memplan_core::ProblemError),
    /// The caller's patience is over (time limit, Ctrl-C), so the pass gave up.
    #[error("the pass was stopped")]
    Stopped,
    /// The changes contradict each other: a bug.
    #[error("the rewrite is inconsistent: {0}")]
    Edits(#[from] ApplyError),
}

/// Called between the steps of a pass: an error if the caller's patience is over.
fn still_waiting() -> Result<(), PassError> {
    if patience::is_over_now() { Err(PassError::Stopped) } else { Ok(()) }
}

/// The messages and reports of all memories that are too small, one below the other.
fn list(overflows: &[plan_memory::Overflow]) -> String {
    let one = |overflow: &plan_memory::Overflow| format!("{}\n{}", overflow.message, overflow.report);
    overflows.iter().map(one).collect::<Vec<_>>().join("\n")
}
