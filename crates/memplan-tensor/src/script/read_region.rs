//! Reading loops, and the regions that `with` opens: thread launches, marks and blocks.
//!
//! A loop with a step becomes a loop over a counter and a let, so that later stages need not know steps:
//!
//! ```text
//! for i in range(0, n, 4):      for i_step in range((n + 3) // 4):
//!     body                          i = i_step * 4
//!                                   body
//! ```
//!
//! A block of the scheduling language (`with T.sblock(…)`) is a mark around its body. Its axes become lets, its
//! initial part becomes a condition on its reduction axes, and its predicate a mark that guards what follows. Its
//! allocations stay as they are: in TVM the passes that lower blocks run before the one that shares storage.
//!
//! ```text
//! with T.sblock("sum"):                       attr sblock "sum":
//!     vi, vk = T.axis.remap("SR", [i, k])         let vi = i; let vk = k        S: spatial, R: reduction
//!     T.where(i < 7)                              attr where (i < 7): the rest of the block
//!     with T.init():                                  if vk == 0:
//!         B[vi] = 0                                       B[vi] = 0
//!     B[vi] = B[vi] + A[vi, vk]                       B[vi] = B[vi] + A[vi, vk]
//! ```

use super::ScriptError;
use super::python::{Node, Py, PyKind, PyStmt, Subscript};
// `Binding` is what a name stands for here, `coerce` gives a value a type, `keyword` looks up a keyword argument, and
// `script_call` and `script_name` take `T.name(…)` and `T.name` apart.
use super::read::{Binding, Reader, coerce, keyword, script_call, script_name};
use crate::DType;
use crate::ir::{
    BinaryOp, Block, Expr, ForKind, MAX_NESTING, PREDICATE, Stmt, StmtKind, Trivia, UNKNOWN_REGION, VarId,
};
use crate::linear::{constant_difference, fold};
use memplan_core::Span;

/// What a loop counts over: first value, number of iterations, distance of two values if it is not one.
struct Bounds {
    min: Expr,
    extent: Expr,
    step: Option<Expr>,
}

impl Reader<'_> {
    /// Reads a loop. Several variables over a grid (`for i, j in T.grid(4, 8):`) become loops inside of each other.
    pub(super) fn for_loop(
        &mut self,
        targets: &[Py],
        iterable: &Py,
        body: &[PyStmt],
        span: Span,
        trivia: Trivia,
    ) -> Result<StmtKind, ScriptError> {
        let (callee, args, named) =
            loop_call(iterable).ok_or_else(|| ScriptError::unsupported(iterable.span, "this loop range"))?;
        // `T.thread_binding(0, 8, "threadIdx.x")`: the axis may stand after the bounds.
        let (args, axis) = match args {
            [bounds @ .., Py { node: Node::Str(axis), .. }] => (bounds, Some(axis.clone())),
            _ => (args, None),
        };
        let mut bounds = Vec::new();
        // `T.grid` has an extent for each variable; all other ranges have one variable.
        if callee == "grid" {
            for extent in args {
                bounds.push(Bounds { min: Expr::int(0), extent: self.expr(extent)?, step: None });
            }
        } else {
            bounds.push(self.bounds(args, named, span)?);
        }
        // How the iterations run. A thread axis is the last argument or the keyword `thread`.
        let kind = match callee {
            "range" | "serial" | "grid" => ForKind::Serial,
            "parallel" => ForKind::Parallel,
            "vectorized" => ForKind::Vectorized,
            "unroll" => ForKind::Unrolled,
            "thread_binding" => ForKind::ThreadBinding(match axis {
                Some(axis) => axis,
                None => self.named_string(named, "thread", span)?,
            }),
            _ => return Err(ScriptError::unsupported(iterable.span, format!("a loop over `{callee}`"))),
        };
        if bounds.len() != targets.len() || bounds.is_empty() {
            return Err(ScriptError::invalid(span, "as many loop variables as extents are needed"));
        }
        // Each variable is one level of nesting, though all stand on one line.
        if self.depth + bounds.len() >= MAX_NESTING {
            return Err(ScriptError::TooDeep { span });
        }
        self.loops(targets, bounds, &kind, body, span, trivia)
    }

    /// The loops of one line, one inside of the other, around their body.
    fn loops(
        &mut self,
        targets: &[Py],
        bounds: Vec<Bounds>,
        kind: &ForKind,
        body: &[PyStmt],
        span: Span,
        trivia: Trivia,
    ) -> Result<StmtKind, ScriptError> {
        self.scopes.push(Vec::new());
        let (mut loops, mut values) = (Vec::new(), Vec::new());
        for (target, Bounds { min, extent, step }) in targets.iter().zip(bounds) {
            let Node::Name(name) = &target.node else {
                return Err(ScriptError::syntax(target.span, "expected a name"));
            };
            let dtype = extent.dtype(&self.function);
            if !dtype.is_integer() {
                return Err(ScriptError::invalid(span, "loop bounds must be integers"));
            }
            let min = coerce(min, dtype, &self.function);
            // Without a step the loop variable is the counter itself. With a step the counter runs over the
            // iterations, and the name that the user wrote is computed from it.
            let Some(step) = step else {
                loops.push((self.new_var(name, dtype), min, extent));
                continue;
            };
            let counter = self.new_var(&format!("{name}_step"), dtype);
            let distance = self.arithmetic(BinaryOp::Mul, Expr::Var(counter), step);
            let value = self.arithmetic(BinaryOp::Add, distance, min);
            values.push(StmtKind::Let { var: self.new_var(name, dtype), value });
            loops.push((counter, Expr::Int { value: 0, dtype }, extent));
        }
        // One line of text may open several loops. `block` counts one level of nesting; the others are added here.
        let depth = loops.len() - 1;
        self.depth += depth;
        let mut block = self.block(body)?;
        self.depth -= depth;
        self.leave_scope();
        // The computed names must exist before the body uses them, so they are put at its start.
        let values = values.into_iter().map(|kind| Stmt { kind, span, trivia: same_line(trivia) });
        block.splice(0..0, values);
        Ok(nest_loops(loops, kind, block, span))
    }

    /// The bounds of `range(stop)`, `range(min, stop)` and `range(min, stop, step)`. With a step, `extent` counts
    /// iterations.
    fn bounds(&mut self, args: &[Py], named: &[(String, Py)], span: Span) -> Result<Bounds, ScriptError> {
        let (min, stop) = match args {
            [] => return Err(ScriptError::invalid(span, "a loop range has one to three numbers")),
            [stop] => (Expr::int(0), self.expr(stop)?),
            [min, stop, ..] => (self.expr(min)?, self.expr(stop)?),
        };
        let (min, stop) = self.unify(min, stop);
        // The number of iterations, as short as possible, because later stages compare extents by their form: a
        // constant if stop and start differ by one, else `stop` or `stop - min`.
        let extent = match constant_difference(&stop, &min) {
            Some(value) => Expr::Int { value, dtype: stop.dtype(&self.function) },
            None if min.as_int() == Some(0) => stop,
            None => Expr::binary(BinaryOp::Sub, stop, min.clone()),
        };
        // A step of 1 is none.
        let step = args.get(2).or(keyword(named, "step"));
        let Some(step) = step.filter(|step| !matches!(step.node, Node::None | Node::Int(1))) else {
            return Ok(Bounds { min, extent, step: None });
        };
        let step = self.expr(step)?;
        if step.as_int().is_some_and(|step| step < 1) {
            return Err(ScriptError::invalid(span, "the step of a loop is at least 1"));
        }
        // The number of iterations is the extent divided by the step, rounded up.
        let (extent, step) = self.unify(extent, step);
        let one = coerce(Expr::int(1), step.dtype(&self.function), &self.function);
        let last = self.arithmetic(BinaryOp::Sub, step.clone(), one);
        let rounded = self.arithmetic(BinaryOp::Add, extent, last);
        let count = fold(BinaryOp::FloorDiv, &rounded, &step)
            .unwrap_or_else(|| Expr::binary(BinaryOp::FloorDiv, rounded, step.clone()));
        Ok(Bounds { min, extent: count, step: Some(step) })
    }

    /// The region that a statement without `with` opens for the rest of its block: `T.attr({…})`, `T.where(…)` and
    /// `v = T.launch_thread(…)`. `None` for any other statement.
    pub(super) fn flat_region(&mut self, statement: &PyStmt) -> Result<Option<Region>, ScriptError> {
        match &statement.kind {
            PyKind::Expr(value) => match script_call(value) {
                Some(("where", [condition], _)) => {
                    let condition = self.expr(condition)?;
                    Ok(Some(Region::Attrs(vec![(None, PREDICATE.to_owned(), condition)])))
                }
                _ => self.region(value, None),
            },
            PyKind::Assign(target, value) if matches!(script_call(value), Some(("launch_thread", ..))) => {
                self.region(value, Some(target))
            }
            _ => Ok(None),
        }
    }

    /// The region that a call opens, with `with` or without: marks (`T.attr({key: value, …})`,
    /// `T.attr(node, key, value)`) or a thread launch; `None` for anything else. `target` is the name that the text
    /// gives a thread index.
    pub(super) fn region(&mut self, context: &Py, target: Option<&Py>) -> Result<Option<Region>, ScriptError> {
        match script_call(context) {
            Some(("attr", [only], _)) => {
                let Node::Dict(entries) = &only.node else {
                    return Err(ScriptError::invalid(
                        only.span,
                        "`T.attr` needs a dictionary, or a node, a key and a value",
                    ));
                };
                // The form with a dictionary opens one region for each entry. They nest, so they count against the
                // limit of nesting.
                let mut attrs = Vec::new();
                if entries.is_empty() {
                    return Err(ScriptError::invalid(only.span, "`T.attr` needs a dictionary with an entry"));
                }
                for (key, value) in entries {
                    let Node::Str(key) = &key.node else {
                        return Err(ScriptError::invalid(key.span, "an attribute key is a string"));
                    };
                    attrs.push((None, key.clone(), self.expr(value)?));
                }
                if self.depth + attrs.len() >= MAX_NESTING {
                    return Err(ScriptError::TooDeep { span: context.span });
                }
                Ok(Some(Region::Attrs(attrs)))
            }
            // The form with a node marks one thing: a buffer, a variable.
            Some(("attr", [node, key, value], _)) => {
                let Node::Str(key) = &key.node else {
                    return Err(ScriptError::invalid(key.span, "an attribute key is a string"));
                };
                let node = self.expr(node)?;
                Ok(Some(Region::Attrs(vec![(Some(node), key.clone(), self.expr(value)?)])))
            }
            Some(("launch_thread", args, _)) => self.launch(args, target, context.span).map(Some),
            _ => Ok(None),
        }
    }

    /// `T.launch_thread(axis, extent)`, with the name of the index if the text gives one.
    fn launch(&mut self, args: &[Py], target: Option<&Py>, span: Span) -> Result<Region, ScriptError> {
        let [axis, extent] = args else {
            return Err(ScriptError::invalid(span, "`T.launch_thread` needs an axis and an extent"));
        };
        let extent = self.expr(extent)?;
        // The axis may have been declared by `T.env_thread` before. Then its variable exists and is only made visible
        // here.
        if let Node::Name(name) = &axis.node
            && let Some(Binding::ThreadAxis(var, tag)) = self.lookup(name)
        {
            let (var, tag) = (*var, tag.clone());
            let name = name.clone();
            self.bind(&name, Binding::Var(var));
            return Ok(Region::Thread(var, tag, extent));
        }
        let Node::Str(tag) = &axis.node else {
            return Err(ScriptError::invalid(axis.span, "a thread axis is a string such as \"threadIdx.x\""));
        };
        // Without a name for the index the launch gets one that no other variable has.
        let name = match target.map(|target| &target.node) {
            Some(Node::Name(name)) => name.clone(),
            None => self.function.fresh_name(&tag.replace('.', "_")),
            _ => return Err(ScriptError::invalid(span, "a thread index is one name")),
        };
        let dtype = extent.dtype(&self.function);
        let var = self.new_var(&name, if dtype.is_integer() { dtype } else { DType::INT32 });
        Ok(Region::Thread(var, tag.clone(), extent))
    }

    /// Reads a statement that starts with `with`: a region as above, the initial part of a reduction (`T.init()`), a
    /// block (`T.sblock("name")`), or a region whose meaning is not known.
    pub(super) fn with_statement(
        &mut self,
        context: &Py,
        target: Option<&Py>,
        body: &[PyStmt],
        span: Span,
        trivia: Trivia,
    ) -> Result<Stmt, ScriptError> {
        // Thread launches and attributes are regions with a meaning of their own. What follows are marks of the
        // scheduling language.
        if let Some(region) = self.region(context, target)? {
            let body = self.block(body)?;
            return Ok(nest(region, body, span, trivia, false));
        }
        let kind = match script_call(context) {
            // The initial part of a reduction runs in its first iteration only.
            Some(("init", [], _)) => {
                let condition = self.is_first_reduction();
                StmtKind::If {
                    condition,
                    then: self.block(body)?,
                    otherwise: Block::default(),
                    else_trivia: Trivia::default(),
                }
            }
            Some((name, args, _)) if target.is_none() => {
                let is_block = matches!(name, "sblock" | "block");
                let key = if is_block { name } else { UNKNOWN_REGION };
                let value = match args {
                    [Py { node: Node::Str(label), .. }] => Expr::Str(label.clone()),
                    _ => self.expr(context)?,
                };
                // Reduction axes belong to the innermost block. They are collected while its body is read, because
                // `T.init` inside needs them.
                self.reductions.push(Vec::new());
                let body = self.block(body)?;
                self.reductions.pop();
                StmtKind::Attr { node: None, key: key.to_owned(), value, body, flat: false }
            }
            _ => return Err(ScriptError::unsupported(context.span, "this `with` context")),
        };
        Ok(Stmt { kind, span, trivia })
    }

    /// The condition that every reduction axis of the innermost block is at its first value; `True` if it has none.
    fn is_first_reduction(&self) -> Expr {
        let axes = self.reductions.last().into_iter().flatten();
        axes.map(|(axis, first)| Expr::binary(BinaryOp::Eq, Expr::Var(*axis), first.clone()))
            .reduce(|all, one| Expr::binary(BinaryOp::And, all, one))
            .unwrap_or(Expr::Int { value: 1, dtype: DType::BOOL })
    }

    /// Reads `vi = T.axis.spatial(8, i)` and `vi, vk = T.axis.remap("SR", [i, k])`: appends a let for each axis, all
    /// on one line. `false` if the assignment declares no axes.
    pub(super) fn axes(
        &mut self,
        target: &Py,
        value: &Py,
        span: Span,
        trivia: Trivia,
        block: &mut Vec<Stmt>,
    ) -> Result<bool, ScriptError> {
        let Some((kind, args)) = axis_call(value) else { return Ok(false) };
        let targets = match &target.node {
            Node::Tuple(targets) | Node::List(targets) => targets.as_slice(),
            _ => std::slice::from_ref(target),
        };
        // `remap` gives the kinds of several axes as one word (`"SR"`) and takes their values from loop variables;
        // other forms describe one axis and its domain.
        let axes: Vec<(char, Option<&Py>, &Py)> = match (kind, args) {
            ("remap", [kinds, values]) => {
                let (Node::Str(kinds), Node::List(values) | Node::Tuple(values)) = (&kinds.node, &values.node) else {
                    return Err(ScriptError::invalid(span, "`T.axis.remap` takes kinds and loop variables"));
                };
                kinds.chars().zip(values).map(|(kind, value)| (kind, None, value)).collect()
            }
            (_, [domain, value]) => vec![(kind.chars().next().unwrap_or('s'), Some(domain), value)],
            _ => return Err(ScriptError::unsupported(span, "an axis without its value")),
        };
        // `zip` above and below would drop what is too many.
        if axes.len() != targets.len() {
            return Err(ScriptError::invalid(span, "as many names as axes are needed"));
        }
        for (position, (target, (kind, domain, value))) in targets.iter().zip(axes).enumerate() {
            let Node::Name(name) = &target.node else {
                return Err(ScriptError::syntax(target.span, "expected a name"));
            };
            let value = self.expr(value)?;
            let dtype = value.dtype(&self.function);
            // The domain of an axis is its length, or its bounds `(first, stop)`.
            let first = match domain.map(|domain| &domain.node) {
                Some(Node::Tuple(bounds)) if !bounds.is_empty() => self.expr(&bounds[0])?,
                _ => Expr::int(0),
            };
            let var = self.new_var(name, dtype);
            // The initial part of a reduction runs when all reduction axes are at their first value, so that value is
            // kept.
            if matches!(kind, 'r' | 'R')
                && let Some(reductions) = self.reductions.last_mut()
            {
                let first = coerce(first, dtype, &self.function);
                reductions.push((var, first));
            }
            let trivia = if position == 0 { trivia } else { same_line(trivia) };
            block.push(Stmt { kind: StmtKind::Let { var, value }, span, trivia });
        }
        Ok(true)
    }
}

/// The kind and the arguments of `T.axis.kind(…)`.
fn axis_call(value: &Py) -> Option<(&str, &[Py])> {
    let Node::Call(callee, args, _) = &value.node else { return None };
    let Node::Attribute(base, kind) = &callee.node else { return None };
    (script_name(base) == Some("axis")).then_some((kind, args))
}

/// The trivia of a statement that stands on the same line as the one before it. Its text is an empty span: by that the
/// printer sees that the line may already have been copied.
pub(super) fn same_line(trivia: Trivia) -> Trivia {
    let text = trivia.text.map(|text| Span { end: text.start, ..text });
    Trivia { lead: None, text, comment: None }
}

/// What a `with` (or its flat form) opens.
pub(super) enum Region {
    /// Marks, the outermost first: what is marked, the key and the value.
    Attrs(Vec<(Option<Expr>, String, Expr)>),
    /// A thread launch: the thread index, the axis and the number of threads.
    Thread(VarId, String, Expr),
}

/// Puts a body into a region: the statement that opens it, with the body inside. `flat` says that the region is written
/// without `with` and reaches to the end of its block. `span` and `trivia` are the place and the line of the statement.
pub(super) fn nest(region: Region, body: Block, span: Span, trivia: Trivia, flat: bool) -> Stmt {
    let kind = match region {
        Region::Thread(var, tag, extent) => StmtKind::Thread { var, tag, extent, body, flat },
        Region::Attrs(attrs) => {
            // Several keys in one dictionary become marks inside of each other, the first outermost, each printed on a
            // line of its own. So only a single one keeps the line of the text (`text`) and the comment behind it. Of
            // several, the outermost one keeps the comments before the line (`lead`).
            let single = attrs.len() == 1;
            let mut body = body;
            // From the innermost mark outwards: each becomes the only statement in the body of the next. In the end
            // `body` holds the outermost mark alone.
            for (position, (node, key, value)) in attrs.into_iter().enumerate().rev() {
                let own = if single {
                    trivia
                } else {
                    Trivia { lead: trivia.lead.filter(|_| position == 0), text: None, comment: None }
                };
                let kind = StmtKind::Attr { node, key, value, body, flat };
                body = vec![Stmt { kind, span, trivia: own }].into();
            }
            return body.pop().unwrap_or_else(|| Stmt::new(StmtKind::Nothing));
        }
    };
    Stmt { kind, span, trivia }
}

/// Loops inside of each other, the first one outermost. All but the outermost are marked as parts of one `T.grid`, so
/// that they print as one line again.
fn nest_loops(loops: Vec<(VarId, Expr, Expr)>, kind: &ForKind, body: Block, span: Span) -> StmtKind {
    // From the innermost loop outwards: each becomes the body of the next.
    let mut result = None;
    let mut body = body;
    for (position, (var, min, extent)) in loops.into_iter().enumerate().rev() {
        let stmt = StmtKind::For { var, min, extent, kind: kind.clone(), in_grid: position > 0, body };
        body = Block::default();
        if position > 0 {
            body.push(Stmt { kind: stmt, span, trivia: Trivia::default() });
        } else {
            result = Some(stmt);
        }
    }
    result.unwrap_or(StmtKind::Nothing)
}

/// The parts of a call of `range(…)` or `T.name(…)`; `None` for anything else.
fn loop_call(value: &Py) -> Option<super::read::CallParts<'_>> {
    match &value.node {
        Node::Call(callee, args, named) => match &callee.node {
            Node::Name(name) if name == "range" => Some(("range", args, named)),
            _ => Some((script_name(callee)?, args, named)),
        },
        _ => None,
    }
}

/// The type in `T.let[T.float32]`; every kind of pointer is a handle. `Some(None)` for the bare `T.let`, where the
/// type is that of the value, and `None` if the annotation is no let.
pub(super) fn let_type(annotation: &Py) -> Option<Option<DType>> {
    if script_name(annotation) == Some("let") {
        return Some(None);
    }
    let Node::Subscript(base, subscripts) = &annotation.node else {
        return None;
    };
    match subscripts.as_slice() {
        [Subscript::One(inner)] if script_name(base) == Some("let") => match script_call(inner) {
            Some(("handle" | "Ptr", ..)) => Some(Some(DType::HANDLE)),
            _ => script_name(inner)?.parse().ok().map(Some),
        },
        _ => None,
    }
}
