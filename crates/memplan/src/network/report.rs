//! What a network keeps alive, and when: the answer to "why so much?".

use std::collections::HashMap;

use memplan_core::{BufferId, Bytes, Id, Problem, Step, bound};
use memplan_models::graph::problem::Role;
use memplan_models::graph::{Graph, GraphId, Op, OpId, TensorId};

use super::Network;
use crate::map::Remark;

/// The buffers that are alive at the step at which most bytes are, for a user who asks why a model
/// needs so much.
#[derive(Clone, Debug, PartialEq)]
pub struct PeakReport {
    /// The first step at which most bytes are alive.
    pub step: u64,
    /// The op that runs at that step; `input` at step 0, when the inputs are written.
    pub op: String,
    /// Bytes alive at that step.
    pub bytes: Bytes,
    /// What is alive, the largest first.
    pub rows: Vec<PeakRow>,
}

/// Something that is alive at the peak.
#[derive(Clone, Debug, PartialEq)]
pub struct PeakRow {
    /// The buffer.
    pub buffer: BufferId,
    /// The op that writes it; `input` for inputs of the network.
    pub op: String,
    /// The name of the tensor.
    pub tensor: String,
    /// Its shape and element type.
    pub shape: String,
    /// Its bytes.
    pub bytes: Bytes,
    /// This row and those above, in per cent of the peak.
    pub cumulative: f64,
}

/// A step, the op that runs at it, and what is alive then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveAt {
    /// The step.
    pub step: u64,
    /// The op; `input` at step 0.
    pub op: String,
    /// Bytes alive.
    pub bytes: Bytes,
}

/// The buffers that are alive at a step.
fn alive_at(problem: &Problem, step: Step) -> impl Iterator<Item = BufferId> {
    let alive = problem.buffers().iter_enumerated().filter(move |(_, buffer)| {
        buffer.lifetime.intervals().any(|interval| interval.start <= step && step < interval.end)
    });
    alive.map(|(id, _)| id)
}

impl Network {
    /// What is alive at the peak; `None` if nothing ever is. `problem` is the network's, possibly
    /// on a target: it has the same buffers, perhaps with other spaces and alignments.
    pub fn peak_report(&self, problem: &Problem) -> Option<PeakReport> {
        let peak = bound::peak_live(problem, |_| true);
        let Step(step) = peak.step?;
        // The names of the ops, by step, and the op that writes each tensor.
        let labels = self.labels();
        let size = |buffer: BufferId| problem.buffers()[buffer].bytes().unwrap_or_default();
        let mut alive: Vec<BufferId> = alive_at(problem, Step(step)).collect();
        // The largest come first, because they are what a reader can do something about. Equal sizes keep their
        // order, so that two runs print the same.
        alive.sort_by_key(|&buffer| (std::cmp::Reverse(size(buffer)), buffer));
        let mut sum = 0u64;
        let mut rows = Vec::with_capacity(alive.len());
        for buffer in alive {
            sum += size(buffer).0;
            // The share counts what is listed so far. It shows at a glance how few tensors make up most of the peak.
            let cumulative = 100.0 * sum as f64 / peak.bytes.0.max(1) as f64;
            let (op, shape) = self.origin(buffer, &labels);
            let tensor = problem.buffers()[buffer].name.to_string();
            rows.push(PeakRow { buffer, op, tensor, shape, bytes: size(buffer), cumulative });
        }
        let op = labels.at_step.get(&step).cloned().unwrap_or_else(|| "input".to_owned());
        Some(PeakReport { step, op, bytes: peak.bytes, rows })
    }

    /// Bytes alive at every step, with the op that runs then. At step 0 no op runs: the inputs are
    /// written.
    pub fn live_curve(&self, problem: &Problem) -> Vec<LiveAt> {
        let labels = self.labels();
        // Pairs of a step and the bytes alive from that step on, where the number changes.
        let changes = bound::live_bytes(problem, |_| true);
        let mut changes = changes.into_iter().peekable();
        let mut bytes = Bytes::ZERO;
        let mut curve = Vec::new();
        for step in 0..=self.timeline().last {
            // The changes up to this step; between two changes the number stays the same.
            while let Some((_, now)) = changes.next_if(|(Step(at), _)| *at <= step) {
                bytes = now;
            }
            let op = labels.at_step.get(&step).cloned().unwrap_or_else(|| "input".to_owned());
            curve.push(LiveAt { step, op, bytes });
        }
        curve
    }

    /// What is known about the buffers besides their sizes: what they are for, the op that writes
    /// them, shape and element type. Each of the three remarks has a text for every buffer, in the
    /// order of the buffers, which is that of the roles (a role says what a buffer is: a tensor, or
    /// scratch memory of an op).
    pub fn remarks(&self) -> Vec<Remark> {
        let labels = self.labels();
        let kinds = self.roles().iter().map(|role| Some(self.purpose(role).to_owned())).collect();
        let origins: Vec<(String, String)> = self.roles().ids().map(|buffer| self.origin(buffer, &labels)).collect();
        let ops = origins.iter().map(|(op, _)| Some(op.clone())).collect();
        let tensors = origins.into_iter().map(|(_, shape)| Some(shape)).collect();
        [("kind", kinds), ("op", ops), ("tensor", tensors)]
            .map(|(what, of)| Remark { what: what.to_owned(), of })
            .into()
    }

    /// What a buffer is for, in words. Graph 0 is the network itself, the others are bodies of its loops and branches.
    fn purpose(&self, role: &Role) -> &'static str {
        match *role {
            Role::Scratch(..) => "scratch memory",
            Role::Tensor(graph, tensor) => {
                let Graph { inputs, outputs, .. } = &self.model().graphs[graph];
                match (graph.index(), inputs.contains(&tensor), outputs.contains(&tensor)) {
                    (0, true, _) => "input",
                    (0, _, true) => "output",
                    (0, false, false) => "intermediate result",
                    _ => "inside a body",
                }
            }
        }
    }

    /// The op that runs at each step from 1 on.
    pub fn step_names(&self) -> Vec<(u64, String)> {
        self.timeline().starts().map(|(step, graph, op)| (step, self.label(graph, op))).collect()
    }

    /// The op that writes a buffer (`input` for a tensor that no op writes), and the buffer's shape and element type.
    fn origin(&self, buffer: BufferId, labels: &Labels) -> (String, String) {
        match self.roles()[buffer] {
            Role::Tensor(graph, tensor) => {
                let writer = labels.writer.get(&(graph, tensor));
                let op = writer.map_or_else(|| "input".to_owned(), |&op| self.label(graph, op));
                (op, self.model().graphs[graph].tensors[tensor].describe())
            }
            Role::Scratch(graph, op, _) => (self.label(graph, op), "scratch".to_owned()),
        }
    }

    /// The kind and the name of an op.
    fn label(&self, graph: GraphId, op: OpId) -> String {
        let draft: &Op = &self.model().graphs[graph].ops[op];
        draft.label()
    }

    /// Which op starts at each step, and which op writes each tensor.
    fn labels(&self) -> Labels {
        let starts = self.timeline().starts();
        let at_step = starts.map(|(step, graph, op)| (step, self.label(graph, op))).collect();
        let graphs = self.model().graphs.iter_enumerated();
        let writer = graphs.flat_map(|(graph, content)| {
            let ops = content.ops.iter_enumerated();
            ops.flat_map(move |(op, draft)| draft.outputs.iter().map(move |&tensor| ((graph, tensor), op)))
        });
        Labels { at_step, writer: writer.collect() }
    }
}

/// The op that writes each tensor, and the op that runs at each step.
struct Labels {
    /// The op that runs at each step, by the step.
    at_step: HashMap<u64, String>,
    /// The op that writes each tensor, in the graph of the tensor.
    writer: HashMap<(GraphId, TensorId), OpId>,
}
