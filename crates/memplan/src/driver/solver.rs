//! What a front end plans with: the strategy it was asked to use, and what must stay apart.

use std::time::{Duration, Instant};

use memplan_core::patience::Patience;
use memplan_core::{Outcome, Problem};
use memplan_planner::{Feature, Refusal, Strategy, find, plan};
use memplan_program::Apart;

use super::repair::{self, Rejected};
use super::{Checked, Failure, How, Unsound};
use crate::finding::{self, Finding};

/// How many rounds of repair keep pairs of buffers apart. In the rounds after these, every buffer that a check names
/// becomes exclusive. That costs more memory, but it also keeps the buffer apart from buffers that no check has named.
const PAIR_ROUNDS: usize = 4;
/// The largest number of rounds of repair. If the layout is still rejected then, the call fails.
const ROUNDS: usize = 8;

/// The strategy `auto`. It is always there; the first strategy stands in for it so that nothing can panic.
fn auto() -> &'static dyn Strategy {
    find("auto").unwrap_or(memplan_planner::STRATEGIES[0])
}

/// Plans for a front end, and remembers over the rounds of repair what must stay apart.
pub struct Solver<'h> {
    /// How to plan. In a repair the strategy may be replaced by `auto`.
    how: How<'h>,
    /// What must stay apart, for each program of the claim.
    apart: Vec<Apart>,
    /// How many layouts were rejected so far.
    rounds: usize,
    /// What was repaired so far, in words, for the user to know.
    repairs: Vec<String>,
    /// Time that strategies took so far.
    time: Duration,
}

impl<'h> Solver<'h> {
    /// A solver that has nothing to keep apart.
    pub(super) fn new(how: &How<'h>) -> Solver<'h> {
        Solver { how: how.clone(), apart: Vec::new(), rounds: 0, repairs: Vec::new(), time: Duration::ZERO }
    }

    /// How to plan.
    pub fn how(&self) -> &How<'h> {
        &self.how
    }

    /// What must stay apart in a program, by its place in
    /// [`Claim::programs`](crate::front_end::Claim::programs). For a problem without a program,
    /// site `n` is buffer `n`. It is empty until a layout was rejected.
    pub fn apart(&self, program: usize) -> &Apart {
        // The list has an entry only for programs with something to keep apart. The empty answer
        // for all others is static, so that a reference to it can be returned.
        static NOBODY: std::sync::LazyLock<Apart> = std::sync::LazyLock::new(Apart::default);
        self.apart.get(program).unwrap_or(&NOBODY)
    }

    /// Plans a problem with the strategy that was asked for, or with `auto`, and checks the
    /// packing. For front ends of users, who get no plan that was not checked; a plan that the
    /// check rejects is not repaired here.
    pub fn plan(&mut self, problem: &Problem) -> Result<Checked<Outcome>, Failure> {
        // An outcome without a plan, such as one that proves that nothing fits, has nothing that could be wrong.
        let outcome = self.propose(problem)?;
        let findings = outcome.plan().map_or_else(Vec::new, |plan| finding::in_packing(problem, plan));
        if findings.is_empty() {
            return Ok(Checked::seal(outcome, Vec::new()));
        }
        Err(self.rejection(self.strategy().name(), findings))
    }

    /// The failure for a plan that is not repaired: a mistake of the caller's strategy, or ours.
    fn rejection(&self, maker: &str, findings: Vec<Finding>) -> Failure {
        match self.foreign_strategy() {
            Some(strategy) => Failure::WrongStrategy { strategy: strategy.to_owned(), findings },
            None => Unsound { maker: maker.to_owned(), what: "plan", findings }.into(),
        }
    }

    /// The name of the strategy if it is not one of memplan's.
    fn foreign_strategy(&self) -> Option<&str> {
        self.how.strategy.map(|strategy| strategy.name()).filter(|name| find(name).is_none())
    }

    /// The strategy to use for a front end that has none of its own.
    pub(crate) fn strategy(&self) -> &'h dyn Strategy {
        self.how.strategy.unwrap_or_else(|| auto())
    }

    /// Takes `auto` as the strategy if, in a repair, the chosen one refuses because it cannot keep buffers apart.
    /// Returns whether it did so. Before the first repair a refusal is the user's to know.
    pub(super) fn choose_auto(&mut self, refusal: &Refusal) -> bool {
        let cannot = matches!(refusal, Refusal::Feature { feature: Feature::MustNotShare | Feature::Exclusive, .. });
        // If `auto` itself has refused, another attempt with it would loop for ever.
        let is_new = self.how.strategy.is_none_or(|strategy| strategy.name() != auto().name());
        let may_change = cannot && is_new && self.rounds > 0;
        if may_change {
            self.how.strategy = Some(auto());
        }
        may_change
    }

    /// A plan that has not been checked yet; a refusal if the strategy does not take the problem. A
    /// front end that uses it lists the plan in its claim (`Claim::packings`), and the driver
    /// checks it there.
    pub(crate) fn propose(&mut self, problem: &Problem) -> Result<Outcome, Refusal> {
        let start = Instant::now();
        let strategy = self.strategy();
        // A time limit ends a search, not the making of a first plan: a user who set a time limit
        // still wants a plan. `finish` keeps the time limit from ending this work. A strategy that
        // searches looks at the time limit of its request itself. Without a patience on this thread
        // there is no time limit.
        let plan = || plan(strategy, problem, &self.how.request);
        let outcome = match Patience::current() {
            Some(patience) => patience.finish(plan),
            None => plan(),
        };
        self.time += start.elapsed();
        outcome
    }

    /// Time that [`propose`](Solver::propose) and [`plan`](Solver::plan) took so far.
    pub(crate) fn time(&self) -> Duration {
        self.time
    }

    /// Learns from a rejected layout which buffers to keep apart. Fails if nothing new can be
    /// learned, or if nothing may be repaired: in a strict run, after [`ROUNDS`] rounds, or for a
    /// strategy of the caller's (its mistakes are the caller's to know). `rejected` is everything
    /// that the checks found, at least one thing. `maker` is the front end.
    pub(super) fn repair(&mut self, maker: &str, rejected: Vec<Rejected>) -> Result<(), Failure> {
        self.rounds += 1;
        let as_pairs = self.rounds <= PAIR_ROUNDS;
        let may_repair = !self.how.strict && self.rounds <= ROUNDS && self.foreign_strategy().is_none();
        let mut learned = false;
        if may_repair {
            for rejection in &rejected {
                learned |= repair::keep_apart(&mut self.apart, rejection, as_pairs);
            }
            // All these pairs were to be kept apart already, and the layout is still rejected. So
            // the rounds for pairs end early (the next round is the first after them), and the
            // named buffers become exclusive.
            if !learned && as_pairs {
                self.rounds = PAIR_ROUNDS;
                for rejection in &rejected {
                    learned |= repair::keep_apart(&mut self.apart, rejection, false);
                }
            }
        }
        if !learned {
            let findings = rejected.into_iter().map(|rejection| rejection.finding).collect();
            return Err(self.rejection(maker, findings));
        }
        self.repairs.extend(rejected.iter().map(|rejection| repair::described(maker, rejection)));
        Ok(())
    }

    /// Notes that `maker` made a version of a model (`what` says which) that a check does not let through, and that
    /// another version is taken instead. Fails in a strict run.
    pub(crate) fn pass_over(&mut self, maker: &str, what: &str, findings: Vec<Finding>) -> Result<(), Failure> {
        if self.how.strict {
            return Err(Unsound { maker: maker.to_owned(), what: "model", findings }.into());
        }
        let why = findings.first().map_or("not named", |finding| finding.message.as_str());
        self.repairs.push(format!(
            "`{maker}` passed over a version of the model ({what}), because it is not proved to compute the same: {why}; \
             please report it with the input"
        ));
        Ok(())
    }

    /// What was repaired, in words.
    pub(super) fn into_repairs(self) -> Vec<String> {
        self.repairs
    }
}
