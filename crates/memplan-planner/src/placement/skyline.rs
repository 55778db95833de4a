//! Which bytes are taken during a stretch of time, when very many buffers are alive at once?
//!
//! [`Conflicts`](super::conflicts::Conflicts) lists who is in the way, one by
//! one. Where thousands are alive together, as in a training step, most of them
//! lie side by side, and their bytes grow together into few ranges. This index
//! keeps those ranges instead of their owners, in a tree over time:
//!
//! ```text
//!                [0, 4)              taken anywhere in [0, 4):   any
//!               ╱      ╲             taken all through [0, 4):   throughout
//!          [0, 2)      [2, 4)
//!          ╱    ╲      ╱    ╲        a rectangle over [1, 4) is "throughout" in
//!        [0,1) [1,2) [2,3) [3,4)     [1, 2) and [2, 4), and "any" in those and above.
//! ```
//!
//! What is taken somewhere in `[s, e)` is what is taken *anywhere* in the nodes
//! that make up `[s, e)`, and *throughout* the nodes above them. Adding a
//! rectangle and asking both touch O(log t) nodes for t steps. Each node's
//! ranges are merged, so a question costs what is left of them, however many
//! buffers they come from. The price is memory, O(n log t) at worst, and that
//! nothing can be taken away again.

use super::range_set::RangeSet;

/// See the module documentation.
#[derive(Clone, Debug)]
pub(crate) struct Skyline {
    leaves: usize,
    /// The children of node i are 2i and 2i + 1; node 1 is the root.
    any: Vec<RangeSet>,
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

    /// Takes the bytes `low..high` during `[start, end)`.
    pub(crate) fn insert(&mut self, (start, end): (u32, u32), (low, high): (u64, u64)) {
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

    /// Takes everything away.
    pub(crate) fn clear(&mut self) {
        self.any.iter_mut().chain(&mut self.throughout).for_each(RangeSet::clear);
    }
}

/// The fewest nodes that make up `[start, end)`.
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

/// All nodes above the first and the last leaf of `[start, end)`, each once.
/// Nodes above a part are among them; so are some below a part, where all that is
/// asked or said is true as well.
fn above(leaves: usize, start: u32, end: u32) -> impl Iterator<Item = usize> {
    let (mut left, mut right) = ((start as usize + leaves) / 2, (end as usize + leaves - 1) / 2);
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
    }
}
