//! Models that are written anew: with their ops in another order, or changed until they fit.

use std::path::PathBuf;

use memplan::core::{Bytes, Id};
use memplan::driver::{self, Failure, How};
use memplan::fit::Allowed;
use memplan::front_end::fit::Counted;
use memplan::front_end::{Fit, Output, Reorder};
use memplan::planner::Assign;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error;
use crate::limits::{Given, Limits};
use crate::watched::{self, watched};

/// The peaks of live bytes before and after, whether no order has a lower one, the order of the ops by number, and the
/// model in that order.
type InOrder<'py> = (u64, u64, bool, Vec<usize>, Option<Bound<'py, PyBytes>>);

/// Looks for an order of a model's ops with a lower peak. Gives the peaks before and after, whether no order has a
/// lower one, the order, and the model in that order if `content` is asked for. `width` limits the search.
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
    // Through the driver: the new order is checked, and the written model is read again.
    let input = watched::read(py, &front_end, &source)?.map_err(failed)?;
    let found = py.detach(|| driver::lay_out(&front_end, &input, &How::default())).map_err(failed)?;
    let model = content.then(|| driver::emit(&front_end, &input, &found).map_err(failed)).transpose()?;
    let order = found.order.iter().map(|op| op.index()).collect();
    let model = model.map(|model| in_bytes(py, &model)).transpose()?;
    Ok((found.before.0, found.after.0, found.is_exact, order, model))
}

/// The versions of a model as JSON, the model if `content` is asked for, and notes.
type FittedModel<'py> = (String, Option<Bound<'py, PyBytes>>, Vec<String>);

/// Changes a model until it fits into `capacity` bytes; without a capacity, until no smaller version is found.
/// `changes` names the changes that are allowed; with `tensors`, only the bytes of tensors count and not the whole
/// arena.
#[pyfunction]
#[pyo3(signature = (path, content, capacity, changes, tensors, limits))]
#[allow(clippy::too_many_arguments, reason = "only ever called by the Python half, in this order")]
pub(crate) fn fit<'py>(
    py: Python<'py>,
    path: PathBuf,
    content: bool,
    capacity: Option<u64>,
    changes: Vec<String>,
    tensors: bool,
    limits: Given,
) -> PyResult<FittedModel<'py>> {
    let limits = Limits::of(py, limits)?;
    let changes: Vec<&str> = changes.iter().map(String::as_str).collect();
    let mut source = crate::problem::open(&path, None)?;
    // Whether inputs may be overwritten is decided when the model is read; the other changes are made later.
    source.options.models.assumptions.reuse_inputs |= changes.contains(&"input-reuse");
    let allowed = Allowed {
        reorder: changes.contains(&"reorder"),
        recompute: changes.contains(&"recompute"),
        patches: changes.contains(&"patches"),
    };
    let counted = if tensors { Counted::Tensors } else { Counted::Arena };
    let front_end = Fit { allowed, capacity: capacity.map(Bytes), counted, records: None };
    let name = Some(source.name.as_str());
    let input = watched::read(py, &front_end, &source)?.map_err(|failure| error::failure(py, name, &failure))?;
    let fitted =
        watched(py, None, |request| driver::lay_out(&front_end, &input, &limits.how(request, Assign::Offsets, None)));
    let fitted = fitted?.or_signal()?.map_err(|failure| error::failure(py, name, &failure))?;
    // A caller who only wants to know how much memory is needed gets no model: writing one takes as long as reading it.
    let model = content.then(|| driver::emit(&front_end, &input, &fitted)).transpose();
    let model = model.map_err(|failure| error::failure(py, name, &failure))?;
    let notes = input.notes.iter().chain(fitted.repairs()).cloned().collect();
    Ok((fitted.to_json(), model.map(|model| in_bytes(py, &model)).transpose()?, notes))
}

/// A written model as Python's `bytes`.
fn in_bytes<'py>(py: Python<'py>, model: &Output) -> PyResult<Bound<'py, PyBytes>> {
    let mut bytes = Vec::new();
    model.write(&mut bytes)?;
    Ok(PyBytes::new(py, &bytes))
}
