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
//! The search starts at a size operand of the allocation and goes backwards through the ops that compute it. Of each
//! number it finds the smallest and the largest signed number that it can be, as far as they are known ([`Range`]).
//!
//! Numbers of few bits wrap around: 100 + 100 is -56 as an `i8`. So a sum is only known if it fits its type whatever the
//! numbers are. Numbers of 64 bits (also `index`) are taken not to wrap below 0: no program counts so far down that the
//! smallest of them comes near. They may wrap above, where their largest number is not known.

use memplan_core::Bytes;
use memplan_program::Size;

use super::origin::is_on_chip;
use crate::bounds::Bound;
use crate::document::{Definition, Document, OpId, ValueId};
use crate::ty::{Layout, MemRef, Type};

/// How many ops are looked at for the sizes of one allocation. Expressions share parts, so the number of ways through
/// one can be exponential in its length: with `%b = %a + %a`, `%c = %b + %b`, … each op doubles it.
const MOST_OPS: u32 = 64;

/// What is known of a number: it is no smaller than `low` and no larger than `high`, read as a signed number of its
/// type. An end that is not known is `None`.
#[derive(Clone, Copy, Debug)]
struct Range {
    low: Option<i64>,
    high: Option<i64>,
}

impl Range {
    const UNKNOWN: Range = Range { low: None, high: None };
    /// Not negative, and nothing else.
    const NATURAL: Range = Range { low: Some(0), high: None };

    fn is_never_negative(self) -> bool {
        self.low.is_some_and(|low| low >= 0)
    }

    /// What is known of a number that is either of two.
    fn or(self, other: Range) -> Range {
        Range {
            low: self.low.zip(other.low).map(|(one, other)| one.min(other)),
            high: self.high.zip(other.high).map(|(one, other)| one.max(other)),
        }
    }

    /// What is known of `f(x)`, where `f` never falls as `x` grows, and its results fit.
    fn through(self, f: impl Fn(i64) -> i64) -> Range {
        Range { low: self.low.map(&f), high: self.high.map(&f) }
    }
}

/// The smallest and largest number of a signed type. `None` for types that are no numbers, and for numbers of one bit:
/// `true` is -1 as a signed number and is written as 1.
fn limits(ty: &Type) -> Option<(i64, i64)> {
    let bits = match ty {
        Type::Integer { width: bits @ 2..=64 } => *bits,
        Type::Index => 64,
        _ => return None,
    };
    Some((i64::MIN >> (64 - bits), i64::MAX >> (64 - bits)))
}

/// The range of a result that is computed as if there were no limit of bits, from its ends; nothing is known of it if it
/// may not fit its type. An end of a narrow type is always known. For 64 bits see the top of this file.
fn fitting(ty: &Type, low: Option<i128>, high: Option<i128>) -> Range {
    let Some((least, most)) = limits(ty) else { return Range::UNKNOWN };
    let fits = |end: &i128| (i128::from(least)..=i128::from(most)).contains(end);
    let (low_fits, high_fits) = (low.as_ref().is_some_and(fits), high.as_ref().is_some_and(fits));
    // Only a number of 64 bits may have no known low end here.
    let is_low_unknown = low.is_none() && least == i64::MIN;
    if !high_fits || !(low_fits || is_low_unknown) {
        return Range::UNKNOWN;
    }
    // Both fit an `i64`, because they fit the type.
    Range { low: low.map(|end| end as i64), high: high.map(|end| end as i64) }
}

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

/// Rounds a quotient up. The divisor is positive.
fn ceil_div(number: i64, by: i64) -> i64 {
    let rest = i64::from(number.rem_euclid(by) > 0);
    number.div_euclid(by) + rest
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

    /// The largest number a value can be; `None` if that is not known.
    fn at_most(&self, value: ValueId, search: &mut Search) -> Option<i64> {
        self.range(value, search).high
    }

    /// What is known of a value: what the ops that compute it and the conditions around the allocation say.
    fn range(&self, value: ValueId, search: &mut Search) -> Range {
        let mut range = self.told_by_ops(value, search).unwrap_or(Range::UNKNOWN);
        let guarded = search.guards.iter().filter_map(|&(condition, holds)| self.limit_in(condition, value, holds));
        range.high = range.high.into_iter().chain(guarded).min();
        // A narrow type has known ends of its own.
        if let Some((least, most)) = limits(self.ty(value)).filter(|&(least, _)| least > i64::MIN) {
            range.low.get_or_insert(least);
            range.high.get_or_insert(most);
        }
        range
    }

    /// What the op or loop says that defines a value; `None` if it says nothing or the search has looked at too many
    /// ops.
    fn told_by_ops(&self, value: ValueId, search: &mut Search) -> Option<Range> {
        match self.value(value).definition {
            Definition::Result { op, .. } if !matches!(self.name(op), "scf.if" | "scf.for") => {
                search.left = search.left.checked_sub(1)?;
                self.range_of_op(op, value, search)
            }
            // The first argument of an `scf.for` is its index. It is never below the lower bound, because steps are
            // positive, and stays below the upper one. The loop may also take the bounds as unsigned numbers; then
            // nothing is known.
            Definition::Argument { block, index: 0 } => {
                let around = self.region(self.block(block).parent).parent?;
                let (&[lower, upper, ..], "scf.for") = (self.operands(around), self.name(around)) else { return None };
                if self.is_unsigned_loop(around) {
                    return None;
                }
                search.left = search.left.checked_sub(1)?;
                // The last index is one less than the upper bound, whatever the step is.
                let high = self.at_most(upper, search).and_then(|upper| upper.checked_sub(1));
                Some(Range { low: self.range(lower, search).low, high })
            }
            _ => self.range_of_sources(value, search),
        }
    }

    /// What is known of the result of an op that computes a number; `None` if the op is not listed here.
    fn range_of_op(&self, op: OpId, result: ValueId, search: &mut Search) -> Option<Range> {
        let ty = self.ty(result);
        // Exact results of two numbers, for [`fitting`].
        let both = |one: Option<i64>, other: Option<i64>, f: fn(i128, i128) -> i128| {
            one.zip(other).map(|(one, other)| f(one.into(), other.into()))
        };
        Some(match self.name(op) {
            "arith.constant" | "index.constant" => {
                let number = self.constant(result);
                Range { low: number, high: number }
            }
            // One bounded operand is enough to bound a minimum.
            "arith.minsi" | "index.mins" => {
                let (one, other) = self.two(op, search)?;
                Range { high: one.high.into_iter().chain(other.high).min(), ..one.or(other) }
            }
            "arith.maxsi" | "index.maxs" => {
                let (one, other) = self.two(op, search)?;
                Range { low: one.low.into_iter().chain(other.low).max(), ..one.or(other) }
            }
            // `minui(-5, 100)` is 100. So one bounded operand is enough only if it is never negative.
            "arith.minui" | "index.minu" => {
                let (one, other) = self.two(op, search)?;
                let naturals = [one, other].into_iter().filter(|range| range.is_never_negative());
                match naturals.filter_map(|range| range.high).min() {
                    Some(high) => Range { low: Some(0), high: Some(high) },
                    None if one.is_never_negative() || other.is_never_negative() => Range::NATURAL,
                    None => one.or(other),
                }
            }
            "arith.maxui" | "index.maxu" => {
                let (one, other) = self.two(op, search)?;
                one.or(other)
            }
            "arith.select" => self.range_of_select(op, search)?,
            "arith.addi" | "index.add" => {
                let (one, other) = self.two(op, search)?;
                let sum = |one, other| both(one, other, |one, other| one + other);
                fitting(ty, sum(one.low, other.low), sum(one.high, other.high))
            }
            "arith.subi" | "index.sub" => {
                let &[from, less] = self.operands(op) else { return None };
                // `min(x + 64, n) - x` is at most 64, whatever `x` is. A narrow sum may wrap around.
                let is_wide = limits(ty).is_some_and(|(least, _)| least == i64::MIN);
                if let Some(apart) = is_wide.then(|| self.above(from, less, MOST_OPS)).flatten() {
                    return Some(Range { low: None, high: Some(apart) });
                }
                let (from, less) = self.two(op, search)?;
                let apart = |one, other| both(one, other, |one, other| one - other);
                fitting(ty, apart(from.low, less.high), apart(from.high, less.low))
            }
            "arith.muli" | "index.mul" => {
                let (one, other) = self.two(op, search)?;
                self.product(ty, one, other)
            }
            // A remainder is smaller than the divisor, and has the sign of what is divided.
            "arith.remsi" | "index.rems" => {
                let by = self.positive_constant(op, 1)?;
                let low = if self.operand(op, 0, search)?.is_never_negative() { 0 } else { 1 - by };
                Range { low: Some(low), high: Some(by - 1) }
            }
            "arith.remui" | "index.remu" => Range { low: Some(0), high: Some(self.positive_constant(op, 1)? - 1) },
            "arith.divsi" | "index.divs" => {
                let by = self.positive_constant(op, 1)?;
                self.operand(op, 0, search)?.through(|number| number / by)
            }
            "arith.floordivsi" => {
                let by = self.positive_constant(op, 1)?;
                self.operand(op, 0, search)?.through(|number| number.div_euclid(by))
            }
            "arith.ceildivsi" | "index.ceildivs" => {
                let by = self.positive_constant(op, 1)?;
                self.operand(op, 0, search)?.through(|number| ceil_div(number, by))
            }
            // As an unsigned number a negative one is 2^63 or more. Half of that is no negative number any more.
            "arith.divui" | "index.divu" => {
                let by = self.positive_constant(op, 1)?;
                match self.unsigned(op, search) {
                    Some(divided) => divided.through(|number| number / by),
                    None if by > 1 => Range::NATURAL,
                    None => Range::UNKNOWN,
                }
            }
            "arith.ceildivui" | "index.ceildivu" => {
                let by = self.positive_constant(op, 1)?;
                self.unsigned(op, search)?.through(|number| ceil_div(number, by))
            }
            "arith.index_cast" | "arith.extsi" | "index.casts" => self.range_of_cast(op, ty, true, search)?,
            "arith.index_castui" | "arith.extui" | "index.castu" => self.range_of_cast(op, ty, false, search)?,
            "arith.andi" | "index.and" => self.range_of_mask(op, search)?,
            "arith.shrsi" | "index.shrs" => {
                let by = self.shift(op)?;
                self.operand(op, 0, search)?.through(|number| number >> by)
            }
            "arith.shrui" | "index.shru" => {
                let by = self.shift(op)?;
                self.unsigned(op, search)?.through(|number| number >> by)
            }
            "arith.shli" | "index.shl" => {
                let factor = Some(1_i64 << self.shift(op)?);
                self.product(ty, self.operand(op, 0, search)?, Range { low: factor, high: factor })
            }
            "memref.dim" => {
                let at = self.constant_operand(op, 1).and_then(|at| usize::try_from(at).ok());
                let high = at.and_then(|at| self.most_of_dimension(*self.operands(op).first()?, at, search));
                Range { low: Some(0), high }
            }
            // Of a minimum one bounded result is enough, of a maximum every result needs a bound.
            "affine.min" => Range { low: None, high: self.most_of_map(op, search)?.into_iter().flatten().min() },
            "affine.max" => {
                let results: Option<Vec<i64>> = self.most_of_map(op, search)?.into_iter().collect();
                Range { low: None, high: results?.into_iter().max() }
            }
            "affine.apply" => Range { low: None, high: self.most_of_map(op, search)?.into_iter().next()? },
            _ => return None,
        })
    }

    /// What is known of the operand at a position.
    fn operand(&self, op: OpId, at: usize, search: &mut Search) -> Option<Range> {
        Some(self.range(*self.operands(op).get(at)?, search))
    }

    /// What is known of the first two operands.
    fn two(&self, op: OpId, search: &mut Search) -> Option<(Range, Range)> {
        Some((self.operand(op, 0, search)?, self.operand(op, 1, search)?))
    }

    /// What is known of the first operand, for an op that takes it as an unsigned number. A negative number is a very
    /// large one then (as an unsigned number of 8 bits, -56 is 200), so it must never be negative.
    fn unsigned(&self, op: OpId, search: &mut Search) -> Option<Range> {
        self.operand(op, 0, search).filter(|range| range.is_never_negative())
    }

    /// What is known of a product. One factor must be known not to be negative, and have a bound.
    fn product(&self, ty: &Type, one: Range, other: Range) -> Range {
        let factor = |range: Range| range.low.filter(|&low| low >= 0).zip(range.high);
        let ((least, most), other) = match (factor(one), factor(other)) {
            (_, Some(times)) => (times, one),
            (Some(times), _) => (times, other),
            _ => return Range::UNKNOWN,
        };
        let (least, most) = (i128::from(least), i128::from(most));
        let low = other.low.map(|low| i128::from(low) * if low < 0 { most } else { least });
        let high = other.high.map(|high| i128::from(high) * if high < 0 { least } else { most });
        fitting(ty, low, high)
    }

    /// What is known of the result of a cast to the type `to`. A cast to fewer bits leaves bits out, so the number must
    /// be known to fit. A cast to more bits repeats the sign, or (`is_signed` is false) takes a negative number for a
    /// large one.
    fn range_of_cast(&self, op: OpId, to: &Type, is_signed: bool, search: &mut Search) -> Option<Range> {
        let &from = self.operands(op).first()?;
        let range = self.range(from, search);
        let ((_, most), (_, most_of_result)) = (limits(self.ty(from))?, limits(to)?);
        if most_of_result < most {
            let low = range.low?;
            return Some(fitting(to, Some(low.into()), range.high.map(i128::from)));
        }
        // A number that may be the largest one of its type has no bound that is worth a buffer.
        let range = Range { high: range.high.filter(|&high| high < most), ..range };
        let keeps = is_signed || most_of_result == most || range.is_never_negative();
        Some(if keeps { range } else { Range::NATURAL })
    }

    /// By how many bits an op shifts: its second operand, a constant that is no negative number and smaller than the
    /// number of bits.
    fn shift(&self, op: OpId) -> Option<u32> {
        let (_, most) = limits(self.ty(*self.operands(op).first()?))?;
        let by = u32::try_from(self.constant_operand(op, 1)?).ok()?;
        // `most` has all bits but the sign.
        (by < most.count_ones()).then_some(by)
    }

    /// The operand at a position, if it is a constant.
    fn constant_operand(&self, op: OpId, at: usize) -> Option<i64> {
        self.constant(*self.operands(op).get(at)?)
    }

    /// The operand at a position, if it is a constant by which a bound can be multiplied or divided.
    fn positive_constant(&self, op: OpId, at: usize) -> Option<i64> {
        self.constant_operand(op, at).filter(|&number| number > 0)
    }

    /// What is known of an `arith.select`: it is one of its two choices, each under the condition that chooses it.
    fn range_of_select(&self, op: OpId, search: &mut Search) -> Option<Range> {
        let &[condition, one, other] = self.operands(op) else { return None };
        // The first choice is taken where the condition holds, the second one where it does not.
        let [yes, no] = [(one, true), (other, false)].map(|(chosen, holds)| {
            let limit = self.limit_in(condition, chosen, holds);
            let range = self.range(chosen, search);
            Range { high: range.high.into_iter().chain(limit).min(), ..range }
        });
        Some(yes.or(no))
    }

    /// What is known of `x & y`. If one of the two is never negative, the result is neither, and is no larger. A constant
    /// that is negative keeps the sign and only clears other bits of `x`, so the result is no larger than `x`.
    fn range_of_mask(&self, op: OpId, search: &mut Search) -> Option<Range> {
        let (one, other) = self.two(op, search)?;
        let naturals = [one, other].into_iter().filter(|range| range.is_never_negative());
        if let Some(high) = naturals.map(|range| range.high.unwrap_or(i64::MAX)).min() {
            return Some(Range { low: Some(0), high: Some(high).filter(|&high| high < i64::MAX) });
        }
        let is_negative = |at: usize| self.constant_operand(op, at).is_some_and(|mask| mask < 0);
        match (is_negative(1), is_negative(0)) {
            (true, _) => Some(Range { low: None, high: one.high }),
            (_, true) => Some(Range { low: None, high: other.high }),
            _ => None,
        }
    }

    /// Upper bounds of the results of an affine op's map, `None` for a result without one; no list at all if the map
    /// cannot be read.
    fn most_of_map(&self, op: OpId, search: &mut Search) -> Option<Vec<Option<i64>>> {
        self.most_of_results(op, |at| self.operand(op, at, search)?.high)
    }

    /// What is known of a result of an `scf.if` or `scf.for`, or of a value that an `scf.for` carries: it is one of the
    /// values that are handed on to it. `None` for all other values.
    ///
    /// If the search meets the value itself again (a loop computes it from its previous iteration), it gives up: such a
    /// value may grow with every iteration. The conditions around the allocation are left out, because a value may come
    /// from an iteration in which they did not hold.
    fn range_of_sources(&self, value: ValueId, search: &mut Search) -> Option<Range> {
        let sources = self.sources(value)?;
        if search.open.contains(&value) {
            return None;
        }
        search.left = search.left.checked_sub(1)?;
        let guards = std::mem::take(&mut search.guards);
        search.open.push(value);
        // A loop that hands a value on unchanged adds nothing to the value it started with.
        let others = sources.into_iter().filter(|&source| source != value);
        let range = others.map(|source| self.range(source, search)).reduce(Range::or);
        search.open.pop();
        search.guards = guards;
        range
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
