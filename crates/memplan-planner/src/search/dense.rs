//! Many buffers alive at once: packed below a goal by ejection chains, close to the bound.
//!
//! If hundreds of buffers are alive at a time, each is small against the peak, and there are many packings without any
//! waste. But no single pass finds one: a pass ends some percent above the bound, because it has filled a few stretches
//! of time badly before it comes to their last buffers. The exact search is too slow for stretches with so many
//! buffers. So this stage makes room for the last buffers by *ejecting* others, that is, by taking them out and placing
//! them elsewhere:
//!
//! ```text
//!   bound 100                 goal 101                   goal 101
//!
//!   ▏ 104 ──── x ────         ▏     (x waits)            ▏
//!   ▏ 101 ·············       ▏ 101 ·············        ▏ 101 ····· y ·····     x takes the place of y,
//!   ▏  ▓▓▓▓ y ▓▓▓▓▓▓▓         ▏  ▓▓▓▓ y ▓▓▓▓▓▓▓          ▏  ▓▓▓▓▓ x ▓▓▓▓▓▓▓      y is smaller and finds
//!   ▏  ▓▓▓▓▓▓▓▓▓▓▓▓▓▓         ▏  ▓▓▓▓▓▓▓▓▓▓▓▓▓▓          ▏  ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓      another gap
//! ```
//!
//! - [`rectangles`] has the pieces as flat arrays, [`board`] knows which rectangle lies where and finds the place whose
//!   occupants weigh least, and [`ejection`] is the chain: an ejected rectangle ejects others, and so on.
//! - The first plan of a crowded problem ([`is_crowded`]) places the pieces first that are hard to place
//!   ([`Order::NearPeak`]). How hard a piece is to place is also its *weight*, and light pieces are ejected rather than
//!   heavy ones. The best plan is then lowered again and again by *attempts*. An attempt begins with a goal just
//!   above the bound, takes out what ends above the goal, and raises the goal as often as it cannot be reached. How
//!   far a goal or a plan is above the bound is its *slack*.
//! - Two attempts, a bold and a careful one, are made at a time, on two threads if there are. Both are always made
//!   and the better one is kept, so the plan does not depend on the number of threads, nor on the clock: work is
//!   counted in neighbours looked at.
//!
//! The stage takes plain pieces only ([`Pieces::is_plain`]): one life, one space, no relations. Alignments and
//! fixed offsets are kept. What it returns is never taller than what it was given.
//!
//! The idea of an ejection pool with growing penalties comes from vehicle routing: Nagata and Bräysy, *A powerful route
//! minimization heuristic for the vehicle routing problem with time windows*, 2009.
//!
//! Words from other files: [`Pieces`] are the pieces of a problem; the `rects` of a piece are its rectangles, whose
//! start and end are positions in `steps`, the list of the steps at which something starts or ends. A [`Budget`] is the
//! work and the time that is left.
//!
//! [`Order::NearPeak`]: crate::Order::NearPeak

mod board;
mod ejection;
mod rectangles;
#[cfg(test)]
mod tests;

use memplan_core::{Bytes, Plan};

use self::board::Board;
use self::ejection::{Attempt, Manner};
use self::rectangles::Rectangles;
use super::budget::Budget;
use crate::piece::Pieces;
use crate::tuning::{
    ALIVE_PER_EFFORT, CROWDED_ALIVE, CROWDED_SHARE, DENSE_PARTS, DENSE_PERIODS, FIRST_SLACKS, LATER_SLACKS,
    NEIGHBOURS_PER_UNIT, ONE_ORDER_PIECES,
};

/// How many pieces are alive at once, on average over the list of steps at which some piece starts or ends.
fn mean_alive(pieces: &Pieces) -> u64 {
    let lives = pieces.ids().flat_map(|piece| pieces.rects(piece)).map(|rect| u64::from(rect.end - rect.start));
    lives.sum::<u64>() / (pieces.steps().len() as u64).max(1)
}

/// Whether so many pieces are alive at once, on average, that the stage `dense` comes before all others: more than
/// [`CROWDED_ALIVE`], but less than one in [`CROWDED_SHARE`] of all pieces.
pub(crate) fn is_crowded(pieces: &Pieces) -> bool {
    let alive = mean_alive(pieces);
    pieces.is_plain() && alive > CROWDED_ALIVE && alive * CROWDED_SHARE < pieces.len() as u64
}

/// Units of work for a search whose caller has set no limit: the effort's work, and more on large problems.
///
/// If the first plan took long, the problem is large, and twice the work of that plan (`first_plan`) is added. Ejection
/// chains need work in proportion to the number of pieces alive at once. So for many plain pieces the effort's work
/// times that number, divided by [`ALIVE_PER_EFFORT`], is added if it is more. On crowded problems, where the chains
/// come first and do nearly all the work, only this is added.
pub(super) fn work_for(pieces: &Pieces, effort: u64, first_plan: u64) -> u64 {
    let for_size = first_plan.saturating_mul(2);
    let more = if is_crowded(pieces) {
        work_for_chains(pieces, effort)
    } else if is_many(pieces) {
        work_for_chains(pieces, effort).max(for_size)
    } else {
        for_size
    };
    effort.saturating_add(more)
}

/// The work that ejection chains need: in proportion to the number of pieces alive at once.
fn work_for_chains(pieces: &Pieces, effort: u64) -> u64 {
    effort.saturating_mul(mean_alive(pieces)) / ALIVE_PER_EFFORT
}

/// Whether chains have work of their own: many plain pieces, of which only a small part is alive at once.
fn is_many(pieces: &Pieces) -> bool {
    pieces.is_plain() && pieces.len() > ONE_ORDER_PIECES && mean_alive(pieces) * CROWDED_SHARE < pieces.len() as u64
}

/// A plan with a smaller extent than `plan`, if one is found within the budget. None is looked for below the bound
/// `lower`.
pub(super) fn pack_densely(pieces: &Pieces, plan: &Plan, lower: Bytes, seed: u64, budget: &mut Budget) -> Option<Plan> {
    let rectangles = Rectangles::of(pieces, plan.extent())?;
    let (lower, addresses) = (rectangles.units(lower)?, rectangles.addresses(pieces, plan)?);
    let extent = rectangles.extent(&addresses);
    let mut descent = Descent { rectangles: &rectangles, lower, seed, addresses, extent };
    let before = extent;
    descent.run(budget);
    let mut smaller = (descent.extent < before).then(|| plan.clone())?;
    rectangles.write(&descent.addresses, pieces, &mut smaller);
    // Sizes were rounded up to units, so an extent of fewer units may have no fewer bytes.
    (smaller.extent() < plan.extent()).then_some(smaller)
}

/// The best plan so far. Addresses and extents are counted in units of some bytes ([`rectangles`]).
struct Descent<'a> {
    rectangles: &'a Rectangles,
    /// The lower bound.
    lower: u32,
    /// Seed of the next attempt; it goes up by one for each.
    seed: u64,
    /// The address of each rectangle in the best plan, and that plan's extent.
    addresses: Vec<u32>,
    extent: u32,
}

/// What became of an attempt.
struct Attempted {
    /// Neighbours looked at.
    work: u64,
    /// Addresses below the known extent, if they were found.
    addresses: Option<Vec<u32>>,
}

impl Descent<'_> {
    /// How far the best plan is above the bound.
    fn slack(&self) -> u32 {
        self.extent.saturating_sub(self.lower)
    }

    /// Lowers the plan round by round. The goals of the two attempts of a round start at certain parts of the slack,
    /// which are smaller in the first round than in the later ones.
    fn run(&mut self, budget: &mut Budget) {
        let mut slacks = FIRST_SLACKS.map(|parts| self.slack() / parts);
        while self.slack() > 0 && budget.stop().is_none() {
            self.round(slacks, budget);
            slacks = LATER_SLACKS.map(|parts| self.slack() / parts);
        }
    }

    /// Makes two attempts whose goals start at these slacks, side by side if there are threads for it. Keeps the better
    /// result if it is better than the best plan so far.
    fn round(&mut self, slacks: [u32; 2], budget: &mut Budget) {
        // Inside of an attempt, work is counted in neighbours looked at. An attempt has `DENSE_PERIODS` periods; after
        // a period without progress its goal is raised.
        let work_limit = budget.work_left().saturating_mul(NEIGHBOURS_PER_UNIT) / DENSE_PARTS;
        let period = (work_limit / DENSE_PERIODS).max(1);
        // The two attempts differ in where their goals start and in their random numbers.
        let bold_and_careful = [0, 1].map(|number| {
            let seed = self.seed.wrapping_add(number as u64);
            Manner { slack: slacks[number].max(1), period, work_limit, seed }
        });
        let (first, second) = if budget.threads > 1 {
            std::thread::scope(|scope| {
                let second = scope.spawn(|| self.attempt(bold_and_careful[1], budget));
                let first = self.attempt(bold_and_careful[0], budget);
                (first, second.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            })
        } else {
            (self.attempt(bold_and_careful[0], budget), self.attempt(bold_and_careful[1], budget))
        };
        self.seed = self.seed.wrapping_add(2);
        // A round costs at least a unit, so that any number of them uses up the budget some day. Its two attempts may
        // spend two thirds of the work that is left, so there are few rounds if attempts use up what they may spend.
        budget.spend(1 + (first.work + second.work) / NEIGHBOURS_PER_UNIT);
        let found = [first, second].into_iter().filter_map(|attempted| attempted.addresses);
        let best = found.map(|found| (self.rectangles.extent(&found), found)).min_by_key(|(extent, _)| *extent);
        if let Some((extent, addresses)) = best.filter(|(extent, _)| *extent < self.extent) {
            (self.extent, self.addresses) = (extent, addresses);
        }
    }

    /// One attempt to lower the best plan. It works on a copy, so that two attempts can run side by side.
    fn attempt(&self, manner: Manner, budget: &Budget) -> Attempted {
        let mut board = Board::filled(self.rectangles, self.addresses.clone());
        let is_over = || budget.is_late();
        let is_done = Attempt::new(&mut board, (self.lower, self.extent), manner, &is_over).lower();
        Attempted { work: board.work, addresses: is_done.then_some(board.addresses) }
    }
}
