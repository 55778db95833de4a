//! The vocabulary of memplan: what has to be placed ([`Problem`]), where it went ([`Plan`]), what that
//! is worth ([`Outcome`]) and what no plan can beat ([`bound`]).
//!
//! # Why it is a crate
//!
//! The planner and the checks must not share code, but they have to speak of the same things. This
//! crate is all that both know: plain data with rules, and no decisions. It needs `smallvec` and
//! `thiserror` and nothing else.
//!
//! # Example
//!
//! Three buffers; the first and the last are never alive together:
//!
//! ```text
//!  step   0   1   2   3
//!  a      ████████
//!  b          ████████       96 bytes are alive at once in steps 1 and 2:
//!  c              ████████   no plan can need less
//! ```
//!
//! ```
//! use memplan_core::{Buffer, Bytes, Lifetime, ProblemBuilder, bound};
//!
//! let mut builder = ProblemBuilder::new();
//! builder.buffer(Buffer::new("a", 64, Lifetime::new(0, 2)));
//! builder.buffer(Buffer::new("b", 32, Lifetime::new(1, 3)));
//! builder.buffer(Buffer::new("c", 64, Lifetime::new(2, 4)));
//! let problem = builder.build()?;
//! assert_eq!(bound::lower_bound(&problem), Bytes(96));
//! # Ok::<(), memplan_core::ProblemError>(())
//! ```
//!
//! Intervals are half-open everywhere, in time and in space; sizes are checked 64-bit numbers with a
//! unit.
//!
//! # Where next
//!
//! What every front end needs besides is here, too: places in a text ([`Span`]), errors that know
//! theirs ([`ReadError`]), changes to a text ([`Edits`]), passes as users name them ([`PassSpec`]), and
//! how long the caller of all that waits ([`patience`]). Plans are made by `memplan-planner` and
//! checked by `memplan-verify`; the crate `memplan` does both in one call.

mod block;
pub mod bound;
mod classes;
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
pub use classes::Classes;
pub use edits::{ApplyError, Edits};
pub use index::{BufferId, GroupId, Id, IndexVec, ObjectId, SpaceId};
pub use lifetime::{Interval, Intervals, Lifetime, Window};
pub use outcome::{Outcome, Stop, Witness};
pub use plan::{Placement, Plan, PlanCost, Reuse, SharedObject};
pub use problem::{
    Buffer, Dependencies, MAX_EXTRA_SLOTS, MAX_SLOTS, Name, Overlay, OverlayKind, Problem, ProblemBuilder,
    ProblemError, Rare, ReuseCost, Size, Space, Tie,
};
pub use read_error::{ReadError, utf8};
pub use span::{Span, line_column};
pub use spec::{PassOptions, PassSpec, SpecError};
pub use units::{Bytes, MAX_BYTES, MAX_STEP, ParseBytesError, Step, storage_bytes};
