//! From a plan to better ones, round by round, and from the other side to proofs.
//!
//! Between the extent of the best plan and the lower bound lies the gap. Each
//! round asks for plans at a few extents in it, with a different order and a
//! node limit each:
//!
//! ```text
//!   best  ─┬─  just below: the smallest step, and the proof of optimality
//!          │
//!          ├─  half way
//!          │
//!   bound ─┴─  the bound itself; in later rounds somewhere near it
//! ```
//!
//! The lowest success counts. Asking for the bound at once sounds rash, but how
//! hard an extent is says little about how hard a larger one is: many instances
//! are solved at the bound and nowhere else in reasonable time. A plan that is
//! found at all is mostly found with little backtracking, so limits are small multiples of
//! the number of items and follow the ruler sequence (1 2 1 4 1 2 1 8 …): luck is
//! tried often, depth sometimes.
//!
//! The tasks of a round run in parallel. A success makes those that asked for
//! more pointless; they are ignored even if they ended, so that the result does
//! not depend on the number of threads.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use memplan_core::{Bytes, Stop};

use super::budget::Budget;
use super::exact::{Exact, Rules, Verdict};
use super::instance::Instance;
use super::rank::Order;
use super::state::Height;

/// Instances up to this size are refuted rather than hunted from the start.
const SMALL: usize = 40;
/// Node limit of the first round; later ones start lower and vary.
const FIRST_LIMIT: u64 = 2500;
/// Rounds after which the bound is asked for only now and then.
const HOPEFUL_ROUNDS: u64 = 10;

/// What is known about the extent of an instance.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    /// No plan is smaller.
    pub(crate) lower: Bytes,
    /// Extent of the best plan; none above is of interest.
    pub(crate) upper: Option<Bytes>,
    /// The best plan found here, in granules.
    pub(crate) offsets: Option<Vec<u64>>,
    /// Any plan within this is good enough.
    pub(crate) capacity: Option<Bytes>,
}

impl Standing {
    fn fits(&self) -> bool {
        self.capacity.is_some_and(|capacity| self.upper.is_some_and(|upper| upper <= capacity))
    }

    /// Whether there is nothing left to find out.
    pub(crate) fn is_settled(&self) -> bool {
        self.fits() || self.is_infeasible() || self.upper.is_some_and(|upper| upper <= self.lower)
    }

    /// Whether nothing fits into the capacity.
    pub(crate) fn is_infeasible(&self) -> bool {
        self.capacity.is_some_and(|capacity| self.lower > capacity)
    }
}

/// One attempt.
#[derive(Clone, Copy, Debug)]
struct Task {
    target: Bytes,
    order: Order,
    rules: Rules,
    limit: u64,
}

/// What came of an attempt.
struct Attempt {
    verdict: Verdict,
    offsets: Vec<u64>,
    nodes: u64,
}

/// Improves a standing until it is settled or the budget is used up.
pub(crate) fn descend(instance: &Instance, standing: &mut Standing, seed: u64, budget: &mut Budget) -> Option<Stop> {
    let highest = standing.capacity.max(standing.upper).unwrap_or(standing.lower);
    if instance.is_small(highest) {
        Descent::<i32>::new(instance, budget.threads).run(standing, seed, budget)
    } else {
        Descent::<i64>::new(instance, budget.threads).run(standing, seed, budget)
    }
}

struct Descent<'a, H> {
    instance: &'a Instance,
    /// One per thread.
    searches: Vec<Exact<'a, H>>,
}

impl<'a, H: Height> Descent<'a, H> {
    fn new(instance: &'a Instance, threads: usize) -> Self {
        let threads = threads.min(tasks_per_round());
        Descent { instance, searches: (0..threads).map(|_| Exact::new(instance)).collect() }
    }

    fn run(&mut self, standing: &mut Standing, seed: u64, budget: &mut Budget) -> Option<Stop> {
        for round in 0.. {
            if standing.is_settled() {
                return None;
            }
            if let Some(stop) = budget.stop() {
                return Some(stop);
            }
            let tasks = self.tasks(standing, round, seed, budget.work_left());
            let attempts = self.attempt(&tasks, budget);
            let improved = self.conclude(standing, &tasks, attempts, budget);
            if let Some(offsets) = standing.offsets.as_ref().filter(|_| improved) {
                self.searches.iter_mut().for_each(|search| search.set_guide(offsets));
            }
            budget.report(standing.upper, standing.lower);
        }
        None
    }

    fn tasks(&self, standing: &Standing, round: u64, seed: u64, work_left: u64) -> Vec<Task> {
        let count = self.instance.items.len();
        let small = count <= SMALL;
        // A dive that goes well takes little more than a node per item.
        let dive = 5 * count as u64 / 2 + 50;
        let ruler = 1 << (round / 4 + 1).trailing_zeros().min(3);
        let limit = if round < 3 { FIRST_LIMIT.max(dive) } else { dive * ruler };
        let share = work_left / tasks_per_round() as u64 + 1;
        let limit = limit.min(share);
        let proof_limit = if small { (limit << round.min(20)).min(work_left) } else { limit };
        let orders_per_round = if round < 4 { 2 } else { 4 };
        let task = |number: u64, target: Bytes, is_proof: bool| Task {
            target,
            order: Order::of_round(orders_per_round * round + number, seed),
            rules: if is_proof || small || round.is_multiple_of(2) { Rules::PROOF } else { Rules::HUNT },
            limit: if is_proof || small { proof_limit } else { limit },
        };
        let guided_or_proof = |target: Bytes| {
            let proof = task(3, target, true);
            if round.is_multiple_of(2) { proof } else { Task { order: Order::near_best(round, seed), ..proof } }
        };
        let lower = standing.lower;
        let Some(upper) = standing.upper.filter(|_| standing.capacity.is_none()) else {
            let capacity = standing.capacity.unwrap_or(lower);
            return (0..orders_per_round).map(|number| task(number, capacity, false)).collect();
        };
        let below = Bytes(upper.0.saturating_sub(1));
        let part = |eighths: u64| Bytes(lower.0 + (below.0 - lower.0) / 8 * eighths);
        if round < HOPEFUL_ROUNDS || round.is_multiple_of(8) {
            vec![task(0, lower, false), task(1, lower, false), task(2, part(4), false), task(3, below, true)]
        } else {
            let low = part(1 + round % 7);
            vec![task(0, low, false), task(1, part(6), false), task(2, below, false), guided_or_proof(below)]
        }
    }

    /// Runs the tasks; those after the first success are not looked at.
    fn attempt(&mut self, tasks: &[Task], budget: &Budget) -> Vec<Attempt> {
        let solved = AtomicUsize::new(usize::MAX);
        let next = AtomicUsize::new(0);
        let work = |search: &mut Exact<'a, H>| {
            let mut done = Vec::new();
            loop {
                let number = next.fetch_add(1, Relaxed);
                let Some(task) = tasks.get(number).filter(|_| number < solved.load(Relaxed)) else { return done };
                let before = search.nodes;
                let pointless = || solved.load(Relaxed) < number || budget.is_late();
                let verdict = search.run(task.target, task.order, task.rules, task.limit, &pointless);
                if verdict == Verdict::Solved {
                    solved.fetch_min(number, Relaxed);
                }
                let offsets = if verdict == Verdict::Solved { search.offsets() } else { Vec::new() };
                done.push((number, Attempt { verdict, offsets, nodes: search.nodes - before }));
            }
        };
        let mut done: Vec<(usize, Attempt)> = match self.searches.as_mut_slice() {
            [search] => work(search),
            searches => std::thread::scope(|scope| {
                let handles: Vec<_> = searches.iter_mut().map(|search| scope.spawn(|| work(search))).collect();
                handles.into_iter().flat_map(|handle| handle.join().unwrap_or_default()).collect()
            }),
        };
        done.sort_by_key(|(number, _)| *number);
        let first_solved = solved.into_inner();
        done.into_iter().filter(|(number, _)| *number <= first_solved).map(|(_, attempt)| attempt).collect()
    }

    fn conclude(&self, standing: &mut Standing, tasks: &[Task], attempts: Vec<Attempt>, budget: &mut Budget) -> bool {
        let mut improved = false;
        for (task, attempt) in tasks.iter().zip(attempts) {
            // An attempt that is over before its first node is work, too: rounds
            // of such attempts must come to an end.
            budget.spend(attempt.nodes.max(1));
            match attempt.verdict {
                Verdict::Solved => {
                    let extent = self.instance.extent(&attempt.offsets);
                    if standing.upper.is_none_or(|upper| extent < upper) {
                        standing.upper = Some(extent);
                        standing.offsets = Some(attempt.offsets);
                        improved = true;
                    }
                }
                Verdict::Refuted => standing.lower = standing.lower.max(self.instance.next_extent(task.target)),
                Verdict::Open => {}
            }
        }
        improved
    }
}

fn tasks_per_round() -> usize {
    4
}
