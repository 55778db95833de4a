//! Which other code may be writing at the same time: other iterations of parallel loops, asynchronous
//! regions, and the code that goes on while they run.
//!
//! For each pair of sides that may run at the same time, everything one side
//! may write is collected into an [`Interference`]. `transfer` applies it to the state of the other side, when that
//! side begins and after each of its writes: other contents on those bytes are lost, since the write may happen at any
//! time.
//!
//! ```text
//! launch t {              the region's side: its interference is that it may write %y
//!   write %y
//! }
//! write %x                the code's side, as long as t is pending: its interference is that it may write %x
//! await t                 from here on nothing is pending
//! ```
//!
//! Which asynchronous work may be running at a node is a small analysis of its
//! own: `pending` flows forward along the graph from launches, into regions
//! that are launched later, and ends at awaits. The regions of an op of unknown kind are asynchronous
//! work, too: any number of them run, and nobody awaits them.
//!
//! An *instance* of a site is what one execution of its alloc made; an entry of the state is tagged with whether it is
//! about the latest instance (`Current`) or an older one. A *place* is one slot of a site at its address, as an index
//! into `Layout::places`. If the site lies in parallel loops and has one memory for all iterations, each iteration
//! has a *slice* of that memory, and the place has a *term* for each such loop, which says how far apart its slices
//! are.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use memplan_core::{Id, IndexVec};
use memplan_program::{AccessKind, Control, OpId, Origin, Program, SiteId, TokenId};
use smallvec::SmallVec;

use super::Violation;
use super::Whole;
use super::graph::{Graph, NodeId, Step};
use super::layout::{Layout, iterations, iterations_meet};
use super::names::{Entry, Names, Root, Tag};
use super::ranges::Ranges;

/// If two places move by unequal distances from iteration to iteration, their slices are compared one by one, up to
/// this many iterations. Of longer loops it is assumed that slices meet.
const ENUMERATION_LIMIT: u64 = 1 << 16;

/// Bytes that code running at the same time may write at any moment.
#[derive(Debug)]
pub(super) struct Element {
    pub(super) site: SiteId,
    pub(super) place: usize,
    pub(super) bytes: Ranges,
    /// Whether the written instance of the site certainly is the one that the suffering side has as its current one.
    /// Then the write is a race in the program itself, which no plan can mend, and the content does not count as lost.
    pub(super) same_instance: bool,
    /// The parallel op whose other iterations write, if each iteration has a slice of its own of this place.
    /// `report_meeting_slices` has compared the slices of different iterations and reported those that meet.
    pub(super) own_slice_of: Option<OpId>,
    /// One op that writes.
    pub(super) by: OpId,
}

/// Everything the other side may write.
#[derive(Debug, Default)]
pub(super) struct Interference {
    pub(super) elements: Vec<Element>,
}

/// What may be running asynchronously at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pending {
    pub(super) launch: OpId,
    /// Whether more than one instance may be running.
    pub(super) several: bool,
    /// Whether it was launched on every path.
    pub(super) certain: bool,
}

/// Work that may be running, sorted by its launches, each of them once.
type PendingSet = SmallVec<[Pending; 2]>;

/// Which code of a function runs at the same time, and what it may write.
#[derive(Debug, Default)]
pub(super) struct Concurrency {
    /// For each parallel op: what its other iterations may write.
    pub(super) iterations: HashMap<OpId, Interference>,
    /// For each asynchronous op: what its region may write while the code beside it runs.
    pub(super) region: HashMap<OpId, Interference>,
    /// For each asynchronous op: what the code and other regions may write while its region runs.
    pub(super) code: HashMap<OpId, Interference>,
    /// What may be running when a node begins, before its awaits.
    pub(super) before: IndexVec<NodeId, PendingSet>,
    /// What may be running beside a node's ops.
    pub(super) beside: IndexVec<NodeId, PendingSet>,
    /// The op that hands out each token.
    pub(super) launches: BTreeMap<TokenId, OpId>,
    /// Sites that may be allocated again while the launch is pending.
    pub(super) reallocated: HashMap<OpId, BTreeSet<SiteId>>,
}

impl Concurrency {
    /// Finds out, for one function, which code runs at the same time as which, and what it may write.
    pub(super) fn new(
        whole: &Whole<'_>,
        graph: &Graph,
        ops: std::ops::Range<usize>,
        violations: &mut Vec<Violation>,
    ) -> Concurrency {
        let Whole { program, layout, names, ref ends, ref rotated, .. } = *whole;
        let collector = Collector { rotated, program, layout, names };
        let mut found = Concurrency::default();
        let mut asynchronous = Vec::new();
        // Parallel ops are handled at once. Asynchronous ops are collected first: which code runs beside them depends
        // on all launches and awaits of the function.
        for id in ops.map(OpId::from_index) {
            let op = program.op(id);
            match op.control() {
                Control::Parallel { .. } if iterations(op).is_none_or(|trips| trips > 1) => {
                    collector.report_meeting_slices(id, id.index() + 1..ends.of(id), violations);
                    found.iterations.insert(id, collector.iterations(id, id.index() + 1..ends.of(id)));
                }
                Control::Async { token } => {
                    found.launches.insert(*token, id);
                    asynchronous.push((id, id.index() + 1..ends.of(id)));
                }
                // An op that is not known may run its regions at any time after control has reached it. Its own
                // accesses may happen as late as those inside, so the range begins with the op itself.
                Control::Unknown if !op.regions().is_empty() => asynchronous.push((id, id.index()..ends.of(id))),
                _ => {}
            }
        }
        // Most functions launch nothing, and then nothing is pending anywhere.
        if asynchronous.is_empty() {
            found.before = IndexVec::filled(PendingSet::new(), graph.nodes.len());
            found.beside = found.before.clone();
            return found;
        }
        // What is pending before each node, and then after the launches and awaits of the node itself.
        let launching = Launching { program, ends, launches: &found.launches };
        found.before = launching.pending(graph);
        let sets = found.before.iter().zip(&graph.nodes);
        found.beside = sets.map(|(set, node)| launching.after_steps(set.clone(), &node.steps)).collect();
        for (id, inside) in asynchronous {
            found.asynchronous(&collector, graph, id, inside);
        }
        found
    }

    /// Whether no code of the function runs at the same time as other code. (`region` and `code` have the same keys.)
    pub(super) fn is_empty(&self) -> bool {
        self.iterations.is_empty() && self.region.is_empty()
    }

    /// Collects what the two sides of an asynchronous op may write while it is pending. `inside` is the range of the
    /// ops of its region; the other side are the ops of all nodes at which the launch is pending.
    fn asynchronous(&mut self, collector: &Collector<'_>, graph: &Graph, id: OpId, inside: std::ops::Range<usize>) {
        let mut outside = BTreeSet::new();
        let mut turning = BTreeSet::new();
        // Whether several instances of the work may run at the same time.
        let mut several = *collector.program.op(id).control() == Control::Unknown;
        // A node runs beside the work if the launch is pending there. Its rotations count too: they move a buffer to
        // another slot while the work still uses the old one.
        for (node, pending) in self.beside.iter_enumerated() {
            if let Some(pending) = pending.iter().find(|pending| pending.launch == id) {
                several |= pending.several;
                for step in &graph.nodes[node].steps {
                    match step {
                        Step::Op(op) => _ = outside.insert(*op),
                        Step::Rotate(op, _) => _ = turning.insert(*op),
                        _ => {}
                    }
                }
            }
        }
        let inside: Vec<OpId> = inside.map(OpId::from_index).collect();
        let mut reallocated: BTreeSet<SiteId> = outside.iter().flat_map(|&op| collector.allocates(op)).collect();
        // If several instances run at once, each of them also runs beside the others, so the region's own writes
        // count as writes from outside.
        if several {
            outside.extend(inside.iter().copied());
            reallocated.extend(inside.iter().flat_map(|&op| collector.allocates(op)));
        }
        let own: BTreeSet<SiteId> = inside.iter().flat_map(|&op| collector.allocates(op)).collect();
        let turned = collector.turned_by(inside.iter().chain(&outside).chain(&turning));
        // If neither side allocates a site again nor turns it to another slot, both sides use the same instance of the
        // site. Then a conflict is the program's own race. `elsewhere` has all other sites: for them a conflict may be
        // the plan's fault.
        let elsewhere: BTreeSet<SiteId> = reallocated.iter().chain(&own).chain(&turned).copied().collect();
        for (ops, found) in [(inside, &mut self.region), (outside.into_iter().collect(), &mut self.code)] {
            let interference = collector.collect(
                ops.into_iter(),
                |site| !elsewhere.contains(&site),
                |site| collector.layout.is_private_to(collector.program, site, id),
                None,
            );
            found.insert(id, interference);
        }
        self.reallocated.insert(id, reallocated);
    }
}

/// For each op the index one past the last op inside of it. Ops are numbered in program order and an op comes before
/// the ops inside of it, so the ops inside of op `n` are `n + 1..ends[n]`. The loop goes from the last op to the first,
/// so that the end of an op is final when its parent takes it over.
pub(super) fn subtree_ends(program: &Program) -> SubtreeEnds {
    let mut ends: IndexVec<OpId, u32> = program.ops().ids().map(|op| op.index() as u32 + 1).collect();
    // In straight code no op is inside of another one.
    if program.regions().iter().all(|region| region.op.is_none()) {
        return SubtreeEnds(ends);
    }
    for op in program.ops().ids().rev() {
        if let Some(parent) = program.parent(op) {
            ends[parent] = ends[parent].max(ends[op]);
        }
    }
    SubtreeEnds(ends)
}

/// For each op the index one past the last op inside of it. A program may have millions of ops, so an index has four
/// bytes here.
pub(super) struct SubtreeEnds(IndexVec<OpId, u32>);

impl SubtreeEnds {
    /// The index one past the last op inside of an op.
    pub(super) fn of(&self, op: OpId) -> usize {
        self.0[op] as usize
    }
}

/// Collects what ranges of ops may write.
struct Collector<'a> {
    /// The sites each loop rotates although they are allocated outside of it.
    rotated: &'a HashMap<OpId, Vec<SiteId>>,
    program: &'a Program,
    layout: &'a Layout,
    names: &'a Names<'a>,
}

impl Collector<'_> {
    /// The sites of which an op makes a new instance.
    fn allocates(&self, op: OpId) -> impl Iterator<Item = SiteId> + '_ {
        let results = self.program.op(op).results.iter();
        results.filter_map(|&value| match self.program.value(value).origin {
            Origin::Alloc(site) => Some(site),
            _ => None,
        })
    }

    /// What the other iterations of a parallel op may write. All iterations use the same instance of a site, unless
    /// they allocate the site themselves or a loop inside of them turns it to another slot.
    fn iterations(&self, parallel: OpId, inside: std::ops::Range<usize>) -> Interference {
        let inside = inside.map(OpId::from_index);
        let own: BTreeSet<SiteId> = inside.clone().flat_map(|op| self.allocates(op)).collect();
        let private = |site| self.layout.is_private_to(self.program, site, parallel);
        let loops: Vec<OpId> = inside.clone().collect();
        let turned = self.turned_by(loops.iter());
        self.collect(inside, |site| !own.contains(&site) && !turned.contains(&site), private, Some(parallel))
    }

    /// Sites that some of these ops rotate although they are allocated outside of the op. Such a loop moves a site to
    /// another slot while code that runs beside the loop still uses the old slot.
    fn turned_by<'o>(&self, ops: impl Iterator<Item = &'o OpId>) -> BTreeSet<SiteId> {
        ops.filter_map(|op| self.rotated.get(op)).flatten().copied().collect()
    }

    /// What `ops` may write while other work runs beside them. If a site is `private`, every iteration (or every
    /// launch) has memory of its own for it, and writes to it are left out. If a site is the `same` on both sides, the
    /// writer and the work beside it use the same instance of it. `parallel` is the parallel op if both sides are
    /// iterations of it.
    fn collect(
        &self,
        ops: impl Iterator<Item = OpId>,
        same: impl Fn(SiteId) -> bool,
        private: impl Fn(SiteId) -> bool,
        parallel: Option<OpId>,
    ) -> Interference {
        // For each place one element for writes to the same instance and one for all others: the first kind leaves more
        // contents alone (see `spares`).
        let mut elements: BTreeMap<(usize, bool), Element> = BTreeMap::new();
        for by in ops {
            for access in &self.program.op(by).accesses {
                // Only writes can destroy a content. An escape counts as a write, because its holder may write at any
                // time.
                if !access.kind.writes() && access.kind != AccessKind::Escape {
                    continue;
                }
                let resolved = self.names.resolve(access.value);
                let is_allocation = matches!(self.program.value(resolved.root).origin, Origin::Alloc(_));
                // All instances and slots that the value may be, older ones included.
                for &entry in self.names.of_root(resolved.root) {
                    let entry = &self.names.entries[entry];
                    if private(entry.site) {
                        continue;
                    }
                    let place = &self.layout.places[entry.place];
                    // The part of an allocated value is counted from the start of its buffer. A value that control flow
                    // merged may begin anywhere in the buffer, so all of the buffer's bytes count as written.
                    let range = match is_allocation {
                        true => (resolved.part.range.0.min(place.size), resolved.part.range.1.min(place.size)),
                        false => (0, place.size),
                    };
                    // Whether the value is certainly the instance that was allocated last.
                    let certain = self.names.is_latest(resolved.root, entry.site);
                    let same_instance = certain && same(entry.site);
                    let element = elements.entry((entry.place, same_instance)).or_insert_with(|| Element {
                        site: entry.site,
                        place: entry.place,
                        bytes: Ranges::default(),
                        same_instance,
                        own_slice_of: parallel.filter(|&op| place.crosses(op)),
                        by,
                    });
                    element.bytes.add(range);
                }
            }
        }
        Interference { elements: elements.into_values().collect() }
    }

    /// Reports buffers of a parallel op whose slices in two different iterations share a byte. `inside` is the range of
    /// the ops in the parallel op. Only places that have a slice for each iteration of this op are looked at.
    fn report_meeting_slices(&self, parallel: OpId, inside: std::ops::Range<usize>, violations: &mut Vec<Violation>) {
        let sites = inside.map(OpId::from_index).flat_map(|op| self.allocates(op));
        let mut places: Vec<usize> = sites
            .flat_map(|site| self.layout.all_places_of(site))
            .filter(|&place| self.layout.places[place].crosses(parallel))
            .collect();
        places.sort_by_key(|&place| self.layout.places[place].start);
        // The hull of a place is all addresses from its start in iteration 0 to its end in the last iteration. Places
        // are visited by ascending start. `open` has the places at lower starts whose hull reaches beyond the start of
        // the current one, and the current place itself: only the slices of these can meet its slices.
        let mut open: Vec<usize> = Vec::new();
        for &place in &places {
            let start = self.layout.places[place].start;
            open.retain(|&other| self.layout.places[other].hull_end() > start);
            open.push(place);
            for &other in &open {
                let (a, b) = (&self.layout.places[other], &self.layout.places[place]);
                // The question is symmetric: all pairs of different iterations count, whichever place is in which of
                // the two. The second call only guards against a mistake in the arithmetic of one direction.
                if iterations_meet(a, b, parallel, ENUMERATION_LIMIT)
                    || iterations_meet(b, a, parallel, ENUMERATION_LIMIT)
                {
                    violations.push(Violation::IterationsOverlap { op: parallel, sites: (a.site, b.site) });
                }
            }
        }
    }
}

/// What is needed to tell which asynchronous work starts and ends at a step.
struct Launching<'a> {
    program: &'a Program,
    /// One past the last op inside each op.
    ends: &'a SubtreeEnds,
    /// The op that hands out each token.
    launches: &'a BTreeMap<TokenId, OpId>,
}

impl Launching<'_> {
    /// What may be running when each node begins. Sets flow forward along the edges and are joined where edges meet,
    /// until nothing changes any more.
    fn pending(&self, graph: &Graph) -> IndexVec<NodeId, PendingSet> {
        let behind_launch = nodes_behind_launches(graph);
        let exit_of: HashMap<NodeId, OpId> =
            graph.async_exits.iter().flat_map(|(&op, exits)| exits.iter().map(move |&exit| (exit, op))).collect();
        let mut flow = PendingFlow::new(graph);
        while let Some(index) = flow.work.pop_first() {
            let node = graph.order[index];
            let after = self.after_steps(flow.before[node].clone().unwrap_or_default(), &graph.nodes[node].steps);
            for edge in &graph.nodes[node].edges {
                flow.reach(edge.target, &after);
            }
            // This node ends an asynchronous region. What the region has launched and not awaited may still run beside
            // the code that follows the region's own launch. It is not certain that it has been launched by then.
            if let Some(op) = exit_of.get(&node) {
                let uncertain: PendingSet = after.iter().map(|p| Pending { certain: false, ..*p }).collect();
                behind_launch.get(op).into_iter().flatten().for_each(|&target| flow.reach(target, &uncertain));
            }
        }
        flow.before.iter().map(|set| set.clone().unwrap_or_default()).collect()
    }

    /// Notes in `set` that an op has started work that runs beside the code. If the work is pending already, several
    /// instances of it may run at the same time. An op of unknown kind may run its regions several times or never, so
    /// its work counts as several instances that are not certain.
    fn launch(&self, set: &mut PendingSet, op: OpId) {
        let unknown = *self.program.op(op).control() == Control::Unknown;
        match set.iter_mut().find(|pending| pending.launch == op) {
            Some(pending) => *pending = Pending { launch: op, several: true, certain: true },
            None => {
                set.push(Pending { launch: op, several: unknown, certain: !unknown });
                set.sort_by_key(|pending| pending.launch);
            }
        }
    }

    /// The work that may be running after the launches and awaits of a node, given what may be running before them
    /// (`set`). Launches and awaits are the first steps of their node, so this work may run at the same time as any
    /// other op of the node.
    fn after_steps(&self, mut set: PendingSet, steps: &[Step]) -> PendingSet {
        for step in steps {
            match step {
                Step::Launched(op) => self.launch(&mut set, *op),
                Step::Await(awaited) => {
                    // A token that no op of this function hands out stands for work that is not followed here.
                    let Some(&launch) = self.launches.get(&awaited.token) else { continue };
                    // `others`: instances of the work may go on running after the await. If the await is for one
                    // instance, others go on if several may be running. If the await is for every instance (`every`),
                    // it ends them all; but if the launch stands inside of other asynchronous work that is pending
                    // (`again`), that work may launch it once more.
                    let others = set.iter().any(|pending| {
                        let again = pending.launch < launch && launch.index() < self.ends.of(pending.launch);
                        if awaited.every { again } else { pending.launch == launch && pending.several }
                    });
                    set.retain(|pending| pending.launch != launch || others);
                }
                _ => {}
            }
        }
        set
    }
}

/// For each asynchronous op, the nodes that begin right after its launch. There are several if a loop around it was
/// copied.
fn nodes_behind_launches(graph: &Graph) -> HashMap<OpId, Vec<NodeId>> {
    let mut behind: HashMap<OpId, Vec<NodeId>> = HashMap::new();
    for (id, node) in graph.nodes.iter_enumerated() {
        for step in &node.steps {
            if let Step::Launched(op) = step {
                behind.entry(*op).or_default().push(id);
            }
        }
    }
    behind
}

/// The state of the analysis that finds what may be running at each node.
struct PendingFlow {
    /// What may be running before each node; `None` for a node that control has not reached yet.
    before: IndexVec<NodeId, Option<PendingSet>>,
    /// The position of each node in the order of the graph.
    position: HashMap<NodeId, usize>,
    /// The positions of the nodes that have to be looked at, because what may be running before them has changed.
    work: BTreeSet<usize>,
}

impl PendingFlow {
    /// Nothing is running at the entry of the graph.
    fn new(graph: &Graph) -> PendingFlow {
        let mut before = IndexVec::filled(None, graph.nodes.len());
        let mut work = BTreeSet::new();
        if let Some(&entry) = graph.order.first() {
            before[entry] = Some(PendingSet::new());
            work.insert(0);
        }
        PendingFlow { before, position: graph.order.iter().copied().zip(0..).collect(), work }
    }

    /// Notes that control may come to a node while the work of `running` is running.
    fn reach(&mut self, target: NodeId, running: &PendingSet) {
        if join_pending(&mut self.before[target], running)
            && let Some(&index) = self.position.get(&target)
        {
            self.work.insert(index);
        }
    }
}

/// Two paths meet: work may be running, and several instances of it may, if that is so on either path; it certainly was
/// launched only if it was on both. Says whether anything changed.
fn join_pending(into: &mut Option<PendingSet>, from: &PendingSet) -> bool {
    let Some(old) = into else {
        *into = Some(from.clone());
        return true;
    };
    // Sorted by the launch, as every such set is; only therefore the comparison below tells whether the sets differ.
    let mut joined: BTreeMap<OpId, Pending> = BTreeMap::new();
    // Work that is pending on this path. It is certain only if it is certain on the other path, too.
    for pending in old.iter() {
        let certain = pending.certain && from.iter().any(|other| other.launch == pending.launch && other.certain);
        joined.insert(pending.launch, Pending { certain, ..*pending });
    }
    // Work that is pending on the other path only was not launched on every path.
    for pending in from {
        let entry = joined.entry(pending.launch).or_insert(Pending { certain: false, ..*pending });
        entry.several |= pending.several;
    }
    let joined: PendingSet = joined.into_values().collect();
    let changed = joined != *old;
    *old = joined;
    changed
}

/// Whether the writes of an element leave the content of an entry alone. They do so in three cases. The entry is about
/// the very instance that is written. The iterations of a parallel op write, and this place has a slice of its own in
/// each iteration. Or the entry is a preloaded content that waits in a slot of the written site: the program itself
/// uses that slot again.
pub(super) fn spares(layout: &Layout, element: &Element, entry: &Entry) -> bool {
    let same = element.same_instance && entry.site == element.site && entry.tag == Tag::Current;
    let apart = element.own_slice_of.is_some_and(|op| layout.places[entry.place].crosses(op));
    let comes_round = entry.root == Root::Preload && entry.site == element.site;
    same || apart || comes_round
}
