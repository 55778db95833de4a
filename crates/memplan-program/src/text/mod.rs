//! The text form of a Program: what `memplan dump --stage program` prints,
//! tests are written in and bug reports contain.
//!
//! One op a line: its name, then comma-separated clauses.
//!
//! ```
//! let source = "
//! func @main(%in) {
//!   memref.alloc  alloc %x 64 align 16
//!   scf.for  loop 0.. {
//!     linalg.fill  write %x
//!     linalg.add  read %x, read %in, update %in
//!     leave
//!   }
//!   func.return  escape %in
//!   leave
//! }
//! ";
//! let program = memplan_program::text::parse(source)?;
//! assert_eq!(program.ops().len(), 5);
//! let printed = memplan_program::text::print(&program);
//! assert_eq!(memplan_program::text::parse(&printed)?, program);
//! # Ok::<(), memplan_program::text::ParseError>(())
//! ```
//!
//! `docs/program-text.md` describes every clause.

mod lex;
mod parse;
mod print;

pub use parse::{ParseError, parse};
pub use print::print;
