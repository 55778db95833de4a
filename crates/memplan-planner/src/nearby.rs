//! The same placement from another order, in which pieces that follow each other are alive at nearly the same time.
//!
//! Where a piece goes depends only on pieces before it that are alive at the same time. So an order may be changed as
//! long as every two pieces that are alive together stay in order. By size, the pieces of an order are anywhere in
//! time; with a million of them everything that a placement reads is then in far memory. Here time is cut into
//! *periods* about as long as a life. Every period has a queue of the pieces that are alive in it, in the given order.
//! A piece may be taken once it is the first in the queues of all of its periods. The periods are emptied from left to
//! right; where the first piece of a queue has to wait for another queue, the pieces before it are taken there first:
//!
//! ```text
//!   order  a b c d e f             taken for period 0:  a; then d, which has to wait for c and c for b
//!   period 0:  a   d  e            so                   a b c d e
//!   period 1:    c d     f         taken for period 1:  f
//!   period 2:  b c       f         taken for period 2:  nothing is left
//! ```
//!
//! What has to be taken before a piece lies at most a few dozen lives away from it, so the periods that are worked on
//! stay in the processor's cache.
//!
//! If all pieces that live across a cut in time have been taken, what is left of the cut and what is right of it never
//! meet, and two threads can take the rest.

use crate::heap::Gathering;
use crate::piece::{PieceId, Pieces};
use crate::tuning::PERIOD_RECTANGLES;

/// Orders in which pieces are placed: first those that are needed on both sides of a cut in time, then the left and the
/// right side, which do not meet any more.
pub(crate) struct Nearby {
    pub(crate) first: Vec<PieceId>,
    pub(crate) left: Vec<PieceId>,
    pub(crate) right: Vec<PieceId>,
}

impl Nearby {
    /// Changes an order of plain pieces ([`Pieces::is_plain`]), which have one rectangle at most. The cut is at the
    /// start of the period that has the time `cut`. With two threads both sides are ordered at once.
    pub(crate) fn of(pieces: &Pieces, order: &[PieceId], cut: u32, threads: usize) -> Nearby {
        let queues = Queues::new(pieces, order);
        let mut next: Vec<u32> = queues.starts[..queues.starts.len() - 1].to_vec();
        let cut = (cut >> queues.length_log) as usize;
        let mut whole = Part::new(&queues, 0, &mut next);
        // As long as all placed pieces are alive at one moment, a placement may look at fewer obstacles. The sum of the
        // obstacles is not to depend on the order, so these pieces stay first, as they are.
        let mut first: Vec<PieceId> = order[..gathered(pieces, order)].to_vec();
        first.iter().for_each(|&piece| whole.skip(queues.periods(pieces, piece)));
        // What lives across the cut, and all that has to come before it.
        while whole.rest(cut).iter().any(|waiting| (waiting.first as usize) < cut) {
            whole.take(cut, &mut |waiting| first.push(order[waiting.number as usize]));
        }
        let (left, right) = next.split_at_mut(cut);
        let all = |mut part: Part| {
            let mut list = Vec::new();
            part.take_all(&mut |waiting| list.push(order[waiting.number as usize]));
            list
        };
        let [left, right] = [Part::new(&queues, 0, left), Part::new(&queues, cut, right)];
        let (mut left, right) = if threads > 1 {
            std::thread::scope(|scope| {
                let right = scope.spawn(|| all(right));
                (all(left), right.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            })
        } else {
            (all(left), all(right))
        };
        // Pieces that are never alive meet nobody.
        left.extend(order[first.len().min(order.len())..].iter().filter(|&&piece| pieces.rects(piece).is_empty()));
        Nearby { first, left, right }
    }
}

/// How many pieces of an order have a moment at which all of them are alive, and one more.
fn gathered(pieces: &Pieces, order: &[PieceId]) -> usize {
    let mut lives = Some(Gathering::empty());
    let is_over = |&piece: &PieceId| {
        // Pieces without bytes are in nobody's way and do not count.
        if let Some(rect) = pieces.rects(piece).first().filter(|rect| rect.low < rect.high) {
            lives = lives.and_then(|lives| lives.with(rect.start.into(), rect.end.into()));
        }
        lives.is_none()
    };
    order.iter().position(is_over).map_or(order.len(), |last| last + 1)
}

/// A piece in a queue: its number in the given order, and its first and last period.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    number: u32,
    first: u32,
    last: u32,
}

/// The queues of all periods. See the module documentation.
struct Queues {
    /// A period is two to the power of this long.
    length_log: u32,
    /// By period: where its queue starts in `waiting`; and one entry more.
    starts: Vec<u32>,
    /// All queues, one after the other.
    waiting: Vec<Waiting>,
}

impl Queues {
    /// The queues of all pieces that are ever alive, in an order.
    fn new(pieces: &Pieces, order: &[PieceId]) -> Queues {
        let lives = || order.iter().filter_map(|&piece| pieces.rects(piece).first());
        let total = lives().map(|rect| u64::from(rect.end - rect.start)).sum();
        let length_log = period_log(pieces.steps().len(), order.len(), total);
        let mut queues = Queues { length_log, starts: Vec::new(), waiting: Vec::new() };
        // How many pieces are in each queue, two positions later. Summed up, these are the positions at which queues
        // start, one position later; each moves on by one with every piece that is put into its queue, so that it ends
        // up where the next queue starts.
        let mut starts = vec![0; (pieces.steps().len() >> length_log) + 3];
        for piece in pieces.ids() {
            queues.periods(pieces, piece).for_each(|period| starts[period + 2] += 1);
        }
        for period in 1..starts.len() {
            starts[period] += starts[period - 1];
        }
        queues.waiting = vec![Waiting { number: 0, first: 0, last: 0 }; starts[starts.len() - 1] as usize];
        for (number, &piece) in (0u32..).zip(order) {
            let periods = queues.periods(pieces, piece);
            for period in periods.clone() {
                let (first, last) = (periods.start as u32, periods.end as u32 - 1);
                queues.waiting[starts[period + 1] as usize] = Waiting { number, first, last };
                starts[period + 1] += 1;
            }
        }
        starts.pop();
        queues.starts = starts;
        queues
    }

    /// The periods in which a piece is alive; none if it never is.
    fn periods(&self, pieces: &Pieces, piece: PieceId) -> std::ops::Range<usize> {
        let rect = pieces.rects(piece).first();
        rect.map_or(0..0, |rect| periods(self.length_log, rect.start, rect.end))
    }
}

/// The periods in which a stretch of time lies, if a period is two to the power of `length_log` long.
pub(crate) fn periods(length_log: u32, start: u32, end: u32) -> std::ops::Range<usize> {
    debug_assert!(start < end, "a rectangle is alive at some time");
    (start >> length_log) as usize..((end - 1) >> length_log) as usize + 1
}

/// The length of a period, as a power of two, for rectangles that are alive for `total` times together: at least the
/// average life, so that a rectangle is in two periods on average, and so long that [`PERIOD_RECTANGLES`] start in a
/// period.
pub(crate) fn period_log(times: usize, rectangles: usize, total: u64) -> u32 {
    let rectangles = rectangles.max(1) as u64;
    let enough = PERIOD_RECTANGLES * times as u64 / rectangles;
    // Times have 32 bits, so a shift by 32 is not possible. No problem has so many steps.
    (total / rectangles).max(enough).max(1).next_power_of_two().trailing_zeros().min(u32::BITS - 1)
}

/// Some neighbouring periods, and what is left in their queues.
struct Part<'q> {
    queues: &'q Queues,
    /// The first of the periods.
    base: usize,
    /// By period, from `base` on: the position of the first piece of its queue in [`Queues::waiting`].
    next: &'q mut [u32],
    /// Periods whose first piece waits for that of the period that follows in this list.
    blocked: Vec<usize>,
}

impl<'q> Part<'q> {
    fn new(queues: &'q Queues, base: usize, next: &'q mut [u32]) -> Part<'q> {
        Part { queues, base, next, blocked: Vec::new() }
    }

    /// What is left in the queue of a period.
    fn rest(&self, period: usize) -> &'q [Waiting] {
        &self.queues.waiting[self.next[period - self.base] as usize..self.queues.starts[period + 1] as usize]
    }

    /// Takes the first piece of these queues away.
    fn skip(&mut self, periods: std::ops::Range<usize>) {
        periods.for_each(|period| self.next[period - self.base] += 1);
    }

    /// Takes the first piece of a queue, after all that has to come before it.
    fn take(&mut self, period: usize, visit: &mut impl FnMut(Waiting)) {
        self.blocked.push(period);
        while let Some(&period) = self.blocked.last() {
            // The queue is not empty: its first piece stays until this loop takes it, because all pieces that are taken
            // before have lower numbers.
            let waiting = self.rest(period)[0];
            let periods = waiting.first as usize..waiting.last as usize + 1;
            match periods.clone().find(|&other| self.rest(other)[0].number < waiting.number) {
                Some(other) => self.blocked.push(other),
                None => {
                    self.skip(periods);
                    self.blocked.pop();
                    visit(waiting);
                }
            }
        }
    }

    /// Takes everything, from left to right.
    fn take_all(&mut self, visit: &mut impl FnMut(Waiting)) {
        for period in self.base..self.base + self.next.len() {
            while !self.rest(period).is_empty() {
                self.take(period, visit);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::Order;
    use memplan_core::Id;
    use memplan_testkit::instances;

    #[test]
    fn who_is_alive_together_stays_in_order() {
        let problem = instances::random(3000, 20, 5);
        let pieces = Pieces::of(&problem).unwrap();
        let order = Order::Size.of(&pieces);
        for threads in [1, 2] {
            let Nearby { first, left, right } = Nearby::of(&pieces, &order, 1500, threads);
            let meet = |&one: &PieceId, &other: &PieceId| {
                let [one, other] = [one, other].map(|piece| pieces.rects(piece)[0]);
                one.start < other.end && other.start < one.end
            };
            assert!(left.iter().all(|one| !right.iter().any(|other| meet(one, other))), "the sides do not meet");
            let all = [first, left, right].concat();
            let mut number = vec![usize::MAX; pieces.len()];
            order.iter().enumerate().for_each(|(at, piece)| number[piece.index()] = at);
            let mut sorted = all.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(pieces.ids()), "every piece once");
            for (at, one) in all.iter().enumerate() {
                let mut later = all[at..].iter();
                assert!(!later.any(|other| meet(one, other) && number[other.index()] < number[one.index()]));
            }
        }
    }
}
