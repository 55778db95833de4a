//! From a [`Program`](memplan_program::Program) to a
//! [`Problem`](memplan_core::Problem): which values are the same memory
//! ([`Aliases`]), when each buffer is alive ([`Lifetimes`]), and the problem
//! that makes of it ([`Collector`]).
//!
//! Nothing here is trusted by the dataflow check, which follows the program
//! itself: a mistake in this crate is found before a plan is used.

mod aliases;
mod collect;
mod lifetimes;
mod tree;

pub use aliases::Aliases;
pub use collect::{Collected, Collector, Exclude, Group, LeftAlone, TickCollector};
pub use lifetimes::{Beyond, Life, Lifetimes, Untraceable};
pub use tree::OpTree;
