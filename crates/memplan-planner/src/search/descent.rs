//! From a plan to better ones, round by round, and from the other side to proofs.
//!
//! The *gap* lies between the extent of the best plan and the lower bound. Each round asks the exact search for plans
//! within a few extents of the gap (the *targets*), each with another order of the items and a node limit:
//!
//! ```text
//!   best  ─┬─  just below: the next step down, and the proof of optimality
//!          │
//!          ├─  half way
//!          │
//!   bound ─┴─  the bound itself; in later rounds somewhere near it
//! ```
//!
//! The lowest success counts. The bound is asked for in the first round already, because a larger extent is not always
//! easier: many instances are solved at the bound and at no other extent in reasonable time. The first rounds go
//! through the plain orders, which have no random numbers ([`PLAIN_ORDERS`]). After them orders are improved by
//! [climbing](super::climb), separately for four *rungs*, which are four targets: the bound, a quarter of the gap above
//! it, five eighths of the gap, and a step below the best plan. The step is halved when it fails.
//!
//! A plan that is found at all is mostly found with little backtracking. So node limits are small multiples of a
//! *dive*, the way from the root of the search tree to a plan without going back, which has a node for each item.
//!
//! The tasks of a round run in parallel; lower targets have lower numbers. A success makes the tasks with higher
//! numbers pointless. They are ignored even if they have ended already, so that the result does
//! not depend on the number of threads.
//!
//! An [`Instance`] is one space with its items, and an [`Exact`] is a search on it, which can be run many times: for
//! another extent, with another order. Its items count in *granules* of some bytes; targets are bytes.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use memplan_core::{Bytes, Stop};

use super::budget::Budget;
use super::climb::{Climbers, Genes};
use super::exact::{Exact, Limit, Rules, Verdict};
use super::instance::Instance;
use super::random::Random;
use super::rank::PLAIN_ORDERS;
use super::state::Height;
use crate::tuning::{ATTEMPTS, FEW_PIECES, FIRST_ROUND_NODES, PLAIN_ROUNDS, ROUNDS_PER_STEP, WIDTHS_PER_UNIT};

/// What is known about the extent of an instance.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    /// No plan is smaller.
    pub(crate) lower: Bytes,
    /// Extent of the best plan, if there is one; no plan with this extent or more is of interest.
    pub(crate) upper: Option<Bytes>,
    /// The best plan that was found here: an offset in granules for each item. `None` if no plan better than the one
    /// known before was found.
    pub(crate) offsets: Option<Vec<u64>>,
    /// Any plan within this extent is good enough. `None` if the smallest plan is asked for.
    pub(crate) capacity: Option<Bytes>,
}

impl Standing {
    /// Whether there is a capacity and the best plan is within it.
    fn fits(&self) -> bool {
        self.capacity.is_some_and(|capacity| self.upper.is_some_and(|upper| upper <= capacity))
    }

    /// Whether there is nothing left to find out.
    pub(crate) fn is_settled(&self) -> bool {
        self.fits() || self.is_infeasible() || self.upper.is_some_and(|upper| upper <= self.lower)
    }

    /// Whether there is a capacity and no plan fits into it.
    pub(crate) fn is_infeasible(&self) -> bool {
        self.capacity.is_some_and(|capacity| self.lower > capacity)
    }
}

/// What one attempt is to do.
#[derive(Clone, Debug)]
struct Task {
    /// A plan with at most this extent is looked for.
    target: Bytes,
    /// The order of the items, with its noise.
    genes: Genes,
    rules: Rules,
    /// Most nodes, and most widths that they may look at.
    limit: Limit,
    /// For an order that is improved by climbing: where its result belongs. `None` for other attempts.
    turn: Option<Turn>,
}

/// Which group of climbers a task belongs to ([`Descent::rungs`]), and the number of its turn among them
/// ([`Climbers::child`]).
#[derive(Clone, Copy, Debug)]
struct Turn {
    rung: usize,
    number: u64,
}

/// What came of an attempt.
struct Attempt {
    verdict: Verdict,
    /// Offsets in granules if a plan was found, else empty.
    offsets: Vec<u64>,
    /// Its nodes, and the widths that they looked at.
    nodes: u64,
    widths: u64,
    /// Most items that were placed at once.
    depth: usize,
}

/// The tasks of a round, which several threads share.
struct Round<'t> {
    tasks: &'t [Task],
    budget: &'t Budget<'t>,
    /// The number of the first task that no thread has taken.
    next: AtomicUsize,
    /// The lowest number of a task that has succeeded; `usize::MAX` as long as there is none.
    solved: AtomicUsize,
}

impl Round<'_> {
    /// What one thread does: it runs the next task that no thread has taken, again and again, until there is none
    /// left or a task with a lower number has succeeded. Returns its results with the numbers of the tasks.
    fn work<H: Height>(&self, search: &mut Exact<'_, H>) -> Vec<(usize, Attempt)> {
        let mut done = Vec::new();
        loop {
            // A thread that takes a number has that task to itself: no other thread gets the same number.
            let number = self.next.fetch_add(1, Relaxed);
            let Some(task) = self.tasks.get(number).filter(|_| number < self.solved.load(Relaxed)) else { return done };
            // The search adds up its nodes and the widths that they look at over all its runs. What this run adds is
            // the difference. (`deepest` starts at 0 in each run.)
            let (widths, nodes) = (search.looked_at(), search.nodes);
            let order = (task.genes.order, &*task.genes.noise);
            let verdict = search.run(task.target, order, task.rules, task.limit, &|| self.is_pointless(number));
            if verdict == Verdict::Solved {
                self.solved.fetch_min(number, Relaxed);
            }
            let offsets = if verdict == Verdict::Solved { search.offsets() } else { Vec::new() };
            let (widths, nodes) = (search.looked_at() - widths, search.nodes - nodes);
            done.push((number, Attempt { verdict, offsets, widths, nodes, depth: search.deepest }));
        }
    }

    /// Whether a task with a lower number has succeeded, or the time is over.
    fn is_pointless(&self, number: usize) -> bool {
        self.solved.load(Relaxed) < number || self.budget.is_late()
    }
}

/// Improves a standing until it is settled or the budget is used up. Returns the limit that was met; `None` if the
/// standing is settled. The search counts granules in the smallest type that has room for them, because that is faster.
pub(crate) fn descend(instance: &Instance, standing: &mut Standing, seed: u64, budget: &mut Budget) -> Option<Stop> {
    // No search here is asked for a larger extent than this. (`None` is less than any capacity or extent.)
    let highest = standing.capacity.max(standing.upper).unwrap_or(standing.lower);
    if instance.has_room(i16::ROOM, highest) {
        Descent::<i16>::new(instance, budget.threads, seed).run(standing, budget)
    } else if instance.has_room(i32::ROOM, highest) {
        Descent::<i32>::new(instance, budget.threads, seed).run(standing, budget)
    } else {
        Descent::<i64>::new(instance, budget.threads, seed).run(standing, budget)
    }
}

/// The rounds of one call of [`descend`].
struct Descent<'a, H> {
    instance: &'a Instance,
    /// One per thread.
    searches: Vec<Exact<'a, H>>,
    /// The orders that climb: a group for each target that is asked for side by side, the lowest target first.
    rungs: [Climbers; ATTEMPTS as usize],
    seed: u64,
    /// How many bytes below the best extent the highest target is; 0 before the first round.
    step: u64,
    /// Rounds since the last success.
    failures: u64,
    /// Widths that the budget has not been charged for yet: less than one unit of work.
    debt: u64,
}

impl<'a, H: Height> Descent<'a, H> {
    /// A descent with one exact search for each thread.
    fn new(instance: &'a Instance, threads: usize, seed: u64) -> Self {
        let threads = threads.min(ATTEMPTS as usize);
        Descent {
            instance,
            searches: (0..threads).map(|_| Exact::new(instance)).collect(),
            rungs: std::array::from_fn(|_| Climbers::new(instance.items.len())),
            seed,
            step: 0,
            failures: 0,
            debt: 0,
        }
    }

    /// Runs rounds until the standing is settled (`None`) or the budget ends. If a round succeeds and the round before
    /// it succeeded, too, the step down is doubled; after [`ROUNDS_PER_STEP`] failures it is halved
    /// ([`Descent::adapt_step`]).
    fn run(&mut self, standing: &mut Standing, budget: &mut Budget) -> Option<Stop> {
        for round in 0.. {
            if standing.is_settled() {
                return None;
            }
            if let Some(stop) = budget.stop() {
                return Some(stop);
            }
            self.adapt_step(standing);
            let tasks = self.tasks(standing, round, budget.work_left());
            let attempts = self.attempt(&tasks, budget);
            let improved = self.conclude(standing, &tasks, attempts, budget);
            // The round before succeeded, too, so larger steps seem possible.
            if improved && self.failures == 0 {
                self.step = self.step.saturating_mul(2);
            }
            self.failures = if improved { 0 } else { self.failures + 1 };
            budget.report(standing.upper, standing.lower);
        }
        None
    }

    /// Takes the work of an attempt off the budget. An attempt that is over before its first node has looked at all
    /// items once and counts as the root, and as a whole unit at least: what surrounds an attempt takes time, too, and
    /// there may be millions of such rounds, because each of them may ask for one byte more.
    fn pay(&mut self, attempt: &Attempt, budget: &mut Budget) {
        let least = if attempt.nodes == 0 { WIDTHS_PER_UNIT } else { 0 };
        let widths = attempt.widths.max(self.instance.node_widths()).max(least);
        self.debt += widths;
        budget.spend(self.debt / WIDTHS_PER_UNIT);
        self.debt %= WIDTHS_PER_UNIT;
    }

    /// Sets the step down for the next round. It begins with an eighth of the gap, is halved each time that some rounds
    /// have failed, and never is more than a quarter of the gap, which has become smaller since the last success.
    fn adapt_step(&mut self, standing: &Standing) {
        let Some(upper) = standing.upper else { return };
        let quarter = upper.0.saturating_sub(standing.lower.0) / 4;
        let step = match self.step {
            0 => quarter / 2,
            step if self.failures > 0 && self.failures.is_multiple_of(ROUNDS_PER_STEP) => step / 2,
            step => step,
        };
        // Extents are multiples of the granule (apart from the topmost piece's tail), so every step below a granule
        // asks for the next smaller extent, as a step of 1 byte does.
        self.step = if step < self.instance.granule { 1 } else { step.min(quarter) }.max(1);
    }

    /// The tasks of a round. `work_left` is what the budget still pays for.
    fn tasks(&self, standing: &Standing, round: u64, work_left: u64) -> Vec<Task> {
        let asked = Asked::of(standing, self.step);
        let tasks = (0..ATTEMPTS).map(|number| self.task(&asked, round, number, work_left));
        // With plain orders, tasks 2 and 3 have the orders of tasks 0 and 1 and other targets. If there is only one
        // target, they would repeat the same searches.
        if self.instance.items.len() <= FEW_PIECES || round < PLAIN_ROUNDS {
            return tasks.take(if asked.is_decision() { 2 } else { ATTEMPTS as usize }).collect();
        }
        tasks.collect()
    }

    /// The `number`-th task of a round. With few exceptions, lower targets have lower numbers.
    ///
    /// `work_left` is what the budget still has.
    fn task(&self, asked: &Asked, round: u64, number: u64, work_left: u64) -> Task {
        let count = self.instance.items.len();
        let mut random = Random::new(mix(self.seed, round * ATTEMPTS + number));
        // Nodes for one dive: a node for each item, and twice as many again for going back. The 50 are for tiny
        // instances.
        let dive = 3 * count as u64 + 50;
        // Small instances may spend all that is left on one task, because they are settled by one search that ends. All
        // others divide it.
        let share = if count <= FEW_PIECES { work_left } else { work_left / ATTEMPTS + 1 };
        let limit = |nodes: u64| Limit { nodes, widths: share.saturating_mul(WIDTHS_PER_UNIT) };
        // The first rounds go through the plain orders, two in each round: the even tasks have one, the odd tasks the
        // other. Tasks 0 and 1 ask for the lowest target, task 2 for the one half way and task 3 for the highest. Small
        // instances stay with this, with random orders after the plain ones; each round doubles the nodes, so that
        // one of them ends with a plan or a proof.
        if count <= FEW_PIECES || round < PLAIN_ROUNDS {
            let plain = PLAIN_ORDERS.get(2 * round as usize + number as usize % 2).copied().map(Genes::plain);
            let nodes = FIRST_ROUND_NODES.max(dive);
            let nodes = if count <= FEW_PIECES { nodes << round.min(20) } else { nodes };
            let target = if number < 2 { asked.lowest } else { asked.between(4 * (number - 1)) };
            let genes = plain.unwrap_or_else(|| Genes::newborn(count, &mut random));
            return Task { target, genes, rules: Rules::PROOF, limit: limit(nodes), turn: None };
        }
        // How many times as many nodes as a dive the proof may take. In every fourth round, in which there is one,
        // that is 1, 2, 1, 4, 1, 2, 1, 8, and so on: mostly little, now and then much.
        let ruler = 1 << (round / 4).trailing_zeros().min(3);
        // Most tasks climb. One in sixteen is a new order, for a target that moves from the bound up to six eighths
        // of the gap and begins again. One in sixteen is a search without focus just below the best plan, which may
        // prove that there is no smaller one.
        let (target, rules, nodes) = match (number, round % 4) {
            (0, 0) => (asked.between(round / 4 % 7), Rules::HUNT, dive),
            (3, 2) => (asked.between(8), Rules::PROOF, dive * ruler),
            _ => return self.climb(asked, round, number, limit(dive), &mut random),
        };
        Task { target, genes: Genes::newborn(count, &mut random), rules, limit: limit(nodes), turn: None }
    }

    /// A task that climbs: its order is a child of the climbers of its rung. If there is only one target, all tasks of
    /// the round belong to the first rung and have turns one after the other.
    fn climb(&self, asked: &Asked, round: u64, number: u64, limit: Limit, random: &mut Random) -> Task {
        let (target, turn) = if asked.is_decision() {
            (asked.next, Turn { rung: 0, number: round * ATTEMPTS + number })
        } else {
            (asked.rung(number), Turn { rung: number as usize, number: round })
        };
        let genes = self.rungs[turn.rung].child(turn.number, random);
        Task { target, genes, rules: Rules::HUNT, limit, turn: Some(turn) }
    }

    /// Runs the tasks, on as many threads as there are searches. Returns the results in the order of the tasks, up to
    /// the first success.
    fn attempt(&mut self, tasks: &[Task], budget: &Budget) -> Vec<Attempt> {
        let round = Round { tasks, budget, next: AtomicUsize::new(0), solved: AtomicUsize::new(usize::MAX) };
        let mut done: Vec<(usize, Attempt)> = match self.searches.as_mut_slice() {
            [search] => round.work(search),
            searches => std::thread::scope(|scope| {
                let handles: Vec<_> = searches.iter_mut().map(|search| scope.spawn(|| round.work(search))).collect();
                handles
                    .into_iter()
                    .flat_map(|handle| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                    .collect()
            }),
        };
        // Tasks above the lowest success may or may not have been run, by the number of threads. They are dropped, so
        // that the result is the same for any number.
        done.sort_by_key(|(number, _)| *number);
        let first_solved = round.solved.into_inner();
        done.into_iter().filter(|(number, _)| *number <= first_solved).map(|(_, attempt)| attempt).collect()
    }

    /// Takes in the results of a round: plans lower the upper limit, refutations raise the lower bound. Says whether a
    /// better plan was found.
    fn conclude(
        &mut self,
        standing: &mut Standing,
        tasks: &[Task],
        attempts: Vec<Attempt>,
        budget: &mut Budget,
    ) -> bool {
        let mut improved = false;
        for (task, attempt) in tasks.iter().zip(attempts) {
            self.pay(&attempt, budget);
            // Climbers are told how far their child came: to the end if it found a plan.
            if let Some(turn) = task.turn {
                let is_solved = attempt.verdict == Verdict::Solved;
                let depth = if is_solved { self.instance.items.len() } else { attempt.depth };
                self.rungs[turn.rung].judge(turn.number, &task.genes, task.target, depth);
            }
            match attempt.verdict {
                Verdict::Solved => {
                    let extent = self.instance.extent(&attempt.offsets);
                    if standing.upper.is_none_or(|upper| extent < upper) {
                        standing.upper = Some(extent);
                        standing.offsets = Some(attempt.offsets);
                        improved = true;
                    }
                }
                // There is no plan within the target, so every plan needs at least the next larger possible extent.
                Verdict::Refuted => {
                    standing.lower = standing.lower.max(self.instance.next_extent(task.target));
                    debug_assert!(
                        standing.upper.is_none_or(|upper| standing.lower <= upper),
                        "nothing below {} was refuted, yet there is a plan of {:?}",
                        standing.lower,
                        standing.upper
                    );
                }
                // The attempt ended without an answer: nothing is known about its target.
                Verdict::Open => {}
            }
        }
        improved
    }
}

/// The extents between which the targets of a round lie.
struct Asked {
    /// The lower bound, or the capacity if there is one.
    lowest: Bytes,
    /// One step below the best plan.
    next: Bytes,
    /// One byte below the best plan.
    highest: Bytes,
}

impl Asked {
    /// With a capacity, only a plan within it is asked for, and all three extents are the capacity. Without one they
    /// lie between the lower bound and one byte below the best plan; if there is no plan, all three are the lower
    /// bound.
    fn of(standing: &Standing, step: u64) -> Asked {
        match standing.upper.filter(|_| standing.capacity.is_none()) {
            Some(upper) => {
                let highest = Bytes(upper.0.saturating_sub(1)).max(standing.lower);
                let next = Bytes(upper.0.saturating_sub(step)).max(standing.lower);
                Asked { lowest: standing.lower, next, highest }
            }
            None => {
                let capacity = standing.capacity.unwrap_or(standing.lower);
                Asked { lowest: capacity, next: capacity, highest: capacity }
            }
        }
    }

    /// Whether there is only one target, so that a round just asks whether there is a plan within it.
    fn is_decision(&self) -> bool {
        self.lowest == self.highest
    }

    /// The target of a rung, at most `next`, one step below the best plan: the lower bound, two eighths of the gap
    /// above it, five eighths, and `next` itself.
    fn rung(&self, number: u64) -> Bytes {
        match number {
            0 => self.lowest,
            1 => self.between(2).min(self.next),
            2 => self.between(5).min(self.next),
            _ => self.next,
        }
    }

    /// The extent `eighths` eighths of the way from the lowest to the highest target. The gap is divided by 8 first,
    /// and its remainder is treated separately, so that the product cannot overflow.
    fn between(&self, eighths: u64) -> Bytes {
        let gap = self.highest.0 - self.lowest.0;
        Bytes(self.lowest.0 + gap / 8 * eighths + gap % 8 * eighths / 8)
    }
}

/// A seed for each task of each round.
fn mix(seed: u64, number: u64) -> u64 {
    seed ^ number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;
    use crate::search::budget::Clock;
    use crate::search::instance::{Slab, Stretch};
    use crate::{Observer, Request};

    /// Counts rounds, each of which ends with a report.
    #[derive(Default)]
    struct Rounds(AtomicU64);

    impl Observer for Rounds {
        fn progress(&self, _: Option<Bytes>, _: Bytes) {
            self.0.fetch_add(1, Relaxed);
        }

        fn should_stop(&self) -> bool {
            self.0.load(Relaxed) > 10_000
        }
    }

    /// Two slabs with the same fixed bytes: every attempt is over before its first node, and without a capacity each
    /// round asks for a larger extent.
    #[test]
    fn rounds_without_nodes_use_up_the_budget() {
        let slab =
            Slab { stretches: vec![Stretch { start: 0, end: 1, height: 1 }], size: 1, alignment: 1, fixed: Some(4) };
        let instance = Instance::new(&[slab.clone(), slab], &[]).unwrap();
        let rounds = Rounds::default();
        let request = Request { threads: Some(1), observer: Some(&rounds), ..Request::default() };
        let mut budget = Budget::new(&request, 1_000, Clock::start(&request));
        let mut standing = Standing { lower: instance.lower_bound(), upper: None, offsets: None, capacity: None };
        assert_eq!(descend(&instance, &mut standing, 0, &mut budget), Some(Stop::WorkLimit));
        assert!(rounds.0.into_inner() <= 1_000);
    }
}
