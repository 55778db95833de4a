//! Lower bounds: extents below which there is certainly no plan.
//!
//! For offsets the bound is the peak of live bytes: whatever is alive at one
//! step lies on disjoint bytes, so a space needs at least their sum.
//!
//! ```text
//!   step      0   1   2   3   4
//!   a   64    ########              alive in [0, 2)
//!   b   32        ########          alive in [1, 3)
//!   c   16                ########  alive in [3, 5)
//!   live      64  96  32  16  16    peak 96 at step 1
//! ```
//!
//! Three refinements, each sound on its own:
//!
//! - *alignment*: if every offset is a multiple of g, then between two buffers
//!   the tail up to the next multiple of g is lost; only the topmost buffer may
//!   keep its tail outside. So sizes count rounded up to g, less the largest
//!   tail among those alive.
//! - *ties*: members of one block may overlap each other, so a block counts with
//!   the union of its members' bytes.
//! - *overlays*: from the newcomer's start on, a victim counts with the size of
//!   the smaller of the two less. That is the most that can be taken from it,
//!   once for each overlay; what nobody takes is disjoint from everything else.
//!
//! For shared objects the bound is the sum of the *positional maxima*: sort
//! the sizes alive at each step, largest first; the i-th largest object is at
//! least as large as the i-th entry of every step's list.

mod positional;
mod sweep;

pub use positional::{TaskProfile, positional_maxima, positional_maxima_of, task_profiles};
pub use sweep::Peak;

use crate::{Buffer, BufferId, Bytes, IndexVec, Problem, SpaceId, Witness};
use sweep::Sweep;

/// Peak of live bytes over the buffers that `counts` selects: the plain number,
/// without regard to alignment or overlays.
pub fn peak_live(problem: &Problem, counts: impl Fn(BufferId) -> bool) -> Peak {
    Sweep::plain(problem, counts).peak()
}

/// Live bytes over time for the selected buffers: `(step, bytes)` at each step
/// where the sum changes.
pub fn live_bytes(problem: &Problem, counts: impl Fn(BufferId) -> bool) -> Vec<(crate::Step, Bytes)> {
    Sweep::plain(problem, counts).profile()
}

/// What each space needs at least, counting the buffers that can only live there.
pub fn space_lower_bounds(problem: &Problem) -> IndexVec<SpaceId, Peak> {
    problem.spaces().ids().map(|space| space_lower_bound(problem, space)).collect()
}

fn space_lower_bound(problem: &Problem, space: SpaceId) -> Peak {
    let only_here = |buffer: BufferId| problem.buffers()[buffer].spaces.as_slice() == [space];
    let mut peak = Sweep::refined(problem, space, only_here).peak();
    for (id, buffer) in problem.buffers().iter_enumerated() {
        let (Some(offset), true) = (buffer.fixed, only_here(id)) else { continue };
        let end = Bytes(offset.0 + buffer.bytes().unwrap_or_default().0);
        if end > peak.bytes {
            peak = Peak { bytes: end, step: None };
        }
    }
    peak
}

/// No plan made of offsets has a smaller extent, summed over all spaces.
pub fn lower_bound(problem: &Problem) -> Bytes {
    lower_bound_with(problem, &space_lower_bounds(problem))
}

/// The same for a caller who has [`space_lower_bounds`] already.
pub fn lower_bound_with(problem: &Problem, per_space: &IndexVec<SpaceId, Peak>) -> Bytes {
    let per_space = Bytes(per_space.iter().map(|peak| peak.bytes.0).sum());
    let has_choice = problem.buffers().iter().any(|buffer| buffer.spaces.len() > 1);
    if has_choice { per_space.max(Sweep::anywhere(problem).peak().bytes) } else { per_space }
}

/// No plan made of shared objects is smaller: the positional maxima, summed over
/// objects and spaces. Zero where sizes are not numbers of bytes.
///
/// Members of a block may use one object at the same time, and so may a buffer
/// and the one it overlays; only one of them counts.
pub fn objects_lower_bound(problem: &Problem) -> Bytes {
    let mut joins_others: IndexVec<BufferId, bool> = IndexVec::filled(false, problem.buffers().len());
    for block in problem.blocks().blocks() {
        block.members.iter().skip(1).for_each(|member| joins_others[member.buffer] = true);
    }
    problem.overlays().iter().for_each(|overlay| joins_others[overlay.buffer] = true);
    let of_space = |space: SpaceId| {
        let only_here =
            |buffer: BufferId| problem.buffers()[buffer].spaces.as_slice() == [space] && !joins_others[buffer];
        positional_maxima(problem, only_here).iter().map(|maximum| maximum.0).sum::<u64>()
    };
    Bytes(problem.spaces().ids().map(of_space).sum())
}

/// A proof that the problem does not fit its capacities, if a simple one exists:
/// buffers alive together in a space, or one that is too large for all of its spaces.
pub fn overfull(problem: &Problem) -> Option<Witness> {
    alone_too_large(problem).or_else(|| {
        problem.spaces().ids().find_map(|space| {
            let capacity = problem.spaces()[space].capacity?;
            let peak = space_lower_bound(problem, space);
            (peak.bytes > capacity).then(|| Witness {
                space,
                buffers: alive_at(problem, space, peak),
                step: peak.step,
                needed: peak.bytes,
                capacity,
            })
        })
    })
}

fn alone_too_large(problem: &Problem) -> Option<Witness> {
    problem.buffers().iter_enumerated().find_map(|(id, buffer)| {
        let size = buffer.bytes()?;
        let needed = Bytes(buffer.fixed.unwrap_or_default().0 + size.0 * u64::from(buffer.slots));
        let too_large = |space: &SpaceId| problem.spaces()[*space].capacity.is_some_and(|capacity| needed > capacity);
        let space = *buffer.spaces.first()?;
        buffer.spaces.iter().all(too_large).then(|| Witness {
            space,
            buffers: vec![id],
            step: buffer.lifetime.start(),
            needed,
            capacity: problem.spaces()[space].capacity.unwrap_or_default(),
        })
    })
}

/// The buffers that count at a space's peak. The empty step stands for "a fixed
/// buffer reaches too far", which concerns that buffer alone, or else for
/// exclusive buffers, which count at every step.
fn alive_at(problem: &Problem, space: SpaceId, peak: Peak) -> Vec<BufferId> {
    let size = |buffer: &Buffer| buffer.bytes().unwrap_or_default();
    let is_here = |buffer: &Buffer| buffer.spaces.as_slice() == [space] && size(buffer) > Bytes::ZERO;
    let chosen = |counts: &dyn Fn(&Buffer) -> bool| {
        let all = problem.buffers().iter_enumerated().filter(|(_, buffer)| is_here(buffer) && counts(buffer));
        all.map(|(id, _)| id).collect::<Vec<_>>()
    };
    if let Some(step) = peak.step {
        let is_on = |interval: &crate::Interval| interval.start <= step && step < interval.end;
        return chosen(&|buffer| buffer.exclusive || buffer.lifetime.intervals().iter().any(is_on));
    }
    let fixed = chosen(&|buffer| buffer.fixed.is_some_and(|offset| offset.0 + size(buffer).0 == peak.bytes.0));
    if fixed.is_empty() { chosen(&|buffer| buffer.exclusive) } else { fixed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Lifetime, Overlay, OverlayKind, ProblemBuilder, Space};

    #[test]
    fn a_victim_stays_dead_where_it_was_taken() {
        let mut builder = ProblemBuilder::new();
        let v = builder.buffer(Buffer::new("v", 64, Lifetime::new(0, 10)));
        let w = builder.buffer(Buffer::new("w", 64, Lifetime::new(5, 6)));
        builder.buffer(Buffer::new("x", 64, Lifetime::new(7, 9)));
        assert_eq!(lower_bound(&builder.clone().build().unwrap()), Bytes(128));
        builder.overlay(Overlay { buffer: w, over: v, kind: OverlayKind::SameBase });
        assert_eq!(lower_bound(&builder.build().unwrap()), Bytes(64), "w and x can follow v on its bytes");
    }

    #[test]
    fn a_newcomer_with_a_choice_of_spaces_may_take_bytes_over() {
        let mut builder = ProblemBuilder::new();
        let [near, far] = ["near", "far"].map(|name| builder.space(Space::new(name)));
        let v = builder.buffer(Buffer::new("v", 64, Lifetime::new(0, 10)));
        let choice = [near, far].into_iter().collect();
        let w = builder.buffer(Buffer { spaces: choice, ..Buffer::new("w", 64, Lifetime::new(5, 6)) });
        builder.buffer(Buffer::new("x", 64, Lifetime::new(7, 9)));
        builder.overlay(Overlay { buffer: w, over: v, kind: OverlayKind::SameBase });
        assert_eq!(lower_bound(&builder.build().unwrap()), Bytes(64), "w and x can follow v on its bytes");
    }

    #[test]
    fn an_overlay_that_comes_too_early_changes_nothing() {
        let mut builder = ProblemBuilder::new();
        let v = builder.buffer(Buffer::new("v", 64, Lifetime::new(0, 10)));
        let w = builder.buffer(Buffer::new("w", 64, Lifetime::new(0, 6)));
        builder.overlay(Overlay { buffer: w, over: v, kind: OverlayKind::SameBase });
        assert_eq!(lower_bound(&builder.build().unwrap()), Bytes(128));
    }

    #[test]
    fn exclusive_buffers_that_are_never_alive_are_a_witness() {
        let mut builder = ProblemBuilder::new();
        builder.space(Space { capacity: Some(Bytes(100)), ..Space::new("s") });
        let mut add =
            |name: &str, exclusive| builder.buffer(Buffer { exclusive, ..Buffer::new(name, 60, Lifetime::default()) });
        let [a, _, c] = [add("a", true), add("b", false), add("c", true)];
        let witness = overfull(&builder.build().unwrap()).unwrap();
        assert_eq!((witness.needed, witness.buffers), (Bytes(120), vec![a, c]));
    }
}
