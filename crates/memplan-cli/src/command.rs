//! The commands: one file each, from arguments to an answer.

mod ablation;
mod bench;
mod compare;
mod dump;
mod explain;
mod fit;
mod list;
mod opt;
mod plan;
mod reduce;
mod reorder;
mod run;
mod shell;
mod show;
mod trade_off;
mod verify;

use std::path::Path;

use memplan::core::{BufferId, IndexVec, Span};
use memplan::driver::{self, Checked, How};
use memplan::front_end::{Plain, PlanForm, Planned};
use memplan::map::{Map, Remark};
use memplan::planner::find;
use memplan::source::Source;

use crate::answer::{Answer, Failure};
use crate::args::{Command, StrategyArgs, TargetArgs};
use crate::diagnose;
use crate::input;
use crate::progress::Progress;

/// Runs a command.
pub(crate) fn run(command: &Command) -> Result<Answer, Failure> {
    match command {
        Command::Plan(args) => plan::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Show(args) => show::run(args),
        Command::Dump(args) => dump::run(args),
        Command::Opt(args) => opt::run(args),
        Command::Run(args) => run::run(args),
        Command::Reduce(args) => reduce::run(args),
        Command::Reorder(args) => reorder::run(args),
        Command::Fit(args) => fit::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Strategies => Ok(list::strategies()),
        Command::Formats => Ok(list::formats()),
        Command::Passes => Ok(list::passes()),
        Command::Completions { shell } => Ok(shell::completions(*shell)),
        Command::Manpage => shell::manual(),
    }
}

/// Reads a source and plans it as the arguments say, with a progress bar; for commands that need
/// the plan and nothing of the input.
fn planned(source: &Source, strategy: &StrategyArgs, target: &TargetArgs) -> Result<Checked<Planned>, Failure> {
    let plain = Plain { target: target.target(), form: PlanForm::default() };
    let progress = Progress::start(strategy.budget.time_limit);
    let how = how(strategy, &progress)?;
    let input = driver::read(&plain, source, &how).map_err(|error| failure(source, error))?;
    driver::lay_out(&plain, &input, &how).map_err(|error| failure(source, error))
}

/// How to plan, as the arguments say.
fn how<'a>(strategy: &StrategyArgs, progress: &'a Progress) -> Result<How<'a>, Failure> {
    let Some(chosen) = find(&strategy.strategy) else {
        return Err(Failure::usage(format!("there is no strategy called `{}`", strategy.strategy)));
    };
    let how = strategy.budget.how(Some(progress));
    // What is about strategies alone is added to what all commands have.
    let request =
        memplan::planner::Request { assign: strategy.assign.into(), without: strategy.without.clone(), ..how.request };
    Ok(How { strategy: Some(chosen), request, ..how })
}

/// Why the driver has no result, as the command line says it: an answer that is no, an input with
/// something wrong in it, a bug, or wrong usage. Whatever is left over at the end (a refusal of the
/// strategy, a target that does not go with the input, a form that cannot hold the plan) is usage:
/// other arguments would help.
pub(crate) fn failure(source: &Source, error: driver::Failure) -> Failure {
    use driver::Failure as Why;
    match error {
        Why::Input(error) => input::unreadable(source, &error),
        Why::No(error) => Failure::No(diagnose::excerpt(source, &error)),
        Why::DoesNotFit(why) => Failure::No(why),
        Why::Stopped(stopped) => Failure::Stopped(stopped),
        Why::Unsound(bug) => Failure::Bug(bug.to_string()),
        other => Failure::usage(other.to_string()),
    }
}

/// The name of an input without its folder, for headings.
fn short_name(source: &Source) -> &str {
    Path::new(&source.name).file_name().and_then(|name| name.to_str()).unwrap_or(&source.name)
}

/// The memory map of a planned input; `None` if there is no plan.
fn map_of<'a>(source: &Source, planned: &'a Planned) -> Option<Map<'a>> {
    let map = Map::of(planned, short_name(source))?;
    Some(match remark_of(source, &planned.spans) {
        Some(remark) => map.with_remark(remark),
        None => map,
    })
}

/// The lines of a program in which its buffers are allocated; `None` if it is no program.
fn remark_of(source: &Source, spans: &IndexVec<BufferId, Span>) -> Option<Remark> {
    // A model is no text, and lifetime records have no spans.
    let text = std::str::from_utf8(&source.bytes).ok().filter(|_| !spans.is_empty())?;
    Some(Remark::source(short_name(source), text, spans))
}
