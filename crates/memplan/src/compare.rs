//! Every strategy on one problem, side by side.

use std::time::Duration;

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
    /// What came of it.
    pub outcome: Outcome,
    /// Time it took.
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
    /// Its name.
    pub strategy: String,
    /// Why.
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
}

impl Comparison {
    /// Runs every strategy; `assign` restricts it to one kind of plan, else each
    /// strategy makes every kind it can. Plans of other tools that come with the input stand beside ours.
    /// `watch` hears the name of each strategy before it starts.
    pub fn run(
        input: &Input,
        assign: Option<Assign>,
        how: &How,
        watch: impl FnMut(&'static str),
    ) -> Result<Comparison, Failure> {
        Comparison::with(&[], input, assign, how, watch)
    }

    /// The same with strategies of the caller's beside memplan's.
    pub fn with(
        own: &[&dyn Strategy],
        input: &Input,
        assign: Option<Assign>,
        how: &How,
        mut watch: impl FnMut(&'static str),
    ) -> Result<Comparison, Failure> {
        let mut comparison = Comparison::default();
        comparison.add_peers(input, assign);
        let strategies: Vec<&dyn Strategy> = STRATEGIES.iter().chain(own).copied().collect();
        for strategy in strategies {
            let kinds = assign.as_ref().map_or(strategy.assigns(), std::slice::from_ref);
            for &assign in kinds {
                watch(strategy.name());
                let request = Request { assign, ..how.request.clone() };
                comparison.try_strategy(input, &How { strategy: Some(strategy), request, ..how.clone() })?;
            }
        }
        comparison.entries.sort_by_key(|entry| (entry.extent().is_none(), entry.extent()));
        // A strategy that refused one kind of plan and made the other has taken part, so it is not listed as refused.
        let Comparison { entries, refused } = &mut comparison;
        refused.retain(|refused| entries.iter().all(|entry| entry.strategy != refused.strategy));
        refused.dedup_by_key(|refused| refused.strategy.clone());
        Ok(comparison)
    }

    /// Plans of other tools, if they hold on this target.
    fn add_peers(&mut self, input: &Input, assign: Option<Assign>) {
        if assign == Some(Assign::Objects) {
            return;
        }
        for peer in &input.peers {
            if !finding::in_packing(&input.problem, &peer.plan).is_empty() {
                continue;
            }
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
    fn try_strategy(&mut self, input: &Input, how: &How) -> Result<(), Failure> {
        let strategy = how.strategy.map_or("auto", |strategy| strategy.name()).to_owned();
        match driver::lay_out(&Plain::default(), input, how) {
            Ok(planned) => {
                let Planned { outcome, assign, time, .. } = planned.into_inner();
                self.entries.push(Entry { strategy, assign, outcome, time });
            }
            Err(Failure::Refused(reason)) => self.refused.push(Refused { strategy, reason }),
            Err(failure) => return Err(failure),
        }
        Ok(())
    }

    /// The best bound that holds for every entry: what no plan of offsets can
    /// beat or, among shared objects only, no plan of shared objects.
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
