//! TensorFlow Lite models.
//!
//! - [`read`] makes a [`Model`] of a `.tflite` file without touching its weights.
//! - [`scratch`] knows how much memory the kernels of a runtime ask for besides tensors.
//! - [`arena`] is the planner of TensorFlow Lite Micro, to compare with.
//! - [`tail`] is what that runtime keeps in its arena beside tensors and scratch memory.
//! - [`offline`] writes a model with our plan inside.
//! - [`attributes`] are the options of operators.
//! - [`reorder`] writes a model with its operators in another order, [`rewrite`] with other operators.
//! - [`description`] is what the check of changed models is told about a file.

mod amount;
pub mod arena;
pub mod attributes;
pub mod description;
mod envelope;
mod meaning;
pub mod offline;
mod options;
mod read;
pub mod reorder;
pub mod rewrite;
pub mod scratch;
pub mod tail;
mod vocabulary;

pub use read::{Options, ReadModel, SIGNATURE, is_tflite, read};

#[allow(unused_imports, reason = "for the documentation")]
use crate::graph::Model;
