//! The cheapest pairs to activate, found through *crowds*: pieces that are too large together to be kept apart.
//!
//! The search decides which pairs share bytes, not where pieces lie. To *activate* a pair is to let it share and to
//! pay for it. A pair with a price is *open* as long as the search has not decided about it; until then it is to be
//! kept apart. Take all pairs that are forbidden or not yet activated as edges of a graph. If a clique of this graph
//! is larger than the space, one of its open pairs has to be activated, and the search tries them one after the other:
//!
//! ```text
//!   100 bytes; a, b, c, d: 40 bytes each; every two of them share at a price, a-b costs 3, all others 1
//!
//!   {a, b, c, d}: 160 bytes, 60 too many; a pair saves 40 bytes at most, so two pairs or more: at least 2
//!      a-c ──► {a, b, d}: 120 bytes, 20 too many ──► b-d ──► {a, b}: 80 bytes: keeps apart what is left. Costs 2
//! ```
//!
//! When no crowd is left, the search for plans without costs says whether the other pairs can be kept apart. If they
//! cannot, its witness is one more set of pairs of which one has to be activated (a *core*), in this branch and all
//! others.
//!
//! Crowds without an open pair in common are paid for separately, so the sum of their least costs is a lower bound. The
//! search goes in rounds with a growing limit on the cost. A round that finds no plan proves that every plan costs more
//! than its limit, and that bound holds even if the next round does not come to its end.
//!
//! The method is good if much has to be paid and sizes alone say why, whatever the offsets are. It says nothing about
//! the extent.
//!
//! Words from other files: a [`Model`] has an [`Item`] for each piece with its relations; a [`Component`] is a set of
//! items that relations connect, all in one space; a [`Hit`] is the answer: a plan, if one was found, and a lower bound
//! of the cost. A [`Set`] is a set of vertices as bits, so `set >> v & 1` asks whether `v` is in it. [`kept_apart`]
//! makes a problem without prices in which some pairs must not share, and [`is_witnessed`] says whether a pair is among
//! the buffers of a witness.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use memplan_core::{BufferId, Id, Outcome, Problem};

use super::clique::{self, Clique, Set, vertices};
use super::domain::Component;
use super::hitting_set::Hit;
use super::model::{Item, Model};
use super::{is_in_one_block, is_witnessed, kept_apart, sub_request};
use crate::Request;
use crate::piece::Pieces;
use crate::search::{self, Budget};
use crate::tuning::{CLIQUE_NODES_PER_UNIT, HITTING_CALL};

/// Looks for the cheapest plan of a component that costs less than `ceiling`. `alone` is the component as a problem.
/// The answer is empty (no plan, bound 0) if the component has too many pieces for this method.
pub(super) fn solve(
    (model, component, pieces): (&Model, &Component, &Pieces),
    alone: &Problem,
    ceiling: Option<u64>,
    request: &Request,
    budget: &mut Budget,
) -> Hit {
    match Crowds::of(model, component, pieces, alone) {
        Some(crowds) => Search::new(&crowds, alone, request).run(ceiling.unwrap_or(u64::MAX), budget),
        None => Hit::default(),
    }
}

/// Two pieces that share bytes at a price.
struct Edge {
    /// Vertices of [`Crowds`].
    one: usize,
    other: usize,
    weight: u64,
    /// Bytes that sharing can save; `None` if only parts of the pieces have the price, and the others may share for
    /// free.
    saving: Option<i64>,
    /// The priced pairs of the problem that are paid for together.
    pairs: Vec<usize>,
}

/// A component as a graph. Its vertices are the pieces, numbered from large to small.
struct Crowds {
    /// Bytes of a piece, rounded up to what all offsets are multiples of.
    sizes: Vec<i64>,
    /// By piece: the pieces with which it may never share any byte.
    forbidden: Vec<Set>,
    edges: Vec<Edge>,
    /// By the two ends, smaller first: the edge of two whole pieces.
    edge_of: BTreeMap<(usize, usize), usize>,
    /// Pairs of pieces that differ in nothing, so that any plan may swap them.
    twins: Vec<(usize, usize)>,
    /// The highest end in bytes that any piece can have: the capacity of the space, rounded up as the sizes are.
    limit: i64,
}

impl Crowds {
    /// The graph of a component; `None` if it has more pieces than a [`Set`] has bits, or if a sum of sizes or prices
    /// overflows.
    fn of(model: &Model, component: &Component, pieces: &Pieces, alone: &Problem) -> Option<Crowds> {
        // Vertices are numbered from large to small pieces, which suits the search for cliques. `order` has the piece
        // of each vertex, and `vertex_of` the vertex of each piece.
        let mut order = component.items.clone();
        order.sort_by_key(|&item| (std::cmp::Reverse(model.items[item].size), item));
        let vertex_of: BTreeMap<usize, usize> =
            order.iter().enumerate().map(|(vertex, &item)| (item, vertex)).collect();
        let items: Vec<&Item> = order.iter().map(|&item| &model.items[item]).collect();
        if items.len() > clique::MOST_VERTICES {
            return None;
        }
        // If the smallest alignment divides all others and all fixed offsets, all offsets are multiples of it. Then a
        // piece also keeps the bytes up to the next multiple from all others, and its size can be rounded up. Pieces of
        // a component have one home each.
        let least = items.iter().map(|item| item.homes[0].alignment).min().unwrap_or(1);
        let divides_all =
            items.iter().all(|item| item.homes[0].alignment % least == 0 && item.fixed.unwrap_or(0) % least == 0);
        let granule = if divides_all { least } else { 1 };
        let sizes = items.iter().map(|item| Some(item.size.checked_add(granule - 1)? / granule * granule));
        let sizes: Vec<i64> = sizes.collect::<Option<_>>()?;
        // The space's capacity rounded up: the highest end that any piece can have. All pieces of a component are in
        // one space.
        let ends = items.iter().zip(&sizes).map(|(item, size)| item.homes[0].highest.checked_add(*size));
        let limit = ends.collect::<Option<Vec<i64>>>()?.into_iter().max()?;
        // Weights of cliques are sums of sizes, so the sum of all must be a number.
        sizes.iter().try_fold(0i64, |sum, &size| sum.checked_add(size))?;
        let (forbidden, twins) = (vec![0; items.len()], twins(&order, &items));
        let mut crowds = Crowds { forbidden, edges: Vec::new(), edge_of: BTreeMap::new(), twins, sizes, limit };
        for (vertex, item) in items.iter().enumerate() {
            // Only a relation of whole pieces forbids every common byte. Relations of parts (windows, ties) forbid some
            // common bytes only, and are left out.
            for relation in item.relations.iter().filter(|relation| relation.weight.is_none()) {
                let Some(&other) = vertex_of.get(&(relation.other as usize)) else { continue };
                if relation.low == -item.size && relation.high == items[other].size {
                    crowds.forbidden[vertex] |= 1 << other;
                }
            }
        }
        crowds.add_edges(
            alone,
            |buffer| vertex_of.get(&pieces.piece_of(buffer).index()).copied(),
            |vertex| items[vertex].size,
        )?;
        // `edge_of` finds the counterpart of an edge when twins are swapped, and it has no edges of parts of pieces.
        // With such edges twins are not used.
        if crowds.edges.iter().any(|edge| edge.saving.is_none()) {
            crowds.twins.clear();
        }
        Some(crowds)
    }

    /// Adds the priced pairs. All prices of the same two whole pieces make one edge, because they are paid together; a
    /// pair of parts of pieces is an edge of its own. `vertex` gives a buffer's vertex and `size` a vertex's bytes.
    /// `None` if a sum of prices overflows.
    fn add_edges(
        &mut self,
        alone: &Problem,
        vertex: impl Fn(BufferId) -> Option<usize>,
        size: impl Fn(usize) -> i64,
    ) -> Option<()> {
        for (pair, cost) in alone.reuse_costs().iter().enumerate() {
            if cost.weight == 0 || is_in_one_block(alone, cost) {
                continue;
            }
            let (one, other) = (vertex(cost.one)?, vertex(cost.other)?);
            // The bound counts bytes of whole pieces. If the buffer is only a part of its piece, the rest of the piece
            // may share for free, and the edge cannot be part of a crowd.
            let bytes = [cost.one, cost.other].map(|buffer| alone.buffers()[buffer].bytes());
            let bytes = bytes.map(|bytes| bytes.map(|bytes| bytes.0 as i64));
            let is_whole = bytes == [Some(size(one)), Some(size(other))];
            let next = self.edges.len();
            let ends = (one.min(other), one.max(other));
            let number = if is_whole { *self.edge_of.entry(ends).or_insert(next) } else { next };
            // If these two whole pieces have no edge yet, or if the pair is one of parts: a new edge.
            if number == next {
                let saving = is_whole.then(|| self.sizes[one].min(self.sizes[other]));
                self.edges.push(Edge { one, other, weight: 0, saving, pairs: Vec::new() });
            }
            let edge = &mut self.edges[number];
            edge.weight = edge.weight.checked_add(cost.weight)?;
            edge.pairs.push(pair);
        }
        Some(())
    }
}

/// Every two vertices whose pieces have the same size, the same places to be and the same relations with all others.
/// They differ in nothing, so any plan may swap them, and the search need not try both.
fn twins(order: &[usize], items: &[&Item]) -> Vec<(usize, usize)> {
    let relations_without = |vertex: usize, without: usize| {
        let others = items[vertex].relations.iter().filter(|relation| relation.other as usize != order[without]);
        let mut relations: Vec<_> =
            others.map(|relation| (relation.other, relation.low, relation.high, relation.weight)).collect();
        relations.sort_unstable();
        // Forbidden twice is the same as forbidden once, so duplicates go. Of two equal prices both are paid and both
        // stay.
        relations.dedup_by(|one, other| one == other && one.3.is_none());
        relations
    };
    let are_twins = |&(one, other): &(usize, usize)| {
        let (this, that) = (items[one], items[other]);
        let between = this.relations.iter().filter(|relation| relation.other as usize == order[other]);
        (this.size, &this.homes) == (that.size, &that.homes)
            && this.fixed.is_none()
            && that.fixed.is_none()
            // Between the two themselves it must not matter which one is which.
            && between.clone().all(|relation| relation.low == -relation.high)
            && relations_without(one, other) == relations_without(other, one)
    };
    let pairs = (0..items.len()).flat_map(|one| (one + 1..items.len()).map(move |other| (one, other)));
    pairs.filter(are_twins).collect()
}

/// What a branch says about an edge.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    /// Nothing yet. Bounds and questions treat it as kept apart.
    Open,
    /// It is paid for.
    Active,
    /// It is kept apart, because the branch in which it is active has been searched.
    Apart,
}

/// What the search for plans without costs says about a choice.
enum Reply {
    /// There is a plan; it is in `Search::hit`.
    Fits,
    /// One of these edges has to be activated.
    Core(Vec<usize>),
    /// Work ran out.
    Unknown,
}

/// What is known about a branch.
struct Bound {
    /// No plan of the branch costs less; `u64::MAX` if it has none.
    cost: u64,
    /// One of these open edges has to be activated, if anything is known to be too large.
    branches: Option<Vec<usize>>,
}

/// A search for the cheapest set of edges to activate.
struct Search<'a> {
    crowds: &'a Crowds,
    alone: &'a Problem,
    request: &'a Request<'a>,
    /// By edge.
    choices: Vec<Choice>,
    /// Sets of edges of each of which one is active in every plan.
    cores: Vec<Vec<usize>>,
    /// Branches whose bound is above this cost are left out in the present round.
    threshold: u64,
    /// The least bound of the branches that were left out in the present round: the threshold of the next round.
    /// `u64::MAX` if none was left out.
    next: u64,
    /// Nodes of clique searches that were not paid for yet.
    debt: u64,
    hit: Hit,
}

impl<'a> Search<'a> {
    fn new(crowds: &'a Crowds, alone: &'a Problem, request: &'a Request<'a>) -> Search<'a> {
        let choices = vec![Choice::Open; crowds.edges.len()];
        let hit = Hit::default();
        Search { crowds, alone, request, choices, cores: Vec::new(), threshold: 0, next: 0, debt: 0, hit }
    }

    /// Runs rounds with a growing threshold, until one finds a plan or nothing below `ceiling` is left. A round
    /// searches all branches whose bound is at most the threshold; so when it is over without a plan, every plan costs
    /// at least the least bound of the branches it left out.
    fn run(mut self, ceiling: u64, budget: &mut Budget) -> Hit {
        while self.threshold < ceiling {
            self.next = u64::MAX;
            let flow = self.branch(0, budget);
            // `branch` breaks if a plan was found or work is over. If no branch was left out and there is still no
            // plan, nothing fits at any price. (The caller learns that from the search without costs, which has a
            // witness.)
            if flow.is_break() || self.next == u64::MAX {
                break;
            }
            self.threshold = self.next;
        }
        self.hit.lower_bound = self.threshold.min(ceiling);
        self.hit
    }

    /// Searches the branch that `choices` describes; its active edges cost `spent`. Breaks if a plan was found, or if
    /// the work is over. If it does not break, all choices are as they were before.
    fn branch(&mut self, spent: u64, budget: &mut Budget) -> ControlFlow<()> {
        let bound = self.bound(spent, budget);
        if bound.cost > self.threshold {
            self.next = self.next.min(bound.cost);
            return ControlFlow::Continue(());
        }
        if budget.stop().is_some() {
            return ControlFlow::Break(());
        }
        let branches = match bound.branches {
            Some(branches) => branches,
            None => match self.ask(budget) {
                Reply::Core(core) => core,
                Reply::Fits | Reply::Unknown => return ControlFlow::Break(()),
            },
        };
        // One of the edges in `branches` is active in every plan of this branch. They are tried in turn.
        let swaps = self.swaps();
        // The edges that this node has set to `Apart`, to be opened again at its end.
        let mut settled: Vec<usize> = Vec::new();
        for &edge in &branches {
            if self.choices[edge] != Choice::Open {
                continue;
            }
            self.choices[edge] = Choice::Active;
            self.branch(spent.saturating_add(self.crowds.edges[edge].weight), budget)?;
            // The branches that follow need not look at plans with this edge again, nor at those with the edge that
            // takes its place when twins are swapped.
            let like = swaps.iter().filter_map(|&swap| self.swapped(edge, swap));
            for edge in like.chain([edge]).collect::<Vec<_>>() {
                if self.choices[edge] != Choice::Apart {
                    self.choices[edge] = Choice::Apart;
                    settled.push(edge);
                }
            }
        }
        settled.into_iter().for_each(|edge| self.choices[edge] = Choice::Open);
        ControlFlow::Continue(())
    }

    /// The pairs of twins that this branch has not told apart: when the two are swapped, every edge takes the place of
    /// an edge with the same choice.
    fn swaps(&self) -> Vec<(usize, usize)> {
        let is_alike = |&swap: &(usize, usize)| {
            let edges = 0..self.crowds.edges.len();
            let mut moved = edges.filter_map(|edge| Some((edge, self.swapped(edge, swap)?)));
            moved.all(|(edge, other)| self.choices[edge] == self.choices[other])
        };
        self.crowds.twins.iter().copied().filter(is_alike).collect()
    }

    /// The edge that takes an edge's place when twins are swapped; `None` if that is the edge itself. Twins have the
    /// same prices with all others, so there is such an edge.
    fn swapped(&self, edge: usize, (one, other): (usize, usize)) -> Option<usize> {
        let moved = |vertex: usize| match vertex {
            vertex if vertex == one => other,
            vertex if vertex == other => one,
            vertex => vertex,
        };
        let ends = [self.crowds.edges[edge].one, self.crowds.edges[edge].other];
        let [from, to] = ends.map(moved);
        let is_moved = from.min(to) != ends[0].min(ends[1]) || from.max(to) != ends[0].max(ends[1]);
        is_moved.then(|| self.crowds.edge_of.get(&(from.min(to), from.max(to))).copied()).flatten()
    }

    /// A lower bound of what plans of this branch cost: `spent` for the active edges, and the least cost of each of
    /// some crowds and cores that have no open edge in common. It also names the edges to branch on. Once the sum is
    /// above the threshold, no more crowds are looked for.
    fn bound(&mut self, spent: u64, budget: &mut Budget) -> Bound {
        let mut bound = Bound { cost: spent, branches: None };
        let mut is_used = vec![false; self.choices.len()];
        let mut adjacent = self.apart();
        // The heaviest clique of what is kept apart is a crowd if it is larger than the space.
        while bound.cost <= self.threshold {
            let crowd = clique::heaviest(&adjacent, &self.crowds.sizes);
            self.pay(crowd.nodes, budget);
            if crowd.weight <= self.crowds.limit {
                break;
            }
            // The open edges of earlier crowds have been taken out of the graph, so nothing is paid for twice.
            let open = self.open_edges(crowd.members, &is_used);
            bound.cost = bound.cost.saturating_add(self.cheapest_saving(&open, crowd.weight - self.crowds.limit));
            if bound.branches.is_none() {
                bound.branches = Some(self.smallest_crowd(&crowd, &open));
            }
            for edge in open {
                let Edge { one, other, .. } = self.crowds.edges[edge];
                is_used[edge] = true;
                adjacent[one] &= !(1 << other);
                adjacent[other] &= !(1 << one);
            }
        }
        self.add_cores(&mut bound, &mut is_used);
        bound
    }

    /// By piece, the pieces that this branch keeps apart from it in every byte: forbidden ones, and those with an edge
    /// that is not active.
    fn apart(&self) -> Vec<Set> {
        let mut adjacent = self.crowds.forbidden.clone();
        for (edge, _) in self.crowds.edges.iter().zip(&self.choices).filter(|(_, choice)| **choice != Choice::Active) {
            if edge.saving.is_some() {
                adjacent[edge.one] |= 1 << edge.other;
                adjacent[edge.other] |= 1 << edge.one;
            }
        }
        adjacent
    }

    /// The edges inside of a crowd that can still be activated; those that save most for their price come first.
    fn open_edges(&self, members: Set, is_used: &[bool]) -> Vec<usize> {
        let is_inside = |edge: &Edge| members >> edge.one & 1 == 1 && members >> edge.other & 1 == 1;
        let edges = self.crowds.edges.iter().enumerate();
        let open = edges.filter(|(number, edge)| {
            let is_forbidden = self.crowds.forbidden[edge.one] >> edge.other & 1 == 1;
            let is_open = self.choices[*number] == Choice::Open && !is_used[*number] && !is_forbidden;
            // A pair with a piece of no bytes saves nothing, so it need not be paid to make the crowd smaller.
            is_open && edge.saving.is_some_and(|saving| saving > 0) && is_inside(edge)
        });
        let mut open: Vec<usize> = open.map(|(number, _)| number).collect();
        // The prices of a saved byte are compared as fractions, exactly: if a dearer edge came first, even by a tiny
        // difference, `cheapest_saving` would give no lower bound.
        open.sort_by(|&one, &other| {
            let (here, there) = (&self.crowds.edges[one], &self.crowds.edges[other]);
            let product = |weight: u64, saving: Option<i64>| u128::from(weight) * saving.unwrap_or(1).max(1) as u128;
            let prices = product(here.weight, there.saving).cmp(&product(there.weight, here.saving));
            prices.then(one.cmp(&other))
        });
        open
    }

    /// Takes pieces out of a crowd as long as the rest is still too large, and returns the open edges of the rest. A
    /// smaller crowd has fewer open edges, and the search makes a branch for each. The list is empty if the rest has no
    /// open edge: then nothing can make it fit, and this branch of the search has no plan.
    fn smallest_crowd(&self, crowd: &Clique, open: &[usize]) -> Vec<usize> {
        let (mut edges, mut weight) = (open.to_vec(), crowd.weight);
        let mut members: Vec<usize> = vertices(crowd.members).collect();
        let touches = |edge: usize, vertex: usize| {
            let Edge { one, other, .. } = self.crowds.edges[edge];
            one == vertex || other == vertex
        };
        loop {
            // A part of a clique is a clique, so the rest is a crowd as long as it is larger than the space.
            let may_leave = |vertex: &&usize| weight - self.crowds.sizes[**vertex] > self.crowds.limit;
            let degree = |vertex: usize| edges.iter().filter(|&&edge| touches(edge, vertex)).count();
            // The member with the most open edges leaves first; of equals the smaller piece (it has the larger
            // number), so that more can follow.
            let leaves = members.iter().filter(may_leave).max_by_key(|&&vertex| (degree(vertex), vertex)).copied();
            let Some(leaves) = leaves else { return edges };
            weight -= self.crowds.sizes[leaves];
            members.retain(|&vertex| vertex != leaves);
            edges.retain(|&edge| !touches(edge, leaves));
        }
    }

    /// A lower bound of what it costs to make a crowd smaller by `bytes` bytes. A pair that shares saves at most as
    /// many bytes as its smaller piece has. `open` has the edges that save most for their price first, so the bound
    /// takes them in this order, and of the last one only the part that is needed (as for a fractional knapsack).
    /// `u64::MAX` if all edges together save too little.
    fn cheapest_saving(&self, open: &[usize], mut bytes: i64) -> u64 {
        let mut cost = 0u64;
        for edge in open.iter().map(|&edge| &self.crowds.edges[edge]) {
            let saving = edge.saving.unwrap_or(0);
            if saving >= bytes {
                // Real costs are whole numbers, so the bound may be rounded up.
                let part = (u128::from(edge.weight) * bytes as u128).div_ceil(saving as u128);
                return cost.saturating_add(part as u64);
            }
            bytes -= saving;
            cost = cost.saturating_add(edge.weight);
        }
        u64::MAX
    }

    /// Raises the bound by the stored cores. At least one pair of a core has to be activated, so a core without an
    /// active pair costs at least its cheapest open pair. A core that has a pair in common with a crowd or a core that
    /// was counted before is left out: that pair may be the one already paid for.
    fn add_cores(&self, bound: &mut Bound, is_used: &mut [bool]) {
        for core in &self.cores {
            if core.iter().any(|&edge| self.choices[edge] == Choice::Active) {
                continue;
            }
            let open: Vec<usize> = core.iter().copied().filter(|&edge| self.choices[edge] == Choice::Open).collect();
            let least = open.iter().map(|&edge| self.crowds.edges[edge].weight).min().unwrap_or(u64::MAX);
            // (A core of which no edge is open says that the branch has no plan: it costs `u64::MAX`.)
            if !open.iter().any(|&edge| is_used[edge]) {
                bound.cost = bound.cost.saturating_add(least);
                open.iter().for_each(|&edge| is_used[edge] = true);
                bound.branches.get_or_insert(open);
            }
        }
    }

    /// Asks the search without costs whether there is a plan in which all pairs that are not active are kept apart. If
    /// there is none, its witness tells which pairs are to blame.
    fn ask(&mut self, budget: &mut Budget) -> Reply {
        // A pair that belongs to no edge costs nothing or always shares: it is not kept apart.
        let mut is_apart = vec![false; self.alone.reuse_costs().len()];
        for (edge, choice) in self.crowds.edges.iter().zip(&self.choices) {
            edge.pairs.iter().for_each(|&pair| is_apart[pair] = *choice != Choice::Active);
        }
        let Some(apart) = kept_apart(self.alone, |pair| is_apart[pair]) else { return Reply::Unknown };
        // One question gets a quarter of what is left, because other branches have questions, too.
        let answer = search::search(&apart, &sub_request(self.request, budget.work_left() / 4, budget));
        budget.spend(answer.nodes.saturating_add(HITTING_CALL));
        match answer.outcome {
            Outcome::Optimal(plan) | Outcome::Feasible { plan, .. } => {
                self.hit.plan = Some(plan);
                Reply::Fits
            }
            Outcome::Infeasible(witness) => {
                // The buffers of the witness cannot fit together as long as every inactive pair among them is kept
                // apart. So at least one of these pairs has to be activated.
                let inactive = (0..self.choices.len()).filter(|&edge| self.choices[edge] != Choice::Active);
                let blamed = inactive.filter(|&edge| {
                    let mut pairs = self.crowds.edges[edge].pairs.iter();
                    pairs.any(|&pair| is_witnessed(&witness, &self.alone.reuse_costs()[pair]))
                });
                let core: Vec<usize> = blamed.collect();
                // This holds whatever else is active. The core is stored, so that other branches use it as well. Edges
                // of it that this branch keeps apart cannot be activated here; if none is open, the branch has no
                // plan.
                self.cores.push(core.clone());
                Reply::Core(core.into_iter().filter(|&edge| self.choices[edge] == Choice::Open).collect())
            }
            Outcome::Exhausted { .. } => Reply::Unknown,
        }
    }

    /// Pays for nodes of a clique search. A node is less than a unit of work, so the rest is kept as `debt` until it
    /// makes a unit.
    fn pay(&mut self, nodes: u64, budget: &mut Budget) {
        self.debt += nodes;
        budget.spend(self.debt / CLIQUE_NODES_PER_UNIT);
        self.debt %= CLIQUE_NODES_PER_UNIT;
    }
}

#[cfg(test)]
mod tests {
    use memplan_core::{Buffer, Bytes, Lifetime, ProblemBuilder, ReuseCost, Space};
    use memplan_testkit::Features;
    use memplan_testkit::problems::{Limits, problems};
    use proptest::strategy::{Strategy, ValueTree};
    use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

    use super::super::domain;
    use super::*;
    use crate::search::{Clock, Random};

    /// Prices for about half of all pairs.
    fn priced(problem: &Problem, random: &mut Random) -> Option<Problem> {
        let mut builder = problem.to_builder();
        let count = problem.buffers().len();
        for (one, other) in (0..count).flat_map(|one| (0..one).map(move |other| (one, other))) {
            if random.below(2) == 0 {
                let [one, other] = [one, other].map(BufferId::from_index);
                builder.reuse_cost(ReuseCost { one, other, weight: 1 + random.below(3) });
            }
        }
        builder.build().ok()
    }

    /// What the crowds say about every component, and what the plan of the whole problem costs there.
    fn check(problem: &Problem) -> Option<u32> {
        let request = Request { work_limit: Some(400_000), ..Request::default() };
        let answer = search::search(problem, &request);
        let plan = answer.outcome.plan()?;
        let cost = plan.cost.filter(|cost| cost.total == cost.lower_bound)?;
        let pieces = Pieces::of(problem).ok()?;
        let model = Model::of(&pieces).filter(|model| model.is_exact)?;
        let mut sum = model.always;
        for component in domain::components(&model)? {
            let is_here = |buffer| component.items.binary_search(&pieces.piece_of(buffer).index()).is_ok();
            let mut builder = search::only(problem, is_here)?.to_builder();
            builder.reuse_costs_mut().retain(|cost| is_here(cost.one) && is_here(cost.other));
            let alone = builder.build().ok()?;
            let mut budget = Budget::new(&request, 400_000, Clock::start(&request));
            let hit = solve((&model, &component, &pieces), &alone, None, &request, &mut budget);
            assert!(hit.plan.is_some(), "no plan of a component\n{problem:#?}");
            sum += hit.lower_bound;
        }
        assert_eq!(sum, cost.total, "{problem:#?}");
        Some(u32::from(sum > model.always))
    }

    #[test]
    fn the_cost_is_the_one_of_the_whole_search() {
        let small = Limits { buffers: 9, size: 3, steps: 9 };
        let mut costly = 0;
        for (name, features) in Features::one_by_one() {
            let features = Features { capacities: true, ..features };
            let generator = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
            let mut runner = TestRunner::new_with_rng(Config::default(), generator);
            let (mut random, mut checked) = (Random::new(3), 0);
            for _ in 0..60 {
                let problem = problems(features, small).new_tree(&mut runner).unwrap().current();
                if let Some(is_costly) = priced(&problem, &mut random).and_then(|problem| check(&problem)) {
                    checked += 1;
                    costly += is_costly;
                }
            }
            // Slots and choices of spaces leave few problems for this method.
            assert!(checked >= 5, "{name}: {checked} of 60");
        }
        assert!(costly >= 100, "{costly} cost something");
    }

    /// `x` and `y` have to share. That `empty` costs less for each of its bytes, of which it has none, saves nothing.
    #[test]
    fn a_piece_without_bytes_saves_nothing() {
        let mut builder = ProblemBuilder::new();
        builder.space(Space { capacity: Some(Bytes(8)), ..Space::new("memory") });
        let mut buffer = |name, size, step| builder.buffer(Buffer::new(name, size, Lifetime::new(step, step + 1)));
        let [x, y] = [("x", 0), ("y", 1)].map(|(name, step)| buffer(name, 8, step));
        let empty = buffer("empty", 0, 2);
        builder.reuse_cost(ReuseCost { one: x, other: y, weight: 80 });
        builder.reuse_cost(ReuseCost { one: x, other: empty, weight: 1 });
        builder.reuse_cost(ReuseCost { one: y, other: empty, weight: 1 });
        assert_eq!(check(&builder.build().unwrap()), Some(1));
    }

    /// Two pairs of pieces, of which one has to share: u and v at 2^21 - 1 for 2^21 bytes, or x and y at 2^21 for one
    /// byte more. A byte is cheaper at u and v by 1 in 2^42.
    #[test]
    fn prices_are_compared_exactly() {
        let size = 1 << 21;
        let mut builder = ProblemBuilder::new();
        builder.space(Space { capacity: Some(Bytes(3 * size + 2)), ..Space::new("memory") });
        let mut buffer = |name, size, step| builder.buffer(Buffer::new(name, size, Lifetime::new(step, step + 1)));
        let [x, y] = [("x", 0), ("y", 1)].map(|(name, step)| buffer(name, size + 1, step));
        let [u, v] = [("u", 2), ("v", 3)].map(|(name, step)| buffer(name, size, step));
        for (one, other) in [(x, u), (x, v), (y, u), (y, v)] {
            builder.must_not_share(one, other);
        }
        builder.reuse_cost(ReuseCost { one: x, other: y, weight: size });
        builder.reuse_cost(ReuseCost { one: u, other: v, weight: size - 1 });
        assert_eq!(check(&builder.build().unwrap()), Some(1));
    }
}
