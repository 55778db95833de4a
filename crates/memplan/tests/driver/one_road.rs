//! There is one road: one place that calls the checks for results, and no way around it.

use std::path::{Path, PathBuf};

use memplan::driver::{self, How};
use memplan::front_end::{FrontEnd, Plain, PlanForm};
use memplan::source::Source;
use memplan::target::Target;

fn sources_below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            sources_below(&entry, files);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            files.push(entry);
        }
    }
}

/// Lines of production code in the crates that hand out results, tests and comments left out.
fn lines_with(words: &[&str]) -> Vec<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = Vec::new();
    for name in
        ["memplan", "memplan-cli", "memplan-py", "memplan-capi", "memplan-mlir", "memplan-tensor", "memplan-models"]
    {
        let mut files = Vec::new();
        sources_below(&crates.join(name).join("src"), &mut files);
        files.sort();
        for file in files.iter().filter(|file| !file.ends_with("tests.rs")) {
            let text = std::fs::read_to_string(file).unwrap();
            let production = text.split("#[cfg(test)]").next().unwrap_or_default();
            let code = production.lines().filter(|line| !line.trim_start().starts_with("//"));
            let shown = file.strip_prefix(crates).unwrap().display().to_string();
            found.extend(code.filter(|line| words.iter().any(|word| line.contains(word))).map(|_| shown.clone()));
        }
    }
    found.dedup();
    found
}

#[test]
fn one_file_calls_the_checks() {
    let calling = lines_with(&["packing::check", "dataflow::check"]);
    assert_eq!(calling, ["memplan/src/finding.rs"]);
}

#[test]
fn only_the_driver_seals_results() {
    let sealing = lines_with(&["Checked::seal("]);
    assert!(sealing.iter().all(|file| file.starts_with("memplan/src/driver")), "{sealing:?}");
}

#[test]
fn a_model_on_two_memories_is_planned_alike_however_it_is_asked_for() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/tflite/unet.tflite");
    let source = Source::open(&path, None).unwrap();
    let spaces = ["sram=24KiB:16", "psram=1MiB:16"].map(|text| text.parse().unwrap()).to_vec();
    let target = Target { spaces, ..Target::default() };
    let how = How::default().strict();
    let plain = Plain { target, form: PlanForm::Csv };
    let input = plain.read(&source).unwrap();
    let planned = driver::lay_out(&plain, &input, &how).unwrap();
    let whole = driver::run(&plain, &source, &how).unwrap();
    let halves = driver::emit(&plain, &input, &planned).unwrap();
    assert_eq!(whole.text(), halves.text());
    assert!(whole.text().contains("psram"), "something has to spill");
    let comparison = memplan::compare::Comparison::run(&input, None, &how, |_| ()).unwrap();
    let auto = comparison.entries.iter().find(|entry| entry.strategy == "auto").unwrap();
    assert_eq!(auto.outcome.plan(), planned.outcome.plan(), "compare plans as plan does");
}
