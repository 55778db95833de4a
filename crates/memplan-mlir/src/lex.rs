//! Tokens of MLIR text, made one at a time.
//!
//! The lexer keeps no token list: a 100 MB file costs no memory beyond its
//! text. Looking ahead is copying the [`Lexer`] (a position) and reading on.
//!
//! Two things are more than characters. A token knows whether it is the first
//! on its line, because the custom form of an unknown op ends where a new line
//! starts with something that begins an op. And [`Lexer::skip_group`] jumps
//! over a bracketed group (a type's parameters, an attribute) byte by byte,
//! without making tokens; it is what most of a file's length goes through.

use std::borrow::Cow;

use memplan_core::Span;
use smallvec::SmallVec;

/// What a token is. Punctuation that the reader never asks for by name is [`TokenKind::Other`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// End of the text.
    Eof,
    /// `memref.load`, `func`, `x4xf32`: letters, digits, `_`, `$`, `.`.
    BareId,
    /// `%name`, without a `#n` suffix.
    Percent,
    /// `@name` or `@"any name"`.
    At,
    /// `#name`, `#dialect.attr`.
    Hash,
    /// `!name`, `!dialect.type`.
    Bang,
    /// `^name`.
    Caret,
    /// `"…"`.
    String,
    /// An integer, hexadecimal integer or float, without a sign.
    Number,
    LParen,
    RParen,
    LBrace,
    RBrace,
    LBracket,
    RBracket,
    Less,
    Greater,
    Comma,
    Colon,
    Equal,
    /// `->`.
    Arrow,
    /// `=>`.
    FatArrow,
    /// `{-#`, the start of a resource block.
    Resources,
    /// Any other character or operator.
    Other,
    /// A string without its closing quote.
    Unterminated,
}

/// A token and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    /// Whether a line break lies between the previous token and this one.
    pub(crate) first_on_line: bool,
    /// Where it stands. A token is made and copied for every few bytes of a text, and so small it fits two registers.
    span: Span,
}

impl Token {
    /// A token of the text from `start` to `end`.
    #[inline]
    pub(crate) fn new(kind: TokenKind, start: usize, end: usize, first_on_line: bool) -> Token {
        Token { kind, first_on_line, span: Span::new(start, end) }
    }

    #[inline]
    pub(crate) fn span(self) -> Span {
        self.span
    }

    #[inline]
    pub(crate) fn start(self) -> usize {
        self.span.start as usize
    }

    #[inline]
    pub(crate) fn end(self) -> usize {
        self.span.end as usize
    }
}

/// A bracket that does not match, found by [`Lexer::skip_group`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unbalanced {
    /// The innermost bracket still open.
    pub(crate) open: usize,
    /// The closing bracket that does not fit, or the end of the text.
    pub(crate) at: usize,
}

/// Where the brackets that are still open stand.
type Brackets = SmallVec<[usize; 16]>;

/// A position in the text.
#[derive(Clone, Copy)]
pub(crate) struct Lexer<'s> {
    /// The whole text.
    bytes: &'s [u8],
    pub(crate) position: usize,
}

impl<'s> Lexer<'s> {
    /// A lexer at the start of the text.
    pub(crate) fn new(source: &'s str) -> Self {
        Self::at(source, 0)
    }

    /// A lexer that starts in the middle of the text.
    pub(crate) fn at(source: &'s str, position: usize) -> Self {
        Lexer { bytes: source.as_bytes(), position }
    }

    /// The byte at a position; 0 behind the end of the text.
    fn byte(&self, position: usize) -> u8 {
        self.bytes.get(position).copied().unwrap_or(0)
    }

    /// Reads the next token and leaves the position behind it.
    pub(crate) fn next(&mut self) -> Token {
        let first_on_line = self.skip_trivia();
        let start = self.position;
        let kind = match self.bytes.get(start) {
            Some(&first) => self.scan(start, first),
            None => TokenKind::Eof,
        };
        Token::new(kind, start, self.position, first_on_line)
    }

    /// The kind of the next token, without moving.
    pub(crate) fn peek(&self) -> TokenKind {
        let mut ahead = *self;
        ahead.next().kind
    }

    /// Skips blanks and comments, and says whether the next token is the first on its line. The start of the text
    /// counts as the start of a line.
    fn skip_trivia(&mut self) -> bool {
        let mut at = self.position;
        let mut broken = at == 0;
        loop {
            match self.byte(at) {
                // Most tokens begin with none of the characters below.
                byte if byte > b' ' && byte != b'/' => break,
                b' ' | b'\t' | b'\r' => at += 1,
                b'\n' => {
                    broken = true;
                    at += 1;
                }
                b'/' if self.byte(at + 1) == b'/' => {
                    self.position = at;
                    self.skip_comment();
                    at = self.position;
                }
                _ => break,
            }
        }
        self.position = at;
        broken
    }

    /// Skips a `//` comment up to the end of its line.
    fn skip_comment(&mut self) {
        let rest = self.bytes.get(self.position..).unwrap_or(&[]);
        let length = rest.iter().position(|&b| b == b'\n');
        self.position += length.unwrap_or(rest.len());
    }

    /// The kind of the token at `start`, whose first byte is `first`; leaves the position behind it.
    fn scan(&mut self, start: usize, first: u8) -> TokenKind {
        self.position = start + 1;
        let second = self.byte(start + 1);
        // The first byte decides the kind, except for tokens such as `->` and `{-#`. These come before the single
        // characters they begin with.
        match first {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.run(is_bare, TokenKind::BareId),
            b'%' => self.suffix(TokenKind::Percent),
            b'^' => self.suffix(TokenKind::Caret),
            b'#' => self.suffix(TokenKind::Hash),
            b'!' => self.suffix(TokenKind::Bang),
            b'@' if second == b'"' => {
                self.position += 1;
                self.string(TokenKind::At)
            }
            b'@' => self.run(is_suffix, TokenKind::At),
            b'"' => self.string(TokenKind::String),
            b'0'..=b'9' => self.number(),
            b'-' if second == b'>' => self.pair(TokenKind::Arrow),
            b'=' if second == b'>' => self.pair(TokenKind::FatArrow),
            b'{' if second == b'-' && self.byte(start + 2) == b'#' => {
                self.position = start + 3;
                TokenKind::Resources
            }
            b'<' | b'>' | b'=' if second == b'=' => self.pair(TokenKind::Other),
            b'(' => TokenKind::LParen,
            b')' => TokenKind::RParen,
            b'{' => TokenKind::LBrace,
            b'}' => TokenKind::RBrace,
            b'[' => TokenKind::LBracket,
            b']' => TokenKind::RBracket,
            b'<' => TokenKind::Less,
            b'>' => TokenKind::Greater,
            b',' => TokenKind::Comma,
            b':' if second == b':' => self.pair(TokenKind::Other),
            b':' => TokenKind::Colon,
            b'=' => TokenKind::Equal,
            // A character outside of ASCII has several bytes. They stay together, so that no span ends inside of a
            // character.
            0x80.. => self.run(|b| b >= 0x80, TokenKind::Other),
            _ => TokenKind::Other,
        }
    }

    /// Takes the second byte of a token of two bytes.
    fn pair(&mut self, kind: TokenKind) -> TokenKind {
        self.position += 1;
        kind
    }

    /// Moves the position over all bytes that `accepts` allows, up to the first byte that it does not allow.
    #[inline]
    fn run(&mut self, accepts: impl Fn(u8) -> bool, kind: TokenKind) -> TokenKind {
        let mut at = self.position;
        while self.bytes.get(at).is_some_and(|&byte| accepts(byte)) {
            at += 1;
        }
        self.position = at;
        kind
    }

    /// Reads the name behind `%`, `^`, `#` or `!`. It is digits only (`%12`), or begins with another character of a
    /// name. Without a name the character is [`TokenKind::Other`].
    fn suffix(&mut self, kind: TokenKind) -> TokenKind {
        let start = self.position;
        if self.byte(start).is_ascii_digit() {
            return self.run(|b| b.is_ascii_digit(), kind);
        }
        self.run(is_suffix, kind);
        if self.position == start { TokenKind::Other } else { kind }
    }

    /// Reads a string up to its closing quote. One without closing quote takes the rest of the text and is
    /// `Unterminated`.
    fn string(&mut self, kind: TokenKind) -> TokenKind {
        match string_end(self.bytes, self.position) {
            Some(end) => {
                self.position = end;
                kind
            }
            None => {
                self.position = self.bytes.len();
                TokenKind::Unterminated
            }
        }
    }

    /// Reads the rest of a number whose first digit has been read: `0x1F`, `42`, `4.5e-3`. The rules are those of
    /// MLIR's own lexer.
    fn number(&mut self) -> TokenKind {
        // If no hexadecimal digit follows `0x`, the number is the `0` alone, as MLIR has it: the dimensions `0xi32`
        // of a type are the number `0` and the word `xi32`.
        if self.byte(self.position - 1) == b'0'
            && self.byte(self.position) == b'x'
            && self.byte(self.position + 1).is_ascii_hexdigit()
        {
            self.position += 1;
            return self.run(|b| b.is_ascii_hexdigit(), TokenKind::Number);
        }
        // An exponent is read only behind a point. MLIR has no number `4e3`: those are the number `4` and the word
        // `e3`.
        self.run(|b| b.is_ascii_digit(), TokenKind::Number);
        if self.byte(self.position) == b'.' {
            self.position += 1;
            self.run(|b| b.is_ascii_digit(), TokenKind::Number);
            self.exponent();
        }
        TokenKind::Number
    }

    /// Reads the exponent of a number, if there is one. An `e` without digits behind it is not part of the number.
    fn exponent(&mut self) {
        if !matches!(self.byte(self.position), b'e' | b'E') {
            return;
        }
        let sign = usize::from(matches!(self.byte(self.position + 1), b'+' | b'-'));
        if self.byte(self.position + 1 + sign).is_ascii_digit() {
            self.position += 1 + sign;
            self.run(|b| b.is_ascii_digit(), TokenKind::Number);
        }
    }

    /// Jumps over the group whose opening bracket stands at `open`, strings and
    /// comments inside it included, and leaves the position behind its end.
    pub(crate) fn skip_group(&mut self, open: usize) -> Result<(), Unbalanced> {
        if let Some(end) = self.flat_group_end(open) {
            self.position = end;
            return Ok(());
        }
        // Up to 16 open brackets are kept without asking for memory; types and attributes hardly ever nest deeper.
        let mut stack: Brackets = Brackets::new();
        let mut at = open;
        while let Some(&byte) = self.bytes.get(at) {
            if !STRUCTURE[usize::from(byte)] {
                at += 1;
                continue;
            }
            let next = self.byte(at + 1);
            match byte {
                // Operators open and close nothing.
                b'-' | b'=' if next == b'>' => at += 1,
                b'<' | b'>' | b'=' if next == b'=' => at += 1,
                b'(' | b'[' | b'{' | b'<' => stack.push(at),
                b')' | b']' | b'}' | b'>' => self.close(&mut stack, at)?,
                b'"' => match string_end(self.bytes, at + 1) {
                    Some(end) => at = end - 1,
                    None => break,
                },
                b'/' if next == b'/' => {
                    self.position = at;
                    self.skip_comment();
                    at = self.position;
                    continue;
                }
                _ => {}
            }
            at += 1;
            if stack.is_empty() {
                self.position = at;
                return Ok(());
            }
        }
        Err(Unbalanced { open: stack.last().copied().unwrap_or(open), at: self.bytes.len() })
    }

    /// One past the end of the group whose opening bracket stands at `open`, if nothing stands in between that opens,
    /// closes or hides a bracket, as in most types: `<64x128xf32>`. `None` says nothing about the group.
    fn flat_group_end(&self, open: usize) -> Option<usize> {
        let inside = self.bytes.get(open + 1..)?;
        let length = inside.iter().position(|&byte| STRUCTURE[usize::from(byte)])?;
        let is_closed = inside[length] == closing(self.byte(open)) && inside.get(length + 1) != Some(&b'=');
        is_closed.then_some(open + 1 + length + 1)
    }

    /// Whether ` = ` and a letter follow at once, as behind the result of an op in a custom form: `%a = memref.alloc`.
    pub(crate) fn assigns_plainly(&self) -> bool {
        matches!(self.bytes.get(self.position..), Some([b' ', b'=', b' ', letter, ..]) if letter.is_ascii_alphabetic())
    }

    /// Whether `=` may stand behind a list of results that begins in front of the position. It does not if a character
    /// comes first that no such list has; a comment may hide anything. Only a few characters are looked at, because
    /// this is asked for nearly every name of a long line.
    pub(crate) fn may_assign(&self) -> bool {
        let rest = self.bytes.get(self.position..).unwrap_or(&[]);
        let foreign = rest.iter().take(64).find(|&&byte| !IN_RESULTS[usize::from(byte)]);
        matches!(foreign, None | Some(b'=' | b'/'))
    }

    /// The bracket `<` if it stands right at the position and is no part of an operator; leaves the position behind it.
    pub(crate) fn less_at_once(&mut self) -> Option<Token> {
        let start = self.position;
        if self.byte(start) != b'<' || self.byte(start + 1) == b'=' {
            return None;
        }
        self.position = start + 1;
        Some(Token::new(TokenKind::Less, start, start + 1, false))
    }

    /// Closes the innermost open bracket with the one at `at`; an error if the two do not match.
    fn close(&self, stack: &mut Brackets, at: usize) -> Result<(), Unbalanced> {
        let open = stack.pop().unwrap_or(at);
        if closing(self.byte(open)) == self.byte(at) { Ok(()) } else { Err(Unbalanced { open, at }) }
    }

    /// Whether a value (`%x`) or a block (`^b`) is named between here and `end`, outside of strings and comments.
    pub(crate) fn names_follow(mut self, end: usize) -> bool {
        let text = self.bytes.get(self.position..end).unwrap_or(&[]);
        // Most groups hold neither character at all, so they need not be cut into tokens.
        if !text.iter().any(|&byte| matches!(byte, b'%' | b'^')) {
            return false;
        }
        loop {
            let token = self.next();
            match token.kind {
                TokenKind::Percent | TokenKind::Caret if token.start() < end => return true,
                TokenKind::Eof => return false,
                _ if token.start() >= end => return false,
                _ => {}
            }
        }
    }

    /// Jumps behind the `#-}` that ends a resource block; false if there is none. A `#-}` inside of a string does not
    /// count.
    pub(crate) fn skip_resources(&mut self) -> bool {
        while let Some(&byte) = self.bytes.get(self.position) {
            let rest = &self.bytes[self.position..];
            if rest.starts_with(b"#-}") {
                self.position += 3;
                return true;
            }
            self.position = match byte {
                b'"' => string_end(self.bytes, self.position + 1).unwrap_or(self.bytes.len()),
                _ => self.position + 1,
            };
        }
        false
    }
}

/// The bracket that closes another one; 0 for anything that is no bracket.
fn closing(open: u8) -> u8 {
    match open {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        b'<' => b'>',
        _ => 0,
    }
}

/// Whether each byte may stand in a bare name: one look instead of six comparisons a byte.
const BARE: [bool; 256] = {
    let mut bare = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let character = byte as u8;
        bare[byte] = character.is_ascii_alphanumeric() || matches!(character, b'_' | b'$' | b'.');
        byte += 1;
    }
    bare
};

/// Whether each byte may open, close or hide a bracket: most of a group is letters and digits, which are skipped
/// without another look.
const STRUCTURE: [bool; 256] = {
    let mut structure = [false; 256];
    let mut at = 0;
    let bytes = b"()[]{}<>-=\"/";
    while at < bytes.len() {
        structure[bytes[at] as usize] = true;
        at += 1;
    }
    structure
};

/// Whether each byte may stand in a list of results, `%a:2, %b`, with the blanks in it.
const IN_RESULTS: [bool; 256] = {
    let mut allowed = BARE;
    let mut at = 0;
    let bytes = b"%:,- \t\r\n";
    while at < bytes.len() {
        allowed[bytes[at] as usize] = true;
        at += 1;
    }
    allowed
};

/// Whether a byte may stand in a name without a sign in front.
fn is_bare(byte: u8) -> bool {
    BARE[usize::from(byte)]
}

/// Whether a byte may stand in the name behind `%`, `@`, `#`, `!` or `^`.
fn is_suffix(byte: u8) -> bool {
    is_bare(byte) || byte == b'-'
}

/// Whether `//` stands anywhere in a text. Looking for one byte is quick; a search for two prepares itself first, which
/// takes longer than most of these texts are worth.
pub(crate) fn has_comment(text: &str) -> bool {
    text.as_bytes().contains(&b'/') && text.contains("//")
}

/// A text without the blanks and comments at both of its ends.
pub(crate) fn trim_trivia(text: &str) -> &str {
    // Hardly any text has comments. Without them nothing has to be cut into tokens.
    if !has_comment(text) {
        return text.trim_ascii();
    }
    let mut lexer = Lexer::new(text);
    let first = lexer.next();
    let (start, mut end) = (first.start(), first.end());
    loop {
        let token = lexer.next();
        if token.kind == TokenKind::Eof {
            return text.get(start..end).unwrap_or(text);
        }
        end = token.end();
    }
}

/// A text with a blank in place of each comment. Texts in quotes stay as they are.
pub(crate) fn without_comments(text: &str) -> Cow<'_, str> {
    if !has_comment(text) {
        return Cow::Borrowed(text);
    }
    let mut lexer = Lexer::new(text);
    let mut plain = String::new();
    let mut end = 0;
    loop {
        let token = lexer.next();
        if token.kind == TokenKind::Eof {
            return Cow::Owned(plain);
        }
        // What stands between two tokens becomes one blank. Tokens without anything between them stay together.
        plain.push_str(if token.start() > end { " " } else { "" });
        plain.push_str(text.get(token.span().range()).unwrap_or(""));
        end = token.end();
    }
}

/// One past the quote that ends the string whose text starts at `from`; `None` if the text ends first. A backslash
/// hides the byte behind it.
pub(crate) fn string_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(source: &str) -> Vec<(TokenKind, &str)> {
        let mut lexer = Lexer::new(source);
        let mut out = Vec::new();
        loop {
            let token = lexer.next();
            if token.kind == TokenKind::Eof {
                return out;
            }
            out.push((token.kind, &source[token.start()..token.end()]));
        }
    }

    #[test]
    fn names_and_operators() {
        use TokenKind::*;
        assert_eq!(
            kinds("%0#1 = \"a.b\"(%x-y) // c\n ^bb0: !t<->> @\"q r\" 1.5e-3 0x1F 4x8"),
            [
                (Percent, "%0"),
                (Hash, "#1"),
                (Equal, "="),
                (String, "\"a.b\""),
                (LParen, "("),
                (Percent, "%x-y"),
                (RParen, ")"),
                (Caret, "^bb0"),
                (Colon, ":"),
                (Bang, "!t"),
                (Less, "<"),
                (Arrow, "->"),
                (Greater, ">"),
                (At, "@\"q r\""),
                (Number, "1.5e-3"),
                (Number, "0x1F"),
                (Number, "4"),
                (BareId, "x8"),
            ]
        );
    }

    #[test]
    fn groups_are_skipped_whole() {
        for text in [
            "<4x8xf32, affine_map<(d0) -> (d0 >= 1)>>",
            "{a = \"}\\\"\", b = [#x<\">\">]}",
            "(memref<2xvector<4xf32>>, (i1) -> i1)",
            "[ // ]\n ]",
            "<(d0) : (d0 == 0, d0 - 1 <= 2)>",
            "{await(%t) => %r, [%a to %b] = %c}",
        ] {
            let source = format!("{text} rest");
            let mut lexer = Lexer::new(&source);
            assert_eq!(lexer.skip_group(0), Ok(()), "{text}");
            assert_eq!(lexer.position, text.len(), "{text}");
        }
    }

    #[test]
    fn unbalanced_groups_name_both_ends() {
        assert_eq!(Lexer::new("(a [b)").skip_group(0), Err(Unbalanced { open: 3, at: 5 }));
        assert_eq!(Lexer::new("(a \"b)").skip_group(0), Err(Unbalanced { open: 0, at: 6 }));
    }
}
