//! Choosing an offset among obstacles.
//!
//! An obstacle is an open interval of offsets that a piece cannot have. A piece
//! that occupies its bytes `low..high` runs into an occupied range `from..to`
//! exactly for the offsets between `from - high` and `to - low`, both excluded:
//!
//! ```text
//!   occupied            16      48
//!                       |███████|             piece of 8 bytes: low 0, high 8
//!   offset 8      |▒▒▒▒▒|                     touches, allowed
//!   offset 48                   |▒▒▒▒▒|       touches, allowed
//!   obstacle      8 ├───────────┤ 48
//! ```
//!
//! Sorted by their lower ends, obstacles are walked once: the lowest offset not
//! yet excluded moves up over each obstacle that contains it.
//!
//! First fit needs no sorting. The obstacles are walked in the order in which they are listed, again and again, until
//! the offset stays where it is. An obstacle that begins below the offset cannot stop it any more and is left out of
//! the next walk:
//!
//! ```text
//!   obstacles    walk 1             walk 2            walk 3
//!   30 .. 50     above 0: kept      above 20: kept    above 24: kept    the offset is 24
//!    8 .. 24     above 0: kept      climb to 24
//!   -4 .. 10     climb to 10
//!    5 .. 20     climb to 20
//! ```
//!
//! A hundred obstacles take about ten walks, and no branch in a walk can be guessed wrong by the processor; sorting
//! them takes half as long again. Few obstacles are sorted at once, and so is the rest where many more walks would be
//! needed.

use memplan_core::Bytes;

use crate::tuning::{FEW_OBSTACLES, WALKS_BEFORE_SORTING};

/// Which of the possible offsets to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fit {
    /// The lowest.
    First,
    /// The lowest of the tightest gap, counting what is left of a gap after
    /// aligning; of equally tight gaps the lowest. Above everything only if no gap is wide enough.
    Best,
}

/// Offsets strictly between the two are impossible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Obstacle {
    from: i64,
    to: i64,
}

impl Obstacle {
    /// What an occupied range does to a piece that occupies its own bytes `low..high`.
    ///
    /// All numbers are at most 2^63 - 1, so the differences fit.
    pub(crate) fn new((from, to): (u64, u64), (low, high): (u64, u64)) -> Obstacle {
        Obstacle { from: from as i64 - high as i64, to: to as i64 - low as i64 }
    }

    /// Whether the offset is one that the obstacle makes impossible.
    pub(crate) fn excludes(self, offset: u64) -> bool {
        let offset = offset as i64;
        self.from < offset && offset < self.to
    }
}

impl Fit {
    /// The offset to take: a multiple of `alignment`, at most `highest`, past or
    /// between the obstacles. Leaves the obstacles in another order.
    pub(crate) fn choose(self, obstacles: &mut [Obstacle], alignment: u64, highest: u64) -> Option<u64> {
        match self {
            Fit::First => {
                // Without walks the obstacles are sorted at once.
                let walks = if obstacles.len() > FEW_OBSTACLES { WALKS_BEFORE_SORTING } else { 0 };
                lowest(obstacles, alignment, highest, walks)
            }
            Fit::Best => {
                obstacles.sort_unstable_by_key(|obstacle| obstacle.from);
                tightest(obstacles, alignment, highest)
            }
        }
    }
}

/// The lowest offset that no obstacle excludes; the obstacles are in any order. If the answer is not found in `walks`
/// walks over them, those that are left are sorted. `None` if the offset would be above `highest`.
fn lowest(mut obstacles: &mut [Obstacle], alignment: u64, highest: u64, walks: usize) -> Option<u64> {
    let mut offset = 0;
    for _ in 0..walks {
        let (end, kept) = walk(obstacles, offset);
        // Nothing excludes the offset.
        if end == offset {
            return (offset <= highest).then_some(offset);
        }
        offset = aligned(end, alignment)?;
        obstacles = &mut obstacles[..kept];
    }
    obstacles.sort_unstable_by_key(|obstacle| obstacle.from);
    for obstacle in obstacles {
        // This obstacle and all that follow begin at or above the offset: they do not exclude it.
        if obstacle.from >= offset as i64 {
            break;
        }
        offset = past(obstacle, offset, alignment)?;
    }
    (offset <= highest).then_some(offset)
}

/// Climbs from an offset over every obstacle that begins below it, in the order of the list. Returns the offset
/// reached, and the number of obstacles that began at or above the offset when the walk came to them; these are now at
/// the front of the list.
///
/// Each climb goes from the offset to the end of an obstacle that begins below the offset. So all offsets between the
/// old one and the new one are excluded, no possible offset is skipped, and that obstacle is not needed any more.
fn walk(obstacles: &mut [Obstacle], offset: u64) -> (u64, usize) {
    let mut end = offset as i64;
    let mut kept = 0;
    for index in 0..obstacles.len() {
        let obstacle = obstacles[index];
        let is_above = obstacle.from >= end;
        // The processor cannot predict which obstacles are above, so a branch would often be mispredicted. So each
        // obstacle is stored, and counted only if it is above; one that is not counted is overwritten by the next.
        obstacles[kept] = obstacle;
        kept += usize::from(is_above);
        end = if is_above { end } else { end.max(obstacle.to) };
    }
    (end as u64, kept)
}

/// The lowest offset of the smallest gap that the piece fits into, or, if there is no such gap, the first offset above
/// all obstacles. `None` if that is above `highest`. The obstacles are sorted by their lower ends; `offset` is the
/// first possible one above those seen so far.
fn tightest(obstacles: &[Obstacle], alignment: u64, highest: u64) -> Option<u64> {
    let mut offset = 0;
    // How many offsets the tightest gap so far has, and its lowest offset.
    let mut best: Option<(u64, u64)> = None;
    for obstacle in obstacles {
        // The offsets from `offset` up to and including `from` are possible. An obstacle that begins below 0 leaves
        // none.
        if let Some(left) = (obstacle.from.max(-1) + 1).checked_sub_unsigned(offset).filter(|&left| left > 0) {
            let left = left as u64;
            if offset <= highest && best.is_none_or(|(least, _)| left < least) {
                best = Some((left, offset));
            }
        }
        match past(obstacle, offset, alignment) {
            Some(next) => offset = next,
            // No aligned offset is left above this obstacle.
            None => return best.map(|(_, offset)| offset),
        }
    }
    match best {
        Some((_, offset)) => Some(offset),
        None => (offset <= highest).then_some(offset),
    }
}

/// The lowest aligned offset from `offset` on that is past the obstacle's upper end.
fn past(obstacle: &Obstacle, offset: u64, alignment: u64) -> Option<u64> {
    if obstacle.to <= offset as i64 {
        return Some(offset);
    }
    aligned(obstacle.to as u64, alignment)
}

/// The lowest multiple of the alignment from an offset on.
fn aligned(offset: u64, alignment: u64) -> Option<u64> {
    if alignment == 1 { Some(offset) } else { Bytes(offset).align_up(Bytes(alignment)).map(|bytes| bytes.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Obstacles for a piece of 8 bytes.
    fn obstacles(occupied: &[(u64, u64)]) -> Vec<Obstacle> {
        occupied.iter().map(|&range| Obstacle::new(range, (0, 8))).collect()
    }

    #[test]
    fn first_takes_the_lowest_gap_and_best_the_tightest() {
        let occupied = [(0, 4), (24, 32), (40, 48), (70, 80)];
        assert_eq!(Fit::First.choose(&mut obstacles(&occupied), 1, 1000), Some(4));
        assert_eq!(Fit::Best.choose(&mut obstacles(&occupied), 1, 1000), Some(32));
        assert_eq!(Fit::First.choose(&mut obstacles(&occupied), 64, 1000), Some(128));
        assert_eq!(Fit::First.choose(&mut obstacles(&occupied), 16, 1000), Some(16));
    }

    #[test]
    fn touching_is_allowed_and_the_limit_is_kept() {
        assert_eq!(Fit::First.choose(&mut obstacles(&[(8, 16)]), 1, 0), Some(0));
        assert_eq!(Fit::First.choose(&mut obstacles(&[(7, 16)]), 1, 15), None);
        assert_eq!(Fit::Best.choose(&mut obstacles(&[(7, 16)]), 1, 15), None);
        assert_eq!(Fit::Best.choose(&mut obstacles(&[(7, 16)]), 1 << 63, u64::MAX), None);
    }

    proptest! {
        #[test]
        fn no_lower_offset_is_possible(
            occupied in prop::collection::vec((0u64..60, 1u64..20), 0..12),
            low in 0u64..6,
            length in 1u64..10,
            alignment in prop::sample::select(vec![1u64, 2, 3, 8, 16]),
        ) {
            let make = || occupied.iter().map(|&(at, n)| Obstacle::new((at, at + n), (low, low + length))).collect::<Vec<_>>();
            let possible = |offset: &u64| {
                let hits = |&(at, n): &(u64, u64)| offset + low < at + n && at < offset + low + length;
                offset.is_multiple_of(alignment) && !occupied.iter().any(hits)
            };
            let expected = (0..200).find(possible);
            prop_assert_eq!(Fit::First.choose(&mut make(), alignment, 1000), expected);
            let best = Fit::Best.choose(&mut make(), alignment, 1000).unwrap();
            prop_assert!(possible(&best));
            // Unaligned offsets are possible too; the room above an aligned one ends
            // at the first that is not.
            let free = |offset: u64| !occupied.iter().any(|&(at, n)| offset + low < at + n && at < offset + low + length);
            let room = |offset: u64| (offset..200).find(|&next| !free(next)).map_or(u64::MAX, |next| next - offset);
            let is_gap_start = |offset: &u64| possible(offset) && (*offset < alignment || !(offset - alignment + 1..*offset).all(free) || !free(offset - alignment));
            let tightest = (0..200).filter(is_gap_start).min_by_key(|&offset| (room(offset), offset));
            prop_assert_eq!(Some(best), tightest);
        }

        #[test]
        fn walks_find_what_a_sort_finds(
            occupied in prop::collection::vec((0u64..1000, 0u32..30, 1u64..1000), 0..200),
            length in 1u64..2000,
            alignment in prop::sample::select(vec![1u64, 8, 192]),
            highest in prop::sample::select(vec![5000u64, 1 << 45]),
        ) {
            let range = |&(at, magnitude, bytes): &(u64, u32, u64)| (at << magnitude, (at << magnitude) + (bytes << magnitude));
            let obstacles: Vec<Obstacle> = occupied.iter().map(|other| Obstacle::new(range(other), (0, length))).collect();
            let after = |walks: usize| lowest(&mut obstacles.clone(), alignment, highest, walks);
            let sorted = after(0);
            prop_assert_eq!([1, 2, 5, usize::MAX].map(after), [sorted; 4]);
        }
    }
}
