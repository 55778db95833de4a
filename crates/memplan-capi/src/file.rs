//! Planning a file as the command line does.
#![allow(
    clippy::missing_safety_doc,
    reason = "the text is C documentation, which has no such heading; it says what callers promise"
)]

use std::ffi::{CString, c_char};
use std::path::Path;

use memplan::core::patience::Patience;
use memplan::driver;
use memplan::front_end::Plain;
use memplan::source::Source;
use memplan::target::{SpaceFacts, Target};

use crate::api::{Stop, driver_failure, how, read_options, status_of, string};
use crate::error::{Failure, Status};
use crate::guard::guarded;
use crate::layout::Options;

/// Plans a file of any format that memplan reads, a `.tflite` or `.onnx` model included, as `memplan plan FILE --json`
/// does, and gives the plan as JSON, to be released with `memplan_free_text`. The plan has been checked.
///
/// `path` is a string; `spaces` has `space_count` strings such as "sram=256KiB:16" (name, capacity, alignment), the
/// best memory first, and may be null if there are none; `options` is null or points to a struct that says its size;
/// `json` points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memplan_plan_file(
    path: *const c_char,
    spaces: *const *const c_char,
    space_count: usize,
    options: *const Options,
    json: *mut *mut c_char,
) -> Status {
    guarded(|| {
        if json.is_null() {
            return Err(Failure::argument("the pointer for the plan is null"));
        }
        // SAFETY: the caller's promises.
        let (path, target, options) =
            unsafe { (string("the path", path)?, read_target(spaces, space_count)?, read_options(options)?) };
        let source = Source::open(Path::new(path), None)
            .map_err(|error| Failure { status: Status::MEMPLAN_UNREADABLE, message: format!("{path}: {error}") })?;
        let stop = Stop::of(&options);
        // SAFETY: the caller's promises.
        let how = unsafe { how(&options, &stop)? };
        let plain = Plain { target, ..Plain::default() };
        // One limit for reading and planning.
        let _current = Patience::new(how.request.time_limit, None).enter();
        let input = driver::read(&plain, &source, &how).map_err(driver_failure)?;
        let planned = driver::lay_out(&plain, &input, &how).map_err(driver_failure)?;
        let text = CString::new(planned.to_json()).map_err(|_| Failure::argument("a name has a NUL in it"))?;
        // SAFETY: `json` points to a pointer of the caller's.
        unsafe { json.write(text.into_raw()) };
        let notes: Vec<&str> = planned.notes.iter().chain(planned.repairs()).map(String::as_str).collect();
        Ok((status_of(&planned.outcome), notes.join("\n")))
    })
}

/// # Safety
/// `spaces` has `count` C strings, or is null.
unsafe fn read_target(spaces: *const *const c_char, count: usize) -> Result<Target, Failure> {
    if spaces.is_null() && count > 0 {
        return Err(Failure::argument("the pointer to the spaces is null"));
    }
    let mut target = Target::default();
    for index in 0..count {
        // SAFETY: as promised to us.
        let text = unsafe { string("a space", spaces.add(index).read())? };
        target.spaces.push(text.parse::<SpaceFacts>().map_err(Failure::argument)?);
    }
    Ok(target)
}
