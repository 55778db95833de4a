//! Which bytes are taken during a stretch of time, when very many buffers are alive at once?
//!
//! [`Conflicts`](super::conflicts::Conflicts) lists the rectangles in the way one by one. If thousands are alive
//! together, as in a training step, most of them lie directly on each other, and their bytes grow together into few
//! ranges. This index keeps those ranges instead of their owners, in a tree over time:
//!
//! ```text
//!                [0, 4)              taken anywhere in [0, 4):   any
//!               ╱      ╲             taken all through [0, 4):   throughout
//!          [0, 2)      [2, 4)
//!          ╱    ╲      ╱    ╲        a rectangle over [1, 4) is "throughout" in
//!        [0,1) [1,2) [2,3) [3,4)     [1, 2) and [2, 4), and "any" in those and above.
//! ```
//!
//! A byte is taken at some time in `[s, e)` if it is taken *anywhere* in one of the nodes that make up `[s, e)`, or
//! *throughout* one of the nodes above them. Adding a rectangle and asking for taken bytes both visit O(log t) nodes
//! for t steps. The ranges of a node are merged, so the time of a question depends on the number of merged ranges, not
//! on the number of buffers. The index needs O(n log t) memory at worst, and no rectangle can be removed from it.
//!
//! The lowest free offset ([`Skyline::lowest`]) needs no list of all ranges. The ranges of the nodes are looked at in
//! ascending order, and a range that ends high lets all nodes skip what lies below its end.
//!
//! A [`RangeSet`] is a set of bytes as sorted ranges that grow together where they touch.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use memplan_core::Bytes;

use super::range_set::RangeSet;

/// Ranges of one node that are still to be looked at.
type Rest<'a> = &'a [(u64, u64)];

/// What is asked for: an offset for a rectangle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// The bytes it occupies, relative to its offset.
    pub(crate) bytes: (u64, u64),
    /// Its offset is a multiple of this.
    pub(crate) alignment: u64,
    /// Its offset is at most this.
    pub(crate) highest: u64,
}

/// See the module documentation.
#[derive(Clone, Debug)]
pub(crate) struct Skyline {
    /// Leaves of the tree, a power of two; the leaf of time t is node `leaves + t`.
    leaves: usize,
    /// By node: bytes taken at some time of the node. The children of node i are 2i and 2i + 1; node 1 is the root.
    any: Vec<RangeSet>,
    /// By node: bytes taken at every time of the node, each by a single rectangle.
    throughout: Vec<RangeSet>,
}

impl Skyline {
    /// An index over the times `0..times` in which nothing is taken.
    pub(crate) fn new(times: usize) -> Skyline {
        let leaves = times.next_power_of_two();
        Skyline {
            leaves,
            any: vec![RangeSet::default(); 2 * leaves],
            throughout: vec![RangeSet::default(); 2 * leaves],
        }
    }

    /// Takes the bytes `low..high` during `[start, end)`, which has at least one step.
    pub(crate) fn insert(&mut self, (start, end): (u32, u32), (low, high): (u64, u64)) {
        debug_assert!(
            start < end,
            "an empty range of time has no leaf, but `above` would give out the nodes next to it"
        );
        for node in parts(self.leaves, start, end) {
            self.any[node].insert(low, high);
            self.throughout[node].insert(low, high);
        }
        for node in above(self.leaves, start, end) {
            self.any[node].insert(low, high);
        }
    }

    /// Calls `visit` with ranges that together are the bytes taken somewhere in `[start, end)`.
    pub(crate) fn for_each(&self, start: u32, end: u32, mut visit: impl FnMut((u64, u64))) {
        for node in parts(self.leaves, start, end) {
            self.any[node].ranges().iter().copied().for_each(&mut visit);
        }
        for node in above(self.leaves, start, end) {
            self.throughout[node].ranges().iter().copied().for_each(&mut visit);
        }
    }

    /// The lowest offset at which a rectangle meets nothing in `[start, end)`, and how many ranges were looked at.
    pub(crate) fn lowest(&self, (start, end): (u32, u32), wanted: &Wanted) -> (Option<u64>, u64) {
        let (low, high) = wanted.bytes;
        let anywhere = parts(self.leaves, start, end).map(|node| self.any[node].ranges());
        let throughout = above(self.leaves, start, end).map(|node| self.throughout[node].ranges());
        let mut rests: Vec<Rest> = anywhere.chain(throughout).filter(|ranges| !ranges.is_empty()).collect();
        // A heap of the lists, each by where its next range begins: together they are walked in ascending order.
        let firsts = rests.iter().enumerate().map(|(which, rest)| Reverse((rest[0].0, which)));
        let mut next: BinaryHeap<Reverse<(u64, usize)>> = firsts.collect();
        let (mut offset, mut looks) = (0, 0);
        while let Some(mut top) = next.peek_mut() {
            let Reverse((from, which)) = *top;
            // All sums are below 2^64: offsets and sizes are below 2^63. The lowest range begins at or above the end of
            // the rectangle, and so do all others: the offset is free.
            if from >= offset + high {
                break;
            }
            looks += 1;
            // If the range reaches above the rectangle's first byte, it is in the way, and that byte goes to its end.
            let to = rests[which][0].1;
            if to > offset + low {
                match Bytes(to - low).align_up(Bytes(wanted.alignment)).filter(|bytes| bytes.0 <= wanted.highest) {
                    Some(bytes) => offset = bytes.0,
                    None => return (None, looks),
                }
            }
            // Ranges of this list that end at or below the rectangle's first byte are not in its way any more.
            rests[which] = skip(rests[which], offset + low);
            match rests[which].first() {
                Some(range) => *top = Reverse((range.0, which)),
                None => {
                    PeekMut::pop(top);
                }
            }
        }
        ((offset <= wanted.highest).then_some(offset), looks)
    }

    /// Takes everything away.
    pub(crate) fn clear(&mut self) {
        self.any.iter_mut().chain(&mut self.throughout).for_each(RangeSet::clear);
    }
}

/// The ranges without those at the front that end at or below `end`. The step is doubled until it is too far
/// and then halved, so the cost is logarithmic in the number of ranges that are skipped.
fn skip(ranges: Rest, end: u64) -> Rest {
    if ranges.last().is_none_or(|last| last.1 <= end) {
        return &[];
    }
    // Afterwards the range at `step / 2` ends low enough (or is the first one, not looked at), and that at `step` does
    // not, if it exists. The first to keep is in between.
    let mut step = 1;
    while step < ranges.len() && ranges[step].1 <= end {
        step *= 2;
    }
    let (from, to) = (step / 2, (step + 1).min(ranges.len()));
    &ranges[from + ranges[from..to].partition_point(|range| range.1 <= end)..]
}

/// The fewest nodes that make up `[start, end)`, from the leaves upwards. At each level `left..right` are the nodes
/// that are still to be covered by nodes of this level or above. A left end that is a right child, and a right end
/// whose last node is a left child, cannot be covered by their parents; they are given out here.
fn parts(leaves: usize, start: u32, end: u32) -> impl Iterator<Item = usize> {
    let (mut left, mut right) = (start as usize + leaves, end as usize + leaves);
    std::iter::from_fn(move || {
        while left < right {
            if left % 2 == 1 {
                left += 1;
                return Some(left - 1);
            }
            if right % 2 == 1 {
                right -= 1;
                return Some(right);
            }
            (left, right) = (left / 2, right / 2);
        }
        None
    })
}

/// All nodes above the first and the last leaf of `[start, end)`, each once, from the leaves' parents to the root. They
/// include every node above a part (see `parts`); some of them are parts themselves or lie below a part. Those do no
/// harm: bytes taken throughout such a node are taken somewhere in the part, and bytes taken in the part are taken
/// there. `start` is below `end`: without a leaf there would be no first and last one.
fn above(leaves: usize, start: u32, end: u32) -> impl Iterator<Item = usize> {
    let (mut left, mut right) = ((start as usize + leaves) / 2, (end as usize + leaves - 1) / 2);
    // At each level the ancestors of the two leaves are given out one after the other; where they are the same node, it
    // is given out once.
    let mut other = None;
    std::iter::from_fn(move || {
        if let Some(node) = other.take() {
            return Some(node);
        }
        if left == 0 {
            return None;
        }
        let node = left;
        other = (right != left).then_some(right);
        (left, right) = (left / 2, right / 2);
        Some(node)
    })
}

#[cfg(test)]
mod tests {
    use super::super::fit::{Fit, Obstacle};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_the_bytes_that_a_scan_finds(
            taken in prop::collection::vec(((0u32..20, 1u32..8), (0u64..40, 1u64..9)), 0..25),
            queries in prop::collection::vec((0u32..20, 1u32..8), 1..8),
        ) {
            let mut skyline = Skyline::new(28);
            for &((start, steps), (low, size)) in &taken {
                skyline.insert((start, start + steps), (low, low + size));
            }
            for (start, steps) in queries {
                let (mut found, mut expected) = ([false; 64], [false; 64]);
                skyline.for_each(start, start + steps, |(low, high)| found[low as usize..high as usize].fill(true));
                for &((other, others), (low, size)) in &taken {
                    if other < start + steps && start < other + others {
                        expected[low as usize..(low + size) as usize].fill(true);
                    }
                }
                prop_assert_eq!(found, expected);
            }
        }

        #[test]
        fn the_lowest_offset_is_the_one_among_all_ranges(
            taken in prop::collection::vec(((0u32..20, 1u32..8), (0u64..60, 1u64..6)), 0..60),
            (start, steps) in (0u32..20, 1u32..8),
            (low, length) in (0u64..4, 1u64..8),
            alignment in prop::sample::select(vec![1u64, 3, 8]),
            highest in 0u64..80,
        ) {
            let mut skyline = Skyline::new(28);
            for &((start, steps), (low, size)) in &taken {
                skyline.insert((start, start + steps), (low, low + size));
            }
            let bytes = (low, low + length);
            let mut obstacles = Vec::new();
            skyline.for_each(start, start + steps, |range| obstacles.push(Obstacle::new(range, bytes)));
            let expected = Fit::First.choose(&mut obstacles, alignment, highest);
            let (found, looks) = skyline.lowest((start, start + steps), &Wanted { bytes, alignment, highest });
            prop_assert_eq!(found, expected);
            prop_assert!(looks <= obstacles.len() as u64, "no range is looked at twice");
        }
    }

    #[test]
    fn skipping_is_a_search() {
        let ranges: Vec<(u64, u64)> = (0..40).map(|at| (3 * at, 3 * at + 2)).collect();
        for end in 0..125 {
            let expected = ranges.partition_point(|range| range.1 <= end);
            assert_eq!(skip(&ranges, end), &ranges[expected..], "{end}");
        }
    }
}
