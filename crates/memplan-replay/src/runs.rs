//! The free bytes of a region: maximal runs, found by place and by length.
//!
//! ```text
//!  0        64       96            256
//!  ├────────┤████████├──────────────┤      runs: 0..64 and 96..256
//! ```
//! Two runs never touch: bytes that come back are merged with their neighbours at once.

use crate::sorted::Sorted;

/// Maximal runs of free bytes, half-open. Most requests are cut from the front of a run, which changes the start of the
/// run and not its end. So runs are stored by their ends: such a request changes an entry in place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Runs {
    /// (end, start) of every run.
    by_end: Sorted,
    /// (length, start) of every run.
    by_length: Sorted,
}

impl Runs {
    /// One run from 0 to `length`.
    pub(crate) fn whole(length: u64) -> Self {
        let mut runs = Self::default();
        if length > 0 {
            runs.by_end.insert((length, 0));
            runs.by_length.insert((length, 0));
        }
        runs
    }

    /// Takes the bytes if all of them are free.
    #[must_use]
    pub(crate) fn take(&mut self, start: u64, bytes: u64) -> bool {
        let end = start + bytes;
        // Runs are disjoint. So of all runs that end at or above the end of the bytes, only the first can hold them.
        let Some((to, from)) = self.by_end.first_from((end, 0)) else { return false };
        let (run_start, run_end) = (*from, *to);
        if run_start > start {
            return false;
        }
        self.by_length.remove((run_end - run_start, run_start));
        if end < run_end {
            *from = end;
            self.by_length.insert((run_end - end, end));
        } else {
            self.by_end.remove((run_end, run_start));
        }
        if run_start < start {
            self.by_end.insert((start, run_start));
            self.by_length.insert((start - run_start, run_start));
        }
        true
    }

    /// Whether all of the bytes are free.
    pub(crate) fn covers(&self, start: u64, bytes: u64) -> bool {
        self.by_end.from((start + bytes, 0)).next().is_some_and(|(_, run_start)| run_start <= start)
    }

    /// Gives bytes back and merges them with the free bytes beside them.
    pub(crate) fn give(&mut self, start: u64, bytes: u64) {
        let end = start + bytes;
        let mut from = start;
        // A run that ends where the bytes start becomes part of them.
        if let Some(left) = self.by_end.remove_key(start) {
            self.by_length.remove((start - left, left));
            from = left;
        }
        let mut to = end;
        match self.by_end.first_from((start + 1, 0)) {
            // The next run starts where the bytes end: it grows down to `from`.
            Some((right, first)) if *first == end => {
                self.by_length.remove((*right - end, end));
                *first = from;
                to = *right;
            }
            next => {
                debug_assert!(next.is_none_or(|(_, first)| *first > end), "bytes {start}..{end} are given back twice");
                self.by_end.insert((end, from));
            }
        }
        self.by_length.insert((to - from, from));
    }

    /// Starts of runs that hold this many bytes, the shortest run first.
    pub(crate) fn fitting(&self, bytes: u64) -> impl Iterator<Item = u64> + '_ {
        self.by_length.from((bytes, 0)).map(|(_, start)| start)
    }

    /// All runs as (start, end), from low to high.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> + '_ {
        self.by_end.iter().map(|(end, start)| (start, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_split_and_merged() {
        let mut runs = Runs::whole(100);
        assert!(runs.take(40, 20));
        assert!(!runs.take(30, 20), "40..50 is taken");
        assert_eq!(runs.iter().collect::<Vec<_>>(), [(0, 40), (60, 100)]);
        assert_eq!(runs.fitting(40).collect::<Vec<_>>(), [0, 60]);
        assert!(runs.take(0, 40));
        runs.give(40, 20);
        assert_eq!(runs.iter().collect::<Vec<_>>(), [(40, 100)]);
        runs.give(0, 40);
        assert_eq!(runs, Runs::whole(100));
        assert!(!runs.take(90, 20), "beyond the end");
    }
}
