//! Plans out of pickles.
//!
//! A plan that comes out of a pickle may have been changed on its way, or made by another version. So it must be
//! checked. It goes through the driver, which checks every plan, as the answer of a strategy that always gives this
//! one answer.

use std::sync::Arc;

use memplan::core::{Bytes, Outcome, Problem, Step, Stop, Witness};
use memplan::driver::{self, How};
use memplan::front_end::Plain;
use memplan::models::plan::json;
use memplan::planner::{Assign, Feature, Request, Strategy};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::calls::{assign_of, strategy_of};
use crate::error;
use crate::limits::Limits;
use crate::planned::PlanHandle;
use crate::problem::ProblemHandle;

/// A strategy that gives the answer that another one gave before the plan was pickled.
struct Remembered {
    /// The strategy that made the plan.
    by: &'static dyn Strategy,
    /// The answer.
    outcome: Outcome,
}

impl Strategy for Remembered {
    fn name(&self) -> &'static str {
        self.by.name()
    }

    fn describe(&self) -> &'static str {
        self.by.describe()
    }

    fn assigns(&self) -> &'static [Assign] {
        self.by.assigns()
    }

    // The problem is the one that the plan was made for, so every feature that it has was supported.
    fn supports(&self, _feature: Feature, _assign: Assign) -> bool {
        true
    }

    fn plan(&self, _problem: &Problem, _request: &Request) -> Outcome {
        self.outcome.clone()
    }
}

/// Makes a plan again from its JSON form and from the facts that the JSON does not have ([`PlanHandle::facts`]).
#[pyfunction]
pub(crate) fn restore(
    py: Python<'_>,
    problem: &ProblemHandle,
    text: &str,
    facts: &Bound<'_, PyDict>,
) -> PyResult<PlanHandle> {
    // A fact that is a text.
    let word = |key: &str| -> PyResult<String> { need(py, facts, key)?.extract() };
    let (strategy, assign) = (strategy_of(py, &word("strategy")?)?, assign_of(py, &word("assign")?)?);
    let outcome = outcome(py, &problem.input.problem, text, facts)?;
    // The limits of the original call are not kept. Strict: a plan that the check rejects is an error.
    let limits = Limits::of(py, (None, None, 0, "normal".to_owned(), None, true))?;
    let remembered = Remembered { by: strategy, outcome };
    let request = Request { assign, ..Request::default() };
    let how = How { strategy: Some(&remembered), request, strict: true, ..How::default() };
    let planned = driver::lay_out(&Plain::default(), &problem.input, &how)
        .map_err(|failure| error::failure(py, None, &failure))?;
    let (input, name) = (Arc::clone(&problem.input), problem.name.clone());
    Ok(PlanHandle { input, planned, limits, strategy, name, kept: need(py, facts, "kept")?.extract()? })
}

/// A fact that every pickled plan has.
fn need<'py>(py: Python<'py>, facts: &Bound<'py, PyDict>, key: &str) -> PyResult<Bound<'py, PyAny>> {
    facts.get_item(key)?.ok_or_else(|| error::wrong_argument(py, &format!("the pickled plan has no {key}")))
}

/// The outcome that a pickle describes. Its plan is checked again by the caller.
fn outcome(py: Python<'_>, problem: &Problem, text: &str, facts: &Bound<'_, PyDict>) -> PyResult<Outcome> {
    let status: String = need(py, facts, "status")?.extract()?;
    let stop: Option<String> = need(py, facts, "stop")?.extract()?;
    let stop = match stop.as_deref() {
        Some("time limit") => Stop::TimeLimit,
        Some("work limit") => Stop::WorkLimit,
        Some("interrupted") => Stop::Interrupted,
        // `PlanHandle::stop` gives `None` for a search that came to its own end.
        _ => Stop::Finished,
    };
    let plan = || json::read(text, problem).map_err(|error| error::unreadable(py, None, &error));
    Ok(match status.as_str() {
        "optimal" => Outcome::Optimal(plan()?),
        "feasible" => {
            let lower_bound = Bytes(need(py, facts, "lower_bound")?.extract()?);
            Outcome::Feasible { plan: plan()?, lower_bound, stop }
        }
        "infeasible" => Outcome::Infeasible(witness(py, problem, facts)?),
        _ => Outcome::Exhausted { stop },
    })
}

/// The witness that a pickle names: buffers of a space that cannot fit together.
fn witness(py: Python<'_>, problem: &Problem, facts: &Bound<'_, PyDict>) -> PyResult<Witness> {
    let unknown =
        |name: &str| error::wrong_argument(py, &format!("the pickled plan names `{name}`, which is not there"));
    let space: String = need(py, facts, "space")?.extract()?;
    let names: Vec<String> = need(py, facts, "witness")?.extract()?;
    let buffer = |name: &String| {
        let mut buffers = problem.buffers().iter_enumerated();
        buffers.find(|(_, buffer)| buffer.name == *name).map(|(id, _)| id).ok_or_else(|| unknown(name))
    };
    let mut spaces = problem.spaces().iter_enumerated();
    Ok(Witness {
        space: spaces.find(|(_, known)| known.name == space).map(|(id, _)| id).ok_or_else(|| unknown(&space))?,
        buffers: names.iter().map(buffer).collect::<PyResult<_>>()?,
        step: need(py, facts, "step")?.extract::<Option<u64>>()?.map(Step),
        needed: Bytes(need(py, facts, "needed")?.extract()?),
        capacity: Bytes(need(py, facts, "capacity")?.extract()?),
    })
}
