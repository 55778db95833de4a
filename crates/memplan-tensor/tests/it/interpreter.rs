//! The interpreter against what LLVM computed for the recorded programs.

use crate::records::{Record, records};
use memplan_tensor::interpret::{Order, Output, RunError, RunOptions, run};
use memplan_tensor::script::Script;

pub(crate) fn options(record: &Record, seed: u64, order: Order) -> RunOptions {
    let mut options = RunOptions { seed, order, ..RunOptions::default() };
    if let Some(values) = record.0["program"]["symvals"].as_object() {
        for (name, value) in values {
            options.scalars.insert(name.clone(), value.as_i64().expect("an integer"));
        }
    }
    options
}

fn run_text(text: &str, options: &RunOptions) -> Result<Vec<Output>, RunError> {
    let script = Script::read(text).expect("a readable text");
    run(&script.functions()[0], options)
}

/// TVM's own output is right exactly where it was recorded as right.
#[test]
fn recorded_results_agree_with_llvm() {
    let (mut equal, mut wrong, mut skipped) = (0, 0, 0);
    for record in records() {
        let Some(after_text) = record.text("out_text") else {
            continue;
        };
        let before_text = record.text("in_text").expect("an input");
        let status = record.0["exec"]["status"].as_str().expect("a status");
        let options = options(&record, 7, Order::Forward);
        let before = run_text(before_text, &options);
        match status {
            "equal" => {
                let before = before.unwrap_or_else(|error| panic!("{}: {error}", record.id()));
                let after =
                    run_text(after_text, &options).unwrap_or_else(|error| panic!("{}: after: {error}", record.id()));
                if record.text("model") != Some("value_differs") {
                    assert_eq!(before, after, "{}", record.id());
                }
                equal += 1;
            }
            "different" | "after_fails" => {
                let before = before.unwrap_or_else(|error| panic!("{}: {error}", record.id()));
                let after = run_text(after_text, &options);
                // Hoisting an extent out of its loop is invalid even where it computes the right thing.
                if record.text("family") != Some("loop_extent") {
                    assert_ne!(Ok(before), after, "{}", record.id());
                }
                wrong += 1;
            }
            _ => skipped += 1,
        }
    }
    assert!(equal >= 100 && wrong >= 20, "{equal} equal, {wrong} wrong, {skipped} skipped");
}
