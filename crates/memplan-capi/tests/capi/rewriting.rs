use std::ffi::{CStr, c_char};
use std::ptr::{null, null_mut};

use memplan_capi::*;

use crate::last_error;

pub(crate) const TWO_BUFFERS: &str = r#"func.func @f(%in: memref<16xf32>) {
  %a = memref.alloc() : memref<16xf32>
  memref.copy %in, %a : memref<16xf32> to memref<16xf32>
  memref.copy %a, %in : memref<16xf32> to memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  memref.copy %in, %b : memref<16xf32> to memref<16xf32>
  memref.copy %b, %in : memref<16xf32> to memref<16xf32>
  return
}
"#;

fn rewrite(text: &str, pass: &CStr) -> (Status, Option<String>) {
    rewrite_with(text, pass, null())
}

fn rewrite_with(text: &str, pass: &CStr, options: *const Options) -> (Status, Option<String>) {
    let mut result: *mut c_char = null_mut();
    // SAFETY: a live text and its length, options or null; the result is released below.
    let status = unsafe { memplan_rewrite(text.as_ptr().cast(), text.len(), pass.as_ptr(), options, &raw mut result) };
    // SAFETY: null, or a string of the library's.
    let new = (!result.is_null()).then(|| unsafe { CStr::from_ptr(result) }.to_string_lossy().into_owned());
    // SAFETY: released once.
    unsafe { memplan_free_text(result) };
    (status, new)
}

#[test]
fn a_program_comes_back_merged() {
    let (status, text) = rewrite(TWO_BUFFERS, c"merge-alloc");
    assert_eq!(status, Status::MEMPLAN_OK, "{}", last_error());
    let text = text.expect("a text");
    assert!(text.contains("memref<64xi8>") && text.matches("memref.view").count() == 2, "{text}");
}

#[test]
fn what_cannot_be_rewritten_is_said() {
    let (status, text) = rewrite("func.func @f( {", c"merge-alloc");
    assert_eq!((status, text), (Status::MEMPLAN_UNREADABLE, None));
    assert!(last_error().starts_with("line 1"), "{}", last_error());
    assert_eq!(rewrite(TWO_BUFFERS, c"no-such").0, Status::MEMPLAN_BAD_ARGUMENT);
    assert_eq!(rewrite(TWO_BUFFERS, c"merge-alloc{").0, Status::MEMPLAN_BAD_ARGUMENT);
    assert_eq!(rewrite(TWO_BUFFERS, c"merge-alloc{alignment=0}").0, Status::MEMPLAN_BAD_ARGUMENT);
}

unsafe extern "C" fn stop(_: *mut std::ffi::c_void) -> i32 {
    1
}

/// A callback ends every stage, not only searches.
#[test]
fn reading_ends_when_the_caller_says_so() {
    let function = |number: usize| TWO_BUFFERS.replace("@f", &format!("@f{number}"));
    // Everything has a moment to come to its end. So many functions take longer than that.
    let many: String = (0..40_000).map(function).collect();
    let options = Options { should_stop: Some(stop), ..Options::default() };
    let (status, text) = rewrite_with(&many, c"merge-alloc", &raw const options);
    assert_eq!((status, text), (Status::MEMPLAN_REFUSED, None), "{}", last_error());
    assert!(last_error().starts_with("interrupted after"), "{}", last_error());
}
