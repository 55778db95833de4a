//! May a result take the place of an operand? The structural test of the original.
//!
//! `for i: B[i] = f(A[i])` with A not needed afterwards: B can be computed into A's memory. The test
//! looks at one statement and asks that every load of the source stands in a store to the destination at the very same
//! index and with the same element type, and that the destination is not read.
//!
//! That is not sufficient. A second write to the same element, or a write to the source, breaks it;
//! [`super::hazard`] proves that neither happens.

use crate::DType;
use crate::ir::{BufId, Expr, Function, JUMPS, Memory, Stmt, StmtKind, UNKNOWN_REGION};

/// Whether accesses through views count as accesses of the buffer they view.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Views {
    /// An access through a view counts as an access of the viewed buffer.
    Followed,
    /// The original takes them for accesses of something else, and so overlooks them.
    Overlooked,
}

/// Whether every access in `stmt` fits the pattern.
pub(super) fn fits(function: &Function, stmt: &Stmt, dst: BufId, src: BufId, views: Views) -> bool {
    let allowed = matches!(
        stmt.kind,
        StmtKind::For { .. }
            | StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::Thread { .. }
            | StmtKind::Attr { .. }
            | StmtKind::Store { .. }
    );
    let mut check = Check { function, dst, src, views, index_depth: 0, store: None };
    allowed && check.statement(stmt)
}

struct Check<'a> {
    function: &'a Function,
    dst: BufId,
    src: BufId,
    views: Views,
    /// How many subscripts we are inside of.
    index_depth: usize,
    /// The store to the destination whose value is being looked at.
    store: Option<(&'a [Expr], DType)>,
}

impl<'a> Check<'a> {
    /// Whether a statement leaves the destination free to take the place of the source: it reads the source only to
    /// compute the element of the destination at the same index.
    fn statement(&mut self, stmt: &'a Stmt) -> bool {
        let own = match &stmt.kind {
            StmtKind::Attr { key, .. } if key == "extern_scope" || key == UNKNOWN_REGION => false,
            StmtKind::Store { buffer, index, value } => {
                self.index_depth += 1;
                let index_fits = index.iter().all(|index| self.expr(index));
                self.index_depth -= 1;
                if self.resolve(*buffer) == Some(self.dst) {
                    self.store = Some((index, value.dtype(self.function)));
                }
                let value_fits = self.expr(value);
                self.store = None;
                index_fits && value_fits && self.plain(*buffer)
            }
            StmtKind::Alloc(buffer) => self.function.buffers[*buffer].shape.iter().all(|extent| self.expr(extent)),
            _ => stmt.exprs().into_iter().all(|expr| self.expr(expr)),
        };
        own && stmt.blocks().into_iter().flatten().all(|inner| self.statement(inner))
    }

    /// The buffer behind a name, if it is one of the two.
    fn resolve(&self, buffer: BufId) -> Option<BufId> {
        let root = if self.views == Views::Followed { self.function.root(buffer) } else { buffer };
        (root == self.dst || root == self.src).then_some(root)
    }

    /// Whether a name of one of the two buffers counts elements as the buffer itself does.
    fn plain(&self, buffer: BufId) -> bool {
        let Some(root) = self.resolve(buffer) else {
            return true;
        };
        let (name, root) = (&self.function.buffers[buffer], &self.function.buffers[root]);
        let shifted = matches!(&name.memory, Memory::View { elem_offset: Some(_), .. });
        !shifted
            && name.dtype == root.dtype
            && (name.shape.len() == 1 && root.shape.len() == 1 || name.shape == root.shape)
    }

    /// Whether an expression does so. An index may read neither buffer.
    fn expr(&mut self, expr: &'a Expr) -> bool {
        match expr {
            // A view's address is its buffer's.
            Expr::Data(buffer) => self.resolve(self.function.root(*buffer)).is_none(),
            // Behind a jump an element may be left as it was.
            Expr::Call { name, .. } if self.views == Views::Followed && JUMPS.contains(&name.as_str()) => false,
            Expr::Load { buffer, index } => {
                if self.index_depth > 0 || !self.plain(*buffer) {
                    return false;
                }
                let allowed = match self.resolve(*buffer) {
                    Some(root) if root == self.dst => false,
                    Some(_) => {
                        let dtype = expr.dtype(self.function);
                        self.store.is_some_and(|(target, value)| target == index.as_slice() && value == dtype)
                    }
                    None => true,
                };
                self.index_depth += 1;
                let index_fits = index.iter().all(|index| self.expr(index));
                self.index_depth -= 1;
                allowed && index_fits
            }
            _ => expr.all_children(|child| self.expr(child)),
        }
    }
}
