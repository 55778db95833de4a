//! How the storage rewrite grows with the function, and how it compares with TVM's own pass on the same text.
//!
//! `cargo bench -p memplan-tensor`; with `MEMPLAN_PYTHON` naming a Python that has apache-tvm, the last columns are TVM's time, alone and over ours.

use memplan_tensor::ir::Function;
use memplan_tensor::rewrite::{Apart, Judge, RewriteOptions, apply, collect, decide, storage_rewrite};
use memplan_tensor::script::Script;
use memplan_testkit::tvmscript::chain;
use std::io::{BufRead, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Who judges what the crate proposes.
const JUDGE: Judge = Judge { packing: memplan_verify::packing::check, dataflow: memplan_verify::dataflow::check };

/// Seconds of the fastest of several runs.
fn best_of(runs: usize, mut action: impl FnMut()) -> f64 {
    (0..runs)
        .map(|_| {
            let start = Instant::now();
            action();
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min)
}

/// Seconds that TVM's pass takes; `None` without TVM.
fn tvm_seconds(text: &str) -> Option<f64> {
    let python = std::env::var("MEMPLAN_PYTHON").ok()?;
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/peers/tvm_peer.py");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let question = serde_json::json!({"op": "time", "text": text});
    writeln!(child.stdin.take()?, "{question}").ok()?;
    let mut answer = String::new();
    BufReader::new(child.stdout.take()?).read_line(&mut answer).ok()?;
    child.wait().ok()?;
    serde_json::from_str::<serde_json::Value>(&answer).ok()?["seconds"].as_f64()
}

/// The rewrite without its check.
fn unchecked(function: Function) -> Function {
    let decision = decide(&collect(&function), &RewriteOptions::default(), &Apart::default(), JUDGE).expect("laid out");
    apply(function, &decision.layout)
}

#[expect(clippy::print_stdout, reason = "a benchmark reports")]
fn main() {
    println!(
        "{:>10} {:>10} {:>12} {:>16} {:>10} {:>10} {:>9} {:>13}",
        "statements", "read ms", "rewrite ms", "with check ms", "print ms", "TVM ms", "TVM/ours", "TVM/checked"
    );
    let chosen: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let sizes = if chosen.is_empty() { vec![100, 1_000, 10_000, 100_000] } else { chosen };
    for statements in sizes {
        let text = chain(statements);
        let runs = if statements > 10_000 { 2 } else { 5 };
        let script = Script::read(&text).expect("a valid program");
        let read = best_of(runs, || drop(Script::read(&text)));
        let checked =
            best_of(runs, || drop(storage_rewrite(&script.functions()[0], &RewriteOptions::default(), JUDGE)));
        let mut copies: Vec<Function> = vec![script.functions()[0].clone(); runs];
        let rewrite = best_of(runs, || drop(unchecked(copies.pop().expect("a copy a run"))));
        let mut changed = script.clone();
        changed.functions_mut()[0] = unchecked(script.functions()[0].clone());
        let print = best_of(runs, || drop(changed.print()));
        // TVM's pass is quadratic: it takes minutes beyond this size.
        let tvm = if statements <= 10_000 { tvm_seconds(&text) } else { None };
        let ratio = |ours: f64| tvm.map_or("-".to_owned(), |seconds| format!("{:.1}", seconds / ours));
        println!(
            "{statements:>10} {:>10.2} {:>12.2} {:>16.2} {:>10.2} {:>10} {:>9} {:>13}",
            read * 1e3,
            rewrite * 1e3,
            checked * 1e3,
            print * 1e3,
            tvm.map_or("-".to_owned(), |seconds| format!("{:.2}", seconds * 1e3)),
            ratio(rewrite),
            ratio(checked)
        );
    }
}
