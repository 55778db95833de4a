//! `.npz` files, just far enough to say which arrays they hold and which are equal.
//!
//! An `.npz` is a zip file with one `.npy` array a member. Nothing is unpacked:
//! stored members are compared byte for byte behind their headers, compressed
//! ones in their compressed form. One writer compresses equal contents equally;
//! where it does not, two equal arrays count as different, never the other way.
//!
//! ```text
//!   \x93NUMPY 1 0  118  {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   48 bytes
//!   magic  version length  header: 12 elements of 4 bytes                               data
//! ```
//!
//! A stored member must be such an array, with as many bytes as its header says. Of
//! a compressed one only the size of the whole is known, from the directory.

use std::collections::HashMap;

/// Why a file is no `.npz`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NpzError {
    /// What is wrong.
    pub message: &'static str,
    /// The byte at which it was noticed.
    pub position: usize,
}

impl std::fmt::Display for NpzError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "not an .npz file: {} (at byte {})", self.message, self.position)
    }
}

impl std::error::Error for NpzError {}

/// An array of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Its name, without `.npy`.
    pub name: String,
    /// The number of its content: equal numbers, equal bytes.
    pub content: u64,
    /// Its dimensions and the bytes of an element; `None` for a compressed one.
    pub shape: Option<(Vec<u64>, u64)>,
    /// Its bytes; those of a compressed one with its header.
    pub bytes: u64,
}

/// Every array of the file.
pub fn arrays(file: &[u8]) -> Result<Vec<Array>, NpzError> {
    let mut classes: HashMap<(u16, &[u8]), u64> = HashMap::new();
    let mut arrays = Vec::new();
    for member in members(file)? {
        let (shape, data) = member.content()?;
        let next = classes.len() as u64;
        let content = *classes.entry((member.method, data)).or_insert(next);
        let bytes = if shape.is_some() { data.len() as u64 } else { member.plain };
        let name = member.name.strip_suffix(".npy").unwrap_or(&member.name).to_owned();
        arrays.push(Array { name, content, shape, bytes });
    }
    Ok(arrays)
}

/// Method 0: the bytes as they are.
const STORED: u16 = 0;

struct Member<'a> {
    name: String,
    method: u16,
    data: &'a [u8],
    /// Where the data begins in the file.
    position: usize,
    /// Bytes before they were compressed.
    plain: u64,
}

/// The shape of an array with the bytes of an element, and its content.
type Content<'a> = (Option<(Vec<u64>, u64)>, &'a [u8]);

impl<'a> Member<'a> {
    fn content(&self) -> Result<Content<'a>, NpzError> {
        if self.method != STORED {
            return Ok((None, self.data));
        }
        let wrong = |message| NpzError { message, position: self.position };
        let (header, data) = self.split().ok_or_else(|| wrong("a member is no array"))?;
        let (shape, width) = shape(header).ok_or_else(|| wrong("the header of an array says no shape and type"))?;
        let bytes = shape.iter().try_fold(width, |bytes, &count| bytes.checked_mul(count));
        if bytes != Some(data.len() as u64) {
            return Err(wrong("an array has not as many bytes as its header says"));
        }
        Ok((Some((shape, width)), data))
    }

    /// The header that says the shape, and what follows.
    fn split(&self) -> Option<(&'a str, &'a [u8])> {
        let rest = self.data.strip_prefix(b"\x93NUMPY")?;
        let (length, start) = match rest.first()? {
            1 => (usize::from(u16::from_le_bytes(rest.get(2..4)?.try_into().ok()?)), 4),
            _ => (u32::from_le_bytes(rest.get(2..6)?.try_into().ok()?) as usize, 6),
        };
        let end = length.checked_add(start)?;
        Some((std::str::from_utf8(rest.get(start..end)?).ok()?, rest.get(end..)?))
    }
}

/// The dimensions and the bytes of an element in `{'descr': '<f4', …, 'shape': (3, 4), }`.
fn shape(header: &str) -> Option<(Vec<u64>, u64)> {
    let behind = |key: &str| Some(header.split_once(key)?.1.trim_start().strip_prefix(':')?.trim_start());
    let kind = behind("'descr'")?.strip_prefix('\'')?.split('\'').next()?;
    let width: u64 = kind.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok()?;
    // A string of unicode characters has four bytes for each.
    let width = if kind.contains('U') { width.checked_mul(4)? } else { width };
    let list = behind("'shape'")?.strip_prefix('(')?.split(')').next()?;
    let dimensions = list.split(',').map(str::trim).filter(|dimension| !dimension.is_empty());
    Some((dimensions.map(|dimension| dimension.parse().ok()).collect::<Option<_>>()?, width))
}

/// Numbers at places of a file, little-endian.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn slice(&self, at: usize, length: usize) -> Result<&'a [u8], NpzError> {
        let end = at.checked_add(length);
        let slice = end.and_then(|end| self.0.get(at..end));
        slice.ok_or(NpzError { message: "it ends too early", position: at.min(self.0.len()) })
    }

    fn number(&self, at: usize, length: usize) -> Result<u64, NpzError> {
        Ok(self.slice(at, length)?.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    fn size(&self, at: usize, length: usize) -> Result<usize, NpzError> {
        let too_large = NpzError { message: "a size does not fit", position: at };
        usize::try_from(self.number(at, length)?).map_err(|_| too_large)
    }

    fn expect(&self, at: usize, signature: &[u8; 4], message: &'static str) -> Result<(), NpzError> {
        let found = self.slice(at, 4)?;
        if found == signature { Ok(()) } else { Err(NpzError { message, position: at }) }
    }
}

fn members(file: &[u8]) -> Result<Vec<Member<'_>>, NpzError> {
    let bytes = Bytes(file);
    let (mut at, count) = directory(&bytes)?;
    let mut members = Vec::new();
    for _ in 0..count {
        bytes.expect(at, b"PK\x01\x02", "its directory is damaged")?;
        let method = bytes.number(at + 10, 2)? as u16;
        let [name_length, extra_length, comment_length] =
            [bytes.size(at + 28, 2)?, bytes.size(at + 30, 2)?, bytes.size(at + 32, 2)?];
        let name = String::from_utf8_lossy(bytes.slice(at + 46, name_length)?).into_owned();
        let long = LongSizes::new(&bytes, at, at + 46 + name_length, extra_length)?;
        let local = long.local;
        bytes.expect(local, b"PK\x03\x04", "a member is not where the directory says")?;
        let data = local + 30 + bytes.size(local + 26, 2)? + bytes.size(local + 28, 2)?;
        let plain = long.plain;
        members.push(Member { name, method, data: bytes.slice(data, long.compressed)?, position: data, plain });
        at += 46 + name_length + extra_length + comment_length;
    }
    Ok(members)
}

/// Sizes and places of a member; those past 4 GiB stand in an extra field.
struct LongSizes {
    compressed: usize,
    local: usize,
    plain: u64,
}

impl LongSizes {
    fn new(bytes: &Bytes, entry: usize, extra: usize, extra_length: usize) -> Result<LongSizes, NpzError> {
        let plain = bytes.number(entry + 24, 4)?;
        let mut sizes = LongSizes { compressed: bytes.size(entry + 20, 4)?, local: bytes.size(entry + 42, 4)?, plain };
        let mut at = extra;
        while at + 4 <= extra + extra_length {
            let (kind, length) = (bytes.number(at, 2)?, bytes.size(at + 2, 2)?);
            if kind == 1 {
                let mut next = at + 4;
                if plain == 0xFFFF_FFFF {
                    sizes.plain = bytes.number(next, 8)?;
                    next += 8;
                }
                for size in [&mut sizes.compressed, &mut sizes.local] {
                    if *size == 0xFFFF_FFFF {
                        *size = bytes.size(next, 8)?;
                        next += 8;
                    }
                }
            }
            at += 4 + length;
        }
        Ok(sizes)
    }
}

/// Where the directory begins, and how many members it lists.
fn directory(bytes: &Bytes) -> Result<(usize, u64), NpzError> {
    // The record that ends a zip file, in front of a comment of at most 64 KiB.
    let window = bytes.0.len().saturating_sub(22 + 0xFFFF);
    let tail = bytes.0.get(window..).unwrap_or(&[]);
    let end = tail.windows(4).rposition(|four| four == b"PK\x05\x06");
    let end = window + end.ok_or(NpzError { message: "it has no zip directory", position: bytes.0.len() })?;
    let comment = bytes.size(end + 20, 2)?;
    bytes.slice(end + 22, comment)?;
    let (count, start) = (bytes.number(end + 10, 2)?, bytes.size(end + 16, 4)?);
    if count < 0xFFFF && start < 0xFFFF_FFFF {
        return Ok((start, count));
    }
    let locator = end.checked_sub(20).ok_or(NpzError { message: "its directory is damaged", position: end })?;
    bytes.expect(locator, b"PK\x06\x07", "its directory is damaged")?;
    let long_end = bytes.size(locator + 8, 8)?;
    bytes.expect(long_end, b"PK\x06\x06", "its directory is damaged")?;
    Ok((bytes.size(long_end.saturating_add(48), 8)?, bytes.number(long_end.saturating_add(32), 8)?))
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
        let refused = |data: &[u8]| arrays(&zip(&[("one.npy", data)])).unwrap_err().message;
        assert_eq!(refused(&array("(3,)", b"ab")), "an array has not as many bytes as its header says");
        assert_eq!(refused(&array("(1,)", b"ab")), "an array has not as many bytes as its header says");
        assert_eq!(
            refused(&array("(18446744073709551615, 2)", b"ab")),
            "an array has not as many bytes as its header says"
        );
        assert_eq!(refused(&array("two", b"ab")), "the header of an array says no shape and type");
        assert_eq!(refused(b"ab"), "a member is no array");
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
