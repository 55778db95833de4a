//! The dialect scf, structured control flow: loops, branches and switches whose bodies are regions.
//!
//! In the rows: `pure` is an op that only computes and touches no memory; `terminates` is a terminator that gives
//! values to the op around it; `unlisted` is an op of which nothing is known; `regions` says how many regions an op
//! has, how they run and which values pass; `with_header` says where the form names the arguments of its region;
//! `with_segments` names the groups of operands of the generic form; `ending_in` names the terminator that the form
//! leaves out.
//! The glossary explains the values of `Control`, `Flow`, `Header` and `Traits`. The traits are those that MLIR's own
//! definition of each op has (`SCFOps.td`): there `scf.for`, `scf.parallel` and `scf.forall` are automatic allocation
//! scopes and `scf.while` is not. Where there is no `ending_in`, the form always writes the terminator.

use super::{Access, Control, Flow, Header, OpInfo, Row, Selector, Traits};

/// What is known about the ops of the dialect scf. The row with a `*` speaks for all ops without a row of their own.
pub(super) fn rows() -> Vec<Row> {
    let branch = Traits::REGION_BRANCH;
    let looping = branch.and(Traits::LOOP_LIKE);
    let scope = looping.and(Traits::ALLOCATION_SCOPE);
    vec![
        (
            "scf.for",
            OpInfo::regions(1, Control::Loop, Flow::Carried, scope)
                .with_header(Header::Assigned)
                .ending_in("scf.yield"),
        ),
        ("scf.while", OpInfo::regions(2, Control::Loop, Flow::While, looping).with_header(Header::Assigned)),
        ("scf.if", OpInfo::regions(2, Control::Alternatives, Flow::Yields, branch).ending_in("scf.yield")),
        (
            "scf.index_switch",
            OpInfo::regions(u32::MAX, Control::Alternatives, Flow::Yields, branch).ending_in("scf.yield"),
        ),
        ("scf.execute_region", OpInfo::regions(1, Control::Once, Flow::Yields, branch)),
        (
            "scf.parallel",
            OpInfo::regions(1, Control::Parallel, Flow::None, scope)
                .with_header(Header::Indices)
                .with_segments(&["lower", "upper", "step", "init"])
                .ending_in("scf.reduce"),
        ),
        // The reductions of an `scf.parallel` and the insertions of an `scf.forall` have regions, whose ops have their
        // own rows, and do nothing besides. They end the body of their loop, but hand nothing out of it as a `yield`
        // does: reductions are about numbers, and insertions write the buffers that the loop shares. So `scf.parallel`
        // has no flow of memory either.
        ("scf.reduce", OpInfo::regions(u32::MAX, Control::Once, Flow::Elements, Traits::EFFECT_FREE)),
        ("scf.reduce.return", OpInfo::terminates()),
        (
            "scf.forall",
            OpInfo::regions(1, Control::Parallel, Flow::SharedOuts, scope)
                .with_header(Header::Indices)
                .with_segments(&["lower", "upper", "step", "shared_outs"])
                .ending_in("scf.forall.in_parallel"),
        ),
        ("scf.forall.in_parallel", OpInfo::regions(1, Control::Once, Flow::None, Traits::EFFECT_FREE)),
        ("scf.yield", OpInfo::terminates()),
        // `scf.condition` stands at the end of the first region of an `scf.while`, but control may go on to the second
        // region. So it does not count as a terminator that gives values to the op around it (`RETURN_LIKE`). The
        // lowering of `scf.while` handles it.
        ("scf.condition", OpInfo::pure()),
        // An op of this dialect that is not known works on its operands and keeps none of them, as all of them do.
        ("scf.*", OpInfo { effects: vec![(Selector::All, Access::Update)].into(), ..OpInfo::unlisted() }),
    ]
}
