//! The dialect gpu: kernels, and the ops of the host that launch them.
//!
//! An op in its `async` form runs on after it returns; the lowering takes the memory that it
//! touches to be in use for ever (it escapes).
//!
//! In the rows: `pure` is an op that only computes and touches no memory; `gives` is an op that only computes, with
//! the rule by which its form tells the types of its results; `effects` lists what an op does to which operands;
//! `escapes` is an op whose memory operands escape; `terminates` is a terminator that gives values to the op around
//! it; `unlisted` is an op of which nothing is known; `regions` says how many regions an op has, how they run and
//! which values pass; `with_header` says where the form names the arguments of its region; `ending_in` names the
//! terminator that the form leaves out.
//! Rules for the types of results (`ResultTypes`): `AsyncToken` is the types listed, and a token if the form says
//! `async`; `Index` is `index`; `Handles` is handles whose types the form does not write; `ValueAndBool` is the last
//! type listed, then `i1`.
//! The glossary explains the values of `Control`, `Flow`, `Header` and `Traits`.

use super::{Access, Control, Flow, Header, OpInfo, READS, ResultTypes, Row, Selector, Traits};

/// All operands may be read and changed.
const UPDATES: &[(Selector, Access)] = &[(Selector::All, Access::Update)];

/// Ops that return a number of the machine, such as the number of a thread.
const INDEX_OPS: &[&str] = &[
    "gpu.block_dim",
    "gpu.block_id",
    "gpu.cluster_block_id",
    "gpu.cluster_dim",
    "gpu.cluster_dim_blocks",
    "gpu.cluster_id",
    "gpu.global_id",
    "gpu.grid_dim",
    "gpu.lane_id",
    "gpu.num_subgroups",
    "gpu.subgroup_id",
    "gpu.subgroup_size",
    "gpu.thread_id",
];

/// Ops of the sparse libraries. They hand out handles of the memory that they are given, and tokens; their forms write
/// neither type.
const LIBRARY_OPS: &[&str] = &[
    "gpu.create_*",
    "gpu.destroy_*",
    "gpu.sddmm*",
    "gpu.set_csr_pointers",
    "gpu.spgemm*",
    "gpu.spmat_get_size",
    "gpu.spmm*",
    "gpu.spmv*",
];

/// An op with an `async` form, which hands out a token as an additional result.
fn asynchronous(info: OpInfo) -> OpInfo {
    info.with_results(ResultTypes::AsyncToken)
}

/// What is known about the ops of the dialect gpu. Rows with a `*` speak for all ops that begin so and have no row of
/// their own.
pub(super) fn rows() -> Vec<Row> {
    let scope = Traits::ALLOCATION_SCOPE;
    let function = Traits::FUNCTION.and(Traits::ISOLATED).and(scope);
    let mut rows: Vec<Row> = INDEX_OPS.iter().map(|name| (*name, OpInfo::gives(ResultTypes::Index))).collect();
    rows.push(("gpu.*", OpInfo::unlisted()));
    rows.extend(LIBRARY_OPS.iter().map(|name| (*name, OpInfo::unlisted().with_results(ResultTypes::Handles))));
    rows.extend([
        (
            "gpu.launch",
            asynchronous(OpInfo::regions(1, Control::Parallel, Flow::None, scope).with_header(Header::Launch)),
        ),
        ("gpu.terminator", OpInfo::pure()),
        ("gpu.launch_func", asynchronous(OpInfo::effects(UPDATES))),
        ("gpu.wait", asynchronous(OpInfo::effects(&[])).with_traits(Traits::AWAITS)),
        ("gpu.alloc", asynchronous(OpInfo::effects(&[])).with_traits(Traits::ALLOCATES)),
        ("gpu.dealloc", asynchronous(OpInfo::effects(&[(Selector::All, Access::Free)]))),
        ("gpu.memcpy", asynchronous(OpInfo::effects(UPDATES))),
        ("gpu.memset", asynchronous(OpInfo::effects(UPDATES))),
        ("gpu.host_register", OpInfo::escapes()),
        ("gpu.dynamic_shared_memory", OpInfo::pure().with_traits(Traits::EXTERNAL)),
    ]);
    // What follows describes the inside of kernels: functions, barriers and what the threads of a group exchange.
    rows.extend([
        ("gpu.module", OpInfo::regions(1, Control::Once, Flow::None, Traits::ISOLATED)),
        ("gpu.func", OpInfo::regions(1, Control::Once, Flow::Function, function).with_header(Header::Function)),
        ("gpu.return", OpInfo::terminates()),
        ("gpu.yield", OpInfo::terminates()),
        ("gpu.barrier", OpInfo::effects(&[])),
        ("gpu.all_reduce", OpInfo::regions(1, Control::Once, Flow::Elements, Traits::EFFECT_FREE)),
        ("gpu.shuffle", OpInfo::gives(ResultTypes::ValueAndBool)),
        ("gpu.rotate", OpInfo::gives(ResultTypes::ValueAndBool)),
        ("gpu.subgroup_mma_load_matrix", OpInfo::effects(READS)),
        ("gpu.subgroup_mma_store_matrix", OpInfo::effects(UPDATES)),
        (
            "gpu.warp_execute_on_lane_0",
            OpInfo::regions(1, Control::Alternatives, Flow::Unknown, Traits::REGION_BRANCH).ending_in("gpu.yield"),
        ),
    ]);
    rows
}
