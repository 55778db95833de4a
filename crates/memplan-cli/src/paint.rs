//! Colour for people, none for pipes; and text that cannot drive a terminal.

use std::io::IsTerminal;

/// What a piece of text is, which decides how it looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Style {
    /// As the terminal writes.
    #[default]
    Plain,
    /// In bold: what the user asked for.
    Strong,
    /// Pale: details.
    Faint,
    /// Green: as it should be.
    Good,
    /// Red and bold: not as it should be.
    Bad,
}

impl Style {
    /// What switches a terminal to this style; `\x1b[0m` switches back.
    fn code(self) -> &'static str {
        match self {
            Style::Plain => "",
            Style::Strong => "\x1b[1m",
            Style::Faint => "\x1b[2m",
            Style::Good => "\x1b[32m",
            Style::Bad => "\x1b[1;31m",
        }
    }
}

/// Whether standard output gets colour.
pub(crate) fn stdout_is_coloured() -> bool {
    wants_colour(std::io::stdout().is_terminal())
}

/// Whether standard error gets colour.
pub(crate) fn stderr_is_coloured() -> bool {
    wants_colour(std::io::stderr().is_terminal())
}

/// Whether a stream gets colour: it is a terminal that is not called dumb, and `NO_COLOR` is not set.
fn wants_colour(is_terminal: bool) -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    is_terminal && !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Text for standard output, coloured if it goes to a terminal.
pub(crate) fn painted(text: &str, style: Style) -> String {
    if style == Style::Plain || text.is_empty() || !stdout_is_coloured() {
        return text.to_owned();
    }
    format!("{}{text}\x1b[0m", style.code())
}

/// Adds a text to another text, in a style if `is_coloured` says so. A table asks once whether its stream is coloured,
/// and not for every cell, because the question is a system call.
pub(crate) fn push_painted(line: &mut String, text: &str, style: Style, is_coloured: bool) {
    if style == Style::Plain || text.is_empty() || !is_coloured {
        line.push_str(text);
    } else {
        line.extend([style.code(), text, "\x1b[0m"]);
    }
}

/// As [`visible`], for a text that is its own already. Nearly all texts stay as they are.
pub(crate) fn visible_owned(text: String) -> String {
    if text.contains(char::is_control) { visible(&text) } else { text }
}

/// A name from an input without control characters: a buffer called `\x1b[2J`
/// must not clear the screen.
pub(crate) fn visible(text: &str) -> String {
    if !text.contains(char::is_control) {
        return text.to_owned();
    }
    let show = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(show).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_not_sent() {
        assert_eq!(visible("a\x1b[2Jb"), "a\\u{1b}[2Jb");
        assert_eq!(visible("naïve"), "naïve");
    }
}
