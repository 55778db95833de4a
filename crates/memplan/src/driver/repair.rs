//! From a rejected layout to buffers that must stay apart.
//!
//! The checks name the buffers of a violation, but not always both: "the bytes of `%a` were
//! overwritten by op 7" leaves open whose store that was. So a buffer that is named is kept
//! apart from every buffer that lies on its bytes in the rejected layout:
//!
//! ```text
//!   0        64       128
//!   | a      | c      |           `a` is named: a and b are kept apart, a and c need not be.
//!   | b           |
//! ```
//!
//! When a check rejects a layout, the driver makes it again, with the buffers that were found here
//! kept apart (`Solver::repair`); so a mistake of ours does not reach the user.
//!
//! A `Claim` is what a front end says about a layout and the checks judge: packings, programs with the places of
//! their sites, orders of execution. An `Apart` is a set of sites that must not share: pairs, and sites that share
//! with nobody.

use memplan_core::{BufferId, Id, Placement, Problem};
use memplan_program::{Apart, Program, SiteId};
use memplan_verify::dataflow::SitePlanView;

use crate::finding::{self, Finding};
use crate::front_end::{Claim, Order, Packing};

/// Something that a check rejects, and the buffers that have to be kept apart because of it.
pub(super) struct Rejected {
    /// What the check says.
    pub(super) finding: Finding,
    /// The program of the claim whose sites these are.
    program: usize,
    /// The sites that are named.
    sites: Vec<SiteId>,
    /// Pairs of a named site and one that lies on its bytes.
    pairs: Vec<(SiteId, SiteId)>,
}

/// Everything that the packing check rejects in a claim; empty if all plans keep the rules of their
/// problems.
pub(super) fn judge_packings(claim: &Claim) -> Vec<Rejected> {
    claim.packings.iter().flat_map(judge_packing).collect()
}

/// Everything that the dataflow check rejects in the programs of a claim, and the check of orders
/// in its orders; empty if all of them compute what they did.
pub(super) fn judge_programs(claim: &Claim) -> Vec<Rejected> {
    let programs = claim.programs.iter().enumerate();
    let programs = programs.flat_map(|(index, (program, plan))| judge_program(index, program, plan));
    programs.chain(claim.orders.iter().flat_map(judge_order)).collect()
}

/// Everything that is wrong with the packing of one problem. Where the problem was made from a program, the allocations
/// of the rejected buffers are named too, so that they can be kept apart in the next attempt.
fn judge_packing(packing: &Packing) -> Vec<Rejected> {
    let rejected = |(finding, buffers): (Finding, Vec<BufferId>)| {
        let (program, sites) = match &packing.sites {
            // The list may be shorter than that of the buffers: a buffer behind its end is no site
            // (the source prescribes its address), and cannot be kept apart.
            Some((program, sites)) => {
                (*program, buffers.iter().filter_map(|buffer| sites.get(buffer.index()).copied()).collect())
            }
            // Buffers that are no sites cannot be kept apart, so this rejection is not repaired.
            None => (0, Vec::new()),
        };
        // The packing check names both buffers of a pair, so nothing else needs to be kept apart.
        let pairs = pairs_of(&sites);
        Rejected { finding, program, sites, pairs }
    };
    // Each finding comes with the buffers that it is about.
    finding::in_packing_with_buffers(&packing.problem, &packing.plan).into_iter().map(rejected).collect()
}

/// Everything that the dataflow check finds wrong with one program, which is number `index` of the claim. The sites
/// that a finding names are paired with each other and with everything on their bytes; these pairs are kept apart in
/// the next attempt.
fn judge_program(index: usize, program: &Program, plan: &SitePlanView<'_>) -> Vec<Rejected> {
    let rejected = |(finding, sites): (Finding, Vec<SiteId>)| {
        let mut pairs = pairs_of(&sites);
        for &site in &sites {
            pairs.extend(on_the_bytes_of(program, plan, site).map(|other| (site, other)));
        }
        Rejected { finding, program: index, sites, pairs }
    };
    finding::in_dataflow_with_sites(program, plan).into_iter().map(rejected).collect()
}

/// An order has no buffers that could be kept apart: if it is wrong, there is no result.
fn judge_order(order: &Order) -> Vec<Rejected> {
    let rejected = |finding| Rejected { finding, program: 0, sites: Vec::new(), pairs: Vec::new() };
    finding::in_order(&order.ops, &order.order).into_iter().map(rejected).collect()
}

/// All pairs of different sites.
fn pairs_of(sites: &[SiteId]) -> Vec<(SiteId, SiteId)> {
    let pairs = sites.iter().enumerate().flat_map(|(at, &one)| sites[at + 1..].iter().map(move |&other| (one, other)));
    pairs.filter(|(one, other)| one != other).collect()
}

/// The other sites that may have a byte in common with `site` in the rejected layout, in any slot
/// and any iteration, whenever they live. The finding does not say which of them overwrote it, so
/// each may have.
fn on_the_bytes_of<'a>(
    program: &'a Program,
    plan: &'a SitePlanView<'_>,
    site: SiteId,
) -> impl Iterator<Item = SiteId> + use<'a> {
    // A site without a place in the plan has memory of its own and meets nothing.
    let own = plan.placements[site].as_ref();
    // The bytes of one slot: the size, or the largest that a symbolic size may have. A size without
    // a bound counts as 0: planners leave such a site alone, so it has no placement here.
    let size = move |site: SiteId| program.site(site).size.upper_bound().unwrap_or_default().0;
    plan.placements.iter_enumerated().filter_map(move |(other, placement)| {
        let (own, placement) = (own?, placement.as_ref()?);
        let meets = other != site && own.space == placement.space && meet((own, size(site)), (placement, size(other)));
        meets.then_some(other)
    })
}

/// Whether two placements of these sizes may share a byte. Where a buffer has different bytes in each iteration of a
/// loop (it has strides), it is taken to meet everything.
fn meet((one, one_size): (&Placement, u64), (other, other_size): (&Placement, u64)) -> bool {
    if !one.strides.is_empty() || !other.strides.is_empty() {
        return true;
    }
    // Whether the bytes from `a` on of the one and from `b` on of the other have a byte in common.
    let overlap = |a: u64, b: u64| a < b.saturating_add(other_size) && b < a.saturating_add(one_size);
    one.offsets.iter().any(|a| other.offsets.iter().any(|b| overlap(a.0, b.0)))
}

/// Adds the sites of a rejection to those that must stay apart: its pairs if `as_pairs`, else each
/// named site becomes one that shares with nobody. `apart` has an entry for each program of the
/// claim. Returns whether anything was new: if nothing was, the same layout would be made again,
/// and the caller gives up.
pub(super) fn keep_apart(apart: &mut Vec<Apart>, rejected: &Rejected, as_pairs: bool) -> bool {
    // Nothing is named that could be kept apart.
    if rejected.sites.is_empty() {
        return false;
    }
    if apart.len() <= rejected.program {
        apart.resize(rejected.program + 1, Apart::default());
    }
    let apart = &mut apart[rejected.program];
    let mut learned = false;
    if as_pairs {
        for &(one, other) in &rejected.pairs {
            learned |= apart.add_pair(one, other);
        }
    } else {
        for &site in &rejected.sites {
            learned |= apart.add_alone(site);
        }
    }
    learned
}

/// A repair in words, with what was wrong. `maker` is the front end whose layout was rejected.
pub(super) fn described(maker: &str, rejected: &Rejected) -> String {
    let names: Vec<String> = rejected.finding.buffers.iter().map(|name| format!("`{name}`")).collect();
    let who = if names.is_empty() { "buffers".to_owned() } else { names.join(" and ") };
    format!(
        "a plan of `{maker}` was rejected and made again with {who} kept apart: {}; this is a mistake in memplan that \
         did not reach the result, please report it with the input",
        rejected.finding.message
    )
}

/// The problem with more rules: buffers whose sites are a pair in `apart` must not share, and those
/// that are alone become exclusive (they share with nobody). `buffer_of` says which buffer a site
/// is; a site that is none (`None`) is passed over.
pub(crate) fn with_apart(problem: &Problem, apart: &Apart, buffer_of: impl Fn(SiteId) -> Option<BufferId>) -> Problem {
    let mut builder = problem.to_builder();
    for (one, other) in apart.pairs() {
        if let (Some(one), Some(other)) = (buffer_of(one), buffer_of(other)) {
            builder.must_not_share(one, other);
        }
    }
    for site in apart.alone() {
        if let Some(buffer) = buffer_of(site) {
            builder.buffers_mut()[buffer].exclusive = true;
        }
    }
    // If two buffers that must share are to be kept apart, the problem cannot be built. Then it stays as it was, the
    // layout is rejected again, and the driver gives up when nothing new can be learned.
    builder.build().unwrap_or_else(|_| problem.clone())
}
