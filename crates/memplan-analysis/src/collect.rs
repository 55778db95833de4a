//! From lifetimes to a problem: the collector stage.
//!
//! A [`Collector`] turns a program into a [`Problem`] and remembers which buffer
//! is which allocation site. Together with a strategy (problem to plan) and an
//! emitter (plan to edits) it makes a pass; any of the three can be replaced.
//!
//! Words from other files: [`Lifetimes`] has the [`Life`] of each site: a range of ops, none, or the reason why there
//! is none. [`position`] is the place of an op in program order, which is a step of the problem.

use std::collections::HashMap;

use memplan_core::{
    Buffer, BufferId, IndexVec, Interval, Lifetime, Problem, ProblemBuilder, ProblemError, Size, Space, SpaceId,
};
use memplan_program::{FunctionId, OpId, Program, Site, SiteId, Size as SiteSize};
use smallvec::smallvec;

use crate::tree::position;
use crate::{Aliases, Life, Lifetimes, OpTree, Untraceable};

/// Why a site keeps its own allocation: a collector does not put it into the problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftAlone {
    /// Its life cannot be told; see the reason, found at the op.
    Untraceable(Untraceable, OpId),
    /// Its size is only known at run time.
    UnknownSize,
    /// The collector was told not to touch it.
    Excluded,
}

impl LeftAlone {
    /// The reason in a user's words.
    pub fn describe(self) -> &'static str {
        match self {
            LeftAlone::Untraceable(why, _) => why.describe(),
            LeftAlone::UnknownSize => "its size is only known at run time",
            LeftAlone::Excluded => "it is not to be moved",
        }
    }
}

/// A problem and what it was made from.
#[derive(Clone, Debug)]
pub struct Collected {
    /// The problem; its steps are positions of ops in the program.
    pub problem: Problem,
    /// The site each buffer stands for.
    pub sites: IndexVec<BufferId, SiteId>,
    /// What each space of the problem stands for. Empty if no site is in the
    /// problem, which then has one empty space all the same.
    pub groups: IndexVec<SpaceId, Group>,
    /// Sites that are not in the problem, in program order.
    pub left_alone: Vec<(SiteId, LeftAlone)>,
}

/// Buffers that are placed together: those of one allocation scope in one memory space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Group {
    /// The function.
    pub function: FunctionId,
    /// The op whose instances own the buffers; `None` for the function.
    pub scope: Option<OpId>,
    /// The memory space in the program.
    pub space: SpaceId,
}

impl Group {
    /// The group a site belongs to; `None` if no op allocates it.
    pub fn of(program: &Program, id: SiteId) -> Option<Group> {
        let function = program.function_of(program.alloc_op(id)?);
        Some(Group { function, scope: program.owner_scope(id), space: program.site(id).space })
    }

    /// `default@main`, or `default@main/scf.forall#12` for a scope inside, by the op's number.
    pub fn name(self, program: &Program) -> String {
        let function = &program.functions()[self.function].name;
        let space = &program.spaces()[self.space];
        match self.scope {
            None => format!("{space}@{function}"),
            Some(op) => format!("{space}@{function}/{}#{}", program.op(op).name, position(op)),
        }
    }
}

/// A way to read a problem off a program.
pub trait Collector {
    /// Makes the problem of a program. An error if the program's numbers (sizes, alignments, slots) are too large for
    /// one.
    fn collect(&self, program: &Program) -> Result<Collected, ProblemError>;
}

/// Says which sites a collector leaves alone.
pub type Exclude<'a> = &'a dyn Fn(SiteId, &Site) -> bool;

/// The collector of the merge-alloc document: one range of ticks a buffer, one
/// space of the problem for each allocation scope and memory space.
#[derive(Default)]
pub struct TickCollector<'a> {
    /// Sites to leave alone besides those that cannot be traced.
    pub exclude: Option<Exclude<'a>>,
}

impl Collector for TickCollector<'_> {
    fn collect(&self, program: &Program) -> Result<Collected, ProblemError> {
        let aliases = Aliases::new(program);
        let tree = OpTree::new(program);
        let lifetimes = Lifetimes::new(program, &aliases, &tree);
        self.collect_from(program, &lifetimes)
    }
}

impl TickCollector<'_> {
    /// Collects with lifetimes that are known already: a buffer for each site that may be moved, in the space of its
    /// group.
    pub fn collect_from(&self, program: &Program, lifetimes: &Lifetimes) -> Result<Collected, ProblemError> {
        let names = program.site_names();
        let mut builder = ProblemBuilder::new();
        let mut spaces = HashMap::<Group, SpaceId>::new();
        let mut groups = IndexVec::new();
        let mut sites = IndexVec::new();
        let mut left_alone = Vec::new();
        for (id, site) in program.sites().iter_enumerated() {
            let (lifetime, size) = match self.movable(id, site, lifetimes) {
                Ok(movable) => movable,
                Err(why) => {
                    left_alone.push((id, why));
                    continue;
                }
            };
            // Buffers share memory only within their group: one allocation scope and one memory space. A site that no
            // op allocates has no group; `Program::check` rejects such a program.
            let Some(group) = Group::of(program, id) else { continue };
            // Spaces of the problem are made in the order in which groups are met, so that the result is always the
            // same.
            let space = *spaces.entry(group).or_insert_with(|| {
                groups.push(group);
                builder.space(Space::new(group.name(program)))
            });
            sites.push(id);
            builder.buffer(Buffer {
                size,
                alignment: site.alignment,
                spaces: smallvec![space],
                slots: site.slots,
                exclusive: site.exclusive,
                ..Buffer::new(names[id].as_str(), 0, lifetime)
            });
        }
        Ok(Collected { problem: builder.build()?, sites, groups, left_alone })
    }

    /// The life and the size of an allocation that the planner may move, or why it has to stay where it is.
    fn movable(&self, id: SiteId, site: &Site, lifetimes: &Lifetimes) -> Result<(Lifetime, Size), LeftAlone> {
        if self.exclude.is_some_and(|exclude| exclude(id, site)) {
            return Err(LeftAlone::Excluded);
        }
        let SiteSize::Known(bytes) = site.size else { return Err(LeftAlone::UnknownSize) };
        let lifetime = match lifetimes.life(id) {
            Life::Untraceable { why, op } => return Err(LeftAlone::Untraceable(why, op)),
            // A buffer that nothing touches is alive at no step.
            Life::Unused => Lifetime::default(),
            // `last` is still in use; lifetimes of a problem end behind their last step.
            Life::Range { first, last } => [Interval::new(position(first), position(last) + 1)].into_iter().collect(),
        };
        Ok((lifetime, Size::Fixed(bytes)))
    }
}
