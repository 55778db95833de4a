//! Every record strategy on generated problems: its plan passes the packing check, or it refuses the problem for a
//! stated reason. Some strategies use faster algorithms than their descriptions say; for these the described algorithm
//! runs, too (`literal`), and the results are compared.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod conformance;
mod literal;

use memplan_core::{
    Buffer, BufferId, Bytes, Dependencies, Id, IndexVec, Lifetime, Outcome, Overlay, OverlayKind, Placement, Plan,
    Problem, ProblemBuilder, SpaceId, bound,
};
use memplan_planner::{Assign, Request, STRATEGIES, find, plan};
use memplan_testkit::problems::{Limits, problems};
use memplan_testkit::{Features, Random};
use memplan_verify::packing;
use proptest::prelude::*;

const NAMES: [&str; 14] = [
    "naive",
    "equality",
    "equality-linear",
    "greedy-in-order",
    "greedy-by-breadth",
    "greedy-by-size",
    "greedy-best",
    "min-cost-flow",
    "pool",
    "chunk-hot",
    "chunk-size-first",
    "end-of-life",
    "stretch-largest",
    "size-order",
];

/// What every one of these strategies takes.
const TAKEN: Features = Features {
    alignments: true,
    gaps: true,
    windows: true,
    capacities: true,
    several_spaces: true,
    overlays: true,
    empty_buffers: true,
    ..Features::NONE
};

fn request(assign: Assign) -> Request<'static> {
    Request { assign, ..Request::default() }
}

fn check(name: &str, problem: &Problem, assign: Assign, found: &Plan) -> Result<(), TestCaseError> {
    let violations = packing::check(problem, found);
    prop_assert!(violations.is_empty(), "{name} {assign:?}: {violations:?}\n{found:?}");
    let bound = match assign {
        Assign::Offsets => bound::lower_bound(problem),
        Assign::Objects => bound::objects_lower_bound(problem),
    };
    prop_assert!(found.extent() >= bound, "{name} {assign:?}");
    Ok(())
}

fn run(name: &str, problem: &Problem, must_take: bool) -> Result<(), TestCaseError> {
    let strategy = find(name).unwrap();
    for &assign in strategy.assigns() {
        let outcome = match plan(strategy, problem, &request(assign)) {
            Ok(outcome) => outcome,
            Err(refusal) => {
                prop_assert!(!must_take, "{refusal}");
                continue;
            }
        };
        match &outcome {
            Outcome::Optimal(found) | Outcome::Feasible { plan: found, .. } => check(name, problem, assign, found)?,
            Outcome::Infeasible(_) | Outcome::Exhausted { .. } => {
                let bounded = problem.spaces().iter().any(|space| space.capacity.is_some());
                prop_assert!(bounded, "{name} {assign:?}: {}", outcome.status());
            }
        }
        let again = plan(strategy, problem, &request(assign)).unwrap();
        prop_assert_eq!(again, outcome, "{}", name);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn plans_are_right(problem in problems(TAKEN, Limits::SMALL)) {
        for name in NAMES {
            run(name, &problem, true)?;
        }
    }

    #[test]
    fn plans_of_medium_problems_are_right(problem in problems(TAKEN, Limits::MEDIUM)) {
        for name in NAMES {
            run(name, &problem, true)?;
        }
    }

    #[test]
    fn anything_else_is_right_or_refused(problem in problems(Features::ALL, Limits::SMALL)) {
        for name in NAMES {
            run(name, &problem, false)?;
        }
    }

    #[test]
    fn dependencies_are_honoured(
        problem in problems(Features { dependencies: true, alignments: true, ..Features::NONE }, Limits::SMALL)
    ) {
        for name in ["naive", "greedy-in-order"] {
            run(name, &problem, true)?;
        }
    }

    #[test]
    fn shapes_and_symbols_are_shared_whole(
        problem in problems(Features { shapes: true, symbols: true, empty_buffers: true, ..Features::NONE }, Limits::MEDIUM)
    ) {
        for name in NAMES {
            run(name, &problem, false)?;
        }
    }

    #[test]
    fn chunks_are_those_of_the_literal_planner(problem in problems(
        Features { overlays: true, ..Features::NONE }, Limits::MEDIUM,
    )) {
        for (name, hot_first) in [("chunk-hot", true), ("chunk-size-first", false)] {
            let found = conformance::planned(name, &problem, Assign::Offsets);
            if let Some(literal) = literal_chunks(&problem, hot_first) {
                prop_assert_eq!(found, literal, "{}", name);
            }
        }
    }

    #[test]
    fn objects_by_size_are_those_of_the_literal_planner(problem in problems(Features::NONE, Limits::MEDIUM)) {
        let found = conformance::planned("greedy-by-size", &problem, Assign::Objects);
        prop_assert_eq!(conformance::objects(&found), literal::by_size::objects(&problem));
    }

    #[test]
    fn offsets_by_size_are_those_of_the_literal_planner(problem in problems(Features::NONE, Limits::MEDIUM)) {
        let found = conformance::planned("greedy-by-size", &problem, Assign::Offsets);
        prop_assert_eq!(conformance::offsets(&found), literal::by_size::offsets(&problem));
    }

    #[test]
    fn stretched_blocks_are_those_of_the_literal_allocator(problem in problems(Features::NONE, Limits::MEDIUM)) {
        let found = conformance::planned("stretch-largest", &problem, Assign::Offsets);
        prop_assert_eq!(conformance::offsets(&found), literal::stretch::addresses(&problem));
    }
}

/// A trace in which most buffers have hints, as in-place operations of a network do.
fn hinted_trace(seed: u64, alignment: u64) -> Problem {
    let mut random = Random::new(seed);
    let count = random.between(2, 40);
    let sizes = [64, 128, random.between(1, 300)];
    let mut builder = conformance::builder(alignment);
    for index in 0..count {
        let start = 2 * index + random.below(2);
        let size = if random.one_in(3) { random.between(1, 300) } else { sizes[random.below(3) as usize] };
        let life = Lifetime::new(start, start + random.between(1, 16));
        let buffer = builder.buffer(Buffer::new(index.to_string(), size, life));
        for _ in 0..random.below(4).min(index) {
            let over = BufferId::from_index((index - 1 - random.below(index.min(6))) as usize);
            let kind = if random.one_in(3) { OverlayKind::SameBase } else { OverlayKind::AnyOffset };
            builder.overlay(Overlay { buffer, over, kind });
        }
    }
    builder.build().unwrap()
}

/// The plan of the literal chunk planner, if it is right: it tears victims apart now and then.
fn literal_chunks(problem: &Problem, hot_first: bool) -> Option<Plan> {
    let literal = literal::chunk::plan(problem, hot_first);
    let mut plan = Plan::empty(problem);
    for (place, offset) in plan.placements.iter_mut().zip(literal.offsets) {
        *place = Some(Placement::at(SpaceId::from_index(0), Bytes(offset)));
    }
    plan.extents[SpaceId::from_index(0)] = Bytes(literal.total);
    plan.reused = literal.reused;
    packing::check(problem, &plan).is_empty().then_some(plan)
}

#[test]
fn in_place_reuse_is_right_and_literal() {
    let (mut reuses, mut torn) = (0, 0);
    for seed in 0..600 {
        let problem = hinted_trace(seed, [1, 8, 64][seed as usize % 3]);
        for (name, hot_first) in [("chunk-hot", true), ("chunk-size-first", false)] {
            let found = conformance::planned(name, &problem, Assign::Offsets);
            assert_eq!(packing::check(&problem, &found), [], "seed {seed} {name}");
            reuses += found.reused.len();
            if seed % 3 == 0 {
                match literal_chunks(&problem, hot_first) {
                    Some(literal) => assert_eq!(found, literal, "seed {seed} {name}"),
                    None => torn += 1,
                }
            }
        }
    }
    assert!(reuses > 1000 && torn < 300, "{reuses} reuses, {torn} torn");
}

#[test]
fn the_list_has_them_all() {
    for name in NAMES {
        assert!(STRATEGIES.iter().any(|strategy| strategy.name() == name), "{name}");
    }
}

/// With dependencies, lives do not say which buffers may share. So a buffer that is never alive has memory of its own.
#[test]
fn a_buffer_that_is_never_alive_is_kept_apart_if_the_order_is_not_fixed() {
    let mut builder = ProblemBuilder::new();
    let first = builder.buffer(Buffer::new("first", 64, Lifetime::new(0, 2)));
    let second = builder.buffer(Buffer::new("second", 64, Lifetime::new(1, 3)));
    for name in ["never", "nor this"] {
        builder.buffer(Buffer { alignment: Bytes(48), ..Buffer::new(name, 40, Lifetime::default()) });
    }
    let mut children = IndexVec::filled(Vec::new(), 4);
    children[first] = vec![second];
    builder.dependencies(Dependencies { children, read_by_outputs: Vec::new() });
    let problem = builder.build().unwrap();
    for (name, assign) in [
        ("greedy-in-order", Assign::Objects),
        ("greedy-in-order", Assign::Offsets),
        ("auto", Assign::Objects),
        ("auto", Assign::Offsets),
    ] {
        let outcome = plan(find(name).unwrap(), &problem, &request(assign)).unwrap();
        assert_eq!(packing::check(&problem, outcome.plan().unwrap()), [], "{name} {assign:?}");
    }
}
