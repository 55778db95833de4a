//! Ops that do nothing if their result lies in the right place.
//!
//! There are three families. Two of them ask that all dimensions in front of an axis be 1,
//! because then each part of a tensor along that axis is contiguous:
//!
//! - *views*: a reshape, an identity, a slice along one axis with only ones in
//!   front of it. The generated code does nothing for them, so their result must
//!   lie in their operand, some bytes from its start. The planner has no choice.
//! - *updates*: `tpu.Insert` and `tpu.AutoIncrease` change their operand where it lies.
//! - *concats* along an axis with only ones in front of it. If every operand was
//!   written to its place inside the result in the first place, there is nothing
//!   left to do: the concat is *merged*. If not, the op copies. The planner chooses
//!   one of the two, and `only_merge` tells the code generator which it is.
//!
//! ```text
//!   concat(a, b) ─► r        merged    |a.....|b...|   r begins where a begins
//!                                      |r..........|
//! ```

use smallvec::SmallVec;

use super::chip::Chip;
use super::tensor::{Batches, Shape};
use crate::{Document, OpId};

/// How a result relates to an operand, where the op moves no data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InPlace {
    /// The result is the operand from byte `at` on.
    View { operand: usize, at: u64 },
    /// The result is the operand with some of its content replaced.
    Update { operand: usize },
}

/// An op with the shapes of its operands and results; `None` for a value that is no tensor.
pub(super) struct Shaped<'a> {
    pub(super) document: &'a Document,
    pub(super) op: OpId,
    pub(super) operands: SmallVec<[Option<Shape>; 2]>,
    pub(super) results: SmallVec<[Option<Shape>; 1]>,
    /// Whether the function's shapes may change from run to run.
    pub(super) is_dynamic: bool,
}

impl Shaped<'_> {
    /// The shape of an operand; `None` if it is no tensor or not there.
    fn operand(&self, index: usize) -> Option<&Shape> {
        self.operands.get(index)?.as_ref()
    }

    /// The shape of the first result.
    fn result(&self) -> Option<&Shape> {
        self.results.first()?.as_ref()
    }

    /// How the op's only result relates to an operand, if the op moves no data; `None` for an op that computes its
    /// results into memory of their own.
    pub(super) fn in_place(&self) -> Option<InPlace> {
        if self.results.len() != 1 {
            return None;
        }
        let (source, result) = (self.operand(0)?, self.result()?);
        // An op whose result has another size than its operand cannot leave the data as they are, whatever its name
        // says.
        match self.document.name(self.op) {
            "tpu.Reshape" => {
                // Where several batches share a word, another number of batches means another order of the elements.
                let repacked = source.batches != Batches::Apart && source.batch_count() != result.batch_count();
                let same = source.bytes() == result.bytes() && !repacked;
                same.then_some(InPlace::View { operand: 0, at: 0 })
            }
            "tpu.Identity" | "tpu.Weight2Activation" => {
                (source.bytes() == result.bytes()).then_some(InPlace::View { operand: 0, at: 0 })
            }
            "tpu.Insert" | "tpu.AutoIncrease" => {
                (source.bytes() == result.bytes()).then_some(InPlace::Update { operand: 0 })
            }
            "tpu.Slice" => self.slice_offset(source, result).map(|at| InPlace::View { operand: 0, at }),
            _ => None,
        }
    }

    /// The byte of its operand at which a slice begins; `None` if the slice is not a contiguous part of the operand
    /// that is known when compiling. It is one if it takes every element (all steps are 1) of a range of one axis,
    /// and the dimensions in front of that axis are 1.
    fn slice_offset(&self, source: &Shape, result: &Shape) -> Option<u64> {
        // Further operands that are tensors hold offsets or ends that are computed when the network runs.
        let given_at_run_time = self.operands.iter().skip(1).any(Option::is_some);
        let offsets = self.document.integers_attribute(self.op, "offset")?;
        let steps = self.document.integers_attribute(self.op, "steps")?;
        let rank = source.dims.len();
        let ranks_agree = result.dims.len() == rank && offsets.len() == rank && steps.len() == rank;
        if self.is_dynamic || given_at_run_time || !ranks_agree || steps.iter().any(|&step| step != 1) {
            return None;
        }
        // Whether the slice leaves out a part of this axis.
        let cropped = |axis: &usize| source.dims[*axis] != result.dims[*axis];
        let axes: Vec<usize> = (0..rank).filter(cropped).collect();
        let [axis] = *axes.as_slice() else { return None };
        // A negative offset counts from the end of the axis.
        let length = i64::try_from(source.dims[axis]).ok()?;
        let from_start = if offsets[axis] < 0 { offsets[axis].checked_add(length)? } else { offsets[axis] };
        let at = source.offset(axis, u64::try_from(from_start).ok()?)?;
        // An offset beyond the operand is a mistake in the text; the op is then taken for one that computes.
        let inside = at.checked_add(result.bytes())? <= source.bytes();
        inside.then_some(at)
    }

    /// The bytes of its result at which the operands of a concat begin: for operands of 6 and 4 bytes, 0 and 6.
    /// `None` if the op is no concat, or one that cannot be merged.
    pub(super) fn concat_places(&self, chip: &Chip) -> Option<Vec<u64>> {
        if self.document.name(self.op) != "tpu.Concat" || self.is_dynamic || self.results.len() != 1 {
            return None;
        }
        let result = self.result()?;
        // An axis that is not written is 1. A negative one counts from the last dimension.
        let axis = self.document.integer_attribute(self.op, "axis").unwrap_or(1);
        let rank = i64::try_from(result.dims.len()).ok()?;
        let axis = usize::try_from(if axis < 0 { axis + rank } else { axis }).ok()?;
        // A concat with an activation computes something, and a chip that packs batches stores the elements in
        // another order. In both cases the op has work to do even if its operands lie in the right place.
        let has_relu = self.document.integer_attribute(self.op, "do_relu").is_some_and(|flag| flag != 0);
        let repacked = chip.packs_batches && (result.quantised || result.batches != Batches::Apart);
        if has_relu || repacked || !result.is_single_before(axis) || axis >= result.dims.len() {
            return None;
        }
        let mut places = Vec::with_capacity(self.operands.len());
        let mut end = 0u64;
        for operand in &self.operands {
            let operand = operand.as_ref()?;
            // An operand must begin and end at whole bytes, or its neighbour would begin inside of a byte.
            let whole_bytes = operand.elements(0)?.checked_mul(operand.bits)?.is_multiple_of(8);
            if !whole_bytes || operand.bits != result.bits {
                return None;
            }
            places.push(end);
            end = end.checked_add(operand.bytes())?;
        }
        // The sizes must add up. If they do not, the shapes contradict each other and nothing can be merged.
        (end == result.bytes() && !places.is_empty()).then_some(places)
    }
}
