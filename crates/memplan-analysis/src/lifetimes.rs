//! When each buffer is in use: ticks, as in the merge-alloc document (`docs/merge-alloc.md`).
//!
//! Every op has a tick, its position in program order (the function itself is
//! tick 1, its first op tick 2). A buffer is named by its *site*, the allocation that
//! makes it; each time the allocation runs it makes an *instance*. A buffer's life is
//! the smallest range of ticks that contains every op that touches it through any
//! alias, where
//!
//! - an access inside an op that does not contain the allocation counts for the
//!   whole of that op: content may go round its loop, or be needed after another
//!   branch;
//! - an access outside an op that does contain the allocation counts for the
//!   whole of that op, too: the buffer leaves it;
//! - an access from another block of a control flow graph counts for the whole
//!   graph, whose order of execution is not the order of ticks;
//! - an access inside asynchronous work counts until the work is awaited; one inside
//!   an op that is not known, to the end of the function;
//! - a preloaded buffer is in use during all of its loop.
//!
//! ```text
//!    2  %a = alloc              a is in use during [3, 6]: it is touched in the loop, so during all of the loop
//!    3  for {
//!    4    %b = alloc            b is in use during [5, 6]: there is a fresh one in each iteration
//!    5    fill %b
//!    6    add %b to %a
//!       }
//! ```
//!
//! If several ops are around an access and not around the allocation, only the
//! outermost of them matters. So for each access the innermost op around both
//! access and allocation is found, and the two ops directly inside it (one towards
//! the access, one towards the allocation) give the range. An access in an inner
//! loop thereby counts for the outer one; the pass that the merge-alloc document
//! describes counted the inner one only, which is wrong.
//!
//! Some buffers have no such range: those that escape, and those of which two
//! instances can be alive together, because a loop carries a buffer that it also
//! allocates, or because several iterations run at once.
//!
//! Words from other files: [`Aliases`] has the sites that a value may name. The [`OpTree`] answers questions about
//! nesting: `around_both` is the innermost op around two ops, `child_towards(outer, op)` the op directly inside of
//! `outer` that holds `op`, `last_inside` the last op inside of an op, and `contains` whether one op is another one or
//! is inside of it.

use memplan_core::{IndexVec, patience};
use memplan_program::{
    AccessKind, Block, BlockId, Control, Op, OpId, Program, RegionId, SiteId, Target, TokenId, ValueId,
};

use crate::tree::position;
use crate::{Aliases, OpTree};

/// Why a buffer cannot be given a place by lifetimes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untraceable {
    /// Code outside of the program may use it at any later time.
    Escapes,
    /// A loop hands it to its next iteration or to its results.
    CarriedByLoop,
    /// Several instances of it exist at once.
    SeveralInstances,
}

impl Untraceable {
    /// The reason in a user's words.
    pub fn describe(self) -> &'static str {
        match self {
            Untraceable::Escapes => "it escapes",
            Untraceable::CarriedByLoop => "a loop carries it from one iteration to the next",
            Untraceable::SeveralInstances => "several instances of it can be alive at once",
        }
    }
}

/// The life of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// No op touches it.
    Unused,
    /// In use from the first to the last of these ops, inclusive, in program order.
    Range {
        /// First op.
        first: OpId,
        /// Last op.
        last: OpId,
    },
    /// No range of ops describes it.
    Untraceable {
        /// The reason.
        why: Untraceable,
        /// The op that shows it first, for messages.
        op: OpId,
    },
}

/// What becomes of buffers whose end cannot be told from their accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Beyond {
    /// Such a buffer has no life that a plan could rely on: [`Life::Untraceable`].
    #[default]
    GiveUp,
    /// Such a buffer is given a life that is long enough: what escapes lives to the end of
    /// its function, what a loop carries lives as long as the loop runs. The
    /// caller has to find out whether two instances of such a buffer are alive at
    /// once. Lives also begin later in this mode: at the first access, or with the
    /// outermost loop around it, and not with the whole op that holds the access.
    Prolong,
}

/// The lives of a program's buffers.
#[derive(Clone, Debug, Default)]
pub struct Lifetimes {
    lives: IndexVec<SiteId, Life>,
}

impl Lifetimes {
    /// Computes the lives of all sites. A site whose life has no clear end is given up.
    pub fn new(program: &Program, aliases: &Aliases, tree: &OpTree) -> Lifetimes {
        Lifetimes::with(program, aliases, tree, Beyond::GiveUp)
    }

    /// Computes the lives of all sites. `beyond` says what happens to a site whose life has no clear end, because its
    /// address escapes or a loop carries it: it gets a life that is long enough, or is given up.
    pub fn with(program: &Program, aliases: &Aliases, tree: &OpTree, beyond: Beyond) -> Lifetimes {
        let mut walk = Walk {
            beyond,
            program,
            aliases,
            tree,
            lives: IndexVec::filled(Life::Unused, program.sites().len()),
            graphs: Graphs::new(program),
            works: Works::new(program, tree),
        };
        // Each step extends lives or gives sites up. A site that was given up stays so, with its first reason.
        walk.accesses();
        walk.carried();
        walk.preloaded();
        walk.concurrent_instances();
        Lifetimes { lives: walk.lives }
    }

    /// The life of a site.
    pub fn life(&self, site: SiteId) -> Life {
        self.lives[site]
    }

    /// The tick of an op in its function: 2 for the first op, because the function itself has tick 1.
    pub fn tick(program: &Program, tree: &OpTree, op: OpId) -> u64 {
        let first = tree.function_range(program.function_of(op)).map_or(op, |(first, _)| first);
        position(op) - position(first) + 2
    }

    /// The text form: one line per site with its first and last tick, as in `@f/%a: [3, 6]`.
    pub fn dump(&self, program: &Program, tree: &OpTree) -> String {
        let names = program.site_names();
        let mut text = String::new();
        for (site, life) in self.lives.iter_enumerated() {
            let tick = |op| Lifetimes::tick(program, tree, op);
            let life = match *life {
                Life::Unused => "never used".to_owned(),
                Life::Range { first, last } => format!("[{}, {}]", tick(first), tick(last)),
                Life::Untraceable { why, op } => {
                    format!("left alone: {} ({} at tick {})", why.describe(), program.op(op).name, tick(op))
                }
            };
            text.push_str(&format!("{}: {life}\n", names[site]));
        }
        text
    }
}

/// The lives found so far, and what is known about the program.
struct Walk<'a> {
    beyond: Beyond,
    program: &'a Program,
    aliases: &'a Aliases,
    tree: &'a OpTree,
    lives: IndexVec<SiteId, Life>,
    graphs: Graphs,
    works: Works,
}

/// Work (not the work of the glossary) that may still run when the ops after its start run: the regions of an
/// asynchronous op, or of an op of which nothing is known ([`Control::Unknown`]).
#[derive(Clone, Copy)]
struct Pending {
    /// The op whose regions are the work.
    start: OpId,
    /// The op that awaits the work. Without one, the last op that may run beside it: the last of the function.
    end: OpId,
    /// Whether `end` awaits the work. Then the work is over when control has come past `end`, whichever way control
    /// has gone. Otherwise `end` is the end of the function, and the work may even outlast one iteration of a loop
    /// around its start.
    awaited: bool,
}

impl Walk<'_> {
    /// Extends lives by every access and by every branch that hands a buffer over.
    fn accesses(&mut self) {
        for (op, info) in self.program.ops().iter_enumerated() {
            // If the time limit has passed or the user has interrupted, the lives stay incomplete. The caller asks the
            // same question and throws them away.
            if patience::is_over() {
                return;
            }
            for access in &info.accesses {
                let escapes = access.kind == AccessKind::Escape;
                // All other kinds, a deallocation (`Free`) too, are uses. By index, because `touch` changes the lives
                // while the sites are read.
                for index in 0..self.aliases.sites(access.value).len() {
                    let site = self.aliases.sites(access.value)[index];
                    if escapes {
                        self.escape(site, op);
                    } else {
                        self.touch(site, op);
                    }
                }
            }
        }
        // A branch that hands a buffer over is a use of it, at the op that ends the block.
        for block in self.program.blocks() {
            for branch in &block.branches {
                for &value in &branch.values {
                    self.hand_over(block, value);
                }
            }
        }
    }

    /// A branch at the end of a block hands `value` to another block or to results. That is a use of the buffers which
    /// the value may be.
    fn hand_over(&mut self, block: &Block, value: ValueId) {
        let Some(op) = self.end_of(block) else { return };
        for index in 0..self.aliases.sites(value).len() {
            let site = self.aliases.sites(value)[index];
            self.touch(site, op);
        }
    }

    /// The last op of a block; of an empty one, the op around it.
    fn end_of(&self, block: &Block) -> Option<OpId> {
        block.ops.last().copied().or(self.program.region(block.region).op)
    }

    /// An op hands the address of an allocation to code that the analysis does not follow. The allocation then lives to
    /// the end of the function, or is given up, as `beyond` says.
    fn escape(&mut self, site: SiteId, op: OpId) {
        let end = self.tree.function_range(self.program.function_of(op));
        match (self.beyond, end) {
            (Beyond::Prolong, Some((_, last))) => {
                self.touch(site, op);
                self.extend(site, op, last);
            }
            _ => self.give_up(site, Untraceable::Escapes, op),
        }
    }

    /// Notes that no range of ops describes a site's life; the first reason stays.
    fn give_up(&mut self, site: SiteId, why: Untraceable, op: OpId) {
        if !matches!(self.lives[site], Life::Untraceable { .. }) {
            self.lives[site] = Life::Untraceable { why, op };
        }
    }

    /// Extends the life of a site to contain all ops from `from` to `to`.
    fn extend(&mut self, site: SiteId, from: OpId, to: OpId) {
        match &mut self.lives[site] {
            life @ Life::Unused => *life = Life::Range { first: from, last: to },
            Life::Range { first, last } => (*first, *last) = ((*first).min(from), (*last).max(to)),
            Life::Untraceable { .. } => {}
        }
    }

    /// `op` uses an instance of `site`: extends the life of the site by all ops for which that counts.
    fn touch(&mut self, site: SiteId, op: OpId) {
        // Every site is allocated by an op; `Program::check` refuses any other program.
        let Some(alloc) = self.program.alloc_op(site) else { return };
        // `around` is the innermost op around both (`None` for the function). `user` and `home` are the ops directly
        // inside it that hold the access and the allocation, or are these themselves.
        let around = self.tree.around_both(alloc, op);
        let user = self.tree.child_towards(around, op);
        let home = self.tree.child_towards(around, alloc);
        match self.beyond {
            Beyond::GiveUp => {
                self.extend_over(site, user, op);
                // The buffer leaves the op that holds its allocation, so the whole of that op counts.
                if home != alloc {
                    self.extend_over(site, home, alloc);
                }
            }
            // The life begins at the first access, unless a loop around that access comes by again. Then it begins with
            // the loop.
            Beyond::Prolong => {
                let last = if user == op { op } else { self.tree.last_inside(user) };
                self.extend(site, self.outermost_loop(user, op), last);
            }
        }
        self.extend_over_graph(site, home, user);
        // If the access is part of work that runs beside the code, the access may happen until the work is over. Work
        // may be part of other work, so the walk goes outwards. It stops at work that contains the allocation: each run
        // of that work allocates a buffer of its own, which is gone when the run is over.
        let mut pending = self.works.of_accesses(self.program, op);
        while let Some(work) = pending.filter(|work| !self.tree.contains(work.start, alloc)) {
            self.extend_over_work(site, alloc, work);
            pending = self.works.around(work.start);
        }
    }

    /// Extends the life of a site to the end of work that uses it. If the work may still run when control comes to the
    /// allocation again, two instances of the site are alive at once, and the site is given up. That cannot happen in
    /// two cases: the work is awaited and control comes past the await before it comes to the allocation again, or the
    /// allocation runs only once.
    fn extend_over_work(&mut self, site: SiteId, alloc: OpId, work: Pending) {
        let over_by_then = work.awaited && !self.repeats_within(self.tree.parent(work.end), alloc);
        if over_by_then || self.runs_once(alloc) {
            self.extend(site, work.start, work.end);
        } else {
            self.give_up(site, Untraceable::SeveralInstances, work.start);
        }
    }

    /// Whether an op may run several times while the regions of `outer` around it (the function body if `None`) run
    /// once. That is so if an op between the two may run a region more than once (everything but `Once` and
    /// `Alternatives`), or has a region of several blocks, because these may form a cycle. `false` if the op is not
    /// inside `outer`.
    fn repeats_within(&self, outer: Option<OpId>, op: OpId) -> bool {
        if outer.is_some_and(|outer| !self.tree.contains(outer, op)) {
            return false;
        }
        let inside = std::iter::successors(self.tree.parent(op), |&op| self.tree.parent(op));
        let mut inside = inside.take_while(|&op| Some(op) != outer);
        inside.any(|op| {
            // Only these run each of their regions at most once.
            let plain = matches!(self.program.op(op).control(), Control::Once | Control::Alternatives { .. });
            !plain || self.program.op(op).regions().iter().any(|&region| self.program.region(region).blocks.len() > 1)
        })
    }

    /// Whether an op certainly runs at most once each time its function is called: it stands directly in a function
    /// body of one block.
    fn runs_once(&self, op: OpId) -> bool {
        let body = self.program.functions()[self.program.function_of(op)].body;
        self.tree.parent(op).is_none() && self.program.region(body).blocks.len() == 1
    }

    /// The outermost op around `inner`, up to `outer`, whose regions, or blocks of them, may run more than once or in
    /// another order than that of the text; `inner` itself if there is none.
    fn outermost_loop(&self, outer: OpId, inner: OpId) -> OpId {
        let mut found = inner;
        // Nothing is between the two if they are one op.
        let mut around = self.tree.parent(inner).filter(|_| outer != inner);
        while let Some(op) = around {
            let plain = matches!(self.program.op(op).control(), Control::Once | Control::Alternatives { .. });
            // Blocks that branch back run again, too, and blocks that branch to one before them in the text run in
            // another order than the ticks say.
            if !plain || self.program.op(op).regions().iter().any(|&region| !self.graphs.forward[region]) {
                found = op;
            }
            around = self.tree.parent(op).filter(|_| op != outer);
        }
        found
    }

    /// Extends the life of a site by `outer` and everything inside it if `inner` is inside `outer`. If both are the
    /// same op, only that op counts and not its regions: the accesses of an op happen before its regions run.
    fn extend_over(&mut self, site: SiteId, outer: OpId, inner: OpId) {
        let last = if outer == inner { inner } else { self.tree.last_inside(outer) };
        self.extend(site, outer, last);
    }

    /// If allocation and use are in two blocks of one control flow graph, the order of ticks need not be the order of
    /// execution. Then the buffer lives during the whole graph, except where all branches lead forward and the caller
    /// asks for lives that are just long enough ([`Beyond::Prolong`]).
    fn extend_over_graph(&mut self, site: SiteId, home: OpId, user: OpId) {
        let (home_block, user_block) = (self.program.op(home).block, self.program.op(user).block);
        let region = self.program.block(home_block).region;
        if home_block == user_block || region != self.program.block(user_block).region {
            return;
        }
        if self.beyond == Beyond::Prolong && self.graphs.forward[region] {
            return;
        }
        if let Some((first, last)) = self.graphs.range(self.tree, region) {
            self.extend(site, first, last);
        }
    }

    /// Finds the values that loops and cycles of blocks hand from one round to the next, and notes that the buffers
    /// which they may be go round.
    fn carried(&mut self) {
        for (block, info) in self.program.blocks().iter_enumerated() {
            let region = info.region;
            let around = self.program.region(region).op;
            let repeats =
                around.is_some_and(|op| matches!(self.program.op(op).control(), Control::Loop(_) | Control::While));
            for branch in &info.branches {
                // Whether the branch leads to another round: the end of a loop's body does, a break does not, and a
                // branch between blocks does if both blocks are on one cycle.
                let round = match branch.target {
                    Target::Leave => repeats,
                    Target::Break => false,
                    Target::Block(target) => self.graphs.same_cycle(block, target),
                };
                if !round {
                    continue;
                }
                for &value in &branch.values {
                    self.carry(value, info, branch.target);
                }
            }
        }
    }

    /// A branch at the end of `block` leads back with a value. The buffers that the value may be go round: in a loop
    /// (`Target::Leave`) all of them, in a cycle of blocks only those that are allocated inside of the op around the
    /// cycle.
    fn carry(&mut self, value: ValueId, block: &Block, target: Target) {
        let Some(op) = self.end_of(block) else { return };
        let around = self.program.region(block.region).op;
        for index in 0..self.aliases.sites(value).len() {
            let site = self.aliases.sites(value)[index];
            // What was allocated outside of the op around a cycle is one instance, however often the cycle passes it
            // on.
            let alloc = self.program.alloc_op(site);
            let allocated_inside =
                alloc.is_some_and(|alloc| around.is_none_or(|around| self.tree.contains(around, alloc)));
            if target == Target::Leave || allocated_inside {
                self.go_round(site, block.region, op);
            }
        }
    }

    /// A loop, or a cycle of blocks, hands a buffer from one round to the next. The site is given up, or lives as long
    /// as the op around the region runs; if that is the function, as long as its graph of blocks.
    fn go_round(&mut self, site: SiteId, region: RegionId, op: OpId) {
        if self.beyond == Beyond::GiveUp {
            return self.give_up(site, Untraceable::CarriedByLoop, op);
        }
        match self.program.region(region).op {
            Some(around) => self.extend(site, around, self.tree.last_inside(around)),
            None => {
                if let Some((first, last)) = self.graphs.range(self.tree, region) {
                    self.extend(site, first, last);
                }
            }
        }
    }

    /// A preloaded buffer is filled ahead for the next iterations: it is in use
    /// during all of its loop.
    fn preloaded(&mut self) {
        for (site, _) in self.program.sites().iter_enumerated().filter(|(_, info)| info.preload) {
            let Some(rotating) = self.program.rotation(site) else { continue };
            self.extend(site, rotating, self.tree.last_inside(rotating));
        }
    }

    /// Looks at the ops around each allocation, up to its *owner*: the scope (such as a parallel loop) each instance
    /// of which has memory of its own. An op between the two that runs several instances of the allocation at once
    /// makes the site untraceable; one that runs its ops in any order (a dag), or beside the code, lengthens its life.
    fn concurrent_instances(&mut self) {
        // A block around whose allocations nothing of that kind stands. Allocations of one block have the same ops around
        // them and mostly follow each other, so the way outwards is not gone again for each of them.
        let mut plain_block = None;
        for site in self.program.sites().ids() {
            let Some(alloc) = self.program.alloc_op(site) else { continue };
            let block = self.program.op(alloc).block;
            if plain_block == Some(block) {
                continue;
            }
            let mut is_plain = true;
            let owner = self.program.owner_scope(site);
            let mut around = self.tree.parent(alloc);
            while let Some(op) = around {
                let is_owner = Some(op) == owner;
                is_plain &= matches!(
                    self.program.op(op).control(),
                    Control::Once | Control::Loop(_) | Control::While | Control::Alternatives { .. }
                ) || (is_owner && matches!(self.program.op(op).control(), Control::Parallel { .. }));
                match self.program.op(op).control() {
                    // The ops of a dag run in any order that its dependencies allow, so positions say nothing.
                    Control::Dag { .. } => self.extend(site, op, self.tree.last_inside(op)),
                    // If the parallel loop owns its buffers, each iteration has memory of its own.
                    Control::Parallel { .. } if !is_owner => {
                        self.give_up(site, Untraceable::SeveralInstances, alloc);
                    }
                    // It is not known how many instances of such a region run at once, so a buffer that is allocated
                    // inside has no single life.
                    Control::Unknown => self.give_up(site, Untraceable::SeveralInstances, alloc),
                    // Work that allocates a buffer may run beside the code that starts the work a second time. `op`
                    // stands for the allocation: the work allocates whenever `op` has started it.
                    Control::Async { .. } if !is_owner => {
                        if let Some(work) = self.works.started(op) {
                            self.extend_over_work(site, op, work);
                        }
                    }
                    _ => {}
                }
                around = self.tree.parent(op).filter(|_| !is_owner);
            }
            if is_plain {
                plain_block = Some(block);
            }
        }
    }
}

/// Work that runs beside the code: what each op starts, and what each op is part of.
struct Works {
    /// The work that each op starts, if it starts some. Both lists are empty if no op of the program starts any.
    started: IndexVec<OpId, Option<Pending>>,
    /// The innermost work around each op.
    around: IndexVec<OpId, Option<Pending>>,
}

impl Works {
    /// Finds where the work that each op starts is over: at the first op behind it in its block that awaits it, or at
    /// an op further down in a block around it that awaits all work with the same token. Without such an op the work
    /// may run until the end of the function. Nothing awaits the regions of an op with [`Control::Unknown`].
    fn new(program: &Program, tree: &OpTree) -> Works {
        // Most programs have no such work, and may have millions of ops.
        if !program.ops().iter().any(runs_beside) {
            return Works { started: IndexVec::new(), around: IndexVec::new() };
        }
        let mut started: IndexVec<OpId, Option<Pending>> = IndexVec::filled(None, program.ops().len());
        let awaits = awaits_by_token(program);
        for (start, info) in program.ops().iter_enumerated() {
            let end = match info.control() {
                Control::Async { token } => awaits.get(token).and_then(|ops| first_end(program, tree, start, ops)),
                Control::Unknown if !info.regions().is_empty() => None,
                _ => continue,
            };
            // Work that nobody awaits may run until the end of its function.
            let function_end = || tree.function_range(program.function_of(start)).map_or(start, |(_, last)| last);
            started[start] = Some(Pending { start, end: end.unwrap_or_else(function_end), awaited: end.is_some() });
        }
        // Ids grow from the outside in, so what is around the parent is known before it is asked for.
        let mut around: IndexVec<OpId, Option<Pending>> = IndexVec::filled(None, program.ops().len());
        for op in program.ops().ids() {
            if let Some(parent) = tree.parent(op) {
                around[op] = started[parent].or(around[parent]);
            }
        }
        Works { started, around }
    }

    /// The work that an op's own accesses belong to: the innermost work around the op. The accesses of an op with
    /// [`Control::Unknown`] may happen as late as those in its regions, so they belong to the work that it starts
    /// itself.
    fn of_accesses(&self, program: &Program, op: OpId) -> Option<Pending> {
        let late = self.started(op).filter(|_| *program.op(op).control() == Control::Unknown);
        late.or(self.around(op))
    }

    /// The work that an op starts.
    fn started(&self, op: OpId) -> Option<Pending> {
        self.started.get(op).copied().flatten()
    }

    /// The innermost work around an op.
    fn around(&self, op: OpId) -> Option<Pending> {
        self.around.get(op).copied().flatten()
    }
}

/// Whether the regions of an op may run when the ops behind it run.
fn runs_beside(op: &Op) -> bool {
    match op.control() {
        Control::Async { .. } => true,
        Control::Unknown => !op.regions().is_empty(),
        _ => false,
    }
}

/// The ops that await each token, in program order, and whether they await all of its work.
fn awaits_by_token(program: &Program) -> std::collections::HashMap<TokenId, Vec<(OpId, bool)>> {
    let mut awaits = std::collections::HashMap::<TokenId, Vec<(OpId, bool)>>::new();
    for (op, info) in program.ops().iter_enumerated() {
        for awaited in info.awaits() {
            awaits.entry(awaited.token).or_default().push((op, awaited.every));
        }
    }
    awaits
}

/// The first op of `awaits` behind which the work that `start` starts is certainly over; `None` if there is no such op.
/// `awaits` are the ops that await the token of the work, each with whether it awaits every work with the token.
fn first_end(program: &Program, tree: &OpTree, start: OpId, awaits: &[(OpId, bool)]) -> Option<OpId> {
    let ends = |&&(op, every): &&(OpId, bool)| {
        // The await must stand behind the start in the same block, or in a block around it: only then does control come
        // by after every start. `here` is the start itself, or the op of the await's block that contains it. (An op
        // contains itself, and work cannot be awaited inside of the op that starts it.)
        let around = tree.parent(op);
        let inside = around.is_none_or(|around| tree.contains(around, start) && around != start);
        let Some(here) = inside.then(|| tree.child_towards(around, start)) else { return false };
        if here >= op || program.op(here).block != program.op(op).block {
            return false;
        }
        // In a block around it, the start may have run several times, so the await has to be one of all work with the
        // token. And no op between the two may run later than where it stands: work that is started inside of other
        // work may not have been started yet when control comes to the await.
        let outwards = std::iter::successors(tree.parent(start), |&inner| tree.parent(inner));
        let at_once = |inner: OpId| !matches!(program.op(inner).control(), Control::Async { .. } | Control::Unknown);
        here == start || (every && outwards.take_while(|&inner| inner >= here).all(at_once))
    };
    awaits.iter().find(ends).map(|&(op, _)| op)
}

/// What is known about the order of blocks in regions: a region with several blocks is a control flow graph.
struct Graphs {
    /// Blocks on a common cycle have the same number; `None` for blocks on none.
    cycle: IndexVec<BlockId, Option<u32>>,
    /// Regions whose blocks only branch to blocks behind them in the text, so that
    /// the order of ticks is an order of execution. (The two parts of a `while`
    /// are such blocks; what goes round there goes through arguments.)
    forward: IndexVec<RegionId, bool>,
    /// First op and last op of each region, both directly in the region and not inside of another op. `None` for a
    /// region without ops.
    ranges: IndexVec<RegionId, Option<(OpId, OpId)>>,
}

impl Graphs {
    /// Looks at all regions with several blocks once.
    fn new(program: &Program) -> Graphs {
        let mut graphs = Graphs {
            cycle: IndexVec::filled(None, program.blocks().len()),
            forward: program.regions().iter().map(|region| is_forward(program, &region.blocks)).collect(),
            ranges: ranges(program),
        };
        // Every cycle of the program gets a number of its own.
        let mut next = 0;
        for region in program.regions().iter().filter(|region| region.blocks.len() > 1) {
            for component in cycles(program, &region.blocks) {
                for block in component {
                    graphs.cycle[block] = Some(next);
                }
                next += 1;
            }
        }
        graphs
    }

    /// Whether control can come from each of two blocks to the other.
    fn same_cycle(&self, one: BlockId, other: BlockId) -> bool {
        self.cycle[one].is_some() && self.cycle[one] == self.cycle[other]
    }

    /// First and last op of a region, with everything inside of them; `None` for a region without ops.
    fn range(&self, tree: &OpTree, region: RegionId) -> Option<(OpId, OpId)> {
        let (first, last) = self.ranges[region]?;
        Some((first, tree.last_inside(last)))
    }
}

/// The first and the last op of every region.
fn ranges(program: &Program) -> IndexVec<RegionId, Option<(OpId, OpId)>> {
    let mut ranges: IndexVec<RegionId, Option<(OpId, OpId)>> = IndexVec::filled(None, program.regions().len());
    for block in program.blocks() {
        // The ops of a block are in program order.
        let (Some(&first), Some(&last)) = (block.ops.first(), block.ops.last()) else { continue };
        let range = &mut ranges[block.region];
        *range = Some(range.map_or((first, last), |(low, high)| (low.min(first), high.max(last))));
    }
    ranges
}

/// Whether every branch goes to a block later in the list, so that the order of the text is an order of execution.
fn is_forward(program: &Program, blocks: &[BlockId]) -> bool {
    // The usual case without a table: a single block must not branch to itself.
    if let [only] = blocks {
        return !program.block(*only).branches.iter().any(|branch| matches!(branch.target, Target::Block(_)));
    }
    let place: std::collections::HashMap<BlockId, usize> = blocks.iter().copied().zip(0..).collect();
    blocks.iter().all(|block| {
        program.block(*block).branches.iter().all(|branch| match branch.target {
            Target::Block(target) => place.get(block) < place.get(&target),
            Target::Leave | Target::Break => true,
        })
    })
}

/// The cycles of a control flow graph, which is all blocks of one region. A cycle is a largest set of blocks of which
/// every block reaches every other one by branches (a strongly connected component), if control can go round in it. On
/// a cycle a block may run before or after any other block of the cycle, so the order of the text says nothing.
///
/// This is Kosaraju's algorithm. The first pass searches forwards, along the branches, and lists each block after all
/// blocks that were found from it. The second pass takes the blocks from the end of that list and searches backwards,
/// against the branches; what it finds and has not found before is one component. Lists stand in for recursion, because
/// a text may have a chain of any number of blocks.
fn cycles(program: &Program, blocks: &[BlockId]) -> Vec<Vec<BlockId>> {
    use std::collections::{HashMap, HashSet};
    let mut predecessors: HashMap<BlockId, Vec<BlockId>> = HashMap::new();
    for &block in blocks {
        for target in successors(program, block) {
            predecessors.entry(target).or_default().push(block);
        }
    }
    // First pass, forwards. `finished` lists each block after the blocks that were found from it.
    let mut finished = Vec::with_capacity(blocks.len());
    let mut seen = HashSet::new();
    for &root in blocks {
        // When a block is found, it goes onto the stack a second time, with `done` set, and its successors above it. So
        // its second entry comes off the stack when everything that is found from the block is finished.
        let mut stack = vec![(root, false)];
        while let Some((block, done)) = stack.pop() {
            if done {
                finished.push(block);
            } else if seen.insert(block) {
                stack.push((block, true));
                stack.extend(successors(program, block).map(|target| (target, false)));
            }
        }
    }
    // Second pass, backwards, from the block that finished last to the one that finished first. A block `b` that is
    // found backwards from `root` reaches `root`. It has finished before `root`, for otherwise an earlier round of this
    // pass would have taken it. A block that reaches `root` and finishes before it was found from `root`. So `root`
    // reaches `b` as well, and all blocks that are found are one component.
    let mut assigned = HashSet::new();
    let mut components = Vec::new();
    for &root in finished.iter().rev() {
        let mut component = Vec::new();
        let mut stack = vec![root];
        while let Some(block) = stack.pop() {
            if assigned.insert(block) {
                component.push(block);
                stack.extend(predecessors.get(&block).into_iter().flatten().copied());
            }
        }
        // A block on its own is a cycle only if it branches to itself. The component is empty if an earlier round has
        // taken `root`.
        let on_cycle = match component[..] {
            [block] => successors(program, block).any(|target| target == block),
            _ => component.len() > 1,
        };
        if on_cycle {
            components.push(component);
        }
    }
    components
}

/// The blocks to which a block may branch.
fn successors(program: &Program, block: BlockId) -> impl Iterator<Item = BlockId> {
    program.block(block).branches.iter().filter_map(|branch| match branch.target {
        Target::Block(target) => Some(target),
        Target::Leave | Target::Break => None,
    })
}
