//! The tests of this program again, under valgrind: no byte is used that is not ours, and nothing is lost.

use std::process::Command;

/// Tests that write to the memory they get, meet every situation or a driver that fails, or use threads.
const AGAIN: [&str; 4] = ["boundary::", "broken::", "situations::", "threads::"];

#[test]
fn valgrind_finds_nothing() {
    if !memplan_testkit::peers::program("valgrind") {
        return;
    }
    let ran = Command::new("valgrind")
        .args(["-q", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite"])
        .arg(std::env::current_exe().unwrap())
        .args(AGAIN)
        .arg("--test-threads=1")
        .env_remove("MEMPLAN_FULL")
        .output()
        .unwrap();
    let (said, heard) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{said}\n{heard}");
    assert!(said.contains("boundary::a_step") && said.contains("threads::threads_never"), "{said}");
}
