//! A stage of the driver, and what becomes of it when nobody waits any more.
//!
//! A `Patience` holds the time limit and the flag for Ctrl-C of one call. While it is *current* on
//! a thread, every long loop of that thread asks it whether to go on. `Patience::finish` runs work
//! that the time limit must not end.

use std::time::Instant;

use memplan_core::patience::{Current, Patience};

use super::{Failure, How, Stopped};

/// Checking a layout, writing it and reading the result again take about this many times as long as reading the input
/// did. A search ends that much time before the time limit. Taken from the moments that `memplan plan -v -o plan.csv`
/// and `memplan opt -v` print with `--work 1`: 3.6 times for 160,000 buffers in a chain, 4 for 10^5 nested lives, 3 for
/// a kernel of 10^5 buffers.
const AFTER_A_SEARCH: u32 = 4;

/// Runs a stage. If the time limit or Ctrl-C has cut it short, its result is incomplete and is replaced by a failure.
/// Without limits (no current patience) the stage is simply run.
pub(super) fn stage<T>(name: &'static str, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let Some(patience) = Patience::current() else { return work() };
    // `begin` and `pass` tell observers, such as the progress line of the command, which stage runs
    // and that it is over.
    patience.begin(name);
    let result = work();
    patience.pass(name);
    // `ended` does not look at the clock. It says whether a loop of the work has asked and was told to end. Work that
    // came to its end without being told so is complete, even if the time limit is over by now.
    match patience.ended() {
        Some(why) => Err(Stopped { stage: name, after: patience.elapsed(), why }.into()),
        None => result,
    }
}

/// Runs the stage that reads the input. Checking and writing take time in proportion to reading. That time is reserved
/// here, so that searches end early enough before the time limit.
pub(super) fn first_stage<T>(name: &'static str, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let start = Instant::now();
    let result = stage(name, work);
    if let Some(patience) = Patience::current() {
        patience.reserve(start.elapsed() * AFTER_A_SEARCH);
    }
    result
}

/// Runs a stage that comes after a plan was found: checking, writing, reading again. The time limit does not end such a
/// stage, because it takes time in proportion to the input only, and without it all the work before would be lost.
/// Ctrl-C does end it.
pub(super) fn last_stage<T>(name: &'static str, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    stage(name, || match Patience::current() {
        Some(patience) => patience.finish(work),
        None => work(),
    })
}

/// Starts the time limit of a request and listens to its flag for Ctrl-C, until the returned guard is dropped. `None`
/// if the request has neither, or if the caller has started limits of its own, which then hold.
pub(super) fn wait_as_told(how: &How) -> Option<Current> {
    let (limit, cancel) = (how.request.time_limit, how.request.cancel.clone());
    let is_needed = Patience::current().is_none() && (limit.is_some() || cancel.is_some());
    is_needed.then(|| Patience::new(limit, cancel).enter())
}

/// What is left of the caller's limits, as a patience of its own, for a comparison or a sweep,
/// which make many plans. When its time limit ends one plan, the plans made before it can still be
/// reported: the caller's patience has not ended.
pub(crate) fn patience_for_many(how: &How) -> Patience {
    match Patience::current() {
        Some(patience) => patience.rest(),
        None => Patience::new(how.request.time_limit, how.request.cancel.clone()),
    }
}
