//! Three views of a graph: the tensors that each operation reads, the operations that read each tensor, and the loops
//! that enclose a stage.
//!
//! ```text
//! P; a = f(P); b = g(a, P); c = h(a); d = k(c, b)
//!
//! ReadGraph   a: P   b: a, P   c: a   d: c, b
//! FeedGraph   P: a, b   a: b, c   b: d   c: d
//! order       P a c b d        depth first from d, inputs in the order of their first use
//! ```
//!
//! (An operation with one output gives its name to that tensor, so names of operations and of tensors are the same
//! here.)

use super::error::ScheduleError;
use super::graph::{Graph, IterId, OpId};
use super::schedule::{Attach, Schedule, StageId};
use crate::ir::BufId;
use std::collections::{BTreeMap, BTreeSet};

/// The tensors each operation reads, in order; only operations that the roots need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadGraph {
    reads: BTreeMap<OpId, Vec<BufId>>,
}

impl ReadGraph {
    /// Follows the inputs of the roots, and of everything that they need.
    pub fn new(graph: &Graph, roots: &[OpId]) -> ReadGraph {
        let mut reads = BTreeMap::new();
        let mut stack = roots.to_vec();
        while let Some(op) = stack.pop() {
            if reads.contains_key(&op) {
                continue;
            }
            let inputs = graph.ops[op].input_tensors();
            stack.extend(inputs.iter().filter_map(|tensor| graph.producer(*tensor)).map(|(producer, _)| producer));
            reads.insert(op, inputs);
        }
        ReadGraph { reads }
    }

    /// The tensors an operation reads.
    pub fn inputs(&self, op: OpId) -> &[BufId] {
        self.reads.get(&op).map_or(&[], Vec::as_slice)
    }

    /// One line for each operation: its inputs.
    pub fn dump(&self, graph: &Graph) -> String {
        let line = |(op, inputs): (&OpId, &Vec<BufId>)| {
            let names: Vec<&str> = inputs.iter().map(|tensor| graph.tables.buffers[*tensor].name.as_str()).collect();
            format!(
                "{} reads {}\n",
                graph.ops[*op].name,
                if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
            )
        };
        self.reads.iter().map(line).collect()
    }
}

/// The operations that read each tensor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeedGraph {
    feeds: BTreeMap<BufId, Vec<OpId>>,
}

impl FeedGraph {
    /// The inverse of a read graph.
    pub fn new(reads: &ReadGraph) -> FeedGraph {
        let mut feeds: BTreeMap<BufId, Vec<OpId>> = BTreeMap::new();
        for (op, inputs) in &reads.reads {
            for tensor in inputs {
                feeds.entry(*tensor).or_default().push(*op);
            }
        }
        FeedGraph { feeds }
    }

    /// The operations that read a tensor.
    pub fn consumers(&self, tensor: BufId) -> &[OpId] {
        self.feeds.get(&tensor).map_or(&[], Vec::as_slice)
    }

    /// A line for each tensor that names the operations which read it.
    pub fn dump(&self, graph: &Graph) -> String {
        let line = |(tensor, ops): (&BufId, &Vec<OpId>)| {
            let names: Vec<&str> = ops.iter().map(|op| graph.ops[*op].name.as_str()).collect();
            format!("{} feeds {}\n", graph.tables.buffers[*tensor].name, names.join(", "))
        };
        self.feeds.iter().map(line).collect()
    }
}

/// The operations that the roots need, each after its inputs, found depth first from each root in turn. A stack
/// stands in for recursion, because a chain of operations may be long.
pub fn post_dfs_order(graph: &Graph, roots: &[OpId], reads: &ReadGraph) -> Vec<OpId> {
    let (mut order, mut seen) = (Vec::new(), BTreeSet::new());
    for root in roots {
        // Each entry: an operation, and how many of its inputs were visited. A root that another root needs is in the
        // order already.
        let mut stack = if seen.insert(*root) { vec![(*root, 0)] } else { Vec::new() };
        while let Some((op, visited)) = stack.pop() {
            // When all inputs were visited, the operation takes its place after them.
            let Some(tensor) = reads.inputs(op).get(visited) else {
                order.push(op);
                continue;
            };
            stack.push((op, visited + 1));
            if let Some((producer, _)) = graph.producer(*tensor)
                && seen.insert(producer)
            {
                stack.push((producer, 0));
            }
        }
    }
    order
}

/// The loops of other stages around each stage of a schedule, innermost first. A stage is one operation with its
/// loops; it may be computed inside a loop of another stage (`compute_at`), and that stage inside a third one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttachPath {
    paths: BTreeMap<StageId, Vec<(StageId, IterId)>>,
}

impl AttachPath {
    /// Follows every `compute_at`. An error if stages are computed inside each other in a circle, or inside something
    /// that is no loop.
    pub fn new(schedule: &Schedule) -> Result<AttachPath, ScheduleError> {
        let mut paths = BTreeMap::new();
        for stage in &schedule.order {
            paths.insert(*stage, path_of(schedule, *stage)?);
        }
        Ok(AttachPath { paths })
    }

    /// The loops around a stage, each with the stage that it belongs to; empty if the stage is computed on its own.
    pub fn around(&self, stage: StageId) -> &[(StageId, IterId)] {
        self.paths.get(&stage).map_or(&[], Vec::as_slice)
    }

    /// One line for each stage that is computed inside others.
    pub fn dump(&self, schedule: &Schedule) -> String {
        let mut text = String::new();
        for stage in &schedule.order {
            let path = self.around(*stage);
            if !path.is_empty() {
                let names: Vec<String> = path
                    .iter()
                    .map(|(at, axis)| format!("{} of {}", schedule.axis_name(*axis), schedule.name(*at)))
                    .collect();
                text.push_str(&format!("{} inside {}\n", schedule.name(*stage), names.join(", ")));
            }
        }
        text
    }
}

/// The loops around a stage, from the innermost to the outermost, with the stage that each belongs to. If A is
/// computed at loop `v` of B (loops `u, v, w`) and B at loop `s` of C (loop `s`), the path of A is `v` of B, `u` of B,
/// `s` of C.
fn path_of(schedule: &Schedule, stage: StageId) -> Result<Vec<(StageId, IterId)>, ScheduleError> {
    let (mut path, mut visited, mut current) = (Vec::new(), vec![stage], stage);
    while let Attach::At(target, axis) = schedule.stages[current].attach {
        // Stages that are attached to each other in a circle have no outermost loop. The chain is part of the
        // message, because the mistake may be in any of its links.
        if visited.contains(&target) {
            visited.push(target);
            return Err(ScheduleError::AttachLoop {
                stage: schedule.name(stage).to_owned(),
                chain: visited.iter().map(|stage| schedule.name(*stage)).collect::<Vec<_>>().join(", "),
            });
        }
        visited.push(target);
        let leaves = &schedule.stages[target].leaf_axes;
        let Some(position) = leaves.iter().position(|leaf| *leaf == axis) else {
            return Err(ScheduleError::CannotAttach {
                stage: schedule.name(current).to_owned(),
                target: schedule.name(target).to_owned(),
                axis: schedule.axis_name(axis).to_owned(),
                reason: "that is no loop of it",
            });
        };
        // All loops of the target from the outermost down to the attachment point are around the stage. They are
        // listed from the inside outwards.
        path.extend(leaves[..=position].iter().rev().map(|leaf| (target, *leaf)));
        current = target;
    }
    Ok(path)
}
