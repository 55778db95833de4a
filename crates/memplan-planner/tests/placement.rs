//! Plans of the placement engine, looked at pair by pair.
//!
//! The check here is quadratic and knows nothing of rectangles, indices or
//! pieces; it reads the rules off the problem.

#![allow(clippy::unwrap_used, reason = "a test")]

use memplan_core::{BufferId, Bytes, Dependencies, Id, IndexVec, Outcome, OverlayKind, Plan, Problem, bound};
use memplan_planner::fit::Fit;
use memplan_planner::order::Order;
use memplan_planner::piece::{PieceId, Pieces};
use memplan_planner::placer::Placer;
use memplan_planner::{Request, find, plan};
use memplan_testkit::Features;
use memplan_testkit::problems::{Limits, problems};
use proptest::prelude::*;

/// The strategies of the engine.
const STRATEGIES: [&str; 10] = [
    "first-fit",
    "first-fit-lifetime",
    "first-fit-area",
    "first-fit-start",
    "first-fit-conflicts",
    "best-fit",
    "best-fit-lifetime",
    "best-fit-area",
    "best-fit-start",
    "best-fit-conflicts",
];

/// Everything that offsets can be planned for.
const FEATURES: Features = Features { dependencies: true, ..Features::OFFSETS };

type Range = (u64, u64);

fn meet(one: Range, other: Range) -> bool {
    one.0.max(other.0) < one.1.min(other.1)
}

struct Check<'a> {
    problem: &'a Problem,
    plan: &'a Plan,
    /// Pairs of which one is certainly done before the other starts.
    ordered: Option<Vec<Vec<bool>>>,
}

impl Check<'_> {
    fn complaints(&self) -> Vec<String> {
        let mut complaints = Vec::new();
        let ids: Vec<BufferId> = self.problem.buffers().ids().collect();
        for &id in &ids {
            complaints.extend(self.alone(id).map(|what| format!("{}: {what}", self.name(id))));
            for &other in ids.iter().filter(|&&other| other > id) {
                let what = self.pair(id, other);
                complaints.extend(what.map(|what| format!("{}, {}: {what}", self.name(id), self.name(other))));
            }
        }
        for reuse in &self.plan.reused {
            for &over in &reuse.over {
                if !self.is_declared(reuse.buffer, over) || !self.alive_together(reuse.buffer, over) {
                    complaints.push(format!("{} over {}: not so", self.name(reuse.buffer), self.name(over)));
                }
            }
        }
        complaints
    }

    fn name(&self, id: BufferId) -> &str {
        &self.problem.buffers()[id].name
    }

    fn slots(&self, id: BufferId) -> Vec<Range> {
        let size = self.problem.buffers()[id].bytes().unwrap_or_default().0;
        let offsets = self.plan.placements[id].as_ref().map(|placement| placement.offsets.to_vec());
        offsets.unwrap_or_default().into_iter().map(|offset| (offset.0, offset.0 + size)).collect()
    }

    fn alone(&self, id: BufferId) -> Option<&'static str> {
        let buffer = &self.problem.buffers()[id];
        let Some(placement) = &self.plan.placements[id] else { return Some("not placed") };
        let space = &self.problem.spaces()[placement.space];
        let slots = self.slots(id);
        let alignment = self.problem.alignment_in(id, placement.space);
        let end = slots.iter().map(|slot| slot.1).max().unwrap_or(0);
        let twice = (0..slots.len()).any(|a| (0..a).any(|b| meet(slots[a], slots[b])));
        match () {
            () if slots.len() != buffer.slots as usize => Some("wrong number of slots"),
            () if !buffer.spaces.contains(&placement.space) => Some("wrong space"),
            () if placement.offsets.iter().any(|offset| !offset.is_aligned_to(alignment)) => Some("misaligned"),
            () if buffer.fixed().is_some_and(|offset| placement.offsets[0] != offset) => Some("moved"),
            () if self.plan.extents[placement.space].0 < end => Some("past the extent"),
            () if space.capacity.is_some_and(|capacity| capacity.0 < end) => Some("past the capacity"),
            () if twice => Some("slots overlap"),
            () => None,
        }
    }

    fn pair(&self, one: BufferId, other: BufferId) -> Option<&'static str> {
        let [a, b] = [one, other].map(|id| &self.problem.buffers()[id]);
        let blocks = self.problem.blocks();
        if let (Some((block, at)), Some((other_block, other_at))) = (blocks.place_of(one), blocks.place_of(other))
            && block == other_block
        {
            let pairs = self.slots(one).into_iter().zip(self.slots(other));
            let together = pairs.into_iter().all(|(x, y)| x.0 + other_at.0 == y.0 + at.0);
            let same_space = self.space(one) == self.space(other);
            return (!together || !same_space).then_some("torn apart");
        }
        if self.space(one) != self.space(other) {
            return None;
        }
        let share = self.slots(one).iter().any(|&x| self.slots(other).iter().any(|&y| meet(x, y)));
        let apart = |&(x, y): &(BufferId, BufferId)| (x, y) == (one, other) || (y, x) == (one, other);
        let unordered = |ordered: &Vec<Vec<bool>>| !ordered[one.index()][other.index()];
        match () {
            () if !share => None,
            () if a.exclusive || b.exclusive => Some("exclusive and shared"),
            () if self.problem.must_not_share().iter().any(apart) => Some("must not share"),
            () if self.ordered.as_ref().is_some_and(unordered) => Some("shared but unordered"),
            () if self.alive_together(one, other) && !self.is_reused(one, other) => Some("overlap"),
            () => None,
        }
    }

    fn space(&self, id: BufferId) -> Option<memplan_core::SpaceId> {
        self.plan.placements[id].as_ref().map(|placement| placement.space)
    }

    /// Whether the two have live bytes in common at some step.
    fn alive_together(&self, one: BufferId, other: BufferId) -> bool {
        let rectangles = |id: BufferId| {
            let buffer = &self.problem.buffers()[id];
            let size = buffer.bytes().unwrap_or_default();
            let mut rectangles = Vec::new();
            for (offset, _) in self.slots(id) {
                for interval in buffer.lifetime.intervals() {
                    let window = interval.bytes(size);
                    let bytes = (offset + window.low.0, offset + window.high.0);
                    rectangles.push(((interval.start.0, interval.end.0), bytes));
                }
            }
            rectangles
        };
        let others = rectangles(other);
        rectangles(one).iter().any(|a| others.iter().any(|b| meet(a.0, b.0) && meet(a.1, b.1)))
    }

    fn is_reused(&self, one: BufferId, other: BufferId) -> bool {
        let listed = |buffer: BufferId, over: BufferId| {
            self.plan.reused.iter().any(|reuse| reuse.buffer == buffer && reuse.over.contains(&over))
        };
        listed(one, other) || listed(other, one)
    }

    fn is_declared(&self, buffer: BufferId, over: BufferId) -> bool {
        let start = |id: BufferId| self.problem.buffers()[id].lifetime.start();
        let same_base = self.plan.offset(buffer) == self.plan.offset(over);
        let declared = self.problem.overlays().iter().any(|overlay| {
            let pair = (overlay.buffer, overlay.over) == (buffer, over);
            pair && (overlay.kind == OverlayKind::AnyOffset || same_base)
        });
        declared && start(over) < start(buffer)
    }
}

/// `ordered[x][y]`: every child of one of the two is a strict ancestor of the
/// other one, and no output reads it.
fn ordered_pairs(dependencies: &Dependencies) -> Vec<Vec<bool>> {
    let count = dependencies.children.len();
    let mut reaches = vec![vec![false; count]; count];
    for (buffer, children) in dependencies.children.iter_enumerated() {
        children.iter().for_each(|child| reaches[buffer.index()][child.index()] = true);
    }
    for middle in 0..count {
        for from in 0..count {
            for to in 0..count {
                reaches[from][to] |= reaches[from][middle] && reaches[middle][to];
            }
        }
    }
    let done_before = |x: usize, y: usize| {
        let children = &dependencies.children[BufferId::from_index(x)];
        let read_by_output = dependencies.read_by_outputs.iter().any(|buffer| buffer.index() == x);
        !read_by_output && !children.is_empty() && children.iter().all(|child| reaches[child.index()][y])
    };
    (0..count).map(|x| (0..count).map(|y| done_before(x, y) || done_before(y, x)).collect()).collect()
}

fn complaints(problem: &Problem, plan: &Plan) -> Vec<String> {
    let ordered = problem.dependencies().map(ordered_pairs);
    Check { problem, plan, ordered }.complaints()
}

fn check_strategy(name: &str, problem: &Problem) -> Result<(), TestCaseError> {
    let strategy = find(name).unwrap();
    let outcome = plan(strategy, problem, &Request::default()).unwrap();
    let again = plan(strategy, problem, &Request::default()).unwrap();
    prop_assert_eq!(&outcome, &again, "two runs of {}", name);
    if let Some(plan) = outcome.plan() {
        prop_assert_eq!(complaints(problem, plan), Vec::<String>::new(), "{}", name);
        prop_assert!(plan.extent() >= bound::lower_bound(problem), "{}", name);
        if let Outcome::Optimal(plan) = &outcome {
            prop_assert_eq!(plan.extent(), bound::lower_bound(problem), "{}", name);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn plans_keep_every_rule(problem in problems(FEATURES, Limits::SMALL)) {
        for name in STRATEGIES {
            check_strategy(name, &problem)?;
        }
    }

    #[test]
    fn plans_of_medium_problems_keep_every_rule(problem in problems(FEATURES, Limits::MEDIUM)) {
        for name in ["first-fit", "best-fit", "best-fit-conflicts"] {
            check_strategy(name, &problem)?;
        }
    }

    #[test]
    fn auto_is_never_worse_than_a_member(problem in problems(FEATURES, Limits::SMALL)) {
        let extent = |name: &str| {
            let outcome = plan(find(name).unwrap(), &problem, &Request::default()).unwrap();
            (outcome.status(), outcome.plan().map(Plan::extent))
        };
        let (status, best) = extent("auto");
        for name in STRATEGIES {
            let (other, extent) = extent(name);
            if let Some(extent) = extent {
                prop_assert!(best.is_some_and(|best| best <= extent), "{} {:?} {:?}", name, best, extent);
            }
            prop_assert!(other != "infeasible" || status == "infeasible", "{}", name);
        }
    }

    #[test]
    fn the_answer_does_not_depend_on_names_or_input_order(
        problem in problems(Features { alignments: true, ..Features::NONE }, Limits::SMALL),
        shuffle in any::<u64>(),
    ) {
        let (shuffled, origin) = shuffled(&problem, shuffle);
        for name in STRATEGIES {
            let strategy = find(name).unwrap();
            let placed = |problem: &Problem| {
                let outcome = plan(strategy, problem, &Request::default()).unwrap();
                let plan = outcome.plan().cloned().unwrap();
                problem.buffers().ids().map(|id| plan.offset(id).unwrap()).collect::<IndexVec<BufferId, Bytes>>()
            };
            let mut before = contents(&problem, &placed(&problem));
            let mut after = contents(&shuffled, &placed(&shuffled));
            before.sort();
            after.sort();
            prop_assert_eq!(before, after, "{} {:?}", name, origin);
        }
    }

    /// No lower offset is possible for the piece placed last. (Overlays and slots are
    /// treated more strictly than they need be, so they are left out.)
    #[test]
    fn first_fit_takes_the_lowest_possible_offset(problem in problems(Features { overlays: false, slots: false, ..FEATURES }, Limits::TINY)) {
        let pieces = Pieces::of(&problem).unwrap();
        let mut placer = Placer::new(&pieces);
        for piece in Order::Size.of(&pieces) {
            if placer.place(piece, Fit::First).is_none() {
                return Ok(());
            }
        }
        let Some(plan) = placer.finish() else { return Ok(()) };
        // A block or several slots move together; look at buffers on their own.
        let last: Vec<PieceId> = Order::Size.of(&pieces);
        let last = last[last.len() - 1];
        let (info, buffer) = (pieces.get(last), pieces.get(last).first_buffer);
        let alone = pieces.members(last).count() == 1 && problem.buffers()[buffer].slots == 1;
        if !alone || info.fixed.is_some() || !complaints(&problem, &plan).is_empty() {
            return Ok(());
        }
        let offset = plan.offset(buffer).unwrap().0;
        for lower in 0..offset {
            let mut other = plan.clone();
            other.placements[buffer].as_mut().unwrap().offsets[0] = Bytes(lower);
            prop_assert!(!complaints(&problem, &other).is_empty(), "{} fits at {lower}, not {offset}", problem.buffers()[buffer].name);
        }
    }
}

/// Size, alignment, life and offset of every buffer.
fn contents(problem: &Problem, offsets: &IndexVec<BufferId, Bytes>) -> Vec<(u64, u64, u64, u64, u64)> {
    let content = |id: BufferId| {
        let buffer = &problem.buffers()[id];
        let step = |step: Option<memplan_core::Step>| step.map_or(0, |step| step.0);
        let (start, end) = (step(buffer.lifetime.start()), step(buffer.lifetime.end()));
        (buffer.bytes().unwrap_or_default().0, problem.alignment_in(id, buffer.spaces[0]).0, start, end, offsets[id].0)
    };
    problem.buffers().ids().map(content).collect()
}

/// The same buffers under other names in another order, and where they came from.
fn shuffled(problem: &Problem, seed: u64) -> (Problem, Vec<BufferId>) {
    let mut order: Vec<BufferId> = problem.buffers().ids().collect();
    let mix = |id: &BufferId| (id.index() as u64 ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17);
    order.sort_by_key(mix);
    let mut builder = problem.to_builder();
    let buffers: Vec<_> = order.iter().map(|&id| problem.buffers()[id].clone()).collect();
    for (slot, mut buffer) in buffers.into_iter().enumerate() {
        buffer.name = format!("renamed{slot}").into();
        builder.buffers_mut()[BufferId::from_index(slot)] = buffer;
    }
    (builder.build().unwrap(), order)
}

/// Crowded problems are placed with an index of their own; it must not change a single offset.
#[test]
fn crowds_are_placed_as_everybody_else() {
    let crowded = |alignment: u64, never_used_overlay: bool| {
        let mut builder = memplan_testkit::instances::training(1_500, 7).to_builder();
        for (number, buffer) in builder.buffers_mut().iter_mut().enumerate() {
            let size = buffer.bytes().unwrap_or_default().0 / 1024 + number as u64 % 7;
            buffer.size = memplan_core::Size::Fixed(Bytes(size));
            buffer.alignment = Bytes(alignment);
        }
        if never_used_overlay {
            // A permission between buffers too small to matter turns the other index on.
            for (name, start) in [("x", 0), ("y", 1)] {
                builder.buffer(memplan_core::Buffer::new(name, 1, memplan_core::Lifetime::new(start, 2)));
            }
            let (buffer, over) = (BufferId::from_index(3_001), BufferId::from_index(3_000));
            builder.overlay(memplan_core::Overlay { buffer, over, kind: OverlayKind::SameBase });
        }
        builder.build().unwrap()
    };
    for alignment in [1, 16] {
        for name in ["first-fit", "first-fit-start", "best-fit", "best-fit-lifetime"] {
            let offsets = |problem: &Problem| {
                let outcome = plan(find(name).unwrap(), problem, &Request::default()).unwrap();
                let plan = outcome.plan().cloned().unwrap();
                problem.buffers().ids().take(3_000).map(|id| plan.offset(id).unwrap()).collect::<Vec<_>>()
            };
            // By start, the two small buffers come early and move the others; leave them out of that.
            if name != "first-fit-start" && name != "best-fit-lifetime" {
                assert_eq!(
                    offsets(&crowded(alignment, false)),
                    offsets(&crowded(alignment, true)),
                    "{name} {alignment}"
                );
            }
            let problem = crowded(alignment, false);
            let outcome = plan(find(name).unwrap(), &problem, &Request::default()).unwrap();
            assert_eq!(memplan_verify::packing::check(&problem, outcome.plan().unwrap()), []);
        }
    }
}
