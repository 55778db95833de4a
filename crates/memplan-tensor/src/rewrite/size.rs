//! Sizes as expressions: the largest of several extents, as short as the original writes it.

use crate::DType;
use crate::ir::{BinaryOp, Expr};
use crate::linear::{Linear, constant_difference, fold};

/// `a * b`, constants folded and on the right.
pub(crate) fn product(a: Expr, b: Expr) -> Expr {
    if let Some(value) = fold(BinaryOp::Mul, &a, &b) {
        return value;
    }
    match (a.as_int(), b.as_int()) {
        (Some(0), _) => a,
        (_, Some(0)) => b,
        (Some(1), _) => b,
        (_, Some(1)) => a,
        (Some(_), _) => Expr::binary(BinaryOp::Mul, b, a),
        _ => Expr::binary(BinaryOp::Mul, a, b),
    }
}

/// The larger of two extents.
pub(super) fn maximum(a: Expr, b: Expr) -> Expr {
    let (a, b) = (tidy(a), tidy(b));
    if let Some(value) = fold(BinaryOp::Max, &a, &b) {
        return value;
    }
    if let Some(difference) = constant_difference(&a, &b) {
        return if difference >= 0 { a } else { b };
    }
    if is_part(BinaryOp::Max, &a, &b) || is_part(BinaryOp::Min, &b, &a) {
        return a;
    }
    if is_part(BinaryOp::Max, &b, &a) || is_part(BinaryOp::Min, &a, &b) {
        return b;
    }
    // max(x + c, y + c) = max(x, y) + c, and the same for a factor.
    for op in [BinaryOp::Add, BinaryOp::Mul] {
        if let (Some((x, c)), Some((y, d))) = (with_constant(op, &a), with_constant(op, &b))
            && c == d
            && (op == BinaryOp::Add || c.as_int() > Some(0))
        {
            return Expr::binary(op, maximum(x, y), c);
        }
    }
    Expr::binary(BinaryOp::Max, a, b)
}

/// Constants of products to the right, as the original prints them.
fn tidy(expr: Expr) -> Expr {
    match expr {
        Expr::Binary { op: BinaryOp::Mul, left, right } if left.as_int().is_some() && right.as_int().is_none() => {
            Expr::Binary { op: BinaryOp::Mul, left: right, right: left }
        }
        other => other,
    }
}

/// Whether `whole` is `op(part, _)` or `op(_, part)`.
fn is_part(op: BinaryOp, whole: &Expr, part: &Expr) -> bool {
    matches!(whole, Expr::Binary { op: found, left, right } if *found == op && (**left == *part || **right == *part))
}

/// Splits `x + 4` or `x * 4`.
fn with_constant(op: BinaryOp, expr: &Expr) -> Option<(Expr, Expr)> {
    match expr {
        Expr::Binary { op: found, left, right } if *found == op && right.as_int().is_some() => {
            Some(((**left).clone(), (**right).clone()))
        }
        _ => None,
    }
}

/// `elements` of `bits` counted in units of `unit` bits: the count, and whether it is exact.
pub(super) fn rescale(elements: Expr, bits: u64, unit: u64) -> (Expr, bool) {
    if bits.is_multiple_of(unit) {
        let factor = i64::try_from(bits / unit).unwrap_or(i64::MAX);
        let dtype = match &elements {
            Expr::Int { dtype, .. } => *dtype,
            _ => DType::INT32,
        };
        return (product(elements, Expr::Int { value: factor, dtype }), true);
    }
    if let (Some(count), true) = (elements.as_int(), true) {
        let total = (count as u64).saturating_mul(bits);
        let exact = total.is_multiple_of(unit);
        return (Expr::int(i64::try_from(total / unit).unwrap_or(i64::MAX)), exact);
    }
    let divisor = i64::try_from(unit / bits.max(1)).unwrap_or(i64::MAX);
    let exact = Linear::of(&elements).is_some_and(|sum| sum.is_multiple_of(divisor));
    (Expr::binary(BinaryOp::FloorDiv, elements, Expr::int(divisor)), exact)
}

/// `expr + 1`.
pub(super) fn plus_one(expr: Expr) -> Expr {
    let one = Expr::int(1);
    fold(BinaryOp::Add, &expr, &one).unwrap_or_else(|| Expr::binary(BinaryOp::Add, expr, one))
}
