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
//! If the highest piece does not come down, the stretch of time is widened, so that more pieces may move. After
//! [`MOST_WIDENINGS`] widenings the repair starts again with the small stretch, and the exact search gets twice as many
//! nodes ([`Reach`]).
//!
//! This is for problems in which a piece is a rectangle and nothing relates two of them ([`Pieces::is_plain`]). The
//! nodes of the exact search, the placements around peaks and the pieces looked at count as work; the result depends on
//! the budget of work and not on the clock. Finding an excerpt takes a look at the pieces that are alive in the
//! excerpt, never at all pieces. Times are not steps of the problem but positions in [`Pieces::steps`], the sorted list
//! of the steps at which some piece starts or ends.
//!
//! A [`Conflicts`] is an index that lists which of many stretches of time meet a given one, and a [`PassCost`] says how
//! much work it is to place so many pieces.

mod peak;

use std::cell::Cell;
use std::collections::BTreeSet;

use memplan_core::{Bytes, Id, Plan, SpaceId, Stop};

use super::budget::{Budget, PassCost};
use super::instance::{Slab, Stretch};
use crate::conflicts::Conflicts;
use crate::piece::{PieceId, Pieces, Rect};
use crate::tuning::{MOST_RESTARTS, MOST_WIDENINGS, OBSTACLES_PER_UNIT, SLAB_LOOKS};

/// How far to go to get the highest piece down. It starts at zero for each piece, and grows after each attempt that
/// fails: first `widenings`, from 0 to [`MOST_WIDENINGS`]; then `restarts` by one, with `widenings` at 0 again.
#[derive(Clone, Copy, Debug, Default)]
struct Reach {
    /// How often the stretch of time around the peak was widened, since the last restart. Each time the local peak is
    /// looked for among twice as many pieces; every second time the core gets twice as many pieces, too.
    widenings: u32,
    /// How often all widenings were tried in vain. Each time the exact search gets twice as many nodes, and another
    /// seed.
    restarts: u32,
}

/// Which pieces the exact search packs first at a peak (the *core*: see [`peak`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstCore {
    /// All pieces that are alive around the peak.
    All,
    /// `Large(n)`: only pieces of at least 1/n of the goal (in bytes), in every attempt with an even number of
    /// widenings; the other attempts take all pieces. Small pieces are placed around the core, and join the core if
    /// they end above the goal. So the exact search has more room and fewer pieces; but if small pieces find no gaps,
    /// the core has to be packed more often.
    Large(u64),
}

/// Improves the plan `best` of plain pieces until its extent is at most the bound `lower`, all widenings and restarts
/// have failed, or the budget is used up. Returns the limit that was met; `None` if no limit was the reason to stop, if
/// there is no plan, or if the plan has no offset for some piece. `pass_cost` is the work that placing pieces costs.
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
    /// The lower bound in bytes. A plan with this extent has nothing left to repair.
    lower: u64,
    first_core: FirstCore,
    pass_cost: PassCost,
    /// Pieces that are alive at some time, by start. The position of a piece in this list is its *rank*.
    by_start: Vec<PieceId>,
    /// Lists the ranks of the pieces that are alive between two times.
    alive: Conflicts,
    /// The present offset of every piece.
    offsets: Vec<u64>,
    /// All pieces that end above `lower`, each with its end in bytes in front; the last entry is the highest piece.
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
    /// Prepares a plan for repair: sorts the pieces by start, reads their offsets and finds the pieces that end above
    /// the bound. `None` if the plan has no offset for a piece.
    fn of(pieces: &'a Pieces<'p>, plan: &Plan, lower: Bytes, pass_cost: PassCost) -> Option<Repair<'a, 'p>> {
        // Start, piece, end of each piece that is alive at some time. The entries have copies of the starts: sorting a
        // million of them is three times as fast as sorting pieces and looking up a start for every comparison.
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

    /// The last position in the list of steps: all time is `0..last_step()`.
    fn last_step(&self) -> u32 {
        self.pieces.steps().len() as u32 - 1
    }

    /// The end of the highest piece; the bound `lower` if no piece ends above the bound.
    fn extent(&self) -> Bytes {
        Bytes(self.tops.last().map_or(self.lower, |top| top.0))
    }

    /// Lowers the piece that ends highest, again and again. If an attempt fails, the next one is wider ([`Reach`]);
    /// after a success the reach is zero again. `None` if no piece ends above the bound any more, or if every reach was
    /// tried in vain; otherwise the limit that was met.
    fn run(&mut self, seed: u64, budget: &mut Budget) -> Option<Stop> {
        let mut reach = Reach::default();
        while let Some(&(_, tallest)) = self.tops.last() {
            if let Some(stop) = budget.stop() {
                return Some(stop);
            }
            let seed = seed.wrapping_add(u64::from(reach.restarts));
            let is_lower = self.settle_peak(tallest, reach, seed, budget);
            budget.spend(self.looked_at.take() / OBSTACLES_PER_UNIT);
            // After a failure: one widening more; when these are used up, the first reach again with another seed.
            reach = match reach {
                _ if is_lower => Reach::default(),
                Reach { widenings, restarts } if widenings < MOST_WIDENINGS => {
                    Reach { widenings: widenings + 1, restarts }
                }
                Reach { restarts, .. } if restarts < MOST_RESTARTS => Reach { widenings: 0, restarts: restarts + 1 },
                _ => return None,
            };
            budget.report(Some(self.extent()), Bytes(self.lower));
        }
        None
    }

    /// An excerpt around the life of the piece `around`, with the same margin before and after it, in which at least
    /// `count` pieces can be moved. The margin starts with a quarter of the life and grows by a quarter of itself until
    /// there are enough pieces, or until the excerpt is all time. (A quarter, so that the excerpt ends up at most about
    /// a quarter wider than needed, after a number of looks that is logarithmic in its length.)
    fn excerpt(&self, around: PieceId, count: usize) -> Excerpt {
        let last = self.last_step();
        // A piece that is never alive counts as alive all the time here. (It never is the highest one, so this is not
        // met.)
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

    /// The pieces that are alive at some time in `start..end`. A piece whose whole life lies in `start..end` can be
    /// moved, unless its offset is fixed; all others are obstacles.
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

    /// Moves the movable pieces of an excerpt to new offsets (in bytes), and updates `tops`. The offsets come in the
    /// order of `excerpt.movable`.
    fn adopt(&mut self, excerpt: &Excerpt, offsets: impl Iterator<Item = u64>) {
        for (&piece, offset) in excerpt.movable.iter().zip(offsets) {
            // The entry of a piece has its end in it, so the old entry goes before the offset changes.
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
        let pass_cost = PassCost::counted(1, OBSTACLES_PER_UNIT);
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
            let (lower, cost) = (bound::lower_bound(&problem), PassCost::counted(1, OBSTACLES_PER_UNIT));
            repair_peaks(&pieces, &mut best, lower, first, cost, &mut budget);
            let best = best.unwrap();
            assert_valid(&problem, &best);
            assert!(best.extent() <= before.extent());
            lowered += usize::from(best.extent() < before.extent());
        }
        assert!(lowered >= 3, "{lowered} of 6 got lower");
    }
}
