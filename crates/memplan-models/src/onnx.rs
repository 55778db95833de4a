//! ONNX models.
//!
//! [`read`] makes a [`Model`] of an `.onnx` file without touching its weights;
//! shapes that the file does not say are inferred (`infer`). [`reorder`] writes
//! the model with its nodes in another order.

mod evaluate;
mod infer;
mod read;
pub mod reorder;
mod shape;
mod wire;

pub use read::{Options, ReadModel, is_onnx, read};

#[allow(unused_imports, reason = "for the documentation")]
use crate::graph::Model;
