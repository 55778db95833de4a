//! Programs in memplan's own text form, and what every program goes through.

use std::sync::Arc;

use memplan_core::Span;
use memplan_models::ReadError;
use memplan_program::{Program, text};

use super::{Format, Input, ReadOptions};
use crate::analyzed::Analyzed;

/// The text form of a Program, as `memplan dump --stage program` prints it.
pub(super) struct ProgramText;

impl Format for ProgramText {
    fn name(&self) -> &'static str {
        "program"
    }

    fn describe(&self) -> &'static str {
        "a program in memplan's own text form, as `dump --stage program` prints it"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["program"]
    }

    fn sniff(&self, text: &str) -> bool {
        text.lines().any(|line| line.starts_with("func @"))
    }

    fn read(&self, source: &str, _: &ReadOptions) -> Result<Input, ReadError> {
        let program = text::parse(source).map_err(|error| {
            let span = error.span().unwrap_or(Span::new(0, 0));
            ReadError::new("program::malformed", source, span, error.to_string())
        })?;
        analyze(program, source, Vec::new())
    }
}

/// Finds aliases and lifetimes and makes the problem.
pub(super) fn analyze(program: Program, text: &str, mut notes: Vec<String>) -> Result<Input, ReadError> {
    let analyzed = Analyzed::new(program)
        .map_err(|error| ReadError::new("program::too-large", text, Span::new(0, 0), error.to_string()))?;
    notes.extend(analyzed.left_alone());
    let problem = analyzed.problem().clone();
    Ok(Input { program: Some(Arc::new(analyzed)), ..Input::of_problem(problem, notes) })
}
