//! `memplan dump`: an intermediate value as text.

use memplan::core::{Plan, Problem, Size, bound};
use memplan::front_end::assign_gmem;
use memplan::models::{ReadError, records, utf8};
use memplan::source::Source;
use memplan::tensor;
use memplan::wording::life;

use super::planned;
use crate::answer::{Answer, Failure};
use crate::args::{DumpArgs, Stage};
use crate::input;
use crate::table::Table;

/// Prints an intermediate value of the way from the file to a plan, as text. Which values there are depends on the
/// file: a graph of tensor expressions, TVMScript, another program, or a list of lifetimes.
pub(super) fn run(args: &DumpArgs) -> Result<Answer, Failure> {
    let source = input::source(&args.file, &args.format)?;
    // The stage `storage` exists for tensor expressions and for loops. Which one is meant depends on the file.
    if let Some(stage) = args.stage.of_tensors()
        && (args.stage != Stage::Storage || is_tensors(&source))
    {
        let options =
            tensor::te::LowerOptions { compat: args.compat, alignment: args.target.align(), ..Default::default() };
        return dump_tensors(&source, stage, &options);
    }
    match args.stage {
        Stage::Plan => return dump_plan(args, &source),
        Stage::Sequence => return dump_loops(&source, "sequence"),
        Stage::Events => return dump_loops(&source, "events"),
        Stage::Storage => return dump_loops(&source, "storage"),
        Stage::ReuseTable => {
            let table = assign_gmem::reuse_table(&source).map_err(|error| super::failure(&source, error))?;
            return Ok(Answer::yes(table));
        }
        // All other stages are values of the common pipeline: program, aliases, lifetimes, problem.
        _ => {}
    }
    let input = input::read_on_target(&source, &args.target.target())?;
    let text = match (args.stage, &input.program) {
        (Stage::Program, Some(program)) => program.program_text(),
        (Stage::Program, None) if input.network.is_some() => {
            input.network.as_ref().and_then(|network| network.program_text()).unwrap_or_default()
        }
        (Stage::Aliases, Some(program)) => program.aliases_text(),
        (Stage::Lifetimes, Some(program)) => program.lifetimes_text(),
        (Stage::Lifetimes, None) => lifetimes_text(&input.problem),
        // A list of lifetimes comes from no program, so these two stages do not exist for it. The program of a model
        // was handled above; it has no aliases.
        (Stage::Program | Stage::Aliases, None) => {
            let message = format!("there is no program in {}: it is a list of lifetimes", source.name);
            return Err(Failure::usage_with_help(message, "its stages are lifetimes, problem and plan"));
        }
        (Stage::Trace, _) => {
            let (text, notes) = records::trace::write(&input.problem);
            return Ok(Answer::yes(text).with_notes(input.notes.into_iter().chain(notes)));
        }
        (Stage::Profiles, _) => profiles_text(&input.problem),
        // What is left is `problem`.
        _ => records::json::write(&input.problem),
    };
    Ok(Answer::yes(text).with_notes(input.notes))
}

/// Whether a source describes tensor operations (the format `te`).
pub(super) fn is_tensors(source: &Source) -> bool {
    let text = String::from_utf8_lossy(&source.bytes);
    source.format.or_else(|| memplan::format::detect(&source.name, &text)).is_some_and(|format| format.name() == "te")
}

/// A stage of the life cycle of tensors.
fn dump_tensors(source: &Source, stage: &str, options: &tensor::te::LowerOptions) -> Result<Answer, Failure> {
    let text = utf8(&source.bytes).map_err(|error| input::unreadable(source, &error))?;
    tensor::te::dump_text(text, stage, options)
        .map(Answer::yes)
        .map_err(|error| input::unreadable(source, &lifecycle_error(text, &error)))
}

/// What is wrong with a description, with its place.
pub(super) fn lifecycle_error(text: &str, error: &tensor::te::LifeCycleError) -> ReadError {
    ReadError::new(error.code(), text, error.span(text), error.to_string())
}

/// A stage of the storage rewrite over TVMScript.
fn dump_loops(source: &Source, stage: &str) -> Result<Answer, Failure> {
    let text = utf8(&source.bytes).map_err(|error| input::unreadable(source, &error))?;
    tensor::pass::dump(text, stage).map(Answer::yes).map_err(|error| super::run::failure(source, text, &error))
}

/// Plans the file and prints where each buffer is; only the status if there is no plan.
fn dump_plan(args: &DumpArgs, source: &Source) -> Result<Answer, Failure> {
    let planned = planned(source, &args.strategy, &args.target)?;
    let answer = match planned.outcome.plan() {
        Some(plan) => Answer::yes(plan_text(&planned.problem, plan)),
        None => Answer { is_no: true, ..Answer::yes(format!("{}\n", planned.outcome.status())) },
    };
    Ok(answer.with_notes(planned.into_inner().notes))
}

/// One line for each buffer: its bytes and the steps in which it is alive.
fn lifetimes_text(problem: &Problem) -> String {
    let mut table = Table::with_heading(&["buffer", ">bytes", "alive in steps"]);
    for buffer in problem.buffers() {
        table.plain_row([buffer.name.to_string(), size_text(&buffer.size), life(&buffer.lifetime)]);
    }
    table.render(0)
}

/// One line for each step (a *task*) at which something begins or ends: the buffers alive there,
/// largest first, and the sum of their sizes (its *breadth*). Then, for each position in these
/// lists, the largest size at it (the *positional maxima*).
fn profiles_text(problem: &Problem) -> String {
    let mut table = Table::with_heading(&["from task", ">breadth", "buffers, largest first"]);
    for profile in bound::task_profiles(problem) {
        let named = profile.buffers.iter().map(|&id| {
            let buffer = &problem.buffers()[id];
            format!("{} {}", buffer.name, size_text(&buffer.size))
        });
        let buffers = named.collect::<Vec<_>>().join(", ");
        table.plain_row([profile.step.to_string(), profile.breadth(problem).to_string(), buffers]);
    }
    // The sum of the maxima is a lower bound on every plan made of shared objects.
    let maxima = bound::positional_maxima(problem, |_| true);
    let sum: u64 = maxima.iter().map(|maximum| maximum.0).sum();
    let maxima: Vec<String> = maxima.iter().map(ToString::to_string).collect();
    format!("{}positional maxima {}, together {sum}\n", table.render(0), maxima.join(" "))
}

/// One line for each buffer: where it is, and when.
fn plan_text(problem: &Problem, plan: &Plan) -> String {
    let mut table = Table::with_heading(&["buffer", "space", ">offset", ">end", ">bytes", "alive in steps"]);
    for (id, buffer) in problem.buffers().iter_enumerated() {
        let Some(placement) = plan.placements[id].as_ref() else { continue };
        let size = size_text(&buffer.size);
        let space = problem.spaces()[placement.space].name.clone();
        // A buffer in a shared object has no address of its own.
        if let Some(object) = placement.object {
            let object = format!("object {}", memplan::core::Id::index(object));
            table.plain_row([buffer.name.to_string(), space, object, String::new(), size, life(&buffer.lifetime)]);
            continue;
        }
        // A line for each slot.
        for offset in &placement.offsets {
            let end = buffer.bytes().map_or_else(|| "?".to_owned(), |bytes| (offset.0 + bytes.0).to_string());
            let cells = [buffer.name.to_string(), space.clone(), offset.to_string(), end, size.clone()];
            table.plain_row(cells.into_iter().chain([life(&buffer.lifetime)]));
        }
    }
    let extents = problem.spaces().iter_enumerated().map(|(id, space)| format!("{} {}", space.name, plan.extents[id]));
    format!("extent {} ({})\n{}", plan.extent(), extents.collect::<Vec<_>>().join(", "), table.render(0))
}

/// A size as these tables have it: bytes, the components of a texture, or a symbol with its upper bound.
fn size_text(size: &Size) -> String {
    match size {
        Size::Fixed(bytes) => bytes.to_string(),
        Size::Shape(components) => components.iter().map(u64::to_string).collect::<Vec<_>>().join("x"),
        Size::Symbolic { symbol, at_most: Some(most) } => format!("{symbol}<={most}"),
        Size::Symbolic { symbol, at_most: None } => symbol.to_string(),
    }
}
