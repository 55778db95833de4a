//! The cheapest placement of a component, with a proof.
//!
//! Pieces get their offsets one after the other. A piece that is placed adds to the cost of the offsets of pieces that
//! are not placed yet. A branch is cut when three sums together reach the best cost so far:
//!
//! ```text
//!   pairs of two placed pieces                  what they cost
//!   pairs of a placed and another piece         for each other piece its cheapest offset
//!   pairs of two pieces that are not placed     the least cost of those pieces on their own
//! ```
//!
//! The third number comes from *Russian dolls*: the last piece alone costs nothing; then the last two are solved, then
//! the last three, and so on. Each of these problems uses the least costs of all the smaller ones, and its own is a
//! lower bound for the larger ones. When work runs out, the largest doll that was solved still bounds the cost from
//! below.
//!
//! If all pieces are equally large and their offsets form a grid, the offsets are interchangeable. Then of the unused
//! offsets only the lowest is tried ([`is_uniform`]).
//!
//! Among equally cheap placements the lowest is wanted. Once the cost is known, the same search asks for that cost in
//! fewer bytes, until the answer is no.
//!
//! Words from other files: a [`Component`] is a set of pieces that relations connect, all in one space, as positions in
//! the [`Model`]; a [`Relation`] of two pieces holds if the difference of their offsets lies in an interval, and then
//! it is forbidden or has a price.

use std::ops::ControlFlow;

use super::domain::Component;
use super::model::{Item, Model, Relation};
use crate::search::Budget;
use crate::tuning::OFFSETS_PER_UNIT;

/// What is known about a component in the end.
#[derive(Clone, Debug)]
pub(super) struct Solved {
    /// The best placement that is known, the given one included: offsets by position in the component. `None` if there
    /// is none.
    pub(super) offsets: Option<Vec<i64>>,
    /// A lower bound of the cost; `None` if there is no placement at all.
    pub(super) lower_bound: Option<u64>,
    /// Whether it is proved that, of all placements of the least cost, `offsets` has the smallest extent.
    pub(super) is_lowest: bool,
}

/// Solves a component. `domains` are the offsets to look at, by position in the component ([`super::domain`]), and
/// `start` is a placement that is known, if any: only cheaper or lower ones are of interest. When work runs out, the
/// bound of the largest doll that was solved is returned.
pub(super) fn solve(
    model: &Model,
    component: &Component,
    domains: &[Vec<i64>],
    start: Option<&[i64]>,
    budget: &mut Budget,
) -> Solved {
    let mut search = Search::new(model, component, domains);
    let mut best: Option<Vec<i64>> = start.map(<[i64]>::to_vec);
    // Doll by doll: the last piece, the last two, …, all.
    for first in (0..component.items.len()).rev() {
        let known = start.map(|offsets| search.cost_from(first, offsets));
        // The least cost of the smaller doll, without this piece.
        let below = search.dolls[first + 1];
        // With one piece more the cost is at least that of the smaller doll. If the known placement costs no more than
        // that, it is a cheapest one for this doll, and nothing has to be searched.
        if known == Some(below) {
            search.dolls[first] = below;
            continue;
        }
        search.prepare(first, known.unwrap_or(u64::MAX), i64::MAX);
        if search.place(first, 0, budget).is_break() {
            return Solved { offsets: best, lower_bound: Some(below), is_lowest: false };
        }
        // If no placement was found and none was known, even the pieces of this doll alone have no placement without a
        // forbidden pair.
        if search.found.is_none() && known.is_none() {
            return Solved { offsets: None, lower_bound: None, is_lowest: false };
        }
        // The ceiling is the cost of what was found, or still that of the known placement if nothing is cheaper.
        search.dolls[first] = search.ceiling;
        // Only the last doll contains all pieces, so only its placement is one of the component.
        if first == 0 {
            best = search.found.take().or(best);
        }
    }
    let is_lowest = search.sink(&mut best, budget);
    Solved { offsets: best, lower_bound: Some(search.dolls[0]), is_lowest }
}

/// What a component costs at given offsets: every pair once, from the piece that comes first.
pub(super) fn cost(model: &Model, component: &Component, offsets: &[i64]) -> u64 {
    let price = |(place, relation): (usize, &Relation)| {
        let other = component.items.binary_search(&(relation.other as usize)).ok()?;
        let is_active = other > place && relation.holds(offsets[place], offsets[other]);
        relation.weight.filter(|_| is_active)
    };
    let items = component.items.iter().enumerate();
    let relations =
        items.flat_map(|(place, &item)| model.items[item].relations.iter().map(move |other| (place, other)));
    relations.filter_map(price).sum()
}

impl Solved {
    /// What the placement costs that is known.
    pub(super) fn cost(&self, model: &Model, component: &Component) -> Option<u64> {
        self.offsets.as_ref().map(|offsets| cost(model, component, offsets))
    }

    /// Whether nothing is left to be proved: there is no placement, or none is cheaper than the known one.
    pub(super) fn is_proved(&self, model: &Model, component: &Component) -> bool {
        self.lower_bound.is_none() || self.cost(model, component) == self.lower_bound
    }
}

/// A relation with a piece that is placed later, at position `other` of the component. The relation holds if "own
/// offset minus the other's" is above `low` and below `high`. Then it costs `weight`; `None` means that it is
/// forbidden.
#[derive(Clone, Copy)]
struct Later {
    other: usize,
    low: i64,
    high: i64,
    weight: Option<u64>,
}

/// The relations of the piece at position `place` of a component with the pieces at later positions.
fn later(component: &Component, place: usize, item: &Item) -> Vec<Later> {
    let mut later = Vec::new();
    for relation in &item.relations {
        if let Ok(other) = component.items.binary_search(&(relation.other as usize))
            && other > place
        {
            later.push(Later { other, low: relation.low, high: relation.high, weight: relation.weight });
        }
    }
    later
}

/// Whether all pieces have one size, the same offsets, and collide exactly if they lie at the same offset. Then only
/// which pieces lie together matters, and offsets can be swapped at will.
fn is_uniform(items: &[&Item], domains: &[Vec<i64>]) -> bool {
    let size = items.first().map_or(0, |item| item.size);
    let are_same = domains.windows(2).all(|pair| pair[0] == pair[1]);
    // Neighbouring offsets are at least a piece apart. Then two pieces collide only if they have the same offset.
    let is_grid = domains.first().is_none_or(|offsets| offsets.windows(2).all(|pair| pair[1] - pair[0] >= size));
    let mut relations = items.iter().flat_map(|item| &item.relations);
    let are_whole = relations.all(|relation| relation.low == -size && relation.high == size);
    are_same && is_grid && are_whole && items.iter().all(|item| item.fixed.is_none())
}

/// The search of one component. Pieces are named by their position in it, and placed in this order.
struct Search<'d> {
    /// By piece: the offsets it may have, ascending.
    domains: &'d [Vec<i64>],
    sizes: Vec<i64>,
    /// By piece: its relations with pieces that are placed after it.
    later: Vec<Vec<Later>>,
    /// By piece and offset: what the placed pieces make it cost, and how many of them forbid it.
    costs: Vec<Vec<(u64, u32)>>,
    /// By piece: what its cheapest offset costs that is not forbidden; `u64::MAX` if all are.
    least: Vec<u64>,
    /// At position n: a lower bound of what the pieces at positions n and later cost among themselves.
    dolls: Vec<u64>,
    /// By piece: the position of its offset in its domain.
    chosen: Vec<usize>,
    /// The piece with which the doll in progress begins.
    first: usize,
    /// Whether offsets are interchangeable.
    is_uniform: bool,
    /// Placements have to cost less than this.
    ceiling: u64,
    /// Offsets that were updated and not paid for yet.
    debt: u64,
    found: Option<Vec<i64>>,
}

impl<'d> Search<'d> {
    /// Prepares the search of a component whose pieces may have the offsets of `domains`.
    fn new(model: &Model, component: &Component, domains: &'d [Vec<i64>]) -> Search<'d> {
        let items: Vec<&Item> = component.items.iter().map(|&item| &model.items[item]).collect();
        let count = items.len();
        let is_uniform = is_uniform(&items, domains);
        Search {
            domains,
            sizes: items.iter().map(|item| item.size).collect(),
            later: items.iter().enumerate().map(|(place, item)| later(component, place, item)).collect(),
            costs: domains.iter().map(|offsets| vec![(0, 0); offsets.len()]).collect(),
            least: vec![0; count],
            dolls: vec![0; count + 1],
            chosen: vec![0; count],
            first: 0,
            is_uniform,
            ceiling: u64::MAX,
            debt: 0,
            found: None,
        }
    }

    /// Starts over with the pieces from `first` on, none of them placed. Placements have to cost less than `ceiling`,
    /// and no piece may end above `roof` (offsets that are too high count as forbidden once).
    fn prepare(&mut self, first: usize, ceiling: u64, roof: i64) {
        (self.first, self.ceiling, self.found) = (first, ceiling, None);
        for place in first..self.domains.len() {
            for (cost, &offset) in self.costs[place].iter_mut().zip(&self.domains[place]) {
                *cost = (0, u32::from(offset > roof - self.sizes[place]));
            }
            self.least[place] = least(&self.costs[place]);
        }
    }

    /// What the pieces from `first` on cost among themselves at given offsets.
    fn cost_from(&self, first: usize, offsets: &[i64]) -> u64 {
        let is_held = |place: usize, later: &&Later| {
            let distance = offsets[place] - offsets[later.other];
            later.low < distance && distance < later.high
        };
        let prices = |place: usize| {
            let held = self.later[place].iter().filter(move |later| is_held(place, later));
            held.filter_map(|later| later.weight).sum::<u64>()
        };
        (first..offsets.len()).map(prices).sum()
    }

    /// Gives the pieces from `place` on their offsets; the pieces before it are placed and cost `spent` among
    /// themselves. Each complete placement is stored in `found`, and its cost becomes the ceiling for the next one.
    /// Breaks if the budget is used up.
    fn place(&mut self, place: usize, spent: u64, budget: &mut Budget) -> ControlFlow<()> {
        // All pieces are placed, and bounds have made sure that the cost is below the ceiling.
        if place == self.domains.len() {
            let offsets = self.chosen.iter().zip(self.domains).map(|(&choice, offsets)| offsets[choice]);
            self.found = Some(offsets.collect());
            self.ceiling = spent;
            return ControlFlow::Continue(());
        }
        // The offsets that no placed piece forbids, the cheapest first.
        let mut order: Vec<(u64, usize)> = self.costs[place]
            .iter()
            .enumerate()
            .filter(|(_, cost)| cost.1 == 0)
            .map(|(at, cost)| (cost.0, at))
            .collect();
        if self.is_uniform {
            // All unused offsets are alike: the lowest of them stands for all.
            let unused = self.lowest_unused(place);
            order.retain(|&(_, at)| at <= unused);
        }
        order.sort_unstable();
        for (cost, choice) in order {
            // The offsets come cheapest first, so if this one is too dear, all that follow are.
            if self.bound(place, spent.saturating_add(cost)) >= self.ceiling {
                break;
            }
            self.count_node(place, budget);
            if budget.stop().is_some() {
                return ControlFlow::Break(());
            }
            self.chosen[place] = choice;
            self.charge(place, choice, true);
            // With this piece placed, the cheapest offsets of later pieces may have become dearer.
            let flow = match self.bound(place, spent + cost) < self.ceiling {
                true => self.place(place + 1, spent + cost, budget),
                false => ControlFlow::Continue(()),
            };
            self.charge(place, choice, false);
            flow?;
        }
        ControlFlow::Continue(())
    }

    /// What all pieces of the doll cost at least if those up to and including `place` cost `spent`: the three sums of
    /// the module documentation.
    fn bound(&self, place: usize, spent: u64) -> u64 {
        let with_others = self.least[place + 1..].iter().fold(0u64, |sum, &least| sum.saturating_add(least));
        spent.saturating_add(with_others).saturating_add(self.dolls[place + 1])
    }

    /// The position, in the domain that all pieces have in common, of the lowest offset that no placed piece has.
    /// Pieces only ever get offsets up to this one, so the offsets in use have no gaps, and it follows the highest of
    /// them.
    fn lowest_unused(&self, place: usize) -> usize {
        self.chosen[self.first..place].iter().map(|&choice| choice + 1).max().unwrap_or(0)
    }

    /// Tells the later pieces that a piece has been put at an offset (`is_placed`) or taken away again: the costs of
    /// their offsets, and how many placed pieces forbid them.
    fn charge(&mut self, place: usize, choice: usize, is_placed: bool) {
        let offset = self.domains[place][choice];
        for index in 0..self.later[place].len() {
            let Later { other, low, high, weight } = self.later[place][index];
            // The relation holds where low < our offset - theirs < high: their offsets from above `offset - high` to
            // below `offset - low`.
            let theirs = &self.domains[other];
            let from = theirs.partition_point(|&their| their <= offset - high);
            let to = theirs.partition_point(|&their| their < offset - low);
            for cost in &mut self.costs[other][from..to.max(from)] {
                match (weight, is_placed) {
                    (Some(weight), true) => cost.0 += weight,
                    (Some(weight), false) => cost.0 -= weight,
                    (None, true) => cost.1 += 1,
                    (None, false) => cost.1 -= 1,
                }
            }
            self.least[other] = least(&self.costs[other]);
        }
    }

    /// Pays for a node. It counts as 16 offsets, and as 8 and all offsets of the other piece for each relation that
    /// has to be updated. That is much less than a unit of work, so the rest is kept as `debt` until it makes a unit.
    fn count_node(&mut self, place: usize, budget: &mut Budget) {
        let touched: usize = self.later[place].iter().map(|later| 8 + self.domains[later.other].len()).sum();
        self.debt += 16 + touched as u64;
        budget.spend(self.debt / OFFSETS_PER_UNIT);
        self.debt %= OFFSETS_PER_UNIT;
    }

    /// Looks for plans of the same cost that need fewer bytes, until there is none. Says whether the search came to its
    /// end, so that the last plan is the smallest.
    fn sink(&mut self, best: &mut Option<Vec<i64>>, budget: &mut Budget) -> bool {
        while let Some(offsets) = best {
            let ends = offsets.iter().zip(&self.sizes).map(|(offset, size)| offset + size);
            // A byte less than now, and the cost that is known to be the least (the ceiling is one above it).
            let roof = ends.max().unwrap_or(0) - 1;
            self.prepare(0, self.dolls[0].saturating_add(1), roof);
            if self.place(0, 0, budget).is_break() {
                return false;
            }
            match self.found.take() {
                Some(found) => *best = Some(found),
                None => return true,
            }
        }
        true
    }
}

/// The cost of the cheapest offset that is not forbidden; `u64::MAX` if all are.
fn least(costs: &[(u64, u32)]) -> u64 {
    costs.iter().filter(|cost| cost.1 == 0).map(|cost| cost.0).min().unwrap_or(u64::MAX)
}
