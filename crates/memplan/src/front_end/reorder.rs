//! Models whose ops are put into another order, so that less is alive at once.
//!
//! The claim is that every op still finds the values it found before. The output is the model's own file with its ops
//! moved; it is read again as any model is, and every op is looked for by its name and its tensors.
//!
//! The driver compares placements of buffers. Here the things that are placed are ops: the place of an op in the order
//! is written as the offset of a [`Placement`].

use std::collections::{HashMap, VecDeque};

use memplan_core::{Bytes, Id, Placement, ReadError, SpaceId};
use memplan_models::graph::order::{Reordered, WIDTH, reorder};
use memplan_models::graph::{Graph, Op, OpId};
use memplan_models::source::Piece;
use memplan_models::{onnx, tflite};
use memplan_verify::order::Access;
use smallvec::smallvec;

use super::plain::{Plain, written};
use super::{Behind, Claim, Found, FrontEnd, Order, Output, Places};
use crate::driver::{Failure, Solver};
use crate::format::{self, Input};
use crate::network::{Kind, Network};
use crate::source::Source;

/// The front end for models in another order.
#[derive(Clone, Debug)]
pub struct Reorder {
    /// How thoroughly to search. The search builds orders op by op. For each n it keeps
    /// this many of the sets of n ops that can have run, so time and memory grow with it.
    pub width: usize,
}

impl Default for Reorder {
    fn default() -> Reorder {
        Reorder { width: WIDTH }
    }
}

impl FrontEnd for Reorder {
    type Input = Input;
    type Laid = Reordered;

    fn name(&self) -> &str {
        "reorder"
    }

    fn read(&self, source: &Source) -> Result<Input, Failure> {
        let input = Plain::default().read(source)?;
        network(&input, &source.name)?;
        Ok(input)
    }

    fn lay_out(&self, input: &Input, _: &mut Solver) -> Result<Reordered, Failure> {
        let network = network(input, "the input")?;
        reorder(network.model(), network.assumptions(), self.width).map_err(|error| Failure::NoPlan(error.to_string()))
    }

    /// What is checked: that every op still finds the values that it found in the old order, and that the written model
    /// has its ops in the new one. An op has a "place" here, its position in the file, as buffers have offsets
    /// elsewhere.
    fn claim<'a>(&self, input: &'a Input, laid: &'a Reordered) -> Claim<'a> {
        let Some(graph) = input.network.as_ref().and_then(|network| network.model().main()) else {
            return Claim::default();
        };
        // The check of orders gets what each op reads and writes; the placements say at which place each op must be
        // found.
        let order: Vec<usize> = laid.order.iter().map(|op| op.index()).collect();
        let places = places_in(&order).into_iter().map(|place| Some(Placement::at(SpaceId::from_index(0), place)));
        let orders = vec![Order { ops: graph.ops.iter().map(access).collect(), order }];
        Claim { orders, placements: vec![places.collect()], ..Claim::default() }
    }

    fn emit(&self, input: &Input, laid: &Reordered) -> Result<Output, Failure> {
        let network = network(input, "the input")?;
        let Some(file) = input.file.clone() else { return Err(no_network("the input")) };
        let pieces = pieces(network, &file, &laid.order)?;
        Ok(Output { behind: Some(Behind { file, pieces }), ..Output::default() })
    }

    /// Finds at which position of the written model each op of the old one is.
    fn places(&self, input: &Input, output: &Output) -> Result<Places, Failure> {
        let (Some(file), Some(old)) = (&input.file, &input.network) else { return Ok(Places::default()) };
        // The written model is read again by the reader of its format, which knows nothing of the new order.
        let content = written(output)?;
        let reader = match old.kind() {
            Kind::Tflite => format::find("tflite"),
            Kind::Onnx { .. } => format::find("onnx"),
        };
        let unreadable = || ReadError::at_byte("read::failed", 0, "models are not read here");
        let again = reader.ok_or_else(unreadable)?.read_binary(&content, &file.options)?;
        let Some(new) = &again.network else { return Ok(Places::default()) };
        let graphs = old.model().main().zip(new.model().main());
        Ok(Places { lists: graphs.map(|(old, graph)| found_in(old, graph, &order_in_file(new))).into_iter().collect() })
    }
}

/// The network of an input.
fn network<'a>(input: &'a Input, name: &str) -> Result<&'a Network, Failure> {
    input.network.as_deref().ok_or_else(|| no_network(name))
}

/// The failure for an input that is no model.
fn no_network(name: &str) -> Failure {
    let error = ReadError::at_byte("reorder::no-network", 0, format!("there is no network in {name}"));
    error.help("give a .tflite or an .onnx model").into()
}

/// The model's file with its ops in another order.
fn pieces(network: &Network, file: &Source, order: &[OpId]) -> Result<Vec<Piece>, Failure> {
    Ok(match network.kind() {
        Kind::Tflite => tflite::reorder::pieces(file.content(), order)?,
        Kind::Onnx { nodes } => {
            // Nodes that compute constants are no ops; they stay in front of all others.
            let order: Vec<usize> = order.iter().filter_map(|op| nodes.get(op.index()).copied()).collect();
            onnx::reorder::pieces(file.content(), &order)?
        }
    })
}

/// What an op reads and writes, by the numbers of tensors, for the check of orders. An op that
/// keeps a state between runs has an effect beside its outputs, so the check keeps such ops in
/// their order.
fn access(op: &Op) -> Access {
    let indices = |tensors: &[memplan_models::graph::TensorId]| tensors.iter().map(|tensor| tensor.index()).collect();
    Access { reads: indices(&op.inputs), writes: indices(&op.outputs), has_effect: op.is_stateful }
}

/// The place of each op in an order: for `2 0 1` that is `1 2 0`.
fn places_in(order: &[usize]) -> Vec<Bytes> {
    let mut places = vec![Bytes::ZERO; order.len()];
    for (place, &op) in order.iter().enumerate() {
        if let Some(slot) = places.get_mut(op) {
            *slot = Bytes(place as u64);
        }
    }
    places
}

/// The ops of a model in the order of its file. For ONNX that may not be the order of the graph, because the reader
/// sorts nodes that stand before what they need.
fn order_in_file(network: &Network) -> Vec<OpId> {
    let mut ops: Vec<OpId> = network.model().main().map(|graph| graph.ops.ids().collect()).unwrap_or_default();
    if let Kind::Onnx { nodes } = network.kind() {
        ops.sort_by_key(|op| nodes.get(op.index()).copied());
    }
    ops
}

/// Where each op of the old graph is in the new one, by its name and the names of its tensors; `None` if it is not
/// there. `order` are the ops of the new graph in the order of the file. Ops that look the same are matched one by
/// one, in their order.
fn found_in(old: &Graph, new: &Graph, order: &[OpId]) -> Vec<Option<Found>> {
    // For each signature the places at which the new file has an op with it, the first one first.
    let mut places: HashMap<String, VecDeque<u64>> = HashMap::new();
    for (place, &op) in order.iter().enumerate() {
        places.entry(signature(new, &new.ops[op])).or_default().push_back(place as u64);
    }
    let found = |op: &Op| {
        let place = places.get_mut(&signature(old, op))?.pop_front()?;
        Some(Found { memory: "order".into(), offsets: smallvec![place], ..Found::default() })
    };
    old.ops.iter().map(found).collect()
}

/// What an op is recognised by: its kind, its name and the names of its tensors.
fn signature(graph: &Graph, op: &Op) -> String {
    let names = |tensors: &[memplan_models::graph::TensorId]| -> Vec<&str> {
        tensors.iter().map(|&tensor| graph.tensors[tensor].name.as_str()).collect()
    };
    format!("{} {:?} {:?} {:?}", op.kind, op.name, names(&op.inputs), names(&op.outputs))
}
