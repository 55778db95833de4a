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

use memplan_core::Bytes;
use memplan_program::Size;

use super::origin::is_on_chip;
use crate::bounds::Bound;
use crate::document::{Definition, Document, OpId, ValueId};
use crate::ty::{Layout, MemRef};

/// How many ops are looked at for one size: expressions share parts, so the number of ways through one can be
/// exponential in its length.
const MOST_OPS: u32 = 64;

/// What the search for a bound knows.
struct Search {
    /// How many more ops it may look at.
    left: u32,
    /// Conditions that decide whether the allocation runs, each with the answer it needs.
    guards: Vec<(ValueId, bool)>,
    /// Values that loops carry and whose bound is being looked for, so that nothing is said about them yet.
    open: Vec<ValueId>,
}

impl Document {
    /// The size of an allocation whose shape is not static, with the largest number of bytes it can come to.
    pub(super) fn bounded_size(&self, alloc: OpId, memref: &MemRef, symbol: &str) -> Size {
        let bound = (memref.layout == Layout::Identity).then(|| self.most_bytes(alloc, memref)).flatten();
        Size::Symbolic { symbol: symbol.into(), bound }
    }

    /// How many bytes an allocation has at most, if each of its dynamic dimensions has a bound.
    fn most_bytes(&self, alloc: OpId, memref: &MemRef) -> Option<Bytes> {
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
            // Elements of less than a byte are packed there.
            true => Some(memplan_core::storage_bytes(memref.element.bits()?.checked_mul(count)?)),
            false => memref.element.stride_bytes()?.checked_mul(count),
        }
    }

    /// The largest number a value can be, if its ops or the conditions around the allocation tell.
    fn at_most(&self, value: ValueId, search: &mut Search) -> Option<i64> {
        let told = self.told_by_ops(value, search);
        let guarded = search.guards.iter().filter_map(|&(condition, holds)| self.limit_in(condition, value, holds));
        told.into_iter().chain(guarded).min()
    }

    /// An upper bound of a value, from what defines it. `search` limits how many ops are looked at, because operands may
    /// be shared and the number of paths can be exponential.
    fn told_by_ops(&self, value: ValueId, search: &mut Search) -> Option<i64> {
        match self.value(value).definition {
            Definition::Result { op, .. } if !matches!(self.name(op), "scf.if" | "scf.for") => {
                search.left = search.left.checked_sub(1)?;
                self.most_of_op(op, search)
            }
            // The number of an iteration stays below the loop's upper bound.
            Definition::Argument { block, index: 0 } => {
                let around = self.region(self.block(block).parent).parent?;
                let upper = (self.name(around) == "scf.for").then(|| self.operands(around).get(1)).flatten()?;
                search.left = search.left.checked_sub(1)?;
                self.at_most(*upper, search)?.checked_sub(1)
            }
            _ => self.most_of_sources(value, search),
        }
    }

    /// An upper bound of the result of an op that computes a number.
    fn most_of_op(&self, op: OpId, search: &mut Search) -> Option<i64> {
        match self.name(op) {
            "arith.constant" | "index.constant" => self.constant(*self.results(op).first()?),
            // A size is never negative, so signed and unsigned agree.
            "arith.minsi" | "arith.minui" | "index.mins" | "index.minu" => {
                let limits = [self.operand_at_most(op, 0, search), self.operand_at_most(op, 1, search)];
                limits.into_iter().flatten().min()
            }
            "arith.maxsi" | "arith.maxui" | "index.maxs" | "index.maxu" => {
                Some(self.operand_at_most(op, 0, search)?.max(self.operand_at_most(op, 1, search)?))
            }
            "arith.select" => self.most_of_select(op, search),
            "arith.addi" | "index.add" => {
                self.operand_at_most(op, 0, search)?.checked_add(self.operand_at_most(op, 1, search)?)
            }
            "arith.subi" | "index.sub" => {
                let &[from, less] = self.operands(op) else { return None };
                let apart = self.above(from, less, MOST_OPS);
                apart.or_else(|| self.at_most(from, search)?.checked_sub(self.positive_constant(op, 1)?))
            }
            "arith.muli" | "index.mul" => match (self.positive_constant(op, 0), self.positive_constant(op, 1)) {
                (_, Some(times)) => self.operand_at_most(op, 0, search)?.checked_mul(times),
                (Some(times), _) => self.operand_at_most(op, 1, search)?.checked_mul(times),
                _ => None,
            },
            "arith.remsi" | "arith.remui" | "index.rems" | "index.remu" => {
                self.positive_constant(op, 1)?.checked_sub(1)
            }
            "arith.divsi" | "arith.divui" | "arith.floordivsi" | "index.divs" | "index.divu" => {
                Some(self.operand_at_most(op, 0, search)?.max(0) / self.positive_constant(op, 1)?)
            }
            "arith.ceildivsi" | "arith.ceildivui" | "index.ceildivs" | "index.ceildivu" => {
                let by = self.positive_constant(op, 1)?;
                Some(self.operand_at_most(op, 0, search)?.max(0).checked_add(by - 1)? / by)
            }
            "arith.index_cast" | "arith.index_castui" | "arith.extsi" | "arith.extui" | "index.casts"
            | "index.castu" => self.operand_at_most(op, 0, search),
            "arith.andi" | "index.and" => self.most_of_mask(op, search),
            "arith.shrsi" | "arith.shrui" | "index.shrs" | "index.shru" => {
                let by = u32::try_from(self.constant_operand(op, 1)?).ok()?;
                self.operand_at_most(op, 0, search)?.max(0).checked_shr(by)
            }
            "arith.shli" | "index.shl" => {
                let by = u32::try_from(self.constant_operand(op, 1)?).ok().filter(|&by| by < 62)?;
                self.operand_at_most(op, 0, search)?.max(0).checked_mul(1 << by)
            }
            "memref.dim" => {
                let at = usize::try_from(self.constant_operand(op, 1)?).ok()?;
                self.most_of_dimension(*self.operands(op).first()?, at, search)
            }
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
        let [yes, no] = [(one, true), (other, false)].map(|(chosen, holds)| {
            let limit = self.limit_in(condition, chosen, holds);
            self.at_most(chosen, search).into_iter().chain(limit).min()
        });
        Some(yes?.max(no?))
    }

    /// An upper bound of a number of which a constant mask clears bits. What is left is no larger than a mask that is
    /// not negative, and never larger than the number was before.
    fn most_of_mask(&self, op: OpId, search: &mut Search) -> Option<i64> {
        let (masked, mask) = match (self.constant_operand(op, 0), self.constant_operand(op, 1)) {
            (_, Some(mask)) => (0, mask),
            (Some(mask), _) => (1, mask),
            _ => return None,
        };
        if mask < 0 { self.operand_at_most(op, masked, search) } else { Some(mask) }
    }

    /// Upper bounds of the results of an affine op's map.
    fn most_of_map(&self, op: OpId, search: &mut Search) -> Option<Vec<Option<i64>>> {
        self.most_of_results(op, |at| self.operand_at_most(op, at, search))
    }

    /// The largest number that a result of an `scf.if` or `scf.for`, or a value that an `scf.for` carries, can be: the
    /// largest of what is handed on to it.
    ///
    /// Nothing is assumed about the value itself while its bound is looked for. The conditions around the allocation are
    /// left out, because a value may come from an iteration in which they did not hold.
    fn most_of_sources(&self, value: ValueId, search: &mut Search) -> Option<i64> {
        let sources = self.sources(value)?;
        if search.open.contains(&value) {
            return None;
        }
        search.left = search.left.checked_sub(1)?;
        let guards = std::mem::take(&mut search.guards);
        search.open.push(value);
        // A loop that hands a value on as it is adds nothing to where it starts.
        let others = sources.into_iter().filter(|&source| source != value);
        let bounds: Option<Vec<i64>> = others.map(|source| self.at_most(source, search)).collect();
        search.open.pop();
        search.guards = guards;
        bounds?.into_iter().max()
    }

    /// The values that a result of an `scf.if` or `scf.for`, or a value that an `scf.for` carries, can be.
    fn sources(&self, value: ValueId) -> Option<Vec<ValueId>> {
        let (op, at) = match self.value(value).definition {
            Definition::Result { op, index } => (op, index as usize),
            Definition::Argument { block, index } => {
                let op = self.region(self.block(block).parent).parent?;
                (op, (index as usize).checked_sub(1)?)
            }
            Definition::Unresolved => return None,
        };
        let mut sources = match self.name(op) {
            "scf.if" => Vec::new(),
            // Behind the two bounds and the step.
            "scf.for" => vec![*self.operands(op).get(at.checked_add(3)?)?],
            _ => return None,
        };
        for &region in self.regions(op) {
            let end = *self.ops(*self.blocks(region).last()?).last()?;
            sources.push(*self.operands(end).get(at)?);
        }
        Some(sources)
    }

    /// The largest that a dimension of a memref can be: as its type says, or as the op says that made it.
    fn most_of_dimension(&self, memref: ValueId, at: usize, search: &mut Search) -> Option<i64> {
        search.left = search.left.checked_sub(1)?;
        let shape = self.ty(memref).as_memref()?.shape.as_deref()?;
        if let Some(length) = *shape.get(at)? {
            return i64::try_from(length).ok();
        }
        let Definition::Result { op, .. } = self.value(memref).definition else { return None };
        match self.name(op) {
            "memref.alloc" | "memref.alloca" => {
                let given = shape[..at].iter().filter(|length| length.is_none()).count();
                self.at_most(*self.operands(op).get(given)?, search)
            }
            // A slice that drops dimensions has fewer than it lists.
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

    /// How far a value can lie above another one that it is computed from: `min(x + 64, n) - x` is at most 64.
    fn above(&self, value: ValueId, base: ValueId, left: u32) -> Option<i64> {
        if value == base {
            return Some(0);
        }
        let Definition::Result { op, .. } = self.value(value).definition else { return None };
        let left = left.checked_sub(1)? / 2;
        let &[one, other] = self.operands(op) else { return None };
        match self.name(op) {
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

    /// The largest number that a value can be while a comparison with a constant holds, or while it does not.
    fn limit_in(&self, condition: ValueId, value: ValueId, holds: bool) -> Option<i64> {
        let Definition::Result { op, .. } = self.value(condition).definition else { return None };
        let (&[one, other], "arith.cmpi") = (self.operands(op), self.name(op)) else { return None };
        let text = self.text(self.op(op).span);
        let predicate = text.split_once("arith.cmpi")?.1.split(',').next()?.trim();
        let (is_left, limit) = match (one == value, other == value) {
            (true, _) => (true, self.constant(other)?),
            (_, true) => (false, self.constant(one)?),
            _ => return None,
        };
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

    /// The conditions of the `scf.if` ops around an op, each with the answer that leads to it.
    fn guards(&self, op: OpId) -> Vec<(ValueId, bool)> {
        let mut guards = Vec::new();
        let mut inner = op;
        while let Some(around) = self.parent_op(inner) {
            if self.name(around) == "scf.if"
                && let Some(&condition) = self.operands(around).first()
            {
                let region = self.block(self.op(inner).parent).parent;
                guards.push((condition, self.regions(around).first() == Some(&region)));
            }
            inner = around;
        }
        guards
    }
}
