//! The depth-first search for the smallest extent of one model.
//!
//! With everything as low as its domain allows, either all choices are kept, and
//! that is a plan than which none at this node is lower; or some choice is not,
//! and the node branches on its options.

use super::domains::{Dead, Domains, Mark, Rules};
use super::model::Model;

/// What is known about a model.
#[derive(Clone, Debug)]
pub(super) struct Known {
    /// No plan needs less.
    pub(super) lower: i64,
    /// Only plans that need less are of interest: that much is known already, or too much.
    pub(super) below: i64,
    /// The best plan found so far; it needs `below`.
    pub(super) offsets: Option<Vec<i64>>,
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
    raise_lower(model, known, patience.rules);
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
pub(super) fn raise_lower(model: &Model, known: &mut Known, rules: Rules) {
    known.lower = known.lower.max(model.least_extent());
    let is_dead = |extent: i64| {
        let mut domains = Domains::new(model, rules);
        let begun = domains.begin().and_then(|()| domains.limit(extent)).and_then(|()| domains.propagate());
        begun == Err(Dead)
    };
    let (mut low, mut high) = (known.lower, known.below.min(model.enough.saturating_add(1)));
    while low < high {
        let middle = low + (high - low) / 2;
        if is_dead(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    // Past what is always enough: not even in an endless space.
    known.lower = if low > model.enough { known.below.max(low) } else { low };
}

struct Search<'m> {
    model: &'m Model,
    domains: Domains<'m>,
    stack: Vec<Frame>,
    nodes: u64,
}

impl Search<'_> {
    fn run(&mut self, known: &mut Known, goal: i64, patience: &Patience) -> End {
        let limit = known.below.saturating_sub(1).min(self.model.enough);
        let root = self.domains.begin().and_then(|()| self.domains.limit(limit));
        let mut result = root.and_then(|()| self.domains.propagate());
        loop {
            self.nodes += 1;
            if result.is_ok() {
                match self.branch() {
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
            if self.nodes >= patience.nodes || (self.nodes.is_multiple_of(64) && (patience.is_over)()) {
                return End::Open;
            }
            match self.next(known) {
                Some(next) => result = next,
                None => return End::Exhausted,
            }
        }
    }

    /// Everything is in its place.
    fn keep(&self, known: &mut Known) {
        let ends = self.model.parts.iter().zip(&self.domains.lowest).map(|(part, offset)| offset + part.size);
        known.below = ends.max().unwrap_or(0).max(0);
        known.offsets = Some(self.domains.lowest.clone());
    }

    /// The choice to make here; `None` if all are kept.
    fn branch(&self) -> Option<Frame> {
        let mut best: Option<(i64, i64, u32)> = None;
        for choice in 0..self.model.choices.len() as u32 {
            if self.domains.is_settled(choice) || self.domains.is_kept(choice) {
                continue;
            }
            let options = self.model.choices[choice as usize].options.len();
            let (mut sum, mut least) = (0i64, i64::MAX);
            for slack in (0..options).map(|option| self.domains.slack(choice, option)).filter(|&slack| slack >= 0) {
                sum = sum.saturating_add(slack);
                least = least.min(slack);
            }
            let key = (sum, least, choice);
            if best.is_none_or(|best| key < best) {
                best = Some(key);
            }
        }
        let (_, _, choice) = best?;
        let count = self.model.choices[choice as usize].options.len();
        let mut options: Vec<(i64, u32)> =
            (0..count).map(|option| (-self.domains.slack(choice, option), option as u32)).collect();
        options.retain(|&(slack, _)| slack <= 0);
        options.sort_unstable();
        let options = options.into_iter().map(|(_, option)| option).collect();
        Some(Frame { mark: self.domains.mark(), choice, options, next: 0 })
    }

    /// Takes the next option of the innermost open choice. `None` if there is none left.
    fn next(&mut self, known: &Known) -> Option<Result<(), Dead>> {
        loop {
            let frame = self.stack.last_mut()?;
            let (mark, choice) = (frame.mark, frame.choice);
            let option = frame.options.get(frame.next).copied();
            frame.next += 1;
            let is_last = frame.next >= frame.options.len();
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
