//! The scoreboard: instances with the best extents known, and how we do on them.
//!
//! A corpus is a folder of problems (`.csv`, `.json`, and `.jsonl` with a problem a
//! line) in any subfolders, and a file `best.csv` with what is known about them:
//!
//! ```csv
//! name,extent,lower_bound
//! real/iree_densenet121,7743488,7743488
//! ```
//!
//! [`run`] plans every instance and says whether an extent got worse. Instances
//! that cannot be part of the folder may be listed all the same: they count when
//! another folder that is given has them.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use memplan_core::{Bytes, Outcome, Problem, bound};
use memplan_planner::strategy::search::Search;
use memplan_planner::{Request, search};

use crate::driver::{self, Failure, How, Method};
use crate::format::{self, Input};
use crate::front_end::{Plain, Planned};

/// The file with what is known.
pub const BEST: &str = "best.csv";

/// What is known about an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// The smallest extent anybody has found.
    pub extent: Bytes,
    /// A bound that somebody has proved: no plan is smaller.
    pub lower_bound: Bytes,
}

/// A problem of the corpus.
#[derive(Clone, Debug)]
pub struct Instance {
    /// Path inside its folder without extension; for a problem of a `.jsonl` file, `#` and its number follow.
    pub name: String,
    /// The problem.
    pub problem: Arc<Problem>,
}

/// How one instance went.
#[derive(Clone, Debug)]
pub struct Score {
    /// The name of the instance.
    pub name: String,
    /// How many buffers it has.
    pub buffers: usize,
    /// The lower bound that needs no search: about the peak of live bytes.
    pub peak: Bytes,
    /// What came of it.
    pub outcome: Outcome,
    /// Nodes (decisions) of the exact searches; 0 if heuristics alone were enough.
    pub nodes: u64,
    /// Members of the portfolio that were run: orders of first and best fit, each of which makes a
    /// plan.
    pub members: usize,
    /// Units of work of the passes that the search began with, before the exact searches.
    pub first_passes: u64,
    /// Time that the strategy took.
    pub time: Duration,
    /// What was known before, from `best.csv`; `None` if nothing was.
    pub known: Option<Known>,
}

impl Score {
    /// Whether the extent is larger than the best known one, or there is no plan. `false` if nothing is known.
    pub fn is_worse(&self) -> bool {
        let Some(known) = self.known else { return false };
        self.outcome.plan().is_none_or(|plan| plan.extent() > known.extent)
    }
}

/// Why a corpus cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum CorpusError {
    #[error("cannot read {}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("{}: {message}", path.display())]
    Content { path: PathBuf, message: String },
}

/// Reads what is known; an absent file is an empty one.
pub fn known(folder: &Path) -> Result<BTreeMap<String, Known>, CorpusError> {
    let path = folder.join(BEST);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(CorpusError::Io { path, error }),
    };
    // The first line is the heading.
    let lines = text.lines().enumerate().skip(1).filter(|(_, line)| !line.trim().is_empty());
    let wrong = |number: usize| CorpusError::Content {
        path: path.clone(),
        message: format!("line {} is not `name,extent,lower_bound`", number + 1),
    };
    lines.map(|(number, line)| known_line(line).ok_or_else(|| wrong(number))).collect()
}

/// A line `name,extent,lower_bound`.
fn known_line(line: &str) -> Option<(String, Known)> {
    let [name, extent, lower_bound] = line.split(',').collect::<Vec<_>>()[..] else { return None };
    let bytes = |text: &str| text.parse().map(Bytes).ok();
    Some((name.to_owned(), Known { extent: bytes(extent)?, lower_bound: bytes(lower_bound)? }))
}

/// All instances of a folder. The name of an instance is its path inside the folder without the extension, and
/// `#` with a number for each problem of a `.jsonl` file.
pub fn instances(folder: &Path) -> Result<Vec<Instance>, CorpusError> {
    let mut instances = Vec::new();
    for path in files(folder)? {
        // Names have slashes on every system, because the file of best extents lists them so.
        let inside = path.strip_prefix(folder).unwrap_or(&path).with_extension("");
        let name = inside.to_string_lossy().replace('\\', "/");
        let bytes = fs::read(&path).map_err(|error| CorpusError::Io { path: path.clone(), error })?;
        // Each line of a `.jsonl` file is a problem; any other file is one problem.
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            for (number, line) in bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).enumerate() {
                let problem = aligned(line, read_problem(&path, "line.json", line)?);
                instances.push(Instance { name: format!("{name}#{number}"), problem });
            }
        } else {
            instances.push(Instance { problem: read_problem(&path, &path.to_string_lossy(), &bytes)?, name });
        }
    }
    Ok(instances)
}

/// Reads one problem. `path` is the file that an error names; the end of `file_name` says in which format the bytes
/// are.
fn read_problem(path: &Path, file_name: &str, bytes: &[u8]) -> Result<Arc<Problem>, CorpusError> {
    match format::read(bytes, None, file_name, &format::ReadOptions::default()) {
        Ok(input) => Ok(input.problem),
        Err(error) => Err(CorpusError::Content { path: path.to_path_buf(), message: error.to_string() }),
    }
}

/// The problem of a line of a `.jsonl` file. A line may say `"alignment": 32` for all of its buffers, which the reader
/// of records does not know.
fn aligned(line: &[u8], problem: Arc<Problem>) -> Arc<Problem> {
    let alignment = serde_json::from_slice::<serde_json::Value>(line).ok();
    let alignment = alignment.and_then(|value| value.get("alignment")?.as_u64()).filter(|&alignment| alignment > 0);
    let Some(alignment) = alignment else { return problem };
    // If the problem cannot be built with that alignment, it stays as it was read.
    let mut builder = problem.to_builder();
    builder.buffers_mut().iter_mut().for_each(|buffer| buffer.alignment = Bytes(alignment));
    builder.build().map_or(problem, Arc::new)
}

/// Problem files in a folder and its subfolders, sorted. The file with the best extents and folders called `plans` hold
/// no problems.
fn files(folder: &Path) -> Result<Vec<PathBuf>, CorpusError> {
    // `open` are the folders that have not been looked into yet.
    let mut open = vec![folder.to_path_buf()];
    let mut files = Vec::new();
    while let Some(path) = open.pop() {
        let io_error = |error| CorpusError::Io { path: path.clone(), error };
        for entry in fs::read_dir(&path).map_err(io_error)? {
            let entry = entry.map_err(io_error)?.path();
            let is_problem = entry.extension().is_some_and(|e| e == "csv" || e == "json" || e == "jsonl");
            let is_plan = entry.file_name().is_some_and(|name| name == "plans" || name == BEST);
            match () {
                () if is_plan => {}
                () if entry.is_dir() => open.push(entry),
                () if is_problem => files.push(entry),
                () => {}
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Plans an instance with the strategy `search`, through the driver like everything else, and counts what the search
/// did. An instance for which no plan is found has a score, too: its outcome says so. It is a failure if `search`
/// refuses the problem, if no plan passes the driver's checks, or if the time limit or Ctrl-C ends a stage.
pub fn run(instance: &Instance, known: Option<Known>, how: &How) -> Result<Score, Failure> {
    // The driver asks a strategy for an outcome only, so the closure hands out its counters through this lock. (It is a
    // lock because a strategy may be called from any thread.) If a check rejects a plan, the driver asks again, and the
    // counters are those of the last time.
    let counted = Mutex::new((0, 0, 0));
    let method = Method {
        base: &Search,
        plan: |problem: &Problem, request: &Request| {
            let answer = search::search(problem, request);
            *counted.lock().unwrap_or_else(PoisonError::into_inner) =
                (answer.nodes, answer.members, answer.first_passes);
            answer.outcome
        },
    };
    // A `Method` plans with the closure `plan` and takes everything else from its `base`. So it has the name and the
    // limits of `search`, and the driver treats it as that strategy. The input has no notes for the user. `Plain` is
    // the front end for inputs that are only planned, and `into_inner` gives the layout that the driver has checked.
    let input = Input::of_problem(Arc::clone(&instance.problem), Vec::new());
    let how = How { strategy: Some(&method), ..how.clone() };
    let Planned { problem, outcome, time, .. } = driver::lay_out(&Plain::default(), &input, &how)?.into_inner();
    let (buffers, peak) = (problem.buffers().len(), bound::lower_bound(&problem));
    let (nodes, members, first_passes) = *counted.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(Score { name: instance.name.clone(), buffers, peak, outcome, nodes, members, first_passes, time, known })
}
