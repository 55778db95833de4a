//! `memplan fit`: a model is changed until it fits.

use memplan::core::Bytes;
use memplan::driver;
use memplan::fit::Allowed;
use memplan::front_end::fit::{Fitted, Version};
use memplan::front_end::{Fit, FrontEnd};
use memplan::source::Source;
use memplan::wording::sized;
use serde_json::json;

use super::{failure, short_name};
use crate::answer::{Answer, Failure};
use crate::args::{ChangeArg, FitArgs};
use crate::paint::{Style, painted, visible};
use crate::progress::Progress;
use crate::table::Table;
use crate::{input, output};

pub(super) fn run(args: &FitArgs) -> Result<Answer, Failure> {
    if let Some(path) = &args.output {
        output::refuse_input(path, &args.file)?;
    }
    let mut source = input::source(&args.file, &args.format)?;
    // The runtime overwrites inputs that nobody reads any more, so that a model in it can do so, too.
    source.options.models.assumptions.reuse_inputs |= is_allowed(args, ChangeArg::InputReuse);
    let front_end = Fit { allowed: allowed(args), capacity: args.capacity };
    let failed = |error| failure(&source, error);
    let input = front_end.read(&source).map_err(failed)?;
    let progress = Progress::start(None);
    progress.say("looking for changes");
    let fitted = driver::lay_out(&front_end, &input, &driver::How::default()).map_err(failed)?;
    drop(progress);
    let mut text = if args.json { as_json(&fitted) } else { report(&source, args.capacity, &fitted) };
    if let Some(path) = &args.output {
        let model = driver::emit(&front_end, &input, &fitted).map_err(failed)?;
        output::write_with(path, &|out| model.write(out))?;
        if !args.json {
            text.push_str(&format!("\nmodel written to {}, with a plan inside\n", path.display()));
        }
    }
    let warnings = fitted.repairs().to_vec();
    Ok(Answer { warnings, ..Answer::yes(text).with_notes(input.notes) })
}

fn is_allowed(args: &FitArgs, change: ChangeArg) -> bool {
    let is_named = args.allow.is_empty() || args.allow.contains(&change);
    is_named && !args.forbid.contains(&change)
}

fn allowed(args: &FitArgs) -> Allowed {
    Allowed {
        reorder: is_allowed(args, ChangeArg::Reorder),
        recompute: is_allowed(args, ChangeArg::Recompute),
        patches: is_allowed(args, ChangeArg::Patches),
    }
}

fn report(source: &Source, capacity: Option<Bytes>, fitted: &Fitted) -> String {
    let name = painted(&visible(short_name(source)), Style::Strong);
    let heading = match capacity {
        Some(capacity) if fitted.chosen == 0 => {
            format!("{name} fits into {} as it is", sized(capacity))
        }
        Some(capacity) => format!("{name} fits into {} with these changes", sized(capacity)),
        None => format!("{name}: what a smaller arena costs"),
    };
    let mut table = Table::with_heading(&[">arena", ">bytes", ">multiply-adds", ">more", ">copied", ">ops", "changes"]);
    // The first row is the model as it was. All other rows are compared with it.
    let before = fitted.steps.first();
    for version in &fitted.steps {
        let style = if before.is_some_and(|before| version.arena < before.arena) { Style::Good } else { Style::Plain };
        table.row([
            (version.arena.human(), style),
            (version.arena.to_string(), Style::Plain),
            (version.macs.to_string(), Style::Plain),
            (more(before, version), Style::Plain),
            (Bytes(version.copied).human(), Style::Plain),
            (version.ops.to_string(), Style::Plain),
            (changes(version), Style::Plain),
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

fn changes(version: &Version) -> String {
    if version.changes.is_empty() { "none".to_owned() } else { version.changes.join("; ") }
}

fn as_json(fitted: &Fitted) -> String {
    let version = |version: &Version| {
        json!({
            "arena": version.arena.0,
            "multiply_adds": version.macs,
            "copied": version.copied,
            "ops": version.ops,
            "file": version.file,
            "changes": version.changes,
        })
    };
    let versions: Vec<_> = fitted.steps.iter().map(version).collect();
    format!("{}\n", json!({ "chosen": fitted.chosen, "versions": versions }))
}
