//! Peak first: stack what is alive at the peak without a gap, then see which other pieces end too high.
//!
//! At the step with the most live bytes (the peak), a plan that meets the bound has no free byte. A plan that is too
//! tall has gaps there, under buffers that could not sink because of a buffer alive a little earlier or later:
//!
//! ```text
//!   time ──►       peak                         peak
//!            ccccccccccccc                  ....bb........   <- b ends too high
//!   gap ->   .....bbbbbbbb   stack a, c     ccccccccccccc
//!            aaaaaa..........  first:       aaaaaa.......
//! ```
//!
//! So the *tower*, all pieces alive when the load is highest, is placed first, in the order in which its pieces lie in
//! the plan: each piece sinks onto the one below it. All other pieces follow, the largest first, each at its lowest
//! free offset. Some of them may end above the goal: they *complain*. They are few, and mostly live shortly before or
//! after the peak. The next pass places these pieces right after the tower. The more often a piece has complained, the
//! earlier it is placed:
//!
//! ```text
//!   pass 1:  a c | d e b f     b ends too high
//!   pass 2:  a c | b d e f     now d and e go around b
//! ```
//!
//! A pass is one round of the [`Placer`], n log n, and honours every feature. On training graphs, where buffers are
//! many and few of them are alive at the peak, two or three passes reach the bound that no order of sizes or lives
//! comes close to.
//!
//! Words from other files: a [`Placer`] puts pieces down one by one and gives back `None` if a piece finds no place;
//! [`loads_met`] has, for each piece, the most bytes that are alive at once during its life; [`favourite`] is the first
//! space that a piece may live in; a [`PassCost`] says how much work a pass is.

use std::cmp::Reverse;

use memplan_core::{Bytes, IndexVec, Plan, SpaceId, Stop};

use super::budget::{Budget, PassCost};
use crate::fit::Fit;
use crate::load::{favourite, loads_met};
use crate::order::Order;
use crate::piece::{PieceId, Pieces};
use crate::placer::Placer;
use crate::portfolio::fits;
use crate::tuning::{PEAK_FIRST_FAILURES, PLACEMENTS_PER_GLANCE};

/// Improves the plan `best`, or finds one, until the bounds `lower` of all spaces are met, nothing has helped for
/// some passes, or the budget is used up. Says why it stopped if the budget was the reason.
pub(crate) fn place_peak_first(
    pieces: &Pieces,
    best: &mut Option<Plan>,
    lower: &IndexVec<SpaceId, Bytes>,
    pass_cost: PassCost,
    budget: &mut Budget,
) -> Option<Stop> {
    let mut passes = PeakFirst::new(pieces, lower);
    passes.stack(best.as_ref());
    let mut failures = 0;
    while failures < PEAK_FIRST_FAILURES && !best.as_ref().is_some_and(|plan| meets_bounds(plan, lower)) {
        if let Some(stop) = budget.stop() {
            return Some(stop);
        }
        // A pass cannot be stopped half way. As long as there is no plan, a pass is begun even if the work that is left
        // does not pay for it.
        if best.is_some() && !budget.affords(pass_cost.of(pieces.len() as u64)) {
            return Some(Stop::WorkLimit);
        }
        // `None`, because something cannot be placed or time is over, ends the stage.
        let pass = passes.pass(pass_cost, budget)?;
        // Writing a plan out takes as long as a pass, so it is done only for a pass with a smaller extent. A plan that
        // exceeds a capacity does not count.
        let improves = best.as_ref().is_none_or(|best| pass.extent < best.extent());
        let plan = improves.then(|| passes.placer.finish()).flatten().filter(|plan| fits(pieces.problem(), plan));
        failures = if plan.is_some() { 0 } else { failures + 1 };
        if let Some(plan) = plan {
            budget.report(Some(plan.extent()), Bytes(lower.iter().map(|bytes| bytes.0).sum()));
            *best = Some(plan);
        }
        // If no piece ended too high, the order stays as it is, and the next pass would be the same one.
        if pass.complaints == 0 {
            break;
        }
    }
    None
}

/// Whether a plan needs no more in each space than the lower bound of the space.
fn meets_bounds(plan: &Plan, lower: &IndexVec<SpaceId, Bytes>) -> bool {
    plan.extents.iter().zip(lower.iter()).all(|(have, need)| have <= need)
}

/// The result of a pass.
struct Pass {
    extent: Bytes,
    /// How many pieces ended above the goal.
    complaints: usize,
}

/// What all passes share.
struct PeakFirst<'a, 'p> {
    pieces: &'a Pieces<'p>,
    /// The lower bound of each space.
    lower: &'a IndexVec<SpaceId, Bytes>,
    placer: Placer<'a>,
    /// Whether a piece belongs to the tower of its space.
    is_tower: IndexVec<PieceId, bool>,
    /// The position of each piece in the order of sizes, the largest first.
    by_size: IndexVec<PieceId, u64>,
    /// The pieces of the tower are placed in ascending order of these numbers: offsets in the plan to be improved, or
    /// positions in `by_size` if there is no plan ([`PeakFirst::stack`]).
    in_stack: IndexVec<PieceId, u64>,
    /// In how many passes a piece has ended above the goal.
    complaints: IndexVec<PieceId, u32>,
}

impl<'a, 'p> PeakFirst<'a, 'p> {
    /// Finds the tower: the pieces that are alive when the load of their space is highest.
    fn new(pieces: &'a Pieces<'p>, lower: &'a IndexVec<SpaceId, Bytes>) -> PeakFirst<'a, 'p> {
        let met = loads_met(pieces);
        // By space: the highest load that any piece meets. At least 1, so that pieces without bytes, which may meet a
        // load of 0, belong to no tower.
        let mut highest = IndexVec::<SpaceId, u64>::filled(1, lower.len());
        for piece in pieces.ids() {
            let space = favourite(pieces, piece);
            highest[space] = highest[space].max(met[piece]);
        }
        PeakFirst {
            pieces,
            lower,
            placer: Placer::new(pieces),
            is_tower: pieces.ids().map(|piece| met[piece] == highest[favourite(pieces, piece)]).collect(),
            by_size: positions(pieces, Order::Size),
            in_stack: IndexVec::filled(0, pieces.len()),
            complaints: IndexVec::filled(0, pieces.len()),
        }
    }

    /// Sets the order of the tower, from the bottom up: by the offsets in a plan; without a plan, the largest first.
    fn stack(&mut self, plan: Option<&Plan>) {
        let Some(plan) = plan else {
            self.in_stack = self.by_size.clone();
            return;
        };
        self.in_stack = self.pieces.ids().map(|piece| offset_in(self.pieces, piece, plan)).collect();
    }

    /// The order of a pass: first fixed and exclusive pieces, then the tower from the bottom up, then all others. Of
    /// the others, the pieces that have complained most often come first; of those that have complained equally often,
    /// the larger ones.
    fn order(&self) -> Vec<PieceId> {
        let key = |piece: PieceId| {
            let info = self.pieces.get(piece);
            // The position in the stack counts only inside of the tower.
            let (class, place) = if info.fixed.is_some() || info.exclusive {
                (0, 0)
            } else if self.is_tower[piece] {
                (1, self.in_stack[piece])
            } else {
                (2, 0)
            };
            (class, place, Reverse(self.complaints[piece]), self.by_size[piece], piece)
        };
        let mut keyed: Vec<_> = self.pieces.ids().map(key).collect();
        keyed.sort_unstable();
        keyed.into_iter().map(|key| key.4).collect()
    }

    /// Places all pieces, and counts for each piece how often it has ended above the goal (a *complaint*). `None` if a
    /// piece cannot be placed, or if the time is over.
    fn pass(&mut self, cost: PassCost, budget: &mut Budget) -> Option<Pass> {
        self.placer.clear();
        for (number, piece) in self.order().into_iter().enumerate() {
            if number.is_multiple_of(PLACEMENTS_PER_GLANCE) && budget.is_late() {
                return None;
            }
            self.placer.place(piece, Fit::First)?;
        }
        budget.spend(cost.of(self.pieces.len() as u64));
        // The goal of a space is the bound, or the end of the tower if the tower ends above the bound (because of fixed
        // offsets or alignments inside of it).
        let mut goals = self.lower.clone();
        let mut extents = IndexVec::<SpaceId, Bytes>::filled(Bytes::ZERO, goals.len());
        for piece in self.pieces.ids() {
            let (space, end) = self.end(piece)?;
            extents[space] = extents[space].max(end);
            if self.is_tower[piece] {
                goals[space] = goals[space].max(end);
            }
        }
        let mut complaints = 0;
        for piece in self.pieces.ids() {
            let (space, end) = self.end(piece)?;
            if end > goals[space] {
                self.complaints[piece] += 1;
                complaints += 1;
            }
        }
        let extent = extents.iter().fold(0u64, |sum, extent| sum.saturating_add(extent.0));
        Some(Pass { extent: Bytes(extent), complaints })
    }

    /// The space of a placed piece, and where the piece ends there; `None` if the piece is not placed.
    fn end(&self, piece: PieceId) -> Option<(SpaceId, Bytes)> {
        let spot = self.placer.spot(piece)?;
        Some((spot.space, Bytes(spot.offset.saturating_add(self.pieces.get(piece).size))))
    }
}

/// The offset of a piece in a plan: that of the slot of its first buffer which the piece is.
fn offset_in(pieces: &Pieces, piece: PieceId, plan: &Plan) -> u64 {
    let info = pieces.get(piece);
    let placement = plan.placements[info.first_buffer].as_ref();
    let offset = placement.and_then(|placement| placement.offsets.get(info.slot as usize));
    debug_assert!(offset.is_some(), "a plan has a place for every piece");
    offset.map_or(0, |offset| offset.0)
}

/// The position of each piece in an order.
fn positions(pieces: &Pieces, order: Order) -> IndexVec<PieceId, u64> {
    let mut positions = IndexVec::filled(0, pieces.len());
    for (position, piece) in order.of(pieces).into_iter().enumerate() {
        positions[piece] = position as u64;
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Request;
    use crate::tuning::OBSTACLES_PER_UNIT;
    use memplan_core::{Problem, bound};
    use memplan_testkit::instances;

    fn pressed(problem: &Problem, work: u64) -> (Option<Plan>, u64) {
        let pieces = Pieces::of(problem).unwrap();
        let request = Request { work_limit: Some(work), ..Request::default() };
        let mut budget = Budget::of(&request);
        let lower = bound::space_lower_bounds(problem).iter().map(|peak| peak.bytes).collect();
        let mut best = None;
        place_peak_first(&pieces, &mut best, &lower, PassCost::counted(1, OBSTACLES_PER_UNIT), &mut budget);
        (best, budget.spent())
    }

    #[test]
    fn whoever_complains_comes_first_in_the_next_pass() {
        let problems: Vec<Problem> = (0..60).map(|seed| instances::random(300, 40, seed)).collect();
        let reached = |work: u64| {
            let is_least = |problem: &&Problem| {
                pressed(problem, work).0.is_some_and(|p| p.extent() == bound::lower_bound(problem))
            };
            problems.iter().filter(is_least).count()
        };
        let (at_once, heard) = (reached(1), reached(300 * 12));
        assert!(heard > 2 * at_once.max(5), "{at_once} without listening, {heard} with");
    }

    #[test]
    fn the_limit_on_work_is_kept() {
        let problem = instances::random(400, 30, 5);
        let (plan, work) = pressed(&problem, 1000);
        assert!(plan.is_some());
        // A pass of 400 that the rest cannot pay for is not begun.
        assert!((601..=1000).contains(&work), "{work}");
    }
}
