//! The dialect index: arithmetic on `index`, whose custom forms write no type. None of its ops touches memory.
//!
//! In the rows: `pure` is an op that only computes and touches no memory; `gives` is an op that only computes, with
//! the rule by which its form tells the types of its results.
//! Rules for the types of results (`ResultTypes`): `Index` is `index`; `Bool` is `i1`, or a vector or tensor of it.

use super::{OpInfo, ResultTypes, Row};

/// What is known about the ops of the dialect index. The row with a `*` speaks for all ops without a row of their
/// own.
pub(super) fn rows() -> Vec<Row> {
    vec![
        ("index.*", OpInfo::gives(ResultTypes::Index)),
        // The casts name both types.
        ("index.casts", OpInfo::pure()),
        ("index.castu", OpInfo::pure()),
        ("index.cmp", OpInfo::gives(ResultTypes::Bool)),
        ("index.bool.constant", OpInfo::gives(ResultTypes::Bool)),
    ]
}
