//! The dialect tensor. Tensors are values and no memory, so the rows only say how the custom forms of its ops are read.
//!
//! In the rows: `gives` is an op that only computes, with the rule by which its form tells the types of its results;
//! `terminates` is a terminator that gives values to the op around it; `unlisted` is an op of which nothing is known;
//! `regions` says how many regions an op has, how they run and which values pass.
//! Rules for the types of results (`ResultTypes`): `Index` is `index`; `Element` is the element type of the last type
//! listed.
//! The glossary explains the values of `Control`, `Flow` and `Traits`.

use super::{Control, Flow, OpInfo, ResultTypes, Row, Traits};

/// What is known about the ops of the dialect tensor. A row with a `*` speaks for all ops without a row of their own.
pub(super) fn rows() -> Vec<Row> {
    let body = || OpInfo::regions(1, Control::Loop, Flow::Elements, Traits::EFFECT_FREE);
    vec![
        ("tensor.*", OpInfo::unlisted()),
        ("tensor.dim", OpInfo::gives(ResultTypes::Index)),
        ("tensor.rank", OpInfo::gives(ResultTypes::Index)),
        ("tensor.extract", OpInfo::gives(ResultTypes::Element)),
        ("tensor.generate", body()),
        ("tensor.pad", body()),
        ("tensor.yield", OpInfo::terminates()),
    ]
}
