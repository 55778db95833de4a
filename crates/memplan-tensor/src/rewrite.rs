//! Storage rewrite: buffers that are not needed at the same time share memory.
//!
//! The pass rewrites a loop program in four steps, each of which makes values that can be printed:
//!
//! ```text
//! collect            decide                           check      apply
//! Sequence, Events   Pool, Layout (entries, offsets)  conflicts  Function
//! ```
//!
//! A [`Sequence`] is the list of the function's statements with the buffers that each touches, and [`Events`] say
//! which statement is the first and which the last to touch a buffer. The [`Pool`] groups buffers into *entries*:
//! memory that buffers use one after the other. The [`Layout`] says for each allocation of the new function where it
//! stands and how large it is, and for each buffer in which allocation it lies and at what offset.
//!
//! [`check`] does not know how the layout was found, and it asks a [`Judge`] that the caller passes in: nothing in
//! this crate judges its own proposals. Pairs of buffers that the judge objects to are kept [`Apart`], and the
//! function is laid out again. A mistake in our proof that a pair may share therefore costs memory and never gives a
//! wrong result.
//!
//! In [`Mode::Sound`] (the default) the result computes what the input computes. [`Mode::Compat`] makes the decisions
//! of TVM's `StorageRewrite` and then checks them: where they are right the result has the same allocations; where
//! they are not, the rewrite is refused with the [`Defect`] by name. No option brings a wrong result back.

mod apart;
mod apply;
mod arena;
mod beside;
mod check;
mod error;
mod events;
mod hazard;
mod inplace;
mod judge;
mod layout;
mod listing;
mod pool;
mod retype;
mod sequence;
mod shelf;
mod size;

pub use crate::lower::Conflict;
pub use apart::Apart;
pub use error::{Defect, RewriteError};
pub use events::{BufferLists, Events, events};
pub use judge::Judge;
pub use layout::{Allocation, AllocationId, Layout, Place};
pub(crate) use listing::below;
pub use listing::{AllocationSite, BufferPlace, allocation_sites, total_bits};
pub use pool::{Attach, Entry, EntryId, InPlace, Pool, plan_pool};
pub use sequence::{Record, Sequence, StmtId, Touches, linearize};

use crate::ir::Function;
use crate::lower;
use memplan_program::ProgramError;
use std::time::Duration;

/// Whose decisions to make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Ours: only what is proved to change nothing.
    #[default]
    Sound,
    /// TVM's, checked afterwards.
    Compat,
}

/// The capacity of a tagged memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    /// The scope, with its tag: `local.L0A`.
    pub scope: String,
    /// Bits that one block may have.
    pub max_bits: u64,
}

/// How to rewrite.
#[derive(Clone, Debug, Default)]
pub struct RewriteOptions {
    /// Whose decisions.
    pub mode: Mode,
    /// Capacities of tagged memories.
    pub limits: Vec<MemoryLimit>,
    /// Make buffers with several dimensions flat first.
    pub flatten: bool,
    /// A planning strategy to lay out one arena per memory with, instead of sharing whole entries.
    pub strategy: Option<String>,
    /// Wall-clock limit for strategies that search; `None` is the strategy's own.
    pub time_limit: Option<Duration>,
    /// Seed for strategies that draw random numbers.
    pub seed: u64,
}

/// A rewritten function and how it came about.
#[derive(Clone, Debug)]
pub struct Rewritten {
    /// The new function.
    pub function: Function,
    /// Which buffers share, and why.
    pub pool: Pool,
    /// Where everything is.
    pub layout: Layout,
    /// What the check found wrong with earlier layouts. The layout above avoids all of it.
    pub repairs: Vec<Conflict>,
}

pub(crate) use sequence::strided_roots;
pub(crate) use size::product as multiply;

/// Layouts to try before giving up: each keeps the pairs apart that the check named for those before.
const MOST_LAYOUTS: usize = 8;

/// A function with what the rewriter reads off it: the first step.
#[derive(Clone, Debug)]
pub struct Collected<'f> {
    /// The function as a list of events.
    pub sequence: Sequence<'f>,
    /// Where buffers come to life and where they die.
    pub events: Events,
}

/// Reads a function.
pub fn collect(function: &Function) -> Collected<'_> {
    let sequence = linearize(function);
    let events = events(&sequence);
    Collected { sequence, events }
}

/// Which buffers share, and where everything goes: the second step.
#[derive(Clone, Debug)]
pub struct Decision {
    /// Which buffers share, and why.
    pub pool: Pool,
    /// Where everything is.
    pub layout: Layout,
}

/// Lays out a function; the pairs of `apart` do not share memory. In [`Mode::Compat`] it is an error if the original
/// cannot handle the function, or if one of its known mistakes ([`Defect`]) occurs.
pub fn decide(
    collected: &Collected<'_>,
    options: &RewriteOptions,
    apart: &Apart,
    judge: Judge,
) -> Result<Decision, RewriteError> {
    let Collected { sequence, events } = collected;
    if options.mode == Mode::Compat {
        check::input(sequence)?;
    }
    let pool = plan_pool(sequence, events, options.mode, apart)?;
    // With a strategy the buffers get offsets in arenas, without one each entry becomes an allocation.
    let mut layout = match &options.strategy {
        Some(strategy) => arena::lay_out_arenas(sequence, events, &pool, strategy, options, apart, judge)?,
        None => layout::lay_out(sequence, &pool, options.mode, &options.limits)?,
    };
    if options.mode == Mode::Compat {
        check::decisions(sequence, &pool, &layout)?;
    }
    // Memory that is only accessed as vectors becomes an allocation of vectors.
    retype::retype(sequence, &mut layout, options.mode)?;
    Ok(Decision { pool, layout })
}

/// Everything in which a layout changes what the function computes: the third step. It knows nothing of how the layout
/// was found.
pub fn check(function: &Function, layout: &Layout, judge: Judge) -> Result<Vec<Conflict>, RewriteError> {
    lower::check_layout(function, layout, judge).map_err(unsound)
}

/// The function with its allocations laid out: the fourth step.
pub fn apply(function: Function, layout: &Layout) -> Function {
    apply::apply(function, layout, true)
}

/// Rewrites a function so that buffers share memory.
pub fn storage_rewrite(function: &Function, options: &RewriteOptions, judge: Judge) -> Result<Rewritten, RewriteError> {
    if options.flatten {
        return rewrite_owned(crate::flatten::flatten_buffers(function), options, judge);
    }
    let accepted = accepted_layout(function, options, judge)?;
    Ok(accepted.rewritten(|| function.clone()))
}

/// Like [`storage_rewrite`], without a copy of the function.
pub fn storage_rewrite_owned(
    function: Function,
    options: &RewriteOptions,
    judge: Judge,
) -> Result<Rewritten, RewriteError> {
    let function = if options.flatten { crate::flatten::flatten_buffers(&function) } else { function };
    rewrite_owned(function, options, judge)
}

/// Rewrites a function that is flat if it has to be.
fn rewrite_owned(function: Function, options: &RewriteOptions, judge: Judge) -> Result<Rewritten, RewriteError> {
    let accepted = accepted_layout(&function, options, judge)?;
    Ok(accepted.rewritten(|| function))
}

/// A layout that the judge accepts.
struct Accepted {
    decision: Decision,
    /// What the check found wrong with the layouts before it.
    repairs: Vec<Conflict>,
    /// Whether some statement of the function uses the bare address of a buffer.
    has_addresses: bool,
    /// The new function, if it was made beside the check.
    function: Option<Function>,
}

impl Accepted {
    /// The rewritten function. `original` is asked for the function as it was, unless the new one is there already.
    fn rewritten(self, original: impl FnOnce() -> Function) -> Rewritten {
        let Decision { pool, layout } = self.decision;
        let function = self.function.unwrap_or_else(|| apply::apply(original(), &layout, self.has_addresses));
        Rewritten { function, pool, layout, repairs: self.repairs }
    }
}

/// Lays out a function until the judge accepts the layout.
///
/// Of a large function, what is checked is made at the same time as the first decision, and the new function at the
/// same time as the check. A function that was made for a layout that the judge rejects is thrown away.
fn accepted_layout(function: &Function, options: &RewriteOptions, judge: Judge) -> Result<Accepted, RewriteError> {
    if options.strategy.is_some() && options.mode == Mode::Compat {
        return Err(RewriteError::Strategy { message: "`compat` and `plan` exclude each other".to_owned() });
    }
    let mut apart = Apart::default();
    let mut repairs = Vec::new();
    let threads = beside::Threads::for_parts(function.buffers.len());
    let collect_and_decide = || {
        let collected = collect(function);
        let first = decide(&collected, options, &Apart::default(), judge);
        (collected, first)
    };
    let ((collected, first), mut outline) = threads.run(collect_and_decide, || lower::outline(function));
    let has_addresses = collected.sequence.has_addresses;
    let mut first = Some(first);
    // Each round keeps at least one more pair apart, so the layouts end; the limit only guards against a judge
    // that names pairs one by one.
    for _ in 0..MOST_LAYOUTS {
        let decision = first.take().unwrap_or_else(|| decide(&collected, options, &apart, judge))?;
        let question = lower::Question::new(function, &decision.layout, outline.take());
        let (conflicts, function_beside) = threads.run(
            || question.conflicts(judge).map_err(unsound),
            || apply::apply(function.clone(), &decision.layout, has_addresses),
        );
        let conflicts = conflicts?;
        let Some(first_conflict) = conflicts.first() else {
            return Ok(Accepted { decision, repairs, has_addresses, function: function_beside });
        };
        // The compatible mode has to make the original's decisions. If one of them is unsound there is nothing to
        // repair.
        if options.mode == Mode::Compat {
            return Err(not_proved(function, first_conflict));
        }
        let known = apart.len();
        apart.extend(conflicts.iter().flat_map(|conflict| conflict.pairs.iter().copied()));
        let names_nobody_new = apart.len() == known;
        repairs.extend(conflicts);
        // The judge objects to a layout that already keeps all of its pairs apart. Another round would give the same
        // layout again.
        if names_nobody_new {
            break;
        }
    }
    // No layout was accepted. The last objection stands for all of them.
    let message = repairs.pop().map_or_else(String::new, |conflict| conflict.message);
    Err(RewriteError::Unsound { message })
}

/// The error for a function that cannot be checked.
fn unsound(error: ProgramError) -> RewriteError {
    RewriteError::Unsound { message: error.to_string() }
}

/// The error for a decision of the original that cannot be shown to be right. It names the second buffer of the first
/// pair that the check objects to, or none if the check names no pair.
fn not_proved(function: &Function, conflict: &Conflict) -> RewriteError {
    let buffer = conflict.pairs.first().map_or_else(String::new, |(_, buffer)| function.buffers[*buffer].name.clone());
    RewriteError::Refused { defect: Defect::InPlaceOverwrite, buffer, span: conflict.span }
}
