//! The dataflow graph: operations that read tensors and make tensors.
//!
//! ```text
//! A ──► B = compute A[i] + 1 ──► C = extern f(B) ──► Q = compute C[i] * 2
//! ```
//!
//! An operation is a node, a tensor an edge. Every tensor is made exactly once (the graph is in single-assignment
//! form), which is why so many buffers turn out to be redundant later. A tensor is named by a [`BufId`] into the
//! graph's tables, so that the expressions of the loop IR serve for tensor expressions, too: a load of a tensor is a
//! load of its id.
//!
//! An operation is one of three kinds. A *placeholder* comes from outside. A *compute* operation has one expression for
//! each of its outputs, evaluated for all values of its *axes* (its loop variables). An *extern* operation has
//! statements as its body, in which a [`Slot`] stands for each tensor (these slots have nothing to do with
//! multi-buffering).

use super::adopt::adopt_script;
use super::combine::Combiner;
use super::error::GraphError;
use crate::DType;
use crate::interpret::PackedFunction;
use crate::ir::{Block, BufId, Buffer, Expr, Function, MAX_NESTING, Memory, Stmt, StmtKind, StorageScope, Var, VarId};
use crate::script::Script;
use memplan_core::{Id, IndexVec, Span, index_type};
use std::collections::{BTreeMap, BTreeSet};

index_type! {
    /// An operation of a [`Graph`].
    pub struct OpId;
    /// A loop axis of a [`Graph`] or a [`Schedule`](super::Schedule).
    pub struct IterId;
}

/// `min, min + 1, …`: `extent` values.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The first value.
    pub min: Expr,
    /// How many values there are.
    pub extent: Expr,
}

impl Range {
    /// The range `0..extent`.
    pub fn up_to(extent: Expr) -> Range {
        Range { min: Expr::int(0), extent }
    }
}

/// What a loop axis is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AxisKind {
    /// Runs over an output dimension; iterations are independent.
    Data,
    /// Runs over what is reduced.
    Reduce,
    /// The threads of an axis: `threadIdx.x`.
    Thread(String),
}

/// A loop axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Its variable.
    pub var: VarId,
    /// The values it runs over, as the operation declares them. `None` for an axis that a schedule makes (by a split, a
    /// fusion or for threads): its range follows from the axes it is made of, in bound inference.
    pub range: Option<Range>,
    /// What it is for.
    pub kind: AxisKind,
}

/// How a compute operation makes its elements.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// One expression for each output.
    Plain(Vec<Expr>),
    /// One source for each output, combined over the reduce axes.
    Reduce {
        /// How two values become one.
        combiner: Combiner,
        /// What is combined.
        sources: Vec<Expr>,
        /// Only points of the reduce axes at which this is true are combined; `None` combines all points.
        condition: Option<Expr>,
    },
}

impl Body {
    /// All expressions, in order.
    pub(crate) fn exprs(&self) -> Vec<&Expr> {
        match self {
            Body::Plain(values) => values.iter().collect(),
            Body::Reduce { sources, condition, .. } => sources.iter().chain(condition).collect(),
        }
    }

    /// All expressions, to change.
    pub(crate) fn exprs_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Body::Plain(values) => values.iter_mut().collect(),
            Body::Reduce { sources, condition, .. } => sources.iter_mut().chain(condition).collect(),
        }
    }
}

/// A data-parallel computation.
#[derive(Clone, Debug, PartialEq)]
pub struct Compute {
    /// One axis for each dimension of the outputs, in order.
    pub axes: Vec<IterId>,
    /// Axes over which values are combined; they are no dimensions of the outputs.
    pub reduce_axes: Vec<IterId>,
    /// What is computed.
    pub body: Body,
}

/// A buffer that stands for a tensor inside an extern body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The buffer of the body.
    pub buffer: BufId,
    /// Stands for the offset (in elements) at which the slot starts in the tensor's memory. Flattening replaces it by
    /// 0, because a slot always stands for a whole tensor.
    pub elem_offset: VarId,
}

/// A computation given as statements.
#[derive(Clone, Debug, PartialEq)]
pub struct Extern {
    /// Tensors read, in order.
    pub inputs: Vec<BufId>,
    /// The buffers of the body that stand for the inputs, in the same order.
    pub input_slots: Vec<Slot>,
    /// The buffers of the body that stand for the outputs, in the same order.
    pub output_slots: Vec<Slot>,
    /// What is done.
    pub body: Block,
    /// Whether it was described as a hybrid operation: a Python function with loops, which became statements.
    pub hybrid: bool,
}

/// What an operation does.
#[derive(Clone, Debug, PartialEq)]
pub enum OpKind {
    /// Comes from outside.
    Placeholder,
    /// Computed element by element.
    Compute(Compute),
    /// Computed by statements.
    Extern(Extern),
}

/// A node of the graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// Its name.
    pub name: String,
    /// What it does.
    pub kind: OpKind,
    /// What it makes.
    pub outputs: Vec<BufId>,
}

impl Operation {
    /// The compute operation, if it is one.
    pub fn as_compute(&self) -> Option<&Compute> {
        match &self.kind {
            OpKind::Compute(compute) => Some(compute),
            _ => None,
        }
    }

    /// The axes of its own loops: data axes, then reduce axes.
    pub fn root_axes(&self) -> Vec<IterId> {
        self.as_compute()
            .map_or_else(Vec::new, |compute| compute.axes.iter().chain(&compute.reduce_axes).copied().collect())
    }

    /// The tensors it reads, in the order of first use.
    pub fn input_tensors(&self) -> Vec<BufId> {
        match &self.kind {
            OpKind::Placeholder => Vec::new(),
            OpKind::Extern(body) => {
                let mut seen = BTreeSet::new();
                body.inputs.iter().copied().filter(|tensor| seen.insert(*tensor)).collect()
            }
            OpKind::Compute(compute) => {
                let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
                for expr in compute.body.exprs() {
                    collect_loads(expr, &mut seen, &mut found);
                }
                found
            }
        }
    }
}

/// Appends the tensors that an expression loads to `found`, each once (`seen` holds those that are there already). A
/// load inside a subscript comes before the load around it: `A[B[i]]` gives B, then A.
fn collect_loads(expr: &Expr, seen: &mut BTreeSet<BufId>, found: &mut Vec<BufId>) {
    for child in expr.children() {
        collect_loads(child, seen, found);
    }
    if let Expr::Load { buffer, .. } = expr
        && seen.insert(*buffer)
    {
        found.push(*buffer);
    }
}

/// The expressions of a body that become elements of the outputs, one for each output. If the body makes no sense, the
/// error is the reason, as a sentence about the operation.
fn output_values<'b>(body: &'b Body, reduce_axes: &[IterId]) -> Result<&'b [Expr], &'static str> {
    match body {
        Body::Reduce { sources, combiner, .. } if combiner.outputs() != sources.len() => {
            Err("its combiner has another number of values than it has outputs")
        }
        Body::Plain(values) | Body::Reduce { sources: values, .. } if values.is_empty() => Err("it has no output"),
        // A reduction over no axis would store its identity and never combine anything.
        Body::Reduce { .. } if reduce_axes.is_empty() => Err("it reduces over no axis"),
        Body::Plain(values) | Body::Reduce { sources: values, .. } => Ok(values),
    }
}

/// Whether an expression nests deeper than `limit`; a constant or a variable has depth 1. A list of parts still to
/// visit stands in for recursion, because an expression that is far too deep must not exhaust the stack here.
pub(crate) fn nests_deeper(expr: &Expr, limit: usize) -> bool {
    let mut stack = vec![(expr, 1usize)];
    while let Some((part, depth)) = stack.pop() {
        if depth > limit {
            return true;
        }
        stack.extend(part.children().into_iter().map(|child| (child, depth + 1)));
    }
    false
}

/// The most dimensions and reduce axes of an operation, and the most tensors of an extern one. Each axis becomes a loop
/// and each tensor of an extern operation a region around its body, and statements may nest [`MAX_NESTING`] deep only.
const MAX_AXES: usize = 64;

/// An output of an extern operation.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputSpec {
    /// Its shape.
    pub shape: Vec<Expr>,
    /// Its element type.
    pub dtype: DType,
}

/// A graph of tensor operations.
///
/// ```
/// use memplan_tensor::te::Graph;
/// use memplan_tensor::ir::{BinaryOp, Expr};
/// use memplan_tensor::DType;
/// let mut graph = Graph::new();
/// let a = graph.placeholder("A", vec![Expr::int(8)], DType::FLOAT32).unwrap();
/// let b = graph
///     .compute("B", &[("i", Expr::int(8))], |i| {
///         let a_i = Expr::Load { buffer: a, index: i.to_vec() };
///         vec![Expr::binary(BinaryOp::Add, a_i.clone(), a_i)]
///     })
///     .unwrap();
/// assert_eq!(graph.dump(), "A = placeholder (8,) float32\nB = compute (8,) float32 [i]: A[i] + A[i]\n");
/// # let _ = b;
/// ```
#[derive(Clone, Debug)]
pub struct Graph {
    /// The variables of all expressions, one buffer for each tensor, and the buffers of extern bodies. It is a function
    /// of the loop IR without a body, so that lowering can start from a copy of it.
    pub tables: Function,
    /// All operations, producers first.
    pub ops: IndexVec<OpId, Operation>,
    /// All loop axes.
    pub axes: IndexVec<IterId, Axis>,
    /// Sizes that are known only when the program runs.
    pub symbols: Vec<VarId>,
    /// For each tensor the operation that makes it and the position among that operation's outputs. Buffers of extern
    /// bodies are not in it, so membership tells tensors from them.
    pub(super) producers: BTreeMap<BufId, (OpId, usize)>,
    /// Operations by name.
    names: BTreeMap<String, OpId>,
    /// The functions that extern operations call by name with arrays as arguments (TVM's packed functions), by name and
    /// number of arrays.
    pub(super) packed: BTreeMap<(String, usize), PackedFunction>,
}

impl Default for Graph {
    fn default() -> Graph {
        Graph::new()
    }
}

impl Graph {
    /// An empty graph.
    pub fn new() -> Graph {
        Graph {
            // The function that the graph is lowered to keeps this name. TVM calls it `main`, too.
            tables: Function::empty("main".to_owned()),
            ops: IndexVec::new(),
            axes: IndexVec::new(),
            symbols: Vec::new(),
            producers: BTreeMap::new(),
            names: BTreeMap::new(),
            packed: BTreeMap::new(),
        }
    }

    /// A size that is known only when the program runs.
    pub fn symbol(&mut self, name: &str) -> VarId {
        let var = self.tables.vars.push(Var { name: name.to_owned(), dtype: DType::INT32 });
        self.symbols.push(var);
        var
    }

    /// The operation of that name.
    pub fn op_named(&self, name: &str) -> Option<OpId> {
        self.names.get(name).copied()
    }

    /// Which operation makes a tensor, and which of its outputs it is.
    pub fn producer(&self, tensor: BufId) -> Option<(OpId, usize)> {
        self.producers.get(&tensor).copied()
    }

    /// The tensor of that name: `B` for the only output of operation `B`, `T.v1` for the second output of operation
    /// `T`. `None` if there is no such tensor; the bare name of an operation with several outputs names none of them.
    pub fn tensor_named(&self, name: &str) -> Option<BufId> {
        if let Some(op) = self.op_named(name) {
            return match self.ops[op].outputs.as_slice() {
                [only] => Some(*only),
                _ => None,
            };
        }
        let (op, output) = name.rsplit_once(".v")?;
        let output: usize = output.parse().ok()?;
        self.ops[self.op_named(op)?].outputs.get(output).copied()
    }

    /// A tensor from outside.
    pub fn placeholder(&mut self, name: &str, shape: Vec<Expr>, dtype: DType) -> Result<BufId, GraphError> {
        let op = self.add_op(name, OpKind::Placeholder, vec![OutputSpec { shape, dtype }])?;
        Ok(self.ops[op].outputs[0])
    }

    /// A computation of every element; the closure gets the axis variables and returns an expression for each output.
    pub fn compute(
        &mut self,
        name: &str,
        axes: &[(&str, Expr)],
        body: impl FnOnce(&[Expr]) -> Vec<Expr>,
    ) -> Result<OpId, GraphError> {
        let axes = self.add_axes(axes, AxisKind::Data);
        let values = body(&self.axis_vars(&axes));
        self.add_compute(name, axes, Vec::new(), Body::Plain(values))
    }

    /// A reduction; the closure gets data axes and reduce axes and returns a source for each output.
    pub fn reduce(
        &mut self,
        name: &str,
        axes: &[(&str, Expr)],
        reduce_axes: &[(&str, Expr)],
        combiner: Combiner,
        sources: impl FnOnce(&[Expr], &[Expr]) -> Vec<Expr>,
    ) -> Result<OpId, GraphError> {
        let axes = self.add_axes(axes, AxisKind::Data);
        let reduce_axes = self.add_axes(reduce_axes, AxisKind::Reduce);
        let sources = sources(&self.axis_vars(&axes), &self.axis_vars(&reduce_axes));
        self.add_compute(name, axes, reduce_axes, Body::Reduce { combiner, sources, condition: None })
    }

    /// Adds axes with these names that run over `0..extent`, and gives their ids in order.
    pub fn add_axes(&mut self, axes: &[(&str, Expr)], kind: AxisKind) -> Vec<IterId> {
        let mut made = Vec::with_capacity(axes.len());
        for (name, extent) in axes {
            let var = self.tables.vars.push(Var { name: (*name).to_owned(), dtype: DType::INT32 });
            let range = Some(Range::up_to(extent.clone()));
            made.push(self.axes.push(Axis { var, range, kind: kind.clone() }));
        }
        made
    }

    /// The variables of axes, as expressions.
    fn axis_vars(&self, axes: &[IterId]) -> Vec<Expr> {
        axes.iter().map(|axis| Expr::Var(self.axes[*axis].var)).collect()
    }

    /// Adds a compute operation over axes that [`add_axes`](Graph::add_axes) has made. Its outputs all have one shape:
    /// the extents of the data axes.
    pub fn add_compute(
        &mut self,
        name: &str,
        axes: Vec<IterId>,
        reduce_axes: Vec<IterId>,
        body: Body,
    ) -> Result<OpId, GraphError> {
        let dtypes = self.check_body(name, &body, &reduce_axes)?;
        let shape: Vec<Expr> =
            axes.iter().filter_map(|axis| self.axes[*axis].range.as_ref()).map(|range| range.extent.clone()).collect();
        let outputs = dtypes.into_iter().map(|dtype| OutputSpec { shape: shape.clone(), dtype }).collect();
        self.add_op(name, OpKind::Compute(Compute { axes, reduce_axes, body }), outputs)
    }

    /// The element type of each output of the operation called `name`. An error if the body makes no sense: an
    /// expression nests too deeply, it loads something that is no tensor, or the numbers of values and outputs
    /// disagree.
    fn check_body(&self, name: &str, body: &Body, reduce_axes: &[IterId]) -> Result<Vec<DType>, GraphError> {
        // Later stages walk expressions recursively, so the depth is limited where an expression enters the graph.
        for expr in body.exprs() {
            if nests_deeper(expr, MAX_NESTING) {
                let reason = "its expression nests too deeply".to_owned();
                return Err(GraphError::Body { op: name.to_owned(), reason });
            }
            self.check_loads(name, expr)?;
        }
        let values = output_values(body, reduce_axes);
        let values = values.map_err(|reason| GraphError::Body { op: name.to_owned(), reason: reason.to_owned() })?;
        Ok(values.iter().map(|value| value.dtype(&self.tables)).collect())
    }

    /// Every load in an expression must be of a tensor, with a subscript for each dimension; an error says which is
    /// not. The walk goes through all loads, a load before those in its subscripts. Of several mistakes the last one
    /// that it meets is reported.
    fn check_loads(&self, op: &str, expr: &Expr) -> Result<(), GraphError> {
        let mut result = Ok(());
        expr.walk(&mut |part| {
            if let Expr::Load { buffer, index } = part {
                let declared = self.tables.buffers.get(*buffer).filter(|_| self.producers.contains_key(buffer));
                match declared {
                    // The id may come from another graph, so a name of this graph's tables could be a wrong one. It may
                    // also be a buffer of an extern body, which only that body can load.
                    None => result = Err(GraphError::UnknownTensor { op: op.to_owned(), tensor: "?".to_owned() }),
                    Some(declared) if declared.shape.len() != index.len() => {
                        result = Err(GraphError::Rank {
                            op: op.to_owned(),
                            tensor: declared.name.clone(),
                            given: index.len(),
                            rank: declared.shape.len(),
                        });
                    }
                    Some(_) => {}
                }
            }
        });
        result
    }

    /// Adds an operation and its output tensors. A single output has the operation's name; several outputs are named
    /// `NAME.v0`, `NAME.v1` and so on. An error if the name is taken or the operation has more than [`MAX_AXES`] axes.
    pub(super) fn add_op(&mut self, name: &str, kind: OpKind, outputs: Vec<OutputSpec>) -> Result<OpId, GraphError> {
        // Placeholders and extern operations have no axes; the dimensions of their outputs count instead.
        let axes =
            if let OpKind::Compute(compute) = &kind { compute.axes.len() + compute.reduce_axes.len() } else { 0 };
        if axes.max(outputs.iter().map(|output| output.shape.len()).max().unwrap_or(0)) > MAX_AXES {
            let reason = format!("it has more than {MAX_AXES} dimensions and reduce axes");
            return Err(GraphError::Body { op: name.to_owned(), reason });
        }
        if self.names.contains_key(name) {
            return Err(GraphError::DuplicateName { name: name.to_owned() });
        }
        // Tensors are buffers of the tables; `producers` tells them from buffers of extern bodies.
        let several = outputs.len() > 1;
        let op = OpId::from_index(self.ops.len());
        let mut tensors = Vec::with_capacity(outputs.len());
        for (position, output) in outputs.into_iter().enumerate() {
            let tensor_name = if several { format!("{name}.v{position}") } else { name.to_owned() };
            let tensor = self.tables.buffers.push(new_buffer(&tensor_name, output));
            self.producers.insert(tensor, (op, position));
            tensors.push(tensor);
        }
        self.ops.push(Operation { name: name.to_owned(), kind, outputs: tensors });
        self.names.insert(name.to_owned(), op);
        Ok(op)
    }

    /// Adds an operation whose body is statements. The closure `body` gets the graph's tables (to add variables and
    /// buffers of its own), the slots of the inputs and the slots of the outputs, and returns the statements.
    pub fn extern_block(
        &mut self,
        name: &str,
        inputs: Vec<BufId>,
        outputs: Vec<OutputSpec>,
        body: impl FnOnce(&mut Function, &[Slot], &[Slot]) -> Result<Block, GraphError>,
    ) -> Result<OpId, GraphError> {
        if outputs.is_empty() {
            return Err(GraphError::Body { op: name.to_owned(), reason: "it has no output".to_owned() });
        }
        // Each tensor becomes a level of nesting when the operation is lowered, and nesting is limited.
        if inputs.len() + outputs.len() > MAX_AXES {
            let reason = format!("it reads and makes more than {MAX_AXES} tensors");
            return Err(GraphError::Body { op: name.to_owned(), reason });
        }
        let mut input_slots = Vec::with_capacity(inputs.len());
        // Each input gets a slot: a buffer that the body uses in place of the tensor. The two are bound to each other
        // when the operation is lowered.
        for input in &inputs {
            let Some(tensor) = self.tables.buffers.get(*input).filter(|_| self.producers.contains_key(input)) else {
                return Err(GraphError::UnknownTensor { op: name.to_owned(), tensor: "?".to_owned() });
            };
            let spec = OutputSpec { shape: tensor.shape.to_vec(), dtype: tensor.dtype };
            let tensor_name = tensor.name.clone();
            input_slots.push(self.add_slot(&tensor_name, spec));
        }
        // Outputs get slots, too, named as `add_op` will name the tensors.
        let output_slots: Vec<Slot> = outputs
            .iter()
            .enumerate()
            .map(|(position, output)| {
                let several = outputs.len() > 1;
                let slot_name = if several { format!("{name}.v{position}") } else { name.to_owned() };
                self.add_slot(&slot_name, output.clone())
            })
            .collect();
        let body = body(&mut self.tables, &input_slots, &output_slots)?;
        self.add_op(name, OpKind::Extern(Extern { inputs, input_slots, output_slots, body, hybrid: false }), outputs)
    }

    /// Marks an extern operation as a hybrid one. The mark only changes how the operation is printed.
    pub fn call_hybrid(&mut self, op: OpId) {
        if let OpKind::Extern(body) = &mut self.ops[op].kind {
            body.hybrid = true;
        }
    }

    /// Adds a buffer for an extern body, and a variable for its offset.
    fn add_slot(&mut self, name: &str, spec: OutputSpec) -> Slot {
        let buffer = self.tables.buffers.push(new_buffer(name, spec));
        let elem_offset = self.tables.vars.push(Var { name: format!("{name}.elem_offset"), dtype: DType::INT32 });
        Slot { buffer, elem_offset }
    }

    /// Adds an operation whose body is one packed call: `callee(inputs…, outputs…)`. A packed function is one that
    /// TVM's runtime finds by its name; it takes arrays and writes its results into the last of them.
    pub fn extern_call(
        &mut self,
        name: &str,
        inputs: Vec<BufId>,
        outputs: Vec<OutputSpec>,
        callee: &str,
    ) -> Result<OpId, GraphError> {
        let arrays = inputs.len() + outputs.len();
        let key = (callee.to_owned(), arrays);
        let packed = PackedFunction { outputs: outputs.len() };
        // The interpreter knows a packed function by its name and its number of arrays. Two uses that disagree about
        // which arrays are written could not be told apart.
        if self.packed.get(&key).is_some_and(|known| *known != packed) {
            return Err(GraphError::Body {
                op: name.to_owned(),
                reason: format!(
                    "`{callee}` is called with {arrays} arrays of which another operation writes a different number"
                ),
            });
        }
        let added = self.extern_block(name, inputs, outputs, |tables, inputs, outputs| {
            let mut args = vec![Expr::Str(callee.to_owned())];
            args.extend(inputs.iter().chain(outputs).map(|slot| packed_array(tables, slot)));
            let call = Expr::Call { name: "call_packed".to_owned(), args, dtype: DType::INT32 };
            Ok(vec![Stmt::new(StmtKind::Evaluate(call))].into())
        })?;
        self.packed.insert(key, packed);
        Ok(added)
    }

    /// Adds an operation whose body is a TVMScript function. The function's buffer parameters stand for the inputs and
    /// then the outputs, in order; its sizes are matched by name with the graph's symbols. An error if `script` cannot
    /// be read, does not hold exactly one function, or takes other parameters.
    pub fn extern_script(
        &mut self,
        name: &str,
        inputs: Vec<BufId>,
        outputs: Vec<OutputSpec>,
        script: &str,
    ) -> Result<OpId, GraphError> {
        let wrong = |reason: String| GraphError::Body { op: name.to_owned(), reason };
        let read = Script::read(script).map_err(|error| {
            let (line, column) = error.line_column(script);
            wrong(format!("its script cannot be read (line {line}, column {column}): {error}"))
        })?;
        let function = match read.functions() {
            [function] => function,
            [] => return Err(wrong("its script has no function".to_owned())),
            _ => return Err(wrong("its script has more than one function".to_owned())),
        };
        let symbols: BTreeMap<String, VarId> =
            self.symbols.iter().map(|var| (self.tables.vars[*var].name.clone(), *var)).collect();
        self.extern_block(name, inputs, outputs, |tables, inputs, outputs| {
            let slots: Vec<BufId> = inputs.iter().chain(outputs).map(|slot| slot.buffer).collect();
            adopt_script(tables, function, &slots, &symbols).map_err(wrong)
        })
    }

    /// What the interpreter has to know about the packed functions that are called.
    pub fn packed_functions(&self) -> &BTreeMap<(String, usize), PackedFunction> {
        &self.packed
    }
}

/// A tensor as a buffer of the main memory.
fn new_buffer(name: &str, spec: OutputSpec) -> Buffer {
    Buffer {
        name: name.to_owned(),
        dtype: spec.dtype,
        shape: spec.shape.into(),
        strides: None,
        scope: StorageScope::global(),
        memory: Memory::Own,
        scalar: false,
        pinned: false,
        extra: Vec::new(),
        span: Span::default(),
    }
}

/// The array argument of a packed call, in the form TVM's printer has it:
/// `tvm_stack_make_array(data, shape, strides, rank, type, offset)`.
fn packed_array(tables: &Function, slot: &Slot) -> Expr {
    let buffer = &tables.buffers[slot.buffer];
    // A call of TVM's runtime that makes a handle.
    let call = |name: &str, args: Vec<Expr>| Expr::Call { name: name.to_owned(), args, dtype: DType::HANDLE };
    let shape = call("tvm_stack_make_shape", buffer.shape.to_vec());
    let rank = Expr::int(i64::try_from(buffer.shape.len()).unwrap_or(i64::MAX));
    // The element type is given as a zero of that type.
    let zero = if buffer.dtype.is_float() {
        Expr::Float { value: 0.0, dtype: buffer.dtype }
    } else {
        Expr::Int { value: 0, dtype: buffer.dtype }
    };
    // Strides of 0 mean that the array is compact.
    let args = vec![Expr::Data(slot.buffer), shape, Expr::int(0), rank, zero, Expr::Var(slot.elem_offset)];
    call("tvm_stack_make_array", args)
}
