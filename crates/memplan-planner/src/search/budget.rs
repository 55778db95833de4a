//! How much a search may still do.
//!
//! A budget counts *work*, not time, so that the same plan comes out on a busy and on an idle machine, with one thread
//! and with many. A unit of work is about 4 µs of an ordinary core. What costs how much:
//!
//! ```text
//!   a placement            1/10 + obstacles / 160      obstacles: pieces in its way, as counted in the first pass
//!   a node of `exact`      looked at / 16384           the sections of the items of its part, and what takes as long
//!   a node of `general`    looked at / 400             inequalities, choices and jobs of cliques
//! ```
//!
//! `cargo run --release -p memplan-planner --example unit_cost` prints what a unit takes in each stage, on problems of
//! every kind.
//!
//! A [`Clock`] beside it is a cap on time: long-running code asks it now and then. The clock remembers whether it has
//! ever answered that time is over. If it has not, time has had no influence on the result.
//!
//! A [`Request`] is what the caller asked for: limits on work and time, a seed, a number of threads. An [`Observer`] is
//! the caller's: it is told about progress and may end the search. `patience` is asked whether the caller still waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use memplan_core::patience::{self, Patience};
use memplan_core::{Bytes, Stop};

use super::schedule::StageReport;
use crate::tuning::{OBSTACLES_PER_UNIT, PLACEMENT};
use crate::{Observer, Request};

/// A deadline, and whether it has cut anything short.
#[derive(Debug)]
pub(crate) struct Clock {
    /// `None` if there is no limit on time.
    deadline: Option<Instant>,
    /// Whether [`Clock::is_over`] has ever answered `true`.
    cut_in: AtomicBool,
}

impl Clock {
    /// Starts the clock of a request. The deadline is the request's time limit from now, or the deadline of the
    /// caller's [`Patience`] if that comes first.
    pub(crate) fn start(request: &Request) -> Arc<Clock> {
        // A time limit so long that the clock cannot express its end counts as none.
        let own = request.time_limit.and_then(|limit| Instant::now().checked_add(limit));
        let callers = Patience::current().and_then(|patience| patience.deadline());
        let deadline = own.into_iter().chain(callers).min();
        Arc::new(Clock { deadline, cut_in: AtomicBool::new(false) })
    }

    /// Asks the time.
    pub(crate) fn is_over(&self) -> bool {
        let is_over = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if is_over {
            self.cut_in.store(true, Relaxed);
        }
        is_over
    }

    /// Whether [`Clock::is_over`] has ever answered `true`.
    pub(crate) fn has_cut_in(&self) -> bool {
        self.cut_in.load(Relaxed)
    }
}

/// What a pass over pieces costs, as counted in the first pass: `placements` placements took `units` units of work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PassCost {
    placements: u64,
    units: u64,
}

impl PassCost {
    /// The cost of a pass in which `placements` pieces were placed and looked at `obstacles` obstacles together.
    pub(crate) fn counted(placements: u64, obstacles: u64) -> PassCost {
        // A placement itself counts as much as looking at `PLACEMENT` obstacles.
        let units = placements.saturating_mul(PLACEMENT).saturating_add(obstacles) / OBSTACLES_PER_UNIT;
        PassCost { placements: placements.max(1), units }
    }

    /// The work of `placements` placements of the same problem, at least one unit. (If a pass cost nothing, a loop of
    /// passes would never use up its budget.)
    pub(crate) fn of(self, placements: u64) -> u64 {
        let units = u128::from(placements) * u128::from(self.units) / u128::from(self.placements);
        u64::try_from(units).unwrap_or(u64::MAX).max(1)
    }
}

/// Work, time and patience left.
pub(crate) struct Budget<'a> {
    /// Units of work at the beginning, and those spent since then.
    work: u64,
    spent: u64,
    clock: Arc<Clock>,
    observer: Option<&'a dyn Observer>,
    /// Whether nothing is reported to the observer: the budget is for a part of the problem, whose extents are not
    /// those of the whole problem.
    is_quiet: bool,
    /// Becomes `true` if the caller, on another thread, wants the search to end.
    cancel: Option<Arc<AtomicBool>>,
    /// On how many threads the search may work. The plan is the same for any number.
    pub(crate) threads: usize,
}

impl<'a> Budget<'a> {
    /// So much work, within the other limits of a request.
    pub(crate) fn new(request: &Request<'a>, work: u64, clock: Arc<Clock>) -> Budget<'a> {
        Budget {
            work,
            spent: 0,
            clock,
            observer: request.observer,
            is_quiet: false,
            cancel: request.cancel.clone(),
            threads: request.threads(),
        }
    }

    /// The limits of a request, from now on.
    #[cfg(test)]
    pub(crate) fn of(request: &Request<'a>) -> Budget<'a> {
        Budget::new(request, request.work(), Clock::start(request))
    }

    /// Whether the time is over or the caller no longer waits. Asked often, also from other threads.
    pub(crate) fn is_late(&self) -> bool {
        self.clock.is_over() || self.is_cancelled()
    }

    /// The time until the deadline; `None` if there is none.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        self.clock.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Whether the clock has cut anything short.
    pub(crate) fn has_been_late(&self) -> bool {
        self.clock.has_cut_in()
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(|cancel| cancel.load(Relaxed))
            || self.observer.is_some_and(|observer| observer.should_stop())
            || patience::is_over()
    }

    /// The limit that has been met; `None` if the work may go on.
    pub(crate) fn stop(&self) -> Option<Stop> {
        if self.is_cancelled() {
            Some(Stop::Interrupted)
        } else if self.clock.is_over() {
            Some(Stop::TimeLimit)
        } else {
            (self.work_left() == 0).then_some(Stop::WorkLimit)
        }
    }

    /// Units of work that may still be spent. 0 if more was spent than there was, which happens because some things
    /// cannot be stopped half way.
    pub(crate) fn work_left(&self) -> u64 {
        self.work.saturating_sub(self.spent)
    }

    /// Whether there is enough left for something that cannot be stopped half way.
    pub(crate) fn affords(&self, work: u64) -> bool {
        work <= self.work_left()
    }

    /// Counts work as done.
    pub(crate) fn spend(&mut self, work: u64) {
        self.spent = self.spent.saturating_add(work);
    }

    /// The work that was done with this budget.
    pub(crate) fn spent(&self) -> u64 {
        self.spent
    }

    /// Tells the observer, if there is one, the extent of the best plan so far and the lower bound.
    pub(crate) fn report(&self, best: Option<Bytes>, lower_bound: Bytes) {
        if let Some(observer) = self.observer.filter(|_| !self.is_quiet) {
            observer.progress(best, lower_bound);
        }
    }

    /// Says what a stage has achieved.
    pub(crate) fn tell(&self, report: &StageReport) {
        if let Some(observer) = self.observer.filter(|_| !self.is_quiet) {
            observer.stage(report);
        }
    }

    /// A budget for one of `parts` equal parts of what is left.
    pub(crate) fn share(&self, parts: u32) -> Budget<'a> {
        Budget { is_quiet: self.is_quiet, ..self.at_most(self.work_left() / u64::from(parts.max(1))) }
    }

    /// A new budget with as much work as this one had at the beginning. What it spends is not taken off this one.
    pub(crate) fn again(&self) -> Budget<'a> {
        Budget { is_quiet: self.is_quiet, ..self.besides(self.work) }
    }

    /// A quiet budget of at most `work` units, and no more than is left. The caller has to take what it spends off this
    /// one ([`Budget::spend`]).
    pub(crate) fn at_most(&self, work: u64) -> Budget<'a> {
        self.besides(work.min(self.work_left()))
    }

    /// A quiet budget of `work` units, whatever is left. What it spends is not taken off this one.
    pub(crate) fn besides(&self, work: u64) -> Budget<'a> {
        Budget {
            work,
            spent: 0,
            clock: Arc::clone(&self.clock),
            observer: self.observer,
            is_quiet: true,
            cancel: self.cancel.clone(),
            threads: self.threads,
        }
    }
}
