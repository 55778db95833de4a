//! What a reader says about a text it cannot read.

use std::fmt;

use crate::{Span, line_column};

/// A place in a text and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// Stable name of the kind of error, such as `csv::missing-column`.
    pub code: &'static str,
    /// What is wrong, in a sentence without a full stop.
    pub message: String,
    /// Where, in bytes.
    pub span: Span,
    /// One-based line; 0 if the file is not text: then only `span` says where the error is.
    pub line: usize,
    /// One-based column, in characters.
    pub column: usize,
    /// What to do about it.
    pub help: Option<String>,
}

impl ReadError {
    /// An error at a span of the source, whose line and column are counted here.
    pub fn new(code: &'static str, source: &str, span: Span, message: impl Into<String>) -> ReadError {
        let (line, column) = line_column(source, span.start as usize);
        ReadError { code, message: message.into(), span, line, column, help: None }
    }

    /// An error at a byte of a file that is not text.
    pub fn at_byte(code: &'static str, offset: u64, message: impl Into<String>) -> ReadError {
        // The line 0 says that the file is not text.
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let span = Span::new(start, start.saturating_add(1));
        ReadError { code, message: message.into(), span, line: 0, column: 0, help: None }
    }

    /// Reading ended early because the caller no longer waits for it ([`patience`](crate::patience)). The driver then
    /// reports that in its own words, so this error is never shown.
    pub fn stopped() -> ReadError {
        ReadError::at_byte("read::stopped", 0, "reading was stopped")
    }

    /// The same error with advice.
    pub fn help(mut self, help: impl Into<String>) -> ReadError {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "byte {}: {}", self.span.start, self.message)?,
            line => write!(f, "line {line}, column {}: {}", self.column, self.message)?,
        }
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ReadError {}

/// The text of a file, or where it stops being UTF-8. A byte order mark is dropped.
pub fn utf8(bytes: &[u8]) -> Result<&str, ReadError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        // The text up to the first bad byte is enough to count its line and column.
        let position = error.valid_up_to();
        let readable = std::str::from_utf8(&bytes[..position]).unwrap_or_default();
        let span = Span::new(position, position + error.error_len().unwrap_or(1));
        let message = format!("byte {position} is not UTF-8 text");
        ReadError::new("read::not-utf8", readable, span, message).help("save the file as UTF-8")
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}
