//! Reads expressions of TVMScript: names, numbers, operators, elements of buffers and their slices.

use super::ScriptError;
use super::python::{Node, Py, Subscript};
// `Binding` is what a name stands for here, `coerce` gives a value a type, and `script_name` gives the name behind
// `T.`.
use super::read::{Binding, Reader, coerce, script_name};
use crate::ir::{BinaryOp, BufId, Expr, LIST, Memory, OTHER_FUNCTION, SLICE, TUPLE, Var};
use crate::linear::{Linear, constant_difference, fold};
use crate::{DType, Kind};
use memplan_core::Span;

/// Larger constants and factors in subscripts are refused: no machine has 2^48 elements, and a factor of at most 2^48
/// leaves 15 bits before later computations (element numbers times bits per element) leave 63 bits.
pub(crate) const MAX_SUBSCRIPT: u64 = 1 << 48;

/// Whether the constant of a subscript or the factor of a variable in it is beyond [`MAX_SUBSCRIPT`], or the subscript
/// does not fit 64 bits as a sum.
fn passes_every_memory(subscript: &Expr) -> bool {
    if let Expr::Ramp { base, stride, .. } = subscript {
        return [base, stride].into_iter().any(|part| passes_every_memory(part));
    }
    Linear::of(subscript).is_none_or(|sum| {
        let coefficients = sum.terms.iter().map(|(_, coefficient)| *coefficient);
        coefficients.chain([sum.constant]).any(|number| number.unsigned_abs() > MAX_SUBSCRIPT)
    })
}

impl Reader<'_> {
    /// The buffer that a name stands for.
    pub(super) fn buffer_named(&self, value: &Py) -> Result<BufId, ScriptError> {
        let Node::Name(name) = &value.node else {
            return Err(ScriptError::invalid(value.span, "expected the name of a buffer"));
        };
        match self.lookup(name) {
            Some(Binding::Buffer(buffer)) => Ok(*buffer),
            Some(_) => Err(ScriptError::invalid(value.span, format!("`{name}` is not a buffer"))),
            None => Err(ScriptError::UnknownName { span: value.span, name: name.clone() }),
        }
    }

    /// Reads the subscripts of an access to a buffer, one per dimension; slices become ramps.
    pub(super) fn index(
        &mut self,
        buffer: BufId,
        subscripts: &[Subscript],
        span: Span,
    ) -> Result<Vec<Expr>, ScriptError> {
        let rank = self.function.buffers[buffer].shape.len();
        // `A[()]` is the only element of a buffer without dimensions.
        if let [Subscript::One(Py { node: Node::Tuple(none), .. })] = subscripts
            && rank == 0
            && none.is_empty()
        {
            return Ok(Vec::new());
        }
        // In Python `A[i]` could mean a whole row. Such an access is not read.
        if subscripts.len() != rank {
            let name = &self.function.buffers[buffer].name;
            let message = format!("`{name}` has {rank} dimensions, but {} subscripts are given", subscripts.len());
            return Err(ScriptError::invalid(span, message));
        }
        let mut index = Vec::with_capacity(rank);
        for (dimension, subscript) in subscripts.iter().enumerate() {
            index.push(match subscript {
                Subscript::One(at) => self.integer(at)?,
                Subscript::Slice(start, stop, step) => {
                    let extent = self.function.buffers[buffer].shape[dimension].clone();
                    self.slice([start, stop], step.as_ref(), &extent, span)?
                }
            });
        }
        // No memory is that large, and later computations with such a subscript could overflow.
        if index.iter().any(passes_every_memory) {
            return Err(ScriptError::invalid(span, "a subscript is outside of every memory"));
        }
        // A mutable scalar is printed without its subscript, so a subscript other than 0 would get lost.
        let declared = &self.function.buffers[buffer];
        if declared.scalar && index.iter().any(|at| at.as_int() != Some(0)) {
            let message = format!("`{}` is a single number: it has no other subscript than 0", declared.name);
            return Err(ScriptError::invalid(span, message));
        }
        Ok(index)
    }

    /// Reads a slice as a subscript: `A[i:i + 4]` is a ramp of four lanes. A slice whose length is not a constant is
    /// kept as a call of the reserved name [`SLICE`]. `extent` is the length of the dimension, where a slice without a
    /// stop ends.
    fn slice(&mut self, bounds: [&Py; 2], step: Option<&Py>, extent: &Expr, span: Span) -> Result<Expr, ScriptError> {
        let [start, stop] = bounds;
        // `A[:]` is all of `A`, and the rewritten `A` may be longer. So the line is printed anew, with the bounds as
        // numbers.
        self.spells_out |= matches!(start.node, Node::None) || matches!(stop.node, Node::None);
        let start = if matches!(start.node, Node::None) { Expr::int(0) } else { self.integer(start)? };
        let stop = if matches!(stop.node, Node::None) { extent.clone() } else { self.integer(stop)? };
        let step = match step {
            Some(step) => self.integer(step)?,
            None => Expr::int(1),
        };
        let dtype = start.dtype(&self.function);
        let Some(length) = constant_difference(&stop, &start).zip(step.as_int()) else {
            return Ok(self.long_slice(start, stop, step, dtype));
        };
        let lanes = Some(length)
            .and_then(|(length, step)| (step > 0 && length > 0).then(|| (length as u64).div_ceil(step as u64)))
            .and_then(|lanes| u16::try_from(lanes).ok())
            .ok_or_else(|| ScriptError::invalid(span, "a slice needs a length of 1 to 65535"))?;
        // One element is an ordinary subscript.
        if lanes == 1 {
            return Ok(start);
        }
        Ok(Expr::Ramp { stride: Box::new(coerce(step, dtype, &self.function)), base: Box::new(start), lanes })
    }

    /// A slice whose length is not a constant. If the machine decides about it (`A[i:i + 4 * T.vscale()]`) it is kept
    /// as `T.Ramp(start, step, lanes)`, otherwise as a slice.
    fn long_slice(&self, start: Expr, stop: Expr, step: Expr, dtype: DType) -> Expr {
        // The length contains `T.vscale()`, a number of lanes that only the machine knows.
        let is_scalable = |part: &Expr| matches!(part, Expr::Call { name, .. } if name == "vscale");
        if !stop.any(&is_scalable) {
            return Expr::Call { name: SLICE.to_owned(), args: vec![start, stop, step], dtype };
        }
        let lanes = self.arithmetic(BinaryOp::Sub, stop, start.clone());
        Expr::Call { name: format!("{OTHER_FUNCTION}T.Ramp"), args: vec![start, step, lanes], dtype }
    }

    /// A list or tuple that mentions names, as a call of the reserved name [`LIST`] or [`TUPLE`].
    fn sequence(&mut self, name: &str, items: &[Py]) -> Result<Expr, ScriptError> {
        let args = items.iter().map(|item| self.expr(item)).collect::<Result<Vec<_>, _>>()?;
        Ok(Expr::Call { name: name.to_owned(), args, dtype: DType::HANDLE })
    }

    /// `A.elem_offset` and other numbers that come with a buffer: a variable with this text as its name, the same one
    /// in the whole function.
    fn property(&mut self, buffer: BufId, span: Span) -> Expr {
        let name = &self.source[span.range()];
        if let Some(Binding::Var(var)) = self.lookup(name) {
            return Expr::Var(*var);
        }
        let root = self.function.root(buffer);
        if self.function.buffers[root].memory == Memory::Own {
            // The value depends on where the buffer lies, so the rewriter must not move the buffer.
            self.function.buffers[root].pinned = true;
        }
        let var = self.function.vars.push(Var { name: name.to_owned(), dtype: DType::INT32 });
        self.bind_for_good(name, Binding::Var(var));
        Expr::Var(var)
    }

    /// Reads `A.shape[0]`, which is the extent itself, or `A.strides[1]`, which is a variable (see `property`).
    fn property_element(&mut self, base: &Py, subscripts: &[Subscript], span: Span) -> Result<Expr, ScriptError> {
        let (Node::Attribute(buffer, name), [Subscript::One(Py { node: Node::Int(at), .. })]) =
            (&base.node, subscripts)
        else {
            return Err(ScriptError::unsupported(span, "this expression"));
        };
        let buffer = self.buffer_named(buffer)?;
        if name != "shape" {
            return Ok(self.property(buffer, span));
        }
        let extent = usize::try_from(*at).ok().and_then(|at| self.function.buffers[buffer].shape.get(at));
        extent.cloned().ok_or_else(|| ScriptError::invalid(span, "the buffer has no such dimension"))
    }

    /// Reads an expression. What mentions no name of the function is kept as text.
    pub(super) fn expr(&mut self, value: &Py) -> Result<Expr, ScriptError> {
        match &value.node {
            // Constants. A bare number is `int32` or `float32`; `unify` gives it the type in which TVM computes.
            Node::Int(number) => Ok(literal(*number)),
            Node::Float(number) => Ok(Expr::Float { value: *number, dtype: DType::FLOAT32 }),
            Node::True | Node::False => {
                Ok(Expr::Int { value: i64::from(matches!(value.node, Node::True)), dtype: DType::BOOL })
            }
            Node::Str(text) => Ok(Expr::Str(text.clone())),
            Node::Name(name) => self.name_value(name, value.span),
            Node::Attribute(base, name) if name == "data" => Ok(Expr::Data(self.buffer_named(base)?)),
            // An attribute of something without names: `T.handle("float32").ty`.
            Node::Attribute(base, _) if is_plain(&base.node) => {
                Ok(Expr::Text(self.source[value.span.range()].to_owned()))
            }
            Node::Attribute(base, name) => {
                let buffer = self.buffer_named(base)?;
                Ok(if name == "dtype" {
                    Expr::Str(self.function.buffers[buffer].dtype.to_string())
                } else {
                    self.property(buffer, value.span)
                })
            }
            // `A.shape[0]`, `A.strides[1]`.
            Node::Subscript(base, subscripts) if matches!(base.node, Node::Attribute(..)) => {
                self.property_element(base, subscripts, value.span)
            }
            // An object that the text keeps at its end: `metadata["tirx.Layout"][0]`.
            Node::Subscript(base, _) if is_metadata(base) => Ok(Expr::Text(self.source[value.span.range()].to_owned())),
            Node::Subscript(base, subscripts) => {
                let buffer = self.buffer_named(base)?;
                let index = self.index(buffer, subscripts, value.span)?;
                Ok(Expr::Load { buffer, index })
            }
            // The loop IR has no negation: `-x` is `0 - x`, and of a float `x * -1`, because `0 - x` has another sign
            // if
            // `x` is zero. Negative constants are literals already.
            Node::Negative(operand) => {
                let is_known = is_literal(&operand.node);
                let operand = self.expr(operand)?;
                // `-(1.0 / 3.0)`: Python has computed it.
                if let (true, Expr::Float { value, dtype }) = (is_known, &operand) {
                    return Ok(Expr::Float { value: -value, dtype: *dtype });
                }
                let dtype = operand.dtype(&self.function);
                if dtype.is_float() {
                    let minus_one = coerce(Expr::int(-1), dtype, &self.function);
                    return Ok(self.arithmetic(BinaryOp::Mul, operand, minus_one));
                }
                let zero = coerce(Expr::int(0), dtype, &self.function);
                Ok(self.arithmetic(BinaryOp::Sub, zero, operand))
            }
            Node::Inverted(operand) => {
                let operand = self.expr(operand)?;
                let dtype = operand.dtype(&self.function);
                Ok(Expr::Call { name: "bitwise_not".to_owned(), args: vec![operand], dtype })
            }
            Node::Lambda => Ok(Expr::Text(self.source[value.span.range()].to_owned())),
            // A list of constants is kept as text; a list that mentions names becomes a call of a reserved name
            // (below), so that the names in it count as uses.
            Node::List(items) | Node::Tuple(items) if items.iter().all(|item| is_plain(&item.node)) => {
                Ok(Expr::Text(self.source[value.span.range()].to_owned()))
            }
            Node::None => Ok(Expr::Text("None".to_owned())),
            Node::List(items) => self.sequence(LIST, items),
            Node::Tuple(items) => self.sequence(TUPLE, items),
            // `a if c else b` evaluates one side only, as `T.if_then_else` does.
            Node::Choice(parts) => {
                let [then, condition, otherwise] = &**parts;
                let condition = self.expr(condition)?;
                let (then, otherwise) = (self.expr(then)?, self.expr(otherwise)?);
                let (then, otherwise) = self.unify(then, otherwise);
                let dtype = then.dtype(&self.function);
                Ok(Expr::Call { name: "if_then_else".to_owned(), args: vec![condition, then, otherwise], dtype })
            }
            Node::Not(operand) => Ok(Expr::Not(Box::new(self.expr(operand)?))),
            Node::Binary(operator, left, right) => {
                let literals = (is_literal(&left.node), is_literal(&right.node));
                let (left, right) = (self.expr(left)?, self.expr(right)?);
                // Strings may be compared with strings (`A.dtype == "float32"`), but not with numbers.
                if matches!(left, Expr::Str(_)) != matches!(right, Expr::Str(_)) {
                    return Err(ScriptError::invalid(value.span, "a number and a string have no value together"));
                }
                // Python computes with literals itself, before TVM sees them: `1 / 2` is 0.5, and sums have any size.
                if literals == (true, true)
                    && let Some(known) = self.literal_arithmetic(operator, &left, &right)
                {
                    return Ok(known);
                }
                let bits = bit_operation(operator);
                let compares = matches!(*operator, "==" | "!=" | "<" | "<=" | ">" | ">=");
                let constants = [&left, &right].map(|operand| operand.as_int().is_some());
                let (left, right) = if bits.is_some() {
                    self.adapt_bits(literals, left, right)
                } else if compares {
                    self.adapt(literals, left, right)
                } else if matches!(*operator, "and" | "or") {
                    // Truth values, or what the author takes for some: they have no common type.
                    (left, right)
                } else {
                    self.unify(left, right)
                };
                for (operand, _) in [&left, &right].into_iter().zip(constants).filter(|(_, constant)| *constant) {
                    refuse_misfit(operand, value.span)?;
                }
                if let Some(name) = bits {
                    let dtype = left.dtype(&self.function);
                    return Ok(Expr::Call { name: name.to_owned(), args: vec![left, right], dtype });
                }
                Ok(self.arithmetic(binary_op(operator), left, right))
            }
            Node::Call(..) => self.call(value),
            _ => Err(ScriptError::unsupported(value.span, "this expression")),
        }
    }

    /// The value of a name: a variable, the element of a mutable scalar, the address of a buffer, or what a `T.Let`
    /// says. In the parameters a name that is not known is a symbolic size.
    pub(super) fn name_value(&mut self, name: &str, span: Span) -> Result<Expr, ScriptError> {
        let is_name =
            name.chars().all(|c| c.is_alphanumeric() || c == '_') && !name.starts_with(|c: char| c.is_numeric());
        if self.in_parameters && is_name && self.lookup(name).is_none() {
            return Ok(Expr::Var(self.new_size(name)));
        }
        match self.lookup(name) {
            Some(Binding::Var(var) | Binding::ThreadAxis(var, _)) => Ok(Expr::Var(*var)),
            Some(Binding::Value(value, parts)) => {
                let (value, total) = (Expr::clone(value), self.let_parts.saturating_add(*parts));
                self.let_parts = total;
                // The value of one name may use other names of `T.Let` several times, so without them the text could
                // be exponentially longer. All insertions of a function may have eight parts for each byte of the
                // text, and a thousand for short texts.
                let limit = self.source.len().saturating_mul(8).saturating_add(1000);
                if total > limit { Err(ScriptError::unsupported(span, "so many uses of `T.Let`")) } else { Ok(value) }
            }
            Some(Binding::Buffer(buffer)) if self.function.buffers[*buffer].scalar => {
                Ok(Expr::Load { buffer: *buffer, index: vec![Expr::int(0)] })
            }
            Some(Binding::Buffer(buffer)) => Ok(Expr::Data(*buffer)),
            None => Err(ScriptError::UnknownName { span, name: name.to_owned() }),
        }
    }

    /// Gives both operands one type, as TVM does; see [`common_type`].
    pub(super) fn unify(&self, left: Expr, right: Expr) -> (Expr, Expr) {
        let (a, b) = (left.dtype(&self.function), right.dtype(&self.function));
        if a == b {
            return (left, right);
        }
        let dtype = common_type(a, b);
        (coerce(left, dtype, &self.function), coerce(right, dtype, &self.function))
    }

    /// Gives both operands of a bit operator or a comparison one type, as TVM does: if one of the two is a literal
    /// (`literals` says which), it takes the type of the other. A literal with a point does not become an integer.
    pub(super) fn adapt(&self, literals: (bool, bool), left: Expr, right: Expr) -> (Expr, Expr) {
        let (a, b) = (left.dtype(&self.function), right.dtype(&self.function));
        let takes = |literal: &Expr, other: DType| !matches!(literal, Expr::Float { .. }) || other.is_float();
        match literals {
            (true, false) if takes(&left, b) => (coerce(left, b, &self.function), right),
            (false, true) if takes(&right, a) => (left, coerce(right, a, &self.function)),
            _ => self.unify(left, right),
        }
    }

    /// Gives both operands of a bit operator one type. Of a literal TVM takes the low 32 bits here, whatever the type of
    /// the other operand is.
    pub(super) fn adapt_bits(&self, literals: (bool, bool), left: Expr, right: Expr) -> (Expr, Expr) {
        let low_bits = |is_literal: bool, operand: Expr| match operand {
            Expr::Int { value, dtype: DType::INT64 } if is_literal => literal(wrapped(value, DType::INT32)),
            other => other,
        };
        self.adapt(literals, low_bits(literals.0, left), low_bits(literals.1, right))
    }

    /// `op(left, right)` with operands of one type; computed at once if both are constants. The operands of `and` and
    /// `or` are truth values and stay as they are.
    pub(super) fn arithmetic(&self, op: BinaryOp, left: Expr, right: Expr) -> Expr {
        let (left, right) = match op {
            BinaryOp::And | BinaryOp::Or => (left, right),
            _ => self.unify(left, right),
        };
        // The loop IR keeps an unsigned number beyond 2^63 as the negative number of the same bits, and `fold` takes it
        // for that one.
        let is_beyond = |part: &Expr| matches!(part, Expr::Int { value: ..0, dtype } if dtype.kind == Kind::UInt);
        match fold(op, &left, &right).filter(|_| !is_beyond(&left) && !is_beyond(&right)) {
            Some(Expr::Int { value, dtype }) => Expr::Int { value: wrapped(value, dtype), dtype },
            Some(other) => other,
            None => Expr::binary(op, left, right),
        }
    }

    /// What Python makes of an operator between two literals; `None` if that is no number of 64 bits, or if it is
    /// left to TVM, where it means the same.
    fn literal_arithmetic(&self, operator: &str, left: &Expr, right: &Expr) -> Option<Expr> {
        if matches!(left, Expr::Float { .. }) || matches!(right, Expr::Float { .. }) {
            let value = python_floats(operator, python_number(left)?, python_number(right)?)?;
            return Some(Expr::Float { value, dtype: DType::FLOAT32 });
        }
        let (DType::INT32 | DType::INT64, DType::INT32 | DType::INT64) =
            (left.dtype(&self.function), right.dtype(&self.function))
        else {
            return None;
        };
        let (a, b) = (left.as_int()?, right.as_int()?);
        Some(literal(match operator {
            "/" if b != 0 => return Some(Expr::Float { value: a as f64 / b as f64, dtype: DType::FLOAT32 }),
            "+" => a.checked_add(b)?,
            "-" => a.checked_sub(b)?,
            "*" => a.checked_mul(b)?,
            "//" if b > 0 => a.div_euclid(b),
            "%" if b > 0 => a.rem_euclid(b),
            "|" => a | b,
            "^" => a ^ b,
            "&" => a & b,
            // A shift by at most 62 bits keeps a 64-bit number inside of 128 bits.
            "<<" if (0..63).contains(&b) => i64::try_from(i128::from(a) << b).ok()?,
            ">>" if (0..63).contains(&b) => a >> b,
            _ => return None,
        }))
    }
}

/// The value of a literal as a number with a point. Python has only such numbers of 64 bits, whatever type TVM gives to
/// the result.
fn python_number(literal: &Expr) -> Option<f64> {
    match literal {
        Expr::Float { value, .. } => Some(*value),
        Expr::Int { value, .. } => Some(*value as f64),
        _ => None,
    }
}

/// What Python makes of an operator between two numbers with a point; `None` for a division by zero, which is an error
/// there, and for other operators.
fn python_floats(operator: &str, a: f64, b: f64) -> Option<f64> {
    // The remainder has the sign of the divisor.
    let remainder = || {
        let rest = a % b;
        if rest != 0.0 && (rest < 0.0) != (b < 0.0) {
            rest + b
        } else {
            rest.abs().copysign(if rest == 0.0 { b } else { rest })
        }
    };
    Some(match operator {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" if b != 0.0 => a / b,
        "%" if b != 0.0 => remainder(),
        // What is left after the remainder is a whole multiple of the divisor, up to rounding.
        "//" if b != 0.0 => ((a - remainder()) / b).round(),
        _ => return None,
    })
}

/// An error if a constant could not be given the type of the other operand or of the memory it is stored in: TVM has no
/// such constants. [`coerce`] leaves a cast then.
pub(super) fn refuse_misfit(coerced: &Expr, span: Span) -> Result<(), ScriptError> {
    match coerced {
        Expr::Broadcast { value, .. } => refuse_misfit(value, span),
        Expr::Cast { dtype, value } if dtype.is_integer() => match value.as_int() {
            Some(number) => Err(ScriptError::invalid(span, format!("the number {number} does not fit {dtype}"))),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

/// What is left of a result in a type that it may not fit: its low bits, as in TVM.
fn wrapped(value: i64, dtype: DType) -> i64 {
    let spare = 64u32.saturating_sub(u32::from(dtype.bits));
    match dtype.kind {
        Kind::Int => value << spare >> spare,
        Kind::UInt => ((value as u64) << spare >> spare) as i64,
        _ => value,
    }
}

/// A number as it stands in the text: an `int32`, or an `int64` if it does not fit.
fn literal(value: i64) -> Expr {
    let dtype = if i32::try_from(value).is_ok() { DType::INT32 } else { DType::INT64 };
    Expr::Int { value, dtype }
}

/// Whether Python knows the value: a number, or arithmetic on numbers. `T.int32(1)` is a value of TVM.
pub(super) fn is_literal(node: &Node) -> bool {
    match node {
        Node::Int(_) | Node::Float(_) | Node::True | Node::False => true,
        Node::Negative(inner) => is_literal(&inner.node),
        Node::Binary(_, left, right) => is_literal(&left.node) && is_literal(&right.node),
        _ => false,
    }
}

/// The type in which TVM computes with two values. A scalar gets as many lanes as the other value has. A float wins
/// against an integer, anything against a truth value, a wider type against a narrower one, an unsigned integer
/// against a signed one of the same width, and `float16` against `bfloat16`.
fn common_type(left: DType, right: DType) -> DType {
    let is_truth = |dtype: DType| dtype.kind == Kind::Bool;
    let left_wins = if left.is_float() != right.is_float() {
        left.is_float()
    } else if is_truth(left) != is_truth(right) {
        is_truth(right)
    } else if left.bits != right.bits {
        left.bits > right.bits
    } else {
        right.kind != Kind::UInt && (left.kind, right.kind) != (Kind::BFloat, Kind::Float)
    };
    (if left_wins { left } else { right }).with_lanes(left.lanes.max(right.lanes))
}

/// Whether an expression mentions no name of the function: constants, and lists and calls of `T.name` with constants.
fn is_plain(node: &Node) -> bool {
    match node {
        Node::Int(_) | Node::Float(_) | Node::Str(_) | Node::True | Node::False | Node::None => true,
        Node::Tuple(items) | Node::List(items) => items.iter().all(|item| is_plain(&item.node)),
        Node::Call(callee, args, named) => {
            script_name(callee).is_some() && named.is_empty() && args.iter().all(|arg| is_plain(&arg.node))
        }
        _ => false,
    }
}

/// Whether an expression looks something up in `metadata`, the table of objects that TVM prints after the functions.
fn is_metadata(base: &Py) -> bool {
    match &base.node {
        Node::Name(name) => name == "metadata",
        Node::Subscript(inner, _) => is_metadata(inner),
        _ => false,
    }
}

/// The name of the TVM function that computes a bit operator; `None` for other operators.
fn bit_operation(operator: &str) -> Option<&'static str> {
    Some(match operator {
        "|" => "bitwise_or",
        "^" => "bitwise_xor",
        "&" => "bitwise_and",
        "<<" => "shift_left",
        ">>" => "shift_right",
        _ => return None,
    })
}

/// The operator of the loop IR for a Python operator. The parser makes no others than these, so the last one is `or`.
fn binary_op(operator: &str) -> BinaryOp {
    match operator {
        "+" => BinaryOp::Add,
        "-" => BinaryOp::Sub,
        "*" => BinaryOp::Mul,
        "/" => BinaryOp::Div,
        "//" => BinaryOp::FloorDiv,
        "%" => BinaryOp::FloorMod,
        "==" => BinaryOp::Eq,
        "!=" => BinaryOp::Ne,
        "<" => BinaryOp::Lt,
        "<=" => BinaryOp::Le,
        ">" => BinaryOp::Gt,
        ">=" => BinaryOp::Ge,
        "and" => BinaryOp::And,
        _ => BinaryOp::Or,
    }
}
