//! Reuse that costs, from the command line: the trade-off with the capacity, marks in maps, solutions of `dsa` problems.

use serde_json::{Value, json};

use crate::run::Folder;

/// Four tiles one after the other with a price for every two of them.
pub(crate) const WAITS: &str = r#"{"spaces": [{"name": "ub", "capacity": 64}],
 "buffers": [
  {"id": "a", "size": 32, "lifetime": [[0, 2]]}, {"id": "b", "size": 32, "lifetime": [[2, 4]]},
  {"id": "c", "size": 32, "lifetime": [[4, 6]]}, {"id": "d", "size": 32, "lifetime": [[6, 8]]}],
 "reuse_costs": [["a", "b", 1], ["b", "c", 1], ["c", "d", 1], ["a", "c", 1], ["b", "d", 1], ["a", "d", 5]]}"#;

/// Pools and buffers whose ids are no positions, and a reserved range.
const TILE: &str = r#"{"schema_version": 1, "instance": "tile", "problem": {
 "pools": [{"id": 7, "name": "Vec", "capacity": 96, "reserved_ranges": [{"begin": 0, "end": 32}]},
           {"id": 3, "name": "Acc", "capacity": 64, "reserved_ranges": []}],
 "buffers": [
  {"id": 11, "name": "x", "size": 32, "alignment": 32, "allowed_pools": [7], "live_intervals": [{"lower": 0, "upper": 2}]},
  {"id": 5, "name": "y", "size": 32, "alignment": 32, "allowed_pools": [7], "live_intervals": [{"lower": 2, "upper": 4}]},
  {"id": 8, "name": "z", "size": 64, "alignment": 32, "allowed_pools": [3], "live_intervals": [{"lower": 0, "upper": 4}]}],
 "cost_model": {"reuse_penalties": [{"first": 11, "second": 5, "cost": 2}]}}}"#;

#[test]
fn less_memory_costs_more() {
    let folder = Folder::with(&[("waits.json", WAITS)]);
    let plan: Value = folder.run("plan waits.json --trade-off --json").json();
    assert_eq!(
        (&plan["cost"], &plan["cost_lower_bound"]),
        (&json!(2), &json!(2)),
        "the plan itself keeps its capacity"
    );
    let points = plan["trade_off"].as_array().unwrap();
    let numbers = |field: &str| -> Vec<Option<u64>> { points.iter().map(|point| point[field].as_u64()).collect() };
    assert_eq!(numbers("capacity")[0], None, "it begins without any capacity");
    assert_eq!(numbers("extent"), [Some(128), Some(96), Some(64), Some(32)]);
    // All of them on one place pay for all six pairs.
    assert_eq!(numbers("cost"), [Some(0), Some(1), Some(2), Some(10)]);
    assert_eq!(numbers("cost_lower_bound"), numbers("cost"));
    let table = folder.run("plan waits.json --trade-off").stdout;
    for word in ["cost of reuse against capacity", "any", "at least"] {
        assert!(table.contains(word), "`{word}` is not in\n{table}");
    }
}

#[test]
fn explain_says_what_forces_the_cost_and_what_would_avoid_it() {
    let folder = Folder::with(&[("waits.json", WAITS)]);
    let text = folder.run("explain waits.json").stdout;
    for line in ["reuse costs 2; no plan costs less", "nothing would have to be paid with 128 bytes in `ub`, 64 B more"]
    {
        assert!(text.contains(line), "`{line}` is not in\n{text}");
    }
    let value: Value = folder.run("explain waits.json --json").json();
    assert_eq!(value["free_extents"], json!({ "ub": 128 }));
    // The sentence is true: with so many bytes nothing is paid, with one byte less something is.
    for (capacity, cost) in [(128, 0), (127, 1)] {
        let wider = WAITS.replace("\"capacity\": 64", &format!("\"capacity\": {capacity}"));
        let folder = Folder::with(&[("wider.json", &wider)]);
        assert_eq!(folder.run("plan wider.json --json").json()["cost"], cost, "{capacity} bytes");
    }
}

/// `a` and `b` are views of one block on the same bytes; `c` and `d` may be apart from each other.
const BLOCK: &str = r#"{"spaces": [{"name": "ub", "capacity": 64}],
 "buffers": [
  {"id": "a", "size": 32, "lifetime": [[0, 2]], "tie": {"group": "g", "at": 0}},
  {"id": "b", "size": 32, "lifetime": [[2, 4]], "tie": {"group": "g", "at": 0}},
  {"id": "c", "size": 64, "lifetime": [[4, 6]]}, {"id": "d", "size": 64, "lifetime": [[6, 8]]}],
 "reuse_costs": [["a", "b", 1], ["c", "d", 1]]}"#;

#[test]
fn what_a_block_costs_is_paid_with_any_capacity() {
    let folder = Folder::with(&[("block.json", BLOCK)]);
    let text = folder.run("explain block.json").stdout;
    let line = "only what every plan pays would have to be paid with 128 bytes in `ub`, 64 B more";
    assert!(text.contains("reuse costs 2") && text.contains(line), "{text}");
    let folder = Folder::with(&[("wider.json", &BLOCK.replace("\"capacity\": 64", "\"capacity\": 128"))]);
    assert_eq!(folder.run("plan wider.json --json").json()["cost"], 1);
}

#[test]
fn without_prices_there_is_nothing_to_trade() {
    let folder = Folder::with(&[("small.csv", "id,lower,upper,size\na,0,2,64\n")]);
    let ran = folder.run("plan small.csv --trade-off");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("reuse_costs"), "{}", ran.stderr);
}

#[test]
fn maps_mark_reuse_that_costs() {
    let folder = Folder::with(&[("waits.json", WAITS)]);
    assert_eq!(folder.run("plan waits.json --map map.svg").code, 0);
    let svg = folder.read("map.svg");
    assert_eq!(svg.matches("class=\"handover\"").count(), 2, "two pairs are paid for");
    assert!(svg.contains("reuses bytes of") && svg.contains(": costs 1"), "{svg}");
    assert!(svg.contains("red bars: 2 reuses that cost something"), "{svg}");
    assert_eq!(folder.run("plan waits.json --trade-off --map map.html").code, 0);
    let page = folder.read("map.html");
    assert!(page.contains("\"handovers\":[[") && page.contains("\"tradeOff\":[{"), "the page has both");
}

#[test]
fn a_solution_has_the_numbers_of_its_problem() {
    let folder = Folder::with(&[("tile.dsa.json", TILE)]);
    let ran = folder.run("plan tile.dsa.json -o solution.dsa.json");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let solution: Value = serde_json::from_str(&folder.read("solution.dsa.json")).unwrap();
    assert_eq!((&solution["instance"], &solution["reuse_cost"]), (&json!("tile"), &json!(0)));
    let places = solution["allocations"].as_array().unwrap();
    let pools: Vec<_> = places.iter().map(|place| (place["buffer"].as_u64(), place["pool"].as_u64())).collect();
    assert_eq!(pools, [(Some(11), Some(7)), (Some(5), Some(7)), (Some(8), Some(3))]);
    let ran = folder.run("verify tile.dsa.json solution.dsa.json");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    // Both tiles on the same bytes fit, and cost more than the solution says.
    let mut wrong = solution.clone();
    wrong["allocations"][1]["offset"] = wrong["allocations"][0]["offset"].clone();
    std::fs::write(folder.path("wrong.dsa.json"), wrong.to_string()).unwrap();
    let ran = folder.run("verify tile.dsa.json wrong.dsa.json");
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stdout.contains("cost"), "{}", ran.stdout);
    // Where the reserved range is.
    let theirs =
        json!({"allocations": [{"buffer": 0, "offset": 0}, {"buffer": 1, "offset": 64}, {"buffer": 2, "offset": 0}]});
    std::fs::write(folder.path("theirs.dsa.json"), theirs.to_string()).unwrap();
    let ran = folder.run("verify tile.dsa.json theirs.dsa.json");
    assert_eq!(ran.code, 1, "another tool's solution without names: {}", ran.stdout);
}
