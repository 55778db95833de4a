//! `greedy-in-order`: take the free object of the closest size, as the buffers come.
//!
//! Buffers are visited as they start. Objects whose buffer has ended wait in a
//! pool. While the pool is not empty a new buffer takes an object from it,
//! however poor the fit: the smallest that is large enough, unless the largest
//! that is too small is strictly closer in size. An object that is too small grows.
//!
//! ```text
//!   a 16 [0,2)  b 8 [1,3)  c 64 [2,4)  d 32 [3,5)  e 8 [4,6)
//!
//!   a -> new 0 (16)      c -> 0, free again, grows to 64     e -> 0 (64)
//!   b -> new 1 (8)       d -> 1, free again, grows to 32     sum 96
//! ```
//!
//! Among objects of one size, the lowest number is taken if they are large
//! enough and the highest if they are too small. O(n log n).
//!
//! **Shapes** of two or three components: an object fits only if it covers
//! the buffer in every component, and never grows. Of the fitting ones in the
//! pool the closest in number of elements is taken, the first to have become
//! free on ties; else a new object is made. The pool is searched from end to
//! end.
//!
//! **Dependencies** instead of an order of execution: see [`reallocation`](super::reallocation).
//! The whole pool is searched for the closest size among the objects whose last
//! buffer is certainly dead before the new one is written; the smaller object
//! wins ties; if there is none a new object is made.
//!
//! A [`Record`] is a buffer as a size and one stretch of time; a [`Sharing`] says which record uses which object, and
//! how large the objects are. Records and objects are named by their positions in lists.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::hint::black_box;

use memplan_core::{Bytes, Outcome, Problem, Size, patience};

use super::reallocation::Reallocation;
use crate::records::{Record, by_start, supports_records};
use crate::sharing::{Sharing, covers, plan_sharing};
use crate::tuning::PIECES_FETCHED;
use crate::{Assign, Feature, Refusal, Request, Strategy};

/// See the module documentation.
pub struct GreedyInOrder;

impl Strategy for GreedyInOrder {
    fn name(&self) -> &'static str {
        "greedy-in-order"
    }

    fn describe(&self) -> &'static str {
        "takes the free object closest in size, in order of first use"
    }

    fn assigns(&self) -> &'static [Assign] {
        &[Assign::Objects, Assign::Offsets]
    }

    fn supports(&self, feature: Feature, assign: Assign) -> bool {
        match feature {
            Feature::Dependencies => true,
            Feature::Shapes => assign == Assign::Objects,
            other => supports_records(other),
        }
    }

    /// Refuses shapes of four components; see the module documentation for those of two and three.
    fn refuse(&self, problem: &Problem, _: &Request) -> Option<Refusal> {
        let four = |size: &Size| matches!(size, Size::Shape(components) if components.len() == 4);
        let buffer = problem.buffers().iter().find(|buffer| four(&buffer.size))?;
        Some(Refusal::Limit {
            strategy: self.name(),
            limit: format!("sizes of two or three components, and buffer `{}` has four", buffer.name),
        })
    }

    fn plan(&self, problem: &Problem, request: &Request) -> Outcome {
        let reallocation = problem.dependencies().map(Reallocation::new);
        plan_sharing(problem, request.assign, |records| Walk::new(records, reallocation.as_ref()).run())
    }
}

/// The walk over the records of one space.
struct Walk<'a> {
    records: &'a [Record<'a>],
    reallocation: Option<&'a Reallocation<'a>>,
    sharing: Sharing,
    /// The newest record in each object.
    newest: Vec<usize>,
    /// Objects in use, by end, then number.
    in_use: BinaryHeap<Reverse<(u64, usize)>>,
    /// Free objects with sizes in bytes, by size, then number.
    pool: BTreeSet<(u64, usize)>,
    /// Free objects with shapes, in the order in which they became free.
    shaped_pool: Vec<usize>,
}

impl<'a> Walk<'a> {
    /// A walk before its first record.
    fn new(records: &'a [Record<'a>], reallocation: Option<&'a Reallocation<'a>>) -> Walk<'a> {
        Walk {
            records,
            reallocation,
            sharing: Sharing { object_of: vec![0; records.len()], sizes: Vec::new() },
            newest: Vec::new(),
            in_use: BinaryHeap::new(),
            pool: BTreeSet::new(),
            shaped_pool: Vec::new(),
        }
    }

    /// Gives the records their objects, in the order of their starts. `None` if the caller's patience ends.
    fn run(mut self) -> Option<Sharing> {
        for next in by_start(self.records).chunks(PIECES_FETCHED) {
            // Records that follow each other in time are anywhere in memory. Reading some of them at once lets the
            // processor wait once for all, and not for one after the other.
            black_box(next.iter().fold(0, |sum, &index| sum ^ self.records[index].end));
            for &index in next {
                // The caller has stopped waiting (time limit, Ctrl-C): an unfinished plan is of no use.
                if patience::is_over() {
                    return None;
                }
                self.serve(index);
            }
        }
        Some(self.sharing)
    }

    /// Gives a record its object. All records that start before it have theirs.
    fn serve(&mut self, index: usize) {
        let record = &self.records[index];
        self.release_until(record.start);
        let object = match record.size {
            Size::Shape(_) => self.take_shaped(record),
            _ => self.take_bytes(record),
        };
        let object = object.unwrap_or_else(|| self.make_object(record));
        self.newest[object] = index;
        self.sharing.object_of[index] = object;
        self.in_use.push(Reverse((record.end, object)));
    }

    /// Moves the objects of records that have ended by `now` to the pool. Shapes have no number of bytes, and a pool
    /// of their own.
    fn release_until(&mut self, now: u64) {
        while let Some(&Reverse((end, object))) = self.in_use.peek() {
            if end > now {
                return;
            }
            self.in_use.pop();
            match self.sharing.sizes[object].bytes() {
                Some(bytes) => {
                    self.pool.insert((bytes.0, object));
                }
                None => self.shaped_pool.push(object),
            }
        }
    }

    /// Makes a new object of the record's size. (Its `newest` record is set by the caller.)
    fn make_object(&mut self, record: &Record) -> usize {
        let size = match record.size {
            Size::Shape(components) => Size::Shape(components.clone()),
            _ => Size::Fixed(Bytes(record.bytes)),
        };
        self.sharing.sizes.push(size);
        self.newest.push(0);
        self.sharing.sizes.len() - 1
    }

    /// Takes the free object whose size is closest, which grows if it is too small; `None` if none may be taken.
    fn take_bytes(&mut self, record: &Record) -> Option<usize> {
        let entry = match self.reallocation {
            None => closest(&self.pool, record.bytes)?,
            Some(reallocation) => self.closest_reusable(record, reallocation)?,
        };
        self.pool.remove(&entry);
        let (size, object) = entry;
        self.sharing.sizes[object] = Size::Fixed(Bytes(size.max(record.bytes)));
        Some(object)
    }

    /// The entry of the pool closest in size among the objects whose newest buffer is dead before the record is
    /// written, in every order of execution. Entries come by size, so of two that are equally close the smaller one is
    /// taken.
    fn closest_reusable(&self, record: &Record, reallocation: &Reallocation) -> Option<(u64, usize)> {
        let dead = reallocation.dead_before(record.buffer);
        let newest = |object: usize| self.records[self.newest[object]].buffer;
        let reusable = self.pool.iter().copied().filter(|&(_, object)| dead.contains(newest(object)));
        reusable.min_by_key(|&(size, _)| size.abs_diff(record.bytes))
    }

    /// Takes the free object that covers the shape and has the fewest elements more than it; `None` if no object
    /// covers it. With dependencies its newest buffer has to be dead before the record is written.
    fn take_shaped(&mut self, record: &Record) -> Option<usize> {
        let dead = self.reallocation.map(|reallocation| reallocation.dead_before(record.buffer));
        let is_dead =
            |object: usize| dead.as_ref().is_none_or(|dead| dead.contains(self.records[self.newest[object]].buffer));
        let fits =
            |&(_, &object): &(usize, &usize)| covers(&self.sharing.sizes[object], record.size) && is_dead(object);
        let excess = |&(_, &object): &(usize, &usize)| elements(&self.sharing.sizes[object]) - elements(record.size);
        let (place, _) = self.shaped_pool.iter().enumerate().filter(fits).min_by_key(excess)?;
        Some(self.shaped_pool.remove(place))
    }
}

/// The pool's entry closest to a size: not smaller, lowest number first, unless
/// a smaller one, highest number first, is strictly closer.
fn closest(pool: &BTreeSet<(u64, usize)>, bytes: u64) -> Option<(u64, usize)> {
    let large_enough = pool.range((bytes, 0)..).next().copied();
    let too_small = pool.range(..(bytes, 0)).next_back().copied();
    match (large_enough, too_small) {
        (Some(large), Some(small)) if bytes - small.0 < large.0 - bytes => Some(small),
        (large, small) => large.or(small),
    }
}

/// Number of elements of a shape. 64-bit, and bounded when the problem was built.
fn elements(size: &Size) -> u64 {
    match size {
        Size::Shape(components) => components.iter().product(),
        size => size.bytes().unwrap_or_default().0,
    }
}
