//! The spot (space and offset) of each piece.
//!
//! The table is kept small: a million pieces on two threads need it twice, and nearly all problems have one space. So
//! an offset takes eight bytes, with the number [`NOWHERE`] for "not placed", and the space of a piece is stored only
//! if there are several spaces.

use memplan_core::{Id, IndexVec, MAX_BYTES, SpaceId};

use super::piece::PieceId;
use super::placer::Spot;

/// Stands for a piece that is not placed. Offsets are at most [`MAX_BYTES`].
const NOWHERE: u64 = u64::MAX;
const _: () = assert!(MAX_BYTES < NOWHERE);

/// See the module documentation.
#[derive(Clone, Debug)]
pub(crate) struct Spots {
    offsets: IndexVec<PieceId, u64>,
    /// Empty if there is one space only.
    spaces: IndexVec<PieceId, SpaceId>,
}

impl Spots {
    /// Nothing is placed.
    pub(crate) fn none(pieces: usize, spaces: usize) -> Spots {
        let noted = if spaces > 1 { pieces } else { 0 };
        Spots { offsets: IndexVec::filled(NOWHERE, pieces), spaces: IndexVec::filled(SpaceId::from_index(0), noted) }
    }

    /// Takes all pieces away.
    pub(crate) fn clear(&mut self) {
        self.offsets.iter_mut().for_each(|offset| *offset = NOWHERE);
    }

    /// Where a piece is; `None` if it is not placed.
    pub(crate) fn get(&self, piece: PieceId) -> Option<Spot> {
        let offset = self.offsets[piece];
        let space = self.spaces.get(piece).copied().unwrap_or(SpaceId::from_index(0));
        (offset != NOWHERE).then_some(Spot { space, offset })
    }

    /// Whether a piece is placed.
    pub(crate) fn is_placed(&self, piece: PieceId) -> bool {
        self.offsets[piece] != NOWHERE
    }

    /// Notes where a piece was put.
    pub(crate) fn set(&mut self, piece: PieceId, spot: Spot) {
        debug_assert!(spot.offset <= MAX_BYTES, "an offset is a number of bytes");
        debug_assert!(!self.spaces.is_empty() || spot.space.index() == 0, "there is one space only");
        self.offsets[piece] = spot.offset;
        if !self.spaces.is_empty() {
            self.spaces[piece] = spot.space;
        }
    }

    /// Takes a piece away, and says where it was.
    pub(crate) fn take(&mut self, piece: PieceId) -> Option<Spot> {
        let spot = self.get(piece);
        self.offsets[piece] = NOWHERE;
        spot
    }

    /// Copies the spots of pieces that are placed in `other`, a table of the same pieces, and not in this one.
    pub(crate) fn adopt(&mut self, other: &Spots) {
        for piece in self.offsets.ids() {
            if let (None, Some(spot)) = (self.get(piece), other.get(piece)) {
                self.set(piece, spot);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spot_is_kept_with_and_without_spaces() {
        let [first, second] = [0, 1].map(PieceId::from_index);
        for (spaces, space) in [(1, 0), (3, 2)] {
            let spot = Spot { space: SpaceId::from_index(space), offset: MAX_BYTES };
            let (mut here, mut there) = (Spots::none(2, spaces), Spots::none(2, spaces));
            there.set(second, spot);
            here.adopt(&there);
            assert_eq!((here.get(first), here.get(second)), (None, Some(spot)));
            assert_eq!((here.take(second), here.is_placed(second)), (Some(spot), false));
            there.clear();
            assert_eq!(there.get(second), None);
        }
    }
}
