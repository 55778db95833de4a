//! From a network to a problem: a buffer for each tensor in the arena and for
//! each piece of scratch memory.
//!
//! | what | alive from | until, included |
//! |---|---|---|
//! | input of the network | step 0 | its last reader; the end of the run unless inputs may be reused |
//! | result of an op | the start of the op | the end of its last reader |
//! | output of a graph | the start of its op | the end of the graph |
//! | input of a body | the start of the body | its last reader; the end of the op, for a loop |
//! | scratch memory | the start of its op | its end |
//!
//! If an op permits it, its output may be written over an input that nobody
//! reads afterwards (in place). Such pairs of tensors become overlays.

use std::collections::BTreeMap;

use memplan_core::{
    Buffer, BufferId, Bytes, IndexVec, Lifetime, Overlay, OverlayKind, Problem, ProblemBuilder, ProblemError,
};

use super::{Control, GraphId, Home, Model, OpId, TensorId, Tick, Timeline, unique_names};

/// What to assume about the use of a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Assumptions {
    /// Inputs may be overwritten once nobody reads them any more.
    pub reuse_inputs: bool,
    /// Outputs of ops that permit it may be written over their inputs.
    pub in_place: bool,
}

/// What a buffer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// A tensor.
    Tensor(GraphId, TensorId),
    /// Scratch memory of an op; the number says which, if it has several.
    Scratch(GraphId, OpId, usize),
}

/// A problem, and what its buffers are.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The problem.
    pub problem: Problem,
    /// What each buffer is.
    pub roles: IndexVec<BufferId, Role>,
    /// When each op runs.
    pub timeline: Timeline,
}

impl Placed {
    /// How often ops of the model read or write each buffer, if every op runs once. A tensor that a body reads from a
    /// graph around it is read by the op in the body, and by the op that runs the body, too: the runtime hands it over.
    pub fn accesses(&self, model: &Model) -> IndexVec<BufferId, u64> {
        let mut of_role = BTreeMap::<Role, u64>::new();
        for (_, graph, op) in self.timeline.starts() {
            let draft = &model.graphs[graph].ops[op];
            for &tensor in draft.inputs.iter().chain(&draft.outputs) {
                *of_role.entry(owner(model, graph, tensor)).or_default() += 1;
            }
            // A kernel writes its scratch memory and reads it again.
            for number in 0..draft.scratch.len() {
                *of_role.entry(Role::Scratch(graph, op, number)).or_default() += 2;
            }
        }
        self.roles.iter().map(|role| of_role.get(role).map_or(0, |&count| count)).collect()
    }
}

/// The tensor that has the memory of this one: itself, or the one of a graph around it that it stands for.
fn owner(model: &Model, mut graph: GraphId, mut tensor: TensorId) -> Role {
    while let Home::Outer(outer, original) = model.graphs[graph].tensors[tensor].home {
        (graph, tensor) = (outer, original);
    }
    Role::Tensor(graph, tensor)
}

/// Makes the problem of a model whose ops run at the steps of `timeline`. A tensor gets a buffer if an op reads or
/// writes it, or if it is an input or an output of its graph, even one that no op uses.
pub fn place(model: &Model, timeline: Timeline, assumptions: Assumptions) -> Result<Placed, ProblemError> {
    let mut lives = Lives::new(model);
    lives.follow(model, &timeline, assumptions);
    let mut builder = ProblemBuilder::new();
    let mut roles = IndexVec::<BufferId, Role>::default();
    // The buffer of each tensor, by graph and tensor.
    let mut of_tensor: Vec<Vec<Option<BufferId>>> =
        model.graphs.iter().map(|graph| vec![None; graph.tensors.len()]).collect();
    let names = names(model, &lives);
    for (role, life) in lives.all(model) {
        let Some((first, last)) = life else { continue };
        // The names stand in the order in which buffers are made here.
        let name = &names[roles.len()];
        let size = match role {
            Role::Tensor(graph, tensor) => model.graphs[graph].tensors[tensor].bytes,
            Role::Scratch(graph, op, number) => model.graphs[graph].ops[op].scratch[number],
        };
        // A life includes its last step; a `Lifetime` is half-open and ends one step later.
        let mut buffer = Buffer::new(name, size.0, Lifetime::new(first, last + 1));
        buffer.alignment = Bytes(model.alignment.0.max(1));
        let id = builder.buffer(buffer);
        roles.push(role);
        if let Role::Tensor(graph, tensor) = role {
            of_tensor[memplan_core::Id::index(graph)][memplan_core::Id::index(tensor)] = Some(id);
        }
    }
    if assumptions.in_place {
        for overlay in overlays(model, &timeline, &lives, &of_tensor) {
            builder.overlay(overlay);
        }
    }
    Ok(Placed { problem: builder.build()?, roles, timeline })
}

/// The full name of something in a graph. In the body of an op, the name of the body stands in front.
fn in_graph(model: &Model, graph: GraphId, name: &str) -> String {
    match memplan_core::Id::index(graph) {
        0 => name.to_owned(),
        number if model.graphs[graph].name.is_empty() => format!("graph{number}/{name}"),
        _ => format!("{}/{name}", model.graphs[graph].name),
    }
}

/// The names of all buffers, made unique, in the order of [`Lives::all`].
fn names(model: &Model, lives: &Lives) -> Vec<String> {
    let alive = lives.all(model).filter(|(_, life)| life.is_some());
    unique_names(alive.map(|(role, _)| name_of(model, role)).collect(), "buffer")
}

/// The name of a tensor, or for scratch memory one that is made of its op.
fn name_of(model: &Model, role: Role) -> String {
    match role {
        Role::Tensor(graph, tensor) => in_graph(model, graph, &model.graphs[graph].tensors[tensor].name),
        Role::Scratch(graph, op, number) => {
            let op_number = memplan_core::Id::index(op);
            let kind = &model.graphs[graph].ops[op].kind;
            in_graph(model, graph, &format!("{kind}#{op_number}/scratch{number}"))
        }
    }
}

/// The first and the last step, both included, at which each tensor and each op's scratch memory is in use; `None`
/// where it never is.
struct Lives {
    /// Of each tensor of each graph.
    tensors: IndexVec<GraphId, IndexVec<TensorId, Option<(u64, u64)>>>,
    /// Of each op of each graph: the life of all its scratch buffers.
    ops: IndexVec<GraphId, IndexVec<OpId, Option<(u64, u64)>>>,
}

impl Lives {
    /// Lives of which nothing is known yet.
    fn new(model: &Model) -> Lives {
        Lives {
            tensors: model.graphs.iter().map(|graph| IndexVec::filled(None, graph.tensors.len())).collect(),
            ops: model.graphs.iter().map(|graph| IndexVec::filled(None, graph.ops.len())).collect(),
        }
    }

    /// Finds the life of every tensor and of every op's scratch memory, by the table of the module documentation.
    fn follow(&mut self, model: &Model, timeline: &Timeline, assumptions: Assumptions) {
        for tick in &timeline.ticks {
            match *tick {
                Tick::Enter { graph, step } => self.extend(model, graph, &model.graphs[graph].inputs, step, step),
                Tick::Leave { graph, step } => self.extend(model, graph, &model.graphs[graph].outputs, step, step),
                // While an op runs, both its inputs and its outputs are alive: it may write a part of an output
                // before it has read all of an input. At its end this is extended over the steps of its bodies.
                Tick::Start { graph, op, step } => {
                    self.extend(model, graph, &model.graphs[graph].ops[op].outputs, step, step);
                }
                Tick::End { graph, op, start, step } => {
                    let draft = &model.graphs[graph].ops[op];
                    self.extend(model, graph, &draft.inputs, step, step);
                    self.extend(model, graph, &draft.outputs, start, step);
                    let life = &mut self.ops[graph][op];
                    let (first, last) = life.unwrap_or((start, step));
                    *life = Some((first.min(start), last.max(step)));
                    // At the end of an iteration the body's outputs become the body's inputs of the next one. So both
                    // are in use during all iterations.
                    if draft.control == Control::Loop {
                        for &body in &draft.bodies {
                            self.extend(model, body, &model.graphs[body].inputs, start, step);
                            self.extend(model, body, &model.graphs[body].outputs, start, step);
                        }
                    }
                }
            }
        }
        // Unless their memory may be reused, the inputs of the network live to the end of the run.
        if let (false, Some(main)) = (assumptions.reuse_inputs, self.tensors.ids().next()) {
            self.extend(model, main, &model.graphs[main].inputs, 0, timeline.last);
        }
    }

    /// Extends the lives of tensors so that they include the steps from `first` to `last`. If a tensor of a body stands
    /// for a tensor of a graph around it (`Home::Outer`), the life of the latter is extended.
    fn extend(&mut self, model: &Model, graph: GraphId, tensors: &[TensorId], first: u64, last: u64) {
        for &tensor in tensors {
            let (mut graph, mut tensor) = (graph, tensor);
            while let Home::Outer(outer, original) = model.graphs[graph].tensors[tensor].home {
                (graph, tensor) = (outer, original);
            }
            let life = &mut self.tensors[graph][tensor];
            let (known_first, known_last) = life.unwrap_or((first, last));
            *life = Some((known_first.min(first), known_last.max(last)));
        }
    }

    /// Every tensor of the arena and then every piece of scratch memory, with its life; `None` if it is never in use.
    /// Buffers are made in this order.
    fn all<'a>(&'a self, model: &'a Model) -> impl Iterator<Item = (Role, Option<(u64, u64)>)> + 'a {
        let tensors = model.graphs.iter_enumerated().flat_map(move |(id, graph)| {
            graph
                .tensors
                .iter_enumerated()
                .filter(|(_, tensor)| tensor.home == Home::Arena)
                .map(move |(tensor, _)| (Role::Tensor(id, tensor), self.tensors[id][tensor]))
        });
        let scratch = model.graphs.iter_enumerated().flat_map(move |(id, graph)| {
            graph.ops.iter_enumerated().flat_map(move |(op, draft)| {
                (0..draft.scratch.len()).map(move |number| (Role::Scratch(id, op, number), self.ops[id][op]))
            })
        });
        tensors.chain(scratch)
    }
}

/// The outputs that may be written over inputs, for all ops that permit it. The life of the input must have begun
/// before the op and end with it, the life of the output must begin with the op, and both must have the same number of
/// bytes.
fn overlays(model: &Model, timeline: &Timeline, lives: &Lives, of_tensor: &[Vec<Option<BufferId>>]) -> Vec<Overlay> {
    let mut overlays = Vec::new();
    for (step, graph, op) in timeline.starts() {
        for &(output, input) in &model.graphs[graph].ops[op].in_place {
            let tensors = &model.graphs[graph].tensors;
            // If a body runs several times, the lives of its tensors span all runs. Then an input does not end at the
            // step of one run, or an output does not start there, and nothing is written in place.
            let ends_here = lives.tensors[graph][input].is_some_and(|(first, last)| first < step && last == step);
            let starts_here = lives.tensors[graph][output].is_some_and(|(first, _)| first == step);
            let buffers = &of_tensor[memplan_core::Id::index(graph)];
            let buffer_of = |tensor: TensorId| buffers[memplan_core::Id::index(tensor)];
            let same_size = tensors[output].bytes == tensors[input].bytes;
            if let (true, true, true, Some(buffer), Some(over)) =
                (ends_here, starts_here, same_size, buffer_of(output), buffer_of(input))
            {
                overlays.push(Overlay { buffer, over, kind: OverlayKind::SameBase });
            }
        }
    }
    overlays
}
