//! Memory snapshots of PyTorch: real ones, compared with what PyTorch counted itself, and hostile ones.

#[path = "fuzz/models.rs"]
mod fuzz;

use std::path::Path;

use memplan_core::bound::peak_live;
use memplan_core::{BufferId, SpaceId, Step};
use memplan_models::snapshot::{self, ReadSnapshot};
use memplan_verify::packing;
use proptest::prelude::*;

fn bytes(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/torch");
    std::fs::read(folder.join(format!("{name}.pickle"))).expect("the folder has it")
}

fn read(name: &str) -> ReadSnapshot {
    snapshot::read(&bytes(name)).expect("a snapshot")
}

/// The most bytes alive at once in each space.
fn peaks(read: &ReadSnapshot) -> Vec<u64> {
    let counts = |space: SpaceId| move |buffer: BufferId| read.problem.buffers()[buffer].spaces.contains(&space);
    read.problem.spaces().ids().map(|space| peak_live(&read.problem, counts(space)).bytes.0).collect()
}

/// Bytes alive in the last step.
fn in_the_end(read: &ReadSnapshot) -> u64 {
    let end = read.problem.buffers().iter().filter_map(|buffer| buffer.lifetime.end()).max().expect("some buffers");
    let alive = read.problem.buffers().iter().filter(|buffer| buffer.lifetime.end() == Some(end));
    alive.map(|buffer| buffer.bytes().expect("bytes").0).sum()
}

#[test]
fn the_peak_is_what_pytorch_counted() {
    // max_memory_allocated, max_memory_reserved, memory_allocated: tests/data/torch/README.md.
    for (name, peak, reserved, end) in
        [("convnet", 50_724_864, 73_400_320, 4_665_344), ("inference", 118_648_832, 182_452_224, 107_114_496)]
    {
        let read = read(name);
        assert_eq!((peaks(&read), read.reserved.0, in_the_end(&read)), (vec![peak], reserved, end), "{name}");
    }
}

#[test]
fn the_allocators_own_layout_is_a_plan_that_verifies() {
    for (name, reserved) in
        [("convnet", 73_400_320), ("inference", 182_452_224), ("streams", 190_840_832), ("wrapped", 188_743_680)]
    {
        let read = read(name);
        let plan = read.plan.expect(name);
        assert_eq!(packing::check(&read.problem, &plan), [], "{name}");
        assert_eq!((plan.extent().0, read.reserved.0), (reserved, reserved), "{name}");
    }
}

#[test]
fn streams_do_not_share_memory() {
    let read = read("streams");
    let names: Vec<&str> = read.problem.spaces().iter().map(|space| space.name.as_str()).collect();
    assert_eq!(names, ["cuda:0", "cuda:0 stream 1"]);
    // Over both streams together, as a few lines of Python count it in the pickle: blocks that PyTorch did not split
    // and memory that waits for the other stream keep it from being max_memory_allocated.
    assert_eq!(peak_live(&read.problem, |_| true).bytes.0, 159_608_832);
}

#[test]
fn what_came_before_the_recording_lives_from_step_0() {
    let read = read("wrapped");
    let older = read.problem.buffers().iter().filter(|buffer| buffer.lifetime.start() == Some(Step(0))).count();
    assert!(
        older > 10 && read.notes[0].starts_with(&format!("{older} allocations were there before")),
        "{:?}",
        read.notes
    );
    assert_eq!(in_the_end(&read), 107_114_496);
}

#[test]
fn allocations_are_named_after_the_users_own_line() {
    let read = read("inference");
    let names: Vec<&str> = read.problem.buffers().iter().map(|buffer| buffer.name.as_str()).collect();
    assert!(names.iter().any(|name| name.starts_with("forward train.py:")), "{names:?}");
    assert!(!names.iter().any(|name| name.starts_with("layer_norm")), "{names:?}");
}

#[test]
fn other_pickles_are_refused() {
    let code = |bytes: &[u8]| snapshot::read(bytes).unwrap_err().code;
    assert_eq!(code(b"\x80\x04]."), "snapshot::none");
    assert_eq!(code(b"\x80\x04}."), "snapshot::none");
    assert_eq!(code(b"\x80\x04cposix\nsystem\n\x8c\x04true\x85R."), "pickle::code");
    // An event without an action, and one whose size is missing.
    let event = |inner: &[u8]| [b"\x80\x04}(\x8c\x08segments]\x8c\x0ddevice_traces](](", inner, b"eeu."].concat();
    assert_eq!(code(&event(b"}")), "snapshot::event");
    assert_eq!(code(&event(b"}\x8c\x06action\x8c\x05allocs")), "snapshot::event");
    assert!(snapshot::read(&event(b"}\x8c\x06action\x8c\x08snapshots")).unwrap().problem.buffers().is_empty());
}

#[test]
fn a_small_pickle_cannot_stand_for_many_events() {
    // One trace of 200 references to one event, and 200 references to that trace, and so on: 200^2 from 1 kB.
    let mut bytes = b"\x80\x04}(\x8c\x08segments]\x8c\x0ddevice_traces](".to_vec();
    bytes.extend(b"](}(\x8c\x06action\x8c\x05alloc\x8c\x04addrK\x01\x8c\x04sizeK\x01uq\x00");
    bytes.extend(b"h\x00".repeat(200));
    bytes.extend(b"eq\x01");
    bytes.extend(b"h\x01".repeat(200));
    bytes.extend(b"eu.");
    assert_eq!(snapshot::read(&bytes).unwrap_err().code, "pickle::amplified");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn damaged_snapshots_end_in_an_error_or_a_problem(position in 0usize..21_000, byte: u8, length in 0usize..21_000) {
        let mut bad = bytes("inference");
        bad[position] = byte;
        fuzz::check_snapshot(&bad);
        bad.truncate(length);
        fuzz::check_snapshot(&bad);
    }
}
