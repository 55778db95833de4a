//! Sizes that are only known at run time, and how large they can become.
//!
//! Tiled kernels cut the last tile short, so a buffer has the size of the smaller of two numbers, one of them constant:
//!
//! ```text
//!   %n = arith.minsi %left, %c256 : index
//!   %a = memref.alloc(%n) : memref<?xf16, #hivm.address_space<ub>>     at most 512 bytes
//! ```
//!
//! The other ways to say so: `select` with a comparison, the remainder of a division by a constant, the number of an
//! iteration, `min(%x + 64, %n) - %x`, affine maps ([`affine`](super::affine)), masks and shifts, the dimension of a
//! buffer or slice whose size is bounded, what the branches of an `scf.if` or the iterations of an `scf.for` hand on,
//! and an `scf.if` around the allocation that asks whether the size is small enough.
//!
//! A mark `buffer_size_in_byte` says the same of any shape ([`marks`](super::marks)).
//!
//! The search starts at a size operand of the allocation and goes backwards through the ops that compute it. Each
//! function gives the largest number that something can be, or `None` if no bound is found.

use memplan_core::Bytes;
use memplan_program::Size;

use super::origin::is_on_chip;
use crate::bounds::Bound;
use crate::document::{Definition, Document, OpId, ValueId};
use crate::ty::{Layout, MemRef, Type};

/// How many ops are looked at for the sizes of one allocation. Expressions share parts, so the number of ways through
/// one can be exponential in its length: with `%b = %a + %a`, `%c = %b + %b`, … each op doubles it.
const MOST_OPS: u32 = 64;

/// How many ops may lie between a number and the constants or dimensions that show that it is not negative. An op has
/// two operands at most here, so no more than 2^8 ops are looked at.
const SIGN_DEPTH: u32 = 8;

/// A negative `index` that is divided by at most this number, as an unsigned one, is still 2^43 or more.
const LARGEST_DIVISOR_OF_SIZES: i64 = 1 << 20;

/// What the search for the bounds of one allocation's sizes knows.
struct Search {
    /// How many more ops it may look at.
    left: u32,
    /// Conditions that decide whether the allocation runs, each with the answer it needs.
    guards: Vec<(ValueId, bool)>,
    /// Results of `scf.if` and `scf.for` and values carried by loops whose bound is being looked for. If the search
    /// comes across one of them again, it has gone round a loop.
    open: Vec<ValueId>,
}

impl Document {
    /// The size of an allocation whose shape is not static, with the largest number of bytes it can come to, if a
    /// bound is found. `symbol` is the text of the type and names the size. Of a layout that is not the identity no
    /// bound is looked for.
    pub(super) fn bounded_size(&self, alloc: OpId, memref: &MemRef, symbol: &str) -> Size {
        let bound = (memref.layout == Layout::Identity).then(|| self.most_bytes(alloc, memref)).flatten();
        Size::Symbolic { symbol: symbol.into(), bound }
    }

    /// How many bytes an allocation has at most; `None` unless each of its dynamic dimensions has a bound. The
    /// operands of the allocation are the sizes of the dynamic dimensions, in order.
    fn most_bytes(&self, alloc: OpId, memref: &MemRef) -> Option<Bytes> {
        // All sizes of one allocation are found by one search, so that its limit holds for all of them together.
        let mut sizes = self.operands(alloc).iter();
        let mut count = 1u64;
        let mut search = Search { left: MOST_OPS, guards: self.guards(alloc), open: Vec::new() };
        for dimension in memref.shape.as_deref()? {
            let length = match dimension {
                Some(length) => *length,
                None => u64::try_from(self.at_most(*sizes.next()?, &mut search)?).ok()?,
            };
            count = count.checked_mul(length)?;
        }
        match is_on_chip(memref) {
            // On-chip memory packs elements of less than a byte.
            true => Some(memplan_core::storage_bytes(memref.element.bits()?.checked_mul(count)?)),
            false => memref.element.stride_bytes()?.checked_mul(count),
        }
    }

    /// The largest number a value can be: the smallest of the bounds that the ops that compute it and the conditions
    /// around the allocation give. `None` if none of them gives one.
    fn at_most(&self, value: ValueId, search: &mut Search) -> Option<i64> {
        let told = self.told_by_ops(value, search);
        let guarded = search.guards.iter().filter_map(|&(condition, holds)| self.limit_in(condition, value, holds));
        told.into_iter().chain(guarded).min()
    }

    /// An upper bound of a value, from the op or loop that defines it; `None` if there is none or the search has
    /// looked at too many ops.
    fn told_by_ops(&self, value: ValueId, search: &mut Search) -> Option<i64> {
        match self.value(value).definition {
            Definition::Result { op, .. } if !matches!(self.name(op), "scf.if" | "scf.for") => {
                search.left = search.left.checked_sub(1)?;
                self.most_of_op(op, search)
            }
            // The first argument of an `scf.for` is its index, which stays below the loop's upper bound (operand 1).
            Definition::Argument { block, index: 0 } => {
                let around = self.region(self.block(block).parent).parent?;
                let upper = (self.name(around) == "scf.for").then(|| self.operands(around).get(1)).flatten()?;
                // The last index is one less than the upper bound, whatever the step is.
                search.left = search.left.checked_sub(1)?;
                self.at_most(*upper, search)?.checked_sub(1)
            }
            _ => self.most_of_sources(value, search),
        }
    }

    /// An upper bound of the result of an op that computes a number; `None` if the op is not listed here or an
    /// operand that matters has no bound. Sizes are taken to be never negative.
    fn most_of_op(&self, op: OpId, search: &mut Search) -> Option<i64> {
        match self.name(op) {
            "arith.constant" | "index.constant" => self.constant(*self.results(op).first()?),
            // One bounded operand is enough to bound a minimum.
            "arith.minsi" | "index.mins" => {
                let limits = [self.operand_at_most(op, 0, search), self.operand_at_most(op, 1, search)];
                limits.into_iter().flatten().min()
            }
            "arith.minui" | "index.minu" => self.most_of_unsigned_minimum(op, search),
            // Either of them is one of its operands, so it is no larger than the larger bound.
            "arith.maxsi" | "index.maxs" | "arith.maxui" | "index.maxu" => {
                Some(self.operand_at_most(op, 0, search)?.max(self.operand_at_most(op, 1, search)?))
            }
            "arith.select" => self.most_of_select(op, search),
            "arith.addi" | "index.add" => {
                self.operand_at_most(op, 0, search)?.checked_add(self.operand_at_most(op, 1, search)?)
            }
            "arith.subi" | "index.sub" => {
                let &[from, less] = self.operands(op) else { return None };
                // `min(x + 64, n) - x` is at most 64, whatever `x` is. Otherwise only a constant can be subtracted
                // from a bound, because an unknown number may be 0.
                let apart = self.above(from, less, MOST_OPS);
                apart.or_else(|| self.at_most(from, search)?.checked_sub(self.positive_constant(op, 1)?))
            }
            "arith.muli" | "index.mul" => match (self.positive_constant(op, 0), self.positive_constant(op, 1)) {
                (_, Some(times)) => self.operand_at_most(op, 0, search)?.checked_mul(times),
                (Some(times), _) => self.operand_at_most(op, 1, search)?.checked_mul(times),
                _ => None,
            },
            // A remainder is smaller than the divisor.
            "arith.remsi" | "arith.remui" | "index.rems" | "index.remu" => {
                self.positive_constant(op, 1)?.checked_sub(1)
            }
            "arith.divsi" | "arith.floordivsi" | "index.divs" => {
                Some(self.operand_at_most(op, 0, search)?.max(0) / self.positive_constant(op, 1)?)
            }
            "arith.divui" | "index.divu" => {
                let by = self.positive_constant(op, 1)?;
                Some(self.dividend_at_most(op, by, search)? / by)
            }
            "arith.ceildivsi" | "index.ceildivs" => {
                let by = self.positive_constant(op, 1)?;
                Some(self.operand_at_most(op, 0, search)?.max(0).checked_add(by - 1)? / by)
            }
            "arith.ceildivui" | "index.ceildivu" => {
                let by = self.positive_constant(op, 1)?;
                Some(self.dividend_at_most(op, by, search)?.checked_add(by - 1)? / by)
            }
            "arith.index_cast" | "arith.extsi" | "index.casts" => self.operand_at_most(op, 0, search),
            "arith.index_castui" | "arith.extui" | "index.castu" => self.unsigned_at_most(op, 0, search),
            "arith.andi" | "index.and" => self.most_of_mask(op, search),
            "arith.shrsi" | "index.shrs" => {
                let by = u32::try_from(self.constant_operand(op, 1)?).ok()?;
                self.operand_at_most(op, 0, search)?.max(0).checked_shr(by)
            }
            "arith.shrui" | "index.shru" => {
                let by = u32::try_from(self.constant_operand(op, 1)?).ok()?;
                self.dividend_at_most(op, 1_i64.checked_shl(by)?, search)?.checked_shr(by)
            }
            "arith.shli" | "index.shl" => {
                // The factor `1 << by` must fit an `i64`: the largest one is 2^61.
                let by = u32::try_from(self.constant_operand(op, 1)?).ok().filter(|&by| by < 62)?;
                self.operand_at_most(op, 0, search)?.max(0).checked_mul(1 << by)
            }
            "memref.dim" => {
                let at = usize::try_from(self.constant_operand(op, 1)?).ok()?;
                self.most_of_dimension(*self.operands(op).first()?, at, search)
            }
            // Of a minimum one bounded result is enough, of a maximum every result needs a bound.
            "affine.min" => self.most_of_map(op, search)?.into_iter().flatten().min(),
            "affine.max" => self.most_of_map(op, search)?.into_iter().collect::<Option<Vec<_>>>()?.into_iter().max(),
            "affine.apply" => self.most_of_map(op, search)?.into_iter().next()?,
            _ => None,
        }
    }

    /// The largest number that the operand at a position can be.
    fn operand_at_most(&self, op: OpId, at: usize, search: &mut Search) -> Option<i64> {
        self.at_most(*self.operands(op).get(at)?, search)
    }

    /// The same, for an op that takes the operand as an unsigned number. A negative number is a very large one then: as
    /// an unsigned number of 8 bits, -56 is 200. So there is a bound only if the operand is never negative.
    fn unsigned_at_most(&self, op: OpId, at: usize, search: &mut Search) -> Option<i64> {
        let limit = self.operand_at_most(op, at, search)?;
        self.is_never_negative(*self.operands(op).get(at)?, SIGN_DEPTH).then_some(limit)
    }

    /// The bound of what an unsigned op divides by the number `by`. An `index` is taken to be a size, and not negative:
    /// a negative one would be 2^63 or more, and a buffer of as many elements, divided by a small number, has room in no
    /// memory. Integers of fewer bits, and large divisors, must be shown not to be negative.
    fn dividend_at_most(&self, op: OpId, by: i64, search: &mut Search) -> Option<i64> {
        let &dividend = self.operands(op).first()?;
        match *self.ty(dividend) == Type::Index && (1..=LARGEST_DIVISOR_OF_SIZES).contains(&by) {
            true => self.at_most(dividend, search).filter(|&most| most >= 0),
            false => self.unsigned_at_most(op, 0, search),
        }
    }

    /// An upper bound of an unsigned minimum: `minui(-5, 100)` is 100. So one bounded operand is enough only if it is
    /// never negative; otherwise the result may be either operand.
    fn most_of_unsigned_minimum(&self, op: OpId, search: &mut Search) -> Option<i64> {
        let sizes = [self.unsigned_at_most(op, 0, search), self.unsigned_at_most(op, 1, search)];
        let least = sizes.into_iter().flatten().min();
        least.or_else(|| Some(self.operand_at_most(op, 0, search)?.max(self.operand_at_most(op, 1, search)?)))
    }

    /// Whether a value is certainly not negative. `left` limits how many ops lie between the value and what decides it.
    fn is_never_negative(&self, value: ValueId, left: u32) -> bool {
        if let Some(number) = self.constant(value) {
            return number >= 0;
        }
        let Some(left) = left.checked_sub(1) else { return false };
        let op = match self.value(value).definition {
            Definition::Result { op, .. } => op,
            // The index of an `scf.for` is never below its lower bound (operand 0): steps are positive.
            Definition::Argument { block, index: 0 } => {
                let around = self.region(self.block(block).parent).parent;
                let lower = around.filter(|&op| self.name(op) == "scf.for").and_then(|op| self.operands(op).first());
                return lower.is_some_and(|&lower| self.is_never_negative(lower, left));
            }
            _ => return false,
        };
        let is_size = |at: usize| self.operands(op).get(at).is_some_and(|&one| self.is_never_negative(one, left));
        match self.name(op) {
            "memref.dim" | "arith.extui" | "index.castu" => true,
            "arith.index_castui" | "arith.index_cast" | "arith.extsi" | "index.casts" => is_size(0),
            "arith.addi" | "index.add" | "arith.muli" | "index.mul" | "arith.minsi" | "index.mins" => {
                is_size(0) && is_size(1)
            }
            "arith.maxsi" | "index.maxs" | "arith.andi" | "index.and" => is_size(0) || is_size(1),
            "arith.select" => is_size(1) && is_size(2),
            // What a positive constant divides keeps its sign; a remainder has the sign of what is divided.
            "arith.divsi" | "arith.ceildivsi" | "arith.floordivsi" | "index.divs" | "index.ceildivs"
            | "arith.remsi" | "index.rems" => is_size(0) && self.positive_constant(op, 1).is_some(),
            // Unsigned: the sign is a bit like any other, and these ops clear it.
            "arith.remui" | "index.remu" => self.positive_constant(op, 1).is_some(),
            "arith.divui" | "index.divu" => self.positive_constant(op, 1).is_some_and(|by| by > 1) || is_size(0),
            "arith.minui" | "index.minu" => is_size(0) || is_size(1),
            "arith.shrui" | "index.shru" | "arith.shrsi" | "index.shrs" => is_size(0),
            _ => false,
        }
    }

    /// The operand at a position, if it is a constant.
    fn constant_operand(&self, op: OpId, at: usize) -> Option<i64> {
        self.constant(*self.operands(op).get(at)?)
    }

    /// The operand at a position, if it is a constant by which a bound can be multiplied or divided.
    fn positive_constant(&self, op: OpId, at: usize) -> Option<i64> {
        self.constant_operand(op, at).filter(|&number| number > 0)
    }

    /// An upper bound of `arith.select`: the larger one of its two choices, each under the condition that chooses it.
    fn most_of_select(&self, op: OpId, search: &mut Search) -> Option<i64> {
        let &[condition, one, other] = self.operands(op) else { return None };
        // The first choice is taken where the condition holds, the second one where it does not.
        let [yes, no] = [(one, true), (other, false)].map(|(chosen, holds)| {
            let limit = self.limit_in(condition, chosen, holds);
            self.at_most(chosen, search).into_iter().chain(limit).min()
        });
        Some(yes?.max(no?))
    }

    /// An upper bound of `x & mask` with a constant mask. The result is no larger than a mask that is not negative. A
    /// negative mask only clears bits of `x`, so the result is no larger than `x`.
    fn most_of_mask(&self, op: OpId, search: &mut Search) -> Option<i64> {
        let (masked, mask) = match (self.constant_operand(op, 0), self.constant_operand(op, 1)) {
            (_, Some(mask)) => (0, mask),
            (Some(mask), _) => (1, mask),
            _ => return None,
        };
        if mask < 0 { self.operand_at_most(op, masked, search) } else { Some(mask) }
    }

    /// Upper bounds of the results of an affine op's map, `None` for a result without one; no list at all if the map
    /// cannot be read.
    fn most_of_map(&self, op: OpId, search: &mut Search) -> Option<Vec<Option<i64>>> {
        self.most_of_results(op, |at| self.operand_at_most(op, at, search))
    }

    /// The largest number that a result of an `scf.if` or `scf.for`, or a value that an `scf.for` carries, can be: the
    /// largest bound of the values that are handed on to it. `None` if one of these has no bound.
    ///
    /// If the search meets the value itself again (a loop computes it from its previous iteration), it gives up: such a
    /// value may grow with every iteration. The conditions around the allocation are left out, because a value may come
    /// from an iteration in which they did not hold.
    fn most_of_sources(&self, value: ValueId, search: &mut Search) -> Option<i64> {
        let sources = self.sources(value)?;
        if search.open.contains(&value) {
            return None;
        }
        search.left = search.left.checked_sub(1)?;
        let guards = std::mem::take(&mut search.guards);
        search.open.push(value);
        // A loop that hands a value on unchanged adds nothing to the value it started with.
        let others = sources.into_iter().filter(|&source| source != value);
        let bounds: Option<Vec<i64>> = others.map(|source| self.at_most(source, search)).collect();
        search.open.pop();
        search.guards = guards;
        bounds?.into_iter().max()
    }

    /// The values that a result of an `scf.if` or `scf.for`, or a value that an `scf.for` carries, can be: what the
    /// terminators of its regions hand out at its position, and for a loop the initial value. `None` for all other
    /// values.
    fn sources(&self, value: ValueId) -> Option<Vec<ValueId>> {
        let (op, at) = match self.value(value).definition {
            Definition::Result { op, index } => (op, index as usize),
            Definition::Argument { block, index } => {
                let op = self.region(self.block(block).parent).parent?;
                // The loop's index is argument 0, so carried values are counted from 1.
                (op, (index as usize).checked_sub(1)?)
            }
            Definition::Unresolved => return None,
        };
        let mut sources = match self.name(op) {
            "scf.if" => Vec::new(),
            // The initial values stand behind the two bounds and the step.
            "scf.for" => vec![*self.operands(op).get(at.checked_add(3)?)?],
            _ => return None,
        };
        for &region in self.regions(op) {
            // The terminator of the region. What it has at this position is handed out.
            let end = *self.ops(*self.blocks(region).last()?).last()?;
            sources.push(*self.operands(end).get(at)?);
        }
        Some(sources)
    }

    /// The largest number of elements that dimension `at` of a memref can have: as its type says, or as the op says
    /// that made it. `None` if neither gives a bound.
    fn most_of_dimension(&self, memref: ValueId, at: usize, search: &mut Search) -> Option<i64> {
        search.left = search.left.checked_sub(1)?;
        let shape = self.ty(memref).as_memref()?.shape.as_deref()?;
        if let Some(length) = *shape.get(at)? {
            return i64::try_from(length).ok();
        }
        let Definition::Result { op, .. } = self.value(memref).definition else { return None };
        match self.name(op) {
            "memref.alloc" | "memref.alloca" => {
                // The operands of an allocation are the sizes of its dynamic dimensions only.
                let given = shape[..at].iter().filter(|length| length.is_none()).count();
                self.at_most(*self.operands(op).get(given)?, search)
            }
            // A slice that drops dimensions lists more sizes than its type has dimensions, and they do not match by
            // position.
            "memref.subview" => {
                match *self.slice(op).filter(|slice| slice.sizes.len() == shape.len())?.sizes.get(at)? {
                    Bound::Static(length) => Some(length),
                    Bound::Dynamic(length) => self.at_most(length, search),
                }
            }
            "memref.cast" | "memref.memory_space_cast" => {
                self.most_of_dimension(*self.operands(op).first()?, at, search)
            }
            _ => None,
        }
    }

    /// How far a value can lie above another one (`base`) that it is computed from: `min(x + 64, n)` lies at most 64
    /// above `x`. `None` if no path from the value to `base` is found. `left` limits the search; each operand gets
    /// half of what is left, so that all paths together look at no more ops than that.
    fn above(&self, value: ValueId, base: ValueId, left: u32) -> Option<i64> {
        if value == base {
            return Some(0);
        }
        let Definition::Result { op, .. } = self.value(value).definition else { return None };
        let left = left.checked_sub(1)? / 2;
        let &[one, other] = self.operands(op) else { return None };
        match self.name(op) {
            // One of the two operands of a minimum is enough to bound it, of a maximum both are needed.
            "arith.minsi" | "index.mins" => {
                self.above(one, base, left).into_iter().chain(self.above(other, base, left)).min()
            }
            "arith.maxsi" | "index.maxs" => Some(self.above(one, base, left)?.max(self.above(other, base, left)?)),
            "arith.addi" | "index.add" => match (self.constant(one), self.constant(other)) {
                (_, Some(more)) => self.above(one, base, left)?.checked_add(more),
                (Some(more), _) => self.above(other, base, left)?.checked_add(more),
                _ => None,
            },
            _ => None,
        }
    }

    /// The largest number that a value can be, given that `condition` is true (`holds`) or false. The condition must
    /// be an `arith.cmpi` of this value with a constant; `None` for other conditions and for those that bound the
    /// value from below only.
    fn limit_in(&self, condition: ValueId, value: ValueId, holds: bool) -> Option<i64> {
        let Definition::Result { op, .. } = self.value(condition).definition else { return None };
        let (&[one, other], "arith.cmpi") = (self.operands(op), self.name(op)) else { return None };
        let text = self.text(self.op(op).span);
        // `arith.cmpi slt, %n, %c : index`
        let predicate = text.split_once("arith.cmpi")?.1.split(',').next()?.trim();
        let (is_left, limit) = match (one == value, other == value) {
            (true, _) => (true, self.constant(other)?),
            (_, true) => (false, self.constant(one)?),
            _ => return None,
        };
        // To an unsigned comparison (`ult` and the like) a negative constant is a very large number.
        if predicate.starts_with('u') && limit < 0 {
            return None;
        }
        // `c > x` says of `x` what `x < c` does.
        let relation = match (predicate, is_left) {
            ("slt" | "ult", true) | ("sgt" | "ugt", false) => "<",
            ("sle" | "ule", true) | ("sge" | "uge", false) => "<=",
            ("sgt" | "ugt", true) | ("slt" | "ult", false) => ">",
            ("sge" | "uge", true) | ("sle" | "ule", false) => ">=",
            ("eq", _) => "==",
            _ => return None,
        };
        match (relation, holds) {
            ("<", true) | (">=", false) => limit.checked_sub(1),
            ("<=", true) | (">", false) | ("==", true) => Some(limit),
            _ => None,
        }
    }

    /// The conditions of the `scf.if` ops around an op, each with the answer (true or false) with which control comes
    /// to the op.
    fn guards(&self, op: OpId) -> Vec<(ValueId, bool)> {
        let mut guards = Vec::new();
        let mut inner = op;
        while let Some(around) = self.parent_op(inner) {
            if self.name(around) == "scf.if"
                && let Some(&condition) = self.operands(around).first()
            {
                // The first region runs if the condition is true, the second one if it is false.
                let region = self.block(self.op(inner).parent).parent;
                guards.push((condition, self.regions(around).first() == Some(&region)));
            }
            inner = around;
        }
        guards
    }
}
