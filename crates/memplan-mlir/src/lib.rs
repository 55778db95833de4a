//! MLIR text for memplan.
//!
//! - [`Document`]: a lossless reader of MLIR text, generic and custom forms.
//! - [`Type`]: the structure of a type, from its text.
//! - [`Dialects`]: what is known about ops, one table a dialect, extensible.
//! - [`lower()`]: every function of a document as a `Program`.
//! - [`pass`]: rewrites of a document.
//! - [`written`]: where the buffers are in a rewritten text.
//! - [`Edits`]: changes to a text; what they do not touch stays byte for byte.

pub mod attribute;
pub mod bounds;
mod classes;
pub mod dialect;
mod document;
mod error;
mod fuzz;
mod hash;
mod lex;
mod lower;
pub mod pass;
mod read;
mod ty;
pub mod written;

pub use dialect::Dialects;
pub use document::{
    Block, BlockId, Definition, Document, Form, Group, NameId, Op, OpId, Region, RegionId, Successor, TypeId, Value,
    ValueId,
};
pub use error::{Excerpt, Note, ReadError};
pub use fuzz::fuzz_check;
pub use lower::{LowerError, Lowered, lower, lower_kernels, lower_workspaces};
pub use memplan_core::{ApplyError, Edits};
pub use ty::{Dimension, Layout, MemRef, Type};
