//! What we print, a real TVM reads and computes alike; what it decides, our compatible mode decides.

use crate::JUDGE;
use crate::decisions::difference;
use crate::generate::{Features, Random, program};
use crate::neighbours::{EXTENTS, neighbour};
use crate::records::{Record, records};
use memplan_tensor::interpret::{Order, RunOptions, run_traced};
use memplan_tensor::rewrite::{Mode, RewriteError, RewriteOptions, storage_rewrite};
use memplan_tensor::script::Script;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use memplan_testkit::peers;

/// A running TVM.
pub(crate) struct Tvm {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Tvm {
    /// Starts TVM; `None` (said aloud) where there is none and none is required.
    pub(crate) fn start() -> Option<Tvm> {
        let python = peers::python("tvm.tirx")?;
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

    pub(crate) fn ask(&mut self, question: &Value) -> Value {
        writeln!(self.input, "{question}").expect("the peer listens");
        self.input.flush().expect("the peer listens");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the peer answers");
        serde_json::from_str(&line).expect("the peer answers in JSON")
    }

    /// The text as TVM prints it, and after its own pass; `None` if it cannot read the text.
    fn rewrite(&mut self, text: &str) -> Option<(String, Result<String, String>)> {
        let answer = self.ask(&json!({"op": "rewrite", "text": text}));
        let before = answer["before"].as_str()?.to_owned();
        Some((before, answer["text"].as_str().map(str::to_owned).ok_or_else(|| answer["error"].to_string())))
    }
}

impl Drop for Tvm {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn rewritten_text(script: &Script, options: &RewriteOptions) -> Option<String> {
    let rewritten = storage_rewrite(&script.functions()[0], options, JUDGE).ok()?;
    let mut script = script.clone();
    script.functions_mut()[0] = rewritten.function;
    Some(script.print())
}

/// Programs that are compiled as one module.
const BATCH: usize = 16;

/// A recorded program and what becomes of it: by default, in compatible mode unless refused, in an arena.
fn versions(record: &Record) -> Vec<String> {
    let text = record.text("flat_text").or(record.text("in_text")).expect("an input");
    let script = Script::read(text).expect("a readable text");
    let modes = [
        RewriteOptions::default(),
        RewriteOptions { mode: Mode::Compat, ..RewriteOptions::default() },
        RewriteOptions { strategy: Some("auto".to_owned()), ..RewriteOptions::default() },
    ];
    let after = modes.iter().filter_map(|options| rewritten_text(&script, options));
    std::iter::once(text.to_owned()).chain(after).collect()
}

/// Everything we print parses, and what can be run computes the same: how many texts of each kind there were.
fn parse_and_run(records: &[Record]) -> (usize, usize) {
    let Some(mut tvm) = Tvm::start() else { return (0, 0) };
    let (mut parsed, mut equal) = (0, 0);
    for batch in records.chunks(BATCH) {
        let (mut ids, mut programs) = (Vec::new(), Vec::new());
        for record in batch {
            let texts = versions(record);
            parsed += texts.len() - 1;
            if matches!(record.0["exec"]["status"].as_str(), Some("equal" | "different" | "after_fails")) {
                let symbols = record.0["program"].get("symvals").cloned().filter(Value::is_object).unwrap_or(json!({}));
                equal += texts.len() - 1;
                ids.push(record.id());
                programs.push(json!({"texts": texts, "symbols": symbols}));
                continue;
            }
            for text in &texts[1..] {
                let answer = tvm.ask(&json!({"op": "parse", "text": text}));
                assert_eq!(answer["ok"], true, "{}: {answer}\n{text}", record.id());
            }
        }
        let answer = tvm.ask(&json!({"op": "compare", "programs": programs}));
        assert_eq!(answer, json!({"ok": true, "different": []}), "{ids:?}");
    }
    (parsed, equal)
}

/// Default, compatible and arena, of every recorded program, compiled with LLVM by a real TVM; two of them at a time.
#[test]
fn recorded_programs_in_tvm() {
    let records = records();
    let (first, second) = records.split_at(records.len() / 2);
    let (one, other) = std::thread::scope(|scope| {
        let other = scope.spawn(|| parse_and_run(second));
        (parse_and_run(first), other.join().expect("the other half"))
    });
    let (parsed, equal) = (one.0 + other.0, one.1 + other.1);
    assert!(parsed == 0 || parsed > 700 && equal > 500, "{parsed} parsed, {equal} equal");
}

/// What became of programs that both rewrite.
#[derive(Default)]
struct Tally {
    same: u64,
    refused: u64,
    both_fail: u64,
    /// Refusals of results that no run shows to be wrong.
    unseen: Vec<String>,
    problems: Vec<String>,
}

impl Tally {
    /// Rewrites a program here and there and compares the decisions.
    fn compare(&mut self, tvm: &mut Tvm, name: &str, text: &str) {
        let Some((before_text, theirs)) = tvm.rewrite(text) else { return };
        let script = match Script::read(&before_text) {
            Ok(script) => script,
            // A mutant that TVM lets through and LLVM would not.
            Err(error) if error.to_string().contains("must be an integer") => return,
            Err(error) => return self.problems.push(format!("{name}: {error}\n{before_text}")),
        };
        let before = &script.functions()[0];
        let options = RewriteOptions { mode: Mode::Compat, ..RewriteOptions::default() };
        match (storage_rewrite(before, &options, JUDGE), theirs) {
            (Ok(ours), Ok(theirs_text)) => match Script::read(&theirs_text) {
                Ok(theirs) => match difference(before, &ours, &theirs.functions()[0]) {
                    None => self.same += 1,
                    Some(difference) => self.problems.push(format!("{name}: {difference}\n{before_text}")),
                },
                Err(error) => self.problems.push(format!("{name}: theirs: {error}\n{theirs_text}")),
            },
            (Err(_), Err(_)) => self.both_fail += 1,
            (Ok(_), Err(error)) => self.problems.push(format!("{name}: TVM fails: {error}\n{before_text}")),
            (Err(error @ RewriteError::Refused { .. }), Ok(theirs)) => {
                self.refused += 1;
                if shows_nothing(&before_text, &theirs) {
                    self.unseen.push(format!("{name}: {error}\n{before_text}\n{theirs}"));
                }
            }
            (Err(other), Ok(_)) => self.problems.push(format!("{name}: {other}\n{before_text}")),
        }
    }

    fn assert_no_problems(&self) {
        assert!(
            self.problems.is_empty(),
            "{} same, {} refused, {} fail, {} problems:\n{}",
            self.same,
            self.refused,
            self.both_fail,
            self.problems.len(),
            self.problems[..self.problems.len().min(5)].join("\n")
        );
    }

    /// What is refused is wrong. Few show nothing: a branch that was not taken, a value that happened to be the same, a
    /// pointer handed to something unknown.
    fn assert_refusals_show(&self, programs: u64) {
        let unseen = self.unseen.len() as u64;
        assert!(unseen * 20 <= programs, "{unseen} of {} refusals show in no run:\n{}", self.refused, self.unseen[0]);
    }
}

fn number_of_programs(default: u64) -> u64 {
    std::env::var("MEMPLAN_TVM_PROGRAMS").ok().and_then(|count| count.parse().ok()).unwrap_or(default)
}

/// Our compatible mode makes TVM's decisions on programs nobody recorded.
#[test]
fn generated_programs_in_tvm() {
    let Some(mut tvm) = Tvm::start() else { return };
    let count = number_of_programs(300);
    let mut tally = Tally::default();
    for seed in 0..count {
        let mut random = Random::new(seed + 1_000_000);
        let features = Features::random(&mut random);
        let statements = 3 + random.below(12);
        let text = program(&mut random, features, statements);
        tally.compare(&mut tvm, &seed.to_string(), &text);
    }
    tally.assert_no_problems();
    tally.assert_refusals_show(count);
    assert!(tally.same > count / 4);
}

/// And on programs like the recorded ones.
#[test]
fn neighbours_of_recorded_programs_in_tvm() {
    let Some(mut tvm) = Tvm::start() else { return };
    let count = number_of_programs(300);
    let first: u64 = std::env::var("MEMPLAN_TVM_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let records = records();
    let mut tally = Tally::default();
    for seed in first..first + count {
        let mut random = Random::new(seed + 2_000_000);
        let record = &records[random.below(records.len())];
        let text = record.text("flat_text").or(record.text("in_text")).expect("an input");
        tally.compare(&mut tvm, &format!("{seed} {}", record.id()), &neighbour(&mut random, text));
    }
    tally.assert_no_problems();
    tally.assert_refusals_show(count);
    assert!(tally.same > count / 4, "{} same", tally.same);
}

const TWO_SIZES: &str = "
    for i in range(2):
        A[i] = E[i]
    for i in range(2):
        O[i] = A[1 - i]
    for i in range(2):
        B[i] = E[i]
    for i in range(2):
        O[i] = O[i] + B[1 - i]
";

/// The larger of two extents is written as TVM writes it.
#[test]
fn extents_in_tvm() {
    let Some(mut tvm) = Tvm::start() else { return };
    let mut tally = Tally::default();
    let parameters = "n: T.int32, m: T.int32, E: T.Buffer((64,), \"float32\"), O: T.Buffer((64,), \"float32\")";
    for (row, first) in EXTENTS.iter().enumerate() {
        for (column, second) in EXTENTS.iter().enumerate() {
            if (row + column).is_multiple_of(3) || number_of_programs(0) > 0 {
                let sizes = format!("    A = T.alloc_buffer(({first},))\n    B = T.alloc_buffer(({second},))");
                let text = format!("@T.prim_func(s_tir=True)\ndef main({parameters}):\n{sizes}{TWO_SIZES}");
                tally.compare(&mut tvm, &format!("{first} and {second}"), &text);
            }
        }
    }
    tally.assert_no_problems();
    assert!(tally.same > 300, "{} same", tally.same);
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
