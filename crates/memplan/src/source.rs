//! A file to plan: its name, its content, and what its reader is told.

use std::fmt;
use std::io;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use memplan_models::source::{DiskFile, ReadAt};

use crate::format::{self, Format, ReadOptions};

/// The bytes of a file. Copies share them, and so does the reader of a text: a text of 100 MB is in memory once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content(Stored);

/// How the bytes are kept. A text is kept as one, so that it is checked for UTF-8 only once.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stored {
    /// All of it is UTF-8.
    Text(Arc<str>),
    /// Anything else.
    Bytes(Arc<[u8]>),
}

impl Content {
    /// The content as a text to share; `None` if it is not UTF-8.
    pub fn text(&self) -> Option<&Arc<str>> {
        match &self.0 {
            Stored::Text(text) => Some(text),
            Stored::Bytes(_) => None,
        }
    }
}

impl From<Vec<u8>> for Content {
    fn from(bytes: Vec<u8>) -> Content {
        Content(match String::from_utf8(bytes) {
            Ok(text) => Stored::Text(text.into()),
            Err(error) => Stored::Bytes(error.into_bytes().into()),
        })
    }
}

impl Deref for Content {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Stored::Text(text) => text.as_bytes(),
            Stored::Bytes(bytes) => bytes,
        }
    }
}

impl ReadAt for Content {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        (&**self).read_at(offset, into)
    }
}

/// A file to plan.
#[derive(Clone)]
pub struct Source {
    /// Its name, for messages and for finding out its format.
    pub name: String,
    /// Its content; empty if it is to be read from disk, piece by piece.
    pub bytes: Content,
    /// The file, if it may be too large to load.
    pub disk: Option<Arc<DiskFile>>,
    /// Its format; `None` to find out by name and content.
    pub format: Option<&'static dyn Format>,
    /// What its reader is told.
    pub options: ReadOptions,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({}, {} bytes)", self.name, self.content().size())
    }
}

impl Source {
    /// A source whose format is found out by name and content.
    pub fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Source {
        let bytes = Content::from(bytes.into());
        Source { name: name.into(), bytes, disk: None, format: None, options: ReadOptions::default() }
    }

    /// A file as a source. `format` is the one that the user names; `None` to find it out. A binary
    /// file, such as a model, stays on disk, because it is mostly weights, and is read piece by
    /// piece. If the format of a text has a second file ([`Format::sibling`]), the text of that
    /// file is appended.
    pub fn open(path: &Path, format: Option<&'static dyn Format>) -> io::Result<Source> {
        let name = path.to_string_lossy();
        let disk = DiskFile::open(path)?;
        // Eight bytes are enough to recognise each binary format.
        let mut head = vec![0; disk.size().min(8) as usize];
        disk.read_at(0, &mut head)?;
        let binary = format.or_else(|| format::detect_binary(&name, &head)).filter(|format| format.is_binary());
        Ok(match binary {
            Some(_) => Source { disk: Some(Arc::new(disk)), format: binary, ..Source::new(name, Vec::new()) },
            None => Source { format, ..Source::new(&*name, with_sibling(&name, std::fs::read(path)?)) },
        })
    }

    /// The same with another content, which is in memory.
    pub(crate) fn with_bytes(&self, bytes: Vec<u8>) -> Source {
        let Source { name, bytes: _, disk: _, format, options } = self;
        Source { name: name.clone(), bytes: bytes.into(), disk: None, format: *format, options: options.clone() }
    }

    /// Its content, wherever it is.
    pub fn content(&self) -> &dyn ReadAt {
        match &self.disk {
            Some(disk) => disk.as_ref(),
            None => &self.bytes,
        }
    }
}

/// The text of a file, followed by that of the second file that belongs to it, if there is one.
fn with_sibling(file: &str, mut bytes: Vec<u8>) -> Vec<u8> {
    // A second file that cannot be read is left out; the reader of the format says what is missing then.
    let sibling = format::FORMATS.iter().find_map(|format| format.sibling(file));
    if let Some(content) = sibling.and_then(|sibling| std::fs::read(sibling).ok()) {
        bytes.push(b'\n');
        bytes.extend(content);
    }
    bytes
}
