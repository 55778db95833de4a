//! Traces of PyTorch's profiler, of which the memory events are read.

use memplan_core::Bytes;
use memplan_models::{ReadError, kineto};

use super::{Format, Input, ReadOptions};
use crate::wording;

/// What `export_chrome_trace()` of a profile with memory events writes.
pub(super) struct Kineto;

impl Format for Kineto {
    fn name(&self) -> &'static str {
        "kineto"
    }

    fn describe(&self) -> &'static str {
        "a trace of PyTorch's profiler with memory events (profile_memory=True): its allocations, named after operators"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["trace.json"]
    }

    fn sniff(&self, text: &str) -> bool {
        kineto::is_trace(text)
    }

    /// The allocations in a trace of PyTorch's profiler as a problem.
    fn read(&self, text: &str, _: &ReadOptions) -> Result<Input, ReadError> {
        let read = kineto::read(text)?;
        let mut notes = read.notes;
        // The most that PyTorch itself needed is what the user wants to compare a plan with, so it comes first.
        if read.reserved > Bytes(0) {
            let words = format!("PyTorch's caching allocator reserved {} at most", wording::sized(read.reserved));
            notes.insert(0, words);
        }
        Ok(Input::of_problem(read.problem, notes))
    }
}
