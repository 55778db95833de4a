//! Why a function was not rewritten.

use memplan_core::Span;
use std::fmt;

/// What is wrong with a decision of the original.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Defect {
    /// A destination is computed into the memory of its source, although an element of the destination is written
    /// before the source's element on the same bytes is read, or an element of the source is written after it.
    InPlaceOverwrite,
    /// An extent that uses a loop variable, hoisted out of the loop.
    LoopExtent,
    /// An allocation whose element type becomes narrower while the number of elements stays, so that it gets too small.
    ShrunkAllocation,
    /// The address of a buffer (`B.data`) that lies at an offset in a block of several buffers: the original leaves
    /// `B.data` as it is, and that is the start of the block.
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
    /// An allocation whose first buffer has fewer lanes than a later buffer in it: the original types the allocation
    /// by the first one.
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

/// The name of a buffer as a part of a message; nothing if no buffer is concerned.
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
