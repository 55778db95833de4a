//! Large plans, improved where they are tallest: a short stretch of time is planned anew.
//!
//! The extent of a plan of a million buffers is decided by a few of them, around the moments when the highest ones
//! are alive. To get the highest one down, the local [`peak`] of the load near it is packed by the exact search, and
//! then the pieces around it are placed anew. Then another piece is the highest, and so on:
//!
//! ```text
//!          :    tt      :          t    ends highest
//!    xxxxxx:xx  aa  yyyy:yyyyy     a, t and y are alive around the peak: packed anew by the exact search
//!    xxxxxx:xx  aa  yyyy:yyyyy     x goes around them
//!    zzzzzz:zzzzzzzzzzzz:zzzzz
//! ```
//!
//! Where that does not help, the stretch of time is widened, so that more pieces may move. After some widenings it
//! starts again small, and the exact search gets more nodes ([`Reach`]).
//!
//! This is for problems in which a piece is a rectangle and nothing relates two of them ([`Pieces::is_plain`]). What
//! is counted as work are the nodes of the exact search, the placements around peaks and the pieces looked at; the
//! result depends on the budget of work and not on time. Finding an excerpt takes a look at the pieces that are alive
//! in it, never at all pieces. Times are positions in the list of steps at which something happens
//! ([`Pieces::steps`]).

mod peak;

use std::cell::Cell;
use std::collections::BTreeSet;

use memplan_core::{Bytes, Id, Plan, SpaceId, Stop};

use super::budget::{Budget, PassCost};
use super::instance::{Slab, Stretch};
use crate::conflicts::Conflicts;
use crate::piece::{PieceId, Pieces, Rect};
use crate::tuning::{MOST_PATIENT, MOST_WIDENED, OBSTACLES_PER_UNIT, SLAB_LOOKS};

/// How far to go to get the highest piece down. It grows as long as nothing helps.
#[derive(Clone, Copy, Debug, Default)]
struct Reach {
    /// How often the excerpt was widened.
    widened: u32,
    /// How often all widenings were tried in vain. Each time the nodes of the exact search are doubled.
    patience: u32,
}

/// Which pieces the exact search packs first at a peak (the *core*: see [`peak`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstCore {
    /// All that is alive around the peak.
    All,
    /// Each time that the excerpt has been widened an even number of times: only pieces of at least one part in so many
    /// of the goal. Small pieces are placed around them, and join the core if they end too high. The exact search then
    /// has more room and fewer pieces; but where small pieces find no gaps, more rounds are needed.
    Large(u64),
}

/// Improves the plan `best` of plain pieces until it meets the bound `lower`, nothing has helped for
/// long, or the budget is used up. Says why it stopped, if a limit was the reason. `pass_cost` is what placing pieces
/// costs.
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

/// A plan under repair.
struct Repair<'a, 'p> {
    pieces: &'a Pieces<'p>,
    /// The lower bound in bytes: where a plan ends here or below, nothing is left to repair.
    lower: u64,
    first_core: FirstCore,
    pass_cost: PassCost,
    /// Pieces that are alive at some time, by start. The position of a piece in this list is its *rank*.
    by_start: Vec<PieceId>,
    /// Lists the ranks of the pieces that are alive between two times.
    alive: Conflicts,
    /// The present offset of every piece.
    offsets: Vec<u64>,
    /// All pieces that end above the bound, with their ends; the last one is the highest.
    tops: BTreeSet<(u64, PieceId)>,
    /// How many pieces were looked at since the budget was charged for that the last time.
    looked_at: Cell<u64>,
}

/// The stretch of time `start..end`, the pieces alive in it that may move, and those that stay where they are.
struct Excerpt {
    start: u32,
    end: u32,
    movable: Vec<PieceId>,
    obstacles: Vec<PieceId>,
}

impl Excerpt {
    /// The pieces that may move, then those that stay.
    fn all(&self) -> impl Iterator<Item = &PieceId> {
        self.movable.iter().chain(&self.obstacles)
    }
}

impl<'a, 'p> Repair<'a, 'p> {
    /// Takes a plan in: sorts the pieces by start, reads their offsets and finds those that end above the bound.
    /// `None` if the plan has no offset for a piece.
    fn of(pieces: &'a Pieces<'p>, plan: &Plan, lower: Bytes, pass_cost: PassCost) -> Option<Repair<'a, 'p>> {
        // The list has copies of the starts. Sorting a million of these entries is three times as fast as sorting
        // pieces and looking up a start for every comparison.
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

    /// The entry of a piece in `tops`: its end, and the piece.
    fn top(&self, piece: PieceId) -> (u64, PieceId) {
        (self.offsets[piece.index()].saturating_add(self.pieces.get(piece).size), piece)
    }

    fn last_step(&self) -> u32 {
        self.pieces.steps().len() as u32 - 1
    }

    /// Where the highest piece ends; the bound if no piece ends above it.
    fn extent(&self) -> Bytes {
        Bytes(self.tops.last().map_or(self.lower, |top| top.0))
    }

    /// Lowers the piece that ends highest, again and again. Where that fails, wider excerpts are tried, then the same
    /// with more patience (more nodes for each); after a success it starts small again. `None` if no piece ends above
    /// the bound any more, or if everything was tried in vain; otherwise the limit that was met.
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

    /// An excerpt around the life of a piece, with the same margin on both sides, in which at least `count` pieces
    /// can be moved. The margin starts with a quarter of the life and grows by a quarter until there are enough, or
    /// until the excerpt is all time.
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

    /// The pieces that are alive between two times. Those whose whole lives lie between them can be moved, unless their
    /// offsets are fixed; all others are obstacles.
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

    /// Moves the movable pieces of an excerpt to new offsets, which come in the order of the pieces.
    fn adopt(&mut self, excerpt: &Excerpt, offsets: impl Iterator<Item = u64>) {
        for (&piece, offset) in excerpt.movable.iter().zip(offsets) {
            self.tops.remove(&self.top(piece));
            self.offsets[piece.index()] = offset;
            if self.top(piece).0 > self.lower {
                self.tops.insert(self.top(piece));
            }
        }
    }

    /// The pieces of an excerpt as slabs for the exact search, with their lives clipped to the excerpt: first those
    /// that may move, then the others, fixed where they are.
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

    /// Writes the present offsets into a plan.
    fn write(&self, plan: &mut Plan) {
        for piece in self.pieces.ids() {
            if let Some(placement) = &mut plan.placements[self.pieces.get(piece).first_buffer] {
                placement.offsets.iter_mut().for_each(|offset| *offset = Bytes(self.offsets[piece.index()]));
            }
        }
        // A plain problem has one space. `fit_extents` finds its extent anew.
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
