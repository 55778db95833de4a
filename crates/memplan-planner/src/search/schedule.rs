//! The schedule: which stages a search goes through, in which order, and what each may spend.
//!
//! The search is the table [`SCHEDULE`] and a driver that walks it. A row says what the stage is called, when it
//! applies, which share of the work it gets and which function does it. The driver asks a row whether it applies only
//! when its turn has come, so that a row may depend on what earlier ones have found; it ends as soon as nothing is left
//! to find out, or the budget is spent and there is a plan.
//!
//! ```text
//!   10,000 buffers, 100 alive        share     spent    extent
//!   repair-peaks                     1/3       178,244  1.0907 → 1.0214
//!   orders                           1/2        11,014  1.0214
//!   dense                            the rest  343,350  1.0214 → 1.0059
//! ```
//!
//! `memplan plan -v` prints these lines. [`Request::without`](crate::Request::without) leaves out every row of some
//! name, for ablations and to find out which stage is to blame. To add a stage, add a function and a row: the chapter
//! "The search" in docs/search.md has an exercise.
//!
//! A [`Search`] is the search in progress: the problem, and in `known` the best plan, the bounds and the reason why it
//! stopped. The questions that rows ask (`is_flat`, `is_done`, `can_be_repaired`, …) are its methods, and so are the
//! stages themselves. A [`Budget`] is the work and the time that is left.

use memplan_core::{Bytes, Plan, Stop, patience};

use super::budget::Budget;
use super::plan::Search;
use crate::portfolio;
use crate::strategy::Strategy;

/// One row of the schedule.
pub(crate) struct Stage {
    /// The name by which the stage can be left out; a stage that has several turns has several rows of one name.
    pub(crate) name: &'static str,
    /// One line for listings.
    pub(crate) does: &'static str,
    /// Whether the stage makes sense now, in view of the problem and of what is known by now.
    pub(crate) applies: fn(&Search) -> bool,
    /// What it may spend.
    pub(crate) share: Share,
    /// Runs it, within a budget.
    pub(crate) run: fn(&mut Search, &mut Budget),
}

/// What a stage may spend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    /// `OneOf(n)`: 1/n of the work that is left.
    OneOf(u32),
    /// All the work that is left.
    Rest,
    /// As much work as the search had at the beginning, even if none is left.
    Again,
    /// A budget of its own, which costs the other stages nothing ([`Search::budget_for_others`]).
    Own,
}

impl Share {
    /// Whether a stage with this share may run although the budget is spent.
    fn is_on_top(self) -> bool {
        matches!(self, Share::Again | Share::Own)
    }
}

/// The repair of problems that are not flat. It stands in the table twice: before the other stages for these problems,
/// and again on what they have found.
///
/// If this stage can settle a problem, it does so soon: 10^5 random buffers with 30 alive within 6,000 units of work,
/// 40,000 with 150 alive within 89,000. If it has not ended by then, its excerpts become larger and larger, and the
/// dense stage gets further with the same work. So this stage gets only a quarter.
const REPAIR_PEAKS: Stage = Stage {
    name: "repair-peaks",
    does: "packs the most crowded places of a plan anew",
    applies: |search| !search.is_flat() && !search.is_done() && search.can_be_repaired(),
    share: Share::OneOf(4),
    run: |search, budget| search.repair_peaks(budget),
};

/// Gets all the work that is left, unless the stage `stretch` will follow: then another row, with half of it, is used.
const EXACT: Stage = Stage {
    name: "exact",
    does: "the canonical search, space by space: smaller plans, and proofs",
    applies: |search| search.goes_on() && search.is_small() && !search.may_pack_around(),
    share: Share::Rest,
    run: |search, budget| search.search_spaces(budget),
};

/// Has three turns, as long as the plan is not close to the bound. How a turn ends depends on chance, so a few short
/// turns are better than a long one.
const ANEW: Stage = Stage {
    name: "anew",
    does: "ejection chains from another first plan",
    applies: |search| search.is_worth_starting_anew(),
    share: Share::Again,
    run: |search, budget| search.start_anew(budget),
};

/// The stages, in order.
pub(crate) const SCHEDULE: &[Stage] = &[
    Stage {
        name: "dense",
        does: "ejection chains: makes room for what ends too high by moving what lies elsewhere",
        applies: |search| search.began_with_one_order() && search.is_crowded() && !search.is_done(),
        share: Share::Rest,
        run: |search, budget| search.pack_densely(budget),
    },
    Stage {
        name: "repair-peaks",
        does: "packs the most crowded places of a plan anew",
        applies: |search| search.is_small() && search.began_with_one_order() && search.can_be_repaired(),
        share: Share::OneOf(3),
        run: |search, budget| search.repair_peaks(budget),
    },
    Stage {
        name: "orders",
        does: "first and best fit in the orders that were not tried at once",
        applies: |search| search.is_small() && search.began_with_one_order() && !search.is_done(),
        share: Share::OneOf(2),
        run: |search, budget| search.try_other_orders(budget),
    },
    Stage {
        name: "dense",
        does: "ejection chains: makes room for what ends too high by moving what lies elsewhere",
        applies: |search| {
            search.is_small() && search.began_with_one_order() && search.can_be_repaired() && !search.is_done()
        },
        share: Share::Rest,
        run: |search, budget| search.pack_densely(budget),
    },
    REPAIR_PEAKS,
    Stage {
        name: "dense",
        does: "ejection chains: makes room for what ends too high by moving what lies elsewhere",
        applies: |search| !search.is_flat() && !search.is_small() && !search.is_done() && search.can_be_repaired(),
        share: Share::OneOf(2),
        run: |search, budget| search.pack_densely(budget),
    },
    Stage {
        name: "peak-first",
        does: "passes that place what is alive at the peak first, then who ended too high in the last pass",
        applies: |search| !search.is_flat() && !search.is_done(),
        share: Share::OneOf(2),
        run: |search, budget| search.place_peak_first(budget),
    },
    Stage {
        name: "orders",
        does: "first and best fit in the orders that were not tried at once",
        applies: |search| !search.is_flat() && !search.is_done() && search.has_more_orders(),
        share: Share::OneOf(2),
        run: |search, budget| search.try_other_orders(budget),
    },
    REPAIR_PEAKS,
    Stage {
        name: "peak-first",
        does: "passes that place what is alive at the peak first, then who ended too high in the last pass",
        applies: |search| search.goes_on() && search.is_flat() && search.has_many_pieces(),
        share: Share::OneOf(4),
        run: |search, budget| search.place_peak_first(budget),
    },
    Stage {
        applies: |search| search.goes_on() && search.is_small() && search.may_pack_around(),
        share: Share::OneOf(2),
        ..EXACT
    },
    Stage {
        name: "stretch",
        does: "packs the hardest stretch of time exactly, and everything else around it by ejections",
        applies: |search| search.goes_on() && search.may_pack_around(),
        share: Share::Rest,
        run: |search, budget| search.pack_around_stretches(budget),
    },
    EXACT,
    Stage {
        name: "proof",
        does: "the exact search for every feature",
        applies: |search| search.goes_on() && search.is_small(),
        share: Share::Rest,
        run: |search, budget| search.prove(budget),
    },
    ANEW,
    ANEW,
    ANEW,
    Stage {
        name: "others",
        does: "asks all other strategies, if they are cheap or the effort is thorough",
        applies: |search| search.asks_others(),
        share: Share::Own,
        run: |search, budget| search.ask_others(budget),
    },
];

/// What a stage has achieved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageReport {
    /// The stage.
    pub name: &'static str,
    /// Units of work it took.
    pub work: u64,
    /// The extent of the best plan before it.
    pub before: Option<Bytes>,
    /// The extent of the best plan after it.
    pub after: Option<Bytes>,
    /// The lower bound that is known after the stage.
    pub lower_bound: Bytes,
}

/// The names of all stages with what they do, in the order of their first turns.
pub fn stages() -> Vec<(&'static str, &'static str)> {
    let mut stages: Vec<(&str, &str)> = Vec::new();
    for stage in SCHEDULE {
        if stages.iter().all(|(name, _)| *name != stage.name) {
            stages.push((stage.name, stage.does));
        }
    }
    stages
}

/// The names of all that can be left out ([`Request::without`](crate::Request::without)): stages, then the passes
/// that a search begins with.
pub fn switches() -> Vec<&'static str> {
    let stages = stages().into_iter().map(|(name, _)| name);
    stages.chain(portfolio::passes().map(|pass| pass.name())).collect()
}

/// Gives every row of a schedule its turn, from top to bottom, until nothing is left to find out. A row is left out
/// if its name is switched off, if it does not apply, or if the budget is spent and there is a plan (unless the row
/// has work of its own).
pub(super) fn walk(schedule: &[Stage], search: &mut Search, budget: &mut Budget) {
    for stage in schedule {
        // Stages look at the budget, but only after they have sorted and counted, which takes a tenth of a second each
        // for a million pieces. So if the caller no longer waits for the plan, no stage begins. `is_over_now` looks at
        // the clock itself; `is_over` does so only now and then. What ended the search is asked for by the caller.
        if search.is_settled() || patience::is_over_now() {
            return;
        }
        if search.is_without(stage.name) {
            continue;
        }
        // As long as there is no plan, stages run even without work that is left.
        if let Some(stop) = budget.stop().filter(|_| search.known.best.is_some() && !stage.share.is_on_top()) {
            search.known.stop = stop;
            continue;
        }
        if (stage.applies)(search) {
            turn(stage, search, budget);
        }
    }
}

/// Runs one stage and takes its work off the budget. A stage with a budget of its own ([`Share::Own`]) costs the others
/// nothing.
fn turn(stage: &Stage, search: &mut Search, budget: &mut Budget) {
    let before = search.known.best.as_ref().map(Plan::extent);
    let mut share = match stage.share {
        Share::OneOf(parts) => budget.share(parts),
        Share::Rest => budget.share(1),
        Share::Again => budget.again(),
        Share::Own => search.budget_for_others(budget),
    };
    // A share is a budget of its own. What the stage does not spend of it is left to later stages.
    (stage.run)(search, &mut share);
    search.forget_placed();
    let after = search.known.best.as_ref().map(Plan::extent);
    debug_assert!(after.is_some() || before.is_none(), "the stage {} lost the plan", stage.name);
    debug_assert!(after <= before || before.is_none(), "the stage {} made the plan worse", stage.name);
    debug_assert!(
        after.is_none_or(|after| after >= search.known_bound()),
        "the stage {} has a plan of {after:?} and a proof that none is below {}",
        stage.name,
        search.known_bound()
    );
    if stage.share != Share::Own {
        budget.spend(share.spent());
    }
    budget.tell(&StageReport {
        name: stage.name,
        work: share.spent(),
        before,
        after,
        lower_bound: search.known_bound(),
    });
    // A stage that has used up the work without saying so: the search has not finished, it was stopped.
    if search.known.stop == Stop::Finished && budget.work_left() == 0 {
        search.known.stop = Stop::WorkLimit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_one_name_are_one_stage() {
        for (name, does) in stages() {
            let rows: Vec<&Stage> = SCHEDULE.iter().filter(|stage| stage.name == name).collect();
            assert!(rows.iter().all(|row| row.does == does), "{name}");
        }
    }
}
