//! Buffer assignments that XLA dumps, with XLA's own plan beside the problem.

use memplan_models::{ReadError, xla};

use super::{Format, Input, PeerPlan, ReadOptions};

/// The text of a `...-buffer-assignment.txt`, followed by that of the `...-live-range.txt`.
pub(super) struct Xla;

impl Format for Xla {
    fn name(&self) -> &'static str {
        "xla"
    }

    fn describe(&self) -> &'static str {
        "a buffer assignment dumped by XLA, its live ranges behind it or in the file beside it"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &[]
    }

    fn sniff(&self, text: &str) -> bool {
        xla::is_dump(text)
    }

    // XLA writes two files for each module, and both are needed.
    fn sibling(&self, file_name: &str) -> Option<String> {
        let stem = file_name.strip_suffix("-buffer-assignment.txt")?;
        Some(format!("{stem}-live-range.txt"))
    }

    fn read(&self, text: &str, _: &ReadOptions) -> Result<Input, ReadError> {
        let dump = xla::read(text)?;
        let peers = vec![PeerPlan { name: "xla", plan: dump.plan }];
        Ok(Input { peers, ..Input::of_problem(dump.problem, dump.notes) })
    }
}
