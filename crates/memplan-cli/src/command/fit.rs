//! `memplan fit`: a model is changed until it fits.

use std::path::Path;

use memplan::core::Bytes;
use memplan::driver;
use memplan::fit::Allowed;
use memplan::front_end::Fit;
use memplan::front_end::fit::{Counted, Fitted, Version, chart};
use memplan::network::Kind;
use memplan::source::Source;
use memplan::wording::sized;

use super::{failure, short_name};
use crate::answer::{Answer, Failure};
use crate::args::{ChangeArg, CountArg, FitArgs};
use crate::paint::{Style, painted, visible};
use crate::progress::Progress;
use crate::table::Table;
use crate::{input, output};

/// Changes a model until it fits, prints the versions, and writes the chosen one and the chart if that is asked for.
pub(super) fn run(args: &FitArgs) -> Result<Answer, Failure> {
    for path in args.output.iter().chain(&args.chart) {
        output::refuse_input(path, &args.file)?;
    }
    // A chart that could not be written is refused before anything is searched for.
    let draw = args.chart.as_deref().map(drawing).transpose()?;
    let mut source = input::source(&args.file, &args.format)?;
    // The runtime overwrites inputs that nobody reads any more, so a plan may do so, unless the user forbids it.
    source.options.models.assumptions.reuse_inputs |= is_allowed(args, ChangeArg::InputReuse);
    let front_end = front_end(args)?;
    let counted = front_end.counted;
    let input = driver::read(&front_end, &source, &driver::How::default());
    let input = input.map_err(|error| failure(&source, error))?;
    // The second `--space` is for the records that a runtime keeps about a model. Only TensorFlow
    // Lite Micro, which runs `.tflite` models, is known to be able to keep them in a second memory.
    let has_records = input.network.as_deref().is_some_and(|network| *network.kind() == Kind::Tflite);
    if args.space.len() > 1 && !has_records {
        let message = "nothing is known of the records of a runtime for this model, so that there is one memory";
        return Err(Failure::usage_with_help(message, "give one --space, or --capacity"));
    }
    let progress = Progress::start(None);
    progress.say("looking for changes");
    let fitted = driver::lay_out(&front_end, &input, &args.budget.how(None));
    let fitted = fitted.map_err(|error| failure(&source, error))?;
    drop(progress);
    // The report goes to standard output; the model and the chart go to their files.
    let mut text = if args.json { fitted.to_json() + "\n" } else { report(&source, &front_end, &fitted) };
    if let Some(path) = &args.output {
        let model = driver::emit(&front_end, &input, &fitted).map_err(|error| failure(&source, error))?;
        output::write_with(path, &|out| model.write(out))?;
        if !args.json {
            let plan = if fitted.has_plan_inside() { ", with a plan inside" } else { "" };
            text.push_str(&format!("\nmodel written to {}{plan}\n", path.display()));
        }
    }
    if let (Some(path), Some(draw)) = (&args.chart, draw) {
        output::write(path, draw(short_name(&source), &fitted.steps, counted))?;
        if !args.json {
            text.push_str(&format!("\nchart written to {}\n", path.display()));
        }
    }
    let warnings = fitted.repairs().to_vec();
    Ok(Answer { warnings, ..Answer::yes(text).with_notes(input.notes) })
}

/// What is asked for: one memory, or two of which the second has the runtime's records.
fn front_end(args: &FitArgs) -> Result<Fit, Failure> {
    let allowed = allowed(args);
    let counted = match args.count {
        CountArg::Arena => Counted::Arena,
        CountArg::Tensors => Counted::Tensors,
    };
    if let Some(space) = args.space.iter().find(|space| space.alignment.is_some()) {
        let message = format!("the runtime aligns its tensors itself, whatever alignment `{}` has", space.name);
        return Err(Failure::usage_with_help(message, "write --space NAME=CAPACITY"));
    }
    match args.space.as_slice() {
        [] => Ok(Fit { allowed, capacity: args.capacity, counted, records: None }),
        [one] => Ok(Fit { allowed, capacity: one.capacity, counted, records: None }),
        [tensors, records] => Ok(Fit::on_two_memories(allowed, tensors.capacity, records.capacity)),
        [_, _, third, ..] => {
            let message =
                format!("`{}` is one memory too many: a runtime has one for tensors and one for records", third.name);
            Err(Failure::usage_with_help(message, "give --space twice"))
        }
    }
}

/// Draws versions as a chart, under a name.
type Draw = fn(&str, &[Version], Counted) -> String;

/// What draws the trade-off, by the name of the file.
fn drawing(path: &Path) -> Result<Draw, Failure> {
    match output::extension(path).as_str() {
        "html" | "htm" => Ok(chart::html),
        "svg" => Ok(chart::svg),
        _ => {
            let message = format!("{} does not say what the chart is to be", path.display());
            Err(Failure::usage_with_help(message, "write it to chart.svg or chart.html"))
        }
    }
}

/// What would make a model fit into a capacity, in words, for a user who asks why it does not fit; why nothing would,
/// if no change is enough. `None` if the source is no model that can be changed.
pub(super) fn advice(source: &Source, capacity: Bytes) -> Option<String> {
    let mut source = source.clone();
    // All changes are allowed here, also that inputs are overwritten.
    source.options.models.assumptions.reuse_inputs = true;
    let front_end = Fit { capacity: Some(capacity), ..Fit::default() };
    let input = driver::read(&front_end, &source, &driver::How::default()).ok()?;
    match driver::lay_out(&front_end, &input, &driver::How::default()) {
        Ok(fitted) => {
            let version = fitted.steps.get(fitted.chosen)?;
            let verdict = painted("this would make it fit", Style::Good);
            let more = more(fitted.steps.first(), version);
            // The model as it is fits here, and did not fit before: all that differs is that its
            // inputs are reused.
            let what =
                if version.changes.is_empty() { "inputs that are reused".to_owned() } else { version.in_words() };
            Some(format!(
                "\n{verdict}: {what}\nan arena of {}, {more} more multiply-adds; `memplan fit` writes the model\n",
                sized(version.arena)
            ))
        }
        Err(driver::Failure::DoesNotFit(why)) => Some(format!("\n{why}\n")),
        Err(_) => None,
    }
}

/// Whether the user allows a kind of change: all kinds unless some are named with `--allow`, less those of `--forbid`.
fn is_allowed(args: &FitArgs, change: ChangeArg) -> bool {
    let is_named = args.allow.is_empty() || args.allow.contains(&change);
    is_named && !args.forbid.contains(&change)
}

/// The kinds of change that the user allows.
fn allowed(args: &FitArgs) -> Allowed {
    Allowed {
        reorder: is_allowed(args, ChangeArg::Reorder),
        recompute: is_allowed(args, ChangeArg::Recompute),
        patches: is_allowed(args, ChangeArg::Patches),
    }
}

/// A heading and a table of the versions, from the model as it was to the one that needs least.
fn report(source: &Source, front_end: &Fit, fitted: &Fitted) -> String {
    let name = painted(&visible(short_name(source)), Style::Strong);
    let heading = match front_end.capacity {
        Some(capacity) if fitted.chosen == 0 => {
            format!("{name} fits into {} as it is", sized(capacity))
        }
        Some(capacity) => format!("{name} fits into {} with these changes", sized(capacity)),
        None => format!("{name}: what less memory costs"),
    };
    let headings = [">arena", ">bytes", ">tensors", ">multiply-adds", ">more", ">copied", ">ops", "changes"];
    let mut table = Table::with_heading(&headings);
    // The first row is the model as it was. All other rows are compared with it.
    let before = fitted.steps.first();
    for version in &fitted.steps {
        let counted = front_end.counted;
        let is_less = before.is_some_and(|before| version.needs(counted) < before.needs(counted));
        let at_least = if version.is_exact { "" } else { "≥ " };
        table.row([
            (format!("{at_least}{}", version.arena.human()), if is_less { Style::Good } else { Style::Plain }),
            (version.arena.to_string(), Style::Plain),
            (version.tensors.to_string(), Style::Plain),
            (version.macs.to_string(), Style::Plain),
            (more(before, version), Style::Plain),
            (Bytes(version.copied).human(), Style::Plain),
            (version.ops.to_string(), Style::Plain),
            (version.in_words(), Style::Plain),
        ]);
    }
    format!("{heading}\n\n{}", table.render(2))
}

/// Multiply-adds on top of those of the model as it is, in per cent.
fn more(before: Option<&Version>, version: &Version) -> String {
    let base = before.map_or(0, |before| before.macs);
    let extra = version.macs.saturating_sub(base);
    format!("{:.1} %", 100.0 * extra as f64 / base.max(1) as f64)
}
