//! A network as a [`Program`], for the dataflow check and the general planner.
//!
//! There are two forms. In both, calls are followed and the ops stand in the order of execution.
//!
//! - [`Form::Addressed`]: every tensor is a buffer of its own, and ops that move
//!   no data are *copies* from the operand to the result. If both have the same address in a
//!   plan, the copy changes nothing, and the content is valid as both tensors. This is the
//!   form in which addresses are checked, because it assumes nothing about where the result
//!   of a reshape lies.
//! - [`Form::Views`]: a reshape is a view of its operand. This is the form in
//!   which a planner that knows nothing of addresses may place the buffers.
//!
//! An *entry function* is one that nobody calls; each becomes a function of the program. A *run*
//! is the steps of one entry function, those of the functions that it calls included. A
//! *pinned* tensor must still have its content at the end of the run.

use memplan_core::{Bytes, IndexVec};
use memplan_program::{
    ByteRange, CopyRange, Extent, OpDraft, Program, ProgramBuilder, ProgramError, Size, ValueId as Handle,
};

use super::network::{Action, Network, Role, Step, Tensor, TensorId, Tensors};
use crate::Document;

/// How ops that move no data are lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As copies between buffers.
    Addressed,
    /// As views of one buffer.
    Views,
}

/// Lowers networks, each with its pinned tensors, into one program. Gives the program, and for each network the
/// program's value (*handle*) of every tensor.
pub(super) fn lower(
    document: &Document,
    networks: &[(&Network, Vec<TensorId>)],
    form: Form,
) -> Result<(Program, Vec<IndexVec<TensorId, Handle>>), ProgramError> {
    let mut builder = ProgramBuilder::new();
    let mut all = Vec::new();
    for (network, pinned) in networks {
        let mut lowering = Lowering { document, network, form, builder: &mut builder, handles: IndexVec::default() };
        lowering.handles = lowering.declare();
        // Each entry function becomes a function of the program, with the steps of its run.
        for (number, run) in network.runs.iter().enumerate() {
            let root = network.functions[network.roots[number]];
            let function = lowering.builder.open_function(document.symbol_name(root).unwrap_or_default(), &[]);
            lowering.builder.set_function_span(function, document.op(root).span);
            lowering.run(run.clone(), pinned);
            lowering.builder.leave(&[]);
            lowering.builder.close_function();
        }
        all.push(lowering.handles);
    }
    Ok((builder.finish()?, all))
}

/// Whether a tensor is a buffer of its own in a program of this form. The buffers of a program are in the order of the
/// networks, and in each network in the order of the tensors.
pub(super) fn has_buffer(network: &Network, tensor: &Tensor, form: Form) -> bool {
    // An op that updates its operand writes the result into the operand's own memory, so the two are one buffer in
    // either form.
    let is_update = || network.steps.get(tensor.defined).is_some_and(|step| step.action == Action::Update);
    tensor.alias.is_none() || (form == Form::Addressed && !is_update())
}

/// Lowers one network.
struct Lowering<'a> {
    document: &'a Document,
    network: &'a Network,
    form: Form,
    builder: &'a mut ProgramBuilder,
    /// The program's value of each tensor.
    handles: IndexVec<TensorId, Handle>,
}

impl Lowering<'_> {
    /// A value for each tensor: a view of its operand where the form asks for that, else a buffer of its own.
    fn declare(&mut self) -> IndexVec<TensorId, Handle> {
        let space = self.builder.space("gmem");
        let mut handles: IndexVec<TensorId, Handle> = IndexVec::default();
        for (id, tensor) in self.network.tensors.iter_enumerated() {
            let (name, bytes) = (self.network.name(id), tensor.bytes);
            let handle = match tensor.alias {
                Some(alias) if !has_buffer(self.network, tensor, self.form) => {
                    let extent = Extent::Exactly(ByteRange::new(alias.at, alias.at + bytes));
                    self.builder.view(name, handles[alias.of], extent)
                }
                _ => self.builder.alloc(name, Size::Known(Bytes(bytes)), space),
            };
            self.builder.set_span(handle, self.document.value(tensor.value).name);
            handles.push(handle);
        }
        handles
    }

    /// Adds the ops for one run of the network, which is a range of its steps. Calls and returns move no bytes: the
    /// steps of the called function stand between them.
    fn run(&mut self, run: std::ops::Range<usize>, pinned: &[TensorId]) {
        let steps = self.network.steps.get(run.clone()).unwrap_or(&[]);
        self.inputs(steps);
        for step in steps {
            match step.action {
                Action::Input | Action::Call | Action::Return => {}
                Action::Finish => self.finish(step, &run, pinned),
                _ => self.step(step),
            }
        }
    }

    /// Adds the ops that write the inputs, in front of all others: inputs are in memory before anything runs.
    fn inputs(&mut self, steps: &[Step]) {
        let given = steps.iter().filter(|step| step.action == Action::Input);
        for step in given {
            let mut draft = OpDraft::new(self.document.shared_name(step.op)).span(self.document.op(step.op).span);
            for &tensor in &step.writes {
                draft = draft.result(self.handles[tensor]).write(self.handles[tensor]);
            }
            self.builder.push(draft);
        }
    }

    /// Adds the op that ends a run. It reads the outputs, and all pinned tensors of the run: so the dataflow check
    /// fails if one of them has been overwritten.
    fn finish(&mut self, step: &Step, run: &std::ops::Range<usize>, pinned: &[TensorId]) {
        let given = pinned.iter().filter(|&&tensor| run.contains(&self.network.tensors[tensor].defined));
        let read: Vec<TensorId> = step.reads.iter().chain(given).copied().collect();
        let draft = OpDraft::new(self.document.shared_name(step.op)).span(self.document.op(step.op).span);
        let draft = self.reading(draft, &read);
        self.builder.push(draft);
    }

    /// Makes an op read each of these tensors once. A workspace is both read and written by the ops that take it.
    fn reading(&self, mut draft: OpDraft, tensors: &[TensorId]) -> OpDraft {
        let mut sorted: Tensors = tensors.into();
        sorted.sort_unstable();
        sorted.dedup();
        for tensor in sorted {
            let handle = self.handles[tensor];
            draft = match self.network.tensors[tensor].role {
                Role::Workspace => draft.update(handle),
                Role::Input | Role::Activation => draft.read(handle),
            };
        }
        draft
    }

    /// One step as an op of the program.
    fn step(&mut self, step: &Step) {
        let mut draft = OpDraft::new(self.document.shared_name(step.op)).span(self.document.op(step.op).span);
        draft = match (step.action, step.writes.as_slice()) {
            // The value of the result was made as a view of the operand, so the op touches no bytes. In the other form
            // (`Form::Addressed`) the result of a view is a buffer of its own, and the last arm lets the op write it.
            (Action::View, &[result]) if self.form == Form::Views => draft.result(self.handles[result]),
            // The result takes over its first operand's bytes, and the op changes some of them. An update reads and
            // writes, so the bytes that the op does not change stay needed.
            (Action::Update, &[result]) => {
                self.reading(draft, &step.reads).result(self.handles[result]).update(self.handles[result])
            }
            // `tpu.Buffer` has a workspace as its result and writes nothing. The ops that take the workspace as an
            // operand write it (see `reading`).
            (Action::Reserve, writes) => writes.iter().fold(draft, |draft, &tensor| draft.result(self.handles[tensor])),
            // Every other step reads its operands and writes its results as a whole.
            (_, writes) => {
                let draft = self.reading(draft, &step.reads);
                let write =
                    |draft: OpDraft, &tensor: &TensorId| draft.result(self.handles[tensor]).write(self.handles[tensor]);
                writes.iter().fold(draft, write)
            }
        };
        for copy in self.copies(step) {
            draft = draft.copies(copy);
        }
        self.builder.push(draft);
    }

    /// The bytes that a step hands on unchanged from an operand to its result. If the result lies elsewhere they are
    /// copied; if it lies where they are, there is nothing to do.
    fn copies(&self, step: &Step) -> Vec<CopyRange> {
        let &[result] = step.writes.as_slice() else { return Vec::new() };
        match (step.action, step.reads.first()) {
            (Action::View, Some(&source)) if self.form == Form::Addressed => vec![self.view_copy(result, source)],
            (Action::Concat, _) => self.concat_copies(result, &step.reads),
            _ => Vec::new(),
        }
    }

    /// The bytes that a view hands on: the part of its operand that it shows.
    fn view_copy(&self, result: TensorId, source: TensorId) -> CopyRange {
        let tensor = &self.network.tensors[result];
        // The operand may itself be a view. Both places are counted from the start of the same memory, so their
        // difference is the place of the result in the operand.
        let at = tensor.alias.map_or(0, |alias| alias.at) - self.network.root(source).1;
        CopyRange {
            output: self.handles[result],
            output_start: Bytes::ZERO,
            input: self.handles[source],
            input_start: Bytes(at),
            length: Bytes(tensor.bytes),
        }
    }

    /// The bytes that a concat hands on: all of its operands, which lie one behind the other in the result.
    fn concat_copies(&self, result: TensorId, operands: &[TensorId]) -> Vec<CopyRange> {
        let mut end = 0;
        let mut ranges = Vec::with_capacity(operands.len());
        for &operand in operands {
            let bytes = self.network.tensors[operand].bytes;
            ranges.push(CopyRange {
                output: self.handles[result],
                output_start: Bytes(end),
                input: self.handles[operand],
                input_start: Bytes::ZERO,
                length: Bytes(bytes),
            });
            end += bytes;
        }
        ranges
    }
}
