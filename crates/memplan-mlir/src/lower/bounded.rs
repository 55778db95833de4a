//! Sizes that are only known at run time, and how large they can become.
//!
//! Tiled kernels cut the last tile short, so a buffer has the size of the smaller of two numbers, one of them constant:
//!
//! ```text
//!   %n = arith.minsi %left, %c256 : index
//!   %a = memref.alloc(%n) : memref<?xf16, #hivm.address_space<ub>>     at most 512 bytes
//! ```
//!
//! A mark `buffer_size_in_byte` says the same of any shape ([`marks`](super::marks)).

use memplan_core::Bytes;
use memplan_program::Size;

use super::origin::is_on_chip;
use crate::attribute::integer;
use crate::document::{Definition, Document, OpId, ValueId};
use crate::ty::{Layout, MemRef, split_commas};

/// How many ops are looked at for one size: expressions share parts, so the number of ways through one can be
/// exponential in its length.
const MOST_OPS: u32 = 64;

impl Document {
    /// The size of an allocation whose shape is not static, with the largest number of bytes it can come to.
    pub(super) fn bounded_size(&self, alloc: OpId, memref: &MemRef, symbol: &str) -> Size {
        let bound = (memref.layout == Layout::Identity).then(|| self.most_bytes(alloc, memref)).flatten();
        Size::Symbolic { symbol: symbol.into(), bound }
    }

    fn most_bytes(&self, alloc: OpId, memref: &MemRef) -> Option<Bytes> {
        let mut sizes = self.operands(alloc).iter();
        let mut count = 1u64;
        let mut budget = MOST_OPS;
        for dimension in memref.shape.as_deref()? {
            let length = match dimension {
                Some(length) => *length,
                None => u64::try_from(self.at_most(*sizes.next()?, &mut budget)?).ok()?,
            };
            count = count.checked_mul(length)?;
        }
        match is_on_chip(memref) {
            // Elements of less than a byte are packed there.
            true => Some(memplan_core::storage_bytes(memref.element.bits()?.checked_mul(count)?)),
            false => memref.element.stride_bytes()?.checked_mul(count),
        }
    }

    /// The largest number a value can be, if its ops tell.
    fn at_most(&self, value: ValueId, left: &mut u32) -> Option<i64> {
        let Definition::Result { op, .. } = self.value(value).definition else { return None };
        *left = left.checked_sub(1)?;
        let operands = self.operands(op);
        let mut bound = |at: usize| self.at_most(*operands.get(at)?, left);
        match self.name(op) {
            "arith.constant" | "index.constant" => self.constant(value),
            // A size is never negative, so signed and unsigned agree.
            "arith.minsi" | "arith.minui" | "index.mins" | "index.minu" => match (bound(0), bound(1)) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            },
            "arith.maxsi" | "arith.maxui" | "index.maxs" | "index.maxu" => Some(bound(0)?.max(bound(1)?)),
            "arith.select" => Some(bound(1)?.max(bound(2)?)),
            "arith.index_cast" | "arith.index_castui" | "arith.extsi" | "arith.extui" | "index.casts"
            | "index.castu" => bound(0),
            "affine.min" => self.affine_minimum(op),
            _ => None,
        }
    }

    /// The smallest constant among the results of the map of an `affine.min`.
    fn affine_minimum(&self, op: OpId) -> Option<i64> {
        let span = self.op(op).span;
        let text = self.text(span);
        let start = text.find("affine_map<").or_else(|| text.find('#'))?;
        let word = text[start..].split(['(', ' ', ',', '}']).next()?;
        let map = if word.starts_with('#') { self.alias(word, span)? } else { &text[start..] };
        let (_, results) = map.split_once("->")?;
        let list = results.split_once('(')?.1;
        // Results hold no parentheses of their own unless they are expressions, which end the list of constants early.
        let list = list.split(')').next()?;
        split_commas(list).into_iter().filter_map(|result| integer(result.trim())).min()
    }
}
