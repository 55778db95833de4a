//! The native half of the Python package `memplan`.
//!
//! It is a thin one: handles to problems and plans, and the calls that need Rust.
//! What Python people meet (dataclasses, representations, numpy, sweeps) is
//! written in Python, in `python/memplan`.
//!
//! - [`problem`]: problems from arrays, JSON, files and texts;
//! - [`planned`]: what came of planning, and the forms it can be written in;
//! - [`watched`]: long calls that let other Python threads run, report progress and
//!   hear Ctrl-C;
//! - [`calls`]: plan, verify, compare, opt, and the command line;
//! - [`restored`]: plans out of pickles;
//! - [`error`]: our errors as Python exceptions.
//!
//! The file also carries the C functions of `memplan-replay`: PyTorch loads them from here by name
//! (`memplan.torch`), so that the package needs no second library.

mod calls;
mod error;
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
        compare, explain, extensions, fit, formats, main, opt, parse_bytes, passes, plan, reorder, strategies, verify,
        version,
    };
    #[pymodule_export]
    use super::planned::PlanHandle;
    #[pymodule_export]
    use super::problem::ProblemHandle;
    #[pymodule_export]
    use super::restored::restore;
}
