//! The strategy `search`: right on tiny problems, reproducible on larger ones.
#![allow(clippy::unwrap_used, reason = "a test")]

use memplan_core::{Bytes, Outcome, Problem};
use memplan_planner::{Assign, Effort, Request, find, plan};
use memplan_testkit::Features;
use memplan_testkit::brute_force::{self, Answer};
use memplan_testkit::instances;
use memplan_testkit::problems::{Limits, problems};
use proptest::prelude::*;

/// Enough for every tiny problem.
const WORK: u64 = 50_000;

fn searched(problem: &Problem, work: u64, threads: usize) -> Outcome {
    let request = Request { work_limit: Some(work), threads: Some(threads), ..Request::default() };
    plan(find("search").unwrap(), problem, &request).unwrap()
}

fn check_valid(problem: &Problem, outcome: &Outcome) -> Result<(), TestCaseError> {
    if let Some(plan) = outcome.plan() {
        let violations = memplan_verify::packing::check(problem, plan);
        prop_assert!(violations.is_empty(), "{}", violations[0]);
    }
    Ok(())
}

/// The search must be right; if `complete`, it must also be certain.
fn compare(problem: &Problem, complete: bool) -> Result<(), TestCaseError> {
    let outcome = searched(problem, WORK, 1);
    check_valid(problem, &outcome)?;
    let truth = brute_force::solve(problem, 60_000);
    match (&outcome, &truth) {
        (_, Answer::TooLarge) => {}
        (Outcome::Optimal(plan), Answer::Optimal(best)) => prop_assert_eq!(plan.extent(), best.extent()),
        (Outcome::Feasible { plan, lower_bound, .. }, Answer::Optimal(best)) => {
            prop_assert!(!complete, "not certain: {} >= {}", plan.extent(), lower_bound);
            prop_assert!(plan.extent() >= best.extent() && *lower_bound <= best.extent());
        }
        (Outcome::Infeasible(_), Answer::Infeasible) => {}
        (Outcome::Exhausted { .. }, _) => prop_assert!(!complete, "not certain"),
        _ => prop_assert!(false, "search says {}, trying everything says {:?}", outcome.status(), truth),
    }
    Ok(())
}

/// What flat instances express without loss.
const FLAT: Features = Features {
    alignments: true,
    gaps: true,
    fixed_offsets: true,
    several_spaces: true,
    must_not_share: true,
    exclusive: true,
    slots: true,
    empty_buffers: true,
    ..Features::NONE
};

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn flat_problems_are_solved_exactly(problem in problems(FLAT, Limits::TINY)) {
        compare(&problem, true)?;
    }

    #[test]
    fn flat_problems_with_capacities_are_decided(
        problem in problems(Features { capacities: true, ..FLAT }, Limits::TINY),
    ) {
        let outcome = searched(&problem, WORK, 1);
        check_valid(&problem, &outcome)?;
        match (&outcome, brute_force::solve(&problem, 60_000)) {
            (_, Answer::TooLarge) => {}
            (Outcome::Infeasible(_), truth) => prop_assert_eq!(truth, Answer::Infeasible),
            (Outcome::Exhausted { .. }, _) => prop_assert!(false, "not decided"),
            (_, truth) => prop_assert!(matches!(truth, Answer::Optimal(_))),
        }
    }

    #[test]
    fn no_feature_makes_it_wrong(problem in problems(Features::OFFSETS, Limits::TINY)) {
        compare(&problem, false)?;
    }

    #[test]
    fn threads_do_not_change_the_plan(problem in problems(FLAT, Limits::MEDIUM)) {
        prop_assert_eq!(searched(&problem, 3000, 1), searched(&problem, 3000, 3));
    }
}

#[test]
fn larger_problems_are_reproducible_and_no_taller_than_first_fit() {
    let problem = instances::random(300, 20, 7);
    let outcome = searched(&problem, 20_000, 1);
    assert_eq!(outcome, searched(&problem, 20_000, 2));
    let first_fit = plan(find("first-fit").unwrap(), &problem, &Request::default()).unwrap();
    assert!(outcome.plan().unwrap().extent() <= first_fit.plan().unwrap().extent());
}

/// Long enough for orders to climb and for successes to cut rounds short.
#[test]
fn climbing_does_not_depend_on_threads() {
    let problem = instances::jigsaw(150, 100, 100_000, 3);
    let [one, two, five] = [1, 2, 5].map(|threads| searched(&problem, 40_000, threads));
    assert_eq!(one, two);
    assert_eq!(one, five);
    let first_fit = plan(find("first-fit").unwrap(), &problem, &Request::default()).unwrap();
    assert!(one.plan().unwrap().extent() < first_fit.plan().unwrap().extent());
}

#[test]
fn somebody_else_can_end_it_and_watch_it() {
    use memplan_core::Stop;
    use memplan_planner::OnProgress;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    use std::sync::{Arc, Mutex};

    let problem = instances::jigsaw(500, 300, 1_000_000, 1);
    let cancel = Arc::new(AtomicBool::new(false));
    let seen = Mutex::new(Vec::<(Option<Bytes>, Bytes)>::new());
    let watcher = OnProgress::new(|best, lower_bound, _elapsed| {
        let mut seen = seen.lock().unwrap();
        seen.push((best, lower_bound));
        cancel.store(seen.len() > 12, Relaxed);
    });
    let request = Request {
        work_limit: Some(u64::MAX),
        observer: Some(&watcher),
        cancel: Some(Arc::clone(&cancel)),
        ..Request::default()
    };
    let outcome = plan(find("search").unwrap(), &problem, &request).unwrap();
    let Outcome::Feasible { plan, lower_bound, stop } = outcome else { panic!("{}", outcome.status()) };
    assert_eq!(stop, Stop::Interrupted);
    let seen = seen.lock().unwrap();
    assert_eq!(seen.last(), Some(&(Some(plan.extent()), lower_bound)));
    assert!(seen.windows(2).all(|pair| pair[1].0 <= pair[0].0 || pair[0].0.is_none()), "{seen:?}");
}

/// Instances of every kind, with names.
fn zoo() -> Vec<(&'static str, Problem)> {
    vec![
        ("random", instances::random(200, 12, 3)),
        ("crowded", instances::random(150, 60, 4)),
        ("aligned", instances::aligned(120, 15, 5)),
        ("chain", instances::chain(150, 6)),
        ("in place", instances::in_place_chain(60, 7)),
        ("training", instances::training(60, 8)),
        ("jigsaw", instances::jigsaw(60, 40, 10_000, 9)),
        ("large jigsaw", instances::jigsaw(300, 200, 1_000_000, 10)),
        ("all alive", instances::all_alive(50, 11)),
    ]
}

/// The extent of a strategy's plan, if it makes one.
fn extent_of(strategy: &dyn memplan_planner::Strategy, problem: &Problem, request: &Request) -> Option<Bytes> {
    plan(strategy, problem, request).ok().and_then(|outcome| outcome.plan().map(|plan| plan.extent()))
}

#[test]
fn no_other_strategy_is_better() {
    let request = Request { effort: Effort::Thorough, work_limit: Some(300), ..Request::default() };
    for (name, problem) in zoo() {
        let own = extent_of(find("auto").unwrap(), &problem, &request).unwrap();
        for other in memplan_planner::STRATEGIES {
            let theirs = extent_of(*other, &problem, &request);
            assert!(theirs.is_none_or(|theirs| own <= theirs), "{name}: {own}, {} {theirs:?}", other.name());
        }
    }
}

/// As above for many buffers, of kinds that the search does not settle with so little work.
#[test]
fn no_other_strategy_is_better_on_many_buffers() {
    let request = Request { effort: Effort::Thorough, work_limit: Some(300), ..Request::default() };
    let many = [
        ("random", instances::random(6000, 120, 1)),
        ("aligned", instances::aligned(6000, 80, 2)),
        ("in place", instances::in_place_chain(6000, 3)),
        ("training", instances::training(3000, 4)),
        ("equally large", instances::equal(6000, 50, 5)),
    ];
    let mut open = 0;
    for (name, problem) in many {
        let outcome = plan(find("auto").unwrap(), &problem, &request).unwrap();
        check_valid(&problem, &outcome).unwrap();
        let own = outcome.plan().unwrap().extent();
        open += usize::from(!matches!(outcome, Outcome::Optimal(_)));
        for other in memplan_planner::STRATEGIES.iter().filter(|other| !["auto", "search"].contains(&other.name())) {
            let theirs = extent_of(*other, &problem, &request);
            assert!(theirs.is_none_or(|theirs| own <= theirs), "{name}: {own}, {} {theirs:?}", other.name());
        }
    }
    assert!(open >= 2, "only {open} show anything");
}

/// A strategy that is told of a better plan may give up, but only if its own is no better.
#[test]
fn a_ceiling_changes_nothing_but_the_time() {
    for (name, problem) in zoo() {
        for strategy in memplan_planner::STRATEGIES.iter().filter(|other| !["auto", "search"].contains(&other.name())) {
            let request = Request { work_limit: Some(0), ..Request::default() };
            let Some(extent) = extent_of(*strategy, &problem, &request) else { continue };
            let below = |ceiling: u64| {
                let request = Request { ceiling: Some(Bytes(ceiling)), ..request.clone() };
                extent_of(*strategy, &problem, &request).filter(|extent| extent.0 < ceiling)
            };
            assert_eq!(below(extent.0 + 1), Some(extent), "{name}: {}", strategy.name());
            assert_eq!(below(extent.0), None, "{name}: {}", strategy.name());
        }
    }
}

/// Shared objects, too, and where the best of the strategies takes a while.
#[test]
fn no_other_strategy_shares_objects_better() {
    let request = Request { assign: Assign::Objects, ..Request::default() };
    let many = [("random", instances::random(12_000, 30, 1)), ("few", instances::random(230, 30, 2))];
    for (name, problem) in zoo().into_iter().chain(many) {
        let own = extent_of(find("auto").unwrap(), &problem, &request).unwrap();
        for other in memplan_planner::STRATEGIES {
            let theirs = extent_of(*other, &problem, &request);
            assert!(theirs.is_none_or(|theirs| own <= theirs), "{name}: {own}, {} {theirs:?}", other.name());
        }
    }
}

/// The two cheapest members come first, so whichever of them meets the bound, no more than both have run.
#[test]
fn what_first_fit_solves_costs_auto_no_more_than_twice_its_work() {
    let (mut solved, mut only_by_load) = (0, 0);
    let more = (0..20).map(|seed| ("more", instances::random(100, 30, seed)));
    for (name, problem) in zoo().into_iter().chain(more) {
        let (by_size, by_load) = (is_met("first-fit", &problem), is_met("first-fit-load", &problem));
        if by_size || by_load {
            let work = work_to_the_bound(name, &problem);
            assert!(work <= 2 * problem.buffers().len() as u64, "{name}: {work}");
            assert!(!by_size || work == problem.buffers().len() as u64, "{name}: {work}");
        }
        solved += usize::from(by_size);
        only_by_load += usize::from(by_load && !by_size);
    }
    assert!(solved >= 3 && only_by_load >= 3, "only {solved} and {only_by_load} show anything");
}

/// With many buffers the search repairs the plan of first fit. If any strategy meets the bound, the search meets it
/// with at most two units of work for each buffer, first pass and nodes together: less than one more pass after the
/// first. Of the problems on which no strategy meets the bound, the same holds for at least nine in ten.
#[test]
fn what_any_strategy_solves_costs_auto_no_more_than_twice_its_work() {
    let (mut by_others, mut by_nobody, mut cheap) = (0, 0, 0);
    for (count, live) in [(2000, 20), (4000, 30), (8000, 15)] {
        for seed in 0..12 {
            let problem = instances::random(count, live, seed);
            let lays_offsets = |strategy: &&&dyn memplan_planner::Strategy| {
                strategy.assigns()[0] == Assign::Offsets && !["auto", "search"].contains(&strategy.name())
            };
            let strategies = memplan_planner::STRATEGIES.iter().filter(lays_offsets);
            let solvers = strategies.filter(|strategy| is_met(strategy.name(), &problem)).count();
            let request = Request { work_limit: Some(3 * count as u64), ..Request::default() };
            let answer = memplan_planner::search::search(&problem, &request);
            let is_cheap =
                answer.nodes + answer.placements <= 2 * count as u64 && matches!(answer.outcome, Outcome::Optimal(_));
            assert!(solvers == 0 || is_cheap, "{count} buffers, {live} alive, seed {seed}: {} nodes", answer.nodes);
            let is_new = solvers > 0 && !is_met("first-fit", &problem);
            by_others += usize::from(is_new);
            by_nobody += usize::from(solvers == 0);
            cheap += usize::from(solvers == 0 && is_cheap);
        }
    }
    assert!(by_others >= 8, "only {by_others} show anything");
    assert!(10 * cheap >= 9 * by_nobody, "{cheap} of {by_nobody} that nobody solves");
}

fn is_met(strategy: &str, problem: &Problem) -> bool {
    matches!(plan(find(strategy).unwrap(), problem, &Request::default()), Ok(Outcome::Optimal(_)))
}

fn work_to_the_bound(name: &str, problem: &Problem) -> u64 {
    let answer = memplan_planner::search::search(problem, &Request::default());
    assert!(matches!(answer.outcome, Outcome::Optimal(_)), "{name}");
    answer.nodes + answer.placements
}

/// What fits without a capacity fits into one of that size, on many buffers, too, where only mending finds it.
#[test]
fn a_capacity_at_the_peak_is_met_on_many_buffers() {
    for (count, live, seed) in [(4000, 30, 0), (40_000, 60, 2)] {
        let problem = instances::random(count, live, seed);
        let peak = memplan_core::bound::lower_bound(&problem);
        for strategy in memplan_planner::portfolio::MEMBERS {
            assert!(!is_met(memplan_planner::Strategy::name(&strategy), &problem), "too easy for {strategy:?}");
        }
        let within = |capacity: Bytes| {
            let mut builder = problem.to_builder();
            builder.spaces_mut().iter_mut().for_each(|space| space.capacity = Some(capacity));
            let problem = builder.build().unwrap();
            let outcome = searched(&problem, 5 * count as u64, 2);
            check_valid(&problem, &outcome).unwrap();
            outcome
        };
        assert!(matches!(within(peak), Outcome::Optimal(_)));
        assert!(within(Bytes(peak.0 + peak.0 / 200)).plan().is_some());
        assert!(matches!(within(Bytes(peak.0 - 1)), Outcome::Infeasible(_)));
    }
}

/// Too many buffers for an exact search of the whole problem: the other stages have to find the plan.
#[test]
fn many_buffers_are_improved_the_same_on_any_number_of_threads() {
    let problem = instances::random(40_000, 60, 2);
    let extent = |outcome: &Outcome| outcome.plan().unwrap().extent();
    let quick = ["first-fit", "first-fit-load"]
        .map(|name| extent(&plan(find(name).unwrap(), &problem, &Request::default()).unwrap()));
    let search = |threads: usize| {
        let request = Request { work_limit: Some(250_000), threads: Some(threads), ..Request::default() };
        memplan_planner::search::search(&problem, &request)
    };
    let (one, three) = (search(1), search(3));
    assert_eq!(one.outcome, three.outcome);
    assert_eq!(one.nodes, three.nodes);
    assert!(extent(&one.outcome) < quick[0].min(quick[1]), "{} of {quick:?}", extent(&one.outcome));
    check_valid(&problem, &one.outcome).unwrap();
    assert!(one.nodes <= 250_000 + 2 * 40_000, "a pass more at most: {}", one.nodes);
}

#[test]
fn a_time_limit_is_kept_on_many_buffers() {
    use std::time::{Duration, Instant};
    let problem = instances::random(60_000, 100, 4);
    let one_pass = Instant::now();
    plan(find("first-fit").unwrap(), &problem, &Request::default()).unwrap();
    let one_pass = one_pass.elapsed();
    let limit = one_pass * 6;
    for strategy in ["auto", "search"] {
        let start = Instant::now();
        let request = Request { time_limit: Some(limit), ..Request::default() };
        plan(find(strategy).unwrap(), &problem, &request).unwrap();
        let taken = start.elapsed();
        // A busy machine makes any clock late; eight seconds for two were seen, and would be here.
        let most = limit * 3 + Duration::from_secs(1);
        assert!(taken < most, "{strategy}: {taken:?} of {limit:?}, one pass takes {one_pass:?}");
    }
}

/// Recorded steps of training and of generating text, where they are at hand: too large for an exact search as a whole,
/// and at their peaks.
#[test]
fn recorded_steps_are_at_their_peaks() {
    let folder = std::env::var_os("MEMPLAN_INSTANCES").map(std::path::PathBuf::from);
    let beside = || std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/instances");
    let folder = folder.unwrap_or_else(beside);
    // A pass over resnet50, with hundreds alive, costs 2,754 units; two of them are a fifth of what is allowed.
    let steps =
        [("training/pangu_2.6B.csv", 200_000), ("training/resnet50.csv", 30_000), ("cuda/generate.csv", 400_000)];
    for (name, work) in steps {
        let Ok(text) = std::fs::read_to_string(folder.join(name)) else {
            println!("skipped: needs {name} in MEMPLAN_INSTANCES");
            continue;
        };
        let problem = recorded(&text);
        let outcome = searched(&problem, work, 2);
        assert!(matches!(outcome, Outcome::Optimal(_)), "{name}: {}", outcome.status());
        check_valid(&problem, &outcome).unwrap();
    }
}

/// MiniMalloc's J, where it is at hand: a plan at its peak exists, and a thorough search gets within half a percent of
/// it (1.0 % with the canonical search alone).
#[test]
fn the_hardest_instance_is_packed_around_a_stretch() {
    let folder = std::env::var_os("MEMPLAN_INSTANCES").map(std::path::PathBuf::from);
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = folder.unwrap_or_else(|| here.join("../../../shared/instances"));
    let Ok(text) = std::fs::read_to_string(folder.join("minimalloc/J.1048576.csv")) else {
        println!("skipped: needs minimalloc/J.1048576.csv in MEMPLAN_INSTANCES");
        return;
    };
    let problem = recorded(&text);
    let offsets = std::fs::read_to_string(here.join("../../tests/data/minimalloc/J.offsets.csv")).unwrap();
    let mut plan = memplan_core::Plan::empty(&problem);
    for (buffer, line) in problem.buffers().ids().zip(offsets.lines().skip(1)) {
        let (id, offset) = line.split_once(',').unwrap();
        assert_eq!(problem.buffers()[buffer].name, id);
        let space = problem.spaces().ids().next().unwrap();
        plan.placements[buffer] = Some(memplan_core::Placement::at(space, Bytes(offset.parse().unwrap())));
    }
    plan.fit_extents(&problem);
    assert_eq!(plan.extent(), Bytes(989_184));
    assert_eq!(memplan_verify::packing::check(&problem, &plan), []);
    assert_eq!(memplan_core::bound::lower_bound(&problem), Bytes(989_184));
    if std::env::var_os("MEMPLAN_FULL").is_some() {
        let outcome = searched(&problem, 16_000_000, 2);
        check_valid(&problem, &outcome).unwrap();
        assert!(outcome.plan().unwrap().extent() <= Bytes(994_000), "{:?}", outcome.plan().unwrap().extent());
    }
}

/// Records under the header `id,lower,upper,size`.
fn recorded(text: &str) -> Problem {
    let mut builder = memplan_core::ProblemBuilder::new();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |index: usize| fields[index].parse::<u64>().unwrap();
        let lifetime = memplan_core::Lifetime::new(number(1), number(2));
        builder.buffer(memplan_core::Buffer::new(fields[0], number(3), lifetime));
    }
    builder.build().unwrap()
}
