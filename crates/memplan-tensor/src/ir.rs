//! The loop IR: functions of loops, conditions, stores and allocations over typed buffers.
//!
//! ```text
//! def main(E: T.Buffer((8,), "float32"), O: T.Buffer((8,), "float32")):
//!     A = T.alloc_buffer((8,))            Alloc: from here to the end of the block
//!     for i in range(8):                  For
//!         A[i] = E[i] + T.float32(1.0)    Store of an Expr
//! ```
//!
//! A [`Function`] owns tables of variables and buffers; statements and
//! expressions name them by id, so two buffers that print alike are never
//! confused. Allocations, views and lets are *flat* statements: they reach to the
//! end of the block that holds them, and a thousand of them nest no deeper than one.
//!
//! Trees nest at most [`MAX_NESTING`] deep: readers and builders refuse deeper ones, which is what
//! lets every walk over them be an ordinary recursive function.

mod annotations;
mod expr;
mod function;
mod scope;
mod shared;
mod stmt;

pub use expr::{BinaryOp, Expr, Index, KEYWORD, LIST, METHOD, OTHER_FUNCTION, SLICE, TUPLE, is_asynchronous};
pub use function::{BufId, Buffer, Function, Memory, Param, Var, VarId};
pub use scope::{Rank, StorageScope, thread_rank};
pub use shared::Shared;
pub use stmt::{Block, ForKind, JUMPS, PREDICATE, Stmt, StmtKind, Trivia, UNKNOWN_REGION};

/// The deepest nesting of statements or of expressions that any reader or builder accepts.
pub const MAX_NESTING: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    /// A large function is as fast as its nodes are small: beyond the caches, time goes by bytes.
    #[test]
    fn nodes_are_small() {
        assert!(size_of::<Expr>() <= 56);
        assert!(size_of::<Stmt>() <= 200);
        assert!(size_of::<Buffer>() <= 192);
    }
}
