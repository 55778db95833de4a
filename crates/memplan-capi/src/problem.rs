//! From the caller's arrays to a [`Problem`], and from a plan back to an array.

use memplan::core::{Buffer, Bytes, Id, Lifetime, Placement, Plan, Problem, ProblemBuilder, Space, SpaceId};

use crate::error::Failure;
use crate::layout::{
    BufferDescription, Elements, MEMPLAN_CAPACITY, MEMPLAN_FIXED_OFFSET, ProblemDescription, SpaceDescription,
    read_sized,
};

/// Reads a problem; its buffers are called 0, 1, …
///
/// # Safety
/// The pointers are null or point to what the header says.
pub(crate) unsafe fn read(problem: *const ProblemDescription) -> Result<Problem, Failure> {
    let nothing = ProblemDescription {
        struct_size: 0,
        buffer_size: 0,
        buffers: std::ptr::null(),
        buffer_count: 0,
        space_size: 0,
        spaces: std::ptr::null(),
        space_count: 0,
    };
    // SAFETY: as promised to us.
    let given = unsafe { read_sized(problem, nothing)? };
    let spaces =
        Elements::of("memplan_space", given.spaces, given.space_size, given.space_count, SpaceDescription::default())?;
    let buffers = Elements::of(
        "memplan_buffer",
        given.buffers,
        given.buffer_size,
        given.buffer_count,
        BufferDescription::default(),
    )?;
    let mut builder = ProblemBuilder::new();
    // SAFETY: as promised to us.
    for (index, space) in unsafe { spaces.iter() }.enumerate() {
        builder.space(Space {
            name: space_name(index, spaces.len()),
            capacity: (space.flags & MEMPLAN_CAPACITY != 0).then_some(Bytes(space.capacity)),
            alignment: Bytes(space.alignment.max(1)),
            base: Bytes(space.base),
        });
    }
    let known_spaces = spaces.len().max(1);
    // SAFETY: as promised to us.
    for (index, description) in unsafe { buffers.iter() }.enumerate() {
        builder.buffer(buffer(index, &description, known_spaces)?);
    }
    builder.build().map_err(|error| Failure::argument(error.to_string()))
}

fn space_name(index: usize, count: usize) -> String {
    if count == 1 { "default".to_owned() } else { index.to_string() }
}

fn buffer(index: usize, given: &BufferDescription, spaces: usize) -> Result<Buffer, Failure> {
    let space = usize::try_from(given.space).ok().filter(|&space| space < spaces).ok_or_else(|| {
        Failure::argument(format!("buffer {index} is in space {}, and there are {spaces}", given.space))
    })?;
    if given.end < given.start {
        let (start, end) = (given.start, given.end);
        return Err(Failure::argument(format!("buffer {index} ends at step {end}, before it starts at {start}")));
    }
    let mut buffer = Buffer::new(index.to_string(), given.size, Lifetime::new(given.start, given.end));
    buffer.alignment = Bytes(given.alignment.max(1));
    buffer.fixed = (given.flags & MEMPLAN_FIXED_OFFSET != 0).then_some(Bytes(given.fixed_offset));
    buffer.spaces.push(SpaceId::from_index(space));
    Ok(buffer)
}

/// The plan that an array of offsets means.
pub(crate) fn plan_of(problem: &Problem, offsets: &[u64]) -> Plan {
    let mut plan = Plan::empty(problem);
    for ((id, buffer), &offset) in problem.buffers().iter_enumerated().zip(offsets) {
        plan.placements[id] = Some(Placement::at(buffer.spaces[0], Bytes(offset)));
    }
    plan.fit_extents(problem);
    plan
}

/// The offsets of a plan, in the order of the buffers.
pub(crate) fn offsets_of(problem: &Problem, plan: &Plan) -> Vec<u64> {
    problem.buffers().ids().map(|id| plan.offset(id).unwrap_or_default().0).collect()
}
