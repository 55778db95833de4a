//! The linear sequence: a function as a list of events in which liveness can be read off.
//!
//! A statement that opens a scope (loop, condition, assertion, thread launch) appears twice, at its begin and at its
//! end, with the distance between the two as *offset*: `+d` at the begin, `-d` at the end. A statement without inner
//! statements appears once, with offset 0, and only if it touches an allocated buffer. So
//!
//! ```text
//! for i in range(n):            8
//!     for j in range(10):         3      [8, [3, [1, -1], -3], [3, [1, -1], -3], -8]
//!         for k …: (nothing)        1
//! ```
//!
//! A touch of a buffer is charged to the statement that stands *directly in the block of the buffer's
//! allocation* and contains the access: a buffer allocated outside a loop is in use during the
//! whole loop, one allocated inside only during its own statements. Touches that are charged to a scope are
//! listed at its end:
//!
//! ```text
//! A = alloc                 records:  for            offset +2
//! for i:                                  B[0] = …   offset  0    touches B
//!     B = alloc                       end of for     offset -2    touches A
//!     B[0] = A[i]
//! ```

use crate::ir::{BufId, Expr, ForKind, Function, Stmt, StmtKind, VarId};
use memplan_core::{IndexVec, index_type};
use smallvec::SmallVec;
use std::collections::BTreeSet;
use std::fmt::Write;

index_type! {
    /// A statement of a function, numbered in the order of the text.
    pub struct StmtId;
}

/// Buffers that a statement touches. Most statements touch few, and these need no memory of their own.
pub type Touches = SmallVec<[BufId; 4]>;

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The statement.
    pub stmt: StmtId,
    /// In records, the distance to the record of the scope's other end: positive at the begin, negative at the end, 0
    /// for a statement that is no scope.
    pub offset: isize,
    /// Buffers touched, in order, with repetitions; empty at the begin of a scope.
    pub touched: Touches,
}

/// A function as a list of events.
#[derive(Clone, Debug)]
pub struct Sequence<'f> {
    /// The function.
    pub function: &'f Function,
    /// All statements, by id.
    pub statements: IndexVec<StmtId, &'f Stmt>,
    /// The statement around each, if any.
    pub parents: IndexVec<StmtId, Option<StmtId>>,
    /// The events.
    pub records: Vec<Record>,
    /// For each allocated buffer, the statement that allocates it.
    pub allocated_at: IndexVec<BufId, Option<StmtId>>,
    /// The statement that defines each variable: loop, launch or let.
    pub defined_at: IndexVec<VarId, Option<StmtId>>,
    /// Allocated buffers that stay where they are: their memory may be used after the statement that uses them (see
    /// [`Stmt::escaping`]), or the buffer or a view of it has strides.
    pub held: BTreeSet<BufId>,
    /// Whether some access may be one of a vector: a subscript is a ramp, or a buffer has elements of several lanes.
    pub has_vectors: bool,
    /// Whether some statement uses the bare address of a buffer (`A.data`).
    pub has_addresses: bool,
}

/// Builds the sequence of a function.
pub fn linearize(function: &Function) -> Sequence<'_> {
    let mut finder = Finder {
        sequence: Sequence {
            function,
            statements: IndexVec::new(),
            parents: IndexVec::new(),
            records: Vec::new(),
            allocated_at: IndexVec::filled(None, function.buffers.len()),
            defined_at: IndexVec::filled(None, function.vars.len()),
            held: strided_roots(function),
            has_vectors: function.buffers.iter().any(|buffer| buffer.dtype.lanes > 1),
            has_addresses: false,
        },
        roots: function.buffers.ids().map(|buffer| function.root(buffer)).collect(),
        // No buffer is allocated yet: touches of a buffer without a level are not noted.
        levels: IndexVec::filled(usize::MAX, function.buffers.len()),
        only_named: None,
        stack: Vec::new(),
        in_thread: false,
        parent: None,
        calls: 0,
    };
    // As a rule a statement at the top holds one more, and has two records.
    let statements = 2 * function.body.len();
    finder.sequence.statements.reserve(statements);
    finder.sequence.parents.reserve(statements);
    finder.sequence.records.reserve(statements);
    finder.block(&function.body);
    finder.sequence
}

/// Buffers that marks name (`T.attr(A.data, …)`) and that nothing else touches. They keep an allocation, so that the
/// marks still name something that exists.
fn only_named(function: &Function) -> BTreeSet<BufId> {
    let (mut named, mut touched) = (BTreeSet::new(), BTreeSet::new());
    for stmt in &function.body {
        stmt.walk(&mut |stmt| {
            if let StmtKind::Attr { node: Some(Expr::Data(buffer)), .. } = &stmt.kind {
                named.insert(function.root(*buffer));
            }
        });
    }
    // Most functions have no such marks, and the second walk is not needed.
    if named.is_empty() {
        return named;
    }
    for stmt in &function.body {
        stmt.walk(&mut |stmt| {
            if let StmtKind::Store { buffer, .. } = &stmt.kind {
                touched.insert(function.root(*buffer));
            }
            // The first expression of a mark is the buffer that it names, which is no access.
            let node = matches!(stmt.kind, StmtKind::Attr { node: Some(Expr::Data(_)), .. });
            for expr in stmt.exprs().into_iter().skip(usize::from(node)) {
                expr.walk(&mut |part| {
                    if let Expr::Load { buffer, .. } | Expr::Data(buffer) = part {
                        touched.insert(function.root(*buffer));
                    }
                });
            }
        });
    }
    &named - &touched
}

/// The roots of all buffers that have strides. A buffer is moved by adding its offset to subscripts. With strides, one
/// step of a subscript is not one element of the memory, so the offset cannot be added.
pub(crate) fn strided_roots(function: &Function) -> BTreeSet<BufId> {
    let strided = function.buffers.iter_enumerated().filter(|(_, buffer)| buffer.has_strides());
    strided.map(|(buffer, _)| function.root(buffer)).collect()
}

/// The walk that builds a sequence.
struct Finder<'f> {
    sequence: Sequence<'f>,
    /// The root of each buffer.
    roots: IndexVec<BufId, BufId>,
    /// For each buffer the height of `stack` at its allocation: a touch is charged to the open statement at this
    /// position of the stack. `usize::MAX` for arguments, whose touches are not noted.
    levels: IndexVec<BufId, usize>,
    /// Buffers for which the mark that names them counts as a touch; `None` until the first such mark is met.
    only_named: Option<BTreeSet<BufId>>,
    /// Touches charged so far to each open statement, the outermost first. A statement that is looked
    /// through (such as a mark) has no list.
    stack: Vec<Touches>,
    /// Whether the walk is inside of a thread launch.
    in_thread: bool,
    /// The statement around the one that is visited next.
    parent: Option<StmtId>,
    /// How many calls and bare addresses the expressions visited so far have.
    calls: usize,
}

impl<'f> Finder<'f> {
    /// Appends the events of the statements of a block.
    fn block(&mut self, block: &'f [Stmt]) {
        for stmt in block {
            self.statement(stmt);
        }
    }

    /// Appends the events of one statement.
    fn statement(&mut self, stmt: &'f Stmt) {
        let id = self.sequence.statements.push(stmt);
        self.sequence.parents.push(self.parent);
        let outer = self.parent.replace(id);
        let calls_before = self.calls;
        match &stmt.kind {
            StmtKind::Alloc(buffer) => {
                let declared = &self.sequence.function.buffers[*buffer];
                // Most extents are numbers, which touch nothing.
                if !declared.has_constant_shape() {
                    self.leaf(id, &declared.shape, None);
                }
                // The depth of the allocation says to which enclosing statement later touches are charged (see the
                // module doc).
                self.levels[*buffer] = self.stack.len();
                self.sequence.allocated_at[*buffer] = Some(id);
            }
            StmtKind::Declare(buffer) => self.declare(id, *buffer),
            StmtKind::Store { buffer, index, value } => {
                self.leaf(id, std::iter::once(value).chain(index), Some(*buffer));
            }
            StmtKind::Let { var, value } => {
                self.sequence.defined_at[*var] = Some(id);
                self.leaf(id, [value], None);
            }
            StmtKind::Evaluate(value) => self.leaf(id, [value], None),
            // An assertion has no block, but it appears twice like a scope, as in the original.
            StmtKind::Assert { condition, .. } => self.scope(id, &[condition], &[]),
            StmtKind::Nothing => {}
            StmtKind::Thread { var, extent, body, .. } => {
                self.sequence.defined_at[*var] = Some(id);
                // Virtual threads are interleaved by a later pass, so each of them is a scope. A real launch inside
                // another one adds a dimension to the same launch and opens no scope of its own.
                if stmt.is_virtual_thread() {
                    self.scope(id, &[extent], &[body]);
                } else if self.in_thread {
                    self.leaf(id, [extent], None);
                    self.block(body);
                } else {
                    self.in_thread = true;
                    self.scope(id, &[extent], &[body]);
                    self.in_thread = false;
                }
            }
            StmtKind::Attr { node, value, body, .. } => {
                // What a mark is about is no access, so its parts are not looked at. They may be anything.
                if node.is_some() {
                    self.sequence.has_vectors = true;
                    self.sequence.has_addresses = true;
                }
                // A mark touches the buffer that it names only if nothing else does (see `only_named`).
                if let Some(node @ Expr::Data(buffer)) = node {
                    let function = self.sequence.function;
                    let only_named = self.only_named.get_or_insert_with(|| only_named(function));
                    if only_named.contains(&function.root(*buffer)) {
                        self.leaf(id, [node], None);
                    }
                }
                // A region that may run at another time is a scope. Any other mark is looked through: its body belongs
                // to the block around it.
                if stmt.is_opaque_region() {
                    self.scope(id, &[value], &[body]);
                } else {
                    self.leaf(id, [value], None);
                    self.block(body);
                }
            }
            StmtKind::For { var, min, extent, body, .. } => {
                self.sequence.defined_at[*var] = Some(id);
                self.scope(id, &[min, extent], &[body]);
            }
            StmtKind::While { condition, body } => self.scope(id, &[condition], &[body]),
            StmtKind::If { condition, then, otherwise, .. } => {
                self.scope(id, &[condition], &[then, otherwise]);
            }
        }
        // Calls in inner statements are counted as well, which costs a needless question and nothing else.
        if stmt.may_let_escape(self.sequence.function, self.calls > calls_before) {
            self.escapes(stmt);
        }
        self.parent = outer;
    }

    /// Notes the buffers whose memory may be used at any later time.
    fn escapes(&mut self, stmt: &Stmt) {
        for buffer in stmt.escaping(self.sequence.function) {
            self.sequence.held.insert(self.sequence.function.root(buffer));
        }
    }

    /// A declaration touches what its offset, shape and strides read.
    fn declare(&mut self, id: StmtId, buffer: BufId) {
        self.leaf(id, self.sequence.function.placing_exprs(buffer), None);
    }

    /// Adds a statement without blocks, with the buffers that it touches.
    fn leaf(&mut self, id: StmtId, exprs: impl IntoIterator<Item = &'f Expr>, stored: Option<BufId>) {
        // The list of this statement; `expr` and `touch` charge touches to it or to a list further out.
        self.stack.push(Touches::new());
        for expr in exprs {
            self.expr(expr);
        }
        if let Some(buffer) = stored {
            self.touch(buffer);
        }
        let touched = self.stack.pop().unwrap_or_default();
        // A touch of a buffer that is allocated in an outer block was charged to an outer statement. If no touch was
        // charged to this statement, it gets no record.
        if !touched.is_empty() {
            self.sequence.records.push(Record { stmt: id, offset: 0, touched });
        }
    }

    /// Adds a statement with blocks: one record before the records of the inner statements and one after them, each
    /// with the distance to the other.
    fn scope(&mut self, id: StmtId, exprs: &[&'f Expr], blocks: &[&'f Vec<Stmt>]) {
        let begin = self.sequence.records.len();
        // The distance is not known before the inner statements have their records; it is filled in below.
        self.sequence.records.push(Record { stmt: id, offset: 0, touched: Touches::new() });
        self.stack.push(Touches::new());
        for expr in exprs {
            self.expr(expr);
        }
        for block in blocks {
            self.block(block);
        }
        let touched = self.stack.pop().unwrap_or_default();
        let distance = (self.sequence.records.len() - begin) as isize;
        self.sequence.records[begin].offset = distance;
        self.sequence.records.push(Record { stmt: id, offset: -distance, touched });
    }

    /// Notes the buffers that an expression touches.
    fn expr(&mut self, expr: &'f Expr) {
        if expr.is_number_or_variable() {
            return;
        }
        expr.all_children(|child| {
            if !child.is_number_or_variable() {
                self.expr(child);
            }
            true
        });
        match expr {
            Expr::Load { buffer, .. } => self.touch(*buffer),
            Expr::Call { .. } => self.calls += 1,
            Expr::Data(buffer) => {
                self.calls += 1;
                self.sequence.has_addresses = true;
                self.touch(*buffer);
            }
            Expr::Ramp { .. } => self.sequence.has_vectors = true,
            _ => {}
        }
    }

    /// Charges a touch of a buffer, or of what it views, to an open statement (see `levels`).
    fn touch(&mut self, buffer: BufId) {
        let root = self.roots[buffer];
        if let Some(charged) = self.stack.get_mut(self.levels[root]) {
            charged.push(root);
        }
    }
}

impl Sequence<'_> {
    /// The statements around `stmt`, innermost first.
    pub fn enclosing(&self, stmt: StmtId) -> impl Iterator<Item = StmtId> + '_ {
        std::iter::successors(self.parents[stmt], |inner| self.parents[*inner])
    }

    /// The offsets of all scopes as nested lists: `[8, [3, [1, -1], -3], -8]`. Records with offset 0 are left out.
    pub fn shape(&self) -> String {
        let mut text = String::new();
        for record in &self.records {
            if record.offset > 0 {
                let separator = if text.is_empty() || text.ends_with('[') { "" } else { ", " };
                let _ = write!(text, "{separator}[{}", record.offset);
            } else if record.offset < 0 {
                let _ = write!(text, ", {}]", record.offset);
            }
        }
        text
    }

    /// One line for each event: position, offset, statement, touched buffers.
    pub fn dump(&self) -> String {
        let mut text = format!("scopes {}\n", self.shape());
        let mut depth = 0usize;
        for (position, record) in self.records.iter().enumerate() {
            if record.offset < 0 {
                depth = depth.saturating_sub(1);
            }
            let statement = describe(self.statements[record.stmt], self.function);
            let end = if record.offset < 0 { "end " } else { "" };
            let _ =
                write!(text, "{position:4} {:+4}  {:indent$}{end}{statement}", record.offset, "", indent = 2 * depth);
            if !record.touched.is_empty() {
                let _ = write!(text, "  touches {}", names(&record.touched, self.function));
            }
            text.push('\n');
            if record.offset > 0 {
                depth += 1;
            }
        }
        text
    }
}

/// Names of buffers, separated by blanks.
pub(super) fn names(buffers: &[BufId], function: &Function) -> String {
    let names: Vec<&str> = buffers.iter().map(|buffer| function.buffers[*buffer].name.as_str()).collect();
    names.join(" ")
}

/// A statement in a few words.
pub(super) fn describe(stmt: &Stmt, function: &Function) -> String {
    let var = |var: &VarId| function.vars[*var].name.clone();
    match &stmt.kind {
        StmtKind::For { var: index, kind, .. } => match kind {
            ForKind::Parallel => format!("parallel for {}", var(index)),
            _ => format!("for {}", var(index)),
        },
        StmtKind::While { .. } => "while".to_owned(),
        StmtKind::If { .. } => "if".to_owned(),
        StmtKind::Thread { tag, .. } => format!("launch {tag}"),
        StmtKind::Attr { key, .. } => format!("attr {key}"),
        StmtKind::Store { buffer, .. } => format!("store {}", function.buffers[*buffer].name),
        StmtKind::Let { var: name, .. } => format!("let {}", var(name)),
        StmtKind::Assert { .. } => "assert".to_owned(),
        StmtKind::Evaluate(_) => "evaluate".to_owned(),
        StmtKind::Alloc(buffer) => format!("alloc {}", function.buffers[*buffer].name),
        StmtKind::Declare(buffer) => format!("declare {}", function.buffers[*buffer].name),
        StmtKind::Nothing => "nothing".to_owned(),
    }
}
