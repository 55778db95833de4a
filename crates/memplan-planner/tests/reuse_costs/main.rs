//! Reuse that costs, on the recorded kernels and the lifts of another project.
//!
//! What a plan costs and whether it is valid is computed here from the file itself, not by memplan.

#![allow(clippy::unwrap_used, reason = "a test")]
#![allow(clippy::print_stdout, reason = "says what was skipped, and the numbers")]

mod every_feature;
mod file;
mod scale;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use file::File;
use memplan_core::{BufferId, Id, Outcome, PlanCost};
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

#[test]
fn lifts_are_cheaper_than_published() {
    let Some(text) = file::instances("lifts.jsonl") else {
        println!("skipped: needs dsa/lifts.jsonl in MEMPLAN_INSTANCES");
        return;
    };
    let known = [285, 329, 365, 248, 403, 129, 450, 474, 902, 572, 1408];
    // All of them take half a minute of one core.
    let count = if std::env::var_os("MEMPLAN_FULL").is_some() { known.len() } else { 2 };
    let mut sum = 0;
    for (line, known) in text.lines().zip(known).take(count) {
        let file = File::of(line);
        let result = plan(line, &file, &Request::default());
        println!("{} {:?} known {known} {:?}", result.name, result.cost, result.time);
        let (cost, _) = result.cost.expect("fits");
        assert!(cost <= known, "{}: {cost} > {known}", result.name);
        sum += cost;
    }
    println!("sum {sum}");
    assert!(count < known.len() || sum < 3000, "{sum}");
}
