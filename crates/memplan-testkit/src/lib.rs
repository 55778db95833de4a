//! What tests and benchmarks of several crates need: problems to plan, a slow
//! but obvious check of plans, and optimal plans of tiny problems.
//!
//! - [`problems`]: property-test strategies for valid problems with any
//!   selection of [`Features`];
//! - [`instances`]: seeded generators for problems of any size;
//! - [`mlir`], [`tvmscript`]: texts of programs that are large in one way each;
//! - [`stress`]: families on which something that looks quick is quadratic;
//! - [`mod@reference`]: the rules of a valid plan, byte by byte and step by step;
//! - [`brute_force`]: the smallest extent, by trying every offset;
//! - [`exhaustive`]: whether there is a plan below an extent, likewise but quicker.
//!
//! This crate is only ever a dev-dependency.

pub mod brute_force;
pub mod exhaustive;
mod features;
pub mod instances;
pub mod mlir;
pub mod problems;
mod random;
pub mod reference;
pub mod stress;
pub mod tvmscript;

pub use features::Features;
pub use random::Random;
