//! Recomputation: ops that run again, so that a result need not be kept.
//!
//! A tensor that is read early and late is in the way in between. It can be dropped after its early readers and
//! computed again before the late ones, if what it is computed from is still there, or can be computed again, too:
//!
//! ```text
//!            ┌──────────── long ────────────┐
//!   in ─► a ─┴─► b (large) ─► c (small) ────┴─► d        a is alive while b and c run
//!
//!   in ─► a ───► b ─► c ─► a' ─► d                       a is dropped after b, and runs again as a'
//! ```
//!
//! The question can be put as a game (a *pebble game*). A state is the set of tensors in memory. A move runs an op
//! whose inputs are all in memory, which costs its multiply-adds, or drops a tensor, which costs nothing; the bytes in
//! memory never exceed a limit. The cheapest way from the inputs to a state with all outputs in it is a schedule. For
//! small graphs [`schedules`] finds it by going through states from cheap to expensive (Dijkstra), at every limit that
//! matters. If another order of the ops is enough, that is what comes out: a schedule in which every op runs once
//! costs no more than the network as it is.
//!
//! Large graphs have too many states. There [`improved`] starts from a schedule and looks at its worst moment: of all
//! tensors that are alive then and not in use, the one whose op is best run again for the next reader is dropped, as
//! long as that helps.
//!
//! Ops with state or randomness (ops *with an effect*, in this file) run once, in their order. A graph input cannot
//! come back once it is dropped.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use memplan_core::Id;
use memplan_models::graph::rewrite::NewTensor;
use memplan_models::graph::{OpId, TensorId};

use crate::live::Lives;
use crate::net::{Net, Schedule, Step};

/// Graphs with more tensors than this are not searched: n tensors have up to 2^n states. (Sets of tensors are `u32`.)
const MOST_TENSORS: usize = 16;
/// If the search reaches more states than this, it gives up without a schedule.
const MOST_STATES: usize = 1 << 17;

/// A schedule that needs little memory because some ops run again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recomputed {
    /// The ops in their order; an op that runs again comes again.
    pub order: Vec<OpId>,
    /// Multiply-adds of all of them.
    pub macs: u64,
    /// Most bytes alive at once.
    pub peak: u64,
}

/// The cheapest schedules, each needing less memory than all before it: first the cheapest of all, last the one that
/// needs least. `None` if the graph is too large to look at all schedules.
pub fn schedules(net: &Net) -> Option<Vec<Recomputed>> {
    let game = Game::new(net)?;
    let mut found: Vec<Recomputed> = Vec::new();
    let mut limit = u64::MAX;
    // Each round looks for the cheapest schedule with a lower peak than the last one, until there is none.
    while let Some(next) = game.cheapest(limit)? {
        // A peak of 0 bytes cannot be lowered. Such a network has no tensors in the arena, and `None` makes the caller
        // take it as it is.
        limit = next.peak.checked_sub(1)?;
        // The new schedule has the lower peak. If it costs the same as the last one, the last one is not needed.
        if found.last().is_some_and(|last| last.macs == next.macs && last.order.len() >= next.order.len()) {
            found.pop();
        }
        found.push(next);
    }
    Some(found)
}

/// Stands in the place of an op where a move drops a tensor.
const DROPPED: usize = usize::MAX;

/// The tensors in memory, a bit each, and how many ops with an effect have run.
type State = (u32, u32);

/// The game: tensors and ops by plain numbers, sets of tensors as bits.
struct Game {
    /// The size of each tensor in bytes.
    bytes: Vec<u64>,
    /// The ops, by their number in the graph.
    ops: Vec<Move>,
    /// Ops with an effect, in their order.
    effects: Vec<usize>,
    /// The inputs of the network, as a set of tensors.
    inputs: u32,
    /// The outputs of the network, as a set of tensors.
    outputs: u32,
    /// Inputs that must stay in memory until the end.
    kept: u32,
}

/// What running an op takes.
struct Move {
    /// The set of tensors that it reads.
    reads: u32,
    /// The set of tensors that it writes.
    writes: u32,
    /// Bytes of scratch memory.
    scratch: u64,
    /// Multiply-adds.
    macs: u64,
    /// For an op with an effect, how many such ops run before it.
    effect: Option<u32>,
}

/// What a way costs: multiply-adds first, then the number of ops.
type Cost = (u64, u32);

/// How a state was reached: from which state, and by which move.
#[derive(Clone, Copy)]
struct Way {
    /// The cost of all moves on the way.
    cost: Cost,
    /// The highest peak on the way, which decides between ways of the same cost.
    peak: u64,
    /// The state before the last move; the state itself at the start.
    from: State,
    /// The op that ran, or [`DROPPED`].
    op: usize,
}

/// The states that are reached so far, each with the best way to it, and a queue of those to go on from (Dijkstra's
/// algorithm).
#[derive(Default)]
struct Frontier {
    /// The best way to each state that was reached.
    ways: BTreeMap<State, Way>,
    /// Cost, peak and state, the cheapest first.
    queue: BinaryHeap<Reverse<(Cost, u64, State)>>,
}

impl Frontier {
    /// Takes a way to a state, unless an equally good one is known.
    fn reach(&mut self, state: State, way: Way) {
        let known = self.ways.get(&state).map(|known| (known.cost, known.peak));
        if known.is_none_or(|known| (way.cost, way.peak) < known) {
            self.ways.insert(state, way);
            self.queue.push(Reverse((way.cost, way.peak, state)));
        }
    }

    /// The cheapest state from which the search has not gone on yet, with the cost and the peak of the way to it.
    fn next(&mut self) -> Option<(Cost, u64, State)> {
        while let Some(Reverse((cost, peak, state))) = self.queue.pop() {
            // The queue still has entries of ways that a better one has replaced since.
            if (self.ways[&state].cost, self.ways[&state].peak) == (cost, peak) {
                return Some((cost, peak, state));
            }
        }
        None
    }
}

impl Game {
    /// The game of a network; `None` if there are too many tensors, or if an op contains ops (loops, conditions).
    fn new(net: &Net) -> Option<Game> {
        let graph = net.graph;
        // Only tensors that an op writes or that are inputs take part; constants are always there.
        let mut numbers = BTreeMap::<TensorId, u32>::new();
        let written = graph.ops.iter().flat_map(|op| op.outputs.iter().copied());
        for tensor in graph.inputs.iter().copied().chain(written) {
            let next = numbers.len() as u32;
            numbers.entry(tensor).or_insert(next);
        }
        if numbers.len() > MOST_TENSORS || graph.ops.iter().any(|op| !op.bodies.is_empty()) {
            return None;
        }
        // Sizes, and for each op the sets of tensors that it reads and writes.
        let mut bytes = vec![0; numbers.len()];
        for (&tensor, &number) in &numbers {
            bytes[number as usize] = net.arena_bytes(tensor);
        }
        let mut effects = Vec::new();
        let mut ops = Vec::new();
        for (id, op) in graph.ops.iter_enumerated() {
            let effect = op.is_stateful.then_some(effects.len() as u32);
            effects.extend(op.is_stateful.then_some(id.index()));
            let scratch = op.scratch.iter().map(|bytes| bytes.0).fold(0, u64::saturating_add);
            let macs = net.layers[id.index()].macs;
            ops.push(Move {
                reads: bits(&op.inputs, &numbers),
                writes: bits(&op.outputs, &numbers),
                scratch,
                macs,
                effect,
            });
        }
        let inputs = bits(&graph.inputs, &numbers);
        // Inputs that the runtime must not overwrite stay in memory.
        let kept = if net.reuses_inputs { 0 } else { inputs };
        Some(Game { bytes, ops, effects, inputs, outputs: bits(&graph.outputs, &numbers), kept })
    }

    /// Bytes of a set of tensors.
    fn size(&self, tensors: u32) -> u64 {
        let there = (0..self.bytes.len()).filter(|&tensor| tensors >> tensor & 1 == 1);
        there.map(|tensor| self.bytes[tensor]).fold(0, u64::saturating_add)
    }

    /// The cheapest schedule with at most `limit` bytes alive; `Some(None)` if there is none, `None` if there are too
    /// many states to tell.
    fn cheapest(&self, limit: u64) -> Option<Option<Recomputed>> {
        let start: State = (self.inputs, 0);
        let at_start = self.size(self.inputs);
        // The inputs alone are too large.
        if at_start > limit {
            return Some(None);
        }
        let mut frontier = Frontier::default();
        frontier.reach(start, Way { cost: (0, 0), peak: at_start, from: start, op: DROPPED });
        while let Some((cost, peak, state)) = frontier.next() {
            // The end: all outputs are in memory, and all ops with an effect have run.
            if state.0 & self.outputs == self.outputs && state.1 as usize == self.effects.len() {
                return Some(Some(self.schedule(&frontier.ways, state)));
            }
            for op in 0..self.ops.len() {
                let Some((next, during)) = self.run(state, op, limit) else { continue };
                let cost = (cost.0.saturating_add(self.ops[op].macs), cost.1 + 1);
                frontier.reach(next, Way { cost, peak: peak.max(during), from: state, op });
            }
            // Inputs that must stay are never dropped. An output may be, and is computed again in the end.
            let droppable = state.0 & !self.kept;
            for tensor in (0..self.bytes.len()).filter(|tensor| droppable >> tensor & 1 == 1) {
                let next = (state.0 & !(1 << tensor), state.1);
                frontier.reach(next, Way { cost, peak, from: state, op: DROPPED });
            }
            if frontier.ways.len() > MOST_STATES {
                return None;
            }
        }
        Some(None)
    }

    /// The state after an op has run in the state (`there`, `effects`), and the bytes alive while it ran; `None` if it
    /// cannot run, need not run, or needs more than `limit`.
    fn run(&self, (there, effects): State, op: usize, limit: u64) -> Option<(State, u64)> {
        let Move { reads, writes, scratch, effect, .. } = self.ops[op];
        let is_due = effect.is_none_or(|place| place == effects);
        // An op whose results are all in memory need not run, and an output of the network that is in memory is not
        // written again.
        let is_needed = effect.is_some() || writes & !there != 0 && writes & there & self.outputs == 0;
        let during = there | writes;
        let alive = self.size(during).saturating_add(scratch);
        let can_run = reads & !there == 0 && is_due && is_needed && alive <= limit;
        can_run.then_some(((during, effects + u32::from(effect.is_some())), alive))
    }

    /// The schedule of the way to a state: the ops, read from the end back to the start, which is the state that was
    /// reached from itself.
    fn schedule(&self, ways: &BTreeMap<State, Way>, end: State) -> Recomputed {
        let mut order = Vec::new();
        let mut at = end;
        while ways[&at].from != at {
            let way = ways[&at];
            order.extend((way.op != DROPPED).then(|| OpId::from_index(way.op)));
            at = way.from;
        }
        order.reverse();
        Recomputed { order, macs: ways[&end].cost.0, peak: ways[&end].peak }
    }
}

/// A set of tensors as bits. Tensors without a number, which are constants, are left out.
fn bits(tensors: &[TensorId], numbers: &BTreeMap<TensorId, u32>) -> u32 {
    tensors.iter().filter_map(|tensor| numbers.get(tensor)).fold(0, |bits, number| bits | 1 << number)
}

/// A schedule of an order in which ops may come more than once. One run of an op writes the op's own tensors, and
/// every other run writes copies of them. The run that writes the op's own tensors is the first one, except for an op
/// that writes an output of the network: there it is the last one, because the output has to stay until the end.
/// Readers take the copy that was written last.
pub fn with_clones(net: &Net, order: &[OpId]) -> Schedule {
    let graph = net.graph;
    let mut schedule = Schedule::default();
    // How often each op has run so far, and for each tensor of the graph the copy that was written last.
    let mut runs = vec![0u32; graph.ops.len()];
    let mut latest = BTreeMap::<TensorId, TensorId>::new();
    for &op in order {
        let draft = &graph.ops[op];
        // A reader takes the copy that was written last, so that earlier copies can be dropped.
        let inputs = draft.inputs.iter().map(|input| latest.get(input).copied().unwrap_or(*input)).collect();
        runs[op.index()] += 1;
        let run = runs[op.index()];
        // The number of the run that writes the op's own tensors.
        let is_asked_for = draft.outputs.iter().any(|output| graph.outputs.contains(output));
        let own = if is_asked_for { order.iter().filter(|&&other| other == op).count() as u32 } else { 1 };
        let outputs = draft.outputs.iter().map(|&output| {
            // One run writes the tensors of the network itself, so that a schedule without repetition changes nothing.
            if run == own {
                latest.insert(output, output);
                return output;
            }
            let tensor = &graph.tensors[output];
            let name = format!("{}@{run}", tensor.name);
            schedule.tensors.push(NewTensor { like: output, shape: tensor.shape.clone(), name });
            let clone = TensorId::from_index(graph.tensors.len() + schedule.tensors.len() - 1);
            latest.insert(output, clone);
            clone
        });
        let outputs = outputs.collect();
        schedule.steps.push(Step { op, inputs, outputs });
    }
    schedule
}

/// At most so many times [`improved`] lets one more op, or chain of ops, run again.
const MOST_CLONES: usize = 24;
/// The inputs of an op that runs again may have to be computed again as well, and so may their inputs: at most so many
/// ops deep.
const DEEPEST: usize = 3;

/// Schedules that need less memory than the one with this order, each less than the one before it: in each, one more
/// op or chain of ops runs again.
pub fn improved(net: &Net, order: &[OpId]) -> Vec<Vec<OpId>> {
    let mut found: Vec<Vec<OpId>> = Vec::new();
    let mut order = order.to_vec();
    let mut peak = peak(net, &order).0;
    while found.len() < MOST_CLONES {
        let better = clones(net, &order).into_iter().map(|order| (self::peak(net, &order).0, order)).min();
        let Some((less, next)) = better.filter(|(less, _)| *less < peak) else { break };
        (peak, order) = (less, next);
        found.push(order.clone());
    }
    found
}

/// Most bytes alive, and the step at which they are.
fn peak(net: &Net, order: &[OpId]) -> (u64, usize) {
    let schedule = with_clones(net, order);
    let curve = Lives::new(net, &schedule).curve(net, &schedule);
    let most = curve.iter().copied().fold(0, u64::max);
    (most, curve.iter().position(|&bytes| bytes == most).unwrap_or(0))
}

/// Orders in which a tensor that is alive at the worst moment (the step with the most bytes alive) and not in use
/// there is computed again for its next reader, so that it need not be alive at that moment: one order for each such
/// tensor and each depth at which its inputs are computed again, too.
fn clones(net: &Net, order: &[OpId]) -> Vec<Vec<OpId>> {
    let schedule = with_clones(net, order);
    let lives = Lives::new(net, &schedule);
    let (_, worst) = peak(net, order);
    let mut found = Vec::new();
    for tensor in 0..lives.bytes.len() {
        // Inputs of the network are written by no step and cannot be computed again.
        let Some(written) = lives.written[tensor].filter(|&written| written < worst) else { continue };
        let next = (worst..order.len()).find(|&at| reads(&schedule.steps[at], tensor));
        // What the step at the worst moment reads must be in memory then. A tensor without a later reader is not in
        // the way.
        let Some(reader) = next.filter(|&reader| reader > worst) else { continue };
        for depth in 1..=DEEPEST {
            let mut again = Vec::new();
            if !collect(net, &schedule, &lives, written, (reader, worst), depth, &mut again) {
                continue;
            }
            let mut longer = order.to_vec();
            longer.splice(reader..reader, again);
            found.push(longer);
        }
    }
    found
}

/// Whether a step reads the tensor with this number.
fn reads(step: &Step, tensor: usize) -> bool {
    step.inputs.iter().any(|input| input.index() == tensor)
}

/// Lists in `again` the ops that run again, in their order, so that the result of the step `written` is there before
/// the step `reader`: that step's op and, `depth - 1` levels deep, the ops of those inputs that are not in memory any
/// more. `worst` is the step with the most bytes alive. `false` if one of the ops must run once only.
fn collect(
    net: &Net,
    schedule: &Schedule,
    lives: &Lives,
    written: usize,
    (reader, worst): (usize, usize),
    depth: usize,
    again: &mut Vec<OpId>,
) -> bool {
    let step = &schedule.steps[written];
    let op = &net.graph.ops[step.op];
    // An op with state must run once, and an output of the network must be written once.
    if op.is_stateful || step.outputs.iter().any(|output| net.graph.outputs.contains(output)) {
        return false;
    }
    for input in &step.inputs {
        let is_there = lives.is_alive_before(input.index(), reader);
        // An input that is still in memory before `reader` costs nothing. An input that is not, and that was written
        // before the worst moment, is computed again if `depth` allows it. In all other cases the input is kept in
        // memory longer, up to the op that runs again.
        let source = lives.written[input.index()].filter(|&source| depth > 1 && !is_there && source < worst);
        if let Some(source) = source
            && !collect(net, schedule, lives, source, (reader, worst), depth - 1, again)
        {
            return false;
        }
    }
    if !again.contains(&step.op) {
        again.push(step.op);
    }
    true
}

#[cfg(test)]
mod tests {
    use memplan_core::{Bytes, IndexVec};
    use memplan_models::graph::{Graph, Home, Op, Tensor};

    use super::*;
    use crate::layer::Layer;
    use crate::net::Dialect;

    /// A graph by the bytes of its tensors, and for each op what it reads and writes.
    fn graph(bytes: &[u64], ops: &[(&[usize], usize)], outputs: &[usize]) -> Graph {
        let tensor = |(index, &bytes): (usize, &u64)| Tensor {
            name: format!("t{index}"),
            element: "INT8",
            shape: vec![bytes],
            bytes: Bytes(bytes),
            home: Home::Arena,
        };
        let ids = |indices: &[usize]| indices.iter().map(|&index| TensorId::from_index(index)).collect::<Vec<_>>();
        let op = |(reads, writes): &(&[usize], usize)| Op {
            kind: "OP".to_owned(),
            inputs: ids(reads),
            outputs: ids(&[*writes]),
            ..Op::default()
        };
        Graph {
            tensors: bytes.iter().enumerate().map(tensor).collect::<IndexVec<_, _>>(),
            ops: ops.iter().map(op).collect(),
            inputs: ids(&[0]),
            outputs: ids(outputs),
            ..Graph::default()
        }
    }

    fn net(graph: &Graph, macs: u64) -> Net<'_> {
        let layer = || Layer { macs, spatial: Err("it is a test".to_owned()) };
        let layers = graph.ops.iter().map(|_| layer()).collect();
        Net { graph, layers, dialect: Dialect::TFLITE, alignment: Bytes(1), reuses_inputs: true }
    }

    /// in ─► a ─► b (large) ─► c ─► d, and d reads a, too.
    fn long_life() -> Graph {
        graph(&[1, 10, 50, 2, 1], &[(&[0], 1), (&[0], 2), (&[2], 3), (&[3, 1], 4)], &[4])
    }

    #[test]
    fn a_long_life_becomes_two_short_ones() {
        // Both ways of `a`: early and kept, or late. Here it can simply run later.
        let graph = long_life();
        let found = schedules(&net(&graph, 5)).unwrap();
        let order: Vec<usize> = found[0].order.iter().map(|op| op.index()).collect();
        assert_eq!((order, found[0].peak, found[0].macs), (vec![1, 2, 0, 3], 53, 20));
        // Now b reads a as well, so that a is needed early and late.
        let graph = self::graph(&[1, 10, 50, 2, 1], &[(&[0], 1), (&[1], 2), (&[2], 3), (&[3, 1], 4)], &[4]);
        let found = schedules(&net(&graph, 5)).unwrap();
        let peaks: Vec<(u64, u64, usize)> = found.iter().map(|one| (one.peak, one.macs, one.order.len())).collect();
        // Without recomputation a, b and c are there at once; b alone needs 61.
        assert_eq!(peaks, [(62, 20, 4), (61, 25, 5)]);
        let last = &found[1];
        let schedule = with_clones(&net(&graph, 5), &last.order);
        assert_eq!(peak(&net(&graph, 5), &last.order).0, 61);
        assert_eq!((schedule.tensors.len(), schedule.tensors[0].name.as_str()), (1, "t1@2"));
    }

    #[test]
    fn a_large_graph_is_improved_step_by_step() {
        let graph = graph(&[1, 10, 50, 2, 1], &[(&[0], 1), (&[1], 2), (&[2], 3), (&[3, 1], 4)], &[4]);
        let net = net(&graph, 5);
        let order: Vec<OpId> = graph.ops.ids().collect();
        let found = improved(&net, &order);
        let peaks: Vec<u64> = found.iter().map(|order| peak(&net, order).0).collect();
        assert_eq!(peaks, [61]);
    }

    #[test]
    fn what_has_an_effect_runs_once() {
        let mut graph = graph(&[1, 10, 50, 2, 1], &[(&[0], 1), (&[1], 2), (&[2], 3), (&[3, 1], 4)], &[4]);
        graph.ops[OpId::from_index(0)].is_stateful = true;
        let net = net(&graph, 5);
        assert_eq!(schedules(&net).unwrap().len(), 1);
        assert!(improved(&net, &graph.ops.ids().collect::<Vec<_>>()).is_empty());
    }
}
