//! Any bytes as a program in the text form: read, planned, checked.
#![no_main]

#[allow(dead_code, reason = "each target takes one check")]
#[path = "../../crates/memplan/tests/fuzz/checks.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::program(bytes));
