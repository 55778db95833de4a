//! What the ops of MLIR's dialect `async` do with memory.
//!
//! `async.execute` starts its region and goes on at once; the region runs at the same time as the code behind it. The
//! op's first result is a token. `async.await` on the token waits until the region has ended. Between the two, buffers
//! of the region and buffers of the code are alive together, so the planner has to know where the waiting happens.
//!
//! In the rows: `effects` lists what an op does to which operands; `escapes` is an op whose memory operands escape;
//! `terminates` is a terminator that gives values to the op around it; `unlisted` is an op of which nothing is known;
//! `regions` says how many regions an op has, how they run and which values pass; `with_header` says where the form
//! names the arguments of its region; `with_segments` names the groups of operands of the generic form; `ending_in`
//! names the terminator that the form leaves out.
//! Rules for the types of results (`ResultTypes`): `TokenFirst` is a token, then the types behind `->`; `Awaited` is
//! what the `!async.value` listed holds; `Index` is `index`.
//! The glossary explains the values of `Control`, `Flow`, `Header` and `Traits`.

use super::{Control, Flow, Header, OpInfo, ResultTypes, Row, Traits};

/// What is known about the ops of the dialect async. A row with a `*` speaks for all ops without a row of their own.
pub(super) fn rows() -> Vec<Row> {
    let function = Traits::FUNCTION.and(Traits::ISOLATED).and(Traits::ALLOCATION_SCOPE);
    vec![
        // Every op of the dialect without a row of its own, mostly ops that call the runtime library. They may store a
        // memref in a handle that the analysis does not follow, so all their operands escape.
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
        (
            "async.runtime.load",
            OpInfo::escapes().with_results(ResultTypes::Awaited).with_aliases(super::UNKNOWN_ALIASES),
        ),
        ("async.yield", OpInfo::terminates()),
        (
            "async.await",
            OpInfo::effects(&[])
                .with_results(ResultTypes::Awaited)
                .with_aliases(super::CAST)
                .with_traits(Traits::AWAITS),
        ),
        // A group is a set of tokens. `await_all` waits for all work that was added to it with `add_to_group`; the
        // lowering keeps track of which that is.
        ("async.await_all", OpInfo::effects(&[]).with_traits(Traits::AWAITS)),
        ("async.add_to_group", OpInfo::effects(&[]).with_results(ResultTypes::Index).with_traits(Traits::JOINS_GROUP)),
        ("async.create_group", OpInfo::effects(&[])),
        ("async.func", OpInfo::regions(1, Control::Once, Flow::Function, function).with_header(Header::Function)),
        // The callee may still run when the call has returned.
        ("async.call", OpInfo::escapes().with_aliases(super::UNKNOWN_ALIASES)),
        ("async.return", OpInfo::terminates()),
    ]
}
