//! assign-gmem on networks of 10^3 to 10^5 tensors: reading, planning, checking.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use memplan_mlir::pass::assign_gmem::{self, Options};
use memplan_mlir::{Dialects, Document};
use memplan_planner::Request;
use memplan_testkit::mlir::network;
use memplan_verify::dataflow::{self, SitePlan};

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
