//! From the bytes of a file to a plan that has been proved right.
//!
//! ```text
//!   Source ─read─► Input ─target─► Problem ─plan─► Outcome ─check─► Planned
//! ```
//!
//! [`run`] is that line in code. Every stage is a function from values to
//! values and can be called alone, so a caller may stop after any of them or
//! bring a stage of its own. The last one is not optional: a plan that leaves
//! this module has passed [`packing::check`](memplan_verify::packing::check)
//! and, if there is a program, [`dataflow::check`](memplan_verify::dataflow::check),
//! which share no code with strategies and analyses. If it has not, that is a
//! bug of ours and [`Unsound`] says so.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memplan_core::{BufferId, IndexVec, Outcome, Problem, Span};
use memplan_models::source::{DiskFile, ReadAt};
use memplan_models::{ReadError, plan as plan_file};
use memplan_planner::{Assign, Refusal, Request, Strategy, find};

use crate::analyzed::Analyzed;
use crate::finding::{self, Finding};
use crate::format::{self, Format, Input, ReadOptions};
use crate::network::Network;
use crate::spill;
use crate::target::{Target, TargetError};

/// A file to plan.
#[derive(Clone)]
pub struct Source {
    /// Its name, for messages and for finding out its format.
    pub name: String,
    /// Its content; empty if it is to be read from disk, piece by piece.
    pub bytes: Vec<u8>,
    /// The file, if it may be too large to load.
    pub disk: Option<Arc<DiskFile>>,
    /// Its format; `None` to find out by name and content.
    pub format: Option<&'static dyn Format>,
    /// What its reader is told.
    pub options: ReadOptions,
}

impl Source {
    /// A source whose format is found out by name and content.
    pub fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Source {
        Source { name: name.into(), bytes: bytes.into(), disk: None, format: None, options: ReadOptions::default() }
    }

    /// A file as a source. A model stays on disk, for it is mostly weights; a dump of XLA's
    /// comes with the live ranges in the file beside it.
    pub fn open(path: &Path, format: Option<&'static dyn Format>) -> io::Result<Source> {
        let name = path.to_string_lossy();
        let disk = DiskFile::open(path)?;
        let mut head = vec![0; disk.size().min(8) as usize];
        disk.read_at(0, &mut head)?;
        let binary = format.or_else(|| format::detect_binary(&name, &head)).filter(|format| format.is_binary());
        Ok(match binary {
            Some(_) => Source { disk: Some(Arc::new(disk)), format: binary, ..Source::new(name, Vec::new()) },
            None => Source { format, ..Source::new(&*name, with_live_ranges(&name, std::fs::read(path)?)) },
        })
    }
}

/// The end of the name of a buffer assignment dumped by XLA, and of the live ranges beside it.
const XLA_DUMP: (&str, &str) = ("-buffer-assignment.txt", "-live-range.txt");

fn with_live_ranges(file: &str, mut bytes: Vec<u8>) -> Vec<u8> {
    let beside = file.strip_suffix(XLA_DUMP.0).map(|stem| format!("{stem}{}", XLA_DUMP.1));
    if let Some(ranges) = beside.and_then(|beside| std::fs::read(beside).ok()) {
        bytes.push(b'\n');
        bytes.extend(ranges);
    }
    bytes
}

impl Source {
    /// Its content, wherever it is.
    pub fn content(&self) -> &dyn ReadAt {
        match &self.disk {
            Some(disk) => disk.as_ref(),
            None => &self.bytes,
        }
    }
}

/// How to plan.
#[derive(Clone)]
pub struct How<'a> {
    /// The strategy.
    pub strategy: &'static dyn Strategy,
    /// Its options.
    pub request: Request<'a>,
}

impl How<'_> {
    /// The default strategy with default options.
    pub fn auto() -> How<'static> {
        let strategy = find("auto").unwrap_or(memplan_planner::STRATEGIES[0]);
        How { strategy, request: Request::default() }
    }
}

/// A planned input.
#[derive(Clone, Debug)]
pub struct Planned {
    /// What was planned.
    pub problem: Problem,
    /// What came of it; its plan, if there is one, has been checked.
    pub outcome: Outcome,
    /// Name of the strategy.
    pub strategy: &'static str,
    /// Kind of plan that was asked for.
    pub assign: Assign,
    /// Time the strategy took.
    pub time: Duration,
    /// The network that was planned, if the input is a model.
    pub network: Option<Network>,
    /// What was ignored, assumed or left alone.
    pub notes: Vec<String>,
    /// Where the source allocates each buffer; empty if the input is no program.
    pub spans: IndexVec<BufferId, Span>,
}

impl Planned {
    /// The plan as JSON, on one line.
    pub fn to_json(&self) -> String {
        plan_file::json::write(&self.problem, &self.outcome, self.strategy, self.time.as_secs_f64())
    }
}

/// A strategy made a plan that is wrong: a bug in memplan.
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "strategy `{strategy}` made a plan that does not verify ({} violations, the first: {}); this is a bug in memplan, \
     please report it with the input",
    .findings.len(),
    .findings.first().map(|finding| finding.message.as_str()).unwrap_or_default()
)]
pub struct Unsound {
    /// The strategy.
    pub strategy: &'static str,
    /// What is wrong with its plan.
    pub findings: Vec<Finding>,
}

/// Why there is no [`Planned`].
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PipelineError {
    /// The input cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The input cannot be planned on this target.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The strategy does not take this input.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A bug.
    #[error(transparent)]
    Unsound(#[from] Unsound),
}

/// Reads, plans and checks.
pub fn run(source: &Source, target: &Target, how: &How) -> Result<Planned, PipelineError> {
    let Input { problem, program, network, notes, .. } = read(source)?.on_target(target)?;
    let (outcome, time) = plan_input(&problem, network.as_ref(), how)?;
    let outcome = check_with(&problem, (program.as_ref(), network.as_ref()), outcome, how.strategy)?;
    let (strategy, assign) = (how.strategy.name(), how.request.assign);
    let spans = program.as_ref().map(Analyzed::spans).unwrap_or_default();
    Ok(Planned { problem, outcome, strategy, assign, time, network, notes, spans })
}

/// Reads a source into a problem, and a program if it is one.
pub fn read(source: &Source) -> Result<Input, ReadError> {
    match (&source.disk, source.format) {
        (Some(disk), Some(format)) => format.read_binary(disk.as_ref(), &source.options),
        _ => format::read(&source.bytes, source.format, &source.name, &source.options),
    }
}

/// Plans, and takes the time.
pub fn plan(problem: &Problem, how: &How) -> Result<(Outcome, Duration), Refusal> {
    let start = Instant::now();
    let outcome = memplan_planner::plan(how.strategy, problem, &how.request)?;
    Ok((outcome, start.elapsed()))
}

/// Plans an input. Of a network with several memories, what is hot or small goes
/// into the first.
fn plan_input(problem: &Problem, network: Option<&Network>, how: &How) -> Result<(Outcome, Duration), Refusal> {
    let start = Instant::now();
    if let Some(network) = network.filter(|_| spill::has_choice(problem))
        && let Some(outcome) = spill::plan(problem, network, how)?
    {
        return Ok((outcome, start.elapsed()));
    }
    plan(problem, how)
}

/// Lets only a right plan through.
pub fn check(
    problem: &Problem,
    program: Option<&Analyzed>,
    outcome: Outcome,
    strategy: &dyn Strategy,
) -> Result<Outcome, Unsound> {
    check_with(problem, (program, None), outcome, strategy)
}

/// The same for an input, whose problem on its target was planned.
pub fn check_input(
    problem: &Problem,
    input: &Input,
    outcome: Outcome,
    strategy: &dyn Strategy,
) -> Result<Outcome, Unsound> {
    check_with(problem, (input.program.as_ref(), input.network.as_ref()), outcome, strategy)
}

/// Lets only a right plan through, whatever the problem comes from.
pub fn check_with(
    problem: &Problem,
    (program, network): (Option<&Analyzed>, Option<&Network>),
    outcome: Outcome,
    strategy: &dyn Strategy,
) -> Result<Outcome, Unsound> {
    let Some(plan) = outcome.plan() else { return Ok(outcome) };
    let mut findings = finding::in_packing(problem, plan);
    if let Some(program) = program {
        findings.extend(finding::in_dataflow(program.program(), &program.check(plan)));
    }
    if let Some(network) = network {
        findings.extend(network.check(plan));
    }
    if findings.is_empty() { Ok(outcome) } else { Err(Unsound { strategy: strategy.name(), findings }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memplan_core::{Bytes, Id, Placement, Plan, SpaceId, Stop};
    use memplan_planner::Feature;

    /// Puts everything at offset 0.
    struct Careless;

    impl Strategy for Careless {
        fn name(&self) -> &'static str {
            "careless"
        }
        fn describe(&self) -> &'static str {
            "everything at offset 0"
        }
        fn assigns(&self) -> &'static [Assign] {
            &[Assign::Offsets]
        }
        fn supports(&self, _: Feature, _: Assign) -> bool {
            true
        }
        fn plan(&self, problem: &Problem, _: &Request) -> Outcome {
            let mut plan = Plan::empty(problem);
            for placement in plan.placements.iter_mut() {
                *placement = Some(Placement::at(SpaceId::from_index(0), Bytes::ZERO));
            }
            plan.fit_extents(problem);
            Outcome::Feasible { plan, lower_bound: Bytes::ZERO, stop: Stop::Finished }
        }
    }

    fn plan_carelessly(name: &str, text: &str) -> Result<Planned, PipelineError> {
        let how = How { strategy: &Careless, request: Request::default() };
        run(&Source::new(name, text), &Target::default(), &how)
    }

    #[test]
    fn a_plan_that_overlaps_does_not_get_out() {
        let error = plan_carelessly("two.csv", "id,lower,upper,size\na,0,2,64\nb,1,4,32\n").unwrap_err();
        assert!(matches!(error, PipelineError::Unsound(_)));
        let message = error.to_string();
        assert!(message.contains("strategy `careless`") && message.contains("a bug in memplan"), "{message}");
        assert!(plan_carelessly("one.csv", "id,lower,upper,size\na,0,2,64\n").is_ok());
    }

    #[test]
    fn a_plan_that_changes_a_program_is_found_by_both_checks() {
        let program = "func @f(%in) {\n  a  alloc %x 8\n  a  alloc %y 8\n  w  write %x\n  w  write %y\n  r  read %x, read %y\n  leave\n}\n";
        let Err(PipelineError::Unsound(unsound)) = plan_carelessly("f.program", program) else {
            panic!("two live buffers on the same bytes");
        };
        let codes: Vec<&str> = unsound.findings.iter().map(|finding| finding.code).collect();
        assert!(codes.contains(&"packing::overlap") && codes.contains(&"dataflow::overwritten"), "{codes:?}");
    }
}
