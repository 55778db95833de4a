//! How crowded is it at most while a piece is alive?
//!
//! At the step where most bytes are alive there is no room to waste: whatever
//! is alive there has to be stacked without a gap. So the *load met* by a piece,
//! the most bytes alive at once during its life, says how little choice it has.
//!
//! ```text
//!   step      0   1   2   3   4
//!   a   64    ########              live   64  96  32  16  16
//!   b   32        ########          met    a 96, b 96, c 16
//!   c   16                ########
//! ```
//!
//! Live bytes are added up for each space, with every piece in its favourite one, over the times at which something
//! happens there; a tree of maxima answers for each piece in O(log t). So many spaces with a few pieces each
//! cost no more than one space with all of them.
//!
//! [`Pieces`] are what is placed as a whole, and a [`Rect`] is bytes of a piece during a stretch of time. Times are
//! positions in [`Pieces::steps`], the list of the steps at which something starts or ends.

use memplan_core::{Id, IndexVec, SpaceId};

use crate::piece::{PieceId, Pieces, Rect};

/// The load met by every piece; 0 for those that have no rectangles: never alive, or exclusive.
pub(crate) fn loads_met(pieces: &Pieces) -> IndexVec<PieceId, u64> {
    let mut met = IndexVec::filled(0, pieces.len());
    let mut by_space: Vec<(SpaceId, PieceId)> = pieces.ids().map(|piece| (favourite(pieces, piece), piece)).collect();
    by_space.sort_unstable();
    // One space after the other.
    for here in by_space.chunk_by(|one, other| one.0 == other.0) {
        let load = Load::of(pieces, here.iter().map(|&(_, piece)| piece));
        for &(_, piece) in here {
            met[piece] = pieces.rects(piece).iter().map(|rect| load.highest(rect)).max().unwrap_or(0);
        }
    }
    met
}

/// The space a piece would rather be in.
pub(crate) fn favourite(pieces: &Pieces, piece: PieceId) -> SpaceId {
    pieces.homes(piece).first().map_or(SpaceId::from_index(0), |home| home.space)
}

/// Bytes alive over the times at which something happens in one space.
struct Load {
    /// Positions of [`Pieces::steps`], ascending.
    times: Vec<u32>,
    /// By position in `times`: the bytes alive from that time to the next, and their maxima. Sizes add up to less than
    /// 2^63.
    maxima: Maxima,
}

impl Load {
    /// The live bytes of these pieces between any two times at which something starts or ends, and a tree of their
    /// maxima.
    fn of(pieces: &Pieces, here: impl Iterator<Item = PieceId> + Clone) -> Load {
        let rects = || here.clone().flat_map(|piece| pieces.rects(piece));
        let mut times: Vec<u32> = rects().flat_map(|rect| [rect.start, rect.end]).collect();
        times.sort_unstable();
        times.dedup();
        let mut load = Load { times, maxima: Maxima { nodes: Vec::new() } };
        // How many bytes more are alive from each time on than before; summed up, how many are alive.
        let mut change = vec![0i64; load.times.len()];
        for rect in rects() {
            change[load.position(rect.start)] += (rect.high - rect.low) as i64;
            change[load.position(rect.end)] -= (rect.high - rect.low) as i64;
        }
        let live = change.into_iter().scan(0i64, |sum, change| {
            *sum += change;
            debug_assert!(*sum >= 0, "what ends has started");
            Some(*sum as u64)
        });
        load.maxima = Maxima::of(&live.collect::<Vec<u64>>());
        load
    }

    /// The position of a time in `times`.
    fn position(&self, time: u32) -> usize {
        self.times.partition_point(|&other| other < time)
    }

    /// The most bytes alive at once while a rectangle is.
    fn highest(&self, rect: &Rect) -> u64 {
        self.maxima.highest(self.position(rect.start) as u32, self.position(rect.end) as u32)
    }
}

/// A tree of maxima. The children of node i are 2i and 2i + 1, the root is node 1, and the leaves are the second half.
struct Maxima {
    nodes: Vec<u64>,
}

impl Maxima {
    /// The tree over these numbers, filled from the leaves up.
    fn of(leaves: &[u64]) -> Maxima {
        let mut nodes = vec![0; leaves.len()];
        nodes.extend_from_slice(leaves);
        for node in (1..leaves.len()).rev() {
            nodes[node] = nodes[2 * node].max(nodes[2 * node + 1]);
        }
        Maxima { nodes }
    }

    /// The largest number in a range of leaves, from the few tree nodes that make it up. At each level, `left..right`
    /// are the nodes still to be looked at; an end that its parent does not cover alone is looked at here, and then
    /// both ends go up to their parents.
    fn highest(&self, start: u32, end: u32) -> u64 {
        let leaves = self.nodes.len() / 2;
        let (mut left, mut right) = (start as usize + leaves, end as usize + leaves);
        let mut highest = 0;
        while left < right {
            if left % 2 == 1 {
                highest = highest.max(self.nodes[left]);
                left += 1;
            }
            if right % 2 == 1 {
                right -= 1;
                highest = highest.max(self.nodes[right]);
            }
            (left, right) = (left / 2, right / 2);
        }
        highest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memplan_core::{Buffer, Lifetime, ProblemBuilder};
    use proptest::prelude::*;

    #[test]
    fn the_example_of_the_module_documentation() {
        let mut builder = ProblemBuilder::new();
        builder.buffer(Buffer::new("a", 64, Lifetime::new(0, 2)));
        builder.buffer(Buffer::new("b", 32, Lifetime::new(1, 3)));
        builder.buffer(Buffer::new("c", 16, Lifetime::new(3, 5)));
        builder.buffer(Buffer::new("never", 99, Lifetime::default()));
        let problem = builder.build().unwrap();
        assert_eq!(loads_met(&Pieces::of(&problem).unwrap()).as_slice(), [96, 96, 16, 0]);
    }

    proptest! {
        #[test]
        fn maxima_are_those_of_a_scan(leaves in prop::collection::vec(0u64..50, 1..40), from in 0usize..40, to in 0usize..40) {
            let (from, to) = (from.min(leaves.len()), to.min(leaves.len()));
            let (start, end) = (from.min(to), from.max(to));
            let expected = leaves[start..end].iter().copied().max().unwrap_or(0);
            prop_assert_eq!(Maxima::of(&leaves).highest(start as u32, end as u32), expected);
        }
    }
}
