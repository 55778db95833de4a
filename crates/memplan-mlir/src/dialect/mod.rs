//! What is known about ops: how their custom form reads, what they do to
//! memory, how control moves through their regions.
//!
//! Each dialect has a table in a file of its own, with a row for each op ([`OpInfo`]). Rows are made by short
//! constructors for the usual cases (an op that only computes, a cast, a terminator) and changed by methods such as
//! `with_effects`. Of an op without a row everything is assumed that it could do: it updates every memref it is given,
//! a memref it returns may be any of those, and its regions may run any number of times, on any thread, at any time
//! from the op on, or not at all.
//!
//! ```
//! use memplan_mlir::{Dialects, dialect::{Access, Selector}};
//! let load = Dialects::builtin().get("memref.load");
//! assert!(load.known);
//! assert_eq!(load.effects[0], (Selector::Operand(0), Access::Read));
//! let mystery = Dialects::builtin().get("acme.mystery");
//! assert_eq!(mystery.effects[0], (Selector::All, Access::Update));
//! ```
//!
//! Users add rows for their own dialects in TOML, see [`Dialects::with_toml`].

mod acc;
mod affine;
mod arith;
mod r#async;
mod bufferization;
mod builtin;
mod cf;
mod complex;
mod func;
mod gpu;
mod hivm;
mod index;
mod linalg;
mod math;
mod memref;
mod nvgpu;
mod omp;
mod scf;
mod tensor;
mod user;
mod vector;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;

pub(crate) use linalg::named_linalg_body;
pub use user::DialectFileError;

/// How an op touches the memory behind an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Reads, changes nothing.
    Read,
    /// Overwrites every byte, reads nothing.
    Write,
    /// May read, may overwrite a part.
    Update,
    /// Gives the memory back.
    Free,
    /// Hands the memory to code that may use it at any later time.
    Escape,
}

/// Which operands a row speaks of. Only those that are memory count.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Selector {
    /// All of them.
    All,
    /// The one at this position.
    Operand(u32),
    /// The one at this position and all operands after it.
    From(u32),
    /// Those of a named group: `outs(…)` in the custom form, or the segment of
    /// that name (see [`OpInfo::segments`]) in the generic form.
    Group(Cow<'static, str>),
}

/// How a result is related to an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// The same bytes as the operand: a cast.
    Same,
    /// Bytes somewhere inside the operand: a view.
    View,
    /// Bytes somewhere inside the allocation that the operand is a view of.
    Base,
    /// One of several operands, decided at run time: a select.
    Either,
}

/// A result that is, or may be, the memory of an operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AliasRule {
    /// The operands it comes from.
    pub from: Selector,
    /// The position of the result; `None` if the rule holds for every result of the op.
    pub result: Option<u32>,
    /// How the result and the operands are related.
    pub relation: Relation,
}

/// How control moves through an op's regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Control {
    /// Every region once, in order.
    Once,
    /// The body any number of times, one iteration after the other.
    Loop,
    /// One of the regions, or none.
    Alternatives,
    /// The body for every iteration, in any interleaving.
    Parallel,
    /// At any time until it is awaited.
    Async,
    /// Not known: the regions may run any number of times, on any thread, at any time from the op
    /// to the end of the function.
    Unknown,
}

/// Which tasks ([`Traits::TASK`]) have certainly ended when control has come past an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Gathers {
    /// None that we know of.
    Nothing,
    /// Those that the task around the op has started: `omp.taskwait`.
    Children,
    /// Those of the team of threads around the op: `omp.barrier`.
    Team,
    /// Those that were started in the op's region, at the end of it: `omp.taskgroup`.
    Inside,
}

/// How values pass into an op's regions, between them, and out as results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flow {
    /// Not known: any memref operand may be any memref argument, any memref
    /// that a terminator takes may be any argument or result.
    Unknown,
    /// No region takes or gives memory.
    None,
    /// Initial values are the last operands, as many as there are results; the
    /// body's last arguments carry them, its terminator gives the next ones.
    Carried,
    /// Two regions: the first decides and passes values on, the second gives the next ones (`scf.while`).
    While,
    /// What a region's terminator takes is a result.
    Yields,
    /// As [`Flow::Yields`]; operands of the group `operands` enter as arguments, and results follow a token.
    Execute,
    /// Results are the operands of the group `shared_outs`, updated in place.
    SharedOuts,
    /// The body's arguments are elements of the operands, not the operands.
    Elements,
    /// A function body: its arguments come from its callers.
    Function,
}

/// A set of yes-or-no facts about an op.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits(u32);

impl Traits {
    /// No memory is read, written, freed or let go.
    pub const EFFECT_FREE: Traits = Traits(1);
    /// Its effects are those of the ops in its regions.
    pub const RECURSIVE_EFFECTS: Traits = Traits(1 << 1);
    /// The first result is a view of the first operand.
    pub const VIEW_LIKE: Traits = Traits(1 << 2);
    /// A terminator that gives values back to the op around it.
    pub const RETURN_LIKE: Traits = Traits(1 << 3);
    /// Stack allocations inside it belong to an instance of it.
    pub const ALLOCATION_SCOPE: Traits = Traits(1 << 4);
    /// A loop of any kind.
    pub const LOOP_LIKE: Traits = Traits(1 << 5);
    /// Says which region runs when and which values pass.
    pub const REGION_BRANCH: Traits = Traits(1 << 6);
    /// Nothing outside is visible inside.
    pub const ISOLATED: Traits = Traits(1 << 7);
    /// The result is new memory.
    pub const ALLOCATES: Traits = Traits(1 << 8);
    /// Calls the function its symbol names.
    pub const CALL: Traits = Traits(1 << 9);
    /// A function.
    pub const FUNCTION: Traits = Traits(1 << 10);
    /// Branches to another block of its region.
    pub const BRANCH: Traits = Traits(1 << 11);
    /// Waits for what its operand stands for.
    pub const AWAITS: Traits = Traits(1 << 12);
    /// The result is memory that lives elsewhere: a global, a constant.
    pub const EXTERNAL: Traits = Traits(1 << 13);

    /// The new memory may be placed by a plan.
    pub const PLACED: Traits = Traits(1 << 14);
    /// Its region is a task, which [`Gathers`] speaks of.
    pub const TASK: Traits = Traits(1 << 15);
    /// Its region is run by a team of threads.
    pub const TEAM: Traits = Traits(1 << 16);
    /// Adds the work that its first operand stands for to the group that its second one is.
    pub const JOINS_GROUP: Traits = Traits(1 << 17);
    /// May end a construct around it, or around a call of its function, before the last op in there has run. So
    /// nothing is known about how the regions of ops of its dialect run, anywhere in the text.
    pub const CANCELS: Traits = Traits(1 << 18);

    /// Whether every fact of `other` holds.
    pub const fn has(self, other: Traits) -> bool {
        self.0 & other.0 == other.0
    }

    /// The facts of both.
    pub const fn and(self, other: Traits) -> Traits {
        Traits(self.0 | other.0)
    }
}

/// How a custom form tells the types of its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultTypes {
    /// The types behind `->` if there are any, else the last ones listed.
    Listed,
    /// The first type listed.
    First,
    /// Every result has the last type listed.
    Repeated,
    /// The element type of the last type listed.
    Element,
    /// `index`, not written.
    Index,
    /// `i1` or a shaped type of it, not written.
    Bool,
    /// The types of the operands in `outs(…)`.
    Outs,
    /// The last type listed, then `i1`.
    ValueAndBool,
    /// A token if the form says `async`, behind the types listed.
    AsyncToken,
    /// A token, then the types behind `->`.
    TokenFirst,
    /// What the `!async.value` listed holds.
    Awaited,
    /// The whole function type.
    Function,
    /// As [`ResultTypes::Listed`]; `i1` if no type is written (`arith.constant true`).
    ListedOrBool,
    /// Handles whose types are not written, then a token if the form says `async`.
    Handles,
    /// A number: its type is not written in the form, and it is certainly not memory.
    Number,
}

/// Where a custom form defines the arguments of its region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// Nowhere, or in the region's first label.
    Plain,
    /// `%i = %lower to %upper`, `iter_args(%a = %init)`.
    Assigned,
    /// The first parentheses, then `shared_outs(%a = %init)`.
    Indices,
    /// `blocks(…) in (%x = …) threads(…) in (…)`.
    Launch,
    /// `(%value as %argument: type)`.
    Renamed,
    /// Parentheses without a keyword in front: `(%in: f32, %out: f32) {`.
    Typed,
    /// A function signature.
    Function,
    /// Any name that is not defined elsewhere.
    Unknown,
}

/// What is known about an op.
#[derive(Clone, Debug, PartialEq)]
pub struct OpInfo {
    /// Whether a table has a row for it.
    pub known: bool,
    /// Types of results in the custom form.
    pub result_types: ResultTypes,
    /// Region arguments in the custom form.
    pub header: Header,
    /// Number of regions its custom form writes in braces; none if unknown.
    pub regions: Option<u32>,
    /// The op that ends a region whose custom form leaves it out.
    pub terminator: Option<Cow<'static, str>>,
    /// Names of the operand segments of the generic form.
    pub segments: Vec<Cow<'static, str>>,
    /// What it does to its operands' memory.
    pub effects: Cow<'static, [(Selector, Access)]>,
    /// Results that are the memory of operands.
    pub aliases: Cow<'static, [AliasRule]>,
    /// How its regions run.
    pub control: Control,
    /// How values pass through its regions.
    pub flow: Flow,
    /// A word of its form, such as `nowait`. With this word the op goes on after control has come past it, and its
    /// regions run as with [`Control::Unknown`].
    pub detached_by: Option<Cow<'static, str>>,
    /// Which tasks have certainly ended when control has come past the op.
    pub gathers: Gathers,
    /// Yes-or-no facts.
    pub traits: Traits,
}

/// What an unknown op does: it may read and change all its operands.
const UNKNOWN_EFFECTS: &[(Selector, Access)] = &[(Selector::All, Access::Update)];
/// What the results of an unknown op may be: any of its operands, or other memory.
const UNKNOWN_ALIASES: &[AliasRule] = &[AliasRule { from: Selector::All, result: None, relation: Relation::Either }];
/// The op reads all its operands.
const READS: &[(Selector, Access)] = &[(Selector::All, Access::Read)];
/// The first result is the same memory as the first operand.
const CAST: &[AliasRule] = &[AliasRule { from: Selector::Operand(0), result: Some(0), relation: Relation::Same }];
/// The first result is a part of the first operand's memory.
const VIEW: &[AliasRule] = &[AliasRule { from: Selector::Operand(0), result: Some(0), relation: Relation::View }];

/// A row: an op's name and what is known about it.
type Row = (&'static str, OpInfo);

impl OpInfo {
    /// What is assumed about an op without a row: it may do anything to the memory it is given.
    pub fn unknown() -> OpInfo {
        OpInfo {
            known: false,
            result_types: ResultTypes::Listed,
            header: Header::Unknown,
            regions: None,
            terminator: None,
            segments: Vec::new(),
            effects: Cow::Borrowed(UNKNOWN_EFFECTS),
            aliases: Cow::Borrowed(UNKNOWN_ALIASES),
            control: Control::Unknown,
            flow: Flow::Unknown,
            detached_by: None,
            gathers: Gathers::Nothing,
            traits: Traits(0),
        }
    }

    /// A known op that does nothing to memory and has no regions.
    fn pure() -> OpInfo {
        OpInfo {
            known: true,
            header: Header::Plain,
            regions: Some(0),
            effects: Cow::Borrowed(&[]),
            aliases: Cow::Borrowed(&[]),
            control: Control::Once,
            flow: Flow::None,
            traits: Traits::EFFECT_FREE,
            ..OpInfo::unknown()
        }
    }

    /// A known op that does nothing to memory, with results of these types.
    fn gives(result_types: ResultTypes) -> OpInfo {
        OpInfo::pure().with_results(result_types)
    }

    /// A known op that does this to its operands and gives no memory back.
    fn effects(effects: &'static [(Selector, Access)]) -> OpInfo {
        OpInfo { effects: Cow::Borrowed(effects), traits: Traits(0), ..OpInfo::pure() }
    }

    /// A known op whose result is the memory of its first operand.
    fn cast() -> OpInfo {
        OpInfo { aliases: Cow::Borrowed(CAST), traits: Traits::EFFECT_FREE.and(Traits::VIEW_LIKE), ..OpInfo::pure() }
    }

    /// A known op whose result is a part of its first operand.
    fn view() -> OpInfo {
        OpInfo { aliases: Cow::Borrowed(VIEW), traits: Traits::EFFECT_FREE.and(Traits::VIEW_LIKE), ..OpInfo::pure() }
    }

    /// An op of a dialect with a table, without a row of its own: nothing is known about what it does, but unlike
    /// that of an unknown op, its form defines no region arguments.
    fn unlisted() -> OpInfo {
        OpInfo { known: true, header: Header::Plain, ..OpInfo::unknown() }
    }

    /// Whether this looks like what [`OpInfo::unlisted`] gives: the op counts as known, but the types of its results,
    /// its aliases and its regions are those of an unknown op. The reader then takes the types of its results for
    /// guesses.
    pub(crate) fn is_unlisted(&self) -> bool {
        self.known
            && self.result_types == ResultTypes::Listed
            && self.aliases == UNKNOWN_ALIASES
            && self.regions.is_none()
    }

    /// An op whose operands escape: what is done with them later is not followed.
    fn escapes() -> OpInfo {
        OpInfo::effects(&[(Selector::All, Access::Escape)])
    }

    /// An op with so many regions that itself touches no memory; `u32::MAX` stands for any number of regions.
    fn regions(count: u32, control: Control, flow: Flow, traits: Traits) -> OpInfo {
        OpInfo { regions: Some(count), control, flow, traits: traits.and(Traits::RECURSIVE_EFFECTS), ..OpInfo::pure() }
    }

    /// A terminator that gives values to the op around it.
    fn terminates() -> OpInfo {
        OpInfo { traits: Traits::EFFECT_FREE.and(Traits::RETURN_LIKE), ..OpInfo::pure() }
    }

    /// How the custom form tells the types of the results.
    fn with_results(mut self, result_types: ResultTypes) -> OpInfo {
        self.result_types = result_types;
        self
    }

    /// Where the custom form names the arguments of its region.
    fn with_header(mut self, header: Header) -> OpInfo {
        self.header = header;
        self
    }

    /// These facts hold, too.
    fn with_traits(mut self, traits: Traits) -> OpInfo {
        self.traits = self.traits.and(traits);
        self
    }

    /// The custom form leaves this terminator out at the end of a region.
    fn ending_in(mut self, terminator: &'static str) -> OpInfo {
        self.terminator = Some(Cow::Borrowed(terminator));
        self
    }

    /// With this word in its form, the op goes on after control has come past it.
    fn detached_by(mut self, word: &'static str) -> OpInfo {
        self.detached_by = Some(Cow::Borrowed(word));
        self
    }

    /// Which tasks have ended behind the op.
    fn gathering(mut self, gathers: Gathers) -> OpInfo {
        self.gathers = gathers;
        self
    }

    /// The groups of operands that the generic form counts in `operandSegmentSizes`, in order.
    fn with_segments(mut self, names: &[&'static str]) -> OpInfo {
        self.segments = names.iter().map(|name| Cow::Borrowed(*name)).collect();
        self
    }

    /// What the op does to which operands, instead of what the row says so far.
    fn with_effects(mut self, effects: &'static [(Selector, Access)]) -> OpInfo {
        self.effects = Cow::Borrowed(effects);
        self
    }

    /// Which results are the memory of which operands.
    fn with_aliases(mut self, aliases: &'static [AliasRule]) -> OpInfo {
        self.aliases = Cow::Borrowed(aliases);
        self
    }
}

/// The tables, ours and the user's.
#[derive(Clone, Debug)]
pub struct Dialects {
    /// Rows by the name of their op.
    rows: HashMap<String, OpInfo>,
    /// Rows for `prefix*`, in the order in which they were added. The last one that fits an op counts, so that a user's
    /// row replaces ours.
    patterns: Vec<(String, OpInfo)>,
}

impl Dialects {
    /// The built-in tables.
    pub fn builtin() -> &'static Dialects {
        static BUILTIN: OnceLock<Dialects> = OnceLock::new();
        BUILTIN.get_or_init(|| {
            let mut dialects = Dialects { rows: HashMap::new(), patterns: Vec::new() };
            for (name, info) in TABLES.iter().flat_map(|table| table()) {
                dialects.insert(name, info);
            }
            dialects
        })
    }

    /// Adds a row, or replaces the one of the same name. A name that ends in `*` stands for all ops that begin so and
    /// have no row of their own.
    fn insert(&mut self, name: &str, info: OpInfo) {
        match name.strip_suffix('*') {
            Some(prefix) => self.patterns.push((prefix.to_owned(), info)),
            None => {
                self.rows.insert(name.to_owned(), info);
            }
        }
    }

    /// What is known about an op: its own row, or the last pattern that fits, or what is assumed about an unknown op.
    pub fn get(&self, name: &str) -> OpInfo {
        if let Some(info) = self.rows.get(name) {
            return info.clone();
        }
        let matches = |(pattern, _): &&(String, OpInfo)| name.starts_with(pattern.as_str());
        let pattern = self.patterns.iter().rev().find(matches);
        pattern.map_or(OpInfo::unknown(), |(_, info)| info.clone())
    }

    /// Whether a table has a row for exactly this op.
    pub fn has(&self, name: &str) -> bool {
        self.rows.contains_key(name)
    }

    /// Whether this is the name of an op of a dialect with a table.
    pub(crate) fn has_dialect(&self, name: &str) -> bool {
        let matches = |(pattern, _): &(String, OpInfo)| name.starts_with(pattern.as_str());
        self.has(name) || self.patterns.iter().any(matches)
    }

    /// Names of all ops with a row, sorted.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.rows.keys().map(String::as_str).collect();
        names.sort_unstable();
        names
    }
}

/// The tables of the dialects, in alphabetical order.
const TABLES: &[fn() -> Vec<Row>] = &[
    acc::rows,
    affine::rows,
    arith::rows,
    r#async::rows,
    bufferization::rows,
    builtin::rows,
    cf::rows,
    complex::rows,
    func::rows,
    gpu::rows,
    hivm::rows,
    index::rows,
    linalg::rows,
    math::rows,
    memref::rows,
    nvgpu::rows,
    omp::rows,
    scf::rows,
    tensor::rows,
    vector::rows,
];

/// The full name of an op that may be written without its dialect: `return` is `func.return`. `None` for all other
/// words.
pub(crate) fn undotted(name: &str) -> Option<&'static str> {
    Some(match name {
        "module" => "builtin.module",
        "unrealized_conversion_cast" => "builtin.unrealized_conversion_cast",
        "func" => "func.func",
        "return" => "func.return",
        "call" => "func.call",
        "call_indirect" => "func.call_indirect",
        "constant" => "func.constant",
        _ => return None,
    })
}
