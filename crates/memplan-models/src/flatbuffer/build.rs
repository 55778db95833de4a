//! Flatbuffers, written in front of an old one.
//!
//! An offset in a flatbuffer is a distance ahead, from the place where it is stored to what it refers to. So a changed
//! model is written as new tables, followed by the old file as it is. New tables refer to one another and into the old
//! file, and parts that did not change are not copied:
//!
//! ```text
//!   [ root │ Model │ SubGraph │ operators │ … ][ the old file, byte for byte ]
//!      └──────►│        └────────────────────────────►  Node::Old(offset in the old file)
//! ```
//!
//! The new part is described as a tree of [`Node`]s and written level by level, parents before the nodes they refer to.
//! Its length is a multiple of 16, so that everything in the old file keeps its alignment.
//!
//! A table is written as its *vtable*, which says at how many bytes from the table's start each field is, and then the
//! table itself, as [`flatbuffer`](super) describes it.

use std::collections::VecDeque;

use crate::ReadError;

/// Something that an offset leads to.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// A table: its fields by number.
    Table(Vec<(u16, Value)>),
    /// A vector of offsets.
    Nodes(Vec<Node>),
    /// A vector of numbers.
    Numbers(Vec<i32>),
    /// A vector of bytes that starts at a multiple of 16, as contents of buffers do.
    Content(Vec<u8>),
    /// A string.
    Text(String),
    /// Whatever is at this offset of the old file.
    Old(u64),
}

/// The value of a field.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A byte.
    U8(u8),
    /// A number of 32 bits.
    U32(u32),
    /// A number of 64 bits.
    U64(u64),
    /// A number of 64 bits that is a position in the old file. It is written as the position in the new file: larger by
    /// the length of the new part.
    Position(u64),
    /// An offset to this node.
    Node(Node),
}

impl Value {
    /// A signed number of 32 bits.
    pub(crate) fn i32(number: i32) -> Value {
        Value::U32(number.cast_unsigned())
    }

    /// How many bytes it takes in its table.
    fn width(&self) -> usize {
        match self {
            Value::U8(_) => 1,
            Value::U32(_) | Value::Node(_) => 4,
            Value::U64(_) | Value::Position(_) => 8,
        }
    }
}

/// The bytes that go in front of the old file. `identifier` are the four bytes that say what kind of file it is, and
/// `root` is its new root table. An error if the file becomes too large for 32-bit offsets.
pub(crate) fn prefix(identifier: &[u8; 4], root: &Node) -> Result<Vec<u8>, ReadError> {
    let mut writer = Writer::default();
    // A file begins with the offset to its root, which is filled in when the root is written, and the identifier.
    writer.bytes.extend([0; 4]);
    writer.bytes.extend(identifier);
    writer.waiting.push_back((0, root));
    while let Some((place, node)) = writer.waiting.pop_front() {
        writer.node(place, node)?;
    }
    writer.finish()
}

/// The new part of the file, as it grows.
#[derive(Default)]
struct Writer<'n> {
    /// The bytes so far.
    bytes: Vec<u8>,
    /// Places of offsets that are still zero, each with the node that is to be written and that the offset shall lead
    /// to.
    waiting: VecDeque<(usize, &'n Node)>,
    /// Places that refer to the old file: where, and to which offset of it.
    into_old: Vec<(usize, u64)>,
    /// Places of 64-bit numbers that are positions in the file: where, and the position in the old file.
    positions: Vec<(usize, u64)>,
}

impl<'n> Writer<'n> {
    /// Writes one node. `place` is where its parent has the offset that leads to it.
    fn node(&mut self, place: usize, node: &'n Node) -> Result<(), ReadError> {
        match node {
            // Offsets into the old file are only known when the new part is complete: they depend on its length. They
            // are filled in at the end.
            Node::Old(target) => self.into_old.push((place, *target)),
            Node::Table(fields) => self.table(place, fields)?,
            Node::Nodes(nodes) => {
                self.vector(place, 4, nodes.len())?;
                let start = self.bytes.len();
                self.bytes.resize(start + 4 * nodes.len(), 0);
                // Children are written after their parents, because offsets in a flatbuffer only lead ahead. Until then
                // their places hold zeros.
                self.waiting.extend(nodes.iter().enumerate().map(|(index, node)| (start + 4 * index, node)));
            }
            Node::Numbers(numbers) => {
                self.vector(place, 4, numbers.len())?;
                self.bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
            }
            Node::Content(content) => {
                // The runtime reads contents of tensors directly from the file, as vectors of up to 16 bytes.
                self.vector(place, 16, content.len())?;
                self.bytes.extend(content);
            }
            Node::Text(text) => {
                // A string is a vector of bytes, followed by a zero that its length does not count.
                self.vector(place, 4, text.len())?;
                self.bytes.extend(text.as_bytes());
                self.bytes.push(0);
            }
        }
        Ok(())
    }

    /// Begins a vector: writes its length, so that its first element comes at a multiple of `alignment`, and sets the
    /// offset at `place` to lead to the length.
    fn vector(&mut self, place: usize, alignment: usize, length: usize) -> Result<(), ReadError> {
        let first = (self.bytes.len() + 4).next_multiple_of(alignment);
        self.bytes.resize(first - 4, 0);
        self.lead_here(place)?;
        let length = u32::try_from(length).map_err(|_| too_large())?;
        self.bytes.extend(length.to_le_bytes());
        Ok(())
    }

    /// Writes a table: first its vtable, which says where each field lies in the table (0: not there), then the fields.
    fn table(&mut self, place: usize, fields: &'n [(u16, Value)]) -> Result<(), ReadError> {
        // Where each field lies in the table: after the distance to the vtable (4 bytes), and at a multiple of its own
        // width, counted from the start of the table, which is a multiple of 8.
        let mut end = 4usize;
        let mut inside = Vec::with_capacity(fields.len());
        for (_, value) in fields {
            let at = end.next_multiple_of(value.width());
            inside.push(at);
            end = at + value.width();
        }
        // The vtable has an entry for each field number up to the largest that is set. It ends where the table starts.
        let slots = fields.iter().map(|(number, _)| usize::from(*number) + 1).max().unwrap_or(0);
        let vtable_bytes = 4 + 2 * slots;
        let table = (self.bytes.len() + vtable_bytes).next_multiple_of(8);
        self.bytes.resize(table - vtable_bytes, 0);
        // The vtable: its own length, the length of the table, and where each field lies.
        let mut vtable = vec![short(vtable_bytes)?, short(end)?];
        vtable.resize(2 + slots, 0);
        for ((number, _), at) in fields.iter().zip(&inside) {
            vtable[2 + usize::from(*number)] = short(*at)?;
        }
        self.bytes.extend(vtable.iter().flat_map(|number| number.to_le_bytes()));
        // The table: the distance back to the vtable, and the fields.
        self.lead_here(place)?;
        self.bytes.resize(table + end, 0);
        self.put(table, &(vtable_bytes as u32).to_le_bytes());
        for ((_, value), at) in fields.iter().zip(inside) {
            self.value(table + at, value);
        }
        Ok(())
    }

    /// Writes the value of a field at a place, or remembers the place for a value that is not known yet.
    fn value(&mut self, place: usize, value: &'n Value) {
        match value {
            Value::U8(number) => self.put(place, &[*number]),
            Value::U32(number) => self.put(place, &number.to_le_bytes()),
            Value::U64(number) => self.put(place, &number.to_le_bytes()),
            Value::Position(position) => self.positions.push((place, *position)),
            Value::Node(node) => self.waiting.push_back((place, node)),
        }
    }

    /// Overwrites bytes at a place.
    fn put(&mut self, place: usize, bytes: &[u8]) {
        self.bytes[place..place + bytes.len()].copy_from_slice(bytes);
    }

    /// Sets the offset at a place to lead to the end of the bytes so far, where the next thing is written.
    fn lead_here(&mut self, place: usize) -> Result<(), ReadError> {
        let ahead = u32::try_from(self.bytes.len() - place).map_err(|_| too_large())?;
        self.put(place, &ahead.to_le_bytes());
        Ok(())
    }

    /// Pads the new part to a multiple of 16 bytes, where the old file begins, and fills in the numbers that depend on
    /// the length of the new part: offsets to places in the old file, and positions in it.
    fn finish(mut self) -> Result<Vec<u8>, ReadError> {
        self.bytes.resize(self.bytes.len().next_multiple_of(16), 0);
        let length = self.bytes.len() as u64;
        for (place, target) in std::mem::take(&mut self.into_old) {
            let ahead = length.checked_add(target).and_then(|target| target.checked_sub(place as u64));
            let ahead = ahead.and_then(|ahead| u32::try_from(ahead).ok()).ok_or_else(too_large)?;
            self.put(place, &ahead.to_le_bytes());
        }
        for (place, position) in std::mem::take(&mut self.positions) {
            let moved = position.checked_add(length).ok_or_else(too_large)?;
            self.put(place, &moved.to_le_bytes());
        }
        Ok(self.bytes)
    }
}

/// The error about a file in which a distance, a length or a table is too large for the format.
fn too_large() -> ReadError {
    ReadError::at_byte("tflite::too-large", 0, "the file is too large for offsets of 32 bits")
}

/// A number as a vtable writes it, in two bytes.
fn short(number: usize) -> Result<u16, ReadError> {
    u16::try_from(number).map_err(|_| too_large())
}

#[cfg(test)]
mod tests {
    use super::super::Table;
    use super::*;
    use crate::source::Window;

    #[test]
    fn what_is_written_is_read_again() {
        let inner = Node::Table(vec![(0, Value::U8(7)), (3, Value::U64(1 << 40)), (1, Value::Position(5))]);
        let fields = vec![
            (0, Value::U32(3)),
            (2, Value::Node(Node::Text("name".to_owned()))),
            (5, Value::Node(Node::Nodes(vec![inner, Node::Old(8)]))),
            (6, Value::Node(Node::Numbers(vec![-1, 2]))),
            (7, Value::Node(Node::Content(vec![9; 3]))),
        ];
        let mut file = prefix(b"TEST", &Node::Table(fields)).unwrap();
        let length = file.len() as u64;
        assert!(length.is_multiple_of(16));
        // The old file: a vtable without fields at 4 and its table at 8.
        file.extend([0, 0, 0, 0, 4, 0, 4, 0, 4, 0, 0, 0]);
        let window = Window::new(&file);
        let root = Table::root(&window).unwrap();
        assert_eq!((root.u32(0).unwrap(), root.string(2).unwrap().as_str()), (3, "name"));
        let tables = root.tables(5).unwrap();
        assert_eq!((tables[0].u8(0).unwrap(), tables[0].u64(3).unwrap()), (7, 1 << 40));
        assert_eq!(tables[0].u64(1).unwrap(), length + 5);
        assert!(tables[0].field(3).unwrap().unwrap().is_multiple_of(8));
        assert_eq!(tables[1].offset(), length + 8);
        assert_eq!(root.i32s(6).unwrap(), [-1, 2]);
        assert!(root.vector(7, 1).unwrap().element(0).unwrap().is_multiple_of(16));
    }
}
