//! Models that are changed until they fit: other orders, recomputation, execution patch by patch.
//!
//! [`memplan_fit`] proposes changes, from cheap to dear. Each that may fit is written, read again as any model is, and
//! planned ([`Plain`]); the first whose arena is no larger than the capacity is the answer. What is claimed of it, how
//! it is written and how its tensors are found again is what [`Plain`] says of any planned model.
//!
//! ```text
//!   model ─► candidates ─► write ─► read ─► plan ─► arena ≤ capacity? ─► the answer
//!               ▲                                        │ no
//!               └──────────── the next dearer one ◄──────┘
//! ```

pub mod chart;

use std::collections::BTreeSet;

use memplan_core::{Bytes, Id, ReadError};
use memplan_fit::recompute::{self, with_clones};
use memplan_fit::{Allowed, Candidate, Change, Dialect, Net, candidates};
use memplan_models::graph::order::{WIDTH, reorder};
use memplan_models::graph::{Graph, OpId};
use memplan_models::source::copy_range;
use memplan_models::tflite;
use memplan_verify::equivalence::Contents;

use super::plain::written;
use super::{Claim, FrontEnd, Meanings, Output, Places, Plain, PlanForm, Planned};
use crate::driver::{Failure, Solver};
use crate::format::{self, Input};
use crate::network::{Kind, Network};
use crate::source::Source;
use crate::target::Target;
use crate::wording::sized;

/// The front end for models that are to fit.
#[derive(Clone, Debug, Default)]
pub struct Fit {
    /// Which changes may be made.
    pub allowed: Allowed,
    /// What the model may need; as little as possible if not given.
    pub capacity: Option<Bytes>,
    /// What counts.
    pub counted: Counted,
}

/// What counts of the memory that a runtime needs.
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
    /// Which of them was chosen.
    pub chosen: usize,
}

/// What one version of a model needs and costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// What was changed, in words.
    pub changes: Vec<String>,
    /// The arena of the runtime, all of it.
    pub arena: Bytes,
    /// What of it tensors and scratch memory take.
    pub tensors: Bytes,
    /// No kernel asks for more: those of all ops were measured.
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
            Counted::Tensors => self.tensors,
        }
    }
}

/// A version with everything that is needed to write it.
struct Made {
    version: Version,
    input: Input,
    planned: Planned,
}

/// The largest number of versions that are planned in the search for one that fits, and for a table of the
/// trade-off.
const MOST_VERSIONS: usize = 24;

/// The largest number of schedules with recomputation that are looked at.
const MOST_SCHEDULES: usize = 8;

impl FrontEnd for Fit {
    type Input = Input;
    type Laid = Fitted;

    fn name(&self) -> &str {
        "fit"
    }

    fn read(&self, source: &Source) -> Result<Input, Failure> {
        let input = plain().read(source)?;
        network(&input, &source.name)?;
        Ok(input)
    }

    fn lay_out(&self, input: &Input, solver: &mut Solver) -> Result<Fitted, Failure> {
        let workshop = Workshop::open(input, self.counted)?;
        let first = workshop.unchanged(solver)?;
        let found = workshop.candidates(self.allowed)?;
        match self.capacity {
            Some(capacity) => workshop.first_that_fits(capacity, first, &found, solver),
            None => workshop.trade_off(first, &found, solver),
        }
    }

    fn claim<'a>(&self, _: &'a Input, laid: &'a Fitted) -> Claim<'a> {
        plain().claim(&laid.input, &laid.planned)
    }

    fn emit(&self, _: &Input, laid: &Fitted) -> Result<Output, Failure> {
        plain().emit(&laid.input, &laid.planned)
    }

    fn places(&self, input: &Input, output: &Output) -> Result<Places, Failure> {
        let (Some(file), Some(format)) = (&input.file, format::find("tflite")) else { return Ok(Places::default()) };
        // The tensors are those of the written model, and nothing is known of it but its file.
        let again = format.read_binary(&written(output)?, &file.options)?;
        plain().places(&again, output)
    }

    fn meanings(&self, input: &Input, output: &Output) -> Result<Option<Meanings>, Failure> {
        let Some(file) = &input.file else { return Ok(None) };
        let mut contents = Contents::default();
        let original = tflite::description::describe(file.content(), &mut contents)?;
        let changed = tflite::description::describe(&written(output)?, &mut contents)?;
        Ok(Some(Meanings { original, changed }))
    }
}

/// A changed model is planned and written like any other.
fn plain() -> Plain {
    Plain { target: Target::default(), form: PlanForm::Model }
}

/// The network of an input.
fn network<'a>(input: &'a Input, name: &str) -> Result<&'a Network, Failure> {
    let refused = |code, why: String| {
        let error = ReadError::at_byte(code, 0, why);
        Failure::from(error.help("give a .tflite model"))
    };
    let network = input.network.as_deref();
    match network.ok_or_else(|| refused("fit::no-network", format!("there is no network in {name}")))? {
        network if *network.kind() == Kind::Tflite => Ok(network),
        _ => Err(refused("fit::format", format!("{name} is an .onnx model, whose ops cannot be changed"))),
    }
}

/// A model and everything that is needed to make versions of it.
struct Workshop<'a> {
    input: &'a Input,
    file: &'a Source,
    network: &'a Network,
    net: Net<'a>,
    counted: Counted,
}

impl<'a> Workshop<'a> {
    fn open(input: &'a Input, counted: Counted) -> Result<Workshop<'a>, Failure> {
        let network = network(input, "the input")?;
        let (Some(file), Some(graph)) = (&input.file, network.model().main()) else {
            return Err(Failure::NoPlan("the model has no file to change".to_owned()));
        };
        let attributes = tflite::attributes::read(file.content(), graph)?;
        let net = Net {
            graph,
            layers: memplan_fit::tflite::layers(graph, &attributes),
            dialect: match counted {
                Counted::Arena => Dialect::TFLITE,
                Counted::Tensors => Dialect::TFLITE.with_records_elsewhere(),
            },
            alignment: network.model().alignment,
            reuses_inputs: network.assumptions().reuse_inputs,
        };
        Ok(Workshop { input, file, network, net, counted })
    }

    /// The model as it is.
    fn unchanged(&self, solver: &mut Solver) -> Result<Made, Failure> {
        let macs = self.net.layers.iter().map(|layer| layer.macs).fold(0, u64::saturating_add);
        self.made(self.input.clone(), Vec::new(), macs, 0, solver)
    }

    /// Changes that are worth trying, from cheap to dear.
    fn candidates(&self, allowed: Allowed) -> Result<Vec<Candidate>, Failure> {
        let orders = self.orders(allowed)?;
        let schedules: Vec<_> = orders.iter().map(|order| (with_clones(&self.net, order), changes_of(order))).collect();
        let mut found = candidates(&self.net, &schedules, allowed);
        found.retain(|candidate| !candidate.changes.is_empty());
        Ok(found)
    }

    /// Orders of the ops that are worth a look; an op that runs again comes again.
    fn orders(&self, allowed: Allowed) -> Result<Vec<Vec<OpId>>, Failure> {
        let mut orders: Vec<Vec<OpId>> = vec![self.net.graph.ops.ids().collect()];
        if allowed.reorder {
            let best = reorder(self.network.model(), self.network.assumptions(), WIDTH);
            let best = best.map_err(|error| Failure::NoPlan(error.to_string()))?;
            if best.after < best.before {
                orders.push(best.order);
            }
        }
        if allowed.recompute {
            // For a small network all schedules can be listed. They do not keep the given order of ops, so the user
            // must have allowed another one.
            let all = if allowed.reorder { recompute::schedules(&self.net) } else { None };
            let again: Vec<Vec<OpId>> = match all {
                Some(all) => all.into_iter().map(|schedule| schedule.order).collect(),
                None => orders.iter().flat_map(|order| recompute::improved(&self.net, order)).collect(),
            };
            // Looking for tiles costs much for each schedule, so only some schedules are kept. The last one, which
            // needs least, is always among them.
            let stride = again.len().div_ceil(MOST_SCHEDULES).max(1);
            orders.extend(again.into_iter().rev().step_by(stride));
        }
        Ok(orders)
    }

    /// The cheapest version that fits.
    fn first_that_fits(
        &self,
        capacity: Bytes,
        first: Made,
        found: &[Candidate],
        solver: &mut Solver,
    ) -> Result<Fitted, Failure> {
        let before = first.version.clone();
        let mut smallest = first;
        let needs = |made: &Made| made.version.needs(self.counted);
        let records = match self.counted {
            Counted::Arena => self.network.tail().bytes.0,
            Counted::Tensors => 0,
        };
        // What is alive at once is a lower bound of what a placement needs, so that candidates above the capacity
        // cannot fit.
        let may_fit = |candidate: &&Candidate| self.least(candidate).saturating_add(records) <= capacity.0;
        let mut tried = found.iter().filter(may_fit).take(MOST_VERSIONS);
        while needs(&smallest) > capacity {
            let Some(candidate) = tried.next() else { break };
            let made = self.make(candidate, solver)?;
            if needs(&made) < needs(&smallest) {
                smallest = made;
            }
        }
        // Where no candidate can fit, the one with the least alive tells how far away that is.
        if needs(&smallest) > capacity
            && let Some(last) = found.last()
        {
            let made = self.make(last, solver)?;
            if needs(&made) < needs(&smallest) {
                smallest = made;
            }
        }
        if needs(&smallest) > capacity {
            return Err(Failure::DoesNotFit(self.refusal(capacity, &smallest)));
        }
        let is_unchanged = smallest.version.changes.is_empty();
        let mut steps = vec![before];
        if !is_unchanged {
            steps.push(smallest.version);
        }
        Ok(Fitted { input: smallest.input, planned: smallest.planned, chosen: steps.len() - 1, steps })
    }

    /// What a candidate needs at least, but for what the runtime keeps for the model as it is.
    fn least(&self, candidate: &Candidate) -> u64 {
        match self.counted {
            Counted::Arena => candidate.estimate().0,
            Counted::Tensors => candidate.peak.0,
        }
    }

    /// Versions from cheap to dear.
    fn trade_off(&self, first: Made, found: &[Candidate], solver: &mut Solver) -> Result<Fitted, Failure> {
        let mut best = first;
        let mut steps = vec![best.version.clone()];
        let picked = found.len().div_ceil(MOST_VERSIONS).max(1);
        // The last one, which needs least, is never left out.
        let skipped = found.len().saturating_sub(1) % picked;
        for candidate in found.iter().skip(skipped).step_by(picked) {
            let made = self.make(candidate, solver)?;
            if made.version.needs(self.counted) < best.version.needs(self.counted) {
                steps.push(made.version.clone());
                best = made;
            }
        }
        Ok(Fitted { input: best.input, planned: best.planned, chosen: steps.len() - 1, steps })
    }

    /// Writes a candidate, reads it again and plans it.
    fn make(&self, candidate: &Candidate, solver: &mut Solver) -> Result<Made, Failure> {
        let mut bytes = tflite::rewrite::prefix(self.file.content(), self.net.graph, &candidate.rewrite)?;
        let content = self.file.content();
        copy_range(content, 0, content.size(), &mut bytes)
            .map_err(|error| ReadError::at_byte("read::failed", 0, error.to_string()))?;
        let source = Source { bytes, disk: None, ..self.file.clone() };
        let input = plain().read(&source)?;
        let changes = candidate.changes.iter().map(|change| described(self.net.graph, change)).collect();
        self.made(input, changes, candidate.macs, candidate.copied, solver)
    }

    fn made(
        &self,
        input: Input,
        changes: Vec<String>,
        macs: u64,
        copied: u64,
        solver: &mut Solver,
    ) -> Result<Made, Failure> {
        let planned = plain().lay_out(&input, solver)?;
        let network = network(&input, "the changed model")?;
        let Some(plan) = planned.written_plan() else {
            return Err(Failure::NoPlan("no plan was found for the changed model".to_owned()));
        };
        // Where scratch memory is not known, the written model leaves its tensors to the runtime.
        let is_measured = network.unmeasured().is_empty();
        let tensors = if is_measured { network.runtime_extent(plan) } else { network.runtime_at_least() };
        let is_exact = is_measured && network.tail().unknown.is_empty();
        let ops = network.model().main().map_or(0, |graph| graph.ops.len());
        let file = input.file.as_ref().map_or(0, |file| file.content().size());
        let arena = network.arena(tensors);
        let version = Version { changes, arena, tensors, is_exact, macs, copied, ops, file };
        Ok(Made { version, input, planned })
    }

    /// Why nothing fits: what is alive at the worst moment of the smallest version, and what cannot be split there.
    fn refusal(&self, capacity: Bytes, smallest: &Made) -> String {
        let mut text = format!(
            "no version of the model was found that fits into {}; the smallest needs {}",
            sized(capacity),
            sized(smallest.version.needs(self.counted))
        );
        let network = smallest.input.network.as_deref();
        let peak = network.and_then(|network| network.peak_report(network.problem()));
        if let Some(peak) = peak {
            let rows = peak.rows.iter().take(3).map(|row| format!("`{}` {}", row.tensor, row.bytes.human()));
            let rows: Vec<String> = rows.collect();
            text.push_str(&format!("\nmost is alive at {}: {}", peak.op, rows.join(", ")));
        }
        for (op, layer) in self.net.layers.iter().enumerate() {
            if let Err(why) = &layer.spatial {
                let label = label(self.net.graph, OpId::from_index(op));
                text.push_str(&format!("\n{label} is not split: {why}"));
                if text.lines().count() > 8 {
                    break;
                }
            }
        }
        text
    }
}

/// How an order differs from that of the file.
fn changes_of(order: &[OpId]) -> Vec<Change> {
    let mut has_run = BTreeSet::new();
    let (first, again): (Vec<OpId>, Vec<OpId>) = order.iter().partition(|op| has_run.insert(**op));
    let reordered = (!first.is_sorted()).then_some(Change::Reordered);
    reordered.into_iter().chain(again.into_iter().map(|op| Change::Recomputed { op })).collect()
}

/// A change in words.
fn described(graph: &Graph, change: &Change) -> String {
    match change {
        Change::Reordered => "ops in another order".to_owned(),
        Change::Recomputed { op } => format!("{} runs again for a late reader", label(graph, *op)),
        Change::Patched { first, last, ops, grid: [rows, columns] } => {
            let tiles = match columns {
                1 => format!("{rows} tiles"),
                _ => format!("{rows} x {columns} tiles"),
            };
            match ops {
                1 => format!("{} in {tiles}", label(graph, *first)),
                _ => format!("{} to {} ({ops} ops) in {tiles}", label(graph, *first), label(graph, *last)),
            }
        }
    }
}

/// An op by its number, its kind and what it writes.
fn label(graph: &Graph, op: OpId) -> String {
    let draft = &graph.ops[op];
    let output = draft.outputs.first().map(|&output| graph.tensors[output].name.as_str()).unwrap_or_default();
    format!("#{} {} `{output}`", op.index(), draft.kind)
}
