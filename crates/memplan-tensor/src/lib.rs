//! Tensor programs: graphs of tensor operations and their schedules, the loop IR, TVMScript, an
//! interpreter and the storage rewrite.
//!
//! # Why it is a crate
//!
//! Loops over tensors know more than an MLIR text tells: the index expressions of every access. With
//! them one can decide whether a loop may compute in place, and execute a program before and after a
//! change to see that it computes the same. Nothing else in memplan needs that machinery.
//!
//! # Example
//!
//! ```
//! use memplan_tensor::interpret::RunOptions;
//! use memplan_tensor::pass;
//!
//! let text = r#"
//! @T.prim_func(s_tir=True)
//! def main(a: T.Buffer((4,), "int32"), b: T.Buffer((4,), "int32")):
//!     x = T.alloc_buffer((4,), "int32")
//!     for i in range(4):
//!         x[i] = a[i] - a[i]
//!     for i in range(4):
//!         b[i] = x[i] + 1
//! "#;
//! let printed = pass::run_text(text, &RunOptions::default())?;
//! assert!(printed.contains("b") && printed.contains("1"), "{printed}");
//! # Ok::<(), pass::PassError>(())
//! ```
//!
//! # Where next
//!
//! - [`te`]: tensor expressions and schedules, lowered step by step to loops.
//! - [`script`]: TVMScript, read and printed; [`ir`]: the loops themselves.
//! - [`rewrite`]: the storage rewrite; [`pass`]: the same from text to text.
//! - [`interpret`]: runs a program; [`places`]: where the buffers are in a rewritten one.
//! - [`lower`]: loops as a `Program`, for the dataflow check.

mod dtype;
mod flatten;
pub mod interpret;
pub mod ir;
mod linear;
pub mod lower;
mod nest;
pub mod pass;
pub mod places;
pub mod rewrite;
pub mod script;
pub mod te;

pub use dtype::{DType, Kind, ParseDTypeError, SmallFloat};
pub use flatten::flatten_buffers;
