//! Statements of the loop IR in the words of the judge of in-place reuse ([`memplan_verify::in_place`]).
//!
//! For one pair of buffers a statement becomes a list of steps. Every load is a read. Every store is a write after the
//! reads of its value and subscripts. Subscripts of several dimensions become one element number. An access through a
//! view counts elements from the start of the memory that the view looks at.
//!
//! ```text
//! for i: for j: B[i, j] = A[i, j] + 1      shape (n, 4)
//! loop i, loop j { read A 4·i + j; write B 4·i + j }
//! ```
//!
//! Threads around the statement run it together, unless each has memory of its own; so the list starts with loops over
//! the threads that share the two buffers. A loop over iterations that may run in any order, or at the same time, is
//! `Concurrent`; one whose iterations each have their own copy of both buffers is `Private`.
//!
//! This file shares nothing with the rewriter: not the rewriter's idea of what a statement touches, and not its proof.

use crate::Kind;
use crate::ir::{
    BinaryOp, BufId, Expr, ForKind, Function, JUMPS, Memory, PREDICATE, Rank, Stmt, StmtKind, VarId, is_asynchronous,
    thread_rank,
};
use memplan_core::Id;
// The words of the judge. A `Step` is a read or a write of `Elements`, or a loop or branch around other steps. An
// `Index` is a subscript: a number, a variable, an operation on them, or unknown. A `Question` is which output may
// lie on which input.
use memplan_verify::in_place::{Elements, Index, Operator, Order, Question, Step};

/// One of the things that are in force where a statement stands. Lists of them go from the outside in.
#[derive(Clone, Copy)]
pub(crate) enum Binding<'f> {
    /// A buffer begins.
    Alloc(BufId),
    /// A name for a value.
    Let(VarId, &'f Expr),
    /// A loop whose iterations run one after the other, with its first value.
    Loop(VarId, &'f Expr),
    /// Iterations that run together. A thread launch counts from 0; a loop over threads or lanes may not.
    Axis { var: VarId, first: Option<&'f Expr>, count: &'f Expr, axis: Axis },
}

/// What runs the iterations of an axis.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Axis {
    /// Thread blocks.
    Blocks,
    /// Threads of a block.
    Threads,
    /// Lanes of a vector.
    Lanes,
    /// A parallel loop.
    Parallel,
}

impl Axis {
    /// The axis of a tag such as `blockIdx.x`. Axes that are not known count as threads.
    pub(crate) fn of_tag(tag: &str) -> Axis {
        if thread_rank(tag) == Some(0) { Axis::Blocks } else { Axis::Threads }
    }
}

/// A buffer's number in the words of the judge.
fn number(buffer: BufId) -> u32 {
    buffer.index() as u32
}

/// The question whether `output` may lie on `input`; `needed_after` says whether anybody reads the output afterwards.
pub(crate) fn question(output: BufId, input: BufId, needed_after: bool) -> Question {
    Question { output: number(output), input: number(input), needed_after }
}

/// The steps of a statement that concern two buffers, with the threads that run it together.
pub(crate) fn steps(function: &Function, stmt: &Stmt, pair: [BufId; 2], around: &[Binding<'_>]) -> Vec<Step> {
    let translator = Translator { function, pair };
    let mut body = Vec::new();
    translator.statement(stmt, &mut body);
    // The outermost axis around the statement whose threads share the two buffers. What is outside of it has the same
    // value for all threads and is left out.
    let first = around.iter().enumerate().position(|(position, binding)| match binding {
        // The dataflow check itself follows the iterations of a parallel loop around a statement.
        Binding::Axis { axis: Axis::Parallel, .. } => false,
        Binding::Axis { axis, .. } => translator.order(*axis, &around[position..]) != Order::Private,
        _ => false,
    });
    let Some(first) = first else { return body };
    // From the inside out: a thread axis becomes a loop around the body so far, and a let becomes a step before it.
    for (position, binding) in around.iter().enumerate().skip(first).rev() {
        match binding {
            Binding::Axis { var, first, count, axis } => {
                let order = translator.order(*axis, &around[position..]);
                let first = first.map_or(Index::Number(0), |first| translator.index(first));
                body = vec![translator.counted_loop(*var, first, count, order, body)];
            }
            Binding::Let(var, value) => {
                body.insert(0, Step::Define { variable: variable(*var), value: translator.index(value) });
            }
            // If a serial loop around the statement starts at a value that is no constant, each thread may have another
            // start, and so another value of the loop variable. The variable counts as unknown.
            Binding::Loop(var, min) if min.as_int().is_none() => {
                body.insert(0, Step::Define { variable: variable(*var), value: Index::Unknown });
            }
            // Any other serial loop needs no step: threads run in step, so all of them are in the same iteration, and
            // the loop variable has the same value for all.
            Binding::Loop(..) | Binding::Alloc(_) => {}
        }
    }
    body
}

/// A variable's number in the words of the judge.
fn variable(var: VarId) -> u32 {
    var.index() as u32
}

/// Translates the accesses to two buffers.
struct Translator<'f> {
    function: &'f Function,
    /// The two buffers of the question, output and input. Accesses to others are left out.
    pair: [BufId; 2],
}

impl Translator<'_> {
    /// `Private` if every iteration of an axis has its own copy of both buffers, otherwise `Concurrent`: the iterations
    /// share a buffer and run at the same time. `inside` has the bindings from the axis inwards, allocations included.
    fn order(&self, axis: Axis, inside: &[Binding<'_>]) -> Order {
        // Whether each iteration has a copy of this buffer: threads and blocks by the buffer's memory, lanes and
        // parallel iterations only if the buffer is allocated inside.
        let is_private = |buffer: &BufId| {
            let begins_inside =
                inside.iter().any(|binding| matches!(binding, Binding::Alloc(other) if other == buffer));
            let scope = &self.function.buffers[*buffer].scope;
            match axis {
                Axis::Blocks => scope.rank != Rank::Global || begins_inside,
                Axis::Threads => scope.is_per_thread(),
                Axis::Lanes | Axis::Parallel => begins_inside,
            }
        };
        if self.pair.iter().all(is_private) { Order::Private } else { Order::Concurrent }
    }

    /// A loop with a number of iterations, of the judge's own, around a body. (A [`Step::Repeat`] is a `while`.)
    fn counted_loop(&self, var: VarId, first: Index, count: &Expr, order: Order, body: Vec<Step>) -> Step {
        Step::Loop { variable: variable(var), first, count: self.index(count), order, body }
    }

    /// The steps of statements that run one after the other.
    fn block(&self, block: &[Stmt]) -> Vec<Step> {
        let mut steps = Vec::new();
        block.iter().for_each(|stmt| self.statement(stmt, &mut steps));
        steps
    }

    /// Appends the steps of one statement, in the order in which they touch memory.
    fn statement(&self, stmt: &Stmt, steps: &mut Vec<Step>) {
        // A store reads its value and its subscripts before it writes, and the order of these steps is what the proof
        // is about.
        if let StmtKind::Store { buffer, index, value } = &stmt.kind {
            self.reads(value, steps);
            index.iter().for_each(|subscript| self.reads(subscript, steps));
            return self.store(*buffer, index, value, steps);
        }
        // Every other statement reads its own expressions (bounds of a loop, a condition, a value) before its body
        // runs.
        stmt.exprs().into_iter().for_each(|expr| self.reads(expr, steps));
        match &stmt.kind {
            // The second argument of `order` lists what is allocated inside of the loop. The judge is only asked about
            // statements without allocations inside, so the list is empty here.
            StmtKind::For { var, min, extent, kind, body, .. } => {
                let order = match kind {
                    ForKind::Serial | ForKind::Unrolled => Order::Serial,
                    ForKind::Parallel => self.order(Axis::Parallel, &[]),
                    ForKind::Vectorized => self.order(Axis::Lanes, &[]),
                    ForKind::ThreadBinding(tag) => self.order(Axis::of_tag(tag), &[]),
                };
                steps.push(self.counted_loop(*var, self.index(min), extent, order, self.block(body)));
            }
            StmtKind::Thread { var, tag, extent, body, .. } => {
                let order = self.order(Axis::of_tag(tag), &[]);
                steps.push(self.counted_loop(*var, Index::Number(0), extent, order, self.block(body)));
            }
            // The condition of a `while` is read again in every round, after the body.
            StmtKind::While { condition, body } => {
                let mut round = self.block(body);
                self.reads(condition, &mut round);
                steps.push(Step::Repeat(round));
            }
            StmtKind::If { condition, then, otherwise, .. } => steps.push(Step::Branch {
                condition: self.index(condition),
                then: self.block(then),
                otherwise: self.block(otherwise),
            }),
            StmtKind::Let { var, value } => {
                steps.push(Step::Define { variable: variable(*var), value: self.index(value) });
            }
            // A predicate guards its body like a condition without an else.
            StmtKind::Attr { key, value, body, .. } if key == PREDICATE => {
                steps.push(Step::Branch {
                    condition: self.index(value),
                    then: self.block(body),
                    otherwise: Vec::new(),
                });
            }
            // Inside of a region whose meaning is unknown, or which runs asynchronously, the order of accesses is not
            // known. Both buffers of the pair then count as touched in an unknown way (`Opaque`), which rules out
            // sharing. Any other mark changes nothing about its body.
            StmtKind::Attr { key, body, .. } => {
                if stmt.is_opaque_region() || key.starts_with("async") {
                    steps.extend(self.pair.map(|buffer| Step::Opaque(number(buffer))));
                }
                steps.extend(self.block(body));
            }
            // Where the elements of a view lie is computed anew at every access, so what that reads is read at any time.
            StmtKind::Declare(view) => {
                let mut read = Vec::new();
                self.function.placing_exprs(*view).for_each(|expr| expr.add_mentioned(&mut read));
                read.into_iter().for_each(|buffer| self.opaque(buffer, steps));
            }
            // Stores have returned above. An assertion or a call has only expressions, which are read by now; a buffer
            // whose address a call gets is `Opaque` there. The others touch no memory.
            StmtKind::Store { .. }
            | StmtKind::Alloc(_)
            | StmtKind::Assert { .. }
            | StmtKind::Evaluate(_)
            | StmtKind::Nothing => {}
        }
    }

    /// Adds a store: the elements it writes, and those it copies if its value is a plain load of the same type. A
    /// store to neither buffer is left out.
    fn store(&self, buffer: BufId, index: &[Expr], value: &Expr, steps: &mut Vec<Step>) {
        let Some(elements) = self.elements(buffer, index) else { return };
        let declared = self.function.buffers[buffer].dtype;
        let copy_of = match value {
            Expr::Load { buffer: source, index } if self.function.buffers[*source].dtype == declared => {
                self.elements(*source, index)
            }
            _ => None,
        };
        steps.push(Step::Write { elements, copy_of });
    }

    /// Adds what evaluating an expression reads, in the order of evaluation.
    fn reads(&self, expr: &Expr, steps: &mut Vec<Step>) {
        match expr {
            // Whoever has the address may read and write any element.
            Expr::Data(buffer) => self.opaque(*buffer, steps),
            // What follows a jump (`break`, `return`) may or may not run, and the judge has no step for that. So both
            // buffers count as touched in an unknown way.
            Expr::Call { name, .. } if JUMPS.contains(&name.as_str()) => {
                steps.extend(self.pair.map(|buffer| Step::Opaque(number(buffer))));
            }
            // When an asynchronous call reads and writes is not known, and neither is which of its arguments it writes.
            Expr::Call { name, args, .. } if is_asynchronous(name, args) => {
                let mut mentioned = Vec::new();
                expr.add_mentioned(&mut mentioned);
                mentioned.into_iter().for_each(|buffer| self.opaque(buffer, steps));
            }
            Expr::Call { name, args, .. } if name == "address_of" => {
                // The address of an element gives access to the whole buffer. The subscripts are read as well.
                for arg in args {
                    if let Expr::Load { buffer, .. } = arg {
                        self.opaque(*buffer, steps);
                    }
                    self.reads(arg, steps);
                }
            }
            _ => {
                // Operands and subscripts are read before the element itself.
                expr.all_children(|child| {
                    self.reads(child, steps);
                    true
                });
                if let Expr::Load { buffer, index } = expr {
                    steps.extend(self.elements(*buffer, index).map(Step::Read));
                }
            }
        }
    }

    /// Adds that a buffer is used through its address, if it is one of the two: anything may be read or written.
    fn opaque(&self, buffer: BufId, steps: &mut Vec<Step>) {
        let root = self.function.root(buffer);
        if self.pair.contains(&root) {
            steps.push(Step::Opaque(number(root)));
        }
    }

    /// The elements of an access; `None` if it is to neither buffer. An access whose place cannot be computed has an
    /// unknown first element.
    fn elements(&self, buffer: BufId, index: &[Expr]) -> Option<Elements> {
        let root = self.function.root(buffer);
        if !self.pair.contains(&root) {
            return None;
        }
        let bits = self.function.buffers[buffer].dtype.total_bits();
        let (first, lanes, stride) = self.position(buffer, index).unwrap_or((Index::Unknown, 1, 1));
        Some(Elements { buffer: number(root), first, bits, lanes, stride })
    }

    /// The first element of an access (`i * 4 + j` for `[i, j]` in rows of 4), its lanes and their distance in
    /// elements. `None` if the number of subscripts is not that of the dimensions, if a subscript other than the last
    /// is a vector, if the last one is a vector that is no ramp with a constant step, or one in a type that wraps, if
    /// the buffer has strides, or if the offset of a view is no whole number of elements.
    fn position(&self, buffer: BufId, index: &[Expr]) -> Option<(Index, u32, i64)> {
        let declared = &self.function.buffers[buffer];
        if index.len() != declared.shape.len() || declared.has_strides() {
            return None;
        }
        // Only the last subscript may be a vector: then its lanes are a constant number of elements apart.
        let (mut lanes, mut stride) = (1, 1);
        let mut first = Index::Number(0);
        for (position, (subscript, extent)) in index.iter().zip(&declared.shape).enumerate() {
            let is_last = position + 1 == index.len();
            let subscript = match subscript {
                Expr::Ramp { base, stride: step, lanes: count } if is_last && !base.dtype(self.function).wraps() => {
                    (lanes, stride) = (u32::from(*count), step.as_int()?);
                    base
                }
                other if other.lanes(self.function) == 1 => other,
                _ => return None,
            };
            // The number so far counts rows. Each row has `extent` elements, and the subscript counts in the row.
            let row = Index::apply(Operator::Multiply, first, self.index(extent));
            first = Index::apply(Operator::Add, row, self.index(subscript));
        }
        let first = self.counted_from_start(buffer, first)?;
        Some((first, lanes, stride))
    }

    /// An element number of a view, counted from the start of its memory in the view's own elements. `None` if an
    /// element of a view in the chain is no whole number of these elements.
    fn counted_from_start(&self, buffer: BufId, mut first: Index) -> Option<Index> {
        let bits = self.function.buffers[buffer].dtype.total_bits();
        let mut view = buffer;
        for _ in 0..self.function.buffers.len() {
            let Memory::View { of, elem_offset } = &self.function.buffers[view].memory else { break };
            if let Some(offset) = elem_offset {
                // The offset counts elements of this view; it is converted to elements of the accessed one.
                let step = self.function.buffers[view].dtype.total_bits();
                if !step.is_multiple_of(bits) {
                    return None;
                }
                let factor = Index::Number(i64::try_from(step / bits).ok()?);
                let distance = Index::apply(Operator::Multiply, self.index(offset), factor);
                first = Index::apply(Operator::Add, first, distance);
            }
            view = *of;
        }
        Some(first)
    }

    /// A subscript or a condition in the judge's words. What the judge has no word for is unknown, which never makes a
    /// proof succeed.
    fn index(&self, expr: &Expr) -> Index {
        match expr {
            // An unsigned number beyond 2^63 is kept as the negative number of the same bits.
            Expr::Int { value: ..0, dtype } if dtype.kind == Kind::UInt => Index::Unknown,
            Expr::Int { value, .. } => Index::Number(*value),
            Expr::Var(var) => Index::Variable(variable(*var)),
            Expr::Not(value) => is_zero(self.index(value)),
            // A cast to a narrow type may change the value, and one between types with and without a sign, too. Others
            // are looked through.
            Expr::Cast { dtype, value } if dtype.is_integer() && dtype.bits >= 32 && self.is_integer(value) => {
                let from = value.dtype(self.function);
                let fits = match (from.kind == Kind::UInt, dtype.kind == Kind::UInt) {
                    (true, false) => from.bits < dtype.bits,
                    (false, true) => from.kind == Kind::Bool,
                    _ => true,
                };
                if fits { self.index(value) } else { Index::Unknown }
            }
            Expr::Select { condition, then, otherwise } => self.choose(condition, then, otherwise),
            Expr::Call { name, args, .. } => match (name.as_str(), args.as_slice()) {
                ("if_then_else", [condition, then, otherwise]) => self.choose(condition, then, otherwise),
                ("likely", [condition]) => self.index(condition),
                _ => Index::Unknown,
            },
            // The judge computes with numbers of any size. In a narrow type the result may be another one.
            Expr::Binary { op, left, .. } if op.is_arithmetic() && left.dtype(self.function).wraps() => Index::Unknown,
            Expr::Binary { op, left, right } if self.is_integer(left) && self.is_integer(right) => {
                self.binary(*op, self.index(left), self.index(right))
            }
            _ => Index::Unknown,
        }
    }

    fn is_integer(&self, expr: &Expr) -> bool {
        expr.dtype(self.function).is_integer()
    }

    fn choose(&self, condition: &Expr, then: &Expr, otherwise: &Expr) -> Index {
        Index::Choose(Box::new([self.index(condition), self.index(then), self.index(otherwise)]))
    }

    /// An operation in the judge's words. Comparisons that the judge has no operator for are expressed by `equal` and
    /// `less`: `a >= b` is `(a < b) == 0`.
    fn binary(&self, op: BinaryOp, left: Index, right: Index) -> Index {
        let operator = match op {
            BinaryOp::Add => Operator::Add,
            BinaryOp::Sub => Operator::Subtract,
            BinaryOp::Mul => Operator::Multiply,
            BinaryOp::Div => Operator::DivideToZero,
            BinaryOp::Mod => Operator::RemainderToZero,
            BinaryOp::FloorDiv => Operator::DivideDown,
            BinaryOp::FloorMod => Operator::RemainderDown,
            BinaryOp::Min => Operator::Minimum,
            BinaryOp::Max => Operator::Maximum,
            BinaryOp::Eq => Operator::Equal,
            BinaryOp::Lt => Operator::Less,
            BinaryOp::And => Operator::And,
            BinaryOp::Or => Operator::Or,
            BinaryOp::Ne => return is_zero(Index::apply(Operator::Equal, left, right)),
            BinaryOp::Gt => return Index::apply(Operator::Less, right, left),
            BinaryOp::Le => return is_zero(Index::apply(Operator::Less, right, left)),
            BinaryOp::Ge => return is_zero(Index::apply(Operator::Less, left, right)),
        };
        Index::apply(operator, left, right)
    }
}

fn is_zero(value: Index) -> Index {
    Index::apply(Operator::Equal, value, Index::Number(0))
}
