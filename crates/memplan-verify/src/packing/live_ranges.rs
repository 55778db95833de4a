//! Byte ranges that come and go, and which of those present meet a given range.
//!
//! All ranges that will ever be asked about are known beforehand. They are the
//! leaves of a binary tree, ordered by area and start; inner nodes know how far
//! the ranges below them reach that are *present*:
//!
//! ```text
//!                  [end 96]
//!             [64]          [96]
//!          [40]  [64]    [ -]  [96]        - : not present
//!          0..40 8..64   50..70 80..96
//! ```
//!
//! A range meets `low..high` if it starts before `high` (a prefix of the leaves)
//! and ends after `low` (look only where a node reaches further than `low`). So
//! each range found costs a walk up and down, and one walk more finds that there is no other.
//!
//! An *area* is what addresses are counted in: a space or a shared object. A *party* is a set of ranges that may
//! overlap each other (slots of tied buffers, for instance), and many ranges of one party may lie on the same bytes. A
//! question about a range of a party must step over the other ranges of that party without visiting each of them. So a
//! node knows how far its furthest party reaches *and* how far all other parties reach.

use super::layout::Area;
use super::together::Party;

/// How far the present ranges below a node reach, as addresses. 0 stands for "no range is present": present ranges are
/// not empty, so they end above 0.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Reach {
    /// Where the range ends that reaches furthest.
    furthest: u64,
    /// The party of that range.
    party: Party,
    /// How far the other parties reach.
    others: u64,
}

impl Reach {
    /// How far the ranges of all parties but one reach.
    fn of_others_than(&self, party: Party) -> u64 {
        if self.party == party { self.others } else { self.furthest }
    }

    /// The reach of a node with these two children.
    fn merge(left: Reach, right: Reach) -> Reach {
        let (first, second) = if left.furthest >= right.furthest { (left, right) } else { (right, left) };
        Reach { others: first.others.max(second.of_others_than(first.party)), ..first }
    }
}

/// A range that may be present.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) area: Area,
    pub(super) low: u64,
    pub(super) high: u64,
    pub(super) party: Party,
}

/// The tree. Ranges are named by their position in the list it was made from.
pub(super) struct LiveRanges<'a> {
    spans: &'a [Span],
    /// Area, start and name of each leaf's range.
    leaves: Vec<(Area, u64, u32)>,
    /// Leaf of each range.
    leaf_of: Vec<u32>,
    /// Children of node i are 2i and 2i + 1; leaves are the last half.
    nodes: Vec<Reach>,
}

impl<'a> LiveRanges<'a> {
    /// A tree for these ranges, none of them present yet.
    pub(super) fn new(spans: &'a [Span]) -> LiveRanges<'a> {
        let mut leaves: Vec<(Area, u64, u32)> =
            spans.iter().enumerate().map(|(index, span)| (span.area, span.low, index as u32)).collect();
        leaves.sort_unstable();
        let mut leaf_of = vec![0; spans.len()];
        for (leaf, &(_, _, index)) in leaves.iter().enumerate() {
            leaf_of[index as usize] = leaf as u32;
        }
        // Node 1 is the root and node 0 is not used. The number of leaves is rounded up to a power of two; the surplus
        // leaves are never present.
        let nodes = vec![Reach::default(); 2 * spans.len().next_power_of_two()];
        LiveRanges { spans, leaves, leaf_of, nodes }
    }

    /// Makes a range present.
    pub(super) fn insert(&mut self, index: usize) {
        let span = &self.spans[index];
        self.set(index, Reach { furthest: span.high, party: span.party, others: 0 });
    }

    /// Takes a range away again.
    pub(super) fn remove(&mut self, index: usize) {
        self.set(index, Reach::default());
    }

    /// Sets a leaf of the tree and what follows from it above, as far as that changes.
    fn set(&mut self, index: usize, reach: Reach) {
        let mut node = self.nodes.len() / 2 + self.leaf_of[index] as usize;
        self.nodes[node] = reach;
        while node > 1 {
            node /= 2;
            let merged = Reach::merge(self.nodes[2 * node], self.nodes[2 * node + 1]);
            if self.nodes[node] == merged {
                break;
            }
            self.nodes[node] = merged;
        }
    }

    /// Visits the present ranges of other parties that have a byte in common
    /// with `span`, in order of start, until `visit` returns false.
    pub(super) fn for_each_in_the_way(&self, span: &Span, mut visit: impl FnMut(usize) -> bool) {
        // Leaves are sorted by area and start, and `from` is the first one of the area. The tree finds the next range
        // that ends above `span.low`. If that one starts at `span.high` or later, or in another area, so do all that
        // follow, and the search is over.
        let mut from = self.leaves.partition_point(|&(area, ..)| area < span.area);
        while let Some(leaf) = self.first_reaching(from, span)
            && let Some(&(area, low, index)) = self.leaves.get(leaf)
            && (area, low) < (span.area, span.high)
            && visit(index as usize)
        {
            from = leaf + 1;
        }
    }

    /// The first leaf, from the leaf `from` to the right, with a present range of another party that ends above
    /// `span.low`; `None` if there is none.
    fn first_reaching(&self, from: usize, span: &Span) -> Option<usize> {
        let half = self.nodes.len() / 2;
        if from >= half {
            return None;
        }
        // Climb: look at the subtree of `from` and then at the subtrees to its right, from small to large. From a right
        // child (odd number) go up until the node is a left child, then on to its right sibling. The root is node 1,
        // which is odd; going up from it gives 0, and then nothing is left on the right.
        let mut node = half + from;
        while !self.reaches(node, span) {
            while node % 2 == 1 {
                node /= 2;
            }
            if node == 0 {
                return None;
            }
            node += 1;
        }
        // Descend to the leftmost leaf that reaches far enough.
        while node < half {
            node *= 2;
            if !self.reaches(node, span) {
                node += 1;
            }
        }
        Some(node - half)
    }

    /// Whether a range below a node of the tree ends above the start of `span` and is of another party.
    fn reaches(&self, node: usize, span: &Span) -> bool {
        self.nodes[node].of_others_than(span.party) > span.low
    }
}
