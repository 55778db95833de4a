//! `memplan opt`: rewrite a program.

use memplan::map::{Caption, Map};
use memplan::mlir::pass::Saving;
use memplan::pass::{self, Layout, PassFailure, PassHow, PassSpec};
use memplan::pipeline::Source;
use memplan::planner::{Request, find};
use memplan::wording::sized;

use super::plan::MapKind;
use super::{remark_of, short_name};
use crate::answer::{Answer, Failure};
use crate::args::{OptArgs, Scopes};
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
    let device = args.target.as_deref().map(input::device).transpose()?;
    let how = PassHow { strategy: args.strategy.as_deref().and_then(find), request, device };
    let map = args.map.as_deref().map(|path| MapKind::of(path).map(|kind| (path, kind))).transpose()?;
    let mut layout = None;
    let mut notes = Vec::new();
    let mut figures = String::new();
    for spec in &args.passes {
        let rewritten = match find_pass(spec)?.run(&source, &spec.options, &how) {
            Ok(rewritten) => rewritten,
            Err(PassFailure::DoesNotFit(why)) => {
                return Ok(Answer { figures: why, is_no: true, ..Answer::default() }.with_notes(notes));
            }
            Err(error) => return Err(failure(&source, error)),
        };
        for (name, content) in &rewritten.files {
            output::write(std::path::Path::new(name), content)?;
        }
        notes.extend(rewritten.notes.into_iter().map(|note| format!("{}: {note}", spec.name)));
        if let Some(scopes) = args.stats.filter(|_| !rewritten.savings.is_empty()) {
            figures += &format!("{}: bytes before and after\n{}", spec.name, savings(&rewritten.savings, scopes));
        }
        if let (Some((path, kind)), Some(planned)) = (map, rewritten.layout) {
            output::write(path, drawing(&source, spec, &planned, kind))?;
            layout = Some(path);
        }
        source.bytes = rewritten.text.into_bytes();
    }
    if let (Some((path, _)), None) = (map, layout) {
        let message = format!("there is nothing to draw to {}", path.display());
        return Err(Failure::usage_with_help(message, "only plan-memory has a map; `memplan show` draws programs"));
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

/// What a pass has planned, as a picture.
fn drawing(source: &Source, spec: &PassSpec, planned: &Layout, kind: MapKind) -> String {
    let caption = Caption::new(short_name(source), vec![format!("pass {}", spec.name)]);
    let map = Map::new(&planned.problem, &planned.plan, caption);
    let map = match remark_of(source, &planned.spans) {
        Some(remark) => map.with_remark(remark),
        None => map,
    };
    kind.draw(&map)
}

fn find_pass(spec: &PassSpec) -> Result<&'static dyn pass::Pass, Failure> {
    pass::find(&spec.name).ok_or_else(|| {
        let names: Vec<&str> = pass::PASSES.iter().map(|pass| pass.name()).collect();
        let message = format!("there is no pass called `{}`", spec.name);
        Failure::usage_with_help(message, format!("the passes are {}", names.join(", ")))
    })
}

/// Rows of the table without `--stats=all`.
const LARGEST: usize = 20;

/// The scopes in the order of the text, and what they add up to.
fn savings(savings: &[Saving], scopes: Scopes) -> String {
    let mut shown: Vec<usize> = (0..savings.len()).collect();
    if scopes == Scopes::Largest && shown.len() > LARGEST {
        shown.sort_by_key(|&index| std::cmp::Reverse(savings[index].before));
        shown.truncate(LARGEST);
        shown.sort_unstable();
    }
    let mut table = Table::with_heading(&["function", "scope", "buffers", "before", "after", "lower bound"]);
    for &index in &shown {
        let saving = &savings[index];
        table.plain_row(row(&saving.function, &saving.scope, saving));
    }
    if savings.len() > shown.len() {
        table.plain_row([format!("… and {} more scopes", savings.len() - shown.len())]);
    }
    if savings.len() > 1 {
        table.plain_row(row("total", "", &total(savings)));
    }
    table.render(2)
}

fn row(function: &str, scope: &str, saving: &Saving) -> [String; 6] {
    let bytes = |bytes: u64| sized(memplan::core::Bytes(bytes));
    let numbers = [bytes(saving.before), bytes(saving.after), bytes(saving.lower_bound)];
    let [before, after, lower_bound] = numbers;
    [function.to_owned(), scope.to_owned(), saving.buffers.to_string(), before, after, lower_bound]
}

fn total(savings: &[Saving]) -> Saving {
    let sum = |of: fn(&Saving) -> u64| savings.iter().map(of).fold(0, u64::saturating_add);
    Saving {
        function: String::new(),
        scope: String::new(),
        buffers: savings.iter().map(|saving| saving.buffers).sum(),
        before: sum(|saving| saving.before),
        after: sum(|saving| saving.after),
        lower_bound: sum(|saving| saving.lower_bound),
    }
}

pub(super) fn failure(source: &Source, error: PassFailure) -> Failure {
    match error {
        PassFailure::Input(error) => input::unreadable(source, &error),
        PassFailure::No(error) => input::refused(source, &error),
        PassFailure::Unsound(bug) => Failure::Bug(bug.to_string()),
        other => Failure::usage(other.to_string()),
    }
}
