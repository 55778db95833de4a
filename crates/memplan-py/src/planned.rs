//! What came of planning.

use std::sync::Arc;

use memplan::core::{Outcome, Plan, Problem, Stop};
use memplan::map::{Caption, Map};
use memplan::models::plan::{csv, header, json};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error;

/// The outcome of planning a problem; its plan, if there is one, has been checked.
#[pyclass(frozen, name = "Plan", module = "memplan._native")]
pub(crate) struct PlanHandle {
    pub(crate) problem: Arc<Problem>,
    pub(crate) outcome: Outcome,
    pub(crate) strategy: String,
    pub(crate) seconds: f64,
    pub(crate) name: String,
}

impl PlanHandle {
    /// The plan, or the error for what only a plan has.
    pub(crate) fn need(&self, py: Python<'_>) -> PyResult<&Plan> {
        let status = self.outcome.status();
        self.outcome.plan().ok_or_else(|| error::refused(py, &format!("there is no plan: the outcome is {status}")))
    }

    fn map(&self, py: Python<'_>) -> PyResult<Map<'_>> {
        let facts = vec![format!("strategy {}", self.strategy), self.outcome.status().to_owned()];
        Ok(Map::new(&self.problem, self.need(py)?, Caption::new(&self.name, facts)))
    }
}

#[pymethods]
impl PlanHandle {
    #[getter]
    fn status(&self) -> &'static str {
        self.outcome.status()
    }

    #[getter]
    fn strategy(&self) -> &str {
        &self.strategy
    }

    #[getter]
    fn seconds(&self) -> f64 {
        self.seconds
    }

    #[getter]
    fn extent(&self) -> Option<u64> {
        self.outcome.plan().map(|plan| plan.extent().0)
    }

    #[getter]
    fn lower_bound(&self) -> u64 {
        json::lower_bound(&self.problem, &self.outcome).0
    }

    /// Why planning ended, if it could have gone on.
    #[getter]
    fn stop(&self) -> Option<&'static str> {
        let (Outcome::Feasible { stop, .. } | Outcome::Exhausted { stop }) = &self.outcome else { return None };
        match stop {
            Stop::Finished => None,
            Stop::TimeLimit => Some("time limit"),
            Stop::WorkLimit => Some("work limit"),
            Stop::Interrupted => Some("interrupted"),
        }
    }

    /// Names of buffers that cannot fit together.
    #[getter]
    fn witness(&self) -> Option<Vec<&str>> {
        let Outcome::Infeasible(witness) = &self.outcome else { return None };
        Some(witness.buffers.iter().map(|&id| self.problem.buffers()[id].name.as_str()).collect())
    }

    /// First offset of every buffer as 64-bit numbers in native byte order.
    fn offsets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let plan = self.need(py)?;
        let offset = |id| plan.offset(id).unwrap_or_default().0;
        let bytes: Vec<u8> = self.problem.buffers().ids().flat_map(|id| offset(id).to_ne_bytes()).collect();
        Ok(PyBytes::new(py, &bytes))
    }

    fn to_json(&self) -> String {
        json::write(&self.problem, &self.outcome, &self.strategy, Some(self.seconds))
    }

    fn to_csv(&self, py: Python<'_>) -> PyResult<String> {
        Ok(csv::write(&self.problem, self.need(py)?))
    }

    fn to_header(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        Ok(header::write(&self.problem, self.need(py)?, name))
    }

    fn to_html(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.map(py)?.html())
    }

    fn to_svg(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.map(py)?.svg())
    }
}
