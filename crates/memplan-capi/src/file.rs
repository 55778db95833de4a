//! Planning a file, and changing a model until it fits, as the command line does.
#![allow(
    clippy::missing_safety_doc,
    reason = "the text is C documentation, which has no such heading; it says what callers promise"
)]

use std::ffi::{CString, c_char};
use std::path::Path;

use memplan::core::Bytes;
use memplan::driver;
use memplan::front_end::{Fit, Plain};
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
        let _current = stop.patience(&options).enter();
        let input = driver::read(&plain, &source, &how).map_err(driver_failure)?;
        let planned = driver::lay_out(&plain, &input, &how).map_err(driver_failure)?;
        let text = CString::new(planned.to_json()).map_err(|_| Failure::argument("a name has a NUL in it"))?;
        // SAFETY: `json` points to a pointer of the caller's.
        unsafe { json.write(text.into_raw()) };
        let notes: Vec<&str> = planned.notes.iter().chain(planned.repairs()).map(String::as_str).collect();
        Ok((status_of(&planned.outcome), notes.join("\n")))
    })
}

/// The failure for a file that cannot be read or written.
fn unusable(name: &str, error: std::io::Error) -> Failure {
    Failure { status: Status::MEMPLAN_UNREADABLE, message: format!("{name}: {error}") }
}

/// Changes a `.tflite` or `.onnx` model until it fits into `capacity` bytes, as `memplan fit FILE --json` does; with a
/// capacity of 0 it takes the smallest version. The model is written to `output`, and the versions are given as JSON,
/// to be released with `memplan_free_text`. It is proved that the written model computes the same.
///
/// `path` is a string; `output` is a string, or null if no model is to be written; `options` is null or points to a
/// struct that says its size; `json` points to a pointer. `MEMPLAN_OK` is the answer, `MEMPLAN_INFEASIBLE` where no
/// version fits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memplan_fit_file(
    path: *const c_char,
    capacity: u64,
    output: *const c_char,
    options: *const Options,
    json: *mut *mut c_char,
) -> Status {
    guarded(|| {
        if json.is_null() {
            return Err(Failure::argument("the pointer for the versions is null"));
        }
        // SAFETY: the caller's promises.
        let (path, options) = unsafe { (string("the path", path)?, read_options(options)?) };
        let output = match output.is_null() {
            true => None,
            // SAFETY: the caller's promises.
            false => Some(unsafe { string("the output", output)? }),
        };
        let mut source = Source::open(Path::new(path), None).map_err(|error| unusable(path, error))?;
        // The runtimes for which models are made to fit overwrite inputs that no operator reads any more.
        source.options.models.assumptions.reuse_inputs = true;
        let stop = Stop::of(&options);
        // SAFETY: the caller's promises.
        let how = unsafe { how(&options, &stop)? };
        let front_end = Fit { capacity: (capacity > 0).then_some(Bytes(capacity)), ..Fit::default() };
        // One limit for reading, planning and writing.
        let _current = stop.patience(&options).enter();
        let input = driver::read(&front_end, &source, &how).map_err(driver_failure)?;
        let fitted = driver::lay_out(&front_end, &input, &how).map_err(does_not_fit)?;
        if let Some(output) = output {
            let model = driver::emit(&front_end, &input, &fitted).map_err(driver_failure)?;
            let mut content = Vec::new();
            model.write(&mut content).map_err(|error| unusable(path, error))?;
            std::fs::write(output, content).map_err(|error| unusable(output, error))?;
        }
        let text = CString::new(fitted.to_json()).map_err(|_| Failure::argument("a name has a NUL in it"))?;
        // SAFETY: `json` points to a pointer of the caller's.
        unsafe { json.write(text.into_raw()) };
        let notes: Vec<&str> = input.notes.iter().chain(fitted.repairs()).map(String::as_str).collect();
        Ok((Status::MEMPLAN_OK, notes.join("\n")))
    })
}

/// The failure of a fit. That no version of the model fits has a status of its own, `MEMPLAN_INFEASIBLE`.
fn does_not_fit(error: driver::Failure) -> Failure {
    match error {
        driver::Failure::DoesNotFit(message) => Failure { status: Status::MEMPLAN_INFEASIBLE, message },
        other => driver_failure(other),
    }
}

/// The target that the caller describes by strings such as "sram=256KiB:16".
///
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
