//! More numbers. No memory at all.

use super::{OpInfo, ResultTypes, Row};

pub(super) fn rows() -> Vec<Row> {
    let question = || OpInfo::pure().with_results(ResultTypes::Bool);
    vec![
        ("math.*", OpInfo::pure()),
        ("math.isfinite", question()),
        ("math.isinf", question()),
        ("math.isnan", question()),
        ("math.isnormal", question()),
        ("math.fpowi", OpInfo::pure().with_results(ResultTypes::First)),
        ("math.sincos", OpInfo::pure().with_results(ResultTypes::Repeated)),
    ]
}
