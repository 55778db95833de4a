//! Integer arithmetic on expressions: one canonical form, intervals, and small proofs.
//!
//! Every index, extent and bound is kept in one form: a sum of atoms with constant factors, largest factor first, the
//! constant after the positive terms, what is subtracted last:
//!
//! ```text
//! (i + io * 4) * 20 + (j + jo * 8)   is   io * 80 + i * 20 + jo * 8 + j
//! x // 8 * 8 + x % 8                 is   x
//! (io * 8 + 3) // 8                  is   io
//! ```
//!
//! An *atom* is a part of an expression that is no sum and no product with a constant: a variable, `x // 8`, `n * m`.
//! Sums are kept as [`Linear`]: atoms with their factors, and a constant.
//!
//! An [`Interval`] holds the values that an expression can have while its variables run over their own intervals. Its
//! ends are expressions again, because the first needed element may depend on an outer loop: with `i` in `0..=7` and
//! `io` without an interval, `io * 8 + i` is in `io * 8 ..= io * 8 + 7`. If a number does not fit 64 bits, the
//! expression stays as it was, and its interval has no known ends.

// `Linear::of` reads an expression as such a sum, and is `None` if a number does not fit 64 bits. `fold` computes an
// operation on two integer constants.
use crate::ir::{BinaryOp, Expr, VarId};
use crate::linear::{Linear, fold};
use crate::{DType, Kind};
use std::collections::BTreeMap;

/// The values an expression can have: from `lo` to `hi`, both included. `None` means that no bound is known on that
/// side.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Interval {
    pub(crate) lo: Option<Expr>,
    pub(crate) hi: Option<Expr>,
}

/// Which values variables take. A variable that is not in it stands for itself.
pub(crate) type Env = BTreeMap<VarId, Interval>;

impl Interval {
    /// Any value at all: nothing is known.
    pub(crate) const EVERYTHING: Interval = Interval { lo: None, hi: None };

    /// One value.
    pub(crate) fn point(value: Expr) -> Interval {
        Interval { lo: Some(value.clone()), hi: Some(value) }
    }

    /// `min, min + 1, …, min + extent - 1`.
    pub(crate) fn range(min: &Expr, extent: &Expr) -> Interval {
        // Both ends belong to the interval, so the last value is one less than `min + extent`.
        let last = sub(add(min.clone(), extent.clone()), Expr::int(1));
        Interval { lo: Some(simplify(min)), hi: Some(simplify(&last)) }
    }

    /// Whether there is only one value: both ends are known and written alike.
    pub(crate) fn is_point(&self) -> bool {
        self.lo.is_some() && self.lo == self.hi
    }

    /// The smallest interval around both.
    pub(crate) fn hull(self, other: Interval) -> Interval {
        Interval {
            lo: extreme_end(BinaryOp::Min, self.lo, other.lo),
            hi: extreme_end(BinaryOp::Max, self.hi, other.hi),
        }
    }

    /// The interval between what the two ends become. The function must not reverse the order.
    pub(crate) fn map_ends(self, end: impl Fn(Expr) -> Expr) -> Interval {
        Interval { lo: self.lo.map(&end), hi: self.hi.map(&end) }
    }

    /// The two ends, if both are numbers.
    fn constants(&self) -> Option<(i64, i64)> {
        Some((self.lo.as_ref()?.as_int()?, self.hi.as_ref()?.as_int()?))
    }
}

/// The smaller (`op` is `Min`) or the larger (`Max`) of two ends. An open end is farther out than any other, so the
/// result is open (`None`) if one of the two is.
fn extreme_end(op: BinaryOp, one: Option<Expr>, other: Option<Expr>) -> Option<Expr> {
    Some(extreme(op, one?, other?))
}

pub(crate) fn add(a: Expr, b: Expr) -> Expr {
    Expr::binary(BinaryOp::Add, a, b)
}

pub(crate) fn sub(a: Expr, b: Expr) -> Expr {
    Expr::binary(BinaryOp::Sub, a, b)
}

pub(crate) fn mul(a: Expr, b: Expr) -> Expr {
    Expr::binary(BinaryOp::Mul, a, b)
}

pub(crate) fn floor_div(a: Expr, b: Expr) -> Expr {
    Expr::binary(BinaryOp::FloorDiv, a, b)
}

pub(crate) fn floor_mod(a: Expr, b: Expr) -> Expr {
    Expr::binary(BinaryOp::FloorMod, a, b)
}

/// `a / b`, rounded up, for positive `b`.
pub(crate) fn ceil_div(a: &Expr, b: &Expr) -> Expr {
    simplify(&floor_div(sub(add(a.clone(), b.clone()), Expr::int(1)), b.clone()))
}

fn truth(value: bool) -> Expr {
    Expr::Int { value: i64::from(value), dtype: DType::BOOL }
}

/// The canonical form of an expression, for any values of its variables.
pub(crate) fn simplify(expr: &Expr) -> Expr {
    simplify_in(expr, &Env::new())
}

/// The canonical form of an expression whose variables stay in the intervals of `env`. Knowing them simplifies more:
/// `(i * 8 + j) // 8` is `i` if `j` is in `0..=7`.
pub(crate) fn simplify_in(expr: &Expr, env: &Env) -> Expr {
    let mut simple = expr.clone();
    simplify_place(&mut simple, env);
    simple
}

/// Simplifies an expression in place, its operands first. So every operand is simple when a rule looks at it, and what
/// no rule applies to is not copied.
fn simplify_place(expr: &mut Expr, env: &Env) {
    for child in expr.children_mut() {
        simplify_place(child, env);
    }
    // `None` where no rule applies: then the expression stays as it is.
    let simpler = match expr {
        Expr::Binary { op, left, right } => match *op {
            BinaryOp::FloorDiv | BinaryOp::FloorMod => divide(*op, left, right, env),
            BinaryOp::Min | BinaryOp::Max => Some(extreme(*op, (**left).clone(), (**right).clone())),
            BinaryOp::And | BinaryOp::Or => connect(*op, left, right),
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge | BinaryOp::Eq | BinaryOp::Ne => {
                compare(*op, left, right, env)
            }
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => canonical_sum(expr),
            // These round towards zero; the rules for quotients and remainders are those of rounding down.
            BinaryOp::Div | BinaryOp::Mod => None,
        },
        // A hint that a condition is nearly always true means nothing for a constant.
        Expr::Call { name, args, .. } if name == "likely" => args.first().filter(|value| value.is_constant()).cloned(),
        _ => None,
    };
    if let Some(simpler) = simpler {
        *expr = simpler;
    }
}

/// Simplifies the subscripts inside a value and leaves its arithmetic alone: floats do not reassociate.
pub(crate) fn simplify_subscripts(value: &mut Expr, env: &Env) {
    if let Expr::Load { index, .. } = value {
        for subscript in index {
            *subscript = simplify_in(subscript, env);
        }
        return;
    }
    for child in value.children_mut() {
        simplify_subscripts(child, env);
    }
}

/// Whether an expression has no float constants and no vectors in it, as subscripts and extents have none.
fn is_index(expr: &Expr) -> bool {
    !expr.any(&|part| matches!(part, Expr::Float { .. } | Expr::Ramp { .. } | Expr::Broadcast { .. }))
}

/// The canonical form of a sum, a difference or a product. `None` if it is no index or does not fit 64 bits.
fn canonical_sum(expr: &Expr) -> Option<Expr> {
    if !is_index(expr) {
        return None;
    }
    let mut sum = Linear::of(expr)?;
    join_quotients(&mut sum)?;
    Some(to_expr(&sum))
}

/// Replaces `x // k * (k * s) + x % k * s` by `x * s`, for all such pairs of terms in a sum. `None` if a number does
/// not fit 64 bits.
fn join_quotients(sum: &mut Linear) -> Option<()> {
    loop {
        // A pair: the position of a remainder, the position of its quotient, `x` and `s`.
        let found = sum.terms.iter().enumerate().find_map(|(at, (atom, scale))| {
            let Expr::Binary { op: BinaryOp::FloorMod, left, right } = atom else { return None };
            let quotient = floor_div((**left).clone(), (**right).clone());
            // `right` is `k`, and `scale` is `s`: the quotient must have the factor `k * s`.
            let needed = scale.checked_mul(right.as_int()?)?;
            let other = sum.terms.iter().position(|(atom, scale)| *atom == quotient && *scale == needed)?;
            Some((at, other, (**left).clone(), *scale))
        });
        let Some((first, second, value, scale)) = found else { return Some(()) };
        // The term further back is removed first, because removing a term moves all terms after it.
        sum.terms.remove(first.max(second));
        sum.terms.remove(first.min(second));
        let whole = add(to_expr(sum), mul(value, Expr::int(scale)));
        *sum = Linear::of(&whole)?;
    }
}

/// `atom * scale`, without a factor of 1.
fn scaled(atom: &Expr, scale: i64) -> Expr {
    if scale == 1 { atom.clone() } else { mul(atom.clone(), Expr::int(scale)) }
}

/// A sum as an expression: positive terms from the largest factor to the smallest, a positive constant, then everything
/// that is subtracted. Equal factors keep the order of the sum, so the result is always the same.
fn to_expr(sum: &Linear) -> Expr {
    let mut terms: Vec<&(Expr, i64)> = sum.terms.iter().collect();
    terms.sort_by_key(|(_, scale)| std::cmp::Reverse(*scale));
    // What is added: the terms with positive factors, and then a positive constant.
    let added = terms.iter().filter(|term| term.1 > 0).map(|(atom, scale)| scaled(atom, *scale));
    let constant = (sum.constant > 0).then(|| Expr::int(sum.constant));
    let mut result: Option<Expr> = added.chain(constant).reduce(add);
    // `x - y * 3` if something stands before the term, `y * -3` if it is the first one. The factor -2^63 has no
    // positive counterpart and is added as it is.
    for (atom, scale) in terms.iter().filter(|term| term.1 < 0) {
        result = Some(match (result.take(), scale.checked_neg()) {
            (Some(before), Some(positive)) => sub(before, scaled(atom, positive)),
            (before, _) => before.map_or_else(|| scaled(atom, *scale), |before| add(before, scaled(atom, *scale))),
        });
    }
    // Without any term the sum is its constant. A negative constant is subtracted last.
    match (result, sum.constant) {
        (None, constant) => Expr::int(constant),
        (Some(sum), constant) if constant < 0 => match constant.checked_neg() {
            Some(positive) => sub(sum, Expr::int(positive)),
            None => add(sum, Expr::int(constant)),
        },
        (Some(sum), _) => sum,
    }
}

/// Simplifies a division or a remainder by a positive constant: `(d·q + r) // d` is `q + r // d`, and `(d·q + r) % d`
/// is `r % d`. Where `0 <= r < d` is known from `env`, the results are `q` and `r`. `None` for any other divisor.
fn divide(op: BinaryOp, left: &Expr, right: &Expr, env: &Env) -> Option<Expr> {
    let divisor = right.as_int().filter(|divisor| *divisor > 0)?;
    if divisor == 1 {
        return Some(if op == BinaryOp::FloorDiv { left.clone() } else { Expr::int(0) });
    }
    let sum = Linear::of(left)?;
    // Terms whose factor is a multiple of the divisor divide without rest; all others go to the remainder.
    let (mut quotient, mut rest) = (Linear::default(), Linear::default());
    for (atom, scale) in sum.terms {
        let part = if scale % divisor == 0 { &mut quotient } else { &mut rest };
        let scale = if scale % divisor == 0 { scale / divisor } else { scale };
        part.terms.push((atom, scale));
    }
    // The constant is split in the same way: `constant = divisor * quotient + rest`, with a rest that is not negative.
    quotient.constant = sum.constant.div_euclid(divisor);
    rest.constant = sum.constant.rem_euclid(divisor);
    let remainder = to_expr(&rest);
    // If the remainder provably lies in 0..divisor, it adds nothing to the quotient, and it is the result of the
    // modulo.
    let ends = interval(&remainder, env).constants();
    let inside = ends.is_some_and(|(lo, hi)| lo >= 0 && hi < divisor);
    let whole = to_expr(&quotient);
    match (op, inside) {
        (BinaryOp::FloorDiv, true) => Some(whole),
        (BinaryOp::FloorDiv, false) => canonical_sum(&add(whole, floor_div(remainder, right.clone()))),
        (_, true) => Some(remainder),
        (_, false) => Some(floor_mod(remainder, right.clone())),
    }
}

/// The smaller (`op` is `Min`) or the larger (`Max`) of two expressions: one of the two if their difference is a
/// constant, else `min(a, b)` or `max(a, b)`.
fn extreme(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    if a == b {
        return a;
    }
    match crate::linear::constant_difference(&a, &b) {
        // `difference` is `a - b`: if it is not positive `a` is the smaller one, else the larger one.
        Some(difference) if (difference <= 0) == (op == BinaryOp::Min) => a,
        Some(_) => b,
        None => fold(op, &a, &b).unwrap_or_else(|| Expr::binary(op, a, b)),
    }
}

/// Simplifies `and` and `or` with a constant on one side: the neutral constant (true for `and`, false for `or`) leaves
/// the other side, any other constant is the result. `None` if neither side is constant.
fn connect(op: BinaryOp, left: &Expr, right: &Expr) -> Option<Expr> {
    let neutral = i64::from(op == BinaryOp::And);
    match (left.as_int(), right.as_int()) {
        (Some(value), _) => Some(if value == neutral { right.clone() } else { left.clone() }),
        (_, Some(value)) => Some(if value == neutral { left.clone() } else { right.clone() }),
        _ => None,
    }
}

/// The truth value of a comparison, if it is the same for all values that the variables take; else `None`.
fn compare(op: BinaryOp, left: &Expr, right: &Expr, env: &Env) -> Option<Expr> {
    if !is_index(left) || !is_index(right) {
        return None;
    }
    // The truth value `value`, if the comparison `op` of the two sides is proved.
    let known = |op, value| prove_compare(op, left, right, env).then(|| truth(value));
    // The comparison is false if its opposite is proved. For equality the difference has to be a constant.
    let (opposite, also) = match op {
        BinaryOp::Lt => (BinaryOp::Ge, op),
        BinaryOp::Le => (BinaryOp::Gt, op),
        BinaryOp::Gt => (BinaryOp::Le, op),
        BinaryOp::Ge => (BinaryOp::Lt, op),
        BinaryOp::Eq | BinaryOp::Ne => {
            let difference = crate::linear::constant_difference(left, right)?;
            return Some(truth((difference == 0) == (op == BinaryOp::Eq)));
        }
        _ => return None,
    };
    known(also, true).or_else(|| known(opposite, false))
}

/// Whether `left op right` is proved for all values that the variables take. `false` means that it is not proved, not
/// that it is wrong. The proof is that the interval of `left - right` lies on one side of zero.
pub(crate) fn prove_compare(op: BinaryOp, left: &Expr, right: &Expr, env: &Env) -> bool {
    let difference = interval_fully(&sub(left.clone(), right.clone()), env);
    // An end as a number. An open end or a symbolic one proves nothing.
    let constant = |end: &Option<Expr>| end.as_ref().and_then(Expr::as_int);
    match op {
        BinaryOp::Lt => constant(&difference.hi).is_some_and(|hi| hi < 0),
        BinaryOp::Le => constant(&difference.hi).is_some_and(|hi| hi <= 0),
        BinaryOp::Gt => constant(&difference.lo).is_some_and(|lo| lo > 0),
        BinaryOp::Ge => constant(&difference.lo).is_some_and(|lo| lo >= 0),
        _ => false,
    }
}

/// Whether two expressions are proved equal for all values of their variables; `false` means not proved.
pub(crate) fn prove_equal(left: &Expr, right: &Expr) -> bool {
    let simple = simplify(&sub(left.clone(), right.clone()));
    simple.as_int() == Some(0)
}

/// The interval of an expression: each term of the sum is replaced by its smallest or largest value. The ends of a
/// variable's interval may name other variables, and those are not replaced in turn; see [`interval_fully`].
pub(crate) fn interval(expr: &Expr, env: &Env) -> Interval {
    if !is_index(expr) {
        return Interval::EVERYTHING;
    }
    let Some(sum) = Linear::of(expr) else { return Interval::EVERYTHING };
    let start = Interval::point(Expr::int(sum.constant));
    let total = sum.terms.iter().fold(start, |total, (atom, scale)| {
        let part = atom_interval(atom, env);
        // A negative factor turns the interval around.
        let (lo, hi) = if *scale >= 0 { (part.lo, part.hi) } else { (part.hi, part.lo) };
        // One end of the sum so far plus one end of this term; open if one of the two is.
        let plus = |sum: Option<Expr>, end: Option<Expr>| Some(add(sum?, mul(end?, Expr::int(*scale))));
        Interval { lo: plus(total.lo, lo), hi: plus(total.hi, hi) }
    });
    let tidy = |end: Option<Expr>| end.map(|end| simplify(&end));
    Interval { lo: tidy(total.lo), hi: tidy(total.hi) }
}

/// The interval of an expression with no variable of `env` left in its ends, as far as a limited number of replacements
/// can reach that.
///
/// [`interval`] replaces each variable by the ends of its range, and these ends may mention other variables: with `j`
/// in `0..=i` and `i` in `0..=7` the interval of `j` is `0..=i`. So the ends are replaced again until nothing changes:
/// here `0..=7`.
pub(crate) fn interval_fully(expr: &Expr, env: &Env) -> Interval {
    /// At most so many rounds of replacements. The bounds of a loop hardly ever depend on a chain of more than this
    /// many loops around it. If they do, the ends still name variables: the interval is right but proves less.
    const ROUNDS: usize = 8;
    let mut result = interval(expr, env);
    for _ in 0..ROUNDS {
        // One end with its variables replaced: the largest value it can have for the upper end (`up`), the smallest for
        // the lower end.
        let grow = |end: &Option<Expr>, up: bool| {
            let next = interval(end.as_ref()?, env);
            if up { next.hi } else { next.lo }
        };
        let next = Interval { lo: grow(&result.lo, false), hi: grow(&result.hi, true) };
        if next == result {
            break;
        }
        result = next;
    }
    result
}

/// Whether an expression has a variable that `env` gives an interval for.
fn mentions(expr: &Expr, env: &Env) -> bool {
    expr.any(&|part| matches!(part, Expr::Var(var) if env.contains_key(var)))
}

/// The interval of an atom: a part of an expression that is no sum. Anything whose value is not known, such as a load,
/// can be everything.
fn atom_interval(atom: &Expr, env: &Env) -> Interval {
    match atom {
        // A variable that `env` does not know stands for itself, so it is a point.
        Expr::Var(var) => env.get(var).cloned().unwrap_or_else(|| Interval::point(atom.clone())),
        Expr::Int { .. } => Interval::point(atom.clone()),
        Expr::Cast { dtype, value } if dtype.is_integer() => cast_interval(*dtype, interval(value, env)),
        Expr::Select { then, otherwise, .. } => interval(then, env).hull(interval(otherwise, env)),
        Expr::Call { name, args, .. } if name == "likely" => {
            args.first().map_or(Interval::EVERYTHING, |value| interval(value, env))
        }
        Expr::Binary { op, left, right } => binary_interval(atom, *op, left, right, env),
        _ => Interval::EVERYTHING,
    }
}

/// The interval of values after a cast to an integer type, if the cast changes none of them; else everything, because a
/// value that does not fit wraps around. An end that is no constant is taken to fit a type of at least 32 bits, the
/// type of all sizes and loop variables, but not a narrower one. An unsigned type also needs a start that is not
/// negative.
fn cast_interval(dtype: DType, values: Interval) -> Interval {
    let unsigned = matches!(dtype.kind, Kind::UInt | Kind::Bool);
    // The values of the type are `least..=most`; for `uint64`, those of them that an `i64` can hold. A truth value is
    // stored in 8 bits and has one.
    let bits = if dtype == DType::BOOL { 1 } else { u32::from(dtype.bits).min(64) };
    let most = i64::MAX >> if unsigned { 63_u32.saturating_sub(bits) } else { 64 - bits };
    let least = if unsigned { 0 } else { -most - 1 };
    // Whether an end of the interval is a value of the type.
    let fits = |end: &Option<Expr>| match end.as_ref().map(Expr::as_int) {
        Some(Some(end)) => (least..=most).contains(&end),
        _ => bits >= 32,
    };
    let start_fits = !unsigned || values.lo.as_ref().is_some_and(|lo| lo.as_int().is_some());
    if start_fits && fits(&values.lo) && fits(&values.hi) { values } else { Interval::EVERYTHING }
}

/// The interval of an operation that is not part of a sum: division, remainder, minimum, maximum.
fn binary_interval(atom: &Expr, op: BinaryOp, left: &Expr, right: &Expr, env: &Env) -> Interval {
    // An expression without variables that run over a range is one point. Loads are different: their value is not
    // known, however constant their index is.
    let loads = atom.any(&|part| matches!(part, Expr::Load { .. } | Expr::Call { .. }));
    if !loads && !mentions(atom, env) {
        return Interval::point(atom.clone());
    }
    let a = interval(left, env);
    match op {
        // Floor division by a positive number never reverses the order, so the ends of the interval stay its ends.
        BinaryOp::FloorDiv if right.as_int().is_some_and(|divisor| divisor > 0) => {
            a.map_ends(|end| simplify(&floor_div(end, right.clone())))
        }
        BinaryOp::FloorMod => match right.as_int().filter(|divisor| *divisor > 0) {
            // A single value has a single remainder.
            Some(_) if a.is_point() => {
                a.lo.map_or(Interval::EVERYTHING, |at| Interval::point(simplify(&floor_mod(at, right.clone()))))
            }
            Some(divisor) => modulo_interval(&a, divisor),
            None => Interval::EVERYTHING,
        },
        BinaryOp::Min | BinaryOp::Max => {
            let b = interval(right, env);
            Interval { lo: extreme_end(op, a.lo, b.lo), hi: extreme_end(op, a.hi, b.hi) }
        }
        _ => Interval::EVERYTHING,
    }
}

/// The remainders of all values of an interval: `0..=divisor - 1`, or less if the ends are constants within one period.
/// Divided by 8, the values `10..=13` have the remainders `2..=5`.
fn modulo_interval(values: &Interval, divisor: i64) -> Interval {
    let whole = Interval { lo: Some(Expr::int(0)), hi: Some(Expr::int(divisor - 1)) };
    let (Some(lo), Some(hi)) = (&values.lo, &values.hi) else { return whole };
    match (lo.as_int(), hi.as_int()) {
        (Some(lo), Some(hi)) if lo.div_euclid(divisor) == hi.div_euclid(divisor) => {
            Interval { lo: Some(Expr::int(lo.rem_euclid(divisor))), hi: Some(Expr::int(hi.rem_euclid(divisor))) }
        }
        _ => whole,
    }
}

/// A copy of an expression in which the variables that `values` has are replaced.
pub(crate) fn substitute(expr: &Expr, values: &BTreeMap<VarId, Expr>) -> Expr {
    let mut result = expr.clone();
    substitute_in_place(&mut result, values);
    result
}

/// Replaces the variables that `values` has in an expression. What is put in is not searched again.
pub(crate) fn substitute_in_place(expr: &mut Expr, values: &BTreeMap<VarId, Expr>) {
    if let Expr::Var(var) = expr {
        if let Some(value) = values.get(var) {
            *expr = value.clone();
        }
        return;
    }
    for child in expr.children_mut() {
        substitute_in_place(child, values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memplan_core::Id;

    fn var(index: usize) -> Expr {
        Expr::Var(VarId::from_index(index))
    }

    fn env() -> Env {
        let range = |extent| Interval::range(&Expr::int(0), &Expr::int(extent));
        Env::from([(VarId::from_index(0), range(4)), (VarId::from_index(1), range(8))])
    }

    #[test]
    fn sums_are_ordered_by_factor() {
        let index = add(mul(add(var(1), mul(var(0), Expr::int(4))), Expr::int(20)), Expr::int(3));
        let expected = add(add(mul(var(0), Expr::int(80)), mul(var(1), Expr::int(20))), Expr::int(3));
        assert_eq!(simplify(&index), expected);
        assert_eq!(simplify(&sub(Expr::int(11), var(0))), sub(Expr::int(11), var(0)));
        assert_eq!(simplify(&sub(var(0), var(0))), Expr::int(0));
    }

    /// The smallest number has no positive counterpart that could be subtracted.
    #[test]
    fn the_smallest_constant_is_kept() {
        let far = add(var(0), Expr::int(i64::MIN));
        assert_eq!(simplify(&far), far);
    }

    #[test]
    fn quotients_meet_their_remainders() {
        let eight = || Expr::int(8);
        let split = add(mul(floor_div(var(5), eight()), eight()), floor_mod(var(5), eight()));
        assert_eq!(simplify(&split), var(5));
        let inside = add(mul(var(0), eight()), var(1));
        assert_eq!(simplify_in(&floor_div(inside.clone(), eight()), &env()), var(0));
        assert_eq!(simplify_in(&floor_mod(inside, eight()), &env()), var(1));
        assert_eq!(ceil_div(&Expr::int(15), &Expr::int(4)), Expr::int(4));
    }

    #[test]
    fn comparisons_are_proved_from_intervals() {
        let value = add(mul(var(0), Expr::int(8)), var(1));
        assert!(prove_compare(BinaryOp::Lt, &value, &Expr::int(32), &env()));
        assert!(!prove_compare(BinaryOp::Lt, &value, &Expr::int(31), &env()));
        assert!(prove_compare(BinaryOp::Ge, &sub(value, Expr::int(31)), &Expr::int(-31), &env()));
        let symbolic = Env::from([(VarId::from_index(2), Interval::range(&Expr::int(0), &var(9)))]);
        assert!(prove_compare(BinaryOp::Lt, &var(2), &var(9), &symbolic), "i < n for i in 0..n");
    }

    #[test]
    fn an_unknown_index_can_be_anything() {
        let load = Expr::Load { buffer: crate::ir::BufId::from_index(0), index: vec![var(0)] };
        assert_eq!(interval(&load, &env()), Interval::EVERYTHING);
    }
}
