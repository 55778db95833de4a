//! Plans instances and says what came of each: `measure WORK INSTANCE…`, a line of CSV for each instance.
//!
//! An instance is a file of records, or a kind of generated problem with its numbers:
//!
//! ```text
//! measure 25000 corpus/generated/jigsaw_60.csv exponential:3000:300:1 kernel:45:2 kernel:20:1@below
//!
//! instance,peak,extent,work,status
//! corpus/generated/jigsaw_60.csv,1000,1000,57,optimal
//! ```
//!
//! With `@below` the instance is planned once, and what is measured is the attempt to do with one byte less: a
//! refutation and its witness. The extent of a refuted instance is the number of buffers of its witness.
//!
//! `tests/tuning/sweep.py` runs this program with every number of `tuning.rs` halved and doubled.
//! `measure write INSTANCE` prints a generated problem as JSON records, for programs that read files.
#![allow(clippy::print_stdout, reason = "a program for people who read its table")]

use memplan_core::{Bytes, Outcome, Problem, bound};
use memplan_planner::{Request, search};
use memplan_testkit::instances;

type Failure = Box<dyn std::error::Error>;

/// The problem that an argument stands for.
fn problem(text: &str) -> Result<Problem, Failure> {
    let (kind, numbers) = text.split_once(':').unwrap_or((text, ""));
    let numbers: Vec<u64> = numbers.split(':').filter_map(|number| number.parse().ok()).collect();
    Ok(match (kind, numbers.as_slice()) {
        ("random", &[count, alive, seed]) => instances::random(count as usize, alive, seed),
        ("exponential", &[count, alive, seed]) => instances::exponential(count as usize, alive, seed),
        ("aligned", &[count, alive, seed]) => instances::aligned(count as usize, alive, seed),
        ("jigsaw", &[count, seed]) => instances::jigsaw(count as usize, count * 3 / 4, 1_000_000, seed),
        ("in-place", &[layers, seed]) => instances::in_place_chain(layers as usize, seed),
        ("training", &[layers, seed]) => instances::training(layers as usize, seed),
        ("kernel", &[count, seed]) => instances::kernel(count as usize, seed),
        _ => memplan_models::records::read(&std::fs::read(text)?, None, text)?.problem,
    })
}

/// The same problem, one byte below what it is known to need; itself if that is not known.
fn one_byte_less(problem: Problem, request: &Request) -> Result<Problem, Failure> {
    let outcome = search::search(&problem, request).outcome;
    let Some(plan) = outcome.plan().filter(|_| matches!(outcome, Outcome::Optimal(_))) else { return Ok(problem) };
    let mut builder = problem.to_builder();
    for (space, extent) in builder.spaces_mut().iter_mut().zip(&plan.extents) {
        space.capacity = Some(Bytes(extent.0.saturating_sub(1)));
    }
    Ok(builder.build()?)
}

fn main() -> Result<(), Failure> {
    let mut args = std::env::args().skip(1);
    let usage = "usage: measure WORK|write INSTANCE…";
    let first = args.next().ok_or(usage)?;
    if first == "write" {
        println!("{}", memplan_models::records::json::write(&problem(&args.next().ok_or(usage)?)?));
        return Ok(());
    }
    let work = first.parse().map_err(|_| usage)?;
    let request = Request { work_limit: Some(work), threads: Some(1), ..Request::default() };
    println!("instance,peak,extent,work,status");
    for name in args {
        let problem = match name.strip_suffix("@below") {
            Some(name) => one_byte_less(problem(name)?, &request)?,
            None => problem(&name)?,
        };
        let answer = search::search(&problem, &request);
        let extent = match &answer.outcome {
            Outcome::Infeasible(witness) => witness.buffers.len() as u64,
            outcome => outcome.plan().map_or(0, |plan| plan.extent().0),
        };
        println!("{name},{},{extent},{},{}", bound::lower_bound(&problem).0, answer.nodes, answer.outcome.status());
    }
    Ok(())
}
