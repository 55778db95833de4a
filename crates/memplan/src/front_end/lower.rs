//! lower: the whole life cycle, from tensor operations and a schedule to a loop program with shared memory.

use memplan_core::utf8;
use memplan_tensor::rewrite::{Mode, RewriteOptions};
use memplan_tensor::te::{LifeCycleError, LowerOptions, prepared_function, print_plainly};

use super::storage_rewrite::{LaidFunction, LoopFunctions, failure, planned_by};
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
    type Input = LoopFunctions;
    type Laid = Vec<LaidFunction>;

    fn name(&self) -> &str {
        "lower"
    }

    fn read(&self, source: &Source) -> Result<LoopFunctions, Failure> {
        let text = utf8(&source.bytes)?;
        let compat = self.options.mode == Mode::Compat;
        let options = LowerOptions { compat, rewrite: self.options.clone(), ..LowerOptions::default() };
        let prepared = prepared_function(text, &options).map_err(|error| match &error {
            LifeCycleError::Rewrite(error) => failure(text, error),
            error => unreadable(text, error).into(),
        })?;
        LoopFunctions::new(text, vec![prepared])
    }

    fn lay_out(&self, input: &LoopFunctions, solver: &mut Solver) -> Result<Vec<LaidFunction>, Failure> {
        input.lay_out(&planned_by(&self.options, solver.how()), solver)
    }

    fn claim<'a>(&self, input: &'a LoopFunctions, laid: &'a Vec<LaidFunction>) -> Claim<'a> {
        input.claim(laid)
    }

    fn emit(&self, input: &LoopFunctions, laid: &Vec<LaidFunction>) -> Result<Output, Failure> {
        Ok(Output::of_text(input.rewritten(laid).map(|function| print_plainly(&function)).collect::<String>()))
    }

    fn places(&self, input: &LoopFunctions, output: &Output) -> Result<Places, Failure> {
        input.places(output)
    }
}
