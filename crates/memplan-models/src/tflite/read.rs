//! Reads the structure of a `.tflite` file: graphs, tensors, operators.
//!
//! The file is a flatbuffer whose root is
//!
//! ```text
//! Model     version, operator_codes, subgraphs, description, buffers, metadata_buffer, metadata, signature_defs
//! SubGraph  tensors, inputs, outputs, operators, name
//! Tensor    shape, type, buffer, name, quantization, is_variable, sparsity, shape_signature
//! Operator  opcode_index, inputs, outputs, options type, options, …
//! ```
//!
//! Operators run in the order in which they stand. A tensor with content in its
//! buffer is a constant; a variable keeps its content between runs and has
//! memory of its own; strings, resources and tensors whose shape is not known
//! are left to the runtime. The content of buffers is never read, only whether
//! there is any.

use memplan_core::{Bytes, Id, IndexVec, patience};

use super::meaning::has_effect;
use super::scratch::{Argument, Needs, Operator, ScratchTable};
use super::tail::{Kept, Records, Tail, descriptions};
use super::vocabulary::{ELEMENTWISE, RESHAPES, element, operator};
use crate::ReadError;
use crate::flatbuffer::Table;
use crate::graph::{Control, Graph, GraphId, Home, Model, Op, OpId, Tensor, TensorId, shape_bytes, unique_names};
use crate::source::{ReadAt, Window};

/// The bytes after the first four of every `.tflite` file.
pub const SIGNATURE: &[u8; 4] = b"TFL3";

/// The version of the schema there is.
const VERSION: u32 = 3;

/// The alignment of tensors in the arena of TensorFlow Lite Micro.
const ALIGNMENT: Bytes = Bytes(16);

/// What the caller can tell the reader.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How much memory kernels ask for besides their tensors; without this table, no kernel asks for scratch memory.
    pub scratch: Option<ScratchTable>,
}

/// A model that was read.
#[derive(Clone, Debug)]
pub struct ReadModel {
    /// The network.
    pub model: Model,
    /// Sentences for the user about what was ignored, assumed or left alone.
    pub notes: Vec<String>,
    /// Operators whose scratch memory is not known, each once.
    pub unmeasured: Vec<String>,
    /// What the runtime keeps in its arena beside tensors and scratch memory.
    pub tail: Tail,
}

/// Whether the first bytes of a file are those of a `.tflite` file.
pub fn is_tflite(head: &[u8]) -> bool {
    head.get(4..8) == Some(SIGNATURE)
}

/// Reads a model.
pub fn read(source: &dyn ReadAt, options: &Options) -> Result<ReadModel, ReadError> {
    let window = Window::new(source);
    check_signature(&window)?;
    let root = Table::root(&window)?;
    check_version(&root)?;
    let context = Context::new(&root, options)?;
    let mut graphs = IndexVec::<GraphId, Graph>::default();
    let mut notes = Notes::default();
    let mut runtime = Runtime::default();
    for subgraph in root.tables(field::SUBGRAPHS)? {
        graphs.push(context.graph(&subgraph, &mut notes, &mut runtime)?);
    }
    if graphs.is_empty() {
        return Err(ReadError::at_byte("tflite::no-subgraph", root.offset(), "the model has no subgraph"));
    }
    let count = graphs.len();
    // An operator names its bodies by number, and a damaged file may name a subgraph that does not exist. The code that
    // uses the model looks bodies up without a check, so such a file is refused here.
    // A subgraph may also run itself, or run others so often that the model has no end. That is found where the
    // subgraphs are gone through (`Timeline::new`), before anything is planned.
    for op in graphs.iter().flat_map(|graph| graph.ops.iter()) {
        if let Some(body) = op.bodies.iter().find(|body| body.index() >= count) {
            let message = format!("{} runs subgraph {}, and there are {count}", op.kind, body.index());
            return Err(ReadError::at_byte("tflite::bad-index", root.offset(), message));
        }
    }
    // A note lists all tensors or operators that it is about, whichever graph they are in. So notes are made last.
    let mut notes = notes.lines();
    notes.extend(context.unused_rows(&graphs));
    let tail = runtime.records.tail(runtime.unknown);
    let model = Model { graphs, alignment: ALIGNMENT };
    Ok(ReadModel { model, notes, unmeasured: runtime.unmeasured, tail })
}

/// What the runtime needs for the model besides its tensors, collected while the model is read.
#[derive(Default)]
struct Runtime {
    /// The sizes that make up the tail of the arena.
    records: Records,
    /// Operators whose scratch memory is not known.
    unmeasured: Vec<String>,
    /// Operators of which it is not known what they keep.
    unknown: Vec<String>,
}

/// Adds a name to a list if the list does not have it yet. A list has at most one entry for each kind of operator, so
/// looking through all of it is fast enough.
fn note_once(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|other| other == name) {
        names.push(name.to_owned());
    }
}

impl Runtime {
    /// Adds what an operator of this kind needs; `descriptions` are the bytes of the descriptions that the runtime
    /// makes of its tensors. Returns the sizes of its scratch buffers; none if they are not known.
    fn add(&mut self, kind: &str, needs: Needs, descriptions: u64) -> Vec<Bytes> {
        if needs.scratch.is_none() {
            note_once(&mut self.unmeasured, kind);
        }
        if needs.kept.is_none() {
            note_once(&mut self.unknown, kind);
        }
        let kept = Kept::new(kind, needs.kept.unwrap_or_default());
        // Each of these operators makes a handle of a variable, for which the runtime keeps a record.
        self.records.handles += usize::from(kind == "VAR_HANDLE");
        let scratch = needs.scratch.unwrap_or_default();
        self.records.add(kept, descriptions, scratch.len());
        scratch
    }
}

/// The numbers of the fields that are read, by table. A flatbuffer has no names of fields; the schema of TensorFlow
/// Lite says which number means what.
pub(super) mod field {
    pub(in super::super) const VERSION: u16 = 0;
    pub(in super::super) const OPERATOR_CODES: u16 = 1;
    pub(in super::super) const SUBGRAPHS: u16 = 2;
    pub(in super::super) const BUFFERS: u16 = 4;
    pub(in super::super) const METADATA: u16 = 6;

    pub(in super::super) mod subgraph {
        pub(in super::super::super) const TENSORS: u16 = 0;
        pub(in super::super::super) const INPUTS: u16 = 1;
        pub(in super::super::super) const OUTPUTS: u16 = 2;
        pub(in super::super::super) const OPERATORS: u16 = 3;
        pub(in super::super::super) const NAME: u16 = 4;
    }

    pub(in super::super) mod tensor {
        pub(in super::super::super) const SHAPE: u16 = 0;
        pub(in super::super::super) const TYPE: u16 = 1;
        pub(in super::super::super) const BUFFER: u16 = 2;
        pub(in super::super::super) const NAME: u16 = 3;
        pub(in super::super::super) const QUANTIZATION: u16 = 4;
        pub(in super::super::super) const IS_VARIABLE: u16 = 5;
        pub(in super::super::super) const SHAPE_SIGNATURE: u16 = 7;
    }

    pub(in super::super) mod quantization {
        pub(in super::super::super) const SCALE: u16 = 2;
        pub(in super::super::super) const ZERO_POINT: u16 = 3;
    }

    pub(in super::super) mod operator {
        pub(in super::super::super) const CODE: u16 = 0;
        pub(in super::super::super) const INPUTS: u16 = 1;
        pub(in super::super::super) const OUTPUTS: u16 = 2;
        pub(in super::super::super) const OPTIONS_TYPE: u16 = 3;
        pub(in super::super::super) const OPTIONS: u16 = 4;
        pub(in super::super::super) const LARGE_CUSTOM_OPTIONS: u16 = 9;
        /// Fields of one byte: numbers of options and of their format.
        pub(in super::super::super) const BYTES: [u16; 3] = [OPTIONS_TYPE, 6, 11];
        /// Options, custom options, lists of variables and of intermediate tensors, newer options.
        pub(in super::super::super) const POINTERS: [u16; 5] = [OPTIONS, 5, 7, 8, 12];
    }

    pub(in super::super) mod operator_code {
        pub(in super::super::super) const OLD_BUILTIN: u16 = 0;
        pub(in super::super::super) const CUSTOM: u16 = 1;
        pub(in super::super::super) const VERSION: u16 = 2;
        pub(in super::super::super) const BUILTIN: u16 = 3;
    }

    pub(in super::super) mod buffer {
        pub(in super::super::super) const DATA: u16 = 0;
        pub(in super::super::super) const OFFSET: u16 = 1;
        pub(in super::super::super) const SIZE: u16 = 2;
    }

    pub(in super::super) mod metadata {
        pub(in super::super::super) const NAME: u16 = 0;
        pub(in super::super::super) const BUFFER: u16 = 1;
    }
}

/// Checks the identifier that every .tflite file has after its first four bytes.
pub(super) fn check_signature(window: &Window) -> Result<(), ReadError> {
    if window.size() < 8 {
        let message = format!("a file of {} bytes is too short for a model", window.size());
        return Err(ReadError::at_byte("model::truncated", 0, message).help("the file is cut off or damaged"));
    }
    let found = window.bytes(4, 4)?;
    if found == SIGNATURE {
        return Ok(());
    }
    let found: String = found.escape_ascii().map(char::from).collect();
    let message = format!("expected the identifier TFL3, found `{found}`: this is no .tflite model");
    Err(ReadError::at_byte("tflite::wrong-identifier", 4, message).help("choose another format with --format"))
}

/// Checks the version of the schema.
pub(super) fn check_version(root: &Table) -> Result<(), ReadError> {
    match root.u32(field::VERSION)? {
        VERSION => Ok(()),
        other => {
            let message = format!("the model has version {other} of the schema, and only {VERSION} can be read");
            Err(ReadError::at_byte("tflite::version", root.offset(), message)
                .help("convert the model again with a current converter"))
        }
    }
}

/// Operators that run subgraphs, like `WHILE`, but do not exist in TensorFlow Lite Micro. What they do to tensors is
/// that they read and write their own ones; their subgraphs are not read.
const RUNS_UNKNOWN: [&str; 3] = ["STABLEHLO_WHILE", "STABLEHLO_CASE", "STABLEHLO_COMPOSITE"];

/// The names of tensors that the user is told about, in one note for each reason.
#[derive(Default)]
struct Notes {
    /// Tensors whose size is known only when the model runs.
    runtime: Vec<String>,
    /// Tensors whose shape may be changed at run time.
    signatures: Vec<String>,
    /// Tensors that are read but never written.
    unwritten: Vec<String>,
    /// Kinds of operators that run subgraphs of which nothing is read here.
    runs_unknown: Vec<String>,
}

impl Notes {
    /// One sentence for each reason that has tensors.
    fn lines(self) -> Vec<String> {
        let runtime = line(&self.runtime, "left to the runtime, because the size is known only when it runs");
        let signatures =
            line(&self.signatures, "planned for the shape in the file, though it may be changed at run time");
        let unwritten = line(&self.unwritten, "read, but neither an input nor written by any operator");
        let what = "the tensors of the subgraphs that these operators run are not in the plan";
        runtime.into_iter().chain(signatures).chain(unwritten).chain(line(&self.runs_unknown, what)).collect()
    }
}

/// What the graphs of a model share.
struct Context {
    /// The names of the operators, by the number of their operator code.
    kinds: Vec<String>,
    /// Whether each buffer of the file has content.
    filled: Vec<bool>,
    /// How much memory kernels ask for.
    table: ScratchTable,
}

impl Context {
    /// Reads the operator codes and the buffers of a model.
    fn new(root: &Table, options: &Options) -> Result<Context, ReadError> {
        let codes = root.tables(field::OPERATOR_CODES)?;
        let kinds = codes.iter().map(kind).collect::<Result<_, _>>()?;
        let buffers = root.tables(field::BUFFERS)?;
        let filled = buffers.iter().map(has_content).collect::<Result<_, _>>()?;
        let table = options.scratch.clone().unwrap_or_else(ScratchTable::none);
        Ok(Context { kinds, filled, table })
    }

    /// Reads one subgraph. Notes for the user and what the runtime needs are added to `notes` and `runtime`.
    fn graph(&self, table: &Table, notes: &mut Notes, runtime: &mut Runtime) -> Result<Graph, ReadError> {
        let tables = table.tables(field::subgraph::TENSORS)?;
        let names = tables.iter().map(|tensor| tensor.string(field::tensor::NAME)).collect::<Result<_, _>>()?;
        let mut tensors = IndexVec::<TensorId, Tensor>::default();
        // Names of tensors may be missing or repeated. Plans refer to buffers by name, so each one gets a name of its
        // own.
        for (tensor, name) in tables.iter().zip(unique_names(names, "tensor")) {
            tensors.push(self.tensor(tensor, name, notes)?);
        }
        let inputs = tensor_list(table, field::subgraph::INPUTS, tensors.len())?;
        let outputs = tensor_list(table, field::subgraph::OUTPUTS, tensors.len())?;
        let scales: IndexVec<TensorId, u64> = tables.iter().map(scales).collect();
        // Callers see the inputs and outputs of the first subgraph only. The runtime keeps records for these.
        if runtime.records.subgraphs.is_empty() {
            runtime.records.interface =
                [&inputs, &outputs].map(|tensors| tensors.iter().map(|&tensor| scales[tensor]).collect());
        }
        let mut ops = IndexVec::<OpId, Op>::default();
        for operator in table.tables(field::subgraph::OPERATORS)? {
            if patience::is_over() {
                return Err(ReadError::stopped());
            }
            let op = self.op(&operator, &tensors, &scales, runtime)?;
            if RUNS_UNKNOWN.contains(&op.kind.as_str()) {
                note_once(&mut notes.runs_unknown, &op.kind);
            }
            ops.push(op);
        }
        runtime.records.subgraphs.push((tensors.len(), ops.len()));
        let variables = tensors.iter().filter(|tensor| tensor.home == Home::Persistent);
        runtime.records.variables.extend(variables.map(|tensor| tensor.bytes));
        let name = table.string(field::subgraph::NAME)?;
        let graph = Graph { name, tensors, ops, inputs, outputs };
        check_order(&graph, table.offset(), notes)?;
        Ok(graph)
    }

    /// Reads one tensor: its size, and where it lives.
    fn tensor(&self, table: &Table, name: String, notes: &mut Notes) -> Result<Tensor, ReadError> {
        let at = table.offset();
        let number = table.u8(field::tensor::TYPE)?;
        let Some((element, bits)) = element(number) else {
            let message = format!("tensor `{name}` has element type {number}, which is not known");
            return Err(ReadError::at_byte("tflite::element-type", at, message));
        };
        let dimensions = table.i32s(field::tensor::SHAPE)?;
        let signature = table.i32s(field::tensor::SHAPE_SIGNATURE)?;
        // The number -1 is a dimension that is only known at run time. Other negative numbers cannot occur in a valid
        // file.
        if let Some(negative) = dimensions.iter().find(|&&dimension| dimension < -1) {
            let message = format!("tensor `{name}` has a dimension of {negative}");
            return Err(ReadError::at_byte("tflite::negative-dimension", at, message)
                .help("the file is damaged: a dimension is at least 0, or -1 where it is not known"));
        }
        // 0 bits: strings and resources, whose size is not known. Such a tensor, or one of unknown shape, gets its
        // memory from the runtime while it runs, so it has no bytes in a plan.
        let is_known = bits > 0 && dimensions.iter().all(|&dimension| dimension >= 0);
        let shape: Vec<u64> = dimensions.iter().map(|&dimension| u64::try_from(dimension).unwrap_or(0)).collect();
        let bytes = if is_known {
            shape_bytes(&shape, bits).ok_or_else(|| {
                let message = format!("tensor `{name}` of shape {shape:?} is too large to be planned");
                ReadError::at_byte("tflite::too-large", at, message)
            })?
        } else {
            Bytes::ZERO
        };
        let home = self.home(table, is_known)?;
        match home {
            // The user is told about a tensor that gets no memory in the plan.
            Home::Runtime => notes.runtime.push(name.clone()),
            // A shape may be fixed in the file although the signature leaves it open. The plan then only holds for this
            // shape, which the user is told.
            Home::Arena if signature.contains(&-1) => notes.signatures.push(name.clone()),
            // Nothing is assumed about constants, variables and other tensors of the arena.
            _ => {}
        }
        Ok(Tensor { name, element, shape, bytes, home })
    }

    /// Where a tensor lives: in the file if its buffer has content, in memory of its own if it keeps a value from run
    /// to run, else in the arena. A tensor without a known size is left to the runtime.
    fn home(&self, table: &Table, is_known: bool) -> Result<Home, ReadError> {
        let buffer = table.u32(field::tensor::BUFFER)? as usize;
        let Some(&is_filled) = self.filled.get(buffer) else {
            // If the model has no list of buffers, it has no constants. Its tensors then name buffer 0, the default.
            if buffer == 0 {
                return Ok(if is_known { Home::Arena } else { Home::Runtime });
            }
            let message = format!("a tensor names buffer {buffer}, and there are {}", self.filled.len());
            return Err(ReadError::at_byte("tflite::bad-index", table.offset(), message));
        };
        Ok(match () {
            () if is_filled => Home::File,
            () if table.u8(field::tensor::IS_VARIABLE)? != 0 => Home::Persistent,
            () if !is_known => Home::Runtime,
            () => Home::Arena,
        })
    }

    /// Reads one operator: the tensors it reads and writes, the memory its kernel asks for besides them (`scratch`
    /// while it runs, `kept` for good), and the graphs it calls (`bodies`). `scales` has the number of scales of each
    /// tensor's quantisation.
    fn op(
        &self,
        table: &Table,
        tensors: &IndexVec<TensorId, Tensor>,
        scales: &IndexVec<TensorId, u64>,
        runtime: &mut Runtime,
    ) -> Result<Op, ReadError> {
        let code = table.u32(field::operator::CODE)? as usize;
        let Some(kind) = self.kinds.get(code) else {
            let message = format!("an operator has code {code}, and there are {}", self.kinds.len());
            return Err(ReadError::at_byte("tflite::bad-index", table.offset(), message));
        };
        let input_places = tensor_places(table, field::operator::INPUTS, tensors.len())?;
        let output_places = tensor_places(table, field::operator::OUTPUTS, tensors.len())?;
        let options = table.table(field::operator::OPTIONS);
        // The table of scratch memory asks whether an option is set, by the number of its field. An option that cannot
        // be read counts as not set, which is its default. For operators with bodies a damaged table is an error below.
        let readable = options.as_ref().ok().and_then(Option::as_ref);
        let [inputs, outputs] = [&input_places, &output_places].map(|places| arguments(places, tensors, scales));
        let scales = inputs.iter().chain(&outputs).flatten().map(|argument| argument.scales);
        let descriptions = descriptions(kind, scales);
        let needs = self.table.needs(&Operator {
            kind: kind.as_str(),
            inputs,
            outputs,
            is_on: &|field| readable.is_some_and(|options| options.u8(field).is_ok_and(|value| value != 0)),
        });
        let kept = kept_bytes(&needs);
        let scratch = runtime.add(kind, needs, descriptions);
        let inputs: Vec<TensorId> = input_places.into_iter().flatten().collect();
        let outputs: Vec<TensorId> = output_places.into_iter().flatten().collect();
        // How many subgraphs the operator runs: two branches, a condition and a body, or one.
        let (bodies, control) = match kind.as_str() {
            "IF" => (bodies(options?.as_ref(), 2)?, Control::Once),
            "WHILE" => (bodies(options?.as_ref(), 2)?, Control::WhileThroughOutputs),
            "CALL_ONCE" | "CALL" => (bodies(options?.as_ref(), 1)?, Control::Once),
            // Those of `RUNS_UNKNOWN` are named in a note. The subgraphs of a `STABLEHLO_REDUCE`, `STABLEHLO_SORT` and
            // the like compute on scalars, and no other operator runs any. A damaged table of their options is no
            // error, because nothing else is read from it.
            _ => (Vec::new(), Control::Once),
        };
        // A stateful operator does more than compute its outputs, so it may not be moved, repeated or left out. Custom
        // operators and called graphs may do anything.
        let touches_state = inputs.iter().chain(&outputs).any(|&id| tensors[id].home == Home::Persistent);
        let is_custom = !is_builtin(kind);
        let is_stateful = touches_state || is_custom || !bodies.is_empty() || has_effect(kind);
        let in_place = in_place(kind, &inputs, &outputs, tensors);
        Ok(Op {
            kind: kind.clone(),
            name: String::new(),
            inputs,
            outputs,
            scratch,
            kept,
            in_place,
            bodies,
            control,
            is_stateful,
        })
    }
}

impl Context {
    /// A note that names the rows of the user's table for operators that the model does not have; `None` if there are
    /// none.
    fn unused_rows(&self, graphs: &IndexVec<GraphId, Graph>) -> Option<String> {
        let is_in_model = |kind: &str| graphs.iter().flat_map(|graph| graph.ops.iter()).any(|op| op.kind == kind);
        let unused = self.table.unused(is_in_model);
        let names = unused.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        (!unused.is_empty())
            .then(|| format!("rows of the scratch table for operators that the model does not have: {names}"))
    }
}

/// The bytes that a kernel keeps, each request rounded up to its alignment; 0 if that is not known. A request near 2^64
/// bytes, which no table has, counts as 0.
fn kept_bytes(needs: &Needs) -> Bytes {
    let requests = needs.kept.iter().flatten();
    let rounded = requests.map(|(size, alignment)| size.0.checked_next_multiple_of(alignment.0.max(1)).unwrap_or(0));
    Bytes(rounded.fold(0, u64::saturating_add))
}

/// How many scales a tensor has: one for all elements, or one for each channel; 0 if it is not quantised. The runtime
/// takes a tensor without zero points for one that is not quantised. A quantisation that cannot be read counts as none:
/// only the size of a record of the runtime depends on it.
fn scales(tensor: &Table) -> u64 {
    let length = |table: &Table, field: u16, width: u64| table.vector(field, width).map_or(0, |vector| vector.len());
    let Ok(Some(quantization)) = tensor.table(field::tensor::QUANTIZATION) else { return 0 };
    let scales = length(&quantization, field::quantization::SCALE, 4);
    let zero_points = length(&quantization, field::quantization::ZERO_POINT, 8);
    if zero_points == 0 { 0 } else { scales }
}

/// Whether an operator is one that this program knows: neither custom nor with a number that has no name here.
fn is_builtin(kind: &str) -> bool {
    !kind.starts_with("CUSTOM") && !kind.starts_with("OPERATOR_")
}

/// The name of an operator code. The first field for its number is a signed byte,
/// which became too small; newer files have a second field. The larger of the two
/// numbers counts.
pub(super) fn kind(code: &Table) -> Result<String, ReadError> {
    let old = i32::from(code.u8(field::operator_code::OLD_BUILTIN)? as i8);
    let number = old.max(code.i32(field::operator_code::BUILTIN)?);
    match operator(number) {
        Some("CUSTOM") => Ok(format!("CUSTOM {}", code.string(field::operator_code::CUSTOM)?)),
        Some(name) => Ok(name.to_owned()),
        None => Ok(format!("OPERATOR_{number}")),
    }
}

/// Whether a buffer has content: in its table, or after all tables of the file.
fn has_content(buffer: &Table) -> Result<bool, ReadError> {
    Ok(buffer.vector(field::buffer::DATA, 1)?.len() > 0 || buffer.u64(field::buffer::SIZE)? > 0)
}

/// The tensors that a field lists by number; `count` is how many there are. Tensors that are left out do not appear.
fn tensor_list(table: &Table, field: u16, count: usize) -> Result<Vec<TensorId>, ReadError> {
    Ok(tensor_places(table, field, count)?.into_iter().flatten().collect())
}

/// A note about tensors, of which it names the first five; `None` if there are no tensors. `what` says what is the
/// matter with them.
fn line(names: &[String], what: &str) -> Option<String> {
    let shown = names.iter().take(5).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let more = names.len().saturating_sub(5);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!names.is_empty()).then(|| format!("{what}: {shown}{more}"))
}

/// The tensors that a field lists by number; `None` for an optional one that is left out (-1 in the file). `count` is
/// how many tensors there are; another number is an error.
fn tensor_places(table: &Table, field: u16, count: usize) -> Result<Vec<Option<TensorId>>, ReadError> {
    let places = super::description::places(table, field, count)?;
    Ok(places.into_iter().map(|place| place.map(TensorId::from_index)).collect())
}

/// The tensors of an operator with the numbers of their scales, as [`ScratchTable::needs`] takes them.
fn arguments<'a>(
    places: &[Option<TensorId>],
    tensors: &'a IndexVec<TensorId, Tensor>,
    scales: &IndexVec<TensorId, u64>,
) -> Vec<Option<Argument<'a>>> {
    places.iter().map(|place| place.map(|id| Argument { tensor: &tensors[id], scales: scales[id] })).collect()
}

/// The subgraphs that an operator runs: the first `count` fields of its options are their numbers.
fn bodies(options: Option<&Table>, count: u16) -> Result<Vec<GraphId>, ReadError> {
    (0..count).map(|field| body(options, field)).collect()
}

/// A subgraph that an operator runs; an absent field means subgraph 0.
fn body(options: Option<&Table>, field: u16) -> Result<GraphId, ReadError> {
    let number = options.map_or(Ok(0), |options| options.i32(field))?;
    let graph = usize::try_from(number).ok().map(GraphId::from_index);
    graph.ok_or_else(|| {
        let at = options.map_or(0, Table::offset);
        ReadError::at_byte("tflite::bad-index", at, format!("an operator runs subgraph {number}"))
    })
}

/// The pairs of an output and an input such that the output may be written over the input: for operators with one
/// output that are elementwise (any input) or only change the shape (their first input).
fn in_place(
    kind: &str,
    inputs: &[TensorId],
    outputs: &[TensorId],
    tensors: &IndexVec<TensorId, Tensor>,
) -> Vec<(TensorId, TensorId)> {
    let &[output] = outputs else { return Vec::new() };
    let candidates = match kind {
        _ if RESHAPES.contains(&kind) => &inputs[..inputs.len().min(1)],
        _ if ELEMENTWISE.contains(&kind) => inputs,
        _ => return Vec::new(),
    };
    let fitting = candidates.iter().filter(|&&input| may_overwrite(&tensors[output], &tensors[input]));
    fitting.map(|&input| (output, input)).collect()
}

/// Whether an output may be written over an input: both have the same element type and size, and the input is in the
/// arena.
fn may_overwrite(output: &Tensor, input: &Tensor) -> bool {
    input.element == output.element && input.bytes == output.bytes && input.home == Home::Arena
}

/// Checks that every tensor is written before it is read, and only once: operators run in the order in which
/// they stand. A tensor that is read and never written is no error, but gets a note. `at` is the place in the file for
/// errors.
fn check_order(graph: &Graph, at: u64, notes: &mut Notes) -> Result<(), ReadError> {
    let mut writer = IndexVec::<TensorId, Option<OpId>>::filled(None, graph.tensors.len());
    // First all writers, then all readers: an operator may read a tensor whose writer stands later, and that is
    // the mistake to be found.
    for (id, op) in graph.ops.iter_enumerated() {
        for &output in &op.outputs {
            if writer[output].replace(id).is_some() {
                let message = format!("tensor `{}` is written by two operators", graph.tensors[output].name);
                return Err(ReadError::at_byte("tflite::written-twice", at, message));
            }
        }
    }
    // Tensors for which no note is needed: the inputs, and tensors that already have one.
    let mut is_expected = IndexVec::<TensorId, bool>::filled(false, graph.tensors.len());
    graph.inputs.iter().for_each(|&input| is_expected[input] = true);
    for (id, op) in graph.ops.iter_enumerated() {
        for input in &op.inputs {
            let tensor = &graph.tensors[*input];
            match writer[*input] {
                Some(producer) if producer >= id => {
                    let message = format!(
                        "operator {} ({}) reads tensor `{}`, which operator {} ({}) writes later: the graph is cyclic or \
                         out of order",
                        id.index(),
                        op.kind,
                        tensor.name,
                        producer.index(),
                        graph.ops[producer].kind,
                    );
                    return Err(ReadError::at_byte("tflite::cycle", at, message));
                }
                // Nobody writes this tensor, and it is no input. Its content is whatever happens to be in memory.
                None if tensor.home == Home::Arena && tensor.bytes.0 > 0 && !is_expected[*input] => {
                    is_expected[*input] = true;
                    notes.unwritten.push(tensor.name.clone());
                }
                // Written before it is read, an input, a constant, a variable, or without bytes.
                _ => {}
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_axis_does_not_overwrite_its_operand() {
        let mut tensors = IndexVec::<TensorId, Tensor>::default();
        let [data, axis, result] = ["data", "axis", "result"].map(|name| {
            let (name, shape) = (name.to_owned(), vec![1]);
            tensors.push(Tensor { name, element: "INT32", shape, bytes: Bytes(4), home: Home::Arena })
        });
        assert_eq!(in_place("EXPAND_DIMS", &[data, axis], &[result], &tensors), [(result, data)]);
        assert_eq!(in_place("ADD", &[data, axis], &[result], &tensors), [(result, data), (result, axis)]);
    }
}
