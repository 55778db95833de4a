//! Regions that run on their own until they are awaited.

use super::{Control, Flow, Header, OpInfo, ResultTypes, Row, Traits};

pub(super) fn rows() -> Vec<Row> {
    let function = Traits::FUNCTION.and(Traits::ISOLATED).and(Traits::ALLOCATION_SCOPE);
    vec![
        // Runtime ops put memrefs into handles that are not followed.
        (
            "async.*",
            OpInfo {
                effects: super::Cow::Borrowed(&[(super::Selector::All, super::Access::Escape)]),
                ..OpInfo::unlisted()
            },
        ),
        (
            "async.execute",
            OpInfo::regions(1, Control::Async, Flow::Execute, Traits::ALLOCATION_SCOPE.and(Traits::REGION_BRANCH))
                .with_header(Header::Renamed)
                .with_results(ResultTypes::TokenFirst)
                .with_segments(&["dependencies", "operands"])
                .ending_in("async.yield"),
        ),
        ("async.yield", OpInfo::terminates()),
        (
            "async.await",
            OpInfo::effects(&[])
                .with_results(ResultTypes::Awaited)
                .with_aliases(super::CAST)
                .with_traits(Traits::AWAITS),
        ),
        // A group stands for all work that was added to it; lowering follows it.
        ("async.await_all", OpInfo::effects(&[]).with_traits(Traits::AWAITS)),
        ("async.add_to_group", OpInfo::effects(&[]).with_results(ResultTypes::Index).with_traits(Traits::JOINS_GROUP)),
        ("async.create_group", OpInfo::effects(&[])),
        ("async.func", OpInfo::regions(1, Control::Once, Flow::Function, function).with_header(Header::Function)),
        // The callee may still run when the call has returned.
        ("async.call", OpInfo::escapes().with_aliases(super::UNKNOWN_ALIASES)),
        ("async.return", OpInfo::terminates()),
    ]
}
