//! Any bytes through the .trace reader.
#![no_main]

#[path = "../../crates/memplan-models/tests/fuzz/records.rs"]
mod records;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| records::check_named(bytes, "trace"));
