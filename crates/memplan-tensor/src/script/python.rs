//! The Python syntax that TVMScript uses, as a tree that knows nothing of TVM.
//!
//! This file reads statements, with their blocks by indentation; expressions are in [`super::python_expr`]. Both
//! refuse to nest deeper than [`MAX_NESTING`], so walking the tree recursively is safe. The parser goes over the
//! tokens once, from the first to the last, and looks at most one token ahead:
//!
//! ```text
//! for i in range(4):            For([i], range(4), [
//!     B[i] += 1                     Assign(B[i], Binary("+", B[i], 1))
//! else_value: T.int32 = 0       ]), Annotated(else_value, T.int32, Some(0))
//! ```

use super::ScriptError;
use super::lex::{Tok, Token};
use crate::ir::MAX_NESTING;
use memplan_core::{Span, patience};

/// An expression and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Py {
    pub(super) node: Node,
    pub(super) span: Span,
    /// Nesting depth, to bound that of everything built from it.
    pub(super) depth: usize,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Name(String),
    Int(i64),
    /// A number of at least 2^63, which only an unsigned constant can hold.
    Large(u64),
    Float(f64),
    Str(String),
    /// `lambda …: …`, which mentions nothing but its own parameters.
    Lambda,
    True,
    False,
    None,
    /// `base.name`.
    Attribute(Box<Py>, String),
    /// The function, its arguments, and its keyword arguments.
    Call(Box<Py>, Vec<Py>, Vec<(String, Py)>),
    Subscript(Box<Py>, Vec<Subscript>),
    Tuple(Vec<Py>),
    List(Vec<Py>),
    Dict(Vec<(Py, Py)>),
    Negative(Box<Py>),
    /// `~a`.
    Inverted(Box<Py>),
    Not(Box<Py>),
    /// The operator as written, and its operands.
    Binary(&'static str, Box<Py>, Box<Py>),
    /// `then if condition else otherwise`, in the order of the text.
    Choice(Box<[Py; 3]>),
}

/// What stands between two commas of a subscript.
#[derive(Clone, Debug)]
pub(super) enum Subscript {
    One(Py),
    /// Start, stop and step. A start or stop that is left out is [`Node::None`].
    Slice(Py, Py, Option<Py>),
}

/// A statement: its header line and its blocks.
#[derive(Clone, Debug)]
pub(super) struct PyStmt {
    pub(super) kind: PyKind,
    /// The header's logical line, without the line break.
    pub(super) span: Span,
}

/// What a statement is.
#[derive(Clone, Debug)]
pub(super) enum PyKind {
    Expr(Py),
    /// Target and value.
    Assign(Py, Py),
    /// `name: annotation = value`.
    Annotated(Py, Py, Option<Py>),
    /// Loop variables, what they run over, and the body.
    For(Vec<Py>, Py, Vec<PyStmt>),
    While(Py, Vec<PyStmt>),
    /// Condition, then, else and the span of the `else:` line.
    If(Py, Vec<PyStmt>, Vec<PyStmt>, Option<Span>),
    /// `with context as target`, and the body.
    With(Py, Option<Py>, Vec<PyStmt>),
    /// The condition, and where the message stands.
    Assert(Py, Option<Span>),
    Pass,
    /// `break` or `continue`, as the name of the call that the loop IR has for it.
    Jump(&'static str),
    Return(Option<Py>),
}

/// A `def`: name and parameters with annotations. Its body is read statement by statement, so that a long one never is
/// in memory as a whole.
#[derive(Clone, Debug)]
pub(super) struct PyDef {
    pub(super) name: String,
    /// Name, annotation, and where the name stands.
    pub(super) params: Vec<(String, Py, Span)>,
    /// Start of the `def` line up to its colon.
    pub(super) header: Span,
    /// Start of the first statement of the body.
    pub(super) body: usize,
}

/// Reads tokens from the first to the last.
pub(super) struct Parser<'a> {
    pub(super) source: &'a str,
    tokens: &'a [Token],
    /// The token that is read next.
    pub(super) at: usize,
    /// How many nested statements and expressions are being read.
    depth: usize,
}

impl<'a> Parser<'a> {
    /// A parser in front of the first token. `source` is the text that the spans of the tokens count in.
    pub(super) fn new(source: &'a str, tokens: &'a [Token]) -> Parser<'a> {
        Parser { source, tokens, at: 0, depth: 0 }
    }

    /// The next token, without going on. After the last token it is always [`Tok::End`].
    pub(super) fn peek(&self) -> Token {
        let end = || Token { tok: Tok::End, span: Span::new(self.source.len(), self.source.len()) };
        self.tokens.get(self.at).copied().unwrap_or_else(end)
    }

    /// How a token is written.
    pub(super) fn text(&self, token: Token) -> &'a str {
        &self.source[token.span.range()]
    }

    /// Takes the next token. Behind the last one it gives [`Tok::End`] as often as it is called.
    pub(super) fn next(&mut self) -> Token {
        let token = self.peek();
        self.at += 1;
        token
    }

    /// The end of the token that was read last; 0 if none was.
    pub(super) fn previous_end(&self) -> usize {
        let last = self.tokens.get(self.at.wrapping_sub(1));
        last.map_or(0, |token| token.span.end as usize)
    }

    /// Whether the next token is this operator or word.
    pub(super) fn looking_at(&self, text: &str) -> bool {
        // This is asked several times for every token, so bytes are compared: a slice of text would be checked for
        // starting and ending between characters.
        self.tokens.get(self.at).is_some_and(|token| {
            let is_word = matches!(token.tok, Tok::Op | Tok::Name) && token.span.range().len() == text.len();
            is_word && self.source.as_bytes().get(token.span.range()) == Some(text.as_bytes())
        })
    }

    /// Reads this operator or word if it comes next; whether it did.
    pub(super) fn accept(&mut self, text: &str) -> bool {
        let found = self.looking_at(text);
        if found {
            self.at += 1;
        }
        found
    }

    /// Reads this operator or word, which must come next.
    pub(super) fn expect(&mut self, text: &str) -> Result<Span, ScriptError> {
        let token = self.peek();
        if self.accept(text) {
            return Ok(token.span);
        }
        Err(ScriptError::syntax(token.span, format!("expected `{text}`")))
    }

    /// A name, which must come next.
    pub(super) fn name(&mut self) -> Result<(String, Span), ScriptError> {
        let token = self.peek();
        if token.tok != Tok::Name {
            return Err(ScriptError::syntax(token.span, "expected a name"));
        }
        self.at += 1;
        Ok((self.text(token).to_owned(), token.span))
    }

    /// Reads the end of a line, after at most one semicolon. Anything else is an error, also a second statement behind
    /// the semicolon. The end of the text counts as the end of its last line and is not consumed.
    fn end_of_line(&mut self) -> Result<(), ScriptError> {
        self.accept(";");
        let token = self.peek();
        match token.tok {
            Tok::Newline => self.at += 1,
            Tok::End => {}
            _ => {
                return Err(ScriptError::syntax(token.span, "expected the end of the line"));
            }
        }
        Ok(())
    }

    /// Reads something that may contain itself (a block, an expression) with `inner`. Beyond a fixed depth it is an
    /// error, so that no text can exhaust the stack.
    pub(super) fn nested<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, ScriptError>,
    ) -> Result<T, ScriptError> {
        if self.depth >= MAX_NESTING {
            return Err(ScriptError::TooDeep { span: self.peek().span });
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Reads the next function up to its body; `None` at the end of the text. A `def` counts, at any indentation, if
    /// one of its decorators mentions `prim_func`. All other lines are skipped.
    pub(super) fn next_function(&mut self) -> Result<Option<PyDef>, ScriptError> {
        let mut decorated = false;
        loop {
            let token = self.peek();
            match token.tok {
                Tok::End => return Ok(None),
                Tok::Indent | Tok::Dedent | Tok::Newline => self.at += 1,
                _ if self.looking_at("@") => {
                    let line = self.skip_line();
                    decorated |= self.source[line.range()].contains("prim_func");
                }
                _ if self.looking_at("def") && decorated => return self.def().map(Some),
                _ => {
                    // Decorators belong to the `def` on the next line. This line is none, so they are forgotten.
                    decorated = false;
                    self.skip_line();
                }
            }
        }
    }

    /// The next statement of the function whose header [`Parser::next_function`] has read; `None` where its body ends.
    pub(super) fn next_statement(&mut self) -> Result<Option<PyStmt>, ScriptError> {
        match self.peek().tok {
            // The block of the function ends, which `def` has counted as one level of nesting.
            Tok::Dedent => {
                self.at += 1;
                self.depth = 0;
                Ok(None)
            }
            Tok::End => Ok(None),
            _ => self.statement().map(Some),
        }
    }

    /// Goes to the end of the line; where the skipped tokens stand.
    fn skip_line(&mut self) -> Span {
        let start = self.peek().span;
        let mut end = start;
        while !matches!(self.peek().tok, Tok::Newline | Tok::End) {
            end = self.next().span;
        }
        start.to(end)
    }

    /// Reads the head of a function, `def main(a: T.Buffer(…), n: T.int32) -> None:`, and enters its body, which is
    /// read statement by statement later ([`Parser::next_statement`]).
    fn def(&mut self) -> Result<PyDef, ScriptError> {
        let start = self.expect("def")?;
        let (name, _) = self.name()?;
        self.expect("(")?;
        let mut params = Vec::new();
        while !self.looking_at(")") {
            let (param, span) = self.name()?;
            self.expect(":")?;
            params.push((param, self.expression()?, span));
            if !self.accept(",") {
                break;
            }
        }
        self.expect(")")?;
        // The type of the result says nothing that we need.
        if self.accept("->") {
            self.expression()?;
        }
        let header = start.to(self.expect(":")?);
        self.open_block()?;
        // The body is one level of nesting, as any block.
        self.depth = 1;
        Ok(PyDef { name, params, header, body: self.peek().span.range().start })
    }

    /// The end of the body that has just been read: of the last token that has text of its own, which ends of lines
    /// and indentation have not.
    pub(super) fn body_end(&self) -> usize {
        let seen = &self.tokens[..self.at.min(self.tokens.len())];
        let last = seen.iter().rev().find(|token| !matches!(token.tok, Tok::Dedent | Tok::Newline | Tok::Indent));
        last.map_or(0, |token| token.span.end as usize)
    }

    /// Reads the line end and the indentation that begin a block.
    fn open_block(&mut self) -> Result<(), ScriptError> {
        let token = self.peek();
        if token.tok != Tok::Newline {
            return Err(ScriptError::syntax(token.span, "put the block on lines of its own"));
        }
        self.at += 1;
        if self.peek().tok != Tok::Indent {
            return Err(ScriptError::syntax(self.peek().span, "expected an indented block"));
        }
        self.at += 1;
        Ok(())
    }

    /// Reads an indented block, up to the end of its indentation or of the text.
    fn block(&mut self) -> Result<Vec<PyStmt>, ScriptError> {
        self.open_block()?;
        let mut statements = Vec::new();
        self.nested(|parser| {
            while !matches!(parser.peek().tok, Tok::Dedent | Tok::End) {
                statements.push(parser.statement()?);
            }
            Ok(())
        })?;
        if self.peek().tok == Tok::Dedent {
            self.at += 1;
        }
        Ok(statements)
    }

    /// Reads one statement. Its first word decides which kind it is.
    fn statement(&mut self) -> Result<PyStmt, ScriptError> {
        if patience::is_over() {
            return Err(ScriptError::stopped());
        }
        let start = self.peek().span;
        let token = self.peek();
        let word = if token.tok == Tok::Name { self.text(token) } else { "" };
        let (kind, span) = match word {
            "for" => self.for_statement()?,
            "while" => {
                self.at += 1;
                let condition = self.expression()?;
                let header = start.to(self.expect(":")?);
                (PyKind::While(condition, self.block()?), header)
            }
            "if" => self.if_statement()?,
            "with" => self.with_statement()?,
            // The `else` of an `if` is read together with it, so this one has none.
            "else" | "elif" => {
                return Err(ScriptError::syntax(start, "`else` without its `if`"));
            }
            _ => return self.simple_statement(),
        };
        Ok(PyStmt { kind, span })
    }

    /// Reads a loop, which may have several variables: `for i, j in T.grid(4, 8):`.
    fn for_statement(&mut self) -> Result<(PyKind, Span), ScriptError> {
        let start = self.next().span;
        let mut targets = Vec::new();
        loop {
            let (name, span) = self.name()?;
            targets.push(Py { node: Node::Name(name), span, depth: 1 });
            if !self.accept(",") {
                break;
            }
        }
        self.expect("in")?;
        let iterable = self.expression()?;
        let header = start.to(self.expect(":")?);
        Ok((PyKind::For(targets, iterable, self.block()?), header))
    }

    /// Reads a condition with its branches. `elif` is an `if` inside of `else`.
    fn if_statement(&mut self) -> Result<(PyKind, Span), ScriptError> {
        let start = self.next().span;
        let condition = self.expression()?;
        let header = start.to(self.expect(":")?);
        let then = self.block()?;
        let else_start = self.peek().span;
        let (otherwise, else_line) = if self.looking_at("elif") {
            // Each `elif` is one level deeper than the one before, so a long chain may be refused.
            let (kind, span) = self.nested(Self::if_statement)?;
            (vec![PyStmt { kind, span }], None)
        } else if self.accept("else") {
            let line = else_start.to(self.expect(":")?);
            (self.block()?, Some(line))
        } else {
            (Vec::new(), None)
        };
        Ok((PyKind::If(condition, then, otherwise, else_line), header))
    }

    /// Reads `with context as target:` and its block.
    fn with_statement(&mut self) -> Result<(PyKind, Span), ScriptError> {
        let start = self.next().span;
        let context = self.expression()?;
        let target = if self.accept("as") { Some(self.expression()?) } else { None };
        let header = start.to(self.expect(":")?);
        Ok((PyKind::With(context, target, self.block()?), header))
    }

    /// A statement on one line, up to the end of that line.
    fn simple_statement(&mut self) -> Result<PyStmt, ScriptError> {
        let start = self.peek().span;
        let kind = if self.accept("pass") {
            PyKind::Pass
        } else if self.accept("break") {
            PyKind::Jump("break_loop")
        } else if self.accept("continue") {
            PyKind::Jump("continue_loop")
        } else if self.accept("return") {
            let nothing = matches!(self.peek().tok, Tok::Newline | Tok::End);
            PyKind::Return(if nothing { None } else { Some(self.expression()?) })
        } else if self.accept("assert") {
            self.assert_statement()?
        } else {
            let target = self.expression_list()?;
            // The token after the target decides the kind of statement: `:` is an annotation, `=` an assignment, `+=`
            // an update, and anything else means that the target was an expression by itself.
            if self.accept(":") {
                let annotation = self.expression()?;
                let value = if self.accept("=") { Some(self.expression()?) } else { None };
                PyKind::Annotated(target, annotation, value)
            } else if self.accept("=") {
                PyKind::Assign(target, self.expression_list()?)
            // `a += b` is read as `a = a + b`, so that later stages need not know updates.
            } else if let Some(operator) = self.accept_update() {
                let operand = self.expression()?;
                let span = target.span.to(operand.span);
                let value = self.make(Node::Binary(operator, Box::new(target.clone()), Box::new(operand)), span)?;
                PyKind::Assign(target, value)
            } else {
                PyKind::Expr(target)
            }
        };
        let span = Span::new(start.start as usize, self.previous_end());
        self.end_of_line()?;
        Ok(PyStmt { kind, span })
    }

    /// Reads the sign of an update (`+=`) and gives its operator (`+`); `None` if no such sign comes next.
    fn accept_update(&mut self) -> Option<&'static str> {
        const UPDATES: [(&str, &str); 6] =
            [("+=", "+"), ("-=", "-"), ("*=", "*"), ("/=", "/"), ("//=", "//"), ("%=", "%")];
        UPDATES.into_iter().find(|(sign, _)| self.accept(sign)).map(|(_, operator)| operator)
    }

    /// Reads what follows the word `assert`: a condition, and perhaps a message, of which only its place is kept.
    fn assert_statement(&mut self) -> Result<PyKind, ScriptError> {
        let condition = self.expression()?;
        if !self.accept(",") {
            return Ok(PyKind::Assert(condition, None));
        }
        let message = self.expression()?;
        Ok(PyKind::Assert(condition, Some(message.span)))
    }

    /// Reads one expression, or several with commas between them as a tuple.
    fn expression_list(&mut self) -> Result<Py, ScriptError> {
        let first = self.expression()?;
        if !self.looking_at(",") {
            return Ok(first);
        }
        let mut items = vec![first];
        while self.accept(",") {
            // The comma was the last character of the list: `a, = b`.
            if matches!(self.peek().tok, Tok::Newline | Tok::End) || self.looking_at("=") {
                break;
            }
            items.push(self.expression()?);
        }
        let span = items[0].span.to(items[items.len() - 1].span);
        self.make(Node::Tuple(items), span)
    }
}
