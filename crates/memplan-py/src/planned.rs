//! The result of planning as Python gets it: a handle to the checked plan, and the forms in which it can be written.

use std::sync::Arc;

use memplan::core::{Id, Outcome, Placement, Plan, Problem, Stop};
use memplan::driver::{self, Checked, Failure};
use memplan::format::Input;
use memplan::front_end::{Plain, PlanForm, Planned};
use memplan::map::{Map, Window};
use memplan::models::plan::json;
use memplan::planner::{Assign, Request, Strategy};
use memplan::{snapshot, timeline};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::error;
use crate::limits::Limits;

/// The outcome of planning a problem; its plan, if there is one, has been checked.
#[pyclass(frozen, name = "Plan", module = "memplan._native")]
pub(crate) struct PlanHandle {
    /// The problem and the file that it came from.
    pub(crate) input: Arc<Input>,
    /// The outcome.
    pub(crate) planned: Checked<Planned>,
    /// The limits with which a model is planned once more when it is written (`to_model`): those of the call. A plan
    /// out of a pickle has none.
    pub(crate) limits: Limits,
    /// The strategy that was asked for.
    pub(crate) strategy: &'static dyn Strategy,
    /// The name of the problem.
    pub(crate) name: String,
    /// How many buffers are where an old plan had them; `None` if there was no old plan.
    pub(crate) kept: Option<usize>,
}

impl PlanHandle {
    /// The problem that was planned.
    fn problem(&self) -> &Problem {
        &self.planned.problem
    }

    /// The plan; an error if there is none, for calls that make sense for a plan only.
    pub(crate) fn need(&self, py: Python<'_>) -> PyResult<&Plan> {
        let status = self.planned.outcome.status();
        let none = || error::refused(py, &format!("there is no plan: the outcome is {status}"));
        self.planned.outcome.plan().ok_or_else(none)
    }

    /// The plan as text in a form; an error if there is no plan, or if the form cannot hold it. The
    /// driver reads the text again and checks that it holds the same plan.
    fn written(&self, py: Python<'_>, form: PlanForm) -> PyResult<String> {
        self.need(py)?;
        let plain = Plain { form, ..Plain::default() };
        let output = driver::emit(&plain, &self.input, &self.planned);
        Ok(output.map_err(|error| error::failure(py, None, &error))?.text().to_owned())
    }

    /// The picture of the plan, time across and addresses up.
    fn map(&self, py: Python<'_>) -> PyResult<Map<'_>> {
        self.need(py)?;
        Map::of(&self.planned, &self.name).ok_or_else(|| error::bug(py, "a plan without a map"))
    }
}

#[pymethods]
impl PlanHandle {
    #[getter]
    /// `optimal`, `feasible`, `infeasible` or `exhausted`.
    fn status(&self) -> &'static str {
        self.planned.outcome.status()
    }

    #[getter]
    /// The name of the strategy that made the plan: the one of the call, or `auto` if the plan was repaired and the
    /// other could not keep buffers apart.
    fn strategy(&self) -> &str {
        &self.planned.strategy
    }

    /// The kind of plan.
    #[getter]
    fn assign(&self) -> &'static str {
        match self.planned.assign {
            Assign::Offsets => "offsets",
            Assign::Objects => "objects",
        }
    }

    #[getter]
    /// How many buffers are where an old plan had them.
    fn kept(&self) -> Option<usize> {
        self.kept
    }

    /// What a pickle keeps beside the problem and the plan as JSON. From the JSON `json::read` reads the plan, with its
    /// extents, overlays and cost (and the lower bound of the cost). The facts have the rest of the outcome, and what
    /// this handle says about the call. `crate::restored` gives it all to the driver once more, as the answer of the
    /// strategy of the call. The limits, the seconds and the repairs of the call are not kept: the restored handle has
    /// no limits, the time that restoring took, and no repairs.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let facts = PyDict::new(py);
        facts.set_item("status", self.status())?;
        facts.set_item("strategy", self.strategy.name())?;
        facts.set_item("assign", self.assign())?;
        facts.set_item("lower_bound", self.lower_bound())?;
        facts.set_item("stop", self.stop())?;
        facts.set_item("kept", self.kept)?;
        // Where nothing fits, the witness is part of the answer.
        if let Outcome::Infeasible(witness) = &self.planned.outcome {
            facts.set_item("space", self.problem().spaces()[witness.space].name.as_str())?;
            facts.set_item("witness", self.witness())?;
            facts.set_item("step", witness.step.map(|step| step.0))?;
            facts.set_item("needed", witness.needed.0)?;
            facts.set_item("capacity", witness.capacity.0)?;
        }
        Ok(facts)
    }

    #[getter]
    /// How long the strategy took.
    fn seconds(&self) -> f64 {
        self.planned.time.as_secs_f64()
    }

    /// What had to be planned again because a check rejected the first plan; empty unless something is wrong in
    /// memplan.
    #[getter]
    fn repairs(&self) -> Vec<String> {
        self.planned.repairs().to_vec()
    }

    #[getter]
    /// How many bytes the plan needs; `None` if there is no plan.
    fn extent(&self) -> Option<u64> {
        self.planned.outcome.plan().map(|plan| plan.extent().0)
    }

    #[getter]
    /// No plan needs fewer bytes.
    fn lower_bound(&self) -> u64 {
        json::lower_bound(self.problem(), &self.planned.outcome).0
    }

    /// The cost of the plan, and a lower bound on the cost of any plan; `None` if no pair has a price.
    #[getter]
    fn cost(&self) -> Option<(u64, u64)> {
        let cost = self.planned.outcome.plan()?.cost?;
        Some((cost.total, cost.lower_bound))
    }

    /// The priced pairs that have a byte in common, each with its price.
    fn active_pairs(&self, py: Python<'_>) -> PyResult<Vec<(&str, &str, u64)>> {
        let name = |id: memplan::core::BufferId| self.problem().buffers()[id].name.as_str();
        let active = self.need(py)?.active_pairs(self.problem());
        Ok(active.into_iter().map(|pair| (name(pair.one), name(pair.other), pair.weight)).collect())
    }

    /// Why planning ended early; `None` if it came to its end.
    #[getter]
    fn stop(&self) -> Option<&'static str> {
        let (Outcome::Feasible { stop, .. } | Outcome::Exhausted { stop }) = &self.planned.outcome else { return None };
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
        let Outcome::Infeasible(witness) = &self.planned.outcome else { return None };
        Some(witness.buffers.iter().map(|&id| self.problem().buffers()[id].name.as_str()).collect())
    }

    /// The offset of every buffer's first slot, as 64-bit numbers in native byte order; 0 for a buffer without a place.
    fn offsets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let plan = self.need(py)?;
        let offset = |id| plan.offset(id).unwrap_or_default().0;
        let bytes: Vec<u8> = self.problem().buffers().ids().flat_map(|id| offset(id).to_ne_bytes()).collect();
        Ok(PyBytes::new(py, &bytes))
    }

    /// The number of every buffer's shared object; 0 for a buffer without one.
    fn objects(&self, py: Python<'_>) -> PyResult<Vec<usize>> {
        let plan = self.need(py)?;
        let object = |placement: &Option<Placement>| Some(placement.as_ref()?.object?.index());
        Ok(plan.placements.iter().map(|placement| object(placement).unwrap_or_default()).collect())
    }

    /// The plan as JSON, on one line.
    fn to_json(&self) -> String {
        self.planned.to_json()
    }

    /// The records with their offsets.
    fn to_csv(&self, py: Python<'_>) -> PyResult<String> {
        self.written(py, PlanForm::Csv)
    }

    /// A C header whose macros begin with `name`.
    fn to_header(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        self.written(py, PlanForm::Header(name.to_owned()))
    }

    /// A copy of the `.tflite` model with the plan inside. The model is planned once more for this form: if the runtime
    /// would need more memory with the plan than without any, a better one is written (`memplan::front_end::Plain`).
    fn to_model<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.need(py)?;
        let plain = Plain { form: PlanForm::Model, ..Plain::default() };
        let bytes = py.detach(|| {
            // The same strategy and limits as for the plan itself.
            let how = self.limits.how(Request::default(), self.planned.assign, Some(self.strategy));
            let planned = driver::lay_out(&plain, &self.input, &how)?;
            let mut bytes = Vec::new();
            let output = driver::emit(&plain, &self.input, &planned)?;
            output.write(&mut bytes).map_err(|error| Failure::Form(error.to_string()))?;
            Ok::<_, Failure>(bytes)
        });
        Ok(PyBytes::new(py, &bytes.map_err(|error| error::failure(py, None, &error))?))
    }

    /// The memory map as a page.
    fn to_html(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.map(py)?.html())
    }

    /// The memory map as a picture.
    fn to_svg(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.map(py)?.svg())
    }

    /// The memory map in characters.
    fn to_text(&self, py: Python<'_>, columns: usize, rows: usize) -> PyResult<String> {
        // The limits keep the text from filling the memory.
        let window = Window { columns: columns.min(2000), rows: rows.min(1000), coloured: false };
        Ok(self.map(py)?.terminal(window))
    }

    /// A trace for a timeline viewer.
    fn to_trace(&self, py: Python<'_>) -> PyResult<String> {
        Ok(timeline::write(self.problem(), self.need(py)?))
    }

    /// A snapshot for PyTorch's memory viewer.
    fn to_snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &snapshot::write(self.problem(), self.need(py)?, |_| None)))
    }
}
