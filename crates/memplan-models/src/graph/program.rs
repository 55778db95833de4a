//! From a network to the program a plan for it is checked against.
//!
//! [`problem`](super::problem) computes lifetimes from a network. If one of these
//! lifetimes were too short, a plan could keep all rules of the problem and still be
//! wrong. So the dataflow check gets a program that is made without lifetimes: every
//! op reads its inputs and writes its outputs, in order, and the check follows the
//! contents through the plan's addresses.
//!
//! The program has no loops or branches. The bodies of an op are written out
//! where they run, one after the other. The body of a loop is written out twice,
//! so that the second iteration reads what the first one left:
//!
//! ```text
//!   Loop     copy the op's inputs to the body's inputs
//!            the ops of the body
//!            copy the body's outputs to the body's inputs
//!            the ops of the body
//!            copy the body's outputs to the op's outputs
//! ```

use memplan_core::{BufferId, Id, IndexVec};
use memplan_program::{OpDraft, OverlayKind, Program, ProgramBuilder, ProgramError, Size, ValueId};

use super::problem::{Assumptions, Placed, Role};
use super::{Control, GraphId, Home, MAX_STEPS, Model, Op, OpId, TensorId};

/// The program of a model, whose allocation sites are the buffers of the problem `placed`, in the same order. `None` if
/// bodies within bodies make it longer than [`MAX_STEPS`] ops.
pub fn program(model: &Model, placed: &Placed, assumptions: Assumptions) -> Result<Option<Program>, ProgramError> {
    let mut writer = Writer::new(model, placed);
    let main = GraphId::from_index(0);
    // A model without graphs has an empty program.
    if let Some(graph) = model.graphs.get(main) {
        writer.event("input", &[], (main, &graph.inputs));
        if !writer.run(main, assumptions) {
            return Ok(None);
        }
        // The caller reads the outputs after the run, and the inputs, too, unless their memory may be reused.
        writer.event("output", &[(main, &graph.outputs)], (main, &[]));
        if !assumptions.reuse_inputs {
            writer.event("input again", &[(main, &graph.inputs)], (main, &[]));
        }
    }
    // The function ends and returns no values.
    writer.builder.leave(&[]);
    writer.builder.close_function();
    writer.builder.finish().map(Some)
}

/// A program that is being written.
struct Writer<'a> {
    /// The network.
    model: &'a Model,
    /// The program so far. An `OpDraft` is an op that is to be added to it.
    builder: ProgramBuilder,
    /// The value of each tensor, by graph and tensor; `None` for tensors without a buffer.
    tensors: Vec<Vec<Option<ValueId>>>,
    /// The values of each op's scratch memory.
    scratch: std::collections::HashMap<(GraphId, OpId), Vec<ValueId>>,
    /// How many ops follow `allocate`, the first one. [`MAX_STEPS`] limits this number.
    written: u64,
}

/// Something that is still to be written out.
enum Task {
    /// All ops of a graph.
    Graph(GraphId),
    /// An op with its bodies.
    Op(GraphId, OpId),
    /// Reads the tensors of the first graph and writes those of the second.
    Copy(GraphId, Vec<TensorId>, GraphId, Vec<TensorId>),
    /// Reads the scratch memory of an op whose bodies have run: it must still be intact.
    EndScratch(GraphId, OpId),
}

impl<'a> Writer<'a> {
    /// Begins the program. All buffers are allocated in its first op, because the check has to find out itself when
    /// each is alive.
    fn new(model: &'a Model, placed: &Placed) -> Writer<'a> {
        let mut builder = ProgramBuilder::new();
        builder.open_function("main", &[]);
        // The check looks for a buffer in the memory that the plan names. So the program needs one space only, however
        // many spaces the problem has.
        let space = builder.space("default");
        let mut tensors: Vec<Vec<Option<ValueId>>> =
            model.graphs.iter().map(|graph| vec![None; graph.tensors.len()]).collect();
        let mut scratch = std::collections::HashMap::<(GraphId, OpId), Vec<ValueId>>::new();
        let mut allocate = OpDraft::new("allocate");
        let roles: &IndexVec<BufferId, Role> = &placed.roles;
        for (buffer, role) in roles.iter_enumerated() {
            let info = &placed.problem.buffers()[buffer];
            // A tensor whose size only the runtime knows has no buffer (`Home::Runtime`), so every buffer has a size.
            debug_assert!(info.bytes().is_some(), "a buffer of a network has a size in bytes");
            let value = builder.alloc(&info.name, Size::Known(info.bytes().unwrap_or_default()), space);
            allocate = allocate.result(value);
            match *role {
                Role::Tensor(graph, tensor) => tensors[graph.index()][tensor.index()] = Some(value),
                // The number of the scratch buffer does not matter: the op writes and reads all of its own.
                Role::Scratch(graph, op, _number) => scratch.entry((graph, op)).or_default().push(value),
            }
        }
        builder.push(allocate);
        Writer { model, builder, tensors, scratch, written: 0 }
    }

    /// The value of a tensor. A tensor that stands for one of a graph around (`Home::Outer`) has the value of the
    /// latter. `None` for weights and other tensors without a buffer.
    fn value(&self, graph: GraphId, tensor: TensorId) -> Option<ValueId> {
        let (mut graph, mut tensor) = (graph, tensor);
        while let Home::Outer(outer, original) = self.model.graphs[graph].tensors[tensor].home {
            (graph, tensor) = (outer, original);
        }
        self.tensors[graph.index()][tensor.index()]
    }

    /// Writes out a graph with all bodies; false if the program becomes too long.
    fn run(&mut self, graph: GraphId, assumptions: Assumptions) -> bool {
        // A stack of tasks instead of recursion, because bodies may be nested deeply. The next task is
        // the last of the list, so lists of tasks are put on it in reverse order.
        let mut tasks = vec![Task::Graph(graph)];
        while let Some(task) = tasks.pop() {
            if self.written > MAX_STEPS {
                return false;
            }
            match task {
                Task::Graph(graph) => {
                    let ops = self.model.graphs[graph].ops.ids().rev();
                    tasks.extend(ops.map(|op| Task::Op(graph, op)));
                }
                Task::Copy(from, read, to, written) => self.event("copy", &[(from, &read)], (to, &written)),
                Task::EndScratch(graph, op) => self.read_scratch(graph, op),
                Task::Op(graph, op) => {
                    let draft = &self.model.graphs[graph].ops[op];
                    if draft.bodies.is_empty() {
                        self.op(graph, op, draft, assumptions);
                    } else {
                        self.begin_control(graph, op, draft);
                        tasks.push(Task::EndScratch(graph, op));
                        let mut inner = self.bodies(graph, draft);
                        inner.reverse();
                        tasks.extend(inner);
                    }
                }
            }
        }
        true
    }

    /// Writes an op without bodies: it reads its scratch memory and its inputs and writes its outputs.
    fn op(&mut self, graph: GraphId, op: OpId, draft: &Op, assumptions: Assumptions) {
        self.fill_scratch(graph, op);
        let mut event = OpDraft::new(&*draft.kind);
        // The op reads its scratch memory, so that the check reports a plan that puts another tensor of the op there.
        for value in self.scratch.get(&(graph, op)).into_iter().flatten() {
            event = event.read(*value);
        }
        // Tensors without a buffer, such as weights, have no value and are left out.
        for value in draft.inputs.iter().filter_map(|&tensor| self.value(graph, tensor)) {
            event = event.read(value);
        }
        for value in draft.outputs.iter().filter_map(|&tensor| self.value(graph, tensor)) {
            event = event.write(value);
        }
        // The check gets the same permissions to write in place as the planner. Whether the input is read later is for
        // the check to find out.
        if assumptions.in_place {
            for &(output, input) in &draft.in_place {
                let tensors = &self.model.graphs[graph].tensors;
                let same_size = tensors[output].bytes == tensors[input].bytes;
                if let (true, Some(output), Some(input)) =
                    (same_size, self.value(graph, output), self.value(graph, input))
                {
                    event = event.overlay(output, input, OverlayKind::SameBase);
                }
            }
        }
        self.builder.push(event);
        self.written += 1;
    }

    /// Writes an op that fills the scratch memory of an op. The op itself (or, if it has bodies, [`Self::read_scratch`])
    /// then reads it, so that the check reports if anything else was written there in between.
    fn fill_scratch(&mut self, graph: GraphId, op: OpId) {
        let Some(values) = self.scratch.get(&(graph, op)) else { return };
        let fill = values.iter().fold(OpDraft::new("scratch"), |fill, &value| fill.write(value));
        self.builder.push(fill);
        self.written += 1;
    }

    /// Writes an op that reads the scratch memory of an op whose bodies have run.
    fn read_scratch(&mut self, graph: GraphId, op: OpId) {
        let Some(values) = self.scratch.get(&(graph, op)) else { return };
        let read = values.iter().fold(OpDraft::new("scratch again"), |read, &value| read.read(value));
        self.builder.push(read);
        self.written += 1;
    }

    /// Writes the beginning of an op with bodies. The op writes its outputs before its bodies run: with zeros, or with
    /// its inputs, which a loop without iterations gives as its results.
    fn begin_control(&mut self, graph: GraphId, op: OpId, draft: &Op) {
        self.fill_scratch(graph, op);
        self.event(&draft.kind, &[(graph, &draft.inputs)], (graph, &draft.outputs));
    }

    /// The bodies of an op in the order in which they run, with the copies that hand values in and out. A copy to
    /// nothing only reads: the tensors must still be intact at that point.
    fn bodies(&self, graph: GraphId, draft: &Op) -> Vec<Task> {
        let mut tasks = Vec::new();
        match draft.control {
            Control::Once => {
                for &body in &draft.bodies {
                    tasks.push(Task::Copy(graph, draft.inputs.clone(), body, self.inputs(body)));
                    tasks.push(Task::Graph(body));
                    tasks.push(Task::Copy(body, self.outputs(body), graph, draft.outputs.clone()));
                }
                tasks.push(Task::Copy(graph, draft.inputs.clone(), graph, Vec::new()));
            }
            Control::WhileThroughOutputs => {
                // Two iterations show everything that later ones can do: the second reads what the first handed over
                // in the op's outputs. The bodies are the condition and, last, the one whose outputs are handed over.
                for _ in 0..2 {
                    for &body in &draft.bodies {
                        tasks.push(Task::Copy(graph, draft.outputs.clone(), body, self.inputs(body)));
                        tasks.push(Task::Graph(body));
                        tasks.push(Task::Copy(body, self.outputs(body), graph, Vec::new()));
                    }
                    let last = draft.bodies.last().copied();
                    tasks.extend(last.map(|body| Task::Copy(body, self.outputs(body), graph, draft.outputs.clone())));
                }
            }
            Control::Loop => {
                for &body in &draft.bodies {
                    tasks.push(Task::Copy(graph, draft.inputs.clone(), body, self.inputs(body)));
                    tasks.push(Task::Graph(body));
                    tasks.push(Task::Copy(body, self.outputs(body), body, self.inputs(body)));
                    tasks.push(Task::Graph(body));
                    tasks.push(Task::Copy(body, self.outputs(body), graph, draft.outputs.clone()));
                }
                tasks.push(Task::Copy(graph, draft.inputs.clone(), graph, Vec::new()));
            }
        }
        tasks
    }

    /// The tensors that a caller hands to the graph.
    fn inputs(&self, graph: GraphId) -> Vec<TensorId> {
        self.model.graphs[graph].inputs.clone()
    }

    /// The tensors that the graph hands back.
    fn outputs(&self, graph: GraphId) -> Vec<TensorId> {
        self.model.graphs[graph].outputs.clone()
    }

    /// Adds an op to the program. It reads tensors of any graphs, and writes tensors of one graph. Tensors without a
    /// buffer are left out.
    fn event(&mut self, name: &str, reads: &[(GraphId, &[TensorId])], (graph, writes): (GraphId, &[TensorId])) {
        let mut event = OpDraft::new(name);
        for (graph, tensors) in reads {
            for value in tensors.iter().filter_map(|&tensor| self.value(*graph, tensor)) {
                event = event.read(value);
            }
        }
        for value in writes.iter().filter_map(|&tensor| self.value(graph, tensor)) {
            event = event.write(value);
        }
        self.builder.push(event);
        self.written += 1;
    }
}

#[cfg(test)]
mod tests {
    use memplan_core::{Bytes, Placement, SpaceId};
    use memplan_program::SiteId;
    use memplan_verify::dataflow::{SitePlan, check};

    use super::super::problem::place;
    use super::super::{Graph, Tensor, Timeline};
    use super::*;

    /// A tensor of eight bytes.
    fn tensor(name: &str) -> Tensor {
        let name = name.to_owned();
        Tensor { name, element: "INT8", shape: vec![8], bytes: Bytes(8), home: Home::Arena }
    }

    /// A network whose only op has eight bytes of scratch memory and a body, which negates its input.
    fn with_scratch(control: Control) -> Model {
        let [first, second] = [0, 1].map(TensorId::from_index);
        let graph = |names: [&str; 2], op: Op| Graph {
            tensors: names.iter().map(|name| tensor(name)).collect(),
            ops: [Op { inputs: vec![first], outputs: vec![second], ..op }].into_iter().collect(),
            inputs: vec![first],
            outputs: vec![second],
            ..Graph::default()
        };
        let runs = Op {
            kind: "RUN".to_owned(),
            scratch: vec![Bytes(8)],
            bodies: vec![GraphId::from_index(1)],
            control,
            ..Op::default()
        };
        let negates = Op { kind: "NEG".to_owned(), ..Op::default() };
        let graphs = [graph(["x", "y"], runs), graph(["a", "b"], negates)].into_iter().collect();
        Model { graphs, alignment: Bytes(1) }
    }

    #[test]
    fn a_model_without_graphs_has_an_empty_program() {
        let model = Model::default();
        let placed = place(&model, Timeline::new(&model).unwrap(), Assumptions::default()).unwrap();
        let program = program(&model, &placed, Assumptions::default()).unwrap().unwrap();
        assert_eq!(check(&program, &SitePlan::empty(&program)), []);
    }

    /// Scratch memory of an op with bodies must be intact until all of them have run.
    #[test]
    fn a_body_may_not_use_the_scratch_memory_around_it() {
        for control in [Control::Once, Control::Loop, Control::WhileThroughOutputs] {
            let model = with_scratch(control);
            let placed = place(&model, Timeline::new(&model).unwrap(), Assumptions::default()).unwrap();
            let program = program(&model, &placed, Assumptions::default()).unwrap().unwrap();
            // The buffers are x, y, a, b and the scratch memory. Each has a place of its own, or the last one is `b`'s.
            let violations = |scratch: u64| {
                let mut plan = SitePlan::empty(&program);
                for (site, offset) in [0, 8, 16, 24, scratch].into_iter().enumerate() {
                    plan.placements[SiteId::from_index(site)] =
                        Some(Placement::at(SpaceId::from_index(0), Bytes(offset)));
                }
                check(&program, &plan).len()
            };
            assert_eq!(violations(32), 0, "{control:?}");
            for used in [0, 8, 16, 24] {
                assert!(violations(used) > 0, "{control:?}: the scratch memory is at {used}");
            }
        }
    }
}
