//! Writes a model with its operators in another order.
//!
//! The operators of a subgraph are a vector of offsets to tables that lie
//! behind it. Putting them into another order changes these offsets and nothing
//! else, so that the new file is the old one with some numbers changed.

use memplan_core::Id;

use super::read::{check_signature, check_version, field};
use crate::ReadError;
use crate::flatbuffer::Table;
use crate::graph::OpId;
use crate::source::{Piece, ReadAt, Window};

/// The pieces of the file with the operators of the first subgraph in this order: ranges of the old file, and the
/// changed offsets between them.
pub fn pieces(source: &dyn ReadAt, order: &[OpId]) -> Result<Vec<Piece>, ReadError> {
    let window = Window::new(source);
    check_signature(&window)?;
    let root = Table::root(&window)?;
    check_version(&root)?;
    let subgraphs = root.tables(field::SUBGRAPHS)?;
    let Some(subgraph) = subgraphs.first() else {
        return Err(ReadError::at_byte("tflite::no-subgraph", root.offset(), "the model has no subgraph"));
    };
    let operators = subgraph.vector(field::subgraph::OPERATORS, 4)?;
    let targets = operators.targets()?;
    let mut pieces = Vec::with_capacity(2 * targets.len() + 1);
    // Up to this place the pieces cover the old file.
    let mut kept = 0;
    for (place, op) in order.iter().enumerate() {
        let (Some(at), Some(&target)) = (operators.element(place as u64), targets.get(op.index())) else { continue };
        // An offset counts from its own place to its target and cannot be negative. An operator table in front of the
        // list can therefore not be reached.
        let ahead = target.checked_sub(at).and_then(|ahead| u32::try_from(ahead).ok());
        let ahead = ahead.ok_or_else(|| {
            ReadError::at_byte("tflite::layout", at, "an operator stands before the list of operators")
                .help("the layout of the file does not allow another order")
        })?;
        // Everything between two changed numbers is kept as it is, so weights are copied and never read.
        pieces.push(Piece::Kept { start: kept, end: at });
        pieces.push(Piece::Bytes(ahead.to_le_bytes().to_vec()));
        kept = at + 4;
    }
    pieces.push(Piece::Kept { start: kept, end: source.size() });
    Ok(pieces)
}
