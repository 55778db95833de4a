//! What a command has to say, and how it is said: streams and exit codes.
//!
//! Every command returns an `Answer` or a `Failure`; `deliver` prints it and gives the exit code. `diagnose`
//! makes the lines `error: …`, `warning: …` and `note: …`.

use std::io::{self, Write};

use memplan::core::Stop;
use memplan::corpus::CorpusError;
use memplan::driver::Stopped;

use crate::diagnose;
use crate::progress::KILLED;

/// The answer of a command.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// Goes to standard output.
    pub(crate) text: String,
    /// Go to standard error, each as a note.
    pub(crate) notes: Vec<String>,
    /// Go to standard error, each as a warning: mistakes of ours that were repaired.
    pub(crate) warnings: Vec<String>,
    /// Goes to standard error after the notes, as it is: figures asked for beside a text.
    pub(crate) figures: String,
    /// The answer is no: does not fit, none found, violations found.
    pub(crate) is_no: bool,
    /// What went wrong beside that, such as parts of a file that were not rewritten; the worst decides about the exit
    /// code.
    pub(crate) failures: Vec<Failure>,
}

impl Answer {
    /// A yes with a text.
    pub(crate) fn yes(text: impl Into<String>) -> Answer {
        Answer { text: text.into(), ..Answer::default() }
    }

    /// The same answer with notes.
    pub(crate) fn with_notes(mut self, notes: impl IntoIterator<Item = String>) -> Answer {
        self.notes.extend(notes);
        self
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Wrong usage, or a file that cannot be read or written.
    Usage {
        /// What is wrong.
        message: String,
        /// What to do about it, if something can be said.
        help: Option<String>,
    },
    /// An input with something wrong in it, already rendered with its excerpt.
    Unreadable(String),
    /// An input that is fine, and the answer is no: rendered with its excerpt.
    No(String),
    /// The time limit was over, or Ctrl-C was pressed, before there was an answer.
    Stopped(Stopped),
    /// A bug of ours.
    Bug(String),
}

impl From<CorpusError> for Failure {
    fn from(error: CorpusError) -> Failure {
        Failure::usage(error.to_string())
    }
}

impl Failure {
    /// A failure of usage without advice.
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure::Usage { message: message.into(), help: None }
    }

    /// A failure of usage with advice.
    pub(crate) fn usage_with_help(message: impl Into<String>, help: impl Into<String>) -> Failure {
        Failure::Usage { message: message.into(), help: Some(help.into()) }
    }
}

/// At most this many notes are printed; the others are only counted.
const NOTES: usize = 20;

// Exit codes. The larger one is the worse one; of several, the largest is the command's.

/// The answer is yes, or there is nothing to answer.
const YES: u8 = 0;
/// The answer is no: does not fit, not found in time, violations found.
const NO: u8 = 1;
/// Wrong usage, or a file that cannot be read or written.
const UNUSABLE: u8 = 2;
/// A bug of ours.
const BUG: u8 = 101;

/// Writes an answer or a failure where it belongs, and gives the exit code.
pub(crate) fn deliver(result: Result<Answer, Failure>) -> u8 {
    match result {
        Ok(answer) => say(&answer),
        Err(failure) => report(&failure),
    }
}

/// Says what went wrong, and gives the exit code for it.
pub(crate) fn report(failure: &Failure) -> u8 {
    let (text, code) = match failure {
        Failure::Usage { message, help } => (&diagnose::error(message, help.as_deref()), UNUSABLE),
        Failure::Unreadable(rendered) => (rendered, UNUSABLE),
        Failure::No(rendered) => (rendered, NO),
        Failure::Stopped(stopped) if stopped.why == Stop::Interrupted => {
            (&diagnose::error(&stopped.to_string(), None), KILLED)
        }
        Failure::Stopped(stopped) => {
            (&diagnose::error(&stopped.to_string(), Some("a longer --time-limit, or none, lets it finish")), NO)
        }
        Failure::Bug(message) => (&diagnose::error(message, None), BUG),
    };
    complain(text);
    code
}

/// Prints an answer: its text to standard output, everything about it to standard error. Returns the exit code.
fn say(answer: &Answer) -> u8 {
    for warning in &answer.warnings {
        complain(&diagnose::warning(warning));
    }
    for note in answer.notes.iter().take(NOTES) {
        complain(&diagnose::note(note));
    }
    if answer.notes.len() > NOTES {
        complain(&diagnose::note(&format!("and {} more like these", answer.notes.len() - NOTES)));
    }
    if !answer.figures.is_empty() {
        complain(&answer.figures);
    }
    // Failures are reported before the text, so that a reader who only sees the end of the output sees the text.
    let worst = answer.failures.iter().map(report).max();
    let mut stdout = io::stdout().lock();
    match stdout.write_all(answer.text.as_bytes()).and_then(|()| stdout.flush()) {
        // The reader (`head`, for example) has closed the pipe, because it has read enough. That is no error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        Err(error) => {
            complain(&diagnose::error(&format!("cannot write to standard output: {error}"), None));
            return UNUSABLE;
        }
        Ok(()) => {}
    }
    // The worse of the answer itself and of what went wrong beside it.
    let own = if answer.is_no { NO } else { YES };
    worst.map_or(own, |code| code.max(own))
}

/// Writes to standard error. If that fails, nothing more can be said.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", text.trim_end());
}
