//! How many bytes are in use at each step: the addresses that any shape covers.
//!
//! Adding up sizes would count a byte twice where two buffers rightly share it,
//! as the partners of an overlay and the members of a tie do:
//!
//! ```text
//!   bytes              in use
//!   64 |  vvvvvvv
//!      |  vvvvvvv        64 at step 0, 64 at step 3 (not 96), 32 at step 4
//!   32 |  vvvvvvv
//!      |  vvvvv##wwww    ## belongs to v until w takes it over in place
//!    0 +--------------
//!         0    3 4  6
//! ```
//!
//! The sweep over time keeps, in a binary tree over the edges of all shapes, how
//! often each stretch of addresses is covered. An edge of a shape changes
//! O(log n) nodes, so the whole profile takes O(n log n).

use memplan_core::{Bytes, Step};

use super::scene::Shape;

/// Bytes in use over time: `(step, bytes from that step on)` where the number changes. The steps of all shapes at which
/// something starts or ends are visited in order, and [`Cover`] is asked after the last event of each.
pub(super) fn profile<'s>(shapes: impl Iterator<Item = &'s Shape> + Clone) -> Vec<(Step, Bytes)> {
    // Addresses at which some shape begins or ends. Between two neighbouring edges all bytes are covered equally often.
    let mut edges: Vec<u64> = shapes.clone().flat_map(|shape| [shape.low, shape.high]).collect();
    edges.sort_unstable();
    edges.dedup();
    let mut events: Vec<(u64, bool, &Shape)> =
        shapes.flat_map(|shape| [(shape.start, true, shape), (shape.end, false, shape)]).collect();
    // At one step, ends (`false`) come before starts: lifetimes are half-open.
    events.sort_by_key(|&(step, starts, _)| (step, starts));
    let mut cover = Cover::new(edges);
    let mut profile: Vec<(Step, Bytes)> = Vec::new();
    let mut before = 0;
    for (index, &(step, starts, shape)) in events.iter().enumerate() {
        cover.change(shape.low, shape.high, starts);
        let is_last_of_step = events.get(index + 1).is_none_or(|next| next.0 != step);
        if is_last_of_step && cover.bytes() != before {
            before = cover.bytes();
            profile.push((Step(step), Bytes(before)));
        }
    }
    profile
}

/// Which stretches between neighbouring edges are covered, and how often.
struct Cover {
    /// The edges, sorted.
    edges: Vec<u64>,
    /// A complete binary tree: node i has the children 2i and 2i + 1, node 1 is the whole range, node 0 is not used.
    /// The last half are the leaves, one for each stretch between two neighbouring edges.
    nodes: Vec<Node>,
}

/// A node of the tree.
#[derive(Clone, Copy, Default)]
struct Node {
    /// Shapes that cover all of this node's range, but not all of its parent's.
    times: u32,
    /// Bytes of this node's range that are covered.
    bytes: u64,
}

impl Cover {
    /// A cover of nothing.
    fn new(edges: Vec<u64>) -> Cover {
        // Each node has two children or none, so the number of leaves is rounded up to a power of two.
        let stretches = edges.len().saturating_sub(1).next_power_of_two();
        Cover { edges, nodes: vec![Node::default(); 2 * stretches] }
    }

    /// How many bytes are covered at least once.
    fn bytes(&self) -> u64 {
        self.nodes[1].bytes
    }

    /// Covers `low..high` once more, or once less. Both are edges, so the range is whole stretches.
    fn change(&mut self, low: u64, high: u64, more: bool) {
        let from = self.edges.partition_point(|&edge| edge < low);
        let to = self.edges.partition_point(|&edge| edge < high);
        self.change_below(1, 0, self.nodes.len() / 2, from..to, more);
    }

    /// Changes the part of `wanted` that lies inside of a node; the node spans `count` stretches from number `first`.
    /// If all of the node lies in `wanted`, only its `times` changes; otherwise its two halves are changed. Then the
    /// bytes of the node are counted anew.
    fn change_below(&mut self, node: usize, first: usize, count: usize, wanted: std::ops::Range<usize>, more: bool) {
        let end = first + count;
        if wanted.end <= first || end <= wanted.start {
            return;
        }
        if wanted.start <= first && end <= wanted.end {
            let times = self.nodes[node].times;
            self.nodes[node].times = if more { times + 1 } else { times.saturating_sub(1) };
        } else {
            self.change_below(2 * node, first, count / 2, wanted.clone(), more);
            self.change_below(2 * node + 1, first + count / 2, count / 2, wanted, more);
        }
        self.nodes[node].bytes = match self.nodes[node].times {
            // No shape covers all of this node. A leaf is free then, and the covered bytes of any other node are those
            // of its halves.
            0 if count == 1 => 0,
            0 => self.nodes[2 * node].bytes + self.nodes[2 * node + 1].bytes,
            _ => self.edge(end) - self.edge(first),
        };
    }

    /// The edge of this number. The tree has more leaves than there are stretches, so a number may lie beyond the last
    /// edge; it then counts as the last one, which makes the additional stretches empty.
    fn edge(&self, index: usize) -> u64 {
        self.edges.get(index).or(self.edges.last()).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use memplan_core::{BufferId, Id};

    use super::super::scene::Kind;
    use super::*;

    fn shape(start: u64, end: u64, low: u64, high: u64) -> Shape {
        Shape { buffer: BufferId::from_index(0), slot: 0, kind: Kind::Alive, start, end, low, high }
    }

    fn of(shapes: &[Shape]) -> Vec<(u64, u64)> {
        profile(shapes.iter()).into_iter().map(|(step, bytes)| (step.0, bytes.0)).collect()
    }

    #[test]
    fn common_bytes_count_once() {
        assert_eq!(of(&[shape(0, 4, 0, 64), shape(3, 6, 0, 32)]), [(0, 64), (4, 32), (6, 0)]);
        assert_eq!(of(&[shape(0, 2, 0, 8), shape(2, 4, 8, 16)]), [(0, 8), (4, 0)], "no change, no entry");
        assert_eq!(of(&[]), []);
        assert_eq!(of(&[shape(0, 1, 0, u64::MAX)]), [(0, u64::MAX), (1, 0)]);
    }

    #[test]
    fn the_profile_is_what_counting_byte_by_byte_gives() {
        let mut random = memplan_testkit::Random::new(7);
        let mut below = |limit: u64| random.below(limit);
        for count in [1usize, 2, 3, 17, 60] {
            let mut one = || {
                let (start, low) = (below(20), below(50));
                shape(start, start + 1 + below(9), low, low + 1 + below(30))
            };
            let shapes: Vec<Shape> = (0..count).map(|_| one()).collect();
            let found = of(&shapes);
            for step in 0..32 {
                let is_on = |s: &&Shape, byte| s.start <= step && step < s.end && s.low <= byte && byte < s.high;
                let counted = (0..90).filter(|&byte| shapes.iter().any(|s| is_on(&s, byte))).count() as u64;
                let read = found.iter().rev().find(|entry| entry.0 <= step).map_or(0, |entry| entry.1);
                assert_eq!(read, counted, "{count} shapes, step {step}");
            }
        }
    }
}
