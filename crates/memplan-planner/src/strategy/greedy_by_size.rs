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
//! A new life in an object can only matter to the waiting buffers between its
//! two neighbours there, since all others are blocked or nearer to somebody
//! else; so gaps are searched that shrink as objects fill, and no n × n table of distances
//! is kept. About O(n (objects + log n)) in practice.

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

fn pack_by_size(records: &[Record], ceiling: Option<Bytes>) -> Option<Packing> {
    let mut order: Vec<usize> = (0..records.len()).collect();
    order.sort_by_key(|&index| Reverse(records[index].bytes));
    let offsets = pack_into_smallest_gaps(records, &order, AtSameOffset::Last, ceiling)?;
    Some(Packing::tight(records, offsets))
}

/// `None` once the objects are as large as the ceiling: they never shrink.
pub(super) fn share_by_size(records: &[Record], ceiling: Option<Bytes>) -> Option<Sharing> {
    Sharer::new(records).run(ceiling)
}

/// How a waiting buffer stands; the smallest is next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    rank: usize,
    /// Distance to the best object; `u64::MAX` if there is none.
    distance: u64,
    bytes: Reverse<u64>,
    index: usize,
}

const NOWHERE: u64 = u64::MAX;

struct Sharer<'a> {
    records: &'a [Record<'a>],
    objects: Vec<GrowingObject>,
    object_of: Vec<usize>,
    turns: Vec<Turn>,
    /// The object at that distance; meaningless at [`NOWHERE`].
    best: Vec<usize>,
    queue: BTreeSet<Turn>,
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

    /// Takes the best turn again and again until all records have an object. `None` as soon as the objects reach the
    /// ceiling: then another plan is better already.
    fn run(mut self, ceiling: Option<Bytes>) -> Option<Sharing> {
        let mut total = Bytes::ZERO;
        while let Some(turn) = self.queue.pop_first() {
            let index = turn.index;
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

    /// Brings the waiting buffers up to date after `newcomer` joined `object` in
    /// the pause `(from, to)` between its neighbours.
    fn refresh(&mut self, newcomer: usize, object: usize, (from, to): (u64, u64)) {
        let newcomer = &self.records[newcomer];
        // No waiting buffer has chosen an object that is new. So buffers that are alive together with the object's
        // first buffer need not choose again, and these may be nearly all.
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
            // One newcomer may move all that wait. Whatever is then not up to date does not matter any more.
            if patience::is_over() {
                return;
            }
            let record = &self.records[index];
            if record.start < from || record.end > to {
                continue;
            }
            let current = self.turns[index].distance;
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

    /// Finds the best object for a buffer whose best one has become blocked. No
    /// other is nearer than that was, so the first that is as near will do.
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

    fn set(&mut self, index: usize, distance: u64, object: usize) {
        self.best[index] = object;
        let turn = Turn { distance, ..self.turns[index] };
        self.queue.remove(&self.turns[index]);
        self.queue.insert(turn);
        self.turns[index] = turn;
    }
}

/// The position of the last positional maximum that is not smaller than each record.
fn ranks(records: &[Record]) -> Vec<usize> {
    let lives = records.iter().map(|record| (Bytes(record.bytes), Step(record.start), Step(record.end)));
    let maxima = positional_maxima_of(lives);
    let rank = |record: &Record| maxima.partition_point(|maximum| maximum.0 >= record.bytes).saturating_sub(1);
    records.iter().map(rank).collect()
}
