//! Any bytes through a pass, which the first byte chooses.
#![no_main]

#[allow(dead_code, reason = "each target takes one check")]
#[path = "../../crates/memplan/tests/fuzz/checks.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Some((&choice, input)) = bytes.split_first() {
        let (spec, name) = checks::PASSES[usize::from(choice) % checks::PASSES.len()];
        checks::pass(spec, name, input);
    }
});
