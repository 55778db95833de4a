//! Which space each piece lives in, and how low each space can be then.
//!
//! Some pieces may be in one of several spaces. These are assigned to spaces one after the other, largest first, each
//! to its favourite space first (the first of its homes). A lower bound of what each space needs for the pieces it has
//! is added up over the spaces. If the sum is no smaller than the extent of the best plan, the branch ends. Once all
//! pieces have a space (a *leaf* of this tree), each space is a problem of its own. What was found out about a space
//! with a certain set of pieces is remembered, because other assignments have the same set in that space.
//!
//! Words from other files: a [`Model`] is one space as choices between inequalities; its *parts* are the pieces in it,
//! and its *cliques* are sets of byte ranges ([`Job`]s) of which no two may share a byte. [`Known`] is what is known
//! about a model: a lower bound (`lower`), the extent to stay below (`below`) and the best offsets. [`minimise`] looks
//! for smaller plans, and [`raise_lower`] raises the bound without branching.

use std::collections::BTreeMap;

use memplan_core::{Bytes, Id, IndexVec, Problem, SpaceId};

use super::bounds_propagation::Rules;
use super::branch::{Known, Patience, Spent, minimise, raise_lower};
use super::model::{Job, Model};
use super::order::Orders;
use crate::piece::{PieceId, Pieces};
use crate::tuning::{LEAF_NODES, MODEL_LOOKS, SUMMED_PER_LOOK};

/// Where a piece is: its space, and its offset in bytes (negative for a block whose members all lie higher).
pub(super) type Spot = (SpaceId, i64);

/// What a search over all spaces came to.
#[derive(Debug)]
pub(super) struct Found {
    /// The best plan that is better than the one known before.
    pub(super) spots: Option<Vec<Spot>>,
    /// No plan is smaller, all spaces together; `None` if there is no plan at all.
    pub(super) lower: Option<i64>,
    /// By space: a lower bound of what it needs. 0 for all spaces if some piece has a choice of spaces.
    pub(super) per_space: IndexVec<SpaceId, i64>,
    /// Whether the best plan known is proved to be the best there is.
    pub(super) is_complete: bool,
    pub(super) spent: Spent,
}

/// The search. See the module documentation.
pub(super) struct Assign<'a, 'p> {
    pieces: &'a Pieces<'p>,
    problem: &'p Problem,
    orders: Orders<'a>,
    rules: Rules,
    /// Pieces with a choice of spaces, the largest first. A piece with several slots is named by the first one.
    undecided: Vec<PieceId>,
    /// The space of each piece in the present assignment; `None` if it is not assigned yet.
    spaces: Vec<Option<SpaceId>>,
    /// By space: lower bounds for any set of pieces.
    outlines: Vec<Outline>,
    /// What is known about a space with certain pieces.
    memory: BTreeMap<(SpaceId, Vec<PieceId>), Entry>,
    /// Only plans with a smaller extent, all spaces together, are of interest. `i64::MAX` as long as there is no plan.
    below: i64,
    best: Option<Vec<Spot>>,
    /// What all searches so far have taken.
    spent: Spent,
    /// What one [`Assign::quick_bound`] looks at: the jobs of all cliques, and each piece in each of its homes.
    outline_looks: u64,
    /// Whether, in the present walk over all assignments, each assignment was either searched to its end or ruled out
    /// by a bound. An assignment that took too many nodes was *given up* instead.
    is_complete: bool,
    /// The least lower bound of all assignments that were given up in this walk; `i64::MAX` if there is none.
    given_up: i64,
    /// No assignment needs less.
    lower: i64,
}

/// What is known about some pieces in a space.
struct Entry {
    known: Known,
    /// The components of the model of these pieces: for each component the numbers that its parts have in the whole
    /// model, and its own model.
    models: Vec<(Vec<u32>, Model)>,
}

/// What pieces need at least in a space, whichever of them are assigned to it.
struct Outline {
    /// Cliques of jobs (byte ranges of pieces, of which no two may share a byte): for each job its piece, its length,
    /// and how many bytes the rounding to granules has put its end above the end of the piece. If the topmost job of a
    /// plan is that one, that many bytes may stick out of the extent; nothing sticks out if the number is negative.
    cliques: Vec<Vec<(PieceId, i64, i64)>>,
    /// Pieces that may be in the space, each with the extent that it needs alone: its size at its lowest offset.
    alone: Vec<(PieceId, i64)>,
}

impl Outline {
    /// The outline of a space, from the model of all pieces that may be in it.
    fn new(model: &Model) -> Outline {
        let piece = |job: &Job| model.parts[job.part as usize].piece;
        let entry = |job: &Job| (piece(job), job.high - job.low, job.high - model.parts[job.part as usize].size);
        Outline {
            cliques: model.cliques.iter().map(|clique| clique.iter().map(entry).collect()).collect(),
            alone: model.parts.iter().map(|part| (part.piece, part.lowest + part.size)).collect(),
        }
    }

    /// What [`Outline::least_extent`] looks at.
    fn looks(&self) -> u64 {
        1 + (self.cliques.iter().map(Vec::len).sum::<usize>() + self.alone.len()) as u64 / SUMMED_PER_LOOK
    }

    /// The extent that the pieces which are here need at least: as [`Model::least_extent`], with the jobs of other
    /// pieces left out of the cliques.
    fn least_extent(&self, is_here: impl Fn(PieceId) -> bool) -> i64 {
        // The lengths of the jobs that are here, less the largest part of one of them that may stick out of the extent.
        let of_clique = |clique: &Vec<(PieceId, i64, i64)>| {
            let here = clique.iter().filter(|entry| is_here(entry.0));
            let (sum, tail) = here.fold((0, 0), |(sum, tail), entry| (sum + entry.1, entry.2.max(tail)));
            sum - tail
        };
        let alone = self.alone.iter().filter(|entry| is_here(entry.0)).map(|entry| entry.1);
        self.cliques.iter().map(of_clique).chain(alone).max().unwrap_or(0).max(0)
    }
}

/// The looks that making a model takes.
fn model_looks(model: &Model) -> u64 {
    (model.parts.len() + model.choices.len()) as u64 * MODEL_LOOKS
}

impl<'a, 'p> Assign<'a, 'p> {
    /// Makes the outlines and lists the pieces with a choice. `None` if the problem is too large, or if a pair of
    /// pieces has too many ways to share bytes.
    pub(super) fn new(pieces: &'a Pieces<'p>, rules: Rules) -> Option<Assign<'a, 'p>> {
        let problem = pieces.problem();
        let orders = Orders::of(pieces);
        let mut outlines = Vec::new();
        let mut looks = 0;
        for space in problem.spaces().ids() {
            let here = pieces.ids().filter(|&piece| pieces.homes(piece).iter().any(|home| home.space == space));
            let here: Vec<PieceId> = here.collect();
            let model = Model::new(pieces, &orders, space, &here)?;
            looks += model_looks(&model);
            outlines.push(Outline::new(&model));
        }
        let outline_looks = outlines.iter().map(Outline::looks).sum();
        // Slots of one piece live in the same space, so the first one decides for all. Large pieces are assigned first,
        // because they leave the least choice to the others.
        let first_slots = pieces.ids().filter(|&piece| pieces.get(piece).slot == 0);
        let mut undecided: Vec<PieceId> = first_slots.filter(|&piece| pieces.homes(piece).len() > 1).collect();
        undecided.sort_by_key(|&piece| (std::cmp::Reverse(pieces.get(piece).size), piece));
        let only_spaces = pieces.ids().map(|piece| match pieces.homes(piece) {
            [home] => Some(home.space),
            _ => None,
        });
        Some(Assign {
            pieces,
            problem,
            orders,
            rules,
            undecided,
            spaces: only_spaces.collect(),
            outlines,
            outline_looks,
            memory: BTreeMap::new(),
            below: i64::MAX,
            best: None,
            spent: Spent { nodes: 0, looks },
            is_complete: true,
            given_up: i64::MAX,
            lower: 0,
        })
    }

    /// Takes a known plan into account: only smaller ones are of interest, and its offsets guide the search of each
    /// space with the same pieces.
    pub(super) fn start_from(&mut self, spots: &[Spot], extents: &IndexVec<SpaceId, Bytes>) {
        self.below = extents.iter().map(|extent| extent.0 as i64).sum();
        for space in self.problem.spaces().ids() {
            let here: Vec<PieceId> = self.pieces.ids().filter(|piece| spots[piece.index()].0 == space).collect();
            let offsets = here.iter().map(|piece| spots[piece.index()].1).collect();
            let below = extents[space].0 as i64;
            // If no model can be made of the pieces of a space, its offsets are of no use.
            if let Some(entry) = self.entry(space, here) {
                entry.known.below = below;
                entry.known.offsets = Some(offsets);
            }
        }
    }

    /// Walks through all assignments, first with few nodes for each, then with more, until a walk was complete or
    /// patience is over.
    pub(super) fn run(mut self, patience: &Patience) -> Found {
        let limits: &[u64] = if self.undecided.is_empty() { &[u64::MAX] } else { &LEAF_NODES };
        // With a choice of spaces, an assignment that is hard to settle must not take all the work: others may be
        // easier and give a smaller plan, which rules hard ones out. Without a choice there is just one assignment.
        for &limit in limits {
            self.is_complete = true;
            self.given_up = i64::MAX;
            // If all assignments were seen, each plan is one of an assignment that was searched to its end, so it is no
            // smaller than the best plan, or of one that was given up, so it is no smaller than `given_up`.
            if self.walk(limit, patience) {
                self.lower = self.lower.max(self.given_up.min(self.below));
            }
            if self.is_complete || self.is_over(patience) {
                break;
            }
        }
        self.found()
    }

    /// Whether the nodes are used up, or the caller no longer waits.
    fn is_over(&self, patience: &Patience) -> bool {
        patience.is_spent(self.spent) || (patience.is_over)()
    }

    /// Goes through the tree of assignments, with at most `limit` nodes for the spaces of each. Says whether all of
    /// them were seen before patience was over.
    fn walk(&mut self, limit: u64, patience: &Patience) -> bool {
        // For each piece of `undecided` up to the present depth of the tree: the number of the home (a space that the
        // piece may be in) that is tried next.
        let mut next = vec![0usize];
        while let Some(&home) = next.last() {
            if self.is_over(patience) {
                self.is_complete = false;
                return false;
            }
            // No piece is left at this depth: every piece has a space.
            let Some(&piece) = self.undecided.get(next.len() - 1) else {
                let nodes = patience.nodes.min(self.spent.nodes.saturating_add(limit));
                self.leaf(&Patience { nodes, ..*patience });
                next.pop();
                continue;
            };
            // The piece leaves the home that was tried before. If there is no further home, the walk goes back to the
            // piece before it in `undecided`.
            self.set_space(piece, None);
            let Some(home) = self.pieces.homes(piece).get(home).map(|home| home.space) else {
                next.pop();
                continue;
            };
            if let Some(number) = next.last_mut() {
                *number += 1;
            }
            self.set_space(piece, Some(home));
            self.spent += Spent { nodes: 1, looks: self.outline_looks };
            // Only if the pieces assigned so far leave room for a better plan, the next piece has its turn.
            if self.quick_bound() < self.below {
                next.push(0);
            }
        }
        true
    }

    /// Assigns all slots of a piece, which follow each other, to a space.
    fn set_space(&mut self, first: PieceId, space: Option<SpaceId>) {
        let slots = self.pieces.get(first).slots as usize;
        self.spaces[first.index()..first.index() + slots].fill(space);
    }

    /// What all spaces together need at least for the pieces they have so far; `i64::MAX` if one of them is too small.
    fn quick_bound(&self) -> i64 {
        let mut sum = 0i64;
        for space in self.problem.spaces().ids() {
            let is_here = |piece: PieceId| self.spaces[piece.index()] == Some(space);
            let least = self.outlines[space.index()].least_extent(is_here);
            if least > self.capacity(space) {
                return i64::MAX;
            }
            sum = sum.saturating_add(least);
        }
        sum
    }

    /// The capacity of a space in bytes, at most one less than the largest number, so that [`Assign::leaf`] can add 1.
    /// (No model has sums anywhere near that.)
    fn capacity(&self, space: SpaceId) -> i64 {
        let capacity = self.problem.spaces()[space].capacity;
        capacity.and_then(|capacity| i64::try_from(capacity.0).ok()).unwrap_or(i64::MAX).min(i64::MAX - 1)
    }

    /// The pieces that are assigned to a space, in ascending order.
    fn here(&self, space: SpaceId) -> Vec<PieceId> {
        self.pieces.ids().filter(|piece| self.spaces[piece.index()] == Some(space)).collect()
    }

    /// Every piece has a space now. Improves the plan of one space after the other until this assignment has given the
    /// best plan that it can, cannot be better than the best plan so far, or patience is over.
    ///
    /// Two kinds of plans are compared. `self.below` is the extent of the best plan of the whole problem, over all
    /// assignments so far. `entry.known` is about one space with the pieces assigned to it here: a lower bound, and the
    /// best plan of this space alone, whose extent is `known.below`.
    fn leaf(&mut self, patience: &Patience) {
        let spaces: Vec<SpaceId> = self.problem.spaces().ids().collect();
        loop {
            // By space: the lower bound, and the extent of the best plan known for this space if there is one.
            let mut lowers = Vec::with_capacity(spaces.len());
            let mut uppers = Vec::with_capacity(spaces.len());
            self.spent.looks += (self.pieces.len() * spaces.len()) as u64;
            for &space in &spaces {
                let here = self.here(space);
                let Some(entry) = self.entry(space, here) else {
                    // No model could be made of these pieces, so nothing is known about this assignment.
                    self.is_complete = false;
                    self.given_up = 0;
                    return;
                };
                lowers.push(entry.known.lower);
                uppers.push(entry.known.offsets.is_some().then_some(entry.known.below));
            }
            // Done if no plan of this assignment fits, or none can be better than the best plan of all assignments.
            let too_small = spaces.iter().zip(&lowers).any(|(&space, &lower)| lower > self.capacity(space));
            let lower = lowers.iter().copied().fold(0, i64::saturating_add);
            if too_small || lower >= self.below {
                return;
            }
            let total = uppers.iter().try_fold(0i64, |sum, upper| Some(sum.saturating_add((*upper)?)));
            // If every space has a plan, and these plans together are better than the best plan of all assignments,
            // they are kept, and the search for smaller ones goes on.
            if total.is_some_and(|total| total < self.below) {
                self.keep(&spaces, total);
                continue;
            }
            // The first space in which a smaller plan (or any) may still be found. If there is none, this assignment
            // has given the best plan that it can.
            let mut bounds = lowers.iter().zip(&uppers);
            let open = bounds.position(|(&lower, upper)| upper.is_none_or(|upper| lower < upper));
            let Some(number) = open else { return };
            // To be part of a better plan of the whole problem, this space must need less than `below`: the other
            // spaces need their lower bounds at least. It must also keep to its capacity, which is less than capacity +
            // 1.
            let others = lower - lowers[number];
            let below = self.below.saturating_sub(others).min(self.capacity(spaces[number]) + 1);
            if !self.improve(spaces[number], below, patience) {
                self.is_complete = false;
                self.given_up = self.given_up.min(lower);
                return;
            }
        }
    }

    /// Looks for a plan of one space that needs less than `below` bytes, and less than the plan known for these pieces.
    /// Returns whether the answer is final: such a plan was found, or it is proved that there is none. `false` if
    /// patience is over before, or if no model can be made of the pieces.
    fn improve(&mut self, space: SpaceId, below: i64, patience: &Patience) -> bool {
        let here = self.here(space);
        let patience = patience.left(self.spent);
        let Some(entry) = self.entry(space, here) else { return false };
        let below = below.min(entry.known.below);
        let (spent, answer) = entry.improve(below, &patience);
        self.spent += spent;
        answer
    }

    /// Keeps the present assignment as the best plan, with the offsets that were found for each space. `total` is its
    /// extent, all spaces together.
    fn keep(&mut self, spaces: &[SpaceId], total: Option<i64>) {
        let mut spots = vec![(SpaceId::from_index(0), 0); self.pieces.len()];
        for &space in spaces {
            let here = self.here(space);
            let key = (space, here);
            // The caller has seen that every space has offsets; without them nothing would be kept.
            let Some(offsets) = self.memory.get(&key).and_then(|entry| entry.known.offsets.as_ref()) else { return };
            for (piece, &offset) in key.1.iter().zip(offsets) {
                spots[piece.index()] = (space, offset);
            }
        }
        self.below = total.unwrap_or(self.below);
        self.best = Some(spots);
    }

    /// The entry of `memory` for the pieces `here` in a space; it is made if there is none yet. `None` if no model can
    /// be made of the pieces.
    fn entry(&mut self, space: SpaceId, here: Vec<PieceId>) -> Option<&mut Entry> {
        use std::collections::btree_map::Entry as Slot;
        match self.memory.entry((space, here)) {
            Slot::Occupied(entry) => Some(entry.into_mut()),
            Slot::Vacant(slot) => {
                let model = Model::new(self.pieces, &self.orders, space, &slot.key().1)?;
                self.spent.looks += model_looks(&model);
                Some(slot.insert(Entry::new(&model, self.rules)))
            }
        }
    }

    /// The result. Lower bounds of single spaces hold only if no piece has a choice of spaces.
    fn found(self) -> Found {
        let has_choice = !self.undecided.is_empty();
        let mut per_space = IndexVec::filled(0, self.problem.spaces().len());
        if !has_choice {
            for ((space, _), entry) in &self.memory {
                per_space[*space] = entry.known.lower;
            }
        }
        // If all assignments were searched to their ends, no plan is smaller than the best one; `below` is `i64::MAX`
        // if there is none, and then there is no plan at all (`None`). Otherwise the bound is the better one of two:
        // the sum of the bounds of single spaces, and the bound that a walk over all assignments has given.
        let lower = match (self.is_complete, self.below) {
            (true, i64::MAX) => None,
            (true, below) => Some(below),
            (false, _) => Some(per_space.iter().fold(0i64, |sum, lower| sum.saturating_add(*lower)).max(self.lower)),
        };
        Found { spots: self.best, lower, per_space, is_complete: self.is_complete, spent: self.spent }
    }
}

impl Entry {
    /// Splits a model into components that have no choice in common; each can be solved by itself. A space without
    /// pieces needs nothing and is settled.
    fn new(model: &Model, rules: Rules) -> Entry {
        let everything = || vec![(0..model.parts.len() as u32).collect()];
        let components = if rules.components { model.components() } else { everything() };
        let models: Vec<(Vec<u32>, Model)> = components
            .into_iter()
            .map(|parts| {
                let component = model.component(&parts);
                (parts, component)
            })
            .collect();
        let mut known = Known { lower: model.least_extent(), below: i64::MAX, offsets: None, guide: None };
        if model.parts.is_empty() {
            known = Known { lower: 0, below: 0, offsets: Some(Vec::new()), guide: None };
        }
        Entry { known, models }
    }

    /// As [`Assign::improve`]: looks for a plan in which every component needs less than `below`. Returns what
    /// was spent (at least one node, so that every question counts) and whether the answer is final.
    fn improve(&mut self, below: i64, patience: &Patience) -> (Spent, bool) {
        // The bounds of all components come first: they are cheap, and one that is too high ends the question. The
        // extent of the space is the largest of those of its components, so the highest bound counts.
        let mut lower = self.known.lower;
        let mut knowns = Vec::with_capacity(self.models.len());
        let mut spent = Spent::default();
        for (parts, model) in &self.models {
            let known_offsets = self.known.offsets.as_ref();
            let guide = known_offsets.map(|offsets| parts.iter().map(|&part| offsets[part as usize]).collect());
            let mut known = Known { lower: 0, below, offsets: None, guide };
            spent.looks += raise_lower(model, &mut known, patience);
            lower = lower.max(known.lower);
            knowns.push(known);
        }
        // Only plans below `below` were looked for. If `lower` is above `below`, that only proves that no plan is
        // smaller than `below`, so `below` is the new bound.
        self.known.lower = lower.min(below.max(self.known.lower));
        if lower >= below {
            return (Spent { nodes: 1, ..spent }, true);
        }
        let mut is_final = true;
        let mut offsets = vec![0; self.models.iter().map(|(parts, _)| parts.len()).sum()];
        let mut extent = 0;
        for ((parts, model), known) in self.models.iter().zip(&mut knowns) {
            // An extent of `lower`, the highest bound of all components, is enough for this component: the extent of
            // the space cannot be smaller.
            spent += minimise(model, known, lower, &patience.left(spent));
            lower = lower.max(known.lower);
            match &known.offsets {
                Some(found) => {
                    extent = extent.max(known.below);
                    parts.iter().zip(found).for_each(|(&part, &offset)| offsets[part as usize] = offset);
                }
                // One component without a plan below `below` ends the question. The answer is final if the search of
                // that component has proved that there is none.
                None => {
                    is_final = known.is_settled();
                    extent = i64::MAX;
                    break;
                }
            }
        }
        self.known.lower = lower.min(below.max(self.known.lower));
        if extent < below {
            self.known.below = extent;
            self.known.offsets = Some(offsets);
        }
        (Spent { nodes: spent.nodes.max(1), ..spent }, is_final)
    }
}
