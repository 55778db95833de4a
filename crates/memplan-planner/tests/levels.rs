//! The `levels` strategy: the document's examples, and small on-chip problems.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use memplan_core::{
    Buffer, BufferId, Bytes, Id, IndexVec, Lifetime, Outcome, Overlay, OverlayKind, Plan, Problem, ProblemBuilder,
    Space,
};
use memplan_planner::Request;
use memplan_planner::strategy::levels::{self, Level, Mode, Order, Report};
use memplan_verify::packing;

struct Kernel {
    builder: ProblemBuilder,
    names: Vec<&'static str>,
}

impl Kernel {
    fn new(capacity: u64) -> Kernel {
        let mut builder = ProblemBuilder::new();
        let capacity = Some(Bytes(capacity));
        builder.space(Space { capacity, alignment: Bytes(32), ..Space::new("ub") });
        Kernel { builder, names: Vec::new() }
    }

    /// A buffer of the loop that everything is in.
    fn buffer(mut self, name: &'static str, size: u64, life: (u64, u64), slots: u32, pipe: &str) -> Kernel {
        let mut buffer = Buffer { slots, ..Buffer::new(name, size, Lifetime::new(life.0, life.1 + 1)) };
        buffer.set_pipe(Some(pipe));
        buffer.set_enclosing_loop(Some("i"));
        self.builder.buffer(buffer);
        self.names.push(name);
        self
    }

    fn plan(self, order: Order) -> (Problem, Outcome, Report) {
        let problem = self.builder.build().unwrap();
        let (outcome, report) = levels::plan(&problem, order, &Request::default());
        if let Some(plan) = plan_of(&outcome) {
            assert_eq!(packing::check(&problem, plan), []);
        }
        (problem, outcome, report)
    }
}

fn plan_of(outcome: &Outcome) -> Option<&Plan> {
    match outcome {
        Outcome::Optimal(plan) | Outcome::Feasible { plan, .. } => Some(plan),
        _ => None,
    }
}

fn offsets(outcome: &Outcome) -> Vec<Vec<u64>> {
    let plan = plan_of(outcome).expect("a plan");
    let list = |index: usize| plan.placements[BufferId::from_index(index)].as_ref().unwrap().offsets.clone();
    (0..plan.placements.len()).map(|index| list(index).iter().map(|offset| offset.0).collect()).collect()
}

fn levels(report: &Report) -> Vec<Option<Level>> {
    let list: &IndexVec<BufferId, Option<Level>> = &report.levels;
    list.iter().copied().collect()
}

/// op1 fills A by DMA, op2 and op3 use B and C on the vector pipe, op4 sends D off.
fn document(capacity: u64, c: u64) -> Kernel {
    Kernel::new(capacity)
        .buffer("A", 64, (1, 2), 2, "mte2")
        .buffer("B", 64, (2, 3), 1, "vector")
        .buffer("C", c, (4, 5), 1, "vector")
        .buffer("D", 64, (5, 6), 2, "mte3")
}

#[test]
fn enough_memory_is_used_side_by_side() {
    let (_, outcome, report) = document(384, 64).plan(Order::Start);
    assert_eq!(offsets(&outcome), [vec![0, 256], vec![64], vec![128], vec![192, 320]]);
    assert_eq!(report.spaces[0].mode, Mode::Sequential);
    assert_eq!(levels(&report), [None; 4]);
}

#[test]
fn level2_puts_c_on_b_because_both_are_vector_buffers() {
    let (_, outcome, report) = document(320, 64).plan(Order::Start);
    let offsets = offsets(&outcome);
    assert_eq!(offsets[2], offsets[1], "C reuses B");
    assert_eq!(offsets, [vec![0, 64], vec![256], vec![256], vec![128, 192]]);
    assert_eq!(report.spaces[0].mode, Mode::Pipe);
    assert_eq!(report.crossings, []);
}

#[test]
fn level1_gives_c_both_slots_of_a() {
    // D and B leave no room, and C lives too long for B's bytes.
    let kernel = Kernel::new(320)
        .buffer("A", 64, (1, 2), 2, "mte2")
        .buffer("B", 64, (2, 5), 1, "vector")
        .buffer("C", 64, (4, 5), 1, "vector")
        .buffer("D", 64, (5, 6), 2, "mte3");
    let (problem, outcome, report) = kernel.plan(Order::Start);
    let offsets = offsets(&outcome);
    assert_eq!(offsets[2], offsets[0], "C has both slots of A");
    assert_eq!(levels(&report)[2], Some(Level::Slots));
    assert_eq!(report.spaces[0].without_crossing, Some(Bytes(384)));
    assert_eq!(report.crossings.len(), 1, "C waits for A's DMA");
    let derived = levels::levels_of(&problem, plan_of(&outcome).unwrap());
    assert_eq!(derived.into_vec(), [None, None, Some(Level::Slots), None], "as anybody can see from the plan");
}

/// The levels of a plan follow from its offsets, whichever strategy made it.
#[test]
fn the_levels_of_any_plan() {
    let of = |loops: [Option<&str>; 2], pipes: [&str; 2]| {
        let mut kernel = Kernel::new(128).buffer("A", 64, (1, 2), 1, pipes[0]).buffer("B", 64, (2, 4), 1, pipes[1]);
        for (buffer, around) in kernel.builder.buffers_mut().iter_mut().zip(loops) {
            buffer.set_enclosing_loop(around);
        }
        let problem = kernel.builder.build().unwrap();
        let mut plan = memplan_core::Plan::empty(&problem);
        for placement in plan.placements.iter_mut() {
            *placement = Some(memplan_core::Placement::at(memplan_core::Id::from_index(0), Bytes(0)));
        }
        levels::levels_of(&problem, &plan).into_vec()
    };
    assert_eq!(of([None, None], ["vector", "vector"]), [None, Some(Level::Pipe)]);
    assert_eq!(of([Some("i"), Some("j")], ["mte2", "vector"]), [None, Some(Level::Loop)]);
    assert_eq!(of([Some("i"), Some("i")], ["mte2", "vector"]), [None, Some(Level::Lives)]);
}

#[test]
fn level0_takes_whatever_lives_are_apart() {
    let (_, outcome, report) = Kernel::new(128)
        .buffer("A", 64, (1, 2), 1, "mte2")
        .buffer("B", 64, (2, 4), 1, "vector")
        .buffer("D", 64, (4, 5), 1, "mte3")
        .plan(Order::Start);
    assert_eq!(report.spaces[0].mode, Mode::Levels);
    assert_eq!(levels(&report).iter().min(), Some(&Some(Level::Lives)));
    assert_eq!(plan_of(&outcome).unwrap().extent(), Bytes(128));
}

#[test]
fn placements_that_stand_in_the_way_are_taken_back() {
    let mut kernel = Kernel::new(196_608)
        .buffer("A", 55_456, (3, 7), 2, "mte2")
        .buffer("M", 52_000, (7, 11), 1, "vector")
        .buffer("B", 57_600, (11, 12), 2, "mte3");
    kernel.builder.buffers_mut().iter_mut().for_each(|buffer| buffer.set_enclosing_loop(None));
    let (_, outcome, report) = kernel.plan(Order::Start);
    assert_eq!(offsets(&outcome), [vec![0, 55_456], vec![115_200], vec![0, 57_600]]);
    assert_eq!(report.spaces[0].rollbacks, 2);
    assert_eq!(report.spaces[0].without_crossing, Some(Bytes(278_112)));
}

/// `new` may lie on `old`, but not on `side`, which must share with `old` and is alive when `new` is computed. A plan in
/// which all three have one address is wrong, and in 64 bytes there is no other one.
#[test]
fn an_overlay_does_not_permit_to_lie_on_what_shares_with_its_victim() {
    for (side_may_be_taken, extent) in [(false, None), (true, Some(64))] {
        let mut kernel = Kernel::new(64)
            .buffer("old", 64, (0, 4), 1, "vector")
            .buffer("side", 64, (3, 4), 1, "vector")
            .buffer("new", 64, (4, 8), 1, "vector");
        let [old, side, new] = [0, 1, 2].map(BufferId::from_index);
        kernel.builder.must_share(old, side);
        kernel.builder.overlay(Overlay { buffer: new, over: old, kind: OverlayKind::SameBase });
        if side_may_be_taken {
            kernel.builder.overlay(Overlay { buffer: new, over: side, kind: OverlayKind::SameBase });
        }
        let (_, outcome, _) = kernel.plan(Order::Start);
        assert_eq!(plan_of(&outcome).map(|plan| plan.extents.iter().map(|extent| extent.0).sum::<u64>()), extent);
        assert_eq!(matches!(outcome, Outcome::Infeasible(_)), extent.is_none());
    }
}

#[test]
fn what_does_not_fit_is_said_with_the_bytes_it_takes() {
    let (_, outcome, report) =
        Kernel::new(100).buffer("A", 64, (1, 3), 1, "vector").buffer("B", 64, (2, 4), 1, "vector").plan(Order::Start);
    assert!(matches!(outcome, Outcome::Infeasible(_)));
    assert_eq!(report.spaces[0].mode, Mode::Failed);
    assert_eq!(report.spaces[0].required, Some(Bytes(128)));
}

#[test]
fn a_slot_at_offset_zero_is_a_slot() {
    let (_, outcome, _) =
        Kernel::new(128).buffer("A", 64, (1, 2), 2, "mte2").buffer("C", 64, (3, 4), 1, "vector").plan(Order::Start);
    assert_eq!(offsets(&outcome), [vec![0, 64], vec![0, 64]]);
}

#[test]
fn upgrades_stay_within_the_capacity() {
    let kernel =
        || {
            Kernel::new(524_288)
                .buffer("A", 204_800, (1, 2), 2, "mte2")
                .buffer("B", 204_800, (3, 4), 1, "vector")
                .buffer("D", 204_800, (5, 6), 1, "mte3")
        };
    for order in [Order::Start, Order::LargestFirst] {
        let (_, outcome, _) = kernel().plan(order);
        assert!(offsets(&outcome).iter().flatten().all(|offset| offset + 204_800 <= 524_288));
    }
}

/// Search nodes within which each small problem is decided: far less than a second's worth.
const LITTLE: u64 = 20_000;

/// The recorded small problems at several capacities: each is placed, or proved
/// impossible, with a deterministic and small amount of work.
#[test]
fn small_problems_are_placed_or_proved_impossible() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/npu24.jsonl")).unwrap();
    let request = Request { work_limit: Some(LITTLE), ..Request::default() };
    let mut placed = [0; 3];
    let mut impossible = [0; 3];
    for line in text.lines() {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        let peak = record["peak"].as_u64().unwrap();
        for (at, percent) in [100, 105, 110].into_iter().enumerate() {
            let problem = npu24(&record, peak * percent / 100);
            let (outcome, _) = levels::plan(&problem, Order::Start, &request);
            match &outcome {
                Outcome::Optimal(plan) | Outcome::Feasible { plan, .. } => {
                    assert_eq!(packing::check(&problem, plan), []);
                    placed[at] += 1;
                }
                Outcome::Infeasible(_) => impossible[at] += 1,
                Outcome::Exhausted { .. } => panic!("undecided: {} at {percent} %", record["id"]),
            }
        }
    }
    println!("placed {placed:?}, impossible {impossible:?}");
    assert_eq!(placed.iter().zip(impossible).map(|(one, other)| one + other).collect::<Vec<_>>(), [200; 3]);
    assert!(placed[0] >= 195 && placed[1] >= 199 && placed[2] == 200, "{placed:?}");
}

fn npu24(record: &serde_json::Value, capacity: u64) -> Problem {
    let mut builder = ProblemBuilder::new();
    let alignment = Bytes(record["alignment"].as_u64().unwrap());
    builder.space(Space { capacity: Some(Bytes(capacity)), alignment, ..Space::new("ub") });
    for buffer in record["buffers"].as_array().unwrap() {
        let number = |value: &serde_json::Value| value.as_u64().unwrap();
        let life = &buffer["lifetime"][0];
        let lifetime = Lifetime::new(number(&life[0]), number(&life[1]));
        builder.buffer(Buffer::new(buffer["id"].as_str().unwrap(), number(&buffer["size"]), lifetime));
    }
    builder.build().unwrap()
}

/// Sizes of which sums could overflow are none of the levels' business, and neither are alignments without a common
/// multiple. The search places them.
#[test]
fn gigantic_buffers_are_left_to_the_search() {
    let sizes = [(1 << 57, 1), (1 << 57, 1 << 20), (3, 1 << 58)];
    for ((one, alignment), (other, other_alignment)) in sizes.into_iter().flat_map(|a| sizes.map(|b| (a, b))) {
        for capacity in [None, Some(Bytes(1 << 59))] {
            let mut builder = ProblemBuilder::new();
            builder.space(Space { capacity, ..Space::new("memory") });
            let mut buffer = |name, size, alignment| {
                let buffer = Buffer::new(name, size, Lifetime::new(0, 1));
                builder.buffer(Buffer { alignment: Bytes(alignment), ..buffer })
            };
            buffer("one", one, alignment);
            buffer("other", other, other_alignment);
            let problem = builder.build().unwrap();
            let (outcome, report) = levels::plan(&problem, Order::Start, &Request::default());
            assert_eq!(report.spaces[0].mode, Mode::Search);
            assert_eq!(packing::check(&problem, plan_of(&outcome).expect("a plan")), []);
        }
    }
}

/// A block lives when any of its members does, in whatever order they come.
#[test]
fn a_block_lives_as_long_as_its_members() {
    let mut kernel = Kernel::new(64);
    for (name, life) in [("a", (0, 1)), ("b", (6, 7)), ("c", (1, 2)), ("d", (8, 9))] {
        kernel = kernel.buffer(name, 32, life, 1, "vector");
    }
    let ids = [0, 1, 2, 3].map(BufferId::from_index);
    for id in &ids[1..] {
        kernel.builder.must_share(ids[0], *id);
    }
    // One fits between the lives of the block, the other does not.
    let kernel = kernel.buffer("between", 32, (3, 5), 1, "vector").buffer("across", 32, (5, 8), 1, "vector");
    let (_, outcome, report) = kernel.plan(Order::Start);
    assert_eq!(report.spaces[0].mode, Mode::Pipe);
    assert_eq!(offsets(&outcome), [vec![0], vec![0], vec![0], vec![0], vec![0], vec![32]]);
}
