//! What many buffers cost: a pass of first fit on one and on two threads, the lower bound, and
//! the search of a training step and of random buffers under a limit on work.
//!
//! `cargo bench -p memplan-planner --bench scale`; recorded in `docs/benchmarks.md`.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};
use memplan_core::{Problem, bound};
use memplan_planner::{Request, find, plan};
use memplan_testkit::instances;

fn run(strategy: &str, problem: &Problem, request: &Request) {
    if let Some(strategy) = find(strategy) {
        let _ = black_box(plan(strategy, black_box(problem), request));
    }
}

fn scale(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("scale");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    group.warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_secs(1));
    let problem = instances::benchmark(100_000);
    group.bench_function("lower bound/100000", |bencher| bencher.iter(|| bound::lower_bound(black_box(&problem))));
    for strategy in ["first-fit", "first-fit-load"] {
        for threads in [1, 2] {
            let request = Request { threads: Some(threads), ..Request::default() };
            let id = BenchmarkId::new(strategy, format!("{threads} threads"));
            group.bench_function(id, |bencher| bencher.iter(|| run(strategy, &problem, &request)));
        }
    }
    let training = instances::training(4000, 1);
    let random = instances::random(40_000, 60, 2);
    for (name, problem) in [("training", &training), ("random", &random)] {
        let request = Request { work_limit: Some(100_000), ..Request::default() };
        group.bench_function(BenchmarkId::new("search", name), |bencher| {
            bencher.iter(|| run("search", problem, &request));
        });
    }
    group.finish();
}

criterion_group!(benches, scale);
criterion_main!(benches);
