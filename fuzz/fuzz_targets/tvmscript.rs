//! Any text through the TVMScript reader, the printer, the storage rewrite and the interpreter.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Err(problem) = memplan_tensor::pass::fuzz_check(text) {
        panic!("{problem}");
    }
});
