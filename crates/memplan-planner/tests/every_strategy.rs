//! Every strategy on generated problems: the plan passes the independent check,
//! or the refusal names what the strategy does not honour.
#![allow(clippy::unwrap_used, reason = "a test")]

use memplan_core::{Outcome, Problem, bound};
use memplan_planner::{Assign, Feature, Refusal, Request, STRATEGIES, Strategy, find, plan};
use memplan_testkit::Features;
use memplan_testkit::problems::{Limits, problems};
use proptest::prelude::*;

const KINDS: [Assign; 2] = [Assign::Offsets, Assign::Objects];

fn check_outcome(name: &str, problem: &Problem, outcome: &Outcome) -> Result<(), TestCaseError> {
    let Some(plan) = outcome.plan() else {
        prop_assert!(
            problem.spaces().iter().any(|space| space.capacity.is_some())
                || problem.buffers().iter().any(|buffer| buffer.fixed.is_some()),
            "{}: no plan although nothing limits it",
            name
        );
        return Ok(());
    };
    let violations = memplan_verify::packing::check(problem, plan);
    prop_assert!(violations.is_empty(), "{}: {}", name, violations[0]);
    let is_objects = !plan.objects.is_empty();
    let bound = if is_objects { bound::objects_lower_bound(problem) } else { bound::lower_bound(problem) };
    prop_assert!(plan.extent() >= bound, "{}: {} is below the bound {}", name, plan.extent(), bound);
    Ok(())
}

fn check_refusal(strategy: &dyn Strategy, problem: &Problem, refusal: &Refusal) -> Result<(), TestCaseError> {
    let features = Feature::of(problem);
    match refusal {
        Refusal::Feature { strategy: name, feature, .. } => {
            prop_assert_eq!(*name, strategy.name());
            prop_assert!(features.iter().any(|(other, _)| other == feature));
            prop_assert!(refusal.to_string().contains("`auto` does"), "{}", refusal);
        }
        Refusal::Nobody { feature, .. } => {
            prop_assert!(features.iter().any(|(other, _)| other == feature));
            prop_assert!(refusal.to_string().starts_with("no strategy makes"), "{}", refusal);
        }
        other => prop_assert!(other.to_string().contains(strategy.name()), "{}", other),
    }
    Ok(())
}

fn check_everybody(problem: &Problem) -> Result<(), TestCaseError> {
    for strategy in STRATEGIES {
        for assign in KINDS {
            let request = Request { assign, ..Request::default() };
            match plan(*strategy, problem, &request) {
                Ok(outcome) => check_outcome(strategy.name(), problem, &outcome)?,
                Err(refusal) => check_refusal(*strategy, problem, &refusal)?,
            }
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn plans_are_valid_or_refused(problem in problems(Features::ALL, Limits::SMALL)) {
        check_everybody(&problem)?;
    }

    #[test]
    fn plans_for_plain_problems_are_valid(problem in problems(Features::NONE, Limits::MEDIUM)) {
        check_everybody(&problem)?;
    }

    #[test]
    fn auto_takes_everything_that_has_addresses(
        problem in problems(Features { dependencies: true, ..Features::OFFSETS }, Limits::SMALL),
    ) {
        let outcome = plan(find("auto").unwrap(), &problem, &Request::default());
        check_outcome("auto", &problem, &outcome.unwrap())?;
    }

    #[test]
    fn auto_makes_objects_of_everything_without_addresses(
        problem in problems(Features { fixed_offsets: false, slots: false, ..Features::ALL }, Limits::SMALL),
    ) {
        let request = Request { assign: Assign::Objects, ..Request::default() };
        match plan(find("auto").unwrap(), &problem, &request) {
            Ok(outcome) => check_outcome("auto", &problem, &outcome)?,
            Err(Refusal::Nobody { feature, .. }) => prop_assert_eq!(feature, Feature::MustNotShare),
            Err(refusal) => prop_assert!(false, "{}", refusal),
        }
    }
}

/// Feature by feature, so that a failure names its cause.
#[test]
fn each_feature_on_its_own() {
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 60,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    for (name, features) in Features::one_by_one() {
        let result = runner.run(&problems(features, Limits::SMALL), |problem| check_everybody(&problem));
        assert!(result.is_ok(), "{name}: {result:?}");
    }
}
