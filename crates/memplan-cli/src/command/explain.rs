//! `memplan explain`: what stands in the way of fitting, or of a smaller plan.

use memplan::core::{BufferId, Bytes, IndexVec, Outcome, Plan, Problem, SpaceId, Witness};
use memplan::driver;
use memplan::explain::{Explanation, explain};
use memplan::planner::Refusal;
use memplan::wording::{count, life, sized};
use serde_json::json;

use super::plan::{in_each_others_way, in_several_spaces, spaces_of};
use super::{failure, fit, short_name};
use crate::answer::{Answer, Failure};
use crate::args::ExplainArgs;
use crate::paint::{Style, painted, visible};
use crate::progress::Progress;
use crate::table::Table;
use crate::{input, model};

/// Plans, and says what keeps the plan from being smaller or from fitting at all.
pub(super) fn run(args: &ExplainArgs) -> Result<Answer, Failure> {
    let source = input::source_or_example(args.file.as_deref(), &args.format)?;
    let progress = Progress::start(args.budget.time_limit);
    let input = input::read_on_target(&source, &args.target.target())?;
    let how = args.budget.how(Some(&progress));
    // A feature that no strategy can honour is no bug: the user is told which one it is.
    let explanation = explain(&input, &how).map_err(|error| match error {
        driver::Failure::Refused(Refusal::Feature { feature, .. } | Refusal::Nobody { feature, .. }) => {
            Failure::usage(format!("cannot explain {}", feature.describe()))
        }
        error => failure(&source, error),
    })?;
    drop(progress);
    let text = if args.json {
        format!("{}\n", as_json(&input.problem, &explanation))
    } else {
        let name = painted(&visible(short_name(&source)), Style::Strong);
        let buffers = count(input.problem.buffers().len(), "buffer");
        let mut text = format!("{name}: {buffers}\n\n{}", report(&input.problem, &explanation));
        // For a model, also what is alive at the peak and how much is alive at each op.
        if let Some(network) = &input.network {
            text.push_str(&model::peak_table(network, &input.problem, true));
            text.push_str(&model::curve(network, &input.problem));
        }
        // A model that does not fit may be changed until it does (`memplan fit`).
        let capacity = args.target.target().capacity.filter(|_| explanation.planned.outcome.plan().is_none());
        text.push_str(&capacity.and_then(|capacity| fit::advice(&source, capacity)).unwrap_or_default());
        text
    };
    // The exit code is that of `plan`: 1 if there is no plan.
    Ok(Answer { text, notes: input.notes, is_no: explanation.planned.outcome.plan().is_none(), ..Answer::default() })
}

/// The explanation in words.
fn report(problem: &Problem, explanation: &Explanation) -> String {
    // Without a capacity a plan can only fail because fixed buffers are in each other's way. Then a comparison of
    // bytes would explain nothing.
    let mut text = match (&explanation.planned.outcome, &explanation.obstacle) {
        (Outcome::Infeasible(_), Some(witness)) if problem.spaces()[witness.space].capacity.is_none() => {
            let verdict = painted("does not fit", Style::Bad);
            let why = in_each_others_way(problem, witness);
            format!("{verdict}: {why}\n\n{}", buffers(problem, &witness.buffers))
        }
        (Outcome::Infeasible(_), Some(witness)) => {
            format!("{}: {}", painted("does not fit", Style::Bad), obstacle(problem, witness))
        }
        (Outcome::Optimal(plan) | Outcome::Feasible { plan, .. }, Some(witness)) => format!(
            "the smallest extent is {}; what keeps it from being smaller:\n{}",
            sized(plan.extent()),
            obstacle(problem, witness)
        ),
        (Outcome::Optimal(plan), None) => format!("fits: {}\n", sized(plan.extent())),
        (Outcome::Feasible { plan, lower_bound, .. }, None) => {
            format!("the best plan needs {}; at least {} are needed\n", sized(plan.extent()), sized(*lower_bound))
        }
        // No plan and no witness: the search gave up. This must not read like a proof.
        (Outcome::Infeasible(_) | Outcome::Exhausted { .. }, _) => {
            "no plan was found within the limits, and none was ruled out\n".to_owned()
        }
    };
    if let Some(plan) = explanation.planned.outcome.plan() {
        text.push_str(&costs(problem, plan, explanation.free_extents.as_ref()));
    }
    if explanation.obstacle.is_some() {
        text.push_str(&single(problem, &explanation.single));
    }
    text
}

/// What reuse costs, which pairs are paid for, and how many bytes more would avoid it; empty if
/// reuse has no price in the problem. `free_extents` are the bytes of each space that a plan needs
/// which pays only for what cannot be avoided; `None` if no such plan is known.
fn costs(problem: &Problem, plan: &Plan, free_extents: Option<&IndexVec<SpaceId, Bytes>>) -> String {
    let Some(cost) = plan.cost else { return String::new() };
    // Whether the price can be avoided at all.
    let least = if cost.total == cost.lower_bound {
        "no plan costs less".to_owned()
    } else {
        format!("every plan costs at least {}", cost.lower_bound)
    };
    let mut text = format!("reuse costs {}; {least}\n", cost.total);
    // The pairs that are paid for, and then how much more capacity would make the plan pay for none of them. Two buffers
    // of one block lie on each other in every plan, so for them every plan pays.
    let mut table = Table::with_heading(&["buffer", "shares with", ">cost"]);
    for pair in plan.active_pairs(problem) {
        let [one, other] = [pair.one, pair.other].map(|id| visible(&problem.buffers()[id].name).to_string());
        table.plain_row([one, other, pair.weight.to_string()]);
    }
    if cost.total > 0 {
        text.push_str(&format!("\n{}", table.render(2)));
    }
    let more = free_extents.map_or_else(Vec::new, |extents| room_to_be_free(problem, extents));
    if !more.is_empty() {
        // The block of a buffer: buffers whose relative positions are fixed. `None` for a buffer by
        // itself.
        let block = |buffer| problem.blocks().place_of(buffer).map(|(block, _)| block);
        let is_fixed = plan
            .active_pairs(problem)
            .iter()
            .any(|pair| pair.weight > 0 && block(pair.one).is_some() && block(pair.one) == block(pair.other));
        let what = if is_fixed { "only what every plan pays" } else { "nothing" };
        text.push_str(&format!("\n{what} would have to be paid with {}\n", more.join(" and ")));
    }
    text
}

/// The spaces whose capacity is too small for a plan of these extents, and how many bytes they lack, in words; empty if
/// all capacities suffice.
fn room_to_be_free(problem: &Problem, extents: &IndexVec<SpaceId, Bytes>) -> Vec<String> {
    let spaces = problem.spaces().iter_enumerated().filter_map(|(id, space)| {
        let more = extents[id].0.checked_sub(space.capacity?.0).filter(|&more| more > 0)?;
        Some(format!("{} in `{}`, {} more", sized(extents[id]), visible(&space.name), Bytes(more).human()))
    });
    spaces.collect()
}

/// The witness (buffers that cannot fit together) in words: in which space they are, when they are alive, and by how
/// many bytes they exceed it; with a table of them.
fn obstacle(problem: &Problem, witness: &Witness) -> String {
    // If no single space is too small, there is no number of missing bytes to print.
    if let Some(several) = in_several_spaces(problem, witness) {
        return format!("{several}\n\n{}", buffers(problem, &witness.buffers));
    }
    let space = visible(&problem.spaces()[witness.space].name);
    let over = Bytes(witness.needed.0.saturating_sub(witness.capacity.0));
    let when = match witness.step {
        Some(step) => format!("all alive at step {step}"),
        None => "at no single step, but they cannot be arranged".to_owned(),
    };
    let mut text = format!(
        "{} of space `{space}`, {when},\nneed {}, {} more than {}\n\n",
        count(witness.buffers.len(), "buffer"),
        sized(witness.needed),
        sized(over),
        sized(witness.capacity),
    );
    text.push_str(&buffers(problem, &witness.buffers));
    text
}

/// A table of buffers, the largest first.
fn buffers(problem: &Problem, ids: &[BufferId]) -> String {
    let size = |id: BufferId| problem.buffers()[id].bytes().unwrap_or_default();
    let mut ids = ids.to_vec();
    ids.sort_by_key(|&id| std::cmp::Reverse(size(id)));
    let mut table = Table::with_heading(&["buffer", ">size", ">bytes", "alive in steps"]);
    for id in ids {
        let buffer = &problem.buffers()[id];
        table.plain_row([buffer.name.to_string(), size(id).human(), size(id).to_string(), life(&buffer.lifetime)]);
    }
    table.render(2)
}

/// Which single buffers would make room for all others if they were gone.
fn single(problem: &Problem, ids: &[BufferId]) -> String {
    if ids.is_empty() {
        return "\nno single buffer of these would free enough\n".to_owned();
    }
    let names: Vec<String> = ids.iter().map(|&id| visible(&problem.buffers()[id].name).to_string()).collect();
    format!("\nwithout any one of these, everything else fits: {}\n", names.join(", "))
}

/// The names of buffers.
fn names<'p>(problem: &'p Problem, buffers: &[BufferId]) -> Vec<&'p str> {
    buffers.iter().map(|&buffer| problem.buffers()[buffer].name.as_str()).collect()
}

/// The extent of every space, by its name.
fn by_name(problem: &Problem, extents: &IndexVec<SpaceId, Bytes>) -> serde_json::Value {
    let named = extents.iter_enumerated().map(|(space, bytes)| (problem.spaces()[space].name.clone(), json!(bytes.0)));
    serde_json::Value::Object(named.collect())
}

/// The explanation as JSON.
///
/// The `capacity` of an obstacle is what its `needed` bytes do not fit into. If there is no plan, it is the capacity of
/// the space; if the space has none, fixed offsets contradict each other, and it is the bytes between the lowest and
/// the highest that these buffers occupy. If there is a plan, no space has a capacity, and it is a byte less than the
/// plan needs of the space. `space` is one of the `spaces` that the buffers may be in. If there are several, none of
/// them is too small alone, and `needed` and `capacity` speak of the one with the least bytes to spare.
///
/// `free_extents` says how many bytes of each space a plan needs that pays for no reuse, except inside of blocks.
fn as_json(problem: &Problem, explanation: &Explanation) -> serde_json::Value {
    let obstacle = explanation.obstacle.as_ref().map(|witness| {
        json!({
            "space": problem.spaces()[witness.space].name,
            "spaces": spaces_of(problem, witness).iter().map(|&id| problem.spaces()[id].name.as_str()).collect::<Vec<_>>(),
            "step": witness.step.map(|step| step.0),
            "needed": witness.needed.0,
            "capacity": witness.capacity.0,
            "buffers": names(problem, &witness.buffers),
            "single": names(problem, &explanation.single),
        })
    });
    let mut value = json!({
        "status": explanation.planned.outcome.status(),
        "extent": explanation.planned.outcome.plan().map(|plan| plan.extent().0),
        "obstacle": obstacle,
    });
    // Costs are only there where the problem has prices.
    if let Some(cost) = explanation.planned.outcome.plan().and_then(|plan| plan.cost) {
        value["cost"] = json!(cost.total);
        value["free_extents"] = json!(explanation.free_extents.as_ref().map(|extents| by_name(problem, extents)));
    }
    value
}
