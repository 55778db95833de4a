//! The network that is to be changed: its graph, what its ops compute, and what its file format can say.

use memplan_core::{Bytes, Id};
use memplan_models::graph::rewrite::NewTensor;
use memplan_models::graph::{Graph, Home, OpId, TensorId};

use crate::layer::Layer;

/// A network.
#[derive(Clone, Debug)]
pub struct Net<'g> {
    /// Its graph.
    pub graph: &'g Graph,
    /// A layer for each op.
    pub layers: Vec<Layer>,
    /// What can be said in its format.
    pub dialect: Dialect,
    /// What offsets are multiples of.
    pub alignment: Bytes,
    /// Inputs may be overwritten once nobody reads them any more.
    pub reuses_inputs: bool,
}

/// What differs between formats of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// Height and width among the dimensions of an image.
    pub axes: [usize; 2],
    /// An op can say how much padding it has at each edge; otherwise it has none, or as much as the size of its output
    /// asks for.
    pub states_padding: bool,
    /// Most inputs of a concatenation.
    pub most_joined: usize,
    /// What the runtime keeps for an op of each kind and its tensors, beside what the kernel keeps.
    pub overhead: Overhead,
}

/// Bytes that a runtime keeps for what a change adds. The choice between changes goes by them; what is said of a
/// written model is computed from the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overhead {
    /// An op.
    pub op: u64,
    /// A tensor.
    pub tensor: u64,
    /// The kernel of a padding.
    pub pad: u64,
    /// The kernel of a concatenation.
    pub concat: u64,
    /// What kernels of copied ops keep counts, too.
    pub counts_kernels: bool,
}

/// Bytes that an op counts if the records of the runtime are not counted: so few that they only decide between versions
/// that need about the same memory.
const LITTLE: u64 = 8;

impl Dialect {
    /// `.tflite` models in TensorFlow Lite Micro.
    pub const TFLITE: Dialect = Dialect {
        axes: crate::tflite::AXES,
        states_padding: false,
        // The kernel has room for ten.
        most_joined: 10,
        overhead: Overhead { op: 64, tensor: 24, pad: 64, concat: 88, counts_kernels: true },
    };

    /// `.onnx` models. Nothing is known of a runtime's records, so only tensors and scratch memory count.
    pub const ONNX: Dialect = Dialect {
        axes: crate::onnx::AXES,
        states_padding: true,
        most_joined: 1 << 10,
        overhead: Overhead { op: LITTLE, tensor: 0, pad: 0, concat: 0, counts_kernels: false },
    };

    /// The same dialect for a runtime that keeps its records in a memory of their own, so that only tensors and scratch
    /// memory count. An op still costs a little, so that thousands of tiles are not taken to cost nothing.
    #[must_use]
    pub fn with_records_elsewhere(self) -> Dialect {
        Dialect { overhead: Overhead { op: LITTLE, ..Overhead::default() }, ..self }
    }
}

/// Ops in the order in which they run; some may run more than once, each time on tensors of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Tensors beside those of the graph.
    pub tensors: Vec<NewTensor>,
    /// The ops.
    pub steps: Vec<Step>,
}

/// One run of an op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The op.
    pub op: OpId,
    /// What it reads: as many tensors as the op of the graph reads, in the same order.
    pub inputs: Vec<TensorId>,
    /// What it writes.
    pub outputs: Vec<TensorId>,
}

impl Schedule {
    /// Ops of a graph in some order, each once.
    pub fn of_order(graph: &Graph, order: impl IntoIterator<Item = OpId>) -> Schedule {
        let step = |op: OpId| {
            let draft = &graph.ops[op];
            Step { op, inputs: draft.inputs.clone(), outputs: draft.outputs.clone() }
        };
        Schedule { tensors: Vec::new(), steps: order.into_iter().map(step).collect() }
    }
}

impl Net<'_> {
    /// The shape of a tensor of the graph or of a schedule. Ids of tensors of a schedule follow those of the graph.
    pub(crate) fn shape<'a>(&'a self, schedule: &'a Schedule, tensor: TensorId) -> &'a [u64] {
        match tensor.index().checked_sub(self.graph.tensors.len()) {
            None => &self.graph.tensors[tensor].shape,
            Some(new) => schedule.tensors.get(new).map_or(&[], |tensor| &tensor.shape),
        }
    }

    /// The tensor of the graph that a tensor of a schedule is a copy of.
    pub(crate) fn original(&self, schedule: &Schedule, tensor: TensorId) -> TensorId {
        let new = tensor.index().checked_sub(self.graph.tensors.len());
        new.and_then(|new| schedule.tensors.get(new)).map_or(tensor, |tensor| tensor.like)
    }

    /// Bytes that the kernel of an op keeps as long as the model is loaded; 0 where the format does not count them.
    pub(crate) fn kept(&self, op: OpId) -> u64 {
        if self.dialect.overhead.counts_kernels { self.graph.ops[op].kept.0 } else { 0 }
    }

    /// The bytes that a tensor takes in the arena, rounded up to the alignment; 0 if it is not in the arena.
    pub(crate) fn arena_bytes(&self, tensor: TensorId) -> u64 {
        let tensor = &self.graph.tensors[tensor];
        if tensor.home == Home::Arena { self.aligned(tensor.bytes.0) } else { 0 }
    }

    /// The bytes that a tensor of this shape takes in the arena; its elements are as large as those of `like`.
    pub(crate) fn bytes_like(&self, like: TensorId, shape: &[u64]) -> u64 {
        let tensor = &self.graph.tensors[like];
        let count = |shape: &[u64]| shape.iter().fold(1u64, |product, &n| product.saturating_mul(n));
        let element = tensor.bytes.0.checked_div(count(&tensor.shape)).unwrap_or(0);
        self.aligned(count(shape).saturating_mul(element))
    }

    /// A number of bytes rounded up to the alignment.
    fn aligned(&self, bytes: u64) -> u64 {
        bytes.checked_next_multiple_of(self.alignment.0.max(1)).unwrap_or(u64::MAX)
    }
}
