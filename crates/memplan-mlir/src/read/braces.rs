//! What stands in the braces of a custom form: a region, a dictionary, or values.
//!
//! Custom forms use braces for three things, and a form that no table knows does not say for which:
//!
//! ```text
//! acme.loop %n {             a region: ops stand in it
//!   "a.b"() : () -> ()
//! }
//! acme.op {tag = "x", fast}  a dictionary of attributes
//! acme.copy %a : !acme.buffer<*>{%size}      values: sizes of a type,
//! acme.run @f {                              bindings of a call,
//!   ro %a[%o for %n] : !acme.buffer<*>{%size}
//! }
//! acme.switch %i { 0: ^one, default: ^two }  blocks
//! ```
//!
//! A region is known by its first token, or by a line in it that can only begin an op. Braces with values or blocks in
//! them are read like brackets, so that nothing in them is lost; the same holds for `<…>`. Everything else is skipped.
//! Each look ahead ends at the next `{`, so every token is looked at a bounded number of times.
//!
//! The *frame* of an op (`OpFrame`; not the frame of the glossary) is the reader's record of an op that is being read,
//! and `self.brackets[frame.brackets..]` are its open brackets. `self.token` is the current token and `self.lexer`
//! stands behind it; looking ahead is reading on with a copy of the lexer.

use super::custom::{Progress, behind_results};
use super::*;

/// What stands behind a `{`, as far as its first tokens tell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BraceContent {
    /// Nothing.
    Empty,
    /// A word and nothing else: a unit attribute, or an op without operands.
    OneWord {
        /// Whether the word looks like the terminator of a region.
        ends_region: bool,
    },
    /// Attributes: `name = value` or several names.
    Dictionary,
    /// Values, or blocks to branch to.
    Names,
    /// A word that is not known to be an op.
    Word,
    /// Nothing that an op or a dictionary begins with: `ops{[\"linalg.matmul\"]}`.
    Other,
    /// Ops, or the label of a block.
    Region,
}

impl Reader<'_> {
    /// Whether the `{` at the current token opens a region, not a dictionary or a list of values. `regions` is what the
    /// op's row in the tables says: `Some(n)` if the op has n regions, `None` if no row says it. `Some` decides most
    /// cases; with `None` the content of the braces decides.
    pub(super) fn is_region(&self, frame: &OpFrame, progress: &Progress) -> bool {
        let previous = self.text(self.previous.span());
        // `attributes {…}` is always a dictionary.
        if previous == "attributes" {
            return false;
        }
        let regions = self.info(frame).regions;
        // The op's row says that it has no regions.
        if regions == Some(0) {
            return false;
        }
        let content = self.brace_content();
        let behind_equal = self.previous.kind == TokenKind::Equal;
        match regions {
            // `attrs = {"tag"} {`: what follows `=` is the value of an attribute.
            _ if behind_equal && matches!(content, BraceContent::OneWord { .. }) => false,
            // `num_gangs({%n : i32})`: values in braces inside of an open bracket. No form has a region there.
            Some(_) if self.depth(frame) > 0 && content == BraceContent::Names => false,
            // A region of this op has been read already. In front of a further region stands a word, a comma or a
            // number: `} else {`, `} do {`, `default {`, `}, {`, `case 2 {`. Any other `{` is a dictionary.
            Some(_) if progress.regions > 0 => {
                matches!(previous, "else" | "do" | "default" | ",") || self.previous.kind == TokenKind::Number
            }
            // The row says that the op has regions, and none has been read yet. So the braces are a region unless their
            // content cannot be one. Empty braces, a single word and a word that is not known may all be regions.
            Some(_) => !matches!(content, BraceContent::Dictionary | BraceContent::Other),
            // Nobody knows whether the op has regions. The braces are a region only if there is an op inside.
            None => match content {
                BraceContent::Region => true,
                // `{fast}` is a dictionary, `{acme.yield}` a region. A word without dialect is an op if the ops of this
                // text leave out their dialects (`short_names_follow`).
                BraceContent::OneWord { ends_region } => ends_region || self.short_names_follow(frame),
                BraceContent::Word => self.op_begins_inside() || self.short_names_follow(frame),
                // Values come first, but a later line may begin an op.
                BraceContent::Names => self.op_begins_inside(),
                // Empty braces hold nothing that could get lost, so they need not be read as a region.
                BraceContent::Dictionary | BraceContent::Empty | BraceContent::Other => false,
            },
        }
    }

    /// Whether a word behind the `{` at the current token is an op that leaves out its dialect: this op does so as
    /// well, and the word begins a line.
    fn short_names_follow(&self, frame: &OpFrame) -> bool {
        let name = self.text(self.document.ops[frame.op].name_span);
        let mut ahead = self.lexer;
        !name.contains('.') && ahead.next().first_on_line
    }

    /// Whether what stands behind the `{` at the current token is [`BraceContent::Other`].
    fn starts_with_other(&self) -> bool {
        use TokenKind::{BareId, Caret, Percent, RBrace, String};
        !matches!(self.lexer.peek(), RBrace | BareId | String | Percent | Caret)
    }

    /// What a pair of braces holds, as far as its first two tokens tell.
    fn brace_content(&self) -> BraceContent {
        let mut ahead = self.lexer;
        let first = ahead.next();
        match first.kind {
            TokenKind::RBrace => return BraceContent::Empty,
            TokenKind::BareId | TokenKind::String => {}
            TokenKind::Percent | TokenKind::Caret if self.begins_op(first, ahead) => return BraceContent::Region,
            TokenKind::Percent | TokenKind::Caret => return BraceContent::Names,
            _ => return BraceContent::Other,
        }
        match ahead.next().kind {
            // `{a = 1}`, `{a, b}`
            TokenKind::Equal | TokenKind::Comma => BraceContent::Dictionary,
            // `{a}`
            TokenKind::RBrace => BraceContent::OneWord { ends_region: self.ends_region(first) },
            TokenKind::LParen if first.kind == TokenKind::String => BraceContent::Region,
            _ if first.kind == TokenKind::String => BraceContent::Names,
            _ if self.is_op_word(self.text(first.span())) => BraceContent::Region,
            _ => BraceContent::Word,
        }
    }

    /// Whether a word that is all there is in a pair of braces is a terminator, not an attribute: its name says so
    /// (`acme.yield`), or it has a dialect and a line of its own.
    fn ends_region(&self, word: Token) -> bool {
        let text = self.text(word.span());
        let last = text.rsplit_once('.').map_or("", |(_, last)| last);
        let terminates = matches!(last, "return" | "yield" | "terminator" | "unreachable" | "end");
        text == "return" || terminates || (word.first_on_line && text.contains('.'))
    }

    /// Whether a word can be the name of an op: it has a dialect, or is one of the names that need none.
    fn is_op_word(&self, word: &str) -> bool {
        word.contains('.') || undotted(word).is_some()
    }

    /// Whether some line between the `{` at the current token and the next brace begins an op.
    fn op_begins_inside(&self) -> bool {
        let mut ahead = self.lexer;
        loop {
            let token = ahead.next();
            match token.kind {
                TokenKind::LBrace | TokenKind::RBrace | TokenKind::Eof | TokenKind::Unterminated => return false,
                _ if token.first_on_line && self.begins_op(token, ahead) => return true,
                _ => {}
            }
        }
    }

    /// Whether an op or a block begins with a token; `ahead` stands behind it.
    fn begins_op(&self, token: Token, mut ahead: Lexer<'_>) -> bool {
        match token.kind {
            // `%a, %b =` and the name of an op.
            TokenKind::Percent => behind_results(ahead)
                .is_some_and(|behind| matches!(behind.peek(), TokenKind::BareId | TokenKind::String)),
            // A label: `^name:` or `^name(…):`.
            TokenKind::Caret => {
                let mut next = ahead.next();
                if next.kind == TokenKind::LParen {
                    if ahead.skip_group(next.start()).is_err() {
                        return false;
                    }
                    next = ahead.next();
                }
                next.kind == TokenKind::Colon
            }
            TokenKind::String => ahead.peek() == TokenKind::LParen,
            // A word that can be the name of an op and is not the name of an attribute: `a = 1`, `a, b`, `a}`.
            TokenKind::BareId => {
                let attribute = matches!(ahead.peek(), TokenKind::Equal | TokenKind::Comma | TokenKind::RBrace);
                !attribute && self.is_op_word(self.text(token.span()))
            }
            _ => false,
        }
    }

    /// Reads braces that are no region. If they are stepped over as a whole, they are noted as a dictionary, unless
    /// they begin with something that no dictionary begins with.
    pub(super) fn scan_braces(&mut self, frame: &OpFrame) -> Result<()> {
        let other = self.starts_with_other();
        if let Some(group) = self.skip_or_open(frame)?
            && !other
        {
            self.dictionaries.push(group);
        }
        Ok(())
    }

    /// Jumps over the group at the current token and gives its span, or opens it like a bracket if values or blocks are
    /// named in it.
    pub(super) fn skip_or_open(&mut self, frame: &OpFrame) -> Result<Option<Span>> {
        let around = self.brackets[frame.brackets..].last();
        // A group inside of one that names values is opened without a search. Searching it again would take quadratic
        // time for deep nests.
        let mut named = around.is_some_and(|around| around.holds_names);
        if !named {
            let mut ahead = self.lexer;
            ahead.skip_group(self.token.start()).map_err(|unbalanced| self.unbalanced(unbalanced))?;
            named = self.lexer.names_follow(ahead.position);
            if !named {
                return Ok(Some(self.go_behind_group(ahead)));
            }
        }
        self.open_bracket(frame);
        Ok(None)
    }

    /// Whether the `}` or `>` at the current token closes a group of this op that [`Self::skip_or_open`] has opened. A
    /// `}` that closes no group ends the region around the op, and a `>` that closes none is a comparison.
    pub(super) fn closes_group(&self, frame: &OpFrame) -> bool {
        let open = self.brackets[frame.brackets..].last().map(|bracket| bracket.open.kind);
        match self.token.kind {
            TokenKind::RBrace => open == Some(TokenKind::LBrace),
            _ => open == Some(TokenKind::Less),
        }
    }
}
