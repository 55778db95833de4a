//! Messages for people: what is wrong, where, the excerpt, and what to do.

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use memplan::models::ReadError;
use memplan::source::Source;

use crate::paint::{stderr_is_coloured, visible};

/// At most this many bytes of a line are shown on each side of the error: a
/// JSON file may be one line of a hundred megabytes.
const AROUND: usize = 400;

/// What turns messages into text, with colours if standard error shows them.
fn renderer() -> Renderer {
    if stderr_is_coloured() { Renderer::styled() } else { Renderer::plain() }
}

/// An error without a place.
pub(crate) fn error(message: &str, help: Option<&str>) -> String {
    let message = visible(message);
    let mut group = Group::with_title(Level::ERROR.primary_title(message));
    if let Some(help) = help {
        group = group.element(Level::HELP.message(help));
    }
    renderer().render(&[group])
}

/// Something that should not be so.
pub(crate) fn warning(message: &str) -> String {
    renderer().render(&[Group::with_title(Level::WARNING.primary_title(visible(message)))])
}

/// Something worth knowing.
pub(crate) fn note(message: &str) -> String {
    renderer().render(&[Group::with_title(Level::NOTE.primary_title(visible(message)))])
}

/// An error in a file, with the line it is on.
pub(crate) fn excerpt(source: &Source, error: &ReadError) -> String {
    // Readers of binary files know no lines and say 0; lines count from 1.
    if error.line == 0 {
        return in_binary(source, error);
    }
    let excerpt = Excerpt::around(&source.bytes, error);
    let marked = AnnotationKind::Primary.span(excerpt.start..excerpt.end);
    let snippet = Snippet::source(excerpt.text.as_str()).line_start(error.line).annotation(marked);
    let group = Level::ERROR.primary_title(visible(&error.message)).id(error.code);
    let mut group = if excerpt.is_cut {
        // The column in the excerpt is not the column in the file, so the true place is given separately.
        let origin = Origin::path(source.name.as_str()).line(error.line).char_column(error.column);
        group.element(origin).element(snippet)
    } else {
        group.element(snippet.path(source.name.as_str()))
    };
    if let Some(help) = &error.help {
        group = group.element(Level::HELP.message(visible(help)));
    }
    renderer().render(&[group])
}

/// An error in a file that is not text: its place is a byte.
fn in_binary(source: &Source, error: &ReadError) -> String {
    let place = format!("at byte {}", error.span.start);
    let mut group = Level::ERROR
        .primary_title(visible(&error.message))
        .id(error.code)
        .element(Origin::path(source.name.as_str()))
        .element(Level::NOTE.message(place));
    if let Some(help) = &error.help {
        group = group.element(Level::HELP.message(visible(help)));
    }
    renderer().render(&[group])
}

/// A part of one line; `start..end` are the bytes of it that the error is about.
#[derive(Debug, PartialEq)]
struct Excerpt {
    /// The text of the part, with an ellipsis where the line goes on.
    text: String,
    /// Where the marked part begins in it.
    start: usize,
    /// Where the marked part ends in it.
    end: usize,
    /// Whether something was cut off before the text.
    is_cut: bool,
}

impl Excerpt {
    /// Cuts the marked part out of the file, with up to [`AROUND`] bytes on each side of it on its line. A mark that
    /// goes over several lines ends with the first.
    fn around(bytes: &[u8], error: &ReadError) -> Excerpt {
        let at = error.span.range().start.min(bytes.len());
        // The line in which the error begins, without its line break.
        let line_start = bytes[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        let line_end = bytes[at..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |length| at + length);
        let end = error.span.range().end.clamp(at, line_end).min(at + AROUND);
        let from = line_start.max(at.saturating_sub(AROUND));
        let to = line_end.min(end + AROUND);
        // Three parts: before the mark, the mark, and after the mark. They are turned into text one by one, so that the
        // mark's place in the text is known even if some bytes are no text.
        let mut text = part(&bytes[from..at], from > line_start, false);
        let start = text.len();
        text.push_str(&part(&bytes[at..end], false, false));
        let marked_end = text.len();
        text.push_str(&part(&bytes[end..to], false, to < line_end));
        Excerpt { text, start, end: marked_end, is_cut: from > line_start }
    }
}

/// Bytes as text, with an ellipsis where something was cut off. A character of several bytes that was cut in two
/// shows up as U+FFFD at that end and is left out.
fn part(bytes: &[u8], cut_before: bool, cut_after: bool) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut text = text.trim_end_matches('\r');
    if cut_before {
        text = text.trim_start_matches('\u{fffd}');
    }
    if cut_after {
        text = text.trim_end_matches('\u{fffd}');
    }
    let (before, after) = (if cut_before { "…" } else { "" }, if cut_after { "…" } else { "" });
    format!("{before}{text}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use memplan::core::Span;

    fn around(text: &[u8], start: usize, end: usize) -> Excerpt {
        let span = Span::new(start, end);
        let error = ReadError { code: "x", message: String::new(), span, line: 1, column: 1, help: None };
        Excerpt::around(text, &error)
    }

    #[test]
    fn only_the_line_in_question_is_shown() {
        let excerpt = around(b"one\ntwo three\nfour", 8, 13);
        assert_eq!(excerpt, Excerpt { text: "two three".into(), start: 4, end: 9, is_cut: false });
    }

    #[test]
    fn endless_lines_are_cut() {
        let line = "é".repeat(1_000_000);
        let excerpt = around(line.as_bytes(), 1_000_000, 1_000_002);
        assert!(excerpt.is_cut && excerpt.text.len() < 1000, "{}", excerpt.text.len());
        assert_eq!(&excerpt.text[excerpt.start..excerpt.end], "é");
        assert!(excerpt.text.starts_with('…') && excerpt.text.ends_with('…'));
    }

    #[test]
    fn places_outside_the_text_and_odd_bytes_do_no_harm() {
        assert_eq!(around(b"", 7, 9).text, "");
        assert_eq!(around(b"ab", 2, 5), Excerpt { text: "ab".into(), start: 2, end: 2, is_cut: false });
        assert_eq!(around(b"a\xffb", 1, 2).start, 1);
    }
}
