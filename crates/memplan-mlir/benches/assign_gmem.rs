//! assign-gmem on networks of 10^3 to 10^5 tensors: reading, planning, checking.

use std::fmt::Write;
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use memplan_mlir::pass::assign_gmem::{self, Options};
use memplan_mlir::{Dialects, Document};
use memplan_planner::Request;
use memplan_verify::dataflow::{self, SitePlan};

/// Residual blocks, each with a concat of two branches and a slice of it.
fn network(tensors: usize) -> String {
    let (narrow, wide) = ("tensor<1x16x16x16xf32>", "tensor<1x32x16x16xf32>");
    let mut text = format!(
        "module @net attributes {{module.addr_mode = \"basic\", module.chip = \"bm1684x\", module.state = \"TPU_DIVIDED\"}} {{\n\
         func.func @main(%arg0: {narrow}) -> {narrow} {{\n%r0 = \"top.Input\"(%arg0) : ({narrow}) -> {narrow}\n"
    );
    let blocks = tensors / 5;
    for block in 0..blocks {
        let next = block + 1;
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "%a{block} = \"tpu.Active\"(%r{block}) : ({narrow}) -> {narrow}\n\
             %b{block} = \"tpu.Conv2D\"(%a{block}) : ({narrow}) -> {narrow}\n\
             %c{block} = \"tpu.Concat\"(%a{block}, %b{block}) {{axis = 1 : si32}} : ({narrow}, {narrow}) -> {wide}\n\
             %s{block} = \"tpu.Slice\"(%c{block}) {{ends = [1, 24, 16, 16], offset = [0, 8, 0, 0], steps = [1, 1, 1, 1]}} : \
             ({wide}) -> {narrow}\n\
             %r{next} = \"tpu.Add\"(%s{block}, %r{block}) : ({narrow}, {narrow}) -> {narrow}\n"
        );
    }
    let _ = write!(text, "return %r{blocks} : {narrow}\n}}\n}}\n");
    text
}

fn assign(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("assign-gmem");
    group.sample_size(10);
    for tensors in [1_000, 10_000, 100_000] {
        let source = network(tensors);
        group.bench_function(BenchmarkId::new("read", tensors), |bench| {
            bench.iter(|| Document::read(black_box(&source), Dialects::builtin()));
        });
        let Ok(document) = Document::read(&source, Dialects::builtin()) else { continue };
        let run = || assign_gmem::run(&document, &Options::default(), None, &Request::default());
        group.bench_function(BenchmarkId::new("plan", tensors), |bench| bench.iter(run));
        let Ok(assigned) = run() else { continue };
        let plan = SitePlan { placements: assigned.placements.clone(), ..SitePlan::empty(&assigned.program) };
        group.bench_function(BenchmarkId::new("check", tensors), |bench| {
            bench.iter(|| dataflow::check(&assigned.program, &plan));
        });
    }
    group.finish();
}

criterion_group!(benches, assign);
criterion_main!(benches);
