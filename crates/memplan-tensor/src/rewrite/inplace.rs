//! May a result take the place of an operand? The structural test of the original (TVM's `StorageRewrite`), which
//! looks at the form of the accesses only.
//!
//! In `for i: B[i] = f(A[i])`, the *destination* B can be computed into the memory of the *source* A if A is not needed
//! afterwards. The test looks at one statement and asks for two things: every load of the source stands in the value
//! of a store to the destination, with the same subscripts and of the same element type; and the destination is not
//! read.
//!
//! That is not sufficient. After a second write to the same element, or a write to the source, the result may be wrong
//! all the same; [`super::hazard`] proves that neither does harm.

use crate::DType;
use crate::ir::{BufId, Expr, Function, JUMPS, Memory, Stmt, StmtKind, UNKNOWN_REGION};

/// Whether accesses through views count as accesses of the buffer they view.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Views {
    /// An access through a view counts as an access of the viewed buffer.
    Followed,
    /// An access through a view counts as an access of some other buffer: the mistake of the original.
    Overlooked,
}

/// Whether `stmt` is of a kind that the original looks at, and every access in it to `dst` and `src` fits the pattern
/// of the module documentation.
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
    let mut check = Check { function, dst, src, views, in_index: false, store: None };
    allowed && check.statement(stmt)
}

/// The walk over a statement that tests the pattern. Its methods return whether what they visit fits.
struct Check<'a> {
    function: &'a Function,
    dst: BufId,
    src: BufId,
    views: Views,
    /// Whether the visited expression is inside of a subscript.
    in_index: bool,
    /// If the value of a store to the destination is being looked at: the subscripts of the store, and the value's
    /// type.
    store: Option<(&'a [Expr], DType)>,
}

impl<'a> Check<'a> {
    /// Whether a statement leaves the destination free to take the place of the source: it reads the source only to
    /// compute the element of the destination at the same index.
    fn statement(&mut self, stmt: &'a Stmt) -> bool {
        let own = match &stmt.kind {
            // Nothing is known about the accesses of an external region.
            StmtKind::Attr { key, .. } if key == "extern_scope" || key == UNKNOWN_REGION => false,
            StmtKind::Store { buffer, index, value } => {
                // `in_index` makes every load in a subscript fail, of any buffer.
                self.in_index = true;
                let index_fits = index.iter().all(|index| self.expr(index));
                self.in_index = false;
                if self.resolve(*buffer) == Some(self.dst) {
                    self.store = Some((index, value.dtype(self.function)));
                }
                let value_fits = self.expr(value);
                self.store = None;
                index_fits && value_fits && self.plain(*buffer)
            }
            // `Stmt::exprs` has no expressions of buffers, so the extents of this one are looked at here. Offsets and
            // strides of views need no look: they are computed anew at every access of the view, so a buffer that they
            // read keeps memory of its own (`Sequence::held`) and is neither the source nor the destination.
            StmtKind::Alloc(buffer) => self.function.buffers[*buffer].shape.iter().all(|extent| self.expr(extent)),
            _ => stmt.exprs().into_iter().all(|expr| self.expr(expr)),
        };
        own && stmt.blocks().into_iter().flatten().all(|inner| self.statement(inner))
    }

    /// The buffer that a name stands for (of a view, the viewed one if views are followed), if it is one of the two.
    fn resolve(&self, buffer: BufId) -> Option<BufId> {
        let root = if self.views == Views::Followed { self.function.root(buffer) } else { buffer };
        (root == self.dst || root == self.src).then_some(root)
    }

    /// Whether a subscript of a name (a buffer or a view of it) means the same element as the same subscript of the
    /// buffer itself: no offset, the same type and shape, and no strides, with which one step of a subscript is not one
    /// element. Names of other buffers do not matter.
    fn plain(&self, buffer: BufId) -> bool {
        let Some(root) = self.resolve(buffer) else {
            return true;
        };
        let (name, root) = (&self.function.buffers[buffer], &self.function.buffers[root]);
        let shifted = matches!(&name.memory, Memory::View { elem_offset: Some(_), .. });
        !shifted
            && !name.has_strides()
            && !root.has_strides()
            && name.dtype == root.dtype
            && (name.shape.len() == 1 && root.shape.len() == 1 || name.shape == root.shape)
    }

    /// Whether the loads in an expression fit. The original permits no load inside of a subscript, of whatever buffer:
    /// `B[A[i]]` fails.
    fn expr(&mut self, expr: &'a Expr) -> bool {
        match expr {
            // Whoever has the address of one of the buffers may access any element. The address of a view is that of
            // its buffer.
            Expr::Data(buffer) => self.resolve(self.function.root(*buffer)).is_none(),
            // A jump (`break`, `continue`) may skip the stores after it, so that elements are left as they were. The
            // original overlooks jumps, so the compatible mode's own test (`Overlooked`) does, too.
            Expr::Call { name, .. } if self.views == Views::Followed && JUMPS.contains(&name.as_str()) => false,
            Expr::Load { buffer, index } => {
                if self.in_index || !self.plain(*buffer) {
                    return false;
                }
                let allowed = match self.resolve(*buffer) {
                    // The destination is read.
                    Some(root) if root == self.dst => false,
                    // The source is read: only for the element of the destination with the same subscripts.
                    Some(_) => {
                        let dtype = expr.dtype(self.function);
                        self.store.is_some_and(|(target, value)| target == index.as_slice() && value == dtype)
                    }
                    None => true,
                };
                self.in_index = true;
                let index_fits = index.iter().all(|index| self.expr(index));
                self.in_index = false;
                allowed && index_fits
            }
            _ => expr.all_children(|child| self.expr(child)),
        }
    }
}
