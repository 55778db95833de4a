//! `--time-limit` and Ctrl-C hold outside of the search, too.

use std::process::{Command, Stdio};
use std::time::Duration;

use memplan_testkit::mlir;

use crate::run::{Folder, command};

/// Functions that take seconds to read, plan and check in a test build.
const FUNCTIONS: usize = 20_000;

const MERGE: [&str; 6] = ["opt", "large.mlir", "--pass", "merge-alloc", "-o", "out.mlir"];

fn folder() -> Folder {
    let folder = Folder::new();
    std::fs::write(folder.path("large.mlir"), mlir::functions(FUNCTIONS)).unwrap();
    folder
}

#[test]
fn a_time_limit_ends_a_command_before_there_is_a_result() {
    let folder = folder();
    let ran = folder.run_args(&[&MERGE[..], &["--time-limit", "1ms"]].concat());
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.stderr.contains("stopped at the time limit after 0."), "{}", ran.stderr);
    assert!(ran.stderr.contains(", while "), "{}", ran.stderr);
    assert!(!folder.path("out.mlir").exists());
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_command_that_does_not_search() {
    let folder = folder();
    let mut child = command(&folder.path(""));
    let child = child.args(MERGE).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    // Before the command listens, the signal itself ends it: then there is no code, and nothing is said.
    if let Some(code) = output.status.code() {
        assert_eq!(code, 130, "{said}");
        assert!(said.contains("interrupted after ") && said.contains(", while "), "{said}");
    }
    assert!(!output.status.success() && !folder.path("out.mlir").exists());
}
