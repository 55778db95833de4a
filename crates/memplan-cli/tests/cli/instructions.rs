//! How many instructions the commands take, counted by valgrind: a slow-down shows on the day it
//! lands, on any machine and however busy that is.
//!
//! Two things are looked at. A small run of every command must not take more than a tenth more
//! than what is recorded in `instructions.txt` beside this file. And what is done to programs that
//! are large in one way (`memplan_testkit::mlir`), and to the inputs of the other systems, must grow as
//! they do: four times the input may take four and a half times the instructions.
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

use memplan_testkit::{mlir, peers, tvmscript};

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
    "reorder model.tflite -o reordered.tflite",
    "fit model.tflite -o fitted.tflite",
    "reduce few.csv -o fewer.csv -- false",
    "bench corpus --only vela_person_detect",
    "strategies",
    "formats",
    "passes",
    "completions bash",
    "manpage",
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
fn skipped() -> bool {
    !peers::program("valgrind")
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
    std::fs::write(folder.path("few.csv"), "id,lower,upper,size\na,0,2,8\nb,1,3,8\nc,2,4,8\n").unwrap();
    std::os::unix::fs::symlink(workspace().join("corpus"), folder.path("corpus")).unwrap();
    assert_eq!(folder.run("plan buffers.csv -o plan.csv").code, 0);
    folder
}

#[test]
fn every_command_is_counted() {
    let help = Folder::new().run("--help").stdout;
    let listed =
        help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1).take_while(|line| !line.is_empty());
    // Lines that go on with the description of a command are indented further.
    let names = listed.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    let names: Vec<&str> = names.filter(|&name| name != "help").collect();
    assert!(names.len() > 10, "{help}");
    let is_counted = |name: &&str| COMMANDS.iter().any(|command| command.split(' ').next() == Some(name));
    let missing: Vec<&str> = names.into_iter().filter(|name| !is_counted(name)).collect();
    assert!(missing.is_empty(), "no instructions are counted for {missing:?}");
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

/// Something large in one way, and what is done to it.
struct Grown {
    name: &'static str,
    suffix: &'static str,
    make: fn(usize) -> String,
    /// The command, up to the file and behind it.
    command: (&'static str, &'static str),
}

impl Grown {
    /// The instructions for a size.
    fn count(&self, folder: &Folder, size: usize) -> u64 {
        let file = format!("{}_{size}.{}", self.name, self.suffix);
        std::fs::write(folder.path(&file), (self.make)(size)).unwrap();
        let (before, behind) = self.command;
        count(folder, &format!("{before} {file} {behind}")).expect("a count")
    }
}

/// What the five systems read: programs that are large in one way each, a network, a script, records.
///
/// Kernels for plan-memory are not among them: at these sizes the search for a tight plan takes most of the instructions
/// and depends more on the kernel than on its size. With `--work 1`, too, 400 buffers take 12.6 times the instructions of
/// 100.
fn grown() -> Vec<Grown> {
    let merged = |&(name, make): &mlir::Family| Grown {
        name,
        suffix: "mlir",
        make,
        command: ("opt", "--pass merge-alloc -o out.mlir"),
    };
    let mut all: Vec<Grown> = mlir::FAMILIES.iter().map(merged).collect();
    all.extend([
        Grown {
            name: "network",
            suffix: "mlir",
            make: mlir::network,
            command: ("opt", "--pass assign-gmem -o out.mlir"),
        },
        Grown {
            name: "script",
            suffix: "py",
            make: tvmscript::chain,
            command: ("opt", "--pass storage-rewrite -o out.py"),
        },
        Grown { name: "records", suffix: "csv", make: records, command: ("plan", "-s first-fit") },
        Grown { name: "spaces_to_csv", suffix: "csv", make: spaces, command: ("plan", "-s first-fit -o out.csv") },
        Grown { name: "spaces_to_json", suffix: "csv", make: spaces, command: ("plan", "-s first-fit -o out.json") },
        Grown { name: "spaces_to_h", suffix: "csv", make: spaces, command: ("plan", "-s first-fit -o out.h") },
        Grown {
            name: "shared",
            suffix: "csv",
            make: records,
            command: ("plan", "-s greedy-in-order --assign objects"),
        },
    ]);
    all
}

/// Buffers of many sizes, each alive for up to fifty steps.
fn records(count: usize) -> String {
    let line = |n: usize| format!("{n},{n},{},{}\n", n + 2 + n * 7 % 50, 64 + n * 7919 % 1000);
    "id,lower,upper,size\n".to_owned() + &(0..4 * count).map(line).collect::<String>()
}

/// Buffers each of which has a memory of its own, as those of a file with many functions have.
fn spaces(count: usize) -> String {
    let line = |n: usize| format!("{n},{n},{},{},memory of {n}\n", n + 2, 64 + n * 7919 % 1000);
    "id,lower,upper,size,space\n".to_owned() + &(0..4 * count).map(line).collect::<String>()
}

#[test]
fn instructions_grow_as_inputs_do() {
    if skipped() {
        return;
    }
    let folder = Folder::new();
    // What is done before the input is looked at does not grow.
    let start = count(&folder, "strategies").expect("a count");
    for family in grown() {
        let counted = [SMALL, TIMES * SMALL].map(|size| family.count(&folder, size).saturating_sub(start));
        let growth = counted[1] as f64 / counted[0] as f64;
        let name = family.name;
        assert!(
            growth <= GROWTH,
            "{name}: {TIMES} times the input takes {growth:.2} times the instructions: {counted:?}"
        );
    }
}
