//! How much a search may still do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use memplan_core::{Bytes, Stop};

use crate::{Observer, Request};

/// What a search takes if nobody says how long it may.
pub const DEFAULT_TIME: Duration = Duration::from_secs(1);

/// Time, work and patience left.
pub(crate) struct Budget<'a> {
    deadline: Option<Instant>,
    work: Option<u64>,
    spent: u64,
    observer: Option<&'a dyn Observer>,
    /// Whether nothing is reported: the extents of a part are not those of the whole.
    is_quiet: bool,
    cancel: Option<Arc<AtomicBool>>,
    pub(crate) threads: usize,
}

impl<'a> Budget<'a> {
    /// The limits of a request. Without any, [`DEFAULT_TIME`] counts; under a
    /// work limit alone there is no clock, so that the result is reproducible.
    pub(crate) fn of(request: &Request<'a>, start: Instant) -> Budget<'a> {
        let time = request.time_limit.or(request.work_limit.is_none().then_some(DEFAULT_TIME));
        Budget {
            deadline: time.and_then(|time| start.checked_add(time)),
            work: request.work_limit,
            spent: 0,
            observer: request.observer,
            is_quiet: false,
            cancel: request.cancel.clone(),
            threads: request.threads(),
        }
    }

    /// Time or patience is over: asked often, also from other threads.
    pub(crate) fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline) || self.is_cancelled()
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(|cancel| cancel.load(Relaxed))
            || self.observer.is_some_and(|observer| observer.should_stop())
    }

    /// Why to stop now, if so.
    pub(crate) fn stop(&self) -> Option<Stop> {
        if self.is_cancelled() {
            Some(Stop::Interrupted)
        } else if self.work_left() == 0 {
            Some(Stop::WorkLimit)
        } else {
            self.deadline.is_some_and(|deadline| Instant::now() >= deadline).then_some(Stop::TimeLimit)
        }
    }

    pub(crate) fn work_left(&self) -> u64 {
        self.work.map_or(u64::MAX, |work| work.saturating_sub(self.spent))
    }

    pub(crate) fn spend(&mut self, nodes: u64) {
        self.spent = self.spent.saturating_add(nodes);
    }

    pub(crate) fn report(&self, best: Option<Bytes>, lower_bound: Bytes) {
        if let Some(observer) = self.observer.filter(|_| !self.is_quiet) {
            observer.progress(best, lower_bound);
        }
    }

    /// A budget for one of `parts` equal parts of what is left.
    pub(crate) fn share(&self, parts: u32) -> Budget<'a> {
        let parts = parts.max(1);
        let now = Instant::now();
        let share = |deadline: Instant| now + deadline.saturating_duration_since(now) / parts;
        Budget {
            deadline: self.deadline.map(share),
            work: self.work.map(|_| self.work_left() / u64::from(parts)),
            spent: 0,
            observer: self.observer,
            is_quiet: self.is_quiet,
            cancel: self.cancel.clone(),
            threads: self.threads,
        }
    }

    /// A budget for a part that may take this many nodes of what is left.
    pub(crate) fn at_most(&self, nodes: u64) -> Budget<'a> {
        Budget {
            deadline: self.deadline,
            work: Some(nodes.min(self.work_left())),
            spent: 0,
            observer: self.observer,
            is_quiet: true,
            cancel: self.cancel.clone(),
            threads: self.threads,
        }
    }

    /// A request for a part that may take this many nodes of what is left.
    pub(crate) fn request(&self, nodes: u64) -> Request<'static> {
        Request {
            time_limit: self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())),
            work_limit: Some(nodes.min(self.work_left())),
            threads: Some(self.threads),
            cancel: self.cancel.clone(),
            ..Request::default()
        }
    }

    pub(crate) fn spent(&self) -> u64 {
        self.spent
    }
}
