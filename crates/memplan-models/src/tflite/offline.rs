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
//! It honours the offsets and does not check them: a wrong plan is not an error
//! there but a wrong result. So whoever writes one has checked it.
//!
//! # The file
//!
//! Offsets in a flatbuffer only lead ahead. So what is new goes in front, the
//! old file follows as it is, and new offsets lead into it:
//!
//! ```text
//!   [ root │ Model │ buffers │ metadata │ plan ][ the old file, byte for byte ]
//!      └──────►│ └──────────────────────────────►
//! ```
//!
//! The new part is a multiple of 16 bytes long, so that everything keeps its
//! alignment. Old metadata of the same name is left out of the new list.

use std::io::{self, Write};

use memplan_core::{BufferId, Bytes, Id, IndexVec, Plan, Problem};

use super::read::{check_signature, check_version, field};
use crate::ReadError;
use crate::flatbuffer::Table;
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
    /// The offsets of a plan that holds.
    pub fn new(
        model: &Model,
        problem: &Problem,
        roles: &IndexVec<BufferId, Role>,
        plan: &Plan,
    ) -> Result<OfflinePlan, OfflineError> {
        let mut starts = Vec::with_capacity(model.graphs.len());
        let mut count = 0;
        for graph in &model.graphs {
            starts.push(count);
            count += graph.tensors.len();
        }
        let mut offsets = vec![-1; count];
        for (buffer, role) in roles.iter_enumerated() {
            let (Role::Tensor(graph, tensor), Some(placement)) = (role, &plan.placements[buffer]) else { continue };
            if placement.space.index() != 0 {
                return Err(OfflineError::SeveralSpaces);
            }
            let offset = placement.offsets.first().copied().unwrap_or_default();
            let number = i32::try_from(offset.0).ok().filter(|_| offset.is_aligned_to(Bytes(16)));
            let wrong = || OfflineError::Offset(problem.buffers()[buffer].name.clone(), offset);
            offsets[starts[graph.index()] + tensor.index()] = number.ok_or_else(wrong)?;
        }
        Ok(OfflinePlan { subgraphs: model.graphs.len(), offsets })
    }

    /// Every offset is the runtime's choice.
    pub fn undecided(model: &Model) -> OfflinePlan {
        let tensors = model.graphs.iter().map(|graph| graph.tensors.len()).sum();
        OfflinePlan { subgraphs: model.graphs.len(), offsets: vec![-1; tensors] }
    }

    /// The offsets; -1 is the runtime's choice.
    pub fn offsets(&self) -> &[i32] {
        &self.offsets
    }

    /// The content of the metadata.
    fn payload(&self) -> Vec<u8> {
        let header = [1, self.subgraphs as i32, self.offsets.len() as i32];
        header.iter().chain(&self.offsets).flat_map(|number| number.to_le_bytes()).collect()
    }

    /// What goes in front of the old file.
    pub fn prefix(&self, source: &dyn ReadAt) -> Result<Vec<u8>, ReadError> {
        let window = Window::new(source);
        check_signature(&window)?;
        let root = Table::root(&window)?;
        check_version(&root)?;
        Prefix::write(&Old::read(&window, &root)?, &self.payload())
    }

    /// Writes the model with the plan inside.
    pub fn write(&self, prefix: &[u8], source: &dyn ReadAt, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(prefix)?;
        copy_range(source, 0, source.size(), out)
    }
}

/// The offsets of the plan inside a model, found as the runtime finds them: by the name of the metadata. Empty
/// if the model has no plan.
pub fn written_offsets(source: &dyn ReadAt) -> Result<Vec<i32>, ReadError> {
    let window = Window::new(source);
    check_signature(&window)?;
    let root = Table::root(&window)?;
    let malformed =
        |at: u64| ReadError::at_byte("tflite::offline-plan", at, "the plan inside the model is not as long as it says");
    for entry in root.vector(field::METADATA, 4)?.tables()? {
        if entry.string(field::metadata::NAME)? != METADATA {
            continue;
        }
        let number = entry.u32(field::metadata::BUFFER)?;
        let buffers = root.vector(field::BUFFERS, 4)?.tables()?;
        let buffer = buffers.get(number as usize).ok_or_else(|| malformed(entry.offset()))?;
        let data = buffer.vector(field::buffer::DATA, 1)?;
        let places = (0..data.len() / 4).filter_map(|index| data.element(4 * index));
        let numbers: Vec<i32> =
            places.map(|at| window.u32(at).map(u32::cast_signed)).collect::<Result<_, ReadError>>()?;
        let [1, _, count, offsets @ ..] = numbers.as_slice() else { return Err(malformed(buffer.offset())) };
        if usize::try_from(*count).ok() != Some(offsets.len()) {
            return Err(malformed(buffer.offset()));
        }
        return Ok(offsets.to_vec());
    }
    Ok(Vec::new())
}

/// What the new root refers to in the old file.
struct Old {
    version: u32,
    /// Fields that stay: number and where their value is.
    kept: Vec<(u16, u64)>,
    buffers: Vec<OldBuffer>,
    metadata: Vec<u64>,
}

enum OldBuffer {
    At(u64),
    /// The content is outside the tables, counted from the start of the file.
    Outside {
        offset: u64,
        size: u64,
    },
}

/// The fields of a Model that are vectors, strings or tables.
const POINTERS: [u16; 7] = [1, 2, 3, 4, 5, 6, 7];

impl Old {
    fn read(window: &Window, root: &Table) -> Result<Old, ReadError> {
        let mut kept = Vec::new();
        for number in POINTERS {
            let is_replaced = number == field::BUFFERS || number == field::METADATA;
            if let (false, Some(at)) = (is_replaced, root.field(number)?) {
                kept.push((number, at + u64::from(window.u32(at)?)));
            }
        }
        let mut buffers = Vec::new();
        for table in root.vector(field::BUFFERS, 4)?.tables()? {
            let (offset, size) = (table.u64(field::buffer::OFFSET)?, table.u64(field::buffer::SIZE)?);
            let is_outside = offset > 1 && size > 0;
            buffers.push(if is_outside { OldBuffer::Outside { offset, size } } else { OldBuffer::At(table.offset()) });
        }
        let mut metadata = Vec::new();
        for table in root.vector(field::METADATA, 4)?.tables()? {
            if table.string(field::metadata::NAME)? != METADATA {
                metadata.push(table.offset());
            }
        }
        Old::check_operators(root)?;
        Ok(Old { version: root.u32(field::VERSION)?, kept, buffers, metadata })
    }

    /// Options outside the tables are counted from the start of the file, too.
    fn check_operators(root: &Table) -> Result<(), ReadError> {
        for subgraph in root.vector(field::SUBGRAPHS, 4)?.tables()? {
            for operator in subgraph.vector(field::subgraph::OPERATORS, 4)?.tables()? {
                if operator.u64(field::operator::LARGE_CUSTOM_OPTIONS)? > 1 {
                    return Err(ReadError::at_byte(
                        "tflite::large-options",
                        operator.offset(),
                        "an operator has options behind the model, which cannot be moved",
                    ));
                }
            }
        }
        Ok(())
    }
}

/// The new part of the file, as it grows.
#[derive(Default)]
struct Prefix {
    bytes: Vec<u8>,
    /// Places that refer to the old file: where, and to which offset of it.
    into_old: Vec<(usize, u64)>,
    /// Places of 64-bit numbers that count from the start of the file.
    from_start: Vec<usize>,
}

impl Prefix {
    fn write(old: &Old, payload: &[u8]) -> Result<Vec<u8>, ReadError> {
        let mut prefix = Prefix::default();
        prefix.u32(0);
        prefix.bytes.extend(super::SIGNATURE);
        let (buffers_field, metadata_field) = prefix.model(old);
        prefix.buffers(buffers_field, old, payload);
        prefix.metadata(metadata_field, old);
        prefix.finish()
    }

    fn u16(&mut self, number: u16) {
        self.bytes.extend(number.to_le_bytes());
    }

    fn u32(&mut self, number: u32) {
        self.bytes.extend(number.to_le_bytes());
    }

    fn align(&mut self, alignment: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(alignment), 0);
    }

    /// Sets the offset at a place to lead to the end of what there is.
    fn lead_here(&mut self, place: usize) {
        let ahead = (self.bytes.len() - place) as u32;
        self.bytes[place..place + 4].copy_from_slice(&ahead.to_le_bytes());
    }

    /// A vtable for fields of 4 bytes each, given by number, and the table's
    /// first word; the fields follow in that order.
    fn table_head(&mut self, fields: &[u16]) {
        let count = fields.iter().max().map_or(0, |largest| largest + 1);
        let vtable_bytes = 4 + 2 * count;
        self.align(4);
        // The table shall start at a multiple of 4.
        if !vtable_bytes.is_multiple_of(4) {
            self.u16(0);
        }
        self.u16(vtable_bytes);
        self.u16(4 + 4 * fields.len() as u16);
        for number in 0..count {
            let inside = fields.iter().position(|&field| field == number).map_or(0, |place| 4 + 4 * place as u16);
            self.u16(inside);
        }
        self.u32(u32::from(vtable_bytes));
    }

    /// The new root; returns where the offsets to buffers and metadata go.
    fn model(&mut self, old: &Old) -> (usize, usize) {
        let mut fields = vec![field::VERSION, field::BUFFERS, field::METADATA];
        fields.extend(old.kept.iter().map(|(number, _)| number));
        self.table_head(&fields);
        let table = self.bytes.len() - 4;
        self.bytes[0..4].copy_from_slice(&(table as u32).to_le_bytes());
        self.u32(old.version);
        let places = (self.bytes.len(), self.bytes.len() + 4);
        self.u32(0);
        self.u32(0);
        for &(_, target) in &old.kept {
            self.refer(target);
        }
        places
    }

    fn refer(&mut self, target: u64) {
        self.into_old.push((self.bytes.len(), target));
        self.u32(0);
    }

    fn buffers(&mut self, field_place: usize, old: &Old, payload: &[u8]) {
        self.lead_here(field_place);
        self.u32(old.buffers.len() as u32 + 1);
        let mut outside = Vec::new();
        for buffer in &old.buffers {
            match buffer {
                OldBuffer::At(at) => self.refer(*at),
                OldBuffer::Outside { offset, size } => {
                    outside.push((self.bytes.len(), *offset, *size));
                    self.u32(0);
                }
            }
        }
        let ours = self.bytes.len();
        self.u32(0);
        for (place, offset, size) in outside {
            self.outside_buffer(place, offset, size);
        }
        self.table_head(&[field::buffer::DATA]);
        self.point_to_table(ours);
        let data = self.bytes.len();
        self.u32(0);
        // The numbers of the plan at a multiple of 16, as all contents of buffers.
        self.bytes.resize((self.bytes.len() + 4).next_multiple_of(16) - 4, 0);
        self.lead_here(data);
        self.u32(payload.len() as u32);
        self.bytes.extend(payload);
        self.align(4);
    }

    /// A table whose first word was just written.
    fn point_to_table(&mut self, place: usize) {
        let ahead = (self.bytes.len() - 4 - place) as u32;
        self.bytes[place..place + 4].copy_from_slice(&ahead.to_le_bytes());
    }

    /// A buffer whose content is behind the tables, with two fields of 8 bytes.
    fn outside_buffer(&mut self, place: usize, offset: u64, size: u64) {
        self.align(8);
        for number in [0, 10u16, 20, 0, 4, 12] {
            self.u16(number);
        }
        self.u32(10);
        self.point_to_table(place);
        self.from_start.push(self.bytes.len());
        self.bytes.extend(offset.to_le_bytes());
        self.bytes.extend(size.to_le_bytes());
    }

    fn metadata(&mut self, field_place: usize, old: &Old) {
        self.lead_here(field_place);
        self.u32(old.metadata.len() as u32 + 1);
        for &table in &old.metadata {
            self.refer(table);
        }
        let ours = self.bytes.len();
        self.u32(0);
        self.table_head(&[field::metadata::NAME, 1]);
        self.point_to_table(ours);
        let name = self.bytes.len();
        self.u32(0);
        self.u32(old.buffers.len() as u32);
        self.lead_here(name);
        self.u32(METADATA.len() as u32);
        self.bytes.extend(METADATA.as_bytes());
        self.bytes.push(0);
    }

    /// Fills in what depends on the length of the prefix.
    fn finish(mut self) -> Result<Vec<u8>, ReadError> {
        self.align(16);
        let length = self.bytes.len() as u64;
        for (place, target) in std::mem::take(&mut self.into_old) {
            let ahead = (length + target).checked_sub(place as u64).and_then(|ahead| u32::try_from(ahead).ok());
            let ahead = ahead.ok_or_else(|| {
                ReadError::at_byte("tflite::too-large", target, "the file is too large for offsets of 32 bits")
            })?;
            self.bytes[place..place + 4].copy_from_slice(&ahead.to_le_bytes());
        }
        for place in std::mem::take(&mut self.from_start) {
            let mut number = [0; 8];
            number.copy_from_slice(&self.bytes[place..place + 8]);
            let moved = u64::from_le_bytes(number).saturating_add(length);
            self.bytes[place..place + 8].copy_from_slice(&moved.to_le_bytes());
        }
        Ok(self.bytes)
    }
}
