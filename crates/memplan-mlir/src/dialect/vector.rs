//! The dialect vector: arithmetic on vectors, and ops that load them from memory and store them there.
//!
//! In the rows: `gives` is an op that only computes, with the rule by which its form tells the types of its results;
//! `effects` lists what an op does to which operands; the result of a `cast` is the memory of the first operand;
//! `terminates` is a terminator that gives values to the op around it; `unlisted` is an op of which nothing is known;
//! `regions` says how many regions an op has, how they run and which values pass; `ending_in` names the terminator
//! that the form leaves out.
//! Rules for the types of results (`ResultTypes`): `First` is the first type listed; `Number` is something that is
//! certainly not memory; `Element` is the element type of the last type listed; `Repeated` is for each result the
//! last type listed; `Index` is `index`.
//! The glossary explains the values of `Control`, `Flow` and `Traits`.

use super::{Access, Control, Flow, OpInfo, ResultTypes, Row, Selector, Traits};

/// The op reads its first operand.
const LOAD: &[(Selector, Access)] = &[(Selector::Operand(0), Access::Read)];
/// The memory is the first operand: masked and scattered stores.
const UPDATE_FIRST: &[(Selector, Access)] = &[(Selector::Operand(0), Access::Update)];
/// The stored value is the first operand and the memory the second: plain stores.
const UPDATE_SECOND: &[(Selector, Access)] = &[(Selector::Operand(1), Access::Update)];

/// What is known about the ops of the dialect vector. A row with a `*` speaks for all ops without a row of their own.
pub(super) fn rows() -> Vec<Row> {
    vec![
        ("vector.*", OpInfo::unlisted()),
        ("vector.load", OpInfo::effects(LOAD)),
        ("vector.maskedload", OpInfo::effects(LOAD)),
        ("vector.expandload", OpInfo::effects(LOAD)),
        ("vector.gather", OpInfo::effects(LOAD)),
        ("vector.transfer_read", OpInfo::effects(LOAD)),
        ("vector.store", OpInfo::effects(UPDATE_SECOND)),
        // These ops name the stored vector first and the memory second; the masked forms below name the memory first.
        ("vector.transfer_write", OpInfo::effects(UPDATE_SECOND)),
        ("vector.maskedstore", OpInfo::effects(UPDATE_FIRST)),
        ("vector.compressstore", OpInfo::effects(UPDATE_FIRST)),
        ("vector.scatter", OpInfo::effects(UPDATE_FIRST)),
        ("vector.type_cast", OpInfo::cast()),
        ("vector.extract", OpInfo::gives(ResultTypes::First)),
        ("vector.scalable.extract", OpInfo::gives(ResultTypes::First)),
        ("vector.outerproduct", OpInfo::gives(ResultTypes::Number)),
        ("vector.shuffle", OpInfo::gives(ResultTypes::Number)),
        ("vector.to_elements", OpInfo::gives(ResultTypes::Element)),
        ("vector.deinterleave", OpInfo::gives(ResultTypes::Repeated)),
        ("vector.vscale", OpInfo::gives(ResultTypes::Index)),
        (
            "vector.mask",
            OpInfo::regions(1, Control::Once, Flow::Yields, Traits::RECURSIVE_EFFECTS).ending_in("vector.yield"),
        ),
        ("vector.yield", OpInfo::terminates()),
    ]
}
