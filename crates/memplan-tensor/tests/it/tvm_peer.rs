//! What we print, a real TVM reads and computes alike; what it decides, our compatible mode decides.

use crate::generate::{Features, Random, program};
use crate::records::records;
use memplan_tensor::interpret::{Order, RunOptions, run_traced};
use memplan_tensor::rewrite::{Mode, RewriteError, RewriteOptions, allocation_sites, storage_rewrite};
use memplan_tensor::script::Script;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A running TVM.
struct Tvm {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Tvm {
    #[expect(clippy::print_stdout, reason = "a skipped test says so")]
    /// Starts TVM; `None` (said aloud) where there is none and none is required.
    fn start() -> Option<Tvm> {
        let python = std::env::var("MEMPLAN_PYTHON").unwrap_or("python3".to_owned());
        let found = Command::new(&python).args(["-c", "import tvm.tirx"]).stderr(Stdio::null()).status();
        if !found.is_ok_and(|status| status.success()) {
            let required = std::env::var("MEMPLAN_REQUIRE_PEERS").is_ok_and(|value| value == "1");
            assert!(!required, "needs apache-tvm");
            println!("skipped: needs apache-tvm");
            return None;
        }
        let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/peers/tvm_peer.py");
        let mut child = Command::new(python)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("python starts");
        Some(Tvm {
            input: child.stdin.take().expect("a pipe"),
            output: BufReader::new(child.stdout.take().expect("a pipe")),
            child,
        })
    }

    fn ask(&mut self, question: &Value) -> Value {
        writeln!(self.input, "{question}").expect("the peer listens");
        self.input.flush().expect("the peer listens");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the peer answers");
        serde_json::from_str(&line).expect("the peer answers in JSON")
    }

    fn rewrite(&mut self, text: &str) -> Result<String, String> {
        let answer = self.ask(&json!({"op": "rewrite", "text": text}));
        match answer["text"].as_str() {
            Some(text) => Ok(text.to_owned()),
            None => Err(answer["error"].as_str().unwrap_or("").to_owned()),
        }
    }
}

impl Drop for Tvm {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn rewritten_text(script: &Script, options: &RewriteOptions) -> Option<String> {
    let rewritten = storage_rewrite(&script.functions()[0], options).ok()?;
    let mut script = script.clone();
    script.functions_mut()[0] = rewritten.function;
    Some(script.print())
}

#[test]
fn recorded_programs_in_tvm() {
    let Some(mut tvm) = Tvm::start() else { return };
    let (mut parsed, mut equal) = (0, 0);
    let sound = RewriteOptions::default();
    let compat = RewriteOptions { mode: Mode::Compat, ..RewriteOptions::default() };
    let arena = RewriteOptions { strategy: Some("auto".to_owned()), ..RewriteOptions::default() };
    for (index, record) in records().into_iter().enumerate() {
        let text = record.text("flat_text").or(record.text("in_text")).expect("an input");
        let script = Script::read(text).expect("a readable text");
        // Compiling takes its time: what every record does by default, every third does in an arena.
        for (options, is_run) in [(&sound, true), (&compat, false), (&arena, index % 3 == 0)] {
            let Some(after) = rewritten_text(&script, options) else { continue };
            let answer = tvm.ask(&json!({"op": "parse", "text": after}));
            assert_eq!(answer["ok"], true, "{}: {answer}\n{after}", record.id());
            parsed += 1;
            let status = record.0["exec"]["status"].as_str();
            if matches!(status, Some("equal" | "different" | "after_fails")) && is_run {
                let symbols = record.0["program"]["symvals"].clone();
                let symbols = if symbols.is_null() { json!({}) } else { symbols };
                let answer = tvm.ask(&json!({"op": "compare", "before": text, "after": after, "symbols": symbols}));
                assert_eq!(answer, json!({"ok": true, "equal": true}), "{}\n{after}", record.id());
                equal += 1;
            }
        }
    }
    assert!(parsed > 650 && equal > 250, "{parsed} parsed, {equal} equal");
}

/// Our compatible mode makes TVM's decisions on programs nobody recorded.
#[test]
fn generated_programs_in_tvm() {
    let Some(mut tvm) = Tvm::start() else { return };
    let count = std::env::var("MEMPLAN_TVM_PROGRAMS").ok().and_then(|count| count.parse().ok()).unwrap_or(300);
    let (mut same, mut refused, mut both_fail, mut unseen, mut problems) = (0, 0, 0, 0, Vec::new());
    for seed in 0..count {
        let mut random = Random::new(seed + 1_000_000);
        let features = Features::random(&mut random);
        let statements = 3 + random.below(12);
        let text = program(&mut random, features, statements);
        let script = Script::read(&text).expect("a valid program");
        let before = &script.functions()[0];
        let options = RewriteOptions { mode: Mode::Compat, ..RewriteOptions::default() };
        let ours = storage_rewrite(before, &options);
        let theirs = tvm.rewrite(&text);
        match (ours, theirs) {
            (Ok(ours), Ok(theirs)) => {
                let theirs = Script::read(&theirs).unwrap_or_else(|error| panic!("{seed}: {error}\n{theirs}"));
                let list = |function| -> Vec<String> {
                    allocation_sites(function)
                        .into_iter()
                        .map(|site| {
                            format!("{} {} {:?} {} {}", site.name, site.dtype, site.extents, site.scope, site.path)
                        })
                        .collect()
                };
                let (ours, theirs) = (list(&ours.function), list(&theirs.functions()[0]));
                if ours == theirs {
                    same += 1;
                } else {
                    problems.push(format!("{seed}: {ours:#?}\ninstead of {theirs:#?}\n{text}"));
                }
            }
            (Err(_), Err(_)) => both_fail += 1,
            (Ok(_), Err(error)) => problems.push(format!("{seed}: TVM fails: {error}\n{text}")),
            (Err(RewriteError::Refused { .. }), Ok(theirs)) => {
                refused += 1;
                unseen += u64::from(shows_nothing(&text, &theirs));
            }
            (Err(other), Ok(_)) => problems.push(format!("{seed}: {other}\n{text}")),
        }
    }
    assert!(
        problems.is_empty(),
        "{same} same, {refused} refused, {both_fail} fail, {} problems:\n{}",
        problems.len(),
        problems[..problems.len().min(5)].join("\n")
    );
    // Wrong only in a branch that was not taken, or by a value that happened to be the same.
    assert!(unseen * 20 <= count, "{unseen} of {refused} refusals show in no run");
    assert!(same > count / 4);
}

/// Whether every load of TVM's result finds the same value, in every order.
fn shows_nothing(before: &str, after: &str) -> bool {
    let (Ok(before), Ok(after)) = (Script::read(before), Script::read(after)) else {
        return false;
    };
    [Order::Forward, Order::Backward, Order::Lockstep].into_iter().all(|order| {
        (0..3).all(|seed| {
            let options = RunOptions { order, seed, ..RunOptions::default() };
            run_traced(&before.functions()[0], &options) == run_traced(&after.functions()[0], &options)
        })
    })
}
