//! A graph in which some ops were replaced by others: everything that is needed to write the changed model. In this way
//! a large op is split into several ops that each compute a part of its result, with less memory.
//!
//! A [`Rewrite`] lists the ops of the first graph in their new order. An op stays as it is, or is copied with other
//! tensors and other padding, or is new: a slice, a padding, a concatenation. Old tensors keep their ids. New tensors
//! have the next ids, and each has the element type and quantisation of an old tensor and a shape of its own:
//!
//! ```text
//!   before   in ──conv──► a                            Kept(conv)
//!
//!   after    in ──slice──► t0 ──conv──► t1 ─┐          Slice, Copy(conv)
//!            in ──slice──► t2 ──conv──► t3 ─┴──► a     Slice, Copy(conv), Concat
//! ```
//!
//! A rewrite knows nothing of file formats. [`tflite::rewrite`](crate::tflite::rewrite) and
//! [`onnx::rewrite`](crate::onnx::rewrite) write the changed file.

use memplan_core::Id;

use super::{Graph, OpId, TensorId};

/// The ops of a graph after a change, and the tensors that came to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rewrite {
    /// New tensors; their ids follow those of the graph.
    pub tensors: Vec<NewTensor>,
    /// All ops in their new order.
    pub ops: Vec<NewOp>,
}

/// A tensor that came to a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTensor {
    /// The tensor whose element type and quantisation it has.
    pub like: TensorId,
    /// Its dimensions.
    pub shape: Vec<u64>,
    /// Its name.
    pub name: String,
}

/// An op of a changed graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewOp {
    /// An op as it is.
    Kept(OpId),
    /// An op of the graph that reads and writes other tensors.
    Copy(Copied),
    /// A part of a tensor: from the position `begin`, as many elements as the output holds.
    Slice {
        /// What is cut.
        input: TensorId,
        /// The part.
        output: TensorId,
        /// The first position, by dimension.
        begin: Vec<u64>,
    },
    /// A tensor with a border around it. `before` is the width of the border at the start of each dimension; the shape
    /// of the output decides how wide it is at the end.
    Pad {
        /// What gets a border.
        input: TensorId,
        /// The input with the border.
        output: TensorId,
        /// Elements of the border at the start of each dimension.
        before: Vec<u64>,
        /// What the border holds.
        fill: Fill,
    },
    /// Tensors joined along one dimension.
    Concat {
        /// The tensors, in the order in which they follow one another.
        inputs: Vec<TensorId>,
        /// The joined tensor.
        output: TensorId,
        /// The dimension along which they follow one another.
        axis: usize,
    },
}

/// An op of the graph that reads and writes other tensors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    /// The op.
    pub op: OpId,
    /// Pairs of a tensor that the op reads in the old graph and the tensor that the copy reads instead. It reads all
    /// others as before.
    pub reads: Vec<(TensorId, TensorId)>,
    /// What it writes.
    pub outputs: Vec<TensorId>,
    /// Its padding.
    pub padding: Padding,
    /// For an op with an input that states the size of its output (a resize): the number of that input in the file, and
    /// what it shall hold now.
    pub size: Option<(usize, Vec<i32>)>,
}

/// The padding of a copied op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// As it was.
    Unchanged,
    /// The given numbers of elements, for height and for width.
    Explicit {
        /// Elements of padding at the start: at the top, on the left.
        before: [u64; 2],
        /// Elements of padding at the end: at the bottom, on the right.
        after: [u64; 2],
    },
}

impl Padding {
    /// No padding at all.
    pub const NONE: Padding = Padding::Explicit { before: [0, 0], after: [0, 0] };
}

/// What a border holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Zero, as the tensor's quantisation stores it: it adds nothing to a sum of products.
    Zero,
    /// The lowest number of the element type: it never changes a maximum.
    Lowest,
}

impl Rewrite {
    /// The rewrite that changes nothing.
    pub fn unchanged(graph: &Graph) -> Rewrite {
        Rewrite { tensors: Vec::new(), ops: graph.ops.ids().map(NewOp::Kept).collect() }
    }

    /// The shape of an old or a new tensor.
    pub fn shape<'a>(&'a self, graph: &'a Graph, tensor: TensorId) -> &'a [u64] {
        match graph.tensors.get(tensor) {
            Some(old) => &old.shape,
            None => &self.tensors[tensor.index() - graph.tensors.len()].shape,
        }
    }
}

impl NewOp {
    /// What it reads. Constants that a file format needs in addition, such as the limits of a slice, are not listed.
    pub fn inputs<'a>(&'a self, graph: &'a Graph) -> Vec<TensorId> {
        match self {
            NewOp::Kept(op) => graph.ops[*op].inputs.clone(),
            NewOp::Copy(copied) => graph.ops[copied.op].inputs.iter().map(|&input| copied.read(input)).collect(),
            NewOp::Slice { input, .. } | NewOp::Pad { input, .. } => vec![*input],
            NewOp::Concat { inputs, .. } => inputs.clone(),
        }
    }

    /// What it writes.
    pub fn outputs<'a>(&'a self, graph: &'a Graph) -> &'a [TensorId] {
        match self {
            NewOp::Kept(op) => &graph.ops[*op].outputs,
            NewOp::Copy(copied) => &copied.outputs,
            NewOp::Slice { output, .. } | NewOp::Pad { output, .. } | NewOp::Concat { output, .. } => {
                std::slice::from_ref(output)
            }
        }
    }
}

impl Copied {
    /// The tensor that the copy reads where the op reads `tensor`.
    pub fn read(&self, tensor: TensorId) -> TensorId {
        self.reads.iter().find(|(old, _)| *old == tensor).map_or(tensor, |(_, new)| *new)
    }
}
