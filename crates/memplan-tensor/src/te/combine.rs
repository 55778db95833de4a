//! How a reduction makes one value of two.

use super::graph::Graph;
use crate::DType;
use crate::ir::{BinaryOp, Expr, Var, VarId};
use std::collections::BTreeMap;

/// A commutative combination of tuples of values, and what it starts with. A tuple has one value for each output of the
/// reduction.
///
/// `result[k]` is the new value of output `k`, in terms of the variables in `lhs` (the values so far) and `rhs` (the
/// new ones): an arg-max looks at both values to decide about the position.
#[derive(Clone, Debug, PartialEq)]
pub struct Combiner {
    /// Stand for the values so far.
    pub lhs: Vec<VarId>,
    /// Stand for the new values.
    pub rhs: Vec<VarId>,
    /// The combined values.
    pub result: Vec<Expr>,
    /// The values that an element starts with, and keeps if nothing is combined: 0 for a sum.
    pub identity: Vec<Expr>,
}

/// The common combinations of single values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// Adds up, from zero.
    Sum,
    /// The largest, from the smallest value there is.
    Max,
    /// The smallest, from the largest value there is.
    Min,
}

impl Fold {
    /// By its name in descriptions.
    pub fn named(name: &str) -> Option<Fold> {
        match name {
            "sum" => Some(Fold::Sum),
            "max" => Some(Fold::Max),
            "min" => Some(Fold::Min),
            _ => None,
        }
    }

    fn op(self) -> BinaryOp {
        match self {
            Fold::Sum => BinaryOp::Add,
            Fold::Max => BinaryOp::Max,
            Fold::Min => BinaryOp::Min,
        }
    }

    /// The value of that type with which the fold starts.
    fn identity(self, dtype: DType) -> Expr {
        match self {
            Fold::Sum if dtype.is_float() => Expr::Float { value: 0.0, dtype },
            Fold::Sum => Expr::Int { value: 0, dtype },
            Fold::Max => least(dtype),
            Fold::Min => greatest(dtype),
        }
    }
}

/// The largest finite value of a type. Float formats of 4 to 8 bits get that of `float32`, which is larger than any
/// value they have.
fn greatest(dtype: DType) -> Expr {
    use crate::Kind;
    match dtype.kind {
        Kind::Float if dtype.bits == 64 => Expr::Float { value: f64::MAX, dtype },
        // The largest number of IEEE half precision.
        Kind::Float if dtype.bits == 16 => Expr::Float { value: 65504.0, dtype },
        Kind::Float | Kind::Small(_) => Expr::Float { value: f64::from(f32::MAX), dtype },
        // bfloat16 is the upper 16 bits of a float32, and 0x7f7f is its largest finite pattern of bits.
        Kind::BFloat => Expr::Float { value: f64::from(f32::from_bits(0x7f7f_0000)), dtype },
        Kind::UInt if dtype.bits < 64 => Expr::Int { value: (1i64 << dtype.bits) - 1, dtype },
        // Constants are kept in 64 signed bits; all ones is the largest unsigned number.
        Kind::UInt => Expr::Int { value: -1, dtype },
        Kind::Int | Kind::Handle => Expr::Int { value: i64::MAX >> (64 - u32::from(dtype.bits.clamp(1, 64))), dtype },
        Kind::Bool => Expr::Int { value: 1, dtype },
    }
}

/// The smallest finite value of a type: of signed integers one below the negative of the largest, of floats the
/// negative of the largest.
fn least(dtype: DType) -> Expr {
    use crate::Kind;
    match (dtype.kind, greatest(dtype)) {
        (Kind::UInt | Kind::Bool, _) => Expr::Int { value: 0, dtype },
        (_, Expr::Int { value, dtype }) => Expr::Int { value: -value - 1, dtype },
        (_, Expr::Float { value, dtype }) => Expr::Float { value: -value, dtype },
        (_, other) => other,
    }
}

impl Combiner {
    /// The combiner that applies one fold to every output on its own. `dtypes` are the types of the outputs. The
    /// variables that stand for values (`x` and `y`) are added to the graph's tables.
    pub fn fold(graph: &mut Graph, fold: Fold, dtypes: &[DType]) -> Combiner {
        let mut fresh = |name: &str, dtype| graph.tables.vars.push(Var { name: name.to_owned(), dtype });
        let lhs: Vec<VarId> = dtypes.iter().map(|dtype| fresh("x", *dtype)).collect();
        let rhs: Vec<VarId> = dtypes.iter().map(|dtype| fresh("y", *dtype)).collect();
        let result = lhs.iter().zip(&rhs).map(|(x, y)| Expr::binary(fold.op(), Expr::Var(*x), Expr::Var(*y))).collect();
        let identity = dtypes.iter().map(|dtype| fold.identity(*dtype)).collect();
        Combiner { lhs, rhs, result, identity }
    }

    /// How many values it combines at a time.
    pub fn outputs(&self) -> usize {
        self.result.len()
    }

    /// The combined values of `so_far` and `new`, one for each output: the results with these expressions in place of
    /// the variables.
    pub(crate) fn apply(&self, so_far: &[Expr], new: &[Expr]) -> Vec<Expr> {
        let values: BTreeMap<VarId, Expr> = self
            .lhs
            .iter()
            .zip(so_far)
            .chain(self.rhs.iter().zip(new))
            .map(|(var, value)| (*var, value.clone()))
            .collect();
        self.result.iter().map(|result| super::arith::substitute(result, &values)).collect()
    }
}
