//! lower: the whole life cycle, from tensor operations and a schedule to a loop program with shared memory.

use memplan_core::utf8;
use memplan_tensor::rewrite::{Mode, RewriteOptions};
use memplan_tensor::te::{LifeCycleError, LowerOptions, lower_text};

use super::storage_rewrite::{failure, planned_by};
use super::{Claim, FrontEnd, Output, Places};
use crate::driver::{Failure, Solver};
use crate::format::te::unreadable;
use crate::source::Source;

/// The front end of the pass.
#[derive(Clone, Debug, Default)]
pub struct Lower {
    /// The options of the storage rewrite at its end.
    pub options: RewriteOptions,
}

impl FrontEnd for Lower {
    type Input = String;
    type Laid = String;

    fn name(&self) -> &str {
        "lower"
    }

    fn read(&self, source: &Source) -> Result<String, Failure> {
        Ok(utf8(&source.bytes)?.to_owned())
    }

    fn lay_out(&self, input: &String, solver: &mut Solver) -> Result<String, Failure> {
        let rewrite = planned_by(&self.options, solver.how());
        let options = LowerOptions { compat: rewrite.mode == Mode::Compat, rewrite, ..LowerOptions::default() };
        lower_text(input, &options).map_err(|error| match &error {
            LifeCycleError::Rewrite(error) => failure(input, error),
            error => unreadable(input, error).into(),
        })
    }

    fn claim<'a>(&self, _: &'a String, _: &'a String) -> Claim<'a> {
        Claim::default()
    }

    fn emit(&self, _: &String, laid: &String) -> Result<Output, Failure> {
        Ok(Output::of_text(laid.clone()))
    }

    fn places(&self, _: &String, _: &Output) -> Result<Places, Failure> {
        Ok(Places::default())
    }
}
