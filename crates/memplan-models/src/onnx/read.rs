//! Reads the structure of an `.onnx` file: graphs, tensors, nodes.
//!
//! ```text
//! ModelProto  ir_version 1, graph 7, opset_import 8
//! GraphProto  node 1, name 2, initializer 5, input 11, output 12, value_info 13, sparse_initializer 15
//! NodeProto   input 1, output 2, name 3, op_type 4, attribute 5, domain 7
//! ```
//!
//! 1. Every graph is read into a `Draft`: its nodes, and what the file says about
//!    its tensors (`Facts`). The bodies of loops and branches are graphs, too, and
//!    are read after the graph around them, because a name that a body does not
//!    define is looked up there.
//! 2. Nodes are put into an order in which everything is written before it is
//!    read; a file in the wrong order is read as if it were in the right one.
//! 3. Shapes are taken from the file, and inferred where it has none (`infer`).
//! 4. A tensor that is computed from constants alone counts as a constant: a
//!    runtime computes it once, when the model is loaded.
//!
//! Initialisers, and files beside the model that hold them, are not read, except
//! for small lists of integers, which may be shapes.

use std::collections::{BTreeMap, BTreeSet};

use memplan_core::{Bytes, Id, IndexVec, patience};

use super::convert::graph_of;
use super::draft::{Draft, Facts, Node, RANK, sort};
use super::infer;
use super::missing::{check_shapes, first_few};
use super::nodes::opset;
use super::values::{Dimension, attribute, tensor, type_of};
use super::wire::{Field, Message};
use crate::ReadError;
use crate::graph::{Graph, GraphId, Model, TensorId};
use crate::source::{ReadAt, Window};

/// The highest version of the format that is accepted. Versions so far add fields and do not change old ones, and
/// unknown fields are skipped, so versions above those that exist today are accepted, too.
const VERSIONS: i64 = 64;
/// How deep bodies may be nested. A file with deeper bodies is refused: it is damaged, and each level would make the
/// look-up of names slower.
const DEPTH: usize = 64;

/// What the user can tell the reader.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Values of symbolic dimensions, by name. A dimension is symbolic if the file has a name such as `batch` for it,
    /// and no number. A dimension that has neither is called after its tensor and its position: `x.0` is the first
    /// dimension of input `x`.
    pub dimensions: BTreeMap<String, u64>,
    /// Upper bounds on the dimensions of tensors whose shape depends on the content of other tensors, by name.
    pub sizes: BTreeMap<String, Vec<u64>>,
}

/// A model that was read.
#[derive(Clone, Debug)]
pub struct ReadModel {
    /// The network.
    pub model: Model,
    /// Sentences for the user about what was ignored, assumed or left alone.
    pub notes: Vec<String>,
    /// For each op of the first graph, the place of its node in the file.
    pub nodes: Vec<usize>,
}

/// Whether the first bytes of a file may be those of an `.onnx` file: field 1, the
/// version of the format (a number from 1 to 64), and then the tag of another field
/// of the model (2 to 8) whose value has a length.
pub fn is_onnx(head: &[u8]) -> bool {
    matches!(head, [0x08, version, 0x12 | 0x1a | 0x22 | 0x2a | 0x32 | 0x3a | 0x42, ..] if (1..=64).contains(version))
}

/// Reads a model. Only the structure of the file is fetched from `source`, not the weights.
pub fn read(source: &dyn ReadAt, options: &Options) -> Result<ReadModel, ReadError> {
    let window = Window::new(source);
    if window.size() == 0 {
        return Err(ReadError::at_byte("model::truncated", 0, "the file is empty"));
    }
    let mut reader = Reader { options: Some(options), ..Reader::default() };
    reader.version = operators(&window)?;
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

/// Finds the main graph of a file, and checks the version of the format.
pub(super) fn header<'w, 'a>(window: &'w Window<'a>) -> Result<Message<'w, 'a>, ReadError> {
    let whole = Message::whole(window);
    let mut graph = None;
    let mut version = None;
    for field in whole.fields() {
        let field = field?;
        // In protobuf, fields come in any order. If a number occurs twice, the last one counts. Two graphs would have to be
        // merged; no tool writes that, and half of a model must not be planned.
        match field.number {
            1 => version = Some(field.value.signed()),
            7 if graph.is_some() => {
                return Err(ReadError::at_byte("onnx::two-graphs", 0, "the file has its graph in more than one part"));
            }
            7 => graph = Some(field.value.message(whole)),
            // Who made the file, and functions: planning needs neither. `operators` finds the version of the operators.
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

/// The version of the standard operators that the nodes of a file are meant in; 0 if the file does not say.
fn operators(window: &Window) -> Result<i64, ReadError> {
    let whole = Message::whole(window);
    let mut found = 0;
    for field in whole.fields() {
        let field = field?;
        // Field 8 of a file is a domain with its version. The standard operators have an empty domain.
        if field.number == 8 {
            let (domain, version) = opset(field.value.message(whole))?;
            if domain.is_empty() || domain == "ai.onnx" {
                found = version;
            }
        }
    }
    Ok(found)
}

/// What has been read so far.
#[derive(Default)]
struct Reader<'o> {
    /// The version of the standard operators; 0 if the file does not say.
    version: i64,
    /// The graphs; the first is the main graph.
    drafts: IndexVec<GraphId, Draft>,
    /// What the user said. `None` only in an empty reader, as `Default` makes it.
    options: Option<&'o Options>,
    /// Symbolic dimensions of the model's inputs for which the user gave no value, each with the name of the input.
    symbols: BTreeSet<(String, String)>,
    /// Sentences for the user; see `ReadModel::notes`.
    notes: Vec<String>,
}

/// A graph that is still to be read.
struct Pending<'w, 'a> {
    message: Message<'w, 'a>,
    /// The graph around it and the place of the node that runs it; `None` for the main graph.
    parent: Option<(GraphId, usize)>,
    /// How many graphs are around it.
    depth: usize,
}

impl Reader<'_> {
    /// Reads all graphs, each before its bodies.
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
            // `pending` is a stack. In reverse order the first body is taken from it first.
            for (node, message) in bodies.into_iter().rev() {
                pending.push(Pending { message, parent: Some((id, node)), depth: next.depth + 1 });
            }
        }
        Ok(())
    }

    /// Reads a graph; returns its bodies, each with the place of the node that runs it.
    fn graph<'w, 'a>(
        &mut self,
        id: GraphId,
        message: Message<'w, 'a>,
    ) -> Result<Vec<(usize, Message<'w, 'a>)>, ReadError> {
        let mut nodes = Vec::new();
        let mut infos = Vec::new();
        // Fields come in any order, so a node may stand before the description of a tensor that it reads. So this loop
        // enters initialisers and collects all other fields; then descriptions of tensors are read, and nodes last.
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
                // Texts for people, and notes on quantisation.
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

    /// Enters a tensor into a graph, or adds to what is known about it if the graph has a tensor of that name.
    fn define(&mut self, graph: GraphId, facts: Facts) -> TensorId {
        let draft = &mut self.drafts[graph];
        match draft.by_name.get(&facts.name) {
            // A tensor may be described several times (as an initialiser, as an input, in `value_info`). Each
            // description adds what the others leave out; the first one wins where they differ.
            Some(&known) => {
                let old = &mut draft.tensors[known];
                old.is_constant |= facts.is_constant;
                // A sequence or a map, which has no shape.
                old.is_odd |= facts.is_odd;
                // Element type 0 is ONNX's UNDEFINED: this description does not give the type.
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

    /// Reads the description of a tensor: its name, type and shape. The number of the field says what the tensor is:
    /// 11 an input of the graph, 12 an output, 13 any other.
    fn value_info(&mut self, graph: GraphId, field: Field, outer: Message) -> Result<(), ReadError> {
        let message = field.value.message(outer);
        let mut facts = Facts::default();
        let mut dimensions = None;
        for entry in message.fields() {
            let entry = entry?;
            match entry.number {
                1 => facts.name = entry.value.text()?,
                2 => dimensions = type_of(entry.value.message(message), &mut facts)?,
                // A text for people.
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
            // If an input has an initialiser, the initialiser is its default. Callers hardly ever give another value,
            // so such an input counts as a constant and not as an input.
            11 if !known_constant => self.drafts[graph].inputs.push(id),
            12 => self.drafts[graph].outputs.push(id),
            // A constant, or an inner tensor (13): `define` has entered what is said about it.
            _ => {}
        }
        // A constant input of the model has the shape of its initialiser, so the user is not asked for its symbolic
        // dimensions, which `resolve` has collected above. A body may have an input of the same name, which is another
        // tensor.
        if known_constant && is_input && is_main {
            self.symbols.retain(|(_, input)| *input != name);
        }
        Ok(())
    }

    /// The shape of a tensor called `name`, with numbers for symbolic dimensions where the user gave them. `None` if
    /// a dimension has no number, if the file does not state a shape, or if there are more than `RANK` dimensions.
    /// `is_wanted` is set for inputs of the model: their dimensions without a number are collected in `symbols`, for an
    /// error that asks the user. `at` is the byte offset in the file that an error points to.
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
                // A dimension with neither a number nor a name gets a name, under which the user can give its value.
                Dimension::Named(_) => format!("{name}.{axis}"),
            };
            let given = self.options.and_then(|options| options.dimensions.get(&symbol));
            match given {
                Some(&number) => shape.push(number),
                None => {
                    is_complete = false;
                    // The dimensions of inner tensors follow from those of the inputs, so the user is asked for the
                    // latter only.
                    if is_wanted {
                        self.symbols.insert((symbol, name.to_owned()));
                    }
                }
            }
        }
        Ok((is_complete && shape.len() <= RANK).then_some(shape))
    }

    /// Reads a node and adds it to its graph; returns its bodies. `place` is its number among the nodes of the graph,
    /// and `outer` the graph's message.
    fn node<'w, 'a>(
        &mut self,
        graph: GraphId,
        place: usize,
        field: Field<'w, 'a>,
        outer: Message<'w, 'a>,
    ) -> Result<Vec<Message<'w, 'a>>, ReadError> {
        let message = field.value.message(outer);
        let mut node = Node { at: field.start, place, version: self.version, ..Node::default() };
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
                // A text for people (6) and fields of newer versions: they do not change what the node needs.
                _ => {}
            }
        }
        self.drafts[graph].nodes.push(node);
        Ok(bodies)
    }

    /// The tensor that a node of `graph` reads under this name. If the graph does not have it, the graphs around it are
    /// searched from the inside out; if none of them has it, it is entered as new, because the node that writes it may
    /// come later in the file.
    fn look_up(&mut self, graph: GraphId, name: &str) -> TensorId {
        if let Some(&known) = self.drafts[graph].by_name.get(name) {
            return known;
        }
        let mut at = self.drafts[graph].parent;
        // The graphs without the name, from the inside out.
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

    /// Makes a tensor of an outer graph, `owner`, known in all graphs between it and the one that reads it. `chain`
    /// lists these graphs from the inside out. Each gets a tensor that stands for the one in the graph around it, and
    /// each node on the way is noted as a reader of it. Returns the tensor of the innermost graph.
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

    /// Checks that every dimension of the model's inputs has a number; the error names those without one and says how
    /// to give them.
    fn check_inputs(&self) -> Result<(), ReadError> {
        if self.symbols.is_empty() {
            return Ok(());
        }
        // The set is sorted by symbol, so that equal symbols are neighbours.
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

    /// Takes the user's sizes for tensors whose shape cannot be inferred, or is inferred as an upper bound only. A size
    /// that contradicts a known shape is an error, because a plan with too small a size would be wrong.
    fn take_sizes(&mut self, options: &Options) -> Result<(), ReadError> {
        // Shapes are inferred in a copy first, to see which are known without the user's help.
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

    /// Makes graphs of the drafts, without the nodes that compute constants.
    fn finish(mut self) -> Result<ReadModel, ReadError> {
        let folded = infer::fold(&mut self.drafts);
        check_shapes(&self.drafts, &folded)?;
        let mut graphs = IndexVec::<GraphId, Graph>::default();
        let mut nodes = Vec::new();
        let mut constants = 0;
        for (id, draft) in self.drafts.iter_enumerated() {
            constants += folded[id].iter().filter(|&&is_folded| is_folded).count();
            // Writers of changed models need to know which node of the main graph each op is.
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
        // Each sparse initialiser has made the same note.
        self.notes.dedup();
        // ONNX files say nothing about alignment. The user or the target may ask for one later.
        let model = Model { graphs, alignment: Bytes(1) };
        Ok(ReadModel { model, notes: self.notes, nodes })
    }

    /// A note that names the tensors whose shape is an upper bound; `None` if there are none.
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
}
