//! Rules that concern one buffer or one space at a time.
//!
//! `Layout` has the bytes of every slot of every placed buffer. An *area* is what addresses are counted in: a space or
//! a shared object.
//!
//! A [`Who`] is a buffer with its name, and a [`Violation`] is one thing that is wrong. [`end_of`] is one past the last
//! byte of a buffer at an offset, `None` if that is too large a number.

use std::cmp::Reverse;

use memplan_core::{Buffer, BufferId, Bytes, Id, IndexVec, ObjectId, Placement, Plan, Problem, Size, SpaceId};

use super::layout::{Layout, Slot, end_of, placement};
use super::violation::{Place, Position, Violation, Who};

/// Reports buffers without a place, places that break a rule by themselves (space, alignment, capacity, fixed offset,
/// room in an object, overlapping slots), and extents that are too small.
pub(super) fn check(problem: &Problem, plan: &Plan, layout: &Layout, out: &mut Vec<Violation>) {
    check_names(problem, plan, out);
    for (id, buffer) in problem.buffers().iter_enumerated() {
        let about = About { problem, plan, id, buffer };
        match placement(plan, id) {
            None => out.push(Violation::MissingBuffer { buffer: about.who() }),
            Some(placement) => about.check(placement, layout, out),
        }
    }
    let needs = Needs::of_spaces(problem, plan, layout);
    for (space, needs) in needs.iter_enumerated() {
        check_extent(problem, plan, space, needs, out);
    }
}

/// Reports entries of the plan for buffers that the problem does not have. A plan from a file lists names that it could
/// not find in `unknown`; a plan made by a program may have more entries than there are buffers.
fn check_names(problem: &Problem, plan: &Plan, out: &mut Vec<Violation>) {
    let known = problem.buffers().len();
    let surplus = plan.placements.as_slice().iter().enumerate().skip(known).filter(|(_, entry)| entry.is_some());
    let surplus = surplus.map(|(index, _)| format!("buffer number {index}"));
    out.extend(plan.unknown.iter().cloned().chain(surplus).map(|name| Violation::UnknownBuffer { name }));
}

/// One buffer that the plan has an entry for.
struct About<'a> {
    problem: &'a Problem,
    plan: &'a Plan,
    id: BufferId,
    buffer: &'a Buffer,
}

impl About<'_> {
    /// The buffer, for messages.
    fn who(&self) -> Who {
        Who::new(self.problem, self.id)
    }

    /// Reports every rule about one placed buffer that is broken.
    fn check(&self, placement: &Placement, layout: &Layout, out: &mut Vec<Violation>) {
        let (slots, offsets) = (self.buffer.slots, placement.offsets.len());
        if offsets < slots as usize {
            out.push(Violation::TooFewOffsets { buffer: self.who(), slots, offsets });
        }
        if !self.buffer.spaces.contains(&placement.space) {
            out.push(Violation::WrongSpace { buffer: self.who(), space: space_name(self.problem, placement.space) });
        }
        match placement.object {
            Some(object) => self.check_object(placement, object, out),
            None => self.check_offsets(placement, out),
        }
        self.check_slots(layout, out);
    }

    /// Reports offsets that break a rule: alignment, fixed offset, capacity. A buffer whose size is not known in
    /// bytes must not be at an offset at all.
    fn check_offsets(&self, placement: &Placement, out: &mut Vec<Violation>) {
        let Some(size) = self.buffer.bytes() else {
            out.push(Violation::SizeUnknown { buffer: self.who() });
            return;
        };
        for &offset in &placement.offsets {
            self.check_alignment(placement.space, offset, out);
            if let Some(fixed) = self.buffer.fixed().filter(|&fixed| fixed != offset) {
                out.push(Violation::FixedMoved { buffer: self.who(), fixed, found: Position::Offset(offset) });
            }
            match end_of(offset, size) {
                Some(end) => self.check_capacity(placement.space, offset, end, out),
                None => out.push(Violation::OffsetTooLarge { buffer: self.who(), offset, size }),
            }
        }
    }

    /// The offset must be a multiple of the buffer's alignment and of the space's. The first of the two that it is no
    /// multiple of is reported. An alignment of 0 counts as 1.
    fn check_alignment(&self, space: SpaceId, offset: Bytes, out: &mut Vec<Violation>) {
        let of_space = self.problem.spaces().get(space).map(|space| space.alignment);
        let broken = [Some(self.buffer.alignment), of_space].into_iter().flatten();
        if let Some(alignment) = broken.into_iter().find(|alignment| !offset.0.is_multiple_of(alignment.0.max(1))) {
            out.push(Violation::Misaligned { buffer: self.who(), offset, alignment });
        }
    }

    /// Reports a slot that ends beyond the capacity of its space. A space that the problem does not have was reported
    /// as the wrong space.
    fn check_capacity(&self, space: SpaceId, offset: Bytes, end: Bytes, out: &mut Vec<Violation>) {
        let Some(info) = self.problem.spaces().get(space) else { return };
        if let Some(capacity) = info.capacity.filter(|&capacity| end > capacity) {
            let place = Place::Bytes { space, name: info.name.clone(), bytes: offset..end };
            out.push(Violation::OutOfCapacity { buffer: self.who(), place, capacity });
        }
    }

    /// Reports a buffer that does not fit into its shared object, or must not be in one: a fixed offset is an address
    /// in a space, which an object does not have.
    fn check_object(&self, placement: &Placement, object: ObjectId, out: &mut Vec<Violation>) {
        if let Some(fixed) = self.buffer.fixed() {
            out.push(Violation::FixedMoved { buffer: self.who(), fixed, found: Position::Object(object) });
        }
        let Some(shared) = self.plan.objects.get(object) else {
            out.push(Violation::UnknownObject { buffer: self.who(), object });
            return;
        };
        if shared.space != placement.space {
            let space = space_name(self.problem, placement.space);
            out.push(Violation::ObjectInOtherSpace { buffer: self.who(), object, space });
        }
        // Offsets in an object are aligned like offsets in the object's space.
        for &offset in &placement.offsets {
            self.check_alignment(placement.space, offset, out);
        }
        if !placement.offsets.iter().all(|&offset| holds(&shared.size, offset, &self.buffer.size)) {
            out.push(Violation::ObjectTooSmall { buffer: self.who(), object });
        }
    }

    /// Reports slots of one buffer that overlap, since they are in use at the same time. All slots are equally large,
    /// so in the order of their starts it is enough to compare neighbours.
    fn check_slots(&self, layout: &Layout, out: &mut Vec<Violation>) {
        let mut slots: Vec<Slot> = match layout.slots_of(self.id) {
            [] | [_] => return,
            slots => slots.iter().copied().filter(|slot| !slot.is_empty()).collect(),
        };
        slots.sort_by_key(|slot| (slot.low, slot.number));
        for pair in slots.windows(2).filter(|pair| pair[1].low < pair[0].high) {
            let place = layout.place(self.problem, pair[0].area, pair[1].low, pair[0].high);
            let (one, other) = (pair[0].number, pair[1].number);
            out.push(Violation::SlotsOverlap { buffer: self.who(), one, other, place });
        }
    }
}

/// The name of a space; its number if the problem has no such space.
fn space_name(problem: &Problem, space: SpaceId) -> String {
    problem.spaces().get(space).map_or_else(|| format!("number {}", space.index()), |space| space.name.clone())
}

/// Whether an object certainly has room for a buffer at an offset in it. A shape fits into a shape with the same
/// number of components if no component is larger; a size that is only known as a symbol fits into an object of the
/// same symbol.
fn holds(object: &Size, offset: Bytes, buffer: &Size) -> bool {
    let fits = |room: Bytes, size: Bytes| end_of(offset, size).is_some_and(|end| end <= room);
    match (object, buffer) {
        (Size::Fixed(room), buffer) => buffer.bytes().is_some_and(|size| fits(*room, size)),
        (Size::Shape(room), Size::Shape(shape)) => {
            let covers = room.len() == shape.len() && room.iter().zip(shape).all(|(room, size)| size <= room);
            covers && offset == Bytes::ZERO
        }
        (Size::Symbolic { symbol, .. }, Size::Symbolic { symbol: same, .. }) if symbol == same => offset == Bytes::ZERO,
        // How large the object will be is not known: it may be empty.
        (Size::Symbolic { .. }, buffer) => buffer.bytes() == Some(Bytes::ZERO) && offset == Bytes::ZERO,
        (Size::Shape(_), _) => false,
    }
}

/// What lies in a space. It is found for all spaces in one pass, because there may be as many spaces as buffers, and a
/// pass for each would take quadratic time.
#[derive(Clone, Default)]
struct Needs {
    /// Where the slots in it end, and the first buffer that ends there.
    furthest: Option<(u64, BufferId)>,
    /// Bytes of the shared objects in it.
    of_objects: u128,
}

impl Needs {
    /// What each space needs: the furthest end of a buffer, and the bytes of its objects.
    fn of_spaces(problem: &Problem, plan: &Plan, layout: &Layout) -> IndexVec<SpaceId, Needs> {
        let mut needs = IndexVec::filled(Needs::default(), problem.spaces().len());
        for slot in layout.slots() {
            if let Some(space) = layout.space_of(slot.area) {
                needs[space].reach(slot.high, slot.buffer);
            }
        }
        // A plan from a file may have objects in spaces that the problem does not have.
        let known = |space: SpaceId| space.index() < problem.spaces().len();
        for object in plan.objects.iter().filter(|object| known(object.space)) {
            let sum = &mut needs[object.space].of_objects;
            *sum = sum.saturating_add(object_bytes(&object.size));
        }
        needs
    }

    /// Takes in a slot. Of several buffers that end furthest, the one with the lowest number stays, so that the
    /// report does not depend on the order of the slots.
    fn reach(&mut self, end: u64, buffer: BufferId) {
        let is_further = |(furthest, first): (u64, BufferId)| (end, Reverse(buffer)) > (furthest, Reverse(first));
        if self.furthest.is_none_or(is_further) {
            self.furthest = Some((end, buffer));
        }
    }
}

/// Whether the extent that the plan states is large enough for its buffers and objects, and within the capacity.
fn check_extent(problem: &Problem, plan: &Plan, space: SpaceId, needs: &Needs, out: &mut Vec<Violation>) {
    let extent = plan.extents.get(space).copied().unwrap_or_default();
    let info = &problem.spaces()[space];
    let name = || info.name.clone();
    // Shared objects and buffers with offsets have no bytes in common, so the two add up.
    let end = needs.furthest.map_or(0, |(end, _)| end);
    let needed = u128::from(end).saturating_add(needs.of_objects);
    match needs.furthest {
        Some((_, buffer)) if end > extent.0 => {
            let buffer = Who::new(problem, buffer);
            out.push(Violation::ExtentTooSmall { buffer, space, name: name(), end: Bytes(end), extent });
        }
        _ if needed > u128::from(extent.0) => {
            out.push(Violation::ObjectsPastExtent { space, name: name(), needed, extent });
        }
        _ => {}
    }
    if let Some(capacity) = info.capacity.filter(|&capacity| extent > capacity) {
        out.push(Violation::ExtentPastCapacity { space, name: name(), extent, capacity });
    }
}

/// What an object counts for in its space's extent: a shape counts the product
/// of its components, an unknown size nothing.
fn object_bytes(size: &Size) -> u128 {
    match size {
        Size::Shape(components) => {
            components.iter().fold(1u128, |product, &component| product.saturating_mul(u128::from(component)))
        }
        size => u128::from(size.bytes().unwrap_or_default().0),
    }
}
