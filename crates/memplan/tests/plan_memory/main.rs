//! The plan-memory pass: kernels with the addresses they get, the mistakes of
//! the original, recorded problems, and generated kernels.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "tests")]

mod conformance;
mod defects;
mod fixed;
mod generate;
mod kernel;
mod kernels;
mod left_alone;
mod mistakes;
mod recorded;
mod robust;
mod syntax;
mod targets;
mod waits;
