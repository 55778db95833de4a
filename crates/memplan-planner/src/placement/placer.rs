//! The placement engine: puts pieces down one after the other.
//!
//! Each space has a *floor* (`floor.rs`), which holds what is placed in it. For each piece the engine asks the floor
//! which placed rectangles are alive at the same time, turns them into obstacles and lets a [`Fit`] choose an offset
//! between them. Rules that the rectangles do not express add more obstacles: exclusive pieces, byte ranges that must
//! stay apart, a missing order of execution. A piece that this one may overlay (a *partner*) is no obstacle at the
//! offsets at which the overlay is allowed.
//!
//! ```text
//!   order: a (64 bytes, steps 0..2), b (32, 1..3), c (32, 2..4)
//!
//!   96 ┤    ██████b
//!   64 ┤████████a █                 b meets a: goes on top of it.
//!      │████████  ██████c           c meets b only: the lowest offset
//!    0 └────────────────            below b is 0.
//!      0   1   2   3   4
//! ```
//!
//! A placement costs O(log n + k log k) for k conflicts, and less if so many pieces are alive that their bytes have
//! grown together. Every partial placement is valid, in any order of pieces; the order decides how good the result is.
//! An exclusive piece is compared with every placed piece that is not exclusive itself, so exclusive pieces are best
//! placed early. If the order of execution is not fixed, every piece is compared with every placed piece.
//!
//! Words from other files: [`Pieces`] knows the `rects` of a piece (its bytes over time), its `homes` (spaces that it
//! may live in), its `members` and `footprints` (the buffers inside of it), and with which pieces it must not share
//! (`apart`). An [`Obstacle`] is a range of offsets that a piece cannot have.

use std::sync::Arc;

use memplan_core::{Bytes, Id, IndexVec, MAX_BYTES, OverlayKind, Placement, Plan, Problem, Reuse, SpaceId};

use super::fit::{Fit, Obstacle};
use super::floor::{Floor, Grid, Stretch};
use super::piece::{Footprint, Home, PieceId, Pieces, Rect};
use super::spots::Spots;
use crate::happens_before::Ordering;

/// Where a piece was put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The space.
    pub space: SpaceId,
    /// The offset of the piece's start.
    pub offset: u64,
}

/// Slots of one piece that lie directly on each other. They are one obstacle for all other pieces, however many slots
/// there are.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// The slot that was placed last.
    last: PieceId,
    /// The rank, in its floor, of the rectangle that stands for all of these slots.
    rank: usize,
}

/// A partial plan that grows piece by piece. See the module documentation.
#[derive(Clone, Debug)]
pub struct Placer<'p> {
    pieces: &'p Pieces<'p>,
    spots: Spots,
    spaces: IndexVec<SpaceId, Floor>,
    /// Per piece, where its ranks start in `ranks`: rectangles of the first
    /// home, then of the second, … Clones of the placer share both. Empty if no floor asks for ranks.
    first_rank: Arc<IndexVec<PieceId, u32>>,
    /// The rank of each rectangle: the number by which the [`Floor`] of that home's space knows it. Empty if no floor
    /// asks for ranks.
    ranks: Arc<[u32]>,
    /// The last slots that were put down, if they lie on each other.
    run: Option<Run>,
    /// Whether bytes with a price are obstacles, too.
    avoids_costs: bool,
    /// Obstacles looked at since the last [`clear`](Placer::clear): what the placements cost.
    obstacles_met: u64,
    /// Filled by [`collect_obstacles`](Placer::collect_obstacles): offsets that the piece to be placed cannot have.
    obstacles: Vec<Obstacle>,
    /// Filled by the same function: the obstacle of each same-base partner, and the partner's offset. The obstacle
    /// excludes all of its offsets except that one.
    soft: Vec<(Obstacle, u64)>,
}

impl<'p> Placer<'p> {
    /// Nothing placed yet; spaces are as large as their capacities.
    pub fn new(pieces: &'p Pieces<'p>) -> Placer<'p> {
        // By space: the rectangles of all pieces that may be placed in it.
        let space_count = pieces.problem().spaces().len();
        let mut stretches = IndexVec::<SpaceId, Vec<Stretch>>::filled(Vec::new(), space_count);
        let mut first_rank = IndexVec::<PieceId, u32>::new();
        // `note` numbers every stretch of every piece in every candidate space. The floor sorts the stretches by
        // start; the ranks say afterwards where each one ended up.
        let mut note = 0u32;
        for owner in pieces.ids() {
            first_rank.push(note);
            for home in pieces.homes(owner) {
                for rect in pieces.rects(owner) {
                    stretches[home.space].push(Stretch { start: rect.start, note, end: rect.end, owner });
                    note += 1;
                }
            }
        }
        let mut spaces = IndexVec::<SpaceId, Floor>::new();
        let may_merge = pieces.can_be_merged();
        for (space, &grid) in Grid::of_spaces(pieces).iter_enumerated() {
            spaces.push(Floor::new(pieces, space, grid, may_merge, stretches[space].as_mut_slice()));
        }
        // If there are very many pieces, no floor asks for ranks, and the tables are left out.
        let mut ranks = Vec::new();
        if spaces.iter().any(Floor::has_ranks) {
            ranks.resize(note as usize, 0);
            for (rank, stretch) in stretches.iter().flat_map(|list| list.iter().enumerate()) {
                ranks[stretch.note as usize] = rank as u32;
            }
        } else {
            first_rank = IndexVec::new();
        }
        let spots = Spots::none(pieces.len(), space_count);
        Placer {
            pieces,
            spots,
            spaces,
            first_rank: Arc::new(first_rank),
            ranks: ranks.into(),
            run: None,
            avoids_costs: false,
            obstacles_met: 0,
            obstacles: Vec::new(),
            soft: Vec::new(),
        }
    }

    /// Takes everything away again.
    pub fn clear(&mut self) {
        self.spots.clear();
        self.spaces.iter_mut().for_each(Floor::clear);
        self.run = None;
        self.obstacles_met = 0;
    }

    /// Starts counting obstacles anew.
    pub(crate) fn forget_obstacles_met(&mut self) {
        self.obstacles_met = 0;
    }

    /// Obstacles looked at so far: the same number however many threads place the pieces.
    pub(crate) fn obstacles_met(&self) -> u64 {
        self.obstacles_met
    }

    /// The pieces it places.
    pub fn pieces(&self) -> &'p Pieces<'p> {
        self.pieces
    }

    /// Where a piece is, if it has been placed.
    pub fn spot(&self, piece: PieceId) -> Option<Spot> {
        self.spots.get(piece)
    }

    /// Reads pieces that will be placed next, and does nothing with them.
    ///
    /// The pieces of an order are anywhere in tables of many megabytes. If each is read when it is placed, the processor
    /// waits for memory for each of them, one after the other. Here no read depends on the piece before, so it waits
    /// for many at once.
    pub(crate) fn fetch(&self, pieces: &[PieceId]) {
        let read = |&piece: &PieceId| {
            let start = self.pieces.rects(piece).first().map_or(0, |rect| rect.start);
            start ^ u32::from(self.spots.is_placed(piece))
        };
        // Without a use of the result the compiler would leave out the reads.
        std::hint::black_box(pieces.iter().fold(0, |sum, piece| sum ^ read(piece)));
    }

    /// Places a piece and its other slots: at its fixed offset, or where the
    /// fit says in the first space that has room for all slots. A piece that is
    /// already placed stays where it is.
    ///
    /// If no space has room it goes past the end of the first one, so that the
    /// plan can still be finished and judged. `None` if even that is impossible:
    /// its fixed offset is taken or misaligned, or no offset below 2^63 is left.
    pub fn place(&mut self, piece: PieceId, fit: Fit) -> Option<Spot> {
        if !self.spots.is_placed(piece) {
            let homes = self.pieces.homes(piece);
            // First within the capacities of its spaces. If none has room, past the end of the first space that accepts
            // the piece there. A space that is tried and has no room is left as it was.
            let mut fits = |home: &usize| self.place_slots(piece, *home, fit, self.spaces[homes[*home].space].limit);
            if (0..homes.len()).find(&mut fits).is_none() {
                (0..homes.len()).find(|&home| self.place_slots(piece, home, fit, MAX_BYTES));
            }
        }
        self.spots.get(piece)
    }

    /// As [`place`](Placer::place), but first looks for an offset at which nothing is paid for: where no bytes coincide
    /// with those of a piece that has a price.
    pub(crate) fn place_cheaply(&mut self, piece: PieceId, fit: Fit) -> Option<Spot> {
        if !self.spots.is_placed(piece) && !self.pieces.costly(piece).is_empty() {
            let homes = self.pieces.homes(piece);
            // If no space has such an offset, the piece stays unplaced here and `place` puts it somewhere.
            self.avoids_costs = true;
            (0..homes.len()).find(|&home| self.place_slots(piece, home, fit, self.spaces[homes[home].space].limit));
            self.avoids_costs = false;
        }
        self.place(piece, fit)
    }

    /// Places all slots of a piece in its `home`-th home, each ending at `limit` at the latest, or none of them. Says
    /// whether they are placed.
    fn place_slots(&mut self, piece: PieceId, home: usize, fit: Fit, limit: u64) -> bool {
        let space = self.pieces.homes(piece)[home].space;
        let first = self.pieces.first_slot(piece).index();
        let slots = first..first + self.pieces.get(piece).slots as usize;
        for slot in slots.clone().map(PieceId::from_index) {
            match self.offset_in(slot, self.pieces.homes(piece)[home], fit, limit) {
                Some(offset) => self.put(slot, home, Spot { space, offset }),
                None => {
                    // The slots before this one have been put down. They are removed, because all slots live in one
                    // space.
                    slots
                        .map(PieceId::from_index)
                        .take_while(|&placed| placed < slot)
                        .for_each(|placed| self.take(placed, home));
                    return false;
                }
            }
        }
        true
    }

    /// Takes over where another placer has put pieces, so that `finish` finds them. Nothing can be placed after that:
    /// the floors of this placer do not know these pieces.
    pub(crate) fn adopt(&mut self, other: &Placer) {
        self.spots.adopt(&other.spots);
        self.obstacles_met += other.obstacles_met;
    }

    /// An offset for the piece in a space such that it ends at `limit` at the latest and meets nothing that is placed
    /// there. `None` if there is no such offset.
    fn offset_in(&mut self, piece: PieceId, home: Home, fit: Fit, limit: u64) -> Option<u64> {
        let info = self.pieces.get(piece);
        let highest = limit.checked_sub(info.size)?;
        // A fixed offset that reaches past the limit or is misaligned can never be used.
        if info.fixed.is_some_and(|offset| offset > highest || offset % home.alignment != 0) {
            return None;
        }
        if info.size == 0 {
            return Some(info.fixed.unwrap_or(0));
        }
        // The common case is a plain rectangle whose offset is not fixed. Often the floor can answer without a list of
        // obstacles, which saves most of the time of a placement.
        if fit == Fit::First && info.fixed.is_none() && self.is_only_a_rectangle(piece, home.space) {
            let rect = &self.pieces.rects(piece)[0];
            if let Some((offset, looks)) = self.spaces[home.space].lowest(rect, home.alignment, highest) {
                self.obstacles_met += looks;
                return offset;
            }
        }
        self.collect_obstacles(piece, home.space);
        self.obstacles_met += (self.obstacles.len() + self.soft.len()) as u64;
        if let Some(offset) = info.fixed {
            return self.is_free(offset).then_some(offset);
        }
        // Soft obstacles are partners on which this piece may lie, at exactly their offset. First these offsets are
        // tried. For any other offset soft obstacles count like all others.
        let in_place = self.in_place(home, highest);
        self.obstacles.extend(self.soft.iter().map(|&(obstacle, _)| obstacle));
        match (fit, in_place) {
            // Best fit takes the in-place offset, since no gap is tighter. First fit takes whichever is lower.
            (Fit::Best, Some(offset)) => Some(offset),
            (_, None) => fit.choose(&mut self.obstacles, home.alignment, highest),
            (Fit::First, Some(offset)) => {
                let apart = fit.choose(&mut self.obstacles, home.alignment, highest);
                Some(apart.map_or(offset, |apart| apart.min(offset)))
            }
        }
    }

    /// Whether a piece is one plain rectangle, and only the rectangles placed in this space can be in its way.
    fn is_only_a_rectangle(&self, piece: PieceId, space: SpaceId) -> bool {
        let is_free = !self.pieces.get(piece).exclusive && self.pieces.ordering().is_none();
        let is_unrelated = self.pieces.partners(piece).is_empty() && self.pieces.apart(piece).is_empty();
        let is_unblocked = self.spaces[space].blocked.ranges().is_empty();
        is_free && is_unrelated && is_unblocked && self.pieces.rects(piece).len() == 1
    }

    /// Whether an offset is possible, once the obstacles are collected. `soft` obstacles are partners that allow
    /// exactly their own offset (`base`).
    fn is_free(&self, offset: u64) -> bool {
        let soft = |&(obstacle, base): &(Obstacle, u64)| base != offset && obstacle.excludes(offset);
        !self.obstacles.iter().any(|obstacle| obstacle.excludes(offset)) && !self.soft.iter().any(soft)
    }

    /// The lowest offset at which the piece takes over a same-base partner's bytes; `None` if no partner's offset is
    /// free and aligned.
    fn in_place(&self, home: Home, highest: u64) -> Option<u64> {
        let bases = self.soft.iter().map(|&(_, base)| base);
        let possible = |&base: &u64| base <= highest && base % home.alignment == 0 && self.is_free(base);
        bases.filter(possible).min()
    }

    /// Collects everything that forbids offsets to a piece in a space: bytes of exclusive pieces, pieces alive at the
    /// same time, and pieces that must be kept apart. A partner that the piece may overlay at any offset is no
    /// obstacle. A partner that the piece may overlay only at the partner's own offset goes to `soft`: it forbids all
    /// other offsets.
    fn collect_obstacles(&mut self, piece: PieceId, space: SpaceId) {
        self.obstacles.clear();
        self.soft.clear();
        let pieces = self.pieces;
        // Bytes of placed exclusive pieces (`blocked`) are forbidden at all times. A footprint is a range of bytes that
        // the piece occupies, counted from its offset.
        let floor = &self.spaces[space];
        let blocked = floor.blocked.ranges();
        if !blocked.is_empty() {
            for own in pieces.footprints(piece) {
                let own = (own.low, own.high);
                self.obstacles.extend(blocked.iter().map(|&range| Obstacle::new(range, own)));
            }
        }
        // An exclusive piece has to avoid pieces that live at other times, too. So has every piece if the order of
        // execution is not fixed (`ordering` is set), because lifetimes then do not tell who is alive together.
        if pieces.get(piece).exclusive || pieces.ordering().is_some() {
            self.collect_strangers(piece, space);
        }
        // Pieces alive at the same time. Without partners the floor need not tell whose bytes it found, and may have
        // merged them.
        if pieces.partners(piece).is_empty() {
            for rect in pieces.rects(piece) {
                self.spaces[space].obstacles(rect, &mut self.obstacles);
            }
        } else {
            self.collect_with_partners(piece, space);
        }
        // Pairs that must not share bytes, whenever they live.
        self.collect_apart(piece, space);
    }

    /// Adds obstacles for bytes that must not be shared with this piece at any time: bytes of all other pieces if this
    /// one is exclusive; bytes of buffers that are not ordered with it if the order of execution is not fixed.
    fn collect_strangers(&mut self, piece: PieceId, space: SpaceId) {
        let pieces = self.pieces;
        let strangers = |own: &Footprint, other: &Footprint| {
            let unordered = |ordering: &Ordering| !ordering.is_ordered(own.buffer, other.buffer);
            own.exclusive || pieces.ordering().is_some_and(unordered)
        };
        let floor = &self.spaces[space];
        // `alone` are exclusive buffers outside of blocks. Their bytes are in `blocked` already, so they are looked at
        // again only if the order of execution is not fixed, because then each pair of buffers has to be asked about.
        let alone = floor.alone.iter().filter(|_| pieces.ordering().is_some());
        for &other in floor.placed.iter().chain(alone) {
            let Some(offset) = self.spots.get(other).map(|spot| spot.offset) else { continue };
            for own in pieces.footprints(piece) {
                for other in pieces.footprints(other).filter(|other| strangers(&own, other)) {
                    let occupied = (offset + other.low, offset + other.high);
                    self.obstacles.push(Obstacle::new(occupied, (own.low, own.high)));
                }
            }
        }
    }

    /// Adds obstacles for the placed pieces that are alive with this one. A partner that may be overlaid at any offset
    /// is no obstacle. A partner that may be overlaid at its own offset goes to `soft`. Partners are sorted by their
    /// numbers, each pair once.
    fn collect_with_partners(&mut self, piece: PieceId, space: SpaceId) {
        let partners = self.pieces.partners(piece);
        let (obstacles, soft, spots) = (&mut self.obstacles, &mut self.soft, &self.spots);
        for rect in self.pieces.rects(piece) {
            self.spaces[space].for_each_owner(rect, |owner, obstacle| {
                let partner = partners.binary_search_by_key(&owner, |partner| partner.other);
                match partner.ok().map(|position| partners[position].kind) {
                    None => obstacles.push(obstacle),
                    Some(OverlayKind::AnyOffset) => {}
                    Some(OverlayKind::SameBase) => soft.extend(spots.get(owner).map(|spot| (obstacle, spot.offset))),
                }
            });
        }
    }

    /// Adds obstacles for the placed pieces that this one must not share bytes with, whatever their lives; if
    /// `avoids_costs` is set, also for those with which sharing has a price.
    fn collect_apart(&mut self, piece: PieceId, space: SpaceId) {
        let costly = if self.avoids_costs { self.pieces.costly(piece) } else { &[] };
        for apart in self.pieces.apart(piece).iter().chain(costly) {
            let first = apart.other.index();
            for other in (first..first + apart.other_slots as usize).map(PieceId::from_index) {
                if let Some(spot) = self.spots.get(other).filter(|spot| spot.space == space) {
                    let occupied = (spot.offset + apart.other_low, spot.offset + apart.other_high);
                    // An empty buffer has no byte to share.
                    if apart.low < apart.high && apart.other_low < apart.other_high {
                        self.obstacles.push(Obstacle::new(occupied, (apart.low, apart.high)));
                    }
                }
            }
        }
    }

    /// Puts a piece down in its `home`-th home, without asking whether it is free.
    fn put(&mut self, piece: PieceId, home: usize, spot: Spot) {
        debug_assert!(!self.spots.is_placed(piece), "a piece is put down only once");
        debug_assert!(
            spot.offset.is_multiple_of(self.pieces.homes(piece)[home].alignment),
            "a piece starts at a multiple of its alignment"
        );
        self.spots.set(piece, spot);
        // A piece without bytes is in no other piece's way.
        if self.pieces.get(piece).size == 0 {
            return;
        }
        let floor = &mut self.spaces[spot.space];
        let list = if self.pieces.is_alone(piece) { &mut floor.alone } else { &mut floor.placed };
        list.push(piece);
        // Footprints are read from the buffers, which takes longer than a look at the piece. Few pieces are exclusive,
        // so the piece is asked first.
        if self.pieces.get(piece).exclusive {
            for own in self.pieces.footprints(piece).filter(|own| own.exclusive) {
                floor.block(spot.offset + own.low, spot.offset + own.high);
            }
        }
        let rects = self.pieces.rects(piece);
        let first = self.first_rank.get(piece).map_or(0, |&first| first as usize + home * rects.len());
        let rank = |number: usize| self.ranks.get(first + number).map_or(0, |&rank| rank as usize);
        // One of several slots is a solid rectangle, alive as long as its siblings. If it touches the slot put down
        // just before, the rectangle of that slot is made higher instead of adding another one: fewer obstacles for
        // later pieces.
        if let ([rect], true) = (rects, self.pieces.get(piece).slots > 1) {
            let before = self.run.filter(|run| run.last.index() + 1 == piece.index());
            let bytes = (spot.offset + rect.low, spot.offset + rect.high);
            if let Some(run) = before.filter(|run| self.pieces.get(piece).slot > 0 && floor.extend(run.rank, bytes)) {
                self.run = Some(Run { last: piece, ..run });
                return;
            }
            self.run = Some(Run { last: piece, rank: rank(0) });
        }
        for (number, rect) in rects.iter().enumerate() {
            floor.put(rank(number), rect, spot.offset);
        }
    }

    /// Removes a slot that was just put down, because a later slot of the same buffer or block has found no room.
    ///
    /// The caller removes all earlier slots. One rectangle may stand for several of them ([`Run`]); it has the rank of
    /// the first one and goes with it. Removing the ranks of the others, which were never put down, changes nothing.
    fn take(&mut self, piece: PieceId, home: usize) {
        let Some(spot) = self.spots.take(piece) else { return };
        // The next slot must not extend a rectangle that is gone.
        self.run = None;
        let floor = &mut self.spaces[spot.space];
        let list = if self.pieces.is_alone(piece) { &mut floor.alone } else { &mut floor.placed };
        // It was put down a moment ago, so it is near the end. Empty pieces are in no list.
        let position = list.iter().rposition(|&placed| placed == piece);
        position.map(|position| list.remove(position));
        let rects = self.pieces.rects(piece);
        let first = self.first_rank[piece] as usize + home * rects.len();
        for (_, &rank) in rects.iter().zip(&self.ranks[first..]) {
            floor.take(rank as usize);
        }
        if self.pieces.get(piece).exclusive {
            self.block_again(spot.space);
        }
    }

    /// Builds the blocked ranges of a space anew. Ranges that touch have become one, so a single buffer cannot be
    /// cut out of them.
    fn block_again(&mut self, space: SpaceId) {
        let floor = &mut self.spaces[space];
        floor.blocked.clear();
        let placed: Vec<PieceId> = floor.placed.iter().chain(&floor.alone).copied().collect();
        for other in placed {
            let offset = self.spots.get(other).map_or(0, |spot| spot.offset);
            for own in self.pieces.footprints(other).filter(|own| own.exclusive) {
                floor.block(offset + own.low, offset + own.high);
            }
        }
    }

    /// As [`finish`](Placer::finish), for the last plan of this placer. The tables that find neighbours are given back
    /// before the plan is made: with a million pieces they take 40 MB, and the plan takes 64 MB.
    pub(crate) fn into_plan(mut self) -> Option<Plan> {
        self.spaces = IndexVec::new();
        self.first_rank = Arc::default();
        self.ranks = Arc::default();
        self.finish()
    }

    /// The finished plan; `None` if a piece could not be placed.
    pub fn finish(&self) -> Option<Plan> {
        let problem = self.pieces.problem();
        let mut plan = Plan::empty(problem);
        for piece in self.pieces.ids() {
            let spot = self.spots.get(piece)?;
            for (buffer, at) in self.pieces.members(piece) {
                let offset = Bytes(spot.offset + at.0);
                // Slots of a buffer are pieces in a row, so their offsets are added in order.
                match &mut plan.placements[buffer] {
                    Some(placement) => placement.offsets.push(offset),
                    empty => *empty = Some(Placement::at(spot.space, offset)),
                }
            }
        }
        plan.fit_extents(problem);
        plan.reused = self.reused(problem);
        Some(plan)
    }

    /// The overlays that the placement makes use of, one entry for each newcomer with all of its victims, the lowest
    /// victim first.
    fn reused(&self, problem: &Problem) -> Vec<Reuse> {
        let mut pairs = Vec::new();
        for overlay in problem.overlays() {
            let [buffer, over] = [overlay.buffer, overlay.over].map(|id| self.pieces.piece_of(id));
            // Partners are listed at both pieces, so it is checked that the newcomer of this overlay starts later.
            let is_partner = self.pieces.partners(buffer).iter().any(|partner| partner.other == over);
            let starts = |piece: PieceId| self.pieces.rects(piece).first().map(|rect| rect.start);
            let is_used = is_partner && starts(over) < starts(buffer) && self.overlap(buffer, over);
            if let (true, Some(below)) = (is_used, self.spots.get(over)) {
                pairs.push((overlay.buffer, below.offset, overlay.over));
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let same_newcomer = pairs.chunk_by(|one, other| one.0 == other.0);
        same_newcomer
            .map(|pairs| Reuse { buffer: pairs[0].0, over: pairs.iter().map(|pair| pair.2).collect() })
            .collect()
    }

    /// Whether two pieces have bytes in common while both are alive.
    fn overlap(&self, one: PieceId, other: PieceId) -> bool {
        let (Some(at), Some(other_at)) = (self.spots.get(one), self.spots.get(other)) else { return false };
        let meet = |a: &Rect, b: &Rect| {
            let in_time = a.start < b.end && b.start < a.end;
            in_time && at.offset + a.low < other_at.offset + b.high && other_at.offset + b.low < at.offset + a.high
        };
        let others = self.pieces.rects(other);
        at.space == other_at.space && self.pieces.rects(one).iter().any(|a| others.iter().any(|b| meet(a, b)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memplan_core::{Buffer, BufferId, Lifetime, Overlay, ProblemBuilder};

    fn place_all(problem: &Problem, fit: Fit) -> Plan {
        let pieces = Pieces::of(problem).unwrap();
        let mut placer = Placer::new(&pieces);
        for piece in pieces.ids() {
            placer.place(piece, fit).unwrap();
        }
        placer.finish().unwrap()
    }

    fn offsets(plan: &Plan) -> Vec<u64> {
        plan.placements.iter().flatten().map(|placement| placement.offsets[0].0).collect()
    }

    #[test]
    fn the_example_of_the_module_documentation() {
        let mut builder = ProblemBuilder::new();
        builder.buffer(Buffer::new("a", 64, Lifetime::new(0, 2)));
        builder.buffer(Buffer::new("b", 32, Lifetime::new(1, 3)));
        builder.buffer(Buffer::new("c", 32, Lifetime::new(2, 4)));
        let plan = place_all(&builder.build().unwrap(), Fit::First);
        assert_eq!(offsets(&plan), [0, 64, 0]);
        assert_eq!(plan.extent(), Bytes(96));
    }

    #[test]
    fn slots_and_exclusive_buffers_keep_to_themselves() {
        let mut builder = ProblemBuilder::new();
        builder.buffer(Buffer { slots: 3, ..Buffer::new("never", 8, Lifetime::default()) });
        builder.buffer(Buffer { exclusive: true, ..Buffer::new("mine", 4, Lifetime::new(5, 6)) });
        builder.buffer(Buffer::new("late", 4, Lifetime::new(8, 9)));
        let plan = place_all(&builder.build().unwrap(), Fit::First);
        let slots = |index| plan.placements[BufferId::from_index(index)].as_ref().unwrap().offsets.to_vec();
        assert_eq!(slots(0), [Bytes(0), Bytes(8), Bytes(16)]);
        assert_eq!(slots(1), [Bytes(24)]);
        assert_eq!(slots(2), [Bytes(0)]);
    }

    #[test]
    fn same_base_overlays_lie_exactly_on_their_victim() {
        for (kind, expected) in [(OverlayKind::SameBase, [0, 8, 8]), (OverlayKind::AnyOffset, [0, 8, 8])] {
            let mut builder = ProblemBuilder::new();
            builder.buffer(Buffer::new("other", 8, Lifetime::new(0, 9)));
            let over = builder.buffer(Buffer::new("victim", 16, Lifetime::new(0, 5)));
            let buffer = builder.buffer(Buffer::new("newcomer", 16, Lifetime::new(4, 9)));
            builder.overlay(Overlay { buffer, over, kind });
            let plan = place_all(&builder.build().unwrap(), Fit::First);
            assert_eq!(offsets(&plan), expected, "{kind:?}");
            assert_eq!(plan.reused, [Reuse { buffer, over: vec![over] }]);
        }
    }

    #[test]
    fn a_space_that_is_full_hands_on_to_the_next() {
        use memplan_core::Space;
        let mut builder = ProblemBuilder::new();
        let fast = builder.space(Space { capacity: Some(Bytes(16)), ..Space::new("fast") });
        let slow = builder.space(Space { alignment: Bytes(64), ..Space::new("slow") });
        for name in ["a", "b", "c"] {
            let spaces = [fast, slow].into_iter().collect();
            builder.buffer(Buffer { spaces, ..Buffer::new(name, 8, Lifetime::new(0, 2)) });
        }
        let plan = place_all(&builder.build().unwrap(), Fit::Best);
        assert_eq!(offsets(&plan), [0, 8, 0]);
        assert_eq!(plan.extents.as_slice(), [Bytes(16), Bytes(8)]);
    }
}
