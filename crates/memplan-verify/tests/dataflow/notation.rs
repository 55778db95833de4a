//! Short notations for plans and violations.

use memplan_core::{Bytes, Id, Placement, SpaceId};
use memplan_program::{OpId, Program, SiteId, text};
use memplan_verify::dataflow::{SitePlan, Violation, check};

/// Reads a program, with the source in the panic message if it is none.
pub(crate) fn program(source: &str) -> Program {
    text::parse(source).unwrap_or_else(|error| {
        let at = error.span().map(|span| &source[span.range()]);
        panic!("{error} at {at:?} in\n{source}")
    })
}

/// Reads a plan: `x@0 y@8,40 z@64+16 t@0/par` places `x` at offset 0, two slots
/// of `y`, slices of `z` with a stride of 16 (`+16+64`: 64 in the next parallel
/// loop outwards), and `t` in memory of its own for each instance of the op
/// named `par`. What is not mentioned is not placed.
pub(crate) fn plan(program: &Program, notation: &str) -> SitePlan {
    let mut plan = SitePlan::empty(program);
    for word in notation.split_whitespace() {
        let (name, rest) = word.split_once('@').expect("name@offset");
        let (rest, owner) = rest.split_once('/').map_or((rest, None), |(rest, owner)| (rest, Some(owner)));
        let mut parts = rest.split('+');
        let offsets = parts.next().expect("an offset");
        let number = |text: &str| Bytes(text.parse().expect("a number"));
        let site = site(program, name);
        let mut space = program.site(site).space;
        if let Some(owner) = owner {
            let owner = op(program, owner);
            space = SpaceId::from_index(program.spaces().len() + owner.index());
            plan.owners.insert(space, owner);
        }
        plan.placements[site] = Some(Placement {
            space,
            offsets: offsets.split(',').map(number).collect(),
            strides: parts.map(number).collect(),
            object: None,
        });
    }
    plan
}

/// The site of this name.
pub(crate) fn site(program: &Program, name: &str) -> SiteId {
    let named = |site: &SiteId| &*program.value(program.site(*site).value).name == name;
    program.sites().ids().find(named).unwrap_or_else(|| panic!("no site {name}"))
}

/// The first op of this name.
pub(crate) fn op(program: &Program, name: &str) -> OpId {
    let named = |op: &OpId| &*program.op(*op).name == name;
    program.ops().ids().find(named).unwrap_or_else(|| panic!("no op {name}"))
}

/// A violation in a few words: `reader reads %x lost to writer`.
pub(crate) fn brief(program: &Program, violation: &Violation) -> String {
    let op = |op: &OpId| program.op(*op).name.to_string();
    let value = |value: &memplan_program::ValueId| format!("%{}", program.value(*value).name);
    let site = |site: &SiteId| value(&program.site(*site).value);
    match violation {
        Violation::Overwritten { op: o, value: v, bytes, by, .. } => {
            format!("{} reads {}[{}..{}] lost to {}", op(o), value(v), bytes.start, bytes.end, op(by))
        }
        Violation::OwnInput { op: o, output, input, .. } => {
            format!("{} writes {} over its input {}", op(o), value(output), value(input))
        }
        Violation::OutputsOverlap { op: o, first, second, .. } => {
            format!("{} writes {} and {} at once", op(o), value(first), value(second))
        }
        Violation::EscapedOverwritten { op: o, site: s, .. } => format!("{} overwrites escaped {}", op(o), site(s)),
        Violation::IterationsOverlap { op: o, sites } => {
            format!("iterations of {} overlap: {} {}", op(o), site(&sites.0), site(&sites.1))
        }
        Violation::Unordered { first, second, sites, .. } => {
            format!("unordered: {} of {} and {} of {}", op(first), site(&sites.0), op(second), site(&sites.1))
        }
        Violation::SlotsOverlap { site: s, .. } => format!("slots of {} overlap", site(s)),
        Violation::ForeignScope { site: s, scope } => format!("{} in memory of {}", site(s), op(scope)),
        Violation::TooFewSlots { site: s, .. } => format!("too few slots for {}", site(s)),
        Violation::Misaligned { site: s, distance } => format!("{} off its alignment: {distance}", site(s)),
        Violation::ExclusiveShared { sites } => format!("{} not alone: {}", site(&sites.0), site(&sites.1)),
        Violation::OutOfMemory { site: s, end, capacity } => format!("{} ends at {end} of {capacity}", site(s)),
        other => format!("{other:?}"),
    }
}

/// Checks a plan and compares what is found, in any order.
#[track_caller]
pub(crate) fn expect(source: &str, notation: &str, expected: &[&str]) {
    let program = program(source);
    let violations = check(&program, &plan(&program, notation));
    let mut found: Vec<String> = violations.iter().map(|violation| brief(&program, violation)).collect();
    found.sort();
    found.dedup();
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(found, expected, "plan {notation} of\n{source}");
    for violation in &violations {
        assert!(!violation.describe(&program).is_empty());
    }
}
