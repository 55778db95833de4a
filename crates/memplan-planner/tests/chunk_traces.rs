//! The chunk planner against recorded traces, with and without in-place hints.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod conformance;

use std::collections::BTreeMap;

use conformance::{buffer, builder, list, load, number, numbers, planned};
use memplan_core::{BufferId, Bytes, Id, Overlay, OverlayKind, Plan, Problem, Size};
use memplan_planner::Assign;
use memplan_verify::packing;
use serde_json::Value;

/// A trace as a problem: the number of an event is its step. Also the names by position.
fn problem_of(case: &Value) -> (Problem, Vec<String>) {
    let events = list(&case["trace"]);
    let mut names: Vec<String> = Vec::new();
    let mut lives: Vec<(u64, u64, u64)> = Vec::new();
    for (step, event) in events.iter().enumerate() {
        let (name, bytes) = (event[0].to_string(), number(&event[1]));
        if bytes > 0 {
            names.push(name);
            lives.push((bytes, step as u64, events.len() as u64));
        } else {
            let position = names.iter().position(|other| *other == name).unwrap();
            lives[position].2 = step as u64;
        }
    }
    let mut builder = builder(number(&case["align"]));
    for (name, &(bytes, start, end)) in names.iter().zip(&lives) {
        builder.buffer(buffer(name, Size::Fixed(Bytes(bytes)), start, end));
    }
    let id = |name: &str| BufferId::from_index(names.iter().position(|other| other == name).unwrap());
    for (name, hints) in case.get("inplace").and_then(Value::as_object).into_iter().flatten() {
        for hint in list(hints) {
            let kind = if hint[1] == "Z" { OverlayKind::SameBase } else { OverlayKind::AnyOffset };
            builder.overlay(Overlay { buffer: id(name), over: id(&hint[0].to_string()), kind });
        }
    }
    (builder.build().unwrap(), names)
}

fn offsets_by_name(plan: &Plan, names: &[String]) -> BTreeMap<String, u64> {
    let offset = |position: usize| plan.offset(BufferId::from_index(position)).unwrap().0;
    names.iter().enumerate().map(|(position, name)| (name.clone(), offset(position))).collect()
}

fn expected_offsets(value: &Value) -> BTreeMap<String, u64> {
    value.as_object().unwrap().iter().map(|(name, offset)| (name.clone(), number(offset))).collect()
}

#[test]
fn traces() {
    for case in list(&load("merge-alloc-traces.json")) {
        let (problem, names) = problem_of(case);
        for (recorded, strategy) in [("size_first", "chunk-size-first"), ("cost_model", "chunk-hot")] {
            let plan = planned(strategy, &problem, Assign::Offsets);
            let expected = &case[recorded];
            assert_eq!(plan.extent().0, number(&expected["total"]), "{} {strategy}", case["name"]);
            let expected = expected_offsets(&expected["offsets"]);
            assert_eq!(offsets_by_name(&plan, &names), expected, "{} {strategy}", case["name"]);
        }
    }
}

#[test]
fn in_place_traces() {
    for (number_of_case, case) in list(&load("merge-alloc-inplace.json")).iter().enumerate() {
        let (problem, names) = problem_of(case);
        let strategy = if case["cost_model"] == true { "chunk-hot" } else { "chunk-size-first" };
        let plan = planned(strategy, &problem, Assign::Offsets);
        // Later entries are takeovers; an earlier one says what is covered besides.
        let reused: BTreeMap<String, Vec<u64>> = plan
            .reused
            .iter()
            .map(|reuse| {
                let over = reuse.over.iter().map(|over| names[over.index()].parse().unwrap()).collect();
                (names[reuse.buffer.index()].clone(), over)
            })
            .collect();
        let expected_reused: BTreeMap<String, Vec<u64>> =
            case["reused"].as_object().unwrap().iter().map(|(name, over)| (name.clone(), numbers(over))).collect();
        assert_eq!(reused, expected_reused, "case {number_of_case} {strategy}");
        assert_eq!(packing::check(&problem, &plan), [], "case {number_of_case} {strategy}");
        assert_eq!(plan.extent().0, number(&case["total"]), "case {number_of_case} {strategy}");
        assert_eq!(offsets_by_name(&plan, &names), expected_offsets(&case["offsets"]), "case {number_of_case}");
    }
}
