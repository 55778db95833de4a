//! Reads regions, blocks and the top level of a file. A region holds blocks, a block has a label, arguments and ops,
//! and an op may hold regions again; a stack of frames stands in for recursion.
//!
//! A *frame* (not the frame of the glossary) is the reader's record of a region or an op that is being read. The blocks
//! and ops of open regions lie on the *side stacks* `self.blocks` and `self.ops`; `frame.blocks` and `frame.ops` say
//! where those of this region begin. A third side stack, `self.branches`, has an entry for each label that a branch
//! names: the position of the branch's target in `document.successor_pool`, where the label stands in the text, and
//! whether the form of the op is known. A file may have several *parts*, separated by lines `// -----`.

use super::*;
use crate::dialect::{Header, Traits};

impl<'s> Reader<'s> {
    /// Starts a part of the file, with names, aliases and a top-level block of its own.
    pub(super) fn open_top(&mut self) -> RegionFrame {
        self.chunk = self.document.aliases.len() as u32;
        self.document.aliases.push(HashMap::default());
        // The same spelling may mean another type in each part, because each part has aliases of its own.
        self.types.clear();
        let start = self.token.span();
        let region = self.document.regions.push(Region { parent: None, span: start, blocks: PoolRange::default() });
        // No name of the part before is visible, and ops at the top level need not be in order.
        self.scopes.enter(true, false);
        let mut frame = RegionFrame {
            region,
            open: start,
            form: Form::Custom,
            isolated: true,
            block: None,
            blocks: self.blocks.len(),
            ops: self.ops.len(),
            branches: self.branches.len(),
        };
        let block = self.open_block(&mut frame, Span::default());
        self.document.top.push(block);
        frame
    }

    /// Enters the region whose `{` is the current token: steps over the `{`, opens the region and a scope of names,
    /// and gives its first block the arguments that the op's form names.
    pub(super) fn enter_region(&mut self, op: &mut OpFrame) -> Result<RegionFrame> {
        let open = self.token.span();
        self.advance();
        let info = &self.document.names[op.name].info;
        let isolated = info.traits.has(Traits::ISOLATED);
        // With an unknown form nobody says which names the form defines, so a second definition of a name is no
        // error.
        let lenient = info.header == Header::Unknown;
        let form = self.document.ops[op.op].form;
        // In a module, and perhaps in an unknown op, an op may use values that are defined further down.
        let ordered = !lenient && &*self.document.names[op.name].name != "builtin.module";
        let mut frame = self.new_region(op.op, open, form, (isolated, ordered));
        self.regions.push(frame.region);
        if form == Form::Custom && lenient && self.at(TokenKind::Caret) {
            // The first block has a label with arguments of its own, so names in the op's form are no arguments of it.
            self.arguments.truncate(op.arguments);
        } else if form == Form::Custom {
            self.entry_block(op, &mut frame, lenient)?;
        }
        Ok(frame)
    }

    /// Adds a region to the document and opens its scope of names.
    fn new_region(&mut self, op: OpId, open: Span, form: Form, (isolated, ordered): (bool, bool)) -> RegionFrame {
        let region = self.document.regions.push(Region { parent: Some(op), span: open, blocks: PoolRange::default() });
        self.scopes.enter(isolated, ordered);
        RegionFrame {
            region,
            open,
            form,
            isolated,
            block: None,
            blocks: self.blocks.len(),
            ops: self.ops.len(),
            branches: self.branches.len(),
        }
    }

    /// Opens the first block of a custom form's region with the arguments that the form defines for it. If there are
    /// none, the block is opened by the first op or label.
    fn entry_block(&mut self, op: &mut OpFrame, frame: &mut RegionFrame, lenient: bool) -> Result<()> {
        let mut arguments = self.arguments.split_off(op.arguments);
        // Forms name their arguments in an order of their own; `rank` is the order in which the generic form lists
        // them.
        arguments.sort_by_key(|argument| argument.rank);
        if arguments.is_empty() {
            return Ok(());
        }
        let block = self.open_block(frame, Span::default());
        let assigned = self.document.names[op.name].info.header == Header::Assigned;
        // Types of carried arguments are those of the results, in order. The loop index has a type of its own, which
        // may be written behind the op.
        let count = arguments.iter().filter(|argument| matches!(argument.ty, ArgumentType::Carried)).count();
        let induction = self.induction_type(op, count);
        let mut carried = self.carried_types(op).into_iter();
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let (ty, type_span) = match argument.ty {
                ArgumentType::Written(span) => (self.written_type(span), span),
                ArgumentType::Index => match induction {
                    Some(span) if assigned => (self.written_type(span), span),
                    // Only a loop with assigned indices can write another type for its index.
                    _ => (self.known_type("index"), Span::default()),
                },
                ArgumentType::Unknown => (self.known_type("?"), Span::default()),
                ArgumentType::Carried => match carried.next() {
                    Some(span) => (self.written_type(span), span),
                    // The form lists too few types, so the type stays unknown.
                    None => (self.known_type("?"), Span::default()),
                },
            };
            values.push((argument.name, ty, type_span));
        }
        self.add_arguments(block, &values, lenient)
    }

    /// Makes values of the arguments of a block, given as name, type and where the type is written, and defines their
    /// names. In a `lenient` region a name may be defined a second time.
    fn add_arguments(&mut self, block: BlockId, arguments: &[(Span, TypeId, Span)], lenient: bool) -> Result<()> {
        let start = self.document.value_pool.len();
        for (index, &(name, ty, type_span)) in arguments.iter().enumerate() {
            let value = self.document.values.push(Value {
                name,
                definition: Definition::Argument { block, index: index as u32 },
                ty,
                type_span,
            });
            self.document.value_pool.push(value);
            if name != Span::default() {
                self.define(name, value, 1, lenient)?;
            }
        }
        self.document.blocks[block].arguments = pool_range(start, self.document.value_pool.len());
        Ok(())
    }

    /// Ends the block before, if there is one, and begins another one.
    pub(super) fn open_block(&mut self, frame: &mut RegionFrame, label: Span) -> BlockId {
        self.close_block(frame);
        let block = self.document.blocks.push(Block {
            parent: frame.region,
            label,
            arguments: PoolRange::default(),
            ops: PoolRange::default(),
        });
        self.blocks.push(block);
        self.scopes.begin_block();
        frame.block = Some(block);
        block
    }

    /// Ends the block being read: the ops on the side stack become its ops.
    fn close_block(&mut self, frame: &mut RegionFrame) {
        let Some(block) = frame.block.take() else {
            return;
        };
        let ops = drain(&mut self.ops, frame.ops, &mut self.document.op_pool);
        self.document.blocks[block].ops = ops;
    }

    /// Reads a region up to its end, or up to the first region inside of it. In the second case the frames of this
    /// region, of the op inside and of the inner region go onto the stack.
    pub(super) fn step_region(&mut self, mut frame: RegionFrame, stack: &mut Vec<Frame>) -> Result<()> {
        let top = self.document.regions[frame.region].parent.is_none();
        // Most ops have no regions. They are read here, one after the other, with the labels, aliases and resources
        // that stand between them; the stack is only needed for an op that a region interrupts.
        loop {
            if patience::is_over() {
                return Err(TextError::Stopped);
            }
            match self.token.kind {
                TokenKind::Eof if top => return self.close_region(frame),
                TokenKind::RBrace if !top => {
                    self.advance();
                    return self.close_region(frame);
                }
                TokenKind::Eof => return Err(self.never_closed(&frame)),
                // `// -----` splits a file into parts that have nothing to do with each other.
                _ if top && self.at_split() => {
                    self.close_region(frame)?;
                    // The frame of this part is done, and that of the next part takes its place.
                    stack.push(Frame::Region(self.open_top()));
                    return Ok(());
                }
                TokenKind::Hash | TokenKind::Bang if top => self.read_alias()?,
                TokenKind::Resources if top => self.read_resources()?,
                TokenKind::Caret if !top => self.read_label(&mut frame)?,
                _ => {
                    let block = match frame.block {
                        Some(block) => block,
                        None => self.open_block(&mut frame, Span::default()),
                    };
                    let mut op = self.begin_op(block)?;
                    if let Some(inner) = self.read_op(&mut op)? {
                        stack.extend([Frame::Region(frame), Frame::Op(op), Frame::Region(inner)]);
                        return Ok(());
                    }
                    self.finish_op(&op)?;
                }
            }
        }
    }

    /// The error for a region whose `}` is missing.
    fn never_closed(&self, frame: &RegionFrame) -> TextError {
        self.unbalanced(Unbalanced { open: frame.open.start as usize, at: self.source.len() })
    }

    /// Closes a region: missing terminators are added, and branches are resolved.
    fn close_region(&mut self, mut frame: RegionFrame) -> Result<()> {
        // The generic form writes every terminator, and the top level of a file has none.
        let implicit = frame.form == Form::Custom && self.document.regions[frame.region].parent.is_some();
        if implicit {
            self.add_terminator(&mut frame);
        }
        self.check_structure(&frame)?;
        self.close_block(&mut frame);
        let blocks = drain(&mut self.blocks, frame.blocks, &mut self.document.block_pool);
        let region = &mut self.document.regions[frame.region];
        region.blocks = blocks;
        region.span = region.span.to(self.previous.span());
        self.resolve_branches(&frame)?;
        self.leave_scope()?;
        debug_assert!(frame.isolated || self.ops.len() >= frame.ops);
        Ok(())
    }

    /// Gives an error if a region of structured control flow (`scf`, `affine`) has more than one block, or if a
    /// region of `scf.while` has no terminator. Other ops of these dialects may leave their terminator out; in
    /// `scf.while` the terminator says how the loop goes on.
    fn check_structure(&self, frame: &RegionFrame) -> Result<()> {
        let Some(op) = self.document.regions[frame.region].parent else { return Ok(()) };
        let name = self.document.name(op);
        let is_structured = name.starts_with("scf.") || name.starts_with("affine.");
        if !is_structured || name == "scf.execute_region" {
            return Ok(());
        }
        // An unknown op may be a terminator, too.
        // Whether an op ends a region of an `scf.while`.
        let ends = |&last: &OpId| {
            matches!(self.document.name(last), "scf.condition" | "scf.yield") || !self.document.info(last).known
        };
        let is_ended = name != "scf.while" || self.ops[frame.ops..].last().is_some_and(ends);
        if is_ended && self.blocks.len() - frame.blocks < 2 {
            return Ok(());
        }
        Err(TextError::Unterminated { op: name.to_owned(), span: self.document.ops[op].name_span })
    }

    /// Turns the names that branches of a region lead to into blocks. This is done at the end of the region, when all
    /// its blocks are known. Regions inside of it have ended before and have taken their branches off the stack, so
    /// what is above `frame.branches` belongs to this region. Two blocks of one name are an error, and so is a branch
    /// of a known form to a name that no block has. A branch of an unknown form to such a name keeps no block (`None`).
    fn resolve_branches(&mut self, frame: &RegionFrame) -> Result<()> {
        let blocks = self.document.blocks(frame.region);
        // A region of one block without branches has nothing to resolve; most regions are like that.
        if self.branches.len() == frame.branches && blocks.len() < 2 {
            return Ok(());
        }
        let mut labels: HashMap<&str, BlockId> = HashMap::default();
        for &block in blocks {
            // Only the first block can be without a label. Its name is empty, and no branch leads to it.
            let span = self.document.blocks[block].label;
            let name = self.text(span);
            if labels.insert(name, block).is_some() {
                let name = name.to_owned();
                return Err(TextError::RedefinedBlock { name, span });
            }
        }
        for (at, name, known) in self.branches.split_off(frame.branches) {
            let text = self.text(name);
            match labels.get(text) {
                Some(&block) => self.document.successor_pool[at as usize].block = Some(block),
                // In a known form, or in the generic one, a missing block is an error. An unknown form may use `^`
                // for something else.
                None if known => {
                    return Err(TextError::UndefinedBlock { name: text.to_owned(), span: name });
                }
                None => self.note(
                    format!("there is no block `{text}` in this region; this form is not known, so it is left alone"),
                    name,
                ),
            }
        }
        Ok(())
    }

    /// Reads a label with the arguments of its block, `^name(%a: type, %b: type):`, and begins the block.
    fn read_label(&mut self, frame: &mut RegionFrame) -> Result<()> {
        // The op's form has named the arguments of the first block, which is open and empty. A label would leave it
        // without ops.
        let is_open = frame.block.is_some_and(|block| self.document.blocks[block].label == Span::default());
        if is_open && self.ops.len() == frame.ops {
            return Err(self.unexpected("an op, for the first block has its arguments already"));
        }
        let label = self.token.span();
        self.advance();
        let block = self.open_block(frame, label);
        if self.at(TokenKind::LParen) {
            let arguments = self.signature()?;
            self.add_arguments(block, &arguments, false)?;
        }
        self.expect(TokenKind::Colon, "`:`")?;
        Ok(())
    }

    /// Reads `(%a: type {attributes} loc(…), …)` and gives name, type and place of the type of each argument. A
    /// declaration of a function has types only; then the names are empty spans.
    pub(super) fn signature(&mut self) -> Result<Vec<(Span, TypeId, Span)>> {
        self.expect(TokenKind::LParen, "`(`")?;
        let mut arguments = Vec::new();
        while !self.at(TokenKind::RParen) {
            // A declaration of a function with a variable number of arguments ends in `...`.
            if self.at(TokenKind::Other) && self.text(self.token.span()) == "." {
                self.skip_ellipsis();
                continue;
            }
            // The name, which a declaration leaves out, and the type.
            let mut name = Span::default();
            if self.at(TokenKind::Percent) {
                name = self.token.span();
                self.advance();
                self.expect(TokenKind::Colon, "`:`")?;
            }
            let type_span = self.skip_type()?;
            // Attributes and the location of an argument are not needed.
            if self.at(TokenKind::LBrace) {
                self.skip_group()?;
            }
            if self.at_word("loc") {
                self.advance();
                self.skip_group()?;
            }
            arguments.push((name, self.written_type(type_span), type_span));
            if !self.take(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::RParen, "`)`")?;
        Ok(arguments)
    }

    /// Steps over the `...` of a function with a variable number of arguments; the lexer gives the three dots one by
    /// one.
    pub(super) fn skip_ellipsis(&mut self) {
        while self.at(TokenKind::Other) && self.text(self.token.span()) == "." {
            self.advance();
        }
    }

    /// Whether a line `// -----` stands between the previous token and the current one, and a new part of the file
    /// begins here.
    fn at_split(&self) -> bool {
        let gap = self.source.get(self.previous.end()..self.token.start());
        let gap = gap.unwrap_or("");
        let at_line_start = self.previous.end() == 0 && gap.starts_with("// -----");
        // Most gaps hold no comment; only those with one are searched.
        (at_line_start || gap.contains("\n// -----")) && !self.split_already_taken()
    }

    /// Whether the current part of the file begins with the current token. After a split the gap in front of this
    /// token still holds the line `// -----`, and it must not split the file a second time.
    fn split_already_taken(&self) -> bool {
        let last = self.document.top.last();
        let region = last.map(|&block| self.document.blocks[block].parent);
        region.is_some_and(|region| self.document.regions[region].span.start as usize == self.token.start())
    }

    /// Reads `#name = attribute` or `!name = type` and remembers the text behind `=` under the name.
    fn read_alias(&mut self) -> Result<()> {
        let name = self.text(self.token.span());
        self.advance();
        self.expect(TokenKind::Equal, "`=`")?;
        let start = self.token.start();
        self.skip_alias_value()?;
        let value = self.since(start);
        if let Some(aliases) = self.document.aliases.last_mut() {
            aliases.insert(name.to_owned(), Alias { value });
        }
        Ok(())
    }

    /// Steps over the attribute or type behind `#name =`. It ends where a line starts with something that begins an
    /// op, a label or another alias. At least one token must be there.
    fn skip_alias_value(&mut self) -> Result<()> {
        let mut first = true;
        loop {
            match self.token.kind {
                TokenKind::Eof | TokenKind::Resources if first => {
                    return Err(self.unexpected("an attribute or a type"));
                }
                // A brace that nothing has opened ends the alias, and the caller reports it.
                TokenKind::Eof | TokenKind::Resources | TokenKind::RBrace => return Ok(()),
                _ if !first && self.ends_alias() => return Ok(()),
                TokenKind::LParen | TokenKind::LBracket | TokenKind::LBrace | TokenKind::Less => {
                    self.skip_group()?;
                }
                TokenKind::Unterminated => return Err(self.unexpected("an attribute")),
                // Nothing is open here.
                TokenKind::RParen | TokenKind::RBracket | TokenKind::Greater => {
                    return Err(self.unexpected("the end of the alias"));
                }
                _ => self.advance(),
            }
            first = false;
        }
    }

    /// Whether the text of an alias ends in front of this token: the token begins a line, and it begins an op, a block
    /// or another alias.
    fn ends_alias(&self) -> bool {
        let goes_on =
            matches!(self.previous.kind, TokenKind::Arrow | TokenKind::Colon | TokenKind::Equal | TokenKind::Comma);
        self.token.first_on_line
            && !goes_on
            && match self.token.kind {
                TokenKind::Hash | TokenKind::Bang => self.lexer.peek() == TokenKind::Equal,
                TokenKind::Percent | TokenKind::Caret | TokenKind::String => true,
                TokenKind::BareId => !self.at_type(),
                _ => false,
            }
    }

    /// Steps over a block of resources `{-# … #-}` at the end of a file. It holds blobs of data, which do not matter
    /// here.
    fn read_resources(&mut self) -> Result<()> {
        let span = self.token.span();
        if !self.lexer.skip_resources() {
            return Err(TextError::UnterminatedResources { span });
        }
        let token = self.token;
        self.token = Token::new(token.kind, token.start(), self.lexer.position, token.first_on_line);
        self.advance();
        Ok(())
    }
}
