//! `min-cost-flow`: which buffer hands its object to which next one, as a flow of least cost.
//!
//! Every buffer either gets a new object or takes over that of a buffer that has
//! ended. A new object costs the buffer's size; taking over costs what the object
//! has to grow. Each buffer can be taken over once. That is an assignment problem:
//!
//! ```text
//!             ┌──► left(a) ──► right(c) ──┐      left(j) ──► right(i): i takes over
//!   source ───┼──► left(b)     right(b) ──┼──► sink      from j, cost max(0, size i - size j)
//!             └──────────────► right(a) ──┘      source ──► right(i): new object,
//!                                                          cost size i; all capacities 1
//! ```
//!
//! Cheapest paths from the source to the sink are found one by one, each in what the paths before have left (a later
//! path may undo a choice of an earlier one), until every right vertex has a unit of flow. An edge that is used is
//! *saturated*. A chain of saturated hand-overs is an object as large as its largest buffer.
//!
//! The cost is an approximation: it compares a buffer with the one before it in the chain, not with the size that the
//! object has by then. A chain 64 → 8 → 64 is charged 64 + 0 + 56, although its object needs 64 bytes only. So the
//! solver avoids a hand-over that would be free.
//!
//! There are O(n²) edges, and a shortest path for every buffer, so at most
//! [`MOST_BUFFERS`] buffers in one space are taken. Costs are 64-bit.
//!
//! A [`Record`] is a buffer as a size and one stretch of time. The network names records by their place in the order of
//! starts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use memplan_core::{IndexVec, Outcome, Problem, SpaceId, patience};

use crate::records::{Record, by_start, supports_records};
use crate::sharing::{Sharing, plan_sharing};
use crate::{Assign, Feature, Refusal, Request, Strategy};

/// The most buffers a space may have.
pub const MOST_BUFFERS: usize = 256;

/// See the module documentation.
pub struct MinCostFlow;

impl Strategy for MinCostFlow {
    fn name(&self) -> &'static str {
        "min-cost-flow"
    }

    fn describe(&self) -> &'static str {
        "hands objects on along a flow of least growth; for up to 256 buffers a space"
    }

    fn assigns(&self) -> &'static [Assign] {
        &[Assign::Objects, Assign::Offsets]
    }

    fn supports(&self, feature: Feature, _: Assign) -> bool {
        supports_records(feature)
    }

    /// Refuses a problem with more than [`MOST_BUFFERS`] buffers in a space.
    fn refuse(&self, problem: &Problem, _: &Request) -> Option<Refusal> {
        let mut counts = IndexVec::<SpaceId, usize>::filled(0, problem.spaces().len());
        for space in problem.buffers().iter().filter_map(|buffer| buffer.spaces.first()) {
            counts[*space] += 1;
        }
        let count = counts.iter().copied().max().filter(|&count| count > MOST_BUFFERS)?;
        Some(Refusal::Limit {
            strategy: self.name(),
            limit: format!("{MOST_BUFFERS} buffers a space (it needs a graph of n² edges), and there are {count}"),
        })
    }

    fn plan(&self, problem: &Problem, request: &Request) -> Outcome {
        plan_sharing(problem, request.assign, share_by_flow)
    }
}

/// Solves the flow and reads the objects off it: each saturated edge to a new object starts a chain, and its successors
/// take that object over. `None` if the caller's patience ends.
fn share_by_flow(records: &[Record]) -> Option<Sharing> {
    let order = by_start(records);
    let mut network = Network::new(records, &order);
    while network.augment() {
        // A path is found in O(n²), so every one of them asks the clock.
        if patience::is_over_now() {
            return None;
        }
    }
    let mut object_of = vec![0; records.len()];
    let mut sizes = Vec::new();
    // Records that got a new object are the first of their chains; the others are reached from them.
    for first in 0..order.len() {
        if !network.is_saturated(network.new_object[first]) {
            continue;
        }
        let mut bytes = 0;
        let mut next = Some(first);
        while let Some(place) = next {
            object_of[order[place]] = sizes.len();
            bytes = bytes.max(records[order[place]].bytes);
            next = network.successor(place);
        }
        sizes.push(bytes);
    }
    Some(Sharing::of_bytes(object_of, sizes))
}

/// An edge of capacity 1. Its reverse is its neighbour in the list: number `edge ^ 1`. Even numbers are the edges of
/// the module's picture, odd ones their reverses.
struct Edge {
    to: usize,
    /// Whether a path may go through it. A reverse is open if its edge is used.
    is_open: bool,
    cost: i64,
}

/// A size as a cost. Sizes are below 2^63, so the number that stands in for larger ones is never used.
fn cost(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX / 2)
}

/// Vertices: left(i) is i, right(i) is n + i, then the source and the sink.
struct Network {
    /// How many records there are: n.
    count: usize,
    edges: Vec<Edge>,
    /// Edges out of each vertex, reverse ones included, in the order they were added.
    out: Vec<Vec<usize>>,
    /// The edge from the source that gives each record a new object.
    new_object: Vec<usize>,
}

impl Network {
    /// The network of the module's picture. A record gets an edge from every record that has ended before it starts.
    fn new(records: &[Record], order: &[usize]) -> Network {
        let count = order.len();
        let mut network =
            Network { count, edges: Vec::new(), out: vec![Vec::new(); 2 * count + 2], new_object: Vec::new() };
        // Records come in the order of their starts. Those that have ended by then move from `alive` to `expired`.
        let mut alive = BinaryHeap::new();
        let mut expired: Vec<usize> = Vec::new();
        for (place, &index) in order.iter().enumerate() {
            let record = &records[index];
            while alive.peek().is_some_and(|&Reverse((end, _))| end <= record.start) {
                expired.extend(alive.pop().map(|Reverse((_, place))| place));
            }
            alive.push(Reverse((record.end, place)));
            network.add(network.source(), place, 0);
            network.add(count + place, network.sink(), 0);
            let new_object = network.add(network.source(), count + place, cost(record.bytes));
            network.new_object.push(new_object);
            for &giver in &expired {
                let growth = record.bytes.saturating_sub(records[order[giver]].bytes);
                network.add(giver, count + place, cost(growth));
            }
        }
        network
    }

    /// The vertex at which every path begins.
    fn source(&self) -> usize {
        2 * self.count
    }

    /// The vertex at which every path ends.
    fn sink(&self) -> usize {
        2 * self.count + 1
    }

    /// Adds an edge and its reverse, which is closed and has the negative cost. Returns the number of the edge.
    fn add(&mut self, from: usize, to: usize, cost: i64) -> usize {
        let edge = self.edges.len();
        self.edges.push(Edge { to, is_open: true, cost });
        self.edges.push(Edge { to: from, is_open: false, cost: -cost });
        self.out[from].push(edge);
        self.out[to].push(edge + 1);
        edge
    }

    /// Whether an edge is used.
    fn is_saturated(&self, edge: usize) -> bool {
        !self.edges[edge].is_open
    }

    /// The record that takes over the object of this one, by its place in the order; `None` if the chain ends here.
    fn successor(&self, place: usize) -> Option<usize> {
        let hand_over = |&&edge: &&usize| edge % 2 == 0 && self.is_saturated(edge);
        self.out[place].iter().find(hand_over).map(|&edge| self.edges[edge].to - self.count)
    }

    /// Sends one unit of flow along a cheapest path. `false` if the sink cannot be reached any more: the flow is
    /// complete.
    ///
    /// The search goes in rounds. Every vertex of a round looks along its edges whether they make a path to another
    /// vertex cheaper. A vertex to which a cheaper path was found has its turn in the next round. Which of several
    /// cheapest paths is found depends on this order.
    fn augment(&mut self) -> bool {
        let (source, sink) = (self.source(), self.sink());
        // By vertex: what the cheapest path to it costs that was found so far, and the last edge of that path.
        // (`i64::MAX` and `usize::MAX` for vertices that no path has reached; their edges are not looked at.)
        let mut distance = vec![i64::MAX; sink + 1];
        let mut reached_by = vec![usize::MAX; sink + 1];
        // Whether a vertex is in the next round already.
        let mut waits = vec![false; sink + 1];
        distance[source] = 0;
        let mut round = vec![source];
        while !round.is_empty() {
            let mut next_round = Vec::new();
            for &vertex in &round {
                for &number in &self.out[vertex] {
                    let edge = &self.edges[number];
                    // Costs of reversed edges are negative, so a vertex may be improved more than once. There are no
                    // cycles of negative cost, so the rounds end.
                    if edge.is_open && distance[vertex] + edge.cost < distance[edge.to] {
                        distance[edge.to] = distance[vertex] + edge.cost;
                        reached_by[edge.to] = number;
                        if !std::mem::replace(&mut waits[edge.to], true) {
                            next_round.push(edge.to);
                        }
                    }
                }
            }
            waits.fill(false);
            round = next_round;
        }
        if distance[sink] == i64::MAX {
            return false;
        }
        // The path is turned round: each of its edges is closed and its reverse is opened, so that a later path may
        // undo the choice. Edge pairs have neighbouring numbers, hence the `^ 1`.
        let mut vertex = sink;
        while vertex != source {
            let edge = reached_by[vertex];
            self.edges[edge].is_open = false;
            self.edges[edge ^ 1].is_open = true;
            vertex = self.edges[edge ^ 1].to;
        }
        true
    }
}
