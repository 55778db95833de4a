//! The global-memory allocators against recorded addresses.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod conformance;

use std::collections::BTreeMap;

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

/// A documented case as a problem: one buffer for each result, results of a
/// reshape folded into what they alias. An op's operands are free for the next op
/// if it is the last reader and has results of its own; else nothing frees them.
fn documented_problem(ops: &Value) -> (Problem, BTreeMap<String, String>) {
    let ops = list(ops);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut alias_of: BTreeMap<String, String> = BTreeMap::new();
    let mut lives: Vec<(String, u64, u64, u64)> = Vec::new();
    let forever = ops.len() as u64 + 1;
    for (step, op) in ops.iter().enumerate() {
        for result in list(&op[3]) {
            let name = text(&result[0]);
            if op[1] == "reshape" {
                let source = alias_of[&text(&op[2][0])].clone();
                alias_of.insert(name, source);
            } else {
                alias_of.insert(name.clone(), name.clone());
                lives.push((name, number(&result[1]), step as u64, forever));
            }
        }
    }
    for life in &mut lives {
        let reads = |op: &Value| list(&op[2]).iter().any(|operand| alias_of[&text(operand)] == life.0);
        let last = ops.iter().enumerate().rfind(|(_, op)| reads(op));
        if let Some((step, _)) = last.filter(|(_, op)| op[1] == "normal") {
            life.3 = step as u64 + 1;
        }
    }
    let mut builder = builder(4096);
    for (name, bytes, start, end) in &lives {
        builder.buffer(buffer(name, size(&Value::from(*bytes)), *start, *end));
    }
    (builder.build().unwrap(), alias_of)
}

#[test]
fn documented_cases() {
    for case in list(&load("gmem.json")["documented_algorithm_cases"]) {
        let (problem, alias_of) = documented_problem(&case["ops"]);
        let plan = planned("end-of-life", &problem, Assign::Offsets);
        let names = problem.buffers().iter().map(|buffer| buffer.name.to_string());
        let address: BTreeMap<String, u64> = names.zip(offsets(&plan)).collect();
        let same = case["addr"].as_object().unwrap().iter().all(|(name, at)| address[&alias_of[name]] == number(at));
        if case["unsound"] == true {
            assert_ne!(address["D"], address["X"], "X is still to be read when D is written");
            assert!(!same);
        } else {
            assert!(same, "{}: {address:?}", case["id"]);
            assert_eq!(plan.extent().0, number(&case["total"]), "{}", case["id"]);
        }
    }
}
