//! ONNX models: read, turned into a network.

use std::sync::Arc;

use memplan_models::ReadError;
use memplan_models::onnx::{self, Options};
use memplan_models::source::ReadAt;

use super::{Format, Input, ReadOptions};
use crate::network::{Kind, Network};

/// An `.onnx` file.
pub(super) struct Onnx;

impl Format for Onnx {
    fn name(&self) -> &'static str {
        "onnx"
    }

    fn describe(&self) -> &'static str {
        "an ONNX model: the activations of its nodes"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["onnx"]
    }

    fn sniff(&self, text: &str) -> bool {
        onnx::is_onnx(text.as_bytes())
    }

    fn sniff_binary(&self, head: &[u8]) -> bool {
        onnx::is_onnx(head)
    }

    fn is_binary(&self) -> bool {
        true
    }

    fn read(&self, text: &str, options: &ReadOptions) -> Result<Input, ReadError> {
        self.read_binary(&text.as_bytes(), options)
    }

    /// The tensors of an `.onnx` model as a problem, with the network that they belong to.
    fn read_binary(&self, source: &dyn ReadAt, options: &ReadOptions) -> Result<Input, ReadError> {
        // What the user says about all models, in the form that the reader of this format takes.
        let models = &options.models;
        let reader = Options { dimensions: models.dimensions.clone(), sizes: models.sizes.clone() };
        let read = onnx::read(source, &reader)?;
        let network = Network::new(Kind::Onnx { nodes: read.nodes }, read.model, options.models.assumptions)?;
        let problem = network.problem().clone();
        Ok(Input { network: Some(Arc::new(network)), ..Input::of_problem(problem, read.notes) })
    }
}
