//! Costs against trying everything, with every feature a problem can have.
//!
//! Which pairs are active is a subset of the priced pairs. For every subset, from cheap to expensive, exhaustive search
//! is asked for a plan in which all other pairs are kept apart. The first subset with a plan says what the cheapest
//! plan costs.

use memplan_core::{BufferId, Id, Outcome, Problem, ReuseCost};
use memplan_planner::{Request, find, plan};
use memplan_testkit::exhaustive::plan_below;
use memplan_testkit::problems::{Limits, problems};
use memplan_testkit::{Features, Random};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestRunner};

const TINY: Limits = Limits { buffers: 5, size: 6, steps: 8 };
const VISITS: u64 = 60_000;

/// Prices for up to five pairs.
fn with_costs(problem: &Problem, random: &mut Random) -> Option<Problem> {
    let count = problem.buffers().len() as u64;
    let mut builder = problem.to_builder();
    for _ in 0..random.between(1, 5) {
        let (one, other) = (random.below(count), random.below(count));
        if one != other {
            let [one, other] = [one, other].map(|index| BufferId::from_index(index as usize));
            builder.reuse_cost(ReuseCost { one, other, weight: random.between(1, 4) });
        }
    }
    builder.build().ok().filter(|problem| !problem.reuse_costs().is_empty())
}

/// The problem in which all pairs but those of a subset are kept apart; `None` where ties forbid that.
fn kept_apart(problem: &Problem, active: usize) -> Option<Problem> {
    let mut builder = problem.to_builder();
    builder.reuse_costs_mut().clear();
    for (index, cost) in problem.reuse_costs().iter().enumerate() {
        if active >> index & 1 == 0 {
            builder.must_not_share(cost.one, cost.other);
        }
    }
    builder.build().ok()
}

/// The least cost, and the least extent of plans of that cost; `Some(None)` if nothing fits, `None` if that takes too
/// long.
fn truth(problem: &Problem) -> Option<Option<(u64, u64)>> {
    let weight = |active: usize| {
        let pairs = problem.reuse_costs().iter().enumerate().filter(|(index, _)| active >> index & 1 == 1);
        pairs.map(|(_, cost)| cost.weight).sum::<u64>()
    };
    let mut subsets: Vec<usize> = (0..1 << problem.reuse_costs().len()).collect();
    subsets.sort_by_key(|&active| weight(active));
    let mut best: Option<(u64, u64)> = None;
    for active in subsets {
        let cost = weight(active);
        if best.is_some_and(|(best, _)| cost > best) {
            break;
        }
        let Some(apart) = kept_apart(problem, active) else { continue };
        while let Some(plan) = plan_below(&apart, best.map_or(u64::MAX, |(_, extent)| extent), VISITS)? {
            best = Some((cost, plan.extent().0));
        }
    }
    Some(best)
}

fn check(problem: &Problem, is_certain: &mut [u32; 2]) {
    let request = Request { work_limit: Some(200_000), ..Request::default() };
    let outcome = plan(find("search").unwrap(), problem, &request).unwrap();
    if let Some(plan) = outcome.plan() {
        let violations = memplan_verify::packing::check(problem, plan);
        assert!(violations.is_empty(), "{violations:?}\n{problem:#?}");
    }
    let Some(truth) = truth(problem) else { return };
    is_certain[1] += 1;
    match (truth, &outcome) {
        (None, Outcome::Infeasible(_)) => is_certain[0] += 1,
        (None, outcome) => panic!("{outcome:?} where nothing fits\n{problem:#?}"),
        (Some((least, extent)), outcome) => {
            let plan = outcome.plan().unwrap_or_else(|| panic!("no plan where {least} is possible\n{problem:#?}"));
            let cost = plan.cost.unwrap();
            assert!(cost.lower_bound <= least, "{cost:?}, but {least} is possible\n{problem:#?}");
            assert_eq!(cost.total, least, "{cost:?}\n{problem:#?}");
            is_certain[0] += u32::from(cost.lower_bound == least);
            if let Outcome::Optimal(plan) = outcome {
                assert_eq!((cost.total, plan.extent().0), (least, extent), "\n{problem:#?}");
            }
        }
    }
}

fn cases(default: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(default)
}

#[test]
fn as_cheap_as_exhaustive_search_says() {
    let mut everything = Features::one_by_one();
    let all = Features { capacities: true, ..Features::OFFSETS };
    everything.push(("everything", all));
    everything.push(("everything, unordered", Features { dependencies: true, ..all }));
    for (name, features) in everything {
        // Without a capacity nothing ever has to be paid for.
        let features = Features { capacities: true, ..features };
        let mut runner = TestRunner::new_with_rng(
            Config::default(),
            proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
        );
        let (mut is_certain, mut random) = ([0, 0], Random::new(7));
        for _ in 0..cases(200) {
            let problem = problems(features, TINY).new_tree(&mut runner).unwrap().current();
            if let Some(problem) = with_costs(&problem, &mut random) {
                check(&problem, &mut is_certain);
            }
        }
        println!("{name}: {} of {} with a proof", is_certain[0], is_certain[1]);
        assert!(is_certain[0] * 20 >= is_certain[1] * 19, "{name}: {is_certain:?}");
    }
}
