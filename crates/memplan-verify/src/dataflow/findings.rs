//! Collects violations while the state is still growing, and finds paths for them.
//!
//! The fixpoint visits a node several times. What is lost in an early visit is
//! lost in the last one too, so a finding can be kept as soon as it is seen;
//! only repetitions have to be dropped.
//!
//! Words from other files: a [`Graph`] has nodes with straight runs of [`Step`]s, and edges with the [`Way`] that
//! control takes; a [`Waypoint`] is one stop of a path in a message. A *site* is a place in the program that allocates
//! memory.

use std::collections::{BTreeMap, HashMap, VecDeque};

use memplan_core::Id;
use memplan_program::{ByteRange, OpId, SiteId, ValueId};

use super::graph::{Graph, NodeId, Step, Way};
use super::ranges::Range;
use super::{Violation, Waypoint};

/// Nodes that the searches for the paths of one function may visit together. When they are used up, a path names only
/// its two ends.
const SEARCH_LIMIT: usize = 4_000_000;

/// Findings in the order of the ops they are about, each once.
#[derive(Debug, Default)]
pub(super) struct Findings {
    found: BTreeMap<Key, Violation>,
}

/// Op, kind of violation (a number that tells the four kinds apart), and what it is about. Violations with equal keys
/// count as repetitions, and the first one stays.
type Key = (OpId, u8, usize, usize);

/// A range as messages have it.
fn bytes(range: Range) -> ByteRange {
    ByteRange::new(range.0, range.1)
}

impl Findings {
    /// `op` reads the bytes `range` of a site through `value`, which `by` has overwritten.
    pub(super) fn lost(&mut self, op: OpId, value: ValueId, site: SiteId, range: Range, by: OpId) {
        let path = Vec::new();
        let key = (op, 0, value.index(), site.index());
        let new = Violation::Overwritten { op, value, site, bytes: bytes(range), by, path };
        self.found.entry(key).or_insert(new);
    }

    /// `op` writes `output` over the bytes `range` of the site of its `input`.
    pub(super) fn own_input(&mut self, op: OpId, output: ValueId, input: ValueId, site: SiteId, range: Range) {
        let key = (op, 1, output.index(), input.index());
        let new = Violation::OwnInput { op, output, input, site, bytes: bytes(range) };
        self.found.entry(key).or_insert(new);
    }

    /// `op` writes `first` over the bytes `range` of the site of its other output `second`.
    pub(super) fn outputs(&mut self, op: OpId, first: ValueId, second: ValueId, site: SiteId, range: Range) {
        let key = (op, 2, first.index(), second.index());
        let new = Violation::OutputsOverlap { op, first, second, site, bytes: bytes(range) };
        self.found.entry(key).or_insert(new);
    }

    /// `op` overwrites the bytes `range` of a site that somebody outside of the program may use at any time.
    pub(super) fn escaped(&mut self, op: OpId, site: SiteId, range: Range) {
        let new = Violation::EscapedOverwritten { op, site, bytes: bytes(range) };
        self.found.entry((op, 3, site.index(), 0)).or_insert(new);
    }

    /// All findings; those about overwritten bytes get a path from the op that overwrote to the op that reads.
    pub(super) fn finish(self, graph: &Graph) -> Vec<Violation> {
        let mut violations: Vec<Violation> = self.found.into_values().collect();
        if violations.is_empty() {
            return violations;
        }
        let places = nodes_of_ops(graph);
        let mut budget = SEARCH_LIMIT;
        for violation in &mut violations {
            if let Violation::Overwritten { op, by, path, .. } = violation {
                *path = find_path(graph, &places, *by, *op, &mut budget);
            }
        }
        violations
    }
}

/// Where in the graph each op is a step: nodes, with the index of the step. An op has several places if a loop around
/// it was copied. A loop also has the steps that are done for it: those that read its preloaded buffers at its end
/// and those that turn buffers to another slot.
fn nodes_of_ops(graph: &Graph) -> HashMap<OpId, Vec<(NodeId, usize)>> {
    let mut places: HashMap<OpId, Vec<(NodeId, usize)>> = HashMap::new();
    for &node in &graph.order {
        for (index, step) in graph.nodes[node].steps.iter().enumerate() {
            if let Step::Op(op) | Step::Preloaded(op) | Step::Rotate(op, _) = step {
                places.entry(*op).or_default().push((node, index));
            }
        }
    }
    places
}

/// A shortest way from one op to another, by breadth-first search. It names only the two ops if they stand in one
/// straight run, if there is no way, or if the `budget` of nodes to visit is spent.
fn find_path(
    graph: &Graph,
    places: &HashMap<OpId, Vec<(NodeId, usize)>>,
    from: OpId,
    to: OpId,
    budget: &mut usize,
) -> Vec<Waypoint> {
    let ends_only = vec![Waypoint::Op(from), Waypoint::Op(to)];
    let (Some(starts), Some(goals)) = (places.get(&from), places.get(&to)) else { return ends_only };
    // Within one straight run the way is obvious: the two ops are enough.
    if starts.iter().any(|s| goals.iter().any(|g| s.0 == g.0 && s.1 < g.1)) {
        return ends_only;
    }
    // For each node that was found, the node from which it was found and which of that node's edges led to it.
    let mut came_from: HashMap<NodeId, (NodeId, usize)> = HashMap::new();
    let mut queue: VecDeque<NodeId> = starts.iter().map(|&(node, _)| node).collect();
    while let Some(node) = queue.pop_front() {
        for (index, edge) in graph.nodes[node].edges.iter().enumerate() {
            if came_from.contains_key(&edge.target) {
                continue;
            }
            came_from.insert(edge.target, (node, index));
            if goals.iter().any(|&(goal, _)| goal == edge.target) {
                return walk_back(graph, &came_from, starts, edge.target, (from, to));
            }
            queue.push_back(edge.target);
        }
        // The budget is shared by all findings of a function. Once it is spent a finding names only its two ends,
        // which is less helpful and still right.
        if *budget == 0 {
            break;
        }
        *budget -= 1;
    }
    ends_only
}

/// The path from the op that wrote (`from`) to the op that read (`to`) as a reader wants to see it: which loops and
/// branches are entered, repeated, left or skipped on the way. `came_from` says how the search came to each node, from
/// one of `starts` to `goal`.
fn walk_back(
    graph: &Graph,
    came_from: &HashMap<NodeId, (NodeId, usize)>,
    starts: &[(NodeId, usize)],
    goal: NodeId,
    (from, to): (OpId, OpId),
) -> Vec<Waypoint> {
    let mut path = vec![Waypoint::Op(to)];
    let mut node = goal;
    // The way is built from its end to its start. Edges within straight code carry no information for a reader
    // and are left out.
    while let Some(&(previous, index)) = came_from.get(&node) {
        path.extend(match graph.nodes[previous].edges[index].way {
            Way::Enter(op) => Some(Waypoint::Enter(op)),
            Way::Again(op) => Some(Waypoint::Again(op)),
            Way::Leave(op) => Some(Waypoint::Leave(op)),
            Way::Skip(op) => Some(Waypoint::Skip(op)),
            Way::On => None,
        });
        node = previous;
        // A start node may have an entry in `came_from`, too, if the search came back to it round a loop. The walk ends
        // at the first start node that it meets.
        if starts.iter().any(|&(start, _)| start == node) {
            break;
        }
    }
    path.push(Waypoint::Op(from));
    path.reverse();
    path
}
