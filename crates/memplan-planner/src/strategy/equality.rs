//! `equality` and `equality-linear`: share only between buffers of exactly the same size.
//!
//! Memory that cannot be used in part, such as a texture, can be handed on only
//! to a buffer of the same size, in every component. Buffers are visited as they
//! start; the objects whose buffer has ended are free, and one of the right size
//! is taken, else a new one is made:
//!
//! ```text
//!            step 0  1  2  3  4  5
//!   a  8          ######                object 0
//!   b  8             ######             object 1
//!   c  8                      ######    both are free:
//!                                       `equality` takes 1, `equality-linear` 0
//! ```
//!
//! The two differ in that choice only, so they need equally many objects: `equality` takes the object that became free
//! last (its content is likeliest still in a cache), `equality-linear` the one with the lowest number. Objects that
//! become free between two starts do so in the order of their buffers' ends, then of their numbers. Buffers with two or
//! three components are textures; for them both strategies take the lowest number, as the original does.
//!
//! O(n log n). Objects never grow; a size only known at run time equals another
//! one with the same symbol.
//!
//! A [`Record`] is a buffer as a size and one stretch of time; a [`Sharing`] says which record uses which object.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

use memplan_core::{Outcome, Problem, Size, patience};

use crate::records::{Record, by_start, supports_records};
use crate::sharing::{Sharing, plan_sharing};
use crate::{Assign, Feature, Request, Strategy};

/// Takes the object that became free last.
pub struct Equality;

/// Takes the free object with the lowest number.
pub struct EqualityLinear;

impl Strategy for Equality {
    fn name(&self) -> &'static str {
        "equality"
    }

    fn describe(&self) -> &'static str {
        "shares between buffers of equal size, the object freed last first"
    }

    fn assigns(&self) -> &'static [Assign] {
        &[Assign::Objects, Assign::Offsets]
    }

    fn supports(&self, feature: Feature, assign: Assign) -> bool {
        supports_equal_sizes(feature, assign)
    }

    fn plan(&self, problem: &Problem, request: &Request) -> Outcome {
        plan_sharing(problem, request.assign, |records| {
            // Shapes of two or three components are textures: the lowest number first.
            let kind = |size: &Size| match size {
                Size::Shape(components) if components.len() < 4 => FreeObjects::LowestFirst(BTreeSet::new()),
                _ => FreeObjects::LastFirst(Vec::new()),
            };
            share_equal(records, kind)
        })
    }
}

impl Strategy for EqualityLinear {
    fn name(&self) -> &'static str {
        "equality-linear"
    }

    fn describe(&self) -> &'static str {
        "shares between buffers of equal size, the lowest object first"
    }

    fn assigns(&self) -> &'static [Assign] {
        &[Assign::Objects, Assign::Offsets]
    }

    fn supports(&self, feature: Feature, assign: Assign) -> bool {
        supports_equal_sizes(feature, assign)
    }

    fn plan(&self, problem: &Problem, request: &Request) -> Outcome {
        plan_sharing(problem, request.assign, |records| {
            share_equal(records, |_| FreeObjects::LowestFirst(BTreeSet::new()))
        })
    }
}

/// Shapes and unbounded symbols can be compared for equality, but have no offsets.
fn supports_equal_sizes(feature: Feature, assign: Assign) -> bool {
    match feature {
        Feature::Shapes | Feature::UnboundedSymbols => assign == Assign::Objects,
        other => supports_records(other),
    }
}

/// The free objects of one size.
enum FreeObjects {
    /// The one that became free last is taken first.
    LastFirst(Vec<usize>),
    /// The one with the lowest number is taken first.
    LowestFirst(BTreeSet<usize>),
}

impl FreeObjects {
    /// Adds an object that became free.
    fn put(&mut self, object: usize) {
        match self {
            FreeObjects::LastFirst(objects) => objects.push(object),
            FreeObjects::LowestFirst(objects) => {
                objects.insert(object);
            }
        }
    }

    /// Takes the object that is next; `None` if none is free.
    fn take(&mut self) -> Option<usize> {
        match self {
            FreeObjects::LastFirst(objects) => objects.pop(),
            FreeObjects::LowestFirst(objects) => objects.pop_first(),
        }
    }
}

/// Gives every record an object of exactly its size. `none_free` makes the empty collection of free objects of one
/// size; the collection decides which of them is taken next. `None` if the caller's patience ends.
fn share_equal(records: &[Record], none_free: impl Fn(&Size) -> FreeObjects) -> Option<Sharing> {
    let mut sharing = Sharing { object_of: vec![0; records.len()], sizes: Vec::new() };
    // Objects in use: the end of their newest buffer, the object, and the record of that buffer.
    let mut in_use: BinaryHeap<Reverse<(u64, usize, usize)>> = BinaryHeap::new();
    let mut free: HashMap<&Size, FreeObjects> = HashMap::new();
    for index in by_start(records) {
        // The caller has stopped waiting (time limit, Ctrl-C): an unfinished plan is of no use.
        if patience::is_over() {
            return None;
        }
        let record = &records[index];
        // Objects whose buffer has ended become free, in the order of the ends.
        while let Some(&Reverse((end, object, newest))) = in_use.peek() {
            if end > record.start {
                break;
            }
            in_use.pop();
            // All buffers of an object have the same size, so the size of its newest buffer is the object's.
            let size = records[newest].size;
            free.entry(size).or_insert_with(|| none_free(size)).put(object);
        }
        let object = free.get_mut(record.size).and_then(FreeObjects::take).unwrap_or_else(|| {
            sharing.sizes.push(record.size.clone());
            sharing.sizes.len() - 1
        });
        sharing.object_of[index] = object;
        in_use.push(Reverse((record.end, object, index)));
    }
    Some(sharing)
}
