//! Traces of PyTorch's profiler: real ones, compared with what PyTorch counted itself, and ones that lack something.

#[path = "fuzz/models.rs"]
mod fuzz;

use std::path::Path;

use memplan_core::bound::peak_live;
use memplan_core::{Buffer, BufferId, SpaceId, Step};
use memplan_models::kineto::{self, ReadTrace};
use proptest::prelude::*;

fn text(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/torch");
    std::fs::read_to_string(folder.join(format!("profile_{name}.json"))).expect("the folder has it")
}

fn read(name: &str) -> ReadTrace {
    kineto::read(&text(name)).expect("a trace with memory events")
}

/// The name of every space with the most bytes alive at once in it.
fn peaks(read: &ReadTrace) -> Vec<(&str, u64)> {
    let counts = |space: SpaceId| move |buffer: BufferId| read.problem.buffers()[buffer].spaces.contains(&space);
    let peak = |space: SpaceId| peak_live(&read.problem, counts(space)).bytes.0;
    read.problem.spaces().iter_enumerated().map(|(id, space)| (space.name.as_str(), peak(id))).collect()
}

#[test]
fn the_peak_is_what_pytorch_counted() {
    // max_memory_allocated and max_memory_reserved of that step: tests/data/torch/README.md.
    let cuda = read("cuda");
    assert_eq!(peaks(&cuda), [("cpu", 8), ("cuda:0", 76_899_840)]);
    assert_eq!((cuda.allocated.0, cuda.reserved.0), (8 + 76_899_840, 96_468_992));
    // The largest `Total Allocated` of the file. A CPU has no caching allocator.
    let cpu = read("cpu");
    assert_eq!((peaks(&cpu), cpu.allocated.0, cpu.reserved.0), (vec![("cpu", 7_028_144)], 7_028_144, 0));
}

#[test]
fn what_came_before_the_recording_is_counted() {
    let notes = read("cuda").notes;
    assert_eq!(notes[0], "8 allocations were there before the recording began; they live from step 0");
    assert_eq!(notes[1], "what was there before and is never freed is one buffer, `before recording`");
    assert_eq!(notes[2], "a trace does not tell streams apart; a snapshot does");
    // Weights, optimizer state and the input of that network are there before, and nothing else.
    assert!(read("cpu").notes.is_empty(), "on a CPU the profiler counts from 0");
}

#[test]
fn allocations_are_named_after_functions_and_operators() {
    let named = |name: &str| {
        let buffers = read(name).problem;
        buffers.buffers().iter().map(|buffer| buffer.name.to_string()).collect::<Vec<String>>()
    };
    let has = |names: &[String], start: &str| names.iter().any(|name| name.starts_with(start));
    let (cpu, cuda) = (named("cpu"), named("cuda"));
    assert!(has(&cpu, "forward train.py:22 aten::conv2d#2") && has(&cpu, "forward train.py:22 aten::relu"), "{cpu:?}");
    assert!(
        has(&cpu, "step train.py:32 ConvolutionBackward0") && has(&cpu, "step train.py:32 AddmmBackward0"),
        "{cpu:?}"
    );
    assert!(has(&cuda, "aten::conv2d") && has(&cuda, "aten::relu") && has(&cuda, "ReluBackward0"), "{cuda:?}");
    // Counted by a few lines of Python, which look at every operator around every event.
    let count = |start: &str| cuda.iter().filter(|name| name.split('#').next() == Some(start)).count();
    assert_eq!((count("aten::conv2d"), count("aten::empty"), count("no operator")), (3, 1, 0), "{cuda:?}");
}

/// A trace of these memory events, at one microsecond after the other.
fn trace(events: &[&str]) -> String {
    let event = |(index, args): (usize, &&str)| {
        format!("{{\"name\": \"[memory]\", \"ph\": \"i\", \"tid\": 1, \"ts\": {index}, \"args\": {{{args}}}}}")
    };
    let events: Vec<String> = events.iter().enumerate().map(event).collect();
    format!("{{\"schemaVersion\": 1, \"traceEvents\": [{}]}}", events.join(", "))
}

#[test]
fn lives_go_from_an_allocation_to_the_free_at_its_address() {
    let read = kineto::read(&trace(&[
        "\"Addr\": 64, \"Bytes\": 100",
        "\"Addr\": 256, \"Bytes\": 50",
        "\"Addr\": 64, \"Bytes\": -100",
        "\"Addr\": 512, \"Bytes\": -7",
        "\"Addr\": 64, \"Bytes\": 30",
    ]))
    .unwrap();
    let life = |buffer: &Buffer| (buffer.bytes().unwrap().0, buffer.lifetime.start(), buffer.lifetime.end());
    let lives: Vec<_> = read.problem.buffers().iter().map(life).collect();
    let expected = [(7, 0, 4), (100, 1, 3), (50, 2, 6), (30, 5, 6)];
    assert_eq!(lives, expected.map(|(size, start, end)| (size, Some(Step(start)), Some(Step(end)))));
}

#[test]
fn a_trace_that_does_not_say_enough_is_refused_with_the_reason() {
    let code = |text: &str| kineto::read(text).unwrap_err().code;
    assert_eq!(code("{\"traceEvents\": []}"), "kineto::no-memory");
    assert_eq!(code("{\"traceEvents\": [{\"name\": \"aten::relu\", \"cat\": \"cpu_op\"}]}"), "kineto::no-memory");
    assert_eq!(code(&trace(&["\"Bytes\": 100, \"Device Type\": 0"])), "kineto::no-address");
    assert_eq!(code(&trace(&["\"Addr\": 100"])), "kineto::no-address");
    assert_eq!(code(&trace(&["\"Addr\": -1, \"Bytes\": 8"])), "kineto::event");
    assert_eq!(code("{\"traceEvents\": [{\"name\": \"[memory]\"}]}"), "kineto::event");
    assert_eq!(code(&trace(&["\"Addr\": 1, \"Bytes\": 8", "\"Addr\": 1, \"Bytes\": -9"])), "kineto::pairs");
    assert_eq!(code(&trace(&["\"Addr\": 1, \"Bytes\": 9223372036854775807"]).repeat(2)), "json::syntax");
    assert_eq!(code("{\"traceEvents\": 7}"), "json::syntax");
    let most = "\"Bytes\": 9223372036854775807";
    assert_eq!(code(&trace(&[&format!("\"Addr\": 1, {most}"), &format!("\"Addr\": 2, {most}")])), "kineto::too-large");
}

#[test]
fn missing_events_are_noted_where_totals_skip() {
    let two =
        ["\"Addr\": 1, \"Bytes\": 8, \"Total Allocated\": 8", "\"Addr\": 2, \"Bytes\": 8, \"Total Allocated\": 24"];
    let notes = kineto::read(&trace(&two)).unwrap().notes;
    assert_eq!(notes, ["PyTorch's own totals skip 1 times: events are missing, and the peak may be higher"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn damaged_traces_end_in_an_error_or_a_problem(position in 0usize..61_000, byte: u8, length in 0usize..61_000) {
        let mut bad = text("cuda").into_bytes();
        bad[position] = byte;
        fuzz::check_kineto(&bad);
        bad.truncate(length);
        fuzz::check_kineto(&bad);
    }
}
