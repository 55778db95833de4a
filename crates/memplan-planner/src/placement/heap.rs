//! Buffers that are all alive at one moment, and what lies on top of them.
//!
//! In a training step nearly all activations are alive when the backward pass begins; in a stress test all buffers are
//! alive at one moment. A rectangle that meets all placed ones need not be compared with each of them:
//!
//! ```text
//!   a  ##########            latest start 2, earliest end 5
//!   b    ######              d starts before 5 and ends after 2, so it meets a, b and c.
//!   c   ######               If they fill bytes 0..96 without a gap, d goes to 96.
//!   d     ####
//! ```
//!
//! A [`RangeSet`] is a set of bytes, as ranges that grow together where they touch.

use super::range_set::RangeSet;

/// Lifetimes of one stretch each that have a moment in common, reduced to two numbers: all of them are alive from
/// `latest_start` to `earliest_end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gathering {
    latest_start: u64,
    earliest_end: u64,
}

impl Gathering {
    /// Without any life; every life meets it.
    pub(crate) fn empty() -> Gathering {
        Gathering { latest_start: 0, earliest_end: u64::MAX }
    }

    /// Whether a life `[start, end)` overlaps every life that is gathered here.
    pub(crate) fn is_met(&self, start: u64, end: u64) -> bool {
        start < self.earliest_end && self.latest_start < end
    }

    /// The lives with one more; `None` once no moment is common to all.
    pub(crate) fn with(self, start: u64, end: u64) -> Option<Gathering> {
        let (latest_start, earliest_end) = (self.latest_start.max(start), self.earliest_end.min(end));
        (latest_start < earliest_end).then_some(Gathering { latest_start, earliest_end })
    }
}

/// The bytes of buffers whose lives have a moment in common.
#[derive(Clone, Debug)]
pub(crate) struct Heap {
    lives: Gathering,
    bytes: RangeSet,
}

impl Heap {
    /// Nothing yet.
    pub(crate) fn empty() -> Heap {
        Heap { lives: Gathering::empty(), bytes: RangeSet::default() }
    }

    /// The lowest byte above the heap, for a buffer that lives in `[start, end)`. `None` if the buffer does not live
    /// together with everything in the heap, or if the heap is empty or has gaps: then a lower offset may be free.
    pub(crate) fn top(&self, start: u64, end: u64) -> Option<u64> {
        match self.bytes.ranges() {
            &[(0, top)] if self.lives.is_met(start, end) => Some(top),
            _ => None,
        }
    }

    /// The heap with one more life on bytes `low..high`; `None` once no moment is common to all.
    pub(crate) fn with(mut self, (start, end): (u64, u64), (low, high): (u64, u64)) -> Option<Heap> {
        self.lives = self.lives.with(start, end)?;
        self.bytes.insert(low, high);
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_module_documentation() {
        let heap = Heap::empty().with((0, 10), (0, 32)).and_then(|heap| heap.with((2, 8), (32, 64)));
        let heap = heap.and_then(|heap| heap.with((1, 5), (64, 96))).unwrap();
        assert_eq!(heap.top(4, 8), Some(96));
        assert_eq!(heap.top(5, 8), None, "it does not meet c");
        assert_eq!(heap.top(0, 2), None, "it does not meet b");
        assert!(heap.clone().with((5, 7), (0, 8)).is_none(), "no moment is common to all");
        assert_eq!(heap.with((3, 4), (100, 104)).unwrap().top(3, 4), None, "there is a gap");
    }
}
