//! The Program: the structured program every front end lowers to.
//!
//! A Program knows buffers, accesses and control flow, and nothing of the language it came from.
//!
//! # Why it is a crate
//!
//! Lifetimes are read off a Program (`memplan-analysis`), and the dataflow check runs on it without
//! trusting those lifetimes (`memplan-verify`). Both are written once, for MLIR, TVMScript, models and
//! whatever a user brings, and neither knows a compiler.
//!
//! # Example
//!
//! ```
//! use memplan_program::text;
//!
//! let program = text::parse(
//!     "func @double(%in) {
//!        alloc   alloc %x 64
//!        scale   read %in, write %x
//!        return  escape %x
//!      }",
//! )?;
//! assert_eq!((program.functions().len(), program.sites().len()), (1, 1));
//! assert!(text::print(&program).contains("read %in, write %x"));
//! # Ok::<(), text::ParseError>(())
//! ```
//!
//! # Where next
//!
//! [`Program`] for the shape, [`Origin`] and [`Control`] for the meaning, [`ProgramBuilder`] to make
//! one from code, and [`text`] for the form that `memplan dump --stage program` prints and that tests
//! and bug reports are written in.

mod apart;
mod builder;
mod check;
mod name;
mod op;
mod program;
mod results;
pub mod text;
mod value;

pub use apart::Apart;
pub use builder::{OpDraft, ProgramBuilder};
pub use check::ProgramError;
pub use name::{Name, OpName};
pub use op::{Access, AccessKind, Accesses, Await, Control, CopyRange, Op, Overlay, OverlayKind, Trips};
pub use program::{
    Block, BlockId, Branch, Function, FunctionId, OpId, PipeId, Program, Region, RegionId, Target, TokenId, ValueId,
};
pub use results::Results;
pub use value::{ByteRange, Definition, Extent, Origin, Site, SiteId, Size, Value};
