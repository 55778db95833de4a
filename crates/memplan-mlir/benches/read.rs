//! Reading and lowering a generated module of 10^5 ops, beside mlir-opt-22 on
//! the same file: `cargo bench -p memplan-mlir`.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, reason = "a bench")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use memplan_mlir::{Dialects, Document, lower};

/// Functions of 200 buffers each: fill, a loop nest that copies, a matmul.
fn module(ops: usize) -> String {
    let mut text = String::new();
    let ty = "memref<64x64xf32>";
    for function in 0..ops.div_ceil(1600) {
        writeln!(text, "func.func @f{function}(%a: {ty}, %b: {ty}, %n: index) {{").unwrap();
        writeln!(
            text,
            "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  %cst = arith.constant 0.0 : f32"
        )
        .unwrap();
        let mut source = "%a".to_owned();
        for i in 0..200 {
            writeln!(text, "  %m{i} = memref.alloc() {{alignment = 64 : i64}} : {ty}").unwrap();
            writeln!(text, "  linalg.fill ins(%cst : f32) outs(%m{i} : {ty})").unwrap();
            writeln!(text, "  scf.for %i{i} = %c0 to %n step %c1 {{\n    scf.for %j{i} = %c0 to %n step %c1 {{")
                .unwrap();
            writeln!(text, "      %v{i} = memref.load {source}[%i{i}, %j{i}] : {ty}").unwrap();
            writeln!(text, "      %w{i} = arith.addf %v{i}, %cst : f32").unwrap();
            writeln!(text, "      memref.store %w{i}, %m{i}[%i{i}, %j{i}] : {ty}\n    }}\n  }}").unwrap();
            writeln!(text, "  linalg.matmul ins({source}, %b : {ty}, {ty}) outs(%m{i} : {ty})").unwrap();
            source = format!("%m{i}");
        }
        writeln!(text, "  memref.copy {source}, %b : {ty} to {ty}\n  return\n}}").unwrap();
    }
    text
}

/// One run of mlir-opt, for the ratio; nothing if it is not installed.
fn mlir_opt(source: &str) {
    let path = std::env::temp_dir().join(format!("memplan-read-{}.mlir", std::process::id()));
    std::fs::write(&path, source).unwrap();
    let start = Instant::now();
    let status = Command::new("mlir-opt-22").arg(&path).args(["-o", "/dev/null"]).status();
    match status {
        Ok(_) => println!("mlir-opt-22 parses and prints the same file in {:?}", start.elapsed()),
        Err(_) => println!("skipped: needs mlir-opt-22"),
    }
    std::fs::remove_file(path).unwrap();
}

fn read(criterion: &mut Criterion) {
    let source = module(100_000);
    mlir_opt(&source);
    let mut group = criterion.benchmark_group("mlir");
    group.sample_size(10);
    group.throughput(Throughput::Bytes(source.len() as u64));
    group.bench_function("read", |bencher| {
        bencher.iter(|| Document::read(black_box(&source), Dialects::builtin()).unwrap());
    });
    let document = Document::read(&source, Dialects::builtin()).unwrap();
    group.bench_function("lower", |bencher| bencher.iter(|| lower(black_box(&document)).unwrap()));
    group.finish();
}

criterion_group!(benches, read);
criterion_main!(benches);
