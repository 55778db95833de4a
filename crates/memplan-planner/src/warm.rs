//! Repair: a plan for a problem that has changed a little since it was planned.
//!
//! Every buffer that still can keeps its space and offset. Which can? They are
//! put down at their old places from the smallest to the largest (size times
//! life); one that has grown into its neighbours, is misaligned now or lies
//! beyond a capacity has to move. Smallest first, because one large buffer that
//! moves often saves many small ones from moving:
//!
//! ```text
//!   before  | a a a b b c c |       now a is larger:  a moves, b and c stay
//! ```
//!
//! Then the problem is planned with the kept offsets fixed. If that leaves no
//! room for the rest, the problem is planned from scratch.
//!
//! Words from other files: [`Pieces`] are what is placed as a whole, and a [`Placer`] puts them down one by one;
//! [`search::search`] plans a problem; [`Outcome::judge`] compares a plan with bounds and capacities.

use memplan_core::{BufferId, IndexVec, MAX_BYTES, Outcome, Placement, Plan, Problem, Stop};

use crate::fit::Fit;
use crate::piece::{PieceId, Pieces};
use crate::placer::Placer;
use crate::{Request, search};

/// A repaired plan.
#[derive(Clone, Debug)]
pub struct Repaired {
    /// What came of it. A plan is judged against the problem as it is, without
    /// regard to what was kept.
    pub outcome: Outcome,
    /// How many buffers are where they were.
    pub kept: usize,
    /// How many had a place.
    pub had_place: usize,
}

/// Plans a problem so that as many buffers as possible stay where `old` has them.
pub fn repair(problem: &Problem, old: &Plan, request: &Request) -> Repaired {
    let had_place = problem.buffers().ids().filter(|&buffer| place_in(old, buffer).is_some()).count();
    let outcome = keep(problem, old, request).unwrap_or_else(|| search::search(problem, request).outcome);
    let kept = outcome.plan().map_or(0, |plan| count_kept(problem, old, plan));
    Repaired { outcome, kept, had_place }
}

/// Where a plan puts a buffer; `None` if it has no place there, or a place in a shared object, which has no address.
fn place_in(plan: &Plan, buffer: BufferId) -> Option<&Placement> {
    plan.placements.get(buffer)?.as_ref().filter(|placement| placement.object.is_none())
}

/// How many buffers have the same space and offsets in two plans.
fn count_kept(problem: &Problem, old: &Plan, plan: &Plan) -> usize {
    let same = |&buffer: &BufferId| match (place_in(old, buffer), place_in(plan, buffer)) {
        (Some(before), Some(now)) => before.space == now.space && before.offsets == now.offsets,
        _ => false,
    };
    problem.buffers().ids().filter(same).count()
}

/// A plan that keeps what can be kept; `None` if the rest finds no room.
fn keep(problem: &Problem, old: &Plan, request: &Request) -> Option<Outcome> {
    // First every buffer that could be fixed on its own is, although some of them collide by now. Placing them one by
    // one shows which can stay. Then only those are fixed, and the rest is searched for.
    let wanted: IndexVec<BufferId, bool> =
        problem.buffers().ids().map(|buffer| can_be_fixed(problem, old, buffer)).collect();
    let held = hold(problem, old, &wanted)?;
    let stays = stays(&held, &wanted)?;
    let fixed = hold(problem, old, &stays)?;
    let plan = search::search(&fixed, request).outcome.plan().cloned()?;
    Some(Outcome::judge(problem, plan, Stop::Finished))
}

/// Whether a buffer could be fixed at its old offset, looking at nothing else.
/// Members of blocks and buffers with several slots are planned anew.
fn can_be_fixed(problem: &Problem, old: &Plan, id: BufferId) -> bool {
    let buffer = &problem.buffers()[id];
    let Some(place) = place_in(old, id).filter(|place| buffer.spaces.contains(&place.space)) else { return false };
    let [offset] = place.offsets.as_slice() else { return false };
    let capacity = problem.spaces()[place.space].capacity.map_or(MAX_BYTES, |capacity| capacity.0);
    let end = buffer.bytes().and_then(|size| size.checked_add(*offset));
    buffer.fixed().is_none()
        && buffer.slots == 1
        && problem.blocks().place_of(id).is_none()
        && offset.is_aligned_to(problem.alignment_in(id, place.space))
        && end.is_some_and(|end| end.0 <= capacity)
}

/// The problem with the chosen buffers fixed where the old plan has them, in that space only; `None` if that is no
/// valid problem.
fn hold(problem: &Problem, old: &Plan, chosen: &IndexVec<BufferId, bool>) -> Option<Problem> {
    let mut builder = problem.to_builder();
    for (id, _) in chosen.iter_enumerated().filter(|(_, chosen)| **chosen) {
        let place = place_in(old, id)?;
        let buffer = &mut builder.buffers_mut()[id];
        buffer.set_fixed(place.offsets.first().copied());
        buffer.spaces = [place.space].into_iter().collect();
    }
    builder.build().ok()
}

/// Which buffers can stay at their old offsets. In `held` all of the `wanted` buffers are fixed there, although some
/// may overlap by now. They are placed one after the other, and a buffer that finds its place taken has to move.
/// `None` if the problem has dependencies between too many buffers.
fn stays(held: &Problem, wanted: &IndexVec<BufferId, bool>) -> Option<IndexVec<BufferId, bool>> {
    let pieces = Pieces::of(held).ok()?;
    let mut placer = Placer::new(&pieces);
    let is_wanted = |piece: PieceId| wanted[pieces.get(piece).first_buffer];
    // Buffers that the problem itself fixes (not `wanted`) come first, because they cannot move. The others follow from
    // the smallest to the largest, for the reason in the module documentation.
    let mut order: Vec<PieceId> = pieces.ids().filter(|&piece| pieces.get(piece).fixed.is_some()).collect();
    order.sort_by_key(|&piece| (is_wanted(piece), area(&pieces, piece), piece));
    let mut stays = wanted.clone();
    for piece in order {
        if placer.place(piece, Fit::First).is_none() {
            stays[pieces.get(piece).first_buffer] = false;
        }
    }
    Some(stays)
}

/// Size times life, in bytes times positions in [`Pieces::steps`].
fn area(pieces: &Pieces, piece: PieceId) -> u128 {
    let life: u64 = pieces.rects(piece).iter().map(|rect| u64::from(rect.end - rect.start)).sum();
    u128::from(pieces.get(piece).size) * u128::from(life)
}

#[cfg(test)]
mod tests {
    use super::*;
    use memplan_core::{Buffer, Bytes, Id, Lifetime, ProblemBuilder};

    fn problem(first: u64) -> Problem {
        let mut builder = ProblemBuilder::new();
        builder.buffer(Buffer::new("a", first, Lifetime::new(0, 4)));
        builder.buffer(Buffer::new("b", 20, Lifetime::new(0, 4)));
        builder.buffer(Buffer::new("c", 10, Lifetime::new(2, 6)));
        builder.build().unwrap()
    }

    fn at(problem: &Problem, offsets: [u64; 3]) -> Plan {
        let mut plan = Plan::empty(problem);
        for (id, offset) in problem.buffers().ids().zip(offsets) {
            let space = problem.buffers()[id].spaces[0];
            plan.placements[id] = Some(Placement::at(space, Bytes(offset)));
        }
        plan
    }

    #[test]
    fn nothing_moves_that_need_not() {
        let old = at(&problem(30), [0, 30, 50]);
        let same = repair(&problem(30), &old, &Request::default());
        assert_eq!((same.kept, same.had_place), (3, 3));
        let grown = repair(&problem(40), &old, &Request::default());
        assert_eq!(grown.kept, 2);
        assert_eq!(grown.outcome.plan().and_then(|plan| plan.offset(BufferId::from_index(0))), Some(Bytes(60)));
    }

    #[test]
    fn a_plan_that_cannot_be_kept_is_made_anew() {
        let mut builder = problem(30).to_builder();
        let space = builder.buffers_mut().iter().next().unwrap().spaces[0];
        builder.spaces_mut()[space].capacity = Some(Bytes(60));
        let tight = builder.build().unwrap();
        let repaired = repair(&tight, &at(&tight, [5, 35, 55]), &Request::default());
        assert_eq!(repaired.outcome.plan().map(Plan::extent), Some(Bytes(60)));
    }
}
