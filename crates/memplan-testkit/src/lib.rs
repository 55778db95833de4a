//! What tests and benchmarks of several crates need: problems to plan.
//!
//! - [`problems`]: property-test strategies for valid problems with any
//!   selection of [`Features`];
//! - [`instances`]: seeded generators for problems of any size.
//!
//! This crate is only ever a dev-dependency.

mod features;
pub mod instances;
pub mod problems;
mod random;

pub use features::Features;
pub use random::Random;
