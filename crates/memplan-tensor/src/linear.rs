//! Integer expressions as sums: `c + Σ coefficient × atom`.
//!
//! `i * 4 + (j + 2)` is `2 + 4·i + 1·j`. An *atom* is a part of an expression that is neither a constant nor a sum, a
//! difference or a product with a constant: a variable, `i % 8`, `n * m`. Two atoms are equal if they are written
//! alike. That is enough to compare indices, to see a common difference and to prove divisibility. All arithmetic is
//! checked; a form that does not fit 64 bits is `None`.

use crate::ir::{BinaryOp, Expr};

/// A sum of atoms with integer coefficients.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Linear {
    /// Atoms and their coefficients, in order of first occurrence; no atom is listed twice.
    pub(crate) terms: Vec<(Expr, i64)>,
    pub(crate) constant: i64,
}

impl Linear {
    /// Reads an expression as a sum, without terms that cancel out; `None` if a number does not fit 64 bits.
    pub(crate) fn of(expr: &Expr) -> Option<Linear> {
        let mut sum = Linear::default();
        sum.add(expr, 1)?;
        sum.terms.retain(|(_, coefficient)| *coefficient != 0);
        Some(sum)
    }

    /// Adds `factor` times an expression; `None` if a number does not fit 64 bits.
    fn add(&mut self, expr: &Expr, factor: i64) -> Option<()> {
        match expr {
            Expr::Int { value, .. } => {
                self.constant = self.constant.checked_add(value.checked_mul(factor)?)?;
            }
            Expr::Binary { op, left, right } => match (op, left.as_int(), right.as_int()) {
                // `factor * (a + b)` is `factor * a + factor * b`.
                (BinaryOp::Add, ..) => {
                    self.add(left, factor)?;
                    self.add(right, factor)?;
                }
                (BinaryOp::Sub, ..) => {
                    self.add(left, factor)?;
                    self.add(right, factor.checked_neg()?)?;
                }
                // A product is a multiple of something only if one factor is a constant. A product of two variables is
                // an atom of its own.
                (BinaryOp::Mul, Some(constant), _) => {
                    self.add(right, factor.checked_mul(constant)?)?;
                }
                (BinaryOp::Mul, _, Some(constant)) => {
                    self.add(left, factor.checked_mul(constant)?)?;
                }
                _ => self.add_atom(expr, factor)?,
            },
            _ => self.add_atom(expr, factor)?,
        }
        Some(())
    }

    /// Adds `factor` times an atom to the term that the atom has already, or as a new term.
    fn add_atom(&mut self, atom: &Expr, factor: i64) -> Option<()> {
        match self.terms.iter_mut().find(|(known, _)| known == atom) {
            Some((_, coefficient)) => *coefficient = coefficient.checked_add(factor)?,
            None => self.terms.push((atom.clone(), factor)),
        }
        Some(())
    }

    /// Whether every value of the sum is a multiple of `divisor`: all its coefficients and its constant are. Nothing
    /// is a multiple of 0.
    pub(crate) fn is_multiple_of(&self, divisor: i64) -> bool {
        let multiple = |value: i64| value.checked_rem(divisor) == Some(0);
        multiple(self.constant) && self.terms.iter().all(|(_, coefficient)| multiple(*coefficient))
    }
}

/// `a - b`, if it is the same for all values of the variables; `None` if it is not, or does not fit 64 bits.
pub(crate) fn constant_difference(a: &Expr, b: &Expr) -> Option<i64> {
    let difference = Linear::of(&Expr::binary(BinaryOp::Sub, a.clone(), b.clone()))?;
    difference.terms.is_empty().then_some(difference.constant)
}

/// Whether every value of the expression is a multiple of `divisor`.
pub(crate) fn is_multiple_of(expr: &Expr, divisor: i64) -> bool {
    Linear::of(expr).is_some_and(|sum| sum.is_multiple_of(divisor))
}

/// The result of an operator on two integer constants, with the wider type of the two (the left type if both have the
/// same width). `None` if one of them is no integer constant, if the result does not fit 64 bits, for a floor division
/// or remainder by zero or a negative number, and for the operators that are not computed here: comparisons, `and`,
/// `or`, and the division and remainder that round towards zero.
pub(crate) fn fold(op: BinaryOp, left: &Expr, right: &Expr) -> Option<Expr> {
    let (Expr::Int { value: a, dtype }, Expr::Int { value: b, dtype: other }) = (left, right) else {
        return None;
    };
    let value = match op {
        BinaryOp::Add => a.checked_add(*b)?,
        BinaryOp::Sub => a.checked_sub(*b)?,
        BinaryOp::Mul => a.checked_mul(*b)?,
        BinaryOp::FloorDiv if *b > 0 => a.checked_div_euclid(*b)?,
        BinaryOp::FloorMod if *b > 0 => a.checked_rem_euclid(*b)?,
        BinaryOp::Min => *a.min(b),
        BinaryOp::Max => *a.max(b),
        _ => return None,
    };
    Some(Expr::Int { value, dtype: if dtype.bits >= other.bits { *dtype } else { *other } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::VarId;
    use memplan_core::Id;

    fn var(index: usize) -> Expr {
        Expr::Var(VarId::from_index(index))
    }

    fn add(a: Expr, b: Expr) -> Expr {
        Expr::binary(BinaryOp::Add, a, b)
    }

    fn mul(a: Expr, b: Expr) -> Expr {
        Expr::binary(BinaryOp::Mul, a, b)
    }

    #[test]
    fn differences_and_multiples() {
        let a = add(mul(var(0), Expr::int(4)), Expr::int(8));
        let b = add(Expr::int(3), mul(Expr::int(4), var(0)));
        assert_eq!(constant_difference(&a, &b), Some(5));
        assert_eq!(constant_difference(&a, &var(0)), None);
        assert!(is_multiple_of(&a, 4));
        assert!(!is_multiple_of(&b, 4));
        assert!(!is_multiple_of(&var(0), 0));
        let huge = mul(mul(var(0), Expr::int(i64::MAX)), Expr::int(2));
        assert_eq!(Linear::of(&huge), None, "does not fit");
    }
}
