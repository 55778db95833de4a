//! lower: the whole life cycle, from tensor operations and a schedule to a loop program with shared memory.
//!
//! The loop program before memory is shared is printed and read as TVMScript, so that from there on everything is
//! as it is for a script from elsewhere.

use memplan_core::utf8;
use memplan_tensor::rewrite::{Mode, RewriteOptions};
use memplan_tensor::te::{LowerOptions, json, prepared_function, print_plainly};

use super::storage_rewrite::{LaidFunction, ScriptText, planned_by};
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
    type Input = ScriptText;
    type Laid = Vec<LaidFunction>;

    fn name(&self) -> &str {
        "lower"
    }

    /// Reads tensor expressions and lowers them to loops, as far as the storage rewrite, which is what decides where
    /// buffers go.
    fn read(&self, source: &Source) -> Result<ScriptText, Failure> {
        let text = utf8(&source.bytes)?;
        // In compat mode the steps before the storage rewrite repeat the original's decisions, too.
        let compat = self.options.mode == Mode::Compat;
        let options = LowerOptions { compat, rewrite: self.options.clone(), ..LowerOptions::default() };
        let network = json::read(text).map_err(|error| unreadable(text, &error.into()))?;
        let prepared = prepared_function(&network, &options).map_err(|error| unreadable(text, &error))?;
        ScriptText::read(&print_plainly(&prepared), false)
    }

    fn lay_out(&self, input: &ScriptText, solver: &mut Solver) -> Result<Vec<LaidFunction>, Failure> {
        input.lay_out(&planned_by(&self.options, solver.how()), solver)
    }

    fn claim<'a>(&self, input: &'a ScriptText, laid: &'a Vec<LaidFunction>) -> Claim<'a> {
        input.claim(laid)
    }

    fn emit(&self, input: &ScriptText, laid: &Vec<LaidFunction>) -> Result<Output, Failure> {
        Ok(input.emit(laid))
    }

    fn places(&self, input: &ScriptText, output: &Output) -> Result<Places, Failure> {
        input.places(output)
    }
}
