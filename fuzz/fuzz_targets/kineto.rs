//! Any bytes through the reader of traces of PyTorch's profiler.
#![no_main]

#[path = "../../crates/memplan-models/tests/fuzz/models.rs"]
mod models;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| models::check_kineto(bytes));
