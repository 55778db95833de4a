//! What operators of TensorFlow Lite do with the places of elements.
//!
//! The check that a changed model computes the same as the original (`memplan_verify::equivalence`) has to know which
//! elements of an operator's operands each element of its result depends on, so that it can tell a convolution of a
//! part of an image from one of the whole image. That is the operator's [`Meaning`]: for a window, what it does along
//! each dimension ([`Axis`]): `Along` reads the same place, `Across` may read every place, `Slide` reads a window
//! that moves, `Repeat` makes several places from one. Images are batch, rows, columns, channels.
//!
//! A meaning is a promise. So each function gives one only if every runtime does exactly that: the element types fit,
//! the numbers that decide about places are constants, and the shapes in the file are those that a runtime computes.
//! Otherwise it gives `None`, and the operator is [`Meaning::Opaque`], which promises nothing.
//!
//! An operator of a tile may get a border of elements in front of its window where the original has padding. That is
//! right only if such an element has the same effect as padding (`neutral`):
//!
//! - A convolution adds nothing for padding, and nothing for an element that holds the zero point. (For floats that is
//!   0 times a weight, which is 0 only if the weight is finite.)
//! - An average pool does not count padding among the elements that it divides by. No element has that effect.
//! - A maximum pool starts from the lowest number of its type, so an element that holds it changes nothing.

use std::collections::BTreeMap;

use memplan_verify::equivalence::{Axis, Meaning, Slide, Window};

/// What is known about a tensor.
pub(super) struct Facts<'a> {
    /// Its dimensions; `None` if they are not known.
    pub(super) shape: Option<Vec<i64>>,
    /// What its numbers stand for.
    pub(super) quantity: Quantity,
    /// Its content, if it is a constant.
    pub(super) constant: Option<&'a Constant>,
}

/// What a number in a tensor stands for.
pub(super) struct Quantity {
    /// The element type.
    pub(super) element: &'static str,
    /// Element type and quantisation as text, to be compared.
    pub(super) text: String,
    /// How many scales there are.
    pub(super) scales: usize,
    /// The zero point, 0 if the tensor is not quantised; `None` if channels have different ones.
    pub(super) zero_point: Option<i64>,
}

/// What a constant holds.
#[derive(Default)]
pub(super) struct Constant {
    /// Its bytes, if they are at most a few thousand.
    pub(super) bytes: Option<Vec<u8>>,
    /// Taken as floats of 32 bits, all of its elements are finite.
    pub(super) has_finite_floats: bool,
}

/// An operator with what is known about its tensors.
pub(super) struct Operator<'a> {
    /// Its name.
    pub(super) kind: &'a str,
    /// Its options as text, by name.
    pub(super) options: &'a BTreeMap<String, String>,
    /// What it reads; `None` for a tensor that is left out.
    pub(super) operands: Vec<Option<&'a Facts<'a>>>,
    /// What it writes.
    pub(super) results: Vec<Option<&'a Facts<'a>>>,
}

/// What an operator does, and the names of the options that this meaning expresses completely.
type Interpretation = (Meaning, &'static [&'static str]);

/// Operators that compute each element of their result from the elements at the same place.
#[rustfmt::skip]
const POINTWISE: [&str; 48] = [
    "ABS", "ADD", "ADD_N", "ATAN2", "CAST", "CEIL", "COS", "DEQUANTIZE", "DIV", "ELU", "EQUAL", "EXP", "FLOOR",
    "FLOOR_DIV", "FLOOR_MOD", "GELU", "GREATER", "GREATER_EQUAL", "HARD_SWISH", "LEAKY_RELU", "LESS", "LESS_EQUAL",
    "LOG", "LOGICAL_AND", "LOGICAL_NOT", "LOGICAL_OR", "LOGISTIC", "MAXIMUM", "MINIMUM", "MUL", "NEG", "NOT_EQUAL",
    "POW", "PRELU", "QUANTIZE", "RELU", "RELU6", "RELU_0_TO_1", "RELU_N1_TO_1", "ROUND", "RSQRT", "SIGN", "SIN",
    "SQRT", "SQUARE", "SQUARED_DIFFERENCE", "SUB", "TANH",
];

/// Operators that read or change something that is not among their tensors, or run graphs that may do so.
#[rustfmt::skip]
const EFFECTS: [&str; 21] = [
    "CALL", "CALL_ONCE", "DELEGATE", "VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE", "RANDOM_UNIFORM",
    "RANDOM_STANDARD_NORMAL", "MULTINOMIAL", "HASHTABLE", "HASHTABLE_FIND", "HASHTABLE_IMPORT", "HASHTABLE_SIZE",
    "IF", "WHILE", "STABLEHLO_WHILE", "STABLEHLO_CASE", "STABLEHLO_CUSTOM_CALL", "STABLEHLO_RNG_BIT_GENERATOR",
    "STABLEHLO_COMPOSITE", "PLACEHOLDER_FOR_GREATER_OP_CODES",
];

/// Whether an operator must run exactly once, and in its place in the order: it reads or changes something besides its
/// tensors, or it is not known whether it does.
pub(super) fn has_effect(kind: &str) -> bool {
    EFFECTS.contains(&kind) || kind.starts_with("CUSTOM") || kind.starts_with("OPERATOR_")
}

/// What an operator does with places, as far as it is known, and the names of the options that this meaning covers.
/// These options need not be compared again: a tile, for example, may have another padding than the original.
pub(super) fn interpret(operator: &Operator) -> Interpretation {
    let known: Option<Interpretation> = match operator.kind {
        "CONV_2D" => operator.convolution("CONV_2D").map(|window| (Meaning::Window(window), &["padding"][..])),
        "DEPTHWISE_CONV_2D" => {
            operator.convolution("DEPTHWISE_CONV_2D").map(|window| (Meaning::Window(window), &["padding"][..]))
        }
        "MAX_POOL_2D" | "AVERAGE_POOL_2D" | "L2_POOL_2D" => {
            operator.pool().map(|window| (Meaning::Window(window), &["padding"][..]))
        }
        "SOFTMAX" | "LOG_SOFTMAX" => operator.along_last().map(|window| (Meaning::Window(window), &[][..])),
        "TRANSPOSE_CONV" => operator.spread().map(|window| (Meaning::Window(window), &["padding"][..])),
        "RESIZE_NEAREST_NEIGHBOR" => operator.nearest().map(|window| (Meaning::Window(window), &[][..])),
        "SLICE" => operator.slice().map(|meaning| (meaning, &[][..])),
        "STRIDED_SLICE" => operator.strided_slice().map(|meaning| (meaning, &STRIDED_SLICE[..])),
        "SPLIT" => operator.split().map(|meaning| (meaning, &["num_splits"][..])),
        "PAD" | "PADV2" => operator.pad().map(|meaning| (meaning, &[][..])),
        "CONCATENATION" => operator.concatenation().map(|meaning| (meaning, &["axis"][..])),
        kind if POINTWISE.contains(&kind) => Some((Meaning::Pointwise, &[])),
        // Nothing is known about how other operators use places.
        _ => None,
    };
    known.unwrap_or((Meaning::Opaque, &[]))
}

/// The options of a STRIDED_SLICE.
const STRIDED_SLICE: [&str; 6] =
    ["begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask", "offset"];

impl Operator<'_> {
    // The next four functions answer `None` if the operator does not have the operand, the result or the option, or if
    // the shape is not known.

    /// What is known about an operand.
    fn operand(&self, place: usize) -> Option<&Facts<'_>> {
        self.operands.get(place).copied().flatten()
    }

    /// The shape of an operand.
    fn shape(&self, place: usize) -> Option<&[i64]> {
        self.operand(place)?.shape.as_deref()
    }

    /// The shape of the first result.
    fn result(&self) -> Option<&[i64]> {
        self.results.first().copied().flatten()?.shape.as_deref()
    }

    /// An option that is a number.
    fn option(&self, name: &str) -> Option<i64> {
        self.options.get(name)?.parse().ok()
    }

    /// A convolution, if its input and its weights have types for which a runtime computes each element from its window
    /// alone.
    fn convolution(&self, kind: &str) -> Option<Window> {
        let (input, weights) = (self.operand(0)?, self.operand(1)?);
        let constant = weights.constant?;
        // Other types have no meaning here. With floats as input and integers as weights, for example, the runtime
        // first quantises the whole input, so each element depends on all of it.
        let neutral = match (input.quantity.element, weights.quantity.element) {
            ("FLOAT32", "FLOAT32") => constant.has_finite_floats.then(|| vec![0; 4]),
            ("INT8", "INT8" | "INT4") | ("UINT8", "UINT8") | ("INT16", "INT8") => zero(&input.quantity),
            _ => return None,
        };
        let &[_, height, width, _] = weights.shape.as_deref()? else { return None };
        let dilation = [self.option("dilation_hfactor")?, self.option("dilation_wfactor")?];
        let axes = self.sliding([height, width], dilation)?;
        // The number of channels of the result is the first dimension of the weights, or the last for a depthwise one.
        let channels = if kind == "CONV_2D" { weights.shape.as_deref()?[0] } else { weights.shape.as_deref()?[3] };
        let is_right = self.result()?.last() == Some(&channels);
        is_right.then(|| Window {
            operand: 0,
            axes: vec![Axis::Along, axes[0], axes[1], Axis::Across],
            neutral,
            sized_by: None,
        })
    }

    /// A pooling. A border of the lowest number does not change a maximum; for an average there is no such number.
    fn pool(&self) -> Option<Window> {
        let neutral = match (self.kind, self.operand(0)?.quantity.element) {
            ("MAX_POOL_2D", "INT8") => Some(i8::MIN.to_le_bytes().to_vec()),
            ("MAX_POOL_2D", "UINT8") => Some(vec![u8::MIN]),
            ("MAX_POOL_2D", "INT16") => Some(i16::MIN.to_le_bytes().to_vec()),
            ("MAX_POOL_2D", "FLOAT32") => Some(f32::MIN.to_le_bytes().to_vec()),
            // An average or an L2 pool, or a type for which the lowest number is not known here.
            _ => None,
        };
        let axes = self.sliding([self.option("filter_height")?, self.option("filter_width")?], [1, 1])?;
        // Each channel of the result is one of the input (`sliding` has compared the batches).
        let has_same_channels = self.shape(0)?.last() == self.result()?.last();
        let axes = vec![Axis::Along, axes[0], axes[1], Axis::Along];
        has_same_channels.then_some(Window { operand: 0, axes, neutral, sized_by: None })
    }

    /// An operator that reads all elements along the last dimension, and only its own place along the others.
    fn along_last(&self) -> Option<Window> {
        let shape = self.shape(0)?;
        let mut axes = vec![Axis::Along; shape.len()];
        *axes.last_mut()? = Axis::Across;
        (self.result()? == shape).then_some(Window { operand: 0, axes, neutral: None, sized_by: None })
    }

    /// A transposed convolution whose stride is the size of its window: each element of the input makes a block of the
    /// result, and blocks do not overlap. Operand 0 states the size of the result, 1 are the weights, 2 is the input.
    fn spread(&self) -> Option<Window> {
        let (weights, input) = (self.operand(1)?, self.operand(2)?);
        weights.constant?;
        if !matches!(
            (input.quantity.element, weights.quantity.element),
            ("FLOAT32", "FLOAT32") | ("INT8", "INT8") | ("UINT8", "UINT8") | ("INT16", "INT8")
        ) {
            return None;
        }
        let &[channels, height, width, _] = weights.shape.as_deref()? else { return None };
        let factors = [self.option("stride_h")?, self.option("stride_w")?];
        let result = self.result()?;
        let is_block = factors == [height, width] && result.last() == Some(&channels);
        let says_size = integers(self.operand(0)?)?.as_slice() == result;
        (is_block && says_size).then(|| self.repeating(2, 0, factors, Axis::Across)).flatten()
    }

    /// A resize to the nearest neighbour by whole factors, if all ways in which runtimes compute it repeat every row
    /// and column so many times. Operand 1 states the size of the result.
    fn nearest(&self) -> Option<Window> {
        let (input, result) = (self.shape(0)?, self.result()?);
        let (&[_, rows, columns, _], &[_, height, width, _]) = (input, result) else { return None };
        // With aligned corners places are not repeated equally often.
        let says_size = integers(self.operand(1)?)? == [height, width];
        if !says_size || self.option("align_corners")? != 0 || rows < 1 || columns < 1 {
            return None;
        }
        let is_half = self.option("half_pixel_centers")? != 0;
        let factors = [height / rows, width / columns];
        let agrees = repeats(rows, height, is_half) && repeats(columns, width, is_half);
        agrees.then(|| self.repeating(0, 1, factors, Axis::Along)).flatten()
    }

    /// An operator that makes a block of `factors` rows and columns from each row and column of an operand, which is an
    /// image. `sized_by` is the operand that only states the size of the result; `channels` says what it does along the
    /// channels.
    fn repeating(&self, operand: usize, sized_by: usize, factors: [i64; 2], channels: Axis) -> Option<Window> {
        let (input, result) = (self.shape(operand)?, self.result()?);
        if input.len() != 4 || result.len() != 4 || input[0] != result[0] || factors.iter().any(|factor| *factor < 1) {
            return None;
        }
        let is_right = [0, 1].iter().all(|&axis| input[axis + 1].checked_mul(factors[axis]) == Some(result[axis + 1]));
        let [rows, columns] = factors.map(|factor| Axis::Repeat { factor });
        is_right.then(|| Window {
            operand,
            axes: vec![Axis::Along, rows, columns, channels],
            neutral: None,
            sized_by: Some(sized_by),
        })
    }

    /// How a window of this size and dilation (rows, columns) moves along rows and columns, if the result has the shape
    /// that follows from it. The option `padding` is 0 for `SAME` and 1 for `VALID`.
    fn sliding(&self, size: [i64; 2], dilation: [i64; 2]) -> Option<[Axis; 2]> {
        let (input, result) = (self.shape(0)?, self.result()?);
        let strides = [self.option("stride_h")?, self.option("stride_w")?];
        let is_same = match self.option("padding")? {
            0 => true,
            1 => false,
            // The schema has no other padding.
            _ => return None,
        };
        if input.len() != 4 || result.len() != 4 || input[0] != result[0] {
            return None;
        }
        Some([
            slide([size[0], strides[0], dilation[0]], is_same, input[1], result[1])?,
            slide([size[1], strides[1], dilation[1]], is_same, input[2], result[2])?,
        ])
    }

    /// A slice, if its result has the shape that follows from its constant begins and sizes. A size of -1 means
    /// everything up to the end.
    fn slice(&self) -> Option<Meaning> {
        let (shape, result) = (self.shape(0)?, self.result()?);
        let (begin, size) = (integers(self.operand(1)?)?, integers(self.operand(2)?)?);
        if [begin.len(), size.len(), result.len()] != [shape.len(); 3] {
            return None;
        }
        for axis in 0..shape.len() {
            // What lies between the begin of the slice and the end of this dimension.
            let rest = shape[axis].saturating_sub(begin[axis]);
            let extent = if size[axis] == -1 { rest } else { size[axis] };
            if !(0..=shape[axis]).contains(&begin[axis]) || extent != result[axis] || extent > rest {
                return None;
            }
        }
        Some(Meaning::Slice { operand: 0, starts: vec![begin] })
    }

    /// A slice with strides of 1 and without masks that change the number of dimensions. Operands 1 and 2 have its
    /// begins and ends. With the option `offset` operand 2 has lengths instead of ends, and the slice is not taken.
    fn strided_slice(&self) -> Option<Meaning> {
        let (shape, result) = (self.shape(0)?, self.result()?);
        let [begin, end, strides] = [1, 2, 3].map(|place| self.operand(place).and_then(integers));
        let (mut begin, end, strides) = (begin?, end?, strides?);
        let is_plain = ["ellipsis_mask", "new_axis_mask", "shrink_axis_mask", "offset"]
            .iter()
            .all(|name| self.option(name) == Some(0));
        let lengths = [begin.len(), end.len(), strides.len(), result.len()];
        if !is_plain || lengths != [shape.len(); 4] || strides.iter().any(|stride| *stride != 1) {
            return None;
        }
        // If the bit of an axis is set in `begin_mask` or `end_mask`, the slice begins at the first place, or ends at
        // the last place, of that axis.
        let (begin_mask, end_mask) = (self.option("begin_mask")?, self.option("end_mask")?);
        for axis in 0..shape.len() {
            let length = shape[axis];
            let low = if is_set(begin_mask, axis) { 0 } else { from_end(begin[axis], length) };
            let high = if is_set(end_mask, axis) { length } else { from_end(end[axis], length) };
            // Runtimes do not agree on the meaning of places outside of the tensor, so these get none here.
            if low < 0 || high < low || high > length || high - low != result[axis] {
                return None;
            }
            begin[axis] = low;
        }
        Some(Meaning::Slice { operand: 0, starts: vec![begin] })
    }

    /// A split into equal parts along one axis. Operand 0 is the axis, operand 1 the tensor; each result starts where
    /// the one before it ends.
    fn split(&self) -> Option<Meaning> {
        let shape = self.shape(1)?;
        let &[axis] = integers(self.operand(0)?)?.as_slice() else { return None };
        let axis = axis_of(axis, shape.len())?;
        let mut starts = Vec::new();
        let mut at = 0;
        for result in &self.results {
            let part = result.as_ref()?.shape.as_deref()?;
            let is_same = |dimension: usize| dimension == axis || part.get(dimension) == shape.get(dimension);
            if part.len() != shape.len() || !(0..shape.len()).all(is_same) {
                return None;
            }
            // The kernel takes the length of the first part for all of them.
            if part[axis] != self.result()?[axis] {
                return None;
            }
            starts.push((0..shape.len()).map(|dimension| if dimension == axis { at } else { 0 }).collect());
            at += part[axis];
        }
        (at == shape[axis]).then_some(Meaning::Slice { operand: 1, starts })
    }

    /// A padding whose widths are constant and fit the shapes, and which fills the border with one known value.
    /// Operand 1 has two widths for each dimension, at its start and at its end. Operand 2 has the value; without that
    /// operand the value is zero.
    fn pad(&self) -> Option<Meaning> {
        let (shape, result) = (self.shape(0)?, self.result()?);
        let borders = integers(self.operand(1)?)?;
        if self.shape(1)? != [i64::try_from(shape.len()).ok()?, 2] || result.len() != shape.len() {
            return None;
        }
        if borders.len() != 2 * shape.len() {
            return None;
        }
        for axis in 0..shape.len() {
            let (before, after) = (borders[2 * axis], borders[2 * axis + 1]);
            let total = before.checked_add(shape[axis]).and_then(|total| total.checked_add(after));
            if before < 0 || after < 0 || total != Some(result[axis]) {
                return None;
            }
        }
        let output = &self.results.first()?.as_ref()?.quantity;
        // The value of the border. It must have the quantisation of the output: else the same bytes would mean another
        // number.
        let fill = match self.operand(2) {
            Some(value) if value.quantity.text == output.text => value.constant?.bytes.clone()?,
            Some(_) => return None,
            None => zero(output)?,
        };
        // A fill of several elements would be no valid file, and the check can only use a single one.
        let is_one = Some(fill.len()) == width(output.element);
        is_one.then(|| Meaning::Pad { before: borders.iter().step_by(2).copied().collect(), fill })
    }

    /// A concatenation without activation, if its operands agree with the result in every other dimension and add up in
    /// this one.
    fn concatenation(&self) -> Option<Meaning> {
        let result = self.result()?;
        let axis = axis_of(self.option("axis")?, result.len())?;
        let mut total = 0;
        for operand in &self.operands {
            let shape = operand.as_ref()?.shape.as_deref()?;
            let is_same = |dimension: usize| dimension == axis || shape[dimension] == result[dimension];
            if shape.len() != result.len() || !(0..shape.len()).all(is_same) {
                return None;
            }
            total += shape[axis];
        }
        (total == result[axis] && self.option("fused_activation_function") == Some(0))
            .then_some(Meaning::Concat { axis })
    }
}

/// Whether a resize of an axis from `places` to `results` elements repeats each element `results / places` times, in
/// whatever way a runtime computes the nearest neighbour. Runtimes use floats. Unless there are half-pixel centres
/// (`is_half`), some use fixed-point numbers of 16 fractional bits, which are faster. If the two ways gave different
/// places, the result would depend on the runtime and on the size of a tile.
fn repeats(places: i64, results: i64, is_half: bool) -> bool {
    let factor = results / places;
    // The loop below computes every place, so the length is limited to 65536; no image has more rows or columns.
    if factor < 1 || factor.checked_mul(places) != Some(results) || results > 1 << 16 {
        return false;
    }
    let scale = places as f32 / results as f32;
    let offset = if is_half { 0.5 } else { 0.0 };
    // The factor from results to places in 65536ths, rounded down, plus one: the runtime computes it so.
    let fixed = (places << 16) / results + 1;
    (0..results).all(|place| {
        let float = (((place as f32 + offset) * scale).floor() as i64).min(places - 1);
        let fixed = ((place * fixed) >> 16).min(places - 1);
        float == place / factor && (is_half || fixed == place / factor)
    })
}

/// How a window of a size, a stride and a dilation slides along one axis of `places` elements, with padding
/// (`is_same`) or without. `None` if that would not give the `expected` number of results.
fn slide([size, stride, dilation]: [i64; 3], is_same: bool, places: i64, expected: i64) -> Option<Axis> {
    if size < 1 || dilation < 1 || stride < 1 {
        return None;
    }
    // As runtimes do it: with `SAME` padding there is a window for each stride, places / stride rounded up. The
    // elements that are missing for the last window are put half at the start, rounded down, and the rest at the end.
    let reach = (size - 1).checked_mul(dilation)?.checked_add(1)?;
    // Without padding the window fits in (places - reach) / stride + 1 positions, which is the second formula.
    let count = if is_same { (places + stride - 1) / stride } else { (places + stride - reach) / stride };
    let missing = (count - 1).checked_mul(stride)?.checked_add(reach)? - places;
    let before = if is_same { missing.max(0) / 2 } else { 0 };
    (count == expected && count > 0).then_some(Axis::Slide(Slide { size, stride, dilation, before }))
}

/// Whether a mask has the bit of an axis.
fn is_set(mask: i64, axis: usize) -> bool {
    axis < 32 && mask >> axis & 1 == 1
}

/// A place on an axis; a negative number counts from the end.
fn from_end(place: i64, length: i64) -> i64 {
    if place < 0 { place.saturating_add(length) } else { place }
}

/// The place of a dimension; a negative number counts from the end. `None` if there is no such dimension.
fn axis_of(number: i64, rank: usize) -> Option<usize> {
    let rank = i64::try_from(rank).ok()?;
    let number = if number < 0 { number + rank } else { number };
    usize::try_from(number).ok().filter(|_| number < rank)
}

/// The integers that a constant holds; `None` if it is no constant, has other elements or is long.
fn integers(facts: &Facts) -> Option<Vec<i64>> {
    let bytes = facts.constant?.bytes.as_deref()?;
    let numbers: Vec<i64> = match facts.quantity.element {
        "INT32" => bytes.chunks_exact(4).map(|n| i32::from_le_bytes([n[0], n[1], n[2], n[3]]).into()).collect(),
        "INT64" => bytes.chunks_exact(8).map(|n| i64::from_le_bytes(std::array::from_fn(|i| n[i]))).collect(),
        // Places and sizes have one of these two types.
        _ => return None,
    };
    let count = facts.shape.as_ref()?.iter().try_fold(1i64, |product, n| product.checked_mul(*n))?;
    (i64::try_from(numbers.len()) == Ok(count)).then_some(numbers)
}

/// The bytes of an element; `None` for types that are not needed here.
fn width(element: &str) -> Option<usize> {
    Some(match element {
        "INT8" | "UINT8" | "BOOL" => 1,
        "INT16" => 2,
        "FLOAT32" | "INT32" => 4,
        "INT64" => 8,
        _ => return None,
    })
}

/// The bytes of an element that stands for zero: the zero point, or 0 where nothing is quantised.
fn zero(quantity: &Quantity) -> Option<Vec<u8>> {
    let zero_point = quantity.zero_point?;
    match quantity.element {
        "INT8" => i8::try_from(zero_point).ok().map(|zero| zero.to_le_bytes().to_vec()),
        "UINT8" => u8::try_from(zero_point).ok().map(|zero| vec![zero]),
        "INT16" => i16::try_from(zero_point).ok().map(|zero| zero.to_le_bytes().to_vec()),
        element if zero_point == 0 => width(element).map(|bytes| vec![0; bytes]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The meaning of a pooling of 4 by 4 places and 8 channels to 2 by 2 places.
    fn pooled(channels: i64) -> Meaning {
        let facts = |shape: [i64; 4]| {
            let quantity = Quantity { element: "INT8", text: String::new(), scales: 1, zero_point: Some(0) };
            Facts { shape: Some(shape.to_vec()), quantity, constant: None }
        };
        let (input, result) = (facts([1, 4, 4, 8]), facts([1, 2, 2, channels]));
        let options = ["stride_h", "stride_w", "filter_height", "filter_width"].map(|name| (name, "2"));
        let options = options.into_iter().chain([("padding", "1")]);
        let options = options.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let (operands, results) = (vec![Some(&input)], vec![Some(&result)]);
        interpret(&Operator { kind: "MAX_POOL_2D", options: &options, operands, results }).0
    }

    #[test]
    fn a_pooling_keeps_the_number_of_channels() {
        assert!(matches!(pooled(8), Meaning::Window(_)));
        assert!(matches!(pooled(4), Meaning::Opaque));
    }

    /// What a `SPLIT` of six numbers into parts of these lengths means.
    fn split(parts: &[i64]) -> Meaning {
        let quantity = || Quantity { element: "INT32", text: String::new(), scales: 1, zero_point: Some(0) };
        let facts = |length: i64| Facts { shape: Some(vec![length]), quantity: quantity(), constant: None };
        let zero = Constant { bytes: Some(vec![0; 4]), ..Constant::default() };
        let axis = Facts { shape: Some(vec![]), quantity: quantity(), constant: Some(&zero) };
        let (input, results) = (facts(6), parts.iter().map(|&part| facts(part)).collect::<Vec<_>>());
        let (operands, results) = (vec![Some(&axis), Some(&input)], results.iter().map(Some).collect());
        interpret(&Operator { kind: "SPLIT", options: &BTreeMap::new(), operands, results }).0
    }

    #[test]
    fn a_split_has_equal_parts() {
        assert!(matches!(split(&[2, 2, 2]), Meaning::Slice { .. }));
        assert!(matches!(split(&[2, 1, 3]), Meaning::Opaque));
        assert!(matches!(split(&[2, 2]), Meaning::Opaque));
    }
}
