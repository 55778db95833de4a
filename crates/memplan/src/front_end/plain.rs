//! Inputs that are planned and stay as they are: lifetime records, models, programs of any format.
//!
//! The output is a plan in a file. Three policies for models live here and nowhere else (*the runtime* is TensorFlow
//! Lite Micro, which runs `.tflite` models):
//!
//! - if there are several memories, tensors that are read often or are small go into the first ([`crate::spill`]);
//! - a model with a plan inside never needs more than without one: the runtime places scratch memory
//!   itself, around the planned tensors, and might do that worse than planned. If the plan of the
//!   runtime's own planner then needs less, that plan is written;
//! - the runtime reuses the memory of inputs. If a plan that keeps inputs needs more than the runtime
//!   alone, the written plan reuses them, too, and a note says so.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use memplan_core::{BufferId, Bytes, Id, IndexVec, Outcome, Placement, Plan, Problem, ReadError, Span};
use memplan_models::graph::problem::Role;
use memplan_models::plan as plan_file;
use memplan_models::records::dsa;
use memplan_models::source::{Assembled, Piece};
use memplan_models::tflite::offline::{self, OfflinePlan};
use memplan_planner::Assign;
use memplan_program::{Apart, SiteId};
use smallvec::smallvec;

use super::{Behind, Claim, Found, FrontEnd, Output, Packing, Places, listed};
use crate::driver::{Failure, Solver, with_apart};
use crate::format::{self, Input};
use crate::network::{Kind, Network};
use crate::source::Source;
use crate::spill;
use crate::target::Target;

/// How a plan is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PlanForm {
    /// JSON, with everything that is known.
    #[default]
    Json,
    /// CSV: the records with their offsets.
    Csv,
    /// A C header; its macros start with this name.
    Header(String),
    /// A copy of the `.tflite` model with the plan inside.
    Model,
    /// A solution of a `dsa` problem.
    Solution,
}

/// The front end for inputs that are only planned.
#[derive(Clone, Debug, Default)]
pub struct Plain {
    /// What is known about the memory.
    pub target: Target,
    /// How the plan is to be written.
    pub form: PlanForm,
}

/// A planned input.
#[derive(Clone, Debug)]
pub struct Planned {
    /// What was planned: the problem of the input, in a repair with more buffers kept apart.
    pub problem: Arc<Problem>,
    /// The plan with what is known about its quality, or why there is none.
    pub outcome: Outcome,
    /// Name of the strategy.
    pub strategy: String,
    /// Kind of plan that was asked for: offsets, or shared objects.
    pub assign: Assign,
    /// Time the strategy took.
    pub time: Duration,
    /// The network that was planned, if the input is a model.
    pub network: Option<Arc<Network>>,
    /// What was ignored, assumed or left alone.
    pub notes: Vec<String>,
    /// Where the source allocates each buffer; empty if the input is no program.
    pub spans: IndexVec<BufferId, Span>,
    /// The plan of the runtime's own planner, if the runtime needs less memory with it inside the model than with ours.
    written: Option<Plan>,
}

impl Planned {
    /// The plan as JSON, on one line.
    pub fn to_json(&self) -> String {
        plan_file::json::write(&self.problem, &self.outcome, &self.strategy, None)
    }

    /// The plan that goes into a file: ours, unless the runtime's own one is better for the model.
    /// `None` if there is no plan.
    pub fn written_plan(&self) -> Option<&Plan> {
        self.written.as_ref().or(self.outcome.plan())
    }
}

impl Plain {
    /// Reads a source and sets it on targets: the problem gets their capacities and alignments.
    fn read_on_targets(source: &Source, targets: &[Target]) -> Result<Input, Failure> {
        // A large model stays on disk, and only the parts that are needed are read.
        let mut input = match (&source.disk, source.format) {
            (Some(disk), Some(format)) => format.read_binary(disk.as_ref(), &source.options)?,
            _ => format::read(&source.bytes, source.format, &source.name, &source.options)?,
        };
        // A default target says nothing.
        for target in targets.iter().filter(|target| **target != Target::default()) {
            input = input.on_target(target)?;
        }
        if input.network.is_some() {
            input.file = Some(source.clone());
        }
        Ok(input)
    }

    /// Plans the problem once, without a check. If tensors may choose between several memories,
    /// [`spill`] chooses the memory of each; it returns `None` where it has nothing to say, and
    /// then the strategy chooses.
    fn plan(&self, input: &Input, solver: &mut Solver) -> Result<Planned, Failure> {
        // Where an earlier plan was rejected, the buffers that met wrongly must not share any more. An input has one
        // program, whose number is 0.
        let problem = kept_apart(input, solver.apart(0));
        let network = input.network.as_deref().filter(|_| spill::has_choice(&problem));
        let spilled = network.map(|network| spill::plan(&problem, network, solver)).transpose()?.flatten();
        let outcome = match spilled {
            Some(outcome) => outcome,
            None => solver.propose(&problem)?,
        };
        Ok(Planned {
            outcome,
            problem,
            strategy: solver.strategy().name().to_owned(),
            assign: solver.how().request.assign,
            time: solver.time(),
            network: input.network.clone(),
            notes: input.notes.clone(),
            spans: input.program.as_ref().map(|program| program.spans()).unwrap_or_default(),
            written: None,
        })
    }
}

/// The problem with the buffers kept apart that `apart` names by their sites. Without a program the site of a buffer
/// has the buffer's own number.
fn kept_apart(input: &Input, apart: &Apart) -> Arc<Problem> {
    if apart.is_empty() {
        return Arc::clone(&input.problem);
    }
    // The checks name sites. A site that has no buffer here cannot be kept apart.
    let count = input.problem.buffers().len();
    Arc::new(with_apart(&input.problem, apart, |site| match &input.program {
        Some(program) => program.buffer_of(site),
        None => (site.index() < count).then(|| BufferId::from_index(site.index())),
    }))
}

/// Makes sure that a model needs no more memory with a plan in it than without. The runtime alone reuses the memory of
/// inputs. If a plan that keeps inputs needs more than that, the model is planned again with inputs that are reused.
fn no_worse_than_alone(plain: &Plain, input: &Input, kept: Planned, solver: &mut Solver) -> Result<Planned, Failure> {
    // Of our plan and the runtime's own, the one with which the model needs less.
    let kept = with_better_of_runtime(kept, solver);
    // Nothing more can be done if inputs are reused already, and nothing needs to be done if the plan is good enough.
    if input.network.as_ref().is_none_or(|network| network.assumptions().reuse_inputs) || !needs_more_than_alone(&kept)
    {
        return Ok(kept);
    }
    let Some(reusing) = reusing_inputs(input)? else { return Ok(kept) };
    let planned = plain.plan(&reusing, solver)?;
    let mut reused = with_better_of_runtime(planned, solver);
    let note = "inputs do not keep their memory in the written model: the runtime alone reuses it, and with inputs \
                kept the model would need more than without a plan";
    reused.notes.push(note.to_owned());
    Ok(reused)
}

/// The same model read again under the assumption that the memory of inputs may be reused; `None` if the input comes
/// from no file.
fn reusing_inputs(input: &Input) -> Result<Option<Input>, Failure> {
    let Some(file) = &input.file else { return Ok(None) };
    let mut file = file.clone();
    file.options.models.assumptions.reuse_inputs = true;
    Plain::read_on_targets(&file, &input.targets).map(Some)
}

/// Lets the runtime's own plan be written where the model then needs less. Not in a repair: the runtime's planner knows
/// nothing of buffers that must stay apart, and it may be its plan that was rejected.
fn with_better_of_runtime(planned: Planned, solver: &Solver) -> Planned {
    // The two plans have the numbers 0 and 1 in the claim.
    if [0, 1].iter().any(|&number| !solver.apart(number).is_empty()) {
        return planned;
    }
    let (Some(network), Some(plan)) = (&planned.network, planned.outcome.plan()) else { return planned };
    let written = network.better_plan(&planned.problem, plan);
    Planned { written, ..planned }
}

/// Whether the runtime would need more memory with the plan inside the model than on its own. `false` also where that
/// is not known: no known runtime, ops whose scratch memory was not measured, or several memories.
fn needs_more_than_alone(planned: &Planned) -> bool {
    let (Some(network), Some(plan)) = (&planned.network, planned.written_plan()) else { return false };
    network.runtime_is_known()
        && network.unmeasured().is_empty()
        && planned.problem.spaces().len() == 1
        && network.runtime_extent(plan) > network.runtime_alone()
}

impl FrontEnd for Plain {
    type Input = Input;
    type Laid = Planned;

    fn name(&self) -> &str {
        "plan"
    }

    fn read(&self, source: &Source) -> Result<Input, Failure> {
        Plain::read_on_targets(source, std::slice::from_ref(&self.target))
    }

    fn lay_out(&self, input: &Input, solver: &mut Solver) -> Result<Planned, Failure> {
        let planned = self.plan(input, solver)?;
        match self.form {
            PlanForm::Model => no_worse_than_alone(self, input, planned, solver),
            PlanForm::Json | PlanForm::Csv | PlanForm::Header(_) | PlanForm::Solution => Ok(planned),
        }
    }

    /// What is checked: that the plan solves the problem, that the program or network behind the problem computes the
    /// same with it, and that the written plan has these offsets.
    fn claim<'a>(&self, input: &'a Input, laid: &'a Planned) -> Claim<'a> {
        // If the runtime's own plan is written, our plan is checked as well, because the report
        // shows its numbers. The program of the first plan has number 0 in the claim, and repairs
        // are asked for by this number. If the other one (number 1) is rejected, the runtime's plan
        // is left out (`with_better_of_runtime`).
        let mut claim = Claim::default();
        let plans: Vec<&Plan> = laid.outcome.plan().into_iter().chain(&laid.written).collect();
        for plan in plans {
            let sites = sites_of(input, &laid.problem);
            let (problem, plan) = (Cow::Borrowed(&*laid.problem), Cow::Borrowed(plan));
            if let Some(program) = &input.program {
                claim.programs.push((Cow::Borrowed(program.program()), program.site_plan(&plan).into()));
            }
            // The network of `laid` may differ from that of the input: it may have been read again
            // with inputs whose memory is reused. A network whose program would be too long has
            // none, and is not followed.
            if let Some((program, by_site)) = laid.network.as_ref().and_then(|network| network.meaning(&plan)) {
                claim.programs.push((Cow::Borrowed(program), by_site.into()));
            }
            // Both plans solve the one problem, so a repair after either of them concerns the program with number 0.
            claim.packings.push(Packing { problem, plan, sites: Some((0, sites)) });
        }
        if let Some(plan) = laid.written_plan() {
            claim.placements.push(match self.form {
                PlanForm::Model => Cow::Owned(tensors_only(laid, plan)),
                _ => listed(&plan.placements),
            });
        }
        claim
    }

    /// Writes the plan in the form that was asked for.
    fn emit(&self, input: &Input, laid: &Planned) -> Result<Output, Failure> {
        let Some(plan) = laid.written_plan() else {
            return Err(Failure::Form("there is no plan to write".to_owned()));
        };
        Ok(match &self.form {
            // JSON can say everything; the other forms are refused where they cannot say what was planned.
            PlanForm::Json => Output::of_text(laid.to_json()),
            PlanForm::Solution if !plan.objects.is_empty() => {
                let message = "a plan made of shared objects has no offsets to put into a solution";
                return Err(Failure::Form(message.to_owned()));
            }
            PlanForm::Solution if laid.problem.buffers().iter().any(|buffer| buffer.slots > 1) => {
                return Err(Failure::Form(
                    "a dsa solution has one offset for each buffer, and some have slots".to_owned(),
                ));
            }
            PlanForm::Solution => {
                let numbers = input.numbers.as_deref().cloned().unwrap_or_default();
                Output::of_text(dsa::write_solution(&laid.problem, plan, &numbers))
            }
            PlanForm::Csv => Output::of_text(plan_file::csv::write(&laid.problem, plan)),
            PlanForm::Header(name) => Output::of_text(plan_file::header::write(&laid.problem, plan, name)),
            PlanForm::Model => planned_model(input, laid, plan)?,
        })
    }

    /// Reads the written plan again: where each buffer is according to the output alone.
    fn places(&self, input: &Input, output: &Output) -> Result<Places, Failure> {
        let list = match &self.form {
            // The readers of plans also get the problem, for the names of buffers and spaces.
            PlanForm::Json => of_plan(&input.problem, &plan_file::json::read(output.text(), &input.problem)?),
            PlanForm::Csv => of_plan(&input.problem, &plan_file::csv::read(output.text(), &input.problem, None)?),
            PlanForm::Header(_) => header_places(&input.problem, output.text())?,
            PlanForm::Solution => of_plan(&input.problem, &dsa::read_solution(output.text(), &input.problem)?),
            PlanForm::Model => model_places(input, output)?,
        };
        Ok(Places { lists: vec![list] })
    }
}

/// The site of each buffer; without a program it is the buffer's own number.
fn sites_of<'a>(input: &'a Input, problem: &Problem) -> Cow<'a, [SiteId]> {
    match &input.program {
        Some(program) => Cow::Borrowed(program.sites()),
        None => Cow::Owned(problem.buffers().ids().map(|buffer| SiteId::from_index(buffer.index())).collect()),
    }
}

/// Where a plan, read again from an output file, puts its buffers, as the driver compares it.
fn of_plan(problem: &Problem, plan: &Plan) -> Vec<Option<Found>> {
    let names: IndexVec<_, Arc<str>> = problem.spaces().iter().map(|space| Arc::from(space.name.as_str())).collect();
    // One placement, in the form of places that are found in an output.
    let found = |placement: &Placement| Found {
        memory: Arc::clone(&names[placement.space]),
        offsets: placement.offsets.iter().map(|offset| offset.0).collect(),
        strides: placement.strides.iter().map(|stride| stride.0).collect(),
        object: placement.object.map(Id::index),
        size: plan.extents.get(placement.space).copied(),
    };
    plan.placements.iter().map(|placement| placement.as_ref().map(found)).collect()
}

/// The offsets in a C header. Its macros come in the order of the buffers, one for each slot. `None` for a buffer whose
/// macro is missing or has another buffer's name.
fn header_places(problem: &Problem, text: &str) -> Result<Vec<Option<Found>>, Failure> {
    let mut offsets = plan_file::header::offsets(text)?.into_iter();
    // The macro's name is the buffer's name with other characters where C needs them, and a number may follow. So only
    // the beginning is compared.
    let spelled = plan_file::header::spelled;
    let found = |buffer: &memplan_core::Buffer| {
        // Objects have no slots: a buffer that uses an object uses the whole of it. The next macro
        // says which it is.
        let shares_object = offsets.as_slice().first().is_some_and(|first| first.is_object);
        let count = if shares_object { 1 } else { buffer.slots as usize };
        let slots: Vec<_> = offsets.by_ref().take(count).collect();
        // If there is one memory only, the header does not number it.
        let memory = slots.first()?.space.map_or_else(String::new, |number| format!("memory {number}")).into();
        let is_named = slots.iter().all(|slot| slot.name.starts_with(&spelled(&buffer.name)));
        // The macro of a buffer in a shared object has the number of the object in the place of an
        // offset.
        let object = slots.first().filter(|slot| slot.is_object).and_then(|slot| usize::try_from(slot.offset).ok());
        let offsets = slots.into_iter().map(|slot| slot.offset).collect();
        is_named.then_some(Found { memory, offsets, object, ..Found::default() })
    };
    Ok(problem.buffers().iter().map(found).collect())
}

/// The model with the plan inside: new bytes (`prefix`), then the whole old file. The new bytes
/// refer to the tables and weights in the old ones, which are not copied before the output is
/// written.
fn planned_model(input: &Input, laid: &Planned, plan: &Plan) -> Result<Output, Failure> {
    let network = laid.network.as_ref().filter(|network| *network.kind() == Kind::Tflite);
    let (Some(network), Some(file)) = (network, &input.file) else {
        let message = "a plan can be written into a .tflite model only, and the input is none";
        return Err(Failure::Form(message.to_owned()));
    };
    let mut offline = OfflinePlan::new(network.model(), &laid.problem, network.roles(), plan)
        .map_err(|error| Failure::Form(format!("cannot write the plan into the model: {error}")))?;
    if !network.unmeasured().is_empty() {
        // Scratch memory of unknown size may lie in gaps between the tensors or above them. With fixed
        // offsets the arena may then be larger than without a plan, so no offset is written.
        offline = OfflinePlan::undecided(network.model());
    }
    let bytes = offline.prefix(file.content())?;
    let behind = Behind { file: file.clone(), pieces: vec![Piece::whole(file.content())] };
    Ok(Output { bytes, behind: Some(behind), ..Output::default() })
}

/// The placements that a written model contains: those of tensors. Scratch memory has none, because the runtime places
/// it. If some operator asks for scratch memory of unknown size, the model contains no placement at all, and the
/// runtime places everything.
fn tensors_only(laid: &Planned, plan: &Plan) -> Vec<Option<Placement>> {
    let Some(network) = &laid.network else { return Vec::new() };
    let is_tensor = |buffer: BufferId| {
        network.unmeasured().is_empty() && matches!(network.roles().get(buffer), Some(Role::Tensor(..)))
    };
    plan.placements
        .iter_enumerated()
        .map(|(buffer, placement)| placement.clone().filter(|_| is_tensor(buffer)))
        .collect()
}

/// A written file, to be read again.
pub(super) fn written(output: &Output) -> Result<Assembled<'_>, Failure> {
    output.content().map_err(|error| ReadError::at_byte("read::failed", 0, error.to_string()).into())
}

/// The offsets of a written model, by the buffers of the problem; `None` for scratch memory, which
/// the file does not list, and for a tensor that the runtime places.
fn model_places(input: &Input, output: &Output) -> Result<Vec<Option<Found>>, Failure> {
    let Some(network) = &input.network else { return Ok(Vec::new()) };
    let written = offline::written_offsets(&written(output)?)?;
    // The file lists the offsets of all tensors, graph after graph. `starts` says where each graph begins in that list.
    let mut starts = Vec::new();
    let mut count = 0;
    for graph in &network.model().graphs {
        starts.push(count);
        count += graph.tensors.len();
    }
    let arena: Arc<str> = "arena".into();
    let found = |role: &Role| {
        let Role::Tensor(graph, tensor) = role else { return None };
        let offset = *written.get(starts[graph.index()] + tensor.index())?;
        // The file says -1 for a tensor that the runtime places.
        let offset = u64::try_from(offset).ok()?;
        Some(Found { memory: Arc::clone(&arena), offsets: smallvec![Bytes(offset).0], ..Found::default() })
    };
    Ok(network.roles().iter().map(found).collect())
}
