//! Reads the structure of an `.onnx` file: graphs, tensors, nodes.
//!
//! ```text
//! ModelProto  ir_version 1, graph 7, opset_import 8
//! GraphProto  node 1, name 2, initializer 5, input 11, output 12, value_info 13, sparse_initializer 15
//! NodeProto   input 1, output 2, name 3, op_type 4, attribute 5, domain 7
//! ```
//!
//! 1. Every graph is taken apart, bodies of control flow after the graph around
//!    them; names that a body does not know are looked up outside.
//! 2. Nodes are put into an order in which everything is written before it is
//!    read; a file in the wrong order is read as if it were in the right one.
//! 3. Shapes are taken from the file, and inferred where it has none (`infer`).
//! 4. What is computed from constants alone is a constant: a runtime computes
//!    it once, when the model is loaded.
//!
//! Initialisers, and files beside the model that hold them, are not read, except
//! for small lists of integers, which may be shapes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};

use memplan_core::{Bytes, Id, IndexVec, patience};

use super::infer;
use super::wire::{Field, Message, Value};
use crate::ReadError;
use crate::graph::{Control, Graph, GraphId, Home, Model, Op, OpId, Tensor, TensorId, shape_bytes};
use crate::source::{ReadAt, Window};

/// Versions of the format that are expected to look the same.
const VERSIONS: i64 = 64;
/// Bodies within bodies, at most.
const DEPTH: usize = 64;
/// Tensors with more dimensions count as tensors without a known shape.
pub(super) const RANK: usize = 64;
/// Longer lists of numbers are no shapes.
pub(super) const NUMBERS: usize = 1024;

/// What a reader may be told.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Values of symbolic dimensions; `x.0` is the first dimension of input `x`, where it has no name.
    pub dimensions: BTreeMap<String, u64>,
    /// Dimensions that tensors have at most whose size depends on the content of others.
    pub sizes: BTreeMap<String, Vec<u64>>,
}

/// A model that was read.
#[derive(Clone, Debug)]
pub struct ReadModel {
    /// The network.
    pub model: Model,
    /// What was ignored, assumed or left alone.
    pub notes: Vec<String>,
    /// For each op of the first graph, the place of its node in the file.
    pub nodes: Vec<usize>,
}

/// Whether the first bytes of a file may be those of an `.onnx` file: the
/// version of the format, or the graph.
pub fn is_onnx(head: &[u8]) -> bool {
    matches!(head, [0x08, version, 0x12 | 0x1a | 0x22 | 0x2a | 0x32 | 0x3a | 0x42, ..] if (1..=64).contains(version))
}

/// The element type of texts: their size is known only when the model runs.
const STRING: usize = 8;

/// Element types: number, name, bits.
const ELEMENTS: [(&str, u64); 27] = [
    ("UNDEFINED", 0),
    ("FLOAT", 32),
    ("UINT8", 8),
    ("INT8", 8),
    ("UINT16", 16),
    ("INT16", 16),
    ("INT32", 32),
    ("INT64", 64),
    ("STRING", 0),
    ("BOOL", 8),
    ("FLOAT16", 16),
    ("DOUBLE", 64),
    ("UINT32", 32),
    ("UINT64", 64),
    ("COMPLEX64", 64),
    ("COMPLEX128", 128),
    ("BFLOAT16", 16),
    ("FLOAT8E4M3FN", 8),
    ("FLOAT8E4M3FNUZ", 8),
    ("FLOAT8E5M2", 8),
    ("FLOAT8E5M2FNUZ", 8),
    ("UINT4", 4),
    ("INT4", 4),
    ("FLOAT4E2M1", 4),
    ("FLOAT8E8M0", 8),
    ("UINT2", 2),
    ("INT2", 2),
];

/// The number of an element type.
pub(super) fn element_number(name: &str) -> Option<i64> {
    ELEMENTS.iter().position(|(known, _)| *known == name).and_then(|number| i64::try_from(number).ok())
}

/// What is known about a tensor.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub(super) name: String,
    /// Number of the element type; 0 if it is not known.
    pub(super) element: usize,
    pub(super) shape: Option<Vec<u64>>,
    /// The shape is what it has at most; how much it has depends on the content of other tensors.
    pub(super) is_bound: bool,
    /// Its content, if it is a short list of integers.
    pub(super) numbers: Option<Vec<i64>>,
    pub(super) is_constant: bool,
    /// A sequence, a map: nothing with a shape.
    pub(super) is_odd: bool,
    pub(super) outer: Option<(GraphId, TensorId)>,
}

/// A node of a graph.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) domain: String,
    pub(super) inputs: Vec<Option<TensorId>>,
    pub(super) outputs: Vec<Option<TensorId>>,
    /// Tensors of this graph that its bodies read.
    pub(super) captures: Vec<TensorId>,
    pub(super) attributes: Vec<Attribute>,
    pub(super) bodies: Vec<GraphId>,
    /// Where in the file.
    pub(super) at: u64,
    /// Its place among the nodes of the file.
    pub(super) place: usize,
}

/// An attribute of a node.
#[derive(Clone, Debug, Default)]
pub(super) struct Attribute {
    pub(super) name: String,
    pub(super) float: f32,
    pub(super) int: i64,
    pub(super) text: String,
    pub(super) ints: Vec<i64>,
    pub(super) floats: Vec<f32>,
    pub(super) tensor: Option<Facts>,
}

/// A graph before it is known in which order it runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    pub(super) name: String,
    pub(super) tensors: IndexVec<TensorId, Facts>,
    pub(super) nodes: Vec<Node>,
    pub(super) inputs: Vec<TensorId>,
    pub(super) outputs: Vec<TensorId>,
    by_name: HashMap<String, TensorId>,
    /// The graph around it and the node that runs it.
    parent: Option<(GraphId, usize)>,
    at: u64,
}

/// Reads a model.
pub fn read(source: &dyn ReadAt, options: &Options) -> Result<ReadModel, ReadError> {
    let window = Window::new(source);
    if window.size() == 0 {
        return Err(ReadError::at_byte("model::truncated", 0, "the file is empty"));
    }
    let mut reader = Reader { options: Some(options), ..Reader::default() };
    reader.graphs(header(&window)?)?;
    for id in reader.drafts.ids() {
        sort(&mut reader.drafts[id])?;
    }
    reader.check_inputs()?;
    if !options.sizes.is_empty() {
        reader.take_sizes(options)?;
    }
    infer::infer(&mut reader.drafts);
    reader.finish()
}

/// The graph of the file.
pub(super) fn header<'w, 'a>(window: &'w Window<'a>) -> Result<Message<'w, 'a>, ReadError> {
    let whole = Message::whole(window);
    let mut graph = None;
    let mut version = None;
    for field in whole.fields() {
        let field = field?;
        // In protobuf, fields come in any order and the last one of a number wins.
        match field.number {
            1 => version = Some(field.value.signed()),
            7 => graph = Some(field.value.message(whole)),
            _ => {}
        }
    }
    let Some(graph) = graph else {
        let message = "there is no graph in the file: this is no ONNX model";
        return Err(ReadError::at_byte("onnx::no-graph", 0, message).help("choose another format with --format"));
    };
    match version {
        Some(1..=VERSIONS) => Ok(graph),
        other => {
            let found = other.map_or_else(|| "no version".to_owned(), |number| format!("version {number}"));
            let message = format!("the file has {found} of the format; 1 to {VERSIONS} can be read");
            Err(ReadError::at_byte("onnx::version", 0, message))
        }
    }
}

#[derive(Default)]
struct Reader<'o> {
    drafts: IndexVec<GraphId, Draft>,
    options: Option<&'o Options>,
    /// Symbolic dimensions of inputs that have no value: dimension and input.
    symbols: BTreeSet<(String, String)>,
    notes: Vec<String>,
}

/// A graph that is still to be taken apart.
struct Pending<'w, 'a> {
    message: Message<'w, 'a>,
    parent: Option<(GraphId, usize)>,
    depth: usize,
}

impl Reader<'_> {
    /// Takes all graphs apart, outer ones first.
    fn graphs(&mut self, main: Message) -> Result<(), ReadError> {
        let mut pending = vec![Pending { message: main, parent: None, depth: 0 }];
        while let Some(next) = pending.pop() {
            if next.depth > DEPTH {
                let message = format!("bodies are nested more than {DEPTH} deep");
                return Err(ReadError::at_byte("onnx::too-deep", next.message.start, message));
            }
            let id = self.drafts.push(Draft { parent: next.parent, at: next.message.start, ..Draft::default() });
            if let Some((parent, node)) = next.parent {
                self.drafts[parent].nodes[node].bodies.push(id);
            }
            let bodies = self.graph(id, next.message)?;
            // The first body is to be the next one.
            for (node, message) in bodies.into_iter().rev() {
                pending.push(Pending { message, parent: Some((id, node)), depth: next.depth + 1 });
            }
        }
        Ok(())
    }

    /// Takes a graph apart; returns its bodies.
    fn graph<'w, 'a>(
        &mut self,
        id: GraphId,
        message: Message<'w, 'a>,
    ) -> Result<Vec<(usize, Message<'w, 'a>)>, ReadError> {
        let mut nodes = Vec::new();
        let mut infos = Vec::new();
        // Names may be used before the field that describes them, since fields may come in any order. So initialisers
        // are entered at once, and nodes are read only when all types are known.
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => nodes.push(field),
                2 => self.drafts[id].name = field.value.text()?,
                5 => {
                    let facts = tensor(field.value.message(message))?;
                    self.define(id, facts);
                }
                11..=13 => infos.push(field),
                15 => self.notes.push("sparse initialisers are constants".to_owned()),
                _ => {}
            }
        }
        for field in infos {
            self.value_info(id, field, message)?;
        }
        // Bodies of control flow are handed back and read later: they may use names of this graph, which must be
        // complete by then.
        let mut bodies = Vec::new();
        for (place, field) in nodes.into_iter().enumerate() {
            if patience::is_over() {
                return Err(ReadError::stopped());
            }
            let graphs = self.node(id, place, field, message)?;
            bodies.extend(graphs.into_iter().map(|graph| (place, graph)));
        }
        Ok(bodies)
    }

    /// Enters a tensor, or completes what is known about it.
    fn define(&mut self, graph: GraphId, facts: Facts) -> TensorId {
        let draft = &mut self.drafts[graph];
        match draft.by_name.get(&facts.name) {
            // A tensor may be described several times (as an initialiser, as an input, in `value_info`). Each
            // description adds what the others leave out; the first one wins where they differ.
            Some(&known) => {
                let old = &mut draft.tensors[known];
                old.is_constant |= facts.is_constant;
                old.is_odd |= facts.is_odd;
                if old.element == 0 {
                    old.element = facts.element;
                }
                if old.shape.is_none() {
                    old.shape = facts.shape;
                }
                if old.numbers.is_none() {
                    old.numbers = facts.numbers;
                }
                known
            }
            None => {
                let name = facts.name.clone();
                let id = draft.tensors.push(facts);
                draft.by_name.insert(name, id);
                id
            }
        }
    }

    /// An input, an output, or a tensor in between, with its type.
    fn value_info(&mut self, graph: GraphId, field: Field, outer: Message) -> Result<(), ReadError> {
        let message = field.value.message(outer);
        let mut facts = Facts::default();
        let mut dimensions = None;
        for entry in message.fields() {
            let entry = entry?;
            match entry.number {
                1 => facts.name = entry.value.text()?,
                2 => dimensions = type_of(entry.value.message(message), &mut facts)?,
                _ => {}
            }
        }
        let is_input = field.number == 11;
        let is_main = graph.index() == 0;
        facts.shape = self.resolve(dimensions, &facts.name, field.start, is_input && is_main)?;
        let name = facts.name.clone();
        let known_constant =
            self.drafts[graph].by_name.get(&name).is_some_and(|&id| self.drafts[graph].tensors[id].is_constant);
        let id = self.define(graph, facts);
        match field.number {
            // An input with an initialiser has a default that is hardly ever replaced.
            11 if !known_constant => self.drafts[graph].inputs.push(id),
            12 => self.drafts[graph].outputs.push(id),
            _ => {}
        }
        if known_constant && is_input {
            self.symbols.retain(|(_, input)| *input != name);
        }
        Ok(())
    }

    /// The dimensions as numbers, if all have one.
    fn resolve(
        &mut self,
        dimensions: Option<Vec<Dimension>>,
        name: &str,
        at: u64,
        is_wanted: bool,
    ) -> Result<Option<Vec<u64>>, ReadError> {
        let Some(dimensions) = dimensions else { return Ok(None) };
        let mut shape = Vec::with_capacity(dimensions.len());
        let mut is_complete = true;
        for (axis, dimension) in dimensions.into_iter().enumerate() {
            let symbol = match dimension {
                Dimension::Known(number) => {
                    let Ok(number) = u64::try_from(number) else {
                        let message = format!("`{name}` has a dimension of {number}");
                        return Err(ReadError::at_byte("onnx::negative-dimension", at, message)
                            .help("a dimension is at least 0, or has a name"));
                    };
                    shape.push(number);
                    continue;
                }
                Dimension::Named(symbol) if !symbol.is_empty() => symbol,
                // A dimension without a name cannot be given by the user under any name but this one.
                Dimension::Named(_) => format!("{name}.{axis}"),
            };
            let given = self.options.and_then(|options| options.dimensions.get(&symbol));
            match given {
                Some(&number) => shape.push(number),
                None => {
                    is_complete = false;
                    // Only dimensions of tensors that matter are asked for. Naming all of them would hide the few that
                    // the user has to give.
                    if is_wanted {
                        self.symbols.insert((symbol, name.to_owned()));
                    }
                }
            }
        }
        // A shape with more than the supported number of dimensions counts as unknown.
        Ok((is_complete && shape.len() <= RANK).then_some(shape))
    }

    /// Takes a node apart; returns its bodies.
    fn node<'w, 'a>(
        &mut self,
        graph: GraphId,
        place: usize,
        field: Field<'w, 'a>,
        outer: Message<'w, 'a>,
    ) -> Result<Vec<Message<'w, 'a>>, ReadError> {
        let message = field.value.message(outer);
        let mut node = Node { at: field.start, place, ..Node::default() };
        let mut bodies = Vec::new();
        for entry in message.fields() {
            let entry = entry?;
            // An empty name stands for an operand that is left out. It keeps its position.
            match entry.number {
                1 => {
                    let name = entry.value.text()?;
                    node.inputs.push((!name.is_empty()).then(|| self.look_up(graph, &name)));
                }
                2 => {
                    let name = entry.value.text()?;
                    node.outputs
                        .push((!name.is_empty()).then(|| self.define(graph, Facts { name, ..Facts::default() })));
                }
                3 => node.name = entry.value.text()?,
                4 => node.kind = entry.value.text()?,
                5 => node.attributes.push(attribute(entry.value.message(message), &mut bodies)?),
                7 => node.domain = entry.value.text()?,
                _ => {}
            }
        }
        self.drafts[graph].nodes.push(node);
        Ok(bodies)
    }

    /// The tensor of that name here, or in a graph around; a new one if nobody knows it.
    fn look_up(&mut self, graph: GraphId, name: &str) -> TensorId {
        if let Some(&known) = self.drafts[graph].by_name.get(name) {
            return known;
        }
        let mut at = self.drafts[graph].parent;
        let mut chain = vec![graph];
        while let Some((parent, _)) = at {
            if let Some(&found) = self.drafts[parent].by_name.get(name) {
                return self.capture(parent, found, &chain, name);
            }
            chain.push(parent);
            at = self.drafts[parent].parent;
        }
        self.define(graph, Facts { name: name.to_owned(), ..Facts::default() })
    }

    /// Makes a tensor of an outer graph known in all graphs down to the one that reads it.
    fn capture(&mut self, owner: GraphId, tensor: TensorId, chain: &[GraphId], name: &str) -> TensorId {
        let (mut from, mut found) = (owner, tensor);
        for &graph in chain.iter().rev() {
            if let Some((_, node)) = self.drafts[graph].parent {
                self.drafts[from].nodes[node].captures.push(found);
            }
            let outer = Some((from, found));
            found = self.define(graph, Facts { name: name.to_owned(), outer, ..Facts::default() });
            from = graph;
        }
        found
    }

    /// Checks that every dimension of the inputs has a value.
    fn check_inputs(&self) -> Result<(), ReadError> {
        if self.symbols.is_empty() {
            return Ok(());
        }
        let mut names: Vec<&str> = self.symbols.iter().map(|(symbol, _)| symbol.as_str()).collect();
        names.dedup();
        let inputs: BTreeSet<&str> = self.symbols.iter().map(|(_, input)| input.as_str()).collect();
        let quoted = |names: Vec<&str>| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let flags = names.iter().map(|name| format!("--dim {name}=1")).collect::<Vec<_>>().join(" ");
        let message = format!(
            "the size of {} is not known: {} without a value",
            quoted(inputs.into_iter().collect()),
            quoted(names)
        );
        Err(ReadError::at_byte("onnx::symbolic-dimension", 0, message)
            .help(format!("give each a value, as in {flags}")))
    }

    /// Takes what the user says about tensors whose shape cannot be told. About others nothing
    /// can be said: a size that is too small would make a wrong plan.
    fn take_sizes(&mut self, options: &Options) -> Result<(), ReadError> {
        let mut told = self.drafts.clone();
        infer::infer(&mut told);
        for (name, shape) in &options.sizes {
            let found = told.iter_enumerated().find_map(|(id, draft)| Some((id, *draft.by_name.get(name)?)));
            let Some((graph, tensor)) = found else {
                let message = format!("there is no tensor called `{name}` whose size could be given");
                return Err(ReadError::at_byte("onnx::no-such-tensor", 0, message));
            };
            let facts = &told[graph].tensors[tensor];
            if let Some(known) = facts.shape.as_ref().filter(|known| !facts.is_bound && *known != shape) {
                let message = format!("the shape of `{name}` is known: it is {known:?}");
                return Err(ReadError::at_byte("onnx::size-is-known", 0, message));
            }
            let facts = &mut self.drafts[graph].tensors[tensor];
            (facts.shape, facts.is_bound) = (Some(shape.clone()), true);
        }
        Ok(())
    }

    /// Makes graphs of the drafts.
    fn finish(mut self) -> Result<ReadModel, ReadError> {
        let folded = infer::fold(&mut self.drafts);
        self.check_shapes(&folded)?;
        let mut graphs = IndexVec::<GraphId, Graph>::default();
        let mut nodes = Vec::new();
        let mut constants = 0;
        for (id, draft) in self.drafts.iter_enumerated() {
            constants += folded[id].iter().filter(|&&is_folded| is_folded).count();
            if id.index() == 0 {
                let kept = draft.nodes.iter().zip(&folded[id]).filter(|(_, is_folded)| !**is_folded);
                nodes.extend(kept.map(|(node, _)| node.place));
            }
            graphs.push(graph_of(draft, &folded[id])?);
        }
        if constants > 0 {
            self.notes.push(format!(
                "{constants} nodes compute constants from constants: done once, when the model is loaded"
            ));
        }
        self.notes.extend(self.bounded());
        self.notes.dedup();
        let model = Model { graphs, alignment: Bytes(1) };
        Ok(ReadModel { model, notes: self.notes, nodes })
    }

    /// A note on tensors that may turn out smaller than planned.
    fn bounded(&self) -> Option<String> {
        let tensors = self.drafts.iter().flat_map(|draft| draft.tensors.iter());
        let names: Vec<String> = tensors
            .filter(|facts| facts.is_bound && facts.outer.is_none() && !facts.is_constant)
            .map(|facts| format!("`{}`", facts.name))
            .collect();
        (!names.is_empty()).then(|| {
            format!(
                "planned for the most they can have, since the content of other tensors decides: {}",
                first_few(&names)
            )
        })
    }

    /// Checks that every tensor that needs memory has a shape.
    fn check_shapes(&self, folded: &IndexVec<GraphId, Vec<bool>>) -> Result<(), ReadError> {
        let mut missing = Missing::default();
        for (id, draft) in self.drafts.iter_enumerated() {
            for (node, _) in draft.nodes.iter().zip(&folded[id]).filter(|(_, is_folded)| !**is_folded) {
                for &output in node.outputs.iter().flatten() {
                    if draft.tensors[output].lacks_shape() {
                        missing.add(id, draft, node, output);
                    }
                }
            }
            for &input in &draft.inputs {
                if draft.tensors[input].lacks_shape() {
                    missing.tensors.push(format!("`{}` (input)", draft.tensors[input].name));
                    missing.flags.push(draft.tensors[input].name.clone());
                    // The shape of a body's input follows from what the node that runs the body reads.
                    missing.content.extend((id.index() > 0).then_some((id, input)));
                }
            }
        }
        let deciders = self.deciders(&missing.content);
        missing.verdict(&deciders)
    }

    /// Inputs of the network on whose content tensors depend.
    fn deciders(&self, tensors: &[(GraphId, TensorId)]) -> BTreeSet<String> {
        // For each tensor the inputs of the node that writes it; for each body those of the node that runs it.
        let mut sources = HashMap::<(GraphId, TensorId), (GraphId, &Node)>::new();
        for (graph, draft) in self.drafts.iter_enumerated() {
            for node in &draft.nodes {
                let outputs = node.outputs.iter().flatten().map(|&output| (graph, output));
                let given = node
                    .bodies
                    .iter()
                    .flat_map(|&body| self.drafts[body].inputs.iter().map(move |&input| (body, input)));
                sources.extend(outputs.chain(given).map(|tensor| (tensor, (graph, node))));
            }
        }
        let mut found = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut open = tensors.to_vec();
        while let Some(tensor) = open.pop() {
            let facts = &self.drafts[tensor.0].tensors[tensor.1];
            if facts.numbers.is_some() || facts.is_constant || !seen.insert(tensor) {
                continue;
            }
            match (facts.outer, sources.get(&tensor)) {
                (Some(outer), _) => open.push(outer),
                (None, Some((graph, node))) => {
                    let read = node.inputs.iter().flatten().chain(&node.captures);
                    open.extend(read.map(|&input| (*graph, input)));
                }
                (None, None) => drop(found.insert(facts.name.clone())),
            }
        }
        found
    }
}

/// Tensors without a shape, and why.
#[derive(Default)]
struct Missing {
    at: Option<u64>,
    /// All of them, each with its node.
    tensors: Vec<String>,
    /// Tensors whose content, and not only their shape, decides on the shape of another one.
    content: Vec<(GraphId, TensorId)>,
    /// Of `tensors` those whose shape cannot be inferred although all shapes they depend on are known. The user is
    /// asked for these; the shapes of the others follow from them.
    flags: Vec<String>,
}

impl Missing {
    fn add(&mut self, graph: GraphId, draft: &Draft, node: &Node, output: TensorId) {
        self.at.get_or_insert(node.at);
        let name = &draft.tensors[output].name;
        self.tensors.push(format!("`{name}` ({})", node.label()));
        let inputs: Vec<TensorId> = node.inputs.iter().flatten().copied().collect();
        // If the shapes of all inputs are known, it is their content that decides.
        if inputs.iter().all(|&input| !draft.tensors[input].lacks_shape()) {
            self.flags.push(name.clone());
            let first_content = usize::from(!matches!(node.kind.as_str(), "Range" | "ConstantOfShape" | "Loop" | "If"));
            let content = node.inputs.iter().skip(first_content).flatten();
            self.content.extend(content.map(|&input| (graph, input)));
        }
    }

    /// Without tensors that lack a shape all is well. Otherwise the error names these tensors and says what the user
    /// can do. `deciders` are inputs of the model: their content, which is known only when the model runs, decides on
    /// shapes.
    fn verdict(self, deciders: &BTreeSet<String>) -> Result<(), ReadError> {
        if self.tensors.is_empty() {
            return Ok(());
        }
        let count =
            if self.tensors.len() == 1 { "a tensor".to_owned() } else { format!("{} tensors", self.tensors.len()) };
        let deciders: Vec<String> = deciders.iter().map(|name| format!("`{name}`")).collect();
        let why = match deciders.as_slice() {
            [] => String::new(),
            names => format!("; the content of {} decides", first_few(names)),
        };
        let message = format!("the shape of {count} is not known: {}{why}", first_few(&self.tensors));
        let flags: Vec<String> = self.flags.iter().take(4).map(|name| format!("--size {name}=N")).collect();
        let sizes = match flags.as_slice() {
            [] => "give symbolic dimensions with --dim".to_owned(),
            flags => format!("say what dimensions it has at most, as in {} (2x3 for two of them)", flags.join(" ")),
        };
        let help = format!("{sizes}, or write shapes into the model with onnx.shape_inference.infer_shapes");
        Err(ReadError::at_byte("onnx::unknown-shape", self.at.unwrap_or(0), message).help(help))
    }
}

fn first_few(names: &[String]) -> String {
    let shown = names.iter().take(8).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(8) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

impl Facts {
    /// Whether it needs memory, but nobody knows how much.
    fn lacks_shape(&self) -> bool {
        self.shape.is_none() && !self.is_odd && !self.is_constant && self.element != STRING
    }
}

impl Node {
    pub(super) fn label(&self) -> String {
        if self.name.is_empty() { self.kind.clone() } else { format!("{} {}", self.kind, self.name) }
    }

    /// Whether its operator comes from somewhere else, so that nobody knows whether it keeps anything between runs.
    fn is_foreign(&self) -> bool {
        !matches!(self.domain.as_str(), "" | "ai.onnx" | "ai.onnx.ml" | "com.microsoft")
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }
}

/// A dimension as it stands in the file.
enum Dimension {
    Known(i64),
    Named(String),
}

/// Element type and dimensions of a type.
fn type_of(message: Message, facts: &mut Facts) -> Result<Option<Vec<Dimension>>, ReadError> {
    let mut dimensions = None;
    for field in message.fields() {
        let field = field?;
        if field.number != 1 {
            facts.is_odd = true;
            continue;
        }
        let tensor = field.value.message(message);
        for entry in tensor.fields() {
            let entry = entry?;
            match entry.number {
                1 => facts.element = usize::try_from(entry.value.signed()).unwrap_or(0),
                2 => dimensions = Some(dimensions_of(entry.value.message(tensor))?),
                _ => {}
            }
        }
    }
    Ok(dimensions)
}

/// The dimensions of a shape: numbers, or names of sizes that are only known at run time.
fn dimensions_of(shape: Message) -> Result<Vec<Dimension>, ReadError> {
    let mut dimensions = Vec::new();
    for field in shape.fields() {
        let field = field?;
        if field.number != 1 {
            continue;
        }
        let mut dimension = Dimension::Named(String::new());
        let message = field.value.message(shape);
        for entry in message.fields() {
            let entry = entry?;
            match entry.number {
                1 => dimension = Dimension::Known(entry.value.signed()),
                2 => dimension = Dimension::Named(entry.value.text()?),
                _ => {}
            }
        }
        dimensions.push(dimension);
    }
    Ok(dimensions)
}

/// A constant: its shape and, if it is a short list of integers, its content.
fn tensor(message: Message) -> Result<Facts, ReadError> {
    let mut facts = Facts { is_constant: true, ..Facts::default() };
    let mut dimensions = Vec::new();
    let mut numbers = Vec::new();
    let mut raw = None;
    for field in message.fields() {
        let field = field?;
        match field.number {
            1 => field.value.push_signed(&mut dimensions)?,
            2 => facts.element = usize::try_from(field.value.signed()).unwrap_or(0),
            5 | 7 if is_short(field.value) => field.value.push_signed(&mut numbers)?,
            8 => facts.name = field.value.text()?,
            9 => raw = Some(field.value.message(message)),
            _ => {}
        }
    }
    let shape = dimensions.iter().map(|&dimension| u64::try_from(dimension).ok()).collect::<Option<Vec<u64>>>();
    let Some(shape) = shape else {
        let message_text = format!("initialiser `{}` has a negative dimension", facts.name);
        return Err(ReadError::at_byte("onnx::negative-dimension", message.start, message_text));
    };
    // Shapes are computed from short lists of integers. Anything longer is weights and is not read.
    if let Some(raw) = raw.filter(|raw| raw.len() <= 8 * NUMBERS as u64) {
        numbers = raw_numbers(raw, facts.element)?;
    }
    let count = super::shape::elements(&shape);
    let is_whole = count == Some(numbers.len() as u64) && numbers.len() <= NUMBERS;
    facts.numbers = (is_whole && matches!(facts.element, 6 | 7)).then_some(numbers);
    facts.shape = (shape.len() <= RANK).then_some(shape);
    Ok(facts)
}

fn is_short(value: Value) -> bool {
    !matches!(value, Value::Bytes(packed) if packed.len() > 10 * NUMBERS as u64)
}

fn raw_numbers(raw: Message, element: usize) -> Result<Vec<i64>, ReadError> {
    let width = match element {
        6 => 4,
        7 => 8,
        _ => return Ok(Vec::new()),
    };
    let number = |at: u64| match width {
        4 => raw.window.i32(at).map(i64::from),
        _ => raw.window.i64(at),
    };
    raw.window.spend(raw.start, raw.len())?;
    (0..raw.len() / width).map(|place| number(raw.start + place * width)).collect()
}

/// Reads one attribute; graphs inside of it are added to `bodies`. Long lists are skipped: they are weights and not
/// shapes.
fn attribute<'w, 'a>(message: Message<'w, 'a>, bodies: &mut Vec<Message<'w, 'a>>) -> Result<Attribute, ReadError> {
    let mut attribute = Attribute::default();
    for field in message.fields() {
        let field = field?;
        match field.number {
            1 => attribute.name = field.value.text()?,
            2 => {
                if let Value::Four(bits) = field.value {
                    attribute.float = f32::from_bits(bits);
                }
            }
            3 => attribute.int = field.value.signed(),
            4 if is_short(field.value) => attribute.text = field.value.text()?,
            5 => attribute.tensor = Some(tensor(field.value.message(message))?),
            6 | 11 => bodies.push(field.value.message(message)),
            7 if is_short(field.value) => field.value.push_floats(&mut attribute.floats)?,
            8 if is_short(field.value) => field.value.push_signed(&mut attribute.ints)?,
            _ => {}
        }
    }
    Ok(attribute)
}

/// Puts nodes into an order in which everything is written before it is read,
/// as close to that of the file as possible.
fn sort(draft: &mut Draft) -> Result<(), ReadError> {
    let writers = writers(draft)?;
    // Kahn's algorithm; the heap prefers the place in the file.
    let mut waiting: Vec<usize> = Vec::with_capacity(draft.nodes.len());
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); draft.nodes.len()];
    for (place, node) in draft.nodes.iter().enumerate() {
        let tensors = node.inputs.iter().flatten().chain(&node.captures);
        let producers: BTreeSet<usize> = tensors.filter_map(|&tensor| writers[tensor]).collect();
        waiting.push(producers.len());
        for producer in producers {
            readers[producer].push(place);
        }
    }
    let mut ready: BinaryHeap<Reverse<usize>> =
        waiting.iter().enumerate().filter(|(_, count)| **count == 0).map(|(place, _)| Reverse(place)).collect();
    let mut order = Vec::with_capacity(draft.nodes.len());
    while let Some(Reverse(place)) = ready.pop() {
        order.push(place);
        for &reader in &readers[place] {
            waiting[reader] -= 1;
            if waiting[reader] == 0 {
                ready.push(Reverse(reader));
            }
        }
    }
    if let Some(stuck) = waiting.iter().position(|&count| count > 0) {
        let node = &draft.nodes[stuck];
        let message = format!("the graph is cyclic: {} waits for its own result", node.label());
        return Err(ReadError::at_byte("onnx::cycle", node.at, message));
    }
    // Most files are sorted already; then nothing is moved.
    if order.windows(2).any(|pair| pair[0] > pair[1]) {
        let mut nodes: Vec<Option<Node>> = std::mem::take(&mut draft.nodes).into_iter().map(Some).collect();
        draft.nodes = order.into_iter().filter_map(|place| nodes[place].take()).collect();
    }
    Ok(())
}

/// For each tensor the place of the node that writes it. Two nodes must not write the same tensor.
fn writers(draft: &Draft) -> Result<IndexVec<TensorId, Option<usize>>, ReadError> {
    let mut writers = IndexVec::<TensorId, Option<usize>>::filled(None, draft.tensors.len());
    for (place, node) in draft.nodes.iter().enumerate() {
        for &output in node.outputs.iter().flatten() {
            if writers[output].replace(place).is_some() {
                let message = format!("`{}` is written by two nodes", draft.tensors[output].name);
                return Err(ReadError::at_byte("onnx::written-twice", node.at, message));
            }
        }
    }
    Ok(writers)
}

/// Nodes that compute each output element from the input elements at the same position.
const ELEMENTWISE: [&str; 40] = [
    "Abs",
    "Add",
    "BatchNormalization",
    "Ceil",
    "Celu",
    "Clip",
    "Div",
    "Dropout",
    "Elu",
    "Erf",
    "Exp",
    "Flatten",
    "Floor",
    "Gelu",
    "HardSigmoid",
    "HardSwish",
    "Identity",
    "LeakyRelu",
    "Log",
    "Max",
    "Min",
    "Mish",
    "Mul",
    "Neg",
    "PRelu",
    "Pow",
    "Reciprocal",
    "Relu",
    "Reshape",
    "Round",
    "Selu",
    "Sigmoid",
    "Softplus",
    "Softsign",
    "Sqrt",
    "Squeeze",
    "Sub",
    "Sum",
    "Tanh",
    "Unsqueeze",
];

/// Nodes whose result is not determined by their inputs.
const STATEFUL: [&str; 6] =
    ["RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli"];

fn graph_of(draft: &Draft, folded: &[bool]) -> Result<Graph, ReadError> {
    let mut tensors = IndexVec::<TensorId, Tensor>::default();
    for facts in &draft.tensors {
        tensors.push(tensor_of(facts, draft.at)?);
    }
    let mut ops = IndexVec::<OpId, Op>::default();
    for (node, _) in draft.nodes.iter().zip(folded).filter(|(_, is_folded)| !**is_folded) {
        ops.push(op_of(node, &tensors));
    }
    let is_placed = |id: &TensorId| tensors[*id].home != Home::File;
    Ok(Graph {
        name: draft.name.clone(),
        inputs: draft.inputs.iter().copied().filter(is_placed).collect(),
        outputs: draft.outputs.clone(),
        tensors,
        ops,
    })
}

/// A tensor, with its size and where it lives.
fn tensor_of(facts: &Facts, at: u64) -> Result<Tensor, ReadError> {
    let Some(&(element, bits)) = ELEMENTS.get(facts.element) else {
        let message = format!("`{}` has element type {}, which is not known", facts.name, facts.element);
        return Err(ReadError::at_byte("onnx::element-type", at, message));
    };
    let shape = facts.shape.clone().unwrap_or_default();
    // An element type that nobody says is most often a float.
    let bits = if facts.element == 0 { 32 } else { bits };
    let is_sized = facts.shape.is_some() && bits > 0 && !facts.is_odd;
    let bytes = if is_sized { shape_bytes(&shape, bits) } else { Some(Bytes::ZERO) };
    let Some(bytes) = bytes else {
        let message = format!("`{}` of shape {shape:?} is too large to be planned", facts.name);
        return Err(ReadError::at_byte("onnx::too-large", at, message));
    };
    let home = match facts.outer {
        Some((graph, tensor)) => Home::Outer(graph, tensor),
        None if facts.is_constant => Home::File,
        None if !is_sized => Home::Runtime,
        None => Home::Arena,
    };
    Ok(Tensor { name: facts.name.clone(), element, shape, bytes, home })
}

/// A node as an op: what it reads and writes, and which input its output may take the place of.
fn op_of(node: &Node, tensors: &IndexVec<TensorId, Tensor>) -> Op {
    let inputs: Vec<TensorId> = node.inputs.iter().flatten().chain(&node.captures).copied().collect();
    let outputs: Vec<TensorId> = node.outputs.iter().flatten().copied().collect();
    let is_known = node.domain.is_empty() || node.domain == "ai.onnx";
    let control = match node.kind.as_str() {
        "Loop" | "Scan" | "SequenceMap" => Control::Loop,
        _ => Control::Once,
    };
    // Only the standard says which ops are elementwise, so ops of other domains write beside their inputs.
    let in_place = match outputs.first() {
        Some(&output) if is_known && ELEMENTWISE.contains(&node.kind.as_str()) => {
            let fitting = inputs.iter().filter(|&&input| may_overwrite(&tensors[output], &tensors[input]));
            fitting.map(|&input| (output, input)).collect()
        }
        _ => Vec::new(),
    };
    Op {
        kind: node.kind.clone(),
        name: node.name.clone(),
        inputs,
        outputs,
        scratch: Vec::new(),
        kept: memplan_core::Bytes::ZERO,
        in_place,
        bodies: node.bodies.clone(),
        control,
        is_stateful: STATEFUL.contains(&node.kind.as_str()) || !node.bodies.is_empty() || node.is_foreign(),
    }
}

/// Whether an elementwise op may write over an input: it has the same elements and is no weight.
fn may_overwrite(output: &Tensor, input: &Tensor) -> bool {
    output.bytes == input.bytes && output.element == input.element && input.home == Home::Arena
}
