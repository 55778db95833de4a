//! Any text through the TVMScript reader, the printer, the storage rewrite and the interpreter.
#![no_main]

use memplan::verify::{dataflow, packing};
use memplan_tensor::rewrite::Judge;

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Err(problem) = memplan_tensor::pass::fuzz_check(text, Judge { packing: packing::check, dataflow: dataflow::check }) {
        panic!("{problem}");
    }
});
