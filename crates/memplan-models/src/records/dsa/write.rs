//! Writes problems as `dsa` files; the parent module has an example of one.
//!
//! Buffers, pools and pairs refer to each other by number: the number of a buffer or a pool is its position in the
//! problem. Buffers that stand for reserved ranges ([`RESERVED`]) are written as ranges of their pool, and not as
//! buffers.

use memplan_core::{Buffer, BufferId, Id, OverlayKind, Problem, ReuseCost, Size, SpaceId};
use serde_json::{Value, json};

use super::RESERVED;

/// Writes a problem, called `instance`, as one line of JSON. Reading the line again gives the same problem, except that
/// the alignment of a space has become part of its buffers' alignments, in all spaces that a buffer may be in. The error
/// names the feature of the problem that the format cannot express.
pub fn write(problem: &Problem, instance: &str) -> Result<String, String> {
    refuse(problem)?;
    let buffers: Vec<Value> =
        own(problem).map(|(id, buffer)| buffer_file(problem, id, buffer)).collect::<Result<_, String>>()?;
    let pools: Vec<Value> = problem.spaces().ids().map(|space| pool_file(problem, space)).collect();
    // Our overlay, the permission for two buffers to lie on the same bytes although their lives overlap, is called a
    // temporal exclusion by the format.
    let exclusions: Vec<_> = problem.overlays().iter().map(|overlay| (overlay.over, overlay.buffer)).collect();
    let file = json!({
        "schema_version": 1,
        "profile": "dsa_rp_v1",
        "instance": instance,
        "metadata": {"producer": "memplan"},
        "problem": {
            "pools": pools,
            "buffers": buffers,
            "constraints": {
                "colocations": pairs(problem.must_share()),
                "separations": pairs(problem.must_not_share()),
                "temporal_exclusions": pairs(&exclusions),
                "pinned_allocations": own(problem).filter_map(pinned).collect::<Vec<Value>>(),
            },
            "cost_model": {"reuse_penalties": problem.reuse_costs().iter().map(penalty).collect::<Vec<Value>>()},
            // The goals of our search, the most important first: everything fits, then the least reuse cost, then the
            // smallest extent.
            "objective": {"aggregation": "lexicographic", "terms": ["capacity_overflow", "reuse_cost", "total_peak"]},
        },
    });
    Ok(format!("{file}\n"))
}

/// Pairs of buffers, as constraints list them.
fn pairs(pairs: &[(BufferId, BufferId)]) -> Vec<Value> {
    pairs.iter().map(|(one, other)| json!({"first": one.index(), "second": other.index()})).collect()
}

/// Where a buffer has to be, if the problem fixes its offset.
fn pinned((id, buffer): (BufferId, &Buffer)) -> Option<Value> {
    let offset = buffer.fixed()?;
    Some(json!({"buffer": id.index(), "pool": buffer.spaces[0].index(), "offset": offset.0}))
}

/// What it costs if two buffers share memory.
fn penalty(cost: &ReuseCost) -> Value {
    json!({"first": cost.one.index(), "second": cost.other.index(), "cost": cost.weight, "reason": "generic"})
}

/// The buffers of a problem without those that stand for reserved ranges.
pub(super) fn own(problem: &Problem) -> impl Iterator<Item = (BufferId, &Buffer)> {
    problem.buffers().iter_enumerated().filter(|(_, buffer)| !is_reserved(buffer))
}

/// Whether a buffer stands for a reserved range of a pool, as the reader of this format makes them.
fn is_reserved(buffer: &Buffer) -> bool {
    buffer.exclusive && buffer.fixed().is_some() && buffer.name.starts_with(RESERVED)
}

/// Refuses a problem with a feature that the format cannot express; the error names the feature. Without the feature
/// the file would describe another problem.
fn refuse(problem: &Problem) -> Result<(), String> {
    for (_, buffer) in own(problem) {
        let name = &buffer.name;
        if buffer.lifetime.intervals().any(|interval| interval.window.is_some()) {
            return cannot(&format!("that only a window of buffer `{name}` is alive"));
        }
        if buffer.slots > 1 || buffer.exclusive || buffer.tie().is_some() {
            return cannot(&format!("that buffer `{name}` has several slots, is exclusive or is tied to others"));
        }
        if !matches!(buffer.size, Size::Fixed(_)) {
            return cannot(&format!("that the size of buffer `{name}` is not known"));
        }
    }
    if problem.overlays().iter().any(|overlay| overlay.kind == OverlayKind::SameBase) {
        return cannot("that a buffer may overlay another one at the same base only");
    }
    if problem.dependencies().is_some() {
        return cannot("that the order of execution is not fixed");
    }
    match problem.spaces().iter().find(|space| space.base.0 != 0) {
        Some(space) => cannot(&format!("where space `{}` begins", space.name)),
        None => Ok(()),
    }
}

/// The refusal of a problem with something that the format has no word for.
fn cannot(what: &str) -> Result<(), String> {
    Err(format!("the format `dsa` cannot say {what}"))
}

/// A buffer as these files have it.
fn buffer_file(problem: &Problem, id: BufferId, buffer: &Buffer) -> Result<Value, String> {
    // Spaces have no alignment in these files, so the alignment of a buffer includes that of its spaces. If it may be
    // in several spaces, their common multiple is written: it is right in each of them, while the largest, 24 of 24 and
    // 16, is not.
    let mut alignments = buffer.spaces.iter().map(|&space| problem.alignment_in(id, space));
    let Some(alignment) = alignments.try_fold(buffer.alignment, |all, one| all.least_common_multiple(one)) else {
        return Err(format!("the alignments of buffer `{}` have no common multiple below 2^64", buffer.name));
    };
    let intervals = buffer.lifetime.intervals();
    Ok(json!({
        "id": id.index(),
        "name": buffer.name.as_str(),
        "size": buffer.bytes().unwrap_or_default().0,
        "alignment": alignment.0,
        "allowed_pools": buffer.spaces.iter().map(|space| space.index()).collect::<Vec<_>>(),
        "live_intervals": intervals.map(|life| json!({"lower": life.start.0, "upper": life.end.0})).collect::<Vec<_>>(),
    }))
}

/// A space as these files have it: a pool with its reserved ranges.
fn pool_file(problem: &Problem, space: SpaceId) -> Value {
    let info = &problem.spaces()[space];
    let is_here = |buffer: &&Buffer| is_reserved(buffer) && buffer.spaces[0] == space;
    let reserved: Vec<Value> = problem.buffers().iter().filter(is_here).map(reserved_range).collect();
    let capacity = info.capacity.map(|bytes| bytes.0);
    json!({"id": space.index(), "name": info.name, "capacity": capacity, "reserved_ranges": reserved})
}

/// The bytes of a buffer that stands for a reserved range, as a range of its pool.
fn reserved_range(buffer: &Buffer) -> Value {
    let low = buffer.fixed().unwrap_or_default().0;
    json!({"begin": low, "end": low + buffer.bytes().unwrap_or_default().0})
}
