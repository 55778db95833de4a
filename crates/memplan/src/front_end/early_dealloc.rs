//! early-dealloc: what is not planned is freed right after its last use.

use memplan_core::PassOptions;
use memplan_mlir::lower;
use memplan_mlir::pass::{Rewrite, early_dealloc};
use memplan_mlir::written::Changes;

use super::mlir_text::{Module, found};
use super::{Claim, FrontEnd, Output, Places};
use crate::driver::{Failure, Solver};
use crate::source::Source;

/// The front end of the pass.
#[derive(Clone, Debug, Default)]
pub struct EarlyDealloc {
    /// Its options: none are known.
    pub options: PassOptions,
}

impl FrontEnd for EarlyDealloc {
    type Input = Module;
    type Laid = Rewrite;

    fn name(&self) -> &str {
        "early-dealloc"
    }

    fn read(&self, source: &Source) -> Result<Module, Failure> {
        Module::read(source, lower)
    }

    fn lay_out(&self, input: &Module, _: &mut Solver) -> Result<Rewrite, Failure> {
        early_dealloc::run(&input.document, &input.lowered, &self.options).map_err(|error| input.failure(error))
    }

    fn claim<'a>(&self, input: &'a Module, laid: &'a Rewrite) -> Claim<'a> {
        input.claim(laid)
    }

    fn let_go(&self, input: &mut Module, _: &mut Self::Laid) {
        input.lowered.forget_program();
    }

    fn emit(&self, input: &Module, laid: &Rewrite) -> Result<Output, Failure> {
        input.emit(laid)
    }

    fn places(&self, input: &Module, output: &Output) -> Result<Places, Failure> {
        // The pass only adds deallocations, so every site must be found where it was: in an allocation of its own.
        let addresses = input.addresses(output, Changes::Deallocations)?;
        Ok(Places { lists: vec![found(addresses)] })
    }
}
