//! TensorFlow Lite models: read, turned into a network.

use std::sync::Arc;

use memplan_models::ReadError;
use memplan_models::source::ReadAt;
use memplan_models::tflite::{self, Options};

use super::{Format, Input, PeerPlan, ReadOptions};
use crate::network::{Kind, Network};

/// A `.tflite` file.
pub(super) struct Tflite;

impl Format for Tflite {
    fn name(&self) -> &'static str {
        "tflite"
    }

    fn describe(&self) -> &'static str {
        "a TensorFlow Lite model: the activations of its operators"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["tflite", "lite"]
    }

    fn sniff(&self, text: &str) -> bool {
        tflite::is_tflite(text.as_bytes())
    }

    fn sniff_binary(&self, head: &[u8]) -> bool {
        tflite::is_tflite(head)
    }

    fn is_binary(&self) -> bool {
        true
    }

    fn read(&self, text: &str, options: &ReadOptions) -> Result<Input, ReadError> {
        self.read_binary(&text.as_bytes(), options)
    }

    /// The tensors of a `.tflite` model as a problem, with the network that they belong to. If TensorFlow Lite Micro's
    /// own plan can be foreseen, it stands beside as a peer: a plan of another tool, for comparison.
    fn read_binary(&self, source: &dyn ReadAt, options: &ReadOptions) -> Result<Input, ReadError> {
        let reader = Options { scratch: options.models.scratch.clone() };
        let read = tflite::read(source, &reader)?;
        let network = Network::new(Kind::Tflite, read.model, options.models.assumptions)?
            .with_runtime(read.unmeasured, read.tail);
        // The runtime reuses the memory of inputs. Its plan stands beside ours only if ours may do so, too.
        let is_comparable = network.runtime_is_known() && options.models.assumptions.reuse_inputs;
        let runtime = || PeerPlan { name: "tflm", plan: network.runtime_plan() };
        let peers = is_comparable.then(runtime).into_iter().collect();
        let problem = network.problem().clone();
        Ok(Input { network: Some(Arc::new(network)), peers, ..Input::of_problem(problem, read.notes) })
    }
}
