//! `levels`: on-chip memory without serialising the pipelines.
//!
//! Execution units (*pipes*) run side by side. If a vector op's buffer takes the
//! bytes of a buffer that a DMA just filled, the DMA of the next iteration has
//! to wait for the vector op. So sharing is tried in levels, the harmless kind
//! first, and only while memory is short:
//!
//! | level | who may share bytes (lives apart in any case) |
//! |---|---|
//! | [`Level::Pipe`], the document's Level2 | buffers whose pipes do not conflict: vector with vector, scalar with scalar |
//! | [`Level::Loop`] | buffers of different loops |
//! | [`Level::Slots`], Level1 | buffers of one loop, if the newcomer takes all slots of the multi-buffer it lands on |
//! | [`Level::Lives`], Level0 | any two buffers |
//!
//! ```text
//!   loop: op1(A0, A1) DMA   op2(B) vector   op3(C) vector   op4(D0, D1) DMA
//!
//!   Level2   A0 A1 B D0 D1    C on B: both belong to the vector pipe
//!   Level1   A0 A1 B D0 D1    no room beside A, and C does not fit on B:
//!                             C on A0 *and* A1, so that op1 fills one half while op3 uses the other
//! ```
//!
//! Level2, Level1 and Level0 are the names in the documentation of the original, an NPU compiler's memory planner.
//!
//! The steps, for each space on its own:
//!
//! 1. If all buffers fit side by side: done, nothing is shared ([`Mode::Sequential`]).
//! 2. First fit with [`Level::Pipe`] only, in unlimited memory; if that stays
//!    within the capacity, done.
//! 3. First fit within the capacity. Each buffer tries the levels from the best to the worst. If even the worst level
//!    has no room for a buffer, placements are taken back, the latest first, up to one that stood in the way. That one
//!    must go elsewhere or a level lower (`place`).
//! 4. The [`search`](crate::search) plans the space, with as many DMA buffers as possible kept to themselves
//!    (`fallback`). If a buffer has a fixed address, this step is the only one. Only the search can say "does not fit".
//!
//! Buffers that must share are one *entry*; an entry with n slots has n *items*.
//! What the plan costs is in the [`Report`]: each buffer's level, and who takes
//! over bytes from another pipe.
//!
//! First fit looks at every stretch of addresses (a *bound*, see `outline`) for each item, so it costs n² in the worst
//! case; beyond a budget of work the next step takes over.
//!
//! Words from other files: [`Entries`] has the entries of one space, with their items in two orders; a [`Planner`]
//! places items, and a [`Placed`] is what comes of it: offsets and levels of all entries. [`Outcome::judge`] compares a
//! plan with bounds and capacities.

mod crossing;
mod entry;
mod fallback;
mod outline;
mod place;

use memplan_core::{BufferId, Bytes, IndexVec, Outcome, Placement, Plan, Problem, Reuse, SpaceId, Stop, Witness};

pub use crossing::Crossing;
use entry::Entries;
use place::{Placed, Planner};

use super::Strategy;
use crate::{Assign, Feature, Request};

/// With whom a buffer shares bytes: the lower the level, the more waiting it may cause. The order of the variants is
/// from worst to best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Shares with any buffer whose life is apart.
    Lives,
    /// Shares all slots of a multi-buffer of its loop.
    Slots,
    /// Shares with buffers of other loops only.
    Loop,
    /// Shares within its pipe only, or not at all.
    Pipe,
}

impl Level {
    /// All of them, the best first.
    pub const ALL: [Level; 4] = [Level::Pipe, Level::Loop, Level::Slots, Level::Lives];

    /// The level in a user's words.
    pub fn describe(self) -> &'static str {
        match self {
            Level::Pipe => "level2",
            Level::Loop => "level2 across loops",
            Level::Slots => "level1",
            Level::Lives => "level0",
        }
    }
}

/// How the buffers of a space were placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Side by side.
    Sequential,
    /// Sharing within pipes.
    Pipe,
    /// Level by level.
    Levels,
    /// By search, since the levels found nothing.
    Search,
    /// No plan was found.
    Failed,
}

/// In which order entries of the same class are placed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By the start of their lives.
    #[default]
    Start,
    /// The largest first.
    LargestFirst,
}

/// What became of one space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceReport {
    /// The space.
    pub space: SpaceId,
    /// How it was planned.
    pub mode: Mode,
    /// The bytes that the space needs if buffers share within pipes only. `None` if nothing has to be shared, or if
    /// that was too much work to find out.
    pub without_crossing: Option<Bytes>,
    /// The bytes that first fit needs in unlimited memory if lives alone decide which buffers share. `None` unless the
    /// levels failed.
    pub required: Option<Bytes>,
    /// Placements that were taken back.
    pub rollbacks: u64,
    /// Buffers that are proved not to fit together. If planning failed and there is no witness, a plan may exist.
    pub witness: Option<Witness>,
}

/// What a plan by levels costs.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// A row for each space with buffers.
    pub spaces: Vec<SpaceReport>,
    /// Each buffer's level; `None` where nothing had to be shared or nothing was placed.
    pub levels: IndexVec<BufferId, Option<Level>>,
    /// The pairs of buffers in which one takes over bytes of another pipe.
    pub crossings: Vec<Crossing>,
}

/// The strategy. See the module documentation.
pub struct Levels;

impl Strategy for Levels {
    fn name(&self) -> &'static str {
        "levels"
    }

    fn describe(&self) -> &'static str {
        "on-chip memory: side by side, else sharing level by level, pipes apart as long as possible"
    }

    fn assigns(&self) -> &'static [Assign] {
        &[Assign::Offsets]
    }

    fn supports(&self, feature: Feature, _: Assign) -> bool {
        use Feature::{CandidateSpaces, Dependencies, ReuseCosts, Shapes, Ties, UnboundedSymbols};
        !matches!(feature, CandidateSpaces | Dependencies | ReuseCosts | Shapes | Ties | UnboundedSymbols)
    }

    fn plan(&self, problem: &Problem, request: &Request) -> Outcome {
        plan(problem, Order::Start, request).0
    }
}

/// Plans every space by levels, or by the search where the levels find no way, and reports what that costs.
pub fn plan(problem: &Problem, order: Order, request: &Request) -> (Outcome, Report) {
    let mut report = Report { levels: IndexVec::filled(None, problem.buffers().len()), ..Report::default() };
    let mut plan = Plan::empty(problem);
    // The outcome of a space that could not be planned, if there is one.
    let mut worst: Option<Outcome> = None;
    for space in problem.spaces().ids() {
        let Some(entries) = Entries::of(problem, space, order) else { continue };
        let mut row = SpaceReport {
            space,
            mode: Mode::Sequential,
            without_crossing: None,
            required: None,
            rollbacks: 0,
            witness: None,
        };
        // The first fit of the levels cannot place buffers at fixed addresses or of gigantic sizes; the search can.
        let has_fixed = problem.buffers().iter().any(|buffer| buffer.fixed().is_some() && buffer.spaces[0] == space);
        let is_for_levels = entries.is_moderate && !has_fixed;
        let by_levels = if is_for_levels { place_space(&entries, &mut row) } else { None };
        if let Some(placed) = &by_levels {
            adopt(&entries, space, placed, &mut plan, &mut report);
        }
        // The search below needs no entries, and they are as large as the problem.
        drop(entries);
        match by_levels {
            Some(_) => {}
            None => match fallback::search(problem, space, request) {
                Ok(found) => {
                    row.mode = Mode::Search;
                    for (buffer, placement) in found.placements {
                        report.levels[buffer] = Some(Level::Pipe);
                        plan.placements[buffer] = Some(placement);
                    }
                    plan.reused.extend(found.reused);
                }
                Err(outcome) => {
                    row.mode = Mode::Failed;
                    if let Outcome::Infeasible(witness) = &*outcome {
                        row.witness = Some(witness.clone());
                    }
                    // All spaces are tried even if one fails, so that the report covers them all. A proof that one of
                    // them is too small says more than a search that gave up, so it is the outcome.
                    if row.witness.is_some() || worst.is_none() {
                        worst = worst.filter(|worst| matches!(worst, Outcome::Infeasible(_))).or(Some(*outcome));
                    }
                }
            },
        }
        report.spaces.push(row);
    }
    if let Some(outcome) = worst {
        return (outcome, report);
    }
    plan.fit_extents(problem);
    let taken = crossing::takeovers(problem, &plan);
    report.crossings = crossing::find(problem, &taken);
    rank_searched(problem, &plan, &taken, &mut report);
    (Outcome::judge(problem, plan, Stop::Finished), report)
}

/// Gives levels to the buffers of spaces that the search has planned. The search knows nothing of levels, so a buffer's
/// level follows from the buffers whose bytes it takes over.
fn rank_searched(problem: &Problem, plan: &Plan, taken: &[Crossing], report: &mut Report) {
    let searched: Vec<SpaceId> =
        report.spaces.iter().filter(|row| row.mode == Mode::Search).map(|row| row.space).collect();
    if searched.is_empty() {
        return;
    }
    let ranked = crossing::levels(problem, plan, taken);
    for (id, buffer) in problem.buffers().iter_enumerated() {
        if buffer.spaces.first().is_some_and(|space| searched.contains(space)) {
            report.levels[id] = ranked[id].or(Some(Level::Pipe));
        }
    }
}

/// The level of each buffer of any plan: what it costs that it takes over the bytes of others.
/// `None` for a buffer that takes over nothing.
pub fn levels_of(problem: &Problem, plan: &Plan) -> IndexVec<BufferId, Option<Level>> {
    crossing::levels(problem, plan, &crossing::takeovers(problem, plan))
}

/// Places the buffers of a space by levels (steps 1 to 3 of the module documentation), and notes in `row` which step
/// has placed them. `None` if these steps find no way.
fn place_space(entries: &Entries, row: &mut SpaceReport) -> Option<Placed> {
    // Step 1: everything side by side.
    if let Some(placed) = place::sequential(entries) {
        return Some(placed);
    }
    // Step 2: sharing within pipes. `None` says that even this is too much work; the space is left to the search then.
    let mut planner = Planner::new(entries);
    let shared = planner.unlimited(Level::Pipe)?;
    row.without_crossing = Some(Bytes(shared.extent));
    if shared.extent <= entries.capacity {
        row.mode = Mode::Pipe;
        return Some(shared);
    }
    // Step 3: level by level, within the capacity.
    row.mode = Mode::Levels;
    // If there is only one item, it is larger than the capacity (step 1 has failed), and no level has room for it.
    let placed = if entries.items.len() > 1 { planner.within_capacity() } else { None };
    row.rollbacks = planner.rollbacks;
    if placed.is_none() {
        row.required = Some(Bytes(required(entries, &mut planner)));
    }
    placed
}

/// The bytes that the report asks the user for, when the levels have failed: what first fit by lives alone takes, or
/// the size if there is one item only. The sum of all sizes if that is too much work to find out.
fn required(entries: &Entries, planner: &mut Planner) -> u64 {
    // First fit of one item would need no more than the item's size, and `unlimited` may give up.
    let alone = if entries.items.len() == 1 { Some(entries.sum) } else { None };
    let by_lives = || planner.unlimited(Level::Lives).map(|placed| placed.extent);
    alone.or_else(by_lives).unwrap_or(entries.sum)
}

/// Copies the places of one space into the plan, and the levels into the report. Buffers that are never alive go to
/// address 0.
fn adopt(entries: &Entries, space: SpaceId, placed: &Placed, plan: &mut Plan, report: &mut Report) {
    for (entry, info) in entries.list.iter().enumerate() {
        let offsets = placed.offsets[entry].iter().map(|&offset| Bytes(offset));
        for &buffer in &info.members {
            let place = Placement::at(space, Bytes::ZERO);
            plan.placements[buffer] = Some(Placement { offsets: offsets.clone().collect(), ..place });
            report.levels[buffer] = placed.levels[entry];
        }
    }
    for &buffer in &entries.unused {
        plan.placements[buffer] = Some(Placement::at(space, Bytes::ZERO));
    }
    for &(buffer, over) in &placed.overlays {
        plan.reused.push(Reuse { buffer, over: vec![over] });
    }
}
