//! Which allocations can be merged.
//!
//! An allocation is a *candidate* if its size and its life are known, no other code can hold its address, and the text
//! can express it as a view of a larger allocation. Each allocation that is none keeps its memory, and the user is told
//! the reason.

use memplan_analysis::Life;
use memplan_core::IndexVec;
use memplan_program::{AccessKind, Origin, SiteId, ValueId};

use super::BufferizedView;
use crate::OpId;
use crate::dialect::Traits;
use crate::hash::HashSet;
use crate::pass::{PassError, Remark};

/// An allocation that can be merged.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) site: SiteId,
    /// The `memref.alloc`.
    pub(super) op: OpId,
    pub(super) bytes: u64,
    /// What its own address must be a multiple of: its attribute, and at least the largest power of two that divides
    /// the size of its element, since code for such elements may rely on that without an attribute. All alignments of
    /// the pass are powers of two, so the larger of two is a multiple of both.
    pub(super) alignment: u64,
    /// The memory space as written; `None` for the default one.
    pub(super) space: Option<Box<str>>,
    /// First and last op that uses it; `None` if there is none.
    pub(super) life: Option<(OpId, OpId)>,
}

/// The allocations that can be merged, in program order, and remarks about the others.
pub(super) struct Candidates {
    pub(super) list: Vec<Candidate>,
    /// Deallocations that go away with them, each with what it frees.
    pub(super) deallocs: Vec<(SiteId, OpId)>,
    pub(super) remarks: Vec<Remark>,
}

/// All allocations that can be merged, the deallocations that disappear with them, and a remark for each of the others.
pub(super) fn find(view: &BufferizedView) -> Candidates {
    let mut frees = Frees::of(view);
    // Nearly every allocation is a candidate.
    let list = Vec::with_capacity(view.lowered.program.sites().len());
    let mut candidates = Candidates { list, deallocs: Vec::new(), remarks: Vec::new() };
    for site in view.lowered.program.sites().ids() {
        let op = view.lowered.sites[site];
        if view.document.name(op) != "memref.alloc" {
            continue;
        }
        let freed_otherwise = frees.ambiguous.contains(&site);
        match candidate(view, site, op) {
            Err(reason) => candidates.remark(view, op, reason),
            Ok(_) if freed_otherwise => {
                candidates.remark(view, op, "it is freed through a value that may be another buffer");
            }
            Ok(candidate) => candidates.list.push(candidate),
        }
    }
    // Only the deallocations of merged buffers go away. What keeps its allocation must still be freed.
    let mut merged = IndexVec::filled(false, view.lowered.program.sites().len());
    candidates.list.iter().for_each(|candidate| merged[candidate.site] = true);
    frees.certain.retain(|&(site, _)| merged[site]);
    candidates.deallocs = frees.certain;
    candidates
}

impl Candidates {
    /// Takes the candidates out of the list that `is_left` accepts, with a remark that gives the reason. Their
    /// deallocations stay in the text.
    pub(super) fn leave_alone(&mut self, view: &BufferizedView, is_left: impl Fn(SiteId) -> bool, reason: &str) {
        // Mostly there is nothing to take out, and then the list is not copied.
        if !self.list.iter().any(|candidate| is_left(candidate.site)) {
            return;
        }
        let list = std::mem::take(&mut self.list);
        let (left, merged): (Vec<Candidate>, Vec<Candidate>) = list.into_iter().partition(|one| is_left(one.site));
        self.list = merged;
        self.deallocs.retain(|&(site, _)| !is_left(site));
        left.iter().for_each(|candidate| self.remark(view, candidate.op, reason));
    }

    /// Tells the user why an allocation is not merged.
    fn remark(&mut self, view: &BufferizedView, op: OpId, reason: &str) {
        let span = view.document.op(op).span;
        self.remarks.push(Remark { span, message: format!("left alone: {reason}") });
    }
}

/// An allocation as a candidate, or the reason why it cannot be merged, in words for the user.
fn candidate(view: &BufferizedView, site: SiteId, op: OpId) -> Result<Candidate, &'static str> {
    // Each refusal below is a reason that the user is shown, so the checks go from the most general to the most
    // particular.
    let life = match view.lifetimes.life(site) {
        Life::Untraceable { why, .. } => return Err(why.describe()),
        Life::Unused => None,
        Life::Range { first, last } => Some((view.lowered.ops[first], view.lowered.ops[last])),
    };
    let program = &view.lowered.program;
    let function = program.alloc_op(site).map(|op| view.lowered.functions[program.function_of(op)]);
    if function.is_some_and(|function| view.document.is_cut_off(op, function)) {
        return Err("it is in a module of its own inside of the function");
    }
    if view.apart.is_alone(site) {
        return Err("a check has rejected every plan that moves it");
    }
    let info = view.lowered.program.site(site);
    if info.slots > 1 {
        return Err("it has several slots");
    }
    if info.exclusive {
        return Err("it is marked mem_unique: it shares with nobody");
    }
    let &[result] = view.document.results(op) else { return Err("it has no single result") };
    let Some(memref) = view.document.ty(result).as_memref() else { return Err("its type is not known") };
    if !memref.has_static_shape() {
        return Err("its shape is dynamic");
    }
    // The merged memory is bytes. A view into it has dense rows, and a layout with gaps cannot be written as such
    // a view.
    if !memref.is_dense() {
        return Err("its elements do not lie row by row without gaps");
    }
    let element = memref.element.stride_bytes().ok_or("the size of its element type is not known")?.0;
    let bytes = memref.dense_bytes().filter(|bytes| bytes.0 < 1 << 63).ok_or("it has 2^63 bytes or more")?.0;
    if bytes == 0 {
        return Err("it has no bytes");
    }
    // The merged allocation is aligned to the pass's alignment. So an allocation that asks for an alignment of its own
    // can be merged only if the pass's alignment is a multiple of that.
    let alignment = match view.document.integer_attribute(op, "alignment") {
        None => natural_alignment(element),
        Some(own) => match u64::try_from(own).ok().filter(|&own| own > 0) {
            Some(own) if view.options.alignment.is_multiple_of(own) => own.max(natural_alignment(element)),
            _ => return Err("its alignment does not divide the pass's"),
        },
    };
    if !view.options.alignment.is_multiple_of(alignment) {
        return Err("its element type needs more alignment than the pass gives");
    }
    Ok(Candidate { site, op, bytes, alignment, space: memref.space.as_deref().map(Box::from), life })
}

/// The largest power of two that divides an element's size: complex numbers of
/// 8 bytes are aligned to 8 here, vectors of 16 to 16.
fn natural_alignment(element: u64) -> u64 {
    1 << element.trailing_zeros().min(62)
}

/// Deallocations, by what they free.
struct Frees {
    /// Sites, each with a `memref.dealloc` that frees exactly this site.
    certain: Vec<(SiteId, OpId)>,
    /// Sites freed by another op than `memref.dealloc`, or through a value that may be something else.
    ambiguous: HashSet<SiteId>,
}

impl Frees {
    /// Sorts all frees. A `memref.dealloc` of a value that is certainly one site goes away if that site is merged.
    /// Every other free stays in the text, so the sites that it may free are ambiguous and are not merged.
    fn of(view: &BufferizedView) -> Frees {
        let mut frees = Frees { certain: Vec::new(), ambiguous: HashSet::default() };
        let program = &view.lowered.program;
        for (op, info) in program.ops().iter_enumerated() {
            let document_op = view.lowered.ops[op];
            for access in info.accesses.iter().filter(|access| access.kind == AccessKind::Free) {
                let sites = view.aliases.sites(access.value);
                match sites {
                    [site] if is_only(view, access.value) && view.document.name(document_op) == "memref.dealloc" => {
                        frees.certain.push((*site, document_op));
                    }
                    _ => frees.ambiguous.extend(sites),
                }
            }
        }
        frees
    }
}

/// Whether a value certainly is one buffer: the result of an allocation, or a view of that. Any other value (a
/// select, an argument) may also be memory of which this program knows nothing.
fn is_only(view: &BufferizedView, mut value: ValueId) -> bool {
    let program = &view.lowered.program;
    loop {
        match &program.value(value).origin {
            Origin::Alloc(_) => return true,
            Origin::Derived { base, .. } => value = *base,
            _ => return false,
        }
    }
}

/// Fails with the original's message where the original fails: it cannot handle ops with regions that do not say how
/// control moves through them, nor scopes of several blocks, nor empty buffers. With `analysis-only` it looks at the
/// first of these alone.
pub(super) fn refuse_what_the_original_refuses(view: &BufferizedView) -> Result<(), PassError> {
    refuse_silent_regions(view)?;
    if view.options.analysis_only {
        return Ok(());
    }
    for site in view.lowered.program.sites().ids() {
        let op = view.lowered.sites[site];
        if view.document.name(op) == "memref.alloc" {
            refuse_allocation(view, site, op)?;
        }
    }
    Ok(())
}

/// Refuses an op with regions that does not say how control passes through it (in MLIR: that is no
/// `RegionBranchOpInterface`), if an op directly inside of it touches a buffer.
fn refuse_silent_regions(view: &BufferizedView) -> Result<(), PassError> {
    let program = &view.lowered.program;
    for (op, info) in program.ops().iter_enumerated() {
        let touches = info.accesses.iter().any(|access| !view.aliases.sites(access.value).is_empty());
        let around = view.document.parent_op(view.lowered.ops[op]);
        let Some(around) = around.filter(|_| touches) else { continue };
        let traits = view.document.info(around).traits;
        if !traits.has(Traits::FUNCTION) && !traits.has(Traits::REGION_BRANCH) {
            let name = view.document.name(around);
            let message = format!("'{name}' op expecting RegionBranchOpInterface for merge-alloc");
            return Err(refusal(view, around, &message));
        }
    }
    Ok(())
}

/// Refuses an allocation as the original does: an empty one first, then one whose scope is missing or has several
/// blocks.
fn refuse_allocation(view: &BufferizedView, site: SiteId, op: OpId) -> Result<(), PassError> {
    match candidate(view, site, op) {
        Err("it has no bytes") => {
            return Err(refusal(view, op, "Expecting static shaped allocation"));
        }
        // A buffer that cannot be merged keeps its allocation, so it needs no scope.
        Err(_) => return Ok(()),
        Ok(_) => {}
    }
    match super::home::scope_of(view, op) {
        None => Err(refusal(view, op, "This op should be surrounded by an AutomaticAllocationScope")),
        Some(scope) if !view.has_single_block(scope) => {
            Err(refusal(view, op, "This op should be surrounded by an AutomaticAllocationScope of single block"))
        }
        Some(_) => Ok(()),
    }
}

/// The error at an op with a message of the original.
fn refusal(view: &BufferizedView, op: OpId, message: &str) -> PassError {
    PassError::Op { span: view.document.op(op).span, message: message.to_owned() }
}

impl BufferizedView<'_> {
    /// The first op written in the first block of a scope.
    pub(super) fn first_op(&self, scope: OpId) -> Option<OpId> {
        let block = *self.document.blocks(*self.document.regions(scope).first()?).first()?;
        self.document.ops(block).first().copied()
    }

    /// Whether an op has exactly one region of exactly one block.
    pub(super) fn has_single_block(&self, op: OpId) -> bool {
        let regions = self.document.regions(op);
        regions.len() == 1 && self.document.blocks(regions[0]).len() == 1
    }
}
