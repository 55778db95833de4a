//! Large plans, improved where they are tallest: a short stretch of time is planned anew.
//!
//! The extent of a plan of a million buffers is decided by a few of them, around the moments
//! when the highest ones are alive. To get the highest one down, the [`peak`] near it is packed first, and the pieces
//! around it are placed anew. Then the next one is the highest:
//!
//! ```text
//!          :    tt      :          t    ends highest
//!    xxxxxx:xx  aa  yyyy:yyyyy     a, t and y are alive around the peak: packed anew by the exact search
//!    xxxxxx:xx  aa  yyyy:yyyyy     x goes around them
//!    zzzzzz:zzzzzzzzzzzz:zzzzz
//! ```
//!
//! Where that does not help, the stretch of time is widened, so that more pieces may move; when it is as wide as
//! the exact search can stand, it starts again small with more patience ([`Reach`]).
//!
//! This is for problems in which a piece is a rectangle and nothing relates two of them
//! ([`Pieces::is_plain`]). The work counted is that of the exact search and of the passes around peaks, so the
//! result depends on it and on nothing else. Finding an excerpt costs what is alive in it, never a look at all buffers.

mod peak;

use std::cell::Cell;
use std::collections::BTreeSet;

use memplan_core::{Bytes, Id, Plan, SpaceId, Stop};

use super::budget::{Budget, PassCost};
use super::instance::{Slab, Stretch};
use crate::conflicts::Conflicts;
use crate::piece::{PieceId, Pieces, Rect};
use crate::tuning::{MOST_PATIENT, MOST_WIDENED, OBSTACLES_PER_UNIT, SLAB_LOOKS};

/// How far to go for one piece that ends too high.
#[derive(Clone, Copy, Debug, Default)]
struct Reach {
    /// How often the excerpt was widened.
    widened: u32,
    /// How often that was not enough.
    patience: u32,
}

/// What the first core of a peak consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstCore {
    /// All that is alive around the peak.
    All,
    /// Each time that the excerpt has been widened an even number of times: only pieces of at least one part in so many
    /// of the goal. Small pieces are placed around them, and join the core if they end too high. The exact search then
    /// has more room and fewer pieces; but where small pieces find no gaps, more rounds are needed.
    Large(u64),
}

/// Improves a plan of plain pieces until it meets the bound, nothing has helped for
/// long, or the budget is used up.
pub(crate) fn repair_peaks(
    pieces: &Pieces,
    best: &mut Option<Plan>,
    lower: Bytes,
    (seed, first_core): (u64, FirstCore),
    pass_cost: PassCost,
    budget: &mut Budget,
) -> Option<Stop> {
    let plan = best.as_mut()?;
    let mut repair = Repair { first_core, ..Repair::of(pieces, plan, lower, pass_cost)? };
    let stop = repair.run(seed, budget);
    if repair.extent() < plan.extent() {
        repair.write(plan);
    }
    stop
}

struct Repair<'a, 'p> {
    pieces: &'a Pieces<'p>,
    lower: u64,
    first_core: FirstCore,
    pass_cost: PassCost,
    /// Pieces that are alive at some time, by start: positions are ranks.
    by_start: Vec<PieceId>,
    alive: Conflicts,
    /// By piece.
    offsets: Vec<u64>,
    /// Ends above the bound, with their owners.
    tops: BTreeSet<(u64, PieceId)>,
    /// Pieces that were looked at and not paid for yet.
    looked_at: Cell<u64>,
}

/// A stretch of time, the pieces alive in it that may move, and those that stay where they are.
struct Excerpt {
    start: u32,
    end: u32,
    movable: Vec<PieceId>,
    obstacles: Vec<PieceId>,
}

impl Excerpt {
    /// What may move, then what stays.
    fn all(&self) -> impl Iterator<Item = &PieceId> {
        self.movable.iter().chain(&self.obstacles)
    }
}

impl<'a, 'p> Repair<'a, 'p> {
    /// `None` if the plan has no offset for a piece.
    fn of(pieces: &'a Pieces<'p>, plan: &Plan, lower: Bytes, pass_cost: PassCost) -> Option<Repair<'a, 'p>> {
        // Keys beside their owners: sorting a million is three times as fast as looking each of them up.
        let lives = pieces.ids().filter_map(|piece| Some((pieces.rects(piece).first()?, piece)));
        let mut lives: Vec<(u32, PieceId, u32)> = lives.map(|(rect, piece)| (rect.start, piece, rect.end)).collect();
        lives.sort_unstable();
        let starts = lives.iter().map(|life| life.0).collect();
        let ends: Vec<u32> = lives.iter().map(|life| life.2).collect();
        let alive = Conflicts::full(starts, &ends);
        let by_start = lives.into_iter().map(|life| life.1).collect();
        let placements = pieces.ids().map(|piece| plan.placements[pieces.get(piece).first_buffer].as_ref());
        let offsets = placements.map(|placement| placement?.offsets.first().map(|offset| offset.0));
        let offsets: Vec<u64> = offsets.collect::<Option<_>>()?;
        let mut repair = Repair {
            pieces,
            lower: lower.0,
            first_core: FirstCore::All,
            pass_cost,
            by_start,
            alive,
            offsets,
            tops: BTreeSet::new(),
            looked_at: Cell::new(0),
        };
        repair.tops = pieces.ids().map(|piece| repair.top(piece)).filter(|top| top.0 > lower.0).collect();
        Some(repair)
    }

    fn top(&self, piece: PieceId) -> (u64, PieceId) {
        (self.offsets[piece.index()].saturating_add(self.pieces.get(piece).size), piece)
    }

    fn last_step(&self) -> u32 {
        self.pieces.steps().len() as u32 - 1
    }

    fn extent(&self) -> Bytes {
        Bytes(self.tops.last().map_or(self.lower, |top| top.0))
    }

    /// Lowers the tallest piece again and again. Where that fails, wider excerpts are tried, then the same with more
    /// patience (more work for each); after a success it starts small again.
    fn run(&mut self, seed: u64, budget: &mut Budget) -> Option<Stop> {
        let mut reach = Reach::default();
        while let Some(&(_, tallest)) = self.tops.last() {
            if let Some(stop) = budget.stop() {
                return Some(stop);
            }
            let seed = seed.wrapping_add(u64::from(reach.patience));
            let is_lower = self.settle_peak(tallest, reach, seed, budget);
            budget.spend(self.looked_at.take() / OBSTACLES_PER_UNIT);
            reach = match reach {
                _ if is_lower => Reach::default(),
                Reach { widened, patience } if widened < MOST_WIDENED => Reach { widened: widened + 1, patience },
                Reach { patience, .. } if patience < MOST_PATIENT => Reach { widened: 0, patience: patience + 1 },
                _ => return None,
            };
            budget.report(Some(self.extent()), Bytes(self.lower));
        }
        None
    }

    /// The narrowest excerpt around a piece, with the same margin on both sides, in which
    /// so many pieces live from beginning to end; if there are not as many, all time.
    fn excerpt(&self, around: PieceId, count: usize) -> Excerpt {
        let last = self.last_step();
        let life = self.pieces.rects(around).first().copied().unwrap_or(Rect { start: 0, end: last, low: 0, high: 0 });
        let mut margin = (life.end - life.start) / 4 + 1;
        loop {
            let (start, end) = (life.start.saturating_sub(margin), life.end.saturating_add(margin).min(last));
            let excerpt = self.between(start, end);
            if excerpt.movable.len() >= count || (start == 0 && end == last) {
                return excerpt;
            }
            margin = margin.saturating_add(margin / 4 + 1);
        }
    }

    /// The pieces that are alive between two times: those that lie between them as a whole can be moved, all others are
    /// in the way.
    fn between(&self, start: u32, end: u32) -> Excerpt {
        let mut excerpt = Excerpt { start, end, movable: Vec::new(), obstacles: Vec::new() };
        self.alive.for_each(start, end, |rank| {
            let piece = self.by_start[rank];
            let rect = self.pieces.rects(piece)[0];
            let is_movable = start <= rect.start && rect.end <= end && self.pieces.get(piece).fixed.is_none();
            if is_movable { excerpt.movable.push(piece) } else { excerpt.obstacles.push(piece) }
        });
        self.looked_at.set(self.looked_at.get() + excerpt.all().count() as u64);
        excerpt
    }

    /// Moves the pieces of an excerpt.
    fn adopt(&mut self, excerpt: &Excerpt, offsets: impl Iterator<Item = u64>) {
        for (&piece, offset) in excerpt.movable.iter().zip(offsets) {
            self.tops.remove(&self.top(piece));
            self.offsets[piece.index()] = offset;
            if self.top(piece).0 > self.lower {
                self.tops.insert(self.top(piece));
            }
        }
    }

    /// What may move comes first.
    fn slabs(&self, excerpt: &Excerpt) -> Vec<Slab> {
        self.looked_at.set(self.looked_at.get() + SLAB_LOOKS * excerpt.all().count() as u64);
        let slab = |piece: PieceId, fixed: Option<u64>| {
            let (info, rect) = (self.pieces.get(piece), self.pieces.rects(piece)[0]);
            let (start, end) = (rect.start.max(excerpt.start), rect.end.min(excerpt.end));
            let stretches = vec![Stretch { start: start.into(), end: end.into(), height: info.size }];
            Slab { stretches, size: info.size, alignment: self.pieces.homes(piece)[0].alignment, fixed }
        };
        let movable = excerpt.movable.iter().map(|&piece| slab(piece, None));
        let obstacles = excerpt.obstacles.iter().map(|&piece| slab(piece, Some(self.offsets[piece.index()])));
        movable.chain(obstacles).collect()
    }

    fn write(&self, plan: &mut Plan) {
        for piece in self.pieces.ids() {
            if let Some(placement) = &mut plan.placements[self.pieces.get(piece).first_buffer] {
                placement.offsets.iter_mut().for_each(|offset| *offset = Bytes(self.offsets[piece.index()]));
            }
        }
        plan.extents[SpaceId::from_index(0)] = Bytes::ZERO;
        plan.fit_extents(self.pieces.problem());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Request, find};
    use memplan_core::{Problem, bound};
    use memplan_testkit::instances;

    pub(super) fn first_fit(problem: &Problem) -> Plan {
        let outcome = crate::plan(find("first-fit").unwrap(), problem, &Request::default()).unwrap();
        outcome.plan().unwrap().clone()
    }

    pub(super) fn repair_of<'a, 'p>(pieces: &'a Pieces<'p>, plan: &Plan) -> Repair<'a, 'p> {
        let pass_cost = PassCost::counted(1, 128);
        Repair::of(pieces, plan, bound::lower_bound(pieces.problem()), pass_cost).unwrap()
    }

    pub(super) fn assert_valid(problem: &Problem, plan: &Plan) {
        let violations = memplan_verify::packing::check(problem, plan);
        assert!(violations.is_empty(), "{}", violations[0]);
    }

    /// Alignments are kept, and so is what the user has fixed.
    #[test]
    fn what_is_fixed_stays_and_what_is_aligned_stays_aligned() {
        let mut lowered = 0;
        for seed in 0..6 {
            let free = instances::aligned(2500, 40, seed);
            let lying = first_fit(&free);
            let mut builder = free.to_builder();
            for (index, buffer) in builder.buffers_mut().iter_mut().enumerate().filter(|(index, _)| index % 50 == 7) {
                buffer.set_fixed(lying.placements.as_slice()[index].as_ref().map(|placement| placement.offsets[0]));
            }
            let problem = builder.build().unwrap();
            let pieces = Pieces::of(&problem).unwrap();
            let before = first_fit(&problem);
            let mut best = Some(before.clone());
            let request = Request { work_limit: Some(60_000), ..Request::default() };
            let mut budget = Budget::of(&request);
            let first = (0, if seed % 2 == 0 { FirstCore::All } else { FirstCore::Large(1024) });
            let (lower, cost) = (bound::lower_bound(&problem), PassCost::counted(1, 128));
            repair_peaks(&pieces, &mut best, lower, first, cost, &mut budget);
            let best = best.unwrap();
            assert_valid(&problem, &best);
            assert!(best.extent() <= before.extent());
            lowered += usize::from(best.extent() < before.extent());
        }
        assert!(lowered >= 3, "{lowered} of 6 got lower");
    }
}
