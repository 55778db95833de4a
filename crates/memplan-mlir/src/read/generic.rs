//! The generic form: `%r = "name"(%a)[^b] <{…}> ({…}, {…}) {…} : (…) -> … loc(…)`.

use super::*;

/// The part of the form that comes next.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Operands,
    /// Behind the `(` or the `,` in front of a region.
    NextRegion,
    /// Behind a region.
    AfterRegion,
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

    /// Operands, successors, properties, and the `(` of the regions.
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

    /// Reads the blocks that a terminator branches to, behind the opening bracket.
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

    /// What follows the regions: attributes, types and the location.
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
        ahead.skip_group(self.token.start).is_ok() && ahead.peek() == TokenKind::Arrow
    }

    /// `(type, type)`.
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

    /// The result types that a generic op lists, checked against its names.
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
