//! The row of chunks, and where each of them starts in the end.
//!
//! A chunk is made in one of four ways, and remembers it:
//!
//! ```text
//!   Origin          appended at the end of the row, where memory ended then
//!   Left, Right     a part of a chunk that was split: starts with it, or ends with it
//!   Merged          made of neighbours: starts with the first, ends with the last
//! ```
//!
//! Buffers keep referring to the chunk they got, also when that has long been split or
//! merged, so every chunk is kept, and its offset follows from how it was made:
//! that of an origin is known, the others have it from the chunks they were made of.
//!
//! An extension by d bytes does two things:
//!
//! - the chunk grows, and with it those it was made of: a part's whole, a merged chunk's last.
//!   This is added up once at the end, from the newest chunk to the oldest.
//! - everything to its right moves by d. Each origin is *carried* by one
//!   chunk of the row (a left part carries what its whole carried, a merged
//!   chunk what all its chunks did, a right part nothing, since it hangs on its whole's
//!   end), and the origins are carried in the order in which they were appended. So the
//!   origins that move are all after some index, and adding d to all of these is
//!   one entry in a list of differences.
//!
//! So every operation on the row is O(1), and reading all offsets off is O(chunks).

use memplan_core::{Id, IndexVec, index_type};

index_type! {
    /// A chunk, by the order of creation.
    pub(super) struct ChunkId;
    /// A chunk that was appended, by the order of appending.
    struct OriginId;
}

/// How a chunk was made, and of which chunks.
#[derive(Clone, Copy, Debug)]
enum Made {
    Origin(OriginId),
    Left(ChunkId),
    Right(ChunkId),
    Merged { first: ChunkId, last: ChunkId },
}

/// A piece of memory.
#[derive(Clone, Debug)]
pub(super) struct Chunk {
    /// Its size.
    pub(super) bytes: u64,
    /// Whether no record uses it.
    pub(super) is_free: bool,
    /// The tick at which it became free last.
    pub(super) last_freed: u64,
    /// Whether it is what an in-place reuse left of a victim's chunk.
    pub(super) is_remainder: bool,
    /// Its neighbour to the left.
    pub(super) left: Option<ChunkId>,
    /// Its neighbour to the right.
    pub(super) right: Option<ChunkId>,
    made: Made,
    /// The last origin carried by this chunk or one to its left: all later origins lie to its right.
    last_origin: OriginId,
    /// Bytes it was extended by itself.
    extended: u64,
}

/// What is known about a chunk that was appended.
struct Origin {
    /// Its offset then: the end of the row.
    start: u64,
    /// The sum of all moves before it was appended. They are entered in `moved_from` as well, at positions up to its
    /// own, and have to be taken off again, because its start has them in it already.
    moved_before: u64,
}

/// The row.
#[derive(Default)]
pub(super) struct Row {
    /// All chunks that ever were.
    chunks: IndexVec<ChunkId, Chunk>,
    /// The chunk at the right end; `None` if the row is empty.
    last: Option<ChunkId>,
    /// The bytes of the whole row.
    total: u64,
    origins: IndexVec<OriginId, Origin>,
    /// Entry k: by how many bytes all origins at position k and later have moved.
    moved_from: Vec<u64>,
    /// The sum of `moved_from`.
    moved_in_sum: u64,
}

impl Row {
    pub(super) fn chunk(&self, chunk: ChunkId) -> &Chunk {
        &self.chunks[chunk]
    }

    pub(super) fn chunk_mut(&mut self, chunk: ChunkId) -> &mut Chunk {
        &mut self.chunks[chunk]
    }

    /// The bytes of the whole row.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Opens new memory at the end.
    pub(super) fn append(&mut self, bytes: u64) -> ChunkId {
        let origin = self.origins.push(Origin { start: self.total, moved_before: self.moved_in_sum });
        self.total += bytes;
        let chunk = self.make(bytes, Made::Origin(origin), origin);
        self.link(self.last, Some(chunk));
        self.last = Some(chunk);
        chunk
    }

    /// Cuts a chunk after `bytes` bytes. The parts are as old as the whole.
    pub(super) fn split(&mut self, whole: ChunkId, bytes: u64) -> (ChunkId, ChunkId) {
        let Chunk { bytes: all, last_freed, left: before, right: after, last_origin, .. } = self.chunks[whole];
        let left = self.make(bytes, Made::Left(whole), last_origin);
        let right = self.make(all - bytes, Made::Right(whole), last_origin);
        for part in [left, right] {
            self.chunks[part].last_freed = last_freed;
        }
        self.link(before, Some(left));
        self.link(Some(left), Some(right));
        self.link(Some(right), after);
        self.move_end(whole, right);
        (left, right)
    }

    /// Makes one chunk of the neighbours from `first` to `last`, of `bytes` bytes together.
    pub(super) fn merge(&mut self, first: ChunkId, last: ChunkId, bytes: u64) -> ChunkId {
        let (before, after) = (self.chunks[first].left, self.chunks[last].right);
        let merged = self.make(bytes, Made::Merged { first, last }, self.chunks[last].last_origin);
        self.link(before, Some(merged));
        self.link(Some(merged), after);
        self.move_end(last, merged);
        merged
    }

    /// Makes a chunk larger and moves everything to its right.
    pub(super) fn extend(&mut self, chunk: ChunkId, by: u64) {
        self.total += by;
        self.chunks[chunk].bytes += by;
        self.chunks[chunk].extended += by;
        // The chunks to the right hang on origins after this one, or on the end of this chunk and those it is made of.
        let first_moved = self.chunks[chunk].last_origin.index() + 1;
        if self.moved_from.len() <= first_moved {
            self.moved_from.resize(first_moved + 1, 0);
        }
        self.moved_from[first_moved] += by;
        self.moved_in_sum += by;
    }

    /// Adds a chunk in use, without neighbours.
    fn make(&mut self, bytes: u64, made: Made, last_origin: OriginId) -> ChunkId {
        let (is_free, is_remainder) = (false, false);
        let chunk = Chunk {
            bytes,
            is_free,
            last_freed: 0,
            is_remainder,
            left: None,
            right: None,
            made,
            last_origin,
            extended: 0,
        };
        self.chunks.push(chunk)
    }

    /// Makes two chunks neighbours; `None` stands for an end of the row.
    fn link(&mut self, left: Option<ChunkId>, right: Option<ChunkId>) {
        if let Some(left) = left {
            self.chunks[left].right = right;
        }
        if let Some(right) = right {
            self.chunks[right].left = left;
        }
    }

    /// Notes that the right end of the row is another chunk now, if it was `from`.
    fn move_end(&mut self, from: ChunkId, to: ChunkId) {
        if self.last == Some(from) {
            self.last = Some(to);
        }
    }

    /// The final offset of every chunk that ever was. A chunk is made of older ones, so these are known when its turn
    /// comes.
    pub(super) fn starts(&self) -> IndexVec<ChunkId, u64> {
        let bytes = self.final_bytes();
        let origins = self.final_origins();
        let mut starts = IndexVec::new();
        starts.reserve_exact(self.chunks.len());
        for (chunk, its_bytes) in self.chunks.iter().zip(&bytes) {
            starts.push(match chunk.made {
                Made::Origin(origin) => origins[origin],
                Made::Left(whole) => starts[whole],
                // A right part ends where its whole ends.
                Made::Right(whole) => starts[whole] + bytes[whole] - its_bytes,
                Made::Merged { first, .. } => starts[first],
            });
        }
        starts
    }

    /// The final sizes of all chunks. A chunk that has been split or merged is not in the row any more, but grows when
    /// a chunk that was made of it is extended. This is passed down from newer to older chunks: a part's growth to its
    /// whole, a merged chunk's to its last.
    fn final_bytes(&self) -> IndexVec<ChunkId, u64> {
        let mut inherited: IndexVec<ChunkId, u64> = IndexVec::filled(0, self.chunks.len());
        for id in self.chunks.ids().rev() {
            let chunk = &self.chunks[id];
            let growth = chunk.extended + inherited[id];
            match chunk.made {
                Made::Origin(_) => {}
                Made::Left(from) | Made::Right(from) | Made::Merged { last: from, .. } => inherited[from] += growth,
            }
        }
        self.chunks.iter().zip(&inherited).map(|(chunk, growth)| chunk.bytes + growth).collect()
    }

    /// The final offsets of all origins.
    fn final_origins(&self) -> IndexVec<OriginId, u64> {
        let mut moved = 0;
        let offset = |(id, origin): (OriginId, &Origin)| {
            moved += self.moved_from.get(id.index()).copied().unwrap_or(0);
            origin.start + moved - origin.moved_before
        };
        self.origins.iter_enumerated().map(offset).collect()
    }
}
