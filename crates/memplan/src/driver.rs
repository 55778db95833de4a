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
//! again, a few times; after that, buffers that a check still names share with nobody. What was repaired is in
//! [`Checked::repairs`], so that it can be reported. Under [`How::strict`] there is no repair, and the first rejection
//! is [`Failure::Unsound`]. A strategy that memplan does not have is its author's: its mistakes are not repaired
//! either, and are [`Failure::WrongStrategy`].
//!
//! # Patience
//!
//! A caller's time limit and Ctrl-C hold for the whole line, not for the search alone. Every loop in every stage asks
//! [`memplan_core::patience`], and the driver asks after every stage: a stage that was cut short is
//! [`Failure::Stopped`], whatever it returned. A time limit ends reading, lowering and searching. It ends neither the
//! making of a first plan nor what follows (the checks, writing, reading again), for then the caller would have waited
//! for nothing. To make up for that, a search ends before the limit, by the time that checking and writing are expected
//! to take. A caller that makes a [`Patience`](memplan_core::patience::Patience) current on its thread has one limit
//! for all its calls; else each call starts its own, as [`How::request`] says.

mod checked;
mod compare_places;
mod failure;
mod how;
mod method;
mod repair;
mod solver;
mod stage;

use memplan_core::Problem;

use crate::finding::{self, Finding};
use crate::format::Input;
use crate::front_end::{FrontEnd, Output, Plain, Planned};
use crate::source::Source;

pub use checked::Checked;
pub use failure::{Failure, Stopped, Unsound};
pub use how::How;
pub use solver::Solver;

pub(crate) use method::Method;
pub(crate) use repair::with_apart;
pub(crate) use stage::patience_for_many;
use stage::{first_stage, last_stage, stage, wait_as_told};

/// Plans a source as it is, with what it says about its memory.
pub fn plan(source: &Source, how: &How) -> Result<Checked<Planned>, Failure> {
    let _current = wait_as_told(how);
    let plain = Plain::default();
    lay_out(&plain, &read(&plain, source, how)?, how)
}

/// Plans a problem that was made in memory.
pub fn plan_problem(problem: Problem, how: &How) -> Result<Checked<Planned>, Failure> {
    lay_out(&Plain::default(), &Input::of_problem(problem, Vec::new()), how)
}

/// Reads, lays out, checks, writes, and checks what was written.
pub fn run<F: FrontEnd>(front_end: &F, source: &Source, how: &How) -> Result<Checked<Output>, Failure> {
    let _current = wait_as_told(how);
    let mut input = read(front_end, source, how)?;
    let mut laid = lay_out(front_end, &input, how)?;
    // What writing does not need is freed before writing takes memory of its own.
    front_end.let_go(&mut input, laid.inner_mut());
    let output = emit(front_end, &input, &laid);
    // The process ends after this call, and then the system takes its memory back faster than
    // freeing part by part would.
    if how.is_last {
        std::mem::forget((input, laid));
    }
    output
}

/// Reads a source, as long as the caller waits.
pub fn read<F: FrontEnd>(front_end: &F, source: &Source, how: &How) -> Result<F::Input, Failure> {
    let _current = wait_as_told(how);
    first_stage("reading", || front_end.read(source))
}

/// Lays an input out and lets only a right layout through. A layout that a check rejects is made again with the
/// rejected buffers kept apart, until it passes or [`Solver::repair`] gives up.
pub fn lay_out<F: FrontEnd>(front_end: &F, input: &F::Input, how: &How) -> Result<Checked<F::Laid>, Failure> {
    let _current = wait_as_told(how);
    let mut solver = Solver::new(how);
    loop {
        let mut laid = match stage("planning", || front_end.lay_out(input, &mut solver)) {
            // In a repair some buffers have to be kept apart, which not every strategy can do. Then `auto` takes over.
            Err(Failure::Refused(refusal)) if solver.choose_auto(&refusal) => continue,
            laid => laid?,
        };
        let rejected = last_stage("checking the plan", || Ok(judge(front_end, input, &mut laid)))?;
        if rejected.is_empty() {
            return Ok(Checked::seal(laid, solver.into_repairs()));
        }
        solver.repair(front_end.name(), rejected)?;
    }
}

/// Everything that the checks reject in the claim of a layout; empty if the layout is right. If the
/// packings are right, the driver has the front end free what only they need, because the check of
/// the programs takes much memory.
fn judge<F: FrontEnd>(front_end: &F, input: &F::Input, laid: &mut F::Laid) -> Vec<repair::Rejected> {
    let claim = front_end.claim(input, laid);
    let mut rejected = repair::judge_packings(&claim);
    if F::LETS_GO_OF_PACKINGS && rejected.is_empty() {
        // The claim borrows from the layout, so it must go before the layout can be changed.
        drop(claim);
        front_end.let_go_of_packings(laid);
        rejected.extend(repair::judge_programs(&front_end.claim(input, laid)));
    } else {
        rejected.extend(repair::judge_programs(&claim));
    }
    rejected
}

/// Writes a layout, reads the result again, and lets it through only if it says what was planned.
pub fn emit<F: FrontEnd>(front_end: &F, input: &F::Input, laid: &Checked<F::Laid>) -> Result<Checked<Output>, Failure> {
    let output = last_stage("writing", || front_end.emit(input, laid))?;
    let findings = last_stage("reading what was written", || Ok(found_wrong(front_end, input, laid, &output)))?;
    if !findings.is_empty() {
        return Err(Unsound { maker: front_end.name().to_owned(), what: "text", findings }.into());
    }
    Ok(Checked::seal(output, laid.repairs().to_vec()))
}

/// Everything in which an output is not what was planned, found by reading it again; empty if the
/// output is right.
fn found_wrong<F: FrontEnd>(front_end: &F, input: &F::Input, laid: &F::Laid, output: &Output) -> Vec<Finding> {
    // The placements are those that were planned; `places` are those that the output says.
    let mut findings = match front_end.places(input, output) {
        Ok(places) => compare_places::differences(&front_end.placements(input, laid), &places),
        // An output that cannot be read again is as wrong as one with other addresses in it.
        Err(error) => vec![compare_places::difference(error.to_string())],
    };
    // A changed model must also be proved to compute the same as the original; most front ends change none.
    match front_end.meanings(input, output) {
        Ok(Some(models)) => findings.extend(finding::in_equivalence(&models.original, &models.changed)),
        Ok(None) => {}
        Err(error) => findings.push(compare_places::difference(error.to_string())),
    }
    findings
}
