//! Is there a plan below an extent? By trying every offset, with bytes as bits.
//!
//! The same question as in [`brute_force`](crate::brute_force), asked of many more problems: the
//! bytes of a space are the bits of a word, so that two buffers have bytes in
//! common if the *and* of two words is not zero. Buffers are placed one
//! after the other at every aligned offset of every candidate space. Rules
//! that nothing later can mend are checked at once; lives that an overlay may
//! cut short, when everything is placed. A plan that is found is shown to [`mod@reference`].

use std::collections::HashSet;

use memplan_core::{Buffer, BufferId, Bytes, Id, OverlayKind, Placement, Plan, Problem, Reuse, SpaceId};

use crate::reference;

/// A plan whose extent is below `below`, `Some(None)` if there is none, `None` if there is too
/// much to try: more than `most_visits` partial plans, more than 64 steps, or more bytes than a word of 128 bits has.
pub fn plan_below(problem: &Problem, below: u64, most_visits: u64) -> Option<Option<Plan>> {
    let steps = problem.buffers().iter().filter_map(|buffer| buffer.lifetime.end()).map(|step| step.0).max();
    // No buffer need end above `highest`: a plan below the extent has none there, and `enough` suffices for any plan.
    let highest = below.saturating_sub(1).min(enough(problem));
    if highest > 128 || steps.is_some_and(|steps| steps > 64) {
        return None;
    }
    let mut search = Search {
        problem,
        company: reference::companies(problem),
        apart: problem.must_not_share().iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect(),
        below,
        highest,
        steps: steps.unwrap_or(0),
        placed: Vec::new(),
        visits: most_visits,
        found: None,
    };
    search.place_next();
    (search.visits > 0).then_some(search.found)
}

/// An extent that suffices: if there is a plan, one that is as small as any lies below it. Once everything in a plan
/// has been moved down as far as it goes, each slot lies on another one, on a fixed buffer or on the ground. The gap
/// under it is less than its alignment, or is due to its distance in a tie group.
pub fn enough(problem: &Problem) -> u64 {
    let padded = |id: BufferId| {
        let buffer = &problem.buffers()[id];
        let alignments = buffer.spaces.iter().map(|&space| problem.alignment_in(id, space).0);
        let tie = buffer.tie().map_or(0, |tie| tie.at.0);
        (size(buffer) + alignments.max().unwrap_or(1)) * u64::from(buffer.slots) + tie
    };
    let fixed = problem.buffers().iter().filter_map(|buffer| buffer.fixed()).max().unwrap_or_default();
    problem.buffers().ids().map(padded).sum::<u64>() + fixed.0
}

/// Bytes of one slot; 0 if they are not known.
fn size(buffer: &Buffer) -> u64 {
    buffer.bytes().unwrap_or_default().0
}

/// Bits `low..high`.
fn bits(low: u64, high: u64) -> u128 {
    // A shift by all 128 bits is not allowed, hence the special case.
    let ones = |count: u64| if count >= 128 { u128::MAX } else { (1 << count) - 1 };
    ones(high) & !ones(low)
}

/// Where a buffer has been placed: an offset for each slot.
struct Placed {
    /// The space.
    space: SpaceId,
    /// The offset of each slot in it.
    offsets: Vec<u64>,
}

/// The state of the search.
struct Search<'a> {
    /// The problem.
    problem: &'a Problem,
    /// For each buffer a number that is equal for those that ties and must-share pairs hold together (a *company*).
    company: Vec<usize>,
    /// Both directions of every must-not-share pair.
    apart: HashSet<(BufferId, BufferId)>,
    /// The extent that the plan has to stay below.
    below: u64,
    /// No buffer ends above this.
    highest: u64,
    /// One past the last step at which a buffer is alive.
    steps: u64,
    /// The buffers placed so far, in input order.
    placed: Vec<Placed>,
    /// How many partial plans may still be visited. At 0 the search ends without an answer.
    visits: u64,
    /// The first plan that was found, which ends the search.
    found: Option<Plan>,
}

impl Search<'_> {
    /// Places the next buffer in every possible way; when all are placed, looks whether that is a plan.
    fn place_next(&mut self) {
        if self.visits == 0 || self.found.is_some() {
            return;
        }
        self.visits -= 1;
        let Some(id) = self.problem.buffers().ids().nth(self.placed.len()) else {
            if self.is_plan() {
                self.found = Some(self.plan());
            }
            return;
        };
        let buffer = &self.problem.buffers()[id];
        for &space in &buffer.spaces {
            let alignment = self.problem.alignment_in(id, space).0;
            let capacity = self.problem.spaces()[space].capacity.map_or(u64::MAX, |capacity| capacity.0);
            // The last offset at which the buffer ends in time; none if it is too large for this space.
            let Some(last) = self.highest.min(capacity).checked_sub(size(buffer)) else { continue };
            let offsets: Vec<u64> = match buffer.fixed() {
                Some(fixed) if fixed.0 > last => Vec::new(),
                Some(fixed) => vec![fixed.0],
                None => (0..=last).step_by(alignment as usize).collect(),
            };
            self.try_slots(id, space, &offsets, &mut Vec::new());
        }
    }

    /// Tries all ways to give the slots of a buffer their offsets, one slot after the other; `chosen` has the offsets
    /// of the slots so far. When the last slot has one, the next buffer is placed.
    fn try_slots(&mut self, id: BufferId, space: SpaceId, offsets: &[u64], chosen: &mut Vec<u64>) {
        if chosen.len() == self.problem.buffers()[id].slots as usize {
            self.placed.push(Placed { space, offsets: chosen.clone() });
            if self.is_possible(id) {
                self.place_next();
            }
            self.placed.pop();
            return;
        }
        for &offset in offsets {
            let bytes = size(&self.problem.buffers()[id]);
            // Slots of one buffer are in use at the same time, so they may not meet.
            let meets = |&other: &u64| offset < other + bytes && other < offset + bytes;
            if chosen.iter().any(meets) || self.found.is_some() {
                continue;
            }
            chosen.push(offset);
            self.try_slots(id, space, offsets, chosen);
            chosen.pop();
        }
    }

    /// Whether the buffer placed last breaks no rule that the places of later buffers cannot mend.
    fn is_possible(&mut self, last: BufferId) -> bool {
        self.visits = self.visits.saturating_sub(1);
        let extent: u64 = self.problem.spaces().ids().map(|space| self.extent(space)).sum();
        let others = (0..last.index()).map(BufferId::from_index);
        extent < self.below
            && others.into_iter().all(|other| self.lie_as_told(last, other) && self.may_stay(last, other))
    }

    /// Where the furthest slot in a space ends.
    fn extent(&self, space: SpaceId) -> u64 {
        let here = self.placed.iter().zip(self.problem.buffers().iter()).filter(|(placed, _)| placed.space == space);
        here.flat_map(|(placed, buffer)| placed.offsets.iter().map(|offset| offset + size(buffer))).max().unwrap_or(0)
    }

    /// Whether two placed buffers lie at the distance that a common tie group or a must-share pair prescribes.
    fn lie_as_told(&self, one: BufferId, other: BufferId) -> bool {
        let ties = [one, other].map(|id| self.problem.buffers()[id].tie());
        // The distance that a group prescribes; `None` if no group holds both.
        let tied = match ties {
            [Some(a), Some(b)] if a.group == b.group => Some(a.at.0 as i64 - b.at.0 as i64),
            _ => None,
        };
        let together = self.problem.must_share().iter().any(|&pair| pair == (one, other) || pair == (other, one));
        let at_distance = |distance: i64| {
            let [a, b] = [one, other].map(|id| &self.placed[id.index()]);
            a.space == b.space && a.offsets.iter().zip(&b.offsets).all(|(a, b)| *a as i64 - *b as i64 == distance)
        };
        tied.is_none_or(at_distance) && (!together || at_distance(0))
    }

    /// Whether two placed buffers may stay where they are. Two kinds of mistakes cannot be mended later: a common
    /// byte of buffers that never share, and a common byte that both use at the same step. The second may be mended
    /// if one of them is the victim of an overlay, because its life on these bytes may end earlier.
    fn may_stay(&self, one: BufferId, other: BufferId) -> bool {
        let is_victim = |id: BufferId| self.problem.overlays().iter().any(|overlay| overlay.over == id);
        let mended_later = is_victim(one) || is_victim(other);
        self.slot_pairs(one, other).all(|(i, j)| {
            let in_common = self.footprint(one, i) & self.footprint(other, j) != 0;
            let meet = || (0..self.steps).any(|step| self.alive(one, i, step) & self.alive(other, j, step) != 0);
            !(in_common && self.never_share(one, other, i == j))
                && (mended_later || self.are_friends(one, other, i == j) || !in_common || !meet())
        })
    }

    /// All pairs of a slot of one buffer and a slot of the other, by their numbers; none if they lie in different
    /// spaces.
    fn slot_pairs(&self, one: BufferId, other: BufferId) -> impl Iterator<Item = (usize, usize)> + use<> {
        let [a, b] = [one, other].map(|id| &self.placed[id.index()]);
        let (rows, columns) = (a.offsets.len(), if a.space == b.space { b.offsets.len() } else { 0 });
        (0..rows).flat_map(move |i| (0..columns).map(move |j| (i, j)))
    }

    /// Whether two slots may overlap: they have the same number, and their buffers belong to one company.
    fn are_friends(&self, one: BufferId, other: BufferId, same_slot: bool) -> bool {
        self.company[one.index()] == self.company[other.index()] && same_slot
    }

    /// Whether two slots must not have a common byte, whenever they live.
    fn never_share(&self, one: BufferId, other: BufferId, same_slot: bool) -> bool {
        let buffers = self.problem.buffers();
        let exclusive = buffers[one].exclusive || buffers[other].exclusive;
        self.apart.contains(&(one, other)) || (exclusive && !self.are_friends(one, other, same_slot))
    }

    /// The bytes of a slot, as bits.
    fn footprint(&self, id: BufferId, slot: usize) -> u128 {
        let offset = self.placed[id.index()].offsets[slot];
        bits(offset, offset + size(&self.problem.buffers()[id]))
    }

    /// The bytes of a slot that are in use at a step, as bits; overlays are not considered.
    fn alive(&self, id: BufferId, slot: usize, step: u64) -> u128 {
        let buffer = &self.problem.buffers()[id];
        let offset = self.placed[id.index()].offsets[slot];
        let on = buffer.lifetime.intervals().find(|on| on.start.0 <= step && step < on.end.0);
        on.map_or(0, |on| {
            let bytes = on.bytes(Bytes(size(buffer)));
            bits(offset + bytes.low.0, offset + bytes.high.0)
        })
    }

    /// All overlays that the places allow. Using an overlay only ends the victim's life earlier on some bytes, so a
    /// plan that uses all of them is valid if any choice is.
    fn overlays(&self) -> HashSet<(BufferId, BufferId)> {
        let is_used = |overlay: &&memplan_core::Overlay| {
            let start = |id: BufferId| self.problem.buffers()[id].lifetime.start();
            let [a, b] = [overlay.buffer, overlay.over].map(|id| &self.placed[id.index()]);
            let in_order = matches!((start(overlay.over), start(overlay.buffer)), (Some(a), Some(b)) if a < b);
            let same_base = a.space == b.space && a.offsets == b.offsets;
            let right_place = overlay.kind == OverlayKind::AnyOffset || same_base;
            in_order && right_place && a.space == b.space && a.offsets.len() == b.offsets.len()
        };
        self.problem.overlays().iter().filter(is_used).map(|overlay| (overlay.buffer, overlay.over)).collect()
    }

    /// Whether what has been placed is a valid plan. All buffers are placed, so it is known now which overlays are
    /// used and when the lives of their victims end.
    fn is_plan(&self) -> bool {
        let used = self.overlays();
        // The bytes of a slot that newcomers have taken over at a step, as bits.
        let taken = |id: BufferId, slot: usize, step: u64| {
            let takers = used.iter().filter(|pair| pair.1 == id).map(|pair| pair.0);
            let started =
                |&taker: &BufferId| self.problem.buffers()[taker].lifetime.start().is_some_and(|start| start.0 <= step);
            takers.filter(started).fold(0, |taken, taker| taken | self.footprint(taker, slot))
        };
        let alive = |id: BufferId, slot: usize, step: u64| self.alive(id, slot, step) & !taken(id, slot, step);
        // Every pair of slots of two buffers: without a common byte, of one company, or never alive together on a
        // common byte and in a definite order.
        let ids: Vec<BufferId> = self.problem.buffers().ids().collect();
        let pairs = ids.iter().flat_map(|&one| ids[..one.index()].iter().map(move |&other| (one, other)));
        pairs.into_iter().all(|(one, other)| {
            self.slot_pairs(one, other).all(|(i, j)| {
                let in_common = self.footprint(one, i) & self.footprint(other, j) != 0;
                let meet = |step: u64| alive(one, i, step) & alive(other, j, step) != 0;
                !in_common
                    || self.are_friends(one, other, i == j)
                    || (!(0..self.steps).any(meet) && self.is_ordered(one, other, &used))
            })
        })
    }

    /// Whether one of two buffers precedes the other in every order of execution; always true if the order is fixed.
    fn is_ordered(&self, one: BufferId, other: BufferId, used: &HashSet<(BufferId, BufferId)>) -> bool {
        reference::precedes(self.problem, used, one, other) || reference::precedes(self.problem, used, other, one)
    }

    /// What has been placed as a plan. The reference must find no mistake in it: if it does, one of the two is wrong.
    fn plan(&self) -> Plan {
        let mut plan = Plan::empty(self.problem);
        for (id, placed) in self.problem.buffers().ids().zip(&self.placed) {
            let offsets = placed.offsets.iter().map(|&offset| Bytes(offset)).collect();
            plan.placements[id] = Some(Placement { offsets, ..Placement::at(placed.space, Bytes::ZERO) });
        }
        plan.fit_extents(self.problem);
        let mut used: Vec<(BufferId, BufferId)> = self.overlays().into_iter().collect();
        used.sort_unstable();
        plan.reused = used.into_iter().map(|(buffer, over)| Reuse { buffer, over: vec![over] }).collect();
        let broken = reference::broken_rules(self.problem, &plan);
        assert!(broken.is_empty(), "two oracles disagree: {broken:?}\n{:#?}\n{plan:#?}", self.problem);
        plan
    }
}
