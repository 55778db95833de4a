//! The check against brute force: it is never silent where an execution goes wrong.

use memplan_program::{Program, text};
use memplan_verify::dataflow::{SitePlan, check};

use crate::generate::{self, Features};
use crate::interpreter::run;
use crate::notation::{brief, plan, program};
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

/// How many programs: a few hundred of each kind, 30,000 with 120,000 plans in all in a full run, others by
/// `MEMPLAN_PROGRAMS`.
fn seeds() -> std::ops::Range<u64> {
    let usual = if std::env::var_os("MEMPLAN_FULL").is_some() { 5_000 } else { 250 };
    let count = std::env::var("MEMPLAN_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(usual);
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
    let features = Features { concurrency: false, escapes: false, slots: false, strangers: false };
    report("sequential", &campaign(features, seeds()));
}

#[test]
fn programs_with_escapes() {
    let features = Features { concurrency: false, escapes: true, slots: false, strangers: false };
    report("escapes", &campaign(features, seeds()));
}

#[test]
fn programs_with_slots() {
    let features = Features { concurrency: false, escapes: false, slots: true, strangers: false };
    report("slots", &campaign(features, seeds()));
}

#[test]
fn concurrent_programs() {
    let features = Features { concurrency: true, escapes: false, slots: false, strangers: false };
    report("concurrent", &campaign(features, seeds()));
}

#[test]
fn programs_with_strangers() {
    let features = Features { concurrency: true, escapes: false, slots: false, strangers: true };
    report("ops nobody knows, callees that start work", &campaign(features, seeds()));
}

#[test]
fn programs_with_everything() {
    let features = Features { concurrency: true, escapes: true, slots: true, strangers: true };
    report("everything", &campaign(features, seeds()));
}

/// For plans that are right: moving a buffer onto a live one is always reported.
#[test]
fn every_buffer_moved_onto_a_live_one_is_reported() {
    let features = Features { concurrency: true, escapes: true, slots: true, strangers: false };
    let (mut moves, mut wrong) = (0, 0);
    for seed in 0..120 {
        let program = generate::program(seed, features);
        let right = generate::spread_out(&program, &mut Random::new(seed));
        if !check(&program, &right).is_empty() {
            continue;
        }
        for (from, to) in program.sites().ids().flat_map(|a| program.sites().ids().map(move |b| (a, b))) {
            let mut moved = right.clone();
            let Some(target) = right.placements[to].clone() else { continue };
            if let Some(placement) = &mut moved.placements[from] {
                placement.space = target.space;
                placement.offsets[0] = target.offsets[0];
            }
            moves += u64::from(from != to);
            if from != to && goes_wrong(&program, &moved, seed, 25) {
                wrong += 1;
                let silent = check(&program, &moved).is_empty();
                assert!(!silent, "seed {seed}: {from:?} onto {to:?}\n{}\n{moved:?}", text::print(&program));
            }
        }
    }
    assert!(wrong > moves / 10, "{wrong} of {moves} moves hit something live");
}

/// When every buffer is live at once, any two that share a byte are reported.
#[test]
fn all_live_at_once() {
    let mut source = String::from("func @f() {\n");
    (0..12).for_each(|i| source.push_str(&format!("alloc alloc %x{i} 16, write %x{i}\n")));
    (0..12).for_each(|i| source.push_str(&format!("use read %x{i}\n")));
    source.push('}');
    let program = program(&source);
    let offsets = |moved: usize, to: usize| -> String {
        let at = |i: usize| if i == moved { to } else { 16 * i };
        (0..12).map(|i| format!("x{i}@{} ", at(i))).collect()
    };
    for moved in 0..12 {
        assert_eq!(check(&program, &plan(&program, &offsets(moved, 16 * moved))), []);
        for to in (0..=11 * 16).filter(|&to| to != 16 * moved) {
            let found = check(&program, &plan(&program, &offsets(moved, to)));
            assert!(!found.is_empty(), "x{moved} at {to}");
        }
    }
}
