//! The statements that only exist between the schedule and the flat program.
//!
//! They are ordinary calls and regions of the loop IR with names of their own, so that every walk over statements knows
//! them. For each there is a function that makes it and one (`as_…`) that reads it, with `None` for anything else:
//!
//! ```text
//! T.realize(B.data, "shared", 0, 8)          from here to the end of the block there is B, elements 0..8 of it
//! T.buffer_dim_align(B.data, 0, 8, 1)        the stride of B's dimension 0 is 1 modulo 8
//! with T.attr(b.data, "buffer_bind_scope", (B.data, b.elem_offset, 0, 8)):      slot b of an extern body is B in here
//! with T.attr(B.data, "double_buffer_scope", 1):                                this makes B, one iteration ahead
//! ```

use super::graph::{Range, Slot};
use crate::DType;
use crate::ir::{Block, BufId, Expr, Stmt, StmtKind};

/// The region in which a buffer of an extern body stands for a tensor.
pub(crate) const BIND: &str = "buffer_bind_scope";
/// The region that is computed one iteration ahead.
pub(crate) const DOUBLE_BUFFER: &str = "double_buffer_scope";
/// The region of an extern body.
pub(crate) const EXTERN: &str = "extern_scope";

const REALIZE: &str = "realize";
const DIM_ALIGN: &str = "buffer_dim_align";

fn call(name: &str, args: Vec<Expr>) -> Expr {
    Expr::Call { name: name.to_owned(), args, dtype: DType::HANDLE }
}

/// Says that a tensor exists from here to the end of the block: its elements `bounds` (a range for each dimension), in
/// the memory `scope` (empty if that is left open).
pub(crate) fn realize(tensor: BufId, scope: &str, bounds: &[Range]) -> Stmt {
    let mut args = vec![Expr::Data(tensor), Expr::Str(scope.to_owned())];
    args.extend(bounds.iter().flat_map(|range| [range.min.clone(), range.extent.clone()]));
    Stmt::new(StmtKind::Evaluate(call(REALIZE, args)))
}

/// What a realize statement says.
pub(crate) struct Realize<'a> {
    pub(crate) tensor: BufId,
    pub(crate) scope: &'a str,
    /// Minimum and extent of each dimension, in turn.
    pub(crate) bounds: &'a [Expr],
}

impl Realize<'_> {
    pub(crate) fn ranges(&self) -> Vec<Range> {
        self.bounds.chunks_exact(2).map(|pair| Range { min: pair[0].clone(), extent: pair[1].clone() }).collect()
    }
}

/// Reads a realize statement.
pub(crate) fn as_realize(expr: &Expr) -> Option<Realize<'_>> {
    match expr {
        Expr::Call { name, args, .. } if name == REALIZE => match args.as_slice() {
            [Expr::Data(tensor), Expr::Str(scope), bounds @ ..] => Some(Realize { tensor: *tensor, scope, bounds }),
            _ => None,
        },
        _ => None,
    }
}

/// Says how a dimension is padded: its stride is `offset` modulo `factor`.
pub(crate) fn dim_align(tensor: BufId, dimension: usize, factor: i64, offset: i64) -> Stmt {
    let dimension = i64::try_from(dimension).unwrap_or(i64::MAX);
    let args = vec![Expr::Data(tensor), Expr::int(dimension), Expr::int(factor), Expr::int(offset)];
    Stmt::new(StmtKind::Evaluate(call(DIM_ALIGN, args)))
}

/// Reads a padding statement: tensor, dimension, factor, offset.
pub(crate) fn as_dim_align(expr: &Expr) -> Option<(BufId, usize, i64, i64)> {
    match expr {
        Expr::Call { name, args, .. } if name == DIM_ALIGN => match args.as_slice() {
            [Expr::Data(tensor), dimension, factor, offset] => {
                let dimension = usize::try_from(dimension.as_int()?).ok()?;
                Some((*tensor, dimension, factor.as_int()?, offset.as_int()?))
            }
            _ => None,
        },
        _ => None,
    }
}

fn region(node: Option<Expr>, key: &str, value: Expr, body: Block) -> Stmt {
    Stmt::new(StmtKind::Attr { node, key: key.to_owned(), value, body, flat: false })
}

/// The region of an extern body. The storage rewrite treats it as a unit: what is used in it is used during all of it,
/// and nothing in it is computed in place.
pub(crate) fn extern_region(body: Block) -> Stmt {
    region(None, EXTERN, Expr::int(0), body)
}

/// A region in whose `body` a slot stands for all of a tensor of this shape.
pub(crate) fn bind(slot: &Slot, tensor: BufId, shape: &[Expr], body: Block) -> Stmt {
    let mut args = vec![Expr::Data(tensor), Expr::Var(slot.elem_offset)];
    args.extend(shape.iter().flat_map(|extent| [Expr::int(0), extent.clone()]));
    region(Some(Expr::Data(slot.buffer)), BIND, call("tvm_tuple", args), body)
}

/// The parts of a bind region: slot, tensor, offset variable, begins and extents in turn.
pub(crate) fn as_bind<'a>(
    node: Option<&Expr>,
    key: &str,
    value: &'a Expr,
) -> Option<(BufId, BufId, &'a Expr, &'a [Expr])> {
    match (node, value) {
        (Some(Expr::Data(slot)), Expr::Call { args, .. }) if key == BIND => match args.as_slice() {
            [Expr::Data(tensor), offset, bounds @ ..] => Some((*slot, *tensor, offset, bounds)),
            _ => None,
        },
        _ => None,
    }
}

/// The region of statements that compute a tensor one iteration ahead of the loop around them.
pub(crate) fn double_buffer(tensor: BufId, body: Block) -> Stmt {
    region(Some(Expr::Data(tensor)), DOUBLE_BUFFER, Expr::int(1), body)
}
