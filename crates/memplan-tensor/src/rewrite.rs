//! Storage rewrite: buffers that are not needed at the same time share memory.
//!
//! The pass reads a flat loop program in five steps, each a value that can be printed:
//!
//! ```text
//! Function -> Sequence -> Events -> Pool -> Layout -> Function
//!             (scopes)   (gen/kill) (entries) (offsets)
//! ```
//!
//! In [`Mode::Sound`] (the default) the result computes what the input computes. [`Mode::Compat`] makes the decisions of TVM's
//! `StorageRewrite` and then checks them: where they are right the result has the same allocations; where they are not, the
//! rewrite is refused with the [`Defect`] by name. No option brings a wrong result back.

mod apply;
mod arena;
mod check;
mod events;
mod hazard;
mod inplace;
mod layout;
mod listing;
mod pool;
mod retype;
mod sabotage;
mod sequence;
mod size;
#[cfg(test)]
mod tests;

pub use events::{Events, events};
pub use layout::{Allocation, AllocationId, Layout, Place};
pub use listing::{AllocationSite, BufferPlace, allocation_sites, total_bits};
pub use pool::{Attach, Entry, EntryId, InPlace, Pool, plan_pool};
pub use sequence::{Record, Sequence, StmtId, linearize};

use crate::ir::{BufId, Function};
use memplan_core::Span;
use std::fmt;
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
    /// Leave the final dataflow check out.
    pub unchecked: bool,
}

/// What is wrong with a decision of the original.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Defect {
    /// A destination computed in place although one of its elements is written before the source element is read, or the source
    /// is written after.
    InPlaceOverwrite,
    /// An extent that uses a loop variable, hoisted out of the loop.
    LoopExtent,
    /// An allocation retyped to narrower elements without more of them.
    ShrunkAllocation,
    /// The bare address of a buffer inside a block, without its offset.
    BareAddress,
    /// A buffer in a block at an offset that is no multiple of its element.
    IndivisibleOffset,
    /// A thread launch inside a parallel loop, or a virtual thread inside a launch.
    NestedScopes,
    /// The private buffer of an inner parallel loop, shared by its iterations.
    SharedPrivate,
    /// A symbolic extent in a tagged memory.
    SymbolicTag,
    /// A buffer with several dimensions.
    NotFlat,
    /// Scalars and vectors in one allocation that starts as scalars.
    MixedLanes,
    /// A vectorized loop.
    VectorizedLoop,
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Defect::InPlaceOverwrite => {
                "in-place overwrite: the result would be written over operands that are still needed"
            }
            Defect::LoopExtent => {
                "loop-dependent extent: the allocation would be hoisted out of the loop that defines its size"
            }
            Defect::ShrunkAllocation => "shrunk allocation: its elements would become narrower without becoming more",
            Defect::BareAddress => "bare address: the buffer's address would lose its offset inside the merged block",
            Defect::IndivisibleOffset => {
                "indivisible offset: the offset inside the merged block is no multiple of the element size"
            }
            Defect::NestedScopes => "nested thread scopes: a thread launch inside a parallel region is not handled",
            Defect::SharedPrivate => {
                "shared private buffer: iterations of an inner parallel loop would share one buffer"
            }
            Defect::SymbolicTag => "symbolic size in tagged memory: it must be constant there",
            Defect::NotFlat => "several dimensions: buffers must be flattened first",
            Defect::MixedLanes => "mixed lanes: a vector buffer in an allocation of scalars is not handled",
            Defect::VectorizedLoop => "vectorized loop: it must be lowered first",
        })
    }
}

/// Why a function was not rewritten.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RewriteError {
    /// The decision of the original is wrong here (or it fails itself).
    #[error("refused{}: {defect}; without `compat` the function is rewritten correctly", quoted(buffer))]
    Refused {
        /// What is wrong.
        defect: Defect,
        /// The buffer concerned, if one is.
        buffer: String,
        /// The statement or declaration concerned.
        span: Span,
    },
    /// A size that does not fit.
    #[error("`{buffer}` is too large: its size in bits does not fit 63 bits")]
    TooLarge {
        /// The buffer.
        buffer: String,
        /// Its declaration.
        span: Span,
    },
    /// A tagged memory that is too small.
    #[error("Allocation exceed bound of memory tag {scope}: {bits} bits are needed, {max_bits} are there")]
    ExceedsMemory {
        /// The memory.
        scope: String,
        /// What is needed.
        bits: u64,
        /// What there is.
        max_bits: u64,
    },
    /// Our own mistake: the dataflow check rejects the result.
    #[error(
        "the rewritten program would be wrong ({message}); this is a bug in memplan, please report it with the input"
    )]
    Unsound {
        /// What the check found.
        message: String,
    },
    /// A strategy that cannot lay out an arena.
    #[error("{message}")]
    Strategy {
        /// Why.
        message: String,
    },
}

fn quoted(buffer: &str) -> String {
    if buffer.is_empty() { String::new() } else { format!(" for `{buffer}`") }
}

impl RewriteError {
    /// Where in the source.
    pub fn span(&self) -> Span {
        match self {
            RewriteError::Refused { span, .. } | RewriteError::TooLarge { span, .. } => *span,
            RewriteError::ExceedsMemory { .. } | RewriteError::Unsound { .. } | RewriteError::Strategy { .. } => {
                Span::default()
            }
        }
    }
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
}

pub(crate) use size::product as multiply;

/// Pairs (destination, source) of a statement for which computing in place is proved right.
pub(crate) fn proved_pairs(
    sequence: &Sequence<'_>,
    events: &Events,
    stmt: StmtId,
    budget: &mut u64,
) -> Vec<(BufId, BufId)> {
    arena::pairs(events, stmt)
        .filter_map(|(dst, src)| arena::may_overlay(sequence, events, stmt, dst, src, budget))
        .map(|step| (step.dst, step.src))
        .collect()
}

/// The steps of a layout that are proved right, each on its own.
pub(crate) fn proved_steps<'a>(sequence: &Sequence<'_>, layout: &'a Layout) -> impl Iterator<Item = &'a InPlace> {
    layout.in_place.iter().filter(|step| {
        let mut unlimited = u64::MAX;
        arena::is_proved(sequence, **step, &mut unlimited)
    })
}

/// Rewrites a function so that buffers share memory.
pub fn storage_rewrite(function: &Function, options: &RewriteOptions) -> Result<Rewritten, RewriteError> {
    storage_rewrite_owned(function.clone(), options)
}

/// Like [`storage_rewrite`], without a copy of the function.
pub fn storage_rewrite_owned(function: Function, options: &RewriteOptions) -> Result<Rewritten, RewriteError> {
    if options.strategy.is_some() && options.mode == Mode::Compat {
        return Err(RewriteError::Strategy { message: "`compat` and `plan` exclude each other".to_owned() });
    }
    let function = if options.flatten { crate::flatten::flatten_buffers(&function) } else { function };
    let (pool, layout) = decide(&function, options)?;
    if !options.unchecked {
        check_meaning(&function, &layout)?;
    }
    Ok(Rewritten { function: apply::apply(function, &layout), pool, layout })
}

/// The independent dataflow check; what it finds is a bug of ours.
fn check_meaning(function: &Function, layout: &Layout) -> Result<(), RewriteError> {
    let unsound = |message: String| RewriteError::Unsound { message };
    let violations = crate::lower::check_layout(function, layout).map_err(|error| unsound(error.to_string()))?;
    violations.into_iter().next().map_or(Ok(()), |violation| Err(unsound(violation)))
}

/// Which buffers share, and where everything goes.
fn decide(function: &Function, options: &RewriteOptions) -> Result<(Pool, Layout), RewriteError> {
    let sequence = linearize(function);
    let events = events(&sequence);
    if options.mode == Mode::Compat {
        check::input(&sequence)?;
    }
    let pool = plan_pool(&sequence, &events, options.mode)?;
    let mut layout = match &options.strategy {
        Some(strategy) => arena::lay_out_arenas(&sequence, &events, &pool, strategy, options)?,
        None => layout::lay_out(&sequence, &pool, options.mode, &options.limits)?,
    };
    if options.mode == Mode::Compat {
        check::decisions(&sequence, &pool, &layout)?;
    }
    retype::retype(&sequence, &mut layout, options.mode)?;
    Ok((pool, layout))
}
