//! Sets of bytes as sorted, disjoint, half-open ranges.
//!
//! They say which bytes of a buffer are written, and which of these are *lost*: overwritten by somebody else.
//!
//! A buffer is nearly always written whole and lost whole, so one range is the
//! rule. This is what makes the state of the check small: cutting every space
//! at the bounds of all buffers (the textbook formulation) would give the same answers with
//! thousands of flags per buffer.

use memplan_program::OpId;
use smallvec::{SmallVec, smallvec};

/// A half-open range of bytes, relative to a buffer's first byte.
pub(super) type Range = (u64, u64);

/// The common part of two ranges, if any.
pub(super) fn intersection(a: Range, b: Range) -> Option<Range> {
    let both = (a.0.max(b.0), a.1.min(b.1));
    (both.0 < both.1).then_some(both)
}

/// A set of bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ranges(SmallVec<[Range; 1]>);

impl Ranges {
    /// The bytes of one range; none if it is empty.
    pub(super) fn of(range: Range) -> Ranges {
        match range.0 < range.1 {
            true => Ranges(smallvec![range]),
            false => Ranges::default(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Range> + '_ {
        self.0.iter().copied()
    }

    /// One past the last byte; 0 if empty.
    pub(super) fn end(&self) -> u64 {
        self.0.last().map_or(0, |range| range.1)
    }

    /// Adds a range; ranges that overlap or touch it become one with it. Adding (4, 8) to {(0, 4), (10, 12)} gives
    /// {(0, 8), (10, 12)}.
    pub(super) fn add(&mut self, range: Range) {
        if range.0 >= range.1 || self.covers(range) {
            return;
        }
        // Before `first` are the ranges that end before the new one starts, from `end` on those that start above its
        // end.
        let first = self.0.partition_point(|r| r.1 < range.0);
        let end = self.0.partition_point(|r| r.0 <= range.1);
        let melted = self.0[first..end].iter();
        let new = melted.fold(range, |sum, r| (sum.0.min(r.0), sum.1.max(r.1)));
        self.0.drain(first..end);
        self.0.insert(first, new);
    }

    /// Adds all bytes of another set.
    pub(super) fn add_all(&mut self, other: &Ranges) {
        other.iter().for_each(|range| self.add(range));
    }

    /// Takes a range of bytes out of the set.
    pub(super) fn remove(&mut self, range: Range) {
        if !self.overlaps(range) {
            return;
        }
        self.0 = self.0.iter().flat_map(|&r| pieces_outside(r, range)).collect();
    }

    /// Whether some byte of a range is in the set.
    pub(super) fn overlaps(&self, range: Range) -> bool {
        self.within(range).next().is_some()
    }

    /// Whether every byte of a range is in the set. Ranges that touch have become one, so a single range covers it.
    pub(super) fn covers(&self, range: Range) -> bool {
        range.0 >= range.1 || self.0.iter().any(|r| r.0 <= range.0 && range.1 <= r.1)
    }

    /// Whether every byte of another set is in this one.
    pub(super) fn covers_all(&self, other: &Ranges) -> bool {
        other.iter().all(|range| self.covers(range))
    }

    /// The parts inside `range`.
    pub(super) fn within(&self, range: Range) -> impl Iterator<Item = Range> + '_ {
        self.0.iter().filter_map(move |&r| intersection(r, range))
    }
}

/// What is left of `r` without `cut`: (0, 10) without (4, 6) is (0, 4) and (6, 10).
fn pieces_outside(r: Range, cut: Range) -> impl Iterator<Item = Range> {
    let pieces = [(r.0, r.1.min(cut.0)), (r.0.max(cut.1), r.1)];
    pieces.into_iter().filter(|piece| piece.0 < piece.1)
}

/// Lost bytes, each with the op that overwrote it (for the witness only: two
/// maps are the same if they cover the same bytes).
#[derive(Clone, Debug, Default)]
pub(super) struct Lost(SmallVec<[(Range, OpId); 1]>);

impl Lost {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Range, OpId)> + '_ {
        self.0.iter().copied()
    }

    /// Lost bytes inside `range`, with who overwrote them.
    pub(super) fn within(&self, range: Range) -> impl Iterator<Item = (Range, OpId)> + '_ {
        let inside = move |&(r, op): &(Range, OpId)| intersection(r, range).map(|r| (r, op));
        self.0.iter().filter_map(inside)
    }

    /// Whether all bytes of a range are lost. Several lost ranges may cover it together, since ranges with different
    /// culprits stay apart.
    pub(super) fn covers(&self, range: Range) -> bool {
        let whole = |(lost, _): &(Range, OpId)| lost.0 <= range.0 && range.1 <= lost.1;
        self.0.iter().any(whole) || self.missing(range).is_empty()
    }

    /// The bytes of a range that are not lost.
    fn missing(&self, range: Range) -> Ranges {
        let mut missing = Ranges::of(range);
        self.0.iter().for_each(|(lost, _)| missing.remove(*lost));
        missing
    }

    /// Adds bytes that the op `by` overwrote; those already lost keep the op that overwrote them first. Says whether
    /// any byte is new.
    pub(super) fn add(&mut self, range: Range, by: OpId) -> bool {
        let new = self.missing(range);
        if new.is_empty() {
            return false;
        }
        self.0.extend(new.iter().map(|range| (range, by)));
        self.0.sort_unstable();
        true
    }

    /// These bytes are no longer lost.
    pub(super) fn remove(&mut self, range: Range) {
        if self.within(range).next().is_none() {
            return;
        }
        let cut = |&(r, op): &(Range, OpId)| pieces_outside(r, range).map(move |piece| (piece, op));
        self.0 = self.0.iter().flat_map(cut).collect();
    }

    /// The bytes lost in both, with the ops of `self`.
    pub(super) fn and(&self, other: &Lost) -> Lost {
        let pairs = self.0.iter().flat_map(|&(range, op)| other.within(range).map(move |(both, _)| (both, op)));
        Lost(pairs.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memplan_core::Id;

    #[test]
    fn touching_ranges_melt_and_cuts_leave_pieces() {
        let mut set = Ranges::of((0, 4));
        set.add((8, 12));
        set.add((4, 8));
        assert_eq!(set, Ranges::of((0, 12)));
        set.remove((4, 6));
        assert_eq!(set.iter().collect::<Vec<_>>(), [(0, 4), (6, 12)]);
        assert!(set.covers((6, 12)) && !set.covers((3, 7)) && set.overlaps((3, 5)) && !set.overlaps((4, 6)));
        set.add((2, 7));
        assert_eq!(set, Ranges::of((0, 12)));
    }

    #[test]
    fn lost_bytes_keep_their_first_culprit() {
        let (a, b) = (OpId::from_index(1), OpId::from_index(2));
        let mut lost = Lost::default();
        assert!(lost.add((4, 8), a));
        assert!(lost.add((0, 6), b));
        assert!(!lost.add((1, 7), b));
        assert_eq!(lost.iter().collect::<Vec<_>>(), [((0, 4), b), ((4, 8), a)]);
        lost.remove((3, 5));
        assert_eq!(lost.within((0, 6)).collect::<Vec<_>>(), [((0, 3), b), ((5, 6), a)]);
    }
}
