//! Every strategy on one problem, side by side.
//!
//! A time limit is one for all of them. Strategies that search use whatever time there is, so they come last, and each
//! strategy gets its share of what is left:
//!
//! ```text
//!   limit 3 s:  levels 0.01 s │ … │ first-fit 0.02 s │ search half of the rest │ auto the rest
//! ```
//!
//! As soon as there is one plan, the limit ends any strategy at once. The strategy that the limit ended, and those
//! whose turn did not come, are listed as not tried.

use std::time::Duration;

use memplan_core::patience::{self, Patience};
use memplan_core::{Bytes, Outcome, Problem, Stop, bound};
use memplan_planner::{Assign, Refusal, Request, STRATEGIES, Strategy};

use crate::driver::{self, Failure, How};
use crate::finding;
use crate::format::Input;
use crate::front_end::{Plain, Planned};

/// What one strategy made of the problem. Its plan has been checked.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Name of the strategy.
    pub strategy: String,
    /// The kind of plan.
    pub assign: Assign,
    /// Its plan, with what is known about the quality, or why there is none.
    pub outcome: Outcome,
    /// Time it took; 0 for another tool's plan.
    pub time: Duration,
}

impl Entry {
    /// Extent of the plan, if there is one.
    pub fn extent(&self) -> Option<Bytes> {
        self.outcome.plan().map(memplan_core::Plan::extent)
    }
}

/// A strategy that does not take the problem.
#[derive(Clone, Debug)]
pub struct Refused {
    /// The name of the strategy.
    pub strategy: String,
    /// What of the problem it cannot honour, or that it makes no plans of the kind asked for.
    pub reason: Refusal,
}

/// All strategies on one problem.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Those that planned, smallest extent first; without a plan last. Equal
    /// ones in the order of [`STRATEGIES`].
    pub entries: Vec<Entry>,
    /// Those that refused.
    pub refused: Vec<Refused>,
    /// Those that the time limit cut short or that had no turn before it, in the order of [`STRATEGIES`].
    pub not_tried: Vec<&'static str>,
}

/// The time that a strategy gets when `left` others come after it: an equal share of what is left of the time limit.
/// `None` if there is no limit.
fn share_of_time(left: usize) -> Option<Duration> {
    Some(Patience::current()?.time_left()? / u32::try_from(left + 1).ok()?)
}

impl Comparison {
    /// Runs every strategy. `assign` restricts it to one kind of plan (offsets, or shared objects),
    /// else each strategy makes every kind it can. Plans of other tools that come with the input
    /// stand beside ours. `watch` is called with the name of each strategy before it starts, once
    /// for each kind of plan.
    pub fn run(
        input: &Input,
        assign: Option<Assign>,
        how: &How,
        watch: impl FnMut(&'static str),
    ) -> Result<Comparison, Failure> {
        Comparison::with(&[], input, assign, how, watch)
    }

    /// The same as [`run`](Self::run) with strategies of the caller's (`own`) beside memplan's.
    pub fn with(
        own: &[&dyn Strategy],
        input: &Input,
        assign: Option<Assign>,
        how: &How,
        mut watch: impl FnMut(&'static str),
    ) -> Result<Comparison, Failure> {
        // From here on there is one time limit for all strategies.
        let _current = driver::patience_for_many(how).enter();
        let mut comparison = Comparison::default();
        comparison.add_peers(input, assign);
        let strategies: Vec<&dyn Strategy> = STRATEGIES.iter().chain(own).copied().collect();
        // The first strategies of the list are those that search. They are tried last, so the list is walked from its
        // end. `left` is the position in the list, which is the number of strategies that come after this one. Each
        // gets an equal share of the time that is left.
        for (left, &strategy) in strategies.iter().enumerate().rev() {
            if comparison.is_over() {
                comparison.not_tried.push(strategy.name());
                continue;
            }
            // A strategy that cannot make the one kind that is asked for refuses, and is listed as
            // refused.
            for &assign in assign.as_ref().map_or(strategy.assigns(), std::slice::from_ref) {
                watch(strategy.name());
                let time_limit = share_of_time(left).or(how.request.time_limit);
                let request = Request { assign, time_limit, ..how.request.clone() };
                comparison.try_strategy(input, strategy, &How { strategy: Some(strategy), request, ..how.clone() })?;
            }
        }
        comparison.put_in_order(&strategies);
        Ok(comparison)
    }

    /// Whether the time limit is over and there is something to show. Then no further strategy is begun, because each
    /// looks at all buffers before it looks at the clock for the first time.
    fn is_over(&self) -> bool {
        let is_time = |patience: Patience| patience.ended() == Some(Stop::TimeLimit);
        !self.entries.is_empty() && patience::is_over_now() && Patience::current().is_some_and(is_time)
    }

    /// Sorts the plans by extent, and everything of equal extent in the order of the list of strategies, which is the
    /// reverse of the order in which they were tried.
    fn put_in_order(&mut self, strategies: &[&dyn Strategy]) {
        let Comparison { entries, refused, not_tried } = self;
        let place = |name: &str| strategies.iter().position(|strategy| strategy.name() == name);
        entries.sort_by_key(|entry| (entry.extent().is_none(), entry.extent(), place(&entry.strategy)));
        // A strategy that refused one kind of plan and made the other has taken part, so it is not listed as refused.
        refused.retain(|refused| entries.iter().all(|entry| entry.strategy != refused.strategy));
        refused.sort_by_key(|refused| place(&refused.strategy));
        refused.dedup_by_key(|refused| refused.strategy.clone());
        // The same holds for a strategy that had time for one kind of plan only.
        not_tried.retain(|name| entries.iter().all(|entry| entry.strategy != *name));
        not_tried.sort_by_key(|name| place(name));
        not_tried.dedup();
    }

    /// Adds the plans of other tools that came with the input, if the packing check accepts them: the target may ask
    /// for a larger alignment than the other tool did. They are plans of offsets, so there are none among shared
    /// objects.
    fn add_peers(&mut self, input: &Input, assign: Option<Assign>) {
        if assign == Some(Assign::Objects) {
            return;
        }
        for peer in &input.peers {
            if !finding::in_packing(&input.problem, &peer.plan).is_empty() {
                continue;
            }
            // Another tool does not say how good its plan is, so the bound is the one that needs no search.
            let lower_bound = bound::lower_bound(&input.problem);
            let outcome = Outcome::Feasible { plan: peer.plan.clone(), lower_bound, stop: Stop::Finished };
            self.entries.push(Entry {
                strategy: peer.name.to_owned(),
                assign: Assign::Offsets,
                outcome,
                time: Duration::ZERO,
            });
        }
    }

    /// Plans with one strategy and keeps the plan, or the reason why the strategy does not take this input.
    fn try_strategy(&mut self, input: &Input, strategy: &dyn Strategy, how: &How) -> Result<(), Failure> {
        let name = strategy.name();
        match driver::lay_out(&Plain::default(), input, how) {
            Ok(planned) => {
                let Planned { outcome, assign, time, .. } = planned.into_inner();
                self.entries.push(Entry { strategy: name.to_owned(), assign, outcome, time });
                // From now on there is something to show at the time limit.
                if let Some(patience) = Patience::current() {
                    patience.have_answer();
                }
            }
            Err(Failure::Refused(reason)) => self.refused.push(Refused { strategy: name.to_owned(), reason }),
            Err(Failure::Stopped(stopped)) if stopped.why == Stop::TimeLimit && !self.entries.is_empty() => {
                self.not_tried.push(name);
            }
            Err(failure) => return Err(failure),
        }
        Ok(())
    }

    /// The best bound that holds for every entry. A bound for plans of offsets also holds for shared objects, which
    /// need no less; a bound for shared objects counts only if all entries are such plans.
    pub fn lower_bound(&self, problem: &Problem) -> Bytes {
        let only_objects = self.entries.iter().all(|entry| entry.assign == Assign::Objects);
        let holds_for_all = |entry: &&Entry| only_objects || entry.assign == Assign::Offsets;
        let known = self.entries.iter().filter(holds_for_all).filter_map(|entry| match &entry.outcome {
            Outcome::Optimal(plan) => Some(plan.extent()),
            Outcome::Feasible { lower_bound, .. } => Some(*lower_bound),
            Outcome::Infeasible(_) | Outcome::Exhausted { .. } => None,
        });
        known.max().unwrap_or_else(|| bound::lower_bound(problem))
    }
}
