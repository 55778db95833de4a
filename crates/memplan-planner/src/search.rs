//! The search that the strategies `search` and `auto` run: smaller extents, and proofs.
//!
//! ```text
//!   problem ─► pieces ─► portfolio ─► flat instance per space ─► descent ─► plan
//!                        (quick)      (flatten, instance)        (exact)    or proof
//! ```
//!
//! - [`flatten`] makes slabs of pieces and says whether the slabs forbid plans that the pieces have.
//! - [`instance`] counts time in sections and bytes in granules.
//! - [`exact`] is the canonical depth-first search, on the flat arrays of
//!   [`state`], trying items in the orders of [`rank`].
//! - [`climb`] improves those orders.
//! - [`descent`] asks the exact search for smaller and smaller extents, and raises the lower bound by its proofs.
//! - [`general`] is the exact search for problems that are not flat: choices between inequalities instead of slabs.
//! - [`peak_first`] places the pieces alive at the peak first, then the pieces that ended too high in the pass before.
//! - [`dense`] makes room by ejection chains if hundreds of pieces are alive at once.
//! - [`stretch`] packs the hardest stretch of time exactly, and the rest around it.
//! - [`repair`] plans short excerpts of time anew, around the piece that ends highest.
//! - [`witness`] leaves out of a set of items that do not fit all items that can be spared.
//! - [`budget`] says when to stop.
//! - [`schedule`] is the table of the stages, and walks it; [`plan`] is what they share.
//!
//! All numbers that were tuned are in `tuning.rs`, beside this folder.

mod budget;
mod climb;
mod dense;
mod descent;
mod exact;
#[cfg(test)]
mod exercise;
mod flatten;
mod general;
mod instance;
mod peak_first;
mod plan;
mod random;
mod rank;
mod repair;
mod schedule;
mod state;
mod stretch;
mod witness;

pub(crate) use budget::{Budget, Clock, PassCost};
pub(crate) use dense::is_crowded;
pub(crate) use general::{assemble, only, relaxed};
pub(crate) use plan::search_and_ask;
pub use plan::{Answer, search};
pub(crate) use random::Random;
pub use schedule::{StageReport, stages, switches};
