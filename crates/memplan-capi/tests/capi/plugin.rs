//! The MLIR pass plugin, built against libMLIR and loaded by mlir-opt. Hundreds of megabytes of
//! headers: only in a full test run (MEMPLAN_FULL).

use std::path::Path;
use std::process::Command;

use crate::cpp::{include, library, run};
use crate::rewriting::TWO_BUFFERS;

#[test]
fn mlir_opt_runs_the_pass() {
    if std::env::var_os("MEMPLAN_FULL").is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let plugin = folder.path().join("libMemplanPlugin.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/mlir-plugin/MergeAlloc.cpp");
    let mut compile = Command::new("c++");
    compile.args(["-std=c++17", "-fPIC", "-shared", "-fno-rtti", "-I", "/usr/lib/llvm-22/include", "-I"]);
    compile.arg(include()).arg(source).arg(library());
    compile.args(["-L", "/usr/lib/llvm-22/lib", "-l:libMLIR.so.22.1", "-lpthread", "-ldl", "-lm", "-o"]);
    run(compile.arg(&plugin));
    let input = folder.path().join("in.mlir");
    std::fs::write(&input, TWO_BUFFERS).expect("written");
    let opt = |pipeline: &str| {
        let mut command = Command::new("mlir-opt-22");
        command.arg(format!("--load-pass-plugin={}", plugin.display())).arg(format!("--pass-pipeline={pipeline}"));
        command.arg(&input).output().expect("mlir-opt-22 starts")
    };
    let merged = opt("builtin.module(memplan-merge-alloc,canonicalize)");
    let text = String::from_utf8_lossy(&merged.stdout);
    assert!(merged.status.success(), "{}", String::from_utf8_lossy(&merged.stderr));
    assert_eq!((text.matches("memref.alloc()").count(), text.matches("memref.view").count()), (1, 2), "{text}");
    assert!(text.contains("memref<64xi8>"), "{text}");
    let refused = opt("builtin.module(memplan-merge-alloc{options=alignment=0})");
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("bad argument"));
}
