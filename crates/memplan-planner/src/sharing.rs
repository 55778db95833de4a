//! Shared objects: pieces of memory that buffers take turns to use as a whole.
//!
//! ```text
//!   object 0   16 ──a──┐     ┌──c── 64      size: the largest of its buffers
//!   object 1        8 ─┴─b─┐ └─┐
//!   time       0    1    2    3
//! ```
//!
//! The cost of a sharing is the sum of the objects' sizes. If offsets are wanted, [`objects_to_offsets`] lays the
//! objects end to end.
//!
//! A [`Record`] is a buffer as a size and one stretch of time; a [`Packing`] has an offset for each record.
//! [`plan_objects`] and [`plan_offsets`] run an algorithm for each space and make one plan of the results.

use std::cmp::Reverse;

use memplan_core::{Bytes, Id, ObjectId, Outcome, Placement, Plan, Problem, SharedObject, Size, SpaceId};

use crate::Assign;
use crate::records::{Packing, Record, least_common_multiple, plan_objects, plan_offsets};

/// Which record uses which object, for the records of one space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sharing {
    /// The object of each record.
    pub(crate) object_of: Vec<usize>,
    /// The size of each object.
    pub(crate) sizes: Vec<Size>,
}

impl Sharing {
    /// A sharing of objects with sizes in bytes.
    pub(crate) fn of_bytes(object_of: Vec<usize>, sizes: impl IntoIterator<Item = u64>) -> Sharing {
        Sharing { object_of, sizes: sizes.into_iter().map(|size| Size::Fixed(Bytes(size))).collect() }
    }

    /// The sum of the objects' sizes in bytes.
    pub(crate) fn total(&self) -> u64 {
        self.sizes.iter().map(|size| size.bytes().unwrap_or_default().0).sum()
    }

    /// Finds an object for each record that is never alive: any that is large enough, else a new one. Returns the
    /// object of each record.
    pub(crate) fn admit_unused(&mut self, records: &[Record]) -> Vec<usize> {
        // If a size is known in bytes, only the largest object has to be looked at. Records are taken from large to
        // small, so if a new object is made, it is large enough for all that follow.
        let mut places = vec![0; records.len()];
        let mut largest_first: Vec<usize> = (0..records.len()).collect();
        largest_first.sort_by_key(|&index| Reverse(records[index].bytes));
        let mut largest = (0..self.sizes.len()).max_by_key(|&object| self.sizes[object].bytes());
        for index in largest_first {
            let size = records[index].size;
            let fitting = match size.bytes() {
                Some(_) => largest.filter(|&object| covers(&self.sizes[object], size)),
                // A shape or a symbol: any object that covers it.
                None => self.sizes.iter().position(|object| covers(object, size)),
            };
            places[index] = fitting.unwrap_or_else(|| {
                self.sizes.push(size.clone());
                largest = Some(self.sizes.len() - 1);
                self.sizes.len() - 1
            });
        }
        places
    }

    /// Makes a new object for each of these records. Returns the object of each record.
    pub(crate) fn add_objects(&mut self, records: &[Record]) -> Vec<usize> {
        let first = self.sizes.len();
        self.sizes.extend(records.iter().map(|record| record.size.clone()));
        (first..self.sizes.len()).collect()
    }

    /// Adds the objects and their users to a plan of several spaces. Objects are numbered over all spaces of the plan.
    pub(crate) fn add_to<'a, 'p: 'a>(
        &self,
        plan: &mut Plan,
        space: SpaceId,
        users: impl Iterator<Item = (&'a Record<'p>, &'a usize)>,
    ) {
        let first = plan.objects.len();
        for size in &self.sizes {
            plan.objects.push(SharedObject { size: size.clone(), space });
        }
        for (record, &object) in users {
            let object = ObjectId::from_index(first + object);
            plan.placements[record.buffer] = Some(Placement::in_object(space, object));
        }
    }

    /// The objects laid end to end, each at an offset that suits the alignments of all of its users; `None` if an
    /// alignment or the total exceeds 2^63 bytes.
    fn to_packing(&self, records: &[Record]) -> Option<Packing> {
        let mut alignments = vec![1; self.sizes.len()];
        for (record, &object) in records.iter().zip(&self.object_of) {
            alignments[object] = least_common_multiple(alignments[object], record.alignment)?;
        }
        let sizes: Vec<u64> = self.sizes.iter().map(|size| size.bytes().unwrap_or_default().0).collect();
        let (offsets, extent) = objects_to_offsets(&self.object_of, &sizes, &alignments)?;
        Some(Packing { offsets, extent, reused: Vec::new() })
    }
}

/// Whether an object of the first size can hold a buffer of the second.
pub(crate) fn covers(object: &Size, buffer: &Size) -> bool {
    match (object, buffer) {
        (Size::Shape(object), Size::Shape(buffer)) => {
            object.len() == buffer.len() && object.iter().zip(buffer).all(|(have, need)| have >= need)
        }
        (Size::Fixed(object), Size::Fixed(buffer)) => object >= buffer,
        (Size::Fixed(object), Size::Symbolic { at_most: Some(buffer), .. }) => object >= buffer,
        (object, buffer) => object == buffer,
    }
}

/// Lays objects end to end in the order of their ids, unused ones included, each
/// start rounded up to the object's alignment (objects past the end of
/// `alignments` have none). Returns the offset of every
/// buffer and the total; `None` if they pass 2^63 or an id is out of range.
///
/// ```
/// use memplan_planner::objects_to_offsets;
/// let sizes = [16, 8, 32];
/// assert_eq!(objects_to_offsets(&[2, 0, 1, 0], &sizes, &[]), Some((vec![24, 0, 16, 0], 56)));
/// assert_eq!(objects_to_offsets(&[2, 0, 1, 0], &sizes, &[1, 1, 64]), Some((vec![64, 0, 16, 0], 96)));
/// ```
pub fn objects_to_offsets(object_of: &[usize], sizes: &[u64], alignments: &[u64]) -> Option<(Vec<u64>, u64)> {
    let mut starts = Vec::with_capacity(sizes.len());
    let mut end = Bytes::ZERO;
    for (object, &size) in sizes.iter().enumerate() {
        let start = end.align_up(Bytes(alignments.get(object).copied().unwrap_or(1)))?;
        starts.push(start.0);
        end = start.checked_add(Bytes(size))?;
    }
    let offsets = object_of.iter().map(|&object| starts.get(object).copied()).collect::<Option<Vec<u64>>>()?;
    Some((offsets, end.0))
}

/// Plans with a strategy that makes shared objects, as objects or laid end to end.
pub(crate) fn plan_sharing(problem: &Problem, assign: Assign, share: impl Fn(&[Record]) -> Option<Sharing>) -> Outcome {
    match assign {
        Assign::Objects => plan_objects(problem, share),
        Assign::Offsets => plan_offsets(problem, |records| share(records)?.to_packing(records)),
    }
}
