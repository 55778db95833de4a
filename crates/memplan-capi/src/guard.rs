//! The boundary between Rust and C: no panic crosses it, and every failure leaves a message.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Failure, Status, remember};

/// Runs the body of a call and turns its result, a failure or a panic into a status. The message that goes with it is
/// remembered for `memplan_last_error`.
///
/// After a panic the values that the body has borrowed may be in any state. That does no harm, because they all belong
/// to the call: results are written to the caller's memory only after success.
pub(crate) fn guarded(body: impl FnOnce() -> Result<(Status, String), Failure>) -> Status {
    let (status, message) = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(answer)) => answer,
        Ok(Err(failure)) => (failure.status, failure.message),
        Err(panic) => (Status::MEMPLAN_BUG, format!("a bug in memplan, please report it: {}", payload(&*panic))),
    };
    remember(&message);
    status
}

/// The message of a panic.
fn payload(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("panic")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_status_with_a_message() {
        let status = guarded(|| panic!("seven {}", 7));
        assert_eq!(status, Status::MEMPLAN_BUG);
        // SAFETY: the message of this thread lives until its next call.
        let message = unsafe { std::ffi::CStr::from_ptr(crate::error::last()) };
        assert!(message.to_str().is_ok_and(|text| text.ends_with("seven 7")));
    }
}
