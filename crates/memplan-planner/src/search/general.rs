//! The exact search for problems that are not flat: every feature as it is.
//!
//! The canonical search of [`exact`](super::exact) places slabs on a floor, from the bottom up. Windows in the middle
//! of buffers, ties at inner offsets, bytes taken over in place and a choice of spaces cannot be said with slabs. Here
//! every rule of the problem becomes, for every pair of pieces, a *choice* between inequalities on their offsets
//! ([`model`]).
//!
//! ```text
//!   a and b are alive together:          b ≥ a + 4   or   a ≥ b + 3
//!   c may be computed in place of b:     c ≥ b + 3   or   b ≥ c + 3   or   (c ≥ b and b ≥ c)
//! ```
//!
//! # Why this is complete
//!
//! Say that some choices have been made. The inequalities chosen all have the form "x is at least y plus a constant".
//! If two vectors of offsets satisfy them, so does the componentwise minimum of the two: if the minimum takes x from
//! one vector, then y in the minimum is no higher than y in that vector. Multiples of an alignment and lowest offsets
//! are kept by minima, too. So there is a *lowest* vector, in all components at once. It is found by raising offsets
//! from below until no inequality is violated, and no other vector that satisfies these inequalities has a smaller
//! extent ([`bounds_propagation`]).
//!
//! If the lowest vector also keeps all the choices that have not been made, it is the best plan with the choices made
//! so far. Otherwise there is a choice of which the lowest vector keeps no option; its options are tried one after the
//! other ([`branch`]). Every plan keeps one of the options, so no plan is lost, and there are finitely many choices.
//! The canonical search has to prove that every plan can be lowered into the form that it looks for. Here nothing of
//! that kind is needed, because any vector of offsets can be found: also of pieces that interlock, or of a piece that
//! starts below the piece on which it lies.
//!
//! # What cuts the tree
//!
//! The extent that is asked for gives each piece a highest offset, too. From lowest and highest offsets
//! [`bounds_propagation`] and [`machine`] draw conclusions. Pieces without any choice in common are
//! solved separately. Pieces that do not differ lie in one order only ([`symmetry`]). Spaces are chosen first
//! ([`assign`]).
//!
//! The nodes are the same whatever the clock or the number of threads; only
//! the limits of the budget decide how many of them are visited.
//!
//! Words from other files: [`Pieces`] are what is placed as a whole; their `members` are buffers with distances from
//! the piece's offset. [`Assign`] is the search over the spaces of all pieces, [`Rules`] are the kinds of reasoning
//! that it uses, and its [`Patience`] (not the patience of the glossary) says when it gives up: after how many nodes or
//! *looks*, or when the caller no longer waits. A look is an inequality, a choice or the like that a node looks at.
//! Nodes differ much in the time that they take, so work is counted in looks. A [`Spot`] is a space and an offset.

mod assign;
mod bounds_propagation;
mod branch;
mod build;
mod machine;
mod model;
mod order;
mod reduce;
mod symmetry;

use memplan_core::{BufferId, Bytes, Id, IndexVec, Placement, Plan, Problem, Reuse, SpaceId};

use super::budget::Budget;
use crate::Request;
use crate::piece::{PieceId, Pieces, reserved};
use crate::portfolio;
use crate::tuning::{LOOKS_PER_UNIT, MOST_GENERAL_PIECES, NORMAL_WORK};
use assign::{Assign, Spot};
use bounds_propagation::Rules;
use branch::Patience;

pub(crate) use reduce::{irreducible, meeting_step, only, relaxed, witness};

/// What the search came to.
#[derive(Debug)]
pub(crate) struct Settled {
    /// A plan that is better than the one given.
    pub(crate) plan: Option<Plan>,
    /// No plan is smaller, all spaces together.
    pub(crate) lower: Bytes,
    /// What each space needs at least.
    pub(crate) per_space: IndexVec<SpaceId, Bytes>,
    /// Whether there is no plan at all.
    pub(crate) is_infeasible: bool,
    /// Whether the search came to its end: then the best plan known is the smallest, or there is none.
    pub(crate) is_complete: bool,
}

/// Searches for a better plan than `best` for at most `nodes` nodes. `None` if the problem is too large for it, if a
/// pair of buffers has too many ways to share bytes, or if `best` leaves out a buffer.
pub(crate) fn settle(pieces: &Pieces, best: Option<&Plan>, nodes: u64, budget: &mut Budget) -> Option<Settled> {
    if pieces.len() > MOST_GENERAL_PIECES {
        return None;
    }
    let mut assign = Assign::new(pieces, Rules::ALL)?;
    // The best plan says what has to be beaten, and guides the search.
    if let Some(plan) = best {
        assign.start_from(&spots(pieces, plan)?, &plan.extents);
    }
    // Two limits: the nodes that the caller allows, and the looks that the rest of the budget pays for.
    let looks = budget.work_left().saturating_mul(LOOKS_PER_UNIT);
    let found = assign.run(&Patience { nodes, looks, is_over: &|| budget.is_late(), rules: Rules::ALL });
    // No search is free, however short: a caller that asks again and again comes to the end of its budget.
    budget.spend((found.spent.looks / LOOKS_PER_UNIT).max(1));
    // `found.lower` is `None` if the search has come to its end and there is no plan, neither a new one nor `best`. If
    // `best` cannot be beaten, it is the extent of `best`.
    Some(Settled {
        plan: found.spots.map(|spots| assemble(pieces, &spots)),
        lower: as_bytes(found.lower.unwrap_or(0)),
        per_space: found.per_space.iter().map(|&lower| as_bytes(lower)).collect(),
        is_infeasible: found.lower.is_none(),
        is_complete: found.is_complete,
    })
}

/// A lower bound as a number of bytes. The search counts with signs, because distances may be negative.
fn as_bytes(lower: i64) -> Bytes {
    debug_assert!(lower >= 0, "a lower bound is a number of bytes");
    Bytes(lower.max(0) as u64)
}

/// Whether a problem has a plan at all; `None` if that was not found out in `nodes` nodes, or if the problem is too
/// large for this search. The quick ways come first: the lower bound may show that there is no plan, or first and best
/// fit in some orders may find one.
pub(crate) fn decide(problem: &Problem, nodes: u64, budget: &mut Budget) -> Option<bool> {
    let pieces = Pieces::of(problem).ok()?;
    if memplan_core::bound::overfull(problem).is_some() {
        return Some(false);
    }
    // `besides` is work on top of the budget: all of the budget is left for `settle`.
    if portfolio::try_at_once(&pieces, &Request::default(), &mut budget.besides(NORMAL_WORK)).best.is_some() {
        return Some(true);
    }
    let settled = settle(&pieces, None, nodes, budget)?;
    if settled.plan.is_some() { Some(true) } else { settled.is_infeasible.then_some(false) }
}

/// The spot of every piece in a plan; `None` if the plan has no placement for one of them. The offset of a block is the
/// offset of its first member minus the distance of that member from the start of the block.
fn spots(pieces: &Pieces, plan: &Plan) -> Option<Vec<Spot>> {
    let spot = |piece: PieceId| {
        let info = pieces.get(piece);
        let (buffer, at) = pieces.members(piece).next()?;
        let placement = plan.placements[buffer].as_ref()?;
        let offset = placement.offsets.get(info.slot as usize)?;
        Some((placement.space, offset.0 as i64 - at.0 as i64))
    };
    pieces.ids().map(spot).collect()
}

/// The plan with the pieces at these places, with the overlays that it uses.
pub(crate) fn assemble(pieces: &Pieces, spots: &[Spot]) -> Plan {
    let problem = pieces.problem();
    let mut plan = Plan::empty(problem);
    for piece in pieces.ids() {
        let (space, offset) = spots[piece.index()];
        for (buffer, at) in pieces.members(piece) {
            let offset = offset + at.0 as i64;
            debug_assert!(offset >= 0, "no buffer starts below its space");
            let offset = Bytes(offset.max(0) as u64);
            // The slots of a buffer are in pieces that follow each other, so their offsets come in order.
            match &mut plan.placements[buffer] {
                Some(placement) => placement.offsets.push(offset),
                empty => *empty = Some(Placement::at(space, offset)),
            }
        }
    }
    plan.fit_extents(problem);
    plan.reused = reused(problem, &plan);
    plan
}

/// Whether two buffers, each with its placement and its size, lie in one space and have a byte in common in slots with
/// the same number.
fn share_bytes((one, size): (&Placement, Bytes), (other, other_size): (&Placement, Bytes)) -> bool {
    let mut slots = one.offsets.iter().zip(&other.offsets);
    one.space == other.space
        && slots.any(|(low, other_low)| low.0 < other_low.0 + other_size.0 && other_low.0 < low.0 + size.0)
}

/// The overlays a plan makes use of: newcomers that share bytes with a victim as they are permitted to, whether or not
/// the victim is still alive. For each newcomer its victims are listed by address, so that the list does not depend on
/// the order in which the permissions were given. `reserved` is the size of a buffer that has addresses.
fn reused(problem: &Problem, plan: &Plan) -> Vec<Reuse> {
    use memplan_core::OverlayKind::AnyOffset;
    // Newcomer, address of the victim, victim.
    let mut pairs: Vec<(BufferId, Bytes, BufferId)> = Vec::new();
    for overlay in problem.overlays() {
        let [buffer, over] = [overlay.buffer, overlay.over].map(|id| &problem.buffers()[id]);
        let (Some(newcomer), Some(victim)) = (&plan.placements[overlay.buffer], &plan.placements[overlay.over]) else {
            continue;
        };
        // An overlay is used if the victim starts first, slots with the same number have a byte in common, and the
        // two lie as the permission asks.
        let in_order = matches!((over.lifetime.start(), buffer.lifetime.start()), (Some(a), Some(b)) if a < b);
        let shares = share_bytes((newcomer, reserved(buffer)), (victim, reserved(over)));
        let lies_right = overlay.kind == AnyOffset || newcomer.offsets == victim.offsets;
        // The victim shares a byte, so it has an offset.
        if in_order && shares && lies_right && buffer.slots == over.slots {
            pairs.push((overlay.buffer, victim.offsets[0], overlay.over));
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    let same_newcomer = pairs.chunk_by(|one, other| one.0 == other.0);
    same_newcomer.map(|pairs| Reuse { buffer: pairs[0].0, over: pairs.iter().map(|pair| pair.2).collect() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use memplan_testkit::instances;

    /// Nodes to prove the smallest extents of kernels, and those extents.
    fn nodes(rules: Rules) -> (u64, Vec<Option<i64>>) {
        let mut sum = 0;
        let mut extents = Vec::new();
        for seed in 0..40 {
            let problem = instances::kernel(14 + seed as usize % 8, seed);
            let pieces = Pieces::of(&problem).unwrap();
            let assign = Assign::new(&pieces, rules).unwrap();
            let found = assign.run(&Patience { nodes: 20_000, looks: u64::MAX, is_over: &|| false, rules });
            sum += found.spent.nodes;
            extents.push(found.lower.filter(|_| found.is_complete));
        }
        (sum, extents)
    }

    #[test]
    fn every_rule_saves_nodes_and_loses_nothing() {
        let (all, extents) = nodes(Rules::ALL);
        assert!(extents.iter().all(Option::is_some), "{extents:?}");
        for (name, rules) in [
            ("machines", Rules { machines: false, ..Rules::ALL }),
            ("units", Rules { units: false, ..Rules::ALL }),
            ("symmetries", Rules { symmetries: false, ..Rules::ALL }),
            ("failures", Rules { failures: false, ..Rules::ALL }),
            ("components", Rules { components: false, ..Rules::ALL }),
        ] {
            let (more, others) = nodes(rules);
            assert!(more > all, "without {name} {more} nodes, with it {all}");
            let differ = extents.iter().zip(&others).any(|(one, other)| other.is_some() && one != other);
            assert!(!differ, "{name}: {extents:?} {others:?}");
        }
        assert_eq!(all, 3300, "deterministic; a change of a rule changes it");
    }
}
