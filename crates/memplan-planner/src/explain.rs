//! Why a problem does not fit, or why its plan is no smaller.
//!
//! For a problem with capacities that does not fit: an irreducible set of buffers (an *obstacle*) that
//! cannot be placed together, and which of them would each be enough to leave out so that all others fit. For a problem
//! without capacities: the same for a capacity of one byte less than the best plan needs, which
//! says what keeps the extent from being smaller.
//!
//! How many bytes the set needs is its own smallest extent, with its alignments, if a little work finds that; else a
//! lower bound of it.
//!
//! Words from other files: [`search::search`] plans a problem; [`search::only`] and [`search::relaxed`] make a problem
//! of some of the buffers, in which the others take no bytes; [`costs::kept_apart`] makes one in which pairs with a
//! price must not share.

use memplan_core::{BufferId, Bytes, IndexVec, Outcome, Plan, Problem, SpaceId, Stop, Witness};

use crate::{Request, costs, search};

/// At most this many buffers of a witness are tried one by one.
const MOST_TRIED: usize = 64;
/// Units of work per trial.
const TRIAL: u64 = 20_000;

/// Why a problem does not fit, or why its plan is no smaller.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The outcome of planning. If there are capacities and a plan within them, there is nothing to explain.
    pub outcome: Outcome,
    /// The obstacle. Its capacity is the space's, or a byte less than the best plan needs.
    pub obstacle: Option<Witness>,
    /// The buffers of the obstacle of which each one alone is enough: without it, all others would fit.
    pub single: Vec<BufferId>,
    /// If the plan pays for reuse: by space, how many bytes a plan needs that pays for nothing that can be avoided.
    /// (Pairs inside of one block lie at fixed distances; what they cost cannot be avoided.) `None` if the plan pays
    /// for nothing, or if no such plan was found.
    pub free_extents: Option<IndexVec<SpaceId, Bytes>>,
}

/// Explains a problem. See the module documentation.
pub fn explain(problem: &Problem, request: &Request) -> Explanation {
    let outcome = search::search(problem, request).outcome;
    let has_capacity = problem.spaces().iter().any(|space| space.capacity.is_some());
    // `tight` is the problem that does not fit: this one, or the one with a byte less.
    let (obstacle, tight) = match &outcome {
        Outcome::Infeasible(witness) => (Some(witness.clone()), Some(problem.clone())),
        Outcome::Optimal(plan) | Outcome::Feasible { plan, .. } if !has_capacity => {
            match one_byte_less(problem, plan) {
                Some(tight) => (refute(&tight, request), Some(tight)),
                None => (None, None),
            }
        }
        _ => (None, None),
    };
    // `needed` of the witness is only a lower bound. It is replaced by the smallest extent of its buffers, if a trial
    // finds that.
    let obstacle = match (obstacle, &tight) {
        (Some(witness), Some(tight)) => Some(Witness { needed: needed_by(tight, &witness, request), ..witness }),
        (obstacle, _) => obstacle,
    };
    let single = match (&obstacle, &tight) {
        (Some(witness), Some(tight)) => single_culprits(tight, witness, request),
        _ => Vec::new(),
    };
    let free_extents = outcome.plan().and_then(|plan| free_extents(problem, plan, request));
    Explanation { outcome, obstacle, single, free_extents }
}

/// By space, the extent of a plan in which no pair with a price shares bytes, except pairs inside of one block, and
/// whatever the capacities. `None` if the given plan pays for nothing, or if no such plan was found.
fn free_extents(problem: &Problem, plan: &Plan, request: &Request) -> Option<IndexVec<SpaceId, Bytes>> {
    plan.cost.filter(|cost| cost.total > 0)?;
    // In this problem, pairs with a price above 0 (other than inside of a block) must not share bytes.
    let mut builder = costs::kept_apart(problem, |pair| problem.reuse_costs()[pair].weight > 0)?.to_builder();
    builder.spaces_mut().iter_mut().for_each(|space| space.capacity = None);
    let apart = search::search(&builder.build().ok()?, request).outcome;
    apart.plan().map(|plan| plan.extents.clone())
}

/// The problem with a capacity for the space of which the plan needs most (the first of several): one byte less than
/// that. `None` if the plan needs no bytes.
fn one_byte_less(problem: &Problem, plan: &Plan) -> Option<Problem> {
    let by_extent = |&space: &SpaceId| (plan.extents[space], std::cmp::Reverse(space));
    let space = problem.spaces().ids().max_by_key(by_extent)?;
    let capacity = plan.extents[space].0.checked_sub(1)?;
    let mut builder = problem.to_builder();
    builder.spaces_mut()[space].capacity = Some(Bytes(capacity));
    builder.build().ok()
}

/// The proof that a problem has no plan, if the search finds one.
fn refute(problem: &Problem, request: &Request) -> Option<Witness> {
    match search::search(problem, request).outcome {
        Outcome::Infeasible(witness) => Some(witness),
        _ => None,
    }
}

/// The bytes that the buffers of a witness need if they are alone in its space: their smallest extent if a trial
/// finds it, but no less than the witness says.
fn needed_by(problem: &Problem, witness: &Witness, request: &Request) -> Bytes {
    let space = witness.space;
    // If one of the buffers cannot be in this space, they have no extent in it, and nothing is tried.
    let is_here = |&id: &BufferId| problem.buffers()[id].spaces.contains(&space);
    let alone =
        search::relaxed(problem, |id| witness.buffers.contains(&id)).filter(|_| witness.buffers.iter().all(is_here));
    // These buffers alone, all in this space, and without capacities.
    let roomy = alone.and_then(|alone| {
        let mut builder = alone.to_builder();
        builder.spaces_mut().iter_mut().for_each(|space| space.capacity = None);
        witness.buffers.iter().for_each(|&id| builder.buffers_mut()[id].spaces = std::iter::once(space).collect());
        builder.build().ok()
    });
    let trial = Request { work_limit: Some(TRIAL), time_limit: None, observer: None, ..request.clone() };
    let smallest = roomy.and_then(|roomy| match search::search(&roomy, &trial).outcome {
        Outcome::Optimal(plan) => Some(plan.extents[space]),
        _ => None,
    });
    witness.needed.max(smallest.unwrap_or_default())
}

/// The buffers of a witness each of which, taken out alone, lets everything else fit. A buffer counts only if a trial
/// of a little work finds a plan without it.
fn single_culprits(problem: &Problem, witness: &Witness, request: &Request) -> Vec<BufferId> {
    let trial = Request { work_limit: Some(TRIAL), time_limit: None, observer: None, ..request.clone() };
    let helps = |&buffer: &BufferId| {
        without(problem, buffer).is_some_and(|rest| search::search(&rest, &trial).outcome.plan().is_some())
    };
    witness.buffers.iter().copied().take(MOST_TRIED).filter(helps).collect()
}

/// The problem with a buffer that takes no bytes.
fn without(problem: &Problem, id: BufferId) -> Option<Problem> {
    search::only(problem, |other| other != id)
}

/// Why the search for an obstacle ended without one.
pub fn is_open(explanation: &Explanation) -> Option<Stop> {
    match &explanation.outcome {
        Outcome::Feasible { stop, .. } | Outcome::Exhausted { stop } => Some(*stop),
        Outcome::Optimal(_) | Outcome::Infeasible(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memplan_core::{Buffer, Id, Lifetime, ProblemBuilder, Space};

    fn problem(capacity: Option<u64>) -> Problem {
        let mut builder = ProblemBuilder::new();
        builder.space(Space { capacity: capacity.map(Bytes), ..Space::new("ram") });
        builder.buffer(Buffer::new("large", 60, Lifetime::new(0, 4)));
        builder.buffer(Buffer::new("small", 5, Lifetime::new(0, 9)));
        builder.buffer(Buffer::new("medium", 40, Lifetime::new(2, 6)));
        builder.buffer(Buffer::new("late", 50, Lifetime::new(6, 9)));
        builder.build().unwrap()
    }

    #[test]
    fn too_small_a_capacity_has_a_reason() {
        let explanation = explain(&problem(Some(99)), &Request::default());
        let witness = explanation.obstacle.unwrap();
        let ids = |indices: &[usize]| indices.iter().map(|&index| BufferId::from_index(index)).collect::<Vec<_>>();
        assert_eq!(witness.buffers, ids(&[0, 2]));
        assert_eq!((witness.needed, witness.capacity), (Bytes(100), Bytes(99)));
        assert_eq!(explanation.single, ids(&[0, 2]));
    }

    #[test]
    fn a_plan_at_its_bound_has_one_too() {
        let explanation = explain(&problem(None), &Request::default());
        assert_eq!(explanation.outcome.plan().map(Plan::extent), Some(Bytes(105)));
        let witness = explanation.obstacle.unwrap();
        assert_eq!(witness.buffers.len(), 3);
        assert_eq!(witness.capacity, Bytes(104));
    }

    #[test]
    fn what_aligned_buffers_need_is_not_understated() {
        let mut builder = ProblemBuilder::new();
        builder.space(Space { capacity: Some(Bytes(49)), ..Space::new("ram") });
        for name in ["one", "other"] {
            builder.buffer(Buffer { alignment: Bytes(32), ..Buffer::new(name, 25, Lifetime::new(0, 4)) });
        }
        builder.buffer(Buffer::new("byte", 1, Lifetime::new(6, 8)));
        let witness = explain(&builder.build().unwrap(), &Request::default()).obstacle.unwrap();
        assert_eq!((witness.needed, witness.buffers.len()), (Bytes(57), 2), "one at 0, the other at 32");
    }

    #[test]
    fn nobody_is_blamed_who_is_always_elsewhere() {
        let mut builder = ProblemBuilder::new();
        let near = builder.space(Space { capacity: Some(Bytes(6)), ..Space::new("near") });
        let far = builder.space(Space { capacity: Some(Bytes(16)), ..Space::new("far") });
        let add = |name: &str, size, space, end| Buffer {
            spaces: std::iter::once(space).collect(),
            ..Buffer::new(name, size, Lifetime::new(0, end))
        };
        builder.buffer(Buffer { slots: 2, ..add("double", 3, near, 1) });
        let elsewhere = builder.buffer(add("elsewhere", 4, far, 2));
        let large = builder.buffer(add("large", 5, near, 1));
        let kind = memplan_core::OverlayKind::AnyOffset;
        builder.overlay(memplan_core::Overlay { buffer: elsewhere, over: large, kind });
        let witness = explain(&builder.build().unwrap(), &Request::default()).obstacle.unwrap();
        assert_eq!((witness.space, witness.buffers.contains(&elsewhere)), (near, false));
        assert_eq!((witness.needed, witness.buffers.len()), (Bytes(11), 2));
    }

    #[test]
    fn what_fits_needs_no_explanation() {
        assert!(explain(&problem(Some(200)), &Request::default()).obstacle.is_none());
    }
}
