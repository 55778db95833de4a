//! Plans whose reuse costs least: the strategy `search` where a problem has [reuse costs](memplan_core::ReuseCost).
//!
//! Of two plans that fit, the cheaper one is better; of equally cheap ones the smaller one.
//!
//! ```text
//!   problem ─► can all pairs be kept apart? ──yes──► costs nothing, done
//!                   │ no
//!                   ▼
//!              first plans (orders that avoid costly reuse) ─► anneal ─► exact, component by component ─► anneal
//!                                                                        or hitting sets
//! ```
//!
//! - [`model`] says what two pieces mean to each other: forbidden distances, and distances with a price.
//! - [`bound`] is a quick lower bound; [`exact`] proves the least cost of small components on the offsets of
//!   [`domain`].
//! - [`crowds`] proves it where sizes alone say that pairs have to share, by the heavy cliques of [`clique`].
//! - [`hitting_set`] proves it for problems of every kind, with the help of the search for plans without costs.
//! - [`anneal`] improves what is too large for a proof; [`sink`] lowers pieces where that is free.
//!
//! In these files *share* is short for "have a byte in common" and *pair* for two buffers with a price. Every method
//! gets a part of the budget of work and what it has spent is then taken off the whole.
//!
//! Everything counts work, so the same problem, seed and effort give the same plan on any machine.
//!
//! Words from other files: [`Pieces`] are what is placed as a whole; their `members` are buffers with their distances
//! from the piece's offset. A [`Spot`] is a home of a piece (a position in its list of spaces) and an offset there, and
//! a [`Found`] has a spot for every piece. A [`Component`] is a set of pieces that relations connect.
//! [`search::search`] is the search for the smallest plan without prices, and [`fits`] says whether a plan keeps to the
//! capacities.

mod anneal;
mod bound;
mod clique;
mod crowds;
mod domain;
mod exact;
mod hitting_set;
mod model;
mod sink;

use memplan_core::{Id, Outcome, Plan, PlanCost, Problem, ReuseCost, Stop, Witness};

use crate::Request;
use crate::piece::{PieceId, Pieces};
use crate::portfolio::{MEMBERS, fits};
use crate::search::{self, Answer, Budget, Clock};
use crate::strategy::Strategy;
use crate::tuning::{FEW_PRICED_PIECES, MOST_CROWD_EDGES, MOST_HITTING_PAIRS};
use anneal::Found;
use domain::Component;
use exact::Solved;
use hitting_set::Hit;
use model::{Model, Spot};

/// Whether any reuse costs something. Prices of 0 change no plan.
pub(crate) fn has_prices(problem: &Problem) -> bool {
    problem.reuse_costs().iter().any(|cost| cost.weight > 0)
}

/// Plans a problem with reuse costs. `Exhausted` also if it has dependencies between too many buffers.
pub(crate) fn plan(problem: &Problem, request: &Request) -> Answer {
    let work = request.work();
    let mut budget = Budget::new(request, work, Clock::start(request));
    let outcome = match Pieces::of(problem) {
        Ok(pieces) => Costly::new(problem, &pieces, request).run(&mut budget),
        Err(_) => Outcome::Exhausted { stop: Stop::Finished },
    };
    Answer { outcome, members: 0, nodes: budget.spent(), first_passes: 0, placements: 0 }
}

/// Completes the outcome of a strategy, which may know nothing of prices: fills in [`Plan::cost`], what the reuse of
/// the plan costs. The lower bound of the cost is 0, because nothing was proved about costs. If a plan has a cost
/// already, the strategy was `search`, and the cost stays as it is. If no reuse has a price, the outcome stays as it
/// is.
///
/// A strategy that knows nothing of prices says "optimal" if no plan needs fewer bytes. But a larger plan may cost
/// less. So if the plan costs more than the lower bound of its cost, "optimal" becomes "feasible". The lower bound in
/// bytes that goes with it is the extent of the plan, since no plan is smaller.
pub(crate) fn price(problem: &Problem, outcome: Outcome) -> Outcome {
    match outcome {
        outcome if problem.reuse_costs().is_empty() => outcome,
        Outcome::Optimal(plan) => {
            let plan = with_cost(problem, plan);
            match plan.cost {
                Some(cost) if cost.total > cost.lower_bound => {
                    let lower_bound = plan.extent();
                    Outcome::Feasible { plan, lower_bound, stop: Stop::Finished }
                }
                _ => Outcome::Optimal(plan),
            }
        }
        Outcome::Feasible { plan, lower_bound, stop } => {
            Outcome::Feasible { plan: with_cost(problem, plan), lower_bound, stop }
        }
        // Infeasible or exhausted: there is no plan that could have a cost.
        none => none,
    }
}

/// A plan that says what its reuse costs. If it says so already, it stays as it is.
fn with_cost(problem: &Problem, mut plan: Plan) -> Plan {
    let total = plan.reuse_cost(problem);
    plan.cost = plan.cost.or(Some(PlanCost { total, lower_bound: 0 }));
    plan
}

/// The problem without prices.
fn without_costs(problem: &Problem) -> Option<Problem> {
    let mut builder = problem.to_builder();
    builder.reuse_costs_mut().clear();
    builder.build().ok()
}

/// The problem without prices, in which some of the pairs that had one must not share. `is_apart` is asked with the
/// position of a pair in [`Problem::reuse_costs`]. Pairs inside a block are left alone: their distance is fixed.
/// `None` if that is no valid problem.
pub(crate) fn kept_apart(problem: &Problem, is_apart: impl Fn(usize) -> bool) -> Option<Problem> {
    let mut builder = problem.to_builder();
    builder.reuse_costs_mut().clear();
    for (_, cost) in problem.reuse_costs().iter().enumerate().filter(|(pair, _)| is_apart(*pair)) {
        if !is_in_one_block(problem, cost) {
            builder.must_not_share(cost.one, cost.other);
        }
    }
    builder.build().ok()
}

/// Whether two buffers are in one block: then their distance is the same in every plan, and no plan can choose whether
/// they share.
fn is_in_one_block(problem: &Problem, cost: &ReuseCost) -> bool {
    let block = |buffer| problem.blocks().place_of(buffer).map(|(block, _)| block);
    block(cost.one).is_some() && block(cost.one) == block(cost.other)
}

/// Whether both buffers of a priced pair are in a witness, that is, among buffers that cannot be placed together.
fn is_witnessed(witness: &Witness, cost: &ReuseCost) -> bool {
    [cost.one, cost.other].iter().all(|buffer| witness.buffers.binary_search(buffer).is_ok())
}

/// The request for a search inside of this one: `work` units of work, the time that is left, no observer (because the
/// extents and bounds of that search are not those of the caller's problem), and no ceiling.
fn sub_request<'a>(request: &Request<'a>, work: u64, budget: &Budget) -> Request<'a> {
    Request { work_limit: Some(work), time_limit: budget.time_left(), observer: None, ceiling: None, ..request.clone() }
}

/// A search for a cheap plan in progress.
struct Costly<'a, 'p> {
    problem: &'p Problem,
    pieces: &'a Pieces<'p>,
    request: &'a Request<'a>,
    best: Option<Plan>,
    /// The sum of the prices of pairs that share in every plan, because they lie on each other in a block.
    always: u64,
    /// A lower bound of the cost of any plan.
    lower_bound: u64,
    /// Whether it is proved that, of all plans of the least cost, `best` has the smallest extent.
    is_smallest: bool,
}

impl<'a, 'p> Costly<'a, 'p> {
    fn new(problem: &'p Problem, pieces: &'a Pieces<'p>, request: &'a Request<'a>) -> Self {
        Costly { problem, pieces, request, best: None, always: 0, lower_bound: 0, is_smallest: false }
    }

    /// The stages in the order of the module's picture. Each leaves the best plan and the lower bound in `self`, so
    /// that the next one can stop as soon as the two meet.
    fn run(mut self, budget: &mut Budget) -> Outcome {
        // 1. A lower bound of the cost. (The bound by groups holds only if the relations of the model say everything.)
        let model = Model::of(self.pieces);
        if let Some(model) = &model {
            self.always = model.always;
            self.lower_bound = model.always;
            if model.is_exact {
                let groups = bound::lower_bound(model, &mut budget.at_most(budget.work_left() / 16));
                self.lower_bound += groups.iter().sum::<u64>();
            }
        }
        // 2. Unless the bound says that some pair has to share, look for a plan in which no pair does. Such a plan is
        //    the answer.
        if self.lower_bound == self.always
            && let Some(done) = self.keep_all_apart(budget)
        {
            return done;
        }
        // 3. First plans, and then better ones.
        if let Some(infeasible) = self.find_first(budget) {
            return infeasible;
        }
        match &model {
            Some(model) => self.improve(model, budget),
            // Without a model only hitting sets are left. Each of their questions is a search of the whole problem,
            // and with many pairs there are too many questions.
            None if self.problem.reuse_costs().len() <= MOST_HITTING_PAIRS => self.hit(budget),
            None => {}
        }
        self.finish(budget)
    }

    /// Work that it takes to place all pieces once: about a quarter of a unit each.
    fn pass(&self) -> u64 {
        1 + self.pieces.len() as u64 / 4
    }

    /// Writes the cost into a plan of [`kept_apart`], in which only pairs inside of a block share. Every plan pays for
    /// these pairs, so the cost is also the lower bound of the cost.
    fn with_least_cost(&self, plan: Plan) -> Plan {
        let total = plan.reuse_cost(self.problem);
        Plan { cost: Some(PlanCost { total, lower_bound: total }), ..plan }
    }

    /// Asks the search without prices for a plan in which no priced pair shares bytes. Without capacities there is one
    /// unless fixed offsets prevent it; with capacities often. Such a plan has the least cost that there is, and the
    /// answer of the search about its size holds for this problem, too. `None` if there is no such plan or none was
    /// found.
    fn keep_all_apart(&mut self, budget: &mut Budget) -> Option<Outcome> {
        // The search for plans without costs makes a first plan even if that takes more than its limit. It gets a
        // quarter of the budget, so four passes have to be left.
        if !budget.affords(4 * self.pass()) {
            return None;
        }
        // A pair with the price 0 may share: the plan costs no more for it, and may be the only one or a smaller one.
        let apart = kept_apart(self.problem, |pair| self.problem.reuse_costs()[pair].weight > 0)?;
        let answer = search::search(&apart, &sub_request(self.request, budget.work_left() / 4, budget));
        budget.spend(answer.nodes);
        match answer.outcome {
            Outcome::Optimal(plan) => Some(Outcome::Optimal(self.with_least_cost(plan))),
            Outcome::Feasible { plan, lower_bound, stop } => {
                Some(Outcome::Feasible { plan: self.with_least_cost(plan), lower_bound, stop })
            }
            // In every plan at least one pair shares. The price of the cheapest pair is the least that this can cost.
            Outcome::Infeasible(_) => {
                let least =
                    self.problem.reuse_costs().iter().map(|cost| cost.weight).filter(|&weight| weight > 0).min();
                self.lower_bound += least.unwrap_or(0);
                None
            }
            Outcome::Exhausted { .. } => None,
        }
    }

    /// Makes first plans by first and best fit in several orders, which avoid costly reuse where they can. If none of
    /// them fits the capacities, the search without prices is asked. If that proves that nothing fits, its outcome is
    /// returned; otherwise `None`, and `best` is the best of the plans.
    fn find_first(&mut self, budget: &mut Budget) -> Option<Outcome> {
        // With very many pieces a pass takes long, so there is only one.
        let orders = if self.pieces.len() <= FEW_PRICED_PIECES { MEMBERS.len() } else { 1 };
        for (number, member) in MEMBERS[..orders].iter().enumerate() {
            if self.best.is_some() && budget.stop().is_some() {
                break;
            }
            // A plan may be larger than the caller's ceiling (in bytes) and still be the cheapest, so the members get
            // no ceiling.
            let outcome = member.plan(self.problem, &Request { ceiling: None, ..self.request.clone() });
            // The first plan is made whatever the budget and is not counted.
            budget.spend(if number == 0 { 0 } else { self.pass() });
            self.keep(outcome.plan().cloned());
        }
        if self.best.is_none() {
            let bare = without_costs(self.problem)?;
            let answer = search::search(&bare, &sub_request(self.request, budget.work_left() / 4, budget));
            budget.spend(answer.nodes);
            if let Outcome::Infeasible(witness) = answer.outcome {
                return Some(Outcome::Infeasible(witness));
            }
            self.keep(answer.outcome.plan().cloned());
        }
        None
    }

    /// Anneals with an eighth of the work, proves the least cost of components with up to three quarters, tries hitting
    /// sets of the whole problem if that was not enough, and anneals with what is left. In the end pieces sink, which
    /// makes the plan smaller at the same cost.
    fn improve(&mut self, model: &Model, budget: &mut Budget) {
        // The parts are of the work that is left now: an eighth, three quarters, and what the two leave over.
        let quarter = budget.work_left() / 4;
        self.anneal(model, &mut budget.at_most(quarter / 2), budget);
        let is_proved = self.prove(model, &mut budget.at_most(3 * quarter), budget);
        if !is_proved && self.is_open() && self.problem.reuse_costs().len() <= MOST_HITTING_PAIRS {
            let mut share = budget.at_most(quarter);
            self.hit(&mut share);
            budget.spend(share.spent());
        }
        if self.is_open() {
            let rest = budget.work_left();
            self.anneal(model, &mut budget.at_most(rest), budget);
        }
        self.sink(model);
    }

    /// Whether a cheaper plan may exist.
    fn is_open(&self) -> bool {
        self.best.as_ref().is_none_or(|plan| plan.reuse_cost(self.problem) > self.lower_bound)
    }

    /// Anneals with the work of `share`, starting from the best plan. What it spends is taken off `budget`.
    fn anneal(&mut self, model: &Model, share: &mut Budget, budget: &mut Budget) {
        let start = self.best.as_ref().and_then(|plan| self.spots(model, plan));
        let found = anneal::anneal(model, start, self.lower_bound, self.request.seed, share);
        budget.spend(share.spent());
        for found in found {
            self.keep(found.map(|found| self.assemble(model, &found.spots)));
        }
    }

    /// Proves the least cost of every component that is small enough, with the work of `share`, which is taken off
    /// `budget`. Says whether the least cost of all of them is known now.
    ///
    /// A component is a set of pieces that no relation connects with any other piece, so the least costs add up.
    fn prove(&mut self, model: &Model, share: &mut Budget, budget: &mut Budget) -> bool {
        let Some(components) = domain::components(model).filter(|_| model.is_exact) else { return false };
        let groups = bound::lower_bound(model, &mut share.at_most(share.work_left() / 16));
        let start = self.best.as_ref().and_then(|plan| self.spots(model, plan));
        // By piece: its offset in the best plan so far, and later the one that the proof of its component has found.
        // `None` if there is no plan.
        let mut offsets: Vec<Option<i64>> =
            (0..model.items.len()).map(|item| start.as_ref().map(|found| found.spots[item].offset)).collect();
        let (mut bounds, mut is_proved, mut is_lowest) = (model.always, true, true);
        for (number, component) in components.iter().enumerate() {
            let known: Option<Vec<i64>> = component.items.iter().map(|&item| offsets[item]).collect();
            // Small components come first. Each may spend half of the work that is left, and the last one all of it. So
            // the work that small components do not need is left for the large ones.
            let parts = (components.len() - number).min(2) as u64;
            let mut own = share.at_most(share.work_left() / parts);
            let solved = self.prove_component(model, component, known, &mut own);
            share.spend(own.spent());
            // The better one of two bounds: what the proof came to, and the groups grown from pieces of this component.
            let at_least: u64 = component.items.iter().map(|&item| groups[item]).sum();
            bounds += solved.lower_bound.unwrap_or(0).max(at_least);
            let cost = solved.offsets.as_ref().map(|offsets| exact::cost(model, component, offsets));
            // All is proved only if each component has a placement that costs as little as its bound.
            is_proved &= cost.is_some() && cost == solved.lower_bound;
            is_lowest &= solved.is_lowest;
            for (&item, offset) in component.items.iter().zip(solved.offsets.unwrap_or_default()) {
                offsets[item] = Some(offset);
            }
        }
        budget.spend(share.spent());
        self.lower_bound = self.lower_bound.max(bounds);
        // Every piece has one home here, or there would be no components.
        let spots: Option<Vec<Spot>> =
            offsets.into_iter().map(|offset| offset.map(|offset| Spot { home: 0, offset })).collect();
        self.keep(spots.map(|spots| self.assemble(model, &spots)));
        self.is_smallest = is_proved && is_lowest;
        is_proved
    }

    /// Proves the least cost of one component, or raises its lower bound. `known` are the offsets that its pieces have
    /// in the best plan so far. The methods take turns, each with a part of the work that is left, until one has a
    /// proof: dolls (an eighth), crowds (half), dolls again (half), hitting sets (the rest).
    fn prove_component(
        &self,
        model: &Model,
        component: &Component,
        known: Option<Vec<i64>>,
        own: &mut Budget,
    ) -> Solved {
        let domains = domain::offsets(model, component);
        let mut solved = Solved { offsets: known, lower_bound: Some(0), is_lowest: false };
        // Most components are small enough for the dolls to end at once, and they alone find the smallest extent.
        let mut part = own.at_most(own.work_left() / 8);
        self.open_dolls(model, component, domains.as_deref(), &mut solved, &mut part);
        own.spend(part.spent());
        if solved.is_proved(model, component) {
            return solved;
        }
        // The methods that follow ask the search without prices, which takes a problem and not a component.
        let Some(alone) = self.alone(component) else { return solved };
        // Crowds are good if many pairs have to be paid for, hitting sets if few have to.
        let mut part = own.at_most(own.work_left() / 2);
        let ceiling = solved.cost(model, component);
        let hit = crowds::solve((model, component, self.pieces), &alone, ceiling, self.request, &mut part);
        own.spend(part.spent());
        self.take(component, hit, &mut solved);
        if !solved.is_proved(model, component) {
            let mut part = own.at_most(own.work_left() / 2);
            self.open_dolls(model, component, domains.as_deref(), &mut solved, &mut part);
            own.spend(part.spent());
        }
        if !solved.is_proved(model, component) && alone.reuse_costs().len() <= MOST_HITTING_PAIRS {
            let hit = hitting_set::solve(&alone, solved.cost(model, component), self.request, own);
            self.take(component, hit, &mut solved);
        }
        solved
    }

    /// Runs the exact search over offsets ([`exact`], "Russian dolls") on a component and stores what it found in
    /// `solved`. Does nothing if there are too many offsets (`domains` is `None`).
    fn open_dolls(
        &self,
        model: &Model,
        component: &Component,
        domains: Option<&[Vec<i64>]>,
        solved: &mut Solved,
        part: &mut Budget,
    ) {
        let Some(domains) = domains else { return };
        let dolls = exact::solve(model, component, domains, solved.offsets.as_deref(), part);
        // `None` says that there is no placement at all, and stays `None`. Otherwise the larger one of the bounds
        // counts.
        let lower_bound = dolls.lower_bound.map(|bound| bound.max(solved.lower_bound.unwrap_or(0)));
        *solved = Solved { lower_bound, ..dolls };
    }

    /// A component as a problem of its own: all other buffers take no bytes, and pairs with them have no price. `None`
    /// if the component has more priced pairs than crowds and hitting sets take, or if that is no valid problem.
    fn alone(&self, component: &Component) -> Option<Problem> {
        let is_here = |buffer| component.items.binary_search(&self.pieces.piece_of(buffer).index()).is_ok();
        let pairs = self.problem.reuse_costs().iter().filter(|cost| is_here(cost.one) && is_here(cost.other));
        if pairs.take(MOST_CROWD_EDGES + 1).count() > MOST_CROWD_EDGES {
            return None;
        }
        let mut builder = search::only(self.problem, is_here)?.to_builder();
        builder.reuse_costs_mut().retain(|cost| is_here(cost.one) && is_here(cost.other));
        builder.build().ok()
    }

    /// Takes over what crowds or hitting sets found out about a component: the bound, and the offsets of the plan, if
    /// there is one.
    fn take(&self, component: &Component, hit: Hit, solved: &mut Solved) {
        solved.lower_bound = solved.lower_bound.max(Some(hit.lower_bound));
        let found = hit.plan.and_then(|plan| {
            let offset = |&item: &usize| self.offset_in(&plan, PieceId::from_index(item));
            component.items.iter().map(offset).collect::<Option<Vec<i64>>>()
        });
        solved.offsets = found.or(solved.offsets.take());
    }

    /// The offset of a piece in a plan: the offset of its first member, less that member's distance from the piece's
    /// start. `None` if the plan does not place the piece.
    fn offset_in(&self, plan: &Plan, piece: PieceId) -> Option<i64> {
        let (buffer, at) = self.pieces.members(piece).next()?;
        let placement = plan.placements[buffer].as_ref()?;
        Some(placement.offsets.get(self.pieces.get(piece).slot as usize)?.0 as i64 - at.0 as i64)
    }

    /// Looks for a cheaper plan of the whole problem by hitting sets. That method does not count pairs that always
    /// share, so their price is taken off the ceiling and added to the bound.
    fn hit(&mut self, budget: &mut Budget) {
        let ceiling = self.best.as_ref().map(|plan| plan.reuse_cost(self.problem));
        let ceiling = ceiling.map(|ceiling| ceiling - self.always);
        let hit = hitting_set::solve(self.problem, ceiling, self.request, budget);
        self.lower_bound = self.lower_bound.max(hit.lower_bound + self.always);
        self.keep(hit.plan);
    }

    /// Lowers the pieces of the best plan at the same cost, unless it is proved that no plan of this cost is smaller.
    fn sink(&mut self, model: &Model) {
        if let Some(found) = self.best.as_ref().filter(|_| !self.is_smallest).and_then(|plan| self.spots(model, plan)) {
            let spots = sink::sink(model, found.spots);
            self.keep(Some(self.assemble(model, &spots)));
        }
    }

    /// Keeps a plan that fits if it is cheaper, or as cheap and smaller.
    fn keep(&mut self, plan: Option<Plan>) {
        let Some(plan) = plan.filter(|plan| fits(self.problem, plan)) else { return };
        // Pairs are compared by their first numbers, and by their second ones if the first are equal.
        let rank = |plan: &Plan| (plan.reuse_cost(self.problem), plan.extent());
        if self.best.as_ref().is_none_or(|best| rank(&plan) < rank(best)) {
            self.best = Some(plan);
        }
    }

    /// Where a plan puts the pieces, in the words of the model. `None` if a piece is not placed or in a space that the
    /// model does not list for it, or if the model forbids the placement.
    fn spots(&self, model: &Model, plan: &Plan) -> Option<Found> {
        let spot = |piece: PieceId| {
            let (buffer, _) = self.pieces.members(piece).next()?;
            let space = plan.placements[buffer].as_ref()?.space;
            let home = model.items[piece.index()].homes.iter().position(|home| home.space == space)?;
            Some(Spot { home: home as u32, offset: self.offset_in(plan, piece)? })
        };
        let spots: Vec<Spot> = self.pieces.ids().map(spot).collect::<Option<_>>()?;
        let (cost, broken) = model.judge(&spots);
        (broken == 0).then_some(Found { spots, cost })
    }

    /// The plan with every piece at its spot.
    fn assemble(&self, model: &Model, spots: &[Spot]) -> Plan {
        let places: Vec<_> = spots
            .iter()
            .zip(&model.items)
            .map(|(spot, item)| (item.homes[spot.home as usize].space, spot.offset))
            .collect();
        search::assemble(self.pieces, &places)
    }

    /// The best plan as an outcome. It is optimal only if it is proved that none is cheaper and none of its cost
    /// smaller.
    fn finish(self, budget: &Budget) -> Outcome {
        let stop = budget.stop().unwrap_or(Stop::Finished);
        let Some(mut plan) = self.best else { return Outcome::Exhausted { stop } };
        let total = plan.reuse_cost(self.problem);
        debug_assert!(self.lower_bound <= total, "no plan is cheaper than the bound");
        plan.cost = Some(PlanCost { total, lower_bound: self.lower_bound });
        if self.is_smallest && total == self.lower_bound {
            return Outcome::Optimal(plan);
        }
        // This lower bound is in bytes. It holds for all plans, whatever they cost.
        let lower_bound = memplan_core::bound::lower_bound(self.problem);
        Outcome::Feasible { plan, lower_bound, stop }
    }
}
