//! Changes of a network that make it need less memory and leave its results as they are.
//!
//! ```text
//!   Net ──► Schedule ──► Tiling, Tiling, … ──► Chosen ──► Candidate { rewrite, costs }
//!           order,       a segment of it,       which of
//!           clones       tile by tile           them
//! ```
//!
//! - [`layer`] says what an op computes from what; [`tflite`] and [`onnx`] say it for the operators of a model;
//! - [`net`] has the network and its *schedules*: ops in some order, some of them more than once;
//! - [`recompute`] looks for schedules in which ops run again;
//! - [`patch`] executes a segment of a schedule tile by tile; [`segment`] looks for such segments;
//! - [`choice`] chooses among them; [`candidate`] makes a change of the model out of a choice.
//!
//! Nothing here plans or writes. What a change really needs is found out by whoever writes the model, reads it again and
//! plans it: the estimates here only decide what is tried first.

pub mod candidate;
pub mod choice;
pub mod layer;
mod live;
pub mod net;
pub mod onnx;
pub mod patch;
pub mod recompute;
pub mod region;
pub mod segment;
pub mod tflite;

pub use candidate::{Allowed, Candidate, Change, candidates};
pub use net::{Dialect, Net};
