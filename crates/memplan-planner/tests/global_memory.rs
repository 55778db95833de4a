//! The global-memory allocators against recorded addresses.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod conformance;

use conformance::{buffer, builder, list, load, number, numbers, offsets, planned, size};
use memplan_core::Problem;
use memplan_planner::Assign;
use serde_json::Value;

fn problem_of(tensors: &Value) -> Problem {
    let mut builder = builder(4096);
    for tensor in list(tensors) {
        let name = tensor["name"].as_str().unwrap();
        builder.buffer(buffer(name, size(&tensor["size"]), number(&tensor["start"]), number(&tensor["end"])));
    }
    builder.build().unwrap()
}

#[test]
fn allocator_cases() {
    for case in list(&load("gmem.json")["allocator_cases"]) {
        let problem = problem_of(&case["tensors"]);
        for (recorded, strategy) in [("fit_first", "stretch-largest"), ("op_size_order", "size-order")] {
            let plan = planned(strategy, &problem, Assign::Offsets);
            assert_eq!(offsets(&plan), numbers(&case[recorded]["addr"]), "{} {strategy}", case["name"]);
            assert_eq!(plan.extent().0, number(&case[recorded]["total"]), "{} {strategy}", case["name"]);
        }
    }
}
