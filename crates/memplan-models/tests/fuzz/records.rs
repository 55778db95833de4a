//! What must hold for any bytes at all; run briefly by the tests and for hours
//! by the fuzz targets.

use memplan_models::records::{self, FORMATS};
use memplan_models::{RecordFormat, plan};

/// Reads the bytes in every format, and in the one they look like.
#[allow(dead_code, reason = "the fuzz targets take one format each")]
pub(crate) fn check(bytes: &[u8]) {
    for format in FORMATS {
        check_format(bytes, *format);
    }
    let _ = records::read(bytes, None, "input");
}

/// Reads the bytes in one format.
#[allow(dead_code, reason = "the tests take all formats")]
pub(crate) fn check_named(bytes: &[u8], format: &str) {
    check_format(bytes, records::find(format).expect("the format exists"));
}

/// Nothing panics, errors point into the text, and what was read survives being
/// written as JSON and read again.
fn check_format(bytes: &[u8], format: &'static dyn RecordFormat) {
    match records::read(bytes, Some(format), "input") {
        Ok(records) => {
            assert_eq!(records.spans.len(), records.problem.buffers().len());
            let text = records::json::write(&records.problem);
            let again = records::read(text.as_bytes(), records::find("json"), "again").expect("what we write we read");
            assert_eq!(again.problem, records.problem);
            let _ = plan::read(bytes, &records.problem, None);
        }
        Err(error) => {
            assert!(error.line >= 1 && error.column >= 1);
            assert!(error.span.start as usize <= bytes.len());
        }
    }
}
