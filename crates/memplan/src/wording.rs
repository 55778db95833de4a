//! How quantities are said to people, the same in tables, pictures and messages.

use std::time::Duration;

use memplan_core::{Bytes, Lifetime, Problem, Size};

/// What the sizes of a problem count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Bytes.
    #[default]
    Bytes,
    /// Elements of textures, whose sizes are given as components.
    Elements,
}

impl Unit {
    /// The unit of a problem: elements as soon as one size has components.
    pub fn of(problem: &Problem) -> Unit {
        let has_components = problem.buffers().iter().any(|buffer| matches!(buffer.size, Size::Shape(_)));
        if has_components { Unit::Elements } else { Unit::Bytes }
    }

    /// `5.742 MiB`, or `64 elements`.
    pub fn amount(self, amount: Bytes) -> String {
        match self {
            Unit::Bytes => amount.human(),
            Unit::Elements if amount.0 == 1 => "1 element".to_owned(),
            Unit::Elements => format!("{amount} elements"),
        }
    }

    /// The amount, followed by the exact number if the amount is rounded: `5.742 MiB (6021120 bytes)`.
    pub fn amount_in_full(self, amount: Bytes) -> String {
        match self {
            Unit::Bytes => sized(amount),
            Unit::Elements => self.amount(amount),
        }
    }
}

/// `5.742 MiB (6021120 bytes)`; below a KiB the bytes alone.
pub fn sized(bytes: Bytes) -> String {
    match bytes.0 {
        1 => "1 byte".to_owned(),
        0..1024 => format!("{bytes} bytes"),
        _ => format!("{} ({bytes} bytes)", bytes.human()),
    }
}

/// `1 buffer`, `2 buffers`.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// A short time with the unit that suits it: `0.31 ms`, `2.50 s`.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 1.0 { format!("{:.2} ms", seconds * 1e3) } else { format!("{seconds:.2} s") }
}

/// The stretches of a life: `0..4 6..9`, or `never`. A window of bytes follows
/// its stretch as in the CSV format: `6..9@0:512`.
pub fn life(lifetime: &Lifetime) -> String {
    if lifetime.is_empty() {
        return "never".to_owned();
    }
    let stretch = |interval: memplan_core::Interval| {
        let window = interval.window.map(|window| format!("@{}:{}", window.low, window.high));
        format!("{}..{}{}", interval.start, interval.end, window.unwrap_or_default())
    };
    lifetime.intervals().map(stretch).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use memplan_core::Interval;

    #[test]
    fn quantities_in_words() {
        assert_eq!(sized(Bytes(1)), "1 byte");
        assert_eq!(sized(Bytes(1023)), "1023 bytes");
        assert_eq!(sized(Bytes(6_021_120)), "5.742 MiB (6021120 bytes)");
        assert_eq!((count(1, "buffer"), count(0, "buffer")), ("1 buffer".into(), "0 buffers".into()));
        assert_eq!(duration(Duration::from_micros(310)), "0.31 ms");
        assert_eq!(duration(Duration::from_millis(2500)), "2.50 s");
    }

    #[test]
    fn lives_in_words() {
        let lifetime = [Interval::new(0, 4), Interval::with_window(6, 9, 0, 512)].into_iter().collect();
        assert_eq!(life(&lifetime), "0..4 6..9@0:512");
        assert_eq!(life(&Lifetime::default()), "never");
    }
}
