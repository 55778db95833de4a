//! Storage entries: which buffers share an allocation.
//!
//! An *entry* is memory that buffers use one after the other. The planner walks the function's statements in order
//! (the [`Sequence`]) and keeps the entries that nobody uses at the moment. A statement *generates* the buffers that
//! it is the first to touch and *kills* those that it is the last to touch ([`Events`]). A generated buffer first
//! tries to take the place of one that the same statement kills (in place); then it looks for a free entry of the same
//! memory at the same place: the smallest one that is large enough, up to sixteen times its size, whatever its type;
//! otherwise the largest smaller one, down to a sixteenth, if the element type agrees, and makes it grow. The entry of
//! a killed buffer is free again. These rules and numbers are those of the original, TVM's `StorageRewrite`.
//!
//! ```text
//! A f32[64], B f32[1024] used one after the other:  A's entry grows to 1024 and serves both (ratio 16)
//! A f32[64], B f32[1025]:                           two entries
//! ```
//!
//! An entry is *attached* to the place where it will be allocated: the top of the function, or the top of a thread
//! launch or parallel loop (here called a *scope*), so that every thread has its own. In sound mode scopes nest, and a
//! buffer whose extent uses a loop variable stays inside that loop.

// `hazard::is_safe` proves that a buffer may be computed in place of another, `inplace::fits` is the original's
// simpler test.
// `Apart` has pairs of buffers that must not share; `lets_in` asks whether a buffer may join those of an entry.
use super::Mode;
use super::events::Events;
use super::hazard;
use super::inplace::{self, Views};
use super::sequence::{Sequence, StmtId};
use super::shelf::Free;
use super::{Apart, Defect, RewriteError};
use crate::DType;
use crate::ir::{BufId, Expr, ForKind, Function, Memory, Rank, StmtKind, StorageScope};
use memplan_core::{IndexVec, index_type, patience};
use std::fmt::Write;

index_type! {
    /// A storage entry.
    pub struct EntryId;
}

/// Where an entry's allocation stands: at the top of the function (`None`) or of a statement's body. Statements are
/// numbered in the order of the text, so of several statements around one place the largest is the innermost.
pub type Attach = Option<StmtId>;

/// Memory that buffers take turns in.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Where its allocation stands.
    pub attach: Attach,
    /// Size in bits; 0 if it is not a constant, or if its buffers have no elements.
    pub bits: u64,
    /// Which memory.
    pub scope: StorageScope,
    /// Element type of the buffer that created it.
    pub element: DType,
    /// Buffers in it, in the order in which they were planned.
    pub buffers: Vec<BufId>,
    /// Whether the entry has one buffer that shares with nobody and whose allocation stays where the text has it (see
    /// `stands_alone`).
    pub alone: bool,
}

/// A destination computed into its source's memory.
#[derive(Clone, Copy, Debug)]
pub struct InPlace {
    /// The statement that does it.
    pub stmt: StmtId,
    /// What it computes.
    pub dst: BufId,
    /// Whose memory it takes.
    pub src: BufId,
    /// Whether the destination is used again after the statement.
    pub needed_after: bool,
}

/// All entries of a function.
#[derive(Clone, Debug)]
pub struct Pool {
    /// In the order of their creation.
    pub entries: IndexVec<EntryId, Entry>,
    /// The entry of each touched buffer.
    pub entry_of: IndexVec<BufId, Option<EntryId>>,
    /// In-place decisions.
    pub in_place: Vec<InPlace>,
}

/// The size of a buffer in bits; 0 if an extent is not a constant, or if the buffer has no elements. A buffer without
/// elements is then treated like one of unknown size, which is right for it, too: an entry of such buffers is made as
/// large as the largest of them turns out to be (`T.max(0, n)`). It is an error if an extent is negative, or if the size
/// does not fit 63 bits.
pub(super) fn constant_bits(function: &Function, buffer: BufId) -> Result<u64, RewriteError> {
    let declared = &function.buffers[buffer];
    if !declared.has_constant_shape() {
        return Ok(0);
    }
    declared
        .constant_elements()
        .and_then(|elements| elements.checked_mul(declared.dtype.total_bits()))
        .filter(|bits| *bits <= memplan_core::MAX_BYTES)
        .ok_or_else(|| RewriteError::TooLarge { buffer: declared.name.clone(), span: declared.span })
}

/// Plans the entries of a function; the pairs of `apart` get different ones.
pub fn plan_pool(sequence: &Sequence<'_>, events: &Events, mode: Mode, apart: &Apart) -> Result<Pool, RewriteError> {
    let buffers = sequence.function.buffers.len();
    let mut planner = Planner {
        sequence,
        events,
        mode,
        apart,
        pool: Pool { entries: IndexVec::new(), entry_of: IndexVec::filled(None, buffers), in_place: Vec::new() },
        consumed: IndexVec::filled(false, buffers),
        scopes: Vec::new(),
        free: Free::default(),
        returned: 0,
        budget: hazard::BUDGET,
    };
    // The records in order: buffers get their entries where they begin and give them back where they end.
    for position in 0..sequence.records.len() {
        // The caller waits no longer and throws away what we return, complete or not.
        if patience::is_over() {
            break;
        }
        planner.record(position)?;
    }
    Ok(planner.pool)
}

/// The walk over the records of a sequence that gives each buffer its entry.
struct Planner<'a, 'f> {
    sequence: &'a Sequence<'f>,
    events: &'a Events,
    mode: Mode,
    apart: &'a Apart,
    pool: Pool,
    /// Buffers whose entry has been taken over by another buffer in place.
    consumed: IndexVec<BufId, bool>,
    /// Open thread launches and parallel loops.
    scopes: Vec<StmtId>,
    /// Entries that no buffer uses at the moment.
    free: Free,
    /// How many entries have been given back so far; it orders entries of one size by the time of their return.
    returned: u64,
    /// Work left for proofs that a buffer may take another's place; without any, buffers do not share in place.
    budget: u64,
}

impl Planner<'_, '_> {
    /// Handles one record of the sequence. A record with a positive offset is the begin of a statement with statements
    /// inside, one with a negative offset its end, and offset 0 is a statement without inner statements, which begins
    /// and ends at once. What a statement generates gets its entry at the begin; what it kills is given back at the
    /// end.
    fn record(&mut self, position: usize) -> Result<(), RewriteError> {
        let (stmt, offset) = {
            let record = &self.sequence.records[position];
            (record.stmt, record.offset)
        };
        // A statement generates and kills buffers whose touches are charged to it (see the sequence). They are
        // allocated outside of it. So they get their entries before the
        // statement opens a scope, and give them back after it has closed the scope.
        if offset >= 0 {
            self.generate(stmt)?;
        }
        if offset != 0 {
            self.switch_scope(stmt, offset > 0)?;
        }
        if offset <= 0 {
            let events = self.events;
            for &buffer in &events.killed[stmt] {
                // The entry of a consumed buffer belongs to the buffer that took its place.
                if !self.consumed[buffer] {
                    self.give_back(buffer);
                }
            }
        }
        if offset < 0 {
            // Entries that are attached to this statement exist only inside of it: nobody may take them later.
            self.free.forget(stmt);
        }
        Ok(())
    }

    /// Gives every buffer that a statement generates an entry of the pool: the entry of a buffer that the same
    /// statement kills, if the new one may be computed in place of that, otherwise a free or new entry. If the
    /// statement generates more than two buffers, none is computed in place, as in the original.
    fn generate(&mut self, stmt: StmtId) -> Result<(), RewriteError> {
        let events = self.events;
        let generated = &events.generated[stmt];
        for &buffer in generated {
            let bits = constant_bits(self.sequence.function, buffer)?;
            let attach = self.attach_for(buffer);
            let alone = stands_alone(self.sequence, buffer);
            let entry = match generated.len() {
                0..=2 if !alone => self.take_over(stmt, buffer, bits, attach),
                _ => None,
            };
            let entry = entry.unwrap_or_else(|| self.find(buffer, bits, attach, alone));
            self.pool.entries[entry].buffers.push(buffer);
            self.pool.entry_of[buffer] = Some(entry);
        }
        Ok(())
    }

    /// Opens or closes a scope: entries that are made inside of it are attached to it, and no buffer outside may use
    /// them. In compat mode scopes do not nest: a parallel loop inside of another scope opens none, and a thread
    /// launch there is an error, as in the original.
    fn switch_scope(&mut self, stmt: StmtId, begins: bool) -> Result<(), RewriteError> {
        let opens = match &self.sequence.statements[stmt].kind {
            StmtKind::Thread { .. } => true,
            StmtKind::Attr { key, .. } => key == "virtual_thread",
            StmtKind::For { kind, .. } => match kind {
                // In compat mode a parallel loop is a scope only if it is the outermost one: at its begin no scope is
                // open (`is_empty`), at its end it is itself the only open scope (`== [stmt]`).
                ForKind::Parallel => self.mode == Mode::Sound || self.scopes.is_empty() || self.scopes == [stmt],
                // The original does not know that the iterations of a vectorized loop run together, each with its own
                // copy of the buffers inside. Compat mode refuses functions with such loops (`check::input`).
                ForKind::Vectorized => self.mode == Mode::Sound,
                _ => false,
            },
            _ => false,
        };
        if !opens {
            return Ok(());
        }
        if begins {
            if self.mode == Mode::Compat && !self.scopes.is_empty() {
                return Err(self.nested_scopes(stmt));
            }
            self.scopes.push(stmt);
        } else {
            self.scopes.pop();
            self.free.forget(stmt);
        }
        Ok(())
    }

    fn nested_scopes(&self, stmt: StmtId) -> RewriteError {
        RewriteError::Refused {
            defect: Defect::NestedScopes,
            buffer: String::new(),
            span: self.sequence.statements[stmt].span,
        }
    }

    /// The place to which a new entry of this buffer is attached. In compat mode it is the innermost open scope. In
    /// sound mode it is further inside if need be: inside of the loops whose variables the buffer's extents use, and,
    /// for global memory, inside of the thread-binding loop that the buffer is allocated in.
    fn attach_for(&self, buffer: BufId) -> Attach {
        let scope = self.scopes.last().copied();
        if self.mode == Mode::Compat {
            return scope;
        }
        // All thread blocks share global memory. A buffer that is allocated inside of a loop over thread blocks (a
        // thread-binding loop, which is no scope) is one for each of them, so it has to stay inside of that loop.
        let global = self.sequence.function.buffers[buffer].scope.rank == Rank::Global;
        let block = self.sequence.allocated_at[buffer].filter(|_| global).and_then(|site| {
            // A loop whose iterations are thread blocks or threads.
            let bound = |stmt: &StmtId| {
                matches!(self.sequence.statements[*stmt].kind, StmtKind::For { kind: ForKind::ThreadBinding(_), .. })
            };
            self.sequence.enclosing(site).find(bound)
        });
        // All three places are around the buffer's allocation. Statements are numbered in the order of the text, so the
        // largest number is the innermost place. `None` (the top of the function) compares as the smallest.
        innermost_definition(self.sequence, buffer).max(scope).max(block)
    }

    /// Looks for an entry that `dst`, which does not stand alone, can take over in place. The entry must be that of a
    /// buffer `src` that `stmt` kills, must have the memory, place, element type and size of `dst`, and each element of
    /// `src` must be read before the element of `dst` on the same bytes is written. Sound mode proves the last
    /// condition. Compat mode only compares subscripts, as the original does, and `check::decisions` looks for the
    /// proof later. `None` if there is no such entry.
    fn take_over(&mut self, stmt: StmtId, dst: BufId, bits: u64, attach: Attach) -> Option<EntryId> {
        let function = self.sequence.function;
        let declared = &function.buffers[dst];
        let body = self.sequence.statements[stmt];
        // The original overlooks accesses through views (see `Views`).
        let views = if self.mode == Mode::Compat { Views::Overlooked } else { Views::Followed };
        let killed = &self.events.killed[stmt];
        let needed_after = !killed.contains(&dst);
        for &src in killed {
            // A buffer whose entry was already taken over has none to give.
            let Some(entry_id) = self.pool.entry_of[src].filter(|_| src != dst && !self.consumed[src]) else {
                continue;
            };
            let entry = &self.pool.entries[entry_id];
            // The entry must fit exactly: a smaller or larger entry is never taken in place.
            let matches = entry.bits == bits
                && entry.attach == attach
                && entry.element == declared.dtype.element()
                && !entry.alone
                && entry.scope == declared.scope;
            if !matches || !self.apart.lets_in(dst, &entry.buffers) || !inplace::fits(function, body, dst, src, views) {
                continue;
            }
            let step = InPlace { stmt, dst, src, needed_after };
            // If `src` is generated by the same statement, both buffers begin and end at once, and neither holds
            // content that the other could replace.
            let begins_here = self.events.generated[stmt].contains(&src);
            if self.mode == Mode::Sound && (begins_here || !hazard::is_safe(self.sequence, step, &mut self.budget)) {
                continue;
            }
            // `dst` has the entry now. `src` must not give it back when the statement kills `src`.
            self.consumed[src] = true;
            self.pool.in_place.push(step);
            return Some(entry_id);
        }
        None
    }

    /// An entry for a buffer: a free one that suits it, or a new one. Three kinds of buffers always get a new one:
    /// buffers that stand alone (`alone`), buffers that the compiler after us turns into registers (of a register-like
    /// memory, or of 1 to 32 bits in a memory without tag), and in compat mode buffers with several dimensions.
    fn find(&mut self, buffer: BufId, bits: u64, attach: Attach, alone: bool) -> EntryId {
        let declared = &self.sequence.function.buffers[buffer];
        let (scope, element) = (&declared.scope, declared.dtype.element());
        let registers = scope.is_register_like() || scope.tag.is_empty() && (1..=32).contains(&bits);
        // The original gives a buffer of several dimensions an entry of its own.
        let flat = declared.shape.len() == 1 || self.mode == Mode::Sound;
        if !registers && flat && !alone {
            let found = if bits > 0 {
                self.find_sized(buffer, scope, element, bits, attach)
            } else {
                self.find_symbolic(buffer, scope, element, attach)
            };
            if let Some(entry) = found {
                // An entry that was smaller than the buffer grows.
                let entry_bits = &mut self.pool.entries[entry].bits;
                *entry_bits = bits.max(*entry_bits);
                return entry;
            }
        }
        let scope = scope.clone();
        self.pool.entries.push(Entry { attach, bits, scope, element, buffers: Vec::new(), alone })
    }

    /// A free entry for a buffer of known size, by the rules of the module documentation.
    fn find_sized(
        &mut self,
        buffer: BufId,
        scope: &StorageScope,
        element: DType,
        bits: u64,
        attach: Attach,
    ) -> Option<EntryId> {
        let (entries, apart) = (&self.pool.entries, self.apart);
        let shelves = self.free.at(attach)?;
        let suits = |entry: EntryId| apart.lets_in(buffer, &entries[entry].buffers);
        // Large enough: the smallest, and among equals the one returned first, of any element type.
        let enough = shelves
            .iter_mut()
            .filter(|shelf| shelf.scope == *scope)
            .filter_map(|shelf| {
                // From the size of the buffer up to sixteen times that, the smallest first.
                let key = shelf.sized.first_from(bits, bits.saturating_mul(16), suits)?;
                Some((key, shelf))
            })
            .min_by_key(|(key, _)| *key);
        if let Some((key, shelf)) = enough {
            return shelf.sized.remove(key);
        }
        // Too small: the largest, and among equals the one returned last, of the same element type.
        let shelf = shelves.iter_mut().find(|shelf| shelf.element == element && shelf.scope == *scope)?;
        let key = shelf.sized.last_below(bits / 16, bits, suits)?;
        shelf.sized.remove(key)
    }

    /// Takes the free entry of symbolic size that was returned first from the shelf of this type and memory. Symbolic
    /// sizes are not compared: the allocation gets the largest of them (`max(n, m)`).
    fn find_symbolic(
        &mut self,
        buffer: BufId,
        scope: &StorageScope,
        element: DType,
        attach: Attach,
    ) -> Option<EntryId> {
        let (entries, apart) = (&self.pool.entries, self.apart);
        let shelves = self.free.at(attach)?;
        let shelf = shelves.iter_mut().find(|shelf| shelf.element == element && shelf.scope == *scope)?;
        let position = shelf.symbolic.iter().position(|entry| apart.lets_in(buffer, &entries[*entry].buffers))?;
        shelf.symbolic.remove(position)
    }

    /// Puts the entry of a killed buffer on a shelf of free entries, unless entries of its kind are never shared (see
    /// `find`).
    fn give_back(&mut self, buffer: BufId) {
        let Some(id) = self.pool.entry_of[buffer] else {
            return;
        };
        let entry = &self.pool.entries[id];
        // Entries of these kinds are never taken from a shelf (see `find`), so they need not be kept.
        let small = entry.scope.tag.is_empty() && (1..=32).contains(&entry.bits);
        if entry.scope.is_register_like() || small || entry.alone {
            return;
        }
        let shelf = self.free.shelf_for(entry.attach, &entry.scope, entry.element);
        // Entries of symbolic size (0 bits) are not ordered by size.
        if entry.bits == 0 {
            shelf.symbolic.push_back(id);
        } else {
            self.returned += 1;
            shelf.sized.insert((entry.bits, self.returned), id);
        }
    }
}

/// The innermost loop, launch or `let` whose variable the buffer's extents use; `None` if they use none.
pub(super) fn innermost_definition(sequence: &Sequence<'_>, buffer: BufId) -> Attach {
    let mut innermost = None;
    let declared = &sequence.function.buffers[buffer];
    // Most extents are numbers.
    if declared.has_constant_shape() {
        return None;
    }
    for extent in &declared.shape {
        extent.walk(&mut |part| {
            if let Expr::Var(var) = part {
                innermost = innermost.max(sequence.defined_at[*var]);
            }
        });
    }
    innermost
}

/// Whether a buffer keeps its allocation where and as it is, and shares it with nobody: its extents can only be
/// computed where they stand (they use a `let`, a load or a call), its elements are parts of bytes, or the text ties
/// it to its place by annotations or by using its address (`held`).
pub(super) fn stands_alone(sequence: &Sequence<'_>, buffer: BufId) -> bool {
    let declared = &sequence.function.buffers[buffer];
    let is_computed = |part: &Expr| match part {
        Expr::Var(var) => {
            sequence.defined_at[*var].is_some_and(|stmt| matches!(sequence.statements[stmt].kind, StmtKind::Let { .. }))
        }
        Expr::Load { .. } | Expr::Call { .. } => true,
        _ => false,
    };
    let computed = !declared.has_constant_shape() && declared.shape.iter().any(|extent| extent.any(&is_computed));
    // Elements such as `int4`: offsets and sizes of shared memory are counted in whole bytes.
    let parts_of_bytes = !declared.dtype.bits.is_multiple_of(8);
    computed
        || parts_of_bytes
        || declared.is_pinned()
        || declared.memory != Memory::Own
        || sequence.held.contains(&buffer)
}

impl Pool {
    /// One line for each entry: memory, element type, place, size, buffers. `memplan dump --stage storage` shows it.
    pub fn dump(&self, sequence: &Sequence<'_>) -> String {
        let function = sequence.function;
        let mut text = String::new();
        for (id, entry) in self.entries.iter_enumerated() {
            let place = entry
                .attach
                .map_or("top".to_owned(), |stmt| super::sequence::describe(sequence.statements[stmt], function));
            let size = if entry.bits == 0 { "symbolic".to_owned() } else { format!("{} bits", entry.bits) };
            let number = memplan_core::Id::index(id);
            let _ = write!(text, "entry {number}: {} {} at {place}, {size}:", entry.scope, entry.element);
            for buffer in &entry.buffers {
                let _ = write!(text, " {}", function.buffers[*buffer].name);
                if let Some(step) = self.in_place.iter().find(|step| step.dst == *buffer) {
                    let _ = write!(text, " (in place of {})", function.buffers[step.src].name);
                }
            }
            text.push('\n');
        }
        text
    }
}
