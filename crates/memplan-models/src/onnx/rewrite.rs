//! Writes a model with other nodes in its graph.
//!
//! A [`Rewrite`] says which ops run and on which tensors. The new file is the old one with other nodes: weights and
//! everything else stay where they are, and are not loaded.
//!
//! ```text
//!   old    header | node node node | weights, inputs, outputs | rest
//!   new    header | constants of nodes | node, slice, node, … | weights, inputs, outputs | rest
//! ```
//!
//! The reader folds nodes that compute constants, so these nodes are no ops of the graph. In the new file they stand in
//! front of all other nodes. A new slice takes its numbers from constants, or from attributes before version 10 of the
//! operators. It names only the dimensions that it cuts, so that the model still works if another dimension, such as
//! the batch, has a different size than it was planned for.

use std::collections::{BTreeMap, BTreeSet};

use memplan_core::Id;

use super::build::Builder;
use super::draft::element_number;
use super::nodes::{self, File, Node, Range};
use crate::ReadError;
use crate::graph::rewrite::{Copied, NewOp, Padding, Rewrite};
use crate::graph::{Graph, TensorId};
use crate::source::{Piece, ReadAt, Window};

/// The pieces of the new file: ranges of the old one and new bytes. `graph` is the main graph as it was read;
/// `places` has, for each op of `graph`, the number of its node in the file.
pub fn pieces(
    source: &dyn ReadAt,
    graph: &Graph,
    places: &[usize],
    rewrite: &Rewrite,
) -> Result<Vec<Piece>, ReadError> {
    let file = nodes::read(source)?;
    let mut writer = Writer::new(source, &file, graph, places, rewrite);
    let mut new = Vec::new();
    for op in &rewrite.ops {
        new.push(writer.op(op)?);
    }
    // Nodes that compute constants are no ops of the graph. They stay, in front of the ops that read the constants.
    let is_op: BTreeSet<usize> = places.iter().copied().collect();
    let computed = file.nodes.iter().enumerate().filter(|(place, _)| !is_op.contains(place));
    let mut content: Vec<Piece> = computed.map(|(_, node)| kept(node.bytes)).collect();
    content.extend(writer.constants());
    content.extend(writer.shapes());
    content.extend(new);
    content.extend(file.others.iter().map(|(_, bytes)| kept(*bytes)));
    // In front of its content a graph has its tag and its length. Both are written anew, because the length has
    // changed.
    let length = content.iter().map(length).sum();
    let mut pieces = vec![kept(Range { start: 0, end: file.graph_field })];
    pieces.push(Piece::Bytes(Builder::default().announce(GRAPH, length).finish()));
    pieces.extend(content);
    pieces.push(kept(Range { start: file.graph.end, end: source.size() }));
    Ok(pieces)
}

// The numbers of the fields that are written. `GRAPH` is a field of the file; `NODE`, `INITIALIZER` and `VALUE_INFO`
// are fields of a graph. Each module has the fields of the message that it is named after; `value_info` also has those
// of the messages inside of it. `TYPE_INT`, `TYPE_INTS` and `INT64` are no fields but values of the fields `TYPE`.
const GRAPH: u64 = 7;
const NODE: u64 = 1;
const INITIALIZER: u64 = 5;
const VALUE_INFO: u64 = 13;
mod node {
    pub(super) const INPUT: u64 = 1;
    pub(super) const OUTPUT: u64 = 2;
    pub(super) const NAME: u64 = 3;
    pub(super) const KIND: u64 = 4;
    pub(super) const ATTRIBUTE: u64 = 5;
    pub(super) const DOMAIN: u64 = 7;
}
mod attribute {
    pub(super) const NAME: u64 = 1;
    pub(super) const INT: u64 = 3;
    pub(super) const INTS: u64 = 8;
    pub(super) const TYPE: u64 = 20;
    pub(super) const TYPE_INT: i64 = 2;
    pub(super) const TYPE_INTS: i64 = 7;
}
mod value_info {
    pub(super) const NAME: u64 = 1;
    pub(super) const TYPE: u64 = 2;
    pub(super) const TENSOR: u64 = 1;
    pub(super) const ELEMENT: u64 = 1;
    pub(super) const SHAPE: u64 = 2;
    pub(super) const DIMENSION: u64 = 1;
    pub(super) const NUMBER: u64 = 1;
}
mod tensor {
    pub(super) const DIMENSION: u64 = 1;
    pub(super) const TYPE: u64 = 2;
    pub(super) const NAME: u64 = 8;
    pub(super) const RAW: u64 = 9;
    pub(super) const INT64: i64 = 7;
}

/// From this version of the operators on, a slice reads where it starts and ends from inputs. Before, these were
/// attributes.
const SLICE_READS: i64 = 10;

/// A range of the old file that is copied as it is.
fn kept(range: Range) -> Piece {
    Piece::Kept { start: range.start, end: range.end }
}

/// How many bytes a piece has in the new file.
fn length(piece: &Piece) -> u64 {
    match piece {
        Piece::Bytes(bytes) => bytes.len() as u64,
        Piece::Kept { start, end } => end.saturating_sub(*start),
    }
}

/// Writes the nodes of the new file.
struct Writer<'a> {
    /// The old file.
    window: Window<'a>,
    /// Its parts.
    file: &'a File,
    /// Its main graph as it was read.
    graph: &'a Graph,
    /// The number of the node of each op.
    places: &'a [usize],
    /// The change.
    rewrite: &'a Rewrite,
    /// The names of the new tensors, in their order.
    names: Vec<String>,
    /// Lists of numbers that new nodes read, each with the name of the constant that holds it.
    numbers: BTreeMap<Vec<i64>, String>,
    /// Names that are in use.
    taken: BTreeSet<String>,
}

impl<'a> Writer<'a> {
    /// Collects the names that the file uses, so that new tensors get names of their own.
    fn new(
        source: &'a dyn ReadAt,
        file: &'a File,
        graph: &'a Graph,
        places: &'a [usize],
        rewrite: &'a Rewrite,
    ) -> Writer<'a> {
        let named = file.nodes.iter().flat_map(|node| node.inputs.iter().chain(&node.outputs).chain(&node.captures));
        let taken: BTreeSet<String> =
            named.chain(file.constants.keys()).chain(&file.inputs).chain(&file.outputs).cloned().collect();
        let window = Window::new(source);
        let mut writer =
            Writer { window, file, graph, places, rewrite, names: Vec::new(), numbers: BTreeMap::new(), taken };
        // In an ONNX file a tensor is known by its name, so new tensors need names that no other tensor has.
        writer.names = rewrite.tensors.iter().map(|tensor| unique(&mut writer.taken, &tensor.name)).collect();
        writer
    }

    /// The name of a tensor. The ids of new tensors follow those of the graph.
    fn name(&self, tensor: TensorId) -> &str {
        match tensor.index().checked_sub(self.graph.tensors.len()) {
            None => &self.graph.tensors[tensor].name,
            Some(new) => self.names.get(new).map_or("", String::as_str),
        }
    }

    /// The bytes of one op of the new model: copied from the file, or written anew.
    fn op(&mut self, op: &NewOp) -> Result<Piece, ReadError> {
        Ok(match op {
            NewOp::Kept(op) => kept(self.old(op.index())?.bytes),
            NewOp::Copy(copied) => self.copied(copied)?,
            NewOp::Slice { input, output, begin } => self.slice(*input, *output, begin),
            NewOp::Concat { inputs, output, axis } => {
                let inputs: Vec<&str> = inputs.iter().map(|&input| self.name(input)).collect();
                let axis = int("axis", i64::try_from(*axis).unwrap_or(0));
                plain("Concat", &inputs, self.name(*output), &[axis])
            }
            // A node of ONNX says its own padding, so a rewrite of an ONNX model never needs an op that pads.
            NewOp::Pad { .. } => {
                return Err(ReadError::at_byte("onnx::border", 0, "borders are stated by the nodes themselves"));
            }
        })
    }

    /// The node of an op of the old graph.
    fn old(&self, op: usize) -> Result<&'a Node, ReadError> {
        let place = self.places.get(op).and_then(|&place| self.file.nodes.get(place));
        place.ok_or_else(|| ReadError::at_byte("onnx::bad-index", 0, format!("there is no node for op {op}")))
    }

    /// The bytes of a new node that takes a part of a tensor: from the element at `begin` (a position in each
    /// dimension), as many elements as the output holds. The node does not name dimensions in which input and output
    /// are equally long.
    fn slice(&mut self, input: TensorId, output: TensorId, begin: &[u64]) -> Piece {
        let (from, to) = (self.rewrite.shape(self.graph, input), self.rewrite.shape(self.graph, output));
        let cut: Vec<usize> = (0..begin.len()).filter(|&axis| from.get(axis) != to.get(axis)).collect();
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let starts: Vec<i64> = cut.iter().map(|&axis| number(begin[axis])).collect();
        let ends: Vec<i64> = cut.iter().map(|&axis| number(begin[axis].saturating_add(to[axis]))).collect();
        let axes: Vec<i64> = cut.iter().map(|&axis| number(axis as u64)).collect();
        if self.file.opset < SLICE_READS {
            let attributes = [("starts", starts), ("ends", ends), ("axes", axes)].map(|(name, list)| ints(name, &list));
            return plain("Slice", &[self.name(input)], self.name(output), &attributes);
        }
        let lists = [starts, ends, axes].map(|list| self.list(list));
        let inputs = [self.name(input), &lists[0], &lists[1], &lists[2]];
        plain("Slice", &inputs, self.name(output), &[])
    }

    /// The name of the constant that holds a list of numbers. Equal lists share one constant.
    fn list(&mut self, numbers: Vec<i64>) -> String {
        if let Some(known) = self.numbers.get(&numbers) {
            return known.clone();
        }
        let name = unique(&mut self.taken, &format!("numbers#{}", self.numbers.len()));
        self.numbers.insert(numbers, name.clone());
        name
    }

    /// The bytes of an old node that reads and writes other tensors and may have another padding. The bodies of a node
    /// are copied as they are and read the tensors of the old graph, whatever `copied` says of these: the content is the
    /// same.
    fn copied(&mut self, copied: &Copied) -> Result<Piece, ReadError> {
        let old = self.old(copied.op.index())?;
        let op = &self.graph.ops[copied.op];
        // `copied.read(input)` is the tensor that the copy reads in the place of `input`.
        // The new name of each tensor that the node reads. Names that are no inputs of the op, such as the empty name
        // of an input that is left out, stay as they are.
        let renamed: BTreeMap<&str, &str> =
            op.inputs.iter().map(|&input| (self.name(input), self.name(copied.read(input)))).collect();
        let mut inputs: Vec<String> =
            old.inputs.iter().map(|input| renamed.get(input.as_str()).copied().unwrap_or(input).to_owned()).collect();
        // An output that is left out has the empty name in the list and no tensor; the copy must leave it out, too.
        let mut written = copied.outputs.iter().map(|&output| self.name(output).to_owned());
        let mut outputs: Vec<String> = Vec::new();
        for old in &old.outputs {
            outputs.push(if old.is_empty() { String::new() } else { written.next().unwrap_or_default() });
        }
        // An input that says how large the output is, such as that of a resize, must say the size of the new output.
        if let Some((input, content)) = &copied.size {
            let name = self.list(content.iter().map(|&number| i64::from(number)).collect());
            if let Some(input) = inputs.get_mut(*input) {
                *input = name;
            }
        }
        let mut message = Builder::default();
        inputs.iter().for_each(|input| _ = message.text(node::INPUT, input));
        outputs.iter().for_each(|output| _ = message.text(node::OUTPUT, output));
        // Several copies of one node need different names. The first output that is there belongs to this copy only.
        if !old.name.is_empty() {
            let first = outputs.iter().find(|output| !output.is_empty());
            message.text(node::NAME, &format!("{}@{}", old.name, first.map_or("", String::as_str)));
        }
        message.text(node::KIND, &old.kind);
        if !old.domain.is_empty() {
            message.text(node::DOMAIN, &old.domain);
        }
        // `before` and `after` are the padding of rows and of columns; ONNX lists both starts before both ends.
        let padding = match copied.padding {
            Padding::Unchanged => None,
            Padding::Explicit { before, after } => Some([before[0], before[1], after[0], after[1]]),
        };
        // A node that gets new padding must not keep the attributes that state the old one.
        for attribute in old.attributes.iter().filter(|attribute| padding.is_none() || !says_padding(&attribute.name)) {
            let Range { start, end } = attribute.bytes;
            message.raw(&self.window.bytes(start, end - start)?);
        }
        if let Some(numbers) = padding {
            let numbers: Vec<i64> = numbers.iter().map(|&number| i64::try_from(number).unwrap_or(i64::MAX)).collect();
            message.bytes(node::ATTRIBUTE, &ints("pads", &numbers));
        }
        Ok(Piece::Bytes(Builder::default().bytes(NODE, &message.finish()).finish()))
    }

    /// Statements of the shapes of new tensors that the reader cannot infer: those that a resize writes. The factors of
    /// a resize are an input of floats, whose content the reader does not know.
    fn shapes(&self) -> Vec<Piece> {
        self.rewrite.ops.iter().filter_map(|op| self.shape_of_resized(op)).collect()
    }

    /// The statement of the shape of the new tensor that an op writes. `None` if the op is no copy of a resize, or if
    /// it writes a tensor of the old graph.
    fn shape_of_resized(&self, op: &NewOp) -> Option<Piece> {
        let known = self.graph.tensors.len();
        let NewOp::Copy(copied) = op else { return None };
        let is_resize = matches!(self.graph.ops[copied.op].kind.as_str(), "Resize" | "Upsample");
        let &output = copied.outputs.first().filter(|output| is_resize && output.index() >= known)?;
        let tensor = self.rewrite.tensors.get(output.index() - known)?;
        let element = element_number(self.graph.tensors[tensor.like].element)?;
        Some(value_info(self.name(output), element, &tensor.shape))
    }

    /// The constants that new nodes read.
    fn constants(&self) -> Vec<Piece> {
        self.numbers.iter().map(|(numbers, name)| constant(numbers, name)).collect()
    }
}

/// The statement of a tensor's element type and shape, as a field of the graph.
fn value_info(name: &str, element: i64, shape: &[u64]) -> Piece {
    let mut dimensions = Builder::default();
    for &number in shape {
        let number = Builder::default().number(value_info::NUMBER, i64::try_from(number).unwrap_or(i64::MAX)).finish();
        dimensions.bytes(value_info::DIMENSION, &number);
    }
    let mut tensor = Builder::default();
    tensor.number(value_info::ELEMENT, element).bytes(value_info::SHAPE, &dimensions.finish());
    let kind = Builder::default().bytes(value_info::TENSOR, &tensor.finish()).finish();
    let mut message = Builder::default();
    message.text(value_info::NAME, name).bytes(value_info::TYPE, &kind);
    Piece::Bytes(Builder::default().bytes(VALUE_INFO, &message.finish()).finish())
}

/// The first name among `name`, `name#2`, `name#3`, … that is not in `taken`. The name is added to `taken`.
fn unique(taken: &mut BTreeSet<String>, name: &str) -> String {
    let numbered = (2..).map(|number| format!("{name}#{number}"));
    let free = std::iter::once(name.to_owned()).chain(numbered).find(|name| !taken.contains(name));
    let free = free.unwrap_or_default();
    taken.insert(free.clone());
    free
}

/// The bytes of a new node of a standard operator; `attributes` are messages as `int` and `ints` make them.
fn plain(kind: &str, inputs: &[&str], output: &str, attributes: &[Vec<u8>]) -> Piece {
    let mut message = Builder::default();
    inputs.iter().for_each(|input| _ = message.text(node::INPUT, input));
    message.text(node::OUTPUT, output).text(node::NAME, &format!("{kind}@{output}")).text(node::KIND, kind);
    attributes.iter().for_each(|attribute| _ = message.bytes(node::ATTRIBUTE, attribute));
    Piece::Bytes(Builder::default().bytes(NODE, &message.finish()).finish())
}

/// An attribute that is a number.
fn int(name: &str, number: i64) -> Vec<u8> {
    let mut message = Builder::default();
    message.text(attribute::NAME, name).number(attribute::INT, number);
    message.number(attribute::TYPE, attribute::TYPE_INT).finish()
}

/// An attribute that is a list of numbers.
fn ints(name: &str, numbers: &[i64]) -> Vec<u8> {
    let mut message = Builder::default();
    message.text(attribute::NAME, name);
    numbers.iter().for_each(|&number| _ = message.number(attribute::INTS, number));
    message.number(attribute::TYPE, attribute::TYPE_INTS).finish()
}

/// A constant that is a list of whole numbers, as a field of the graph. Nodes refer to it by its name.
fn constant(numbers: &[i64], name: &str) -> Piece {
    let content: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let mut message = Builder::default();
    message.number(tensor::DIMENSION, numbers.len() as i64);
    message.number(tensor::TYPE, tensor::INT64);
    message.text(tensor::NAME, name);
    message.bytes(tensor::RAW, &content);
    Piece::Bytes(Builder::default().bytes(INITIALIZER, &message.finish()).finish())
}

/// Whether an attribute of this name says how the input of a node is padded.
fn says_padding(name: &str) -> bool {
    matches!(name, "pads" | "auto_pad")
}
