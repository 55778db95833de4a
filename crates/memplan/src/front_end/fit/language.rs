//! What differs between the formats of models that are changed.
//!
//! | | `.tflite` | `.onnx` |
//! |---|---|---|
//! | padding of a tile | a border that is put around it before | numbers in the node |
//! | what counts | TensorFlow Lite Micro's arena, its records included | the planned tensors |
//! | the plan | goes into the model | is not written |
//!
//! A `Net` is a network as `memplan_fit` sees it: the graph, for each op a *layer* that says what
//! it computes from what, and a `Dialect`, which says what changed ops the format can express and
//! how many bytes the runtime keeps for each. A `Rewrite` lists the ops and new tensors of a
//! changed model. The *tail* is what TensorFlow Lite Micro keeps for itself in its arena.

use std::io;

use memplan_core::{Bytes, Plan, ReadError};
use memplan_fit::{Dialect, Net};
use memplan_models::graph::Home;
use memplan_models::graph::rewrite::Rewrite;
use memplan_models::source::{Assembled, ReadAt, copy_range};
use memplan_models::{onnx, tflite};
use memplan_verify::equivalence::{self, Contents};

use super::{Counted, plain};
use crate::driver::Failure;
use crate::format::{Input, ReadOptions};
use crate::front_end::FrontEnd;
use crate::network::{Kind, Network};
use crate::source::Source;

/// The format of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// TensorFlow Lite.
    Tflite,
    /// ONNX.
    Onnx,
}

/// What a planned model needs.
pub(super) struct Memory {
    /// All of the runtime's arena.
    pub(super) arena: Bytes,
    /// What of it tensors and scratch memory take.
    pub(super) tensors: Bytes,
    /// What the memory of the tensors needs while the runtime starts: it keeps lists there before any tensor is used.
    pub(super) start: Bytes,
    /// What the runtime keeps.
    pub(super) records: Bytes,
    /// Whether the runtime needs no more than that: see [`Version::is_exact`](super::Version::is_exact).
    pub(super) is_exact: bool,
}

impl Language {
    /// The format that a network was read from.
    pub(super) fn of(network: &Network) -> Language {
        match network.kind() {
            Kind::Tflite => Language::Tflite,
            Kind::Onnx { .. } => Language::Onnx,
        }
    }

    /// The network as `memplan_fit` takes it: what each op computes from what, and which changes the format can express
    /// at which cost. If only tensors are counted, the records that the runtime keeps for additional ops are in another
    /// memory and cost nearly nothing.
    pub(super) fn net<'a>(network: &'a Network, file: &Source, counted: Counted) -> Result<Net<'a>, Failure> {
        let Some(graph) = network.model().main() else {
            return Err(Failure::NoPlan("the model has no graph".to_owned()));
        };
        let content = file.content();
        let (layers, dialect) = match network.kind() {
            Kind::Tflite => {
                let attributes = tflite::attributes::read(content, graph)?;
                (memplan_fit::tflite::layers(graph, &attributes), Dialect::TFLITE)
            }
            Kind::Onnx { nodes } => {
                let file = onnx::nodes::read(content)?;
                (memplan_fit::onnx::layers(graph, &file, nodes), Dialect::ONNX)
            }
        };
        let dialect = match counted {
            Counted::Arena => dialect,
            Counted::Tensors => dialect.with_records_elsewhere(),
        };
        // The alignment of offsets, and whether the memory of inputs may be reused: the network's
        // own problem was made with these, so estimates of changes and the plans of changed models
        // agree.
        let (alignment, reuses_inputs) = (network.model().alignment, network.assumptions().reuse_inputs);
        Ok(Net { graph, layers, dialect, alignment, reuses_inputs })
    }

    /// The model with other ops, written in memory and read again as any model is. A `.tflite` file
    /// gets new tables in front of all its old bytes (the new tables refer to the old weights
    /// behind them), an `.onnx` file is put together from pieces of the old one. The result's file
    /// is the new one, and is read with the old file's options.
    pub(super) fn rewritten(network: &Network, net: &Net, file: &Source, rewrite: &Rewrite) -> Result<Input, Failure> {
        let content = file.content();
        let bytes = match network.kind() {
            Kind::Tflite => {
                let mut bytes = tflite::rewrite::prefix(content, net.graph, rewrite)?;
                copy_range(content, 0, content.size(), &mut bytes).map_err(unreadable)?;
                bytes
            }
            Kind::Onnx { nodes } => {
                let pieces = onnx::rewrite::pieces(content, net.graph, nodes, rewrite)?;
                let mut bytes = Vec::new();
                Assembled::new(&[], content, &pieces).and_then(|new| new.write(&mut bytes)).map_err(unreadable)?;
                bytes
            }
        };
        plain().read(&Source { bytes: bytes.into(), disk: None, ..file.clone() })
    }

    /// What a model computes, for the proof that another one computes the same. `contents` collects the constants of
    /// all models that are compared.
    pub(super) fn describe(
        self,
        content: &dyn ReadAt,
        options: &ReadOptions,
        contents: &mut Contents,
    ) -> Result<equivalence::Network, ReadError> {
        match self {
            Language::Tflite => tflite::description::describe(content, contents),
            Language::Onnx => {
                let (dimensions, sizes) = (options.models.dimensions.clone(), options.models.sizes.clone());
                onnx::description::describe(content, &onnx::Options { dimensions, sizes }, contents)
            }
        }
    }

    /// What a network needs with a plan. No runtime for ONNX models is known here, so only the
    /// planned tensors count there: the extents of all spaces, added up.
    pub(super) fn memory(self, network: &Network, plan: &Plan) -> Memory {
        if self == Language::Onnx {
            let tensors = Bytes(plan.extents.iter().map(|extent| extent.0).fold(0, u64::saturating_add));
            return Memory { arena: tensors, tensors, start: Bytes::ZERO, records: Bytes::ZERO, is_exact: true };
        }
        // `unmeasured` are the ops whose scratch memory is not known. If there are any, the written
        // model holds no offsets and the runtime places all tensors itself. Then only a lower bound
        // is known.
        let is_measured = network.unmeasured().is_empty();
        let tensors = if is_measured { network.runtime_extent(plan) } else { network.runtime_at_least() };
        // A tensor whose size is known only at run time comes on top of everything that is placed here.
        let mut all = network.model().graphs.iter().flat_map(|graph| graph.tensors.iter());
        let is_sized = !all.any(|tensor| tensor.home == Home::Runtime);
        // `unknown` are the ops of which it is not known what the runtime keeps for them.
        let is_exact = is_measured && is_sized && network.tail().unknown.is_empty();
        let tail = network.tail();
        // `roles` has an entry for each buffer: while it starts, the runtime lists all buffers of
        // its arena.
        let start = tail.to_start_below(network.roles().len());
        Memory { arena: network.arena(tensors), tensors, start, records: tail.bytes, is_exact }
    }
}

/// The error about a model that could not be copied.
fn unreadable(error: io::Error) -> ReadError {
    ReadError::at_byte("read::failed", 0, error.to_string())
}
