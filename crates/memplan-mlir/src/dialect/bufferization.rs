//! The border between tensors and memrefs.

use super::{Access, AliasRule, OpInfo, Relation, ResultTypes, Row, Selector};
use std::borrow::Cow;

/// The clone may be the source.
const MAYBE: &[AliasRule] = &[AliasRule { from: Selector::Operand(0), result: Some(0), relation: Relation::Either }];
const MATERIALIZE: &[(Selector, Access)] =
    &[(Selector::Operand(0), Access::Escape), (Selector::Operand(1), Access::Update)];

pub(super) fn rows() -> Vec<Row> {
    vec![
        ("bufferization.*", OpInfo::unlisted()),
        // Tensors are not followed: what becomes one is out of sight.
        ("bufferization.to_tensor", OpInfo::escapes()),
        ("bufferization.to_buffer", OpInfo::pure().with_traits(super::Traits::EXTERNAL)),
        ("bufferization.clone", OpInfo { aliases: Cow::Borrowed(MAYBE), ..OpInfo::effects(super::READS) }),
        // Frees some of them, if conditions hold, and compares their addresses.
        (
            "bufferization.dealloc",
            OpInfo::escapes().with_results(ResultTypes::Bool).with_segments(&["memrefs", "conditions", "retain"]),
        ),
        ("bufferization.materialize_in_destination", OpInfo::effects(MATERIALIZE)),
        ("bufferization.alloc_tensor", OpInfo::effects(&[])),
        ("bufferization.dealloc_tensor", OpInfo::effects(&[])),
    ]
}
