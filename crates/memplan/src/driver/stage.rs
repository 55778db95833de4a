//! A stage of the driver, and what becomes of it when nobody waits any more.

use memplan_core::patience::{Current, Patience};

use super::{Failure, How, Stopped};

/// Runs a stage. What it returns after it was cut short is worth nothing, and never leaves this function.
pub(super) fn stage<T>(name: &'static str, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let result = work();
    let stopped = |patience: Patience| Some(Stopped { stage: name, after: patience.elapsed(), why: patience.ended()? });
    match Patience::current().and_then(stopped) {
        Some(stopped) => Err(stopped.into()),
        None => result,
    }
}

/// Runs a stage that a plan in hand goes through on its way to the caller. The time limit does not end it: it takes time
/// in proportion to the input, and without it all the work before would be lost. Ctrl-C does end it.
pub(super) fn last_stage<T>(name: &'static str, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    stage(name, || match Patience::current() {
        Some(patience) => patience.finish(work),
        None => work(),
    })
}

/// Starts the limits of a request, unless the caller has started limits of its own.
pub(super) fn wait_as_told(how: &How) -> Option<Current> {
    let (limit, cancel) = (how.request.time_limit, how.request.cancel.clone());
    let is_needed = Patience::current().is_none() && (limit.is_some() || cancel.is_some());
    is_needed.then(|| Patience::new(limit, cancel).enter())
}
