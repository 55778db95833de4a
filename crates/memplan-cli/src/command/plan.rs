//! `memplan plan`: give every buffer a place.

use std::path::{Path, PathBuf};

use memplan::core::{Bytes, Id, IndexVec, Outcome, Plan, PlanCost, Problem, SpaceId, Stop, Witness, bound};
use memplan::driver::{self, Checked};
use memplan::format::Input;
use memplan::front_end::{Plain, PlanForm, Planned};
use memplan::map::Map;
use memplan::models::plan as plan_file;
use memplan::planner::Assign;
use memplan::source::Source;
use memplan::trade_off::Point;
use memplan::warm::{self, Warm};
use memplan::wording::{Unit, count, duration, life, sized};

use super::{failure, how, map_of, short_name, trade_off};
use crate::answer::{Answer, Failure};
use crate::args::PlanArgs;
use crate::paint::{Style, painted, visible};
use crate::progress::Progress;
use crate::table::{Align, Table};
use crate::{input, model, output};

/// Of the buffers that do not fit together, at most this many are listed.
const LISTED: usize = 20;

/// Plans, prints the totals, and writes the files that are asked for.
pub(super) fn run(args: &PlanArgs) -> Result<Answer, Failure> {
    let files = Files::of(args)?;
    // Writing over the input would destroy what the user has. This is refused before any work is done.
    files.refuse_input(args.file.as_deref())?;
    let source = input::source_or_example(args.file.as_deref(), &args.format)?;
    let plain = Plain { target: args.target.target(), form: files.form() };
    // The limits hold for everything from here to the written files.
    let progress = Progress::start(args.strategy.budget.time_limit);
    let how = how(&args.strategy, &progress)?;
    let input = driver::read(&plain, &source, &how).map_err(|error| failure(&source, error))?;
    let mut more_notes = Vec::new();
    // With an old plan the buffers that have not changed keep their places, which is another question than the
    // smallest plan.
    let planned = match &args.warm {
        // `had_place` counts the buffers that are in the old plan, `kept` those that are still at
        // their old offset.
        Some(old) => {
            let warm = warm(&source, &plain, &input, args, &progress, old)?;
            more_notes.push(format!("{} of {} buffers stay where they were", warm.kept, warm.had_place));
            warm.planned
        }
        None => {
            let planned = driver::lay_out(&plain, &input, &how).map_err(|error| failure(&source, error))?;
            if args.strategy.verbose {
                more_notes.extend(progress.stages());
            }
            planned
        }
    };
    // What less memory would cost is planned after the plan itself, with what is left of the time.
    let points = match args.trade_off {
        true => trade_off::sweep(&source, &plain, &input, &how)?,
        false => Vec::new(),
    };
    let written = files.write(&source, &plain, &input, &planned, &points)?;
    if args.strategy.verbose && args.warm.is_none() {
        more_notes.push(progress.moments());
    }
    let text = match args.output.json {
        true => trade_off::in_json(planned.to_json(), &points, args.trade_off),
        false => report(&source, &planned, &written, &points),
    };
    let is_model = files.form() == PlanForm::Model;
    // A plan for a model may exist and still not fit the memory that the runtime has left for it.
    let is_no = planned.outcome.plan().is_none() || is_model && model::exceeds_capacity(&planned);
    let (notes, warnings) = (planned.notes.clone(), planned.repairs().to_vec());
    // Freeing a million buffers one by one takes tenths of a second, which somebody with a time limit would wait for.
    // The process is about to end, and the system takes its memory back at once.
    std::mem::forget((source, input, planned));
    Ok(Answer { text, notes, warnings, is_no, ..Answer::default() }.with_notes(more_notes))
}

/// Plans with as many offsets of an old plan as possible.
fn warm(
    source: &Source,
    plain: &Plain,
    input: &Input,
    args: &PlanArgs,
    progress: &Progress,
    old: &str,
) -> Result<Warm, Failure> {
    if Assign::from(args.strategy.assign) != Assign::Offsets {
        return Err(Failure::usage("--warm repairs offsets; it does not go with --assign objects"));
    }
    // The old plan is read for the new problem: buffers that are gone are ignored, new ones have no place yet.
    let old = input::plan(old, &input.problem, None)?;
    let how = args.strategy.budget.how(Some(progress));
    warm::plan(plain, input, &old, &how).map_err(|error| failure(source, error))
}

/// The files to write, their kinds already known to be possible.
struct Files<'a> {
    /// Where the plan goes, and in which form.
    plan: Option<(&'a Path, PlanForm)>,
    /// Where the picture goes, and of which kind it is.
    map: Option<(PathBuf, MapKind)>,
}

/// The picture of a plan beside its numbers.
#[derive(Clone, Copy)]
pub(super) enum MapKind {
    /// A page that explains itself.
    Html,
    /// A picture.
    Svg,
}

impl MapKind {
    /// By the name of the file.
    pub(super) fn of(path: &Path) -> Result<MapKind, Failure> {
        match output::extension(path).as_str() {
            "html" | "htm" => Ok(MapKind::Html),
            "svg" => Ok(MapKind::Svg),
            _ => Err(wrong_extension(path, "a map", "map.html or map.svg")),
        }
    }

    /// The content of the file.
    pub(super) fn draw(self, map: &Map) -> String {
        match self {
            MapKind::Html => map.html(),
            MapKind::Svg => map.svg(),
        }
    }
}

/// The form of a plan that the extension of its file names.
fn plan_form(path: &Path) -> Result<PlanForm, Failure> {
    match output::extension(path).as_str() {
        "json" if path.to_string_lossy().ends_with(".dsa.json") => Ok(PlanForm::Solution),
        "json" => Ok(PlanForm::Json),
        "csv" => Ok(PlanForm::Csv),
        "h" => Ok(PlanForm::Header(output::stem(path))),
        "tflite" => Ok(PlanForm::Model),
        _ => Err(wrong_extension(path, "a plan", "plan.json, plan.csv, plan.h or, for a model, planned.tflite")),
    }
}

impl<'a> Files<'a> {
    /// What the arguments ask for. Called before any work is done, so that a typo in a file's name does not cost a
    /// search. The built-in example is always drawn.
    fn of(args: &'a PlanArgs) -> Result<Files<'a>, Failure> {
        let plan_kind = |path: &'a PathBuf| plan_form(path).map(|form| (path.as_path(), form));
        let map_kind = |path: &PathBuf| MapKind::of(path).map(|kind| (path.clone(), kind));
        let example_map = args.file.is_none().then(|| (PathBuf::from("memplan-map.html"), MapKind::Html));
        Ok(Files {
            plan: args.output.output.as_ref().map(plan_kind).transpose()?,
            map: args.output.map.as_ref().map(map_kind).transpose()?.or(example_map),
        })
    }

    /// The form the plan is to be written in.
    fn form(&self) -> PlanForm {
        self.plan.as_ref().map_or_else(PlanForm::default, |(_, form)| form.clone())
    }

    /// Refuses to write a plan or a map over the input, which would be an accident. A model with its plan inside is
    /// still that model, so it may replace the input.
    fn refuse_input(&self, file: Option<&str>) -> Result<(), Failure> {
        let Some(file) = file else { return Ok(()) };
        // The files that must not be the input.
        let plan = self.plan.as_ref().filter(|(_, form)| *form != PlanForm::Model).map(|(path, _)| *path);
        let map = self.map.as_ref().map(|(path, _)| path.as_path());
        plan.into_iter().chain(map).try_for_each(|path| output::refuse_input(path, file))
    }

    /// Writes the files that were asked for, and returns a line for each. Without a plan nothing is written.
    fn write(
        &self,
        source: &Source,
        plain: &Plain,
        input: &Input,
        planned: &Checked<Planned>,
        points: &[Point],
    ) -> Result<Vec<String>, Failure> {
        let mut written = Vec::new();
        // An old file stays as it was.
        if planned.outcome.plan().is_none() {
            return Ok(written);
        }
        if let Some((path, form)) = &self.plan {
            let output = driver::emit(plain, input, planned).map_err(|error| failure(source, error))?;
            output::write_with(path, &|out| output.write(out))?;
            written.push(format!("plan written to {}", path.display()));
            if let (PlanForm::Model, Some(network), Some(plan)) = (form, &planned.network, planned.written_plan()) {
                written.push(model::foreseen(network, &planned.problem, plan));
            }
        }
        if let Some((path, kind)) = &self.map
            && let Some(mut map) = map_of(source, planned)
        {
            if !points.is_empty() {
                map = map.with_trade_off(points.to_vec());
            }
            output::write(path, kind.draw(&map))?;
            written.push(format!("map written to {}", path.display()));
        }
        Ok(written)
    }
}

/// The failure for an output file whose name does not say what it is.
pub(super) fn wrong_extension(path: &Path, what: &str, possible: &str) -> Failure {
    let message = format!("cannot tell how to write {what} to {}", path.display());
    Failure::usage_with_help(message, format!("use a name such as {possible}"))
}

/// The report for people.
fn report(source: &Source, planned: &Planned, written: &[String], points: &[Point]) -> String {
    let buffers = count(planned.problem.buffers().len(), "buffer");
    let name = painted(&visible(short_name(source)), Style::Strong);
    let mut text = format!("{name}: {buffers}, strategy {}\n\n", planned.strategy);
    text.push_str(&totals(planned));
    // With one memory of any size the table of spaces would repeat the totals above.
    if planned.problem.spaces().len() > 1 || planned.problem.spaces().iter().any(|space| space.capacity.is_some()) {
        text.push('\n');
        text.push_str(&spaces(planned));
    }
    // What follows the numbers is what the user can act on: the buffers that do not fit, or those that went to
    // another memory.
    match &planned.outcome {
        Outcome::Infeasible(witness) => text.push_str(&explain(&planned.problem, witness)),
        Outcome::Exhausted { stop } => text.push_str(&give_up(*stop)),
        Outcome::Optimal(plan) | Outcome::Feasible { plan, .. } => {
            if let Some(network) = &planned.network {
                text.push_str(&model::spills(network, &planned.problem, plan));
            }
        }
    }
    if let Some(network) = &planned.network {
        text.push_str(&model::peak_table(network, &planned.problem, false));
    }
    text.push_str(&trade_off::table(points));
    if !written.is_empty() {
        text.push('\n');
        text.extend(written.iter().map(|line| format!("{line}\n")));
    }
    text
}

/// A row of the totals. The exact bytes stand beside the rounded ones, because scripts and comparisons need them; other
/// units are exact as they are.
fn total(name: &str, unit: Unit, bytes: Bytes, remark: (String, Style)) -> [(String, Style); 4] {
    let exact = if unit == Unit::Bytes { format!("{bytes} B") } else { String::new() };
    [(name.to_owned(), Style::Plain), (unit.amount(bytes), Style::Strong), (exact, Style::Faint), remark]
}

/// A table of the numbers that matter: the naive sum, the lower bound and the plan; for a model also what its runtime
/// needs, and the cost of reuse if that has a price.
fn totals(planned: &Planned) -> String {
    let problem = &planned.problem;
    let (naive, unit) = (naive_sum(problem), Unit::of(problem));
    let mut table = Table::plain(&[Align::Left, Align::Right, Align::Right, Align::Left]);
    table.row(total("naive sum", unit, naive, ("every buffer its own memory".to_owned(), Style::Faint)));
    let lower_bound = lower_bound(planned);
    table.row(total("lower bound", unit, lower_bound, (bound_remark(planned), Style::Faint)));
    // For a model the runtime's own planner is the number that users know. Ours is shown beside it.
    if let (Some(network), Some(plan)) = (&planned.network, planned.outcome.plan())
        && let Some((bytes, remark)) = model::runtime_row(network, plan)
    {
        table.row(total("runtime", unit, bytes, (remark, Style::Faint)));
    }
    match planned.outcome.plan() {
        Some(plan) => {
            let remark = (plan_remark(planned, lower_bound, naive), Style::Good);
            table.row(total("plan", unit, plan.extent(), remark));
        }
        None => table.row([
            ("plan".to_owned(), Style::Plain),
            ("none".to_owned(), Style::Bad),
            (String::new(), Style::Plain),
            (planned.outcome.status().to_owned(), Style::Bad),
        ]),
    }
    // The user has to reserve more than the plan's extent: the runtime keeps tables of its own in the same arena.
    if let (Some(network), Some(plan)) = (&planned.network, planned.outcome.plan())
        && let Some((bytes, remark)) = model::arena_row(network, problem, plan)
    {
        table.row(total("arena", Unit::Bytes, bytes, (remark, Style::Faint)));
    }
    if let Some(plan) = planned.outcome.plan()
        && let Some(cost) = plan.cost
    {
        let remark = cost_remark(problem, plan, cost);
        table.row([
            ("reuse cost".to_owned(), Style::Plain),
            (cost.total.to_string(), Style::Strong),
            (String::new(), Style::Plain),
            (remark, Style::Faint),
        ]);
    }
    table.render(2)
}

/// Whether reuse could cost less, and how many pairs are paid for.
fn cost_remark(problem: &Problem, plan: &Plan, cost: PlanCost) -> String {
    let active = plan.active_pairs(problem).len();
    let pairs = format!("{active} of {} share bytes", count(problem.reuse_costs().len(), "priced pair"));
    match cost.total == cost.lower_bound {
        true => format!("the least possible, {pairs}"),
        false => format!("at least {}, {pairs}", cost.lower_bound),
    }
}

/// The lower bound that was proved. If shared objects were asked for and there is no plan, the
/// bound is computed here, because the outcome has none and the bound for offsets is another one.
fn lower_bound(planned: &Planned) -> Bytes {
    match (&planned.outcome, planned.assign) {
        (Outcome::Infeasible(_) | Outcome::Exhausted { .. }, Assign::Objects) => {
            bound::objects_lower_bound(&planned.problem)
        }
        (outcome, _) => plan_file::json::lower_bound(&planned.problem, outcome),
    }
}

/// The bytes that the buffers need without sharing: one after the other in their first spaces, each at its alignment.
fn naive_sum(problem: &Problem) -> Bytes {
    // For each space, the end of what lies in it so far.
    let mut ends = vec![Bytes::ZERO; problem.spaces().len()];
    for (id, buffer) in problem.buffers().iter_enumerated() {
        let space = buffer.spaces[0];
        let end = &mut ends[space.index()];
        for _ in 0..buffer.slots {
            // A problem is built only if these sums stay below 2^63.
            let start = end.align_up(problem.alignment_in(id, space)).unwrap_or(*end);
            *end = Bytes(start.0.saturating_add(buffer.size.volume().unwrap_or_default().0));
        }
    }
    Bytes(ends.iter().map(|end| end.0).sum())
}

/// Where the lower bound comes from, in words; empty if nothing simple can be said.
fn bound_remark(planned: &Planned) -> String {
    let problem = &planned.problem;
    match (planned.assign, problem.spaces().len()) {
        (Assign::Objects, _) => "sum of the positional maxima".to_owned(),
        (Assign::Offsets, 1) => {
            // `alive` is the plain sum of the bytes alive at once; `shown` is the bound in the table, which a search may
            // have raised; `peak` is the bound of the only space, which counts alignment and is never below `alive`.
            let alive = bound::peak_live(problem, |_| true);
            let shown = lower_bound(planned);
            if let Some(step) = alive.step.filter(|_| shown == alive.bytes) {
                return format!("most bytes alive at once, at step {step}");
            }
            let peak = bound::space_lower_bounds(problem)[SpaceId::from_index(0)];
            match (peak.step, alive.step) {
                (Some(step), _) if shown == peak.bytes && alive.bytes < peak.bytes => {
                    format!("most bytes alive at once, at step {step}, and what aligning them costs")
                }
                // The bound is above the bytes alive at once, because a search or a fixed buffer has raised it.
                (_, Some(step)) if shown > alive.bytes => {
                    // Where reuse has a price, the bound holds only for plans that cost no more. A plan that pays for
                    // more reuse may be smaller.
                    let which = if problem.reuse_costs().is_empty() { "no plan" } else { "no plan this cheap" };
                    format!("{which} needs less; {} are alive at once, at step {step}", alive.bytes.human())
                }
                // Nothing is ever alive, or the bound is below the live bytes, because overlays share some of them.
                _ => String::new(),
            }
        }
        (Assign::Offsets, _) => "most bytes alive at once, over all spaces".to_owned(),
    }
}

/// What is to be said about a plan beside its extent: whether it is proved to be the smallest, how far it is from the
/// bounds, and how long it took.
fn plan_remark(planned: &Planned, lower_bound: Bytes, naive: Bytes) -> String {
    let Some(plan) = planned.outcome.plan() else { return String::new() };
    // Facts from the most important one on; each is left out where it says nothing.
    let mut facts = vec![planned.outcome.status().to_owned()];
    if let Outcome::Feasible { stop, .. } = planned.outcome {
        facts.push(format!("{:.3} x the lower bound", plan.extent().0 as f64 / lower_bound.0.max(1) as f64));
        facts.extend(stopped(stop).map(str::to_owned));
    }
    if naive > Bytes::ZERO {
        facts.push(format!("{:.1} % of the naive sum", 100.0 * plan.extent().0 as f64 / naive.0 as f64));
    }
    if !plan.objects.is_empty() {
        facts.push(count(plan.objects.len(), "object"));
    }
    if !plan.reused.is_empty() {
        facts.push(format!("{} in place", plan.reused.len()));
    }
    facts.push(duration(planned.time));
    facts.join(", ")
}

/// What ended a search that could have gone on, in words; `None` if it came to its own end.
fn stopped(stop: Stop) -> Option<&'static str> {
    match stop {
        Stop::Finished => None,
        Stop::TimeLimit => Some("stopped at the time limit"),
        Stop::WorkLimit => Some("stopped at the limit on work"),
        Stop::Interrupted => Some("interrupted"),
    }
}

/// A table with a row for each space: extent, lower bound and capacity. The lower bound counts only buffers
/// that can be in no other space. If every buffer that may lie in a space could also lie elsewhere, the bound
/// would be 0, which says nothing, and the cell is a dash.
fn spaces(planned: &Planned) -> String {
    let mut table =
        Table::with_heading(&["space", ">extent", ">bytes", ">lower bound", ">bytes", ">capacity", ">bytes"]);
    let bounds = bound::space_lower_bounds(&planned.problem);
    // The spaces in which a buffer may lie that could also lie elsewhere.
    let mut has_choice: IndexVec<SpaceId, bool> = IndexVec::filled(false, planned.problem.spaces().len());
    for buffer in planned.problem.buffers().iter().filter(|buffer| buffer.spaces.len() > 1) {
        buffer.spaces.iter().for_each(|&space| has_choice[space] = true);
    }
    for (id, space) in planned.problem.spaces().iter_enumerated() {
        let extent = planned.outcome.plan().map(|plan| plan.extents[id]);
        let bound = Some(bounds[id].bytes).filter(|&bound| bound > Bytes::ZERO || !has_choice[id]);
        let columns = [extent, bound, space.capacity];
        // Each number takes two columns: in words such as `4 KiB`, and in bytes.
        let cells = columns.map(|bytes| match bytes {
            Some(bytes) => [(bytes.human(), Style::Plain), (bytes.to_string(), Style::Faint)],
            None => [("-".to_owned(), Style::Plain), ("-".to_owned(), Style::Faint)],
        });
        table.row([(space.name.clone(), Style::Plain)].into_iter().chain(cells.into_iter().flatten()));
    }
    table.render(2)
}

/// Why it cannot fit: the witness's buffers, when they are alive, and how many bytes too many they
/// need; with a table of the largest of them. A witness says which buffers cannot be together in a
/// space, how many bytes they need there (`needed`) and there are (`capacity`), and the step at
/// which all of them are alive, if there is one.
fn explain(problem: &Problem, witness: &Witness) -> String {
    let space = visible(&problem.spaces()[witness.space].name);
    let over = Bytes(witness.needed.0.saturating_sub(witness.capacity.0));
    let who = match (witness.buffers.len(), witness.step) {
        (1, _) => "this buffer alone needs".to_owned(),
        (n, Some(step)) => format!("these {n} buffers are all alive at step {step} and need"),
        (n, None) => format!("these {n} buffers together need"),
    };
    let verdict = painted("does not fit", Style::Bad);
    let space_is = format!("of space `{space}`, whose capacity is {}", sized(witness.capacity));
    let mut text = match (in_several_spaces(problem, witness), problem.spaces()[witness.space].capacity) {
        (Some(several), _) => format!("\n{verdict}: {several}\n\n"),
        // A search that proves that there is no place for the buffers knows only that more is needed than there is. It
        // says one byte more, which is no number to print.
        (None, Some(_)) if over == Bytes(1) => format!("\n{verdict}: {who} more than there is\n{space_is}\n\n"),
        (None, Some(_)) => {
            format!("\n{verdict}: {who} {}\n{space_is}: {} too many\n\n", sized(witness.needed), sized(over))
        }
        // Without a capacity nothing can be too large; the buffers are in each other's way at fixed offsets.
        (None, None) => format!("\n{verdict}: {}\n\n", in_each_others_way(problem, witness)),
    };
    let mut buffers = witness.buffers.clone();
    // The largest come first and the list is cut: these are the buffers whose change would help most.
    buffers.sort_by_key(|&id| std::cmp::Reverse(problem.buffers()[id].bytes()));
    let mut table = Table::with_heading(&["buffer", ">size", ">bytes", "alive in steps"]);
    for &id in buffers.iter().take(LISTED) {
        let buffer = &problem.buffers()[id];
        let size = buffer.bytes().unwrap_or_default();
        table.plain_row([buffer.name.to_string(), size.human(), size.to_string(), life(&buffer.lifetime)]);
    }
    text.push_str(&table.render(2));
    if buffers.len() > LISTED {
        text.push_str(&format!("  and {} smaller ones\n", buffers.len() - LISTED));
    }
    text
}

/// Why buffers have no places if some of them cannot be in the space of the witness; `None` if all can. Then it is
/// their combination that is impossible. No single space is too small, so there is no number of missing bytes to
/// report.
pub(super) fn in_several_spaces(problem: &Problem, witness: &Witness) -> Option<String> {
    let spaces = spaces_of(problem, witness);
    if spaces.as_slice() == [witness.space] {
        return None;
    }
    let name = |&space: &SpaceId| format!("`{}`", visible(&problem.spaces()[space].name));
    let names: Vec<String> = spaces.iter().map(name).collect();
    let count = count(witness.buffers.len(), "buffer");
    Some(format!("{count} of the spaces {} cannot be arranged in them", names.join(", ")))
}

/// The spaces that a witness is about: its own if all its buffers may be there, or else all that any of them may be in.
pub(super) fn spaces_of(problem: &Problem, witness: &Witness) -> Vec<SpaceId> {
    let spaces_of = |&id: &memplan::core::BufferId| &problem.buffers()[id].spaces;
    if witness.buffers.iter().all(|id| spaces_of(id).contains(&witness.space)) {
        return vec![witness.space];
    }
    let mut spaces: Vec<_> = witness.buffers.iter().flat_map(|id| spaces_of(id).iter().copied()).collect();
    spaces.sort_unstable();
    spaces.dedup();
    spaces
}

/// Why buffers of a space without capacity have no places: the fixed offsets of some contradict each other.
pub(super) fn in_each_others_way(problem: &Problem, witness: &Witness) -> String {
    let space = visible(&problem.spaces()[witness.space].name);
    let when = witness.step.map(|step| format!(", all alive at step {step},")).unwrap_or_default();
    format!(
        "these {} of space `{space}`{when}\ncannot lie where they must: their fixed offsets contradict each other",
        count(witness.buffers.len(), "buffer"),
    )
}

/// Why there is no plan, where that is no proof that none exists.
fn give_up(stop: Stop) -> String {
    let why = match stop {
        Stop::Finished => {
            "this strategy found no plan within the capacity, which does not rule one out;\ntry `-s auto`"
        }
        Stop::TimeLimit => "no plan was found within the time limit; none was ruled out",
        Stop::WorkLimit => "no plan was found within the limit on work; none was ruled out",
        Stop::Interrupted => "interrupted before a plan was found",
    };
    format!("\n{}: {why}\n", painted("not found", Style::Bad))
}
