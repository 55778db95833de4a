//! Writes a model with other operators in its first subgraph.
//!
//! A [`Rewrite`] says which operators run and on which tensors. New tables are written for everything that is new:
//! operators, tensors, and the constants from which slices and paddings take their numbers. All of them go in front
//! of the old file, which follows byte for byte, weights included (`envelope`). In such a file an operator names its
//! tensors by their number in the list of tensors, and a tensor names the buffer with its content by number:
//!
//! ```text
//!   operator   SLICE         inputs: [tensor, begin, size]     begin, size: constants, each content once
//!   tensor     conv[0:24]    shape: new     type, quantisation: those of `conv` in the old file
//! ```
//!
//! The runtime keeps a record for every tensor of the list, even for one that no operator uses any more. So a new
//! tensor takes the number of such an old tensor, if there is one.

use std::collections::BTreeMap;

use memplan_core::Id;

use super::attributes::Layout;
use super::envelope::Envelope;
use super::read::{field, kind};
use super::vocabulary::operator_number;
use crate::ReadError;
use crate::flatbuffer::Table;
use crate::flatbuffer::build::{Node, Value};
use crate::graph::rewrite::{Copied, Fill, NewOp, NewTensor, Padding, Rewrite};
use crate::graph::{Graph, Home, TensorId};
use crate::source::{ReadAt, Window};

/// The bytes that go in front of the old file; `graph` is its first subgraph, as it was read.
pub fn prefix(source: &dyn ReadAt, graph: &Graph, rewrite: &Rewrite) -> Result<Vec<u8>, ReadError> {
    let window = Window::new(source);
    let envelope = Envelope::open(&window)?;
    let subgraphs = envelope.root.tables(field::SUBGRAPHS)?;
    let Some(subgraph) = subgraphs.first() else {
        return Err(ReadError::at_byte("tflite::no-subgraph", envelope.root.offset(), "the model has no subgraph"));
    };
    let mut writer = Writer::new(&envelope, subgraph, graph, rewrite)?;
    // Operators are written first: `writer.operator` adds the constants and operator codes that they need to the
    // writer, and the lists of tensors, codes and buffers are complete only afterwards.
    let operators = rewrite.ops.iter().map(|op| writer.operator(op)).collect::<Result<Vec<_>, _>>()?;
    let tensors = writer.tensors()?;
    let mut fields = vec![
        (field::subgraph::TENSORS, Value::Node(Node::Nodes(tensors))),
        (field::subgraph::OPERATORS, Value::Node(Node::Nodes(operators))),
    ];
    // Inputs, outputs and the name are those of the old subgraph.
    for number in [field::subgraph::INPUTS, field::subgraph::OUTPUTS, field::subgraph::NAME] {
        fields.extend(envelope.target(subgraph, number)?.map(|node| (number, Value::Node(node))));
    }
    // Other subgraphs are bodies of control flow and stay as they are, in the old file.
    let others = subgraphs.iter().skip(1).map(|table| Node::Old(table.offset()));
    let subgraphs = std::iter::once(Node::Table(fields)).chain(others).collect();
    envelope.prefix(vec![
        (field::OPERATOR_CODES, Node::Nodes(writer.codes.nodes)),
        (field::SUBGRAPHS, Node::Nodes(subgraphs)),
        (field::BUFFERS, Node::Nodes(writer.buffers)),
        (field::METADATA, Node::Nodes(envelope.metadata()?)),
    ])
}

/// A constant by what it says: the tensor whose quantisation it has, if any; its element type, shape and content.
type Constant = (Option<TensorId>, u8, Vec<i32>, Vec<u8>);

/// Element type of numbers of 32 bits.
const INT32: u8 = 2;

/// The parts of the new file so far.
struct Writer<'e, 'w, 'a> {
    /// The old file.
    envelope: &'e Envelope<'w, 'a>,
    /// Its first subgraph as it was read.
    graph: &'e Graph,
    /// The change.
    rewrite: &'e Rewrite,
    /// The tables of the old file's tensors and operators.
    old_tensors: Vec<Table<'w, 'a>>,
    old_operators: Vec<Table<'w, 'a>>,
    /// The operator codes of the new file.
    codes: Codes,
    /// The buffers of the new file.
    buffers: Vec<Node>,
    /// The number in the new file of each old and each new tensor; `None` for a new one that nobody uses.
    places: Vec<Option<usize>>,
    /// New constants, each with its number among the tensors.
    constants: BTreeMap<Constant, usize>,
    /// How many tensors the new file has so far.
    count: usize,
}

impl<'e, 'w, 'a> Writer<'e, 'w, 'a> {
    /// Begins a rewrite: reads the tables of the old file and numbers the tensors of the new one. New constants get the
    /// numbers after these, while operators are written.
    fn new(
        envelope: &'e Envelope<'w, 'a>,
        subgraph: &Table<'w, 'a>,
        graph: &'e Graph,
        rewrite: &'e Rewrite,
    ) -> Result<Self, ReadError> {
        let places = places(graph, rewrite);
        let count = places.iter().flatten().max().map_or(0, |last| last + 1);
        Ok(Writer {
            envelope,
            graph,
            rewrite,
            old_tensors: subgraph.tables(field::subgraph::TENSORS)?,
            old_operators: subgraph.tables(field::subgraph::OPERATORS)?,
            codes: Codes::read(&envelope.root)?,
            buffers: envelope.buffers()?,
            places,
            constants: BTreeMap::new(),
            count,
        })
    }

    /// The number of a tensor in the new file; -1, which means none, if it is not written.
    fn place(&self, tensor: TensorId) -> i32 {
        self.places.get(tensor.index()).copied().flatten().map_or(-1, |place| i32::try_from(place).unwrap_or(-1))
    }

    /// The table of a tensor in the old file.
    fn old_tensor(&self, tensor: TensorId) -> Result<&Table<'w, 'a>, ReadError> {
        let missing = || ReadError::at_byte("tflite::bad-index", 0, format!("there is no tensor {}", tensor.index()));
        self.old_tensors.get(tensor.index()).ok_or_else(missing)
    }

    /// The old tensor whose type and quantisation a tensor has: the tensor itself, if it is old.
    fn like(&self, tensor: TensorId) -> TensorId {
        let new = tensor.index().checked_sub(self.graph.tensors.len());
        new.and_then(|new| self.rewrite.tensors.get(new)).map_or(tensor, |tensor| tensor.like)
    }

    /// Writes one operator of the new model: an old one as it is, a copy on other tensors, or a slice, padding or
    /// concatenation that tiles need.
    fn operator(&mut self, op: &NewOp) -> Result<Node, ReadError> {
        let rewrite = self.rewrite;
        let graph = self.graph;
        Ok(match op {
            NewOp::Kept(op) => Node::Old(self.old_operator(op.index())?.offset()),
            NewOp::Copy(copied) => self.copied(copied)?,
            NewOp::Slice { input, output, begin } => {
                let begin = self.numbers(&[begin.len()], &as_i32(begin));
                let shape = as_i32(rewrite.shape(graph, *output));
                let size = self.numbers(&[shape.len()], &shape);
                // A SLICE reads the tensor, where the part begins, and how large it is. The three numbers are the
                // versions of the operator for the element types that `version` lists.
                let version = self.version(*output, [1, 2, 4])?;
                self.plain("SLICE", version, vec![self.place(*input), begin, size], *output, None)?
            }
            NewOp::Pad { input, output, before, fill } => {
                // A PAD reads the tensor and two widths for each dimension, at its start and at its end.
                let (inside, outside) = (rewrite.shape(graph, *input), rewrite.shape(graph, *output));
                let sides = before.iter().zip(inside.iter().zip(outside));
                let sides: Vec<i32> = sides
                    .flat_map(|(&before, (&inside, &outside))| {
                        [before as i32, outside.saturating_sub(inside).saturating_sub(before) as i32]
                    })
                    .collect();
                let sides = self.numbers(&[before.len(), 2], &sides);
                let mut inputs = vec![self.place(*input), sides];
                let version = self.version(*output, [1, 2, 3])?;
                // A PAD fills the border with the zero point; a PADV2 reads the value as a third input.
                let name = if *fill == Fill::Zero { "PAD" } else { "PADV2" };
                if *fill == Fill::Lowest {
                    inputs.push(self.lowest(*output)?);
                }
                self.plain(name, version, inputs, *output, None)?
            }
            NewOp::Concat { inputs, output, axis } => {
                let inputs = inputs.iter().map(|&input| self.place(input)).collect();
                let version = self.version(*output, [1, 2, 3])?;
                // Field 0 of the options is the axis. The activation is left out, which means none.
                let options = Node::Table(vec![(0, Value::i32(*axis as i32))]);
                self.plain("CONCATENATION", version, inputs, *output, Some((CONCATENATION_OPTIONS, options)))?
            }
        })
    }

    /// The table of an operator in the old file.
    fn old_operator(&self, index: usize) -> Result<&Table<'w, 'a>, ReadError> {
        let missing = || ReadError::at_byte("tflite::bad-index", 0, format!("there is no operator {index}"));
        self.old_operators.get(index).ok_or_else(missing)
    }

    /// A new operator with one output. `inputs` are numbers of tensors; `options` are the number of the kind of
    /// options, and their table. The kind of operator may be one that the model did not have before.
    fn plain(
        &mut self,
        name: &str,
        version: i32,
        inputs: Vec<i32>,
        output: TensorId,
        options: Option<(u8, Node)>,
    ) -> Result<Node, ReadError> {
        let mut fields = vec![
            (field::operator::CODE, Value::U32(self.codes.find_or_add(name, version)?)),
            (field::operator::INPUTS, Value::Node(Node::Numbers(inputs))),
            (field::operator::OUTPUTS, Value::Node(Node::Numbers(vec![self.place(output)]))),
        ];
        if let Some((number, options)) = options {
            fields.push((field::operator::OPTIONS_TYPE, Value::U8(number)));
            fields.push((field::operator::OPTIONS, Value::Node(options)));
        }
        Ok(Node::Table(fields))
    }

    /// A copy of an old operator that reads and writes other tensors. `copied.read(tensor)` is the tensor that the copy
    /// reads in the place of `tensor`.
    fn copied(&mut self, copied: &Copied) -> Result<Node, ReadError> {
        let old = *self.old_operator(copied.op.index())?;
        let kind = &self.graph.ops[copied.op].kind;
        let mut inputs: Vec<i32> = old.i32s(field::operator::INPUTS)?;
        for input in &mut inputs {
            // An input that is left out is -1 and stays so.
            if let Ok(index) = usize::try_from(*input) {
                *input = self.place(copied.read(TensorId::from_index(index)));
            }
        }
        // An input that states the size of the output must state that of the new output.
        if let Some((input, content)) = &copied.size {
            let constant = self.numbers(&[content.len()], content);
            if let Some(input) = inputs.get_mut(*input) {
                *input = constant;
            }
        }
        let outputs = copied.outputs.iter().map(|&output| self.place(output)).collect();
        let mut fields = vec![
            (field::operator::CODE, Value::U32(old.u32(field::operator::CODE)?)),
            (field::operator::INPUTS, Value::Node(Node::Numbers(inputs))),
            (field::operator::OUTPUTS, Value::Node(Node::Numbers(outputs))),
        ];
        // All other fields are those of the old operator: bytes are copied, tables and lists are referred to.
        for number in field::operator::BYTES {
            if old.field(number)?.is_some() {
                fields.push((number, Value::U8(old.u8(number)?)));
            }
        }
        for number in field::operator::POINTERS {
            fields.extend(self.envelope.target(&old, number)?.map(|node| (number, Value::Node(node))));
        }
        // An operator of this format can only state `SAME` or `VALID`. Where a tile needs other padding, the rewrite
        // has put it around the input, and the operator must add none: `VALID`.
        if let (Padding::Explicit { .. }, Some(layout)) = (copied.padding, Layout::of(kind)) {
            debug_assert_eq!(copied.padding, Padding::NONE, "a .tflite operator cannot state its padding");
            if let Some(options) = old.table(field::operator::OPTIONS)? {
                fields.retain(|(number, _)| *number != field::operator::OPTIONS);
                fields.push((field::operator::OPTIONS, Value::Node(layout.without_padding(&options)?)));
            }
        }
        Ok(Node::Table(fields))
    }

    /// The number of the tensor that is a constant of 32-bit numbers.
    fn numbers(&mut self, shape: &[usize], numbers: &[i32]) -> i32 {
        let content = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.constant((None, INT32, shape.iter().map(|&dimension| dimension as i32).collect(), content))
    }

    /// The number of the tensor that is a constant with the lowest value of a tensor's type, and with its quantisation.
    fn lowest(&mut self, tensor: TensorId) -> Result<i32, ReadError> {
        let like = self.like(tensor);
        let number = self.old_tensor(like)?.u8(field::tensor::TYPE)?;
        let content = match self.graph.tensors[like].element {
            "INT8" => i8::MIN.to_le_bytes().to_vec(),
            "UINT8" => u8::MIN.to_le_bytes().to_vec(),
            "INT16" => i16::MIN.to_le_bytes().to_vec(),
            "FLOAT32" => f32::MIN.to_le_bytes().to_vec(),
            other => {
                let message = format!("what is the lowest {other} is not known");
                return Err(ReadError::at_byte("tflite::element-type", 0, message));
            }
        };
        Ok(self.constant((Some(like), number, Vec::new(), content)))
    }

    /// The number of the tensor that is this constant. Equal constants are the same tensor.
    fn constant(&mut self, constant: Constant) -> i32 {
        let next = self.count;
        let place = *self.constants.entry(constant).or_insert(next);
        self.count += usize::from(place == next);
        place as i32
    }

    /// The version that an operator must have to handle the element type of a tensor: the first of `versions` for
    /// floats and others, the second for bytes, the third for 16-bit numbers.
    fn version(&self, tensor: TensorId, versions: [i32; 3]) -> Result<i32, ReadError> {
        let like = self.like(tensor);
        let element = self.graph.tensors.get(like).map_or("", |tensor| tensor.element);
        Ok(match element {
            "INT8" | "UINT8" => versions[1],
            "INT16" => versions[2],
            _ => versions[0],
        })
    }

    /// All tensors of the new file, in the order of their numbers. To be called when all operators have been written,
    /// since they ask for constants. Adds the buffers of the constants.
    fn tensors(&mut self) -> Result<Vec<Node>, ReadError> {
        let mut nodes: Vec<Node> = self.old_tensors.iter().map(|table| Node::Old(table.offset())).collect();
        nodes.resize(self.count, Node::Table(Vec::new()));
        for (index, tensor) in self.rewrite.tensors.iter().enumerate() {
            if let Some(place) = self.places[self.graph.tensors.len() + index] {
                nodes[place] = self.tensor(tensor)?;
            }
        }
        // Every constant gets a buffer of its own at the end of the list, so that the old numbers of buffers stay
        // valid.
        for ((like, element, shape, content), place) in std::mem::take(&mut self.constants) {
            let buffer = Value::U32(self.buffers.len() as u32);
            let data = Value::Node(Node::Content(content));
            self.buffers.push(Node::Table(vec![(field::buffer::DATA, data)]));
            let mut fields = vec![
                (field::tensor::SHAPE, Value::Node(Node::Numbers(shape))),
                (field::tensor::TYPE, Value::U8(element)),
                (field::tensor::BUFFER, buffer),
                (field::tensor::NAME, Value::Node(Node::Text(format!("constant#{place}")))),
            ];
            if let Some(like) = like {
                fields.extend(self.quantization(like)?);
            }
            nodes[place] = Node::Table(fields);
        }
        Ok(nodes)
    }

    /// A tensor that the old file does not have: like one of its own, with another shape and name.
    fn tensor(&self, tensor: &NewTensor) -> Result<Node, ReadError> {
        let like = self.old_tensor(tensor.like)?;
        let shape = tensor.shape.iter().map(|&dimension| dimension as i32).collect();
        // A tensor in the arena must name a buffer without content. The tensor that this one is like names such a
        // buffer, so it is named again, as converters do it; but it may be a constant, whose buffer has content. Buffer
        // 0 has none, by a rule of the format. The fields that are left out have defaults that hold for any tensor in
        // the arena of known size.
        let is_constant = self.graph.tensors[tensor.like].home == Home::File;
        let buffer = if is_constant { 0 } else { like.u32(field::tensor::BUFFER)? };
        let mut fields = vec![
            (field::tensor::SHAPE, Value::Node(Node::Numbers(shape))),
            (field::tensor::TYPE, Value::U8(like.u8(field::tensor::TYPE)?)),
            (field::tensor::BUFFER, Value::U32(buffer)),
            (field::tensor::NAME, Value::Node(Node::Text(tensor.name.clone()))),
        ];
        fields.extend(self.quantization(tensor.like)?);
        Ok(Node::Table(fields))
    }

    /// The field that refers to the quantisation of an old tensor; `None` if it has none.
    fn quantization(&self, like: TensorId) -> Result<Option<(u16, Value)>, ReadError> {
        let target = self.envelope.target(self.old_tensor(like)?, field::tensor::QUANTIZATION)?;
        Ok(target.map(|node| (field::tensor::QUANTIZATION, Value::Node(node))))
    }
}

/// The number of the options of a concatenation.
const CONCATENATION_OPTIONS: u8 = 10;

/// The number in the new file of each old and each new tensor. Old tensors keep their numbers. New tensors first take
/// the numbers of old ones that no operator uses any more, and then the numbers after all old ones. A new tensor that
/// nobody uses is not written (`None`), because the runtime would give it memory all the same.
fn places(graph: &Graph, rewrite: &Rewrite) -> Vec<Option<usize>> {
    let old = graph.tensors.len();
    let mut is_used = vec![false; old + rewrite.tensors.len()];
    let operands = rewrite.ops.iter().flat_map(|op| op.inputs(graph).into_iter().chain(op.outputs(graph).to_vec()));
    for tensor in operands.chain(graph.inputs.iter().copied()).chain(graph.outputs.iter().copied()) {
        if let Some(is_used) = is_used.get_mut(tensor.index()) {
            *is_used = true;
        }
    }
    // A tensor that no operator writes may be an intermediate tensor: its operator names it in a list of its own, and
    // only its type matters. So only the numbers of tensors that were written are given to new tensors.
    let is_written = |tensor: TensorId| graph.ops.iter().any(|op| op.outputs.contains(&tensor));
    let is_free = |id: &TensorId| !is_used[id.index()] && graph.tensors[*id].home == Home::Arena && is_written(*id);
    let mut free = graph.tensors.ids().filter(is_free).map(Id::index).chain(old..);
    let new = is_used[old..].iter().map(|is_used| if *is_used { free.next() } else { None });
    (0..old).map(Some).chain(new).collect()
}

/// Dimensions and positions as the format writes them.
fn as_i32(numbers: &[u64]) -> Vec<i32> {
    numbers.iter().map(|&number| number as i32).collect()
}

/// The operator codes of the new file: those of the old one, followed by new ones. An operator names its kind by
/// the number of its code.
struct Codes {
    /// The codes, as they are written.
    nodes: Vec<Node>,
    /// The name of each code's operator.
    kinds: Vec<String>,
}

impl Codes {
    /// The codes of the old file.
    fn read(root: &Table) -> Result<Codes, ReadError> {
        let tables = root.tables(field::OPERATOR_CODES)?;
        let kinds = tables.iter().map(kind).collect::<Result<_, _>>()?;
        Ok(Codes { nodes: tables.iter().map(|table| Node::Old(table.offset())).collect(), kinds })
    }

    /// The number of the code for an operator. If the file has a code for this operator, in any version, that code is
    /// used; otherwise a new code with this version is added.
    fn find_or_add(&mut self, name: &str, version: i32) -> Result<u32, ReadError> {
        if let Some(index) = self.kinds.iter().position(|kind| kind == name) {
            return Ok(index as u32);
        }
        let unknown = || ReadError::at_byte("tflite::operator", 0, format!("there is no operator called {name}"));
        let number = operator_number(name).ok_or_else(unknown)?;
        // The first field for the number is a signed byte and became too small; newer files have a second field. The
        // numbers of all operators that are added here fit into both.
        let fields = vec![
            (field::operator_code::OLD_BUILTIN, Value::U8(u8::try_from(number).unwrap_or(127).min(127))),
            (field::operator_code::VERSION, Value::i32(version)),
            (field::operator_code::BUILTIN, Value::i32(number)),
        ];
        self.nodes.push(Node::Table(fields));
        self.kinds.push(name.to_owned());
        Ok(self.kinds.len() as u32 - 1)
    }
}
