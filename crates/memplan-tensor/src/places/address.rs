//! Addresses of accesses, in bits from the start of a buffer's memory, as sums that can be subtracted.
//!
//! `A[i, j]` of `A f32[8, 4]` has the address `128·i + 32·j`. Two accesses touch the same place in two functions if
//! the difference of their addresses is a constant, which then is the distance of the two buffers.

use super::Element;
use crate::ir::{BinaryOp, BufId, Expr, Function, Memory, VarId};
use std::collections::BTreeMap;

/// An integer expression over the variables of one function, with the loads in it set aside.
pub(super) struct Sum<'f> {
    /// The terms: factors that are multiplied, and a number that they are multiplied with. For a subscript the factors
    /// are the extents of all later dimensions and, last, the subscript; the number is the size of an element in bits.
    parts: Vec<(Vec<&'f Expr>, i64)>,
    /// Loads inside of the terms: for each term those of its last factor (the subscript), then those of the extents
    /// before it. In this order they stand in the subscript of a flattened buffer, `A[i * n[0] + j]`.
    pub(super) loads: Vec<&'f Expr>,
}

impl<'f> Sum<'f> {
    fn zero() -> Sum<'f> {
        Sum { parts: Vec::new(), loads: Vec::new() }
    }

    /// Adds `expr * factors * factor`, and notes the loads in `expr` and in `factors`.
    fn add(&mut self, expr: &'f Expr, factors: &[&'f Expr], factor: i64) {
        find_loads(expr, &mut self.loads);
        factors.iter().for_each(|factor| find_loads(factor, &mut self.loads));
        self.parts.push((factors.iter().copied().chain([expr]).collect(), factor));
    }

    /// Whether another sum is written in the same way, where `same` compares variables. That is faster than
    /// multiplying out, and `false` for equal sums that are written differently.
    pub(super) fn is_alike(&self, other: &Sum, same: &dyn Fn(VarId, VarId) -> bool) -> bool {
        let mut pairs = self.parts.iter().zip(&other.parts);
        self.parts.len() == other.parts.len()
            && pairs.all(|((one, factor), (other, number))| {
                let mut factors = one.iter().zip(other);
                factor == number && one.len() == other.len() && factors.all(|(one, other)| is_alike(one, other, same))
            })
    }

    /// The sum multiplied out, with names for its variables; `None` if a number does not fit 64 bits, or if there is a
    /// part that is no number (a pointer, a type).
    pub(super) fn value(&self, name: &dyn Fn(VarId) -> String) -> Option<Value> {
        let mut writer = Writer { name, loads: 0 };
        let mut total = Value::default();
        // One writer for all factors: it numbers the loads in the order in which `add` found them, and `loads` of the
        // other function has them in the same order.
        for (factors, factor) in &self.parts {
            let (last, extents) = factors.split_last()?;
            let mut product = Value::constant(*factor).times(&writer.expr(last)?)?;
            for extent in extents {
                product = product.times(&writer.expr(extent)?)?;
            }
            total = total.plus(&product, 1)?;
        }
        Some(total)
    }
}

/// Whether two expressions are the same if their variables are compared with `same`. `false` for everything but binary
/// operations on variables and integers.
fn is_alike(one: &Expr, other: &Expr, same: &dyn Fn(VarId, VarId) -> bool) -> bool {
    match (one, other) {
        (Expr::Int { value, .. }, Expr::Int { value: number, .. }) => value == number,
        (Expr::Var(one), Expr::Var(other)) => same(*one, *other),
        (Expr::Binary { op, left, right }, Expr::Binary { op: sign, left: first, right: second }) => {
            op == sign && is_alike(left, first, same) && is_alike(right, second, same)
        }
        _ => false,
    }
}

/// Lists the loads in an expression, without those inside of their subscripts.
fn find_loads<'f>(expr: &'f Expr, found: &mut Vec<&'f Expr>) {
    if matches!(expr, Expr::Load { .. }) {
        return found.push(expr);
    }
    expr.all_children(|child| {
        find_loads(child, found);
        true
    });
}

/// A sum of products of named atoms: for each product (the sorted names of its factors) its coefficient, never 0. The
/// constant is the product without factors. `2·i·n + 5` is `{[i, n]: 2, []: 5}`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Value(BTreeMap<Vec<String>, i64>);

impl Value {
    fn constant(value: i64) -> Value {
        Value(if value == 0 { BTreeMap::new() } else { BTreeMap::from([(Vec::new(), value)]) })
    }

    fn atom(name: String) -> Value {
        Value(BTreeMap::from([(vec![name], 1)]))
    }

    /// The value, if there are no atoms in it.
    pub(super) fn as_constant(&self) -> Option<i64> {
        match self.0.len() {
            0 => Some(0),
            1 => self.0.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// The sum with a multiple of another value. Terms that cancel out are removed, so that equal values compare
    /// equal.
    fn plus(mut self, other: &Value, factor: i64) -> Option<Value> {
        for (product, value) in &other.0 {
            let sum = self.0.get(product).copied().unwrap_or(0).checked_add(value.checked_mul(factor)?)?;
            if sum == 0 {
                self.0.remove(product);
            } else {
                self.0.insert(product.clone(), sum);
            }
        }
        Some(self)
    }

    pub(super) fn minus(self, other: &Value) -> Option<Value> {
        self.plus(other, -1)
    }

    /// The product, term by term.
    fn times(&self, other: &Value) -> Option<Value> {
        let mut total = Value::default();
        for (left, a) in &self.0 {
            for (right, b) in &other.0 {
                let mut product: Vec<String> = left.iter().chain(right).cloned().collect();
                product.sort_unstable();
                total = total.plus(&Value(BTreeMap::from([(product, a.checked_mul(*b)?)])), 1)?;
            }
        }
        Some(total)
    }
}

/// Turns expressions into sums of named atoms.
struct Writer<'a> {
    name: &'a dyn Fn(VarId) -> String,
    /// Loads met so far.
    loads: usize,
}

impl Writer<'_> {
    /// An expression as a sum of products of atoms. Operations that are neither sums nor products become atoms named
    /// after their kind and operands, so that two of them are equal if they are written alike. Loads are numbered in
    /// the order of the text, which is the same in both functions.
    fn expr(&mut self, expr: &Expr) -> Option<Value> {
        match expr {
            Expr::Int { value, .. } => Some(Value::constant(*value)),
            Expr::Var(var) => Some(Value::atom((self.name)(*var))),
            Expr::Load { .. } => {
                self.loads += 1;
                Some(Value::atom(format!("load {}", self.loads)))
            }
            // Sums, differences and products are multiplied out.
            Expr::Binary { op: BinaryOp::Add, left, right } => self.expr(left)?.plus(&self.expr(right)?, 1),
            Expr::Binary { op: BinaryOp::Sub, left, right } => self.expr(left)?.plus(&self.expr(right)?, -1),
            Expr::Binary { op: BinaryOp::Mul, left, right } => {
                let left = self.expr(left)?;
                left.times(&self.expr(right)?)
            }
            // The same number in every lane, and a number that grows from lane to lane.
            Expr::Broadcast { value, .. } => self.expr(value),
            Expr::Ramp { base, stride, lanes } => {
                let lane = Value::atom(format!("lane of {lanes}"));
                let base = self.expr(base)?;
                base.plus(&self.expr(stride)?.times(&lane)?, 1)
            }
            // Constants that are no integers are atoms, equal if they are the same bits or the same text.
            Expr::Float { value, dtype } => Some(Value::atom(format!("{:x} {dtype}", value.to_bits()))),
            Expr::Str(text) | Expr::Text(text) => Some(Value::atom(format!("{text:?}"))),
            // Addresses and types are no numbers.
            Expr::Data(_) | Expr::Type(_) => None,
            _ => {
                // An operation that is no sum: the same if kind and operands are.
                let kind = match expr {
                    Expr::Binary { op, .. } => format!("{op:?}"),
                    Expr::Cast { dtype, .. } => format!("cast {dtype}"),
                    Expr::Call { name, dtype, .. } => format!("{name} {dtype}"),
                    Expr::Not(_) => "not".to_owned(),
                    Expr::Select { .. } => "select".to_owned(),
                    _ => return None,
                };
                let operands: Option<Vec<Value>> = expr.children().into_iter().map(|child| self.expr(child)).collect();
                Some(Value::atom(format!("{kind} {:?}", operands?)))
            }
        }
    }
}

/// Where a buffer starts in its memory, in bits: the offsets of all views in its chain, each in elements of that view.
fn start_of(function: &Function, buffer: BufId) -> Option<Sum<'_>> {
    let mut sum = Sum::zero();
    let mut view = buffer;
    for _ in 0..function.buffers.len() {
        let Memory::View { of, elem_offset } = &function.buffers[view].memory else { break };
        if let Some(offset) = elem_offset {
            sum.add(offset, &[], i64::try_from(function.buffers[view].dtype.total_bits()).ok()?);
        }
        view = *of;
    }
    Some(sum)
}

/// The address of an access. `None` if the number of subscripts is not that of the dimensions, if the lanes have no
/// constant distance, or if a size in bits does not fit 63 bits.
pub(super) fn address_of_element<'f>(function: &'f Function, buffer: BufId, index: &'f [Expr]) -> Option<Element<'f>> {
    let declared = &function.buffers[buffer];
    if index.len() != declared.shape.len() {
        return None;
    }
    // An element of `bits` bits may be a vector: its lanes have `lane` bits each and lie side by side.
    let bits = i64::try_from(declared.dtype.total_bits()).ok()?;
    let lane = i64::from(declared.dtype.bits);
    let mut sum = start_of(function, buffer)?;
    let mut lanes = u64::from(declared.dtype.lanes);
    let mut stride = lane;
    for (position, subscript) in index.iter().enumerate() {
        let subscript = match subscript {
            Expr::Ramp { base, stride: step, lanes: count } if position + 1 == index.len() => {
                // The elements may be vectors themselves. Then all lanes have the same distance only if the ramp steps
                // by one vector.
                let step = step.as_int()?;
                if declared.dtype.lanes > 1 && step != 1 {
                    return None;
                }
                lanes = lanes.checked_mul(u64::from(*count))?;
                stride = step.checked_mul(lane)?;
                base
            }
            other => other,
        };
        // Row-major: a subscript counts as many elements as all later dimensions have together.
        let extents: Vec<&Expr> = declared.shape[position + 1..].iter().collect();
        sum.add(subscript, &extents, bits);
    }
    // With one lane there is no distance. It is set to the size of the lane, so that two such accesses compare equal.
    let stride = if lanes > 1 { stride } else { lane };
    Some(Element { first: sum, lanes, element: declared.dtype.element(), stride })
}

/// A pointer into a buffer: `B.data`, `address_of(B[i])` or `tvm_access_ptr(type, B.data, offset, …)`.
pub(super) struct Pointer<'f> {
    pub(super) buffer: BufId,
    pub(super) first: Sum<'f>,
    /// Further arguments of the call, which a rewrite must not change.
    pub(super) kept: Vec<&'f Expr>,
}

/// Reads an expression as a pointer; `None` if it is none.
pub(super) fn pointer<'f>(expr: &'f Expr, function: &'f Function) -> Option<Pointer<'f>> {
    match expr {
        // The address of a view is that of the memory it looks at.
        Expr::Data(buffer) => Some(Pointer { buffer: *buffer, first: Sum::zero(), kept: Vec::new() }),
        Expr::Call { name, args, .. } => match (name.as_str(), args.as_slice()) {
            ("address_of", [Expr::Load { buffer, index }]) => {
                let first = address_of_element(function, *buffer, index)?.first;
                Some(Pointer { buffer: *buffer, first, kept: Vec::new() })
            }
            ("tvm_access_ptr", [ty @ Expr::Type(dtype), Expr::Data(buffer), offset, kept @ ..]) => {
                let mut first = Sum::zero();
                first.add(offset, &[], i64::try_from(dtype.total_bits()).ok()?);
                Some(Pointer { buffer: *buffer, first, kept: std::iter::once(ty).chain(kept).collect() })
            }
            _ => None,
        },
        _ => None,
    }
}

/// How many choices of numbers for symbolic sizes are tried: four with numbers up to 5000 and eight with numbers up to
/// 9 (see `sampled`).
pub(super) const SAMPLES: u64 = 12;

/// The bits of a buffer, with numbers for the variables in its extents that depend only on their names and on the
/// number of the sample; `None` if its size depends on data.
pub(super) fn bits_of(function: &Function, buffer: BufId, sample: u64, name: &dyn Fn(VarId) -> String) -> Option<i128> {
    let declared = &function.buffers[buffer];
    let bits = i128::from(declared.dtype.total_bits());
    declared.shape.iter().try_fold(bits, |product, extent| product.checked_mul(evaluate(extent, sample, name)?))
}

/// A number for a variable, from a hash of its name and the number of the sample: from 1 to 5000 in every third
/// sample, otherwise from 1 to 9.
fn sampled(name: &str, sample: u64) -> i128 {
    let mixed = name.bytes().fold(sample.wrapping_add(0x9e37_79b9), |mixed, byte| {
        (mixed ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23)
    });
    let bound = if sample.is_multiple_of(3) { 5000 } else { 9 };
    i128::from(mixed % bound) + 1
}

/// The value of an expression with numbers drawn for its variables, by their names and the number of the sample;
/// `None` for operations that are not integer arithmetic.
fn evaluate(expr: &Expr, sample: u64, name: &dyn Fn(VarId) -> String) -> Option<i128> {
    match expr {
        Expr::Int { value, .. } => Some(i128::from(*value)),
        Expr::Var(var) => Some(sampled(&name(*var), sample)),
        Expr::Cast { value: inner, .. } => evaluate(inner, sample, name),
        Expr::Binary { op, left, right } => {
            let (a, b) = (evaluate(left, sample, name)?, evaluate(right, sample, name)?);
            match op {
                BinaryOp::Add => a.checked_add(b),
                BinaryOp::Sub => a.checked_sub(b),
                BinaryOp::Mul => a.checked_mul(b),
                // The same as rounding down for the divisors of sizes, which are positive.
                BinaryOp::FloorDiv => a.checked_div_euclid(b),
                BinaryOp::FloorMod => a.checked_rem_euclid(b),
                BinaryOp::Div => a.checked_div(b),
                BinaryOp::Mod => a.checked_rem(b),
                BinaryOp::Min => Some(a.min(b)),
                BinaryOp::Max => Some(a.max(b)),
                _ => None,
            }
        }
        _ => None,
    }
}
