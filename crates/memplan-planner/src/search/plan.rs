//! One search over all spaces of a problem: what the stages of the schedule do, and what they share.
//!
//! A [`Search`] begins with what the [portfolio](crate::portfolio) of quick passes has found. Then
//! [`schedule`](super::schedule) walks a table of *stages*. A stage is a method of [`Search`] with a [`Budget`]; it
//! may put a better plan, a better lower bound or a witness into [`Search::known`]. Other methods say whether a stage
//! makes sense.
//!
//! Two words recur. A problem is *settled* if nothing is left to find out: its plan meets the lower bound, or there
//! is a proof that there is no plan. It is *decided* if it has capacities and there is a plan within them, which may
//! not be the smallest one.
//!
//! Words from other files: [`Tried`] is what is known so far (the best plan, the bounds, a witness, and in `stop` why
//! the search ended). A [`Flat`] is one space with its pieces as items of the canonical search; it is `is_exact` if a
//! proof about the items holds for the pieces. A [`Standing`] is what is known about the extent of a flat instance.
//! [`fits`] says whether a plan keeps to the capacities. Methods of `budget`: `share(n)` makes a budget of a part of
//! what is left, `besides(work)` one on top of it, `spend` takes work off, `stop` is the limit that was met, and
//! `report` tells the caller the best extent and the lower bound.

use std::cell::OnceCell;
use std::sync::Arc;

use memplan_core::{BufferId, Bytes, IndexVec, Outcome, Placement, Plan, Problem, SpaceId, Stop, Witness, bound};

use super::budget::{Budget, Clock};
use super::dense::{is_crowded, pack_densely, work_for};
use super::descent::{Standing, descend};
use super::flatten::{Flat, in_place};
use super::general::{self, meeting_step};
use super::peak_first::place_peak_first;
use super::repair::{FirstCore, repair_peaks};
use super::schedule::{SCHEDULE, walk};
use super::stretch;
use super::witness::irreducible;
use crate::fit::Fit;
use crate::order::Order;
use crate::piece::{PieceId, Pieces};
use crate::placer::Placer;
use crate::portfolio::{self, MEMBERS, Tried, fits};
use crate::strategy::{self, STRATEGIES, Strategy};
use crate::tuning::{
    CLOSE_ENOUGH, FEW_PIECES, LARGE_PARTS, MANY_PIECES, MOST_EXACT_PIECES, MOST_GENERAL_PIECES, PIECES_PER_UNIT,
    QUICK_PROOF, QUICK_WORK, STRETCH_WORK, WITNESS_WORK,
};
use crate::{Assign, Effort, Request};

/// What a search found out, with the work it took.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The result.
    pub outcome: Outcome,
    /// How many of the portfolio's [`MEMBERS`] were run.
    pub members: usize,
    /// Work spent on top of the first plan: search nodes, mostly.
    pub nodes: u64,
    /// Work of the passes that the search began with.
    pub first_passes: u64,
    /// Pieces placed by the portfolio.
    pub placements: u64,
}

/// Plans a problem within the limits of a request, starting from what the
/// portfolio of quick placements finds.
pub fn search(problem: &Problem, request: &Request) -> Answer {
    run(problem, request, false)
}

/// As [`search`], but in the end all other strategies may be asked for a smaller plan, too.
pub(crate) fn search_and_ask(problem: &Problem, request: &Request) -> Answer {
    run(problem, request, true)
}

/// The quick portfolio first, then the schedule of the search with what the budget allows. `may_ask` says whether other
/// strategies may be asked in the end.
fn run(problem: &Problem, request: &Request, may_ask: bool) -> Answer {
    // If reuse has a price, the smallest cost is looked for and not the smallest extent. Another search does that.
    if crate::costs::has_prices(problem) {
        return crate::costs::plan(problem, request);
    }
    // This fails only for dependencies between too many buffers. Then there is no answer, and no work would change
    // that.
    let Ok(pieces) = Pieces::of(problem) else {
        let outcome = Outcome::Exhausted { stop: Stop::Finished };
        return Answer { outcome, members: 0, nodes: 0, first_passes: 0, placements: 0 };
    };
    let clock = Clock::start(request);
    // The portfolio has a budget of its own, half of the effort's work; what it spends is not taken off the search's.
    let mut for_members = Budget::new(request, request.effort.work() / 2, Arc::clone(&clock));
    let tried = portfolio::try_at_once(&pieces, request, &mut for_members);
    // Unless the caller says how much work, it follows from the effort and from the size of the problem.
    let usual = || work_for(&pieces, request.effort.work(), for_members.spent());
    let work = request.work_limit.unwrap_or_else(usual);
    let answer = improve(Search::new(&pieces, tried, request, may_ask), &mut Budget::new(request, work, clock));
    Answer { first_passes: for_members.spent(), ..answer }
}

/// Improves what the portfolio found: a plan goes through the stages of the schedule. If the portfolio found a witness
/// instead, there is no plan, and all that is left to do is to make the witness smaller.
fn improve(mut search: Search, budget: &mut Budget) -> Answer {
    match search.known.witness.take() {
        // `besides`: also a search without any work left gets this much to make its answer readable.
        Some(witness) => search.known.witness = Some(search.reduced(witness, &mut budget.besides(WITNESS_WORK))),
        None => walk(SCHEDULE, &mut search, budget),
    }
    search.refine_witness(&mut budget.besides(WITNESS_WORK));
    // If the clock has cut any stage short, the result depends on time, and the caller is told so.
    if budget.has_been_late() && search.known.stop != Stop::Interrupted {
        search.known.stop = Stop::TimeLimit;
    }
    let Tried { members, placements, .. } = search.known;
    Answer { members, first_passes: 0, nodes: budget.spent(), placements, outcome: search.outcome() }
}

/// A search in progress: what the stages of the [schedule](super::schedule) share.
pub(crate) struct Search<'a, 'p> {
    pub(super) pieces: &'a Pieces<'p>,
    pub(super) problem: &'p Problem,
    request: &'a Request<'a>,
    /// Whether the other strategies may be asked in the end.
    may_ask: bool,
    /// How often the search has started anew ([`Search::start_anew`]).
    beginnings: usize,
    /// Whether members of the portfolio are left that were not run before the stages. That is so for many pieces.
    began_with_one_order: bool,
    /// The answer of [`Search::is_flat`], once it was asked for.
    is_flat: OnceCell<bool>,
    /// Buffers with a permission to overlay, sorted.
    in_place: Vec<BufferId>,
    /// The best plan, the bounds and the witness so far.
    pub(super) known: Tried,
    /// By space: offsets that a stage has found for the pieces of this space, which [`Search::assemble`] puts into the
    /// plan. `None` if there are none.
    placed: IndexVec<SpaceId, Option<Vec<(PieceId, Bytes)>>>,
}

impl<'a, 'p> Search<'a, 'p> {
    /// A search that begins with what has been tried already.
    pub(super) fn new(pieces: &'a Pieces<'p>, known: Tried, request: &'a Request<'a>, may_ask: bool) -> Self {
        let problem = pieces.problem();
        Search {
            pieces,
            problem,
            request,
            may_ask,
            beginnings: 0,
            began_with_one_order: !known.is_complete(),
            is_flat: OnceCell::new(),
            in_place: in_place(problem),
            known,
            placed: IndexVec::filled(None, problem.spaces().len()),
        }
    }

    /// Whether stages of this name are left out.
    pub(super) fn is_without(&self, stage: &str) -> bool {
        self.request.is_without(stage)
    }

    /// Whether a flat instance of all pieces may be small enough for the exact search.
    pub(super) fn is_small(&self) -> bool {
        self.pieces.len() <= MOST_EXACT_PIECES
    }

    /// Whether a few passes over all pieces are much less than what the exact search would spend.
    pub(super) fn has_many_pieces(&self) -> bool {
        self.pieces.len() > MANY_PIECES
    }

    /// Whether members of the portfolio were left over for later, because there are many pieces.
    pub(super) fn began_with_one_order(&self) -> bool {
        self.began_with_one_order
    }

    /// Whether members of the portfolio have had no turn yet, and nothing is settled.
    pub(super) fn has_more_orders(&self) -> bool {
        self.known.has_more()
    }

    /// Whether every piece is a rectangle and nothing relates two of them.
    pub(super) fn can_be_repaired(&self) -> bool {
        self.pieces.is_plain()
    }

    /// Whether the canonical search can take every space as a whole, with nothing lost.
    pub(super) fn is_flat(&self) -> bool {
        let is_exact = |(space, here): (SpaceId, &Vec<PieceId>)| {
            self.flat(space, here).is_some_and(|flat| flat.is_exact && flat.instance.is_tractable())
        };
        *self.is_flat.get_or_init(|| self.is_small() && self.by_space().iter_enumerated().all(is_exact))
    }

    /// Whether it makes sense to go on with stages that may look for a plan smaller than the capacity asks for. It does
    /// not if there are many pieces and a plan within the capacity is known: for many pieces that is an answer.
    pub(super) fn goes_on(&self) -> bool {
        !(self.began_with_one_order && self.is_done())
    }

    /// Whether the stage `stretch` has a turn. Its attempts take seconds each, so there must be much work, and the
    /// problem must be flat.
    pub(super) fn may_pack_around(&self) -> bool {
        let work = self.request.work_limit.unwrap_or(self.request.effort.work());
        work >= STRETCH_WORK && self.is_flat() && !self.is_without("stretch")
    }

    /// The stage `stretch`: in each space, a stretch of time is packed exactly, and all other pieces around it. The
    /// work that is left is divided equally among the spaces that have not had their turn.
    pub(super) fn pack_around_stretches(&mut self, budget: &mut Budget) {
        let spaces = self.by_space();
        for (number, (space, here)) in spaces.iter_enumerated().enumerate() {
            let mut share = budget.share((spaces.len() - number) as u32);
            self.pack_around_stretch(space, here, &mut share);
            budget.spend(share.spent());
        }
        self.known.stop = budget.stop().unwrap_or(self.known.stop);
        self.assemble();
        budget.report(self.known.best.as_ref().map(Plan::extent), self.known_bound());
    }

    /// Looks for a smaller plan of one space with the pieces `here` by [`stretch::pack`]. A plan goes to
    /// [`Search::placed`].
    fn pack_around_stretch(&mut self, space: SpaceId, here: &[PieceId], budget: &mut Budget) {
        let Some(flat) = self.flat(space, here).filter(|flat| flat.is_exact) else { return };
        let lower = self.known.per_space[space].max(flat.instance.lower_bound());
        // If there is a capacity, a plan that fits is enough. So the capacity is the goal then.
        let capacity = self.problem.spaces()[space].capacity;
        let goal = capacity.map_or(lower, |capacity| capacity.max(lower));
        // Only plans below `upper` are looked for. Without a known plan that is one granule above the goal, so that
        // only a plan at the goal will do.
        let known = self.known.best.as_ref().map(|plan| plan.extents[space]);
        let upper = known.unwrap_or(Bytes(goal.0.saturating_add(flat.instance.granule)));
        let Some(offsets) = stretch::pack(&flat.instance, goal, upper, self.request.seed, budget) else { return };
        self.place(space, &flat, offsets);
    }

    /// Notes the offsets (in granules) of a space for [`Search::assemble`].
    fn place(&mut self, space: SpaceId, flat: &Flat, offsets: Vec<u64>) {
        let granule = flat.instance.granule;
        let placed = flat.pieces.iter().zip(offsets).map(|(&piece, offset)| (piece, Bytes(offset * granule)));
        self.placed[space] = Some(placed.collect());
    }

    /// The stage `exact`: the canonical search, for one space after the other. The work that is left is divided equally
    /// among the spaces that have not had their turn.
    pub(super) fn search_spaces(&mut self, budget: &mut Budget) {
        let spaces = self.by_space();
        // If there are few pieces, a part of the budget is left for the general search, which comes later and may prove
        // what the canonical one cannot.
        let others = u32::from(self.pieces.len() <= FEW_PIECES);
        for (number, (space, here)) in spaces.iter_enumerated().enumerate() {
            let mut share = budget.share((spaces.len() - number) as u32 + others);
            self.improve_space(space, here, &mut share);
            budget.spend(share.spent());
            // One space that is too small is the answer for the whole problem.
            if self.known.witness.is_some() {
                return;
            }
        }
        self.assemble();
    }

    /// The stage `proof`: the general search for a smaller plan, or for the proof that there is none. If a plan within
    /// a given capacity is known, that is an answer already. Then the search gets [`QUICK_PROOF`] units only, to find
    /// out whether that plan is the smallest.
    pub(super) fn prove(&mut self, budget: &mut Budget) {
        // On larger flat instances the canonical search, which has had its turn, is the better one.
        if self.pieces.len() > FEW_PIECES && self.is_flat() {
            return;
        }
        if self.is_decided() {
            let mut share = budget.at_most(QUICK_PROOF);
            self.settle(&mut share);
            budget.spend(share.spent());
        } else {
            self.settle(budget);
        }
    }

    /// Whether ejection chains have their turn before all other stages.
    pub(super) fn is_crowded(&self) -> bool {
        self.can_be_repaired() && is_crowded(self.pieces)
    }

    /// The stage `dense`: ejection chains make the best plan smaller. If there is no plan within the capacity, they
    /// start from the plan that exceeds it (`too_tall`).
    pub(super) fn pack_densely(&mut self, budget: &mut Budget) {
        let (pieces, seed) = (self.pieces, self.request.seed);
        let Some(plan) = self.known.best.as_ref().or(self.known.too_tall.as_ref()) else { return };
        let smaller = pack_densely(pieces, plan, self.known.lower_bound, seed, budget);
        self.known.stop = budget.stop().unwrap_or(self.known.stop);
        self.known.keep(self.problem, smaller);
        budget.report(self.known.best.as_ref().map(Plan::extent), self.known_bound());
    }

    /// The stage `peak-first`: passes that place what is alive at the peak first.
    pub(super) fn place_peak_first(&mut self, budget: &mut Budget) {
        let cost = self.known.pass_cost();
        let known = &mut self.known;
        let stop = place_peak_first(self.pieces, &mut known.best, &known.per_space, cost, budget);
        known.stop = stop.unwrap_or(known.stop);
    }

    /// Whether the stage `others` has a turn. With a capacity, a plan that fits is an answer. So then the other
    /// strategies are asked for a smaller plan only with thorough effort.
    pub(super) fn asks_others(&self) -> bool {
        let is_thorough = self.request.effort == Effort::Thorough;
        self.may_ask && self.work_for_others() > 0 && (is_thorough || !self.is_decided())
    }

    /// The work that the stage `others` may spend. Thorough effort promises that no strategy is better than the search,
    /// so there is no limit. Normal effort asks the other strategies only if one pass for each strategy costs at most
    /// twice [`QUICK_WORK`] in all; quick effort never asks them.
    fn work_for_others(&self) -> u64 {
        // A strategy is taken to cost as much as a pass.
        let all = self.known.pass_cost().of(self.pieces.len() as u64).saturating_mul(STRATEGIES.len() as u64);
        let cheap = 2 * QUICK_WORK;
        match self.request.effort {
            Effort::Thorough => u64::MAX,
            Effort::Normal if all <= cheap => cheap,
            Effort::Normal | Effort::Quick => 0,
        }
    }

    /// The budget of the stage `others`, on top of that of the search.
    pub(super) fn budget_for_others<'b>(&self, budget: &Budget<'b>) -> Budget<'b> {
        budget.besides(self.work_for_others())
    }

    /// Whether the stage `others` asks the strategy of this name. `search` and `auto` would run this very search again;
    /// a member of the portfolio that has run would make the same plan again.
    fn may_be_asked(&self, strategy: &str) -> bool {
        !["auto", "search"].contains(&strategy) && !self.known.has_run(strategy) && !self.is_without(strategy)
    }

    /// The stage `others`: asks the strategies that are no members of the portfolio, and members that had no turn, for
    /// a smaller plan. Each strategy is told the extent that its plan has to stay below (`ceiling`), so that it can
    /// give up early.
    pub(super) fn ask_others(&mut self, budget: &mut Budget) {
        let least_objects = bound::objects_lower_bound(self.problem);
        let asked: Vec<&dyn Strategy> =
            STRATEGIES.iter().copied().filter(|strategy| self.may_be_asked(strategy.name())).collect();
        for strategy in asked {
            if self.is_settled() || budget.stop().is_some() {
                return;
            }
            // A strategy that makes shared objects gets its offsets by laying the objects end to end. So its plan is
            // not smaller than the lower bound of plans made of objects.
            let lays_objects = strategy.assigns().first() == Some(&Assign::Objects);
            let ceiling = self.known.best.as_ref().map(Plan::extent);
            if ceiling.is_some_and(|ceiling| lays_objects && ceiling <= least_objects) {
                continue;
            }
            // A limit of no work keeps strategies from searching by themselves: this search has been made already.
            let time_limit = budget.time_left();
            let (work_limit, effort) = (Some(0), Effort::Quick);
            let request = Request { work_limit, effort, ceiling, time_limit, observer: None, ..self.request.clone() };
            let outcome = strategy::plan(strategy, self.problem, &request).ok();
            budget.spend(self.known.pass_cost().of(self.pieces.len() as u64));
            self.known.keep(self.problem, outcome.as_ref().and_then(Outcome::plan).cloned());
            budget.report(self.known.best.as_ref().map(Plan::extent), self.known_bound());
        }
    }

    /// Whether there is nothing left to find out.
    pub(super) fn is_settled(&self) -> bool {
        let is_optimal = |plan: &Plan| plan.extent() <= self.known_bound();
        self.known.witness.is_some() || self.known.best.as_ref().is_some_and(is_optimal)
    }

    /// Whether some space has a capacity and a plan within all capacities is known: an answer, if perhaps not the best.
    fn is_decided(&self) -> bool {
        self.known.best.is_some() && self.problem.spaces().iter().any(|space| space.capacity.is_some())
    }

    /// Whether there is nothing left to do for many pieces: for them a plan within a capacity is enough.
    pub(super) fn is_done(&self) -> bool {
        self.is_settled() || self.is_decided()
    }

    /// The lower bound: that of all spaces together, or the sum of the bounds of the single spaces, whichever is
    /// larger.
    pub(super) fn known_bound(&self) -> Bytes {
        self.known.lower_bound.max(Bytes(self.known.per_space.iter().map(|lower| lower.0).sum()))
    }

    /// Asks the general search, which knows every feature, and takes in what it has found: a plan, bounds, or the proof
    /// that there is no plan. Nothing happens if the problem is too large for it.
    fn settle(&mut self, budget: &mut Budget) {
        let best = self.known.best.as_ref();
        let Some(settled) = general::settle(self.pieces, best, u64::MAX, budget) else { return };
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

    /// Makes the witness smaller, buffer by buffer, so that people can see which buffers are in the way. If the pieces
    /// are flat, [`Search::witness`] has already left out every piece that it could; this step also reduces witnesses
    /// of pieces that are not flat, and it leaves out single buffers of a piece.
    fn refine_witness(&mut self, budget: &mut Budget) {
        let Some(witness) = self.known.witness.take() else { return };
        // The proof may have used up the whole budget. This step gets a small one of its own on top.
        let mut own = budget.besides(WITNESS_WORK);
        let fewer = general::irreducible(self.problem, &witness.buffers, &mut own);
        budget.spend(own.spent());
        // If nothing could be left out, the witness stays, and only the step at which its buffers meet is looked up.
        let refined = fewer.filter(|fewer| *fewer != witness.buffers);
        let refined = refined.and_then(|fewer| general::witness(self.problem, fewer));
        let step = meeting_step(self.problem, &witness.buffers);
        self.known.witness = refined.or(Some(Witness { step, ..witness }));
    }

    /// A witness for a problem that the general search has proved to have no plan: as few buffers as can be found
    /// within the budget, or all of them.
    fn general_witness(&self, budget: &mut Budget) -> Option<Witness> {
        let all: Vec<BufferId> = self.problem.buffers().ids().collect();
        let buffers = general::irreducible(self.problem, &all, budget).unwrap_or(all);
        general::witness(self.problem, buffers)
    }

    /// The stage `repair-peaks`: lowers the highest pieces of the best plan, down to the bound. If there is no plan
    /// within the capacity, the plan that exceeds the capacity is lowered, down to the capacity. (Plain pieces have one
    /// space.)
    pub(super) fn repair_peaks(&mut self, budget: &mut Budget) {
        // Finding the highest pieces takes a look at every piece.
        budget.spend(self.pieces.len() as u64 / PIECES_PER_UNIT);
        let (first, cost) = ((self.request.seed, FirstCore::All), self.known.pass_cost());
        let known = &mut self.known;
        let capacity = self.problem.spaces().iter().find_map(|space| space.capacity);
        // The extent that a plan above the capacity has to be lowered to. (Without a capacity there is no such plan,
        // and this number is not used.)
        let enough = known.lower_bound.max(capacity.unwrap_or_default());
        let stop = match known.best {
            Some(_) => repair_peaks(self.pieces, &mut known.best, known.lower_bound, first, cost, budget),
            None => repair_peaks(self.pieces, &mut known.too_tall, enough, first, cost, budget),
        };
        known.stop = stop.unwrap_or(known.stop);
        // `keep` makes the repaired plan the best one if it fits the capacity now; otherwise it is `too_tall` again.
        let mended = known.too_tall.take();
        known.keep(self.problem, mended);
    }

    /// Whether another beginning may lead to a much smaller plan. That is so if there are many unrelated pieces, few
    /// enough of them are alive that single large ones decide (the problem is not crowded), the plan is not close to
    /// the bound, and the caller has set no limit on the work.
    pub(super) fn is_worth_starting_anew(&self) -> bool {
        let is_free = self.request.work_limit.is_none() && self.request.effort != Effort::Quick;
        let close = self.known_bound().0.saturating_add(self.known_bound().0 / CLOSE_ENOUGH);
        let is_close = self.known.best.as_ref().is_some_and(|plan| plan.extent().0 <= close);
        let is_many = self.is_small() && self.began_with_one_order && self.can_be_repaired() && !self.is_crowded();
        is_free && is_many && !is_close && !self.is_done()
    }

    /// The stage `anew`: ejection chains from another first plan, which is kept if it becomes smaller than the best
    /// one.
    ///
    /// If two peaks lie within a few lives of each other, chains that start from some plans end far above the bound,
    /// and chains that start from other plans end close to it, however long they last. So another beginning pays more
    /// than a longer search does. The first two beginnings are first fit by size, with peaks repaired large pieces
    /// first ([`FirstCore::Large`]). The last beginning is first fit that takes the pieces first that are hard to
    /// place, as on crowded problems.
    pub(super) fn start_anew(&mut self, budget: &mut Budget) {
        // The number of [`FirstCore::Large`] for the first two beginnings; `None` for the last one.
        let large_parts = LARGE_PARTS.get(self.beginnings).copied();
        self.beginnings += 1;
        // The chains of a search count their seeds upwards, two for each round. The last beginning starts 2^33
        // further, so that it draws random numbers that no other chain has drawn.
        let seed = self.request.seed.wrapping_add(if large_parts.is_some() { 0 } else { 2 << 32 });
        if budget.stop().is_some() {
            return;
        }
        let mut placer = Placer::new(self.pieces);
        let order = if large_parts.is_some() { Order::Size } else { Order::NearPeak };
        for piece in order.of(self.pieces) {
            if placer.place(piece, Fit::First).is_none() {
                return;
            }
        }
        let (lower, cost) = (self.known.lower_bound, self.known.pass_cost());
        budget.spend(cost.of(self.pieces.len() as u64));
        let mut plan = placer.finish();
        if let Some(parts) = large_parts {
            // Repairs get a third of the work, as in the schedule. If that is not enough, ejection chains get further
            // with the rest than more repairs would.
            let mut share = budget.share(3);
            repair_peaks(self.pieces, &mut plan, lower, (seed, FirstCore::Large(parts)), cost, &mut share);
            budget.spend(share.spent());
        }
        let smaller = plan.as_ref().and_then(|plan| pack_densely(self.pieces, plan, lower, seed, budget));
        self.known.keep(self.problem, smaller.or(plan));
        budget.report(self.known.best.as_ref().map(Plan::extent), self.known_bound());
    }

    /// Runs the members of the portfolio that have not been run yet, as long as the budget lasts.
    pub(super) fn try_other_orders(&mut self, budget: &mut Budget) {
        self.known.go_on(self.pieces, MEMBERS.len(), budget);
        budget.report(self.known.best.as_ref().map(Plan::extent), self.known_bound());
    }

    /// The space a piece is in now: that of the best plan; if there is no plan, the first space that the piece may be
    /// in.
    fn space_of(&self, piece: PieceId) -> Option<SpaceId> {
        let buffer = self.pieces.get(piece).first_buffer;
        let planned =
            self.known.best.as_ref().and_then(|plan| plan.placements[buffer].as_ref()).map(|place| place.space);
        planned.or_else(|| self.pieces.homes(piece).first().map(|home| home.space))
    }

    /// The pieces that are in each space now, in order.
    fn by_space(&self) -> IndexVec<SpaceId, Vec<PieceId>> {
        let mut by_space = IndexVec::filled(Vec::new(), self.problem.spaces().len());
        for piece in self.pieces.ids() {
            if let Some(space) = self.space_of(piece) {
                by_space[space].push(piece);
            }
        }
        by_space
    }

    /// The pieces `here` as a flat instance of a space. `None` if that is impossible.
    fn flat(&self, space: SpaceId, here: &[PieceId]) -> Option<Flat> {
        Flat::new(self.pieces, space, here, &self.in_place)
    }

    /// Looks for a smaller plan of one space by the canonical search, or proves that there is none. Each piece stays
    /// in the space that it is in now. A piece that could also be in another space makes the instance not exact, and
    /// then only plans count and no proofs.
    fn improve_space(&mut self, space: SpaceId, here: &[PieceId], budget: &mut Budget) {
        let Some(flat) = self.flat(space, here).filter(|flat| flat.instance.is_tractable()) else { return };
        let capacity = self.problem.spaces()[space].capacity;
        // An instance that is not exact may need more bytes than the problem, so its bound is no bound of the problem.
        let lower = if flat.is_exact {
            self.known.per_space[space].max(flat.instance.lower_bound())
        } else {
            flat.instance.lower_bound()
        };
        let upper = self.known.best.as_ref().map(|plan| plan.extents[space]);
        // Without a plan and without a capacity there is no extent to start from. The first descent then looks for
        // any plan within an extent that is certainly enough; the second one makes that plan smaller. If the first one
        // has found none, there is none: a search without an end to its extents would ask for larger and larger ones.
        let enough = capacity.or_else(|| upper.is_none().then(|| flat.instance.enough()));
        let mut standing = Standing { lower, upper, offsets: None, capacity: enough };
        self.descend(&flat, &mut standing, budget);
        if capacity.is_none() && enough.is_some() && standing.upper.is_some() {
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
            self.place(space, &flat, offsets);
        }
    }

    /// Runs the canonical search on a space, and notes the limit that ended it, if one did.
    fn descend(&mut self, flat: &Flat, standing: &mut Standing, budget: &mut Budget) {
        self.known.stop = descend(&flat.instance, standing, self.request.seed, budget).unwrap_or(self.known.stop);
    }

    /// Says why a space is too small for some items, with as few buffers as possible. `None` if the proof that the
    /// items do not fit could not be repeated within the budget.
    fn witness(&self, flat: &Flat, items: &[u32], capacity: Bytes, budget: &mut Budget) -> Option<Witness> {
        let kept = irreducible(&flat.instance, items, capacity, budget)?;
        // The buffers of these items. A buffer with several slots has an item for each, hence `dedup`.
        let members = kept.iter().flat_map(|&item| self.pieces.members(flat.pieces[item as usize]));
        let mut buffers: Vec<BufferId> = members.map(|(buffer, _)| buffer).collect();
        buffers.sort_unstable();
        buffers.dedup();
        let step = meeting_step(self.problem, &buffers);
        // If only a search could prove that these buffers do not fit, their lower bound may be at or below the
        // capacity. Then all that is known is that they need at least one byte more than the capacity.
        let needed = bound::needed_by(self.problem, flat.space, &buffers).max(Bytes(capacity.0 + 1));
        Some(Witness { space: flat.space, buffers, step, needed, capacity })
    }

    /// The witness that names all buffers of a space, for the case that no smaller one was found.
    fn everything(&self, flat: &Flat, capacity: Bytes, needed: Bytes) -> Witness {
        let members = flat.pieces.iter().flat_map(|&piece| self.pieces.members(piece));
        let mut buffers: Vec<BufferId> = members.map(|(buffer, _)| buffer).collect();
        buffers.sort_unstable();
        buffers.dedup();
        Witness { space: flat.space, buffers, step: None, needed, capacity }
    }

    /// Makes the witness of the portfolio smaller: leaves out buffers without which the others still do not fit. The
    /// witness comes back as it was if it has too many buffers, or if its space is not flat.
    fn reduced(&self, witness: Witness, budget: &mut Budget) -> Witness {
        let only_here = |piece: &PieceId| {
            let homes = self.pieces.homes(*piece);
            homes.len() == 1 && homes[0].space == witness.space
        };
        // Pieces that could be in another space prove nothing about this one.
        let here: Vec<PieceId> = self.pieces.ids().filter(only_here).collect();
        let flat = self.flat(witness.space, &here).filter(|flat| flat.is_exact);
        let is_in = |piece: PieceId| self.pieces.members(piece).any(|(buffer, _)| witness.buffers.contains(&buffer));
        // A witness of one buffer cannot become smaller. A buffer may have thousands of slots, and each slot is an
        // item, so the number of items is limited, too.
        let is_short = (2..=MOST_GENERAL_PIECES).contains(&witness.buffers.len());
        let smaller = flat.filter(|_| is_short).and_then(|flat| {
            let items: Vec<u32> =
                (0..flat.pieces.len() as u32).filter(|&item| is_in(flat.pieces[item as usize])).collect();
            if items.len() > MOST_GENERAL_PIECES {
                return None;
            }
            self.witness(&flat, &items, witness.capacity, budget)
        });
        smaller.unwrap_or(witness)
    }

    /// Replaces the placements of a plan in one space. `placed` has the new offset of every piece of the space that has
    /// bytes.
    fn place_again(&self, space: SpaceId, placed: &[(PieceId, Bytes)], plan: &mut Plan) {
        // Reuses of the old placement say nothing about the new one.
        let placements = &plan.placements;
        plan.reused.retain(|reuse| placements[reuse.buffer].as_ref().is_none_or(|placement| placement.space != space));
        // The old places of all these buffers are removed before the first new one is added, because the slots of a
        // buffer are added one by one.
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

    /// Makes a new plan: the best plan, with the new placements of [`Search::placed`] in their spaces. The new plan
    /// becomes the best one if it is smaller and fits the capacities.
    fn assemble(&mut self) {
        if self.placed.iter().all(Option::is_none) {
            return;
        }
        let mut plan = self.known.best.clone().unwrap_or_else(|| Plan::empty(self.problem));
        for (space, placed) in self.placed.iter_enumerated() {
            let Some(placed) = placed else { continue };
            self.place_again(space, placed, &mut plan);
        }
        self.place_empty(&mut plan);
        // If there was no plan to begin with, some space may have no placements yet. The offsets in `placed` wait until a
        // stage finds those of the other spaces, or a whole plan (`forget_placed`).
        if plan.placements.iter().any(Option::is_none) {
            return;
        }
        // These offsets are used up. If they stayed, the next call would put them into the best plan of then, over what
        // another stage has found between the two calls.
        self.placed = IndexVec::filled(None, self.problem.spaces().len());
        plan.fit_extents(self.problem);
        let better = self.known.best.as_ref().is_none_or(|best| plan.extent() < best.extent());
        if better && fits(self.problem, &plan) {
            self.known.best = Some(plan);
        }
    }

    /// Forgets the offsets that wait for the offsets of other spaces, once there is a plan. A stage may have made it
    /// without them, with other pieces in their spaces, and a later stage must not put them into that plan.
    pub(super) fn forget_placed(&mut self) {
        if self.known.best.is_some() {
            self.placed.iter_mut().for_each(|placed| *placed = None);
        }
    }

    /// Places the pieces of size 0, which no stage has placed. They take no room, so any offset is right: their fixed
    /// offset, or 0 if they have none.
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

    /// What the search has found, as an outcome.
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

#[cfg(test)]
mod tests {
    use super::super::schedule::{Share, Stage, walk};
    use super::*;
    use memplan_core::{Buffer, Id, Lifetime, ProblemBuilder, Space};

    const fn stage(name: &'static str, run: fn(&mut Search, &mut Budget)) -> Stage {
        Stage { name, does: "a step of the test", applies: |_| true, share: Share::Rest, run }
    }

    /// Notes that the pieces of one buffer are at the start of a space, and makes a plan of it if that is possible.
    fn place_at_start(search: &mut Search, buffer: BufferId, space: usize) {
        let holds = |piece: &PieceId| search.pieces.members(*piece).any(|(member, _)| member == buffer);
        let pieces = search.pieces.ids().filter(holds).map(|piece| (piece, Bytes(0))).collect();
        search.placed[SpaceId::from_index(space)] = Some(pieces);
        search.assemble();
    }

    /// `moving` and `first` lie behind each other in the first space, `second` in the second one, too high.
    fn keep_whole_plan(search: &mut Search, _: &mut Budget) {
        let mut plan = Plan::empty(search.problem);
        for (buffer, space, offset) in [(0, 0, 0), (1, 0, 8), (2, 1, 64)] {
            let placement = Placement::at(SpaceId::from_index(space), Bytes(offset));
            plan.placements[BufferId::from_index(buffer)] = Some(placement);
        }
        plan.fit_extents(search.problem);
        search.known.best = Some(plan);
    }

    /// A stage finds offsets for one space and none for the other. The next one finds a plan without them, in which
    /// that space holds a further buffer. The offsets must not get into that plan with those of a third stage.
    #[test]
    fn offsets_of_one_space_are_not_put_into_the_plan_of_another_stage() {
        let mut builder = ProblemBuilder::new();
        let spaces = ["one", "other"].map(|name| builder.space(Space::new(name)));
        for (name, spaces) in [("moving", &spaces[..]), ("first", &spaces[..1]), ("second", &spaces[1..])] {
            let buffer = Buffer::new(name, Bytes(8).0, Lifetime::new(0, 1));
            builder.buffer(Buffer { spaces: spaces.iter().copied().collect(), ..buffer });
        }
        let problem = builder.build().unwrap();
        let pieces = Pieces::of(&problem).unwrap();
        let request = Request::default();
        let mut budget = Budget::of(&request);
        let mut tried = portfolio::try_at_once(&pieces, &request, &mut budget);
        tried.best = None;
        let mut search = Search::new(&pieces, tried, &request, false);
        let stages = [
            stage("one space", |search, _| place_at_start(search, BufferId::from_index(1), 0)),
            stage("whole plan", keep_whole_plan),
            stage("other space", |search, _| place_at_start(search, BufferId::from_index(2), 1)),
        ];
        walk(&stages, &mut search, &mut budget);
        let plan = search.known.best.unwrap();
        assert_eq!(memplan_verify::packing::check(&problem, &plan), []);
        assert_eq!(plan.offset(BufferId::from_index(2)), Some(Bytes(0)));
    }
}
