//! Statuses, and the message behind the last one.

use std::cell::RefCell;
use std::ffi::{CString, c_char};

/// What came of a call. Zero and below one hundred are answers, the rest are failures that
/// `memplan_last_error` explains.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types, reason = "the names are those of the C header")]
pub enum Status {
    /// A plan, and no plan is smaller.
    MEMPLAN_OPTIMAL = 0,
    /// A plan; `lower_bound` says how much smaller one might be.
    MEMPLAN_FEASIBLE = 1,
    /// There is no plan within the capacities; `memplan_last_error` names buffers that cannot fit together.
    MEMPLAN_INFEASIBLE = 2,
    /// No plan was found within the limits, and none was ruled out.
    MEMPLAN_EXHAUSTED = 3,
    /// From `memplan_verify`: the plan is wrong; `memplan_last_error` says how.
    MEMPLAN_WRONG = 4,
    /// From `memplan_verify`: the plan is right. From `memplan_rewrite`: the text was rewritten. From
    /// `memplan_fit_file`: the model fits.
    MEMPLAN_OK = 5,
    /// An argument makes no sense: a null pointer, a size of a struct that is not one, a contradiction in the problem.
    MEMPLAN_BAD_ARGUMENT = 100,
    /// The strategy does not take this problem, or the pass not this program.
    MEMPLAN_REFUSED = 101,
    /// The text given to `memplan_rewrite`, or the file given to `memplan_plan_file` or `memplan_fit_file`, cannot be
    /// read.
    MEMPLAN_UNREADABLE = 102,
    /// A bug in memplan. No result was written.
    MEMPLAN_BUG = 103,
}

impl Status {
    /// The word for a status; a fixed text for numbers that are no status.
    pub(crate) fn name(code: i32) -> &'static std::ffi::CStr {
        match code {
            0 => c"optimal",
            1 => c"feasible",
            2 => c"infeasible",
            3 => c"exhausted",
            4 => c"wrong",
            5 => c"ok",
            100 => c"bad argument",
            101 => c"refused",
            102 => c"unreadable",
            103 => c"bug",
            _ => c"unknown status",
        }
    }
}

/// A call that went wrong: its status, and why in words.
pub(crate) struct Failure {
    /// What the call returns.
    pub(crate) status: Status,
    /// What `memplan_last_error` gives.
    pub(crate) message: String,
}

impl Failure {
    /// An argument that makes no sense.
    pub(crate) fn argument(message: impl Into<String>) -> Failure {
        Failure { status: Status::MEMPLAN_BAD_ARGUMENT, message: message.into() }
    }
}

thread_local! {
    /// The message of the thread's last call. It must live on after the call, because the caller gets a pointer to it.
    static LAST: RefCell<CString> = RefCell::default();
}

/// Remembers a message for this thread. A NUL inside would end it early in C, so it is replaced.
pub(crate) fn remember(message: &str) {
    let text = CString::new(message.replace('\0', "\u{fffd}")).unwrap_or_default();
    LAST.with(|last| *last.borrow_mut() = text);
}

/// This thread's last message; valid until its next call.
pub(crate) fn last() -> *const c_char {
    LAST.with(|last| last.borrow().as_ptr())
}
