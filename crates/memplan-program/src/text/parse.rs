//! Reads the text form. One pass over the tokens with an explicit stack of
//! open regions; names may be used before they are defined.
//!
//! ```text
//! external %w                              an item: memory from outside
//! func @main(%in) {                        an item: a function, with a region as its body
//!   alloc  alloc %x 64 align 16            an op: its name, then clauses with commas between them
//!   scf.for  loop 0.., label &a {          an op with a region
//!     ^head(%y):                           the label of a block
//!     work  read %x, await !t              `!t` is a token of asynchronous work
//!     goto ^head %x                        a branch, which ends the block
//!   }
//! }
//! ```
//!
//! (Two things are called tokens: the smallest pieces of the text, [`Token`], and what asynchronous work hands out,
//! [`TokenId`].)

use std::collections::{HashMap, HashSet};

use memplan_core::{Bytes, Id, Span, patience};

use super::lex::{Kind, Token, tokens};
use crate::{
    AccessKind, BlockId, ByteRange, Control, CopyRange, Extent, FunctionId, OpDraft, OpId, Origin, OverlayKind,
    Program, ProgramBuilder, ProgramError, Size, Target, TokenId, Trips, ValueId,
};

/// Why a text is not a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// Something else was expected here.
    #[error("expected {expected}")]
    Expected {
        /// What would have fitted.
        expected: &'static str,
        /// Where.
        span: Span,
    },
    /// A name that nothing defines.
    #[error("`{name}` is used but never defined")]
    Undefined {
        /// The name with its sigil.
        name: String,
        /// Where it is used first.
        span: Span,
    },
    /// A name with two definitions.
    #[error("`{name}` is defined twice")]
    DefinedTwice {
        /// The name with its sigil.
        name: String,
        /// Where it is defined again.
        span: Span,
    },
    /// The parts fit the grammar but make no program.
    #[error("{error}")]
    Malformed {
        /// Why not.
        error: ProgramError,
        /// Where, if one place is to blame.
        span: Option<Span>,
    },
}

impl ParseError {
    /// Where in the text, if one place is to blame.
    pub fn span(&self) -> Option<Span> {
        match self {
            ParseError::Expected { span, .. }
            | ParseError::Undefined { span, .. }
            | ParseError::DefinedTwice { span, .. } => Some(*span),
            ParseError::Malformed { span, .. } => *span,
        }
    }
}

/// Reads a program. The result has passed [`Program::check`].
pub fn parse(source: &str) -> Result<Program, ParseError> {
    let mut parser = Parser::new(source);
    parser.items()?;
    let views = parser.views;
    // The builder does not know where anything stands in the text. The parser remembers the place of each view, so that
    // a view that reaches past its base is reported there.
    parser.builder.finish().map_err(|error| {
        let span = match &error {
            ProgramError::ViewPastBase { value, .. } => views.iter().find(|(view, _)| view == value),
            _ => None,
        };
        ParseError::Malformed { span: span.map(|&(_, span)| span), error }
    })
}

/// What a name stands for. A name may be used before it is defined, but must be defined in the end.
struct Named<T> {
    /// The value, block or token of this name. It is made in the builder at the first mention.
    id: T,
    /// Where the name occurred first, for a message if it is never defined.
    first: Span,
    /// Whether its definition has been read.
    defined: bool,
}

/// A region whose closing brace has not been read yet.
struct OpenRegion {
    /// The op; `None` for a function body.
    op: Option<OpId>,
    /// Whether the current block has a way on (`leave`, `break`, `goto`), or says it has none (`stop`).
    ended: bool,
    /// The blocks of the region by name.
    blocks: HashMap<String, Named<BlockId>>,
    /// `after` clauses of the region's ops: the label of the op that comes first, where it is written, and the op that
    /// waits.
    dependencies: Vec<(String, Span, OpId)>,
}

/// A text that is being read, and what has been made of it so far.
struct Parser<'s> {
    /// The tokens of the text; the last one is its end.
    tokens: Vec<Token<'s>>,
    /// The token that is read next.
    at: usize,
    /// The program so far. It keeps track of which function, op, region and block are open, as this
    /// parser does, and reports what does not fit together when the program is finished.
    builder: ProgramBuilder,
    /// Values that are declared outside of functions, by name.
    globals: HashMap<String, ValueId>,
    /// The values of the current function by name.
    values: HashMap<String, Named<ValueId>>,
    /// Globals that the current function has used so far. It cannot define values of the same names any more: the
    /// uses before the definition would mean the global, and those behind it the value.
    used_globals: HashSet<String>,
    /// The tokens of asynchronous work in the current function, by name.
    awaited: HashMap<String, Named<TokenId>>,
    /// The ops of the current function that have a label.
    labels: HashMap<String, OpId>,
    /// Allocations that rotate with a loop: the value, the label of the loop and where it is written.
    rotations: Vec<(ValueId, String, Span)>,
    /// Every view and where its bytes are written, for errors about them.
    views: Vec<(ValueId, Span)>,
    /// The open regions, innermost last.
    open: Vec<OpenRegion>,
}

/// An op line while its clauses are read.
struct Line {
    /// The op as far as its clauses have been read.
    draft: OpDraft,
    /// The label that the op gets, and where it is written.
    label: Option<(String, Span)>,
    /// The labels of the ops that it waits for, and where they are written.
    after: Vec<(String, Span)>,
}

type Parsed<T> = Result<T, ParseError>;

impl<'s> Parser<'s> {
    /// A parser at the start of a text.
    fn new(source: &'s str) -> Parser<'s> {
        Parser {
            tokens: tokens(source),
            at: 0,
            builder: ProgramBuilder::new(),
            globals: HashMap::new(),
            values: HashMap::new(),
            used_globals: HashSet::new(),
            awaited: HashMap::new(),
            labels: HashMap::new(),
            rotations: Vec::new(),
            views: Vec::new(),
            open: Vec::new(),
        }
    }

    // Tokens

    /// The next token; at the end of the text, its end again and again.
    fn peek(&self) -> &Kind<'s> {
        &self.tokens[self.at.min(self.tokens.len() - 1)].kind
    }

    /// Where the next token stands.
    fn span(&self) -> Span {
        self.tokens[self.at.min(self.tokens.len() - 1)].span
    }

    /// Takes the next token.
    fn next(&mut self) -> Kind<'s> {
        let kind = self.peek().clone();
        self.at += 1;
        kind
    }

    /// An error at the next token: something else was expected there.
    fn expected<T>(&self, expected: &'static str) -> Parsed<T> {
        let span = self.span();
        Err(ParseError::Expected { expected, span })
    }

    /// Goes past a punctuation mark if it comes next; whether it did.
    fn eat(&mut self, mark: char) -> bool {
        let found = *self.peek() == Kind::Mark(mark);
        self.at += usize::from(found);
        found
    }

    /// Goes past a punctuation mark that must come next.
    fn mark(&mut self, mark: char, expected: &'static str) -> Parsed<()> {
        if self.eat(mark) {
            return Ok(());
        }
        self.expected(expected)
    }

    /// Goes past ends of lines.
    fn skip_newlines(&mut self) {
        while *self.peek() == Kind::Newline {
            self.at += 1;
        }
    }

    /// Goes past a word if it comes next, without quotes; whether it did.
    fn keyword(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Kind::Word(w) if w == word);
        self.at += usize::from(found);
        found
    }

    /// Reads a whole number.
    fn number(&mut self) -> Parsed<u64> {
        if let Kind::Word(word) = self.peek()
            && let Ok(number) = word.parse()
        {
            self.at += 1;
            return Ok(number);
        }
        self.expected("a number")
    }

    /// Reads a name with this sigil (a sign in front of it): `%value`, `^block`, `!token`, `@function`, `&label`.
    /// Returns the name without the sigil, and where it is written.
    fn sigil(&mut self, sigil: char, expected: &'static str) -> Parsed<(String, Span)> {
        let span = self.span();
        match self.peek() {
            Kind::Sigil(found, name) if *found == sigil => {
                let name = name.clone();
                self.at += 1;
                Ok((name, span))
            }
            _ => self.expected(expected),
        }
    }

    /// Reads a word, or a text in quotes.
    fn name(&mut self, expected: &'static str) -> Parsed<String> {
        match self.peek() {
            Kind::Word(_) | Kind::Quoted(_) => match self.next() {
                Kind::Word(word) => Ok(word.into_owned()),
                Kind::Quoted(word) => Ok(word),
                _ => self.expected(expected),
            },
            _ => self.expected(expected),
        }
    }

    // Names

    /// The value of this name: one of the function, else a global. A name that is met for the first
    /// time gets a new value, which counts as external memory until its definition is read and says
    /// what it is. `span` is the place of this use.
    fn mention(&mut self, name: String, span: Span) -> ValueId {
        if let Some(named) = self.values.get(&name) {
            return named.id;
        }
        // The function has no value of this name so far.
        if let Some(&global) = self.globals.get(&name) {
            self.used_globals.insert(name);
            return global;
        }
        let id = self.builder.external(&name);
        let first = span;
        self.values.insert(name, Named { id, first, defined: false });
        id
    }

    /// Reads a value that is used.
    fn value(&mut self) -> Parsed<ValueId> {
        let (name, span) = self.sigil('%', "a value such as %x")?;
        Ok(self.mention(name, span))
    }

    /// Reads a value at the place that defines it. An error if the function has defined the name already. If the name
    /// was only used so far, the value made at that use gets the definition. A value of the function may have the name
    /// of a global that the function has not used before, and then hides the global from here on.
    fn new_value(&mut self) -> Parsed<ValueId> {
        let (name, span) = self.sigil('%', "a value such as %x")?;
        if self.used_globals.contains(&name) {
            let name = format!("%{name}");
            return Err(ParseError::DefinedTwice { name, span });
        }
        // If the name was used before, the value from that use is taken; a global of the same name is not meant.
        let id = match self.values.contains_key(&name) {
            true => self.mention(name.clone(), span),
            false => self.builder.external(&name),
        };
        let first = span;
        let named = Named { id, first, defined: true };
        match self.values.insert(name.clone(), named) {
            Some(old) if old.defined => {
                let name = format!("%{name}");
                Err(ParseError::DefinedTwice { name, span })
            }
            _ => Ok(id),
        }
    }

    /// Reads a value at the place that defines it, and says what its memory is.
    fn defined_value(&mut self, origin: Origin) -> Parsed<ValueId> {
        let value = self.new_value()?;
        self.builder.set_origin(value, origin);
        Ok(value)
    }

    /// Reads a token of asynchronous work: `!t`. The op that starts the work defines it (`defines`), once; others
    /// await it, also before that in the text.
    fn token(&mut self, defines: bool) -> Parsed<TokenId> {
        let (name, span) = self.sigil('!', "a token such as !t")?;
        let builder = &mut self.builder;
        let named = self.awaited.entry(name.clone()).or_insert_with(|| Named {
            id: builder.token(&name),
            first: span,
            defined: false,
        });
        if defines && std::mem::replace(&mut named.defined, true) {
            let name = format!("!{name}");
            return Err(ParseError::DefinedTwice { name, span });
        }
        Ok(named.id)
    }

    /// The block of a name in the innermost region. Branches may name blocks that come later.
    fn block(&mut self, name: String, span: Span) -> BlockId {
        let builder = &mut self.builder;
        // Blocks are only named inside of regions, so a region is always open. The id is never used.
        let Some(region) = self.open.last_mut() else {
            return BlockId::from_index(0);
        };
        let named = region.blocks.entry(name).or_insert_with(|| Named {
            id: builder.add_block(&[]),
            first: span,
            defined: false,
        });
        named.id
    }

    // Items

    /// Reads the whole text: functions (`func`), memory from outside (`external %w`), and names of memory spaces
    /// (`space ub`).
    fn items(&mut self) -> Parsed<()> {
        loop {
            self.skip_newlines();
            if *self.peek() == Kind::End {
                return Ok(());
            } else if self.keyword("external") {
                let (name, span) = self.sigil('%', "a value such as %w")?;
                let id = self.builder.external(&name);
                if self.globals.insert(name.clone(), id).is_some() {
                    let name = format!("%{name}");
                    return Err(ParseError::DefinedTwice { name, span });
                }
            } else if self.keyword("space") {
                let name = self.name("the name of a memory space")?;
                self.builder.space(&name);
            } else if self.keyword("func") {
                self.function()?;
            } else {
                return self.expected("`func`, `external` or `space`");
            }
        }
    }

    /// Reads a function behind the word `func`: `@name(%a, %b) { … }`. Its parameters are external memory.
    fn function(&mut self) -> Parsed<()> {
        let (name, _) = self.sigil('@', "a function name such as @main")?;
        let mut parameters = Vec::new();
        self.mark('(', "`(` and the parameters")?;
        while !self.eat(')') {
            // Behind a parameter comes `,` or the end; a comma before `)` is accepted.
            parameters.push(self.defined_value(Origin::External)?);
            if *self.peek() != Kind::Mark(')') {
                self.mark(',', "`,` or `)`")?;
            }
        }
        let function: FunctionId = self.builder.open_function(&name, &parameters);
        if self.keyword("at") {
            let span = self.source_span()?;
            self.builder.set_function_span(function, span);
        }
        self.mark('{', "`{` and the body")?;
        self.push_region(None);
        self.body()?;
        self.end_function()
    }

    /// Ends a function behind its closing brace, and forgets its names: every name that was used
    /// must have been defined by now, and labels of loops are looked up. The error names the first
    /// undefined name of the text (pairs of a place and a name are compared by their place), so
    /// that it does not depend on the order of a hash table.
    fn end_function(&mut self) -> Parsed<()> {
        self.builder.close_function();
        self.used_globals.clear();
        // Names of values and tokens belong to one function, so both tables are emptied here.
        let mut undefined = Vec::new();
        for (sigil, names) in [
            ('%', self.values.drain().map(|(n, v)| (n, v.defined, v.first)).collect::<Vec<_>>()),
            ('!', self.awaited.drain().map(|(n, v)| (n, v.defined, v.first)).collect()),
        ] {
            let missing = names.into_iter().filter(|(_, defined, _)| !defined);
            undefined.extend(missing.map(|(name, _, first)| (first, format!("{sigil}{name}"))));
        }
        if let Some((span, name)) = undefined.into_iter().min() {
            return Err(ParseError::Undefined { name, span });
        }
        // The loop that rotates the slots of an allocation may stand before or behind it, so it is looked up last.
        for (value, label, span) in std::mem::take(&mut self.rotations) {
            let op = self.labelled(&label, span)?;
            if let Some(site) = self.builder.site_mut(value) {
                site.rotation = Some(op);
            }
        }
        self.labels.clear();
        Ok(())
    }

    /// The op with a label; an error if there is none. `span` is where the label is used.
    fn labelled(&self, label: &str, span: Span) -> Parsed<OpId> {
        self.labels.get(label).copied().ok_or_else(|| ParseError::Undefined { name: format!("&{label}"), span })
    }

    // Regions and blocks

    /// Notes that a region of this op (or a function body) is open.
    fn push_region(&mut self, op: Option<OpId>) {
        self.open.push(OpenRegion { op, ended: false, blocks: HashMap::new(), dependencies: Vec::new() });
    }

    /// Reads lines until the function's closing brace.
    fn body(&mut self) -> Parsed<()> {
        while !self.open.is_empty() {
            // If the time limit has passed or the user has interrupted, reading ends with some error. The caller has
            // stopped waiting and throws the error away.
            if patience::is_over() {
                return self.expected("more patience");
            }
            self.skip_newlines();
            if self.eat('}') {
                self.close_brace()?;
            } else {
                self.line()?;
            }
        }
        Ok(())
    }

    /// Closes the innermost region behind its `}`, and its op unless another region follows.
    fn close_brace(&mut self) -> Parsed<()> {
        let Some(region) = self.open.pop() else {
            return self.expected("no `}`");
        };
        // If the last block has no branch, it leaves the region with no values.
        if !region.ended {
            self.builder.leave(&[]);
        }
        // A block may be named before it is written. Now that the region is over, all must be there. `min` names the
        // first one in the text, so that the error does not depend on the order of a hash table.
        let missing = region.blocks.into_iter().filter(|(_, block)| !block.defined);
        if let Some((span, name)) = missing.map(|(name, b)| (b.first, name)).min() {
            let name = format!("^{name}");
            return Err(ParseError::Undefined { name, span });
        }
        // The ops of a `dag` run in any order that their dependencies (`after`) allow. A function
        // body has no op around it and is none.
        let is_dag = region.op.is_some_and(|op| matches!(self.builder.program().op(op).control(), Control::Dag { .. }));
        // Elsewhere ops run in their order, and `after` would say nothing.
        if let Some((_, span, _)) = region.dependencies.first().filter(|_| !is_dag) {
            return Err(ParseError::Expected { expected: "`after` only in the region of a `dag`", span: *span });
        }
        // The brace has ended a function body; `end_function` does the rest.
        let Some(op) = region.op else {
            return Ok(());
        };
        self.builder.close_region();
        // Labels may be used before they are given, so dependencies are resolved at the end.
        if is_dag {
            let mut dependencies = Vec::new();
            for (label, span, after) in region.dependencies {
                dependencies.push((self.labelled(&label, span)?, after));
            }
            let dependencies = dependencies.into();
            self.builder.set_control(op, Control::Dag { dependencies });
        }
        // `} {` opens the next region of the same op.
        if *self.peek() == Kind::Mark('{') {
            return self.open_brace(op);
        }
        self.builder.close_op();
        self.end_of_line()
    }

    /// Reads `{` and the arguments of the region: `{ (%a, %b)`.
    fn open_brace(&mut self, op: OpId) -> Parsed<()> {
        self.mark('{', "`{`")?;
        let arguments = self.arguments()?;
        self.builder.open_region(&arguments);
        self.push_region(Some(op));
        Ok(())
    }

    /// Reads the arguments of a block and defines them: `(%a, %b = opaque %x | %y, %c = external)`, or nothing.
    fn arguments(&mut self) -> Parsed<Vec<ValueId>> {
        let mut arguments = Vec::new();
        if !self.eat('(') {
            return Ok(arguments);
        }
        while !self.eat(')') {
            let value = self.new_value()?;
            // Without more, an argument is whatever comes in along the branches.
            let mut origin = Origin::Incoming;
            if self.eat('=') {
                origin = if self.keyword("external") {
                    Origin::External
                } else if self.keyword("opaque") {
                    Origin::Opaque(self.alternatives_of()?)
                } else {
                    return self.expected("`opaque` or `external`");
                };
            }
            self.builder.set_origin(value, origin);
            arguments.push(value);
            if *self.peek() != Kind::Mark(')') {
                self.mark(',', "`,` or `)`")?;
            }
        }
        Ok(arguments)
    }

    /// Reads one line of a region: a label (`^next:`), a branch that ends the block, or an op. `leave` goes out of the
    /// region by its end, `break` out of the loop around it, `goto ^next` to another block. `stop` says that the block
    /// never ends, so it has no branch.
    fn line(&mut self) -> Parsed<()> {
        if let Kind::Sigil('^', _) = self.peek() {
            return self.block_label();
        }
        let target = if self.keyword("leave") {
            Some(Target::Leave)
        } else if self.keyword("break") {
            Some(Target::Break)
        } else if self.keyword("goto") {
            let (name, span) = self.sigil('^', "a block such as ^next")?;
            Some(Target::Block(self.block(name, span)))
        } else {
            None
        };
        // A branch ends its block. Only further branches, another block or the end of the region may follow.
        if let Some(target) = target {
            let values = self.value_list()?;
            self.builder.branch(target, &values);
            self.mark_ended();
            return self.end_of_line();
        }
        if self.keyword("stop") {
            self.mark_ended();
            return self.end_of_line();
        }
        if self.open.last().is_some_and(|region| region.ended) {
            return self.expected("`}` or another block after the end of this one");
        }
        self.op()
    }

    /// Notes that the current block has its way on.
    fn mark_ended(&mut self) {
        if let Some(region) = self.open.last_mut() {
            region.ended = true;
        }
    }

    /// Reads `^name(%a, %b):` and starts the block of that name. If the block before it has no branch, that block
    /// leaves the region with no values. The builder has made the region's first block when the region was opened, so a
    /// label in front of everything else names the first block.
    fn block_label(&mut self) -> Parsed<()> {
        let (name, span) = self.sigil('^', "a block label")?;
        // The block that the label names is the current one, or a new one.
        let entry = self.entry_without_name();
        if !entry && !self.open.last().is_some_and(|region| region.ended) {
            self.builder.leave(&[]);
        }
        let block = match self.builder.current_block() {
            Some(current) if entry => current,
            _ => self.block(name.clone(), span),
        };
        // The name may be known from a branch, but not from another label of this region.
        if let Some(region) = self.open.last_mut() {
            let named = Named { id: block, first: span, defined: true };
            if region.blocks.insert(name.clone(), named).is_some_and(|old| old.defined) {
                let name = format!("^{name}");
                return Err(ParseError::DefinedTwice { name, span });
            }
            region.ended = false;
        }
        self.builder.start_block(block);
        let arguments = self.arguments()?;
        self.builder.add_arguments(block, &arguments);
        self.mark(':', "`:` after the block's label")
    }

    /// Whether the current block is the region's first one and nothing has been read in it: no op, no branch, no
    /// label. A label that comes now names it.
    fn entry_without_name(&self) -> bool {
        let Some(block) = self.builder.current_block() else {
            return false;
        };
        let program = self.builder.program();
        let region = &program.regions()[program.block(block).region];
        let fresh = self.open.last().is_some_and(|r| r.blocks.is_empty() && !r.ended);
        region.blocks.len() == 1 && program.block(block).ops.is_empty() && fresh
    }

    /// Reads values with commas between them.
    fn value_list(&mut self) -> Parsed<Vec<ValueId>> {
        let mut values = Vec::new();
        while let Kind::Sigil('%', _) = self.peek() {
            values.push(self.value()?);
            if !self.eat(',') {
                break;
            }
        }
        Ok(values)
    }

    /// An error unless the line is over. A closing brace may stand on the same line; nothing is read here.
    fn end_of_line(&mut self) -> Parsed<()> {
        match self.peek() {
            Kind::Newline | Kind::End | Kind::Mark('}') => Ok(()),
            _ => self.expected("the end of the line"),
        }
    }

    // Ops

    /// Reads an op: its name, and clauses such as `read %x` separated by commas; up to the brace of its first region
    /// if it has regions, else up to the end of the line.
    fn op(&mut self) -> Parsed<()> {
        let name = self.name("an op, `leave`, `goto`, `break`, `stop` or `}`")?;
        let mut line = Line { draft: OpDraft::new(&*name), label: None, after: Vec::new() };
        // A name without clauses is an op that touches no memory.
        let bare = matches!(self.peek(), Kind::Newline | Kind::End | Kind::Mark('{' | '}'));
        if !bare {
            self.clause(&mut line)?;
            while self.eat(',') {
                self.skip_newlines();
                self.clause(&mut line)?;
            }
        }
        // An op with regions stays open in the builder until its last brace.
        let has_regions = *self.peek() == Kind::Mark('{');
        let op = match has_regions {
            true => self.builder.open_op(line.draft),
            false => self.builder.push(line.draft),
        };
        if let Some(label) = line.label {
            let (name, span) = label;
            if self.labels.insert(name.clone(), op).is_some() {
                return Err(ParseError::DefinedTwice { name: format!("&{name}"), span });
            }
        }
        // Labels may come later in the text, so the dependencies are resolved when the region is closed.
        if let Some(region) = self.open.last_mut() {
            let after = line.after.into_iter();
            region.dependencies.extend(after.map(|(label, span)| (label, span, op)));
        }
        match has_regions {
            true => self.open_brace(op),
            false => self.end_of_line(),
        }
    }

    /// Reads one clause of an op, such as `read %x` or `loop 8`, into the line.
    ///
    /// What a clause says about the op:
    /// - `read`, `write`, `update`, `free`, `escape`: what it does to a value. It uses the content;
    ///   overwrites every byte; changes any part; ends the value's life; hands its address to
    ///   unknown code.
    /// - `alloc`, `external`, `result`, `view`, `merge`, `opaque`: a value that it defines, and
    ///   which memory that is. It is fresh; from outside; what the op's regions hand out; a part of
    ///   another value; one of several values; one of several values or from outside.
    /// - `init`: a value that it hands into its regions.
    /// - `overlay`, `copy`: an output that may lie on an input; bytes that it merely copies.
    /// - `pipe`, `await`: the execution unit it runs on; asynchronous work that it waits for (with
    ///   `every` all work of the token, else the last).
    /// - `scope`: each time the op runs, the buffers inside of it are others.
    /// - `at`, `label`, `after`: its place in a source; a name for it; the ops of a `dag` that it
    ///   waits for.
    ///
    /// Any other word says how its regions run (`control`).
    fn clause(&mut self, line: &mut Line) -> Parsed<()> {
        let Kind::Word(word) = self.peek().clone() else {
            return self.expected("a clause such as `read %x`");
        };
        self.at += 1;
        // The draft is built up by value; it is taken out and put back.
        let draft = std::mem::take(&mut line.draft);
        line.draft = match &*word {
            "read" => draft.access(self.value()?, AccessKind::Read),
            "write" => draft.access(self.value()?, AccessKind::Write),
            "update" => draft.access(self.value()?, AccessKind::Update),
            "free" => draft.access(self.value()?, AccessKind::Free),
            "escape" => draft.access(self.value()?, AccessKind::Escape),
            "alloc" => draft.result(self.alloc()?),
            "external" => draft.result(self.defined_value(Origin::External)?),
            "result" => draft.result(self.defined_value(Origin::Incoming)?),
            "view" => draft.result(self.view()?),
            "merge" | "opaque" => draft.result(self.choice(&word)?),
            "init" => draft.inits(&[self.value()?]),
            "overlay" => self.overlay(draft)?,
            "copy" => draft.copies(self.copy()?),
            "pipe" => {
                let name = self.name("the name of a pipe")?;
                draft.pipe(self.builder.pipe(&name))
            }
            "await" if self.keyword("every") => draft.awaits_every(self.token(false)?),
            "await" => draft.awaits(self.token(false)?),
            "scope" => draft.scope(),
            "at" => draft.span(self.source_span()?),
            "label" if line.label.is_some() => {
                self.at -= 1;
                return self.expected("one label for each op");
            }
            "label" => {
                line.label = Some(self.sigil('&', "a label such as &a")?);
                draft
            }
            "after" => {
                while let Kind::Sigil('&', _) = self.peek() {
                    line.after.push(self.sigil('&', "a label")?);
                }
                draft
            }
            word => match self.control(word)? {
                Some(control) => draft.control(control),
                // The word is no clause. The cursor goes back to it, so that the error points there.
                None => {
                    self.at -= 1;
                    return self.expected("a clause such as `read %x`");
                }
            },
        };
        Ok(())
    }

    /// Reads how the regions of an op run, behind the clause's first word; `None` if the word says
    /// nothing about that. They run one after the other (`once`), again and again (`loop`, and
    /// `while`, which only a `break` ends), one of them (`alternatives`, or none with `may-skip`),
    /// for all iterations side by side (`parallel`), beside the code that follows (`async`), as a
    /// set of ops with dependencies (`dag`), or nobody knows how (`unknown`). The dependencies of a
    /// `dag` follow when its region is closed.
    fn control(&mut self, word: &str) -> Parsed<Option<Control>> {
        Ok(Some(match word {
            "once" => Control::Once,
            "loop" => Control::Loop(self.trips()?),
            "while" => Control::While,
            "alternatives" => Control::Alternatives { may_skip: self.keyword("may-skip") },
            "parallel" => Control::Parallel { trips: self.dimensions()? },
            "async" => Control::Async { token: self.token(true)? },
            "dag" => Control::Dag { dependencies: Box::default() },
            "unknown" => Control::Unknown,
            _ => return Ok(None),
        }))
    }

    /// Reads how often a loop runs: `4` (exactly), `1..` (at least) or `1..8` (between the two, both included).
    fn trips(&mut self) -> Parsed<Trips> {
        let at_least = self.number()?;
        // The lexer makes one mark, `.`, of the two dots.
        if !self.eat('.') {
            return Ok(Trips::exactly(at_least));
        }
        let span = self.span();
        // Behind the two dots there may be a number, or nothing: no upper limit.
        let at_most = matches!(self.peek(), Kind::Word(_)).then(|| self.number());
        let at_most = at_most.transpose()?;
        let trips = Trips { at_least, at_most };
        // The check of the whole program would find this, too, but it does not know the place.
        match trips.contradiction() {
            Some(error) => Err(ParseError::Malformed { error, span: Some(span) }),
            None => Ok(trips),
        }
    }

    /// Reads the numbers of iterations of a parallel loop, `4 ? 8`: for each dimension a number, or `?` if it is not
    /// known.
    fn dimensions(&mut self) -> Parsed<Box<[Option<u64>]>> {
        let mut trips = Vec::new();
        loop {
            if self.eat('?') {
                trips.push(None);
            } else if matches!(self.peek(), Kind::Word(_)) {
                trips.push(Some(self.number()?));
            } else {
                return Ok(trips.into());
            }
        }
    }

    /// Reads a fresh buffer, `%x 64 align 16 space ub slots 2 rotate &loop exclusive preload
    /// coupled 7`: a value, its size and any of the attributes behind it. They say what its address
    /// is a multiple of, the memory it is in, how many copies it has (`slots`) and which loop uses
    /// them in rotation, that it shares bytes with nobody, that it is filled ahead for the next
    /// iterations, and that buffers of the same number lie at the same offset.
    fn alloc(&mut self) -> Parsed<ValueId> {
        let value = self.new_value()?;
        let size = self.size()?;
        let (mut space, mut alignment, mut slots) = (None, Bytes(1), 1);
        let (mut exclusive, mut preload, mut coupled) = (false, false, None);
        // Attributes may stand in any order. The loop that rotates the slots is looked up by its
        // label when the function is over (`end_function`).
        loop {
            if self.keyword("align") {
                alignment = Bytes(self.number()?);
            } else if self.keyword("space") {
                let name = self.name("the name of a memory space")?;
                space = Some(self.builder.space(&name));
            } else if self.keyword("slots") {
                let Ok(count) = u32::try_from(self.number()?) else {
                    return self.expected("fewer than 2^32 slots");
                };
                slots = count;
            } else if self.keyword("rotate") {
                let (label, span) = self.sigil('&', "a label such as &loop")?;
                self.rotations.push((value, label, span));
            } else if self.keyword("exclusive") {
                exclusive = true;
            } else if self.keyword("preload") {
                preload = true;
            } else if self.keyword("coupled") {
                coupled = Some(self.number()?);
            } else {
                break;
            }
        }
        let space = space.unwrap_or_else(|| self.builder.space("default"));
        self.builder.make_site(value, size, space);
        if let Some(site) = self.builder.site_mut(value) {
            site.alignment = alignment;
            site.slots = slots;
            site.exclusive = exclusive;
            site.preload = preload;
            site.coupled = coupled;
        }
        Ok(value)
    }

    /// Reads a size: `64` bytes, or a symbol with an optional bound, `4*n max 4096`.
    fn size(&mut self) -> Parsed<Size> {
        if let Kind::Word(word) = self.peek()
            && let Ok(bytes) = word.parse()
        {
            self.at += 1;
            return Ok(Size::Known(Bytes(bytes)));
        }
        // What is no number is a symbol; a symbol that looks like a number stands in quotes.
        let symbol = self.name("a size in bytes, or a symbol")?.into();
        let bound = self.keyword("max").then(|| self.number()).transpose()?;
        let bound = bound.map(Bytes);
        Ok(Size::Symbolic { symbol, bound })
    }

    /// Reads a view behind the word `view`. Which bytes of the base `%x` the view consists of stands in brackets:
    ///
    /// | text | bytes | [`Extent`] |
    /// |---|---|---|
    /// | `%v = %x[0..16]` | exactly the bytes 0 to 15 of `%x` | `Exactly` |
    /// | `%v = %x[within 0..16]` | some of the bytes 0 to 15, such as a column of a matrix | `Within` |
    /// | `%v = %x[?]` | some bytes of `%x`; it is not known which | `Anywhere` |
    ///
    /// The place of the base and its brackets is remembered, for a message if the view reaches past its base.
    fn view(&mut self) -> Parsed<ValueId> {
        let value = self.new_value()?;
        self.mark('=', "`=` and the base of the view")?;
        let start = self.span().start;
        let base = self.value()?;
        self.mark('[', "`[` and the bytes of the view")?;
        let extent = if self.eat('?') {
            Extent::Anywhere
        } else if self.keyword("within") {
            Extent::Within(self.range()?)
        } else {
            Extent::Exactly(self.range()?)
        };
        let end = self.span().end;
        self.mark(']', "`]`")?;
        self.views.push((value, Span { start, end }));
        self.builder.set_origin(value, Origin::Derived { base, extent });
        Ok(value)
    }

    /// Reads a range of bytes, half-open: `0..16` are the bytes 0 to 15. (The lexer makes one mark, `.`, of the two
    /// dots.)
    fn range(&mut self) -> Parsed<ByteRange> {
        let start = self.number()?;
        self.mark('.', "`..` between the first byte and the end, which is one past the last byte")?;
        Ok(ByteRange::new(start, self.number()?))
    }

    /// Reads `%m = %x | %y`: a value that is one of several others (`word` is `merge`), or one of them or external
    /// memory (`opaque`).
    fn choice(&mut self, word: &str) -> Parsed<ValueId> {
        let value = self.new_value()?;
        // Without `=` there are no sources: `opaque %m` is external memory.
        let mut sources = Box::default();
        if self.eat('=') {
            sources = self.alternatives_of()?;
        }
        let origin = match word {
            "merge" => Origin::Merged(sources),
            _ => Origin::Opaque(sources),
        };
        self.builder.set_origin(value, origin);
        Ok(value)
    }

    /// Reads `%x | %y`, or nothing.
    fn alternatives_of(&mut self) -> Parsed<Box<[ValueId]>> {
        let mut sources = Vec::new();
        if let Kind::Sigil('%', _) = self.peek() {
            sources.push(self.value()?);
            while self.eat('|') {
                sources.push(self.value()?);
            }
        }
        Ok(sources.into())
    }

    /// Reads `%out over %in`, or `%out over %in any` where the output may lie at any offset, into the op.
    fn overlay(&mut self, draft: OpDraft) -> Parsed<OpDraft> {
        let output = self.value()?;
        if !self.keyword("over") {
            return self.expected("`over` and the input");
        }
        let input = self.value()?;
        let kind = match self.keyword("any") {
            true => OverlayKind::AnyOffset,
            false => OverlayKind::SameBase,
        };
        Ok(draft.overlay(output, input, kind))
    }

    /// Reads `%out[16..32] from %in[0..16]`: bytes that the op merely copies.
    fn copy(&mut self) -> Parsed<CopyRange> {
        let output = self.value()?;
        let to = self.bracketed_range()?;
        if !self.keyword("from") {
            return self.expected("`from` and the copied bytes");
        }
        let input = self.value()?;
        let from = self.bracketed_range()?;
        // A copy of nothing is taken for a mistake, and so are ranges of different lengths. (The
        // length of a range that ends before it starts is 0, and such a range is empty.)
        if to.is_empty() || to.len() != from.len() || to.start > to.end {
            return self.expected("two ranges of the same length");
        }
        Ok(CopyRange { output, output_start: to.start, input, input_start: from.start, length: to.len() })
    }

    /// Reads `[0..16]`.
    fn bracketed_range(&mut self) -> Parsed<ByteRange> {
        self.mark('[', "`[` and a byte range")?;
        let range = self.range()?;
        self.mark(']', "`]`")?;
        Ok(range)
    }

    /// Reads a place in the source, in bytes: `3..99`.
    fn source_span(&mut self) -> Parsed<Span> {
        let start = self.number()?;
        self.mark('.', "`..` between start and end")?;
        let end = self.number()?;
        // `Span::new` clamps further, to 32 bits.
        let clamp = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        Ok(Span::new(clamp(start), clamp(end)))
    }
}
