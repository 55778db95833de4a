//! How long every strategy takes, from a thousand buffers to a hundred thousand
//! (a million with `MEMPLAN_BENCH_MILLION=1`), about a hundred of them alive at
//! a time.
//!
//! A strategy whose time grows faster than n log n is not run where one run
//! would take more than [`PATIENCE`]; that is judged by the run before.
//!
//! `cargo bench -p memplan-planner --bench strategies -- 'offsets/first-fit/'`
//! runs one strategy; results and what they mean are in `docs/benchmarks.md`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};
use memplan_core::Problem;
use memplan_planner::{Assign, Request, STRATEGIES, Strategy, plan};
use memplan_testkit::instances;

const PATIENCE: Duration = Duration::from_secs(4);

fn sizes() -> Vec<usize> {
    let million = std::env::var_os("MEMPLAN_BENCH_MILLION").is_some();
    [1_000, 10_000, 100_000].into_iter().chain(million.then_some(1_000_000)).collect()
}

fn strategies(criterion: &mut Criterion) {
    let problems: Vec<(usize, Problem)> = sizes().into_iter().map(|n| (n, instances::benchmark(n))).collect();
    for strategy in STRATEGIES {
        for &assign in strategy.assigns() {
            let kind = match assign {
                Assign::Offsets => "offsets",
                Assign::Objects => "objects",
            };
            let mut group = criterion.benchmark_group(format!("{kind}/{}", strategy.name()));
            group.sample_size(10).sampling_mode(SamplingMode::Flat);
            group.warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(500));
            let mut expected = Duration::ZERO;
            for (n, problem) in &problems {
                if expected > PATIENCE {
                    break;
                }
                group.bench_with_input(BenchmarkId::from_parameter(n), problem, |bencher, problem| {
                    bencher.iter_custom(|runs| {
                        let start = Stopwatch::start();
                        (0..runs).for_each(|_| run(*strategy, problem, assign));
                        let taken = start.elapsed();
                        // Ten times the buffers, a hundred times the time at worst.
                        expected = (taken / u32::try_from(runs).unwrap_or(u32::MAX)) * 100;
                        taken
                    });
                });
                if is_linearithmic(strategy.name()) {
                    expected = Duration::ZERO;
                }
            }
            group.finish();
        }
    }
}

/// Strategies known to grow with n log n, so that a long run promises no endless one.
fn is_linearithmic(name: &str) -> bool {
    let families = ["auto", "first-fit", "best-fit", "chunk-", "object-fit", "naive", "equality"];
    families.iter().any(|family| name.starts_with(family)) || name == "greedy-by-size"
}

/// Time on the processor where the system tells (so that other work on the
/// machine does not count), else time on the clock.
struct Stopwatch {
    on_processor: Option<Duration>,
    on_clock: Instant,
}

impl Stopwatch {
    fn start() -> Stopwatch {
        Stopwatch { on_processor: on_processor(), on_clock: Instant::now() }
    }

    fn elapsed(&self) -> Duration {
        match (self.on_processor, on_processor()) {
            (Some(start), Some(end)) if end > start => end - start,
            _ => self.on_clock.elapsed(),
        }
    }
}

/// What Linux has accounted to this thread.
fn on_processor() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

fn run(strategy: &dyn Strategy, problem: &Problem, assign: Assign) {
    let request = Request { assign, ..Request::default() };
    let _ = black_box(plan(strategy, black_box(problem), &request));
}

criterion_group!(benches, strategies);
criterion_main!(benches);
