use std::ffi::{CStr, c_char, c_void};
use std::ptr::{null, null_mut};

use memplan_capi::*;

use crate::{buffer, last_error, plan, problem, report};

#[test]
fn offsets_extent_and_bound_come_back() {
    let buffers = [buffer(64, 0, 2), buffer(32, 2, 4), buffer(16, 1, 3)];
    let (status, offsets, report) = plan(&problem(&buffers, &[]), None);
    assert_eq!(status, Status::MEMPLAN_OPTIMAL);
    assert_eq!((report.extent, report.lower_bound, report.violations), (80, 80, 0));
    assert_eq!(last_error(), "");
    // SAFETY: live arrays of the current layout.
    let verified = unsafe { memplan_verify(&problem(&buffers, &[]), offsets.as_ptr(), std::ptr::null_mut()) };
    assert_eq!(verified, Status::MEMPLAN_OK);
}

#[test]
fn alignment_spaces_and_fixed_offsets_are_honoured() {
    let spaces = [
        SpaceDescription { capacity: 256, flags: MEMPLAN_CAPACITY, alignment: 32, ..SpaceDescription::default() },
        SpaceDescription { base: 4096, ..SpaceDescription::default() },
    ];
    let mut buffers = [buffer(10, 0, 4), buffer(10, 0, 4), buffer(100, 0, 4), buffer(1, 0, 4)];
    buffers[0].fixed_offset = 64;
    buffers[0].flags = MEMPLAN_FIXED_OFFSET;
    buffers[2].space = 1;
    buffers[3].alignment = 16;
    let (status, offsets, report) = plan(&problem(&buffers, &spaces), None);
    assert_eq!(status, Status::MEMPLAN_OPTIMAL);
    assert_eq!(offsets[0], 64);
    assert!(offsets[1] % 32 == 0 && offsets[3] % 32 == 0 && offsets[1] != offsets[3]);
    assert_eq!(offsets[2], 0);
    assert_eq!(report.extent, 74 + 100);
}

#[test]
fn what_does_not_fit_names_the_buffers() {
    let spaces = [SpaceDescription { capacity: 90, flags: MEMPLAN_CAPACITY, ..SpaceDescription::default() }];
    let buffers = [buffer(64, 0, 2), buffer(1, 5, 6), buffer(32, 1, 4)];
    let (status, offsets, report) = plan(&problem(&buffers, &spaces), None);
    assert_eq!(status, Status::MEMPLAN_INFEASIBLE);
    assert_eq!(offsets, [u64::MAX; 3], "nothing is written without a plan");
    assert_eq!(report.lower_bound, 96);
    assert!(
        last_error().contains("96 B are needed and 90 B are there") && last_error().ends_with(": 0 2"),
        "{}",
        last_error()
    );
}

#[test]
fn offsets_that_clash_have_nothing_to_do_with_a_capacity() {
    let fixed =
        |size, offset| BufferDescription { fixed_offset: offset, flags: MEMPLAN_FIXED_OFFSET, ..buffer(size, 0, 2) };
    let (status, ..) = plan(&problem(&[fixed(64, 0), fixed(32, 32)], &[]), None);
    assert_eq!(status, Status::MEMPLAN_INFEASIBLE);
    assert!(last_error().contains("fixed offsets clash: 0 1") && !last_error().contains("64"), "{}", last_error());
}

#[test]
fn a_wrong_plan_is_told_with_its_violations() {
    let buffers = [buffer(64, 0, 2), buffer(32, 1, 4)];
    let offsets = [0u64, 32];
    let mut report = report();
    // SAFETY: live arrays of the current layout.
    let status = unsafe { memplan_verify(&problem(&buffers, &[]), offsets.as_ptr(), &raw mut report) };
    assert_eq!(status, Status::MEMPLAN_WRONG);
    assert_eq!((report.violations, report.extent, report.lower_bound), (1, 64, 96));
    assert!(last_error().contains('0') && last_error().contains('1'), "{}", last_error());
}

#[test]
fn nothing_to_plan_is_a_plan() {
    let (status, offsets, report) = plan(&problem(&[], &[]), None);
    assert_eq!((status, offsets.len(), report.extent), (Status::MEMPLAN_OPTIMAL, 0, 0));
}

#[test]
fn every_offset_strategy_can_be_named() {
    let buffers = [buffer(64, 0, 2), buffer(32, 2, 4), buffer(16, 1, 3)];
    for name in [c"auto", c"search", c"naive", c"greedy-by-size", c"first-fit"] {
        let options = Options { strategy: name.as_ptr(), work_limit: 1000, threads: 1, ..Options::default() };
        let (status, _, report) = plan(&problem(&buffers, &[]), Some(&options));
        assert!(matches!(status, Status::MEMPLAN_OPTIMAL | Status::MEMPLAN_FEASIBLE), "{name:?}");
        assert!(report.extent >= report.lower_bound);
    }
    let options = Options { strategy: c"no-such".as_ptr(), ..Options::default() };
    let (status, ..) = plan(&problem(&buffers, &[]), Some(&options));
    assert_eq!(status, Status::MEMPLAN_BAD_ARGUMENT);
    assert!(last_error().contains("no-such"));
}

/// A problem that no instant strategy solves to its bound.
fn hard() -> Vec<BufferDescription> {
    let mut random = memplan_testkit::Random::new(9);
    let mut draw = |below: u64| random.below(below);
    (0..120)
        .map(|_| {
            let start = draw(60);
            buffer(1 + draw(97), start, start + 1 + draw(12))
        })
        .collect()
}

unsafe extern "C" fn count_and_stop(asked: *mut c_void) -> i32 {
    // SAFETY: the test hands over this counter.
    let asked = unsafe { &*asked.cast::<std::sync::atomic::AtomicU32>() };
    asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    1
}

#[test]
fn a_search_ends_when_the_caller_says_so() {
    let buffers = hard();
    let mut asked = std::sync::atomic::AtomicU32::new(0);
    let options = Options {
        strategy: c"search".as_ptr(),
        time_limit_ms: 600_000,
        should_stop: Some(count_and_stop),
        user_data: (&raw mut asked).cast(),
        ..Options::default()
    };
    let (status, ..) = plan(&problem(&buffers, &[]), Some(&options));
    assert!(matches!(status, Status::MEMPLAN_OPTIMAL | Status::MEMPLAN_FEASIBLE), "{status:?}");
    let asked = asked.into_inner();
    assert!(status == Status::MEMPLAN_OPTIMAL || asked > 0);
}

#[test]
fn threads_do_not_meet() {
    let expected = plan(&problem(&hard(), &[]), Some(&Options { work_limit: 500, ..Options::default() })).1;
    std::thread::scope(|scope| {
        for turn in 0..8 {
            let expected = &expected;
            scope.spawn(move || {
                if turn % 2 == 0 {
                    let (_, offsets, _) = plan(
                        &problem(&hard(), &[]),
                        Some(&Options { work_limit: 500, threads: 1, ..Options::default() }),
                    );
                    assert_eq!(&offsets, expected);
                    assert_eq!(last_error(), "");
                } else {
                    let mut bad = buffer(1, 0, 1);
                    bad.space = 40 + turn;
                    let (status, ..) = plan(&problem(&[bad], &[]), None);
                    assert_eq!(status, Status::MEMPLAN_BAD_ARGUMENT);
                    assert!(last_error().contains(&format!("space {}", 40 + turn)));
                }
            });
        }
    });
}

#[test]
fn a_file_is_planned_as_the_command_line_does() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/tflite/unet.tflite\0");
    let path = CStr::from_bytes_with_nul(path.as_bytes()).unwrap();
    let plan = |path: &CStr, spaces: &[&CStr]| {
        let spaces: Vec<_> = spaces.iter().map(|space| space.as_ptr()).collect();
        let mut json: *mut c_char = null_mut();
        // SAFETY: live strings; the result is released below.
        let status = unsafe { memplan_plan_file(path.as_ptr(), spaces.as_ptr(), spaces.len(), null(), &raw mut json) };
        // SAFETY: null, or a string of the library's.
        let text = (!json.is_null()).then(|| unsafe { CStr::from_ptr(json) }.to_string_lossy().into_owned());
        // SAFETY: released once.
        unsafe { memplan_free_text(json) };
        (status, text)
    };
    let (status, text) = plan(path, &[c"sram=24KiB:16", c"psram=1MiB:16"]);
    assert!(matches!(status, Status::MEMPLAN_OPTIMAL | Status::MEMPLAN_FEASIBLE), "{}", last_error());
    assert!(text.is_some_and(|text| text.contains("\"psram\"")), "something has to spill");
    assert_eq!(plan(path, &[c"sram=24 lightyears"]), (Status::MEMPLAN_BAD_ARGUMENT, None));
    assert_eq!(plan(c"no such file", &[]), (Status::MEMPLAN_UNREADABLE, None));
    assert!(last_error().starts_with("no such file: "), "{}", last_error());
}

#[test]
fn a_model_is_changed_until_it_fits() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/tflite/mobile.tflite\0");
    let path = CStr::from_bytes_with_nul(path.as_bytes()).unwrap();
    let target = std::env::temp_dir().join(format!("memplan-fit-{}.tflite", std::process::id()));
    let output = std::ffi::CString::new(target.display().to_string()).unwrap();
    let fit = |path: &CStr, capacity: u64, output: *const c_char| {
        let mut json: *mut c_char = null_mut();
        // SAFETY: live strings; the result is released below.
        let status = unsafe { memplan_fit_file(path.as_ptr(), capacity, output, null(), &raw mut json) };
        // SAFETY: null, or a string of the library's.
        let text = (!json.is_null()).then(|| unsafe { CStr::from_ptr(json) }.to_string_lossy().into_owned());
        // SAFETY: released once.
        unsafe { memplan_free_text(json) };
        (status, text)
    };
    let (status, text) = fit(path, 128 << 10, output.as_ptr());
    assert_eq!(status, Status::MEMPLAN_OK, "{}", last_error());
    assert!(text.is_some_and(|text| text.contains("`expand1`") && text.contains("\"chosen\":1")));
    // What was written fits as it is.
    let (status, text) = fit(&output, 128 << 10, null());
    assert_eq!(status, Status::MEMPLAN_OK, "{}", last_error());
    assert!(text.is_some_and(|text| text.contains("\"chosen\":0")));
    std::fs::remove_file(target).unwrap();
    assert_eq!(fit(path, 20 << 10, null()), (Status::MEMPLAN_INFEASIBLE, None));
    assert!(last_error().contains("is not split"), "{}", last_error());
    assert_eq!(fit(c"no such file", 0, null()), (Status::MEMPLAN_UNREADABLE, None));
}
