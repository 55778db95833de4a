//! storage-rewrite: allocations of TVMScript functions that share memory.
//!
//! The driver compares placements that were planned with places that are found in the new text. Here such a placement
//! has two numbers in its list of offsets: the first bit of the buffer in its allocation, and the statement in whose
//! body the allocation stands ([`statement`]). Both must be as planned.
//!
//! Types of `memplan_tensor`: a `Function` is a loop program, `BufId` one of its buffers. A
//! `Decision` has the `Layout` that was chosen: allocations, and the allocation and first bit of
//! each buffer. An allocation is put at the head of the body it is *attached* to (that of a
//! statement, or the top of the function), or *stays* where one of its buffers was allocated.
//! `places()` finds where a text has the buffers of a function. `finding::JUDGE` are the two
//! checks, packing and dataflow, which the rewrite asks about each layout that it considers.
//!
//! The *original* is TVM's pass of this name. In the mode `compat` its decisions are repeated, and
//! a function is refused where such a decision cannot be shown to be right. The other mode,
//! `Sound`, makes decisions that are right.

use std::borrow::Cow;

use memplan_core::{Bytes, Id, PassOptions, Placement, ReadError, SpaceId, SpecError, utf8};
use memplan_planner::find;
use memplan_program::{Program, SiteId};
use memplan_tensor::flatten_buffers;
use memplan_tensor::ir::{BufId, Function, Memory};
use memplan_tensor::lower::{Conflict, meaning, sites};
use memplan_tensor::pass::memory_limit;
use memplan_tensor::places::{self, places};
use memplan_tensor::rewrite::{self, Apart, Decision, Defect, Layout, MemoryLimit, Mode, RewriteError, RewriteOptions};
use memplan_tensor::script::Script;
use memplan_verify::dataflow::SitePlan;
use smallvec::smallvec;

use super::{Claim, Found, FrontEnd, NamesOfMemories, Output, Places};
use crate::driver::{Failure, How, Solver, Unsound};
use crate::finding::{self, Finding};
use crate::source::Source;

/// The front end of the pass.
#[derive(Clone, Debug, Default)]
pub struct StorageRewrite {
    /// Its options.
    pub options: RewriteOptions,
}

/// A script as it was read, with what later stages need of its functions.
pub struct ScriptText {
    /// The text that was read.
    text: String,
    /// The script, which can be printed again.
    script: Script,
    /// Its functions, in the order of the script.
    functions: Vec<LoopFunction>,
}

/// A function of a script, and what is needed to find its buffers again.
struct LoopFunction {
    /// The function, flattened if the options ask for that.
    function: Function,
    /// The buffer of each allocation site.
    buffers: Vec<BufId>,
    /// Where each buffer is in the function as it was read; `None` for a buffer that is not used or not allocated here.
    unmoved: places::Places,
}

/// A function that is laid out: the decision, and the program and plan that the dataflow check looks at.
pub struct LaidFunction {
    /// Where its buffers go.
    decision: Decision,
    /// What the function computes.
    program: Program,
    /// Where the program's sites go, as decided.
    plan: SitePlan,
    /// What the new text must say.
    placements: Vec<Option<Placement>>,
}

impl ScriptText {
    /// Reads a script; `flatten` makes buffers with several dimensions flat first. (The
    /// original only handles flat ones, so the mode `compat` refuses others.)
    pub(super) fn read(text: &str, flatten: bool) -> Result<ScriptText, Failure> {
        // The error about the text, at a place in it.
        let malformed = |span, message: String| ReadError::new("tvmscript::malformed", text, span, message);
        let script = Script::read(text).map_err(|error| malformed(error.span(), error.to_string()))?;
        let read = |function: &Function| {
            let function = if flatten { flatten_buffers(function) } else { function.clone() };
            let sites = sites(&function).map_err(|error| malformed(Default::default(), error.to_string()))?;
            // The lowering lists the site of each buffer; here the buffer of each site is needed, in the order of
            // sites.
            let mut buffers: Vec<(SiteId, BufId)> =
                sites.iter_enumerated().filter_map(|(buffer, site)| Some(((*site)?, buffer))).collect();
            buffers.sort_unstable();
            // A function compared with itself: where every buffer is before anything moves.
            let unmoved = places(&function, &function).map_err(|error| malformed(error.span, error.message))?;
            Ok(LoopFunction { buffers: buffers.into_iter().map(|(_, buffer)| buffer).collect(), unmoved, function })
        };
        let functions = script.functions().iter().map(read).collect::<Result<_, ReadError>>()?;
        Ok(ScriptText { text: text.to_owned(), script, functions })
    }

    /// Lays out the functions one by one. What must stay apart (`Solver::apart`) is asked for by
    /// the number of the function, since each function is a program of the claim. A strategy of
    /// ours is no decision of the original, which is what `compat` asks for, so the two exclude
    /// each other.
    pub(super) fn lay_out(&self, options: &RewriteOptions, solver: &Solver) -> Result<Vec<LaidFunction>, Failure> {
        if options.strategy.is_some() && options.mode == Mode::Compat {
            return Err(Failure::Form("`compat` and `plan` exclude each other".to_owned()));
        }
        let functions = self.functions.iter().enumerate();
        functions.map(|(index, function)| function.lay_out(&self.text, options, solver.apart(index))).collect()
    }

    /// Each function keeps its meaning, and its buffers are where they were planned.
    pub(super) fn claim<'a>(&self, laid: &'a [LaidFunction]) -> Claim<'a> {
        Claim {
            programs: laid.iter().map(|laid| (Cow::Borrowed(&laid.program), (&laid.plan).into())).collect(),
            placements: laid.iter().map(|laid| Cow::Borrowed(laid.placements.as_slice())).collect(),
            ..Claim::default()
        }
    }

    /// The script with every function rewritten.
    pub(super) fn emit(&self, laid: &[LaidFunction]) -> Output {
        let mut script = self.script.clone();
        for ((function, old), laid) in script.functions_mut().iter_mut().zip(&self.functions).zip(laid) {
            *function = rewrite::apply(old.function.clone(), &laid.decision.layout);
        }
        Output::of_text(script.print())
    }

    /// Where the buffers are in the text that was written, one list for each function. The text is
    /// read again, so that a mistake of the writer is found.
    pub(super) fn places(&self, output: &Output) -> Result<Places, Failure> {
        let text = output.text();
        let script = Script::read(text)
            .map_err(|error| ReadError::new("output::unreadable", text, error.span(), error.to_string()))?;
        if script.functions().len() != self.functions.len() {
            let message = "the new text has another number of functions";
            return Err(ReadError::new("output::difference", text, Default::default(), message).into());
        }
        let mut names = NamesOfMemories::default();
        let mut lists = Vec::new();
        for (old, new) in self.functions.iter().zip(script.functions()) {
            lists.push(old.places_in(new, &self.text, &mut names)?);
        }
        Ok(Places { lists })
    }
}

/// The statement in whose body a memory is allocated, as a number; 0 for the top of the function.
fn statement(inside: Option<rewrite::StmtId>) -> u64 {
    inside.map_or(0, |stmt| stmt.index() as u64 + 1)
}

impl LoopFunction {
    /// Where a new text of this function has each buffer, in the two numbers that the module documentation explains.
    /// `old_text` is the script as it was read, to which an error points.
    fn places_in(
        &self,
        new: &Function,
        old_text: &str,
        names: &mut NamesOfMemories,
    ) -> Result<Vec<Option<Found>>, ReadError> {
        let places = places(&self.function, new)
            .map_err(|error| ReadError::new("output::difference", old_text, error.span, error.message))?;
        let mut found = |found: places::Found| Found {
            memory: names.of_number(found.allocation.index()),
            offsets: smallvec![found.bit_offset, statement(found.inside)],
            ..Found::default()
        };
        Ok(places.iter().map(|place| place.map(&mut found)).collect())
    }

    /// Decides where the buffers of one function go, and makes the program and the plan that the
    /// dataflow check gets. `text` is the whole script, for the place of an error. Buffers whose
    /// sites are in `apart` must not share.
    fn lay_out(
        &self,
        text: &str,
        options: &RewriteOptions,
        apart: &memplan_program::Apart,
    ) -> Result<LaidFunction, Failure> {
        let failed = |error: RewriteError| failure(text, &error);
        let collected = rewrite::collect(&self.function);
        let decision = rewrite::decide(&collected, options, &self.apart(apart), finding::JUDGE).map_err(failed)?;
        if options.mode == Mode::Compat {
            // In this mode the layout is the original's. If the check rejects it, the function is
            // refused, since another layout would no longer be the original's. The driver would
            // take the rejection for a mistake of ours, so the check is made here already. Each
            // conflict is a read that would find what another buffer wrote.
            let conflicts = rewrite::check(&self.function, &decision.layout, finding::JUDGE).map_err(failed)?;
            if let Some(conflict) = conflicts.first() {
                return Err(failed(self.not_proved(conflict)));
            }
        }
        let (program, plan) = meaning(&self.function, &decision.layout)
            .map_err(|error| failed(RewriteError::Unsound { message: error.to_string() }))?;
        let placements = self.placements(&decision.layout);
        Ok(LaidFunction { decision, program, plan, placements })
    }

    /// The refusal for a decision of the original that cannot be shown to be right. It names the second buffer of the
    /// first pair in conflict.
    fn not_proved(&self, conflict: &Conflict) -> RewriteError {
        let name = |&(_, buffer): &(BufId, BufId)| self.function.buffers[buffer].name.clone();
        let buffer = conflict.pairs.first().map_or_else(String::new, name);
        RewriteError::Refused { defect: Defect::InPlaceOverwrite, buffer, span: conflict.span }
    }

    /// What must stay apart, as pairs of buffers instead of sites, which is what the rewrite takes.
    /// It knows no buffers that share with nobody, so such a buffer is paired with every other
    /// buffer that is allocated here. (Parameters and views, whose memory is not their own, are not
    /// moved.)
    fn apart(&self, apart: &memplan_program::Apart) -> Apart {
        let buffer = |site: SiteId| self.buffers.get(site.index()).copied();
        let mut pairs = Apart::default();
        pairs.extend(apart.pairs().filter_map(|(one, other)| Some((buffer(one)?, buffer(other)?))));
        for alone in apart.alone().filter_map(buffer) {
            let own = |&other: &BufId| other != alone && self.function.buffers[other].memory == Memory::Own;
            pairs.extend(self.buffers.iter().copied().filter(own).map(|other| (alone, other)));
        }
        pairs
    }

    /// Where the new text must have each buffer that is used: the bit, and the statement in whose
    /// body its memory is allocated. An allocation that `stays` remains in the body where the
    /// buffer's own allocation was. `None` for a buffer that is not used, or that the layout does
    /// not place.
    fn placements(&self, layout: &Layout) -> Vec<Option<Placement>> {
        let placement = |(buffer, unmoved): (BufId, &Option<places::Found>)| {
            let unmoved = (*unmoved)?;
            let place = layout.places[buffer]?;
            let allocation = &layout.allocations[place.allocation];
            let inside = if allocation.stays { unmoved.inside } else { allocation.attach };
            let space = SpaceId::from_index(place.allocation.index());
            let offsets = smallvec![Bytes(place.bit_offset), Bytes(statement(inside))];
            Some(Placement { offsets, ..Placement::at(space, Bytes::ZERO) })
        };
        self.unmoved.iter_enumerated().map(placement).collect()
    }
}

impl FrontEnd for StorageRewrite {
    type Input = ScriptText;
    type Laid = Vec<LaidFunction>;

    fn name(&self) -> &str {
        "storage-rewrite"
    }

    fn read(&self, source: &Source) -> Result<ScriptText, Failure> {
        ScriptText::read(utf8(&source.bytes)?, self.options.flatten)
    }

    fn lay_out(&self, input: &ScriptText, solver: &mut Solver) -> Result<Vec<LaidFunction>, Failure> {
        input.lay_out(&planned_by(&self.options, solver.how()), solver)
    }

    fn claim<'a>(&self, input: &'a ScriptText, laid: &'a Vec<LaidFunction>) -> Claim<'a> {
        input.claim(laid)
    }

    fn emit(&self, input: &ScriptText, laid: &Vec<LaidFunction>) -> Result<Output, Failure> {
        Ok(input.emit(laid))
    }

    fn places(&self, input: &ScriptText, output: &Output) -> Result<Places, Failure> {
        input.places(output)
    }
}

/// The options of the pass with the strategy, the time limit and the seed that the caller asks for. A strategy that the
/// pass's own options name comes first.
pub(super) fn planned_by(options: &RewriteOptions, how: &How) -> RewriteOptions {
    let asked = how.strategy.map(|strategy| strategy.name().to_owned());
    RewriteOptions {
        strategy: options.strategy.clone().or(asked),
        time_limit: how.request.time_limit,
        seed: how.request.seed,
        ..options.clone()
    }
}

/// Why there is no rewritten text. A refusal is an answer ([`Failure::No`]), a rewritten text that a check rejects is a
/// bug of ours, and anything else is wrong with the input.
pub(super) fn failure(text: &str, error: &RewriteError) -> Failure {
    let at_its_place = |code| ReadError::new(code, text, error.span(), error.to_string());
    match error {
        RewriteError::Refused { .. } | RewriteError::ExceedsMemory { .. } => {
            Failure::No(at_its_place("storage-rewrite::refused"))
        }
        RewriteError::Unsound { message } => Failure::Unsound(Unsound {
            maker: "storage-rewrite".to_owned(),
            what: "plan",
            findings: vec![Finding::of_whole("dataflow::rewritten", message.clone())],
        }),
        _ => Failure::Input(at_its_place("storage-rewrite::impossible")),
    }
}

/// Reads the options that a user gave to a pass that ends in the storage rewrite: `storage-rewrite`
/// itself or `lower`. `pass` is its name, for messages, and `known` are the options that it takes.
pub(crate) fn storage_options(
    pass: &'static str,
    known: &'static [&'static str],
    options: &PassOptions,
) -> Result<RewriteOptions, SpecError> {
    let mut parsed = RewriteOptions::default();
    for (key, value) in options.iter() {
        match key {
            // A pass may take only some of the options below.
            _ if !known.contains(&key) => return Err(PassOptions::unknown(pass, key, known)),
            // `compat` or `compat=true`; `compat=false` asks for the mode that is the default.
            "compat" if PassOptions::flag("compat", value)? => parsed.mode = Mode::Compat,
            "compat" => parsed.mode = Mode::Sound,
            "flatten" => parsed.flatten = PassOptions::flag("flatten", value)?,
            // An option without a value is read as the empty text, which is no strategy and no
            // limit: an error.
            "plan" => parsed.strategy = Some(strategy_named(value.unwrap_or_default())?),
            "limit" => parsed.limits.push(limit(value.unwrap_or_default())?),
            _ => return Err(PassOptions::unknown(pass, key, known)),
        }
    }
    Ok(parsed)
}

/// The proper name of the strategy that a user calls `name`; an error if there is none.
fn strategy_named(name: &str) -> Result<String, SpecError> {
    match find(name) {
        Some(strategy) => Ok(strategy.name().to_owned()),
        None => Err(SpecError::Value {
            option: "plan",
            expected: "the name of a strategy (`memplan strategies` lists them)",
            found: name.to_owned(),
        }),
    }
}

/// The largest size of a memory, given by its storage scope (TVM's name of a memory):
/// `local.L0A:64KiB`.
fn limit(text: &str) -> Result<MemoryLimit, SpecError> {
    memory_limit(text).map_err(|_| SpecError::Value {
        option: "limit",
        expected: "a scope and a size, such as local.L0A:64KiB",
        found: text.to_owned(),
    })
}
