//! The one way to a result: read, lay out, check, emit, read again, compare.
//!
//! ```text
//!   front_end.read ─► front_end.lay_out ─► packing check ─► dataflow check ─► front_end.emit ─► front_end.places
//!                            ▲                        │ rejected                                     │
//!                            └── keep these apart ◄───┘                           the same places? ──┴─► Checked
//! ```
//!
//! [`run`] is that line in code; [`lay_out`] and [`emit`] are its halves, for callers that keep an
//! input and plan it more than once. What leaves this module is [`Checked`], and nothing else can
//! make one. The command line, Python, C, comparisons and sweeps all come through here.
//!
//! # Repair
//!
//! When a check rejects a layout, something in memplan is wrong: a lifetime, an alias, a strategy. The user still gets
//! a right result. The buffers that the check names are kept apart ([`Solver::apart`]) and everything is laid out
//! again, a few times; then buffers that are still named share with nobody. What was repaired is in
//! [`Checked::repairs`], so that it can be reported. Under [`How::strict`] there is no repair, and the first rejection
//! is [`Failure::Unsound`]. A strategy that memplan does not have is its author's: its mistakes are not repaired
//! either, and are [`Failure::WrongStrategy`].

mod checked;
mod compare_places;
mod failure;
mod how;
mod method;
mod repair;
mod solver;

use memplan_core::Problem;

use crate::finding;
use crate::format::Input;
use crate::front_end::{FrontEnd, Output, Plain, Planned};
use crate::source::Source;

pub use checked::Checked;
pub use failure::{Failure, Unsound};
pub use how::How;
pub use solver::Solver;

pub(crate) use method::Method;
pub(crate) use repair::with_apart;

/// Plans a source as it is, with what it says about its memory.
pub fn plan(source: &Source, how: &How) -> Result<Checked<Planned>, Failure> {
    let plain = Plain::default();
    lay_out(&plain, &plain.read(source)?, how)
}

/// Plans a problem that was made in memory.
pub fn plan_problem(problem: Problem, how: &How) -> Result<Checked<Planned>, Failure> {
    lay_out(&Plain::default(), &Input::of_problem(problem, Vec::new()), how)
}

/// Reads, lays out, checks, writes, and checks what was written.
pub fn run<F: FrontEnd>(front_end: &F, source: &Source, how: &How) -> Result<Checked<Output>, Failure> {
    let input = front_end.read(source)?;
    let laid = lay_out(front_end, &input, how)?;
    emit(front_end, &input, &laid)
}

/// Lays an input out and lets only a right layout through.
pub fn lay_out<F: FrontEnd>(front_end: &F, input: &F::Input, how: &How) -> Result<Checked<F::Laid>, Failure> {
    let mut solver = Solver::new(how);
    loop {
        let laid = match front_end.lay_out(input, &mut solver) {
            Err(Failure::Refused(refusal)) if solver.choose_auto(&refusal) => continue,
            laid => laid?,
        };
        let rejected = repair::judge(&front_end.claim(input, &laid));
        if rejected.is_empty() {
            return Ok(Checked::seal(laid, solver.into_repairs()));
        }
        solver.repair(front_end.name(), rejected)?;
    }
}

/// Writes a layout, reads the result again, and lets it through only if it says what was planned.
pub fn emit<F: FrontEnd>(front_end: &F, input: &F::Input, laid: &Checked<F::Laid>) -> Result<Checked<Output>, Failure> {
    let output = front_end.emit(input, laid)?;
    let claim = front_end.claim(input, laid);
    let mut findings = match front_end.places(input, &output) {
        Ok(places) => compare_places::differences(&claim.placements, &places),
        // An output that cannot be read again is as wrong as one with other addresses in it.
        Err(error) => vec![compare_places::difference(error.to_string())],
    };
    match front_end.meanings(input, &output) {
        Ok(Some(models)) => findings.extend(finding::in_equivalence(&models.original, &models.changed)),
        Ok(None) => {}
        Err(error) => findings.push(compare_places::difference(error.to_string())),
    }
    if !findings.is_empty() {
        return Err(Unsound { maker: front_end.name().to_owned(), what: "text", findings }.into());
    }
    Ok(Checked::seal(output, laid.repairs().to_vec()))
}
