//! In-place reuse: whose chunk an allocation takes over while its victim is alive.
//!
//! ```text
//!   |a       |....|b     |c  |      w needs 16; hints: a any-offset, b any-offset
//!   |w             |b r. |c  |      the run a, free, b has 18; w takes 16, and b keeps the
//!                                   last 2 bytes, its remainder, until it is freed
//! ```
//!
//! A run starts at the chunk of a victim and grows to the right, while it is too
//! short, over free chunks and over victims for which any offset will do. The
//! victim whose run fits best is taken, the first of equals, unless its run has not
//! even a tenth of the bytes. A run that is too short is extended at its
//! end.
//!
//! A victim that has to be met at its base is no start if all it has left is a remainder.

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

/// A victim that still has a chunk.
struct Candidate {
    hint: Hint,
    chunk: ChunkId,
}

/// Neighbouring chunks to be taken together.
struct Run {
    chunks: Vec<ChunkId>,
    bytes: u64,
    fit: f32,
}

impl Replay {
    /// Finds room for a record on its victims' chunks; `None` if there is none worth taking.
    pub(super) fn take_over(&mut self, index: usize, bytes: u64) -> Option<ChunkId> {
        let candidates = self.candidates(index);
        let run = self.best_run(&candidates, bytes)?;
        if run.bytes.saturating_mul(10) < bytes {
            return None;
        }
        let victim_of = |chunk: &ChunkId| {
            candidates.iter().find(|candidate| candidate.chunk == *chunk).map(|candidate| candidate.hint.victim)
        };
        let victims: Vec<usize> = run.chunks.iter().filter_map(victim_of).collect();
        let last_victim = run.chunks.last().and_then(victim_of);
        let all = self.join_run(&run, bytes);
        for &victim in &victims {
            self.held[victim] = None;
        }
        self.reused.push((index, victims));
        if self.row.chunk(all).bytes == bytes {
            return Some(all);
        }
        let (taken, rest) = self.row.split(all, bytes);
        match last_victim {
            Some(victim) => {
                self.row.chunk_mut(rest).is_remainder = true;
                self.held[victim] = Some(rest);
            }
            None => self.set_free(rest),
        }
        Some(taken)
    }

    fn candidates(&self, index: usize) -> Vec<Candidate> {
        let alive = |&hint: &Hint| self.held[hint.victim].map(|chunk| Candidate { hint, chunk });
        self.hints[index].iter().filter_map(alive).collect()
    }

    fn best_run(&self, candidates: &[Candidate], bytes: u64) -> Option<Run> {
        let mut best: Option<Run> = None;
        for candidate in candidates {
            if candidate.hint.kind == OverlayKind::SameBase && self.row.chunk(candidate.chunk).is_remainder {
                continue;
            }
            let run = self.run_from(candidate.chunk, candidates, bytes);
            if best.as_ref().is_none_or(|best| run.fit > best.fit) {
                best = Some(run);
            }
        }
        best
    }

    fn run_from(&self, first: ChunkId, candidates: &[Candidate], bytes: u64) -> Run {
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

    /// Makes one chunk of a run, extended if it is too short.
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
