//! Offsets as sums over the iterations of loops.
//!
//! In iteration number *k* a loop's index is `lower + step × k`. So whatever is made of
//! indices and constants by adding, subtracting and multiplying is a constant plus a factor for each loop
//! dimension:
//!
//! ```text
//!   scf.forall (%i, %j) = (0, 8) to (4, 16) step (1, 2)      %i = k0, %j = 8 + 2 × k1
//!     %0 = arith.subi %j, %c8                                 2 × k1
//!     %1 = arith.divsi %0, %c2                                k1
//!     %2 = arith.muli %i, %c4                                 4 × k0
//!     %3 = arith.addi %1, %2                                  4 × k0 + k1
//! ```

use std::collections::{BTreeMap, HashMap};

use crate::{Definition, Document, OpId, ValueId};

/// How deep the arithmetic of an offset may be nested. Our emitters write a few ops for each loop.
const DEEPEST: usize = 256;

/// The values that have been computed; `None` for those that are no sums.
type Sums = HashMap<ValueId, Option<Sum>>;

/// A constant plus factors for loop dimensions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) constant: i128,
    /// For each loop dimension, named by its index value: what one iteration more adds to the sum.
    factors: BTreeMap<ValueId, i128>,
}

impl Sum {
    /// The sum that a value is; `None` if it is something else.
    pub(super) fn of(document: &Document, value: ValueId) -> Option<Sum> {
        Sum::nested(document, value, DEEPEST, &mut Sums::new())
    }

    /// As [`Sum::of`], for an expression that is nested no deeper than `deepest` ops. A value that is used several
    /// times is computed once and kept in `done`: in `%b = %a + %a`, `%c = %b + %b` and so on, the number of ways to
    /// `%a` doubles with each op.
    fn nested(document: &Document, value: ValueId, deepest: usize, done: &mut Sums) -> Option<Sum> {
        if let Some(sum) = done.get(&value) {
            return sum.clone();
        }
        // The depth is limited because the expressions come from a file. A deeper one is treated as unknown.
        let sum = deepest.checked_sub(1).and_then(|deepest| Sum::computed(document, value, deepest, done));
        done.insert(value, sum.clone());
        sum
    }

    /// The sum of a value that is not in `done` yet; its operands are nested no deeper than `deepest` ops.
    fn computed(document: &Document, value: ValueId, deepest: usize, done: &mut Sums) -> Option<Sum> {
        if let Some(number) = document.constant(value) {
            return Some(Sum { constant: i128::from(number), ..Sum::default() });
        }
        let op = match document.value(value).definition {
            Definition::Argument { .. } => return Sum::index(document, value),
            Definition::Result { op, .. } => op,
            Definition::Unresolved => return None,
        };
        let [left, right] = document.operands(op) else { return None };
        let left = Sum::nested(document, *left, deepest, done)?;
        let right = Sum::nested(document, *right, deepest, done)?;
        match document.name(op) {
            "arith.addi" => left.plus(&right, 1),
            "arith.subi" => left.plus(&right, -1),
            // A product of two sums with loops in both is no sum any more.
            "arith.muli" => match (left.as_number(), right.as_number()) {
                (Some(number), _) => right.times(number),
                (_, Some(number)) => left.times(number),
                _ => None,
            },
            // Only an exact division keeps the form: rounding would depend on the iteration.
            "arith.divsi" => left.exactly_divided_by(right.as_number()?),
            _ => None,
        }
    }

    /// The index of a loop dimension as a sum: `lower + step × k`. `None` if the bounds are no constants.
    fn index(document: &Document, index: ValueId) -> Option<Sum> {
        let (_, lower, step, _) = dimension(document, index)?;
        Some(Sum { constant: i128::from(lower), factors: [(index, i128::from(step))].into_iter().collect() })
    }

    /// The sum as a number, if no loop is in it.
    fn as_number(&self) -> Option<i128> {
        self.factors.is_empty().then_some(self.constant)
    }

    /// This sum plus the other one times `sign`, which is 1 or -1; `None` if a number overflows.
    fn plus(mut self, other: &Sum, sign: i128) -> Option<Sum> {
        self.constant = self.constant.checked_add(other.constant.checked_mul(sign)?)?;
        for (&index, &factor) in &other.factors {
            let known = self.factors.entry(index).or_default();
            *known = known.checked_add(factor.checked_mul(sign)?)?;
        }
        Some(self)
    }

    /// This sum times a number; `None` if a number overflows.
    fn times(mut self, number: i128) -> Option<Sum> {
        self.constant = self.constant.checked_mul(number)?;
        for factor in self.factors.values_mut() {
            *factor = factor.checked_mul(number)?;
        }
        Some(self)
    }

    /// This sum divided by a number; `None` unless the constant and all factors are multiples of it.
    fn exactly_divided_by(mut self, number: i128) -> Option<Sum> {
        // One part of the sum divided, if that leaves no rest.
        let divided = |part: i128| (number != 0 && part % number == 0).then(|| part / number);
        self.constant = divided(self.constant)?;
        for factor in self.factors.values_mut() {
            *factor = divided(*factor)?;
        }
        Some(self)
    }

    /// The distance between neighbouring iterations of each of these loops, in the unit of the sum. The iterations of
    /// a loop with several dimensions are numbered row by row, so one number is enough for a loop: with 4 × 8
    /// iterations and stride 16, the inner factor is 16 and the outer one 128. `None` if the factors are not of this
    /// form, or if the sum depends on a loop that is not in the list.
    pub(super) fn strides(&self, document: &Document, loops: &[OpId]) -> Option<Vec<u64>> {
        // How many factors of the sum belong to the given loops.
        let mut explained = 0;
        let mut strides = Vec::new();
        for &op in loops {
            let block = *document.blocks(*document.regions(op).first()?).first()?;
            let trips = document.trip_counts(op)?;
            let indices = document.arguments(block).get(..trips.len())?;
            // What one more iteration of a dimension adds to the sum.
            let factor = |index: &ValueId| self.factors.get(index).copied().unwrap_or(0);
            let stride = factor(indices.last()?);
            // What the factor of the next dimension must be: the stride times the iterations of all dimensions
            // inside.
            let mut row = stride;
            for (index, trips) in indices.iter().zip(trips).rev() {
                // A dimension with one iteration moves nothing, whatever its factor.
                if factor(index) != row && trips != Some(1) {
                    return None;
                }
                row = row.checked_mul(i128::from(trips?))?;
            }
            explained += indices.iter().filter(|index| self.factors.contains_key(index)).count();
            strides.push(u64::try_from(stride).ok()?);
        }
        (explained == self.factors.len()).then_some(strides)
    }

    /// The largest value over all iterations: each loop with a positive factor in its last iteration, all others in
    /// their first.
    pub(super) fn largest(&self, document: &Document) -> Option<i128> {
        let mut largest = self.constant;
        for (&index, &factor) in &self.factors {
            let (_, _, _, trips) = dimension(document, index)?;
            largest = largest.checked_add(factor.max(0).checked_mul(i128::from(trips).saturating_sub(1).max(0))?)?;
        }
        Some(largest)
    }
}

/// The loop that an index belongs to, and its lower bound, step and number of iterations; `None` if the value is no
/// loop index, or if these are no constants.
fn dimension(document: &Document, index: ValueId) -> Option<(OpId, i64, i64, u64)> {
    let Definition::Argument { block, index: position } = document.value(index).definition else { return None };
    let op = document.block_parent(block)?;
    let bounds = *document.loop_bounds(op)?.get(position as usize)?;
    let trips = (*document.trip_counts(op)?.get(position as usize)?)?;
    Some((op, document.known(bounds.lower)?, document.known(bounds.step)?, trips))
}
