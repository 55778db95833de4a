//! More numbers. No memory at all.

use super::{OpInfo, ResultTypes, Row};

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
