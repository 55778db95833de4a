//! The dialect index: arithmetic on `index`, whose custom forms write no type. None of its ops touches memory.

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
