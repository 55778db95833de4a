//! Writes a model with an offline plan inside.
//!
//! TensorFlow Lite Micro looks for metadata called `OfflineMemoryAllocation`:
//! 32-bit numbers, little endian, in a buffer of the model.
//!
//! ```text
//!   1                 version
//!   1                 subgraphs
//!   4                 tensors
//!   -1 0 1024 0       an offset for each tensor, subgraph after subgraph; -1: the runtime's choice
//! ```
//!
//! The runtime uses the offsets and does not check them: with a wrong plan it
//! computes wrong results without an error. So a plan is checked before it is written.
//!
//! The metadata and its buffer go in front of the old file, which follows as it is (`envelope`). Old metadata of
//! the same name is left out.

use std::io::{self, Write};

use memplan_core::{BufferId, Bytes, Id, IndexVec, Plan, Problem};

use super::envelope::Envelope;
use super::read::{check_signature, field};
use crate::ReadError;
use crate::flatbuffer::Table;
use crate::flatbuffer::build::{Node, Value};
use crate::graph::Model;
use crate::graph::problem::Role;
use crate::source::{ReadAt, Window, copy_range};

/// The name of the metadata.
pub const METADATA: &str = "OfflineMemoryAllocation";

/// An offset for each tensor of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfflinePlan {
    subgraphs: usize,
    offsets: Vec<i32>,
}

/// Why a plan cannot be written into a model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OfflineError {
    /// It uses several memories; the format has one.
    SeveralSpaces,
    /// An offset does not go into 31 bits, or not to the runtime's alignment.
    Offset(String, Bytes),
}

impl std::fmt::Display for OfflineError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            OfflineError::SeveralSpaces => {
                write!(f, "a plan inside a model is for one memory, and this one uses several")
            }
            OfflineError::Offset(name, offset) => {
                write!(f, "`{name}` is at offset {offset}, which is not a multiple of 16 below 2^31")
            }
        }
    }
}

impl std::error::Error for OfflineError {}

impl OfflinePlan {
    /// The offsets of a plan that has been checked; `roles` says which tensor each buffer of the problem is. Tensors
    /// that the plan does not place are left to the runtime.
    pub fn new(
        model: &Model,
        problem: &Problem,
        roles: &IndexVec<BufferId, Role>,
        plan: &Plan,
    ) -> Result<OfflinePlan, OfflineError> {
        // The plan lists the tensors of all subgraphs one after another, so each graph needs the number of tensors
        // before it.
        let mut starts = Vec::with_capacity(model.graphs.len());
        let mut count = 0;
        for graph in &model.graphs {
            starts.push(count);
            count += graph.tensors.len();
        }
        let mut offsets = vec![-1; count];
        for (buffer, role) in roles.iter_enumerated() {
            let (Role::Tensor(graph, tensor), Some(placement)) = (role, &plan.placements[buffer]) else { continue };
            // The runtime has one arena. A plan with a second memory cannot be said in this form.
            if placement.space.index() != 0 {
                return Err(OfflineError::SeveralSpaces);
            }
            let offset = placement.offsets.first().copied().unwrap_or_default();
            // The runtime aligns its arena and its tensors to 16 bytes and does not check the offsets, so they are
            // checked here.
            let number = i32::try_from(offset.0).ok().filter(|_| offset.is_aligned_to(Bytes(16)));
            offsets[starts[graph.index()] + tensor.index()] =
                number.ok_or_else(|| OfflineError::Offset(problem.buffers()[buffer].name.to_string(), offset))?;
        }
        Ok(OfflinePlan { subgraphs: model.graphs.len(), offsets })
    }

    /// A plan that leaves every offset to the runtime.
    pub fn undecided(model: &Model) -> OfflinePlan {
        let tensors = model.graphs.iter().map(|graph| graph.tensors.len()).sum();
        OfflinePlan { subgraphs: model.graphs.len(), offsets: vec![-1; tensors] }
    }

    /// The offsets; -1 is the runtime's choice.
    pub fn offsets(&self) -> &[i32] {
        &self.offsets
    }

    /// The content of the metadata, as the module documentation draws it.
    fn payload(&self) -> Vec<u8> {
        let header = [1, self.subgraphs as i32, self.offsets.len() as i32];
        header.iter().chain(&self.offsets).flat_map(|number| number.to_le_bytes()).collect()
    }

    /// The bytes that go in front of the old file: a new root with the metadata, and with the buffer that holds the
    /// plan at the end of the list of buffers.
    pub fn prefix(&self, source: &dyn ReadAt) -> Result<Vec<u8>, ReadError> {
        let window = Window::new(source);
        let envelope = Envelope::open(&window)?;
        let mut buffers = envelope.buffers()?;
        let number = Value::U32(buffers.len() as u32);
        let content = Value::Node(Node::Content(self.payload()));
        buffers.push(Node::Table(vec![(field::buffer::DATA, content)]));
        let mut metadata = envelope.metadata()?;
        let name = Value::Node(Node::Text(METADATA.to_owned()));
        metadata.push(Node::Table(vec![(field::metadata::NAME, name), (field::metadata::BUFFER, number)]));
        envelope.prefix(vec![(field::BUFFERS, Node::Nodes(buffers)), (field::METADATA, Node::Nodes(metadata))])
    }

    /// Writes the model with the plan inside; `prefix` is what [`prefix`](OfflinePlan::prefix) gave.
    pub fn write(&self, prefix: &[u8], source: &dyn ReadAt, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(prefix)?;
        copy_range(source, 0, source.size(), out)
    }
}

/// The error that the plan at this byte of the file is longer or shorter than it says.
fn malformed(at: u64) -> ReadError {
    ReadError::at_byte("tflite::offline-plan", at, "the plan inside the model is not as long as it says")
}

/// The offsets of the plan inside a model, found as the runtime finds them: by the name of the metadata. Empty
/// if the model has no plan. Asked of models that we wrote, in which an older plan has been replaced: there is one plan
/// at most, and it has the version that we write.
pub fn written_offsets(source: &dyn ReadAt) -> Result<Vec<i32>, ReadError> {
    let window = Window::new(source);
    check_signature(&window)?;
    let root = Table::root(&window)?;
    for entry in root.tables(field::METADATA)? {
        if entry.string(field::metadata::NAME)? != METADATA {
            continue;
        }
        let number = entry.u32(field::metadata::BUFFER)?;
        let buffers = root.tables(field::BUFFERS)?;
        let buffer = buffers.get(number as usize).ok_or_else(|| malformed(entry.offset()))?;
        let data = buffer.vector(field::buffer::DATA, 1)?;
        // The plan is read as the runtime reads it: little-endian numbers of 32 bits, with the count in front of the
        // offsets.
        let places = (0..data.len() / 4).filter_map(|index| data.element(4 * index));
        let numbers: Vec<i32> =
            places.map(|at| window.u32(at).map(u32::cast_signed)).collect::<Result<_, ReadError>>()?;
        // The first number is the version, 1; the second, the number of subgraphs, is not needed.
        let [1, _, count, offsets @ ..] = numbers.as_slice() else { return Err(malformed(buffer.offset())) };
        // A count that is wrong would make the runtime read past the end, so this is an error and not a plan without
        // offsets.
        if usize::try_from(*count).ok() != Some(offsets.len()) {
            return Err(malformed(buffer.offset()));
        }
        return Ok(offsets.to_vec());
    }
    Ok(Vec::new())
}
