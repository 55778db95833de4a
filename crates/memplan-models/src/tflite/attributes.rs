//! The options of operators that decide which elements of an input an element of the output depends on. A rewrite that
//! splits an operator into tiles needs them.
//!
//! A convolution's options are a table of small numbers: padding, strides, dilation, activation. Absent numbers have
//! a default. Only the options of operators on images are read here; [`WindowOptions`] is what convolutions and pools
//! have in common.

use memplan_core::Id;

use super::read::{check_signature, check_version, field};
use crate::ReadError;
use crate::flatbuffer::Table;
use crate::flatbuffer::build::{Node, Value};
use crate::graph::{Graph, OpId};
use crate::source::{ReadAt, Window};

/// How the edges of an image are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edges {
    /// Padded, so that the output has a position for every stride of the input.
    Same,
    /// Not padded.
    Valid,
}

/// Options of an operator that looks through a window: convolutions and pools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowOptions {
    /// What happens at the edges.
    pub edges: Edges,
    /// How far the window moves from one output to the next, down and to the right.
    pub stride: [u64; 2],
    /// How far two neighbouring elements of the window lie apart, down and to the right.
    pub dilation: [u64; 2],
    /// Height and width of the window of a pool; convolutions have it in the shape of their filter.
    pub filter: [u64; 2],
}

/// The options of one operator that are read here. An operator that has no such option keeps the defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// Options of a convolution or a pool.
    pub window: Option<WindowOptions>,
    /// The dimension of a concatenation; a negative number counts from the last dimension.
    pub axis: i32,
    /// Of a resize: the centres of the corners of input and output lie on each other (TensorFlow's `align_corners`).
    pub aligns_corners: bool,
    /// Elements that a padding adds at the start and at the end of each of four dimensions; `None` if not known.
    pub border: Option<[[u64; 2]; 4]>,
}

/// The attributes of the operators of the first subgraph, in the order of the file. `graph` is that subgraph as it was
/// read.
pub fn read(source: &dyn ReadAt, graph: &Graph) -> Result<Vec<Attributes>, ReadError> {
    let window = Window::new(source);
    check_signature(&window)?;
    let root = Table::root(&window)?;
    check_version(&root)?;
    let Some(subgraph) = root.tables(field::SUBGRAPHS)?.into_iter().next() else {
        return Ok(Vec::new());
    };
    let operators = subgraph.tables(field::subgraph::OPERATORS)?;
    let tensors = subgraph.tables(field::subgraph::TENSORS)?;
    let buffers = root.tables(field::BUFFERS)?;
    let attributes = |(index, operator): (usize, Table)| {
        let options = operator.table(field::operator::OPTIONS)?;
        let kind = graph.ops.get(OpId::from_index(index)).map_or("", |op| op.kind.as_str());
        let known = options.map_or(Ok(Attributes::default()), |options| of_options(kind, &options))?;
        let border = if kind == "PAD" { border(&window, &operator, &tensors, &buffers)? } else { None };
        Ok(Attributes { border, ..known })
    };
    operators.into_iter().enumerate().map(attributes).collect()
}

/// What a padding adds at the start and at the end of each dimension: its second input, a constant of two numbers for
/// each. `None` if that is no constant of 32-bit numbers for four dimensions, or if a number is negative.
fn border(
    window: &Window,
    operator: &Table,
    tensors: &[Table],
    buffers: &[Table],
) -> Result<Option<[[u64; 2]; 4]>, ReadError> {
    let inputs = operator.i32s(field::operator::INPUTS)?;
    let tensor = inputs.get(1).and_then(|&input| tensors.get(usize::try_from(input).ok()?));
    let Some(tensor) = tensor.filter(|tensor| tensor.u8(field::tensor::TYPE).is_ok_and(|number| number == INT32))
    else {
        return Ok(None);
    };
    let Some(buffer) = buffers.get(tensor.u32(field::tensor::BUFFER)? as usize) else { return Ok(None) };
    let content = buffer.vector(field::buffer::DATA, 1)?;
    // Images have four dimensions, and each of them two numbers of four bytes.
    if content.len() != 32 {
        return Ok(None);
    }
    let mut border = [[0; 2]; 4];
    for (number, place) in border.iter_mut().flatten().enumerate() {
        // The content is a vector of bytes; each number has four of them.
        let at = content.element(4 * number as u64).unwrap_or_default();
        let Ok(positions) = u64::try_from(window.i32(at)?) else { return Ok(None) };
        *place = positions;
    }
    Ok(Some(border))
}

/// Element type of numbers of 32 bits.
const INT32: u8 = 2;

/// The attributes that stand in the options of an operator of this kind.
fn of_options(kind: &str, options: &Table) -> Result<Attributes, ReadError> {
    let none = Attributes::default();
    Ok(match (kind, Layout::of(kind)) {
        (_, Some(layout)) => Attributes { window: Some(layout.read(options)?), ..none },
        ("CONCATENATION", None) => Attributes { axis: options.i32(0)?, ..none },
        ("RESIZE_NEAREST_NEIGHBOR", None) => Attributes { aligns_corners: options.u8(0)? != 0, ..none },
        _ => none,
    })
}

/// The numbers of the fields in the options of an operator with a window. Padding is always field 0, a byte; the
/// strides are fields 1 (of width) and 2 (of height).
pub(super) struct Layout {
    /// The fields with the dilation of width and of height; `None` if the operator has none.
    dilation: Option<[u16; 2]>,
    /// The fields with the size of a pool's window, width and height; `None` if the operator is no pool.
    filter: Option<[u16; 2]>,
    /// Fields of one byte besides the padding.
    bytes: &'static [u16],
    /// Fields of four bytes.
    words: &'static [u16],
}

/// The fields with the padding and the strides, and the value of the padding that means none.
const PADDING: u16 = 0;
const STRIDE: [u16; 2] = [1, 2];
const VALID: u8 = 1;

/// The numbers of two fields, given as width and height, in the order height and width. Both are 1 if the operator
/// does not have the fields; a field that the file leaves out has the value `absent`.
fn height_and_width(options: &Table, fields: Option<[u16; 2]>, absent: i32) -> Result<[u64; 2], ReadError> {
    let Some([width, height]) = fields else { return Ok([1, 1]) };
    Ok([number(options, height, absent)?, number(options, width, absent)?])
}

/// The number in a field of the options, or `absent` if the file leaves the field out; 0 if it is negative.
fn number(options: &Table, field: u16, absent: i32) -> Result<u64, ReadError> {
    let number = if options.field(field)?.is_some() { options.i32(field)? } else { absent };
    Ok(u64::try_from(number).unwrap_or(0))
}

impl Layout {
    /// The fields for an operator; `None` if it has no window.
    pub(super) fn of(kind: &str) -> Option<Layout> {
        // In each row: the fields with the dilation, those with the size of the window, all fields of one byte but the
        // padding, all fields of four bytes. The numbers are those of the schema of TensorFlow Lite.
        let layout = |dilation, filter, bytes, words| Some(Layout { dilation, filter, bytes, words });
        match kind {
            "CONV_2D" => layout(Some([4, 5]), None, &[3, 6], &[1, 2, 4, 5]),
            "DEPTHWISE_CONV_2D" => layout(Some([5, 6]), None, &[4], &[1, 2, 3, 5, 6]),
            "AVERAGE_POOL_2D" | "MAX_POOL_2D" | "L2_POOL_2D" => layout(None, Some([3, 4]), &[5], &[1, 2, 3, 4]),
            "TRANSPOSE_CONV" => layout(None, None, &[3, 4], &[1, 2]),
            _ => None,
        }
    }

    /// Reads the options of an operator with this layout.
    fn read(&self, options: &Table) -> Result<WindowOptions, ReadError> {
        let edges = if options.u8(PADDING)? == VALID { Edges::Valid } else { Edges::Same };
        Ok(WindowOptions {
            edges,
            stride: height_and_width(options, Some(STRIDE), 0)?,
            dilation: height_and_width(options, self.dilation, 1)?,
            filter: height_and_width(options, self.filter, 0)?,
        })
    }

    /// A copy of the options in which the padding is `VALID`, that is none. Fields that the old options leave out stay
    /// left out, so that their defaults hold.
    pub(super) fn without_padding(&self, options: &Table) -> Result<Node, ReadError> {
        let mut fields = vec![(PADDING, Value::U8(VALID))];
        for &byte in self.bytes {
            if options.field(byte)?.is_some() {
                fields.push((byte, Value::U8(options.u8(byte)?)));
            }
        }
        for &word in self.words {
            if options.field(word)?.is_some() {
                fields.push((word, Value::U32(options.u32(word)?)));
            }
        }
        Ok(Node::Table(fields))
    }
}
