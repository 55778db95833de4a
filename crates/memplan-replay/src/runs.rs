//! The free bytes of a region: maximal runs, found by place and by length.
//!
//! ```text
//!  0        64       96            256
//!  ├────────┤████████├──────────────┤      runs: 0..64 and 96..256
//! ```
//! Two runs never touch: bytes that come back are merged with their neighbours at once.

use std::collections::{BTreeMap, BTreeSet};

/// Maximal runs of free bytes, half-open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Runs {
    by_start: BTreeMap<u64, u64>,
    by_length: BTreeSet<(u64, u64)>,
}

impl Runs {
    /// One run from 0 to `length`.
    pub(crate) fn whole(length: u64) -> Self {
        let mut runs = Self::default();
        if length > 0 {
            runs.insert(0, length);
        }
        runs
    }

    fn insert(&mut self, start: u64, end: u64) {
        self.by_start.insert(start, end);
        self.by_length.insert((end - start, start));
    }

    fn remove(&mut self, start: u64, end: u64) {
        self.by_start.remove(&start);
        self.by_length.remove(&(end - start, start));
    }

    /// Takes the bytes if all of them are free.
    #[must_use]
    pub(crate) fn take(&mut self, start: u64, bytes: u64) -> bool {
        let Some((&from, &to)) = self.by_start.range(..=start).next_back() else { return false };
        if to < start + bytes {
            return false;
        }
        self.remove(from, to);
        if from < start {
            self.insert(from, start);
        }
        if start + bytes < to {
            self.insert(start + bytes, to);
        }
        true
    }

    /// Whether all of the bytes are free.
    pub(crate) fn covers(&self, start: u64, bytes: u64) -> bool {
        self.by_start.range(..=start).next_back().is_some_and(|(_, &end)| start + bytes <= end)
    }

    /// Gives bytes back and merges them with the free bytes beside them.
    pub(crate) fn give(&mut self, start: u64, bytes: u64) {
        let (mut from, mut to) = (start, start + bytes);
        if let Some((&left, &end)) = self.by_start.range(..=start).next_back() {
            debug_assert!(end <= start, "bytes {start}..{to} are given back twice");
            if end == start {
                self.remove(left, end);
                from = left;
            }
        }
        if let Some(&end) = self.by_start.get(&to) {
            self.remove(to, end);
            to = end;
        }
        self.insert(from, to);
    }

    /// Starts of runs that hold this many bytes, the shortest run first.
    pub(crate) fn fitting(&self, bytes: u64) -> impl Iterator<Item = u64> + '_ {
        self.by_length.range((bytes, 0)..).map(|&(_, start)| start)
    }

    /// All runs as (start, end), from low to high.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> + '_ {
        self.by_start.iter().map(|(&start, &end)| (start, end))
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
