//! Our errors as Python exceptions.
//!
//! The classes are written in Python (`memplan/_errors.py`), so that they can be
//! subclassed, pickled and documented like any other.

use memplan::core::ReadError;
use memplan::driver::Failure;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// An exception of a class of `memplan._errors`; `facts` adds the keyword arguments of its constructor. If making it
/// fails, the error of that is the exception.
fn exception(
    py: Python<'_>,
    class: &str,
    message: &str,
    facts: impl FnOnce(&Bound<'_, PyDict>) -> PyResult<()>,
) -> PyErr {
    // Importing the module or calling the constructor may fail; both errors end up in the same place.
    let made = (|| {
        let keywords = PyDict::new(py);
        facts(&keywords)?;
        py.import("memplan._errors")?.getattr(class)?.call((message,), Some(&keywords))
    })();
    made.map_or_else(|error| error, PyErr::from_value)
}

/// The exception for a file or text that cannot be read, with the place of the mistake.
pub(crate) fn unreadable(py: Python<'_>, file: Option<&str>, error: &ReadError) -> PyErr {
    exception(py, "ReadError", &error.message, |facts| {
        facts.set_item("code", error.code)?;
        facts.set_item("file", file)?;
        facts.set_item("line", error.line)?;
        facts.set_item("column", error.column)?;
        facts.set_item("help", error.help.as_deref())
    })
}

/// A problem that makes no sense.
pub(crate) fn wrong_problem(py: Python<'_>, message: &str) -> PyErr {
    exception(py, "ProblemError", message, |facts| facts.set_item("code", "problem"))
}

/// An argument that makes no sense.
pub(crate) fn wrong_argument(py: Python<'_>, message: &str) -> PyErr {
    exception(py, "ArgumentError", message, |facts| facts.set_item("code", "argument"))
}

/// A strategy or a pass that does not take the input.
pub(crate) fn refused(py: Python<'_>, message: &str) -> PyErr {
    exception(py, "RefusedError", message, |facts| facts.set_item("code", "refused"))
}

/// A bug of ours.
pub(crate) fn bug(py: Python<'_>, message: &str) -> PyErr {
    exception(py, "BugError", message, |facts| facts.set_item("code", "bug"))
}

/// The exception for a failure of the driver; `file` is the name of the file that was read, if there is one.
pub(crate) fn failure(py: Python<'_>, file: Option<&str>, error: &Failure) -> PyErr {
    match error {
        Failure::Input(error) => unreadable(py, file, error),
        Failure::Spec(error) => wrong_argument(py, &error.to_string()),
        Failure::Target(error) => wrong_problem(py, &error.to_string()),
        Failure::Unsound(error) => bug(py, &error.to_string()),
        other => refused(py, &other.to_string()),
    }
}
