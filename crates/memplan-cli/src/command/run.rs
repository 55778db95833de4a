//! `memplan run`: what a TVMScript program or a graph of tensor operations computes.

use memplan::models::{ReadError, utf8};
use memplan::source::Source;
use memplan::tensor::interpret::RunOptions;
use memplan::tensor::pass::{PassError, run_text};
use memplan::tensor::te::run_text as run_tensors;

use crate::answer::{Answer, Failure};
use crate::args::{FormatArgs, RunArgs};
use crate::input;

/// Executes a program or a tensor expression with random inputs from a seed and prints its results.
pub(super) fn run(args: &RunArgs) -> Result<Answer, Failure> {
    let source = input::source(&args.file, &FormatArgs::default())?;
    let text = utf8(&source.bytes).map_err(|error| input::unreadable(&source, &error))?;
    // Tensor expressions have an interpreter for each of their stages; TVMScript has one.
    if super::dump::is_tensors(&source) {
        let sizes = args.scalars.iter().cloned().collect();
        return run_tensors(text, &args.stage, args.seed, &sizes)
            .map(Answer::yes)
            .map_err(|error| input::unreadable(&source, &super::dump::lifecycle_error(text, &error)));
    }
    let options =
        RunOptions { seed: args.seed, scalars: args.scalars.iter().cloned().collect(), ..RunOptions::default() };
    run_text(text, &options).map(Answer::yes).map_err(|error| failure(&source, text, &error))
}

/// What is wrong with a TVMScript text, shown where it is: a refusal is an answer (no), anything else an unreadable
/// input.
pub(super) fn failure(source: &Source, text: &str, error: &PassError) -> Failure {
    let shown = |span| ReadError::new(error.code(), text, span, error.to_string());
    match error.span() {
        Some(span) if error.is_answer() => input::refused(source, &shown(span)),
        Some(span) => input::unreadable(source, &shown(span)),
        None => Failure::usage(error.to_string()),
    }
}
