//! Scalar arithmetic with the wrapping and rounding of each element type.

use crate::ir::BinaryOp;
use crate::{DType, Kind};

/// One lane of a value.
#[derive(Clone, Copy, Debug)]
pub enum Scalar {
    /// An integer or truth value.
    Int(i64),
    /// A floating point value, already rounded to its type.
    Float(f64),
}

impl PartialEq for Scalar {
    /// Bit for bit: a NaN equals itself, and the two zeros differ.
    fn eq(&self, other: &Scalar) -> bool {
        match (self, other) {
            (Scalar::Int(a), Scalar::Int(b)) => a == b,
            (Scalar::Float(a), Scalar::Float(b)) => a.to_bits() == b.to_bits(),
            _ => false,
        }
    }
}

impl Scalar {
    /// As an integer; a float is rounded towards zero.
    pub(super) fn as_int(self) -> i64 {
        match self {
            Scalar::Int(value) => value,
            Scalar::Float(value) => value as i64,
        }
    }

    /// As a float.
    pub(super) fn as_float(self) -> f64 {
        match self {
            Scalar::Int(value) => value as f64,
            Scalar::Float(value) => value,
        }
    }

    /// As a truth value: anything but zero is true.
    pub(super) fn is_true(self) -> bool {
        match self {
            Scalar::Int(value) => value != 0,
            Scalar::Float(value) => value != 0.0,
        }
    }

    /// A truth value as a number: 1 or 0.
    pub(super) fn truth(value: bool) -> Scalar {
        Scalar::Int(i64::from(value))
    }
}

/// `value` as a lane of `dtype`: integers wrap, floats round.
pub(super) fn convert(value: Scalar, dtype: DType) -> Scalar {
    match dtype.kind {
        Kind::Bool => Scalar::truth(value.is_true()),
        Kind::Int | Kind::UInt | Kind::Handle => Scalar::Int(wrap(value.as_int(), dtype)),
        Kind::Float | Kind::BFloat | Kind::Small(_) => Scalar::Float(round(value.as_float(), dtype)),
    }
}

/// A number as an integer type of fewer bits holds it. For widths other than 8, 16 and 32 (1, 2, 4 and 64 bits, and
/// handles) the number is left as it is.
fn wrap(value: i64, dtype: DType) -> i64 {
    match (dtype.kind, dtype.bits) {
        (Kind::Int, 8) => i64::from(value as i8),
        (Kind::Int, 16) => i64::from(value as i16),
        (Kind::Int, 32) => i64::from(value as i32),
        (Kind::UInt, 8) => i64::from(value as u8),
        (Kind::UInt, 16) => i64::from(value as u16),
        (Kind::UInt, 32) => i64::from(value as u32),
        _ => value,
    }
}

/// A number rounded to a floating-point type: to `bfloat16`, `float16` or `float32`. For other types (`float64`, and
/// the small ones of 8 bits and fewer) the number is left as it is.
fn round(value: f64, dtype: DType) -> f64 {
    match (dtype.kind, dtype.bits) {
        (Kind::BFloat, _) => f64::from(bfloat_to_float(float_to_bfloat(value as f32))),
        (_, 16) => half_to_double(double_to_half(value)),
        (_, 32) => f64::from(value as f32),
        _ => value,
    }
}

/// A binary operation on lanes of `dtype`; `None` for a division by zero.
///
/// Single-precision results are computed in double precision and rounded once more, which for
/// these operators gives the same bits as single-precision hardware.
pub(super) fn binary(op: BinaryOp, left: Scalar, right: Scalar, dtype: DType) -> Option<Scalar> {
    if dtype.is_float() {
        let (a, b) = (left.as_float(), right.as_float());
        return Some(match compare(op, a.partial_cmp(&b)) {
            Some(truth) => Scalar::truth(truth),
            None => Scalar::Float(round(float_binary(op, a, b), dtype)),
        });
    }
    let (a, b) = (left.as_int(), right.as_int());
    // 64-bit unsigned numbers are kept in a signed one, bit by bit, so their order and their quotients differ from
    // those of the signed numbers.
    let is_wide = dtype.kind == Kind::UInt && dtype.bits == 64;
    let order = if is_wide { (a as u64).cmp(&(b as u64)) } else { a.cmp(&b) };
    if let Some(truth) = compare(op, Some(order)) {
        return Some(Scalar::truth(truth));
    }
    let value = match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        // `order` is how `a` compares with `b`, with or without signs.
        BinaryOp::Min => {
            if order.is_le() {
                a
            } else {
                b
            }
        }
        BinaryOp::Max => {
            if order.is_ge() {
                a
            } else {
                b
            }
        }
        // All operators below divide. A division by zero has no value; the caller reports it.
        _ if b == 0 => return None,
        BinaryOp::Div | BinaryOp::FloorDiv if is_wide => (a as u64 / b as u64) as i64,
        _ if is_wide => (a as u64 % b as u64) as i64,
        BinaryOp::Div => a.wrapping_div(b),
        BinaryOp::Mod => a.wrapping_rem(b),
        BinaryOp::FloorDiv => floor_div(a, b),
        // `FloorMod`. Comparisons are handled above, and the interpreter evaluates `and` and `or` itself.
        _ => a.wrapping_sub(floor_div(a, b).wrapping_mul(b)),
    };
    Some(Scalar::Int(wrap(value, dtype)))
}

/// The quotient rounded down: one less than the truncated quotient if that was rounded up.
fn floor_div(a: i64, b: i64) -> i64 {
    let quotient = a.wrapping_div(b);
    if a.wrapping_rem(b) != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient }
}

/// The result of a comparison of two numbers in this order; `None` if the operator is no comparison. With a NaN, which
/// has no order, only `!=` is true.
fn compare(op: BinaryOp, order: Option<std::cmp::Ordering>) -> Option<bool> {
    Some(match op {
        BinaryOp::Eq => order.is_some_and(std::cmp::Ordering::is_eq),
        BinaryOp::Ne => !order.is_some_and(std::cmp::Ordering::is_eq),
        BinaryOp::Lt => order.is_some_and(std::cmp::Ordering::is_lt),
        BinaryOp::Le => order.is_some_and(std::cmp::Ordering::is_le),
        BinaryOp::Gt => order.is_some_and(std::cmp::Ordering::is_gt),
        BinaryOp::Ge => order.is_some_and(std::cmp::Ordering::is_ge),
        _ => return None,
    })
}

/// Arithmetic of floating-point numbers. The last arm is `FloorMod`, the remainder of a division that rounds down;
/// comparisons, `and` and `or` do not come here.
fn float_binary(op: BinaryOp, a: f64, b: f64) -> f64 {
    match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Min => a.min(b),
        BinaryOp::Max => a.max(b),
        BinaryOp::Div => a / b,
        BinaryOp::FloorDiv => (a / b).floor(),
        BinaryOp::Mod => a % b,
        _ => a - b * (a / b).floor(),
    }
}

/// The bytes of a lane, least significant first. The encodings of floats of 8 bits and fewer ([`Kind::Small`]) are not
/// known here: memory holds the whole part of such a number, before a rewrite as after it.
pub(super) fn to_bytes(value: Scalar, dtype: DType) -> [u8; 8] {
    match (dtype.kind, dtype.bits) {
        (Kind::BFloat, _) => u64::from(float_to_bfloat(value.as_float() as f32)).to_le_bytes(),
        (Kind::Float, 16) => u64::from(double_to_half(value.as_float())).to_le_bytes(),
        (Kind::Float, 32) => u64::from((value.as_float() as f32).to_bits()).to_le_bytes(),
        (Kind::Float, _) => value.as_float().to_bits().to_le_bytes(),
        _ => value.as_int().to_le_bytes(),
    }
}

/// The lane that these bytes are.
pub(super) fn from_bytes(bytes: [u8; 8], dtype: DType) -> Scalar {
    let bits = u64::from_le_bytes(bytes);
    match (dtype.kind, dtype.bits) {
        (Kind::BFloat, _) => Scalar::Float(f64::from(bfloat_to_float(bits as u16))),
        (Kind::Float, 16) => Scalar::Float(half_to_double(bits as u16)),
        (Kind::Float, 32) => Scalar::Float(f64::from(f32::from_bits(bits as u32))),
        (Kind::Float, _) => Scalar::Float(f64::from_bits(bits)),
        (Kind::Bool, _) => Scalar::truth(bits != 0),
        _ => Scalar::Int(wrap(bits as i64, dtype)),
    }
}

/// The upper 16 bits of a single-precision number, rounded to the nearest, ties to even: adding just under half of the
/// last kept bit, and one more if that bit is set, carries exactly where it has to be rounded up. A NaN keeps its
/// upper bits with one more set, so that it stays a NaN.
fn float_to_bfloat(value: f32) -> u16 {
    let bits = value.to_bits();
    if value.is_nan() {
        return (bits >> 16) as u16 | 0x40;
    }
    let round_up = 0x7fff + ((bits >> 16) & 1);
    ((u64::from(bits) + u64::from(round_up)) >> 16) as u16
}

fn bfloat_to_float(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// A number of 16 bits (IEEE 754 binary16: sign, 5 bits of exponent, 10 bits of fraction) as one of 64.
fn half_to_double(bits: u16) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from((bits >> 10) & 0x1f);
    let fraction = f64::from(bits & 0x3ff);
    sign * match exponent {
        // Exponent 0 has no implicit leading bit (subnormal numbers), 31 stands for infinity and NaN. All others have
        // the implicit bit, 1024 units, and are biased by 15.
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    }
}

/// A number as a half-precision float, rounded to the nearest, ties to even. From 65520 on it rounds to infinity.
fn double_to_half(value: f64) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = value.abs();
    if value.is_nan() {
        return sign | 0x7e00;
    }
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    // The exponent of the unit in the last place: ten below that of the number, and the same -24 for all subnormal
    // halves.
    let exponent = if magnitude < 2f64.powi(-14) {
        -24
    } else {
        let power = ((magnitude.to_bits() >> 52) & 0x7ff) as i32 - 1023;
        power - 10
    };
    let units = (magnitude / 2f64.powi(exponent)).round_ties_even() as u32;
    let encoded = if exponent == -24 && units < 1024 {
        units
    } else {
        // The units contain the implicit bit (1024), which counts as one more in the exponent field. If rounding has
        // made 2048 units of them, the addition carries into the exponent, as it should.
        ((exponent + 24) as u32) * 1024 + units
    };
    sign | encoded as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_floats_round_to_even_and_back() {
        for (value, bits) in [
            (0.0, 0x0000),
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            (65504.0, 0x7bff),
            (65520.0, 0x7c00),
            (5.960_464_477_539_063e-8, 0x0001),
            (2049.0, 0x6800),
            (2051.0, 0x6802),
        ] {
            assert_eq!(double_to_half(value), bits, "{value}");
        }
        for bits in 0..0x7c00u16 {
            assert_eq!(double_to_half(half_to_double(bits)), bits);
        }
    }

    #[test]
    fn integers_wrap_and_divide_like_python() {
        let int8 = DType::scalar(Kind::Int, 8);
        let sum = binary(BinaryOp::Add, Scalar::Int(127), Scalar::Int(1), int8);
        assert_eq!(sum, Some(Scalar::Int(-128)));
        let int = |op, a, b| binary(op, Scalar::Int(a), Scalar::Int(b), DType::INT32).map(Scalar::as_int);
        assert_eq!(int(BinaryOp::FloorDiv, -7, 2), Some(-4));
        assert_eq!(int(BinaryOp::FloorMod, -7, 2), Some(1));
        assert_eq!(int(BinaryOp::Div, -7, 2), Some(-3));
        assert_eq!(int(BinaryOp::Div, 1, 0), None);
    }

    #[test]
    fn wide_unsigned_numbers_have_no_sign() {
        let uint64 = DType::scalar(Kind::UInt, 64);
        let most = u64::MAX as i64;
        let wide = |op| binary(op, Scalar::Int(most), Scalar::Int(2), uint64).map(|value| value.as_int() as u64);
        assert_eq!((wide(BinaryOp::Min), wide(BinaryOp::Max)), (Some(2), Some(u64::MAX)));
        assert_eq!((wide(BinaryOp::Div), wide(BinaryOp::Mod)), (Some(u64::MAX / 2), Some(1)));
        assert_eq!((wide(BinaryOp::FloorDiv), wide(BinaryOp::FloorMod)), (Some(u64::MAX / 2), Some(1)));
    }
}
