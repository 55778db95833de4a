//! Finds the shapes of nodes' outputs that the file does not state.
//!
//! Nodes are visited in the order in which they run, and the bodies of a loop or a
//! branch when their node is reached. Each kind of node has a rule from the shapes
//! of its inputs and its attributes to the shapes of its outputs (`rules`). Some
//! shapes depend on the *content* of an input, such as the new shape of a `Reshape`.
//! Where that content is a short list of integers, it is computed, too (`evaluate`).
//! The outputs of a node without a rule stay unknown, and the reader reports them.
//!
//! A `Draft` is a graph that is being read: its nodes, and for each tensor the `Facts`
//! that are known about it so far. Two of these facts are marks: `is_bound` says that the shape is only an upper bound
//! of the real one, and `varies` says that an input of a loop's body changes its shape from one iteration to the next,
//! so that it must not get the shape of the first iteration. A `Found` is what a rule says about one output of a node,
//! and a `Context` is a node with the facts about its inputs, the argument of the rules.

use memplan_core::{Id, IndexVec};

use super::context::{BOOL, Context, Found, INT64};
use super::convert::may_train;
use super::draft::{Draft, Facts, Node, RANK};
use super::evaluate::evaluate;
use super::shape::axis;
use crate::graph::{GraphId, TensorId};

/// Completes shapes and element types in all graphs; the first is the main graph, the others are bodies of nodes.
pub(super) fn infer(drafts: &mut IndexVec<GraphId, Draft>) {
    if drafts.is_empty() {
        return;
    }
    // What is known before inference, so that inference can start again. Only models with loops need it (see below).
    let has_loop = drafts.iter().flat_map(|draft| &draft.nodes).any(|node| node.kind == "Loop");
    let mut stated = has_loop.then(|| drafts.clone());
    infer_once(drafts);
    // A tensor that a loop carries from one iteration to the next may change its shape; ONNX allows that. Then all
    // shapes that were inferred from that of the first iteration are wrong, so inference starts again without it. Each
    // time at least one more tensor is marked, so this ends.
    while let Some(stated) = &mut stated {
        let changed = changed(drafts, stated);
        if changed.is_empty() {
            break;
        }
        for (body, input, change) in changed {
            let facts = &mut stated[body].tensors[input];
            match change {
                Change::Other => facts.varies = true,
                Change::Shrinks => facts.is_bound = true,
            }
        }
        drafts.clone_from(stated);
        infer_once(drafts);
    }
}

/// How the shape of a tensor that a loop carries changes after the first iteration.
enum Change {
    /// The shape of the first iteration is an upper bound on the others.
    Shrinks,
    /// The shape is another one, such as a longer one.
    Other,
}

/// The inputs of loops' bodies whose shape is inferred from that of the first iteration, and for which the body gives
/// the next iteration another shape. `stated` is what was known before inference: an input whose shape is known there
/// has a shape of its own, and one that is marked there has been found before. The list is empty if no loop changes a
/// shape.
fn changed(drafts: &IndexVec<GraphId, Draft>, stated: &IndexVec<GraphId, Draft>) -> Vec<(GraphId, TensorId, Change)> {
    let mut all = Vec::new();
    for node in drafts.iter().flat_map(|draft| &draft.nodes).filter(|node| node.kind == "Loop") {
        let Some(&body) = node.bodies.first() else { continue };
        // The body gets the number of the iteration and the condition before the carried values, and gives the
        // condition before them.
        let carried = node.inputs.len().saturating_sub(2);
        let pairs = drafts[body].inputs.iter().skip(2).zip(drafts[body].outputs.iter().skip(1)).take(carried);
        for (&input, &output) in pairs {
            let (before, after) = (&drafts[body].tensors[input], &drafts[body].tensors[output]);
            let known = &stated[body].tensors[input];
            // Without both shapes there is nothing to compare. The reader reports the tensor whose shape is missing.
            let (Some(first), Some(next)) = (&before.shape, &after.shape) else { continue };
            if known.shape.is_none() && !known.varies {
                match first == next {
                    false => all.push((body, input, Change::Other)),
                    // The next iteration gets this shape or a smaller one, although the input counts as exact.
                    true if after.is_bound && !before.is_bound => all.push((body, input, Change::Shrinks)),
                    true => {}
                }
            }
        }
    }
    all
}

/// Completes shapes and element types, with what is known so far.
fn infer_once(drafts: &mut IndexVec<GraphId, Draft>) {
    forward(drafts);
    // If a tensor got its shape from the output of a node, the rules of other nodes that read that tensor can be
    // applied now.
    if backward(drafts) {
        forward(drafts);
    }
}

/// Nodes whose output always has exactly the shape of their first input. (The output of `Add` may have a larger one.)
/// If the shape of the output is known and that of the input is not, the input has the output's shape.
const SAME_SHAPE: [&str; 14] =
    ["Abs", "Cast", "CastLike", "Ceil", "Erf", "Exp", "Floor", "Identity", "Log", "Neg", "Not", "Relu", "Sqrt", "Tanh"];

/// Copies shapes from outputs to inputs through the nodes of `SAME_SHAPE`. Returns whether an input without a shape got
/// one.
fn backward(drafts: &mut IndexVec<GraphId, Draft>) -> bool {
    let mut is_new = false;
    for draft in drafts.iter_mut() {
        // In reverse order a shape passes through a chain of such nodes at once.
        let is_known = |node: &&Node| SAME_SHAPE.contains(&node.kind.as_str()) && !node.is_foreign();
        for node in draft.nodes.iter().rev().filter(is_known) {
            let (Some(&Some(input)), Some(&Some(output))) = (node.inputs.first(), node.outputs.first()) else {
                continue;
            };
            let Facts { shape, is_bound, .. } = draft.tensors[output].clone();
            let facts = &mut draft.tensors[input];
            // A tensor of an outer graph gets its shape in that graph. A sequence or a map (`is_odd`) has no shape.
            if facts.shape.is_none() && shape.is_some() && facts.outer.is_none() && !facts.is_odd {
                (facts.shape, facts.is_bound) = (shape, is_bound);
                is_new = true;
            }
        }
    }
    is_new
}

/// Visits all nodes in the order in which they run: the bodies of a node, then the node. There is a stack instead of
/// recursion, because bodies may be nested deeply.
fn forward(drafts: &mut IndexVec<GraphId, Draft>) {
    // The graphs that are being visited, the innermost last: the graph, the place of its next node, and how many bodies
    // of that node have been visited.
    let mut frames = vec![(GraphId::from_index(0), 0, 0)];
    while let Some(frame) = frames.last_mut() {
        let (graph, place, visited) = *frame;
        let Some(node) = drafts[graph].nodes.get(place) else {
            // All nodes of this graph have been visited.
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

/// Tells a body what is known outside of it, before its nodes are visited. `place` is the position, in `graph`, of
/// the node that has the body. Two kinds of tensors get facts: those of outer graphs that the body reads, and its own
/// inputs.
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
    let outside: Vec<Found> = node.inputs.iter().map(|&input| known_about(&drafts[graph], input)).collect();
    let given = match node.kind.as_str() {
        "Loop" => {
            // The body of a loop gets the number of the iteration, the condition, and the values that each iteration
            // hands to the next one. The node has the number of iterations and the condition before these values.
            let round = Found::new(INT64, Some(Vec::new()));
            let condition = Found::new(BOOL, Some(Vec::new()));
            [round, condition].into_iter().chain(outside.into_iter().skip(2)).collect()
        }
        "Scan" if !is_batched(node) => scanned(node, outside),
        "FlexAttention" => scores(&outside).into_iter().collect(),
        // The branches of an `If` have no inputs. What other nodes hand to their bodies is not known.
        _ => return,
    };
    let inputs = drafts[body].inputs.clone();
    for (input, found) in inputs.into_iter().zip(given) {
        complete(&mut drafts[body].tensors[input], found);
    }
}

/// What is known about an input of a node; nothing if it is left out.
fn known_about(draft: &Draft, input: Option<TensorId>) -> Found {
    input.map_or_else(Found::default, |input| {
        let facts = &draft.tensors[input];
        Found { is_bound: facts.is_bound, ..Found::new(facts.element, facts.shape.clone()) }
    })
}

/// The inputs of the body of a `Scan`. The inputs of the node, `outside`, are states and then sequences; the body
/// gets the states and one slice of each sequence. A sequence whose axis the node does not state is scanned along
/// axis 0.
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

/// Whether a `Scan` is one of version 8 of the operators. Its first input is the lengths of the sequences, and a batch is
/// the first axis of all others. There are no rules for it here, so the file has to state the shapes.
fn is_batched(node: &Node) -> bool {
    node.version == 8
}

/// How many inputs of a `Scan` are states: all but the sequences, whose number is an attribute.
fn scan_states(node: &Node, inputs: usize) -> usize {
    let sequences = node.attribute("num_scan_inputs").and_then(|attribute| usize::try_from(attribute.int).ok());
    inputs.saturating_sub(sequences.unwrap_or(0))
}

/// The input of a `FlexAttention`'s body, which changes the scores of attention: a score for each pair of a query and a
/// key, in each head. `None` if the shapes of queries and keys are not known.
fn scores(outside: &[Found]) -> Option<Found> {
    let [query, key, ..] = outside else { return None };
    let (&[batch, heads, queries, _], &[_, _, keys, _]) = (query.shape.as_deref()?, key.shape.as_deref()?) else {
        return None;
    };
    let is_bound = query.is_bound || key.is_bound;
    Some(Found { is_bound, ..Found::new(query.element, Some(vec![batch, heads, queries, keys])) })
}

/// Completes what is known about the outputs of one node: shapes, element types, and the numbers of short lists. A
/// shape may be an upper bound only (`is_bound`), if the real one depends on content.
fn visit(drafts: &mut IndexVec<GraphId, Draft>, graph: GraphId, place: usize) {
    let draft = &drafts[graph];
    let node = &draft.nodes[place];
    let facts: Vec<Option<&Facts>> = node.inputs.iter().map(|input| input.map(|input| &draft.tensors[input])).collect();
    let context = Context { node, facts };
    // The outputs of a loop or a branch follow from those of its bodies. The body of a `FlexAttention` only changes the
    // scores in the middle of the computation, so the rule for the node itself is used.
    let found = match node.bodies.is_empty() || node.kind == "FlexAttention" {
        true => context.outputs(),
        false => of_bodies(drafts, graph, node),
    };
    // If the shape of an input is only an upper bound, the content of the output is not known: the output of `Shape`
    // is the real shape and not the bound.
    let is_bound = context.is_bounded() || context.facts.iter().flatten().any(|facts| facts.is_bound);
    let numbers = if is_bound { None } else { evaluate(&context) };
    let outputs: Vec<Option<TensorId>> = node.outputs.clone();
    for (index, output) in outputs.into_iter().enumerate() {
        let Some(output) = output else { continue };
        let facts = &mut drafts[graph].tensors[output];
        if let Some(found) = found.as_ref().and_then(|found| found.get(index)) {
            complete(facts, Found { is_bound: is_bound || found.is_bound, ..found.clone() });
        }
        // `evaluate` computes the first output only.
        if index == 0 && facts.numbers.is_none() {
            facts.numbers.clone_from(&numbers);
        }
    }
}

/// Fills in what is not known yet about a tensor; what the file states stays. A shape of more dimensions than any real
/// tensor has is left out.
fn complete(facts: &mut Facts, found: Found) {
    if facts.shape.is_none() && !facts.varies {
        facts.shape = found.shape.filter(|shape| shape.len() <= RANK);
        // A shape that the file states is exact. Only a shape that we found here may be a bound.
        facts.is_bound |= found.is_bound && facts.shape.is_some();
    }
    if facts.element == 0 {
        facts.element = found.element;
    }
}

/// The outputs of a node with bodies, which follow from the outputs of the bodies. `None` if there is no rule.
fn of_bodies(drafts: &IndexVec<GraphId, Draft>, graph: GraphId, node: &Node) -> Option<Vec<Found>> {
    match node.kind.as_str() {
        "If" => of_branches(node.bodies.iter().map(|&body| outputs_of(&drafts[body]))),
        "Loop" => {
            // The body gives the condition, the values for the next iteration, and results. The node gives the last of
            // these values, and for each result a list with that of every iteration. How many iterations there are
            // depends on the condition, so the shapes of the lists are not known.
            let carried = node.inputs.len().saturating_sub(2);
            let mut outputs = outputs_of(&drafts[*node.bodies.first()?]);
            outputs.drain(..outputs.len().min(1));
            // If the loop may have no iteration, the node may give the values that it was given.
            if !surely_runs(&drafts[graph], node) {
                for (output, &initial) in outputs.iter_mut().zip(node.inputs.iter().skip(2)) {
                    *output = either(output, known_about(&drafts[graph], initial));
                }
            }
            outputs.iter_mut().skip(carried).for_each(|list| list.shape = None);
            Some(outputs)
        }
        "Scan" if !is_batched(node) => {
            // The body gives new states and results. The node gives the last states, and for each result the results of
            // all slices along a new axis, whose length is the number of slices.
            let states = scan_states(node, node.inputs.len());
            let mut outputs = outputs_of(&drafts[*node.bodies.first()?]);
            let sequence = known_about(&drafts[graph], *node.inputs.get(states)?).shape;
            let sliced_axis = ints(node, "scan_input_axes").first().copied().unwrap_or(0);
            let length = sequence.and_then(|shape| Some(shape[axis(sliced_axis, shape.len())?]));
            let new_axes = ints(node, "scan_output_axes");
            for (index, output) in outputs.iter_mut().skip(states).enumerate() {
                output.shape = output.shape.take().and_then(|mut shape| {
                    shape.insert(axis(new_axes.get(index).copied().unwrap_or(0), shape.len() + 1)?, length?);
                    Some(shape)
                });
            }
            Some(outputs)
        }
        // `SequenceMap` gives sequences, which have no shape. How other nodes use their bodies is not known.
        _ => None,
    }
}

/// Whether a `Loop` has at least one iteration: it has no limit or one that is known to be 1 or more (input 0), and no
/// condition or one that is known to be true (input 1).
fn surely_runs(draft: &Draft, node: &Node) -> bool {
    let is_positive = |input: &Option<TensorId>| {
        let Some(input) = *input else { return true };
        draft.tensors[input].numbers.as_deref().is_some_and(|numbers| numbers.first().is_some_and(|&number| number > 0))
    };
    node.inputs.iter().take(2).all(is_positive)
}

/// Element types and shapes of the outputs of a body.
fn outputs_of(body: &Draft) -> Vec<Found> {
    body.outputs.iter().map(|&output| known_about(body, Some(output))).collect()
}

/// The outputs of a node that runs one of several branches; see [`either`].
fn of_branches(mut branches: impl Iterator<Item = Vec<Found>>) -> Option<Vec<Found>> {
    let mut first = branches.next()?;
    for other in branches {
        for (one, other) in first.iter_mut().zip(other) {
            *one = either(one, other);
        }
    }
    Some(first)
}

/// An output for which one branch gives `one`, and another branch `other`. If the shapes differ, the bound takes the
/// larger length in each dimension. The shape with more elements would be no bound for the nodes that follow:
/// `[100, 1]` has more elements than `[1, 50]`, but only the latter makes `[100, 50]` when `[100, 1]` is added to it.
/// The output has no known shape if a branch gives it none, or if the branches give it different numbers of dimensions.
fn either(one: &Found, other: Found) -> Found {
    let (shape, differs) = match (&one.shape, other.shape) {
        (Some(a), Some(b)) if a.len() == b.len() => {
            (Some(a.iter().zip(&b).map(|(&a, &b)| a.max(b)).collect()), *a != b)
        }
        _ => (None, false),
    };
    let element = if one.element == 0 { other.element } else { one.element };
    Found { element, shape, is_bound: one.is_bound || other.is_bound || differs }
}

/// The whole numbers of an attribute; none if the node does not have it.
fn ints<'a>(node: &'a Node, name: &str) -> &'a [i64] {
    node.attribute(name).map_or(&[], |attribute| attribute.ints.as_slice())
}

/// Finds the nodes that compute constants from constants. A runtime computes them once, when it loads the model, so
/// they need no memory in a plan. Returns, for each graph and each of its nodes, whether it is such a node, and marks
/// the outputs of these nodes as constant.
pub(super) fn fold(drafts: &mut IndexVec<GraphId, Draft>) -> IndexVec<GraphId, Vec<bool>> {
    let mut folded = IndexVec::<GraphId, Vec<bool>>::default();
    for graph in drafts.ids().collect::<Vec<_>>() {
        let draft = &mut drafts[graph];
        let outputs: std::collections::HashSet<TensorId> = draft.outputs.iter().copied().collect();
        let mut of_graph = Vec::with_capacity(draft.nodes.len());
        for place in 0..draft.nodes.len() {
            let node = &draft.nodes[place];
            let is_random = node.kind.starts_with("Random")
                || matches!(node.kind.as_str(), "Multinomial" | "Bernoulli")
                || node.kind == "Dropout" && may_train(node);
            // A node with a body or with randomness may compute something new in every run. So may a foreign node: one
            // without inputs may read a sensor. An output of the graph is written in every run, even if its content is
            // constant.
            let is_constant = node.bodies.is_empty()
                && !is_random
                && !node.is_foreign()
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
