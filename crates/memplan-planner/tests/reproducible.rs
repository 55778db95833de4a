//! The same problem, options and seed give the same plan: with any number of threads, on an idle and on a busy machine.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use memplan_core::{Buffer, Lifetime, Outcome, Problem, ProblemBuilder, Stop};
use memplan_planner::{Effort, Request, find, plan};
use memplan_testkit::instances;

/// The corpus, and generated problems of every kind and of 10^3 to 10^5 buffers.
fn problems() -> Vec<(String, Problem)> {
    let mut problems: Vec<(String, Problem)> = recorded(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus"));
    let generated = [
        ("random 1000", instances::random(1000, 30, 1)),
        ("random 2000", instances::random(2000, 20, 2)),
        ("random 5000", instances::random(5000, 60, 3)),
        ("random 30000", instances::random(30_000, 30, 2)),
        ("random 60000", instances::random(60_000, 40, 5)),
        ("exponential 1000", instances::exponential(1000, 30, 1)),
        ("exponential 3000", instances::exponential(3000, 60, 2)),
        ("exponential 20000", instances::exponential(20_000, 50, 3)),
        ("exponential 100000", instances::exponential(100_000, 30, 4)),
        ("aligned 2000", instances::aligned(2000, 20, 5)),
        ("equal 3000", instances::equal(3000, 40, 6)),
        ("chain 3000", instances::chain(3000, 7)),
        ("in place 1000", instances::in_place_chain(1000, 8)),
        ("training 2000", instances::training(1000, 9)),
        ("kernel 60", instances::kernel(60, 10)),
        ("all alive 1000", instances::all_alive(1000, 11)),
    ];
    problems.extend(generated.map(|(name, problem)| (name.to_owned(), problem)));
    problems
}

/// Problems that take the search a while; most of them end because the work is done.
fn hard() -> Vec<(String, Problem)> {
    [
        ("jigsaw 150", instances::jigsaw(150, 100, 100_000, 3)),
        ("jigsaw 500", instances::jigsaw(500, 300, 1_000_000, 1)),
        ("dense 4000", instances::exponential(4000, 400, 2)),
        ("kernel 200", instances::kernel(200, 1)),
    ]
    .map(|(name, problem)| (name.to_owned(), problem))
    .into()
}

/// Records of a folder whose header has the columns `id,lower,upper,size`.
fn recorded(folder: &Path) -> Vec<(String, Problem)> {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match entry.extension() {
                _ if entry.is_dir() => open.push(entry),
                Some(extension) if extension == "csv" => files.push(entry),
                _ => {}
            }
        }
    }
    files.sort();
    let name = |file: &Path| file.file_name().unwrap().to_string_lossy().into_owned();
    files.iter().filter_map(|file| Some((name(file), records(&std::fs::read_to_string(file).unwrap())?))).collect()
}

fn records(text: &str) -> Option<Problem> {
    let header: Vec<&str> = text.lines().next()?.split(',').collect();
    let column = |name: &str| header.iter().position(|column| *column == name);
    let (id, lower, upper, size) = (column("id")?, column("lower")?, column("upper")?, column("size")?);
    let mut builder = ProblemBuilder::new();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |index: usize| fields[index].parse::<u64>().ok();
        builder.buffer(Buffer::new(fields[id], number(size)?, Lifetime::new(number(lower)?, number(upper)?)));
    }
    builder.build().ok()
}

fn planned(problem: &Problem, request: &Request) -> Outcome {
    plan(find("auto").unwrap(), problem, request).unwrap()
}

fn with_threads(threads: usize, effort: Effort) -> Request<'static> {
    Request { threads: Some(threads), effort, ..Request::default() }
}

/// How hard the search tries here. The default effort on all problems takes minutes in a build with assertions,
/// so that it is kept for the full test run; otherwise it is for problems that end early.
fn effort_for(name: &str) -> Effort {
    let is_full = std::env::var_os("MEMPLAN_FULL").is_some();
    if is_full || name.starts_with("jigsaw") { Effort::Normal } else { Effort::Quick }
}

/// Two loops keep two cores busy while something is planned, so that everything takes longer.
fn beside_busy_loops<T>(work: impl FnOnce() -> T) -> T {
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_done.load(Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let result = work();
        is_done.store(true, Relaxed);
        result
    })
}

#[test]
fn threads_and_busy_machines_make_the_same_plan() {
    let all: Vec<(String, Problem)> = problems().into_iter().chain(hard()).collect();
    assert!(all.len() >= 36, "only {}", all.len());
    let mut open = 0;
    for (name, problem) in &all {
        let effort = effort_for(name);
        let alone = planned(problem, &with_threads(1, effort));
        let beside = beside_busy_loops(|| planned(problem, &with_threads(2, effort)));
        assert_eq!(alone, beside, "{name}");
        // With more work the shares of the stages are larger, so another stage may find another plan, of the same
        // extent.
        if let Outcome::Optimal(plan) = &alone {
            let Outcome::Optimal(again) = planned(problem, &Request::default()) else {
                panic!("{name}: what little work proves, more confirms");
            };
            assert_eq!(plan.extent(), again.extent(), "{name}: what little work proves, more confirms");
        }
        open += usize::from(matches!(alone, Outcome::Feasible { stop: Stop::WorkLimit, .. }));
    }
    assert!(open >= 3, "the work ended only {open} searches");
}

/// A time limit that does not cut in changes nothing; one that does is named.
#[test]
fn a_time_limit_is_only_a_cap() {
    for (name, problem) in hard() {
        let quick = with_threads(2, Effort::Quick);
        let long = Request { time_limit: Some(Duration::from_secs(3600)), ..quick.clone() };
        assert_eq!(planned(&problem, &quick), planned(&problem, &long), "{name}");
        let short = Request { time_limit: Some(Duration::ZERO), ..quick };
        let outcome = planned(&problem, &short);
        assert!(matches!(outcome, Outcome::Feasible { stop: Stop::TimeLimit, .. }), "{name}: {outcome:?}");
    }
}

/// More effort is never worse, and takes more work.
#[test]
fn efforts_are_ordered() {
    assert!(Effort::ALL.windows(2).all(|pair| pair[0].work() < pair[1].work()));
    for (name, problem) in hard().into_iter().take(1) {
        let extent = |effort: Effort| planned(&problem, &with_threads(2, effort)).plan().unwrap().extent();
        assert!(extent(Effort::Normal) <= extent(Effort::Quick), "{name}");
    }
}
