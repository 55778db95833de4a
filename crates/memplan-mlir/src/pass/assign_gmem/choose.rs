//! Which concats to merge, and where everything goes: the smallest plan found.
//!
//! A concat is *merged* if its operands are computed directly into their places in its
//! result. Merging never needs more live bytes (an operand lies in the result instead of
//! beside it). But merged tensors lie at fixed distances from each other, and such rigid
//! trees may pack worse than free tensors; and of two concats that share an operand only
//! one can be merged. So a few *choices* of concats are tried, in this order; of equal
//! plans the first stays:
//!
//! 1. every concat that can be, in the order of the program,
//! 2. the largest first,
//! 3. those that today's compilers merge, with their own two plans as well,
//! 4. none.
//!
//! A plan that meets the smallest lower bound so far ends the trials. Otherwise
//! each merged concat of the best choice is tried unmerged, which stays if the plan
//! becomes smaller, and then the search gets its budget: on the best choice, and on
//! the first one.
//!
//! Activations lie in the space `neuron` (DDR memory). A chip with on-chip memory has one
//! more space, which is preferred; other spaces hold inputs and outputs at fixed offsets.

use std::cmp::Reverse;

use memplan_core::{Bytes, Outcome, Plan, ProblemError, bound};
use memplan_planner::piece::Pieces;
use memplan_planner::{Refusal, Request, Strategy, find, portfolio};

// `Merges` is one choice of concats to merge, `Mergeable` knows which choices are possible. `Setting::problem` makes
// the packing problem of a choice (`TensorProblem`). `successor` makes the plan of today's compilers.
use super::merge::{Mergeable, Merges};
use super::problem::{Setting, TensorProblem, neuron};
use super::successor;
use crate::pass::PassError;

/// The units of work (of about 4 µs each) that the search may spend if the user sets no limit: some tenths of a second.
/// The limit is a count and not a time, so every run gives the same plan.
const WORK: u64 = 100_000;

/// The largest number of concats that are tried unmerged, one after the other.
const TRIALS: usize = 64;

/// The number of buffers that all these trials together may place: a network of 100,000 tensors gets two trials.
const PATIENCE: usize = 200_000;

/// A plan and the choice it is for.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    /// The merged concats.
    pub merges: Merges,
    /// The problem with these merges.
    pub solved: TensorProblem,
    /// The plan.
    pub plan: Plan,
    /// No plan with these merges is smaller, all spaces together.
    pub lower_bound: Bytes,
}

/// How good a plan is; smaller is better: the bytes of the space `neuron`, and among equals the bytes of all spaces.
type Score = (u64, u64);

/// What came of the choices that have been tried so far.
#[derive(Default)]
struct Trials {
    /// The best plan.
    best: Option<Chosen>,
    /// The smallest lower bound of the choices (not the floor of the glossary); `None` before the first choice.
    floor: Option<Bytes>,
}

/// Looks for the best choice of concats to merge, and for its plan.
pub(super) struct Chooser<'a> {
    pub(super) setting: &'a Setting<'a>,
    /// The strategy that the user names; `None` to try all ways to plan.
    pub(super) strategy: Option<&'a dyn Strategy>,
    /// The user's limits on time and work.
    pub(super) request: &'a Request<'a>,
}

impl Chooser<'_> {
    /// The smallest plan over all choices that are tried. See the module documentation for their order.
    pub(super) fn choose(&self) -> Result<Chosen, PassError> {
        let network = self.setting.network;
        let mergeable = Mergeable::new(network, self.setting.areas);
        let count = network.concats.len();
        let mut by_size: Vec<usize> = (0..count).collect();
        by_size.sort_by_key(|&index| Reverse(network.tensors[network.concats[index].result].bytes));
        let mut choices = vec![mergeable.merge(0..count), mergeable.merge(by_size)];
        choices.push(mergeable.as_today());
        choices.push(Merges::none(network));
        // `dedup` below removes a choice that is equal to the one before it, so these two are kept aside.
        let (all, today) = (choices[0].clone(), choices[2].clone());
        choices.dedup();
        let mut trials = Trials::default();
        let mut refusal = None;
        for merges in choices {
            // A plan that meets the smallest lower bound so far is taken as good enough.
            if self.is_final(&trials) {
                break;
            }
            match self.attempt(merges) {
                Ok(found) => self.keep(&mut trials, found),
                Err(error) => refusal = Some(error),
            }
        }
        // The costly steps come last: the other compilers' own plan, choices with single concats taken out, and the
        // search. A user who names a strategy wants that strategy and nothing else.
        if self.strategy.is_none() && !self.is_final(&trials) {
            let theirs = self.successors(today)?;
            self.keep(&mut trials, theirs);
            self.take_out(&mergeable, &mut trials)?;
            self.search_all(all, &mut trials)?;
        }
        // One choice may fail while another succeeds. The error is reported only if all of them fail.
        match (trials.best, refusal) {
            (Some(best), _) => Ok(best),
            (None, Some(error)) => Err(error),
            (None, None) => Err(PassError::NoPlan { strategy: self.strategy.map_or("auto", Strategy::name) }),
        }
    }

    /// How good a plan is.
    fn score(&self, plan: &Plan) -> Score {
        (plan.extents.get(neuron()).map_or(0, |extent| extent.0), plan.extent().0)
    }

    /// Whether the best plan is as small as the smallest lower bound, so that no further trial is worth while. With
    /// on-chip memory that is never known: the bound counts all spaces, but a plan is better if it has fewer bytes in
    /// DDR.
    fn is_final(&self, trials: &Trials) -> bool {
        let Some(best) = &trials.best else { return false };
        self.setting.on_chip.is_none() && trials.floor.is_some_and(|floor| best.plan.extent() <= floor)
    }

    /// Takes a trial's plan if it is better than the best one. `None` is a trial that found no plan.
    fn keep(&self, trials: &mut Trials, found: Option<Chosen>) {
        let Some(found) = found else { return };
        trials.floor = Some(trials.floor.map_or(found.lower_bound, |floor| floor.min(found.lower_bound)));
        // Of equal plans the one that was found first stays.
        let is_better = |best: &Chosen| self.score(&found.plan) < self.score(&best.plan);
        if trials.best.as_ref().is_none_or(is_better) {
            trials.best = Some(found);
        }
    }

    /// A plan with these merges, if there is one.
    fn attempt(&self, merges: Merges) -> Result<Option<Chosen>, PassError> {
        let solved = self.setting.problem(&merges)?;
        let lower_bound = bound::lower_bound(&solved.problem);
        let plan = match self.strategy {
            Some(strategy) => self.run(strategy, &solved)?,
            None if self.setting.on_chip.is_some() => self.best_member(&solved)?,
            None => quick(&solved, self.request),
        };
        Ok(plan.map(|plan| Chosen { merges, solved, plan, lower_bound }))
    }

    /// The plan of a strategy for these merges; `None` if it finds none. The error is a feature that it does not know.
    fn run(&self, strategy: &dyn Strategy, solved: &TensorProblem) -> Result<Option<Plan>, Refusal> {
        let outcome = memplan_planner::plan(strategy, &solved.problem, self.request)?;
        Ok(outcome.plan().cloned())
    }

    /// The best plan of the members of the portfolio, as many as can be afforded. They are compared by `score`, because
    /// with on-chip memory the sum of all spaces is not what counts.
    fn best_member(&self, solved: &TensorProblem) -> Result<Option<Plan>, Refusal> {
        let mut best: Option<Plan> = None;
        let affordable = (portfolio::PATIENCE / solved.tensors.len().max(1)).max(1);
        for member in portfolio::MEMBERS.iter().take(affordable) {
            let Some(plan) = self.run(member, solved)? else { continue };
            if best.as_ref().is_none_or(|best| self.score(&plan) < self.score(best)) {
                best = Some(plan);
            }
        }
        Ok(best)
    }

    /// The better plan of today's compilers, for the merges that they make. `None` if they make none. Nothing is known
    /// about their plans for on-chip memory.
    fn successors(&self, merges: Merges) -> Result<Option<Chosen>, ProblemError> {
        if self.setting.on_chip.is_some() {
            return Ok(None);
        }
        let solved = self.setting.problem(&merges)?;
        let lower_bound = bound::lower_bound(&solved.problem);
        let plan = successor::best_plan(self.setting, &merges, &solved, self.request);
        Ok(plan.map(|plan| Chosen { merges, solved, plan, lower_bound }))
    }

    /// Tries each merged concat of the best choice unmerged, one after the other. A smaller plan becomes the best
    /// one, and the next concat is taken out of that.
    fn take_out(&self, mergeable: &Mergeable, trials: &mut Trials) -> Result<(), PassError> {
        let Some(start) = &trials.best else { return Ok(()) };
        let merged: Vec<usize> = (0..start.merges.merged.len()).filter(|&index| start.merges.merged[index]).collect();
        let affordable = PATIENCE / start.solved.tensors.len().max(1);
        for index in merged.into_iter().take(TRIALS.min(affordable)) {
            if self.is_final(trials) {
                break;
            }
            let Some(current) = &trials.best else { break };
            let found = self.attempt(mergeable.without(&current.merges, index))?;
            self.keep(trials, found);
        }
        Ok(())
    }

    /// Lets the search look for smaller plans, with the best choice and with `all`, in which every concat that can be
    /// is merged. With on-chip memory it is not asked: it minimises the bytes of all spaces together, and only those
    /// in DDR count then.
    fn search_all(&self, all: Merges, trials: &mut Trials) -> Result<(), PassError> {
        if self.setting.on_chip.is_some() {
            return Ok(());
        }
        let best = trials.best.as_ref().map(|best| best.merges.clone());
        let mut choices: Vec<Merges> = best.into_iter().chain([all]).collect();
        choices.dedup();
        for merges in choices {
            if !self.is_final(trials) {
                let found = self.search(merges, trials)?;
                self.keep(trials, found);
            }
        }
        Ok(())
    }

    /// Searches for a smaller plan with these merges. `None` if there is no plan, or if the best plan already meets
    /// the lower bound of these merges, so that no smaller one is possible.
    fn search(&self, merges: Merges, trials: &Trials) -> Result<Option<Chosen>, PassError> {
        let solved = self.setting.problem(&merges)?;
        let lower_bound = bound::lower_bound(&solved.problem);
        let hopeless = trials.best.as_ref().is_some_and(|best| best.plan.extent() <= lower_bound);
        let (Some(search), false) = (find("search"), hopeless) else { return Ok(None) };
        // A limit that the user sets counts; without one the search ends after `WORK`.
        let bounded = self.request.time_limit.is_some() || self.request.work_limit.is_some();
        let work_limit = if bounded { self.request.work_limit } else { Some(WORK) };
        let request = Request { work_limit, ..self.request.clone() };
        let outcome = memplan_planner::plan(search, &solved.problem, &request)?;
        // The search may have raised the lower bound.
        let lower_bound = match &outcome {
            Outcome::Optimal(plan) => plan.extent(),
            Outcome::Feasible { lower_bound, .. } => *lower_bound,
            Outcome::Infeasible(_) | Outcome::Exhausted { .. } => lower_bound,
        };
        Ok(outcome.plan().cloned().map(|plan| Chosen { merges, solved, plan, lower_bound }))
    }
}

/// The best plan of the portfolio: a few fast strategies. It tells the caller's observer nothing, because the plans of
/// different choices are plans of different problems.
fn quick(solved: &TensorProblem, request: &Request) -> Option<Plan> {
    let pieces = Pieces::of(&solved.problem).ok()?;
    let request = Request { observer: None, ..request.clone() };
    portfolio::try_members(&pieces, &request).best
}
