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

use super::context::Context;
use super::draft::NUMBERS;
use super::rules::slice_length;
use super::shape::axis;

/// The content of the node's first output. Truth values are 0 and 1. `None` if there is no rule for this kind of node,
/// if the content of an input is not known, if a number overflows, or if the output has more than `NUMBERS` elements.
pub(super) fn evaluate(context: &Context) -> Option<Vec<i64>> {
    let numbers = match context.node.kind.as_str() {
        "Shape" => shape(context)?,
        "Size" => vec![i64::try_from(super::shape::elements(context.shape(0)?)?).ok()?],
        "Constant" => constant(context)?,
        "ConstantOfShape" => constant_of_shape(context)?,
        "Identity" | "Cast" | "CastLike" | "Squeeze" | "Unsqueeze" | "Reshape" | "Flatten" | "Floor" | "Ceil"
        | "Round" => context.numbers(0)?.to_vec(),
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
        "Min" => both(context, |a, b| Some(a.min(b)))?,
        "Max" => both(context, |a, b| Some(a.max(b)))?,
        "Neg" => context.numbers(0)?.iter().map(|number| number.checked_neg()).collect::<Option<_>>()?,
        "Range" => range(context)?,
        // Without a second input, which lists axes, the product is that of all numbers.
        "ReduceProd" if context.facts.len() == 1 => {
            vec![context.numbers(0)?.iter().try_fold(1i64, |product, &number| product.checked_mul(number))?]
        }
        // All other nodes, such as a convolution, compute no shapes.
        _ => return None,
    };
    (numbers.len() <= NUMBERS).then_some(numbers)
}

fn shape(context: &Context) -> Option<Vec<i64>> {
    let shape = context.shape(0)?;
    shape[context.shape_window(shape.len())].iter().map(|&number| i64::try_from(number).ok()).collect()
}

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

fn constant_of_shape(context: &Context) -> Option<Vec<i64>> {
    let value = context.node.attribute("value")?.tensor.as_ref()?.numbers.as_ref()?;
    let count = context.numbers(0)?.iter().try_fold(1u64, |product, &n| product.checked_mul(u64::try_from(n).ok()?))?;
    (count <= NUMBERS as u64).then(|| vec![value.first().copied().unwrap_or(0); count as usize])
}

/// Gathers from a list of numbers. Tensors with more dimensions are not evaluated.
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
    // The start is moved into the list as `slice_length` does it for the count.
    let count = slice_length(list.len() as u64, start, end, step)?;
    let size = i128::try_from(list.len()).ok()?;
    let start = i128::from(start) + if start < 0 { size } else { 0 };
    let start = start.clamp(0, if step < 0 { size - 1 } else { size });
    let element = |number: u64| {
        let place = start + i128::from(number) * i128::from(step);
        list.get(usize::try_from(place).ok()?).copied()
    };
    (0..count).map(element).collect()
}

/// The number at a place of a list that is broadcast to `length`: a list of one number has that number at every place.
/// `None` for a list of any other length.
fn at(list: &[i64], place: usize, length: usize) -> Option<i64> {
    match list.len() {
        1 => Some(list[0]),
        count if count == length => list.get(place).copied(),
        _ => None,
    }
}

/// Applies an operator to the content of inputs 0 and 1, number by number. A list of one number is applied to every
/// number of the other list.
fn both(context: &Context, apply: impl Fn(i64, i64) -> Option<i64>) -> Option<Vec<i64>> {
    let (one, other) = (context.numbers(0)?, context.numbers(1)?);
    let length = one.len().max(other.len());
    (0..length).map(|place| apply(at(one, place, length)?, at(other, place, length)?)).collect()
}

/// The content of a `Where`: at each place the number of the second list if the first list is not 0 there, else that
/// of the third. Each list is as long as the longest, or has one number for all places.
fn choose(context: &Context) -> Option<Vec<i64>> {
    let lists = [context.numbers(0)?, context.numbers(1)?, context.numbers(2)?];
    let length = lists.iter().map(|list| list.len()).max()?;
    let chosen = |place: usize| {
        let list = if at(lists[0], place, length)? != 0 { lists[1] } else { lists[2] };
        at(list, place, length)
    };
    (0..length).map(chosen).collect()
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
