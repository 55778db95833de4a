//! The smallest extent of a tiny problem, by trying every offset.
//!
//! For each set of permitted overlays, buffers are placed one after the other
//! at every aligned offset of every candidate space; [`mod@reference`]
//! says what is valid. A branch is cut only where it cannot matter: the extent so
//! far is no better than the best known, or two placed buffers collide that no
//! overlay can reconcile.
//!
//! A [`Reuse`] in a plan says that a buffer starts on bytes of others; [`reference::broken_rules`] lists what is wrong
//! with a plan, as texts that begin with the code of a rule.

use memplan_core::{BufferId, Bytes, Overlay, Placement, Plan, Problem, Reuse};
use smallvec::SmallVec;

use crate::reference;

/// What there is to know about a tiny problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A plan with the smallest extent.
    Optimal(Plan),
    /// There is no plan below the limit on offsets (see [`solve`]).
    Infeasible,
    /// Too many possibilities: nothing is known.
    TooLarge,
}

/// Tries everything, visiting at most `most_visits` partial plans. Offsets go up to the sum of all sizes, padded: a
/// plan with higher offsets can be moved down below that sum, so it cannot be better.
pub fn solve(problem: &Problem, most_visits: u64) -> Answer {
    // One search for all sets of overlays, so that a plan with one set limits the extent for the
    // others.
    let mut search = Search { problem, best: None, visits: most_visits, limit: highest_offset(problem) };
    let overlays = problem.overlays();
    // Every subset of the overlays is tried, so there must be few.
    if overlays.len() > 4 {
        return Answer::TooLarge;
    }
    // Bit i of `chosen` says whether the plan uses overlay i.
    for chosen in 0..1u32 << overlays.len() {
        let used = overlays.iter().enumerate().filter(|(index, _)| chosen >> index & 1 == 1);
        let mut plan = Plan::empty(problem);
        let used: Vec<Overlay> = used.map(|(_, overlay)| *overlay).collect();
        plan.reused = used.iter().map(|overlay| Reuse { buffer: overlay.buffer, over: vec![overlay.over] }).collect();
        search.place_next(&mut plan, 0, &used);
    }
    match search.best {
        // The search was cut short: a plan that it has found need not be the best one.
        _ if search.visits == 0 => Answer::TooLarge,
        Some(plan) => Answer::Optimal(plan),
        None => Answer::Infeasible,
    }
}

/// No optimal plan needs a higher offset: with this much room all buffers can lie one above the other.
fn highest_offset(problem: &Problem) -> u64 {
    // A buffer needs at most its size and a gap of its alignment below it, for each slot, and its
    // distance in a tie group.
    let padded = |id: BufferId| {
        let buffer = &problem.buffers()[id];
        let alignments = buffer.spaces.iter().map(|&space| problem.alignment_in(id, space).0);
        let tie = buffer.tie().map_or(0, |tie| tie.at.0);
        (buffer.bytes().unwrap_or_default().0 + alignments.max().unwrap_or(1)) * u64::from(buffer.slots) + tie
    };
    let fixed = problem.buffers().iter().filter_map(|buffer| buffer.fixed()).max().unwrap_or_default();
    problem.buffers().ids().map(padded).sum::<u64>() + fixed.0
}

/// The state of the search.
struct Search<'a> {
    /// The problem.
    problem: &'a Problem,
    /// The valid plan with the smallest extent so far.
    best: Option<Plan>,
    /// How many partial plans may still be visited. At 0 the search ends without an answer.
    visits: u64,
    /// The highest offset that is tried.
    limit: u64,
}

impl Search<'_> {
    /// Tries every place for the buffer of this number, and for each of them every place of the buffers after it.
    fn place_next(&mut self, plan: &mut Plan, index: usize, used: &[Overlay]) {
        if self.visits == 0 {
            return;
        }
        self.visits -= 1;
        plan.fit_extents(self.problem);
        // Placing more buffers never makes the extent smaller, so this branch cannot improve on the best plan.
        if self.best.as_ref().is_some_and(|best| plan.extent() >= best.extent()) {
            return;
        }
        let Some(id) = self.problem.buffers().ids().nth(index) else {
            // All buffers are placed. The reference decides whether the plan is valid; nothing here repeats its rules.
            if reference::broken_rules(self.problem, plan).is_empty() {
                self.best = Some(plan.clone());
            }
            return;
        };
        let buffer = &self.problem.buffers()[id];
        for &space in &buffer.spaces {
            let alignment = self.problem.alignment_in(id, space).0;
            let offsets: Vec<u64> = match buffer.fixed() {
                Some(fixed) => vec![fixed.0],
                None => (0..=self.limit).step_by(alignment as usize).collect(),
            };
            self.try_offsets(
                plan,
                index,
                used,
                &offsets,
                Placement { offsets: SmallVec::new(), ..Placement::at(space, Bytes::ZERO) },
            );
        }
        // The caller tries other placements of earlier buffers next, and this one must not be in their way.
        plan.placements[id] = None;
    }

    /// Tries every offset for the next slot of a buffer; `placement` has the offsets of its slots so far. When all
    /// slots have one, the next buffer is placed.
    fn try_offsets(&mut self, plan: &mut Plan, index: usize, used: &[Overlay], offsets: &[u64], placement: Placement) {
        // `place_next` has made sure that there is such a buffer.
        let Some(id) = self.problem.buffers().ids().nth(index) else { return };
        if placement.offsets.len() == self.problem.buffers()[id].slots as usize {
            plan.placements[id] = Some(placement);
            if self.may_lead_somewhere(plan, used) {
                self.place_next(plan, index + 1, used);
            }
            return;
        }
        for &offset in offsets {
            let mut next = placement.clone();
            next.offsets.push(Bytes(offset));
            self.try_offsets(plan, index, used, offsets, next);
            if self.visits == 0 {
                return;
            }
        }
    }

    /// Whether the buffers placed so far may be part of a better plan. False only if their extent is too large
    /// already, or if they break a rule that no place of the other buffers can mend. Two kinds of broken rules are
    /// mended later: buffers without a place get one, and a buffer that an overlay of the plan lies over may cease to
    /// overlap others when the newcomer of that overlay is placed. `used` has the overlays of the plan.
    fn may_lead_somewhere(&mut self, plan: &mut Plan, used: &[Overlay]) -> bool {
        self.visits = self.visits.saturating_sub(1);
        plan.fit_extents(self.problem);
        let no_better = self.best.as_ref().is_some_and(|best| plan.extent() >= best.extent());
        if no_better {
            return false;
        }
        let victims: Vec<&str> =
            used.iter().map(|overlay| self.problem.buffers()[overlay.over].name.as_str()).collect();
        let is_final = |rule: &String| {
            // A broken rule is a text such as `overlap b0 b1`.
            let mut words = rule.split(' ');
            let code = words.next().unwrap_or_default();
            let mended_later =
                code == "missing-buffer" || (code == "overlap" && words.any(|name| victims.contains(&name)));
            !mended_later
        };
        !reference::broken_rules(self.problem, plan).iter().any(is_final)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memplan_core::{Buffer, Lifetime, OverlayKind, ProblemBuilder, Space};

    fn extent(problem: &Problem) -> Option<u64> {
        match solve(problem, 1_000_000) {
            Answer::Optimal(plan) => Some(plan.extent().0),
            Answer::Infeasible => None,
            Answer::TooLarge => panic!("too large"),
        }
    }

    #[test]
    fn the_best_order_is_found() {
        let mut builder = ProblemBuilder::new();
        for (index, (size, start, end)) in [(2, 0, 2), (3, 1, 3), (2, 2, 4)].into_iter().enumerate() {
            builder.buffer(Buffer::new(format!("b{index}"), size, Lifetime::new(start, end)));
        }
        assert_eq!(extent(&builder.build().unwrap()), Some(5));
    }

    #[test]
    fn overlays_and_capacities_count() {
        let mut builder = ProblemBuilder::new();
        let space = builder.space(Space::new("s"));
        let v = builder.buffer(Buffer::new("v", 4, Lifetime::new(0, 3)));
        let w = builder.buffer(Buffer::new("w", 4, Lifetime::new(2, 5)));
        assert_eq!(extent(&builder.clone().build().unwrap()), Some(8));
        let mut small = builder.clone();
        small.spaces_mut()[space].capacity = Some(Bytes(6));
        assert_eq!(extent(&small.build().unwrap()), None);
        builder.overlay(Overlay { buffer: w, over: v, kind: OverlayKind::SameBase });
        assert_eq!(extent(&builder.build().unwrap()), Some(4));
    }
}
