//! Strategies: ways to turn a [`Problem`](memplan_core::Problem) into a [`Plan`](memplan_core::Plan).
//!
//! # Why it is a crate
//!
//! What a strategy returns is a proposal that has not been checked. The checks live in `memplan-verify`, which must not
//! reach this code. Programs plan through `memplan::driver`, which hands out only what has passed the checks; users of
//! this crate alone have to check plans themselves.
//!
//! # Example
//!
//! ```
//! use memplan_core::{Buffer, Bytes, Lifetime, Outcome, ProblemBuilder};
//! use memplan_planner::Request;
//!
//! let mut builder = ProblemBuilder::new();
//! builder.buffer(Buffer::new("a", 64, Lifetime::new(0, 2)));
//! builder.buffer(Buffer::new("b", 32, Lifetime::new(1, 3)));
//! builder.buffer(Buffer::new("c", 64, Lifetime::new(2, 4)));
//! let problem = builder.build()?;
//!
//! let strategy = memplan_planner::find("auto").ok_or("there is no such strategy")?;
//! let Outcome::Optimal(plan) = memplan_planner::plan(strategy, &problem, &Request::default())? else {
//!     return Err("three buffers are easy".into());
//! };
//! assert_eq!(plan.extent(), Bytes(96)); // `c` takes the place of `a`
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where next
//!
//! Every strategy is one file under [`strategy`] and one line in [`STRATEGIES`]; the command line, the
//! Python package, the tests, the fuzz targets and the benchmarks iterate that list. [`search`] is the
//! branch and bound behind `auto`.
//!
//! Strategies that place buffers one after the other share an engine: [`piece`] takes a problem apart
//! into rigid pieces, [`placer`] puts them down in some [`order`], [`conflicts`] finds the pieces that are in
//! the way, [`fit`] chooses among gaps. Strategies that know only sizes and lifetimes, in one memory, share
//! another: `records` splits a problem by space and merges the answers, `sharing` holds shared objects,
//! `smallest_gap` is best fit over records.

mod collision;
mod costs;
pub mod explain;
pub mod feature;
mod growing_object;
#[cfg(test)]
mod growth;
pub mod happens_before;
mod load;
mod nearby;
pub mod order;
mod overlap;
mod parallel_first_fit;
mod placement;
pub mod portfolio;
mod records;
pub mod request;
pub mod search;
mod sharing;
mod smallest_gap;
pub mod strategy;
mod tuning;
pub mod warm;

pub use feature::{Feature, Refusal};
pub(crate) use placement::heap;
pub use placement::{conflicts, fit, piece, placer};
pub use request::{Assign, Effort, Observer, OnProgress, Request};
pub use sharing::objects_to_offsets;
pub use strategy::{STRATEGIES, Strategy, find, plan};
