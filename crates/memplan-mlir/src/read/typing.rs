//! Reads types: a single type, and the types of a custom form, which stand behind `:`, `->` and `=>`.
//!
//! Dialects that no table knows write more than types there. All of it is read, so that no value in it is lost. A
//! result that names an operand in this place is *tied* to it: it is in the operand's memory.
//!
//! ```text
//! -> tensor<?x4xf32>{%d}           a type and the sizes it leaves open
//! -> %a as tensor<?xf32>{%d}       a result tied to an operand
//! -> %a{%size}                     a result tied to an operand, of the operand's type
//! -> tensor<4xf32> in !acme.buffer<*>{%size}      a type and the type of the memory that holds it
//! : (i32, tuple<i32, i64> ...)     any number of the last type
//! ```
//!
//! The *frame* of an op (`OpFrame`; not the frame of the glossary) is the reader's record of an op that is being read.
//! The parts of the op lie on the reader's *side stacks*: `self.uses` holds the values it uses, `self.type_spans` its
//! types, and so on, and `frame.uses` says where those of this op begin.

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

    /// Reads over one type and returns its span. The caller knows that a type has to stand here, so any word counts as
    /// one, also a word that `at_type` does not know. It is an error if anything else stands here, or if a bracket is
    /// not closed.
    pub(super) fn skip_type(&mut self) -> Result<Span> {
        let start = self.token.start();
        loop {
            match self.token.kind {
                // A function type. Its result is read by the next turn of the loop, or it is a list in brackets. Behind
                // such a list the type is over, unless another arrow follows: then the list was the inputs of a
                // function type that is the result, `(a) -> (b) -> c`, and its own result is read by the next turn.
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
                    let may_be_spaced = takes_parameters(self.text(self.token.span()));
                    // `less_at_once` gives the `<` right behind the word, if one stands there. That is what `advance`
                    // would read as well; types are so frequent that the short way pays.
                    match self.lexer.less_at_once() {
                        Some(less) => self.previous = std::mem::replace(&mut self.token, less),
                        None => self.advance(),
                    }
                    if self.at(TokenKind::Less) && (may_be_spaced || self.previous.end() == self.token.start()) {
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
        Span::new(start, self.previous.end())
    }

    /// The element type of a shaped type, or the parameter of another type: `f32` of `memref<4xf32>`. Aliases that
    /// are defined so far are looked through. `None` if the type has neither.
    pub(super) fn inner_type(&self, span: Span) -> Option<Span> {
        let mut span = span;
        // The number of steps is bounded, because aliases of a faulty text may go round in circles. Eight is far more
        // than a compiler writes.
        for _ in 0..8 {
            let aliases = self.document.aliases.last()?;
            // Aliases of types begin with `!`. Most types are none and need not be looked up.
            let name = self.text(span);
            match name.starts_with('!').then(|| aliases.get(name)).flatten() {
                Some(alias) => span = alias.value,
                None => break,
            }
        }
        crate::ty::inner_span(self.source, span)
    }

    /// The id of a type; one that is new in this part of the file gets an entry. Its structure is worked out later
    /// ([`crate::ty::resolve`]), when all aliases are known.
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

    /// The id of a type that the text writes.
    pub(super) fn written_type(&mut self, span: Span) -> TypeId {
        self.intern(TypeText::Source(span))
    }

    /// The id of a type that the text does not write, such as the `index` of a loop; `?` stands for an unknown one.
    pub(super) fn known_type(&mut self, text: &'static str) -> TypeId {
        self.intern(TypeText::Known(text))
    }

    // The types of a form.

    /// Reads what stands behind `:`, `->` or `=>` at the current token, one type or a list of types, and remembers
    /// where the types behind the arrow begin.
    pub(super) fn scan_types(&mut self, frame: &OpFrame, progress: &mut Progress) -> Result<()> {
        let arrow = self.at(TokenKind::Arrow);
        let known = self.info(frame).known;
        self.advance();
        progress.types = true;
        let start = self.token.start();
        // Only behind the arrow of an unknown form can results be tied to operands.
        let tied = arrow && !known;
        // `count(%n: index) -> (index, index)` behind a region speaks of the next region. Its types are read and then
        // forgotten.
        let of_region = tied && progress.regions > 0 && progress.arrow.is_some();
        let before = self.type_spans.len();
        let list = self.at(TokenKind::LParen) && self.list_is_types(tied);
        let one = self.at_type() || (tied && self.at(TokenKind::Percent));
        // `(d0, d1) -> (d1, d0)` is an arrow without types; it says nothing about results.
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

    /// Whether the parenthesis `(` at the current token opens a list of types. The first token inside decides; `tied`
    /// says whether a value may stand there (see the module documentation).
    ///
    /// ```text
    /// ()                   an empty list of types          ((i32) -> i32, f32)   a function type comes first
    /// (!acme.buffer, i32)  a type of a dialect, an alias   (d0, d1)              no types: an affine map
    /// ```
    fn list_is_types(&self, tied: bool) -> bool {
        // The lexer stands behind the current token. A copy of it reads ahead, so that nothing is consumed.
        let mut ahead = self.lexer;
        let token = ahead.next();
        match token.kind {
            TokenKind::RParen | TokenKind::Bang | TokenKind::LParen => true,
            TokenKind::BareId => is_type_word(self.text(token.span())),
            TokenKind::Percent => tied,
            _ => false,
        }
    }

    /// Reads `(type, %a as type{%size}, …)` in an unknown form. Where the list goes on in another way, its bracket is
    /// left open and the rest is read like that of any bracket.
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

    /// Reads a type with what may stand beside it (see the module documentation). A result that is tied to an operand
    /// and has no type of its own is pushed with an empty span, which stands for an unknown type.
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
            // `type in %value` or `type in !type`: another value or type follows.
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

    /// Reads `{%d, %0#1}` right behind a type, the sizes that it leaves open, as operands. Does nothing if no such
    /// list stands there.
    fn scan_sizes(&mut self) -> Result<()> {
        let touches = self.previous.end() == self.token.start();
        if !self.at(TokenKind::LBrace) || !touches || self.lexer.peek() != TokenKind::Percent {
            return Ok(());
        }
        let mut ahead = self.lexer;
        // Everything up to the closing brace is read: values as operands, all else is stepped over.
        ahead.skip_group(self.token.start()).map_err(|unbalanced| self.unbalanced(unbalanced))?;
        self.advance();
        while self.token.end() < ahead.position {
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

/// Whether a word begins a builtin type: `memref`, `i32`, `ui8`, `f8E4M3FN`.
fn is_type_word(word: &str) -> bool {
    match word {
        "memref" | "tensor" | "vector" | "index" | "none" | "complex" | "tuple" | "bf16" | "tf32" => true,
        _ => {
            // A number type is letters and a width. Only a float has more letters behind the width.
            let digits = word.trim_start_matches(['s', 'u', 'i', 'f']);
            let prefix = &word[..word.len() - digits.len()];
            matches!(prefix, "i" | "si" | "ui" | "f")
                && digits.starts_with(|c: char| c.is_ascii_digit())
                && (prefix == "f" || digits.bytes().all(|b| b.is_ascii_digit()))
        }
    }
}
