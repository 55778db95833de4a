//! Which buffers have to be followed at all.
//!
//! Following the contents of a buffer byte by byte costs much time, and most buffers do not need it. The bytes
//! of a buffer can only be lost between its first and its last access, and only to an op that
//! writes them in that time. So every buffer gets a *stretch* of the program in which all of its
//! accesses happen, ops counted in program order:
//!
//! ```text
//!   0  alloc %x                 %x, %y and %z lie on the same bytes.
//!   1  alloc %y                 %x: 2..4     its accesses are at 2 and 3
//!   2  write %x                 %y: 4..9     the loop may come back from 6 to 5: all of 4..7 counts
//!   3  read %x                  %z: 8..10
//!   4  loop {
//!   5    write %y               %x shares time with nobody: whatever lies on its bytes is written
//!   6    read %y                before or after, and it is left out as if it had memory of its own.
//!      }                        %y and %z share op 8: both are followed.
//!   7  alloc %z
//!   8  read %y, write %z
//!   9  read %z
//! ```
//!
//! # Why leaving out hides nothing
//!
//! A stretch is only believed where it is plain that one instance of the buffer lives within it. The
//! buffer must have no other name than its own and its views, and every access must stand after the
//! alloc, inside the alloc's own block, or anywhere in its region if the alloc is in the region's first
//! block and no branch leads back. Control that comes to the access then came by the alloc,
//! and went straight on, except for what repeats in between: a loop, a parallel op, a region with
//! branches that lead back. Such an op belongs to the stretch as a whole. A buffer that iterations of a
//! parallel op have side by side is in use as long as that op runs.
//!
//! For all other buffers the stretch is the whole function. Those of which an older instance may be in
//! use beside the latest one are always followed, and so is everything in functions with asynchronous
//! work. Where one value may be several buffers, all of them are followed if one is.
//!
//! A buffer is *contested* if another one uses some of its bytes at the same time. The sweep ([`Occupied`]) may call
//! buffers contested that are not, but it misses no contested buffer: being followed without need costs time and
//! changes no verdict.
//!
//! Cost: near linear, one sorted list of stretches and one ordered map of the bytes in use.
//!
//! Words from other files: a *place* is one slot of a site at its address; a place has a *term* for each parallel op
//! whose iterations have their slices of it side by side; `hull_end` is where the last of these slices ends.
//! [`Sources`] has the values that a merged value may be, and [`Resolved`] the allocated or merged value (`root`) that
//! a value is a part of.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use memplan_core::{Id, IndexVec};
use memplan_program::{
    AccessKind, BlockId, Branch, Control, OpId, Origin, Program, Region, RegionId, SiteId, Target, ValueId,
};

use super::aliases::{Resolved, Sources};
use super::concurrent::SubtreeEnds;
use super::layout::{Layout, iterations};
use super::ops_of;

/// What the decision is made from.
pub(super) struct Sharing<'a> {
    pub(super) program: &'a Program,
    pub(super) layout: &'a Layout,
    pub(super) sources: &'a Sources,
    pub(super) resolved: &'a IndexVec<ValueId, Resolved>,
    /// One past the last op inside each op.
    pub(super) ends: &'a SubtreeEnds,
    /// Sites that are allocated at most once in a run of their function.
    pub(super) single: &'a IndexVec<SiteId, bool>,
    /// The sites each loop rotates although they are allocated outside of it.
    pub(super) rotated: &'a HashMap<OpId, Vec<SiteId>>,
    /// Regions whose blocks only branch to blocks later in the text.
    pub(super) forward: &'a IndexVec<RegionId, bool>,
}

/// For each region whether control runs through its blocks in the order of the text, perhaps leaving some out. It
/// does so if the blocks are listed in the order of the text and every branch leads to a block further down the list.
pub(super) fn forward_regions(program: &Program) -> IndexVec<RegionId, bool> {
    let mut position: IndexVec<BlockId, usize> = IndexVec::filled(0, program.blocks().len());
    for region in program.regions() {
        region.blocks.iter().enumerate().for_each(|(at, &block)| position[block] = at);
    }
    // A branch out of the region leads to no block of it.
    let leads_on = |from: BlockId, branch: &Branch| match branch.target {
        Target::Block(to) => position[from] < position[to],
        Target::Leave | Target::Break => true,
    };
    let is_forward = |region: &Region| {
        // Ops are numbered in the order of the text, so the first op of each block tells where the block stands.
        let first_ops = region.blocks.iter().filter_map(|&block| program.block(block).ops.first());
        first_ops.is_sorted()
            && region
                .blocks
                .iter()
                .all(|&block| program.block(block).branches.iter().all(|branch| leads_on(block, branch)))
    };
    program.regions().iter().map(is_forward).collect()
}

/// What is known about when a site is in use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Use {
    /// Nobody accesses it.
    #[default]
    Never,
    /// Only within these ops. There is one of these for each site, so an index has four bytes here.
    Within(Range<u32>),
    /// At any time.
    Anytime,
}

/// What tells the stretches of a site.
struct Home {
    /// The op that allocates it.
    alloc: OpId,
    /// One past the last op that control can only reach by way of the alloc.
    until: usize,
    /// The outermost parallel op whose iterations have the site side by side in one memory.
    parallel: Option<OpId>,
}

impl Use {
    /// The site is in use during these ops as well. One stretch covers all uses, and what lies between them.
    fn extend(&mut self, ops: Range<usize>) {
        let ops = ops.start as u32..ops.end as u32;
        match self {
            Use::Never => *self = Use::Within(ops),
            Use::Within(all) => {
                all.start = all.start.min(ops.start);
                all.end = all.end.max(ops.end);
            }
            Use::Anytime => {}
        }
    }
}

impl Sharing<'_> {
    /// For each site whether its contents have to be followed.
    pub(super) fn followed(&self) -> IndexVec<SiteId, bool> {
        let several_names = self.with_several_names();
        let asynchronous = self.in_asynchronous_functions();
        let (uses, escapes) = self.uses(&several_names);
        let mut followed = IndexVec::filled(false, self.program.sites().len());
        for (site, info) in self.program.sites().iter_enumerated() {
            // Of a site that is allocated many times, an older instance may be in use beside the latest one if
            // something else than its own value can name it.
            let instances_may_meet = (several_names[site] || escapes[site]) && !self.single[site];
            followed[site] = instances_may_meet || info.preload || asynchronous[site];
        }
        // A loop that rotates a site from outside moves it to another slot without an alloc, which only the full check
        // sees. (The order in a hash map does not matter here: each site only turns its own flag on.)
        self.rotated.values().flatten().for_each(|&site| followed[site] = true);
        self.mark_contested(&uses, &mut followed);
        self.follow_together(&mut followed);
        followed
    }

    /// The placed site whose own value, or a view of whose own value, this is. `None` for merged values and for memory
    /// that is not placed.
    fn named(&self, value: ValueId) -> Option<SiteId> {
        match self.program.value(self.resolved[value].root).origin {
            Origin::Alloc(site) if self.layout.is_placed(site) => Some(site),
            _ => None,
        }
    }

    /// Pairs of a merged value and something that it may be.
    fn merges(&self) -> impl Iterator<Item = (ValueId, ValueId)> + '_ {
        let roots = self.sources.lists().filter(|&(value, _)| self.resolved[value].root == value);
        roots.flat_map(|(value, sources)| sources.iter().map(move |&source| (value, source)))
    }

    /// For each site whether a merged value may be it, so that it has other names than its own and its views.
    fn with_several_names(&self) -> IndexVec<SiteId, bool> {
        let mut several = IndexVec::filled(false, self.program.sites().len());
        if self.sources.is_empty() {
            return several;
        }
        for (_, source) in self.merges() {
            if let Some(site) = self.named(source) {
                several[site] = true;
            }
        }
        several
    }

    /// The sites of functions in which some work runs at the same time as the code. Accesses of such work do not happen
    /// in program order, so that a stretch of the program says nothing about them.
    fn in_asynchronous_functions(&self) -> IndexVec<SiteId, bool> {
        let program = self.program;
        let mut asynchronous = IndexVec::filled(false, program.functions().len());
        for (id, op) in program.ops().iter_enumerated() {
            let runs_beside = match op.control() {
                Control::Async { .. } => true,
                // It is not known when such an op runs its regions, so they may run beside the code.
                Control::Unknown => !op.regions().is_empty(),
                _ => false,
            };
            if runs_beside {
                asynchronous[program.function_of(id)] = true;
            }
        }
        // A site without an alloc belongs to no single function, so it counts as asynchronous, which is the safe
        // answer.
        let is_in_one = |site| program.alloc_op(site).is_none_or(|op| asynchronous[program.function_of(op)]);
        program.sites().ids().map(is_in_one).collect()
    }

    /// For each site when it is in use, and whether it escapes. Only accesses through a site's own name and its views
    /// are seen here, so sites with other names count as used at any time.
    fn uses(&self, several_names: &IndexVec<SiteId, bool>) -> (IndexVec<SiteId, Use>, IndexVec<SiteId, bool>) {
        let program = self.program;
        let mut uses = IndexVec::filled(Use::Never, program.sites().len());
        let mut escapes = IndexVec::filled(false, program.sites().len());
        let homes = self.homes();
        // The repeating ops around the current one, outermost first.
        let mut repeating: Vec<OpId> = Vec::new();
        for (id, op) in program.ops().iter_enumerated() {
            // Leave the ops that end before this one.
            while repeating.last().is_some_and(|&around| self.ends.of(around) <= id.index()) {
                repeating.pop();
            }
            for access in &op.accesses {
                let Some(site) = self.named(access.value) else { continue };
                escapes[site] |= access.kind == AccessKind::Escape;
                match homes[site].as_ref().and_then(|home| self.stretch(home, id, &repeating)) {
                    Some(ops) => uses[site].extend(ops),
                    None => uses[site] = Use::Anytime,
                }
            }
            if self.repeats(id) {
                repeating.push(id);
            }
        }
        // For these sites the accesses above are not all: other names, a holder outside of the program or the end of a
        // loop may use them.
        for (site, info) in program.sites().iter_enumerated() {
            if several_names[site] || escapes[site] || info.preload {
                uses[site] = Use::Anytime;
            }
        }
        (uses, escapes)
    }

    /// Whether control may come to some op inside more than once, or not in the order of the text.
    fn repeats(&self, op: OpId) -> bool {
        let op = self.program.op(op);
        let straight = matches!(op.control(), Control::Once | Control::Alternatives { .. });
        op.regions().iter().any(|&region| !straight || !self.forward[region])
    }

    /// What tells the stretches of each site. `None` for a site without an alloc, whose stretches are not known.
    fn homes(&self) -> IndexVec<SiteId, Option<Home>> {
        let program = self.program;
        let reaches: IndexVec<BlockId, Option<usize>> =
            program.blocks().ids().map(|block| self.in_reach_until(block)).collect();
        let home = |site: SiteId| {
            let alloc = program.alloc_op(site)?;
            let until = reaches[program.op(alloc).block]?;
            Some(Home { alloc, until, parallel: self.shared_by_iterations(site) })
        };
        program.sites().ids().map(home).collect()
    }

    /// The ops in which a site is in use because of one access to it. `repeating` has the ops around the access that
    /// repeat, outermost first. `None` if no stretch can be given: control may come to the access without having come
    /// by the alloc (the access stands before it, or outside of its reach).
    fn stretch(&self, home: &Home, access: OpId, repeating: &[OpId]) -> Option<Range<usize>> {
        let &Home { alloc, until, parallel } = home;
        if access < alloc || access.index() >= until {
            return None;
        }
        // Control may come from the end of a repeating op back to the access. Ops that repeat the alloc as well (they
        // stand before it) do not count, since they make a new instance. Of the others the outermost one belongs to the
        // stretch as a whole.
        let outermost = repeating.get(repeating.partition_point(|&op| op < alloc));
        // Without such an op the access is over within its op. That holds for an op with regions, too: it makes its own
        // accesses before its regions run, and what happens in there are accesses of the ops inside.
        let stretch = outermost.map_or(access.index()..access.index() + 1, |&op| op.index()..self.ends.of(op));
        match parallel {
            Some(parallel) => Some(parallel.index().min(stretch.start)..self.ends.of(parallel).max(stretch.end)),
            None => Some(stretch),
        }
    }

    /// One past the last op that control can only reach by way of an alloc in a block and without going back: the end
    /// of the block, or of its region if it is the first block and no branch leads back. `None` if there is no op.
    fn in_reach_until(&self, block: BlockId) -> Option<usize> {
        let region = self.program.block(block).region;
        let blocks = &self.program.region(region).blocks;
        let last_op = |&block: &BlockId| self.program.block(block).ops.last();
        let last = match self.forward[region] && blocks.first() == Some(&block) {
            true => blocks.iter().rev().find_map(last_op),
            false => last_op(&block),
        };
        last.map(|&last| self.ends.of(last))
    }

    /// The outermost parallel op whose iterations have a site side by side in one memory; `None` if there is none.
    /// Terms are the parallel loops that the site's memory lies outside of, innermost first, hence the search from
    /// the end. A loop with one iteration has nothing side by side.
    fn shared_by_iterations(&self, site: SiteId) -> Option<OpId> {
        let place = self.layout.all_places_of(site).next()?;
        let mut terms = self.layout.places[place].terms.iter();
        terms.rfind(|term| iterations(self.program.op(term.op)) != Some(1)).map(|term| term.op)
    }

    /// Marks all sites as followed that lie on bytes that another site uses at the same time. It sweeps over the ops:
    /// in the order in which stretches begin, each place takes its bytes.
    fn mark_contested(&self, uses: &IndexVec<SiteId, Use>, followed: &mut IndexVec<SiteId, bool>) {
        // (first op, place, one past the last op)
        let mut stretches: Vec<(u32, u32, u32)> = Vec::with_capacity(self.layout.places.len());
        for (site, used) in uses.iter_enumerated() {
            let ops = match used {
                Use::Never => continue,
                Use::Within(ops) => ops.start as usize..ops.end as usize,
                Use::Anytime => match self.program.alloc_op(site) {
                    Some(alloc) => ops_of(self.program, self.program.function_of(alloc)),
                    None => 0..self.program.ops().len(),
                },
            };
            let of_place = |place| (ops.start as u32, place as u32, ops.end as u32);
            stretches.extend(self.layout.all_places_of(site).map(of_place));
        }
        stretches.sort_unstable();
        let mut occupied = Occupied::default();
        for (from, place, until) in stretches {
            let (from, until) = (from as usize, until as usize);
            let place = &self.layout.places[place as usize];
            let taken = Taken { end: place.hull_end(), until, only: Some(place.site) };
            // A place of size 0 takes no bytes.
            if place.start < taken.end {
                occupied.take(place.start, from, taken, followed);
            }
        }
    }

    /// Where a value may be one of several sites, all of them are followed if one is: what a write
    /// through the value does to one depends on whether it may be another.
    fn follow_together(&self, followed: &mut IndexVec<SiteId, bool>) {
        if self.sources.is_empty() {
            return;
        }
        // Values that merges connect are one group. A site belongs to the group of its own value.
        let mut groups = Groups { parent: HashMap::new() };
        for (value, source) in self.merges() {
            groups.unite(value, self.resolved[source].root);
        }
        if groups.parent.is_empty() {
            return;
        }
        let own_value = |site: SiteId| self.program.site(site).value;
        let mut wanted: HashMap<ValueId, bool> = HashMap::new();
        for (site, &is_followed) in followed.iter_enumerated() {
            *wanted.entry(groups.find(own_value(site))).or_default() |= is_followed;
        }
        for site in self.program.sites().ids() {
            followed[site] |= wanted.get(&groups.find(own_value(site))).is_some_and(|&wanted| wanted);
        }
    }
}

/// The bytes in use at the op where the sweep is, as disjoint intervals of addresses by their start.
#[derive(Default)]
struct Occupied {
    taken: BTreeMap<i128, Taken>,
}

/// The bytes of one buffer, or of several that overlap.
struct Taken {
    end: i128,
    /// One past the last op that uses them.
    until: usize,
    /// The only site there; `None` if there are several, which are all contested.
    only: Option<SiteId>,
}

impl Occupied {
    /// A site takes the bytes from `start` to `new.end` at op `now`. Sites that still use some of these bytes become
    /// contested, and so does the site; their intervals melt into one that belongs to several sites. Intervals whose
    /// last use is over are removed.
    fn take(&mut self, start: i128, now: usize, new: Taken, contested: &mut IndexVec<SiteId, bool>) {
        let (mut start, mut new) = (start, new);
        // Most buffers begin where one ended its life that was at least as large. Its interval is the only one on the
        // new bytes, since intervals are disjoint, and it is replaced where it is.
        if let Some(other) = self.taken.get_mut(&start)
            && other.until <= now
            && other.end >= new.end
        {
            *other = new;
            return;
        }
        loop {
            // Intervals are disjoint. If any interval overlaps the new one, so does the one with the highest start
            // below the new end. It is removed, and the loop looks for the next.
            let below = self.taken.range(..new.end).next_back();
            let Some((&other_start, _)) = below.filter(|(_, other)| other.end > start) else { break };
            let Some(other) = self.taken.remove(&other_start) else { break };
            // Nobody uses these bytes any more. The part of the interval outside of the new one is dropped as well.
            if other.until <= now {
                continue;
            }
            for site in [new.only, other.only].into_iter().flatten() {
                contested[site] = true;
            }
            start = start.min(other_start);
            new = Taken { end: new.end.max(other.end), until: new.until.max(other.until), only: None };
        }
        self.taken.insert(start, new);
    }
}

/// Values that are one group because merges connect them.
struct Groups {
    parent: HashMap<ValueId, ValueId>,
}

impl Groups {
    /// The value that stands for all values of a group (union-find). A value without a parent stands for itself.
    fn find(&mut self, value: ValueId) -> ValueId {
        let mut root = value;
        while let Some(&parent) = self.parent.get(&root) {
            root = parent;
        }
        // All values on the way get the root as their parent, so that the next question is answered faster.
        let mut at = value;
        while let Some(parent) = self.parent.get_mut(&at) {
            at = std::mem::replace(parent, root);
        }
        root
    }

    /// Makes one group of the groups of two values.
    fn unite(&mut self, one: ValueId, other: ValueId) {
        let (one, other) = (self.find(one), self.find(other));
        if one != other {
            self.parent.insert(one, other);
        }
    }
}
