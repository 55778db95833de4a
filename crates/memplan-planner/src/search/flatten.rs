//! From pieces to a flat instance.
//!
//! The canonical search knows slabs: bytes `0..height` from an offset upwards, where the height may change over time.
//! Pieces are richer, and this is what becomes of them in one space. (A *section* is a set of slabs alive together; an
//! extra one keeps slabs apart that never meet: see [`instance`](super::instance).)
//!
//! | of a piece | becomes | exactly? |
//! |---|---|---|
//! | life with gaps, windows that start at byte 0, buffers that share their start | stretches of some height | yes |
//! | slots | a slab each, all in one extra section | yes, of single buffers |
//! | exclusive | alive for ever, with an extra section for what is not always there | yes, of single buffers |
//! | must not share | an extra section for the pair | yes, of single buffers |
//! | fixed offset, alignment | kept | yes |
//! | windows and ties that start higher up | bytes from the offset upwards | no: reserves too much |
//! | permissions to overlay | not used | no |
//! | several candidate spaces | the one it is in now | no |
//!
//! A plan of the flat instance is always a plan of the pieces. A proof that the flat instance has no plan holds for the
//! pieces only if all of them became slabs exactly.
//!
//! Words from other files: [`Pieces`] are all pieces of a problem, in a fixed order; the slots of one buffer have
//! consecutive [`PieceId`]s. `members` are the buffers inside a piece, each with its distance from the piece's offset;
//! `homes` are the spaces that a piece may live in; `apart` lists byte ranges of two pieces that must not share.
//! [`reserved`] is the number of bytes that one slot of a buffer takes.

use memplan_core::{BufferId, Problem, SpaceId};

use super::instance::{Instance, Slab, Stretch};
use crate::piece::{PieceId, Pieces, reserved};
use crate::tuning::MOST_EXTRA_SECTIONS;

/// One space of a problem, flat.
pub(crate) struct Flat {
    pub(crate) space: SpaceId,
    /// The piece that each item was made of.
    pub(crate) pieces: Vec<PieceId>,
    pub(crate) instance: Instance,
    /// Whether every plan of the pieces is a plan of the instance, so that proofs hold for both.
    pub(crate) is_exact: bool,
}

impl Flat {
    /// Makes the pieces `here`, in ascending order, a flat instance of one space. `in_place` is the list that the
    /// function [`in_place`] gives. `None` if they cannot be made flat, or if numbers are too large.
    pub(crate) fn new(pieces: &Pieces, space: SpaceId, here: &[PieceId], in_place: &[BufferId]) -> Option<Flat> {
        // If the order of execution is not fixed, lives do not say which pieces meet.
        if pieces.ordering().is_some() {
            return None;
        }
        let here: Vec<PieceId> = here.iter().copied().filter(|&piece| pieces.get(piece).size > 0).collect();
        let slabs = Vec::with_capacity(here.len());
        let mut flattening = Flattening { pieces, space, slabs, in_place, is_exact: true };
        for &piece in &here {
            let slab = flattening.slab(piece)?;
            flattening.slabs.push(slab);
        }
        let groups = flattening.groups(&here)?;
        let instance = Instance::new(&flattening.slabs, &groups)?;
        Some(Flat { space, pieces: here, instance, is_exact: flattening.is_exact })
    }
}

/// The work of [`Flat::new`] in progress.
struct Flattening<'a, 'p> {
    pieces: &'a Pieces<'p>,
    space: SpaceId,
    /// The slabs so far, one for each piece.
    slabs: Vec<Slab>,
    /// Buffers with a permission to overlay, sorted.
    in_place: &'a [BufferId],
    is_exact: bool,
}

/// The newcomers and victims of all overlays in which the victim starts first, sorted. (Other overlays cannot be used.)
pub(crate) fn in_place(problem: &Problem) -> Vec<BufferId> {
    let start = |id: BufferId| problem.buffers()[id].lifetime.start();
    let in_order = problem.overlays().iter().filter(|overlay| start(overlay.over) < start(overlay.buffer));
    let mut buffers: Vec<BufferId> = in_order.flat_map(|overlay| [overlay.buffer, overlay.over]).collect();
    buffers.sort_unstable();
    buffers
}

impl Flattening<'_, '_> {
    /// A piece as a slab; clears `is_exact` if the slab forbids offsets that the piece could have. `None` if the piece
    /// cannot be in this space, or if its fixed offset does not have its alignment.
    fn slab(&mut self, piece: PieceId) -> Option<Slab> {
        let info = self.pieces.get(piece);
        let homes = self.pieces.homes(piece);
        let alignment = homes.iter().find(|home| home.space == self.space)?.alignment;
        if info.fixed.is_some_and(|offset| offset % alignment != 0) {
            return None;
        }
        let is_block = self.pieces.members(piece).nth(1).is_some();
        let is_in_place = |(buffer, _)| self.in_place.binary_search(&buffer).is_ok();
        // A choice of spaces and permissions to overlay are not used.
        self.is_exact &= homes.len() == 1 && !self.pieces.members(piece).any(is_in_place);
        // If no member of a tie group has distance 0, the group itself may have a negative offset. A slab may not, so
        // plans are lost.
        self.is_exact &= self.pieces.members(piece).any(|(_, at)| at.0 == 0);
        // Slots and exclusive members make a slab of the whole block, although bytes between its members may be free.
        self.is_exact &= !is_block || (info.slots == 1 && !info.exclusive);
        let stretches = if info.exclusive { vec![self.all_time(info.size)] } else { self.stretches(piece) };
        Some(Slab { stretches, size: info.size, alignment, fixed: info.fixed })
    }

    /// A stretch from the first to the last step at which anything is alive; if nothing ever is, of one step.
    fn all_time(&self, height: u64) -> Stretch {
        let steps = self.pieces.steps();
        // `steps` has the steps at which something starts or ends, ascending.
        let (start, end) = (steps.first().map_or(0, |step| step.0), steps.last().map_or(1, |step| step.0));
        Stretch { start, end, height }
    }

    /// How high a piece reaches at which time. The bytes of a slab begin at its offset, so free bytes below a byte in
    /// use are counted as taken. That forbids some plans, so it clears `is_exact`.
    fn stretches(&mut self, piece: PieceId) -> Vec<Stretch> {
        let problem = self.pieces.problem();
        let mut stretches = Vec::new();
        for (id, at) in self.pieces.members(piece) {
            let buffer = &problem.buffers()[id];
            for interval in buffer.lifetime.intervals() {
                let bytes = interval.bytes(reserved(buffer));
                if bytes.low < bytes.high {
                    self.is_exact &= at.0 + bytes.low.0 == 0;
                    let (start, end) = (interval.start.0, interval.end.0);
                    stretches.push(Stretch { start, end, height: at.0 + bytes.high.0 });
                }
            }
        }
        skyline(stretches)
    }

    /// Sets of items that never share bytes, whatever their lives: slots of one piece, pairs that must not share, and
    /// exclusive pieces with each item that does not occupy all of its bytes whenever it is alive. Each set gets an
    /// extra section. `None` if there would be too many of them.
    ///
    /// An exclusive piece is alive at all times, so it meets every item that is alive at some time. An extra section is
    /// needed only for an item of which it could otherwise take bytes: one that is never alive, or that is not always
    /// as high as its size.
    fn groups(&mut self, here: &[PieceId]) -> Option<Vec<Vec<u32>>> {
        let mut groups = self.slots(here);
        self.add_pairs(here, &mut groups);
        let exclusive: Vec<u32> =
            (0..here.len()).filter(|&item| self.pieces.get(here[item]).exclusive).map(|item| item as u32).collect();
        if exclusive.is_empty() {
            return Some(groups);
        }
        // Whether a slab has its whole size whenever it is alive, so that its meetings say everything.
        let always = |slab: &Slab| !slab.stretches.is_empty() && slab.stretches.iter().all(|s| s.height == slab.size);
        let not_always: Vec<u32> = (0..here.len() as u32).filter(|&item| !always(&self.slabs[item as usize])).collect();
        if exclusive.len() * (not_always.len() + 1) > MOST_EXTRA_SECTIONS {
            return None;
        }
        // Exclusive items are alive at all times, so they are apart anyway; the first group changes nothing. The other
        // groups keep each item that is not always as high as its size off the exclusive items.
        groups.push(exclusive.clone());
        groups.extend(not_always.iter().map(|&item| [exclusive.as_slice(), &[item]].concat()));
        Some(groups)
    }

    /// The slots of each piece that has several, as positions in `here`. Slots of one piece follow each other there.
    fn slots(&self, here: &[PieceId]) -> Vec<Vec<u32>> {
        let first = |&item: &u32| self.pieces.first_slot(here[item as usize]);
        let items: Vec<u32> = (0..here.len() as u32).collect();
        let by_slot = items.chunk_by(|one, other| first(one) == first(other));
        by_slot.filter(|slots| slots.len() > 1).map(<[u32]>::to_vec).collect()
    }

    /// Adds a group for each pair of items that must not share. A rule about parts of two pieces is extended to the
    /// whole pieces, which is not exact.
    fn add_pairs(&mut self, here: &[PieceId], groups: &mut Vec<Vec<u32>>) {
        for (item, &piece) in here.iter().enumerate() {
            for apart in self.pieces.apart(piece) {
                // Buffers without bytes share nothing. A pair is listed at both pieces; the lower one adds it.
                if apart.low == apart.high || apart.other_low == apart.other_high || apart.other < piece {
                    continue;
                }
                let whole = apart.low == 0 && apart.high == self.pieces.get(piece).size;
                let other_whole = apart.other_low == 0 && apart.other_high == self.pieces.get(apart.other).size;
                self.is_exact &= whole && other_whole;
                // The slots of the other piece that are here. If it is in another space, there are none.
                let first = here.partition_point(|&id| id < apart.other);
                let others = here[first..].iter().take(apart.other_slots as usize).enumerate();
                let slots = others.filter(|(_, other)| self.pieces.first_slot(**other) == apart.other);
                groups.extend(slots.map(|(slot, _)| vec![item as u32, (first + slot) as u32]));
            }
        }
    }
}

/// The upper envelope of stretches that may overlap: for each time the height of the highest, as sorted and disjoint
/// stretches. Neighbours may have the same height.
///
/// ```text
///   [0, 4) height 2 and [2, 6) height 5   →   [0, 2) height 2, [2, 4) height 5, [4, 6) height 5
/// ```
fn skyline(mut stretches: Vec<Stretch>) -> Vec<Stretch> {
    if stretches.len() < 2 {
        return stretches;
    }
    stretches.sort_unstable_by_key(|stretch| stretch.start);
    // Stretches that do not overlap are their own envelope. That is so for all single buffers.
    if stretches.windows(2).all(|pair| pair[0].end <= pair[1].start) {
        return stretches;
    }
    // The height can only change at an edge, which is the start or end of a stretch. Walking over the edges, `alive`
    // has the heights of all stretches that are alive and how many there are of each; the largest of them is the
    // envelope up to the next edge.
    let mut edges: Vec<u64> = stretches.iter().flat_map(|stretch| [stretch.start, stretch.end]).collect();
    edges.sort_unstable();
    edges.dedup();
    let mut alive = std::collections::BTreeMap::<u64, u32>::new();
    let mut ends: Vec<Stretch> = stretches.clone();
    ends.sort_unstable_by_key(|stretch| stretch.end);
    let (mut started, mut ended) = (0, 0);
    let mut envelope = Vec::new();
    for pair in edges.windows(2) {
        while let Some(stretch) = ends.get(ended).filter(|stretch| stretch.end <= pair[0]) {
            if let Some(count) = alive.get_mut(&stretch.height) {
                *count -= 1;
                if *count == 0 {
                    alive.remove(&stretch.height);
                }
            }
            ended += 1;
        }
        while let Some(stretch) = stretches.get(started).filter(|stretch| stretch.start <= pair[0]) {
            *alive.entry(stretch.height).or_insert(0) += 1;
            started += 1;
        }
        if let Some((&height, _)) = alive.last_key_value() {
            envelope.push(Stretch { start: pair[0], end: pair[1], height });
        }
    }
    envelope
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_envelope_of_overlapping_stretches() {
        let stretch = |start, end, height| Stretch { start, end, height };
        let envelope = skyline(vec![stretch(0, 4, 2), stretch(2, 6, 5), stretch(3, 4, 1), stretch(8, 9, 1)]);
        assert_eq!(
            envelope,
            [stretch(0, 2, 2), stretch(2, 3, 5), stretch(3, 4, 5), stretch(4, 6, 5), stretch(8, 9, 1)]
        );
    }
}
