//! From entries to allocations: sizes, types, and offsets of entries that share one block.
//!
//! An [`Entry`] is a group of buffers that use the same memory one after the other; the pool decides which. An entry
//! becomes one allocation, as large as its largest buffer, attached to the place where the entry is. Entries of a
//! *special* memory (a scope with a tag, such as `local.L0A`) that stand at the same place are packed into one block
//! instead, each at a higher address than the one before:
//!
//! ```text
//! local.L0A: A f32[200], A1 f32[200], B i16[200] alive together
//! |A 0..6400 bits|A1 6400..12800|B 12800..16000|        -> A = alloc float32[500], B at element 800 (of its own)
//! ```

use super::pool::{Attach, Entry, EntryId, Pool, constant_bits};
use super::sequence::Sequence;
use super::size::{maximum, plus_one, product, rescale};
use super::{Defect, MemoryLimit, Mode, RewriteError};
use crate::DType;
use crate::flatten::sliced_buffers;
use crate::ir::{BufId, Expr, Function, Shared, StorageScope};
use memplan_core::{Id, IndexVec, index_type};
use std::collections::{HashMap, HashSet};

index_type! {
    /// An allocation of the rewritten function.
    pub struct AllocationId;
}

/// The start and the end of an entry in a block are multiples of so many bits, as in the original.
const BLOCK_ALIGNMENT: u64 = 32;

/// An allocation of the rewritten function.
#[derive(Clone, Debug)]
pub struct Allocation {
    /// Where it stands.
    pub attach: Attach,
    /// The buffer that gives it its name: the first buffer in it, which starts at offset 0. `None` for an arena, which
    /// has a name of its own.
    pub root: Option<BufId>,
    /// Name, if it is no buffer's.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Extents.
    pub shape: Shared<Vec<Expr>>,
    /// Which memory.
    pub scope: StorageScope,
    /// The number of lanes that vector retyping has joined; 1 if none. Accesses count in vectors of this length.
    pub vector: u16,
    /// Whether it stays where the buffer's own allocation is.
    pub stays: bool,
}

/// Where a buffer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its allocation.
    pub allocation: AllocationId,
    /// Its distance from the start of the allocation.
    pub bit_offset: u64,
}

/// Where everything is.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The allocations, grouped by place in the order in which places were first used.
    pub allocations: IndexVec<AllocationId, Allocation>,
    /// The place of each touched buffer.
    pub places: IndexVec<BufId, Option<Place>>,
}

/// Lays out the entries of a pool. An entry without buffers (its buffers have been moved to an arena) gives no
/// allocation.
pub(super) fn lay_out(
    sequence: &Sequence<'_>,
    pool: &Pool,
    mode: Mode,
    limits: &[MemoryLimit],
) -> Result<Layout, RewriteError> {
    let function = sequence.function;
    let mut layout = Layout { allocations: IndexVec::new(), places: IndexVec::filled(None, function.buffers.len()) };
    // The entries that are packed into one block, by place and memory; and the entries that begin an allocation, in
    // their order, each with whether it begins a block.
    let mut blocks: HashMap<(Attach, &StorageScope), Vec<EntryId>> = HashMap::new();
    let mut heads = Vec::new();
    let sliced = sliced_roots(function);
    for (id, entry) in pool.entries.iter_enumerated() {
        // The buffers have been moved to an arena.
        if entry.buffers.is_empty() {
            continue;
        }
        // Ordinary memories have one allocation for each entry. Only entries of a special memory at the same place
        // share a block.
        if !entry.scope.is_special() || entry.alone {
            heads.push((id, false));
            continue;
        }
        // 0 bits: the size is not constant. A neighbour at a higher address would have no known offset, so the entry
        // gets an allocation of its own. The original fails here.
        if entry.bits == 0 {
            if mode == Mode::Compat {
                return Err(symbolic_tag(function, entry));
            }
            heads.push((id, false));
            continue;
        }
        let block = blocks.entry((entry.attach, &entry.scope)).or_default();
        // An entry with a sliced buffer must stand at the start of its allocation.
        let is_sliced = entry.buffers.iter().any(|buffer| sliced.contains(buffer));
        if mode == Mode::Sound && is_sliced && !block.is_empty() {
            heads.push((id, false));
            continue;
        }
        // The first entry of a block stands for the block, so that allocations keep the order in which their entries
        // appear.
        if block.is_empty() {
            heads.push((id, true));
        }
        block.push(id);
    }
    // Only blocks ask for alignments.
    let alignments = if blocks.is_empty() { IndexVec::new() } else { alignments(function) };
    for (head, begins_block) in heads {
        let entry = &pool.entries[head];
        // An entry that has an allocation of its own can stand at the same place, in the same memory, as a block.
        match blocks.get(&(entry.attach, &entry.scope)) {
            Some(block) if begins_block => {
                lay_out_block(function, pool, block, &alignments, mode, limits, &mut layout)?;
            }
            _ => lay_out_single(function, entry, limits, &mut layout)?,
        }
    }
    Ok(layout)
}

/// The error of the compatible mode for an entry of a special memory whose size is not constant.
fn symbolic_tag(function: &Function, entry: &Entry) -> RewriteError {
    let first = entry.buffers.first().map(|buffer| &function.buffers[*buffer]);
    RewriteError::Refused {
        defect: Defect::SymbolicTag,
        buffer: first.map_or(String::new(), |buffer| buffer.name.clone()),
        span: first.map_or_else(Default::default, |buffer| buffer.span),
    }
}

/// The error for a block of entries that no memory can hold, told about the first buffer of the block.
fn too_large(function: &Function, root: BufId) -> RewriteError {
    RewriteError::TooLarge { buffer: function.buffers[root].name.clone(), span: function.buffers[root].span }
}

/// The buffers that are accessed with a slice of unknown length (`A[0:n]`), directly or through a view. An offset cannot
/// be added to the subscripts of such a slice.
pub(super) fn sliced_roots(function: &Function) -> HashSet<BufId> {
    sliced_buffers(function).into_iter().map(|buffer| function.root(buffer)).collect()
}

/// Makes one allocation of several entries of a special memory, at ascending addresses. Its element type is that of the
/// first entry, as in the original, and its name that of the first entry's first buffer. Scalars at the start of the
/// block make it a block of scalars, even if vectors follow. If all accesses are vectors, vector retyping makes it a
/// block of vectors later.
fn lay_out_block(
    function: &Function,
    pool: &Pool,
    block: &[EntryId],
    alignments: &IndexVec<BufId, u64>,
    mode: Mode,
    limits: &[MemoryLimit],
    layout: &mut Layout,
) -> Result<(), RewriteError> {
    let Some(&head) = block.first() else {
        return Ok(());
    };
    // A single entry needs no offsets, and its allocation can keep the shape of its buffers.
    if block.len() == 1 {
        return lay_out_single(function, &pool.entries[head], limits, layout);
    }
    let head = &pool.entries[head];
    let Some(&root) = head.buffers.first() else {
        return Ok(());
    };
    // The id that the allocation will have. It is pushed at the end, when its size is known.
    let allocation = AllocationId::from_index(layout.allocations.len());
    let mut total = 0u64;
    for (position, id) in block.iter().enumerate() {
        let entry = &pool.entries[*id];
        // Every buffer must start at a multiple of what its accesses rely on. The compatible mode leaves the padding
        // out, as the original does.
        if mode == Mode::Sound && position > 0 {
            let alignment =
                entry.buffers.iter().map(|buffer| alignments[*buffer]).fold(BLOCK_ALIGNMENT, least_common_multiple);
            total = total.checked_next_multiple_of(alignment).ok_or_else(|| too_large(function, root))?;
        }
        for buffer in &entry.buffers {
            layout.places[*buffer] = Some(Place { allocation, bit_offset: total });
        }
        // The end is rounded up. Sizes in bits have the same limit as sizes in bytes elsewhere (2^63 - 1), because they
        // become `i64` constants of the function.
        let end = total.checked_add(entry.bits).and_then(|end| end.checked_next_multiple_of(BLOCK_ALIGNMENT));
        total = end.filter(|end| *end <= memplan_core::MAX_BYTES).ok_or_else(|| too_large(function, root))?;
    }
    // `total` is the size of the whole block now. It is counted in elements of the first entry, rounded up.
    check_limit(&head.scope, total, limits)?;
    let elements = total.div_ceil(u64::from(head.element.bits));
    layout.allocations.push(Allocation {
        attach: head.attach,
        root: Some(root),
        name: String::new(),
        dtype: head.element,
        shape: vec![constant(elements, false)].into(),
        scope: head.scope.clone(),
        vector: 1,
        stays: false,
    });
    Ok(())
}

/// For each buffer the number that its offset must be a multiple of, in bits: the least common multiple of
/// the element sizes of the buffer and of all its views.
pub(super) fn alignments(function: &Function) -> IndexVec<BufId, u64> {
    let mut alignments = IndexVec::filled(1, function.buffers.len());
    for (id, buffer) in function.buffers.iter_enumerated() {
        let alignment: &mut u64 = &mut alignments[function.root(id)];
        *alignment = least_common_multiple(*alignment, buffer.dtype.total_bits());
    }
    alignments
}

/// The least common multiple, by Euclid's algorithm. 0 counts as 1, and a result beyond 64 bits is `u64::MAX`.
pub(super) fn least_common_multiple(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a.max(1), b.max(1));
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a.max(1) / x).saturating_mul(b.max(1))
}

/// An extent as a constant: of 64 bits if `wide` or if 32 bits cannot hold it.
fn constant(value: u64, wide: bool) -> Expr {
    let value = i64::try_from(value).unwrap_or(i64::MAX);
    Expr::Int { value, dtype: if wide || i32::try_from(value).is_err() { DType::INT64 } else { DType::INT32 } }
}

/// Lays out an entry whose buffers all start at its beginning, as one allocation.
fn lay_out_single(
    function: &Function,
    entry: &Entry,
    limits: &[MemoryLimit],
    layout: &mut Layout,
) -> Result<(), RewriteError> {
    // The buffers have been moved to an arena.
    let Some(&root) = entry.buffers.first() else {
        return Ok(());
    };
    if entry.scope.is_special() {
        check_limit(&entry.scope, entry.bits, limits)?;
    }
    let declared = entry.buffers.iter().map(|&buffer| &function.buffers[buffer]);
    let first = &function.buffers[root];
    // Buffers with the same type and shape keep that shape, so their subscripts need no change. Otherwise the
    // allocation has one dimension that is long enough for each of them.
    let identical = declared.clone().all(|buffer| buffer.dtype == first.dtype && buffer.shape == first.shape);
    // The allocation has the type with the most lanes. An allocation of vectors can be read as scalars, and its
    // alignment suits both; an allocation of scalars may be aligned too little for vectors.
    let widest = declared
        .map(|buffer| buffer.dtype)
        .fold(first.dtype, |widest, dtype| if dtype.lanes > widest.lanes { dtype } else { widest });
    let shape = if identical {
        first.shape.clone()
    } else if entry.bits > 0 {
        vec![constant_extent(function, entry, widest)?].into()
    } else {
        vec![symbolic_extent(function, entry, widest)].into()
    };
    let allocation = layout.allocations.push(Allocation {
        attach: entry.attach,
        root: Some(root),
        name: String::new(),
        dtype: widest,
        shape,
        scope: entry.scope.clone(),
        vector: 1,
        stays: entry.alone,
    });
    for buffer in &entry.buffers {
        layout.places[*buffer] = Some(Place { allocation, bit_offset: 0 });
    }
    Ok(())
}

/// How many elements of `dtype` an allocation needs for the largest of its buffers. The number is written as a 64-bit
/// constant if an extent in the declaration of a buffer is one, or if the bits of a buffer do not fit an `int32`: the
/// original multiplies elements by bits before it divides, and 32 bits would overflow there.
fn constant_extent(function: &Function, entry: &Entry, dtype: DType) -> Result<Expr, RewriteError> {
    let unit = dtype.total_bits();
    let mut largest = 0;
    let mut wide = false;
    for buffer in &entry.buffers {
        let bits = constant_bits(function, *buffer)?;
        largest = largest.max(bits);
        let declared = &function.buffers[*buffer];
        let per_element = declared.dtype.total_bits();
        // The product of elements and bits per element, compared without computing it.
        wide |= bits / per_element.max(1) > (i32::MAX as u64) / per_element.max(1);
        wide |= declared.shape.iter().any(|extent| matches!(extent, Expr::Int { dtype, .. } if dtype.bits == 64));
    }
    // One more element for the bits that do not fill a whole one.
    let rest = u64::from(!largest.is_multiple_of(unit));
    Ok(constant(largest / unit + rest, wide))
}

/// How many elements of `dtype` an allocation needs for the largest of its buffers, if sizes are known only when the
/// function runs: an expression such as `max(n, m * 2)`. [`constant_extent`] is the same for sizes that are numbers.
fn symbolic_extent(function: &Function, entry: &Entry, dtype: DType) -> Expr {
    let unit = dtype.total_bits();
    let mut exact = true;
    let extents: Vec<Expr> = entry
        .buffers
        .iter()
        .map(|buffer| {
            let declared = &function.buffers[*buffer];
            let elements = declared.shape.iter().cloned().reduce(product).unwrap_or(Expr::int(1));
            let (extent, divides) = rescale(elements, declared.dtype.total_bits(), unit);
            exact &= divides;
            extent
        })
        .collect();
    // `max` wants two operands of one type. If one extent has 64 bits, the others are cast.
    let wide = extents.iter().any(|extent| extent.dtype(function).bits == 64);
    let widened = extents.into_iter().map(|extent| match extent {
        _ if !wide || extent.dtype(function).bits == 64 => extent,
        Expr::Int { value, .. } => Expr::Int { value, dtype: DType::INT64 },
        other => Expr::Cast { dtype: DType::INT64, value: Box::new(other) },
    });
    let largest = widened.reduce(|a, b| maximum(a, b, unit)).unwrap_or(Expr::int(0));
    // If some buffer's bits are no whole number of elements of `dtype`, `rescale` has rounded its extent down. One more
    // element makes up for the remainder of every such buffer, because each remainder is less than one element.
    if exact { largest } else { plus_one(largest) }
}

/// An error if an allocation of `bits` is larger than the limit that the options give for its memory.
pub(super) fn check_limit(scope: &StorageScope, bits: u64, limits: &[MemoryLimit]) -> Result<(), RewriteError> {
    let name = scope.to_string();
    match limits.iter().find(|limit| limit.scope == name) {
        Some(limit) if bits > limit.max_bits => {
            Err(RewriteError::ExceedsMemory { scope: name, bits, max_bits: limit.max_bits })
        }
        _ => Ok(()),
    }
}

impl Layout {
    /// Offset of a buffer in elements of `dtype`; `None` if it is not a whole number of them.
    pub fn element_offset(&self, root: BufId, dtype: DType) -> Option<u64> {
        let bits = self.places[root]?.bit_offset;
        bits.is_multiple_of(dtype.total_bits()).then(|| bits / dtype.total_bits())
    }
}
