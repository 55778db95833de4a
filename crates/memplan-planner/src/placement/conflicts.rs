//! Which of the rectangles that are already placed are alive during a stretch of time?
//!
//! The stretches that can ever be placed are known beforehand, so they are
//! ranked by their start once. The index is then a table of ends by rank, 0 for
//! "not placed", under a pyramid of maxima, sixteen entries (one cache line) to
//! a node:
//!
//! ```text
//!   rank    0  1  2  3 │  4  5  6  7 │ …      (four to a node in the picture)
//!   start   0  0  1  3 │  3  4  6  8 │
//!   end     9  2  0  5 │  0  6  0 12 │ 0 = not placed
//!   maxima       9     │      12     │
//! ```
//!
//! A stretch meets `[s, e)` if it starts before `e` (a prefix of the ranks) and
//! ends after `s` (its entry is larger than `s`). Walking down from the top
//! into the entries larger than `s` finds exactly those, each in O(log n) or,
//! since neighbours in rank are neighbours in time, mostly O(1). There is no
//! interference graph: memory is linear, whatever the number of conflicts.

use std::sync::Arc;

/// Entries of a node: sixteen of 4 bytes are one cache line.
const FAN_OUT: usize = 16;

/// An index over stretches of time. Times are positions in a sorted list of steps. See the module documentation.
#[derive(Clone, Debug)]
pub struct Conflicts {
    /// Where the stretches start, by rank. Clones of the index share them.
    starts: Arc<[u32]>,
    /// Ends by rank, then maxima of sixteen entries of the level below.
    levels: Vec<Vec<u32>>,
}

impl Conflicts {
    /// An index in which nothing is placed yet. `starts` are those of all
    /// stretches that can be, in ascending order: their positions are the ranks.
    pub fn new(starts: Vec<u32>) -> Conflicts {
        debug_assert!(starts.is_sorted());
        // Each level has a maximum for every sixteen entries of the level below, up to one with at most sixteen. Levels
        // are padded with zeroes ("not placed"), so that a node can always be read as a whole.
        let mut levels = Vec::new();
        let mut width = starts.len().max(1);
        loop {
            levels.push(vec![0; width.next_multiple_of(FAN_OUT)]);
            if width <= FAN_OUT {
                return Conflicts { starts: starts.into(), levels };
            }
            width = width.div_ceil(FAN_OUT);
        }
    }

    /// An index in which everything is placed: starts in ascending order, with their ends.
    pub fn full(starts: Vec<u32>, ends: &[u32]) -> Conflicts {
        let mut index = Conflicts::new(starts);
        index.levels[0][..ends.len()].copy_from_slice(ends);
        for level in 1..index.levels.len() {
            // Each entry of a level is the largest of sixteen entries of the level below it.
            let (below, above) = index.levels.split_at_mut(level);
            for (highest, node) in above[0].iter_mut().zip(below[level - 1].chunks_exact(FAN_OUT)) {
                *highest = node.iter().copied().max().unwrap_or(0);
            }
        }
        index
    }

    /// Places the stretch of that rank, which ends at `end`.
    pub fn insert(&mut self, rank: usize, end: u32) {
        let mut position = rank;
        for level in &mut self.levels {
            // A maximum that is as large already stays, and so do all above it. (The entry itself, at the position
            // `rank` of the lowest level, is always written.)
            if level[position] >= end && position != rank {
                return;
            }
            level[position] = level[position].max(end);
            position /= FAN_OUT;
        }
    }

    /// Takes the stretch of that rank away.
    pub fn remove(&mut self, rank: usize) {
        self.levels[0][rank] = 0;
        let mut node = rank / FAN_OUT;
        for level in 1..self.levels.len() {
            let below = &self.levels[level - 1][node * FAN_OUT..(node + 1) * FAN_OUT];
            let highest = below.iter().copied().max().unwrap_or(0);
            self.levels[level][node] = highest;
            node /= FAN_OUT;
        }
    }

    /// Takes everything away.
    pub fn clear(&mut self) {
        for level in &mut self.levels {
            level.fill(0);
        }
    }

    /// Calls `visit` with the rank of every placed stretch that meets `[start, end)`, in order.
    pub fn for_each(&self, start: u32, end: u32, mut visit: impl FnMut(usize)) {
        // Ranks are positions in the sorted starts, so the stretches that start before `end` have the ranks below
        // `limit`.
        let limit = self.starts.partition_point(|&other| other < end);
        if limit > 0 {
            self.descend(self.levels.len() - 1, 0, start, limit, &mut visit);
        }
    }

    /// Visits the stretches below a node whose rank is below `limit` and whose end is after `start`. The recursion is
    /// as deep as there are levels: eight at most, since ranks have 32 bits.
    fn descend(&self, level: usize, node: usize, start: u32, limit: usize, visit: &mut impl FnMut(usize)) {
        let first = node * FAN_OUT;
        // How many entries of this level have a rank below the limit under them.
        let limit_here = limit.div_ceil(FAN_OUT.pow(level as u32));
        // The processor cannot predict which entries are met, so a branch for each would often be mispredicted. All
        // sixteen are compared at once instead, and only the ones in the mask are looked at.
        let mut met = mask_above(&self.levels[level][first..first + FAN_OUT], start);
        if limit_here < first + FAN_OUT {
            met &= (1u32 << limit_here.saturating_sub(first)) - 1;
        }
        // From the lowest bit upwards, so that ranks come in ascending order.
        while met != 0 {
            let position = first + met.trailing_zeros() as usize;
            met &= met - 1;
            if level == 0 {
                visit(position);
            } else {
                self.descend(level - 1, position, start, limit, visit);
            }
        }
    }
}

/// Bit i says whether entry i is larger than `start`.
fn mask_above(entries: &[u32], start: u32) -> u32 {
    debug_assert!(entries.len() == FAN_OUT, "a node is one cache line");
    entries.iter().enumerate().fold(0, |mask, (number, &entry)| mask | u32::from(entry > start) << number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn full_at_once_is_full_one_by_one(mut stretches in prop::collection::vec((0u32..60, 1u32..30), 0..600)) {
            stretches.sort_unstable();
            let starts: Vec<u32> = stretches.iter().map(|stretch| stretch.0).collect();
            let ends: Vec<u32> = stretches.iter().map(|stretch| stretch.0 + stretch.1).collect();
            let mut one_by_one = Conflicts::new(starts.clone());
            for (rank, &end) in ends.iter().enumerate() {
                one_by_one.insert(rank, end);
            }
            prop_assert_eq!(Conflicts::full(starts, &ends).levels, one_by_one.levels);
        }

        #[test]
        fn finds_what_a_scan_finds(
            mut stretches in prop::collection::vec((0u32..60, 1u32..30), 0..600),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..900),
            queries in prop::collection::vec((0u32..70, 1u32..40), 1..20),
        ) {
            stretches.sort_unstable();
            let mut index = Conflicts::new(stretches.iter().map(|stretch| stretch.0).collect());
            let mut placed = vec![false; stretches.len()];
            for (which, insert) in changes.iter().filter(|_| !stretches.is_empty()) {
                let rank = which.index(stretches.len());
                if *insert && !placed[rank] {
                    index.insert(rank, stretches[rank].0 + stretches[rank].1);
                } else if !insert {
                    index.remove(rank);
                }
                placed[rank] = *insert;
            }
            for (start, length) in queries {
                let mut found = Vec::new();
                index.for_each(start, start + length, |rank| found.push(rank));
                let meets = |rank: &usize| {
                    let (first, span) = stretches[*rank];
                    placed[*rank] && first < start + length && first + span > start
                };
                let expected: Vec<usize> = (0..stretches.len()).filter(meets).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }
}
