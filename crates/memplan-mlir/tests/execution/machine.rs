//! Lowering to LLVM and running, by mlir-opt-22 and mlir-runner-22.

use std::io::Write as _;
use std::process::{Command, Stdio};

/// From memrefs and structured control flow to the LLVM dialect. Asynchronous
/// regions become coroutines that a pool of threads runs.
const LOWERING: [&str; 18] = [
    "-scf-forall-to-for",
    "-convert-linalg-to-loops",
    "-lower-affine",
    "-async-to-async-runtime",
    "-async-runtime-ref-counting",
    "-convert-async-to-llvm",
    "-convert-scf-to-cf",
    "-expand-strided-metadata",
    "-lower-affine",
    "-convert-vector-to-llvm",
    "-convert-math-to-llvm",
    "-convert-arith-to-llvm",
    "-finalize-memref-to-llvm",
    "-convert-cf-to-llvm",
    "-convert-openmp-to-llvm",
    "-convert-func-to-llvm",
    "-convert-index-to-llvm",
    "-reconcile-unrealized-casts",
];

/// In front of these: each iteration of an `scf.parallel` is a task of its own
/// for the pool of threads.
const CONCURRENT: &str = "-async-parallel-for=num-workers=2 min-task-size=1";

const ASYNC_RUNTIME: &str = "/usr/lib/llvm-22/lib/libmlir_async_runtime.so.22.1";

const OPENMP_RUNTIME: &str = "/usr/lib/llvm-22/lib/libomp.so.5";

const LIBRARIES: &str = "-shared-libs=/usr/lib/llvm-22/lib/libmlir_runner_utils.so.22.1,\
                         /usr/lib/llvm-22/lib/libmlir_c_runner_utils.so.22.1,\
                         /usr/lib/llvm-22/lib/libmlir_async_runtime.so.22.1,\
                         /usr/lib/llvm-22/lib/libomp.so.5";

/// Whether programs can be run here. Says so if not, and fails if they must.
pub(crate) fn is_there() -> bool {
    let answers = |tool: &str| Command::new(tool).arg("--version").stdout(Stdio::null()).status().is_ok();
    let is_missing = |path: &&str| !std::path::Path::new(path).exists();
    let library = [ASYNC_RUNTIME, OPENMP_RUNTIME].into_iter().find(is_missing);
    let missing = ["mlir-opt-22", "mlir-runner-22"].into_iter().find(|tool| !answers(tool)).or(library);
    missing.is_none_or(|tool| memplan_testkit::peers::is_there(false, tool))
}

/// What a module prints when its `@main` runs; the error if it does not come
/// that far. Parallel loops run iteration after iteration.
pub(crate) fn run(module: &str) -> Result<String, String> {
    run_after(&[], module)
}

/// The same, but the iterations of each `scf.parallel` run at the same time.
pub(crate) fn run_concurrently(module: &str) -> Result<String, String> {
    run_after(&[CONCURRENT], module)
}

fn run_after(first: &[&str], module: &str) -> Result<String, String> {
    // A scope for allocas cannot be lowered with loops in it. Ours have no
    // allocas, so any region that runs once means the same.
    let module =
        module.replace("memref.alloca_scope.return", "scf.yield").replace("memref.alloca_scope", "scf.execute_region");
    let module = crate::concurrent::executable(&without_spaces(&module));
    let lowered = mlir_opt(&module, &[first, &LOWERING].concat())?;
    run_lowered(&lowered)
}

/// What a module in the LLVM dialect prints when its `@main` runs.
pub(crate) fn run_lowered(module: &str) -> Result<String, String> {
    let arguments = ["-O0", "-e", "main", "-entry-point-result=void", LIBRARIES];
    pipe("mlir-runner-22", &arguments, module)
}

/// The processor has one memory: buffers of all memory spaces come from there.
fn without_spaces(module: &str) -> String {
    module.replace(&format!(", {SPACE}>"), ">")
}

/// The memory space of the generated programs that is not the default one.
pub(crate) const SPACE: u32 = 7;

/// What mlir-opt makes of a module.
pub(crate) fn mlir_opt(module: &str, passes: &[&str]) -> Result<String, String> {
    pipe("mlir-opt-22", passes, module)
}

fn pipe(tool: &str, arguments: &[&str], input: &str) -> Result<String, String> {
    // A program that waits for ever is an error, too.
    let mut child = Command::new("timeout")
        .args(["600", tool])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{tool}: {error}"))?;
    let mut stdin = child.stdin.take().expect("it was asked for");
    let text = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().map_err(|error| format!("{tool}: {error}"))?;
    // A tool that stops early does not read to the end; its status says why.
    _ = writer.join();
    if output.status.success() {
        String::from_utf8(output.stdout).map_err(|error| error.to_string())
    } else {
        let message: String = String::from_utf8_lossy(&output.stderr).chars().take(1000).collect();
        Err(format!("{tool}: {}\n{message}", output.status))
    }
}
