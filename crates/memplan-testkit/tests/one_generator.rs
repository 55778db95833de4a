//! Tests draw their random numbers from one generator, so that there is one place to look at for anybody who doubts it.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::{Path, PathBuf};

/// What gives a generator away: the constants of linear congruences and of SplitMix64, the shifts of xorshift. Underscores
/// of numbers are left out.
const SIGNS: [&str; 6] = [
    "6364136223846793005",
    "1442695040888963407",
    "1103515245",
    "0xbf58476d1ce4e5b9",
    "0x94d049bb133111eb",
    "^= self.0 << 13",
];

/// The search's own, whose plans must never change by accident, the one of the tests, and the contents that the
/// interpreter of tensor programs gives to memory which nobody has written.
const KNOWN: [&str; 3] = [
    "memplan-planner/src/search/random.rs",
    "memplan-testkit/src/random.rs",
    "memplan-tensor/src/interpret/machine.rs",
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_source = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "rs");
    let is_built = |path: &Path| path.ends_with("target");
    let found = entries.filter(|path| !is_built(path)).map(|path| match path.is_dir() {
        true => sources(&path),
        false => [path].into_iter().filter(is_source).collect(),
    });
    found.flatten().collect()
}

#[test]
fn there_is_one_generator_of_random_numbers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files: Vec<PathBuf> =
        ["crates", "fuzz", "examples"].iter().flat_map(|name| sources(&root.join(name))).collect();
    files.sort();
    assert!(files.len() > 300, "{} sources", files.len());
    let is_other = |path: &&PathBuf| {
        let text = std::fs::read_to_string(path).unwrap().to_lowercase().replace('_', "");
        let is_known = KNOWN.iter().any(|known| path.ends_with(known)) || path.ends_with("tests/one_generator.rs");
        !is_known && SIGNS.iter().any(|sign| text.contains(sign))
    };
    let others: Vec<&PathBuf> = files.iter().filter(is_other).collect();
    assert!(others.is_empty(), "use memplan_testkit::Random: {others:#?}");
}
