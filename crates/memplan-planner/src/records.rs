//! Buffers as usage records: a size and one stretch of time.
//!
//! The planners of the usage-record family, the chunk planner and the
//! global-memory allocators know nothing but sizes and lifetimes, in one memory.
//! This module is how a [`Problem`] reaches them and how their answers come back:
//!
//! ```text
//!   problem ──► one list of records a space ──► the algorithm ──► one plan
//!               (input order)                   (per space)       (merged)
//! ```
//!
//! - A life with gaps, or with windows of live bytes, becomes its *hull*: the whole buffer from its first step to its
//!   last. Every plan of the hulls is valid, but some plans that share bytes in gaps or outside of windows are lost.
//! - Buffers that are never alive conflict with no other buffer, unless the order of execution is not fixed. The
//!   algorithms do not see them; they get a place afterwards.
//!
//! [`Outcome::judge`] compares a plan with the lower bound and the capacities. [`reserved`] is the number of bytes that
//! one slot of a buffer takes.

use memplan_core::{BufferId, Bytes, Id, IndexVec, Outcome, Placement, Plan, Problem, Reuse, Size, SpaceId, Stop};

use crate::Feature;
use crate::piece::reserved;

/// One used buffer of one space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'p> {
    /// Whose record it is.
    pub(crate) buffer: BufferId,
    /// Its size as the problem gives it.
    pub(crate) size: &'p Size,
    /// Its size in bytes; 0 for shapes and unbounded symbols, whose planners look at `size`.
    pub(crate) bytes: u64,
    /// What its offset must be a multiple of.
    pub(crate) alignment: u64,
    /// First step of its life.
    pub(crate) start: u64,
    /// First step after its life.
    pub(crate) end: u64,
}

impl Record<'_> {
    /// Whether both are alive at some step.
    pub(crate) fn overlaps(&self, other: &Record) -> bool {
        self.start < other.end && other.start < self.end
    }
}

/// The buffers that are alive at some step, by space, and those that are never alive, each in input order.
struct BySpace<'p> {
    used: IndexVec<SpaceId, Vec<Record<'p>>>,
    unused: Vec<Record<'p>>,
}

impl BySpace<'_> {
    /// The buffers as records, space by space. Buffers that never live are listed apart.
    fn of(problem: &Problem) -> BySpace<'_> {
        let mut used = IndexVec::filled(Vec::new(), problem.spaces().len());
        let mut unused = Vec::new();
        for (id, buffer) in problem.buffers().iter_enumerated() {
            let space = home(problem, id);
            let (start, end) = (buffer.lifetime.start(), buffer.lifetime.end());
            let record = Record {
                buffer: id,
                size: &buffer.size,
                bytes: reserved(buffer).0,
                alignment: problem.alignment_in(id, space).0,
                // A buffer that is never alive has no start. Its record goes to `unused`, where the life is not looked
                // at.
                start: start.unwrap_or_default().0,
                end: end.unwrap_or_default().0,
            };
            let list = if start.is_some() { &mut used[space] } else { &mut unused };
            list.push(record);
        }
        BySpace { used, unused }
    }
}

/// The only space of a buffer; record strategies refuse problems in which buffers may choose.
fn home(problem: &Problem, buffer: BufferId) -> SpaceId {
    problem.buffers()[buffer].spaces.first().copied().unwrap_or(SpaceId::from_index(0))
}

/// Positions of the records in the order in which they start; equal starts keep their order.
pub(crate) fn by_start(records: &[Record]) -> Vec<usize> {
    // Starts are sorted together with positions, so that sorting does not look into records all over the memory.
    let mut order: Vec<(u64, usize)> = records.iter().map(|record| record.start).zip(0..).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, index)| index).collect()
}

/// The least common multiple of the records' alignments (in bytes): a multiple of it suits every record. `None` if it
/// exceeds [`memplan_core::MAX_BYTES`].
pub(crate) fn common_alignment(records: &[Record]) -> Option<u64> {
    records.iter().try_fold(1, |multiple, record| least_common_multiple(multiple, record.alignment))
}

/// The records with sizes rounded up to their common alignment, so that a record that starts where another one ends is
/// aligned. `None` if the common alignment or the sum of the padded sizes exceeds [`memplan_core::MAX_BYTES`].
pub(crate) fn padded<'p>(records: &[Record<'p>]) -> Option<Vec<Record<'p>>> {
    let granule = Bytes(common_alignment(records)?);
    let mut sum = Bytes::ZERO;
    let pad = |record: &Record<'p>| {
        let bytes = Bytes(record.bytes).align_up(granule)?;
        sum = sum.checked_add(bytes)?;
        Some(Record { bytes: bytes.0, ..*record })
    };
    records.iter().map(pad).collect()
}

/// The least common multiple (by Euclid's algorithm for the greatest common divisor); `None` if it exceeds
/// [`memplan_core::MAX_BYTES`].
pub(crate) fn least_common_multiple(one: u64, other: u64) -> Option<u64> {
    let (mut a, mut b) = (one, other);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    Bytes(one / a.max(1)).checked_mul(other).map(|multiple| multiple.0)
}

/// Offsets for the records of one space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Packing {
    /// The offset (in bytes) of each record.
    pub(crate) offsets: Vec<u64>,
    /// The extent of the space in bytes; no record ends above it.
    pub(crate) extent: u64,
    /// In-place reuses.
    pub(crate) reused: Vec<Reuse>,
}

impl Packing {
    /// A packing that needs no more than its furthest end.
    pub(crate) fn tight(records: &[Record], offsets: Vec<u64>) -> Packing {
        let ends = records.iter().zip(&offsets).map(|(record, offset)| offset + record.bytes);
        Packing { extent: ends.max().unwrap_or(0), offsets, reused: Vec::new() }
    }
}

/// Plans each space on its own with `pack`, and makes one plan of the results. [`Outcome::judge`] then compares the
/// plan with the lower bound and the capacities, and says whether it is optimal or feasible, or that it does not fit.
///
/// `pack` returns `None` if it gave up (at the ceiling, or because the caller no longer waits) or if numbers became too
/// large. Then the outcome is `Exhausted`: no plan, and no proof that there is none. Its `stop` is `Finished`, because
/// the strategy has done all that it can do; more time or work would not help.
pub(crate) fn plan_offsets(problem: &Problem, pack: impl Fn(&[Record]) -> Option<Packing>) -> Outcome {
    let by_space = BySpace::of(problem);
    let mut plan = Plan::empty(problem);
    for (space, records) in by_space.used.iter_enumerated() {
        let Some(packing) = pack(records) else { return Outcome::Exhausted { stop: Stop::Finished } };
        for (record, &offset) in records.iter().zip(&packing.offsets) {
            plan.placements[record.buffer] = Some(Placement::at(space, Bytes(offset)));
        }
        plan.extents[space] = Bytes(packing.extent);
        plan.reused.extend(packing.reused);
    }
    for record in &by_space.unused {
        if place_unused(problem, record, &mut plan).is_none() {
            return Outcome::Exhausted { stop: Stop::Finished };
        }
    }
    Outcome::judge(problem, plan, Stop::Finished)
}

/// Places a buffer that is never alive. If the order of execution is fixed, it conflicts with no other buffer and goes
/// to offset 0. If it is not, lives say nothing, so the buffer gets bytes of its own, above all others. The space has
/// to be large enough for it in both cases. `None` if the buffer would end above 2^63 bytes.
fn place_unused(problem: &Problem, record: &Record, plan: &mut Plan) -> Option<()> {
    let space = home(problem, record.buffer);
    let above = if problem.dependencies().is_some() { plan.extents[space] } else { Bytes::ZERO };
    let offset = above.align_up(Bytes(record.alignment))?;
    plan.placements[record.buffer] = Some(Placement::at(space, offset));
    plan.extents[space] = plan.extents[space].max(offset.checked_add(Bytes(record.bytes))?);
    Some(())
}

/// As [`plan_offsets`], for shared objects: plans each space on its own with `share`, and makes one plan of the
/// results. If `share` returns `None`, it gave up, and the outcome is `Exhausted`. Buffers that are never alive get an
/// object afterwards.
pub(crate) fn plan_objects(problem: &Problem, share: impl Fn(&[Record]) -> Option<crate::sharing::Sharing>) -> Outcome {
    let mut by_space = BySpace::of(problem);
    let mut plan = Plan::empty(problem);
    let unused = std::mem::take(&mut by_space.unused);
    for (space, records) in by_space.used.iter_enumerated() {
        let Some(mut sharing) = share(records) else { return Outcome::Exhausted { stop: Stop::Finished } };
        let here: Vec<Record> = unused.iter().copied().filter(|record| home(problem, record.buffer) == space).collect();
        // Without a fixed order of execution, lives do not say that these buffers conflict with no other one.
        let is_ordered = problem.dependencies().is_none();
        let places = if is_ordered { sharing.admit_unused(&here) } else { sharing.add_objects(&here) };
        let used = records.iter().zip(&sharing.object_of);
        sharing.add_to(&mut plan, space, used.chain(here.iter().zip(&places)));
    }
    plan.fit_extents(problem);
    Outcome::judge(problem, plan, Stop::Finished)
}

/// The features that every record strategy honours: alignments, hulls for gaps
/// and windows, several spaces one by one, sizes with an upper bound.
pub(crate) fn supports_records(feature: Feature) -> bool {
    use Feature::*;
    matches!(feature, Alignment | Gaps | Windows | SeveralSpaces | BoundedSymbols)
}
