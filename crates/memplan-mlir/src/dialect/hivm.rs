//! On-chip kernels: `hivm` ops with their marks, scopes and workspaces.
//!
//! Most `hivm.hir` ops are destination-style, `ins(…) outs(…)`: what they do to
//! which operand is decided where they are lowered, since it depends on shapes.
//! The rows here are for the others.
//!
//! In the rows: `effects` lists what an op does to which operands; the result of a `cast` is the memory of the first
//! operand; `terminates` is a terminator that gives values to the op around it; `unlisted` is an op of which nothing
//! is known; `regions` says how many regions an op has, how they run and which values pass; `with_segments` names the
//! groups of operands of the generic form; `ending_in` names the terminator that the form leaves out.
//! The glossary explains the values of `Control`, `Flow` and `Traits`.

use super::{Control, Flow, OpInfo, READS, Row, Traits};

/// What is known about the ops of the dialect hivm. A row with a `*` speaks for all ops without a row of their own.
pub(super) fn rows() -> Vec<Row> {
    vec![
        ("hivm.*", OpInfo::unlisted().with_segments(&["ins", "outs", "temp_buffer"])),
        ("hivm.hir.pointer_cast", OpInfo::effects(&[]).with_traits(Traits::EXTERNAL)),
        ("hivm.hir.bitcast", OpInfo::cast()),
        ("hivm.hir.debug", OpInfo::effects(READS)),
        ("hivm.hir.dcci", OpInfo::effects(READS)),
        ("annotation.mark", OpInfo::effects(&[])),
        ("memref_ext.alloc_workspace", OpInfo::effects(&[]).with_traits(Traits::EXTERNAL)),
        (
            "scope.scope",
            OpInfo::regions(1, Control::Once, Flow::Yields, Traits::REGION_BRANCH).ending_in("scope.return"),
        ),
        ("scope.return", OpInfo::terminates()),
    ]
}
