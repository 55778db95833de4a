//! `memplan compare`: every strategy, side by side.

use memplan::compare::{Comparison, Entry, Refused};
use memplan::core::{Bytes, Outcome};
use memplan::planner::{Assign, Refusal};
use memplan::wording::{Unit, count, duration};
use serde_json::{Value, json};

use super::{failure, short_name};
use crate::answer::{Answer, Failure};
use crate::args::CompareArgs;
use crate::paint::{Style, painted, visible};
use crate::progress::Progress;
use crate::table::Table;
use crate::{input, model};

/// Plans with every strategy and prints the plans from the smallest to the largest.
pub(super) fn run(args: &CompareArgs) -> Result<Answer, Failure> {
    let source = input::source_or_example(args.file.as_deref(), &args.format)?;
    let progress = Progress::start(args.budget.time_limit);
    let input = input::read_on_target(&source, &args.target.target())?;
    let problem = &input.problem;
    let how = args.budget.how(None);
    // The name of each strategy is shown while it runs.
    let comparison = Comparison::run(&input, args.assign.map(Assign::from), &how, |name| {
        progress.say(name);
    })
    .map_err(|error| failure(&source, error))?;
    drop(progress);
    let lower_bound = comparison.lower_bound(problem);
    let text = if args.json {
        format!("{}\n", as_json(&comparison, lower_bound))
    } else {
        let buffers = count(problem.buffers().len(), "buffer");
        let name = painted(&visible(short_name(&source)), Style::Strong);
        let unit = Unit::of(problem);
        let bound = unit.amount_in_full(lower_bound);
        format!("{name}: {buffers}, lower bound {bound}\n\n{}", report(&comparison, lower_bound, unit))
    };
    // The answer is no only if not a single strategy has found a plan.
    let is_no = comparison.entries.iter().all(|entry| entry.outcome.plan().is_none());
    let notes = input.notes.into_iter().chain(input.network.as_deref().and_then(model::runtime_note)).collect();
    Ok(Answer { text, notes, is_no, ..Answer::default() })
}

/// The table of strategies, and below it those that do not take this input, with the reason.
fn report(comparison: &Comparison, lower_bound: Bytes, unit: Unit) -> String {
    let exact = if unit == Unit::Bytes { ">bytes" } else { ">elements" };
    let mut table =
        Table::with_heading(&["strategy", "assign", ">extent", exact, ">ratio", ">objects", ">time", "status"]);
    for entry in &comparison.entries {
        // A strategy without a plan has dashes.
        let (extent, bytes, ratio) = match entry.extent() {
            Some(extent) => (unit.amount(extent), extent.to_string(), format!("{:.3}", ratio(extent, lower_bound))),
            None => ("-".to_owned(), "-".to_owned(), "-".to_owned()),
        };
        let objects = objects(entry).map_or_else(|| "-".to_owned(), |objects| objects.to_string());
        table.row([
            (entry.strategy.clone(), Style::Plain),
            (kind(entry.assign).to_owned(), Style::Plain),
            (extent, Style::Strong),
            (bytes, Style::Faint),
            (ratio, Style::Plain),
            (objects, Style::Plain),
            (duration(entry.time), Style::Faint),
            (entry.outcome.status().to_owned(), status_style(&entry.outcome)),
        ]);
    }
    format!("{}{}", table.render(2), refusals(comparison))
}

/// Why a strategy that would take the input is not in the table.
const NOT_TRIED: &str = "not tried: time limit";

/// The strategies that did not take part. Those that make no plans of the wanted kind share a line.
fn refusals(comparison: &Comparison) -> String {
    // Refused because of the kind of plan alone, such as shared objects from a strategy that only
    // makes offsets.
    let makes_others = |refused: &&Refused| matches!(refused.reason, Refusal::Assign { .. });
    let (others, unable): (Vec<&Refused>, Vec<&Refused>) = comparison.refused.iter().partition(makes_others);
    let mut text = String::new();
    if !unable.is_empty() {
        text.push_str("\nnot applicable:\n");
        text.extend(unable.iter().map(|refused| format!("  {}\n", visible(&refused.reason.to_string()))));
    }
    if let Some(Refusal::Assign { kind, .. }) = others.first().map(|refused| &refused.reason) {
        let names: Vec<&str> = others.iter().map(|refused| refused.strategy.as_str()).collect();
        text.push_str(&format!("\nmake no {kind}: {}\n", names.join(", ")));
    }
    if !comparison.not_tried.is_empty() {
        text.push_str(&format!("\n{NOT_TRIED}: {}\n", comparison.not_tried.join(", ")));
    }
    text
}

/// The colour of a status: a proved optimum is good, no plan is bad.
fn status_style(outcome: &Outcome) -> Style {
    match outcome {
        Outcome::Optimal(_) => Style::Good,
        Outcome::Feasible { .. } => Style::Plain,
        Outcome::Infeasible(_) | Outcome::Exhausted { .. } => Style::Bad,
    }
}

/// The kind of plan, as the command line calls it.
fn kind(assign: Assign) -> &'static str {
    match assign {
        Assign::Offsets => "offsets",
        Assign::Objects => "objects",
    }
}

/// Number of shared objects, in a plan made of them.
fn objects(entry: &Entry) -> Option<usize> {
    let plan = entry.outcome.plan()?;
    (entry.assign == Assign::Objects).then(|| plan.objects.len())
}

/// How many times the lower bound an extent is. Two zeros are equal, not 0/1.
fn ratio(extent: Bytes, lower_bound: Bytes) -> f64 {
    if extent == lower_bound { 1.0 } else { extent.0 as f64 / lower_bound.0.max(1) as f64 }
}

/// What one strategy made of the problem.
fn entry_json(entry: &Entry, lower_bound: Bytes) -> Value {
    json!({
        "strategy": entry.strategy,
        "assign": kind(entry.assign),
        "status": entry.outcome.status(),
        "extent": entry.extent().map(|extent| extent.0),
        "ratio": entry.extent().map(|extent| ratio(extent, lower_bound)),
        "objects": objects(entry),
        "seconds": entry.time.as_secs_f64(),
    })
}

/// The comparison as JSON. Strategies that were not tried stand among those that refused, with the reason.
fn as_json(comparison: &Comparison, lower_bound: Bytes) -> Value {
    let refused = comparison.refused.iter().map(|refused| (refused.strategy.as_str(), refused.reason.to_string()));
    let not_tried = comparison.not_tried.iter().map(|&strategy| (strategy, NOT_TRIED.to_owned()));
    let refused: Vec<Value> =
        refused.chain(not_tried).map(|(strategy, reason)| json!({"strategy": strategy, "reason": reason})).collect();
    json!({
        "lower_bound": lower_bound.0,
        "strategies": comparison.entries.iter().map(|entry| entry_json(entry, lower_bound)).collect::<Vec<_>>(),
        "refused": refused,
    })
}
