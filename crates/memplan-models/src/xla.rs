//! Buffer assignments that XLA dumps.
//!
//! With `--xla_dump_to=DIR --xla_dump_hlo_as_text` XLA writes, for each module,
//! where every value lives and when it is alive:
//!
//! ```text
//! BufferAssignment:                                             …-buffer-assignment.txt
//! allocation 0: size 4096, maybe-live-out:
//!  value: <7 dot.3 @0> (size=4096,offset=0): f32[32,32]{1,0}
//! allocation 1: size 8192, preallocated-temp:
//!  value: <5 add.1 @0> (size=4096,offset=4096): f32[32,32]{1,0}
//! HloLiveRange (max 12):                                        …-live-range.txt
//!   BufferLiveRange:
//!     dot.3{}:4-12
//!     add.1{}:2-4
//! ```
//!
//! Both texts, one after the other, are one input. The values in allocations that
//! XLA makes itself become buffers. `4-12` in a live range means that the value is
//! alive from step 4 to step 12, included. Parameters, constants and memory of
//! single threads have memory of their own and are left out. XLA's plan, which is
//! read too, puts its allocations one after the other.
//!
//! Values may lie on the same bytes at the same time. If a value starts at the step
//! at which the other one is read for the last time, XLA computes in place: the
//! problem says that it *may overlay* the other. If they share a place for longer,
//! they are the same memory to XLA (the state of a loop): they *must share*.

mod text;

use std::collections::{BTreeMap, HashMap};

use memplan_core::{
    Buffer, BufferId, Bytes, Lifetime, Overlay, OverlayKind, Placement, Plan, Problem, ProblemBuilder, Reuse, Space,
    SpaceId,
};
use memplan_core::{Id, Span};

use crate::ReadError;
use crate::graph::unique_names;
use text::{Dump, Value};

pub use text::is_dump;

/// The alignment of XLA's allocations and values on a CPU.
const ALIGNMENT: Bytes = Bytes(64);

/// A dump that was read.
#[derive(Clone, Debug)]
pub struct ReadDump {
    /// The problem XLA had.
    pub problem: Problem,
    /// XLA's own plan for it.
    pub plan: Plan,
    /// What was left out.
    pub notes: Vec<String>,
}

/// A value that XLA places.
struct Placed<'d> {
    /// The value, with its size and its place in its allocation.
    value: &'d Value,
    /// The first and the last step at which it is alive.
    first: u64,
    last: u64,
    /// Its offset if XLA's allocations lie one after the other.
    address: u64,
}

/// Reads a dump: a buffer assignment and the live ranges that go with it.
pub fn read(text: &str) -> Result<ReadDump, ReadError> {
    let dump = Dump::parse(text)?;
    let (placed, notes) = placed_values(&dump, text)?;
    let failed =
        |error: memplan_core::ProblemError| ReadError::new("xla::too-large", text, Span::new(0, 0), error.to_string());
    let mut builder = ProblemBuilder::new();
    let space = builder.space(Space::new("default"));
    let names = unique_names(placed.iter().map(|placed| placed.value.name.clone()).collect(), "value");
    for (placed, name) in placed.iter().zip(names) {
        // A live range includes its last step; a `Lifetime` is half-open.
        let lifetime = Lifetime::new(placed.first, placed.last + 1);
        let mut buffer = Buffer::new(name, placed.value.size, lifetime);
        buffer.alignment = ALIGNMENT;
        builder.buffer(buffer);
    }
    relate(&placed, &mut builder);
    let problem = builder.build().map_err(failed)?;
    let plan = plan_of(&placed, &problem, space);
    Ok(ReadDump { problem, plan, notes })
}

/// XLA's plan, read from its dump, for a problem that was read from a dump of the same program. Values are found by
/// their names; values that the problem does not have are left out.
pub fn plan(text: &str, problem: &Problem) -> Result<Plan, ReadError> {
    let dump = Dump::parse(text)?;
    let bases = dump.bases(text)?;
    let known: HashMap<&str, BufferId> =
        problem.buffers().iter_enumerated().map(|(id, buffer)| (buffer.name.as_str(), id)).collect();
    let mut plan = Plan::empty(problem);
    let values: Vec<&Value> = dump.values.iter().filter(|value| dump.allocations[value.allocation].is_ours()).collect();
    let names = unique_names(values.iter().map(|value| value.name.clone()).collect(), "value");
    for (value, name) in values.into_iter().zip(names) {
        if let Some(&id) = known.get(name.as_str()) {
            let address = bases[value.allocation].saturating_add(value.offset);
            plan.placements[id] = Some(Placement::at(SpaceId::from_index(0), Bytes(address)));
        }
    }
    complete(&mut plan, problem);
    Ok(plan)
}

/// The values that XLA placed, each with its life and its address, and a note about those without a live range.
fn placed_values<'d>(dump: &'d Dump, text: &str) -> Result<(Vec<Placed<'d>>, Vec<String>), ReadError> {
    if dump.ranges.is_empty() {
        let message = "there are no live ranges in the dump";
        return Err(ReadError::new("xla::no-live-range", text, Span::new(0, 0), message).help(
            "put the text of ...-live-range.txt behind that of ...-buffer-assignment.txt, or the file beside it",
        ));
    }
    let bases = dump.bases(text)?;
    let mut placed = Vec::new();
    let mut without = Vec::new();
    // Allocations that XLA did not plan (parameters, constants) have memory of their own and take no part.
    for value in dump.values.iter().filter(|value| dump.allocations[value.allocation].is_ours()) {
        match dump.ranges.get(&value.name) {
            Some(&(first, last)) => {
                let address = bases[value.allocation].saturating_add(value.offset);
                placed.push(Placed { value, first, last, address });
            }
            // A value without a live range cannot be planned. It is left out with a note, because dumps of some
            // versions lack a few.
            None => without.push(value.name.as_str()),
        }
    }
    let mut notes = Vec::new();
    if let Some(first) = without.first() {
        notes.push(format!("{} values have no live range and are left out, such as `{first}`", without.len()));
    }
    Ok((placed, notes))
}

/// Finds the values that share bytes at the same time in XLA's plan, and adds the relations that permit or demand it to
/// the problem. Takes time proportional to the number of values times the number alive at once.
fn relate(placed: &[Placed], builder: &mut ProblemBuilder) {
    let mut order: Vec<usize> = (0..placed.len()).collect();
    order.sort_by_key(|&index| (placed[index].first, index));
    // The values that have started and may not have ended yet. Values are taken in the order of their starts.
    let mut alive: Vec<usize> = Vec::new();
    for index in order {
        let new = &placed[index];
        // `last` is the last step at which a value is in use, so a value that ends where another starts still meets
        // it.
        alive.retain(|&other| placed[other].last >= new.first);
        for &other in &alive {
            let old = &placed[other];
            let meets = old.address < new.address.saturating_add(new.value.size)
                && new.address < old.address.saturating_add(old.value.size);
            if !meets {
                continue;
            }
            let (buffer, over) = (BufferId::from_index(index), BufferId::from_index(other));
            // If the old value ends in the step in which the new one starts, an op reads the old one and writes the new
            // one in place. Two values that live together for longer at the same address are one buffer to XLA. If they
            // live together for longer and only share a part of their bytes, there is no relation that says so; XLA's
            // own plan then breaks the rules of the problem.
            let is_handover = old.last == new.first && old.first < new.first;
            if is_handover {
                let kind = if old.address == new.address { OverlayKind::SameBase } else { OverlayKind::AnyOffset };
                builder.overlay(Overlay { buffer, over, kind });
            } else if old.address == new.address {
                builder.must_share(over, buffer);
            }
        }
        alive.push(index);
    }
}

/// XLA's plan: the values, which are the buffers of the problem in the same order, at their addresses.
fn plan_of(placed: &[Placed], problem: &Problem, space: SpaceId) -> Plan {
    let mut plan = Plan::empty(problem);
    for (index, placed) in placed.iter().enumerate() {
        plan.placements[BufferId::from_index(index)] = Some(Placement::at(space, Bytes(placed.address)));
    }
    complete(&mut plan, problem);
    plan
}

/// Completes a plan whose offsets are set: its extents, and the overlays that it uses. An overlay is used if the two
/// buffers have a byte in common; the victims of one newcomer are listed by address.
fn complete(plan: &mut Plan, problem: &Problem) {
    plan.fit_extents(problem);
    let mut over = BTreeMap::<BufferId, Vec<(u64, BufferId)>>::new();
    for overlay in problem.overlays() {
        if let (Some((start, end)), Some((old_start, old_end))) =
            (range(plan, problem, overlay.buffer), range(plan, problem, overlay.over))
            && start < old_end
            && old_start < end
        {
            over.entry(overlay.buffer).or_default().push((old_start, overlay.over));
        }
    }
    plan.reused = over
        .into_iter()
        .map(|(buffer, mut over)| {
            over.sort_unstable();
            Reuse { buffer, over: over.into_iter().map(|(_, buffer)| buffer).collect() }
        })
        .collect();
}

/// The first byte of a buffer in a plan, and one past its last byte; `None` if the buffer has no place or no size.
fn range(plan: &Plan, problem: &Problem, buffer: BufferId) -> Option<(u64, u64)> {
    let start = plan.offset(buffer)?.0;
    Some((start, start.saturating_add(problem.buffers()[buffer].bytes()?.0)))
}
