//! Orders in which pieces are put down.
//!
//! A greedy placement is only as good as its order. Pieces that are hard to place should come first. The orders differ
//! in what counts as hard:
//!
//! | order | first come | why |
//! |---|---|---|
//! | size | the largest | small ones find gaps later |
//! | lifetime | the longest alive | they are in the way of most others |
//! | area | the largest size × lifetime | both |
//! | start | the earliest | as an allocator at run time would |
//! | conflicts | those alive together with the most others | they have the least choice |
//! | load | those alive when the most bytes are | what is alive at the peak must be stacked without a gap |
//! | near peak | the largest size × life^¼ / room² | where hundreds are alive, room is what is free beside the others at the most crowded step |
//!
//! In every order pieces with a fixed offset come before all others, and
//! exclusive ones, which all others have to avoid, before the rest.
//!
//! Ties are broken by what the pieces are, not by where they stand in the input:
//! larger, then earlier, then longer alive, then more strictly aligned. ("Earlier"
//! pays: on a training step with thousands of equally large buffers, first fit
//! by size ends 0.8 % above the bound with it, 3.3 % with "longer" first and
//! 16 % with "shorter".) Only pieces equal in all of this stay in input order. So
//! for problems without
//! relations, where such pieces are interchangeable, neither the order nor the
//! names of the buffers in the input change which sizes and lives get which
//! offsets.
//!
//! Words from other files: [`Pieces`] are what is placed as a whole; the `rects` of a piece say when it is alive, in
//! positions of `steps`; [`loads_met`] has, for each piece, the most bytes that are alive at once during its life.

use std::cmp::Reverse;

use memplan_core::{Id, IndexVec, SpaceId};

use crate::load::loads_met;
use crate::piece::{PieceId, Pieces};
use crate::tuning::ROOM_AT_PEAK;

/// What comes first. See the module documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// The largest.
    Size,
    /// The longest alive.
    Lifetime,
    /// The largest product of size and lifetime.
    Area,
    /// The earliest alive.
    Start,
    /// The one with the most conflicts.
    Conflicts,
    /// The one that is alive when the most bytes are.
    Load,
    /// The one that is hardest to place: large, long alive, and alive when nearly the most bytes are.
    NearPeak,
}

impl Order {
    /// All orders.
    pub const ALL: [Order; 7] =
        [Order::Size, Order::Lifetime, Order::Area, Order::Start, Order::Conflicts, Order::Load, Order::NearPeak];

    /// The pieces in this order.
    pub fn of(self, pieces: &Pieces) -> Vec<PieceId> {
        let counted = match self {
            Order::Conflicts => count_conflicts(pieces),
            Order::Load | Order::NearPeak => loads_met(pieces),
            _ => IndexVec::filled(0, pieces.len()),
        };
        // For the orders by load: the most bytes alive at once. The other orders do not use it.
        let peak = counted.iter().copied().max().unwrap_or(0);
        let keys = Keys { order: self, pieces, counted, peak };
        // Whole keys take 64 bytes, which is most of what planning a million pieces needs at this moment. So pieces are
        // sorted by the beginning of their keys, and the few that agree in it by whole keys.
        let mut keyed: Vec<((u64, u64), PieceId)> = pieces.ids().map(|piece| (keys.beginning(piece), piece)).collect();
        keyed.sort_unstable_by(|one, other| {
            one.0.cmp(&other.0).then_with(|| keys.whole(one.1).cmp(&keys.whole(other.1)))
        });
        keyed.into_iter().map(|(_, piece)| piece).collect()
    }

    /// How hard a piece is to place in this order's view. `room` holds what was counted for the piece: its conflicts,
    /// or the load that it meets.
    fn hardness(self, size: u64, (start, length): (u64, u64), room: Room) -> u128 {
        match self {
            Order::Size => u128::from(size),
            Order::Lifetime => u128::from(length),
            Order::Area => u128::from(size) * u128::from(length),
            // The earliest comes first.
            Order::Start => u128::from(u64::MAX - start),
            Order::Conflicts | Order::Load => u128::from(room.load),
            // Times 4, so that a little of the fraction counts. The result is below 2^94: a size below 2^64, the
            // fourth root of a life below 2^64, 50² for the least room, and 4.
            Order::NearPeak => (4.0 * hardness(size, length, room)) as u128,
        }
    }
}

/// What pieces are sorted by.
struct Keys<'a> {
    order: Order,
    pieces: &'a Pieces<'a>,
    /// By piece: its conflicts, or the load that it meets.
    counted: IndexVec<PieceId, u64>,
    /// The largest number in `counted`.
    peak: u64,
}

/// What a piece is sorted by: its group (0 fixed, 1 exclusive, 2 all others), hardness, size, start, length of life,
/// alignment, and the piece itself. `Reverse` marks the entries of which the largest comes first.
type Key = (u8, Reverse<u128>, Reverse<u64>, u64, Reverse<u64>, Reverse<Option<u64>>, PieceId);

impl Keys<'_> {
    /// The whole key of a piece.
    fn whole(&self, piece: PieceId) -> Key {
        let info = self.pieces.get(piece);
        let (start, length) = life(self.pieces, piece);
        let room = Room { load: self.counted[piece], peak: self.peak };
        let hardness = self.order.hardness(info.size, (start, length), room);
        // Fixed pieces come first, because they have no choice, and exclusive ones next. The last entries of the
        // key make the order total, so that two runs agree.
        let first = if info.fixed.is_some() { 0 } else { 2 - u8::from(info.exclusive) };
        let alignment = self.pieces.homes(piece).first().map(|home| home.alignment);
        (first, Reverse(hardness), Reverse(info.size), start, Reverse(length), Reverse(alignment), piece)
    }

    /// The beginning of the key: as much as fits into two numbers, which order pieces as the keys do.
    fn beginning(&self, piece: PieceId) -> (u64, u64) {
        let (first, Reverse(hardness), Reverse(size), start, ..) = self.whole(piece);
        // In the key the size follows the hardness. In the order by size the hardness is the size, so the next entry of
        // the key that may differ is the start. Starts are ascending in the key and sizes descending, so a size is
        // turned round.
        let next = if self.order == Order::Size { start } else { u64::MAX - size };
        beginning(first, hardness, next)
    }
}

/// The beginning of a key in 16 bytes, to be sorted ascending: by group (`first`), then the hardest first, then by
/// `next`. Keys whose beginnings differ are in the order of their beginnings; if beginnings are equal, whole keys
/// decide.
///
/// The first number has the group in its upper two bits. Below them is the hardness, shortened like a floating-point
/// number: how many binary digits it has, and the leading 55 of them. That is subtracted from the largest value, so
/// that hard pieces come first. If the hardness has more than 55 digits, the second number has its last 64 digits, and
/// there is no room for `next`.
fn beginning(first: u8, hardness: u128, next: u64) -> (u64, u64) {
    const DIGITS: u32 = 55;
    debug_assert!(hardness >> 127 == 0 && first < 4, "hardness is a product of two numbers below 2^63 and 2^64");
    let digits = u128::BITS - hardness.leading_zeros();
    let leading = if digits > DIGITS { hardness >> (digits - DIGITS) } else { hardness << (DIGITS - digits) };
    let rough = (u64::from(digits) << DIGITS) | leading as u64;
    let fine = match digits {
        0..=DIGITS => next,
        56..=119 => u64::MAX - hardness as u64,
        // Even 64 more digits are not all of it. Whole keys decide.
        _ => 0,
    };
    ((u64::from(first) << 62) | ((1 << 62) - 1 - rough), fine)
}

/// How crowded it is while a piece is alive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// The most bytes alive at once during its life.
    pub(crate) load: u64,
    /// The most bytes alive at once at any time.
    pub(crate) peak: u64,
}

/// How hard a piece is to place: its size times the fourth root of its life, over the square of the room beside it.
///
/// Room is the free share of the peak at the most crowded step of its life. 1/[`ROOM_AT_PEAK`] is added, so that room is
/// never nothing. A piece that never meets a load of more than nine tenths of the peak finds a place nearly anywhere;
/// at the peak every byte matters:
///
/// ```text
///   load met / peak     0.5    0.9    0.95    0.99    1
///   hardness per byte   4      69     204     1111    2500      times the fourth root of the life
/// ```
///
/// Square roots and quotients are the same on every machine; a general power is not.
pub(crate) fn hardness(size: u64, life: u64, room: Room) -> f64 {
    let free = 1.0 - room.load as f64 / room.peak.max(1) as f64 + 1.0 / ROOM_AT_PEAK;
    size as f64 * (life as f64).sqrt().sqrt() / (free * free)
}

/// When a piece is alive: the first step of its first rectangle, and the number of steps from there to the end of its
/// last rectangle. (0, 0) if it has no rectangle: it is never alive, or it is exclusive.
fn life(pieces: &Pieces, piece: PieceId) -> (u64, u64) {
    let rects = pieces.rects(piece);
    let start = rects.iter().map(|rect| rect.start).min();
    let end = rects.iter().map(|rect| rect.end).max();
    match (start, end) {
        (Some(start), Some(end)) => {
            // Rectangles count in positions of `steps()`, the list of the problem's steps at which something happens.
            // Here real steps are wanted, because "longer alive" is about them.
            let step = |time: u32| pieces.steps()[time as usize].0;
            (step(start), step(end) - step(start))
        }
        _ => (0, 0),
    }
}

/// For every piece: for each of its rectangles, the number of other rectangles in its favourite space that are alive at
/// the same time, added up. (Other rectangles of the same piece count, too.)
///
/// The rectangles that a rectangle meets are those that start before it ends, less those that have ended when it
/// starts, less itself. So it is enough to count in sorted lists of starts and ends; no pair is ever looked at.
fn count_conflicts(pieces: &Pieces) -> IndexVec<PieceId, u64> {
    let mut edges: IndexVec<SpaceId, (Vec<u32>, Vec<u32>)> =
        IndexVec::filled((Vec::new(), Vec::new()), pieces.problem().spaces().len());
    let home = |piece: PieceId| pieces.homes(piece).first().map_or(SpaceId::from_index(0), |home| home.space);
    for piece in pieces.ids() {
        let (starts, ends) = &mut edges[home(piece)];
        starts.extend(pieces.rects(piece).iter().map(|rect| rect.start));
        ends.extend(pieces.rects(piece).iter().map(|rect| rect.end));
    }
    for (starts, ends) in edges.iter_mut() {
        starts.sort_unstable();
        ends.sort_unstable();
    }
    let count = |piece: PieceId| {
        let (starts, ends) = &edges[home(piece)];
        let meeting = pieces.rects(piece).iter().map(|rect| {
            let started = starts.partition_point(|&start| start < rect.end);
            let ended = ends.partition_point(|&end| end <= rect.start);
            (started - ended - 1) as u64
        });
        meeting.sum()
    };
    pieces.ids().map(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use memplan_core::{Buffer, Bytes, Lifetime, Problem, ProblemBuilder};

    fn problem() -> Problem {
        let mut builder = ProblemBuilder::new();
        builder.buffer(Buffer::new("long", 10, Lifetime::new(0, 8)));
        builder.buffer(Buffer::new("large", 40, Lifetime::new(6, 7)));
        builder.buffer(Buffer::new("wide", 30, Lifetime::new(4, 8)));
        builder.buffer(Buffer { exclusive: true, ..Buffer::new("mine", 1, Lifetime::new(9, 10)) });
        builder.buffer(Buffer::new("fixed", 1, Lifetime::new(9, 10)).with_fixed(Bytes(0)));
        builder.buffer(Buffer::new("early", 10, Lifetime::new(0, 2)));
        builder.build().unwrap()
    }

    #[test]
    fn each_order_says_what_is_hard() {
        let problem = problem();
        let pieces = Pieces::of(&problem).unwrap();
        let names = |order: Order| {
            let name = |piece| problem.buffers()[pieces.get(piece).first_buffer].name.as_str();
            order.of(&pieces).into_iter().map(name).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names(Order::Size), "fixed mine large wide long early");
        assert_eq!(names(Order::Lifetime), "fixed mine long wide early large");
        assert_eq!(names(Order::Area), "fixed mine wide long large early");
        assert_eq!(names(Order::Start), "fixed mine long early wide large");
        assert_eq!(names(Order::Conflicts), "fixed mine long large wide early");
        assert_eq!(names(Order::Load), "fixed mine large wide long early");
    }

    #[test]
    fn beginnings_are_in_the_order_of_keys() {
        let around = |power: u32| [(1u128 << power) - 1, 1 << power, (1 << power) + 1, (1 << power) / 2 * 3];
        let numbers = || (0..126).flat_map(around).chain([(1 << 127) - 1]);
        let keys = || numbers().flat_map(|hardness| [(1, hardness, 3), (1, hardness, 4), (2, hardness, 3)]);
        for (first, hardness, next) in keys() {
            for (other, others, nexts) in keys() {
                let whole = (first, Reverse(hardness), next).cmp(&(other, Reverse(others), nexts));
                let rough = beginning(first, hardness, next).cmp(&beginning(other, others, nexts));
                assert!(rough.is_eq() || rough == whole, "{first} {hardness} {next}, {other} {others} {nexts}");
            }
        }
        assert_ne!(beginning(2, 1 << 40, 3), beginning(2, 1 << 40, 4), "most keys need no second look");
    }

    #[test]
    fn conflicts_are_counted_without_looking_at_pairs() {
        let problem = problem();
        let pieces = Pieces::of(&problem).unwrap();
        assert_eq!(count_conflicts(&pieces).as_slice(), [3, 2, 2, 0, 0, 1]);
    }
}
