//! Types: one of them, and those of a custom form, behind `:`, `->` and `=>`.
//!
//! Dialects that no table knows write more than types there. All of it is read, so that no value in it is lost:
//!
//! ```text
//! -> tensor<?x4xf32>{%d}           a type and the sizes it leaves open
//! -> %a as tensor<?xf32>{%d}       a result in the memory of an operand
//! -> %a{%size}                     the same, of the operand's type
//! -> tensor<4xf32> in !acme.buffer<*>{%size}      the form and the value that has it
//! : (i32, tuple<i32, i64> ...)     any number of the last one
//! ```

use super::custom::Progress;
use super::*;

impl<'s> Reader<'s> {
    // One type.

    /// Whether a type can begin at the current token.
    pub(super) fn at_type(&self) -> bool {
        match self.token.kind {
            TokenKind::Bang => true,
            TokenKind::BareId => is_type_word(self.text(self.token.span())),
            _ => false,
        }
    }

    /// Reads over one type and returns its span.
    pub(super) fn skip_type(&mut self) -> Result<Span> {
        let start = self.token.start;
        loop {
            match self.token.kind {
                // A function type. Its result may be a list in brackets, which may in turn be the inputs of another
                // function type: `(a) -> (b) -> c`.
                TokenKind::LParen => {
                    self.skip_group()?;
                    self.expect(TokenKind::Arrow, "`->`")?;
                    if self.at(TokenKind::LParen) {
                        self.skip_group()?;
                        if !self.take(TokenKind::Arrow) {
                            return Ok(self.since(start));
                        }
                    }
                }
                TokenKind::Bang | TokenKind::BareId => {
                    // A `<` behind a word belongs to the type only if it follows at once, or if the word is a builtin
                    // that always has parameters. Otherwise it is a comparison or the next attribute.
                    let spaced = takes_parameters(self.text(self.token.span()));
                    self.advance();
                    if self.at(TokenKind::Less) && (spaced || self.previous.end == self.token.start) {
                        self.skip_group()?;
                    }
                    return Ok(self.since(start));
                }
                _ => return Err(self.unexpected("a type")),
            }
        }
    }

    /// From `start` to the end of the last token read.
    pub(super) fn since(&self, start: usize) -> Span {
        Span::new(start, self.previous.end)
    }

    /// The element type of a shaped type, or the parameter of another; aliases
    /// defined so far are looked through.
    pub(super) fn inner_type(&self, span: Span) -> Option<Span> {
        let mut span = span;
        // Bounded, for aliases that go round in circles.
        for _ in 0..8 {
            let aliases = self.document.aliases.last()?;
            match aliases.get(self.text(span)) {
                Some(alias) => span = alias.value,
                None => break,
            }
        }
        crate::ty::inner_span(self.source, span)
    }

    fn intern(&mut self, text: TypeText) -> TypeId {
        let key = match text {
            TypeText::Source(span) => self.text(span),
            TypeText::Known(known) => known,
        };
        if let Some(&id) = self.types.get(key) {
            return id;
        }
        let id = self.document.types.push(TypeEntry { text, chunk: self.chunk, ty: Type::Unknown });
        self.types.insert(key, id);
        id
    }

    pub(super) fn written_type(&mut self, span: Span) -> TypeId {
        self.intern(TypeText::Source(span))
    }

    pub(super) fn known_type(&mut self, text: &'static str) -> TypeId {
        self.intern(TypeText::Known(text))
    }

    // The types of a form.

    /// Reads types behind `:`, `->` or `=>`, and remembers where those behind the arrow begin.
    pub(super) fn scan_types(&mut self, frame: &OpFrame, progress: &mut Progress) -> Result<()> {
        let arrow = self.at(TokenKind::Arrow);
        let known = self.info(frame).known;
        self.advance();
        progress.types = true;
        let start = self.token.start;
        let tied = arrow && !known;
        // `count(%n: index) -> (index, index)` behind a region speaks of the next region.
        let of_region = tied && progress.regions > 0 && progress.arrow.is_some();
        let before = self.type_spans.len();
        let list = self.at(TokenKind::LParen) && self.list_is_types(tied);
        let one = self.at_type() || (tied && self.at(TokenKind::Percent));
        // `(d0, d1) -> (d1, d0)` is an arrow without types.
        if arrow && (list || one) && !of_region {
            progress.arrow = Some(self.type_spans.len() - frame.types);
        }
        match (list, one) {
            (true, _) if known => self.type_list()?,
            (true, _) => self.tied_list(frame)?,
            (_, true) if known => {
                let span = self.skip_type()?;
                self.type_spans.push(span);
            }
            (_, true) => self.tied_type(frame)?,
            _ => {}
        }
        if of_region {
            self.type_spans.truncate(before);
        }
        progress.function_type = if arrow { progress.function_type.to(self.since(start)) } else { self.since(start) };
        Ok(())
    }

    /// Whether the parentheses at the current token hold types.
    fn list_is_types(&self, tied: bool) -> bool {
        let mut ahead = self.lexer;
        let token = ahead.next();
        match token.kind {
            TokenKind::RParen | TokenKind::Bang | TokenKind::LParen => true,
            TokenKind::BareId => is_type_word(self.text(token.span())),
            TokenKind::Percent => tied,
            _ => false,
        }
    }

    /// `(type, %a as type{%size}, …)`. Where it goes on in another way, the rest is read like any bracket.
    fn tied_list(&mut self, frame: &OpFrame) -> Result<()> {
        self.open_bracket(frame);
        while !self.at(TokenKind::RParen) {
            let item = self.at_type() || matches!(self.token.kind, TokenKind::Percent | TokenKind::LParen);
            if !item {
                return Ok(());
            }
            self.tied_type(frame)?;
            if !self.take(TokenKind::Comma) {
                break;
            }
        }
        if self.at(TokenKind::RParen) {
            self.brackets.pop();
            self.advance();
        }
        Ok(())
    }

    /// A type with what may stand beside it. A result that is tied to an operand and has no type of its own is pushed
    /// without a place: it is of the operand's type.
    fn tied_type(&mut self, frame: &OpFrame) -> Result<()> {
        let mut span = Span::default();
        loop {
            if self.at(TokenKind::Percent) {
                let one = self.read_use()?;
                self.uses.push(one);
                self.scan_sizes()?;
                if !self.at_word("as") {
                    break;
                }
                self.advance();
            }
            let typed = self.at_type() || (self.at(TokenKind::LParen) && self.at_function_type());
            if !typed {
                break;
            }
            span = self.skip_type()?;
            self.scan_sizes()?;
            if !self.at_word("in") || !matches!(self.lexer.peek(), TokenKind::Percent | TokenKind::Bang) {
                break;
            }
            self.advance();
        }
        self.type_spans.push(span);
        self.skip_ellipsis();
        // Attributes of a result, in a list.
        if self.depth(frame) > 0 && self.at(TokenKind::LBrace) {
            self.skip_group()?;
        }
        Ok(())
    }

    /// `{%d, %0#1}` right behind a type: the sizes that it leaves open.
    fn scan_sizes(&mut self) -> Result<()> {
        let touches = self.previous.end == self.token.start;
        if !self.at(TokenKind::LBrace) || !touches || self.lexer.peek() != TokenKind::Percent {
            return Ok(());
        }
        let mut ahead = self.lexer;
        ahead.skip_group(self.token.start).map_err(|unbalanced| self.unbalanced(unbalanced))?;
        self.advance();
        while self.token.end < ahead.position {
            match self.token.kind {
                TokenKind::Percent => {
                    let one = self.read_use()?;
                    self.uses.push(one);
                }
                _ => self.advance(),
            }
        }
        self.advance();
        Ok(())
    }
}

/// The builtin types that always have parameters, so that `tensor <4xf32>` is one type.
fn takes_parameters(word: &str) -> bool {
    matches!(word, "memref" | "tensor" | "vector" | "complex" | "tuple")
}

/// The words that begin a builtin type.
fn is_type_word(word: &str) -> bool {
    match word {
        "memref" | "tensor" | "vector" | "index" | "none" | "complex" | "tuple" | "bf16" | "tf32" => true,
        _ => {
            let digits = word.trim_start_matches(['s', 'u', 'i', 'f']);
            let prefix = &word[..word.len() - digits.len()];
            matches!(prefix, "i" | "si" | "ui" | "f")
                && digits.starts_with(|c: char| c.is_ascii_digit())
                && (prefix == "f" || digits.bytes().all(|b| b.is_ascii_digit()))
        }
    }
}
