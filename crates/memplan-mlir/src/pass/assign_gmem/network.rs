//! A module of `top` and `tpu` ops as a network: tensors, weights, and the steps
//! that read and write them. Everything else in this pass (lifetimes, addresses, the
//! checks) is computed from the [`Network`] that is read here.
//!
//! ```text
//!   module {chip, state} { module {device} {
//!     main:      in = top.Input          step 0  writes in
//!                call @subfunc(in)       step 1  reads in
//!     subfunc:   a = tpu.Active(arg)     step 2  reads in, writes a     (arg *is* in)
//!                return a                step 3  reads a
//!                return call             step 4  reads a                (the call's result is a)
//!   } }
//! ```
//!
//! Calls are followed, so a tensor is one tensor however many names it has: the
//! argument of a function is what the caller passes, the result of a call is what
//! the callee returns. That is also why a function may be called once only: its
//! tensors have one address each.
//!
//! An op with a region is one step. A layer group (`tpu.Group`) is a chain of ops that
//! works on pieces of its tensors in local memory: only the tensors that the group
//! loads and stores are in global memory. A tensor that is computed inside any other
//! region (of a loop or of an `if`) is in global memory for exactly that one step.
//!
//! Functions are called by their position in [`Network::functions`], steps by their
//! position in [`Network::steps`]. Sizes and places inside of tensors are in bytes.
//!
//! The word *root* has two meanings: [`Network::roots`] are the entry functions, and
//! [`Network::root`] is the tensor in whose memory another one lies.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;

use memplan_core::{Id, IndexVec, Span, index_type, patience};
use smallvec::{SmallVec, smallvec};

// `Shape` is the dimensions of a tensor and the bytes it takes; `Batches` says how narrow elements share words.
// `InPlace` is how the result of an op that moves no data lies in its operand; `Shaped` is an op with the shapes that
// decide about that.
// `OpId`, `ValueId` and `BlockId` belong to the text (`Document`).
use super::chip::Chip;
use super::in_place::{InPlace, Shaped};
use super::tensor::{Batches, Shape, address};
use crate::dialect::Traits;
use crate::hash::Quick;
use crate::pass::PassError;
use crate::{BlockId, Document, OpId, Type, ValueId};

index_type! {
    /// A tensor of a [`Network`] that needs memory.
    pub struct TensorId;
    /// A weight of a [`Network`].
    pub struct WeightId;
}

/// What a tensor is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The user gives it.
    Input,
    /// An op computes it.
    Activation,
    /// Scratch memory of the ops that take it as an operand.
    Workspace,
}

/// Where a tensor lies that is a part of another tensor's memory: its first byte is the other's byte `at`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Alias {
    /// The other tensor. It lies in no third one: the reader follows chains of views to their end.
    pub of: TensorId,
    /// Bytes from the other's start to this tensor's start.
    pub at: u64,
}

/// Tensors that a step reads or writes; mostly a few.
pub(super) type Tensors = SmallVec<[TensorId; 4]>;

/// A tensor in global memory. A network may have millions, so what is only needed while it is read is not kept.
#[derive(Clone, Debug)]
pub(super) struct Tensor {
    /// The name in the location of the op that makes it (`loc("conv1")`), by which users know it.
    pub label: Option<Box<str>>,
    /// The value of the text that the op defines. Arguments and results of calls may be further names of it.
    pub value: ValueId,
    /// Bytes it takes.
    pub bytes: u64,
    /// What it is for.
    pub role: Role,
    /// The position of the function it is defined in.
    pub function: usize,
    /// The number of the step that writes it.
    pub defined: usize,
    /// The tensor it lies in, if the op that makes it moves no data; `None` if it has memory of its own.
    pub alias: Option<Alias>,
    /// Whether it is passed from one function to another, as an operand of a call or of a callee's return.
    pub crosses: bool,
}

/// A weight: a constant tensor, which is loaded from a file before the network runs.
#[derive(Clone, Debug)]
pub(super) struct Weight {
    /// The `top.Weight` op.
    pub op: OpId,
    /// Its name in the weight file.
    pub name: String,
    /// Bytes it takes.
    pub bytes: u64,
    /// Whether it belongs to a function of fixed shapes.
    pub is_static: bool,
    /// The address that the text gives it, if it has been through this pass before. Two weights that had one address
    /// have equal contents.
    pub previous: Option<u64>,
}

/// What a value stands for in global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// A tensor.
    Tensor(TensorId),
    /// A weight, or a view of a weight that begins at its byte `at`.
    Weight {
        /// The weight.
        weight: WeightId,
        /// Bytes from the weight's start.
        at: u64,
    },
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Brings in inputs.
    Input,
    /// Computes its results.
    Compute,
    /// Names a workspace (`tpu.Buffer`). It writes nothing: the ops that take the workspace do.
    Reserve,
    /// Moves no data: the result lies in the operand.
    View,
    /// Changes its first operand in place.
    Update,
    /// Puts its operands one behind the other, and may be merged: it is one of [`Network::concats`].
    Concat,
    /// Calls another function. The steps of that function follow.
    Call,
    /// Returns from a called function. The steps of the caller go on.
    Return,
    /// Returns from a function that nobody calls: what it reads are outputs of the network.
    Finish,
}

/// One op in the order of execution.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// The op.
    pub op: OpId,
    /// The position of the function it is in.
    pub function: usize,
    /// What it does.
    pub action: Action,
    /// Tensors it reads; a tensor that is two of its operands is here twice. Weights are not tensors.
    pub reads: Tensors,
    /// Tensors it writes.
    pub writes: Tensors,
}

/// A concat that can be *merged*: its operands are computed directly into their places in the result, so that the
/// concat itself has nothing to do. Whether it is merged is decided later.
#[derive(Clone, Debug)]
pub(super) struct Concat {
    /// The number of its step.
    pub step: usize,
    /// The result.
    pub result: TensorId,
    /// The operands, each with the byte of the result at which it begins.
    pub operands: Vec<(TensorId, u64)>,
}

/// One device's part of a network.
#[derive(Clone, Debug)]
pub(super) struct Network {
    /// The module that holds the functions. Its attributes will say where weights and activations lie.
    pub module: OpId,
    /// Its functions in the order of the text.
    pub functions: Vec<OpId>,
    /// The positions of the entry functions: those that nobody calls.
    pub roots: Vec<usize>,
    /// For each entry function its steps, those of the functions that it calls included.
    pub runs: Vec<std::ops::Range<usize>>,
    /// Tensors in the order in which they are written: a view comes after the tensor it lies in, the result of a
    /// concat after its operands.
    pub tensors: IndexVec<TensorId, Tensor>,
    /// Weights in the order of the text, function by function.
    pub weights: IndexVec<WeightId, Weight>,
    /// Steps in the order of execution.
    pub steps: Vec<Step>,
    /// What the user gives.
    pub inputs: Vec<TensorId>,
    /// What the user gets, without repetitions within one entry function.
    pub outputs: Vec<TensorId>,
    /// Concats that can be merged.
    pub concats: Vec<Concat>,
    /// Concats in global memory that cannot be merged.
    pub other_concats: Vec<OpId>,
    /// What each value of the text stands for; `None` for values that are not in global memory.
    contents: IndexVec<ValueId, Option<Content>>,
    names: Names,
}

/// The names of tensors, in one text: a network may have millions, and each is short.
#[derive(Clone, Debug, Default)]
struct Names {
    /// All names, one behind the other.
    text: String,
    /// Where each name ends in the text.
    ends: IndexVec<TensorId, usize>,
}

impl Names {
    fn push(&mut self, name: &str) {
        self.text.push_str(name);
        self.ends.push(self.text.len());
    }

    fn of(&self, tensor: TensorId) -> &str {
        let begin = tensor.index().checked_sub(1).map_or(0, |before| self.ends[TensorId::from_index(before)]);
        &self.text[begin..self.ends[tensor]]
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        self.ends.ids().map(|tensor| self.of(tensor))
    }
}

impl Network {
    /// Reads the network of a module. The chip decides how many bytes a tensor takes.
    pub(super) fn read(document: &Document, module: OpId, chip: &Chip) -> Result<Network, PassError> {
        let mut reader = Reader::new(document, module, chip)?;
        reader.run()?;
        let network = reader.network;
        network.refuse_reads_after_update(document)?;
        Ok(network)
    }

    /// A network of which only the functions are known. The reader fills in the rest.
    fn without_steps(document: &Document, module: OpId, functions: Vec<OpId>, roots: Vec<usize>) -> Network {
        Network {
            module,
            functions,
            roots,
            runs: Vec::new(),
            tensors: IndexVec::default(),
            weights: IndexVec::default(),
            steps: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            concats: Vec::new(),
            other_concats: Vec::new(),
            contents: IndexVec::filled(None, document.value_ids().len()),
            names: Names::default(),
        }
    }

    /// What a tensor is called in plans: unique in the network.
    pub(super) fn name(&self, tensor: TensorId) -> &str {
        self.names.of(tensor)
    }

    /// What a value stands for; `None` if it is not in global memory.
    pub(super) fn content(&self, value: ValueId) -> Option<Content> {
        self.contents.get(value).copied().flatten()
    }

    /// The tensor in whose memory a tensor lies, and the byte at which it begins there. A tensor with memory of its
    /// own is its own root, at byte 0.
    pub(super) fn root(&self, tensor: TensorId) -> (TensorId, u64) {
        // The reader follows a view of a view to its end, so there is one link at most.
        self.tensors[tensor].alias.map_or((tensor, 0), |alias| (alias.of, alias.at))
    }

    /// The tensors with memory of their own: those that lie in no other.
    pub(super) fn roots_of_memory(&self) -> impl Iterator<Item = TensorId> + '_ {
        self.tensors.iter_enumerated().filter(|(_, tensor)| tensor.alias.is_none()).map(|(id, _)| id)
    }

    /// The last step that reads each tensor; `None` for a tensor that nobody reads.
    pub(super) fn last_reads(&self) -> IndexVec<TensorId, Option<usize>> {
        let mut last = IndexVec::filled(None, self.tensors.len());
        for (number, step) in self.steps.iter().enumerate() {
            for &tensor in &step.reads {
                last[tensor] = Some(number);
            }
        }
        last
    }

    /// How many functions are called by others.
    pub(super) fn subnet_count(&self) -> usize {
        self.functions.len() - self.roots.len()
    }

    /// Refuses a network in which an op changes a tensor in place and the old content is read afterwards.
    ///
    /// ```text
    ///   step 3   b = tpu.Insert(a)     b is the memory of a, with new content
    ///   step 4   c = tpu.Active(a)     would read the content of b: refused
    /// ```
    ///
    /// The old content may also be read by another name, so all tensors in the same memory that are older than the
    /// update are looked at.
    fn refuse_reads_after_update(&self, document: &Document) -> Result<(), PassError> {
        // Few networks have such ops, and the tables below cost time.
        if self.steps.iter().all(|step| step.action != Action::Update) {
            return Ok(());
        }
        let last = self.last_reads();
        // For each tensor with memory of its own: all tensors in that memory, itself included.
        let mut members: HashMap<TensorId, Vec<TensorId>> = HashMap::new();
        for id in self.tensors.ids() {
            members.entry(self.root(id).0).or_default().push(id);
        }
        for (number, step) in self.steps.iter().enumerate().filter(|(_, step)| step.action == Action::Update) {
            let Some(&written) = step.writes.first() else { continue };
            let family = members.get(&self.root(written).0).into_iter().flatten();
            let mut older = family.filter(|&&tensor| tensor != written && self.tensors[tensor].defined < number);
            if let Some(&stale) = older.find(|&&tensor| last[tensor].is_some_and(|read| read > number)) {
                let name = document.value_name(self.tensors[stale].value);
                let message = format!(
                    "`{}` changes its operand in place, but {name} is read again later; insert a copy in front of it",
                    document.name(step.op)
                );
                return Err(PassError::Op { span: document.op(step.op).span, message });
            }
        }
        Ok(())
    }
}

/// A function whose ops are being read. While it calls another function its frame waits on a stack.
struct Frame {
    /// Its position.
    function: usize,
    /// The ops of its body that have not been read yet.
    ops: std::vec::IntoIter<OpId>,
    /// The call that led here; `None` for an entry function.
    call: Option<OpId>,
}

/// Makes a [`Network`] by following execution through the functions of a module.
struct Reader<'a> {
    document: &'a Document,
    chip: &'a Chip,
    /// The network as far as it has been read.
    network: Network,
    /// The position of each function, by its name.
    symbols: HashMap<&'a str, usize>,
    /// Functions that have been entered: each may be entered once.
    entered: HashSet<usize>,
    /// Hashes of the names that tensors have got.
    hashes: crate::hash::HashSet<u64>,
    /// The names that tensors have got, as soon as two of them have the same hash: each name is given once.
    names: Option<crate::hash::HashSet<String>>,
    /// Values that an op other than `top.Input` uses.
    used: IndexVec<ValueId, bool>,
}

impl<'a> Reader<'a> {
    /// Finds the functions of a module, and those among them with which execution begins.
    fn new(document: &'a Document, module: OpId, chip: &'a Chip) -> Result<Reader<'a>, PassError> {
        let ops = ops_in(document, module).into_iter();
        let functions: Vec<OpId> = ops.filter(|&op| document.info(op).traits.has(Traits::FUNCTION)).collect();
        let named = functions.iter().enumerate().filter_map(|(at, &op)| Some((document.symbol_name(op)?, at)));
        let symbols: HashMap<&str, usize> = named.collect();
        let mut called: HashSet<usize> = HashSet::new();
        let mut used = IndexVec::filled(false, document.value_ids().len());
        // One walk over all ops finds the functions that are called and the values that are used.
        for op in descendants(document, module) {
            if document.info(op).traits.has(Traits::CALL) {
                called.extend(document.symbol_name(op).and_then(|name| symbols.get(name)).copied());
            }
            if document.name(op) != "top.Input" {
                document.operands(op).iter().for_each(|&operand| used[operand] = true);
            }
        }
        // Execution begins in the functions that nobody calls. If there is none, the calls go round in a circle.
        let roots: Vec<usize> = (0..functions.len()).filter(|function| !called.contains(function)).collect();
        if roots.is_empty() && !functions.is_empty() {
            return Err(error(
                document,
                module,
                "every function of this module is called by another one: \
                there is none to begin with; add a `main`",
            ));
        }
        let network = Network::without_steps(document, module, functions, roots);
        let (entered, hashes) = (HashSet::new(), crate::hash::HashSet::default());
        Ok(Reader { document, chip, network, symbols, entered, hashes, names: None, used })
    }

    /// Follows execution from every root, calls included, and makes a step of each op.
    fn run(&mut self) -> Result<(), PassError> {
        self.weights()?;
        let mut frames = Vec::new();
        for root in self.network.roots.clone() {
            let first = self.network.steps.len();
            self.root_arguments(root)?;
            frames.push(self.enter(root, None)?);
            // Calls are followed with a stack of frames. A frame resumes behind its call when the callee has returned.
            while let Some(frame) = frames.last_mut() {
                // The user may have stopped waiting.
                if patience::is_over() {
                    return Err(PassError::Stopped);
                }
                let (function, call) = (frame.function, frame.call);
                let Some(op) = frame.ops.next() else {
                    frames.pop();
                    continue;
                };
                if self.document.info(op).traits.has(Traits::CALL) {
                    let callee = self.call(function, op)?;
                    frames.push(self.enter(callee, Some(op))?);
                } else if self.document.name(op) == "func.return" {
                    self.leave(function, op, call);
                } else {
                    self.op(function, op)?;
                }
            }
            self.network.runs.push(first..self.network.steps.len());
        }
        Ok(())
    }

    /// Enters all weights into the network, function by function, in the order of the text: that is the order in which
    /// they lie in memory. Weights inside of regions are included.
    fn weights(&mut self) -> Result<(), PassError> {
        for (position, function) in self.network.functions.clone().into_iter().enumerate() {
            let is_static = !self.is_dynamic(position);
            for op in descendants(self.document, function) {
                if self.document.name(op) != "top.Weight" {
                    continue;
                }
                let Some(&value) = self.document.results(op).first() else { continue };
                let Some(bytes) = self.weight_bytes(op, value)? else { continue };
                let name = location_name(self.document, op).unwrap_or_default();
                let previous = written_address(self.document, value);
                let weight = self.network.weights.push(Weight { op, name, bytes, is_static, previous });
                self.network.contents[value] = Some(Content::Weight { weight, at: 0 });
            }
        }
        Ok(())
    }

    /// The bytes of a weight; `None` if its type is no tensor.
    fn weight_bytes(&self, op: OpId, value: ValueId) -> Result<Option<u64>, PassError> {
        // On some chips the elements of two or four batches lie in one word (see `tensor`). For activations the chip
        // decides about that, so `Shape::of` asks for it. A weight has the attribute `store_mode` instead: "2N" for
        // two batches in a word, "4N" for four.
        let shape = Shape::of(self.document.ty(value), false).and_then(|shape| {
            let batches = match self.document.attribute(op, "store_mode").map(|mode| mode.trim_matches('"')) {
                Some("2N") => Batches::Pairs,
                Some("4N") => Batches::Quads,
                _ => Batches::Apart,
            };
            shape.map(|shape| shape.with_batches(batches)).transpose()
        });
        let shape = shape.map_err(|why| self.value_error(value, op, &why.describe()))?;
        Ok(shape.map(|shape| {
            // A matrix of int4 may be stored with every row rounded up to whole bytes. The larger size is safe for
            // both.
            let by_rows = if shape.bits == 4 { shape.bytes_by_rows() } else { None };
            shape.bytes().max(by_rows.unwrap_or(0))
        }))
    }

    /// Whether the shapes of a function may change from run to run: `mode = #tpu<run_mode TPU_DYNAMIC>`. A function
    /// without the attribute has fixed shapes.
    fn is_dynamic(&self, function: usize) -> bool {
        let mode = self.document.attribute(self.network.functions[function], "mode");
        mode.is_some_and(|mode| mode.contains("run_mode") && !mode.contains("TPU_STATIC"))
    }

    /// The only block of a function; `None` for a declaration, which has no body.
    fn body(&self, function: usize) -> Result<Option<BlockId>, PassError> {
        let op = self.network.functions[function];
        let regions = self.document.regions(op).iter();
        let blocks: Vec<BlockId> = regions.flat_map(|&region| self.document.blocks(region)).copied().collect();
        match blocks.as_slice() {
            [] => Ok(None),
            [block] => Ok(Some(*block)),
            _ => Err(error(self.document, op, "a function of a network has one block; this one branches")),
        }
    }

    /// Begins a function. Its arguments become further names of what the call passes. An entry function has no `call`,
    /// and [`Reader::root_arguments`] has made tensors of its arguments.
    fn enter(&mut self, function: usize, call: Option<OpId>) -> Result<Frame, PassError> {
        // An error points at the call, if there is one. This check also ends recursion.
        let op = call.unwrap_or(self.network.functions[function]);
        if !self.entered.insert(function) {
            let name = self.document.symbol_name(op).unwrap_or_default();
            let message = format!("@{name} is called a second time, but its tensors have one address each; inline it");
            return Err(error(self.document, op, &message));
        }
        let body = self.body(function)?;
        let ops = body.map(|block| self.document.ops(block).to_vec()).unwrap_or_default();
        if let (Some(call), Some(block)) = (call, body) {
            let arguments = self.document.arguments(block).iter();
            for (&argument, &operand) in arguments.zip(self.document.operands(call)) {
                self.network.contents[argument] = self.network.contents[operand];
            }
        }
        Ok(Frame { function, ops: ops.into_iter(), call })
    }

    /// Makes an input of every argument of an entry function that an op uses directly, and a step that writes them
    /// all. An argument that only a `top.Input` op takes gets no tensor: the result of that op is the input, and
    /// [`Reader::op`] makes it.
    fn root_arguments(&mut self, function: usize) -> Result<(), PassError> {
        let Some(block) = self.body(function)? else { return Ok(()) };
        let op = self.network.functions[function];
        let mut writes = Tensors::new();
        for &argument in self.document.arguments(block) {
            if self.used[argument]
                && let Some(tensor) = self.tensor(function, op, argument, Role::Input)?
            {
                writes.push(tensor);
            }
        }
        self.network.inputs.extend(writes.iter().copied());
        if !writes.is_empty() {
            self.step(function, op, Action::Input, Tensors::new(), writes);
        }
        Ok(())
    }

    /// Adds the step of a call and gives the position of the function that is called. Tensors that are operands of the
    /// call are marked as passed between functions.
    fn call(&mut self, function: usize, op: OpId) -> Result<usize, PassError> {
        let name = self.document.symbol_name(op).unwrap_or_default();
        let Some(&callee) = self.symbols.get(name) else {
            let message = format!("calls @{name}, which this module does not define; link the two");
            return Err(error(self.document, op, &message));
        };
        let reads = self.reads(op);
        reads.iter().for_each(|&tensor| self.network.tensors[tensor].crosses = true);
        self.step(function, op, Action::Call, reads, Tensors::new());
        Ok(callee)
    }

    /// Adds the step of a return. The results of `call` become further names of what is returned. An entry function
    /// (`call` is `None`) hands its results to the user: they are outputs of the network.
    fn leave(&mut self, function: usize, op: OpId, call: Option<OpId>) {
        let reads = self.reads(op);
        match call {
            Some(call) => {
                reads.iter().for_each(|&tensor| self.network.tensors[tensor].crosses = true);
                for (&result, &operand) in self.document.results(call).iter().zip(self.document.operands(op)) {
                    self.network.contents[result] = self.network.contents[operand];
                }
                self.step(function, op, Action::Return, reads, Tensors::new());
            }
            None => {
                let mut seen = HashSet::new();
                self.network.outputs.extend(reads.iter().filter(|&&tensor| seen.insert(tensor)));
                self.step(function, op, Action::Finish, reads, Tensors::new());
            }
        }
    }

    /// Adds a step.
    fn step(&mut self, function: usize, op: OpId, action: Action, reads: Tensors, writes: Tensors) {
        self.network.steps.push(Step { op, function, action, reads, writes });
    }

    /// The tensors among an op's operands, in their order. Weights and operands without memory are left out.
    fn reads(&self, op: OpId) -> Tensors {
        // The tensor that an operand stands for.
        let tensor = |&operand: &ValueId| match self.network.contents[operand] {
            Some(Content::Tensor(tensor)) => Some(tensor),
            _ => None,
        };
        self.document.operands(op).iter().filter_map(tensor).collect()
    }

    /// Makes a step of one op that is no call and no return, and tensors of its results.
    fn op(&mut self, function: usize, op: OpId) -> Result<(), PassError> {
        if !self.document.regions(op).is_empty() {
            return self.region_op(function, op);
        }
        let (action, role) = match self.document.name(op) {
            // `weights` has entered the weights; `top.None` stands for an operand that is left out.
            "top.Weight" | "top.None" => return Ok(()),
            "top.Input" => (Action::Input, Role::Input),
            "tpu.Buffer" => (Action::Reserve, Role::Workspace),
            _ => (Action::Compute, Role::Activation),
        };
        let shaped = self.shaped(function, op)?;
        let in_place = shaped.in_place().filter(|_| action == Action::Compute);
        let places = shaped.concat_places(self.chip);
        // The result of an op that works in place gets no memory of its own: it lies in its operand's. If the operand
        // is not in global memory (`in_place_content` gives `None`), the op is taken for an ordinary one.
        if let Some(in_place) = in_place
            && let Some(content) = self.in_place_content(op, in_place)
        {
            return self.alias(function, op, in_place, content);
        }
        let reads = self.reads(op);
        let mut writes = Tensors::new();
        for &result in self.document.results(op) {
            writes.extend(self.tensor(function, op, result, role)?);
        }
        if role == Role::Input {
            self.network.inputs.extend(writes.iter().copied());
        }
        let step = self.network.steps.len();
        // `reads` leaves out operands that are no tensors: weights and `top.None`. A concat with such an operand
        // cannot be merged, because nobody can choose where that operand lies.
        let all_tensors = reads.len() == self.document.operands(op).len();
        let action = match (places, writes.as_slice()) {
            (Some(places), &[result]) if all_tensors => {
                let operands = reads.iter().copied().zip(places).collect();
                self.network.concats.push(Concat { step, result, operands });
                Action::Concat
            }
            _ => {
                self.note_concat(op);
                action
            }
        };
        self.step(function, op, action, reads, writes);
        Ok(())
    }

    /// Remembers a concat that cannot be merged, so that it is marked as one that copies.
    fn note_concat(&mut self, op: OpId) {
        if self.document.name(op) == "tpu.Concat" {
            self.network.other_concats.push(op);
        }
    }

    /// An op with the shapes of its operands and results.
    fn shaped(&self, function: usize, op: OpId) -> Result<Shaped<'a>, PassError> {
        let shape = |&value: &ValueId| self.shape(op, value);
        Ok(Shaped {
            document: self.document,
            op,
            operands: self.document.operands(op).iter().map(shape).collect::<Result<_, _>>()?,
            results: self.document.results(op).iter().map(shape).collect::<Result<_, _>>()?,
            is_dynamic: self.is_dynamic(function),
        })
    }

    /// What the operand of an in-place op stands for; `None` if that operand is not in global memory.
    fn in_place_content(&self, op: OpId, in_place: InPlace) -> Option<Content> {
        let (InPlace::View { operand, .. } | InPlace::Update { operand }) = in_place;
        self.network.contents[*self.document.operands(op).get(operand)?]
    }

    /// Adds the step of an in-place op, whose result lies in the memory of its operand; `content` is what the operand
    /// stands for. A view of a weight needs no tensor: it is the weight, from a later byte on.
    fn alias(&mut self, function: usize, op: OpId, in_place: InPlace, content: Content) -> Result<(), PassError> {
        let Some(&result) = self.document.results(op).first() else { return Ok(()) };
        // Bytes from the operand's start to the result's.
        let (further, action) = match in_place {
            InPlace::View { at, .. } => (at, Action::View),
            InPlace::Update { .. } => (0, Action::Update),
        };
        let reads = self.reads(op);
        match content {
            // The result is the weight itself, so no tensor is made and the step writes nothing. It stays as an
            // ordinary step, for the sake of other operands that the op reads.
            Content::Weight { weight, at } => {
                self.network.contents[result] = Some(Content::Weight { weight, at: at + further });
                self.step(function, op, Action::Compute, reads, Tensors::new());
            }
            Content::Tensor(source) => {
                // The operand may itself lie in another tensor. Then the alias names the other tensor, so that no chain
                // of aliases has more than one link.
                let (of, at) = self.network.root(source);
                let Some(tensor) = self.tensor(function, op, result, Role::Activation)? else { return Ok(()) };
                self.network.tensors[tensor].alias = Some(Alias { of, at: at + further });
                self.step(function, op, action, reads, smallvec![tensor]);
            }
        }
        Ok(())
    }

    /// Makes one step of an op with regions. The step reads what any op inside reads from outside, and writes the op's
    /// results and all tensors that are computed inside, except for those in the local memory of a layer group.
    fn region_op(&mut self, function: usize, op: OpId) -> Result<(), PassError> {
        let mut writes = Tensors::new();
        for &result in self.document.results(op) {
            writes.extend(self.tensor(function, op, result, Role::Activation)?);
        }
        let mut reads = self.reads(op);
        // The same tensors as `writes`, for lookups.
        let mut written: HashSet<TensorId> = writes.iter().copied().collect();
        // Layer groups and all ops inside of them. An op comes after the ops around it, so its parent is known by
        // then.
        let mut groups: HashSet<OpId> = HashSet::new();
        if is_group(self.document, op) {
            groups.insert(op);
        }
        for inner in descendants(self.document, op) {
            let around = self.document.parent_op(inner);
            let in_group = around.is_some_and(|around| groups.contains(&around));
            if self.document.info(inner).traits.has(Traits::CALL) {
                return Err(error(self.document, inner, "a call inside a region cannot be followed; inline it"));
            }
            // A tensor that is computed inside is no operand of the whole step.
            reads.extend(self.reads(inner).into_iter().filter(|tensor| !written.contains(tensor)));
            // Tensors inside of a group stay in local memory. Only what the group yields is in global memory.
            if in_group {
                self.group_yield(around, inner);
            } else {
                self.note_concat(inner);
                self.region_arguments(inner)?;
                for &result in self.document.results(inner) {
                    // Weights have their content already, from `weights`. Every other result becomes a tensor.
                    if self.network.contents[result].is_none()
                        && let Some(tensor) = self.tensor(function, inner, result, Role::Activation)?
                    {
                        written.insert(tensor);
                        writes.push(tensor);
                    }
                }
            }
            if is_group(self.document, inner) || in_group {
                groups.insert(inner);
            }
        }
        // What a layer group passes to its region is in local memory, where nothing is planned here.
        if !is_group(self.document, op) {
            self.region_arguments(op)?;
        }
        self.step(function, op, Action::Compute, reads, writes);
        Ok(())
    }

    /// If `inner` is the `tpu.Yield` of a layer group, its operands become further names of the group's results: they
    /// are what the last ops of the group (`tpu.Store`) write to global memory. For other ops it does nothing.
    fn group_yield(&mut self, group: Option<OpId>, inner: OpId) {
        let Some(group) = group.filter(|_| self.document.name(inner) == "tpu.Yield") else { return };
        for (&operand, &result) in self.document.operands(inner).iter().zip(self.document.results(group)) {
            if self.network.contents[operand].is_none() {
                self.network.contents[operand] = self.network.contents[result];
            }
        }
    }

    /// Refuses an op that hands tensors to its region as arguments, such as a loop with values that change in each
    /// iteration: an argument would be one tensor after the other, and there is no telling which.
    fn region_arguments(&self, op: OpId) -> Result<(), PassError> {
        let blocks = self.document.regions(op).iter().flat_map(|&region| self.document.blocks(region));
        for &argument in blocks.flat_map(|&block| self.document.arguments(block)) {
            if self.shape(op, argument)?.is_some() {
                let message = "passes tensors to its region as arguments, which global memory cannot be planned \
                    for; unroll it or let the region use the tensors directly";
                return Err(error(self.document, op, message));
            }
        }
        Ok(())
    }

    /// The shape of a value; `None` if its type is no tensor. An error about the shape names the value.
    fn shape(&self, op: OpId, value: ValueId) -> Result<Option<Shape>, PassError> {
        let shape = Shape::of(self.document.ty(value), self.chip.packs_batches);
        shape.map_err(|why| self.value_error(value, op, &why.describe()))
    }

    /// An error about a value, at its type if the text spells it, else at the op.
    fn value_error(&self, value: ValueId, op: OpId, why: &str) -> PassError {
        let known = self.document.value(value);
        let span =
            if known.type_span.start == known.type_span.end { self.document.op(op).span } else { known.type_span };
        let name = self.document.value_name(value);
        PassError::Op { span, message: format!("{name} {why}") }
    }

    /// Makes a tensor for a value, written by the next step; `None` if the value's type is no tensor. Callers add that
    /// step right afterwards, so its number is the count of steps so far.
    fn tensor(&mut self, function: usize, op: OpId, value: ValueId, role: Role) -> Result<Option<TensorId>, PassError> {
        let Some(shape) = self.shape(op, value)? else { return Ok(None) };
        let name = self.name(function, value);
        self.network.names.push(&name);
        let (bytes, defined) = (shape.bytes(), self.network.steps.len());
        let label = location_name(self.document, op).map(String::into_boxed_str);
        let tensor = Tensor { label, value, bytes, role, function, defined, alias: None, crosses: false };
        let id = self.network.tensors.push(tensor);
        self.network.contents[value] = Some(Content::Tensor(id));
        Ok(Some(id))
    }

    /// A unique name for a tensor: `%3` of the first entry function is `3`, of any other function `subfunc_0/3`; of
    /// several results the second is `3#1`. MLIR allows the same name in two regions, so a second `3` is `3~2`.
    fn name(&mut self, function: usize, value: ValueId) -> String {
        let written = self.document.value_name(value).trim_start_matches('%');
        let (number, count) = self.document.result_number(value);
        let short = if count > 1 && number > 0 { format!("{written}#{number}") } else { written.to_owned() };
        let is_root = self.network.roots.first() == Some(&function);
        let symbol = self.document.symbol_name(self.network.functions[function]).unwrap_or_default();
        let full = if is_root { short } else { format!("{symbol}/{short}") };
        // Nearly all names differ, which their hashes tell. The names themselves are compared from the moment on at
        // which two of them have the same hash.
        if self.hashes.insert(Quick::default().hash_one(&full)) && self.names.is_none() {
            return full;
        }
        let given = &self.network.names;
        let names = self.names.get_or_insert_with(|| given.iter().map(str::to_owned).collect());
        let mut name = full.clone();
        let mut copy = 1;
        while !names.insert(name.clone()) {
            copy += 1;
            name = format!("{full}~{copy}");
        }
        name
    }
}

/// The ops directly in the regions of an op, such as the body of a module or function.
fn ops_in(document: &Document, op: OpId) -> Vec<OpId> {
    let blocks = document.regions(op).iter().flat_map(|&region| document.blocks(region));
    blocks.flat_map(|&block| document.ops(block)).copied().collect()
}

/// All ops inside an op at any depth, in the order of the text: an op comes before the ops of its regions.
pub(super) fn descendants(document: &Document, op: OpId) -> Vec<OpId> {
    let mut found = Vec::new();
    // For each level of nesting the ops that are still to come there. It is a stack of our own, because text nested
    // very deeply would overflow the stack of a recursive function.
    let mut open: Vec<std::vec::IntoIter<OpId>> = vec![ops_in(document, op).into_iter()];
    while let Some(ops) = open.last_mut() {
        match ops.next() {
            Some(inner) => {
                found.push(inner);
                if !document.regions(inner).is_empty() {
                    open.push(ops_in(document, inner).into_iter());
                }
            }
            None => {
                open.pop();
            }
        }
    }
    found
}

/// The address that stands in a value's type, `tensor<1x16xf32, 4096 : i64>`; `None` if there is none.
pub(super) fn written_address(document: &Document, value: ValueId) -> Option<u64> {
    match document.ty(value) {
        Type::Tensor { encoding, .. } => encoding.as_deref().and_then(address),
        _ => None,
    }
}

/// Whether an op is a layer group, whose inner tensors stay in local memory.
fn is_group(document: &Document, op: OpId) -> bool {
    document.name(op) == "tpu.Group"
}

/// The name in an op's location, by which the original compiler and its tools know the tensor. It stands there directly
/// (`loc("conv1")`), as the first part of a fused location (`loc(fused["conv1", ..])`), or behind an alias: the op has
/// `loc(#loc3)`, and `#loc3 = loc("conv1")` stands at the end of the file.
pub(super) fn location_name(document: &Document, op: OpId) -> Option<String> {
    let span: Span = document.location(op)?;
    let mut text = document.text(span);
    // An alias may name another alias. Eight is far more than a compiler writes, and it ends a circle of aliases.
    for _ in 0..8 {
        let inside = text.trim().strip_prefix("loc(")?.strip_suffix(')')?.trim();
        // The first quoted text is the name. Without one, the first `#name` is an alias to look up.
        if let Some(start) = inside.find('"') {
            let rest = &inside[start + 1..];
            return rest.find('"').map(|end| rest[..end].to_owned());
        }
        let alias = &inside[inside.find('#')?..];
        let end = alias.find([',', ']', ' ', ')']).unwrap_or(alias.len());
        text = document.alias(&alias[..end], span)?;
    }
    None
}

/// An error at an op.
fn error(document: &Document, op: OpId, message: &str) -> PassError {
    PassError::Op { span: document.op(op).span, message: message.to_owned() }
}
