//! Which buffer a value may be, and the entries of the state.
//!
//! Once aliases are resolved (see `aliases`), *roots* are left: allocated
//! values, and values that control flow or a select really merges.
//! The state has one *entry* for each (root, slot of a site it may be, tag).
//!
//! ```text
//! %x alloc            root, entries (%x, x, current)
//! %v view %x[4..8]    root %x, bytes 4..8 of it
//! %m merge %x | %y    root, entries (%m, x, current) (%m, x, earlier) (%m, y, …) …
//! ```
//!
//! Two more kinds of root hold contents nobody names: the *holder* of whatever
//! escaped, and the slots of *preloaded* buffers that wait for the loop's end.
//!
//! An *instance* of a site is what one execution of its alloc made. The tag *current* stands for the latest instance,
//! *earlier* for any older one. A *place* is one slot of a site at its address, as an index into `Layout::places`.
//! A preloaded buffer is filled ahead, for iterations to come, and has to stay intact until its loop ends: the end of
//! the loop counts as a read of it.

use std::collections::BTreeSet;

use memplan_core::IndexVec;
use memplan_program::{BlockId, Control, Definition, OpId, Origin, Program, RegionId, SiteId, Target, Value, ValueId};

use super::aliases::{Resolved, Sources};
use super::layout::Layout;
use super::ranges::Range;
use super::state::{Addresses, Window};

/// Whether an entry is about the latest instance of its site or an older one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Tag {
    Current,
    Earlier,
}

/// The holder of a name for a content: through it the content may be read later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Root {
    Value(ValueId),
    /// Code outside of the program, after an escape.
    Holder,
    /// The implicit read of a preloaded buffer at the end of its loop.
    Preload,
}

/// One line of the state: `root` may be the instance of `site` that `tag` says, at `place`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) root: Root,
    pub(super) site: SiteId,
    pub(super) place: usize,
    pub(super) tag: Tag,
}

/// Which buffer each value may be, and the entries of the state, numbered by address.
#[derive(Debug)]
pub(super) struct Names<'p> {
    program: &'p Program,
    pub(super) entries: Vec<Entry>,
    /// Start addresses of the entries, ascending.
    starts: Vec<i128>,
    /// For [`Addresses`]: where the bytes that any iteration of the parallel loops around an entry's place uses end.
    /// `i128::MAX` if the place has one address in all iterations.
    hull_ends: Vec<i128>,
    /// The root of each value and the part of it that the value is.
    resolved: IndexVec<ValueId, Resolved>,
    /// The entries of each root that is a value; none for a value that is an alias.
    of_root: IndexVec<ValueId, Vec<usize>>,
    /// The entries of all roots for each site.
    of_site: IndexVec<SiteId, Vec<usize>>,
    /// The entries of the root `Holder` for each site.
    holder: IndexVec<SiteId, Vec<usize>>,
    /// The entries of the root `Preload` for each site.
    preload: IndexVec<SiteId, Vec<usize>>,
    /// Whether a root may also be memory the plan does not place.
    may_be_unplaced: IndexVec<ValueId, bool>,
    /// Sites that are allocated at most once in a run of their function.
    single: IndexVec<SiteId, bool>,
    /// For each root, the sites of which it may name an instance that is not the latest.
    older: IndexVec<ValueId, Older>,
}

impl Addresses for Names<'_> {
    /// The address where the live bytes of an entry end. For a place that lies elsewhere in each iteration, it is where
    /// all of its bytes end in any iteration.
    fn reach(&self, entry: usize, live_end: u64) -> i128 {
        match self.hull_ends[entry] {
            i128::MAX => self.starts[entry] + i128::from(live_end),
            hull_end => hull_end,
        }
    }
}

impl<'p> Names<'p> {
    /// Finds out which buffer each value may be, and numbers the entries of the state.
    pub(super) fn new(
        program: &'p Program,
        layout: &Layout,
        sources: &Sources,
        resolved: IndexVec<ValueId, Resolved>,
        single: IndexVec<SiteId, bool>,
    ) -> Names<'p> {
        // The possible buffers of each root come first, because the entries are made from them: one for each root,
        // slot and tag.
        let (sites, may_be_unplaced) = possible_sites(program, layout, sources, &resolved);
        let older = older_instances(program, sources, &resolved, &sites);
        let mut names = Names {
            program,
            entries: Vec::new(),
            starts: Vec::new(),
            hull_ends: Vec::new(),
            resolved,
            of_root: IndexVec::filled(Vec::new(), program.values().len()),
            of_site: IndexVec::filled(Vec::new(), program.sites().len()),
            holder: IndexVec::filled(Vec::new(), program.sites().len()),
            preload: IndexVec::filled(Vec::new(), program.sites().len()),
            may_be_unplaced,
            single,
            older,
        };
        names.make_entries(layout, &sites);
        names
    }

    /// Makes the entries and numbers them by address.
    fn make_entries(&mut self, layout: &Layout, sites: &IndexVec<ValueId, Vec<SiteId>>) {
        // Only sites that some op lets escape get entries for a holder. Entries for all sites would double the state
        // without need.
        let mut escaping = BTreeSet::new();
        for op in self.program.ops() {
            for access in op.accesses.iter().filter(|a| a.kind == memplan_program::AccessKind::Escape) {
                escaping.extend(sites[self.resolved[access.value].root].iter().copied());
            }
        }
        for (value, sites) in sites.iter_enumerated() {
            for &site in sites {
                self.add_entries(layout, Root::Value(value), site);
            }
        }
        for &site in &escaping {
            self.add_entries(layout, Root::Holder, site);
        }
        for (site, info) in self.program.sites().iter_enumerated() {
            if info.preload {
                self.add_entries(layout, Root::Preload, site);
            }
        }
        // Entries are numbered by address. The state relies on that order: it finds the contents on some bytes as an
        // interval tree over these numbers. The other keys only fix the order of entries with one address.
        self.entries.sort_by_key(|entry| (layout.places[entry.place].start, entry.root, entry.site, entry.tag));
        for (index, entry) in self.entries.iter().enumerate() {
            let place = &layout.places[entry.place];
            // A place has a term for each parallel loop whose iterations have the buffer at different addresses.
            self.starts.push(place.start);
            self.hull_ends.push(if place.terms.is_empty() { i128::MAX } else { place.hull_end() });
            self.of_site[entry.site].push(index);
            match entry.root {
                Root::Value(value) => self.of_root[value].push(index),
                Root::Holder => self.holder[entry.site].push(index),
                Root::Preload => self.preload[entry.site].push(index),
            }
        }
    }

    /// Adds an entry for every place at which a root may be an instance of a site: one for the latest instance and one
    /// for the older ones. The second is left out if the site has one instance only or the root can only be the latest
    /// one. What waits under the root `Preload` always counts as older.
    fn add_entries(&mut self, layout: &Layout, root: Root, site: SiteId) {
        let latest = matches!(root, Root::Value(value) if !self.older[value].contains(site));
        let tags: &[Tag] = match root {
            Root::Value(_) | Root::Holder if latest || self.single[site] => &[Tag::Current],
            Root::Value(_) | Root::Holder => &[Tag::Current, Tag::Earlier],
            Root::Preload => &[Tag::Earlier],
        };
        for place in layout.places_of(site) {
            self.entries.extend(tags.iter().map(|&tag| Entry { root, site, place, tag }));
        }
    }

    /// The root of a value, and the part of it that the value is.
    pub(super) fn resolve(&self, value: ValueId) -> Resolved {
        self.resolved[value]
    }

    /// Entries a root may have.
    pub(super) fn of_root(&self, root: ValueId) -> &[usize] {
        &self.of_root[root]
    }

    /// Entries of all roots for a site.
    pub(super) fn of_site(&self, site: SiteId) -> &[usize] {
        &self.of_site[site]
    }

    /// Entries of the root `Holder` for a site.
    pub(super) fn of_holder(&self, site: SiteId) -> &[usize] {
        &self.holder[site]
    }

    /// Entries of the root `Preload` for a site.
    pub(super) fn of_preload(&self, site: SiteId) -> &[usize] {
        &self.preload[site]
    }

    /// Whether a root can only be the latest instance of a site.
    pub(super) fn is_latest(&self, root: ValueId, site: SiteId) -> bool {
        self.single[site] || !self.older[root].contains(site)
    }

    /// Whether a root may also be memory the plan does not place.
    pub(super) fn may_be_unplaced(&self, root: ValueId) -> bool {
        self.may_be_unplaced[root]
    }

    /// The entry of a root for a place and a tag; `None` if there is none, because the root cannot be that.
    pub(super) fn find(&self, root: Root, place: usize, tag: Tag, site: SiteId) -> Option<usize> {
        let of_site = self.of_site[site].iter().copied();
        of_site.into_iter().find(|&index| {
            let entry = &self.entries[index];
            entry.root == root && entry.place == place && entry.tag == tag
        })
    }

    /// How many entries start before an address. Entries are numbered by address, so they are those below this number.
    pub(super) fn starting_before(&self, address: i128) -> usize {
        self.starts.partition_point(|&start| start < address)
    }
}

/// For each root the sites it may be, sorted, and whether it may be memory that is not placed as well: external memory,
/// sites that the plan does not place or that need not be followed, and whatever an unknown op returns.
fn possible_sites(
    program: &Program,
    layout: &Layout,
    sources: &Sources,
    resolved: &IndexVec<ValueId, Resolved>,
) -> (IndexVec<ValueId, Vec<SiteId>>, IndexVec<ValueId, bool>) {
    let mut sites: IndexVec<ValueId, Vec<SiteId>> = IndexVec::filled(Vec::new(), resolved.len());
    let mut unplaced = IndexVec::filled(false, resolved.len());
    let mut users: IndexVec<ValueId, Vec<ValueId>> = IndexVec::filled(Vec::new(), resolved.len());
    let mut work = Vec::new();
    // Start with what each value's own origin says, and with the values that are derived from each value.
    for (id, value) in program.values().iter_enumerated() {
        match value.origin {
            Origin::Alloc(site) if layout.is_placed(site) => sites[id].push(site),
            Origin::Alloc(_) | Origin::External | Origin::Opaque(_) => unplaced[id] = true,
            _ => {}
        }
        if resolved[id].root == id {
            for &source in sources.of(id) {
                users[resolved[source].root].push(id);
            }
        }
        work.push(id);
    }
    // Hand the sites on until nothing changes. Sets only grow and are bounded by the number of sites, so this
    // ends even if values go round in loops.
    while let Some(root) = work.pop() {
        let from = sites[root].clone();
        for &user in &users[root] {
            let before = (sites[user].len(), unplaced[user]);
            sites[user].extend_from_slice(&from);
            sites[user].sort_unstable();
            sites[user].dedup();
            unplaced[user] |= unplaced[root];
            if before != (sites[user].len(), unplaced[user]) {
                work.push(user);
            }
        }
    }
    (sites, unplaced)
}

/// Sites of which a value may name an instance that is not the latest.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Older {
    /// Whatever it names.
    All,
    /// Only these; often none.
    Sites(BTreeSet<SiteId>),
}

impl Older {
    /// What holds for a value before its sources are looked at: nothing is older, or everything may be.
    fn unless_latest(may_be_latest: bool) -> Older {
        if may_be_latest { Older::Sites(BTreeSet::new()) } else { Older::All }
    }

    /// Whether it names latest instances only.
    fn is_empty(&self) -> bool {
        matches!(self, Older::Sites(sites) if sites.is_empty())
    }

    fn contains(&self, site: SiteId) -> bool {
        match self {
            Older::All => true,
            Older::Sites(sites) => sites.contains(&site),
        }
    }
}

/// Which values may name older instances, and of which sites.
///
/// An allocated value names the latest instance of its site. So does a select of such values: to make a newer
/// instance, control has to come by the alloc again, and after it by everything
/// the alloc dominates, the select included, before it comes to a use of the
/// select. The same goes for the result of a branch or a loop, which is handed over
/// anew each time control leaves the op.
///
/// ```text
///   loop (a = …) {                a holds the x of the iteration before: older
///     x = alloc, y = alloc
///     m = merge x | y             the latest x or the latest y
///     r = if c {x} else {y}       the latest x or the latest y
///     s = merge a | y             the latest y, but perhaps an older x
///     yield x
///   }
/// ```
///
/// What a loop or a cycle of blocks hands to its next round is older than what that round allocates.
fn older_instances(
    program: &Program,
    sources: &Sources,
    resolved: &IndexVec<ValueId, Resolved>,
    sites: &IndexVec<ValueId, Vec<SiteId>>,
) -> IndexVec<ValueId, Older> {
    // What each value's own origin says, before its sources are looked at.
    let mut older: IndexVec<ValueId, Older> =
        program.values().iter().map(|value| Older::unless_latest(may_be_latest(program, value))).collect();
    let mut users: IndexVec<ValueId, Vec<ValueId>> = IndexVec::filled(Vec::new(), older.len());
    // What each pair of a value and a source adds, and `users`: the values that each value is a source of.
    for value in program.values().ids() {
        let base = match program.value(value).origin {
            Origin::Derived { base, .. } => Some(base),
            _ => None,
        };
        for &source in sources.of(value).iter().chain(&base) {
            users[source].push(value);
            // Control may come to a use of the value without having come by the source again. What the source names may
            // have been allocated anew since, and the value then names an older instance.
            if let (Older::Sites(known), false) = (&mut older[value], dominates(program, source, value)) {
                known.extend(&sites[resolved[source].root]);
            }
        }
    }
    // A value may name an older instance of a site if one of its sources may. This is handed on until nothing changes.
    let mut work: Vec<ValueId> =
        older.iter_enumerated().filter(|(_, older)| !older.is_empty()).map(|(value, _)| value).collect();
    while let Some(value) = work.pop() {
        let named: Vec<SiteId> = match &older[value] {
            Older::All => sites[resolved[value].root].clone(),
            Older::Sites(sites) => sites.iter().copied().collect(),
        };
        for &user in &users[value] {
            let Older::Sites(known) = &mut older[user] else { continue };
            let before = known.len();
            known.extend(&named);
            if known.len() > before {
                work.push(user);
            }
        }
    }
    older
}

/// Whether a value names latest instances if all its sources do. It does so if it is defined anew each time control
/// comes by: as the result of an op, or of the control flow of an op that has ended. It does not if it is an argument
/// of a block, which may hold what the round before handed over, or the result of an op whose regions run
/// in no fixed order (a parallel or asynchronous op, a dag, an op of unknown kind).
fn may_be_latest(program: &Program, value: &Value) -> bool {
    match (&value.origin, value.definition) {
        (Origin::Incoming, Definition::Result(op)) => {
            use Control::{Alternatives, Loop, Once, While};
            matches!(program.op(op).control(), Once | Alternatives { .. } | Loop(_) | While)
        }
        (Origin::Incoming, _) | (Origin::Opaque(_), Definition::Argument(_)) => false,
        _ => true,
    }
}

/// Whether control comes by the definition of `source` before it comes to that of `value`, whichever way it takes. The
/// source may also stand inside of the op whose result the value is. `false` may also mean that this
/// simple test cannot tell.
fn dominates(program: &Program, source: ValueId, value: ValueId) -> bool {
    let (source, value) = match (program.value(source).definition, program.value(value).definition) {
        (Definition::Global | Definition::Parameter(_), _) => return true,
        (Definition::Result(source), Definition::Result(value)) => (source, value),
        _ => return false,
    };
    // From here on `source` and `value` are the ops that define the two.
    let home = program.op(source).block;
    let same_region = |&op: &OpId| program.block(program.op(op).block).region == program.block(home).region;
    let around = |op: OpId| std::iter::once(op).chain(program.ancestors(op));
    if around(source).any(|op| op == value) {
        return true;
    }
    // `towards` is the op in the region of `source` that is `value` or has it inside. The source comes first if it
    // stands before that op in the same block, or in the first block of the region, which every way through the
    // region begins with. If there is no such op, the source is in a region that control may not have entered.
    let Some(towards) = around(value).find(same_region) else { return false };
    let entry = program.region(program.block(home).region).blocks.first() == Some(&home);
    source < towards && (program.op(towards).block == home || entry)
}

/// For each site whether its alloc runs at most once in a run of its function, because it stands in no loop, no
/// parallel op, no op of unknown kind and no cycle of blocks. A site without an alloc op counts as repeated.
pub(super) fn single_instances(program: &Program) -> IndexVec<SiteId, bool> {
    let cyclic: IndexVec<RegionId, bool> = program.regions().ids().map(|region| has_cycle(program, region)).collect();
    // An op comes before those inside of it, so the answer for the parent is there when it is needed.
    let mut repeated: IndexVec<OpId, bool> = IndexVec::new();
    for op in program.ops() {
        let region = program.block(op.block).region;
        let parent = program.region(region).op;
        repeated.push(cyclic[region] || parent.is_some_and(|op| repeated[op] || repeats(program, op)));
    }
    let single = |site| program.alloc_op(site).is_some_and(|op| !repeated[op]);
    program.sites().ids().map(single).collect()
}

/// Whether an op may run its regions more than once.
pub(super) fn repeats(program: &Program, op: OpId) -> bool {
    match program.op(op).control() {
        Control::Loop(trips) => trips.at_most.is_none_or(|most| most > 1),
        Control::While | Control::Unknown | Control::Parallel { .. } => true,
        _ => false,
    }
}

/// Whether a region may have a cycle of blocks. Every cycle has at least one branch to a block with the same or a lower
/// number, in whatever order blocks are numbered. A region without a cycle may have one, too; the answer is then yes
/// without need, which is safe.
pub(super) fn has_cycle(program: &Program, region: RegionId) -> bool {
    program.region(region).blocks.iter().any(|&block| leads_back(program, block))
}

/// Whether a branch of a block goes to the block itself or to one before it.
fn leads_back(program: &Program, block: BlockId) -> bool {
    let mut branches = program.block(block).branches.iter();
    branches.any(|branch| matches!(branch.target, Target::Block(target) if target <= block))
}

/// The bytes of a buffer that a value covers. `window` is where in the buffer the value's root lies, `part` the bytes
/// of the root that the value is, `size` the buffer's. A root at the bytes 8..24 and the part 4..8 give the bytes
/// 12..16. If it is not known exactly where the root lies, the value may be anywhere in the root's window.
pub(super) fn bytes_of(window: Window, part: Window, size: u64) -> Window {
    let clip = |range: Range| (range.0.min(size), range.1.min(size));
    if !window.exact {
        return Window { range: clip(window.range), exact: false };
    }
    let at = |byte: u64| window.range.0.saturating_add(byte).min(window.range.1);
    Window { range: clip((at(part.range.0), at(part.range.1))), exact: part.exact }
}
