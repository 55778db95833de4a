//! Prices of nothing: a problem whose reuse costs 0 gets the plan that it gets without prices.

use memplan_core::{Buffer, BufferId, Bytes, Id, Lifetime, Outcome, Plan, Problem, ProblemBuilder, ReuseCost, Space};
use memplan_planner::{Request, STRATEGIES, plan};
use memplan_testkit::problems::{Limits, problems};
use memplan_testkit::{Features, Random};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// The same problem with a price of 0 for about half of all pairs.
fn for_nothing(problem: &Problem, random: &mut Random) -> Problem {
    let mut builder = problem.to_builder();
    let count = problem.buffers().len();
    for (one, other) in (0..count).flat_map(|one| (0..one).map(move |other| (one, other))) {
        if random.one_in(2) {
            let [one, other] = [one, other].map(BufferId::from_index);
            builder.reuse_cost(ReuseCost { one, other, weight: 0 });
        }
    }
    builder.build().expect("a price forbids nothing")
}

/// A plan without what it says about costs.
fn bare(plan: &Plan) -> Plan {
    Plan { cost: None, ..plan.clone() }
}

#[test]
fn prices_of_nothing_change_no_plan() {
    let request = Request { work_limit: Some(5_000), ..Request::default() };
    let (mut random, mut compared) = (Random::new(5), 0);
    let mut kinds = Features::one_by_one();
    kinds.push(("everything", Features { capacities: true, ..Features::OFFSETS }));
    for (kind, features) in kinds {
        let generator = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let mut runner = TestRunner::new_with_rng(Config::default(), generator);
        for _ in 0..12 {
            let problem = problems(features, Limits::SMALL).new_tree(&mut runner).unwrap().current();
            let priced = for_nothing(&problem, &mut random);
            for strategy in STRATEGIES {
                let [without, with] = [&problem, &priced].map(|problem| plan(*strategy, problem, &request));
                let (Ok(without), Ok(with)) = (&without, &with) else {
                    assert_eq!(without.is_ok(), with.is_ok(), "{kind}, {}", strategy.name());
                    continue;
                };
                assert_eq!(without.status(), with.status(), "{kind}, {}", strategy.name());
                assert_eq!(without.plan().map(bare), with.plan().map(bare), "{kind}, {}", strategy.name());
                let cost = with.plan().and_then(|plan| plan.cost);
                assert!(cost.is_none_or(|cost| (cost.total, cost.lower_bound) == (0, 0)), "{cost:?}");
                compared += u32::from(with.plan().is_some());
            }
        }
    }
    println!("{compared} plans are the same");
    assert!(compared > 1_000, "{compared}");
}

/// Three buffers, one after the other in time, in a memory that has room for two. Two of them may share for nothing.
#[test]
fn a_pair_with_the_price_of_nothing_may_share_where_others_cost() {
    let strategy = STRATEGIES.iter().find(|strategy| strategy.name() == "search").unwrap();
    for capacity in [Some(Bytes(2)), None] {
        let mut builder = ProblemBuilder::new();
        builder.space(Space { capacity, ..Space::new("memory") });
        let [a, b, c] =
            [0, 1, 2].map(|start| builder.buffer(Buffer::new(start.to_string(), 1, Lifetime::new(start, start + 1))));
        for (one, other, weight) in [(a, b, 0), (a, c, 5), (b, c, 5)] {
            builder.reuse_cost(ReuseCost { one, other, weight });
        }
        let problem = builder.build().unwrap();
        let outcome = plan(*strategy, &problem, &Request::default()).unwrap();
        let Outcome::Optimal(plan) = outcome else { panic!("{outcome:?}") };
        let cost = plan.cost.unwrap();
        assert_eq!((cost.total, cost.lower_bound, plan.extent()), (0, 0, Bytes(2)), "{capacity:?}");
    }
}
