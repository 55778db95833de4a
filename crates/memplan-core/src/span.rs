//! Where in a source text something stands.

use std::ops::Range;

/// A half-open range of byte positions in one source text.
///
/// Readers put a span on every op, value and record; errors carry one and
/// the code that prints them (the command line) draws the excerpt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span; positions past 4 GiB are clamped (no reader takes such a text).
    #[inline]
    pub fn new(start: usize, end: usize) -> Span {
        let clamp = |position: usize| u32::try_from(position).unwrap_or(u32::MAX);
        Span { start: clamp(start), end: clamp(end) }
    }

    /// The span as a range to slice the source with.
    #[inline]
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The smallest span that covers both.
    #[inline]
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// One-based line and column of a byte position; the column counts characters.
pub fn line_column(source: &str, position: usize) -> (usize, usize) {
    // A position in the middle of a character, or behind the end, is moved back to where a character begins.
    let position = source.floor_char_boundary(position.min(source.len()));
    let before = &source[..position];
    // The line begins behind the last line break before the position.
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
    (line, before[line_start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_start_at_one() {
        let source = "ab\ncdé\nf";
        assert_eq!(line_column(source, 0), (1, 1));
        assert_eq!(line_column(source, 4), (2, 2));
        assert_eq!(line_column(source, 6), (2, 3), "inside é");
        assert_eq!(line_column(source, 99), (3, 2));
    }
}
