//! The ops of a dag may run in any order that their dependencies allow. So if two buffers share bytes, the
//! dependencies must order the ops that use them.
//!
//! One op *precedes* another if a chain of dependencies leads from it to the other. A *place* is one slot of a buffer
//! at its address, as an index into `Layout::places`; an op *touches* it if it reads or writes it.
//!
//! Two buffers X and Y on overlapping bytes are fine if every op that touches X
//! precedes every op that writes Y. What the dag reads of a buffer before it
//! writes it comes from outside or from an earlier run of the dag, and is one more content that has to precede
//! every write of others. If this rule holds between neighbours in the
//! order of first writes, it holds for all places that share a byte: each write
//! is a touch, so the chain carries over. The sweep over addresses therefore only
//! compares each buffer with its neighbours:
//!
//! ```text
//! address ▲   X ──► Z ──► W      W and X need no comparison of their own:
//!         │   [X][Z][W]          touch X < write Z < write W
//!         └────────────► order of first writes
//! ```
//!
//! A comparison does not *carry over* in this way if a write of Z needs no order with X, because it merely copies the
//! bytes to where they are: that write says nothing about X. Nor does it if one of the two has a slice for each iteration
//! of a parallel op, because such places may both cover an address in the sweep and share no byte, or if both are slots
//! of one buffer. Then the sweep goes on, from neighbour to neighbour, up to one that no such comparison has met on this
//! side.
//!
//! Words from other files: [`Names`] knows the entries of each value's root: the places that the value may be. A
//! [`Layout`] knows the places; `hit` says which bytes of one place some bytes of another hit, and `distance` how far
//! two places are apart.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use memplan_core::{Id, IndexVec, patience};
use memplan_program::{AccessKind, BlockId, Control, OpId, Origin, Program, SiteId, ValueId};

use super::Violation;
use super::concurrent::SubtreeEnds;
use super::layout::Layout;
use super::names::{Names, has_cycle, repeats};

/// Checks one dag op and adds what is wrong to `violations`. `ends` gives one past the last op inside each op,
/// `all_writes` has the [`writes_per_site`] of the whole program.
pub(super) fn check(
    program: &Program,
    layout: &Layout,
    names: &Names<'_>,
    ends: &SubtreeEnds,
    dag: OpId,
    all_writes: &IndexVec<SiteId, u32>,
    violations: &mut Vec<Violation>,
) {
    // If the dag has no body, there is nothing to check. If the dependencies have a cycle, there is no order in which
    // the ops could run; a well-formed program has none (`Program::check`).
    let Control::Dag { dependencies } = program.op(dag).control() else { return };
    let Some(&region) = program.op(dag).regions().first() else { return };
    let Some(&block) = program.region(region).blocks.first() else { return };
    let Some(order) = Order::new(program, block, dependencies) else { return };
    let mut uses = uses(program, layout, names, ends, block);
    let inside = writes_per_site(program, names, dag.index()..ends.of(dag));
    for (&place, uses) in &mut uses {
        let site = layout.places[place].site;
        // If a site is also written outside of the dag, or by an earlier run of the dag, a read before the dag's own
        // first write finds that content. It must survive until the read. Even where each run has an instance of its
        // own, a value that is handed on may be the instance of an earlier run.
        let is_handed_on = uses.is_handed_on && !is_kept_inside(program, dag, site) && is_repeated(program, dag);
        let is_from_earlier_run = is_handed_on || may_run_again(program, dag, site);
        if all_writes[site] > inside[site] || is_from_earlier_run {
            uses.incoming = order.reads_before_writes(uses);
        }
    }
    let mut checker = Checker {
        program,
        names,
        layout,
        dag,
        order,
        uses,
        violations,
        reported: BTreeSet::new(),
        broken_after: BTreeSet::new(),
        broken_before: BTreeSet::new(),
    };
    checker.single_buffers();
    checker.shared_bytes();
}

/// The ops that touch, read and write one place.
#[derive(Debug, Default)]
struct Uses {
    touches: BTreeSet<OpId>,
    reads: BTreeSet<OpId>,
    writes: BTreeSet<OpId>,
    /// Ops that may read what was there before the dag.
    incoming: BTreeSet<OpId>,
    /// Whether an op reads the place through a value that is not the allocation itself or a part of it, such as an
    /// argument of a block.
    is_handed_on: bool,
}

/// Whether a site is allocated inside of an op that hands out nothing, so that no other run of the op gets the instance.
fn is_kept_inside(program: &Program, op: OpId, site: SiteId) -> bool {
    let is_inside = |alloc: OpId| program.ancestors(alloc).any(|around| around == op);
    program.op(op).results.is_empty() && program.alloc_op(site).is_some_and(is_inside)
}

/// Whether anything around an op repeats it.
fn is_repeated(program: &Program, op: OpId) -> bool {
    let is_in_cycle = |op: OpId| has_cycle(program, program.block(program.op(op).block).region);
    is_in_cycle(op) || program.ancestors(op).any(|around| repeats(program, around) || is_in_cycle(around))
}

/// Whether an op may run several times on one instance of a site: something that repeats (an op, or a cycle of blocks)
/// is around the op and not around the allocation.
fn may_run_again(program: &Program, op: OpId, site: SiteId) -> bool {
    let alloc = program.alloc_op(site);
    // Each run of the op makes an instance of its own.
    if alloc.is_some_and(|alloc| program.ancestors(alloc).any(|around| around == op)) {
        return false;
    }
    let home = alloc.and_then(|alloc| program.parent(alloc));
    let mut inner = op;
    loop {
        if has_cycle(program, program.block(program.op(inner).block).region) {
            return !alloc.is_some_and(|alloc| comes_before(program, alloc, inner));
        }
        // The next op further out, unless the allocation is inside of it as well.
        let Some(around) = program.parent(inner).filter(|&around| Some(around) != home) else { return false };
        if repeats(program, around) {
            return true;
        }
        inner = around;
    }
}

/// Whether two ops are in one block, and each run of the second one comes after a run of the first one of its own. The
/// ops of a dag have no order in their block.
fn comes_before(program: &Program, first: OpId, second: OpId) -> bool {
    let is_dag = |op: OpId| matches!(program.op(op).control(), Control::Dag { .. });
    let is_in_order = !program.parent(second).is_some_and(is_dag);
    is_in_order && program.op(first).block == program.op(second).block && first < second
}

/// How often the ops of a range may write each site: a site gets one for each access and each entry of the state that
/// the access may mean. An escape counts as a write, because whoever holds the address may write.
pub(super) fn writes_per_site(
    program: &Program,
    names: &Names<'_>,
    ops: std::ops::Range<usize>,
) -> IndexVec<SiteId, u32> {
    let mut counts = IndexVec::filled(0, program.sites().len());
    for op in ops.map(OpId::from_index) {
        for access in &program.op(op).accesses {
            if access.kind.writes() || access.kind == AccessKind::Escape {
                for &entry in names.of_root(names.resolve(access.value).root) {
                    counts[names.entries[entry].site] += 1;
                }
            }
        }
    }
    counts
}

/// By place: which ops of the dag touch, read and write it. What an op inside of a region does counts for the op of the
/// dag around it. An escape counts as a read (`reads` says so) and as a write, because whoever holds the address may do
/// both.
fn uses(
    program: &Program,
    layout: &Layout,
    names: &Names<'_>,
    ends: &SubtreeEnds,
    block: BlockId,
) -> BTreeMap<usize, Uses> {
    let mut uses: BTreeMap<usize, Uses> = BTreeMap::new();
    for &op in &program.block(block).ops {
        for inner in (op.index()..ends.of(op)).map(OpId::from_index) {
            for access in &program.op(inner).accesses {
                // A free changes no byte, so it may run at any time as far as the contents are concerned.
                if access.kind == AccessKind::Free {
                    continue;
                }
                // The entries of a value's root are the places that the value may be.
                let root = names.resolve(access.value).root;
                for &entry in names.of_root(root) {
                    let entry = &names.entries[entry];
                    // The buffer lies in memory that belongs to a scope: `op` or an op inside of it. Each instance of
                    // the scope has such memory of its own, which shares no byte with what other ops of the dag use
                    // (`Layout::owner`). So the order of the dag's ops does not matter for it, and its content is
                    // checked with the region of `op`.
                    if layout.is_private_to(program, entry.site, op) {
                        continue;
                    }
                    let uses_of_place = uses.entry(entry.place).or_default();
                    uses_of_place.touches.insert(op);
                    if access.kind.reads() {
                        uses_of_place.reads.insert(op);
                        uses_of_place.is_handed_on |= program.value(root).origin != Origin::Alloc(entry.site);
                    }
                    if access.kind.writes() || access.kind == AccessKind::Escape {
                        uses_of_place.writes.insert(op);
                    }
                }
            }
        }
    }
    uses
}

/// The dependencies, and a topological order to prune searches with.
struct Order {
    /// The position of each op in one order that the dependencies allow.
    position: HashMap<OpId, usize>,
    /// The ops that each op depends on directly.
    before: HashMap<OpId, Vec<OpId>>,
}

impl Order {
    /// `None` if the dependencies have a cycle.
    fn new(program: &Program, block: BlockId, dependencies: &[(OpId, OpId)]) -> Option<Order> {
        let order = program.topological_order(block, dependencies)?;
        let mut before: HashMap<OpId, Vec<OpId>> = HashMap::new();
        for &(earlier, later) in dependencies {
            before.entry(later).or_default().push(earlier);
        }
        Some(Order { position: order.into_iter().zip(0..).collect(), before })
    }

    /// The first of `ops`, by id, that does not precede `later`; `None` if all of them do. `later` itself does not
    /// count. A search from `later` backwards along the dependencies strikes out what it meets. It need not go on
    /// from an op that stands before all wanted ops in the topological order, since that op cannot depend on them.
    fn not_before(&self, ops: impl Iterator<Item = OpId>, later: OpId) -> Option<OpId> {
        let mut wanted: BTreeSet<OpId> = ops.filter(|&op| op != later).collect();
        // Nothing to ask for counts as all of them.
        let lowest = wanted.iter().map(|op| self.position[op]).min()?;
        let mut seen = HashSet::from([later]);
        let mut stack = vec![later];
        while let Some(op) = stack.pop() {
            for &earlier in self.before.get(&op).into_iter().flatten() {
                wanted.remove(&earlier);
                if self.position[&earlier] >= lowest && seen.insert(earlier) {
                    stack.push(earlier);
                }
            }
            if wanted.is_empty() {
                return None;
            }
        }
        wanted.first().copied()
    }

    /// The reads of a place that may find what was there before the dag: those that no write in the dag precedes.
    fn reads_before_writes(&self, uses: &Uses) -> BTreeSet<OpId> {
        let precedes =
            |write: OpId, read: OpId| write != read && self.not_before(std::iter::once(write), read).is_none();
        let from_outside = |read: &&OpId| !uses.writes.iter().any(|&write| precedes(write, **read));
        uses.reads.iter().filter(from_outside).copied().collect()
    }

    /// The position of a place's first write in the topological order; `None` if the dag never writes it.
    fn first_write(&self, uses: &Uses) -> Option<usize> {
        uses.writes.iter().map(|op| self.position[op]).min()
    }
}

/// The check of one dag.
struct Checker<'a> {
    program: &'a Program,
    names: &'a Names<'a>,
    layout: &'a Layout,
    dag: OpId,
    order: Order,
    /// Which ops of the dag use each place.
    uses: BTreeMap<usize, Uses>,
    violations: &'a mut Vec<Violation>,
    /// Pairs of sites that have been reported, so that each is reported once.
    reported: BTreeSet<(SiteId, SiteId)>,
    /// Places of which a comparison with a later writer did not carry over, so that they do not stand for the writers
    /// after them.
    broken_after: BTreeSet<usize>,
    /// Places of which a comparison with an earlier writer, or with content from outside, did not carry over.
    broken_before: BTreeSet<usize>,
}

impl Checker<'_> {
    /// Adds a violation, unless one about the same two sites is there.
    fn report(&mut self, first: OpId, second: OpId, sites: (SiteId, SiteId)) {
        if self.reported.insert(sites) {
            self.violations.push(Violation::Unordered { dag: self.dag, first, second, sites });
        }
    }

    /// Reports a write and another access to the same buffer of which neither precedes the other. The outcome would
    /// depend on which of them comes first.
    fn single_buffers(&mut self) {
        let mut unordered = Vec::new();
        for (&place, uses) in &self.uses {
            let site = self.layout.places[place].site;
            // Every other op that touches the place must be ordered with the write, before it or after it.
            for &write in &uses.writes {
                // Only ops that come earlier in the topological order can precede the write, and only later ones can
                // follow it.
                let (earlier, later): (Vec<OpId>, Vec<OpId>) =
                    uses.touches.iter().partition(|op| self.order.position[op] <= self.order.position[&write]);
                if let Some(op) = self.order.not_before(earlier.into_iter(), write) {
                    unordered.push((op, write, (site, site)));
                }
                for op in later {
                    if self.order.not_before(std::iter::once(write), op).is_some() {
                        unordered.push((op, write, (site, site)));
                    }
                }
            }
        }
        unordered.into_iter().for_each(|(first, second, sites)| self.report(first, second, sites));
    }

    /// Sweeps over the addresses and compares the places that cover the same byte.
    fn shared_bytes(&mut self) {
        let mut places: Vec<usize> = self.uses.keys().copied().collect();
        places.sort_by_key(|&place| self.layout.places[place].start);
        // The places that cover the current address, by where they end.
        let mut ends: BTreeSet<(i128, usize)> = BTreeSet::new();
        // `writers` is sorted by first write and `readers` holds the places with content from outside. Both hold only
        // places that cover the current address.
        let mut writers: BTreeSet<(usize, usize)> = BTreeSet::new();
        let mut readers: BTreeSet<usize> = BTreeSet::new();
        for place in places {
            // The caller has given up waiting; the result means nothing then.
            if patience::is_over() {
                return;
            }
            let at = &self.layout.places[place];
            // Take out the places that end at or before the start of this one.
            while let Some(&(end, over)) = ends.first().filter(|(end, _)| *end <= at.start) {
                ends.remove(&(end, over));
                readers.remove(&over);
                if let Some(first) = self.order.first_write(&self.uses[&over]) {
                    writers.remove(&(first, over));
                }
            }
            if at.size == 0 {
                continue;
            }
            ends.insert((at.hull_end(), place));
            let position = self.order.first_write(&self.uses[&place]);
            // Content from outside must be read before anybody writes these bytes: of a place that the dag never
            // writes, that is all of its content. The first writer stands for the writers after it.
            if position.is_none() || !self.uses[&place].incoming.is_empty() {
                readers.insert(place);
                for &(_, writer) in &writers {
                    if self.incoming_first(place, writer) && !self.broken_after.contains(&writer) {
                        break;
                    }
                }
            }
            let Some(position) = position else { continue };
            let key = (position, place);
            // The new place is compared with the writers before it, the nearest first, up to one that stands for
            // those before itself and for the content from outside. If there is none, the content from outside is
            // compared, too.
            let mut earlier = writers.range(..key).rev();
            let is_covered =
                earlier.any(|&(_, previous)| self.ordered(previous, place) && !self.broken_before.contains(&previous));
            if !is_covered {
                // What a place itself held before is compared with its own writes in `single_buffers`.
                for &reader in readers.iter().filter(|&&reader| reader != place) {
                    self.incoming_first(reader, place);
                }
            }
            for &(_, next) in writers.range(key..) {
                if self.ordered(place, next) && !self.broken_after.contains(&next) {
                    break;
                }
            }
            writers.insert(key);
        }
    }

    /// What `first` held before the dag must be done with before `second` is written. The answer is that of
    /// [`Checker::precede`].
    fn incoming_first(&mut self, first: usize, second: usize) -> bool {
        let uses = &self.uses[&first];
        let touches = if uses.writes.is_empty() { &uses.touches } else { &uses.incoming };
        self.precede(touches.clone(), first, second)
    }

    /// Every op that touches `first` must precede every op that writes `second`. The answer is that of
    /// [`Checker::precede`].
    fn ordered(&mut self, first: usize, second: usize) -> bool {
        self.precede(self.uses[&first].touches.clone(), first, second)
    }

    /// Whether an op that writes `second` leaves the bytes that `second` shares with `first` as they are, because it
    /// copies them from `first` and they lie exactly over their source. Such a write needs no order.
    fn merely_copies(&self, write: OpId, first: usize, second: usize) -> bool {
        // `distance` is the address of `second` minus that of `first`, if it is the same in all iterations; `shared`
        // are the bytes of `first` on which `second` lies. Without any there is nothing to keep.
        let Some(distance) = self.layout.distance(second, first) else { return false };
        let Some(shared) = self.layout.hit(second, (0, self.layout.places[second].size), first) else { return true };
        self.program.op(write).copies().iter().any(|copy| {
            let (Some(output), Some(input)) = (self.start_of(copy.output, second), self.start_of(copy.input, first))
            else {
                return false;
            };
            // Where the copied bytes begin in `second` and in `first`. They stay if that is one address, and they
            // have to include all shared bytes.
            let (to, from) = (output.saturating_add(copy.output_start.0), input.saturating_add(copy.input_start.0));
            let stays = i128::from(to) + distance == i128::from(from);
            stays && from <= shared.0 && shared.1 <= from.saturating_add(copy.length.0)
        })
    }

    /// Where a value begins in the buffer at a place, if it is exactly known to be a part of that buffer.
    fn start_of(&self, value: ValueId, place: usize) -> Option<u64> {
        let resolved = self.names.resolve(value);
        let site = self.layout.places[place].site;
        let is_site = self.program.value(resolved.root).origin == Origin::Alloc(site);
        (is_site && resolved.part.exact).then_some(resolved.part.range.0)
    }

    /// All `touches` of the first place must come before every write of the second one, if the two share bytes.
    ///
    /// Says whether the comparison carries over to other places, as the module documentation explains. If it does not,
    /// both places remember that.
    fn precede(&mut self, touches: BTreeSet<OpId>, first: usize, second: usize) -> bool {
        let carries = self.compare(touches, first, second);
        if !carries {
            self.broken_after.insert(first);
            self.broken_before.insert(second);
        }
        carries
    }

    /// As [`Checker::precede`], which remembers the answer.
    fn compare(&mut self, touches: BTreeSet<OpId>, first: usize, second: usize) -> bool {
        let sites = (self.layout.places[first].site, self.layout.places[second].site);
        // Accesses to one and the same site are compared in `single_buffers`.
        if sites.0 == sites.1 {
            return false;
        }
        let size = self.layout.places[first].size;
        if self.layout.hit(first, (0, size), second).is_none() {
            return false;
        }
        let writes = &self.uses[&second].writes;
        let needing: Vec<OpId> =
            writes.iter().copied().filter(|&write| !self.merely_copies(write, first, second)).collect();
        let is_plain = |place: usize| self.layout.places[place].terms.is_empty();
        let carries = needing.len() == writes.len() && is_plain(first) && is_plain(second);
        let witness =
            needing.into_iter().find_map(|write| Some((self.order.not_before(touches.iter().copied(), write)?, write)));
        if let Some((touch, write)) = witness {
            self.report(touch, write, sites);
        }
        carries
    }
}
