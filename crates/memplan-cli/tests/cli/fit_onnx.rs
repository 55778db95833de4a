//! `memplan fit` on `.onnx` models, with onnxruntime that runs what it writes.

#![allow(clippy::print_stderr, reason = "says what was skipped, and shows what less memory costs")]

use serde_json::Value;

use crate::models::{run_peer, strings};
use crate::run::Folder;

/// Outputs of float models differ by less than this part of the largest output. Kernels of onnxruntime add up the elements of
/// a window in another order where an image has another width; bytes are the same to the bit.
const TOLERANCE: f64 = 2e-6;

/// Runs the script of the peers; `None` if a Python package is missing.
fn peer(arguments: &[String]) -> Option<Value> {
    run_peer("fit_onnx.py", "onnx, onnxruntime, numpy", arguments)
}

/// Writes networks; `false` if there is no Python for it.
fn make(folder: &Folder, names: &[String]) -> bool {
    let place = folder.path(".").display().to_string();
    peer(&[strings(&["networks", &place]), names.to_vec()].concat()).is_some()
}

fn number(version: &Value, name: &str) -> u64 {
    version[name].as_u64().unwrap()
}

/// Fits all networks as far down as they go and has onnxruntime run them; returns the reports and what it says.
fn fitted(folder: &Folder, names: &[String], flags: &str) -> Vec<(Value, Value)> {
    let mut arguments = strings(&["same"]);
    let mut reports = Vec::new();
    for name in names {
        let ran = folder.run(&format!("fit {name}.onnx --strict {flags} --json -o {name}.fitted.onnx"));
        assert_eq!(ran.code, 0, "{name}: {}", ran.all());
        let report = ran.json();
        let tensors: Vec<u64> =
            report["versions"].as_array().unwrap().iter().map(|version| number(version, "tensors")).collect();
        assert!(tensors.windows(2).all(|pair| pair[1] < pair[0]), "{name}: {tensors:?}");
        // A plan of the written model needs as much as was said.
        let planned = folder.run(&format!("plan {name}.fitted.onnx --reuse-inputs --json")).json();
        assert_eq!(planned["extent"].as_u64(), tensors.last().copied(), "{name}");
        reports.push(report);
        let path = |file: String| folder.path(&file).display().to_string();
        arguments.extend([path(format!("{name}.onnx")), path(format!("{name}.fitted.onnx"))]);
    }
    let answers = peer(&arguments).unwrap();
    reports.into_iter().zip(answers.as_array().unwrap().clone()).collect()
}

#[test]
fn onnxruntime_computes_the_same_in_less_memory() {
    let folder = Folder::new();
    let wanted =
        [("mobilenet", 2.4), ("resnet", 1.7), ("unet", 1.7), ("branching", 1.9), ("late", 1.5), ("quantized", 2.0)];
    let names: Vec<String> = wanted.iter().map(|(name, _)| (*name).to_owned()).collect();
    if !make(&folder, &names) {
        return;
    }
    for ((name, wanted), (report, ran)) in wanted.iter().zip(fitted(&folder, &names, "")) {
        let versions = report["versions"].as_array().unwrap();
        let (first, last) = (&versions[0], &versions[versions.len() - 1]);
        let times = number(first, "tensors") as f64 / number(last, "tensors") as f64;
        let more = number(last, "multiply_adds") as f64 / number(first, "multiply_adds") as f64;
        eprintln!("{name}: {times:.2} times less, {more:.3} times the multiply-adds, {ran}");
        assert!(ran["apart"].as_f64().unwrap() <= TOLERANCE, "{name}: {ran}");
        assert!(*name != "quantized" || ran["same"] == true, "{name}: {ran}");
        assert!(times >= *wanted, "{name}: {times:.2} times less");
    }
}

/// Random networks; 300 of them under `MEMPLAN_FULL`.
#[test]
fn generated_onnx_networks_compute_the_same() {
    let count = if std::env::var_os("MEMPLAN_FULL").is_some() { 300 } else { 12 };
    let folder = Folder::new();
    let names: Vec<String> = (0..count).map(|number| number.to_string()).collect();
    if !make(&folder, &names) {
        return;
    }
    let (mut smaller, mut same, mut apart) = (0, 0, 0.0f64);
    for (name, (report, ran)) in names.iter().zip(fitted(&folder, &names, "")) {
        assert!(ran["apart"].as_f64().unwrap() <= TOLERANCE, "{name}: {ran}");
        smaller += usize::from(number(&report, "chosen") > 0);
        same += usize::from(ran["same"] == true);
        apart = apart.max(ran["apart"].as_f64().unwrap());
    }
    eprintln!("{smaller} of {count} became smaller, {same} have the same bits, all are at most {apart:.1e} apart");
    assert!(2 * smaller > count, "{smaller} of {count} became smaller");
}

/// Each kind of change by itself, and both orders of an op that is needed late.
#[test]
fn onnx_models_are_reordered_and_recomputed_without_tiles() {
    let folder = Folder::new();
    let names = strings(&["late"]);
    if !make(&folder, &names) {
        return;
    }
    let [(report, ran)] = fitted(&folder, &names, "--forbid patches").try_into().unwrap();
    assert!(report.to_string().contains("runs again for a late reader"), "{report}");
    assert_eq!(ran["same"], true, "{ran}");
    let capacity = number(&report["versions"][1], "tensors");
    let ran = folder.run(&format!("fit late.onnx --forbid patches --capacity {capacity} -o small.onnx"));
    assert!(ran.code == 0 && ran.stdout.ends_with("\nmodel written to small.onnx\n"), "{}", ran.all());
    let refused = folder.run("fit late.onnx --capacity 1KiB");
    assert_eq!(refused.code, 1, "{}", refused.all());
}

/// A network that others have exported, from the onnx package: half of the memory.
#[test]
fn an_exported_network_fits_into_half() {
    let folder = Folder::new();
    let Some(light) = crate::models::peer("onnx, onnxruntime", &strings(&["light"])) else { return };
    std::fs::copy(format!("{}/light_squeezenet.onnx", light.as_str().unwrap()), folder.path("net.onnx")).unwrap();
    let whole = folder.run("plan net.onnx --reuse-inputs --json").json()["extent"].as_u64().unwrap();
    let ran = folder.run(&format!("fit net.onnx --strict --capacity {} --json -o half.onnx", whole / 2));
    assert_eq!(ran.code, 0, "{}", ran.all());
    let report = ran.json();
    let more =
        number(&report["versions"][1], "multiply_adds") as f64 / number(&report["versions"][0], "multiply_adds") as f64;
    let path = |name: &str| folder.path(name).display().to_string();
    let answer = peer(&[strings(&["same"]), vec![path("net.onnx"), path("half.onnx")]].concat()).unwrap();
    eprintln!("half of {whole} bytes with {more:.3} times the multiply-adds, {}", answer[0]);
    assert!(answer[0]["apart"].as_f64().unwrap() <= TOLERANCE, "{answer}");
    assert!(more < 1.2, "{more:.3} times the multiply-adds");
}
