//! The merge-alloc pass on programs of our own, one for each behaviour.
//!
//! Whatever the pass writes is checked twice here, for every program: the dataflow check has to accept the plan, and
//! mlir-opt the text.

#![allow(clippy::unwrap_used, reason = "a test that cannot set the stage has failed")]

mod hoisting;
mod left_alone;
#[path = "../mlir_opt/mod.rs"]
mod mlir_opt;
mod sharing;
mod text;
mod ticks;

use memplan_mlir::pass::merge_alloc::{self, Options};
use memplan_mlir::pass::{PassError, PassSpec, Rewrite};
use memplan_mlir::{Dialects, Document, lower};
use memplan_planner::Request;
use memplan_verify::dataflow::{self, SitePlan};

/// Runs the pass, checks the plan and the text, and returns both.
fn rewrite(source: &str, pass: &str, strategy: Option<&str>) -> Result<(Rewrite, String), PassError> {
    let document = Document::read(source, Dialects::builtin()).unwrap_or_else(|error| panic!("{error}"));
    let lowered = lower(&document).unwrap_or_else(|error| panic!("{error}"));
    let spec: PassSpec = pass.parse().unwrap();
    let options = Options::parse(&spec.options)?;
    let strategy = strategy.map(|name| memplan_planner::find(name).unwrap());
    let rewrite = merge_alloc::run(
        &document,
        &lowered,
        options,
        strategy,
        &Request::default(),
        &memplan_program::Apart::default(),
    )?;
    let plan = SitePlan { placements: rewrite.placements.clone(), owners: rewrite.owners.clone() };
    let violations = dataflow::check(&lowered.program, &plan);
    assert!(violations.is_empty(), "{violations:?}\n{source}");
    let text = rewrite.edits.apply(source).unwrap();
    // What we print is MLIR, and running the pass again finds nothing to object to.
    mlir_opt::accepts(&text);
    Ok((rewrite, text))
}

/// Sizes of the merged allocations in the order of the text, and the constants
/// in front of the views.
fn summary(text: &str) -> (Vec<u64>, Vec<u64>) {
    let number = |text: &str| text.trim().parse::<u64>().unwrap();
    let mut totals = Vec::new();
    let mut offsets = Vec::new();
    let mut constants = std::collections::HashMap::new();
    for line in text.lines().map(str::trim) {
        if let Some((name, rest)) = line.split_once(" = arith.constant ") {
            constants.insert(name.to_owned(), rest.trim_end_matches(" : index").to_owned());
        }
        if line.starts_with("%merged_") && line.contains("memref.alloc()") {
            let ty = line.split("memref<").nth(1).unwrap();
            totals.push(number(ty.split("xi8").next().unwrap()));
        }
        if let Some((_, view)) = line.split_once("memref.view ") {
            let offset = view.split(['[', ']']).nth(1).unwrap();
            offsets.extend(constants.get(offset).map(|constant| number(constant)));
        }
    }
    (totals, offsets)
}

/// Runs the pass with its own planner, which has to give these sizes and offsets, and with three other strategies.
fn expect(source: &str, totals: &[u64], offsets: &[u64]) -> String {
    let (_, text) = rewrite(source, "merge-alloc", None).unwrap();
    assert_eq!(summary(&text), (totals.to_vec(), offsets.to_vec()), "{text}");
    for strategy in ["auto", "first-fit", "chunk-size-first"] {
        rewrite(source, "merge-alloc", Some(strategy)).unwrap();
    }
    text
}

/// An op that no table knows: it may read and write what it is given.
const USE: &str = "\"test.use\"";
