//! "Independent checker" is a fact about the build: what this crate is built
//! from contains neither the planner nor the analysis nor what changes models.

use std::collections::{BTreeSet, HashMap};
use std::process::Command;

use serde_json::Value;

const FORBIDDEN: [&str; 2] = ["memplan-planner", "memplan-analysis"];

/// The Cargo graph; Cargo may need the network for it only if the package cache is incomplete.
fn metadata() -> Value {
    let with = |flags: &[&str]| {
        Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(["metadata", "--format-version", "1", "--all-features"])
            .args(["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")])
            .args(flags)
            .output()
            .expect("cargo runs")
    };
    let offline = with(&["--offline"]);
    let output = if offline.status.success() { offline } else { with(&[]) };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON")
}

/// Whether a dependency is more than a dev-dependency (`null` is a normal one).
fn is_built_in(dependency: &Value) -> bool {
    dependency["dep_kinds"].as_array().into_iter().flatten().any(|kind| kind["kind"] != "dev")
}

/// Names of all packages that one is built from.
fn reachable(metadata: &Value, from: &str) -> BTreeSet<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let packages = metadata["packages"].as_array().expect("packages");
    let names: HashMap<String, String> =
        packages.iter().map(|package| (text(&package["id"]), text(&package["name"]))).collect();
    let nodes = metadata["resolve"]["nodes"].as_array().expect("a resolved graph");
    let dependencies: HashMap<String, &Value> = nodes.iter().map(|node| (text(&node["id"]), &node["deps"])).collect();
    let mut open: Vec<String> = names.iter().filter(|(_, name)| *name == from).map(|(id, _)| id.clone()).collect();
    let mut seen: BTreeSet<String> = open.iter().cloned().collect();
    while let Some(id) = open.pop() {
        let built_in = dependencies[&id].as_array().into_iter().flatten().filter(|dependency| is_built_in(dependency));
        open.extend(built_in.map(|dependency| text(&dependency["pkg"])).filter(|id| seen.insert(id.clone())));
    }
    seen.iter().map(|id| names[id].clone()).collect()
}

#[test]
fn the_checker_reaches_neither_planner_nor_analysis() {
    let metadata = metadata();
    let built_from = reachable(&metadata, "memplan-verify");
    assert!(built_from.contains("memplan-core"), "the graph was read: {built_from:?}");
    // `memplan-fit` proposes changes of models, which are proved here. It reads models with a crate that also describes
    // them for the proof, so only this direction can be forbidden.
    for name in FORBIDDEN.into_iter().chain(["memplan-fit"]) {
        assert!(!built_from.contains(name), "memplan-verify is built from {name}: {built_from:?}");
    }
}

#[test]
fn planner_and_analysis_do_not_reach_the_checker() {
    let metadata = metadata();
    for name in FORBIDDEN {
        let built_from = reachable(&metadata, name);
        assert!(built_from.contains("memplan-core"), "the graph was read: {built_from:?}");
        assert!(!built_from.contains("memplan-verify"), "{name} is built from memplan-verify");
    }
}
