//! What can be wrong with a plan.

use std::fmt;
use std::ops::Range;

use memplan_core::{BufferId, Bytes, Name, ObjectId, Problem, SpaceId, Step};

/// A buffer, and its name for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Who {
    /// The buffer.
    pub id: BufferId,
    /// Its name in the problem.
    pub name: Name,
}

impl Who {
    pub(super) fn new(problem: &Problem, id: BufferId) -> Who {
        Who { id, name: problem.buffers()[id].name.clone() }
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.name)
    }
}

/// Where something is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Bytes of a memory space.
    Bytes {
        /// The space.
        space: SpaceId,
        /// Its name.
        name: String,
        /// The bytes, as offsets from the space's base.
        bytes: Range<Bytes>,
    },
    /// A shared object, which buffers use as a whole.
    Object(ObjectId),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Bytes { name, bytes, .. } => write!(f, "bytes {}..{} of space `{name}`", bytes.start, bytes.end),
            Place::Object(object) => write!(f, "object {}", memplan_core::Id::index(*object)),
        }
    }
}

/// One way in which a plan breaks the rules of its problem, with the witnesses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum Violation {
    #[error("buffer {buffer} has no place in the plan")]
    MissingBuffer { buffer: Who },
    #[error("the plan places `{name}`, which the problem does not have")]
    UnknownBuffer { name: String },
    #[error("buffer {buffer} is in space `{space}`, where it may not live")]
    WrongSpace { buffer: Who, space: String },
    #[error("buffer {buffer} is at an offset, but its size in bytes is not known: it can only use a whole object")]
    SizeUnknown { buffer: Who },
    #[error("buffer {buffer} has {slots} slots, but the plan gives it only {offsets} offsets")]
    TooFewOffsets { buffer: Who, slots: u32, offsets: usize },
    #[error("buffer {buffer} of {size} bytes at offset {offset} would reach past 2^63 bytes")]
    OffsetTooLarge { buffer: Who, offset: Bytes, size: Bytes },
    #[error("buffer {buffer} is at offset {offset}, which is not a multiple of {alignment}")]
    Misaligned { buffer: Who, offset: Bytes, alignment: Bytes },
    #[error("buffer {buffer} must be at offset {fixed}, but is at {found}")]
    FixedMoved { buffer: Who, fixed: Bytes, found: Position },
    #[error("buffer {buffer} occupies {place}, past the capacity of {capacity} bytes")]
    OutOfCapacity { buffer: Who, place: Place, capacity: Bytes },
    #[error("the plan's extent of space `{name}` is {extent} bytes, but buffer {buffer} ends at {end}")]
    ExtentTooSmall { buffer: Who, space: SpaceId, name: String, end: Bytes, extent: Bytes },
    #[error("the plan's extent of space `{name}` is {extent} bytes, but the objects in it need {needed}")]
    ObjectsPastExtent { space: SpaceId, name: String, needed: u128, extent: Bytes },
    #[error("the plan needs {extent} bytes of space `{name}`, whose capacity is {capacity} bytes")]
    ExtentPastCapacity { space: SpaceId, name: String, extent: Bytes, capacity: Bytes },
    #[error("slots {one} and {other} of buffer {buffer} overlap on {place}")]
    SlotsOverlap { buffer: Who, one: u32, other: u32, place: Place },
    #[error("buffers {buffer} and {other} belong to group `{group}`, but do not lie in it as they are tied")]
    TieBroken { buffer: Who, other: Who, group: String },
    #[error("buffers {buffer} and {other} must start at the same place, but do not")]
    MustShareBroken { buffer: Who, other: Who },
    #[error("buffers {buffer} and {other} must not share, but both use {place}")]
    MustNotShareBroken { buffer: Who, other: Who, place: Place },
    #[error("buffer {buffer} shares with nobody, but {other} also uses {place}")]
    ExclusiveShared { buffer: Who, other: Who, place: Place },
    #[error("buffers {buffer} and {other} are both alive at step {step} on {place}")]
    Overlap { buffer: Who, other: Who, step: Step, place: Place },
    #[error(
        "buffers {buffer} and {other} share {place}, but {buffer} may still be read when {other} is written: nothing orders them"
    )]
    Unordered { buffer: Who, other: Who, place: Place },
    #[error("buffer {buffer} is in object {}, which the plan does not have", memplan_core::Id::index(*.object))]
    UnknownObject { buffer: Who, object: ObjectId },
    #[error("object {} is too small for buffer {buffer}", memplan_core::Id::index(*.object))]
    ObjectTooSmall { buffer: Who, object: ObjectId },
    #[error("buffer {buffer} is placed in space `{space}`, but its object {} is elsewhere", memplan_core::Id::index(*.object))]
    ObjectInOtherSpace { buffer: Who, object: ObjectId, space: String },
    #[error("the plan puts {buffer} over {over}, which the problem does not permit")]
    OverlayUndeclared { buffer: Who, over: Who },
    #[error("the plan puts {buffer} over {over}, but they do not start at the same place")]
    OverlayNotSameBase { buffer: Who, over: Who },
    #[error("the plan puts {buffer} over {over}, but {over} does not start before {buffer} does")]
    OverlayTooEarly { buffer: Who, over: Who },
    #[error("the plan puts {buffer} over {over}, but gives them different numbers of slots")]
    OverlaySlots { buffer: Who, over: Who },
    #[error("the plan says that its reuse costs {claimed}, but pairs of a cost of {found} have bytes in common")]
    CostWrong { claimed: u64, found: u128 },
    #[error("the plan costs {cost}, but claims that no plan costs less than {bound}")]
    CostBelowBound { cost: u64, bound: u64 },
    #[error("{} violations of kind `{}` are listed; at least {buffers} more buffers are involved in others", super::LISTED, .kind.code())]
    More { kind: Kind, buffers: usize },
}

/// An offset, or a place in an object, which has no address of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// An offset from the space's base.
    Offset(Bytes),
    /// Somewhere in an object.
    Object(ObjectId),
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Position::Offset(offset) => offset.fmt(f),
            Position::Object(object) => write!(f, "no offset, in object {}", memplan_core::Id::index(*object)),
        }
    }
}

macro_rules! kinds {
    ($($kind:ident $code:literal,)*) => {
        /// The kinds of violations.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs, reason = "as the variants of `Violation`")]
        pub enum Kind { $($kind,)* }

        impl Kind {
            /// Every kind.
            pub const ALL: &'static [Kind] = &[$(Kind::$kind,)*];

            /// The kind's stable name, for machines.
            pub fn code(self) -> &'static str {
                match self { $(Kind::$kind => $code,)* }
            }
        }
    };
}

kinds! {
    MissingBuffer "packing::missing-buffer",
    UnknownBuffer "packing::unknown-buffer",
    WrongSpace "packing::wrong-space",
    SizeUnknown "packing::size-unknown",
    TooFewOffsets "packing::too-few-offsets",
    OffsetTooLarge "packing::offset-too-large",
    Misaligned "packing::misaligned",
    FixedMoved "packing::fixed-moved",
    OutOfCapacity "packing::out-of-capacity",
    ExtentTooSmall "packing::extent-too-small",
    ExtentPastCapacity "packing::extent-past-capacity",
    SlotsOverlap "packing::slots-overlap",
    TieBroken "packing::tie-broken",
    MustShareBroken "packing::must-share-broken",
    MustNotShareBroken "packing::must-not-share-broken",
    ExclusiveShared "packing::exclusive-shared",
    Overlap "packing::overlap",
    ObjectShared "packing::object-shared",
    Unordered "packing::unordered",
    UnknownObject "packing::unknown-object",
    ObjectTooSmall "packing::object-too-small",
    ObjectInOtherSpace "packing::object-in-other-space",
    OverlayUndeclared "packing::overlay-undeclared",
    OverlayNotSameBase "packing::overlay-not-same-base",
    OverlayTooEarly "packing::overlay-too-early",
    OverlaySlots "packing::overlay-slots",
    CostWrong "packing::cost-wrong",
    CostBelowBound "packing::cost-below-bound",
}

impl Violation {
    /// What kind of violation it is.
    pub fn kind(&self) -> Kind {
        match self {
            Violation::MissingBuffer { .. } => Kind::MissingBuffer,
            Violation::UnknownBuffer { .. } => Kind::UnknownBuffer,
            Violation::WrongSpace { .. } => Kind::WrongSpace,
            Violation::SizeUnknown { .. } => Kind::SizeUnknown,
            Violation::TooFewOffsets { .. } => Kind::TooFewOffsets,
            Violation::OffsetTooLarge { .. } => Kind::OffsetTooLarge,
            Violation::Misaligned { .. } => Kind::Misaligned,
            Violation::FixedMoved { .. } => Kind::FixedMoved,
            Violation::OutOfCapacity { .. } => Kind::OutOfCapacity,
            // Both are the same mistake to a user: the plan claims less memory than it needs.
            Violation::ExtentTooSmall { .. } | Violation::ObjectsPastExtent { .. } => Kind::ExtentTooSmall,
            Violation::ExtentPastCapacity { .. } => Kind::ExtentPastCapacity,
            Violation::SlotsOverlap { .. } => Kind::SlotsOverlap,
            Violation::TieBroken { .. } => Kind::TieBroken,
            Violation::MustShareBroken { .. } => Kind::MustShareBroken,
            Violation::MustNotShareBroken { .. } => Kind::MustNotShareBroken,
            Violation::ExclusiveShared { .. } => Kind::ExclusiveShared,
            // Two buffers in one shared object have a kind of their own, because the remedy differs: another object and
            // not another offset.
            Violation::Overlap { place: Place::Object(_), .. } => Kind::ObjectShared,
            Violation::Overlap { .. } => Kind::Overlap,
            Violation::Unordered { .. } => Kind::Unordered,
            Violation::UnknownObject { .. } => Kind::UnknownObject,
            Violation::ObjectTooSmall { .. } => Kind::ObjectTooSmall,
            Violation::ObjectInOtherSpace { .. } => Kind::ObjectInOtherSpace,
            Violation::OverlayUndeclared { .. } => Kind::OverlayUndeclared,
            Violation::OverlayNotSameBase { .. } => Kind::OverlayNotSameBase,
            Violation::OverlayTooEarly { .. } => Kind::OverlayTooEarly,
            Violation::OverlaySlots { .. } => Kind::OverlaySlots,
            Violation::CostWrong { .. } => Kind::CostWrong,
            Violation::CostBelowBound { .. } => Kind::CostBelowBound,
            Violation::More { kind, .. } => *kind,
        }
    }

    /// The kind's stable name, for machines: `packing::overlap`.
    pub fn code(&self) -> &'static str {
        self.kind().code()
    }

    /// The buffer the violation is about.
    pub fn buffer(&self) -> Option<&Who> {
        use Violation::*;
        match self {
            MissingBuffer { buffer }
            | WrongSpace { buffer, .. }
            | SizeUnknown { buffer }
            | TooFewOffsets { buffer, .. }
            | OffsetTooLarge { buffer, .. }
            | Misaligned { buffer, .. }
            | FixedMoved { buffer, .. }
            | OutOfCapacity { buffer, .. }
            | ExtentTooSmall { buffer, .. }
            | SlotsOverlap { buffer, .. }
            | TieBroken { buffer, .. }
            | MustShareBroken { buffer, .. }
            | MustNotShareBroken { buffer, .. }
            | ExclusiveShared { buffer, .. }
            | Overlap { buffer, .. }
            | Unordered { buffer, .. }
            | UnknownObject { buffer, .. }
            | ObjectTooSmall { buffer, .. }
            | ObjectInOtherSpace { buffer, .. }
            | OverlayUndeclared { buffer, .. }
            | OverlayNotSameBase { buffer, .. }
            | OverlayTooEarly { buffer, .. }
            | OverlaySlots { buffer, .. } => Some(buffer),
            // These are about a space, an object or the whole plan, so there is no single buffer to show.
            UnknownBuffer { .. }
            | ObjectsPastExtent { .. }
            | ExtentPastCapacity { .. }
            | CostWrong { .. }
            | CostBelowBound { .. }
            | More { .. } => None,
        }
    }

    /// The second buffer of a violation between two.
    pub fn other(&self) -> Option<&Who> {
        use Violation::*;
        match self {
            TieBroken { other, .. }
            | MustShareBroken { other, .. }
            | MustNotShareBroken { other, .. }
            | ExclusiveShared { other, .. }
            | Overlap { other, .. }
            | Unordered { other, .. } => Some(other),
            OverlayUndeclared { over, .. }
            | OverlayNotSameBase { over, .. }
            | OverlayTooEarly { over, .. }
            | OverlaySlots { over, .. } => Some(over),
            _ => None,
        }
    }

    /// The first step at which it happens, if it happens in time.
    pub fn step(&self) -> Option<Step> {
        match self {
            Violation::Overlap { step, .. } => Some(*step),
            _ => None,
        }
    }

    /// The bytes or the object it happens on.
    pub fn place(&self) -> Option<&Place> {
        use Violation::*;
        match self {
            OutOfCapacity { place, .. }
            | SlotsOverlap { place, .. }
            | MustNotShareBroken { place, .. }
            | ExclusiveShared { place, .. }
            | Overlap { place, .. }
            | Unordered { place, .. } => Some(place),
            _ => None,
        }
    }
}
