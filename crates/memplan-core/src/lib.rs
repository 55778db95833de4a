//! The vocabulary of memplan.

mod index;
mod span;
mod units;

pub use index::{BufferId, GroupId, Id, IndexVec, ObjectId, SpaceId};
pub use span::{Span, line_column};
pub use units::{Bytes, MAX_BYTES, MAX_STEP, ParseBytesError, Step, storage_bytes};
