//! The dialect arith: arithmetic on numbers. Of its ops only `arith.select` touches memory, if it chooses a memref.

use super::{AliasRule, OpInfo, Relation, ResultTypes, Row, Selector};

const SELECT: &[AliasRule] = &[AliasRule { from: Selector::From(1), result: Some(0), relation: Relation::Either }];

/// What is known about the ops of the dialect arith. A row with a `*` speaks for all ops without a row of their own.
pub(super) fn rows() -> Vec<Row> {
    vec![
        ("arith.*", OpInfo::pure()),
        ("arith.constant", OpInfo::gives(ResultTypes::ListedOrBool)),
        ("arith.cmpi", OpInfo::gives(ResultTypes::Bool)),
        ("arith.cmpf", OpInfo::gives(ResultTypes::Bool)),
        ("arith.mulsi_extended", OpInfo::gives(ResultTypes::Repeated)),
        ("arith.mului_extended", OpInfo::gives(ResultTypes::Repeated)),
        ("arith.select", OpInfo::pure().with_aliases(SELECT)),
    ]
}
