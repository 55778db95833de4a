//! An `.onnx` file as the check of changed models sees it ([`memplan_verify::equivalence`]).
//!
//! Everything in the file that makes a difference for what is computed goes into the description, known or not: every
//! attribute of every node, the bytes of every constant, versions of operators, functions. Left out is what no runtime
//! looks at: names of inner tensors and of nodes, texts for people.
//!
//! Most files do not state the shapes of inner tensors. Then [`read`](super::read()) infers the shapes, for the values
//! that the user gives to symbolic dimensions. What a node does with the places of elements (`meaning`) is only
//! believed if it agrees with these shapes.

use std::collections::BTreeMap;

use memplan_verify::equivalence::{Contents, Network, Op, Tensor};

use super::meaning::{Facts, interpret};
use super::nodes::{self, File, Node, Range};
use super::{Options, read};
use crate::ReadError;
use crate::graph::Home;
use crate::source::{ReadAt, Window};

/// Describes the main graph of a file, for a comparison with another file. `contents` numbers the contents of
/// constants; both files must get the same one, so that equal contents have equal numbers.
pub fn describe(source: &dyn ReadAt, options: &Options, contents: &mut Contents) -> Result<Network, ReadError> {
    // A size that the user gives is an upper bound. The check needs real shapes to tell which elements a tile has.
    if !options.sizes.is_empty() {
        let message = "sizes that tensors have at most say nothing about which part of one a tile is";
        return Err(ReadError::at_byte("onnx::bounded", 0, message).help("leave --size out"));
    }
    let file = nodes::read(source)?;
    // The content of sparse constants is not read here, so two different models could look the same.
    if let Some((_, sparse)) = file.others.iter().find(|(number, _)| *number == SPARSE) {
        let message = "the model has sparse constants, which cannot be compared";
        return Err(ReadError::at_byte("onnx::sparse", sparse.start, message));
    }
    let window = Window::new(source);
    let known = shapes(source, options)?;
    let mut describer =
        Describer { window: &window, file: &file, known, network: Network::default(), names: BTreeMap::new() };
    // Ops refer to tensors by number, so all tensors are numbered before the first op is described.
    describer.interface()?;
    describer.tensors(contents)?;
    for node in &file.nodes {
        let op = describer.op(node)?;
        describer.network.ops.push(op);
    }
    Ok(describer.network)
}

/// The number of the field with sparse constants.
const SPARSE: u64 = 15;
/// The number of a graph's field with notes on quantisation. A runtime looks at it, as at nodes, constants, inputs
/// and outputs.
const NOTES: u64 = 14;

/// The shape and the element type of each tensor of the main graph, by name.
fn shapes(source: &dyn ReadAt, options: &Options) -> Result<BTreeMap<String, Facts>, ReadError> {
    let model = read(source, options)?.model;
    let tensors = model.main().into_iter().flat_map(|graph| graph.tensors.iter());
    Ok(tensors.map(|tensor| (tensor.name.clone(), facts(tensor))).collect())
}

/// What is known of a tensor of the graph that was read, in the form that `interpret` takes.
fn facts(tensor: &crate::graph::Tensor) -> Facts {
    let shape: Option<Vec<i64>> = tensor.shape.iter().map(|&dimension| i64::try_from(dimension).ok()).collect();
    // The shape of a tensor whose size the runtime decides is not known, whatever the graph says.
    Facts { element: tensor.element, shape: shape.filter(|_| tensor.home != Home::Runtime) }
}

/// A description that is being made.
struct Describer<'w, 'a> {
    window: &'w Window<'a>,
    file: &'w File,
    /// What is known about each tensor, by name.
    known: BTreeMap<String, Facts>,
    /// The description so far.
    network: Network,
    /// The number of each tensor in `network`, by name.
    names: BTreeMap<String, usize>,
}

impl Describer<'_, '_> {
    /// The bytes of a range of the file, as text: a byte that is no printable ASCII becomes an escape such as `\x07`.
    /// So two files can be compared, and a difference can be shown to a person.
    fn text(&self, range: Range) -> Result<String, ReadError> {
        let bytes = self.window.bytes(range.start, range.end.saturating_sub(range.start))?;
        Ok(bytes.escape_ascii().to_string())
    }

    /// Describes what is not about a single node: what callers see (inputs and outputs), and what holds for all nodes
    /// (versions of operators, functions, notes on quantisation). All of it must be the same in both files.
    fn interface(&mut self) -> Result<(), ReadError> {
        // `around` are the fields outside of the main graph, `interface` the inputs and outputs of the graph, and
        // `others` its remaining fields, with their numbers.
        let notes = self.file.others.iter().filter(|(number, _)| *number == NOTES).map(|(_, bytes)| *bytes);
        let lines = self.file.around.iter().chain(&self.file.interface).copied().chain(notes);
        self.network.interface = lines.map(|range| self.text(range)).collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Numbers all tensors that the graph names: inputs, constants with their content, results.
    fn tensors(&mut self, contents: &mut Contents) -> Result<(), ReadError> {
        for input in &self.file.inputs {
            let tensor = self.tensor(input);
            self.network.inputs.push(tensor);
        }
        for (name, constant) in &self.file.constants {
            let tensor = self.tensor(name);
            // All fields of the constant but its name: element type, shape and numbers. Equal bytes get equal numbers.
            let mut bytes = Vec::new();
            for range in &constant.bytes {
                bytes.extend(self.window.bytes(range.start, range.end.saturating_sub(range.start))?);
            }
            self.network.tensors[tensor].content = Some(contents.id(bytes));
        }
        // An optional input or output that is left out has an empty name.
        for node in &self.file.nodes {
            node.inputs
                .iter()
                .chain(&node.outputs)
                .filter(|name| !name.is_empty())
                .for_each(|name| _ = self.tensor(name));
        }
        for output in &self.file.outputs {
            let tensor = self.tensor(output);
            self.network.outputs.push(tensor);
        }
        Ok(())
    }

    /// The number of a tensor; a new one for a new name.
    fn tensor(&mut self, name: &str) -> usize {
        if let Some(&known) = self.names.get(name) {
            return known;
        }
        let facts = self.known.get(name).cloned().unwrap_or_default();
        let number = self.network.tensors.len();
        self.network.tensors.push(Tensor {
            name: name.to_owned(),
            shape: facts.shape,
            numbers: facts.element.to_owned(),
            ..Tensor::default()
        });
        self.names.insert(name.to_owned(), number);
        number
    }

    /// Describes a node. Attributes that its meaning explains completely, such as the padding of a convolution, are its
    /// `geometry`, which may differ between the two models; all others must be the same.
    fn op(&mut self, node: &Node) -> Result<Op, ReadError> {
        // The number of a tensor in the description. `tensors` has numbered every name that is used in this graph.
        let place = |name: &String| self.names.get(name).copied();
        let mut operands: Vec<Option<usize>> = node.inputs.iter().map(place).collect();
        // Bodies read tensors of the graph around them, so these are operands, too. `captures` also has names of the
        // bodies' own tensors; `place` answers `None` for such a name.
        operands.extend(node.captures.iter().filter_map(place).map(Some));
        let results = node.outputs.iter().map(place).collect();
        let mut attributes = BTreeMap::new();
        for attribute in &node.attributes {
            attributes.insert(attribute.name.clone(), self.text(attribute.bytes)?);
        }
        let (meaning, explained) = interpret(node, self.file, &self.known);
        let geometry = explained.iter().filter_map(|name| attributes.remove_entry(*name)).collect();
        let kind = if node.is_standard() { node.kind.clone() } else { format!("{}.{}", node.domain, node.kind) };
        let has_effect = node.has_effect();
        Ok(Op { kind, attributes, geometry, meaning, operands, results, has_effect })
    }
}
