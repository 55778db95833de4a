//! Views that reach past the end of what they are views of.
//!
//! ```mlir
//! %a = memref.alloc() : memref<8xi8>
//! %v = memref.view %a[%c4][] : memref<8xi8> to memref<3xf32>    // bytes 4 to 16 of 8
//! ```
//!
//! Running such a program reads or writes foreign memory, and no plan can promise anything about it.
//! `mlir-opt` lets some of these views pass. Only what the text says for certain is judged: static types,
//! and offsets that are constants. An offset that is not known counts as 0, the smallest it can be.
//!
//! Allocations are checked here as well: one with too few or too many sizes is an error.
//!
//! The *root* of a value is the allocation or function argument behind a chain of views and casts.

use crate::bounds::Bound;
use crate::dialect::Traits;
use crate::document::{Definition, NameKind, OpId, ValueId};
use crate::ty::{Layout, MemRef};

use super::origin::stored_bytes;
use super::{LowerError, Lowering};

/// How far a view reaches and how much there is. `end` is one past the last byte or element of the view, `length`
/// counts what there is, both in `unit`; `what` names the thing that is viewed, for the message.
struct Reach {
    unit: &'static str,
    end: u64,
    what: Viewed,
    length: u64,
}

/// What a view is a view of, for the message. Most views are fine, so the words are only made for those that are not.
enum Viewed {
    Buffer,
    Dimension(usize),
}

impl Viewed {
    /// The words for the message.
    fn describe(&self) -> String {
        match self {
            Viewed::Buffer => "a buffer".to_owned(),
            Viewed::Dimension(dimension) => format!("dimension {dimension}"),
        }
    }
}

impl Lowering<'_> {
    /// Gives an error if a view certainly reaches past the end of its base, or if an allocation has another number of
    /// sizes than its type leaves open. All other ops are fine.
    pub(super) fn check_reach(&mut self, op: OpId) -> Result<(), LowerError> {
        if !self.document.kind(op).is(NameKind::REACHES) {
            return Ok(());
        }
        let reach = match self.document.name(op) {
            "memref.alloc" | "memref.alloca" => return self.check_sizes(op),
            "memref.view" => self.reach_of_view(op),
            "memref.subview" => self.reach_of_subview(op),
            "memref.reinterpret_cast" => self.reach_of_cast(op),
            _ => None,
        };
        match reach {
            Some(Reach { unit, end, what, length }) if end > length => {
                let what = what.describe();
                Err(LowerError::PastBase { unit, end, what, length, span: self.document.op(op).span })
            }
            _ => Ok(()),
        }
    }

    /// Gives an error unless an allocation has an operand for each size, stride and offset that its type leaves open
    /// (`?`). Types whose layout is a map are not judged, because it is not known here how many numbers the map
    /// takes; nor are memrefs of unknown rank.
    fn check_sizes(&self, op: OpId) -> Result<(), LowerError> {
        let Some(memref) = self.document.results(op).first().and_then(|&result| self.memref(result)) else {
            return Ok(());
        };
        let open_in_layout = match &memref.layout {
            Layout::Identity => 0,
            Layout::Strided { strides, offset } => strides.iter().chain([offset]).filter(|part| part.is_none()).count(),
            _ => return Ok(()),
        };
        let Some(shape) = &memref.shape else { return Ok(()) };
        let open_sizes = shape.iter().filter(|size| size.is_none()).count();
        let (found, expected) = (self.document.operands(op).len(), open_sizes + open_in_layout);
        if found == expected {
            return Ok(());
        }
        Err(LowerError::Sizes { found, expected, span: self.document.op(op).span })
    }

    /// The type of a value, if it is a memref.
    fn memref(&self, value: ValueId) -> Option<&MemRef> {
        self.document.ty(value).as_memref()
    }

    /// How far `memref.view %bytes[%offset][]` reaches, in bytes; `None` if a size is not known.
    fn reach_of_view(&self, op: OpId) -> Option<Reach> {
        let (&source, &result) = (self.document.operands(op).first()?, self.document.results(op).first()?);
        let offset = self.document.operands(op).get(1).and_then(|&offset| self.document.constant(offset));
        let start = u64::try_from(offset.unwrap_or(0)).ok()?;
        let end = start.checked_add(stored_bytes(self.memref(result)?)?.0)?;
        let length = stored_bytes(self.memref(source)?)?.0;
        Some(Reach { unit: "bytes", end, what: Viewed::Buffer, length })
    }

    /// How far a slice reaches in the first dimension in which it leaves its source, in elements; `None` if it leaves
    /// it in none that is known. An unknown stride counts as 1, the smallest it can be.
    fn reach_of_subview(&mut self, op: OpId) -> Option<Reach> {
        let document = self.document;
        let source = document.ty(*document.operands(op).first()?).as_memref()?;
        // The slice is kept for the lowering of this op, which follows.
        let slice = &self.slice.insert((op, document.slice(op)?)).1;
        // A bound as a number; `None` if it is only known at run time or negative.
        let known = |bound: &Bound| document.known(*bound).and_then(|number| u64::try_from(number).ok());
        let bounds = slice.offsets.iter().zip(&slice.sizes).zip(&slice.strides);
        // Each dimension of the source with its offset, size and stride in the slice.
        let dimensions = source.shape.as_deref()?.iter().zip(bounds).enumerate();
        let mut reaches = dimensions.filter_map(|(dimension, (&length, ((offset, size), stride)))| {
            // Index of the last element: offset + (size - 1) * stride. An empty slice reaches nowhere.
            let (offset, last) = (known(offset).unwrap_or(0), known(size)?.checked_sub(1)?);
            let end = offset.checked_add(last.checked_mul(known(stride).unwrap_or(1))?)?.checked_add(1)?;
            Some(Reach { unit: "elements", end, what: Viewed::Dimension(dimension), length: length? })
        });
        reaches.find(|reach| reach.end > reach.length)
    }

    /// How far `memref.reinterpret_cast` reaches, in elements; `None` if a size is not known, or if the memory is not
    /// from an allocation with the same element type. A cast counts from the start of the allocation, not of the
    /// value that it is given.
    fn reach_of_cast(&self, op: OpId) -> Option<Reach> {
        let root = self.root(*self.document.operands(op).first()?)?;
        let Definition::Result { op: root_op, .. } = self.document.value(root).definition else { return None };
        let allocated = self.document.info(root_op).traits.has(Traits::ALLOCATES);
        let (base, result) = (self.memref(root)?, self.memref(*self.document.results(op).first()?)?);
        let same_elements = base.element == result.element;
        let (end, length) = (last_element(result)?, last_element(base)?);
        (allocated && same_elements).then_some(Reach { unit: "elements", end, what: Viewed::Buffer, length })
    }
}

/// One past the last element of a memref, counted in elements from where its memory begins; `None` if a size, a
/// stride or the offset is not known.
fn last_element(memref: &MemRef) -> Option<u64> {
    let shape = memref.shape.as_deref()?.iter().copied().collect::<Option<Vec<u64>>>()?;
    if shape.contains(&0) {
        return Some(0);
    }
    match &memref.layout {
        Layout::Identity => shape.iter().try_fold(1_u64, |count, &length| count.checked_mul(length)),
        Layout::Strided { strides, offset } => {
            let mut last = u64::try_from((*offset)?).ok()?;
            for (length, stride) in shape.iter().zip(strides) {
                last = last.checked_add((length - 1).checked_mul(u64::try_from((*stride)?).ok()?)?)?;
            }
            last.checked_add(1)
        }
        Layout::Other(_) => None,
    }
}
