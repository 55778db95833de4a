//! Python tokens: names, numbers, strings, operators, and the line and indentation structure.
//!
//! Comments and blank lines produce no tokens; code that needs them finds them between the spans of two logical lines.
//! A *logical line* is a line of the text together with the lines that continue it: a line is continued if a bracket is
//! open at its end, or if it ends with a backslash.

use super::ScriptError;
use memplan_core::{Span, patience};

/// What a token is; its text is its span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tok {
    Name,
    Number,
    Str,
    Op,
    /// End of a logical line.
    Newline,
    /// The first line of a block that is indented further than the line before.
    Indent,
    /// The end of a block; one for each block that ends here.
    Dedent,
    /// The end of the text.
    End,
}

/// A token and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) tok: Tok,
    pub(super) span: Span,
}

/// Bytes of the operator at the start of a text, the longest there is; 0 if there is none.
fn operator_length(text: &[u8]) -> usize {
    match text {
        [b'*', b'*', b'=', ..] | [b'/', b'/', b'=', ..] | [b'>', b'>', b'=', ..] | [b'<', b'<', b'=', ..] => 3,
        [b'.', b'.', b'.', ..] => 3,
        [b'*', b'*', ..] | [b'/', b'/', ..] | [b'>', b'>', ..] | [b'<', b'<', ..] | [b'-', b'>', ..] => 2,
        [b'<' | b'>' | b'=' | b'!' | b'+' | b'-' | b'*' | b'/' | b'%' | b':', b'=', ..] => 2,
        [b'+' | b'-' | b'*' | b'/' | b'%' | b'<' | b'>' | b'=' | b'(' | b')' | b'[' | b']' | b',', ..] => 1,
        [b'{' | b'}' | b':' | b'.' | b'@' | b';' | b'&' | b'|' | b'^' | b'~', ..] => 1,
        _ => 0,
    }
}

/// Splits a text into tokens, ending with [`Tok::End`].
pub(super) fn lex(source: &str) -> Result<Vec<Token>, ScriptError> {
    Lexer { source, at: 0, open_brackets: 0, indents: vec![0], tokens: Vec::new() }.run()
}

/// The tokens so far, and the place in the text where reading goes on.
struct Lexer<'a> {
    source: &'a str,
    /// The byte that is read next.
    at: usize,
    /// How many brackets are open. While there are any, the ends of lines mean nothing.
    open_brackets: usize,
    /// The indentation of every open block in characters, the outermost first.
    indents: Vec<usize>,
    tokens: Vec<Token>,
}

impl Lexer<'_> {
    /// Reads all tokens of the text. At the start of each logical line the indentation is measured; then the first
    /// character decides what kind of token follows.
    fn run(mut self) -> Result<Vec<Token>, ScriptError> {
        let mut at_line_start = true;
        while self.at < self.source.len() {
            if patience::is_over() {
                return Err(ScriptError::stopped());
            }
            if at_line_start {
                at_line_start = false;
                if !self.line_start()? {
                    // The line was skipped as a whole; the next one starts here.
                    at_line_start = true;
                    continue;
                }
            }
            let rest = &self.source[self.at..];
            let Some(first) = rest.chars().next() else {
                break;
            };
            match first {
                '\n' => {
                    self.at += 1;
                    // Inside of brackets a line break means nothing, so neither a newline nor indentation is reported.
                    if self.open_brackets == 0 {
                        self.push(Tok::Newline, self.at - 1, self.at);
                        at_line_start = true;
                    }
                }
                ' ' | '\t' | '\r' | '\u{c}' => self.at += 1,
                // A backslash at the end of a line joins the next line to it.
                '\\' if rest[1..].trim_start_matches('\r').starts_with('\n') => {
                    self.at += rest.find('\n').unwrap_or(0) + 1;
                }
                '#' => self.at += rest.find('\n').unwrap_or(rest.len()),
                '"' | '\'' => self.string(0)?,
                c if c.is_ascii_digit() || (c == '.' && digit_at(rest, 1)) => self.number(),
                c if c == '_' || c.is_alphabetic() => self.name()?,
                _ => self.operator()?,
            }
        }
        let end = self.source.len();
        // A file may end without a line break. The parser relies on every statement ending in one, and on every
        // indentation being closed.
        if !matches!(self.tokens.last(), None | Some(Token { tok: Tok::Newline, .. })) {
            self.push(Tok::Newline, end, end);
        }
        for _ in 1..self.indents.len() {
            self.push(Tok::Dedent, end, end);
        }
        self.push(Tok::End, end, end);
        Ok(self.tokens)
    }

    fn push(&mut self, tok: Tok, start: usize, end: usize) {
        self.tokens.push(Token { tok, span: Span::new(start, end) });
    }

    /// Measures the indentation of a line and reports the blocks that begin or end there. `false` if the line holds no
    /// code and was skipped.
    fn line_start(&mut self) -> Result<bool, ScriptError> {
        let rest = &self.source[self.at..];
        let width = rest.len() - rest.trim_start_matches([' ', '\t', '\u{c}']).len();
        let code = rest[width..].trim_start_matches('\r');
        // Blank lines and comments say nothing about indentation, however far they are indented.
        if code.is_empty() || code.starts_with('\n') || code.starts_with('#') {
            self.at += rest.find('\n').map_or(rest.len(), |newline| newline + 1);
            return Ok(false);
        }
        let start = self.at + width;
        let current = self.indents.last().copied().unwrap_or(0);
        // A deeper line opens one block; a shallower line closes all blocks that are deeper than it.
        if width > current {
            self.indents.push(width);
            self.push(Tok::Indent, start, start);
        } else {
            while self.indents.last().is_some_and(|&indent| indent > width) {
                self.indents.pop();
                self.push(Tok::Dedent, start, start);
            }
            // The line goes back to a column where no outer block began.
            if self.indents.last() != Some(&width) {
                return Err(ScriptError::Indentation { span: Span::new(self.at, start) });
            }
        }
        self.at = start;
        Ok(true)
    }

    /// Reads a string whose prefix (`r"…"`) has `prefix` characters. The character after a backslash never ends the
    /// string; what the two mean is decided later. Only a string with triple quotes may go over several lines.
    fn string(&mut self, prefix: usize) -> Result<(), ScriptError> {
        let start = self.at;
        // Three quotes in a row begin a string that ends at the next three. `position` counts from the opening quotes.
        let rest = &self.source[start + prefix..];
        let quote = &rest[..1];
        let triple = quote.repeat(3);
        let quote = if rest.starts_with(&triple) { triple.as_str() } else { quote };
        let mut position = quote.len();
        loop {
            let tail = rest.get(position..).unwrap_or("");
            if tail.starts_with(quote) {
                position += quote.len();
                break;
            }
            match tail.chars().next() {
                Some('\\') => position += 1 + tail[1..].chars().next().map_or(0, char::len_utf8),
                Some('\n') if quote.len() == 1 => return Err(self.open_string(start)),
                Some(c) => position += c.len_utf8(),
                None => return Err(self.open_string(start)),
            }
        }
        self.at = start + prefix + position;
        self.push(Tok::Str, start, self.at);
        Ok(())
    }

    /// The error for a string that begins at `start` and has no end. It points at the opening quote.
    fn open_string(&self, start: usize) -> ScriptError {
        ScriptError::syntax(Span::new(start, start + 1), "this string is not closed")
    }

    /// Reads a number, up to the first character that cannot be part of one. Whether it is well formed is asked when
    /// its value is needed.
    fn number(&mut self) {
        let start = self.at;
        let bytes = self.source.as_bytes();
        let mut end = start;
        while let Some(&byte) = bytes.get(end) {
            // A sign is part of a number only directly after the `e` of an exponent (`1e-5`); in `0xe-5` the `e` is a
            // digit. A number never starts with a sign, so `end - 1` is inside of the number.
            let exponent_sign = matches!(byte, b'+' | b'-')
                && matches!(bytes[end - 1], b'e' | b'E')
                && !["0x", "0X"].iter().any(|prefix| self.source[start..end].starts_with(prefix));
            if !(byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'_' || exponent_sign) {
                break;
            }
            end += 1;
        }
        self.at = end;
        self.push(Tok::Number, start, end);
    }

    /// Reads a name, or a string if the name is its prefix: `r"…"`.
    fn name(&mut self) -> Result<(), ScriptError> {
        let start = self.at;
        let rest = &self.source[start..];
        // Nearly all names are ASCII, where characters are bytes. Only if a byte that is not ASCII follows are
        // characters decoded.
        let ascii = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let length = match rest.as_bytes().get(ascii) {
            Some(byte) if !byte.is_ascii() => {
                rest.find(|c: char| !(c == '_' || c.is_alphanumeric())).unwrap_or(rest.len())
            }
            _ => ascii,
        };
        if matches!(&rest[..length], "r" | "b" | "f" | "u" | "R" | "B" | "F" | "U")
            && rest[length..].starts_with(['"', '\''])
        {
            return self.string(length);
        }
        self.at += length;
        self.push(Tok::Name, start, self.at);
        Ok(())
    }

    /// Reads an operator. Inside of brackets the end of a line means nothing, so open ones are counted.
    fn operator(&mut self) -> Result<(), ScriptError> {
        let rest = &self.source[self.at..];
        let length = operator_length(rest.as_bytes());
        if length == 0 {
            let length = rest.chars().next().map_or(1, char::len_utf8);
            let span = Span::new(self.at, self.at + length);
            return Err(ScriptError::syntax(span, "unexpected character"));
        }
        match rest.as_bytes().first() {
            Some(b'(' | b'[' | b'{') => self.open_brackets += 1,
            Some(b')' | b']' | b'}') => self.open_brackets = self.open_brackets.saturating_sub(1),
            _ => {}
        }
        self.push(Tok::Op, self.at, self.at + length);
        self.at += length;
        Ok(())
    }
}

/// Whether the byte at `index` is a digit; `false` behind the end of the text.
fn digit_at(text: &str, index: usize) -> bool {
    text.as_bytes().get(index).is_some_and(u8::is_ascii_digit)
}
