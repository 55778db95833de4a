//! A program together with everything found out about it.
//!
//! The analyses run one after the other: `Aliases` says which values are the same memory, `OpTree` how ops are
//! nested in regions, `Lifetimes` when each site is in use. A collector makes a problem of them; `Collected` has
//! the problem, the site of each of its buffers, and the sites that are left alone because they cannot be placed. A
//! `Group` is the buffers of one scope in one memory; it becomes a space.

use std::collections::HashMap;

use memplan_analysis::{Aliases, Collected, Group, Lifetimes, OpTree, TickCollector};
use memplan_core::{
    Buffer, BufferId, Id, IndexVec, Lifetime, Plan, Problem, ProblemBuilder, ProblemError, Size, Space, SpaceId, Span,
};
use memplan_program::{Program, SiteId, Size as SiteSize, text};
use memplan_verify::dataflow::SitePlan;

use crate::finding::{self, Finding};

/// A program, its aliases and lifetimes, and the problem they make.
#[derive(Clone, Debug)]
pub struct Analyzed {
    /// The program itself.
    program: Program,
    /// Which values are which buffers.
    aliases: Aliases,
    /// The nesting of ops in regions.
    tree: OpTree,
    /// When each site is in use.
    lifetimes: Lifetimes,
    /// The problem, with the site that each of its buffers comes from.
    collected: Collected,
    /// Which space each site is in, those that are left alone included.
    homes: Homes,
}

impl Analyzed {
    /// Runs the analyses. Fails if the sizes or the number of buffers are too large for a problem.
    pub fn new(program: Program) -> Result<Analyzed, ProblemError> {
        let aliases = Aliases::new(&program);
        let tree = OpTree::new(&program);
        let lifetimes = Lifetimes::new(&program, &aliases, &tree);
        let collected = TickCollector::default().collect_from(&program, &lifetimes)?;
        let homes = Homes::new(&program, &collected);
        Ok(Analyzed { program, aliases, tree, lifetimes, collected, homes })
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The buffers that can be placed.
    pub fn problem(&self) -> &Problem {
        &self.collected.problem
    }

    /// Where the source allocates each buffer of [`problem`](Analyzed::problem).
    pub fn spans(&self) -> IndexVec<BufferId, Span> {
        let span = |&site: &SiteId| self.program.values()[self.program.sites()[site].value].span;
        self.collected.sites.iter().map(span).collect()
    }

    /// The program as text.
    pub fn program_text(&self) -> String {
        text::print(&self.program)
    }

    /// Which values are which buffers, as text.
    pub fn aliases_text(&self) -> String {
        self.aliases.dump(&self.program)
    }

    /// When each buffer is alive, as text.
    pub fn lifetimes_text(&self) -> String {
        self.lifetimes.dump(&self.program, &self.tree)
    }

    /// A note for each buffer that keeps its own allocation, and why.
    pub fn left_alone(&self) -> Vec<String> {
        let names = self.program.site_names();
        let note = |&(site, why): &(SiteId, memplan_analysis::LeftAlone)| {
            format!("{} keeps its own allocation: {}", names[site], why.describe())
        };
        self.collected.left_alone.iter().map(note).collect()
    }

    /// The site that each buffer of [`problem`](Analyzed::problem) stands for.
    pub(crate) fn sites(&self) -> &[SiteId] {
        self.collected.sites.as_slice()
    }

    /// The buffer that stands for a site; `None` for sites that are left alone.
    pub(crate) fn buffer_of(&self, site: SiteId) -> Option<BufferId> {
        // The sites are collected in ascending order, so a binary search finds them.
        self.sites().binary_search(&site).ok().map(BufferId::from_index)
    }

    /// Where a plan for [`problem`](Analyzed::problem) puts each site, for the dataflow check.
    pub(crate) fn site_plan(&self, plan: &Plan) -> SitePlan {
        self.by_site(&self.collected.sites, plan)
    }

    /// In which ways a plan for [`problem`](Analyzed::problem) changes what the program means.
    pub fn check(&self, plan: &Plan) -> Vec<Finding> {
        finding::in_dataflow(&self.program, &self.site_plan(plan))
    }

    /// The problem against which another tool's plan for this program is read:
    /// every allocation is a buffer of it, also those we would leave alone, and
    /// lifetimes are not in it. Whether sharing is right is for
    /// [`check_any`](Analyzed::check_any) to say.
    pub fn problem_of_any_plan(&self) -> Result<Problem, ProblemError> {
        let names = self.program.site_names();
        let mut builder = ProblemBuilder::new();
        // Spaces get their numbers in this order, which is that of `homes`.
        for group in &self.homes.groups {
            builder.space(Space::new(group.name(&self.program)));
        }
        for (id, site) in self.program.sites().iter_enumerated() {
            let mut buffer = Buffer::new(names[id].as_str(), 0, Lifetime::default());
            buffer.alignment = site.alignment;
            buffer.slots = site.slots;
            buffer.spaces.extend(self.homes.of_site[id]);
            buffer.size = match &site.size {
                SiteSize::Known(bytes) => Size::Fixed(*bytes),
                SiteSize::Symbolic { symbol, bound } => {
                    Size::Symbolic { symbol: symbol.as_ref().into(), at_most: *bound }
                }
            };
            builder.buffer(buffer);
        }
        builder.build()
    }

    /// In which ways a plan for [`problem_of_any_plan`](Analyzed::problem_of_any_plan)
    /// changes what the program means.
    pub fn check_any(&self, plan: &Plan) -> Vec<Finding> {
        // In that problem the buffers are all sites, in their order.
        let sites: IndexVec<BufferId, SiteId> = self.program.sites().ids().collect();
        finding::in_dataflow(&self.program, &self.by_site(&sites, plan))
    }

    /// A plan sorted by sites, given the site of each of its buffers, with the op that owns each space.
    fn by_site(&self, sites: &IndexVec<BufferId, SiteId>, plan: &Plan) -> SitePlan {
        let mut by_site = SitePlan::empty(&self.program);
        for (buffer, &site) in sites.iter_enumerated() {
            by_site.placements[site] = plan.placements.get(buffer).cloned().flatten();
        }
        // A space that belongs to an op, such as a parallel loop, exists once for each instance of the op.
        let scopes = self.homes.groups.iter_enumerated();
        by_site.owners = scopes.filter_map(|(space, group)| Some((space, group.scope?))).collect();
        by_site
    }
}

/// Which space of a problem each site is in. The spaces are groups of buffers that are placed together (those of one
/// scope in one memory): first the spaces of the collected problem, then those in which every site is left alone.
/// `None` for a site that no op allocates.
#[derive(Clone, Debug)]
struct Homes {
    /// The group of each space.
    groups: IndexVec<SpaceId, Group>,
    /// The space of each site.
    of_site: IndexVec<SiteId, Option<SpaceId>>,
}

impl Homes {
    /// Numbers the groups: those of the collected problem keep their space, and groups of which no site was collected
    /// get the next numbers.
    fn new(program: &Program, collected: &Collected) -> Homes {
        let mut groups = collected.groups.clone();
        let mut known: HashMap<Group, SpaceId> =
            groups.iter_enumerated().map(|(space, &group)| (group, space)).collect();
        // A group that is met for the first time becomes a new space.
        let mut home = |site: SiteId| {
            let group = Group::of(program, site)?;
            Some(*known.entry(group).or_insert_with(|| groups.push(group)))
        };
        let of_site = program.sites().ids().map(&mut home).collect();
        Homes { groups, of_site }
    }
}
