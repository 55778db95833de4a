//! Random programs, planned by their collected lifetimes: the dataflow check,
//! which does not trust those lifetimes, is silent.

#[allow(dead_code, reason = "its plans are not needed here")]
#[path = "../../memplan-verify/tests/dataflow/generate.rs"]
mod generate;
#[allow(dead_code, reason = "only the generator uses it")]
#[path = "../../memplan-verify/tests/dataflow/random.rs"]
mod random;

use generate::Features;
use memplan::analyzed::Analyzed;
use memplan::core::{Outcome, Problem};
use memplan_planner::{Request, find, plan};

const PLAIN: Features = Features { concurrency: false, escapes: false, slots: false, strangers: false };

/// Plans every program with several strategies; the number of programs in which
/// two buffers share bytes, and of those left out because the check objects to
/// them even if nothing shares: races on one buffer, and buffers used outside
/// the loop that rotates them, are the program's own doing.
fn plan_all(features: Features, programs: u64) -> (usize, usize) {
    let (mut sharing, mut left_out) = (0, 0);
    for seed in 0..programs {
        let program = generate::program(seed, features);
        let analyzed = Analyzed::new(program).expect("small numbers");
        let problem = analyzed.problem();
        let apart = plan(find("naive").expect("a strategy"), problem, &Request::default());
        let apart =
            apart.or_else(|_| plan(find("first-fit").expect("a strategy"), &exclusive(problem), &Request::default()));
        let is_fine = |outcome: &Outcome| outcome.plan().is_some_and(|plan| analyzed.check(plan).is_empty());
        if !apart.as_ref().is_ok_and(is_fine) {
            left_out += 1;
            continue;
        }
        let mut shares = false;
        for name in ["first-fit", "chunk-hot", "best-fit-start"] {
            let strategy = find(name).expect("a strategy");
            let Ok(outcome) = plan(strategy, problem, &Request::default()) else { continue };
            let Some(plan) = outcome.plan() else { continue };
            let violations = analyzed.check(plan);
            assert!(
                violations.is_empty(),
                "seed {seed}, {name}: {violations:?}\n{}\n{}\n{plan:?}",
                analyzed.program_text(),
                analyzed.lifetimes_text()
            );
            let sum: u64 = problem.buffers().iter().filter_map(|buffer| buffer.bytes()).map(|bytes| bytes.0).sum();
            shares |= plan.extent().0 < sum;
        }
        sharing += usize::from(shares);
    }
    (sharing, left_out)
}

/// The same buffers, none of which shares.
fn exclusive(problem: &Problem) -> Problem {
    let mut builder = problem.to_builder();
    for buffer in builder.buffers_mut().iter_mut() {
        buffer.exclusive = true;
    }
    builder.build().expect("as good as before")
}

#[test]
fn sequential_programs() {
    let (sharing, left_out) = plan_all(PLAIN, 3000);
    assert!(sharing > 900 && left_out == 0, "{sharing} of 3000 programs share bytes, {left_out} left out");
}

#[test]
fn programs_with_escapes_and_slots() {
    let (_, left_out) = plan_all(Features { escapes: true, slots: true, ..PLAIN }, 2000);
    assert!(left_out < 700, "{left_out} of 2000 programs left out");
}

#[test]
fn concurrent_programs() {
    let (_, left_out) = plan_all(Features { concurrency: true, escapes: true, slots: false, strangers: false }, 3000);
    assert!(left_out < 700, "{left_out} of 3000 programs left out");
}
