//! `search` against trying everything: every feature alone, and all together.
//!
//! On tiny problems the search must be right *and* certain: its plan is the smallest
//! there is, or there is none and every buffer of the witness is needed for that.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::atomic::{AtomicU64, Ordering};

use memplan_core::{
    Buffer, BufferId, Bytes, Id, Interval, Lifetime, Outcome, Overlay, OverlayKind, Problem, ProblemBuilder, Size,
    SpaceId, Witness, bound,
};
use memplan_planner::explain::explain;
use memplan_planner::{Observer, Request, find, plan};
use memplan_testkit::exhaustive::plan_below;
use memplan_testkit::problems::{Limits, problems};
use memplan_testkit::{Features, Random, instances};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};

/// Enough for every tiny problem.
const WORK: u64 = 50_000;
/// What trying everything may take.
const VISITS: u64 = 100_000;
const TINY: Limits = Limits { buffers: 5, size: 6, steps: 6 };

fn searched(problem: &Problem) -> Outcome {
    let request = Request { work_limit: Some(WORK), threads: Some(1), ..Request::default() };
    plan(find("search").unwrap(), problem, &request).unwrap()
}

/// How many problems a test looks at: `PROPTEST_CASES`, as property tests do. Ten times as many under `MEMPLAN_FULL`:
/// more than 30,000 in all tests of this file together.
fn cases(default: usize) -> usize {
    let times = if std::env::var_os("MEMPLAN_FULL").is_some() { 10 } else { 1 };
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(times * default)
}

/// Whether trying everything came to an end and confirmed the answer.
fn check(problem: &Problem) -> Result<bool, String> {
    match searched(problem) {
        Outcome::Optimal(plan) => {
            let violations = memplan_verify::packing::check(problem, &plan);
            if let Some(violation) = violations.first() {
                return Err(violation.to_string());
            }
            match plan_below(problem, plan.extent().0, VISITS) {
                None => Ok(false),
                Some(None) => Ok(true),
                Some(Some(better)) => Err(format!("{} instead of {}", plan.extent(), better.extent())),
            }
        }
        Outcome::Infeasible(witness) => match plan_below(problem, u64::MAX, VISITS) {
            None => Ok(false),
            Some(None) => check_witness(problem, &witness).map(|()| true),
            Some(Some(plan)) => Err(format!("there is a plan of {}", plan.extent())),
        },
        other => Err(format!("not certain: {}", other.status())),
    }
}

/// The buffers of a witness cannot be placed; without any one of them they can. What is said about them is true.
fn check_witness(problem: &Problem, witness: &Witness) -> Result<(), String> {
    if witness.needed <= witness.capacity {
        return Err(format!("{} bytes are no more than {}", witness.needed, witness.capacity));
    }
    check_sentence(problem, witness)?;
    let names = || witness.buffers.iter().map(|&id| problem.buffers()[id].name.as_str()).collect::<Vec<_>>();
    if let Some(Some(_)) = plan_below(&only(problem, &witness.buffers), u64::MAX, VISITS) {
        return Err(format!("{:?} fit", names()));
    }
    for left_out in &witness.buffers {
        let rest = only(problem, &without(&witness.buffers, *left_out));
        if rest == *problem {
            continue;
        }
        if let Some(None) = plan_below(&rest, u64::MAX, VISITS) {
            return Err(format!("{:?} do not need {}", names(), problem.buffers()[*left_out].name));
        }
    }
    Ok(())
}

/// Step, space and bytes of a witness are what `explain` tells people.
fn check_sentence(problem: &Problem, witness: &Witness) -> Result<(), String> {
    let Witness { space, buffers, step, needed, .. } = witness;
    let info = |id: &BufferId| &problem.buffers()[*id];
    if let Some(step) = step {
        let is_on = |id: &BufferId| info(id).lifetime.intervals().any(|on| on.start <= *step && *step < on.end);
        if let Some(dead) = buffers.iter().find(|id| !is_on(id)) {
            return Err(format!("{} is not alive at step {step}", info(dead).name));
        }
    }
    let is_single = buffers.iter().all(|id| info(id).spaces.len() == 1);
    if let Some(elsewhere) = buffers.iter().find(|id| is_single && info(id).spaces[0] != *space) {
        return Err(format!("{} is never in space {}", info(elsewhere).name, problem.spaces()[*space].name));
    }
    // In that space, without a capacity, the buffers need what is said or more; unless fixed ones are in each other's
    // way.
    if !buffers.iter().all(|id| info(id).spaces.contains(space)) {
        return Ok(());
    }
    let mut roomy = only(problem, buffers).to_builder();
    roomy.spaces_mut().iter_mut().for_each(|space| space.capacity = None);
    buffers.iter().for_each(|&id| roomy.buffers_mut()[id].spaces = [*space].into_iter().collect());
    let Ok(roomy) = roomy.build() else { return Ok(()) };
    match plan_below(&roomy, needed.0, VISITS) {
        Some(Some(plan)) if plan.extents[*space] < *needed => {
            Err(format!("{} bytes are enough, not {needed}", plan.extents[*space]))
        }
        _ => Ok(()),
    }
}

/// Buffers but for one.
fn without(buffers: &[BufferId], left_out: BufferId) -> Vec<BufferId> {
    buffers.iter().copied().filter(|id| *id != left_out).collect()
}

/// The problem in which only some buffers take bytes. If a buffer that is left out may overlay a kept one, the life of
/// the kept one is cut where the other starts: in the whole problem the kept one need not have its bytes after that.
fn only(problem: &Problem, kept: &[BufferId]) -> Problem {
    let mut builder = problem.to_builder();
    for id in problem.buffers().ids().filter(|id| !kept.contains(id)) {
        let buffer = &mut builder.buffers_mut()[id];
        buffer.size = Size::Fixed(Bytes::ZERO);
        buffer.lifetime = Lifetime::default();
        buffer.exclusive = false;
        buffer.set_fixed(None);
        buffer.set_tie(None);
    }
    for overlay in problem.overlays() {
        let [newcomer, victim] = [overlay.buffer, overlay.over].map(|id| &problem.buffers()[id]);
        let meets = newcomer.spaces.iter().any(|space| victim.spaces.contains(space));
        let is_later = newcomer.lifetime.start() > victim.lifetime.start();
        if let (Some(cut), true) = (newcomer.lifetime.start(), meets && is_later && !kept.contains(&overlay.buffer)) {
            let life = &mut builder.buffers_mut()[overlay.over].lifetime;
            let before = life.intervals().filter(|on| on.start < cut);
            *life = before.map(|on| Interval { end: on.end.min(cut), ..on }).collect();
        }
    }
    // A block without one of its members may start where others are no longer aligned: ask about everything then.
    builder.build().unwrap_or_else(|_| problem.clone())
}

/// Looks at generated problems; at least `share` percent of them must be small enough to try everything.
fn check_all(name: &str, features: Features, count: usize, share: usize) {
    let mut runner = TestRunner::deterministic();
    if let Ok(seed) = std::env::var("MEMPLAN_SEED") {
        let seed = seed.parse::<u64>().unwrap();
        let bytes: Vec<u8> = (0..4).flat_map(|word| (seed ^ word).to_le_bytes()).collect();
        let rng = proptest::test_runner::TestRng::from_seed(proptest::test_runner::RngAlgorithm::ChaCha, &bytes);
        runner = TestRunner::new_with_rng(Config::default(), rng);
    }
    let strategy = problems(features, TINY);
    let mut confirmed = 0;
    for _ in 0..count {
        let mut tree = strategy.new_tree(&mut runner).unwrap();
        match check(&tree.current()) {
            Ok(known) => confirmed += usize::from(known),
            Err(_) => {
                let (problem, why) = smallest(&mut tree, check);
                panic!("{name}: {why}\n{}", text(&problem));
            }
        }
    }
    assert!(confirmed * 100 >= count * share, "{name}: only {confirmed} of {count} were small enough");
}

/// A problem as small as possible that fails.
fn smallest<T>(
    tree: &mut impl ValueTree<Value = Problem>,
    check: impl Fn(&Problem) -> Result<T, String>,
) -> (Problem, String) {
    let mut worst = tree.current();
    let mut why = check(&worst).err().unwrap_or_default();
    let mut goes_on = tree.simplify();
    while goes_on {
        let problem = tree.current();
        goes_on = match check(&problem) {
            Err(reason) => {
                (worst, why) = (problem, reason);
                tree.simplify()
            }
            Ok(_) => tree.complicate(),
        };
    }
    (worst, why)
}

/// Double buffers, in-place operations, parts of one result, windows, a second memory: proved in milliseconds.
#[test]
fn kernels_are_proved_optimal_whatever_the_threads() {
    for seed in 0..24 {
        let problem = instances::kernel(20 + seed as usize, seed);
        let outcome = |threads| {
            let request = Request { work_limit: Some(WORK), threads: Some(threads), ..Request::default() };
            plan(find("search").unwrap(), &problem, &request).unwrap()
        };
        let one = outcome(1);
        assert!(matches!(one, Outcome::Optimal(_)), "kernel {seed}: {}", one.status());
        assert_eq!(one, outcome(3), "kernel {seed}");
        let violations = memplan_verify::packing::check(&problem, one.plan().unwrap());
        assert!(violations.is_empty(), "kernel {seed}: {}", violations[0]);
    }
}

/// What keeps a problem with windows, ties and overlays from being smaller is named, and no more than that.
#[test]
fn kernels_are_explained() {
    let mut explained = 0;
    for seed in 0..6 {
        let problem = instances::kernel(12, seed);
        let request = Request { work_limit: Some(WORK), ..Request::default() };
        let Some(obstacle) = explain(&problem, &request).obstacle else { continue };
        let request = Request { work_limit: Some(WORK), threads: Some(1), ..Request::default() };
        let mut tight = problem.to_builder();
        tight.spaces_mut()[obstacle.space].capacity = Some(obstacle.capacity);
        let tight = tight.build().unwrap();
        let fits = |kept: &[BufferId]| match plan(find("search").unwrap(), &only(&tight, kept), &request).unwrap() {
            Outcome::Optimal(_) | Outcome::Feasible { .. } => true,
            Outcome::Infeasible(_) => false,
            Outcome::Exhausted { .. } => panic!("kernel {seed}: not decided"),
        };
        assert!(!fits(&obstacle.buffers), "kernel {seed}");
        for left_out in &obstacle.buffers {
            assert!(fits(&without(&obstacle.buffers, *left_out)), "kernel {seed}: {obstacle:?}");
        }
        explained += 1;
    }
    assert!(explained >= 4, "only {explained}");
}

/// A line for each part of a problem.
fn text(problem: &Problem) -> String {
    let mut lines = Vec::new();
    for space in problem.spaces() {
        lines.push(format!(
            "{}: capacity {:?}, alignment {}",
            space.name,
            space.capacity.map(|c| c.0),
            space.alignment
        ));
    }
    for (id, buffer) in problem.buffers().iter_enumerated() {
        let on = buffer
            .lifetime
            .intervals()
            .map(|on| (on.start.0, on.end.0, on.window.map(|window| (window.low.0, window.high.0))));
        let tie = buffer.tie().map(|tie| (tie.group.index(), tie.at.0));
        lines.push(format!(
            "{}: {:?} aligned {} in {:?} x{} fixed {:?} exclusive {} tie {tie:?} alive {:?}",
            id.index(),
            buffer.bytes().map(|bytes| bytes.0),
            buffer.alignment,
            buffer.spaces.iter().map(|space| space.index()).collect::<Vec<_>>(),
            buffer.slots,
            buffer.fixed().map(|offset| offset.0),
            buffer.exclusive,
            on.collect::<Vec<_>>(),
        ));
    }
    let pair = |pair: &(BufferId, BufferId)| (pair.0.index(), pair.1.index());
    lines.push(format!("together {:?}", problem.must_share().iter().map(pair).collect::<Vec<_>>()));
    lines.push(format!("apart {:?}", problem.must_not_share().iter().map(pair).collect::<Vec<_>>()));
    let overlays = problem.overlays().iter().map(|o| (o.buffer.index(), o.over.index(), o.kind));
    lines.push(format!("overlays {:?}", overlays.collect::<Vec<_>>()));
    lines.push(format!("{:?}", problem.dependencies()));
    lines.join("\n")
}

#[test]
fn every_feature_alone_is_exact() {
    for (name, features) in Features::one_by_one() {
        check_all(name, features, cases(60), 60);
        check_all(&format!("{name} with capacities"), Features { capacities: true, ..features }, cases(60), 60);
    }
}

#[test]
fn pairs_of_features_are_exact() {
    let all = Features::one_by_one();
    for (index, (name, one)) in all.iter().enumerate() {
        for (other_name, other) in &all[..index] {
            check_all(&format!("{name} and {other_name}"), one.and(other), cases(12), 30);
        }
    }
}

#[test]
fn all_features_together_are_exact() {
    check_all("all", Features { capacities: false, ..Features::OFFSETS }, cases(300), 50);
    check_all("all with capacities", Features::OFFSETS, cases(300), 50);
    check_all("all with dependencies", Features { dependencies: true, ..Features::OFFSETS }, cases(200), 50);
}

/// Seven or eight buffers with what makes the peak of the live bytes unreachable and is still flat: alignments, pairs
/// that never share, one offset that is fixed.
fn crowded(seed: u64) -> Problem {
    let mut random = Random::new(seed);
    let mut builder = ProblemBuilder::new();
    let fixed = random.below(6);
    let buffers: Vec<BufferId> = (0..random.between(7, 8))
        .map(|index| {
            let start = random.below(6);
            let life = Lifetime::new(start, start + random.between(1, 4));
            let alignment = Bytes(if random.one_in(4) { 2 } else { 1 });
            let fixed = (index == 0 && fixed.is_multiple_of(2)).then_some(Bytes(fixed));
            builder.buffer(Buffer {
                alignment,
                ..Buffer::new(index.to_string(), random.between(1, 4), life).with_fixed(fixed)
            })
        })
        .collect();
    for _ in 0..3 {
        let [one, other] = [(); 2].map(|()| buffers[random.below(buffers.len() as u64) as usize]);
        if one != other {
            builder.must_not_share(one, other);
        }
    }
    builder.build().unwrap()
}

/// The general search, which proves nearly everything of this size, is switched off: what is called optimal or
/// infeasible here rests on the canonical search and its pruning rules alone. Only problems whose smallest plan is
/// above the peak count, for at the peak there is nothing to prove.
#[test]
fn what_the_canonical_search_proves_alone_is_true() {
    let without = vec!["proof".to_owned()];
    let request = Request { work_limit: Some(WORK), threads: Some(1), without, ..Request::default() };
    let search = |problem: &Problem| plan(find("search").unwrap(), problem, &request).unwrap();
    let (mut above, mut confirmed) = (0, 0);
    for seed in 0..cases(1500) as u64 {
        let problem = crowded(seed);
        let Outcome::Optimal(found) = search(&problem) else { panic!("seed {seed} is not proved") };
        let extent = found.extent();
        if extent == bound::lower_bound(&problem) {
            continue;
        }
        above += 1;
        let Some(better) = plan_below(&problem, extent.0, 4 * VISITS) else { continue };
        assert!(better.is_none(), "seed {seed}: {} instead of {extent}", better.unwrap().extent());
        confirmed += 1;
        // With a byte less there is no plan at all, and the search says so, too.
        let mut tight = problem.to_builder();
        tight.spaces_mut()[SpaceId::from_index(0)].capacity = Some(Bytes(extent.0 - 1));
        let Outcome::Infeasible(witness) = search(&tight.build().unwrap()) else { panic!("seed {seed} fits") };
        assert!(witness.needed > witness.capacity, "seed {seed}");
    }
    assert!(above * 50 > cases(1500) && confirmed * 10 > above * 8, "{confirmed} of {above} were tried out");
}

/// Whether there is a witness; if so, it is right.
fn judge(problem: &Problem) -> Result<bool, String> {
    let Outcome::Infeasible(witness) = searched(problem) else { return Ok(false) };
    check_witness(problem, &witness).map(|()| true)
}

/// Every witness is irreducible, and what is said about it is true: 10,000 problems under `MEMPLAN_FULL`.
#[test]
fn every_witness_is_irreducible() {
    let count = if std::env::var_os("MEMPLAN_FULL").is_some() { 10_000 } else { 500 };
    let mut runner = TestRunner::deterministic();
    let strategy = problems(Features::OFFSETS, TINY);
    let mut judged = 0;
    for _ in 0..count {
        let mut tree = strategy.new_tree(&mut runner).unwrap();
        match judge(&tree.current()) {
            Ok(does_not_fit) => judged += usize::from(does_not_fit),
            Err(_) => {
                let (problem, why) = smallest(&mut tree, judge);
                panic!("{why}\n{}", text(&problem));
            }
        }
    }
    assert!(judged * 20 > count, "{judged} of {count} do not fit");
}

/// Two to five buffers of which only the lowest bytes are ever alive, a whole number of granules. The others make
/// extents that lie between two granules.
fn half_alive(seed: u64) -> Problem {
    let mut random = Random::new(seed);
    let mut builder = ProblemBuilder::new();
    for index in 0..random.between(2, 5) {
        let start = random.below(5);
        let alive = 2 * random.between(1, 3);
        let never = if random.one_in(2) { random.between(1, 3) } else { 0 };
        let life = [Interval::with_window(start, start + random.between(1, 3), 0, alive)];
        let life: Lifetime = life.into_iter().collect();
        builder.buffer(Buffer { alignment: Bytes(2), ..Buffer::new(index.to_string(), alive + never, life) });
    }
    builder.build().unwrap()
}

/// The proofs of the canonical search alone, and those of all searches together.
#[test]
fn buffers_of_which_a_part_is_never_alive_are_exact() {
    let mut confirmed = 0;
    for seed in 0..cases(400) as u64 {
        let problem = half_alive(seed);
        for without in [vec!["proof".to_owned()], Vec::new()] {
            let request = Request { work_limit: Some(WORK), threads: Some(1), without, ..Request::default() };
            let outcome = plan(find("search").unwrap(), &problem, &request).unwrap();
            let least = match &outcome {
                Outcome::Optimal(plan) => plan.extent(),
                Outcome::Feasible { lower_bound, .. } => *lower_bound,
                other => panic!("seed {seed}: {}", other.status()),
            };
            let Some(smaller) = plan_below(&problem, least.0, VISITS) else { continue };
            assert!(smaller.is_none(), "seed {seed}: {} below {least}", smaller.unwrap().extent());
            confirmed += 1;
        }
    }
    assert!(confirmed > cases(400), "{confirmed} were tried out");
}

/// Counts the reports of a search, and ends it when there are far too many.
#[derive(Default)]
struct Reports(AtomicU64);

const TOO_MANY: u64 = 20_000;

impl Observer for Reports {
    fn progress(&self, _: Option<Bytes>, _: Bytes) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn should_stop(&self) -> bool {
        self.0.load(Ordering::Relaxed) > TOO_MANY
    }
}

/// Two buffers are fixed at the same bytes at the same time. Once that is proved there is no smaller plan to look for.
#[test]
fn a_search_without_capacity_ends_with_the_proof_that_there_is_no_plan() {
    let mut builder = ProblemBuilder::new();
    let mut buffer = |name, start, fixed: Option<u64>| {
        builder.buffer(Buffer::new(name, 1, Lifetime::new(start, 2)).with_fixed(fixed.map(Bytes)))
    };
    let [_, victim, taker] = [("a", 1, Some(4)), ("b", 1, Some(4)), ("c", 0, None)].map(|(n, s, f)| buffer(n, s, f));
    builder.overlay(Overlay { buffer: taker, over: victim, kind: OverlayKind::AnyOffset });
    let problem = builder.build().unwrap();
    let reports = Reports::default();
    let request = Request { threads: Some(1), observer: Some(&reports), ..Request::default() };
    let outcome = plan(find("search").unwrap(), &problem, &request).unwrap();
    assert!(matches!(outcome, Outcome::Infeasible(_)), "{}", outcome.status());
    let reports = reports.0.into_inner();
    assert!(reports < 100, "{reports} reports");
}
