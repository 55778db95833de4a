//! Files in, files out: records of lifetimes, models, snapshots and traces become problems, and plans
//! are written in the forms that other tools read.
//!
//! # Why it is a crate
//!
//! Formats bring dependencies (`csv`, `serde`, `toml`) that planning and checking do not need. And they
//! meet hostile bytes: everything that reads a file is here, takes any bytes, and ends in a
//! [`ReadError`] that knows its place, never in a panic.
//!
//! # Example
//!
//! ```
//! use memplan_models::records;
//!
//! let table = b"id,lower,upper,size\nconv1,0,3,4096\nconv2,1,4,2048\n";
//! let problem = records::read(table, None, "net.csv")?.problem;
//! assert_eq!(problem.buffers().len(), 2);
//!
//! let error = records::read(b"id,lower,uppr,size\na,0,2,64\n", None, "net.csv").err().ok_or("a typo")?;
//! assert_eq!(error.help.as_deref(), Some("is `uppr` a typo?"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where next
//!
//! - [`records`]: problems as plain lifetime records (`.csv`, `.json`, `.trace`), read and written.
//! - [`plan`]: plans, written in our formats, and read in ours and those of other tools.
//! - [`graph`]: a model as a graph of ops and tensors, the same for [`tflite`] and [`onnx`]; its orders
//!   of execution, and the problem that it is.
//! - [`snapshot`] and [`kineto`]: what PyTorch records about its memory; [`xla`]: XLA's dumps.
//! - [`npz`]: which arrays of a weight file are equal.
//! - [`source`]: files of which only the parts that are needed are read.

mod allocations;
mod flatbuffer;
pub mod graph;
mod item_lines;
mod json;
pub mod kineto;
pub mod npz;
pub mod onnx;
mod pickle;
pub mod plan;
pub mod records;
pub mod snapshot;
pub mod source;
pub mod tflite;
pub mod xla;

pub use memplan_core::{ReadError, utf8};
pub use records::{FORMATS, RecordFormat, Records};
