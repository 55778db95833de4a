//! Which op has certainly ended before which other begins, before any reuse adds a wait.
//!
//! Pipes run side by side; each of them does its ops in order. Three things order ops of different pipes: a data
//! dependence (an op waits for it anyway), a barrier, and a flag that one pipe sets and another one waits for.
//!
//! ```text
//!   mte2    load a ──┐           load c
//!   vector           └► exp a,b ──┐            load a is over before store b begins: exp b waits for the one,
//!   mte3                          └► store b   store b for the other. Nothing orders store b and load c.
//! ```
//!
//! An op is *over* when it has ended. Every op has a *clock*: for each pipe the number of that pipe's last op that is
//! certainly over when the op begins. An op's clock is the maximum, pipe by pipe, of the clock of the op before it on
//! its own pipe and of the clocks of the ops that it depends on, each with that op itself added.
//!
//! ```text
//!   position, op    pipe      clock when it begins (mte2, vector, mte3): one more than a position, 0 for nothing
//!   0  load a       mte2      0 0 0
//!   1  exp a, b     vector    1 0 0     waits for load a
//!   2  store b      mte3      1 2 0     waits for exp, which knew that load a is over
//!   3  load c       mte2      1 0 0     knows what its own pipe has done, and no more
//! ```
//!
//! A branch may not be taken, so what is learned in a branch does not count for the ops that follow the branch. To find
//! what one iteration knows of the one before, the body is walked twice, as if two iterations were written one after
//! the other. In the second iteration a buffer with several slots is another buffer.
//!
//! The clocks only put a price on reuse (`waits`): a wait that is overlooked makes a plan slower, never wrong. So loops
//! are taken to run at least once, and a flag that is set again before an op waits for it counts as set then.

use std::collections::BTreeMap;

use memplan_program::{Control, FunctionId, OpId, RegionId, SiteId};
use smallvec::{SmallVec, smallvec};

use super::{KernelView, pipes};

/// An op that uses buffers or orders pipes.
pub(super) struct Step {
    pub(super) op: OpId,
    /// The number of its pipe.
    pub(super) pipe: usize,
    /// The buffers it uses, and whether it writes them.
    pub(super) accesses: Vec<(SiteId, bool)>,
    /// The branches around it, the outermost first: the op with the branches, and the region that is taken.
    branches: Vec<(OpId, RegionId)>,
    /// What it does to the order of pipes; `None` for an op that only computes or moves data.
    sync: Option<Sync>,
}

/// Ops that order pipes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Sync {
    /// Every pipe waits for every other one.
    Barrier,
    /// The pipe `from` sets a flag when it has done everything before this op.
    Set { from: usize, flag: String },
    /// The pipe `to` waits for that flag.
    Wait { to: usize, flag: String },
}

/// For each pipe, one more than the position of its last step that is over; 0 if no step of the pipe is over. A pipe
/// does its steps in order, so if one step is over, all earlier steps of its pipe are over, too.
type Clock = SmallVec<[u32; 8]>;

/// Adds to a clock what another one knows.
fn join(clock: &mut Clock, other: &Clock) {
    clock.iter_mut().zip(other).for_each(|(own, &other)| *own = (*own).max(other));
}

/// The steps of a function, and what is ordered among them.
pub(super) struct Order {
    /// The steps in program order. They are called by their positions.
    pub(super) steps: Vec<Step>,
    /// For each step what is over when it begins.
    starts: Vec<Clock>,
    /// For each loop the position of its first step, and for each step of its body what is over when that step begins
    /// in the second of two iterations. Positions in these clocks count from the first step of the first iteration.
    loops: BTreeMap<OpId, (usize, Vec<Clock>)>,
}

impl Order {
    /// Walks over the function once, to find which steps are over when each step begins. Then walks over the body of
    /// each loop twice, to find which steps of one iteration are over when each step of the next iteration begins.
    pub(super) fn new(view: &KernelView, function: FunctionId) -> Order {
        let mut names: Vec<&str> = Vec::new();
        let steps = steps(view, function, &mut names);
        let pipes = names.len();
        // The whole function, from position 0 on, with no loop around it.
        let starts = Walk::new(pipes, None).over(&steps, 0);
        let mut loops = BTreeMap::new();
        for op in steps.iter().flat_map(|step| loops_around(view, step.op)) {
            loops.entry(op).or_insert_with(|| twice(view, &steps, op, pipes));
        }
        Order { steps, starts, loops }
    }

    /// Whether a step is certainly over when a later one begins: they are on the same pipe, or the later one's clock
    /// says so.
    pub(super) fn is_over(&self, earlier: usize, later: usize) -> bool {
        let step = &self.steps[earlier];
        // Clocks hold one more than a position, so `> earlier` says that the position `earlier` is over.
        step.pipe == self.steps[later].pipe || self.starts[later][step.pipe] as usize > earlier
    }

    /// Whether the step `earlier` of one iteration of the loop `around` is certainly over when the step `later` of the
    /// next iteration begins. In the text `later` may stand before `earlier`, or be the same step.
    pub(super) fn is_over_around(&self, around: OpId, earlier: usize, later: usize) -> bool {
        let pipe = self.steps[earlier].pipe;
        let Some((first, starts)) = self.loops.get(&around) else { return false };
        // The clocks of a loop count from its first step, so both positions are made relative to it.
        pipe == self.steps[later].pipe || starts[later - first][pipe] as usize > earlier - first
    }
}

/// The loops around an op, the innermost first.
pub(super) fn loops_around<'v>(view: &'v KernelView, op: OpId) -> impl Iterator<Item = OpId> + 'v {
    let program = &view.lowered.program;
    program.ancestors(op).filter(|&op| matches!(program.op(op).control(), Control::Loop(_) | Control::While))
}

/// Walks over the body of a loop twice. Gives the position of its first step, and what is over when each step of the
/// second iteration begins.
fn twice(view: &KernelView, steps: &[Step], around: OpId, pipes: usize) -> (usize, Vec<Clock>) {
    // Steps are in program order, so those of the body stand together.
    let first = steps.partition_point(|step| step.op < around);
    let end = steps.partition_point(|step| step.op <= view.tree.last_inside(around));
    let body = &steps[first..end];
    let mut walk = Walk::new(pipes, Some(around));
    walk.over(body, 0);
    // If the loop rotates the slots of a buffer, the next iteration uses another slot. So no op of the second iteration
    // waits for an op of the first one because of this buffer, and what was noted about its users is forgotten.
    let program = &view.lowered.program;
    let stays = |site: SiteId| program.site(site).slots == 1 || program.rotation(site) != Some(around);
    walk.state.written.retain(|&site, _| stays(site));
    walk.state.read.retain(|&site, _| stays(site));
    (first, walk.over(body, body.len()))
}

/// The ops of a function that touch buffers or order pipes. `names` numbers the pipes.
fn steps<'v>(view: &'v KernelView, function: FunctionId, names: &mut Vec<&'v str>) -> Vec<Step> {
    let program = &view.lowered.program;
    let Some((first, last)) = view.tree.function_range(function) else { return Vec::new() };
    let mut steps = Vec::new();
    for (op, info) in program.ops().iter_enumerated().filter(|&(op, _)| first <= op && op <= last) {
        // The op of the text that this op of the program was made from.
        let written = view.lowered.ops[op];
        // The buffers that the op may access, by any alias, and whether it writes them.
        let mut accesses: Vec<(SiteId, bool)> = Vec::new();
        for access in &info.accesses {
            accesses.extend(view.aliases.sites(access.value).iter().map(|&site| (site, access.kind.writes())));
        }
        // The pipes that the op orders, by their numbers instead of their names.
        let sync = pipes::sync(view.document, written).map(|sync| match sync {
            pipes::Sync::Barrier => Sync::Barrier,
            pipes::Sync::Set { from, flag } => Sync::Set { from: number_of(names, from), flag },
            pipes::Sync::Wait { to, flag } => Sync::Wait { to: number_of(names, to), flag },
        });
        // Ops that touch no buffer and order no pipes make nobody wait.
        if accesses.is_empty() && sync.is_none() {
            continue;
        }
        accesses.sort_unstable();
        accesses.dedup();
        let pipe = number_of(names, pipes::of_op(view, written));
        steps.push(Step { op, pipe, accesses, branches: branches(view, op), sync });
    }
    steps
}

/// The position of a name in a list of names. A name that is not in the list yet is added.
fn number_of<'v>(names: &mut Vec<&'v str>, name: &'v str) -> usize {
    let known = names.iter().position(|&other| other == name);
    known.unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    })
}

/// The branches an op is in, the outermost first.
fn branches(view: &KernelView, op: OpId) -> Vec<(OpId, RegionId)> {
    let program = &view.lowered.program;
    // The region that an op stands in directly.
    let region = |op: OpId| program.block(program.op(op).block).region;
    let inside = std::iter::once(op).chain(program.ancestors(op));
    let mut path: Vec<(OpId, RegionId)> = inside
        .filter_map(|op| Some((program.parent(op)?, region(op))))
        .filter(|&(parent, _)| matches!(program.op(parent).control(), Control::Alternatives { .. }))
        .collect();
    path.reverse();
    path
}

/// What is known at some point of a walk.
#[derive(Clone, Default)]
struct State {
    /// For each pipe what is over when its next op begins, as far as the pipe itself knows.
    pipes: Vec<Clock>,
    /// For each buffer what is over once all its writers so far are over.
    written: BTreeMap<SiteId, Clock>,
    /// For each buffer what is over once all its readers so far are over.
    read: BTreeMap<SiteId, Clock>,
    /// For each flag what was over when it was last set.
    flags: BTreeMap<String, Clock>,
}

/// A walk over steps in program order.
struct Walk {
    state: State,
    /// The loop whose body is walked; `None` for a whole function. Branches around the loop contain all steps of the
    /// walk, so they are not left during the walk and need not be looked at.
    within: Option<OpId>,
    /// The branches around the last step, the outermost first, each with what was known in front of it.
    inside: Vec<((OpId, RegionId), State)>,
}

impl Walk {
    /// A walk at whose start nothing is over.
    fn new(pipes: usize, within: Option<OpId>) -> Walk {
        let state = State { pipes: vec![smallvec![0; pipes]; pipes], ..State::default() };
        Walk { state, within, inside: Vec::new() }
    }

    /// Walks over steps and gives for each what is over when it begins. The first of them has the position `base`.
    fn over(&mut self, steps: &[Step], base: usize) -> Vec<Clock> {
        let mut starts = Vec::with_capacity(steps.len());
        for (position, step) in steps.iter().enumerate() {
            self.enter(step);
            starts.push(self.step(step, (base + position + 1) as u32));
        }
        // Behind the last step all branches have been left.
        self.leave(0);
        starts
    }

    /// Leaves branches that a step is not in, and enters those that it is in.
    fn enter(&mut self, step: &Step) {
        // A branch around the loop `within` is an op that comes before the loop in the program, so its id is smaller.
        // If a whole function is walked, `within` is `None`. `None` is less than every op, so no branch is left out.
        let around = step.branches.partition_point(|&(op, _)| Some(op) < self.within);
        let branches = &step.branches[around..];
        // The number of outermost branches that the last step and this one have in common.
        let same = self.inside.iter().zip(branches).take_while(|((branch, _), other)| branch == *other).count();
        self.leave(same);
        for &branch in &branches[same..] {
            self.inside.push((branch, self.state.clone()));
        }
    }

    /// Leaves all but the outermost `keep` branches. What was learned in them is forgotten: the state is again what
    /// it was in front of the outermost branch that is left.
    fn leave(&mut self, keep: usize) {
        if let Some((_, state)) = self.inside.drain(keep..).next() {
            self.state = state;
        }
    }

    /// Takes one step: gives the clock with which the step begins (which steps are over then), and brings the state up
    /// to date. `done` is the number by which clocks name this step: one more than its position.
    fn step(&mut self, step: &Step, done: u32) -> Clock {
        let State { pipes, written, read, flags } = &mut self.state;
        match &step.sync {
            // A barrier makes every pipe wait for every other one. So afterwards each pipe knows of every step that
            // some pipe knew to be over: the maximum of all clocks.
            Some(Sync::Barrier) => {
                let mut all = pipes[0].clone();
                pipes.iter().for_each(|clock| join(&mut all, clock));
                pipes.iter_mut().for_each(|clock| clock.clone_from(&all));
            }
            // The flag keeps what the setting pipe knows at this moment.
            Some(Sync::Set { from, flag }) => {
                flags.insert(flag.clone(), pipes[*from].clone());
            }
            // The waiting pipe learns what the flag keeps.
            Some(Sync::Wait { to, flag }) => {
                // If the flag was not set in this walk (it is set before the loop whose body is walked, or in a branch
                // that was left), nothing is known about it.
                if let Some(clock) = flags.get(flag) {
                    join(&mut pipes[*to], clock);
                }
            }
            None => {}
        }
        // The step begins with what its own pipe knows, and with what it learns by waiting for data. An op that reads a
        // buffer waits for the writers of the buffer. An op that writes a buffer waits for its readers as well.
        let mut start = pipes[step.pipe].clone();
        for (site, writes) in &step.accesses {
            written.get(site).into_iter().for_each(|clock| join(&mut start, clock));
            read.get(site).filter(|_| *writes).into_iter().for_each(|clock| join(&mut start, clock));
        }
        // An op that only orders pipes uses no bytes. No later op waits for it, and its own pipe learns nothing more.
        if step.accesses.is_empty() {
            return start;
        }
        // The clock at the end of this step: the clock at its start, with the step itself added.
        let mut over = start.clone();
        over[step.pipe] = done;
        // Whoever waits for the writers (or readers) of a buffer from now on waits for this step, too, and learns what
        // this step knew.
        for &(site, writes) in &step.accesses {
            let users = if writes { &mut *written } else { &mut *read };
            users.entry(site).and_modify(|clock| join(clock, &over)).or_insert_with(|| over.clone());
        }
        // The next op on this pipe begins when this step is over.
        pipes[step.pipe] = over;
        start
    }
}
