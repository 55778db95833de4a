//! In-place reuse: whose chunk an allocation takes over while its victim is alive.
//!
//! ```text
//!   |a       |....|b     |c  |      w needs 16; hints: a any-offset, b any-offset
//!   |w             |b r. |c  |      the run a, free, b has 18; w takes 16, and b keeps the
//!                                   last 2 bytes, its remainder, until it is freed
//! ```
//!
//! A *run* is a list of neighbouring chunks. It starts at the chunk of a victim. As long as it is too short it grows to
//! the right, over free chunks and over chunks of victims that may be overlaid at any offset. The run that fits best is
//! taken, the first of equals, unless it has less than a tenth of the bytes. A run that is too short is extended at its
//! end.
//!
//! A victim that has to be met at its base is no start if all it has left is a remainder.
//!
//! Remainders are dangerous (see [`review`](super::review)). A replay can do without
//! them: it then takes over only victims that lie as a whole on the newcomer's bytes.
//!
//! A [`Replay`] is the replay in progress: its `row` has the chunks, `held` has the chunk that each record gives back
//! when it is freed, and `reused` lists the takeovers. Records are named by their positions in a list.

use memplan_core::OverlayKind;

use super::free::fit;
use super::replay::Replay;
use super::row::ChunkId;

/// A victim and how to lie on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hint {
    /// The record whose chunk may be taken.
    pub(super) victim: usize,
    /// Whether both must start at the same byte.
    pub(super) kind: OverlayKind,
}

/// Which takeovers a replay may make.
#[derive(Clone, Copy)]
pub(super) struct Takeovers<'a> {
    /// The victims of each record.
    pub(super) hints: &'a [Vec<Hint>],
    /// How many bytes each record has, if victims must be taken as a whole.
    pub(super) whole: Option<&'a [u64]>,
}

/// A victim that still has a chunk.
struct Candidate {
    hint: Hint,
    chunk: ChunkId,
}

/// Neighbouring chunks to be taken together.
struct Run {
    /// From left to right.
    chunks: Vec<ChunkId>,
    /// Their bytes together.
    bytes: u64,
    /// How well these suit the newcomer ([`fit`]).
    fit: f32,
}

impl Replay<'_> {
    /// Finds room for a record of `bytes` bytes on its victims' chunks and takes it; `None` if no victim may be taken
    /// over, or if the best run has less than a tenth of the bytes.
    pub(super) fn take_over(&mut self, index: usize, bytes: u64) -> Option<ChunkId> {
        let candidates = self.candidates(index);
        let run = self.best_run(index, &candidates, bytes)?;
        // A run with less than a tenth of the bytes would have to grow by most of the request, so nothing is gained
        // by taking it. The tenth is the original's number.
        if run.bytes.saturating_mul(10) < bytes {
            return None;
        }
        // The records whose chunks are in the run, and the one that has the last chunk (`None` if that one is free).
        let victims: Vec<usize> = run.chunks.iter().filter_map(|&chunk| victim_in(&candidates, chunk)).collect();
        let last_victim = run.chunks.last().and_then(|&chunk| victim_in(&candidates, chunk));
        let all = self.join_run(&run, bytes);
        // The victims have no chunk of their own any more. When one is freed later, it gives back nothing but a
        // remainder.
        for &victim in &victims {
            self.held[victim] = None;
        }
        self.reused.push((index, victims));
        if self.row.chunk(all).bytes == bytes {
            return Some(all);
        }
        let (taken, rest) = self.row.split(all, bytes);
        // If the run ended in a victim's chunk, the bytes to the right of the newcomer belong to that victim until it
        // is freed. Otherwise they were free before.
        match last_victim {
            Some(victim) => {
                self.row.chunk_mut(rest).is_remainder = true;
                self.held[victim] = Some(rest);
            }
            None => self.set_free(rest),
        }
        Some(taken)
    }

    /// The victims of a record that still hold a chunk or a remainder.
    fn candidates(&self, index: usize) -> Vec<Candidate> {
        let alive = |&hint: &Hint| self.held[hint.victim].map(|chunk| Candidate { hint, chunk });
        self.takeovers.hints[index].iter().filter_map(alive).collect()
    }

    /// The run that fits best among those that start at a victim; `None` if no victim may be taken.
    fn best_run(&self, index: usize, candidates: &[Candidate], bytes: u64) -> Option<Run> {
        let mut best: Option<Run> = None;
        for candidate in candidates {
            // A remainder does not begin where its victim begins, so a newcomer there would not have the same base.
            if candidate.hint.kind == OverlayKind::SameBase && self.row.chunk(candidate.chunk).is_remainder {
                continue;
            }
            let run = self.run_from(candidate.chunk, candidates, bytes);
            let is_better = best.as_ref().is_none_or(|best| run.fit > best.fit);
            if is_better && self.may_take(index, &run, candidates) {
                best = Some(run);
            }
        }
        best
    }

    /// The run that starts at a chunk and grows to the right until it is long enough or cannot grow.
    fn run_from(&self, first: ChunkId, candidates: &[Candidate], bytes: u64) -> Run {
        // A chunk further right may join if it is free, or if its victim may be taken over at any offset: the newcomer
        // begins at the first chunk and so not where that victim begins.
        let joins = |&chunk: &ChunkId| {
            let anywhere =
                |candidate: &Candidate| candidate.chunk == chunk && candidate.hint.kind == OverlayKind::AnyOffset;
            self.row.chunk(chunk).is_free || candidates.iter().any(anywhere)
        };
        let mut run = Run { chunks: vec![first], bytes: self.row.chunk(first).bytes, fit: 0.0 };
        let mut next = self.row.chunk(first).right.filter(joins);
        while let Some(chunk) = next.filter(|_| run.bytes < bytes) {
            run.chunks.push(chunk);
            run.bytes += self.row.chunk(chunk).bytes;
            next = self.row.chunk(chunk).right.filter(joins);
        }
        run.fit = fit(run.bytes, bytes);
        run
    }

    /// Whether the newcomer may take a run. Without `whole` it always may. With it, every victim in the run has to end
    /// within the newcomer's bytes, so that nothing of it remains.
    fn may_take(&self, index: usize, run: &Run, candidates: &[Candidate]) -> bool {
        let Some(bytes) = self.takeovers.whole else { return true };
        // `start` is where a chunk begins, counted from the newcomer's first byte.
        let mut start = 0;
        run.chunks.iter().all(|&chunk| {
            let end = start + victim_in(candidates, chunk).map_or(0, |victim| bytes[victim]);
            start += self.row.chunk(chunk).bytes;
            end <= bytes[index]
        })
    }

    /// Makes one chunk of a run. If the run is too short, its last chunk is extended first.
    fn join_run(&mut self, run: &Run, bytes: u64) -> ChunkId {
        let (first, last) = (run.chunks[0], run.chunks[run.chunks.len() - 1]);
        for &chunk in &run.chunks {
            self.take_out(chunk);
        }
        if run.bytes < bytes {
            self.row.extend(last, bytes - run.bytes);
        }
        let all = if run.chunks.len() == 1 { first } else { self.row.merge(first, last, run.bytes.max(bytes)) };
        self.row.chunk_mut(all).last_freed = self.tick;
        all
    }
}

/// The candidate that holds a chunk; `None` if the chunk is free.
fn victim_in(candidates: &[Candidate], chunk: ChunkId) -> Option<usize> {
    candidates.iter().find(|candidate| candidate.chunk == chunk).map(|candidate| candidate.hint.victim)
}
