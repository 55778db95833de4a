//! Which shape a node's outputs have, if the file does not say.
//!
//! Nodes are visited in order, bodies where they run, and each kind of node has
//! a rule from the shapes of its inputs and its attributes to the shapes of its
//! outputs (`rules`). Some outputs depend on the *content* of an input, such as the new
//! shape of a `Reshape`; where that is a short list of integers it is followed
//! too (`evaluate`). What has no rule stays unknown and is reported by the reader.

use memplan_core::{Id, IndexVec};

use super::context::{BOOL, Context, Found, INT64};
use super::draft::{Draft, Facts, Node, RANK};
use super::evaluate::evaluate;
use super::shape::axis;
use crate::graph::{GraphId, TensorId};

/// Completes shapes and element types in all graphs.
pub(super) fn infer(drafts: &mut IndexVec<GraphId, Draft>) {
    if drafts.is_empty() {
        return;
    }
    forward(drafts);
    if backward(drafts) {
        forward(drafts);
    }
}

/// Nodes whose first input has the shape of their output. What the file says about
/// the output then holds for the input.
const SAME_SHAPE: [&str; 14] =
    ["Abs", "Cast", "CastLike", "Ceil", "Erf", "Exp", "Floor", "Identity", "Log", "Neg", "Not", "Relu", "Sqrt", "Tanh"];

/// Takes shapes from outputs to inputs, where they are the same; whether that told anything new.
fn backward(drafts: &mut IndexVec<GraphId, Draft>) -> bool {
    let mut is_new = false;
    for draft in drafts.iter_mut() {
        for node in draft.nodes.iter().rev().filter(|node| SAME_SHAPE.contains(&node.kind.as_str())) {
            let (Some(&Some(input)), Some(&Some(output))) = (node.inputs.first(), node.outputs.first()) else {
                continue;
            };
            let shape = draft.tensors[output].shape.clone();
            let facts = &mut draft.tensors[input];
            if facts.shape.is_none() && shape.is_some() && facts.outer.is_none() && !facts.is_odd {
                facts.shape = shape;
                is_new = true;
            }
        }
    }
    is_new
}

/// Visits all nodes in the order in which they run, bodies included. A stack stands in for recursion, because bodies
/// may nest as deep as the file likes.
fn forward(drafts: &mut IndexVec<GraphId, Draft>) {
    // A graph, its next node, and how many bodies of that node have been visited.
    let mut frames = vec![(GraphId::from_index(0), 0, 0)];
    while let Some(frame) = frames.last_mut() {
        let (graph, place, visited) = *frame;
        let Some(node) = drafts[graph].nodes.get(place) else {
            frames.pop();
            continue;
        };
        match node.bodies.get(visited).copied() {
            Some(body) => {
                frame.2 += 1;
                enter(drafts, graph, place, body);
                frames.push((body, 0, 0));
            }
            None => {
                (frame.1, frame.2) = (place + 1, 0);
                visit(drafts, graph, place);
            }
        }
    }
}

/// What a body knows from outside: tensors it reads there, and the inputs of a loop.
fn enter(drafts: &mut IndexVec<GraphId, Draft>, graph: GraphId, place: usize, body: GraphId) {
    let ids: Vec<TensorId> = drafts[body].tensors.ids().collect();
    for id in ids {
        if let Some((outer, original)) = drafts[body].tensors[id].outer {
            let facts = drafts[outer].tensors[original].clone();
            let inner = &mut drafts[body].tensors[id];
            (inner.element, inner.shape, inner.numbers) = (facts.element, facts.shape, facts.numbers);
            (inner.is_constant, inner.is_odd) = (facts.is_constant, facts.is_odd);
            inner.is_bound = facts.is_bound;
        }
    }
    let node = &drafts[graph].nodes[place];
    let outside: Vec<Found> = node.inputs.iter().map(|&input| found(&drafts[graph], input)).collect();
    let given = match node.kind.as_str() {
        "Loop" => {
            // The number of the round, the condition, then what goes from round to round.
            let round = Found { element: INT64, shape: Some(Vec::new()) };
            let condition = Found { element: BOOL, shape: Some(Vec::new()) };
            [round, condition].into_iter().chain(outside.into_iter().skip(2)).collect()
        }
        "Scan" => scanned(node, outside),
        "FlexAttention" => scores(&outside).into_iter().collect(),
        _ => return,
    };
    let inputs = drafts[body].inputs.clone();
    for (input, found) in inputs.into_iter().zip(given) {
        complete(&mut drafts[body].tensors[input], found);
    }
}

/// What is known about an input.
fn found(draft: &Draft, input: Option<TensorId>) -> Found {
    input.map_or_else(Found::default, |input| {
        let facts = &draft.tensors[input];
        Found { element: facts.element, shape: facts.shape.clone() }
    })
}

/// What the body of a `Scan` is given: states, then one slice of each sequence.
fn scanned(node: &Node, outside: Vec<Found>) -> Vec<Found> {
    let states = scan_states(node, outside.len());
    let axes = node.attribute("scan_input_axes").map(|attribute| attribute.ints.as_slice()).unwrap_or_default();
    let (mut given, mut sequences) = (outside, Vec::new());
    sequences.extend(given.drain(states.min(given.len())..));
    for (number, sequence) in sequences.into_iter().enumerate() {
        given.push(slice(sequence, axes.get(number).copied().unwrap_or(0)));
    }
    given
}

/// One slice of a sequence: its shape without the axis that is scanned.
fn slice(sequence: Found, scanned: i64) -> Found {
    let shape = sequence.shape.and_then(|mut shape| {
        shape.remove(axis(scanned, shape.len())?);
        Some(shape)
    });
    Found { shape, ..sequence }
}

/// How many inputs of a `Scan` are states.
fn scan_states(node: &Node, inputs: usize) -> usize {
    let sequences = node.attribute("num_scan_inputs").and_then(|attribute| usize::try_from(attribute.int).ok());
    inputs.saturating_sub(sequences.unwrap_or(0))
}

/// The scores of attention: one for each query and each key, in each head.
fn scores(outside: &[Found]) -> Option<Found> {
    let [query, key, ..] = outside else { return None };
    let (&[batch, heads, queries, _], &[_, _, keys, _]) = (query.shape.as_deref()?, key.shape.as_deref()?) else {
        return None;
    };
    Some(Found { element: query.element, shape: Some(vec![batch, heads, queries, keys]) })
}

/// Completes what is known about the outputs of one node: shapes, element types, and the numbers of short lists. A
/// shape may be an upper bound only (`is_bound`), if the real one depends on content.
fn visit(drafts: &mut IndexVec<GraphId, Draft>, graph: GraphId, place: usize) {
    let draft = &drafts[graph];
    let node = &draft.nodes[place];
    let facts: Vec<Option<&Facts>> = node.inputs.iter().map(|input| input.map(|input| &draft.tensors[input])).collect();
    let context = Context { node, facts };
    let found = match node.bodies.is_empty() || node.kind == "FlexAttention" {
        true => context.outputs(),
        false => of_bodies(drafts, graph, node),
    };
    // If a shape is only an upper bound, nothing may be computed from it.
    let is_bound = context.is_bounded() || context.facts.iter().flatten().any(|facts| facts.is_bound);
    let numbers = if is_bound { None } else { evaluate(&context) };
    let outputs: Vec<Option<TensorId>> = node.outputs.clone();
    for (index, output) in outputs.into_iter().enumerate() {
        let Some(output) = output else { continue };
        let facts = &mut drafts[graph].tensors[output];
        if let Some(found) = found.as_ref().and_then(|found| found.get(index)) {
            facts.is_bound |= is_bound && facts.shape.is_none() && found.shape.is_some();
            complete(facts, found.clone());
        }
        if index == 0 && facts.numbers.is_none() {
            facts.numbers.clone_from(&numbers);
        }
    }
}

fn complete(facts: &mut Facts, found: Found) {
    if facts.shape.is_none() {
        facts.shape = found.shape.filter(|shape| shape.len() <= RANK);
    }
    if facts.element == 0 {
        facts.element = found.element;
    }
}

/// The outputs of a node are those of its bodies.
fn of_bodies(drafts: &IndexVec<GraphId, Draft>, graph: GraphId, node: &Node) -> Option<Vec<Found>> {
    match node.kind.as_str() {
        "If" => of_branches(node.bodies.iter().map(|&body| outputs_of(&drafts[body]))),
        "Loop" => {
            // Behind the carried values come lists of results, one of each round: as many as rounds.
            let carried = node.inputs.len().saturating_sub(2);
            let mut outputs = outputs_of(&drafts[*node.bodies.first()?]);
            outputs.drain(..outputs.len().min(1));
            outputs.iter_mut().skip(carried).for_each(|found| found.shape = None);
            Some(outputs)
        }
        "Scan" => {
            // Behind the states come lists of results, one of each slice.
            let states = scan_states(node, node.inputs.len());
            let mut outputs = outputs_of(&drafts[*node.bodies.first()?]);
            let sequence = found(&drafts[graph], *node.inputs.get(states)?).shape;
            let place = ints(node, "scan_input_axes").first().copied().unwrap_or(0);
            let length = sequence.and_then(|shape| Some(shape[axis(place, shape.len())?]));
            let places = ints(node, "scan_output_axes");
            for (index, output) in outputs.iter_mut().skip(states).enumerate() {
                output.shape = output.shape.take().and_then(|mut shape| {
                    shape.insert(axis(places.get(index).copied().unwrap_or(0), shape.len() + 1)?, length?);
                    Some(shape)
                });
            }
            Some(outputs)
        }
        _ => None,
    }
}

/// Element types and shapes of the outputs of a body.
fn outputs_of(body: &Draft) -> Vec<Found> {
    body.outputs.iter().map(|&output| found(body, Some(output))).collect()
}

/// The outputs of a node that runs one of several branches. Where branches disagree, the larger one needs the memory.
fn of_branches(mut branches: impl Iterator<Item = Vec<Found>>) -> Option<Vec<Found>> {
    let mut first = branches.next()?;
    for other in branches {
        for (one, other) in first.iter_mut().zip(other) {
            match (one.elements(), other.elements()) {
                (Some(one_size), Some(other_size)) if other_size > one_size => *one = other,
                (_, None) => one.shape = None,
                _ => {}
            }
        }
    }
    Some(first)
}

/// The whole numbers of an attribute; none if the node does not have it.
fn ints<'a>(node: &'a Node, name: &str) -> &'a [i64] {
    node.attribute(name).map_or(&[], |attribute| attribute.ints.as_slice())
}

/// Which nodes compute constants from constants; their outputs become constants.
pub(super) fn fold(drafts: &mut IndexVec<GraphId, Draft>) -> IndexVec<GraphId, Vec<bool>> {
    let mut folded = IndexVec::<GraphId, Vec<bool>>::default();
    for graph in drafts.ids().collect::<Vec<_>>() {
        let draft = &mut drafts[graph];
        let outputs: std::collections::HashSet<TensorId> = draft.outputs.iter().copied().collect();
        let mut of_graph = Vec::with_capacity(draft.nodes.len());
        for place in 0..draft.nodes.len() {
            let node = &draft.nodes[place];
            let is_random =
                node.kind.starts_with("Random") || matches!(node.kind.as_str(), "Multinomial" | "Bernoulli");
            // A node with a body or with randomness computes something new in every run. An output of the
            // graph is written in every run, whatever it is.
            let is_constant = node.bodies.is_empty()
                && !is_random
                && node.inputs.iter().flatten().all(|&input| draft.tensors[input].is_constant)
                && node.outputs.iter().flatten().all(|output| !outputs.contains(output));
            of_graph.push(is_constant);
            if is_constant {
                for output in node.outputs.iter().flatten().copied().collect::<Vec<_>>() {
                    draft.tensors[output].is_constant = true;
                }
            }
        }
        folded.push(of_graph);
    }
    folded
}
