//! `memplan show`: draw a plan, ours or another tool's, or several to compare.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use memplan::core::{BufferId, IndexVec, Plan, Problem, Span};
use memplan::finding::{self, Finding};
use memplan::format::Input;
use memplan::front_end::Planned;
use memplan::map::{Caption, Map, Remark, Window, advice};
use memplan::models::plan as plan_file;
use memplan::network::Network;
use memplan::source::Source;
use memplan::wording::count;
use memplan::{snapshot, timeline};

use super::plan::wrong_extension;
use super::{planned, remark_of, short_name};
use crate::answer::{self, Answer, Failure};
use crate::args::ShowArgs;
use crate::{input, output, paint};

/// The pause between two looks at the files under `--watch`.
const POLL: Duration = Duration::from_millis(150);

/// What to draw.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Picture {
    /// A page with one or several memory maps.
    Html,
    /// A memory map as a picture.
    Svg,
    /// A memory map in characters.
    Terminal,
    /// A trace for a timeline viewer.
    Trace,
    /// A snapshot for PyTorch's memory viewer.
    Snapshot,
    /// The records with their offsets.
    Records,
}

impl Picture {
    /// By the name of the output, or the terminal with `--term`. A failure if neither is given.
    fn of(args: &ShowArgs) -> Result<Picture, Failure> {
        let Some(path) = &args.output else {
            return if args.term { Ok(Picture::Terminal) } else { Err(no_output()) };
        };
        match output::extension(path).as_str() {
            "html" | "htm" => Ok(Picture::Html),
            "svg" => Ok(Picture::Svg),
            "json" => Ok(Picture::Trace),
            "pickle" | "pkl" => Ok(Picture::Snapshot),
            "csv" => Ok(Picture::Records),
            _ => Err(wrong_extension(path, "a picture", POSSIBLE)),
        }
    }
}

/// Names of files to which can be drawn, for messages.
const POSSIBLE: &str = "map.html, map.svg, trace.json, snapshot.pickle or plan.csv";

/// The failure of a user who does not say where to draw.
fn no_output() -> Failure {
    Failure::usage_with_help("there is nowhere to draw", format!("use --term, or -o with a name such as {POSSIBLE}"))
}

/// Draws one or several plans, once or each time when a file changes.
pub(super) fn run(args: &ShowArgs) -> Result<Answer, Failure> {
    let picture = Picture::of(args)?;
    let from_input = [&args.file].into_iter().chain(&args.plans).filter(|file| *file == "-").count();
    if from_input > 1 {
        return Err(Failure::usage("only one of FILE and PLAN can be standard input"));
    }
    if args.plans.len() > 1 && picture != Picture::Html {
        return Err(Failure::usage_with_help("only a page can show several plans", "use -o map.html"));
    }
    // No output may replace an input.
    for (path, file) in
        args.output.iter().flat_map(|path| [&args.file].into_iter().chain(&args.plans).map(move |file| (path, file)))
    {
        output::refuse_input(path, file)?;
    }
    if !args.watch {
        return draw(args, picture);
    }
    if from_input > 0 {
        return Err(Failure::usage("standard input cannot be watched"));
    }
    watch(args, picture)
}

/// Draws again whenever a file changes, until interrupted. If something is wrong with a file, that is
/// printed, and the next version of the file is waited for.
fn watch(args: &ShowArgs, picture: Picture) -> ! {
    let files: Vec<&Path> = [&args.file].into_iter().chain(&args.plans).map(Path::new).collect();
    loop {
        // Taken before drawing, so that a change in the meantime is noticed.
        let drawn = versions(&files);
        // Clears the terminal and goes to its upper left corner.
        let clear = if picture == Picture::Terminal && paint::stdout_is_coloured() { "\x1b[2J\x1b[H" } else { "" };
        let result = draw(args, picture);
        answer::deliver(result.map(|answer| Answer { text: format!("{clear}{}", answer.text), ..answer }));
        while versions(&files) == drawn {
            std::thread::sleep(POLL);
        }
    }
}

/// When each file was changed, and its size; `None` while it is not there.
fn versions(files: &[&Path]) -> Vec<Option<(SystemTime, u64)>> {
    let version = |file: &&Path| {
        let metadata = file.metadata().ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    };
    files.iter().map(version).collect()
}

/// Draws once: plans that are given, or a plan of our own.
fn draw(args: &ShowArgs, picture: Picture) -> Result<Answer, Failure> {
    let source = input::source(&args.file, &args.format)?;
    let drawn = if args.plans.is_empty() { own(args, &source)? } else { given(args, &source)? };
    let content = drawn.content(&source, picture)?;
    let Some(path) = args.output.as_ref().filter(|_| picture != Picture::Terminal) else {
        return Ok(Answer::yes(String::from_utf8_lossy(&content)).with_notes(drawn.notes));
    };
    output::write(path, &content)?;
    Ok(Answer::yes(format!("written to {}\n", path.display())).with_notes(drawn.notes))
}

/// A problem with the plans to draw, and what is known about its buffers.
struct Drawn {
    /// The buffers.
    problem: Arc<Problem>,
    /// The plans, at least one.
    plans: Vec<DrawnPlan>,
    /// Where the source allocates each buffer; empty if it is no program.
    spans: IndexVec<BufferId, Span>,
    /// The network, if the source is a model.
    network: Option<Arc<Network>>,
    /// What was ignored or assumed, and which plans are wrong.
    notes: Vec<String>,
}

/// A plan to draw: what to say about it, what to try next, and what is wrong with it.
struct DrawnPlan {
    /// The plan.
    plan: Plan,
    /// What the caption says about it.
    facts: Vec<String>,
    /// What to try next, if it is not known to be the best.
    advice: Option<String>,
    /// What is wrong with it.
    violations: Vec<String>,
}

impl Drawn {
    /// The picture in the form that is asked for. Only a page shows several plans; every other form shows the first.
    fn content(&self, source: &Source, picture: Picture) -> Result<Vec<u8>, Failure> {
        let remark = remark_of(source, &self.spans);
        let maps: Vec<Map> = self.plans.iter().map(|plan| self.map(source, plan, remark.clone())).collect();
        let (Some(first), Some(map)) = (self.plans.first(), maps.first()) else { return Err(no_output()) };
        let origin = |buffer: BufferId| remark.as_ref()?.of.get(buffer)?.clone();
        Ok(match picture {
            Picture::Html => Map::html_of(&maps).into_bytes(),
            Picture::Svg => map.svg().into_bytes(),
            Picture::Terminal => map.terminal(window()).into_bytes(),
            Picture::Trace => timeline::write(&self.problem, &first.plan).into_bytes(),
            Picture::Snapshot => snapshot::write(&self.problem, &first.plan, origin),
            Picture::Records => self.records(first)?.into_bytes(),
        })
    }

    /// A plan as records in CSV. If the plan is right, the text is read again to make sure that it says the same. A
    /// wrong plan cannot be read again and is written as it is.
    fn records(&self, drawn: &DrawnPlan) -> Result<String, Failure> {
        let plan = &drawn.plan;
        let text = plan_file::csv::write(&self.problem, plan);
        if !drawn.violations.is_empty() {
            return Ok(text);
        }
        match plan_file::csv::read(&text, &self.problem, None) {
            Ok(again) if again.placements == plan.placements => Ok(text),
            Ok(_) => Err(Failure::Bug("the records do not say what the plan says; please report it".to_owned())),
            Err(error) => Err(Failure::Bug(format!("the records cannot be read again: {error}; please report it"))),
        }
    }

    /// The map of one plan, with everything that is known about it.
    fn map<'a>(&'a self, source: &Source, drawn: &'a DrawnPlan, remark: Option<Remark>) -> Map<'a> {
        let caption = Caption::new(short_name(source), drawn.facts.clone());
        let map = Map::new(&self.problem, &drawn.plan, caption)
            .with_origin(self.network.as_deref(), !self.spans.is_empty())
            .with_advice(drawn.advice.clone())
            .with_violations(drawn.violations.clone());
        match remark {
            Some(remark) => map.with_remark(remark),
            None => map,
        }
    }
}

/// Makes a plan and draws that; a failure if there is none.
fn own(args: &ShowArgs, source: &Source) -> Result<Drawn, Failure> {
    let planned = planned(source, &args.strategy, &args.target)?;
    let Some(plan) = planned.outcome.plan().cloned() else {
        let message = format!("there is no plan to draw: {}", planned.outcome.status());
        return Err(Failure::usage_with_help(message, "`memplan plan` with the same arguments explains why"));
    };
    let facts = vec![format!("strategy {}", planned.strategy), planned.outcome.status().to_owned()];
    let plans = vec![DrawnPlan { plan, facts, advice: advice(&planned.outcome), violations: Vec::new() }];
    let Planned { problem, spans, notes, network, .. } = planned.into_inner();
    Ok(Drawn { problem, plans, spans, network, notes })
}

/// Reads the plans that the arguments name, also wrong ones, and checks them; what is wrong is noted and drawn.
fn given(args: &ShowArgs, source: &Source) -> Result<Drawn, Failure> {
    let mut input = input::read_on_target(source, &args.target.target())?;
    let mut notes = std::mem::take(&mut input.notes);
    let mut plans = Vec::new();
    for file in &args.plans {
        let plan = input::plan(file, &input.problem, args.offsets.offset_column.as_deref())?;
        let findings = findings(&input, &plan);
        let mut facts = vec![format!("plan {file}")];
        if !findings.is_empty() {
            let violations = count(findings.len(), "violation");
            let whose = if args.plans.len() > 1 { format!("plan {file}") } else { "plan".to_owned() };
            notes.push(format!("the {whose} is wrong: {violations}; `memplan verify` lists them"));
            facts.push(violations);
        }
        let violations = findings.into_iter().map(|finding| finding.message).collect();
        plans.push(DrawnPlan { plan, facts, advice: None, violations });
    }
    let spans = input.program.as_ref().map(|program| program.spans()).unwrap_or_default();
    Ok(Drawn { problem: input.problem, plans, spans, network: input.network, notes })
}

/// Everything that is wrong with a plan, as `memplan verify` says it.
fn findings(input: &Input, plan: &Plan) -> Vec<Finding> {
    let problem = &input.problem;
    match &input.program {
        // Which buffers of a program may share bytes is left to the dataflow check, because it does not trust
        // lifetimes. The packing check looks at each placement by itself: capacity, alignment, space.
        Some(program) => finding::in_placement(problem, plan).into_iter().chain(program.check(plan)).collect(),
        None => {
            let network = input.network.iter().flat_map(|network| network.check(plan));
            finding::in_packing(problem, plan).into_iter().chain(network).collect()
        }
    }
}

/// The terminal's own size, else that of `COLUMNS` and `LINES`, else a usual one.
fn window() -> Window {
    let from_environment = |name: &str| std::env::var(name).ok()?.parse::<usize>().ok().filter(|&size| size > 0);
    let terminal = terminal_size::terminal_size_of(std::io::stdout());
    let (columns, rows) = terminal.map_or_else(
        || (from_environment("COLUMNS").unwrap_or(100), from_environment("LINES").unwrap_or(32)),
        // One line is left for the prompt of the shell.
        |(width, height)| (width.0.into(), usize::from(height.0).saturating_sub(1)),
    );
    // A size from the environment can be any number. The limits keep the picture from filling the memory.
    Window { columns: columns.min(2000), rows: rows.min(1000), coloured: paint::stdout_is_coloured() }
}
