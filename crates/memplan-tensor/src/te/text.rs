//! The stages of the life cycle as text.
//!
//! Three kinds of text: functions in the manner of TVMScript ([`function_text`]), lists of what a graph, a schedule or
//! bounds say (their `dump`s), and single expressions for other tools ([`plain_expr`]). Names may have dots
//! (`i.outer`), which TVMScript does not allow; the functions with `plain` in their name replace them.

use super::bounds::Bounds;
use super::graph::{Body, Graph, OpKind, Operation};
use super::marks::{self, as_bind, as_dim_align, as_realize};
use super::schedule::{Attach, LoopKind, Schedule};
use crate::ir::{Block, Expr, ForKind, Function, Memory, Param, Stmt, StmtKind, VarId};
use crate::script::{print_bounds, print_expr};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// A copy of a function with names that are words of TVMScript: no dots, no two buffers with one name, and no loop
/// inside another of the same name. It renames the buffers that are used, the parameters, and the variables of loops,
/// launches and lets. After flattening there are no others. Before, the offset of a slot (`A.elem_offset`) keeps its
/// name, because that text is only looked at and never read again.
pub(super) fn with_plain_names(function: &Function) -> Function {
    let mut plain = function.clone();
    let mut taken: BTreeSet<String> = BTreeSet::new();
    // Dots become underscores, and two names may then become one. Numbers keep them apart, in order of
    // appearance, so that the text is always the same. Buffers and parameters are named first, because their names hold
    // in the whole function: no loop may take one of them.
    let used = used_buffers(function);
    for id in used {
        plain.buffers[id].name = unique_name(&function.buffers[id].name, &mut taken);
    }
    for param in &function.params {
        if let Param::Var(var) = param {
            plain.vars[*var].name = unique_name(&function.vars[*var].name, &mut taken);
        }
    }
    // Loop variables are named last and by nesting: two loops side by side may share a name, two nested ones may
    // not.
    let mut namer = LoopNamer { function, names: BTreeMap::new(), taken, open: BTreeSet::new() };
    namer.block(&function.body);
    for (var, name) in namer.names {
        plain.vars[var].name = name;
    }
    plain
}

/// A name as a word that is not in `taken`, and enters it there. If the word is taken, a number is appended: `i_1`.
fn unique_name(name: &str, taken: &mut BTreeSet<String>) -> String {
    let word = plain_name(name);
    let mut candidate = word.clone();
    let mut suffix = 0;
    while !taken.insert(candidate.clone()) {
        suffix += 1;
        candidate = format!("{word}_{suffix}");
    }
    candidate
}

/// A name as a word: anything but letters, digits and `_` becomes `_`, and a word does not start with a digit.
pub(super) fn plain_name(name: &str) -> String {
    let word: String = name.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if word.chars().next().is_none_or(|c| c.is_ascii_digit()) { format!("_{word}") } else { word }
}

/// The buffers that a function uses, each once: its parameters first, then the others in the order in which the body
/// mentions them. The function's table may hold more: buffers of earlier steps of the life cycle that are not used any
/// more. These are left out, so that they take no names away.
fn used_buffers(function: &Function) -> Vec<crate::ir::BufId> {
    let mut found = Vec::new();
    for param in &function.params {
        if let Param::Buffer(buffer) = param {
            found.push(*buffer);
        }
    }
    for stmt in &function.body {
        stmt.walk(&mut |part| {
            if let StmtKind::Alloc(id) | StmtKind::Declare(id) | StmtKind::Store { buffer: id, .. } = &part.kind {
                found.push(*id);
            }
            for expr in part.exprs() {
                expr.walk(&mut |inner| {
                    if let Expr::Load { buffer, .. } | Expr::Data(buffer) = inner {
                        found.push(*buffer);
                    }
                });
            }
        });
    }
    // Of all mentions of a buffer only the first stays.
    let mut seen = BTreeSet::new();
    found.retain(|buffer| seen.insert(*buffer));
    found
}

/// Gives loop variables, threads and lets their names, so that none hides another.
struct LoopNamer<'a> {
    function: &'a Function,
    /// The names given so far. A variable has one name, wherever it occurs.
    names: BTreeMap<VarId, String>,
    /// Names in use around the current statement.
    taken: BTreeSet<String>,
    /// Variables in use around the current statement.
    open: BTreeSet<VarId>,
}

impl LoopNamer<'_> {
    /// Gives every variable a name that is free where it is used: names of loops that have ended may be used again.
    fn block(&mut self, block: &Block) {
        // A let is visible to the end of its block, a loop variable only inside its loop.
        let mut lets = Vec::new();
        for stmt in block {
            if let StmtKind::Let { var, .. } = &stmt.kind {
                lets.extend(self.enter(*var));
            }
            let own = match &stmt.kind {
                StmtKind::For { var, .. } | StmtKind::Thread { var, .. } => self.enter(*var),
                _ => None,
            };
            for inner in stmt.blocks() {
                self.block(inner);
            }
            own.into_iter().for_each(|var| self.leave(var));
        }
        lets.into_iter().for_each(|var| self.leave(var));
    }

    /// Gives a variable its name and takes it. Returns the variable for the caller to release at the end of its scope;
    /// `None` if a statement around has taken it already and will release it.
    fn enter(&mut self, var: VarId) -> Option<VarId> {
        if !self.open.insert(var) {
            return None;
        }
        // A variable that was named before keeps its name: two launches of one thread axis share a variable. Only if
        // another variable has taken that name around this statement, both places get a new one, which no variable has
        // that was named so far.
        let word = plain_name(&self.function.vars[var].name);
        let name = match self.names.get(&var) {
            Some(name) if !self.taken.contains(name) => name.clone(),
            Some(_) => {
                let mut used = &self.taken | &self.names.values().cloned().collect();
                unique_name(&word, &mut used)
            }
            None => unique_name(&word, &mut self.taken),
        };
        self.taken.insert(name.clone());
        self.names.insert(var, name);
        Some(var)
    }

    /// Releases a variable and its name at the end of its scope.
    fn leave(&mut self, var: VarId) {
        self.open.remove(&var);
        if let Some(name) = self.names.get(&var) {
            self.taken.remove(name);
        }
    }
}

/// What the buffers of a function between schedule and flat storage stand for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// Tensors, which have only a shape (the stage `schedule-ops`).
    Tensors,
    /// Buffers, which have memory (the stage `primfunc`).
    Buffers,
}

/// A function between schedule and flat storage, in the manner of TVMScript; `level` says which of the two stages it
/// is.
pub(super) fn function_text(function: &Function, level: Level) -> String {
    let plain = with_plain_names(function);
    let params: Vec<String> = plain
        .params
        .iter()
        .map(|param| match param {
            Param::Var(var) => format!("{}: T.{}", plain.vars[*var].name, plain.vars[*var].dtype),
            Param::Buffer(id) => {
                let buffer = &plain.buffers[*id];
                format!("{}: T.Buffer({}, \"{}\")", buffer.name, tuple(&buffer.shape, &plain), buffer.dtype)
            }
        })
        .collect();
    let mut text = match level {
        Level::Tensors => format!("# arguments: {}\n", params.join(", ")),
        Level::Buffers => format!("def {}({}):\n", plain.name, params.join(", ")),
    };
    // Loops over tensors have no head, so their statements are not indented.
    Printer { function: &plain, level, out: &mut text }.block(&plain.body, usize::from(level == Level::Buffers));
    text
}

/// A shape as Python writes a tuple: `(8, 16)`, and `(8,)` for one dimension.
fn tuple(shape: &[Expr], function: &Function) -> String {
    let parts: Vec<String> = shape.iter().map(|extent| print_expr(extent, function)).collect();
    match parts.as_slice() {
        [only] => format!("({only},)"),
        _ => format!("({})", parts.join(", ")),
    }
}

/// Writes the statements of a function as text.
struct Printer<'a> {
    function: &'a Function,
    level: Level,
    out: &'a mut String,
}

impl Printer<'_> {
    fn line(&mut self, indent: usize, text: &str) {
        let _ = writeln!(self.out, "{}{text}", "    ".repeat(indent));
    }

    fn expr(&self, expr: &Expr) -> String {
        print_expr(expr, self.function)
    }

    /// Writes the statements of a block, each on lines of its own; `pass` for a block that does nothing.
    fn block(&mut self, block: &Block, indent: usize) {
        if block.iter().all(|stmt| matches!(stmt.kind, StmtKind::Nothing)) {
            self.line(indent, "pass");
        }
        for stmt in block {
            self.statement(stmt, indent);
        }
    }

    /// Writes one statement.
    fn statement(&mut self, stmt: &Stmt, indent: usize) {
        let function = self.function;
        match &stmt.kind {
            StmtKind::Evaluate(value) => {
                // At the level of buffers a realization is also where the buffer is declared, so the text has one line
                // more. Arguments are declared in the head.
                if let Some(realize) = as_realize(value)
                    && self.level == Level::Buffers
                    && function.buffers[realize.tensor].memory != Memory::Argument
                {
                    let buffer = &function.buffers[realize.tensor];
                    let (shape, dtype, scope) = (tuple(&buffer.shape, function), buffer.dtype, &buffer.scope);
                    let text = format!("{} = T.Buffer({shape}, \"{dtype}\", scope=\"{scope}\")", buffer.name);
                    self.line(indent, &text);
                }
                let text = self.call(value);
                self.line(indent, &text);
            }
            // A store is written as an assignment to the element.
            StmtKind::Store { buffer, index, value } => {
                let target = Expr::Load { buffer: *buffer, index: index.clone() };
                let text = format!("{} = {}", self.expr(&target), self.expr(value));
                self.line(indent, &text);
            }
            StmtKind::Alloc(id) => {
                let buffer = &function.buffers[*id];
                let text = format!(
                    "{} = T.alloc_buffer({}, \"{}\", scope=\"{}\")",
                    buffer.name,
                    tuple(&buffer.shape, function),
                    buffer.dtype,
                    buffer.scope
                );
                self.line(indent, &text);
            }
            StmtKind::For { var, min, extent, kind, body, .. } => {
                let name = match kind {
                    ForKind::Serial => "range",
                    ForKind::Parallel => "T.parallel",
                    ForKind::Vectorized => "T.vectorized",
                    ForKind::Unrolled => "T.unroll",
                    ForKind::ThreadBinding(_) => "T.thread_binding",
                };
                let bounds = print_bounds(min, extent, function);
                let text = format!("for {} in {name}({bounds}):", function.vars[*var].name);
                self.line(indent, &text);
                self.block(body, indent + 1);
            }
            StmtKind::Thread { var, tag, extent, body, .. } => {
                let text =
                    format!("with T.launch_thread(\"{tag}\", {}) as {}:", self.expr(extent), function.vars[*var].name);
                self.line(indent, &text);
                self.block(body, indent + 1);
            }
            StmtKind::If { condition, then, otherwise, .. } => {
                let text = format!("if {}:", self.expr(condition));
                self.line(indent, &text);
                self.block(then, indent + 1);
                if !otherwise.is_empty() {
                    self.line(indent, "else:");
                    self.block(otherwise, indent + 1);
                }
            }
            StmtKind::Attr { node, key, value, body, .. } => {
                let text = self.region(node.as_ref(), key, value);
                self.line(indent, &text);
                self.block(body, indent + 1);
            }
            StmtKind::While { condition, body } => {
                let text = format!("while {}:", self.expr(condition));
                self.line(indent, &text);
                self.block(body, indent + 1);
            }
            StmtKind::Let { var, value } => {
                let var = &function.vars[*var];
                let text = format!("{}: T.let[T.{}] = {}", var.name, var.dtype, self.expr(value));
                self.line(indent, &text);
            }
            StmtKind::Assert { condition, message } => {
                let text = format!("assert {}, {message}", self.expr(condition));
                self.line(indent, &text);
            }
            // The text names the root of the view and leaves out an element offset.
            StmtKind::Declare(id) => {
                let buffer = &function.buffers[*id];
                let of = &function.buffers[function.root(*id)].name;
                let text = format!(
                    "{} = T.decl_buffer({}, \"{}\", data={of}.data)",
                    buffer.name,
                    tuple(&buffer.shape, function),
                    buffer.dtype
                );
                self.line(indent, &text);
            }
            StmtKind::Nothing => {}
        }
    }

    /// A value that stands as a statement. Realizations and alignments of dimensions are written in the words of TVM's
    /// printer, packed calls (`T.call_packed(…)`) as they are, and anything else in `T.evaluate`.
    fn call(&self, value: &Expr) -> String {
        if let Some(realize) = as_realize(value) {
            // One `begin:end` for each dimension. `bounds` holds minimum and extent of each dimension in turn.
            let parts: Vec<String> = realize
                .bounds
                .chunks_exact(2)
                .map(|pair| {
                    // The text shows the end of the region, as TVM does, and not its extent.
                    let end = super::arith::simplify(&super::arith::add(pair[0].clone(), pair[1].clone()));
                    format!("{}:{}", self.expr(&pair[0]), self.expr(&end))
                })
                .collect();
            let scope = if realize.scope.is_empty() { String::new() } else { format!(", scope=\"{}\"", realize.scope) };
            let name = &self.function.buffers[realize.tensor].name;
            return match self.level {
                Level::Tensors => format!("T.ProducerRealize({name}[{}]{scope})", parts.join(", ")),
                // The scope stands in the declaration of the buffer, which `statement` writes one line before.
                Level::Buffers => format!("T.realize({name}[{}])", parts.join(", ")),
            };
        }
        if let Some((tensor, dimension, factor, offset)) = as_dim_align(value) {
            let name = &self.function.buffers[tensor].name;
            return format!("T.attr({name}, \"buffer_dim_align\", T.tvm_tuple({dimension}, {factor}, {offset}))");
        }
        // A packed call (`call_packed` and its variants) is a statement by itself. Other values need `T.evaluate`.
        match value {
            Expr::Call { name, .. } if name.starts_with("call_") => self.expr(value),
            _ => format!("T.evaluate({})", self.expr(value)),
        }
    }

    /// The line that opens a marked region: `with T.attr(B, "double_buffer_scope", 1):`.
    fn region(&self, node: Option<&Expr>, key: &str, value: &Expr) -> String {
        let name = |id: crate::ir::BufId| &self.function.buffers[id].name;
        if let Some((slot, tensor, _, bounds)) = as_bind(node, key, value) {
            let bounds: Vec<String> = bounds.iter().map(|bound| self.expr(bound)).collect();
            let (slot, tensor) = (name(slot), name(tensor));
            return format!(
                "with T.attr([{slot}, {tensor}], \"{}\", T.tvm_tuple({})):",
                marks::BIND,
                bounds.join(", ")
            );
        }
        match node {
            Some(Expr::Data(id)) => format!("with T.attr({}, \"{key}\", {}):", name(*id), self.expr(value)),
            _ => format!("with T.attr(0, \"{key}\", {}):", self.expr(value)),
        }
    }
}

impl Graph {
    /// One line for each operation.
    pub fn dump(&self) -> String {
        let tables = with_plain_tensors(&self.tables);
        self.ops.iter().map(|op| self.describe(op, &tables)).collect()
    }

    /// The names of axes, as a list.
    fn axis_names(&self, axes: &[super::graph::IterId], tables: &Function) -> String {
        axes.iter().map(|axis| tables.vars[self.axes[*axis].var].name.clone()).collect::<Vec<_>>().join(", ")
    }

    /// One operation as a line: `B = compute (8,) float32 [i]: A[i] + A[i]`.
    fn describe(&self, op: &Operation, tables: &Function) -> String {
        let first = op.outputs.first().map(|tensor| &tables.buffers[*tensor]);
        let shape = first.map_or_else(String::new, |tensor| tuple(&tensor.shape, tables));
        let dtypes: Vec<String> = op.outputs.iter().map(|tensor| tables.buffers[*tensor].dtype.to_string()).collect();
        let dtypes = dtypes.join(", ");
        // The shape of the first output is written, and the types of all. Outputs of a compute operation have one
        // shape; those of an extern operation may differ, and the line does not show it.
        match &op.kind {
            OpKind::Placeholder => format!("{} = placeholder {shape} {dtypes}\n", op.name),
            OpKind::Compute(compute) => {
                let what = match &compute.body {
                    Body::Plain(bodies) => print_all(bodies, tables),
                    Body::Reduce { combiner, sources, .. } => format!(
                        "reduce [{}] by {} of {}",
                        self.axis_names(&compute.reduce_axes, tables),
                        print_all(&combiner.result, tables),
                        print_all(sources, tables)
                    ),
                };
                let axes = self.axis_names(&compute.axes, tables);
                format!("{} = compute {shape} {dtypes} [{axes}]: {what}\n", op.name)
            }
            OpKind::Extern(body) => {
                let inputs: Vec<&str> =
                    body.inputs.iter().map(|tensor| tables.buffers[*tensor].name.as_str()).collect();
                let kind = if body.hybrid { "hybrid" } else { "extern" };
                format!("{} = {kind} {shape} {dtypes} of {}\n", op.name, inputs.join(", "))
            }
        }
    }
}

/// A copy of tables with plain names for variables. Tensors keep their names, dots included: the user gave them.
fn with_plain_tensors(tables: &Function) -> Function {
    let mut plain = tables.clone();
    for var in plain.vars.iter_mut() {
        var.name = plain_name(&var.name);
    }
    plain
}

impl Schedule {
    /// One line for each stage: where it is computed, its memory, its loops, its padding, and whether it is a double
    /// buffer or an output: `Y: at i.outer of Z, in shared, loops i, double buffer`.
    pub fn dump(&self) -> String {
        let mut text = String::new();
        for id in &self.order {
            let stage = &self.stages[*id];
            // `inline` is asked for and `inlined` is done.
            let attach = match stage.attach {
                Attach::Root => "root".to_owned(),
                Attach::Inline => "inline".to_owned(),
                Attach::Inlined => "inlined".to_owned(),
                Attach::At(target, axis) => format!("at {} of {}", self.axis_name(axis), self.name(target)),
            };
            // The line is put together from left to right; parts that say nothing are left out.
            let loops: Vec<String> = stage.leaf_axes.iter().map(|axis| self.loop_text(*id, *axis)).collect();
            let _ = write!(text, "{}: {attach}", self.name(*id));
            if !stage.scope.is_empty() {
                let _ = write!(text, ", in {}", stage.scope);
            }
            if !loops.is_empty() {
                let _ = write!(text, ", loops {}", loops.join(", "));
            }
            // Only alignments of the operation's own axes matter; those of loops made by splits have no effect on
            // memory.
            for (axis, attrs) in &stage.attrs {
                if let Some((factor, offset)) =
                    attrs.align.filter(|_| self.graph.ops[stage.op].root_axes().contains(axis))
                {
                    let _ = write!(text, ", {} aligned to {factor} + {offset}", self.axis_name(*axis));
                }
            }
            text.push_str(if stage.double_buffer { ", double buffer" } else { "" });
            text.push_str(if stage.is_output { ", output\n" } else { "\n" });
        }
        text
    }

    /// The name of a loop and how it runs.
    fn loop_text(&self, stage: super::schedule::StageId, axis: super::graph::IterId) -> String {
        let kind = match (self.thread_tag(stage, axis), self.attrs(stage, axis).kind) {
            (Some(tag), _) => format!(" on {tag}"),
            (None, LoopKind::Serial) => String::new(),
            (None, LoopKind::Parallel) => " parallel".to_owned(),
            (None, LoopKind::Vectorized) => " vectorized".to_owned(),
            (None, LoopKind::Unrolled) => " unrolled".to_owned(),
        };
        format!("{}{kind}", self.axis_name(axis))
    }
}

impl Bounds {
    /// A line with the name of each stage, and below it a line for each axis of the operation and then for each loop:
    /// where it starts and how many values it has.
    pub fn dump(&self, schedule: &Schedule) -> String {
        let tables = with_plain_tensors(&schedule.graph.tables);
        let mut text = String::new();
        for id in &schedule.order {
            let stage = &schedule.stages[*id];
            let _ = writeln!(text, "{}", schedule.name(*id));
            let roots = schedule.graph.ops[stage.op].root_axes();
            for (axes, indent) in [(&roots, "  "), (&stage.leaf_axes, "    for ")] {
                for axis in axes {
                    let Some(range) = self.range(*axis) else { continue };
                    let (min, extent) = (print_expr(&range.min, &tables), print_expr(&range.extent, &tables));
                    let _ = writeln!(text, "{indent}{} from {min}, {extent} values", schedule.axis_name(*axis));
                }
            }
        }
        text
    }
}

/// One expression with plain names, for the facts that are compared with TVM's. Different variables of the same name
/// get numbers in the order of their first use, and variables that stand for strides (`A.stride0`) are all called
/// `stride`, as in TVM.
pub(super) fn plain_expr(expr: &Expr, function: &Function) -> String {
    // The variables of the expression in the order of their first use.
    let mut vars: Vec<VarId> = Vec::new();
    expr.walk(&mut |part| {
        if let Expr::Var(var) = part
            && !vars.contains(var)
        {
            vars.push(*var);
        }
    });
    let mut taken = BTreeSet::new();
    // Only the tables of this function are of use: `print_expr` takes the names of variables and buffers from them.
    let mut local = Function { buffers: function.buffers.clone(), ..Function::empty(String::new()) };
    let mut values = BTreeMap::new();
    // Variables are copied into a table of their own with names that are unique within this expression. The whole
    // function need not have unique names.
    for var in vars {
        let known = &function.vars[var];
        let is_stride = known.name.rsplit_once(".stride").is_some_and(|(_, k)| k.parse::<usize>().is_ok());
        let word = if is_stride { "stride".to_owned() } else { plain_name(&known.name) };
        let mut name = word.clone();
        let mut suffix = 0;
        while !taken.insert(name.clone()) {
            suffix += 1;
            name = format!("{word}_{suffix}");
        }
        let fresh = local.vars.push(crate::ir::Var { name, dtype: known.dtype });
        values.insert(var, Expr::Var(fresh));
    }
    print_expr(&super::arith::substitute(expr, &values), &local)
}

/// Expressions with `; ` between them.
fn print_all(values: &[Expr], tables: &Function) -> String {
    values.iter().map(|value| print_expr(value, tables)).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use memplan_core::IndexVec;

    use super::*;
    use crate::DType;
    use crate::ir::Var;

    #[test]
    fn a_variable_that_comes_again_does_not_hide_another() {
        // Two variables called `i`. The first one has a loop of its own and another loop inside of that of the second.
        let mut vars = IndexVec::<VarId, Var>::default();
        let [one, two] = [(); 2].map(|()| vars.push(Var { name: "i".to_owned(), dtype: DType::INT32 }));
        let count = |var, body: Vec<Stmt>| {
            let (min, extent) = (Expr::int(0), Expr::int(4));
            Stmt::new(StmtKind::For { var, min, extent, kind: ForKind::Serial, in_grid: false, body: body.into() })
        };
        let body = vec![count(one, Vec::new()), count(two, vec![count(one, Vec::new())]), count(one, Vec::new())];
        let function = Function {
            name: "f".to_owned(),
            params: Vec::new(),
            vars: vars.into(),
            buffers: IndexVec::default(),
            body: body.into(),
        };
        let plain = with_plain_names(&function);
        assert_ne!(plain.vars[one].name, plain.vars[two].name);
        let text = function_text(&function, Level::Buffers);
        assert_eq!(text.matches("for i in").count(), 1, "{text}");
        assert_eq!(text.matches("for i_1 in").count(), 3, "{text}");
    }
}
