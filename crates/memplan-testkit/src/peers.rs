//! Real tools that tests compare with: mlir-opt, TVM, runtimes, compilers.
//!
//! A test that needs a tool which is not there says so and passes. Where all of them are required
//! (`MEMPLAN_REQUIRE_PEERS=1`, as `./test` sets it) it fails instead. This rule is written down here and
//! nowhere else, so that no test is left out in silence.
//!
//! ```
//! use memplan_testkit::peers;
//!
//! if let Some(python) = peers::python("json") {
//!     let said = std::process::Command::new(python).args(["-c", "print(1 + 1)"]).output()?;
//!     assert_eq!(said.stdout, b"2\n");
//! }
//! # Ok::<(), std::io::Error>(())
//! ```

use std::io::Write;
use std::process::{Command, Stdio};

/// For a test that cannot run because something is missing. Prints that it is skipped, or fails (panics) if all tools
/// are required; an empty value and `0` of the variable mean that they are not.
pub fn missing(what: &str) {
    let is_required = std::env::var("MEMPLAN_REQUIRE_PEERS").is_ok_and(|value| !value.is_empty() && value != "0");
    assert!(!is_required, "needs {what}");
    // A test passes even if its standard error is closed, so the result of writing there is ignored.
    let _ = writeln!(std::io::stderr(), "skipped: needs {what}");
}

/// Whether something was found; if not, it is [`missing`].
#[must_use]
pub fn is_there(found: bool, what: &str) -> bool {
    if !found {
        missing(what);
    }
    found
}

/// Whether a program can be started and knows `--version`; if not, it is [`missing`].
#[must_use]
pub fn program(name: &str) -> bool {
    let mut look = Command::new(name);
    look.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    is_there(look.status().is_ok_and(|status| status.success()), name)
}

/// The Python that tests use (`MEMPLAN_PYTHON`, otherwise `python3`), if it has these packages (with commas between
/// them); if not, they are [`missing`].
#[must_use]
pub fn python(packages: &str) -> Option<String> {
    let python = std::env::var("MEMPLAN_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let mut look = Command::new(&python);
    look.args(["-c", &format!("import {packages}")]).stdout(Stdio::null()).stderr(Stdio::null());
    let found = look.status().is_ok_and(|status| status.success());
    is_there(found, &format!("Python with {packages}")).then_some(python)
}
