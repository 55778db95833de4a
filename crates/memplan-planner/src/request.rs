//! What is asked of a strategy besides the problem.

use std::time::Duration;

use memplan_core::Bytes;

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

/// Somebody who watches a long search and may end it. Watching never changes the plan
/// except by ending the search.
pub trait Observer: Sync {
    /// A better plan was found, or a better bound.
    fn progress(&self, best: Option<Bytes>, lower_bound: Bytes) {
        let _ = (best, lower_bound);
    }

    /// Whether to stop now with the best plan so far.
    fn should_stop(&self) -> bool {
        false
    }
}

/// Options of one planning run.
#[derive(Clone, Default)]
pub struct Request<'a> {
    /// Offsets or shared objects.
    pub assign: Assign,
    /// Seed for strategies that draw random numbers.
    pub seed: u64,
    /// Wall-clock limit for strategies that search; `None` is the strategy's own default.
    pub time_limit: Option<Duration>,
    /// Deterministic limit, in search nodes, for strategies that search.
    pub work_limit: Option<u64>,
    /// Threads to use; `None` for all cores. The plan does not depend on it.
    pub threads: Option<usize>,
    /// A watcher.
    pub observer: Option<&'a dyn Observer>,
}
