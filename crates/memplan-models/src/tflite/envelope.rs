//! A new root in front of an old file.
//!
//! A changed model has most of its parts in common with the old one. An [`Envelope`] writes a new `Model` table, the
//! root of the file, with some fields replaced. All other fields lead into the old file, which follows byte for byte:
//! a flatbuffer refers to its parts by distances forward, so the new root can refer to any part of the old file. A
//! `Node` is such a part: a new one, or `Node::Old` with the byte at which an old one starts.

use super::read::{check_signature, check_version, field};
use super::{SIGNATURE, offline};
use crate::ReadError;
use crate::flatbuffer::Table;
use crate::flatbuffer::build::{Node, Value, prefix};
use crate::source::Window;

/// The fields of a Model that are vectors, strings or tables.
const POINTERS: [u16; 7] = [1, 2, 3, 4, 5, 6, 7];

/// An old file that gets a new root.
pub(super) struct Envelope<'w, 'a> {
    window: &'w Window<'a>,
    pub(super) root: Table<'w, 'a>,
}

impl<'w, 'a> Envelope<'w, 'a> {
    /// Opens a file. An error if it has parts that would be wrong after a new root in front of the file.
    pub(super) fn open(window: &'w Window<'a>) -> Result<Envelope<'w, 'a>, ReadError> {
        check_signature(window)?;
        let root = Table::root(window)?;
        check_version(&root)?;
        check_operators(&root)?;
        Ok(Envelope { window, root })
    }

    /// The buffers of the file, for a new list of buffers.
    pub(super) fn buffers(&self) -> Result<Vec<Node>, ReadError> {
        let tables = self.root.tables(field::BUFFERS)?;
        tables.iter().map(buffer).collect()
    }

    /// The metadata of the file, for a new list, without an offline plan: that would be one for the old model.
    pub(super) fn metadata(&self) -> Result<Vec<Node>, ReadError> {
        let mut kept = Vec::new();
        for table in self.root.tables(field::METADATA)? {
            if table.string(field::metadata::NAME)? != offline::METADATA {
                kept.push(Node::Old(table.offset()));
            }
        }
        Ok(kept)
    }

    /// What a field of a table refers to in the old file; `None` if the field is absent. The field must hold an offset:
    /// the distance from the field itself to what it refers to.
    pub(super) fn target(&self, table: &Table, number: u16) -> Result<Option<Node>, ReadError> {
        let Some(at) = table.field(number)? else { return Ok(None) };
        Ok(Some(Node::Old(at + u64::from(self.window.u32(at)?))))
    }

    /// The bytes that go in front of the old file: a root with these fields replaced.
    pub(super) fn prefix(&self, replaced: Vec<(u16, Node)>) -> Result<Vec<u8>, ReadError> {
        let mut fields = vec![(field::VERSION, Value::U32(self.root.u32(field::VERSION)?))];
        for number in POINTERS {
            if replaced.iter().all(|(other, _)| *other != number) {
                let kept = self.target(&self.root, number)?;
                fields.extend(kept.map(|node| (number, Value::Node(node))));
            }
        }
        fields.extend(replaced.into_iter().map(|(number, node)| (number, Value::Node(node))));
        prefix(SIGNATURE, &Node::Table(fields))
    }
}

/// Refuses models with custom options after the tables. The offset of such options counts from the start of the
/// file, so it would be wrong when a new root stands in front, and operators are not written again as buffers are.
fn check_operators(root: &Table) -> Result<(), ReadError> {
    for subgraph in root.tables(field::SUBGRAPHS)? {
        for operator in subgraph.tables(field::subgraph::OPERATORS)? {
            // An offset of 0 or 1 means that there are no such options.
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

/// A buffer of the file, for the list of buffers in the new root.
fn buffer(table: &Table) -> Result<Node, ReadError> {
    let (offset, size) = (table.u64(field::buffer::OFFSET)?, table.u64(field::buffer::SIZE)?);
    // The content may stand after all tables, at an offset that counts from the start of the file.
    // An offset of 0 or 1 means that the content stands in the table.
    let is_outside = offset > 1 && size > 0;
    if !is_outside {
        return Ok(Node::Old(table.offset()));
    }
    // A new table, because the offset in the old one is wrong when a new root stands in front. `Value::Position` is a
    // place in the old file; the writer adds the length of what stands in front.
    let position = (field::buffer::OFFSET, Value::Position(offset));
    Ok(Node::Table(vec![position, (field::buffer::SIZE, Value::U64(size))]))
}
