//! Vector retyping: memory that is only ever accessed in aligned vectors is allocated as vectors.
//!
//! `A f32[32]` of which every access is `A[4*i : 4*i + 4]` becomes `A f32x4[8]`, and the accesses `A[i]`.
//!
//! The original also lets the *base* type follow the accesses without changing the extent: memory allocated as
//! `float32[300]` that is only accessed as `int8[1200]` becomes `int8[300]`, four times too small. In compatible mode
//! this is reproduced where it makes the allocation larger and refused where it makes it smaller; otherwise base types
//! stay. The *base* of a type is the type of one lane: `float32` of `float32x4`.

use super::layout::{Allocation, Layout};
use super::sequence::Sequence;
use super::{Defect, Mode, RewriteError};
use crate::ir::{BinaryOp, BufId, Expr, Memory, Stmt, StmtKind};
use crate::linear::{fold, is_multiple_of};
use crate::{DType, Kind};
use memplan_core::IndexVec;

/// What is known of the accesses to one allocation.
#[derive(Clone, Default)]
struct Accesses {
    /// The types, with lanes, of all accesses; each type once.
    types: Vec<DType>,
    /// Some access is not of a form that retyping can rewrite.
    fixed: bool,
}

/// Changes the types of allocations whose accesses all have one other type. Accesses are rewritten later (`apply`).
pub(super) fn retype(sequence: &Sequence<'_>, layout: &mut Layout, mode: Mode) -> Result<(), RewriteError> {
    // Without accesses of vectors no memory becomes one of vectors, and only the compatible mode changes base types.
    if mode == Mode::Sound && !sequence.has_vectors {
        return Ok(());
    }
    let mut accesses: IndexVec<_, Accesses> = IndexVec::filled(Accesses::default(), layout.allocations.len());
    for stmt in &sequence.statements {
        collect_statement(sequence, layout, stmt, &mut accesses);
    }
    for id in layout.allocations.ids() {
        let found = &accesses[id];
        let allocation = &mut layout.allocations[id];
        // An allocation that stays keeps its statement as it is, and with it its type and extents.
        if allocation.stays {
            continue;
        }
        // Memory that is never accessed, or accessed with two element types, has no type that all accesses agree on.
        let Some(base) = found.types.first().map(|dtype| dtype.element()) else {
            continue;
        };
        if found.types.iter().any(|dtype| dtype.element() != base) {
            continue;
        }
        // The accesses agree on another type than the allocation has. Sound mode leaves the allocation alone; only
        // the compatible mode follows the accesses, as the original does.
        if base != stored(allocation.dtype.element()) {
            // If all accesses have one type, memory that was allocated as vectors takes over the lanes of that type,
            // too. Otherwise the new type has one lane.
            let new = match found.types.as_slice() {
                [only] if allocation.dtype.lanes > 1 => *only,
                _ => base,
            };
            if mode == Mode::Compat {
                change_base(sequence, allocation, new)?;
            }
            continue;
        }
        // The accesses have the element type of the allocation. If all of them have the same several lanes, the memory
        // becomes vectors of so many lanes, unless some access cannot be rewritten (`fixed`).
        if let [only] = found.types.as_slice()
            && allocation.dtype.lanes == 1
            && allocation.dtype != DType::BOOL
            && !found.fixed
        {
            widen(allocation, only.lanes);
        }
    }
    Ok(())
}

/// The type in which a value lies in memory: truth values are stored as bytes, all others as they are.
fn stored(dtype: DType) -> DType {
    if dtype.element() == DType::BOOL { DType::scalar(Kind::Int, 8).with_lanes(dtype.lanes) } else { dtype }
}

/// Gives an allocation another element type, with the same number of elements. A narrower type would make the
/// allocation too small for its buffers, which is refused.
fn change_base(sequence: &Sequence<'_>, allocation: &mut Allocation, new: DType) -> Result<(), RewriteError> {
    if new.total_bits() < allocation.dtype.total_bits() {
        let root = allocation.root.map(|root| &sequence.function.buffers[root]);
        return Err(RewriteError::Refused {
            defect: Defect::ShrunkAllocation,
            buffer: root.map_or(String::new(), |root| root.name.clone()),
            span: root.map_or_else(Default::default, |root| root.span),
        });
    }
    allocation.dtype = new;
    Ok(())
}

/// Makes vectors of `lanes` elements of an allocation of scalars. Does nothing for one lane, for an allocation without
/// dimensions, and if it cannot be shown that the last dimension is a multiple of the lanes: a vector must not reach
/// over the end of a row. `Allocation::vector` tells `apply` to count subscripts in vectors.
fn widen(allocation: &mut Allocation, lanes: u16) {
    let Some(last) = allocation.shape.last_mut().filter(|_| lanes > 1) else {
        return;
    };
    if !is_multiple_of(last, i64::from(lanes)) {
        return;
    }
    // A constant extent is divided by a constant of its own type. `INT32` is the type of a bare integer in TVMScript,
    // which takes the type of the expression beside it.
    let dtype = match last {
        Expr::Int { dtype, .. } => *dtype,
        _ => DType::INT32,
    };
    let divisor = Expr::Int { value: i64::from(lanes), dtype };
    // `last` is a multiple of the divisor, so all divisions give the same. A constant is computed, which `fold` does
    // for `FloorDiv` and not for `Div`; of anything else the division is written down, as the original does.
    *last =
        fold(BinaryOp::FloorDiv, last, &divisor).unwrap_or_else(|| Expr::binary(BinaryOp::Div, last.clone(), divisor));
    allocation.dtype = allocation.dtype.with_lanes(lanes);
    allocation.vector = lanes;
}

/// Notes with which type and how many lanes a statement accesses each allocation.
fn collect_statement(
    sequence: &Sequence<'_>,
    layout: &Layout,
    stmt: &Stmt,
    accesses: &mut IndexVec<super::layout::AllocationId, Accesses>,
) {
    // The stored element, and then all loads and pointers in the statement's expressions.
    if let StmtKind::Store { buffer, index, .. } = &stmt.kind {
        note(sequence, layout, *buffer, index, accesses);
    }
    stmt.each_expr(|expr| {
        expr.walk(&mut |part| match part {
            Expr::Load { buffer, index } => note(sequence, layout, *buffer, index, accesses),
            // The code that gets such a pointer accesses the memory by itself, as elements of the given type. Those
            // accesses cannot be rewritten, so the allocation's type is `fixed`.
            Expr::Call { name, args, .. } if name == "tvm_access_ptr" => {
                if let [Expr::Type(dtype), Expr::Data(buffer), ..] = args.as_slice()
                    && let Some(place) = layout.places[sequence.function.root(*buffer)]
                {
                    add(&mut accesses[place.allocation], *dtype, true);
                }
            }
            _ => {}
        });
    });
}

/// Adds the type of an access to the list, once.
fn add(accesses: &mut Accesses, dtype: DType, fixed: bool) {
    let dtype = stored(dtype);
    if !accesses.types.contains(&dtype) {
        accesses.types.push(dtype);
    }
    accesses.fixed |= fixed;
}

/// Notes one access. A vector access counts with its lanes if the lanes are neighbours and the first one is a multiple
/// of their number, so that it is one whole element of the vector type. Any other access counts with the lanes of the
/// declared element type, which forbids longer vectors.
fn note(
    sequence: &Sequence<'_>,
    layout: &Layout,
    buffer: BufId,
    index: &[Expr],
    accesses: &mut IndexVec<super::layout::AllocationId, Accesses>,
) {
    let function = sequence.function;
    let Some(place) = layout.places[function.root(buffer)] else {
        return;
    };
    let declared = &function.buffers[buffer];
    // A buffer at an offset, or a view at one, need not start at a multiple of the lanes.
    let shifted = place.bit_offset != 0 || matches!(&declared.memory, Memory::View { elem_offset: Some(_), .. });
    // With several dimensions, every row must start at a multiple of the lanes, too.
    let rows_fit = |lanes: i64| match declared.shape.as_slice() {
        [.., _, row] => is_multiple_of(row, lanes),
        _ => true,
    };
    // A ramp of neighbouring lanes that starts at a multiple of their number is one element of a vector type. A ramp
    // in a buffer that is declared as vectors takes several of them, and none of its subscripts are rewritten.
    let lanes = match index.last() {
        Some(Expr::Ramp { base, stride, lanes })
            if stride.as_int() == Some(1)
                && is_multiple_of(base, i64::from(*lanes))
                && !shifted
                && declared.dtype.lanes == 1
                && rows_fit(i64::from(*lanes)) =>
        {
            *lanes
        }
        _ => declared.dtype.lanes,
    };
    add(&mut accesses[place.allocation], declared.dtype.with_lanes(lanes), false);
}
