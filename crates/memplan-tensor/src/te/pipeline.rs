//! The whole life cycle of a tensor in one call, and every value on the way.
//!
//! A *description* is the text of a `.te.json` file; reading it gives a [`Network`]: a graph of tensor operations with
//! a schedule. The steps from there to a function whose buffers share memory are called *stages* here, by the names in
//! [`STAGES`] (a [`Schedule`] has stages of its own, one for each operation; those are meant only where it says so).
//! [`lower`] takes all steps, [`dump`] shows the value after one of them as text, and [`run_text`] executes it. The
//! picture in the documentation of the module `te` shows the order.

use super::bounds::{Bounds, infer_bounds};
use super::buffers::{PrimFunc, to_buffers};
use super::error::{LowerError, ScheduleError};
use super::flatten::{Flat, FlattenOptions, MemoryInfo, storage_flatten};
use super::graph_views::{AttachPath, FeedGraph, ReadGraph};
use super::json::{Network, ReadTeError, read};
use super::prepare::prepare;
use super::reference::{make_arguments, reference_function};
use super::schedule::Schedule;
use super::schedule_ops::schedule_ops;
use super::text::{Level, function_text, plain_name, with_plain_names};
use crate::interpret::{RunError, RunOptions, run};
use crate::ir::{BufId, Expr, Function};
use crate::rewrite::{Judge, Mode, RewriteError, RewriteOptions, Rewritten, events, linearize, storage_rewrite};
use crate::script::print_function;
use memplan_core::Span;
use std::collections::BTreeMap;

/// The stages that [`dump`] shows.
pub const STAGES: [(&str, &str); 10] = [
    ("graph", "operations, who reads what, and what feeds whom"),
    ("schedule", "stages in order, before and after normalisation, and the loops around them"),
    ("bounds", "how much of each operation is needed"),
    ("schedule-ops", "loops over tensors: realize and provide"),
    ("primfunc", "the same over buffers, as a function"),
    ("flat", "the same in one dimension"),
    ("prepared", "with lanes for vectorized loops and both halves of double buffers"),
    ("storage", "storage entries and allocations of the rewrite"),
    ("rewritten", "with shared memory"),
    ("facts", "all of it as JSON, for other tools"),
];

/// How to lower.
#[derive(Clone, Debug, Default)]
pub struct LowerOptions {
    /// Decide as the original (TVM) does, and fail where it fails.
    pub compat: bool,
    /// Tagged memories: their sizes and alignments.
    pub memories: Vec<MemoryInfo>,
    /// Bytes to which an allocation is aligned, unless the allocation is smaller; `None` means 64.
    pub alignment: Option<u64>,
    /// How storage is rewritten. With `compat` its mode is [`Mode::Compat`], whatever it says.
    pub rewrite: RewriteOptions,
}

/// Where the life cycle ended early.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LifeCycleError {
    /// The description cannot be read.
    #[error(transparent)]
    Read(#[from] ReadTeError),
    /// The schedule: a directive does not apply, or all of them together cannot be lowered.
    #[error("{}{error}", position(.directive))]
    Schedule {
        /// The position of the directive in the description; `None` if no single one is to blame.
        directive: Option<usize>,
        /// What is wrong.
        error: ScheduleError,
    },
    /// A step of the lowering failed.
    #[error("{error}")]
    Lower {
        /// The step, as in `schedule_ops`.
        stage: &'static str,
        /// What is wrong.
        error: LowerError,
    },
    /// The storage rewrite.
    #[error(transparent)]
    Rewrite(#[from] RewriteError),
    /// The interpreter.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A stage that does not exist.
    #[error(
        "there is no stage `{0}`; there are graph, schedule, bounds, schedule-ops, primfunc, flat, prepared, storage, rewritten and facts"
    )]
    UnknownStage(String),
    /// A stage that is looked at and does not run.
    #[error(
        "the stage `{0}` is no function and cannot run; graph, schedule-ops, primfunc, flat, prepared and rewritten can"
    )]
    NoFunction(String),
}

/// The beginning of a message: the directive it is about, if there is one.
fn position(directive: &Option<usize>) -> String {
    directive.map_or_else(String::new, |index| format!("schedule[{index}]: "))
}

impl LifeCycleError {
    /// The name of the step that failed, as the facts have it.
    pub fn stage(&self) -> &'static str {
        match self {
            LifeCycleError::Read(_) => "read",
            LifeCycleError::Schedule { directive: Some(_), .. } => "schedule",
            LifeCycleError::Schedule { directive: None, .. } => "normalize",
            LifeCycleError::Lower { stage, .. } => stage,
            LifeCycleError::Rewrite(_) => "storage_rewrite",
            LifeCycleError::Run(_) => "run",
            LifeCycleError::UnknownStage(_) => "dump",
            LifeCycleError::NoFunction(_) => "run",
        }
    }

    /// Where in the description `text` the mistake is. Schedule errors are at their directive, or at the list of all of
    /// them. Errors of later steps have no place: their span is empty, at the start of the text.
    pub fn span(&self, text: &str) -> Span {
        match self {
            LifeCycleError::Read(error) => error.span(text),
            LifeCycleError::Schedule { directive: Some(index), .. } => {
                super::locate::locate(text, &format!("schedule[{index}]"))
            }
            LifeCycleError::Schedule { directive: None, .. } => super::locate::locate(text, "schedule"),
            _ => Span::default(),
        }
    }

    /// A stable name of the cause.
    pub fn code(&self) -> &'static str {
        match self {
            LifeCycleError::Read(_) => "te::malformed",
            LifeCycleError::Schedule { .. } => "te::schedule",
            LifeCycleError::Lower { .. } => "te::lower",
            LifeCycleError::Rewrite(_) => "storage-rewrite::refused",
            LifeCycleError::Run(_) => "run::failed",
            LifeCycleError::UnknownStage(_) | LifeCycleError::NoFunction(_) => "usage",
        }
    }
}

/// A schedule and what follows from it.
#[derive(Clone, Debug)]
pub struct Scheduled {
    /// The schedule as the directives ask for it.
    pub schedule: Schedule,
    /// The same with inlined stages put in place and loops that start at zero.
    pub normalised: Schedule,
    /// The loops around each stage.
    pub paths: AttachPath,
    /// How much of each operation is needed.
    pub bounds: Bounds,
}

/// All values of a life cycle.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The schedule and its bounds.
    pub scheduled: Scheduled,
    /// Loops over tensors.
    pub tensors: Function,
    /// Loops over buffers.
    pub primfunc: PrimFunc,
    /// The same with every buffer in one dimension.
    pub flat: Flat,
    /// The same with vectorized loops as lanes of vectors and both halves of double buffers.
    pub prepared: Function,
    /// The same with buffers that share memory.
    pub rewritten: Rewritten,
}

/// Applies and normalises a network's schedule and infers its bounds.
pub fn schedule(network: &Network) -> Result<Scheduled, LifeCycleError> {
    let schedule =
        network.schedule().map_err(|(index, error)| LifeCycleError::Schedule { directive: Some(index), error })?;
    finish_schedule(schedule)
}

/// Normalises a schedule and infers its bounds.
fn finish_schedule(schedule: Schedule) -> Result<Scheduled, LifeCycleError> {
    let wrong = |error| LifeCycleError::Schedule { directive: None, error };
    let normalised = schedule.normalised().map_err(wrong)?;
    let paths = AttachPath::new(&normalised).map_err(wrong)?;
    let bounds = infer_bounds(&normalised, &paths);
    Ok(Scheduled { schedule, normalised, paths, bounds })
}

/// Lowers a network: all steps from its graph to buffers that share memory. `judge` are the two checks that the storage
/// rewrite has to pass; the caller hands them in, so that one place decides which checks a result has to pass.
///
/// ```
/// use memplan_tensor::te::{LowerOptions, json, lower};
/// let text = r#"{"ops": [{"placeholder": "A", "shape": [8], "dtype": "float32"},
///     {"compute": "B", "shape": [8], "axes": ["i"], "expr": "A[i]+1.0"},
///     {"compute": "C", "shape": [8], "axes": ["i"], "expr": "B[i]*2.0"},
///     {"compute": "D", "shape": [8], "axes": ["i"], "expr": "C[i]-3.0"}],
///     "outputs": ["D"], "args": ["A", "D"]}"#;
/// use memplan_tensor::rewrite::{Judge, allocation_sites};
/// let judge = Judge { packing: memplan_verify::packing::check, dataflow: memplan_verify::dataflow::check };
/// let lowered = lower(&json::read(text).unwrap(), &LowerOptions::default(), judge).unwrap();
/// assert_eq!(allocation_sites(&lowered.flat.function).len(), 2);
/// assert_eq!(allocation_sites(&lowered.rewritten.function).len(), 1); // C is computed in place of B
/// ```
pub fn lower(network: &Network, options: &LowerOptions, judge: Judge) -> Result<Lowered, LifeCycleError> {
    lower_scheduled(network, schedule(network)?, options, judge)
}

/// Adds the name of a step (as reports have it) to its error.
fn at<T>(stage: &'static str, result: Result<T, LowerError>) -> Result<T, LifeCycleError> {
    result.map_err(|error| LifeCycleError::Lower { stage, error })
}

/// All stages after the schedule, each with its value.
fn lower_scheduled(
    network: &Network,
    scheduled: Scheduled,
    options: &LowerOptions,
    judge: Judge,
) -> Result<Lowered, LifeCycleError> {
    let tensors = tensors(network, &scheduled)?;
    let primfunc = primfunc(network, &scheduled, &tensors)?;
    let flat = flat(&primfunc, options)?;
    let prepared = at("prepare", prepare(&flat.function))?;
    let mode = if options.compat { Mode::Compat } else { options.rewrite.mode };
    let rewritten = storage_rewrite(&prepared, &RewriteOptions { mode, ..options.rewrite.clone() }, judge)?;
    Ok(Lowered { scheduled, tensors, primfunc, flat, prepared, rewritten })
}

/// The stage from buffers with several dimensions to flat ones.
pub(super) fn flat(primfunc: &PrimFunc, options: &LowerOptions) -> Result<Flat, LifeCycleError> {
    let flatten =
        FlattenOptions { compat: options.compat, memories: options.memories.clone(), alignment: options.alignment };
    at("storage_flatten", storage_flatten(primfunc, &flatten))
}

/// The stage from a schedule to loops over tensors. The network's arguments become the parameters.
pub(super) fn tensors(network: &Network, scheduled: &Scheduled) -> Result<Function, LifeCycleError> {
    let mut tensors = at("schedule_ops", schedule_ops(&scheduled.normalised, &scheduled.bounds))?;
    make_arguments(&mut tensors, &scheduled.normalised.graph, &network.args);
    Ok(tensors)
}

/// The stage from tensors to buffers.
pub(super) fn primfunc(
    network: &Network,
    scheduled: &Scheduled,
    tensors: &Function,
) -> Result<PrimFunc, LifeCycleError> {
    // All outputs of each operation, by its first one: a mark of a double buffer names only the first.
    let graph = &scheduled.normalised.graph;
    let outputs_of: BTreeMap<BufId, Vec<BufId>> =
        graph.ops.iter().filter_map(|op| Some((*op.outputs.first()?, op.outputs.clone()))).collect();
    at("postproc", to_buffers(tensors, &network.args, &graph.symbols, &outputs_of))
}

impl Lowered {
    /// The function after a stage, by the stage's name in [`STAGES`]; `None` for stages that have no function. (`graph`
    /// has one, but it is made from the network: [`Network::reference`].)
    pub fn function_at(&self, stage: &str) -> Option<&Function> {
        match stage {
            "schedule-ops" => Some(&self.tensors),
            "primfunc" => Some(&self.primfunc.function),
            "flat" => Some(&self.flat.function),
            "prepared" => Some(&self.prepared),
            "rewritten" => Some(&self.rewritten.function),
            _ => None,
        }
    }

    /// How to run the functions of all stages with the same input: sizes as in `sizes` (5 for those that are not
    /// given), and strides of arguments as they follow from the sizes without padding.
    pub fn run_options(&self, network: &Network, seed: u64, sizes: &BTreeMap<String, i64>) -> RunOptions {
        let mut options = network.run_options(seed, sizes);
        let function = &self.primfunc.function;
        let values: BTreeMap<_, _> = network
            .graph
            .symbols
            .iter()
            .map(|symbol| (*symbol, Expr::int(options.scalars[&network.graph.tables.vars[*symbol].name])))
            .collect();
        for (buffer, strides) in &self.primfunc.strides {
            // From the last dimension to the first: each stride is the product of the extents of all later dimensions.
            let mut stride = 1i64;
            for (var, extent) in strides.iter().zip(&function.buffers[*buffer].shape).rev() {
                // A function that was printed as TVMScript and read again has plain names, so both are entered.
                let name = &function.vars[*var].name;
                options.scalars.insert(plain_name(name), stride);
                options.scalars.insert(name.clone(), stride);
                // With values for all sizes an extent is a number. If it does not fit 64 bits, it counts as 1; such a
                // buffer is refused when it is allocated.
                let extent = super::arith::simplify(&super::arith::substitute(extent, &values));
                stride = stride.saturating_mul(extent.as_int().unwrap_or(1));
            }
        }
        options
    }
}

impl Network {
    /// What the graph means, as a function that computes every operation completely and in order. All stages are
    /// compared with it.
    pub fn reference(&self) -> Function {
        reference_function(&self.graph, &self.outputs, &self.args)
    }

    /// How to run the reference function: input data from `seed`, sizes as in `sizes`, 5 for those that are not given.
    pub fn run_options(&self, seed: u64, sizes: &BTreeMap<String, i64>) -> RunOptions {
        let name = |symbol: &crate::ir::VarId| self.graph.tables.vars[*symbol].name.clone();
        let scalars = self
            .graph
            .symbols
            .iter()
            .map(|symbol| (name(symbol), sizes.get(&name(symbol)).copied().unwrap_or(5)))
            .collect();
        RunOptions { seed, scalars, packed: self.graph.packed_functions().clone(), ..RunOptions::default() }
    }
}

/// One stage of a description as text; see [`STAGES`]. Only what the stage needs is computed.
pub fn dump_text(text: &str, stage: &str, options: &LowerOptions, judge: Judge) -> Result<String, LifeCycleError> {
    dump(&read(text)?, stage, options, judge)
}

/// One stage of a network as text; see [`STAGES`].
pub fn dump(network: &Network, stage: &str, options: &LowerOptions, judge: Judge) -> Result<String, LifeCycleError> {
    if !STAGES.iter().any(|(name, _)| *name == stage) {
        return Err(LifeCycleError::UnknownStage(stage.to_owned()));
    }
    // Each stage is only computed as far as it is needed, so a network that fails in a late stage can still be
    // looked at in an early one.
    match stage {
        "graph" => return Ok(graph_text(network)),
        "facts" => return Ok(super::facts::facts_text(network, options, judge)),
        _ => {}
    }
    // The stages that need the schedule and at most a part of the lowering.
    let scheduled = schedule(network)?;
    match stage {
        "schedule" => return Ok(schedule_text(&scheduled)),
        "bounds" => return Ok(scheduled.bounds.dump(&scheduled.normalised)),
        "schedule-ops" => return Ok(function_text(&tensors(network, &scheduled)?, Level::Tensors)),
        "primfunc" => {
            let buffers = primfunc(network, &scheduled, &tensors(network, &scheduled)?)?;
            return Ok(function_text(&buffers.function, Level::Buffers));
        }
        "flat" | "prepared" => {
            let flat = flat(&primfunc(network, &scheduled, &tensors(network, &scheduled)?)?, options)?;
            return match stage {
                "flat" => Ok(flat_text(&flat)),
                _ => Ok(print_function(&with_plain_names(&at("prepare", prepare(&flat.function))?))),
            };
        }
        _ => {}
    }
    // The last two stages take the whole lowering. The name was checked above, so what is left is `rewritten`.
    let lowered = lower_scheduled(network, scheduled, options, judge)?;
    Ok(match stage {
        "storage" => {
            let sequence = linearize(&lowered.prepared);
            let events = events(&sequence);
            format!(
                "{}{}{}",
                events.dump(&sequence),
                lowered.rewritten.pool.dump(&sequence),
                lowered.rewritten.dump(&lowered.prepared)
            )
        }
        _ => print_function(&with_plain_names(&lowered.rewritten.function)),
    })
}

/// Runs a description at a stage and prints what the arguments hold at the end. Sizes that are not given are 5.
pub fn run_text(
    text: &str,
    stage: &str,
    seed: u64,
    sizes: &BTreeMap<String, i64>,
    judge: Judge,
) -> Result<String, LifeCycleError> {
    let network = read(text)?;
    let outputs = if stage == "graph" {
        run(&network.reference(), &network.run_options(seed, sizes))
    } else {
        let lowered = lower(&network, &LowerOptions::default(), judge)?;
        let function = lowered.function_at(stage).ok_or_else(|| no_function(stage))?;
        run(function, &lowered.run_options(&network, seed, sizes))
    };
    let mut outputs = outputs?;
    // Outputs come in the order of a stage's table of buffers. They are printed in the order of the parameters, so that
    // the texts of all stages can be compared.
    let position = |name: &str| network.args.iter().position(|arg| network.graph.tables.buffers[*arg].name == name);
    outputs.sort_by_key(|output| position(&output.name));
    Ok(outputs.iter().map(|output| format!("{output}\n")).collect())
}

/// Why a stage of this name cannot run: it is no function, or there is no such stage.
fn no_function(stage: &str) -> LifeCycleError {
    let is_known = STAGES.iter().any(|(name, _)| *name == stage);
    let reason = if is_known { LifeCycleError::NoFunction } else { LifeCycleError::UnknownStage };
    reason(stage.to_owned())
}

/// Lowers a description; the result is the text of a TVMScript function.
pub fn lower_text(text: &str, options: &LowerOptions, judge: Judge) -> Result<String, LifeCycleError> {
    Ok(print_plainly(&lower(&read(text)?, options, judge)?.rewritten.function))
}

/// The flat function of a network, ready for the storage rewrite.
pub fn prepared_function(network: &Network, options: &LowerOptions) -> Result<Function, LifeCycleError> {
    let scheduled = schedule(network)?;
    let primfunc = primfunc(network, &scheduled, &tensors(network, &scheduled)?)?;
    at("prepare", prepare(&flat(&primfunc, options)?.function))
}

/// A function as TVMScript. Names that are no words of Python (`i.outer`) are replaced.
pub fn print_plainly(function: &Function) -> String {
    print_function(&with_plain_names(function))
}

/// The operations, the tensors that each reads, the operations that each tensor feeds, and the order of computation.
fn graph_text(network: &Network) -> String {
    let graph = &network.graph;
    let reads = ReadGraph::new(graph, &network.outputs);
    let feeds = FeedGraph::new(&reads);
    let order: Vec<&str> = super::graph_views::post_dfs_order(graph, &network.outputs, &reads)
        .into_iter()
        .map(|op| graph.ops[op].name.as_str())
        .collect();
    format!("{}\n{}\n{}\norder: {}\n", graph.dump(), reads.dump(graph), feeds.dump(graph), order.join(" "))
}

/// The schedule before and after normalisation, and the loops around each stage.
fn schedule_text(scheduled: &Scheduled) -> String {
    format!(
        "as asked for:\n{}\nnormalised:\n{}\n{}",
        scheduled.schedule.dump(),
        scheduled.normalised.dump(),
        scheduled.paths.dump(&scheduled.normalised)
    )
}

/// The flat function, and before it the alignment and the strides of its buffers as comments. A stride is `-` where
/// every access has subscript 0.
fn flat_text(flat: &Flat) -> String {
    let plain = with_plain_names(&flat.function);
    let mut text = String::new();
    for buffer in &flat.buffers {
        let strides: Vec<String> = buffer
            .strides
            .iter()
            .map(|stride| {
                stride.as_ref().map_or_else(|| "-".to_owned(), |stride| crate::script::print_expr(stride, &plain))
            })
            .collect();
        let name = &plain.buffers[buffer.buffer].name;
        text.push_str(&format!("# {name}: aligned to {}, strides {}\n", buffer.alignment, strides.join(", ")));
    }
    text + &print_function(&plain)
}
