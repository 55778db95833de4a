//! Element types: kind, bits and lanes, written as TVM writes them (`int8`, `float32x4`, `bool`). A lane is one value
//! of a vector: `float32x4` has four lanes of 32 bits, and any type without `x` has one.

use std::fmt;
use std::str::FromStr;

/// What the bits of one lane mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Two's complement.
    Int,
    /// Unsigned.
    UInt,
    /// IEEE binary floating point of 16, 32 or 64 bits.
    Float,
    /// `bfloat16`.
    BFloat,
    /// A small floating point format.
    Small(SmallFloat),
    /// A truth value, stored in one byte.
    Bool,
    /// A pointer.
    Handle,
}

/// An element type: `lanes` values of `bits` bits each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DType {
    /// What one lane is.
    pub kind: Kind,
    /// Bits of one lane as stored; `bool` counts 8.
    pub bits: u16,
    /// Number of lanes; 1 is a scalar.
    pub lanes: u16,
}

impl DType {
    /// `int32`, the type of a bare integer.
    pub const INT32: DType = DType::scalar(Kind::Int, 32);
    /// `int64`.
    pub const INT64: DType = DType::scalar(Kind::Int, 64);
    /// `float32`, the type of a buffer that does not name one.
    pub const FLOAT32: DType = DType::scalar(Kind::Float, 32);
    /// `bool`.
    pub const BOOL: DType = DType::scalar(Kind::Bool, 8);
    /// `handle`.
    pub const HANDLE: DType = DType::scalar(Kind::Handle, 64);

    /// A type of one lane.
    pub const fn scalar(kind: Kind, bits: u16) -> DType {
        DType { kind, bits, lanes: 1 }
    }

    /// The same lane type with another number of lanes.
    pub const fn with_lanes(self, lanes: u16) -> DType {
        DType { lanes, ..self }
    }

    /// The type of one lane.
    pub const fn element(self) -> DType {
        self.with_lanes(1)
    }

    /// Bits of the whole element, all lanes.
    pub fn total_bits(self) -> u64 {
        u64::from(self.bits) * u64::from(self.lanes)
    }

    /// Bytes of one lane, rounded up.
    pub fn lane_bytes(self) -> u64 {
        u64::from(self.bits).div_ceil(8)
    }

    /// Whether lanes are integers (signed, unsigned or truth values).
    pub fn is_integer(self) -> bool {
        matches!(self.kind, Kind::Int | Kind::UInt | Kind::Bool)
    }

    /// Whether arithmetic in this type may pass over its ends, so that results are not those of unbounded integers:
    /// unsigned integers, and integers of fewer than 32 bits. Subscripts in `int32` and `int64` are taken to fit, as
    /// TVM takes them.
    pub fn wraps(self) -> bool {
        self.is_integer() && (self.bits < 32 || self.kind == Kind::UInt)
    }

    /// Whether an integer is a value of this integer type. Of an unsigned type of 64 bits only the lower half counts:
    /// the loop IR keeps larger numbers as negative ones.
    pub(crate) fn holds(self, value: i64) -> bool {
        let spare = 64u32.saturating_sub(u32::from(self.bits));
        match self.kind {
            Kind::Int => value << spare >> spare == value,
            Kind::UInt => value >= 0 && (value << spare) as u64 >> spare == value as u64,
            Kind::Bool => matches!(value, 0 | 1),
            _ => false,
        }
    }

    /// Whether lanes are floating point.
    pub fn is_float(self) -> bool {
        matches!(self.kind, Kind::Float | Kind::BFloat | Kind::Small(_))
    }
}

impl fmt::Display for DType {
    /// The form that [`FromStr`] reads: kind and bits, then the lanes if there are several.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Int => write!(f, "int{}", self.bits)?,
            Kind::UInt => write!(f, "uint{}", self.bits)?,
            Kind::Float => write!(f, "float{}", self.bits)?,
            Kind::BFloat => write!(f, "bfloat{}", self.bits)?,
            Kind::Small(format) => f.write_str(format.name())?,
            Kind::Bool => f.write_str("bool")?,
            Kind::Handle => f.write_str("handle")?,
        }
        if self.lanes != 1 {
            write!(f, "x{}", self.lanes)?;
        }
        Ok(())
    }
}

/// Small floating point formats and their bits, by name.
const SMALL_FLOATS: [(&str, u16); 11] = [
    ("float4_e2m1fn", 4),
    ("float6_e2m3fn", 6),
    ("float6_e3m2fn", 6),
    ("float8_e3m4", 8),
    ("float8_e4m3", 8),
    ("float8_e4m3b11fnuz", 8),
    ("float8_e4m3fn", 8),
    ("float8_e4m3fnuz", 8),
    ("float8_e5m2", 8),
    ("float8_e5m2fnuz", 8),
    ("float8_e8m0fnu", 8),
];

/// A small floating point format, as its position in the table of formats: every expression holds a type, so a type has
/// to be small. The order of formats is that of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SmallFloat(u8);

impl SmallFloat {
    /// Its name: `float8_e4m3fn`.
    pub fn name(self) -> &'static str {
        SMALL_FLOATS[usize::from(self.0)].0
    }
}

/// Why a text is not an element type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not an element type; known are int1..int64, uint1..uint64, float16..float64, bfloat16, the float8, float6 and float4 formats, bool and handle, each with optional lanes as in float32x4"
)]
pub struct ParseDTypeError(String);

/// The kind and the bits of a type of one lane, such as `uint8`; `None` if there is no such type.
fn kind_and_bits(lane: &str) -> Option<(Kind, u16)> {
    // Small floats are looked up by their whole name, because their names contain digits that are no bit count
    // (`float8_e4m3fn`).
    if let Some((position, (_, bits))) = (0..).zip(SMALL_FLOATS).find(|(_, (name, _))| *name == lane) {
        return Some((Kind::Small(SmallFloat(position)), bits));
    }
    // `uint8` is split into `uint` and `8`; a type without digits has no number.
    let digits = lane.find(|c: char| c.is_ascii_digit()).unwrap_or(lane.len());
    let (name, bits) = lane.split_at(digits);
    match (name, bits.parse().ok()) {
        ("int", Some(bits @ (1 | 2 | 4 | 8 | 16 | 32 | 64))) => Some((Kind::Int, bits)),
        ("uint", Some(bits @ (1 | 2 | 4 | 8 | 16 | 32 | 64))) => Some((Kind::UInt, bits)),
        ("float", Some(bits @ (16 | 32 | 64))) => Some((Kind::Float, bits)),
        ("bfloat", Some(16)) => Some((Kind::BFloat, 16)),
        // TVM stores a truth value in a whole byte, so `bool` has 8 bits here.
        ("bool", None) if lane == "bool" => Some((Kind::Bool, 8)),
        ("handle", None) if lane == "handle" => Some((Kind::Handle, 64)),
        _ => None,
    }
}

impl FromStr for DType {
    type Err = ParseDTypeError;

    fn from_str(text: &str) -> Result<DType, ParseDTypeError> {
        // After the last `x` stands the number of lanes. No type has an `x` in its own name.
        let (lane, lanes) = match text.rsplit_once('x') {
            Some((lane, lanes)) => (lane, lanes.parse().ok()),
            None => (text, Some(1u16)),
        };
        // `float32x0` is refused: its buffers would have size zero, and divisions by the element size would fail.
        match (kind_and_bits(lane), lanes) {
            (Some((kind, bits)), Some(lanes @ 1..)) => Ok(DType { kind, bits, lanes }),
            _ => Err(ParseDTypeError(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_read_and_print_alike() {
        for text in [
            "int8",
            "uint16",
            "float32",
            "float32x4",
            "bfloat16",
            "bool",
            "handle",
            "int4",
            "float8_e4m3fn",
            "float8_e5m2x4",
        ] {
            assert_eq!(text.parse::<DType>().unwrap().to_string(), text);
        }
        for text in ["", "int", "int7", "float8", "bool8", "float32x0", "float32x", "x4"] {
            assert!(text.parse::<DType>().is_err(), "{text}");
        }
        assert_eq!(DType::FLOAT32.with_lanes(4).total_bits(), 128);
        assert!(SMALL_FLOATS.is_sorted_by_key(|(name, _)| name), "formats are ordered by their names");
    }
}
