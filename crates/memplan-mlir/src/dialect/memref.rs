//! The dialect memref: ops that allocate, free, read and write memory, and ops that make views of it.
//!
//! In the rows: `pure` is an op that only computes and touches no memory; `gives` is an op that only computes, with
//! the rule by which its form tells the types of its results; `effects` lists what an op does to which operands;
//! `escapes` is an op whose memory operands escape; the result of a `cast` is the memory of the first operand, and
//! the result of a `view` is a part of it; `terminates` is a terminator that gives values to the op around it;
//! `unlisted` is an op of which nothing is known; `regions` says how many regions an op has, how they run and which
//! values pass; `ending_in` names the terminator that the form leaves out. Rules for the types of results
//! (`ResultTypes`): `Index` is `index`; `Element` is the element type of the last type listed.
//! The glossary explains the values of `Control`, `Flow` and `Traits`.

use super::{Access, AliasRule, Control, Flow, OpInfo, READS, Relation, ResultTypes, Row, Selector, Traits};

/// The op reads its first operand.
const LOAD: &[(Selector, Access)] = &[(Selector::Operand(0), Access::Read)];
/// A memref that is stored into another memref escapes, because loads from there are not followed.
const STORE: &[(Selector, Access)] = &[(Selector::Operand(0), Access::Escape), (Selector::Operand(1), Access::Update)];
/// The op reads its first operand and writes all of its second one.
const COPY: &[(Selector, Access)] = &[(Selector::Operand(0), Access::Read), (Selector::Operand(1), Access::Write)];
/// The base of a descriptor is the whole allocation, which is more than the view that it is taken from.
const BASE: &[AliasRule] = &[AliasRule { from: Selector::Operand(0), result: Some(0), relation: Relation::Base }];
/// Each result may be any of the operands.
const ANY: &[AliasRule] = &[AliasRule { from: Selector::All, result: None, relation: Relation::Either }];

/// What is known about the ops of the dialect memref. A row with a `*` speaks for all ops without a row of their own.
pub(super) fn rows() -> Vec<Row> {
    let mut rows = vec![
        ("memref.*", OpInfo::unlisted()),
        ("memref.alloc", OpInfo::effects(&[]).with_traits(Traits::ALLOCATES.and(Traits::PLACED))),
        // A plan may place what `alloc` makes (`PLACED`). Stack memory stays where it is.
        ("memref.alloca", OpInfo::effects(&[]).with_traits(Traits::ALLOCATES)),
        ("memref.dealloc", OpInfo::effects(&[(Selector::Operand(0), Access::Free)])),
        // At run time it either frees its source or returns it. So the source has no life that could be planned.
        ("memref.realloc", OpInfo::escapes().with_aliases(ANY)),
        ("memref.get_global", OpInfo::pure().with_traits(Traits::EXTERNAL)),
        ("memref.global", OpInfo::effects(&[])),
        ("memref.dim", OpInfo::gives(ResultTypes::Index)),
        ("memref.rank", OpInfo::gives(ResultTypes::Index)),
        ("memref.extract_aligned_pointer_as_index", OpInfo::escapes()),
    ];
    rows.extend([
        ("memref.load", OpInfo::effects(LOAD).with_results(ResultTypes::Element)),
        ("memref.store", OpInfo::effects(STORE)),
        ("memref.copy", OpInfo::effects(COPY)),
        ("memref.prefetch", OpInfo::effects(READS)),
        ("memref.atomic_rmw", OpInfo::effects(STORE)),
        (
            "memref.generic_atomic_rmw",
            OpInfo {
                regions: Some(1),
                flow: Flow::Elements,
                ..OpInfo::effects(&[(Selector::Operand(0), Access::Update)])
            }
            .with_results(ResultTypes::Element),
        ),
        ("memref.atomic_yield", OpInfo::terminates()),
        // The transfer runs on after the op, and its wait names a tag and not the memory. So the operands escape.
        ("memref.dma_start", OpInfo::escapes()),
    ]);
    rows.extend([
        ("memref.cast", OpInfo::cast()),
        ("memref.memory_space_cast", OpInfo::cast()),
        ("memref.assume_alignment", OpInfo::cast()),
        ("memref.expand_shape", OpInfo::cast()),
        ("memref.collapse_shape", OpInfo::cast()),
        ("memref.reshape", OpInfo::cast().with_effects(&[(Selector::Operand(1), Access::Read)])),
        ("memref.subview", OpInfo::view()),
        ("memref.view", OpInfo::view()),
        ("memref.reinterpret_cast", OpInfo::view().with_aliases(BASE)),
        ("memref.extract_strided_metadata", OpInfo::view().with_aliases(BASE)),
        // The result has the same bytes in another order. MLIR does not count it among the views, so it is a cast here.
        ("memref.transpose", OpInfo::pure().with_aliases(super::CAST)),
        ("memref.distinct_objects", OpInfo::pure().with_aliases(ANY)),
        (
            "memref.alloca_scope",
            OpInfo::regions(1, Control::Once, Flow::Yields, Traits::ALLOCATION_SCOPE.and(Traits::REGION_BRANCH))
                .ending_in("memref.alloca_scope.return"),
        ),
        ("memref.alloca_scope.return", OpInfo::terminates()),
    ]);
    rows
}
