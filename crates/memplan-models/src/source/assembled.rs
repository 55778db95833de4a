//! A file that is made of pieces of another one and of new bytes between them.
//!
//! A model with its operators in another order, or with a plan inside, is its old file with little changed. It is
//! described as a list of pieces, which can be read again before anything is written and costs no copy of the weights:
//!
//! ```
//! use memplan_models::source::{Assembled, Piece, ReadAt};
//!
//! let old: &[u8] = b"weights";
//! let pieces = [Piece::Bytes(b"new ".to_vec()), Piece::Kept { start: 0, end: 7 }];
//! let new = Assembled::new(&[], &old, &pieces).unwrap();
//! let mut middle = [0; 5];
//! new.read_at(3, &mut middle).unwrap();
//! assert_eq!((&middle, new.size()), (b" weig", 11));
//! ```

use std::io;

use super::{ReadAt, copy_range};

/// A part of an [`Assembled`] file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// New bytes.
    Bytes(Vec<u8>),
    /// Bytes of the old file.
    Kept {
        /// The first byte.
        start: u64,
        /// One past the last byte.
        end: u64,
    },
}

impl Piece {
    /// All of a file.
    pub fn whole(source: &dyn ReadAt) -> Piece {
        Piece::Kept { start: 0, end: source.size() }
    }

    /// The piece without a copy of its bytes.
    fn borrowed(&self) -> Borrowed<'_> {
        match self {
            Piece::Bytes(bytes) => Borrowed::Bytes(bytes),
            Piece::Kept { start, end } => Borrowed::Kept { start: *start, size: end.saturating_sub(*start) },
        }
    }
}

/// A piece whose bytes another object owns.
#[derive(Clone, Copy)]
enum Borrowed<'a> {
    /// New bytes.
    Bytes(&'a [u8]),
    /// `size` bytes of the old file, from `start` on.
    Kept { start: u64, size: u64 },
}

impl Borrowed<'_> {
    /// How many bytes it has.
    fn size(self) -> u64 {
        match self {
            Borrowed::Bytes(bytes) => bytes.len() as u64,
            Borrowed::Kept { size, .. } => size,
        }
    }
}

/// A file made of pieces.
pub struct Assembled<'a> {
    /// The old file.
    old: &'a dyn ReadAt,
    /// Each piece with the offset at which it starts in the new file.
    pieces: Vec<(u64, Borrowed<'a>)>,
    /// The size of the new file.
    size: u64,
}

impl<'a> Assembled<'a> {
    /// The file that consists of the bytes `first` and then the pieces one after the other. Pieces that are kept are
    /// ranges of `old`. An error if the size does not fit into 64 bits.
    pub fn new(first: &'a [u8], old: &'a dyn ReadAt, pieces: &'a [Piece]) -> io::Result<Assembled<'a>> {
        let mut file = Assembled { old, pieces: Vec::new(), size: 0 };
        for piece in std::iter::once(Borrowed::Bytes(first)).chain(pieces.iter().map(Piece::borrowed)) {
            file.pieces.push((file.size, piece));
            file.size = file.size.checked_add(piece.size()).ok_or(io::ErrorKind::FileTooLarge)?;
        }
        Ok(file)
    }

    /// Writes all of it.
    pub fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        copy_range(self, 0, self.size, out)
    }
}

impl ReadAt for Assembled<'_> {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, mut into: &mut [u8]) -> io::Result<()> {
        let mut at = offset;
        // The piece that has the first wanted byte: of those that start at or before it, the last one.
        let mut number = self.pieces.partition_point(|(start, _)| *start <= at).saturating_sub(1);
        while !into.is_empty() {
            let &(start, piece) = self.pieces.get(number).ok_or(io::ErrorKind::UnexpectedEof)?;
            // Take from this piece what is left of it, or as much as is wanted, and go on with the next piece.
            let inside = at - start;
            let left = usize::try_from(piece.size().saturating_sub(inside)).unwrap_or(usize::MAX);
            let (head, rest) = into.split_at_mut(left.min(into.len()));
            match piece {
                _ if head.is_empty() => {}
                Borrowed::Bytes(bytes) => bytes.read_at(inside, head)?,
                Borrowed::Kept { start, .. } => self.old.read_at(start + inside, head)?,
            }
            at += head.len() as u64;
            number += 1;
            into = rest;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_range_of_every_assembly_is_what_it_would_be_in_one_vector() {
        let old: Vec<u8> = (0..40).collect();
        let pieces = [
            Piece::Bytes(Vec::new()),
            Piece::Bytes(vec![100, 101, 102]),
            Piece::Kept { start: 30, end: 30 },
            Piece::Kept { start: 0, end: 40 },
        ];
        let expected: Vec<u8> = (5..9).chain(100..103).chain(0..40).collect();
        let file = Assembled::new(&[5, 6, 7, 8], &old, &pieces).unwrap();
        assert_eq!(file.size(), expected.len() as u64);
        for start in 0..expected.len() {
            for end in start..=expected.len() {
                let mut copy = Vec::new();
                copy_range(&file, start as u64, end as u64, &mut copy).unwrap();
                assert_eq!(copy, expected[start..end], "{start}..{end}");
            }
        }
        assert!(file.read_at(46, &mut [0; 2]).is_err() && file.read_at(u64::MAX, &mut [0]).is_err());
    }
}
