//! Any bytes as tensor expressions: every stage, planned and checked.
#![no_main]

#[allow(dead_code, reason = "each target takes one check")]
#[path = "../../crates/memplan/tests/fuzz/checks.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::tensor_expressions(bytes));
