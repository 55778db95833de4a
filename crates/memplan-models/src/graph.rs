//! Networks: what a `.tflite` and an `.onnx` file have in common.
//!
//! A [`Model`] is a list of graphs, the first of which runs; others are the
//! bodies of its control-flow ops. A [`Graph`] has tensors and, in the order of
//! execution, ops that read and write them. [`timeline`](self::Timeline) gives
//! each op its step, [`problem`] makes buffers of the tensors, [`program`] makes the
//! program against which a plan is checked, [`order`] looks for an order of ops that
//! needs less memory, and [`rewrite`] describes a graph in which some ops were
//! replaced by others.

pub mod order;
pub mod problem;
pub mod program;
pub mod rewrite;
mod timeline;

use memplan_core::{Bytes, IndexVec, MAX_BYTES, index_type, storage_bytes};

pub use timeline::{MAX_STEPS, Tick, Timeline, TimelineError};

index_type! {
    /// A graph of a model.
    pub struct GraphId;
}
index_type! {
    /// A tensor of a graph.
    pub struct TensorId;
}
index_type! {
    /// An op of a graph.
    pub struct OpId;
}

/// A network.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// The graphs; the first one runs, the others are bodies of ops.
    pub graphs: IndexVec<GraphId, Graph>,
    /// Every offset is a multiple of this many bytes.
    pub alignment: Bytes,
}

/// Tensors and the ops on them, in the order of execution.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Its name; may be empty.
    pub name: String,
    /// Its tensors.
    pub tensors: IndexVec<TensorId, Tensor>,
    /// Its ops.
    pub ops: IndexVec<OpId, Op>,
    /// What is written before it runs.
    pub inputs: Vec<TensorId>,
    /// What is read after it has run.
    pub outputs: Vec<TensorId>,
}

/// A tensor.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Its name; unique in its graph.
    pub name: String,
    /// Name of the element type, in the words of the format.
    pub element: &'static str,
    /// Its dimensions.
    pub shape: Vec<u64>,
    /// Its bytes; 0 if the runtime decides on its size.
    pub bytes: Bytes,
    /// Where its memory comes from.
    pub home: Home,
}

/// Where the memory of a tensor comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Home {
    /// From the arena: it is to be placed.
    Arena,
    /// From the file, or from a file beside it: weights and other constants.
    File,
    /// It keeps its content between runs and has memory of its own.
    Persistent,
    /// From the runtime, while it runs: the size is not known before (texts, sequences, tensors without a shape). Such
    /// a tensor has 0 bytes here and gets no buffer.
    Runtime,
    /// It is a tensor of a graph around this one.
    Outer(GraphId, TensorId),
}

/// An op.
#[derive(Clone, Debug, Default)]
pub struct Op {
    /// What it does, in the words of the format: `CONV_2D`, `Conv`.
    pub kind: String,
    /// Its name, if it has one.
    pub name: String,
    /// What it reads.
    pub inputs: Vec<TensorId>,
    /// What it writes.
    pub outputs: Vec<TensorId>,
    /// Memory it needs only while it runs.
    pub scratch: Vec<Bytes>,
    /// Memory that its kernel keeps for as long as the network is loaded, as far as it is known.
    pub kept: Bytes,
    /// Pairs of an output and an input: the output may be written over the input, each element over the element at the
    /// same place.
    pub in_place: Vec<(TensorId, TensorId)>,
    /// Graphs that it runs.
    pub bodies: Vec<GraphId>,
    /// How it runs them.
    pub control: Control,
    /// It may read or change something besides its inputs and outputs, or have another result each time. It must run
    /// once and keep its place among such ops.
    pub is_stateful: bool,
}

/// How an op runs its bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Control {
    /// It has none, or runs each at most once.
    #[default]
    Once,
    /// A condition and a body, again and again; each iteration hands its values
    /// to the next one in the memory of the op's outputs.
    WhileThroughOutputs,
    /// A body, again and again; each iteration hands the body's outputs to the
    /// body's inputs.
    Loop,
}

impl Model {
    /// The graph that runs.
    pub fn main(&self) -> Option<&Graph> {
        self.graphs.iter().next()
    }
}

impl Op {
    /// Its kind and, if it has one, its name.
    pub fn label(&self) -> String {
        if self.name.is_empty() { self.kind.clone() } else { format!("{} {}", self.kind, self.name) }
    }
}

impl Tensor {
    /// Its shape and element type, such as `1x224x224x3 INT8`.
    pub fn describe(&self) -> String {
        if self.shape.is_empty() {
            return format!("scalar {}", self.element);
        }
        let dimensions: Vec<String> = self.shape.iter().map(u64::to_string).collect();
        format!("{} {}", dimensions.join("x"), self.element)
    }
}

/// The bytes of a tensor of this shape whose elements have `element_bits` bits each, rounded up to whole bytes. `None`
/// if the tensor has 2^63 bytes or more.
pub fn shape_bytes(shape: &[u64], element_bits: u64) -> Option<Bytes> {
    let elements = shape.iter().try_fold(1u64, |product, &dimension| product.checked_mul(dimension))?;
    let bytes = storage_bytes(elements.checked_mul(element_bits)?);
    (bytes.0 <= MAX_BYTES).then_some(bytes)
}

/// Makes names unique. An empty name becomes `word#index`. The first of several equal names stays as it is, and the
/// others get `#2`, `#3`, … at the end, with which they are never equal to a given name: `a`, `a`, `a#2` become `a`,
/// `a#3`, `a#2`.
pub(crate) fn unique_names(names: Vec<String>, word: &str) -> Vec<String> {
    // `taken` has all given names and those made up so far. `seen` has the names of the result so far. `next` has, for
    // each repeated name, the number to try next: starting at 2 every time would take a million attempts for a thousand
    // equal names.
    let mut taken: std::collections::HashSet<String> = names.iter().cloned().collect();
    let mut seen = std::collections::HashSet::new();
    let mut next = std::collections::HashMap::<String, u32>::new();
    let unique = |(index, name): (usize, String)| {
        let base = if name.is_empty() { format!("{word}#{index}") } else { name };
        if seen.insert(base.clone()) {
            return base;
        }
        let number = next.entry(base.clone()).or_insert(2);
        loop {
            let candidate = format!("{base}#{number}");
            *number += 1;
            if taken.insert(candidate.clone()) && seen.insert(candidate.clone()) {
                return candidate;
            }
        }
    };
    names.into_iter().enumerate().map(unique).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_unique() {
        let names = ["a", "", "a", "a#2", "a", ""].map(str::to_owned).to_vec();
        assert_eq!(unique_names(names, "tensor"), ["a", "tensor#1", "a#3", "a#2", "a#4", "tensor#5"]);
    }

    #[test]
    fn bytes_of_shapes() {
        assert_eq!(shape_bytes(&[2, 3], 32), Some(Bytes(24)));
        assert_eq!(shape_bytes(&[3], 4), Some(Bytes(2)));
        assert_eq!(shape_bytes(&[], 8), Some(Bytes(1)));
        assert_eq!(shape_bytes(&[u64::MAX, 2], 8), None);
    }
}
