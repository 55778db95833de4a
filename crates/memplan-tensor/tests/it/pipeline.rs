//! Programs as TVM's own pipeline has them just before its storage rewrite: all are read, and we need no more memory than TVM.

use crate::JUDGE;
use crate::records::Record;
use crate::tvm_peer::Tvm;
use memplan_tensor::interpret::{Order, RunOptions, run_traced};
use memplan_tensor::ir::Function;
use memplan_tensor::places::disagreement;
use memplan_tensor::rewrite::{Mode, RewriteError, RewriteOptions, allocation_sites, storage_rewrite};
use memplan_tensor::script::Script;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

fn recorded() -> Vec<Record> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/tvm/pipeline27.jsonl");
    let text = std::fs::read_to_string(path).expect("the recorded programs");
    text.lines().map(|line| Record(serde_json::from_str(line).expect("one JSON object a line"))).collect()
}

/// Bytes of constant allocations by memory, and the number of symbolic ones.
fn memory(function: &Function) -> (BTreeMap<String, u64>, u64) {
    let (mut bytes, mut symbolic) = (BTreeMap::new(), 0);
    for site in allocation_sites(function) {
        let buffer = &function.buffers[site.buffer];
        match buffer.constant_elements() {
            Some(elements) => {
                *bytes.entry(site.scope.to_string()).or_insert(0) += elements * buffer.dtype.total_bits() / 8;
            }
            None => symbolic += 1,
        }
    }
    (bytes, symbolic)
}

/// The rewritten text; it reads back as its layout, and computes the same where the program runs here.
fn rewritten(name: &str, script: &Script) -> (String, bool) {
    let before = &script.functions()[0];
    let result =
        storage_rewrite(before, &RewriteOptions::default(), JUDGE).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(result.repairs.is_empty(), "{name}: {:?}", result.repairs);
    let mut after = script.clone();
    after.functions_mut()[0] = result.function.clone();
    let text = after.print();
    let again = Script::read(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
    let after = &again.functions()[0];
    assert_eq!(disagreement(before, &result.layout, after), None, "{name}\n{}\n{text}", script.source());
    let options = RunOptions { order: Order::Forward, max_steps: 200_000, ..RunOptions::default() };
    let expected = run_traced(before, &options);
    if let Ok(expected) = &expected {
        assert_eq!(run_traced(after, &options).as_ref(), Ok(expected), "{name}\n{text}");
    }
    (text, expected.is_ok())
}

/// The text of a program with TVM's own decisions; `None` where these are refused. Every name in it is defined where it
/// is used: the reader knows where the name of a loop, a let or a buffer ends.
fn compatible(name: &str, script: &Script) -> Option<String> {
    let before = &script.functions()[0];
    let compat = RewriteOptions { mode: Mode::Compat, ..RewriteOptions::default() };
    let result = match storage_rewrite(before, &compat, crate::JUDGE) {
        Ok(result) => result,
        Err(RewriteError::Refused { .. }) => return None,
        Err(error) => panic!("{name}: {error}\n{}", script.source()),
    };
    let mut after = script.clone();
    after.functions_mut()[0] = result.function;
    let text = after.print();
    let again = Script::read(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
    assert_eq!(disagreement(before, &result.layout, &again.functions()[0]), None, "{name}\n{text}");
    Some(text)
}

#[test]
fn recorded_pipeline_programs_need_no_more_than_tvm() {
    let mut problems = Vec::new();
    let (mut ours_total, mut theirs_total, mut ran) = (0, 0, 0);
    for record in recorded() {
        let name = record.text("name").expect("a name").to_owned();
        let script = match Script::read(record.text("text").expect("a text")) {
            Ok(script) => script,
            Err(error) => {
                problems.push(format!("{name}: {error}"));
                continue;
            }
        };
        let (text, runs) = rewritten(&name, &script);
        ran += u32::from(runs);
        let (ours, symbolic) = memory(&Script::read(&text).expect("a text").functions()[0]);
        let theirs = &record.0["tvm_bytes"];
        for (scope, bytes) in &ours {
            let limit = theirs[0][scope].as_u64().unwrap_or(0);
            if *bytes > limit {
                problems.push(format!("{name}: {bytes} bytes of {scope}, TVM {limit}\n{text}"));
            }
            (ours_total, theirs_total) = (ours_total + bytes, theirs_total + limit);
        }
        if Some(symbolic) > theirs[1].as_u64() {
            problems.push(format!("{name}: {symbolic} symbolic allocations, TVM {}\n{text}", theirs[1]));
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    assert!(ours_total <= theirs_total && ran > 20, "{ours_total} bytes, TVM {theirs_total}; {ran} run here");
}

#[test]
fn tvm_reads_rewritten_pipeline_programs() {
    let Some(mut tvm) = Tvm::start() else { return };
    for record in recorded() {
        let name = record.text("name").expect("a name");
        let script = Script::read(record.text("text").expect("a text")).expect("readable");
        let (text, _) = rewritten(name, &script);
        for text in std::iter::once(text).chain(compatible(name, &script)) {
            let answer = tvm.ask(&json!({"op": "parse", "text": text}));
            assert_eq!(answer["ok"], true, "{name}: {answer}\n{text}");
        }
    }
}

/// Functions that TVM has before its storage rewrite while it compiles networks, tensor expressions and schedules, now.
fn captured(about: usize) -> Vec<Record> {
    let python = std::env::var("MEMPLAN_PYTHON").unwrap_or("python3".to_owned());
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/peers/tvm_programs.py");
    let output = Command::new(python).arg(script).arg(about.to_string()).output().expect("python starts");
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().map(|line| Record(serde_json::from_str(line).expect("one JSON object a line"))).collect()
}

/// What became of captured programs.
#[derive(Debug, Default)]
struct Tally {
    read: u64,
    ran_here: u64,
    ran_in_tvm: u64,
    not_parsed_by_tvm_either: u64,
    /// Programs that `compat` rewrites, too.
    compatible: u64,
    /// Bytes before, TVM's and ours.
    bytes: [u64; 3],
    unread: BTreeMap<String, u64>,
    larger: Vec<String>,
}

fn total(function: &Function) -> u64 {
    memory(function).0.values().sum()
}

#[test]
fn captured_programs_in_tvm() {
    let Some(mut tvm) = Tvm::start() else { return };
    let programs = captured(260);
    let mut tally = Tally::default();
    let mut runnable = Vec::new();
    for record in &programs {
        let name = record.text("name").expect("a name");
        let source = record.text("text").expect("a text");
        let script = match Script::read(source) {
            Ok(script) => script,
            Err(error) => {
                *tally.unread.entry(error.to_string()).or_default() += 1;
                continue;
            }
        };
        tally.read += 1;
        let (text, ran) = rewritten(name, &script);
        tally.ran_here += u64::from(ran);
        let compatible = compatible(name, &script);
        tally.compatible += u64::from(compatible.is_some());
        for text in std::iter::once(&text).chain(&compatible) {
            let answer = tvm.ask(&json!({"op": "parse", "text": text}));
            if answer["ok"] != true {
                // TVM prints some kernels that it cannot parse itself (a pragma on a variable that nothing defines).
                let own = tvm.ask(&json!({"op": "parse", "text": source}));
                assert_eq!(own["ok"], false, "{name}: {answer}\n{text}");
                tally.not_parsed_by_tvm_either += 1;
            }
        }
        let ours = Script::read(&text).expect("read above");
        if let Some(theirs) = record.text("tvm").and_then(|theirs| Script::read(theirs).ok()) {
            let sizes = [&script, &theirs, &ours].map(|script| total(&script.functions()[0]));
            (0..3).for_each(|at| tally.bytes[at] += sizes[at]);
            if sizes[2] > sizes[1] {
                tally.larger.push(format!("{name}: {sizes:?}\n{source}\n{text}"));
            }
        }
        let plain = record.text("target") == Some("llvm") && !source.contains("T.int64(") && !source.contains("\"n\"");
        if plain && text != source && runnable.len() < 64 {
            runnable.push(json!({"texts": [source, text], "symbols": {}}));
        }
    }
    for batch in runnable.chunks(16) {
        let answer = tvm.ask(&json!({"op": "compare", "programs": batch}));
        assert_eq!(answer, json!({"ok": true, "different": []}));
        tally.ran_in_tvm += batch.len() as u64;
    }
    println!("{} programs: {tally:?}", programs.len());
    assert!(tally.larger.is_empty(), "{} need more than TVM:\n{}", tally.larger.len(), tally.larger[0]);
    assert!(tally.read >= 200 && tally.read * 100 >= programs.len() as u64 * 98, "{tally:?}");
    assert!(tally.bytes[2] <= tally.bytes[1] && tally.ran_here > 100, "{tally:?}");
    assert!(tally.not_parsed_by_tvm_either * 5 < tally.read + tally.compatible, "{tally:?}");
    assert!(tally.compatible * 2 > tally.read, "{tally:?}");
}
