//! Buffers that lie on different bytes whenever they are alive.
//!
//! Pairs that must not share bytes, and exclusive buffers, are apart at all times. If
//! all of a set of buffers are apart from each other, a space needs the sum of their
//! sizes, though perhaps no step sees two of them alive:
//!
//! ```text
//!   step            0   1   2   3
//!   a   64          ####                must not share with b and c
//!   b   32              ####            must not share with a and c
//!   c   16                  ####        live bytes 64, 32, 16; needed 112
//! ```
//!
//! The heaviest such set is a maximum clique, which is hard to find. A few sets are grown greedily instead: each begins
//! with one of the heaviest buffers, and the others are tried from the heaviest to the lightest. The set that is found
//! need not be the heaviest, but any set gives a valid bound. The heaviest is found, for instance, if the pairs form
//! separate sets in each of which every pair is declared, and one of the heaviest buffers is in the heaviest set.
//!
//! A `Selection` says which buffers of the problem count: those that can only live in one space. The table needs a bit
//! for each pair of candidates. If a problem has no pairs that must not share, nothing is computed: the sweep over time
//! (`sweep.rs`) already counts exclusive buffers at every step.

use super::selection::Selection;
use crate::{BufferId, Bytes, IndexVec, Problem, SpaceId};

/// Only this many of the heaviest buffers are looked at: a table has a bit for each pair, 2 MiB in all.
const MOST_CANDIDATES: usize = 4096;
/// Among up to this many buffers, those that are alive together count as apart, too. Larger sets are not
/// compared in time, because that is quadratic.
const MOST_COMPARED: usize = 512;
/// How many sets are grown, each from another buffer.
const SEEDS: usize = 8;

/// A heavy set of buffers that are apart from each other, and the bytes that it needs. `selection` must have only
/// buffers that live in `space`, and `space` decides which alignment each of them has. `None` if the problem has no
/// pairs that must not share, or if no selected buffer is a candidate (see [`candidates`]).
pub(super) fn heavy_set(pairs: &Pairs, selection: &Selection, space: SpaceId) -> Option<(Bytes, Vec<BufferId>)> {
    let problem = selection.problem;
    if problem.must_not_share().is_empty() {
        return None;
    }
    // A set is grown around each of the heaviest candidates, and the one that needs most is kept.
    let candidates = candidates(pairs, selection);
    let apart = Apart::new(pairs, problem, &candidates);
    let sets = (0..candidates.len().min(SEEDS)).map(|seed| apart.grow(seed));
    let sets = sets.map(|set| set.into_iter().map(|index| candidates[index]).collect::<Vec<_>>());
    sets.map(|set| (needed(problem, space, &set), set)).max_by_key(|(bytes, _)| *bytes)
}

/// What is said about pairs, by buffer, so that a space looks at its own buffers only.
pub(super) struct Pairs {
    /// Both directions of every pair that must not share, sorted.
    apart: Vec<(BufferId, BufferId)>,
    /// Whether another buffer may take bytes over from this one.
    may_end_early: IndexVec<BufferId, bool>,
}

impl Pairs {
    /// The pairs of a problem. Without any pair `may_end_early` stays empty, because it is not used then.
    pub(super) fn of(problem: &Problem) -> Pairs {
        let both = problem.must_not_share().iter().flat_map(|&(one, other)| [(one, other), (other, one)]);
        let mut apart: Vec<(BufferId, BufferId)> = both.collect();
        apart.sort_unstable();
        let is_needed = !apart.is_empty();
        let mut may_end_early = IndexVec::filled(false, if is_needed { problem.buffers().len() } else { 0 });
        problem.overlays().iter().filter(|_| is_needed).for_each(|overlay| may_end_early[overlay.over] = true);
        Pairs { apart, may_end_early }
    }

    /// With whom a buffer must not share.
    fn of_buffer(&self, id: BufferId) -> &[(BufferId, BufferId)] {
        // The list is sorted, so the pairs of one buffer stand side by side.
        let first = self.apart.partition_point(|pair| pair.0 < id);
        let count = self.apart[first..].partition_point(|pair| pair.0 == id);
        &self.apart[first..first + count]
    }
}

/// Bytes of all slots.
fn weight(problem: &Problem, buffer: BufferId) -> u128 {
    let info = &problem.buffers()[buffer];
    u128::from(info.bytes().unwrap_or_default().0) * u128::from(info.slots)
}

/// The buffers that may belong to a heavy set, the heaviest first: those that are in a pair that must not share, and
/// exclusive ones. Members of a block are left out, because they may overlap each other.
fn candidates(pairs: &Pairs, selection: &Selection) -> Vec<BufferId> {
    let problem = selection.problem;
    let counts = |id: &BufferId| {
        let named = problem.buffers()[*id].exclusive || !pairs.of_buffer(*id).is_empty();
        named && weight(problem, *id) > 0 && problem.blocks().place_of(*id).is_none()
    };
    let mut candidates: Vec<BufferId> = selection.buffers.iter().copied().filter(counts).collect();
    candidates.sort_by_key(|&id| (std::cmp::Reverse(weight(problem, id)), id));
    candidates.truncate(MOST_CANDIDATES);
    candidates
}

/// For each candidate the others it is apart from, a bit each.
struct Apart {
    /// How many candidates there are.
    count: usize,
    /// How many words of 64 bits a row of the matrix takes.
    words: usize,
    /// The rows one after the other: bit `j` of row `i` says that candidates `i` and `j` are apart.
    bits: Vec<u64>,
}

impl Apart {
    /// A matrix of bits: which candidates are apart from which. They are if a pair says so, if one of them is
    /// exclusive, or if they are alive together.
    fn new(pairs: &Pairs, problem: &Problem, candidates: &[BufferId]) -> Apart {
        let count = candidates.len();
        let words = count.div_ceil(64);
        let mut apart = Apart { count, words, bits: vec![0; count * words] };
        // For looking up the number of a candidate by its buffer.
        let mut by_id: Vec<(BufferId, usize)> = candidates.iter().copied().zip(0..).collect();
        by_id.sort_unstable();
        for (index, &id) in candidates.iter().enumerate() {
            for (_, other) in pairs.of_buffer(id) {
                if let Ok(position) = by_id.binary_search_by_key(other, |entry| entry.0) {
                    apart.set(index, by_id[position].1);
                }
            }
        }
        for (index, &id) in candidates.iter().enumerate() {
            if problem.buffers()[id].exclusive {
                (0..count).filter(|&other| other != index).for_each(|other| apart.set(index, other));
            }
        }
        if count <= MOST_COMPARED {
            apart.compare_lives(pairs, problem, candidates);
        }
        apart
    }

    /// Notes that two buffers are apart if they are alive together with all of their bytes, unless some newcomer may
    /// take bytes over from one of them.
    fn compare_lives(&mut self, pairs: &Pairs, problem: &Problem, candidates: &[BufferId]) {
        let stretches = |id: BufferId| problem.buffers()[id].lifetime.intervals();
        let whole = |id: &BufferId| !pairs.may_end_early[*id] && stretches(*id).all(|part| part.window.is_none());
        for (index, one) in candidates.iter().enumerate().filter(|(_, id)| whole(id)) {
            for (other_index, other) in candidates[..index].iter().enumerate().filter(|(_, id)| whole(id)) {
                let meets = |x: crate::Interval| stretches(*other).any(|y| x.start < y.end && y.start < x.end);
                if stretches(*one).any(meets) {
                    self.set(index, other_index);
                }
            }
        }
    }

    /// Notes that two candidates are apart, in the rows of both.
    fn set(&mut self, one: usize, other: usize) {
        for (row, column) in [(one, other), (other, one)] {
            self.bits[row * self.words + column / 64] |= 1 << (column % 64);
        }
    }

    /// The bits of one candidate.
    fn row(&self, index: usize) -> &[u64] {
        &self.bits[index * self.words..(index + 1) * self.words]
    }

    /// A set around a candidate, in which all are apart. `allowed` has the candidates that are apart from all members
    /// so far; they are tried in their order, the heaviest first.
    fn grow(&self, seed: usize) -> Vec<usize> {
        let mut set = vec![seed];
        // A candidate's own bit is not set, so the seed and the members are not allowed again.
        let mut allowed = self.row(seed).to_vec();
        for next in 0..self.count {
            if allowed[next / 64] >> (next % 64) & 1 == 1 {
                set.push(next);
                allowed.iter_mut().zip(self.row(next)).for_each(|(allowed, row)| *allowed &= row);
            }
        }
        set
    }
}

/// What a set needs whose members are all apart: the sum of their sizes, rounded up to the greatest common divisor of
/// their alignments, less the largest tail. (The topmost member need not have its tail, and any member may be the
/// topmost.)
fn needed(problem: &Problem, space: SpaceId, set: &[BufferId]) -> Bytes {
    let alignments = set.iter().map(|&id| problem.alignment_in(id, space).0);
    let granule = alignments.fold(0, super::sweep::greatest_common_divisor).max(1);
    let size = |id: BufferId| problem.buffers()[id].bytes().unwrap_or_default().0;
    let rounded = |id: BufferId| size(id).next_multiple_of(granule);
    // Slots of one buffer are apart from each other, too.
    let sum: u128 = set.iter().map(|&id| u128::from(rounded(id)) * u128::from(problem.buffers()[id].slots)).sum();
    let tail = set.iter().map(|&id| rounded(id) - size(id)).max().unwrap_or(0);
    Bytes(u64::try_from(sum - u128::from(tail)).unwrap_or(u64::MAX))
}
