//! A local peak is packed first, and its neighbours go around it.
//!
//! Around a local peak of the load there is no room to waste, a few lives away there is plenty. So
//! the pieces that are alive around the peak, the *core*, are packed by the exact search as if there were no others,
//! with the lower bound as the capacity. Then the pieces *around* the core are put back by first fit:
//!
//! ```text
//!             around              core               around
//!      :    ............   [  aaaaaaaaaaaaa   ]   ...........    :
//!    ooo:ooo   ........cccc[ccccccc   bbbbbbbb]bbbbb  ........   :oooo    o stays
//!      :  ...........dddddd[dddddddddddddd    ]   ............   :
//! ```
//!
//! 1. The core is everything alive within a short stretch around the peak, some hundred pieces, with
//!    its lives clipped to that stretch. Clipping loses no conflict: three intervals
//!    that meet each other pairwise have a point in common, so two lives
//!    which meet the stretch and each other meet inside of it.
//! 2. *Around* are all pieces within a few lives to either side. A piece that reaches out of that stays where it is; it
//!    never meets the core. The others are placed around the core, the largest first, and of equally large ones those
//!    next to the peak. A piece that is alive nearly all the time would make everything its neighbour, so it stays
//!    where
//!    it is even inside of the core.
//! 3. Pieces around that end too high *complain*. Mostly they are large ones that found no gap wide enough between the
//!    pieces that reach out of the core. They *join* the core with their whole lives, and the core is packed again.
//!
//! Long lives belong to the core, so this also mends a plan in which something long-lived lies in the wrong place. Of a
//! million random buffers, where first fit by size ends 7 % above the bound, one to six
//! peaks of 250 pieces, ten milliseconds each, are settled and the bound is met.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use memplan_core::{Buffer, Bytes, Id, Lifetime, Placement, Plan, Problem, ProblemBuilder};

use super::super::budget::Budget;
use super::super::descent::{Standing, descend};
use super::super::instance::Instance;
use super::{Excerpt, FirstCore, Reach, Repair};
use crate::fit::Fit;
use crate::order::Order;
use crate::piece::{PieceId, Pieces};
use crate::placer::Placer;
use crate::tuning::{CORE_NODES, MOST_AROUND_PIECES, PEAK_SEARCH_PIECES};

/// Offsets (in bytes) of the pieces of a core that was packed.
type Packed = BTreeMap<PieceId, u64>;

impl Repair<'_, '_> {
    /// Packs the local peak near a piece anew and places the pieces around it, as the module documentation says. Says
    /// whether the plan got lower; if not, it stays as it was.
    pub(super) fn settle_peak(&mut self, near: PieceId, reach: Reach, seed: u64, budget: &mut Budget) -> bool {
        let Some(peak) = self.peak(&self.excerpt(near, PEAK_SEARCH_PIECES << reach.widened)) else { return false };
        let mut core = self.core(peak, reach);
        let Some(around) = self.around(&core, reach) else { return false };
        let tallest = self.extent();
        // The first attempt aims at the bound. If that has failed, the bound may be out of reach. So the goal of the
        // next two attempts lies a quarter and a half of the way from the bound up to the present extent, then it is
        // the bound again, in a wider excerpt, and so on.
        let goal = self.lower + (tallest.0 - self.lower) / 4 * u64::from(reach.widened % 3);
        if let FirstCore::Large(parts) = self.first_core
            && reach.widened.is_multiple_of(2)
        {
            core.movable.retain(|&piece| self.pieces.get(piece).size >= goal / parts);
        }
        // The smallest extent so far, with offsets for the movable pieces of `around`.
        let mut best: Option<(Bytes, Vec<u64>)> = None;
        // A piece that has joined the core stays in it, so this ends at the latest when all pieces around have joined.
        loop {
            let nodes = CORE_NODES * core.movable.len() as u64;
            let Some(packed) = self.pack(&core, goal, nodes << reach.patience, seed, budget) else { break };
            let Some(plan) = self.place_around(&around, peak, &packed, budget) else { break };
            let offsets: Vec<u64> = offsets(&plan).take(around.movable.len()).collect();
            let complaining = self.ending_above(goal, &around, &offsets);
            if best.as_ref().is_none_or(|(extent, _)| plan.extent() < *extent) {
                best = Some((plan.extent(), offsets));
            }
            if complaining.is_empty() || budget.stop().is_some() {
                break;
            }
            core = self.joined(core, complaining, &around);
        }
        let Some((_, offsets)) = best.filter(|(extent, _)| *extent < tallest) else { return false };
        self.adopt(&around, offsets.into_iter());
        true
    }

    /// The first step of an excerpt at which most bytes are alive; `None` if nothing is alive in it.
    fn peak(&self, excerpt: &Excerpt) -> Option<u32> {
        let changes = |&piece: &PieceId| {
            let (life, size) = (self.pieces.rects(piece)[0], i128::from(self.pieces.get(piece).size));
            [(life.start.max(excerpt.start), size), (life.end.min(excerpt.end), -size)]
        };
        let mut changes: Vec<(u32, i128)> = excerpt.all().flat_map(changes).collect();
        // At the same step, what ends goes before anything starts.
        changes.sort_unstable();
        // The load after each change, and the first step at which it is highest.
        let sum = |load: &mut i128, (step, change): (u32, i128)| {
            *load += change;
            Some((*load, step))
        };
        let highest = changes.into_iter().scan(0, sum).max_by_key(|&(load, step)| (load, std::cmp::Reverse(step)));
        highest.map(|(_, step)| step)
    }

    /// The core: all pieces that are alive in a stretch around the peak, which is widened until they are at least about
    /// twice as many as are alive at the peak. Pieces with fixed offsets and endless ones are its obstacles; all
    /// others may move, even those that reach out of the stretch.
    fn core(&self, peak: u32, reach: Reach) -> Excerpt {
        let alive = self.between(peak, peak + 1).all().count();
        // Twice as many for every second widening. With more patience it is one, two or three eighths less, which
        // leads to other packings.
        let count = (alive << (1 + reach.widened / 2)) * (8 - reach.patience as usize % 4) / 8;
        let mut margin = 1;
        loop {
            let (start, end) = (peak.saturating_sub(margin), peak.saturating_add(margin).min(self.last_step()));
            let mut core = self.between(start, end);
            if core.all().count() >= count || (start == 0 && end == self.last_step()) {
                let stays = |&piece: &PieceId| self.pieces.get(piece).fixed.is_some() || self.is_endless(piece);
                let (fixed, free) = core.all().copied().partition(stays);
                (core.movable, core.obstacles) = (free, fixed);
                return core;
            }
            margin += margin / 4 + 1;
        }
    }

    /// The pieces that may have to make way: all that meet the core, all that meet one of these, and so on, as often as
    /// `reach` says and as long as there are not too many. `None` if there are too many from the start.
    fn around(&self, core: &Excerpt, reach: Reach) -> Option<Excerpt> {
        // The first hull has the whole lives of the core's pieces. The second one has the whole lives of all pieces
        // that meet these, so that none of them is an obstacle.
        let mut around = self.hull(&self.hull(core)?)?;
        for _ in 0..2 << reach.widened.min(3) {
            let wider = self.hull(&around)?;
            if wider.movable.len() > MOST_AROUND_PIECES {
                break;
            }
            around = wider;
        }
        (around.movable.len() <= MOST_AROUND_PIECES).then_some(around)
    }

    /// The excerpt from the first start to the last end of all pieces of another excerpt, with all pieces alive in it.
    /// `None` if all of them are endless.
    fn hull(&self, excerpt: &Excerpt) -> Option<Excerpt> {
        let (start, end) = self.span(excerpt.all())?;
        Some(self.between(start, end))
    }

    /// Whether a piece lives so long that it meets more pieces than a local repair may move, as the weights of a
    /// network or a workspace do. Such a piece stays where it is.
    fn is_endless(&self, piece: PieceId) -> bool {
        let life = self.pieces.rects(piece)[0];
        // At every step of compressed time some piece starts or ends, and each piece does so twice. So a life of n
        // steps meets at least about n/2 others.
        (life.end - life.start) as usize > 2 * MOST_AROUND_PIECES
    }

    /// From the first start to the last end of all pieces that are not endless; `None` if there is none.
    fn span<'w>(&self, pieces: impl Iterator<Item = &'w PieceId>) -> Option<(u32, u32)> {
        let pieces = pieces.filter(|&&piece| !self.is_endless(piece));
        let lives = pieces.map(|&piece| self.pieces.rects(piece)[0]).map(|life| (life.start, life.end));
        lives.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }

    /// Offsets for the pieces of an excerpt that may move, with which all end at or below the goal. `None` if the exact
    /// search finds none within so many nodes, or if the excerpt is too large for it.
    fn pack(&self, excerpt: &Excerpt, goal: u64, nodes: u64, seed: u64, budget: &mut Budget) -> Option<Packed> {
        let instance = Instance::new(&self.slabs(excerpt), &[]).filter(Instance::is_tractable)?;
        let lower = instance.lower_bound();
        let mut standing = Standing { lower, upper: None, offsets: None, capacity: Some(Bytes(goal)) };
        let mut share = budget.at_most(nodes.saturating_mul(instance.node_cost()));
        descend(&instance, &mut standing, seed, &mut share);
        budget.spend(share.spent());
        let offsets = standing.offsets?.into_iter().map(|offset| offset * instance.granule);
        Some(excerpt.movable.iter().copied().zip(offsets).collect())
    }

    /// First fit of all pieces around, with the core where it was packed: the largest first, and of equally large ones
    /// those that are alive next to the peak. `None` if a piece finds no place.
    ///
    /// Where buffers of one size follow each other in time, as the caches of a model that generates text do, each can
    /// take the place of the one after it. A pass that starts at the peak and goes outwards finds these places; one
    /// that starts at the beginning arrives at the peak with the places in another order:
    ///
    /// ```text
    ///   ....dddddbbbbb|bbb        peak at |, a and b lie in the core:
    ///   ..cccccaaaaaaa|aaa        c ends where a starts, d where b starts
    /// ```
    fn place_around(&self, around: &Excerpt, peak: u32, packed: &Packed, budget: &mut Budget) -> Option<Plan> {
        let problem = self.problem(around, packed)?;
        let pieces = Pieces::of(&problem).ok()?;
        let mut placer = Placer::new(&pieces);
        budget.spend(self.pass_cost.of(pieces.len() as u64));
        // Steps between the life of a piece and the peak; 0 if it is alive at the peak.
        let distance = |piece: PieceId| {
            let life = &problem.buffers()[pieces.get(piece).first_buffer].lifetime;
            let (start, end) = (life.start().map_or(0, |step| step.0), life.end().map_or(0, |step| step.0));
            start.saturating_sub(peak.into()).max(u64::from(peak).saturating_sub(end))
        };
        let mut order = Order::Size.of(&pieces);
        order.sort_by_cached_key(|&piece| {
            let info = pieces.get(piece);
            (info.fixed.is_none(), Reverse(info.size), distance(piece))
        });
        for piece in order {
            placer.place(piece, Fit::First)?;
        }
        placer.finish()
    }

    /// The movable pieces of an excerpt that end above the goal at these offsets: the pieces that complain.
    fn ending_above(&self, goal: u64, excerpt: &Excerpt, offsets: &[u64]) -> Vec<PieceId> {
        let is_high = |&(&piece, offset): &(&PieceId, &u64)| offset.saturating_add(self.pieces.get(piece).size) > goal;
        excerpt.movable.iter().zip(offsets).filter(is_high).map(|(&piece, _)| piece).collect()
    }

    /// The core with more pieces that may move. Its stretch becomes as wide as the lives of all of these, and its
    /// obstacles are those of `around` that are alive in that stretch.
    fn joined(&self, mut core: Excerpt, more: Vec<PieceId>, around: &Excerpt) -> Excerpt {
        core.movable.extend(more);
        // `span` leaves out endless pieces. If no other one may move, the stretch is that of `around`.
        let (start, end) = self.span(core.movable.iter()).unwrap_or((around.start, around.end));
        let meets = |piece: &&PieceId| {
            let life = self.pieces.rects(**piece)[0];
            life.start < end && start < life.end
        };
        let obstacles = around.obstacles.iter().filter(meets).copied().collect();
        Excerpt { start, end, movable: core.movable, obstacles }
    }

    /// An excerpt as a problem of its own: first the pieces that may move, then the obstacles. Pieces that have been
    /// packed already are fixed at their packed offsets.
    fn problem(&self, excerpt: &Excerpt, packed: &Packed) -> Option<Problem> {
        let mut builder = ProblemBuilder::new();
        for (slab, &piece) in self.slabs(excerpt).iter().zip(excerpt.all()) {
            let life = slab.stretches.first()?;
            let buffer = Buffer::new(piece.index().to_string(), slab.size, Lifetime::new(life.start, life.end));
            let fixed = packed.get(&piece).copied().or(slab.fixed).map(Bytes);
            builder.buffer(Buffer { alignment: Bytes(slab.alignment), ..buffer.with_fixed(fixed) });
        }
        builder.build().ok()
    }
}

/// The offsets of all buffers in a plan of [`Repair::problem`], in order.
fn offsets(plan: &Plan) -> impl Iterator<Item = u64> {
    let offset = |placement: &Option<Placement>| placement.as_ref()?.offsets.first().map(|offset| offset.0);
    plan.placements.iter().map_while(offset)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_valid, first_fit, repair_of};
    use super::*;
    use crate::Request;
    use memplan_testkit::instances;

    #[test]
    fn the_peak_of_a_window_is_where_most_is_alive() {
        let problem = instances::random(300, 20, 1);
        let pieces = Pieces::of(&problem).unwrap();
        let repair = repair_of(&pieces, &first_fit(&problem));
        let excerpt = repair.between(10, 200);
        let load = |step: u32| {
            let lives = pieces.ids().map(|piece| (pieces.rects(piece)[0], pieces.get(piece).size));
            lives.filter(|(life, _)| life.start <= step && step < life.end).map(|(_, size)| size).sum::<u64>()
        };
        let highest = (10..200).map(load).max().unwrap();
        assert_eq!(load(repair.peak(&excerpt).unwrap()), highest);
    }

    /// What stays never meets the core, so the two need not know of each other.
    #[test]
    fn what_stays_does_not_meet_the_core() {
        let problem = instances::random(3000, 20, 2);
        let pieces = Pieces::of(&problem).unwrap();
        let repair = repair_of(&pieces, &first_fit(&problem));
        let reach = Reach::default();
        for peak in [40, 700, 1500, 2400] {
            let core = repair.core(peak, reach);
            let around = repair.around(&core, reach).unwrap();
            assert!(!around.obstacles.is_empty());
            let meet = |one: PieceId, other: PieceId| {
                let (one, other) = (pieces.rects(one)[0], pieces.rects(other)[0]);
                one.start < other.end && other.start < one.end
            };
            assert!(around.obstacles.iter().all(|&o| core.all().all(|&c| !meet(o, c))));
            assert!(core.movable.iter().all(|piece| around.movable.contains(piece)));
        }
    }

    #[test]
    fn a_peak_is_settled_in_little_work() {
        let problem = instances::random(20_000, 60, 3);
        let pieces = Pieces::of(&problem).unwrap();
        let plan = first_fit(&problem);
        let mut repair = repair_of(&pieces, &plan);
        let request = Request { work_limit: Some(100_000), ..Request::default() };
        let mut budget = Budget::of(&request);
        let tallest = repair.tops.last().unwrap().1;
        assert!(repair.settle_peak(tallest, Reach::default(), 0, &mut budget));
        assert!(repair.extent() < plan.extent());
        assert!(budget.spent() < 10_000, "{}", budget.spent());
        let mut lower = plan;
        repair.write(&mut lower);
        assert_valid(&problem, &lower);
    }
}
