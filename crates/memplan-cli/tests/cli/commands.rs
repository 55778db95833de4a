//! Every command that the documents name is executed, also outside of the blocks that `book` plays.
//!
//! There are three places for such commands:
//! - the examples in the command reference, which are those of the command's own help;
//! - code between backticks in a sentence;
//! - `console elsewhere` blocks and shell blocks: building, installing, the test suite itself.
//!
//! The first are run here on stand-ins for the reader's files. The others are listed in
//! [`OTHERWISE`], each with who executes it: this test, a step of `./test`, or another
//! test. A command that is nowhere is a failure, and so is an entry that nobody needs.

use std::path::Path;
use std::process::Command;

use crate::book::{Block, Part, is_there, pages, parts, workspace};
use crate::browser::LAYERS;
use crate::run::Folder;

/// Who executes a command.
enum By {
    /// This test, on stand-ins: files of the folder and what they are copies of.
    Here(&'static [(&'static str, &'static str)]),
    /// A file of the repository (`./test` or a test) that contains this text.
    File(&'static str, &'static str),
    /// A bench: it compiles in every run and is executed by `./test --full`.
    Bench,
    /// The text names an option or a form of a command and gives no command to type.
    Name,
}

const CSV: (&str, &str) = ("buffers.csv", "corpus/real/vela_person_detect.csv");
const READER: By = By::File("crates/memplan-cli/tests/cli/reader.rs", "cargo install --path crates/memplan-cli");

const WALK: By = By::File("crates/memplan-py/tests/test_walks.py", "section(\"rust.md\", \"Only the core\")");

/// Commands outside of played blocks, and who executes them.
const OTHERWISE: &[(&str, By)] = &[
    // README
    ("memplan show FILE -o map.html", By::Here(&[CSV])),
    ("memplan plan corpus/real/NAME.csv --align 64", By::Here(&[])),
    ("memplan opt net.mlir --pass merge-alloc -o merged.mlir", By::Here(&[("net.mlir", "@layers")])),
    (
        "memplan opt net.mlir --pass assign-gmem -o addressed.mlir",
        By::Here(&[("net.mlir", "tests/data/gmem/figure.mlir")]),
    ),
    (
        "memplan opt kernel.mlir --pass plan-memory --target Ascend910B1 -o planned.mlir",
        By::Here(&[("kernel.mlir", "@kernel")]),
    ),
    ("memplan opt f.py --pass storage-rewrite", By::Here(&[("f.py", "@tvmscript")])),
    ("memplan run f.py", By::Here(&[("f.py", "@tvmscript")])),
    (
        "memplan plan model.tflite --capacity 256KiB -o planned.tflite",
        By::Here(&[("model.tflite", "tests/data/tflite/unet.tflite")]),
    ),
    (
        "memplan fit model.tflite --capacity 256KiB -o fitted.tflite",
        By::Here(&[("model.tflite", "tests/data/tflite/mobile.tflite")]),
    ),
    ("cargo run --release -- plan", By::File("crates/memplan-cli/tests/cli/reader.rs", "cargo run --release -- plan")),
    ("./test", By::File("test", "usage: ./test")),
    ("cargo install --path crates/memplan-cli", READER),
    ("pip install .", By::File("test", "pip install --quiet --disable-pip-version-check . ")),
    ("python -m memplan plan", By::File("crates/memplan-py/tests/test_examples.py", "\"-m\", \"memplan\", \"plan\"")),
    ("pip install tinygrad==0.14.0", By::File("tests/peers/package-requirements.txt", "tinygrad==0.14.0")),
    (
        "python -m memplan.torch run train.py",
        By::File("crates/memplan-py/tests/test_torch.py", "\"-m\", \"memplan.torch\", \"run\", \"train.py\""),
    ),
    (
        "python crates/memplan-py/benches/torch_gpu.py --settings default,replay --steps 25 --repeat 3",
        By::File("crates/memplan-py/tests/test_torch.py", "\"torch_gpu.py\""),
    ),
    (
        "python crates/memplan-py/benches/torch_calls.py",
        By::File("crates/memplan-py/tests/test_torch.py", "\"torch_calls.py\""),
    ),
    (
        "python crates/memplan-py/benches/torch_turns.py --workloads moe_8,moe_8_ckpt --scale 4",
        By::File("crates/memplan-py/tests/test_torch.py", "\"torch_turns.py\""),
    ),
    ("pip install torch==2.15.*", By::File("test", "'torch==2.15.*'")),
    ("pip install numpy", By::File("crates/memplan-py/tests/test_new_users.py", "user.play(\"python.md\")")),
    ("memplan show snapshot.pickle -o map.html", By::Here(&[("snapshot.pickle", "tests/data/torch/convnet.pickle")])),
    // Rust
    ("cargo new --quiet arena", WALK),
    ("cargo add --quiet --path $CHECKOUT/crates/memplan-core", WALK),
    ("cargo add --quiet --path $CHECKOUT/crates/memplan-planner", WALK),
    ("cargo add --quiet --path $CHECKOUT/crates/memplan-verify --no-default-features", WALK),
    ("cargo run --quiet", WALK),
    // C and C++
    (
        "mlir-opt-22 --load-pass-plugin=./libMemplanPlugin.so --pass-pipeline='builtin.module(memplan-merge-alloc)' in.mlir",
        By::File("crates/memplan-capi/tests/capi/plugin.rs", "--load-pass-plugin={}"),
    ),
    ("memplan plan FILE --json", By::Here(&[CSV])),
    // Reuse costs
    ("memplan plan waits.json", By::File("docs/reuse-costs.md", "$ memplan plan waits.json")),
    ("memplan plan kernels.jsonl --instance NAME", By::Here(&[("kernels.jsonl", "@kernels")])),
    // Chapters
    ("memplan verify FILE PLAN", By::Here(&[CSV, ("plan.csv", "@plan")])),
    ("memplan plan problem.json -s levels", By::Here(&[("problem.json", "@npu")])),
    ("memplan dump --stage program", By::Name),
    ("memplan dump --compat", By::Name),
    ("memplan bench corpus", By::Here(&[])),
    ("memplan bench ablation --dir . --effort quick", By::Here(&[CSV])),
    ("memplan plan -v", By::Here(&[])),
    ("memplan plan --json", By::Here(&[])),
    ("memplan plan FILE -s search --capacity 1048576 --work 1000000", By::Here(&[CSV])),
    (
        "cargo run --release -p memplan-testkit --example generate random 1000000 100 2024 > big.csv",
        By::File("crates/memplan-testkit/examples/generate.rs", "(\"random\", &[count, mean_live, seed])"),
    ),
    ("memplan plan big.csv", By::Here(&[("big.csv", "corpus/generated/random_1000.csv")])),
    ("memplan plan pangu_2.6B.csv", By::Here(&[("pangu_2.6B.csv", "corpus/generated/training_200.csv")])),
    (
        "memplan bench corpus --only minimalloc --dir . --work 4000000",
        By::Here(&[("minimalloc.csv", "corpus/generated/jigsaw_60.csv")]),
    ),
    // Benchmarks
    ("memplan plan FILE -s first-fit", By::Here(&[CSV])),
    ("memplan plan FILE", By::Here(&[CSV])),
    ("cargo bench -p memplan-verify --bench packing", By::Bench),
    ("cargo bench -p memplan-planner --bench strategies", By::Bench),
    ("cargo bench -p memplan-planner --bench scale", By::Bench),
    (
        "cargo run --release -p memplan-planner --example unit_cost -- 50000",
        By::File("test", "cargo run --quiet --release -p memplan-planner --example unit_cost -- 50000"),
    ),
    ("cargo bench -p memplan-mlir --bench read", By::Bench),
    ("cargo bench -p memplan-mlir --bench assign_gmem", By::Bench),
    ("cargo bench -p memplan-mlir --bench plan_memory", By::Bench),
    ("cargo bench -p memplan-tensor --bench scaling", By::Bench),
    ("cargo bench -p memplan-tensor --bench lifecycle", By::Bench),
    (
        "memplan opt net.mlir --pass assign-gmem -o out.mlir --stats",
        By::Here(&[("net.mlir", "tests/data/gmem/figure.mlir")]),
    ),
    (
        "cargo run --release -p memplan-mlir --example large_module 100000 > large.mlir",
        By::File("crates/memplan-mlir/examples/large_module.rs", "fn main"),
    ),
    ("memplan opt large.mlir --pass merge-alloc -o out.mlir", By::Here(&[("large.mlir", "@layers")])),
    ("mlir-opt-22 large.mlir -o /dev/null", By::Here(&[("large.mlir", "@layers")])),
    (
        "cargo test -p memplan-cli --test cli browser -- --nocapture",
        By::File("crates/memplan-cli/tests/cli/browser.rs", "fn pages_in_a_real_browser"),
    ),
    (
        "MEMPLAN_CAPI=target/release/libmemplan_capi.so python crates/memplan-py/benches/overhead.py",
        By::File("test", "python crates/memplan-py/benches/overhead.py"),
    ),
    (
        "python crates/memplan-cli/benches/against_peers.py",
        By::File("test", "python3 crates/memplan-cli/benches/against_peers.py"),
    ),
    ("python crates/memplan-cli/benches/growth.py", By::File("test", "python3 crates/memplan-cli/benches/growth.py")),
    ("python crates/memplan-cli/benches/limits.py", By::File("test", "python3 crates/memplan-cli/benches/limits.py")),
];

/// How a command begins.
const BEGINNINGS: [&str; 9] =
    ["memplan ", "cargo ", "pip ", "python ", "mlir-opt-22 ", "./test", "npm ", "MEMPLAN_CAPI=", "XLA_FLAGS="];

fn is_command(text: &str) -> bool {
    BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
}

/// `memplan explain`: no more than the name of a command.
fn is_only_a_name(command: &str) -> bool {
    command.split_whitespace().count() == 2 && command.starts_with("memplan ")
}

/// The commands of a page that `book` does not play.
fn unplayed(markdown: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut text = String::new();
    for part in parts(markdown) {
        match part {
            Part::Text(line) => text.push_str(&format!("{line}\n")),
            Part::Code(Block { info, lines }) if !info.starts_with("console") || info.contains("elsewhere") => {
                let lines = lines.iter().map(|line| line.trim_start_matches("$ ").split(" #").next().unwrap_or(""));
                commands.extend(lines.map(|line| line.trim().to_owned()).filter(|line| is_command(line)));
            }
            Part::Code(_) => {}
        }
    }
    // A span may go on in the next line, which may be indented.
    let one_line = |span: &str| span.split_whitespace().collect::<Vec<_>>().join(" ");
    let spans = text.split('`').skip(1).step_by(2).map(one_line);
    commands.extend(spans.filter(|span| is_command(span)));
    commands
}

/// The text of a stand-in: a file of the repository, or one of the small programs below.
fn stand_in(source: &str) -> Vec<u8> {
    let text = match source {
        "@layers" => LAYERS,
        "@kernel" => KERNEL,
        "@tvmscript" => TVMSCRIPT,
        // Fixed offsets that overlap; an op that MLIR does not know.
        "@no plan" => "id,lower,upper,size,offset\na,0,2,64,0\nb,1,3,64,32\nc,5,6,8,\n",
        "@no program" => "func.func @f() {\n  \"acme.op\"() : () -> ()\n  return\n}\n",
        "@kernels" => &two_kernels(),
        "@npu" => "{\"buffers\": [{\"id\": \"a\", \"size\": 64, \"lifetime\": [[0, 2]], \"pipe\": \"vector\"}]}",
        file => return std::fs::read(workspace().join(file)).unwrap_or_else(|error| panic!("{file}: {error}")),
    };
    text.as_bytes().to_vec()
}

/// Two problems with reuse penalties, one a line.
fn two_kernels() -> String {
    let buffer = |id: u32| {
        format!(
            r#"{{"id": {id}, "name": "b{id}", "size": 32, "alignment": 32, "allowed_pools": [1],
               "live_intervals": [{{"lower": {id}, "upper": {}}}]}}"#,
            id + 1
        )
    };
    let kernel = |name: &str| {
        format!(
            r#"{{"schema_version": 1, "profile": "dsa_rp_v1", "instance": "{name}", "problem": {{
               "pools": [{{"id": 1, "name": "Vec", "capacity": 64}}], "buffers": [{}, {}],
               "cost_model": {{"reuse_penalties": [{{"first": 0, "second": 1, "cost": 1}}]}}}}}}"#,
            buffer(0),
            buffer(1)
        )
    };
    ["iree_densenet121", "another"].map(|name| kernel(name).replace('\n', " ") + "\n").concat()
}

const KERNEL: &str = "\
func.func @kernel(%in: memref<4096xf16, #hivm.address_space<gm>>, %out: memref<4096xf16, #hivm.address_space<gm>>) {
  %x = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
  hivm.hir.load ins(%in : memref<4096xf16, #hivm.address_space<gm>>) outs(%x : memref<4096xf16, #hivm.address_space<ub>>)
  %y = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
  hivm.hir.vexp ins(%x : memref<4096xf16, #hivm.address_space<ub>>) outs(%y : memref<4096xf16, #hivm.address_space<ub>>)
  hivm.hir.store ins(%y : memref<4096xf16, #hivm.address_space<ub>>) outs(%out : memref<4096xf16, #hivm.address_space<gm>>)
  return
}
";

pub(crate) const TVMSCRIPT: &str = "\
# from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def main(a: T.Buffer((64,), \"float32\")):
    x = T.alloc_buffer((64,), \"float32\")
    for i in range(64):
        x[i] = a[i] + T.float32(1)
    for i in range(64):
        a[i] = x[i]
";

/// The reader's files in the examples of the command reference.
const FILES: &[(&str, &str)] = &[
    CSV,
    ("kernel.mlir", "@kernel"),
    ("net.mlir", "@layers"),
    ("prog.py", "@tvmscript"),
    ("net.te.json", "examples/blur.te.json"),
    ("model.tflite", "tests/data/tflite/branches.tflite"),
    ("model.onnx", "tests/data/onnx/batch.onnx"),
    ("bad.csv", "@no plan"),
    ("bad.mlir", "@no program"),
];

/// Programs that the reader has: what makes traces, a pager for manual pages, MLIR under its own name.
const PROGRAMS: &[(&str, &str)] = &[
    ("generate", "printf 'alloc a 64\\nfree a\\n'"),
    ("man", "grep -q '^.TH memplan 1'"),
    ("mlir-opt", "exec mlir-opt-22 \"$@\""),
];

fn make_programs(folder: &Folder) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::create_dir(folder.path("bin")).unwrap();
    for (name, body) in PROGRAMS {
        let path = folder.path("bin").join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// Runs a command of the reader in a folder; what it says, and its exit code.
fn shell(folder: &Folder, command: &str) -> (i32, String) {
    let memplan = Path::new(env!("CARGO_BIN_EXE_memplan")).parent().unwrap();
    let bin = folder.path("bin");
    let path = format!("{}:{}:{}", bin.display(), memplan.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("bash");
    shell.args(["-c", &format!("set -o pipefail; exec 2>&1; {command}")]).current_dir(folder.path(""));
    let output = shell.env("PATH", path).env("HOME", folder.path("")).output().unwrap();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stdout).into_owned())
}

fn execute(command: &str, files: &[(&str, &str)]) {
    let folder = Folder::new();
    std::os::unix::fs::symlink(workspace().join("corpus"), folder.path("corpus")).unwrap();
    for (name, source) in files.iter().filter(|(_, source)| *source != "@plan") {
        std::fs::write(folder.path(name), stand_in(source)).unwrap();
    }
    if files.iter().any(|(_, source)| *source == "@plan") {
        assert_eq!(folder.run("plan buffers.csv -o plan.csv").code, 0);
    }
    let command =
        command.replace("FILE", "buffers.csv").replace("PLAN", "plan.csv").replace("NAME", "iree_densenet121");
    let (code, said) = shell(&folder, &command);
    assert_eq!(code, 0, "`{command}`: {said}");
}

#[test]
fn every_command_outside_of_played_blocks_is_executed_by_somebody() {
    let mut needed = vec![false; OTHERWISE.len()];
    let mut homeless = Vec::new();
    for page in pages().into_iter().filter(|page| page != "docs/cli.md") {
        let text = std::fs::read_to_string(workspace().join(&page)).unwrap();
        for command in unplayed(&text) {
            match OTHERWISE.iter().position(|(known, _)| *known == command) {
                Some(index) => needed[index] = true,
                None if is_only_a_name(&command) => execute(&format!("{command} --help"), &[]),
                None => homeless.push(format!("{page}: {command}")),
            }
        }
    }
    assert!(homeless.is_empty(), "nobody executes {homeless:#?}");
    let idle: Vec<&str> =
        OTHERWISE.iter().zip(&needed).filter(|(_, needed)| !**needed).map(|((command, _), _)| *command).collect();
    assert!(idle.is_empty(), "no page has {idle:#?}");
}

#[test]
fn commands_in_sentences_work_on_stand_ins() {
    let mut executed = 0;
    for (command, by) in OTHERWISE {
        match by {
            By::Here(files) if !command.starts_with("mlir-opt-22") || is_there(Some("needs=mlir-opt-22")) => {
                execute(command, files);
                executed += 1;
            }
            By::Here(_) | By::Name => {}
            By::File(file, text) => {
                let content = std::fs::read_to_string(workspace().join(file)).unwrap();
                assert!(content.contains(text), "{file} does not execute `{command}`");
            }
            By::Bench => {
                let words: Vec<&str> = command.split(' ').collect();
                let bench = format!("crates/{}/benches/{}.rs", words[3], words[5]);
                assert!(workspace().join(&bench).exists(), "`{command}`: no {bench}");
            }
        }
    }
    assert!(executed >= 15, "only {executed}");
}

/// The examples of the command reference, without what is said about them.
fn examples() -> Vec<String> {
    let text = std::fs::read_to_string(workspace().join("docs/cli.md")).unwrap();
    let mut examples = Vec::new();
    let mut is_example = false;
    for line in text.lines() {
        is_example = matches!(line, "Examples:" | "Example:" | "Try it:") || is_example && line.starts_with("  ");
        let command = line.trim_start().split("  ").next().unwrap_or_default();
        if is_example && line.starts_with("  ") && !line.starts_with("    ") {
            examples.push(command.to_owned());
        }
    }
    examples
}

/// A folder with everything that the examples name.
fn readers_folder() -> Folder {
    let folder = Folder::new();
    make_programs(&folder);
    std::os::unix::fs::symlink(workspace().join("corpus"), folder.path("corpus")).unwrap();
    for (name, source) in FILES {
        std::fs::write(folder.path(name), stand_in(source)).unwrap();
    }
    for prepare in [
        "plan buffers.csv -o plan.json",
        "plan buffers.csv -s greedy-by-size -o a.json",
        "plan buffers.csv -s end-of-life -o b.json",
        "plan buffers.csv --align 64 -o plan.csv",
    ] {
        let ran = folder.run(prepare);
        assert_eq!(ran.code, 0, "{prepare}: {}", ran.stderr);
    }
    let theirs = folder.read("plan.csv").replacen(",offset", ",address", 1);
    std::fs::write(folder.path("theirs.csv"), theirs).unwrap();
    std::fs::create_dir_all(folder.path(".local/share/bash-completion/completions")).unwrap();
    std::fs::create_dir(folder.path("instances")).unwrap();
    std::fs::copy(folder.path("buffers.csv"), folder.path("instances/mine.csv")).unwrap();
    folder
}

#[test]
fn the_examples_of_the_reference_work() {
    let examples = examples();
    assert!(examples.len() > 35, "{examples:#?}");
    let has_mlir = is_there(Some("needs=mlir-opt-22"));
    for example in examples.iter().filter(|example| has_mlir || !example.contains("mlir-opt")) {
        let folder = readers_folder();
        if example.contains("kernel.mlir plan.json") {
            assert_eq!(folder.run("plan kernel.mlir -o plan.json").code, 0);
        }
        let command = match example.contains("--watch") {
            true => format!("timeout 2 {example}; test $? = 124"),
            false => example.clone(),
        };
        let (code, said) = shell(&folder, &command);
        assert_eq!(code, 0, "`{example}`: {said}");
    }
}
