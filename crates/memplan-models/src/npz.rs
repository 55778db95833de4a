//! `.npz` files, just far enough to say which arrays they hold and which are equal.
//!
//! An `.npz` is a zip file in which each member is one array, an `.npy` file.
//! Nothing is decompressed. Members that the zip file stores without compression
//! are compared byte for byte, without their headers; compressed members are
//! compared in their compressed form. Usually one writer compresses equal arrays
//! to equal bytes. If it does not, two equal arrays count as different; two
//! different arrays never count as equal.
//!
//! ```text
//!   \x93NUMPY 1 0  118  {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   48 bytes
//!   magic  version length  header: 12 elements of 4 bytes                               data
//! ```
//!
//! A stored member must be such an array, with as many bytes as its header says. Of
//! a compressed one only the size of the whole member before compression is known,
//! from the directory of the zip file.

use std::collections::HashMap;
use std::io::Cursor;

use zip::{CompressionMethod, ZipArchive};

/// Why a file is no `.npz`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an .npz file: {0}")]
pub struct NpzError(String);

/// An array of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Its name, without `.npy`.
    pub name: String,
    /// A number for its content, counted from 0: arrays with equal numbers have equal bytes.
    pub content: u64,
    /// Its dimensions and the bytes of an element; `None` for a compressed one.
    pub shape: Option<(Vec<u64>, u64)>,
    /// How many bytes it has when it is not compressed; of a compressed array, header included.
    pub bytes: u64,
}

/// The arrays of a file, in the order of its directory.
pub fn arrays(file: &[u8]) -> Result<Vec<Array>, NpzError> {
    // The number of each content that has occurred. Stored and compressed bytes are kept apart: if they are equal, that
    // says nothing about the arrays.
    let mut classes: HashMap<(bool, &[u8]), u64> = HashMap::new();
    let mut arrays = Vec::new();
    for member in members(file)? {
        let (shape, data) = member.content()?;
        let next = classes.len() as u64;
        let content = *classes.entry((member.is_stored, data)).or_insert(next);
        let bytes = if shape.is_some() { data.len() as u64 } else { member.plain };
        let name = member.name.strip_suffix(".npy").unwrap_or(&member.name).to_owned();
        arrays.push(Array { name, content, shape, bytes });
    }
    Ok(arrays)
}

/// A member of the zip file.
struct Member<'a> {
    /// Its name in the zip file.
    name: String,
    /// Whether its bytes stand in the file without compression.
    is_stored: bool,
    /// Its bytes in the file, compressed if it is.
    data: &'a [u8],
    /// How many bytes it has when it is not compressed.
    plain: u64,
}

/// The dimensions of an array and the bytes of an element, if they are known; and its content.
type Content<'a> = (Option<(Vec<u64>, u64)>, &'a [u8]);

impl<'a> Member<'a> {
    /// The shape and width of the elements, and the bytes after the header. A compressed member is taken as it is,
    /// without a look inside.
    fn content(&self) -> Result<Content<'a>, NpzError> {
        if !self.is_stored {
            return Ok((None, self.data));
        }
        let (header, data) = self.split().ok_or_else(|| self.wrong("is no array"))?;
        let (shape, width) = shape(header).ok_or_else(|| self.wrong("has a header without shape and type"))?;
        // `None` if the bytes do not fit into 64 bits; then they are certainly not those of the file.
        let bytes = shape.iter().try_fold(width, |bytes, &count| bytes.checked_mul(count));
        if bytes != Some(data.len() as u64) {
            return Err(self.wrong("has not as many bytes as its header says"));
        }
        Ok((Some((shape, width)), data))
    }

    /// The error that something is the matter with this member.
    fn wrong(&self, what: &str) -> NpzError {
        NpzError(format!("member `{}` {what}", self.name))
    }

    /// The header, which says the shape, and the data that follows it. `None` if this is no `.npy` file.
    fn split(&self) -> Option<(&'a str, &'a [u8])> {
        let rest = self.data.strip_prefix(b"\x93NUMPY")?;
        // Two bytes of version come first. Then the length of the header: two bytes in version 1, four in later ones.
        let (length, start) = match rest.first()? {
            1 => (usize::from(u16::from_le_bytes(rest.get(2..4)?.try_into().ok()?)), 4),
            _ => (u32::from_le_bytes(rest.get(2..6)?.try_into().ok()?) as usize, 6),
        };
        let end = length.checked_add(start)?;
        Some((std::str::from_utf8(rest.get(start..end)?).ok()?, rest.get(end..)?))
    }
}

/// The dimensions and the bytes of an element in `{'descr': '<f4', …, 'shape': (3, 4), }`.
///
/// `None` if one of them is missing or is not understood.
fn shape(header: &str) -> Option<(Vec<u64>, u64)> {
    // The text that follows `'key':`.
    let after = |key: &str| Some(header.split_once(key)?.1.trim_start().strip_prefix(':')?.trim_start());
    let kind = after("'descr'")?.strip_prefix('\'')?.split('\'').next()?;
    // `<f4`: the byte order, the kind of number, and its bytes.
    let width: u64 = kind.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok()?;
    // `<U7` is a string of seven Unicode characters, which have four bytes each.
    let width = if kind.contains('U') { width.checked_mul(4)? } else { width };
    let list = after("'shape'")?.strip_prefix('(')?.split(')').next()?;
    let dimensions = list.split(',').map(str::trim).filter(|dimension| !dimension.is_empty());
    Some((dimensions.map(|dimension| dimension.parse().ok()).collect::<Option<_>>()?, width))
}

/// The members of the archive, with their bytes as they lie in the file.
fn members(file: &[u8]) -> Result<Vec<Member<'_>>, NpzError> {
    let wrong = |error: zip::result::ZipError| NpzError(error.to_string());
    let mut archive = ZipArchive::new(Cursor::new(file)).map_err(wrong)?;
    (0..archive.len())
        .map(|number| {
            let member = archive.by_index_raw(number).map_err(wrong)?;
            let (name, plain) = (member.name().map_err(wrong)?.into_owned(), member.size());
            let is_stored = member.compression() == CompressionMethod::Stored;
            let data = slice(file, member.data_start(), member.compressed_size());
            let data = data.ok_or_else(|| NpzError(format!("member `{name}` ends behind the file")))?;
            Ok(Member { name, is_stored, data, plain })
        })
        .collect()
}

/// A range of the file's bytes; `None` if its start is not known or the file ends before it.
fn slice(file: &[u8], start: Option<u64>, bytes: u64) -> Option<&[u8]> {
    let start = start?;
    file.get(usize::try_from(start).ok()?..usize::try_from(start.checked_add(bytes)?).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A zip file of stored members, as numpy writes it.
    fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut file = Vec::new();
        let mut directory = Vec::new();
        for (name, data) in members {
            let local = file.len() as u32;
            let size = (data.len() as u32).to_le_bytes();
            file.extend(b"PK\x03\x04");
            file.extend([0; 14]);
            file.extend([size, size].concat());
            file.extend((name.len() as u16).to_le_bytes());
            file.extend([0, 0]);
            file.extend(name.as_bytes());
            file.extend(*data);
            directory.extend(b"PK\x01\x02");
            directory.extend([0; 16]);
            directory.extend([size, size].concat());
            directory.extend((name.len() as u16).to_le_bytes());
            directory.extend([0; 12]);
            directory.extend(local.to_le_bytes());
            directory.extend(name.as_bytes());
        }
        let start = (file.len() as u32).to_le_bytes();
        let count = (members.len() as u16).to_le_bytes();
        let length = (directory.len() as u32).to_le_bytes();
        file.extend(directory);
        file.extend(b"PK\x05\x06\0\0\0\0");
        file.extend([count, count].concat());
        file.extend([length, start].concat());
        file.extend([0, 0]);
        file
    }

    fn array(shape: &str, data: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}");
        let mut array = b"\x93NUMPY\x01\x00".to_vec();
        array.extend((header.len() as u16).to_le_bytes());
        array.extend(header.as_bytes());
        array.extend(data);
        array
    }

    fn numbers(file: &[u8]) -> Result<Vec<(String, u64)>, NpzError> {
        Ok(arrays(file)?.into_iter().map(|array| (array.name, array.content)).collect())
    }

    #[test]
    fn equal_arrays_have_equal_numbers() {
        let (one, same, other) = (array("(2,)", b"ab"), array("(2, 1)", b"ab"), array("(2,)", b"ac"));
        let file = zip(&[("one.npy", &one), ("same.npy", &same), ("other.npy", &other)]);
        let found = numbers(&file).unwrap();
        assert_eq!(found, [("one".to_owned(), 0), ("same".to_owned(), 0), ("other".to_owned(), 1)]);
        assert_eq!(arrays(&file).unwrap()[1].shape, Some((vec![2, 1], 1)));
        assert_eq!(numbers(&zip(&[])).unwrap(), []);
    }

    #[test]
    fn a_member_is_an_array_with_all_its_bytes() {
        let refused = |data: &[u8]| arrays(&zip(&[("one.npy", data)])).unwrap_err().to_string();
        assert_eq!(
            refused(&array("(3,)", b"ab")),
            "not an .npz file: member `one.npy` has not as many bytes as its header says"
        );
        assert_eq!(
            refused(&array("(1,)", b"ab")),
            "not an .npz file: member `one.npy` has not as many bytes as its header says"
        );
        assert_eq!(
            refused(&array("(18446744073709551615, 2)", b"ab")),
            "not an .npz file: member `one.npy` has not as many bytes as its header says"
        );
        assert_eq!(
            refused(&array("two", b"ab")),
            "not an .npz file: member `one.npy` has a header without shape and type"
        );
        assert_eq!(refused(b"ab"), "not an .npz file: member `one.npy` is no array");
        assert_eq!(arrays(&zip(&[("s.npy", &array("()", b"a"))])).unwrap()[0].shape, Some((vec![], 1)));
    }

    #[test]
    fn damaged_files_are_refused() {
        let file = zip(&[("one.npy", &array("(2,)", b"ab"))]);
        assert!(arrays(b"").is_err());
        assert!(arrays(b"PK\x05\x06").is_err());
        for length in 0..file.len() {
            assert!(arrays(&file[..length]).is_err(), "{length}");
        }
        for position in 0..file.len() {
            let mut damaged = file.clone();
            damaged[position] ^= 0xFF;
            let _ = arrays(&damaged); // any answer, but an answer
        }
    }
}
