//! The depth-first search for the smallest extent of one model.
//!
//! With everything as low as its domain allows, either all choices are kept, and
//! that is a plan than which none at this node is lower; or some choice is not,
//! and the node branches on its options.

use super::bounds_propagation::{Dead, Domains, Mark, Rules};
use super::model::{Least, Model};
use crate::tuning::FIRST_DIVE_NODES;

/// What is known about a model.
#[derive(Clone, Debug)]
pub(super) struct Known {
    /// No plan needs less.
    pub(super) lower: i64,
    /// Only plans that need less are of interest: that much is known already, or too much.
    pub(super) below: i64,
    /// The best plan found so far; it needs `below`.
    pub(super) offsets: Option<Vec<i64>>,
    /// A good plan to stay near to, perhaps one that needs more.
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
    /// There is no plan that needs less.
    Exhausted,
    /// A plan is good enough.
    Enough,
    /// Patience was over.
    Open,
}

/// How much may be done.
pub(super) struct Patience<'a> {
    pub(super) nodes: u64,
    pub(super) is_over: &'a dyn Fn() -> bool,
    pub(super) rules: Rules,
}

struct Frame {
    mark: Mark,
    choice: u32,
    options: Vec<u32>,
    next: usize,
}

/// Searches for plans that need less than `known.below`, ever smaller ones, until
/// there is none, one needs no more than `enough`, or patience is over. Returns
/// the nodes visited.
pub(super) fn minimise(model: &Model, known: &mut Known, enough: i64, patience: &Patience) -> u64 {
    raise_lower(model, known, patience);
    if known.is_settled() {
        return 1;
    }
    let domains = Domains::new(model, patience.rules);
    let mut search = Search { model, domains, stack: Vec::new(), nodes: 0 };
    if search.run(known, enough.max(known.lower), patience) == End::Exhausted {
        known.lower = known.below;
    }
    search.nodes
}

/// Raises the lower bound as far as conclusions without branching go.
pub(super) fn raise_lower(model: &Model, known: &mut Known, patience: &Patience) {
    known.lower = known.lower.max(model.least_extent());
    let is_dead = |extent: i64| {
        let mut domains = Domains::new(model, patience.rules);
        let begun = domains.begin().and_then(|()| domains.limit(extent)).and_then(|()| domains.propagate());
        begun == Err(Dead)
    };
    let (mut low, mut high) = (known.lower, known.below.min(model.enough.saturating_add(1)));
    while low < high && !(patience.is_over)() {
        let middle = low + (high - low) / 2;
        if is_dead(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    // `enough` bytes suffice for every problem that has a plan. If even they are refuted, there is no plan at all, and
    // the bound goes above every plan that is still of interest.
    known.lower = if low > model.enough { known.below.max(low) } else { low };
}

struct Search<'m> {
    model: &'m Model,
    domains: Domains<'m>,
    stack: Vec<Frame>,
    nodes: u64,
}

impl Search<'_> {
    /// Dives from the root again and again, longer every time: which parts
    /// fail is remembered, and they are decided on first.
    fn run(&mut self, known: &mut Known, goal: i64, patience: &Patience) -> End {
        let limit = known.below.saturating_sub(1).min(self.model.enough);
        let root = self.domains.begin().and_then(|()| self.domains.limit(limit));
        if root.and_then(|()| self.domains.propagate()).is_err() {
            return End::Exhausted;
        }
        let start = self.domains.mark();
        let mut dive = FIRST_DIVE_NODES;
        loop {
            let end = self.dive(known, goal, self.nodes.saturating_add(dive).min(patience.nodes), patience);
            if end != End::Open || self.nodes >= patience.nodes || (patience.is_over)() {
                return end;
            }
            // A plan that was found meanwhile has lowered the limit, which may refute the root.
            dive += dive / 2;
            self.stack.clear();
            self.domains.undo(start);
            let limited = self.domains.limit(known.below.saturating_sub(1));
            if limited.and_then(|()| self.domains.propagate()).is_err() {
                return End::Exhausted;
            }
        }
    }

    /// Goes through the tree of choices, deeper first, until the goal is met, the tree is exhausted or the limit of
    /// nodes or patience is reached. The stack has a frame for every choice that has been made and has other options
    /// left.
    fn dive(&mut self, known: &mut Known, goal: i64, last_node: u64, patience: &Patience) -> End {
        let mut result = Ok(());
        loop {
            self.nodes += 1;
            // A node that no rule has refuted is branched on; one without a choice left is a plan.
            if result.is_ok() {
                // A choice that no bound decides opens a frame. If there is none, the lowest offsets are a plan.
                match self.branch(known) {
                    Some(frame) => self.stack.push(frame),
                    None => self.keep(known),
                }
            }
            if known.below <= goal && known.offsets.is_some() {
                return End::Enough;
            }
            if self.stack.is_empty() {
                return End::Exhausted;
            }
            if self.nodes >= last_node || (self.nodes.is_multiple_of(64) && (patience.is_over)()) {
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

    /// The choice to make here; `None` if all are kept.
    fn branch(&self, known: &Known) -> Option<Frame> {
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

    /// Choices with little room left between parts that often fail come first.
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

    /// The possible options: those that the guide takes first, then those that leave most room.
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

    /// Takes the next option of the innermost open choice. `None` if there is none left.
    fn next(&mut self, known: &Known) -> Option<Result<(), Dead>> {
        loop {
            let frame = self.stack.last_mut()?;
            let (mark, choice) = (frame.mark, frame.choice);
            let option = frame.options.get(frame.next).copied();
            frame.next += 1;
            let is_last = frame.next >= frame.options.len();
            // The frame of the last option is closed before the option is tried, so that a failure below goes straight
            // to the frame around.
            self.domains.undo(mark);
            if is_last {
                self.stack.pop();
            }
            let Some(option) = option else { continue };
            let limited = self.domains.limit(known.below.saturating_sub(1));
            let chosen = limited.and_then(|()| self.domains.choose(choice, option as usize));
            return Some(chosen.and_then(|()| self.domains.propagate()));
        }
    }
}
