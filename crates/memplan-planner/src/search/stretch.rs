//! The hardest stretch of time packed exactly, and everything else around it by ejections.
//!
//! Some problems are hard as a whole and easy in parts. The canonical search packs the last half of MiniMalloc's J (a
//! benchmark instance) into its peak load in a tenth of a second, and the first half as well; for both together it
//! finds nothing in minutes, because what lives across the middle has to suit both sides. This stage cuts time where
//! the load is low:
//!
//! ```text
//!   load        ▁▅▇▅▆▇▅▂▆█▇█▇▆▅▂            1. the canonical search packs all rectangles that end after `cut`,
//!                   ╎    ╎   ▲                  with their lives before `cut` clipped off, below the goal;
//!               cut ╯    ╎   ╰ peak          2. those that start at the `valley` or later are kept there;
//!                 valley ╯                   3. all others find places around it by ejections.
//! ```
//!
//! The ejections ([`ejection`]) put a rectangle into the place of others, which then look for other places. They are
//! good at filling stretches of time that have a few percent of slack, but rarely find a packing where no byte may be
//! wasted. The canonical search is the opposite: it packs the hard stretch, and the ejections fill the rest.
//!
//! Two attempts run side by side, a bold one for the goal itself and a careful one for the extent half way between the
//! goal and the best plan. Both are always made, so the plan does not depend on the number of threads. If the peak is
//! in the first half of time, time is turned round, so that the hard stretch is always the later part.
//!
//! Words from other files: an [`Instance`] has the items of one space, counted in sections and granules; [`descend`]
//! runs the canonical search on an instance and improves a [`Standing`], which is what is known about its extent; a
//! [`Field`] has the rectangles for the ejections.

mod ejection;

use memplan_core::Bytes;

use self::ejection::{Field, Filled};
use super::budget::Budget;
use super::descent::{Standing, descend};
use super::instance::{Instance, Slab, Stretch};
use super::random::Random;
use crate::tuning::{NEIGHBOURS_PER_UNIT, STRETCH_CUTS, STRETCH_PROOF, TURNS_PER_RECTANGLE};

/// An item: alive in the sections `lo..hi` (stretches of time), `height` granules high.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rectangle {
    pub(super) lo: u32,
    pub(super) hi: u32,
    pub(super) height: u32,
}

/// Offsets (in granules) of all items of an instance with a smaller extent than `upper`. Once the extent is at most
/// `goal`, no smaller one is looked for. `None` if no such offsets are found within the budget, if the items are not
/// plain rectangles, if there are none or too many, or if an extent has more than 2^32 granules.
pub(super) fn pack(instance: &Instance, goal: Bytes, upper: Bytes, seed: u64, budget: &mut Budget) -> Option<Vec<u64>> {
    let rectangles = rectangles(instance)?;
    let granule = instance.granule;
    // The size of every item is a multiple of the granule, so every extent is a whole number of granules.
    let (goal, upper) = (u32::try_from(goal.0.div_ceil(granule)).ok()?, u32::try_from(upper.0 / granule).ok()?);
    let mut packing = Packing::new(rectangles, goal, upper)?;
    let mut random = Random::new(seed);
    while packing.best > packing.goal && budget.stop().is_none() {
        packing.round(&mut random, budget);
    }
    packing.offsets.map(|offsets| offsets.into_iter().map(u64::from).collect())
}

/// The items as rectangles. If the peak is in the first half of time, time is turned round, so that it is in the second
/// half. `None` if there is no section, or if an item has several heights, an alignment, a fixed offset, or a size that
/// is no multiple of the granule.
fn rectangles(instance: &Instance) -> Option<Vec<Rectangle>> {
    let loads = instance.loads();
    let peak = (0..loads.len()).max_by_key(|&section| loads[section])?;
    let sections = loads.len() as u32;
    let rectangle = |(number, item): (usize, &super::instance::Item)| {
        let [span] = instance.spans(number) else { return None };
        let is_plain = item.alignment == 1 && item.fixed.is_none() && item.height * instance.granule == item.size;
        let (lo, hi) =
            if 2 * peak < loads.len() { (sections - span.hi, sections - span.lo) } else { (span.lo, span.hi) };
        let height = u32::try_from(item.height).ok()?;
        is_plain.then_some(Rectangle { lo, hi, height })
    };
    instance.items.iter().enumerate().map(rectangle).collect()
}

/// A rectangle as a slab, without the part of its life before the section `cut`. The slab's bytes are our granules, its
/// steps are our sections.
fn clipped(Rectangle { lo, hi, height }: Rectangle, cut: u32) -> Slab {
    let stretch = Stretch { start: u64::from(lo.max(cut)), end: u64::from(hi), height: u64::from(height) };
    Slab { stretches: vec![stretch], size: u64::from(height), alignment: 1, fixed: None }
}

/// What an attempt of [`Packing::round`] starts from.
struct Start {
    /// Every rectangle has to end here or below.
    goal: u32,
    /// An offset for each rectangle that is kept, and `None` for each other one.
    kept: Vec<Option<u32>>,
    seed: u64,
}

/// What the attempts share. All extents and offsets are in granules.
struct Packing {
    field: Field,
    /// Of a packed stretch, the rectangles that start in this section or later are kept. It has the lowest load in the
    /// middle half of the time before the peak.
    valley: u32,
    /// No extent below this is possible, or of interest.
    goal: u32,
    /// The smallest extent so far, and offsets that have it, if they were found here.
    best: u32,
    offsets: Option<Vec<u32>>,
}

impl Packing {
    /// Finds the peak and the valley before it. `best` is an extent that is known already. `None` if there are no
    /// rectangles, or more than [`Field`] takes.
    fn new(rectangles: Vec<Rectangle>, goal: u32, best: u32) -> Option<Packing> {
        let sections = rectangles.iter().map(|rectangle| rectangle.hi).max()?;
        let mut loads = vec![0u64; sections as usize];
        for rectangle in &rectangles {
            for load in &mut loads[rectangle.lo as usize..rectangle.hi as usize] {
                *load += u64::from(rectangle.height);
            }
        }
        let peak = (0..loads.len()).max_by_key(|&section| loads[section])?;
        // A program begins and ends with little load; only a valley inside of it separates two parts.
        let inside = peak / 4..peak * 3 / 4 + 1;
        let valley = inside.min_by_key(|&section| loads[section])? as u32;
        Some(Packing { field: Field::new(rectangles)?, valley, goal, best, offsets: None })
    }

    /// Tries to pack all rectangles within two goals: the goal itself, and the extent halfway between the goal and the
    /// best extent so far. Keeps the plan of the smaller goal that was met.
    fn round(&mut self, random: &mut Random, budget: &mut Budget) {
        let between = self.goal + (self.best - self.goal) / 2;
        let goals = [self.goal, between];
        // The fields are filled in this order: `stretch` draws random numbers, too.
        let starts = goals.map(|goal| Start { goal, kept: self.stretch(goal, random, budget), seed: random.next() });
        // Each of the two attempts may use half of the work that is left.
        let affordable = self.field.turns_for(budget.work_left().saturating_mul(NEIGHBOURS_PER_UNIT) / 2);
        let turns = affordable.min(self.field.len() as u64 * TURNS_PER_RECTANGLE);
        let filled = if budget.threads > 1 {
            std::thread::scope(|scope| {
                let second = scope.spawn(|| self.fill(&starts[1], turns, budget));
                let first = self.fill(&starts[0], turns, budget);
                [first, second.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))]
            })
        } else {
            [self.fill(&starts[0], turns, budget), self.fill(&starts[1], turns, budget)]
        };
        for (goal, Filled { offsets, looks }) in goals.into_iter().zip(filled) {
            // An attempt costs at least a unit, so that any number of them uses up the budget some day.
            budget.spend(1 + looks / NEIGHBOURS_PER_UNIT);
            if offsets.is_some() && goal < self.best {
                (self.best, self.offsets) = (goal, offsets);
            }
        }
    }

    /// One attempt of at most `turns` turns, which ends early if the time is over.
    fn fill(&self, start: &Start, turns: u64, budget: &Budget) -> Filled {
        self.field.fill(start.goal, &start.kept, start.seed, turns, &|| budget.is_late())
    }

    /// Packs the stretch of time after a random cut, which lies at or before the valley, below the goal. As long as no
    /// stretch was packed, another cut is tried, up to [`STRETCH_CUTS`] cuts. Returns an offset for each rectangle that
    /// is to be kept, and `None` for each other one. If no stretch could be packed, no rectangle is kept.
    fn stretch(&self, goal: u32, random: &mut Random, budget: &mut Budget) -> Vec<Option<u32>> {
        let mut packed = None;
        // After a success `or_else` packs nothing more.
        for _ in 0..STRETCH_CUTS {
            let cut = random.below(u64::from(self.valley) + 1) as u32;
            packed = packed.or_else(|| self.packed_from(cut, goal, random.next(), budget));
        }
        packed.unwrap_or_else(|| vec![None; self.field.len()])
    }

    /// The canonical search packs all rectangles that end after the section `cut` within the extent `goal`. The part of
    /// a life before `cut` is clipped off. Returns an offset for each rectangle that starts at the valley or later, and
    /// `None` for each other one. `None` as a whole if the canonical search finds no packing within [`STRETCH_PROOF`]
    /// units of work, or cannot take the rectangles.
    fn packed_from(&self, cut: u32, goal: u32, seed: u64, budget: &mut Budget) -> Option<Vec<Option<u32>>> {
        let rectangles = &self.field.rectangles;
        // The search runs on an instance of its own. Its bytes are our granules, its steps are our sections.
        let inside: Vec<usize> = (0..rectangles.len()).filter(|&number| rectangles[number].hi > cut).collect();
        let slabs: Vec<Slab> = inside.iter().map(|&number| clipped(rectangles[number], cut)).collect();
        let instance = Instance::new(&slabs, &[])?;
        let capacity = Some(Bytes(u64::from(goal)));
        let mut standing = Standing { lower: instance.lower_bound(), upper: None, offsets: None, capacity };
        let mut own = budget.at_most(STRETCH_PROOF);
        descend(&instance, &mut standing, seed, &mut own);
        budget.spend(own.spent());
        // The new instance has found a granule of its own, in which its offsets are counted: a multiple of ours.
        let mut kept = vec![None; self.field.len()];
        for (number, offset) in inside.into_iter().zip(standing.offsets?) {
            // A rectangle that starts before the valley is not kept: it may also meet rectangles from before the cut,
            // about which this packing knows nothing.
            if rectangles[number].lo >= self.valley {
                kept[number] = Some((offset * instance.granule) as u32);
            }
        }
        Some(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Request;
    use crate::search::budget::Clock;

    /// A board of 60 steps and 190 bytes, cut into 90 parts; time may run backwards.
    fn board(seed: u64, is_mirrored: bool) -> Instance {
        let mut random = Random::new(seed);
        let mut parts = vec![(0u64, 60u64, 190u64)];
        while parts.len() < 90 {
            let place = random.below(parts.len() as u64) as usize;
            let (start, end, height) = parts[place];
            if random.below(2) == 0 && end - start > 3 {
                let middle = start + 1 + random.below(end - start - 1);
                parts[place].1 = middle;
                parts.push((middle, end, height));
            } else if height > 1 {
                let lower = 1 + random.below(height - 1);
                parts[place].2 = lower;
                parts.push((start, end, height - lower));
            }
        }
        let turned = |&(start, end, height): &(u64, u64, u64)| {
            let (start, end) = if is_mirrored { (60 - end, 60 - start) } else { (start, end) };
            let stretch = Stretch { start, end, height };
            Slab { stretches: vec![stretch], size: height, alignment: 1, fixed: None }
        };
        Instance::new(&parts.iter().map(turned).collect::<Vec<_>>(), &[]).unwrap()
    }

    #[test]
    fn a_board_is_packed_into_a_little_more_than_it_fills() {
        for (seed, is_mirrored) in [(1, false), (2, true), (3, false), (4, true)] {
            let instance = board(seed, is_mirrored);
            let request = Request::default();
            let mut budget = Budget::new(&request, 8_000_000, Clock::start(&request));
            let offsets = pack(&instance, Bytes(200), Bytes(300), seed, &mut budget);
            let offsets = offsets.unwrap_or_else(|| panic!("seed {seed}: nothing was found"));
            assert!(instance.extent(&offsets) <= Bytes(200), "seed {seed}: {:?}", instance.extent(&offsets));
            let reaches = |number: usize| {
                let (item, granule) = (&instance.items[number], instance.granule);
                (item.lo..item.hi, offsets[number] * granule..offsets[number] * granule + item.size)
            };
            for one in 0..instance.items.len() {
                for other in 0..one {
                    let ((time, bytes), (other_time, other_bytes)) = (reaches(one), reaches(other));
                    let meet = time.start < other_time.end && other_time.start < time.end;
                    let share = bytes.start < other_bytes.end && other_bytes.start < bytes.end;
                    assert!(!(meet && share), "seed {seed}: {one} and {other} share bytes");
                }
            }
        }
    }

    /// The stage is for rectangles; what has several heights is left to others.
    #[test]
    fn what_changes_its_height_is_left_alone() {
        let stretches = vec![Stretch { start: 0, end: 1, height: 2 }, Stretch { start: 1, end: 2, height: 1 }];
        let slab = Slab { stretches, size: 2, alignment: 1, fixed: None };
        let instance = Instance::new(&[slab.clone(), slab], &[]).unwrap();
        let request = Request::default();
        let mut budget = Budget::new(&request, 1000, Clock::start(&request));
        assert_eq!(pack(&instance, Bytes(4), Bytes(8), 0, &mut budget), None);
    }
}
