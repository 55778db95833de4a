//! Runs the transfer to a fixpoint over the graph of one function.
//!
//! A *state* says, at one point of the program, which bytes of which buffers are written and which are lost; `transfer`
//! says what a step does to it. Where paths meet, their states are joined, and a node whose state has changed is
//! visited again, until nothing changes any more. States only grow, so this ends.
//!
//! Nodes are visited in reverse postorder, so a loop settles before the code after it is looked at. Only nodes where
//! paths meet keep their state; along a straight run the state is handed on.
//!
//! Words from other files: the [`Machine`] knows the function and says what a [`Step`] does to a state. Its
//! `concurrency` says which asynchronous work may be running (`pending`) at a node: `launches` has the op that hands
//! out each token. The graph's `async_exits` are the nodes in which the inside of asynchronous work ends.

use std::collections::{BTreeSet, HashMap};

use memplan_core::{Id, IndexVec, patience};
use memplan_program::TokenId;

use super::graph::{NodeId, Step};
use super::state::State;
use super::transfer::Machine;

/// Visits nodes until no state changes any more. Of the waiting nodes the first in reverse postorder comes next.
///
/// The result is in `machine.findings`: each step that is run reports there what it finds wrong, each violation once.
/// What is found before the last visit stays true, since states only grow. If the patience ends first, violations may
/// be missing, and the caller must not take the findings for the answer.
pub(super) fn solve(machine: &mut Machine<'_>) {
    let graph = machine.graph;
    let Some(&entry) = graph.order.first() else { return };
    let mut solver = Solver {
        states: IndexVec::filled(None, graph.nodes.len()),
        keeps: keeps_state(machine),
        position: positions(machine),
        awaits: awaits(machine),
        work: BTreeSet::new(),
        machine,
    };
    // The function begins with a state in which nothing is written. Its arrival makes the entry the first node to visit.
    solver.arrive(entry, State::new(solver.machine.names.entries.len()));
    while let Some(position) = solver.work.pop_first() {
        if patience::is_over() {
            return;
        }
        solver.visit(graph.order[position]);
    }
}

/// The states so far and what is still to do.
struct Solver<'m, 'a> {
    machine: &'m mut Machine<'a>,
    /// The state in which control comes to each node, joined over all ways; `None` if none has come yet, or if the node
    /// has been visited and need not keep it.
    states: IndexVec<NodeId, Option<State>>,
    /// Whether a node must remember its state for a later visit.
    keeps: IndexVec<NodeId, bool>,
    /// The position of each node in reverse postorder; 0 for nodes that control cannot reach.
    position: IndexVec<NodeId, usize>,
    /// For the exits of asynchronous regions: the nodes that wait for them.
    awaits: HashMap<NodeId, Vec<NodeId>>,
    /// The positions of the nodes to visit.
    work: BTreeSet<usize>,
}

impl Solver<'_, '_> {
    /// A state flows into a node: it is joined with what has come there before. If that changes anything, the node has
    /// to be visited.
    fn arrive(&mut self, node: NodeId, state: State) {
        let changed = match &mut self.states[node] {
            Some(old) => old.join(self.machine.names, &state),
            empty => {
                *empty = Some(state);
                true
            }
        };
        if changed {
            self.work.insert(self.position[node]);
        }
    }

    /// Runs the steps of a node on the state that has arrived there and hands the result to the nodes that its edges
    /// lead to.
    fn visit(&mut self, id: NodeId) {
        // Where paths meet, the state has to stay for the next join, so a copy is changed. At any other node the state
        // is taken out: nobody shares it then, and changes need not copy nodes of the trie.
        let state = match self.keeps[id] {
            true => self.states[id].clone(),
            false => self.states[id].take(),
        };
        let Some(mut state) = state else { return };
        let graph = self.machine.graph;
        let node = &graph.nodes[id];
        for &step in &node.steps {
            if patience::is_over() {
                return;
            }
            match step {
                Step::Await(awaited) => {
                    // If the awaited work has not reached its end yet, nothing after the await can run. `wake_awaits`
                    // brings the solver back here.
                    if !self.await_token(&mut state, id, awaited.token) {
                        return;
                    }
                }
                step => self.machine.step(&mut state, id, step),
            }
        }
        // Each edge gets a copy of the state, which costs nothing by itself, and the last edge gets the original.
        if let Some((last, others)) = node.edges.split_last() {
            for edge in others {
                let mut state = state.clone();
                self.machine.hand_over(&mut state, &edge.moves, true);
                self.arrive(edge.target, state);
            }
            self.machine.hand_over(&mut state, &last.moves, true);
            self.arrive(last.target, state);
        }
        self.wake_awaits(id);
    }

    /// Combines the state of the code with the state at the end of the awaited work. `false` says that no state has
    /// come to that end yet, so that the code after the await cannot run either.
    fn await_token(&mut self, state: &mut State, node: NodeId, token: TokenId) -> bool {
        let concurrency = self.machine.concurrency;
        // Nobody hands out the token in this function, or the work cannot be running here: there is nothing to wait
        // for.
        let Some(&launch) = concurrency.launches.get(&token) else { return true };
        let Some(pending) = concurrency.before[node].iter().find(|pending| pending.launch == launch) else {
            return true;
        };
        // `pending` says whether the work was launched on every path (`certain`) and whether several runs of it may
        // be under way (`several`).
        let exits = self.machine.graph.async_exits.get(&launch).into_iter().flatten();
        let exits: Vec<State> = exits.filter_map(|&exit| self.states[exit].clone()).collect();
        let Some((first, rest)) = exits.split_first() else {
            // The region has not come to an end so far. If it was certainly launched, the code after the await is not
            // reached either.
            return !pending.certain;
        };
        // A launch inside of a copied loop has one exit per copy. The work may have ended at any of them.
        let mut exit = first.clone();
        for other in rest {
            exit.join(self.machine.names, other);
        }
        self.machine.awaited(state, &exit, launch, pending.certain && !pending.several);
        true
    }

    /// If a node that has just been visited is the end of asynchronous work, the nodes that await the work have to be
    /// visited again. Nodes that control has not reached yet will be visited anyway.
    fn wake_awaits(&mut self, node: NodeId) {
        for &awaiting in self.awaits.get(&node).into_iter().flatten() {
            if self.states[awaiting].is_some() {
                self.work.insert(self.position[awaiting]);
            }
        }
    }
}

/// The nodes that must keep their state: those that several paths lead to, ends of asynchronous regions (awaits read
/// their state), and nodes that begin with an await (they may be visited again).
fn keeps_state(machine: &Machine<'_>) -> IndexVec<NodeId, bool> {
    let graph = machine.graph;
    let mut arrivals = vec![0u32; graph.nodes.len()];
    // The initial state arrives at the entry, in addition to what edges bring.
    if let Some(entry) = graph.order.first() {
        arrivals[entry.index()] += 1;
    }
    for &node in &graph.order {
        for edge in &graph.nodes[node].edges {
            arrivals[edge.target.index()] += 1;
        }
    }
    let mut keeps: IndexVec<NodeId, bool> = arrivals.into_iter().map(|count| count > 1).collect();
    for exits in machine.concurrency.launches.values().filter_map(|op| graph.async_exits.get(op)) {
        exits.iter().for_each(|&exit| keeps[exit] = true);
    }
    let is_await = |step: Option<&Step>| matches!(step, Some(Step::Await(_)));
    for (id, node) in graph.nodes.iter_enumerated() {
        keeps[id] |= is_await(node.steps.first());
        // The graph begins a node at every await. An await behind other steps would lose the state that it waits with.
        let mut later = node.steps.iter().skip_while(|step| is_await(Some(step)));
        debug_assert!(!later.any(|step| is_await(Some(step))), "an await stands at the beginning of its node");
    }
    keeps
}

/// The position of each node in reverse postorder; 0 for nodes that control cannot reach.
fn positions(machine: &Machine<'_>) -> IndexVec<NodeId, usize> {
    let mut position = IndexVec::filled(0, machine.graph.nodes.len());
    for (index, &node) in machine.graph.order.iter().enumerate() {
        position[node] = index;
    }
    position
}

/// For the end of each piece of concurrent work, the nodes that wait for it.
fn awaits(machine: &Machine<'_>) -> HashMap<NodeId, Vec<NodeId>> {
    let mut awaits: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
    for &node in &machine.graph.order {
        for step in &machine.graph.nodes[node].steps {
            let Step::Await(awaited) = step else { continue };
            let launch = machine.concurrency.launches.get(&awaited.token);
            let exits = launch.and_then(|op| machine.graph.async_exits.get(op));
            exits.into_iter().flatten().for_each(|&exit| awaits.entry(exit).or_default().push(node));
        }
    }
    awaits
}
