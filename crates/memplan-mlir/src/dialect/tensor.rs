//! The dialect tensor. Tensors are values and no memory, so the rows only say how the custom forms of its ops are read.

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
