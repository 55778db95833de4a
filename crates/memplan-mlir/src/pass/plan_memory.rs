//! plan-memory: an address for every on-chip buffer of an NPU kernel.
//!
//! ```text
//!   %a = memref.alloc() : memref<256xf32, #hivm.address_space<ub>>
//!                                   ──►   %a = hivm.hir.pointer_cast(%c0_i64) : memref<256xf32, …>
//! ```
//!
//! On-chip memories (*scopes*) are small, and programs use them by addresses that the
//! compiler chooses. Several engines (*pipes*) work on them at once: when a buffer takes
//! over the bytes of another one, an engine may have to wait for another. The steps, each
//! a file:
//!
//! 1. `target`: which scopes the device has, how large, how aligned;
//! 2. `function`: the buffers of a function and when they are in use: from the
//!    first write to the last read, through every alias, over loops and branches.
//!    A buffer that has an address already keeps it (`fixed`), and others keep off its bytes.
//!    Buffers that no fixed address can serve are refused (`handed_out`) or left alone;
//! 3. `pipes`: which engine uses which buffer (in which loop: `home`), and `coalesce`: which buffers get
//!    one address because a result is computed in place of an input (its *donor*), or because
//!    control flow makes one value of them. `interference` says whether that is right;
//! 4. `problem`: all of that as a packing problem. The planner's strategy `levels` solves it: it puts
//!    buffers side by side if all fit. Else buffers share bytes, at first only those of one pipe
//!    (a high level), at last any two whose lives are apart (the lowest level). Where that fails, the
//!    strategy `search` is asked. A strategy that knows reuse costs gets them from `waits`: which ops
//!    would have to wait for which others, beyond those that are ordered anyway (`order`);
//! 5. `emit`: `pointer_cast` with one address, or one for each slot of a
//!    multi-buffer, in place of the allocations; or `overflow`: why it does not fit.
//!
//! `workspace` does the same for buffers in global memory that are used to hand
//! data from one core to the other, `display` writes the plan down.

mod coalesce;
mod display;
mod emit;
mod fixed;
mod function;
mod handed_out;
mod home;
mod interference;
mod options;
mod order;
mod overflow;
mod pipes;
mod problem;
mod target;
mod waits;
mod workspace;

use memplan_analysis::{Aliases, Beyond, Lifetimes, OpTree};
use memplan_core::{IndexVec, Plan, Problem};
use memplan_planner::strategy::levels::Report;
use memplan_planner::{Request, Strategy};
use memplan_program::{Apart, SiteId};

use super::{PassError, Rewrite, still_waiting};
use crate::{Document, Lowered, ValueId};

pub use options::{MemoryMode, OPTIONS, Options, Profile};
pub use overflow::Overflow;
pub use target::{Cache, Pipe, Scope, Target, TargetError, Touches};

/// The message about a buffer that a loop fills again while an older instance is still read, where no number of slots
/// can keep the two apart.
const NO_FIXED_ADDRESS: &str =
    "an outer loop still reads the buffer of an earlier iteration when this one is filled: no fixed address will do";

/// The kernels of a module from all sides that the pass needs: their text, their program with aliases and lifetimes, and
/// what the device and the user say.
pub(super) struct KernelView<'a> {
    pub(super) document: &'a Document,
    pub(super) lowered: &'a Lowered,
    pub(super) aliases: &'a Aliases,
    pub(super) tree: &'a OpTree,
    pub(super) lifetimes: &'a Lifetimes,
    pub(super) options: &'a Options,
    /// The device the user names, instead of the module's.
    pub(super) target: Option<&'a Target>,
    /// The pipes of ops that the user's device file names; empty without a file.
    pub(super) pipes: &'a [Pipe],
    /// Buffers that must not share memory, because the dataflow check has rejected an earlier plan in which they did.
    pub(super) apart: &'a Apart,
}

impl KernelView<'_> {
    /// The buffers a value of the text may be.
    pub(super) fn sites_of(&self, value: ValueId) -> &[SiteId] {
        self.lowered.value(value).map_or(&[], |value| self.aliases.sites(value))
    }

    /// For each site whether some op writes it: `None` if no op touches it, `Some(false)` if it is only read.
    pub(super) fn written(&self) -> IndexVec<SiteId, Option<bool>> {
        let program = &self.lowered.program;
        let mut written = IndexVec::filled(None, program.sites().len());
        for (op, info) in program.ops().iter_enumerated() {
            // `by` says whether the op writes the sites or only reads them.
            let mut mark = |sites: &[SiteId], by: bool| {
                for &site in sites {
                    let entry: &mut Option<bool> = &mut written[site];
                    *entry = Some(entry.unwrap_or(false) || by);
                }
            };
            // A buffer that is passed to a function counts as written, even if the function's body is empty: some
            // tools print kernels without the bodies of vector functions.
            let document_op = self.lowered.ops[op];
            if self.document.info(document_op).traits.has(crate::dialect::Traits::CALL) {
                self.document.operands(document_op).iter().for_each(|&value| mark(self.sites_of(value), true));
            }
            info.accesses.iter().for_each(|access| mark(self.aliases.sites(access.value), access.kind.writes()));
        }
        written
    }
}

/// What became of one function.
#[derive(Clone, Debug)]
pub struct PlannedFunction {
    /// Its name.
    pub name: String,
    /// Its buffers; spaces are the scopes in use.
    pub problem: Problem,
    /// Where they are.
    pub plan: Plan,
    /// What the strategy `levels` says about its plan: each buffer's level, and which buffers take over bytes of
    /// another pipe. `None` for a plan of another strategy.
    pub report: Option<Report>,
    /// What its reuse costs, and what it would cost by levels; `None` if the strategy does not look at waits.
    pub waits: Option<Waits>,
    /// The site behind each of the first buffers of the problem.
    pub sites: Vec<SiteId>,
    /// The casts behind the others, which have had their addresses all along.
    pub fixed: Vec<crate::OpId>,
}

/// The waits that sharing bytes adds to a kernel: the sum of their weights (see `waits`: a wait in a loop weighs
/// more).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits {
    /// In this plan.
    pub here: u64,
    /// No plan that fits has less.
    pub at_least: u64,
    /// In the plan that `levels` makes; `None` if it makes none.
    pub by_levels: Option<u64>,
}

/// What the pass did.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The changes, and the placements behind them.
    pub rewrite: Rewrite,
    /// The functions with on-chip buffers.
    pub functions: Vec<PlannedFunction>,
    /// Files to write: a name and the content.
    pub files: Vec<(String, String)>,
}

/// Runs the pass. If the user names no strategy, buffers are placed by `levels`, and by `search` where that saves
/// waits; with the option `compat` by `levels` alone.
pub fn run(
    document: &Document,
    lowered: &Lowered,
    options: &Options,
    target: Option<&Target>,
    strategy: Option<&dyn Strategy>,
    request: &Request,
    apart: &Apart,
) -> Result<Planned, PassError> {
    let program = &lowered.program;
    let aliases = Aliases::new(program);
    let tree = OpTree::new(program);
    still_waiting()?;
    // A buffer that a loop hands on is alive in the whole loop. `Prolong` says so, instead of giving the buffer
    // up as untraceable.
    let lifetimes = Lifetimes::with(program, &aliases, &tree, Beyond::Prolong);
    still_waiting()?;
    let view = KernelView {
        document,
        lowered,
        aliases: &aliases,
        tree: &tree,
        lifetimes: &lifetimes,
        options,
        target,
        pipes: target.map_or(&[], |target| &target.pipes),
        apart,
    };
    match options.mode {
        MemoryMode::Local => {
            let planned = function::plan_all(&view, strategy, request)?;
            still_waiting()?;
            Ok(emit::emit(&view, planned))
        }
        MemoryMode::Workspace => workspace::run(&view, request),
    }
}
