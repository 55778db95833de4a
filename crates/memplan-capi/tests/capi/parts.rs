//! What a buffer may have besides a size and a life: several spaces, gaps, slots, relations; and who does not fit.

use std::ptr::{null, null_mut};

use memplan_capi::*;

use crate::{buffer, last_error, plan, problem, report};

/// A fast space of this many bytes and a slow one without limit.
fn fast_and_slow(capacity: u64) -> [SpaceDescription; 2] {
    [SpaceDescription { capacity, flags: MEMPLAN_CAPACITY, ..SpaceDescription::default() }, SpaceDescription::default()]
}

#[test]
fn a_buffer_lives_in_one_of_its_candidate_spaces() {
    let candidates = [0u32, 1];
    let either = |size, start, end| BufferDescription {
        spaces: candidates.as_ptr(),
        space_count: candidates.len(),
        ..buffer(size, start, end)
    };
    let buffers = [either(64, 0, 2), either(64, 1, 3), either(32, 4, 5)];
    let spaces = fast_and_slow(64);
    let problem = problem(&buffers, &spaces);
    let (mut offsets, mut found, mut extents) = ([9u64; 3], [9u32; 3], [9u64; 2]);
    let mut report = Report { spaces: found.as_mut_ptr(), extents: extents.as_mut_ptr(), ..report() };
    // SAFETY: live arrays of the sizes that the header asks for.
    let status = unsafe { memplan_plan(&problem, null(), offsets.as_mut_ptr(), &raw mut report) };
    assert!(matches!(status, Status::MEMPLAN_OPTIMAL | Status::MEMPLAN_FEASIBLE), "{}", last_error());
    assert_eq!(found.iter().take(2).sum::<u32>(), 1, "two buffers of 64 bytes, one in each space: {found:?}");
    assert_eq!((extents[0], extents.iter().sum::<u64>()), (64, report.extent));
    // SAFETY: live arrays of the sizes that the header asks for.
    unsafe {
        let verified = memplan_verify_in_spaces(&problem, offsets.as_ptr(), found.as_ptr(), null_mut());
        assert_eq!(verified, Status::MEMPLAN_OK, "{}", last_error());
        let swapped = [1 - found[0], found[1], found[2]];
        let verified = memplan_verify_in_spaces(&problem, offsets.as_ptr(), swapped.as_ptr(), null_mut());
        assert_eq!(verified, Status::MEMPLAN_WRONG, "both are in one space now");
    }
}

#[test]
fn an_offset_without_its_space_is_refused() {
    let candidates = [0u32, 1];
    let either = BufferDescription { spaces: candidates.as_ptr(), space_count: 2, ..buffer(8, 0, 2) };
    let (buffers, spaces) = ([buffer(8, 0, 2), either], fast_and_slow(64));
    let problem = problem(&buffers, &spaces);
    let offsets = [0u64; 2];
    let (status, ..) = plan(&problem, None);
    assert_eq!(status, Status::MEMPLAN_BAD_ARGUMENT);
    assert!(last_error().starts_with("buffer 1 may live in several spaces"), "{}", last_error());
    // SAFETY: live arrays of the sizes that the header asks for.
    unsafe {
        assert_eq!(memplan_verify(&problem, offsets.as_ptr(), null_mut()), Status::MEMPLAN_BAD_ARGUMENT);
        assert!(last_error().contains("memplan_verify_in_spaces"), "{}", last_error());
        let beyond = [0u32, 2];
        let status = memplan_verify_in_spaces(&problem, offsets.as_ptr(), beyond.as_ptr(), null_mut());
        assert_eq!(status, Status::MEMPLAN_BAD_ARGUMENT);
        assert!(last_error().contains("in space 2, and there are 2"), "{}", last_error());
    }
    let lost = [BufferDescription { spaces: null(), ..either }];
    assert_eq!(plan(&crate::problem(&lost, &spaces), None).0, Status::MEMPLAN_BAD_ARGUMENT);
}

#[test]
fn bytes_are_free_in_the_gaps_of_a_life() {
    let life = [
        IntervalDescription { start: 0, end: 2, ..IntervalDescription::default() },
        IntervalDescription { start: 5, end: 6, low: 0, high: 16 },
    ];
    let mut with_gap = buffer(64, 0, 6);
    assert_eq!(plan(&problem(&[with_gap, buffer(64, 2, 5), buffer(48, 5, 6)], &[]), None).2.extent, 128);
    with_gap.intervals = life.as_ptr();
    with_gap.interval_count = life.len();
    let buffers = [with_gap, buffer(64, 2, 5), buffer(48, 5, 6)];
    assert_eq!(plan(&problem(&buffers, &[]), None).2.extent, 64, "{}", last_error());
    let no_size = ProblemDescription { interval_size: 0, ..problem(&buffers, &[]) };
    assert_eq!(plan(&no_size, None).0, Status::MEMPLAN_BAD_ARGUMENT);
    assert!(last_error().contains("sizeof(memplan_interval)"), "{}", last_error());
}

#[test]
fn each_slot_has_an_offset() {
    let buffers = [BufferDescription { slots: 3, ..buffer(16, 0, 4) }, buffer(8, 1, 2)];
    let problem = problem(&buffers, &[]);
    let mut offsets = [u64::MAX; 4];
    // SAFETY: an offset for each slot.
    let status = unsafe { memplan_plan(&problem, null(), offsets.as_mut_ptr(), null_mut()) };
    assert_eq!(status, Status::MEMPLAN_OPTIMAL);
    let mut sorted = offsets;
    sorted.sort_unstable();
    assert!(sorted.windows(2).all(|pair| pair[1] >= pair[0] + 8) && sorted[3] <= 48, "{offsets:?}");
    // SAFETY: an offset for each slot.
    unsafe {
        assert_eq!(memplan_verify(&problem, offsets.as_ptr(), null_mut()), Status::MEMPLAN_OK, "{}", last_error());
        offsets[1] = offsets[0];
        assert_eq!(memplan_verify(&problem, offsets.as_ptr(), null_mut()), Status::MEMPLAN_WRONG);
    }
}

/// Two buffers, alive together at step 1.
fn extent_with(kind: u32) -> u64 {
    let buffers = [buffer(64, 0, 2), buffer(64, 1, 3), buffer(64, 5, 6)];
    let relations = [RelationDescription { kind, buffer: 1, other: 0, ..RelationDescription::default() }];
    let problem =
        ProblemDescription { relations: relations.as_ptr(), relation_count: relations.len(), ..problem(&buffers, &[]) };
    plan(&problem, None).2.extent
}

#[test]
fn relations_are_honoured() {
    assert_eq!(extent_with(MEMPLAN_MUST_NOT_SHARE), 128);
    assert_eq!(extent_with(MEMPLAN_MAY_OVERLAY), 64);
    assert_eq!(extent_with(MEMPLAN_MAY_OVERLAY_ANYWHERE), 64);
    assert_eq!(extent_with(MEMPLAN_MUST_SHARE), 64);
    assert_eq!(extent_with(77), 7, "nothing is written");
    assert!(last_error().contains("kind 77"), "{}", last_error());
}

/// Four buffers one after the other, room for three, and a price for every two of them.
#[test]
fn reuse_has_a_price() {
    let buffers = [buffer(32, 0, 2), buffer(32, 2, 4), buffer(32, 4, 6), buffer(32, 6, 8)];
    let spaces = [SpaceDescription { capacity: 96, flags: MEMPLAN_CAPACITY, ..SpaceDescription::default() }];
    let price = |buffer, other, weight| ReuseCostDescription { buffer, other, weight };
    let prices = [price(0, 1, 4), price(1, 2, 3), price(2, 3, 4), price(0, 2, 4), price(1, 3, 4), price(0, 3, 5)];
    let problem = ProblemDescription {
        reuse_costs: prices.as_ptr(),
        reuse_cost_count: prices.len(),
        ..problem(&buffers, &spaces)
    };
    let (mut offsets, mut active) = ([0u64; 4], [9u32; 6]);
    let mut report = Report { active: active.as_mut_ptr(), ..report() };
    // SAFETY: live arrays of the sizes that the header asks for.
    let status = unsafe { memplan_plan(&problem, null(), offsets.as_mut_ptr(), &raw mut report) };
    assert_eq!(status, Status::MEMPLAN_OPTIMAL, "{}", last_error());
    assert_eq!((report.cost, report.cost_lower_bound, report.active_count), (3, 3, 1));
    assert_eq!(active, [1, 9, 9, 9, 9, 9], "the cheapest pair shares");
    assert_eq!(offsets[1], offsets[2]);
    // All on one place: everything is paid for.
    let together = [0u64; 4];
    // SAFETY: live arrays of the sizes that the header asks for.
    let status = unsafe { memplan_verify(&problem, together.as_ptr(), &raw mut report) };
    assert_eq!((status, report.cost, report.active_count), (Status::MEMPLAN_OK, 24, 6), "{}", last_error());
    let wrong = [price(0, 9, 1)];
    let problem = ProblemDescription { reuse_costs: wrong.as_ptr(), reuse_cost_count: 1, ..problem };
    assert_eq!(plan(&problem, None).0, Status::MEMPLAN_BAD_ARGUMENT, "there is no buffer 9");
}

#[test]
fn exclusive_buffers_share_with_nobody() {
    let alone = BufferDescription { flags: MEMPLAN_EXCLUSIVE, ..buffer(64, 0, 2) };
    assert_eq!(plan(&problem(&[alone, buffer(64, 5, 6)], &[]), None).2.extent, 128);
    let unknown = BufferDescription { flags: 64, ..buffer(64, 0, 2) };
    assert_eq!(plan(&problem(&[unknown], &[]), None).0, Status::MEMPLAN_BAD_ARGUMENT);
}

#[test]
fn the_witness_is_an_array() {
    let spaces = [SpaceDescription { capacity: 90, flags: MEMPLAN_CAPACITY, ..SpaceDescription::default() }];
    let buffers = [buffer(64, 0, 2), buffer(1, 5, 6), buffer(32, 1, 4)];
    let (mut offsets, mut witness) = ([0u64; 3], [9u32; 3]);
    let mut report = Report { witness: witness.as_mut_ptr(), ..report() };
    // SAFETY: live arrays of the sizes that the header asks for.
    let status = unsafe { memplan_plan(&problem(&buffers, &spaces), null(), offsets.as_mut_ptr(), &raw mut report) };
    assert_eq!((status, report.witness_count), (Status::MEMPLAN_INFEASIBLE, 2));
    assert_eq!(witness, [0, 2, 9]);
}

/// Callers of the first version have shorter structs; nothing behind them is read or written.
#[test]
fn shorter_structs_are_those_of_the_first_version() {
    #[repr(C)]
    struct OldBuffer([u64; 6]);
    #[repr(C)]
    struct OldProblem([usize; 7]);
    #[repr(C)]
    struct OldReport([u64; 4]);
    let buffers = [OldBuffer([64, 1, 0, 2, 0, 0]), OldBuffer([32, 1, 1, 3, 0, 0])];
    let problem = OldProblem([size_of::<OldProblem>(), size_of::<OldBuffer>(), buffers.as_ptr() as usize, 2, 0, 0, 0]);
    let mut reports = [OldReport([size_of::<OldReport>() as u64, 0, 0, 0]), OldReport([5, 5, 5, 5])];
    let mut offsets = [9u64; 2];
    // SAFETY: the structs say that they are those of the first version.
    let status =
        unsafe { memplan_plan((&raw const problem).cast(), null(), offsets.as_mut_ptr(), reports.as_mut_ptr().cast()) };
    assert_eq!(status, Status::MEMPLAN_OPTIMAL, "{}", last_error());
    assert_eq!(reports[0].0, [32, 96, 96, 0]);
    assert_eq!(reports[1].0, [5; 4], "what lies behind the report is not touched");
}
