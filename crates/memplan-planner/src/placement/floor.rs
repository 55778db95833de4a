//! The pieces that are placed in one space, and which of them are in the way of another one.
//!
//! Placed rectangles are found through one of three indexes. [`Conflicts`] lists
//! them one by one, knows their owners and can forget them: the general case.
//! [`Periods`] keeps those of each period of time sorted by their bytes, which pays as soon as there are many
//! ([`MANY_RECTANGLES`]). [`Skyline`] merges their bytes, which pays where very many are alive at once
//! ([`MERGED_ALIVE`]). The last two are possible only if no piece has partners of overlays, for which owners have to be
//! known, and none has several slots, which are taken away again if not all of them fit into a space.
//!
//! Words from other files: a [`Rect`] is bytes of a piece (counted from its offset) during a stretch of time; an
//! [`Obstacle`] is a range of offsets that a piece cannot have; a [`Heap`] is what is placed as long as all of it is
//! alive at one moment; a [`RangeSet`] is a set of bytes.

use std::sync::Arc;

use memplan_core::{Bytes, IndexVec, MAX_BYTES, SpaceId};

use super::conflicts::Conflicts;
use super::fit::Obstacle;
use super::heap::Heap;
use super::periods::Periods;
use super::piece::{PieceId, Pieces, Rect};
use super::range_set::RangeSet;
use super::skyline::{Skyline, Wanted};
use crate::tuning::{MANY_RECTANGLES, MERGED_ALIVE};

/// See the module documentation.
#[derive(Clone, Debug)]
pub(crate) struct Floor {
    /// No buffer may end above this offset.
    pub(crate) limit: u64,
    grid: Grid,
    index: Index,
    /// Everything that is placed, as long as there is a moment at which all of it is alive; `None` afterwards.
    heap: Option<Heap>,
    /// Bytes of exclusive buffers, rounded up to the granule: taken at all times.
    pub(crate) blocked: RangeSet,
    /// Pieces that are placed, except those in `alone`.
    pub(crate) placed: Vec<PieceId>,
    /// Exclusive buffers that are no part of a block: `blocked` says all about them.
    pub(crate) alone: Vec<PieceId>,
}

/// The three ways to find the placed rectangles that are alive during a stretch of time.
#[derive(Clone, Debug)]
enum Index {
    /// One by one.
    Listed {
        /// Which ranks are placed, by when they are alive.
        conflicts: Conflicts,
        /// By rank: the piece that owns the rectangle.
        owners: Arc<[PieceId]>,
        /// By rank: the bytes of the rectangle, from the first to one past the last. Stale if it is not placed.
        bytes: Vec<(u64, u64)>,
    },
    /// By period of time, sorted by their bytes.
    Sorted(Periods),
    /// As merged bytes.
    Merged(Skyline),
}

/// What the offsets in a space have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    /// Every buffer starts at a multiple of this.
    pub(crate) granule: u64,
    /// The end of a taken range can be rounded up to a multiple of this, because nothing can begin before it: the
    /// granule, or 1 if a window may begin in the middle of a buffer.
    pub(crate) rounding: u64,
}

impl Grid {
    /// The grids of all spaces, found in one pass over the buffers.
    pub(crate) fn of_spaces(pieces: &Pieces) -> IndexVec<SpaceId, Grid> {
        let problem = pieces.problem();
        let mut granules = IndexVec::<SpaceId, u64>::filled(0, problem.spaces().len());
        // All offsets are multiples of the greatest common divisor of all alignments. 0 stands for "no buffer yet": the
        // divisor of 0 and n is n.
        for (id, buffer) in problem.buffers().iter_enumerated() {
            for &space in &buffer.spaces {
                granules[space] = greatest_common_divisor(granules[space], problem.alignment_in(id, space).0);
            }
        }
        let has_windows = pieces.has_windows();
        let grid = |granule: u64| Grid { granule, rounding: if has_windows { 1 } else { granule } };
        granules.iter().map(|&granule| grid(granule.max(1))).collect()
    }
}

/// A rectangle that can be placed in the space: the steps `start..end`, and the piece that owns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stretch {
    pub(crate) start: u32,
    /// Its number in the order in which the placer lists all rectangles of all homes. The placer writes the rank to
    /// this position of its table.
    pub(crate) note: u32,
    pub(crate) end: u32,
    pub(crate) owner: PieceId,
}

impl Floor {
    /// A space in which nothing lies yet. `stretches` are the rectangles that may be placed in it. If they are listed
    /// one by one, they are sorted, and from then on a rectangle is named by its rank, which is its position in the
    /// sorted list. `may_merge` allows the indexes that do not know rectangles by name, which is possible only if their
    /// owners are never asked for ([`Pieces::can_be_merged`]).
    pub(crate) fn new(
        pieces: &Pieces,
        space: SpaceId,
        grid: Grid,
        may_merge: bool,
        stretches: &mut [Stretch],
    ) -> Floor {
        let info = &pieces.problem().spaces()[space];
        // Counting who is alive takes time. It is left out if there are not even enough rectangles to be crowded.
        let is_crowded =
            may_merge && stretches.len() as u64 > MERGED_ALIVE && average_alive(pieces, stretches) > MERGED_ALIVE;
        let index = if is_crowded {
            Index::Merged(Skyline::new(pieces.steps().len()))
        } else if may_merge && stretches.len() >= MANY_RECTANGLES {
            Index::Sorted(Periods::new(pieces.steps().len(), stretches))
        } else {
            stretches.sort_unstable();
            Index::Listed {
                conflicts: Conflicts::new(stretches.iter().map(|stretch| stretch.start).collect()),
                owners: stretches.iter().map(|stretch| stretch.owner).collect(),
                bytes: vec![(0, 0); stretches.len()],
            }
        };
        let limit = info.capacity.map_or(MAX_BYTES, |capacity| capacity.0);
        Floor {
            limit,
            grid,
            index,
            heap: Some(Heap::empty()),
            blocked: RangeSet::default(),
            placed: Vec::new(),
            alone: Vec::new(),
        }
    }

    /// Takes everything away.
    pub(crate) fn clear(&mut self) {
        match &mut self.index {
            Index::Listed { conflicts, .. } => conflicts.clear(),
            Index::Sorted(periods) => periods.clear(),
            Index::Merged(skyline) => skyline.clear(),
        }
        self.heap = Some(Heap::empty());
        self.blocked.clear();
        self.placed.clear();
        self.alone.clear();
    }

    /// Adds an obstacle, for the piece that `rect` belongs to, for each placed rectangle that is alive at the same time
    /// (or for each range of bytes that several of them make together).
    pub(crate) fn obstacles(&self, rect: &Rect, obstacles: &mut Vec<Obstacle>) {
        let own = (rect.low, rect.high);
        match &self.index {
            Index::Listed { conflicts, bytes, .. } => {
                conflicts.for_each(rect.start, rect.end, |rank| obstacles.push(Obstacle::new(bytes[rank], own)));
            }
            Index::Sorted(periods) => {
                periods.for_each(rect.start, rect.end, |range| obstacles.push(Obstacle::new(range, own)));
            }
            Index::Merged(skyline) => {
                skyline.for_each(rect.start, rect.end, |range| obstacles.push(Obstacle::new(range, own)));
            }
        }
    }

    /// The lowest free offset for a piece that is one rectangle, if it can be found without listing all obstacles, and
    /// the number of ranges looked at. The outer `None` says that the obstacles have to be listed; the inner one, that
    /// no offset up to `highest` is free.
    pub(crate) fn lowest(&mut self, rect: &Rect, alignment: u64, highest: u64) -> Option<(Option<u64>, u64)> {
        let (start, end) = (u64::from(rect.start), u64::from(rect.end));
        // If a rectangle is alive with all placed ones, and they leave no gap, it goes on top of them. (If the
        // rectangle begins above the start of its piece, the piece could start below the top. So `low` has to be 0.)
        if let Some(top) = self.heap.as_ref().and_then(|heap| heap.top(start, end)).filter(|_| rect.low == 0) {
            return Some((Bytes(top).align_up(Bytes(alignment)).map(|top| top.0).filter(|&top| top <= highest), 1));
        }
        let wanted = Wanted { bytes: (rect.low, rect.high), alignment, highest };
        match &mut self.index {
            Index::Listed { .. } => None,
            Index::Sorted(periods) => Some(periods.lowest((rect.start, rect.end), &wanted)),
            Index::Merged(skyline) => Some(skyline.lowest((rect.start, rect.end), &wanted)),
        }
    }

    /// Calls `visit` with the owner of every placed rectangle alive at the same
    /// time, and the obstacle that it is for the piece of `rect`. It is asked only for pieces with partners; then the
    /// index is the one that knows owners ([`Pieces::can_be_merged`]).
    pub(crate) fn for_each_owner(&self, rect: &Rect, mut visit: impl FnMut(PieceId, Obstacle)) {
        if let Index::Listed { conflicts, owners, bytes } = &self.index {
            conflicts.for_each(rect.start, rect.end, |rank| {
                visit(owners[rank], Obstacle::new(bytes[rank], (rect.low, rect.high)));
            });
        }
    }

    /// Puts the rectangle of that rank down with its piece at `offset`: adds it to the index and to the heap. The heap
    /// becomes `None` once there is no moment at which all placed rectangles are alive.
    pub(crate) fn put(&mut self, rank: usize, rect: &Rect, offset: u64) {
        let (low, high) = (offset + rect.low, offset + rect.high);
        // What lies between the end and the next granule is of no use to others, so it counts as taken.
        let (life, bytes) = ((rect.start.into(), rect.end.into()), (low, round_up(high, self.grid.rounding)));
        self.heap = self.heap.take().and_then(|heap| heap.with(life, bytes));
        match &mut self.index {
            Index::Listed { conflicts, bytes, .. } => {
                bytes[rank] = (low, high);
                conflicts.insert(rank, rect.end);
            }
            Index::Sorted(periods) => periods.insert((rect.start, rect.end), (low, high)),
            Index::Merged(skyline) => {
                skyline.insert((rect.start, rect.end), (low, round_up(high, self.grid.rounding)));
            }
        }
    }

    /// Lets the placed rectangle of that rank reach up to `high`, instead of adding a rectangle with the bytes
    /// `low..high` that is alive at the same times. `false`, with nothing changed, if other pieces could use bytes
    /// between the two, or if the index does not know rectangles by rank.
    pub(crate) fn extend(&mut self, rank: usize, (low, high): (u64, u64)) -> bool {
        let Index::Listed { bytes, .. } = &mut self.index else { return false };
        let touches = bytes[rank].1 <= low && low <= round_up(bytes[rank].1, self.grid.rounding);
        if touches {
            bytes[rank].1 = high;
            // The heap knows the old, lower end only. Without the heap the index answers.
            self.heap = None;
        }
        touches
    }

    /// Takes the rectangle of that rank away. Only slots are ever taken away, and with slots the index knows them by rank.
    pub(crate) fn take(&mut self, rank: usize) {
        // The heap cannot forget bytes; without it the index answers.
        self.heap = None;
        if let Index::Listed { conflicts, .. } = &mut self.index {
            conflicts.remove(rank);
        }
    }

    /// Whether rectangles are known by their ranks.
    pub(crate) fn has_ranks(&self) -> bool {
        matches!(self.index, Index::Listed { .. })
    }

    /// Keeps bytes for an exclusive buffer. Nobody can start between its end and
    /// the next granule, so neighbours grow together into one range.
    pub(crate) fn block(&mut self, low: u64, high: u64) {
        self.blocked.insert(low, round_up(high, self.grid.granule));
    }
}

/// The next multiple of the granule; the number itself if that multiple would be above 2^63 - 1.
fn round_up(bytes: u64, granule: u64) -> u64 {
    Bytes(bytes).align_up(Bytes(granule)).map_or(bytes, |bytes| bytes.0)
}

/// How many rectangles are alive, on average, at the step at which a rectangle starts. The rectangle that starts is
/// counted, too. 0 without rectangles.
fn average_alive(pieces: &Pieces, stretches: &[Stretch]) -> u64 {
    // How many more are alive at each step than at the step before; summed up, how many are alive. The list has one
    // entry more than there are steps, because a stretch that lasts to the end of the last step ends after that step.
    let mut change = vec![0i64; pieces.steps().len() + 1];
    for stretch in stretches {
        change[stretch.start as usize] += 1;
        change[stretch.end as usize] -= 1;
    }
    let alive: Vec<i64> = change
        .iter()
        .scan(0, |alive, change| {
            *alive += change;
            Some(*alive)
        })
        .collect();
    let met: i128 = stretches.iter().map(|stretch| i128::from(alive[stretch.start as usize])).sum();
    u64::try_from(met / stretches.len().max(1) as i128).unwrap_or(0)
}

/// Euclid's algorithm.
fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
