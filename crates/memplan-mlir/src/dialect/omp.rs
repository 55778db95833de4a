//! OpenMP: teams of threads, shared work, tasks.
//!
//! `omp.parallel` starts a team; each of its threads runs the region, at its own
//! pace. Work inside is shared (`omp.wsloop` with its `omp.loop_nest`, `omp.sections`) or
//! left to one thread (`omp.single`, `omp.masked`): each of the other threads skips it.
//! The tables do not say that threads wait for each other at a barrier. Each thread is taken to be anywhere in the
//! region at any time, which is more than really happens.
//!
//! `omp.task` is work that some thread does later. It has ended behind a barrier, behind
//! an `omp.taskwait` of the task that started it, and at the end of the
//! `omp.taskgroup` or `omp.parallel` around it. Memory mapped to a device has copies
//! there that come back at other times, so it escapes.
//!
//! `omp.cancel` ends a construct early: a thread jumps to its end, past an `omp.taskwait` for example, and tasks that
//! have not begun never run. In a text with such an op the regions of all ops of the dialect count as running in an
//! unknown way.
//!
//! In the rows: `gives` is an op that only computes, with the rule by which its form tells the types of its results;
//! `effects` lists what an op does to which operands (its `Control` is `Once`, its `Flow` `None` and its `Header`
//! `Plain`, unless the row says otherwise); `escapes` is an op whose memory operands escape; `terminates`
//! is a terminator that gives values to the op around it; `unlisted` is an op of which nothing is known; `regions`
//! says how many regions an op has, how they run and which values pass; `with_header` says where the form names the
//! arguments of its region; `detached_by` is a word of the form, such as `nowait`, with which the code after the op
//! goes on while the region may still run; `gathering` says which tasks have ended when control has passed the op
//! (`Inside`: those started in its region; `Children`: those started by the task around it; `Team`: those of the team
//! around it); `with_aliases(UNKNOWN_ALIASES)` is for a result that may be the memory of any operand, or other memory.
//! Rules for the types of results (`ResultTypes`): `Number` is something that is certainly not memory.
//! The glossary explains the values of `Control`, `Flow`, `Header` and `Traits`.

use super::{
    Access, Control, Flow, Gathers, Header, OpInfo, READS, ResultTypes, Row, Selector, Traits, UNKNOWN_ALIASES,
};

/// All operands may be read and changed.
const UPDATES: &[(Selector, Access)] = &[(Selector::All, Access::Update)];

/// An op with a region whose arguments may be private copies of the op's operands. Which operand becomes which
/// argument is not followed (`Flow::Unknown`).
fn region(control: Control, traits: Traits) -> OpInfo {
    OpInfo::regions(1, control, Flow::Unknown, traits).with_effects(UPDATES).with_header(Header::Unknown)
}

/// A region that a new team of threads runs; tasks that they start end with it.
fn team() -> OpInfo {
    region(Control::Parallel, Traits::ALLOCATION_SCOPE.and(Traits::TEAM)).gathering(Gathers::Inside)
}

/// A region that each thread that comes by runs once, and which is over when control has passed the op. Around shared
/// work it stands for all of it.
fn wrapper() -> OpInfo {
    region(Control::Once, Traits::default())
}

/// A region that one thread of the team runs and the others skip, which is an alternative from the view of each thread.
fn one_thread() -> OpInfo {
    region(Control::Alternatives, Traits::default())
}

/// What is known about the ops of the dialect omp. The row with a `*` speaks for all ops without a row of their own.
pub(super) fn rows() -> Vec<Row> {
    let scope = Traits::ALLOCATION_SCOPE;
    let mut rows = vec![
        ("omp.*", OpInfo { header: Header::Unknown, ..OpInfo::unlisted() }),
        ("omp.parallel", team()),
        ("omp.teams", team()),
        ("omp.wsloop", wrapper()),
        ("omp.simd", wrapper()),
        ("omp.distribute", wrapper()),
        ("omp.loop", wrapper()),
        ("omp.workshare", wrapper()),
        ("omp.workshare.loop_wrapper", wrapper()),
        (
            "omp.loop_nest",
            OpInfo::regions(1, Control::Parallel, Flow::None, scope.and(Traits::LOOP_LIKE))
                .with_header(Header::Indices),
        ),
        ("omp.sections", wrapper()),
        ("omp.section", one_thread()),
        ("omp.single", one_thread()),
        ("omp.master", one_thread()),
        ("omp.masked", one_thread()),
        ("omp.critical", wrapper()),
        ("omp.ordered.region", wrapper()),
        ("omp.scope", wrapper()),
    ];
    // A task runs at some time between here and the next op that gathers tasks. A taskloop makes tasks of its
    // iterations, and the code waits for them at its end unless the text says `nogroup`. So it is neither `Async` nor a
    // `TASK`. It also waits for tasks that an iteration starts (`omp.task`). The row does not say so: such a task
    // counts as running until a later op gathers it.
    rows.extend([
        ("omp.task", region(Control::Async, scope.and(Traits::TASK))),
        ("omp.taskgroup", wrapper().gathering(Gathers::Inside)),
        ("omp.taskloop", wrapper().detached_by("nogroup")),
        ("omp.taskwait", OpInfo::effects(&[]).gathering(Gathers::Children)),
        ("omp.taskyield", OpInfo::effects(&[])),
        ("omp.barrier", OpInfo::effects(&[]).gathering(Gathers::Team)),
        ("omp.flush", OpInfo::effects(UPDATES)),
        ("omp.cancel", OpInfo::effects(&[]).with_traits(Traits::CANCELS)),
        ("omp.cancellation_point", OpInfo::effects(&[]).with_traits(Traits::CANCELS)),
        ("omp.ordered", OpInfo::effects(&[])),
        ("omp.critical.declare", OpInfo::effects(&[])),
        ("omp.terminator", OpInfo::terminates()),
        ("omp.yield", OpInfo::terminates()),
        ("omp.atomic.read", OpInfo::effects(UPDATES)),
        ("omp.atomic.write", OpInfo::effects(UPDATES)),
        // The region gets the old content as a number and yields the new one. No memory is handed over, and the
        // argument stands in the label of its block, so this row is not made by `region`.
        ("omp.atomic.update", OpInfo { regions: Some(1), flow: Flow::Elements, ..OpInfo::effects(UPDATES) }),
        ("omp.atomic.capture", wrapper()),
        ("omp.threadprivate", OpInfo::effects(READS).with_aliases(UNKNOWN_ALIASES)),
    ]);
    // Memory that is mapped to a device has a second copy there. When the copies are reconciled is not visible
    // here, so the memory escapes.
    rows.extend([
        ("omp.map.info", OpInfo::escapes().with_aliases(UNKNOWN_ALIASES)),
        ("omp.map.bounds", OpInfo::gives(ResultTypes::Number)),
        ("omp.target", region(Control::Once, scope).detached_by("nowait")),
        ("omp.target_data", wrapper()),
        ("omp.target_enter_data", OpInfo::escapes()),
        ("omp.target_exit_data", OpInfo::escapes()),
        ("omp.target_update", OpInfo::escapes()),
    ]);
    rows
}
