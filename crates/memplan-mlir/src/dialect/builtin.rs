//! The dialect builtin: modules, and the cast that converts between the types of other dialects.
//! The glossary explains the values of `Control`, `Flow` and `Traits`.

use super::{AliasRule, Control, Flow, OpInfo, Relation, Row, Selector, Traits};

/// Each result may be any of the operands.
const ANY: &[AliasRule] = &[AliasRule { from: Selector::All, result: None, relation: Relation::Either }];

/// What is known about the ops of the dialect builtin.
pub(super) fn rows() -> Vec<Row> {
    vec![
        ("builtin.module", OpInfo::regions(1, Control::Once, Flow::None, Traits::ISOLATED)),
        ("builtin.unrealized_conversion_cast", OpInfo::pure().with_aliases(ANY)),
    ]
}
