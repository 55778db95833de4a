//! Which memory the results of ops without regions are: new memory that a plan places (a *site*), a view of another
//! value, one of several values, or something unknown. For a view this also computes which bytes of its source it
//! covers.
//!
//! The answer is an `Origin`: `Derived` is a view of a value, with the bytes (`Extent`) that it covers; `Merged` is
//! one of several values; `Opaque` is any of some values or external memory; `External` is memory that is not ours to
//! place. The origin follows from the rules in the op's row. A rule (`AliasRule`) names operands, the position of a
//! result (`None`: the rule holds for every result) and a `Relation`: the result has the `Same` bytes as the operand,
//! is a `View` of a part of it, lies somewhere in the allocation (`Base`) that the operand is a view of, or is `Either`
//! of several operands.
//!
//! Ops are lowered in the order of the text, and an origin may only name values whose definitions have been lowered
//! ([`Lowering::is_settled`]). Valid MLIR may use a value before the text defines it: blocks need not stand in the
//! order in which they run. If an operand is not settled, the result is noted, and its sources are named when
//! everything is lowered ([`Lowering::named_later`]).

use memplan_core::Bytes;
use memplan_program::{ByteRange, Extent, OpDraft, Size};

use super::*;
use crate::bounds::Bound;
use crate::dialect::Relation;
use crate::document::Definition;
use crate::ty::{Layout, MemRef};

impl Lowering<'_> {
    /// Makes the program's values for those results of an op without regions that are memory, and adds them to the
    /// draft: a site for what is to be placed, and for all others a value that says which memory it is.
    pub(super) fn plain_results(&mut self, op: OpId, draft: &mut OpDraft) {
        for (index, &result) in self.document.results(op).iter().enumerate() {
            if !self.is_memory(result) {
                continue;
            }
            let id = if self.is_placed(op) {
                self.site(op, result)
            } else {
                let origin = self.origin(op, index);
                self.define(result, origin)
            };
            draft.add_result(id);
        }
    }

    /// Makes the program's site for an allocation, with its size, its memory space and its alignment. If the size is
    /// only known at run time, the site gets an upper bound where one is found ([`bounded`](super::bounded)).
    fn site(&mut self, op: OpId, result: ValueId) -> program::ValueId {
        let memref = self.document.ty(result).as_memref();
        let size = match memref {
            Some(memref) => {
                // Without a static size the text of the type is the name of the size (`symbol`).
                let unknown = || self.document.bounded_size(op, memref, self.document.type_text(result));
                allocated_bytes(memref).map_or_else(unknown, Size::Known)
            }
            None => unknown_size("?"),
        };
        let space = memref.and_then(|memref| memref.space.as_deref());
        let alignment = self.alignment(op, memref);
        let space = self.builder.space(space.unwrap_or("default"));
        // The value is made as external memory first, and `make_site` turns it into an allocation.
        let id = self.define(result, Origin::External);
        self.builder.make_site(id, size, space);
        if let Some(site) = self.builder.site_mut(id) {
            site.alignment = alignment;
            self.sites.push(op);
        }
        id
    }

    /// The alignment an allocation asks for, or that of its elements, in bytes.
    ///
    /// Bufferization writes `alignment = 64` on every allocation, for the cache lines of a CPU. In the memories of an
    /// NPU the device says what its instructions need, so for a buffer in such a memory an alignment of exactly 64 is
    /// ignored; any other number was written on purpose and counts. The alignment of the elements is used only if it
    /// is a power of two; otherwise (elements of 3 bytes, an unknown element type) the alignment is 1.
    fn alignment(&self, op: OpId, memref: Option<&MemRef>) -> Bytes {
        let on_chip = memref.and_then(|memref| Document::scope_name(memref.space.as_deref()?)).is_some();
        let asked = self.document.integer_attribute(op, "alignment");
        let asked = asked.and_then(|bytes| u64::try_from(bytes).ok()).filter(|&bytes| !(on_chip && bytes == 64));
        let element = memref.and_then(|memref| memref.element.stride_bytes());
        let natural = element.filter(|bytes| bytes.0.is_power_of_two());
        let bytes = asked.filter(|&bytes| bytes > 0).map(Bytes).or(natural);
        bytes.unwrap_or(Bytes(1))
    }

    /// Whether an op's result is memory that the plan is to place.
    fn is_placed(&self, op: OpId) -> bool {
        match self.subject {
            Subject::Buffers | Subject::Kernels => self.document.info(op).traits.has(Traits::PLACED),
            Subject::Workspaces => self.is_workspace(op),
        }
    }

    /// Which memory the result at `index` is. The first of these that knows the result decides: the rules for tensors,
    /// the summary of the called function, the first rule of the op's row that speaks of this result. A result that
    /// nothing speaks of is memory from outside of the program: an `alloca`, a global.
    fn origin(&mut self, op: OpId, index: usize) -> Origin {
        let document = self.document;
        // In an NPU kernel a tensor stands for memory, and so does a memref that is made of a tensor. `tensor_origin`
        // is `None` for every other result.
        if let Some(origin) = self.tensor_origin(op, index) {
            return origin;
        }
        if document.info(op).traits.has(Traits::CALL) {
            return self.call_result(op, index);
        }
        // A rule without a position (`result` is `None`) speaks of all results of its op.
        let rules = document.info(op).aliases.iter();
        let mut rules = rules.filter(|rule| rule.result.is_none_or(|r| r as usize == index));
        let Some(rule) = rules.next() else {
            return Origin::External;
        };
        let operands = &document.operands(op)[document.select(op, &rule.from)];
        let sources: Vec<ValueId> = operands.iter().copied().filter(|&value| self.is_memory(value)).collect();
        if let Some(later) = self.named_later(document.results(op)[index], &sources) {
            return later;
        }
        match (rule.relation, sources.first()) {
            // None of the operands that the rule names is memory, such as the tensor that a `to_buffer` turns into a
            // memref where tensors are not followed.
            (_, None) => Origin::External,
            (Relation::Same, Some(&source)) => self.same(source),
            (Relation::View, Some(&source)) => {
                let extent = self.extent(op, source, document.results(op)[index]);
                let base = self.value(source);
                Origin::Derived { base, extent }
            }
            (Relation::Base, Some(&source)) => self.base(source),
            (Relation::Either, Some(_)) => {
                // Two kinds of ops have this relation. A select (`arith.select`) is free of effects, and its result
                // is certainly one of its operands. An op without a row has the same rule but is not known to be free
                // of effects, and its result may also be other memory.
                let known = document.info(op).traits.has(Traits::EFFECT_FREE);
                let sources = sources.into_iter().map(|source| self.value(source)).collect();
                match known {
                    true => Origin::Merged(sources),
                    false => Origin::Opaque(sources),
                }
            }
        }
    }

    /// The memory of the result at `index` of a call. If the called function has a summary, the result is one of the
    /// arguments that the function may return at this position, or other memory where the summary says so. Without a
    /// summary the result may be any memory operand of the call, or other memory.
    fn call_result(&mut self, op: OpId, index: usize) -> Origin {
        let (from, other) = match self.summaries.result(op, index) {
            Some((from, other)) => {
                let operands = self.document.operands(op);
                let from = from.iter().filter_map(|&at| operands.get(at).copied());
                (from.collect(), other)
            }
            None => (self.memory_operands(op), true),
        };
        let from: Vec<ValueId> = from;
        if let Some(later) = self.named_later(self.document.results(op)[index], &from) {
            return later;
        }
        let sources: Box<[_]> = from.into_iter().map(|value| self.value(value)).collect();
        // `Merged` needs at least one source, so a result that is none of the arguments is opaque.
        match other || sources.is_empty() {
            true => Origin::Opaque(sources),
            false => Origin::Merged(sources),
        }
    }

    /// Whether a value's definition has been lowered, or never will be because nothing in the text defines the value.
    /// What has not been lowered yet cannot be named as a source: see [`late`](super::late).
    pub(super) fn is_settled(&self, value: ValueId) -> bool {
        self.defined[value] || self.document.value(value).definition == Definition::Unresolved
    }

    /// The very bytes of another value, all of them. If the number of bytes is known, the result is a view of the bytes
    /// from 0 to that number. Otherwise `Merged` with a single source says the same without a range.
    fn same(&mut self, source: ValueId) -> Origin {
        let bytes = self.document.ty(source).as_memref().and_then(stored_bytes);
        let base = self.value(source);
        match bytes {
            Some(bytes) => Origin::Derived { base, extent: Extent::Exactly(ByteRange::new(0, bytes.0)) },
            None => Origin::Merged(Box::new([base])),
        }
    }

    /// Memory somewhere in the allocation that a value is a view of. `memref.reinterpret_cast` and ops like it may
    /// reach bytes outside of the view they are given.
    fn base(&mut self, source: ValueId) -> Origin {
        match self.root(source) {
            Some(root) => Origin::Derived { base: self.value(root), extent: Extent::Anywhere },
            None => Origin::Opaque(Box::new([self.value(source)])),
        }
    }

    /// The allocation, the external memory (a global) or the function argument at the start of a chain of views and
    /// casts that ends in `value`. `None` if the chain passes a value that control flow hands over, one that may be
    /// several others, the result of an op whose row has no rule for it, or a name that nothing defines. `None` also if
    /// the chain never ends: in code that control does not reach, two views may be of each other.
    pub(super) fn root(&self, value: ValueId) -> Option<ValueId> {
        let document = self.document;
        let mut value = value;
        // A chain without a circle passes each value once.
        for _ in document.value_ids() {
            let op = match document.value(value).definition {
                // An argument of a function is memory that comes from its caller. An argument of any other block may
                // be several values, depending on where control comes from.
                Definition::Argument { block, .. } => {
                    let parent = document.block_parent(block)?;
                    let function = document.info(parent).flow == Flow::Function;
                    return function.then_some(value);
                }
                Definition::Result { op, .. } => op,
                Definition::Unresolved => return None,
            };
            let info = document.info(op);
            if info.traits.has(Traits::ALLOCATES) || info.traits.has(Traits::EXTERNAL) {
                return Some(value);
            }
            // A view or a cast has one rule, and the first operand that the rule names is what it is a view of.
            let rule = info.aliases.first().filter(|rule| rule.relation != Relation::Either)?;
            value = *document.operands(op)[document.select(op, &rule.from)].first()?;
        }
        None
    }

    /// Which bytes of its source a view consists of. Only the offsets of `memref.subview` and `memref.view` are read;
    /// any other view may be anywhere in its source.
    fn extent(&self, op: OpId, source: ValueId, result: ValueId) -> Extent {
        let known = match self.document.name(op) {
            "memref.subview" => self.subview_extent(op, source),
            "memref.view" => self.view_extent(op, result),
            _ => None,
        };
        known.unwrap_or(Extent::Anywhere)
    }

    /// The bytes of `memref.view %bytes[%offset][] : memref<…xi8> to memref<…>`, if the offset is a constant and the
    /// result has a known size.
    fn view_extent(&self, op: OpId, result: ValueId) -> Option<Extent> {
        let offset = self.document.constant(*self.document.operands(op).get(1)?)?;
        let start = Bytes(u64::try_from(offset).ok()?);
        let length = stored_bytes(self.document.ty(result).as_memref()?)?;
        let end = start.checked_add(length)?;
        Some(Extent::Exactly(ByteRange { start, end }))
    }

    /// The bytes of the source that a subview covers, if all its offsets, sizes and strides are known.
    fn subview_extent(&self, op: OpId, source: ValueId) -> Option<Extent> {
        let memref = self.document.ty(source).as_memref()?;
        // Elements of less than a byte are packed on chip, so a slice need not begin at a byte.
        if is_on_chip(memref) && memref.element.bits().is_none_or(|bits| bits % 8 != 0) {
            return None;
        }
        let kept = self.slice.as_ref().filter(|(kept, _)| *kept == op).map(|(_, slice)| Cow::Borrowed(slice));
        let slice = kept.or_else(|| self.document.slice(op).map(Cow::Owned))?;
        // A list of bounds as numbers; `None` if one of them is only known at run time or negative.
        let known = |bounds: &[Bound]| -> Option<Dimensions> {
            let number = |bound: &Bound| u64::try_from(self.document.known(*bound)?).ok();
            bounds.iter().map(number).collect()
        };
        let (offsets, sizes) = (known(&slice.offsets)?, known(&slice.sizes)?);
        let steps = known(&slice.strides)?;
        let strides = element_strides(memref)?;
        slice_extent(&offsets, &sizes, &steps, &strides, memref.element.stride_bytes()?)
    }
}

/// A number for each dimension; hardly any memref has more than four.
type Dimensions = SmallVec<[u64; 4]>;

/// Whether a memref lies in a memory of an NPU. That memory packs elements of less than a byte; elsewhere each of
/// them takes at least one byte.
pub(super) fn is_on_chip(memref: &MemRef) -> bool {
    memref.space.as_deref().is_some_and(|space| Document::scope_name(space).is_some())
}

/// Bytes of a memref with the identity layout and a static shape. `None` for all others, for elements of unknown size,
/// and if the number of bytes overflows.
pub(super) fn stored_bytes(memref: &MemRef) -> Option<Bytes> {
    if !is_on_chip(memref) {
        return memref.bytes();
    }
    let plain = memref.layout == Layout::Identity;
    let bits = memref.element.bits()?.checked_mul(memref.element_count()?)?;
    plain.then(|| memplan_core::storage_bytes(bits))
}

/// Bytes that an allocation takes; `None` if they are not known. A layout with strides may leave gaps between rows. In
/// on-chip memory the bytes are counted from the start of the memory up to the last element, gaps and offset included.
/// In other memories only a layout without gaps has a known size.
pub(crate) fn allocated_bytes(memref: &MemRef) -> Option<Bytes> {
    let Layout::Strided { strides, offset } = &memref.layout else { return stored_bytes(memref) };
    if !is_on_chip(memref) {
        return memref.dense_bytes();
    }
    // The position of the last element, counted in elements from the start of the memory.
    let mut last = u64::try_from((*offset)?).ok()?;
    for (dimension, stride) in memref.shape.as_deref()?.iter().zip(strides) {
        let length = (*dimension)?;
        if length == 0 {
            return Some(Bytes::ZERO);
        }
        last = last.checked_add((length - 1).checked_mul(u64::try_from((*stride)?).ok()?)?)?;
    }
    let bits = last.checked_add(1)?.checked_mul(memref.element.bits()?)?;
    Some(memplan_core::storage_bytes(bits))
}

/// A size without an upper bound.
fn unknown_size(symbol: &str) -> Size {
    Size::Symbolic { symbol: symbol.into(), bound: None }
}

/// Distance between neighbours in each dimension, in elements, outermost dimension first; `None` if one of them is
/// not known. `memref<2x3x4xf32>` has 12, 4, 1.
fn element_strides(memref: &MemRef) -> Option<Dimensions> {
    match &memref.layout {
        Layout::Identity => {
            let mut strides = Dimensions::new();
            let mut stride = 1u64;
            // From the innermost dimension outwards, each stride is the product of the lengths inside.
            for dimension in memref.shape.as_deref()?.iter().rev() {
                strides.push(stride);
                stride = stride.checked_mul((*dimension)?)?;
            }
            strides.reverse();
            Some(strides)
        }
        Layout::Strided { strides, .. } => strides.iter().map(|stride| u64::try_from((*stride)?).ok()).collect(),
        Layout::Other(_) => None,
    }
}

/// The bytes of a slice, relative to its source's first element. `steps` are the slice's own strides, `strides` those
/// of the source in elements, `element` the bytes of an element. `None` if the slice is empty, if a list has another
/// length than the source has dimensions, or if a number overflows.
///
/// ```text
///   memref<_x16xf32>, offsets [0, 4], sizes [2, 4]:   elements 4..8 and 20..24, so bytes within 16..96
///   memref<_x16xf32>, offsets [2, 0], sizes [3, 16]:  rows 2, 3 and 4, so exactly the bytes 128..320
/// ```
fn slice_extent(offsets: &[u64], sizes: &[u64], steps: &[u64], strides: &[u64], element: Bytes) -> Option<Extent> {
    let rank = strides.len();
    if [offsets.len(), sizes.len(), steps.len()] != [rank; 3] {
        return None;
    }
    if sizes.contains(&0) {
        return None;
    }
    // The first element of the slice, counted from the source's first element, and the last one, counted from `first`.
    let mut first = 0u64;
    let mut last = 0u64;
    // The slice has no gaps if one step in each dimension is as long as everything inside of that dimension. `expected`
    // is this length, in elements. A dimension of size 1 takes no step.
    let mut dense = true;
    let mut expected = 1u64;
    for dimension in (0..rank).rev() {
        let step = steps[dimension].checked_mul(strides[dimension])?;
        first = first.checked_add(offsets[dimension].checked_mul(strides[dimension])?)?;
        last = last.checked_add((sizes[dimension] - 1).checked_mul(step)?)?;
        if sizes[dimension] > 1 {
            dense &= step == expected;
            expected = expected.checked_mul(sizes[dimension])?;
        }
    }
    let start = element.checked_mul(first)?;
    let length = element.checked_mul(last.checked_add(1)?)?;
    let end = start.checked_add(length)?;
    let range = ByteRange { start, end };
    Some(match dense {
        true => Extent::Exactly(range),
        false => Extent::Within(range),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_become_byte_ranges() {
        let row = slice_extent(&[2, 0], &[1, 16], &[1, 1], &[16, 1], Bytes(4));
        assert_eq!(row, Some(Extent::Exactly(ByteRange::new(128, 192))));
        let rows = slice_extent(&[2, 0], &[3, 16], &[1, 1], &[16, 1], Bytes(4));
        assert_eq!(rows, Some(Extent::Exactly(ByteRange::new(128, 320))));
        let tile = slice_extent(&[0, 4], &[2, 4], &[1, 1], &[16, 1], Bytes(4));
        assert_eq!(tile, Some(Extent::Within(ByteRange::new(16, 96))));
        let stepped = slice_extent(&[0], &[4], &[2], &[1], Bytes(4));
        assert_eq!(stepped, Some(Extent::Within(ByteRange::new(0, 28))));
        assert_eq!(slice_extent(&[0], &[0], &[1], &[1], Bytes(4)), None);
        assert_eq!(slice_extent(&[u64::MAX], &[2], &[1], &[2], Bytes(4)), None);
    }
}
