//! Buffers that exclusive branches give back in each other's place.
//!
//! ```text
//!   %r = scf.if %c -> (memref<64xf32>) {
//!     %a = memref.alloc() …  scf.yield %a      %a and %b are both in use until the last use of %r,
//!   } else {                                   but only one of them exists: they can have the same bytes
//!     %b = memref.alloc() …  scf.yield %b
//!   }
//! ```
//!
//! A buffer that is made in one branch and used behind the branches (it *leaves* them) counts as alive during all of
//! them, so `%a` and `%b` overlap in time and would lie side by side. Instead they are made *twins* (not the twins of
//! the glossary): one member of their frame (what is placed together), as large as the larger of them and alive as
//! long as either. Twins never take more memory than buffers side by side. One of them is the *leader*, the others are
//! *followers* and get the address of the leader.
//! The dataflow check, which proves the result, follows the branches by itself and knows nothing of this file.

use std::borrow::Cow;
use std::collections::BTreeMap;

use memplan_program::{Control, OpId, RegionId, SiteId};

use super::BufferizedView;
use super::candidates::Candidate;
use super::home::Homes;
use crate::hash::{HashMap, HashSet};

/// The buffers that leave some branches, by the branch they are made in.
type ByBranch<'a> = BTreeMap<RegionId, Vec<&'a Candidate>>;

/// Pairs of a leader and a follower that lie at the leader's address; a leader may have several followers.
pub(super) fn twins(view: &BufferizedView, candidates: &[Candidate], homes: &Homes) -> Vec<(SiteId, SiteId)> {
    // The original does not share memory between branches in this way.
    if view.options.compat {
        return Vec::new();
    }
    // The buffers that leave branches, by the op with the branches and the memory space. A buffer that must be kept
    // apart from another one, because the dataflow check has rejected a plan, takes no part: a twin would share bytes
    // with whatever its leader shares bytes with.
    let mut outlive: BTreeMap<(OpId, Option<&str>), ByBranch> = BTreeMap::new();
    let kept_apart: HashSet<SiteId> = view.apart.pairs().flat_map(|(one, other)| [one, other]).collect();
    for candidate in candidates.iter().filter(|candidate| !kept_apart.contains(&candidate.site)) {
        if let Some((branches, region)) = left_branches(view, candidate) {
            let key = (branches, candidate.space.as_deref());
            outlive.entry(key).or_default().entry(region).or_default().push(candidate);
        }
    }
    let mut pairs = Vec::new();
    for mut regions in outlive.into_values() {
        // Buffers of the branches are paired by size: the largest of each branch share an address, then the second
        // largest. So the least memory is wasted.
        for list in regions.values_mut() {
            list.sort_by_key(|candidate| std::cmp::Reverse(candidate.bytes));
        }
        // The buffers of the first branch lead, those of the other branches follow. Surplus ones have no partner.
        let mut lists = regions.values();
        let Some(leaders) = lists.next() else { continue };
        for followers in lists {
            for (leader, follower) in leaders.iter().zip(followers) {
                // Twins lie in one frame, so they must have the same scope and cross the same loops.
                if homes[leader.site].is_some() && homes[leader.site] == homes[follower.site] {
                    pairs.push((leader.site, follower.site));
                }
            }
        }
    }
    if !pairs.is_empty() {
        let written = written_side_by_side(view);
        pairs.retain(|(leader, follower)| !written.contains(leader) && !written.contains(follower));
    }
    pairs
}

/// Buffers that are written through a value which may be one of several buffers, by code that runs beside other code
/// (in a parallel loop, for example). The dataflow check looks at each iteration by itself, and would not know that
/// all of them write the buffer of the same branch. It would reject twins here, so they are not made.
fn written_side_by_side(view: &BufferizedView) -> HashSet<SiteId> {
    let program = &view.lowered.program;
    // Whether an op runs beside other code.
    let is_beside = |op: OpId| {
        let control = |around: OpId| program.op(around).control();
        program.ancestors(op).any(|around| {
            matches!(control(around), Control::Parallel { .. } | Control::Async { .. } | Control::Unknown)
        })
    };
    let mut written = HashSet::default();
    for (op, info) in program.ops().iter_enumerated() {
        let targets = info.accesses.iter().filter(|access| access.kind.writes());
        let chosen: Vec<&[SiteId]> =
            targets.map(|access| view.aliases.sites(access.value)).filter(|sites| sites.len() > 1).collect();
        if !chosen.is_empty() && is_beside(op) {
            written.extend(chosen.into_iter().flatten().copied());
        }
    }
    written
}

/// The innermost op with branches that a buffer is made in and used behind, and the branch it is made in; `None` if
/// there is none. `None` also if there is a loop around the allocation within the buffer's life: another iteration
/// may take the other branch while the buffer is still in use.
fn left_branches(view: &BufferizedView, candidate: &Candidate) -> Option<(OpId, RegionId)> {
    let program = &view.lowered.program;
    let (first, last) = candidate.life?;
    let mut inner = program.alloc_op(candidate.site)?;
    let mut found = None;
    for around in program.ancestors(inner) {
        let op = view.lowered.ops[around];
        // If the op begins before the buffer's life does, the whole life lies inside of the op. If this op, or one
        // around it, is a loop, each iteration runs through a whole life, so the loop does no harm.
        if op < first {
            break;
        }
        match program.op(around).control() {
            Control::Alternatives { .. } if found.is_none() && last > view.last_inside(op) => {
                found = Some((around, program.block(program.op(inner).block).region));
            }
            Control::Alternatives { .. } | Control::Once => {}
            _ => return None,
        }
        inner = around;
    }
    found
}

/// The candidates without the followers. Each leader is as large and as aligned as its followers need, and lives as
/// long as any of them.
pub(super) fn join<'a>(candidates: &'a [Candidate], twins: &[(SiteId, SiteId)]) -> Cow<'a, [Candidate]> {
    // Most files have no twins, and then nothing is copied.
    if twins.is_empty() {
        return Cow::Borrowed(candidates);
    }
    let leader_of: HashMap<SiteId, SiteId> = twins.iter().map(|&(leader, follower)| (follower, leader)).collect();
    let mut joined: Vec<Candidate> =
        candidates.iter().filter(|candidate| !leader_of.contains_key(&candidate.site)).cloned().collect();
    let places: HashMap<SiteId, usize> =
        joined.iter().enumerate().map(|(place, candidate)| (candidate.site, place)).collect();
    for follower in candidates {
        let Some(leader) = leader_of.get(&follower.site).and_then(|leader| places.get(leader)) else { continue };
        let leader = &mut joined[*leader];
        leader.bytes = leader.bytes.max(follower.bytes);
        // Alignments are powers of two, so the larger one suits both.
        leader.alignment = leader.alignment.max(follower.alignment);
        leader.life = match (leader.life, follower.life) {
            (Some((first, last)), Some((start, end))) => Some((first.min(start), last.max(end))),
            (one, other) => one.or(other),
        };
    }
    Cow::Owned(joined)
}
