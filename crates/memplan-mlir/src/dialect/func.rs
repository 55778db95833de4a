//! Functions and calls. What a call does is read off the function if it is in
//! the same file; without it, a call is as unknown as any op.
//!
//! In the rows: `gives` is an op that only computes, with the rule by which its form tells the types of its results;
//! `terminates` is a terminator that gives values to the op around it; `unlisted` is an op of which nothing is known;
//! `regions` says how many regions an op has, how they run and which values pass; `with_header` says where the form
//! names the arguments of its region.
//! Rules for the types of results (`ResultTypes`): `Function` is the whole function type.
//! The glossary explains the values of `Control`, `Flow`, `Header` and `Traits`.

use super::{Control, Flow, Header, OpInfo, ResultTypes, Row, Traits};

/// What is known about the ops of the dialect func.
pub(super) fn rows() -> Vec<Row> {
    let function = Traits::FUNCTION.and(Traits::ISOLATED).and(Traits::ALLOCATION_SCOPE);
    vec![
        ("func.func", OpInfo::regions(1, Control::Once, Flow::Function, function).with_header(Header::Function)),
        ("func.return", OpInfo::terminates()),
        ("func.call", call()),
        ("func.call_indirect", call()),
        ("func.constant", OpInfo::gives(ResultTypes::Function)),
    ]
}

/// A call of a function that has not been looked into.
pub(super) fn call() -> OpInfo {
    OpInfo { regions: Some(0), traits: Traits::CALL, ..OpInfo::unlisted() }
}
