//! The cheapest plan by implicit hitting sets: for problems of every kind, as long as few pairs matter.
//!
//! Choose pairs to activate and keep all others apart; the search for plans without costs says whether that fits. If
//! not, it names buffers that cannot be placed together (a witness). At least one of the pairs among these buffers that
//! were kept apart has to be active: these pairs are a *core*. The next choice is the cheapest set of pairs that has
//! one of every core found so far.
//!
//! ```text
//!   pairs  a-b 3   b-c 1   c-d 1                       cores so far     cheapest choice   fits?
//!                                                      none             {}            0   no: a, b, c
//!                                                      {ab, bc}         {bc}          1   no: b, c, d
//!                                                      {ab, bc} {cd}    {bc, cd}      2   yes
//! ```
//!
//! Every plan has one pair of every core among its active pairs, so no plan is cheaper than the cheapest choice. When a
//! choice fits, its plan is optimal; until then the choice's cost is a lower bound.
//!
//! [`kept_apart`] makes a problem without prices in which some pairs must not share; [`is_witnessed`] says whether both
//! buffers of a pair are in a witness; [`search::search`] is the search for plans without costs.

use memplan_core::{Outcome, Plan, Problem};

use super::{is_in_one_block, is_witnessed, kept_apart, sub_request};
use crate::Request;
use crate::search::{self, Budget};
use crate::tuning::{HITTING_CALL, MOST_CORES, MOST_HITTING_NODES};

/// What the method came to.
#[derive(Clone, Debug, Default)]
pub(super) struct Hit {
    /// The cheapest plan, if it was reached.
    pub(super) plan: Option<Plan>,
    /// No plan costs less. Pairs inside a block, which cannot be kept apart, are not counted.
    pub(super) lower_bound: u64,
}

/// Looks for the cheapest plan that costs less than `ceiling`, the cost of a plan that is known. The answer has no plan
/// in these cases: no plan costs less than the ceiling (then the bound has reached the ceiling); work, cores or nodes
/// ran out; the search without costs had no answer; or nothing fits at any price. Pairs inside a block are never in a
/// core, so neither the ceiling nor the bound contains their prices.
pub(super) fn solve(problem: &Problem, ceiling: Option<u64>, request: &Request, budget: &mut Budget) -> Hit {
    let weights: Vec<u64> = problem.reuse_costs().iter().map(|cost| cost.weight).collect();
    let mut cores: Vec<Vec<usize>> = Vec::new();
    let mut hit = Hit::default();
    while cores.len() < MOST_CORES && budget.stop().is_none() {
        // The pairs that may share this time. All plans have one pair of every core, so none is cheaper.
        let Some(choice) = cheapest(&cores, &weights) else { break };
        hit.lower_bound = choice.iter().map(|&pair| weights[pair]).sum();
        if ceiling.is_some_and(|ceiling| hit.lower_bound >= ceiling) {
            break;
        }
        let mut is_apart: Vec<bool> = weights.iter().map(|&weight| weight > 0).collect();
        choice.iter().for_each(|&pair| is_apart[pair] = false);
        // The answer is `None` if the pairs contradict the problem. Then nothing is known about this choice, and the next
        // round would make the same one.
        let Some(apart) = kept_apart(problem, |pair| is_apart[pair]) else { break };
        // A quarter of what is left, because more questions are likely to follow.
        let share = budget.work_left() / 4;
        let answer = search::search(&apart, &sub_request(request, share, budget));
        budget.spend(answer.nodes.saturating_add(HITTING_CALL));
        match answer.outcome {
            Outcome::Optimal(plan) | Outcome::Feasible { plan, .. } => {
                hit.plan = Some(plan);
                break;
            }
            // The buffers of the witness do not fit together. The new core: the pairs among them that were kept apart.
            Outcome::Infeasible(witness) => {
                let pairs = problem.reuse_costs().iter().enumerate();
                let core = pairs.filter(|(pair, cost)| {
                    is_apart[*pair] && !is_in_one_block(problem, cost) && is_witnessed(&witness, cost)
                });
                let core: Vec<usize> = core.map(|(pair, _)| pair).collect();
                // If no pair of the witness was kept apart, the witness does not fit at any price, so there is no plan.
                // The caller learns that from the search without prices.
                if core.is_empty() {
                    break;
                }
                cores.push(core);
            }
            Outcome::Exhausted { .. } => break,
        }
    }
    hit
}

/// The cheapest set of pairs with one of every core, ascending; `None` if that takes too long.
fn cheapest(cores: &[Vec<usize>], weights: &[u64]) -> Option<Vec<usize>> {
    let mut search = Cheapest { cores, weights, chosen: Vec::new(), best: None, nodes: 0 };
    search.branch(0);
    let (_, mut best) = search.best.filter(|_| search.nodes < MOST_HITTING_NODES)?;
    best.sort_unstable();
    Some(best)
}

/// A branch and bound search for the cheapest set of pairs that has one of every core.
struct Cheapest<'a> {
    cores: &'a [Vec<usize>],
    /// By pair: its price.
    weights: &'a [u64],
    /// The pairs chosen on the way to the current node.
    chosen: Vec<usize>,
    /// The cheapest set so far, with its price.
    best: Option<(u64, Vec<usize>)>,
    nodes: u64,
}

impl Cheapest<'_> {
    /// Takes the smallest core that no chosen pair hits and tries its pairs, the cheapest first. `spent` is the price
    /// of the chosen pairs. The smallest core has the fewest branches.
    fn branch(&mut self, spent: u64) {
        self.nodes += 1;
        let open = self.cores.iter().filter(|core| !core.iter().any(|pair| self.chosen.contains(pair)));
        let Some(core) = open.min_by_key(|core| core.len()) else {
            // Every core has a chosen pair.
            if self.best.as_ref().is_none_or(|(best, _)| spent < *best) {
                self.best = Some((spent, self.chosen.clone()));
            }
            return;
        };
        // The branch is cut if its price plus the cheapest pairs of cores without a common pair reaches the best price
        // so far.
        if self.nodes >= MOST_HITTING_NODES
            || self.best.as_ref().is_some_and(|(best, _)| spent + self.disjoint() >= *best)
        {
            return;
        }
        let mut pairs = core.clone();
        pairs.sort_unstable_by_key(|&pair| (self.weights[pair], pair));
        for pair in pairs {
            self.chosen.push(pair);
            self.branch(spent + self.weights[pair]);
            self.chosen.pop();
        }
    }

    /// A lower bound of what is still to be paid: the cheapest pair of each open core, for cores that have no pair in
    /// common with each other, taken greedily in the order in which they were found.
    fn disjoint(&self) -> u64 {
        // A core with a chosen pair is paid for already, so chosen pairs count as seen.
        let mut seen: Vec<usize> = self.chosen.clone();
        let mut sum = 0;
        for core in self.cores {
            if core.iter().all(|pair| !seen.contains(pair)) {
                sum += core.iter().map(|&pair| self.weights[pair]).min().unwrap_or(0);
                seen.extend(core);
            }
        }
        sum
    }
}
