//! The life cycle against the facts recorded from TVM's.

use crate::JUDGE;
use memplan_tensor::te::{LowerOptions, facts, json};
use serde_json::Value;
use std::path::PathBuf;

/// All records; `MEMPLAN_TE_RECORDS` may name another file of the same format.
pub(crate) fn te_records() -> Vec<Value> {
    let default = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/tvm/te17.jsonl");
    let path = std::env::var_os("MEMPLAN_TE_RECORDS").map_or(default, PathBuf::from);
    let text = std::fs::read_to_string(&path).expect("the recorded programs");
    let records: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("one JSON object a line")).collect();
    assert!(!records.is_empty(), "no records in {}", path.display());
    records
}

/// In the order of the life cycle, so that the first difference is the one to look at.
const KEYS: [&str; 9] =
    ["stages", "stage_facts", "bounds", "realizes", "flat_allocs", "flat_buffers", "strides", "allocs", "map"];

/// The first difference between what was recorded and what we find.
fn difference(record: &Value) -> Option<String> {
    let network = match json::read_value(&record["program"]) {
        Ok(network) => network,
        Err(error) => return Some(format!("cannot be read: {error}")),
    };
    let ours = facts(&network, &LowerOptions { compat: true, ..LowerOptions::default() }, JUDGE);
    let stage = |value: &Value| value["error"]["stage"].as_str().unwrap_or("").to_owned();
    for key in KEYS {
        let Some(expected) = record.get(key) else { continue };
        let found = &ours[key];
        let same = match key {
            "map" => same_places(expected, found),
            _ => expected == found,
        };
        if !same {
            return Some(format!("{key}:\n  TVM  {expected}\n  ours {found}\n  error {}", ours["error"]));
        }
    }
    (stage(record) != stage(&ours)).then(|| format!("error:\n  TVM  {}\n  ours {}", record["error"], ours["error"]))
}

/// The same roots and offsets; an offset that was not recorded may be any.
fn same_places(expected: &Value, found: &Value) -> bool {
    let (Some(expected), Some(found)) = (expected.as_object(), found.as_object()) else { return false };
    expected.keys().eq(found.keys().filter(|name| expected.contains_key(*name)))
        && expected.iter().all(|(name, place)| {
            place["root"] == found[name]["root"]
                && (place["offset"].is_null() || place["offset"] == found[name]["offset"])
        })
}

#[test]
fn every_recorded_fact_is_found() {
    let records = te_records();
    let mut problems = Vec::new();
    for record in &records {
        if let Some(difference) = difference(record) {
            problems.push(format!("{} {}: {difference}", record["id"], record["family"]));
        }
    }
    assert!(problems.is_empty(), "{} of {} differ:\n{}", problems.len(), records.len(), problems.join("\n"));
}
