//! The replay itself: one allocation or free at a time.
//!
//! A [`Row`] is the row of chunks, [`FreeChunks`] are those of them that no record uses, and [`Takeovers`] says which
//! records may take over which others' chunks while these are alive ([`in_place`](super::in_place)). A *record* is a
//! buffer as a size and one stretch of time, named by its position in a list.

use super::Prefer;
use super::free::FreeChunks;
use super::in_place::Takeovers;
use super::row::{ChunkId, Row};

/// The state of a replay.
pub(super) struct Replay<'a> {
    pub(super) row: Row,
    free: FreeChunks,
    /// One for every allocation and every free.
    pub(super) tick: u64,
    /// By record: the chunk it got when it was allocated; its offset is read off from it in the end.
    got: Vec<Option<ChunkId>>,
    /// By record: the chunk that it gives back when it is freed. That is its own chunk, or what a takeover has left of
    /// it; `None` if nothing is left, or before and after its life.
    pub(super) held: Vec<Option<ChunkId>>,
    pub(super) takeovers: Takeovers<'a>,
    /// Each record that took over chunks, with the records that held them, from left to right.
    pub(super) reused: Vec<(usize, Vec<usize>)>,
}

impl<'a> Replay<'a> {
    /// Nothing allocated yet.
    pub(super) fn new(prefer: Prefer, takeovers: Takeovers<'a>) -> Replay<'a> {
        let nothing = vec![None; takeovers.hints.len()];
        Replay {
            row: Row::default(),
            free: FreeChunks::new(prefer),
            tick: 0,
            got: nothing.clone(),
            held: nothing,
            takeovers,
            reused: Vec::new(),
        }
    }

    /// A record's life starts: it takes over victims' chunks if it can, and takes a free or new chunk otherwise.
    pub(super) fn allocate(&mut self, index: usize, bytes: u64) {
        self.tick += 1;
        let chunk = self.take_over(index, bytes).unwrap_or_else(|| self.take(bytes));
        self.got[index] = Some(chunk);
        self.held[index] = Some(chunk);
    }

    /// A chunk of `bytes` bytes: a free one, extended or split as needed, or a new one at the end of the row.
    fn take(&mut self, bytes: u64) -> ChunkId {
        let Some(chunk) = self.free.choose(bytes, self.tick) else { return self.row.append(bytes) };
        self.take_out(chunk);
        // A chunk of just the right size is extended by nothing.
        let have = self.row.chunk(chunk).bytes;
        if have <= bytes {
            self.row.extend(chunk, bytes - have);
            return chunk;
        }
        let (taken, rest) = self.row.split(chunk, bytes);
        self.set_free(rest);
        taken
    }

    /// A record's life ends: its chunk becomes free and grows together with free neighbours. Nothing happens if others
    /// took all of its chunk.
    pub(super) fn free(&mut self, index: usize) {
        let Some(chunk) = self.held[index].take() else { return };
        self.tick += 1;
        self.row.chunk_mut(chunk).is_remainder = false;
        let mut bytes = self.row.chunk(chunk).bytes;
        // Free neighbours to the left and to the right are taken out of the free ones, to become one chunk with it.
        let (mut first, mut last) = (chunk, chunk);
        while let Some(left) = self.row.chunk(first).left.filter(|&left| self.row.chunk(left).is_free) {
            first = left;
            bytes += self.row.chunk(left).bytes;
            self.take_out(left);
        }
        while let Some(right) = self.row.chunk(last).right.filter(|&right| self.row.chunk(right).is_free) {
            last = right;
            bytes += self.row.chunk(right).bytes;
            self.take_out(right);
        }
        let all = if first == last { chunk } else { self.row.merge(first, last, bytes) };
        self.row.chunk_mut(all).last_freed = self.tick;
        self.set_free(all);
    }

    /// Makes a chunk one of the free ones.
    pub(super) fn set_free(&mut self, chunk: ChunkId) {
        self.row.chunk_mut(chunk).is_free = true;
        self.free.insert(chunk, self.row.chunk(chunk));
    }

    /// Takes a chunk out of the free ones, if it is among them.
    pub(super) fn take_out(&mut self, chunk: ChunkId) {
        self.row.chunk_mut(chunk).is_free = false;
        self.free.remove(chunk);
    }

    /// The offset of every record, and the bytes of the whole row.
    pub(super) fn finish(&self) -> (Vec<u64>, u64) {
        let starts = self.row.starts();
        let offset = |chunk: &Option<ChunkId>| chunk.map_or(0, |chunk| starts[chunk]);
        (self.got.iter().map(offset).collect(), self.row.total())
    }
}
