//! The vocabulary of memplan: what has to be placed ([`Problem`]), where it went
//! ([`Plan`]), what that is worth ([`Outcome`]) and what no plan can beat
//! ([`bound`]).
//!
//! What every front end needs besides: places in a text ([`Span`]), errors that know
//! theirs ([`ReadError`]), changes to a text ([`Edits`]), and passes as users name them
//! ([`PassSpec`]). And how long the caller of all that waits ([`patience`]).
//!
//! Intervals are half-open everywhere, in time and in space; sizes are checked
//! 64-bit numbers with a unit.

mod block;
pub mod bound;
mod edits;
mod index;
mod lifetime;
mod outcome;
pub mod patience;
mod plan;
mod problem;
mod read_error;
mod span;
mod spec;
mod units;

pub use block::{Block, BlockId, BlockMember, Blocks};
pub use edits::{ApplyError, Edits};
pub use index::{BufferId, GroupId, Id, IndexVec, ObjectId, SpaceId};
pub use lifetime::{Interval, Lifetime, Window};
pub use outcome::{Outcome, Stop, Witness};
pub use plan::{Placement, Plan, PlanCost, Reuse, SharedObject};
pub use problem::{
    Buffer, Dependencies, MAX_EXTRA_SLOTS, MAX_SLOTS, Overlay, OverlayKind, Problem, ProblemBuilder, ProblemError,
    ReuseCost, Size, Space, Tie,
};
pub use read_error::{ReadError, utf8};
pub use span::{Span, line_column};
pub use spec::{PassOptions, PassSpec, SpecError};
pub use units::{Bytes, MAX_BYTES, MAX_STEP, ParseBytesError, Step, storage_bytes};
