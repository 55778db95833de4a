//! `memplan opt`: rewrite a program.

use std::io::{self, Write};

use memplan::driver::How;
use memplan::front_end::Layout;
use memplan::map::{Caption, Map};
use memplan::mlir::pass::Saving;
use memplan::pass::{self, Chain, Done, PASSES, opt};
use memplan::planner::find;
use memplan::source::Source;
use memplan::wording::sized;

use super::plan::MapKind;
use super::{failure, remark_of, short_name};
use crate::answer::{Answer, Failure};
use crate::args::{OptArgs, Scopes};
use crate::progress::Progress;
use crate::table::Table;
use crate::{input, output};

/// Runs the passes on every part of the file (MLIR's `// -----` separates parts) and writes the text, files of the
/// passes and the map.
pub(super) fn run(args: &OptArgs) -> Result<Answer, Failure> {
    let source = input::source(&args.file, &args.format)?;
    let map = args.map.as_deref().map(MapKind::of).transpose()?;
    if let Some(spec) = args.passes.iter().find(|spec| pass::find(&spec.name).is_none()) {
        let names: Vec<&str> = PASSES.iter().map(|pass| pass.name).collect();
        let message = format!("there is no pass called `{}`", spec.name);
        return Err(Failure::usage_with_help(message, format!("the passes are {}", names.join(", "))));
    }
    let mut notes = Vec::new();
    // The progress line ends with this block, before anything is printed.
    let done = {
        let progress = Progress::start(args.budget.time_limit);
        let device = args.target.as_deref().map(input::device).transpose()?;
        let strategy = args.strategy.as_deref().and_then(find).map(|strategy| strategy as _);
        // What was planned is only needed for a picture. And since this is the last thing that the
        // process does, the driver need not free what it has read and planned (`is_last`).
        let without_layout = args.map.is_none();
        let how = How { strategy, device, is_last: true, without_layout, ..args.budget.how(Some(&progress)) };
        let done = opt(&source, &args.passes, &how);
        if args.verbose {
            notes.push(progress.moments());
        }
        done
    };
    let answer = deliver(args, map, &source, &done, notes);
    // The process is about to end, and the system takes its memory back at once. Freeing it part by part takes longer.
    std::mem::forget((source, done));
    answer
}

/// Writes what the passes made, and puts together what there is to say about it, behind `notes`.
fn deliver(
    args: &OptArgs,
    map: Option<MapKind>,
    source: &Source,
    done: &Done,
    notes: Vec<String>,
) -> Result<Answer, Failure> {
    let mut answer = Answer { notes, ..Answer::default() };
    // The new text in pieces: the text of each part and the line behind it. It may have a hundred
    // megabytes, so it is not put together if it goes to a file.
    let mut text: Vec<&str> = Vec::new();
    for part in &done.parts {
        match &part.chain {
            Ok(chain) => describe(chain, args, &mut answer),
            Err(stopped) => {
                describe(&stopped.done, args, &mut answer);
                answer.failures.push(failure(&stopped.source, stopped.failure.clone()));
            }
        }
        text.extend([part.text().unwrap_or_default(), part.separator.as_str()]);
    }
    let failed = answer.failures.len();
    if failed > 0 {
        if done.parts.len() > 1 {
            answer.notes.insert(0, format!("{failed} of {} parts are left out: see below", done.parts.len()));
        }
        // A file is written whole or not at all. On standard output the parts that were rewritten are printed.
        if args.output.is_none() && done.parts.len() > 1 {
            answer.text = text.concat();
        }
        return Ok(answer);
    }
    let chain = done.parts.iter().filter_map(|part| part.chain.as_ref().ok()).flatten();
    // Files that a pass was asked to write beside the program.
    for (name, content) in chain.clone().flat_map(|(_, output)| &output.files) {
        output::write(std::path::Path::new(name), content)?;
    }
    if let (Some(path), Some(kind)) = (&args.map, map) {
        // Of several passes that have a layout, the last one is drawn.
        let planned = chain.filter_map(|(pass, output)| Some((pass, output.layout.as_ref()?))).next_back();
        let message = format!("there is nothing to draw to {}", path.display());
        let help = "only plan-memory has a map; `memplan show` draws programs";
        let (pass, planned) = planned.ok_or_else(|| Failure::usage_with_help(message, help))?;
        output::write(path, drawing(source, pass, planned, kind))?;
    }
    match &args.output {
        Some(path) => {
            // The input may be replaced, because the rewritten program is still that program; the user is told so.
            let was_input = output::is_input(path, &args.file);
            output::write_with(path, &|out| write_pieces(out, &text))?;
            answer.notes.extend(output::replaced_input(path, was_input));
        }
        None => answer.text = text.concat(),
    }
    Ok(answer)
}

/// Writes the pieces of a text one after the other. Small ones are gathered, so that a file of very many parts takes no
/// call of the system for each.
fn write_pieces(out: &mut dyn Write, pieces: &[&str]) -> io::Result<()> {
    let mut out = io::BufWriter::new(out);
    pieces.iter().try_for_each(|piece| out.write_all(piece.as_bytes()))?;
    out.flush()
}

/// Adds to the answer what the passes had to say: notes, repairs, and the table of bytes if it is asked for.
fn describe(chain: &Chain, args: &OptArgs, answer: &mut Answer) {
    for (pass, output) in chain {
        answer.notes.extend(output.notes.iter().map(|note| format!("{pass}: {note}")));
        answer.warnings.extend_from_slice(output.repairs());
        if let Some(scopes) = args.stats.filter(|_| !output.savings.is_empty()) {
            answer.figures += &format!("{pass}: bytes before and after\n{}", savings(&output.savings, scopes));
        }
    }
}

/// What a pass has planned, as a picture.
fn drawing(source: &Source, pass: &str, planned: &Layout, kind: MapKind) -> String {
    let caption = Caption::new(short_name(source), vec![format!("pass {pass}")]);
    let map = Map::new(&planned.problem, &planned.plan, caption);
    let map = match remark_of(source, &planned.spans) {
        Some(remark) => map.with_remark(remark),
        None => map,
    };
    kind.draw(&map)
}

/// Rows of the table without `--stats=all`.
const LARGEST: usize = 20;

/// A table of the scopes (what has memory of its own: functions, parallel loops) in the order of
/// the text, with what each needed before and needs now, and their sum. Unless all are asked for,
/// only the largest are listed; the sum counts all.
fn savings(savings: &[Saving], scopes: Scopes) -> String {
    let mut shown: Vec<usize> = (0..savings.len()).collect();
    if scopes == Scopes::Largest && shown.len() > LARGEST {
        shown.sort_by_key(|&index| std::cmp::Reverse(savings[index].before));
        shown.truncate(LARGEST);
        // Those that are left stand in the order of the text again.
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

/// A row of the table of [`savings`].
fn row(function: &str, scope: &str, saving: &Saving) -> [String; 6] {
    let bytes = |bytes: u64| sized(memplan::core::Bytes(bytes));
    let numbers = [bytes(saving.before), bytes(saving.after), bytes(saving.lower_bound)];
    let [before, after, lower_bound] = numbers;
    [function.to_owned(), scope.to_owned(), saving.buffers.to_string(), before, after, lower_bound]
}

/// The sum of all savings.
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
