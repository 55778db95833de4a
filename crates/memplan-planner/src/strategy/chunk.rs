//! `chunk-hot` and `chunk-size-first`: replay the program's allocations and frees.
//!
//! Memory is a row of chunks. Every start of a life takes a free chunk, every end gives its chunk back,
//! in the order of the program:
//!
//! ```text
//!   alloc a 100   |a        |
//!   alloc b  50   |a        |b   |
//!   free  a       |.........|b   |
//!   alloc c 160   |c              |b   |    the free chunk is 60 short: it is
//!                                           extended, and b moves from 100 to 160
//! ```
//!
//! New memory is opened only when no chunk is free; a chunk that is too large is
//! split, one that is too small is extended, which moves everything to its right. Since the
//! program has not run yet, moving costs nothing; offsets are read off at the end.
//! Neighbouring free chunks become one. Sizes are rounded up to the alignment first.
//!
//! The two strategies differ in the free chunk they take:
//!
//! - `chunk-size-first`: the smallest that is large enough (the one that is free for longest among
//!   equals), else the largest (the latest among equals);
//! - `chunk-hot`: the best score. Half of it is how well the size fits, half how recently the chunk
//!   became free, in planner ticks (one for every alloc and free): such memory is likely
//!   still in a cache.
//!
//! In-place hints are the problem's overlays: an alloc may take over the chunk of a
//! victim that is still alive, and grow to the right over free chunks and other
//! victims; see `chunk/in_place.rs`.
//!
//! A *record* is a buffer as a size and one stretch of time. A record that takes over a victim's chunk makes a
//! *takeover*; what is left of the victim's chunk to the right of the newcomer is the victim's *remainder*.
//!
//! `chunk/row.rs` keeps the chunks and finds the final offsets, `chunk/free.rs` chooses among the free
//! ones. O(n log n).
//!
//! DIVERGENCE: the planner this comes from uses sizes that are not rounded for
//! in-place reuse, and so misaligns later buffers. Here they are always rounded. It also
//! tears victims apart now and then; here the offsets get a review, and if one was torn,
//! the trace is replayed with more care.
//!
//! [`plan_offsets`] runs [`pack`] for each space, and makes one plan of the [`Packing`]s; [`padded`] rounds sizes up; a
//! [`Hint`] names a victim whose chunk a record may take over.

mod free;
mod in_place;
mod replay;
mod review;
mod row;

use std::collections::{HashMap, HashSet};

use memplan_core::{BufferId, IndexVec, Outcome, Overlay, Problem, Reuse, patience};

use crate::records::{Packing, Record, padded, plan_offsets, supports_records};
use crate::{Assign, Feature, Request, Strategy};
use in_place::{Hint, Takeovers};
use replay::Replay;
use review::{Pair, Review};

/// What matters most in a free chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prefer {
    /// Half the fit, half how recently it became free.
    Hot,
    /// That the size fits.
    Size,
}

/// See the module documentation.
pub struct Chunk {
    name: &'static str,
    describe: &'static str,
    prefer: Prefer,
}

/// Prefers chunks that became free recently.
pub const HOT: Chunk = Chunk {
    name: "chunk-hot",
    describe: "replays allocs and frees; recently freed chunks of the right size first",
    prefer: Prefer::Hot,
};

/// Prefers chunks of the right size.
pub const SIZE_FIRST: Chunk = Chunk {
    name: "chunk-size-first",
    describe: "replays allocs and frees; the smallest chunk that is large enough first",
    prefer: Prefer::Size,
};

impl Strategy for Chunk {
    fn name(&self) -> &'static str {
        self.name
    }

    fn describe(&self) -> &'static str {
        self.describe
    }

    fn assigns(&self) -> &'static [Assign] {
        &[Assign::Offsets]
    }

    fn supports(&self, feature: Feature, _: Assign) -> bool {
        supports_records(feature)
    }

    /// Packs each space on its own. The overlays are sorted by newcomer first.
    fn plan(&self, problem: &Problem, _: &Request) -> Outcome {
        let mut overlays = IndexVec::<BufferId, Vec<Overlay>>::filled(Vec::new(), problem.buffers().len());
        for overlay in problem.overlays() {
            overlays[overlay.buffer].push(*overlay);
        }
        plan_offsets(problem, |records| pack(records, &overlays, self.prefer))
    }
}

/// Replays the trace of allocations and frees, and replays it with more care if the result is not sound. `None` if the
/// sum of the padded sizes exceeds 2^63 bytes, or if the caller's patience ends.
///
/// A takeover may leave its victim with a *remainder*, and later extensions may tear remainder and victim apart. Then a
/// buffer lies on bytes that it has no permission for. The [`Review`] looks for that in the final offsets. Most traces
/// pass, so the careful replay, which never leaves a remainder and reuses less, is the exception.
fn pack(records: &[Record], overlays: &IndexVec<BufferId, Vec<Overlay>>, prefer: Prefer) -> Option<Packing> {
    let padded = padded(records)?;
    let hints = hints(records, overlays);
    // `whole: None` permits takeovers that leave a remainder.
    let replayed = replay(&padded, prefer, Takeovers { hints: &hints, whole: None })?;
    if replayed.takeovers.is_empty() {
        return Some(replayed.packing(records, Vec::new()));
    }
    let review = Review { records, offsets: &replayed.offsets };
    if review.is_sound(replayed.pairs()) {
        return Some(replayed.packing(records, Vec::new()));
    }
    // Buffers may have come to lie on each other without a takeover. If the problem permits that, the plan only has to
    // declare these overlays as well.
    let taken_over: HashSet<Pair> = replayed.pairs().collect();
    let also: Vec<Pair> = review.permitted(&hints).filter(|pair| !taken_over.contains(pair)).collect();
    if review.is_sound(replayed.pairs().chain(also.iter().copied())) {
        return Some(replayed.packing(records, also));
    }
    let bytes: Vec<u64> = records.iter().map(|record| record.bytes).collect();
    let careful = Takeovers { hints: &hints, whole: Some(&bytes) };
    Some(replay(&padded, prefer, careful)?.packing(records, Vec::new()))
}

/// What came of a replay.
struct Replayed {
    /// By record.
    offsets: Vec<u64>,
    /// The bytes of the whole row.
    extent: u64,
    /// Each record that took over chunks, with the records that held them, from left to right.
    takeovers: Vec<(usize, Vec<usize>)>,
}

/// Plays allocations and frees in the order of time, as an allocator at run time would do. `None` if the caller's
/// patience ends.
fn replay(padded: &[Record], prefer: Prefer, takeovers: Takeovers) -> Option<Replayed> {
    let mut replay = Replay::new(prefer, takeovers);
    for (index, is_alloc) in events(padded) {
        // The caller has stopped waiting (time limit, Ctrl-C): an unfinished plan is of no use.
        if patience::is_over() {
            return None;
        }
        if is_alloc {
            replay.allocate(index, padded[index].bytes);
        } else {
            replay.free(index);
        }
    }
    let (offsets, extent) = replay.finish();
    Some(Replayed { offsets, extent, takeovers: replay.reused })
}

impl Replayed {
    /// The takeovers as pairs of a newcomer and a victim.
    fn pairs(&self) -> impl Iterator<Item = Pair> {
        self.takeovers.iter().flat_map(|(index, victims)| victims.iter().map(|&victim| (*index, victim)))
    }

    /// The packing, with the overlays that it relies on, sorted by newcomer. The pairs in `also` lie on each other
    /// without a takeover; each has an entry of its own, before the entry of the same newcomer's takeovers.
    fn packing(self, records: &[Record], also: Vec<Pair>) -> Packing {
        let buffer = |index: usize| records[index].buffer;
        let reuse = |(index, over): (usize, Vec<usize>)| Reuse {
            buffer: buffer(index),
            over: over.into_iter().map(buffer).collect(),
        };
        let also = also.into_iter().map(|(index, victim)| (index, vec![victim]));
        let mut reused: Vec<Reuse> = also.chain(self.takeovers).map(reuse).collect();
        reused.sort_by_key(|reuse| reuse.buffer);
        Packing { offsets: self.offsets, extent: self.extent, reused }
    }
}

/// The starts (`true`) and ends (`false`) of records, each with the number of its record, in the order of time. At one
/// step ends come first, and among equals the input's order counts. Buffers without bytes take no part.
fn events(records: &[Record]) -> Vec<(usize, bool)> {
    let mut events: Vec<(u64, bool, usize)> = Vec::with_capacity(2 * records.len());
    for (index, record) in records.iter().enumerate().filter(|(_, record)| record.bytes > 0) {
        events.push((record.start, true, index));
        events.push((record.end, false, index));
    }
    // `false` (an end) sorts before `true` (a start).
    events.sort_unstable();
    events.into_iter().map(|(_, is_alloc, index)| (index, is_alloc)).collect()
}

/// By record: whose chunk it may take over, in the order of the problem's overlays. Overlays whose victim is in
/// another space (and so not among the records) or does not start earlier are left out.
fn hints(records: &[Record], overlays: &IndexVec<BufferId, Vec<Overlay>>) -> Vec<Vec<Hint>> {
    if overlays.iter().all(Vec::is_empty) {
        return vec![Vec::new(); records.len()];
    }
    let index_of: HashMap<BufferId, usize> =
        records.iter().enumerate().map(|(index, record)| (record.buffer, index)).collect();
    let of_record = |record: &Record| -> Vec<Hint> {
        let hint = |overlay: &Overlay| {
            let victim = *index_of.get(&overlay.over)?;
            (records[victim].start < record.start).then_some(Hint { victim, kind: overlay.kind })
        };
        overlays[record.buffer].iter().filter_map(hint).collect()
    };
    records.iter().map(of_record).collect()
}
