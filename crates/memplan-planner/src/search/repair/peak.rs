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
//!    which meet the stretch and each other meet inside of the stretch.
//! 2. *Around* are all pieces within a wider stretch, a few lives before and after the core. A piece that reaches out
//!    of the wider stretch stays where it is; such a piece never meets the core. The others are placed around the core,
//!    the largest first, and of equally large ones those next to the peak. An *endless* piece, which is alive nearly
//!    all the time, would make every piece its neighbour. So an endless piece stays where it is even inside of the
//!    core.
//! 3. Pieces around the core that end above the goal *complain*. Mostly they are large ones that found no gap high
//!    enough between the pieces that reach out of the core. They *join* the core with their whole lives, and the core
//!    is packed again.
//!
//! Long lives belong to the core, so this also mends a plan in which a long-lived piece lies in the wrong place. With a
//! million random buffers first fit by size ends 7 % above the bound; after one to six peaks of 250 pieces, ten
//! milliseconds each, the bound is met.
//!
//! Words from other files: an [`Excerpt`] is a stretch of time with the pieces alive in it, those that may move and
//! those that stay (`obstacles`); a [`Reach`] says how often this peak was tried in vain. [`descend`] runs the exact
//! search on an [`Instance`] and leaves in a [`Standing`] what it found. A [`Placer`] places pieces by first fit.

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
    /// Packs the local peak near the piece `near` anew and places the pieces around it, as the module documentation
    /// says. Returns whether the extent of the plan is smaller now; if not, the plan stays as it was.
    pub(super) fn settle_peak(&mut self, near: PieceId, reach: Reach, seed: u64, budget: &mut Budget) -> bool {
        let Some(peak) = self.peak(&self.excerpt(near, PEAK_SEARCH_PIECES << reach.widenings)) else { return false };
        let mut core = self.core(peak, reach);
        let Some(around) = self.around(&core, reach) else { return false };
        let tallest = self.extent();
        // The goal (in bytes) of the first attempt, with no widening, is the bound. If that has failed, the bound may
        // be out of reach. So the goals after one and two widenings lie a quarter and a half of the way from the bound
        // up to the present extent. After three widenings the goal is the bound again, and so on.
        let goal = self.lower + (tallest.0 - self.lower) / 4 * u64::from(reach.widenings % 3);
        // Small pieces are left out of the first core, if asked for; they are still among `around`. Only every second
        // attempt does so: see `FirstCore::Large`.
        if let FirstCore::Large(parts) = self.first_core
            && reach.widenings.is_multiple_of(2)
        {
            core.movable.retain(|&piece| self.pieces.get(piece).size >= goal / parts);
        }
        // The smallest extent so far, with offsets for the movable pieces of `around`.
        let mut best: Option<(Bytes, Vec<u64>)> = None;
        // Each round packs the core, places the others around it, and lets the pieces that complain join the core. The
        // rounds end at the latest when all pieces around have joined, because a piece that has joined stays.
        loop {
            // Each restart has doubled the nodes.
            let nodes = CORE_NODES * core.movable.len() as u64;
            let Some(packed) = self.pack(&core, goal, nodes << reach.restarts, seed, budget) else { break };
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

    /// The first time of an excerpt at which most bytes are alive; `None` if no piece is alive in the excerpt.
    fn peak(&self, excerpt: &Excerpt) -> Option<u32> {
        // The load rises by the size of a piece at the start of its clipped life, and falls by it at the end.
        let changes = |&piece: &PieceId| {
            let (life, size) = (self.pieces.rects(piece)[0], i128::from(self.pieces.get(piece).size));
            [(life.start.max(excerpt.start), size), (life.end.min(excerpt.end), -size)]
        };
        let mut changes: Vec<(u32, i128)> = excerpt.all().flat_map(changes).collect();
        // At the same time, pieces that end (negative changes) come before pieces that start.
        changes.sort_unstable();
        // The load after each change, and the first time at which it is highest.
        let sum = |load: &mut i128, (step, change): (u32, i128)| {
            *load += change;
            Some((*load, step))
        };
        let highest = changes.into_iter().scan(0, sum).max_by_key(|&(load, step)| (load, std::cmp::Reverse(step)));
        highest.map(|(_, step)| step)
    }

    /// The core: all pieces that are alive in a stretch of time around the peak. The stretch grows until it has
    /// `count` pieces, or is all time. Pieces with fixed offsets and endless pieces are the core's obstacles. All other
    /// pieces may move, even those that reach out of the stretch; that is the difference to [`Repair::between`].
    fn core(&self, peak: u32, reach: Reach) -> Excerpt {
        let alive = self.between(peak, peak + 1).all().count();
        // Twice as many pieces as are alive at the peak, and twice as many again after every second widening. The first
        // three restarts ask for one, two and three eighths fewer, the fourth for none fewer, and so on: a different
        // core leads to a different packing.
        let count = (alive << (1 + reach.widenings / 2)) * (8 - reach.restarts as usize % 4) / 8;
        // The stretch reaches `margin` times before and after the peak. The margin grows by a quarter of itself: the
        // core gets at most about a quarter longer than needed, and few stretches are looked at.
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

    /// The pieces that may have to make way for the core: all pieces that meet the core, all that meet one of these,
    /// and so on, 2 to 16 times (twice as often after each of the first three widenings), and as long as at most
    /// [`MOST_AROUND_PIECES`] may move. `None` if more pieces may move already in the smallest such excerpt, or if an
    /// excerpt on the way has endless pieces only.
    fn around(&self, core: &Excerpt, reach: Reach) -> Option<Excerpt> {
        // The first hull reaches over the whole lives of the core's pieces. The second hull reaches over the whole
        // lives of all pieces that meet the first one. So no piece that meets the core is an obstacle of the second
        // hull, unless it is fixed or endless.
        let mut around = self.hull(&self.hull(core)?)?;
        for _ in 0..2 << reach.widenings.min(3) {
            let wider = self.hull(&around)?;
            if wider.movable.len() > MOST_AROUND_PIECES {
                break;
            }
            around = wider;
        }
        (around.movable.len() <= MOST_AROUND_PIECES).then_some(around)
    }

    /// A wider excerpt: from the first start to the last end of all pieces of `excerpt` that are not endless, with all
    /// pieces alive in that time. `None` if all pieces of `excerpt` are endless.
    fn hull(&self, excerpt: &Excerpt) -> Option<Excerpt> {
        let (start, end) = self.span(excerpt.all())?;
        Some(self.between(start, end))
    }

    /// Whether a piece lives so long that it meets more pieces than a local repair may move, as the weights of a
    /// network or a workspace do. Such a piece stays where it is.
    fn is_endless(&self, piece: PieceId) -> bool {
        let life = self.pieces.rects(piece)[0];
        // Times are positions in the list of steps at which some piece starts or ends, and each piece does so twice. So
        // a life of n positions meets at least about n/2 other pieces.
        (life.end - life.start) as usize > 2 * MOST_AROUND_PIECES
    }

    /// The first start and the last end of those of `pieces` that are not endless; `None` if all are endless.
    fn span<'w>(&self, pieces: impl Iterator<Item = &'w PieceId>) -> Option<(u32, u32)> {
        let pieces = pieces.filter(|&&piece| !self.is_endless(piece));
        let lives = pieces.map(|&piece| self.pieces.rects(piece)[0]).map(|life| (life.start, life.end));
        lives.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }

    /// Offsets (in bytes) for the pieces of an excerpt that may move, such that each ends at or below the goal. `None`
    /// if the exact search finds none within `nodes` nodes, or if the excerpt is too large for the exact search.
    fn pack(&self, excerpt: &Excerpt, goal: u64, nodes: u64, seed: u64, budget: &mut Budget) -> Option<Packed> {
        let instance = Instance::new(&self.slabs(excerpt), &[]).filter(Instance::is_tractable)?;
        let lower = instance.lower_bound();
        let mut standing = Standing { lower, upper: None, offsets: None, capacity: Some(Bytes(goal)) };
        let mut share = budget.at_most(instance.work_of(nodes));
        descend(&instance, &mut standing, seed, &mut share);
        budget.spend(share.spent());
        // Offsets come for all slabs in their order: the movable pieces first. `zip` leaves out those of the obstacles.
        let offsets = standing.offsets?.into_iter().map(|offset| offset * instance.granule);
        Some(excerpt.movable.iter().copied().zip(offsets).collect())
    }

    /// First fit of all pieces of `around`, with the core's pieces fixed where they were packed: the largest piece
    /// first, and of equally large ones those that are alive next to the peak. `None` if a piece finds no place.
    ///
    /// If buffers of one size follow each other in time, as the caches of a model that generates text do, each can take
    /// the place of the next one in time. A pass that starts at the peak and goes outwards finds these places. A pass
    /// that starts at the first step arrives at the peak with the places in another order:
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
        // Time between the life of a piece and the peak; 0 if the piece is alive at the peak. The steps of the
        // excerpt's problem are the times of this plan.
        let distance = |piece: PieceId| {
            let life = &problem.buffers()[pieces.get(piece).first_buffer].lifetime;
            let (start, end) = (life.start().map_or(0, |step| step.0), life.end().map_or(0, |step| step.0));
            start.saturating_sub(peak.into()).max(u64::from(peak).saturating_sub(end))
        };
        let mut order = Order::Size.of(&pieces);
        order.sort_by_cached_key(|&piece| {
            let info = pieces.get(piece);
            // `false` sorts before `true`: pieces with fixed offsets come first. `sort_by_cached_key` keeps the order
            // of equals.
            (info.fixed.is_none(), Reverse(info.size), distance(piece))
        });
        for piece in order {
            placer.place(piece, Fit::First)?;
        }
        placer.finish()
    }

    /// The pieces that complain: the movable pieces of an excerpt that end above the goal at the given offsets.
    fn ending_above(&self, goal: u64, excerpt: &Excerpt, offsets: &[u64]) -> Vec<PieceId> {
        let is_high = |&(&piece, offset): &(&PieceId, &u64)| offset.saturating_add(self.pieces.get(piece).size) > goal;
        excerpt.movable.iter().zip(offsets).filter(is_high).map(|(&piece, _)| piece).collect()
    }

    /// The core with the pieces `more` added. The stretch of the new core reaches over the whole lives of all its
    /// movable pieces, so that no conflict with a piece that has joined is clipped off. Its obstacles are the obstacles
    /// of `around` that are alive in that stretch.
    fn joined(&self, mut core: Excerpt, more: Vec<PieceId>, around: &Excerpt) -> Excerpt {
        core.movable.extend(more);
        // `span` leaves out endless pieces. If only endless pieces may move, the stretch is that of `around`.
        let (start, end) = self.span(core.movable.iter()).unwrap_or((around.start, around.end));
        let meets = |piece: &&PieceId| {
            let life = self.pieces.rects(**piece)[0];
            life.start < end && start < life.end
        };
        let obstacles = around.obstacles.iter().filter(meets).copied().collect();
        Excerpt { start, end, movable: core.movable, obstacles }
    }

    /// An excerpt as a problem of its own: first the pieces that may move, then the obstacles, which are fixed where
    /// they are. The pieces of `packed` are fixed at their packed offsets. `None` if that is no valid problem.
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
