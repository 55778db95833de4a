//! Does the program still mean the same when its buffers lie where the plan
//! puts them?
//!
//! [`check`] follows the *original* program's reads and writes over memory laid
//! out by the plan, along every path, every alternative, every interleaving,
//! and asks that each read find, in every byte, the content last written to
//! that buffer. It takes no lifetimes and trusts no analysis, so a wrong
//! lifetime or a missed alias shows as a read of another buffer's bytes.
//!
//! # The state
//!
//! At every point of the program the state says, for each value, which
//! allocation sites it may be, each tagged *current* (the latest instance) or
//! *earlier* (any older one), and for each byte of such a buffer one of
//!
//! ```text
//!   unwritten ──write──► written ──somebody else writes these bytes──► lost
//!                           ▲                                           │
//!                           └───────────── written again ───────────────┘
//! ```
//!
//! A violation is a read of a lost byte. Reading an unwritten byte is reading
//! garbage, which is the program's own business.
//!
//! # An example
//!
//! `%x` and `%y` are 8 bytes each, both placed at offset 0:
//!
//! ```text
//!                          %x            %y
//! fill   write %x          written       unwritten
//! loop 0.. {               written       unwritten    (first time round)
//!   use  read %x             fine
//!   fill write %y          lost          written      %y takes %x's bytes
//!   use  read %y             fine
//! }                        at the loop's head the two ways in are joined:
//!                          written + lost = lost, unwritten + written = written;
//!   use  read %x             second time round: violation, `fill %y` overwrote it
//! ```
//!
//! # The steps
//!
//! An op defines its results (an alloc makes the site's older instance
//! *earlier*), then reads, then checks whether an output lies on an input it
//! reads without permission, then writes: a write of known bytes through a value
//! that can only be one current buffer makes them written in every entry that is
//! about this buffer (*strong*); any other write leaves lost bytes lost. Either way every
//! other written content on those bytes becomes lost.
//!
//! Where control hands a value over (block arguments, loop-carried values,
//! results) the receiver takes the source's entries as they are *on that edge*.
//! That is why `r = if c {X} else {Y}` is fine with X and Y on the same bytes:
//! on each edge the yielded one is intact. Joins take unions; loops run to a
//! fixpoint, which ends because flags only grow.
//!
//! Code that runs at the same time (other iterations of a parallel loop,
//! asynchronous regions) is summarised by what it may write, and applied when a
//! stretch begins and after each write within it.
//!
//! # The parts
//!
//! `layout` puts every slot on a line of addresses, `aliases` finds out which
//! values are the same content, `sharing` which buffers need to be followed at
//! all, `names` what the others may be called, `graph` flattens the tree of regions,
//! `concurrent` collects what may be written at the same time, `state` is the persistent
//! map, `transfer` the rules, `solve` the fixpoint, `dag` the rules for
//! unordered graphs.
//!
//! The cost follows the sharing: a buffer whose bytes nobody else uses while it is in use is left out, and a function
//! without buffers to follow is not walked. For the rest it is near linear in ops times contents touched per op:
//! branches share their states, and a write finds the contents on its bytes through the state itself, which is an
//! interval tree.
//!
//! # What it does not do
//!
//! It does not check extents (see [`packing`](crate::packing)), capacities only if
//! told them ([`check_within`]), nor that a plan's sites cover a program. It is
//! as right as the Program is true: an access a front end leaves out is not seen.

mod aliases;
mod concurrent;
mod dag;
mod findings;
mod graph;
mod layout;
mod names;
mod plan;
mod ranges;
mod sharing;
mod solve;
mod state;
mod transfer;
mod violation;

use std::collections::{BTreeMap, HashMap};

use memplan_core::patience::{self, Patience};
use memplan_core::{Bytes, Id, IndexVec, SpaceId};
use memplan_program::{Control, FunctionId, OpId, Program, SiteId, ValueId};
use rayon::iter::{IntoParallelIterator, ParallelIterator};

pub use plan::{SitePlan, SitePlanView};
pub use violation::{Violation, Waypoint};

use aliases::{Resolved, Sources, resolve};
use concurrent::{Concurrency, SubtreeEnds, subtree_ends};
use findings::Findings;
use graph::{Graph, rotated_from_outside, turns};
use layout::Layout;
use names::{Names, single_instances};
use sharing::{Sharing, forward_regions};
use transfer::Machine;

/// Everything in which the plan changes what the program means; empty if nothing does.
///
/// The program must be well formed, see [`Program::check`]. If the current [`patience`] ends on the way, the check
/// stops and its result means nothing; a caller that sets a patience has to ask it afterwards.
pub fn check(program: &Program, plan: &SitePlan) -> Vec<Violation> {
    check_view(program, &plan.into())
}

/// As [`check`], for a plan that may be lent.
pub fn check_view(program: &Program, plan: &SitePlanView<'_>) -> Vec<Violation> {
    check_following(program, plan, Followed::AsNeeded)
}

/// As [`check`], but follows every buffer, whether or not somebody shares its bytes. It is slow; tests compare
/// [`check`] with it, which leaves out what it can.
#[doc(hidden)]
pub fn check_everything(program: &Program, plan: &SitePlan) -> Vec<Violation> {
    check_following(program, &plan.into(), Followed::All)
}

/// The sites whose contents [`check`] follows: what its cost depends on.
#[doc(hidden)]
pub fn followed(program: &Program, plan: &SitePlan) -> Vec<SiteId> {
    let mut layout = Layout::new(program, &plan.into(), &mut Vec::new());
    Prepared::new(program, &layout).leave_out(&mut layout);
    program.sites().ids().filter(|&site| layout.is_placed(site)).collect()
}

/// Whose contents are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Followed {
    All,
    /// Only the contents of those sites that [`sharing`] cannot leave out.
    AsNeeded,
}

/// What is found out about the program before any content is followed.
struct Prepared<'p> {
    program: &'p Program,
    /// The values that each merged value may be.
    sources: Sources,
    /// For each value the allocated or merged value that it is a part of, and which part.
    resolved: IndexVec<ValueId, Resolved>,
    /// Sites that are allocated at most once in a run of their function.
    single: IndexVec<SiteId, bool>,
    /// One past the last op inside each op.
    ends: SubtreeEnds,
    /// The sites each loop rotates although they are allocated outside of it.
    rotated: HashMap<OpId, Vec<SiteId>>,
    /// The ops whose inner ops run in any order that their dependencies allow.
    dags: Vec<OpId>,
}

impl<'p> Prepared<'p> {
    /// Everything about a program and a layout that does not change while the check runs.
    fn new(program: &'p Program, layout: &Layout) -> Prepared<'p> {
        let sources = Sources::new(program);
        let is_dag = |op: &OpId| matches!(program.op(*op).control(), Control::Dag { .. });
        Prepared {
            program,
            resolved: resolve(program, &sources),
            sources,
            single: single_instances(program),
            ends: subtree_ends(program),
            rotated: rotated_from_outside(program, layout),
            dags: program.ops().ids().filter(is_dag).collect(),
        }
    }

    /// Leaves out the sites that need not be followed.
    fn leave_out(&self, layout: &mut Layout) {
        // In a dag also two accesses to one and the same buffer must be ordered, whether or not others share its bytes.
        // So a program with a dag is followed as a whole.
        if self.dags.is_empty() {
            let Prepared { program, sources, resolved, ends, single, rotated, .. } = self;
            let forward = &forward_regions(program);
            let followed = Sharing { program, layout, sources, resolved, ends, single, rotated, forward }.followed();
            layout.follow_only(&followed);
        }
    }
}

/// The whole check: what concerns places alone, then ops whose order is not fixed, then every function by itself.
fn check_following(program: &Program, plan: &SitePlanView<'_>, who: Followed) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut layout = Layout::new(program, plan, &mut violations);
    let prepared = Prepared::new(program, &layout);
    if patience::is_over_now() {
        return violations;
    }
    // Sites that need not be followed count as not placed from here on.
    if who == Followed::AsNeeded {
        prepared.leave_out(&mut layout);
    }
    let functions = functions_to_check(program, &layout);
    if functions.is_empty() && prepared.dags.is_empty() {
        return violations;
    }
    let Prepared { sources, resolved, single, ends, rotated, dags, .. } = prepared;
    // The entries of the state.
    let names = Names::new(program, &layout, &sources, resolved, single);
    // Ops of a dag run in any order that their dependencies allow. The graph below has only one of these orders.
    if !dags.is_empty() {
        let all_writes = dag::writes_per_site(program, &names, 0..program.ops().len());
        for dag in dags {
            dag::check(program, &layout, &names, &ends, dag, &all_writes, &mut violations);
        }
    }
    let preloaded = preloaded(program, &layout);
    let turns = turns(program, &layout);
    let whole = Whole { program, layout: &layout, names: &names, ends, rotated, preloaded, turns };
    // Functions are independent of each other, so threads check them in parallel. What is found is collected in the
    // order of the functions. Each thread enters the caller's patience, which would otherwise hold for one thread only.
    let patience = Patience::current();
    let found: Vec<Vec<Violation>> = functions
        .into_par_iter()
        .map(|function| {
            let _current = patience.as_ref().map(Patience::enter);
            check_function(&whole, function)
        })
        .collect();
    violations.extend(found.into_iter().flatten());
    violations
}

/// The functions in which some buffer is followed, or has a slice for each iteration of a parallel op: slices have to
/// be compared even if the buffer is not followed. All functions, if such a buffer has no op that allocates it.
fn functions_to_check(program: &Program, layout: &Layout) -> Vec<FunctionId> {
    let mut wanted = IndexVec::filled(false, program.functions().len());
    for site in program.sites().ids() {
        // A place has a term for each parallel op whose iterations have their slices of it side by side.
        let has_terms = |place: usize| !layout.places[place].terms.is_empty();
        if layout.is_placed(site) || layout.all_places_of(site).any(has_terms) {
            match program.alloc_op(site) {
                Some(alloc) => wanted[program.function_of(alloc)] = true,
                None => return program.functions().ids().collect(),
            }
        }
    }
    program.functions().ids().filter(|&function| wanted[function]).collect()
}

/// As [`check`], and also reports slots that reach beyond the end of their memory, for the spaces in `capacities`.
pub fn check_within(program: &Program, plan: &SitePlan, capacities: &BTreeMap<SpaceId, Bytes>) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (site, placement) in plan.placements.iter_enumerated() {
        let Some(placement) = placement else { continue };
        let Some(&capacity) = capacities.get(&placement.space) else { continue };
        // A size without an upper bound counts as 0 here: of such a buffer only the start is compared.
        let size = program.site(site).size.upper_bound().unwrap_or_default();
        let ends = placement.offsets.iter().map(|offset| Bytes(offset.0.saturating_add(size.0)));
        let beyond = ends.filter(|&end| end > capacity);
        violations.extend(beyond.map(|end| Violation::OutOfMemory { site, end, capacity }));
    }
    violations.extend(check(program, plan));
    violations
}

/// What is known about the whole program and is needed for each function.
struct Whole<'a> {
    program: &'a Program,
    layout: &'a Layout,
    names: &'a Names<'a>,
    /// One past the last op inside each op.
    ends: SubtreeEnds,
    /// The sites each loop rotates although they are allocated outside of it.
    rotated: HashMap<OpId, Vec<SiteId>>,
    /// The preloaded sites each loop reads at its end.
    preloaded: HashMap<OpId, Vec<SiteId>>,
    /// For each loop that rotates slots: after how many iterations all slots are in use as at the start.
    turns: HashMap<OpId, u64>,
}

/// Checks one function. It lays the function out as a graph, finds out which code runs at the same time, and follows
/// the contents of all buffers along the graph until nothing changes any more.
fn check_function(whole: &Whole<'_>, function: FunctionId) -> Vec<Violation> {
    let Whole { program, layout, names, .. } = *whole;
    let mut violations = Vec::new();
    if patience::is_over() {
        return violations;
    }
    let graph = Graph::new(program, &whole.turns, names, program.functions()[function].body);
    let concurrency = Concurrency::new(whole, &graph, ops_of(program, function), &mut violations);
    // The machine says what each step does to the state, and the solver runs it until nothing changes.
    let mut machine = Machine {
        program,
        layout,
        names,
        graph: &graph,
        concurrency: &concurrency,
        rotated: &whole.rotated,
        preloaded: &whole.preloaded,
        findings: Findings::default(),
    };
    solve::solve(&mut machine);
    violations.extend(machine.findings.finish(&graph));
    violations
}

/// The range of the ops of a function. Ids are in program order and functions stand one after the other, so a binary
/// search finds the first op of this function and the first op after the function.
fn ops_of(program: &Program, function: FunctionId) -> std::ops::Range<usize> {
    let of = |index: usize| program.function_of(OpId::from_index(index));
    let all = program.ops().len();
    let start = partition(all, |index| of(index) < function);
    start..partition(all, |index| of(index) <= function)
}

/// The first index below `length` for which `before` no longer holds, or `length`. `before` must hold up to some index
/// and not from that index on.
fn partition(length: usize, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, length);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

/// The preloaded sites each loop reads at its end.
fn preloaded(program: &Program, layout: &Layout) -> HashMap<OpId, Vec<SiteId>> {
    let mut sites: HashMap<OpId, Vec<SiteId>> = HashMap::new();
    for (site, info) in program.sites().iter_enumerated() {
        if info.preload
            && layout.is_placed(site)
            && let Some(op) = program.rotation(site)
        {
            sites.entry(op).or_default().push(site);
        }
    }
    sites
}
