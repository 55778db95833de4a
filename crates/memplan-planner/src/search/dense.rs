//! Many buffers alive at once: packed below a goal by ejection chains, close to the bound.
//!
//! Where hundreds are alive at a time, each is small against the peak and packings without any waste abound, but
//! no single pass finds one: it ends some percent above the bound, in a few stretches of time that it
//! had filled badly before it came to their last buffers. The exact search is too slow for
//! stretches with so many buffers. So this stage makes room for the last ones by throwing out others:
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
//! - [`rectangles`] has the pieces as flat arrays, [`board`] knows who lies where and finds the place whose occupants
//!   weigh least, and [`ejection`] is the chain.
//! - The first plan of a crowded problem ([`is_crowded`]) places what is hard to place first ([`Order::NearPeak`]); the same
//!   weights say who is ejected. The best plan is then lowered again and again: an attempt takes out what ends above its
//!   goal, starts at a goal that it hardly reaches, and raises the goal until it is reached.
//! - Two attempts, a bold and a careful one, are made at a time, on two threads if there are. Both are always made and the
//!   better one is kept, so the plan does not depend on the number of threads, nor on the clock: work is counted in
//!   neighbours looked at.
//!
//! The stage takes plain pieces only ([`Pieces::is_plain`]): one life, one space, no relations. Alignments and
//! fixed offsets are kept. What it returns is never taller than what it was given.
//!
//! The idea of an ejection pool with growing penalties comes from vehicle routing: Nagata and Bräysy, *A powerful route
//! minimization heuristic for the vehicle routing problem with time windows*, 2009.
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
    ALIVE_PER_EFFORT, CROWDED_ALIVE, CROWDED_SHARE, DENSE_PARTS, DENSE_PATIENCE, FIRST_SLACKS, LATER_SLACKS,
    NEIGHBOURS_PER_UNIT, ONE_ORDER_PIECES,
};

/// How many pieces are alive at once, on average.
fn mean_alive(pieces: &Pieces) -> u64 {
    let lives = pieces.ids().flat_map(|piece| pieces.rects(piece)).map(|rect| u64::from(rect.end - rect.start));
    lives.sum::<u64>() / (pieces.steps().len() as u64).max(1)
}

/// Whether so many pieces are alive at once, on average, that the stage comes before all others.
pub(crate) fn is_crowded(pieces: &Pieces) -> bool {
    let alive = mean_alive(pieces);
    pieces.is_plain() && alive > CROWDED_ALIVE && alive * CROWDED_SHARE < pieces.len() as u64
}

/// What a search may spend without a limit of its own: the effort's work, and more on large problems.
///
/// If the first plan took long, the problem is large, and twice the work of that plan comes on top. Ejection chains need
/// work in proportion to what is alive, so many plain pieces have a share of the effort for that; where the chains do
/// all the work, because the problem is crowded, nothing but that share.
pub(super) fn work_for(pieces: &Pieces, effort: u64, first_plan: u64) -> u64 {
    let for_chains = || effort.saturating_mul(mean_alive(pieces)) / ALIVE_PER_EFFORT;
    let more = match () {
        () if is_crowded(pieces) => for_chains(),
        () if is_many(pieces) => for_chains().max(2 * first_plan),
        () => 2 * first_plan,
    };
    effort.saturating_add(more)
}

/// Whether chains have work of their own: many plain pieces, of which only a small part is alive at once.
fn is_many(pieces: &Pieces) -> bool {
    pieces.is_plain() && pieces.len() > ONE_ORDER_PIECES && mean_alive(pieces) * CROWDED_SHARE < pieces.len() as u64
}

/// A smaller plan, if one is found within the budget.
pub(super) fn pack_densely(pieces: &Pieces, plan: &Plan, lower: Bytes, seed: u64, budget: &mut Budget) -> Option<Plan> {
    let rectangles = Rectangles::of(pieces, plan.extent())?;
    let (lower, addresses) = (rectangles.units(lower)?, rectangles.addresses(pieces, plan)?);
    let extent = rectangles.extent(&addresses);
    let mut descent = Descent { rectangles: &rectangles, lower, seed, addresses, extent };
    let before = extent;
    descent.run(budget);
    let mut smaller = (descent.extent < before).then(|| plan.clone())?;
    rectangles.write(&descent.addresses, pieces, &mut smaller);
    (smaller.extent() < plan.extent()).then_some(smaller)
}

/// The best plan so far, in units.
struct Descent<'a> {
    rectangles: &'a Rectangles,
    lower: u32,
    seed: u64,
    addresses: Vec<u32>,
    extent: u32,
}

/// What became of an attempt.
struct Attempted {
    work: u64,
    /// Addresses below the known extent, if they were found.
    addresses: Option<Vec<u32>>,
}

impl Descent<'_> {
    fn slack(&self) -> u32 {
        self.extent.saturating_sub(self.lower)
    }

    /// Lowers the plan round by round: first towards the bound itself, then by parts of what is left.
    fn run(&mut self, budget: &mut Budget) {
        let mut slacks = FIRST_SLACKS.map(|parts| self.slack() / parts);
        while self.slack() > 0 && budget.stop().is_none() {
            self.round(slacks, budget);
            slacks = LATER_SLACKS.map(|parts| self.slack() / parts);
        }
    }

    /// Makes two attempts, side by side if there are threads for it, and keeps the better one if it is better than the
    /// best plan so far.
    fn round(&mut self, slacks: [u32; 2], budget: &mut Budget) {
        let work_limit = budget.work_left().saturating_mul(NEIGHBOURS_PER_UNIT) / DENSE_PARTS;
        let patience = (work_limit / DENSE_PATIENCE).max(1);
        let manner = |number: usize| {
            let seed = self.seed.wrapping_add(number as u64);
            Manner { slack: slacks[number].max(1), patience, work_limit, seed }
        };
        let is_over = || budget.is_late();
        let (first, second) = if budget.threads > 1 {
            std::thread::scope(|scope| {
                let second = scope.spawn(|| self.attempt(manner(1), &is_over));
                let first = self.attempt(manner(0), &is_over);
                (first, second.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            })
        } else {
            (self.attempt(manner(0), &is_over), self.attempt(manner(1), &is_over))
        };
        self.seed = self.seed.wrapping_add(2);
        // A round costs at least a unit, so that many of them come to an end. Each may spend two thirds of what is left,
        // so there are not many of them where attempts last as long as they may.
        budget.spend(1 + (first.work + second.work) / NEIGHBOURS_PER_UNIT);
        let found = [first, second].into_iter().filter_map(|attempted| attempted.addresses);
        let best = found.map(|found| (self.rectangles.extent(&found), found)).min_by_key(|(extent, _)| *extent);
        if let Some((extent, addresses)) = best.filter(|(extent, _)| *extent < self.extent) {
            (self.extent, self.addresses) = (extent, addresses);
        }
    }

    fn attempt(&self, manner: Manner, is_over: &(dyn Fn() -> bool + Sync)) -> Attempted {
        let mut board = Board::filled(self.rectangles, self.addresses.clone());
        let is_done = Attempt::new(&mut board, (self.lower, self.extent), manner, is_over).lower();
        Attempted { work: board.work, addresses: is_done.then_some(board.addresses) }
    }
}
