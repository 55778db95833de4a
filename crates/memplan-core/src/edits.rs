//! Changes to a text, collected first and made in one pass.

use crate::Span;

/// Changes to one text. What no change touches stays byte for byte.
///
/// ```
/// use memplan_core::{Edits, Span};
/// let mut edits = Edits::default();
/// edits.replace(Span::new(4, 7), "new");
/// edits.insert(0, "> ");
/// assert_eq!(edits.apply("the old text").unwrap(), "> the new text");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    /// What each change puts in place of which span: the end of its text in `texts`. The text begins where that of the
    /// change before ends.
    changes: Vec<(Span, usize)>,
    /// The texts of all changes, one behind the other. There may be a million changes, and a string of its own for each
    /// would take more memory than the letters in it.
    texts: String,
}

/// Why changes cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// Two changes want the same bytes.
    #[error("two changes overlap at byte {}", second.start)]
    Overlap {
        /// The one that starts earlier.
        first: Span,
        /// The one that starts inside it.
        second: Span,
    },
    /// A change reaches outside the text, or into the middle of a character.
    #[error("a change at byte {} does not fit the text", span.start)]
    OutOfBounds {
        /// The change.
        span: Span,
    },
}

impl Edits {
    /// Puts new text in place of a span.
    pub fn replace(&mut self, span: Span, text: impl AsRef<str>) {
        self.texts.push_str(text.as_ref());
        self.changes.push((span, self.texts.len()));
    }

    /// Puts new text in front of a position. Several insertions at one position
    /// appear in the order they were asked for.
    pub fn insert(&mut self, position: usize, text: impl AsRef<str>) {
        self.replace(Span::new(position, position), text);
    }

    /// Removes a span.
    pub fn delete(&mut self, span: Span) {
        self.replace(span, "");
    }

    /// Removes a span. If nothing but blanks would be left on its lines, the lines are removed, too. (A last line
    /// without a line break at its end is not.)
    pub fn delete_lines(&mut self, source: &str, span: Span) {
        // `indent` counts the blanks between the start of the line and the span, `trailing` those between the span
        // and the end of the line.
        let before = source.get(..span.start as usize).unwrap_or("");
        let after = source.get(span.end as usize..).unwrap_or("");
        let indent = before.len() - before.trim_end_matches([' ', '\t']).len();
        let starts_line = before.len() == indent || before.as_bytes().get(before.len() - indent - 1) == Some(&b'\n');
        let trailing = after.len() - after.trim_start_matches([' ', '\t', '\r']).len();
        let ends_line = after.get(trailing..).is_some_and(|rest| rest.starts_with('\n'));
        if starts_line && ends_line {
            let start = span.start as usize - indent;
            self.delete(Span::new(start, span.end as usize + trailing + 1));
        } else {
            self.delete(span);
        }
    }

    /// Whether there is nothing to change.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The changes, in the order they were asked for.
    pub fn iter(&self) -> impl Iterator<Item = (Span, &str)> {
        (0..self.changes.len()).map(|at| self.change(at))
    }

    /// The change at a position: its span and its text.
    fn change(&self, at: usize) -> (Span, &str) {
        let (span, end) = self.changes[at];
        let start = at.checked_sub(1).map_or(0, |before| self.changes[before].1);
        (span, &self.texts[start..end])
    }

    /// The text with all changes made, or the first pair that cannot both be made.
    pub fn apply(&self, source: &str) -> Result<String, ApplyError> {
        // Where a change begins and ends, and its place in the list. Insertions at one place stay in order because of
        // the place, and in front of a replacement that starts there because of the end.
        let places = self.changes.iter().enumerate();
        let mut order: Vec<(u32, u32, usize)> = places.map(|(at, (span, _))| (span.start, span.end, at)).collect();
        order.sort_unstable();
        // Enough room for the result; what the changes remove is not taken off.
        let mut out = String::with_capacity(source.len() + self.texts.len());
        // The change made last: everything before its end is in `out`.
        let mut last = Span::default();
        for (_, _, at) in order {
            let (span, text) = self.change(at);
            if span.start < last.end {
                return Err(ApplyError::Overlap { first: last, second: span });
            }
            // `get` returns `None` outside of the text and in the middle of a character.
            let kept = source.get(last.end as usize..span.start as usize);
            let gone = source.get(span.range());
            let (Some(kept), Some(_)) = (kept, gone) else {
                return Err(ApplyError::OutOfBounds { span });
            };
            out.push_str(kept);
            out.push_str(text);
            last = span;
        }
        out.push_str(source.get(last.end as usize..).unwrap_or(""));
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_meet_but_do_not_overlap() {
        let mut edits = Edits::default();
        edits.replace(Span::new(2, 4), "X");
        edits.insert(4, "a");
        edits.insert(4, "b");
        edits.insert(2, "<");
        assert_eq!(edits.apply("012345").unwrap(), "01<Xab45");
        edits.replace(Span::new(3, 5), "Y");
        assert_eq!(edits.apply("012345"), Err(ApplyError::Overlap { first: Span::new(2, 4), second: Span::new(3, 5) }));
    }

    #[test]
    fn changes_outside_the_text_are_refused() {
        let mut edits = Edits::default();
        edits.delete(Span::new(1, 9));
        assert!(matches!(edits.apply("abc"), Err(ApplyError::OutOfBounds { .. })));
        let mut edits = Edits::default();
        edits.insert(1, "x");
        assert!(matches!(edits.apply("é"), Err(ApplyError::OutOfBounds { .. })));
    }

    #[test]
    fn whole_lines_go_with_their_indentation() {
        let source = "a\n  b c\nd\n";
        let mut edits = Edits::default();
        edits.delete_lines(source, Span::new(4, 7));
        assert_eq!(edits.apply(source).unwrap(), "a\nd\n");
        let mut edits = Edits::default();
        edits.delete_lines(source, Span::new(4, 5));
        assert_eq!(edits.apply(source).unwrap(), "a\n   c\nd\n");
    }
}
