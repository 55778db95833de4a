//! The free chunks, and which of them an allocation takes.
//!
//! `chunk-hot` gives every free chunk a score for a need of n bytes:
//!
//! ```text
//!   fit   -|chunk - n| / max(chunk, n), plus 1 if the chunk is large enough     from -1 to 1
//!   heat  1 - (ticks since it became free) / 10, at least 0                     from 0 to 1
//! ```
//!
//! and takes the chunk with the best score. If the chunk that became free last of all has the best score, it wins ties;
//! otherwise, of equal scores, the chunk that has been free for longest wins. Not every chunk needs a look: a chunk
//! that became free ten or more ticks ago has no heat, so of these only the sizes next to n can win; and there are
//! never more than a few hotter ones. Scores are 32-bit floats as in the original, because ties depend on their
//! rounding. So the sizes next to n are looked at until the score has fallen by more than rounding can explain.
//!
//! A [`Chunk`] is a piece of memory with its size and the tick at which it became free last; a [`ChunkId`] is its
//! number. A *tick* is counted for every allocation and every free.

use std::collections::BTreeSet;
use std::num::NonZeroU64;

use memplan_core::{Id, IndexVec};

use super::Prefer;
use super::row::{Chunk, ChunkId};

/// The number of ticks after which a chunk no longer counts as recently used.
const COOLING: u64 = 10;

/// Two scores that differ by less than this are equal. It is larger than the rounding errors of a score.
const CLOSE: f32 = 1e-6;

/// Free chunks in two orders. Time is counted in ticks: one for every allocation and every free.
pub(super) struct FreeChunks {
    prefer: Prefer,
    /// Bytes, tick at which it became free (only for `chunk-hot`; else 0), order of insertion, chunk.
    by_size: BTreeSet<Entry>,
    /// Tick at which it became free, order of insertion, bytes, chunk.
    by_age: BTreeSet<Entry>,
    /// By chunk: what its entries in the two sets are made of, to find them again; `None` if it is not free.
    entries: IndexVec<ChunkId, Option<Freed>>,
    /// The next one's order of insertion.
    inserted: NonZeroU64,
}

/// A chunk as it was when it became free. There is one of these for every chunk that ever was, so it is small; that
/// `inserted` is not zero leaves room to say that there is none.
#[derive(Clone, Copy)]
struct Freed {
    bytes: u64,
    last_freed: u64,
    inserted: NonZeroU64,
}

/// What is stored in one of the two orders; the fields are told there.
type Entry = (u64, u64, u64, ChunkId);

/// An entry in front of all entries that begin with this number.
fn first_of(number: u64) -> Entry {
    (number, 0, 0, ChunkId::from_index(0))
}

/// What a choice among free chunks is made from.
#[derive(Clone, Copy)]
struct Candidate {
    score: f32,
    last_freed: u64,
    inserted: u64,
    chunk: ChunkId,
}

impl FreeChunks {
    pub(super) fn new(prefer: Prefer) -> FreeChunks {
        let (by_size, by_age) = (BTreeSet::new(), BTreeSet::new());
        FreeChunks { prefer, by_size, by_age, entries: IndexVec::new(), inserted: NonZeroU64::MIN }
    }

    /// Adds a free chunk to both orders, by size and by age.
    pub(super) fn insert(&mut self, id: ChunkId, chunk: &Chunk) {
        let freed = Freed { bytes: chunk.bytes, last_freed: chunk.last_freed, inserted: self.inserted };
        self.inserted = self.inserted.saturating_add(1);
        let (by_size, by_age) = self.places(id, freed);
        self.by_size.insert(by_size);
        self.by_age.insert(by_age);
        while self.entries.len() <= id.index() {
            self.entries.push(None);
        }
        self.entries[id] = Some(freed);
    }

    /// Takes a chunk out of both orders, if it is in them.
    pub(super) fn remove(&mut self, id: ChunkId) {
        if self.entries.get(id).is_none() {
            return;
        }
        if let Some(freed) = self.entries[id].take() {
            let (by_size, by_age) = self.places(id, freed);
            self.by_size.remove(&by_size);
            self.by_age.remove(&by_age);
        }
    }

    /// The entries of a chunk in the orders by size and by age.
    fn places(&self, id: ChunkId, Freed { bytes, last_freed, inserted }: Freed) -> (Entry, Entry) {
        let by_size = match self.prefer {
            Prefer::Hot => (bytes, last_freed, inserted.get(), id),
            Prefer::Size => (bytes, 0, inserted.get(), id),
        };
        (by_size, (last_freed, inserted.get(), bytes, id))
    }

    /// The chunk to take for `bytes` bytes at tick `now`; `None` if none is free.
    pub(super) fn choose(&self, bytes: u64, now: u64) -> Option<ChunkId> {
        match self.prefer {
            Prefer::Size => {
                // The smallest that is large enough, the first inserted of equals; else the largest, the last inserted.
                let large_enough = self.by_size.range(first_of(bytes)..).next();
                large_enough.or_else(|| self.by_size.last()).map(|entry| entry.3)
            }
            Prefer::Hot => self.hottest(bytes, now),
        }
    }

    /// The free chunk with the best score. Only chunks that became free less than [`COOLING`] ticks ago, and those of
    /// the nearest sizes, are compared; no other chunk can win.
    fn hottest(&self, bytes: u64, now: u64) -> Option<ChunkId> {
        let candidate = |size: u64, last_freed: u64, inserted: u64, chunk: ChunkId| {
            let score = fit(size, bytes) + heat(now - last_freed);
            Candidate { score, last_freed, inserted, chunk }
        };
        // The chunk that was freed last wins unless another one has a higher score, as in the original.
        let &(last_freed, inserted, size, chunk) = self.by_age.last()?;
        let latest = candidate(size, last_freed, inserted, chunk);
        // Freed less than ten ticks ago.
        let still_hot = self.by_age.range(first_of((now + 1).saturating_sub(COOLING))..);
        let still_hot = still_hot.map(|&(last_freed, inserted, size, chunk)| (size, last_freed, inserted, chunk));
        let best = still_hot
            .chain(self.larger(bytes))
            .chain(self.smaller(bytes))
            .map(|(size, last_freed, inserted, chunk)| candidate(size, last_freed, inserted, chunk))
            .fold(latest, |best, other| if other.beats(&best) { other } else { best });
        // `beats` prefers the older one of equals, and the latest chunk is the youngest. So it is compared once more.
        Some(if best.score > latest.score { best.chunk } else { latest.chunk })
    }

    /// The chunks to choose from among those of at least `bytes` bytes: for each size that may be the best fit,
    /// the chunk that has been free for longest.
    fn larger(&self, bytes: u64) -> Vec<Entry> {
        let mut found: Vec<Entry> = Vec::new();
        let mut from = bytes;
        while let Some(&entry) = self.by_size.range(first_of(from)..).next() {
            // Sizes come from the best fit to worse ones. Chunks that are still hot are listed elsewhere, so here only
            // the fit counts, and sizes that fit worse than the first (by more than a rounding error) cannot win.
            if found.first().is_some_and(|first| fit(entry.0, bytes) < fit(first.0, bytes) - CLOSE) {
                break;
            }
            found.push(entry);
            from = entry.0 + 1;
        }
        found
    }

    /// The same for sizes below `bytes`.
    fn smaller(&self, bytes: u64) -> Vec<Entry> {
        let mut found: Vec<Entry> = Vec::new();
        let mut until = bytes;
        while let Some(&(size, ..)) = self.by_size.range(..first_of(until)).next_back() {
            if found.first().is_some_and(|first| fit(size, bytes) < fit(first.0, bytes) - CLOSE) {
                break;
            }
            // The chunk of this size that has been free for longest is the first of its size.
            found.extend(self.by_size.range(first_of(size)..).next());
            until = size;
        }
        found
    }
}

impl Candidate {
    /// Whether it has a better score, or the same and has been free for longer.
    fn beats(&self, other: &Candidate) -> bool {
        let age = |candidate: &Candidate| (candidate.last_freed, candidate.inserted);
        self.score > other.score || (self.score == other.score && age(self) < age(other))
    }
}

/// How well a chunk of `have` bytes suits a request of `need` bytes (see the module documentation). A perfect fit is 1;
/// a chunk that is much too small rounds to -1.
pub(super) fn fit(have: u64, need: u64) -> f32 {
    // Buffers without bytes take no part. If one did, the quotient below would be 0 / 0, which is less than no score.
    if have == need {
        return 1.0;
    }
    let distance = -(have.abs_diff(need) as f32 / have.max(need) as f32);
    if have >= need { distance + 1.0 } else { distance }
}

/// How recently a chunk became free that has been free for `ticks` ticks: 1 for 0 ticks, 0 from [`COOLING`] ticks on.
fn heat(ticks: u64) -> f32 {
    1.0 - (ticks as f32 / COOLING as f32).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fit_is_a_number_from_minus_one_to_one() {
        assert_eq!([fit(0, 0), fit(8, 8), fit(0, 8), fit(8, 0)], [1.0, 1.0, -1.0, 0.0]);
        assert_eq!([fit(1, u64::MAX), heat(0), heat(10)], [-1.0, 1.0, 0.0]);
        assert_eq!((fit(4, 8), fit(8, 4)), (-0.5, 0.5));
    }
}
