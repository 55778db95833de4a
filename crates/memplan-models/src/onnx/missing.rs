//! The error about tensors without a shape: which they are, why their shape is not known, and what the user can do.
//!
//! A shape may depend on the *content* of a tensor. `Range(0, n, 1)` has as many elements as the number `n` says, and
//! `n` is known only when the model runs. The message names the inputs of the model whose content decides on such
//! shapes, and the tensors for which the user can give a bound. (Some nodes have a bound by their nature and are not
//! missing: `NonZero(x)` has at most as many columns as `x` has elements.)

use std::collections::{BTreeSet, HashMap};

use memplan_core::{Id, IndexVec};

use super::draft::{Draft, Node};
use crate::ReadError;
use crate::graph::{GraphId, TensorId};

/// Checks that every tensor that needs memory has a shape. `folded` says of each node whether it computes a constant;
/// such nodes need no memory.
pub(super) fn check_shapes(
    drafts: &IndexVec<GraphId, Draft>,
    folded: &IndexVec<GraphId, Vec<bool>>,
) -> Result<(), ReadError> {
    let mut missing = Missing::default();
    // Tensors that nodes write, and the inputs of each graph. Tensors that only stand for one of a graph around are
    // reported in that graph.
    for (id, draft) in drafts.iter_enumerated() {
        for (node, _) in draft.nodes.iter().zip(&folded[id]).filter(|(_, is_folded)| !**is_folded) {
            for &output in node.outputs.iter().flatten() {
                if draft.tensors[output].lacks_shape() {
                    missing.add(id, draft, node, output);
                }
            }
        }
        for &input in &draft.inputs {
            if draft.tensors[input].lacks_shape() {
                missing.tensors.push(format!("`{}` (input)", draft.tensors[input].name));
                missing.flags.push(draft.tensors[input].name.clone());
                // The shape of a body's input follows from what the node that runs the body reads.
                missing.content.extend((id.index() > 0).then_some((id, input)));
            }
        }
    }
    let deciders = deciders(drafts, &missing.content);
    missing.verdict(&deciders)
}

/// The names of the model's inputs from which these tensors are computed. The search goes backwards from the tensors,
/// through the nodes that write them, and stops at tensors whose content is known.
fn deciders(drafts: &IndexVec<GraphId, Draft>, tensors: &[(GraphId, TensorId)]) -> BTreeSet<String> {
    // The node that writes each tensor, and its graph. The inputs of a body are written by the node that runs the body.
    let mut sources = HashMap::<(GraphId, TensorId), (GraphId, &Node)>::new();
    for (graph, draft) in drafts.iter_enumerated() {
        for node in &draft.nodes {
            let outputs = node.outputs.iter().flatten().map(|&output| (graph, output));
            let given =
                node.bodies.iter().flat_map(|&body| drafts[body].inputs.iter().map(move |&input| (body, input)));
            sources.extend(outputs.chain(given).map(|tensor| (tensor, (graph, node))));
        }
    }
    // `open` are the tensors that are still to be followed, `seen` those that have been.
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut open = tensors.to_vec();
    while let Some(tensor) = open.pop() {
        let facts = &drafts[tensor.0].tensors[tensor.1];
        // A tensor with known content depends on no input; one that was seen before need not be followed again.
        if facts.numbers.is_some() || facts.is_constant || !seen.insert(tensor) {
            continue;
        }
        match (facts.outer, sources.get(&tensor)) {
            (Some(outer), _) => open.push(outer),
            (None, Some((graph, node))) => {
                let read = node.inputs.iter().flatten().chain(&node.captures);
                open.extend(read.map(|&input| (*graph, input)));
            }
            // No node writes this tensor: it is an input of the model.
            (None, None) => drop(found.insert(facts.name.clone())),
        }
    }
    found
}

/// The tensors without a shape, and why.
#[derive(Default)]
struct Missing {
    /// The byte of the file at which the first node that writes such a tensor starts.
    at: Option<u64>,
    /// The tensors without a shape, as the message names them: the name, and the node that writes the tensor.
    tensors: Vec<String>,
    /// Tensors whose content, and not only their shape, decides on the shape of a tensor in `tensors`.
    content: Vec<(GraphId, TensorId)>,
    /// The names of those in `tensors` whose shape cannot be inferred although the shapes of all inputs of their node
    /// are known. The message asks the user for the sizes of these; the shapes of the others follow from them.
    flags: Vec<String>,
}

impl Missing {
    /// Adds a tensor without a shape that a node writes.
    fn add(&mut self, graph: GraphId, draft: &Draft, node: &Node, output: TensorId) {
        self.at.get_or_insert(node.at);
        let name = &draft.tensors[output].name;
        self.tensors.push(format!("`{name}` ({})", node.label()));
        let inputs: Vec<TensorId> = node.inputs.iter().flatten().copied().collect();
        // If the shapes of all inputs are known, it is their content that decides.
        if inputs.iter().all(|&input| !draft.tensors[input].lacks_shape()) {
            self.flags.push(name.clone());
            // The first input of most nodes is data, whose content does not influence shapes. The first input of these
            // four kinds of nodes does: a start, a shape, a number of iterations, a condition.
            let first_content = usize::from(!matches!(node.kind.as_str(), "Range" | "ConstantOfShape" | "Loop" | "If"));
            let content = node.inputs.iter().skip(first_content).flatten();
            self.content.extend(content.map(|&input| (graph, input)));
        }
    }

    /// An error that names the tensors without a shape and says what the user can do; no error if there are none.
    /// `deciders` are the inputs of the model whose content decides on these shapes.
    fn verdict(self, deciders: &BTreeSet<String>) -> Result<(), ReadError> {
        if self.tensors.is_empty() {
            return Ok(());
        }
        let count =
            if self.tensors.len() == 1 { "a tensor".to_owned() } else { format!("{} tensors", self.tensors.len()) };
        let deciders: Vec<String> = deciders.iter().map(|name| format!("`{name}`")).collect();
        let why = match deciders.as_slice() {
            [] => String::new(),
            names => format!("; the content of {} decides", first_few(names)),
        };
        let message = format!("the shape of {count} is not known: {}{why}", first_few(&self.tensors));
        // Four examples show how the option is written. A model may have thousands of such tensors.
        let flags: Vec<String> = self.flags.iter().take(4).map(|name| format!("--size {name}=N")).collect();
        let sizes = match flags.as_slice() {
            [] => "give symbolic dimensions with --dim".to_owned(),
            flags => format!("say what dimensions it has at most, as in {} (2x3 for two of them)", flags.join(" ")),
        };
        let help = format!("{sizes}, or write shapes into the model with onnx.shape_inference.infer_shapes");
        Err(ReadError::at_byte("onnx::unknown-shape", self.at.unwrap_or(0), message).help(help))
    }
}

/// The first eight names of a list, and how many more there are.
pub(super) fn first_few(names: &[String]) -> String {
    let shown = names.iter().take(8).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(8) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
