//! One search over all spaces of a problem.

use std::sync::Arc;

use memplan_core::{BufferId, Bytes, IndexVec, Outcome, Placement, Plan, Problem, SpaceId, Stop, Witness, bound};

use super::budget::{Budget, Clock, PassCost};
use super::descent::{Standing, descend};
use super::flatten::Flat;
use super::general::{self, meeting_step};
use super::press::press;
use super::reorder::reorder;
use super::tuning::{PIECES_PER_UNIT, WITNESS_WORK};
use super::windows::improve_windows;
use super::witness::irreducible;
use crate::piece::{PieceId, Pieces};
use crate::portfolio::{self, MEMBERS, Tried};
use crate::{Request, portfolio::fits};

/// Larger witnesses are not reduced.
const MOST_WITNESSES: usize = 2000;
/// Larger witnesses are not looked at buffer by buffer.
const MOST_REFINED: usize = 64;
/// Nodes for that, all questions together; each may take 5,000.
const REFINEMENT: u64 = 200_000;
/// Nodes of the general search before anything else is tried, and after a plan was found that fits its capacities.
const QUICK_PROOF: u64 = 2000;
/// Up to this many pieces the general search gets a share of the budget even if all is flat.
const FEW: usize = 40;
/// Up to this many pieces nearly everything can be proved at once.
const VERY_FEW: usize = 16;

/// With more pieces no flat instance is small enough for the exact search.
const MOST_PIECES: usize = 32_000;
/// With more pieces the peak is pressed before the exact search, even if that could take them all: a few
/// passes are much less than what it would spend.
const MANY: usize = 500;

/// Ways to improve a plan of many pieces.
#[derive(Clone, Copy)]
enum Part {
    Mend,
    Press,
    Members,
    Reorder,
}

/// What a search found out, with the work it took.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The result.
    pub outcome: Outcome,
    /// How many of the portfolio's [`MEMBERS`] were run.
    pub members: usize,
    /// Work spent on top of the first plan: search nodes, mostly.
    pub nodes: u64,
    /// Pieces placed by the portfolio.
    pub placements: u64,
    /// What a pass costs.
    pub(crate) pass_cost: PassCost,
}

/// Plans a problem within the limits of a request, starting from what the
/// portfolio of quick placements finds.
pub fn search(problem: &Problem, request: &Request) -> Answer {
    let Ok(pieces) = Pieces::of(problem) else {
        let outcome = Outcome::Exhausted { stop: Stop::Finished };
        return Answer { outcome, members: 0, nodes: 0, placements: 0, pass_cost: PassCost::counted(0, 0) };
    };
    let clock = Clock::start(request);
    // The portfolio is not paid for by what the caller allows for the search, but it is not endless.
    let mut for_members = Budget::new(request, request.effort.work() / 2, Arc::clone(&clock));
    let tried = portfolio::try_at_once(&pieces, &mut for_members);
    // Whoever has waited longer for a first plan than the effort's work takes can wait as long again.
    let work = request.work_limit.unwrap_or_else(|| request.effort.work().max(for_members.spent()));
    improve(&pieces, tried, request.seed, &mut Budget::new(request, work, clock))
}

/// Improves what the portfolio found.
fn improve(pieces: &Pieces, tried: Tried, seed: u64, budget: &mut Budget) -> Answer {
    let mut search = Search::new(pieces, tried, seed);
    match search.known.witness.take() {
        Some(witness) => search.known.witness = Some(search.reduced(witness, &mut budget.besides(WITNESS_WORK))),
        None if search.is_settled() => {}
        None => search.run(budget),
    }
    search.refine_witness(&mut budget.besides(WITNESS_WORK));
    if budget.has_been_late() && search.known.stop != Stop::Interrupted {
        search.known.stop = Stop::TimeLimit;
    }
    let Tried { members, placements, pass_cost, .. } = search.known;
    Answer { members, nodes: budget.spent(), placements, pass_cost, outcome: search.outcome() }
}

struct Search<'a, 'p> {
    pieces: &'a Pieces<'p>,
    problem: &'p Problem,
    seed: u64,
    known: Tried,
    /// Spaces with a new placement, where there is no plan yet.
    placed: IndexVec<SpaceId, Option<Vec<(PieceId, Bytes)>>>,
}

impl<'a, 'p> Search<'a, 'p> {
    fn new(pieces: &'a Pieces<'p>, tried: Tried, seed: u64) -> Self {
        let problem = pieces.problem();
        Search { pieces, problem, seed, known: tried, placed: IndexVec::filled(None, problem.spaces().len()) }
    }

    fn run(&mut self, budget: &mut Budget) {
        // The portfolio may have used it all; even looking closer takes time.
        if let Some(stop) = budget.stop().filter(|_| self.known.best.is_some()) {
            self.known.stop = stop;
            return;
        }
        let is_small = self.pieces.len() <= MOST_PIECES;
        if is_small && self.known.members < MEMBERS.len() {
            let mut share = budget.share(2);
            self.mend(&mut share);
            budget.spend(share.spent());
            if self.is_done() {
                return;
            }
            let mut share = budget.share(2);
            self.try_other_members(&mut share);
            budget.spend(share.spent());
            if self.is_done() {
                return;
            }
        }
        let is_exact = |space| self.flat(space).is_some_and(|flat| flat.is_exact && flat.instance.is_tractable());
        let is_flat = is_small && self.problem.spaces().ids().all(is_exact);
        if !is_flat {
            self.settle(QUICK_PROOF, budget);
            if !self.is_settled() {
                self.improve_as_a_whole(budget);
            }
            if self.is_settled() || !is_small {
                return;
            }
        }
        if is_flat && self.pieces.len() > MANY {
            let mut share = budget.share(4);
            press(self.pieces, &mut self.known.best, &self.known.per_space, self.known.pass_cost, &mut share);
            budget.spend(share.spent());
            if self.is_settled() {
                return;
            }
        }
        let spaces: Vec<SpaceId> = self.problem.spaces().ids().collect();
        // What is left of a few pieces, the general search may know better.
        let others = u32::from(self.pieces.len() <= FEW);
        for (number, &space) in spaces.iter().enumerate() {
            let mut share = budget.share((spaces.len() - number) as u32 + others);
            self.improve_space(space, &mut share);
            budget.spend(share.spent());
            if self.known.witness.is_some() {
                return;
            }
        }
        self.assemble();
        if !self.is_settled() {
            // Where a capacity is given any plan within it is an answer; whether it is the
            // smallest is only asked if that is quickly found out.
            let is_decided = self.is_decided();
            let nodes = match self.pieces.len() {
                0..=FEW if !is_decided => u64::MAX,
                _ if !is_decided && !is_flat => u64::MAX,
                0..=VERY_FEW => 10 * QUICK_PROOF,
                // The search of flat instances knows them better.
                _ if is_flat => return,
                _ => QUICK_PROOF,
            };
            self.settle(nodes, budget);
        }
    }

    /// Whether there is nothing left to find out.
    fn is_settled(&self) -> bool {
        let is_optimal = |plan: &Plan| plan.extent() <= self.known_bound();
        self.known.witness.is_some() || self.known.best.as_ref().is_some_and(is_optimal)
    }

    /// Whether there is a plan within a given capacity, which then is an answer.
    fn is_decided(&self) -> bool {
        self.known.best.is_some() && self.problem.spaces().iter().any(|space| space.capacity.is_some())
    }

    /// Whether there is nothing left to do for many pieces.
    fn is_done(&self) -> bool {
        self.is_settled() || self.is_decided()
    }

    /// No plan is smaller.
    fn known_bound(&self) -> Bytes {
        self.known.lower_bound.max(Bytes(self.known.per_space.iter().map(|lower| lower.0).sum()))
    }

    /// Asks the general search, which knows every feature.
    fn settle(&mut self, nodes: u64, budget: &mut Budget) {
        let Some(settled) = general::settle(self.pieces, self.known.best.as_ref(), nodes, budget) else { return };
        if settled.is_infeasible {
            self.known.witness = self.general_witness(&mut budget.besides(WITNESS_WORK));
            return;
        }
        if let Some(plan) = settled.plan {
            self.known.best = Some(plan);
        }
        for (lower, found) in self.known.per_space.iter_mut().zip(&settled.per_space) {
            *lower = (*lower).max(*found);
        }
        self.known.lower_bound = self.known.lower_bound.max(settled.lower);
        if !settled.is_complete {
            self.known.stop = budget.stop().unwrap_or(self.known.stop);
        }
        budget.report(self.known.best.as_ref().map(Plan::extent), self.known_bound());
    }

    /// Of flat pieces those that can be spared have been; of others, and inside of pieces, buffers may be, too.
    fn refine_witness(&mut self, budget: &mut Budget) {
        let Some(witness) = self.known.witness.take_if(|witness| witness.buffers.len() <= MOST_REFINED) else { return };
        // The proof may have taken all there was; to say which buffers matter is still worth a little.
        let mut own = budget.besides(REFINEMENT);
        let fewer = general::irreducible(self.problem, &witness.buffers, &mut own);
        budget.spend(own.spent());
        let refined = fewer.filter(|fewer| *fewer != witness.buffers);
        let refined = refined.and_then(|fewer| general::witness(self.problem, fewer));
        let step = meeting_step(self.problem, &witness.buffers);
        self.known.witness = refined.or(Some(Witness { step, ..witness }));
    }

    fn general_witness(&self, budget: &mut Budget) -> Option<Witness> {
        let all: Vec<BufferId> = self.problem.buffers().ids().collect();
        let buffers = general::irreducible(self.problem, &all, budget).unwrap_or(all);
        general::witness(self.problem, buffers)
    }

    /// What does not need a flat instance of all pieces, cheap things first; each may use half of what is left.
    fn improve_as_a_whole(&mut self, budget: &mut Budget) {
        for part in [Part::Mend, Part::Press, Part::Members, Part::Mend, Part::Reorder] {
            if self.is_done() {
                return;
            }
            let mut share = budget.share(2);
            match part {
                Part::Mend => self.mend(&mut share),
                Part::Members => self.try_other_members(&mut share),
                Part::Press => {
                    let stop = press(
                        self.pieces,
                        &mut self.known.best,
                        &self.known.per_space,
                        self.known.pass_cost,
                        &mut share,
                    );
                    self.known.stop = stop.unwrap_or(self.known.stop);
                }
                Part::Reorder => {
                    let known = &mut self.known;
                    let stop =
                        reorder(self.pieces, &mut known.best, &known.per_space, self.seed, known.pass_cost, &mut share);
                    known.stop = stop.unwrap_or(known.stop);
                }
            }
            budget.spend(share.spent());
        }
    }

    /// Lowers the plan where it is tallest: down to the bound, or to the capacity if it exceeds that.
    fn mend(&mut self, budget: &mut Budget) {
        if !self.pieces.is_plain() {
            return;
        }
        // Looking for the tallest places takes a look at every piece.
        budget.spend(self.pieces.len() as u64 / PIECES_PER_UNIT);
        let known = &mut self.known;
        let capacity = self.problem.spaces().iter().find_map(|space| space.capacity);
        let enough = known.lower_bound.max(capacity.unwrap_or_default());
        let stop = match known.best {
            Some(_) => {
                improve_windows(self.pieces, &mut known.best, known.lower_bound, self.seed, known.pass_cost, budget)
            }
            None => improve_windows(self.pieces, &mut known.too_tall, enough, self.seed, known.pass_cost, budget),
        };
        known.stop = stop.unwrap_or(known.stop);
        let mended = known.too_tall.take();
        known.keep(self.problem, mended);
    }

    /// Runs those of the portfolio that were not, as long as the budget lasts.
    fn try_other_members(&mut self, budget: &mut Budget) {
        self.known.go_on(self.pieces, MEMBERS.len(), budget);
        budget.report(self.known.best.as_ref().map(Plan::extent), self.known_bound());
    }

    /// The space a piece is in now: as planned, else its favourite.
    fn space_of(&self, piece: PieceId) -> Option<SpaceId> {
        let buffer = self.pieces.get(piece).first_buffer;
        let planned =
            self.known.best.as_ref().and_then(|plan| plan.placements[buffer].as_ref()).map(|place| place.space);
        planned.or_else(|| self.pieces.homes(piece).first().map(|home| home.space))
    }

    fn flat(&self, space: SpaceId) -> Option<Flat> {
        Flat::new(self.pieces, space, |piece| self.space_of(piece) == Some(space))
    }

    fn improve_space(&mut self, space: SpaceId, budget: &mut Budget) {
        let Some(flat) = self.flat(space).filter(|flat| flat.instance.is_tractable()) else { return };
        let capacity = self.problem.spaces()[space].capacity;
        let lower = if flat.is_exact {
            self.known.per_space[space].max(flat.instance.lower_bound())
        } else {
            flat.instance.lower_bound()
        };
        let upper = self.known.best.as_ref().map(|plan| plan.extents[space]);
        // Without a plan or a capacity, anything is better than nothing.
        let enough = capacity.or_else(|| upper.is_none().then(|| flat.instance.enough()));
        let mut standing = Standing { lower, upper, offsets: None, capacity: enough };
        self.descend(&flat, &mut standing, budget);
        if capacity.is_none() && enough.is_some() {
            standing.capacity = None;
            self.descend(&flat, &mut standing, budget);
        }
        if flat.is_exact {
            self.known.per_space[space] = self.known.per_space[space].max(standing.lower);
            if let Some(capacity) = capacity.filter(|_| standing.is_infeasible()) {
                let all: Vec<u32> = (0..flat.pieces.len() as u32).collect();
                let witness = self.witness(&flat, &all, capacity, &mut budget.besides(WITNESS_WORK));
                self.known.witness = Some(witness.unwrap_or_else(|| self.everything(&flat, capacity, standing.lower)));
            }
        }
        if let Some(offsets) = standing.offsets {
            let granule = flat.instance.granule;
            let placed = flat.pieces.iter().zip(offsets).map(|(&piece, offset)| (piece, Bytes(offset * granule)));
            self.placed[space] = Some(placed.collect());
        }
    }

    fn descend(&mut self, flat: &Flat, standing: &mut Standing, budget: &mut Budget) {
        self.known.stop = descend(&flat.instance, standing, self.seed, budget).unwrap_or(self.known.stop);
    }

    /// Says why a space is too small, with as few buffers as possible.
    fn witness(&self, flat: &Flat, items: &[u32], capacity: Bytes, budget: &mut Budget) -> Option<Witness> {
        let kept = irreducible(&flat.instance, items, capacity, budget)?;
        let members = kept.iter().flat_map(|&item| self.pieces.members(flat.pieces[item as usize]));
        let mut buffers: Vec<BufferId> = members.map(|(buffer, _)| buffer).collect();
        buffers.sort_unstable();
        buffers.dedup();
        let step = meeting_step(self.problem, &buffers);
        // Extents of the instance are whole granules; the last buffer need not fill its own.
        let needed = bound::needed_by(self.problem, flat.space, &buffers).max(Bytes(capacity.0 + 1));
        Some(Witness { space: flat.space, buffers, step, needed, capacity })
    }

    fn everything(&self, flat: &Flat, capacity: Bytes, needed: Bytes) -> Witness {
        let members = flat.pieces.iter().flat_map(|&piece| self.pieces.members(piece));
        let mut buffers: Vec<BufferId> = members.map(|(buffer, _)| buffer).collect();
        buffers.sort_unstable();
        buffers.dedup();
        Witness { space: flat.space, buffers, step: None, needed, capacity }
    }

    /// A witness of the lower bound with what can be spared left out.
    fn reduced(&self, witness: Witness, budget: &mut Budget) -> Witness {
        let only_here = |piece: PieceId| {
            let homes = self.pieces.homes(piece);
            homes.len() == 1 && homes[0].space == witness.space
        };
        let flat = Flat::new(self.pieces, witness.space, only_here).filter(|flat| flat.is_exact);
        let is_in = |piece: PieceId| self.pieces.members(piece).any(|(buffer, _)| witness.buffers.contains(&buffer));
        let smaller = flat.filter(|_| witness.buffers.len() <= MOST_WITNESSES).and_then(|flat| {
            let items: Vec<u32> =
                (0..flat.pieces.len() as u32).filter(|&item| is_in(flat.pieces[item as usize])).collect();
            self.witness(&flat, &items, witness.capacity, budget)
        });
        smaller.unwrap_or(witness)
    }

    /// Puts new placements into the plan.
    fn assemble(&mut self) {
        if self.placed.iter().all(Option::is_none) {
            return;
        }
        let mut plan = self.known.best.clone().unwrap_or_else(|| Plan::empty(self.problem));
        for (space, placed) in self.placed.iter_enumerated() {
            let Some(placed) = placed else { continue };
            let is_here = |reuse: &memplan_core::Reuse| {
                plan.placements[reuse.buffer].as_ref().is_some_and(|placement| placement.space == space)
            };
            let reused = plan.reused.iter().filter(|reuse| !is_here(reuse)).cloned().collect();
            plan.reused = reused;
            for &(piece, _) in placed {
                for (buffer, _) in self.pieces.members(piece) {
                    plan.placements[buffer] = None;
                }
            }
            for &(piece, offset) in placed {
                for (buffer, at) in self.pieces.members(piece) {
                    let offset = Bytes(offset.0 + at.0);
                    match &mut plan.placements[buffer] {
                        Some(placement) => placement.offsets.push(offset),
                        empty => *empty = Some(Placement::at(space, offset)),
                    }
                }
            }
        }
        self.place_empty(&mut plan);
        if plan.placements.iter().any(Option::is_none) {
            return;
        }
        plan.fit_extents(self.problem);
        let better = self.known.best.as_ref().is_none_or(|best| plan.extent() < best.extent());
        if better && fits(self.problem, &plan) {
            self.known.best = Some(plan);
        }
    }

    /// Buffers of no bytes are in nobody's way.
    fn place_empty(&self, plan: &mut Plan) {
        for piece in self.pieces.ids().filter(|&piece| self.pieces.get(piece).size == 0) {
            let info = self.pieces.get(piece);
            let Some(space) = self.space_of(piece) else { continue };
            for (buffer, at) in self.pieces.members(piece) {
                if plan.placements[buffer].is_none() {
                    let mut placement = Placement::at(space, Bytes(info.fixed.unwrap_or(0) + at.0));
                    let offset = placement.offsets[0];
                    placement.offsets.resize(info.slots as usize, offset);
                    plan.placements[buffer] = Some(placement);
                }
            }
        }
    }

    fn outcome(self) -> Outcome {
        let lower_bound = self.known_bound();
        if let Some(witness) = self.known.witness {
            return Outcome::Infeasible(witness);
        }
        match self.known.best {
            Some(plan) if plan.extent() <= lower_bound => Outcome::Optimal(plan),
            Some(plan) => Outcome::Feasible { plan, lower_bound, stop: self.known.stop },
            None => Outcome::Exhausted { stop: self.known.stop },
        }
    }
}
