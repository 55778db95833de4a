//! The dialect complex: arithmetic on complex numbers. None of its ops touches memory.

use super::{OpInfo, ResultTypes, Row};

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
