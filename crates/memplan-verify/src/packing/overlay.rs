//! Which overlays a plan may rely on, and what is left of a victim's life.
//!
//! A plan that puts a buffer w over its victim v lists the pair, the problem must permit it, v must start
//! before w, and if only "same base" is permitted, both must have the same offsets. Then the life of v ends at w's
//! start, on exactly the bytes that they share:
//!
//! ```text
//!  address
//!    |  +-----------------+          v: steps 0..6, bytes 0..3
//!    |  | v               |          w: steps 2..9, bytes 0..2, over v
//!    |  |     +-----------+------+
//!    |  |  v  | w                |   bytes 0..2 of v are alive in 0..2,
//!    |  +-----+------------------+   byte 2 in 0..6
//!    +--0-----2-----------6------9-> step
//! ```
//!
//! Slot 0 of w may lie over slot 0 of v, slot 1 over slot 1, and so on, because in
//! any one iteration w and v are in slots of the same number.
//!
//! A [`Slot`] is the bytes of one slot of a buffer, with its number; a [`Layout`] has the slots of all placed buffers.

use std::collections::{BTreeMap, HashMap, HashSet};

use memplan_core::{BufferId, Id, OverlayKind, Plan, Problem, Step};

use super::layout::{Layout, Slot, placement};
use super::together::home;
use super::violation::{Violation, Who};

/// The overlays that a plan uses and may use.
#[derive(Default)]
pub(super) struct Overlays {
    /// Pairs of a buffer and the victim over which it lies.
    pairs: HashSet<(BufferId, BufferId)>,
    /// For each victim the buffers that start on it, in the order of their starts.
    takers: HashMap<BufferId, Vec<BufferId>>,
}

/// Bytes of a slot, and the step at which an overlay ends their life.
pub(super) struct Remainder {
    pub(super) low: u64,
    pub(super) high: u64,
    /// `u64::MAX` if nothing is laid over these bytes.
    pub(super) death: u64,
}

impl Overlays {
    /// Reports the overlays of the plan that break a rule, and keeps the others.
    pub(super) fn new(problem: &Problem, plan: &Plan, out: &mut Vec<Violation>) -> Overlays {
        let mut overlays = Overlays::default();
        if plan.reused.is_empty() {
            return overlays;
        }
        // What the problem permits. A pair may be declared more than once; the more generous permission holds.
        let mut declared = HashMap::new();
        for overlay in problem.overlays() {
            let kind = declared.entry((overlay.buffer, overlay.over)).or_insert(overlay.kind);
            *kind = overlay.kind.max(*kind);
        }
        for (buffer, over) in plan.reused.iter().flat_map(|reuse| reuse.over.iter().map(|&over| (reuse.buffer, over))) {
            let count = problem.buffers().len();
            // A plan may come from a file and name buffers that do not exist. That is reported and never used as an
            // index.
            if let Some(stranger) = [buffer, over].into_iter().find(|id| id.index() >= count) {
                out.push(Violation::UnknownBuffer { name: format!("buffer number {}", stranger.index()) });
                continue;
            }
            match judge(problem, plan, buffer, over, declared.get(&(buffer, over)).copied()) {
                Some(violation) => out.push(violation),
                None if overlays.pairs.insert((buffer, over)) => overlays.takers.entry(over).or_default().push(buffer),
                None => {}
            }
        }
        // Takers are sorted by their start, because the first one to arrive on a byte ends the victim's life there.
        for over in problem.buffers().ids() {
            if let Some(takers) = overlays.takers.get_mut(&over) {
                takers.sort_by_key(|&buffer| (start(problem, buffer), buffer));
            }
        }
        overlays
    }

    /// Whether the plan may rely on `buffer` starting on the bytes of `over`.
    pub(super) fn uses(&self, buffer: BufferId, over: BufferId) -> bool {
        self.pairs.contains(&(buffer, over))
    }

    /// The parts of a slot with the step at which each one's life is cut short.
    /// `None` if nobody takes any of it.
    ///
    /// Takers come in order of start, so the first to claim a byte is the one
    /// that ends its life. Each taker cuts the slot at two more bytes at most, so there are few parts.
    pub(super) fn remainders(&self, problem: &Problem, layout: &Layout, slot: &Slot) -> Option<Vec<Remainder>> {
        let takers = self.takers.get(&slot.buffer)?;
        // The bytes that no taker has claimed so far, as disjoint ranges.
        let mut unclaimed = BTreeMap::from([(slot.low, slot.high)]);
        let mut remainders = Vec::new();
        for &taker in takers {
            // A taker without a life has been refused by `judge`.
            let Some(start) = problem.buffers()[taker].lifetime.start() else { continue };
            for taking in layout.slots_of(taker).iter().filter(|taking| taking.number == slot.number) {
                if let Some((low, high)) = slot.common(taking) {
                    claim(&mut unclaimed, low, high, |low, high| {
                        remainders.push(Remainder { low, high, death: start.0 });
                    });
                }
            }
        }
        remainders.extend(unclaimed.into_iter().map(|(low, high)| Remainder { low, high, death: u64::MAX }));
        Some(remainders)
    }
}

/// Takes `low..high` out of a set of disjoint ranges and reports what was there.
fn claim(unclaimed: &mut BTreeMap<u64, u64>, low: u64, high: u64, mut report: impl FnMut(u64, u64)) {
    while let Some((&start, &end)) = unclaimed.range(..high).next_back().filter(|&(_, &end)| end > low) {
        unclaimed.remove(&start);
        if start < low {
            unclaimed.insert(start, low);
        }
        if high < end {
            unclaimed.insert(high, end);
        }
        report(start.max(low), end.min(high));
    }
}

/// What is wrong with one overlay that the plan relies on, if anything is.
fn judge(
    problem: &Problem,
    plan: &Plan,
    buffer: BufferId,
    over: BufferId,
    declared: Option<OverlayKind>,
) -> Option<Violation> {
    let (taker, victim) = (Who::new(problem, buffer), Who::new(problem, over));
    let Some(kind) = declared else {
        return Some(Violation::OverlayUndeclared { buffer: taker, over: victim });
    };
    // A buffer can only take over bytes from one that lives before it.
    let in_order =
        matches!((start(problem, over), start(problem, buffer)), (Some(victim), Some(taker)) if victim < taker);
    if !in_order {
        return Some(Violation::OverlayTooEarly { buffer: taker, over: victim });
    }
    // Buffers without a place have been reported; nothing can be said about them.
    let (one, other) = (placement(plan, buffer)?, placement(plan, over)?);
    if one.offsets.len() != other.offsets.len() {
        return Some(Violation::OverlaySlots { buffer: taker, over: victim });
    }
    let same_base = home(one) == home(other) && one.offsets == other.offsets;
    (kind == OverlayKind::SameBase && !same_base)
        .then_some(Violation::OverlayNotSameBase { buffer: taker, over: victim })
}

/// The first step of a buffer's life, if it lives at all.
fn start(problem: &Problem, buffer: BufferId) -> Option<Step> {
    problem.buffers()[buffer].lifetime.start()
}
