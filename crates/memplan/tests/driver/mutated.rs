//! A front end whose emitter makes a mistake.

use memplan::driver::{Failure, Solver};
use memplan::front_end::{Claim, FrontEnd, Output, Places};
use memplan::source::Source;

/// A front end with another one's parts, except that its output is changed.
pub(crate) struct Mutated<F, M> {
    pub(crate) inner: F,
    pub(crate) mutate: M,
}

impl<F: FrontEnd, M: Fn(&str) -> String> FrontEnd for Mutated<F, M> {
    type Input = F::Input;
    type Laid = F::Laid;

    fn name(&self) -> &str {
        self.inner.name()
    }

    fn read(&self, source: &Source) -> Result<F::Input, Failure> {
        self.inner.read(source)
    }

    fn lay_out(&self, input: &F::Input, solver: &mut Solver) -> Result<F::Laid, Failure> {
        self.inner.lay_out(input, solver)
    }

    fn claim<'a>(&self, input: &'a F::Input, laid: &'a F::Laid) -> Claim<'a> {
        self.inner.claim(input, laid)
    }

    fn emit(&self, input: &F::Input, laid: &F::Laid) -> Result<Output, Failure> {
        let output = self.inner.emit(input, laid)?;
        Ok(Output { bytes: (self.mutate)(output.text()).into_bytes(), ..output })
    }

    fn places(&self, input: &F::Input, output: &Output) -> Result<Places, Failure> {
        self.inner.places(input, output)
    }
}
