//! The C ABI as C and C++ see it.

mod arguments;
mod cpp;
mod header;
mod install;
mod parts;
mod planning;
mod plugin;
mod rewriting;

use memplan_capi::{BufferDescription, Options, ProblemDescription, Report, SpaceDescription, Status, memplan_plan};

/// A plain buffer.
fn buffer(size: u64, start: u64, end: u64) -> BufferDescription {
    BufferDescription { size, alignment: 1, start, end, ..BufferDescription::default() }
}

/// A problem over these arrays.
fn problem(buffers: &[BufferDescription], spaces: &[SpaceDescription]) -> ProblemDescription {
    ProblemDescription {
        buffers: buffers.as_ptr(),
        buffer_count: buffers.len(),
        spaces: spaces.as_ptr(),
        space_count: spaces.len(),
        ..ProblemDescription::default()
    }
}

fn report() -> Report {
    Report { extent: 7, lower_bound: 7, violations: 7, witness_count: 7, ..Report::default() }
}

/// The message of this thread's last call.
fn last_error() -> String {
    // SAFETY: a string that lives until the thread's next call.
    unsafe { std::ffi::CStr::from_ptr(memplan_capi::memplan_last_error()) }.to_string_lossy().into_owned()
}

/// Plans into a fresh array.
fn plan(problem: &ProblemDescription, options: Option<&Options>) -> (Status, Vec<u64>, Report) {
    let mut offsets = vec![u64::MAX; problem.buffer_count];
    let mut report = report();
    let options = options.map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: all pointers are to live values of the current layout.
    let status = unsafe { memplan_plan(problem, options, offsets.as_mut_ptr(), &raw mut report) };
    (status, offsets, report)
}
