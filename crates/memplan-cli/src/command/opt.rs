//! `memplan opt`: rewrite a program.

mod parts;

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
use parts::Part;

pub(super) fn run(args: &OptArgs) -> Result<Answer, Failure> {
    let source = input::source(&args.file, &args.format)?;
    let progress = Progress::start(args.budget.time_limit);
    let request = Request {
        seed: args.budget.seed,
        effort: args.budget.effort.into(),
        time_limit: args.budget.time_limit,
        work_limit: args.budget.work,
        observer: Some(&progress),
        ..Request::default()
    };
    let device = args.target.as_deref().map(input::device).transpose()?;
    let how = PassHow { strategy: args.strategy.as_deref().and_then(find), request, device };
    let map = args.map.as_deref().map(MapKind::of).transpose()?;
    match rewrite(&source, args, &how, map) {
        Ok(rewritten) => delivered(rewritten, args),
        Err(stopped) => {
            let parts = parts::of(&source);
            if parts.len() > 1 {
                return Ok(part_by_part(&source, &parts, args, &how));
            }
            let Stopped { failure, notes } = stopped;
            Ok(Answer { failures: vec![failure], ..Answer::default() }.with_notes(notes))
        }
    }
}

/// A text that has been through all passes.
#[derive(Default)]
struct Rewritten {
    text: String,
    notes: Vec<String>,
    figures: String,
    files: Vec<(String, String)>,
    /// The picture of what was planned last, if it was asked for.
    drawing: Option<String>,
}

/// Why a text has not, and what the passes before had to say.
struct Stopped {
    failure: Failure,
    notes: Vec<String>,
}

fn rewrite(source: &Source, args: &OptArgs, how: &PassHow, map: Option<MapKind>) -> Result<Rewritten, Stopped> {
    let mut source = source.clone();
    let mut done = Rewritten::default();
    for spec in &args.passes {
        let pass = find_pass(spec).map_err(|failure| Stopped { failure, notes: Vec::new() })?;
        let rewritten = match pass.run(&source, &spec.options, how) {
            Ok(rewritten) => rewritten,
            Err(error) => return Err(Stopped { failure: failure(&source, error), notes: done.notes }),
        };
        done.files.extend(rewritten.files);
        done.notes.extend(rewritten.notes.into_iter().map(|note| format!("{}: {note}", spec.name)));
        if let Some(scopes) = args.stats.filter(|_| !rewritten.savings.is_empty()) {
            done.figures += &format!("{}: bytes before and after\n{}", spec.name, savings(&rewritten.savings, scopes));
        }
        if let (Some(kind), Some(planned)) = (map, rewritten.layout) {
            done.drawing = Some(drawing(&source, spec, &planned, kind));
        }
        source.bytes = rewritten.text.into_bytes();
    }
    done.text = String::from_utf8_lossy(&source.bytes).into_owned();
    Ok(done)
}

fn delivered(rewritten: Rewritten, args: &OptArgs) -> Result<Answer, Failure> {
    let Rewritten { text, notes, figures, files, drawing } = rewritten;
    for (name, content) in &files {
        output::write(std::path::Path::new(name), content)?;
    }
    if let Some(path) = &args.map {
        let message = format!("there is nothing to draw to {}", path.display());
        let help = "only plan-memory has a map; `memplan show` draws programs";
        output::write(path, drawing.ok_or_else(|| Failure::usage_with_help(message, help))?)?;
    }
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

/// What is wrong with each part, and the others rewritten. Nothing is written to
/// files, which are whole or not there.
fn part_by_part(source: &Source, parts: &[Part], args: &OptArgs, how: &PassHow) -> Answer {
    let mut answer = Answer::default();
    for part in parts {
        match rewrite(&part.as_source(source), args, how, None) {
            Ok(rewritten) => {
                answer.text.push_str(part.without_padding(&rewritten.text));
                answer.notes.extend(rewritten.notes);
                answer.figures.push_str(&rewritten.figures);
            }
            Err(stopped) => {
                answer.notes.extend(stopped.notes);
                answer.failures.push(stopped.failure);
            }
        }
        answer.text.push_str(part.separator);
    }
    let failed = answer.failures.len();
    answer.notes.insert(0, format!("{failed} of {} parts are left out: see below", parts.len()));
    if args.output.is_some() {
        answer.text.clear();
    }
    answer
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
        PassFailure::DoesNotFit(why) => Failure::No(why),
        PassFailure::Unsound(bug) => Failure::Bug(bug.to_string()),
        other => Failure::usage(other.to_string()),
    }
}
