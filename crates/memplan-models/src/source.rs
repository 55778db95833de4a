//! Large binary files, read piece by piece.
//!
//! A model file is mostly weights, and a planner needs none of them. So model
//! readers do not take the bytes of a file but something to read *at* an
//! offset: a slice, or a file on disk of which only the pages are fetched that
//! are asked for.
//!
//! ```
//! use memplan_models::source::{ReadAt, Window};
//!
//! let bytes: &[u8] = &[1, 0, 0, 0, 2, 0];
//! let window = Window::new(&bytes);
//! assert_eq!(window.u32(0).unwrap(), 1);
//! assert_eq!(window.u32(4).unwrap_err().code, "model::truncated");
//! ```

mod assembled;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::ReadError;

pub use assembled::{Assembled, Piece};

/// Something whose bytes can be read at any offset.
pub trait ReadAt: Send + Sync {
    /// How many bytes there are.
    fn size(&self) -> u64;
    /// Fills `into` from an offset; fails if there are fewer bytes.
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<()>;
}

impl ReadAt for &[u8] {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        let end = start.checked_add(into.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        into.copy_from_slice(self.get(start..end).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

impl ReadAt for Vec<u8> {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.as_slice().read_at(offset, into)
    }
}

/// A file on disk that stays there.
#[derive(Debug)]
pub struct DiskFile {
    /// A lock, because reading at an offset moves the file's position.
    file: Mutex<File>,
    /// How many bytes it had when it was opened.
    size: u64,
}

impl DiskFile {
    /// Opens a regular file; anything else (a pipe, a device) is an error.
    pub fn open(path: &Path) -> io::Result<DiskFile> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        Ok(DiskFile { file: Mutex::new(file), size: metadata.len() })
    }
}

impl ReadAt for DiskFile {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(into)
    }
}

/// Copies a range of a source to a writer, a piece at a time.
pub fn copy_range(source: &dyn ReadAt, start: u64, end: u64, out: &mut dyn io::Write) -> io::Result<()> {
    let mut piece = vec![0; 1 << 20];
    let mut at = start;
    while at < end {
        let length = usize::try_from(end - at).unwrap_or(usize::MAX).min(piece.len());
        source.read_at(at, &mut piece[..length])?;
        out.write_all(&piece[..length])?;
        at += length as u64;
    }
    Ok(())
}

/// Files are read and kept in pages of 16 KiB.
const PAGE: u64 = 1 << 14;
/// How many pages are kept at most: 64 MiB. A model's structure is rarely a tenth of that.
const PAGES: usize = 1 << 12;

/// Checked little-endian reads with a cache of pages, and a limit on how much
/// is read in all. The structures of a hostile file may overlap: a small file can
/// refer to the same bytes again and again, and so describe an enormous model.
/// A reader counts the bytes of each structure that it reads against the limit ([`spend`](Window::spend)).
pub struct Window<'a> {
    /// What is read.
    source: &'a dyn ReadAt,
    /// Pages that have been read, by number.
    pages: RefCell<HashMap<u64, Box<[u8]>>>,
    /// How many more bytes of structures may be read.
    budget: Cell<u64>,
}

impl<'a> Window<'a> {
    /// A window on a source.
    pub fn new(source: &'a dyn ReadAt) -> Window<'a> {
        // Readers of a sound file look at each byte a few times, so eight times the size of the file is enough. The 64
        // KiB on top are for tiny files.
        let budget = Cell::new(source.size().saturating_mul(8).saturating_add(1 << 16));
        Window { source, pages: RefCell::default(), budget }
    }

    /// Number of bytes of the source.
    pub fn size(&self) -> u64 {
        self.source.size()
    }

    /// Counts the bytes of a structure at an offset against the budget of the file; an error if the budget is spent.
    pub fn spend(&self, offset: u64, bytes: u64) -> Result<(), ReadError> {
        match self.budget.get().checked_sub(bytes) {
            Some(left) => {
                self.budget.set(left);
                Ok(())
            }
            None => Err(ReadError::at_byte("model::overlapping", offset, "too many structures share these bytes")
                .help("the file is damaged: it describes more than its size can hold")),
        }
    }

    /// Checks that a range lies inside the file.
    pub fn check(&self, offset: u64, length: u64) -> Result<(), ReadError> {
        match offset.checked_add(length) {
            Some(end) if end <= self.size() => Ok(()),
            _ => {
                let size = self.size();
                let message = format!("{length} bytes at offset {offset} lie outside the file of {size} bytes");
                Err(ReadError::at_byte("model::truncated", offset, message)
                    .help("the file is cut off or damaged; compare its size with the original"))
            }
        }
    }

    /// The bytes of a range. Use it for names, not for weights.
    pub fn bytes(&self, offset: u64, length: u64) -> Result<Vec<u8>, ReadError> {
        self.check(offset, length)?;
        self.spend(offset, length)?;
        let length = usize::try_from(length).map_err(|_| failed(offset, "too long for memory"))?;
        let mut bytes = vec![0; length];
        self.fill(offset, &mut bytes)?;
        Ok(bytes)
    }

    /// Copies a range of the file, page by page.
    fn fill(&self, offset: u64, into: &mut [u8]) -> Result<(), ReadError> {
        let mut done = 0;
        while done < into.len() {
            let at = offset + done as u64;
            let number = at / PAGE;
            let inside = (at % PAGE) as usize;
            let count = self.with_page(number, |page| {
                let available = page.get(inside..).unwrap_or_default();
                let count = available.len().min(into.len() - done);
                into[done..done + count].copy_from_slice(&available[..count]);
                count
            })?;
            if count == 0 {
                return Err(failed(at, "the file became shorter while it was read"));
            }
            done += count;
        }
        Ok(())
    }

    /// Gives a page to a function, and reads it from the file first if it is not in the cache. When the cache is
    /// full, all of its pages are dropped: readers go forward and seldom come back.
    fn with_page<T>(&self, number: u64, mut use_page: impl FnMut(&[u8]) -> T) -> Result<T, ReadError> {
        let mut pages = self.pages.borrow_mut();
        if let Some(page) = pages.get(&number) {
            return Ok(use_page(page));
        }
        let start = number * PAGE;
        let length = PAGE.min(self.size().saturating_sub(start)) as usize;
        let mut page = vec![0; length].into_boxed_slice();
        self.source.read_at(start, &mut page).map_err(|error| failed(start, &error.to_string()))?;
        if pages.len() >= PAGES {
            pages.clear();
        }
        let result = use_page(&page);
        pages.insert(number, page);
        Ok(result)
    }

    /// `N` bytes at an offset.
    fn array<const N: usize>(&self, offset: u64) -> Result<[u8; N], ReadError> {
        self.check(offset, N as u64)?;
        let mut bytes = [0; N];
        self.fill(offset, &mut bytes)?;
        Ok(bytes)
    }

    /// A byte.
    pub fn u8(&self, offset: u64) -> Result<u8, ReadError> {
        self.array::<1>(offset).map(|[byte]| byte)
    }

    /// A little-endian number of 16 bits.
    pub fn u16(&self, offset: u64) -> Result<u16, ReadError> {
        self.array(offset).map(u16::from_le_bytes)
    }

    /// A little-endian number of 32 bits.
    pub fn u32(&self, offset: u64) -> Result<u32, ReadError> {
        self.array(offset).map(u32::from_le_bytes)
    }

    /// A little-endian signed number of 32 bits.
    pub fn i32(&self, offset: u64) -> Result<i32, ReadError> {
        self.array(offset).map(i32::from_le_bytes)
    }

    /// A little-endian number of 64 bits.
    pub fn u64(&self, offset: u64) -> Result<u64, ReadError> {
        self.array(offset).map(u64::from_le_bytes)
    }

    /// A little-endian signed number of 64 bits.
    pub fn i64(&self, offset: u64) -> Result<i64, ReadError> {
        self.array(offset).map(i64::from_le_bytes)
    }
}

/// The error about a file that could not be read on at an offset.
fn failed(offset: u64, why: &str) -> ReadError {
    ReadError::at_byte("model::unreadable", offset, format!("cannot read on: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_across_pages_are_whole() {
        let bytes: Vec<u8> = (0..40_000u32).map(|n| n as u8).collect();
        let window = Window::new(&bytes);
        let at = PAGE - 2;
        let expected = u32::from_le_bytes([at as u8, (at + 1) as u8, (at + 2) as u8, (at + 3) as u8]);
        assert_eq!(window.u32(at).unwrap(), expected);
        assert_eq!(window.bytes(10, 30_000).unwrap(), bytes[10..30_010]);
        assert!(window.u64(39_993).is_err() && window.u64(u64::MAX).is_err());
    }

    #[test]
    fn reading_the_same_bytes_for_ever_ends() {
        let bytes = vec![0u8; 100];
        let window = Window::new(&bytes);
        let error = (0..100_000).find_map(|_| window.bytes(0, 100).err()).unwrap();
        assert_eq!(error.code, "model::overlapping");
    }

    #[test]
    fn files_on_disk_are_read_where_asked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, (0..200u8).collect::<Vec<_>>()).unwrap();
        let file = DiskFile::open(&path).unwrap();
        assert_eq!(Window::new(&file).u16(100).unwrap(), 101 * 256 + 100);
        let mut copy = Vec::new();
        copy_range(&file, 10, 20, &mut copy).unwrap();
        assert_eq!(copy, (10..20).collect::<Vec<u8>>());
        assert!(DiskFile::open(folder.path()).is_err());
    }
}
