//! The *home* of a buffer: where the merged allocation of the buffer goes, and what lies in between. (It is not the
//! home of the glossary, which is a space that a piece may live in.)
//!
//! The *scope* of a buffer is the nearest op around it whose instances own
//! what they allocate (a function, a parallel loop). `scf.for` does not count as a scope,
//! since its iterations run one after the other. A buffer of a parallel loop that is handed
//! to another parallel loop inside must not come from memory that belongs to the outer
//! loop's thread alone, so it is *hoisted*: the walk outwards also passes every `scf.forall`
//! with constant bounds. The loops that it passes are *crossed*: the buffer needs a copy for
//! each of their iterations. One walk gives the scope and the crossed loops, from which the
//! number of copies and the index of a copy follow, so the three cannot disagree.
//!
//! ```text
//!   func.func @f() {
//!     "my.later"() ({                  nobody knows how many of these run at once
//!       scf.forall (%i) in (2) {
//!         %a = memref.alloc() …        used in the inner loop: to be hoisted, two copies
//!         scf.forall (%j) in (8) { … }
//!       }
//!     }) : () -> ()                    the function cannot hold %a: two copies are too few
//!   }
//! ```
//!
//! The copies are counted by the parallel loops alone. So a hoisted buffer is left where it is if the walk comes to
//! another op that may run its regions several times at once.

use memplan_core::{Id, IndexVec};
use memplan_program::{Control, SiteId};

use super::BufferizedView;
use super::candidates::Candidates;
use crate::dialect::Traits;
use crate::hash::HashSet;
use crate::{BlockId, OpId};

/// The way from an allocation to its scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Home {
    /// The op whose first block gets the merged allocation.
    pub(super) scope: OpId,
    /// The parallel loops passed by, innermost first.
    pub(super) crossed: Box<[OpId]>,
}

/// The home of each site that is a candidate and has one.
pub(super) type Homes = IndexVec<SiteId, Option<Home>>;

/// The homes of all candidates. Those that have none are left alone, together with their deallocations.
pub(super) fn find(view: &BufferizedView, candidates: &mut Candidates) -> Homes {
    let handed_on = handed_to_inner_loops(view);
    let mut homes = Homes::filled(None, view.lowered.program.sites().len());
    // The block of the candidate before, whether that was hoisted, and its home. Candidates of one block mostly follow
    // each other and have the same home.
    let mut last: Option<(BlockId, bool, Option<Home>)> = None;
    for candidate in &candidates.list {
        let hoist = handed_on.contains(&candidate.site);
        let block = view.document.op(candidate.op).parent;
        let home = match &last {
            Some((last_block, last_hoist, home)) if (*last_block, *last_hoist) == (block, hoist) => home.clone(),
            _ => walk(view, candidate.op, hoist).filter(|home| view.first_op(home.scope).is_some()),
        };
        homes[candidate.site].clone_from(&home);
        last = Some((block, hoist, home));
    }
    candidates.leave_alone(view, |site| homes[site].is_none(), "nothing around it can hold the merged memory");
    homes
}

/// The scope of an allocation if it is not hoisted; `None` if there is none around it.
pub(super) fn scope_of(view: &BufferizedView, alloc: OpId) -> Option<OpId> {
    walk(view, alloc, false).map(|home| home.scope)
}

/// Goes outwards from an allocation to the scope that it will live in. With `hoist`, parallel loops with a known number
/// of iterations are crossed. `None` if no scope can hold a copy for every instance that may exist at once.
fn walk(view: &BufferizedView, alloc: OpId, hoist: bool) -> Option<Home> {
    let mut crossed = Vec::new();
    let mut around = view.document.parent_op(alloc);
    while let Some(op) = around {
        let is_scope = view.document.info(op).traits.has(Traits::ALLOCATION_SCOPE);
        if is_scope && view.document.name(op) != "scf.for" {
            // The first scope ends the walk, or, with `hoist`, the first one that is no parallel loop of known length.
            if !(hoist && copies(view, op).is_some()) {
                return Some(Home { scope: op, crossed: crossed.into() });
            }
            crossed.push(op);
        } else if !crossed.is_empty() && may_run_beside_itself(view, op) {
            // Several instances of this op may run at once, and it is not known how many copies they would need.
            return None;
        }
        around = view.document.parent_op(op);
    }
    None
}

/// Whether two instances of an op's regions may run at the same time.
fn may_run_beside_itself(view: &BufferizedView, op: OpId) -> bool {
    // Modules and functions are no ops of the program. No two instances of their regions run at the same time.
    let Ok(index) = view.lowered.ops.as_slice().binary_search(&op) else { return false };
    let control = view.lowered.program.op(memplan_program::OpId::from_index(index)).control();
    matches!(control, Control::Parallel { .. } | Control::Async { .. } | Control::Unknown | Control::Dag { .. })
}

/// The number of iterations of a `scf.forall` with constant bounds; `None` for any other op, for a loop without
/// iterations, and for one of more than 2^40, for whose copies no memory would be large enough.
pub(super) fn copies(view: &BufferizedView, op: OpId) -> Option<u64> {
    if view.document.name(op) != "scf.forall" {
        return None;
    }
    let trips = view.document.trip_counts(op)?;
    let product = trips.into_iter().try_fold(1u64, |product, trip| product.checked_mul(trip?))?;
    (product > 0 && product <= 1 << 40).then_some(product)
}

/// The buffers that are to be hoisted. Such a buffer is allocated in an `scf.forall` (its scope), and an op inside of
/// another `scf.forall` uses the buffer, directly or through an alias. That inner `scf.forall` must stand in the block
/// in which the buffer is allocated:
///
/// ```text
///   scf.forall (%i) {
///     %a = memref.alloc()
///     scf.forall (%j) { use %a }                 counts: `user` is this scf.forall
///     scf.for %k { scf.forall (%j) { use %a } }  does not count: `user` is the scf.for
///   }
/// ```
///
/// A use in the second form alone does not hoist the buffer. The merged allocation that holds `%a` then goes to the
/// body of the outer `scf.forall`, where the text allocates `%a` already. So the inner loop is handed the same kind of
/// memory as before the pass.
fn handed_to_inner_loops(view: &BufferizedView) -> HashSet<SiteId> {
    let program = &view.lowered.program;
    let mut handed_on = HashSet::default();
    for (op, info) in program.ops().iter_enumerated() {
        for access in &info.accesses {
            for &site in view.aliases.sites(access.value) {
                // A site of a text is always the result of an op, so none is left out here.
                let Some(alloc) = program.alloc_op(site) else { continue };
                // Most uses stand in the block of the allocation, and then `user` below is the using op itself.
                if program.op(alloc).block == info.block {
                    continue;
                }
                // `around_both` is the innermost op whose regions contain both the allocation and the use. `user` is
                // the op directly in these regions that is the using op or contains it.
                let user = view.tree.child_towards(view.tree.around_both(alloc, op), op);
                // False if the allocation lies deeper than `user`: an alias of the buffer is used outside of the op
                // that contains the allocation. Also false if the two are in different blocks or regions of
                // `around_both`.
                let same_block = program.op(user).block == program.op(alloc).block;
                // If `user` is `op` itself, the use stands directly in the block and not inside of a loop.
                let inner_loop = user != op && view.document.name(view.lowered.ops[user]) == "scf.forall";
                if same_block && inner_loop && in_forall(view, view.lowered.ops[alloc]) {
                    handed_on.insert(site);
                }
            }
        }
    }
    handed_on
}

/// Whether the scope of an allocation is an `scf.forall`.
fn in_forall(view: &BufferizedView, alloc: OpId) -> bool {
    scope_of(view, alloc).is_some_and(|scope| view.document.name(scope) == "scf.forall")
}
