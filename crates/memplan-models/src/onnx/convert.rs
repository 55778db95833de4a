//! Makes graphs of drafts: tensors get sizes and homes, nodes become ops.
//!
//! A `Draft` is a graph as it stands in the file, with what is known about each tensor (`Facts`). A `Graph` is
//! what the planner needs of it. The `Home` of a tensor says where its memory comes from.

use memplan_core::{Bytes, IndexVec};

use super::draft::{Draft, ELEMENTS, Facts, Node};
use crate::ReadError;
use crate::graph::{Control, Graph, Home, Op, OpId, Tensor, TensorId, shape_bytes};

/// Nodes that compute each output element from the input elements at the same position in memory, so that the output
/// may be written over an input. Nodes that only change the shape (`Flatten`, `Reshape`, …) do so, too.
const ELEMENTWISE: [&str; 40] = [
    "Abs",
    "Add",
    "BatchNormalization",
    "Ceil",
    "Celu",
    "Clip",
    "Div",
    "Dropout",
    "Elu",
    "Erf",
    "Exp",
    "Flatten",
    "Floor",
    "Gelu",
    "HardSigmoid",
    "HardSwish",
    "Identity",
    "LeakyRelu",
    "Log",
    "Max",
    "Min",
    "Mish",
    "Mul",
    "Neg",
    "PRelu",
    "Pow",
    "Reciprocal",
    "Relu",
    "Reshape",
    "Round",
    "Selu",
    "Sigmoid",
    "Softplus",
    "Softsign",
    "Sqrt",
    "Squeeze",
    "Sub",
    "Sum",
    "Tanh",
    "Unsqueeze",
];

/// Those of the nodes above of which only input 0 is data, so that only this one may be written over. Their other
/// inputs say which shape the output gets, or are bounds, weights or a ratio, which a kernel may read for every element.
const ONE_DATUM: [&str; 7] = ["BatchNormalization", "Clip", "Dropout", "Flatten", "Reshape", "Squeeze", "Unsqueeze"];

/// Those of the nodes above that take any number of inputs.
const VARIADIC: [&str; 3] = ["Max", "Min", "Sum"];

/// Nodes whose result is not determined by their inputs. `Dropout` is one, too, when it trains ([`may_train`]).
const STATEFUL: [&str; 6] =
    ["RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli"];

/// The graph of a draft. `folded` says for each node of the draft whether it computes a constant; such a node becomes
/// no op, because the runtime computes it once, when it loads the model.
pub(super) fn graph_of(draft: &Draft, folded: &[bool]) -> Result<Graph, ReadError> {
    let mut tensors = IndexVec::<TensorId, Tensor>::default();
    for facts in &draft.tensors {
        tensors.push(tensor_of(facts, draft.at)?);
    }
    let mut ops = IndexVec::<OpId, Op>::default();
    for (node, _) in draft.nodes.iter().zip(folded).filter(|(_, is_folded)| !**is_folded) {
        ops.push(op_of(node, &tensors));
    }
    // An input that is a constant of the file gets no memory.
    let is_placed = |id: &TensorId| tensors[*id].home != Home::File;
    Ok(Graph {
        name: draft.name.clone(),
        inputs: draft.inputs.iter().copied().filter(is_placed).collect(),
        outputs: draft.outputs.clone(),
        tensors,
        ops,
    })
}

/// A tensor with its size and its home. `at` is the byte offset in the file that an error points to.
///
/// A tensor is *sized* if its number of bytes is known: its shape is known, its elements have a fixed width, and it is
/// no sequence or map. A tensor that is not sized gets 0 bytes here, because a plan has no memory for it.
///
/// Errors: the number of the element type is not in `ELEMENTS`; the tensor has 2^63 bytes or more.
fn tensor_of(facts: &Facts, at: u64) -> Result<Tensor, ReadError> {
    let Some(&(element, bits)) = ELEMENTS.get(facts.element) else {
        let message = format!("`{}` has element type {}, which is not known", facts.name, facts.element);
        return Err(ReadError::at_byte("onnx::element-type", at, message));
    };
    let shape = facts.shape.clone().unwrap_or_default();
    // Element type 0 is ONNX's UNDEFINED: neither the file nor inference says the type. Most tensors have floats of 32
    // bits, so this width is assumed.
    let bits = if facts.element == 0 { 32 } else { bits };
    // 0 bits means texts (`STRING`), whose length is known only when the model runs. A value that `is_odd` is a
    // sequence or a map.
    let is_sized = facts.shape.is_some() && bits > 0 && !facts.is_odd;
    let bytes = if is_sized { shape_bytes(&shape, bits) } else { Some(Bytes::ZERO) };
    let Some(bytes) = bytes else {
        let message = format!("`{}` of shape {shape:?} is too large to be planned", facts.name);
        return Err(ReadError::at_byte("onnx::too-large", at, message));
    };
    let home = match facts.outer {
        // The body of a loop or a branch reads this tensor from a graph around it. That graph decides on its memory,
        // even if the tensor is a constant there.
        Some((graph, tensor)) => Home::Outer(graph, tensor),
        // A constant lies in the file even if it is not sized, as texts are. So this arm comes before the next one.
        None if facts.is_constant => Home::File,
        // The runtime allocates texts, sequences and maps itself. Other tensors without a shape do not come this far:
        // `check_shapes` has refused the model.
        None if !is_sized => Home::Runtime,
        None => Home::Arena,
    };
    Ok(Tensor { name: facts.name.clone(), element, shape, bytes, home })
}

/// A node as an op: what it reads and writes, and on which inputs its output may be written.
fn op_of(node: &Node, tensors: &IndexVec<TensorId, Tensor>) -> Op {
    // The node's bodies read the `captures` while the node runs, so the captures count as inputs of the op.
    let inputs: Vec<TensorId> = node.inputs.iter().flatten().chain(&node.captures).copied().collect();
    let outputs: Vec<TensorId> = node.outputs.iter().flatten().copied().collect();
    let is_known = node.domain.is_empty() || node.domain == "ai.onnx";
    let control = match node.kind.as_str() {
        "Loop" | "Scan" | "SequenceMap" => Control::Loop,
        // A branch of an `If` runs at most once. A node without bodies runs none.
        _ => Control::Once,
    };
    // The list of elementwise nodes is that of ONNX's own operators. Operators of other domains may have the same
    // names, so their outputs get memory of their own.
    let is_elementwise = ELEMENTWISE.contains(&node.kind.as_str()) && !may_train(node);
    let in_place = match outputs.first() {
        Some(&output) if is_known && is_elementwise => {
            let count = overwritable(node, &inputs);
            let fitting = inputs.iter().take(count).filter(|&&input| may_overwrite(&tensors[output], &tensors[input]));
            fitting.map(|&input| (output, input)).collect()
        }
        // Other ops may still read an input element after they have written the output element at its place.
        _ => Vec::new(),
    };
    Op {
        kind: node.kind.clone(),
        name: node.name.clone(),
        inputs,
        outputs,
        scratch: Vec::new(),
        kept: Bytes::ZERO,
        in_place,
        bodies: node.bodies.clone(),
        control,
        // Bodies may contain a random node, and it is not known what a foreign operator keeps between two runs.
        is_stateful: STATEFUL.contains(&node.kind.as_str())
            || node.kind == "Dropout" && may_train(node)
            || !node.bodies.is_empty()
            || node.is_foreign(),
    }
}

/// Whether a node may do what it does in training. `BatchNormalization` then takes the mean over all elements, so it
/// does not compute them one by one, and `Dropout` chooses at random which elements it keeps. Before version 7 both
/// train unless their attribute `is_test` says that they do not. Later versions say that they do: with an attribute
/// `training_mode`, with more than one result of a `BatchNormalization` (before version 14), or with an input 2 of a
/// `Dropout` (since version 12), which is false in a model for inference but whose content is not read.
pub(super) fn may_train(node: &Node) -> bool {
    let number = |name: &str| node.attribute(name).map(|attribute| attribute.int);
    let is_test = number("is_test").unwrap_or(i64::from(node.version >= 7));
    let says_so = number("training_mode").is_some_and(|on| on != 0) || is_test == 0;
    match node.kind.as_str() {
        "BatchNormalization" => says_so || node.outputs.iter().flatten().count() > 1,
        "Dropout" => says_so || node.inputs.get(2).is_some_and(Option::is_some),
        _ => false,
    }
}

/// How many of the first inputs of an elementwise node hold data that the output may be written over.
///
/// A kernel for three or more inputs may go over the output several times: `y = a + b`, then `y = y + c`. Then `y` may
/// lie on `a`, unless `a` is read again later, but neither on `b` nor on `c`. A `Gelu` that is approximated by `tanh`
/// goes over it twice, too, and reads its input in both rounds.
fn overwritable(node: &Node, inputs: &[TensorId]) -> usize {
    let kind = node.kind.as_str();
    match inputs {
        _ if kind == "Gelu" && node.attribute("approximate").is_some_and(|how| how.text != "none") => 0,
        _ if ONE_DATUM.contains(&kind) => 1,
        [first, _, later @ ..] if VARIADIC.contains(&kind) && !later.is_empty() => usize::from(!later.contains(first)),
        _ => inputs.len(),
    }
}

/// Whether an elementwise op may write its output over `input`. Both need the same element type and the same number of
/// bytes: then each output element lies where the input element lies from which it is computed. An input that is
/// broadcast has fewer bytes than the output. Constants, and tensors of outer graphs, must not be overwritten.
fn may_overwrite(output: &Tensor, input: &Tensor) -> bool {
    output.bytes == input.bytes && output.element == input.element && input.home == Home::Arena
}
