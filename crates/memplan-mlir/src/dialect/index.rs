//! Arithmetic on `index`, whose forms write no type. No memory at all.

use super::{OpInfo, ResultTypes, Row};

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
