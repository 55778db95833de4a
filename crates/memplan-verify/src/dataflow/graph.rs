//! The program as a flat graph: straight runs of steps, and edges that hand
//! values over.
//!
//! The tree of regions disappears here; what remains of a loop is a back edge,
//! of an `if` a fork and a join. Whatever happens around regions becomes a
//! step: entering a parallel body, launching and awaiting asynchronous work,
//! turning multi-buffered slots. A loop that rotates slots is copied once per
//! turn, so that every copy knows which slot is in use:
//!
//! ```text
//! loop { x = alloc slots 2 … }     ->   body(slot 0) -> body(slot 1) -> back to body(slot 0)
//! ```
//!
//! The *turn* of an iteration is its number modulo the number of these copies. If a loop rotates one buffer with 2
//! slots and one with 3, the slots repeat after 6 iterations, so there are 6 copies, for the turns 0 to 5.
//!
//! A *preloaded* buffer is filled ahead, for iterations to come. It has to stay intact until its loop ends, so the end
//! of the loop counts as a read of it.
//!
//! # An example
//!
//! ```text
//! a             node 0: steps a, loop, Begin        edge 0→2 Enter: the body's arguments take the initial values
//! loop 1.. {    node 2: steps Rotate, b             edge 2→2 Again: the body's arguments take what b yields
//!   b                                               edge 2→1 Leave: the loop's results take what b yields
//! }             node 1: steps Preloaded, Rotate, c
//! c
//! ```
//!
//! [`Names`] knows which buffers a value may be: a value whose `root` is another one is only another name for it (or
//! for a part of it) and has no entries in the state.

use std::collections::{HashMap, VecDeque};

use memplan_core::{Id, index_type};
use memplan_program::{Await, BlockId, Control, OpId, Program, RegionId, SiteId, Target, Trips, ValueId};

use super::layout::{Layout, iterations};
use super::names::Names;

index_type! {
    /// A node of the graph.
    pub(super) struct NodeId;
    /// What surrounds a node.
    pub(super) struct FrameId;
}

/// At most so many copies are made of one loop body. A loop that would need more has one copy, in which any slot may be
/// the current one: the check then may reject a good plan, but its time stays bounded.
pub(super) const SLOT_LIMIT: u64 = 16;

/// At most so many copies are made of anything when rotating loops are nested, since their copies multiply. A loop that
/// would go beyond has one copy, in which any slot may be the current one.
const COPY_LIMIT: u64 = 256;

/// Something that happens.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// An op comes by: results are defined, accesses happen.
    Op(OpId),
    /// Asynchronous work has ended.
    Await(Await),
    /// An iteration of a parallel op begins while others may be anywhere.
    EnterParallel(OpId),
    /// The inside of an asynchronous or unknown op begins.
    EnterAsync(OpId),
    /// The code after an asynchronous or unknown op goes on.
    Launched(OpId),
    /// The buffers that a loop rotates from outside move to a slot (`None`: to any).
    Rotate(OpId, Option<u32>),
    /// A loop begins: what its preloaded buffers held the last time is gone.
    Begin(OpId),
    /// Preloaded buffers of a loop are read at its end.
    Preloaded(OpId),
}

/// Why control goes from one node to another; for paths in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Into a region of the op.
    Enter(OpId),
    /// Round the loop once more.
    Again(OpId),
    /// Out of the op.
    Leave(OpId),
    /// Past the op without running any of its regions.
    Skip(OpId),
    /// Just on, or along a branch.
    On,
}

#[derive(Debug)]
pub(super) struct Edge {
    pub(super) target: NodeId,
    /// `(receiver, value)` pairs: along this edge each receiver becomes the value. All of them do so at once, as
    /// in a loop that swaps two values.
    pub(super) moves: Box<[(ValueId, ValueId)]>,
    pub(super) way: Way,
}

/// A straight run of steps, and where control may go after the last one.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) steps: Vec<Step>,
    pub(super) edges: Vec<Edge>,
    pub(super) frame: FrameId,
}

/// One of the constructs around a node: the innermost is the node's `frame`, and `parent` leads outwards to the
/// function. (Not the frame of the glossary.)
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) parent: Option<FrameId>,
    pub(super) kind: FrameKind,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum FrameKind {
    Function,
    /// A copy of a rotating loop's body, for the given turn (`None`: any turn).
    Turn(OpId, Option<u32>),
    Parallel(OpId),
    Async(OpId),
}

/// The graph of one function.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) nodes: memplan_core::IndexVec<NodeId, Node>,
    pub(super) frames: memplan_core::IndexVec<FrameId, Frame>,
    /// Where the inside of each asynchronous op ends; several if it was copied.
    pub(super) async_exits: HashMap<OpId, Vec<NodeId>>,
    /// Nodes in reverse postorder; unreachable ones are missing.
    pub(super) order: Vec<NodeId>,
}

impl Graph {
    /// The graph of the function with this body. `turns` has the loops that rotate slots, with the number of iterations
    /// after which every slot is in use again. Regions wait in a queue, so that deep nesting needs no recursion.
    pub(super) fn new(program: &Program, turns: &HashMap<OpId, u64>, names: &Names<'_>, body: RegionId) -> Graph {
        let mut builder = Builder {
            program,
            names,
            turns,
            graph: Graph {
                nodes: Default::default(),
                frames: Default::default(),
                async_exits: HashMap::new(),
                order: Vec::new(),
            },
            queue: VecDeque::new(),
        };
        // A function body leads nowhere: its ways out have no target.
        let frame = builder.graph.frames.push(Frame { parent: None, kind: FrameKind::Function });
        let entry = builder.node(frame);
        let task = Task { region: body, entry, frame, copies: 1, leave: Vec::new(), leave_loop: Vec::new() };
        builder.queue.push_back(task);
        // Laying out a region queues the regions inside of it.
        while let Some(task) = builder.queue.pop_front() {
            builder.region(&task);
        }
        let mut graph = builder.graph;
        graph.order = reverse_postorder(&graph, entry);
        graph
    }

    /// The constructs around a frame, itself included, from the inside outwards.
    pub(super) fn frames_around(&self, frame: FrameId) -> impl Iterator<Item = FrameKind> + '_ {
        let chain = std::iter::successors(Some(frame), |&frame| self.frames[frame].parent);
        chain.map(|frame| self.frames[frame].kind)
    }
}

/// For each loop that rotates slots: after how many iterations all of its buffers are in their first slot again, which
/// is the least common multiple of their numbers of slots.
pub(super) fn turns(program: &Program, layout: &Layout) -> HashMap<OpId, u64> {
    let mut turns: HashMap<OpId, u64> = HashMap::new();
    for site in program.sites().ids() {
        // Sites whose contents are not followed count as well: copies of a loop also tell its first iterations apart,
        // which makes the check of other buffers sharper.
        let slots = layout.all_places_of(site).len() as u64;
        if slots > 1
            && let Some(op) = program.rotation(site)
        {
            let turn = turns.entry(op).or_insert(1);
            *turn = least_common_multiple(*turn, slots);
        }
    }
    turns
}

/// By Euclid's algorithm: `x` becomes the greatest common divisor.
fn least_common_multiple(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x).saturating_mul(b)
}

/// For each loop, the sites that it rotates although they are allocated outside of it. Inside of the loop no alloc says
/// that another slot is in use, so the graph has a step `Rotate` for them.
pub(super) fn rotated_from_outside(program: &Program, layout: &Layout) -> HashMap<OpId, Vec<SiteId>> {
    let mut sites: HashMap<OpId, Vec<SiteId>> = HashMap::new();
    for site in program.sites().ids().filter(|&site| layout.slots(site) > 1) {
        let (Some(op), Some(alloc)) = (program.rotation(site), program.alloc_op(site)) else { continue };
        if !program.ancestors(alloc).any(|ancestor| ancestor == op) {
            sites.entry(op).or_default().push(site);
        }
    }
    sites
}

/// Where a way out of a region leads, and the values that receive what the region yields.
#[derive(Clone, Debug)]
struct Exit {
    target: NodeId,
    receivers: Vec<ValueId>,
    way: Way,
}

/// A region still to be laid out.
struct Task {
    region: RegionId,
    /// The node in which its first block begins.
    entry: NodeId,
    frame: FrameId,
    /// How often this region exists, counting the copies of all rotating loops around it.
    copies: u64,
    /// Where control may go when it leaves the region by its end (`Target::Leave`).
    leave: Vec<Exit>,
    /// Where control may go when it breaks out of the loop (`Target::Break`); empty if the region is no loop body.
    leave_loop: Vec<Exit>,
}

struct Builder<'a> {
    program: &'a Program,
    names: &'a Names<'a>,
    turns: &'a HashMap<OpId, u64>,
    graph: Graph,
    queue: VecDeque<Task>,
}

impl Builder<'_> {
    /// A new node without steps and edges.
    fn node(&mut self, frame: FrameId) -> NodeId {
        self.graph.nodes.push(Node { steps: Vec::new(), edges: Vec::new(), frame })
    }

    /// A new node with one step.
    fn node_with(&mut self, frame: FrameId, step: Step) -> NodeId {
        let node = self.node(frame);
        self.graph.nodes[node].steps.push(step);
        node
    }

    /// Adds an edge along which the receivers of `exit` take `values`, by position.
    fn edge(&mut self, from: NodeId, exit: &Exit, values: &[ValueId]) {
        let pairs = exit.receivers.iter().copied().zip(values.iter().copied());
        let moves = pairs.filter(|&(to, from)| self.merges(to, from)).collect();
        let (target, way) = (exit.target, exit.way);
        self.graph.nodes[from].edges.push(Edge { target, moves, way });
    }

    /// Whether the receiver `to` has to take over the contents of `from` when control passes. It has not if `to` has no
    /// entries of its own (it is an alias of one other value, or names no buffer that is followed), nor if
    /// `from` is only another name of `to`.
    fn merges(&self, to: ValueId, from: ValueId) -> bool {
        let resolved = self.names.resolve(to);
        resolved.root == to && self.names.resolve(from) != resolved && !self.names.of_root(to).is_empty()
    }

    /// Adds an edge along which no value is handed over.
    fn connect(&mut self, from: NodeId, target: NodeId, way: Way) {
        self.graph.nodes[from].edges.push(Edge { target, moves: Box::default(), way });
    }

    /// Lays out the blocks of a region; regions inside are queued.
    fn region(&mut self, task: &Task) {
        let program = self.program;
        let blocks = &program.region(task.region).blocks;
        // All blocks get their node first, because a branch may jump forward to a block that has not been laid out
        // yet.
        let mut starts: HashMap<BlockId, NodeId> = HashMap::new();
        for (index, &block) in blocks.iter().enumerate() {
            let start = if index == 0 { task.entry } else { self.node(task.frame) };
            starts.insert(block, start);
        }
        for &block in blocks {
            let mut node = starts[&block];
            for op in self.ops_of(block) {
                node = self.op(op, node, task);
            }
            for branch in &program.block(block).branches {
                // A branch that leaves goes wherever the surrounding op sends it. That may be several places at once: a
                // loop body may run again or end.
                match branch.target {
                    Target::Block(target) => {
                        // An argument with an origin of its own (such as external memory) takes no value. The branch
                        // has one value for each of the others, in their order (`Program::check`).
                        let receivers = program.incoming(&program.block(target).arguments).to_vec();
                        let exit = Exit { target: starts[&target], receivers, way: Way::On };
                        self.edge(node, &exit, &branch.values);
                    }
                    Target::Leave => task.leave.iter().for_each(|exit| self.edge(node, exit, &branch.values)),
                    // `Program::check` refuses a break in any other region than the body of a loop.
                    Target::Break => task.leave_loop.iter().for_each(|exit| self.edge(node, exit, &branch.values)),
                }
            }
        }
    }

    /// The ops of a block in the order they are laid out. In a dag this is one order that its dependencies allow; the
    /// other orders are checked in `dag`.
    fn ops_of(&self, block: BlockId) -> Vec<OpId> {
        let holder = self.program.region(self.program.block(block).region).op;
        if let Some(Control::Dag { dependencies }) = holder.map(|op| self.program.op(op).control())
            && let Some(order) = self.program.topological_order(block, dependencies)
        {
            return order;
        }
        self.program.block(block).ops.clone()
    }

    /// Lays out an op and returns the node in which control goes on after it.
    fn op(&mut self, id: OpId, mut node: NodeId, task: &Task) -> NodeId {
        let op = self.program.op(id);
        // An await begins a node of its own: its state is combined with the exit of the awaited work, and the solver
        // has to come back to exactly this point when that exit changes.
        if !op.awaits().is_empty() {
            let awaiting = self.node(task.frame);
            self.connect(node, awaiting, Way::On);
            self.graph.nodes[awaiting].steps.extend(op.awaits().iter().copied().map(Step::Await));
            node = awaiting;
        }
        self.graph.nodes[node].steps.push(Step::Op(id));
        if op.regions().is_empty() {
            return node;
        }
        // The op has regions: they are connected between the node of the op (`before`) and a new node behind it
        // (`after`).
        let after = self.node(task.frame);
        let around = Around { op: id, before: node, after, frame: task.frame, copies: task.copies };
        match op.control() {
            Control::Once | Control::Dag { .. } => self.once(&around),
            Control::Loop(trips) => self.repeat(&around, *trips, Some(*trips)),
            // Condition and body of a `while` are one region, and a break leaves it. Control always enters it, so it
            // runs at least once even if the body never does.
            Control::While => self.repeat(&around, Trips { at_least: 1, at_most: None }, None),
            Control::Alternatives { may_skip } => self.alternatives(&around, *may_skip),
            Control::Parallel { .. } => self.parallel(&around),
            Control::Async { .. } => self.asynchronous(&around),
            Control::Unknown => self.unknown(&around),
        }
        after
    }

    /// The results of an op that take what a region yields.
    fn results(&self, op: OpId) -> Vec<ValueId> {
        self.program.incoming(&self.program.op(op).results).to_vec()
    }

    /// The way out of an op's region to the node after the op: what is yielded goes to the results.
    fn out_of(&self, around: &Around) -> Exit {
        Exit { target: around.after, receivers: self.results(around.op), way: Way::Leave(around.op) }
    }

    /// Adds the way past an op that runs none of its regions: its results are its initial values.
    fn skip(&mut self, around: &Around) {
        let exit = Exit { way: Way::Skip(around.op), ..self.out_of(around) };
        let program = self.program;
        self.edge(around.before, &exit, program.op(around.op).inits());
    }

    /// Queues a region whose entry node is already there.
    fn queue(&mut self, around: &Around, region: RegionId, entry: NodeId, leave: Vec<Exit>) {
        let Around { frame, copies, .. } = *around;
        self.queue.push_back(Task { region, entry, frame, copies, leave, leave_loop: Vec::new() });
    }

    /// Adds the way into a region: the arguments of its first block take the op's initial values.
    fn enter(&mut self, from: NodeId, around: &Around, region: RegionId, entry: NodeId) {
        let receivers = self.program.entry_arguments(region).to_vec();
        let exit = Exit { target: entry, receivers, way: Way::Enter(around.op) };
        let program = self.program;
        self.edge(from, &exit, program.op(around.op).inits());
    }

    /// Connects the regions of an op that runs each of them once, one after the other. Only the last one yields the
    /// op's results; from the others control goes to a node in front of the next region.
    fn once(&mut self, around: &Around) {
        let regions = self.program.op(around.op).regions();
        let mut from = around.before;
        for (index, &region) in regions.iter().enumerate() {
            let entry = self.node(around.frame);
            self.enter(from, around, region, entry);
            let mut leave = self.out_of(around);
            // The values that a region other than the last one yields have no receivers.
            if index + 1 < regions.len() {
                from = self.node(around.frame);
                leave = Exit { target: from, receivers: Vec::new(), way: Way::On };
            }
            self.queue(around, region, entry, vec![leave]);
        }
    }

    /// Lays out a loop, copied once per turn of its slots. `trips` says how often the body runs. `ends` is the same
    /// for a loop that ends by itself after these trips, and `None` for one that only ends by `break`.
    ///
    /// ```text
    ///   two turns:   before ──► copy 0 ──► copy 1        each copy leads to `after`, too,
    ///                             ▲──────────┘           if the loop may end in it
    /// ```
    fn repeat(&mut self, around: &Around, trips: Trips, ends: Option<Trips>) {
        let op = around.op;
        let Some(&region) = self.program.op(op).regions().first() else { return };
        // A loop that may run zero times has a way around its body, on which nothing in the body happens.
        if trips.at_least == 0 {
            self.skip(around);
        }
        if trips.at_most == Some(0) {
            return;
        }
        // After the loop its preloaded buffers are read, and the buffers that it rotates are in their first slot
        // again.
        self.graph.nodes[around.before].steps.push(Step::Begin(op));
        self.graph.nodes[around.after].steps.extend([Step::Preloaded(op), Step::Rotate(op, Some(0))]);
        let turn = self.turns.get(&op).copied().unwrap_or(1);
        // Copies multiply in nested loops. Beyond the limits there is one copy whose slot is unknown (`None`): the
        // check then assumes any slot, which may reject a good plan and never accepts a bad one.
        let too_many = turn > SLOT_LIMIT || around.copies.saturating_mul(turn) > COPY_LIMIT;
        let copies = if too_many { 1 } else { turn };
        let entries: Vec<NodeId> = (0..copies)
            .map(|copy| {
                let turn = (!too_many).then_some(copy as u32);
                let kind = FrameKind::Turn(op, turn);
                // A loop without slots needs no frame: nobody asks for its turn.
                let frame = match self.turns.contains_key(&op) {
                    true => self.graph.frames.push(Frame { parent: Some(around.frame), kind }),
                    false => around.frame,
                };
                self.node_with(frame, Step::Rotate(op, turn))
            })
            .collect();
        self.enter(around.before, around, region, entries[0]);
        let receivers = self.program.entry_arguments(region).to_vec();
        // Copy i leads to copy i + 1 and the last one back to the first. The edge back is left out if the loop cannot
        // run often enough to take it.
        for (copy, &entry) in entries.iter().enumerate() {
            let mut leave = Vec::new();
            if ends.is_some_and(|trips| may_end_after(trips, copy as u64, copies)) {
                leave.push(self.out_of(around));
            }
            let wraps = copy + 1 == entries.len();
            if !wraps || trips.at_most.is_none_or(|most| most > copies) {
                let target = entries[(copy + 1) % entries.len()];
                leave.push(Exit { target, receivers: receivers.clone(), way: Way::Again(op) });
            }
            let leave_loop = vec![self.out_of(around)];
            let frame = self.graph.nodes[entry].frame;
            let copies = around.copies.saturating_mul(copies);
            self.queue.push_back(Task { region, entry, frame, copies, leave, leave_loop });
        }
    }

    /// Connects an op of which one region runs: into each region and out of it again, and past all of them if none need
    /// run.
    fn alternatives(&mut self, around: &Around, may_skip: bool) {
        if may_skip {
            self.skip(around);
        }
        for &region in self.program.op(around.op).regions() {
            let entry = self.node(around.frame);
            self.enter(around.before, around, region, entry);
            let leave = vec![self.out_of(around)];
            self.queue(around, region, entry, leave);
        }
    }

    /// Connects the body of a parallel op, in a frame of its own. The body stands for any one iteration and has no edge
    /// back to its start; what the other iterations do in the meantime is told by the step `EnterParallel` and the
    /// frame. The op may be skipped if it may have no iterations.
    fn parallel(&mut self, around: &Around) {
        let op = self.program.op(around.op);
        let trips = iterations(op);
        if trips.is_none_or(|trips| trips == 0) {
            self.skip(around);
        }
        if trips == Some(0) {
            return;
        }
        // The frame tells `transfer` that other iterations run beside every node of the body.
        let kind = FrameKind::Parallel(around.op);
        let frame = self.graph.frames.push(Frame { parent: Some(around.frame), kind });
        let inside = Around { frame, ..*around };
        for &region in op.regions() {
            let entry = self.node_with(frame, Step::EnterParallel(around.op));
            self.enter(around.before, around, region, entry);
            let leave = vec![self.out_of(around)];
            self.queue(&inside, region, entry, leave);
        }
    }

    /// Connects asynchronous regions: control goes on after the op at once, and also into the regions. A region ends
    /// in a node without edges, which is kept for the awaits: they join the state there with their own. That the two
    /// sides run at the same time is told by the steps `Launched` and `EnterAsync` and by the frame.
    fn asynchronous(&mut self, around: &Around) {
        self.connect(around.before, around.after, Way::On);
        self.graph.nodes[around.after].steps.push(Step::Launched(around.op));
        let kind = FrameKind::Async(around.op);
        let frame = self.graph.frames.push(Frame { parent: Some(around.frame), kind });
        let inside = Around { frame, ..*around };
        for &region in self.program.op(around.op).regions() {
            let entry = self.node_with(frame, Step::EnterAsync(around.op));
            self.enter(around.before, around, region, entry);
            let target = self.node(frame);
            self.graph.async_exits.entry(around.op).or_default().push(target);
            let leave = vec![Exit { target, ..self.out_of(around) }];
            self.queue(&inside, region, entry, leave);
        }
    }

    /// An op that is not known: its regions may run any number of times, on other threads, from here to the end of the
    /// function. So they are launches that nobody awaits. That one region may run while another one does is told by the
    /// interference of the op with itself (`concurrent`). The op's own accesses may happen as late as those of its
    /// regions, so they are in a launched node of their own.
    fn unknown(&mut self, around: &Around) {
        self.connect(around.before, around.after, Way::On);
        self.graph.nodes[around.after].steps.push(Step::Launched(around.op));
        let kind = FrameKind::Async(around.op);
        let frame = self.graph.frames.push(Frame { parent: Some(around.frame), kind });
        let inside = Around { frame, ..*around };
        // `late` has the op's own accesses, as a piece of work that runs at any time.
        let late = self.node_with(frame, Step::EnterAsync(around.op));
        self.graph.nodes[late].steps.push(Step::Op(around.op));
        self.connect(around.before, late, Way::Enter(around.op));
        for &region in self.program.op(around.op).regions() {
            let entry = self.node_with(frame, Step::EnterAsync(around.op));
            self.enter(around.before, around, region, entry);
            let target = self.node(frame);
            self.graph.async_exits.entry(around.op).or_default().push(target);
            let leave = vec![Exit { target, receivers: Vec::new(), way: Way::Leave(around.op) }];
            self.queue(&inside, region, entry, leave);
        }
    }
}

/// The nodes around an op's regions.
#[derive(Clone, Copy)]
struct Around {
    op: OpId,
    /// The node in which the op itself is a step.
    before: NodeId,
    /// The node where control goes on after the op.
    after: NodeId,
    frame: FrameId,
    /// How often the op exists, counting the copies of all rotating loops around it.
    copies: u64,
}

/// Whether a loop with these trips may end after an iteration whose number modulo `copies` is `copy`. If exactly 5
/// iterations run in 2 copies, the last one is number 4, so the loop ends in copy 0 only. If it is up to 5 iterations,
/// it may end in either copy.
fn may_end_after(trips: Trips, copy: u64, copies: u64) -> bool {
    match trips.at_most {
        Some(most) if most == trips.at_least => most.saturating_sub(1) % copies == copy,
        Some(most) => copy < most,
        None => true,
    }
}

/// The nodes that control can reach, in reverse postorder: a node comes before the nodes it leads to, except along the
/// edges back to the head of a loop. As a rule an edge out of a loop was added before the edge round it and is
/// therefore followed first, so what comes after the loop is finished first and, reversed, comes last: a loop
/// settles before the code after it is looked at. Another order would only cost time.
fn reverse_postorder(graph: &Graph, entry: NodeId) -> Vec<NodeId> {
    let mut seen = vec![false; graph.nodes.len()];
    let mut postorder = Vec::with_capacity(graph.nodes.len());
    let mut stack = vec![(entry, 0)];
    seen[entry.index()] = true;
    // A node waits on the stack together with the index of the edge to follow next. It is finished when none is left.
    while let Some((node, next)) = stack.pop() {
        match graph.nodes[node].edges.get(next) {
            Some(edge) => {
                stack.push((node, next + 1));
                if !std::mem::replace(&mut seen[edge.target.index()], true) {
                    stack.push((edge.target, 0));
                }
            }
            None => postorder.push(node),
        }
    }
    postorder.reverse();
    postorder
}
