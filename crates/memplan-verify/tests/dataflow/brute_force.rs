//! The check against brute force: it is never silent where an execution goes wrong.

use memplan_program::{Program, text};
use memplan_verify::dataflow::{SitePlan, check};

use crate::generate::{self, Features};
use crate::interpreter::run;
use crate::notation::brief;
use crate::random::Random;

/// What came of many programs and plans.
#[derive(Debug, Default)]
struct Tally {
    plans: u64,
    silent: u64,
    confirmed: u64,
    /// Reported, and no execution went wrong: a false alarm, or bad luck.
    unconfirmed: u64,
}

/// Whether any of a number of random executions reads a wrong byte.
fn goes_wrong(program: &Program, plan: &SitePlan, seed: u64, runs: u64) -> bool {
    (0..runs).any(|run_number| run(program, plan, seed.wrapping_mul(1000) + run_number) == Some(true))
}

#[expect(clippy::print_stderr, reason = "asked for by an environment variable")]
fn compare(program: &Program, plan: &SitePlan, seed: u64, tally: &mut Tally) {
    tally.plans += 1;
    let violations = check(program, plan);
    if violations.is_empty() {
        tally.silent += 1;
        let wrong = goes_wrong(program, plan, seed, 40);
        assert!(!wrong, "silent, but wrong: seed {seed}\n{}\n{plan:?}", text::print(program));
    } else if goes_wrong(program, plan, seed, 100) {
        tally.confirmed += 1;
    } else {
        tally.unconfirmed += 1;
        if std::env::var_os("MEMPLAN_SHOW_ALARMS").is_some() {
            let briefs: Vec<String> = violations.iter().map(|violation| brief(program, violation)).collect();
            eprintln!("unconfirmed: seed {seed}\n{}\n{plan:?}\n{briefs:#?}", text::print(program));
        }
    }
}

fn campaign(features: Features, seeds: std::ops::Range<u64>) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let program = generate::program(seed, features);
        let mut random = Random::new(seed ^ 0xABCD);
        let spread = generate::spread_out(&program, &mut random);
        compare(&program, &spread, seed, &mut tally);
        for _ in 0..2 {
            let plan = generate::disturbed(&program, &spread, &mut random);
            compare(&program, &plan, seed, &mut tally);
        }
        let plan = generate::crowded(&program, &mut random);
        compare(&program, &plan, seed, &mut tally);
    }
    tally
}

/// How many programs: a few hundred of each kind, more by `MEMPLAN_PROGRAMS`.
fn seeds() -> std::ops::Range<u64> {
    let count = std::env::var("MEMPLAN_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(250);
    let first = std::env::var("MEMPLAN_FIRST_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    first..first + count
}

#[expect(clippy::print_stdout, reason = "false alarms are counted and reported")]
fn report(name: &str, tally: &Tally) {
    println!("{name}: {tally:?}");
    assert!(tally.silent > tally.plans / 20, "most plans are refused: the test shows little");
    assert!(tally.confirmed > tally.plans / 20, "most plans are fine: the test shows little");
}

#[test]
fn sequential_programs() {
    let features = Features { concurrency: false, escapes: false, slots: false };
    report("sequential", &campaign(features, seeds()));
}

#[test]
fn programs_with_escapes() {
    let features = Features { concurrency: false, escapes: true, slots: false };
    report("escapes", &campaign(features, seeds()));
}

#[test]
fn programs_with_slots() {
    let features = Features { concurrency: false, escapes: false, slots: true };
    report("slots", &campaign(features, seeds()));
}

#[test]
fn concurrent_programs() {
    let features = Features { concurrency: true, escapes: false, slots: false };
    report("concurrent", &campaign(features, seeds()));
}

#[test]
fn programs_with_everything() {
    let features = Features { concurrency: true, escapes: true, slots: true };
    report("everything", &campaign(features, seeds()));
}
