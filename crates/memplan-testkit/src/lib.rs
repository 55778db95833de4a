//! What tests and benchmarks of several crates need: problems to plan, a slow
//! but obvious check of plans, and optimal plans of tiny problems.
//!
//! # Why it is a crate
//!
//! A planner and a checker can agree and both be wrong. So tests compare them with code that
//! is much simpler and far too slow to be used: it marks every byte of every step, or tries every
//! offset. And because nobody thinks of all unusual inputs, most tests do not list inputs but draw
//! valid ones at random.
//!
//! - [`problems`]: property-test strategies for valid problems with any
//!   selection of [`Features`];
//! - [`instances`]: seeded generators for problems of any size;
//! - [`mlir`], [`tvmscript`]: texts of programs that are large in one way each;
//! - [`stress`]: families of inputs on which a method that looks quick takes quadratic time;
//! - [`peers`]: real tools, and what happens where one is missing;
//! - [`mod@reference`]: the rules of a valid plan, byte by byte and step by step;
//! - [`brute_force`]: the smallest extent, by trying every offset;
//! - [`exhaustive`]: whether there is a plan below an extent. It tries every offset, too, but
//!   takes a byte for a bit of a word, which makes it quick enough for larger problems.
//!
//! # Example
//!
//! `c` can take the place of `a`, and `b` lies beside both. Trying every offset shows that no plan needs
//! less than six bytes:
//!
//! ```
//! use memplan_core::{Buffer, Lifetime, ProblemBuilder, Space};
//! use memplan_testkit::{brute_force, reference};
//!
//! let mut builder = ProblemBuilder::new();
//! builder.space(Space::new("sram"));
//! builder.buffer(Buffer::new("a", 4, Lifetime::new(0, 2)));
//! builder.buffer(Buffer::new("b", 2, Lifetime::new(1, 3)));
//! builder.buffer(Buffer::new("c", 4, Lifetime::new(2, 4)));
//! let problem = builder.build()?;
//!
//! let most_placements = 100_000;
//! let brute_force::Answer::Optimal(plan) = brute_force::solve(&problem, most_placements) else {
//!     panic!("three buffers are few enough")
//! };
//! assert_eq!(plan.extent().0, 6);
//! assert!(reference::broken_rules(&problem, &plan).is_empty());
//! # Ok::<(), memplan_core::ProblemError>(())
//! ```
//!
//! # Where next
//!
//! The chapter "How we know it is right" of the book says which tests use what. This crate is only
//! ever a dev-dependency: nothing that is shipped contains it.

pub mod brute_force;
pub mod exhaustive;
mod features;
pub mod instances;
pub mod mlir;
pub mod peers;
pub mod problems;
mod random;
pub mod reference;
pub mod stress;
pub mod tvmscript;

pub use features::Features;
pub use random::Random;
