//! What is asked of a strategy besides the problem.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use memplan_core::Bytes;

use crate::search::StageReport;
use crate::tuning::{NORMAL_WORK, QUICK_WORK, THOROUGH_WORK};

/// What kind of plan is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Assign {
    /// An offset for every buffer.
    #[default]
    Offsets,
    /// Shared objects that buffers use as a whole.
    Objects,
}

impl Assign {
    /// The kind in a user's words.
    pub fn describe(self) -> &'static str {
        match self {
            Assign::Offsets => "offsets",
            Assign::Objects => "shared objects",
        }
    }
}

/// How much to look for something smaller once there is a plan.
///
/// What counts is work, not time: the same effort gives the same plan on any machine, however busy, and with any number
/// of threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Effort {
    /// The quick placements, and a tenth of a second of search.
    Quick,
    /// As much work as an ordinary core does in two to three seconds, and twice as much as the first plan took. Thousands
    /// of unrelated buffers have more: docs/search.md.
    #[default]
    Normal,
    /// About a minute of work. All other strategies are asked, too, so that none of them is ever better.
    Thorough,
}

impl Effort {
    /// All of them, from little to much.
    pub const ALL: [Effort; 3] = [Effort::Quick, Effort::Normal, Effort::Thorough];

    /// The word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Effort::Quick => "quick",
            Effort::Normal => "normal",
            Effort::Thorough => "thorough",
        }
    }

    /// Units of work for the search; a unit is about 4 µs of an ordinary core.
    pub fn work(self) -> u64 {
        match self {
            Effort::Quick => QUICK_WORK,
            Effort::Normal => NORMAL_WORK,
            Effort::Thorough => THOROUGH_WORK,
        }
    }
}

/// Watches a long search and may end it. Watching never changes the plan
/// except by ending the search.
pub trait Observer: Sync {
    /// A better plan was found, or a better bound.
    fn progress(&self, best: Option<Bytes>, lower_bound: Bytes) {
        let _ = (best, lower_bound);
    }

    /// A stage of the search has ended.
    fn stage(&self, report: &StageReport) {
        let _ = report;
    }

    /// Whether to stop now with the best plan so far.
    fn should_stop(&self) -> bool {
        false
    }
}

/// A watcher that hands every progress to a closure: the smallest extent so
/// far, the lower bound, and the time since the watcher was made.
///
/// ```
/// use memplan_planner::{OnProgress, Request};
/// let watcher = OnProgress::new(|best, lower_bound, elapsed| {
///     println!("{elapsed:?}: {best:?}, at least {lower_bound}");
/// });
/// let request = Request { observer: Some(&watcher), ..Request::default() };
/// # let _ = request;
/// ```
pub struct OnProgress<F> {
    start: Instant,
    callback: F,
}

impl<F: Fn(Option<Bytes>, Bytes, Duration) + Sync> OnProgress<F> {
    /// Starts the clock.
    pub fn new(callback: F) -> OnProgress<F> {
        OnProgress { start: Instant::now(), callback }
    }
}

impl<F: Fn(Option<Bytes>, Bytes, Duration) + Sync> Observer for OnProgress<F> {
    fn progress(&self, best: Option<Bytes>, lower_bound: Bytes) {
        (self.callback)(best, lower_bound, self.start.elapsed());
    }
}

/// Options of one planning run.
#[derive(Clone, Default)]
pub struct Request<'a> {
    /// Offsets or shared objects.
    pub assign: Assign,
    /// Seed for strategies that draw random numbers.
    pub seed: u64,
    /// How much to search, unless `work_limit` says it in numbers.
    pub effort: Effort,
    /// A cap on wall-clock time. It never makes a search longer. If it cuts a search short, the outcome says so
    /// ([`Stop::TimeLimit`](memplan_core::Stop::TimeLimit)) and another run may end with another plan.
    pub time_limit: Option<Duration>,
    /// Units of work for strategies that search, instead of those of the effort: a unit is about 4 µs of an ordinary
    /// core, or a node of a search among a few hundred buffers.
    pub work_limit: Option<u64>,
    /// A plan that is not smaller is of no use: a strategy may give up as soon as it knows.
    pub ceiling: Option<Bytes>,
    /// Threads to use; `None` for all cores. The plan does not depend on it.
    pub threads: Option<usize>,
    /// What the search leaves out, by name ([`switches`](crate::search::switches)), to see what each stage and each
    /// pass that it begins with is good for.
    pub without: Vec<String>,
    /// A watcher.
    pub observer: Option<&'a dyn Observer>,
    /// Set from outside (by a signal handler or another thread) to end the
    /// search with the best plan so far.
    pub cancel: Option<Arc<AtomicBool>>,
}

impl Request<'_> {
    /// Units of work a search may spend once there is a plan.
    pub fn work(&self) -> u64 {
        self.work_limit.unwrap_or_else(|| self.effort.work())
    }

    /// Whether a stage or a pass of this name is left out.
    pub(crate) fn is_without(&self, name: &str) -> bool {
        self.without.iter().any(|left_out| left_out == name)
    }

    /// How many threads to use, at least one.
    pub fn threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        self.threads.unwrap_or_else(cores).max(1)
    }

    /// Whether the watcher or the flag says to stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(|cancel| cancel.load(Relaxed))
            || self.observer.is_some_and(|observer| observer.should_stop())
    }
}
