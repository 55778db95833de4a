//! `memplan opt`: rewrite a program.

use memplan::mlir::pass::Saving;
use memplan::pass::{self, PassFailure, PassHow, PassSpec};
use memplan::pipeline::Source;
use memplan::planner::{Request, find};
use memplan::wording::sized;

use crate::answer::{Answer, Failure};
use crate::args::OptArgs;
use crate::paint::{Style, visible};
use crate::progress::Progress;
use crate::table::Table;
use crate::{input, output};

pub(super) fn run(args: &OptArgs) -> Result<Answer, Failure> {
    let mut source = input::source(&args.file, &args.format)?;
    let progress = Progress::start(args.budget.time_limit);
    let request = Request {
        seed: args.budget.seed,
        time_limit: args.budget.time_limit,
        observer: Some(&progress),
        ..Request::default()
    };
    let how = PassHow { strategy: args.strategy.as_deref().and_then(find), request };
    let mut notes = Vec::new();
    let mut figures = String::new();
    for spec in &args.passes {
        let rewritten = find_pass(spec)?.run(&source, &spec.options, &how).map_err(|error| failure(&source, error))?;
        notes.extend(rewritten.notes.into_iter().map(|note| format!("{}: {note}", spec.name)));
        if args.stats && !rewritten.savings.is_empty() {
            figures += &format!("{}: bytes before and after\n{}", spec.name, savings(&rewritten.savings));
        }
        source.bytes = rewritten.text.into_bytes();
    }
    let text = String::from_utf8_lossy(&source.bytes).into_owned();
    let answer = match &args.output {
        Some(path) => {
            output::write(path, &text)?;
            Answer::default()
        }
        None => Answer::yes(text),
    };
    Ok(Answer { figures, ..answer }.with_notes(notes))
}

fn find_pass(spec: &PassSpec) -> Result<&'static dyn pass::Pass, Failure> {
    pass::find(&spec.name).ok_or_else(|| {
        let names: Vec<&str> = pass::PASSES.iter().map(|pass| pass.name()).collect();
        let message = format!("there is no pass called `{}`", spec.name);
        Failure::usage_with_help(message, format!("the passes are {}", names.join(", ")))
    })
}

fn savings(savings: &[Saving]) -> String {
    let mut table = Table::with_heading(&["function", "scope", "buffers", "before", "after", "lower bound"]);
    for saving in savings {
        let cells = [
            visible(&saving.function),
            visible(&saving.scope),
            saving.buffers.to_string(),
            sized(memplan::core::Bytes(saving.before)),
            sized(memplan::core::Bytes(saving.after)),
            sized(memplan::core::Bytes(saving.lower_bound)),
        ];
        table.row(cells.map(|cell| (cell, Style::Plain)));
    }
    table.render(2)
}

fn failure(source: &Source, error: PassFailure) -> Failure {
    match error {
        PassFailure::Input(error) => input::unreadable(source, &error),
        PassFailure::No(error) => input::refused(source, &error),
        PassFailure::Unsound(bug) => Failure::Bug(bug.to_string()),
        other => Failure::usage(other.to_string()),
    }
}
