//! Which of a changing set of records are alive together with a given one?
//!
//! [`Conflicts`] in terms of records: their steps are compressed to ranks of
//! the times that occur, and ranks of starts are translated back to records.
//! Adding and removing cost O(log n), a query O(log n) at most for each record found.
//!
//! A [`Record`] is a buffer as a size and one stretch of time. Records are named by their positions in a list.

use crate::conflicts::Conflicts;
use crate::records::{Record, by_start};

/// The set.
pub(crate) struct OverlapSet {
    /// Every start and end that occurs, ascending; the index counts in positions in this list.
    times: Vec<u64>,
    /// The index: which ranks are members, and when they end.
    conflicts: Conflicts,
    /// The record of each rank, which is the position in the order of starts.
    record_at: Vec<usize>,
    /// The rank of each record.
    rank_of: Vec<usize>,
}

impl OverlapSet {
    /// The empty set over these records.
    pub(crate) fn new(records: &[Record]) -> OverlapSet {
        let mut times: Vec<u64> = records.iter().flat_map(|record| [record.start, record.end]).collect();
        times.sort_unstable();
        times.dedup();
        let record_at = by_start(records);
        let mut rank_of = vec![0; records.len()];
        for (rank, &record) in record_at.iter().enumerate() {
            rank_of[record] = rank;
        }
        let starts = record_at.iter().map(|&record| first_at_least(&times, records[record].start)).collect();
        OverlapSet { conflicts: Conflicts::new(starts), times, record_at, rank_of }
    }

    /// The set of all these records.
    pub(crate) fn full(records: &[Record]) -> OverlapSet {
        let mut set = OverlapSet::new(records);
        for (index, record) in records.iter().enumerate() {
            set.insert(index, record);
        }
        set
    }

    /// Adds a record.
    pub(crate) fn insert(&mut self, index: usize, record: &Record) {
        self.conflicts.insert(self.rank_of[index], first_at_least(&self.times, record.end));
    }

    /// Removes a record.
    pub(crate) fn remove(&mut self, index: usize) {
        self.conflicts.remove(self.rank_of[index]);
    }

    /// The members alive somewhere in `[start, end)`, in the order of their starts.
    pub(crate) fn overlapping(&self, start: u64, end: u64) -> Vec<usize> {
        let mut found = Vec::new();
        self.for_each_rank(start, end, |rank| found.push(self.record_at[rank]));
        found
    }

    /// Visits the ranks of the members alive somewhere in `[start, end)`, ascending.
    pub(crate) fn for_each_rank(&self, start: u64, end: u64, visit: impl FnMut(usize)) {
        // Steps that do not occur lie between two positions. The position at or before `start` is taken: a member that
        // ends after it ends after `start` as well, since no time lies in between.
        let last_until_start = first_at_least(&self.times, start.saturating_add(1)).saturating_sub(1);
        self.conflicts.for_each(last_until_start, first_at_least(&self.times, end), visit);
    }

    /// The place of a record in the order of starts.
    pub(crate) fn rank(&self, index: usize) -> usize {
        self.rank_of[index]
    }
}

/// The position of the first time that is not before a step.
fn first_at_least(times: &[u64], time: u64) -> u32 {
    times.partition_point(|&other| other < time) as u32
}
