//! The Program: the structured program every front end lowers to.
//!
//! A Program knows buffers, accesses and control flow, and nothing of the
//! language it came from. Lifetimes are read off it, and the dataflow check
//! runs on it without trusting those lifetimes. Start at [`Program`] for the
//! shape, at [`Origin`] and [`Control`] for the meaning, at
//! [`ProgramBuilder`] to make one, and at [`text`] for the form that
//! `memplan dump --stage program` prints.

mod apart;
mod builder;
mod check;
mod op;
mod program;
pub mod text;
mod value;

pub use apart::Apart;
pub use builder::{OpDraft, ProgramBuilder};
pub use check::ProgramError;
pub use op::{Access, AccessKind, Await, Control, CopyRange, Op, Overlay, OverlayKind, Trips};
pub use program::{
    Block, BlockId, Branch, Function, FunctionId, OpId, PipeId, Program, Region, RegionId, Target, TokenId, ValueId,
};
pub use value::{ByteRange, Definition, Extent, Origin, Site, SiteId, Size, Value};
