//! From Python syntax to the loop IR: names become ids, calls of `T.…` become statements and expressions.
//!
//! ```text
//! A = T.alloc_buffer((8,), "int32")     Alloc(A)
//! x: T.int32 = 0                        Alloc(x), Store x[0] = 0       a mutable scalar is a buffer with one element
//! y: T.let[T.int32] = A[0]              Let y = A[0]                   a constant needs no memory
//! A[1] = x + y                          Store A[1] = Load x[0] + y
//! ```
//!
//! Each statement keeps its place in the text ([`Trivia`]), so that the printer can copy lines that did not change.

use super::ScriptError;
// The Python syntax tree: `Py` is an expression with its place, `Node` what it is, `PyStmt` a statement with its place,
// `PyKind` what it is, and `PyDef` the header of a function.
use super::python::{Node, Parser, Py, PyDef, PyKind, PyStmt};
use super::read_expr::refuse_misfit;
use super::read_region::{let_type, nest, same_line};
use crate::ir::{
    Block, BufId, Buffer, Expr, Function, MAX_NESTING, Memory, Param, Stmt, StmtKind, StorageScope, Trivia, Var, VarId,
};
use crate::{DType, Kind};
use memplan_core::{IndexVec, Span, index_type};
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Binding {
    Var(VarId),
    Buffer(BufId),
    /// `threadIdx_x = T.env_thread("threadIdx.x")`, not yet launched.
    ThreadAxis(VarId, String),
    /// The value that a `T.Let` gives a name, and the number of its sub-expressions.
    Value(Box<Expr>, usize),
}

index_type! {
    /// A name of the text.
    pub(super) struct NameId;
}

/// Reads the statements of one function.
pub(super) struct Reader<'a> {
    pub(super) source: &'a str,
    /// The function as far as it has been read.
    pub(super) function: Function,
    /// The numbers of the names that were given so far.
    names: HashMap<String, NameId>,
    /// What each name stands for. A name may be given again in an inner block; the last meaning counts.
    meanings: IndexVec<NameId, SmallVec<[Binding; 1]>>,
    /// The names that each open block has given, to be forgotten at its end: first the parameters, then the function's
    /// own block, then the blocks inside of it.
    pub(super) scopes: Vec<Vec<NameId>>,
    /// End of the last statement line that was read. The text from there to the next statement's line (comments and
    /// blank lines) is that statement's lead.
    line_end: usize,
    /// How deeply the statement that is being read is nested.
    pub(super) depth: usize,
    /// Variables that a line `x = T.int32()` declares and that have no value yet.
    pub(super) undefined: HashSet<VarId>,
    /// How many sub-expressions have been inserted so far in the place of names of `T.Let`.
    pub(super) let_parts: usize,
    /// The reduction axes, with their first values, of each `T.sblock` around the statement, the innermost last.
    pub(super) reductions: Vec<Vec<(VarId, Expr)>>,
    /// Whether parameters are read: a name that nothing defines is then a size, and gets its type in the body.
    pub(super) in_parameters: bool,
    /// Whether the current line leaves out something that the rewrite may change, so that it has to be printed anew
    /// with everything spelled out: `A[:]` ends where `A` ends, and `A` may become longer.
    pub(super) spells_out: bool,
}

/// The statements of a block in their order. Those of a function's own block come straight from the parser, one by
/// one.
type Statements<'s> = dyn Iterator<Item = Result<Cow<'s, PyStmt>, ScriptError>> + 's;

/// Reads one function: `def` is its header, and the parser stands at the first statement of its body.
pub(super) fn read_function(source: &str, def: &PyDef, parser: &mut Parser<'_>) -> Result<Function, ScriptError> {
    let mut reader = Reader {
        source,
        function: Function::empty(def.name.clone()),
        names: HashMap::new(),
        meanings: IndexVec::new(),
        scopes: vec![Vec::new()],
        line_end: end_of_line(source, def.header.range().end),
        depth: 0,
        undefined: HashSet::new(),
        let_parts: 0,
        reductions: Vec::new(),
        in_parameters: true,
        spells_out: false,
    };
    // Parameters come first: their annotations may mention each other, and the body mentions all of them.
    for (name, annotation, span) in &def.params {
        reader.param(name, annotation, *span)?;
    }
    reader.in_parameters = false;
    // Statements are parsed one by one as the reader asks for them. The syntax tree of a large function is then
    // never in memory as a whole.
    let body = std::iter::from_fn(|| parser.next_statement().transpose());
    reader.function.body = reader.in_scope(&mut body.map(|statement| statement.map(Cow::Owned)))?;
    // A buffer or variable that is called `T` would hide the script module in the printed text.
    let function = reader.function;
    match hides_the_module(&function) {
        Some(span) => Err(ScriptError::invalid(
            if span == Span::default() { def.header } else { span },
            "`T` is the script module here; nothing in the function can have that name",
        )),
        None => Ok(function),
    }
}

/// Where something that is called `T` is declared, if there is such a thing; an empty span for a variable, whose place
/// is not known. The printer writes functions of TVM as `T.name`, which would then mean something else.
fn hides_the_module(function: &Function) -> Option<Span> {
    let buffer = function.buffers.iter().find(|buffer| buffer.name == "T").map(|buffer| buffer.span);
    let var = function.vars.iter().any(|var| var.name == "T");
    buffer.or_else(|| var.then(Span::default))
}

/// The byte after the line break that ends the line of byte `from`.
fn end_of_line(source: &str, from: usize) -> usize {
    source[from..].find('\n').map_or(source.len(), |newline| from + newline + 1)
}

impl Reader<'_> {
    /// Gives a name a meaning up to the end of the current block.
    pub(super) fn bind(&mut self, name: &str, binding: Binding) {
        let name = self.give(name, binding);
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(name);
        }
    }

    /// Binds a name for the whole function.
    pub(super) fn bind_for_good(&mut self, name: &str, binding: Binding) {
        let name = self.give(name, binding);
        self.scopes[0].push(name);
    }

    /// Gives a name a meaning, without noting where it ends. Most names are given once, or again and again.
    fn give(&mut self, name: &str, binding: Binding) -> NameId {
        if let Some(&known) = self.names.get(name) {
            self.meanings[known].push(binding);
            return known;
        }
        let new = self.meanings.push(smallvec![binding]);
        self.names.insert(name.to_owned(), new);
        new
    }

    /// What a name stands for; `None` if nothing here has it.
    pub(super) fn lookup(&self, name: &str) -> Option<&Binding> {
        self.names.get(name).and_then(|name| self.meanings[*name].last())
    }

    /// Forgets the names of the block that ends, so that they mean what they meant outside of it.
    pub(super) fn leave_scope(&mut self) {
        for name in self.scopes.pop().unwrap_or_default() {
            self.meanings[name].pop();
        }
    }

    /// A new variable for a size that the shape of a parameter mentions. A line `n = T.int64()` in the body will set
    /// its type; until then it is `int64` if the text declares the size with `TypeVar`, and otherwise `int32`.
    pub(super) fn new_size(&mut self, name: &str) -> VarId {
        let type_var = self.source.contains(&format!("{name} = TypeVar("));
        self.new_var(name, if type_var { DType::INT64 } else { DType::INT32 })
    }

    /// Adds a variable to the function and gives it its name.
    pub(super) fn new_var(&mut self, name: &str, dtype: DType) -> VarId {
        let var = self.function.vars.push(Var { name: name.to_owned(), dtype });
        self.bind(name, Binding::Var(var));
        var
    }

    /// Adds a buffer to the function and gives it its name.
    pub(super) fn new_buffer(&mut self, buffer: Buffer) -> BufId {
        let name = buffer.name.clone();
        let id = self.function.buffers.push(buffer);
        self.bind(&name, Binding::Buffer(id));
        id
    }

    /// Reads a parameter: a buffer (`A: T.Buffer((8,), "int32")`), a pointer with its element type, which is a call
    /// (`p: T.handle("float32")`), or something with the name of a type: a scalar (`n: T.int32`) or a pointer without
    /// an element type (`p: T.handle`).
    fn param(&mut self, name: &str, annotation: &Py, span: Span) -> Result<(), ScriptError> {
        if let Some(("Buffer", args, named)) = script_call(annotation) {
            let mut parts = self.buffer_parts(name, args, named, span)?;
            parts.buffer.memory = Memory::Argument;
            let id = self.new_buffer(parts.buffer);
            self.function.params.push(Param::Buffer(id));
            return Ok(());
        }
        let dtype = match script_call(annotation) {
            // The element type that `T.handle("float32")` names is not needed: it is given where the pointer is used.
            Some(("handle", ..)) => Some(DType::HANDLE),
            // `T.int32` and `T.handle` are names of element types.
            _ => script_name(annotation).and_then(|name| name.parse::<DType>().ok()),
        };
        let dtype = dtype.ok_or_else(|| {
            ScriptError::invalid(annotation.span, "a parameter is a `T.Buffer(…)` or a scalar type such as `T.int32`")
        })?;
        let var = self.new_var(name, dtype);
        self.function.params.push(Param::Var(var));
        Ok(())
    }

    /// Reads statements that have been parsed, as a block of their own.
    pub(super) fn block(&mut self, statements: &[PyStmt]) -> Result<Block, ScriptError> {
        self.in_scope(&mut statements.iter().map(|statement| Ok(Cow::Borrowed(statement))))
    }

    /// Reads statements as a block of their own, whose names end with it.
    fn in_scope(&mut self, statements: &mut Statements<'_>) -> Result<Block, ScriptError> {
        self.scopes.push(Vec::new());
        let block = self.rest_of_block(statements);
        self.leave_scope();
        block
    }

    /// Reads the statements up to the end of the block. Some statements have no indented body and hold for all
    /// statements after them, such as `T.attr({…})` without `with`. The rest of the block becomes the body of such a
    /// statement: this function calls itself, and the inner call takes all remaining statements.
    fn rest_of_block(&mut self, statements: &mut Statements<'_>) -> Result<Block, ScriptError> {
        self.depth += 1;
        // Inner blocks know how many statements they have, and most have one. A list that grows by itself begins with
        // room for four, which took a quarter of the memory of a function of small loops.
        let mut block = Vec::with_capacity(statements.size_hint().0);
        while let Some(statement) = statements.next().transpose()? {
            if self.depth > MAX_NESTING {
                return Err(ScriptError::TooDeep { span: statement.span });
            }
            let trivia = self.trivia(statement.span);
            if let Some(region) = self.flat_region(&statement)? {
                let body = self.rest_of_block(statements)?;
                block.push(nest(region, body, statement.span, trivia, true));
                break;
            }
            // If the line has to be spelled out, none of the statements it becomes keeps its text.
            let first = block.len();
            self.statement(&statement, trivia, &mut block)?;
            if std::mem::take(&mut self.spells_out) {
                block[first..].iter_mut().for_each(|stmt| stmt.trivia.text = None);
            }
        }
        self.depth -= 1;
        Ok(block.into())
    }

    /// The place of a statement in the text: the comment lines before it, its own line, and the comment at its end.
    /// This function must be called for all statements in the order of the text, because the comment lines of a
    /// statement start where the line of the statement before it ended (`line_end`).
    fn trivia(&mut self, span: Span) -> Trivia {
        let start = span.range().start;
        let line_start = self.source[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let lead = (self.line_end < line_start).then(|| Span::new(self.line_end, line_start));
        self.line_end = end_of_line(self.source, span.range().end).max(self.line_end);
        let rest = &self.source[span.range().end..self.line_end];
        let comment =
            rest.trim_start_matches([' ', '\t']).starts_with('#').then(|| Span::new(span.range().end, self.line_end));
        Trivia { lead, text: Some(Span::new(start, self.line_end)), comment }
    }

    /// Reads one statement and appends what it becomes to the block.
    fn statement(&mut self, statement: &PyStmt, trivia: Trivia, block: &mut Vec<Stmt>) -> Result<(), ScriptError> {
        let span = statement.span;
        let kind = match &statement.kind {
            PyKind::Pass | PyKind::Return(None) => StmtKind::Nothing,
            // A return with a value is kept as a call of `ret`, a jump as a call of its name: the loop IR has no
            // statements for them.
            PyKind::Return(Some(value)) => {
                let value = self.expr(value)?;
                let dtype = value.dtype(&self.function);
                StmtKind::Evaluate(Expr::Call { name: "ret".to_owned(), args: vec![value], dtype })
            }
            PyKind::Jump(name) => {
                StmtKind::Evaluate(Expr::Call { name: (*name).to_owned(), args: Vec::new(), dtype: DType::INT32 })
            }
            PyKind::Expr(value) => self.effect(value)?,
            // An assignment may declare axes of a block, store into a buffer, or introduce a name. The order of these
            // tests matters: only a name that nothing else claims becomes a new scalar.
            PyKind::Assign(target, value) => {
                if self.axes(target, value, span, trivia, block)? {
                    return Ok(());
                }
                match self.assign(target, value)? {
                    Some(kind) => kind,
                    None => return self.new_scalar(target, value, span, trivia, block),
                }
            }
            PyKind::Annotated(target, annotation, value) => {
                return self.annotated(target, annotation, value.as_ref(), span, trivia, block);
            }
            PyKind::Assert(condition, message) => StmtKind::Assert {
                condition: self.expr(condition)?,
                message: message.map_or(String::new(), |span| self.source[span.range()].to_owned()),
            },
            PyKind::While(condition, body) => {
                StmtKind::While { condition: self.expr(condition)?, body: self.block(body)? }
            }
            // `trivia` must see the lines in their order: first the branch `then`, then the `else:` line, then its
            // branch.
            PyKind::If(condition, then, otherwise, else_line) => {
                let condition = self.expr(condition)?;
                let then = self.block(then)?;
                let else_trivia = else_line.map_or(Trivia::default(), |line| self.trivia(line));
                StmtKind::If { condition, then, otherwise: self.block(otherwise)?, else_trivia }
            }
            // A loop over several axes becomes one loop inside of another, so the place of the line is handed on.
            PyKind::For(targets, iterable, body) => self.for_loop(targets, iterable, body, span, trivia)?,
            // A `with` statement makes statements of its own around its body, so it is pushed there and not below.
            PyKind::With(context, target, body) => {
                block.push(self.with_statement(context, target.as_ref(), body, span, trivia)?);
                return Ok(());
            }
        };
        block.push(Stmt { kind, span, trivia });
        Ok(())
    }

    /// A bare expression as a statement: it is evaluated for its effect, or only kept as text.
    fn effect(&mut self, value: &Py) -> Result<StmtKind, ScriptError> {
        match script_call(value) {
            Some(("evaluate", [inner], _)) => Ok(StmtKind::Evaluate(self.expr(inner)?)),
            // Attributes of the function or of a block: nothing to execute; the line is kept.
            Some(("func_attr" | "sblock_attr" | "block_attr" | "reads" | "writes" | "device_entry", ..)) => {
                Ok(StmtKind::Nothing)
            }
            // A documentation string.
            _ if matches!(value.node, Node::Str(_)) => Ok(StmtKind::Nothing),
            _ => Ok(StmtKind::Evaluate(self.expr(value)?)),
        }
    }

    /// An assignment; `None` if it gives a name to a value for the first time.
    fn assign(&mut self, target: &Py, value: &Py) -> Result<Option<StmtKind>, ScriptError> {
        match &target.node {
            Node::Subscript(base, subscripts) => {
                let buffer = self.buffer_named(base)?;
                let index = self.index(buffer, subscripts, target.span)?;
                let value = self.expr(value)?;
                Ok(Some(self.store(buffer, index, value, target.span)?))
            }
            Node::Name(name) => self.assign_name(name, target.span, value),
            Node::Tuple(targets) => self.assign_sizes(targets, value, target.span).map(Some),
            _ => Err(ScriptError::unsupported(target.span, "this assignment target")),
        }
    }

    /// `n, m = T.int32(), T.int32()`: declares several sizes. No other assignment of several values is read.
    fn assign_sizes(&mut self, targets: &[Py], value: &Py, span: Span) -> Result<StmtKind, ScriptError> {
        let unsupported = || ScriptError::unsupported(span, "assigning several values at once");
        let Node::Tuple(values) = &value.node else { return Err(unsupported()) };
        for (target, value) in targets.iter().zip(values) {
            let Node::Name(name) = &target.node else { return Err(unsupported()) };
            match self.declaration(name, target.span, value)? {
                Some(StmtKind::Nothing) => {}
                _ => return Err(unsupported()),
            }
        }
        if targets.len() == values.len() { Ok(StmtKind::Nothing) } else { Err(unsupported()) }
    }

    /// An assignment to a name: a declaration, a store into a mutable scalar, or the value of a variable declared
    /// before. `None` if the name is new.
    fn assign_name(&mut self, name: &str, span: Span, value: &Py) -> Result<Option<StmtKind>, ScriptError> {
        if let Some(declared) = self.declaration(name, span, value)? {
            return Ok(Some(declared));
        }
        match self.lookup(name) {
            // A mutable scalar is a buffer with one element, so an assignment to it is a store.
            Some(Binding::Buffer(buffer)) if self.function.buffers[*buffer].scalar => {
                let buffer = *buffer;
                let value = self.expr(value)?;
                Ok(Some(self.store(buffer, vec![Expr::int(0)], value, span)?))
            }
            // The variable was declared before without a value. This is its value, and from now on it is constant.
            Some(Binding::Var(var)) if self.undefined.contains(var) => {
                let var = *var;
                self.undefined.remove(&var);
                let value = self.expr(value)?;
                let value = coerce(value, self.function.vars[var].dtype, &self.function);
                Ok(Some(StmtKind::Let { var, value }))
            }
            // The name is new.
            None => Ok(None),
            // A loop variable, a constant, a thread index or a buffer with elements.
            _ => Err(ScriptError::unsupported(
                span,
                format!(
                    "assigning to `{name}`, which is no mutable scalar (write `{name}: T.let[T.int32] = …` for a constant one)"
                ),
            )),
        }
    }

    /// `A = T.alloc_buffer(…)`, `B = A.view("int8")`, `n = T.int32()` and the other statements that declare something;
    /// `None` if the value is none of these.
    fn declaration(&mut self, name: &str, span: Span, value: &Py) -> Result<Option<StmtKind>, ScriptError> {
        if let Node::Call(callee, args, named) = &value.node
            && let Node::Attribute(base, method) = &callee.node
            && method == "view"
            && let Ok(of) = self.buffer_named(base)
        {
            let buffer = self.view(name, of, args, named, span)?;
            return Ok(Some(StmtKind::Declare(self.new_buffer(buffer))));
        }
        // Everything else that declares something is a call of `T.name(…)`.
        let Some((callee, args, named)) = script_call(value) else {
            return Ok(None);
        };
        // For allocations and views this finds the memory that is meant if the arguments name none. The other
        // declarations return.
        let default_scope = match callee {
            "alloc_buffer" | "decl_buffer" | "sblock_alloc_buffer" | "Buffer" => StorageScope::global(),
            "alloc_shared" => StorageScope::parse("shared").unwrap_or_else(StorageScope::global),
            "alloc_local" => StorageScope::local(),
            "match_buffer" => return self.match_buffer(name, args, named, span).map(Some),
            "env_thread" => {
                let tag = self.string_argument(args, 0, value.span)?;
                let var = self.function.vars.push(Var { name: name.to_owned(), dtype: DType::INT32 });
                self.bind(name, Binding::ThreadAxis(var, tag));
                return Ok(Some(StmtKind::Nothing));
            }
            _ => {
                // `n = T.int32()` names a size that the caller's buffers determine.
                if args.is_empty()
                    && named.is_empty()
                    && let Ok(dtype) = callee.parse::<DType>()
                {
                    match self.lookup(name) {
                        // If the name is known and this is the function's own block (two scopes: parameters and body),
                        // the name is the size of a parameter, and this line gives its type.
                        Some(Binding::Var(size)) if self.scopes.len() == 2 => {
                            let size = *size;
                            self.function.vars[size].dtype = dtype;
                        }
                        _ => {
                            let var = self.new_var(name, dtype);
                            self.undefined.insert(var);
                        }
                    }
                    return Ok(Some(StmtKind::Nothing));
                }
                return Ok(None);
            }
        };
        let mut parts = self.buffer_parts(name, args, named, span)?;
        if !parts.scope_given {
            parts.buffer.scope = default_scope;
        }
        // An allocation of a `T.sblock` belongs to its block and stays there.
        parts.buffer.pinned |= callee == "sblock_alloc_buffer";
        if callee == "Buffer" && parts.buffer.memory == Memory::Own {
            // A buffer that TVM printed without its declaration. Its memory is not this function's.
            parts.buffer.memory = Memory::Argument;
        }
        // A buffer with memory of its own is allocated here; a view or an argument is only declared.
        let declared = parts.buffer.memory != Memory::Own;
        let id = self.new_buffer(parts.buffer);
        Ok(Some(if declared { StmtKind::Declare(id) } else { StmtKind::Alloc(id) }))
    }

    /// Reads a name with a type: `x: T.let[T.float32] = e`, `x: T.int32 = 0`, `x: T.int32`.
    fn annotated(
        &mut self,
        target: &Py,
        annotation: &Py,
        value: Option<&Py>,
        span: Span,
        trivia: Trivia,
        block: &mut Vec<Stmt>,
    ) -> Result<(), ScriptError> {
        let Node::Name(name) = &target.node else {
            return Err(ScriptError::invalid(target.span, "only a name can be annotated"));
        };
        // `T.let` makes a constant, which needs no memory. Every other annotation declares a mutable scalar, which is
        // a buffer.
        if let Some(dtype) = let_type(annotation) {
            let value = value.ok_or_else(|| ScriptError::invalid(span, "a let needs a value"))?;
            let value = self.expr(value)?;
            let dtype = dtype.unwrap_or(value.dtype(&self.function));
            let is_constant = value.as_int().is_some();
            let value = coerce(value, dtype, &self.function);
            if is_constant {
                refuse_misfit(&value, span)?;
            }
            let var = self.new_var(name, dtype);
            block.push(Stmt { kind: StmtKind::Let { var, value }, span, trivia });
            return Ok(());
        }
        let dtype = script_name(annotation)
            .and_then(|name| name.parse::<DType>().ok())
            .ok_or_else(|| ScriptError::unsupported(annotation.span, "this annotation"))?;
        // The first value is read before the name exists, so that `x: T.int32 = x + 1` reads an outer `x`.
        let initial = value.map(|value| self.expr(value)).transpose()?;
        self.scalar(name, dtype, initial, span, trivia, block)
    }

    /// `x = A[i] + 1`, where nothing is called `x` yet: a mutable scalar with the type of its first value. A pointer,
    /// and what `T.bind` gives, are constant.
    fn new_scalar(
        &mut self,
        target: &Py,
        value: &Py,
        span: Span,
        trivia: Trivia,
        block: &mut Vec<Stmt>,
    ) -> Result<(), ScriptError> {
        let Node::Name(name) = &target.node else {
            return Err(ScriptError::unsupported(target.span, "this assignment target"));
        };
        // `T.bind(e)` gives `e` a name.
        let (bound, value) = match script_call(value) {
            Some(("bind" | "Bind", [bound], _)) => (true, bound),
            _ => (false, value),
        };
        let initial = self.expr(value)?;
        let dtype = initial.dtype(&self.function);
        // A pointer cannot be stored in a buffer, so it becomes a constant even without `T.bind`.
        if bound || dtype == DType::HANDLE {
            let var = self.new_var(name, dtype);
            block.push(Stmt { kind: StmtKind::Let { var, value: initial }, span, trivia });
        } else {
            self.scalar(name, dtype, Some(initial), span, trivia, block)?;
        }
        Ok(())
    }

    /// Appends a mutable scalar, a buffer of one element, and the store of its first value if it has one.
    fn scalar(
        &mut self,
        name: &str,
        dtype: DType,
        initial: Option<Expr>,
        span: Span,
        trivia: Trivia,
        block: &mut Vec<Stmt>,
    ) -> Result<(), ScriptError> {
        let buffer = self.new_buffer(Buffer {
            name: name.to_owned(),
            dtype,
            shape: vec![Expr::int(1)].into(),
            strides: None,
            scope: StorageScope::local(),
            memory: Memory::Own,
            scalar: true,
            pinned: false,
            extra: Vec::new(),
            span,
        });
        // The store of the first value stands on the same line as the declaration. Its trivia say so, or the line
        // would be printed twice.
        block.push(Stmt { kind: StmtKind::Alloc(buffer), span, trivia });
        if let Some(initial) = initial {
            let kind = self.store(buffer, vec![Expr::int(0)], initial, span)?;
            block.push(Stmt { kind, span, trivia: same_line(trivia) });
        }
        Ok(())
    }
}

/// The value of a keyword argument of a call.
pub(super) fn keyword<'a>(named: &'a [(String, Py)], key: &str) -> Option<&'a Py> {
    named.iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

/// The name after `T.`, if the expression is such a name.
pub(super) fn script_name(value: &Py) -> Option<&str> {
    match &value.node {
        Node::Attribute(base, name) if matches!(&base.node, Node::Name(module) if is_script_module(module)) => {
            Some(name)
        }
        _ => None,
    }
}

/// Whether a name is taken for that of TVM's script module (`T`, `tir`): it has one byte, or consists of lower-case
/// letters and `_`. `cls`, by which a class calls its own functions, is the exception.
fn is_script_module(name: &str) -> bool {
    name != "cls" && (name.len() == 1 || name.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
}

/// The name, the arguments and the keyword arguments of a call.
pub(super) type CallParts<'p> = (&'p str, &'p [Py], &'p [(String, Py)]);

/// The parts of a call of `T.name(…)`; `None` for any other expression.
pub(super) fn script_call(value: &Py) -> Option<CallParts<'_>> {
    match &value.node {
        Node::Call(callee, args, named) => Some((script_name(callee)?, args, named)),
        _ => None,
    }
}

/// `value` as `dtype`: the type of a constant is changed, a scalar is repeated in every lane of a vector type,
/// everything else is cast, and so is an integer constant that does not fit the integer type (see `refuse_misfit`). A
/// value whose lanes do not suit the type stays as it is.
pub(super) fn coerce(value: Expr, dtype: DType, function: &Function) -> Expr {
    if value.dtype(function) == dtype {
        return value;
    }
    match value {
        // An unsigned number beyond 2^63 is kept as the negative number of the same bits, and fits no other type.
        Expr::Int { value: value @ ..0, dtype: DType { kind: Kind::UInt, .. } }
            if dtype.lanes == 1 && dtype.is_float() =>
        {
            Expr::Float { value: value as u64 as f64, dtype }
        }
        Expr::Int { value, dtype: from }
            if dtype.lanes == 1 && dtype.holds(value) && (from.kind != Kind::UInt || value >= 0) =>
        {
            Expr::Int { value, dtype }
        }
        Expr::Int { value, .. } if dtype.lanes == 1 && dtype.is_float() => Expr::Float { value: value as f64, dtype },
        Expr::Float { value, .. } if dtype.lanes == 1 && dtype.is_float() => Expr::Float { value, dtype },
        other if other.dtype(function).lanes == dtype.lanes => Expr::Cast { dtype, value: Box::new(other) },
        other if dtype.lanes > 1 && other.dtype(function).lanes == 1 => {
            Expr::Broadcast { value: Box::new(coerce(other, dtype.element(), function)), lanes: dtype.lanes }
        }
        other => other,
    }
}

impl Reader<'_> {
    /// A store, its value converted to the buffer's type as TVM does. An error if the value is a constant that does not
    /// fit the type.
    fn store(&self, buffer: BufId, index: Vec<Expr>, value: Expr, span: Span) -> Result<StmtKind, ScriptError> {
        let element = self.function.buffers[buffer].dtype;
        let lanes = index.last().map_or(1, |last| last.lanes(&self.function));
        let dtype = element.with_lanes(element.lanes.saturating_mul(lanes));
        let is_constant = value.as_int().is_some();
        let value = coerce(value, dtype, &self.function);
        if is_constant {
            refuse_misfit(&value, span)?;
        }
        Ok(StmtKind::Store { buffer, index, value })
    }

    /// The text of a string that must stand at a position of the arguments.
    fn string_argument(&self, args: &[Py], position: usize, span: Span) -> Result<String, ScriptError> {
        match args.get(position).map(|arg| &arg.node) {
            Some(Node::Str(text)) => Ok(text.clone()),
            _ => Err(ScriptError::invalid(span, "expected a string argument")),
        }
    }

    /// The text of a string that must be given as a keyword argument.
    pub(super) fn named_string(&self, named: &[(String, Py)], key: &str, span: Span) -> Result<String, ScriptError> {
        let found = named.iter().find(|(name, _)| name == key).map(|(_, value)| &value.node);
        match found {
            Some(Node::Str(text)) => Ok(text.clone()),
            _ => Err(ScriptError::invalid(span, format!("expected `{key}=\"…\"`"))),
        }
    }
}
