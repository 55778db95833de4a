//! Files in, files out.
//!
//! [`records`] reads problems given as plain lifetime records (`.csv`, `.json`,
//! `.trace`) and writes them; [`plan`] writes plans and reads anybody's; [`npz`]
//! says which arrays of a weight file are equal. Readers
//! take any bytes: what is wrong ends in a [`ReadError`] that knows its place in
//! the text, never in a panic.

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
