//! Hill climbing on the order of placement, around the bottleneck.
//!
//! First fit is as good as its order. What ends too high was placed too late:
//! move it forward, place everything again, and keep the new order unless the
//! result is worse.
//!
//! ```text
//!   order a b c d e    e ends highest    order a e b c d
//!                      ─────────────►    (or e a b c d, or a b e c d, …)
//! ```
//!
//! Equally good orders are kept too, so that the search drifts across plateaus;
//! now and then it starts again from the best one. A pass is given up as soon as
//! it gets worse than the current order. This knows nothing about sections or
//! flatness: the [`Placer`] honours every feature, and one pass costs n log n, so
//! it serves problems that are not flat and those too large for an exact search.

use memplan_core::{Bytes, IndexVec, Plan, SpaceId, Stop};

use super::budget::{Budget, PassCost};
use super::random::Random;
use crate::fit::Fit;
use crate::order::Order;
use crate::piece::{PieceId, Pieces};
use crate::placer::Placer;
use crate::portfolio::fits;
use crate::tuning::{MOST_MOVED, REORDER_FAILURES};

/// How bad a placement is: bytes beyond the capacities, then bytes.
type Cost = (u64, u64);

/// Improves a plan, or finds one, until the bound is met, nothing has helped for
/// long, or the budget is used up.
pub(crate) fn reorder(
    pieces: &Pieces,
    best: &mut Option<Plan>,
    lower: &IndexVec<SpaceId, Bytes>,
    seed: u64,
    pass_cost: PassCost,
    budget: &mut Budget,
) -> Option<Stop> {
    if best.is_some() && !budget.affords(pass_cost.of(pieces.len() as u64)) {
        return Some(Stop::WorkLimit);
    }
    let mut climb = Climb::new(pieces, lower, seed, pass_cost, budget);
    let goal = lower.iter().map(|bytes| bytes.0).sum::<u64>();
    let most_failures = 2 * REORDER_FAILURES + 8 * pieces.len() as u64;
    let mut failures = 0;
    while failures < most_failures {
        if best.as_ref().is_some_and(|plan| plan.extent().0 <= goal) {
            return None;
        }
        if let Some(stop) = budget.stop() {
            return Some(stop);
        }
        failures += 1;
        if climb.step(failures, budget) {
            let plan = climb.placer.finish().filter(|plan| fits(pieces.problem(), plan));
            if let Some(plan) = plan.filter(|plan| best.as_ref().is_none_or(|best| plan.extent() < best.extent())) {
                budget.report(Some(plan.extent()), Bytes(goal));
                *best = Some(plan);
            }
            failures = 0;
        }
    }
    None
}

struct Climb<'a, 'p> {
    pieces: &'a Pieces<'p>,
    lower: &'a IndexVec<SpaceId, Bytes>,
    placer: Placer<'a>,
    random: Random,
    pass_cost: PassCost,
    current: Vec<PieceId>,
    current_cost: Cost,
    /// Pieces that end too high in the current order, with their positions.
    blamed: Vec<u32>,
    best: Vec<PieceId>,
    best_cost: Cost,
    best_blamed: Vec<u32>,
}

impl<'a, 'p> Climb<'a, 'p> {
    fn new(
        pieces: &'a Pieces<'p>,
        lower: &'a IndexVec<SpaceId, Bytes>,
        seed: u64,
        pass_cost: PassCost,
        budget: &mut Budget,
    ) -> Climb<'a, 'p> {
        let mut climb = Climb {
            pieces,
            lower,
            placer: Placer::new(pieces),
            random: Random::new(seed),
            pass_cost,
            current: Vec::new(),
            current_cost: (u64::MAX, u64::MAX),
            blamed: Vec::new(),
            best: Vec::new(),
            best_cost: (u64::MAX, u64::MAX),
            best_blamed: Vec::new(),
        };
        for order in [Order::Size, Order::Area, Order::Lifetime, Order::Conflicts] {
            if budget.stop().is_some() && !climb.current.is_empty() {
                break;
            }
            climb.consider(order.of(pieces), budget);
        }
        climb
    }

    /// One changed order; whether it is the best so far.
    fn step(&mut self, failures: u64, budget: &mut Budget) -> bool {
        if failures.is_multiple_of(REORDER_FAILURES) {
            self.current.clone_from(&self.best);
            self.current_cost = self.best_cost;
            self.blamed.clone_from(&self.best_blamed);
        }
        let order = self.moved();
        self.consider(order, budget)
    }

    /// The current order with some blamed pieces moved forward.
    fn moved(&mut self) -> Vec<PieceId> {
        let mut order = self.current.clone();
        for _ in 0..1 + self.random.below(MOST_MOVED) {
            if self.blamed.is_empty() {
                break;
            }
            let from = self.blamed[self.random.below(self.blamed.len() as u64) as usize] as usize;
            let to = self.random.below(from as u64 + 1) as usize;
            order[to..=from].rotate_right(1);
        }
        order
    }

    /// Places everything in an order and keeps it if it is no worse than the
    /// current one; whether it is better than the best.
    fn consider(&mut self, order: Vec<PieceId>, budget: &mut Budget) -> bool {
        let Some(cost) = self.place(&order, budget) else { return false };
        if cost > self.current_cost {
            return false;
        }
        self.blamed = self.blame(&order);
        self.current = order;
        self.current_cost = cost;
        if cost >= self.best_cost {
            return false;
        }
        self.best.clone_from(&self.current);
        self.best_blamed.clone_from(&self.blamed);
        self.best_cost = cost;
        true
    }

    /// `None` if a piece could not be placed or the current cost is exceeded on the way.
    fn place(&mut self, order: &[PieceId], budget: &mut Budget) -> Option<Cost> {
        self.placer.clear();
        let problem = self.pieces.problem();
        let mut extents = IndexVec::<SpaceId, u64>::filled(0, problem.spaces().len());
        let mut cost = (0, 0);
        for (number, &piece) in order.iter().enumerate() {
            if number % 1024 == 1023 && budget.is_late() {
                return None;
            }
            let spot = self.placer.place(piece, Fit::First)?;
            let end = spot.offset.saturating_add(self.pieces.get(piece).size);
            if end > extents[spot.space] {
                extents[spot.space] = end;
                let over = |space: SpaceId| {
                    let capacity = problem.spaces()[space].capacity.map_or(u64::MAX, |capacity| capacity.0);
                    extents[space].saturating_sub(capacity)
                };
                let beyond = problem.spaces().ids().map(over).fold(0, u64::saturating_add);
                cost = (beyond, extents.iter().fold(0, |sum: u64, extent| sum.saturating_add(*extent)));
                if cost > self.current_cost {
                    budget.spend(self.pass_cost.of(number as u64));
                    return None;
                }
            }
        }
        budget.spend(self.pass_cost.of(order.len() as u64));
        Some(cost)
    }

    /// Positions of the pieces that reach into the top eighth of the gap.
    fn blame(&self, order: &[PieceId]) -> Vec<u32> {
        let mut extents = IndexVec::<SpaceId, u64>::filled(0, self.lower.len());
        let end = |piece: PieceId| {
            let spot = self.placer.spot(piece)?;
            Some((spot.space, spot.offset.saturating_add(self.pieces.get(piece).size)))
        };
        for (space, end) in order.iter().filter_map(|&piece| end(piece)) {
            extents[space] = extents[space].max(end);
        }
        let goal = |space: SpaceId| {
            let gap = extents[space].saturating_sub(self.lower[space].0);
            extents[space] - gap.div_ceil(8)
        };
        let is_high = |&position: &usize| end(order[position]).is_some_and(|(space, end)| end > goal(space));
        (0..order.len()).filter(is_high).map(|position| position as u32).collect()
    }
}
