//! Buffers with several dimensions as flat ones: `A[i, j]` of a `(4, 8)` buffer is `A[i * 8 + j]` of a `(32,)` one.
//!
//! Only buffers the function allocates (and views of them) are flattened; arguments keep the shape their caller knows.
//! So does a buffer of which a slice of unknown length is taken (`A[i, :n]`): in one dimension it is no slice any more.
//! The same holds for a buffer with vectors in several subscripts of one access.
//! A view with strides and the memory behind it stay, too: the view's elements are not one behind the other.
//!
//! This is for functions that are read from TVMScript. (`te/flatten.rs` does the same for functions that are lowered
//! from a graph, where buffers are also realized in part and padded.)

use crate::ir::{BinaryOp, Block, BufId, Buffer, Expr, Function, Memory, SLICE, StmtKind};
use crate::linear::fold;
use crate::rewrite::{multiply, strided_roots};
use crate::script::MAX_SUBSCRIPT;
use memplan_core::IndexVec;
use std::collections::HashSet;

/// A copy of the function with every allocated buffer in one dimension, except those that cannot be flattened.
pub fn flatten_buffers(function: &Function) -> Function {
    let mut result = function.clone();
    let mut kept = sliced_buffers(function);
    kept.extend(buffers_with_two_vectors(function));
    let strided = strided_roots(function);
    // The shapes of the buffers that are flattened; `None` for a buffer that stays as it is.
    let shapes: IndexVec<BufId, Option<Vec<Expr>>> = function
        .buffers
        .iter_enumerated()
        .map(|(id, buffer)| {
            let root = function.root(id);
            // A view is looked at by what it looks at: the memory must be the function's own, without strides.
            let ours = function.buffers[root].memory != Memory::Argument && !strided.contains(&root);
            let is_flattened = ours && buffer.shape.len() != 1 && !kept.contains(&id) && has_flat_subscripts(buffer);
            is_flattened.then(|| buffer.shape.to_vec())
        })
        .collect();
    // Declarations change if the buffer is flattened, or if an extent or an offset loads from a flattened buffer.
    let mut redeclared: HashSet<BufId> = HashSet::new();
    for (id, shape) in shapes.iter_enumerated() {
        let declared = &mut result.buffers[id];
        let mut changed = shape.is_some();
        if let Some(shape) = shape {
            declared.shape = vec![shape.iter().cloned().reduce(multiply).unwrap_or(Expr::int(1))].into();
        }
        for extent in &mut declared.shape {
            changed |= flatten_expr(extent, &shapes);
        }
        if let Memory::View { elem_offset: Some(offset), .. } = &mut declared.memory {
            changed |= flatten_expr(offset, &shapes);
        }
        if changed {
            redeclared.insert(id);
        }
    }
    let mut body = std::mem::take(&mut result.body);
    flatten_block(&mut body, &shapes, &redeclared);
    result.body = body;
    result
}

/// Whether flat subscripts of the buffer are small enough to be read again: the product of the constant extents is at
/// most [`MAX_SUBSCRIPT`], the largest constant that the reader accepts in a subscript. Extents that are not constant
/// count as 1.
fn has_flat_subscripts(buffer: &Buffer) -> bool {
    let extents = buffer.shape.iter().filter_map(Expr::as_int);
    let product = extents.map(i64::unsigned_abs).try_fold(1_u64, u64::checked_mul);
    product.is_some_and(|product| product <= MAX_SUBSCRIPT)
}

/// The buffers that are loaded or stored with a subscript that is a slice or a vector of unknown length. The reader
/// leaves such a subscript as a call: of [`SLICE`], or of `T.Ramp` as it was written.
pub(crate) fn sliced_buffers(function: &Function) -> HashSet<BufId> {
    let is_slice = |at: &Expr| matches!(at, Expr::Call { name, .. } if name == SLICE || name.ends_with("T.Ramp"));
    accessed_with(function, |index| index.iter().any(is_slice))
}

/// The buffers that are loaded or stored with vectors in several dimensions. Such an access is to every row with every
/// lane, and the sum of two vectors of subscripts would be something else.
fn buffers_with_two_vectors(function: &Function) -> HashSet<BufId> {
    accessed_with(function, |index| index.iter().filter(|at| at.lanes(function) > 1).count() > 1)
}

/// The buffers of which some load or store has such subscripts.
fn accessed_with(function: &Function, is_meant: impl Fn(&[Expr]) -> bool) -> HashSet<BufId> {
    let mut found = HashSet::new();
    for stmt in &function.body {
        stmt.walk(&mut |stmt| {
            if let StmtKind::Store { buffer, index, .. } = &stmt.kind
                && is_meant(index)
            {
                found.insert(*buffer);
            }
            for expr in stmt.exprs() {
                expr.walk(&mut |part| match part {
                    Expr::Load { buffer, index } if is_meant(index) => _ = found.insert(*buffer),
                    _ => {}
                });
            }
        });
    }
    found
}

/// Flattens the accesses of all statements of a block; `shapes` are the shapes of the buffers to flatten, `redeclared`
/// the buffers whose declaration has changed. A statement that changes loses its source text, so that it is printed
/// anew.
fn flatten_block(block: &mut Block, shapes: &IndexVec<BufId, Option<Vec<Expr>>>, redeclared: &HashSet<BufId>) {
    for stmt in block {
        let mut changed = false;
        for expr in stmt.exprs_mut() {
            changed |= flatten_expr(expr, shapes);
        }
        match &mut stmt.kind {
            StmtKind::Store { buffer, index, .. } => changed |= flatten_index(*buffer, index, shapes),
            // The declaration in the function's table has changed, and this is the statement that prints it.
            StmtKind::Alloc(buffer) | StmtKind::Declare(buffer) => {
                changed |= redeclared.contains(buffer);
            }
            _ => {}
        }
        if changed {
            stmt.trivia.text = None;
        }
        for inner in stmt.blocks_mut() {
            flatten_block(inner, shapes, redeclared);
        }
    }
}

/// Flattens the accesses in an expression, and returns whether there were any to flatten.
fn flatten_expr(expr: &mut Expr, shapes: &IndexVec<BufId, Option<Vec<Expr>>>) -> bool {
    let mut changed = false;
    for child in expr.children_mut() {
        changed |= flatten_expr(child, shapes);
    }
    if let Expr::Load { buffer, index } = expr {
        changed |= flatten_index(*buffer, index, shapes);
    }
    changed
}

/// Replaces the subscripts of an access by one, row by row: the sum of each subscript times the product of the extents
/// of all later dimensions. Returns whether the buffer is one that is flattened.
fn flatten_index(buffer: BufId, index: &mut Vec<Expr>, shapes: &IndexVec<BufId, Option<Vec<Expr>>>) -> bool {
    let Some(shape) = &shapes[buffer] else {
        return false;
    };
    // From the last dimension to the first: `flat` is the sum so far, `stride` the product of the extents of all later
    // dimensions.
    let mut flat: Option<Expr> = None;
    let mut stride = Expr::int(1);
    for (subscript, extent) in std::mem::take(index).into_iter().zip(shape).rev() {
        let term = scaled(subscript, &stride);
        flat = Some(match flat {
            None => term,
            Some(below) => sum(term, below),
        });
        stride = multiply(extent.clone(), stride);
    }
    // A buffer without dimensions has one element.
    index.push(flat.unwrap_or(Expr::int(0)));
    true
}

/// A subscript times a stride. Of a ramp (a vector of subscripts that grow by a constant) both the first subscript and
/// the step are multiplied.
fn scaled(subscript: Expr, stride: &Expr) -> Expr {
    match subscript {
        Expr::Ramp { base, stride: step, lanes } => Expr::Ramp {
            base: Box::new(multiply(*base, stride.clone())),
            stride: Box::new(multiply(*step, stride.clone())),
            lanes,
        },
        other => multiply(other, stride.clone()),
    }
}

/// `a + b`. The sum of a ramp and a number is a ramp with another base. Zeros and constants are added at once.
fn sum(a: Expr, b: Expr) -> Expr {
    debug_assert!(
        !matches!((&a, &b), (Expr::Ramp { .. }, Expr::Ramp { .. })),
        "a buffer with two vectors in one access is not flattened"
    );
    match (a, b) {
        (a, Expr::Ramp { base, stride, lanes }) => Expr::Ramp { base: Box::new(sum(a, *base)), stride, lanes },
        (Expr::Ramp { base, stride, lanes }, b) => Expr::Ramp { base: Box::new(sum(*base, b)), stride, lanes },
        (a, b) if b.as_int() == Some(0) => a,
        (a, b) if a.as_int() == Some(0) => b,
        (a, b) => fold(BinaryOp::Add, &a, &b).unwrap_or_else(|| Expr::binary(BinaryOp::Add, a, b)),
    }
}
