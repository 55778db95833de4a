//! The Python syntax that TVMScript uses, as a tree that knows nothing of TVM.
//!
//! Expressions by precedence climbing, statements by indentation. Both refuse to nest deeper than
//! [`MAX_NESTING`], so walking the tree recursively is safe.

use super::ReadError;
use super::lex::{Tok, Token};
use crate::ir::MAX_NESTING;
use memplan_core::Span;

/// An expression and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Py {
    pub(super) node: Node,
    pub(super) span: Span,
    /// Nesting depth, to bound that of everything built from it.
    depth: usize,
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    Name(String),
    Int(i64),
    /// A number from 2^63 on, which only an unsigned constant can hold.
    Large(u64),
    Float(f64),
    Str(String),
    /// `lambda …: …`, which mentions nothing but its own parameters.
    Lambda,
    True,
    False,
    None,
    Attribute(Box<Py>, String),
    Call(Box<Py>, Vec<Py>, Vec<(String, Py)>),
    Subscript(Box<Py>, Vec<Subscript>),
    Tuple(Vec<Py>),
    List(Vec<Py>),
    Dict(Vec<(Py, Py)>),
    Negative(Box<Py>),
    /// `~a`.
    Inverted(Box<Py>),
    Not(Box<Py>),
    Binary(&'static str, Box<Py>, Box<Py>),
}

#[derive(Clone, Debug)]
pub(super) enum Subscript {
    One(Py),
    Slice(Py, Py, Option<Py>),
}

/// A statement: its header line and its blocks.
#[derive(Clone, Debug)]
pub(super) struct PyStmt {
    pub(super) kind: PyKind,
    /// The header's logical line, without the line break.
    pub(super) span: Span,
}

#[derive(Clone, Debug)]
pub(super) enum PyKind {
    Expr(Py),
    Assign(Py, Py),
    /// `name: annotation = value`.
    Annotated(Py, Py, Option<Py>),
    For(Vec<Py>, Py, Vec<PyStmt>),
    While(Py, Vec<PyStmt>),
    /// Condition, then, else and the span of the `else:` line.
    If(Py, Vec<PyStmt>, Vec<PyStmt>, Option<Span>),
    With(Py, Option<Py>, Vec<PyStmt>),
    Assert(Py, Option<Span>),
    Pass,
    Return(Option<Py>),
}

/// A `def`: name and parameters with annotations. Its body is read statement by statement, so that a long one never is in memory as a whole.
#[derive(Clone, Debug)]
pub(super) struct PyDef {
    pub(super) name: String,
    pub(super) params: Vec<(String, Py, Span)>,
    /// Start of the `def` line up to its colon.
    pub(super) header: Span,
    /// Start of the first statement of the body.
    pub(super) body: usize,
}

pub(super) struct Parser<'a> {
    source: &'a str,
    tokens: &'a [Token],
    at: usize,
    depth: usize,
}

/// Binary operators from loose (1) to tight (9); comparisons do not chain.
fn binary_operator(text: &str) -> Option<(usize, &'static str)> {
    Some(match text {
        "or" => (1, "or"),
        "and" => (2, "and"),
        "==" => (COMPARISON, "=="),
        "!=" => (COMPARISON, "!="),
        "<" => (COMPARISON, "<"),
        "<=" => (COMPARISON, "<="),
        ">" => (COMPARISON, ">"),
        ">=" => (COMPARISON, ">="),
        "|" => (4, "|"),
        "^" => (5, "^"),
        "&" => (6, "&"),
        "<<" => (7, "<<"),
        ">>" => (7, ">>"),
        "+" => (8, "+"),
        "-" => (8, "-"),
        "*" => (9, "*"),
        "/" => (9, "/"),
        "//" => (9, "//"),
        "%" => (9, "%"),
        _ => return None,
    })
}

const COMPARISON: usize = 3;

impl<'a> Parser<'a> {
    pub(super) fn new(source: &'a str, tokens: &'a [Token]) -> Parser<'a> {
        Parser { source, tokens, at: 0, depth: 0 }
    }

    fn peek(&self) -> Token {
        self.tokens
            .get(self.at)
            .copied()
            .unwrap_or(Token { tok: Tok::End, span: Span::new(self.source.len(), self.source.len()) })
    }

    fn text(&self, token: Token) -> &'a str {
        &self.source[token.span.range()]
    }

    fn next(&mut self) -> Token {
        let token = self.peek();
        self.at += 1;
        token
    }

    fn previous_end(&self) -> usize {
        let last = self.tokens.get(self.at.wrapping_sub(1));
        last.map_or(0, |token| token.span.end as usize)
    }

    fn looking_at(&self, text: &str) -> bool {
        let token = self.peek();
        matches!(token.tok, Tok::Op | Tok::Name) && self.text(token) == text
    }

    fn accept(&mut self, text: &str) -> bool {
        let found = self.looking_at(text);
        if found {
            self.at += 1;
        }
        found
    }

    fn expect(&mut self, text: &str) -> Result<Span, ReadError> {
        let token = self.peek();
        if self.accept(text) {
            return Ok(token.span);
        }
        Err(ReadError::syntax(token.span, format!("expected `{text}`")))
    }

    fn name(&mut self) -> Result<(String, Span), ReadError> {
        let token = self.peek();
        if token.tok != Tok::Name {
            return Err(ReadError::syntax(token.span, "expected a name"));
        }
        self.at += 1;
        Ok((self.text(token).to_owned(), token.span))
    }

    fn end_of_line(&mut self) -> Result<(), ReadError> {
        self.accept(";");
        let token = self.peek();
        match token.tok {
            Tok::Newline => self.at += 1,
            Tok::End => {}
            _ => {
                return Err(ReadError::syntax(token.span, "expected the end of the line"));
            }
        }
        Ok(())
    }

    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, ReadError>) -> Result<T, ReadError> {
        if self.depth >= MAX_NESTING {
            return Err(ReadError::TooDeep { span: self.peek().span });
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// The next function of a text, up to its body: every `def`, wherever it stands; other lines are skipped.
    pub(super) fn next_function(&mut self) -> Result<Option<PyDef>, ReadError> {
        let mut decorated = false;
        loop {
            let token = self.peek();
            match token.tok {
                Tok::End => return Ok(None),
                Tok::Indent | Tok::Dedent | Tok::Newline => self.at += 1,
                _ if self.looking_at("@") => {
                    let line = self.skip_line();
                    decorated = self.source[line.range()].contains("prim_func");
                }
                _ if self.looking_at("def") && decorated => return self.def().map(Some),
                _ => {
                    self.skip_line();
                }
            }
        }
    }

    /// The next statement of the function whose body was entered last; `None` where it ends.
    pub(super) fn next_statement(&mut self) -> Result<Option<PyStmt>, ReadError> {
        match self.peek().tok {
            Tok::Dedent => {
                self.at += 1;
                self.depth = 0;
                Ok(None)
            }
            Tok::End => Ok(None),
            _ => self.statement().map(Some),
        }
    }

    fn skip_line(&mut self) -> Span {
        let start = self.peek().span;
        let mut end = start;
        while !matches!(self.peek().tok, Tok::Newline | Tok::End) {
            end = self.next().span;
        }
        start.to(end)
    }

    fn def(&mut self) -> Result<PyDef, ReadError> {
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
        if self.accept("->") {
            self.expression()?;
        }
        let header = start.to(self.expect(":")?);
        self.open_block()?;
        self.depth = 1;
        Ok(PyDef { name, params, header, body: self.peek().span.range().start })
    }

    /// End of the last real token before the current position.
    pub(super) fn body_end(&self) -> usize {
        let seen = &self.tokens[..self.at.min(self.tokens.len())];
        let last = seen.iter().rev().find(|token| !matches!(token.tok, Tok::Dedent | Tok::Newline | Tok::Indent));
        last.map_or(0, |token| token.span.end as usize)
    }

    fn open_block(&mut self) -> Result<(), ReadError> {
        let token = self.peek();
        if token.tok != Tok::Newline {
            return Err(ReadError::syntax(token.span, "put the block on lines of its own"));
        }
        self.at += 1;
        if self.peek().tok != Tok::Indent {
            return Err(ReadError::syntax(self.peek().span, "expected an indented block"));
        }
        self.at += 1;
        Ok(())
    }

    fn block(&mut self) -> Result<Vec<PyStmt>, ReadError> {
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

    fn statement(&mut self) -> Result<PyStmt, ReadError> {
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
            "else" | "elif" => {
                return Err(ReadError::syntax(start, "`else` without its `if`"));
            }
            _ => return self.simple_statement(),
        };
        Ok(PyStmt { kind, span })
    }

    fn for_statement(&mut self) -> Result<(PyKind, Span), ReadError> {
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

    fn if_statement(&mut self) -> Result<(PyKind, Span), ReadError> {
        let start = self.next().span;
        let condition = self.expression()?;
        let header = start.to(self.expect(":")?);
        let then = self.block()?;
        let else_start = self.peek().span;
        let (otherwise, else_line) = if self.looking_at("elif") {
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

    fn with_statement(&mut self) -> Result<(PyKind, Span), ReadError> {
        let start = self.next().span;
        let context = self.expression()?;
        let target = if self.accept("as") { Some(self.expression()?) } else { None };
        let header = start.to(self.expect(":")?);
        Ok((PyKind::With(context, target, self.block()?), header))
    }

    fn simple_statement(&mut self) -> Result<PyStmt, ReadError> {
        let start = self.peek().span;
        let kind = if self.accept("pass") {
            PyKind::Pass
        } else if self.accept("return") {
            let nothing = matches!(self.peek().tok, Tok::Newline | Tok::End);
            PyKind::Return(if nothing { None } else { Some(self.expression()?) })
        } else if self.accept("assert") {
            self.assert_statement()?
        } else {
            let target = self.expression_list()?;
            if self.accept(":") {
                let annotation = self.expression()?;
                let value = if self.accept("=") { Some(self.expression()?) } else { None };
                PyKind::Annotated(target, annotation, value)
            } else if self.accept("=") {
                PyKind::Assign(target, self.expression_list()?)
            } else {
                PyKind::Expr(target)
            }
        };
        let span = Span::new(start.start as usize, self.previous_end());
        self.end_of_line()?;
        Ok(PyStmt { kind, span })
    }

    fn assert_statement(&mut self) -> Result<PyKind, ReadError> {
        let condition = self.expression()?;
        if !self.accept(",") {
            return Ok(PyKind::Assert(condition, None));
        }
        let message = self.expression()?;
        Ok(PyKind::Assert(condition, Some(message.span)))
    }

    fn expression_list(&mut self) -> Result<Py, ReadError> {
        let first = self.expression()?;
        if !self.looking_at(",") {
            return Ok(first);
        }
        let mut items = vec![first];
        while self.accept(",") {
            if matches!(self.peek().tok, Tok::Newline | Tok::End) || self.looking_at("=") {
                break;
            }
            items.push(self.expression()?);
        }
        let span = items[0].span.to(items[items.len() - 1].span);
        self.make(Node::Tuple(items), span)
    }

    /// An expression.
    pub(super) fn expression(&mut self) -> Result<Py, ReadError> {
        self.nested(|parser| parser.binary(1))
    }

    fn make(&self, node: Node, span: Span) -> Result<Py, ReadError> {
        let depth = 1 + node.children_depth();
        if depth > MAX_NESTING {
            return Err(ReadError::TooDeep { span });
        }
        Ok(Py { node, span, depth })
    }

    /// Operands joined by operators that bind at least as tightly as `level`.
    fn binary(&mut self, level: usize) -> Result<Py, ReadError> {
        let mut left = if level <= COMPARISON && self.looking_at("not") {
            let start = self.next().span;
            let operand = self.nested(|parser| parser.binary(COMPARISON))?;
            let span = start.to(operand.span);
            self.make(Node::Not(Box::new(operand)), span)?
        } else {
            self.unary()?
        };
        loop {
            let token = self.peek();
            if !matches!(token.tok, Tok::Op | Tok::Name) {
                return Ok(left);
            }
            let Some((tightness, operator)) = binary_operator(self.text(token)).filter(|(found, _)| *found >= level)
            else {
                return Ok(left);
            };
            self.at += 1;
            let right = self.binary(tightness + 1)?;
            let span = left.span.to(right.span);
            left = self.make(Node::Binary(operator, Box::new(left), Box::new(right)), span)?;
        }
    }

    fn unary(&mut self) -> Result<Py, ReadError> {
        if self.looking_at("~") {
            let start = self.next().span;
            let operand = self.nested(Self::unary)?;
            let span = start.to(operand.span);
            return self.make(Node::Inverted(Box::new(operand)), span);
        }
        if !self.looking_at("-") {
            return self.postfix();
        }
        let start = self.next().span;
        let operand = self.nested(Self::unary)?;
        let span = start.to(operand.span);
        let node = match operand.node {
            Node::Int(value) => Node::Int(value.wrapping_neg()),
            Node::Float(value) => Node::Float(-value),
            _ => Node::Negative(Box::new(operand)),
        };
        self.make(node, span)
    }

    fn postfix(&mut self) -> Result<Py, ReadError> {
        let mut value = self.atom()?;
        loop {
            if self.accept(".") {
                let (name, span) = self.name()?;
                let span = value.span.to(span);
                value = self.make(Node::Attribute(Box::new(value), name), span)?;
            } else if self.accept("(") {
                let (args, named) = self.arguments()?;
                let span = Span::new(value.span.start as usize, self.previous_end());
                value = self.make(Node::Call(Box::new(value), args, named), span)?;
            } else if self.accept("[") {
                let subscripts = self.subscripts()?;
                let span = Span::new(value.span.start as usize, self.previous_end());
                value = self.make(Node::Subscript(Box::new(value), subscripts), span)?;
            } else {
                return Ok(value);
            }
        }
    }

    fn arguments(&mut self) -> Result<Arguments, ReadError> {
        let (mut args, mut named) = (Vec::new(), Vec::new());
        while !self.looking_at(")") {
            let first = self.expression()?;
            if self.accept("=") {
                let Node::Name(name) = first.node else {
                    return Err(ReadError::syntax(first.span, "expected `name=value`"));
                };
                named.push((name, self.expression()?));
            } else {
                args.push(first);
            }
            if !self.accept(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok((args, named))
    }

    fn subscripts(&mut self) -> Result<Vec<Subscript>, ReadError> {
        let mut found = Vec::new();
        while !self.looking_at("]") {
            let start = self.expression()?;
            if self.accept(":") {
                let stop = self.expression()?;
                let step = if self.accept(":") { Some(self.expression()?) } else { None };
                found.push(Subscript::Slice(start, stop, step));
            } else {
                found.push(Subscript::One(start));
            }
            if !self.accept(",") {
                break;
            }
        }
        self.expect("]")?;
        Ok(found)
    }

    fn atom(&mut self) -> Result<Py, ReadError> {
        let token = self.next();
        let text = self.text(token);
        match token.tok {
            Tok::Number => self.make(number(text, token.span)?, token.span),
            Tok::Str => self.make(Node::Str(unquote(text)), token.span),
            Tok::Name => {
                let node = match text {
                    "True" => Node::True,
                    "False" => Node::False,
                    "None" => Node::None,
                    "lambda" => return self.lambda(token.span),
                    _ => Node::Name(text.to_owned()),
                };
                self.make(node, token.span)
            }
            Tok::Op if text == "(" => self.parenthesised(token.span),
            Tok::Op if text == "[" => {
                let items = self.items("]")?;
                self.make(Node::List(items), Span::new(token.span.start as usize, self.previous_end()))
            }
            Tok::Op if text == "{" => self.dict(token.span),
            _ => Err(ReadError::syntax(token.span, "expected an expression")),
        }
    }

    /// `lambda a, b: a + b`, kept as text.
    fn lambda(&mut self, start: Span) -> Result<Py, ReadError> {
        while !self.looking_at(":") {
            self.name()?;
            if !self.accept(",") {
                break;
            }
        }
        self.expect(":")?;
        let body = self.expression()?;
        self.make(Node::Lambda, start.to(body.span))
    }

    fn items(&mut self, close: &str) -> Result<Vec<Py>, ReadError> {
        let mut items = Vec::new();
        while !self.looking_at(close) {
            items.push(self.expression()?);
            if !self.accept(",") {
                break;
            }
        }
        self.expect(close)?;
        Ok(items)
    }

    fn parenthesised(&mut self, start: Span) -> Result<Py, ReadError> {
        let mut items = Vec::new();
        let mut tuple = false;
        while !self.looking_at(")") {
            items.push(self.expression()?);
            if !self.accept(",") {
                break;
            }
            tuple = true;
        }
        let span = start.to(self.expect(")")?);
        match items.pop() {
            Some(mut only) if !tuple => {
                only.span = span;
                Ok(only)
            }
            last => {
                items.extend(last);
                self.make(Node::Tuple(items), span)
            }
        }
    }

    fn dict(&mut self, start: Span) -> Result<Py, ReadError> {
        let mut entries = Vec::new();
        while !self.looking_at("}") {
            let key = self.expression()?;
            self.expect(":")?;
            entries.push((key, self.expression()?));
            if !self.accept(",") {
                break;
            }
        }
        let span = start.to(self.expect("}")?);
        self.make(Node::Dict(entries), span)
    }
}

type Arguments = (Vec<Py>, Vec<(String, Py)>);

impl Node {
    fn children_depth(&self) -> usize {
        let deepest = |items: &[Py]| items.iter().map(|item| item.depth).max().unwrap_or(0);
        match self {
            Node::Attribute(base, _) => base.depth,
            Node::Call(base, args, named) => {
                base.depth.max(deepest(args)).max(named.iter().map(|(_, value)| value.depth).max().unwrap_or(0))
            }
            Node::Subscript(base, subscripts) => {
                let of = |subscript: &Subscript| match subscript {
                    Subscript::One(index) => index.depth,
                    // A slice becomes `ramp(start, step, (stop - start) / step)`.
                    Subscript::Slice(start, stop, _) => 2 + start.depth.max(stop.depth),
                };
                base.depth.max(subscripts.iter().map(of).max().unwrap_or(0))
            }
            Node::Tuple(items) | Node::List(items) => deepest(items),
            Node::Dict(entries) => entries.iter().map(|(k, v)| k.depth.max(v.depth)).max().unwrap_or(0),
            Node::Negative(value) | Node::Inverted(value) | Node::Not(value) => value.depth,
            Node::Binary(_, left, right) => left.depth.max(right.depth),
            _ => 0,
        }
    }
}

fn number(text: &str, span: Span) -> Result<Node, ReadError> {
    let digits = text.replace('_', "");
    let hex = digits.strip_prefix("0x").or(digits.strip_prefix("0X"));
    if let Some(hex) = hex {
        let value = i64::from_str_radix(hex, 16);
        return value.map(Node::Int).map_err(|_| ReadError::syntax(span, "expected a hexadecimal number below 2^63"));
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let value = digits.parse().map(Node::Int).or_else(|_| digits.parse().map(Node::Large));
        return value.map_err(|_| ReadError::syntax(span, "expected a number below 2^64"));
    }
    let value = digits.parse().map(Node::Float);
    value.map_err(|_| ReadError::syntax(span, "expected a number"))
}

/// The content of a string token; only the escapes that occur in names and messages.
fn unquote(text: &str) -> String {
    let body = text.trim_start_matches(|c: char| c.is_alphabetic());
    let quotes = if body.len() >= 6 && (body.starts_with("\"\"\"") || body.starts_with("'''")) { 3 } else { 1 };
    let body = body.get(quotes..body.len().saturating_sub(quotes)).unwrap_or("");
    let mut content = String::with_capacity(body.len());
    let mut escaped = false;
    for c in body.chars() {
        match (escaped, c) {
            (false, '\\') => escaped = true,
            (true, 'n') => {
                content.push('\n');
                escaped = false;
            }
            (_, other) => {
                content.push(other);
                escaped = false;
            }
        }
    }
    content
}
