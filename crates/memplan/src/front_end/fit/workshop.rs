//! Versions of a model: made, read again, proved and planned one after the other.
//!
//! A *candidate* is a change that `memplan_fit` proposes, with an estimate of what it needs. A *version* is a candidate
//! that was written, read again, proved to compute the same as the model, and planned.
//!
//! A `Net` is the model as `memplan_fit` sees it; its *layers* say what each op computes from what. A `Rewrite`
//! lists the ops of a changed model.

use std::cell::RefCell;
use std::collections::BTreeSet;

use memplan_core::{Bytes, Id};
use memplan_fit::net::Schedule;
use memplan_fit::patch::patch;
use memplan_fit::recompute::{self, with_clones};
use memplan_fit::{Allowed, Candidate, Change, Net, candidates};
use memplan_models::graph::order::{WIDTH, reorder};
use memplan_models::graph::rewrite::{NewOp, Rewrite};
use memplan_models::graph::{Graph, OpId};
use memplan_verify::equivalence::{self, Contents};

use super::language::{Language, Memory};
use super::{Counted, Fitted, Version, network, plain};
use crate::driver::{Failure, Solver};
use crate::finding::{self, Finding};
use crate::format::Input;
use crate::front_end::{FrontEnd, Planned};
use crate::network::Network;
use crate::source::Source;
use crate::wording::sized;

/// A version with everything that is needed to write it.
pub(super) struct Made {
    /// What it needs and costs, for the table of versions.
    version: Version,
    /// The changed model as it was read again.
    input: Input,
    /// Its plan.
    planned: Planned,
}

/// What a version may need.
#[derive(Clone, Copy)]
pub(super) struct Limit {
    /// Bytes of the memory that counts ([`Counted`]).
    pub(super) capacity: Bytes,
    /// Bytes of the runtime's records, where they are in a memory of their own; no limit if `None`.
    pub(super) records: Option<Bytes>,
}

impl Limit {
    /// Whether a version keeps this limit.
    fn holds(self, version: &Version, counted: Counted) -> bool {
        version.needs(counted) <= self.capacity && self.records.is_none_or(|records| version.records <= records)
    }
}

/// The largest number of versions that are planned in the search for one that fits, and for a table of the
/// trade-off.
const MOST_VERSIONS: usize = 24;

/// The largest number of schedules with recomputation (ops that run again) for which tiles are looked for. For each of
/// them the search for tiles starts anew, which takes most of the time.
const MOST_SCHEDULES: usize = 8;

/// A model and everything that is needed to make versions of it.
pub(super) struct Workshop<'a> {
    /// The model as it was read.
    input: &'a Input,
    /// Its file.
    file: &'a Source,
    /// Its network.
    network: &'a Network,
    /// Its format.
    language: Language,
    /// The model as changes are looked for in it. `learn` takes ops out of those that may be split.
    net: Net<'a>,
    /// Which part of the memory counts.
    counted: Counted,
    /// What the model computes. Every version is held against it.
    meaning: equivalence::Network,
    /// The constants of the model and of all versions.
    contents: RefCell<Contents>,
    /// Ops whose tiles were not proved to compute the same, since the last [`learn`](Workshop::learn).
    unproved: RefCell<BTreeSet<OpId>>,
}

impl<'a> Workshop<'a> {
    /// Prepares a model for changes: its network, and the description against which every changed version is proved.
    pub(super) fn open(input: &'a Input, counted: Counted) -> Result<Workshop<'a>, Failure> {
        let (network, language) = network(input, "the input")?;
        let Some(file) = &input.file else {
            return Err(Failure::NoPlan("the model has no file to change".to_owned()));
        };
        let net = Language::net(network, file, counted)?;
        // The description of the model as it is. Constants get numbers in `contents`, equal ones the same number, so
        // that descriptions of several versions can be compared.
        let mut contents = Contents::default();
        let meaning = language.describe(file.content(), &file.options, &mut contents)?;
        Ok(Workshop {
            input,
            file,
            network,
            language,
            net,
            counted,
            meaning,
            contents: RefCell::new(contents),
            unproved: RefCell::default(),
        })
    }

    /// The model as it is, planned: the first version, with no changes and no copied bytes. Its
    /// multiply-adds are those of all ops.
    pub(super) fn unchanged(&self, solver: &mut Solver) -> Result<Made, Failure> {
        let macs = self.net.layers.iter().map(|layer| layer.macs).fold(0, u64::saturating_add);
        self.made(self.input.clone(), Vec::new(), macs, 0, solver)
    }

    /// Changes that are worth trying, from cheap to dear; each needs less memory than all before it, by estimate.
    pub(super) fn candidates(&self, allowed: Allowed) -> Result<Vec<Candidate>, Failure> {
        let orders = self.orders(allowed)?;
        // Each order as a schedule, in which an op that runs again writes copies of its tensors,
        // and what was changed.
        let schedules: Vec<_> = orders.iter().map(|order| (with_clones(&self.net, order), changes_of(order))).collect();
        let mut found = candidates(&self.net, &schedules, allowed);
        // The model as it is may be among them; it has been planned already (`unchanged`).
        found.retain(|candidate| !candidate.changes.is_empty());
        Ok(found)
    }

    /// Orders of the ops that are worth a look, the order of the file first. An op that runs again
    /// is in its order more than once. Candidates are looked for in each of these orders.
    fn orders(&self, allowed: Allowed) -> Result<Vec<Vec<OpId>>, Failure> {
        let mut orders: Vec<Vec<OpId>> = vec![self.net.graph.ops.ids().collect()];
        if allowed.reorder {
            let best = reorder(self.network.model(), self.network.assumptions(), WIDTH);
            let best = best.map_err(|error| Failure::NoPlan(error.to_string()))?;
            // The other order counts only if less is alive at once in it.
            if best.after < best.before {
                orders.push(best.order);
            }
        }
        if allowed.recompute {
            // For a small network all schedules can be looked at; `schedules` lists the cheapest
            // for each amount of memory, or says `None` for a network that is too large. They do
            // not keep the given order of ops, so the user must have allowed another one. Otherwise
            // `improved` lets single ops run again in the given orders.
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

    /// Whether a version is a better answer than the best so far: it fits, or it needs less.
    /// (Nothing that was made before it fits, so one that fits is better even if it needs more: the
    /// best so far may break the limit on records.)
    fn is_better(&self, limit: Limit, made: &Made, best: &Made) -> bool {
        limit.holds(&made.version, self.counted) || made.version.needs(self.counted) < best.version.needs(self.counted)
    }

    /// The cheapest version that fits: `first`, the model as it is, or the first of the candidates
    /// `found`, which come from cheap to dear. At most [`MOST_VERSIONS`] candidates are made. The
    /// failure if none fits says how close the smallest one comes.
    pub(super) fn first_that_fits(
        &self,
        limit: Limit,
        first: Made,
        found: &[Candidate],
        solver: &mut Solver,
    ) -> Result<Fitted, Failure> {
        let before = first.version.clone();
        let mut best = first;
        let records = self.counted_records();
        // The live bytes of a candidate are a lower bound on what its plan needs. So a candidate whose live bytes
        // exceed the capacity cannot fit.
        let may_fit = found
            .iter()
            .filter(|candidate| self.least(candidate).saturating_add(records) <= limit.capacity.0)
            .take(MOST_VERSIONS);
        for candidate in may_fit {
            if limit.holds(&best.version, self.counted) {
                break;
            }
            if let Some(made) = self.make(candidate, solver)?
                && self.is_better(limit, &made, &best)
            {
                best = made;
            }
        }
        // If nothing fits, the last candidate, which has the fewest live bytes, is made as well. The failure then says
        // what the smallest version needs.
        if !limit.holds(&best.version, self.counted)
            && let Some(last) = found.last()
            && let Some(made) = self.make(last, solver)?
            && self.is_better(limit, &made, &best)
        {
            best = made;
        }
        if !limit.holds(&best.version, self.counted) {
            return Err(Failure::DoesNotFit(self.refusal(limit, &best)));
        }
        // The model as it is stands first among the versions that are shown; if it is the answer itself, it stands
        // alone.
        let is_unchanged = best.version.changes.is_empty();
        let mut steps = vec![before];
        if !is_unchanged {
            steps.push(best.version);
        }
        Ok(self.fitted(best.input, best.planned, steps))
    }

    /// Bytes that the runtime keeps for the model as it is, if they have to fit into the capacity; 0 otherwise.
    fn counted_records(&self) -> u64 {
        match self.counted {
            Counted::Arena => self.network.tail().bytes.0,
            Counted::Tensors => 0,
        }
    }

    /// No version needs fewer bytes than this. Every version has at least one op for each op of the model, so the
    /// runtime keeps at least as many records as for the model.
    fn floor(&self) -> Bytes {
        Bytes(memplan_fit::floor(&self.net).0.saturating_add(self.counted_records()))
    }

    /// The answer, with all versions that are shown beside it; the answer is the last of these.
    fn fitted(&self, input: Input, planned: Planned, steps: Vec<Version>) -> Fitted {
        let chosen = steps.len().saturating_sub(1);
        Fitted { input, planned, chosen, steps, floor: self.floor(), language: self.language }
    }

    /// Bytes that a candidate needs at least of what counts, without those that the runtime keeps
    /// for the model as it is. In the whole arena (`estimate`) the records of the additional ops
    /// count as well as the live bytes (`peak`).
    fn least(&self, candidate: &Candidate) -> u64 {
        match self.counted {
            Counted::Arena => candidate.estimate().0,
            Counted::Tensors => candidate.peak.0,
        }
    }

    /// Makes at most [`MOST_VERSIONS`] of the candidates and keeps those that need less than all before them. The
    /// last one, which needs least, is the answer; the others are shown as a table.
    pub(super) fn trade_off(&self, first: Made, found: &[Candidate], solver: &mut Solver) -> Result<Fitted, Failure> {
        let mut best = first;
        let mut steps = vec![best.version.clone()];
        // Every `stride`-th candidate is made. As many are skipped in front as it takes for the
        // last one, which needs least, to be among them: of 50 candidates number 1, 4, 7, … and 49
        // (from 0) are made.
        let stride = found.len().div_ceil(MOST_VERSIONS).max(1);
        let skipped = found.len().saturating_sub(1) % stride;
        for candidate in found.iter().skip(skipped).step_by(stride) {
            if let Some(made) = self.make(candidate, solver)?
                && made.version.needs(self.counted) < best.version.needs(self.counted)
            {
                steps.push(made.version.clone());
                best = made;
            }
        }
        Ok(self.fitted(best.input, best.planned, steps))
    }

    /// Writes a candidate, reads it again and plans it; `None` if it is not proved that it computes the same. Then the
    /// ops to blame are remembered for [`learn`](Workshop::learn).
    fn make(&self, candidate: &Candidate, solver: &mut Solver) -> Result<Option<Made>, Failure> {
        let changes: Vec<String> = candidate.changes.iter().map(|change| described(self.net.graph, change)).collect();
        match self.proved(&candidate.rewrite) {
            Ok(input) => self.made(input, changes, candidate.macs, candidate.copied, solver).map(Some),
            Err(findings) => {
                solver.pass_over("fit", &changes.join("; "), findings)?;
                self.unproved.borrow_mut().extend(self.to_blame(candidate));
                Ok(None)
            }
        }
    }

    /// Takes the ops whose tiles were not proved since the last call out of those that may be split. Returns whether
    /// there were any.
    pub(super) fn learn(&mut self) -> bool {
        let unproved = std::mem::take(self.unproved.get_mut());
        for op in &unproved {
            let why = "tiles of it are not proved to compute the same".to_owned();
            self.net.layers[op.index()].spatial = Err(why);
        }
        !unproved.is_empty()
    }

    /// The ops that keep a candidate from being proved. Each op that the candidate splits is tried by itself, in two
    /// tiles; those whose two tiles cannot be proved are to blame. If there is none, all split ops are.
    fn to_blame(&self, candidate: &Candidate) -> BTreeSet<OpId> {
        // In a rewrite, a tile of an op is a copy of the op that computes a part of its image. An
        // op that merely runs again is a copy, too; if it could be split, it is tried below as
        // well, which does no harm.
        let split = |op: &NewOp| match op {
            NewOp::Copy(copied) => self.net.layers[copied.op.index()].spatial.is_ok().then_some(copied.op),
            _ => None,
        };
        let split: BTreeSet<OpId> = candidate.rewrite.ops.iter().filter_map(split).collect();
        // The model's ops in the order of the file, each once. So the place of an op is its number.
        let schedule = Schedule::of_order(self.net.graph, self.net.graph.ops.ids());
        let is_unproved = |op: &OpId| {
            let place = op.index();
            // The model with this op alone in two tiles, one above the other (a grid of two rows
            // and one column); all other ops stay. Ids of new tensors follow those of the graph. An
            // op that cannot be split so by itself is not suspected.
            let tiles = patch(&self.net, &schedule, place..place + 1, [2, 1], self.net.graph.tensors.len());
            tiles.is_ok_and(|tiles| {
                let kept = |range: std::ops::Range<usize>| range.map(|op| NewOp::Kept(OpId::from_index(op)));
                let ops = kept(0..place).chain(tiles.ops).chain(kept(place + 1..self.net.graph.ops.len()));
                self.proved(&Rewrite { tensors: tiles.tensors, ops: ops.collect() }).is_err()
            })
        };
        let alone: BTreeSet<OpId> = split.iter().copied().filter(is_unproved).collect();
        if alone.is_empty() { split } else { alone }
    }

    /// A changed model as it was read again, if it is proved that it computes the same as the
    /// model; otherwise why the proof fails.
    fn proved(&self, rewrite: &Rewrite) -> Result<Input, Vec<Finding>> {
        // A version that cannot be read again is not proved either.
        let unreadable = |why: String| vec![Finding::of_whole("fit::unreadable", why)];
        let input = Language::rewritten(self.network, &self.net, self.file, rewrite);
        let input = input.map_err(|error| unreadable(error.to_string()))?;
        let Some(file) = &input.file else { return Err(unreadable("no file was written".to_owned())) };
        let changed = self.language.describe(file.content(), &file.options, &mut self.contents.borrow_mut());
        let changed = changed.map_err(|error| unreadable(error.to_string()))?;
        let findings = finding::in_equivalence(&self.meaning, &changed);
        if findings.is_empty() { Ok(input) } else { Err(findings) }
    }

    /// Plans a changed model and counts what it needs: memory, ops and the size of the file. `macs` are the
    /// multiply-adds of a run, `copied` the bytes that it only copies.
    fn made(
        &self,
        input: Input,
        changes: Vec<String>,
        macs: u64,
        copied: u64,
        solver: &mut Solver,
    ) -> Result<Made, Failure> {
        // The plan is checked by the driver, as part of the claim about the version that is chosen.
        let planned = plain().lay_out(&input, solver)?;
        let (network, language) = network(&input, "the changed model")?;
        let Some(plan) = planned.written_plan() else {
            return Err(Failure::NoPlan("no plan was found for the changed model".to_owned()));
        };
        let Memory { arena, tensors, start, records, is_exact } = language.memory(network, plan);
        let ops = network.model().main().map_or(0, |graph| graph.ops.len());
        let file = input.file.as_ref().map_or(0, |file| file.content().size());
        let version = Version { changes, arena, tensors, start, records, is_exact, macs, copied, ops, file };
        Ok(Made { version, input, planned })
    }

    /// Why nothing fits, as text of a few lines: what the smallest version needs, whether any change could have helped
    /// (`floor`), what is alive at the worst moment of that version, and the first ops of the model that cannot be
    /// split. `smallest` is the smallest version that was made. It may keep the capacity and break the limit on
    /// records, so the text has both numbers.
    fn refusal(&self, limit: Limit, smallest: &Made) -> String {
        let mut text = format!(
            "no version of the model was found that fits into {}; the smallest needs {}",
            sized(limit.capacity),
            sized(smallest.version.needs(self.counted))
        );
        if let Some(records) = limit.records {
            let kept = sized(smallest.version.records);
            text.push_str(&format!(", and {kept} for the runtime's records, which may have {}", sized(records)));
        }
        if self.floor() > limit.capacity {
            text.push_str(&format!(
                "\nno change of these kinds makes it need less than {}: inputs, outputs and what an op reads whole are \
                 there at some time",
                sized(self.floor())
            ));
            if self.counted_records() > 0 {
                text.push_str(&format!(", and the runtime keeps {} or more", sized(Bytes(self.counted_records()))));
            }
        }
        // The three largest tensors at the peak of the smallest version are named. (A version without a network, or in
        // which nothing is ever alive, has no such line.)
        let network = smallest.input.network.as_deref();
        let peak = network.and_then(|network| network.peak_report(network.problem()));
        if let Some(peak) = peak {
            let rows = peak.rows.iter().take(3).map(|row| format!("`{}` {}", row.tensor, row.bytes.human()));
            let rows: Vec<String> = rows.collect();
            text.push_str(&format!("\nmost is alive at {}: {}", peak.op, rows.join(", ")));
        }
        // A few ops that cannot be split are enough for the reader to see what is in the way. They are taken in the
        // order of the model, wherever the peak is. (`spatial` holds the reason why an op cannot be split.)
        for (op, layer) in self.net.layers.iter().enumerate() {
            if let Err(why) = &layer.spatial {
                let label = label(self.net.graph, OpId::from_index(op));
                text.push_str(&format!("\n{label} is not split: {why}"));
                // With the lines above, that is about a screenful.
                if text.lines().count() > 8 {
                    break;
                }
            }
        }
        text
    }
}

/// How an order differs from that of the file, in which ops are numbered in the order in which they run: `0 2 1 0` is
/// reordered, and op 0 is recomputed.
fn changes_of(order: &[OpId]) -> Vec<Change> {
    let mut has_run = BTreeSet::new();
    // `insert` says whether an op comes for the first time.
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

/// An op by its number, its kind and what it writes: ``#12 CONV_2D `block3/out` ``.
fn label(graph: &Graph, op: OpId) -> String {
    let draft = &graph.ops[op];
    let output = draft.outputs.first().map(|&output| graph.tensors[output].name.as_str()).unwrap_or_default();
    format!("#{} {} `{output}`", op.index(), draft.kind)
}
