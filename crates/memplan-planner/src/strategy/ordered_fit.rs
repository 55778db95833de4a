//! `first-fit` and `best-fit`: one pass over the pieces in some order.
//!
//! Take the pieces in an [`Order`]; put each one at the lowest offset where it
//! meets nobody (first fit) or into the tightest gap between those it meets
//! (best fit). By size the two differ like this when `d` arrives:
//!
//! ```text
//!   64 ┤ c c c c               first fit: the lowest gap, 0..32 under b
//!   48 ┤ . . . .   16 free     best fit: the tightest one, 48..64 between b and c
//!   32 ┤ b b b b
//!      │ . . . .   32 free     d: 16 bytes, alive together with b and c
//!    0 └─────────
//! ```
//!
//! No look-ahead and no backtracking, so n log n plus the number of conflicts
//! met: 10^6 buffers, a hundred alive at a time, take seconds. Best fit by size
//! is the offset planner of the usage-record family, up to the order of
//! equally large buffers.
//!
//! Every feature of a problem is honoured. Of several candidate spaces the
//! first with room is taken. In-place permissions are used where they give the
//! lowest offset (first fit) or whenever a same-base victim is there (best fit).
//! The plan depends on names and input order only as far as [`Order`] says.
//!
//! If reuse has a price, each piece first looks for an offset at which nothing is paid. Only if there is none within
//! the capacity, the piece goes where it would go without prices. If that leaves no room for other pieces, the pass is
//! repeated without regard to prices.
//!
//! When a fixed offset is taken by another fixed buffer there is no plan; when
//! a piece finds no room within any capacity this one pass has failed, and the
//! answer is "none found", or "infeasible" if the lower bound proves it.
//!
//! Words from other files: [`Pieces`] are what is placed as a whole, each slot of a buffer by itself; a [`Placer`] puts
//! a piece down, with the other slots of its buffer if they are not placed yet, and gives back the [`Spot`] of this
//! piece, or `None` if there is no place; [`Halves`] are two halves of time for two threads.

use std::ops::ControlFlow;

use memplan_core::{Bytes, Outcome, Plan, Problem, Stop, patience};

use super::Strategy;
use crate::fit::Fit;
use crate::happens_before::Ordering;
use crate::order::Order;
use crate::parallel_first_fit::Halves;
use crate::piece::{PieceId, Pieces};
use crate::placer::{Placer, Spot};
use crate::portfolio::fits;
use crate::search::Clock;
use crate::{Assign, Feature, Refusal, Request, collision};

/// First or best fit in one order.
#[derive(Clone, Copy, Debug)]
pub struct OrderedFit {
    name: &'static str,
    describe: &'static str,
    /// How an offset is chosen.
    pub fit: Fit,
    /// What is placed first.
    pub order: Order,
}

const fn ordered(name: &'static str, describe: &'static str, fit: Fit, order: Order) -> OrderedFit {
    OrderedFit { name, describe, fit, order }
}

/// `first-fit`.
pub const FIRST_SIZE: OrderedFit =
    ordered("first-fit", "lowest free offset, largest buffers first", Fit::First, Order::Size);
/// `first-fit-lifetime`.
pub const FIRST_LIFETIME: OrderedFit =
    ordered("first-fit-lifetime", "lowest free offset, longest lives first", Fit::First, Order::Lifetime);
/// `first-fit-area`.
pub const FIRST_AREA: OrderedFit =
    ordered("first-fit-area", "lowest free offset, largest size x lifetime first", Fit::First, Order::Area);
/// `first-fit-start`.
pub const FIRST_START: OrderedFit =
    ordered("first-fit-start", "lowest free offset, in order of time", Fit::First, Order::Start);
/// `first-fit-conflicts`.
pub const FIRST_CONFLICTS: OrderedFit =
    ordered("first-fit-conflicts", "lowest free offset, most conflicts first", Fit::First, Order::Conflicts);
/// `first-fit-load`.
pub const FIRST_LOAD: OrderedFit =
    ordered("first-fit-load", "lowest free offset, those alive at the peak first", Fit::First, Order::Load);
/// `best-fit`.
pub const BEST_SIZE: OrderedFit = ordered("best-fit", "tightest gap, largest buffers first", Fit::Best, Order::Size);
/// `best-fit-lifetime`.
pub const BEST_LIFETIME: OrderedFit =
    ordered("best-fit-lifetime", "tightest gap, longest lives first", Fit::Best, Order::Lifetime);
/// `best-fit-area`.
pub const BEST_AREA: OrderedFit =
    ordered("best-fit-area", "tightest gap, largest size x lifetime first", Fit::Best, Order::Area);
/// `best-fit-start`.
pub const BEST_START: OrderedFit = ordered("best-fit-start", "tightest gap, in order of time", Fit::Best, Order::Start);
/// `best-fit-conflicts`.
pub const BEST_CONFLICTS: OrderedFit =
    ordered("best-fit-conflicts", "tightest gap, most conflicts first", Fit::Best, Order::Conflicts);

/// `best-fit-load`.
pub const BEST_LOAD: OrderedFit =
    ordered("best-fit-load", "tightest gap, those alive at the peak first", Fit::Best, Order::Load);

/// The order of the search's first pass over a problem in which very many pieces are alive at once. It is no strategy
/// of its own: its plans pay off only after the search has repaired them.
pub(crate) const NEAR_PEAK: OrderedFit =
    ordered("first-fit-near-peak", "lowest free offset, those alive near the peak first", Fit::First, Order::NearPeak);

impl OrderedFit {
    /// Places all pieces in this order. The pass ends early if a piece does not end below the ceiling, if `gives_up`
    /// says so, or if the caller's patience is over. The error is a piece that could not be placed at all.
    pub(crate) fn run<'a>(&self, placer: &mut Placer<'a>, pass: &Pass) -> Result<Reached, PieceId> {
        let pieces = placer.pieces();
        let order = self.order.of(pieces);
        // With a ceiling the pass ends at the first piece that comes too high, and only the order tells which one that
        // is. Without one very many pieces can be placed with the same result in an order that suits the processor;
        // see `parallel_first_fit`.
        if let Some(halves) = Halves::of(pieces).filter(|_| pass.ceiling.is_none()) {
            let goes_on = |number: usize, piece, spot| pass.goes_on(pieces, number, piece, spot);
            match halves.place(placer, &order, self.fit, pass.threads, &goes_on).break_value() {
                None => return Ok(Reached::All),
                Some(Ok(early)) => return Ok(early),
                // A piece has no place. Which one is the first is found out by placing them as they come.
                Some(Err(_)) => placer.clear(),
            }
        }
        let ended = order.iter().enumerate().try_for_each(|(number, &piece)| {
            let spot = placer.place(piece, self.fit);
            pass.goes_on(pieces, number, piece, spot)
        });
        ended.break_value().unwrap_or(Ok(Reached::All))
    }
}

impl OrderedFit {
    /// One pass in which every piece avoids costly reuse where it can. `None` if a piece then ends above a capacity, or
    /// cannot be placed at all.
    fn plan_cheaply(&self, problem: &Problem, pieces: &Pieces) -> Option<Plan> {
        let mut placer = Placer::new(pieces);
        for piece in self.order.of(pieces) {
            let spot = placer.place_cheaply(piece, self.fit)?;
            let end = Bytes(spot.offset.saturating_add(pieces.get(piece).size));
            // A piece ends above the capacity, so the rest need not be placed.
            if problem.spaces()[spot.space].capacity.is_some_and(|capacity| end > capacity) {
                return None;
            }
        }
        placer.finish()
    }
}

/// How far a pass came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    /// Everything is placed.
    All,
    /// The pass ended early, after this many placements. The number does not depend on the number of threads.
    Early(u64),
}

/// When to end a pass, and on how many threads to run it.
pub(crate) struct Pass<'a> {
    /// No piece may end here or above.
    pub(crate) ceiling: Option<Bytes>,
    /// Asked every 1024 pieces; true ends the pass.
    pub(crate) gives_up: &'a (dyn Fn() -> bool + Sync),
    /// With two or more, two halves of time are placed at once where that pays. The plan does not depend on it.
    pub(crate) threads: usize,
}

impl Pass<'_> {
    /// Says after each piece whether the pass goes on. `number` is the piece's position in the order. The error is a
    /// piece that has no spot.
    fn goes_on(
        &self,
        pieces: &Pieces,
        number: usize,
        piece: PieceId,
        spot: Option<Spot>,
    ) -> ControlFlow<Result<Reached, PieceId>> {
        let Some(spot) = spot else { return ControlFlow::Break(Err(piece)) };
        let end = spot.offset.saturating_add(pieces.get(piece).size);
        // The pass competes with a plan that we already have. As soon as one piece ends at the ceiling or above, this
        // pass cannot be better.
        let is_high = self.ceiling.is_some_and(|ceiling| end >= ceiling.0);
        // Patience is asked after each piece, because the first slot of a buffer brings all others with it: thousands
        // of them take milliseconds. `gives_up` costs more than placing one slot, so it is asked every 1024 pieces.
        let gives_up = patience::is_over_now() || (number % 1024 == 1023 && (self.gives_up)());
        if is_high || gives_up {
            return ControlFlow::Break(Ok(Reached::Early(number as u64 + 1)));
        }
        ControlFlow::Continue(())
    }
}

impl Strategy for OrderedFit {
    fn name(&self) -> &'static str {
        self.name
    }

    fn describe(&self) -> &'static str {
        self.describe
    }

    fn assigns(&self) -> &'static [Assign] {
        &[Assign::Offsets]
    }

    fn supports(&self, feature: Feature, _: Assign) -> bool {
        has_addresses(feature)
    }

    fn refuse(&self, problem: &Problem, _: &Request) -> Option<Refusal> {
        too_many_dependencies(self.name, problem)
    }

    /// A pass that avoids prices, if there are any and it fits; else a pass without regard to them.
    fn plan(&self, problem: &Problem, request: &Request) -> Outcome {
        let exhausted = Outcome::Exhausted { stop: Stop::Finished };
        let Ok(pieces) = Pieces::of(problem) else { return exhausted };
        if crate::costs::has_prices(problem) {
            // Avoiding costs takes room. If it takes too much, the pass is made without regard to costs.
            let cheap = self.plan_cheaply(problem, &pieces);
            if let Some(plan) = cheap.filter(|plan| fits(problem, plan)) {
                return Outcome::judge(problem, plan, Stop::Finished);
            }
        }
        let mut placer = Placer::new(&pieces);
        // With a ceiling this strategy competes with a plan that the caller already has, so it may end without one.
        let clock = Clock::start(request);
        let pass = Pass {
            ceiling: request.ceiling,
            gives_up: &|| request.ceiling.is_some() && (request.is_cancelled() || clock.is_over()),
            threads: request.threads(),
        };
        match self.run(&mut placer, &pass) {
            Ok(Reached::All) => {}
            // The plan would not be smaller than the one that the caller has, or the caller's patience is over. The driver
            // asks for patience after the stage, so it says what has ended it, whatever `stop` is here.
            Ok(Reached::Early(_)) => return exhausted,
            // A fixed offset is taken. If two fixed buffers collide, there is no plan at all.
            Err(piece) => return collision::witness(&placer, piece).map_or(exhausted, Outcome::Infeasible),
        }
        let plan = placer.into_plan();
        // Judging a plan takes tables of its own, and the pieces are not needed any more.
        drop(pieces);
        match plan {
            Some(plan) => Outcome::judge(problem, plan, Stop::Finished),
            None => exhausted,
        }
    }
}

/// Whether a strategy that gives addresses can honour a feature: everything but sizes that are not numbers of bytes.
pub(crate) fn has_addresses(feature: Feature) -> bool {
    !matches!(feature, Feature::Shapes | Feature::UnboundedSymbols)
}

/// Refuses a problem with dependencies between more buffers than [`Ordering`] can take.
pub(crate) fn too_many_dependencies(strategy: &'static str, problem: &Problem) -> Option<Refusal> {
    let (count, most) = (problem.dependencies()?.children.len(), Ordering::MAX_BUFFERS);
    let limit = || format!("{most} buffers with dependencies, and there are {count}");
    (count > most).then(|| Refusal::Limit { strategy, limit: limit() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use memplan_core::{Buffer, Dependencies, IndexVec, Lifetime, ProblemBuilder};

    #[test]
    fn too_many_dependencies_are_refused_in_words() {
        let count = Ordering::MAX_BUFFERS + 1;
        let mut builder = ProblemBuilder::new();
        for index in 0..count {
            builder.buffer(Buffer::new(index.to_string(), 1, Lifetime::new(0, 1)));
        }
        let children = IndexVec::filled(Vec::new(), count);
        builder.dependencies(Dependencies { children, read_by_outputs: Vec::new() });
        let refusal = crate::plan(&FIRST_SIZE, &builder.build().unwrap(), &Request::default()).unwrap_err();
        let expected = "strategy `first-fit` takes at most 32768 buffers with dependencies, and there are 32769";
        assert_eq!(refusal.to_string(), expected);
    }

    #[test]
    fn two_fixed_buffers_in_each_others_way_are_a_proof() {
        let mut builder = ProblemBuilder::new();
        let fixed = |name: &str, at| Buffer::new(name, 8, Lifetime::new(0, 2)).with_fixed(Bytes(at));
        let a = builder.buffer(fixed("a", 0));
        builder.buffer(fixed("b", 8));
        let c = builder.buffer(fixed("c", 4));
        let outcome = crate::plan(&FIRST_SIZE, &builder.build().unwrap(), &Request::default()).unwrap();
        let Outcome::Infeasible(witness) = outcome else { panic!("{outcome:?}") };
        assert_eq!(witness.buffers, [a, c]);
        assert_eq!((witness.needed, witness.capacity), (Bytes(16), Bytes(12)));
    }
}
