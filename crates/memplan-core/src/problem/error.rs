//! Why buffers and spaces do not make a problem.

use super::{MAX_EXTRA_SLOTS, MAX_SLOTS};
use crate::{BufferId, Bytes, Name, SpaceId, Step};

/// A contradiction or an impossible number in the description of a problem.
///
/// Every variant that concerns one buffer carries its id, so that a reader can
/// point at the line it came from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum ProblemError {
    #[error("two buffers are called `{name}`")]
    DuplicateBuffer { buffer: BufferId, name: Name },
    #[error("two spaces are called `{name}`")]
    DuplicateSpace { space: SpaceId, name: String },
    #[error("buffer `{name}` names a space that does not exist")]
    UnknownSpace { buffer: BufferId, name: Name },
    #[error("buffer `{name}` names a group that does not exist")]
    UnknownGroup { buffer: BufferId, name: Name },
    #[error("a relation names buffer number {index}, but there are only {count}")]
    UnknownBuffer { index: usize, count: usize },
    #[error("buffer `{name}` is related to itself")]
    SelfRelation { buffer: BufferId, name: Name },
    #[error("the alignment of buffer `{name}` is 0; it must be at least 1")]
    ZeroAlignment { buffer: BufferId, name: Name },
    #[error("the alignment of space `{name}` is 0; it must be at least 1")]
    ZeroSpaceAlignment { space: SpaceId, name: String },
    #[error("buffer `{name}` has 0 slots; it needs at least 1")]
    ZeroSlots { buffer: BufferId, name: Name },
    #[error(
        "buffer `{name}` has {slots} slots; a buffer can have at most {MAX_SLOTS}, all buffers together {MAX_EXTRA_SLOTS} besides their first"
    )]
    TooManySlots { buffer: BufferId, name: Name, slots: u32 },
    #[error("the life of buffer `{name}` ends at step {end}, before its start at step {start}")]
    EndBeforeStart { buffer: BufferId, name: Name, start: Step, end: Step },
    #[error("two stretches of the life of buffer `{name}` overlap at step {step}")]
    OverlappingIntervals { buffer: BufferId, name: Name, step: Step },
    #[error("the window {low}..{high} does not lie inside buffer `{name}` of {size} bytes")]
    WindowOutside { buffer: BufferId, name: Name, low: Bytes, high: Bytes, size: Bytes },
    #[error("buffer `{name}` has a window of bytes, but its size in bytes is not known")]
    WindowOfUnknownSize { buffer: BufferId, name: Name },
    #[error("buffer `{name}` has {count} size components; 2, 3 or 4 are possible")]
    ShapeComponents { buffer: BufferId, name: Name, count: usize },
    #[error("buffer `{name}` is fixed at {offset}, which is not a multiple of its alignment {alignment}")]
    FixedMisaligned { buffer: BufferId, name: Name, offset: Bytes, alignment: Bytes },
    #[error("buffer `{name}` has {slots} slots and a fixed offset; only single-slot buffers can be fixed")]
    FixedSlots { buffer: BufferId, name: Name, slots: u32 },
    #[error("buffer `{name}` is tied at inner offset {at}, which is not a multiple of its alignment {alignment}")]
    TieMisaligned { buffer: BufferId, name: Name, at: Bytes, alignment: Bytes },
    #[error("buffers `{name}` and `{other}` must lie together, but {difference}")]
    TogetherButDifferent { buffer: BufferId, name: Name, other: Name, difference: &'static str },
    #[error("buffer `{name}` must lie together with others, but its size in bytes is not known")]
    TogetherOfUnknownSize { buffer: BufferId, name: Name },
    #[error("buffers `{name}` and `{other}` must share bytes and must not")]
    ShareAndNot { buffer: BufferId, name: Name, other: Name },
    #[error(
        "the base address {base} of space `{name}` is not a multiple of alignment {alignment}, which buffer `{buffer_name}` asks for"
    )]
    BaseMisaligned { space: SpaceId, name: String, base: Bytes, alignment: Bytes, buffer_name: Name },
    #[error("the numbers of buffer `{name}` are too large: {what} would pass 2^63 bytes")]
    TooLarge { buffer: BufferId, name: Name, what: &'static str },
    #[error("the life of buffer `{name}` reaches past step 2^63")]
    StepTooLarge { buffer: BufferId, name: Name },
    #[error("the numbers of space `{name}` pass 2^63 bytes")]
    SpaceTooLarge { space: SpaceId, name: String },
    #[error("the weights of all reuse costs add up to more than 2^63")]
    CostsTooLarge,
    #[error("there are dependencies for {given} buffers, but {count} buffers")]
    DependencyCount { given: usize, count: usize },
    #[error("buffer `{name}` is computed from itself: the dependencies contain a cycle")]
    DependencyCycle { buffer: BufferId, name: Name },
    #[error("there are {count} buffers; at most 2^32 - 1 are possible")]
    TooManyBuffers { count: usize },
}

impl ProblemError {
    /// The buffer the error is about, for pointing at its source.
    pub fn buffer(&self) -> Option<BufferId> {
        use ProblemError::*;
        // Spelled out, so that a new error has to say whether it is about a buffer.
        match self {
            DuplicateBuffer { buffer, .. }
            | UnknownSpace { buffer, .. }
            | UnknownGroup { buffer, .. }
            | SelfRelation { buffer, .. }
            | ZeroAlignment { buffer, .. }
            | ZeroSlots { buffer, .. }
            | TooManySlots { buffer, .. }
            | EndBeforeStart { buffer, .. }
            | OverlappingIntervals { buffer, .. }
            | WindowOutside { buffer, .. }
            | WindowOfUnknownSize { buffer, .. }
            | ShapeComponents { buffer, .. }
            | FixedMisaligned { buffer, .. }
            | FixedSlots { buffer, .. }
            | TieMisaligned { buffer, .. }
            | TogetherButDifferent { buffer, .. }
            | TogetherOfUnknownSize { buffer, .. }
            | ShareAndNot { buffer, .. }
            | TooLarge { buffer, .. }
            | StepTooLarge { buffer, .. }
            | DependencyCycle { buffer, .. } => Some(*buffer),
            DuplicateSpace { .. }
            | UnknownBuffer { .. }
            | ZeroSpaceAlignment { .. }
            | BaseMisaligned { .. }
            | SpaceTooLarge { .. }
            | DependencyCount { .. }
            | CostsTooLarge
            | TooManyBuffers { .. } => None,
        }
    }
}
