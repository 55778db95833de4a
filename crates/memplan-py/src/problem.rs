//! Problems from Python.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memplan::core::{Buffer, Bytes, Lifetime, Problem, ProblemBuilder, Space, bound};
use memplan::format::{self, Format, Input};
use memplan::front_end::Plain;
use memplan::models::graph::problem::Assumptions;
use memplan::models::records;
use memplan::models::tflite::scratch::ScratchTable;
use memplan::source::Source;
use memplan::target::Target;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use crate::{error, watched};

/// A problem, and what it comes from.
#[pyclass(frozen, name = "Problem", module = "memplan._native")]
pub(crate) struct ProblemHandle {
    /// The problem with the program or network that it was made from, if there is one.
    pub(crate) input: Arc<Input>,
    /// Its name, such as that of the file.
    pub(crate) name: String,
}

impl ProblemHandle {
    /// A problem that comes from no file.
    fn of(problem: Problem, name: &str) -> ProblemHandle {
        ProblemHandle::of_input(Input::of_problem(problem, Vec::new()), name)
    }

    /// What was read from a file or a text.
    fn of_input(input: Input, name: &str) -> ProblemHandle {
        ProblemHandle { input: Arc::new(input), name: name.to_owned() }
    }
}

#[pymethods]
impl ProblemHandle {
    /// A problem from arrays of 64-bit numbers in native byte order, with one number for each buffer; all buffers are
    /// in one space. Without `ids` the buffers are called 0, 1, …; without `alignment` it is 1.
    #[staticmethod]
    #[pyo3(signature = (size, lower, upper, alignment, ids, capacity, space_alignment, name))]
    #[allow(clippy::too_many_arguments, reason = "only ever called by the Python half, with keywords")]
    fn from_arrays(
        py: Python<'_>,
        size: &[u8],
        lower: &[u8],
        upper: &[u8],
        alignment: Option<&[u8]>,
        ids: Option<Vec<String>>,
        capacity: Option<u64>,
        space_alignment: u64,
        name: &str,
    ) -> PyResult<ProblemHandle> {
        let (sizes, lowers, uppers) = (numbers(size), numbers(lower), numbers(upper));
        // Names and alignments are taken one by one beside the other numbers, as far as they are given.
        let mut alignments = alignment.map(numbers);
        let mut ids = ids.map(Vec::into_iter);
        let mut builder = ProblemBuilder::new();
        builder.space(Space {
            capacity: capacity.map(Bytes),
            alignment: Bytes(space_alignment),
            ..Space::new("default")
        });
        // The Python half has checked that all arrays have the same length, so `zip` drops nothing.
        for (index, ((size, lower), upper)) in sizes.zip(lowers).zip(uppers).enumerate() {
            let id = ids.as_mut().and_then(Iterator::next).unwrap_or_else(|| index.to_string());
            let size = natural(py, &id, "size", size)?;
            let (lower, upper) = (natural(py, &id, "lower", lower)?, natural(py, &id, "upper", upper)?);
            if upper < lower {
                let message = format!("buffer `{id}`: it ends at step {upper}, before it starts at {lower}");
                return Err(error::wrong_problem(py, &message));
            }
            let alignment = alignments.as_mut().and_then(Iterator::next).unwrap_or(1);
            let alignment = natural(py, &id, "alignment", alignment)?;
            builder
                .buffer(Buffer { alignment: Bytes(alignment), ..Buffer::new(id, size, Lifetime::new(lower, upper)) });
        }
        let problem = builder.build().map_err(|error| error::wrong_problem(py, &error.to_string()))?;
        Ok(ProblemHandle::of(problem, name))
    }

    /// A problem in the JSON of the documentation.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str, name: &str) -> PyResult<ProblemHandle> {
        of_records(py, "json", text, name)
    }

    /// A problem in a CSV text.
    #[staticmethod]
    fn from_csv(py: Python<'_>, text: &str, name: &str) -> PyResult<ProblemHandle> {
        of_records(py, "csv", text, name)
    }

    /// Reads a file of any format; without `format`, its name and content say which it is. The other arguments are for
    /// models: values of symbolic dimensions, whether inputs and operands may be overwritten, and the scratch memory of
    /// operators as TOML (`None` for the built-in table, an empty text for none).
    #[staticmethod]
    #[pyo3(signature = (path, format, dims, reuse_inputs, in_place, scratch))]
    fn read(
        py: Python<'_>,
        path: PathBuf,
        format: Option<&str>,
        dims: BTreeMap<String, u64>,
        reuse_inputs: bool,
        in_place: bool,
        scratch: Option<&str>,
    ) -> PyResult<ProblemHandle> {
        let format = format.map(|name| format_of(py, name)).transpose()?;
        let mut source = open(&path, format)?;
        let models = &mut source.options.models;
        models.dimensions = dims;
        models.assumptions = Assumptions { reuse_inputs, in_place };
        // No table means the built-in one; an empty text means none at all.
        models.scratch = match scratch {
            None => models.scratch.take(),
            Some("") => Some(ScratchTable::none()),
            Some(table) => {
                Some(ScratchTable::from_toml(table).map_err(|error| error::wrong_argument(py, &error.to_string()))?)
            }
        };
        let input = watched::read(py, &Plain::default(), &source)?;
        let input = input.map_err(|error| error::failure(py, Some(&source.name), &error))?;
        Ok(ProblemHandle::of_input(input, &source.name))
    }

    /// The same problem on a target: the capacity of its only space, an alignment for all spaces, or a list of
    /// spaces, each as `NAME=CAPACITY:ALIGNMENT`.
    #[pyo3(signature = (capacity=None, align=None, spaces=vec![]))]
    fn on_target(
        &self,
        py: Python<'_>,
        capacity: Option<u64>,
        align: Option<u64>,
        spaces: Vec<String>,
    ) -> PyResult<ProblemHandle> {
        let parsed: Result<Vec<_>, String> = spaces.iter().map(|space| space.parse()).collect();
        let spaces = parsed.map_err(|message| error::wrong_argument(py, &message))?;
        if align == Some(0) {
            return Err(error::wrong_argument(py, "an alignment is at least 1"));
        }
        // The program or network behind the problem stays; only capacities and alignments change.
        let target = Target { align: align.map(Bytes), capacity: capacity.map(Bytes), spaces };
        let input = (*self.input).clone().on_target(&target);
        let input = input.map_err(|error| error::wrong_problem(py, &error.to_string()))?;
        Ok(ProblemHandle::of_input(input, &self.name))
    }

    /// Names of the buffers, in input order.
    fn ids(&self) -> Vec<&str> {
        self.input.problem.buffers().iter().map(|buffer| buffer.name.as_str()).collect()
    }

    /// How many buffers there are.
    fn __len__(&self) -> usize {
        self.input.problem.buffers().len()
    }

    #[getter]
    /// Its name, such as that of the file.
    fn name(&self) -> &str {
        &self.name
    }

    #[getter]
    /// What was ignored or assumed when it was read.
    fn notes(&self) -> Vec<String> {
        self.input.notes.clone()
    }

    #[getter]
    /// No plan needs fewer bytes.
    fn lower_bound(&self) -> u64 {
        bound::lower_bound(&self.input.problem).0
    }

    /// Whether there is a program behind it, so that plans pass the dataflow check, too.
    #[getter]
    fn has_program(&self) -> bool {
        self.input.program.is_some()
    }

    /// The problem as JSON, with all its features.
    fn to_json(&self) -> String {
        records::json::write(&self.input.problem)
    }

    /// The problem as CSV, without the features that CSV cannot express.
    fn to_csv(&self) -> String {
        records::csv::write(&self.input.problem)
    }
}

/// Opens a file. If that fails, the exception is Python's `OSError` with the number, the message and the name of the
/// file.
pub(crate) fn open(path: &Path, format: Option<&'static dyn Format>) -> PyResult<Source> {
    Source::open(path, format).map_err(|error| match error.raw_os_error() {
        Some(code) => {
            // Rust appends the number of the error to the system's words, and `OSError` adds it, too. It is cut off.
            let words = error.to_string();
            let words = words.split(" (os error").next().unwrap_or_default().to_owned();
            PyOSError::new_err((code, words, path.as_os_str().to_owned()))
        }
        None => PyOSError::new_err(format!("{}: {error}", path.display())),
    })
}

/// Reads a problem from a text in a format of records.
fn of_records(py: Python<'_>, format: &str, text: &str, name: &str) -> PyResult<ProblemHandle> {
    match records::find(format).map(|format| format.read(text)) {
        Some(Ok(records)) => Ok(ProblemHandle::of_input(Input::of_problem(records.problem, records.notes), name)),
        Some(Err(error)) => Err(error::unreadable(py, None, &error)),
        None => Err(error::bug(py, &format!("the reader of {format} is gone"))),
    }
}

/// A number of an array, where the array must have natural numbers. Arrays hold signed numbers, as NumPy makes them by
/// default; for a negative one the error names the buffer and the array.
fn natural(py: Python<'_>, buffer: &str, array: &str, number: i64) -> PyResult<u64> {
    u64::try_from(number).map_err(|_| error::wrong_problem(py, &format!("buffer `{buffer}`: {array} is {number}")))
}

/// The format of this name, or Python's error that there is none.
fn format_of(py: Python<'_>, name: &str) -> PyResult<&'static dyn Format> {
    format::find(name).ok_or_else(|| error::wrong_argument(py, &format!("there is no format called `{name}`")))
}

/// The signed 64-bit numbers in an array of bytes, in native byte order. Fewer than eight bytes at the end are ignored.
fn numbers(bytes: &[u8]) -> impl Iterator<Item = i64> + '_ {
    bytes.chunks_exact(8).map(|chunk| i64::from_ne_bytes(chunk.try_into().unwrap_or_default()))
}
