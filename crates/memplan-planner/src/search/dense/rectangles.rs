//! The pieces of a plain problem as flat arrays, ordered by the start of their lives.
//!
//! The position of a piece in these arrays is its *rank*. Bytes are counted in *units*, so that every address is
//! a `u32` and a sort key (address, rank) is one `u64`: half the memory, and twice the speed, of a pair of words.
//! The unit is one byte up to 4 GiB. Above that it is the smallest power of two that makes addresses fit; sizes are
//! rounded up to it, which costs less than a billionth of the extent for each piece.
//!
//! Words from other files: [`Pieces`] are the pieces of a problem; [`loads_met`] has, for each piece, the most bytes
//! that are alive at once during its life; [`hardness`] says how hard a piece is to place.

use memplan_core::{Bytes, IndexVec, Plan};

use crate::load::loads_met;
use crate::order::{Room, hardness};
use crate::piece::{PieceId, Pieces};
use crate::tuning::STRIP_WASTE;

/// The address of a rectangle that is not placed.
pub(super) const NOWHERE: u32 = u32::MAX;

/// The heaviest rectangle has this weight (plus 1), so that sums of costs stay below 2^64.
const HIGHEST_WEIGHT: f64 = (1u32 << 30) as f64;

/// What does not change while rectangles move. See the module documentation.
pub(super) struct Rectangles {
    pub(super) pieces: Vec<PieceId>,
    /// The first time alive, and one past the last one: positions in [`Pieces::steps`].
    pub(super) starts: Vec<u32>,
    pub(super) ends: Vec<u32>,
    /// In units, rounded up.
    pub(super) sizes: Vec<u32>,
    /// In units; every address is a multiple of it.
    pub(super) alignments: Vec<u32>,
    /// Whether the user has fixed the address.
    pub(super) is_pinned: Vec<bool>,
    /// How hard a rectangle is to place, scaled to integers. See [`hardness`].
    pub(super) weights: Vec<u32>,
    /// For each power of two, ascending: the most units alive at once of all rectangles below that size.
    peaks_below: Vec<(u32, u64)>,
    /// Bytes in a unit.
    unit: u64,
}

impl Rectangles {
    /// The pieces of a plain problem; `extent` is that of the plan that is to be lowered. Pieces that are never alive
    /// are left out. `None` if sizes, alignments or fixed offsets cannot be counted in units.
    pub(super) fn of(pieces: &Pieces, extent: Bytes) -> Option<Rectangles> {
        let unit = unit_for(extent)?;
        // The start, the piece and the end of each life. Sorting by these makes ranks follow the starts, and pieces
        // that start together keep their order.
        let lives = pieces.ids().filter_map(|piece| Some((pieces.rects(piece).first()?, piece)));
        let mut lives: Vec<(u32, PieceId, u32)> = lives.map(|(rect, piece)| (rect.start, piece, rect.end)).collect();
        lives.sort_unstable();
        let count = lives.len();
        let mut rectangles = Rectangles {
            pieces: lives.iter().map(|life| life.1).collect(),
            starts: lives.iter().map(|life| life.0).collect(),
            ends: lives.iter().map(|life| life.2).collect(),
            sizes: Vec::with_capacity(count),
            alignments: Vec::with_capacity(count),
            is_pinned: Vec::with_capacity(count),
            weights: Vec::new(),
            peaks_below: Vec::new(),
            unit,
        };
        for &(_, piece, _) in &lives {
            let info = pieces.get(piece);
            rectangles.sizes.push(u32::try_from(info.size.div_ceil(unit)).ok()?);
            rectangles.alignments.push(alignment_in_units(pieces.homes(piece).first()?.alignment, unit)?);
            // A fixed offset that is no multiple of the unit cannot be said in units: the start would have to be
            // rounded down and the end up.
            let fits_units = info.fixed.is_none_or(|offset| offset.is_multiple_of(unit));
            rectangles.is_pinned.push(info.fixed.is_some());
            if !fits_units {
                return None;
            }
        }
        rectangles.weigh(&loads_met(pieces));
        rectangles.peaks_below = (1..32).map(|bit| (1u32 << bit, rectangles.peak_below(1 << bit))).collect();
        Some(rectangles)
    }

    /// The number of rectangles.
    pub(super) fn len(&self) -> usize {
        self.pieces.len()
    }

    /// The address of every rectangle in a plan, in units. `None` if one is missing or between two units.
    pub(super) fn addresses(&self, pieces: &Pieces, plan: &Plan) -> Option<Vec<u32>> {
        let address = |&piece: &PieceId| {
            let placement = plan.placements[pieces.get(piece).first_buffer].as_ref()?;
            let offset = placement.offsets.first()?.0;
            offset.is_multiple_of(self.unit).then(|| u32::try_from(offset / self.unit).ok()).flatten()
        };
        self.pieces.iter().map(address).collect()
    }

    /// Moves the buffers of a plan to new addresses.
    pub(super) fn write(&self, addresses: &[u32], pieces: &Pieces, plan: &mut Plan) {
        for (&piece, &address) in self.pieces.iter().zip(addresses) {
            if let Some(placement) = &mut plan.placements[pieces.get(piece).first_buffer] {
                let offset = Bytes(u64::from(address) * self.unit);
                placement.offsets.iter_mut().for_each(|old| *old = offset);
            }
        }
        // `fit_extents` finds the extents anew.
        plan.extents.iter_mut().for_each(|extent| *extent = Bytes::ZERO);
        plan.fit_extents(pieces.problem());
    }

    /// Bytes in units, rounded up.
    pub(super) fn units(&self, bytes: Bytes) -> Option<u32> {
        u32::try_from(bytes.0.div_ceil(self.unit)).ok()
    }

    /// Where the highest rectangle ends.
    pub(super) fn extent(&self, addresses: &[u32]) -> u32 {
        let end = |(&address, &size): (&u32, &u32)| address.saturating_add(size);
        addresses.iter().zip(&self.sizes).map(end).max().unwrap_or(0)
    }

    /// For how many times (positions in the list of steps) a rectangle is alive.
    pub(super) fn life(&self, rank: usize) -> u32 {
        self.ends[rank] - self.starts[rank]
    }

    /// Sets the weights. `loads` has, for each piece, the most bytes alive at once during its life. Weights are scaled
    /// to integers from 1 to about [`HIGHEST_WEIGHT`].
    fn weigh(&mut self, loads: &IndexVec<PieceId, u64>) {
        let peak = loads.iter().copied().max().unwrap_or(0);
        let weight = |rank: usize| {
            let room = Room { load: loads[self.pieces[rank]], peak };
            hardness(u64::from(self.sizes[rank]), u64::from(self.life(rank)), room)
        };
        let heaviest = (0..self.len()).map(weight).fold(1.0, f64::max);
        self.weights = (0..self.len()).map(|rank| (weight(rank) / heaviest * HIGHEST_WEIGHT) as u32 + 1).collect();
    }

    /// Most units alive at once, of rectangles below some size.
    fn peak_below(&self, size: u32) -> u64 {
        // The changes of the live units at each step; adding them up gives the live units.
        let steps = self.ends.iter().copied().max().unwrap_or(0) as usize + 1;
        let mut changes = vec![0i64; steps];
        for rank in (0..self.len()).filter(|&rank| self.sizes[rank] < size) {
            changes[self.starts[rank] as usize] += i64::from(self.sizes[rank]);
            changes[self.ends[rank] as usize] -= i64::from(self.sizes[rank]);
        }
        let live = changes.iter().scan(0i64, |live, change| {
            *live += change;
            Some(*live)
        });
        live.max().map_or(0, i64::unsigned_abs)
    }

    /// The size (in units) below which rectangles count as small, if a strip of `strip` units is left for them: the
    /// largest power of two such that first fit most likely packs all smaller rectangles into the strip
    /// ([`STRIP_WASTE`]). 1 if there is no such power: then no rectangle is small.
    pub(super) fn small_for(&self, strip: u32) -> u32 {
        let fits = |&&(_, peak): &&(u32, u64)| peak * STRIP_WASTE.0 <= u64::from(strip) * STRIP_WASTE.1;
        self.peaks_below.iter().take_while(fits).last().map_or(1, |&(size, _)| size)
    }
}

/// The bytes of a unit: the smallest power of two such that the extent is below [`NOWHERE`] units. `None` if even 2^31
/// bytes are too few.
fn unit_for(extent: Bytes) -> Option<u64> {
    let fits = |unit: &u64| extent.0.div_ceil(*unit) < u64::from(NOWHERE);
    (0..32).map(|bit| 1u64 << bit).find(fits)
}

/// An alignment in units: 1 if every unit is aligned enough. `None` if neither of the two is a multiple of the other.
fn alignment_in_units(alignment: u64, unit: u64) -> Option<u32> {
    if unit.is_multiple_of(alignment) {
        return Some(1);
    }
    // An alignment above every address leaves only address 0, and so does the highest number that fits.
    alignment.is_multiple_of(unit).then(|| u32::try_from(alignment / unit).unwrap_or(u32::MAX))
}
