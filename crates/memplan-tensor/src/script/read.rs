//! From Python syntax to the loop IR: names become ids, calls of `T.…` become statements and expressions.

use super::ReadError;
use super::python::{Node, Parser, Py, PyDef, PyKind, PyStmt};
use crate::DType;
use crate::ir::{
    Block, BufId, Buffer, Expr, ForKind, Function, MAX_NESTING, Memory, Param, Stmt, StmtKind, StorageScope, Trivia,
    Var, VarId,
};
use memplan_core::{IndexVec, Span};
use std::borrow::Cow;
use std::collections::HashMap;

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Binding {
    Var(VarId),
    Buffer(BufId),
    /// `threadIdx_x = T.env_thread("threadIdx.x")`, not yet launched.
    ThreadAxis(VarId, String),
}

pub(super) struct Reader<'a> {
    pub(super) source: &'a str,
    pub(super) function: Function,
    names: HashMap<String, Vec<Binding>>,
    scopes: Vec<Vec<String>>,
    /// End of the last statement line that was read: what follows it up to the next one is that one's lead.
    line_end: usize,
    depth: usize,
    /// Whether parameters are read: a name that nothing defines is then a size, and gets its type in the body.
    pub(super) in_parameters: bool,
}

/// Statements as they come: those of a function's own block straight from the parser.
type Statements<'s> = dyn Iterator<Item = Result<Cow<'s, PyStmt>, ReadError>> + 's;

/// Reads one function, its body from the parser.
pub(super) fn read_function(source: &str, def: &PyDef, parser: &mut Parser<'_>) -> Result<Function, ReadError> {
    let mut reader = Reader {
        source,
        function: Function {
            name: def.name.clone(),
            params: Vec::new(),
            vars: IndexVec::new(),
            buffers: IndexVec::new(),
            body: Vec::new(),
        },
        names: HashMap::new(),
        scopes: vec![Vec::new()],
        line_end: end_of_line(source, def.header.range().end),
        depth: 0,
        in_parameters: true,
    };
    for (name, annotation, span) in &def.params {
        reader.param(name, annotation, *span)?;
    }
    reader.in_parameters = false;
    let body = std::iter::from_fn(|| parser.next_statement().transpose());
    reader.function.body = reader.in_scope(&mut body.map(|statement| statement.map(Cow::Owned)))?;
    Ok(reader.function)
}

fn end_of_line(source: &str, from: usize) -> usize {
    source[from..].find('\n').map_or(source.len(), |newline| from + newline + 1)
}

impl Reader<'_> {
    pub(super) fn bind(&mut self, name: &str, binding: Binding) {
        self.names.entry(name.to_owned()).or_default().push(binding);
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(name.to_owned());
        }
    }

    pub(super) fn lookup(&self, name: &str) -> Option<&Binding> {
        self.names.get(name).and_then(|bindings| bindings.last())
    }

    fn leave_scope(&mut self) {
        for name in self.scopes.pop().unwrap_or_default() {
            if let Some(bindings) = self.names.get_mut(&name) {
                bindings.pop();
            }
        }
    }

    /// A size that a parameter's shape mentions first. Without a line `n = T.int64()` in the body it has the type of `TypeVar`.
    pub(super) fn new_size(&mut self, name: &str) -> VarId {
        let type_var = self.source.contains(&format!("{name} = TypeVar("));
        self.new_var(name, if type_var { DType::INT64 } else { DType::INT32 })
    }

    fn new_var(&mut self, name: &str, dtype: DType) -> VarId {
        let var = self.function.vars.push(Var { name: name.to_owned(), dtype });
        self.bind(name, Binding::Var(var));
        var
    }

    fn new_buffer(&mut self, buffer: Buffer) -> BufId {
        let name = buffer.name.clone();
        let id = self.function.buffers.push(buffer);
        self.bind(&name, Binding::Buffer(id));
        id
    }

    fn param(&mut self, name: &str, annotation: &Py, span: Span) -> Result<(), ReadError> {
        if let Some(("Buffer", args, named)) = script_call(annotation) {
            let mut parts = self.buffer_parts(name, args, named, span)?;
            parts.buffer.memory = Memory::Argument;
            let id = self.new_buffer(parts.buffer);
            self.function.params.push(Param::Buffer(id));
            return Ok(());
        }
        let dtype = match script_call(annotation) {
            Some(("handle", ..)) => Some(DType::HANDLE),
            _ => script_name(annotation).and_then(|name| name.parse::<DType>().ok()),
        };
        let dtype = dtype.ok_or_else(|| {
            ReadError::invalid(annotation.span, "a parameter is a `T.Buffer(…)` or a scalar type such as `T.int32`")
        })?;
        let var = self.new_var(name, dtype);
        self.function.params.push(Param::Var(var));
        Ok(())
    }

    pub(super) fn block(&mut self, statements: &[PyStmt]) -> Result<Block, ReadError> {
        self.in_scope(&mut statements.iter().map(|statement| Ok(Cow::Borrowed(statement))))
    }

    fn in_scope(&mut self, statements: &mut Statements<'_>) -> Result<Block, ReadError> {
        self.scopes.push(Vec::new());
        let block = self.rest_of_block(statements);
        self.leave_scope();
        block
    }

    fn rest_of_block(&mut self, statements: &mut Statements<'_>) -> Result<Block, ReadError> {
        self.depth += 1;
        let mut block = Vec::new();
        while let Some(statement) = statements.next().transpose()? {
            if self.depth > MAX_NESTING {
                return Err(ReadError::TooDeep { span: statement.span });
            }
            let trivia = self.trivia(statement.span);
            if let Some(region) = self.flat_region(&statement)? {
                let body = self.rest_of_block(statements)?;
                block.push(nest(region, body, statement.span, trivia, true));
                break;
            }
            self.statement(&statement, trivia, &mut block)?;
        }
        self.depth -= 1;
        Ok(block)
    }

    /// The comment lines before a statement, and its own line.
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

    fn statement(&mut self, statement: &PyStmt, trivia: Trivia, block: &mut Block) -> Result<(), ReadError> {
        let span = statement.span;
        let kind = match &statement.kind {
            PyKind::Pass | PyKind::Return(None) => StmtKind::Nothing,
            PyKind::Return(Some(value)) => {
                let value = self.expr(value)?;
                let dtype = value.dtype(&self.function);
                StmtKind::Evaluate(Expr::Call { name: "ret".to_owned(), args: vec![value], dtype })
            }
            PyKind::Expr(value) => self.effect(value)?,
            PyKind::Assign(target, value) => self.assign(target, value)?,
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
            PyKind::If(condition, then, otherwise, else_line) => {
                let condition = self.expr(condition)?;
                let then = self.block(then)?;
                let else_trivia = else_line.map_or(Trivia::default(), |line| self.trivia(line));
                StmtKind::If { condition, then, otherwise: self.block(otherwise)?, else_trivia }
            }
            PyKind::For(targets, iterable, body) => self.for_loop(targets, iterable, body, span)?,
            PyKind::With(context, target, body) => {
                let Some(region) = self.region(context, target.as_ref())? else {
                    return Err(ReadError::unsupported(context.span, "this `with` context"));
                };
                let body = self.block(body)?;
                block.push(nest(region, body, span, trivia, false));
                return Ok(());
            }
        };
        block.push(Stmt { kind, span, trivia });
        Ok(())
    }

    /// A bare expression as a statement.
    fn effect(&mut self, value: &Py) -> Result<StmtKind, ReadError> {
        match script_call(value) {
            Some(("evaluate", [inner], _)) => Ok(StmtKind::Evaluate(self.expr(inner)?)),
            // Attributes of the whole function: nothing to execute; the line is kept.
            Some(("func_attr", ..)) => Ok(StmtKind::Nothing),
            _ if matches!(value.node, Node::Str(_)) => Ok(StmtKind::Nothing),
            _ => Ok(StmtKind::Evaluate(self.expr(value)?)),
        }
    }

    fn assign(&mut self, target: &Py, value: &Py) -> Result<StmtKind, ReadError> {
        match &target.node {
            Node::Subscript(base, subscripts) => {
                let buffer = self.buffer_named(base)?;
                let index = self.index(buffer, subscripts, target.span)?;
                let value = self.expr(value)?;
                Ok(self.store(buffer, index, value))
            }
            Node::Name(name) => self.assign_name(name, target.span, value),
            _ => Err(ReadError::unsupported(target.span, "this assignment target")),
        }
    }

    fn assign_name(&mut self, name: &str, span: Span, value: &Py) -> Result<StmtKind, ReadError> {
        if let Some(buffer) = self.declaration(name, span, value)? {
            return Ok(buffer);
        }
        match self.lookup(name) {
            Some(Binding::Buffer(buffer)) if self.function.buffers[*buffer].scalar => {
                let buffer = *buffer;
                let value = self.expr(value)?;
                Ok(self.store(buffer, vec![Expr::int(0)], value))
            }
            _ => Err(ReadError::unsupported(
                span,
                format!(
                    "assigning to `{name}`, which is no mutable scalar (write `{name}: T.let[T.int32] = …` for a constant one)"
                ),
            )),
        }
    }

    /// `A = T.alloc_buffer(…)` and the other statements that name something new.
    fn declaration(&mut self, name: &str, span: Span, value: &Py) -> Result<Option<StmtKind>, ReadError> {
        if let Node::Call(callee, args, named) = &value.node
            && let Node::Attribute(base, method) = &callee.node
            && method == "view"
            && let Ok(of) = self.buffer_named(base)
        {
            let buffer = self.view(name, of, args, named, span)?;
            return Ok(Some(StmtKind::Declare(self.new_buffer(buffer))));
        }
        let Some((callee, args, named)) = script_call(value) else {
            return Ok(None);
        };
        let default_scope = match callee {
            "alloc_buffer" | "decl_buffer" => StorageScope::global(),
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
                        // The size of a parameter, whose type this line gives.
                        Some(Binding::Var(size)) if self.scopes.len() == 2 => {
                            let size = *size;
                            self.function.vars[size].dtype = dtype;
                        }
                        _ => {
                            self.new_var(name, dtype);
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
        let declared = parts.buffer.memory != Memory::Own;
        let id = self.new_buffer(parts.buffer);
        Ok(Some(if declared { StmtKind::Declare(id) } else { StmtKind::Alloc(id) }))
    }

    fn match_buffer(
        &mut self,
        name: &str,
        args: &[Py],
        named: &[(String, Py)],
        span: Span,
    ) -> Result<StmtKind, ReadError> {
        let [_, rest @ ..] = args else {
            return Err(ReadError::invalid(span, "`T.match_buffer` needs a handle and a shape"));
        };
        let mut parts = self.buffer_parts(name, rest, named, span)?;
        parts.buffer.memory = Memory::Argument;
        Ok(StmtKind::Declare(self.new_buffer(parts.buffer)))
    }

    /// `x: T.let[T.float32] = e`, `x: T.int32 = 0`, `x: T.int32`.
    fn annotated(
        &mut self,
        target: &Py,
        annotation: &Py,
        value: Option<&Py>,
        span: Span,
        trivia: Trivia,
        block: &mut Block,
    ) -> Result<(), ReadError> {
        let Node::Name(name) = &target.node else {
            return Err(ReadError::invalid(target.span, "only a name can be annotated"));
        };
        if let Some(dtype) = let_type(annotation) {
            let value = value.ok_or_else(|| ReadError::invalid(span, "a let needs a value"))?;
            let value = coerce(self.expr(value)?, dtype, &self.function);
            let var = self.new_var(name, dtype);
            block.push(Stmt { kind: StmtKind::Let { var, value }, span, trivia });
            return Ok(());
        }
        let dtype = script_name(annotation)
            .and_then(|name| name.parse::<DType>().ok())
            .ok_or_else(|| ReadError::unsupported(annotation.span, "this annotation"))?;
        let initial = value.map(|value| self.expr(value)).transpose()?;
        let buffer = self.new_buffer(Buffer {
            name: name.clone(),
            dtype,
            shape: vec![Expr::int(1)],
            scope: StorageScope::local(),
            memory: Memory::Own,
            scalar: true,
            extra: Vec::new(),
            span,
        });
        block.push(Stmt { kind: StmtKind::Alloc(buffer), span, trivia });
        if let Some(initial) = initial {
            let kind = self.store(buffer, vec![Expr::int(0)], initial);
            // No text of its own: the printer sees by it that the allocation's line holds both.
            let text = trivia.text.map(|text| Span { end: text.start, ..text });
            block.push(Stmt { kind, span, trivia: Trivia { lead: None, text, comment: None } });
        }
        Ok(())
    }

    fn for_loop(&mut self, targets: &[Py], iterable: &Py, body: &[PyStmt], span: Span) -> Result<StmtKind, ReadError> {
        let (callee, args, named) =
            loop_call(iterable).ok_or_else(|| ReadError::unsupported(iterable.span, "this loop range"))?;
        let mut bounds = Vec::new();
        let kind = match callee {
            "grid" => {
                for extent in args {
                    bounds.push((Expr::int(0), self.expr(extent)?));
                }
                ForKind::Serial
            }
            _ => {
                bounds.push(self.bounds(args, span)?);
                match callee {
                    "range" | "serial" => ForKind::Serial,
                    "parallel" => ForKind::Parallel,
                    "vectorized" => ForKind::Vectorized,
                    "unroll" => ForKind::Unrolled,
                    "thread_binding" => ForKind::ThreadBinding(self.named_string(named, "thread", span)?),
                    _ => {
                        return Err(ReadError::unsupported(iterable.span, format!("a loop over `{callee}`")));
                    }
                }
            }
        };
        if bounds.len() != targets.len() || bounds.is_empty() {
            return Err(ReadError::invalid(span, "as many loop variables as extents are needed"));
        }
        if self.depth + bounds.len() >= MAX_NESTING {
            return Err(ReadError::TooDeep { span });
        }
        self.scopes.push(Vec::new());
        let mut loops = Vec::new();
        for (target, (min, extent)) in targets.iter().zip(bounds) {
            let Node::Name(name) = &target.node else {
                return Err(ReadError::syntax(target.span, "expected a name"));
            };
            let dtype = extent.dtype(&self.function);
            if !dtype.is_integer() {
                return Err(ReadError::invalid(iterable.span, "loop bounds must be integers"));
            }
            let min = coerce(min, dtype, &self.function);
            loops.push((self.new_var(name, dtype), min, extent));
        }
        let depth = loops.len() - 1;
        self.depth += depth;
        let body = self.block(body)?;
        self.depth -= depth;
        self.leave_scope();
        Ok(nest_loops(loops, &kind, body, span))
    }

    fn bounds(&mut self, args: &[Py], span: Span) -> Result<(Expr, Expr), ReadError> {
        match args {
            [extent] => Ok((Expr::int(0), self.expr(extent)?)),
            [min, stop] => {
                let (min, stop) = (self.expr(min)?, self.expr(stop)?);
                let (min, stop) = self.unify(min, stop);
                let extent = match crate::linear::constant_difference(&stop, &min) {
                    Some(value) => Expr::Int { value, dtype: stop.dtype(&self.function) },
                    None => Expr::binary(crate::ir::BinaryOp::Sub, stop, min.clone()),
                };
                Ok((min, extent))
            }
            _ => Err(ReadError::invalid(span, "a loop range has one or two bounds")),
        }
    }

    /// `T.attr({…})` and `v = T.launch_thread(…)` without `with`.
    fn flat_region(&mut self, statement: &PyStmt) -> Result<Option<Region>, ReadError> {
        match &statement.kind {
            PyKind::Expr(value) => self.region(value, None),
            PyKind::Assign(target, value) if matches!(script_call(value), Some(("launch_thread", ..))) => {
                self.region(value, Some(target))
            }
            _ => Ok(None),
        }
    }

    fn region(&mut self, context: &Py, target: Option<&Py>) -> Result<Option<Region>, ReadError> {
        match script_call(context) {
            Some(("attr", [only], _)) => {
                let Node::Dict(entries) = &only.node else {
                    return Err(ReadError::invalid(
                        only.span,
                        "`T.attr` needs a dictionary, or a node, a key and a value",
                    ));
                };
                let mut attrs = Vec::new();
                for (key, value) in entries {
                    let Node::Str(key) = &key.node else {
                        return Err(ReadError::invalid(key.span, "an attribute key is a string"));
                    };
                    attrs.push((None, key.clone(), self.expr(value)?));
                }
                if self.depth + attrs.len() >= MAX_NESTING {
                    return Err(ReadError::TooDeep { span: context.span });
                }
                Ok(Some(Region::Attrs(attrs)))
            }
            Some(("attr", [node, key, value], _)) => {
                let Node::Str(key) = &key.node else {
                    return Err(ReadError::invalid(key.span, "an attribute key is a string"));
                };
                let node = self.expr(node)?;
                Ok(Some(Region::Attrs(vec![(Some(node), key.clone(), self.expr(value)?)])))
            }
            Some(("launch_thread", args, _)) => self.launch(args, target, context.span).map(Some),
            _ => Ok(None),
        }
    }

    fn launch(&mut self, args: &[Py], target: Option<&Py>, span: Span) -> Result<Region, ReadError> {
        let [axis, extent] = args else {
            return Err(ReadError::invalid(span, "`T.launch_thread` needs an axis and an extent"));
        };
        let extent = self.expr(extent)?;
        if let Node::Name(name) = &axis.node
            && let Some(Binding::ThreadAxis(var, tag)) = self.lookup(name)
        {
            let (var, tag) = (*var, tag.clone());
            let name = name.clone();
            self.bind(&name, Binding::Var(var));
            return Ok(Region::Thread(var, tag, extent));
        }
        let Node::Str(tag) = &axis.node else {
            return Err(ReadError::invalid(axis.span, "a thread axis is a string such as \"threadIdx.x\""));
        };
        let name = match target.map(|target| &target.node) {
            Some(Node::Name(name)) => name.clone(),
            None => self.function.fresh_name(&tag.replace('.', "_")),
            _ => return Err(ReadError::invalid(span, "a thread index is one name")),
        };
        let dtype = extent.dtype(&self.function);
        let var = self.new_var(&name, if dtype.is_integer() { dtype } else { DType::INT32 });
        Ok(Region::Thread(var, tag.clone(), extent))
    }
}

/// What a `with` (or its flat form) opens.
enum Region {
    Attrs(Vec<(Option<Expr>, String, Expr)>),
    Thread(VarId, String, Expr),
}

fn nest(region: Region, body: Block, span: Span, trivia: Trivia, flat: bool) -> Stmt {
    let kind = match region {
        Region::Thread(var, tag, extent) => StmtKind::Thread { var, tag, extent, body, flat },
        Region::Attrs(attrs) => {
            // Several keys in one dictionary nest, the first outermost; only a single one keeps its line.
            let single = attrs.len() == 1;
            let mut body = body;
            for (position, (node, key, value)) in attrs.into_iter().enumerate().rev() {
                let own = if single {
                    trivia
                } else {
                    Trivia { lead: trivia.lead.filter(|_| position == 0), text: None, comment: None }
                };
                let kind = StmtKind::Attr { node, key, value, body, flat };
                body = vec![Stmt { kind, span, trivia: own }];
            }
            return body.pop().unwrap_or_else(|| Stmt::new(StmtKind::Nothing));
        }
    };
    Stmt { kind, span, trivia }
}

fn nest_loops(loops: Vec<(VarId, Expr, Expr)>, kind: &ForKind, body: Block, span: Span) -> StmtKind {
    let mut result = None;
    let mut body = body;
    for (position, (var, min, extent)) in loops.into_iter().enumerate().rev() {
        let stmt = StmtKind::For { var, min, extent, kind: kind.clone(), in_grid: position > 0, body };
        body = Vec::new();
        if position > 0 {
            body.push(Stmt { kind: stmt, span, trivia: Trivia::default() });
        } else {
            result = Some(stmt);
        }
    }
    result.unwrap_or(StmtKind::Nothing)
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

/// Whether a name is that of TVM's script module rather than of a class with functions of its own.
fn is_script_module(name: &str) -> bool {
    name != "cls" && (name.len() == 1 || name.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
}

type CallParts<'p> = (&'p str, &'p [Py], &'p [(String, Py)]);

/// A call of `T.name(…)`.
pub(super) fn script_call(value: &Py) -> Option<CallParts<'_>> {
    match &value.node {
        Node::Call(callee, args, named) => Some((script_name(callee)?, args, named)),
        _ => None,
    }
}

/// A call of `range(…)` or `T.name(…)`.
fn loop_call(value: &Py) -> Option<CallParts<'_>> {
    match &value.node {
        Node::Call(callee, args, named) => match &callee.node {
            Node::Name(name) if name == "range" => Some(("range", args, named)),
            _ => Some((script_name(callee)?, args, named)),
        },
        _ => None,
    }
}

/// The type in `T.let[T.float32]`; every kind of pointer is a handle.
fn let_type(annotation: &Py) -> Option<DType> {
    let Node::Subscript(base, subscripts) = &annotation.node else {
        return None;
    };
    match subscripts.as_slice() {
        [super::python::Subscript::One(inner)] if script_name(base) == Some("let") => match script_call(inner) {
            Some(("handle" | "Ptr", ..)) => Some(DType::HANDLE),
            _ => script_name(inner)?.parse().ok(),
        },
        _ => None,
    }
}

/// `value` as `dtype`: constants change, everything else is cast.
pub(super) fn coerce(value: Expr, dtype: DType, function: &Function) -> Expr {
    if value.dtype(function) == dtype {
        return value;
    }
    match value {
        Expr::Int { value, .. } if dtype.lanes == 1 && dtype.is_integer() => Expr::Int { value, dtype },
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
    /// A store, its value converted to the buffer's type as TVM does.
    fn store(&self, buffer: BufId, index: Vec<Expr>, value: Expr) -> StmtKind {
        let element = self.function.buffers[buffer].dtype;
        let lanes = index.last().map_or(1, |last| last.lanes(&self.function));
        let dtype = element.with_lanes(element.lanes.saturating_mul(lanes));
        StmtKind::Store { buffer, index, value: coerce(value, dtype, &self.function) }
    }

    fn string_argument(&self, args: &[Py], position: usize, span: Span) -> Result<String, ReadError> {
        match args.get(position).map(|arg| &arg.node) {
            Some(Node::Str(text)) => Ok(text.clone()),
            _ => Err(ReadError::invalid(span, "expected a string argument")),
        }
    }

    fn named_string(&self, named: &[(String, Py)], key: &str, span: Span) -> Result<String, ReadError> {
        let found = named.iter().find(|(name, _)| name == key).map(|(_, value)| &value.node);
        match found {
            Some(Node::Str(text)) => Ok(text.clone()),
            _ => Err(ReadError::invalid(span, format!("expected `{key}=\"…\"`"))),
        }
    }
}
