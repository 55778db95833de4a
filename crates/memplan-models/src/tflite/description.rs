//! A `.tflite` file as the check of changed models sees it ([`memplan_verify::equivalence`]).
//!
//! Everything in the file that makes a difference for what is computed goes into the description, known or not: every
//! field of every option, the quantisation of every tensor, the bytes of every constant, the signatures. What cannot be
//! described completely (sparse weights, options newer than the list in `options.txt`) is an error. Left out is what no
//! kernel looks at: names of inner tensors, the minimum and maximum beside a quantisation, metadata.
//!
//! This module reads the bytes of the file itself and takes nothing from [`read`](super::read()), so that a mistake
//! there is not repeated here. The graphs other than the first one, which are bodies of its control flow, are
//! described, too; they must be the same in both files.

use std::collections::{BTreeMap, BTreeSet};

use memplan_verify::equivalence::{ContentId, Contents, Network, Op, Tensor};

use super::meaning::{Constant, Facts, Operator, Quantity, has_effect, interpret};
use super::options;
use super::read::{check_signature, check_version, field};
use super::vocabulary::{element, operator};
use crate::ReadError;
use crate::flatbuffer::Table;
use crate::source::{ReadAt, Window};

/// Constants of more bytes than this are compared, but their numbers are not looked at. Only the numbers of short
/// constants, such as the begins and sizes of slices, decide about places of elements.
const SHORT: usize = 1 << 12;

/// The numbers of fields that only a description needs, of the tables `Model`, `OperatorCode`, `Tensor`,
/// `QuantizationParameters` and, from `OPTIONS_TYPE` on, `Operator`.
mod more {
    pub(super) const SIGNATURES: u16 = 7;
    pub(super) const CODE_VERSION: u16 = 2;
    pub(super) const SPARSITY: u16 = 6;
    pub(super) const QUANTIZATION_DETAILS: u16 = 4;
    pub(super) const QUANTIZED_DIMENSION: u16 = 6;
    pub(super) const OPTIONS_TYPE: u16 = 3;
    pub(super) const CUSTOM_OPTIONS: u16 = 5;
    pub(super) const MUTATING_INPUTS: u16 = 7;
    pub(super) const INTERMEDIATES: u16 = 8;
    pub(super) const LARGE_CUSTOM_OPTIONS: u16 = 9;
    pub(super) const LARGE_CUSTOM_SIZE: u16 = 10;
    pub(super) const OPTIONS_2_TYPE: u16 = 11;
    pub(super) const OPTIONS_2: u16 = 12;
}

/// Describes the first graph of a file, for a comparison with another file. `contents` numbers the contents of
/// constants; both files must get the same one, so that equal contents have equal numbers.
pub fn describe(source: &dyn ReadAt, contents: &mut Contents) -> Result<Network, ReadError> {
    let window = Window::new(source);
    check_signature(&window)?;
    let root = Table::root(&window)?;
    check_version(&root)?;
    let file = File::new(&window, &root, contents)?;
    let graphs = root.tables(field::SUBGRAPHS)?;
    let Some((first, others)) = graphs.split_first() else {
        return Err(ReadError::at_byte("tflite::no-subgraph", root.offset(), "the model has no subgraph"));
    };
    let mut network = file.graph(first, contents)?;
    network.interface = interface(&root, &network)?;
    for (number, graph) in (1..).zip(others) {
        let body = file.graph(graph, contents)?;
        network.interface.push(format!("subgraph {number}: {body:?}"));
    }
    Ok(network)
}

/// What the graphs of a file share.
struct File<'w, 'a> {
    window: &'w Window<'a>,
    codes: Vec<Code>,
    buffers: Vec<Buffer>,
}

/// An operator code: the name of the operator and its version.
struct Code {
    kind: String,
    version: i32,
}

/// A buffer of the file.
#[derive(Default)]
struct Buffer {
    /// The number of its content; `None` if it has none.
    content: Option<ContentId>,
    constant: Constant,
}

impl<'w, 'a> File<'w, 'a> {
    /// Reads the operator codes and the content of all buffers. A buffer of a `.tflite` file is a row of bytes that a
    /// tensor names by number: the content of a constant, or nothing.
    fn new(window: &'w Window<'a>, root: &Table, contents: &mut Contents) -> Result<File<'w, 'a>, ReadError> {
        let codes = root.tables(field::OPERATOR_CODES)?.iter().map(code).collect::<Result<_, _>>()?;
        let mut buffers = Vec::new();
        for table in root.tables(field::BUFFERS)? {
            buffers.push(buffer(window, &table, contents)?);
        }
        // Tensors name buffer 0 if they are no constants. A model without buffers gets that one, without content.
        if buffers.is_empty() {
            buffers.push(Buffer::default());
        }
        Ok(File { window, codes, buffers })
    }

    /// Describes one subgraph.
    fn graph(&self, table: &Table, contents: &mut Contents) -> Result<Network, ReadError> {
        let mut network = Network::default();
        let mut facts = Vec::new();
        for tensor in table.tables(field::subgraph::TENSORS)? {
            let (described, known) = self.tensor(&tensor)?;
            network.tensors.push(described);
            facts.push(known);
        }
        let count = facts.len();
        network.inputs = places(table, field::subgraph::INPUTS, count)?.into_iter().flatten().collect();
        network.outputs = places(table, field::subgraph::OUTPUTS, count)?.into_iter().flatten().collect();
        for operator in table.tables(field::subgraph::OPERATORS)? {
            network.ops.push(self.op(&operator, &facts)?);
        }
        give_empty_tensors_content(&mut network, contents);
        Ok(network)
    }

    /// Describes one tensor, for the comparison and for [`interpret`]. An error if it has a property that the
    /// description would leave out.
    fn tensor(&self, table: &Table) -> Result<(Tensor, Facts<'_>), ReadError> {
        let at = table.offset();
        let name = table.string(field::tensor::NAME)?;
        let number = table.u8(field::tensor::TYPE)?;
        let Some((element, bits)) = element(number) else {
            let message = format!("tensor `{name}` has element type {number}, which is not known");
            return Err(ReadError::at_byte("tflite::element-type", at, message));
        };
        // Anything that cannot be described completely is an error: if it were left out, two different models could
        // look the same.
        if table.field(more::SPARSITY)?.is_some() {
            let message = format!("tensor `{name}` is sparse, which cannot be compared");
            return Err(ReadError::at_byte("tflite::sparse", at, message));
        }
        let number = table.u32(field::tensor::BUFFER)? as usize;
        let Some(buffer) = self.buffers.get(number) else {
            let message = format!("a tensor names buffer {number}, and there are {}", self.buffers.len());
            return Err(ReadError::at_byte("tflite::bad-index", at, message));
        };
        let dimensions = table.i32s(field::tensor::SHAPE)?;
        // A tensor without a known shape is compared as a whole only, never by regions.
        let is_known = bits > 0 && dimensions.iter().all(|dimension| *dimension >= 0);
        let shape: Option<Vec<i64>> = is_known.then(|| dimensions.iter().map(|&dimension| dimension.into()).collect());
        let quantity = quantity(table, element, &name)?;
        let described = Tensor {
            name,
            shape: shape.clone(),
            numbers: quantity.text.clone(),
            is_per_axis: quantity.scales > 1,
            content: buffer.content,
            is_variable: table.u8(field::tensor::IS_VARIABLE)? != 0,
        };
        let constant = buffer.content.map(|_| &buffer.constant);
        Ok((described, Facts { shape, quantity, constant }))
    }

    /// Describes one operator. Options that its meaning explains completely, such as the padding of a convolution,
    /// are its `geometry`, which may differ between the two models; all others must be the same. `facts` are those of
    /// all tensors of the graph.
    fn op(&self, table: &Table, facts: &[Facts]) -> Result<Op, ReadError> {
        let code = table.u32(field::operator::CODE)? as usize;
        let Some(Code { kind, version }) = self.codes.get(code) else {
            let message = format!("an operator has code {code}, and there are {}", self.codes.len());
            return Err(ReadError::at_byte("tflite::bad-index", table.offset(), message));
        };
        let operands = places(table, field::operator::INPUTS, facts.len())?;
        let results = places(table, field::operator::OUTPUTS, facts.len())?;
        let mut attributes = self.options(table, facts)?;
        // What is known about the tensors that `places` names.
        let known = |places: &[Option<usize>]| places.iter().map(|place| place.map(|tensor| &facts[tensor])).collect();
        let (operands_known, results_known) = (known(&operands), known(&results));
        let (meaning, explained) =
            interpret(&Operator { kind, options: &attributes, operands: operands_known, results: results_known });
        let geometry: BTreeMap<String, String> =
            explained.iter().filter_map(|name| attributes.remove_entry(*name)).collect();
        attributes.insert("version".to_owned(), version.to_string());
        Ok(Op { kind: kind.clone(), attributes, geometry, meaning, operands, results, has_effect: has_effect(kind) })
    }

    /// Everything that an operator states besides its tensors, as text by name: its options of both unions, custom
    /// options, the inputs that it changes, and the types of its intermediate tensors.
    fn options(&self, table: &Table, facts: &[Facts]) -> Result<BTreeMap<String, String>, ReadError> {
        let mut values = BTreeMap::new();
        for (union, number, place) in
            [(1, more::OPTIONS_TYPE, field::operator::OPTIONS), (2, more::OPTIONS_2_TYPE, more::OPTIONS_2)]
        {
            let number = table.u8(number)?;
            values.insert(format!("options {union}"), number.to_string());
            if number > 0 {
                values.extend(options::read(union, number, table.table(place)?.as_ref(), table.offset())?);
            }
        }
        // Custom options stand in the table, or after all tables if they are large.
        let mut custom = table.vector(more::CUSTOM_OPTIONS, 1)?.bytes()?;
        let size = table.u64(more::LARGE_CUSTOM_SIZE)?;
        if size > 0 {
            custom.extend(self.window.bytes(table.u64(more::LARGE_CUSTOM_OPTIONS)?, size)?);
        }
        values.insert("custom options".to_owned(), custom.escape_ascii().to_string());
        let mutated = table.vector(more::MUTATING_INPUTS, 1)?.bytes()?;
        values.insert("inputs that it changes".to_owned(), format!("{mutated:?}"));
        // Intermediate tensors never hold anything. Kernels only look at their types and quantisations.
        let places = places(table, more::INTERMEDIATES, facts.len())?.into_iter();
        let intermediates: Vec<_> =
            places.map(|place| place.map(|tensor| facts[tensor].quantity.text.clone())).collect();
        values.insert("intermediates".to_owned(), format!("{intermediates:?}"));
        Ok(values)
    }
}

/// The name and version of an operator code. The first field for its number is a signed byte, which became too small;
/// newer files have a second field. The larger of the two numbers counts.
fn code(table: &Table) -> Result<Code, ReadError> {
    let old = i32::from(table.u8(field::operator_code::OLD_BUILTIN)? as i8);
    let number = old.max(table.i32(field::operator_code::BUILTIN)?);
    let kind = match operator(number) {
        Some("CUSTOM") => format!("CUSTOM {}", table.string(field::operator_code::CUSTOM)?),
        Some(name) => name.to_owned(),
        None => format!("OPERATOR_{number}"),
    };
    let version = if table.field(more::CODE_VERSION)?.is_some() { table.i32(more::CODE_VERSION)? } else { 1 };
    Ok(Code { kind, version })
}

/// Reads the content of a buffer, which stands in its table, or after all tables if it is large.
fn buffer(window: &Window, table: &Table, contents: &mut Contents) -> Result<Buffer, ReadError> {
    let mut bytes = table.vector(field::buffer::DATA, 1)?.bytes()?;
    let size = table.u64(field::buffer::SIZE)?;
    if bytes.is_empty() && size > 0 {
        bytes = window.bytes(table.u64(field::buffer::OFFSET)?, size)?;
    }
    if bytes.is_empty() {
        return Ok(Buffer::default());
    }
    let is_finite = |four: &[u8]| f32::from_le_bytes([four[0], four[1], four[2], four[3]]).is_finite();
    let constant = Constant {
        has_finite_floats: bytes.chunks_exact(4).all(is_finite),
        bytes: (bytes.len() <= SHORT).then(|| bytes.clone()),
    };
    Ok(Buffer { content: Some(contents.id(bytes)), constant })
}

/// Reads what a number in a tensor stands for: its element type and its quantisation.
fn quantity(tensor: &Table, element: &'static str, name: &str) -> Result<Quantity, ReadError> {
    let Some(table) = tensor.table(field::tensor::QUANTIZATION)? else {
        return Ok(Quantity { element, text: element.to_owned(), scales: 0, zero_point: Some(0) });
    };
    if table.u8(more::QUANTIZATION_DETAILS)? != 0 {
        let message = format!("tensor `{name}` has a quantisation of its own kind, which cannot be compared");
        return Err(ReadError::at_byte("tflite::custom-quantization", table.offset(), message));
    }
    // The scales are floats of 32 bits; a table gives them as integers with the same bits. Different scales become
    // different texts below, because Rust writes as many digits as it takes to tell floats apart.
    let scales = table.i32s(field::quantization::SCALE)?;
    let zero_points = table.vector(field::quantization::ZERO_POINT, 8)?.bytes()?;
    let zero_points: Vec<i64> = zero_points
        .chunks_exact(8)
        .map(|eight| i64::from_le_bytes(std::array::from_fn(|index| eight[index])))
        .collect();
    // If there is one scale for all elements, it makes no difference which dimension the file names.
    let axis = if scales.len() > 1 { table.i32(more::QUANTIZED_DIMENSION)? } else { 0 };
    let values: Vec<String> = scales.iter().map(|bits| f32::from_bits(*bits as u32).to_string()).collect();
    let text = match scales.len() + zero_points.len() {
        0 => element.to_owned(),
        _ => format!("{element} scale {} zero point {zero_points:?} axis {axis}", values.join(" ")),
    };
    let zero_point = match zero_points.as_slice() {
        [] => Some(0),
        [zero_point] => Some(*zero_point),
        // One for each channel: no single number stands for zero in all channels.
        _ => None,
    };
    Ok(Quantity { element, text, scales: scales.len(), zero_point })
}

/// The tensors that a field lists by number; `None` for one that is left out (-1 in the file). `count` is how many
/// tensors there are; any other number is an error.
pub(super) fn places(table: &Table, field: u16, count: usize) -> Result<Vec<Option<usize>>, ReadError> {
    let indices = table.i32s(field)?;
    indices.into_iter().map(|index| place(table, index, count)).collect()
}

/// The tensor that a number names among `count` tensors; `None` for -1.
fn place(table: &Table, index: i32, count: usize) -> Result<Option<usize>, ReadError> {
    match usize::try_from(index) {
        Ok(index) if index < count => Ok(Some(index)),
        Err(_) if index == -1 => Ok(None),
        _ => {
            let message = format!("tensor {index} is named, and there are {count}");
            Err(ReadError::at_byte("tflite::bad-index", table.offset(), message))
        }
    }
}

/// Makes constants of tensors without elements that no operator writes. Their buffers have no content, so they look
/// like tensors of the arena, and without this the check would not know what they hold.
fn give_empty_tensors_content(network: &mut Network, contents: &mut Contents) {
    let written: BTreeSet<usize> =
        network.ops.iter().flat_map(|op| op.results.iter().flatten()).chain(&network.inputs).copied().collect();
    for (index, tensor) in network.tensors.iter_mut().enumerate() {
        let is_empty = tensor.shape.as_ref().is_some_and(|shape| shape.contains(&0));
        if is_empty && tensor.content.is_none() && !tensor.is_variable && !written.contains(&index) {
            tensor.content = Some(contents.id(Vec::new()));
        }
    }
}

/// What callers see of a model, as lines of text: the names of inputs and outputs, and the signatures. A signature
/// names tensors by number, which may change in a rewritten model. So the line says which input or output it is
/// instead.
fn interface(root: &Table, network: &Network) -> Result<Vec<String>, ReadError> {
    let mut lines = Vec::new();
    for (word, tensors) in [("input", &network.inputs), ("output", &network.outputs)] {
        let line =
            |(place, tensor): (usize, &usize)| format!("{word} {place} called {:?}", network.tensors[*tensor].name);
        lines.extend(tensors.iter().enumerate().map(line));
    }
    for signature in root.tables(more::SIGNATURES)? {
        // Fields of a signature: 0 inputs, 1 outputs, 2 its name, 4 its graph; of an entry: 0 the name, 1 the tensor.
        let (key, graph) = (signature.string(2)?, signature.u32(4)?);
        for (word, field, tensors) in [("input", 0, &network.inputs), ("output", 1, &network.outputs)] {
            for entry in signature.tables(field)? {
                let (name, tensor) = (entry.string(0)?, entry.u32(1)? as usize);
                let place = tensors.iter().position(|known| *known == tensor).filter(|_| graph == 0);
                let place = place.map_or_else(|| format!("tensor {tensor}"), |place| format!("{word} {place}"));
                lines.push(format!("signature {key:?} of graph {graph}: {word} {name:?} is {place}"));
            }
        }
    }
    Ok(lines)
}
