//! The lives of allocations, from a recording of which addresses were allocated and freed in which order.
//!
//! ```text
//! step 1  allocate 4096, 700 bytes      → alive in [1, 3)
//! step 2  free     8192, 100 bytes      → allocated before the recording: alive in [0, 2)
//! step 3  free     4096
//! step 4  allocate 4096, 512 bytes      → never freed: alive until the end
//! ```
//!
//! Step 0 is before the recording began.

use std::collections::HashMap;

/// The name of allocations that were there before the recording began.
pub(crate) const BEFORE: &str = "before recording";

/// An allocation with its life.
#[derive(Clone, Debug)]
pub(crate) struct Allocation {
    /// The number of the stream (a queue of work of a GPU) for which the memory was allocated.
    pub(crate) stream: u64,
    /// Where it lies in the memory of the device.
    pub(crate) address: u64,
    /// In bytes.
    pub(crate) size: u64,
    /// The first step at which it is alive.
    pub(crate) start: u64,
    /// The first step at which it is no longer alive; `u64::MAX` as long as it has not been freed.
    pub(crate) end: u64,
    /// What it is called in messages.
    pub(crate) name: String,
}

/// Follows a recording, event by event.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// Allocations that were there before the recording began.
    older: Vec<Allocation>,
    /// Allocations of the recording.
    newer: Vec<Allocation>,
    /// The allocation that holds each address now, as a position in `newer`.
    open: HashMap<u64, usize>,
}

impl Ledger {
    /// Records an allocation, whose `end` does not matter yet. If another allocation still holds its address, that
    /// one ends here: its free was not recorded.
    pub(crate) fn allocate(&mut self, one: Allocation) {
        if let Some(lost) = self.open.insert(one.address, self.newer.len()) {
            self.newer[lost].end = one.start;
        }
        self.newer.push(Allocation { end: u64::MAX, ..one });
    }

    /// Records a free: the allocation that holds the address ends at `one.end`. If there is none, `one` was allocated
    /// before the recording began.
    pub(crate) fn free(&mut self, one: Allocation) {
        match self.open.remove(&one.address) {
            Some(ended) => self.newer[ended].end = one.end,
            None => self.older.push(Allocation { start: 0, name: BEFORE.to_owned(), ..one }),
        }
    }

    /// Records an allocation, by stream, address and size, that was there before the recording and was never freed.
    pub(crate) fn always(&mut self, (stream, address, size): (u64, u64, u64), name: String) {
        self.older.push(Allocation { stream, address, size, start: 0, end: u64::MAX, name });
    }

    /// The size of the recorded allocation that holds an address now; `None` if there is none.
    pub(crate) fn size_at(&self, address: u64) -> Option<u64> {
        self.open.get(&address).map(|&index| self.newer[index].size)
    }

    /// Whether a recorded allocation holds an address now.
    pub(crate) fn is_open(&self, address: u64) -> bool {
        self.open.contains_key(&address)
    }

    /// How many allocations were there before the recording began.
    pub(crate) fn older(&self) -> usize {
        self.older.len()
    }

    /// All allocations, the older ones first. Those that were never freed end at `last`.
    pub(crate) fn finish(mut self, last: u64) -> Vec<Allocation> {
        self.older.append(&mut self.newer);
        for one in &mut self.older {
            one.end = one.end.min(last);
        }
        self.older
    }
}
