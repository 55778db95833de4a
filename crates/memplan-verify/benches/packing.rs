//! The packing check over growing problems with about a hundred buffers alive
//! at a time, on a valid plan and on one with everything at offset 0.
//!
//! `cargo bench -p memplan-verify` measures; `docs/benchmarks.md` has recorded results.
#![allow(missing_docs, reason = "criterion's macros make public functions")]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use memplan_core::{Bytes, Id, Placement, Plan, Problem, SpaceId};
use memplan_testkit::instances;
use memplan_verify::packing;

/// A valid plan of shared columns: each buffer goes to the first column (of
/// equal width) that is free again, the oldest first.
fn columns(problem: &Problem) -> Plan {
    let mut plan = Plan::empty(problem);
    let width = problem.buffers().iter().filter_map(|buffer| buffer.bytes()).max().unwrap_or_default().0;
    let mut by_start: Vec<_> = problem.buffers().ids().collect();
    by_start.sort_by_key(|&id| problem.buffers()[id].lifetime.start());
    let mut free_from = std::collections::BinaryHeap::new();
    let mut columns = 0;
    for id in by_start {
        let lifetime = &problem.buffers()[id].lifetime;
        let is_free = |&(std::cmp::Reverse(end), _): &(_, u64)| Some(end) <= lifetime.start();
        let column = match free_from.peek().copied().filter(is_free) {
            Some((_, column)) => {
                free_from.pop();
                column
            }
            None => {
                columns += 1;
                columns - 1
            }
        };
        free_from.extend(lifetime.end().map(|end| (std::cmp::Reverse(end), column)));
        plan.placements[id] = Some(Placement::at(SpaceId::from_index(0), Bytes(column * width)));
    }
    plan.fit_extents(problem);
    plan
}

fn all_at_zero(problem: &Problem) -> Plan {
    let mut plan = Plan::empty(problem);
    for placement in plan.placements.iter_mut() {
        *placement = Some(Placement::at(SpaceId::from_index(0), Bytes::ZERO));
    }
    plan.fit_extents(problem);
    plan
}

fn packing_check(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("packing");
    group.sample_size(10);
    for count in [1_000, 10_000, 100_000, 1_000_000] {
        let problem = instances::benchmark(count);
        let plan = columns(&problem);
        assert!(packing::check(&problem, &plan).is_empty());
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(BenchmarkId::new("valid", count), |bencher| {
            bencher.iter(|| packing::check(&problem, &plan));
        });
        let plan = all_at_zero(&problem);
        group.bench_function(BenchmarkId::new("all at offset 0", count), |bencher| {
            bencher.iter(|| packing::check(&problem, &plan).len());
        });
    }
    group.finish();
}

criterion_group!(benches, packing_check);
criterion_main!(benches);
