//! The formats memplan reads, and how one is found for a file.
//!
//! A format turns a text into an [`Input`]: lifetime records give a problem at
//! once, a program is lowered and analysed first. Adding a format is one file
//! and one line in [`FORMATS`]; the command line and the tests iterate it.

mod mlir;
mod program;
mod records;
mod tvmscript;

use memplan_core::{Problem, Span};
use memplan_mlir::Dialects;
use memplan_models::{ReadError, utf8};

use crate::analyzed::Analyzed;

/// What was read: a problem, and the program it comes from if there is one.
#[derive(Clone, Debug)]
pub struct Input {
    /// What has to be placed.
    pub problem: Problem,
    /// The program behind the problem; lifetime records have none.
    pub program: Option<Analyzed>,
    /// What was ignored, assumed or left alone, for the user to know.
    pub notes: Vec<String>,
}

/// What readers may be told.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// What is known about MLIR ops, if more than the built-in tables.
    pub dialects: Option<Dialects>,
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
}

/// All formats, in the order in which content is asked for. CSV comes last: it
/// takes almost anything with commas.
pub const FORMATS: &[&dyn Format] =
    &[&records::JSON, &records::TRACE, &tvmscript::TvmScript, &mlir::Mlir, &program::ProgramText, &records::CSV];

/// The format of that name.
pub fn find(name: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.name() == name)
}

/// The format by the file's extension, or else by its content.
pub fn detect(file_name: &str, text: &str) -> Option<&'static dyn Format> {
    let extension = file_name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    let by_name = extension
        .and_then(|extension| FORMATS.iter().copied().find(|format| format.extensions().contains(&extension.as_str())));
    by_name.or_else(|| FORMATS.iter().copied().find(|format| format.sniff(text)))
}

/// Reads a file. Without a format it is found by name or content.
pub fn read(
    bytes: &[u8],
    format: Option<&'static dyn Format>,
    file_name: &str,
    options: &ReadOptions,
) -> Result<Input, ReadError> {
    let text = utf8(bytes)?;
    if text.trim().is_empty() {
        let error = ReadError::new("read::empty", text, Span::new(0, 0), "the file is empty");
        return Err(error.help("expected records, for example a CSV with the header id,lower,upper,size"));
    }
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
