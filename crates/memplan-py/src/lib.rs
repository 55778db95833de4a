//! The native half of the Python package `memplan`.
//!
//! # Why it is a crate
//!
//! People who write Python should not wait for a Rust compiler, and planning should not wait for Python. So the package
//! has two halves. This crate is compiled into the module `memplan._native`: handles to problems and plans, and the
//! calls that need Rust. Everything that users meet (dataclasses, representations, numpy, sweeps) is written in Python,
//! in `python/memplan`, and calls this module.
//!
//! ```text
//!   memplan.plan(...)         python/memplan/_plan.py       arguments, dataclasses
//!        │
//!   _native.plan(...)         calls.rs, problem.rs          releases the interpreter lock, listens to Ctrl-C
//!        │
//!   memplan::driver           the crate `memplan`           reads, plans, checks
//! ```
//!
//! - [`problem`]: problems from arrays, JSON, files and texts;
//! - [`planned`]: the result of planning, and the forms in which it can be written;
//! - [`watched`]: long calls that let other Python threads run, report progress and
//!   hear Ctrl-C;
//! - [`calls`]: plan, explain, verify, compare, opt, and the command line;
//! - [`models`]: models with their ops in another order, or changed until they fit;
//! - [`limits`]: what limits a search;
//! - [`restored`]: plans out of pickles;
//! - [`error`]: our errors as Python exceptions.
//!
//! The compiled file also carries the C functions of `memplan-replay`: PyTorch loads them from here by name
//! (`memplan.torch`), so that the package needs no second library.
//!
//! # Example
//!
//! Three buffers (size, first step, end), two of which are never alive together. The third takes the place of the
//! first:
//!
//! ```python
//! import memplan
//!
//! plan = memplan.plan([(64, 0, 2), (32, 1, 3), (64, 2, 4)])
//! assert (plan.status, plan.extent) == ("optimal", 96)
//! ```
//!
//! # Where next
//!
//! The chapter "Python" of the book shows the package from a user's side, "Python reference" lists every function.
//! Tests are in `tests/` beside this crate and run with pytest. In Rust, use the crate `memplan`.

mod calls;
mod error;
mod limits;
mod models;
mod planned;
mod problem;
mod restored;
mod watched;

// Nothing here calls it: its C functions are exported along with the module.
use memplan_replay as _;
use pyo3::prelude::*;

/// The native half of memplan; use the package `memplan`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::calls::{
        compare, explain, extensions, formats, main, opt, parse_bytes, passes, plan, strategies, verify, version,
    };
    #[pymodule_export]
    use super::models::{fit, reorder};
    #[pymodule_export]
    use super::planned::PlanHandle;
    #[pymodule_export]
    use super::problem::ProblemHandle;
    #[pymodule_export]
    use super::restored::restore;
}
