//! Models that are changed until they fit: other orders, recomputation, execution patch by patch.
//!
//! [`memplan_fit`] proposes changes, from cheap to dear. Each that may fit is written, read again as any model is, and
//! planned ([`Plain`]); the first whose arena is no larger than the capacity is the answer. What is claimed of it, how
//! it is written and how its tensors are found again is what [`Plain`] says of any planned model.
//!
//! ```text
//!   model ─► candidates ─► write ─► read ─► proved? ─► plan ─► arena ≤ capacity? ─► the answer
//!               ▲                              │ no                  │ no
//!               └──── the next dearer one ◄────┴─────────────────────┘
//! ```
//!
//! A candidate of which it cannot be proved that it computes the same as the model is passed over, and the user is
//! told. What differs between formats is in `language`, what is done with a model in `workshop`.

pub mod chart;
mod language;
mod workshop;

use memplan_core::{Bytes, ReadError};
use memplan_fit::Allowed;
use memplan_models::source::Piece;
use memplan_verify::equivalence::Contents;
use serde_json::json;

use self::language::Language;
use self::workshop::{Limit, Workshop};
use super::plain::written;
use super::{Behind, Claim, FrontEnd, Meanings, Output, Places, Plain, PlanForm, Planned};
use crate::driver::{Failure, Solver};
use crate::format::{self, Input};
use crate::network::Network;
use crate::source::Source;
use crate::target::Target;

/// The front end for models that are to fit.
#[derive(Clone, Debug, Default)]
pub struct Fit {
    /// Which changes may be made.
    pub allowed: Allowed,
    /// What the model may need; as little as possible if not given.
    pub capacity: Option<Bytes>,
    /// Which part of the runtime's memory the capacity is for.
    pub counted: Counted,
    /// What the runtime's records may take, where they are in a memory of their own; as much as they need if not given.
    pub records: Option<Bytes>,
}

impl Fit {
    /// A model in two memories: tensors and scratch memory in one, what the runtime keeps in the other. TensorFlow Lite
    /// Micro works so if it is given two arenas. It has no way to put some tensors into the second one.
    pub fn on_two_memories(allowed: Allowed, tensors: Option<Bytes>, records: Option<Bytes>) -> Fit {
        Fit { allowed, capacity: tensors, counted: Counted::Tensors, records }
    }
}

/// Which part of the memory that a runtime needs has to fit into the capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counted {
    /// All of the arena.
    #[default]
    Arena,
    /// Tensors and scratch memory: the runtime keeps its records in a memory of their own.
    Tensors,
}

/// A model that was changed, and planned.
#[derive(Clone)]
pub struct Fitted {
    /// The changed model as it was read again.
    pub input: Input,
    /// Its plan.
    pub planned: Planned,
    /// Versions from cheap to dear, each with a smaller arena than all before it; the first is the model as it is.
    pub steps: Vec<Version>,
    /// The place of the chosen version in `steps`.
    pub chosen: usize,
    /// No version needs less of what counts: see [`memplan_fit::floor`](mod@memplan_fit::floor).
    pub floor: Bytes,
    /// The format of the model.
    language: Language,
}

impl Fitted {
    /// Whether the written model says where its tensors go.
    pub fn has_plan_inside(&self) -> bool {
        self.language == Language::Tflite
    }

    /// All versions, which of them was chosen and what none of them can go below, as JSON on one line.
    pub fn to_json(&self) -> String {
        let version = |version: &Version| {
            json!({
                "arena": version.arena.0,
                "tensors": version.tensors.0,
                "start": version.start.0,
                "records": version.records.0,
                "exact": version.is_exact,
                "multiply_adds": version.macs,
                "copied": version.copied,
                "ops": version.ops,
                "file": version.file,
                "changes": version.changes,
            })
        };
        let versions: Vec<_> = self.steps.iter().map(version).collect();
        json!({ "chosen": self.chosen, "floor": self.floor.0, "versions": versions }).to_string()
    }
}

/// What one version of a model needs and costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// What was changed, a sentence for each change; empty for the model as it is.
    pub changes: Vec<String>,
    /// The arena of the runtime, all of it.
    pub arena: Bytes,
    /// What of it tensors and scratch memory take.
    pub tensors: Bytes,
    /// What the memory of the tensors needs while the runtime starts: it lists and describes them there.
    pub start: Bytes,
    /// What the runtime keeps beside tensors and scratch memory.
    pub records: Bytes,
    /// Whether the numbers are exact: the scratch memory of all ops was measured, and no tensor gets its size at run
    /// time. Otherwise the runtime may need more.
    pub is_exact: bool,
    /// Multiply-adds of a run.
    pub macs: u64,
    /// Bytes that are copied only: by slices, borders and concatenations.
    pub copied: u64,
    /// Ops.
    pub ops: usize,
    /// Bytes of the model's file, without a plan inside.
    pub file: u64,
}

impl Version {
    /// What was changed, in one line.
    pub fn in_words(&self) -> String {
        if self.changes.is_empty() { "none".to_owned() } else { self.changes.join("; ") }
    }

    /// What it needs of the memory that counts.
    pub fn needs(&self, counted: Counted) -> Bytes {
        match counted {
            Counted::Arena => self.arena,
            Counted::Tensors => self.tensors.max(self.start),
        }
    }
}

impl FrontEnd for Fit {
    type Input = Input;
    type Laid = Fitted;

    fn name(&self) -> &str {
        "fit"
    }

    fn read(&self, source: &Source) -> Result<Input, Failure> {
        // Anything that is no model is refused at once, with what to give instead.
        let input = plain().read(source)?;
        network(&input, &source.name)?;
        Ok(input)
    }

    /// Finds the cheapest version that fits, or without a capacity the smallest one. A candidate of which it could not
    /// be proved that it computes the same is not used, and says which ops must not be split; then everything is looked
    /// for again. This ends, because each round takes at least one op more out of those that may be split.
    fn lay_out(&self, input: &Input, solver: &mut Solver) -> Result<Fitted, Failure> {
        let mut workshop = Workshop::open(input, self.counted)?;
        loop {
            let first = workshop.unchanged(solver)?;
            let found = workshop.candidates(self.allowed)?;
            let fitted = match self.capacity {
                Some(capacity) => {
                    workshop.first_that_fits(Limit { capacity, records: self.records }, first, &found, solver)
                }
                None => workshop.trade_off(first, &found, solver),
            };
            // Ops whose tiles were not proved are not split any more. Other versions may be the cheapest now.
            if !workshop.learn() {
                return fitted;
            }
        }
    }

    /// What is checked of the plan of the chosen version. That the version computes the same is proved separately
    /// (`meanings`).
    fn claim<'a>(&self, _: &'a Input, laid: &'a Fitted) -> Claim<'a> {
        let claim = plain().claim(&laid.input, &laid.planned);
        match laid.language {
            Language::Tflite => claim,
            // An ONNX model has no place for a plan, so the output says nothing about addresses.
            Language::Onnx => Claim { placements: Vec::new(), ..claim },
        }
    }

    /// Writes the chosen version of the model.
    fn emit(&self, _: &Input, laid: &Fitted) -> Result<Output, Failure> {
        // The changed model, which is the input of `laid`, was written once already, to be read
        // again. For ONNX that file is the output; for TensorFlow Lite a plan is put into it.
        match (laid.language, &laid.input.file) {
            (Language::Onnx, Some(file)) => {
                let pieces = vec![Piece::whole(file.content())];
                Ok(Output { behind: Some(Behind { file: file.clone(), pieces }), ..Output::default() })
            }
            _ => plain().emit(&laid.input, &laid.planned),
        }
    }

    /// Finds the offsets of the tensors in the written model. There are none in an `.onnx` file.
    fn places(&self, input: &Input, output: &Output) -> Result<Places, Failure> {
        // The format `tflite` is always there. Without a file nothing was written either.
        let (Some(file), Some(format)) = (&input.file, format::find("tflite")) else { return Ok(Places::default()) };
        if network(input, &file.name)?.1 == Language::Onnx {
            return Ok(Places::default());
        }
        // The written model has other tensors than the input, so it is read again from its file alone, and its offsets
        // are listed by its own tensors.
        let again = format.read_binary(&written(output)?, &file.options)?;
        plain().places(&again, output)
    }

    /// What the model computes and what the written model computes, each described from its file
    /// alone, for the proof that both are the same. The driver has it made after writing;
    /// `Workshop::proved` made the same proof while versions were tried. `None` if the input comes
    /// from no file.
    fn meanings(&self, input: &Input, output: &Output) -> Result<Option<Meanings>, Failure> {
        let Some(file) = &input.file else { return Ok(None) };
        let (_, language) = network(input, &file.name)?;
        // One table of constants for both models, so that equal weights are known to be equal.
        let mut contents = Contents::default();
        let original = language.describe(file.content(), &file.options, &mut contents)?;
        let changed = language.describe(&written(output)?, &file.options, &mut contents)?;
        Ok(Some(Meanings { original, changed }))
    }
}

/// A changed model is planned and written like any other.
fn plain() -> Plain {
    Plain { target: Target::default(), form: PlanForm::Model }
}

/// The network of an input, and its format; a failure if the input is no model. `name` is for the message.
fn network<'a>(input: &'a Input, name: &str) -> Result<(&'a Network, Language), Failure> {
    let refused = || {
        let error = ReadError::at_byte("fit::no-network", 0, format!("there is no network in {name}"));
        Failure::from(error.help("give a .tflite or an .onnx model"))
    };
    let network = input.network.as_deref().ok_or_else(refused)?;
    Ok((network, Language::of(network)))
}
