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
        let at = self.by_end.place((end, 0));
        let Some((run_end, run_start)) = self.by_end.get(at).filter(|&(_, run_start)| run_start <= start) else {
            return false;
        };
        let whole = (run_end - run_start, run_start);
        // What is left of the run below the bytes, and above them.
        match (run_start < start, end < run_end) {
            (false, false) => {
                self.by_end.remove_at(at);
                self.by_length.remove(whole);
            }
            (false, true) => {
                self.by_end.set(at, (run_end, end));
                self.by_length.replace(whole, (run_end - end, end));
            }
            (true, false) => {
                self.by_end.set(at, (start, run_start));
                self.by_length.replace(whole, (start - run_start, run_start));
            }
            (true, true) => {
                self.by_end.set(at, (run_end, end));
                self.by_end.insert_at(at, (start, run_start));
                self.by_length.replace(whole, (run_end - end, end));
                self.by_length.insert((start - run_start, run_start));
            }
        }
        true
    }

    /// Takes bytes from the front of a run: of the `most` shortest runs that hold them, the first one whose start
    /// `is_wanted`. Returns the start; `None` if none of these runs is wanted.
    pub(crate) fn take_front(&mut self, bytes: u64, most: usize, is_wanted: impl Fn(u64) -> bool) -> Option<u64> {
        let mut place = self.by_length.place((bytes, 0));
        for _ in 0..most {
            let (length, start) = self.by_length.get(place)?;
            if is_wanted(start) {
                let (end, at) = (start + length, self.by_end.place((start + length, 0)));
                if length == bytes {
                    self.by_end.remove_at(at);
                    self.by_length.remove_at(place);
                } else {
                    self.by_end.set(at, (end, start + bytes));
                    self.by_length.replace_at(place, (length - bytes, start + bytes));
                }
                return Some(start);
            }
            place = self.by_length.next(place);
        }
        None
    }

    /// Whether all of the bytes are free.
    pub(crate) fn covers(&self, start: u64, bytes: u64) -> bool {
        self.by_end.from((start + bytes, 0)).next().is_some_and(|(_, run_start)| run_start <= start)
    }

    /// Gives bytes back and merges them with the free bytes beside them.
    pub(crate) fn give(&mut self, start: u64, bytes: u64) {
        let end = start + bytes;
        // The first run that does not end below the bytes: it ends where they start, or it lies above them.
        let at = self.by_end.place((start, 0));
        let left = self.by_end.get(at).filter(|&(run_end, _)| run_end == start).map(|(_, run_start)| run_start);
        let above = if left.is_some() { self.by_end.next(at) } else { at };
        let next = self.by_end.get(above);
        debug_assert!(next.is_none_or(|(_, first)| first >= end), "bytes {start}..{end} are given back twice");
        let right = next.filter(|&(_, run_start)| run_start == end).map(|(run_end, _)| run_end);
        match (left, right) {
            (None, None) => {
                self.by_end.insert_at(at, (end, start));
                self.by_length.insert((bytes, start));
            }
            (Some(low), None) => {
                self.by_end.set(at, (end, low));
                self.by_length.replace((start - low, low), (end - low, low));
            }
            (None, Some(high)) => {
                self.by_end.set(at, (high, start));
                self.by_length.replace((high - end, end), (high - start, start));
            }
            (Some(low), Some(high)) => {
                self.by_end.set(above, (high, low));
                self.by_end.remove_at(at);
                self.by_length.remove((high - end, end));
                self.by_length.replace((start - low, low), (high - low, low));
            }
        }
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
    use memplan_testkit::Random;

    /// Random requests and frees against a list that says of every byte whether it is free.
    #[test]
    fn runs_are_the_free_bytes() {
        let mut random = Random::new(5);
        let (mut runs, mut is_free) = (Runs::whole(200), vec![true; 200]);
        let mut taken: Vec<(u64, u64)> = Vec::new();
        for _ in 0..5_000 {
            let (start, bytes) = (random.below(200), 1 + random.below(12));
            match random.below(3) {
                0 => {
                    let all = (start..start + bytes).all(|byte| is_free.get(byte as usize) == Some(&true));
                    assert_eq!((runs.covers(start, bytes), runs.take(start, bytes)), (all, all));
                    if all {
                        taken.push((start, bytes));
                        is_free[start as usize..(start + bytes) as usize].fill(false);
                    }
                }
                1 => {
                    let fitting: Vec<u64> = runs.fitting(bytes).take(3).collect();
                    let found = runs.take_front(bytes, 3, |start| start % 2 == 0);
                    assert_eq!(found, fitting.into_iter().find(|start| start % 2 == 0));
                    if let Some(start) = found {
                        taken.push((start, bytes));
                        is_free[start as usize..(start + bytes) as usize].fill(false);
                    }
                }
                _ if taken.is_empty() => {}
                _ => {
                    let (start, bytes) = taken.swap_remove(random.below(taken.len() as u64) as usize);
                    runs.give(start, bytes);
                    is_free[start as usize..(start + bytes) as usize].fill(true);
                }
            }
            // The runs are maximal, so they are the borders between free bytes and others.
            let border = |byte: usize| byte.checked_sub(1).is_some_and(|before| is_free[before]);
            let starts = (0..200).filter(|&byte| is_free[byte] && !border(byte));
            assert!(runs.iter().map(|(start, _)| start as usize).eq(starts));
            assert_eq!(
                runs.iter().map(|(start, end)| end - start).sum::<u64>(),
                is_free.iter().filter(|free| **free).count() as u64
            );
            let mut lengths: Vec<(u64, u64)> = runs.iter().map(|(start, end)| (end - start, start)).collect();
            lengths.sort_unstable();
            assert!(runs.by_length.iter().eq(lengths));
        }
    }

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
