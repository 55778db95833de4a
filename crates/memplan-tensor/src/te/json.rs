//! The `.te.json` description: operations, outputs, arguments and a schedule.
//!
//! ```json
//! {"syms": ["n"],
//!  "ops": [{"placeholder": "A", "shape": ["n"], "dtype": "float32"},
//!          {"compute": "B", "shape": ["n"], "axes": ["i"], "expr": "A[i]+1.0"},
//!          {"extern": "C", "inputs": ["B"], "outputs": [{"shape": ["n"], "dtype": "float32"}], "call": "f"}],
//!  "outputs": ["C"], "args": ["A", "C"],
//!  "schedule": [{"do": "set_scope", "stage": "B", "scope": "global"}]}
//! ```
//!
//! `"reduce": [["k", 16]]` with `"combiner"` makes a compute operation a reduction, `"exprs"` gives it several outputs,
//! `"script"` instead of `"call"` gives an extern operation (or a `"hybrid"` one, which is lowered alike) a TVMScript
//! body. `"syms"` are sizes that are known only when the program runs; extents may be expressions of them.

use super::combine::{Combiner, Fold};
use super::directive::Directive;
use super::error::GraphError;
use super::graph::{AxisKind, Body, Graph, IterId, OpId, OutputSpec};
use super::parse::{Names, ParseError, parse};
use crate::DType;
use crate::ir::{BufId, Expr, VarId};
use memplan_core::Span;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A graph with everything needed to lower it.
#[derive(Clone, Debug)]
pub struct Network {
    /// The operations.
    pub graph: Graph,
    /// What the schedule is made for.
    pub outputs: Vec<OpId>,
    /// The parameters of the function; sizes follow them.
    pub args: Vec<BufId>,
    /// How it is to be computed.
    pub directives: Vec<Directive>,
}

/// Why a description cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadTeError {
    /// No JSON.
    #[error("not JSON: {message}")]
    Syntax {
        /// One-based line.
        line: usize,
        /// One-based column.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// Something missing or of the wrong kind.
    #[error("{path}: {message}")]
    Field {
        /// Which: `ops[2].shape`.
        path: String,
        /// What is wrong with it.
        message: String,
    },
    /// An element expression.
    #[error("{path}: {message} (at character {at} of `{text}`)")]
    Expression {
        /// Which: `ops[2].expr`.
        path: String,
        /// What is wrong with it.
        message: String,
        /// One-based position in the expression.
        at: usize,
        /// The expression.
        text: String,
    },
    /// A graph that makes no sense.
    #[error("{path}: {error}")]
    Graph {
        /// Which operation.
        path: String,
        /// What is wrong.
        error: GraphError,
    },
}

impl ReadTeError {
    /// Where in the text that was read the mistake is; the whole value at fault, as far as it can be found.
    pub fn span(&self, text: &str) -> Span {
        match self {
            ReadTeError::Syntax { line, column, .. } => {
                // Line and column as a byte of the text. A column may point into the middle of a character.
                let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
                let mut at = start.saturating_add(column.saturating_sub(1)).min(text.len());
                while !text.is_char_boundary(at) {
                    at -= 1;
                }
                Span::new(at, at)
            }
            ReadTeError::Field { path, .. }
            | ReadTeError::Expression { path, .. }
            | ReadTeError::Graph { path, .. } => super::locate::locate(text, path),
        }
    }
}

type Read<T> = Result<T, ReadTeError>;

/// A JSON object of the description, and where it stands, for messages. Its methods read fields by their keys; a
/// missing field, or one of the wrong type, is an error with its path. A field that is `null` counts as missing.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    object: &'a Map<String, Value>,
    place: Place<'a>,
}

/// Where an object stands: it is the description itself, or a member of one of its lists (the list's key and the
/// position).
#[derive(Clone, Copy)]
enum Place<'a> {
    Top,
    Item(&'a str, usize),
}

impl Place<'_> {
    /// The path of a field of the object: `ops[2].shape`.
    fn path(self, key: &str) -> String {
        match self {
            Place::Top => key.to_owned(),
            Place::Item(list, index) => format!("{list}[{index}].{key}"),
        }
    }
}

impl<'a> Entry<'a> {
    /// An error about the field `key`.
    pub(super) fn wrong(&self, key: &str, message: impl Into<String>) -> ReadTeError {
        ReadTeError::Field { path: self.place.path(key), message: message.into() }
    }

    /// The field `key`, if it is there and not `null`.
    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.object.get(key).filter(|value| !value.is_null())
    }

    /// The field `key`, which must be there.
    fn need(&self, key: &str) -> Read<&'a Value> {
        self.get(key).ok_or_else(|| self.wrong(key, "is missing"))
    }

    pub(super) fn text(&self, key: &str) -> Read<String> {
        self.need(key)?.as_str().map(str::to_owned).ok_or_else(|| self.wrong(key, "is not a string"))
    }

    fn list(&self, key: &str) -> Read<&'a [Value]> {
        self.need(key)?.as_array().map(Vec::as_slice).ok_or_else(|| self.wrong(key, "is not a list"))
    }

    fn list_or_empty(&self, key: &str) -> Read<&'a [Value]> {
        if self.get(key).is_none() { Ok(&[]) } else { self.list(key) }
    }

    /// A field that is a list of strings.
    pub(super) fn texts(&self, key: &str) -> Read<Vec<String>> {
        let each =
            |item: &Value| item.as_str().map(str::to_owned).ok_or_else(|| self.wrong(key, "is not a list of strings"));
        self.list(key)?.iter().map(each).collect()
    }

    pub(super) fn number(&self, key: &str) -> Read<i64> {
        self.need(key)?.as_i64().ok_or_else(|| self.wrong(key, "is not an integer"))
    }
}

/// Reads a description from its text. Of an object with a `program` field only that field is read.
pub fn read(text: &str) -> Result<Network, ReadTeError> {
    let value: Value = serde_json::from_str(text).map_err(|error| ReadTeError::Syntax {
        line: error.line(),
        column: error.column(),
        message: error.to_string(),
    })?;
    read_value(&value)
}

/// Whether a JSON text looks like a description of tensor operations.
pub fn sniff(text: &str) -> bool {
    text.trim_start().starts_with('{') && text.contains("\"ops\"") && text.contains("\"placeholder\"")
}

/// An error about the description as a whole.
fn wrong(message: &str) -> ReadTeError {
    ReadTeError::Field { path: "the description".to_owned(), message: message.to_owned() }
}

/// Reads a description from parsed JSON.
pub fn read_value(value: &Value) -> Result<Network, ReadTeError> {
    // A record of a test holds the description as `program`, beside the expected results. Only the description is read.
    let value = value.get("program").unwrap_or(value);
    let object = value.as_object().ok_or_else(|| wrong("is not an object"))?;
    let top = Entry { object, place: Place::Top };
    let mut reader = Reader { graph: Graph::new(), symbols: BTreeMap::new() };
    // Sizes come first, because shapes and expressions of all operations mention them.
    for symbol in if top.get("syms").is_some() { top.texts("syms")? } else { Vec::new() } {
        let var = reader.graph.symbol(&symbol);
        if reader.symbols.insert(symbol, var).is_some() {
            return Err(top.wrong("syms", "names a size twice"));
        }
    }
    // Operations are read in order: each may only read tensors of those before it, which also rules out cycles.
    for (index, op) in top.list("ops")?.iter().enumerate() {
        let place = Place::Item("ops", index);
        let object = op.as_object().ok_or_else(|| wrong("has an operation that is not an object"))?;
        reader.op(Entry { object, place })?;
    }
    let outputs = reader.outputs(&top)?;
    let args = reader.args(&top)?;
    let mut directives = Vec::new();
    for (index, directive) in top.list_or_empty("schedule")?.iter().enumerate() {
        let object = directive.as_object().ok_or_else(|| wrong("has a directive that is not an object"))?;
        directives.push(Directive::read(&Entry { object, place: Place::Item("schedule", index) })?);
    }
    Ok(Network { graph: reader.graph, outputs, args, directives })
}

/// The graph that has been read so far, and the sizes by name.
struct Reader {
    graph: Graph,
    symbols: BTreeMap<String, VarId>,
}

impl Reader {
    /// Reads one operation of the list and adds it to the graph. Its kind shows by the key that holds its name.
    fn op(&mut self, entry: Entry<'_>) -> Read<()> {
        if entry.get("placeholder").is_some() {
            let name = entry.text("placeholder")?;
            let (shape, dtype) = (self.shape(&entry)?, self.dtype(&entry)?);
            return self.graph.placeholder(&name, shape, dtype).map(|_| ()).map_err(at(&entry, "placeholder"));
        }
        if entry.get("compute").is_some() {
            return self.compute(&entry);
        }
        for key in ["extern", "hybrid"] {
            if entry.get(key).is_some() {
                return self.extern_op(&entry, key);
            }
        }
        Err(entry.wrong("placeholder", "is missing: an operation is a placeholder, compute, extern or hybrid"))
    }

    /// An extent of a description: a number, or an expression of named sizes such as `"n + 1"`.
    fn extent(&self, entry: &Entry<'_>, key: &str, value: &Value) -> Read<Expr> {
        // Extents are int32 values in the program.
        if let Some(number) = value.as_i64() {
            return match u32::try_from(number).ok().filter(|extent| i32::try_from(*extent).is_ok()) {
                Some(_) => Ok(Expr::int(number)),
                None => Err(entry.wrong(key, format!("{number} is no extent: it must be from 0 to 2^31 - 1"))),
            };
        }
        let name = value.as_str().ok_or_else(|| entry.wrong(key, "has an extent that is no integer and no size"))?;
        let names = Names { graph: &self.graph, vars: self.symbols.clone() };
        let extent = parse(name, &names).map_err(expression(entry, key, name))?;
        // An extent must not read tensors, call functions or be of another type than sizes are.
        let plain = extent.is_pure_arithmetic() && extent.dtype(&self.graph.tables) == DType::INT32;
        if plain {
            Ok(super::arith::simplify(&extent))
        } else {
            Err(entry.wrong(key, format!("`{name}` is no extent")))
        }
    }

    fn shape(&self, entry: &Entry<'_>) -> Read<Vec<Expr>> {
        entry.list("shape")?.iter().map(|extent| self.extent(entry, "shape", extent)).collect()
    }

    /// Reads the field `dtype`, which is `float32` if it is left out.
    fn dtype(&self, entry: &Entry<'_>) -> Read<DType> {
        if entry.get("dtype").is_none() {
            return Ok(DType::FLOAT32);
        }
        entry.text("dtype")?.parse().map_err(|error: crate::ParseDTypeError| entry.wrong("dtype", error.to_string()))
    }

    /// Reads an operation that says how each element is computed, such as
    /// `{"compute": "S", "shape": [8], "axes": ["i"], "reduce": [["k", 16]], "combiner": "sum", "expr": "A[i, k]"}`.
    fn compute(&mut self, entry: &Entry<'_>) -> Read<()> {
        let name = entry.text("compute")?;
        let shape = self.shape(entry)?;
        let axis_names = if entry.get("axes").is_some() { entry.texts("axes")? } else { default_axes(shape.len()) };
        if axis_names.len() != shape.len() {
            return Err(entry.wrong("axes", format!("names {} axes for {} dimensions", axis_names.len(), shape.len())));
        }
        // `vars` are the names that the operation's expressions may use: sizes, and then its axes.
        let mut vars = self.symbols.clone();
        // An axis may be called like a size, which it hides. Two axes of one name would leave open which is meant.
        let mut named = BTreeSet::new();
        if let Some(twice) = axis_names.iter().find(|name| !named.insert((*name).clone())) {
            return Err(entry.wrong("axes", format!("`{twice}` is the name of two axes")));
        }
        let axes = self.add_axes(axis_names.into_iter().zip(shape).collect(), AxisKind::Data, &mut vars);
        // Reduce axes come as pairs of a name and an extent.
        let mut reduced = Vec::new();
        for pair in entry.list_or_empty("reduce")? {
            let pair = pair.as_array().and_then(|pair| Some((pair.first()?.as_str()?.to_owned(), pair.get(1)?)));
            let (axis, extent) = pair.ok_or_else(|| entry.wrong("reduce", "is not a list like [[\"k\", 16]]"))?;
            if !named.insert(axis.clone()) {
                return Err(entry.wrong("reduce", format!("`{axis}` is the name of two axes")));
            }
            reduced.push((axis, self.extent(entry, "reduce", extent)?));
        }
        let reduce_axes = self.add_axes(reduced, AxisKind::Reduce, &mut vars);
        let body = self.body(entry, vars, reduce_axes.is_empty())?;
        self.graph.add_compute(&name, axes, reduce_axes, body).map(|_| ()).map_err(at(entry, "compute"))
    }

    /// Adds axes (name and extent) to the graph, and their names to `vars`.
    fn add_axes(
        &mut self,
        axes: Vec<(String, Expr)>,
        kind: AxisKind,
        vars: &mut BTreeMap<String, VarId>,
    ) -> Vec<IterId> {
        let named: Vec<(&str, Expr)> = axes.iter().map(|(name, extent)| (name.as_str(), extent.clone())).collect();
        let made = self.graph.add_axes(&named, kind);
        for ((name, _), axis) in axes.iter().zip(&made) {
            vars.insert(name.clone(), self.graph.axes[*axis].var);
        }
        made
    }

    /// Reads the expressions of an operation, and for a reduction (not `plain`) its combiner and condition. The
    /// expressions may use the names in `vars`.
    fn body(&mut self, entry: &Entry<'_>, vars: BTreeMap<String, VarId>, plain: bool) -> Read<Body> {
        let (key, texts) = if entry.get("exprs").is_some() {
            ("exprs", entry.texts("exprs")?)
        } else {
            ("expr", vec![entry.text("expr")?])
        };
        let names = Names { graph: &self.graph, vars };
        let mut values = Vec::with_capacity(texts.len());
        for text in &texts {
            values.push(parse(text, &names).map_err(expression(entry, key, text))?);
        }
        // A condition belongs to a reduction: points of the reduce axes that do not satisfy it are left out. Any other
        // operation would drop it.
        if plain && entry.get("where").is_some() {
            return Err(entry.wrong("where", "is for reductions: this operation reduces nothing"));
        }
        let condition = match entry.get("where") {
            None => None,
            Some(_) => {
                let text = entry.text("where")?;
                Some(parse(&text, &names).map_err(expression(entry, "where", &text))?)
            }
        };
        if plain {
            return Ok(Body::Plain(values));
        }
        let fold = match entry.get("combiner") {
            None => Fold::Sum,
            Some(name) => name
                .as_str()
                .and_then(Fold::named)
                .ok_or_else(|| entry.wrong("combiner", "is not known: there are sum, max and min"))?,
        };
        // The combiner is made for the types of the values, because its identity (0, the smallest number, …) depends
        // on them.
        let dtypes: Vec<DType> = values.iter().map(|value| value.dtype(&self.graph.tables)).collect();
        let combiner = Combiner::fold(&mut self.graph, fold, &dtypes);
        Ok(Body::Reduce { combiner, sources: values, condition })
    }

    /// Reads a list of names of tensors.
    fn tensors(&self, entry: &Entry<'_>, key: &str) -> Read<Vec<BufId>> {
        let find = |name: String| {
            self.graph
                .tensor_named(&name)
                .ok_or_else(|| entry.wrong(key, format!("there is no tensor called `{name}`")))
        };
        entry.texts(key)?.into_iter().map(find).collect()
    }

    /// Reads an operation whose body is a call of a packed function or a script, for what tensor expressions cannot
    /// say. `key` is `extern` or `hybrid`, the key that holds its name.
    fn extern_op(&mut self, entry: &Entry<'_>, key: &str) -> Read<()> {
        let name = entry.text(key)?;
        let inputs = self.tensors(entry, "inputs")?;
        let mut outputs = Vec::new();
        for output in entry.list("outputs")? {
            let object = output.as_object().ok_or_else(|| entry.wrong("outputs", "is not a list of objects"))?;
            // Errors in an output are reported at the operation.
            let inner = Entry { object, place: entry.place };
            outputs.push(OutputSpec { shape: self.shape(&inner)?, dtype: self.dtype(&inner)? });
        }
        // A description has `script` or `call`. If it has both, the script counts.
        let made = if entry.get("script").is_some() {
            self.graph.extern_script(&name, inputs, outputs, &entry.text("script")?)
        } else {
            self.graph.extern_call(&name, inputs, outputs, &entry.text("call")?)
        };
        let op = made.map_err(at(entry, key))?;
        if key == "hybrid" {
            self.graph.call_hybrid(op);
        }
        Ok(())
    }

    /// Reads the operations whose tensors leave the network, each by its own name or by the name of one of its tensors.
    /// Each is listed once, however often it is named.
    fn outputs(&self, top: &Entry<'_>) -> Read<Vec<OpId>> {
        let mut outputs: Vec<OpId> = Vec::new();
        for name in top.texts("outputs")? {
            // The operation that makes the tensor of this name, such as `T` for `T.v1`.
            let tensor = || self.graph.tensor_named(&name).and_then(|tensor| self.graph.producer(tensor));
            let op = self.graph.op_named(&name).or_else(|| tensor().map(|(op, _)| op));
            let op = op.ok_or_else(|| top.wrong("outputs", format!("there is no operation called `{name}`")))?;
            if !outputs.contains(&op) {
                outputs.push(op);
            }
        }
        if outputs.is_empty() {
            return Err(top.wrong("outputs", "is empty"));
        }
        Ok(outputs)
    }

    /// Reads the arguments of the function; without a list they are all placeholders and then all outputs. The name of
    /// an operation with several outputs stands for all of them.
    fn args(&self, top: &Entry<'_>) -> Read<Vec<BufId>> {
        let names = if top.get("args").is_some() {
            top.texts("args")?
        } else {
            let placeholders = self.graph.ops.iter().filter(|op| op.kind == super::graph::OpKind::Placeholder);
            placeholders.map(|op| op.name.clone()).chain(top.texts("outputs")?).collect()
        };
        let mut args = Vec::new();
        for name in names {
            match (self.graph.tensor_named(&name), self.graph.op_named(&name)) {
                (Some(tensor), _) => args.push(tensor),
                (None, Some(op)) => args.extend(&self.graph.ops[op].outputs),
                (None, None) => return Err(top.wrong("args", format!("there is no tensor called `{name}`"))),
            }
        }
        Ok(args)
    }
}

/// The names of axes where the description gives none: `ax0`, `ax1`, ….
fn default_axes(count: usize) -> Vec<String> {
    (0..count).map(|axis| format!("ax{axis}")).collect()
}

/// A function that adds a place, the field `key` of an operation, to an error of the graph.
fn at(entry: &Entry<'_>, key: &str) -> impl FnOnce(GraphError) -> ReadTeError {
    let path = entry.place.path(key);
    move |error| ReadTeError::Graph { path, error }
}

/// A function that adds a place and the expression's text to an error of the expression parser. Positions in messages
/// count from 1.
fn expression(entry: &Entry<'_>, key: &str, text: &str) -> impl FnOnce(ParseError) -> ReadTeError {
    let (path, text) = (entry.place.path(key), text.to_owned());
    move |error| ReadTeError::Expression { path, message: error.message, at: error.at + 1, text }
}
