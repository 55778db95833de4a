//! Quantities with a unit: [`Bytes`] for sizes and offsets, [`Step`] for time.
//!
//! The two never mix: `Bytes + Step` does not compile. Arithmetic on input is
//! checked and ends in an error; a [`Problem`](crate::Problem) that was built
//! successfully bounds every sum a planner can form (see
//! [`MAX_BYTES`]), so planners may use plain arithmetic on the raw `u64`.

use std::fmt;
use std::str::FromStr;

/// The largest size, offset or extent that any problem or plan may contain.
///
/// One bit below the width of the type: the sum of two legal quantities never
/// wraps, so a single check after an addition is enough.
pub const MAX_BYTES: u64 = i64::MAX as u64;

/// The largest step any lifetime may mention; same reasoning as [`MAX_BYTES`].
pub const MAX_STEP: u64 = i64::MAX as u64;

/// A size or an offset in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl Bytes {
    /// No bytes.
    pub const ZERO: Bytes = Bytes(0);

    /// The sum; `None` if it exceeds [`MAX_BYTES`].
    pub fn checked_add(self, other: Bytes) -> Option<Bytes> {
        let sum = self.0.checked_add(other.0)?;
        (sum <= MAX_BYTES).then_some(Bytes(sum))
    }

    /// The product with a count; `None` if it exceeds [`MAX_BYTES`].
    pub fn checked_mul(self, count: u64) -> Option<Bytes> {
        let product = self.0.checked_mul(count)?;
        (product <= MAX_BYTES).then_some(Bytes(product))
    }

    /// The next multiple of `alignment` at or above `self`; `None` if it exceeds [`MAX_BYTES`]. An alignment of zero
    /// counts as one.
    pub fn align_up(self, alignment: Bytes) -> Option<Bytes> {
        let alignment = alignment.0.max(1);
        match self.0 % alignment {
            0 => Some(self),
            rest => self.checked_add(Bytes(alignment - rest)),
        }
    }

    /// Whether `self` is a multiple of `alignment`.
    pub fn is_aligned_to(self, alignment: Bytes) -> bool {
        self.0.is_multiple_of(alignment.0.max(1))
    }

    /// The smallest multiple of both, as for two alignments that have to hold together; `None` if it exceeds
    /// [`MAX_BYTES`].
    pub fn least_common_multiple(self, other: Bytes) -> Option<Bytes> {
        // Euclid's algorithm leaves the greatest common divisor in `a`.
        let (mut a, mut b) = (self.0, other.0);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        Bytes(self.0 / a.max(1)).checked_mul(other.0)
    }

    /// The size with a binary unit and three decimals, as people read it: `5.742 MiB`.
    pub fn human(self) -> String {
        const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        if self.0 < 1024 {
            return format!("{} B", self.0);
        }
        // Three decimals are shown, so a floating-point number is exact enough.
        let mut value = self.0 as f64 / 1024.0;
        let mut unit = 0;
        while value >= 1024.0 && unit + 1 < UNITS.len() {
            value /= 1024.0;
            unit += 1;
        }
        format!("{value:.3} {}", UNITS[unit])
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Why a text is not a size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a size: {expected}")]
pub struct ParseBytesError {
    text: String,
    expected: &'static str,
}

impl FromStr for Bytes {
    type Err = ParseBytesError;

    /// Reads `4096`, `256KiB`, `1.5 MiB`, `64k`, `2GB` (decimal) and the like.
    /// A bare letter is binary, as in most linker scripts: `64k` is 65536.
    fn from_str(text: &str) -> Result<Bytes, ParseBytesError> {
        parse(text.trim()).map_err(|expected| ParseBytesError { text: text.to_owned(), expected })
    }
}

/// The message for a size that is too large.
const TOO_LARGE: &str = "expected a number below 2^63";

/// Reads a number and its unit, if it has one, such as `1_000`, `256KiB` or `1.5 MiB`. The error says what was
/// expected.
fn parse(text: &str) -> Result<Bytes, &'static str> {
    // The number ends at the first character that cannot be part of one; the rest is the unit.
    let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number = number.replace('_', "");
    let scale = scale(unit).ok_or("the unit must be B, KiB, MiB, GiB, TiB, kB, MB, GB or TB")?;
    // Floating point would round: `0.1GiB` is computed in whole numbers.
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return Err("expected a number such as 4096 or 256KiB");
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| TOO_LARGE)? };
    let mut bytes = Bytes(whole).checked_mul(scale).ok_or(TOO_LARGE)?;
    if !fraction.is_empty() {
        let digits = u32::try_from(fraction.len()).ok().filter(|&n| n <= 9).ok_or("at most nine decimals")?;
        let value: u64 = fraction.parse().map_err(|_| "expected a decimal fraction")?;
        // `.5` with scale 1024 is 5 * 1024 / 10^1 bytes, rounded down.
        let part = u128::from(value) * u128::from(scale) / 10u128.pow(digits);
        bytes = bytes.checked_add(Bytes(part as u64)).ok_or(TOO_LARGE)?;
    }
    Ok(bytes)
}

/// The bytes that a unit stands for; `None` if it is no unit. Upper and lower case mean the same. A letter alone and
/// one with `iB` are powers of 1024, one with `B` is a power of 1000.
fn scale(unit: &str) -> Option<u64> {
    Some(match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => return None,
    })
}

/// A point in the linear order in which a program runs.
///
/// Lifetimes are half-open: a buffer with lifetime `[2, 5)` is alive at steps
/// 2, 3 and 4, and a buffer that starts at 5 may take its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Step(pub u64);

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Bytes that hold `bits` bits: the one place where sub-byte elements are rounded up.
pub fn storage_bytes(bits: u64) -> Bytes {
    Bytes(bits.div_ceil(8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_people_write_them() {
        for (text, bytes) in [
            ("0", 0),
            ("4096", 4096),
            ("256KiB", 262_144),
            ("256 kib", 262_144),
            ("64k", 65_536),
            ("1.5MiB", 1_572_864),
            ("2GB", 2_000_000_000),
            ("1_048_576", 1_048_576),
        ] {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
        for text in ["", "KiB", "12 parsecs", "-1", "9223372036854775808", "9007199254740992k", "1.1.1"] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
    }

    #[test]
    fn arithmetic_stops_at_the_limit() {
        assert_eq!(Bytes(MAX_BYTES).checked_add(Bytes(1)), None);
        assert_eq!(Bytes(u64::MAX).checked_add(Bytes(1)), None);
        assert_eq!(Bytes(1 << 62).checked_mul(2), None);
        assert_eq!(Bytes(MAX_BYTES).align_up(Bytes(4096)), None);
        assert_eq!(Bytes(100).align_up(Bytes(64)), Some(Bytes(128)));
        assert_eq!(Bytes(100).align_up(Bytes(0)), Some(Bytes(100)));
    }

    #[test]
    fn human_sizes() {
        assert_eq!(Bytes(1023).human(), "1023 B");
        assert_eq!(Bytes(6_021_120).human(), "5.742 MiB");
        assert_eq!(Bytes(MAX_BYTES).human(), "8.000 EiB");
    }
}
