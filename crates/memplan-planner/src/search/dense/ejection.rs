//! Lowers a plan below a goal, by ejection chains.
//!
//! Rectangles (pieces) that end above the goal are taken out and wait in a queue, the heaviest first. One after the
//! other is put where there is room below the goal, or else where the rectangles in its way weigh least; these are
//! *ejected* and wait in turn. A rectangle's weight says how hard it is to place:
//!
//! ```text
//!      goal ─────────────────       ─────────────────       ─────────────────
//!            ......ccc.......        ......ccc.......        ......ccc...dd..
//!            aaaa..ccc.......        aaaaxxxxx.......        aaaaxxxxx...dd..
//!            aaaa..dd...bbbb.        aaaaxxxxx..bbbb.        aaaaxxxxx..bbbb.
//!
//!            x (queue) finds no      d is lightest:          d finds room
//!            gap as long as it       x takes its place       elsewhere
//! ```
//!
//! Mostly the ejected rectangles are lighter than the one that ejects them, so trouble moves to smaller and smaller
//! rectangles, for which there is room somewhere. It also moves from the most crowded stretches of time to others,
//! because a rectangle that is never alive near the peak weighs little, however large it is. Two rectangles might eject
//! each other for ever. So a rectangle that finds no room becomes dearer to eject. After a while, cheaper rectangles
//! are ejected in its place, and the chain moves on to other stretches of time.
//!
//! If a goal is out of reach, the queue gets no lighter. Then the goal is raised by a fifth of its *slack*, which is
//! its distance to the bound, and the chain goes on with the present board. By then nearly all rectangles lie below the
//! old goal, and only the crowded stretches of time use the new room. That gives smaller plans, and sooner, than
//! starting with a high goal and lowering it.
//!
//! Small rectangles, half of all where sizes are spread over magnitudes, add little to the load and much to the work.
//! They wait until all others have found their place below a somewhat lower ceiling. The *strip* between that ceiling
//! and the goal is left for small rectangles, and nearly all of them fit at once.
//!
//! A [`Board`] knows which rectangle lies where. Rectangles are named by their *ranks*, and addresses, sizes and
//! extents are counted in the board's units.

use std::collections::BinaryHeap;

use super::super::random::Random;
use super::board::Board;
use crate::tuning::{EJECTIONS_PER_GLANCE, GOAL_RAISE, LEAST_GAIN, QUEUE_PROGRESS, SMALL_STRIP};

/// The goal of an attempt, in units of addresses.
#[derive(Clone, Copy, Debug)]
struct Goal {
    /// All rectangles end here or below.
    extent: u32,
    /// All rectangles that are not small end here or below.
    ceiling: u32,
    /// A rectangle below this size is small.
    small: u32,
}

impl Goal {
    /// The highest address at which a rectangle of this size may end.
    fn ceiling(&self, size: u32) -> u32 {
        if size < self.small { self.extent } else { self.ceiling }
    }
}

/// How an attempt goes about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    /// How far above the bound the goal is at first.
    pub(super) slack: u32,
    /// The length of a period, in work ([`Board::work`]): after each period without success the goal is raised.
    pub(super) period: u64,
    /// The attempt ends when it has done this much work ([`Board::work`]).
    pub(super) work_limit: u64,
    pub(super) seed: u64,
}

/// Whether the queue gets lighter, asked at the end of each period of some work.
///
/// The number of rectangles in the queue would be the wrong measure: the heaviest have their turn first, and each may
/// eject a dozen small ones, which are no trouble. So a queue that makes good progress gets longer and longer until
/// only small rectangles wait.
struct Check {
    /// The period ends when the board has done this much work.
    work: u64,
    /// The least weight that has waited at any time in this period.
    least: u64,
    /// The same for the period before; `u64::MAX` in the first one, which then counts as progress.
    before: u64,
}

impl Check {
    fn new(work: u64, before: u64) -> Check {
        Check { work, least: u64::MAX, before }
    }

    /// Whether the least weight is hardly below that of the period before.
    fn is_stuck(&self) -> bool {
        self.least > self.before - self.before / QUEUE_PROGRESS
    }
}

/// The rectangles that wait for a place. Those that are not small come first, and among these the heaviest.
#[derive(Default)]
struct Queue {
    /// Whether a rectangle is not small, its weight, and its rank; the largest of these comes first.
    waiting: BinaryHeap<(bool, u32, u32)>,
    /// The weight of all waiting rectangles together. Below 2^63: each has hardly more than 2^30, and ranks are
    /// below 2^32.
    weight: u64,
}

impl Queue {
    fn push(&mut self, is_small: bool, weight: u32, rank: u32) {
        self.waiting.push((!is_small, weight, rank));
        self.weight += u64::from(weight);
    }

    fn pop(&mut self) -> Option<usize> {
        let (_, weight, rank) = self.waiting.pop()?;
        self.weight -= u64::from(weight);
        Some(rank as usize)
    }
}

/// One attempt to get everything below a goal. See the module documentation.
pub(super) struct Attempt<'b, 'a> {
    board: &'b mut Board<'a>,
    /// The lower bound.
    lower: u32,
    /// The extent of the best plan: a goal that is not below this is of no use.
    known: u32,
    manner: Manner,
    /// How far the present goal is above the bound.
    slack: u32,
    goal: Goal,
    random: Random,
    /// Asked now and then: whether to give up.
    is_over: &'b (dyn Fn() -> bool + Sync),
}

impl<'b, 'a> Attempt<'b, 'a> {
    /// An attempt on a board on which all rectangles are placed, between a lower bound and the extent of the best plan.
    pub(super) fn new(
        board: &'b mut Board<'a>,
        (lower, known): (u32, u32),
        manner: Manner,
        is_over: &'b (dyn Fn() -> bool + Sync),
    ) -> Attempt<'b, 'a> {
        let goal = Goal { extent: lower, ceiling: lower, small: 1 };
        let random = Random::new(manner.seed);
        let mut attempt = Attempt { board, lower, known, manner, slack: manner.slack, goal, random, is_over };
        attempt.aim();
        attempt
    }

    /// Sets the goal by the slack. A part of the slack is the strip for small rectangles, and the narrower the strip,
    /// the fewer rectangles count as small.
    fn aim(&mut self) {
        let extent = self.lower.saturating_add(self.slack);
        let strip = self.slack / SMALL_STRIP;
        let small = self.board.rectangles.small_for(strip);
        self.goal = Goal { extent, ceiling: extent.saturating_sub(strip), small };
    }

    /// Takes out all rectangles that end above the goal and finds other places for them. Returns whether all rectangles
    /// are placed below the known extent in the end; if not, some have no place, and the board is of no use any more.
    pub(super) fn lower(&mut self) -> bool {
        let mut queue = Queue::default();
        for rank in 0..self.board.rectangles.len() {
            // A pinned rectangle stays where it is, wherever it ends.
            let is_high = self.board.end(rank) > self.goal.ceiling(self.board.rectangles.sizes[rank]);
            if is_high && !self.board.rectangles.is_pinned[rank] {
                self.board.take(rank);
                self.wait(&mut queue, rank as u32);
            }
        }
        self.settle(queue)
    }

    /// Puts a rectangle into the queue.
    fn wait(&self, queue: &mut Queue, rank: u32) {
        let rectangles = self.board.rectangles;
        let is_small = rectangles.sizes[rank as usize] < self.goal.small;
        queue.push(is_small, rectangles.weights[rank as usize], rank);
    }

    /// Finds a place for all rectangles that wait, and for those that are ejected on the way. `false` if the time is
    /// over, if pinned rectangles (with fixed addresses) leave no place, or if [`Attempt::finish`] fails after the work
    /// limit was met or the goal was raised to the known extent.
    fn settle(&mut self, mut queue: Queue) -> bool {
        let mut ejected = Vec::new();
        let mut turns = 0u32;
        let mut check = Check::new(self.board.work + self.manner.period, u64::MAX);
        // Each turn places one rectangle and may put others into the queue. Without a limit this might go on for
        // ever; the work limit ends it.
        while let Some(rank) = queue.pop() {
            turns = turns.wrapping_add(1);
            if turns.is_multiple_of(EJECTIONS_PER_GLANCE) && (self.is_over)() {
                return false;
            }
            if !self.place(rank, &mut ejected) {
                return false;
            }
            ejected.drain(..).for_each(|rank| self.wait(&mut queue, rank));
            if self.board.work > self.manner.work_limit {
                return self.finish(queue);
            }
            check.least = check.least.min(queue.weight);
            // At the end of a period: if the queue has got no lighter, the goal is raised. If that makes it no better
            // than the best plan, the attempt ends.
            if self.board.work >= check.work {
                if check.is_stuck() {
                    queue = self.raise(queue);
                    if self.goal.extent >= self.known {
                        return self.finish(queue);
                    }
                }
                check = Check::new(self.board.work + self.manner.period, check.least);
            }
        }
        true
    }

    /// The goal was not reached, and some rectangles still wait. Places them below the known extent, if there is room
    /// without ejecting others. Nearly everything lies below the goal by now, so mostly there is room, and the result
    /// is a better plan from which the next attempt starts.
    fn finish(&mut self, mut queue: Queue) -> bool {
        // The result has to be better than the best plan by a part of its slack, or at least by one unit.
        let slack = self.known.saturating_sub(self.lower);
        let ceiling = self.known.saturating_sub((slack / LEAST_GAIN).max(1));
        while let Some(rank) = queue.pop() {
            match self.board.room(rank, ceiling) {
                Some(address) => self.board.put(rank, address),
                None => return false,
            }
        }
        true
    }

    /// Places one rectangle. If there is no room, others are ejected and listed in `ejected`. `false` if pinned
    /// rectangles leave no place.
    fn place(&mut self, rank: usize, ejected: &mut Vec<u32>) -> bool {
        let ceiling = self.goal.ceiling(self.board.rectangles.sizes[rank]);
        match self.board.room(rank, ceiling) {
            Some(address) => self.board.put(rank, address),
            None => return self.board.make_room(rank, ceiling, &mut self.random, ejected),
        }
        true
    }

    /// Raises the goal. More of the waiting rectangles may count as small now, so they are sorted again.
    fn raise(&mut self, queue: Queue) -> Queue {
        self.slack += self.slack / GOAL_RAISE + 1;
        self.aim();
        let mut sorted = Queue::default();
        // `wait` asks again whether each rectangle is small, now that the goal has changed.
        queue.waiting.into_vec().into_iter().for_each(|(_, _, rank)| self.wait(&mut sorted, rank));
        sorted
    }
}
