//! Objects in a row, found by when they are free.
//!
//! The question is always the same: which is the last object in the row that nobody uses during some
//! stretches of time? A tree over the row answers it. Every node knows when *all* objects below it are in
//! use, so a whole branch is passed over as soon as the asked time meets that:
//!
//! ```text
//!   object 0   ####....##         nodes        [0..4) all in use at 2..3
//!   object 1   ..##..####                     /      \
//!   object 2   .###......     [0, 2) at 2..4, 8..10   [2, 4) at 2..3
//!   object 3   ..#.......
//!              0123456789     For a life [2, 3) no object is free, and the root says so: answered at once.
//! ```
//!
//! The times of a node are the intersection of the times of its two children. When a use is added to an object, only
//! the times at which the sibling is in use as well are added to the parent, and mostly no such times are left after a
//! few levels. If all buffers are alive at once, both a new use and a question take O(log n) steps. In the worst case a
//! question looks at every object that is in use, as a search along the row would.

use std::collections::BTreeMap;

/// A stretch `[start, end)` of time. Times are positions in the sorted list of steps at which a buffer starts or ends.
pub(super) type Stretch = (u32, u32);

/// Disjoint stretches that do not even touch: start to end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Times(BTreeMap<u32, u32>);

/// The row. See the module documentation.
#[derive(Clone, Debug, Default)]
pub(super) struct Shelf {
    /// `levels[0]` has the times of each object; `levels[k][i]` the times at which the objects from `i << k` on,
    /// `1 << k` of them or as many as there are, are all in use. The last level has one node.
    levels: Vec<Vec<Times>>,
}

impl Shelf {
    /// Puts another object at the end of the row, in use during sorted, disjoint stretches.
    pub(super) fn push(&mut self, uses: &[Stretch]) {
        if self.levels.is_empty() {
            self.levels.push(Vec::new());
        }
        let mut position = self.levels[0].len();
        // From the new leaf up to the root: every node above it has one object more below it, so it keeps only the
        // times at which the new object is in use as well.
        for level in 0.. {
            if level == self.levels.len() {
                // So far the node below was the root. It gets a sibling, and both a new parent.
                let old_root = self.levels[level - 1][0].clone();
                self.levels.push(vec![old_root]);
            }
            match self.levels[level].get_mut(position) {
                Some(node) => node.restrict(uses),
                None => self.levels[level].push(Times::of(uses)),
            }
            if position == 0 && self.levels[level].len() == 1 {
                return;
            }
            position /= 2;
        }
    }

    /// Adds uses, sorted and disjoint, to an object that was free then.
    pub(super) fn add(&mut self, mut position: usize, uses: &[Stretch]) {
        let mut added = uses.to_vec();
        for level in 0..self.levels.len() {
            for &stretch in &added {
                self.levels[level][position].insert(stretch);
            }
            // Above, only the times matter at which the sibling is in use as well. A node without a sibling passes all
            // of them on.
            if let Some(sibling) = self.levels[level].get(position ^ 1) {
                added = sibling.common(&added);
            }
            if added.is_empty() {
                return;
            }
            position /= 2;
        }
    }

    /// The last object that is free during all of these stretches and for which `accept` says yes. `accept` is asked
    /// about free objects only, from the last to the first.
    pub(super) fn last_free(&self, when: &[Stretch], accept: &mut dyn FnMut(usize) -> bool) -> Option<usize> {
        self.last_free_below(self.levels.len().checked_sub(1)?, 0, when, accept)
    }

    /// The last object below a node of the tree that is free at these times and accepted. A node knows when all of its
    /// objects are taken, so whole subtrees are skipped.
    fn last_free_below(
        &self,
        level: usize,
        position: usize,
        when: &[Stretch],
        accept: &mut dyn FnMut(usize) -> bool,
    ) -> Option<usize> {
        let node = self.levels[level].get(position)?;
        // If all objects below this node are in use at one of the asked times, none of them is free.
        if when.iter().any(|&stretch| node.meets(stretch)) {
            return None;
        }
        if level == 0 {
            return accept(position).then_some(position);
        }
        let right = self.last_free_below(level - 1, 2 * position + 1, when, accept);
        right.or_else(|| self.last_free_below(level - 1, 2 * position, when, accept))
    }
}

impl Times {
    /// The set of sorted, disjoint stretches.
    fn of(stretches: &[Stretch]) -> Times {
        let mut times = Times::default();
        stretches.iter().for_each(|&stretch| times.insert(stretch));
        times
    }

    /// Whether a stretch has a time in common with the set. Only the last stretch that begins before its end can.
    fn meets(&self, (start, end): Stretch) -> bool {
        self.0.range(..end).next_back().is_some_and(|(_, &other_end)| other_end > start)
    }

    /// Adds a stretch that meets none of the others. Those that touch become one.
    fn insert(&mut self, (mut start, mut end): Stretch) {
        debug_assert!(start < end && !self.meets((start, end)), "a stretch is added once");
        if let Some((&before, &before_end)) = self.0.range(..start).next_back()
            && before_end == start
        {
            start = before;
        }
        if let Some(after_end) = self.0.remove(&end) {
            end = after_end;
        }
        self.0.insert(start, end);
    }

    /// Keeps only what lies inside sorted, disjoint stretches: takes out what is before, between and after them.
    fn restrict(&mut self, stretches: &[Stretch]) {
        let mut gap_start = 0;
        for &(start, end) in stretches {
            self.remove((gap_start, start));
            gap_start = end;
        }
        self.remove((gap_start, u32::MAX));
    }

    /// Takes a stretch of time out of the set. Stretches that reach over its edges are cut.
    fn remove(&mut self, (start, end): Stretch) {
        // As long as the last stretch that begins before `end` reaches into it.
        while let Some((&there, &there_end)) = self.0.range(..end).next_back()
            && there_end > start
        {
            self.0.remove(&there);
            if there_end > end {
                self.0.insert(end, there_end);
            }
            if there < start {
                self.0.insert(there, start);
            }
        }
    }

    /// The parts of sorted stretches that lie inside the set.
    fn common(&self, stretches: &[Stretch]) -> Vec<Stretch> {
        let mut common = Vec::new();
        for &(start, end) in stretches {
            // The stretch of the set that is there already at `start`, and those that begin after it and before `end`.
            // (A range of a map must not end before it begins, hence the `max`.)
            let first = self.0.range(..=start).next_back().filter(|&(_, &there_end)| there_end > start);
            let rest = self.0.range(start.saturating_add(1)..end.max(start.saturating_add(1)));
            let parts = first.into_iter().chain(rest);
            common.extend(parts.map(|(&there, &there_end)| (there.max(start), there_end.min(end))));
        }
        common
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_crowd_is_passed_over_at_the_root() {
        let mut shelf = Shelf::default();
        for _ in 0..1000 {
            shelf.push(&[(0, 10)]);
        }
        let mut asked = 0;
        let mut count = |_| {
            asked += 1;
            true
        };
        assert_eq!(shelf.last_free(&[(5, 6)], &mut count), None);
        assert_eq!(shelf.last_free(&[(10, 12)], &mut count), Some(999));
        assert_eq!(asked, 1);
    }

    /// Objects as lists of lives, searched from the end.
    #[derive(Default)]
    struct Row(Vec<Vec<Stretch>>);

    impl Row {
        fn last_free(&self, when: &[Stretch], accept: impl Fn(usize) -> bool) -> Option<usize> {
            let meets = |&(start, end): &Stretch| when.iter().any(|&(from, to)| start < to && from < end);
            (0..self.0.len()).rev().find(|&object| !self.0[object].iter().any(meets) && accept(object))
        }
    }

    /// Up to three stretches with gaps between them, from pairs of a pause and a length.
    fn stretches(parts: &[(u8, u8)]) -> Vec<Stretch> {
        let mut now = 0;
        let stretch = |&(pause, length): &(u8, u8)| {
            let start = now + 1 + u32::from(pause % 20);
            now = start + 1 + u32::from(length % 9);
            (start, now)
        };
        parts.iter().map(stretch).collect()
    }

    proptest! {
        #[test]
        fn the_same_object_as_in_a_plain_row(
            uses in prop::collection::vec((prop::collection::vec(any::<(u8, u8)>(), 0..4), 0u8..4), 0..60)
        ) {
            let (mut shelf, mut row) = (Shelf::default(), Row::default());
            for (parts, refused) in uses {
                let when = stretches(&parts);
                let accept = |object: usize| object % 4 != usize::from(refused);
                let expected = row.last_free(&when, accept);
                prop_assert_eq!(shelf.last_free(&when, &mut |object| accept(object)), expected);
                match expected {
                    Some(object) => {
                        shelf.add(object, &when);
                        row.0[object].extend(when);
                    }
                    None => {
                        shelf.push(&when);
                        row.0.push(when);
                    }
                }
            }
        }
    }
}
