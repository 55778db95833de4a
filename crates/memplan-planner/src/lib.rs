//! Strategies: ways to turn a [`Problem`](memplan_core::Problem) into a
//! [`Plan`](memplan_core::Plan).
//!
//! Every strategy is one file under [`strategy`] and one line in
//! [`STRATEGIES`]; the command line, the Python package, the tests, the fuzz
//! targets and the benchmarks iterate that list.

pub mod feature;
pub mod request;
pub mod strategy;

pub use feature::{Feature, Refusal};
pub use request::{Assign, Observer, Request};
pub use strategy::{STRATEGIES, Strategy, find, plan};
