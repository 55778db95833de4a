//! The placement engine: one piece after the other is put where there is room.
//!
//! - [`piece`] takes a problem apart into rigid pieces.
//! - [`placer`] puts them down, in whatever order it is told.
//! - [`floor`] is what is placed in one space; it finds who is in the way through [`conflicts`], one by one, through
//!   [`periods`], the lowest first, or through [`skyline`], as merged bytes, which are [`range_set`]s.
//! - [`heap`] is a short cut while all placed pieces are alive at one moment: a piece that is alive with all of them
//!   goes on top, and no conflict has to be looked up.
//! - [`fit`] chooses among the gaps between obstacles.
//! - [`spots`] is the table of where pieces are.

pub mod conflicts;
pub mod fit;
mod floor;
pub(crate) mod heap;
mod periods;
pub mod piece;
pub mod placer;
mod range_set;
mod skyline;
mod spots;
