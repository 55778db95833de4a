//! The depth-first search for the smallest extent of one model.
//!
//! At a node of the search some choices between inequalities have been made, and every part has a lowest offset that
//! follows from them. If these lowest offsets keep all choices, that is, if of each choice some option holds for them,
//! they are a plan, and no plan at this node is lower. Otherwise some choice is not kept, and the node branches on its
//! options.
//!
//! Words from other files: a [`Model`] has parts (pieces in one space), choices with options, and in `enough` an extent
//! that is large enough for a plan if there is any; [`Domains`] has the lowest and the highest offset of each part at
//! the present node and draws conclusions; a [`Least`] is an inequality between two parts.

use super::bounds_propagation::{Dead, Domains, Mark, Rules};
use super::model::{Least, Model};
use crate::tuning::FIRST_DIVE_NODES;

/// What is known about a model. Extents are in bytes.
#[derive(Clone, Debug)]
pub(super) struct Known {
    /// No plan has a smaller extent.
    pub(super) lower: i64,
    /// Only plans with a smaller extent are of interest: either a plan with this extent is known, or this is one more
    /// than the bytes that are available.
    pub(super) below: i64,
    /// The best plan found so far; it needs `below`.
    pub(super) offsets: Option<Vec<i64>>,
    /// A good plan, perhaps with a larger extent. Options that hold in it are tried first.
    pub(super) guide: Option<Vec<i64>>,
}

impl Known {
    /// Whether there is nothing left to find.
    pub(super) fn is_settled(&self) -> bool {
        self.lower >= self.below
    }
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// All nodes were visited: there is no plan with an extent below the best one.
    Exhausted,
    /// A plan as small as was asked for was found.
    Enough,
    /// The node limit was met, or the caller no longer waits.
    Open,
}

/// What a search has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spent {
    /// Nodes that were visited.
    pub(super) nodes: u64,
    /// What these nodes looked at: inequalities, choices and jobs of cliques.
    pub(super) looks: u64,
}

impl std::ops::AddAssign for Spent {
    fn add_assign(&mut self, other: Spent) {
        self.nodes += other.nodes;
        self.looks += other.looks;
    }
}

/// When to give up: after how many nodes or looks, or when the caller no longer waits. And which rules to use.
pub(super) struct Patience<'a> {
    /// Most nodes.
    pub(super) nodes: u64,
    /// Most looks.
    pub(super) looks: u64,
    /// Asked now and then whether to give up.
    pub(super) is_over: &'a dyn Fn() -> bool,
    pub(super) rules: Rules,
}

impl Patience<'_> {
    /// Whether a search that has done so much has used up its nodes or its looks.
    pub(super) fn is_spent(&self, spent: Spent) -> bool {
        spent.nodes >= self.nodes || spent.looks >= self.looks
    }

    /// What is left of the nodes and looks.
    pub(super) fn left(&self, spent: Spent) -> Patience<'_> {
        let nodes = self.nodes.saturating_sub(spent.nodes);
        let looks = self.looks.saturating_sub(spent.looks);
        Patience { nodes, looks, ..*self }
    }
}

/// A choice on which a node has branched.
struct Frame {
    /// The state before the choice was made.
    mark: Mark,
    choice: u32,
    /// The options of the choice in the order in which they are tried, and the position of the next one.
    options: Vec<u32>,
    next: usize,
}

/// Searches for plans with smaller and smaller extents below `known.below`, until there is none, one is no larger than
/// `enough`, or patience is over. What it finds goes to `known`. Returns what was spent.
pub(super) fn minimise(model: &Model, known: &mut Known, enough: i64, patience: &Patience) -> Spent {
    let looks = raise_lower(model, known, patience);
    if known.is_settled() {
        return Spent { nodes: 1, looks };
    }
    let mut domains = Domains::new(model, patience.rules);
    domains.looks += looks;
    let mut search = Search { model, domains, stack: Vec::new(), nodes: 0 };
    // If all nodes were visited, no plan is smaller than `known.below`.
    if search.run(known, enough.max(known.lower), patience) == End::Exhausted {
        known.lower = known.below;
    }
    search.spent()
}

/// Raises the lower bound as far as conclusions without branching go: finds, by halving an interval, the smallest
/// extent that propagation does not refute. If propagation refutes even `model.enough` bytes, the lower bound becomes
/// at least `known.below`, so that nothing is left to find. Returns how many looks that took.
pub(super) fn raise_lower(model: &Model, known: &mut Known, patience: &Patience) -> u64 {
    let mut looks = 0;
    known.lower = known.lower.max(model.least_extent());
    // Each question starts from a fresh state, because a smaller extent leaves less than a larger one.
    let mut is_dead = |extent: i64| {
        let mut domains = Domains::new(model, patience.rules);
        let begun = domains.begin().and_then(|()| domains.limit(extent)).and_then(|()| domains.propagate());
        looks += domains.looks;
        begun == Err(Dead)
    };
    // No extent below `low` is possible; `high` is not refuted, or above everything that is asked for.
    let (mut low, mut high) = (known.lower, known.below.min(model.enough.saturating_add(1)));
    while low < high && !(patience.is_over)() {
        let middle = low + (high - low) / 2;
        if is_dead(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    // If a model has a plan, it has one within `enough` bytes. If even `enough` bytes are refuted, there is no plan at
    // all, and the bound goes above every extent that is still of interest.
    known.lower = if low > model.enough { known.below.max(low) } else { low };
    looks
}

/// The search tree of one model.
struct Search<'m> {
    model: &'m Model,
    domains: Domains<'m>,
    stack: Vec<Frame>,
    nodes: u64,
}

impl Search<'_> {
    fn spent(&self) -> Spent {
        Spent { nodes: self.nodes, looks: self.domains.looks }
    }

    /// Searches from the root again and again; each such search is a *dive* and has one and a half times as many nodes
    /// as the one before. Which parts were blamed for dead branches is remembered, and the next dive branches on
    /// choices between these parts first. An extent of at most `goal` ends the search.
    fn run(&mut self, known: &mut Known, goal: i64, patience: &Patience) -> End {
        // If the model has a plan, it has one within `enough` bytes. So no search needs more.
        let limit = known.below.saturating_sub(1).min(self.model.enough);
        let root = self.domains.begin().and_then(|()| self.domains.limit(limit));
        if root.and_then(|()| self.domains.propagate()).is_err() {
            return End::Exhausted;
        }
        let start = self.domains.mark();
        let mut dive = FIRST_DIVE_NODES;
        loop {
            let end = self.dive(known, goal, self.nodes.saturating_add(dive).min(patience.nodes), patience);
            if end != End::Open || patience.is_spent(self.spent()) || (patience.is_over)() {
                return end;
            }
            // Back to the root. A plan that was found in the dive has lowered the limit, which may refute the root.
            dive += dive / 2;
            self.stack.clear();
            self.domains.undo(start);
            let limited = self.domains.limit(known.below.saturating_sub(1));
            if limited.and_then(|()| self.domains.propagate()).is_err() {
                return End::Exhausted;
            }
        }
    }

    /// Goes through the tree of choices from the root, deeper nodes first. Ends with `Enough` when the best plan has an
    /// extent of at most `goal`; with `Exhausted` when all nodes were visited or refuted; with `Open` when `self.nodes`
    /// has reached `last_node` or patience is over. The stack has a frame for every choice that has been made and has
    /// other options left: a frame is closed when its last option is tried ([`Search::next`]).
    fn dive(&mut self, known: &mut Known, goal: i64, last_node: u64, patience: &Patience) -> End {
        // `Err` if propagation has refuted the present node. The root has been propagated by the caller.
        let mut result = Ok(());
        loop {
            self.nodes += 1;
            if result.is_ok() {
                // No rule has refuted the node. A choice that its lowest offsets do not keep opens a frame. If there is
                // none, the lowest offsets are a plan.
                match self.branch(known) {
                    Some(frame) => self.stack.push(frame),
                    None => self.keep(known),
                }
            }
            // `below` is also set before there is a plan, as a limit. Only with offsets is it the extent of a plan.
            if known.below <= goal && known.offsets.is_some() {
                return End::Enough;
            }
            // No choice has an option left, so all nodes were visited.
            if self.stack.is_empty() {
                return End::Exhausted;
            }
            // The clock is looked at every 64 nodes only, because a look costs time.
            let is_spent = self.nodes >= last_node || patience.is_spent(self.spent());
            if is_spent || (self.nodes.is_multiple_of(64) && (patience.is_over)()) {
                return End::Open;
            }
            // The next option of the innermost frame that has one; frames without any are closed on the way.
            match self.next(known) {
                Some(next) => result = next,
                None => return End::Exhausted,
            }
        }
    }

    /// All choices are kept, so the lowest offsets are a plan. It becomes the best one known.
    fn keep(&self, known: &mut Known) {
        let ends = self.model.parts.iter().zip(&self.domains.lowest).map(|(part, offset)| offset + part.size);
        known.below = ends.max().unwrap_or(0).max(0);
        known.offsets = Some(self.domains.lowest.clone());
        known.guide.clone_from(&known.offsets);
    }

    /// A frame for the most urgent choice that the lowest offsets do not keep; `None` if they keep all choices.
    fn branch(&mut self, known: &Known) -> Option<Frame> {
        self.domains.looks += self.model.choices.len() as u64;
        let mut best: Option<(f64, u32)> = None;
        for choice in 0..self.model.choices.len() as u32 {
            if self.domains.is_settled(choice) || self.domains.is_kept(choice) {
                continue;
            }
            let urgency = self.urgency(choice);
            if best.is_none_or(|(most, _)| urgency > most) {
                best = Some((urgency, choice));
            }
        }
        let (_, choice) = best?;
        Some(Frame { mark: self.domains.mark(), choice, options: self.options(choice, known), next: 0 })
    }

    /// How urgent a choice is: how often the two parts of its first inequality were blamed for dead branches, divided
    /// by the room (in bytes) that all possible options leave together. All options of a choice are between the same
    /// two parts, except those with helpers of an overlay, so the first inequality stands for all.
    fn urgency(&self, choice: u32) -> f64 {
        let options = &self.model.choices[choice as usize].options;
        let slacks = (0..options.len()).map(|option| self.domains.slack(choice, option)).filter(|&slack| slack >= 0);
        let room = slacks.fold(0i64, i64::saturating_add).saturating_add(1);
        let failures = |least: &Least| {
            let of = |part: u32| u64::from(self.domains.failures[part as usize]);
            of(least.below) + of(least.above)
        };
        options.iter().flatten().next().map_or(0, failures) as f64 / room as f64
    }

    /// The possible options of a choice in the order in which they are tried: first those that hold in the guide, and
    /// of each kind first those that leave most room.
    fn options(&self, choice: u32, known: &Known) -> Vec<u32> {
        let all = &self.model.choices[choice as usize].options;
        let is_guided = |option: usize| {
            known.guide.as_ref().is_some_and(|guide| {
                let holds = |l: &Least| guide[l.above as usize] >= guide[l.below as usize] + l.least;
                all[option].iter().all(holds)
            })
        };
        // A negative slack means that the option is impossible, so it is left out.
        let key = |option: usize| (!is_guided(option), -self.domains.slack(choice, option), option as u32);
        let mut options: Vec<(bool, i64, u32)> = (0..all.len()).map(key).filter(|key| key.1 <= 0).collect();
        options.sort_unstable();
        options.into_iter().map(|(_, _, option)| option).collect()
    }

    /// Goes back to the innermost choice that has an option left, takes that option and propagates. `None` if no choice
    /// has an option left; `Some(Err)` if the option is refuted at once.
    fn next(&mut self, known: &Known) -> Option<Result<(), Dead>> {
        loop {
            let frame = self.stack.last_mut()?;
            let (mark, choice) = (frame.mark, frame.choice);
            let option = frame.options.get(frame.next).copied();
            frame.next += 1;
            let is_last = frame.next >= frame.options.len();
            // The frame is closed before its last option is tried, so that a failure deeper in the tree goes straight
            // to the frame around this one.
            self.domains.undo(mark);
            if is_last {
                self.stack.pop();
            }
            let Some(option) = option else { continue };
            // `undo` has also taken back limits that were set for plans found since the mark, so the limit is set
            // again.
            let limited = self.domains.limit(known.below.saturating_sub(1));
            let chosen = limited.and_then(|()| self.domains.choose(choice, option as usize));
            return Some(chosen.and_then(|()| self.domains.propagate()));
        }
    }
}
