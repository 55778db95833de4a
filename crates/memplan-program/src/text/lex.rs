//! Tokens of the text form: words, names with a sigil (a sign that says what is named), punctuation and ends of lines.

use memplan_core::Span;

/// A token with its place; newlines count, comments and blanks do not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token<'s> {
    /// What it is.
    pub(super) kind: Kind<'s>,
    /// Where it stands in the text, in bytes.
    pub(super) span: Span,
}

/// What a token is. Names may be quoted; the quotes are gone here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind<'s> {
    /// A word: an op name, a keyword or a number.
    Word(std::borrow::Cow<'s, str>),
    /// A quoted word, never a keyword.
    Quoted(String),
    /// A word with a sigil: `%value`, `@function`, `^block`, `!token`, `&label`.
    Sigil(char, String),
    /// Punctuation: `{ } ( ) [ ] , = | : ;` and `..` (as `.`).
    Mark(char),
    /// End of a line or `;`.
    Newline,
    /// A character that belongs to nothing.
    Stray(char),
    /// A quote that is not closed.
    OpenQuote,
    /// The end of the text.
    End,
}

/// Splits a text into tokens, ending with [`Kind::End`].
pub(super) fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut lexer = Lexer { source, at: 0 };
    let mut tokens = Vec::new();
    loop {
        let token = lexer.token();
        // The end is a token, too, so that the parser always has a next token to look at.
        let end = token.kind == Kind::End;
        tokens.push(token);
        if end {
            return tokens;
        }
    }
}

/// A text and how far it has been read.
struct Lexer<'s> {
    /// The whole text.
    source: &'s str,
    /// The byte from which on nothing has been read yet.
    at: usize,
}

impl<'s> Lexer<'s> {
    /// What has not been read yet.
    fn rest(&self) -> &'s str {
        &self.source[self.at..]
    }

    /// The next token and where it stands.
    fn token(&mut self) -> Token<'s> {
        self.skip_blanks();
        let start = self.at;
        let kind = self.kind();
        Token { kind, span: Span::new(start, self.at) }
    }

    /// Skips blanks and comments, but not the ends of lines: they are tokens, because an op ends with its line.
    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r']).len();
            self.at += blank;
            if self.rest().starts_with("//") {
                // A comment goes to the end of its line; the line break itself stays.
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
            } else if blank == 0 {
                return;
            }
        }
    }

    /// Reads the token that starts here, and goes past it.
    fn kind(&mut self) -> Kind<'s> {
        let Some(first) = self.rest().chars().next() else {
            return Kind::End;
        };
        match first {
            '\n' | ';' => self.mark(first, Kind::Newline),
            '{' | '}' | '(' | ')' | '[' | ']' | ',' | '=' | '|' | ':' | '?' => self.mark(first, Kind::Mark(first)),
            '.' if self.rest().starts_with("..") => {
                self.at += 2;
                Kind::Mark('.')
            }
            '"' => self.quoted().map_or(Kind::OpenQuote, Kind::Quoted),
            '%' | '@' | '^' | '!' | '&' => {
                self.at += 1;
                // A name with other characters is quoted behind its sigil: `%"odd name"`.
                if self.rest().starts_with('"') {
                    let name = self.quoted();
                    return name.map_or(Kind::OpenQuote, |name| Kind::Sigil(first, name));
                }
                Kind::Sigil(first, self.word().to_owned())
            }
            c if in_word(c) => Kind::Word(self.word().into()),
            c => self.mark(c, Kind::Stray(c)),
        }
    }

    /// Goes past the character `c`, which is the whole token.
    fn mark(&mut self, c: char, kind: Kind<'s>) -> Kind<'s> {
        self.at += c.len_utf8();
        kind
    }

    /// Takes word characters; `..` ends a word, so that `0..16` is a range.
    fn word(&mut self) -> &'s str {
        let rest = self.rest();
        let end = rest.find(|c| !in_word(c)).unwrap_or(rest.len());
        let word = &rest[..end];
        // A single dot may be part of a word, as in `linalg.fill`.
        let word = &word[..word.find("..").unwrap_or(word.len())];
        self.at += word.len();
        word
    }

    /// Takes a quoted word with the escapes `\"`, `\\` and `\n`, and gives it without quotes. `None` if the quote is
    /// never closed; then the rest of the text is taken.
    fn quoted(&mut self) -> Option<String> {
        let mut text = String::new();
        // Without the opening quote. Positions are counted from it.
        let mut characters = self.rest().char_indices().skip(1);
        while let Some((at, c)) = characters.next() {
            match c {
                '"' => {
                    self.at += at + 1;
                    return Some(text);
                }
                '\\' => match characters.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, c)) => text.push(c),
                    // The text ends behind the backslash, so the quote is never closed.
                    None => break,
                },
                c => text.push(c),
            }
        }
        self.at = self.source.len();
        None
    }
}

/// Characters that need no quotes in a name.
pub(super) fn in_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | '#' | '-' | '*' | '/' | '+')
}
