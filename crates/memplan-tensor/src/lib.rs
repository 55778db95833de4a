//! Tensor programs: graphs of tensor operations and their schedules, the loop IR, TVMScript, an interpreter and the
//! storage rewrite.

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

pub use dtype::{DType, Kind, ParseDTypeError};
pub use flatten::flatten_buffers;
