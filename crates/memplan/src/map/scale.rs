//! Axes: where a value lies on the paper, and which values deserve a tick.

use memplan_core::Bytes;

use crate::wording::Unit;

/// A linear map from `low..high` to positions on the paper.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// The lowest value.
    low: u64,
    /// The highest value.
    high: u64,
    /// Where the lowest value lies.
    from: f64,
    /// Where the highest value lies.
    to: f64,
}

impl Scale {
    /// `low` lies at `from`, `high` at `to`. An empty range is widened by one.
    pub(super) fn new(low: u64, high: u64, from: f64, to: f64) -> Scale {
        Scale { low, high: high.max(low.saturating_add(1)), from, to }
    }

    /// The position of a value; values outside the range lie on its ends.
    pub(super) fn at(&self, value: u64) -> f64 {
        let value = value.clamp(self.low, self.high);
        let share = (value - self.low) as f64 / (self.high - self.low) as f64;
        self.from + share * (self.to - self.from)
    }

    /// The upper end of the range.
    pub(super) fn highest(&self) -> u64 {
        self.high
    }

    /// Multiples of `distance` inside the range.
    fn multiples(&self, distance: u64) -> Vec<u64> {
        let first = self.low.div_ceil(distance).checked_mul(distance);
        std::iter::successors(first, |tick| tick.checked_add(distance)).take_while(|&tick| tick <= self.high).collect()
    }

    /// At most about `wanted` ticks whose distance is 1, 2 or 5 times a power of ten, for an axis of steps.
    pub(super) fn decimal_ticks(&self, wanted: u64) -> Vec<u64> {
        // The distance that gives exactly the wanted number of ticks, rounded up below to a round number.
        let at_least = ((self.high - self.low) / wanted.max(1)).max(1);
        // 1, 2, 5, 10, 20, 50, …: each distance is the power of ten below the last one, times the next factor.
        let mut distance = 1u64;
        for factor in [2u64, 5, 10].into_iter().cycle() {
            if distance >= at_least {
                break;
            }
            let power = distance / leading(distance);
            distance = power.saturating_mul(factor);
        }
        self.multiples(distance)
    }

    /// At most about `wanted` ticks whose distance is a power of two, for an axis of bytes.
    pub(super) fn binary_ticks(&self, wanted: u64) -> Vec<u64> {
        let at_least = ((self.high - self.low) / wanted.max(1)).max(1);
        self.multiples(at_least.checked_next_power_of_two().unwrap_or(1 << 63))
    }
}

/// The first digit of a number of the form 1, 2 or 5 times a power of ten.
fn leading(mut number: u64) -> u64 {
    while number >= 10 {
        number /= 10;
    }
    number
}

/// The label of a tick: `768 KiB`, `1.5 MiB`, no more decimals than it needs; a bare number for elements.
pub(super) fn byte_label(bytes: u64, unit: Unit) -> String {
    if unit == Unit::Elements {
        return bytes.to_string();
    }
    // `human` writes `1.500 MiB`; the zeros at the end of a tick's label say nothing.
    let human = Bytes(bytes).human();
    match human.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => human,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_linear_and_clamped() {
        let scale = Scale::new(10, 20, 100.0, 0.0);
        assert_eq!(scale.at(10), 100.0);
        assert_eq!(scale.at(15), 50.0);
        assert_eq!(scale.at(99), 0.0);
        assert_eq!(Scale::new(5, 5, 0.0, 1.0).at(5), 0.0, "an empty range does not divide by zero");
        assert!(Scale::new(0, u64::MAX, 0.0, 1.0).at(u64::MAX) <= 1.0);
    }

    #[test]
    fn steps_get_round_decimal_ticks() {
        assert_eq!(Scale::new(0, 66, 0.0, 1.0).decimal_ticks(10), [0, 10, 20, 30, 40, 50, 60]);
        assert_eq!(Scale::new(3, 9, 0.0, 1.0).decimal_ticks(10), [3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(
            Scale::new(0, 2000, 0.0, 1.0).decimal_ticks(10),
            [0, 200, 400, 600, 800, 1000, 1200, 1400, 1600, 1800, 2000]
        );
        assert!(Scale::new(0, i64::MAX as u64, 0.0, 1.0).decimal_ticks(10).len() <= 11);
    }

    #[test]
    fn bytes_get_binary_ticks() {
        assert_eq!(
            Scale::new(0, 6 << 20, 0.0, 1.0).binary_ticks(6),
            [0, 1 << 20, 2 << 20, 3 << 20, 4 << 20, 5 << 20, 6 << 20]
        );
        assert_eq!(byte_label(3 << 19, Unit::Bytes), "1.5 MiB");
        assert_eq!(byte_label(512, Unit::Bytes), "512 B");
        assert_eq!(byte_label(100 << 10, Unit::Bytes), "100 KiB");
        assert!(Scale::new(0, u64::MAX, 0.0, 1.0).binary_ticks(1).len() <= 2);
    }
}
