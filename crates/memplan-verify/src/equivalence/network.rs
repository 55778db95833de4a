//! What the check is told about a model: tensors, ops, and what the ops mean.
//!
//! A reader makes a [`Network`] of the bytes of a file. It says of each op which attributes it has and, where it knows,
//! what the op does with the *places* of elements ([`Meaning`]). It splits the attributes in two: [`Op::geometry`] are
//! those that the meaning explains (the padding of a convolution), so that another value can be right;
//! [`Op::attributes`] are all others, of which each must be the same in both models.

use std::collections::{BTreeMap, HashMap};

/// A model, or the first graph of one.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// Its tensors.
    pub tensors: Vec<Tensor>,
    /// Its ops in the order of execution.
    pub ops: Vec<Op>,
    /// Tensors that are given.
    pub inputs: Vec<usize>,
    /// Tensors that are asked for.
    pub outputs: Vec<usize>,
    /// What else callers see, such as names of inputs; must be the same in both models.
    pub interface: Vec<String>,
}

/// A tensor.
#[derive(Clone, Debug, Default)]
pub struct Tensor {
    /// Its name, for messages.
    pub name: String,
    /// Its dimensions; `None` where they are not known.
    pub shape: Option<Vec<i64>>,
    /// What a number in it stands for: the element type and the whole quantisation, as text.
    pub numbers: String,
    /// It has a quantisation for each slice along a dimension, so that a part of it is quantised in another way.
    pub is_per_axis: bool,
    /// What it holds, if it is a constant.
    pub content: Option<ContentId>,
    /// It keeps its content between runs.
    pub is_variable: bool,
}

/// An op.
#[derive(Clone, Debug, Default)]
pub struct Op {
    /// What it does, in the words of the format.
    pub kind: String,
    /// Attributes that must be the same in both models.
    pub attributes: BTreeMap<String, String>,
    /// Attributes that `meaning` explains completely.
    pub geometry: BTreeMap<String, String>,
    /// What it does with places.
    pub meaning: Meaning,
    /// What it reads; `None` for an operand that is left out.
    pub operands: Vec<Option<usize>>,
    /// What it writes; `None` for a result that is left out.
    pub results: Vec<Option<usize>>,
    /// It reads or changes something that is not among its tensors, or it is not known that it does not.
    pub has_effect: bool,
}

/// What an op does with the places of elements.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Meaning {
    /// Nothing is known: each element of a result may depend on every element of every operand.
    #[default]
    Opaque,
    /// An element of the result depends on the elements at its own place only. Dimensions are aligned at the last one,
    /// and an operand with one element along a dimension is repeated.
    Pointwise,
    /// A window slides over one operand; the other operands are read whole for each element.
    Window(Window),
    /// Each result is a part of an operand: element `i` of result `r` is element `starts[r] + i`.
    Slice {
        /// The operand.
        operand: usize,
        /// Where each result starts.
        starts: Vec<Vec<i64>>,
    },
    /// The first operand with a border: its element `i` becomes element `before + i`.
    Pad {
        /// How wide the border is in front of each dimension.
        before: Vec<i64>,
        /// The bytes of each element of the border.
        fill: Vec<u8>,
    },
    /// The operands one after the other.
    Concat {
        /// Along which dimension.
        axis: usize,
    },
}

/// How an op with a sliding window reads an operand.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    /// The operand that it slides over.
    pub operand: usize,
    /// What it does along each dimension, which are those of the result, too.
    pub axes: Vec<Axis>,
    /// The bytes of an element that counts no more than a place outside of the operand does; `None` if there is none or
    /// if it is not known.
    pub neutral: Option<Vec<u8>>,
    /// An operand that says how large the result is and nothing else. The reader has seen that it says so truly.
    pub sized_by: Option<usize>,
}

/// What a window does along a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    /// Place `i` of the result depends on place `i` of the operand.
    Along,
    /// Each place of the result may depend on every place of the operand.
    Across,
    /// Place `i` of the result depends on place `i / factor` of the operand, in the same way for the same `i % factor`.
    Repeat {
        /// How many places of the result there are for one of the operand.
        factor: i64,
    },
    /// Place `i` of the result depends on places `i * stride - before + k * dilation` for `k` below `size`. Places
    /// outside of the operand count as the op's own padding.
    Slide(Slide),
}

/// A window along a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slide {
    /// How many places it reads.
    pub size: i64,
    /// How far it moves from one place of the result to the next.
    pub stride: i64,
    /// How far two places are apart that it reads.
    pub dilation: i64,
    /// How far in front of the operand it starts.
    pub before: i64,
}

/// A constant, by what it holds: two constants are equal if and only if their numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentId(usize);

/// The contents of constants of both models. The bytes themselves are compared, not a digest of them.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    ids: HashMap<Vec<u8>, ContentId>,
}

impl Contents {
    /// The number of a content.
    pub fn id(&mut self, bytes: Vec<u8>) -> ContentId {
        let next = ContentId(self.ids.len());
        *self.ids.entry(bytes).or_insert(next)
    }
}

impl Network {
    /// Whether an op must run once, and in its turn.
    pub(super) fn has_effect(&self, op: &Op) -> bool {
        let is_variable = |tensor: &usize| self.tensors.get(*tensor).is_some_and(|tensor| tensor.is_variable);
        op.has_effect || op.operands.iter().chain(&op.results).flatten().any(is_variable)
    }
}
