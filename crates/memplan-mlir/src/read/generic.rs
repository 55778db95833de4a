//! Reads the generic form:
//!
//! ```text
//! %r = "name"(%a)      [^b]       <{…}>      ({…}, {…}) {…}        : (…) -> …  loc(…)
//!             operands successors properties regions    attributes   types     location
//! ```
//!
//! The *frame* of an op (`OpFrame`; not the frame of the glossary) is the reader's record of an op that is being read.
//! The parts of the op lie on the reader's *side stacks*: `self.uses` holds the values it uses, `self.type_spans` its
//! types, and so on, and `frame.uses` says where those of this op begin.

use super::*;

/// The part of the form that comes next.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Behind the name: operands, successors, properties.
    Operands,
    /// Behind the `(` or the `,` in front of a region.
    NextRegion,
    /// Behind a region.
    AfterRegion,
    /// Behind all regions: attributes, types, location.
    Attributes,
}

impl Reader<'_> {
    /// Reads on until the op ends or a region begins.
    pub(super) fn step_generic(&mut self, frame: &mut OpFrame) -> Result<Step> {
        // The state lives in the frame and not on the call stack: reading is interrupted at each region and goes on
        // behind it.
        loop {
            let State::Generic(phase) = frame.state else {
                return Ok(Step::Done);
            };
            let next = match phase {
                Phase::Operands => self.generic_head()?,
                Phase::NextRegion => {
                    if !self.at(TokenKind::LBrace) {
                        return Err(self.unexpected("a region"));
                    }
                    frame.state = State::Generic(Phase::AfterRegion);
                    return Ok(Step::Enter);
                }
                Phase::AfterRegion if self.take(TokenKind::Comma) => Phase::NextRegion,
                Phase::AfterRegion => {
                    self.expect(TokenKind::RParen, "`)`")?;
                    Phase::Attributes
                }
                Phase::Attributes => {
                    self.generic_tail(frame)?;
                    return Ok(Step::Done);
                }
            };
            frame.state = State::Generic(next);
        }
    }

    /// Reads operands, successors, properties, and the `(` in front of the regions; gives what comes next.
    fn generic_head(&mut self) -> Result<Phase> {
        self.expect(TokenKind::LParen, "`(`")?;
        while !self.at(TokenKind::RParen) {
            let one = self.read_use()?;
            self.uses.push(one);
            if !self.take(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::RParen, "`)`")?;
        if self.take(TokenKind::LBracket) {
            self.generic_successors()?;
        }
        if self.at(TokenKind::Less) {
            self.properties()?;
        }
        if self.take(TokenKind::LParen) {
            return Ok(Phase::NextRegion);
        }
        Ok(Phase::Attributes)
    }

    /// Reads the blocks that a terminator branches to, `^a, ^b]`, behind the opening bracket. The generic form does
    /// not say here which operands go to which block.
    fn generic_successors(&mut self) -> Result<()> {
        loop {
            let block = self.expect(TokenKind::Caret, "a block")?;
            self.successors.push((block.span(), PoolRange::default()));
            if !self.take(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::RBracket, "`]`")?;
        Ok(())
    }

    /// `<{…}>`: the dictionary inside is kept with the op's others.
    fn properties(&mut self) -> Result<()> {
        self.advance();
        if self.at(TokenKind::LBrace) {
            let dictionary = self.skip_group()?;
            self.dictionaries.push(dictionary);
        }
        self.expect(TokenKind::Greater, "`>`")?;
        Ok(())
    }

    /// Reads what follows the regions: attributes, types and the location.
    fn generic_tail(&mut self, frame: &OpFrame) -> Result<()> {
        if self.at(TokenKind::LBrace) {
            let dictionary = self.skip_group()?;
            self.dictionaries.push(dictionary);
        }
        self.expect(TokenKind::Colon, "`:` and the op's type")?;
        self.type_list()?;
        // The type list says how many operands there are. The generic form is written by machines, so a difference
        // means that the file is damaged.
        let operands = self.type_spans.len() - frame.types;
        let found = self.uses.len() - frame.uses;
        if operands != found {
            return Err(TextError::Arity {
                what: "operands",
                found,
                expected: operands,
                span: self.document.ops[frame.op].name_span,
            });
        }
        self.expect(TokenKind::Arrow, "`->`")?;
        // A single result may itself be a function type, which also begins with a bracket.
        if self.at(TokenKind::LParen) && !self.at_function_type() {
            self.type_list()?;
        } else {
            let span = self.skip_type()?;
            self.type_spans.push(span);
        }
        self.read_location(frame.op)?;
        Ok(())
    }

    /// Whether the `(` at the current token begins a function type, not a list.
    pub(super) fn at_function_type(&self) -> bool {
        let mut ahead = self.lexer;
        ahead.skip_group(self.token.start()).is_ok() && ahead.peek() == TokenKind::Arrow
    }

    /// Reads `(type, type)`. A type may have a dictionary of attributes behind it, which is stepped over.
    pub(super) fn type_list(&mut self) -> Result<()> {
        self.expect(TokenKind::LParen, "`(`")?;
        while !self.at(TokenKind::RParen) {
            let span = self.skip_type()?;
            self.type_spans.push(span);
            if self.at(TokenKind::LBrace) {
                self.skip_group()?;
            }
            if !self.take(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::RParen, "`)`")?;
        Ok(())
    }

    /// The types of a generic op's results and where they are written. They follow the types of the operands in the
    /// op's list. If the results have names, there must be as many as types.
    pub(super) fn generic_result_types(&mut self, frame: &OpFrame) -> Result<Vec<(TypeId, Span)>> {
        let operands = self.document.operands(frame.op).len();
        let spans: Vec<Span> = self.type_spans[frame.types + operands..].to_vec();
        let named = self.named_results(frame);
        if named != 0 && named != spans.len() {
            return Err(TextError::Arity {
                what: "results",
                found: named,
                expected: spans.len(),
                span: self.document.ops[frame.op].name_span,
            });
        }
        let types = spans.into_iter().map(|span| (self.written_type(span), span));
        Ok(types.collect())
    }

    /// How many results the names in front of `=` stand for.
    pub(super) fn named_results(&self, frame: &OpFrame) -> usize {
        let counts = self.results[frame.results..].iter();
        counts.map(|&(_, count)| count as usize).sum()
    }
}
