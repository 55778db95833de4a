//! The functions of the header.
//!
//! Each runs inside of `guarded`, which turns failures and panics into a status. `problem` reads
//! the caller's arrays, and an `Answer` is the caller's report while it is filled in.
#![allow(
    clippy::missing_safety_doc,
    reason = "the text is C documentation, which has no such heading; it says what callers promise"
)]

use std::ffi::{CStr, CString, c_char, c_void};
use std::time::Duration;

use memplan::core::patience::Patience;
use memplan::core::{Outcome, Problem, SpecError, bound};
use memplan::driver::{self, Checked, How};
use memplan::finding;
use memplan::format::Input;
use memplan::front_end::{Plain, Planned};
use memplan::models::plan::json::lower_bound;
use memplan::pass::{self, PassSpec};
use memplan::planner::{Effort, Observer, Request, find};
use memplan::source::Source;

use crate::error::{Failure, Status, last};
use crate::guard::guarded;
use crate::layout::{
    MEMPLAN_NORMAL, MEMPLAN_QUICK, MEMPLAN_STRICT, MEMPLAN_THOROUGH, Options, ProblemDescription, Report, read_sized,
};
use crate::problem;
use crate::report::Answer;

/// Version of the library, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn memplan_version() -> *const c_char {
    const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };
    VERSION.as_ptr()
}

/// The word for a status; never null.
#[unsafe(no_mangle)]
pub extern "C" fn memplan_status_name(status: i32) -> *const c_char {
    Status::name(status).as_ptr()
}

/// What this thread's last call had to say: why it failed, why nothing fits, what is wrong. Empty if there is
/// nothing to say. Valid until the thread's next call.
#[unsafe(no_mangle)]
pub extern "C" fn memplan_last_error() -> *const c_char {
    last()
}

/// Plans: writes the offsets to `offsets` if the status is `MEMPLAN_OPTIMAL` or `MEMPLAN_FEASIBLE`, and leaves it alone
/// otherwise. `options` and `report` may be null. The plan has been checked.
///
/// `problem`, `options` and `report` are null or point to structs that say their sizes; `offsets` has room for one number
/// for each buffer, in order, or, where a buffer has several slots, for one for each of its slots.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memplan_plan(
    problem: *const ProblemDescription,
    options: *const Options,
    offsets: *mut u64,
    report: *mut Report,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promises.
        let (problem, options) = unsafe { (problem::read(problem)?, read_options(options)?) };
        // SAFETY: the caller's promises.
        let mut answer = unsafe { Answer::of(report)? };
        check_room(&problem, offsets)?;
        // If a buffer may live in several spaces, the caller must have an array in which we say where it lives.
        if let Some(buffer) = problem::first_with_choice(&problem).filter(|_| answer.report.spaces.is_null()) {
            let index = memplan::core::Id::index(buffer);
            return Err(Failure::argument(format!(
                "buffer {index} may live in several spaces; give the report an array `spaces` to say in which it does"
            )));
        }
        // SAFETY: the caller's promises.
        let planned = unsafe { plan(problem, &options)? };
        let (problem, outcome) = (&planned.problem, &planned.outcome);
        let status = status_of(outcome);
        if let Some(plan) = outcome.plan() {
            let found = problem::offsets_of(problem, plan);
            // SAFETY: the caller has room for one for each slot; a null pointer was refused above unless there are
            // none.
            unsafe { std::ptr::copy_nonoverlapping(found.as_ptr(), offsets, found.len()) };
            // SAFETY: the caller's promises.
            unsafe {
                answer.set_plan(plan);
                answer.set_cost(problem, plan);
            }
        }
        // The bound is known even if there is no plan.
        answer.report.lower_bound = lower_bound(problem, outcome).0;
        // SAFETY: the caller's promises.
        unsafe {
            answer.set_witness(outcome);
            answer.write();
        }
        // What `memplan_last_error` gives: mistakes that were repaired, and why there is no plan.
        let said: Vec<String> = planned.repairs().iter().cloned().chain(message(problem, outcome)).collect();
        Ok((status, said.join("\n")))
    })
}

/// Checks a plan, ours or anybody's: `MEMPLAN_OK` if it is right, `MEMPLAN_WRONG` if not, and then
/// `memplan_last_error` has a line for each violation. `report` may be null.
///
/// `problem` and `report` are null or point to structs that say their sizes; `offsets` has as many numbers as
/// `memplan_plan` writes. Every buffer has one space.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memplan_verify(
    problem: *const ProblemDescription,
    offsets: *const u64,
    report: *mut Report,
) -> Status {
    // SAFETY: the caller's promises.
    unsafe { memplan_verify_in_spaces(problem, offsets, std::ptr::null(), report) }
}

/// As `memplan_verify`, for buffers that may live in several spaces: `spaces` says in which each of them does.
///
/// `spaces` has `buffer_count` numbers, or is null if every buffer has one space.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memplan_verify_in_spaces(
    problem: *const ProblemDescription,
    offsets: *const u64,
    spaces: *const u32,
    report: *mut Report,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promises.
        let problem = unsafe { problem::read(problem)? };
        // SAFETY: the caller's promises.
        let mut answer = unsafe { Answer::of(report)? };
        check_room(&problem, offsets)?;
        // If a buffer may live in several spaces, its offset alone does not say where it is.
        if let Some(buffer) = problem::first_with_choice(&problem).filter(|_| spaces.is_null()) {
            let index = memplan::core::Id::index(buffer);
            return Err(Failure::argument(format!(
                "buffer {index} may live in several spaces; say in which with memplan_verify_in_spaces"
            )));
        }
        let (buffers, slots) = (problem.buffers().len(), problem::slot_count(&problem));
        // SAFETY: the caller has one for each slot; without any the pointer is not used.
        let offsets = if slots == 0 { &[] } else { unsafe { std::slice::from_raw_parts(offsets, slots) } };
        // SAFETY: the caller has as many as there are buffers.
        let spaces = (!spaces.is_null()).then(|| unsafe { std::slice::from_raw_parts(spaces, buffers) });
        let plan = problem::plan_of(&problem, offsets, spaces)?;
        let findings = finding::in_packing(&problem, &plan);
        answer.report.lower_bound = bound::lower_bound(&problem).0;
        answer.report.violations = findings.len() as u64;
        // SAFETY: the caller's promises.
        unsafe {
            answer.set_plan(&plan);
            answer.set_cost(&problem, &plan);
            answer.write();
        }
        let lines: Vec<&str> = findings.iter().map(|finding| finding.message.as_str()).collect();
        let status = if findings.is_empty() { Status::MEMPLAN_OK } else { Status::MEMPLAN_WRONG };
        Ok((status, lines.join("\n")))
    })
}

/// Runs a pass such as "merge-alloc{alignment=64}" over the text of a program and gives the new text, checked
/// against the old one, to be released with `memplan_free_text`. `options` may be null; without a strategy in it the pass
/// plans as it likes.
///
/// `text` has `length` bytes; `pass` is a string; `options` is null or points to a struct that says its size;
/// `result` points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memplan_rewrite(
    text: *const c_char,
    length: usize,
    pass: *const c_char,
    options: *const Options,
    result: *mut *mut c_char,
) -> Status {
    guarded(|| {
        if text.is_null() || result.is_null() {
            return Err(Failure::argument("the text or the pointer for the result is null"));
        }
        // Rust has no slices of more bytes than that.
        if length > isize::MAX as usize {
            return Err(Failure::argument(format!("a text of {length} bytes does not fit into memory")));
        }
        // SAFETY: the caller's promises.
        let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) };
        // SAFETY: the caller's promises.
        let (spec, options) = unsafe { (string("the pass", pass)?, read_options(options)?) };
        let spec: PassSpec = spec.parse().map_err(|error: SpecError| Failure::argument(error.to_string()))?;
        if pass::find(&spec.name).is_none() {
            return Err(Failure::argument(format!("there is no pass called `{}`", spec.name)));
        }
        let stop = Stop::of(&options);
        // SAFETY: the caller's promises.
        let how = unsafe { how(&options, &stop)? };
        // One limit for reading, planning and writing; it holds until this value is dropped.
        let _current = stop.patience(&options).enter();
        let done = pass::opt(&Source::new("text.mlir", bytes), &[spec], &how);
        // The text may have several parts, each a program of its own. If the pass fails on one, the call fails.
        let mut notes = Vec::new();
        for part in &done.parts {
            match &part.chain {
                Ok(chain) => {
                    notes.extend(chain.iter().flat_map(|(_, output)| output.notes.iter().chain(output.repairs())))
                }
                Err(stopped) => return Err(driver_failure(stopped.failure.clone())),
            }
        }
        let notes: Vec<&str> = notes.into_iter().map(String::as_str).collect();
        let notes = notes.join("\n");
        let text =
            CString::new(done.text().unwrap_or_default()).map_err(|_| Failure::argument("the text has a NUL in it"))?;
        // SAFETY: `result` points to a pointer of the caller's.
        unsafe { result.write(text.into_raw()) };
        Ok((Status::MEMPLAN_OK, notes))
    })
}

/// Releases a text of `memplan_rewrite`, `memplan_plan_file` or `memplan_fit_file`. Null is fine.
///
/// `text` is null or comes from one of these and has not been released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memplan_free_text(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { CString::from_raw(text) });
    }
}

/// Plans a problem as the options say, and checks the plan.
///
/// # Safety
/// The pointers in the options are null or point to what the header says.
unsafe fn plan(problem: Problem, options: &Options) -> Result<Checked<Planned>, Failure> {
    let stop = Stop::of(options);
    // SAFETY: as promised to us.
    let how = unsafe { how(options, &stop)? };
    let _current = stop.patience(options).enter();
    driver::lay_out(&Plain::default(), &Input::of_problem(problem, Vec::new()), &how).map_err(driver_failure)
}

/// The status that an outcome has in C.
pub(crate) fn status_of(outcome: &Outcome) -> Status {
    match outcome {
        Outcome::Optimal(_) => Status::MEMPLAN_OPTIMAL,
        Outcome::Feasible { .. } => Status::MEMPLAN_FEASIBLE,
        Outcome::Infeasible(_) => Status::MEMPLAN_INFEASIBLE,
        Outcome::Exhausted { .. } => Status::MEMPLAN_EXHAUSTED,
    }
}

/// How to plan, as the options say. Without a strategy in them, the pass or the driver chooses one.
///
/// # Safety
/// The pointers in the options are null or point to what the header says.
pub(crate) unsafe fn how<'a>(options: &Options, stop: &'a Stop) -> Result<How<'a>, Failure> {
    // SAFETY: as promised to us.
    let name = unsafe { optional_string("the strategy", options.strategy)? };
    let strategy = name.map(|name| find(name).ok_or_else(|| no_strategy(name))).transpose()?;
    let strategy = strategy.map(|strategy| strategy as _);
    // Flags and fields that this version does not know are refused: the caller asks for something
    // it would not get.
    problem::no_more_than(options.flags, MEMPLAN_STRICT, || "memplan_options".to_owned())?;
    problem::is_zero(options.reserved, || "memplan_options".to_owned())?;
    let strict = options.flags & MEMPLAN_STRICT != 0 || How::strict_in_environment();
    Ok(How { strategy, request: request(options, stop)?, strict, ..How::default() })
}

/// The time limit of a caller; 0 means none.
fn time_limit(options: &Options) -> Option<Duration> {
    (options.time_limit_ms > 0).then(|| Duration::from_millis(options.time_limit_ms))
}

/// The request that the options of a caller describe. A limit of 0 means no limit, and 0 threads
/// mean all cores. An effort that does not exist is a failure. `stop` is asked by searches whether
/// to end.
fn request<'a>(options: &Options, stop: &'a Stop) -> Result<Request<'a>, Failure> {
    Ok(Request {
        seed: options.seed,
        effort: match options.effort {
            MEMPLAN_QUICK => Effort::Quick,
            MEMPLAN_THOROUGH => Effort::Thorough,
            MEMPLAN_NORMAL => Effort::Normal,
            other => return Err(Failure::argument(format!("there is no effort {other}"))),
        },
        time_limit: time_limit(options),
        work_limit: (options.work_limit > 0).then_some(options.work_limit),
        threads: (options.threads > 0).then_some(options.threads as usize),
        observer: Some(stop),
        ..Request::default()
    })
}

/// The failure for a strategy that does not exist.
fn no_strategy(name: &str) -> Failure {
    Failure::argument(format!("there is no strategy called `{name}`"))
}

/// A failure of the driver as one of ours: its kind decides the status. What is neither the input's
/// fault, nor that of an argument, nor a bug, is a refusal.
pub(crate) fn driver_failure(error: driver::Failure) -> Failure {
    let status = match &error {
        driver::Failure::Input(_) => Status::MEMPLAN_UNREADABLE,
        driver::Failure::Spec(_) | driver::Failure::Target(_) => Status::MEMPLAN_BAD_ARGUMENT,
        driver::Failure::Unsound(_) => Status::MEMPLAN_BUG,
        _ => Status::MEMPLAN_REFUSED,
    };
    Failure { status, message: error.to_string() }
}

/// Why there is no plan, in a sentence; `None` if there is one.
fn message(problem: &Problem, outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Infeasible(witness) => {
            let buffers: Vec<String> =
                witness.buffers.iter().map(|&id| memplan::core::Id::index(id).to_string()).collect();
            let buffers = buffers.join(" ");
            // Without a capacity nothing can be too large: then fixed offsets contradict each
            // other.
            Some(match problem.spaces()[witness.space].capacity {
                Some(capacity) => format!(
                    "at least {} B are needed and {capacity} B are there; these buffers cannot fit together: {buffers}",
                    witness.needed
                ),
                None => format!("these buffers cannot lie where they must, for their fixed offsets clash: {buffers}"),
            })
        }
        Outcome::Exhausted { .. } => Some("no plan was found within the limits".to_owned()),
        Outcome::Optimal(_) | Outcome::Feasible { .. } => None,
    }
}

/// The caller's callback `should_stop` with its argument. When it says so, a search ends with its best plan; reading,
/// checking and writing end a little later, without a result.
#[derive(Clone, Copy)]
pub(crate) struct Stop {
    /// The function; null if the caller has none.
    ask: crate::layout::StopCallback,
    /// What is handed to it.
    user_data: *mut c_void,
}

// SAFETY: the header says that the callback is called from any thread; the pointer is only handed back to it.
unsafe impl Sync for Stop {}
// SAFETY: as for `Sync`.
unsafe impl Send for Stop {}

impl Stop {
    /// The callback of the caller's options.
    pub(crate) fn of(options: &Options) -> Stop {
        Stop { ask: options.should_stop, user_data: options.user_data }
    }

    /// One limit for everything that a call does, from reading to writing: the time, and the caller's callback.
    pub(crate) fn patience(self, options: &Options) -> Patience {
        Patience::asking(time_limit(options), move || self.should_stop())
    }
}

impl Observer for Stop {
    fn should_stop(&self) -> bool {
        // SAFETY: the caller's function with the caller's pointer.
        self.ask.is_some_and(|ask| unsafe { ask(self.user_data) } != 0)
    }
}

/// The caller's options; the defaults if the pointer is null.
///
/// # Safety
/// `options` is null or points to a struct that says its size.
pub(crate) unsafe fn read_options(options: *const Options) -> Result<Options, Failure> {
    if options.is_null() {
        return Ok(Options::default());
    }
    // SAFETY: as promised to us.
    unsafe { read_sized(options, Options::default()) }
}

/// A string of the caller; `None` if it is null. `what` names it in the error for a string that is not UTF-8.
///
/// # Safety
/// `text` is null or a C string.
unsafe fn optional_string<'a>(what: &str, text: *const c_char) -> Result<Option<&'a str>, Failure> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: as promised to us.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map(Some).map_err(|_| Failure::argument(format!("{what} is not UTF-8")))
}

/// A string of the caller that must not be null.
///
/// # Safety
/// `text` is null or a C string.
pub(crate) unsafe fn string<'a>(what: &str, text: *const c_char) -> Result<&'a str, Failure> {
    // SAFETY: as promised to us.
    unsafe { optional_string(what, text)? }.ok_or_else(|| Failure::argument(format!("{what} is null")))
}

/// Checks that there is an array of offsets. Without buffers it may be null.
fn check_room(problem: &Problem, offsets: *const u64) -> Result<(), Failure> {
    if offsets.is_null() && !problem.buffers().is_empty() {
        return Err(Failure::argument("the pointer to the offsets is null"));
    }
    Ok(())
}
