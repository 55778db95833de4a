//! What the command line has to say about models: what is alive at the peak,
//! what the runtime alone would need, where each tensor went.
//!
//! *The runtime* is TensorFlow Lite Micro. Its arena has tensors and scratch memory at one end (the *head*) and what it
//! keeps for itself at the other (the *tail*). An op is *unmeasured* if nobody has measured how much scratch memory its
//! kernel asks for.

use std::collections::BTreeSet;

use memplan::core::{Bytes, Id, Plan, Problem};
use memplan::front_end::Planned;
use memplan::network::Network;
use memplan::wording::sized;

use crate::paint::{Style, painted};
use crate::table::Table;

/// How many rows the table of what is alive at the peak has, unless the user asks for the full table.
const LISTED: usize = 12;
/// If a curve has more steps than this, which are more than a user reads, it leaves out the steps with less than half
/// of the peak.
const CURVE: usize = 200;
/// Width of the longest bar, in characters.
const BAR: u64 = 40;

/// A sentence that says how large the runtime's arena will be with the plan inside the model, and
/// why. `problem` is what was planned, on its target, and `plan` the plan that is written.
pub(crate) fn foreseen(network: &Network, problem: &Problem, plan: &Plan) -> String {
    let Some(arena) = Arena::of(network, problem, plan) else {
        return "what the runtime adds for scratch memory was not foreseen: there are too many tensors".to_owned();
    };
    let needs = format!("with it the arena of TensorFlow Lite Micro needs {}{}", arena.at_least(), sized(arena.total));
    // With ops whose scratch memory is not known, the written model holds no offsets.
    if !network.unmeasured().is_empty() {
        return format!(
            "{needs}: {}\nbecause nobody has measured what {} asks for besides its tensors, and a plan around an \
             unknown amount could need more than no plan;\na table that says it (--scratch) has tensors placed, too",
            painted("the model leaves every tensor to the runtime", Style::Bad),
            list(network.unmeasured()),
        );
    }
    let verdict = if arena.is_too_large { painted(", more than the capacity", Style::Bad) } else { String::new() };
    format!(
        "{needs}{verdict}: {} for tensors and scratch memory, {} that it keeps for itself{}",
        sized(arena.head),
        sized(network.tail().bytes),
        arena.to_start(network),
    )
}

/// Whether the runtime, which places scratch memory itself, needs more than the capacity with the plan inside the
/// model.
pub(crate) fn exceeds_capacity(planned: &Planned) -> bool {
    let (Some(network), Some(plan)) = (&planned.network, planned.outcome.plan()) else { return false };
    Arena::of(network, &planned.problem, plan).is_some_and(|arena| arena.is_too_large)
}

/// The arena that the runtime needs with a plan inside the model.
struct Arena {
    /// All of it.
    total: Bytes,
    /// Tensors and scratch memory.
    head: Bytes,
    /// Whether the head is more than the problem's capacity, from which the runtime's own part has been taken off.
    is_too_large: bool,
    /// Whether nothing comes on top: what all kernels keep and ask for was measured.
    is_exact: bool,
}

impl Arena {
    /// The arena for a plan. `None` if the runtime's planner was not followed, because there are too many tensors.
    fn of(network: &Network, problem: &Problem, plan: &Plan) -> Option<Arena> {
        let known = network.runtime_is_known();
        let is_measured = network.unmeasured().is_empty();
        // The written model holds the runtime's own plan where that needs less (`better_plan`
        // returns that plan, or `None`). Where the scratch memory of some op is not known, the
        // model holds no plan, and only a lower bound is known.
        let head = known.then(|| match is_measured {
            true => network.runtime_extent(network.better_plan(problem, plan).as_ref().unwrap_or(plan)),
            false => network.runtime_at_least(),
        })?;
        // The capacity of the first memory, in which the runtime's arena is.
        let capacity = problem.spaces().iter().next().and_then(|space| space.capacity);
        Some(Arena {
            total: network.arena(head),
            head,
            is_too_large: capacity.is_some_and(|capacity| head > capacity),
            is_exact: is_measured && network.tail().unknown.is_empty(),
        })
    }

    /// Words for the case that the arena is larger than the head and what the runtime keeps together: for a small
    /// model, the runtime needs more memory while it starts than afterwards.
    fn to_start(&self, network: &Network) -> &'static str {
        let is_small = self.total.0 > self.head.0.saturating_add(network.tail().bytes.0);
        if is_small { ", the rest to start" } else { "" }
    }

    /// Words in front of a number that is only a lower bound.
    fn at_least(&self) -> &'static str {
        if self.is_exact { "" } else { "at least " }
    }
}

/// A row of a table: the size of the whole arena, and a remark about what the runtime keeps for itself. `None` if the
/// arena is not known or if there are several memories.
pub(crate) fn arena_row(network: &Network, problem: &Problem, plan: &Plan) -> Option<(Bytes, String)> {
    let arena = Arena::of(network, problem, plan).filter(|_| problem.spaces().len() == 1)?;
    // Ops whose scratch memory nobody has measured, and those of which it is not known what the
    // runtime keeps for them.
    let unknown = network.unmeasured().iter().chain(&network.tail().unknown).cloned().collect::<BTreeSet<_>>();
    let unknown: Vec<String> = unknown.into_iter().collect();
    let more = match unknown.as_slice() {
        [] => String::new(),
        names => format!(", and more for {}, which nobody has measured", list(names)),
    };
    let tensors = if network.unmeasured().is_empty() { "the plan" } else { "tensors" };
    let remark = format!(
        "{}{tensors} and {} that TensorFlow Lite Micro keeps for itself{}{more}",
        arena.at_least(),
        sized(network.tail().bytes),
        arena.to_start(network)
    );
    Some((arena.total, remark))
}

/// Up to five names, and how many more there are.
fn list(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(5).map(|name| format!("`{}`", crate::paint::visible(name))).collect();
    let more = names.len().saturating_sub(5);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// A row of a table: what the runtime's own planner needs, and a remark about what the plan saves against it. `None` if
/// that planner was not followed.
pub(crate) fn runtime_row(network: &Network, plan: &Plan) -> Option<(Bytes, String)> {
    if !network.runtime_is_known() {
        return None;
    }
    // The runtime's planner on its own, without a plan in the model.
    let theirs = network.runtime_alone();
    let ours = plan.extent();
    let saved = theirs.0.saturating_sub(ours.0);
    let planner = "TensorFlow Lite Micro's own planner";
    let remark = match saved {
        0 if ours > theirs && !network.assumptions().reuse_inputs => {
            format!("{planner}, which reuses inputs; so does --reuse-inputs")
        }
        // The runtime rounds sizes up to 16 bytes. A difference that is due to this rounding alone
        // is not called a saving.
        _ if ours.0.next_multiple_of(16) >= theirs.0 => planner.to_owned(),
        _ => format!("{planner}; the plan saves {:.1} %", 100.0 * saved as f64 / theirs.0.max(1) as f64),
    };
    Some((theirs, remark))
}

/// A note on what the runtime's own planner needs. `None` if that planner was not followed, or if our plan may reuse
/// inputs as the runtime's plan does: then the two numbers stand side by side in a table.
pub(crate) fn runtime_note(network: &Network) -> Option<String> {
    let is_left_out = network.runtime_is_known() && !network.assumptions().reuse_inputs;
    is_left_out.then(|| {
        let needed = sized(network.runtime_alone());
        format!(
            "TensorFlow Lite Micro's own planner needs {needed}: it reuses inputs; compare with it under --reuse-inputs"
        )
    })
}

/// A table of what is alive at the peak: all of it if `in_full`, else the largest; empty if nothing is ever alive.
pub(crate) fn peak_table(network: &Network, problem: &Problem, in_full: bool) -> String {
    let Some(report) = network.peak_report(problem) else { return String::new() };
    let mut table = Table::with_heading(&["op", "tensor", "shape", ">size", ">bytes", ">cumulative"]);
    let shown = if in_full { report.rows.len() } else { LISTED };
    for row in report.rows.iter().take(shown) {
        table.plain_row([
            row.op.clone(),
            row.tensor.clone(),
            row.shape.clone(),
            row.bytes.human(),
            row.bytes.to_string(),
            format!("{:.1} %", row.cumulative),
        ]);
    }
    // The heading names the step and the op at which most is alive.
    let heading = format!(
        "\nalive at the peak, step {} ({}): {}\n\n",
        report.step,
        crate::paint::visible(&report.op),
        sized(report.bytes)
    );
    let rest = report.rows.len().saturating_sub(shown);
    let rest = if rest > 0 { format!("  and {rest} smaller ones\n") } else { String::new() };
    format!("{heading}{}{rest}", table.render(2))
}

/// A table with a row for every op: its step, the live bytes while it runs, and a bar of that length. In a heading, `>`
/// asks for a column that is aligned to the right. The peak, or each of several equal peaks, is printed in bold.
pub(crate) fn curve(network: &Network, problem: &Problem) -> String {
    let curve = network.live_curve(problem);
    // The peak; at least 1, because the lengths of bars are divided by it and a model may need no memory at all.
    let most = curve.iter().map(|at| at.bytes.0).max().unwrap_or(0).max(1);
    let mut table = Table::with_heading(&[">step", "op", ">bytes alive", ""]);
    let mut left_out = 0;
    for (index, at) in curve.iter().enumerate() {
        // A curve of more than `CURVE` steps shows the steps with at least half of the peak, because these decide on
        // the memory of the model. The first step (the inputs) and the last step are always shown, so that the reader
        // sees the whole range of steps.
        if curve.len() > CURVE && at.bytes.0 < most / 2 && index > 0 && index + 1 < curve.len() {
            left_out += 1;
            continue;
        }
        // The peak has a bar of `BAR` characters. Bytes times `BAR` may exceed 64 bits.
        let bar = "█".repeat((at.bytes.0 as u128 * u128::from(BAR) / u128::from(most)) as usize);
        let style = if at.bytes.0 == most { Style::Strong } else { Style::Plain };
        table.row([
            (at.step.to_string(), Style::Faint),
            (at.op.clone(), Style::Plain),
            (at.bytes.to_string(), style),
            (bar, style),
        ]);
    }
    let rest = match left_out {
        0 => String::new(),
        count => format!("  {count} ops with less than half of the peak are left out\n"),
    };
    format!("\nbytes alive at each op\n\n{}{rest}", table.render(2))
}

/// A table that says which tensor is in which memory, if there are several; empty otherwise. Tensors that are not in
/// the first memory are counted as spilled.
pub(crate) fn spills(network: &Network, problem: &Problem, plan: &Plan) -> String {
    if problem.spaces().len() < 2 {
        return String::new();
    }
    let mut rows: Vec<_> = problem
        .buffers()
        .iter_enumerated()
        .filter_map(|(id, buffer)| Some((plan.placements[id].as_ref()?.space, buffer, id)))
        .collect();
    rows.sort_by_key(|(space, buffer, id)| (*space, std::cmp::Reverse(buffer.bytes()), *id));
    let mut table = Table::with_heading(&["tensor", ">bytes", ">accesses", ">steps", "memory", ">offset"]);
    let accesses = network.accesses();
    let mut spilled = 0;
    let (mut fast, mut all) = (0u128, 0u128);
    for (space, buffer, id) in rows {
        let is_first = space.index() == 0;
        spilled += u64::from(!is_first);
        // Traffic is what a buffer costs in slow memory: its bytes times how often they are read or written.
        let traffic = u128::from(accesses[id]) * u128::from(buffer.bytes().unwrap_or_default().0);
        all += traffic;
        fast += if is_first { traffic } else { 0 };
        let steps: u64 = buffer.lifetime.intervals().map(|interval| interval.end.0 - interval.start.0).sum();
        // The first memory is the fast one, so whatever lies elsewhere is marked.
        let style = if is_first { Style::Plain } else { Style::Bad };
        table.row([
            (buffer.name.to_string(), Style::Plain),
            (buffer.bytes().unwrap_or_default().to_string(), Style::Plain),
            (accesses[id].to_string(), Style::Plain),
            (steps.to_string(), Style::Plain),
            (problem.spaces()[space].name.clone(), style),
            (plan.offset(id).unwrap_or_default().to_string(), Style::Plain),
        ]);
    }
    // How much of the traffic the fast memory serves says what the spilling costs.
    let first = problem.spaces().iter().next().map(|space| space.name.clone()).unwrap_or_default();
    let heading = match spilled {
        0 => format!("\neverything is in `{}`\n\n", crate::paint::visible(&first)),
        count => format!(
            "\n{} not in `{}`\n\n",
            painted(&format!("{count} tensors"), Style::Strong),
            crate::paint::visible(&first)
        ),
    };
    let share = 100.0 * fast as f64 / all.max(1) as f64;
    let served = format!("\n  `{}` serves {share:.1} % of the bytes read and written\n", crate::paint::visible(&first));
    format!("{heading}{}{served}", table.render(2))
}
