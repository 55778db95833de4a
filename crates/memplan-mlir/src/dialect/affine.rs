//! The dialect affine: loops whose bounds are affine expressions, and loads and stores whose subscripts are.
//!
//! In the rows: `gives` is an op that only computes, with the rule by which its form tells the types of its results;
//! `effects` lists what an op does to which operands; `escapes` is an op whose memory operands escape; `terminates`
//! is a terminator that gives values to the op around it; `unlisted` is an op of which nothing is known; `regions`
//! says how many regions an op has, how they run and which values pass; `with_header` says where the form names the
//! arguments of its region; `ending_in` names the terminator that the form leaves out.
//! Rules for the types of results (`ResultTypes`): `Index` is `index`; `Element` is the element type of the last type
//! listed.
//! The glossary explains the values of `Control`, `Flow`, `Header` and `Traits`.

use super::{Access, Control, Flow, Header, OpInfo, ResultTypes, Row, Selector, Traits};

/// The op reads its first operand.
const LOAD: &[(Selector, Access)] = &[(Selector::Operand(0), Access::Read)];
/// A memref that is stored into another memref escapes, because loads from there are not followed.
const STORE: &[(Selector, Access)] = &[(Selector::Operand(0), Access::Escape), (Selector::Operand(1), Access::Update)];

/// What is known about the ops of the dialect affine. A row with a `*` speaks for all ops without a row of their own.
pub(super) fn rows() -> Vec<Row> {
    let scope = Traits::LOOP_LIKE.and(Traits::ALLOCATION_SCOPE);
    vec![
        ("affine.*", OpInfo::unlisted()),
        ("affine.apply", OpInfo::gives(ResultTypes::Index)),
        ("affine.min", OpInfo::gives(ResultTypes::Index)),
        ("affine.max", OpInfo::gives(ResultTypes::Index)),
        ("affine.delinearize_index", OpInfo::gives(ResultTypes::Index)),
        ("affine.linearize_index", OpInfo::gives(ResultTypes::Index)),
        ("affine.load", OpInfo::effects(LOAD).with_results(ResultTypes::Element)),
        ("affine.vector_load", OpInfo::effects(LOAD)),
        ("affine.store", OpInfo::effects(STORE)),
        ("affine.vector_store", OpInfo::effects(STORE)),
        ("affine.prefetch", OpInfo::effects(LOAD)),
        // A transfer runs on after the op, and its wait is matched by a tag in memory. Its operands therefore escape.
        ("affine.dma_start", OpInfo::escapes()),
        (
            "affine.for",
            OpInfo::regions(1, Control::Loop, Flow::Carried, scope.and(Traits::REGION_BRANCH))
                .with_header(Header::Assigned)
                .ending_in("affine.yield"),
        ),
        (
            "affine.parallel",
            OpInfo::regions(1, Control::Parallel, Flow::None, scope)
                .with_header(Header::Indices)
                .ending_in("affine.yield"),
        ),
        (
            "affine.if",
            OpInfo::regions(2, Control::Alternatives, Flow::Yields, Traits::REGION_BRANCH).ending_in("affine.yield"),
        ),
        ("affine.yield", OpInfo::terminates()),
    ]
}
