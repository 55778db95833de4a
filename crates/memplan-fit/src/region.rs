//! Parts of images: a span of rows and a span of columns.

use crate::layer::Reach;

/// Positions `start..end` along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The first position.
    pub start: u64,
    /// One past the last position.
    pub end: u64,
}

/// A part of an image: a span of rows and a span of columns.
pub type Region = [Span; 2];

impl Span {
    /// All of an axis.
    pub fn all(length: u64) -> Span {
        Span { start: 0, end: length }
    }

    /// How many positions there are.
    pub fn length(self) -> u64 {
        self.end - self.start
    }

    /// The smallest span with both in it.
    pub fn hull(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The `index`-th of `count` parts that differ in length by one at most.
    pub fn part(length: u64, index: u64, count: u64) -> Span {
        Span { start: index * length / count, end: (index + 1) * length / count }
    }
}

/// The smallest region with both in it.
pub fn hull(one: Region, other: Region) -> Region {
    [one[0].hull(other[0]), one[1].hull(other[1])]
}

/// What an op reads along one axis to compute a span of its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// What it computes: the span that was asked for, or somewhat more.
    pub computed: Span,
    /// What it reads of the image.
    pub image: Span,
    /// Positions in front of the image that it looks at.
    pub before: u64,
    /// Positions after the end of the image that it looks at.
    pub after: u64,
}

impl Reach {
    /// What must be read of an image of `length` positions to compute the output positions `wanted`; `None` if that is
    /// nothing, or if windows lie outside of the image altogether. With windows of 3, stride 2 and one position of
    /// border in front, outputs 0..2 read image positions 0..4 and one in front of them.
    pub fn read(self, wanted: Span, length: u64) -> Option<Read> {
        if wanted.start >= wanted.end {
            return None;
        }
        match self {
            Reach::Window { size, stride, before } => {
                // Positions are counted from the start of the border, so that none is negative.
                let first = wanted.start.checked_mul(stride)?;
                let end = (wanted.end - 1).checked_mul(stride)?.checked_add(size)?;
                // Back to positions of the image, cut at its two ends. What is cut off is border.
                let image = Span { start: first.saturating_sub(before), end: end.saturating_sub(before).min(length) };
                let read = Read {
                    computed: wanted,
                    image,
                    before: before.saturating_sub(first),
                    after: end.saturating_sub(before.checked_add(length)?),
                };
                (image.start < image.end).then_some(read)
            }
            // All outputs of an input position are computed, so that it may be somewhat more than was asked for.
            Reach::Scale { factor } => {
                let image = Span { start: wanted.start / factor, end: wanted.end.div_ceil(factor).min(length) };
                let computed = Span { start: image.start * factor, end: image.end.checked_mul(factor)? };
                Some(Read { computed, image, before: 0, after: 0 })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u64, end: u64) -> Span {
        Span { start, end }
    }

    #[test]
    fn windows_reach_over_the_edges() {
        let reach = Reach::Window { size: 3, stride: 2, before: 1 };
        let top = reach.read(span(0, 2), 8).unwrap();
        assert_eq!((top.image, top.before, top.after), (span(0, 4), 1, 0));
        let inside = reach.read(span(1, 3), 8).unwrap();
        assert_eq!((inside.image, inside.before, inside.after), (span(1, 6), 0, 0));
        let whole = Reach::Window { size: 3, stride: 1, before: 1 }.read(span(0, 8), 8).unwrap();
        assert_eq!((whole.image, whole.before, whole.after), (span(0, 8), 1, 1));
        assert_eq!(Reach::Window { size: 1, stride: 1, before: 4 }.read(span(0, 2), 8), None, "only border");
    }

    #[test]
    fn scales_compute_whole_steps() {
        let read = Reach::Scale { factor: 2 }.read(span(3, 5), 8).unwrap();
        assert_eq!((read.image, read.computed), (span(1, 3), span(2, 6)));
    }

    #[test]
    fn parts_cover_everything_once() {
        for (length, count) in [(10, 3), (7, 7), (96, 5), (2, 1)] {
            let parts: Vec<Span> = (0..count).map(|index| Span::part(length, index, count)).collect();
            assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].start && pair[0].length() > 0));
            assert_eq!((parts[0].start, parts[parts.len() - 1].end), (0, length));
        }
    }
}
