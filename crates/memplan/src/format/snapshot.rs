//! Memory snapshots of PyTorch, with what its caching allocator did beside the problem.

use memplan_models::source::ReadAt;
use memplan_models::{ReadError, snapshot};

use super::{Format, Input, PeerPlan, ReadOptions};
use crate::wording;

/// What `torch.cuda.memory._dump_snapshot()` writes.
pub(super) struct Snapshot;

impl Format for Snapshot {
    fn name(&self) -> &'static str {
        "snapshot"
    }

    fn describe(&self) -> &'static str {
        "a memory snapshot of PyTorch (a pickle, read as data): its allocations, named after their stack frames"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["pickle", "pkl"]
    }

    // A pickle is no text.
    fn sniff(&self, _text: &str) -> bool {
        false
    }

    fn sniff_binary(&self, head: &[u8]) -> bool {
        snapshot::is_pickle(head)
    }

    fn is_binary(&self) -> bool {
        true
    }

    fn read(&self, text: &str, options: &ReadOptions) -> Result<Input, ReadError> {
        self.read_binary(&text.as_bytes(), options)
    }

    /// The allocations in a memory snapshot of PyTorch as a problem, with PyTorch's own addresses beside it.
    fn read_binary(&self, source: &dyn ReadAt, _: &ReadOptions) -> Result<Input, ReadError> {
        // A pickle is read as a whole: its values refer to each other across all of it.
        let mut bytes = vec![0; usize::try_from(source.size()).unwrap_or(usize::MAX)];
        let failed = |error: std::io::Error| ReadError::at_byte("read::failed", 0, error.to_string());
        source.read_at(0, &mut bytes).map_err(failed)?;
        let read = snapshot::read(&bytes)?;
        let mut notes = read.notes;
        // What PyTorch itself needed comes first, and its own plan stands beside ours in comparisons.
        notes.insert(0, format!("PyTorch's caching allocator reserved {} at most", wording::sized(read.reserved)));
        let peers = read.plan.map(|plan| PeerPlan { name: "pytorch", plan }).into_iter().collect();
        Ok(Input { peers, ..Input::of_problem(read.problem, notes) })
    }
}
