//! Items of record files: what is left out of them when an input is reduced ([`super`]).

use std::collections::HashMap;

use memplan_core::{BufferId, Dependencies, IndexVec, Overlay, Problem, ProblemBuilder, ProblemError, ReuseCost};
use memplan_models::records as formats;

use super::{Interesting, lines, minimize};

/// Leaves out records of a CSV file, one a line; the header, which is the first line, stays.
pub(super) fn csv(text: &str, interesting: Interesting) -> String {
    let (header, rest) = text.split_at(text.find('\n').map_or(text.len(), |newline| newline + 1));
    let items: Vec<&str> = rest.split_inclusive('\n').collect();
    let assemble = |some: &[&str]| format!("{header}{}", some.concat());
    assemble(&minimize(items, &mut |some| interesting(&assemble(some))))
}

/// Leaves out buffers of a trace with all their events, then single lines. A line of a trace is `alloc a 64` or
/// `free a`: its second word names the buffer.
pub(super) fn trace(text: &str, interesting: Interesting) -> String {
    let all: Vec<&str> = text.split_inclusive('\n').collect();
    // A line without a second word belongs to the buffer with the empty name: comments and empty lines go together.
    let id_of = |line: &str| line.split_ascii_whitespace().nth(1).unwrap_or_default().to_owned();
    let mut ids: Vec<String> = all.iter().map(|line| id_of(line)).collect();
    ids.sort_unstable();
    ids.dedup();
    let assemble = |some: &[String]| {
        let kept = all.iter().filter(|line| some.binary_search(&id_of(line)).is_ok());
        kept.copied().collect::<String>()
    };
    let left = minimize(ids, &mut |some| interesting(&assemble(some)));
    lines(&assemble(&left), interesting)
}

/// Leaves out buffers of a problem with the relations they are in. A file that
/// is no problem is shortened by lines.
pub(super) fn json(text: &str, interesting: Interesting) -> String {
    let Ok(records) = formats::read(text.as_bytes(), formats::find("json"), "") else {
        return lines(text, interesting);
    };
    let problem = records.problem;
    let assemble = |some: &[BufferId]| subset(&problem, some).map(|problem| formats::json::write(&problem)).ok();
    let all: Vec<BufferId> = problem.buffers().ids().collect();
    // The file is written anew from the problem, which may already lose what is being looked for.
    if !assemble(&all).is_some_and(|text| interesting(&text)) {
        return lines(text, interesting);
    }
    let left = minimize(all, &mut |some| assemble(some).is_some_and(|text| interesting(&text)));
    assemble(&left).unwrap_or_else(|| text.to_owned())
}

/// The problem of some of the buffers, with the relations among them.
fn subset(problem: &Problem, keep: &[BufferId]) -> Result<Problem, ProblemError> {
    let mut builder = ProblemBuilder::new();
    // All spaces and groups stay, also those that no kept buffer uses. Their numbers appear in the buffers, and
    // renumbering them would be one more thing that could hide the failure.
    for space in problem.spaces() {
        builder.space(space.clone());
    }
    for group in problem.groups() {
        builder.group(group.as_str());
    }
    let mut new_ids = HashMap::new();
    for &id in keep {
        new_ids.insert(id, builder.buffer(problem.buffers()[id].clone()));
    }
    // A relation is kept only if both of its ends are. A relation with a missing end would be an error of its
    // own.
    for overlay in problem.overlays() {
        if let (Some(&buffer), Some(&over)) = (new_ids.get(&overlay.buffer), new_ids.get(&overlay.over)) {
            builder.overlay(Overlay { buffer, over, kind: overlay.kind });
        }
    }
    for (one, other) in problem.must_share() {
        if let (Some(&one), Some(&other)) = (new_ids.get(one), new_ids.get(other)) {
            builder.must_share(one, other);
        }
    }
    for (one, other) in problem.must_not_share() {
        if let (Some(&one), Some(&other)) = (new_ids.get(one), new_ids.get(other)) {
            builder.must_not_share(one, other);
        }
    }
    for cost in problem.reuse_costs() {
        if let (Some(&one), Some(&other)) = (new_ids.get(&cost.one), new_ids.get(&cost.other)) {
            builder.reuse_cost(ReuseCost { one, other, weight: cost.weight });
        }
    }
    if let Some(dependencies) = problem.dependencies() {
        let children = keep.iter().map(|&id| kept(&dependencies.children[id], &new_ids));
        builder.dependencies(Dependencies {
            children: children.collect::<IndexVec<_, _>>(),
            read_by_outputs: kept(&dependencies.read_by_outputs, &new_ids),
        });
    }
    builder.build()
}

/// The new numbers of those buffers that are kept.
fn kept(buffers: &[BufferId], new_ids: &HashMap<BufferId, BufferId>) -> Vec<BufferId> {
    buffers.iter().filter_map(|id| new_ids.get(id).copied()).collect()
}
