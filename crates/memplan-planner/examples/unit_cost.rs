//! What a unit of work costs: `unit_cost [WORK [NAME…]]` prints a row of a table for each stage of each problem.
//!
//! A budget counts units of work so that plans do not depend on the machine. For `--work` to mean something to a
//! person, a unit has to take about the same time everywhere. This program plans problems of every kind with one
//! thread and divides the processor time of each stage by the units that the stage has counted. Stages that count
//! fewer than [`FEW`] units are left out, because there the rest of the stage (making lists, sorting) is most of it.
//! The row `first plan` has the passes before all stages, which no limit on work ends, with all preparations; the row
//! `all` is the whole search.
//!
//! ```text
//! | problem              | stage  |   units |      ms | µs per unit |
//! |----------------------|--------|---------|---------|-------------|
//! | kernel 250           | proof  |   49768 |   243.9 |        4.90 |
//! ```
//!
//! A name is that of a file of records, or a part of the names of the problems to plan. `docs/benchmarks.md` has the
//! table.
#![allow(clippy::print_stdout, reason = "a program for people who read its table")]

use std::sync::Mutex;
use std::time::{Duration, Instant};

use memplan_core::{Bytes, Interval, Lifetime, Problem, ReuseCost, Space, bound};
use memplan_planner::search::StageReport;
use memplan_planner::{Observer, Request, search};
use memplan_testkit::{instances, stress};

/// Fewer units than this say nothing.
const FEW: u64 = 2_000;

/// Time on the processor where the system tells, so that other programs do not count; else time on the clock.
fn now(start: Instant) -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split_whitespace().next().and_then(|nanos| nanos.parse().ok());
    nanos.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// Notes when each stage ended.
struct Watch {
    start: Instant,
    ends: Mutex<Vec<(&'static str, u64, Duration)>>,
}

impl Observer for Watch {
    fn stage(&self, report: &StageReport) {
        let end = (report.name, report.work, now(self.start));
        self.ends.lock().expect("one thread only").push(end);
    }
}

/// Buffers with slots, pauses and alignments, `alive` of them at a time.
fn motley(count: usize, alive: u64) -> Problem {
    let mut builder = instances::random(count, alive, 1).to_builder();
    for (index, buffer) in builder.buffers_mut().iter_mut().enumerate() {
        buffer.alignment = Bytes(1 << (index % 8));
        buffer.slots = 1 + u32::from(index % 7 == 0);
        let (start, end) = (buffer.lifetime.start(), buffer.lifetime.end());
        let (Some(start), Some(end)) = (start, end) else { continue };
        if index % 3 == 0 && end.0 - start.0 > 3 {
            let third = (end.0 - start.0) / 3;
            let early = Interval::new(start.0, start.0 + third);
            buffer.lifetime = [early, Interval::new(end.0 - third, end.0)].into_iter().collect::<Lifetime>();
        }
    }
    builder.build().expect("valid")
}

/// Buffers each of which may be in any of some spaces.
fn homes(count: usize, spaces: usize) -> Problem {
    let mut builder = instances::random(count, 12, 1).to_builder();
    let first = builder.spaces_mut().iter().count();
    let all: Vec<_> = (first..spaces).map(|number| builder.space(Space::new(format!("space{number}")))).collect();
    for (index, buffer) in builder.buffers_mut().iter_mut().enumerate() {
        buffer.spaces = all.iter().copied().skip(index % all.len()).take(2).collect();
    }
    builder.build().expect("valid")
}

/// Random buffers in a space of `tenths` tenths of their peak. Each may share bytes with the next eight that start
/// after its end, at a price.
fn priced(count: usize, alive: u64, tenths: u64) -> Problem {
    let problem = instances::random(count, alive, 1);
    let mut order: Vec<_> = problem.buffers().iter_enumerated().collect();
    order.sort_by_key(|(id, buffer)| (buffer.lifetime.start(), *id));
    let mut builder = problem.to_builder();
    for (position, (one, buffer)) in order.iter().enumerate() {
        let later = order[position + 1..].iter().filter(|(_, later)| later.lifetime.start() >= buffer.lifetime.end());
        for (number, (other, _)) in later.take(8).enumerate() {
            builder.reuse_cost(ReuseCost { one: *one, other: *other, weight: 1 + number as u64 % 5 });
        }
    }
    let peak = bound::lower_bound(&problem);
    for space in builder.spaces_mut().iter_mut() {
        space.capacity = Some(Bytes(peak.0 / 10 * tenths));
    }
    builder.build().expect("valid")
}

type Named = (String, Box<dyn Fn() -> Problem>);

/// All problems, each with a name.
fn problems() -> Vec<Named> {
    let mut all: Vec<Named> = Vec::new();
    for (name, make) in stress::FAMILIES {
        for count in [40, 280, 3_000, 30_000] {
            all.push((format!("stress: {name} {count}"), Box::new(move || make(count))));
        }
    }
    let mut add = |name: &str, make: Box<dyn Fn() -> Problem>| all.push((name.to_owned(), make));
    add("random 1000/30", Box::new(|| instances::random(1_000, 30, 1)));
    add("random 5000/100", Box::new(|| instances::random(5_000, 100, 1)));
    add("random 10000/300", Box::new(|| instances::random(10_000, 300, 1)));
    add("random 50000/500", Box::new(|| instances::random(50_000, 500, 1)));
    add("random 20000/2000", Box::new(|| instances::random(20_000, 2_000, 1)));
    add("aligned 300/30", Box::new(|| instances::aligned(300, 30, 1)));
    add("aligned 5000/100", Box::new(|| instances::aligned(5_000, 100, 1)));
    add("aligned 50000/500", Box::new(|| instances::aligned(50_000, 500, 1)));
    for count in [60, 150, 300, 500, 1_000, 3_000] {
        all.push((format!("jigsaw {count}"), Box::new(move || instances::jigsaw(count, count as u64, 1 << 20, 1))));
    }
    for count in [20, 45, 80, 120, 250, 3_000] {
        all.push((format!("kernel {count}"), Box::new(move || instances::kernel(count, 3))));
    }
    for (count, alive) in [(40, 10), (100, 20), (200, 20), (200, 100), (1_000, 30), (3_000, 30), (3_000, 300)] {
        all.push((format!("motley {count}/{alive}"), Box::new(move || motley(count, alive))));
    }
    for (count, spaces) in [(60, 3), (200, 3), (200, 20)] {
        all.push((format!("homes {count} in {spaces}"), Box::new(move || homes(count, spaces))));
    }
    for (count, alive, tenths) in [(40, 10, 12), (100, 10, 12), (100, 10, 20), (1_000, 30, 12), (5_000, 100, 12)] {
        let make = move || priced(count, alive, tenths);
        all.push((format!("priced {count}/{alive} in {tenths}/10"), Box::new(make)));
    }
    for layers in [100, 1_000, 5_000] {
        all.push((format!("training {layers}"), Box::new(move || instances::training(layers, 1))));
        all.push((format!("in place {layers}"), Box::new(move || instances::in_place_chain(layers, 1))));
    }
    all
}

fn main() {
    let mut args = std::env::args().skip(1);
    let work = args.next().and_then(|work| work.parse().ok()).unwrap_or(100_000);
    let names: Vec<String> = args.collect();
    println!("| problem                     | stage        |    units |       ms | µs per unit |");
    println!("|-----------------------------|--------------|----------|----------|-------------|");
    let read = |path: &String| {
        let bytes = std::fs::read(path).expect("a file");
        memplan_models::records::read(&bytes, None, path).expect("records").problem
    };
    let files = names.iter().filter(|name| std::path::Path::new(name).is_file()).cloned();
    let files = files.map(|path| -> Named { (path.clone(), Box::new(move || read(&path))) });
    for (name, make) in problems().into_iter().chain(files) {
        if !names.is_empty() && !names.iter().any(|part| name.contains(part.as_str())) {
            continue;
        }
        let problem = make();
        let watch = Watch { start: Instant::now(), ends: Mutex::default() };
        let limits = Request { work_limit: Some(work), threads: Some(1), ..Request::default() };
        let request = Request { observer: Some(&watch), ..limits.clone() };
        // The first plan comes before all stages. A run without work says how long that takes.
        let begin = now(watch.start);
        let first = search::search(&problem, &Request { work_limit: Some(0), ..limits.clone() });
        let mut last = now(watch.start) + (now(watch.start) - begin);
        let begin = now(watch.start);
        let answer = search::search(&problem, &request);
        let row = |stage: &str, units: u64, time: Duration| {
            if units >= FEW {
                let micros = time.as_secs_f64() * 1e6;
                let each = micros / units as f64;
                println!("| {name:27} | {stage:12} | {units:8} | {:8.1} | {each:11.2} |", micros / 1e3);
            }
        };
        row("first plan", first.first_passes, last.saturating_sub(begin));
        for (stage, units, end) in watch.ends.into_inner().expect("one thread only") {
            row(stage, units, end.saturating_sub(last));
            last = end;
        }
        row("all", answer.nodes + answer.first_passes, now(watch.start).saturating_sub(begin));
    }
}
