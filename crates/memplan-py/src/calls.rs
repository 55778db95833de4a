//! Plan, verify, compare, opt, and the command line.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use memplan::compare::Comparison;
use memplan::core::{BufferId, Bytes, Id, Placement, Plan, SpecError, Witness};
use memplan::driver::{self, Failure, How};
use memplan::finding::{self, Finding};
use memplan::fit::Allowed;
use memplan::format::FORMATS;
use memplan::front_end::fit::Counted;
use memplan::front_end::{Fit, Plain, Reorder};
use memplan::models::plan as plan_file;
use memplan::pass::{self, PASSES, PassSpec};
use memplan::planner::{Assign, Effort, Request, STRATEGIES, Strategy, find};
use memplan::source::Source;
use memplan::warm;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::error;
use crate::planned::PlanHandle;
use crate::problem::ProblemHandle;
use crate::watched::{self, Watched, watched};

/// Rows of a comparison, who refused and why, and the lower bound.
type Compared<'py> = (Vec<Bound<'py, PyDict>>, Vec<(String, String)>, u64);

/// The status, the extent, and the facts about the obstacle.
type Explained<'py> = (&'static str, Option<u64>, Option<Bound<'py, PyDict>>);

/// Peaks before and after, whether that is exact, the order of ops, the model in it.
type InOrder<'py> = (u64, u64, bool, Vec<usize>, Option<Bound<'py, PyBytes>>);

/// Limits and seed of a call.
#[derive(Clone)]
pub(crate) struct Limits {
    seed: u64,
    effort: Effort,
    time_limit: Option<Duration>,
    work_limit: Option<u64>,
    threads: Option<usize>,
    /// Fail where a check rejects a plan, instead of planning again.
    pub(crate) strict: bool,
}

impl Limits {
    pub(crate) fn of(
        py: Python<'_>,
        (seed, effort): (u64, &str),
        time_limit: Option<f64>,
        work_limit: Option<u64>,
        threads: Option<usize>,
        strict: bool,
    ) -> PyResult<Limits> {
        let effort = Effort::ALL.into_iter().find(|known| known.name() == effort).ok_or_else(|| {
            error::wrong_argument(py, &format!("effort is `{effort}`; it is `quick`, `normal` or `thorough`"))
        })?;
        let seconds = |seconds: f64| {
            Duration::try_from_secs_f64(seconds)
                .map_err(|_| error::wrong_argument(py, &format!("time_limit is {seconds}; it is a number of seconds")))
        };
        let time_limit = time_limit.map(seconds).transpose()?;
        let strict = strict || How::strict_in_environment();
        Ok(Limits { seed, effort, time_limit, work_limit, threads, strict })
    }

    pub(crate) fn set<'a>(self, request: Request<'a>, assign: Assign) -> Request<'a> {
        let Limits { seed, effort, time_limit, work_limit, threads, strict: _ } = self;
        Request { assign, seed, effort, time_limit, work_limit, threads, ..request }
    }
}

pub(crate) fn strategy_of(py: Python<'_>, name: &str) -> PyResult<&'static dyn Strategy> {
    find(name).ok_or_else(|| {
        error::wrong_argument(py, &format!("there is no strategy called `{name}`; see memplan.strategies()"))
    })
}

pub(crate) fn assign_of(py: Python<'_>, name: &str) -> PyResult<Assign> {
    match name {
        "offsets" => Ok(Assign::Offsets),
        "objects" => Ok(Assign::Objects),
        other => Err(error::wrong_argument(py, &format!("assign is `{other}`; it is `offsets` or `objects`"))),
    }
}

/// Plans and checks. Ctrl-C ends the search with the best plan so far; without one it is raised.
#[pyfunction]
#[pyo3(signature = (problem, strategy, assign, time_limit, work_limit, seed, effort, threads, strict, progress, warm))]
#[allow(clippy::too_many_arguments, reason = "only ever called by the Python half, with keywords")]
pub(crate) fn plan(
    py: Python<'_>,
    problem: &ProblemHandle,
    strategy: &str,
    assign: &str,
    time_limit: Option<f64>,
    work_limit: Option<u64>,
    seed: u64,
    effort: &str,
    threads: Option<usize>,
    strict: bool,
    progress: Option<Py<PyAny>>,
    warm: Option<&str>,
) -> PyResult<PlanHandle> {
    let limits = Limits::of(py, (seed, effort), time_limit, work_limit, threads, strict)?;
    let (strategy, assign) = (strategy_of(py, strategy)?, assign_of(py, assign)?);
    let old = warm.map(|text| old_plan(py, problem, text, assign)).transpose()?;
    let Watched { result, interrupted } = watched(py, progress.as_ref(), |request| {
        let request = limits.clone().set(request, assign);
        let how = How { strategy: Some(strategy), request, strict, device: None };
        match &old {
            Some(old) => {
                warm::plan(&Plain::default(), &problem.input, old, &how).map(|warm| (warm.planned, Some(warm.kept)))
            }
            None => driver::lay_out(&Plain::default(), &problem.input, &how).map(|planned| (planned, None)),
        }
    })?;
    let (planned, kept) = match (result, &interrupted) {
        (Ok(planned), _) => planned,
        (Err(Failure::Stopped(_)), Some(signal)) => return Err(signal.clone_ref(py)),
        (Err(failure), _) => return Err(error::failure(py, None, &failure)),
    };
    match interrupted {
        // The best plan so far is the answer to Ctrl-C, not to a callback that failed.
        Some(signal) if planned.outcome.plan().is_none() || !signal.is_instance_of::<PyKeyboardInterrupt>(py) => {
            Err(signal)
        }
        _ => {
            let (input, name) = (Arc::clone(&problem.input), problem.name.clone());
            Ok(PlanHandle { input, planned, limits, strategy, name, kept })
        }
    }
}

/// A plan to stay close to.
fn old_plan(py: Python<'_>, problem: &ProblemHandle, text: &str, assign: Assign) -> PyResult<Plan> {
    if assign != Assign::Offsets {
        return Err(error::wrong_argument(py, "warm repairs offsets; it does not go with assign=\"objects\""));
    }
    plan_file::read(text.as_bytes(), &problem.input.problem, None).map_err(|error| error::unreadable(py, None, &error))
}

/// What stands in the way of a smaller plan: the status, the extent and the facts about the obstacle.
#[pyfunction]
#[pyo3(signature = (problem, time_limit, work_limit, seed, effort, threads, strict))]
#[allow(clippy::too_many_arguments, reason = "only ever called by the Python half, in this order")]
pub(crate) fn explain<'py>(
    py: Python<'py>,
    problem: &ProblemHandle,
    time_limit: Option<f64>,
    work_limit: Option<u64>,
    seed: u64,
    effort: &str,
    threads: Option<usize>,
    strict: bool,
) -> PyResult<Explained<'py>> {
    let limits = Limits::of(py, (seed, effort), time_limit, work_limit, threads, strict)?;
    // Other Python threads run while the planner works. Ctrl-C cancels the request, and the signal is raised
    // again here.
    let Watched { result, interrupted } = watched(py, None, |request| {
        let request = limits.set(request, Assign::Offsets);
        memplan::explain::explain(&problem.input, &How { request, strict, ..How::default() })
    })?;
    if let Some(signal) = interrupted {
        return Err(signal);
    }
    let explanation = result.map_err(|failure| error::failure(py, None, &failure))?;
    let outcome = &explanation.planned.outcome;
    // Python gets names and plain numbers, because ids mean nothing outside of this problem object.
    let names = |buffers: &[BufferId]| -> Vec<&str> {
        buffers.iter().map(|&buffer| problem.input.problem.buffers()[buffer].name.as_str()).collect()
    };
    let described = |witness: &Witness| {
        let facts = PyDict::new(py);
        facts.set_item("space", problem.input.problem.spaces()[witness.space].name.as_str())?;
        facts.set_item("buffers", names(&witness.buffers))?;
        facts.set_item("step", witness.step.map(|step| step.0))?;
        facts.set_item("needed", witness.needed.0)?;
        facts.set_item("capacity", witness.capacity.0)?;
        facts.set_item("single", names(&explanation.single))?;
        PyResult::Ok(facts)
    };
    let obstacle = explanation.obstacle.as_ref().map(described).transpose()?;
    Ok((outcome.status(), outcome.plan().map(|plan| plan.extent().0), obstacle))
}

/// Peaks before and after, whether that is exact, the order of ops, and the model in it if `content` is asked for.
#[pyfunction]
#[pyo3(signature = (path, content, width))]
pub(crate) fn reorder<'py>(
    py: Python<'py>,
    path: PathBuf,
    content: bool,
    width: Option<usize>,
) -> PyResult<InOrder<'py>> {
    let source = crate::problem::open(&path, None)?;
    let default = Reorder::default();
    let front_end = Reorder { width: width.unwrap_or(default.width) };
    let failed = |failure: Failure| error::failure(py, Some(&source.name), &failure);
    let input = watched::read(py, &front_end, &source)?.map_err(failed)?;
    let found = py.detach(|| driver::lay_out(&front_end, &input, &How::default())).map_err(failed)?;
    let bytes = match content {
        true => {
            let output = driver::emit(&front_end, &input, &found).map_err(failed)?;
            let mut bytes = Vec::new();
            output.write(&mut bytes)?;
            Some(PyBytes::new(py, &bytes))
        }
        false => None,
    };
    let order = found.order.iter().map(|op| op.index()).collect();
    Ok((found.before.0, found.after.0, found.is_exact, order, bytes))
}

/// The versions of a model as JSON, the model if `content` is asked for, and notes.
type FittedModel<'py> = (String, Option<Bound<'py, PyBytes>>, Vec<String>);

/// Changes a model until it fits.
#[pyfunction]
#[pyo3(signature = (path, content, capacity, changes, tensors, time_limit, work_limit, seed, effort, threads, strict))]
#[allow(clippy::too_many_arguments, reason = "only ever called by the Python half, in this order")]
pub(crate) fn fit<'py>(
    py: Python<'py>,
    path: PathBuf,
    content: bool,
    capacity: Option<u64>,
    changes: Vec<String>,
    tensors: bool,
    time_limit: Option<f64>,
    work_limit: Option<u64>,
    seed: u64,
    effort: &str,
    threads: Option<usize>,
    strict: bool,
) -> PyResult<FittedModel<'py>> {
    let limits = Limits::of(py, (seed, effort), time_limit, work_limit, threads, strict)?;
    let is_allowed = |change: &str| changes.iter().any(|known| known == change);
    let mut source = crate::problem::open(&path, None)?;
    source.options.models.assumptions.reuse_inputs |= is_allowed("input-reuse");
    let allowed =
        Allowed { reorder: is_allowed("reorder"), recompute: is_allowed("recompute"), patches: is_allowed("patches") };
    let counted = if tensors { Counted::Tensors } else { Counted::Arena };
    let front_end = Fit { allowed, capacity: capacity.map(Bytes), counted, records: None };
    let failed = |failure: Failure| error::failure(py, Some(&source.name), &failure);
    let input = watched::read(py, &front_end, &source)?.map_err(failed)?;
    let strict = limits.strict;
    let Watched { result, interrupted } = watched(py, None, |request| {
        let request = limits.set(request, Assign::Offsets);
        driver::lay_out(&front_end, &input, &How { request, strict, ..How::default() })
    })?;
    if let Some(signal) = interrupted {
        return Err(signal);
    }
    let fitted = result.map_err(failed)?;
    let bytes = match content {
        true => {
            let output = driver::emit(&front_end, &input, &fitted).map_err(failed)?;
            let mut bytes = Vec::new();
            output.write(&mut bytes)?;
            Some(PyBytes::new(py, &bytes))
        }
        false => None,
    };
    let notes = input.notes.iter().chain(fitted.repairs()).cloned().collect();
    Ok((fitted.to_json(), bytes, notes))
}

/// A number of bytes as people write it: "64KiB".
#[pyfunction]
pub(crate) fn parse_bytes(text: &str) -> PyResult<u64> {
    text.parse::<Bytes>().map(|bytes| bytes.0).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Everything that is wrong with offsets (64-bit numbers in native byte order) or with a plan file's text.
#[pyfunction]
#[pyo3(signature = (problem, *, offsets=None, text=None))]
pub(crate) fn verify<'py>(
    py: Python<'py>,
    problem: &ProblemHandle,
    offsets: Option<&[u8]>,
    text: Option<&str>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let plan = match (offsets, text) {
        (Some(offsets), _) => of_offsets(problem, offsets),
        (None, Some(text)) => plan_file::read(text.as_bytes(), &problem.input.problem, None)
            .map_err(|error| error::unreadable(py, None, &error))?,
        (None, None) => return Err(error::wrong_argument(py, "there is no plan to verify")),
    };
    let findings = py.detach(|| findings(problem, &plan));
    findings.iter().map(|finding| described(py, finding)).collect()
}

fn findings(problem: &ProblemHandle, plan: &Plan) -> Vec<Finding> {
    let input = &problem.input;
    if let Some(network) = &input.network {
        let mut findings = finding::in_packing(&input.problem, plan);
        findings.extend(network.check(plan));
        return findings;
    }
    let Some(program) = &input.program else { return finding::in_packing(&input.problem, plan) };
    let mut findings = finding::in_placement(&input.problem, plan);
    if findings.is_empty() {
        findings.extend(program.check_any(plan));
    }
    findings
}

fn of_offsets(problem: &ProblemHandle, offsets: &[u8]) -> Plan {
    let mut plan = Plan::empty(&problem.input.problem);
    let offsets = offsets.chunks_exact(8).map(|chunk| u64::from_ne_bytes(chunk.try_into().unwrap_or_default()));
    for ((id, buffer), offset) in problem.input.problem.buffers().iter_enumerated().zip(offsets) {
        plan.placements[id] = Some(Placement::at(buffer.spaces[0], Bytes(offset)));
    }
    plan.fit_extents(&problem.input.problem);
    plan
}

fn described<'py>(py: Python<'py>, finding: &Finding) -> PyResult<Bound<'py, PyDict>> {
    let facts = PyDict::new(py);
    facts.set_item("code", finding.code)?;
    facts.set_item("message", &finding.message)?;
    facts.set_item("buffers", &finding.buffers)?;
    facts.set_item("step", finding.step)?;
    facts.set_item("space", finding.place.as_ref().map(|(space, _)| space))?;
    facts.set_item("bytes", finding.place.as_ref().map(|(_, [start, end])| (start, end)))?;
    Ok(facts)
}

/// Every strategy that applies, smallest extent first, and those that do not, with the reason.
#[pyfunction]
#[pyo3(signature = (problem, assign, time_limit, work_limit, seed, effort, threads, strict))]
#[allow(clippy::too_many_arguments, reason = "only ever called by the Python half, with keywords")]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    problem: &ProblemHandle,
    assign: Option<&str>,
    time_limit: Option<f64>,
    work_limit: Option<u64>,
    seed: u64,
    effort: &str,
    threads: Option<usize>,
    strict: bool,
) -> PyResult<Compared<'py>> {
    let limits = Limits::of(py, (seed, effort), time_limit, work_limit, threads, strict)?;
    let assign = assign.map(|assign| assign_of(py, assign)).transpose()?;
    // All strategies run in one call, so that a signal can end it between any two of them.
    let Watched { result, interrupted } = watched(py, None, |request| {
        let request = limits.set(request, assign.unwrap_or_default());
        Comparison::run(&problem.input, assign, &How { request, strict, ..How::default() }, |_| ())
    })?;
    if let Some(signal) = interrupted {
        return Err(signal);
    }
    let comparison = result.map_err(|failure| error::failure(py, None, &failure))?;
    // The names of the entries are part of the Python interface; its data class takes them as they are.
    let row = |entry: &memplan::compare::Entry| {
        let facts = PyDict::new(py);
        facts.set_item("strategy", &entry.strategy)?;
        facts.set_item("assign", if entry.assign == Assign::Objects { "objects" } else { "offsets" })?;
        facts.set_item("status", entry.outcome.status())?;
        facts.set_item("extent", entry.extent().map(|extent| extent.0))?;
        facts.set_item("objects", entry.outcome.plan().map(|plan| plan.objects.len()))?;
        facts.set_item("seconds", entry.time.as_secs_f64())?;
        Ok(facts)
    };
    let rows: PyResult<Vec<_>> = comparison.entries.iter().map(row).collect();
    let refused =
        comparison.refused.iter().map(|refused| (refused.strategy.clone(), refused.reason.to_string())).collect();
    Ok((rows?, refused, comparison.lower_bound(&problem.input.problem).0))
}

/// Rewrites a program: the new text, notes, and bytes before and after by scope.
#[pyfunction]
#[pyo3(signature = (text, spec, name, strategy, time_limit, seed, effort, strict))]
#[allow(clippy::too_many_arguments, reason = "only ever called by the Python half, with keywords")]
pub(crate) fn opt<'py>(
    py: Python<'py>,
    text: &str,
    spec: &str,
    name: &str,
    strategy: Option<&str>,
    time_limit: Option<f64>,
    seed: u64,
    effort: &str,
    strict: bool,
) -> PyResult<(String, Vec<String>, Vec<Bound<'py, PyDict>>)> {
    let spec: PassSpec = spec.parse().map_err(|error: SpecError| error::wrong_argument(py, &error.to_string()))?;
    if pass::find(&spec.name).is_none() {
        let message = format!("there is no pass called `{}`; see memplan.passes()", spec.name);
        return Err(error::wrong_argument(py, &message));
    }
    let strategy = strategy.map(|name| strategy_of(py, name)).transpose()?.map(|strategy| strategy as _);
    let limits = Limits::of(py, (seed, effort), time_limit, None, None, strict)?;
    let source = Source::new(name, text);
    let Watched { result, interrupted } = watched(py, None, |request| {
        let how = How { strategy, request: limits.set(request, Assign::Offsets), strict, device: None };
        pass::opt(&source, &[spec], &how)
    })?;
    if let Some(signal) = interrupted {
        return Err(signal);
    }
    // A part that failed ends the call with its error. Texts of the parts before it are of no use without it.
    let mut rewritten = Vec::new();
    for part in &result.parts {
        match &part.chain {
            Ok(chain) => rewritten.extend(chain.iter().map(|(_, output)| output)),
            Err(stopped) => return Err(error::failure(py, None, &stopped.failure)),
        }
    }
    // Repairs are pairs that the check has forced apart. They are told like notes, since the result is right.
    let repairs = rewritten.iter().flat_map(|output| output.repairs());
    let notes = rewritten.iter().flat_map(|output| &output.notes).chain(repairs).cloned().collect();
    let saving = |saving: &memplan::mlir::pass::Saving| {
        let facts = PyDict::new(py);
        facts.set_item("function", &saving.function)?;
        facts.set_item("scope", &saving.scope)?;
        facts.set_item("buffers", saving.buffers)?;
        facts.set_item("before", saving.before)?;
        facts.set_item("after", saving.after)?;
        facts.set_item("lower_bound", saving.lower_bound)?;
        Ok(facts)
    };
    let savings: PyResult<Vec<_>> = rewritten.iter().flat_map(|output| &output.savings).map(saving).collect();
    Ok((result.text().unwrap_or_default(), notes, savings?))
}

/// Names and one line each.
#[pyfunction]
pub(crate) fn strategies() -> Vec<(&'static str, &'static str)> {
    STRATEGIES.iter().map(|strategy| (strategy.name(), strategy.describe())).collect()
}

/// Names and one line each.
#[pyfunction]
pub(crate) fn passes() -> Vec<(&'static str, &'static str)> {
    PASSES.iter().map(|pass| (pass.name, pass.describe)).collect()
}

/// Names and one line each.
#[pyfunction]
pub(crate) fn formats() -> Vec<(&'static str, &'static str)> {
    FORMATS.iter().map(|format| (format.name(), format.describe())).collect()
}

/// Extensions of all files that can be read by their names, without the dot.
#[pyfunction]
pub(crate) fn extensions() -> Vec<&'static str> {
    FORMATS.iter().flat_map(|format| format.extensions()).copied().collect()
}

/// The version.
#[pyfunction]
pub(crate) fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The command line: arguments with the program's name first, exit code back.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
    py.detach(|| memplan_cli::run(arguments))
}
