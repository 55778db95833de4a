//! The sweep finds exactly what looking at every byte at every step finds.

use std::collections::BTreeSet;

use memplan_core::*;
use memplan_testkit::problems::{Limits, problems};
use memplan_testkit::{Features, Random, reference};
use memplan_verify::packing::{self, Violation};
use proptest::prelude::*;
use smallvec::SmallVec;

/// A violation as the reference spells it.
fn rule(violation: &Violation) -> String {
    let code = violation.code().trim_start_matches("packing::");
    match violation {
        Violation::UnknownBuffer { name }
        | Violation::ExtentTooSmall { name, .. }
        | Violation::ObjectsPastExtent { name, .. }
        | Violation::ExtentPastCapacity { name, .. }
        | Violation::TieBroken { group: name, .. } => format!("{code} {name}"),
        // Which of several unordered pairs is reported depends on the walk.
        Violation::Unordered { .. } => code.to_owned(),
        _ => {
            let mut who: Vec<_> = violation.buffer().into_iter().chain(violation.other()).collect();
            who.sort_by_key(|who| who.id);
            who.iter().fold(code.to_owned(), |text, who| text + " " + &who.name)
        }
    }
}

fn assert_same(problem: &Problem, plan: &Plan) -> Result<BTreeSet<String>, TestCaseError> {
    let found: BTreeSet<String> = packing::check(problem, plan).iter().map(rule).collect();
    let expected = reference::broken_rules(problem, plan);
    prop_assert_eq!(&found, &expected, "{:#?}", plan);
    Ok(found)
}

/// Puts buffers down in random order at random places that are still valid, so
/// that the plan is tight; what finds no place in some tries goes to the top.
struct Packer<'a> {
    problem: &'a Problem,
    random: Random,
    plan: Plan,
}

impl Packer<'_> {
    fn pack(problem: &Problem, seed: u64) -> Plan {
        let mut packer = Packer { problem, random: Random::new(seed), plan: Plan::empty(problem) };
        let mut order: Vec<BufferId> = problem.buffers().ids().collect();
        for last in (1..order.len()).rev() {
            order.swap(last, packer.random.below(last as u64 + 1) as usize);
        }
        order.sort_by_key(|&id| problem.buffers()[id].fixed().is_none());
        for overlay in problem.overlays() {
            let [buffer, over] = [overlay.buffer, overlay.over].map(|id| &problem.buffers()[id]);
            let usable = over.lifetime.start() < buffer.lifetime.start() && over.slots == buffer.slots;
            if usable && packer.random.below(4) > 0 {
                packer.plan.reused.push(Reuse { buffer: overlay.buffer, over: vec![overlay.over] });
            }
        }
        for id in order {
            packer.place(id);
        }
        packer.plan
    }

    fn place(&mut self, id: BufferId) {
        for attempt in 0..24 {
            self.plan.placements[id] = Some(self.somewhere(id, attempt == 23));
            self.plan.fit_extents(self.problem);
            let broken = reference::broken_rules(self.problem, &self.plan);
            if broken.iter().all(|rule| rule.starts_with("missing-buffer")) {
                return;
            }
        }
    }

    fn somewhere(&mut self, id: BufferId, at_the_top: bool) -> Placement {
        let buffer = &self.problem.buffers()[id];
        let mate = self.problem.buffers().ids().find_map(|other| self.beside(id, other));
        if let Some(placement) = mate.filter(|_| self.random.below(4) > 0 || at_the_top) {
            return placement;
        }
        let space = buffer.spaces[self.random.below(buffer.spaces.len() as u64) as usize];
        let alignment = self.problem.alignment_in(id, space).0;
        let mut top = self.plan.extents[space].0.next_multiple_of(alignment);
        let mut offset = |random: &mut Random| {
            if at_the_top {
                let size = buffer.bytes().unwrap_or_default().0;
                let offset = Bytes(top);
                top = (top + size).next_multiple_of(alignment);
                return offset;
            }
            buffer.fixed().unwrap_or_else(|| Bytes(random.below(48).next_multiple_of(alignment)))
        };
        let offsets = (0..buffer.slots).map(|_| offset(&mut self.random)).collect();
        Placement { offsets, ..Placement::at(space, Bytes::ZERO) }
    }

    /// Where a buffer must be because of a relation to one that is placed.
    fn beside(&self, id: BufferId, other: BufferId) -> Option<Placement> {
        let place = self.plan.placements[other].clone().filter(|_| id != other)?;
        let [one, two] = [id, other].map(|id| &self.problem.buffers()[id]);
        let shares = |&(a, b): &(BufferId, BufferId)| (a, b) == (id, other) || (b, a) == (id, other);
        let overlaid = |reuse: &Reuse| shares(&(reuse.buffer, reuse.over[0]));
        if self.problem.must_share().iter().any(shares) || self.plan.reused.iter().any(overlaid) {
            return Some(place);
        }
        let (tie, other_tie) = (one.tie()?, two.tie()?);
        let shift = |offset: &Bytes| Some(Bytes((offset.0 + tie.at.0).checked_sub(other_tie.at.0)?));
        let offsets: Option<SmallVec<[Bytes; 1]>> = place.offsets.iter().map(shift).collect();
        (tie.group == other_tie.group).then_some(Placement { offsets: offsets?, ..place })
    }
}

/// Moves, swaps, shrinks, drops or otherwise damages something.
fn mutate(problem: &Problem, plan: &mut Plan, random: &mut Random) {
    let count = problem.buffers().len() as u64;
    let one = BufferId::from_index(random.below(count) as usize);
    let other = BufferId::from_index(random.below(count) as usize);
    let space = SpaceId::from_index(random.below(problem.spaces().len() as u64) as usize);
    match random.below(10) {
        0 | 1 => {
            if let Some(place) = plan.placements[one].as_mut().filter(|place| !place.offsets.is_empty()) {
                let slot = random.below(place.offsets.len() as u64) as usize;
                let far = random.one_in(8);
                place.offsets[slot] = Bytes(if far { u64::MAX - random.below(30) } else { random.below(60) });
            }
        }
        2 => {
            let swapped = plan.placements[one].clone();
            plan.placements[one] = plan.placements[other].clone();
            plan.placements[other] = swapped;
        }
        3 => plan.extents[space] = Bytes(plan.extents[space].0.saturating_sub(random.between(1, 9))),
        4 => plan.placements[one] = None,
        5 => plan.placements[one] = plan.placements[other].clone(),
        6 => {
            if let Some(place) = &mut plan.placements[one] {
                place.space = space;
            }
        }
        7 => plan.reused.push(Reuse { buffer: one, over: vec![other] }),
        8 => {
            plan.reused.pop();
        }
        _ => {
            if let Some(place) = &mut plan.placements[one] {
                match random.one_in(2) {
                    true => place.offsets.push(Bytes(random.below(60))),
                    false => drop(place.offsets.pop()),
                }
            }
        }
    }
}

/// Objects of random sizes, and every buffer in one of them, often one that holds it.
fn pack_into_objects(problem: &Problem, seed: u64) -> Plan {
    let mut random = Random::new(seed);
    let mut plan = Plan::empty(problem);
    for (id, buffer) in problem.buffers().iter_enumerated() {
        let space = buffer.spaces[0];
        let fits = |object: &SharedObject| object.space == space && object.size == buffer.size;
        let object = match plan.objects.iter().position(fits).filter(|_| random.one_in(2)) {
            Some(index) => ObjectId::from_index(index),
            None if plan.objects.is_empty() || random.below(4) > 0 => {
                plan.objects.push(SharedObject { size: buffer.size.clone(), space })
            }
            None => ObjectId::from_index(random.below(plan.objects.len() as u64 + 1) as usize),
        };
        plan.placements[id] = (!random.one_in(16)).then(|| Placement::in_object(space, object));
    }
    for overlay in problem.overlays() {
        plan.reused.push(Reuse { buffer: overlay.buffer, over: vec![overlay.over] });
    }
    plan.fit_extents(problem);
    plan
}

/// Half of the problems are without capacities, which few random plans keep.
fn offset_problems() -> impl Strategy<Value = Problem> {
    let features = Features { dependencies: true, ..Features::OFFSETS };
    let roomy = Features { capacities: false, ..features };
    prop_oneof![problems(features, Limits::SMALL), problems(roomy, Limits::SMALL)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tight_plans_and_their_mutations(
        problem in offset_problems(),
        seed in any::<u64>(),
    ) {
        let mut plan = Packer::pack(&problem, seed);
        assert_same(&problem, &plan)?;
        let mut random = Random::new(seed ^ 1);
        for _ in 0..6 {
            mutate(&problem, &mut plan, &mut random);
            assert_same(&problem, &plan)?;
        }
    }

    #[test]
    fn plans_of_objects(problem in problems(Features::ALL, Limits::SMALL), seed in any::<u64>()) {
        assert_same(&problem, &pack_into_objects(&problem, seed))?;
    }
}

/// The comparison is worth something only if plans of both kinds occur.
#[test]
fn many_packed_plans_are_valid_and_many_mutated_ones_are_not() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = offset_problems();
    let (mut valid, mut overlaid, mut rejected) = (0, 0, 0);
    for seed in 0..200 {
        let problem = strategy.new_tree(&mut runner).unwrap().current();
        let mut plan = Packer::pack(&problem, seed);
        if packing::check(&problem, &plan).is_empty() {
            valid += 1;
            overlaid += usize::from(!plan.reused.is_empty());
            mutate(&problem, &mut plan, &mut Random::new(seed));
            rejected += usize::from(!packing::check(&problem, &plan).is_empty());
        }
    }
    assert!(
        valid > 60 && overlaid > 10 && rejected > valid / 3,
        "{valid} valid, {overlaid} overlaid, {rejected} rejected"
    );
}
