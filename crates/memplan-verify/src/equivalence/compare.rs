//! What an op of the new model computes, if it is a certain op of the original.
//!
//! A *view* is a region of a tensor of the original that a tensor of the new model is known to equal. The op of the new
//! model is the *candidate*, and `like` is the number of the op of the original that it is compared with. The *meaning*
//! of an op is what it does with the places of elements. Its *geometry* are the attributes that the meaning explains,
//! such as padding: they may differ if the op works on a part. All other attributes must be the same.
//!
//! The kind and all attributes must be the same, and the operands must equal the original's operands or regions of
//! them. From these regions follows which region of the original's result it is:
//!
//! ```text
//!   original             new model                  follows
//!   y = softmax(x)       b = softmax(a), a = x      b = y
//!   y = add(x, z)        c = add(a, b),             c = y[0..3]
//!                        a = x[0..3], b = z[0..3]
//!   y = softmax(x)       b = softmax(a),            nothing: a softmax looks at all of x
//!                        a = x[0..3]
//! ```
//!
//! Words from other files: [`Original`] answers questions about the original: `all(t)` are all places of a tensor (none
//! if its shape is not known), `whole(t)` the same or `None`, and `alike(t)` the first tensor that holds the same. A
//! [`Region`] is a box of places, and a [`Mismatch`] says why two ops are not the same.

use std::collections::{BTreeMap, BTreeSet};

use super::network::{Meaning, Op};
use super::original::Original;
use super::region::{Region, View};
use super::violation::Mismatch;
use super::window::window;

/// An op of the new model, with what is known about its operands.
pub(super) struct Candidate<'a> {
    pub(super) op: &'a Op,
    /// What each operand equals; nothing for an operand that is left out.
    pub(super) views: Vec<&'a [View]>,
    /// For each operand, words for messages.
    pub(super) found: Vec<String>,
    /// The shape of each result.
    pub(super) shapes: Vec<Option<&'a [i64]>>,
    /// The type and quantisation of each result.
    pub(super) numbers: Vec<&'a str>,
}

impl<'a> Candidate<'a> {
    /// The shape of a result; without dimensions if it is not known.
    pub(super) fn shape(&self, result: usize) -> &'a [i64] {
        self.shapes.get(result).copied().flatten().unwrap_or_default()
    }
}

/// What the results of an op equal if it is the op `like` of the original on its whole operands or on a part of them.
/// First whole operands are tried, then parts. If both fail, the larger of the two errors is returned: mismatches are
/// ordered by how much the two ops have in common.
pub(super) fn compare(original: &Original, candidate: &Candidate, like: usize) -> Result<Vec<View>, Mismatch> {
    let (now, before) = (candidate.op, &original.network.ops[like]);
    same_attributes(&now.attributes, &before.attributes, like)?;
    let counts = |op: &Op| format!("{} operands, {} results", op.operands.len(), op.results.len());
    if counts(now) != counts(before) || !same_places(now, before) {
        let attribute = "list of tensors".to_owned();
        return Err(Mismatch::Attribute { attribute, like, now: counts(now), before: counts(before) });
    }
    let views = |regions: Vec<Region>| results(original, candidate, before, like, regions);
    // On whole operands the op is the same if all its attributes are, whatever they mean.
    let whole = match first_in_part(original, candidate, before, like) {
        None if now.meaning == before.meaning => {
            same_attributes(&now.geometry, &before.geometry, like).and_then(|()| views(whole_results(original, before)))
        }
        None => Err(Mismatch::NoSuchOp { operands: "its operands in this way".to_owned() }),
        Some(mismatch) => Err(mismatch),
    };
    whole.or_else(|mismatch| parts(original, candidate, like).and_then(views).map_err(|other| other.max(mismatch)))
}

/// Whether both ops leave out the same operands and results.
fn same_places(now: &Op, before: &Op) -> bool {
    let pattern = |op: &Op| op.operands.iter().chain(&op.results).map(Option::is_some).collect::<Vec<_>>();
    pattern(now) == pattern(before)
}

/// Compares two sets of attributes. Every attribute must be the same, and an attribute that only one of the two ops has
/// is a difference, since it is not known here what is meant where it is not set.
fn same_attributes(
    now: &BTreeMap<String, String>,
    before: &BTreeMap<String, String>,
    like: usize,
) -> Result<(), Mismatch> {
    // All attributes that one of the two ops has, by name, so that the first difference is always the same one.
    let names: BTreeSet<&String> = now.keys().chain(before.keys()).collect();
    for attribute in names {
        let value =
            |map: &BTreeMap<String, String>| map.get(attribute).map_or_else(|| "not set".to_owned(), Clone::clone);
        if now.get(attribute) != before.get(attribute) {
            return Err(Mismatch::Attribute {
                attribute: attribute.clone(),
                like,
                now: value(now),
                before: value(before),
            });
        }
    }
    Ok(())
}

/// The mismatch of the first operand that does not equal the whole operand of the original; `None` if all do.
fn first_in_part(original: &Original, candidate: &Candidate, before: &Op, like: usize) -> Option<Mismatch> {
    let tensors = before.operands.iter().enumerate().filter_map(|(place, tensor)| Some((place, (*tensor)?)));
    tensors
        .filter(|(place, tensor)| !is_whole(original, candidate.views[*place], *tensor))
        .map(|(place, tensor)| other_operand(original, candidate, place, tensor, like))
        .next()
}

/// The mismatch of an operand that should be a whole tensor of the original.
pub(super) fn other_operand(
    original: &Original,
    candidate: &Candidate,
    operand: usize,
    tensor: usize,
    like: usize,
) -> Mismatch {
    let wanted = format!("the whole `{}`", original.network.tensors[tensor].name);
    Mismatch::Operand { operand, like, found: candidate.found[operand].clone(), wanted }
}

/// Whether one of the views is all of a tensor of the original.
pub(super) fn is_whole(original: &Original, views: &[View], tensor: usize) -> bool {
    let tensor = original.alike(tensor);
    let all = original.all(tensor);
    views.iter().any(|view| view.tensor == tensor && view.region == all)
}

/// The whole results of an op of the original.
fn whole_results(original: &Original, before: &Op) -> Vec<Region> {
    before.results.iter().flatten().map(|result| original.all(*result)).collect()
}

/// The region of the result that follows from regions of the operands. It follows only for pointwise ops and for ops
/// with a window, which have one result.
fn parts(original: &Original, candidate: &Candidate, like: usize) -> Result<Vec<Region>, Mismatch> {
    let before = &original.network.ops[like];
    match (&candidate.op.meaning, &before.meaning) {
        (Meaning::Pointwise, Meaning::Pointwise) => pointwise(original, candidate, like).map(|region| vec![region]),
        (Meaning::Window(now), Meaning::Window(old)) => {
            window(original, candidate, like, now, old).map(|region| vec![region])
        }
        _ => Err(Mismatch::NoSuchOp { operands: "parts of its operands in a way that is known".to_owned() }),
    }
}

/// The region of the result of a pointwise op: every operand must be the same region of the original's operand, except
/// along dimensions in which the original's operand has one element that is repeated.
fn pointwise(original: &Original, candidate: &Candidate, like: usize) -> Result<Region, Mismatch> {
    let before = &original.network.ops[like];
    // If an operand is left out, this list is shorter than that of the operands, and no region follows.
    let tensors: Vec<usize> = before.operands.iter().map_while(|tensor| *tensor).collect();
    let result = before.results.first().copied().flatten().and_then(|result| original.whole(result));
    let (Some(result), true) = (result, tensors.len() == before.operands.len()) else { return Err(no_region()) };
    // The region is that of an operand as large as the result; the others are then held against it.
    let large = tensors.iter().position(|tensor| original.whole(*tensor).as_ref() == Some(&result));
    // If every operand is repeated along some dimension, no operand says which region of the result it is.
    let large = large.ok_or_else(no_region)?;
    let mut nearest = None;
    for view in candidate.views[large].iter().filter(|view| view.tensor == original.alike(tensors[large])) {
        // The first operand of which no view holds what this region of the result needs.
        let differs = tensors.iter().enumerate().find(|(place, tensor)| {
            let views = candidate.views[*place].iter().filter(|view| view.tensor == original.alike(**tensor));
            let shape = original.whole(**tensor).map(|whole| whole.extent).unwrap_or_default();
            !{ views }.any(|operand| view.fill.is_none() && repeats(operand, &shape, &view.region))
        });
        let Some((place, &tensor)) = differs else { return Ok(view.region.clone()) };
        let wanted = format!("`{}`{} without a border", original.network.tensors[tensor].name, view.region);
        let found = candidate.found[place].clone();
        nearest.get_or_insert(Mismatch::Operand { operand: place, like, found, wanted });
    }
    Err(nearest.unwrap_or_else(|| other_operand(original, candidate, large, tensors[large], like)))
}

/// The mismatch of a pointwise op of which no region of the result follows.
fn no_region() -> Mismatch {
    Mismatch::Moved { why: "its operands are not regions of the original's".to_owned() }
}

/// Whether an operand holds what a region of the result needs, given the shape of the original's operand. Dimensions
/// are aligned at the last one: an operand with fewer dimensions than the result has none of the first ones.
fn repeats(operand: &View, shape: &[i64], region: &Region) -> bool {
    let Some(missing) = region.rank().checked_sub(shape.len()) else { return false };
    let fits = |axis: usize| {
        let (low, extent) = (operand.region.low[axis], operand.region.extent[axis]);
        let is_same = (low, extent) == (region.low[axis + missing], region.extent[axis + missing]);
        // One element along a dimension serves for any number of them.
        is_same || (shape[axis] == 1 && (low, extent) == (0, 1))
    };
    operand.fill.is_none() && operand.region.rank() == shape.len() && (0..shape.len()).all(fits)
}

/// The results of the candidate as views of the results of the original's op `before`, whose regions have been found.
/// The error says which result has another type or shape, or a region that reaches beyond the original's result.
fn results(
    original: &Original,
    candidate: &Candidate,
    before: &Op,
    like: usize,
    regions: Vec<Region>,
) -> Result<Vec<View>, Mismatch> {
    let tensors: Vec<usize> = before.results.iter().flatten().copied().collect();
    let mut views = Vec::with_capacity(tensors.len());
    let now = candidate.numbers.iter().zip(&candidate.shapes);
    for ((&tensor, region), (numbers, shape)) in tensors.iter().zip(regions).zip(now) {
        let old = &original.network.tensors[tensor];
        // A result of unknown shape is whole, and its shape is unknown in both models.
        let is_same = if old.shape.is_none() { shape.is_none() } else { *shape == Some(&region.extent) };
        if old.numbers != *numbers || !is_same {
            let now = format!("{:?} {numbers}", shape.unwrap_or_default());
            return Err(Mismatch::Result { like, now, before: format!("{:?} {}", region.extent, old.numbers) });
        }
        // A tile at the edge must not compute more places than the original has.
        if !region.is_inside(&original.all(tensor)) {
            return Err(Mismatch::Outside { tensor: old.name.clone(), region });
        }
        views.push(View { tensor: original.alike(tensor), region, fill: None });
    }
    Ok(views)
}
