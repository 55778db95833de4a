//! What two rewrites of one function decided, side by side: allocations, and the place of every buffer.

use memplan_tensor::ir::{BinaryOp, BufId, Expr, Function, StmtKind};
use memplan_tensor::rewrite::{Rewritten, allocation_sites};
use std::collections::BTreeMap;

/// The first difference between our rewrite of `before` and another tool's `theirs`.
pub(crate) fn difference(before: &Function, ours: &Rewritten, theirs: &Function) -> Option<String> {
    let (our_list, their_list) = (allocations(&ours.function), allocations(theirs));
    if our_list != their_list {
        return Some(format!("{our_list:#?}\ninstead of {their_list:#?}"));
    }
    let places = observed_places(before, theirs)?;
    for place in ours.places(before) {
        let Some((root, offset)) = places.get(&place.name) else { continue };
        if *root != place.root || offset.is_some_and(|offset| offset != place.offset as i64) {
            return Some(format!("{place:?} instead of {root} + {offset:?}"));
        }
    }
    None
}

fn allocations(function: &Function) -> Vec<String> {
    allocation_sites(function)
        .into_iter()
        .map(|site| format!("{} {} {:?} {} {}", site.name, site.dtype, site.extents, site.scope, site.path))
        .collect()
}

/// Where the accesses of each buffer of `before` went in `after`: the allocation, and what was added to the last subscript. `None` if
/// the two do not have the same accesses.
fn observed_places(before: &Function, after: &Function) -> Option<BTreeMap<String, (String, Option<i64>)>> {
    let (old, new) = (accesses(before), accesses(after));
    let mut places = BTreeMap::new();
    if old.len() != new.len() {
        return None;
    }
    for ((old_buffer, old_index), (new_buffer, new_index)) in old.into_iter().zip(new) {
        let name = &before.buffers[old_buffer].name;
        // A name that is used twice says nothing.
        if before.buffer_named(name).is_none() {
            continue;
        }
        let same_type = before.buffers[old_buffer].dtype == after.buffers[new_buffer].dtype;
        let offset = match (old_index, new_index) {
            (Some(old), Some(new)) if same_type => constant_difference(before, old, after, new),
            _ => None,
        };
        let root = after.buffers[after.root(new_buffer)].name.clone();
        let place = places.entry(name.clone()).or_insert((root, offset));
        place.1 = place.1.or(offset);
    }
    Some(places)
}

type Access<'f> = (BufId, Option<&'f Expr>);

/// Every access in the order of the text, with its last subscript; bare addresses have none.
fn accesses(function: &Function) -> Vec<Access<'_>> {
    let mut found = Vec::new();
    for stmt in &function.body {
        stmt.walk(&mut |stmt| {
            if let StmtKind::Store { buffer, index, .. } = &stmt.kind {
                found.push((*buffer, index.last()));
            }
            for expr in stmt.exprs() {
                expr.walk(&mut |part| match part {
                    Expr::Load { buffer, index } => found.push((*buffer, index.last())),
                    Expr::Data(buffer) => found.push((*buffer, None)),
                    _ => {}
                });
            }
        });
    }
    found
}

/// `b - a`, if it is the same for several values of the variables.
fn constant_difference(f: &Function, a: &Expr, g: &Function, b: &Expr) -> Option<i64> {
    let at = |seed| Some(value(g, b, seed)? - value(f, a, seed)?);
    let first = at(1)?;
    (2..5).all(|seed| at(seed) == Some(first)).then_some(first)
}

/// The value of an index with some value for each variable, the same for the same name.
fn value(function: &Function, expr: &Expr, seed: i64) -> Option<i64> {
    match expr {
        Expr::Int { value, .. } => Some(*value),
        Expr::Var(var) => {
            let name = &function.vars[*var].name;
            Some(name.bytes().fold(seed, |sum, byte| (sum * 31 + i64::from(byte)) % 10_007))
        }
        Expr::Ramp { base, .. } => value(function, base, seed),
        Expr::Cast { value: inner, .. } => value(function, inner, seed),
        Expr::Binary { op, left, right } => {
            let (a, b) = (value(function, left, seed)?, value(function, right, seed)?);
            match op {
                BinaryOp::Add => Some(a + b),
                BinaryOp::Sub => Some(a - b),
                BinaryOp::Mul => Some(a * b),
                BinaryOp::FloorDiv => a.checked_div_euclid(b),
                BinaryOp::FloorMod => a.checked_rem_euclid(b),
                BinaryOp::Min => Some(a.min(b)),
                BinaryOp::Max => Some(a.max(b)),
                _ => None,
            }
        }
        _ => None,
    }
}
