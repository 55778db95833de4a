//! Sizes as expressions: the largest of several extents, as short as the original writes it.
//!
//! The *original* is TVM's `StorageRewrite`, which multiplies extents by the size of an element in bits and hands the
//! result to TVM's simplifier. The rules and orders of terms in this file repeat what comes out of it, so that our
//! result is the same text. Any other correct expression would do for the memory itself.

// `Linear` is a sum of atoms with factors and a constant. `fold` computes an operation on two integer constants.
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

/// The larger of two extents, as sums in a fixed order of terms. `unit` is the size in bits of one counted element.
///
/// ```text
/// n, n + 1               -> n + 1                  they differ by a constant
/// n + 1, n + m           -> max(1, m) + n          they share a term
/// n * 2 + 2, m * 2       -> max(n + 1, m) * 2      they share a factor
/// n * 4 + 8, m * 2 + n   -> max(n * 128 + 256, m * 64 + n * 32) // 32
/// ```
///
/// The last line is written if neither extent is a product: the original compares sizes in bits, and its simplifier
/// fails to divide both sides by the 32 bits of an element.
pub(super) fn maximum(a: Expr, b: Expr, unit: u64) -> Expr {
    if let Some(value) = fold(BinaryOp::Max, &a, &b) {
        return value;
    }
    let (Some(x), Some(y)) = (Sum::of(&a), Sum::of(&b)) else {
        return Expr::binary(BinaryOp::Max, a, b);
    };
    x.maximum(&y, unit)
}

/// A sum in the order in which the original writes it: positive terms, the constant, negative terms.
#[derive(Clone, PartialEq)]
struct Sum(Linear);

impl Sum {
    /// Reads an extent of 32 bits as a sum, its positive terms first. `None` if a constant in it has 64 bits, if it
    /// contains a cast, or if a coefficient does not fit 64 bits; then `maximum` writes a plain `max`. A sum does not
    /// know the types of its constants, and [`Sum::expr`] writes all of them with 32 bits. That would change the type
    /// of an extent of 64 bits.
    fn of(expr: &Expr) -> Option<Sum> {
        // Whether a part makes the extent one of 64 bits.
        let wide = |part: &Expr| match part {
            Expr::Int { dtype, .. } => dtype.bits == 64,
            Expr::Cast { .. } => true,
            _ => false,
        };
        if expr.any(&wide) {
            return None;
        }
        let mut sum = Linear::of(expr)?;
        sum.terms.sort_by_key(|(_, coefficient)| *coefficient < 0);
        Some(Sum(sum))
    }

    /// A sum without terms.
    fn constant(value: i64) -> Sum {
        Sum(Linear { terms: Vec::new(), constant: value })
    }

    /// The larger of two sums, as short as the original writes it. `unit` is the size of an element in bits.
    fn maximum(&self, other: &Sum, unit: u64) -> Expr {
        let (a, b) = (self.expr(), other.expr());
        // From the shortest answer to the longest: two constants, a constant difference, one side that is provably
        // larger, a common term or factor taken out. Only then is a `max` of both written.
        if let Some(value) = fold(BinaryOp::Max, &a, &b) {
            return value;
        }
        if let Some(difference) = constant_difference(&a, &b) {
            return if difference >= 0 { a } else { b };
        }
        if is_at_least(&a, &b) {
            return a;
        }
        if is_at_least(&b, &a) {
            return b;
        }
        if let Some((shared, x, y)) = self.shared_term(other) {
            return x.maximum_plus(&y, &shared, unit);
        }
        if let Some((x, y, factor)) = self.shared_factor(other) {
            return product(Expr::binary(BinaryOp::Max, x.expr(), y.expr()), Expr::int(factor));
        }
        // Sums are compared in bits, as the original compares them, and divided afterwards. The text is then the same
        // as the original's.
        let bits = i64::try_from(unit).ok().and_then(|unit| Some((self.times(unit)?, other.times(unit)?, unit)));
        match bits {
            Some((x, y, unit)) if !self.is_product() && !other.is_product() => {
                let bits = Expr::binary(BinaryOp::Max, x.expr(), y.expr());
                Expr::binary(BinaryOp::FloorDiv, bits, Expr::int(unit))
            }
            _ => Expr::binary(BinaryOp::Max, a, b),
        }
    }

    /// `max(self, other) + shared`, the parts in the order of the original:
    ///
    /// ```text
    /// shared n * 2, the rest 1 and m     n * 2 + max(1, m)     a shared term with a factor comes first
    /// shared -1, the rest n and m        max(n, m) - 1
    /// shared n, the rest 1 and m         max(1, m) + n
    /// ```
    fn maximum_plus(&self, other: &Sum, shared: &Sum, unit: u64) -> Expr {
        let larger = self.maximum(other, unit);
        let scaled = shared.0.terms.iter().any(|(_, coefficient)| *coefficient != 1);
        // The three branches are the three lines of the table. The first line does not apply if the two rests share a
        // factor: their `max` is then written as a product, too, and the order is that of the third line.
        if scaled && self.shared_factor(other).is_none() {
            Expr::binary(BinaryOp::Add, shared.expr(), larger)
        } else if let (true, Some(value)) =
            (shared.0.terms.is_empty() && shared.0.constant < 0, shared.0.constant.checked_neg())
        {
            Expr::binary(BinaryOp::Sub, larger, Expr::int(value))
        } else {
            Expr::binary(BinaryOp::Add, larger, shared.expr())
        }
    }

    /// The part that both sums have in common if each is split in two (`split`), what is left of `self`, and what is
    /// left of `other`: of `n + 1` and `n + m` that is `n`, `1` and `m`. `None` if a sum cannot be split, if they have
    /// no part in common, or if the original would not find it.
    fn shared_term(&self, other: &Sum) -> Option<(Sum, Sum, Sum)> {
        let ((a, b), (c, d)) = (self.split()?, other.split()?);
        // The original multiplies both sums by the bits of an element before it compares them. A sum whose terms have
        // one factor (`factor`) keeps its brackets: `n - 1` becomes `(n - 1) * 32`. If both have brackets, the original
        // shares what stands in them. Any other sum is multiplied out, `n * 4 - 2` to `n * 128 - 64`. That is a
        // difference, and the original takes nothing out of a difference.
        let is_difference = b.0.constant < 0 || d.0.constant < 0;
        // At most one of the four comparisons holds, so their order does not matter: no sum has the same part twice,
        // and `maximum` has answered equal sums before.
        if is_difference && !(self.is_product() && other.is_product()) {
            None
        } else if a == c {
            Some((a, b, d))
        } else if a == d {
            Some((a, b, c))
        } else if b == c {
            Some((b, a, d))
        } else if b == d {
            Some((b, a, c))
        } else {
            None
        }
    }

    /// A sum in two parts, the last term and all before it: `x + y + 1` as `x + y` and `1`. `None` if there is only
    /// one term, or if a variable is subtracted.
    fn split(&self) -> Option<(Sum, Sum)> {
        let Linear { terms, constant } = &self.0;
        if terms.iter().any(|(_, coefficient)| *coefficient < 0) {
            return None;
        }
        if *constant != 0 && !terms.is_empty() {
            return Some((Sum(Linear { terms: terms.clone(), constant: 0 }), Sum::constant(*constant)));
        }
        let (last, rest) = terms.split_last().filter(|(_, rest)| !rest.is_empty())?;
        // Some of the terms as a sum of their own.
        let part = |terms: &[(Expr, i64)]| Sum(Linear { terms: terms.to_vec(), constant: 0 });
        Some((part(rest), part(std::slice::from_ref(last))))
    }

    /// `x` and `y` of `x * c` and `y * c`, and `c`. `None` if the sums have no common factor above 1.
    fn shared_factor(&self, other: &Sum) -> Option<(Sum, Sum, i64)> {
        let factor = self.factor().filter(|factor| *factor > 1)?;
        // The other sum has the same factor, or is a constant that the factor divides.
        let alike = other.factor() == Some(factor) || other.0.terms.is_empty() && other.0.constant % factor == 0;
        alike.then(|| (self.divided(factor), other.divided(factor), factor))
    }

    /// The factor of a product: `2` of `n * 2`, of `n * 2 + 2` and of `n * 2 - m * 2`. `None` if the terms, or a
    /// constant other than 0, have different factors (`n * 4 + m * 2`), and for a sum without terms.
    fn factor(&self) -> Option<i64> {
        let (_, first) = self.0.terms.first()?;
        let factor = first.checked_abs()?;
        // Whether a number is the factor, with either sign.
        let same = |value: i64| value.checked_abs() == Some(factor);
        let all = self.0.terms.iter().all(|(_, coefficient)| same(*coefficient));
        (all && (self.0.constant == 0 || same(self.0.constant))).then_some(factor)
    }

    /// Whether the sum is written as a product: it is a constant, or all its terms have one factor.
    fn is_product(&self) -> bool {
        self.0.terms.is_empty() || self.factor().is_some()
    }

    /// The sum divided by a number that divides all its terms.
    fn divided(&self, by: i64) -> Sum {
        let terms = self.0.terms.iter().map(|(atom, coefficient)| (atom.clone(), coefficient / by)).collect();
        Sum(Linear { terms, constant: self.0.constant / by })
    }

    /// The sum times a number; `None` if a number does not fit 64 bits.
    fn times(&self, factor: i64) -> Option<Sum> {
        let terms = self.0.terms.iter();
        let terms = terms.map(|(atom, coefficient)| Some((atom.clone(), coefficient.checked_mul(factor)?)));
        Some(Sum(Linear { terms: terms.collect::<Option<_>>()?, constant: self.0.constant.checked_mul(factor)? }))
    }

    /// The sum as an expression, in the original's order of terms.
    fn expr(&self) -> Expr {
        if self.0.terms.is_empty() {
            return Expr::int(self.0.constant);
        }
        // The terms without their signs, each with its factor, whose sign decides where it goes.
        let scaled =
            self.0.terms.iter().map(|(atom, coefficient)| {
                (*coefficient, product(atom.clone(), Expr::int(coefficient.saturating_abs())))
            });
        let constant = [(self.0.constant, Expr::int(self.0.constant.saturating_abs()))];
        // Positive terms come before the constant and negative terms after it, so that the text has as few minus
        // signs in front as possible and equal sums have equal texts.
        let (positives, negatives): (Vec<_>, Vec<_>) =
            scaled.chain(constant).filter(|(factor, _)| *factor != 0).partition(|(factor, _)| *factor > 0);
        let mut sum: Option<Expr> = None;
        for (factor, part) in positives.into_iter().chain(negatives) {
            sum = Some(match sum {
                Some(before) if factor > 0 => Expr::binary(BinaryOp::Add, before, part),
                None if factor > 0 => part,
                before => Expr::binary(BinaryOp::Sub, before.unwrap_or(Expr::int(0)), part),
            });
        }
        sum.unwrap_or(Expr::int(0))
    }
}

/// Whether it can be read off that `a` is never smaller than `b`: `a` is `max(b, …)`; `b` is `min(a, …)`; `a` is
/// `max(x, …)` and `b` is `min(x, …)`; `b` is `a` rounded down (`a // 4 * 4`); `a` is `b` rounded up
/// (`(b + 3) // 4 * 4`).
fn is_at_least(a: &Expr, b: &Expr) -> bool {
    let (larger, smaller) = (operands(BinaryOp::Max, a), operands(BinaryOp::Min, b));
    // Whether one of the two operands is this expression.
    let holds = |pair: Option<[&Expr; 2]>, part: &Expr| pair.is_some_and(|pair| pair.contains(&part));
    holds(larger, b)
        || holds(smaller, a)
        || larger.zip(smaller).is_some_and(|(larger, smaller)| smaller.iter().any(|part| larger.contains(part)))
        || rounded(b).is_some_and(|(x, _)| x == a)
        || rounded(a).is_some_and(|(x, by)| {
            operands(BinaryOp::Add, x).is_some_and(|[x, more]| x == b && more.as_int() == by.checked_sub(1))
        })
}

/// Both operands of an expression with this operator.
fn operands(op: BinaryOp, expr: &Expr) -> Option<[&Expr; 2]> {
    match expr {
        Expr::Binary { op: found, left, right } if *found == op => Some([left, right]),
        _ => None,
    }
}

/// `x` and `c` of `x // c * c`, a multiple of `c` that is not above `x`.
fn rounded(expr: &Expr) -> Option<(&Expr, i64)> {
    let [quotient, factor] = operands(BinaryOp::Mul, expr)?;
    let [x, divisor] = operands(BinaryOp::FloorDiv, quotient)?;
    let by = divisor.as_int().filter(|by| *by > 0 && factor.as_int() == Some(*by))?;
    Some((x, by))
}

/// `elements` elements of `bits` bits each, counted in units of `unit` bits: the count, and whether it is exact. If it
/// is not, it is rounded down, and the caller has to add one.
pub(super) fn rescale(elements: Expr, bits: u64, unit: u64) -> (Expr, bool) {
    if bits.is_multiple_of(unit) {
        let factor = i64::try_from(bits / unit).unwrap_or(i64::MAX);
        let dtype = match &elements {
            Expr::Int { dtype, .. } => *dtype,
            _ => DType::INT32,
        };
        return (product(elements, Expr::Int { value: factor, dtype }), true);
    }
    // A constant number of elements: the count is computed here.
    if let Some(count) = elements.as_int() {
        let total = (count as u64).saturating_mul(bits);
        let exact = total.is_multiple_of(unit);
        return (Expr::int(i64::try_from(total / unit).unwrap_or(i64::MAX)), exact);
    }
    // A symbolic number is divided by the number of elements that one unit holds. If a unit does not hold a whole
    // number of elements, the divisor is rounded down, so the count is too large and never too small.
    let divisor = i64::try_from(unit / bits.max(1)).unwrap_or(i64::MAX);
    let exact = Linear::of(&elements).is_some_and(|sum| sum.is_multiple_of(divisor));
    (Expr::binary(BinaryOp::FloorDiv, elements, Expr::int(divisor)), exact)
}

/// `expr + 1`.
pub(super) fn plus_one(expr: Expr) -> Expr {
    let one = Expr::int(1);
    fold(BinaryOp::Add, &expr, &one).unwrap_or_else(|| Expr::binary(BinaryOp::Add, expr, one))
}
