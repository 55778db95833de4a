//! Reading expressions and buffer declarations.

use super::ReadError;
use super::python::{Node, Py, Subscript};
use super::read::{Binding, Reader, coerce, script_call, script_name};
use crate::ir::{BinaryOp, BufId, Buffer, Expr, Memory, StorageScope};
use crate::linear::{constant_difference, fold};
use crate::{DType, Kind};
use memplan_core::Span;

/// A buffer as its declaration gives it.
pub(super) struct BufferParts {
    pub(super) buffer: Buffer,
    pub(super) scope_given: bool,
}

impl Reader<'_> {
    /// The arguments of `T.Buffer`, `T.alloc_buffer`, `T.decl_buffer`: shape, dtype and keywords.
    pub(super) fn buffer_parts(
        &mut self,
        name: &str,
        args: &[Py],
        named: &[(String, Py)],
        span: Span,
    ) -> Result<BufferParts, ReadError> {
        let named_value = |key: &str| named.iter().find(|(name, _)| name == key).map(|(_, value)| value);
        let shape =
            args.first().or(named_value("shape")).ok_or_else(|| ReadError::invalid(span, "a buffer needs a shape"))?;
        let shape = self.shape(shape)?;
        let dtype = match args.get(1).or(named_value("dtype")) {
            Some(dtype) => self.dtype(dtype)?,
            None => DType::FLOAT32,
        };
        let mut buffer = Buffer {
            name: name.to_owned(),
            dtype,
            shape,
            scope: StorageScope::global(),
            memory: Memory::Own,
            scalar: false,
            extra: Vec::new(),
            span,
        };
        let mut scope_given = false;
        let mut offset = None;
        if let Some(extra) = args.get(2) {
            return Err(ReadError::unsupported(extra.span, "a third positional argument of a buffer"));
        }
        for (key, value) in named {
            match key.as_str() {
                "shape" | "dtype" => {}
                "scope" => {
                    buffer.scope = self.scope(value)?;
                    scope_given = true;
                }
                "data" if self.is_pointer(value) => {
                    // Memory that somebody else made: a parameter, or what a call returned.
                    buffer.memory = Memory::Argument;
                }
                "data" => {
                    let of = self.buffer_of_data(value)?;
                    if !scope_given {
                        buffer.scope = self.function.buffers[of].scope.clone();
                        scope_given = true;
                    }
                    buffer.memory = Memory::View { of, elem_offset: None };
                }
                "elem_offset" if self.in_parameters => {
                    // Where the caller's data begins: nothing that is decided here.
                    buffer.extra.push((key.clone(), self.source[value.span.range()].to_owned()));
                }
                "elem_offset" => offset = Some((self.expr(value)?, value.span)),
                _ => buffer.extra.push((key.clone(), self.source[value.span.range()].to_owned())),
            }
        }
        if let Some((offset, span)) = offset {
            match &mut buffer.memory {
                Memory::View { elem_offset, .. } => *elem_offset = Some(offset).filter(|o| o.as_int() != Some(0)),
                _ if offset.as_int() == Some(0) => {}
                _ => return Err(ReadError::unsupported(span, "`elem_offset` without `data`")),
            }
        }
        Ok(BufferParts { buffer, scope_given })
    }

    fn shape(&mut self, shape: &Py) -> Result<Vec<Expr>, ReadError> {
        let extents: &[Py] = match &shape.node {
            Node::Tuple(items) | Node::List(items) => items,
            _ => std::slice::from_ref(shape),
        };
        extents
            .iter()
            .map(|extent| match &extent.node {
                // A size that is named here first is written in quotes.
                Node::Str(name) if self.in_parameters => self.name_value(name, extent.span),
                _ => self.integer(extent),
            })
            .collect()
    }

    fn integer(&mut self, value: &Py) -> Result<Expr, ReadError> {
        let expr = self.expr(value)?;
        if !expr.dtype(&self.function).is_integer() {
            return Err(ReadError::invalid(value.span, "an extent or index must be an integer"));
        }
        Ok(expr)
    }

    fn dtype(&self, value: &Py) -> Result<DType, ReadError> {
        let parsed = match &value.node {
            Node::Str(text) => text.parse::<DType>().map_err(|error| error.to_string()),
            _ => script_name(value)
                .ok_or_else(|| "expected an element type such as \"float32\"".to_owned())
                .and_then(|name| name.parse::<DType>().map_err(|error| error.to_string())),
        };
        parsed.map_err(|message| ReadError::invalid(value.span, message))
    }

    fn scope(&self, value: &Py) -> Result<StorageScope, ReadError> {
        let Node::Str(text) = &value.node else {
            return Err(ReadError::invalid(value.span, "a scope is a string"));
        };
        StorageScope::parse(text)
            .ok_or_else(|| ReadError::invalid(value.span, "a scope starts with global, shared, warp, local or wmma"))
    }

    /// Whether a name stands for a pointer.
    fn is_pointer(&self, value: &Py) -> bool {
        let Node::Name(name) = &value.node else { return false };
        matches!(self.lookup(name), Some(Binding::Var(var)) if self.function.vars[*var].dtype == DType::HANDLE)
    }

    fn buffer_of_data(&self, value: &Py) -> Result<BufId, ReadError> {
        match &value.node {
            Node::Attribute(base, name) if name == "data" => self.buffer_named(base),
            _ => Err(ReadError::unsupported(value.span, "`data` that is not `buffer.data`")),
        }
    }

    /// `A.view(n)`, `A.view("int8")`.
    pub(super) fn view(
        &mut self,
        name: &str,
        of: BufId,
        args: &[Py],
        named: &[(String, Py)],
        span: Span,
    ) -> Result<Buffer, ReadError> {
        if !named.is_empty() || args.is_empty() {
            return Err(ReadError::unsupported(span, "this form of `view`"));
        }
        let mut view = Buffer {
            name: name.to_owned(),
            memory: Memory::View { of, elem_offset: None },
            scalar: false,
            extra: Vec::new(),
            span,
            ..self.function.buffers[of].clone()
        };
        if let [Py { node: Node::Str(text), span, .. }] = args {
            let dtype: DType = text.parse().map_err(|error| ReadError::invalid(*span, format!("{error}")))?;
            self.retype_view(&mut view, dtype, *span)?;
        } else {
            view.shape = args.iter().map(|extent| self.integer(extent)).collect::<Result<_, _>>()?;
        }
        Ok(view)
    }

    fn retype_view(&self, view: &mut Buffer, dtype: DType, span: Span) -> Result<(), ReadError> {
        let (old, new) = (view.dtype.total_bits(), dtype.total_bits());
        let Some(last) = view.shape.last_mut() else {
            return Ok(());
        };
        let scaled = |extent: &Expr| {
            let elements = u64::try_from(extent.as_int()?).ok()?;
            let bits = elements.checked_mul(old)?;
            (bits % new == 0).then(|| i64::try_from(bits / new).ok())?
        };
        if old != new {
            let extent = scaled(last)
                .ok_or_else(|| ReadError::invalid(span, "the view's element size does not divide the buffer's"))?;
            *last = Expr::int(extent);
        }
        view.dtype = dtype;
        Ok(())
    }

    /// The buffer that a name stands for.
    pub(super) fn buffer_named(&self, value: &Py) -> Result<BufId, ReadError> {
        let Node::Name(name) = &value.node else {
            return Err(ReadError::invalid(value.span, "expected the name of a buffer"));
        };
        match self.lookup(name) {
            Some(Binding::Buffer(buffer)) => Ok(*buffer),
            Some(_) => Err(ReadError::invalid(value.span, format!("`{name}` is not a buffer"))),
            None => Err(ReadError::UnknownName { span: value.span, name: name.clone() }),
        }
    }

    /// Subscripts of an access; slices become ramps.
    pub(super) fn index(
        &mut self,
        buffer: BufId,
        subscripts: &[Subscript],
        span: Span,
    ) -> Result<Vec<Expr>, ReadError> {
        let rank = self.function.buffers[buffer].shape.len();
        if subscripts.len() != rank {
            let name = &self.function.buffers[buffer].name;
            let message = format!("`{name}` has {rank} dimensions, but {} subscripts are given", subscripts.len());
            return Err(ReadError::invalid(span, message));
        }
        subscripts
            .iter()
            .map(|subscript| match subscript {
                Subscript::One(index) => self.integer(index),
                Subscript::Slice(start, stop, step) => self.slice(start, stop, step.as_ref(), span),
            })
            .collect()
    }

    fn slice(&mut self, start: &Py, stop: &Py, step: Option<&Py>, span: Span) -> Result<Expr, ReadError> {
        let (start, stop) = (self.integer(start)?, self.integer(stop)?);
        let step = match step {
            Some(step) => self.integer(step)?,
            None => Expr::int(1),
        };
        let lanes = constant_difference(&stop, &start)
            .zip(step.as_int())
            .and_then(|(length, step)| (step > 0 && length > 0).then(|| (length as u64).div_ceil(step as u64)))
            .and_then(|lanes| u16::try_from(lanes).ok())
            .ok_or_else(|| ReadError::invalid(span, "a slice needs a constant length of 1 to 65535"))?;
        if lanes == 1 {
            return Ok(start);
        }
        let dtype = start.dtype(&self.function);
        Ok(Expr::Ramp { stride: Box::new(coerce(step, dtype, &self.function)), base: Box::new(start), lanes })
    }

    /// An expression.
    pub(super) fn expr(&mut self, value: &Py) -> Result<Expr, ReadError> {
        match &value.node {
            Node::Int(number) => Ok(Expr::int(*number)),
            Node::Float(number) => Ok(Expr::Float { value: *number, dtype: DType::FLOAT32 }),
            Node::True | Node::False => {
                Ok(Expr::Int { value: i64::from(matches!(value.node, Node::True)), dtype: DType::BOOL })
            }
            Node::Str(text) => Ok(Expr::Str(text.clone())),
            Node::Name(name) => self.name_value(name, value.span),
            Node::Attribute(base, name) if name == "data" => Ok(Expr::Data(self.buffer_named(base)?)),
            Node::Subscript(base, subscripts) => {
                let buffer = self.buffer_named(base)?;
                let index = self.index(buffer, subscripts, value.span)?;
                Ok(Expr::Load { buffer, index })
            }
            Node::Negative(operand) => {
                let operand = self.expr(operand)?;
                let zero = coerce(Expr::int(0), operand.dtype(&self.function), &self.function);
                Ok(self.arithmetic(BinaryOp::Sub, zero, operand))
            }
            Node::Inverted(operand) => {
                let operand = self.expr(operand)?;
                let dtype = operand.dtype(&self.function);
                Ok(Expr::Call { name: "bitwise_not".to_owned(), args: vec![operand], dtype })
            }
            Node::Lambda => Ok(Expr::Text(self.source[value.span.range()].to_owned())),
            Node::List(items) | Node::Tuple(items) if items.iter().all(|item| is_plain(&item.node)) => {
                Ok(Expr::Text(self.source[value.span.range()].to_owned()))
            }
            Node::Not(operand) => Ok(Expr::Not(Box::new(self.expr(operand)?))),
            Node::Binary(operator, left, right) => {
                let (left, right) = (self.expr(left)?, self.expr(right)?);
                if let Some(name) = bit_operation(operator) {
                    let (left, right) = self.unify(left, right);
                    let dtype = left.dtype(&self.function);
                    return Ok(Expr::Call { name: name.to_owned(), args: vec![left, right], dtype });
                }
                Ok(self.arithmetic(binary_op(operator), left, right))
            }
            Node::Call(..) => self.call(value),
            _ => Err(ReadError::unsupported(value.span, "this expression")),
        }
    }

    fn name_value(&mut self, name: &str, span: Span) -> Result<Expr, ReadError> {
        let is_name =
            name.chars().all(|c| c.is_alphanumeric() || c == '_') && !name.starts_with(|c: char| c.is_numeric());
        if self.in_parameters && is_name && self.lookup(name).is_none() {
            return Ok(Expr::Var(self.new_size(name)));
        }
        match self.lookup(name) {
            Some(Binding::Var(var) | Binding::ThreadAxis(var, _)) => Ok(Expr::Var(*var)),
            Some(Binding::Buffer(buffer)) if self.function.buffers[*buffer].scalar => {
                Ok(Expr::Load { buffer: *buffer, index: vec![Expr::int(0)] })
            }
            Some(Binding::Buffer(buffer)) => Ok(Expr::Data(*buffer)),
            None => Err(ReadError::UnknownName { span, name: name.to_owned() }),
        }
    }

    /// Gives both operands one type: a constant takes the other's, a narrower integer is widened.
    pub(super) fn unify(&self, left: Expr, right: Expr) -> (Expr, Expr) {
        let (a, b) = (left.dtype(&self.function), right.dtype(&self.function));
        if a == b {
            return (left, right);
        }
        let keep_left = match (left.is_constant(), right.is_constant()) {
            (false, true) => true,
            (true, false) => false,
            _ if a.lanes != b.lanes => a.lanes > b.lanes,
            _ if a.is_float() != b.is_float() => a.is_float(),
            _ => a.bits >= b.bits,
        };
        if keep_left { (left, coerce(right, a, &self.function)) } else { (coerce(left, b, &self.function), right) }
    }

    fn arithmetic(&self, op: BinaryOp, left: Expr, right: Expr) -> Expr {
        let (left, right) = match op {
            BinaryOp::And | BinaryOp::Or => (left, right),
            _ => self.unify(left, right),
        };
        fold(op, &left, &right).unwrap_or_else(|| Expr::binary(op, left, right))
    }

    fn call(&mut self, value: &Py) -> Result<Expr, ReadError> {
        let Some((name, args, named)) = script_call(value) else {
            return self.subroutine(value);
        };
        if let Some((key, other)) = named.first() {
            return Err(ReadError::unsupported(other.span, format!("the argument `{key}=` of `{name}`")));
        }
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
            ("Select", [condition, then, otherwise]) => {
                let condition = Box::new(self.expr(condition)?);
                let (then, otherwise) = (self.expr(then)?, self.expr(otherwise)?);
                let (then, otherwise) = self.unify(then, otherwise);
                Ok(Expr::Select { condition, then: Box::new(then), otherwise: Box::new(otherwise) })
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

    /// A call of another function of the module, or of a function of a module inside `T`: `f(A.data)`, `cls.f(…)`, `T.ptx.mma(…)`.
    fn subroutine(&mut self, value: &Py) -> Result<Expr, ReadError> {
        let Node::Call(callee, args, named) = &value.node else {
            return Err(ReadError::unsupported(value.span, "this call"));
        };
        let name = self.source[callee.span.range()].to_owned();
        if !named.is_empty() || name.contains(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')) {
            return Err(ReadError::unsupported(value.span, "this call"));
        }
        let args = args.iter().map(|arg| self.expr(arg)).collect::<Result<Vec<_>, _>>()?;
        Ok(Expr::Call { name: format!("{OTHER_FUNCTION}{name}"), args, dtype: DType::INT32 })
    }

    fn lanes(&self, value: &Py) -> Result<u16, ReadError> {
        match value.node {
            Node::Int(lanes) if (1..=i64::from(u16::MAX)).contains(&lanes) => Ok(lanes as u16),
            _ => Err(ReadError::invalid(value.span, "the number of lanes is a constant from 1 to 65535")),
        }
    }

    fn typed_constant(&mut self, dtype: DType, args: &[Py], span: Span) -> Result<Expr, ReadError> {
        let [argument] = args else {
            return Err(ReadError::invalid(span, "a typed constant has one argument"));
        };
        if let Node::Str(text) = &argument.node {
            let value = match text.as_str() {
                "inf" => f64::INFINITY,
                "-inf" => f64::NEG_INFINITY,
                "nan" => f64::NAN,
                _ => {
                    return Err(ReadError::invalid(argument.span, "expected \"inf\", \"-inf\" or \"nan\""));
                }
            };
            return Ok(Expr::Float { value, dtype });
        }
        if let Node::Large(value) = argument.node
            && dtype == DType::scalar(Kind::UInt, 64)
        {
            // The same bits as a signed number.
            return Ok(Expr::Int { value: value as i64, dtype });
        }
        let value = self.expr(argument)?;
        Ok(coerce(value, dtype, &self.function))
    }

    /// Any other `T.name(…)`; what it computes is the interpreter's business, what it touches is in its arguments.
    fn intrinsic(&mut self, name: &str, args: &[Py], span: Span) -> Result<Expr, ReadError> {
        let mut values = Vec::new();
        for arg in args {
            values.push(self.expr(arg)?);
        }
        let dtype = if takes_result_type(name) {
            let Some(Expr::Str(text)) = values.first() else {
                return Err(ReadError::invalid(span, format!("`T.{name}` starts with the type of its result")));
            };
            let dtype = text.parse().map_err(|error| ReadError::invalid(span, format!("{error}")))?;
            values.remove(0);
            dtype
        } else {
            match name {
                "address_of" | "tvm_access_ptr" => DType::HANDLE,
                "if_then_else" | "likely" if values.len() > 1 => values[1].dtype(&self.function),
                _ => match values.first() {
                    Some(first) if !matches!(first, Expr::Str(_) | Expr::Data(_)) => first.dtype(&self.function),
                    _ => DType::INT32,
                },
            }
        };
        if name == "address_of" && !matches!(values.as_slice(), [Expr::Load { .. }]) {
            return Err(ReadError::invalid(span, "`T.address_of` takes one buffer element"));
        }
        if name == "if_then_else" {
            if values.len() != 3 {
                return Err(ReadError::invalid(span, "`T.if_then_else` takes a condition and two values"));
            }
            let otherwise = values.remove(2);
            let then = values.remove(1);
            let (then, otherwise) = self.unify(then, otherwise);
            values.extend([then, otherwise]);
        }
        Ok(Expr::Call { name: name.to_owned(), args: values, dtype })
    }
}

/// Calls that are written with the type of their result first.
pub(super) fn takes_result_type(name: &str) -> bool {
    matches!(name, "call_extern" | "call_pure_extern" | "call_intrin" | "call_llvm_intrin" | "reinterpret")
}

/// Stands before the name of a function that is not one of `T`'s own.
pub(super) const OTHER_FUNCTION: char = '@';

/// Whether an expression mentions no name.
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

/// The function that a bit operator is written for.
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
