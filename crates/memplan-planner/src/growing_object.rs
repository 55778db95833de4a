//! A shared object that is filled in any order of time.
//!
//! It knows the lives of its users, which are disjoint, and is as large as the
//! largest of them. The *distance* of a record to it is the shortest pause
//! between the record's life and one of those:
//!
//! ```text
//!   lives    ####     ######          a record that lives in [5, 7): pauses 2 and 3, distance 2
//!   step     0   4    9     15        (a pause of 1 means that the lives touch)
//! ```
//!
//! A [`Record`] is a buffer as a size and one stretch of time `start..end`.

use std::collections::BTreeMap;

use crate::records::Record;

/// The object.
#[derive(Default)]
pub(crate) struct GrowingObject {
    /// Its size so far.
    pub(crate) bytes: u64,
    /// The lives of its users: start to end.
    lives: BTreeMap<u64, u64>,
}

/// A life `[start, end)`.
type Life = (u64, u64);

impl GrowingObject {
    /// Whether no user is alive with the record. Lives are disjoint, so only the last that starts before the record's
    /// end can be.
    pub(crate) fn is_free(&self, record: &Record) -> bool {
        self.last_before(record.end).is_none_or(|(_, end)| end <= record.start)
    }

    /// Adds a record for which the object is free. Returns the free time `[from, to)` that the record was put into:
    /// from the end of the user before it (0 if there is none) to the start of the user after it (`u64::MAX` if there
    /// is none).
    pub(crate) fn take(&mut self, record: &Record) -> (u64, u64) {
        let from = self.last_before(record.end).map_or(0, |(_, end)| end);
        let to = self.first_from(record.end).map_or(u64::MAX, |(start, _)| start);
        self.bytes = self.bytes.max(record.bytes);
        self.lives.insert(record.start, record.end);
        (from, to)
    }

    /// The distance of a record; `None` if the object is not free while the record lives, or has no user yet.
    pub(crate) fn distance(&self, record: &Record) -> Option<u64> {
        let before = self.last_before(record.end);
        if before.is_some_and(|(_, end)| end > record.start) {
            return None;
        }
        // The lives of the object are disjoint, so the nearest ones are the last before the record and the first after
        // it.
        let neighbours = [before, self.first_from(record.end)];
        neighbours.into_iter().flatten().map(|life| pause(record, life)).min()
    }

    /// The last life that starts before a step.
    fn last_before(&self, step: u64) -> Option<Life> {
        self.lives.range(..step).next_back().map(|(&start, &end)| (start, end))
    }

    /// The first life that starts at a step or later.
    fn first_from(&self, step: u64) -> Option<Life> {
        self.lives.range(step..).next().map(|(&start, &end)| (start, end))
    }
}

/// The pause between two lives that do not overlap: steps from the last step of the earlier one to the first step of
/// the later one, so 1 if they touch.
pub(crate) fn pause(record: &Record, (start, end): Life) -> u64 {
    if record.end <= start { start - record.end + 1 } else { record.start - end + 1 }
}
