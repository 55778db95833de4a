//! `greedy-by-breadth`: shared objects, the most crowded steps first.
//!
//! The *breadth* of a step is the sum of the sizes alive at it. The broadest step
//! decides how much memory is needed at least, so its buffers choose first,
//! the largest first; then those of the second broadest step that have no object yet;
//! and so on. A buffer takes the smallest object that is large enough and
//! free during its whole life, else the largest that is free then (which grows), else
//! a new one.
//!
//! ```text
//!   a 16 [0,2)  b 8 [1,3)  c 64 [2,4)  d 32 [3,5)  e 8 [4,6)
//!
//!   step     0   1   2   3   4   5
//!   breadth 16  24  72  96  40   8      order: 3 2 4 1 0 5
//!
//!   step 3: c -> new 0 (64), d -> new 1 (32)     step 4: e -> 0, the only free one
//!   step 2: b -> 1 (32; object 0 holds c)        step 1: a -> 0      sum 96
//! ```
//!
//! Equal breadths: the earlier step; equal sizes: input order; equal objects: the
//! lowest number. O(n log n) for finding who is alive, and for each buffer one
//! look at every object.
//!
//! Words from other files: a [`Record`] is a buffer as a size and one stretch of time; an [`OverlapSet`] lists which
//! records of a set are alive at some time; a [`GrowingObject`] is a shared object with the lives of its users; a
//! [`Gathering`] is a set of lives that have a moment in common; a [`Sharing`] says which record uses which object.

use std::cmp::Reverse;

use memplan_core::{Bytes, Outcome, Problem, patience};

use crate::growing_object::GrowingObject;
use crate::heap::Gathering;
use crate::overlap::OverlapSet;
use crate::records::{Record, supports_records};
use crate::sharing::{Sharing, plan_sharing};
use crate::{Assign, Feature, Request, Strategy};

/// See the module documentation.
pub struct GreedyByBreadth;

impl Strategy for GreedyByBreadth {
    fn name(&self) -> &'static str {
        "greedy-by-breadth"
    }

    fn describe(&self) -> &'static str {
        "shared objects, buffers of the most crowded steps first"
    }

    fn assigns(&self) -> &'static [Assign] {
        &[Assign::Objects, Assign::Offsets]
    }

    fn supports(&self, feature: Feature, _: Assign) -> bool {
        supports_records(feature)
    }

    fn plan(&self, problem: &Problem, request: &Request) -> Outcome {
        plan_sharing(problem, request.assign, |records| share_by_breadth(records, request.ceiling))
    }
}

/// Assigns objects as the module documentation says. `None` once the objects are together as large as the ceiling
/// (they never shrink), or if the caller's patience ends.
pub(super) fn share_by_breadth(records: &[Record], ceiling: Option<Bytes>) -> Option<Sharing> {
    // `total` is the sum of the objects' sizes, `waiting` the records without an object, and `placed` the lives of all
    // others as long as they have a moment in common.
    let mut total = Bytes::ZERO;
    let mut waiting = OverlapSet::full(records);
    let mut object_of = vec![0; records.len()];
    let mut objects: Vec<GrowingObject> = Vec::new();
    let mut placed = Some(Gathering::empty());
    for step in broadest_first(records) {
        let mut alive = waiting.overlapping(step, step + 1);
        alive.sort_by_key(|&index| (Reverse(records[index].bytes), index));
        for index in alive {
            let record = &records[index];
            // A record that is alive with everything that is placed finds no free object; none has to be looked at.
            let meets_all = placed.is_some_and(|placed| placed.is_met(record.start, record.end));
            placed = placed.and_then(|placed| placed.with(record.start, record.end));
            let free = if meets_all { None } else { best_object(&objects, record) };
            let object = free.unwrap_or_else(|| {
                objects.push(GrowingObject::default());
                objects.len() - 1
            });
            let before = objects[object].bytes;
            objects[object].take(record);
            total = total.checked_add(Bytes(objects[object].bytes - before))?;
            if ceiling.is_some_and(|ceiling| total >= ceiling) || patience::is_over() {
                return None;
            }
            object_of[index] = object;
            waiting.remove(index);
        }
    }
    Some(Sharing::of_bytes(object_of, objects.iter().map(|object| object.bytes)))
}

/// The steps at which a record starts, broadest first, of equals the earlier one. Other steps need not be looked at:
/// whatever is alive at one of them was alive at the last start before it, which was at least as broad.
fn broadest_first(records: &[Record]) -> Vec<u64> {
    let mut changes: Vec<(u64, bool, u64)> = Vec::with_capacity(2 * records.len());
    for record in records {
        changes.push((record.end, false, record.bytes));
        changes.push((record.start, true, record.bytes));
    }
    // At one step ends (`false`) come before starts, so the breadth never gets below 0.
    changes.sort_unstable();
    let mut breadth = 0;
    let mut steps: Vec<(Reverse<u64>, u64)> = Vec::new();
    for same_step in changes.chunk_by(|one, other| one.0 == other.0) {
        for &(_, starts, bytes) in same_step {
            breadth = if starts { breadth + bytes } else { breadth - bytes };
        }
        if same_step.iter().any(|&(_, starts, _)| starts) {
            steps.push((Reverse(breadth), same_step[0].0));
        }
    }
    steps.sort_unstable();
    steps.into_iter().map(|(_, step)| step).collect()
}

/// The smallest object that is large enough and free while the record lives, else the largest that is free; `None` if
/// none is. Of equals the first.
fn best_object(objects: &[GrowingObject], record: &Record) -> Option<usize> {
    let mut best: Option<usize> = None;
    for (number, object) in objects.iter().enumerate() {
        // Sizes are compared first, because it takes longer to find out whether an object is free. As long as the best
        // one is too small, larger is better; after that only an object that is large enough and smaller is.
        let better = match best.map(|best| objects[best].bytes) {
            None => true,
            Some(best) if best < record.bytes => object.bytes > best,
            Some(best) => record.bytes <= object.bytes && object.bytes < best,
        };
        if better && object.is_free(record) {
            best = Some(number);
        }
    }
    best
}
