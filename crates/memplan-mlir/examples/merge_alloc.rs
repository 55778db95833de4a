//! Runs merge-alloc on a file and says how long each stage took.
#![allow(clippy::print_stdout, clippy::expect_used, reason = "an example")]

use std::time::Instant;

use memplan_mlir::pass::merge_alloc::{self, Options};
use memplan_mlir::written::{Changes, find_addresses};
use memplan_mlir::{Dialects, Document, lower};
use memplan_planner::Request;
use memplan_verify::dataflow::{self, SitePlan};

/// Runs a stage and prints its time.
fn stage<T>(name: &str, run: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = run();
    println!("{name:>10}  {:8.1} ms", start.elapsed().as_secs_f64() * 1e3);
    result
}

fn main() {
    let path = std::env::args().nth(1).expect("a file name");
    let source = std::fs::read_to_string(&path).expect("the file can be read");
    let document = stage("read", || Document::read(&source, Dialects::builtin())).expect("it is MLIR");
    let lowered = stage("lower", || lower(&document)).expect("it is well formed");
    let rewrite = stage("plan", || {
        merge_alloc::run(
            &document,
            &lowered,
            Options::default(),
            None,
            &Request::default(),
            &memplan_program::Apart::default(),
        )
    })
    .expect("it can be planned");
    let plan = SitePlan { placements: rewrite.placements, owners: rewrite.owners };
    let violations = stage("check", || dataflow::check(&lowered.program, &plan));
    assert!(violations.is_empty(), "{} violations", violations.len());
    let text = stage("write", || rewrite.edits.apply(&source)).expect("the edits fit");
    let written = stage("read again", || Document::read(&text, Dialects::builtin())).expect("it is MLIR, too");
    let found = stage("compare", || find_addresses(&document, &lowered.sites, &written, Changes::Addresses));
    assert!(found.is_ok_and(|found| found.len() == lowered.sites.len()), "the text is not as planned");
    println!("{} ops, {} buffers, {} bytes written", document.op_count(), lowered.sites.len(), text.len());
}
