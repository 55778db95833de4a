//! The dialect arith: arithmetic on numbers. Of its ops only `arith.select` touches memory, if it chooses a memref.
//!
//! In the rows: `pure` is an op that only computes and touches no memory; `gives` is an op that only computes, with
//! the rule by which its form tells the types of its results.
//! Rules for the types of results (`ResultTypes`): `ListedOrBool` is the types listed, or `i1` if none is; `Bool` is
//! `i1`, or a vector or tensor of it; `Repeated` is for each result the last type listed.

use super::{AliasRule, OpInfo, Relation, ResultTypes, Row, Selector};

/// The result is one of the operands behind the condition.
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
