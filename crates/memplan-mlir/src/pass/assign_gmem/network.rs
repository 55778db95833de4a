//! A module of `top` and `tpu` ops as a network: tensors, weights, and the steps
//! that read and write them.
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
//! An op with a region is one step. Of a layer group only what it loads and
//! stores is in global memory. Whatever is computed inside any other region lives
//! as long as the op runs; that holds for loops and alternatives alike.

use std::collections::{HashMap, HashSet};

use memplan_core::{IndexVec, Span, index_type, patience};

use super::chip::Chip;
use super::in_place::{InPlace, Shaped};
use super::tensor::{Batches, Shape, address};
use crate::dialect::Traits;
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

/// A tensor that lies in another: its first byte is the other's byte `at`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Alias {
    /// The other.
    pub of: TensorId,
    /// How far in.
    pub at: u64,
}

/// A tensor in global memory.
#[derive(Clone, Debug)]
pub(super) struct Tensor {
    /// What it is called in plans: unique in the network.
    pub name: String,
    /// What its location calls it.
    pub label: Option<String>,
    /// Where it is defined.
    pub value: ValueId,
    /// Its shape.
    pub shape: Shape,
    /// What it is for.
    pub role: Role,
    /// The function it is defined in, by position.
    pub function: usize,
    /// The step that writes it.
    pub defined: usize,
    /// The tensor it lies in, because the op that makes it moves no data.
    pub alias: Option<Alias>,
    /// Whether it is passed from one function to another.
    pub crosses: bool,
}

/// A weight.
#[derive(Clone, Debug)]
pub(super) struct Weight {
    /// The op.
    pub op: OpId,
    /// Its name in the weight file.
    pub name: String,
    /// Bytes it takes.
    pub bytes: u64,
    /// Whether it belongs to a function of fixed shapes.
    pub is_static: bool,
    /// The address it had before.
    pub previous: Option<u64>,
}

/// What a value stands for in global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// A tensor.
    Tensor(TensorId),
    /// A weight, from byte `at` on.
    Weight {
        /// Which.
        weight: WeightId,
        /// How far in.
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
    /// Makes room for a workspace.
    Reserve,
    /// Moves no data: the result lies in the operand.
    View,
    /// Changes its first operand in place.
    Update,
    /// Puts its operands one behind the other.
    Concat,
    /// Goes to another function.
    Call,
    /// Comes back from it.
    Return,
    /// Ends a function that nobody calls.
    Finish,
}

/// One op in the order of execution.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// The op.
    pub op: OpId,
    /// The function it is in, by position.
    pub function: usize,
    /// What it does.
    pub action: Action,
    /// Tensors it reads, once for each use.
    pub reads: Vec<TensorId>,
    /// Tensors it writes.
    pub writes: Vec<TensorId>,
}

/// A concat whose operands may be written to their places in the result.
#[derive(Clone, Debug)]
pub(super) struct Concat {
    /// The step.
    pub step: usize,
    /// The result.
    pub result: TensorId,
    /// The operands, each with its place in the result.
    pub operands: Vec<(TensorId, u64)>,
}

/// One device's part of a network.
#[derive(Clone, Debug)]
pub(super) struct Network {
    /// The module whose attributes say where things are.
    pub module: OpId,
    /// Its functions in the order of the text.
    pub functions: Vec<OpId>,
    /// The functions nobody calls.
    pub roots: Vec<usize>,
    /// The steps of each of them.
    pub runs: Vec<std::ops::Range<usize>>,
    /// Tensors in the order in which they are written.
    pub tensors: IndexVec<TensorId, Tensor>,
    /// Weights in the order of the text, function by function.
    pub weights: IndexVec<WeightId, Weight>,
    /// Steps in the order of execution.
    pub steps: Vec<Step>,
    /// What the user gives.
    pub inputs: Vec<TensorId>,
    /// What the user gets, without repetitions.
    pub outputs: Vec<TensorId>,
    /// Concats that can be merged.
    pub concats: Vec<Concat>,
    /// Concats in global memory that cannot.
    pub other_concats: Vec<OpId>,
    contents: IndexVec<ValueId, Option<Content>>,
}

impl Network {
    /// Reads the network of a module.
    pub(super) fn read(document: &Document, module: OpId, chip: &Chip) -> Result<Network, PassError> {
        let mut reader = Reader::new(document, module, chip)?;
        reader.run()?;
        let network = reader.network;
        network.refuse_reads_after_update(document)?;
        Ok(network)
    }

    /// A network of which only the functions are known.
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
        }
    }

    /// What a value stands for; `None` if it is not in global memory.
    pub(super) fn content(&self, value: ValueId) -> Option<Content> {
        self.contents.get(value).copied().flatten()
    }

    /// The tensor that holds another's bytes, and how far in they begin.
    pub(super) fn root(&self, tensor: TensorId) -> (TensorId, u64) {
        // The reader resolves chains as it makes them, so there is one link at most.
        self.tensors[tensor].alias.map_or((tensor, 0), |alias| (alias.of, alias.at))
    }

    /// Tensors that lie in no other.
    pub(super) fn roots_of_memory(&self) -> impl Iterator<Item = TensorId> + '_ {
        self.tensors.iter_enumerated().filter(|(_, tensor)| tensor.alias.is_none()).map(|(id, _)| id)
    }

    /// The last step that reads each tensor.
    pub(super) fn last_reads(&self) -> IndexVec<TensorId, Option<usize>> {
        let mut last = IndexVec::filled(None, self.tensors.len());
        for (number, step) in self.steps.iter().enumerate() {
            for &tensor in &step.reads {
                last[tensor] = Some(number);
            }
        }
        last
    }

    /// How many functions the entry functions call.
    pub(super) fn subnet_count(&self) -> usize {
        self.functions.len() - self.roots.len()
    }

    /// An op that changes a tensor in place leaves nothing for later readers of the old content.
    fn refuse_reads_after_update(&self, document: &Document) -> Result<(), PassError> {
        if self.steps.iter().all(|step| step.action != Action::Update) {
            return Ok(());
        }
        let last = self.last_reads();
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

struct Frame {
    function: usize,
    ops: std::vec::IntoIter<OpId>,
    call: Option<OpId>,
}

struct Reader<'a> {
    document: &'a Document,
    chip: &'a Chip,
    network: Network,
    /// Functions by name.
    symbols: HashMap<&'a str, usize>,
    entered: HashSet<usize>,
    names: HashSet<String>,
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
        Ok(Reader { document, chip, network, symbols, entered: HashSet::new(), names: HashSet::new(), used })
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

    /// All weights, function by function, in the order of the text.
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
        // For activations the chip decides how batches are packed; a weight has an attribute for it.
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

    fn is_dynamic(&self, function: usize) -> bool {
        let mode = self.document.attribute(self.network.functions[function], "mode");
        mode.is_some_and(|mode| mode.contains("run_mode") && !mode.contains("TPU_STATIC"))
    }

    /// The block of a function; a declaration has none.
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

    /// Begins a function. Its arguments are the tensors that the call passes.
    fn enter(&mut self, function: usize, call: Option<OpId>) -> Result<Frame, PassError> {
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

    /// Arguments of an entry function are inputs, unless a `top.Input` brings them in.
    fn root_arguments(&mut self, function: usize) -> Result<(), PassError> {
        let Some(block) = self.body(function)? else { return Ok(()) };
        let op = self.network.functions[function];
        let mut writes = Vec::new();
        for &argument in self.document.arguments(block) {
            if self.used[argument]
                && let Some(tensor) = self.tensor(function, op, argument, Role::Input)?
            {
                writes.push(tensor);
            }
        }
        self.network.inputs.extend(&writes);
        if !writes.is_empty() {
            self.step(function, op, Action::Input, Vec::new(), writes);
        }
        Ok(())
    }

    /// Adds a call. Tensors that are handed to it live across functions.
    fn call(&mut self, function: usize, op: OpId) -> Result<usize, PassError> {
        let name = self.document.symbol_name(op).unwrap_or_default();
        let Some(&callee) = self.symbols.get(name) else {
            let message = format!("calls @{name}, which this module does not define; link the two");
            return Err(error(self.document, op, &message));
        };
        let reads = self.reads(op);
        reads.iter().for_each(|&tensor| self.network.tensors[tensor].crosses = true);
        self.step(function, op, Action::Call, reads, Vec::new());
        Ok(callee)
    }

    /// A function returns. The results of the call are the tensors that the callee returns. A function that nobody
    /// calls hands its results to the user: they are outputs of the network.
    fn leave(&mut self, function: usize, op: OpId, call: Option<OpId>) {
        let reads = self.reads(op);
        match call {
            Some(call) => {
                reads.iter().for_each(|&tensor| self.network.tensors[tensor].crosses = true);
                for (&result, &operand) in self.document.results(call).iter().zip(self.document.operands(op)) {
                    self.network.contents[result] = self.network.contents[operand];
                }
                self.step(function, op, Action::Return, reads, Vec::new());
            }
            None => {
                let mut seen = HashSet::new();
                self.network.outputs.extend(reads.iter().filter(|&&tensor| seen.insert(tensor)));
                self.step(function, op, Action::Finish, reads, Vec::new());
            }
        }
    }

    fn step(&mut self, function: usize, op: OpId, action: Action, reads: Vec<TensorId>, writes: Vec<TensorId>) {
        self.network.steps.push(Step { op, function, action, reads, writes });
    }

    fn reads(&self, op: OpId) -> Vec<TensorId> {
        let tensor = |&operand: &ValueId| match self.network.contents[operand] {
            Some(Content::Tensor(tensor)) => Some(tensor),
            _ => None,
        };
        self.document.operands(op).iter().filter_map(tensor).collect()
    }

    /// Makes a step of one op, or another name for a tensor if the op moves no data.
    fn op(&mut self, function: usize, op: OpId) -> Result<(), PassError> {
        if !self.document.regions(op).is_empty() {
            return self.region_op(function, op);
        }
        let (action, role) = match self.document.name(op) {
            "top.Weight" | "top.None" => return Ok(()),
            "top.Input" => (Action::Input, Role::Input),
            "tpu.Buffer" => (Action::Reserve, Role::Workspace),
            _ => (Action::Compute, Role::Activation),
        };
        let shaped = self.shaped(function, op)?;
        let in_place = shaped.in_place().filter(|_| action == Action::Compute);
        let places = shaped.concat_places(self.chip);
        // An op that works in place makes no tensor of its own: its result is another name for its operand.
        if let Some(in_place) = in_place
            && let Some(content) = self.in_place_content(op, in_place)
        {
            return self.alias(function, op, in_place, content);
        }
        let reads = self.reads(op);
        let mut writes = Vec::new();
        for &result in self.document.results(op) {
            writes.extend(self.tensor(function, op, result, role)?);
        }
        if role == Role::Input {
            self.network.inputs.extend(&writes);
        }
        let step = self.network.steps.len();
        // A concat of a weight or of nothing cannot be merged, because that operand is no tensor with a place to
        // choose.
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

    /// What the operand of an in-place op stands for.
    fn in_place_content(&self, op: OpId, in_place: InPlace) -> Option<Content> {
        let (InPlace::View { operand, .. } | InPlace::Update { operand }) = in_place;
        self.network.contents[*self.document.operands(op).get(operand)?]
    }

    /// The result of an in-place op.
    fn alias(&mut self, function: usize, op: OpId, in_place: InPlace, content: Content) -> Result<(), PassError> {
        let Some(&result) = self.document.results(op).first() else { return Ok(()) };
        let (further, action) = match in_place {
            InPlace::View { at, .. } => (at, Action::View),
            InPlace::Update { .. } => (0, Action::Update),
        };
        let reads = self.reads(op);
        match content {
            Content::Weight { weight, at } => {
                self.network.contents[result] = Some(Content::Weight { weight, at: at + further });
                self.step(function, op, Action::Compute, reads, Vec::new());
            }
            Content::Tensor(source) => {
                let (of, at) = self.network.root(source);
                let Some(tensor) = self.tensor(function, op, result, Role::Activation)? else { return Ok(()) };
                self.network.tensors[tensor].alias = Some(Alias { of, at: at + further });
                self.step(function, op, action, reads, vec![tensor]);
            }
        }
        Ok(())
    }

    /// An op with regions is one step, with everything that is used inside.
    fn region_op(&mut self, function: usize, op: OpId) -> Result<(), PassError> {
        let mut writes = Vec::new();
        for &result in self.document.results(op) {
            writes.extend(self.tensor(function, op, result, Role::Activation)?);
        }
        let mut reads = self.reads(op);
        let mut written: HashSet<TensorId> = writes.iter().copied().collect();
        let mut groups: HashSet<OpId> = HashSet::new();
        if is_group(self.document, op) {
            groups.insert(op);
        }
        // All ops inside run some time during this step, so their tensors count as read and written by it.
        for inner in descendants(self.document, op) {
            let around = self.document.parent_op(inner);
            let in_group = around.is_some_and(|around| groups.contains(&around));
            if self.document.info(inner).traits.has(Traits::CALL) {
                return Err(error(self.document, inner, "a call inside a region cannot be followed; inline it"));
            }
            reads.extend(self.reads(inner).into_iter().filter(|tensor| !written.contains(tensor)));
            // Tensors inside of a group stay in local memory. Only what the group yields is in global memory.
            if in_group {
                self.group_yield(around, inner);
            } else {
                self.note_concat(inner);
                self.region_arguments(inner)?;
                for &result in self.document.results(inner) {
                    // A result that already has a content is another name for it and needs no tensor of its own.
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
        if !is_group(self.document, op) {
            self.region_arguments(op)?;
        }
        self.step(function, op, Action::Compute, reads, writes);
        Ok(())
    }

    /// What a group yields is what its last ops store: the group's results.
    fn group_yield(&mut self, group: Option<OpId>, inner: OpId) {
        let Some(group) = group.filter(|_| self.document.name(inner) == "tpu.Yield") else { return };
        for (&operand, &result) in self.document.operands(inner).iter().zip(self.document.results(group)) {
            if self.network.contents[operand].is_none() {
                self.network.contents[operand] = self.network.contents[result];
            }
        }
    }

    /// Refuses an op that hands tensors to its region as arguments.
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

    fn shape(&self, op: OpId, value: ValueId) -> Result<Option<Shape>, PassError> {
        let shape = Shape::of(self.document.ty(value), self.chip.packs_batches);
        shape.map_err(|why| self.value_error(value, op, &why.describe()))
    }

    fn value_error(&self, value: ValueId, op: OpId, why: &str) -> PassError {
        let known = self.document.value(value);
        let span =
            if known.type_span.start == known.type_span.end { self.document.op(op).span } else { known.type_span };
        let name = self.document.value_name(value);
        PassError::Op { span, message: format!("{name} {why}") }
    }

    /// A tensor for a value, if its type is one.
    fn tensor(&mut self, function: usize, op: OpId, value: ValueId, role: Role) -> Result<Option<TensorId>, PassError> {
        let Some(shape) = self.shape(op, value)? else { return Ok(None) };
        let (name, defined) = (self.name(function, value), self.network.steps.len());
        let label = location_name(self.document, op);
        let tensor = Tensor { name, label, value, shape, role, function, defined, alias: None, crosses: false };
        let id = self.network.tensors.push(tensor);
        self.network.contents[value] = Some(Content::Tensor(id));
        Ok(Some(id))
    }

    /// `%3` of an entry function is `3`, of another one `subfunc_0/3`; of several
    /// results the second is `3#1`.
    fn name(&mut self, function: usize, value: ValueId) -> String {
        let written = self.document.value_name(value).trim_start_matches('%');
        let (number, count) = self.document.result_number(value);
        let short = if count > 1 && number > 0 { format!("{written}#{number}") } else { written.to_owned() };
        let is_root = self.network.roots.first() == Some(&function);
        let symbol = self.document.symbol_name(self.network.functions[function]).unwrap_or_default();
        let full = if is_root { short } else { format!("{symbol}/{short}") };
        let mut name = full.clone();
        let mut copy = 1;
        while !self.names.insert(name.clone()) {
            copy += 1;
            name = format!("{full}~{copy}");
        }
        name
    }
}

/// The ops of a module's or function's body.
fn ops_in(document: &Document, op: OpId) -> Vec<OpId> {
    let blocks = document.regions(op).iter().flat_map(|&region| document.blocks(region));
    blocks.flat_map(|&block| document.ops(block)).copied().collect()
}

/// Everything inside an op, in the order of the text.
pub(super) fn descendants(document: &Document, op: OpId) -> Vec<OpId> {
    let mut found = Vec::new();
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

/// The address that a value's type has.
pub(super) fn written_address(document: &Document, value: ValueId) -> Option<u64> {
    match document.ty(value) {
        Type::Tensor { encoding, .. } => encoding.as_deref().and_then(address),
        _ => None,
    }
}

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

fn error(document: &Document, op: OpId, message: &str) -> PassError {
    PassError::Op { span: document.op(op).span, message: message.to_owned() }
}
