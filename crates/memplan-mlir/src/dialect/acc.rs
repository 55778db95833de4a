//! OpenACC: regions for an accelerator, and the data they work on.
//!
//! The gangs and workers of a compute region run it at the same time, and the iterations
//! of `acc.loop` are spread over them. In its `async` form a region goes on after the op. A number decides which
//! `acc.wait` waits for it, and these numbers are not followed, so it is taken to run to the end of the function. Data
//! ops make copies that come back at other times: their operands escape.
//!
//! In the rows: `gives` is an op that only computes, with the rule by which its form tells the types of its results;
//! `effects` lists what an op does to which operands; `escapes` is an op whose memory operands escape; `terminates`
//! is a terminator that gives values to the op around it; `unlisted` is an op of which nothing is known; `regions`
//! says how many regions an op has, how they run and which values pass; `with_header` says where the form names the
//! arguments of its region.
//! Rules for the types of results (`ResultTypes`): `Number` is something that is certainly not memory.
//! The glossary explains the values of `Control`, `Flow`, `Header` and `Traits`.

use super::{Access, Control, Flow, Header, OpInfo, ResultTypes, Row, Selector, Traits};

/// All operands may be read and changed.
const UPDATES: &[(Selector, Access)] = &[(Selector::All, Access::Update)];

/// Ops that map host memory to the device, change it there, or bring it back.
const DATA_OPS: &[&str] = &[
    "acc.attach",
    "acc.copyin",
    "acc.copyout",
    "acc.create",
    "acc.declare_device_resident",
    "acc.declare_link",
    "acc.delete",
    "acc.detach",
    "acc.deviceptr",
    "acc.enter_data",
    "acc.exit_data",
    "acc.firstprivate",
    "acc.getdeviceptr",
    "acc.nocreate",
    "acc.present",
    "acc.private",
    "acc.reduction",
    "acc.update",
    "acc.update_device",
    "acc.update_host",
    "acc.use_device",
];

/// An op with a region whose arguments may be private copies of the op's operands. Which operand becomes which
/// argument is not followed (`Flow::Unknown`).
fn region(control: Control, traits: Traits) -> OpInfo {
    OpInfo::regions(1, control, Flow::Unknown, traits).with_effects(UPDATES).with_header(Header::Unknown)
}

/// A region that runs on the device, beside the host if the form says `async`.
fn compute() -> OpInfo {
    region(Control::Parallel, Traits::ALLOCATION_SCOPE).detached_by("async")
}

/// What is known about the ops of the dialect acc.
pub(super) fn rows() -> Vec<Row> {
    let scope = Traits::ALLOCATION_SCOPE;
    let data = OpInfo::escapes().with_aliases(super::UNKNOWN_ALIASES);
    let mut rows: Vec<Row> = DATA_OPS.iter().map(|name| (*name, data.clone())).collect();
    // The pattern covers every op that has no row of its own.
    rows.extend([
        ("acc.*", OpInfo { header: Header::Unknown, ..OpInfo::unlisted() }),
        ("acc.parallel", compute()),
        ("acc.serial", compute()),
        ("acc.kernels", compute()),
        ("acc.loop", region(Control::Parallel, scope.and(Traits::LOOP_LIKE))),
        ("acc.data", region(Control::Once, Traits::default()).detached_by("async")),
        ("acc.host_data", region(Control::Once, Traits::default())),
        ("acc.bounds", OpInfo::gives(ResultTypes::Number)),
        ("acc.wait", OpInfo::effects(&[])),
        ("acc.init", OpInfo::effects(&[])),
        ("acc.shutdown", OpInfo::effects(&[])),
        ("acc.set", OpInfo::effects(&[])),
        ("acc.terminator", OpInfo::terminates()),
        ("acc.yield", OpInfo::terminates()),
    ]);
    rows
}
