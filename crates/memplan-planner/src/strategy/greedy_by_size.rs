//! `greedy-by-size`: the largest buffers choose first.
//!
//! As *offsets* (`smallest_gap.rs`): from the largest buffer
//! to the smallest, each goes into the smallest gap between the buffers already
//! placed that are alive with it, or on top of them.
//!
//! As *shared objects*: large buffers first, and among those of about the same
//! rank the one that fits into an object with the least idle time.
//!
//! - The *positional maxima* (see [`memplan_core::bound`]) are what the
//!   largest, second largest, … object must hold at least. A buffer's rank is the
//!   position of the last maximum that is not smaller than it.
//! - The *distance* of a buffer to an object is the shortest pause
//!   between its life and a life already in the object.
//!
//! The next buffer is the one of the lowest rank, then the shortest distance to
//! an object it fits into, then the largest, then the first. It joins that
//! object, which grows if necessary; if it fits nowhere it gets a new object.
//!
//! ```text
//!   a 16 [0,2)  b 8 [1,3)  c 64 [2,4)  d 32 [3,5)  e 8 [4,6)    maxima 64 32
//!
//!   rank 0: c          c -> new 0 (64)
//!   rank 1: a b d e    a and e are at distance 1 from c; a is larger: a -> 0, then e -> 0;
//!                      d and b meet c: d -> new 1 (32), b -> 1         sum 96
//! ```
//!
//! On equal distances the object found first stays, whatever its size. When a buffer's best
//! object becomes blocked, the nearest free one with the lowest number is next.
//!
//! When a buffer joins an object, that matters only to waiting buffers that live between its two neighbours in the
//! object. All other waiting buffers meet a neighbour, or are nearer to a neighbour than to the newcomer. So only the
//! pause between the neighbours is searched, which gets shorter as objects fill, and no n × n table of distances is
//! kept. About O(n (objects + log n)) in practice.
//!
//! Words from other files: a [`Record`] is a buffer as a size and one stretch of time; an [`OverlapSet`] lists which
//! records of a set are alive at some time; a [`GrowingObject`] is a shared object with the lives of its users;
//! [`pause`] is the time between two lives.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use memplan_core::bound::positional_maxima_of;
use memplan_core::{Bytes, Outcome, Problem, Step, patience};

use crate::growing_object::{GrowingObject, pause};
use crate::overlap::OverlapSet;
use crate::records::{Packing, Record, plan_offsets, supports_records};
use crate::sharing::{Sharing, plan_sharing};
use crate::smallest_gap::{AtSameOffset, pack_into_smallest_gaps};
use crate::{Assign, Feature, Request, Strategy};

/// See the module documentation.
pub struct GreedyBySize;

impl Strategy for GreedyBySize {
    fn name(&self) -> &'static str {
        "greedy-by-size"
    }

    fn describe(&self) -> &'static str {
        "largest buffers first, into the smallest gap (offsets) or the nearest object"
    }

    fn assigns(&self) -> &'static [Assign] {
        &[Assign::Offsets, Assign::Objects]
    }

    fn supports(&self, feature: Feature, _: Assign) -> bool {
        supports_records(feature)
    }

    fn plan(&self, problem: &Problem, request: &Request) -> Outcome {
        match request.assign {
            Assign::Offsets => plan_offsets(problem, |records| pack_by_size(records, request.ceiling)),
            Assign::Objects => {
                plan_sharing(problem, Assign::Objects, |records| share_by_size(records, request.ceiling))
            }
        }
    }
}

/// Offsets: the largest first, in input order among equals, each into the smallest gap. `None` if a record does not end
/// below the ceiling, if an end would exceed 2^63 bytes, or if the caller's patience ends.
fn pack_by_size(records: &[Record], ceiling: Option<Bytes>) -> Option<Packing> {
    let mut order: Vec<usize> = (0..records.len()).collect();
    order.sort_by_key(|&index| Reverse(records[index].bytes));
    let offsets = pack_into_smallest_gaps(records, &order, AtSameOffset::Last, ceiling)?;
    Some(Packing::tight(records, offsets))
}

/// Shared objects, as the module documentation says. `None` once the objects are together as large as the ceiling (they
/// never shrink), or if the caller's patience ends.
pub(super) fn share_by_size(records: &[Record], ceiling: Option<Bytes>) -> Option<Sharing> {
    Sharer::new(records).run(ceiling)
}

/// What decides when a waiting buffer is next: the smallest turn is, compared field by field.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    /// The position of the last positional maximum that is not smaller than the buffer.
    rank: usize,
    /// Distance to the best object; `u64::MAX` if there is none.
    distance: u64,
    bytes: Reverse<u64>,
    index: usize,
}

/// The distance of a buffer for which no object is free.
const NOWHERE: u64 = u64::MAX;

/// The assignment in progress.
struct Sharer<'a> {
    records: &'a [Record<'a>],
    objects: Vec<GrowingObject>,
    /// By record: its object.
    object_of: Vec<usize>,
    /// By record: its turn, as it is in the queue.
    turns: Vec<Turn>,
    /// By record: the object at the distance of its turn; meaningless at [`NOWHERE`].
    best: Vec<usize>,
    /// The turns of the records that wait.
    queue: BTreeSet<Turn>,
    /// The records that wait, found by the time at which they are alive.
    waiting: OverlapSet,
}

impl<'a> Sharer<'a> {
    /// The start: all records wait for their turn, and there is no object yet.
    fn new(records: &'a [Record<'a>]) -> Sharer<'a> {
        let ranks = ranks(records);
        let turn =
            |index: usize| Turn { rank: ranks[index], distance: NOWHERE, bytes: Reverse(records[index].bytes), index };
        let turns: Vec<Turn> = (0..records.len()).map(turn).collect();
        Sharer {
            records,
            objects: Vec::new(),
            object_of: vec![0; records.len()],
            best: vec![0; records.len()],
            queue: turns.iter().copied().collect(),
            turns,
            waiting: OverlapSet::full(records),
        }
    }

    /// Takes the smallest turn again and again until all records have an object. `None` as soon as the objects reach
    /// the ceiling: then the plan that the caller has is at least as good.
    fn run(mut self, ceiling: Option<Bytes>) -> Option<Sharing> {
        let mut total = Bytes::ZERO;
        while let Some(turn) = self.queue.pop_first() {
            let index = turn.index;
            // A buffer for which no object is free gets a new one, at the end of the list.
            let object = if turn.distance == NOWHERE { self.objects.len() } else { self.best[index] };
            if object == self.objects.len() {
                self.objects.push(GrowingObject::default());
            }
            let before = self.objects[object].bytes;
            let gap = self.objects[object].take(&self.records[index]);
            total = total.checked_add(Bytes(self.objects[object].bytes - before))?;
            if ceiling.is_some_and(|ceiling| total >= ceiling) || patience::is_over() {
                return None;
            }
            self.object_of[index] = object;
            self.waiting.remove(index);
            self.refresh(index, object, gap);
        }
        Some(Sharing::of_bytes(self.object_of, self.objects.iter().map(|object| object.bytes)))
    }

    /// Brings the turns of the waiting buffers up to date after `newcomer` joined `object` in the pause `[from, to)`
    /// between its neighbours in the object (0 and `u64::MAX` if there is none). Only waiting buffers that live within
    /// this pause are concerned: all others meet a neighbour, or have a neighbour between them and the newcomer.
    fn refresh(&mut self, newcomer: usize, object: usize, (from, to): (u64, u64)) {
        let newcomer = &self.records[newcomer];
        // If the object is new (it has no other buffer), no waiting buffer has chosen it yet. So waiting buffers that
        // are alive together with the newcomer need not choose again; these may be nearly all, so they are left out
        // here.
        let is_new = (from, to) == (0, u64::MAX);
        let concerned = match is_new {
            true => {
                let mut apart = self.waiting.overlapping(from, newcomer.start);
                apart.extend(self.waiting.overlapping(newcomer.end, to));
                apart
            }
            false => self.waiting.overlapping(from, to),
        };
        for index in concerned {
            // One newcomer may concern all buffers that wait, which takes long. `run` gives up next, so turns need not
            // be up to date.
            if patience::is_over() {
                return;
            }
            let record = &self.records[index];
            if record.start < from || record.end > to {
                continue;
            }
            let current = self.turns[index].distance;
            // The object is not free for this buffer any more. If it was its best, it needs another one.
            if record.overlaps(newcomer) {
                if current != NOWHERE && self.best[index] == object {
                    self.choose_again(index);
                }
                continue;
            }
            let distance = pause(record, (newcomer.start, newcomer.end));
            if distance < current {
                self.set(index, distance, object);
            }
        }
    }

    /// Finds the best object for a buffer whose best object is no longer free. No other object is nearer than that one
    /// was, so the first object at the same distance is taken.
    fn choose_again(&mut self, index: usize) {
        let record = &self.records[index];
        let nearest = self.turns[index].distance;
        let mut best = (NOWHERE, 0);
        for (object, lives) in self.objects.iter().enumerate() {
            if let Some(distance) = lives.distance(record).filter(|&distance| distance < best.0) {
                best = (distance, object);
                if distance == nearest {
                    break;
                }
            }
        }
        self.set(index, best.0, best.1);
    }

    /// Gives a waiting buffer another best object, and with it another turn.
    fn set(&mut self, index: usize, distance: u64, object: usize) {
        self.best[index] = object;
        let turn = Turn { distance, ..self.turns[index] };
        self.queue.remove(&self.turns[index]);
        self.queue.insert(turn);
        self.turns[index] = turn;
    }
}

/// By record: the position of the last positional maximum that is not smaller than it. (The first one is as large as
/// the largest record, so there always is one; an empty list of maxima gives 0.)
fn ranks(records: &[Record]) -> Vec<usize> {
    let lives = records.iter().map(|record| (Bytes(record.bytes), Step(record.start), Step(record.end)));
    let maxima = positional_maxima_of(lives);
    let rank = |record: &Record| maxima.partition_point(|maximum| maximum.0 >= record.bytes).saturating_sub(1);
    records.iter().map(rank).collect()
}
