//! Passes: rewrites of a program with the addresses of its buffers in it.
//!
//! A pass reads a text, plans, and writes the text again. Before the new text
//! of an MLIR pass leaves this module the plan behind it has passed the dataflow
//! check on the program *as it was*; the storage rewrite proves each of its
//! decisions on the loop program itself. A wrong lifetime or a missed alias ends in
//! [`PassFailure::Unsound`], not in a program that computes something else.
//!
//! Adding a pass is one file and one line in [`PASSES`].

pub mod assign_gmem;
mod layout;
mod lower;
mod mlir;
mod storage_rewrite;

use memplan_mlir::pass::{PassOptions, Saving, SpecError};
use memplan_models::ReadError;
use memplan_planner::{Refusal, Request, Strategy};

use crate::pipeline::{Source, Unsound};

pub use layout::Layout;
pub use memplan_mlir::pass::PassSpec;

/// A rewrite.
pub trait Pass: Sync {
    /// The name on the command line.
    fn name(&self) -> &'static str;
    /// One line for listings.
    fn describe(&self) -> &'static str;
    /// The options it has, each with what it does.
    fn options(&self) -> &'static [(&'static str, &'static str)];
    /// Rewrites a text.
    fn run(&self, source: &Source, options: &PassOptions, how: &PassHow) -> Result<Rewritten, PassFailure>;
}

/// How a pass is to plan.
#[derive(Clone, Default)]
pub struct PassHow<'a> {
    /// A strategy instead of the pass's own planner.
    pub strategy: Option<&'static dyn Strategy>,
    /// Options of the strategy.
    pub request: Request<'a>,
    /// The device, for passes that plan on-chip memory.
    pub device: Option<memplan_mlir::pass::plan_memory::Target>,
}

/// A rewritten text.
#[derive(Clone, Debug, Default)]
pub struct Rewritten {
    /// The new text.
    pub text: String,
    /// What was left alone and why, with the place.
    pub notes: Vec<String>,
    /// Bytes before and after.
    pub savings: Vec<Saving>,
    /// Files that the pass was asked to write: a name and the content.
    pub files: Vec<(String, String)>,
    /// What it has planned, for a picture; only passes that plan on-chip memory say so.
    pub layout: Option<Layout>,
}

/// Why there is no new text.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PassFailure {
    /// The input cannot be read, or the pass objects to a place in it.
    #[error(transparent)]
    Input(#[from] ReadError),
    /// The pass was asked for in a way that makes no sense.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The strategy does not take the problem.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// There is no plan.
    #[error("{0}")]
    NoPlan(String),
    /// The input is fine and the answer is no: what the original would do there is wrong, or a memory is too small.
    #[error(transparent)]
    No(ReadError),
    /// Memories are too small; the message says which, and why.
    #[error("{0}")]
    DoesNotFit(String),
    /// A bug.
    #[error(transparent)]
    Unsound(#[from] Unsound),
}

/// All passes, in the order of listings.
pub const PASSES: &[&dyn Pass] = &[
    &mlir::MergeAlloc,
    &mlir::EarlyDealloc,
    &mlir::PlanMemory,
    &assign_gmem::AssignGmem,
    &storage_rewrite::StorageRewrite,
    &lower::Lower,
];

/// The pass of that name.
pub fn find(name: &str) -> Option<&'static dyn Pass> {
    PASSES.iter().copied().find(|pass| pass.name() == name)
}
