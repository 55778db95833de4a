//! `end-of-life`: a buffer takes the oldest slot that is free and large enough.
//!
//! The documented algorithm of a global-memory allocator. A buffer that finds no free slot opens a *slot* of its size
//! at the end of all slots so far; slots start at multiples of the alignment. When the life of the buffer ends, the
//! slot is free for the next buffer that is not larger. The oldest slot that fits is taken:
//!
//! ```text
//!   in [0,2)  V0 [1,5)  A [2,4)  B [3,5)  C [4,6)  V1 [5,7), 4096 bytes each
//!
//!   slot 0      in ── A ── C          in has ended when A starts, A when C does
//!   slot 4096   V0 ──────── V1
//!   slot 8192        B                V0 and A are alive: a new slot
//! ```
//!
//! Slots are never split, merged or moved, and what counts is the size of the
//! buffer that opened them, not the rounded one. A buffer read for the last
//! time by an op is not yet free for that op's own results: lifetimes say so.
//!
//! O(n log n): the oldest slot that is large enough is found in a tree of maxima.
//!
//! DIVERGENCE: the original frees a slot when the readers of an *alias* (a
//! reshape) are done, although others may still read the buffer itself. Here
//! aliases are one buffer by the time lifetimes are known.
//!
//! A [`Record`] is a buffer as a size and one stretch of time; [`by_start`] has the positions of the records in the
//! order of their starts; a [`Packing`] has an offset for each record.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use memplan_core::{Bytes, Outcome, Problem, patience};

use crate::records::{Packing, Record, by_start, common_alignment, plan_offsets, supports_records};
use crate::{Assign, Feature, Request, Strategy};

/// See the module documentation.
pub struct EndOfLife;

impl Strategy for EndOfLife {
    fn name(&self) -> &'static str {
        "end-of-life"
    }

    fn describe(&self) -> &'static str {
        "the oldest slot that is free and large enough, else a new one"
    }

    fn assigns(&self) -> &'static [Assign] {
        &[Assign::Offsets]
    }

    fn supports(&self, feature: Feature, _: Assign) -> bool {
        supports_records(feature)
    }

    fn plan(&self, problem: &Problem, _: &Request) -> Outcome {
        plan_offsets(problem, pack_into_slots)
    }
}

/// Packs records in the order of their starts. `free` has the free slots by age, `in_use` the others by the end of
/// their buffer, and `slots` the offset and size of each. `None` if the extent or the common alignment exceeds 2^63
/// bytes, or if the caller's patience ends.
fn pack_into_slots(records: &[Record]) -> Option<Packing> {
    let granule = Bytes(common_alignment(records)?);
    let mut free = FreeSlots::new(records.len());
    let mut slots: Vec<(u64, u64)> = Vec::new();
    let mut in_use: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    let mut offsets = vec![0; records.len()];
    let mut end = Bytes::ZERO;
    for index in by_start(records) {
        // The caller has stopped waiting (time limit, Ctrl-C): an unfinished plan is of no use.
        if patience::is_over() {
            return None;
        }
        let record = &records[index];
        // Lives are half-open: a slot whose buffer ends at this step is free for a buffer that starts at it.
        while let Some(&Reverse((ends, slot))) = in_use.peek() {
            if ends > record.start {
                break;
            }
            in_use.pop();
            free.put(slot, slots[slot].1);
        }
        let slot = match free.take_first(record.bytes) {
            Some(slot) => slot,
            None => {
                slots.push((end.0, record.bytes));
                // Slots never grow or move, so the next slot begins at the sum of all sizes so far, rounded up.
                end = end.checked_add(Bytes(record.bytes))?.align_up(granule)?;
                slots.len() - 1
            }
        };
        offsets[index] = slots[slot].0;
        in_use.push(Reverse((record.end, slot)));
    }
    Some(Packing { offsets, extent: end.0, reused: Vec::new() })
}

/// The free slots by age: a tree of the largest size below each node.
struct FreeSlots {
    /// Node k has the children 2k and 2k+1; slot s is leaf `leaves + s`. A value is one more than the largest size of
    /// a free slot below the node, so that 0 can say that none is free.
    largest: Vec<u64>,
    leaves: usize,
}

impl FreeSlots {
    /// No slot is free. There will be at most `most` slots.
    fn new(most: usize) -> FreeSlots {
        let leaves = most.next_power_of_two();
        FreeSlots { largest: vec![0; 2 * leaves], leaves }
    }

    /// Makes a slot of `bytes` bytes free.
    fn put(&mut self, slot: usize, bytes: u64) {
        self.set(slot, bytes + 1);
    }

    /// Takes the oldest free slot of at least `bytes` bytes; `None` if there is none.
    fn take_first(&mut self, bytes: u64) -> Option<usize> {
        // The root knows the largest of all.
        if self.largest[1] <= bytes {
            return None;
        }
        // Older slots are to the left, so the left child is taken wherever it has a slot that is large enough.
        let mut node = 1;
        while node < self.leaves {
            node = if self.largest[2 * node] > bytes { 2 * node } else { 2 * node + 1 };
        }
        let slot = node - self.leaves;
        self.set(slot, 0);
        Some(slot)
    }

    /// Changes the value of a slot, and the maxima above it.
    fn set(&mut self, slot: usize, value: u64) {
        let mut node = self.leaves + slot;
        self.largest[node] = value;
        while node > 1 {
            node /= 2;
            self.largest[node] = self.largest[2 * node].max(self.largest[2 * node + 1]);
        }
    }
}
