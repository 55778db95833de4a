//! From a [`Program`](memplan_program::Program) to a [`Problem`](memplan_core::Problem): which values
//! are the same memory ([`Aliases`]), when each buffer is alive ([`Lifetimes`]), and the problem that
//! makes of it ([`Collector`]).
//!
//! # Why it is a crate
//!
//! Nothing here is trusted. The dataflow check follows the program itself and must not reach this code:
//! a mistake in a lifetime or a missed alias is found before a plan is used. A test on the graph of
//! crates holds the two apart.
//!
//! # Example
//!
//! `%b` begins where `%a` is read for the last time. Both are touched in that step, so they may not
//! share memory:
//!
//! ```
//! use memplan_analysis::{Aliases, Lifetimes, OpTree};
//! use memplan_program::text;
//!
//! let program = text::parse(
//!     "func @f() {
//!        alloc  alloc %a 64
//!        alloc  alloc %b 64
//!        use    write %a
//!        use    read %a, write %b
//!        use    read %b
//!      }",
//! )?;
//! let tree = OpTree::new(&program);
//! let lives = Lifetimes::new(&program, &Aliases::new(&program), &tree);
//! assert_eq!(lives.dump(&program, &tree), "@f/%a: [4, 5]\n@f/%b: [5, 6]\n");
//! # Ok::<(), text::ParseError>(())
//! ```
//!
//! # Where next
//!
//! [`TickCollector`] turns lives into a problem. Loops, branches and asynchronous work are what makes
//! lives hard: the module of [`Lifetimes`] and the chapter "Lifetimes and aliases by example" of the
//! book go through them one by one.

mod aliases;
mod collect;
mod lifetimes;
mod tree;

pub use aliases::Aliases;
pub use collect::{Collected, Collector, Exclude, Group, LeftAlone, TickCollector};
pub use lifetimes::{Beyond, Life, Lifetimes, Untraceable};
pub use tree::OpTree;
