//! Reading calls: constants with a type, arithmetic that is written as a call, intrinsics, and functions that are not
//! known.

use super::ScriptError;
use super::python::{Node, Py};
// `Binding` is what a name stands for here, `coerce` gives a value a type, and `script_call` takes a call of
// `T.name(…)` apart. `KEYWORD`, `METHOD` and `OTHER_FUNCTION` are first characters of names of calls that are printed
// as they were written: `=predicate`, `.access_ptr`, `@cls.f`.
use super::read::{Binding, Reader, coerce, script_call};
use super::read_expr::{is_literal, refuse_misfit};
use crate::ir::{BinaryOp, Expr, KEYWORD, METHOD, OTHER_FUNCTION};
use crate::{DType, Kind};
use memplan_core::Span;

impl Reader<'_> {
    /// Reads a call. The name after `T.` decides which: a conversion or constant of a type, an operator, or an
    /// intrinsic. Calls that the loop IR has no form for are kept as they are written, so that they print the same.
    pub(super) fn call(&mut self, value: &Py) -> Result<Expr, ScriptError> {
        // `A.access_ptr(…)`: a function of a buffer.
        if let Some(method) = self.method(value)? {
            return Ok(method);
        }
        // `f(x)`, `cls.f(x)`: no call of `T.name`.
        let Some((name, args, named)) = script_call(value) else {
            return self.subroutine(value);
        };
        if name == "Let" {
            return self.let_expression(args, named, value.span);
        }
        // No form of the loop IR has keyword arguments, or vectors whose length is not known.
        if !named.is_empty() || mentions_scalable_type(args) {
            return self.call_as_written(&format!("T.{name}"), args, named);
        }
        if takes_result_type(name) && !matches!(args.first(), Some(Py { node: Node::Str(_), .. })) {
            // The type is an expression (`T.handle("float32").ty`): what comes out is taken for a pointer.
            let mut call = self.call_as_written(&format!("T.{name}"), args, named)?;
            if let Expr::Call { dtype, .. } = &mut call {
                *dtype = DType::HANDLE;
            }
            return Ok(call);
        }
        // `T.float32(1)`: the name is a type.
        if let Ok(dtype) = name.parse::<DType>() {
            return self.typed_constant(dtype, args, value.span);
        }
        match (name, args) {
            ("boolean", _) => self.typed_constant(DType::BOOL, args, value.span),
            ("type_annotation", [dtype]) => Ok(Expr::Type(self.dtype(dtype)?)),
            ("Cast", [dtype, inner]) | ("cast", [inner, dtype]) => {
                Ok(Expr::Cast { dtype: self.dtype(dtype)?, value: Box::new(self.expr(inner)?) })
            }
            ("Not", [inner]) => Ok(Expr::Not(Box::new(self.expr(inner)?))),
            // Both sides get one type, because the result has one.
            ("Select", [condition, then, otherwise]) => {
                let condition = Box::new(self.expr(condition)?);
                let (then, otherwise) = (self.expr(then)?, self.expr(otherwise)?);
                let (then, otherwise) = self.unify(then, otherwise);
                Ok(Expr::Select { condition, then: Box::new(then), otherwise: Box::new(otherwise) })
            }
            // A number of lanes that is computed (`4 * T.vscale()`).
            ("Ramp", [_, _, lanes]) | ("Broadcast", [_, lanes]) if !matches!(lanes.node, Node::Int(_)) => {
                self.call_as_written(&format!("T.{name}"), args, named)
            }
            ("Ramp", [base, stride, lanes]) => {
                let base = self.integer(base)?;
                let stride = coerce(self.integer(stride)?, base.dtype(&self.function), &self.function);
                Ok(Expr::Ramp { base: Box::new(base), stride: Box::new(stride), lanes: self.lanes(lanes)? })
            }
            ("Broadcast", [inner, lanes]) => {
                Ok(Expr::Broadcast { value: Box::new(self.expr(inner)?), lanes: self.lanes(lanes)? })
            }
            (_, [left, right]) if named_op(name).is_some() => {
                let op = named_op(name).unwrap_or(BinaryOp::Add);
                let (left, right) = (self.expr(left)?, self.expr(right)?);
                Ok(self.arithmetic(op, left, right))
            }
            _ => self.intrinsic(name, args, value.span),
        }
    }

    /// A call of another function of the module, or of a function of a module inside `T`: `f(A.data)`, `cls.f(…)`,
    /// `T.ptx.mma(…)`.
    fn subroutine(&mut self, value: &Py) -> Result<Expr, ScriptError> {
        let Node::Call(callee, args, named) = &value.node else {
            return Err(ScriptError::unsupported(value.span, "this call"));
        };
        // The callee is kept as text, so it must be names with dots between them and nothing that mentions a buffer.
        let name = self.source[callee.span.range()].to_owned();
        // A part between two dots.
        let is_name = |part: &str| {
            !part.starts_with(|c: char| c.is_numeric()) && part.chars().all(|c| c.is_alphanumeric() || c == '_')
        };
        if !name.split('.').all(is_name) {
            return Err(ScriptError::unsupported(value.span, "this call"));
        }
        self.call_as_written(&name, args, named)
    }

    /// A call of which nothing is known but its arguments: it is printed as it was, with its keywords. Its type is
    /// guessed. If the first argument is a string that names a type, it is one lane of that type (`float32` for
    /// `"float32x4"`). If the first argument is a value other than a pointer, it is the type of that value. Otherwise
    /// it is `int32`.
    fn call_as_written(&mut self, name: &str, args: &[Py], named: &[(String, Py)]) -> Result<Expr, ScriptError> {
        let mut values = Vec::with_capacity(args.len() + named.len());
        for arg in args {
            values.push(self.expr(arg)?);
        }
        let dtype = match values.first() {
            Some(Expr::Str(text)) => text.split('x').next().and_then(|lane| lane.parse().ok()),
            Some(first) => Some(first.dtype(&self.function)).filter(|dtype| *dtype != DType::HANDLE),
            None => None,
        };
        for (key, value) in named {
            let value = self.expr(value)?;
            let dtype = value.dtype(&self.function);
            values.push(Expr::Call { name: format!("{KEYWORD}{key}"), args: vec![value], dtype });
        }
        Ok(Expr::Call { name: format!("{OTHER_FUNCTION}{name}"), args: values, dtype: dtype.unwrap_or(DType::INT32) })
    }

    /// `A.access_ptr("r")` and the other functions of a buffer that give no new buffer; `None` if this is no function
    /// of a buffer.
    fn method(&mut self, value: &Py) -> Result<Option<Expr>, ScriptError> {
        let Node::Call(callee, args, named) = &value.node else { return Ok(None) };
        let Node::Attribute(base, method) = &callee.node else { return Ok(None) };
        let Ok(buffer) = self.buffer_named(base) else { return Ok(None) };
        let dtype = match method.as_str() {
            "access_ptr" | "ptr_to" => DType::HANDLE,
            "vload" | "vstore" => self.function.buffers[buffer].dtype,
            "offset_of" | "elem_offset_of" | "byte_offset_of" => DType::INT32,
            _ => return Err(ScriptError::unsupported(value.span, format!("`{method}` of a buffer"))),
        };
        // The result depends on where the buffer lies, so the rewriter must not move the buffer.
        let root = self.function.root(buffer);
        self.function.buffers[root].pinned = true;
        let Expr::Call { args: written, .. } = self.call_as_written(method, args, named)? else { return Ok(None) };
        let args = std::iter::once(Expr::Data(buffer)).chain(written).collect();
        Ok(Some(Expr::Call { name: format!("{METHOD}{method}"), args, dtype }))
    }

    /// `T.Let(x * x, where={x: A[i]})` is read as `A[i] * A[i]`: each name is replaced by its value.
    fn let_expression(&mut self, args: &[Py], named: &[(String, Py)], span: Span) -> Result<Expr, ScriptError> {
        let malformed = || ScriptError::invalid(span, "`T.Let` takes an expression and `where={name: value}`");
        let ([body], [(_, bindings)]) = (args, named) else { return Err(malformed()) };
        let Node::Dict(entries) = &bindings.node else { return Err(malformed()) };
        // The names hold for the expression only, and each value may use the names before it.
        self.scopes.push(Vec::new());
        for (key, value) in entries {
            let Node::Name(name) = &key.node else { return Err(malformed()) };
            let value = self.expr(value)?;
            let parts = parts_of(&value);
            self.bind(name, Binding::Value(Box::new(value), parts));
        }
        // In the body each name is replaced by its value (`Binding::Value`).
        let value = self.expr(body)?;
        self.leave_scope();
        if parts_of(&value) > MAX_LET_PARTS {
            return Err(ScriptError::unsupported(span, "a `T.Let` that is this large without its names"));
        }
        Ok(value)
    }

    /// Reads a number of lanes.
    fn lanes(&self, value: &Py) -> Result<u16, ScriptError> {
        match value.node {
            Node::Int(lanes) if (1..=i64::from(u16::MAX)).contains(&lanes) => Ok(lanes as u16),
            _ => Err(ScriptError::invalid(value.span, "the number of lanes is a constant from 1 to 65535")),
        }
    }

    /// A constant or a conversion of a type: `T.float32(1)`, `T.float32("inf")`, `T.int64(n)`.
    fn typed_constant(&mut self, dtype: DType, args: &[Py], span: Span) -> Result<Expr, ScriptError> {
        let [argument] = args else {
            return Err(ScriptError::invalid(span, "a typed constant has one argument"));
        };
        if let Node::Str(text) = &argument.node {
            let value = match text.as_str() {
                "inf" => f64::INFINITY,
                "-inf" => f64::NEG_INFINITY,
                "nan" => f64::NAN,
                _ => {
                    return Err(ScriptError::invalid(argument.span, "expected \"inf\", \"-inf\" or \"nan\""));
                }
            };
            return Ok(Expr::Float { value, dtype });
        }
        if let Node::Large(value) = argument.node
            && dtype == DType::scalar(Kind::UInt, 64)
        {
            // The loop IR keeps all integers as signed numbers of 64 bits. This one has the same bits.
            return Ok(Expr::Int { value: value as i64, dtype });
        }
        let value = self.expr(argument)?;
        let is_constant = value.as_int().is_some();
        let value = coerce(value, dtype, &self.function);
        if is_constant {
            refuse_misfit(&value, argument.span)?;
        }
        Ok(value)
    }

    /// Any other `T.name(…)`, kept by its name. The rewriter needs to know only which buffers the call touches, and
    /// these are among its arguments; what it computes, the interpreter knows.
    fn intrinsic(&mut self, name: &str, args: &[Py], span: Span) -> Result<Expr, ScriptError> {
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            values.push(self.expr(arg)?);
        }
        // These calls are operators, whose operands get one type.
        if let [left, right] = args
            && matches!(name, "bitwise_and" | "bitwise_or" | "bitwise_xor" | "shift_left" | "shift_right" | "pow")
            && let (Some(second), Some(first)) = (values.pop(), values.pop())
        {
            let literals = (is_literal(&left.node), is_literal(&right.node));
            let constants = [&first, &second].map(|operand| operand.as_int().is_some());
            let (first, second) =
                if name == "pow" { self.unify(first, second) } else { self.adapt_bits(literals, first, second) };
            for (operand, _) in [&first, &second].into_iter().zip(constants).filter(|(_, constant)| *constant) {
                refuse_misfit(operand, span)?;
            }
            values.extend([first, second]);
        }
        // Some intrinsics name their result type as the first argument. The type is then no operand and is taken out.
        let dtype = if takes_result_type(name) {
            let Some(Expr::Str(text)) = values.first() else {
                return Err(ScriptError::invalid(span, format!("`T.{name}` starts with the type of its result")));
            };
            let dtype = text.parse().map_err(|error| ScriptError::invalid(span, format!("{error}")))?;
            values.remove(0);
            dtype
        } else {
            match name {
                // For the other intrinsics the type follows from the operands, as in TVM. Address functions give a
                // pointer, a choice has the type of its second operand, and any other intrinsic that of its first
                // operand (`int32` if the first operand is a string or an address).
                "address_of" | "tvm_access_ptr" => DType::HANDLE,
                "if_then_else" | "likely" if values.len() > 1 => values[1].dtype(&self.function),
                _ => match values.first() {
                    Some(first) if !matches!(first, Expr::Str(_) | Expr::Data(_)) => first.dtype(&self.function),
                    _ => DType::INT32,
                },
            }
        };
        if name == "address_of" && !matches!(values.as_slice(), [Expr::Load { .. }]) {
            return Err(ScriptError::invalid(span, "`T.address_of` takes one buffer element"));
        }
        if name == "if_then_else" {
            if values.len() != 3 {
                return Err(ScriptError::invalid(span, "`T.if_then_else` takes a condition and two values"));
            }
            let otherwise = values.remove(2);
            let then = values.remove(1);
            // Both sides of a choice must have one type, because the result has one. The narrower side is converted.
            let (then, otherwise) = self.unify(then, otherwise);
            values.extend([then, otherwise]);
        }
        // The result has the type of both sides, which `unify` may have changed.
        let dtype = if name == "if_then_else" { values[1].dtype(&self.function) } else { dtype };
        Ok(Expr::Call { name: name.to_owned(), args: values, dtype })
    }
}

/// Calls that are written with the type of their result first.
pub(super) fn takes_result_type(name: &str) -> bool {
    matches!(name, "call_extern" | "call_pure_extern" | "call_intrin" | "call_llvm_intrin" | "reinterpret")
}

/// At most so many sub-expressions may a `T.Let` have once its names are replaced by their values. Without a limit,
/// `where={a: x + x, b: a + a, …}` would double the expression with every name.
const MAX_LET_PARTS: usize = 1000;

/// The number of sub-expressions, the expression itself included.
fn parts_of(expr: &Expr) -> usize {
    let mut parts = 0;
    expr.walk(&mut |_| parts += 1);
    parts
}

/// Whether an argument is a vector type whose length only the machine knows that runs it: `"float32xvscalex4"`.
fn mentions_scalable_type(args: &[Py]) -> bool {
    args.iter().any(|arg| matches!(&arg.node, Node::Str(text) if text.contains("xvscalex")))
}

/// The operator that TVMScript may write as a call of this name: `T.min(a, b)`.
fn named_op(name: &str) -> Option<BinaryOp> {
    Some(match name {
        "min" => BinaryOp::Min,
        "max" => BinaryOp::Max,
        "Div" | "truncdiv" => BinaryOp::Div,
        "Mod" | "truncmod" => BinaryOp::Mod,
        "floordiv" | "FloorDiv" => BinaryOp::FloorDiv,
        "floormod" | "FloorMod" => BinaryOp::FloorMod,
        "And" => BinaryOp::And,
        "Or" => BinaryOp::Or,
        _ => return None,
    })
}
