//! Numbers. The only op that touches memory is the select.

use super::{AliasRule, OpInfo, Relation, ResultTypes, Row, Selector};

const SELECT: &[AliasRule] = &[AliasRule { from: Selector::From(1), result: Some(0), relation: Relation::Either }];

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
