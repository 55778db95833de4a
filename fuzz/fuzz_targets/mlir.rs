//! Any bytes through the MLIR reader and the lowering.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memplan_mlir::fuzz_check(bytes));
