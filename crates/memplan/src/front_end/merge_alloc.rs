//! merge-alloc: one allocation per scope and memory space.

use std::borrow::Cow;

use memplan_core::Placement;
use memplan_mlir::lower;
use memplan_mlir::pass::{Rewrite, merge_alloc};
use memplan_mlir::written::Changes;

use super::mlir_text::{Module, found};
use super::{Claim, FrontEnd, Output, Places, listed};
use crate::driver::{Failure, Solver};
use crate::source::Source;

/// The front end of the pass.
#[derive(Clone, Debug, Default)]
pub struct MergeAlloc {
    /// Its options.
    pub options: merge_alloc::Options,
}

impl FrontEnd for MergeAlloc {
    type Input = Module;
    type Laid = Rewrite;

    fn name(&self) -> &str {
        "merge-alloc"
    }

    fn read(&self, source: &Source) -> Result<Module, Failure> {
        Module::read(source, lower)
    }

    fn lay_out(&self, input: &Module, solver: &mut Solver) -> Result<Rewrite, Failure> {
        let (how, apart) = (solver.how(), solver.apart(0));
        merge_alloc::run(&input.document, &input.lowered, self.options, how.strategy, &how.request, apart)
            .map_err(|error| input.failure(error))
    }

    fn claim<'a>(&self, input: &'a Module, laid: &'a Rewrite) -> Claim<'a> {
        input.claim(laid)
    }

    fn placements<'a>(&self, _: &'a Module, laid: &'a Rewrite) -> Vec<Cow<'a, [Option<Placement>]>> {
        vec![listed(&laid.placements)]
    }

    fn let_go(&self, input: &mut Module, _: &mut Rewrite) {
        input.lowered.forget_program();
    }

    fn emit(&self, input: &Module, laid: &Rewrite) -> Result<Output, Failure> {
        input.emit(laid)
    }

    fn places(&self, input: &Module, output: &Output) -> Result<Places, Failure> {
        // An analysis only writes attributes beside the allocations, and the allocations themselves stay.
        let changes = if self.options.analysis_only { Changes::Attributes } else { Changes::Addresses };
        let addresses = input.addresses(output, changes)?;
        Ok(Places { lists: vec![found(addresses)] })
    }
}
