//! Recorded sizes and lives of the original's kernels as problems: ours lie side
//! by side where the original's do, in the same bytes, and never need more.

use memplan_core::{Buffer, BufferId, Bytes, Id, Lifetime, Outcome, ProblemBuilder, Space, SpaceId};
use memplan_planner::Request;
use memplan_planner::strategy::levels::{self, Mode, Order};
use memplan_verify::packing;
use serde_json::Value;

/// Capacity and alignment of a memory.
fn scope(target: &str, name: &str) -> (u64, u64) {
    let device = memplan_mlir::pass::plan_memory::Target::built_in(target).unwrap();
    let scope = device.scope(&format!("#hivm.address_space<{name}>")).unwrap().clone();
    (scope.capacity.unwrap(), scope.alignment)
}

#[test]
fn recorded_problems_are_planned_as_well_as_they_were() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/conformance/plan-memory.json");
    let cases: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut sequential = 0;
    let mut shared = 0;
    for case in &cases {
        let Some(casts) = case["casts_in_print_order"].as_array() else { continue };
        for plan in case["plan"].as_array().unwrap() {
            let name = plan[0].as_str().unwrap();
            // In the memory of the other core: its owner decides.
            let core = case["core"].as_str();
            if matches!((core, name), (Some("AIC"), "ub") | (Some("AIV"), "cbuf")) {
                continue;
            }
            let here = |cast: &&Value| cast["space"] == *name && cast["life"].is_array();
            let casts: Vec<&Value> = casts.iter().filter(here).collect();
            if compare(case, name, plan[1] == "sequential", &casts) {
                sequential += 1;
            } else {
                shared += 1;
            }
        }
    }
    assert!(sequential > 100 && shared >= 10, "{sequential} and {shared}");
}

/// Whether a space was filled side by side.
fn compare(case: &Value, name: &str, sequential: bool, casts: &[&Value]) -> bool {
    let (capacity, alignment) = scope(case["target"].as_str().unwrap(), name);
    let number = |value: &Value| value.as_i64().unwrap();
    let offsets = |cast: &Value| -> Vec<u64> {
        cast["offsets"].as_array().unwrap().iter().map(|offset| offset.as_u64().unwrap()).collect()
    };
    let last = casts.iter().map(|cast| number(&cast["life"][1])).max().unwrap_or(0) + 1;
    let mut builder = ProblemBuilder::new();
    let space = Space { capacity: Some(Bytes(capacity)), alignment: Bytes(alignment), ..Space::new(name) };
    builder.space(space);
    let mut extent = 0;
    for (at, cast) in casts.iter().enumerate() {
        let (start, end) = (number(&cast["life"][0]), number(&cast["life"][1]));
        // Never killed: to the end.
        let end = if end < 0 { last } else { end };
        let bytes = cast["bytes"].as_u64().unwrap();
        // Those with one address are one entry, with the slots of its widest member.
        let same = |other: &&&Value| offsets(other) == offsets(cast);
        let slots = casts.iter().filter(same).map(|other| other["multi_buffer"].as_u64().unwrap()).max().unwrap_or(1);
        let lifetime = Lifetime::new(start as u64, end as u64 + 1);
        let buffer = Buffer::new(format!("{at}"), bytes, lifetime);
        let id = builder.buffer(Buffer { slots: slots as u32, ..buffer });
        let first =
            casts[..at].iter().position(|other| offsets(other) == offsets(cast) && together(other, cast, sequential));
        if let Some(first) = first {
            builder.must_share(BufferId::from_index(first), id);
        }
        let ends = offsets(cast).into_iter().map(|offset| offset + bytes.next_multiple_of(alignment));
        extent = ends.max().unwrap_or(0).max(extent);
    }
    let Ok(problem) = builder.build() else { return sequential };
    let (outcome, report) = levels::plan(&problem, Order::Start, &Request::default());
    let (Outcome::Optimal(plan) | Outcome::Feasible { plan, .. }) = outcome else {
        panic!("no plan for {}", case["func"]);
    };
    assert_eq!(packing::check(&problem, &plan), [], "{}", case["func"]);
    let ours = plan.extents[SpaceId::from_index(0)].0.next_multiple_of(alignment);
    assert!(ours <= extent, "{}: {ours} instead of {extent}", case["func"]);
    if sequential {
        assert_eq!(
            report.spaces.first().map_or(Mode::Sequential, |row| row.mode),
            Mode::Sequential,
            "{}",
            case["func"]
        );
        assert_eq!(ours, extent, "{}", case["func"]);
    }
    sequential
}

/// Whether two buffers with one address were made one: always where nothing
/// else shares, else if the one begins where the other ends.
fn together(one: &Value, other: &Value, sequential: bool) -> bool {
    let touch = one["life"][1] == other["life"][0] || one["life"][0] == other["life"][1];
    sequential || touch
}
