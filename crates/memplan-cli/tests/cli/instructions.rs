//! How many instructions the commands take, counted by valgrind: a slow-down shows on the day it
//! lands, on any machine and however busy that is.
//!
//! Two things are looked at. A small run of every command must not take more than a tenth more
//! than what is recorded in `instructions.txt` beside this file. And what is done to programs that
//! are large in one way (`memplan_testkit::mlir`) must grow as they do: four times the input may
//! take four and a half times the instructions.
//!
//! The counts belong to one compiler and one kind of build. Where these are others than those
//! of the record, nothing is compared with it; growth always is. After a deliberate
//! change, `MEMPLAN_BLESS=1 cargo test -p memplan-cli --test cli instructions` records the counts anew.
//!
//! What else would make them vary is held still: one thread, an empty environment, no debug information
//! for valgrind to read. Hash tables with random seeds remain; they move the counts by less than one in a hundred.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use memplan_testkit::mlir;

use crate::book::workspace;
use crate::run::Folder;

/// The commands, on files of the folder.
const COMMANDS: &[&str] = &[
    "plan buffers.csv",
    "plan model.tflite",
    "plan model.onnx --dim batch=1",
    "compare buffers.csv",
    "verify buffers.csv plan.csv",
    "explain buffers.csv",
    "show buffers.csv -o map.html",
    "dump net.mlir --stage lifetimes",
    "opt net.mlir --pass merge-alloc -o merged.mlir",
    "opt kernel.mlir --pass plan-memory --target Ascend910B1 -o planned.mlir",
    "opt gmem.mlir --pass assign-gmem -o addressed.mlir",
    "opt prog.py --pass storage-rewrite -o rewritten.py",
    "run prog.py",
    "strategies",
];

/// More than the recorded count by this part is a slow-down.
const SLACK: f64 = 0.10;

/// Parts of the smaller of two inputs, how much larger the other is, and how much more it may take.
const SMALL: usize = 100;
const TIMES: usize = 4;
const GROWTH: f64 = 4.5;

fn record() -> PathBuf {
    workspace().join("crates/memplan-cli/tests/cli/instructions.txt")
}

/// The command without debug information, which valgrind would read for seconds each time.
fn stripped() -> &'static Path {
    static STRIPPED: OnceLock<PathBuf> = OnceLock::new();
    STRIPPED.get_or_init(|| {
        let built = Path::new(env!("CARGO_BIN_EXE_memplan"));
        let stripped = built.with_file_name("memplan-stripped");
        let strip = Command::new("strip").arg("-o").arg(&stripped).arg(built).status();
        if strip.is_ok_and(|status| status.success()) { stripped } else { built.to_owned() }
    })
}

/// The instructions of a run that must end well; `None` without valgrind.
fn count(folder: &Folder, command: &str) -> Option<u64> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]).arg(stripped());
    valgrind.args(command.split_whitespace()).current_dir(folder.path(""));
    let path = std::env::var_os("PATH").unwrap_or_default();
    valgrind.env_clear().env("PATH", path).env("RAYON_NUM_THREADS", "1").env("MEMPLAN_STRICT", "1");
    let output = valgrind.output().ok()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "`memplan {command}`: {said}");
    let line = said.lines().find(|line| line.contains("I refs:") || line.contains("I   refs:"))?;
    line.rsplit(':').next()?.trim().replace(',', "").parse().ok()
}

/// Whether valgrind is missing and that is fine.
#[expect(clippy::print_stderr, reason = "says what was not tested")]
fn skipped() -> bool {
    let there = Command::new("valgrind").arg("--version").output().is_ok();
    assert!(there || std::env::var_os("MEMPLAN_REQUIRE_PEERS").is_none(), "needs valgrind");
    if !there {
        eprintln!("skipped: needs valgrind");
    }
    !there
}

fn folder() -> Folder {
    let folder = Folder::new();
    let copies = [
        ("buffers.csv", "corpus/real/vela_person_detect.csv"),
        ("model.tflite", "tests/data/tflite/branches.tflite"),
        ("model.onnx", "tests/data/onnx/batch.onnx"),
        ("gmem.mlir", "tests/data/gmem/figure.mlir"),
    ];
    for (name, source) in copies {
        std::fs::copy(workspace().join(source), folder.path(name)).unwrap();
    }
    std::fs::write(folder.path("net.mlir"), mlir::regions(40)).unwrap();
    std::fs::write(folder.path("kernel.mlir"), mlir::kernel(40)).unwrap();
    std::fs::write(folder.path("prog.py"), crate::commands::TVMSCRIPT).unwrap();
    assert_eq!(folder.run("plan buffers.csv -o plan.csv").code, 0);
    folder
}

/// What the counts depend on besides the commands.
fn build() -> String {
    let rustc = Command::new("rustc").arg("--version").output().map(|output| output.stdout).unwrap_or_default();
    let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
    format!("{} {profile} {}", String::from_utf8_lossy(&rustc).trim(), std::env::consts::ARCH)
}

#[test]
fn no_command_takes_more_instructions_than_recorded() {
    if skipped() {
        return;
    }
    let folder = folder();
    let counts: Vec<(&str, u64)> =
        COMMANDS.iter().map(|&command| (command, count(&folder, command).expect("a count"))).collect();
    if std::env::var_os("MEMPLAN_BLESS").is_some() {
        let lines = counts.iter().map(|(command, count)| format!("{count} {command}\n"));
        std::fs::write(record(), format!("{}\n{}", build(), lines.collect::<String>())).unwrap();
        return;
    }
    let recorded = std::fs::read_to_string(record()).unwrap_or_default();
    let mut lines = recorded.lines();
    if lines.next() != Some(&build()) {
        eprintln!("skipped: no counts are recorded for this compiler, MEMPLAN_BLESS=1 records them");
        return;
    }
    let recorded: Vec<(u64, &str)> = lines
        .filter_map(|line| line.split_once(' '))
        .map(|(count, command)| (count.parse().unwrap(), command))
        .collect();
    assert_eq!(recorded.iter().map(|(_, command)| *command).collect::<Vec<_>>(), COMMANDS, "bless the new list");
    let slower =
        counts.iter().zip(&recorded).filter(|((_, now), (then, _))| *now as f64 > *then as f64 * (1.0 + SLACK));
    let slower: Vec<String> =
        slower.map(|((command, now), (then, _))| format!("`memplan {command}`: {then} before, {now} now")).collect();
    assert!(slower.is_empty(), "more instructions than recorded: {slower:#?}");
}

#[test]
fn instructions_grow_as_programs_do() {
    if skipped() {
        return;
    }
    let folder = Folder::new();
    // What is done before the input is looked at does not grow.
    let start = count(&folder, "strategies").expect("a count");
    for (name, make) in mlir::FAMILIES {
        let mut counted = [SMALL, TIMES * SMALL].map(|size| {
            let file = format!("{name}_{size}.mlir");
            std::fs::write(folder.path(&file), make(size)).unwrap();
            count(&folder, &format!("opt {file} --pass merge-alloc -o out.mlir")).expect("a count")
        });
        counted.iter_mut().for_each(|count| *count = count.saturating_sub(start));
        let growth = counted[1] as f64 / counted[0] as f64;
        assert!(
            growth <= GROWTH,
            "{name}: {TIMES} times the input takes {growth:.2} times the instructions: {counted:?}"
        );
    }
}
