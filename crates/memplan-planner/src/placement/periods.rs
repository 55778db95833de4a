//! Which bytes are taken during a stretch of time, when a few hundred buffers are alive at once and each lives for a
//! small part of the time?
//!
//! Time is cut into periods of equal length, about as long as a life. Each period has a list of the placed rectangles
//! that are alive at some time in it, the lowest first. A rectangle that is alive in two periods is in both lists:
//!
//! ```text
//!              period 0   period 1   period 2       lists by first byte:
//!   64 ┤              cccccccccc                    period 0: a, c
//!   32 ┤                       bbbbbbbbbbb          period 1: a, b, c
//!    0 ┤   aaaaaaaaaaaa                             period 2: b
//! ```
//!
//! First fit walks up the lists of all periods in which the new rectangle is alive. As long as a list has a next
//! rectangle that begins below the end of the new one, the walk goes past it, and if the two are alive together, the
//! new one moves up to its end. Once no list moves the new rectangle any more, its offset is free. So no rectangle is
//! looked at twice in one list, and those that lie above the answer are not looked at at all.
//!
//! [`Conflicts`](super::conflicts::Conflicts) finds the same rectangles one by one and takes less memory; but then the
//! obstacles still have to be sorted, and tables by rank are in nobody's cache. Here all that a placement needs is in
//! two or three lists, each one piece of memory.
//!
//! Rectangles have no names here: none can be removed, and nobody learns whose bytes are in the way.

use std::sync::Arc;

use super::floor::Stretch;
use super::skyline::Wanted;
use crate::nearby::{period_log, periods};

/// A placed rectangle: when it is alive, and its bytes.
#[derive(Clone, Copy, Debug)]
struct Taken {
    low: u64,
    high: u64,
    start: u32,
    end: u32,
}

impl Taken {
    /// Whether it is alive at some time in `[start, end)`.
    fn is_alive(&self, start: u32, end: u32) -> bool {
        self.start < end && start < self.end
    }
}

/// See the module documentation.
#[derive(Clone, Debug)]
pub(crate) struct Periods {
    /// A period is two to the power of this long.
    length_log: u32,
    /// By period: how many rectangles can ever be alive in it. Clones share the table.
    room: Arc<[u32]>,
    /// By period: the rectangles placed in it, by their first bytes. A list gets its memory, all at once, with its
    /// first rectangle, so that the clone of an empty index is small.
    lists: Vec<Vec<Taken>>,
    /// By period: how many of the placed rectangles start in it.
    started: Vec<u32>,
    /// Used by [`lowest`](Periods::lowest): how many rectangles of each list the walk has passed.
    passed: Vec<usize>,
}

impl Periods {
    /// An index over the times `0..times` in which nothing is placed. `stretches` are all that can ever be.
    pub(crate) fn new(times: usize, stretches: &[Stretch]) -> Periods {
        let total = stretches.iter().map(|stretch| u64::from(stretch.end - stretch.start)).sum();
        let length_log = period_log(times, stretches.len(), total);
        let mut room = vec![0; (times >> length_log) + 1];
        for stretch in stretches {
            room[periods(length_log, stretch.start, stretch.end)].iter_mut().for_each(|room| *room += 1);
        }
        let count = room.len();
        Periods {
            length_log,
            room: room.into(),
            lists: vec![Vec::new(); count],
            started: vec![0; count],
            passed: Vec::new(),
        }
    }

    /// Takes the bytes `low..high` during `[start, end)`.
    pub(crate) fn insert(&mut self, (start, end): (u32, u32), (low, high): (u64, u64)) {
        let periods = periods(self.length_log, start, end);
        self.started[periods.start] += 1;
        for (list, &room) in self.lists[periods.clone()].iter_mut().zip(&self.room[periods]) {
            if list.is_empty() {
                list.reserve_exact(room as usize);
            }
            let position = list.partition_point(|taken| taken.low < low);
            list.insert(position, Taken { low, high, start, end });
        }
    }

    /// Calls `visit` with the bytes of every placed rectangle that is alive in `[start, end)`.
    pub(crate) fn for_each(&self, start: u32, end: u32, mut visit: impl FnMut((u64, u64))) {
        let periods = periods(self.length_log, start, end);
        let first = periods.start;
        for period in periods {
            // A rectangle of several lists is visited in the first of them. After the first list, these are the ones
            // that start in the period.
            let since = if period == first { 0 } else { (period << self.length_log) as u32 };
            let alive = |taken: &&Taken| taken.start >= since && taken.is_alive(start, end);
            self.lists[period].iter().filter(alive).for_each(|taken| visit((taken.low, taken.high)));
        }
    }

    /// How many placed rectangles are alive in `[start, end)`.
    fn count(&self, start: u32, end: u32) -> u64 {
        let periods = periods(self.length_log, start, end);
        let (first, last) = (periods.start, periods.end - 1);
        let count = |period: usize, is_met: &dyn Fn(&Taken) -> bool| -> u32 {
            self.lists[period].iter().map(|taken| u32::from(is_met(taken))).sum()
        };
        if first == last {
            return count(first, &|taken| taken.is_alive(start, end)).into();
        }
        // Those alive in the first list, those that start in periods between, and those that start in the last one.
        let last_start = (last << self.length_log) as u32;
        let at_first = count(first, &|taken| taken.end > start);
        let between: u64 = self.started[first + 1..last].iter().map(|&started| u64::from(started)).sum();
        let at_last = count(last, &|taken| taken.start >= last_start && taken.start < end);
        u64::from(at_first) + between + u64::from(at_last)
    }

    /// The lowest offset at which a rectangle meets nothing in `[start, end)`, and how many placed rectangles are alive
    /// in that time.
    pub(crate) fn lowest(&mut self, (start, end): (u32, u32), wanted: &Wanted) -> (Option<u64>, u64) {
        let alive = self.count(start, end);
        let periods = periods(self.length_log, start, end);
        self.passed.clear();
        self.passed.resize(periods.len(), 0);
        let mut offset = 0;
        loop {
            let before = offset;
            for (list, passed) in self.lists[periods.clone()].iter().zip(&mut self.passed) {
                (offset, *passed) = climb(list, *passed, (start, end), wanted.bytes, offset);
            }
            // The sum is below 2^64, as offsets and alignments in use are at most 2^63.
            offset = offset.next_multiple_of(wanted.alignment);
            if offset > wanted.highest {
                return (None, alive);
            }
            if offset == before {
                return (Some(offset), alive);
            }
        }
    }

    /// Takes everything away.
    pub(crate) fn clear(&mut self) {
        self.lists.iter_mut().for_each(Vec::clear);
        self.started.fill(0);
    }
}

/// Moves a rectangle that wants the bytes `low..high` (counted from its offset) during `[start, end)` up from an offset
/// past everything that is in its way in a list, but not past more. The first `passed` rectangles of the list are no
/// longer in its way. Returns the new offset, and how many rectangles are passed then.
fn climb(
    list: &[Taken],
    mut passed: usize,
    (start, end): (u32, u32),
    (low, high): (u64, u64),
    mut offset: u64,
) -> (u64, usize) {
    // All sums are below 2^64: offsets and sizes are below 2^63. A rectangle that begins at or above the end of the
    // wanted bytes is not in their way, and neither are those that follow it.
    while let Some(taken) = list.get(passed).filter(|taken| taken.low < offset + high) {
        // The processor cannot predict who is alive, so there is no branch: who is not alive ends at 0.
        let to = if taken.is_alive(start, end) { taken.high.saturating_sub(low) } else { 0 };
        offset = offset.max(to);
        passed += 1;
    }
    (offset, passed)
}

#[cfg(test)]
mod tests {
    use super::super::fit::{Fit, Obstacle};
    use super::super::piece::PieceId;
    use super::*;
    use memplan_core::Id;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lowest_is_what_first_fit_finds(
            lives in prop::collection::vec((0u32..300, 1u32..40, 0u64..500, 1u64..100), 0..200),
            wanted in prop::collection::vec((0u32..300, 1u32..80, 0u64..3, 1u64..200), 1..20),
            alignment in prop::sample::select(vec![1u64, 8, 12]),
            highest in prop::sample::select(vec![90u64, 100_000]),
        ) {
            let owner = PieceId::from_index(0);
            let stretch = |&(start, length, ..): &(u32, u32, u64, u64)| Stretch { start, note: 0, end: start + length, owner };
            let stretches: Vec<Stretch> = lives.iter().map(stretch).collect();
            let mut index = Periods::new(380, &stretches);
            for (stretch, &(.., low, bytes)) in stretches.iter().zip(&lives) {
                index.insert((stretch.start, stretch.end), (low, low + bytes));
            }
            for (start, length, low, bytes) in wanted {
                let end = start + length;
                let (mut found, mut expected) = (Vec::new(), Vec::new());
                index.for_each(start, end, |range| found.push(range));
                let met = |stretch: &Stretch| stretch.start < end && start < stretch.end;
                let alive = stretches.iter().zip(&lives).filter(|(stretch, _)| met(stretch));
                alive.for_each(|(_, &(.., low, bytes))| expected.push((low, low + bytes)));
                found.sort_unstable();
                expected.sort_unstable();
                prop_assert_eq!(&found, &expected);
                let own = (low, low + bytes);
                let mut obstacles: Vec<Obstacle> = found.iter().map(|&range| Obstacle::new(range, own)).collect();
                let offset = Fit::First.choose(&mut obstacles, alignment, highest);
                let lowest = index.lowest((start, end), &Wanted { bytes: own, alignment, highest });
                prop_assert_eq!(lowest, (offset, expected.len() as u64));
            }
        }
    }
}
