//! The vocabulary of memplan: what has to be placed ([`Problem`]), where it went
//! ([`Plan`]), what that is worth ([`Outcome`]) and what no plan can beat
//! ([`bound`]).
//!
//! Intervals are half-open everywhere, in time and in space; sizes are checked
//! 64-bit numbers with a unit.

mod block;
pub mod bound;
mod index;
mod lifetime;
mod outcome;
mod plan;
mod problem;
mod span;
mod units;

pub use block::{Block, BlockId, BlockMember, Blocks};
pub use index::{BufferId, GroupId, Id, IndexVec, ObjectId, SpaceId};
pub use lifetime::{Interval, Lifetime, Window};
pub use outcome::{Outcome, Stop, Witness};
pub use plan::{Placement, Plan, Reuse, SharedObject};
pub use problem::{
    Buffer, Dependencies, MAX_EXTRA_SLOTS, MAX_SLOTS, Overlay, OverlayKind, Problem, ProblemBuilder, ProblemError,
    Size, Space, Tie,
};
pub use span::{Span, line_column};
pub use units::{Bytes, MAX_BYTES, MAX_STEP, ParseBytesError, Step, storage_bytes};
