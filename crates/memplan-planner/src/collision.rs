//! Proof that two buffers with fixed offsets overlap, so that there is no plan.
//!
//! A [`Placer`] puts the pieces of a problem down one by one; it has found no place for a piece with a fixed offset,
//! and this file says why. [`reserved`] is the number of bytes that one slot of a buffer takes.

use memplan_core::{Buffer, BufferId, Bytes, Problem, Step, Witness};

use crate::piece::{PieceId, reserved};
use crate::placer::Placer;

/// Two fixed buffers that cannot both be where they must be: one of `piece`,
/// which could not be placed, and one already placed. `None` if the reason is another.
///
/// The witness says how many bytes the two need and how many their offsets leave them.
pub(crate) fn witness(placer: &Placer, piece: PieceId) -> Option<Witness> {
    let pieces = placer.pieces();
    let problem = pieces.problem();
    let base = pieces.get(piece).fixed?;
    // Only a placed piece with a fixed offset proves that there is no plan; any other piece could lie elsewhere.
    let placed = pieces.ids().filter(|&other| pieces.get(other).fixed.is_some() && placer.spot(other).is_some());
    // Every buffer of the piece with every buffer of the placed one: a piece is one buffer, or several at fixed
    // distances.
    for other in placed {
        for (buffer, at) in pieces.members(piece) {
            for (rival, rival_at) in pieces.members(other) {
                let offset = base + at.0;
                let rival_offset = pieces.get(other).fixed? + rival_at.0;
                if let Some(step) = collide(problem, (buffer, offset), (rival, rival_offset)) {
                    return Some(describe(problem, (buffer, offset), (rival, rival_offset), step));
                }
            }
        }
    }
    None
}

/// The bytes of a buffer.
fn size(buffer: &Buffer) -> u64 {
    reserved(buffer).0
}

/// The witness for two buffers (each with its offset) that overlap: together they need more bytes than there are from
/// the lower start to the higher end. `step` is when they collide, if it is at a certain time.
fn describe(problem: &Problem, one: (BufferId, u64), other: (BufferId, u64), step: Option<Step>) -> Witness {
    let buffers = problem.buffers();
    let (first, second) = if one.0 < other.0 { (one, other) } else { (other, one) };
    let end = |(buffer, offset): (BufferId, u64)| offset + size(&buffers[buffer]);
    let room = end(first).max(end(second)) - first.1.min(second.1);
    Witness {
        space: buffers[first.0].spaces[0],
        buffers: vec![first.0, second.0],
        step,
        needed: Bytes(size(&buffers[first.0]) + size(&buffers[second.0])),
        capacity: Bytes(room),
    }
}

/// The step at which two buffers at given offsets meet on the same bytes; `Some(None)` if they have bytes in common and
/// must not share at any time. `None` if they do not collide, or not for certain.
fn collide(problem: &Problem, (one, at): (BufferId, u64), (other, other_at): (BufferId, u64)) -> Option<Option<Step>> {
    let [a, b] = [one, other].map(|id| &problem.buffers()[id]);
    // If a buffer has a choice of spaces, the two may lie in different spaces.
    if a.spaces.len() != 1 || a.spaces != b.spaces {
        return None;
    }
    let in_bytes = at < other_at + size(b) && other_at < at + size(a) && size(a) > 0 && size(b) > 0;
    if !in_bytes {
        return None;
    }
    let mut apart = problem.must_not_share().iter();
    let are_apart = apart.any(|&pair| pair == (one, other) || pair == (other, one));
    if a.exclusive || b.exclusive || are_apart {
        return Some(None);
    }
    // If a third buffer may be laid over one of the two, that one's life may end early, before they meet. Then it is
    // not certain that they collide.
    if problem.overlays().iter().any(|overlay| [one, other].contains(&overlay.over)) {
        return None;
    }
    let first = claims(a, at).find_map(|claim| claims(b, other_at).find_map(|other| claim.first_common_step(&other)));
    first.map(Some)
}

/// Bytes that a fixed buffer has for some time.
struct Claim {
    start: Step,
    end: Step,
    low: u64,
    high: u64,
}

/// What a buffer claims whose first byte lies at `offset`: in each stretch of its life the bytes that it needs then.
fn claims(buffer: &Buffer, offset: u64) -> impl Iterator<Item = Claim> {
    buffer.lifetime.intervals().map(move |stretch| {
        let window = stretch.bytes(Bytes(size(buffer)));
        Claim { start: stretch.start, end: stretch.end, low: offset + window.low.0, high: offset + window.high.0 }
    })
}

impl Claim {
    /// The first step at which two claims have bytes in common.
    fn first_common_step(&self, other: &Claim) -> Option<Step> {
        let in_time = self.start < other.end && other.start < self.end;
        let in_bytes = self.low < other.high && other.low < self.high;
        (in_time && in_bytes).then(|| self.start.max(other.start))
    }
}
