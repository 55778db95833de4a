//! Statements of the loop IR.

use super::{BufId, Expr, Function, Index, Shared, VarId};
use crate::dtype::Kind;
use memplan_core::Span;
use smallvec::{SmallVec, smallvec};

/// Statements that run one after the other. Copies of a function share the blocks that are the same in both.
pub type Block = Shared<Vec<Stmt>>;

/// How the iterations of a loop run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForKind {
    /// One after the other.
    Serial,
    /// In any order, possibly at the same time.
    Parallel,
    /// As lanes of vectors.
    Vectorized,
    /// Copied out.
    Unrolled,
    /// One iteration per thread of the named axis.
    ThreadBinding(String),
}

/// The mark of a region that only runs where its value holds.
///
/// The condition of `T.where(i < 7)` in a `T.sblock` is kept as such a mark around the rest of the block.
pub const PREDICATE: &str = "where";

/// The mark of a region for which it is not known when it runs.
///
/// A `with` whose meaning the reader does not know becomes such a region.
pub const UNKNOWN_REGION: &str = "with";

/// Calls after which the next statement does not run.
pub const JUMPS: [&str; 4] = ["break_loop", "continue_loop", "ret", "thread_return"];

/// Where a statement came from in the source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trivia {
    /// Comment and blank lines before the statement.
    pub lead: Option<Span>,
    /// The statement's own line (of a compound statement, its header). `None` once the statement
    /// no longer says what its source says.
    pub text: Option<Span>,
    /// The comment at the end of that line, kept even if the line changes.
    pub comment: Option<Span>,
}

/// A statement and where it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Its place in the source, for error messages; survives changes.
    pub span: Span,
    /// Its source text, for printing unchanged lines as they were.
    pub trivia: Trivia,
}

/// What a statement does.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// Makes memory for a buffer, from here to the end of the block.
    Alloc(BufId),
    /// Declares a view of another buffer's memory.
    Declare(BufId),
    /// Writes an element.
    Store {
        /// The buffer.
        buffer: BufId,
        /// Subscripts.
        index: Index,
        /// The value.
        value: Expr,
    },
    /// A loop.
    For {
        /// Loop variable.
        var: VarId,
        /// First value.
        min: Expr,
        /// Number of iterations.
        extent: Expr,
        /// How iterations run.
        kind: ForKind,
        /// Whether this loop and the one around it were written as one `T.grid`.
        in_grid: bool,
        /// What is repeated.
        body: Block,
    },
    /// Repeats while a condition holds.
    While {
        /// The condition.
        condition: Expr,
        /// What is repeated.
        body: Block,
    },
    /// A condition.
    If {
        /// The condition.
        condition: Expr,
        /// Runs if it holds.
        then: Block,
        /// Runs if it does not.
        otherwise: Block,
        /// Comment lines before `else`, and its line.
        else_trivia: Trivia,
    },
    /// Names a value, from here to the end of the block.
    Let {
        /// The name.
        var: VarId,
        /// The value.
        value: Expr,
    },
    /// Fails if a condition does not hold.
    Assert {
        /// The condition.
        condition: Expr,
        /// Message, as written in the source.
        message: String,
    },
    /// Computes a value for its effect.
    Evaluate(Expr),
    /// Runs its body once per thread of an axis.
    Thread {
        /// The thread index.
        var: VarId,
        /// The axis: `threadIdx.x`.
        tag: String,
        /// Number of threads.
        extent: Expr,
        /// What each thread runs.
        body: Block,
        /// Whether it is written without `with` and reaches to the end of the block.
        flat: bool,
    },
    /// A marked region.
    Attr {
        /// What is marked, if not the region as a whole.
        node: Option<Expr>,
        /// The mark.
        key: String,
        /// Its value.
        value: Expr,
        /// The region.
        body: Block,
        /// Whether it is written without `with` and reaches to the end of the block.
        flat: bool,
    },
    /// Nothing; holds the comments of a statement that was removed.
    Nothing,
}

impl Stmt {
    /// A statement that has no source.
    pub fn new(kind: StmtKind) -> Stmt {
        Stmt { kind, span: Span::default(), trivia: Trivia::default() }
    }

    /// The buffers whose memory may still be used when the statement is over, without their being named: their address
    /// is in what the statement stores, gives a name or puts into a structure of the runtime (`tvm_struct_set`), or an
    /// asynchronous copy or region uses them, or they are read in the offset, shape or strides of a buffer. Nobody
    /// knows which statement waits for the copy, and where an element lies is computed anew at every access.
    pub fn escaping(&self, function: &Function) -> Vec<BufId> {
        let mut buffers = Vec::new();
        self.each_expr(|expr| expr.add_kept_by_calls(&mut buffers));
        match &self.kind {
            // Most stores are of numbers with a point, and none of them stores an address.
            StmtKind::Store { buffer, .. } if function.buffers[*buffer].dtype.kind == Kind::Float => {}
            StmtKind::Let { value, .. } | StmtKind::Store { value, .. } => buffers.extend(value.addresses()),
            // A loop variable that counts from an address has it.
            StmtKind::For { min, .. } => buffers.extend(min.addresses()),
            StmtKind::Attr { key, body, .. } if key == "async_scope" => {
                body.iter().for_each(|inner| inner.walk(&mut |stmt| stmt.add_touched(&mut buffers)));
            }
            StmtKind::Declare(buffer) => {
                function.placing_exprs(*buffer).for_each(|expr| expr.add_mentioned(&mut buffers));
            }
            // The place of an element of a list does not depend on the length of the list.
            StmtKind::Alloc(buffer) if function.buffers[*buffer].shape.len() > 1 => {
                function.placing_exprs(*buffer).for_each(|expr| expr.add_mentioned(&mut buffers));
            }
            _ => {}
        }
        buffers
    }

    /// Whether [`Stmt::escaping`] has to be asked. `has_calls` says whether the statement's own expressions, without its
    /// blocks, have a call or a bare address. Walks that visit these expressions anyway notice both on the way, which
    /// saves most statements the walk of `escaping`: without a call and without an address, nothing but a declaration
    /// or a mark lets a buffer escape.
    pub(crate) fn may_let_escape(&self, function: &Function, has_calls: bool) -> bool {
        match &self.kind {
            StmtKind::Attr { .. } | StmtKind::Declare(_) => true,
            StmtKind::Alloc(buffer) => function.buffers[*buffer].shape.len() > 1,
            _ => has_calls,
        }
    }

    /// Adds the buffers that the statement itself loads from, stores to, or takes the address of.
    fn add_touched(&self, buffers: &mut Vec<BufId>) {
        if let StmtKind::Store { buffer, .. } = &self.kind {
            buffers.push(*buffer);
        }
        self.each_expr(|expr| expr.add_mentioned(buffers));
    }

    /// The expressions of the statement itself, without its blocks, in visiting order.
    pub fn exprs(&self) -> SmallVec<[&Expr; 3]> {
        match &self.kind {
            StmtKind::Alloc(_) | StmtKind::Declare(_) | StmtKind::Nothing => SmallVec::new(),
            StmtKind::Store { index, value, .. } => {
                let mut all: SmallVec<[&Expr; 3]> = smallvec![value];
                all.extend(index);
                all
            }
            StmtKind::For { min, extent, .. } => smallvec![min, extent],
            StmtKind::While { condition, .. } | StmtKind::If { condition, .. } | StmtKind::Assert { condition, .. } => {
                smallvec![condition]
            }
            StmtKind::Let { value, .. } | StmtKind::Evaluate(value) => smallvec![value],
            StmtKind::Thread { extent, .. } => smallvec![extent],
            StmtKind::Attr { node, value, .. } => node.iter().chain([value]).collect(),
        }
    }

    /// Calls `visit` on the expressions of [`Stmt::exprs`], in the same order and without a list of them.
    pub fn each_expr<'a>(&'a self, mut visit: impl FnMut(&'a Expr)) {
        match &self.kind {
            StmtKind::Alloc(_) | StmtKind::Declare(_) | StmtKind::Nothing => {}
            StmtKind::Store { index, value, .. } => {
                visit(value);
                index.iter().for_each(visit);
            }
            StmtKind::For { min, extent, .. } => [min, extent].into_iter().for_each(visit),
            StmtKind::While { condition, .. } | StmtKind::If { condition, .. } | StmtKind::Assert { condition, .. } => {
                visit(condition);
            }
            StmtKind::Let { value, .. } | StmtKind::Evaluate(value) => visit(value),
            StmtKind::Thread { extent, .. } => visit(extent),
            StmtKind::Attr { node, value, .. } => node.iter().chain([value]).for_each(visit),
        }
    }

    /// The expressions of the statement itself, to change.
    pub fn exprs_mut(&mut self) -> SmallVec<[&mut Expr; 3]> {
        match &mut self.kind {
            StmtKind::Alloc(_) | StmtKind::Declare(_) | StmtKind::Nothing => SmallVec::new(),
            StmtKind::Store { index, value, .. } => {
                let mut all: SmallVec<[&mut Expr; 3]> = smallvec![value];
                all.extend(index);
                all
            }
            StmtKind::For { min, extent, .. } => smallvec![min, extent],
            StmtKind::While { condition, .. } | StmtKind::If { condition, .. } | StmtKind::Assert { condition, .. } => {
                smallvec![condition]
            }
            StmtKind::Let { value, .. } | StmtKind::Evaluate(value) => smallvec![value],
            StmtKind::Thread { extent, .. } => smallvec![extent],
            StmtKind::Attr { node, value, .. } => node.iter_mut().chain([value]).collect(),
        }
    }

    /// The blocks of the statement, in order.
    pub fn blocks(&self) -> SmallVec<[&Block; 2]> {
        match &self.kind {
            StmtKind::For { body, .. }
            | StmtKind::While { body, .. }
            | StmtKind::Thread { body, .. }
            | StmtKind::Attr { body, .. } => smallvec![body],
            StmtKind::If { then, otherwise, .. } => smallvec![then, otherwise],
            _ => SmallVec::new(),
        }
    }

    /// Whether `test` holds for every block of the statement, in order and without a list of them.
    pub fn all_blocks<'a>(&'a self, mut test: impl FnMut(&'a Block) -> bool) -> bool {
        match &self.kind {
            StmtKind::For { body, .. }
            | StmtKind::While { body, .. }
            | StmtKind::Thread { body, .. }
            | StmtKind::Attr { body, .. } => test(body),
            StmtKind::If { then, otherwise, .. } => test(then) && test(otherwise),
            _ => true,
        }
    }

    /// The blocks of the statement, to change.
    pub fn blocks_mut(&mut self) -> SmallVec<[&mut Block; 2]> {
        match &mut self.kind {
            StmtKind::For { body, .. }
            | StmtKind::While { body, .. }
            | StmtKind::Thread { body, .. }
            | StmtKind::Attr { body, .. } => smallvec![body],
            StmtKind::If { then, otherwise, .. } => smallvec![then, otherwise],
            _ => SmallVec::new(),
        }
    }

    /// Whether this is a region whose body may run at another time, or on other threads, than the loops around it
    /// say.
    pub fn is_opaque_region(&self) -> bool {
        matches!(&self.kind, StmtKind::Attr { key, .. }
            if matches!(key.as_str(), "extern_scope" | "virtual_thread" | UNKNOWN_REGION))
    }

    /// Whether this launches virtual threads: copies of the code rather than threads of the machine.
    pub fn is_virtual_thread(&self) -> bool {
        matches!(&self.kind, StmtKind::Thread { tag, .. } if tag.starts_with("vthread") || tag == "cthread")
    }

    /// Calls `visit` on this statement and everything inside, parents first.
    pub fn walk<'a, F: FnMut(&'a Stmt) + ?Sized>(&'a self, visit: &mut F) {
        visit(self);
        self.all_blocks(|block| {
            block.iter().for_each(|inner| inner.walk(visit));
            true
        });
    }
}
