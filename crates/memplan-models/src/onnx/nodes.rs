//! Nodes and constants of an `.onnx` file as they stand in it, with the bytes of each part.
//!
//! [`read`](super::read()) makes a network of a file, with shapes that it infers. This module only says which parts
//! the file has and which bytes they are. Two modules need that. [`rewrite`](super::rewrite) copies nodes and
//! attributes into a changed file. [`description`](super::description) describes a file completely, so that a proof
//! can compare a changed file with the original.
//!
//! A file consists of messages, and a message of numbered fields. These are the numbers that are read here:
//!
//! ```text
//! ModelProto      graph 7, opset_import 8
//! OperatorSetId   domain 1, version 2
//! GraphProto      node 1, initializer 5, input 11, output 12
//! NodeProto       input 1, output 2, name 3, op_type 4, attribute 5, domain 7
//! AttributeProto  name 1, i 3, s 4, t 5, g 6, ints 8, graphs 11
//! TensorProto     data_type 2, float_data 4, int32_data 5, int64_data 7, name 8, raw_data 9, doc_string 12
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::wire::{Field, Message, Value};
use crate::ReadError;
use crate::source::{ReadAt, Window};

/// The numbers of a constant are read if they take at most this many bytes of the file. Only the numbers of shapes,
/// factors and borders are used, and those constants are short; longer ones are weights.
const SHORT: u64 = 1 << 12;

/// The main graph of a file.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// The version of the standard operators.
    pub opset: i64,
    /// The byte of the file at which the field with the graph starts, tag included.
    pub(super) graph_field: u64,
    /// The content of that field, without its tag and its length.
    pub(super) graph: Range,
    /// The fields of the graph other than nodes, in the order of the file: the number of the field, and its bytes.
    pub(super) others: Vec<(u64, Range)>,
    /// The fields of the file other than the graph, in the order of the file.
    pub(super) around: Vec<Range>,
    /// The nodes, in the order of the file.
    pub nodes: Vec<Node>,
    /// Initialisers by name. An initialiser that is the default of an input is left out, because a caller may replace
    /// it.
    pub constants: BTreeMap<String, Constant>,
    /// The names of the graph's inputs.
    pub(super) inputs: Vec<String>,
    /// The names of the graph's outputs.
    pub(super) outputs: Vec<String>,
    /// The fields of the graph that describe its inputs and outputs, in the order of the file.
    pub(super) interface: Vec<Range>,
}

/// Bytes of a file: those from `start` up to, but not including, `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) start: u64,
    pub(super) end: u64,
}

/// A node: one call of an operator, with the names of the tensors that it reads and writes.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// Its operator.
    pub kind: String,
    /// The set of operators that it belongs to; empty for the standard ones.
    pub domain: String,
    /// Its name.
    pub name: String,
    /// What it reads; an empty name stands for nothing.
    pub inputs: Vec<String>,
    /// What it writes; an empty name stands for an output that is left out.
    pub outputs: Vec<String>,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// The names that its bodies read or give as results. These are tensors of the bodies, and tensors of the graph
    /// around the node.
    pub captures: BTreeSet<String>,
    /// It has bodies.
    pub has_bodies: bool,
    /// The bytes of the whole field, with its tag.
    pub(super) bytes: Range,
}

/// An attribute of a node. Only the field for the type of its value is set. A value of another type, such as a float,
/// is kept as bytes only.
#[derive(Clone, Debug, Default)]
pub struct Attribute {
    /// Its name.
    pub name: String,
    /// Its value, if that is a whole number; else 0.
    pub int: i64,
    /// Its value, if that is a text; else empty.
    pub text: String,
    /// Its value, if that is a list of whole numbers; else empty.
    pub ints: Vec<i64>,
    /// Its value, if that is a tensor.
    pub tensor: Option<Constant>,
    /// The bytes of the whole field, with its tag.
    pub(super) bytes: Range,
}

/// A constant.
#[derive(Clone, Debug, Default)]
pub struct Constant {
    /// Its content, if its elements are integers of 32 or 64 bits. `None` also if the content is not read: it is long,
    /// or it lies in another file.
    pub integers: Option<Vec<i64>>,
    /// Its content, if its elements are floats of 32 bits. `None` also if the content is not read.
    pub floats: Option<Vec<f32>>,
    /// The bytes of all its fields but its name and its description for people.
    pub(super) bytes: Vec<Range>,
}

impl File {
    /// The constant of this name: an initialiser of the graph, or the value of a node `Constant`.
    pub fn constant(&self, name: &str) -> Option<&Constant> {
        // The value of the node `Constant` that writes a tensor of this name, if there is such a node.
        let made = || {
            let makes = |node: &&Node| node.kind == "Constant" && node.is_standard() && node.outputs == [name];
            self.nodes.iter().find(makes)?.attribute("value")?.tensor.as_ref()
        };
        self.constants.get(name).or_else(made)
    }
}

impl Node {
    /// The attribute of this name, if the node has it.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }

    /// The attribute of this name as a number; `default` if the node does not have it.
    pub fn int(&self, name: &str, default: i64) -> i64 {
        self.attribute(name).map_or(default, |attribute| attribute.int)
    }

    /// The attribute of this name as a text; `default` if the node does not have it.
    pub fn text<'a>(&'a self, name: &str, default: &'a str) -> &'a str {
        self.attribute(name).map_or(default, |attribute| attribute.text.as_str())
    }

    /// Whether its operator is one of ONNX itself.
    pub fn is_standard(&self) -> bool {
        self.domain.is_empty() || self.domain == "ai.onnx"
    }
}

/// Reads the main graph of a file.
pub fn read(source: &dyn ReadAt) -> Result<File, ReadError> {
    let window = Window::new(source);
    let whole = Message::whole(&window);
    let mut file = File::default();
    let mut graph = None;
    for (field, bytes) in fields(whole)? {
        // Field 7 is the graph and field 8 the version of a domain. Everything but the graph is copied as it is.
        match field.number {
            7 => {
                let message = field.value.message(whole);
                (file.graph_field, file.graph) = (bytes.start, Range { start: message.start, end: message.end });
                graph = Some(message);
            }
            8 => {
                let (domain, version) = opset(field.value.message(whole))?;
                if domain.is_empty() || domain == "ai.onnx" {
                    file.opset = version;
                }
                file.around.push(bytes);
            }
            _ => file.around.push(bytes),
        }
    }
    let Some(graph) = graph else {
        return Err(ReadError::at_byte("onnx::no-graph", 0, "there is no graph in the file"));
    };
    read_graph(&mut file, graph)?;
    Ok(file)
}

/// Reads the nodes, constants, inputs and outputs of a graph. The bytes of every field but the nodes go into
/// `file.others`, because a changed file gets a copy of them and the proof has to see them.
fn read_graph(file: &mut File, graph: Message) -> Result<(), ReadError> {
    for (field, bytes) in fields(graph)? {
        let message = field.value.message(graph);
        match field.number {
            1 => file.nodes.push(node(message, bytes)?),
            5 => {
                let (name, constant) = constant(message)?;
                file.constants.insert(name, constant);
            }
            11 | 12 => {
                let name = first_text(message, 1)?;
                let names = if field.number == 11 { &mut file.inputs } else { &mut file.outputs };
                names.push(name);
                file.interface.push(bytes);
            }
            // The shapes of inner tensors (13), texts for people and so on: these are only copied, below.
            _ => {}
        }
        if field.number != 1 {
            file.others.push((field.number, bytes));
        }
    }
    // A caller may give another value to an input that has a default. So it is no constant.
    for input in &file.inputs {
        file.constants.remove(input);
    }
    Ok(())
}

/// The fields of a message with their bytes, tags included: a field ends where the next one starts.
fn fields<'w, 'a>(message: Message<'w, 'a>) -> Result<Vec<(Field<'w, 'a>, Range)>, ReadError> {
    let fields = message.fields().collect::<Result<Vec<_>, _>>()?;
    let ends = fields.iter().skip(1).map(|field| field.start).chain([message.end]).collect::<Vec<_>>();
    Ok(fields.into_iter().zip(ends).map(|(field, end)| (field, Range { start: field.start, end })).collect())
}

/// The text in the first field of this number; empty if the message does not have it.
fn first_text(message: Message, number: u64) -> Result<String, ReadError> {
    for field in message.fields() {
        let field = field?;
        if field.number == number {
            return field.value.text();
        }
    }
    Ok(String::new())
}

/// A domain and the version of its operators.
pub(super) fn opset(message: Message) -> Result<(String, i64), ReadError> {
    let mut version = 0;
    for field in message.fields() {
        let field = field?;
        if field.number == 2 {
            version = field.value.signed();
        }
    }
    Ok((first_text(message, 1)?, version))
}

/// Reads one node. `bytes` is the whole field of the node, tag included: a rewrite copies these bytes.
fn node(message: Message, bytes: Range) -> Result<Node, ReadError> {
    let mut node = Node { bytes, ..Node::default() };
    for (field, bytes) in fields(message)? {
        match field.number {
            1 => node.inputs.push(field.value.text()?),
            2 => node.outputs.push(field.value.text()?),
            3 => node.name = field.value.text()?,
            4 => node.kind = field.value.text()?,
            5 => {
                let message = field.value.message(message);
                let attribute = attribute(message, bytes, &mut node)?;
                node.attributes.push(attribute);
            }
            7 => node.domain = field.value.text()?,
            // A text for people (6), which runtimes ignore, and fields of newer versions, which nothing here uses.
            _ => {}
        }
    }
    Ok(node)
}

/// Reads one attribute of `node`. If the value is a graph or a list of graphs, as in a loop or a branch, the node gets
/// `has_bodies`, and the names that the graphs mention are added to its `captures`.
fn attribute(message: Message, bytes: Range, node: &mut Node) -> Result<Attribute, ReadError> {
    let mut attribute = Attribute { bytes, ..Attribute::default() };
    for field in message.fields() {
        let field = field?;
        match field.number {
            // The fields of `AttributeProto`: name, i, s, t, ints.
            1 => attribute.name = field.value.text()?,
            3 => attribute.int = field.value.signed(),
            4 => attribute.text = field.value.text()?,
            5 => attribute.tensor = Some(constant(field.value.message(message))?.1),
            8 => field.value.push_signed(&mut attribute.ints)?,
            // g is a graph. graphs is a list of graphs, with one field for each.
            6 | 11 => {
                node.has_bodies = true;
                // Bodies may have nodes with bodies again. `open` holds the graphs that are still to be read.
                let mut open = vec![field.value.message(message)];
                while let Some(graph) = open.pop() {
                    mentioned(graph, &mut node.captures, &mut open)?;
                }
            }
            // Floats, lists of texts and all others decide nothing about places of elements. `bytes` keeps them, so
            // they are copied and compared.
            _ => {}
        }
    }
    Ok(attribute)
}

/// Adds to `names` what the nodes of a body read, and the outputs of the body. The bodies of these nodes are added to
/// `bodies`, for the caller to read next.
fn mentioned<'w, 'a>(
    graph: Message<'w, 'a>,
    names: &mut BTreeSet<String>,
    bodies: &mut Vec<Message<'w, 'a>>,
) -> Result<(), ReadError> {
    for field in graph.fields() {
        let field = field?;
        let message = field.value.message(graph);
        // Field 1 of a graph is a node, with its inputs in field 1 and its attributes in field 5. The fields 6 and 11
        // of an attribute are graphs. Field 12 of a graph is one of its outputs.
        match field.number {
            1 => {
                for entry in message.fields() {
                    let entry = entry?;
                    match entry.number {
                        1 => drop(names.insert(entry.value.text()?)),
                        5 => {
                            let attribute = entry.value.message(message);
                            for part in attribute.fields() {
                                let part = part?;
                                if matches!(part.number, 6 | 11) {
                                    bodies.push(part.value.message(attribute));
                                }
                            }
                        }
                        // What the node writes, its kind and its name mention no tensor of the graph around.
                        _ => {}
                    }
                }
            }
            12 => drop(names.insert(first_text(message, 1)?)),
            // Inputs and constants of the body are its own tensors.
            _ => {}
        }
    }
    Ok(())
}

/// The numbers of the element types whose content is read.
const FLOAT: i64 = 1;
const INT32: i64 = 6;
const INT64: i64 = 7;

/// Reads a constant: its name, the bytes that a proof compares, and its numbers if they are few. A file has the numbers
/// either in a field for their type (4 floats, 5 integers of 32 bits, 7 integers of 64 bits) or as raw bytes (9).
fn constant(message: Message) -> Result<(String, Constant), ReadError> {
    let mut constant = Constant::default();
    let (mut name, mut element) = (String::new(), 0);
    let (mut floats, mut integers, mut raw) = (Vec::new(), Vec::new(), None);
    let mut dimensions = Vec::new();
    for (field, bytes) in fields(message)? {
        // A list of numbers is one packed field, or has a field for each number. A single number is always short.
        let is_short = matches!(field.value, Value::Bytes(part) if part.len() <= SHORT) || !is_list(field.value);
        match field.number {
            1 if is_short => field.value.push_signed(&mut dimensions)?,
            2 => element = field.value.signed(),
            4 if is_short => field.value.push_floats(&mut floats)?,
            5 | 7 if is_short => field.value.push_signed(&mut integers)?,
            8 => name = field.value.text()?,
            9 if is_short => {
                let part = field.value.message(message);
                raw = Some(part.window.bytes(part.start, part.len())?);
            }
            // Long lists, shapes and other fields are compared as bytes, and their content is not needed.
            _ => {}
        }
        // Field 8 is the name and field 12 a text for people. Neither changes what is computed.
        if !matches!(field.number, 8 | 12) {
            constant.bytes.push(bytes);
        }
    }
    let raw = raw.unwrap_or_default();
    // Either the list of numbers or `raw` is empty, because a file has only one of them. So the numbers of both are put
    // together. The content was read completely if there are as many numbers as the shape has elements.
    let count = dimensions.iter().try_fold(1_i64, |count, &length| count.checked_mul(length));
    let count = count.and_then(|count| usize::try_from(count).ok());
    match element {
        FLOAT => {
            floats.extend(fours(&raw).map(f32::from_le_bytes));
            constant.floats = Some(floats).filter(|floats| Some(floats.len()) == count);
        }
        INT32 => {
            integers.extend(fours(&raw).map(|n| i64::from(i32::from_le_bytes(n))));
            constant.integers = Some(integers).filter(|integers| Some(integers.len()) == count);
        }
        INT64 => {
            integers.extend(raw.chunks_exact(8).map(|n| i64::from_le_bytes(std::array::from_fn(|i| n[i]))));
            constant.integers = Some(integers).filter(|integers| Some(integers.len()) == count);
        }
        // Nothing that decides about places of elements has another type.
        _ => {}
    }
    Ok((name, constant))
}

/// The bytes in groups of four, as they encode numbers of 32 bits.
fn fours(raw: &[u8]) -> impl Iterator<Item = [u8; 4]> {
    raw.chunks_exact(4).map(|n| [n[0], n[1], n[2], n[3]])
}

/// Whether a value is a packed list (or a text), and not a single number.
fn is_list(value: Value) -> bool {
    matches!(value, Value::Bytes(_))
}
