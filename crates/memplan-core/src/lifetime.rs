//! When a buffer is alive, and which of its bytes.
//!
//! A lifetime is a list of stretches of time, `start..end`, sorted and disjoint. The time between two stretches is a
//! gap: the bytes may belong to others then. A stretch may have a window, if only a part of the bytes is in use:
//!
//! ```text
//!   bytes 96 ┤████████                 alive in 0..4 with all of its bytes,
//!            │████████    gap           not alive in 4..6,
//!         32 ┤████████        ██████    alive in 6..9 with its bytes 0..32
//!          0 └────────┴───────┴──────
//!            0        4       6     9
//! ```

use smallvec::SmallVec;

use crate::{Bytes, Step};

/// A half-open range of a buffer's own bytes, counted from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    /// First byte in use.
    pub low: Bytes,
    /// One past the last byte in use.
    pub high: Bytes,
}

/// One uninterrupted stretch `[start, end)` of a buffer's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interval {
    /// First step alive.
    pub start: Step,
    /// First step no longer alive.
    pub end: Step,
    /// The only bytes in use during this stretch; `None` means all of them.
    pub window: Option<Window>,
}

impl Interval {
    /// A stretch in which the whole buffer is in use.
    pub fn new(start: u64, end: u64) -> Interval {
        Interval { start: Step(start), end: Step(end), window: None }
    }

    /// A stretch in which only the bytes `low..high` are in use.
    pub fn with_window(start: u64, end: u64, low: u64, high: u64) -> Interval {
        let window = Window { low: Bytes(low), high: Bytes(high) };
        Interval { window: Some(window), ..Interval::new(start, end) }
    }

    /// The bytes in use, for a buffer of `size` bytes.
    pub fn bytes(&self, size: Bytes) -> Window {
        self.window.unwrap_or(Window { low: Bytes::ZERO, high: size })
    }
}

/// The life of a buffer: sorted, disjoint, non-empty intervals.
///
/// Between two intervals the buffer's content is dead and its bytes may belong
/// to others. A buffer without intervals is never used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Lifetime {
    stretches: Stretches,
}

/// Nearly every life is one stretch with all bytes in use; only the others need memory of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
enum Stretches {
    #[default]
    Never,
    Once {
        start: Step,
        end: Step,
    },
    /// Two or more stretches, or one with a window; sorted.
    Several(Box<[Interval]>),
}

impl Lifetime {
    /// A lifetime without gaps. Empty when `start == end`.
    pub fn new(start: u64, end: u64) -> Lifetime {
        let (start, end) = (Step(start), Step(end));
        let stretches = if start == end { Stretches::Never } else { Stretches::Once { start, end } };
        Lifetime { stretches }
    }

    /// The stretches, in order.
    pub fn intervals(&self) -> Intervals<'_> {
        match &self.stretches {
            Stretches::Never => Intervals { once: None, several: [].iter() },
            &Stretches::Once { start, end } => {
                Intervals { once: Some(Interval { start, end, window: None }), several: [].iter() }
            }
            Stretches::Several(intervals) => Intervals { once: None, several: intervals.iter() },
        }
    }

    /// First step alive; `None` for a buffer that is never used.
    pub fn start(&self) -> Option<Step> {
        self.intervals().next().map(|interval| interval.start)
    }

    /// First step after the last one alive.
    pub fn end(&self) -> Option<Step> {
        self.intervals().next_back().map(|interval| interval.end)
    }

    /// Whether the buffer is never used.
    pub fn is_empty(&self) -> bool {
        matches!(self.stretches, Stretches::Never)
    }

    /// Whether the life is one stretch with all bytes in use.
    pub fn is_simple(&self) -> bool {
        matches!(self.stretches, Stretches::Once { .. })
    }
}

/// The stretches of a [`Lifetime`], in order.
#[derive(Clone, Debug)]
pub struct Intervals<'a> {
    /// The only stretch of a simple life, until it was taken. `several` is empty then.
    once: Option<Interval>,
    several: std::slice::Iter<'a, Interval>,
}

impl Iterator for Intervals<'_> {
    type Item = Interval;

    fn next(&mut self) -> Option<Interval> {
        // One of the two is always empty, so it does not matter which is asked first.
        self.once.take().or_else(|| self.several.next().copied())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = usize::from(self.once.is_some()) + self.several.len();
        (count, Some(count))
    }
}

impl DoubleEndedIterator for Intervals<'_> {
    fn next_back(&mut self) -> Option<Interval> {
        self.once.take().or_else(|| self.several.next_back().copied())
    }
}

impl ExactSizeIterator for Intervals<'_> {}

/// Sorts the stretches and drops empty ones. Whether they are disjoint and
/// well-formed is asked when the [`Problem`](crate::Problem) is built.
impl FromIterator<Interval> for Lifetime {
    fn from_iter<I: IntoIterator<Item = Interval>>(intervals: I) -> Lifetime {
        let is_empty = |interval: &Interval| {
            interval.start == interval.end || interval.window.is_some_and(|window| window.low == window.high)
        };
        let mut intervals: SmallVec<[Interval; 1]> =
            intervals.into_iter().filter(|interval| !is_empty(interval)).collect();
        intervals.sort_by_key(|interval| (interval.start, interval.end));
        // One form for every life, so that equal lives compare as equal.
        let stretches = match intervals.as_slice() {
            [] => Stretches::Never,
            &[Interval { start, end, window: None }] => Stretches::Once { start, end },
            several => Stretches::Several(several.into()),
        };
        Lifetime { stretches }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_come_back_in_order() {
        let gap: Lifetime = [Interval::new(6, 9), Interval::new(4, 4), Interval::new(1, 3)].into_iter().collect();
        let from_front: Vec<u64> = gap.intervals().map(|interval| interval.start.0).collect();
        let from_back: Vec<u64> = gap.intervals().rev().map(|interval| interval.start.0).collect();
        assert_eq!((from_front, from_back), (vec![1, 6], vec![6, 1]));
        assert_eq!((gap.intervals().len(), gap.start(), gap.end()), (2, Some(Step(1)), Some(Step(9))));
        assert!(!gap.is_simple());
    }

    #[test]
    fn equal_lives_are_equal_however_they_were_made() {
        let simple: Lifetime = [Interval::new(3, 3), Interval::new(1, 3)].into_iter().collect();
        assert_eq!(simple, Lifetime::new(1, 3));
        assert!(simple.is_simple());
        assert_eq!(Lifetime::new(2, 2), Lifetime::default());
        let window: Lifetime = [Interval::with_window(1, 3, 0, 8)].into_iter().collect();
        assert!(!window.is_simple() && window != simple);
        assert_eq!(window.intervals().len(), 1);
    }
}
