//! What is placed in one space, and who is in the way there.
//!
//! Placed rectangles are found through one of two indexes. [`Conflicts`] lists
//! them one by one, knows their owners and can forget them: the general case.
//! [`Skyline`] merges their bytes, which pays where very many are alive at once
//! ([`MERGED_ALIVE`]), and needs to know that nobody asks for owners (in-place
//! partners) and nothing is taken away (slots that do not fit a space).

use memplan_core::{BufferId, Bytes, MAX_BYTES, SpaceId};

use super::conflicts::Conflicts;
use super::fit::Obstacle;
use super::piece::{PieceId, Pieces, Rect};
use super::range_set::RangeSet;
use super::skyline::Skyline;
use crate::tuning::MERGED_ALIVE;

/// See the module documentation.
#[derive(Clone, Debug)]
pub(crate) struct Floor {
    /// Offsets end here.
    pub(crate) limit: u64,
    /// Every buffer starts at a multiple of this.
    granule: u64,
    index: Index,
    /// Bytes of exclusive buffers, rounded up to the granule.
    pub(crate) blocked: RangeSet,
    pub(crate) placed: Vec<PieceId>,
}

#[derive(Clone, Debug)]
enum Index {
    Listed {
        conflicts: Conflicts,
        /// By rank: the piece, and the bytes of its rectangle once it is placed.
        owners: Vec<PieceId>,
        bytes: Vec<(u64, u64)>,
    },
    Merged {
        skyline: Skyline,
        /// What ranges are rounded up to: only where no window begins in the middle of a buffer.
        granule: u64,
    },
}

/// A rectangle that can be placed here: when, and who owns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stretch {
    pub(crate) start: u32,
    /// Where its rank is to be noted.
    pub(crate) note: u32,
    pub(crate) end: u32,
    pub(crate) owner: PieceId,
}

impl Floor {
    /// An empty floor for rectangles, which get sorted: their ranks are their positions.
    pub(crate) fn new(pieces: &Pieces, space: SpaceId, stretches: &mut [Stretch]) -> Floor {
        stretches.sort_unstable();
        let info = &pieces.problem().spaces()[space];
        let granule = granule(pieces, space);
        let index = if pieces.can_be_merged() && crowd(pieces, stretches) > MERGED_ALIVE {
            let granule = if pieces.has_windows() { 1 } else { granule };
            Index::Merged { skyline: Skyline::new(pieces.steps().len()), granule }
        } else {
            Index::Listed {
                conflicts: Conflicts::new(stretches.iter().map(|stretch| stretch.start).collect()),
                owners: stretches.iter().map(|stretch| stretch.owner).collect(),
                bytes: vec![(0, 0); stretches.len()],
            }
        };
        let limit = info.capacity.map_or(MAX_BYTES, |capacity| capacity.0);
        Floor { limit, granule, index, blocked: RangeSet::default(), placed: Vec::new() }
    }

    /// Takes everything away.
    pub(crate) fn clear(&mut self) {
        match &mut self.index {
            Index::Listed { conflicts, .. } => conflicts.clear(),
            Index::Merged { skyline, .. } => skyline.clear(),
        }
        self.blocked.clear();
        self.placed.clear();
    }

    /// Adds what the rectangles alive at the same time mean for the piece of `rect`.
    pub(crate) fn obstacles(&self, rect: &Rect, obstacles: &mut Vec<Obstacle>) {
        let own = (rect.low, rect.high);
        match &self.index {
            Index::Listed { conflicts, bytes, .. } => {
                conflicts.for_each(rect.start, rect.end, |rank| obstacles.push(Obstacle::new(bytes[rank], own)));
            }
            Index::Merged { skyline, .. } => {
                skyline.for_each(rect.start, rect.end, |range| obstacles.push(Obstacle::new(range, own)));
            }
        }
    }

    /// Calls `visit` with the owner of every placed rectangle alive at the same
    /// time, and what it means for the piece of `rect`.
    pub(crate) fn for_each_owner(&self, rect: &Rect, mut visit: impl FnMut(PieceId, Obstacle)) {
        if let Index::Listed { conflicts, owners, bytes } = &self.index {
            conflicts.for_each(rect.start, rect.end, |rank| {
                visit(owners[rank], Obstacle::new(bytes[rank], (rect.low, rect.high)));
            });
        }
    }

    /// Puts a rectangle of that rank down with its piece at `offset`.
    pub(crate) fn put(&mut self, rank: usize, rect: &Rect, offset: u64) {
        let (low, high) = (offset + rect.low, offset + rect.high);
        match &mut self.index {
            Index::Listed { conflicts, bytes, .. } => {
                bytes[rank] = (low, high);
                conflicts.insert(rank, rect.end);
            }
            Index::Merged { skyline, granule } => {
                skyline.insert((rect.start, rect.end), (low, round_up(high, *granule)));
            }
        }
    }

    /// Takes the rectangle of that rank away.
    pub(crate) fn take(&mut self, rank: usize) {
        if let Index::Listed { conflicts, .. } = &mut self.index {
            conflicts.remove(rank);
        }
    }

    /// Keeps bytes for an exclusive buffer. Nobody can start between its end and
    /// the next granule, so neighbours grow together into one range.
    pub(crate) fn block(&mut self, low: u64, high: u64) {
        self.blocked.insert(low, round_up(high, self.granule));
    }
}

fn round_up(bytes: u64, granule: u64) -> u64 {
    Bytes(bytes).align_up(Bytes(granule)).map_or(bytes, |bytes| bytes.0)
}

/// The greatest common divisor of the alignments of all buffers that may live in a space.
fn granule(pieces: &Pieces, space: SpaceId) -> u64 {
    let problem = pieces.problem();
    let here = |id: &BufferId| problem.buffers()[*id].spaces.contains(&space);
    let alignments = problem.buffers().ids().filter(here).map(|id| problem.alignment_in(id, space).0);
    alignments.fold(0, greatest_common_divisor).max(1)
}

/// How many rectangles are alive, on average, where another one starts.
fn crowd(pieces: &Pieces, stretches: &[Stretch]) -> u64 {
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

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
