//! The reader: text in, [`Document`] out.
//!
//! # How it works
//!
//! The reader is a loop over an explicit stack of frames. It does not recurse, so a deeply nested text cannot overflow
//! the call stack. A frame (not the frame of the glossary) is a region being read or an op being read. An op's frame
//! reads until it meets the `{` of a region, pushes that region's frame, and
//! goes on behind the `}` when the region is done:
//!
//! ```text
//! scf.if %c {      op frame reads `scf.if %c`, pushes a region
//!   "a.b"() …      region frame pushes an op frame; it runs to its end and is popped
//! } else {         `}` pops the region; the op frame reads `else`, pushes a region
//! }                `}` pops the region; the op frame finds that the op ends here
//! ```
//!
//! - [`generic`] reads the generic form, which is regular.
//! - [`custom`] reads every custom form with one scanner. It does not have a
//!   grammar for each op; it relies on what all custom forms share. Value names
//!   are operands, in the order of the generic form (a handful of ops differ,
//!   see [`order`]). Types stand behind `:` and `->`.
//!   Brackets balance. An op ends where something begins that can only be
//!   another op. What a table row adds is where the types of results and the
//!   arguments of regions are found.
//! - [`region`] reads regions, blocks and the top level of a file.
//! - [`braces`] tells regions from dictionaries and from lists of values in braces.
//! - [`typing`] reads a single type, and the types of custom forms with the sizes and values that some dialects write
//!   beside them.
//! - [`results`] finds the types of results.
//! - [`order`] brings operands into the order of the generic form where the custom form has another.
//! - [`scope`] resolves names.
//! - [`implicit`] adds the ops that custom forms leave out.
//!
//! Every token is looked at a bounded number of times, so the time is linear.
//!
//! # Side stacks
//!
//! The parts of an op (names of results, uses of values, types, …) are known only when the op ends, and an op may hold
//! regions with other ops in between. The parts of all open ops lie in a few vectors, the *side stacks*, the innermost
//! op's on top. A frame remembers how long each side stack was when its op began; whatever lies above belongs to this
//! op. When the op is complete, its parts move into the *pools* of the document.

mod braces;
mod custom;
mod generic;
mod implicit;
mod order;
mod region;
mod results;
mod scope;
mod typing;

use std::borrow::Cow;
use std::sync::Arc;

use memplan_core::{Id, IndexVec, Span, patience};

use crate::dialect::{Dialects, Traits, undotted};
use crate::document::{
    Alias, Block, BlockId, Definition, Document, Form, Group, NameEntry, NameId, NameKind, Op, OpId, PoolRange, Region,
    RegionId, Successor, TypeEntry, TypeId, TypeText, Value, ValueId,
};
use crate::error::{Note, TextError};
use crate::hash::HashMap;
use crate::lex::{Lexer, Token, TokenKind, Unbalanced};
use crate::ty::Type;
use scope::Scopes;

/// A use of a value by name in an op that is being read: `%x` or `%x#1`.
#[derive(Clone, Copy)]
struct Use {
    name: Span,
    /// The 1 of `%x#1`: which of the results with this name.
    index: u32,
    /// Inside `symbol(…)` of an affine subscript.
    symbol: bool,
    /// The type behind the name, in a list where every name has one.
    ty: Span,
    /// Whether an unknown form seems to define this name for its region (`%x as %y: type`). It counts only if the op
    /// turns out to have a region.
    bound: bool,
    /// Whether the name is also an argument of the op's region, so that it may mean no value outside at all. If
    /// nothing outside has this name, the use is dropped.
    doubtful: bool,
}

/// An argument that a custom form defines for its next region.
#[derive(Clone, Copy)]
struct EntryArgument {
    name: Span,
    ty: ArgumentType,
    /// Arguments of lower rank come first in the region, those of equal rank in the order of the text.
    rank: u8,
}

/// Where the type of a region's argument comes from.
#[derive(Clone, Copy)]
enum ArgumentType {
    /// It is written behind the argument.
    Written(Span),
    /// It is `index`, or the type that a loop writes for its index.
    Index,
    /// It is the next of the types that the op lists for the values it carries round.
    Carried,
    /// It is not known, so the argument may be memory.
    Unknown,
}

/// An op being read.
struct OpFrame {
    op: OpId,
    name: NameId,
    state: State,
    // Where this op's part of each side stack begins.
    results: usize,
    uses: usize,
    regions: usize,
    successors: usize,
    groups: usize,
    dictionaries: usize,
    types: usize,
    brackets: usize,
    arguments: usize,
}

/// How far an op has been read, so that reading can go on behind a region.
enum State {
    Generic(generic::Phase),
    Custom(custom::Progress),
}

/// A region being read.
struct RegionFrame {
    region: RegionId,
    /// Its `{`.
    open: Span,
    /// The form of the op it belongs to.
    form: Form,
    /// Whether names from outside are not visible in it.
    isolated: bool,
    /// The block being read; none before the first op or label.
    block: Option<BlockId>,
    // Where this region's part of each side stack begins.
    blocks: usize,
    ops: usize,
    branches: usize,
}

/// An entry of the reader's stack.
enum Frame {
    Op(OpFrame),
    Region(RegionFrame),
}

/// What is to be done next for an op whose frame has read as far as it could.
enum Step {
    /// Read the region whose `{` is the current token.
    Enter,
    /// Nothing: it is complete.
    Done,
}

/// An open bracket of a custom form.
#[derive(Clone, Copy)]
struct Bracket {
    open: Token,
    /// The word right before it.
    keyword: Span,
    /// The token right before it.
    after: TokenKind,
    /// Number of uses on the side stack when it was opened.
    uses: usize,
    /// Whether it is, or stands in, `{…}` or `<…>` with names of values inside.
    holds_names: bool,
}

/// The state of reading one text.
struct Reader<'s> {
    source: &'s str,
    dialects: &'s Dialects,
    /// Stands behind the current token.
    lexer: Lexer<'s>,
    /// The current token: the next one to be read.
    token: Token,
    /// The token read last.
    previous: Token,
    document: Document,
    scopes: Scopes<'s>,
    /// Op names and types that have an entry in the document, by their text. Types are those of the current part.
    names: HashMap<Cow<'s, str>, NameId>,
    types: HashMap<&'s str, TypeId>,
    /// The number of the part of the file that is being read; `// -----` begins a new one.
    chunk: u32,
    // Side stacks: parts of ops and regions that are not complete yet, see the module documentation.
    /// Names in front of `=`, each with the number of results that it stands for.
    results: Vec<(Span, u32)>,
    uses: Vec<Use>,
    regions: Vec<RegionId>,
    /// Blocks to branch to: their name, and which of the op's operands (by position) the branch passes on.
    successors: Vec<(Span, PoolRange)>,
    groups: Vec<Group>,
    dictionaries: Vec<Span>,
    type_spans: Vec<Span>,
    brackets: Vec<Bracket>,
    arguments: Vec<EntryArgument>,
    blocks: Vec<BlockId>,
    ops: Vec<OpId>,
    /// Successors whose block is looked up by name at the end of the region: the index in the pool of successors, the
    /// name, and whether the branch is in a known form (then the block must exist).
    branches: Vec<(u32, Span, bool)>,
    /// Ops whose form does not say which of its types are those of the results, so that the types of its results are
    /// guesses.
    guessed: Vec<OpId>,
    /// Ops with doubtful uses ([`Use::doubtful`]) whose names were not defined when the op ended.
    doubtful: Vec<OpId>,
}

type Result<T> = std::result::Result<T, TextError>;

/// Reads a text. When all of it has been read and all aliases are known, types are resolved: their text becomes a
/// [`Type`]. Last, results whose types were only guessed are given an unknown type where they may be memory.
pub(crate) fn read(source: &Arc<str>, dialects: &Dialects) -> Result<Document> {
    // Spans are pairs of `u32`.
    if source.len() >= u32::MAX as usize {
        return Err(TextError::TooLong);
    }
    let mut reader = Reader::new(source, dialects);
    reader.run()?;
    reader.drop_doubtful();
    let (mut document, guessed) = (reader.document, reader.guessed);
    crate::ty::resolve(&mut document);
    results::doubt(&mut document, guessed);
    Ok(document)
}

impl<'s> Reader<'s> {
    /// A reader at the start of a text.
    fn new(source: &'s Arc<str>, dialects: &'s Dialects) -> Self {
        // No token has been read yet; `run` reads the first one.
        let start = Token::new(TokenKind::Eof, 0, 0, true);
        Reader {
            source,
            dialects,
            lexer: Lexer::new(source),
            token: start,
            previous: start,
            document: document_with_room(source),
            scopes: Scopes::default(),
            names: HashMap::default(),
            types: HashMap::default(),
            chunk: 0,
            results: Vec::new(),
            uses: Vec::new(),
            regions: Vec::new(),
            successors: Vec::new(),
            groups: Vec::new(),
            dictionaries: Vec::new(),
            type_spans: Vec::new(),
            brackets: Vec::new(),
            arguments: Vec::new(),
            blocks: Vec::new(),
            ops: Vec::new(),
            branches: Vec::new(),
            guessed: Vec::new(),
            doubtful: Vec::new(),
        }
    }

    /// Takes frames off the stack until none is left. A frame that is not done pushes itself again.
    fn run(&mut self) -> Result<()> {
        self.advance();
        let mut stack = vec![Frame::Region(self.open_top())];
        while let Some(frame) = stack.pop() {
            if patience::is_over() {
                return Err(TextError::Stopped);
            }
            match frame {
                Frame::Region(region) => self.step_region(region, &mut stack)?,
                Frame::Op(op) => self.step_op(op, &mut stack)?,
            }
        }
        Ok(())
    }

    /// Goes on with an op: at its start, or behind one of its regions. If another region begins, the op's frame goes
    /// back onto the stack below the frame of the region; otherwise the op is complete.
    fn step_op(&mut self, mut frame: OpFrame, stack: &mut Vec<Frame>) -> Result<()> {
        match self.read_op(&mut frame)? {
            Some(region) => {
                stack.extend([Frame::Op(frame), Frame::Region(region)]);
                Ok(())
            }
            None => self.finish_op(&frame),
        }
    }

    /// Reads an op up to its end, or up to its next region, which is returned.
    fn read_op(&mut self, frame: &mut OpFrame) -> Result<Option<RegionFrame>> {
        let step = match frame.state {
            State::Generic(_) => self.step_generic(frame)?,
            State::Custom(_) => self.step_custom(frame)?,
        };
        match step {
            Step::Enter => self.enter_region(frame).map(Some),
            Step::Done => Ok(None),
        }
    }

    // Tokens.

    /// Makes the next token the current one.
    fn advance(&mut self) {
        self.previous = self.token;
        self.token = self.lexer.next();
    }

    /// The text at a span.
    fn text(&self, span: Span) -> &'s str {
        self.source.get(span.range()).unwrap_or("")
    }

    /// Whether the current token is of this kind.
    fn at(&self, kind: TokenKind) -> bool {
        self.token.kind == kind
    }

    /// Whether the current token is this word.
    fn at_word(&self, word: &str) -> bool {
        self.at(TokenKind::BareId) && self.text(self.token.span()) == word
    }

    /// Steps over the current token if it is of this kind, and says whether it did.
    fn take(&mut self, kind: TokenKind) -> bool {
        let there = self.at(kind);
        if there {
            self.advance();
        }
        there
    }

    /// Steps over the current token, which must be of this kind; otherwise the error says what was expected.
    fn expect(&mut self, kind: TokenKind, expected: &'static str) -> Result<Token> {
        let token = self.token;
        if token.kind != kind {
            return Err(self.unexpected(expected));
        }
        self.advance();
        Ok(token)
    }

    /// The error for a current token that does not fit. A long token is cut after 40 characters in the message.
    fn unexpected(&self, expected: &'static str) -> TextError {
        let span = self.token.span();
        let found = match self.token.kind {
            TokenKind::Eof => "the end of the text".to_owned(),
            TokenKind::Unterminated => return TextError::UnterminatedString { span },
            _ => {
                let text: String = self.text(span).chars().take(40).collect();
                format!("`{text}`")
            }
        };
        TextError::Unexpected { expected, found, span }
    }

    /// Jumps over the bracketed group that begins at the current token, and gives its span.
    fn skip_group(&mut self) -> Result<Span> {
        let mut behind = self.lexer;
        let result = behind.skip_group(self.token.start());
        result.map_err(|unbalanced| self.unbalanced(unbalanced))?;
        Ok(self.go_behind_group(behind))
    }

    /// Goes on with `behind`, a lexer that stands behind the group at the current token, and gives the span of the
    /// group. The current token becomes the whole group for a moment, so that `previous` ends where the group ends.
    fn go_behind_group(&mut self, behind: Lexer<'s>) -> Span {
        let open = self.token.start();
        self.lexer = behind;
        self.token = Token::new(TokenKind::Greater, open, behind.position, self.token.first_on_line);
        self.advance();
        Span::new(open, behind.position)
    }

    /// The error for a bracket that is not closed, or closed by one of another kind. The span of one character may
    /// end inside of a character of several bytes, so it is extended.
    fn unbalanced(&self, at: Unbalanced) -> TextError {
        let open = Span::new(at.open, at.open + 1);
        let end = self.source.ceil_char_boundary((at.at + 1).min(self.source.len()));
        TextError::Unbalanced { bracket: self.text(open).to_owned(), open, span: Span::new(at.at, end) }
    }

    /// Adds a note for the user: something that was not understood and is left alone.
    fn note(&mut self, message: String, span: Span) {
        self.document.notes.push(Note { message, span });
    }

    // Ops.

    /// Reads the results and the name of an op, adds it to the document, and makes its frame.
    fn begin_op(&mut self, parent: BlockId) -> Result<OpFrame> {
        let start = self.token.start();
        let results = self.results.len();
        if self.at(TokenKind::Percent) {
            self.read_results()?;
        }
        let name_token = self.token;
        // `%r = "arith.addi"(…)` is the generic form, `%r = arith.addi …` the custom form. In the custom form the
        // dialect's name may be left out inside of some ops.
        let (name, form) = match name_token.kind {
            TokenKind::String => {
                let text = self.text(name_token.span());
                (Cow::Borrowed(text.trim_matches('"')), Form::Generic)
            }
            TokenKind::BareId => {
                let text = self.text(name_token.span());
                let name = self.full_name(text, parent);
                // All ops around this place are known, and none of their dialects has an op of this name. So the word
                // is no op. (Inside of unknown ops it could be one with a short name.)
                if !name.contains('.') && self.is_in_known_ops(parent) {
                    return Err(self.unexpected("an op with the name of its dialect"));
                }
                (name, Form::Custom)
            }
            _ => return Err(self.unexpected("an op")),
        };
        self.advance();
        let name = self.intern_name(name);
        let span = Span::new(start, name_token.end());
        let op = self.document.ops.push(Op::new(name, form, span, name_token.span(), parent));
        self.ops.push(op);
        // The frame remembers how long each side stack is. What comes to lie above belongs to this op.
        Ok(OpFrame {
            op,
            name,
            state: match form {
                Form::Generic => State::Generic(generic::Phase::Operands),
                _ => State::Custom(custom::Progress::default()),
            },
            results,
            uses: self.uses.len(),
            regions: self.regions.len(),
            successors: self.successors.len(),
            groups: self.groups.len(),
            dictionaries: self.dictionaries.len(),
            types: self.type_spans.len(),
            brackets: self.brackets.len(),
            arguments: self.arguments.len(),
        })
    }

    /// Whether a block stands in an op, and that op and all ops around it have a row in the tables.
    fn is_in_known_ops(&self, block: BlockId) -> bool {
        let mut around = std::iter::successors(self.document.block_parent(block), |&op| self.document.parent_op(op));
        self.document.block_parent(block).is_some() && around.all(|op| self.document.info(op).known)
    }

    /// The name of an op with its dialect. A name without a dialect belongs to the dialect of the op around it, if
    /// that dialect has an op of this name (`return` in an `async.func`), or if nothing is known about the op around
    /// it: `return` in an `emitc.func` is `emitc.return`. The ops of `builtin` need no dialect anywhere.
    fn full_name(&self, text: &'s str, parent: BlockId) -> Cow<'s, str> {
        if has_dot(text) {
            return Cow::Borrowed(text);
        }
        let around = self.document.block_parent(parent);
        let full = undotted(text);
        // The name in the dialect of the op around, if it may be meant.
        let local = around.and_then(|op| {
            let dialect = self.document.name(op).split('.').next()?;
            let name = format!("{dialect}.{text}");
            let is_builtin = full.is_some_and(|name| name.starts_with("builtin."));
            let is_taken = self.dialects.has(&name) || (!is_builtin && !self.document.info(op).known);
            is_taken.then_some(name)
        });
        local.map_or(Cow::Borrowed(full.unwrap_or(text)), Cow::Owned)
    }

    /// Reads the names of an op's results, `%a, %b:2 =`. The number behind `:` says how many results share the name.
    fn read_results(&mut self) -> Result<()> {
        loop {
            let name = self.expect(TokenKind::Percent, "a result name")?;
            let mut count = 1;
            if self.take(TokenKind::Colon) {
                let number = self.expect(TokenKind::Number, "the number of results")?;
                let parsed = self.text(number.span()).parse::<u32>().ok();
                count = parsed.filter(|&n| n > 0 && n <= MAX_RESULTS).ok_or_else(|| TextError::Unexpected {
                    expected: "a number of results",
                    found: format!("`{}`", self.text(number.span())),
                    span: number.span(),
                })?;
            }
            self.results.push((name.span(), count));
            if !self.take(TokenKind::Comma) {
                self.expect(TokenKind::Equal, "`=`")?;
                return Ok(());
            }
        }
    }

    /// The id of an op name; a name that is new gets an entry with what the tables know about it.
    fn intern_name(&mut self, name: Cow<'s, str>) -> NameId {
        if let Some(&id) = self.names.get(&name) {
            return id;
        }
        let info = self.dialects.get(&name);
        let cancels = info.traits.has(Traits::CANCELS);
        let id = self.document.names.push(NameEntry::new(&name, info));
        if cancels {
            self.document.cancelling.push(id);
        }
        self.names.insert(name, id);
        id
    }

    /// Reads the name of a value, `%x`, with its `#1` if there is one. The number must follow without a blank;
    /// otherwise it is an attribute.
    fn read_use(&mut self) -> Result<Use> {
        let name = self.expect(TokenKind::Percent, "a value")?;
        let mut index = 0;
        if self.at(TokenKind::Hash) && self.token.start() == name.end() {
            let text = self.text(self.token.span());
            index = text.get(1..).and_then(|n| n.parse().ok()).ok_or_else(|| self.unexpected("a result number"))?;
            self.advance();
        }
        Ok(Use { name: name.span(), index, symbol: false, ty: Span::default(), bound: false, doubtful: false })
    }

    /// Reads a trailing `loc(…)`, if there is one, and says whether there was.
    fn read_location(&mut self, op: OpId) -> Result<bool> {
        if !self.at_word("loc") || self.lexer.peek() != TokenKind::LParen {
            return Ok(false);
        }
        let start = self.token.start();
        // A location names no values. `loc([%root])` with a value in it is a list of operands that the op's form
        // calls so.
        let mut group = self.lexer;
        let open = group.next();
        group.skip_group(open.start()).map_err(|unbalanced| self.unbalanced(unbalanced))?;
        if self.lexer.names_follow(group.position) {
            return Ok(false);
        }
        self.advance();
        self.skip_group()?;
        self.document.rare_mut(op).location = Some(self.since(start));
        Ok(true)
    }

    /// Gives an error if something stands behind the type of an op that passes remove or replace. Passes write such an
    /// op anew from its parts, so whatever stands behind the type would be lost. A location is one of the parts and
    /// may stand there.
    fn check_end(&self, frame: &OpFrame) -> Result<()> {
        let is_replaced = self.document.kind(frame.op).is(NameKind::REWRITTEN);
        let has_location = || self.document.rare(frame.op).is_some_and(|rare| rare.location.is_some());
        if !is_replaced || self.document.ops[frame.op].form != Form::Custom || has_location() {
            return Ok(());
        }
        // The last type must be the last thing in the op's text.
        let types = &self.type_spans[frame.types..];
        let ends = |ty: &Span| ty.end as usize == self.previous.end();
        // An allocation has exactly one type.
        let is_alone = types.len() == 1 || !self.document.name(frame.op).starts_with("memref.alloc");
        match (types.first(), types.last()) {
            (Some(first), Some(last)) if !ends(last) || !is_alone => Err(TextError::Unexpected {
                expected: "the end of the op behind its type",
                found: "more".to_owned(),
                span: Span::new(first.end as usize, self.previous.end()),
            }),
            _ => Ok(()),
        }
    }

    /// Completes an op whose text has been read: looks up its operands, makes its results, and moves its parts from
    /// the side stacks into the document.
    fn finish_op(&mut self, frame: &OpFrame) -> Result<()> {
        let op = frame.op;
        let end = self.previous.end();
        // Whether a name that nothing defines is an error. It is in the form of a known op, and in the generic form,
        // which writes operands in one place only.
        let known = self.document.names[frame.name].info.known || self.document.ops[op].form == Form::Generic;
        self.check_end(frame)?;
        self.use_names_without_region(frame);
        self.use_doubtful_names(frame);
        // The order of these steps matters: operands decide the types of results in many custom forms, and hidden
        // parts (implicit regions) need both.
        self.order_operands(frame);
        self.resolve_operands(frame, known)?;
        self.define_results(frame)?;
        self.add_hidden_parts(frame);
        let document = &mut self.document;
        let dictionaries = drain(&mut self.dictionaries, frame.dictionaries, &mut document.span_pool);
        let types = drain(&mut self.type_spans, frame.types, &mut document.span_pool);
        let entry = &mut document.ops[op];
        entry.span.end = Span::new(end, end).start;
        entry.spans = PoolRange { start: dictionaries.start, end: types.end };
        entry.types = types.start;
        if self.regions.len() > frame.regions {
            document.rare_mut(op).regions = drain(&mut self.regions, frame.regions, &mut document.region_pool);
        }
        if self.groups.len() > frame.groups {
            document.rare_mut(op).groups = drain(&mut self.groups, frame.groups, &mut document.group_pool);
        }
        if self.successors.len() > frame.successors {
            let start = document.successor_pool.len();
            // Branch targets may be blocks that have not been read yet. They are resolved when the region ends.
            for (name, operands) in self.successors.drain(frame.successors..) {
                self.branches.push((document.successor_pool.len() as u32, name, known));
                document.successor_pool.push(Successor { block: None, operands });
            }
            document.rare_mut(op).successors = pool_range(start, document.successor_pool.len());
        }
        self.brackets.truncate(frame.brackets);
        self.arguments.truncate(frame.arguments);
        Ok(())
    }
}

/// A generous bound on `%0:n`: more than any real op, and small enough that a
/// short hostile text cannot ask for gigabytes.
const MAX_RESULTS: u32 = 1 << 16;

/// Whether a word has a dialect in front. `str::contains` prepares a search, which takes longer than looking at a word.
fn has_dot(word: &str) -> bool {
    word.bytes().any(|byte| byte == b'.')
}

/// A range of positions in a pool.
fn pool_range(start: usize, end: usize) -> PoolRange {
    PoolRange { start: start as u32, end: end as u32 }
}

/// Moves what lies on a side stack from `from` on to the end of a pool, and gives its range there.
fn drain<T: Copy>(stack: &mut Vec<T>, from: usize, pool: &mut Vec<T>) -> PoolRange {
    let start = pool.len();
    // Most ops have nothing on most of the stacks.
    if let Some(top) = stack.get(from..).filter(|top| !top.is_empty()) {
        pool.extend_from_slice(top);
        stack.truncate(from);
    }
    pool_range(start, pool.len())
}

/// A document of a text in which nothing has been read yet, with room for as much as such a text mostly has: an op on
/// every 64 bytes. Room that is not used costs no memory, up to a limit, beyond which some systems would refuse it. Lists
/// that grow are copied again and again, and for a moment there are two of each.
fn document_with_room(source: &Arc<str>) -> Document {
    let mut document = empty_document(Arc::clone(source));
    let ops = (source.len() / 64).min(1 << 22);
    document.ops.reserve_exact(ops);
    document.op_pool.reserve_exact(ops);
    document.span_pool.reserve_exact(2 * ops);
    document.operand_pool.reserve_exact(2 * ops);
    document.values.reserve_exact(ops / 2);
    document.value_pool.reserve_exact(ops / 2);
    document
}

/// A document of a text in which nothing has been read yet.
fn empty_document(source: Arc<str>) -> Document {
    Document {
        source,
        ops: IndexVec::new(),
        rare: Vec::new(),
        regions: IndexVec::new(),
        blocks: IndexVec::new(),
        values: IndexVec::new(),
        types: IndexVec::new(),
        names: IndexVec::new(),
        cancelling: Vec::new(),
        top: Vec::new(),
        aliases: Vec::new(),
        operand_pool: Vec::new(),
        value_pool: Vec::new(),
        region_pool: Vec::new(),
        block_pool: Vec::new(),
        op_pool: Vec::new(),
        successor_pool: Vec::new(),
        group_pool: Vec::new(),
        span_pool: Vec::new(),
        notes: Vec::new(),
    }
}
