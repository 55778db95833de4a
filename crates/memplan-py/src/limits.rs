//! What limits a search, as Python gives it and as the driver takes it.

use std::time::Duration;

use memplan::driver::How;
use memplan::planner::{Assign, Effort, Request, Strategy};
use pyo3::prelude::*;

use crate::error;

/// The time limit in seconds, the work limit, the seed, the effort, the number of threads, and whether a rejected plan
/// is an error. The function `_limits` of the Python half makes this tuple for every call that searches.
pub(crate) type Given = (Option<f64>, Option<u64>, u64, String, Option<usize>, bool);

/// Limits and seed of a call.
#[derive(Clone)]
pub(crate) struct Limits {
    /// For strategies that draw random numbers.
    seed: u64,
    /// How much to search.
    effort: Effort,
    /// How long to search; no limit if `None`.
    time_limit: Option<Duration>,
    /// How many units of work to search; what the effort says if `None`.
    work_limit: Option<u64>,
    /// How many threads to use; all cores if `None`.
    threads: Option<usize>,
    /// Fail if a check rejects a plan, instead of planning again.
    strict: bool,
}

impl Limits {
    /// The limits that Python asks for. The environment can make every call strict.
    pub(crate) fn of(py: Python<'_>, given: Given) -> PyResult<Limits> {
        let (time_limit, work_limit, seed, effort, threads, strict) = given;
        let effort = Effort::ALL.into_iter().find(|known| known.name() == effort).ok_or_else(|| {
            error::wrong_argument(py, &format!("effort is `{effort}`; it is `quick`, `normal` or `thorough`"))
        })?;
        let time_limit = time_limit.map(|seconds| duration(py, seconds)).transpose()?;
        let strict = strict || How::strict_in_environment();
        Ok(Limits { seed, effort, time_limit, work_limit, threads, strict })
    }

    /// How to plan within these limits. Everything else is taken from `request`; without a strategy the front end
    /// chooses one.
    pub(crate) fn how<'a>(&self, request: Request<'a>, assign: Assign, strategy: Option<&'a dyn Strategy>) -> How<'a> {
        let Limits { seed, effort, time_limit, work_limit, threads, strict } = self.clone();
        let request = Request { assign, seed, effort, time_limit, work_limit, threads, ..request };
        How { strategy, request, strict, ..How::default() }
    }
}

/// A number of seconds as a duration; an error if it is negative, not finite or too large.
fn duration(py: Python<'_>, seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| error::wrong_argument(py, &format!("time_limit is {seconds}; it is a number of seconds")))
}
