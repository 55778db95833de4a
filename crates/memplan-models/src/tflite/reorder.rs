//! Writes a model with its operators in another order.
//!
//! The operators of a subgraph are a vector of offsets to tables that lie
//! behind it. Putting them into another order changes these offsets and nothing
//! else, so that the new file is the old one with some numbers changed.

use std::io::{self, Write};

use memplan_core::Id;

use super::read::{check_signature, check_version, field};
use crate::ReadError;
use crate::flatbuffer::Table;
use crate::graph::OpId;
use crate::source::{ReadAt, Window, copy_range};

/// Numbers to be written over those of a file.
#[derive(Clone, Debug, Default)]
pub struct Patches {
    /// Offset in the file, and the bytes there; sorted.
    patches: Vec<(u64, [u8; 4])>,
}

/// What has to be changed so that the operators of the first subgraph run in this order.
pub fn patches(source: &dyn ReadAt, order: &[OpId]) -> Result<Patches, ReadError> {
    let window = Window::new(source);
    check_signature(&window)?;
    let root = Table::root(&window)?;
    check_version(&root)?;
    let subgraphs = root.vector(field::SUBGRAPHS, 4)?.tables()?;
    let missing = || ReadError::at_byte("tflite::no-subgraph", root.offset(), "the model has no subgraph");
    let operators = subgraphs.first().ok_or_else(missing)?.vector(field::subgraph::OPERATORS, 4)?;
    let targets = operators.targets()?;
    let mut patches = Vec::with_capacity(targets.len());
    for (place, op) in order.iter().enumerate() {
        let (Some(at), Some(&target)) = (operators.element(place as u64), targets.get(op.index())) else { continue };
        let ahead = target.checked_sub(at).and_then(|ahead| u32::try_from(ahead).ok());
        let ahead = ahead.ok_or_else(|| {
            ReadError::at_byte("tflite::layout", at, "an operator stands before the list of operators")
                .help("the layout of the file does not allow another order")
        })?;
        patches.push((at, ahead.to_le_bytes()));
    }
    Ok(Patches { patches })
}

impl Patches {
    /// Writes the changed file.
    pub fn write(&self, source: &dyn ReadAt, out: &mut dyn Write) -> io::Result<()> {
        let mut at = 0;
        for (place, bytes) in &self.patches {
            copy_range(source, at, *place, out)?;
            out.write_all(bytes)?;
            at = place + bytes.len() as u64;
        }
        copy_range(source, at, source.size(), out)
    }
}
