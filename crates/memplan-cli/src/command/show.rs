//! `memplan show`: draw a plan, ours or another tool's.

use memplan::finding;
use memplan::map::{Caption, Map};
use memplan::pipeline::Source;
use memplan::timeline;
use memplan::wording::count;

use super::plan::wrong_extension;
use super::{map_of, planned, short_name};
use crate::answer::{Answer, Failure};
use crate::args::ShowArgs;
use crate::{input, output};

/// What to draw.
#[derive(Clone, Copy)]
enum Picture {
    Html,
    Svg,
    Trace,
}

pub(super) fn run(args: &ShowArgs) -> Result<Answer, Failure> {
    let picture = match output::extension(&args.output).as_str() {
        "html" | "htm" => Picture::Html,
        "svg" => Picture::Svg,
        "json" => Picture::Trace,
        _ => return Err(wrong_extension(&args.output, "a picture", "map.html, map.svg or trace.json")),
    };
    if args.file == "-" && args.plan.as_deref() == Some("-") {
        return Err(Failure::usage("FILE and PLAN cannot both be standard input"));
    }
    let source = input::source(&args.file, &args.format)?;
    let (content, notes) = match &args.plan {
        Some(plan) => draw_given(args, &source, plan, picture)?,
        None => draw_own(args, &source, picture)?,
    };
    output::write(&args.output, &content)?;
    Ok(Answer::yes(format!("written to {}\n", args.output.display())).with_notes(notes))
}

/// Plans, then draws.
fn draw_own(args: &ShowArgs, source: &Source, picture: Picture) -> Result<(String, Vec<String>), Failure> {
    let planned = planned(source, &args.strategy, &args.target)?;
    let (Some(plan), Some(map)) = (planned.outcome.plan(), map_of(source, &planned)) else {
        let message = format!("there is no plan to draw: {}", planned.outcome.status());
        return Err(Failure::usage_with_help(message, "`memplan plan` with the same arguments explains why"));
    };
    let content = match picture {
        Picture::Trace => timeline::write(&planned.problem, plan),
        Picture::Html => map.html(),
        Picture::Svg => map.svg(),
    };
    Ok((content, planned.notes))
}

/// Draws a plan that somebody else made, also a wrong one.
fn draw_given(
    args: &ShowArgs,
    source: &Source,
    plan_file: &str,
    picture: Picture,
) -> Result<(String, Vec<String>), Failure> {
    let input = input::read_on_target(source, &args.target.target())?;
    let plan = input::plan(plan_file, &input.problem, args.offsets.offset_column.as_deref())?;
    let findings = match &input.program {
        Some(program) => finding::in_dataflow(program.program(), &program.check(&plan)),
        None => finding::in_packing(&input.problem, &plan),
    };
    let mut notes = input.notes;
    let mut facts = vec![format!("plan {plan_file}")];
    if !findings.is_empty() {
        let violations = count(findings.len(), "violation");
        notes.push(format!("the plan is wrong: {violations}; `memplan verify` lists them"));
        facts.push(violations);
    }
    let map = Map::new(&input.problem, &plan, Caption::new(short_name(source), facts));
    let content = match picture {
        Picture::Trace => timeline::write(&input.problem, &plan),
        Picture::Html => map.html(),
        Picture::Svg => map.svg(),
    };
    Ok((content, notes))
}
