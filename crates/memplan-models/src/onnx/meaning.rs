//! What nodes of an `.onnx` file do with the places of elements.
//!
//! The check that a changed model computes the same as the original (`memplan_verify::equivalence`) has to know which
//! elements of a node's operands each element of its result depends on, so that it can tell a convolution of a part
//! of an image from one of the whole image. That is the node's [`Meaning`]: for a window, what it does along each
//! dimension ([`Axis`]): `Along` reads the same place, `Across` may read every place, `Slide` reads a window that
//! moves, `Repeat` makes several places from one.
//!
//! ```text
//!   Conv   x [1,3,224,224]  w [64,3,7,7]   →   [Along, Across, Slide, Slide]   batch, channels, rows, columns
//! ```
//!
//! A meaning is a promise. So a node gets one only if the numbers that decide about places are constants, and if the
//! known shape of the result is the one that follows from them. All functions here give `None` if that is not so, and
//! the node is [`Meaning::Opaque`], which promises nothing.
//!
//! Convolutions and pools state how much padding they have at each edge. So a tile at the edge of an image can state
//! the padding of that edge and none at the other edges. No rewritten model needs an op that writes elements for
//! padding (`neutral` is `None`).

use std::collections::BTreeMap;

use memplan_verify::equivalence::{Axis, Meaning, Slide, Window};

use super::nodes::{File, Node};

/// What is known about a tensor.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// The name of its element type.
    pub(super) element: &'static str,
    /// Its dimensions; `None` if they are not known.
    pub(super) shape: Option<Vec<i64>>,
}

/// What a node does, and the names of the attributes that this meaning explains completely. These attributes may differ
/// between the original and the changed model; all others must be equal.
type Interpretation = (Meaning, &'static [&'static str]);

/// Nodes that compute each element of their result from the elements at the same place of all operands.
#[rustfmt::skip]
const POINTWISE: [&str; 50] = [
    "Abs", "Add", "And", "Cast", "Ceil", "Celu", "Cos", "Div", "Elu", "Equal", "Erf", "Exp", "Floor", "Gelu", "Greater",
    "GreaterOrEqual", "HardSigmoid", "HardSwish", "Identity", "IsNaN", "LeakyRelu", "Less", "LessOrEqual", "Log", "Max",
    "Min", "Mish", "Mul", "Neg", "Not", "Or", "PRelu", "Pow", "Reciprocal", "Relu", "Round", "Selu", "Sigmoid", "Sign",
    "Sin", "Softplus", "Softsign", "Sqrt", "Sub", "Sum", "Swish", "Tanh", "ThresholdedRelu", "Where", "Xor",
];

/// Nodes whose result is not determined by their operands.
const RANDOM: [&str; 6] =
    ["RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli"];

/// The version of the operators from which on all operators with two operands broadcast them as numpy does. Before,
/// they had rules of their own.
const REPEATS: i64 = 7;
/// The version of the operators from which on a softmax is over one axis. Before, it was over all dimensions from its
/// axis on.
const ONE_AXIS: i64 = 13;

impl Node {
    /// Whether it must run exactly once, and in its place in the order: its result is random, it has bodies, or it is
    /// not known what its operator does.
    pub(super) fn has_effect(&self) -> bool {
        RANDOM.contains(&self.kind.as_str())
            || self.has_bodies
            || !(self.is_standard() || matches!(self.domain.as_str(), "ai.onnx.ml" | "com.microsoft"))
    }
}

/// What a node does with places; [`Meaning::Opaque`] if that is not known. `known` has what is known about each
/// tensor, by name.
pub(super) fn interpret(node: &Node, file: &File, known: &BTreeMap<String, Facts>) -> Interpretation {
    let reading = Reading { node, file, known };
    let meaning = if node.is_standard() { reading.meaning() } else { None };
    meaning.unwrap_or((Meaning::Opaque, &[]))
}

/// A node with what is known about its tensors.
struct Reading<'a> {
    node: &'a Node,
    file: &'a File,
    known: &'a BTreeMap<String, Facts>,
}

/// Attributes that say how much padding a window has.
const PADDING: &[&str] = &["pads", "auto_pad"];

impl Reading<'_> {
    /// What a node does with the places of elements, and the names of the attributes that the meaning expresses
    /// completely, so that these attributes need not be equal in both files. `None` if no meaning can be promised.
    fn meaning(&self) -> Option<Interpretation> {
        Some(match self.node.kind.as_str() {
            // The number is that of the operand with the weights.
            "Conv" | "ConvInteger" => (Meaning::Window(self.convolution(1)?), PADDING),
            "QLinearConv" => (Meaning::Window(self.convolution(3)?), PADDING),
            "MaxPool" | "AveragePool" if self.node.outputs.len() == 1 => (Meaning::Window(self.pool()?), PADDING),
            "ConvTranspose" => exact(self.spread()?),
            "DepthToSpace" => exact(self.unfolded()?),
            "Resize" | "Upsample" => exact(self.nearest()?),
            // The list has the dimensions along which a result may depend on every place. The parameters of a batch
            // normalisation differ from channel to channel, so channels (dimension 1) must not be cut.
            "Clip" => exact(self.across(&[])?),
            "BatchNormalization" if self.node.int("training_mode", 0) == 0 && self.node.outputs.len() == 1 => {
                exact(self.across(&[1])?)
            }
            "QuantizeLinear" | "DequantizeLinear" => exact(self.scaled()?),
            "Softmax" | "LogSoftmax" if self.file.opset >= ONE_AXIS => {
                exact(self.across(&[self.axis(self.node.int("axis", -1))?])?)
            }
            "Slice" => (self.slice()?, &["starts", "ends", "axes"]),
            "Concat" => (self.concatenation()?, &["axis"]),
            kind if POINTWISE.contains(&kind) && self.file.opset >= REPEATS => (Meaning::Pointwise, &[]),
            // Before version 7 of the operators, or for any other operator, nothing is promised.
            _ => return None,
        })
    }

    /// The shape of an operand; `None` if the node does not have the operand, or if the shape is not known.
    fn shape(&self, operand: usize) -> Option<&[i64]> {
        self.known.get(self.node.inputs.get(operand)?)?.shape.as_deref()
    }

    /// The shape of the first result, if it is known.
    fn result(&self) -> Option<&[i64]> {
        self.known.get(self.node.outputs.first()?)?.shape.as_deref()
    }

    /// The numbers of an operand that is a constant of the file and has integers.
    fn integers(&self, operand: usize) -> Option<&[i64]> {
        self.file.constant(self.node.inputs.get(operand)?)?.integers.as_deref()
    }

    /// Whether the node does not have this optional operand. A name that is empty stands for nothing.
    fn is_left_out(&self, operand: usize) -> bool {
        self.node.inputs.get(operand).is_none_or(String::is_empty)
    }

    /// The place of a dimension of the first operand; a negative number counts from the end.
    fn axis(&self, number: i64) -> Option<usize> {
        let rank = i64::try_from(self.shape(0)?.len()).ok()?;
        let number = if number < 0 { number + rank } else { number };
        usize::try_from(number).ok().filter(|_| number < rank)
    }

    /// An attribute with two numbers, for height and width; `default` twice if the node does not have it.
    fn pair(&self, name: &str, default: i64) -> Option<[i64; 2]> {
        match self.node.attribute(name) {
            None => Some([default; 2]),
            Some(attribute) => <[i64; 2]>::try_from(attribute.ints.as_slice()).ok(),
        }
    }

    /// A convolution of an image; `weights` is the number of the operand with its weights, whose last two dimensions
    /// are the size of the window. The attribute `kernel_shape` may repeat that size, and must not contradict it.
    fn convolution(&self, weights: usize) -> Option<Window> {
        let &[channels, _, height, width] = self.shape(weights)? else { return None };
        let size = self.pair("kernel_shape", 0)?;
        let is_right = (size == [0, 0] || size == [height, width]) && self.result()?.get(1) == Some(&channels);
        let [rows, columns] = self.sliding([height, width], self.pair("dilations", 1)?)?;
        is_right.then(|| over([Axis::Along, Axis::Across, rows, columns]))
    }

    /// A pooling of an image, which keeps the channels.
    fn pool(&self) -> Option<Window> {
        let [rows, columns] = self.sliding(self.pair("kernel_shape", 0)?, self.pair("dilations", 1)?)?;
        (self.shape(0)?.get(1) == self.result()?.get(1)).then(|| over([Axis::Along, Axis::Along, rows, columns]))
    }

    /// How a window of this size and dilation (rows, columns) moves along rows and columns, if the result has the shape
    /// that follows from it.
    fn sliding(&self, size: [i64; 2], dilation: [i64; 2]) -> Option<[Axis; 2]> {
        let (&[batch, _, height, width], &[results, _, rows, columns]) = (self.shape(0)?, self.result()?) else {
            return None;
        };
        let stride = self.pair("strides", 1)?;
        let stated = match self.node.attribute("pads") {
            None => [0; 4],
            Some(pads) => <[i64; 4]>::try_from(pads.ints.as_slice()).ok()?,
        };
        if batch != results {
            return None;
        }
        let [top, left, bottom, right] = stated;
        Some([
            self.slide([size[0], stride[0], dilation[0]], [top, bottom], height, rows)?,
            self.slide([size[1], stride[1], dilation[1]], [left, right], width, columns)?,
        ])
    }

    /// How a window of a size, a stride and a dilation slides along one axis of `places` elements. `stated` is the
    /// padding that the node states at their start and end. `None` if that would not give the `expected` number
    /// of results.
    fn slide(&self, [size, stride, dilation]: [i64; 3], stated: [i64; 2], places: i64, expected: i64) -> Option<Axis> {
        if size < 1 || stride < 1 || dilation < 1 || expected < 1 {
            return None;
        }
        // How many elements a window spans, with the gaps that dilation leaves between those that it reads.
        let reach = (size - 1).checked_mul(dilation)?.checked_add(1)?;
        // `SAME` asks for as many windows as places / stride, rounded up. `missing` is how many elements the input is
        // too short for these windows; it is negative if the input is longer. The missing elements become padding on
        // both sides. If their number is odd, the extra one goes to the end (`UPPER`) or to the front (`LOWER`).
        let windows = places.checked_add(stride - 1)? / stride;
        let missing = (windows - 1).checked_mul(stride)?.checked_add(reach)?.checked_sub(places)?;
        let [before, after] = match self.node.text("auto_pad", "NOTSET") {
            "NOTSET" | "" => stated,
            "VALID" => [0, 0],
            "SAME_UPPER" => [missing.max(0) / 2, missing.max(0) - missing.max(0) / 2],
            "SAME_LOWER" => [missing.max(0) - missing.max(0) / 2, missing.max(0) / 2],
            // ONNX has no other words for it.
            _ => return None,
        };
        let all = places.checked_add(before)?.checked_add(after)?;
        // A node with `ceil_mode` may have one more window, which reaches beyond the padding. Then the numbers differ.
        let is_right = before >= 0 && after >= 0 && all >= reach && (all - reach) / stride + 1 == expected;
        is_right.then_some(Axis::Slide(Slide { size, stride, dilation, before }))
    }

    /// A transposed convolution whose stride is the size of its window: each element of the input makes a block of the
    /// result, and blocks do not overlap.
    fn spread(&self) -> Option<Window> {
        let &[_, _, height, width] = self.shape(1)? else { return None };
        let factors = self.pair("strides", 1)?;
        let is_plain = ["output_padding", "output_shape"].iter().all(|name| self.node.attribute(name).is_none())
            && matches!(self.node.text("auto_pad", "NOTSET"), "NOTSET" | "" | "VALID")
            && self.node.attribute("pads").is_none_or(|pads| pads.ints.iter().all(|&pad| pad == 0))
            && self.pair("dilations", 1)? == [1, 1];
        (is_plain && factors == [height, width]).then(|| self.repeating(factors, Axis::Across, None)).flatten()
    }

    /// A `DepthToSpace`: the channels of an element become a block of rows and columns.
    fn unfolded(&self) -> Option<Window> {
        let factor = self.node.int("blocksize", 0);
        self.repeating([factor; 2], Axis::Across, None)
    }

    /// A resize to the nearest neighbour by whole factors, which repeats every row and every column so many times.
    fn nearest(&self) -> Option<Window> {
        let (&[_, _, rows, columns], &[_, _, height, width]) = (self.shape(0)?, self.result()?) else { return None };
        if rows < 1 || columns < 1 || self.node.text("mode", "nearest") != "nearest" {
            return None;
        }
        // A `Resize` before version 11 of the operators is not interpreted.
        let is_resize = self.node.kind == "Resize" && self.file.opset >= 11;
        // (An `Upsample` has no modes; it always works like `asymmetric` with `floor`.)
        // Place i of the result is place i / f of the operand, rounded down, for a whole factor f: by definition in
        // the mode `asymmetric` with `floor`, and also where the nearest place to the middle of i is taken
        // (`half_pixel`), which is never halfway between two places.
        let mode = (
            self.node.text("coordinate_transformation_mode", "half_pixel"),
            self.node.text("nearest_mode", "round_prefer_floor"),
        );
        let repeats =
            matches!(mode, ("asymmetric", "floor") | ("half_pixel", "round_prefer_floor" | "round_prefer_ceil"));
        let has_more = ["axes", "keep_aspect_ratio_policy"].iter().any(|name| self.node.attribute(name).is_some());
        if is_resize && !repeats || has_more || self.node.kind == "Resize" && !is_resize {
            return None;
        }
        // The factors that the shapes suggest must be those that the node states: as floats, or as the size of the
        // result.
        let factors = [height / rows, width / columns];
        // The factors are input 2 of a `Resize` and input 1 of an `Upsample`; input 3 of a `Resize` is the size.
        let scales = if is_resize { 2 } else { 1 };
        let stated = self.node.inputs.get(scales).and_then(|name| self.file.constant(name));
        let floats = stated.and_then(|constant| constant.floats.as_deref()).filter(|floats| !floats.is_empty());
        let sized_by = match floats {
            Some(floats) => {
                let wanted = [1.0, 1.0, factors[0] as f32, factors[1] as f32];
                (floats == wanted).then_some(None)?
            }
            None if is_resize && !self.is_left_out(3) => (self.integers(3)? == self.result()?).then_some(Some(3))?,
            None => return None,
        };
        self.repeating(factors, Axis::Along, sized_by)
    }

    /// An op that makes a block of `factors` rows and columns from each row and column of the first operand, which is
    /// an image. `channels` says what it does along the channels; `sized_by` is the operand that only states the size
    /// of the result, if there is one.
    fn repeating(&self, factors: [i64; 2], channels: Axis, sized_by: Option<usize>) -> Option<Window> {
        let (input, result) = (self.shape(0)?, self.result()?);
        if input.len() != 4 || result.len() != 4 || input[0] != result[0] || factors.iter().any(|&factor| factor < 1) {
            return None;
        }
        let is_right = [0, 1].iter().all(|&axis| input[axis + 2].checked_mul(factors[axis]) == Some(result[axis + 2]));
        let [rows, columns] = factors.map(|factor| Axis::Repeat { factor });
        is_right.then(|| Window { sized_by, ..over([Axis::Along, channels, rows, columns]) })
    }

    /// A node whose result has the shape of its first operand, and which reads all elements along the dimensions
    /// `axes` and only its own place along the others.
    fn across(&self, axes: &[usize]) -> Option<Window> {
        let shape = self.shape(0)?;
        let axis = |axis: usize| if axes.contains(&axis) { Axis::Across } else { Axis::Along };
        let axes: Vec<Axis> = (0..shape.len()).map(axis).collect();
        (self.result()? == shape).then_some(Window { operand: 0, axes, neutral: None, sized_by: None })
    }

    /// A quantisation with one scale for all elements, or with one for each place along a dimension. With the latter
    /// the result depends on which place it is, so that dimension must not be cut: it counts as read across.
    fn scaled(&self) -> Option<Window> {
        if self.node.int("block_size", 0) != 0 {
            return None;
        }
        match self.shape(1)? {
            [] => self.across(&[]),
            [_] => self.across(&[self.axis(self.node.int("axis", 1))?]),
            // Scales of more dimensions belong to blocks of elements, and a tile may cut a block.
            _ => None,
        }
    }

    /// A slice with steps of one. Older files state its starts and ends as attributes, newer ones read them from
    /// inputs. The result must have the shape that follows from them.
    fn slice(&self) -> Option<Meaning> {
        let (shape, result) = (self.shape(0)?, self.result()?);
        let reads = self.node.attribute("starts").is_none();
        let (starts, ends) = match reads {
            true => (self.integers(1)?, self.integers(2)?),
            false => (self.stated("starts")?, self.stated("ends")?),
        };
        // Without a list of axes, starts and ends are those of the first dimensions.
        let all: Vec<i64> = (0..).take(starts.len()).collect();
        let axes = match reads {
            true if self.is_left_out(3) => &all,
            true => self.integers(3)?,
            false => self.stated("axes").unwrap_or(&all),
        };
        let has_steps = reads && !self.is_left_out(4) && self.integers(4)?.iter().any(|&step| step != 1);
        if has_steps || ends.len() != starts.len() || axes.len() != starts.len() || result.len() != shape.len() {
            return None;
        }
        // Dimensions that the node does not name are not cut. As in Python, places outside of a dimension are moved to
        // its ends.
        let mut begin = vec![0; shape.len()];
        let mut extent = shape.to_vec();
        for ((&start, &end), &axis) in starts.iter().zip(ends).zip(axes) {
            let axis = self.axis(axis)?;
            let length = shape[axis];
            let (low, high) = (from_end(start, length).clamp(0, length), from_end(end, length).clamp(0, length));
            (begin[axis], extent[axis]) = (low, (high - low).max(0));
        }
        (extent == result).then(|| Meaning::Slice { operand: 0, starts: vec![begin] })
    }

    /// The whole numbers of an attribute, if the node has it.
    fn stated(&self, name: &str) -> Option<&[i64]> {
        self.node.attribute(name).map(|attribute| attribute.ints.as_slice())
    }

    /// A concatenation, if its operands agree with the result in every other dimension and add up in this one.
    fn concatenation(&self) -> Option<Meaning> {
        let result = self.result()?;
        let axis = self.axis(self.node.attribute("axis")?.int)?;
        let mut total = 0i64;
        for operand in 0..self.node.inputs.len() {
            let shape = self.shape(operand)?;
            let is_same = |dimension: usize| dimension == axis || shape[dimension] == result[dimension];
            if shape.len() != result.len() || !(0..shape.len()).all(is_same) {
                return None;
            }
            total = shape[axis].checked_add(total)?;
        }
        (total == result[axis]).then_some(Meaning::Concat { axis })
    }
}

/// A window that explains no attribute, so that all attributes must be equal in both files.
fn exact(window: Window) -> Interpretation {
    (Meaning::Window(window), &[])
}

/// A window over the first operand, with what it does along its four dimensions.
fn over(axes: [Axis; 4]) -> Window {
    Window { operand: 0, axes: axes.to_vec(), neutral: None, sized_by: None }
}

/// A place on an axis; a negative number counts from the end.
fn from_end(place: i64, length: i64) -> i64 {
    if place < 0 { place.saturating_add(length) } else { place }
}
