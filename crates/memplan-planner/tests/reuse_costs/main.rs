//! Reuse that costs, on the recorded kernels and the lifts of another project.
//!
//! What a plan costs and whether it is valid is computed here from the file itself, not by memplan.

#![allow(clippy::unwrap_used, reason = "a test")]
#![allow(clippy::print_stdout, reason = "says what was skipped, and the numbers")]

mod every_feature;
mod file;
mod generated;
mod nothing;
mod scale;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use file::File;
use memplan_core::{BufferId, Bytes, Id, Outcome, PlanCost, Problem};
use memplan_models::records::dsa;
use memplan_planner::Request;
use memplan_planner::search::Answer;

/// What came of a problem of a file.
struct Result {
    name: String,
    /// Cost and lower bound; `None` if nothing fits.
    cost: Option<(u64, u64)>,
    time: Duration,
    /// Units of work, of about 4 µs.
    work: u64,
    outcome: Outcome,
}

fn plan(text: &str, file: &File, request: &Request) -> Result {
    let problem = dsa::read(text, Some(&file.instance)).unwrap().problem;
    let start = Instant::now();
    let Answer { outcome, nodes: work, .. } = memplan_planner::search::search(&problem, request);
    let time = start.elapsed();
    let cost = outcome.plan().map(|plan| {
        let cost = file.check(|index| {
            let placement = plan.placements[BufferId::from_index(index)].as_ref().unwrap();
            (placement.space.index(), placement.offsets[0].0)
        });
        let claimed = plan.cost.unwrap_or(PlanCost { total: 0, lower_bound: 0 });
        assert_eq!(cost, claimed.total, "{}", file.instance);
        (cost, claimed.lower_bound)
    });
    Result { name: file.instance.clone(), cost, time, work, outcome }
}

/// Kernels are small; a few lines of the file at a time keep the others' text out of the way.
fn kernels() -> Option<Vec<(String, File)>> {
    let text = file::instances("kernels.jsonl")?;
    Some(text.lines().map(|line| (line.to_owned(), File::of(line))).collect())
}

/// By instance: the cheapest plan that is known; `None` if none is.
fn published(text: &str) -> HashMap<&str, Option<u64>> {
    let known = text.lines().skip(1).map(|line| {
        let fields: Vec<&str> = line.split(',').collect();
        (fields[0], fields[2].parse().ok())
    });
    known.collect()
}

/// In units of work, of about 4 µs each on an ordinary core that does nothing else.
const TWO_SECONDS: u64 = 500_000;

#[test]
fn every_kernel_is_as_cheap_as_published() {
    let (Some(kernels), Some(text)) = (kernels(), file::instances("published.csv")) else {
        println!("skipped: needs dsa/kernels.jsonl in MEMPLAN_INSTANCES");
        return;
    };
    let published = published(&text);
    let (mut sum, mut open, mut impossible) = (0, Vec::new(), Vec::new());
    for (text, file) in &kernels {
        let result = plan(text, file, &Request::default());
        let best = published.get(file.instance.as_str());
        let Some((cost, bound)) = result.cost else {
            assert!(matches!(result.outcome, Outcome::Infeasible(_)), "{}: {:?}", result.name, result.outcome);
            impossible.push(result.name);
            continue;
        };
        let (time, status) = (result.time.as_millis(), result.outcome.status());
        println!("{cost} {bound} {best:?} {time} ms {} units {status} {}", result.work, result.name);
        assert!(result.work <= TWO_SECONDS, "{}: {} units", result.name, result.work);
        if cost > bound {
            open.push(format!("{} {cost} {bound}", result.name));
        }
        if let Some(Some(best)) = best {
            assert!(cost <= *best, "{}: {cost} > {best}", result.name);
            sum += cost;
        }
    }
    println!("sum {sum}, impossible: {impossible:#?}");
    assert_eq!(open, Vec::<String>::new(), "not proved");
    assert!(sum <= 328, "{sum}");
    // Nobody had placed this one, nor said that it does not fit.
    assert!(impossible.iter().any(|name| name.contains("mm_512x512x192_acc_coalesce")), "{impossible:?}");
}

/// In spaces as large as `explain` says nothing is paid; with a tile less in any space that it calls too small,
/// something is.
#[test]
fn what_explain_says_of_kernels_is_true() {
    let Some(kernels) = kernels() else {
        println!("skipped: needs dsa/kernels.jsonl in MEMPLAN_INSTANCES");
        return;
    };
    let request = Request::default();
    let with = |problem: &Problem, capacities: &[Option<Bytes>]| {
        let mut builder = problem.to_builder();
        let spaces = builder.spaces_mut().iter_mut().zip(capacities);
        spaces.for_each(|(space, capacity)| space.capacity = *capacity);
        let outcome = memplan_planner::search::search(&builder.build().unwrap(), &request).outcome;
        outcome.plan().unwrap().cost.unwrap().total
    };
    let mut checked = 0;
    for (text, file) in kernels.iter().filter(|(_, file)| file.instance.ends_with("-soft")) {
        let problem = dsa::read(text, Some(&file.instance)).unwrap().problem;
        let explanation = memplan_planner::explain::explain(&problem, &request);
        let Some(extents) = explanation.free_extents else { continue };
        let spaces = problem.spaces().iter_enumerated();
        let wide: Vec<Option<Bytes>> =
            spaces.map(|(id, space)| space.capacity.map(|capacity| capacity.max(extents[id]))).collect();
        assert_eq!(with(&problem, &wide), 0, "{}", file.instance);
        for (id, space) in problem.spaces().iter_enumerated() {
            if space.capacity < wide[id.index()] {
                let mut less = wide.clone();
                less[id.index()] = Some(Bytes(extents[id].0 - 32));
                assert!(with(&problem, &less) > 0, "{}: `{}` needs less", file.instance, space.name);
                checked += 1;
            }
        }
        if checked >= 10 {
            return;
        }
    }
    panic!("only {checked} spaces are too small");
}

/// Best known costs of A to K.
const KNOWN: [u64; 11] = [285, 329, 365, 248, 403, 129, 450, 474, 902, 572, 1408];

/// Twenty seconds of one core; the second core only helps.
const TWENTY_SECONDS: u64 = 5_000_000;

#[test]
fn lifts_are_cheaper_than_published() {
    let Some(text) = file::instances("lifts.jsonl") else {
        println!("skipped: needs dsa/lifts.jsonl in MEMPLAN_INSTANCES");
        return;
    };
    // All of them take half a minute of one core.
    let count = if std::env::var_os("MEMPLAN_FULL").is_some() { KNOWN.len() } else { 2 };
    let mut rows = Vec::new();
    for (line, known) in text.lines().zip(KNOWN).take(count) {
        let result = plan(line, &File::of(line), &Request::default());
        let (cost, bound) = result.cost.expect("fits");
        println!("{} {cost} {bound} known {known} {:?} {} units", result.name, result.time, result.work);
        assert!(cost <= known, "{}: {cost} > {known}", result.name);
        assert!(result.work <= TWENTY_SECONDS, "{}: {} units", result.name, result.work);
        rows.push((cost, bound));
    }
    print_rows("memplan", &rows);
    let sum: u64 = rows.iter().map(|row| row.0).sum();
    assert!(count < KNOWN.len() || sum < 3000, "{sum}");
}

/// The same lifts in 1,048,576 bytes, and in eleven tenths of the most bytes alive at once.
#[test]
fn lifts_fit_in_other_capacities() {
    let Some(text) = file::instances("lifts.jsonl") else {
        println!("skipped: needs dsa/lifts.jsonl in MEMPLAN_INSTANCES");
        return;
    };
    let is_full = std::env::var_os("MEMPLAN_FULL").is_some();
    // The whole effort takes minutes; a fiftieth of it says that they fit.
    let request = Request { work_limit: (!is_full).then_some(25_000), ..Request::default() };
    let count = if is_full { KNOWN.len() } else { 2 };
    for name in ["1048576 bytes", "1.1 × peak"] {
        let mut rows = Vec::new();
        for line in text.lines().take(count) {
            let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
            let problem = dsa::read(line, None).unwrap().problem;
            let peak = memplan_core::bound::peak_live(&problem, |_| true).bytes.0;
            let capacity = if name == "1048576 bytes" { 1_048_576 } else { peak * 11 / 10 };
            value["problem"]["pools"][0]["capacity"] = capacity.into();
            let line = value.to_string();
            let result = plan(&line, &File::of(&line), &request);
            rows.push(result.cost.expect("fits"));
        }
        print_rows(name, &rows);
        assert!(rows.iter().all(|(cost, bound)| bound <= cost), "{rows:?}");
    }
}

/// Two rows of the table in `docs/reuse-costs.md`: costs and lower bounds.
fn print_rows(name: &str, rows: &[(u64, u64)]) {
    for (name, numbers) in
        [(name, rows.iter().map(|row| row.0).collect::<Vec<_>>()), ("at least", rows.iter().map(|row| row.1).collect())]
    {
        let cells: Vec<String> = numbers.iter().chain([&numbers.iter().sum()]).map(u64::to_string).collect();
        println!("| {name} | {} |", cells.join(" | "));
    }
}
