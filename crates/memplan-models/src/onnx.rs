//! ONNX models.
//!
//! [`read`] makes a [`Model`] of an `.onnx` file without touching its weights;
//! shapes that the file does not say are inferred (`infer`). [`reorder`] writes
//! the model with its nodes in another order, [`rewrite`] with other nodes, and [`description`] says what a file
//! computes, so that it can be proved that a changed one computes the same.

mod build;
mod context;
mod convert;
pub mod description;
mod draft;
mod evaluate;
mod infer;
mod meaning;
mod missing;
pub mod nodes;
mod read;
pub mod reorder;
pub mod rewrite;
mod rules;
mod shape;
mod values;
mod wire;

pub use read::{Options, ReadModel, is_onnx, read};

#[allow(unused_imports, reason = "for the documentation")]
use crate::graph::Model;
