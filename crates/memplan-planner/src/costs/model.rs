//! A problem as pairs of pieces that get in each other's way.
//!
//! Everything a problem says about two pieces, it says about the distance between their offsets. A *relation* is an
//! open interval of distances, with what it costs if the distance lies in it:
//!
//! ```text
//!   a: 4 bytes, b: 3 bytes, alive together        a - b in (-4, 3)   forbidden
//!   c may be computed in place of b, 3 bytes      c - b in (-3, 0)   forbidden
//!                                                 c - b in (0, 3)    forbidden; 0 itself is not
//!   d and b run on different units, never at once d - b in (-2, 3)   costs 5
//! ```
//!
//! Windows, gaps and ties make several intervals of one pair; slots are pieces of their own; exclusive buffers and a
//! missing order of execution forbid distances whatever the lives are. Each relation is listed at both of its pieces.
//!
//! Words from other files: [`Pieces`] are what is placed as a whole; a [`Rect`] is bytes of a piece (from its offset)
//! during a stretch of time; a [`Footprint`] is the bytes of one buffer inside a piece; `partners` are the pieces that
//! a piece may overlay.

use memplan_core::{BufferId, Id, MAX_BYTES, OverlayKind, SpaceId};

use crate::piece::{Footprint, PieceId, Pieces, Rect};
use crate::tuning::MOST_COST_RELATIONS;

/// Distances from another piece that are forbidden or cost something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Relation {
    /// The other piece.
    pub(super) other: u32,
    /// The relation holds if the distance "own offset minus the other's" (in bytes) is above `low` and below `high`.
    pub(super) low: i64,
    pub(super) high: i64,
    /// What it costs if the relation holds; `None` if it must not hold.
    pub(super) weight: Option<u64>,
    /// The relation's number; the same seen from both of its pieces.
    pub(super) number: u32,
}

impl Relation {
    /// Whether a piece at `own` has the relation with the other one at `other`.
    pub(super) fn holds(&self, own: i64, other: i64) -> bool {
        let distance = own - other;
        self.low < distance && distance < self.high
    }
}

/// Where a piece may live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Home {
    /// The space.
    pub(super) space: SpaceId,
    /// Offsets are multiples of this.
    pub(super) alignment: i64,
    /// The largest multiple of the alignment at which the piece still ends within the space.
    pub(super) highest: i64,
}

/// A place for a piece: the position of its home among the piece's homes, and an offset there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) home: u32,
    pub(super) offset: i64,
}

/// A piece as far as costs are concerned.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// In bytes.
    pub(super) size: i64,
    /// An offset that it must have.
    pub(super) fixed: Option<i64>,
    /// The spaces that it may live in and is not too large for; at least one.
    pub(super) homes: Vec<Home>,
    /// What it has to do with other pieces.
    pub(super) relations: Vec<Relation>,
}

/// All pieces of a problem. See the module documentation.
#[derive(Clone, Debug)]
pub(super) struct Model {
    /// By the number of the piece.
    pub(super) items: Vec<Item>,
    /// How many relations there are; each is listed twice.
    pub(super) relations: u32,
    /// The sum of the prices of pairs that share in every plan, because they lie on each other in a block.
    pub(super) always: u64,
    /// Whether the relations are all there is to say: every priced pair is one of them, so that their sum is the plan's
    /// cost, and no life ends early because another buffer takes over its bytes.
    pub(super) is_exact: bool,
}

impl Model {
    /// The model of a problem. `None` if there are too many relations to list, if a piece is larger than all of its
    /// spaces, or if a piece with several slots has a choice of spaces.
    pub(super) fn of(pieces: &Pieces) -> Option<Model> {
        let is_exact = pieces.problem().overlays().is_empty();
        let mut model = Model { items: items(pieces)?, relations: 0, always: 0, is_exact };
        if pieces.ordering().is_some() || pieces.ids().any(|piece| pieces.get(piece).exclusive) {
            model.add_strangers(pieces)?;
        }
        model.add_neighbours(pieces)?;
        // Pairs that must not share: every slot of the one with every slot of the other. A pair is listed at both
        // pieces; the piece with the smaller number enters it.
        for piece in pieces.ids() {
            for apart in pieces.apart(piece).iter().filter(|apart| pieces.first_slot(piece) < apart.other) {
                let (own, others) = ((apart.low, apart.high), (apart.other_low, apart.other_high));
                for slot in 0..apart.other_slots as usize {
                    model.add(piece, PieceId::from_index(apart.other.index() + slot), own, others, None)?;
                }
            }
        }
        model.add_prices(pieces)?;
        Some(model)
    }

    /// Enters the relation "these bytes of two pieces coincide". `own` and `others` are ranges of bytes relative to the
    /// offsets of `one` and `other`; empty ones never coincide. `weight` is the price; `None` forbids it. Returns
    /// `None` if there are too many relations.
    fn add(&mut self, one: PieceId, other: PieceId, own: Bytes, others: Bytes, weight: Option<u64>) -> Option<()> {
        if own.0 >= own.1 || others.0 >= others.1 {
            return Some(());
        }
        let (low, high) = (others.0 as i64 - own.1 as i64, others.1 as i64 - own.0 as i64);
        self.relate(one, other, low, high, weight)
    }

    /// Lists a relation at both pieces: the distance "offset of `one` minus offset of `other`" is forbidden, or costs
    /// `weight`, between `low` and `high`. Seen from `other` the distance has the other sign. `None` if there are too
    /// many relations.
    fn relate(&mut self, one: PieceId, other: PieceId, low: i64, high: i64, weight: Option<u64>) -> Option<()> {
        if self.relations as usize >= MOST_COST_RELATIONS {
            return None;
        }
        let number = self.relations;
        self.relations += 1;
        let (here, there) = (one.index() as u32, other.index() as u32);
        self.items[one.index()].relations.push(Relation { other: there, low, high, weight, number });
        self.items[other.index()].relations.push(Relation { other: here, low: -high, high: -low, weight, number });
        Some(())
    }

    /// Relates rectangles of different pieces that are alive together. They are found by a sweep over time: rectangles
    /// in order of their starts, with a list of those that have not ended. `None` if there are too many relations.
    fn add_neighbours(&mut self, pieces: &Pieces) -> Option<()> {
        let mut rects: Vec<(Rect, PieceId)> =
            pieces.ids().flat_map(|piece| pieces.rects(piece).iter().map(move |&rect| (rect, piece))).collect();
        rects.sort_by_key(|&(rect, piece)| (rect.start, piece));
        let mut alive: Vec<(Rect, PieceId)> = Vec::new();
        for (rect, piece) in rects {
            alive.retain(|(other, _)| other.end > rect.start);
            for &(other_rect, other) in alive.iter().filter(|(_, other)| *other != piece) {
                self.add_together(pieces, (piece, rect), (other, other_rect))?;
            }
            alive.push((rect, piece));
        }
        Some(())
    }

    /// Forbids two rectangles that are alive together to have a byte in common. If one of the two pieces may overlay
    /// the other at any offset, nothing is forbidden; if only at the same base, every distance but 0 is. `None` if there
    /// are too many relations.
    fn add_together(&mut self, pieces: &Pieces, one: (PieceId, Rect), other: (PieceId, Rect)) -> Option<()> {
        let partners = pieces.partners(one.0);
        let partner = partners.binary_search_by_key(&other.0, |partner| partner.other).ok();
        let (own, others) = ((one.1.low, one.1.high), (other.1.low, other.1.high));
        match partner.map(|position| partners[position].kind) {
            None => self.add(one.0, other.0, own, others, None),
            Some(OverlayKind::AnyOffset) => Some(()),
            Some(OverlayKind::SameBase) => {
                let (low, high) = (others.0 as i64 - own.1 as i64, others.1 as i64 - own.0 as i64);
                // The ends of an interval are not in it, so two intervals that meet at 0 leave out 0 itself.
                if low < 0 && high > 0 {
                    self.relate(one.0, other.0, low, 0, None)?;
                    self.relate(one.0, other.0, 0, high, None)
                } else {
                    self.relate(one.0, other.0, low, high, None)
                }
            }
        }
    }

    /// Forbids exclusive buffers to share with any other, and buffers that have no order of execution to share with
    /// each other, whenever they live. `None` if there are too many relations.
    fn add_strangers(&mut self, pieces: &Pieces) -> Option<()> {
        let are_strangers = |own: &Footprint, other: &Footprint| {
            let is_unordered = pieces.ordering().is_some_and(|order| !order.is_ordered(own.buffer, other.buffer));
            own.exclusive || other.exclusive || is_unordered
        };
        let is_strange = |piece: PieceId| pieces.ordering().is_some() || pieces.get(piece).exclusive;
        let strange: Vec<PieceId> = pieces.ids().filter(|&piece| is_strange(piece)).collect();
        for &piece in &strange {
            // Each pair once: if both are strange, the one with the larger number enters it.
            let others = pieces.ids().filter(|&other| other < piece || (other > piece && !is_strange(other)));
            for other in others {
                for own in pieces.footprints(piece) {
                    for theirs in pieces.footprints(other).filter(|theirs| are_strangers(&own, theirs)) {
                        self.add(piece, other, (own.low, own.high), (theirs.low, theirs.high), None)?;
                    }
                }
            }
        }
        Some(())
    }

    /// The priced pairs: each slot of the one with each slot of the other. `None` if there are too many relations.
    fn add_prices(&mut self, pieces: &Pieces) -> Option<()> {
        let problem = pieces.problem();
        for cost in problem.reuse_costs().iter().filter(|cost| cost.weight > 0) {
            let [one, other] = [cost.one, cost.other].map(|buffer| pieces.piece_of(buffer));
            let [own, others] = [cost.one, cost.other].map(|buffer| bytes_in_piece(pieces, buffer));
            if own.0 >= own.1 || others.0 >= others.1 {
                continue;
            }
            // Both are in one block: whether they share is decided already.
            if one == other {
                // Two ranges of bytes have one in common if the later start is before the earlier end.
                let coincide = own.0.max(others.0) < own.1.min(others.1);
                self.always += if coincide { cost.weight } else { 0 };
                continue;
            }
            let [slots, other_slots] = [one, other].map(|piece| pieces.get(piece).slots as usize);
            // If a buffer has several slots, several pairs of slots can share, and a plan pays for the pair of buffers
            // once. The relations would count the price for each pair of slots. So their sum is not the cost.
            self.is_exact &= slots == 1 && other_slots == 1;
            for slot in (0..slots).map(|slot| PieceId::from_index(one.index() + slot)) {
                for other_slot in (0..other_slots).map(|slot| PieceId::from_index(other.index() + slot)) {
                    self.add(slot, other_slot, own, others, Some(cost.weight))?;
                }
            }
        }
        Some(())
    }

    /// Whether two pieces are in the same space.
    pub(super) fn are_together(&self, one: usize, spot: Spot, other: usize, other_spot: Spot) -> bool {
        let space = |item: usize, spot: Spot| self.items[item].homes[spot.home as usize].space;
        space(one, spot) == space(other, other_spot)
    }

    /// What a placement of all pieces costs, and how many forbidden relations it has.
    pub(super) fn judge(&self, spots: &[Spot]) -> (u64, u64) {
        let (mut cost, mut broken) = (self.always, 0);
        for (index, item) in self.items.iter().enumerate() {
            // A relation is listed at both pieces; it counts at the one with the smaller number.
            for relation in item.relations.iter().filter(|relation| relation.other as usize > index) {
                let (here, there) = (spots[index], spots[relation.other as usize]);
                let holds = relation.holds(here.offset, there.offset);
                if holds && self.are_together(index, here, relation.other as usize, there) {
                    match relation.weight {
                        Some(weight) => cost += weight,
                        None => broken += 1,
                    }
                }
            }
        }
        (cost, broken)
    }
}

/// First byte, and one past the last.
type Bytes = (u64, u64);

/// Where a buffer lies inside of its piece.
fn bytes_in_piece(pieces: &Pieces, buffer: BufferId) -> Bytes {
    let problem = pieces.problem();
    let at = problem.blocks().place_of(buffer).map_or(0, |(_, at)| at.0);
    (at, at + problem.buffers()[buffer].bytes().unwrap_or_default().0)
}

/// The pieces without relations. A space without a capacity counts as large enough for all pieces side by side, so that
/// there is always a highest offset. `None` if a piece cannot be in the model (see `item`).
fn items(pieces: &Pieces) -> Option<Vec<Item>> {
    let padded = pieces.ids().map(|piece| padded(pieces, piece));
    let ample = padded.fold(0, u64::saturating_add).min(MAX_BYTES);
    pieces.ids().map(|piece| item(pieces, piece, ample)).collect()
}

/// The bytes that a piece can take at most if all pieces lie side by side: with the gap in front of it, which is less
/// than its alignment, or which its fixed offset prescribes.
fn padded(pieces: &Pieces, piece: PieceId) -> u64 {
    let info = pieces.get(piece);
    let widest = pieces.homes(piece).iter().map(|home| home.alignment.min(MAX_BYTES)).max().unwrap_or(1);
    info.fixed.unwrap_or(0).saturating_add(info.size).saturating_add(widest)
}

/// A piece without relations. Spaces without a capacity have `ample` bytes. `None` if the piece fits into none of its
/// spaces, or if it has several slots and a choice of spaces. Offsets, sizes and capacities are at most `MAX_BYTES`
/// (that of a problem that was built), so they fit an `i64`.
fn item(pieces: &Pieces, piece: PieceId, ample: u64) -> Option<Item> {
    let info = pieces.get(piece);
    let homes = pieces.homes(piece).iter().filter_map(|home| {
        let limit = pieces.problem().spaces()[home.space].capacity.map_or(ample, |capacity| capacity.0);
        // With a larger alignment than any capacity, 0 is the only offset, and a cut one says the same.
        let alignment = home.alignment.min(MAX_BYTES);
        // A fixed offset is aligned, or the problem could not have been built.
        let highest = limit.checked_sub(info.size)? / alignment * alignment;
        let reaches = info.fixed.is_none_or(|offset| offset <= highest);
        reaches.then_some(Home { space: home.space, alignment: alignment as i64, highest: highest as i64 })
    });
    let homes: Vec<Home> = homes.collect();
    // All slots of a buffer must live in one space. The annealer moves pieces, which are slots, one at a time, so
    // slots with a choice of spaces could get separated.
    let may_move = info.slots == 1 || pieces.homes(piece).len() == 1;
    let fixed = info.fixed.map(|offset| offset as i64);
    (may_move && !homes.is_empty()).then_some(Item { size: info.size as i64, fixed, homes, relations: Vec::new() })
}
