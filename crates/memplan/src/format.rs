//! The formats memplan reads, and how one is found for a file.
//!
//! A format turns a text into an [`Input`]: lifetime records give a problem at
//! once, a program is lowered and analysed first. Adding a format is one file
//! and one line in [`FORMATS`]; the command line and the tests iterate it.

mod kineto;
pub(crate) mod mlir;
mod onnx;
mod program;
mod records;
mod snapshot;
pub(crate) mod te;
mod tflite;
mod tvmscript;
mod xla;

use std::collections::BTreeMap;
use std::sync::Arc;

use memplan_core::{Plan, Problem, Span};
use memplan_mlir::Dialects;
use memplan_models::graph::problem::Assumptions;
use memplan_models::records::dsa::Numbers;
use memplan_models::source::ReadAt;
use memplan_models::tflite::scratch::ScratchTable;
use memplan_models::{ReadError, utf8};

use crate::analyzed::Analyzed;
use crate::network::Network;
use crate::source::Source;
use crate::target::{Target, TargetError};

/// What was read: a problem, and the program it comes from if there is one.
#[derive(Clone)]
pub struct Input {
    /// What has to be placed.
    pub problem: Arc<Problem>,
    /// The program from which the problem was made; `None` for lifetime records.
    pub program: Option<Arc<Analyzed>>,
    /// The network from which the problem was made, if the input is a model file.
    pub network: Option<Arc<Network>>,
    /// That file, for a copy of it with a plan inside.
    pub file: Option<Source>,
    /// The targets that the problem was set on, in their order.
    pub targets: Vec<Target>,
    /// Plans of other tools that the file holds or that follow from it.
    pub peers: Vec<PeerPlan>,
    /// The numbers by which a `dsa` file calls its pools and buffers.
    pub numbers: Option<Arc<Numbers>>,
    /// What was ignored, assumed or left alone, for the user to know.
    pub notes: Vec<String>,
}

impl Input {
    /// An input that is a problem and nothing else.
    pub fn of_problem(problem: impl Into<Arc<Problem>>, notes: Vec<String>) -> Input {
        Input {
            problem: problem.into(),
            program: None,
            network: None,
            file: None,
            targets: Vec::new(),
            peers: Vec::new(),
            numbers: None,
            notes,
        }
    }

    /// The input on a target: its problem gets the target's capacities and alignments. For a network, the bytes that
    /// its runtime keeps for itself are taken off the capacity first.
    pub fn on_target(mut self, target: &Target) -> Result<Input, TargetError> {
        self.targets.push(target.clone());
        let (target, note) = match &self.network {
            Some(network) => network.without_tail(target),
            None => (target.clone(), None),
        };
        if target != Target::default() {
            self.problem = Arc::new(target.apply(&self.problem)?);
        }
        self.notes.extend(note);
        Ok(self)
    }
}

/// A plan that another tool has made for the same problem.
#[derive(Clone, Debug)]
pub struct PeerPlan {
    /// The name of the tool, such as `pytorch`.
    pub name: &'static str,
    /// The tool's plan for the input's problem.
    pub plan: Plan,
}

/// What readers of models may be told.
#[derive(Clone, Debug)]
pub struct ModelOptions {
    /// What may be reused and overwritten.
    pub assumptions: Assumptions,
    /// Scratch memory of operators; `None` to plan tensors alone.
    pub scratch: Option<ScratchTable>,
    /// Values of symbolic dimensions.
    pub dimensions: BTreeMap<String, u64>,
    /// The largest dimensions of tensors, by name, whose size depends on the content of other tensors.
    pub sizes: BTreeMap<String, Vec<u64>>,
}

impl Default for ModelOptions {
    fn default() -> ModelOptions {
        ModelOptions {
            assumptions: Assumptions::default(),
            scratch: Some(ScratchTable::starter()),
            dimensions: BTreeMap::new(),
            sizes: BTreeMap::new(),
        }
    }
}

/// What readers may be told.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// What is known about MLIR ops, if more than the built-in tables.
    pub dialects: Option<Dialects>,
    /// What is to be assumed about models.
    pub models: ModelOptions,
    /// Which problem to read of a file that holds several.
    pub instance: Option<String>,
}

/// A format of input files.
pub trait Format: Sync {
    /// The name for `--format`.
    fn name(&self) -> &'static str;
    /// One line for listings.
    fn describe(&self) -> &'static str;
    /// File name extensions, without the dot.
    fn extensions(&self) -> &'static [&'static str];
    /// Whether a text looks like this format.
    fn sniff(&self, text: &str) -> bool;
    /// Reads a text.
    fn read(&self, text: &str, options: &ReadOptions) -> Result<Input, ReadError>;

    /// The name of the second file that belongs to a file of that name, if the format has two.
    fn sibling(&self, _file_name: &str) -> Option<String> {
        None
    }

    /// Whether files of this format are not text and may be too large to load.
    fn is_binary(&self) -> bool {
        false
    }

    /// Whether the first bytes of a file that is not text look like this format.
    fn sniff_binary(&self, _head: &[u8]) -> bool {
        false
    }

    /// Reads a file that is not text, piece by piece.
    fn read_binary(&self, source: &dyn ReadAt, options: &ReadOptions) -> Result<Input, ReadError> {
        let mut bytes = vec![0; usize::try_from(source.size()).unwrap_or(usize::MAX)];
        let failed = |error: std::io::Error| ReadError::at_byte("read::failed", 0, error.to_string());
        source.read_at(0, &mut bytes).map_err(failed)?;
        self.read(utf8(&bytes)?, options)
    }
}

/// All formats. For a text of unknown format they are asked in this order whether they recognise it. CSV comes last,
/// because it takes almost anything with commas; the records in JSON come after the other formats that are JSON.
pub const FORMATS: &[&dyn Format] = &[
    &tflite::Tflite,
    &onnx::Onnx,
    &snapshot::Snapshot,
    &kineto::Kineto,
    &xla::Xla,
    &te::TensorExpressions,
    &records::DSA,
    &records::JSON,
    &records::TRACE,
    &tvmscript::TvmScript,
    &mlir::Mlir,
    &program::ProgramText,
    &records::CSV,
];

/// The format of that name; `None` if there is none.
pub fn find(name: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.name() == name)
}

/// The format by the file's extension (the longest that is known), or else by its content.
pub fn detect(file_name: &str, text: &str) -> Option<&'static dyn Format> {
    let by_content = || FORMATS.iter().copied().find(|format| format.sniff(text));
    match by_extension(file_name) {
        // Several formats are JSON, and many of their files are called `.json`, so the content decides.
        Some(json) if json.name() == "json" && text.trim_start().starts_with('{') => by_content().or(Some(json)),
        Some(format) => Some(format),
        None => by_content(),
    }
}

/// The format of a file that is not text, by its name or its first bytes.
pub fn detect_binary(file_name: &str, head: &[u8]) -> Option<&'static dyn Format> {
    // If the name says that the file is text, the answer is `None`, whatever its first bytes are.
    let by_name = by_extension(file_name);
    let by_content = || FORMATS.iter().copied().find(|format| format.sniff_binary(head));
    by_name.map_or_else(by_content, Some).filter(|format| format.is_binary())
}

/// The format whose extension is the longest that the name ends with: `net.te.json` is no list of records.
fn by_extension(file_name: &str) -> Option<&'static dyn Format> {
    let name = file_name.to_ascii_lowercase();
    // The length of the format's longest extension that the name ends with; `None` if it ends with none.
    let length = |format: &&dyn Format| {
        let mine = format.extensions().iter();
        // The name must end with a dot and the extension.
        let ends = |extension: &&&str| name.strip_suffix(**extension).is_some_and(|stem| stem.ends_with('.'));
        mine.filter(ends).map(|extension| extension.len()).max()
    };
    FORMATS.iter().copied().filter(|format| length(format).is_some()).max_by_key(length)
}

/// Reads a file. Without a format it is found by name or content.
pub fn read(
    bytes: &[u8],
    format: Option<&'static dyn Format>,
    file_name: &str,
    options: &ReadOptions,
) -> Result<Input, ReadError> {
    // The first eight bytes are enough to recognise each binary format. A binary file must be found first: it is
    // no UTF-8 text and would only be reported as such.
    let head = bytes.get(..8).unwrap_or(bytes);
    let binary = match format {
        Some(format) => Some(format).filter(|format| format.is_binary()),
        None => detect_binary(file_name, head),
    };
    if let Some(binary) = binary {
        return binary.read_binary(&bytes, options);
    }
    let text = utf8(bytes)?;
    if text.trim().is_empty() {
        let error = ReadError::new("read::empty", text, Span::new(0, 0), "the file is empty");
        return Err(error.help("expected records, for example a CSV with the header id,lower,upper,size"));
    }
    // Records look alike, so a text that no format recognises is refused with the list of formats. A guess would
    // plan something else than what was meant.
    let Some(format) = format.or_else(|| detect(file_name, text)) else {
        let span = Span::new(0, text.find('\n').unwrap_or(text.len()));
        let names: Vec<&str> = FORMATS.iter().map(|format| format.name()).collect();
        let error = ReadError::new("read::unknown-format", text, span, "the format of the file is not known");
        return Err(error.help(format!("say which it is with --format {}", names.join("|"))));
    };
    format.read(text, options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_found_by_name_and_by_content() {
        let name = |file: &str, text: &str| detect(file, text).map(|format| format.name());
        assert_eq!(name("a.mlir", ""), Some("mlir"));
        assert_eq!(name("A.CSV", ""), Some("csv"));
        assert_eq!(name("net.te.json", ""), Some("te"));
        assert_eq!(name("plan.json", ""), Some("json"));
        assert_eq!(name("plan.json", "{\"buffers\": []}"), Some("json"));
        assert_eq!(name("profile.json", "{\"schemaVersion\": 1, \"traceEvents\": []}"), Some("kineto"));
        assert_eq!(name("x", "{\"ops\": [{\"placeholder\": \"A\"}]}"), Some("te"));
        assert_eq!(name("x", "// a comment\nmodule {\n}\n"), Some("mlir"));
        assert_eq!(name("x", "func.func @f() {\n  return\n}\n"), Some("mlir"));
        assert_eq!(name("x", "func @main() {\n  leave\n}\n"), Some("program"));
        assert_eq!(name("x", "{\"records\": []}"), Some("json"));
        assert_eq!(name("x", "alloc a 8\nfree a\n"), Some("trace"));
        assert_eq!(name("x", "id,lower,upper,size\n"), Some("csv"));
        assert_eq!(name("x", "hello"), None);
    }

    #[test]
    fn names_and_extensions_belong_to_one_format_only() {
        let mut names: Vec<&str> = FORMATS.iter().map(|format| format.name()).collect();
        names.extend(
            FORMATS.iter().flat_map(|format| format.extensions()).filter(|extension| find(extension).is_none()),
        );
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
