//! From the caller's arrays to a [`Problem`], and from a plan back to arrays.

use memplan::core::{
    Buffer, BufferId, Bytes, Id, Interval, Lifetime, Overlay, OverlayKind, Placement, Plan, Problem, ProblemBuilder,
    ReuseCost, Space, SpaceId,
};

use crate::error::Failure;
use crate::layout::{
    BufferDescription, Elements, IntervalDescription, MEMPLAN_CAPACITY, MEMPLAN_EXCLUSIVE, MEMPLAN_FIXED_OFFSET,
    MEMPLAN_MAY_OVERLAY, MEMPLAN_MAY_OVERLAY_ANYWHERE, MEMPLAN_MUST_NOT_SHARE, MEMPLAN_MUST_SHARE, ProblemDescription,
    RelationDescription, ReuseCostDescription, read_sized,
};

/// Reads a problem; its buffers are called 0, 1, …
///
/// # Safety
/// The pointers are null or point to what the header says.
pub(crate) unsafe fn read(problem: *const ProblemDescription) -> Result<Problem, Failure> {
    // SAFETY: as promised to us.
    let given = unsafe { read_sized(problem, ProblemDescription::default())? };
    let spaces = Elements::of(given.spaces, given.space_size, given.space_count)?;
    let buffers = Elements::of(given.buffers, given.buffer_size, given.buffer_count)?;
    let relations = Elements::of(given.relations, given.relation_size, given.relation_count)?;
    let mut builder = ProblemBuilder::new();
    // SAFETY: as promised to us.
    for (index, space) in unsafe { spaces.iter() }.enumerate() {
        no_more_than(space.flags, MEMPLAN_CAPACITY, || format!("space {index}"))?;
        is_zero(space.reserved, || format!("space {index}"))?;
        builder.space(Space {
            name: space_name(index, spaces.len()),
            capacity: (space.flags & MEMPLAN_CAPACITY != 0).then_some(Bytes(space.capacity)),
            // An alignment of 0 means that the caller has given none.
            alignment: Bytes(space.alignment.max(1)),
            base: Bytes(space.base),
        });
    }
    // A caller that lists no spaces has one, which the builder adds. Buffers name it as space 0.
    let known_spaces = spaces.len().max(1);
    // SAFETY: as promised to us.
    for (index, description) in unsafe { buffers.iter() }.enumerate() {
        // SAFETY: as promised to us.
        builder.buffer(unsafe { buffer(index, &description, known_spaces, given.interval_size)? });
    }
    // SAFETY: as promised to us.
    for (index, description) in unsafe { relations.iter() }.enumerate() {
        relate(index, &description, &mut builder)?;
    }
    let costs = Elements::of(given.reuse_costs, given.reuse_cost_size, given.reuse_cost_count)?;
    // SAFETY: as promised to us.
    for ReuseCostDescription { buffer, other, weight } in unsafe { costs.iter() } {
        let [one, other] = [buffer, other].map(|number| BufferId::from_index(number as usize));
        builder.reuse_cost(ReuseCost { one, other, weight });
    }
    builder.build().map_err(|error| Failure::argument(error.to_string()))
}

/// The name of a space: `default` if it is the only one, otherwise its number.
fn space_name(index: usize, count: usize) -> String {
    if count == 1 { "default".to_owned() } else { index.to_string() }
}

/// Refuses flags that do not exist. A caller who sets one asks for something that this version cannot do.
pub(crate) fn no_more_than(flags: u32, known: u32, who: impl Fn() -> String) -> Result<(), Failure> {
    match flags & !known {
        0 => Ok(()),
        unknown => Err(Failure::argument(format!("{} has flags that do not exist: {unknown:#x}", who()))),
    }
}

/// Refuses a field `reserved` that is not 0: a later version may give it a meaning.
pub(crate) fn is_zero(reserved: u32, who: impl Fn() -> String) -> Result<(), Failure> {
    match reserved {
        0 => Ok(()),
        other => Err(Failure::argument(format!("`reserved` of {} is {other} and must be 0", who()))),
    }
}

/// Reads one buffer. `index` is its number, which is also its name; `spaces` is how many spaces there are;
/// `interval_size` is the size that the caller gives for `memplan_interval`.
///
/// # Safety
/// The pointers are null or point to what the header says.
unsafe fn buffer(
    index: usize,
    given: &BufferDescription,
    spaces: usize,
    interval_size: usize,
) -> Result<Buffer, Failure> {
    no_more_than(given.flags, MEMPLAN_FIXED_OFFSET | MEMPLAN_EXCLUSIVE, || format!("buffer {index}"))?;
    is_zero(given.reserved, || format!("buffer {index}"))?;
    // SAFETY: as promised to us.
    let lifetime = unsafe { lifetime(index, given, interval_size)? };
    let mut buffer = Buffer::new(index.to_string(), given.size, lifetime);
    buffer.alignment = Bytes(given.alignment.max(1));
    buffer.set_fixed((given.flags & MEMPLAN_FIXED_OFFSET != 0).then_some(Bytes(given.fixed_offset)));
    buffer.exclusive = given.flags & MEMPLAN_EXCLUSIVE != 0;
    buffer.slots = given.slots.max(1);
    let candidates = Elements::of(given.spaces, size_of::<u32>(), given.space_count)?;
    // SAFETY: as promised to us.
    let candidates: Vec<u32> = unsafe { candidates.iter() }.collect();
    // Callers that list no candidates, such as those with an old header, name one space in the field `space`.
    let candidates = if candidates.is_empty() { vec![given.space] } else { candidates };
    for &space in &candidates {
        let known = usize::try_from(space)
            .ok()
            .filter(|&space| space < spaces)
            .ok_or_else(|| Failure::argument(format!("buffer {index} is in space {space}, and there are {spaces}")))?;
        buffer.spaces.push(SpaceId::from_index(known));
    }
    Ok(buffer)
}

/// Reads the life of a buffer: its intervals, or the one from `start` to `end` if it lists none.
///
/// # Safety
/// The pointer to the intervals is null or points to what the header says.
unsafe fn lifetime(index: usize, given: &BufferDescription, interval_size: usize) -> Result<Lifetime, Failure> {
    let intervals = Elements::of(given.intervals, interval_size, given.interval_count)?;
    // SAFETY: as promised to us.
    let mut intervals: Vec<IntervalDescription> = unsafe { intervals.iter() }.collect();
    if intervals.is_empty() {
        intervals.push(IntervalDescription { start: given.start, end: given.end, ..IntervalDescription::default() });
    }
    if let Some(IntervalDescription { start, end, .. }) =
        intervals.iter().find(|interval| interval.end < interval.start)
    {
        return Err(Failure::argument(format!("buffer {index} ends at step {end}, before it starts at {start}")));
    }
    Ok(intervals.into_iter().map(interval).collect())
}

/// A stretch of a life. A window of zeroes is the whole buffer.
fn interval(given: IntervalDescription) -> Interval {
    match (given.low, given.high) {
        (0, 0) => Interval::new(given.start, given.end),
        (low, high) => Interval::with_window(given.start, given.end, low, high),
    }
}

/// Adds a relation between two buffers. `index` is its place in the list, for messages.
fn relate(index: usize, given: &RelationDescription, builder: &mut ProblemBuilder) -> Result<(), Failure> {
    is_zero(given.reserved, || format!("relation {index}"))?;
    let buffer = |number: u32| BufferId::from_index(number as usize);
    let (one, other) = (buffer(given.buffer), buffer(given.other));
    let mut overlay = |kind| builder.overlay(Overlay { buffer: one, over: other, kind });
    match given.kind {
        MEMPLAN_MAY_OVERLAY => overlay(OverlayKind::SameBase),
        MEMPLAN_MAY_OVERLAY_ANYWHERE => overlay(OverlayKind::AnyOffset),
        MEMPLAN_MUST_SHARE => builder.must_share(one, other),
        MEMPLAN_MUST_NOT_SHARE => builder.must_not_share(one, other),
        kind => return Err(Failure::argument(format!("relation {index} is of kind {kind}, which does not exist"))),
    }
    Ok(())
}

/// How many offsets a plan has: one for each slot of each buffer.
pub(crate) fn slot_count(problem: &Problem) -> usize {
    problem.buffers().iter().map(|buffer| buffer.slots as usize).sum()
}

/// The first buffer that may live in several spaces, so that an offset alone does not say where it is.
pub(crate) fn first_with_choice(problem: &Problem) -> Option<BufferId> {
    problem.buffers().iter_enumerated().find(|(_, buffer)| buffer.spaces.len() > 1).map(|(id, _)| id)
}

/// The plan that an array of offsets describes, one for each slot of each buffer, in the order of the buffers.
/// `spaces` has the space of each buffer; without it every buffer is in its only space.
pub(crate) fn plan_of(problem: &Problem, offsets: &[u64], spaces: Option<&[u32]>) -> Result<Plan, Failure> {
    let mut plan = Plan::empty(problem);
    let mut offsets = offsets.iter().map(|&offset| Bytes(offset));
    for (id, buffer) in problem.buffers().iter_enumerated() {
        let index = id.index();
        // A space that the buffer may not be in is no error here: the packing check reports it. A space that does not
        // exist cannot be part of a plan.
        let space = match spaces {
            None => buffer.spaces[0],
            Some(spaces) => {
                let known = usize::try_from(spaces[index]).ok().filter(|&space| space < problem.spaces().len());
                SpaceId::from_index(known.ok_or_else(|| {
                    let count = problem.spaces().len();
                    Failure::argument(format!(
                        "buffer {index} is said to be in space {}, and there are {count}",
                        spaces[index]
                    ))
                })?)
            }
        };
        let of_slots = offsets.by_ref().take(buffer.slots as usize).collect();
        plan.placements[id] = Some(Placement { offsets: of_slots, ..Placement::at(space, Bytes::ZERO) });
    }
    plan.fit_extents(problem);
    Ok(plan)
}

/// The offsets of a plan, one for each slot of each buffer, in the order of the buffers. A slot without a place has
/// 0, so that the following numbers belong to the right buffers.
pub(crate) fn offsets_of(problem: &Problem, plan: &Plan) -> Vec<u64> {
    let slots = problem.buffers().iter_enumerated().map(|(id, buffer)| (id, buffer.slots as usize));
    let of_slots = |(id, slots): (BufferId, usize)| {
        let found = plan.placements[id].iter().flat_map(|placement| &placement.offsets).map(|offset| offset.0);
        found.chain(std::iter::repeat(0)).take(slots).collect::<Vec<u64>>()
    };
    slots.flat_map(of_slots).collect()
}
