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

/// Starts the command and sends it Ctrl-C after `wait` milliseconds. `None` if it was done before that.
#[cfg(unix)]
fn interrupted_after(folder: &Folder, wait: u64) -> Option<std::process::Output> {
    let mut child = command(&folder.path(""));
    let child = child.args(MERGE).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(wait));
    let pid = child.id().to_string();
    // A process that has ended but was not waited for still takes a signal, so this succeeds in any case.
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    (!output.status.success()).then_some(output)
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_command_that_does_not_search() {
    let folder = folder();
    // How long the command takes depends on the machine. If it was done before the signal came, it is sent earlier.
    let output = [200, 50, 10, 2].into_iter().find_map(|wait| {
        let output = interrupted_after(&folder, wait);
        if output.is_none() {
            std::fs::remove_file(folder.path("out.mlir")).unwrap();
        }
        output
    });
    let output = output.expect("the command takes longer than two milliseconds");
    let said = String::from_utf8_lossy(&output.stderr);
    // Before the command listens, the signal itself ends it: then there is no code, and nothing is said.
    if let Some(code) = output.status.code() {
        assert_eq!(code, 130, "{said}");
        // It says in which stage, unless freeing what there is takes so long that the process ends before.
        assert!(said.contains("interrupted") && said.contains("there is no result"), "{said}");
    }
    assert!(!folder.path("out.mlir").exists());
    // Nor is anything left of a file that was being written.
    let files = std::fs::read_dir(folder.path("")).unwrap().count();
    assert_eq!(files, 1, "only the input is there");
}

/// One limit for all strategies: the table has those that were done, and the others are named.
#[test]
fn a_time_limit_holds_for_a_whole_comparison() {
    let lives = |n: usize| format!("{n},{n},{},{}\n", 60_001 - n, 64 + n * 7919 % 1000);
    let nested = "id,lower,upper,size\n".to_owned() + &(0..30_000).map(lives).collect::<String>();
    let folder = Folder::with(&[("nested.csv", &nested)]);
    let ran = folder.run("compare nested.csv --time-limit 1ms");
    assert_eq!(ran.code, 0, "{}", ran.all());
    let (table, rest) = ran.stdout.split_once("\nnot tried: time limit: ").expect("strategies without a turn");
    assert!(rest.starts_with("auto, search, "), "{rest}");
    assert!(table.lines().count() > 3, "{table}");
    let json = folder.run("compare nested.csv --time-limit 1ms --json").json();
    let refused = json["refused"].as_array().unwrap();
    assert!(refused.iter().any(|one| one["strategy"] == "auto" && one["reason"] == "not tried: time limit"));
}
