//! The dialect bufferization: conversions between tensors, which are values, and memrefs, which are memory.
//!
//! In the rows: `pure` is an op that only computes and touches no memory; `effects` lists what an op does to which
//! operands; `escapes` is an op whose memory operands escape; `unlisted` is an op of which nothing is known;
//! `with_segments` names the groups of operands of the generic form.
//! Rules for the types of results (`ResultTypes`): `Bool` is `i1`, or a vector or tensor of it.
//! The glossary explains the values of `Traits`.

use super::{Access, AliasRule, OpInfo, Relation, ResultTypes, Row, Selector};
use std::borrow::Cow;

/// A clone may be a copy, or the source itself if nobody writes to either.
const MAYBE: &[AliasRule] = &[AliasRule { from: Selector::Operand(0), result: Some(0), relation: Relation::Either }];
/// The source (a tensor, or memory that is not followed any further) escapes, and its content is written into the
/// destination.
const MATERIALIZE: &[(Selector, Access)] =
    &[(Selector::Operand(0), Access::Escape), (Selector::Operand(1), Access::Update)];

/// What is known about the ops of the dialect bufferization. The row with a `*` speaks for all ops without a row of
/// their own.
pub(super) fn rows() -> Vec<Row> {
    vec![
        ("bufferization.*", OpInfo::unlisted()),
        // Tensors are not followed, so the analysis loses sight of a memref that becomes one: it escapes.
        ("bufferization.to_tensor", OpInfo::escapes()),
        ("bufferization.to_buffer", OpInfo::pure().with_traits(super::Traits::EXTERNAL)),
        ("bufferization.clone", OpInfo { aliases: Cow::Borrowed(MAYBE), ..OpInfo::effects(super::READS) }),
        // The op compares addresses at run time and frees the memrefs that it need not retain. So its operands escape.
        (
            "bufferization.dealloc",
            OpInfo::escapes().with_results(ResultTypes::Bool).with_segments(&["memrefs", "conditions", "retain"]),
        ),
        ("bufferization.materialize_in_destination", OpInfo::effects(MATERIALIZE)),
        ("bufferization.alloc_tensor", OpInfo::effects(&[])),
        ("bufferization.dealloc_tensor", OpInfo::effects(&[])),
    ]
}
