//! Are the decisions of the original (TVM's `StorageRewrite`) right? In the compatible mode, this file looks for most
//! of the known ways in which they are wrong (each has a [`Defect`]; `pool`, `layout` and `retype` find the rest while
//! they repeat the decisions). The dataflow check finds mistakes that have no `Defect`, but cannot name them.

use super::hazard;
use super::inplace::{self, Views};
use super::layout::Layout;
use super::pool::{Attach, Pool, innermost_definition};
use super::sequence::{Sequence, StmtId};
use super::{Defect, RewriteError};
use crate::ir::{BufId, Expr, ForKind, Rank, StmtKind};
use memplan_core::Span;

/// Refuses input that the original cannot handle: loops whose iterations run as lanes of vectors.
pub(super) fn input(sequence: &Sequence<'_>) -> Result<(), RewriteError> {
    for stmt in &sequence.statements {
        if let StmtKind::For { kind: ForKind::Vectorized, .. } = &stmt.kind {
            return Err(refuse(Defect::VectorizedLoop, "", stmt.span));
        }
    }
    Ok(())
}

/// Refuses a plan of the original that is wrong. Three things are checked: buffers computed in place without proof,
/// allocations whose place or type does not suit their buffers, and addresses that would lose their offset.
pub(super) fn decisions(sequence: &Sequence<'_>, pool: &Pool, layout: &Layout) -> Result<(), RewriteError> {
    // The original's own test overlooks accesses through views. Here they are followed, and the proof is added.
    let mut budget = hazard::BUDGET;
    for step in &pool.in_place {
        let body = sequence.statements[step.stmt];
        let fits = inplace::fits(sequence.function, body, step.dst, step.src, Views::Followed);
        if !fits || !hazard::is_safe(sequence, *step, &mut budget) {
            let span = sequence.statements[step.stmt].span;
            return Err(refuse(Defect::InPlaceOverwrite, &sequence.function.buffers[step.dst].name, span));
        }
    }
    // Types and offsets matter for each view of a buffer, the place of the allocation for the buffer itself only.
    for buffer in sequence.function.buffers.ids() {
        let root = sequence.function.root(buffer);
        if let Some(place) = layout.places[root] {
            placed(sequence, layout, buffer, root)?;
            if root == buffer {
                hoisted(sequence, buffer, layout.allocations[place.allocation].attach)?;
            }
        }
    }
    bare_addresses(sequence, layout)
}

/// The error for one of the original's mistakes, at a place.
fn refuse(defect: Defect, buffer: &str, span: Span) -> RewriteError {
    RewriteError::Refused { defect, buffer: buffer.to_owned(), span }
}

/// The error for one of the original's mistakes, at the declaration of a buffer.
fn refuse_buffer(defect: Defect, sequence: &Sequence<'_>, buffer: BufId) -> RewriteError {
    let declared = &sequence.function.buffers[buffer];
    refuse(defect, &declared.name, declared.span)
}

/// Refuses layouts of one buffer that the original would write down wrongly. `root` is the root of `buffer`: the buffer
/// itself, or what a view looks at.
fn placed(sequence: &Sequence<'_>, layout: &Layout, buffer: BufId, root: BufId) -> Result<(), RewriteError> {
    let declared = &sequence.function.buffers[buffer];
    let Some(place) = layout.places[root] else {
        return Ok(());
    };
    let allocation = &layout.allocations[place.allocation];
    // The original only handles buffers with one dimension.
    if buffer == root && declared.shape.len() != 1 {
        return Err(refuse_buffer(Defect::NotFlat, sequence, buffer));
    }
    // A block of a tagged memory has the type of its first entry, and this buffer's elements are longer vectors.
    if buffer == root && declared.dtype.lanes > allocation.dtype.lanes {
        return Err(refuse_buffer(Defect::MixedLanes, sequence, buffer));
    }
    // The original gives an allocation the type of its first buffer. `lay_out` takes the type with the most lanes. If
    // the two differ, the original's allocation would be too narrow for the accesses of a later buffer.
    let first_lanes = allocation.root.map_or(1, |root| sequence.function.buffers[root].dtype.lanes);
    if allocation.dtype.lanes > first_lanes {
        return Err(refuse_buffer(Defect::MixedLanes, sequence, buffer));
    }
    // The original writes the offset as a whole number of elements. An offset that is none would be rounded.
    if layout.element_offset(root, declared.dtype.element()).is_none() {
        return Err(refuse_buffer(Defect::IndivisibleOffset, sequence, buffer));
    }
    Ok(())
}

/// Refuses a buffer whose allocation moves to `attach` although it must not: its extents use a variable that has no
/// value there, or every iteration of a loop in between needs memory of its own.
fn hoisted(sequence: &Sequence<'_>, buffer: BufId, attach: Attach) -> Result<(), RewriteError> {
    // Both sides are statements around the buffer's allocation, or `None` for the top of the function. Statements are
    // numbered in the order of the text, and `None` compares as the smallest. So `>` says that the extents use a
    // variable of a loop inside of `attach`, which has no value at `attach`.
    if innermost_definition(sequence, buffer) > attach {
        return Err(refuse_buffer(Defect::LoopExtent, sequence, buffer));
    }
    let Some(site) = sequence.allocated_at[buffer] else {
        return Ok(());
    };
    // Loops whose iterations each need their own copy: parallel ones, and for global memory, which all threads see,
    // those that are bound to threads.
    let private = |stmt: StmtId| match &sequence.statements[stmt].kind {
        StmtKind::For { kind: ForKind::Parallel, .. } => true,
        StmtKind::For { kind: ForKind::ThreadBinding(_), .. } => {
            sequence.function.buffers[buffer].scope.rank == Rank::Global
        }
        _ => false,
    };
    // The statements that the allocation is moved out of.
    let between = sequence.enclosing(site).take_while(|stmt| Some(*stmt) != attach);
    if between.into_iter().any(private) {
        return Err(refuse_buffer(Defect::SharedPrivate, sequence, buffer));
    }
    Ok(())
}

/// Refuses a buffer that does not start at the start of its allocation and whose address is taken as it is: the
/// address would be that of the allocation.
fn bare_addresses(sequence: &Sequence<'_>, layout: &Layout) -> Result<(), RewriteError> {
    // Whether a buffer lies above the start of its allocation.
    let moved = |buffer: BufId| layout.places[sequence.function.root(buffer)].is_some_and(|place| place.bit_offset > 0);
    for stmt in &sequence.statements {
        let mut found = None;
        for expr in stmt.exprs() {
            find_bare(expr, &mut |buffer| {
                if moved(buffer) {
                    found = Some(buffer);
                }
            });
        }
        if let Some(buffer) = found {
            return Err(refuse(Defect::BareAddress, &sequence.function.buffers[buffer].name, stmt.span));
        }
    }
    Ok(())
}

/// Calls `found` with every buffer whose bare address is used. `tvm_access_ptr(type, A.data, offset, …)` is no bare
/// use: its offset is adapted. So its first two arguments are left out.
fn find_bare(expr: &Expr, found: &mut dyn FnMut(BufId)) {
    match expr {
        Expr::Data(buffer) => found(*buffer),
        Expr::Call { name, args, .. } if name == "tvm_access_ptr" => {
            for arg in args.iter().skip(2) {
                find_bare(arg, found);
            }
        }
        _ => {
            for child in expr.children() {
                find_bare(child, found);
            }
        }
    }
}
