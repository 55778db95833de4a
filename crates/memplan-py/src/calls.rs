//! Plan, explain, verify, compare, opt, and the command line.
//!
//! The functions marked `pyfunction` are called by the Python half of the package. A `ProblemHandle` and a
//! `PlanHandle` are what Python holds of a problem and of a result. Work that may take long runs in `watched`,
//! which lets other Python threads run and listens to Ctrl-C; `py` stands for the right to use the interpreter.

use std::sync::Arc;

use memplan::compare::{Comparison, Entry};
use memplan::core::{BufferId, Bytes, Placement, Plan, Problem, SpecError, Witness};
use memplan::driver::{self, Failure};
use memplan::finding::{self, Finding};
use memplan::format::FORMATS;
use memplan::front_end::Plain;
use memplan::mlir::pass::Saving;
use memplan::models::plan as plan_file;
use memplan::pass::{self, PASSES, PassSpec};
use memplan::planner::{Assign, STRATEGIES, Strategy, find};
use memplan::source::Source;
use memplan::warm;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error;
use crate::limits::{Given, Limits};
use crate::planned::PlanHandle;
use crate::problem::ProblemHandle;
use crate::watched::{Watched, watched};

/// The rows of a comparison, the strategies that refused with their reasons, and the lower bound in bytes.
type Compared<'py> = (Vec<Bound<'py, PyDict>>, Vec<(String, String)>, u64);

/// The status, the extent in bytes if there is a plan, and the facts about the obstacle if there is one.
type Explained<'py> = (&'static str, Option<u64>, Option<Bound<'py, PyDict>>);

/// The strategy of this name, or Python's error that there is none.
pub(crate) fn strategy_of(py: Python<'_>, name: &str) -> PyResult<&'static dyn Strategy> {
    find(name).ok_or_else(|| {
        error::wrong_argument(py, &format!("there is no strategy called `{name}`; see memplan.strategies()"))
    })
}

/// The kind of plan that Python asks for.
pub(crate) fn assign_of(py: Python<'_>, name: &str) -> PyResult<Assign> {
    match name {
        "offsets" => Ok(Assign::Offsets),
        "objects" => Ok(Assign::Objects),
        other => Err(error::wrong_argument(py, &format!("assign is `{other}`; it is `offsets` or `objects`"))),
    }
}

/// Plans and checks. Ctrl-C ends the search with the best plan so far; without one it is raised.
#[pyfunction]
#[pyo3(signature = (problem, strategy, assign, limits, progress, warm))]
pub(crate) fn plan(
    py: Python<'_>,
    problem: &ProblemHandle,
    strategy: &str,
    assign: &str,
    limits: Given,
    progress: Option<Py<PyAny>>,
    warm: Option<&str>,
) -> PyResult<PlanHandle> {
    let limits = Limits::of(py, limits)?;
    let (strategy, assign) = (strategy_of(py, strategy)?, assign_of(py, assign)?);
    let old = warm.map(|text| old_plan(py, problem, text, assign)).transpose()?;
    let Watched { result, interrupted } = watched(py, progress.as_ref(), |request| {
        let how = limits.how(request, assign, Some(strategy));
        match &old {
            Some(old) => {
                warm::plan(&Plain::default(), &problem.input, old, &how).map(|warm| (warm.planned, Some(warm.kept)))
            }
            None => driver::lay_out(&Plain::default(), &problem.input, &how).map(|planned| (planned, None)),
        }
    })?;
    // A call that was stopped without a result raises the signal that stopped it. `kept` is the
    // number of buffers that are where an old plan had them.
    let (planned, kept) = match (result, &interrupted) {
        (Ok(planned), _) => planned,
        (Err(Failure::Stopped(_)), Some(signal)) => return Err(signal.clone_ref(py)),
        (Err(failure), _) => return Err(error::failure(py, None, &failure)),
    };
    match interrupted {
        // After Ctrl-C the best plan so far is returned, if there is one. An error of the progress callback is raised
        // even then.
        Some(signal) if planned.outcome.plan().is_none() || !signal.is_instance_of::<PyKeyboardInterrupt>(py) => {
            Err(signal)
        }
        _ => {
            let (input, name) = (Arc::clone(&problem.input), problem.name.clone());
            Ok(PlanHandle { input, planned, limits, strategy, name, kept })
        }
    }
}

/// The plan that the new one shall stay close to, read from its text.
fn old_plan(py: Python<'_>, problem: &ProblemHandle, text: &str, assign: Assign) -> PyResult<Plan> {
    if assign != Assign::Offsets {
        return Err(error::wrong_argument(py, "warm repairs offsets; it does not go with assign=\"objects\""));
    }
    plan_file::read(text.as_bytes(), &problem.input.problem, None).map_err(|error| error::unreadable(py, None, &error))
}

/// What stands in the way of a smaller plan: the status, the extent and the facts about the obstacle.
#[pyfunction]
pub(crate) fn explain<'py>(py: Python<'py>, problem: &ProblemHandle, limits: Given) -> PyResult<Explained<'py>> {
    let limits = Limits::of(py, limits)?;
    let explanation = watched(py, None, |request| {
        memplan::explain::explain(&problem.input, &limits.how(request, Assign::Offsets, None))
    });
    let explanation = explanation?.or_signal()?.map_err(|failure| error::failure(py, None, &failure))?;
    let obstacle = explanation.obstacle.as_ref();
    // Python makes an object of these facts.
    let facts = obstacle.map(|witness| obstacle_facts(py, &problem.input.problem, witness, &explanation.single));
    let outcome = &explanation.planned.outcome;
    Ok((outcome.status(), outcome.plan().map(|plan| plan.extent().0), facts.transpose()?))
}

/// The fields of Python's `Obstacle`: buffers that cannot fit together. Python gets names and plain numbers, because
/// ids mean nothing outside of this problem object. `single` are those buffers of which removing any one alone would
/// help.
fn obstacle_facts<'py>(
    py: Python<'py>,
    problem: &Problem,
    witness: &Witness,
    single: &[BufferId],
) -> PyResult<Bound<'py, PyDict>> {
    let facts = PyDict::new(py);
    facts.set_item("space", problem.spaces()[witness.space].name.as_str())?;
    facts.set_item("buffers", names(problem, &witness.buffers))?;
    facts.set_item("step", witness.step.map(|step| step.0))?;
    facts.set_item("needed", witness.needed.0)?;
    facts.set_item("capacity", witness.capacity.0)?;
    facts.set_item("single", names(problem, single))?;
    Ok(facts)
}

/// The names of buffers.
fn names<'p>(problem: &'p Problem, buffers: &[BufferId]) -> Vec<&'p str> {
    buffers.iter().map(|&buffer| problem.buffers()[buffer].name.as_str()).collect()
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
    // The checks need nothing of Python, so other threads of it may run meanwhile.
    let findings = py.detach(|| findings(problem, &plan));
    findings.iter().map(|finding| described(py, finding)).collect()
}

/// Everything that is wrong with a plan. For a program, the dataflow check decides whether buffers may share bytes,
/// because it does not trust lifetimes; it runs only if the packing check finds nothing else, such as an offset that
/// is not aligned. A network has the whole packing check and a dataflow check of its own.
fn findings(problem: &ProblemHandle, plan: &Plan) -> Vec<Finding> {
    let input = &problem.input;
    if let Some(network) = &input.network {
        let mut findings = finding::in_packing(&input.problem, plan);
        findings.extend(network.check(plan));
        return findings;
    }
    let Some(program) = &input.program else { return finding::in_packing(&input.problem, plan) };
    let mut findings = finding::in_placement(&input.problem, plan);
    // The plan is one for `input.problem`, which has no buffers for allocations that are left alone. `check_any` would
    // expect a buffer for each allocation.
    if findings.is_empty() {
        findings.extend(program.check(plan));
    }
    findings
}

/// The plan that an array of offsets describes: 64-bit numbers in native byte order, one for each buffer, in the first
/// space that the buffer may be in.
fn of_offsets(problem: &ProblemHandle, offsets: &[u8]) -> Plan {
    let mut plan = Plan::empty(&problem.input.problem);
    let offsets = offsets.chunks_exact(8).map(|chunk| u64::from_ne_bytes(chunk.try_into().unwrap_or_default()));
    for ((id, buffer), offset) in problem.input.problem.buffers().iter_enumerated().zip(offsets) {
        plan.placements[id] = Some(Placement::at(buffer.spaces[0], Bytes(offset)));
    }
    plan.fit_extents(&problem.input.problem);
    plan
}

/// The fields of Python's `Finding`.
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
#[pyo3(signature = (problem, assign, limits))]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    problem: &ProblemHandle,
    assign: Option<&str>,
    limits: Given,
) -> PyResult<Compared<'py>> {
    let limits = Limits::of(py, limits)?;
    let assign = assign.map(|assign| assign_of(py, assign)).transpose()?;
    // All strategies run in one call, so that a signal can end it between any two of them.
    let comparison = watched(py, None, |request| {
        let how = limits.how(request, assign.unwrap_or_default(), None);
        Comparison::run(&problem.input, assign, &how, |_| ())
    });
    let comparison = comparison?.or_signal()?.map_err(|failure| error::failure(py, None, &failure))?;
    let rows: PyResult<Vec<_>> = comparison.entries.iter().map(|entry| entry_facts(py, entry)).collect();
    let refused = comparison.refused.iter().map(|refused| (refused.strategy.clone(), refused.reason.to_string()));
    let not_tried = comparison.not_tried.iter().map(|&name| (name.to_owned(), "not tried: time limit".to_owned()));
    Ok((rows?, refused.chain(not_tried).collect(), comparison.lower_bound(&problem.input.problem).0))
}

/// The fields of Python's `Entry`, a row of a comparison.
fn entry_facts<'py>(py: Python<'py>, entry: &Entry) -> PyResult<Bound<'py, PyDict>> {
    let facts = PyDict::new(py);
    facts.set_item("strategy", &entry.strategy)?;
    facts.set_item("assign", if entry.assign == Assign::Objects { "objects" } else { "offsets" })?;
    facts.set_item("status", entry.outcome.status())?;
    facts.set_item("extent", entry.extent().map(|extent| extent.0))?;
    facts.set_item("objects", entry.outcome.plan().map(|plan| plan.objects.len()))?;
    facts.set_item("seconds", entry.time.as_secs_f64())?;
    Ok(facts)
}

/// The fields of Python's `Saving`: what a pass has saved in a scope of a function.
fn saving_facts<'py>(py: Python<'py>, saving: &Saving) -> PyResult<Bound<'py, PyDict>> {
    let facts = PyDict::new(py);
    facts.set_item("function", &saving.function)?;
    facts.set_item("scope", &saving.scope)?;
    facts.set_item("buffers", saving.buffers)?;
    facts.set_item("before", saving.before)?;
    facts.set_item("after", saving.after)?;
    facts.set_item("lower_bound", saving.lower_bound)?;
    Ok(facts)
}

/// Rewrites a program: the new text, notes, and bytes before and after by scope.
#[pyfunction]
#[pyo3(signature = (text, spec, name, strategy, limits))]
pub(crate) fn opt<'py>(
    py: Python<'py>,
    text: &str,
    spec: &str,
    name: &str,
    strategy: Option<&str>,
    limits: Given,
) -> PyResult<(String, Vec<String>, Vec<Bound<'py, PyDict>>)> {
    let spec: PassSpec = spec.parse().map_err(|error: SpecError| error::wrong_argument(py, &error.to_string()))?;
    if pass::find(&spec.name).is_none() {
        let message = format!("there is no pass called `{}`; see memplan.passes()", spec.name);
        return Err(error::wrong_argument(py, &message));
    }
    let strategy = strategy.map(|name| strategy_of(py, name)).transpose()?;
    let limits = Limits::of(py, limits)?;
    let source = Source::new(name, text);
    let result =
        watched(py, None, |request| pass::opt(&source, &[spec], &limits.how(request, Assign::Offsets, strategy)))?
            .or_signal()?;
    // A part that failed ends the call with its error. Texts of the parts before it are of no use without it.
    let mut rewritten = Vec::new();
    for part in &result.parts {
        match &part.chain {
            Ok(chain) => rewritten.extend(chain.iter().map(|(_, output)| output)),
            Err(stopped) => return Err(error::failure(py, None, &stopped.failure)),
        }
    }
    // Repairs say what had to be planned again because a check rejected the first plan. They are told like notes,
    // since the result is right.
    let repairs = rewritten.iter().flat_map(|output| output.repairs());
    let notes = rewritten.iter().flat_map(|output| &output.notes).chain(repairs).cloned().collect();
    let savings = rewritten.iter().flat_map(|output| &output.savings);
    let savings: PyResult<Vec<_>> = savings.map(|saving| saving_facts(py, saving)).collect();
    Ok((result.text().unwrap_or_default(), notes, savings?))
}

/// The names of the strategies, with one line about each.
#[pyfunction]
pub(crate) fn strategies() -> Vec<(&'static str, &'static str)> {
    STRATEGIES.iter().map(|strategy| (strategy.name(), strategy.describe())).collect()
}

/// The names of the passes, with one line about each.
#[pyfunction]
pub(crate) fn passes() -> Vec<(&'static str, &'static str)> {
    PASSES.iter().map(|pass| (pass.name, pass.describe)).collect()
}

/// The names of the formats, with one line about each.
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
