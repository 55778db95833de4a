//! Computes the content of small integer tensors, where a shape depends on it.
//!
//! Exporters compute shapes inside the graph. If the shape of `x` is known, all of these are known numbers:
//!
//! ```text
//!   Shape(x) → [8, 3, 32]    Gather(.., 0) → [8]    Concat(.., [-1]) → [8, -1]    Reshape(x, ..) → shape [8, 96]
//! ```
//!
//! The content of a tensor is a list of its elements; tensors with more than `NUMBERS` elements are not followed. A
//! [`Context`] is a node with what is known about its inputs, and its `numbers(i)` is the content of input `i`. All
//! functions give `None` if the content cannot be told.

use super::context::{BOOL, Context};
use super::draft::NUMBERS;
use super::rules::slice_length;
use super::shape::{axes, axis, broadcast, elements};

/// The content of the node's first output. Truth values are 0 and 1. `None` if there is no rule for this kind of node,
/// if the content of an input is not known, if a number overflows, or if the output has more than `NUMBERS` elements.
pub(super) fn evaluate(context: &Context) -> Option<Vec<i64>> {
    // Nodes of other domains may have the same names with another meaning.
    if context.node.is_foreign() {
        return None;
    }
    let numbers = match context.node.kind.as_str() {
        "Shape" => shape(context)?,
        "Size" => vec![i64::try_from(elements(context.shape(0)?)?).ok()?],
        "Constant" => constant(context)?,
        "ConstantOfShape" => constant_of_shape(context)?,
        "Identity" | "Squeeze" | "Unsqueeze" | "Reshape" | "Flatten" | "Floor" | "Ceil" | "Round" => {
            context.numbers(0)?.to_vec()
        }
        "Cast" => cast(context.numbers(0)?, usize::try_from(context.int("to", 0)).ok()?)?,
        "CastLike" => cast(context.numbers(0)?, context.element(1))?,
        "Gather" => gather(context)?,
        "Concat" => concat(context)?,
        "Slice" => slice(context)?,
        "Add" => both(context, i64::checked_add)?,
        "Sub" => both(context, i64::checked_sub)?,
        "Mul" => both(context, i64::checked_mul)?,
        // All numbers here are integers. A division of floats is only evaluated if it leaves no rest; otherwise its
        // value counts as unknown.
        "Div" if context.is_integer(0) => both(context, i64::checked_div)?,
        "Div" => both(context, |a, b| a.checked_rem(b).filter(|&rest| rest == 0).and_then(|_| a.checked_div(b)))?,
        // The rest has the sign of the divisor, as in Python: -7 mod 3 is 2.
        "Mod" if context.int("fmod", 0) == 0 => both(context, |a, b| {
            a.checked_rem(b).map(|rest| if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest })
        })?,
        "Equal" => both(context, |a, b| Some((a == b).into()))?,
        "Less" => both(context, |a, b| Some((a < b).into()))?,
        "LessOrEqual" => both(context, |a, b| Some((a <= b).into()))?,
        "Greater" => both(context, |a, b| Some((a > b).into()))?,
        "GreaterOrEqual" => both(context, |a, b| Some((a >= b).into()))?,
        "And" => both(context, |a, b| Some((a != 0 && b != 0).into()))?,
        "Or" => both(context, |a, b| Some((a != 0 || b != 0).into()))?,
        "Not" => context.numbers(0)?.iter().map(|&number| (number == 0).into()).collect(),
        "Where" => choose(context)?,
        "Abs" => context.numbers(0)?.iter().map(|number| number.checked_abs()).collect::<Option<_>>()?,
        "Min" => fold(context, i64::min)?,
        "Max" => fold(context, i64::max)?,
        "Neg" => context.numbers(0)?.iter().map(|number| number.checked_neg()).collect::<Option<_>>()?,
        "Range" => range(context)?,
        "ReduceProd" => product(context)?,
        // All other nodes, such as a convolution, compute no shapes.
        _ => return None,
    };
    (numbers.len() <= NUMBERS).then_some(numbers)
}

/// The content of a `Shape`: the dimensions of its input, or some of them.
fn shape(context: &Context) -> Option<Vec<i64>> {
    let shape = context.shape(0)?;
    shape[context.shape_window(shape.len())].iter().map(|&number| i64::try_from(number).ok()).collect()
}

/// The content of a `Constant`, which stands in its only attribute. The attribute's name says of which type it is.
fn constant(context: &Context) -> Option<Vec<i64>> {
    let attribute = context.node.attributes.first()?;
    match attribute.name.as_str() {
        "value" => attribute.tensor.as_ref()?.numbers.clone(),
        "value_int" => Some(vec![attribute.int]),
        "value_ints" => Some(attribute.ints.clone()),
        // Floats and texts are no shapes.
        _ => None,
    }
}

/// The content of a `ConstantOfShape`: the same number everywhere. Input 0 is the shape. Without the attribute `value`
/// the number is a float, 0.0, and shapes are not computed from floats.
fn constant_of_shape(context: &Context) -> Option<Vec<i64>> {
    let value = context.node.attribute("value")?.tensor.as_ref()?.numbers.as_ref()?;
    let count = context.numbers(0)?.iter().try_fold(1u64, |product, &n| product.checked_mul(u64::try_from(n).ok()?))?;
    (count <= NUMBERS as u64).then(|| vec![value.first().copied().unwrap_or(0); count as usize])
}

/// The content of a `Gather`: the numbers of input 0 at the places that input 1 lists. Input 0 must be a list; tensors
/// with more dimensions are not evaluated.
fn gather(context: &Context) -> Option<Vec<i64>> {
    let list = context.numbers(0).filter(|_| context.shape(0).is_some_and(|shape| shape.len() == 1))?;
    let indices = context.numbers(1)?;
    indices.iter().map(|&index| list.get(axis(index, list.len())?).copied()).collect()
}

/// The numbers of all inputs in a row, if no input is known to have more than one dimension. With more dimensions the
/// numbers of the inputs would be interleaved.
fn concat(context: &Context) -> Option<Vec<i64>> {
    let mut all = Vec::new();
    for index in 0..context.facts.len() {
        let is_list = context.shape(index).is_none_or(|shape| shape.len() <= 1);
        all.extend(context.numbers(index).filter(|_| is_list)?);
        if all.len() > NUMBERS {
            return None;
        }
    }
    Some(all)
}

/// A slice of a list of numbers, as in Python: a negative start or end counts from the end of the list.
fn slice(context: &Context) -> Option<Vec<i64>> {
    let list = context.numbers(0).filter(|_| context.shape(0).is_some_and(|shape| shape.len() == 1))?;
    let start = *context.listed("starts", 1)?.first()?;
    let end = *context.listed("ends", 2)?.first()?;
    let step = context.numbers(4).map_or(Some(1), |steps| steps.first().copied())?;
    // `count` is how many numbers the slice has. `slice_length` has moved the start into the list for that; the start
    // is moved in the same way here.
    let count = slice_length(list.len() as u64, start, end, step)?;
    // An empty slice needs no start, and an empty list has no place that could be one.
    if count == 0 {
        return Some(Vec::new());
    }
    let size = i128::try_from(list.len()).ok()?;
    let start = i128::from(start) + if start < 0 { size } else { 0 };
    let start = start.clamp(0, if step < 0 { size - 1 } else { size });
    let element = |number: u64| {
        let place = start + i128::from(number) * i128::from(step);
        list.get(usize::try_from(place).ok()?).copied()
    };
    (0..count).map(element).collect()
}

/// Numbers as another element type. A truth value is 0 or 1. `None` if the type cannot hold a number exactly: 300 is no
/// number of 8 bits.
fn cast(numbers: &[i64], element: usize) -> Option<Vec<i64>> {
    if element == BOOL {
        return Some(numbers.iter().map(|&number| (number != 0).into()).collect());
    }
    numbers.iter().all(|&number| fits(number, element)).then(|| numbers.to_vec())
}

/// Whether an element type can hold a number exactly. `false` if the type is not known, or is not used for shapes.
fn fits(number: i64, element: usize) -> bool {
    let (low, high) = match element {
        // Floats of 32, 16 and 64 bits, and BFLOAT16, which have 24, 11, 53 and 8 bits for the digits of a number.
        1 => (-(1 << 24), 1 << 24),
        10 => (-(1 << 11), 1 << 11),
        11 => (-(1 << 53), 1 << 53),
        16 => (-(1 << 8), 1 << 8),
        2 => (0, u8::MAX.into()),
        3 => (i8::MIN.into(), i8::MAX.into()),
        4 => (0, u16::MAX.into()),
        5 => (i16::MIN.into(), i16::MAX.into()),
        6 => (i32::MIN.into(), i32::MAX.into()),
        7 => (i64::MIN, i64::MAX),
        9 => (0, 1),
        12 => (0, u32::MAX.into()),
        13 => (0, i64::MAX),
        _ => return false,
    };
    (low..=high).contains(&number)
}

/// The content of every input, each broadcast to the shape that all of them broadcast to. `None` if there are more than
/// `NUMBERS` numbers.
fn broadcast_inputs(context: &Context) -> Option<Vec<Vec<i64>>> {
    // A single number has the same content in every shape, so its shape need not be known.
    let shapes: Vec<&[u64]> = (0..context.facts.len())
        .map(|index| context.shape(index).or_else(|| (context.numbers(index)?.len() == 1).then_some(&[][..])))
        .collect::<Option<_>>()?;
    let shape = shapes.iter().try_fold(Vec::new(), |all, one| broadcast(&all, one))?;
    if elements(&shape)? > NUMBERS as u64 {
        return None;
    }
    shapes.iter().enumerate().map(|(index, one)| spread(context.numbers(index)?, one, &shape)).collect()
}

/// The numbers of a tensor of shape `from`, broadcast to the shape `to`. `None` if there are not as many numbers as
/// `from` has elements.
fn spread(list: &[i64], from: &[u64], to: &[u64]) -> Option<Vec<i64>> {
    if elements(from)? != list.len() as u64 {
        return None;
    }
    // A tensor without elements may have huge dimensions beside the one of length 0.
    if elements(to)? == 0 {
        return Some(Vec::new());
    }
    // `places` has, for each element of the result, its place in `list`, as far as the dimensions behind `axis` decide
    // it. Each dimension of `to`, from the last one on, makes `length` copies of `places`. If `from` has the dimension,
    // a copy is moved by `stride`, the distance of two neighbours along this dimension in `list`. If `from` lacks the
    // dimension, or has it with length 1, all copies are equal: that is broadcasting.
    let mut places = vec![0];
    let mut stride = 1;
    for (axis, &length) in to.iter().enumerate().rev() {
        let own = (axis + from.len()).checked_sub(to.len()).map_or(1, |place| from[place]);
        let step = if own == 1 { 0 } else { stride };
        places = (0..length).flat_map(|number| places.iter().map(move |place| place + number * step)).collect();
        stride *= own;
    }
    places.into_iter().map(|place| list.get(usize::try_from(place).ok()?).copied()).collect()
}

/// Applies an operator to the content of inputs 0 and 1, number by number, after broadcasting. `None` if the element
/// type cannot hold a result exactly.
fn both(context: &Context, apply: impl Fn(i64, i64) -> Option<i64>) -> Option<Vec<i64>> {
    let lists = broadcast_inputs(context)?;
    let [one, other] = lists.as_slice() else { return None };
    let numbers: Vec<i64> = one.iter().zip(other).map(|(&a, &b)| apply(a, b)).collect::<Option<_>>()?;
    // The result has the element type of input 0, except that a comparison gives truth values. These are 0 and 1, which
    // fit into every type, so testing them against the type of input 0 does no harm.
    let element = context.element(0);
    (element == 0 || numbers.iter().all(|&number| fits(number, element))).then_some(numbers)
}

/// Joins the content of all inputs, number by number, after broadcasting.
fn fold(context: &Context, join: impl Fn(i64, i64) -> i64) -> Option<Vec<i64>> {
    let joined = |one: Vec<i64>, other: Vec<i64>| one.into_iter().zip(other).map(|(a, b)| join(a, b)).collect();
    broadcast_inputs(context)?.into_iter().reduce(joined)
}

/// The content of a `Where`: at each place the number of input 1 if that of input 0 is not 0 there, else that of input
/// 2.
fn choose(context: &Context) -> Option<Vec<i64>> {
    let lists = broadcast_inputs(context)?;
    let [condition, one, other] = lists.as_slice() else { return None };
    Some(condition.iter().zip(one.iter().zip(other)).map(|(&is, (&a, &b))| if is != 0 { a } else { b }).collect())
}

/// The product of all numbers, or the numbers themselves if the node reduces over no axis. A product over some of the
/// axes is not evaluated.
fn product(context: &Context) -> Option<Vec<i64>> {
    let (numbers, rank) = (context.numbers(0)?, context.shape(0)?.len());
    match axes(&context.reduced_axes()?, rank)?.len() {
        count if count == rank => {
            Some(vec![numbers.iter().try_fold(1i64, |product, &number| product.checked_mul(number))?])
        }
        0 => Some(numbers.to_vec()),
        _ => None,
    }
}

/// The numbers from a start to a limit, without the limit. `None` if there are more than `NUMBERS`, or for a step of 0.
fn range(context: &Context) -> Option<Vec<i64>> {
    let number = |index: usize| context.numbers(index)?.first().copied();
    let (start, limit, step) = (number(0)?, number(1)?, number(2)?);
    let mut numbers = Vec::new();
    let mut at = start;
    while (step > 0 && at < limit) || (step < 0 && at > limit) {
        if numbers.len() >= NUMBERS {
            return None;
        }
        numbers.push(at);
        at = at.checked_add(step)?;
    }
    (step != 0).then_some(numbers)
}
