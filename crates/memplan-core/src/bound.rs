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
//! Four refinements, each sound on its own:
//!
//! - *alignment*: if every offset is a multiple of g, the bytes from the end of a buffer to the next multiple of g (its
//!   *tail*) are lost. Only the topmost buffer may have its tail outside of the extent. So sizes count rounded up to g,
//!   less the largest tail among the buffers alive.
//! - *ties*: members of one block may overlap each other, so a block counts with
//!   the union of its members' bytes.
//! - *overlays*: from the newcomer's start on, the victim counts less, by the size of the smaller one of the two. That
//!   is the most that the newcomer can take over from the victim. Each overlay is taken off once. Bytes that no
//!   newcomer takes over are disjoint from the bytes of all other live buffers.
//! - *pairs that must not share*: if every two buffers of a set have no byte in common in any plan, their sizes are
//!   added up, whenever they are alive (`apart`).
//!
//! For shared objects the bound is the sum of the *positional maxima*: sort
//! the sizes alive at each step, largest first; the i-th largest object is at
//! least as large as the i-th entry of every step's list.

mod apart;
mod positional;
mod selection;
mod sweep;

pub use positional::{TaskProfile, positional_maxima, positional_maxima_of, task_profiles};
pub use sweep::Peak;

use crate::{Buffer, BufferId, Bytes, IndexVec, Problem, SpaceId, Witness};
use apart::Pairs;
use selection::Selection;
use sweep::Sweep;

/// The peak of live bytes, of the buffers for which `counts` is true. Alignments and overlays are ignored.
pub fn peak_live(problem: &Problem, counts: impl Fn(BufferId) -> bool) -> Peak {
    Sweep::plain(&Selection::of(problem, counts)).peak()
}

/// Peak of live bytes in every space, counting the buffers that `space_of` puts there. Near linear, however many spaces
/// there are.
pub fn peaks_live(problem: &Problem, space_of: impl Fn(BufferId) -> SpaceId) -> IndexVec<SpaceId, Peak> {
    Selection::by(problem, |buffer| Some(space_of(buffer))).iter().map(|here| Sweep::plain(here).peak()).collect()
}

/// Live bytes over time for the selected buffers: `(step, bytes)` at each step
/// where the sum changes.
pub fn live_bytes(problem: &Problem, counts: impl Fn(BufferId) -> bool) -> Vec<(crate::Step, Bytes)> {
    Sweep::plain(&Selection::of(problem, counts)).profile()
}

/// What each space needs at least, counting the buffers that can only live there.
pub fn space_lower_bounds(problem: &Problem) -> IndexVec<SpaceId, Peak> {
    needs(problem).map(|(_, need)| need.peak).collect()
}

/// What a space needs at least, and why.
struct Need {
    peak: Peak,
    reason: Reason,
}

/// Which buffers are the reason that a space needs so much.
enum Reason {
    /// The buffers that are alive at the peak's step, and all exclusive ones.
    Alive,
    /// This buffer, which has a fixed offset: the space reaches at least to its end.
    Fixed(BufferId),
    /// These buffers, of which no two may share a byte.
    Apart(Vec<BufferId>),
}

/// For every space what it needs at least, counting the buffers that can only live there. Near linear, however many
/// spaces there are.
fn needs(problem: &Problem) -> impl Iterator<Item = (SpaceId, Need)> {
    let pairs = Pairs::of(problem);
    let selections = Selection::by_space(problem);
    // Pairs and selections are found once for all spaces, so that each space only looks at its own buffers.
    problem.spaces().ids().map(move |space| (space, need(&pairs, &selections[space], space)))
}

/// What a space needs at least: the largest of three bounds (bytes alive at once, buffers that never share, ends of
/// fixed buffers), with its reason.
fn need(pairs: &Pairs, selection: &Selection, space: SpaceId) -> Need {
    let mut need = Need { peak: Sweep::refined(selection, space).peak(), reason: Reason::Alive };
    if let Some((bytes, set)) = apart::heavy_set(pairs, selection, space).filter(|(bytes, _)| *bytes > need.peak.bytes)
    {
        need = Need { peak: Peak { bytes, step: None }, reason: Reason::Apart(set) };
    }
    // A space reaches at least to the end of each buffer that is fixed in it.
    for &id in &selection.buffers {
        let buffer = &selection.problem.buffers()[id];
        let Some(offset) = buffer.fixed() else { continue };
        // The sum does not overflow: building the problem has checked that.
        let end = Bytes(offset.0 + buffer.bytes().unwrap_or_default().0);
        if end > need.peak.bytes {
            need = Need { peak: Peak { bytes: end, step: None }, reason: Reason::Fixed(id) };
        }
    }
    need
}

/// No plan made of offsets has a smaller extent, summed over all spaces.
pub fn lower_bound(problem: &Problem) -> Bytes {
    lower_bound_with(problem, &space_lower_bounds(problem))
}

/// As [`lower_bound`], for a caller who has [`space_lower_bounds`] already. These count only buffers without a choice
/// of spaces. If some buffers have one, all buffers together may need more: they are counted as if all spaces were
/// one.
pub fn lower_bound_with(problem: &Problem, per_space: &IndexVec<SpaceId, Peak>) -> Bytes {
    let per_space = Bytes(per_space.iter().map(|peak| peak.bytes.0).sum());
    let has_choice = problem.buffers().iter().any(|buffer| buffer.spaces.len() > 1);
    if has_choice { per_space.max(Sweep::anywhere(problem).peak().bytes) } else { per_space }
}

/// No plan made of shared objects is smaller: the positional maxima, summed over
/// objects and spaces. A texture counts with the product of its components; sizes that
/// are not known do not count.
///
/// Members of a block may use one object at the same time, and so may a buffer
/// and the one it overlays; only one of them counts.
pub fn objects_lower_bound(problem: &Problem) -> Bytes {
    // Of a block its first member counts, of an overlay the victim.
    let mut joins_others: IndexVec<BufferId, bool> = IndexVec::filled(false, problem.buffers().len());
    for block in problem.blocks().blocks() {
        block.members.iter().skip(1).for_each(|member| joins_others[member.buffer] = true);
    }
    problem.overlays().iter().for_each(|overlay| joins_others[overlay.buffer] = true);
    let of_space = |selection: &Selection| {
        let counted = selection.buffers.iter().filter(|&&buffer| !joins_others[buffer]);
        positional::positional_maxima_among(problem, counted.copied()).iter().map(|maximum| maximum.0).sum::<u64>()
    };
    Bytes(Selection::by_space(problem).iter().map(of_space).sum())
}

/// A proof that the problem does not fit its capacities, if a simple one exists: a buffer that is too large for all of
/// its spaces; or buffers that are alive together, or never share, or have fixed offsets, and need more than a space
/// has. `None` means that no such proof was found; the problem may still not fit.
pub fn overfull(problem: &Problem) -> Option<Witness> {
    // Without a capacity there is nothing to exceed, and the needs need not be known.
    if problem.spaces().iter().all(|space| space.capacity.is_none()) {
        return None;
    }
    alone_too_large(problem).or_else(|| {
        needs(problem).find_map(|(space, Need { peak, reason })| {
            let capacity = problem.spaces()[space].capacity?;
            (peak.bytes > capacity).then(|| blame(problem, space, peak, reason, capacity))
        })
    })
}

/// The witness that a space needs more than its capacity: the buffers that are the reason. The step is only named if
/// all of these buffers are alive at it (exclusive ones count without being alive).
fn blame(problem: &Problem, space: SpaceId, peak: Peak, reason: Reason, capacity: Bytes) -> Witness {
    let mut buffers = match reason {
        Reason::Alive => counted_at(problem, space, peak),
        Reason::Fixed(buffer) => vec![buffer],
        Reason::Apart(set) => set,
    };
    buffers.sort_unstable();
    let needed = peak.bytes.max(needed_by(problem, space, &buffers));
    let step = peak.step.filter(|&step| buffers.iter().all(|&id| is_alive(&problem.buffers()[id], step)));
    Witness { space, buffers, step, needed, capacity }
}

/// What some buffers of a space (in input order) need at least, were they alone.
///
/// That can be more than these buffers contribute to the bound of the whole space. All offsets are multiples of the
/// greatest common divisor of the alignments, and sizes count rounded up to it. One more buffer with a smaller
/// alignment makes that divisor smaller for all buffers of the space.
pub fn needed_by(problem: &Problem, space: SpaceId, buffers: &[BufferId]) -> Bytes {
    let selection = Selection::of(problem, |id| buffers.binary_search(&id).is_ok());
    Sweep::refined(&selection, space).peak().bytes
}

/// A buffer that does not even fit into any of its spaces alone; the witness names its first space.
fn alone_too_large(problem: &Problem) -> Option<Witness> {
    problem.buffers().iter_enumerated().find_map(|(id, buffer)| {
        // A need that is not known is `None`, which is less than any `Some`, so it is not too large.
        let needed = |space: SpaceId| needed_alone(problem, id, space);
        let too_large =
            |&space: &SpaceId| problem.spaces()[space].capacity.is_some_and(|capacity| needed(space) > Some(capacity));
        let space = *buffer.spaces.first()?;
        buffer.spaces.iter().all(too_large).then_some(())?;
        Some(Witness {
            space,
            buffers: vec![id],
            step: buffer.lifetime.start(),
            needed: needed(space)?,
            capacity: problem.spaces()[space].capacity?,
        })
    })
}

/// The end of a buffer that lies as low as it can, with its slots on top of each other: each slot but the topmost takes
/// its size rounded up to the alignment. `None` if the size is not known, or if the end exceeds [`crate::MAX_BYTES`].
fn needed_alone(problem: &Problem, id: BufferId, space: SpaceId) -> Option<Bytes> {
    let buffer = &problem.buffers()[id];
    debug_assert!(buffer.fixed().is_none() || buffer.slots == 1, "a problem has no fixed buffer with several slots");
    let size = buffer.bytes()?;
    let slot = size.align_up(problem.alignment_in(id, space))?;
    let others = slot.checked_mul(u64::from(buffer.slots.max(1)) - 1)?;
    buffer.fixed().unwrap_or_default().checked_add(others)?.checked_add(size)
}

/// Whether a step is in one of the stretches of a buffer's life.
fn is_alive(buffer: &Buffer, step: crate::Step) -> bool {
    buffer.lifetime.intervals().any(|interval| interval.start <= step && step < interval.end)
}

/// The buffers that count at a space's peak: those alive at its step, and exclusive
/// ones, which count at every step.
fn counted_at(problem: &Problem, space: SpaceId, peak: Peak) -> Vec<BufferId> {
    let has_bytes = |buffer: &Buffer| buffer.bytes().unwrap_or_default() > Bytes::ZERO;
    let counts = |buffer: &Buffer| buffer.exclusive || peak.step.is_some_and(|step| is_alive(buffer, step));
    let is_here = |buffer: &Buffer| buffer.spaces.as_slice() == [space] && has_bytes(buffer);
    let all = problem.buffers().iter_enumerated().filter(|(_, buffer)| is_here(buffer) && counts(buffer));
    all.map(|(id, _)| id).collect()
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
    fn all_pairs_apart_need_the_sum() {
        let mut builder = ProblemBuilder::new();
        builder.space(Space { capacity: Some(Bytes(2_000)), ..Space::new("s") });
        let ids: Vec<BufferId> = (0..200)
            .map(|at| builder.buffer(Buffer::new(at.to_string(), 10 + at % 3, Lifetime::new(at, at + 1))))
            .collect();
        for (at, &one) in ids.iter().enumerate() {
            ids[..at].iter().for_each(|&other| builder.must_not_share(one, other));
        }
        builder.buffer(Buffer::new("other", 12, Lifetime::new(0, 200)));
        let problem = builder.build().unwrap();
        let sum: u64 = ids.iter().map(|&id| problem.buffers()[id].bytes().unwrap().0).sum();
        assert_eq!(lower_bound(&problem), Bytes(sum));
        let witness = overfull(&problem).unwrap();
        assert_eq!((witness.needed, witness.buffers, witness.step), (Bytes(sum), ids, None));
    }

    #[test]
    fn alive_together_is_as_good_as_not_to_share() {
        let mut builder = ProblemBuilder::new();
        let a = builder.buffer(Buffer::new("a", 64, Lifetime::new(0, 2)));
        let b = builder.buffer(Buffer::new("b", 32, Lifetime::new(2, 4)));
        let c = builder.buffer(Buffer::new("c", 16, Lifetime::new(1, 3)));
        builder.must_not_share(a, b);
        assert_eq!(lower_bound(&builder.clone().build().unwrap()), Bytes(96), "c is in no pair");
        let d = builder.buffer(Buffer::new("d", 1, Lifetime::new(8, 9)));
        builder.must_not_share(c, d);
        assert_eq!(lower_bound(&builder.build().unwrap()), Bytes(112), "c is alive with a, and with b");
    }

    #[test]
    fn a_witness_says_what_its_buffers_need_alone() {
        let mut builder = ProblemBuilder::new();
        builder.space(Space { capacity: Some(Bytes(49)), ..Space::new("s") });
        for (name, start) in [("a", 0), ("b", 0), ("late", 5)] {
            let alignment = Bytes(if name == "late" { 1 } else { 32 });
            builder.buffer(Buffer { alignment, ..Buffer::new(name, 25, Lifetime::new(start, start + 2)) });
        }
        let witness = overfull(&builder.build().unwrap()).unwrap();
        assert_eq!((witness.needed, witness.buffers.len()), (Bytes(57), 2), "one at 0, one at 32");
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
