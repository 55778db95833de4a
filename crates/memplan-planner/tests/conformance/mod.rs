//! Reading recorded cases and asking strategies about them.

#![allow(dead_code, reason = "each test uses a part of it")]

use memplan_core::{Buffer, Bytes, Id, Interval, Lifetime, Outcome, Plan, Problem, ProblemBuilder, Size, Space};
use memplan_planner::{Assign, Request, find, plan};
use serde_json::Value;

/// A file of the workspace's conformance data.
pub(crate) fn load(name: &str) -> Value {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/conformance").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap()
}

pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or_else(|| panic!("expected a list, found {value}"), Vec::as_slice)
}

pub(crate) fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("expected a number, found {value}"))
}

pub(crate) fn numbers(value: &Value) -> Vec<u64> {
    list(value).iter().map(number).collect()
}

pub(crate) fn size(value: &Value) -> Size {
    match value {
        Value::Array(components) => Size::Shape(components.iter().map(number).collect()),
        bytes => Size::Fixed(Bytes(number(bytes))),
    }
}

/// A builder with one space of that alignment.
pub(crate) fn builder(alignment: u64) -> ProblemBuilder {
    let mut builder = ProblemBuilder::new();
    builder.space(Space { alignment: Bytes(alignment), ..Space::new("default") });
    builder
}

/// A buffer with any size, alive in `[start, end)`.
pub(crate) fn buffer(name: &str, size: Size, start: u64, end: u64) -> Buffer {
    Buffer { size, ..Buffer::new(name, 0, Lifetime::from_iter([Interval::new(start, end)])) }
}

/// The plan of a strategy that has to have one.
pub(crate) fn planned(strategy: &str, problem: &Problem, assign: Assign) -> Plan {
    let outcome = outcome(strategy, problem, assign);
    outcome.plan().unwrap_or_else(|| panic!("{strategy}: {}", outcome.status())).clone()
}

pub(crate) fn outcome(strategy: &str, problem: &Problem, assign: Assign) -> Outcome {
    let request = Request { assign, ..Request::default() };
    let found = find(strategy).unwrap_or_else(|| panic!("no strategy {strategy}"));
    plan(found, problem, &request).unwrap_or_else(|refusal| panic!("{refusal}"))
}

/// The offsets of all buffers in input order.
pub(crate) fn offsets(plan: &Plan) -> Vec<u64> {
    plan.placements.ids().map(|buffer| plan.offset(buffer).unwrap().0).collect()
}

/// The object of every buffer in input order.
pub(crate) fn objects(plan: &Plan) -> Vec<usize> {
    plan.placements.iter().map(|place| place.as_ref().unwrap().object.unwrap().index()).collect()
}
