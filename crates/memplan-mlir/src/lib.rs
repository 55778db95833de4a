//! MLIR text for memplan: read without loss, lowered to programs, rewritten in place.
//!
//! # Why it is a crate
//!
//! MLIR's own libraries are gigabytes of C++ that change with every release. memplan needs to know
//! which ops touch which memory and where they stand in the text, no more. So this crate reads the text
//! itself, generic and custom forms, asks a table about every op, and changes only the bytes it has to.
//!
//! # Example
//!
//! ```
//! use memplan_mlir::{Dialects, Document, lower};
//!
//! let text = "func.func @f(%in: memref<16xf32>) {
//!   %a = memref.alloc() : memref<16xf32>
//!   memref.copy %in, %a : memref<16xf32> to memref<16xf32>
//!   return
//! }";
//! let document = Document::read(text, Dialects::builtin())?;
//! let lowered = lower(&document)?;
//! assert_eq!(lowered.program.sites().len(), 1);
//! assert_eq!(document.name(lowered.sites.as_slice()[0]), "memref.alloc");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where next
//!
//! - [`Document`]: a lossless reader of MLIR text, generic and custom forms.
//! - [`Type`]: the structure of a type, from its text.
//! - [`Dialects`]: what is known about ops, in a table for each dialect; users can add rows.
//! - [`lower()`]: every function of a document as a `Program`.
//! - [`pass`]: rewrites of a document.
//! - [`written`]: where the buffers are in a rewritten text.
//! - [`Edits`]: changes to a text; what they do not touch stays byte for byte.

pub mod attribute;
pub mod bounds;
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
pub use error::{Excerpt, Note, TextError};
pub use fuzz::fuzz_check;
pub use lower::{LowerError, Lowered, lower, lower_kernels, lower_workspaces};
pub use memplan_core::{ApplyError, Edits};
pub use ty::{Dimension, Layout, MemRef, Type};
