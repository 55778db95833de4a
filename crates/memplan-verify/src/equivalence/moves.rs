//! Ops that move elements and compute nothing: slices, borders, concatenations.
//!
//! If it is known which region of an original tensor the operands equal, these ops say by themselves what their results
//! equal, whatever ops the original has. A *view* is such a region, with the value of its border if it reaches beyond
//! the tensor; a *candidate* is the op of the new model with the views of its operands.
//!
//! ```text
//!   a equals x[2..6]      slice(a, 1..3)                x[3..5]
//!   a equals x[0..4]      pad(a, 1 in front, z)         x[-1..4] with z outside of x
//!   a equals x[2..6]      pad(a, 1 in front, z)         nothing: place 1 of x is an element, not z
//!   x[0..3], x[3..6]      concat                        x[0..6]
//! ```
//!
//! [`Original`] answers questions about the original; `whole(t)` are all places of a tensor, `None` if its shape is not
//! known.

use super::compare::Candidate;
use super::network::Meaning;
use super::original::Original;
use super::region::{Region, View};
use super::violation::{Mismatch, hex};

/// For each result of an op that only moves elements, the views that it equals. The lists are empty for ops that
/// compute, and where a slice cannot be explained; the error says why a border or a concatenation cannot be.
pub(super) fn moved(original: &Original, candidate: &Candidate) -> Result<Vec<Vec<View>>, Mismatch> {
    match &candidate.op.meaning {
        Meaning::Slice { operand, starts } => {
            let views = candidate.views.get(*operand).copied().unwrap_or_default();
            // A result that is left out has no shape. The op then gets no views, rather than views of a wrong extent.
            let is_complete = candidate.op.results.iter().all(Option::is_some);
            let mut parts = Vec::new();
            for (result, start) in starts.iter().enumerate().filter(|_| is_complete) {
                let shape = candidate.shape(result);
                parts.push(views.iter().filter_map(|view| slice(original, view, start, shape)).collect());
            }
            Ok(parts)
        }
        Meaning::Pad { before, fill } => {
            let views = candidate.views.first().copied().unwrap_or_default();
            let padded: Vec<View> =
                views.iter().filter_map(|view| pad(original, view, before, fill, candidate.shape(0))).collect();
            // A border is only right where the original has that same border or nothing at all. If no view of the
            // operand allows it, the candidate has changed a value.
            if padded.is_empty() {
                let held = candidate.found.first().map_or("", String::as_str);
                let why = format!("it puts a border of {} where {held} has elements, or another border", hex(fill));
                return Err(Mismatch::Moved { why });
            }
            Ok(vec![padded])
        }
        Meaning::Concat { axis } => {
            let joined = concat(&candidate.views, *axis);
            if joined.is_empty() {
                let operands = candidate.found.join(" and ");
                let why = format!("{operands} do not follow each other along dimension {axis}");
                return Err(Mismatch::Moved { why });
            }
            Ok(vec![joined])
        }
        // Ops that compute say nothing by themselves; they are compared with ops of the original elsewhere.
        Meaning::Opaque | Meaning::Pointwise | Meaning::Window(_) => Ok(vec![Vec::new(); candidate.shapes.len()]),
    }
}

/// What the part of a tensor equals that begins at `start` and has the given shape, if the tensor equals `view`.
/// `None` if the part is not inside of the view, or the numbers of dimensions do not agree.
fn slice(original: &Original, view: &View, start: &[i64], shape: &[i64]) -> Option<View> {
    let rank = view.region.rank();
    if start.len() != rank || shape.len() != rank {
        return None;
    }
    let region = Region { extent: shape.to_vec(), ..view.region.shifted(start) };
    if !region.is_inside(&view.region) {
        return None;
    }
    // A part that lies inside of the original tensor has no border left.
    let is_inside = region.is_inside(&original.whole(view.tensor)?);
    Some(View { tensor: view.tensor, region, fill: if is_inside { None } else { view.fill.clone() } })
}

/// What a tensor with a border of `fill` around it equals, if the tensor itself equals `view`. `before` is how wide the
/// border is in front of each dimension, `shape` the shape with the border. `None` if the border would stand for
/// elements of the original tensor, or the view already has a border of another value.
fn pad(original: &Original, view: &View, before: &[i64], fill: &[u8], shape: &[i64]) -> Option<View> {
    let rank = view.region.rank();
    if before.len() != rank || shape.len() != rank {
        return None;
    }
    let back: Vec<i64> = before.iter().map(|before| before.saturating_neg()).collect();
    let region = Region { extent: shape.to_vec(), ..view.region.shifted(&back) };
    let whole = original.whole(view.tensor)?;
    // The border must lie around the view. Where the bordered region meets the original tensor, it must be the view's
    // own elements: elsewhere the border would stand for elements.
    if !view.region.is_inside(&region) || !region.meet(&whole).is_inside(&view.region) {
        return None;
    }
    // A border of no width changes nothing.
    if region == view.region {
        return Some(view.clone());
    }
    // A border around a border must have the same value, because a view has one value for all of its border.
    let is_same = view.fill.as_deref().is_none_or(|old| old == fill);
    is_same.then(|| View { tensor: view.tensor, region, fill: Some(fill.to_vec()) })
}

/// The regions that the operands make together: one for each view of the first operand after which views of the other
/// operands can be put.
fn concat(views: &[&[View]], axis: usize) -> Vec<View> {
    let Some((first, others)) = views.split_first() else { return Vec::new() };
    first.iter().filter_map(|first| join(first, others, axis)).collect()
}

/// A view with one view of each of the other operands after it, along `axis`, if such views can be found.
fn join(first: &View, others: &[&[View]], axis: usize) -> Option<View> {
    let mut joined = first.clone();
    for views in others {
        joined = views.iter().find_map(|next| append(&joined, next, axis))?;
    }
    Some(joined)
}

/// Two regions of one tensor that touch along a dimension, as one. `None` if they are of different tensors, do not
/// touch, differ in another dimension, or have borders of different values.
fn append(one: &View, next: &View, axis: usize) -> Option<View> {
    let (rank, other) = (one.region.rank(), next.region.rank());
    if one.tensor != next.tensor || rank != other || axis >= rank {
        return None;
    }
    let is_same = |dimension: usize| {
        one.region.low[dimension] == next.region.low[dimension]
            && one.region.extent[dimension] == next.region.extent[dimension]
    };
    let is_aligned = (0..rank).all(|dimension| dimension == axis || is_same(dimension));
    // A view without a fill has no border, so it goes with any.
    let has_same_border = one.fill.is_none() || next.fill.is_none() || one.fill == next.fill;
    if !is_aligned || !has_same_border || one.region.high(axis) != next.region.low[axis] {
        return None;
    }
    let mut region = one.region.clone();
    region.extent[axis] += next.region.extent[axis];
    Some(View { tensor: one.tensor, region, fill: one.fill.clone().or_else(|| next.fill.clone()) })
}
