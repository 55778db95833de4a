//! Rigid pieces: a problem boiled down to what a placement engine has to move.
//!
//! A piece is one slot of a block, or of a buffer that is in no block. It gets
//! one offset, and everything inside it moves along. When and where it is in
//! the way of others is said by rectangles of time and bytes, relative to the
//! piece's own offset:
//!
//! ```text
//!   buffer a: 96 bytes, alive in [0, 4), and only its bytes 0..32 in [6, 9)
//!
//!   bytes 96 ┤████████
//!            │████████
//!         32 ┤████████    ▒▒▒▒▒▒     two rectangles: [0, 4) × 0..96
//!            │████████    ▒▒▒▒▒▒                     [6, 9) × 0..32
//!          0 └────────────────────
//!            0       4    6     9
//! ```
//!
//! # What is flattened how
//!
//! - *Gaps, windows, ties, must-share*: rectangles, exactly.
//! - *Slots*: a piece each. Two slots of one buffer never overlap, even in
//!   bytes that are dead, so a piece with siblings is one solid rectangle from
//!   its first to its last step (one step if it is never alive).
//! - *Exclusive*: such a buffer keeps all other pieces off its bytes at all times, so it has no rectangles;
//!   [`Pieces::footprints`] says which bytes are its own.
//! - *Must not share*: [`Pieces::apart`], pairs of byte ranges that stay
//!   disjoint whatever the time.
//! - *Overlays*: [`Pieces::partners`]: the rectangles of two partners may overlap. Only pieces that are one buffer with
//!   one slot each have partners. For all other pieces the victim counts as alive to its end. Permissions that would
//!   lead to invalid plans (equal starts, exclusive or must-not-share partners, an order of execution that is not
//!   fixed) are left out.
//! - *Dependencies*: [`Pieces::ordering`]; without an order between two buffers
//!   their pieces stay disjoint whatever their lives.
//!
//! Time is compressed: rectangles count in positions of [`Pieces::steps`], so
//! tables over time are never larger than the problem. Everything is in flat
//! arrays; making the pieces is O(n log n).
//!
//! Words from other files: a [`Block`] is a set of buffers at fixed distances from each other, with its `members`; an
//! [`Ordering`] says which buffers are certainly used one after the other if the order of execution is not fixed.

use std::ops::Range;

use memplan_core::{Block, Buffer, BufferId, Bytes, Id, IndexVec, OverlayKind, Problem, SpaceId, Step};

use crate::happens_before::{Ordering, TooManyBuffers};

memplan_core::index_type! {
    /// A piece, by its position in [`Pieces`]: buffers and blocks in order of their first member; the slots of one
    /// buffer or block follow each other.
    pub struct PieceId;
}

/// Bytes that one slot of a buffer takes. A size that is not known counts as empty: a strategy that makes offsets
/// refuses such problems beforehand (`Feature::Shapes`, `Feature::UnboundedSymbols`).
pub(crate) fn reserved(buffer: &Buffer) -> Bytes {
    buffer.bytes().unwrap_or_default()
}

/// Bytes in use during a stretch of time, relative to the piece's offset. Times are positions in [`Pieces::steps`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    /// First time alive, a position in [`Pieces::steps`].
    pub start: u32,
    /// First time no longer alive.
    pub end: u32,
    /// First byte in use.
    pub low: u64,
    /// One past the last byte in use.
    pub high: u64,
}

/// A space a piece may live in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Home {
    /// The space.
    pub space: SpaceId,
    /// Its offset there is a multiple of this. Above [`MAX_BYTES`](memplan_core::MAX_BYTES)
    /// only offset 0 is possible.
    pub alignment: u64,
}

/// Something that gets one offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Bytes from its offset to its end.
    pub size: u64,
    /// An offset it must have.
    pub fixed: Option<u64>,
    /// Whether it has an exclusive member, which keeps all other pieces out for ever.
    pub exclusive: bool,
    /// Which slot of its block or buffer it is.
    pub slot: u32,
    /// How many slots there are. They all live in the same space.
    pub slots: u32,
    /// The first of its buffers.
    pub first_buffer: BufferId,
    /// Its rectangles, as positions in the one list with the rectangles of all pieces.
    rects: Range<u32>,
    /// Its homes, as positions in the one list of homes.
    homes: Range<u32>,
}

/// The bytes of one buffer inside a piece, alive or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// The buffer.
    pub buffer: BufferId,
    /// Its first byte, relative to the piece's offset.
    pub low: u64,
    /// One past its last byte.
    pub high: u64,
    /// Whether no other piece may ever have its bytes.
    pub exclusive: bool,
}

/// Byte ranges of two pieces that stay disjoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Apart {
    /// Bytes of this piece, relative to its offset.
    pub low: u64,
    /// One past the last of them.
    pub high: u64,
    /// The first slot of the other piece.
    pub other: PieceId,
    /// How many slots the other piece has.
    pub other_slots: u32,
    /// Bytes of the other piece.
    pub other_low: u64,
    /// One past the last of them.
    pub other_high: u64,
}

/// A piece that this one may overlap although both are alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Partner {
    /// The other piece.
    pub other: PieceId,
    /// How the two must lie.
    pub kind: OverlayKind,
}

/// The pieces of a problem. See the module documentation.
#[derive(Clone, Debug)]
pub struct Pieces<'p> {
    problem: &'p Problem,
    pieces: IndexVec<PieceId, Piece>,
    rects: Vec<Rect>,
    homes: Vec<Home>,
    steps: Vec<Step>,
    /// First slot of each buffer's piece.
    piece_of: IndexVec<BufferId, PieceId>,
    /// Pairs that must not share, listed at both pieces.
    apart: Lists<Apart>,
    /// Pairs with a price, listed at both pieces.
    costly: Lists<Apart>,
    /// Pairs of usable overlays, listed at both pieces.
    partners: Lists<Partner>,
    /// `None` if the order of execution is fixed.
    ordering: Option<Ordering>,
}

impl<'p> Pieces<'p> {
    /// Takes a problem apart. Buffers whose size in bytes is not known count as
    /// empty; a strategy that makes offsets refuses them beforehand. Fails only
    /// if there are dependencies between too many buffers.
    pub fn of(problem: &'p Problem) -> Result<Pieces<'p>, TooManyBuffers> {
        let ordering = problem.dependencies().map(Ordering::of).transpose()?;
        let mut pieces = Pieces {
            problem,
            pieces: IndexVec::from_vec(Vec::with_capacity(problem.buffers().len())),
            rects: Vec::with_capacity(problem.buffers().len()),
            homes: Vec::new(),
            steps: Vec::new(),
            piece_of: IndexVec::filled(PieceId::from_index(0), problem.buffers().len()),
            apart: Lists::default(),
            costly: Lists::default(),
            partners: Lists::default(),
            ordering,
        };
        let clock = Clock::of(problem);
        for (id, buffer) in problem.buffers().iter_enumerated() {
            match problem.blocks().place_of(id) {
                None => pieces.add_buffer(&clock, id, buffer),
                Some((block, _)) => {
                    let block = &problem.blocks().blocks()[block];
                    // A block is one piece. It is made when its first member is met, and the other members only point
                    // to it.
                    if block.members[0].buffer == id {
                        pieces.add_block(&clock, block);
                    }
                }
            }
        }
        pieces.steps = clock.steps;
        pieces.relate();
        Ok(pieces)
    }

    /// The problem they are from.
    pub fn problem(&self) -> &'p Problem {
        self.problem
    }

    /// Number of pieces.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Whether there is nothing to place.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// All ids in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = PieceId> + ExactSizeIterator + Clone + use<> {
        (0..self.pieces.len()).map(PieceId::from_index)
    }

    /// A piece.
    pub fn get(&self, piece: PieceId) -> &Piece {
        &self.pieces[piece]
    }

    /// The rectangles of a piece: when it is in the way of others, and with which bytes. Rectangles of one piece may
    /// overlap. Exclusive members have none: they are always in the way.
    pub fn rects(&self, piece: PieceId) -> &[Rect] {
        let range = &self.pieces[piece].rects;
        &self.rects[range.start as usize..range.end as usize]
    }

    /// The spaces it may live in, best first; at least one.
    pub fn homes(&self, piece: PieceId) -> &[Home] {
        let range = &self.pieces[piece].homes;
        &self.homes[range.start as usize..range.end as usize]
    }

    /// The steps at which a rectangle starts or ends, ascending; at least two,
    /// so that every rectangle's `end` is a position in it.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Byte ranges that must not meet, whatever the time. Symmetric.
    pub fn apart(&self, piece: PieceId) -> &[Apart] {
        self.apart.for_piece(self.first_slot(piece))
    }

    /// Byte ranges that cost something where they meet. Symmetric.
    pub(crate) fn costly(&self, piece: PieceId) -> &[Apart] {
        self.costly.for_piece(self.first_slot(piece))
    }

    /// Pieces it may overlap in place. Symmetric, sorted by piece; a pair of both
    /// kinds is listed as [`OverlayKind::AnyOffset`] only.
    pub fn partners(&self, piece: PieceId) -> &[Partner] {
        self.partners.for_piece(piece)
    }

    /// Whether a piece is one exclusive buffer: no other piece may have any of its bytes at any time.
    pub(crate) fn is_alone(&self, piece: PieceId) -> bool {
        let info = self.get(piece);
        info.exclusive && self.problem.blocks().place_of(info.first_buffer).is_none()
    }

    /// Whether taken bytes may be merged into ranges. That is so if nobody asks which piece has taken them (no partners
    /// of overlays), and if placed pieces are never removed (no piece has several slots).
    pub(crate) fn can_be_merged(&self) -> bool {
        self.partners.items.is_empty() && self.pieces.iter().all(|piece| piece.slots == 1)
    }

    /// Whether every piece is a rectangle of time and bytes, all in one space, and no two are related.
    pub(crate) fn is_plain(&self) -> bool {
        let is_rectangle = |piece: PieceId| {
            let info = self.get(piece);
            let is_whole = |rect: &Rect| rect.low == 0 && rect.high == info.size;
            !info.exclusive && self.rects(piece).len() <= 1 && self.rects(piece).iter().all(is_whole)
        };
        self.problem.spaces().len() == 1
            && self.problem.blocks().blocks().is_empty()
            && self.problem.must_not_share().is_empty()
            && !crate::costs::has_prices(self.problem)
            && self.ordering.is_none()
            && self.can_be_merged()
            && self.ids().all(is_rectangle)
    }

    /// Whether a rectangle may begin in the middle of a buffer.
    pub(crate) fn has_windows(&self) -> bool {
        let has_window = |interval: memplan_core::Interval| interval.window.is_some();
        self.problem.buffers().iter().any(|buffer| buffer.lifetime.intervals().any(has_window))
    }

    /// What can be said about the order of execution, if it is not fixed.
    pub fn ordering(&self) -> Option<&Ordering> {
        self.ordering.as_ref()
    }

    /// The buffers inside a piece with their distance from its offset.
    pub fn members(&self, piece: PieceId) -> impl Iterator<Item = (BufferId, Bytes)> + '_ {
        let first = self.pieces[piece].first_buffer;
        let block = self.problem.blocks().place_of(first).map(|(block, _)| &self.problem.blocks().blocks()[block]);
        let alone = block.is_none().then_some((first, Bytes::ZERO));
        let members = block.map_or(&[][..], |block| &block.members);
        alone.into_iter().chain(members.iter().map(|member| (member.buffer, member.at)))
    }

    /// The bytes of every buffer inside a piece, without the buffers that are empty.
    pub fn footprints(&self, piece: PieceId) -> impl Iterator<Item = Footprint> + '_ {
        let footprint = |(id, at): (BufferId, Bytes)| {
            let buffer = &self.problem.buffers()[id];
            let high = at.0 + reserved(buffer).0;
            Footprint { buffer: id, low: at.0, high, exclusive: buffer.exclusive }
        };
        self.members(piece).map(footprint).filter(|footprint| footprint.low < footprint.high)
    }

    /// The piece that holds the first slot of a buffer; further slots follow.
    pub fn piece_of(&self, buffer: BufferId) -> PieceId {
        self.piece_of[buffer]
    }

    /// The first slot of a piece; all slots have consecutive ids.
    pub fn first_slot(&self, piece: PieceId) -> PieceId {
        PieceId::from_index(piece.index() - self.pieces[piece].slot as usize)
    }

    /// Adds the pieces of a buffer that is in no block: one for each slot.
    fn add_buffer(&mut self, clock: &Clock, id: BufferId, buffer: &Buffer) {
        let size = reserved(buffer);
        let first_rect = self.rects.len();
        // With one slot there is a rectangle for each stretch of the lifetime. An exclusive buffer, whatever its
        // slots, has none (see `add_rects`). With several slots it is not known which one is in use at a step, so
        // every slot counts as taken from the first start to the last end.
        if buffer.slots == 1 || buffer.exclusive {
            self.add_rects(clock, buffer, Bytes::ZERO);
        } else if let (Some(start), Some(end)) = (buffer.lifetime.start(), buffer.lifetime.end()) {
            self.add_solid(clock.at(start), clock.at(end), size);
        } else {
            // The buffer is never alive, but its slots still must not overlap each other. So each of them is a
            // rectangle in the first step: the slots meet there and are kept apart.
            self.add_solid(0, 1, size);
        }
        self.piece_of[id] = PieceId::from_index(self.pieces.len());
        let first_home = self.homes.len();
        for &space in &buffer.spaces {
            self.homes.push(Home { space, alignment: self.problem.alignment_in(id, space).0 });
        }
        let piece = Piece {
            size: size.0,
            fixed: buffer.fixed().map(|offset| offset.0),
            exclusive: buffer.exclusive,
            slot: 0,
            slots: buffer.slots,
            first_buffer: id,
            rects: range(first_rect, self.rects.len()),
            homes: self.homes_from(first_home),
        };
        self.add_slots(&piece);
    }

    /// Adds the pieces of a block: one for each slot of its members, which all have the same number of slots.
    fn add_block(&mut self, clock: &Clock, block: &Block) {
        let buffers = self.problem.buffers();
        let first = &buffers[block.members[0].buffer];
        let first_rect = self.rects.len();
        if first.slots == 1 {
            for member in &block.members {
                self.add_rects(clock, &buffers[member.buffer], member.at);
            }
        } else {
            // Slots of a block rotate together, so the block is solid from its earliest start to its latest end. If no
            // member is ever alive, it is solid in the first step, as in `add_buffer`.
            let lives = block.members.iter().map(|member| &buffers[member.buffer].lifetime);
            let start = lives.clone().filter_map(|life| life.start()).min().map_or(0, |step| clock.at(step));
            let end = lives.filter_map(|life| life.end()).max().map_or(1, |step| clock.at(step));
            self.add_solid(start, end, block.size);
        }
        let first_home = self.homes.len();
        // All members may live in the same spaces; the problem was checked for that.
        for &space in &first.spaces {
            // One offset serves all members, so it must be a multiple of each member's alignment.
            let alignments = block.members.iter().map(|member| self.problem.alignment_in(member.buffer, space).0);
            self.homes.push(Home { space, alignment: alignments.fold(1, saturating_common_multiple) });
        }
        for member in &block.members {
            self.piece_of[member.buffer] = PieceId::from_index(self.pieces.len());
        }
        let piece = Piece {
            size: block.size.0,
            fixed: block.fixed.map(|offset| offset.0),
            exclusive: block.members.iter().any(|member| buffers[member.buffer].exclusive),
            slot: 0,
            slots: first.slots,
            first_buffer: block.members[0].buffer,
            rects: range(first_rect, self.rects.len()),
            homes: self.homes_from(first_home),
        };
        self.add_slots(&piece);
    }

    /// Adds a rectangle for each stretch of a buffer's life; the buffer begins `at` bytes past its piece's offset. An
    /// exclusive buffer gets none: the placer blocks its footprint at all times instead.
    fn add_rects(&mut self, clock: &Clock, buffer: &Buffer, at: Bytes) {
        if buffer.exclusive {
            return;
        }
        let size = reserved(buffer);
        for interval in buffer.lifetime.intervals() {
            let bytes = interval.bytes(size);
            if bytes.low < bytes.high {
                let (start, end) = (clock.at(interval.start), clock.at(interval.end));
                self.rects.push(Rect { start, end, low: at.0 + bytes.low.0, high: at.0 + bytes.high.0 });
            }
        }
    }

    /// Adds one rectangle with all bytes of a piece; none if the piece is empty.
    fn add_solid(&mut self, start: u32, end: u32, size: Bytes) {
        if size > Bytes::ZERO {
            self.rects.push(Rect { start, end, low: 0, high: size.0 });
        }
    }

    /// The homes of a piece, which are the entries of `homes` from position `first` on. Most pieces have the same homes
    /// as the piece before. Then the new entries are dropped and both pieces use the older ones, which saves memory.
    fn homes_from(&mut self, first: usize) -> Range<u32> {
        let count = self.homes.len() - first;
        let before = first.saturating_sub(count);
        if self.homes[before..first] == self.homes[first..] {
            self.homes.truncate(first);
            return range(before, first);
        }
        range(first, self.homes.len())
    }

    /// Adds a piece for each slot of the given one. Slots share their rectangles and homes; only their ids differ.
    fn add_slots(&mut self, piece: &Piece) {
        for slot in 0..piece.slots {
            self.pieces.push(Piece { slot, ..piece.clone() });
        }
    }

    /// Translates relations between buffers (must not share, prices, overlays) into relations between pieces.
    fn relate(&mut self) {
        self.apart = self.pairs(self.problem.must_not_share().iter().copied());
        let priced = self.problem.reuse_costs().iter().filter(|cost| cost.weight > 0);
        self.costly = self.pairs(priced.map(|cost| (cost.one, cost.other)));
        let mut partners = Vec::new();
        for overlay in self.problem.overlays() {
            if self.is_usable(overlay.buffer, overlay.over) {
                let [buffer, over] = [overlay.buffer, overlay.over].map(|id| self.piece_of[id]);
                partners.push((buffer, Partner { other: over, kind: overlay.kind }));
                partners.push((over, Partner { other: buffer, kind: overlay.kind }));
            }
        }
        // Of several permissions for a pair the most liberal one stays: any-offset, which sorts after same-base.
        // `dedup_by_key` keeps the first of equals, so the list is reversed for it and reversed back.
        partners.sort_unstable();
        partners.reverse();
        partners.dedup_by_key(|(piece, partner)| (*piece, partner.other));
        partners.reverse();
        self.partners = Lists::of(self.pieces.len(), partners);
    }

    /// The byte ranges of pairs of buffers, listed at the pieces of both. Two buffers in one piece (one block) lie at a
    /// fixed distance from each other: there is nothing to decide, and the pair is left out.
    fn pairs(&self, pairs: impl Iterator<Item = (BufferId, BufferId)>) -> Lists<Apart> {
        let mut ranges = Vec::new();
        for (one, other) in pairs.filter(|&(one, other)| self.piece_of[one] != self.piece_of[other]) {
            ranges.push((self.piece_of[one], self.apart_of(one, other)));
            ranges.push((self.piece_of[other], self.apart_of(other, one)));
        }
        Lists::of(self.pieces.len(), ranges)
    }

    /// The entry of a pair at the piece of `one`: where the two buffers lie inside their pieces.
    fn apart_of(&self, one: BufferId, other: BufferId) -> Apart {
        let bytes = |id: BufferId| {
            let at = self.problem.blocks().place_of(id).map_or(0, |(_, at)| at.0);
            (at, at + reserved(&self.problem.buffers()[id]).0)
        };
        let ((low, high), (other_low, other_high)) = (bytes(one), bytes(other));
        let other_slots = self.problem.buffers()[other].slots;
        Apart { low, high, other: self.piece_of[other], other_slots, other_low, other_high }
    }

    /// Whether a plan may let `buffer` start on bytes of `over`: the order of execution is fixed, both are single-slot
    /// buffers outside of blocks and not exclusive, `over` starts first, and the two may share at all.
    fn is_usable(&self, buffer: BufferId, over: BufferId) -> bool {
        let lone = |id: BufferId| {
            let info = &self.problem.buffers()[id];
            info.slots == 1 && !info.exclusive && self.problem.blocks().place_of(id).is_none()
        };
        let start = |id: BufferId| self.problem.buffers()[id].lifetime.start();
        // Asked last, because it takes a walk over a list.
        let forbidden = || self.apart(self.piece_of[buffer]).iter().any(|apart| apart.other == self.piece_of[over]);
        let starts_before = matches!((start(over), start(buffer)), (Some(first), Some(second)) if first < second);
        self.ordering.is_none() && lone(buffer) && lone(over) && starts_before && !forbidden()
    }
}

/// A range of positions in 32 bits, to keep a [`Piece`] small.
fn range(start: usize, end: usize) -> Range<u32> {
    let narrow = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
    narrow(start)..narrow(end)
}

/// The least common multiple, or 2^63, which is past every offset, if it does not fit.
fn saturating_common_multiple(one: u64, other: u64) -> u64 {
    let (mut a, mut b) = (one, other);
    // Euclid's algorithm: `a` becomes the greatest common divisor. It is 0 only if both numbers are.
    while b != 0 {
        (a, b) = (b, a % b);
    }
    (one / a.max(1)).checked_mul(other).unwrap_or(1 << 63).min(1 << 63)
}

/// Maps steps to positions in the sorted list of steps that matter.
pub(crate) struct Clock {
    steps: Vec<Step>,
    /// Position by distance from the first step. Empty if steps lie too far apart for a table.
    table: Vec<u32>,
}

impl Clock {
    /// Numbers the steps at which something starts or ends. If they lie close together, a table finds a number at once;
    /// otherwise it is searched for.
    pub(crate) fn of(problem: &Problem) -> Clock {
        let (Some(first), Some(last)) = (edges(problem).min(), edges(problem).max()) else {
            // Nothing is ever alive. Two steps are needed for the rectangles of slots that never live: `[0, 1)`.
            return Clock { steps: vec![Step(0), Step(1)], table: Vec::new() };
        };
        let span = last.0 - first.0;
        // If a table would have more than eight entries for each buffer, the steps are sorted instead.
        if span / 8 > problem.buffers().len() as u64 {
            let mut steps: Vec<Step> = edges(problem).collect();
            steps.sort_unstable();
            steps.dedup();
            steps.shrink_to_fit();
            return Clock { steps, table: Vec::new() };
        }
        // Steps that lie close together are marked with 1 and counted, which is cheaper than sorting them. Then each
        // mark is replaced by the position of its step.
        let mut table = vec![0; span as usize + 1];
        edges(problem).for_each(|step| table[(step.0 - first.0) as usize] = 1);
        let mut steps = Vec::with_capacity(table.iter().map(|&is_used| is_used as usize).sum());
        for (step, entry) in (first.0..).zip(&mut table).filter(|(_, entry)| **entry == 1) {
            *entry = steps.len() as u32;
            steps.push(Step(step));
        }
        Clock { steps, table }
    }

    /// The position of a step at which some life starts or ends.
    pub(crate) fn at(&self, step: Step) -> u32 {
        match self.steps.first() {
            Some(first) if !self.table.is_empty() => self.table[(step.0 - first.0) as usize],
            _ => self.steps.partition_point(|&other| other < step) as u32,
        }
    }
}

/// The steps at which the stretches of all lives start and end, in no order and some of them several times.
fn edges(problem: &Problem) -> impl Iterator<Item = Step> + '_ {
    let stretches = problem.buffers().iter().flat_map(|buffer| buffer.lifetime.intervals());
    stretches.flat_map(|stretch| [stretch.start, stretch.end])
}

/// A list per piece, all in one array: the list of piece p is `items[starts[p]..starts[p + 1]]`. If all lists are
/// empty, so is `starts`.
#[derive(Clone, Debug)]
struct Lists<T> {
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Lists { starts: Vec::new(), items: Vec::new() }
    }
}

impl<T: Copy> Lists<T> {
    /// Groups items by piece. Items of the same piece keep their order.
    fn of(pieces: usize, mut items: Vec<(PieceId, T)>) -> Lists<T> {
        if items.is_empty() {
            return Lists::default();
        }
        items.sort_by_key(|&(piece, _)| piece);
        // How many items each piece has, one position later; summed up, these are the positions at which lists begin.
        let mut starts = vec![0; pieces + 1];
        for &(piece, _) in &items {
            starts[piece.index() + 1] += 1;
        }
        for piece in 0..pieces {
            starts[piece + 1] += starts[piece];
        }
        Lists { starts, items: items.into_iter().map(|(_, item)| item).collect() }
    }

    /// The list of a piece.
    fn for_piece(&self, piece: PieceId) -> &[T] {
        match self.starts.get(piece.index()..piece.index() + 2) {
            Some(&[start, end]) => &self.items[start as usize..end as usize],
            _ => &[],
        }
    }
}
