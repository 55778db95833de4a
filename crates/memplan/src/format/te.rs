//! Tensor expressions with a schedule: lowered, then read like any loop program.

use memplan_models::ReadError;
use memplan_tensor::lower::lower;
use memplan_tensor::te::{LifeCycleError, LowerOptions, json, prepared_function};

use super::program::analyze;
use super::{Format, Input, ReadOptions};

/// Descriptions of tensor operations.
pub(super) struct TensorExpressions;

impl Format for TensorExpressions {
    fn name(&self) -> &'static str {
        "te"
    }

    fn describe(&self) -> &'static str {
        "tensor operations and a schedule (.te.json): the buffers of the lowered program"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["te.json"]
    }

    fn sniff(&self, text: &str) -> bool {
        json::sniff(text)
    }

    /// The buffers of the loops that tensor expressions are lowered to, as a problem.
    fn read(&self, text: &str, _: &ReadOptions) -> Result<Input, ReadError> {
        // From the description to loops with buffers, before memory is shared; from the loops to a program.
        let network = json::read(text).map_err(|error| unreadable(text, &error.into()))?;
        let prepared =
            prepared_function(&network, &LowerOptions::default()).map_err(|error| unreadable(text, &error))?;
        let program = lower(&prepared)
            .map_err(|error| ReadError::new("te::malformed", text, Default::default(), error.to_string()))?;
        analyze(program.program, text, Vec::new())
    }
}

/// What is wrong with a description, with its place.
pub(crate) fn unreadable(text: &str, error: &LifeCycleError) -> ReadError {
    ReadError::new(error.code(), text, error.span(text), error.to_string())
}
