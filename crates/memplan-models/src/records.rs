//! Problems as plain lifetime records, without a program.
//!
//! | format | one record | ends |
//! |---|---|---|
//! | [`csv`] | a line `id,lower,upper,size` | by header: `upper` excluded, `end` and `last_task` included |
//! | [`json`] | an object, or `[size, first_task, last_task]` in the short form | excluded, or included in the short form |
//! | [`dsa`] | an object with pools, live intervals and reuse penalties | excluded |
//! | [`trace`] | a line `alloc ID SIZE` and a line `free ID` | the free's event, excluded |
//!
//! Whatever the convention, the [`Problem`] has half-open lifetimes.

pub mod csv;
pub mod dsa;
pub mod json;
pub mod trace;

use memplan_core::{Problem, Span};

use crate::ReadError;
use crate::utf8;

/// A problem read from a file.
#[derive(Clone, Debug)]
pub struct Records {
    /// The problem.
    pub problem: Problem,
    /// Sentences for the user about what was ignored or assumed.
    pub notes: Vec<String>,
    /// Where each buffer stands in the text, in the order of the problem's buffers.
    pub spans: Vec<Span>,
}

/// A format of lifetime records.
pub trait RecordFormat: Sync {
    /// The name for `--format`.
    fn name(&self) -> &'static str;
    /// One line for listings.
    fn describe(&self) -> &'static str;
    /// File name extensions, without the dot.
    fn extensions(&self) -> &'static [&'static str];
    /// Whether a text looks like this format.
    fn sniff(&self, text: &str) -> bool;
    /// Reads a text.
    fn read(&self, text: &str) -> Result<Records, ReadError>;
}

/// All formats of records, in the order in which they are asked whether a text looks like them. The first that says yes
/// reads it, so `dsa` comes before `json`: every `dsa` file is JSON, too.
pub const FORMATS: &[&dyn RecordFormat] = &[&dsa::Dsa, &json::Json, &trace::Trace, &csv::Csv];

/// The format of that name; `None` if there is none.
pub fn find(name: &str) -> Option<&'static dyn RecordFormat> {
    FORMATS.iter().copied().find(|format| format.name() == name)
}

/// The format that has the file's extension, or else the first one that recognises the content; `None` if none does.
pub fn detect(file_name: &str, text: &str) -> Option<&'static dyn RecordFormat> {
    let extension = file_name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    let by_name = extension
        .and_then(|extension| FORMATS.iter().copied().find(|format| format.extensions().contains(&extension.as_str())));
    by_name.or_else(|| FORMATS.iter().copied().find(|format| format.sniff(text)))
}

/// Reads records. Without a format it is found by file name or content.
pub fn read(bytes: &[u8], format: Option<&'static dyn RecordFormat>, file_name: &str) -> Result<Records, ReadError> {
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
    format.read(text)
}
