//! The improver: pieces move one at a time to where they are least in the way (simulated annealing).
//!
//! A *relation* ([`super::model`]) is between two pieces: if the distance of their offsets lies in some interval, this
//! has a price or is forbidden. A forbidden relation that holds in a placement is *broken*.
//!
//! Take a piece out. What it would cost at an offset is a step function of the offset: each relation with a placed
//! piece adds its weight between two offsets. The steps are sorted and walked once:
//!
//! ```text
//!   cost
//!     4 ┤        ┌──────────────┐         b forbids 8..24 (weight: the penalty, 3)
//!     1 ┤   ┌────┘              └───┐     c costs 1 in 4..28
//!     0 ┼───┴───────────────────────┴──── offset
//!       0   4    8              24  28
//! ```
//!
//! The lowest and the highest offset of every step are candidates. One of them is drawn: a candidate that costs `c`
//! more than the best one is `exp(-c / temperature)` as likely. So a hot piece goes nearly anywhere, and a cold one to
//! the best place. The temperature falls in the course of a round. The cheapest placement without broken relations
//! counts. There are two kinds of rounds:
//!
//! - In a *free* round forbidden relations are only penalised, which lets pieces move through each other; a penalty
//!   grows as long as its relation stays broken, faster towards the end. If there is some room in the space, a free
//!   round finds the cheapest placements. If there is hardly any, it ends with broken relations and has found nothing.
//! - A *strict* round begins with a placement and never breaks a relation. It helps if there is hardly any room, and it
//!   improves what a free round has found.
//!
//! Nobody knows beforehand how much room is enough. So there are two chains of rounds side by side, on two threads if
//! there are two: one chain begins each time with a free round, the other one has strict rounds only. Each chain may
//! spend the whole budget. Each round is longer than all rounds before it together, so that a search that ends early
//! has the result of the last round. The result is the same for the same seed and the same work, whatever the clock
//! says.
//!
//! A [`Model`] has an item for each piece: its size, its homes (the spaces that it may live in) and its relations. A
//! [`Spot`] is a home, by its position in that list, and an offset there.

use std::ops::ControlFlow;

use memplan_core::patience::Patience;

use super::model::{Model, Spot};
use crate::search::{Budget, Random};
use crate::tuning::{
    COLDEST, FIRST_PENALTY, FIRST_ROUND, FREE_SHARE, HOTTEST, HURRIED_PENALTIES, LONGEST_ROUND, LUKEWARM,
    MOVES_PER_GLANCE, MOVES_PER_PENALTY, PENALTY_GROWTH, RELATIONS_PER_UNIT, ROUND_GROWTH, STRICT_PENALTY,
};

/// A placement without broken relations, and what it costs.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// By piece.
    pub(super) spots: Vec<Spot>,
    pub(super) cost: u64,
}

/// Moves pieces about as long as the budget lasts, or until a placement costs `enough` or less (a lower bound: nothing
/// cheaper exists). Returns the cheapest placement of each chain, at most as expensive as `start`; `None` if a chain
/// found none and there was no `start`.
pub(super) fn anneal(
    model: &Model,
    start: Option<Found>,
    enough: u64,
    seed: u64,
    budget: &mut Budget,
) -> [Option<Found>; 2] {
    let chains = Chains { model, start, enough, seed };
    // Each chain may do all the work that is left, with one thread as well as with two, so the result is the same. The
    // work of the chain that did more is counted, because they can run side by side.
    let [free, strict] = [(); 2].map(|()| budget.at_most(budget.work_left()));
    let patience = Patience::current();
    let (one, other) = if budget.threads > 1 {
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                // A new thread does not know how long the caller waits, so it is told.
                let _current = patience.as_ref().map(Patience::enter);
                chains.run(Kind::Strict, strict)
            });
            let one = chains.run(Kind::Free, free);
            (one, other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })
    } else {
        (chains.run(Kind::Free, free), chains.run(Kind::Strict, strict))
    };
    budget.spend(one.1.max(other.1));
    [one.0, other.0]
}

/// What the two chains of rounds have in common.
struct Chains<'m> {
    model: &'m Model,
    start: Option<Found>,
    enough: u64,
    seed: u64,
}

impl Chains<'_> {
    /// Runs one chain with a budget of its own. Returns what it found and the work that it did.
    fn run(&self, kind: Kind, mut own: Budget) -> (Option<Found>, u64) {
        let annealer = Annealer::new(self.model, self.start.clone(), self.seed);
        let found = annealer.chain(kind, self.enough, &mut own);
        (found, own.spent())
    }
}

/// What tells rounds apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Pieces may move through each other.
    Free,
    /// Pieces never break a relation.
    Strict,
}

/// One chain of rounds.
struct Annealer<'m> {
    model: &'m Model,
    /// By piece: where it is now.
    spots: Vec<Spot>,
    /// By relation: what a broken relation adds to the cost if it is forbidden, in units of `mean_weight`.
    penalties: Vec<f32>,
    /// Pieces that are moved: those without a fixed offset that are not empty.
    movable: Vec<u32>,
    /// What the mean priced pair costs: the unit of temperatures.
    mean_weight: f64,
    /// How many forbidden relations hold where the pieces are now.
    broken: u64,
    /// The price of the pairs that share where the pieces are now.
    cost: u64,
    best: Option<Found>,
    random: Random,
    /// Scratch memory: offsets at which the cost of the piece in hand changes, and by how much.
    steps: Vec<(i64, f32)>,
    /// Scratch memory: places for the piece in hand, with their costs in mean weights.
    candidates: Vec<(Spot, f32)>,
}

impl<'m> Annealer<'m> {
    /// Starts from a placement, or from random offsets. Relations may be broken on the way; `best` is only ever a
    /// placement without broken relations.
    fn new(model: &'m Model, start: Option<Found>, seed: u64) -> Annealer<'m> {
        let mut random = Random::new(seed);
        let spots = match &start {
            Some(found) => found.spots.clone(),
            None => model.items.iter().map(|item| anywhere(item, &mut random)).collect(),
        };
        let weights = model.items.iter().flat_map(|item| &item.relations).filter_map(|relation| relation.weight);
        let (sum, count) = weights.fold((0.0, 0u32), |(sum, count), weight| (sum + weight as f64, count + 1));
        let is_movable = |index: &usize| model.items[*index].fixed.is_none() && model.items[*index].size > 0;
        let (cost, broken) = model.judge(&spots);
        Annealer {
            model,
            spots,
            penalties: vec![FIRST_PENALTY; model.relations as usize],
            movable: (0..model.items.len()).filter(is_movable).map(|index| index as u32).collect(),
            mean_weight: (sum / f64::from(count.max(1))).max(1.0),
            broken,
            cost,
            best: start.filter(|_| broken == 0),
            random,
            steps: Vec::new(),
            candidates: Vec::new(),
        }
    }

    /// How many moves are one unit of work. A move looks at all relations of a piece, so the mean number of relations
    /// counts (each is listed at two pieces); what a move does besides is taken for eight relations more.
    fn moves_per_unit(&self) -> f64 {
        let relations = 2.0 * f64::from(self.model.relations) / self.model.items.len().max(1) as f64;
        f64::from(RELATIONS_PER_UNIT) / (relations + 8.0)
    }

    /// Runs rounds until the budget is over or the cost is `enough`. Returns the best placement.
    fn chain(mut self, kind: Kind, enough: u64, budget: &mut Budget) -> Option<Found> {
        let mut moves = FIRST_ROUND.saturating_mul(self.movable.len() as u64);
        while !self.movable.is_empty() && self.best.as_ref().is_none_or(|best| best.cost > enough) {
            // A round has to come to its end to be of use, because only then it is cold. So it takes all the work that
            // is left, and is the last, if that is less than `LONGEST_ROUND` times its length.
            let affordable = (budget.work_left() as f64 * self.moves_per_unit()) as u64;
            let length = if affordable < moves.saturating_mul(LONGEST_ROUND) { affordable } else { moves };
            if length == 0 || self.rounds(kind, length, enough, budget).is_break() {
                break;
            }
            moves = moves.saturating_mul(ROUND_GROWTH);
        }
        self.best
    }

    /// One turn of a chain with `moves` moves: a strict round, or a free round with a strict one after it. Breaks if
    /// the chain is to end.
    fn rounds(&mut self, kind: Kind, moves: u64, enough: u64, budget: &mut Budget) -> ControlFlow<()> {
        if kind == Kind::Strict {
            // A strict round has to begin with a placement. Without one this chain ends; the other chain may find one.
            self.best.as_ref().map_or(ControlFlow::Break(()), |_| ControlFlow::Continue(()))?;
            // A hot start puts all pieces into disorder, and it takes many moves to find an order again. With few moves
            // the round starts cold and improves the placement that there is.
            let is_short = moves < FIRST_ROUND.saturating_mul(self.movable.len() as u64) / 4;
            return self.round(kind, if is_short { COLDEST } else { HOTTEST }, moves, enough, budget);
        }
        let free = (moves as f64 * FREE_SHARE) as u64;
        self.round(Kind::Free, HOTTEST, free, enough, budget)?;
        // The strict round improves the best placement. If there is none yet, the next turn tries again.
        match self.best {
            Some(_) => self.round(Kind::Strict, LUKEWARM, moves - free, enough, budget),
            None => ControlFlow::Continue(()),
        }
    }

    /// One round: `moves` moves while the temperature falls from `hottest` to `COLDEST` (in mean weights, by the same
    /// factor each time). It begins with the best placement, if there is one. Breaks if the budget is used up or the
    /// cost is at most `enough`.
    fn round(&mut self, kind: Kind, hottest: f32, moves: u64, enough: u64, budget: &mut Budget) -> ControlFlow<()> {
        self.penalties.fill(if kind == Kind::Free { FIRST_PENALTY } else { STRICT_PENALTY });
        if let Some(best) = &self.best {
            self.spots.clone_from(&best.spots);
            (self.cost, self.broken) = (best.cost, 0);
        }
        // Moves between two raises of the penalties.
        let per_check = MOVES_PER_PENALTY.saturating_mul(self.movable.len() as u64).max(1);
        let mut temperature = hottest;
        for number in 0..moves {
            // Every `MOVES_PER_GLANCE` moves: lower the temperature, pay for the moves until the next such point, and
            // look at the clock.
            if number.is_multiple_of(MOVES_PER_GLANCE) {
                let progress = number as f32 / moves as f32;
                temperature = hottest * (COLDEST / hottest).powf(progress);
                budget.spend((MOVES_PER_GLANCE.min(moves - number) as f64 / self.moves_per_unit()).ceil() as u64);
                if budget.is_late() || self.best.as_ref().is_some_and(|best| best.cost <= enough) {
                    return ControlFlow::Break(());
                }
            }
            // In the last fifth of a round penalties are raised more often: relations that are still broken at its end
            // make the round useless.
            let is_late = number / 4 >= moves / 5;
            // `per_check` moves lie between two raises, fewer towards the end.
            let per_check = if is_late { (per_check / HURRIED_PENALTIES).max(1) } else { per_check };
            if self.broken > 0 && number % per_check == per_check - 1 {
                self.raise_penalties();
            }
            let item = self.movable[self.random.below(self.movable.len() as u64) as usize] as usize;
            self.move_piece(item, temperature);
        }
        debug_assert!(kind == Kind::Free || self.broken == 0, "a strict round breaks nothing");
        if budget.stop().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Draws a new spot for a piece, and updates the cost and the number of broken relations. If the placement has no
    /// broken relation and is the cheapest so far, it is kept as the best one.
    fn move_piece(&mut self, item: usize, temperature: f32) {
        let before = self.spots[item];
        let spot = self.draw(item, temperature);
        if spot == before {
            return;
        }
        // Only the relations of this piece change, so the sums over all relations are corrected by its share.
        let (cost, broken) = self.share_of(item, before);
        let (new_cost, new_broken) = self.share_of(item, spot);
        self.spots[item] = spot;
        self.cost = self.cost - cost + new_cost;
        self.broken = self.broken - broken + new_broken;
        if self.broken == 0 && self.best.as_ref().is_none_or(|best| self.cost < best.cost) {
            self.best = Some(Found { spots: self.spots.clone(), cost: self.cost });
        }
    }

    /// What a piece's relations cost if the piece is at `spot`, and how many forbidden relations are broken then.
    fn share_of(&self, item: usize, spot: Spot) -> (u64, u64) {
        let (mut cost, mut broken) = (0, 0);
        for relation in &self.model.items[item].relations {
            let other = relation.other as usize;
            let there = self.spots[other];
            if relation.holds(spot.offset, there.offset) && self.model.are_together(item, spot, other, there) {
                match relation.weight {
                    Some(weight) => cost += weight,
                    None => broken += 1,
                }
            }
        }
        (cost, broken)
    }

    /// Draws a spot for a piece among its candidates in all homes: one that costs c more than the cheapest has
    /// e^(-c / temperature) times its chances.
    fn draw(&mut self, item: usize, temperature: f32) -> Spot {
        self.candidates.clear();
        for home in 0..self.model.items[item].homes.len() {
            self.list_candidates(item, home);
        }
        let least = self.candidates.iter().map(|candidate| candidate.1).fold(f32::INFINITY, f32::min);
        let mut sum = 0.0;
        for (_, cost) in &mut self.candidates {
            let surplus = (*cost - least) / temperature;
            // A candidate that is e^20 times less likely than the best one is never drawn. The cost is replaced by the
            // sum of all chances so far, in which the drawn number is then searched for.
            sum += if surplus > 20.0 { 0.0 } else { (-surplus).exp() };
            *cost = sum;
        }
        // The upper 24 bits of a random number, as many as an `f32` holds, make a number from 0 to below 1.
        let drawn = (self.random.next() >> 40) as f32 / (1u64 << 24) as f32 * sum;
        // Rounding may put the number past the last sum; without any candidate the piece stays.
        let chosen = self.candidates.partition_point(|candidate| candidate.1 <= drawn);
        self.candidates.get(chosen).or(self.candidates.last()).map_or(self.spots[item], |candidate| candidate.0)
    }

    /// Adds the candidates of a piece in one of its homes. The cost is a step function of the offset (see the module's
    /// picture), and the lowest and the highest offset of every step are candidates.
    fn list_candidates(&mut self, item: usize, number: usize) {
        let info = &self.model.items[item];
        let home = info.homes[number];
        self.steps.clear();
        // The cost at offset 0, and later at the step that the walk has reached. Large penalties are added and taken
        // off again; in 32 bits the small prices beside them would be rounded away.
        let mut level = 0.0f64;
        for relation in &info.relations {
            let there = self.spots[relation.other as usize];
            if self.model.items[relation.other as usize].homes[there.home as usize].space != home.space {
                continue;
            }
            let weight = match relation.weight {
                Some(weight) => (weight as f64 / self.mean_weight) as f32,
                None => self.penalties[relation.number as usize],
            };
            // The relation holds at the offsets `from..to`. It is left out if all of these are below 0 or above the
            // highest offset of the home.
            let (from, to) = (there.offset + relation.low + 1, there.offset + relation.high);
            if to <= 0 || from > home.highest || from >= to {
                continue;
            }
            // A range that begins at or below offset 0 counts from the start.
            if from <= 0 {
                level += f64::from(weight);
            } else {
                self.steps.push((from, weight));
            }
            if to <= home.highest {
                self.steps.push((to, -weight));
            }
        }
        self.steps.sort_unstable_by_key(|step| step.0);
        // Each step of the function is `from..to`. Its lowest and its highest multiple of the alignment are
        // candidates, if there are any.
        let mut from = 0;
        let ends = self.steps.iter().copied().chain([(home.highest + 1, 0.0)]);
        for (to, change) in ends {
            let lowest = (from + home.alignment - 1) / home.alignment * home.alignment;
            if to > lowest {
                let highest = (to - 1) / home.alignment * home.alignment;
                self.candidates.push((Spot { home: number as u32, offset: lowest }, level as f32));
                if highest > lowest {
                    self.candidates.push((Spot { home: number as u32, offset: highest }, level as f32));
                }
            }
            from = from.max(to);
            level += f64::from(change);
        }
    }

    /// Raises the penalty of every relation that is broken now, so that its pieces move apart sooner or later.
    fn raise_penalties(&mut self) {
        for (index, item) in self.model.items.iter().enumerate() {
            for relation in &item.relations {
                let other = relation.other as usize;
                // Priced relations have no penalty; the others are listed at both pieces and looked at once.
                if relation.weight.is_some() || other < index {
                    continue;
                }
                let (here, there) = (self.spots[index], self.spots[other]);
                if relation.holds(here.offset, there.offset) && self.model.are_together(index, here, other, there) {
                    self.penalties[relation.number as usize] *= PENALTY_GROWTH;
                }
            }
        }
    }
}

/// A random place for a piece, at its fixed offset if it has one.
fn anywhere(item: &super::model::Item, random: &mut Random) -> Spot {
    let home = random.below(item.homes.len() as u64) as u32;
    let Some(home_info) = item.homes.get(home as usize) else { return Spot { home: 0, offset: 0 } };
    let places = (home_info.highest / home_info.alignment) as u64 + 1;
    let offset = item.fixed.unwrap_or_else(|| random.below(places) as i64 * home_info.alignment);
    Spot { home, offset }
}
