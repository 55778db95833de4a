//! Irreducible witnesses, whatever the features: buffers are left out one by one.
//!
//! A buffer that is left out keeps its number and takes no bytes. If the buffers that remain cannot be placed, that
//! must prove that all buffers together cannot be placed. Overlays make that difficult: a newcomer that is computed in
//! place ends the need for its victim's bytes, so leaving out the newcomer could make the rest harder. So if the
//! newcomer of an overlay is left out, the life of its victim is cut where the life of the newcomer begins. Then no
//! witness blames two buffers for a meeting that a third buffer would have prevented:
//!
//! ```text
//!   v 4  ########      w may take over v; x is alive with v, but only after w has begun
//!   w 4      ####      without w:  v 4  ####
//!   x 4      ####                  x 4      ####      fits: w is part of the witness, if any
//! ```
//!
//! With these cuts, every set that contains an impossible set is impossible, too. So one pass that drops every buffer
//! that can be spared leaves a set of which every buffer is needed. (If the question whether a buffer can be spared
//! takes more than [`WITNESS_NODES`] nodes, the buffer stays.)
//!
//! [`decide`] asks whether a problem has a plan at all. A [`Witness`] names buffers that cannot be placed together, a
//! space, how many bytes they need in it and its capacity.

use memplan_core::{
    BufferId, Bytes, Id, Interval, Lifetime, Overlay, Problem, ProblemBuilder, Size, Step, Witness, bound,
};

use super::decide;
use crate::piece::reserved;
use crate::search::budget::Budget;
use crate::tuning::{MOST_GENERAL_PIECES, WITNESS_NODES};

/// Buffers that cannot be placed together, and each of which is needed for that: if any one is left out, the others can
/// be placed. They are looked for in `among` first, then among all buffers. `None` if the search does not find out that
/// the buffers cannot be placed.
pub(crate) fn irreducible(problem: &Problem, among: &[BufferId], budget: &mut Budget) -> Option<Vec<BufferId>> {
    if problem.buffers().len() > MOST_GENERAL_PIECES {
        return None;
    }
    // By buffer: whether it belongs to the set.
    let mut kept = vec![false; problem.buffers().len()];
    among.iter().for_each(|buffer| kept[buffer.index()] = true);
    if !is_impossible(problem, &kept, budget) {
        kept.fill(true);
        if !is_impossible(problem, &kept, budget) {
            return None;
        }
    }
    // The smallest are left out first, so that few large ones remain.
    let mut by_size: Vec<BufferId> = problem.buffers().ids().collect();
    by_size.sort_by_key(|&id| (problem.buffers()[id].bytes(), id));
    for buffer in by_size {
        if kept[buffer.index()] && budget.stop().is_none() {
            let mut fewer = kept.clone();
            fewer[buffer.index()] = false;
            if is_impossible(problem, &fewer, budget) {
                kept = fewer;
            }
        }
    }
    Some(problem.buffers().ids().filter(|id| kept[id.index()]).collect())
}

/// Makes a witness of buffers that cannot be placed together: names a space, how many bytes the buffers need in it at
/// least, and the capacity. `None` if there are no buffers.
///
/// Without a capacity only fixed offsets can be the reason. Then the bytes between the lowest and the highest byte that
/// fixed buffers occupy are given as the capacity.
pub(crate) fn witness(problem: &Problem, buffers: Vec<BufferId>) -> Option<Witness> {
    let spaces = || buffers.iter().flat_map(|&buffer| problem.buffers()[buffer].spaces.iter().copied());
    let capacity = |space| problem.spaces()[space].capacity;
    // What the buffers that can only be in this space need there.
    let needed = |space| {
        let here: Vec<BufferId> =
            buffers.iter().copied().filter(|&buffer| problem.buffers()[buffer].spaces.as_slice() == [space]).collect();
        bound::needed_by(problem, space, &here)
    };
    // Of several spaces with capacities, the witness names the one with the least bytes to spare.
    let limited =
        spaces().filter_map(|space| Some((space, i128::from(capacity(space)?.0) - i128::from(needed(space).0))));
    let tightest = limited.min_by_key(|&(space, spare)| (spare, space)).map(|(space, _)| space);
    let space = tightest.or_else(|| spaces().next())?;
    let capacity = capacity(space).unwrap_or_else(|| room(problem, &buffers));
    let step = meeting_step(problem, &buffers);
    // If only the search could prove that the buffers do not fit, the bound may be at or below the capacity. But the
    // buffers do need at least one byte more than the capacity.
    Some(Witness { space, step, needed: needed(space).max(Bytes(capacity.0 + 1)), capacity, buffers })
}

/// Bytes between the lowest and the highest that a fixed buffer occupies.
fn room(problem: &Problem, buffers: &[BufferId]) -> Bytes {
    let place = |&id: &BufferId| {
        let buffer = &problem.buffers()[id];
        buffer.fixed().map(|offset| (offset.0, offset.0 + reserved(buffer).0))
    };
    let low = buffers.iter().filter_map(place).map(|place| place.0).min().unwrap_or(0);
    let high = buffers.iter().filter_map(place).map(|place| place.1).max().unwrap_or(0);
    Bytes(high - low)
}

/// The first step at which all of these buffers are alive; `None` if there is none. Only steps at which a stretch of
/// one of them starts have to be looked at: the first step at which all are alive is such a step.
pub(crate) fn meeting_step(problem: &Problem, buffers: &[BufferId]) -> Option<Step> {
    let alive = |buffer: BufferId, step: Step| {
        let mut intervals = problem.buffers()[buffer].lifetime.intervals();
        intervals.any(|interval| interval.start <= step && step < interval.end)
    };
    let starts = buffers.iter().flat_map(|&buffer| problem.buffers()[buffer].lifetime.intervals());
    let mut starts: Vec<Step> = starts.map(|interval| interval.start).collect();
    starts.sort_unstable();
    starts.into_iter().find(|&step| buffers.iter().all(|&buffer| alive(buffer, step)))
}

/// Whether it is proved, within [`WITNESS_NODES`] nodes, that the kept buffers alone have no plan.
fn is_impossible(problem: &Problem, kept: &[bool], budget: &mut Budget) -> bool {
    let rest = relaxed(problem, |buffer| kept[buffer.index()]);
    rest.is_some_and(|rest| decide(&rest, WITNESS_NODES, budget) == Some(false))
}

/// The problem in which only the kept buffers take bytes. `None` if that is no valid problem.
pub(crate) fn only(problem: &Problem, is_kept: impl Fn(BufferId) -> bool) -> Option<Problem> {
    with_only(problem, &is_kept).build().ok()
}

/// As [`only`], with some lives made shorter: if a buffer that is left out may take over bytes of a kept buffer, the
/// kept buffer ends where the other one starts. So this problem is no harder than the whole problem: if this one has no
/// plan, the whole problem has none either. `None` if that is no valid problem.
pub(crate) fn relaxed(problem: &Problem, is_kept: impl Fn(BufferId) -> bool) -> Option<Problem> {
    let mut builder = with_only(problem, &is_kept);
    for overlay in problem.overlays() {
        let cut = problem.buffers()[overlay.buffer].lifetime.start();
        if let Some(cut) =
            cut.filter(|_| is_kept(overlay.over) && !is_kept(overlay.buffer) && may_happen(problem, overlay))
        {
            let victim = &mut builder.buffers_mut()[overlay.over];
            let stretches = victim.lifetime.intervals().filter(|stretch| stretch.start < cut);
            victim.lifetime = stretches.map(|stretch| Interval { end: stretch.end.min(cut), ..stretch }).collect();
        }
    }
    builder.build().ok()
}

/// Whether a plan could make use of an overlay: both can be in one space, in the right order.
fn may_happen(problem: &Problem, overlay: &Overlay) -> bool {
    let [newcomer, victim] = [overlay.buffer, overlay.over].map(|id| &problem.buffers()[id]);
    let in_order = newcomer.lifetime.start() > victim.lifetime.start();
    in_order && newcomer.spaces.iter().any(|space| victim.spaces.contains(space))
}

/// The same problem in which all buffers that are not kept are empty and never alive. They are not removed, so that the
/// numbers of buffers stay the same. What could still be in the way of others without bytes and life is taken from them
/// as well: an exclusive buffer, a fixed place beyond the capacity, a place in a group.
fn with_only(problem: &Problem, is_kept: &impl Fn(BufferId) -> bool) -> ProblemBuilder {
    let mut builder = problem.to_builder();
    for id in problem.buffers().ids().filter(|&id| !is_kept(id)) {
        let buffer = &mut builder.buffers_mut()[id];
        buffer.size = Size::Fixed(Bytes::ZERO);
        buffer.lifetime = Lifetime::default();
        buffer.exclusive = false;
        buffer.set_fixed(None);
        buffer.set_tie(None);
    }
    builder
}
