//! Offsets by best fit: each buffer in turn goes into the smallest gap that holds it.
//!
//! For a buffer, only those already placed that are alive with it are in the
//! way. Seen from the side they leave gaps below, between and above them:
//!
//! ```text
//!   to place: 16 bytes          offset 0        32      64   80        112
//!   alive with it, placed:             |########|       |####|
//!   gaps:                              0        |==32===|    |==above=========
//! ```
//!
//! The smallest gap of at least 16 bytes is taken, the lowest of equals; if there is
//! none the buffer goes on top of the last. The caller chooses the order.
//!
//! The neighbours in time come from an [`OverlapSet`], so the time for a buffer depends on the number of its conflicts,
//! not on the number of placed buffers. As long as all placed buffers are alive at one moment and leave no gap, the
//! [`Heap`] gives the offset at once.
//!
//! A [`Record`] is a buffer as a size and one stretch of time. An [`OverlapSet`] lists which records of a set are alive
//! in a stretch of time; their *rank* is their position in the order of starts.

use memplan_core::{Bytes, patience};

use crate::heap::Heap;
use crate::overlap::OverlapSet;
use crate::records::Record;

/// Where a buffer goes in the list of placed ones among those at the same
/// offset. It matters only for empty buffers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtSameOffset {
    /// Before them in the list.
    First,
    /// After them in the list.
    Last,
}

/// A placed buffer: its offset, its place among those at the same offset (see [`AtSameOffset`]), its end.
type Placed = (u64, i64, u64);

/// Places the records in the given order and returns their offsets. `None` if an end would exceed 2^63 bytes, if a
/// record does not end below the ceiling, or if the caller's patience ends.
pub(crate) fn pack_into_smallest_gaps(
    records: &[Record],
    order: &[usize],
    at_same_offset: AtSameOffset,
    ceiling: Option<Bytes>,
) -> Option<Vec<u64>> {
    let mut offsets = vec![0; records.len()];
    let mut index = OverlapSet::new(records);
    // By rank, which is the position in the order of starts: records that are close in time are then close in memory.
    let mut placed: Vec<Placed> = vec![(0, 0, 0); records.len()];
    let mut in_the_way: Vec<Placed> = Vec::new();
    let mut heap = Some(Heap::empty());
    for (count, &number) in order.iter().enumerate() {
        let record = &records[number];
        in_the_way.clear();
        // A buffer without bytes may lie between two buffers that touch, so the shortcut does not apply to it.
        let top = heap.as_ref().and_then(|heap| heap.top(record.start, record.end)).filter(|_| record.bytes > 0);
        match top {
            // The record meets everything that is placed, and that fills the bytes `0..top`: one obstacle.
            Some(top) => in_the_way.push((0, 0, top)),
            None => index.for_each_rank(record.start, record.end, |rank| in_the_way.push(placed[rank])),
        }
        in_the_way.sort_unstable();
        let offset = smallest_gap(&in_the_way, record)?;
        // `None` from then on if the record leaves a gap or is not alive together with all others.
        let bytes = (offset, offset + record.bytes);
        heap = heap.and_then(|heap| heap.with((record.start, record.end), bytes));
        let is_high = ceiling.is_some_and(|ceiling| offset + record.bytes >= ceiling.0);
        if is_high || patience::is_over() {
            return None;
        }
        let count = count as i64;
        // Buffers at one offset are sorted by this number: the newcomer is the first or the last of them.
        let turn = if at_same_offset == AtSameOffset::Last { count } else { -count };
        placed[index.rank(number)] = (offset, turn, offset + record.bytes);
        offsets[number] = offset;
        index.insert(number, record);
    }
    Some(offsets)
}

/// The first aligned offset of the smallest gap that holds a record, between buffers sorted by offset; of equal gaps
/// the lowest. If there is no such gap: the first aligned offset above all buffers. `None` if the record would end
/// above 2^63 bytes.
fn smallest_gap(in_the_way: &[Placed], record: &Record) -> Option<u64> {
    let aligned = |end: u64| Bytes(end).align_up(Bytes(record.alignment)).map(|offset| offset.0);
    // The bytes of the smallest gap so far and its first aligned offset.
    let mut best: Option<(u64, u64)> = None;
    let mut end_so_far = 0;
    for &(offset, _, end) in in_the_way {
        // The gap below this buffer, from the first aligned offset on. There is none if a buffer that starts lower
        // reaches above the start of this one.
        let candidate = aligned(end_so_far)?;
        if let Some(gap) = offset.checked_sub(candidate)
            && gap >= record.bytes
            && best.is_none_or(|(smallest, _)| gap < smallest)
        {
            best = Some((gap, candidate));
        }
        end_so_far = end_so_far.max(end);
    }
    match best {
        Some((_, offset)) => Some(offset),
        None => Bytes(aligned(end_so_far)?).checked_add(Bytes(record.bytes)).map(|end| end.0 - record.bytes),
    }
}
