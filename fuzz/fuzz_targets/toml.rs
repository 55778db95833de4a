//! Any bytes through the readers of TOML tables: dialects, devices, chips, scratch memory.
#![no_main]

#[allow(dead_code, reason = "each target takes one check")]
#[path = "../../crates/memplan/tests/fuzz/checks.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::toml(bytes));
