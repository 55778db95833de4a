//! What mlir-opt's own pipelines make of tensor programs is planned at every stage on the way to LLVM.
//!
//! ```text
//!   tensors ─ bufferize ─ … stage ─┬──────────────── the rest of the way ─ run ─┐
//!                                  └─ merge-alloc ── the rest of the way ─ run ─┴─ the same output
//! ```
//!
//! The inputs are made while the test runs, so that they are what the installed tool prints: with and without function
//! boundaries, with deallocations, with OpenMP, asynchronous tasks, launches on a GPU, affine loops and vectors.

use crate::{machine, rewrite};

/// One way through mlir-opt: what has been run when the pass gets its turn, and what is run next.
struct Stage {
    name: &'static str,
    before: &'static [&'static str],
    after: &'static [&'static str],
    /// Whether the result can be run here; a GPU is not asked for.
    runs: bool,
}

const BUFFERIZE: &str = "-one-shot-bufferize=bufferize-function-boundaries=true \
                         function-boundary-type-conversion=identity-layout-map allow-return-allocs-from-loops=true";
const PARALLEL: &str = "-convert-linalg-to-parallel-loops";
const AFFINE: &str = "-convert-linalg-to-affine-loops";
const VECTORS: &str = "-affine-super-vectorize=virtual-vector-size=4";

const fn stage(name: &'static str, before: &'static [&'static str]) -> Stage {
    Stage { name, before, after: &[], runs: true }
}

const STAGES: [Stage; 17] = [
    stage("bufferized", &[BUFFERIZE, "-canonicalize", "-cse"]),
    Stage {
        after: &[BUFFERIZE],
        ..stage("bufferized inside functions", &["-one-shot-bufferize=allow-return-allocs-from-loops=true"])
    },
    stage("deallocations", &[BUFFERIZE, "-canonicalize", "-cse", "-buffer-deallocation-pipeline"]),
    stage(
        "lowered deallocations",
        &[
            BUFFERIZE,
            "-ownership-based-buffer-deallocation",
            "-canonicalize",
            "-buffer-deallocation-simplification",
            "-bufferization-lower-deallocations",
            "-cse",
            "-canonicalize",
        ],
    ),
    stage(
        "results as parameters",
        &[BUFFERIZE, "-buffer-results-to-out-params=modify-public-functions=true hoist-static-allocs=true"],
    ),
    stage("hoisted", &[BUFFERIZE, "-buffer-hoisting", "-buffer-loop-hoisting", "-canonicalize"]),
    stage("loops", &[BUFFERIZE, "-convert-linalg-to-loops", "-canonicalize"]),
    stage("parallel loops", &[BUFFERIZE, PARALLEL, "-canonicalize"]),
    stage("OpenMP", &[BUFFERIZE, PARALLEL, "-convert-scf-to-openmp"]),
    stage("asynchronous tasks", &[BUFFERIZE, PARALLEL, "-async-parallel-for=num-workers=2 min-task-size=1"]),
    stage("affine loops", &[BUFFERIZE, AFFINE]),
    stage("fused affine loops", &[BUFFERIZE, AFFINE, "-affine-loop-fusion", "-affine-scalrep"]),
    stage("vectors", &[BUFFERIZE, AFFINE, VECTORS]),
    stage("lowered vectors", &[BUFFERIZE, AFFINE, VECTORS, "-lower-affine", "-convert-vector-to-scf"]),
    stage("branches", &[BUFFERIZE, "-convert-linalg-to-loops", "-convert-scf-to-cf"]),
    stage("strided metadata", &[BUFFERIZE, "-convert-linalg-to-loops", "-expand-strided-metadata", "-canonicalize"]),
    Stage {
        after: &["-gpu-kernel-outlining"],
        runs: false,
        ..stage("GPU launches", &[BUFFERIZE, PARALLEL, "-gpu-map-parallel-loops", "-convert-parallel-loops-to-gpu"])
    },
];

const TO_LLVM: [&str; 21] = [
    "-convert-linalg-to-loops",
    "-lower-affine",
    "-async-to-async-runtime",
    "-async-runtime-ref-counting",
    "-convert-async-to-llvm",
    "-convert-vector-to-scf",
    "-convert-scf-to-cf",
    "-expand-strided-metadata",
    "-lower-affine",
    "-convert-vector-to-llvm",
    "-convert-ub-to-llvm",
    "-convert-math-to-llvm",
    "-convert-arith-to-llvm",
    "-finalize-memref-to-llvm",
    "-convert-cf-to-llvm",
    "-convert-openmp-to-llvm",
    "-convert-func-to-llvm",
    "-convert-index-to-llvm",
    "-convert-ub-to-llvm",
    "-reconcile-unrealized-casts",
    "-cse",
];

/// Each buffer begins at a multiple of so many bytes.
const ALIGNMENT: u64 = 64;

/// Networks on tensors, each with a `@main` that prints what it computes.
const PROGRAMS: [(&str, &str); 2] =
    [("layers", include_str!("tensors/layers.mlir")), ("loop", include_str!("tensors/loop.mlir"))];

/// What is printed at the end of the way that a stage is on; nothing if it is not run.
fn finish(stage: &Stage, text: &str) -> Result<String, String> {
    // Bufferization goes on only from tensors that it may write to.
    let writable = |line: &str| match line.contains("bufferization.to_tensor") {
        true => line.replacen(" : memref", " restrict writable : memref", 1) + "\n",
        false => format!("{line}\n"),
    };
    let mut text: String = text.lines().map(writable).collect();
    // A scope for allocas takes no branches. There are no allocas in it, so a region that runs once means the same.
    if text.contains("memref.alloca_scope") {
        text = machine::mlir_opt(&text, &["-mlir-print-op-generic"])?;
        text = text
            .replace("memref.alloca_scope.return", "scf.yield")
            .replace("memref.alloca_scope", "scf.execute_region");
    }
    if !stage.runs {
        return machine::mlir_opt(&text, stage.after).map(|_| String::new());
    }
    let lowered = machine::mlir_opt(&text, &[stage.after, &TO_LLVM].concat())?;
    let printed = machine::run_lowered(&lowered)?;
    // The first line says where in memory the result is.
    Ok(printed.lines().filter(|line| !line.contains("base@")).map(|line| format!("{line}\n")).collect())
}

#[test]
fn every_stage_of_every_pipeline_is_planned_and_runs_the_same() {
    if !machine::is_there() {
        return;
    }
    let mut planned = 0;
    for (program, source) in PROGRAMS {
        for stage in &STAGES {
            let name = format!("{program}, {}", stage.name);
            // Not every program can be bufferized without its function boundaries.
            let input = match machine::mlir_opt(source, stage.before) {
                Err(error) if stage.name == "bufferized inside functions" && error.contains("not equivalent") => {
                    continue;
                }
                input => input.unwrap_or_else(|error| panic!("{name}: {error}")),
            };
            assert!(input.contains("memref.alloc"), "{name} has nothing to plan");
            let version = rewrite(&input, "merge-alloc", None);
            assert!(
                version.stats.iter().all(|row| row.after <= row.before + ALIGNMENT * row.buffers as u64),
                "{name}: {:?}",
                version.stats
            );
            planned += usize::from(!version.stats.is_empty());
            let before = finish(stage, &input).unwrap_or_else(|error| panic!("{name}, before: {error}"));
            let after = finish(stage, &version.text).unwrap_or_else(|error| panic!("{name}, after: {error}"));
            assert_eq!(before, after, "{name}");
            assert!(!stage.runs || before.contains("[["), "{name} prints {before}");
        }
    }
    println!("{planned} stages with a merged allocation");
    assert!(planned >= 31, "only {planned} stages have a merged allocation");
}
