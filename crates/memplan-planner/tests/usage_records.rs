//! The usage-record strategies against recorded answers.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod conformance;

use conformance::{buffer, builder, list, load, number, numbers, offsets, planned, size};
use memplan_core::bound::{lower_bound, positional_maxima, task_profiles};
use memplan_core::{BufferId, Dependencies, Id, IndexVec, Problem, Size};
use memplan_planner::strategy::reallocation::reallocation_graph;
use memplan_planner::{Assign, Feature, Refusal, Request, STRATEGIES, find, objects_to_offsets, plan};
use serde_json::Value;

const STRATEGY_NAMES: [(&str, &str); 8] = [
    ("NAIVE", "naive"),
    ("EQUALITY", "equality"),
    ("EQUALITY_LINEAR", "equality-linear"),
    ("GREEDY_IN_ORDER", "greedy-in-order"),
    ("GREEDY_BY_BREADTH", "greedy-by-breadth"),
    ("GREEDY_BY_SIZE", "greedy-by-size"),
    ("GREEDY_BEST", "greedy-best"),
    ("MINCOSTFLOW", "min-cost-flow"),
];

fn strategy_of(original: &str) -> &'static str {
    STRATEGY_NAMES.iter().find(|(name, _)| *name == original).unwrap_or_else(|| panic!("unknown {original}")).1
}

fn problem_of(records: &Value, alignment: u64, dependencies: Option<Dependencies>) -> Problem {
    let mut builder = builder(alignment);
    for (index, record) in list(records).iter().enumerate() {
        let (first, last) = (number(&record[1]), number(&record[2]));
        builder.buffer(buffer(&index.to_string(), size(&record[0]), first, last + 1));
    }
    if let Some(dependencies) = dependencies {
        builder.dependencies(dependencies);
    }
    builder.build().unwrap()
}

fn dependencies_of(graph: &Value) -> Dependencies {
    let children = |list: &Value| numbers(list).iter().map(|&index| BufferId::from_index(index as usize)).collect();
    Dependencies { children: list(graph).iter().map(children).collect(), read_by_outputs: Vec::new() }
}

fn expect_objects(case: &str, strategy: &str, problem: &Problem, expected: &Value) {
    let plan = planned(strategy, problem, Assign::Objects);
    let ids: Vec<u64> =
        plan.placements.iter().map(|place| place.as_ref().unwrap().object.unwrap().index() as u64).collect();
    let sizes: Vec<Size> = plan.objects.iter().map(|object| object.size.clone()).collect();
    let expected_sizes: Vec<Size> = list(&expected["object_sizes"]).iter().map(size).collect();
    assert_eq!(ids, numbers(&expected["object_ids"]), "{case} {strategy}");
    assert_eq!(sizes, expected_sizes, "{case} {strategy}");
}

fn expect_offsets(case: &str, strategy: &str, problem: &Problem, expected: &Value) {
    let plan = planned(strategy, problem, Assign::Offsets);
    assert_eq!(offsets(&plan), numbers(&expected["offsets"]), "{case} {strategy}");
    assert_eq!(plan.extent().0, number(&expected["total_size"]), "{case} {strategy}");
}

#[test]
fn published_cases() {
    let data = load("usage-records.json");
    let mut compared = 0;
    for case in list(&data["published_tests"]) {
        let name = case["id"].as_str().unwrap();
        if case["kind"] == "objects_to_offsets" {
            let ids: Vec<usize> = numbers(&case["input"]["object_ids"]).iter().map(|&id| id as usize).collect();
            let (offsets, total) =
                objects_to_offsets(&ids, &numbers(&case["input"]["object_sizes"]), &[]).expect("in range");
            assert_eq!(offsets, numbers(&case["expect"]["offsets"]), "{name}");
            assert_eq!(total, case["expect"]["total_size"].as_u64().unwrap_or(108), "{name}");
            compared += 1;
            continue;
        }
        let problem = problem_of(&case["records"], 1, None);
        for (original, expected) in case["objects"].as_object().unwrap() {
            expect_objects(name, strategy_of(original), &problem, expected);
            compared += 1;
        }
        for (original, expected) in case["offsets"].as_object().into_iter().flatten() {
            let problem = problem_of(&case["records"], number(&expected["align"]), None);
            expect_offsets(name, strategy_of(original), &problem, expected);
            compared += 1;
        }
    }
    assert_eq!(compared, 4 + 4 * 6 + 2 + 3 + 3 + 5, "every published expectation was compared");
}

#[test]
fn derived_cases() {
    for case in list(&load("usage-records.json")["derived_cases"]) {
        let name = case["id"].as_str().unwrap();
        let align = number(&case["align"]);
        let problem = problem_of(&case["records"], align, None);
        for (original, expected) in case["objects"].as_object().unwrap() {
            expect_objects(name, strategy_of(original), &problem, expected);
        }
        for (original, expected) in case["offsets"].as_object().unwrap() {
            // The original ignores the alignment everywhere else, and misaligns.
            if align == 1 || original == "GREEDY_BY_SIZE" {
                expect_offsets(name, strategy_of(original), &problem, expected);
            }
        }
        let unaligned = problem_of(&case["records"], 1, None);
        assert_eq!(lower_bound(&unaligned).0, number(&case["lower_bound"]), "{name}");
        let maxima: Vec<u64> = positional_maxima(&unaligned, |_| true).iter().map(|maximum| maximum.0).collect();
        assert_eq!(maxima, numbers(&case["positional_max"]), "{name}");
    }
}

#[test]
fn every_offset_is_aligned() {
    for case in list(&load("usage-records.json")["derived_cases"]) {
        let align = number(&case["align"]);
        let problem = problem_of(&case["records"], align, None);
        for (_, strategy) in STRATEGY_NAMES {
            let plan = planned(strategy, &problem, Assign::Offsets);
            assert!(offsets(&plan).iter().all(|offset| offset % align == 0), "{} {strategy}", case["id"]);
        }
    }
}

#[test]
fn reallocation_graphs() {
    let data = load("usage-records.json");
    let graph = |dependencies: &Dependencies| -> Vec<Vec<u64>> {
        let indices = |others: &Vec<BufferId>| others.iter().map(|other| other.index() as u64).collect();
        reallocation_graph(dependencies).iter().map(indices).collect()
    };
    let expected = |value: &Value| -> Vec<Vec<u64>> { list(value).iter().map(numbers).collect() };
    for case in list(&data["published_reallocation_tests"]) {
        assert_eq!(graph(&dependencies_of(&case["deps"])), expected(&case["realloc"]), "{}", case["id"]);
    }
    let mut with_graph = 0;
    for case in list(&data["derived_cases"]).iter().filter(|case| case.get("deps_graph").is_some()) {
        let name = case["id"].as_str().unwrap();
        let dependencies = dependencies_of(&case["deps_graph"]);
        assert_eq!(graph(&dependencies), expected(&case["reallocation_graph"]), "{name}");
        let problem = problem_of(&case["records"], 1, Some(dependencies));
        expect_objects(name, "greedy-in-order", &problem, &case["GREEDY_IN_ORDER_REALLOC"]);
        with_graph += 1;
    }
    assert_eq!(with_graph, 10);
}

#[test]
fn a_reader_that_feeds_only_outputs_keeps_the_memory() {
    let records = serde_json::json!([[16, 0, 1], [16, 1, 2], [16, 2, 3]]);
    let mut dependencies = dependencies_of(&serde_json::json!([[1], [2], []]));
    let objects = |dependencies: &Dependencies| {
        let problem = problem_of(&records, 1, Some(dependencies.clone()));
        planned("greedy-in-order", &problem, Assign::Objects).objects.len()
    };
    assert_eq!(objects(&dependencies), 2, "buffer 2 takes the memory of buffer 0");
    dependencies.read_by_outputs.push(BufferId::from_index(0));
    assert_eq!(objects(&dependencies), 3, "an output may still be reading buffer 0");
}

#[test]
fn only_greedy_in_order_and_naive_take_dependencies() {
    let records = serde_json::json!([[16, 0, 1], [16, 1, 2]]);
    let problem = problem_of(&records, 1, Some(dependencies_of(&serde_json::json!([[1], []]))));
    for (_, name) in STRATEGY_NAMES {
        let answer = plan(find(name).unwrap(), &problem, &Request { assign: Assign::Objects, ..Request::default() });
        if ["naive", "greedy-in-order"].contains(&name) {
            assert!(answer.is_ok(), "{name}");
        } else {
            let refused = matches!(answer, Err(Refusal::Feature { feature: Feature::Dependencies, .. }));
            assert!(refused, "{name}: {answer:?}");
        }
    }
}

#[test]
fn profiles() {
    for case in list(&load("usage-records.json")["published_profile_tests"]) {
        let problem = problem_of(&case["records"], 1, None);
        let profiles: Vec<Vec<u64>> = task_profiles(&problem)
            .iter()
            .map(|profile| profile.buffers.iter().map(|buffer| buffer.index() as u64).collect())
            .collect();
        // Profiles are reported where they change; the recorded ones for every task.
        let mut expected: Vec<Vec<u64>> = list(&case["profiles"]).iter().map(numbers).collect();
        expected.dedup();
        assert_eq!(profiles, expected, "{}", case["id"]);
        let maxima: Vec<u64> = positional_maxima(&problem, |_| true).iter().map(|maximum| maximum.0).collect();
        assert_eq!(maxima, numbers(&case["positional_max"]), "{}", case["id"]);
    }
}

#[test]
fn records_may_come_in_any_order() {
    for case in list(&load("usage-records.json")["derived_cases"]) {
        let mut shuffled = list(&case["records"]).to_vec();
        shuffled.reverse();
        let problem = problem_of(&Value::Array(shuffled), 1, None);
        for (_, strategy) in STRATEGY_NAMES {
            for assign in [Assign::Objects, Assign::Offsets] {
                let plan = planned(strategy, &problem, assign);
                assert_disjoint(&problem, &plan, strategy);
            }
        }
    }
}

fn assert_disjoint(problem: &Problem, plan: &memplan_core::Plan, strategy: &str) {
    let life = |buffer: BufferId| {
        let lifetime = &problem.buffers()[buffer].lifetime;
        (lifetime.start().unwrap(), lifetime.end().unwrap())
    };
    for one in problem.buffers().ids() {
        for other in problem.buffers().ids().filter(|&other| other < one) {
            let ((start, end), (other_start, other_end)) = (life(one), life(other));
            if start >= other_end || other_start >= end {
                continue;
            }
            let place = |buffer: BufferId| plan.placements[buffer].clone().unwrap();
            let (place, other_place) = (place(one), place(other));
            let bytes = |buffer: BufferId| problem.buffers()[buffer].bytes().unwrap().0;
            let apart = match (place.object, other_place.object) {
                (Some(object), Some(other_object)) => object != other_object,
                _ => {
                    let (offset, other_offset) = (place.offsets[0].0, other_place.offsets[0].0);
                    offset + bytes(one) <= other_offset || other_offset + bytes(other) <= offset
                }
            };
            assert!(apart, "{strategy}: {one:?} and {other:?} collide");
        }
    }
}

#[test]
fn shapes_are_refused_by_strategies_that_have_none() {
    let problem = problem_of(&serde_json::json!([[[1, 2, 3, 4], 0, 1]]), 1, None);
    let takes = |name: &str| {
        let request = Request { assign: Assign::Objects, ..Request::default() };
        plan(find(name).unwrap(), &problem, &request).is_ok()
    };
    let taking: Vec<&str> = STRATEGY_NAMES.iter().map(|(_, name)| *name).filter(|name| takes(name)).collect();
    assert_eq!(taking, ["naive", "equality", "equality-linear"]);
}

#[test]
fn min_cost_flow_says_how_much_it_takes() {
    let records: Vec<Value> = (0..257).map(|task| serde_json::json!([8, task, task + 1])).collect();
    let problem = problem_of(&Value::Array(records), 1, None);
    let refusal = plan(find("min-cost-flow").unwrap(), &problem, &Request::default()).unwrap_err();
    assert!(refusal.to_string().contains("at most 256 buffers"), "{refusal}");
}

#[test]
fn names_are_unique() {
    let names: IndexVec<BufferId, &str> = STRATEGIES.iter().map(|strategy| strategy.name()).collect();
    let mut sorted = names.into_vec();
    sorted.sort_unstable();
    let count = sorted.len();
    sorted.dedup();
    assert_eq!(sorted.len(), count);
}
