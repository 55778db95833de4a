//! Where a plan puts things, in one form for both kinds of plans: those with offsets in a space, and those in which
//! several buffers take turns to use a shared object as a whole.

use memplan_core::{BufferId, Bytes, Id, MAX_BYTES, ObjectId, Placement, Plan, Problem, Size, SpaceId};

use super::violation::Place;

/// Something addresses are counted in: a memory space, or a shared object.
/// Spaces come first, objects after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Area(u32);

#[cfg(test)]
impl Area {
    pub(super) fn from_number(number: u32) -> Area {
        Area(number)
    }
}

/// The bytes of one slot of a buffer. An object is used as a whole; it counts
/// as the single byte 0 of its area.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) buffer: BufferId,
    /// Which slot of the buffer it is, from 0.
    pub(super) number: u32,
    pub(super) area: Area,
    /// The first byte.
    pub(super) low: u64,
    /// One past the last byte.
    pub(super) high: u64,
}

impl Slot {
    /// Whether it has no bytes: the buffer has size 0.
    pub(super) fn is_empty(&self) -> bool {
        self.low == self.high
    }

    /// The bytes it has in common with another slot.
    pub(super) fn common(&self, other: &Slot) -> Option<(u64, u64)> {
        let (low, high) = (self.low.max(other.low), self.high.min(other.high));
        (self.area == other.area && low < high).then_some((low, high))
    }
}

/// All slots of all buffers that have an address, by buffer. Placements
/// without an address (their own violations say why) do not appear.
pub(super) struct Layout {
    slots: Vec<Slot>,
    /// For each buffer where its slots begin; one entry more than buffers.
    begins: Vec<usize>,
    space_count: usize,
}

impl Layout {
    /// The slots of all placed buffers, those of one buffer next to each other.
    pub(super) fn new(problem: &Problem, plan: &Plan) -> Layout {
        let space_count = problem.spaces().len();
        let mut layout = Layout { slots: Vec::with_capacity(problem.buffers().len()), begins: vec![0], space_count };
        for id in problem.buffers().ids() {
            if let Some(placement) = placement(plan, id) {
                layout.add(problem, plan, id, placement);
            }
            layout.begins.push(layout.slots.len());
        }
        layout
    }

    /// Adds the slots of a placed buffer. In a shared object a buffer counts as one byte: it uses the object as a
    /// whole. Places that are impossible are left out; another rule reports them.
    fn add(&mut self, problem: &Problem, plan: &Plan, buffer: BufferId, placement: &Placement) {
        let size = &problem.buffers()[buffer].size;
        if let Some(object) = placement.object {
            if object.index() >= plan.objects.len() {
                return;
            }
            // A buffer of size 0 occupies nothing, also of an object.
            let area = Area(u32::try_from(self.space_count + object.index()).unwrap_or(u32::MAX));
            let high = u64::from(!is_nothing(size));
            for number in 0..placement.offsets.len() {
                self.slots.push(Slot { buffer, number: number as u32, area, low: 0, high });
            }
        } else if let Some(size) = size.bytes().filter(|_| placement.space.index() < self.space_count) {
            let area = Area(placement.space.index() as u32);
            for (number, offset) in placement.offsets.iter().enumerate() {
                if let Some(end) = end_of(*offset, size) {
                    self.slots.push(Slot { buffer, number: number as u32, area, low: offset.0, high: end.0 });
                }
            }
        }
    }

    /// Every slot, ordered by buffer and slot number.
    pub(super) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// The slots of one buffer.
    pub(super) fn slots_of(&self, buffer: BufferId) -> &[Slot] {
        &self.slots[self.begins[buffer.index()]..self.begins[buffer.index() + 1]]
    }

    /// Whether an area is an object, and used as a whole.
    pub(super) fn is_object(&self, area: Area) -> bool {
        area.0 as usize >= self.space_count
    }

    /// The space that an area is; `None` for an object.
    pub(super) fn space_of(&self, area: Area) -> Option<SpaceId> {
        (!self.is_object(area)).then(|| SpaceId::from_index(area.0 as usize))
    }

    /// A range of an area as users see it.
    pub(super) fn place(&self, problem: &Problem, area: Area, low: u64, high: u64) -> Place {
        let index = area.0 as usize;
        if index >= self.space_count {
            return Place::Object(ObjectId::from_index(index - self.space_count));
        }
        let space = SpaceId::from_index(index);
        Place::Bytes { space, name: problem.spaces()[space].name.clone(), bytes: Bytes(low)..Bytes(high) }
    }
}

/// The plan's entry for a buffer.
pub(super) fn placement(plan: &Plan, buffer: BufferId) -> Option<&Placement> {
    plan.placements.get(buffer)?.as_ref()
}

/// One past the last byte of a slot; `None` if that exceeds [`MAX_BYTES`]. Offsets of other tools' plans may be
/// anything, so the sum is computed in 128 bits.
pub(super) fn end_of(offset: Bytes, size: Bytes) -> Option<Bytes> {
    let end = u128::from(offset.0) + u128::from(size.0);
    u64::try_from(end).ok().filter(|&end| end <= MAX_BYTES).map(Bytes)
}

/// Whether a buffer of this size occupies nothing.
fn is_nothing(size: &Size) -> bool {
    match size {
        Size::Shape(components) => components.contains(&0),
        size => size.bytes() == Some(Bytes::ZERO),
    }
}
