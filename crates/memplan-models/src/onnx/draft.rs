//! Graphs as they stand in the file: names are resolved, but shapes may be missing and nodes may be in any order.
//!
//! [`read`](super::read) makes drafts, [`sort`] puts their nodes into an order in which they can run,
//! [`infer`](super::infer) completes their shapes, and [`convert`](super::convert) makes graphs of them.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

use memplan_core::IndexVec;

use crate::ReadError;
use crate::graph::{GraphId, TensorId};

/// Tensors with more dimensions count as tensors without a known shape. No real tensor has so many, but a damaged file
/// may state millions, and rules copy shapes for every node.
pub(super) const RANK: usize = 64;
/// The content of tensors with more elements is not followed: a shape, or a list from which one is computed, is
/// shorter. The limit keeps weights from being read.
pub(super) const NUMBERS: usize = 1024;

/// The number of the element type of texts, whose size is known only when the model runs.
const STRING: usize = 8;

/// Element types: name, and bits of an element, in the order of their numbers in the format. 0 bits: the width is not
/// known (`UNDEFINED`) or differs between elements (`STRING`).
pub(super) const ELEMENTS: [(&str, u64); 27] = [
    ("UNDEFINED", 0),
    ("FLOAT", 32),
    ("UINT8", 8),
    ("INT8", 8),
    ("UINT16", 16),
    ("INT16", 16),
    ("INT32", 32),
    ("INT64", 64),
    ("STRING", 0),
    ("BOOL", 8),
    ("FLOAT16", 16),
    ("DOUBLE", 64),
    ("UINT32", 32),
    ("UINT64", 64),
    ("COMPLEX64", 64),
    ("COMPLEX128", 128),
    ("BFLOAT16", 16),
    ("FLOAT8E4M3FN", 8),
    ("FLOAT8E4M3FNUZ", 8),
    ("FLOAT8E5M2", 8),
    ("FLOAT8E5M2FNUZ", 8),
    ("UINT4", 4),
    ("INT4", 4),
    ("FLOAT4E2M1", 4),
    ("FLOAT8E8M0", 8),
    ("UINT2", 2),
    ("INT2", 2),
];

/// The number of the element type of this name, as files have it; `None` for a name that ONNX does not have.
pub(super) fn element_number(name: &str) -> Option<i64> {
    ELEMENTS.iter().position(|(known, _)| *known == name).and_then(|number| i64::try_from(number).ok())
}

/// What is known about a tensor.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub(super) name: String,
    /// Number of the element type in `ELEMENTS`; 0 if it is not known.
    pub(super) element: usize,
    /// Its dimensions; `None` if they are not known.
    pub(super) shape: Option<Vec<u64>>,
    /// The shape is an upper bound; the real shape depends on the content of other tensors.
    pub(super) is_bound: bool,
    /// In the body of a loop: an input whose shape changes from one iteration to the next. The shape that the node
    /// gives it is that of the first iteration only.
    pub(super) varies: bool,
    /// Its content, if that is known and is a list of at most `NUMBERS` integers.
    pub(super) numbers: Option<Vec<i64>>,
    /// Its content stands in the file, or is computed from such content alone.
    pub(super) is_constant: bool,
    /// The value is no tensor but a sequence or a map, which have no shape.
    pub(super) is_odd: bool,
    /// In a body: the tensor of the graph around it that this one stands for.
    pub(super) outer: Option<(GraphId, TensorId)>,
}

/// A node of a graph.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) domain: String,
    /// What it reads; `None` for an optional input that is left out.
    pub(super) inputs: Vec<Option<TensorId>>,
    /// What it writes; `None` for an optional output that is left out.
    pub(super) outputs: Vec<Option<TensorId>>,
    /// Tensors of this graph that its bodies read directly, without being given them as inputs.
    pub(super) captures: Vec<TensorId>,
    pub(super) attributes: Vec<Attribute>,
    /// The graphs that it runs, if it is a loop or a branch.
    pub(super) bodies: Vec<GraphId>,
    /// The byte of the file at which the node starts, for errors.
    pub(super) at: u64,
    /// Its number among the nodes of its graph in the file. `sort` moves nodes and leaves this number as it is.
    pub(super) place: usize,
    /// The version of the standard operators in the file; 0 if the file does not say, which only the oldest files may.
    /// Most rules do not need it: the inputs and attributes of a node show which version is meant.
    pub(super) version: i64,
}

/// An attribute of a node. Only the field for its type is set.
#[derive(Clone, Debug, Default)]
pub(super) struct Attribute {
    pub(super) name: String,
    pub(super) int: i64,
    pub(super) text: String,
    pub(super) ints: Vec<i64>,
    pub(super) floats: Vec<f32>,
    pub(super) tensor: Option<Facts>,
}

/// A graph before it is known in which order it runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    pub(super) name: String,
    pub(super) tensors: IndexVec<TensorId, Facts>,
    pub(super) nodes: Vec<Node>,
    pub(super) inputs: Vec<TensorId>,
    pub(super) outputs: Vec<TensorId>,
    pub(super) by_name: HashMap<String, TensorId>,
    /// The graph around it and the place of the node that runs it; `None` for the main graph.
    pub(super) parent: Option<(GraphId, usize)>,
    /// The byte of the file at which the graph starts, for errors.
    pub(super) at: u64,
}

impl Facts {
    /// Whether the tensor needs planned memory whose size is not known. Sequences, maps and texts get their memory from
    /// the runtime, and constants lie in the file.
    pub(super) fn lacks_shape(&self) -> bool {
        self.shape.is_none() && !self.is_odd && !self.is_constant && self.element != STRING
    }
}

impl Node {
    /// Its kind and its name, for messages.
    pub(super) fn label(&self) -> String {
        if self.name.is_empty() { self.kind.clone() } else { format!("{} {}", self.kind, self.name) }
    }

    /// Whether its operator belongs to none of the usual sets of operators, so that it is not known whether it keeps
    /// anything between runs.
    pub(super) fn is_foreign(&self) -> bool {
        !matches!(self.domain.as_str(), "" | "ai.onnx" | "ai.onnx.ml" | "com.microsoft")
    }

    /// The attribute of this name, if the node has it.
    pub(super) fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }
}

/// Puts nodes into an order in which everything is written before it is read. Of the nodes that could run next, the
/// first one in the file comes first. An error if the graph has a cycle or a tensor has two writers.
pub(super) fn sort(draft: &mut Draft) -> Result<(), ReadError> {
    let writers = writers(draft)?;
    // Kahn's algorithm: for each node, how many of the nodes that write its inputs have not run yet, and the nodes that
    // read its outputs.
    let mut waiting: Vec<usize> = Vec::with_capacity(draft.nodes.len());
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); draft.nodes.len()];
    for (place, node) in draft.nodes.iter().enumerate() {
        let tensors = node.inputs.iter().flatten().chain(&node.captures);
        let producers: BTreeSet<usize> = tensors.filter_map(|&tensor| writers[tensor]).collect();
        waiting.push(producers.len());
        for producer in producers {
            readers[producer].push(place);
        }
    }
    // The nodes that wait for nothing; the heap gives the smallest place in the file first.
    let mut ready: BinaryHeap<Reverse<usize>> =
        waiting.iter().enumerate().filter(|(_, count)| **count == 0).map(|(place, _)| Reverse(place)).collect();
    let mut order = Vec::with_capacity(draft.nodes.len());
    while let Some(Reverse(place)) = ready.pop() {
        order.push(place);
        for &reader in &readers[place] {
            waiting[reader] -= 1;
            if waiting[reader] == 0 {
                ready.push(Reverse(reader));
            }
        }
    }
    // If a node still waits, it is on a cycle, or it reads what a node on a cycle computes.
    if let Some(stuck) = waiting.iter().position(|&count| count > 0) {
        let node = &draft.nodes[stuck];
        let message = format!("the graph is cyclic: {} waits for its own result", node.label());
        return Err(ReadError::at_byte("onnx::cycle", node.at, message));
    }
    // Most files are sorted already; then nothing is moved.
    if order.windows(2).any(|pair| pair[0] > pair[1]) {
        let mut nodes: Vec<Option<Node>> = std::mem::take(&mut draft.nodes).into_iter().map(Some).collect();
        draft.nodes = order.into_iter().filter_map(|place| nodes[place].take()).collect();
    }
    Ok(())
}

/// For each tensor the place of the node that writes it. Two nodes must not write the same tensor.
fn writers(draft: &Draft) -> Result<IndexVec<TensorId, Option<usize>>, ReadError> {
    let mut writers = IndexVec::<TensorId, Option<usize>>::filled(None, draft.tensors.len());
    for (place, node) in draft.nodes.iter().enumerate() {
        for &output in node.outputs.iter().flatten() {
            if writers[output].replace(place).is_some() {
                let message = format!("`{}` is written by two nodes", draft.tensors[output].name);
                return Err(ReadError::at_byte("onnx::written-twice", node.at, message));
            }
        }
    }
    Ok(writers)
}
