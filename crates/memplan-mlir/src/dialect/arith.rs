//! Numbers. The only op that touches memory is the select.

use super::{AliasRule, OpInfo, Relation, ResultTypes, Row, Selector};

const SELECT: &[AliasRule] = &[AliasRule { from: Selector::From(1), result: Some(0), relation: Relation::Either }];

pub(super) fn rows() -> Vec<Row> {
    let compare = || OpInfo::pure().with_results(ResultTypes::Bool);
    let extended = || OpInfo::pure().with_results(ResultTypes::Repeated);
    vec![
        ("arith.*", OpInfo::pure()),
        ("arith.constant", OpInfo::pure().with_results(ResultTypes::ListedOrBool)),
        ("arith.cmpi", compare()),
        ("arith.cmpf", compare()),
        ("arith.mulsi_extended", extended()),
        ("arith.mului_extended", extended()),
        ("arith.select", OpInfo::pure().with_aliases(SELECT)),
    ]
}
