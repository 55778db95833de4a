//! Bad arguments end in a status and a message, never in a crash.

use std::ptr::{null, null_mut};

use memplan_capi::*;

use crate::{buffer, last_error, plan, problem, report};

#[track_caller]
fn refused(status: Status, words: &str) {
    assert_eq!(status, Status::MEMPLAN_BAD_ARGUMENT);
    assert!(last_error().contains(words), "{:?} does not say {words:?}", last_error());
}

#[test]
fn null_pointers() {
    let buffers = [buffer(1, 0, 1)];
    let good = problem(&buffers, &[]);
    let mut offset = 0u64;
    // SAFETY: null or live.
    unsafe {
        refused(memplan_plan(null(), null(), &raw mut offset, null_mut()), "memplan_problem is null");
        refused(memplan_plan(&good, null(), null_mut(), null_mut()), "offsets is null");
        refused(memplan_verify(null(), &offset, null_mut()), "memplan_problem is null");
        refused(memplan_verify(&good, null(), null_mut()), "offsets is null");
        let lost = ProblemDescription { buffers: null(), ..good };
        refused(memplan_plan(&lost, null(), &raw mut offset, null_mut()), "1 of memplan_buffer");
        let lost = ProblemDescription { spaces: null(), space_count: 2, ..good };
        refused(memplan_plan(&lost, null(), &raw mut offset, null_mut()), "2 of memplan_space");
        let mut text = null_mut();
        refused(memplan_rewrite(null(), 0, c"merge-alloc".as_ptr(), null(), &raw mut text), "null");
        refused(memplan_rewrite(c"".as_ptr(), 0, null(), null(), &raw mut text), "the pass is null");
        refused(memplan_rewrite(c"".as_ptr(), 0, c"merge-alloc".as_ptr(), null(), null_mut()), "null");
        memplan_free_text(null_mut());
    }
}

#[test]
fn sizes_of_structs_that_are_none() {
    let buffers = [buffer(1, 0, 1)];
    let good = problem(&buffers, &[]);
    for size in [0, 7, usize::MAX] {
        refused(plan(&ProblemDescription { struct_size: size, ..good }, None).0, "sizeof(memplan_problem)");
        refused(plan(&ProblemDescription { buffer_size: size, ..good }, None).0, "sizeof(memplan_buffer)");
        refused(plan(&good, Some(&Options { struct_size: size, ..Options::default() })).0, "sizeof(memplan_options)");
        let mut offset = 0;
        let mut bad = Report { struct_size: size, ..report() };
        // SAFETY: live values; the wrong size is what is tested.
        refused(unsafe { memplan_plan(&good, null(), &raw mut offset, &raw mut bad) }, "sizeof(memplan_report)");
    }
}

#[test]
fn counts_beyond_all_memory() {
    let buffers = [buffer(1, 0, 1)];
    for count in [usize::MAX, 1 << 40] {
        let huge = ProblemDescription { buffer_count: count, ..problem(&buffers, &[]) };
        let mut offset = 0;
        // SAFETY: the count is refused before the array is looked at.
        refused(unsafe { memplan_plan(&huge, null(), &raw mut offset, null_mut()) }, "more than 2^32");
    }
}

#[test]
fn problems_that_contradict_themselves() {
    refused(plan(&problem(&[buffer(1, 3, 2)], &[]), None).0, "before it starts");
    refused(plan(&problem(&[BufferDescription { space: 1, ..buffer(1, 0, 1) }], &[]), None).0, "space 1");
    let off = BufferDescription { fixed_offset: 3, flags: MEMPLAN_FIXED_OFFSET, alignment: 2, ..buffer(1, 0, 1) };
    refused(plan(&problem(&[off], &[]), None).0, "3");
    refused(plan(&problem(&[buffer(u64::MAX, 0, 1), buffer(u64::MAX, 0, 1)], &[]), None).0, "");
    refused(plan(&problem(&[buffer(1, 0, u64::MAX)], &[]), None).0, "");
}

/// A flag or an effort that a later version may have must not be taken for something else.
#[test]
fn what_does_not_exist_is_refused_by_name() {
    let buffers = [buffer(1, 0, 1), buffer(1, 0, 1)];
    let with = |space: SpaceDescription| plan(&problem(&buffers, &[space]), None).0;
    refused(with(SpaceDescription { flags: 2, ..SpaceDescription::default() }), "space 0 has flags");
    refused(with(SpaceDescription { reserved: 1, ..SpaceDescription::default() }), "`reserved` of space 0");
    let odd = [BufferDescription { flags: 1 << 31, ..buffer(1, 0, 1) }];
    refused(plan(&problem(&odd, &[]), None).0, "buffer 0 has flags");
    let odd = [BufferDescription { reserved: 7, ..buffer(1, 0, 1) }];
    refused(plan(&problem(&odd, &[]), None).0, "`reserved` of buffer 0 is 7");
    let relations = [RelationDescription { kind: MEMPLAN_MUST_SHARE, buffer: 0, other: 1, reserved: 1 }];
    let related = ProblemDescription { relations: relations.as_ptr(), relation_count: 1, ..problem(&buffers, &[]) };
    refused(plan(&related, None).0, "`reserved` of relation 0");
    let options = |options: Options| plan(&problem(&buffers, &[]), Some(&options)).0;
    refused(options(Options { effort: 9, ..Options::default() }), "there is no effort 9");
    refused(options(Options { flags: 1 << 7, ..Options::default() }), "memplan_options has flags");
    refused(options(Options { reserved: 1, ..Options::default() }), "`reserved` of memplan_options");
}

/// Callers of tomorrow have longer structs; what we do not know we skip.
#[test]
fn longer_structs_are_read_as_far_as_they_are_known() {
    #[repr(C)]
    struct Tomorrow {
        today: BufferDescription,
        colour: u64,
    }
    let buffers = [Tomorrow { today: buffer(8, 0, 2), colour: 1 }, Tomorrow { today: buffer(4, 1, 3), colour: 2 }];
    let longer = ProblemDescription {
        buffers: buffers.as_ptr().cast(),
        buffer_count: 2,
        buffer_size: size_of::<Tomorrow>(),
        ..problem(&[], &[])
    };
    assert_eq!(buffers[1].colour, 2);
    let (status, _, report) = plan(&longer, None);
    assert_eq!((status, report.extent), (Status::MEMPLAN_OPTIMAL, 12));
}

#[test]
fn every_status_has_a_name() {
    for (code, name) in [(0, "optimal"), (4, "wrong"), (103, "bug"), (-1, "unknown status")] {
        // SAFETY: a static string.
        let found = unsafe { std::ffi::CStr::from_ptr(memplan_status_name(code)) };
        assert_eq!(found.to_str(), Ok(name));
    }
    // SAFETY: a static string.
    let version = unsafe { std::ffi::CStr::from_ptr(memplan_version()) };
    assert_eq!(version.to_str(), Ok(env!("CARGO_PKG_VERSION")));
}
