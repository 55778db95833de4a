//! Parts that can be swapped without changing whether a plan is valid.
//!
//! Slots of one piece can be swapped, and so can buffers that do not differ. Of all plans that differ only by swaps
//! the search looks at one: the one in which these parts lie in the order of their numbers from bottom to top.
//!
//! ```text
//!   c c c              b b b
//!   b b b     like     c c c     like four more orders of a, b and c
//!   a a a              a a a
//! ```
//!
//! A [`Part`] is a piece in the space that is searched, and a [`Least`] says that one part's offset is at least so much
//! above another's.

use memplan_core::{BufferId, Id, Problem};

use super::model::{Least, Part};
use crate::piece::Pieces;

/// Inequalities that allow only one of all orders of parts that can be swapped: the part with the lower number lies no
/// higher. `in_place` are the buffers that overlays mention.
pub(super) fn symmetries(pieces: &Pieces, parts: &[Part], in_place: impl Iterator<Item = BufferId>) -> Vec<Least> {
    let swaps = Swaps::of(pieces, in_place);
    let mut always = Vec::new();
    for (above, other) in parts.iter().enumerate() {
        // It is enough to compare a part with the nearest part of a lower number that is alike: these inequalities form
        // a chain through all parts that are alike.
        let alike = parts[..above].iter().rposition(|one| swaps.are_slots(one, other) || swaps.are_twins(one, other));
        if let Some(below) = alike {
            always.push(Least { below: below as u32, above: above as u32, least: 0 });
        }
    }
    always
}

/// What has to be known about the buffers to tell whether two parts are alike.
struct Swaps<'b> {
    pieces: &'b Pieces<'b>,
    problem: &'b Problem,
    /// By buffer: whether an overlay or a dependency mentions it. Such a buffer cannot be swapped with another one,
    /// because the rule names this buffer and not the other.
    is_special: Vec<bool>,
    /// Buffers that must not share with some other one.
    in_pairs: Vec<BufferId>,
}

impl<'b> Swaps<'b> {
    /// If there are dependencies, they mention every buffer. So no buffer can be swapped then.
    fn of(pieces: &'b Pieces<'b>, in_place: impl Iterator<Item = BufferId>) -> Swaps<'b> {
        let problem = pieces.problem();
        let mut is_special = vec![problem.dependencies().is_some(); problem.buffers().len()];
        in_place.for_each(|buffer| is_special[buffer.index()] = true);
        let in_pairs = problem.must_not_share().iter().flat_map(|&(one, other)| [one, other]).collect();
        Swaps { pieces, problem, is_special, in_pairs }
    }

    /// Whether two parts are slots of one piece.
    fn are_slots(&self, one: &Part, other: &Part) -> bool {
        let mut members = self.pieces.members(one.piece);
        self.pieces.first_slot(one.piece) == self.pieces.first_slot(other.piece)
            && !members.any(|(buffer, _)| self.is_special[buffer.index()])
    }

    /// Whether two parts are buffers that do not differ and that no rule mentions.
    fn are_twins(&self, one: &Part, other: &Part) -> bool {
        let ids = [one, other].map(|part| self.pieces.get(part.piece).first_buffer);
        let [x, y] = ids.map(|id| &self.problem.buffers()[id]);
        let alike = x.bytes() == y.bytes() && x.lifetime == y.lifetime && x.exclusive == y.exclusive;
        alike && one.alignment == other.alignment && ids.iter().all(|&id| self.is_alone(id))
    }

    /// Whether a buffer is a piece of its own, has one slot and no fixed offset, and no rule names it.
    fn is_alone(&self, buffer: BufferId) -> bool {
        let info = &self.problem.buffers()[buffer];
        let related = self.is_special[buffer.index()] || self.in_pairs.contains(&buffer);
        !related && self.problem.blocks().place_of(buffer).is_none() && info.fixed().is_none() && info.slots == 1
    }
}
