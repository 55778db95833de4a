//! When a buffer is alive, and which of its bytes.

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
    intervals: SmallVec<[Interval; 1]>,
}

impl Lifetime {
    /// A lifetime without gaps. Empty when `start == end`.
    pub fn new(start: u64, end: u64) -> Lifetime {
        [Interval::new(start, end)].into_iter().collect()
    }

    /// The stretches, in order.
    pub fn intervals(&self) -> &[Interval] {
        &self.intervals
    }

    /// First step alive; `None` for a buffer that is never used.
    pub fn start(&self) -> Option<Step> {
        self.intervals.first().map(|interval| interval.start)
    }

    /// First step after the last one alive.
    pub fn end(&self) -> Option<Step> {
        self.intervals.last().map(|interval| interval.end)
    }

    /// Whether the buffer is never used.
    pub fn is_empty(&self) -> bool {
        self.intervals.is_empty()
    }

    /// Whether the life is one stretch with all bytes in use.
    pub fn is_simple(&self) -> bool {
        matches!(self.intervals.as_slice(), [interval] if interval.window.is_none())
    }
}

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
        Lifetime { intervals }
    }
}
