//! The dialect math: mathematical functions of numbers. None of its ops touches memory.
//!
//! In the rows: `pure` is an op that only computes and touches no memory; `gives` is an op that only computes, with
//! the rule by which its form tells the types of its results.
//! Rules for the types of results (`ResultTypes`): `Bool` is `i1`, or a vector or tensor of it; `First` is the first
//! type listed; `Repeated` is for each result the last type listed.

use super::{OpInfo, ResultTypes, Row};

/// What is known about the ops of the dialect math. A row with a `*` speaks for all ops without a row of their own.
pub(super) fn rows() -> Vec<Row> {
    vec![
        ("math.*", OpInfo::pure()),
        ("math.isfinite", OpInfo::gives(ResultTypes::Bool)),
        ("math.isinf", OpInfo::gives(ResultTypes::Bool)),
        ("math.isnan", OpInfo::gives(ResultTypes::Bool)),
        ("math.isnormal", OpInfo::gives(ResultTypes::Bool)),
        ("math.fpowi", OpInfo::gives(ResultTypes::First)),
        ("math.sincos", OpInfo::gives(ResultTypes::Repeated)),
    ]
}
