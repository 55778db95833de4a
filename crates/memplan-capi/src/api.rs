//! The functions of the header.

use std::ffi::{CStr, CString, c_char, c_void};
use std::time::Duration;

use memplan::core::{Outcome, Problem, bound};
use memplan::finding;
use memplan::models::plan::json::lower_bound;
use memplan::pass::{self, PassFailure, PassHow, PassSpec};
use memplan::pipeline::{self, How, Source};
use memplan::planner::{Observer, Request, find};

use crate::error::{Failure, Status, last};
use crate::guard::guarded;
use crate::layout::{Options, ProblemDescription, Report, check_size, read_sized};
use crate::problem;

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

/// Plans: writes one offset per buffer to `offsets` if the status is `MEMPLAN_OPTIMAL` or `MEMPLAN_FEASIBLE`, and
/// leaves it alone otherwise. `options` and `report` may be null. The plan has been checked.
///
/// # Safety
/// `problem`, `options` and `report` are null or point to structs that say their sizes; `offsets` has room for
/// `buffer_count` numbers.
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
        unsafe { check_report(report)? };
        check_room(&problem, offsets)?;
        // SAFETY: the caller's promises.
        let outcome = unsafe { plan(&problem, &options)? };
        let status = match &outcome {
            Outcome::Optimal(_) => Status::MEMPLAN_OPTIMAL,
            Outcome::Feasible { .. } => Status::MEMPLAN_FEASIBLE,
            Outcome::Infeasible(_) => Status::MEMPLAN_INFEASIBLE,
            Outcome::Exhausted { .. } => Status::MEMPLAN_EXHAUSTED,
        };
        if let Some(plan) = outcome.plan() {
            let found = problem::offsets_of(&problem, plan);
            // SAFETY: the caller has room for as many as there are buffers; a null pointer was refused above unless there are none.
            unsafe { std::ptr::copy_nonoverlapping(found.as_ptr(), offsets, found.len()) };
        }
        let extent = outcome.plan().map_or(0, |plan| plan.extent().0);
        // SAFETY: checked above.
        unsafe { write_report(report, extent, lower_bound(&problem, &outcome).0, 0) };
        Ok((status, message(&outcome)))
    })
}

/// Checks a plan, ours or anybody's: `MEMPLAN_OPTIMAL` if it is right, `MEMPLAN_WRONG` if not, and then
/// `memplan_last_error` has a line for each violation. `report` may be null.
///
/// # Safety
/// `problem` and `report` are null or point to structs that say their sizes; `offsets` has `buffer_count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memplan_verify(
    problem: *const ProblemDescription,
    offsets: *const u64,
    report: *mut Report,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promises.
        let problem = unsafe { problem::read(problem)? };
        // SAFETY: the caller's promises.
        unsafe { check_report(report)? };
        check_room(&problem, offsets)?;
        let count = problem.buffers().len();
        // SAFETY: the caller has as many as there are buffers; without any the pointer is not used.
        let offsets = if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(offsets, count) } };
        let plan = problem::plan_of(&problem, offsets);
        let findings = finding::in_packing(&problem, &plan);
        // SAFETY: checked above.
        unsafe { write_report(report, plan.extent().0, bound::lower_bound(&problem).0, findings.len() as u64) };
        let lines: Vec<&str> = findings.iter().map(|finding| finding.message.as_str()).collect();
        let status = if findings.is_empty() { Status::MEMPLAN_OPTIMAL } else { Status::MEMPLAN_WRONG };
        Ok((status, lines.join("\n")))
    })
}

/// Runs a pass such as "merge-alloc{alignment=64}" over the text of a program and gives the new text, checked
/// against the old one, to be released with `memplan_free_text`. `options` may be null; without a strategy in it the pass
/// plans as it likes.
///
/// # Safety
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
        if length > isize::MAX as usize {
            return Err(Failure::argument(format!("a text of {length} bytes does not fit into memory")));
        }
        // SAFETY: the caller's promises.
        let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) };
        // SAFETY: the caller's promises.
        let (spec, options) = unsafe { (string("the pass", pass)?, read_options(options)?) };
        let spec: PassSpec =
            spec.parse().map_err(|error: memplan::mlir::pass::SpecError| Failure::argument(error.to_string()))?;
        let pass = pass::find(&spec.name)
            .ok_or_else(|| Failure::argument(format!("there is no pass called `{}`", spec.name)))?;
        // SAFETY: the caller's promises.
        let strategy = unsafe { optional_string("the strategy", options.strategy)? };
        let strategy = strategy.map(|name| find(name).ok_or_else(|| no_strategy(name))).transpose()?;
        let stop = Stop::of(&options);
        let how = PassHow { strategy, request: request(&options, &stop), device: None };
        let rewritten = pass.run(&Source::new("text.mlir", bytes), &spec.options, &how).map_err(pass_failure)?;
        let notes = rewritten.notes.join("\n");
        let text = CString::new(rewritten.text).map_err(|_| Failure::argument("the text has a NUL in it"))?;
        // SAFETY: `result` points to a pointer of the caller's.
        unsafe { result.write(text.into_raw()) };
        Ok((Status::MEMPLAN_OPTIMAL, notes))
    })
}

/// Releases a text of `memplan_rewrite`. Null is fine.
///
/// # Safety
/// `text` is null or comes from `memplan_rewrite` and has not been released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memplan_free_text(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { CString::from_raw(text) });
    }
}

/// # Safety
/// The pointers in the options are null or point to what the header says.
unsafe fn plan(problem: &Problem, options: &Options) -> Result<Outcome, Failure> {
    // SAFETY: as promised to us.
    let name = unsafe { optional_string("the strategy", options.strategy)? }.unwrap_or("auto");
    let strategy = find(name).ok_or_else(|| no_strategy(name))?;
    let stop = Stop::of(options);
    let how = How { strategy, request: request(options, &stop) };
    let (outcome, _) = pipeline::plan(problem, &how).map_err(|refusal| Failure::refused(refusal.to_string()))?;
    pipeline::check(problem, None, outcome, strategy)
        .map_err(|bug| Failure { status: Status::MEMPLAN_BUG, message: bug.to_string() })
}

fn request<'a>(options: &Options, stop: &'a Stop) -> Request<'a> {
    Request {
        seed: options.seed,
        time_limit: (options.time_limit_ms > 0).then(|| Duration::from_millis(options.time_limit_ms)),
        work_limit: (options.work_limit > 0).then_some(options.work_limit),
        threads: (options.threads > 0).then_some(options.threads as usize),
        observer: Some(stop),
        ..Request::default()
    }
}

fn no_strategy(name: &str) -> Failure {
    Failure::argument(format!("there is no strategy called `{name}`"))
}

fn pass_failure(error: PassFailure) -> Failure {
    let status = match &error {
        PassFailure::Input(_) => Status::MEMPLAN_UNREADABLE,
        PassFailure::Spec(_) => Status::MEMPLAN_BAD_ARGUMENT,
        PassFailure::Unsound(_) => Status::MEMPLAN_BUG,
        _ => Status::MEMPLAN_REFUSED,
    };
    Failure { status, message: error.to_string() }
}

/// Why there is no plan; nothing otherwise.
fn message(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Infeasible(witness) => {
            let buffers: Vec<String> =
                witness.buffers.iter().map(|&id| memplan::core::Id::index(id).to_string()).collect();
            format!(
                "{} B are needed and {} B are there; these buffers cannot fit together: {}",
                witness.needed,
                witness.capacity,
                buffers.join(" ")
            )
        }
        Outcome::Exhausted { .. } => "no plan was found within the limits".to_owned(),
        Outcome::Optimal(_) | Outcome::Feasible { .. } => String::new(),
    }
}

/// The caller's way to end a search.
struct Stop {
    ask: crate::layout::StopCallback,
    user_data: *mut c_void,
}

// SAFETY: the header says that the callback is called from any thread; the pointer is only handed back to it.
unsafe impl Sync for Stop {}

impl Stop {
    fn of(options: &Options) -> Stop {
        Stop { ask: options.should_stop, user_data: options.user_data }
    }
}

impl Observer for Stop {
    fn should_stop(&self) -> bool {
        // SAFETY: the caller's function with the caller's pointer.
        self.ask.is_some_and(|ask| unsafe { ask(self.user_data) } != 0)
    }
}

/// # Safety
/// `options` is null or points to a struct that says its size.
unsafe fn read_options(options: *const Options) -> Result<Options, Failure> {
    if options.is_null() {
        return Ok(Options::default());
    }
    // SAFETY: as promised to us.
    unsafe { read_sized(options, Options::default()) }
}

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

/// # Safety
/// `text` is null or a C string.
unsafe fn string<'a>(what: &str, text: *const c_char) -> Result<&'a str, Failure> {
    // SAFETY: as promised to us.
    unsafe { optional_string(what, text)? }.ok_or_else(|| Failure::argument(format!("{what} is null")))
}

fn check_room(problem: &Problem, offsets: *const u64) -> Result<(), Failure> {
    if offsets.is_null() && !problem.buffers().is_empty() {
        return Err(Failure::argument("the pointer to the offsets is null"));
    }
    Ok(())
}

/// # Safety
/// `report` is null or points to a struct that says its size.
unsafe fn check_report(report: *const Report) -> Result<(), Failure> {
    if report.is_null() {
        return Ok(());
    }
    // SAFETY: every version begins with its size.
    check_size("memplan_report", unsafe { report.cast::<usize>().read_unaligned() }, size_of::<Report>())
}

/// # Safety
/// `report` is null or has passed [`check_report`].
unsafe fn write_report(report: *mut Report, extent: u64, lower_bound: u64, violations: u64) {
    if !report.is_null() {
        // SAFETY: the caller's struct is at least as long as ours; its size stays.
        unsafe {
            let struct_size = (&raw const (*report).struct_size).read_unaligned();
            report.write_unaligned(Report { struct_size, extent, lower_bound, violations });
        }
    }
}
