//! `search` against OR-tools CP-SAT on problems with alignments, gaps, fixed
//! offsets, windows, slots and exclusive buffers.
#![allow(clippy::unwrap_used, reason = "a test")]
#![allow(clippy::print_stderr, reason = "says what was skipped")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use memplan_core::{Buffer, Bytes, Interval, Outcome, Problem, ProblemBuilder, Window};
use memplan_planner::{Request, find, plan};
use memplan_testkit::Random;

const PEER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/peers/cp_sat_peer.py");
const PROBLEMS: u64 = 200;

/// Up to 14 buffers; some have gaps, alignments or (disjoint) fixed offsets. Every
/// other problem also has windows, slots and exclusive buffers.
fn problem(seed: u64) -> Problem {
    let is_special = !seed.is_multiple_of(2);
    let mut random = Random::new(seed);
    let mut builder = ProblemBuilder::new();
    let mut above = 0;
    for index in 0..random.between(4, 14) {
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
            buffer.fixed = Some(Bytes(offset));
        }
        if is_special && buffer.fixed.is_none() && random.one_in(6) {
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
        let stretches = buffer.lifetime.intervals().iter().map(|interval| {
            let bytes = interval.bytes(size);
            [interval.start.0, interval.end.0, bytes.low.0, bytes.high.0]
        });
        serde_json::json!({
            "size": size.0,
            "slots": buffer.slots,
            "exclusive": buffer.exclusive,
            "alignment": buffer.alignment.0,
            "fixed": buffer.fixed.map(|offset| offset.0),
            "lifetime": stretches.collect::<Vec<_>>(),
        })
    };
    serde_json::json!({ "buffers": problem.buffers().iter().map(buffer).collect::<Vec<_>>() })
}

/// A Python with OR-tools, if there is one.
fn start_peer() -> Option<Child> {
    let python = std::env::var("MEMPLAN_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has_it = Command::new(&python).args(["-c", "import ortools"]).stderr(Stdio::null()).status();
    if !has_it.is_ok_and(|status| status.success()) {
        assert!(std::env::var_os("MEMPLAN_REQUIRE_PEERS").is_none(), "OR-tools is required but missing");
        eprintln!("skipped: needs Python with ortools");
        return None;
    }
    Command::new(python).arg(PEER).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()
}

#[test]
fn as_small_as_cp_sat() {
    let Some(mut peer) = start_peer() else { return };
    let mut questions = peer.stdin.take().unwrap();
    let mut answers = BufReader::new(peer.stdout.take().unwrap()).lines();
    let search = find("search").unwrap();
    for seed in 0..PROBLEMS {
        let problem = problem(seed);
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
