//! Custom forms: one scanner for all of them.
//!
//! From the op's name on, tokens are looked at one by one:
//!
//! ```text
//! scf.for %i = %lo to %hi step %s iter_args(%a = %init) -> (f32) : i32 {
//!         |    |                            |    |         |       |   region
//!         |    operands, in order           |    operand   types outside brackets
//!         argument of the region (`=`)      argument of the region
//! ```
//!
//! The op ends (outside brackets) at `}`, at the end of the text, and in front
//! of what can only begin another op: a line that starts with `%x =`, with
//! `"name"(`, with a dotted word, with a word known to be an op, or with a block
//! label. Behind `,`, `:`, `=` and `->` an op always goes on.
//!
//! The *form* of an op is its text in its dialect's own syntax. An *unknown form* is that of an op without a row in the
//! tables ([`Header::Unknown`]): nobody says which of its names are operands and which it defines for its region.
//!
//! A row says where the form of its op names the arguments of its region ([`Header`]):
//!
//! | `Header` | where |
//! |---|---|
//! | `Plain` | not in the form, but in the label of the region's first block |
//! | `Assigned` | in front of `=`: `%i = %lo to %hi`, `iter_args(%a = %init)` |
//! | `Indices` | in the first parentheses, `scf.forall (%i, %j) in (…)`, and in front of `=` |
//! | `Launch` | `gpu.launch blocks(%bx) in (%gx = …) threads(%tx) in (%sx = …)` |
//! | `Renamed` | behind `as`: `async.execute (%value as %argument: type)` |
//! | `Typed` | in parentheses without a keyword in front: `(%in: f32, %out: f32) {` |
//! | `Function` | in the signature of a function |
//! | `Unknown` | anywhere: any name that is not defined elsewhere |
//!
//! In an unknown form a name that seems to be an argument of the region may be an operand all the same. A value of this
//! name outside of the op is then an operand, too, whether it is defined in front of the op or further down
//! ([`Use::doubtful`]). If it is no operand in truth, its buffer only lives longer than it has to.
//!
//! The *frame* of an op (`OpFrame`; not the frame of the glossary) is the reader's record of an op that is being read.
//! The parts of the op lie on the reader's *side stacks*: `self.uses` holds the values it uses, `self.type_spans` its
//! types, and so on, and `frame.uses` says where those of this op begin.

use super::*;
use crate::dialect::{Header, OpInfo};
use crate::ty;

/// How far a custom form has been read.
#[derive(Default)]
pub(super) struct Progress {
    /// Whether a `:` or `->` outside brackets has been read: words may be types.
    pub(super) types: bool,
    /// Index into the op's types of the first one behind the last `->`.
    pub(super) arrow: Option<usize>,
    /// How many regions have been read.
    pub(super) regions: u32,
    /// Whether a `)` or `]` has been read. With [`Header::Indices`] only the first list of the form names loop indices.
    closed: bool,
    /// Whether the form says `async`.
    pub(super) asynchronous: bool,
    /// Whether the signature of a function has been read.
    signature: bool,
    /// The whole type behind a `:`, arrow included.
    pub(super) function_type: Span,
    /// In an unknown form, how many of the op's uses were found to be values that are defined outside of the op. They
    /// stand in front of the last region; uses behind them are still undecided.
    settled: usize,
    /// What only an unknown form with regions has. It is made on first use, so that the progress of all other ops, which
    /// is moved twice for each op, stays small.
    unknown: Option<Box<UnknownNames>>,
}

/// Names of an unknown form that may be arguments of its regions.
#[derive(Default)]
struct UnknownNames {
    /// The arguments that the form gave to the region before.
    adopted: Vec<EntryArgument>,
    /// Names that became arguments of a region, each once. The form may also mean values outside by them.
    doubtful: Vec<Use>,
}

impl<'s> Reader<'s> {
    /// Reads a custom form on until the op ends or a region begins.
    pub(super) fn step_custom(&mut self, frame: &mut OpFrame) -> Result<Step> {
        // The progress is taken out of the frame while it changes, because the frame is lent at the same time.
        let State::Custom(mut progress) = std::mem::replace(&mut frame.state, State::Custom(Progress::default()))
        else {
            return Ok(Step::Done);
        };
        let step = self.scan(frame, &mut progress)?;
        frame.state = State::Custom(progress);
        Ok(step)
    }

    /// What the tables say about the op.
    pub(super) fn info(&self, frame: &OpFrame) -> &OpInfo {
        &self.document.names[frame.name].info
    }

    /// How many brackets of the op are open.
    pub(super) fn depth(&self, frame: &OpFrame) -> usize {
        self.brackets.len() - frame.brackets
    }

    /// Reads on until the op ends or a region begins; what was found is in `frame` and `progress`.
    fn scan(&mut self, frame: &mut OpFrame, progress: &mut Progress) -> Result<Step> {
        loop {
            // Only outside of brackets can the op end or name its types. Inside, the same tokens are part of an
            // attribute or a group.
            let outside = self.depth(frame) == 0;
            if outside && self.ends_op(frame) {
                return Ok(Step::Done);
            }
            match self.token.kind {
                // A closing bracket that fits an open one of this op is handled first; any other `}` ends the region
                // around the op.
                TokenKind::RBrace | TokenKind::Greater if self.closes_group(frame) => self.close_bracket(frame)?,
                TokenKind::Eof | TokenKind::RBrace => return Err(self.open_bracket_error()),
                TokenKind::Unterminated => return Err(self.unexpected("the op to go on")),
                // Values and blocks: operands, arguments of the region to come, branch targets.
                TokenKind::Percent => self.scan_value(frame, progress)?,
                TokenKind::Caret => self.scan_successor(frame)?,
                TokenKind::LParen | TokenKind::LBracket => {
                    if !self.scan_signature(frame, progress)? {
                        self.open_bracket(frame);
                    }
                }
                TokenKind::RParen | TokenKind::RBracket => {
                    self.close_bracket(frame)?;
                    progress.closed = true;
                }
                TokenKind::LBrace => {
                    // A `{` may begin a region or a dictionary. The op's row and the next token decide.
                    if self.is_region(frame, progress) {
                        self.adopt_unknown_names(frame, progress);
                        progress.regions += 1;
                        return Ok(Step::Enter);
                    }
                    self.scan_braces(frame)?;
                }
                // `<…>` belongs to an attribute.
                TokenKind::Less => {
                    self.skip_or_open(frame)?;
                }
                TokenKind::Colon | TokenKind::Arrow | TokenKind::FatArrow if outside => {
                    self.scan_types(frame, progress)?;
                }
                // Words, types (`!acme.type`), and symbols.
                TokenKind::BareId | TokenKind::Bang => self.scan_word(frame, progress, outside)?,
                // The first symbol (`@f`) is the op's own name or its callee; later ones are attributes.
                TokenKind::At => {
                    let symbol = self.token.span();
                    self.document.rare_mut(frame.op).symbol.get_or_insert(symbol);
                    self.advance();
                }
                _ => self.advance(),
            }
        }
    }

    /// The error for a `}` or the end of the text where a bracket of the op, or the op itself, should go on.
    fn open_bracket_error(&self) -> TextError {
        match self.brackets.last() {
            Some(bracket) => self.unbalanced(Unbalanced { open: bracket.open.start(), at: self.token.start() }),
            None => self.unexpected("an op"),
        }
    }

    // Where an op ends.

    /// Whether the op ends in front of the current token, which stands outside of the op's brackets.
    fn ends_op(&self, frame: &OpFrame) -> bool {
        match self.token.kind {
            TokenKind::Eof | TokenKind::RBrace => return true,
            _ => {}
        }
        let goes_on = matches!(
            self.previous.kind,
            TokenKind::Comma | TokenKind::Equal | TokenKind::Colon | TokenKind::Arrow | TokenKind::FatArrow
        );
        // Behind one of these tokens an operand, a value or a type is still missing, so the op is never complete.
        if goes_on {
            return false;
        }
        // What begins another op: `%x = …`, `"name"(…)`, a word. If the token is not the first on its line, less is
        // accepted, because the same tokens may be part of this op. A label (`^bb:`), an alias (`#a = …`, `!t = …`) or
        // a block of resources ends an op, too.
        let new_line = self.token.first_on_line;
        match self.token.kind {
            TokenKind::Percent => self.begins_op_here(frame, new_line) && self.at_results(),
            TokenKind::String => (new_line || self.info(frame).known) && self.lexer.peek() == TokenKind::LParen,
            TokenKind::BareId => self.word_begins_op(frame, new_line),
            TokenKind::Caret => new_line && self.at_label(),
            TokenKind::Hash | TokenKind::Bang => new_line && self.lexer.peek() == TokenKind::Equal,
            TokenKind::Resources => true,
            _ => false,
        }
    }

    /// Whether `%x =` at the current token would be an op's result rather than an argument that this op's form
    /// defines for its region. At the start of a line it is a result; on the same line it is one if the form defines
    /// no arguments in this way.
    fn begins_op_here(&self, frame: &OpFrame, new_line: bool) -> bool {
        new_line || matches!(self.info(frame).header, Header::Plain | Header::Function)
    }

    /// Whether a list of results, `%a, %b:2 =`, and the name of an op stand at the current token. In
    /// `omp.atomic.write %to = %value` a value stands behind `=` and no name of an op, so `%to` is no result. The end
    /// of the text behind `=` counts as a name: then the error is reported where the next op should stand.
    fn at_results(&self) -> bool {
        // Nearly every result is alone in front of its `=`, and then no token need be made.
        if self.lexer.assigns_plainly() {
            return true;
        }
        // A copy of the lexer reads on, so the reader stays where it is.
        let behind = self.lexer.may_assign().then(|| behind_results(self.lexer)).flatten();
        behind.is_some_and(|behind| matches!(behind.peek(), TokenKind::BareId | TokenKind::String | TokenKind::Eof))
    }

    /// Whether the word at the current token begins another op.
    fn word_begins_op(&self, frame: &OpFrame, new_line: bool) -> bool {
        let word = self.text(self.token.span());
        if new_line {
            return has_dot(word) || undotted(word).is_some() || self.short_name_begins_op(frame, word);
        }
        // Two ops on one line: only a word that is surely an op ends this one.
        let surely = word == "return" || (has_dot(word) && self.dialects.has_dialect(word));
        surely && self.info(frame).known
    }

    /// Whether a word without a dialect, first on its line, begins another op. Inside an op of which nothing is
    /// known, ops may leave out their dialect. Then a word counts as an op if it stands in the same column as the op
    /// before it, is no type, and is none of the words between regions (`case 2 {`, `else {`).
    fn short_name_begins_op(&self, frame: &OpFrame, word: &str) -> bool {
        let parent = self.document.parent_op(frame.op);
        if parent.is_none_or(|parent| self.document.info(parent).known) || self.at_type() {
            return false;
        }
        // Both this op and the word must be the first of their lines.
        let op = self.document.ops[frame.op].span.start as usize;
        let same_column = self.indent(op).is_some() && self.indent(op) == self.indent(self.token.start());
        let joins = matches!(word, "else" | "case" | "default" | "do" | "while" | "attributes" | "loc");
        same_column && !joins && self.lexer.peek() != TokenKind::LBrace
    }

    /// The column of the token at a position if it is the first of its line; `None` if something stands before it on
    /// the line.
    fn indent(&self, at: usize) -> Option<usize> {
        let before = self.source.get(..at)?;
        let blanks = before.len() - before.trim_end_matches([' ', '\t']).len();
        let first = before.len() == blanks || before[..before.len() - blanks].ends_with('\n');
        first.then_some(blanks)
    }

    /// Whether `^name:` or `^name(…):` stands here.
    fn at_label(&self) -> bool {
        let mut ahead = self.lexer;
        let mut token = ahead.next();
        if token.kind == TokenKind::LParen {
            if ahead.skip_group(token.start()).is_err() {
                return false;
            }
            token = ahead.next();
        }
        token.kind == TokenKind::Colon
    }

    // Values.

    /// Reads a value in a custom form: an argument of the region to come, or an operand.
    fn scan_value(&mut self, frame: &OpFrame, progress: &Progress) -> Result<()> {
        if self.defines_argument(frame, progress) {
            return self.scan_argument(frame);
        }
        let before = self.previous;
        let mut one = self.read_use()?;
        // `symbol(%s)` in an affine subscript marks a symbol of the map: then the innermost open bracket is that of
        // `symbol(…)`.
        let symbol = |bracket: &Bracket| self.text(bracket.keyword) == "symbol";
        one.symbol = self.brackets[frame.brackets..].last().is_some_and(symbol);
        if self.info(frame).header == Header::Unknown {
            self.scan_binding(frame, &mut one, before)?;
        }
        self.uses.push(one);
        Ok(())
    }

    /// In an unknown form, reads the type behind a name in brackets, and notes names that the form seems to bind for
    /// its region: `%x as %y: type`, `= (%x: type, %y: type) {`. Whether there is a region is not known yet. `before`
    /// is the token in front of the name.
    fn scan_binding(&mut self, frame: &OpFrame, one: &mut Use, before: Token) -> Result<()> {
        let Some(&bracket) = self.brackets[frame.brackets..].last() else { return Ok(()) };
        let renamed = before.kind == TokenKind::BareId && self.text(before.span()) == "as";
        // In `(%a, %b : i32, f32)` the types do not stand behind their names. So a type belongs to its name only if the
        // name is the first of the list, or if the name before had a type.
        let first = self.uses.len() == bracket.uses;
        let each_typed = first || renamed || self.uses.last().is_some_and(|last| last.ty != Span::default());
        if !each_typed || !self.at(TokenKind::Colon) {
            return Ok(());
        }
        self.advance();
        if self.at_type() {
            one.ty = self.skip_type()?;
        }
        one.bound = renamed || (bracket.after == TokenKind::Equal && bracket.open.kind == TokenKind::LParen);
        Ok(())
    }

    /// Whether the name at the current token is an argument of the op's region. Where a form defines them is what
    /// [`Header`] says in the op's row.
    fn defines_argument(&self, frame: &OpFrame, progress: &Progress) -> bool {
        let header = self.info(frame).header;
        if matches!(header, Header::Plain | Header::Function) {
            return false;
        }
        let bracket = self.brackets[frame.brackets..].last();
        // Names in `{…}` and `<…>` are operands.
        if bracket.is_some_and(|bracket| bracket.holds_names) {
            return false;
        }
        let keyword = bracket.map_or("", |bracket| self.text(bracket.keyword));
        match header {
            Header::Renamed => self.previous.kind == TokenKind::BareId && self.text(self.previous.span()) == "as",
            Header::Typed => bracket.is_some() && keyword.is_empty(),
            Header::Launch => {
                matches!(keyword, "blocks" | "threads" | "clusters" | "workgroup" | "private") || self.is_assigned()
            }
            Header::Indices => (!progress.closed && bracket.is_some()) || self.is_assigned(),
            _ => self.is_assigned(),
        }
    }

    /// Whether `=` follows the name at the current token; the location of the name may stand between:
    /// `%a loc(…) = %init`.
    fn is_assigned(&self) -> bool {
        let mut ahead = self.lexer;
        let token = ahead.next();
        if token.kind != TokenKind::BareId || self.text(token.span()) != "loc" {
            return token.kind == TokenKind::Equal;
        }
        let open = ahead.next();
        open.kind == TokenKind::LParen && ahead.skip_group(open.start()).is_ok() && ahead.peek() == TokenKind::Equal
    }

    /// Steps over the location of a region's argument, `loc(…)`, if there is one.
    fn skip_argument_location(&mut self) -> Result<()> {
        if self.at_word("loc") && self.lexer.peek() == TokenKind::LParen {
            self.advance();
            self.skip_group()?;
        }
        Ok(())
    }

    /// Reads an argument of the region to come. Its type is written behind it (`%a: f32`), or is that of the value it
    /// starts with (`%a = %init`), or is `index`.
    fn scan_argument(&mut self, frame: &OpFrame) -> Result<()> {
        let name = self.token.span();
        let header = self.info(frame).header;
        let inside = self.depth(frame) > 0;
        self.advance();
        // A location may stand in front of the type and behind it.
        self.skip_argument_location()?;
        let ty = if inside && self.at(TokenKind::Colon) {
            self.advance();
            let span = self.skip_type()?;
            // `%value as %argument: !async.value<f32>`: the argument is what the value holds, here `f32`.
            let held = (header == Header::Renamed).then(|| ty::inner_span(self.source, span));
            ArgumentType::Written(held.flatten().unwrap_or(span))
        } else if inside && self.at(TokenKind::Equal) && header != Header::Launch {
            ArgumentType::Carried
        } else {
            ArgumentType::Index
        };
        let rank = match header {
            Header::Launch => self.launch_rank(frame),
            _ => 0,
        };
        self.arguments.push(EntryArgument { name, ty, rank });
        self.skip_argument_location()
    }

    /// The rank of the argument at the current token, in
    /// `gpu.launch blocks(%bx) in (%gx = …) threads(%tx) in (%sx = …)`. The form names the identifiers of blocks, the
    /// sizes of blocks, the identifiers of threads, the sizes of threads. The region takes its arguments in another
    /// order: all identifiers first, then all sizes. So each argument gets a rank, by which the arguments are sorted:
    ///
    /// | rank | arguments |
    /// |---|---|
    /// | 0, 1 | identifiers of blocks, of threads |
    /// | 2, 3 | sizes of blocks (the grid), of threads |
    /// | 4, 5 | identifiers, sizes of clusters |
    /// | 6, 7 | memory of a workgroup, of a thread |
    fn launch_rank(&self, frame: &OpFrame) -> u8 {
        // The innermost open bracket of this op (its `keyword` is the word in front of it), and the argument of this op
        // that was named before the current one.
        let bracket = self.brackets[frame.brackets..].last();
        let last = self.arguments[frame.arguments..].last();
        match bracket.map_or("", |bracket| self.text(bracket.keyword)) {
            "blocks" => 0,
            "threads" => 1,
            "clusters" => 4,
            "workgroup" => 6,
            "private" => 7,
            // A size, in the brackets after `in`. The argument named before it tells whose size it is. After an
            // identifier of blocks, threads or clusters it is the first size of blocks, threads or clusters. After a
            // size it is the next size of the same list and has the same rank. A size without any argument before it is
            // an error in the text; it counts as a size of blocks.
            _ => match last.map_or(0, |argument| argument.rank) {
                0 => 2,
                1 => 3,
                4 => 5,
                same => same,
            },
        }
    }

    /// Decides, at the `{` of a region of an unknown form, which names in front of it are arguments of the region:
    /// those that are defined nowhere so far, and those that the form seems to bind. All others stay operands. A
    /// region without names of its own takes those of the region before it (`while(%i = %c) cond {…} do {…}`).
    ///
    /// Nobody says whether such a name is bound or used, so each argument is also a doubtful use.
    fn adopt_unknown_names(&mut self, frame: &OpFrame, progress: &mut Progress) {
        if self.info(frame).header != Header::Unknown {
            return;
        }
        // The names in front of `=`, which [`Self::scan_argument`] has put on the stack.
        for at in frame.arguments..self.arguments.len() {
            self.doubt_name(progress, plain_use(self.arguments[at].name));
            // A value of this name is visible here. If the name means that value, `index` would be a wrong type.
            if self.scopes.is_defined(self.text(self.arguments[at].name)) {
                let ty = &mut self.arguments[at].ty;
                *ty = if matches!(ty, ArgumentType::Index) { ArgumentType::Unknown } else { *ty };
            }
        }
        // A region that begins with a label `^bb(%a: t):` names its arguments there.
        if self.lexer.peek() == TokenKind::Caret {
            return;
        }
        // The uses behind the last region are looked at one by one; those in front of it have been settled.
        let from = (frame.uses + progress.settled).min(self.uses.len());
        let uses = self.uses.split_off(from);
        let first = from - frame.uses;
        // For each use, and for the end of the list, its position once the arguments are taken out. Groups such as
        // `ins(…)` count uses by position and have to be corrected.
        let mut positions: Vec<u32> = (0..first as u32).collect();
        let mut adopted: Vec<EntryArgument> = Vec::new();
        for one in uses {
            positions.push((self.uses.len() - frame.uses) as u32);
            let name = self.text(one.name);
            // A value that is defined outside stays an operand; any other name becomes an argument, once.
            if !one.bound && self.scopes.is_defined(name) {
                self.uses.push(one);
            } else if !adopted.iter().any(|argument| self.text(argument.name) == name) {
                let written = one.ty != Span::default();
                let ty = if written { ArgumentType::Written(one.ty) } else { ArgumentType::Carried };
                adopted.push(EntryArgument { name: one.name, ty, rank: 0 });
                self.doubt_name(progress, one);
            }
        }
        progress.settled = self.uses.len() - frame.uses;
        positions.push(progress.settled as u32);
        // Arguments were taken out of the list of uses, so the groups of this op begin and end at new positions.
        for group in &mut self.groups[frame.groups..] {
            for at in [&mut group.start, &mut group.end] {
                *at = positions.get(*at as usize).copied().unwrap_or(0);
            }
        }
        self.arguments.extend(&adopted);
        // The arguments of this region are those found here and the names in front of `=`, which
        // [`Self::scan_argument`] has put on the stack already. If there is neither, the region takes the arguments of
        // the region before it.
        let own = &self.arguments[frame.arguments..];
        if own.is_empty() {
            self.arguments.extend(progress.unknown.iter().flat_map(|unknown| &unknown.adopted));
        } else {
            progress.unknown.get_or_insert_default().adopted = own.to_vec();
        }
    }

    /// `%target = %source` in an unknown form without a region behind it: the name in front of `=` is no argument but
    /// one more value that the op uses. These values are put behind the other operands, because groups count the
    /// others by position.
    pub(super) fn use_names_without_region(&mut self, frame: &OpFrame) {
        if self.info(frame).header == Header::Unknown {
            let names = self.arguments.split_off(frame.arguments.min(self.arguments.len()));
            self.uses.extend(names.into_iter().map(|argument| plain_use(argument.name)));
        }
    }

    /// Notes that a name which an unknown form gives to its region may also be a use of a value outside.
    fn doubt_name(&self, progress: &mut Progress, one: Use) {
        let name = self.text(one.name);
        let noted = &mut progress.unknown.get_or_insert_default().doubtful;
        if !noted.iter().any(|noted| self.text(noted.name) == name && noted.index == one.index) {
            noted.push(Use { doubtful: true, ..one });
        }
    }

    /// Adds the doubtful uses of a form behind its other operands, because groups count the others by position. A value
    /// that is an operand already is not added again.
    pub(super) fn use_doubtful_names(&mut self, frame: &OpFrame) {
        let State::Custom(Progress { unknown: Some(unknown), .. }) = &frame.state else { return };
        if unknown.doubtful.is_empty() {
            return;
        }
        // Two uses are the same value if they have the same name and the same number behind `#`.
        let key = |one: &Use| (self.text(one.name), one.index);
        let used: std::collections::HashSet<_> = self.uses[frame.uses..].iter().map(key).collect();
        let new: Vec<Use> = unknown.doubtful.iter().copied().filter(|one| !used.contains(&key(one))).collect();
        self.uses.extend(new);
    }

    /// Reads a branch target `^bb(%a, %b : t, t)` and notes which of the op's operands it passes on.
    fn scan_successor(&mut self, frame: &OpFrame) -> Result<()> {
        let name = self.token.span();
        self.advance();
        let start = self.uses.len() - frame.uses;
        if self.at(TokenKind::LParen) {
            self.advance();
            // The operands come first, then `:` and their types. The types are known from the values, so they are only
            // skipped.
            while self.at(TokenKind::Percent) {
                let one = self.read_use()?;
                self.uses.push(one);
                if !self.take(TokenKind::Comma) {
                    break;
                }
            }
            while !self.at(TokenKind::RParen) {
                match self.token.kind {
                    TokenKind::Eof | TokenKind::RBrace | TokenKind::Unterminated => {
                        return Err(self.unexpected("`)`"));
                    }
                    TokenKind::Less | TokenKind::LParen => {
                        self.skip_group()?;
                    }
                    _ => self.advance(),
                }
            }
            self.advance();
        }
        let end = self.uses.len() - frame.uses;
        self.successors.push((name, pool_range(start, end)));
        Ok(())
    }

    // Brackets.

    /// Opens a bracket of the op at the current token, and remembers the keyword in front of it: the `outs` of
    /// `outs(%a)`.
    pub(super) fn open_bracket(&mut self, frame: &OpFrame) {
        let round = matches!(self.token.kind, TokenKind::LParen | TokenKind::LBracket);
        let word = self.previous.kind == TokenKind::BareId && round;
        let around = self.brackets[frame.brackets..].last();
        // Braces and angle brackets are opened only if they hold names of values (`skip_or_open` steps over all
        // others).
        let holds_names = !round || around.is_some_and(|around| around.holds_names);
        self.brackets.push(Bracket {
            open: self.token,
            keyword: if word { self.previous.span() } else { Span::default() },
            after: self.previous.kind,
            uses: self.uses.len(),
            holds_names,
        });
        self.advance();
    }

    /// Closes the innermost bracket of the op. A bracket behind a keyword, such as `ins(…)`, becomes a group of
    /// operands.
    fn close_bracket(&mut self, frame: &OpFrame) -> Result<()> {
        // If no bracket of this op is open, the closing bracket cannot belong to the op. (The list also holds the open
        // brackets of the ops around; `frame.brackets` says where those of this op begin.)
        let Some(bracket) = self.brackets.pop().filter(|_| self.brackets.len() + 1 > frame.brackets) else {
            return Err(self.unexpected("an op"));
        };
        if closing_kind(bracket.open.kind) != self.token.kind {
            return Err(self.unbalanced(Unbalanced { open: bracket.open.start(), at: self.token.start() }));
        }
        // Positions are counted among the op's own uses.
        // `memref.alloc()` has brackets behind its own name and nothing in them, which is no group. Nearly a third of
        // the ops of a program may be like that.
        let is_empty = bracket.keyword == self.document.ops[frame.op].name_span && bracket.uses == self.uses.len();
        if bracket.keyword != Span::default() && !is_empty {
            self.groups.push(Group {
                keyword: bracket.keyword,
                start: (bracket.uses - frame.uses.min(bracket.uses)) as u32,
                end: (self.uses.len() - frame.uses) as u32,
            });
        }
        if self.document.names[frame.name].kind.is(NameKind::AFFINE) {
            self.settle_subscripts(&bracket);
        }
        self.advance();
        Ok(())
    }

    /// Brings the operands of an affine subscript or bound into the order of the generic form: each value once,
    /// dimensions before symbols. `%a[%i + symbol(%s), %i]` has the operands `%i, %s`.
    fn settle_subscripts(&mut self, bracket: &Bracket) {
        // A subscript stands behind a value: `%a[…]`. A bound stands behind `=` or `to`:
        // `affine.parallel (%i) = (…) to (…)`.
        let subscripts = bracket.open.kind == TokenKind::LBracket && bracket.after == TokenKind::Percent;
        let bounds = bracket.after == TokenKind::Equal || matches!(self.text(bracket.keyword), "to");
        if !subscripts && !bounds {
            return;
        }
        let uses = self.uses.split_off(bracket.uses.min(self.uses.len()));
        let (symbols, dimensions): (Vec<Use>, Vec<Use>) = uses.into_iter().partition(|one| one.symbol);
        for part in [dimensions, symbols] {
            let mut seen = std::collections::HashSet::new();
            for one in part {
                if seen.insert((self.text(one.name), one.index)) {
                    self.uses.push(one);
                }
            }
        }
    }

    // Words.

    /// Reads a word of the form: a type, a location, or a keyword with what belongs to it.
    fn scan_word(&mut self, frame: &OpFrame, progress: &mut Progress, outside: bool) -> Result<()> {
        // Behind a `:` outside of brackets, a type is one of the op's types.
        if outside && progress.types && self.at_type() {
            let span = self.skip_type()?;
            self.type_spans.push(span);
            return Ok(());
        }
        if outside && self.read_location(frame.op)? {
            return Ok(());
        }
        // `gpu.wait async`: the op has a token as a result. No form has the word as anything else.
        progress.asynchronous |= self.at_word("async");
        if self.at_type() {
            // A type in brackets, or in front of any `:`, is stepped over: nothing inside of `memref<…>` concerns us.
            self.skip_type()?;
            return Ok(());
        }
        self.advance();
        // What belongs to the word is read along with it: `dense<…>`, `fastmath<…>`, `collective<…>`. Any other `<` is
        // left to the caller.
        if self.at(TokenKind::Less) && self.previous.end() == self.token.start() {
            self.skip_or_open(frame)?;
        }
        Ok(())
    }

    // Regions.

    /// The type that `scf.for %i = … iter_args(%a = %x) -> (f32) : i32 {` writes for its index: one more than those
    /// of the `carried` values. `None` if there is none.
    pub(super) fn induction_type(&self, frame: &OpFrame, carried: usize) -> Option<Span> {
        let State::Custom(progress) = &frame.state else {
            return None;
        };
        let from = frame.types + progress.arrow.unwrap_or(0) + carried;
        self.type_spans.get(from).copied()
    }

    /// The types of the arguments that carry values round the region. They are listed behind `->`, except for
    /// `scf.while (%a = %x) : (t) -> u`, whose first region has the types in front of the arrow.
    pub(super) fn carried_types(&self, frame: &OpFrame) -> Vec<Span> {
        let State::Custom(progress) = &frame.state else {
            return Vec::new();
        };
        let types = &self.type_spans[frame.types..];
        match progress.arrow {
            Some(arrow) if &*self.document.names[frame.name].name == "scf.while" => {
                types[..arrow.min(types.len())].to_vec()
            }
            Some(arrow) => types[arrow.min(types.len())..].to_vec(),
            None => Vec::new(),
        }
    }

    /// Reads the arguments of a function if the current token is the `(` of its signature, and says whether it was. A
    /// GPU function has two more lists of arguments, behind `workgroup` and `private`.
    fn scan_signature(&mut self, frame: &OpFrame, progress: &mut Progress) -> Result<bool> {
        let function = self.info(frame).header == Header::Function;
        let here = self.at(TokenKind::LParen) && self.depth(frame) == 0;
        if !function || !here {
            return Ok(false);
        }
        // A `(` behind the signature that has no such word in front is an ordinary bracket, such as that of the
        // results.
        let named = matches!(self.text(self.previous.span()), "workgroup" | "private");
        if progress.signature && !named {
            return Ok(false);
        }
        progress.signature = true;
        for (name, _, type_span) in self.signature()? {
            self.arguments.push(EntryArgument { name, ty: ArgumentType::Written(type_span), rank: 0 });
        }
        Ok(true)
    }
}

/// A use of the value that a name means.
fn plain_use(name: Span) -> Use {
    Use { name, index: 0, symbol: false, ty: Span::default(), bound: false, doubtful: false }
}

/// Looks whether a value name is the first of a list of results such as `%a:2, %b =`. `ahead` is a lexer that stands
/// just behind that first name, so it reads `:2, %b =`. If the rest of the list follows, gives the lexer just behind
/// the `=`; otherwise `None`.
pub(super) fn behind_results(mut ahead: Lexer<'_>) -> Option<Lexer<'_>> {
    // Each round begins just behind a name.
    loop {
        let mut token = ahead.next();
        // `%a:2` stands for two results. Behind any other `:` a type follows (`%a: f32`), so this is no list of
        // results.
        if token.kind == TokenKind::Colon {
            if ahead.next().kind != TokenKind::Number {
                return None;
            }
            token = ahead.next();
        }
        match token.kind {
            TokenKind::Equal => return Some(ahead),
            // The guard has read the next name, so the next round begins behind it.
            TokenKind::Comma if ahead.next().kind == TokenKind::Percent => {}
            _ => return None,
        }
    }
}

/// The token that closes a bracket.
fn closing_kind(open: TokenKind) -> TokenKind {
    match open {
        TokenKind::LParen => TokenKind::RParen,
        TokenKind::LBracket => TokenKind::RBracket,
        TokenKind::LBrace => TokenKind::RBrace,
        _ => TokenKind::Greater,
    }
}
