//! Large inputs of every shape are checked in time that grows with them, not with their square.

use memplan_core::*;
use memplan_testkit::instances;
use memplan_verify::packing::{Kind, LISTED, Violation, check};

const MANY: u64 = 100_000;

/// A plan with these offsets in the first space.
fn at(problem: &Problem, offset: impl Fn(u64) -> u64) -> Plan {
    let mut plan = Plan::empty(problem);
    for (index, placement) in plan.placements.iter_mut().enumerate() {
        *placement = Some(Placement::at(SpaceId::from_index(0), Bytes(offset(index as u64))));
    }
    plan.fit_extents(problem);
    plan
}

fn build(buffers: impl Iterator<Item = Buffer>, relate: impl FnOnce(&mut ProblemBuilder)) -> Problem {
    let mut builder = ProblemBuilder::new();
    for buffer in buffers {
        builder.buffer(buffer);
    }
    relate(&mut builder);
    builder.build().expect("a valid problem")
}

fn id(index: u64) -> BufferId {
    BufferId::from_index(index as usize)
}

fn is_more(violation: &Violation) -> bool {
    matches!(violation, Violation::More { .. })
}

#[test]
fn everything_at_offset_0() {
    let problem = instances::benchmark(MANY as usize);
    let violations = check(&problem, &at(&problem, |_| 0));
    assert_eq!(violations.len(), LISTED + 1);
    assert!(matches!(violations[LISTED], Violation::More { kind: Kind::Overlap, buffers } if buffers > 99_000));
}

#[test]
fn one_group_on_the_same_bytes() {
    let mut builder = ProblemBuilder::new();
    let tie = Some(Tie { group: builder.group("views"), at: Bytes::ZERO });
    for index in 0..MANY {
        let buffer = Buffer::new(index.to_string(), 64, Lifetime::new(index, MANY)).with_tie(tie);
        builder.buffer(Buffer { exclusive: true, ..buffer });
    }
    builder.buffer(Buffer::new("stranger", 64, Lifetime::new(0, MANY)));
    let problem = builder.build().unwrap();
    assert!(check(&problem, &at(&problem, |index| index / MANY * 64)).is_empty());
    let violations = check(&problem, &at(&problem, |index| index / MANY * 63));
    assert_eq!(violations.iter().filter(|violation| !is_more(violation)).count(), 2 * LISTED);
}

#[test]
fn a_long_in_place_chain() {
    let chain = (0..MANY).map(|index| Buffer::new(index.to_string(), 64, Lifetime::new(index, index + 2)));
    let problem = build(chain, |builder| {
        for index in 1..MANY {
            builder.overlay(Overlay { buffer: id(index), over: id(index - 1), kind: OverlayKind::SameBase });
        }
    });
    let mut plan = at(&problem, |_| 0);
    plan.reused = (1..MANY).map(|index| Reuse { buffer: id(index), over: vec![id(index - 1)] }).collect();
    assert!(check(&problem, &plan).is_empty());
    plan.reused.remove(5);
    let kinds: Vec<Kind> = check(&problem, &plan).iter().map(Violation::kind).collect();
    assert_eq!(kinds, [Kind::Overlap]);
}

#[test]
fn one_victim_of_many() {
    let victim = Buffer::new("victim", MANY, Lifetime::new(0, 2 * MANY));
    let takers = (0..MANY).map(|index| Buffer::new(index.to_string(), 1, Lifetime::new(index + 1, MANY + 1)));
    let problem = build(std::iter::once(victim).chain(takers), |builder| {
        for index in 1..=MANY {
            builder.overlay(Overlay { buffer: id(index), over: id(0), kind: OverlayKind::AnyOffset });
        }
    });
    let mut plan = at(&problem, |index| index.saturating_sub(1));
    plan.reused = (1..=MANY).map(|index| Reuse { buffer: id(index), over: vec![id(0)] }).collect();
    assert!(check(&problem, &plan).is_empty());
}

#[test]
fn many_gaps() {
    let every_other =
        |first: u64| (0..MANY).map(|index| Interval::new(4 * index + first, 4 * index + first + 2)).collect();
    let lives = [every_other(0), every_other(2), every_other(1)];
    let problem = build(lives.into_iter().zip(["a", "b", "c"]).map(|(life, name)| Buffer::new(name, 64, life)), |_| {});
    assert!(check(&problem, &at(&problem, |index| index / 2 * 64)).is_empty());
    assert_eq!(check(&problem, &at(&problem, |_| 0)).len(), 2, "both pairs, once each");
}

#[test]
fn a_long_chain_of_dependencies() {
    let chain = (0..MANY).map(|index| Buffer::new(index.to_string(), 64, Lifetime::new(index, index + 2)));
    let problem = build(chain, |builder| {
        let children = (1..=MANY).map(|index| if index < MANY { vec![id(index)] } else { Vec::new() }).collect();
        builder.dependencies(Dependencies { children, read_by_outputs: vec![id(7)] });
    });
    let violations = check(&problem, &at(&problem, |index| index % 2 * 64));
    let kinds: Vec<Kind> = violations.iter().map(Violation::kind).collect();
    assert_eq!(kinds, [Kind::Unordered], "only the one that an output reads");
    assert_eq!(violations[0].buffer().map(|who| who.id), Some(id(7)));
    assert_eq!(violations[0].other().map(|who| who.id), Some(id(9)));
}

/// A plan may give a buffer more offsets than it has slots.
#[test]
fn many_slots() {
    let problem = build(["a", "b"].into_iter().map(|name| Buffer::new(name, 64, Lifetime::new(0, 1))), |builder| {
        builder.must_not_share(id(0), id(1));
    });
    let mut plan = at(&problem, |_| 0);
    for (first, placement) in plan.placements.iter_mut().enumerate() {
        let offsets = (0..50_000).map(|slot| Bytes(64 * (2 * slot + first as u64))).collect();
        *placement = Some(Placement { offsets, ..Placement::at(SpaceId::from_index(0), Bytes::ZERO) });
    }
    plan.fit_extents(&problem);
    assert!(check(&problem, &plan).is_empty());
    if let Some(placement) = &mut plan.placements[id(0)] {
        placement.offsets.iter_mut().for_each(|offset| *offset = Bytes::ZERO);
    }
    let violations = check(&problem, &plan);
    assert_eq!(violations.len(), 49_999, "neighbours of slots");
    assert!(violations.iter().all(|violation| violation.kind() == Kind::SlotsOverlap));
}
