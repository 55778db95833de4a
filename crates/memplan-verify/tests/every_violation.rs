//! Every kind of violation is provoked by a plan that is right except for it.

use memplan_core::*;
use memplan_verify::packing::{Kind, LISTED, Place, Violation, check};
use smallvec::smallvec;

/// A problem under construction with a plan for it.
#[derive(Default)]
struct Case {
    builder: ProblemBuilder,
    placements: Vec<Option<Placement>>,
    objects: Vec<SharedObject>,
    reused: Vec<Reuse>,
    unknown: Vec<String>,
    cost: Option<PlanCost>,
    extents: Option<Vec<u64>>,
}

fn space(index: usize) -> SpaceId {
    SpaceId::from_index(index)
}

fn alive(name: &str, size: u64, start: u64, end: u64) -> Buffer {
    Buffer::new(name, size, Lifetime::new(start, end))
}

impl Case {
    fn buffer(&mut self, buffer: Buffer, placement: impl Into<Option<Placement>>) -> BufferId {
        self.placements.push(placement.into());
        self.builder.buffer(buffer)
    }

    fn at(&mut self, buffer: Buffer, offset: u64) -> BufferId {
        self.buffer(buffer, Placement::at(space(0), Bytes(offset)))
    }

    fn slots(&mut self, buffer: Buffer, offsets: &[u64]) -> BufferId {
        let offsets = offsets.iter().map(|&offset| Bytes(offset)).collect();
        self.buffer(buffer, Placement { offsets, ..Placement::at(space(0), Bytes::ZERO) })
    }

    fn object(&mut self, size: Size) -> ObjectId {
        self.objects.push(SharedObject { size, space: space(0) });
        ObjectId::from_index(self.objects.len() - 1)
    }

    fn inside(&mut self, buffer: Buffer, object: ObjectId) -> BufferId {
        self.buffer(buffer, Placement::in_object(space(0), object))
    }

    fn over(&mut self, buffer: BufferId, over: BufferId) {
        self.reused.push(Reuse { buffer, over: vec![over] });
    }

    fn problem_and_plan(self) -> (Problem, Plan) {
        let problem = self.builder.build().expect("a valid problem");
        let mut plan = Plan {
            placements: IndexVec::from_vec(self.placements),
            objects: IndexVec::from_vec(self.objects),
            reused: self.reused,
            unknown: self.unknown,
            cost: self.cost,
            ..Plan::empty(&problem)
        };
        match self.extents {
            Some(extents) => plan.extents = extents.into_iter().map(Bytes).collect(),
            None if plan.placements.len() > problem.buffers().len() => {}
            None if plan.placements.iter().flatten().any(|place| place.space.index() >= problem.spaces().len()) => {}
            None => plan.fit_extents(&problem),
        }
        (problem, plan)
    }

    fn check(self) -> Vec<Violation> {
        let (problem, plan) = self.problem_and_plan();
        check(&problem, &plan)
    }

    /// Expects one violation with this message.
    #[track_caller]
    fn provokes(self, kind: Kind, message: &str) {
        let violations = self.check();
        let messages: Vec<String> = violations.iter().map(Violation::to_string).collect();
        assert_eq!(messages, [message]);
        assert_eq!(violations[0].kind(), kind);
        assert!(violations[0].code().starts_with("packing::"));
    }

    #[track_caller]
    fn raises_nothing(self) {
        let messages: Vec<String> = self.check().iter().map(Violation::to_string).collect();
        assert_eq!(messages, [""; 0]);
    }
}

#[test]
fn overlap() {
    let mut case = Case::default();
    let a = case.at(alive("a", 64, 0, 3), 0);
    let b = case.at(alive("b", 64, 2, 5), 32);
    let violations = case.check();
    assert_eq!(violations.len(), 1);
    assert_eq!(violations[0].kind(), Kind::Overlap);
    assert_eq!(violations[0].buffer().unwrap().id, a);
    assert_eq!(violations[0].other().unwrap().id, b);
    assert_eq!(violations[0].step(), Some(Step(2)));
    let bytes = Bytes(32)..Bytes(64);
    let place = Place::Bytes { space: space(0), name: "default".into(), bytes };
    assert_eq!(violations[0].place(), Some(&place));
}

#[test]
fn touching_is_not_overlapping() {
    let mut case = Case::default();
    case.at(alive("a", 64, 0, 3), 0);
    case.at(alive("beside", 64, 0, 3), 64);
    case.at(alive("after", 64, 3, 5), 0);
    case.at(alive("nothing", 0, 0, 5), 32);
    case.at(alive("never", 64, 0, 0), 32);
    case.raises_nothing();
}

#[test]
fn gaps_are_honoured() {
    let mut case = Case::default();
    let lifetime = [Interval::new(0, 2), Interval::new(6, 8)].into_iter().collect();
    case.at(Buffer::new("a", 64, lifetime), 0);
    case.at(alive("in the gap", 64, 2, 6), 0);
    case.at(alive("too long", 8, 3, 7), 64);
    case.raises_nothing();
    let mut case = Case::default();
    let lifetime = [Interval::new(0, 2), Interval::new(6, 8)].into_iter().collect();
    case.at(Buffer::new("a", 64, lifetime), 0);
    case.at(alive("b", 8, 3, 7), 8);
    case.provokes(Kind::Overlap, "buffers `a` and `b` are both alive at step 6 on bytes 8..16 of space `default`");
}

#[test]
fn windows_are_honoured() {
    let windowed = || {
        let lifetime = [Interval::new(0, 2), Interval::with_window(2, 6, 16, 32)].into_iter().collect();
        Buffer::new("a", 64, lifetime)
    };
    let mut case = Case::default();
    case.at(windowed(), 0);
    case.at(alive("below", 16, 2, 6), 0);
    case.at(alive("above", 32, 2, 6), 32);
    case.raises_nothing();
    let mut case = Case::default();
    case.at(windowed(), 0);
    case.at(alive("b", 17, 2, 6), 0);
    case.provokes(Kind::Overlap, "buffers `a` and `b` are both alive at step 2 on bytes 16..17 of space `default`");
}

#[test]
fn different_spaces_do_not_overlap() {
    let mut case = Case::default();
    case.builder.space(Space::new("x"));
    let y = case.builder.space(Space::new("y"));
    case.at(alive("a", 64, 0, 3), 0);
    case.buffer(Buffer { spaces: smallvec![y], ..alive("b", 64, 0, 3) }, Placement::at(y, Bytes(0)));
    case.raises_nothing();
}

#[test]
fn missing_buffer() {
    let mut case = Case::default();
    case.buffer(alive("a", 64, 0, 3), None);
    case.provokes(Kind::MissingBuffer, "buffer `a` has no place in the plan");
    let mut case = Case::default();
    case.builder.buffer(alive("short", 64, 0, 3));
    case.provokes(Kind::MissingBuffer, "buffer `short` has no place in the plan");
}

#[test]
fn unknown_buffer() {
    let mut case = Case { unknown: vec!["ghost".into()], ..Case::default() };
    case.at(alive("a", 64, 0, 3), 0);
    case.provokes(Kind::UnknownBuffer, "the plan places `ghost`, which the problem does not have");
    let mut case = Case { extents: Some(vec![64]), ..Case::default() };
    case.at(alive("a", 64, 0, 3), 0);
    case.placements.push(Some(Placement::at(space(0), Bytes(0))));
    case.provokes(Kind::UnknownBuffer, "the plan places `buffer number 1`, which the problem does not have");
    let mut case = Case::default();
    let a = case.at(alive("a", 64, 0, 3), 0);
    case.over(a, BufferId::from_index(7));
    case.provokes(Kind::UnknownBuffer, "the plan places `buffer number 7`, which the problem does not have");
}

#[test]
fn wrong_space() {
    let mut case = Case::default();
    case.builder.space(Space::new("x"));
    case.builder.space(Space::new("y"));
    case.buffer(alive("a", 64, 0, 3), Placement::at(space(1), Bytes(0)));
    case.provokes(Kind::WrongSpace, "buffer `a` is in space `y`, where it may not live");
    let mut case = Case::default();
    case.buffer(alive("a", 64, 0, 3), Placement::at(space(9), Bytes(0)));
    case.provokes(Kind::WrongSpace, "buffer `a` is in space `number 9`, where it may not live");
}

#[test]
fn size_unknown() {
    let mut case = Case::default();
    let size = Size::Symbolic { symbol: "n".into(), at_most: None };
    case.at(Buffer { size, ..alive("a", 0, 0, 3) }, 0);
    case.provokes(
        Kind::SizeUnknown,
        "buffer `a` is at an offset, but its size in bytes is not known: it can only use a whole object",
    );
    let mut case = Case::default();
    let size = Size::Symbolic { symbol: "n".into(), at_most: Some(Bytes(64)) };
    case.at(Buffer { size, ..alive("bounded", 0, 0, 3) }, 0);
    case.raises_nothing();
}

#[test]
fn misaligned() {
    let mut case = Case::default();
    case.at(Buffer { alignment: Bytes(16), ..alive("a", 64, 0, 3) }, 24);
    case.provokes(Kind::Misaligned, "buffer `a` is at offset 24, which is not a multiple of 16");
    let mut case = Case::default();
    case.builder.space(Space { alignment: Bytes(12), base: Bytes(96), ..Space::new("s") });
    case.at(Buffer { alignment: Bytes(8), ..alive("a", 64, 0, 3) }, 24);
    case.at(Buffer { alignment: Bytes(8), ..alive("b", 64, 3, 4) }, 16);
    case.provokes(Kind::Misaligned, "buffer `b` is at offset 16, which is not a multiple of 12");
}

#[test]
fn fixed_moved() {
    let mut case = Case::default();
    case.at(alive("a", 64, 0, 3).with_fixed(Bytes(64)), 0);
    case.provokes(Kind::FixedMoved, "buffer `a` must be at offset 64, but is at 0");
    let mut case = Case::default();
    let object = case.object(Size::Fixed(Bytes(64)));
    case.inside(alive("a", 64, 0, 3).with_fixed(Bytes(0)), object);
    case.provokes(Kind::FixedMoved, "buffer `a` must be at offset 0, but is at no offset, in object 0");
}

#[test]
fn out_of_capacity() {
    let mut case = Case { extents: Some(vec![80]), ..Case::default() };
    case.builder.space(Space { capacity: Some(Bytes(96)), ..Space::new("s") });
    case.at(alive("a", 64, 0, 3), 0);
    case.at(alive("b", 64, 3, 4), 64);
    let messages: Vec<String> = case.check().iter().map(Violation::to_string).collect();
    assert_eq!(
        messages,
        [
            "buffer `b` occupies bytes 64..128 of space `s`, past the capacity of 96 bytes",
            "the plan's extent of space `s` is 80 bytes, but buffer `b` ends at 128"
        ]
    );
}

#[test]
fn extent_too_small() {
    let mut case = Case { extents: Some(vec![63]), ..Case::default() };
    case.at(alive("a", 64, 0, 3), 0);
    case.provokes(Kind::ExtentTooSmall, "the plan's extent of space `default` is 63 bytes, but buffer `a` ends at 64");
    let mut case = Case { extents: Some(vec![]), ..Case::default() };
    case.at(alive("a", 64, 0, 3), 0);
    case.provokes(Kind::ExtentTooSmall, "the plan's extent of space `default` is 0 bytes, but buffer `a` ends at 64");
    let mut case = Case { extents: Some(vec![100]), ..Case::default() };
    for name in ["a", "b"] {
        let object = case.object(Size::Fixed(Bytes(64)));
        case.inside(alive(name, 64, 0, 3), object);
    }
    case.provokes(
        Kind::ExtentTooSmall,
        "the plan's extent of space `default` is 100 bytes, but the objects in it need 128",
    );
}

#[test]
fn extent_past_capacity() {
    let mut case = Case { extents: Some(vec![128]), ..Case::default() };
    case.builder.space(Space { capacity: Some(Bytes(96)), ..Space::new("s") });
    case.at(alive("a", 64, 0, 3), 0);
    case.provokes(Kind::ExtentPastCapacity, "the plan needs 128 bytes of space `s`, whose capacity is 96 bytes");
}

#[test]
fn too_few_offsets() {
    let mut case = Case::default();
    case.slots(Buffer { slots: 3, ..alive("a", 64, 0, 3) }, &[0, 64]);
    case.provokes(Kind::TooFewOffsets, "buffer `a` has 3 slots, but the plan gives it only 2 offsets");
    let mut case = Case::default();
    case.slots(Buffer { slots: 2, ..alive("more is fine", 64, 0, 3) }, &[0, 64, 128]);
    case.raises_nothing();
}

#[test]
fn slots_overlap() {
    let mut case = Case::default();
    case.slots(Buffer { slots: 2, ..alive("a", 64, 0, 3) }, &[0, 32]);
    case.provokes(Kind::SlotsOverlap, "slots 0 and 1 of buffer `a` overlap on bytes 32..64 of space `default`");
    let mut case = Case::default();
    let object = case.object(Size::Fixed(Bytes(64)));
    let placement = Placement { offsets: smallvec![Bytes(0); 2], ..Placement::in_object(space(0), object) };
    case.buffer(Buffer { slots: 2, ..alive("a", 64, 0, 3) }, placement);
    case.provokes(Kind::SlotsOverlap, "slots 0 and 1 of buffer `a` overlap on object 0");
}

#[test]
fn every_slot_counts() {
    let mut case = Case::default();
    case.slots(Buffer { slots: 2, ..alive("a", 64, 0, 3) }, &[0, 128]);
    case.at(alive("between", 64, 0, 3), 64);
    case.at(alive("b", 8, 0, 3), 184);
    case.provokes(Kind::Overlap, "buffers `a` and `b` are both alive at step 0 on bytes 184..192 of space `default`");
}

fn tied(case: &mut Case, name: &str, group: GroupId, at: u64, offset: u64) -> BufferId {
    case.at(alive(name, 64, 0, 3).with_tie(Tie { group, at: Bytes(at) }), offset)
}

#[test]
fn tie_broken() {
    let mut case = Case::default();
    let group = case.builder.group("concat");
    tied(&mut case, "a", group, 0, 256);
    tied(&mut case, "b", group, 64, 384);
    case.provokes(
        Kind::TieBroken,
        "buffers `a` and `b` belong to group `concat`, but do not lie in it as they are tied",
    );
}

#[test]
fn tie_mates_may_overlap_and_strangers_may_not() {
    let mut case = Case::default();
    let group = case.builder.group("concat");
    tied(&mut case, "whole", group, 0, 256);
    tied(&mut case, "part", group, 32, 288);
    case.at(alive("stranger", 8, 2, 3), 344);
    case.provokes(
        Kind::Overlap,
        "buffers `part` and `stranger` are both alive at step 2 on bytes 344..352 of space `default`",
    );
}

#[test]
fn different_slots_of_tie_mates_may_not_overlap() {
    let mut case = Case::default();
    let group = case.builder.group("concat");
    for (name, at, offsets) in [("a", 0, [0, 96]), ("b", 64, [64, 160])] {
        case.slots(Buffer { slots: 2, ..alive(name, 64, 0, 3).with_tie(Tie { group, at: Bytes(at) }) }, &offsets);
    }
    case.provokes(Kind::Overlap, "buffers `a` and `b` are both alive at step 0 on bytes 96..128 of space `default`");
}

#[test]
fn must_share_broken() {
    for (offset, fine) in [(64, true), (0, false)] {
        let mut case = Case::default();
        let a = case.at(alive("a", 32, 0, 3), 64);
        let b = case.at(alive("b", 64, 0, 3), offset);
        case.builder.must_share(a, b);
        match fine {
            true => case.raises_nothing(),
            false => {
                case.provokes(Kind::MustShareBroken, "buffers `a` and `b` must start at the same place, but do not");
            }
        }
    }
}

#[test]
fn must_not_share_broken() {
    let mut case = Case::default();
    let a = case.slots(Buffer { slots: 2, ..alive("a", 32, 0, 3) }, &[64, 0]);
    let b = case.slots(Buffer { slots: 2, ..alive("b", 32, 7, 9) }, &[128, 48]);
    case.builder.must_not_share(a, b);
    case.provokes(
        Kind::MustNotShareBroken,
        "buffers `a` and `b` must not share, but both use bytes 64..80 of space `default`",
    );
}

#[test]
fn exclusive_shared() {
    let mut case = Case::default();
    case.at(alive("early", 32, 0, 1), 48);
    case.at(Buffer { exclusive: true, ..alive("a", 64, 3, 5) }, 0);
    case.provokes(
        Kind::ExclusiveShared,
        "buffer `a` shares with nobody, but `early` also uses bytes 48..64 of space `default`",
    );
    let mut case = Case::default();
    let group = case.builder.group("g");
    let tie = Some(Tie { group, at: Bytes(0) });
    case.at(Buffer { exclusive: true, ..alive("a", 64, 3, 5).with_tie(tie) }, 0);
    case.at(alive("tie-mate", 64, 0, 5).with_tie(tie), 0);
    case.raises_nothing();
}

#[test]
fn objects_of_the_same_time() {
    let mut case = Case::default();
    let object = case.object(Size::Fixed(Bytes(64)));
    case.inside(alive("a", 64, 0, 3), object);
    case.inside(alive("b", 8, 2, 3), object);
    case.inside(alive("after", 8, 3, 4), object);
    case.provokes(Kind::ObjectShared, "buffers `a` and `b` are both alive at step 2 on object 0");
}

#[test]
fn unknown_object() {
    let mut case = Case::default();
    case.inside(alive("a", 64, 0, 3), ObjectId::from_index(3));
    case.provokes(Kind::UnknownObject, "buffer `a` is in object 3, which the plan does not have");
}

#[test]
fn object_in_other_space() {
    let mut case = Case::default();
    case.builder.space(Space::new("x"));
    let y = case.builder.space(Space::new("y"));
    let object = case.object(Size::Fixed(Bytes(64)));
    case.objects[0].space = y;
    case.inside(alive("a", 64, 0, 3), object);
    case.provokes(Kind::ObjectInOtherSpace, "buffer `a` is placed in space `x`, but its object 0 is elsewhere");
}

#[test]
fn object_too_small() {
    let bytes = |bytes: u64| Size::Fixed(Bytes(bytes));
    let shape = |components: &[u64]| Size::Shape(components.iter().copied().collect());
    let symbol =
        |symbol: &str, at_most: Option<u64>| Size::Symbolic { symbol: symbol.into(), at_most: at_most.map(Bytes) };
    for (object, buffer, fits) in [
        (bytes(64), bytes(64), true),
        (bytes(63), bytes(64), false),
        (shape(&[4, 5]), shape(&[4, 5]), true),
        (shape(&[4, 5]), shape(&[5, 4]), false),
        (shape(&[4, 5, 1]), shape(&[4, 5]), false),
        (shape(&[4, 5]), bytes(1), false),
        (bytes(100), shape(&[4, 5]), false),
        (symbol("n", None), symbol("n", None), true),
        (symbol("n", Some(64)), symbol("m", Some(8)), false),
        (bytes(64), symbol("n", Some(64)), true),
        (bytes(64), symbol("n", None), false),
        (symbol("n", Some(64)), bytes(8), false),
    ] {
        let mut case = Case::default();
        let id = case.object(object);
        case.inside(Buffer { size: buffer, ..alive("a", 0, 0, 3) }, id);
        match fits {
            true => case.raises_nothing(),
            false => case.provokes(Kind::ObjectTooSmall, "object 0 is too small for buffer `a`"),
        }
    }
}

/// `v` lives in 0..6 on 0..64; `w` lives in 2..9.
fn overlaid(kind: Option<OverlayKind>, size: u64, offset: u64) -> Case {
    let mut case = Case::default();
    let v = case.at(alive("v", 64, 0, 6), 0);
    let w = case.at(alive("w", size, 2, 9), offset);
    if let Some(kind) = kind {
        case.builder.overlay(Overlay { buffer: w, over: v, kind });
    }
    case.over(w, v);
    case
}

#[test]
fn used_overlays_are_honoured() {
    overlaid(Some(OverlayKind::SameBase), 96, 0).raises_nothing();
    overlaid(Some(OverlayKind::AnyOffset), 32, 16).raises_nothing();
}

#[test]
fn overlays_must_be_used_to_count() {
    let mut case = overlaid(Some(OverlayKind::SameBase), 64, 0);
    case.reused.clear();
    case.provokes(Kind::Overlap, "buffers `v` and `w` are both alive at step 2 on bytes 0..64 of space `default`");
}

#[test]
fn only_the_shared_bytes_of_a_victim_die() {
    let mut case = overlaid(Some(OverlayKind::SameBase), 32, 0);
    case.at(alive("x", 32, 4, 5), 32);
    case.provokes(Kind::Overlap, "buffers `v` and `x` are both alive at step 4 on bytes 32..64 of space `default`");
    let mut case = overlaid(Some(OverlayKind::SameBase), 32, 0);
    case.at(alive("later", 32, 6, 7), 32);
    case.raises_nothing();
}

#[test]
fn shared_bytes_of_a_victim_stay_dead() {
    let mut case = Case::default();
    let v = case.at(alive("v", 64, 0, 9), 0);
    let w = case.at(alive("w", 64, 2, 4), 0);
    case.at(alive("x", 64, 4, 6), 0);
    case.builder.overlay(Overlay { buffer: w, over: v, kind: OverlayKind::SameBase });
    case.over(w, v);
    case.raises_nothing();
}

#[test]
fn overlay_undeclared() {
    let messages: Vec<String> = overlaid(None, 64, 0).check().iter().map(Violation::to_string).collect();
    assert_eq!(
        messages,
        [
            "the plan puts `w` over `v`, which the problem does not permit",
            "buffers `v` and `w` are both alive at step 2 on bytes 0..64 of space `default`"
        ]
    );
}

#[test]
fn overlay_not_same_base() {
    let violations = overlaid(Some(OverlayKind::SameBase), 32, 16).check();
    let kinds: Vec<Kind> = violations.iter().map(Violation::kind).collect();
    assert_eq!(kinds, [Kind::OverlayNotSameBase, Kind::Overlap]);
    assert_eq!(violations[0].to_string(), "the plan puts `w` over `v`, but they do not start at the same place");
}

#[test]
fn overlay_too_early() {
    let mut case = Case::default();
    let v = case.at(alive("v", 64, 2, 6), 0);
    let w = case.at(alive("w", 64, 2, 9), 64);
    case.builder.overlay(Overlay { buffer: w, over: v, kind: OverlayKind::AnyOffset });
    case.over(w, v);
    case.provokes(Kind::OverlayTooEarly, "the plan puts `w` over `v`, but `v` does not start before `w` does");
}

#[test]
fn overlay_slots() {
    let mut case = Case::default();
    let v = case.slots(Buffer { slots: 2, ..alive("v", 64, 0, 6) }, &[0, 64]);
    let w = case.at(alive("w", 64, 2, 9), 128);
    case.builder.overlay(Overlay { buffer: w, over: v, kind: OverlayKind::AnyOffset });
    case.over(w, v);
    case.provokes(Kind::OverlaySlots, "the plan puts `w` over `v`, but gives them different numbers of slots");
}

/// Two buffers on the same bytes, one after the other, whose sharing costs 3; a third one beside them, which would cost 5.
fn priced(cost: PlanCost) -> Case {
    let mut case = Case::default();
    let one = case.at(alive("one", 64, 0, 2), 0);
    let other = case.at(alive("other", 64, 2, 4), 32);
    let beside = case.at(alive("beside", 64, 4, 6), 96);
    case.builder.reuse_cost(ReuseCost { one, other, weight: 3 });
    case.builder.reuse_cost(ReuseCost { one, other: beside, weight: 5 });
    case.cost = Some(cost);
    case
}

#[test]
fn costs_are_computed_from_the_placement_alone() {
    priced(PlanCost { total: 3, lower_bound: 0 }).raises_nothing();
    let message = "the plan says that its reuse costs 0, but pairs of a cost of 3 have bytes in common";
    priced(PlanCost { total: 0, lower_bound: 0 }).provokes(Kind::CostWrong, message);
    let message = "the plan costs 3, but claims that no plan costs less than 4";
    priced(PlanCost { total: 3, lower_bound: 4 }).provokes(Kind::CostBelowBound, message);
}

#[test]
fn slots_are_overlaid_in_step() {
    for (offsets, fine) in [([0, 64], true), ([64, 0], false)] {
        let mut case = Case::default();
        let v = case.slots(Buffer { slots: 2, ..alive("v", 64, 0, 6) }, &[0, 64]);
        let w = case.slots(Buffer { slots: 2, ..alive("w", 64, 2, 9) }, &offsets);
        case.builder.overlay(Overlay { buffer: w, over: v, kind: OverlayKind::AnyOffset });
        case.over(w, v);
        match fine {
            true => case.raises_nothing(),
            false => case.provokes(
                Kind::Overlap,
                "buffers `v` and `w` are both alive at step 2 on bytes 64..128 of space `default`",
            ),
        }
    }
}

/// A diamond: a feeds b and c, they feed d, which feeds e. Everything at its own offset except as given.
fn diamond(offsets: [u64; 5], read_by_outputs: &[usize]) -> Case {
    let mut case = Case::default();
    let lives = [(0, 3), (1, 4), (2, 4), (3, 5), (4, 5)];
    for ((name, (start, end)), offset) in ["a", "b", "c", "d", "e"].into_iter().zip(lives).zip(offsets) {
        case.at(alive(name, 64, start, end), offset);
    }
    let children = [&[1, 2][..], &[3], &[3], &[4], &[]];
    let ids = |indices: &[usize]| indices.iter().map(|&index| BufferId::from_index(index)).collect::<Vec<_>>();
    let children = children.into_iter().map(ids).collect();
    case.builder.dependencies(Dependencies { children, read_by_outputs: ids(read_by_outputs) });
    case
}

#[test]
fn ordered_buffers_share() {
    diamond([0, 64, 128, 0, 64], &[]).raises_nothing();
}

#[test]
fn unordered() {
    // In time c starts when b is still alive only in this order of execution.
    let mut case = diamond([0, 64, 192, 128, 256], &[]);
    let x = case.at(alive("x", 64, 6, 7), 0);
    case.builder.dependencies(Dependencies {
        children: IndexVec::filled(Vec::new(), x.index() + 1),
        read_by_outputs: Vec::new(),
    });
    case.provokes(
        Kind::Unordered,
        "buffers `a` and `x` share bytes 0..64 of space `default`, but `a` may still be read when `x` is written: nothing orders them",
    );
}

#[test]
fn a_reader_that_feeds_an_output_is_never_known_to_be_done() {
    diamond([0, 64, 128, 0, 192], &[0]).provokes(
        Kind::Unordered,
        "buffers `a` and `d` share bytes 0..64 of space `default`, but `a` may still be read when `d` is written: nothing orders them",
    );
}

#[test]
fn a_reader_may_work_in_place_when_it_is_the_last() {
    for (parent, child, fine) in [(3, 4, true), (0, 2, false)] {
        let mut offsets = [0, 64, 128, 192, 256];
        offsets[child] = offsets[parent];
        let mut case = diamond(offsets, &[]);
        let (over, buffer) = (BufferId::from_index(parent), BufferId::from_index(child));
        case.builder.overlay(Overlay { buffer, over, kind: OverlayKind::SameBase });
        case.over(buffer, over);
        let kinds: Vec<Kind> = case.check().iter().map(Violation::kind).collect();
        assert_eq!(kinds, if fine { vec![] } else { vec![Kind::Unordered] });
    }
}

#[test]
fn offset_too_large() {
    let mut case = Case { extents: Some(vec![MAX_BYTES]), ..Case::default() };
    case.at(alive("a", 64, 0, 3), u64::MAX - 3);
    case.at(alive("b", 64, 0, 3), MAX_BYTES - 63);
    let messages: Vec<String> = case.check().iter().map(Violation::to_string).collect();
    assert_eq!(
        messages,
        [
            "buffer `a` of 64 bytes at offset 18446744073709551612 would reach past 2^63 bytes",
            "buffer `b` of 64 bytes at offset 9223372036854775744 would reach past 2^63 bytes"
        ]
    );
}

#[test]
fn the_list_of_pairs_is_bounded() {
    let mut case = Case::default();
    for index in 0..5_000 {
        let exclusive = index % 2 == 0;
        case.at(Buffer { exclusive, ..alive(&index.to_string(), 64, 0, 3) }, 0);
    }
    let violations = case.check();
    for kind in [Kind::Overlap, Kind::ExclusiveShared] {
        let of_kind: Vec<_> = violations.iter().filter(|violation| violation.kind() == kind).collect();
        assert_eq!(of_kind.len(), LISTED + 1);
        assert!(matches!(of_kind[LISTED], Violation::More { buffers, .. } if *buffers > 4_900), "{}", of_kind[LISTED]);
    }
    assert_eq!(violations.len(), 2 * (LISTED + 1));
}

#[test]
fn codes_are_unique() {
    let mut codes: Vec<&str> = Kind::ALL.iter().map(|kind| kind.code()).collect();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), Kind::ALL.len());
}

#[test]
fn the_documentation_lists_every_code() {
    let page = include_str!("../../../docs/violations.md");
    for kind in Kind::ALL {
        assert!(page.contains(&format!("| `{}` |", kind.code())), "{} is not documented", kind.code());
    }
    assert_eq!(page.matches("| `packing::").count(), Kind::ALL.len());
    assert!(page.contains(&format!("at most {LISTED} are listed")));
}
