//! One arena per memory, laid out by any strategy.
//!
//! Without a strategy, buffers share *entries*: memory that is handed as a whole from one buffer to the next
//! ([`Pool`]). Here every memory at every place (the top of the function, or of a loop or launch that needs memory of
//! its own) becomes one arena instead, and each buffer gets an offset in it from a strategy of the planner. A large
//! buffer that dies makes room for several small ones, and several small neighbours for a large one; entries can do
//! neither:
//!
//! ```text
//! A 32, B 32 used, then C 64:    entries 32 + 64 = 96     arena 64: C lies over both
//! ```
//!
//! Lifetimes are positions in the [`Sequence`], the list of the function's statements. A pair of buffers of which one
//! can be computed into the other's memory becomes a permission to overlay. Buffers that are not constant in size, or
//! so small (32 bits) or in a memory so near to the registers that they will become registers, stay with the entries.

// `Events` has the first and the last record of each buffer's life. `InPlace` is a pair of buffers and the statement
// that computes one into the memory of the other. `Judge` holds the checks that the caller wants a result to pass.
use super::events::Events;
use super::hazard;
use super::inplace::{self, Views};
use super::layout::{Allocation, AllocationId, Layout, Place, alignments, lay_out, sliced_roots};
use super::pool::{Attach, Entry, InPlace, Pool, constant_bits};
use super::sequence::{Sequence, StmtId};
use super::{Apart, Judge, MemoryLimit, Mode, RewriteError, RewriteOptions};
use crate::DType;
use crate::ir::{BufId, Expr, StorageScope};
use memplan_core::{
    Buffer, BufferId, Bytes, Lifetime, Overlay, OverlayKind, Problem, ProblemBuilder, Space, storage_bytes,
};
use memplan_planner::Request;
use std::collections::{BTreeMap, HashMap};

/// At most so many pairs per statement are tried as permissions to overlay. A buffer takes the place of one other at
/// most, so more pairs cost time and bring little.
const PAIRS_PER_STATEMENT: usize = 16;

/// Lays out one arena for each place and memory with `strategy`, and the remaining entries of the pool as without
/// arenas. `apart` has the pairs of buffers that must not share memory, because the judge rejected their sharing in an
/// earlier round.
pub(super) fn lay_out_arenas(
    sequence: &Sequence<'_>,
    events: &Events,
    pool: &Pool,
    strategy: &str,
    options: &RewriteOptions,
    apart: &Apart,
    judge: Judge,
) -> Result<Layout, RewriteError> {
    let mut rest = pool.clone();
    // Buffers of entries that are fit for an arena are taken out of the pool, grouped by place and memory. What
    // remains is laid out by entries, as without arenas.
    let mut arenas: BTreeMap<(Attach, StorageScope), Vec<BufId>> = BTreeMap::new();
    // A buffer in an arena has its offset added to all subscripts. That cannot be done with a slice of unknown length
    // (`A[0:n]`), so a buffer that is accessed with one stays with the entries, at the start of its allocation.
    let sliced = sliced_roots(sequence.function);
    for entry in rest.entries.iter_mut().filter(|entry| belongs_in_arena(entry)) {
        if entry.buffers.iter().any(|buffer| sliced.contains(buffer)) {
            continue;
        }
        let moved = std::mem::take(&mut entry.buffers);
        arenas.entry((entry.attach, entry.scope.clone())).or_default().extend(moved);
    }
    // Arenas are refused in compat mode before this function is called, so the mode is always `Sound`.
    let mut layout = lay_out(sequence, &rest, Mode::Sound, &options.limits)?;
    let mut permissions = permissions(sequence, events, &arenas);
    // A pair of `apart` gets no permission to overlay, so that its two buffers cannot lie on each other any more.
    permissions.retain(|step| !apart.contains(step.dst, step.src));
    for ((attach, scope), mut buffers) in arenas {
        buffers.sort_unstable();
        let arena = Arena { sequence, events, buffers: &buffers, permissions: &permissions, apart };
        let problem = arena.problem()?;
        let plan = solve(&problem, strategy, options, judge)?;
        arena.place(&problem, &plan, attach, &scope, &options.limits, &mut layout)?;
    }
    Ok(layout)
}

/// Whether the buffers of an entry get offsets in an arena: their sizes are constant (`bits` is 0 if not), the entry is
/// not fixed to its place (`alone`), and the compiler after us will not turn the buffers into registers (memories near
/// the registers, and entries of at most 32 bits in a memory without tag).
fn belongs_in_arena(entry: &Entry) -> bool {
    let registers = entry.scope.is_register_like() || entry.scope.tag.is_empty() && entry.bits <= 32;
    entry.bits > 0 && !entry.alone && !registers
}

/// All pairs of buffers in one arena of which one is proved to be computable into the other's memory.
fn permissions(
    sequence: &Sequence<'_>,
    events: &Events,
    arenas: &BTreeMap<(Attach, StorageScope), Vec<BufId>>,
) -> Vec<InPlace> {
    // The number of the arena that each buffer is in. Only buffers of one arena can lie on each other.
    let mut arena_of = HashMap::new();
    for (number, buffers) in arenas.values().enumerate() {
        arena_of.extend(buffers.iter().map(|buffer| (*buffer, number)));
    }
    let mut budget = hazard::BUDGET;
    let mut found = Vec::new();
    for stmt in sequence.statements.ids() {
        let pairs = pairs(events, stmt)
            .filter(|(dst, src)| arena_of.contains_key(dst) && arena_of.get(dst) == arena_of.get(src));
        for (dst, src) in pairs.take(PAIRS_PER_STATEMENT) {
            found.extend(may_overlay(sequence, events, stmt, dst, src, &mut budget));
        }
    }
    found
}

/// The pairs (destination, source) of which a statement touches the destination first and the source last.
fn pairs(events: &Events, stmt: StmtId) -> impl Iterator<Item = (BufId, BufId)> + '_ {
    let killed = &events.killed[stmt];
    events.generated[stmt]
        .iter()
        .flat_map(move |dst| killed.iter().map(move |src| (*dst, *src)))
        .filter(|(dst, src)| dst != src)
}

/// The in-place step of a pair, if it is proved right.
fn may_overlay(
    sequence: &Sequence<'_>,
    events: &Events,
    stmt: StmtId,
    dst: BufId,
    src: BufId,
    budget: &mut u64,
) -> Option<InPlace> {
    let function = sequence.function;
    let (a, b) = (&function.buffers[dst], &function.buffers[src]);
    // The source must have begun at an earlier record. If `stmt` generates the source, too, both live at once.
    let begun = events.lives[src].zip(events.lives[dst]).is_some_and(|(src, dst)| src.0 < dst.0);
    // Symbolic sizes cannot be compared, and need not be: buffers of an arena have constant sizes.
    let same_size =
        a.constant_elements() == b.constant_elements() || !a.has_constant_shape() || !b.has_constant_shape();
    // Equal subscripts must be equal addresses. That holds for equal shapes, and for any two shapes of one dimension;
    // it does not hold if rows have different lengths.
    let same_rank = a.shape == b.shape || a.shape.len() == 1 && b.shape.len() == 1;
    let step = InPlace { stmt, dst, src, needed_after: !events.killed[stmt].contains(&dst) };
    (begun && a.dtype == b.dtype && same_size && same_rank && is_proved(sequence, step, budget)).then_some(step)
}

/// Whether a step fits the pattern and cannot go wrong.
fn is_proved(sequence: &Sequence<'_>, step: InPlace, budget: &mut u64) -> bool {
    inplace::fits(sequence.function, sequence.statements[step.stmt], step.dst, step.src, Views::Followed)
        && hazard::is_safe(sequence, step, budget)
}

/// The buffers of one arena, and what is known about them.
struct Arena<'a, 'f> {
    sequence: &'a Sequence<'f>,
    events: &'a Events,
    /// The buffers in the arena, by number.
    buffers: &'a [BufId],
    permissions: &'a [InPlace],
    apart: &'a Apart,
}

impl Arena<'_, '_> {
    /// The arena as a problem for a strategy: buffers with sizes, alignments and lifetimes, and the permissions to
    /// overlay. The buffers are in the order of `self.buffers`.
    fn problem(&self) -> Result<Problem, RewriteError> {
        let function = self.sequence.function;
        let alignments = alignments(function);
        let mut builder = ProblemBuilder::new();
        builder.space(Space::new("arena"));
        let mut ids: HashMap<BufId, BufferId> = HashMap::new();
        for (position, buffer) in self.buffers.iter().enumerate() {
            let bytes = storage_bytes(constant_bits(function, *buffer)?);
            let (first, last) = self.life(*buffer);
            // Names need not be unique in a function; positions are.
            let name = format!("{}#{position}", function.buffers[*buffer].name);
            // A record is a step. A life ends after its last record, and the end of a lifetime is exclusive.
            let mut planned = Buffer::new(name, bytes.0, Lifetime::new(first as u64, last as u64 + 1));
            // Alignments are in bits here and in bytes there.
            planned.alignment = Bytes((alignments[*buffer] / 8).max(1));
            ids.insert(*buffer, builder.buffer(planned));
        }
        for InPlace { dst, src, .. } in self.permissions {
            if let (Some(&buffer), Some(&over)) = (ids.get(dst), ids.get(src)) {
                builder.overlay(Overlay { buffer, over, kind: OverlayKind::SameBase });
            }
        }
        builder.build().map_err(|error| RewriteError::Strategy { message: error.to_string() })
    }

    /// First and last record of a buffer's life. If two buffers must not share (`apart`), both live from the first
    /// record of either to the last record of either. Their lives then overlap, and every strategy keeps them apart;
    /// few strategies understand pairs that must not share.
    fn life(&self, buffer: BufId) -> (usize, usize) {
        let own = self.events.lives[buffer].unwrap_or_default();
        let partners = self.apart.iter().filter_map(|(one, other)| match buffer {
            _ if buffer == one => Some(other),
            _ if buffer == other => Some(one),
            _ => None,
        });
        let lives =
            partners.filter(|partner| self.buffers.contains(partner)).filter_map(|partner| self.events.lives[partner]);
        lives.fold(own, |life, other| (life.0.min(other.0), life.1.max(other.1)))
    }

    /// Adds the arena to the layout: its allocation, as large as the plan's extent, and the places of its buffers. An
    /// error if the arena exceeds the limit of its memory, or if the plan has no offset for a buffer.
    fn place(
        &self,
        problem: &Problem,
        plan: &memplan_core::Plan,
        attach: Attach,
        scope: &StorageScope,
        limits: &[MemoryLimit],
        layout: &mut Layout,
    ) -> Result<(), RewriteError> {
        let function = self.sequence.function;
        let extent = plan.extent();
        // The limit is checked before the allocation is written, in bits, as for entries.
        super::layout::check_limit(scope, extent.0.saturating_mul(8), limits)?;
        let first = self.buffers.first().map(|buffer| function.buffers[*buffer].dtype.element());
        // If all buffers have the same element type, the arena has it, too. Otherwise the arena consists of bytes. The
        // elements of an arena's buffers are whole bytes: buffers of `int4` and the like are `alone` in the pool.
        let common =
            first.filter(|dtype| self.buffers.iter().all(|buffer| function.buffers[*buffer].dtype.element() == *dtype));
        let dtype = common.unwrap_or(DType::scalar(crate::Kind::Int, 8));
        let elements = i64::try_from(extent.0.div_ceil(dtype.lane_bytes())).unwrap_or(i64::MAX);
        // TVM's integers have 32 bits; an extent that does not fit is written with 64.
        let wide = i32::try_from(elements).is_err();
        // The arena is no buffer of the function (`root`), its accesses are not joined to vectors (`vector`; that may
        // still happen later), and it moves to the place `attach` (it does not `stay` where a buffer's allocation was).
        let allocation: AllocationId = layout.allocations.push(Allocation {
            attach,
            root: None,
            // The name of the memory, with a `_` for every character that cannot stand in a name: `local_L0A_arena`.
            // Arenas of one memory at several places get numbers when the layout is applied.
            name: format!("{}_arena", scope.to_string().replace(|c: char| !c.is_alphanumeric(), "_")),
            dtype,
            shape: vec![Expr::Int { value: elements, dtype: if wide { DType::INT64 } else { DType::INT32 } }].into(),
            scope: scope.clone(),
            vector: 1,
            stays: false,
        });
        // `problem` made its buffers in the order of `self.buffers`, so the two lists go together.
        for (buffer, id) in self.buffers.iter().zip(problem.buffers().ids()) {
            let offset = plan
                .offset(id)
                .ok_or_else(|| RewriteError::Strategy { message: "the plan leaves a buffer out".to_owned() })?;
            layout.places[*buffer] = Some(Place { allocation, bit_offset: offset.0.saturating_mul(8) });
        }
        Ok(())
    }
}

/// Runs a strategy on a problem and gives its plan. It is an error if there is no such strategy, if it refuses the
/// problem or finds no plan, and if the judge's packing check rejects the plan.
fn solve(
    problem: &Problem,
    strategy: &str,
    options: &RewriteOptions,
    judge: Judge,
) -> Result<memplan_core::Plan, RewriteError> {
    let failed = |message: String| RewriteError::Strategy { message };
    let found = memplan_planner::find(strategy).ok_or_else(|| failed(format!("there is no strategy `{strategy}`")))?;
    let request = Request { time_limit: options.time_limit, seed: options.seed, ..Request::default() };
    let outcome = memplan_planner::plan(found, problem, &request).map_err(|refusal| failed(refusal.to_string()))?;
    let plan = outcome.plan().ok_or_else(|| failed(format!("`{strategy}` found no plan: {}", outcome.status())))?;
    match (judge.packing)(problem, plan).first() {
        None => Ok(plan.clone()),
        Some(violation) => Err(failed(format!("the plan of `{strategy}` is wrong: {violation:?}"))),
    }
}
