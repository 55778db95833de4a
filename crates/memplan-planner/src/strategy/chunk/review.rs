//! Do the offsets of a replay with in-place reuse keep buffers apart?
//!
//! A newcomer that takes only the front of its victim's chunk leaves a boundary
//! in the middle of the victim. When a chunk that ends there is extended later, the row
//! moves but the victim does not, and it is torn apart:
//!
//! ```text
//!   |v . . . . . |            v has bytes 0..128
//!   |w  |v rest  |            w takes over the first 26
//!   |x          |v rest  |    x takes over w's chunk, extended by 102: the planner
//!                             believes v's rest to be above x, but v is still at 0..128
//! ```
//!
//! So the offsets are looked at once more, with lives cut short where they are
//! taken over, as rectangles of time and bytes that must be disjoint:
//! a sweep over time with the live ranges in order of offset, O(n log n).
//!
//! DIVERGENCE: the original does not check its offsets.
//!
//! A [`Record`] is a buffer as a size and one stretch of time, named by its position in a list. A [`Hint`] of a record
//! names a victim, a record on whose bytes it may start, and how the two must lie.

use std::collections::BTreeMap;

use memplan_core::OverlayKind;

use super::in_place::Hint;
use crate::records::Record;

/// A newcomer and a victim on whose bytes it starts.
pub(super) type Pair = (usize, usize);

/// Offsets under review.
pub(super) struct Review<'a> {
    pub(super) records: &'a [Record<'a>],
    pub(super) offsets: &'a [u64],
}

/// Bytes `low..high` in use from `start` to `end`.
struct Rectangle {
    start: u64,
    end: u64,
    low: u64,
    high: u64,
}

impl Rectangle {
    fn is_empty(&self) -> bool {
        self.start >= self.end || self.low >= self.high
    }
}

impl Review<'_> {
    /// Whether no record loses bytes while it is alive, except to records that take them over as `takeovers` says.
    pub(super) fn is_sound(&self, takeovers: impl IntoIterator<Item = Pair>) -> bool {
        let mut takers = vec![Vec::new(); self.records.len()];
        for (newcomer, victim) in takeovers {
            takers[victim].push(newcomer);
        }
        let mut rectangles = Vec::with_capacity(self.records.len());
        for (victim, takers) in takers.iter_mut().enumerate() {
            takers.sort_by_key(|&taker| self.records[taker].start);
            self.add_rectangles(victim, takers, &mut rectangles);
        }
        // A taker may start together with its victim, which then has no time on those bytes at all.
        rectangles.retain(|rectangle| !rectangle.is_empty());
        are_disjoint(&rectangles)
    }

    /// The pairs that overlap in time and bytes as a hint permits.
    pub(super) fn permitted<'h>(&'h self, hints: &'h [Vec<Hint>]) -> impl Iterator<Item = Pair> + 'h {
        let pairs =
            hints.iter().enumerate().flat_map(|(newcomer, hints)| hints.iter().map(move |hint| (newcomer, hint)));
        pairs.filter(|&(newcomer, hint)| self.is_used(newcomer, hint)).map(|(newcomer, hint)| (newcomer, hint.victim))
    }

    /// Whether a newcomer lies on bytes of the hint's victim while that one is alive, in a way that the hint permits.
    fn is_used(&self, newcomer: usize, hint: &Hint) -> bool {
        let ((low, high), (victim_low, victim_high)) = (self.range(newcomer), self.range(hint.victim));
        let meet =
            low < victim_high && victim_low < high && self.records[newcomer].start < self.records[hint.victim].end;
        meet && (hint.kind == OverlayKind::AnyOffset || low == victim_low)
    }

    /// The bytes of a record.
    fn range(&self, index: usize) -> (u64, u64) {
        (self.offsets[index], self.offsets[index] + self.records[index].bytes)
    }

    /// Adds rectangles for the life of the record `victim`: bytes that a taker takes over are in use until the taker
    /// starts, all other bytes until the victim's own end. `takers` are sorted by their starts.
    fn add_rectangles(&self, victim: usize, takers: &[usize], rectangles: &mut Vec<Rectangle>) {
        let Record { start, end, .. } = self.records[victim];
        let (low, high) = self.range(victim);
        // `unclaimed` holds the victim's bytes that no taker has had so far, as disjoint ranges by their lower end.
        // Takers come in the order of their starts, so the first one to claim a byte is the one that ends the
        // victim's life there.
        let mut unclaimed = BTreeMap::from([(low, high)]);
        for &taker in takers {
            // Each round takes one unclaimed range that meets the taker's bytes; what sticks out on either side stays
            // unclaimed.
            let (low, high) = self.range(taker);
            while let Some((&from, &to)) = unclaimed.range(..high).next_back().filter(|&(_, &to)| to > low) {
                unclaimed.remove(&from);
                for (left_low, left_high) in [(from, low), (high, to)] {
                    if left_low < left_high {
                        unclaimed.insert(left_low, left_high);
                    }
                }
                let end = self.records[taker].start.min(end);
                rectangles.push(Rectangle { start, end, low: from.max(low), high: to.min(high) });
            }
        }
        // Bytes that no taker takes over are in use until the victim's own end.
        rectangles.extend(unclaimed.into_iter().map(|(low, high)| Rectangle { start, end, low, high }));
    }
}

/// Whether no two rectangles overlap. `live` has the byte ranges at the sweep line; they are disjoint, so only the
/// nearest one below can reach into a newcomer. Ends come before starts at the same step, because lives are half-open.
fn are_disjoint(rectangles: &[Rectangle]) -> bool {
    let mut edges: Vec<(u64, bool, usize)> = Vec::with_capacity(2 * rectangles.len());
    for (index, rectangle) in rectangles.iter().enumerate() {
        edges.push((rectangle.start, true, index));
        edges.push((rectangle.end, false, index));
    }
    edges.sort_unstable();
    let mut live: BTreeMap<u64, u64> = BTreeMap::new();
    for (_, starts, index) in edges {
        let Rectangle { low, high, .. } = rectangles[index];
        if !starts {
            live.remove(&low);
        } else if live.range(..high).next_back().is_some_and(|(_, &below)| below > low) {
            return false;
        } else {
            live.insert(low, high);
        }
    }
    true
}
