//! Any bytes through the .tflite reader.
#![no_main]

#[path = "../../crates/memplan-models/tests/fuzz/models.rs"]
mod models;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| models::check_tflite(bytes));
