//! Every strategy on generated problems, with the independent check as judge.
//!
//! A strategy makes a valid plan, says that it found none or that there is none, or refuses and names the feature that
//! it cannot honour.

use std::time::Duration;

use memplan_core::{Bytes, Outcome, Problem, bound};
use memplan_planner::{Assign, Feature, Refusal, Request, STRATEGIES, Strategy as Planner, plan};
use memplan_testkit::brute_force::{self, Answer};
use memplan_testkit::problems::{Limits, problems};
use memplan_testkit::{Features, instances};
use memplan_verify::packing;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// Searches stop after a bounded amount of work, so that answers are repeatable.
fn request(assign: Assign) -> Request<'static> {
    Request { assign, work_limit: Some(500), time_limit: Some(Duration::from_secs(60)), ..Request::default() }
}

fn lower_bound(problem: &Problem, assign: Assign) -> Bytes {
    match assign {
        Assign::Offsets => bound::lower_bound(problem),
        Assign::Objects => bound::objects_lower_bound(problem),
    }
}

/// Asks one strategy for one kind of plan and checks whatever it answers.
fn check(strategy: &dyn Planner, problem: &Problem, assign: Assign) -> Result<Option<Outcome>, TestCaseError> {
    let name = strategy.name();
    let outcome = match plan(strategy, problem, &request(assign)) {
        Ok(outcome) => outcome,
        Err(refusal) => {
            check_refusal(strategy, problem, assign, &refusal)?;
            return Ok(None);
        }
    };
    let least = lower_bound(problem, assign);
    if let Some(plan) = outcome.plan() {
        let violations: Vec<String> = packing::check(problem, plan).iter().map(ToString::to_string).collect();
        prop_assert!(violations.is_empty(), "{name} for {assign:?}: {violations:#?}\n{plan:#?}");
        prop_assert!(plan.extent() >= least, "{name} for {assign:?}: {} is below {least}", plan.extent());
        prop_assert_eq!(plan.objects.is_empty(), assign == Assign::Offsets || problem.buffers().is_empty(), "{}", name);
    }
    match &outcome {
        Outcome::Optimal(_) => {}
        // A plan at the bound is optimal, unless a size is unknown and the bound says little.
        Outcome::Feasible { plan, lower_bound, .. } => {
            let is_measured = problem.buffers().iter().all(|buffer| buffer.bytes().is_some());
            prop_assert!(plan.extent() > *lower_bound || !is_measured, "{name}");
        }
        Outcome::Infeasible(witness) => {
            prop_assert!(witness.needed > witness.capacity, "{name}: {witness:?}");
            prop_assert!(!witness.buffers.is_empty(), "{name}: {witness:?}");
        }
        Outcome::Exhausted { .. } => {
            let has_limits = problem.spaces().iter().any(|space| space.capacity.is_some())
                || problem.buffers().iter().any(|buffer| buffer.fixed().is_some());
            prop_assert!(has_limits, "{name} for {assign:?} found no plan although there is always one");
        }
    }
    let again = plan(strategy, problem, &request(assign));
    prop_assert_eq!(Ok(outcome.clone()), again, "{} twice", name);
    Ok(Some(outcome))
}

/// A refusal names something that the problem has and the strategy lacks.
fn check_refusal(
    strategy: &dyn Planner,
    problem: &Problem,
    assign: Assign,
    refusal: &Refusal,
) -> Result<(), TestCaseError> {
    match refusal {
        Refusal::Assign { .. } => prop_assert!(!strategy.assigns().contains(&assign)),
        Refusal::Feature { feature, .. } => {
            prop_assert!(!strategy.supports(*feature, assign), "{}: {refusal}", strategy.name());
            check_named(problem, *feature, refusal)?;
        }
        Refusal::Nobody { feature, .. } => check_named(problem, *feature, refusal)?,
        _ => {}
    }
    Ok(())
}

fn check_named(problem: &Problem, feature: Feature, refusal: &Refusal) -> Result<(), TestCaseError> {
    prop_assert!(Feature::of(problem).iter().any(|&(of_problem, _)| of_problem == feature), "{refusal}");
    prop_assert!(refusal.to_string().contains(feature.describe()), "{refusal}");
    Ok(())
}

fn check_all(problem: &Problem) -> Result<(), TestCaseError> {
    for strategy in STRATEGIES {
        for assign in [Assign::Offsets, Assign::Objects] {
            check(*strategy, problem, assign)?;
        }
    }
    Ok(())
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 4000, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(96))]

    #[test]
    fn plain_problems(problem in problems(Features::NONE, Limits::SMALL)) {
        check_all(&problem)?;
    }

    #[test]
    fn aligned_problems(problem in problems(Features { alignments: true, empty_buffers: true, ..Features::NONE }, Limits::MEDIUM)) {
        check_all(&problem)?;
    }

    #[test]
    fn problems_with_everything_offsets_can_have(problem in problems(Features::OFFSETS, Limits::SMALL)) {
        check_all(&problem)?;
    }

    #[test]
    fn problems_with_dependencies(problem in problems(Features { dependencies: true, overlays: true, ..Features::NONE }, Limits::SMALL)) {
        check_all(&problem)?;
    }

    #[test]
    fn problems_with_shapes_and_symbols(problem in problems(Features::ALL, Limits::SMALL)) {
        check_all(&problem)?;
    }

    /// The largest capacities that there are, to which no strategy may add anything carelessly.
    #[test]
    fn problems_with_the_largest_capacities(problem in problems(Features::OFFSETS, Limits::SMALL)) {
        for capacity in [(1 << 63) - 2, (1 << 63) - 1] {
            let mut builder = problem.to_builder();
            builder.spaces_mut().iter_mut().for_each(|space| space.capacity = Some(Bytes(capacity)));
            // With a base address above 0 some of these capacities end beyond the last address.
            builder.spaces_mut().iter_mut().for_each(|space| space.base = Bytes(0));
            check_all(&builder.build().unwrap())?;
        }
        for capacity in [1 << 63, u64::MAX] {
            let mut builder = problem.to_builder();
            builder.spaces_mut().iter_mut().for_each(|space| space.capacity = Some(Bytes(capacity)));
            prop_assert!(builder.build().is_err(), "no planner is asked about more than 2^63-1 bytes");
        }
    }

    #[test]
    fn larger_problems(problem in problems(Features { dependencies: true, ..Features::OFFSETS }, Limits::MEDIUM)) {
        check_all(&problem)?;
    }
}

/// Most strategies refuse what has every feature at once; so they are also tried one by one.
#[test]
fn features_one_by_one() {
    let mut runner = TestRunner::deterministic();
    for (name, features) in Features::one_by_one() {
        let strategy = problems(features, Limits::SMALL);
        for _ in 0..24 {
            let problem = strategy.new_tree(&mut runner).unwrap().current();
            if let Err(error) = check_all(&problem) {
                panic!("with {name}: {error}\n{problem:#?}");
            }
        }
    }
}

/// No plan is smaller than the bounds, and every "optimal" is true. Exhaustive search is the judge.
#[test]
fn tiny_problems_against_brute_force() {
    let mut runner = TestRunner::deterministic();
    let all = [
        ("everything", Features::OFFSETS),
        ("dependencies", Features { dependencies: true, overlays: true, ..Features::NONE }),
    ];
    let mut solved = 0;
    for (name, features) in Features::one_by_one().into_iter().chain(all) {
        let tiny = problems(features, Limits::TINY);
        for _ in 0..60 {
            let problem = tiny.new_tree(&mut runner).unwrap().current();
            match brute_force::solve(&problem, 20_000) {
                Answer::TooLarge => continue,
                Answer::Optimal(best) => {
                    let least = bound::lower_bound(&problem);
                    assert!(
                        least <= best.extent(),
                        "{name}: bound {least}, best {}\n{best:#?}\n{problem:#?}",
                        best.extent()
                    );
                    check_claims(name, &problem, Some(best.extent()));
                }
                Answer::Infeasible => check_claims(name, &problem, None),
            }
            solved += 1;
        }
    }
    assert!(solved > 500, "only {solved} problems were small enough");
}

/// What strategies claim of a problem whose smallest extent is known (`None`: there is no plan).
fn check_claims(name: &str, problem: &Problem, best: Option<Bytes>) {
    for strategy in STRATEGIES {
        let Ok(outcome) = plan(*strategy, problem, &request(Assign::Offsets)) else { continue };
        let context = || format!("{} with {name}: {best:?}, {outcome:#?}\n{problem:#?}", strategy.name());
        match &outcome {
            Outcome::Optimal(plan) => assert_eq!(Some(plan.extent()), best, "{}", context()),
            Outcome::Feasible { plan, lower_bound, .. } => {
                assert!(best.is_some_and(|best| *lower_bound <= best && best <= plan.extent()), "{}", context());
            }
            Outcome::Infeasible(_) => assert_eq!(best, None, "{}", context()),
            Outcome::Exhausted { .. } => {}
        }
    }
}

/// `auto` takes everything that a plan made of offsets can honour, and finds a
/// plan where there must be one.
#[test]
fn auto_refuses_nothing() {
    let auto = memplan_planner::find("auto").expect("there is `auto`");
    let roomy = Features { capacities: false, fixed_offsets: false, ..Features::OFFSETS };
    let mut runner = TestRunner::deterministic();
    for (features, all_have_plans) in [(Features::OFFSETS, false), (roomy, true)] {
        let strategy = problems(features, Limits::SMALL);
        for _ in 0..200 {
            let problem = strategy.new_tree(&mut runner).unwrap().current();
            let answer = check(auto, &problem, Assign::Offsets);
            let outcome = answer.unwrap_or_else(|error| panic!("{error}\n{problem:#?}"));
            let outcome = outcome.unwrap_or_else(|| panic!("`auto` refused {problem:#?}"));
            assert!(!all_have_plans || outcome.plan().is_some(), "`auto` found no plan for {problem:#?}");
        }
    }
}

proptest! {
    #![proptest_config(config(96))]

    #[test]
    fn auto_makes_objects_of_nearly_everything(
        problem in problems(Features { fixed_offsets: false, slots: false, ..Features::ALL }, Limits::SMALL),
    ) {
        let auto = memplan_planner::find("auto").expect("there is `auto`");
        if let Err(refusal) = plan(auto, &problem, &request(Assign::Objects)) {
            prop_assert!(matches!(refusal, Refusal::Nobody { feature: Feature::MustNotShare, .. }), "{refusal}");
        }
    }
}

/// Large instances, as far as strategies are quick enough for a test.
#[test]
fn large_instances() {
    for problem in [
        instances::random(2_000, 40, 1),
        instances::aligned(2_000, 40, 2),
        instances::in_place_chain(1_000, 3),
        instances::training(200, 4),
    ] {
        for strategy in STRATEGIES.iter().filter(|strategy| !is_slow(strategy.name())) {
            check(*strategy, &problem, Assign::Offsets).unwrap_or_else(|error| panic!("{error}"));
        }
    }
}

/// Strategies that are quadratic or worse by definition.
fn is_slow(name: &str) -> bool {
    matches!(name, "min-cost-flow" | "greedy-best" | "greedy-by-size" | "search")
}

#[test]
fn a_problem_without_buffers() {
    let problem = memplan_core::ProblemBuilder::new().build().unwrap();
    check_all(&problem).unwrap();
}
