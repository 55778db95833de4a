//! Writing expressions, with as few parentheses as Python needs.

use super::read_call::takes_result_type;
// `KEYWORD`, `METHOD` and `OTHER_FUNCTION` are first characters of names of calls, `LIST`, `TUPLE` and `SLICE` are
// whole names: by them the reader keeps forms of Python for which the loop IR has no expression (see `write_call`).
use crate::ir::{BinaryOp, BufId, Expr, Function, KEYWORD, LIST, METHOD, OTHER_FUNCTION, SLICE, TUPLE};
use crate::{DType, Kind};
use std::fmt::Write;

/// Prints an expression.
pub fn print_expr(expr: &Expr, function: &Function) -> String {
    let mut text = String::new();
    write_expr(expr, function, 0, &mut text);
    text
}

/// A string in quotes, with escapes for what Python would not read as it stands.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            // Control characters have numbers below 0xa0, so two digits are enough.
            _ if c.is_control() => quoted.push_str(&format!("\\x{:02x}", u32::from(c))),
            _ => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// How tightly an operator binds (a larger number binds more tightly), and its sign; `None` for operators that are
/// written as calls, such as `T.min(a, b)`. Only the division depends on the type: of integers it is written as a
/// call.
fn infix(op: BinaryOp, dtype: DType) -> Option<(u8, &'static str)> {
    Some(match op {
        BinaryOp::Or => (1, "or"),
        BinaryOp::And => (2, "and"),
        BinaryOp::Eq => (4, "=="),
        BinaryOp::Ne => (4, "!="),
        BinaryOp::Lt => (4, "<"),
        BinaryOp::Le => (4, "<="),
        BinaryOp::Gt => (4, ">"),
        BinaryOp::Ge => (4, ">="),
        BinaryOp::Add => (5, "+"),
        BinaryOp::Sub => (5, "-"),
        BinaryOp::Mul => (6, "*"),
        BinaryOp::Div if dtype.is_float() => (6, "/"),
        BinaryOp::FloorDiv => (6, "//"),
        BinaryOp::FloorMod => (6, "%"),
        BinaryOp::Div | BinaryOp::Mod | BinaryOp::Min | BinaryOp::Max => return None,
    })
}

/// The name after `T.` of an operator that has no sign.
fn call_name(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Div => "Div",
        BinaryOp::Mod => "truncmod",
        BinaryOp::Min => "min",
        _ => "max",
    }
}

/// Appends an expression. `context` says how tightly the operator around it binds, on the scale of [`infix`] (0:
/// nothing is around it). An operator that binds less tightly than its context is put in parentheses.
fn write_expr(expr: &Expr, function: &Function, context: u8, out: &mut String) {
    match expr {
        Expr::Int { value, dtype } => out.push_str(&print_int(*value, *dtype)),
        Expr::Float { value, dtype } => out.push_str(&print_float(*value, *dtype)),
        Expr::Str(text) => out.push_str(&quoted(text)),
        Expr::Var(var) => out.push_str(&function.vars[*var].name),
        Expr::Binary { op, left, right } => {
            // The sign depends on the type for divisions only, so the type is looked up for divisions only.
            let dtype = if *op == BinaryOp::Div { left.dtype(function) } else { DType::INT32 };
            match infix(*op, dtype) {
                Some((precedence, sign)) => {
                    let parenthesis = precedence < context;
                    if parenthesis {
                        out.push('(');
                    }
                    // `a - b - c` is `(a - b) - c`, so only the right operand needs parentheses at equal precedence.
                    // Comparisons (4) are the exception: Python reads `a < b < c` as `a < b and b < c`.
                    let left_context = if precedence == 4 { 5 } else { precedence };
                    write_expr(left, function, left_context, out);
                    let _ = write!(out, " {sign} ");
                    write_expr(right, function, precedence + 1, out);
                    if parenthesis {
                        out.push(')');
                    }
                }
                None => write_call(call_name(*op), &[left, right], function, out),
            }
        }
        // `not` binds with 3: tighter than `and` (2), less tightly than comparisons (4).
        Expr::Not(value) => {
            if context > 3 {
                out.push('(');
            }
            out.push_str("not ");
            write_expr(value, function, 4, out);
            if context > 3 {
                out.push(')');
            }
        }
        Expr::Select { condition, then, otherwise } => {
            write_call("Select", &[condition, then, otherwise], function, out);
        }
        Expr::Cast { dtype, value } => {
            let _ = write!(out, "T.Cast(\"{dtype}\", ");
            write_expr(value, function, 0, out);
            out.push(')');
        }
        Expr::Ramp { base, stride, lanes } => {
            write_call("Ramp", &[base, stride, &Expr::int(i64::from(*lanes))], function, out);
        }
        Expr::Broadcast { value, lanes } => {
            write_call("Broadcast", &[value, &Expr::int(i64::from(*lanes))], function, out);
        }
        Expr::Load { buffer, index } => write_load(*buffer, index, function, out),
        Expr::Data(buffer) => {
            let _ = write!(out, "{}.data", function.buffers[*buffer].name);
        }
        Expr::Text(text) => out.push_str(text),
        Expr::Type(dtype) => {
            let _ = write!(out, "T.type_annotation(\"{dtype}\")");
        }
        Expr::Call { name, args, dtype } => {
            // The reader took the result type out of the arguments of these calls; here it goes back to the front.
            let result = Expr::Str(dtype.to_string());
            let mut all: Vec<&Expr> = args.iter().collect();
            if takes_result_type(name) {
                all.insert(0, &result);
            }
            write_call(name, &all, function, out);
        }
    }
}

/// An element of a buffer. A scalar is written without index.
fn write_load(buffer: BufId, index: &[Expr], function: &Function, out: &mut String) {
    let source = &function.buffers[buffer];
    out.push_str(&source.name);
    if source.scalar {
        return;
    }
    if index.is_empty() {
        out.push_str("[()]");
        return;
    }
    out.push('[');
    for (position, index) in index.iter().enumerate() {
        if position > 0 {
            out.push_str(", ");
        }
        write_expr(index, function, 0, out);
    }
    out.push(']');
}

/// Writes a call: `T.name(…)`, or the Python form that a reserved name stands for.
fn write_call(name: &str, args: &[&Expr], function: &Function, out: &mut String) {
    match (name, args) {
        // Lists, tuples and slices of Python are kept as calls with reserved names. They are written as Python again.
        (LIST, _) => return write_arguments("[", args, "]", function, out),
        (TUPLE, [_]) => return write_arguments("(", args, ",)", function, out),
        (TUPLE, _) => return write_arguments("(", args, ")", function, out),
        (SLICE, [start, stop, step]) => {
            write_expr(start, function, 0, out);
            out.push(':');
            write_expr(stop, function, 0, out);
            if step.as_int() != Some(1) {
                out.push(':');
                write_expr(step, function, 0, out);
            }
            return;
        }
        _ => {}
    }
    let mut chars = name.chars();
    // The first character of a name may be a mark that says how the call was written: a keyword argument, a
    // method of a buffer, or a function that is not TVM's.
    match (chars.next(), args) {
        (Some(KEYWORD), [value]) => {
            let _ = write!(out, "{}=", chars.as_str());
            write_expr(value, function, 0, out);
        }
        (Some(METHOD), [Expr::Data(buffer), rest @ ..]) => {
            let _ = write!(out, "{}.{}", function.buffers[*buffer].name, chars.as_str());
            write_arguments("(", rest, ")", function, out);
        }
        (Some(OTHER_FUNCTION), _) => {
            out.push_str(chars.as_str());
            write_arguments("(", args, ")", function, out);
        }
        _ => {
            let _ = write!(out, "T.{name}");
            write_arguments("(", args, ")", function, out);
        }
    }
}

/// Expressions with commas between them.
fn write_arguments(open: &str, args: &[&Expr], close: &str, function: &Function, out: &mut String) {
    out.push_str(open);
    for (position, arg) in args.iter().enumerate() {
        if position > 0 {
            out.push_str(", ");
        }
        write_expr(arg, function, 0, out);
    }
    out.push_str(close);
}

/// A number with its type: `T.int64(5)`. Only `int32` is written without.
fn print_int(value: i64, dtype: DType) -> String {
    match dtype {
        DType::INT32 => value.to_string(),
        _ if dtype.kind == Kind::UInt && dtype.bits == 64 => format!("T.uint64({})", value as u64),
        _ if dtype.kind == Kind::Bool => {
            format!("T.bool({})", if value == 0 { "False" } else { "True" })
        }
        _ => format!("T.{dtype}({value})"),
    }
}

/// A floating-point number with its type: `T.float32(0.5)`. What Python has no digits for is written as a string.
fn print_float(value: f64, dtype: DType) -> String {
    if value.is_nan() {
        format!("T.{dtype}(\"nan\")")
    } else if value.is_infinite() {
        format!("T.{dtype}(\"{}inf\")", if value < 0.0 { "-" } else { "" })
    } else {
        format!("T.{dtype}({value:?})")
    }
}
