//! Generated networks through `memplan fit`, at several capacities, and through real runtimes: 30 of them, 2,000
//! under `MEMPLAN_FULL`.

#![allow(clippy::print_stderr, reason = "says what was skipped, and how many were made smaller")]

use serde_json::Value;

use crate::models::run_peer;
use crate::run::Folder;

/// Runs a script of the peers; `None` if a Python package is missing.
pub(crate) fn peer(script: &str, arguments: &[String]) -> Option<Value> {
    run_peer(script, "tflite_micro, ai_edge_litert, flatbuffers, numpy", arguments)
}

/// A changed model and the arena that was promised for it.
struct Fitted {
    original: String,
    changed: String,
    arena: u64,
}

/// The smallest version of a network, and those for two capacities between it and the network as it is.
fn fit(folder: &Folder, number: usize) -> Vec<Fitted> {
    let original = format!("{number}.tflite");
    let mut made = Vec::new();
    let mut run = |tag: &str, flags: &str| {
        let changed = format!("{number}.{tag}.tflite");
        let ran = folder.run(&format!("fit {original} {flags} --json -o {changed}"));
        assert_eq!(ran.code, 0, "{number} {flags}: {}", ran.all());
        let answer = ran.json();
        let arena = |index: usize| answer["versions"][index]["arena"].as_u64().unwrap();
        let chosen = usize::try_from(answer["chosen"].as_u64().unwrap()).unwrap();
        let path = |name: &str| folder.path(name).display().to_string();
        made.push(Fitted { original: path(&original), changed: path(&changed), arena: arena(chosen) });
        (arena(0), arena(chosen))
    };
    let (before, least) = run("least", "");
    assert!(least <= before, "{number}: {least} bytes, and {before} without a change");
    for part in [1, 2] {
        let capacity = least + (before - least) * part / 3;
        if least < before {
            let (_, arena) = run(&format!("part{part}"), &format!("--capacity {capacity}"));
            assert!(arena <= capacity, "{number}: {arena} bytes in {capacity}");
        }
    }
    made
}

#[test]
fn generated_networks_fit_and_compute_the_same() {
    let count = if std::env::var_os("MEMPLAN_FULL").is_some() { 2000 } else { 30 };
    let (mut pairs, mut smaller, mut small) = (0, 0, 0);
    for first in (0..count).step_by(100) {
        let folder = Folder::new();
        let batch = (count - first).min(100);
        let place = folder.path("").display().to_string();
        let arguments = [place, batch.to_string(), first.to_string()];
        if peer("generate_networks.py", &arguments).is_none() {
            return;
        }
        let fitted: Vec<Fitted> = (first..first + batch).flat_map(|number| fit(&folder, number)).collect();
        let asked: Vec<String> = fitted
            .iter()
            .flat_map(|fitted| [fitted.original.clone(), fitted.changed.clone(), fitted.arena.to_string()])
            .collect();
        for (fitted, ran) in fitted.iter().zip(peer("changed_peer.py", &asked).unwrap().as_array().unwrap()) {
            let name = &fitted.changed;
            assert_eq!((&ran["tflm"], &ran["litert"]), (&true.into(), &true.into()), "{name}: {ran}");
            assert_eq!(ran["starts"], true, "{name} in {}: {ran}", fitted.arena);
            // The arena is what the interpreter reports, and it does not start in less. Only while it starts a very
            // small model needs more than it reports afterwards.
            let reported = ran["arena"].as_u64().unwrap();
            assert!(reported <= fitted.arena, "{name}: {} were promised, {ran}", fitted.arena);
            if reported == fitted.arena {
                assert_eq!(ran["less"], false, "{name} in {}: {ran}", fitted.arena);
            }
            small += usize::from(reported < fitted.arena);
            pairs += 1;
            smaller += usize::from(fitted.changed.contains("part"));
        }
    }
    eprintln!("{pairs} models compute the same, {smaller} of them at a capacity; {small} need more to start");
    assert!(3 * smaller > count, "{smaller} of {count} networks were made smaller");
}
