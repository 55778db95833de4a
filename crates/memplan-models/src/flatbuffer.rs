//! Flatbuffers, read without trusting them.
//!
//! A flatbuffer is a graph of *tables* and *vectors* at offsets of the file.
//! A table is a record whose fields have numbers; any of them may be absent. It
//! starts with a signed distance back to its *vtable*, which says at how many
//! bytes from the table's start each field is, or 0 if the field is absent:
//!
//! ```text
//!   file:   [u32 to root][identifier] …
//!   table:  [i32 back to vtable][fields …]
//!   vtable: [u16 own bytes][u16 bytes of table][u16 field 0][u16 field 1] …
//!   vector: [u32 count][elements …]         element of a vector of tables: u32 ahead
//! ```
//!
//! A field that is a table, a vector or a string holds a u32: the distance from
//! that field to it. Every read here is checked against the size of the file, and
//! every table and vector that is read counts against a limit
//! ([`Window::spend`]), so that no file makes us read for ever.

pub(crate) mod build;

use crate::ReadError;
use crate::source::Window;

/// A table of a flatbuffer.
#[derive(Clone, Copy)]
pub(crate) struct Table<'w, 'a> {
    window: &'w Window<'a>,
    /// Where it starts in the file.
    at: u64,
    /// Where its vtable starts.
    vtable: u64,
    /// How many bytes its vtable has.
    vtable_bytes: u16,
}

impl<'w, 'a> Table<'w, 'a> {
    /// The root table.
    pub(crate) fn root(window: &'w Window<'a>) -> Result<Table<'w, 'a>, ReadError> {
        Table::at(window, follow(window, 0)?)
    }

    /// The table at an offset of the file; an error if its vtable does not lie in the file.
    pub(crate) fn at(window: &'w Window<'a>, at: u64) -> Result<Table<'w, 'a>, ReadError> {
        // The distance back to the vtable may be negative: then the vtable lies after the table.
        let back = i64::from(window.i32(at)?);
        let vtable = i64::try_from(at).ok().and_then(|at| at.checked_sub(back)).and_then(|at| u64::try_from(at).ok());
        let vtable = vtable.ok_or_else(|| outside(at, "its vtable is outside the file"))?;
        let vtable_bytes = window.u16(vtable)?;
        // A vtable has at least its own length and that of the table, two bytes each.
        if vtable_bytes < 4 {
            return Err(outside(vtable, "the vtable is too short"));
        }
        window.check(vtable, vtable_bytes.into())?;
        window.spend(at, 4)?;
        Ok(Table { window, at, vtable, vtable_bytes })
    }

    /// Where the table starts.
    pub(crate) fn offset(&self) -> u64 {
        self.at
    }

    /// Where a field's value is in the file; `None` if the field is absent.
    pub(crate) fn field(&self, number: u16) -> Result<Option<u64>, ReadError> {
        // The entries for fields, two bytes each, follow two sizes of two bytes each. A writer leaves out the entries
        // after the last field that it sets.
        let entry = 4 + 2 * u64::from(number);
        if entry + 2 > u64::from(self.vtable_bytes) {
            return Ok(None);
        }
        match self.window.u16(self.vtable + entry)? {
            0 => Ok(None),
            inside => Ok(Some(self.at + u64::from(inside))),
        }
    }

    /// How many fields the vtable has entries for. Fields with this number or a higher one are absent.
    pub(crate) fn room(&self) -> u16 {
        (self.vtable_bytes - 4) / 2
    }

    /// The given number of bytes of a field; `None` if the field is absent.
    pub(crate) fn inline(&self, number: u16, bytes: u64) -> Result<Option<Vec<u8>>, ReadError> {
        self.field(number)?.map(|at| self.window.bytes(at, bytes)).transpose()
    }

    // The value of a field that is a number. An absent field has the default of the schema, which is 0 for all fields
    // that are read here.

    /// A field of one byte.
    pub(crate) fn u8(&self, number: u16) -> Result<u8, ReadError> {
        self.field(number)?.map_or(Ok(0), |at| self.window.u8(at))
    }

    /// A field of four bytes, without a sign.
    pub(crate) fn u32(&self, number: u16) -> Result<u32, ReadError> {
        self.field(number)?.map_or(Ok(0), |at| self.window.u32(at))
    }

    /// A field of four bytes, with a sign.
    pub(crate) fn i32(&self, number: u16) -> Result<i32, ReadError> {
        self.field(number)?.map_or(Ok(0), |at| self.window.i32(at))
    }

    /// A field of eight bytes, without a sign.
    pub(crate) fn u64(&self, number: u16) -> Result<u64, ReadError> {
        self.field(number)?.map_or(Ok(0), |at| self.window.u64(at))
    }

    /// The table that a field refers to; `None` if the field is absent.
    pub(crate) fn table(&self, number: u16) -> Result<Option<Table<'w, 'a>>, ReadError> {
        let Some(at) = self.field(number)? else { return Ok(None) };
        Table::at(self.window, follow(self.window, at)?).map(Some)
    }

    /// The vector that a field refers to, with elements of the given number of bytes; empty if the field is
    /// absent.
    pub(crate) fn vector(&self, number: u16, element: u64) -> Result<Vector<'w, 'a>, ReadError> {
        let Some(at) = self.field(number)? else {
            return Ok(Vector { window: self.window, at: self.at, count: 0, element });
        };
        let at = follow(self.window, at)?;
        let count = u64::from(self.window.u32(at)?);
        self.window.check(at + 4, count * element)?;
        Ok(Vector { window: self.window, at: at + 4, count, element })
    }

    /// The tables of a vector of tables; empty if the field is absent. The elements are distances of four bytes.
    pub(crate) fn tables(&self, number: u16) -> Result<Vec<Table<'w, 'a>>, ReadError> {
        self.vector(number, 4)?.tables()
    }

    /// The numbers of a vector of 32-bit numbers; empty if the field is absent.
    pub(crate) fn i32s(&self, number: u16) -> Result<Vec<i32>, ReadError> {
        self.vector(number, 4)?.i32s()
    }

    /// The string that a field points to; empty if the field is absent. Bytes that are not UTF-8 are replaced.
    pub(crate) fn string(&self, number: u16) -> Result<String, ReadError> {
        let vector = self.vector(number, 1)?;
        let bytes = self.window.bytes(vector.at, vector.count)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// A vector of a flatbuffer.
#[derive(Clone, Copy)]
pub(crate) struct Vector<'w, 'a> {
    window: &'w Window<'a>,
    /// Where its first element is in the file.
    at: u64,
    /// How many elements it has.
    count: u64,
    /// How many bytes an element has.
    element: u64,
}

impl<'w, 'a> Vector<'w, 'a> {
    /// How many elements it has.
    pub(crate) fn len(&self) -> u64 {
        self.count
    }

    /// The place of an element in the file; `None` past the end of the vector.
    pub(crate) fn element(&self, index: u64) -> Option<u64> {
        (index < self.count).then(|| self.at + index * self.element)
    }

    /// The bytes of all elements.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>, ReadError> {
        self.window.bytes(self.at, self.count * self.element)
    }

    /// All elements of a vector of 32-bit numbers.
    fn i32s(&self) -> Result<Vec<i32>, ReadError> {
        self.window.spend(self.at, self.count * self.element)?;
        (0..self.count).map(|index| self.window.i32(self.at + index * self.element)).collect()
    }

    /// Where in the file the tables of a vector of tables are. An element is the distance from itself to its table.
    pub(crate) fn targets(&self) -> Result<Vec<u64>, ReadError> {
        self.window.spend(self.at, self.count * self.element)?;
        (0..self.count).map(|index| follow(self.window, self.at + index * self.element)).collect()
    }

    /// The tables of a vector of tables.
    fn tables(&self) -> Result<Vec<Table<'w, 'a>>, ReadError> {
        self.targets()?.into_iter().map(|at| Table::at(self.window, at)).collect()
    }
}

/// Where the offset that is stored at `at` leads: a distance from its own place. At least four bytes must be there.
fn follow(window: &Window, at: u64) -> Result<u64, ReadError> {
    let ahead = u64::from(window.u32(at)?);
    let target = at + ahead;
    window.check(target, 4)?;
    Ok(target)
}

/// The error about an offset that leads out of the file.
fn outside(at: u64, message: &str) -> ReadError {
    ReadError::at_byte("model::bad-offset", at, message)
        .help("the file is damaged: an offset in it leads nowhere; get it again or convert the model again")
}
