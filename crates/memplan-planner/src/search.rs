//! The search behind the strategy `search`: smaller extents, and proofs.
//!
//! ```text
//!   problem ─► pieces ─► portfolio ─► flat instance per space ─► descent ─► plan
//!                        (instant)    (flatten, instance)        (exact)    or proof
//! ```
//!
//! - [`flatten`] makes plain slabs of pieces and says whether anything was lost.
//! - [`instance`] compresses time to sections and bytes to granules.
//! - [`exact`] is the canonical depth-first search, on the flat arrays of
//!   [`state`], trying items in the orders of [`rank`].
//! - [`climb`] improves those orders.
//! - [`descent`] asks the exact search for smaller and smaller extents, and raises the lower bound by its proofs.
//! - [`general`] is the exact search for what is not flat: choices between
//!   inequalities instead of slabs.
//! - [`peak_first`] places what is alive at the peak first, then the pieces that ended too high in the pass before.
//! - [`dense`] makes room by ejection chains where hundreds are alive at once.
//! - [`stretch`] packs the hardest stretch of time exactly, and the rest around it.
//! - [`repair`] plans short excerpts of time anew, around what ends highest.
//! - [`witness`] reduces a proof that something does not fit to what it needs.
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
