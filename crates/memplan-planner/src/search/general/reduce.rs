//! Irreducible witnesses, whatever the features: buffers are left out one by one.
//!
//! A buffer that is left out keeps its name and takes no bytes. What remains must still
//! be impossible. Leaving out a buffer that may take over another one's bytes
//! can make things worse, since a life that it ends early goes on without it; so
//! whoever it may take over is left out with it, and no witness blames two buffers
//! for a meeting that a third one would have prevented.

use memplan_core::{BufferId, Bytes, Id, Lifetime, Problem, Size, Step, Witness, bound};

use super::decide;
use crate::search::budget::Budget;
use crate::tuning::{GENERAL_WITNESS_NODES, MOST_GENERAL_WITNESS_BUFFERS};

/// Buffers of `among` that cannot be placed together, none of which can be
/// spared. `None` if that they cannot is not found out.
pub(crate) fn irreducible(problem: &Problem, among: &[BufferId], budget: &mut Budget) -> Option<Vec<BufferId>> {
    if problem.buffers().len() > MOST_GENERAL_WITNESS_BUFFERS {
        return None;
    }
    let mut kept = vec![false; problem.buffers().len()];
    among.iter().for_each(|buffer| kept[buffer.index()] = true);
    close(problem, &mut kept);
    if !is_impossible(problem, &kept, budget) {
        kept.fill(true);
        if !is_impossible(problem, &kept, budget) {
            return None;
        }
    }
    // The smallest go first, so that few large ones remain.
    let mut by_size: Vec<BufferId> = problem.buffers().ids().collect();
    by_size.sort_by_key(|&id| (problem.buffers()[id].bytes(), id));
    for buffer in by_size {
        if kept[buffer.index()] && budget.stop().is_none() {
            let mut fewer = kept.clone();
            fewer[buffer.index()] = false;
            close(problem, &mut fewer);
            if is_impossible(problem, &fewer, budget) {
                kept = fewer;
            }
        }
    }
    Some(problem.buffers().ids().filter(|id| kept[id.index()]).collect())
}

/// Says why buffers that cannot be placed together cannot.
///
/// Without a capacity only fixed offsets can be in the way; then the room that these leave
/// takes its place.
pub(crate) fn witness(problem: &Problem, buffers: Vec<BufferId>) -> Option<Witness> {
    let rest = only(problem, |buffer| buffers.binary_search(&buffer).is_ok())?;
    let spaces = || buffers.iter().flat_map(|&buffer| problem.buffers()[buffer].spaces.iter().copied());
    let limited = spaces().find(|&space| problem.spaces()[space].capacity.is_some());
    let space = limited.or_else(|| spaces().next())?;
    let capacity = problem.spaces()[space].capacity.unwrap_or_else(|| room(problem, &buffers));
    let least = bound::space_lower_bounds(&rest)[space].bytes;
    let step = meeting_step(problem, &buffers);
    Some(Witness { space, buffers, step, needed: least.max(Bytes(capacity.0 + 1)), capacity })
}

/// Bytes between the lowest and the highest that a fixed buffer occupies.
fn room(problem: &Problem, buffers: &[BufferId]) -> Bytes {
    let place = |&id: &BufferId| {
        let buffer = &problem.buffers()[id];
        buffer.fixed.map(|offset| (offset.0, offset.0 + buffer.bytes().unwrap_or_default().0))
    };
    let low = buffers.iter().filter_map(place).map(|place| place.0).min().unwrap_or(0);
    let high = buffers.iter().filter_map(place).map(|place| place.1).max().unwrap_or(0);
    Bytes(high - low)
}

/// A step at which all of these are alive.
pub(crate) fn meeting_step(problem: &Problem, buffers: &[BufferId]) -> Option<Step> {
    let alive = |buffer: BufferId, step: Step| {
        let intervals = problem.buffers()[buffer].lifetime.intervals();
        intervals.iter().any(|interval| interval.start <= step && step < interval.end)
    };
    let starts = buffers.iter().flat_map(|&buffer| problem.buffers()[buffer].lifetime.intervals());
    let mut starts: Vec<Step> = starts.map(|interval| interval.start).collect();
    starts.sort_unstable();
    starts.into_iter().find(|&step| buffers.iter().all(|&buffer| alive(buffer, step)))
}

/// Leaves out whoever may be taken over by somebody who is left out.
fn close(problem: &Problem, kept: &mut [bool]) {
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for overlay in problem.overlays() {
            if kept[overlay.over.index()] && !kept[overlay.buffer.index()] {
                kept[overlay.over.index()] = false;
                changed = true;
            }
        }
    }
}

fn is_impossible(problem: &Problem, kept: &[bool], budget: &mut Budget) -> bool {
    let rest = only(problem, |buffer| kept[buffer.index()]);
    rest.is_some_and(|rest| decide(&rest, GENERAL_WITNESS_NODES, budget) == Some(false))
}

/// The problem in which only some buffers take bytes.
pub(crate) fn only(problem: &Problem, is_kept: impl Fn(BufferId) -> bool) -> Option<Problem> {
    let mut builder = problem.to_builder();
    for id in problem.buffers().ids().filter(|&id| !is_kept(id)) {
        let buffer = &mut builder.buffers_mut()[id];
        buffer.size = Size::Fixed(Bytes::ZERO);
        buffer.lifetime = Lifetime::default();
        buffer.exclusive = false;
        buffer.fixed = None;
        buffer.tie = None;
    }
    builder.build().ok()
}
