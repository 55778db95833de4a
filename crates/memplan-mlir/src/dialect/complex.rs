//! The dialect complex: arithmetic on complex numbers. None of its ops touches memory.
//!
//! In the rows: `pure` is an op that only computes and touches no memory; `gives` is an op that only computes, with
//! the rule by which its form tells the types of its results.
//! Rules for the types of results (`ResultTypes`): `Element` is the element type of the last type listed; `Bool` is
//! `i1`, or a vector or tensor of it.

use super::{OpInfo, ResultTypes, Row};

/// What is known about the ops of the dialect complex. The row with a `*` speaks for all ops without a row of their
/// own.
pub(super) fn rows() -> Vec<Row> {
    vec![
        ("complex.*", OpInfo::pure()),
        ("complex.abs", OpInfo::gives(ResultTypes::Element)),
        ("complex.angle", OpInfo::gives(ResultTypes::Element)),
        ("complex.im", OpInfo::gives(ResultTypes::Element)),
        ("complex.re", OpInfo::gives(ResultTypes::Element)),
        ("complex.eq", OpInfo::gives(ResultTypes::Bool)),
        ("complex.neq", OpInfo::gives(ResultTypes::Bool)),
    ]
}
