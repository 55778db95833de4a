//! merge-alloc: one allocation per scope and memory space, and a view for every buffer.
//!
//! ```text
//!   %a = memref.alloc() : memref<16xf32>      %merged = memref.alloc() {alignment = 64 : i64} : memref<128xi8>
//!   %b = memref.alloc() : memref<16xf32>      %o0 = arith.constant 0 : index
//!   …                                   ──►   %a = memref.view %merged[%o0][] : memref<128xi8> to memref<16xf32>
//!                                             %o1 = arith.constant 64 : index
//!                                             %b = memref.view %merged[%o1][] : memref<128xi8> to memref<16xf32>
//! ```
//!
//! The steps, each a file:
//!
//! 1. `candidates`: which allocations can be merged, and why the others cannot;
//! 2. `home`: for each its *scope*, the op whose block gets the new allocation,
//!    and the parallel loops it is hoisted out of on the way there;
//! 3. `frames`: which buffers are placed together. A hoisted buffer exists once in each iteration. So the buffers of
//!    one iteration of a parallel loop are packed into a *frame*, and the frames of all iterations lie side by side,
//!    as one large buffer of the scope (or of the next parallel loop) around. No two iterations ever share a byte.
//!    Buffers that branches give back in each other's place (`branches`) are one member of a frame where that saves
//!    memory;
//! 4. `emit`: the new text.
//!
//! With the option `analysis-only` nothing is merged, and `annotate` writes the lifetimes into the text.
//!
//! Everything is planned before anything is changed.

mod annotate;
mod branches;
mod candidates;
mod emit;
mod frames;
mod home;

use memplan_analysis::{Aliases, Lifetimes, OpTree};
use memplan_planner::{Request, Strategy};
use memplan_program::Apart;

use super::{PassError, PassOptions, Rewrite, SpecError, still_waiting};
use crate::{Document, Lowered};

/// The two planners of the pass: the option `planner-options`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Planner {
    /// Prefers recently freed memory.
    #[default]
    CostModel,
    /// Prefers the best fit.
    SizeFirst,
}

/// Options of the pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Only annotate lifetimes.
    pub analysis_only: bool,
    /// Which of the two planners.
    pub planner: Planner,
    /// Alignment of the merged allocation and of every buffer in it.
    pub alignment: u64,
    /// Do as the original pass does: fail where it fails, and share no memory that it does not share.
    pub compat: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { analysis_only: false, planner: Planner::CostModel, alignment: 64, compat: false }
    }
}

impl Options {
    /// Reads the options as written.
    pub fn parse(options: &PassOptions) -> Result<Options, SpecError> {
        let mut parsed = Options::default();
        for (key, value) in options.iter() {
            match key {
                "analysis-only" => parsed.analysis_only = PassOptions::flag("analysis-only", value)?,
                "compat" => parsed.compat = PassOptions::flag("compat", value)?,
                "planner-options" => parsed.planner = planner(value.unwrap_or_default())?,
                "alignment" => parsed.alignment = alignment(value.unwrap_or_default())?,
                _ => {
                    let known = ["analysis-only", "planner-options", "alignment", "compat"];
                    return Err(PassOptions::unknown("merge-alloc", key, &known));
                }
            }
        }
        Ok(parsed)
    }
}

/// The planner that the option names.
fn planner(text: &str) -> Result<Planner, SpecError> {
    match text {
        "" | "cost-model" => Ok(Planner::CostModel),
        "size-first" => Ok(Planner::SizeFirst),
        found => {
            let expected = "cost-model or size-first";
            Err(SpecError::Value { option: "planner-options", expected, found: found.to_owned() })
        }
    }
}

/// The alignment that the option gives, in bytes.
fn alignment(text: &str) -> Result<u64, SpecError> {
    // MLIR takes only powers of two as an allocation's alignment.
    let value = text.parse::<u64>().ok().filter(|&value| value.is_power_of_two() && value <= 1 << 32);
    value.ok_or_else(|| SpecError::Value {
        option: "alignment",
        expected: "a number of bytes that is a power of two, up to 4294967296",
        found: text.to_owned(),
    })
}

/// A bufferized module from all sides that the pass needs: its text, its program with aliases and lifetimes, and what
/// the user says.
pub(super) struct BufferizedView<'a> {
    pub(super) document: &'a Document,
    pub(super) lowered: &'a Lowered,
    /// This and the next two are empty once the buffers to merge and their homes are known; see `forget_analyses`.
    pub(super) aliases: Aliases,
    pub(super) tree: OpTree,
    pub(super) lifetimes: Lifetimes,
    pub(super) options: Options,
    /// Buffers that must not share memory, because the dataflow check has rejected an earlier plan in which they did.
    pub(super) apart: &'a Apart,
}

impl BufferizedView<'_> {
    /// Gives back the memory of the aliases, the tree and the lifetimes. Nothing asks for them once the buffers to
    /// merge, their homes and their twins are known, and planning the largest frame is where the pass needs most
    /// memory.
    fn forget_analyses(&mut self) {
        self.aliases = Aliases::default();
        self.tree = OpTree::default();
        self.lifetimes = Lifetimes::default();
    }
}

/// Runs the pass. Without a strategy the planner that the options name is used.
pub fn run(
    document: &Document,
    lowered: &Lowered,
    options: Options,
    strategy: Option<&dyn Strategy>,
    request: &Request,
    apart: &Apart,
) -> Result<Rewrite, PassError> {
    let program = &lowered.program;
    let aliases = Aliases::new(program);
    let tree = OpTree::new(program);
    still_waiting()?;
    let lifetimes = Lifetimes::new(program, &aliases, &tree);
    still_waiting()?;
    let mut view = BufferizedView { document, lowered, aliases, tree, lifetimes, options, apart };
    if options.compat {
        candidates::refuse_what_the_original_refuses(&view)?;
    }
    // Only annotations are asked for: the text keeps its allocations.
    if options.analysis_only {
        return Ok(annotate::annotate(&view));
    }
    let mut candidates = candidates::find(&view);
    let homes = home::find(&view, &mut candidates);
    let twins = branches::twins(&view, &candidates.list, &homes);
    view.forget_analyses();
    still_waiting()?;
    let frames = frames::plan(&view, &candidates.list, &twins, &homes, strategy, request)?;
    still_waiting()?;
    Ok(emit::emit(&view, candidates, &homes, &frames))
}
