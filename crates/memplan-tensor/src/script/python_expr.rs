//! Expressions of the Python syntax, by precedence climbing.
//!
//! Every binary operator has a *tightness*: `*` binds tighter than `+`. [`Parser::binary`] reads operands joined by
//! operators of at least a given tightness. For the right operand of an operator it calls itself with one more than the
//! operator's tightness:
//!
//! ```text
//! a + b * c - d    binary(1): a, then + (8), whose right side is binary(9): b * c
//!                             left = a + b * c, then - (8), whose right side is binary(9): d
//! ```

use super::ScriptError;
use super::lex::{Tok, lex};
// `Py` is an expression of the Python syntax tree with its place and depth, `Node` what it is; a `Subscript` is one
// entry between `[` and `]`: an expression or a slice.
use super::python::{Node, Parser, Py, Subscript};
use crate::ir::MAX_NESTING;
use memplan_core::Span;

/// The tightness of a binary operator, from loose (1) to tight (9), and its text. (The text is returned because
/// [`Node::Binary`] holds a text that does not borrow from the source.) `None` for any other text, also for
/// operators of Python that this reader does not know, such as `**`, `@` and `in`.
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

/// The tightness of comparisons. The operand of `not` is read with this tightness: `not a == b` is `not (a == b)`.
const COMPARISON: usize = 3;

impl Parser<'_> {
    /// Reads an expression, with a choice (`a if condition else b`) as the loosest kind.
    pub(super) fn expression(&mut self) -> Result<Py, ScriptError> {
        self.nested(|parser| {
            let value = parser.binary(1)?;
            if !parser.accept("if") {
                return Ok(value);
            }
            let condition = parser.binary(1)?;
            parser.expect("else")?;
            let otherwise = parser.expression()?;
            let span = value.span.to(otherwise.span);
            parser.make(Node::Choice(Box::new([value, condition, otherwise])), span)
        })
    }

    /// A node of the tree. It is an error if the tree gets too deep: a long sum nests to the left without nested calls
    /// of the parser, so the depth of the tree is limited apart from [`Parser::nested`].
    pub(super) fn make(&self, node: Node, span: Span) -> Result<Py, ScriptError> {
        let depth = 1 + node.children_depth();
        if depth > MAX_NESTING {
            return Err(ScriptError::TooDeep { span });
        }
        Ok(Py { node, span, depth })
    }

    /// Reads operands joined by operators that bind at least as tightly as `level` (see the module documentation).
    fn binary(&mut self, level: usize) -> Result<Py, ScriptError> {
        let mut left = if level <= COMPARISON && self.looking_at("not") {
            let start = self.next().span;
            let operand = self.nested(|parser| parser.binary(COMPARISON))?;
            let span = start.to(operand.span);
            self.make(Node::Not(Box::new(operand)), span)?
        } else {
            self.unary()?
        };
        // The right side of the comparison that was read last. If another comparison follows, it is also the left side
        // of that one: `a < b < c` means `a < b and b < c`.
        let mut compared: Option<Py> = None;
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
            // With `+ 1`, an operator of the same tightness is left to this loop, so that `a - b - c` is `(a - b) -
            // c`.
            let right = self.binary(tightness + 1)?;
            let span = left.span.to(right.span);
            let is_comparison = tightness == COMPARISON;
            let next = is_comparison.then(|| right.clone());
            left = match compared.take().filter(|_| is_comparison) {
                Some(middle) => {
                    let second = self.make(Node::Binary(operator, Box::new(middle), Box::new(right)), span)?;
                    self.make(Node::Binary("and", Box::new(left), Box::new(second)), span)?
                }
                None => self.make(Node::Binary(operator, Box::new(left), Box::new(right)), span)?,
            };
            compared = next;
        }
    }

    /// Reads `-x`, `~x`, or an operand without a sign. A negative number becomes a literal.
    fn unary(&mut self) -> Result<Py, ScriptError> {
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
        // A negative number is one literal, so that `-1` is a constant later.
        let node = match operand.node {
            Node::Int(value) => Node::Int(value.wrapping_neg()),
            Node::Float(value) => Node::Float(-value),
            _ => Node::Negative(Box::new(operand)),
        };
        self.make(node, span)
    }

    /// Reads an atom followed by attributes, calls and subscripts, as many as there are:
    /// `T.alloc_buffer((8,)).data[0]`.
    fn postfix(&mut self) -> Result<Py, ScriptError> {
        // Each round takes what was read so far as the base of one more attribute, call or subscript.
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

    /// Reads the arguments of a call up to the closing bracket, those with a name apart from the others.
    fn arguments(&mut self) -> Result<Arguments, ScriptError> {
        let (mut args, mut named) = (Vec::new(), Vec::new());
        while !self.looking_at(")") {
            // In `name=value` the name is read as an expression first, because only the `=` after it shows that it is a
            // name.
            let first = self.expression()?;
            if self.accept("=") {
                let Node::Name(name) = first.node else {
                    return Err(ScriptError::syntax(first.span, "expected `name=value`"));
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

    /// Reads what stands between square brackets: indices and slices.
    fn subscripts(&mut self) -> Result<Vec<Subscript>, ScriptError> {
        let mut found = Vec::new();
        while !self.looking_at("]") {
            let start = self.bound()?;
            if self.accept(":") {
                let stop = self.bound()?;
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

    /// Reads an index or a bound of a slice. A bound that is left out (`A[:4]`) is [`Node::None`].
    fn bound(&mut self) -> Result<Py, ScriptError> {
        if [":", ",", "]"].iter().any(|end| self.looking_at(end)) {
            return self.make(Node::None, self.peek().span);
        }
        self.expression()
    }

    /// Reads a number, a string, a name, or anything in brackets.
    fn atom(&mut self) -> Result<Py, ScriptError> {
        let token = self.next();
        let text = self.text(token);
        match token.tok {
            Tok::Number => self.make(number(text, token.span)?, token.span),
            Tok::Str => self.make(Node::Str(unquote(text, token.span)?), token.span),
            // A keyword is a name to the lexer. These four are the only ones that can begin an expression.
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
            // Brackets: a group or tuple, a list, a dictionary.
            Tok::Op if text == "(" => self.parenthesised(token.span),
            Tok::Op if text == "[" => {
                let items = self.items("]")?;
                self.make(Node::List(items), Span::new(token.span.start as usize, self.previous_end()))
            }
            Tok::Op if text == "{" => self.dict(token.span),
            _ => Err(ScriptError::syntax(token.span, "expected an expression")),
        }
    }

    /// Reads `lambda a, b: a + b` after its first word. The node only has the span: a lambda is printed as it was
    /// written.
    fn lambda(&mut self, start: Span) -> Result<Py, ScriptError> {
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

    /// Reads expressions up to a closing bracket.
    fn items(&mut self, close: &str) -> Result<Vec<Py>, ScriptError> {
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

    /// Reads what stands in round brackets, after the opening one: `(x)` is `x`, and a comma makes it a tuple:
    /// `(x,)`.
    fn parenthesised(&mut self, start: Span) -> Result<Py, ScriptError> {
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
            // The brackets belong to the expression, so that a copy of its text has them.
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

    /// Reads a dictionary after its opening brace.
    fn dict(&mut self, start: Span) -> Result<Py, ScriptError> {
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

/// The expression that a string holds: `"n + 1"` at `literal`. Spans count from the start of `source`, not of the
/// string.
pub(super) fn quoted_expression(source: &str, literal: Span) -> Result<Py, ScriptError> {
    let malformed = || ScriptError::syntax(literal, "expected an expression in quotes");
    let range = literal.range().start + 1..literal.range().end.saturating_sub(1);
    let mut tokens = lex(source.get(range.clone()).ok_or_else(malformed)?).map_err(|_| malformed())?;
    for token in &mut tokens {
        token.span = Span::new(token.span.start as usize + range.start, token.span.end as usize + range.start);
    }
    let mut parser = Parser::new(source, &tokens);
    let value = parser.expression()?;
    // The lexer ends every text with a line end, so this says that nothing follows the expression.
    if parser.peek().tok == Tok::Newline { Ok(value) } else { Err(malformed()) }
}

/// Arguments without a name, and those with one.
type Arguments = (Vec<Py>, Vec<(String, Py)>);

impl Node {
    /// The depth of the deepest operand; 0 if there are none. [`Parser::make`] limits it, so that later recursions
    /// over the tree cannot overflow the stack.
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
                    // A slice becomes `ramp(start, step, (stop - start) / step)`: two levels more than its bounds.
                    Subscript::Slice(start, stop, _) => 2 + start.depth.max(stop.depth),
                };
                base.depth.max(subscripts.iter().map(of).max().unwrap_or(0))
            }
            Node::Tuple(items) | Node::List(items) => deepest(items),
            Node::Dict(entries) => entries.iter().map(|(k, v)| k.depth.max(v.depth)).max().unwrap_or(0),
            Node::Negative(value) | Node::Inverted(value) | Node::Not(value) => value.depth,
            Node::Binary(_, left, right) => left.depth.max(right.depth),
            Node::Choice(parts) => deepest(parts.as_slice()),
            _ => 0,
        }
    }
}

/// The value of a number: hexadecimal, a whole number up to 64 bits, or a floating-point number.
fn number(text: &str, span: Span) -> Result<Node, ScriptError> {
    let digits = text.replace('_', "");
    let hex = digits.strip_prefix("0x").or(digits.strip_prefix("0X"));
    if let Some(hex) = hex {
        let value = i64::from_str_radix(hex, 16);
        return value.map(Node::Int).map_err(|_| ScriptError::syntax(span, "expected a hexadecimal number below 2^63"));
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let value = digits.parse().map(Node::Int).or_else(|_| digits.parse().map(Node::Large));
        return value.map_err(|_| ScriptError::syntax(span, "expected a number below 2^64"));
    }
    let value = digits.parse().map(Node::Float);
    value.map_err(|_| ScriptError::syntax(span, "expected a number"))
}

/// The content of a string token, without prefix and quotes. A line that is printed anew prints this content, so it
/// must be what Python reads: `r"\d"` is taken as it is, and a string that Python computes (`f"{x}"`) is refused, as
/// are bytes (`b"…"`).
fn unquote(text: &str, span: Span) -> Result<String, ScriptError> {
    let (prefix, body) = text.find(['"', '\'']).map_or(("", text), |quote| text.split_at(quote));
    // A string in triple quotes has at least six quotes; `""` has two and is an empty string in single ones.
    let quotes = if body.len() >= 6 && (body.starts_with("\"\"\"") || body.starts_with("'''")) { 3 } else { 1 };
    let body = body.get(quotes..body.len().saturating_sub(quotes)).unwrap_or("");
    // To Python every line break is `\n`, whatever the file has.
    let body = body.replace("\r\n", "\n");
    match prefix {
        "" | "u" | "U" => unescape(&body, span),
        "r" | "R" => Ok(body),
        _ => Err(ScriptError::unsupported(span, format!("a string with the prefix `{prefix}`"))),
    }
}

/// Replaces the escapes of Python (`\t`, `\x41`, `\101`) by the characters that they stand for.
fn unescape(body: &str, span: Span) -> Result<String, ScriptError> {
    let mut content = String::with_capacity(body.len());
    let mut rest = body;
    while let Some((before, escape)) = rest.split_once('\\') {
        content.push_str(before);
        let mut chars = escape.chars();
        // The lexer lets no string end directly after a backslash.
        let Some(letter) = chars.next() else { break };
        rest = chars.as_str();
        match letter {
            // A backslash at the end of a line joins the next line to it.
            '\n' => {}
            '\\' | '\'' | '"' => content.push(letter),
            'a' => content.push('\u{7}'),
            'b' => content.push('\u{8}'),
            'f' => content.push('\u{c}'),
            'n' => content.push('\n'),
            'r' => content.push('\r'),
            't' => content.push('\t'),
            'v' => content.push('\u{b}'),
            '0'..='7' => {
                // One to three octal digits, of which `letter` is the first.
                let digits = escape.bytes().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
                content.extend(character(&escape[..digits], 8));
                rest = &escape[digits..];
            }
            'x' | 'u' | 'U' | 'N' => {
                let digits = match letter {
                    'x' => 2,
                    'u' => 4,
                    _ => 8,
                };
                // `\N{name}` would need a table of all names; half a surrogate pair is no character.
                let code = rest.get(..digits).filter(|_| letter != 'N').and_then(|code| character(code, 16));
                let Some(code) = code else {
                    return Err(ScriptError::unsupported(span, format!("the escape `\\{letter}` as it stands here")));
                };
                content.push(code);
                rest = &rest[digits..];
            }
            // Python keeps the backslash of an escape that it does not know.
            other => content.extend(['\\', other]),
        }
    }
    content.push_str(rest);
    Ok(content)
}

/// The character whose number these digits are; `None` if they are no such number.
fn character(digits: &str, radix: u32) -> Option<char> {
    // `from_str_radix` alone would take a sign, too.
    let is_number = digits.chars().all(|digit| digit.is_digit(radix));
    u32::from_str_radix(digits, radix).ok().filter(|_| is_number).and_then(char::from_u32)
}
