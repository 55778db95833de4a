//! Element expressions as text: `max(S[i, j], f32(0)) + T.v1[7 - i] * 2.0`.
//!
//! Python's operators and precedence; `cast('int32', x)`, `f32(x)` and its relatives, `select(c, a, b)`, `max`, `min`,
//! and the mathematical functions the interpreter knows. A bare number takes the type of the other operand, except for
//! a fraction beside an integer: `i * 0.5` is computed in float32. Of two other types, the narrower is converted.
//!
//! One function reads each level of precedence, from the operator that binds least to the one that binds most:
//!
//! ```text
//! choice      both or both …               comparison   sum < sum             (at most one comparison)
//! both        negation and negation …      sum          product + product …
//! negation    not … comparison             product      factor * factor …
//!                                          factor       - … atom
//!                                          atom         12   i   A[i, 0]   f(x, y)   (choice)
//! ```

// The graph knows the tensors by name; `tables` in it are the buffers and variables that expressions refer to.
use super::graph::Graph;
use crate::ir::{BinaryOp, BufId, Expr, VarId};
use crate::{DType, Kind};
use std::collections::BTreeMap;

/// What is wrong with an expression, and where in its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ParseError {
    /// The byte of the expression's text at which it shows, counted from 0.
    pub(super) at: usize,
    /// What is wrong.
    pub(super) message: String,
}

/// The most brackets, subscripts and argument lists that may be open around a part of an expression. It is far below
/// what the loop IR allows (256), because operators and conversions make the tree deeper than the brackets.
const MAX_DEPTH: usize = 60;
/// The most operators in one expression. Each may make the tree one deeper: `a + b + c` is `(a + b) + c`.
const MAX_OPERATORS: usize = 120;

/// The functions of one number; the interpreter knows all of them.
const UNARY_FUNCTIONS: [&str; 14] =
    ["exp", "log", "sqrt", "rsqrt", "tanh", "sigmoid", "sin", "cos", "floor", "ceil", "round", "trunc", "abs", "exp2"];

/// The names an expression may use: the tensors of a graph, and axes and sizes.
pub(super) struct Names<'a> {
    pub(super) graph: &'a Graph,
    /// Axes and sizes by name.
    pub(super) vars: BTreeMap<String, VarId>,
}

/// Reads an expression; the whole text must belong to it.
pub(super) fn parse(text: &str, names: &Names<'_>) -> Result<Expr, ParseError> {
    let mut parser = Parser { text, at: 0, names, depth: 0, operators: 0 };
    let value = parser.choice()?;
    parser.skip_blanks();
    if parser.at < text.len() {
        return Err(parser.error("expected an operator or the end"));
    }
    Ok(value.expr)
}

/// An expression, and whether its type is settled.
#[derive(Clone)]
struct Typed {
    expr: Expr,
    /// It is a bare number, which takes the type of the operand it is combined with.
    literal: bool,
}

impl Typed {
    /// A value that keeps its type whatever it is combined with.
    fn known(expr: Expr) -> Typed {
        Typed { expr, literal: false }
    }
}

/// The state of reading one expression.
struct Parser<'a> {
    text: &'a str,
    /// The byte of `text` that is read next.
    at: usize,
    names: &'a Names<'a>,
    /// How many brackets, subscripts and argument lists are open around `at`, plus one.
    depth: usize,
    /// How many operators were read so far.
    operators: usize,
}

type Parsed = Result<Typed, ParseError>;

impl Parser<'_> {
    /// An error at the place where reading stands.
    fn error(&self, message: impl Into<String>) -> ParseError {
        ParseError { at: self.at, message: message.into() }
    }

    /// The text that is not read yet.
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn skip_blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Skips blanks and goes past `token` if it comes next; whether it did.
    fn take(&mut self, token: &str) -> bool {
        self.skip_blanks();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// Like [`take`](Parser::take), but it is an error if something else comes next.
    fn expect(&mut self, token: &str) -> Result<(), ParseError> {
        if self.take(token) { Ok(()) } else { Err(self.error(format!("expected `{token}`"))) }
    }

    /// Like [`take`](Parser::take) for a word, which must not go on: `or` is not the beginning of `order`.
    fn take_word(&mut self, word: &str) -> bool {
        self.skip_blanks();
        let follows = self.rest().strip_prefix(word).and_then(|rest| rest.chars().next());
        let found = self.rest().starts_with(word) && !follows.is_some_and(|c| c.is_alphanumeric() || c == '_');
        if found {
            self.at += word.len();
        }
        found
    }

    /// Counts an operator; an error if there are too many.
    fn operator(&mut self) -> Result<(), ParseError> {
        self.operators += 1;
        if self.operators > MAX_OPERATORS { Err(self.error("too many operators")) } else { Ok(()) }
    }

    /// Reads operands of `or`, the operator that binds least. Every expression in brackets, subscripts or arguments is
    /// read by this function, so the depth is counted here. (An error ends the parser, so nobody counts it down then.)
    fn choice(&mut self) -> Parsed {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("the expression nests too deeply"));
        }
        let mut left = self.both()?;
        while self.take_word("or") {
            self.operator()?;
            let right = self.both()?;
            left = self.logical(BinaryOp::Or, left, right);
        }
        self.depth -= 1;
        Ok(left)
    }

    /// Reads operands of `and`.
    fn both(&mut self) -> Parsed {
        let mut left = self.negation()?;
        while self.take_word("and") {
            self.operator()?;
            let right = self.negation()?;
            left = self.logical(BinaryOp::And, left, right);
        }
        Ok(left)
    }

    /// `and` or `or` of two values, which are converted to truth values.
    fn logical(&self, op: BinaryOp, left: Typed, right: Typed) -> Typed {
        let truth = |value: Typed| self.converted(value.expr, DType::BOOL);
        Typed::known(Expr::binary(op, truth(left), truth(right)))
    }

    /// Reads `not`, any number of times, and what it negates.
    fn negation(&mut self) -> Parsed {
        let mut negations = 0;
        while self.take_word("not") {
            negations += 1;
        }
        let mut value = self.comparison()?;
        if negations > 0 {
            let truth = self.converted(value.expr, DType::BOOL);
            value = Typed::known(if negations % 2 == 1 { Expr::Not(Box::new(truth)) } else { truth });
        }
        Ok(value)
    }

    /// Reads a sum, or two of them with a comparison in between.
    fn comparison(&mut self) -> Parsed {
        let left = self.sum()?;
        // Longer operators come first, so that `<=` is not read as `<`.
        let operators = [
            ("<=", BinaryOp::Le),
            (">=", BinaryOp::Ge),
            ("==", BinaryOp::Eq),
            ("!=", BinaryOp::Ne),
            ("<", BinaryOp::Lt),
            (">", BinaryOp::Gt),
        ];
        let Some((_, op)) = operators.into_iter().find(|(token, _)| self.take(token)) else {
            return Ok(left);
        };
        self.operator()?;
        let right = self.sum()?;
        let (left, right, _) = self.matched(left, right);
        Ok(Typed::known(Expr::binary(op, left, right)))
    }

    /// Reads products with `+` and `-` between them.
    fn sum(&mut self) -> Parsed {
        let mut left = self.product()?;
        loop {
            let op = if self.take("+") {
                BinaryOp::Add
            } else if self.take("-") {
                BinaryOp::Sub
            } else {
                return Ok(left);
            };
            self.operator()?;
            let right = self.product()?;
            left = self.arithmetic(op, left, right)?;
        }
    }

    /// Reads factors with `*`, `/`, `//` and `%` between them.
    fn product(&mut self) -> Parsed {
        let mut left = self.factor()?;
        loop {
            // `//` is asked for before `/`, which is its beginning.
            let op = if self.take("//") {
                BinaryOp::FloorDiv
            } else if self.take("*") {
                BinaryOp::Mul
            } else if self.take("/") {
                BinaryOp::Div
            } else if self.take("%") {
                BinaryOp::FloorMod
            } else {
                return Ok(left);
            };
            self.operator()?;
            let right = self.factor()?;
            left = self.arithmetic(op, left, right)?;
        }
    }

    /// `left op right`, with both operands converted to one type. Two bare numbers are computed at once, if they are
    /// integers; the result is no bare number any more: it stays an int32 or int64.
    fn arithmetic(&mut self, op: BinaryOp, left: Typed, right: Typed) -> Parsed {
        let (left, right, literal) = self.matched(left, right);
        // To Python, `1 / 2` is 0.5.
        if let (BinaryOp::Div, true, Some(a), Some(b)) = (op, literal, left.as_int(), right.as_int()) {
            if b == 0 {
                return Err(self.error("a division by zero"));
            }
            return Ok(Typed::known(Expr::Float { value: a as f64 / b as f64, dtype: DType::FLOAT32 }));
        }
        let dtype = left.dtype(&self.names.graph.tables);
        if dtype.is_float() && matches!(op, BinaryOp::FloorDiv | BinaryOp::FloorMod) {
            return Err(self.error("`//` and `%` are for integers"));
        }
        let folded = crate::linear::fold(op, &left, &right).filter(|_| literal);
        Ok(Typed { expr: folded.unwrap_or_else(|| Expr::binary(op, left, right)), literal: false })
    }

    /// Both operands converted to one type, and whether both were bare numbers.
    fn matched(&self, left: Typed, right: Typed) -> (Expr, Expr, bool) {
        let tables = &self.names.graph.tables;
        let (a, b) = (left.expr.dtype(tables), right.expr.dtype(tables));
        // A fraction beside an integer takes no integer type, because that would round it.
        let target = match (left.literal, right.literal) {
            (true, false) if b.is_float() || a.is_integer() => b,
            (false, true) if a.is_float() || b.is_integer() => a,
            _ => wider(a, b),
        };
        let both = left.literal && right.literal;
        (self.converted(left.expr, target), self.converted(right.expr, target), both)
    }

    /// The value converted to another type. Constants are converted at once, except to truth values; everything else
    /// gets a cast.
    fn converted(&self, expr: Expr, dtype: DType) -> Expr {
        if expr.dtype(&self.names.graph.tables) == dtype {
            return expr;
        }
        match expr {
            Expr::Int { value, .. } if dtype.is_float() => Expr::Float { value: value as f64, dtype },
            Expr::Int { value, .. } if dtype.is_integer() && dtype.kind != Kind::Bool => Expr::Int { value, dtype },
            Expr::Float { value, .. } if dtype.is_float() => Expr::Float { value, dtype },
            Expr::Float { value, .. } if dtype.is_integer() && dtype.kind != Kind::Bool => {
                Expr::Int { value: value as i64, dtype }
            }
            other => Expr::Cast { dtype, value: Box::new(other) },
        }
    }

    /// An atom with any number of minus signs in front. A negative number stays a literal, so that it still takes the
    /// type of the other operand; any other integer is subtracted from zero, and any other float multiplied by -1.
    fn factor(&mut self) -> Parsed {
        // Two minus signs cancel out.
        let mut negative = false;
        while self.take("-") {
            negative = !negative;
        }
        let value = self.atom()?;
        if !negative {
            return Ok(value);
        }
        match value.expr {
            // The lowest number of 64 bits has no negation and stays as it is, as on a machine.
            Expr::Int { value: number, dtype } => {
                Ok(Typed { expr: Expr::Int { value: number.wrapping_neg(), dtype }, literal: value.literal })
            }
            Expr::Float { value: number, dtype } => {
                Ok(Typed { expr: Expr::Float { value: -number, dtype }, literal: value.literal })
            }
            // `0.0 - x` has another sign than `-x` if `x` is zero.
            other if other.dtype(&self.names.graph.tables).is_float() => {
                let minus_one = Typed { expr: Expr::int(-1), literal: true };
                self.arithmetic(BinaryOp::Mul, Typed::known(other), minus_one)
            }
            other => {
                let zero = Typed { expr: Expr::int(0), literal: true };
                self.arithmetic(BinaryOp::Sub, zero, Typed::known(other))
            }
        }
    }

    /// Reads a number, something with a name, or an expression in brackets.
    fn atom(&mut self) -> Parsed {
        self.skip_blanks();
        if self.take("(") {
            let value = self.choice()?;
            self.expect(")")?;
            return Ok(value);
        }
        match self.rest().chars().next() {
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => self.named(),
            _ => Err(self.error("expected a number, a name or `(`")),
        }
    }

    /// Reads a number. A literal takes the type of what it is combined with; until then it is an int32 or a float32, or
    /// an int64 if it is too large.
    fn number(&mut self) -> Parsed {
        let rest = self.rest();
        // Takes digits, `.` and `e`, and a sign directly after an `e`: `1.5e-3` is one number, `1-3` is not.
        let mut length = 0;
        let bytes = rest.as_bytes();
        while let Some(&byte) = bytes.get(length) {
            let exponent_sign = matches!(byte, b'+' | b'-') && length > 0 && matches!(bytes[length - 1], b'e' | b'E');
            if !(byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E') || exponent_sign) {
                break;
            }
            length += 1;
        }
        let digits = &rest[..length];
        let expr = if let Ok(value) = digits.parse::<i64>() {
            let dtype = if i32::try_from(value).is_ok() { DType::INT32 } else { DType::INT64 };
            Expr::Int { value, dtype }
        } else if let Ok(value) = digits.parse::<f64>() {
            Expr::Float { value, dtype: DType::FLOAT32 }
        } else {
            return Err(self.error(format!("`{digits}` is no number")));
        };
        self.at += length;
        Ok(Typed { expr, literal: true })
    }

    /// Reads a name. Dots belong to it, as in `T.v1`, the second output of `T`.
    fn name(&mut self) -> String {
        let end = self.rest().find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'));
        let name = self.rest()[..end.unwrap_or(self.rest().len())].to_owned();
        self.at += name.len();
        name
    }

    /// Reads what begins with a name: a call, an element of a tensor, or an axis or size.
    fn named(&mut self) -> Parsed {
        let start = self.at;
        let name = self.name();
        if self.take("(") {
            return self.call(&name, start);
        }
        if self.take("[") {
            return self.load(&name, start);
        }
        if let Some(var) = self.names.vars.get(&name) {
            return Ok(Typed::known(Expr::Var(*var)));
        }
        if self.names.graph.tensor_named(&name).is_some() {
            return Err(self.error(format!("`{name}` is a tensor; an element of it is `{name}[…]`")));
        }
        Err(ParseError { at: start, message: format!("`{name}` is no axis, size or tensor") })
    }

    /// Reads the subscripts of a tensor after the opening bracket: `i, j + 1]`. `start` is where the name stands, for
    /// messages.
    fn load(&mut self, name: &str, start: usize) -> Parsed {
        let Some(buffer) = self.names.graph.tensor_named(name) else {
            return Err(ParseError { at: start, message: format!("there is no tensor called `{name}`") });
        };
        let mut index = Vec::new();
        if !self.take("]") {
            loop {
                let subscript = self.choice()?;
                index.push(subscript.expr);
                if !self.take(",") {
                    break;
                }
            }
            self.expect("]")?;
        }
        self.check_subscripts(buffer, &index, start)?;
        Ok(Typed::known(Expr::Load { buffer, index }))
    }

    /// An error unless there is one integer subscript for each dimension of a tensor.
    fn check_subscripts(&self, buffer: BufId, index: &[Expr], start: usize) -> Result<(), ParseError> {
        let tables = &self.names.graph.tables;
        let declared = &tables.buffers[buffer];
        if declared.shape.len() != index.len() {
            let message = format!("`{}` has {} dimensions, not {}", declared.name, declared.shape.len(), index.len());
            return Err(ParseError { at: start, message });
        }
        if index.iter().any(|subscript| !subscript.dtype(tables).is_integer()) {
            return Err(ParseError { at: start, message: format!("a subscript of `{}` is no integer", declared.name) });
        }
        Ok(())
    }

    /// Reads the arguments of a call after the opening bracket, up to and with the closing one.
    fn arguments(&mut self) -> Result<Vec<Typed>, ParseError> {
        let mut args = Vec::new();
        if self.take(")") {
            return Ok(args);
        }
        loop {
            args.push(self.choice()?);
            if !self.take(",") {
                self.expect(")")?;
                return Ok(args);
            }
        }
    }

    /// Reads a call after its opening bracket: `cast('int32', x)`, a short cast such as `f32(x)`, `max`, `min`,
    /// `select`, `if_then_else` or a mathematical function. `start` is where the name stands, for messages.
    fn call(&mut self, name: &str, start: usize) -> Parsed {
        // A cast takes its type as a quoted text, which is no expression. It is read before the arguments are.
        if name == "cast" {
            let dtype = self.quoted_type()?;
            self.expect(",")?;
            let value = self.choice()?;
            self.expect(")")?;
            return Ok(Typed::known(self.converted(value.expr, dtype)));
        }
        let args = self.arguments()?;
        let tables = &self.names.graph.tables;
        // `f32(x)`: a cast with a short name.
        if let Some(dtype) = short_type(name) {
            let [value] = exactly(args, name, start, "one argument")?;
            return Ok(Typed::known(self.converted(value.expr, dtype)));
        }
        match name {
            "max" | "min" => {
                // Two operands with different types are brought to one, as everywhere else in this language.
                let [a, b] = exactly(args, name, start, "two arguments")?;
                let (a, b, _) = self.matched(a, b);
                let op = if name == "max" { BinaryOp::Max } else { BinaryOp::Min };
                Ok(Typed::known(Expr::binary(op, a, b)))
            }
            "select" | "if_then_else" => {
                let [condition, a, b] = exactly(args, name, start, "three arguments")?;
                let condition = self.converted(condition.expr, DType::BOOL);
                let (a, b, _) = self.matched(a, b);
                Ok(Typed::known(choose(name, condition, a, b, tables)))
            }
            _ if UNARY_FUNCTIONS.contains(&name) => {
                let [value] = exactly(args, name, start, "one argument")?;
                let dtype = value.expr.dtype(tables);
                Ok(Typed::known(Expr::Call { name: name.to_owned(), args: vec![value.expr], dtype }))
            }
            _ => Err(ParseError { at: start, message: format!("there is no function called `{name}`") }),
        }
    }

    /// Reads a type in single or double quotes.
    fn quoted_type(&mut self) -> Result<DType, ParseError> {
        self.skip_blanks();
        let quote = self.rest().chars().next().filter(|c| matches!(c, '\'' | '"'));
        let Some(quote) = quote else { return Err(self.error("expected a type in quotes")) };
        let inner = &self.rest()[1..];
        let Some(end) = inner.find(quote) else { return Err(self.error("a quote is not closed")) };
        let dtype = inner[..end].parse::<DType>().map_err(|error| self.error(error.to_string()))?;
        // The type and its two quotes.
        self.at += end + 2;
        Ok(dtype)
    }
}

/// The arguments of a call as an array of the length that the caller asks for. If there are fewer or more, the message
/// says how many the function takes; `count` is that number in words.
fn exactly<const N: usize>(args: Vec<Typed>, name: &str, start: usize, count: &str) -> Result<[Typed; N], ParseError> {
    args.try_into().map_err(|_| ParseError { at: start, message: format!("`{name}` takes {count}") })
}

/// A choice between two values. `select` evaluates both sides; `if_then_else` is a call that evaluates only the side
/// that is chosen.
fn choose(name: &str, condition: Expr, then: Expr, otherwise: Expr, tables: &crate::ir::Function) -> Expr {
    if name == "select" {
        return Expr::Select { condition: Box::new(condition), then: Box::new(then), otherwise: Box::new(otherwise) };
    }
    let dtype = then.dtype(tables);
    Expr::Call { name: name.to_owned(), args: vec![condition, then, otherwise], dtype }
}

/// The type that a short name of a cast stands for: `f32`, `i8`, `u16`. `None` for any other name.
fn short_type(name: &str) -> Option<DType> {
    let kind = match name.get(..1)? {
        "f" => "float",
        "i" => "int",
        "u" => "uint",
        _ => return None,
    };
    format!("{kind}{}", name.get(1..)?).parse().ok().filter(|dtype: &DType| dtype.lanes == 1)
}

/// The type that two operands are converted to: floats win over integers, and more bits over fewer. With equal bits it
/// is the type of the left operand.
fn wider(a: DType, b: DType) -> DType {
    match (a.is_float(), b.is_float()) {
        (true, false) => a,
        (false, true) => b,
        _ if a.bits >= b.bits => a,
        _ => b,
    }
}
