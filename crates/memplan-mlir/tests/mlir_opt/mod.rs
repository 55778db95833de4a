//! mlir-opt-22 as a peer.

use std::io::Write;
use std::process::{Command, Stdio};

/// Asserts that mlir-opt-22 takes a text, if it is there.
pub(crate) fn accepts(text: &str) {
    let spawned = Command::new("mlir-opt-22")
        .args(["--allow-unregistered-dialect", "-o", "/dev/null"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = spawned else {
        memplan_testkit::peers::missing("mlir-opt-22");
        return;
    };
    let mut input = child.stdin.take().expect("it was asked for");
    input.write_all(text.as_bytes()).expect("mlir-opt reads its input");
    drop(input);
    let output = child.wait_with_output().expect("mlir-opt ends");
    assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&output.stderr));
}
