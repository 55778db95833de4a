//! Writing the loop IR as TVMScript that TVM 0.27 parses.
//!
//! Each statement has [`Trivia`]: where its line and the comment lines before it stand in the source text. A statement
//! that still says what its line says is copied from there; a statement whose `text` is `None` has changed and is
//! printed anew, with the comment of its old line. A statement with an *empty* `text` stands on the same line as the
//! one before it, and is part of the copy of that line.

use super::print_expr::{print_expr, quoted};
use crate::DType;
use crate::ir::{BinaryOp, Block, BufId, Buffer, Expr, ForKind, Function, Memory, Param, Stmt, StmtKind, Trivia};
use memplan_core::Span;
use std::fmt::Write;

/// Prints a function that has no source text.
///
/// The shape of a parameter can only mention parameters that come before it. A buffer whose size is a parameter
/// therefore comes as a handle, and gets its shape in the body, where all parameters are known:
///
/// ```text
/// def main(var_X: T.handle, n: T.int32):
///     X = T.match_buffer(var_X, (n,), "float32")
/// ```
pub fn print_function(function: &Function) -> String {
    let mut text = String::from("# from tvm.script import tirx as T\n\n@T.prim_func(s_tir=True)\n");
    // The lines at the start of the body that give handles their shapes.
    let mut matches = String::new();
    let mut params: Vec<String> = Vec::new();
    // The names of the handles so far.
    let mut handles: Vec<String> = Vec::new();
    for param in &function.params {
        params.push(match param {
            Param::Var(var) => {
                let var = &function.vars[*var];
                format!("{}: T.{}", var.name, var.dtype)
            }
            Param::Buffer(buffer) => {
                let buffer = &function.buffers[*buffer];
                let shape = print_shape(&buffer.shape, function);
                // The shape mentions a parameter that may come later in the list, so the buffer comes as a handle.
                if buffer.shape.iter().any(mentions_variables) {
                    let handle = handle_name(function, &buffer.name, &handles);
                    handles.push(handle.clone());
                    let _ = writeln!(
                        matches,
                        "    {} = T.match_buffer({handle}, {shape}, \"{}\")",
                        buffer.name, buffer.dtype
                    );
                    format!("{handle}: T.handle")
                } else {
                    format!("{}: T.Buffer({shape}, \"{}\")", buffer.name, buffer.dtype)
                }
            }
        });
    }
    let _ = writeln!(text, "def {}({}):", function.name, params.join(", "));
    text.push_str(&matches);
    print_body(function, None, "    ", &mut text);
    text
}

/// Whether a size is computed from variables, so that it can only be written where these are known.
fn mentions_variables(extent: &Expr) -> bool {
    let mut found = false;
    extent.walk(&mut |part| found |= matches!(part, Expr::Var(_)));
    found
}

/// A name for the handle of a buffer: one that no variable, no buffer and no other handle of the function has.
fn handle_name(function: &Function, buffer: &str, handles: &[String]) -> String {
    let mut name = format!("var_{buffer}");
    let is_taken = |name: &str| {
        handles.iter().any(|handle| handle == name)
            || function.vars.iter().any(|var| var.name == name)
            || function.buffers.iter().any(|other| other.name == name)
    };
    while is_taken(&name) {
        name.push('_');
    }
    name
}

/// Prints the body of a function; with its source, unchanged lines are copied.
pub(super) fn print_body(function: &Function, source: Option<&str>, indent: &str, out: &mut String) {
    let mut printer = Printer { function, source, indent: indent.to_owned(), out, copied: false };
    printer.block(&function.body);
}

/// The arguments of a loop's range: where it ends or, unless it begins at 0, its begin and its end.
pub(crate) fn print_bounds(min: &Expr, extent: &Expr, function: &Function) -> String {
    if min.as_int() == Some(0) {
        return print_expr(extent, function);
    }
    let stop = crate::linear::fold(BinaryOp::Add, min, extent)
        .unwrap_or_else(|| Expr::binary(BinaryOp::Add, min.clone(), extent.clone()));
    format!("{}, {}", print_expr(min, function), print_expr(&stop, function))
}

/// Writes the statements of one function, line by line.
struct Printer<'a> {
    function: &'a Function,
    source: Option<&'a str>,
    /// Blanks in front of every line of the current block.
    indent: String,
    out: &'a mut String,
    /// Whether the last line was copied. The copy then contains all statements that stood on that line.
    copied: bool,
}

impl Printer<'_> {
    /// A piece of the source text; `None` without a source, without a span, and for an empty span.
    fn source_of(&self, span: Option<Span>) -> Option<&str> {
        self.source?.get(span?.range()).filter(|text| !text.is_empty())
    }

    /// Prints the statements of a block. A block without any statement gets one that does nothing, because Python
    /// wants one.
    fn block(&mut self, block: &Block) {
        let mut printed = false;
        let mut position = 0;
        while let Some(stmt) = block.get(position) {
            position += 1;
            self.lead(stmt.trivia);
            // Two statements that are one line: `x: T.int32 = 0`.
            if let Some(next) = block.get(position)
                && self.scalar_with_value(stmt, next)
            {
                position += 1;
                printed = true;
                continue;
            }
            printed |= self.statement(stmt);
        }
        if !printed {
            self.line("T.evaluate(0)");
        }
    }

    /// Prints a block one level further in.
    fn nested(&mut self, block: &Block) {
        let length = self.indent.len();
        self.indent.push_str("    ");
        self.block(block);
        self.indent.truncate(length);
    }

    /// Copies the comment lines before a statement.
    fn lead(&mut self, trivia: Trivia) {
        if let Some(text) = self.source_of(trivia.lead).map(str::to_owned) {
            self.out.push_str(&text);
        }
    }

    /// Prints a new line.
    fn line(&mut self, text: &str) {
        self.copied = false;
        self.out.push_str(&self.indent);
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// A new line in the place of an old one, with the old one's comment.
    fn replace(&mut self, trivia: Trivia, text: &str) {
        let comment = self.source_of(trivia.comment).map(|comment| comment.trim_end_matches(['\r', '\n']).to_owned());
        self.line(&format!("{text}{}", comment.unwrap_or_default()));
    }

    /// Copies the statement's own line; `false` if it has none, or has changed.
    fn verbatim(&mut self, trivia: Trivia) -> bool {
        let Some(text) = self.source_of(trivia.text).map(str::to_owned) else {
            return false;
        };
        self.copied = true;
        self.out.push_str(&self.indent);
        self.out.push_str(&text);
        if !text.ends_with('\n') {
            self.out.push('\n');
        }
        true
    }

    /// Prints an allocation of a mutable scalar and the first store to it as one line, `x: T.int32 = 0`; `false` if
    /// the two statements are not that.
    fn scalar_with_value(&mut self, alloc: &Stmt, store: &Stmt) -> bool {
        let (StmtKind::Alloc(declared), StmtKind::Store { buffer, value, .. }) = (&alloc.kind, &store.kind) else {
            return false;
        };
        let target = &self.function.buffers[*declared];
        // A comment in front of the store would get lost on a common line.
        if declared != buffer || !target.scalar || store.trivia.lead.is_some() {
            return false;
        }
        // Both came from one line, so that line can be copied.
        let joined = store.trivia.text.is_some_and(|span| span.range().is_empty());
        if !(joined && self.verbatim(alloc.trivia)) {
            let value = print_expr(value, self.function);
            self.replace(alloc.trivia, &format!("{}: T.{} = {value}", target.name, target.dtype));
        }
        true
    }

    /// Prints one statement; `false` if it left no line.
    fn statement(&mut self, stmt: &Stmt) -> bool {
        // Several statements may come from one line of source text. All but the first of them have an empty range as
        // their text. If the line was copied for the first statement, the others are in the copy already. Two kinds of
        // statements share a line. Lets do (the axes of `T.axis.remap`, the variable of a loop with a step), and they
        // are left out here. The store of a scalar's first value does, too; `scalar_with_value` prints it with the
        // declaration. If such a store comes here, it has been separated from the declaration and needs its own line.
        let shares_line = stmt.trivia.text.is_some_and(|text| text.range().is_empty());
        if shares_line && self.copied && matches!(stmt.kind, StmtKind::Let { .. }) {
            return false;
        }
        match &stmt.kind {
            StmtKind::Nothing => return self.verbatim(stmt.trivia),
            StmtKind::For { body, .. } => self.for_loop(stmt, body),
            StmtKind::If { .. } => self.condition(stmt, "if"),
            StmtKind::While { condition, body } => {
                if !self.verbatim(stmt.trivia) {
                    let condition = print_expr(condition, self.function);
                    self.replace(stmt.trivia, &format!("while {condition}:"));
                }
                self.nested(body);
            }
            StmtKind::Thread { body, flat, .. } | StmtKind::Attr { body, flat, .. } => {
                if !self.verbatim(stmt.trivia) {
                    let header = self.region_header(&stmt.kind);
                    self.replace(stmt.trivia, &header);
                }
                // A flat region has no indentation of its own: its body follows on the same level until the block
                // ends. An empty one needs no statement, since the block around it has one.
                if *flat && body.iter().any(|inner| !matches!(inner.kind, StmtKind::Nothing)) {
                    self.block(body);
                } else if !*flat {
                    self.nested(body);
                }
            }
            // A scalar with a first value was printed as one line by `scalar_with_value`. Here the declaration stands
            // alone. Its old line is never copied: the line may be `x: T.int32 = 0`, and the first value in it has been
            // separated from the declaration.
            StmtKind::Alloc(buffer) if self.function.buffers[*buffer].scalar => {
                let buffer = &self.function.buffers[*buffer];
                self.replace(stmt.trivia, &format!("{}: T.{}", buffer.name, buffer.dtype));
            }
            _ => {
                if !self.verbatim(stmt.trivia) {
                    let text = self.simple(&stmt.kind);
                    self.replace(stmt.trivia, &text);
                    // The declaration of an argument may be a comment (`print_declare`), which is no statement.
                    return !text.starts_with('#');
                }
            }
        }
        true
    }

    /// Prints a loop, or loops that were written as one `T.grid`, with their body.
    fn for_loop(&mut self, stmt: &Stmt, body: &Block) {
        let (run, innermost) = grid_run(stmt, body);
        // If a loop of the same grid is left in the innermost body, something (a new allocation) stands between two
        // loops of the grid now. The grid has to end before it, so its old line cannot be copied.
        let broken = innermost.iter().any(|inner| matches!(inner.kind, StmtKind::For { in_grid: true, .. }));
        if broken || !self.verbatim(stmt.trivia) {
            let header = self.loop_header(&run);
            self.replace(stmt.trivia, &header);
        }
        self.nested(innermost);
    }

    /// The line that opens one loop, or several that were written as one `T.grid`.
    fn loop_header(&self, run: &[&StmtKind]) -> String {
        // All loops of a grid start at zero, so their extents are enough.
        if run.len() > 1 {
            let (mut names, mut extents) = (Vec::new(), Vec::new());
            for kind in run {
                if let StmtKind::For { var, extent, .. } = kind {
                    names.push(self.function.vars[*var].name.as_str());
                    extents.push(print_expr(extent, self.function));
                }
            }
            return format!("for {} in T.grid({}):", names.join(", "), extents.join(", "));
        }
        // A single loop has its own kind and may begin anywhere.
        let Some(StmtKind::For { var, min, extent, kind, .. }) = run.first() else {
            return String::new();
        };
        let bounds = self.bounds(min, extent);
        let range = match kind {
            ForKind::Serial => format!("range({bounds})"),
            ForKind::Parallel => format!("T.parallel({bounds})"),
            ForKind::Vectorized => format!("T.vectorized({bounds})"),
            ForKind::Unrolled => format!("T.unroll({bounds})"),
            ForKind::ThreadBinding(tag) => format!("T.thread_binding({bounds}, thread={})", quoted(tag)),
        };
        format!("for {} in {range}:", self.function.vars[*var].name)
    }

    /// The arguments of a loop's range; see [`print_bounds`].
    fn bounds(&self, min: &Expr, extent: &Expr) -> String {
        print_bounds(min, extent, self.function)
    }

    /// An `if` with its `elif` and `else` parts; `word` is `if` or `elif`.
    fn condition(&mut self, stmt: &Stmt, word: &str) {
        let StmtKind::If { condition, then, otherwise, else_trivia } = &stmt.kind else {
            return;
        };
        // The old text is kept only if it begins with the same word: an `elif` that has become an `if` must not be
        // copied. `with` is the line `with T.init():`, which is read as a condition.
        let same_word =
            self.source_of(stmt.trivia.text).is_some_and(|text| text.starts_with(word) || text.starts_with("with"));
        if !(same_word && self.verbatim(stmt.trivia)) {
            let condition = print_expr(condition, self.function);
            self.replace(stmt.trivia, &format!("{word} {condition}:"));
        }
        self.nested(then);
        if otherwise.is_empty() {
            return;
        }
        // An `else` that holds a single `if` was an `elif` in the source, and stays one.
        if let [only] = otherwise.as_slice()
            && matches!(only.kind, StmtKind::If { .. })
            && else_trivia.text.is_none()
            && self.source_of(only.trivia.text).is_some_and(|text| text.starts_with("elif"))
        {
            self.lead(only.trivia);
            return self.condition(only, "elif");
        }
        self.lead(*else_trivia);
        if !self.verbatim(*else_trivia) {
            self.line("else:");
        }
        self.nested(otherwise);
    }

    /// The line that opens a thread launch or a mark. The *flat* form has no indented body: it holds for the rest of
    /// the block.
    fn region_header(&self, kind: &StmtKind) -> String {
        match kind {
            StmtKind::Thread { var, tag, extent, flat, .. } => {
                let (name, extent) = (&self.function.vars[*var].name, print_expr(extent, self.function));
                if *flat {
                    format!("{name} = T.launch_thread({}, {extent})", quoted(tag))
                } else {
                    format!("with T.launch_thread({}, {extent}) as {name}:", quoted(tag))
                }
            }
            StmtKind::Attr { node, key, value, flat, .. } => {
                let value = print_expr(value, self.function);
                let call = match node {
                    None => format!("T.attr({{{}: {value}}})", quoted(key)),
                    Some(node) => format!("T.attr({}, {}, {value})", print_expr(node, self.function), quoted(key)),
                };
                if *flat { call } else { format!("with {call}:") }
            }
            _ => String::new(),
        }
    }

    /// A statement without a body, as one line.
    fn simple(&self, kind: &StmtKind) -> String {
        let function = self.function;
        match kind {
            StmtKind::Alloc(buffer) => print_alloc(*buffer, function),
            StmtKind::Declare(buffer) => print_declare(*buffer, function),
            StmtKind::Store { buffer, index, value } => {
                let target = &function.buffers[*buffer];
                let value = print_expr(value, function);
                // TVM writes a scalar by its name, a buffer without dimensions with `()`, and all others with
                // subscripts.
                if target.scalar {
                    return format!("{} = {value}", target.name);
                }
                if index.is_empty() {
                    return format!("{}[()] = {value}", target.name);
                }
                let index: Vec<String> = index.iter().map(|index| print_store_index(index, function)).collect();
                format!("{}[{}] = {value}", target.name, index.join(", "))
            }
            StmtKind::Let { var, value } => {
                let var = &function.vars[*var];
                format!("{}: T.let[T.{}] = {}", var.name, var.dtype, print_expr(value, function))
            }
            StmtKind::Assert { condition, message } => {
                let condition = print_expr(condition, function);
                if message.is_empty() {
                    format!("assert {condition}")
                } else {
                    format!("assert {condition}, {message}")
                }
            }
            // A return was read as a call of `ret`, because the loop IR has no statement for it.
            StmtKind::Evaluate(Expr::Call { name, args, .. }) if name == "ret" && args.len() == 1 => {
                format!("return {}", print_expr(&args[0], function))
            }
            // A call is a statement by itself; any other value needs `T.evaluate`.
            StmtKind::Evaluate(value @ Expr::Call { .. }) => print_expr(value, function),
            StmtKind::Evaluate(value) => format!("T.evaluate({})", print_expr(value, function)),
            _ => String::new(),
        }
    }
}

/// The loops that one `T.grid` line can hold, and the body of the innermost: the loop itself, and as long as a body is
/// nothing but a further loop of the same grid, that loop. Comment lines in front of a loop end the run.
fn grid_run<'a>(stmt: &'a Stmt, body: &'a Block) -> (Vec<&'a StmtKind>, &'a Block) {
    let mut run = vec![&stmt.kind];
    let mut innermost = body;
    while let [inner] = innermost.as_slice()
        && let StmtKind::For { in_grid: true, body, .. } = &inner.kind
        && inner.trivia.lead.is_none()
    {
        run.push(&inner.kind);
        innermost = body;
    }
    (run, innermost)
}

/// The extents of a buffer as a tuple of Python, in which a single element has a comma behind it.
pub(super) fn print_shape(shape: &[Expr], function: &Function) -> String {
    let extents: Vec<String> = shape.iter().map(|extent| print_expr(extent, function)).collect();
    match extents.as_slice() {
        [only] => format!("({only},)"),
        _ => format!("({})", extents.join(", ")),
    }
}

/// The keyword arguments that were kept as text.
fn extras(buffer: &Buffer, function: &Function) -> String {
    buffer.extra.iter().fold(String::new(), |mut text, (key, value)| {
        // The strides of a view are expressions. The text they were read from may be that of another function.
        let _ = match buffer.strides.as_ref().filter(|_| key == "strides") {
            Some(strides) => write!(text, ", {key}={}", print_shape(strides, function)),
            None => write!(text, ", {key}={value}"),
        };
        text
    })
}

/// The argument for an element type. `float32` is the default and left out.
fn dtype_argument(dtype: DType) -> String {
    if dtype == DType::FLOAT32 { String::new() } else { format!(", \"{dtype}\"") }
}

/// An allocation as TVMScript writes it.
fn print_alloc(buffer: BufId, function: &Function) -> String {
    let buffer = &function.buffers[buffer];
    let (shape, dtype) = (print_shape(&buffer.shape, function), dtype_argument(buffer.dtype));
    let scope = buffer.scope.to_string();
    let (callee, scope) = match scope.as_str() {
        "global" => ("alloc_buffer", String::new()),
        "shared" => ("alloc_shared", String::new()),
        "local" => ("alloc_local", String::new()),
        _ => ("alloc_buffer", format!(", scope={}", quoted(&scope))),
    };
    format!("{} = T.{callee}({shape}{dtype}{scope}{})", buffer.name, extras(buffer, function))
}

/// A view of another buffer as TVMScript writes it.
fn print_declare(buffer: BufId, function: &Function) -> String {
    let buffer = &function.buffers[buffer];
    // The line that declares an argument never changes, so it is copied and this function is not called. A function
    // without a source declares its arguments in the header (`print_function`), and a comment is all that is printed.
    let Memory::View { of, elem_offset } = &buffer.memory else {
        return format!("# {} is an argument", buffer.name);
    };
    let (shape, dtype) = (print_shape(&buffer.shape, function), dtype_argument(buffer.dtype));
    let mut text = format!("{} = T.decl_buffer({shape}{dtype}, data={}.data", buffer.name, function.buffers[*of].name);
    if let Some(offset) = elem_offset {
        let _ = write!(text, ", elem_offset={}", print_expr(offset, function));
    }
    if !buffer.scope.is_global() {
        let _ = write!(text, ", scope={}", quoted(&buffer.scope.to_string()));
    }
    let _ = write!(text, "{})", extras(buffer, function));
    text
}

/// The subscript of a store. A ramp is written as the slice that TVM prints, `A[b:b + 4]` or `A[b:b + 8:2]`, if its
/// stride is a positive constant.
fn print_store_index(index: &Expr, function: &Function) -> String {
    let Expr::Ramp { base, stride, lanes } = index else {
        return print_expr(index, function);
    };
    let Some(step) = stride.as_int().filter(|step| *step > 0) else {
        return print_expr(index, function);
    };
    let length = Expr::Int { value: step.saturating_mul(i64::from(*lanes)), dtype: base.dtype(function) };
    let stop = crate::linear::fold(BinaryOp::Add, base, &length)
        .unwrap_or_else(|| Expr::binary(BinaryOp::Add, (**base).clone(), length));
    let mut text = format!("{}:{}", print_expr(base, function), print_expr(&stop, function));
    if step != 1 {
        let _ = write!(text, ":{}", print_expr(stride, function));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Buffer, StorageScope};
    use memplan_core::Span;

    /// The declaration of an argument is printed as a comment, and a body of Python needs a statement.
    #[test]
    fn a_body_is_more_than_a_comment() {
        let mut function = Function::empty("main".to_owned());
        let argument = function.buffers.push(Buffer {
            name: "A".to_owned(),
            dtype: crate::DType::FLOAT32,
            shape: vec![Expr::int(4)].into(),
            strides: None,
            scope: StorageScope::global(),
            memory: Memory::Argument,
            scalar: false,
            pinned: false,
            extra: Vec::new(),
            span: Span::default(),
        });
        function.body.push(Stmt::new(StmtKind::Declare(argument)));
        let text = print_function(&function);
        assert!(text.ends_with("    # A is an argument\n    T.evaluate(0)\n"), "{text}");
    }
}
