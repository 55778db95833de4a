//! `search` against OR-tools CP-SAT on problems with alignments, gaps, fixed
//! offsets, windows, slots and exclusive buffers; and with prices for reuse within a capacity.
#![allow(clippy::unwrap_used, reason = "a test")]
#![allow(clippy::print_stderr, reason = "says what was skipped")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use memplan_core::{Buffer, BufferId, Bytes, Id, Interval, Outcome, Problem, ProblemBuilder, ReuseCost, Space, Window};
use memplan_planner::{Request, find, plan};
use memplan_testkit::{Random, peers};

const PEER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/peers/cp_sat_peer.py");
const PROBLEMS: u64 = 200;

/// Four to `most` buffers; some have gaps, alignments or (disjoint) fixed offsets. Every
/// other problem also has windows, slots and exclusive buffers.
fn problem(seed: u64, most: u64) -> Problem {
    let is_special = !seed.is_multiple_of(2);
    let mut random = Random::new(seed);
    let mut builder = ProblemBuilder::new();
    let mut above = 0;
    for index in 0..random.between(4, most) {
        let start = random.below(12);
        let first = Interval::new(start, start + random.between(1, 6));
        let second = first.end.0 + random.between(1, 4);
        let mut stretches = [first, Interval::new(second, second + random.between(1, 4))];
        let count = if random.one_in(3) { 2 } else { 1 };
        let size = random.between(1, 40);
        if is_special && random.one_in(3) {
            let low = random.below(size);
            let window = Window { low: Bytes(low), high: Bytes(random.between(low + 1, size)) };
            stretches[random.below(2) as usize].window = Some(window);
        }
        let mut buffer = Buffer::new(format!("b{index}"), size, stretches.into_iter().take(count).collect());
        if random.one_in(3) {
            buffer.alignment = Bytes(1 << random.between(1, 4));
        }
        if random.one_in(8) {
            let offset = u64::next_multiple_of(above + random.below(8), buffer.alignment.0);
            above = offset + buffer.bytes().unwrap().0;
            buffer.set_fixed(Some(Bytes(offset)));
        }
        if is_special && buffer.fixed().is_none() && random.one_in(6) {
            buffer.slots = 2;
        }
        buffer.exclusive = is_special && random.one_in(8);
        builder.buffer(buffer);
    }
    builder.build().unwrap()
}

fn to_json(problem: &Problem) -> serde_json::Value {
    let buffer = |buffer: &Buffer| {
        let size = buffer.bytes().unwrap();
        let stretches = buffer.lifetime.intervals().map(|interval| {
            let bytes = interval.bytes(size);
            [interval.start.0, interval.end.0, bytes.low.0, bytes.high.0]
        });
        serde_json::json!({
            "size": size.0,
            "slots": buffer.slots,
            "exclusive": buffer.exclusive,
            "alignment": buffer.alignment.0,
            "fixed": buffer.fixed().map(|offset| offset.0),
            "lifetime": stretches.collect::<Vec<_>>(),
        })
    };
    let pairs = problem.must_not_share().iter().map(|pair| [pair.0.index(), pair.1.index()]);
    let costs = problem.reuse_costs().iter().map(|cost| (cost.one.index(), cost.other.index(), cost.weight));
    serde_json::json!({
        "buffers": problem.buffers().iter().map(buffer).collect::<Vec<_>>(),
        "capacity": problem.spaces().iter().find_map(|space| space.capacity).map(|capacity| capacity.0),
        "apart": pairs.collect::<Vec<_>>(),
        "costs": costs.collect::<Vec<_>>(),
    })
}

/// The same kind of problem within little more or less than its peak, some buffers kept apart, and prices for many
/// pairs.
fn problem_with_costs(seed: u64) -> Problem {
    let mut random = Random::new(seed ^ 0x5eed);
    let bare = problem(seed, 7);
    let mut builder = bare.to_builder();
    let needed = memplan_core::bound::lower_bound(&bare).0;
    let capacity = Some(Bytes(needed + needed * random.below(60) / 100));
    if builder.spaces_mut().is_empty() {
        builder.space(Space { capacity, ..Space::new("default") });
    } else {
        builder.spaces_mut().iter_mut().for_each(|space| space.capacity = capacity);
    }
    let count = bare.buffers().len();
    for one in 0..count {
        for other in 0..one {
            let [one, other] = [one, other].map(BufferId::from_index);
            match random.below(12) {
                0 => builder.must_not_share(one, other),
                1..=6 => builder.reuse_cost(ReuseCost { one, other, weight: random.between(1, 5) }),
                _ => {}
            }
        }
    }
    builder.build().unwrap()
}

/// A Python with OR-tools, if there is one.
fn start_peer() -> Option<Child> {
    let python = peers::python("ortools")?;
    Command::new(python).arg(PEER).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()
}

#[test]
fn as_small_as_cp_sat() {
    let Some(mut peer) = start_peer() else { return };
    let mut questions = peer.stdin.take().unwrap();
    let mut answers = BufReader::new(peer.stdout.take().unwrap()).lines();
    let search = find("search").unwrap();
    for seed in 0..PROBLEMS {
        let problem = problem(seed, 14);
        writeln!(questions, "{}", to_json(&problem)).unwrap();
        let answer: serde_json::Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
        let request = Request { work_limit: Some(2_000_000), ..Request::default() };
        match plan(search, &problem, &request).unwrap() {
            Outcome::Optimal(plan) => assert_eq!(answer["extent"], plan.extent().0, "problem {seed}"),
            other => panic!("problem {seed}: {} where CP-SAT says {answer}", other.status()),
        }
    }
    drop(questions);
    peer.wait().unwrap();
}

/// The least cost is found and proved on every problem, and where the plan is called optimal it is also the smallest.
#[test]
fn as_cheap_as_cp_sat() {
    let Some(mut peer) = start_peer() else { return };
    let mut questions = peer.stdin.take().unwrap();
    let mut answers = BufReader::new(peer.stdout.take().unwrap()).lines();
    let search = find("search").unwrap();
    let (mut costly, mut smallest, mut impossible) = (0, 0, 0);
    let count = if std::env::var_os("MEMPLAN_FULL").is_some() { 5_000 } else { PROBLEMS };
    for seed in 0..count {
        let problem = problem_with_costs(seed);
        writeln!(questions, "{}", to_json(&problem)).unwrap();
        let answer: serde_json::Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
        let request = Request { work_limit: Some(2_000_000), ..Request::default() };
        let outcome = plan(search, &problem, &request).unwrap();
        let Some(plan) = outcome.plan() else {
            assert!(matches!(outcome, Outcome::Infeasible(_)), "problem {seed}: {answer}");
            assert_eq!(answer, serde_json::json!({ "extent": null }), "problem {seed}");
            impossible += 1;
            continue;
        };
        let cost = plan.cost.map_or((0, 0), |cost| (cost.total, cost.lower_bound));
        assert_eq!(answer["cost"], cost.0, "problem {seed}");
        assert_eq!(cost.0, cost.1, "problem {seed} has no proof");
        costly += u64::from(cost.0 > 0);
        if matches!(outcome, Outcome::Optimal(_)) {
            assert_eq!(answer["extent"], plan.extent().0, "problem {seed}");
            smallest += 1;
        }
    }
    eprintln!("{costly} cost something, {smallest} proved to be smallest, {impossible} impossible, of {count}");
    assert!(costly * 4 > count, "{costly}");
    drop(questions);
    peer.wait().unwrap();
}
