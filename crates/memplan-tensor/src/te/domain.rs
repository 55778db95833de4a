//! Moving ranges and values along split, fuse and rebase relations.
//!
//! A *relation* says how axes of a stage come from others: a split makes two of one, a fusion one of two, and a rebase
//! makes an axis that starts at zero. The relations of a stage are listed from the oldest to the newest, so walking the
//! list forwards leads from an operation's own axes down to its loops, and walking it backwards leads up again.
//!
//! Downwards go ranges: `i` over 34 values split by 8 makes `i.outer` run over 5 and `i.inner` over 8. Upwards go
//! values (`i = i.inner + i.outer * 8`) and sets of values.

// An axis is named by an `IterId`; a `Range` is a first value and an extent. An `Interval` is a set of values from
// one end to another, both included; the ends are expressions. An `Env` has an interval for each variable.
use super::arith::{Env, Interval, add, ceil_div, floor_div, floor_mod, interval, mul, prove_compare, simplify};
use super::graph::{IterId, Range};
use super::schedule::{Relation, Schedule, SplitBy, Stage, StageId};
use crate::ir::{BinaryOp, Expr, VarId};
use std::collections::{BTreeMap, BTreeSet};

/// The range of every axis that has one.
pub(crate) type Ranges = BTreeMap<IterId, Range>;

/// A value for each axis.
pub(crate) type Values = BTreeMap<IterId, Expr>;

/// The range of an axis; an axis without one has a single value, zero.
fn range(ranges: &Ranges, axis: IterId) -> Range {
    ranges.get(&axis).cloned().unwrap_or_else(|| Range::up_to(Expr::int(1)))
}

/// The extent of a loop that a split declares with a size (`factor=8`, `nparts=4`). `axis` is the extent of the axis
/// that is split. The loop is never longer than that, unless a thread is bound to it: a launch has the declared number
/// of threads.
fn declared_extent(size: Expr, axis: &Expr, is_threaded: bool) -> Expr {
    let is_too_long = !is_threaded && prove_compare(BinaryOp::Lt, axis, &size, &BTreeMap::new());
    if is_too_long { axis.clone() } else { size }
}

/// Derives the ranges of a stage's loops from those of its operation's axes. `ranges` holds the ranges of the axes;
/// those of all axes that were made of them, and of the thread axes bound to loops, are added.
pub(super) fn pass_down(schedule: &Schedule, stage: StageId, ranges: &mut Ranges) {
    // Loops from which threads are made keep their declared number of iterations.
    let threaded = above_threads(schedule, stage);
    for relation in &schedule.stages[stage].relations {
        match relation {
            Relation::Split { parent, outer, inner, by } => {
                let extent = range(ranges, *parent).extent;
                // The two loops together run at least over the whole axis. A condition guards the surplus iterations.
                let (outer_extent, inner_extent) = match by {
                    SplitBy::Factor(factor) => {
                        let size = Expr::int(*factor);
                        (ceil_div(&extent, &size), declared_extent(size, &extent, threaded.contains(inner)))
                    }
                    SplitBy::Parts(parts) => {
                        let size = Expr::int(*parts);
                        let inner_extent = ceil_div(&extent, &size);
                        (declared_extent(size, &extent, threaded.contains(outer)), inner_extent)
                    }
                };
                ranges.insert(*outer, Range::up_to(outer_extent));
                ranges.insert(*inner, Range::up_to(inner_extent));
            }
            // A fused loop runs over all pairs of its two parts.
            Relation::Fuse { outer, inner, fused } => {
                let product = mul(range(ranges, *outer).extent, range(ranges, *inner).extent);
                ranges.insert(*fused, Range::up_to(simplify(&product)));
            }
            // A rebased loop has as many iterations as its axis and starts at zero.
            Relation::Rebase { parent, rebased } => {
                let extent = range(ranges, *parent).extent;
                ranges.insert(*rebased, Range::up_to(extent));
            }
        }
    }
    // A thread axis has no range of its own; it runs as far as the loop that is bound to it.
    for (axis, attrs) in &schedule.stages[stage].attrs {
        if let (Some(thread), Some(range)) = (attrs.bind, ranges.get(axis).cloned()) {
            ranges.insert(thread, range);
        }
    }
}

/// The axes that are bound to threads, and every axis from which an axis bound to threads was made. Splits that declare
/// the extent of one of these keep the declared extent ([`declared_extent`]): if an axis further up were shortened, the
/// axis that is bound would be shortened with it.
fn above_threads(schedule: &Schedule, stage: StageId) -> BTreeSet<IterId> {
    let stage = &schedule.stages[stage];
    let mut above: BTreeSet<IterId> =
        stage.attrs.iter().filter(|(_, attrs)| attrs.bind.is_some()).map(|(axis, _)| *axis).collect();
    // From the loops upwards, the newest relation first: when a relation is looked at, it is already known of the axes
    // that it made whether they are above threads. So one walk is enough.
    for relation in stage.relations.iter().rev() {
        match relation {
            Relation::Split { parent, outer, inner, .. } if above.contains(outer) || above.contains(inner) => {
                above.insert(*parent);
            }
            Relation::Fuse { outer, inner, fused } if above.contains(fused) => above.extend([*outer, *inner]),
            Relation::Rebase { parent, rebased } if above.contains(rebased) => {
                above.insert(*parent);
            }
            _ => {}
        }
    }
    above
}

/// The value of an axis as far as it is known; zero without one.
fn value_of(values: &Values, axis: &IterId) -> Expr {
    values.get(axis).cloned().unwrap_or_else(|| Expr::int(0))
}

/// Derives the values of a stage's axes from those of its loops. `values` holds the values of the loops; the others are
/// added. A loop without a value counts as zero.
pub(super) fn pass_up_values(stage: &Stage, ranges: &Ranges, values: &mut Values) {
    for relation in stage.relations.iter().rev() {
        match relation {
            // `parent = outer * extent(inner) + inner + min(parent)`.
            Relation::Split { parent, outer, inner, .. } => {
                let step = range(ranges, *inner).extent;
                let inside = plus(value_of(values, inner), times(value_of(values, outer), step));
                values.insert(*parent, plus(inside, range(ranges, *parent).min));
            }
            // Quotient and remainder of the fused loop's value by the extent of the inner axis.
            Relation::Fuse { outer, inner, fused } => {
                let (fused, step) = (value_of(values, fused), range(ranges, *inner).extent);
                let quotient = divided(BinaryOp::FloorDiv, fused.clone(), step.clone());
                values.insert(*outer, plus(quotient, range(ranges, *outer).min));
                let remainder = divided(BinaryOp::FloorMod, fused, step);
                values.insert(*inner, plus(remainder, range(ranges, *inner).min));
            }
            Relation::Rebase { parent, rebased } => {
                values.insert(*parent, plus(value_of(values, rebased), range(ranges, *parent).min));
            }
        }
    }
}

/// The quotient (`op` is `FloorDiv`) or the remainder (`FloorMod`), without the operation where one side is trivial.
/// Like [`plus`] and [`times`] this keeps generated text short; it does not bring expressions into canonical form.
fn divided(op: BinaryOp, value: Expr, divisor: Expr) -> Expr {
    match (value.as_int(), divisor.as_int(), op) {
        (Some(0), ..) => Expr::int(0),
        (_, Some(1), BinaryOp::FloorDiv) => value,
        (_, Some(1), _) => Expr::int(0),
        (_, _, BinaryOp::FloorDiv) => floor_div(value, divisor),
        _ => floor_mod(value, divisor),
    }
}

/// `a + b`, without zeros.
fn plus(a: Expr, b: Expr) -> Expr {
    match (a.as_int(), b.as_int()) {
        (Some(0), _) => b,
        (_, Some(0)) => a,
        _ => add(a, b),
    }
}

/// `a * b`, without factors of 0 and 1.
fn times(a: Expr, b: Expr) -> Expr {
    match (a.as_int(), b.as_int()) {
        (Some(0), _) | (_, Some(0)) => Expr::int(0),
        (Some(1), _) => b,
        (_, Some(1)) => a,
        _ => mul(a, b),
    }
}

/// Derives the sets of values of a stage's axes from those of its loops. `sets` holds what is known of the loops; the
/// sets of the other axes are added. A loop that is not in it runs over all of its range.
pub(super) fn pass_up_sets(
    schedule: &Schedule,
    stage: StageId,
    ranges: &Ranges,
    sets: &mut BTreeMap<IterId, Interval>,
) {
    let mut sets = Sets { schedule, ranges, known: sets };
    for relation in schedule.stages[stage].relations.iter().rev() {
        match relation {
            Relation::Split { parent, outer, inner, .. } => sets.pass_up_split(*parent, *outer, *inner),
            Relation::Fuse { outer, inner, fused } => sets.pass_up_fuse(*outer, *inner, *fused),
            Relation::Rebase { parent, rebased } => {
                let min = range(ranges, *parent).min;
                let shifted = sets.of(*rebased).map_ends(|end| simplify(&add(end, min.clone())));
                sets.known.insert(*parent, shifted);
            }
        }
    }
}

/// The sets of values that axes can have, as far as they are known.
struct Sets<'a> {
    schedule: &'a Schedule,
    ranges: &'a Ranges,
    known: &'a mut BTreeMap<IterId, Interval>,
}

impl Sets<'_> {
    /// All values that an axis runs over.
    fn whole(&self, axis: IterId) -> Interval {
        let range = range(self.ranges, axis);
        Interval::range(&range.min, &range.extent)
    }

    /// The values that an axis can have: all that it runs over if nothing else is known.
    fn of(&self, axis: IterId) -> Interval {
        self.known.get(&axis).cloned().unwrap_or_else(|| self.whole(axis))
    }

    fn var(&self, axis: IterId) -> VarId {
        self.schedule.graph.axes[axis].var
    }

    /// Notes that an axis has the values of an expression whose variables are as in `env`. If a bound of them is not
    /// known, the axis has all values that it runs over.
    fn insert(&mut self, axis: IterId, value: &Expr, env: &Env) {
        let set = interval(&simplify(value), env);
        let is_closed = set.lo.is_some() && set.hi.is_some();
        self.known.insert(axis, if is_closed { set } else { self.whole(axis) });
    }

    /// Notes the values of an axis that was split: `outer * extent of inner + inner + its first value`.
    fn pass_up_split(&mut self, parent: IterId, outer: IterId, inner: IterId) {
        let (outer_set, inner_set) = (self.of(outer), self.of(inner));
        // If both loops run completely, so does the axis. The product of their extents may be larger than the axis, so
        // computing it would give too much.
        if outer_set == self.whole(outer) && inner_set == self.whole(inner) {
            self.known.insert(parent, self.whole(parent));
            return;
        }
        let step = range(self.ranges, inner).extent;
        let value = add(mul(Expr::Var(self.var(outer)), step), Expr::Var(self.var(inner)));
        let env = [(self.var(outer), outer_set), (self.var(inner), inner_set)].into();
        self.insert(parent, &add(value, range(self.ranges, parent).min), &env);
    }

    /// Notes the values of two axes that were fused: quotient and remainder of the fused loop's variable by the extent
    /// of the inner axis, each plus the axis's first value.
    fn pass_up_fuse(&mut self, outer: IterId, inner: IterId, fused: IterId) {
        let fused_set = self.of(fused);
        if fused_set == self.whole(fused) {
            self.known.insert(outer, self.whole(outer));
            self.known.insert(inner, self.whole(inner));
            return;
        }
        let step = range(self.ranges, inner).extent;
        // A single value is divided as it stands. For a larger set the fused variable is divided, and `env` says which
        // values it has.
        let (position, env) = match (&fused_set.lo, fused_set.is_point()) {
            (Some(at), true) => (at.clone(), BTreeMap::new()),
            _ => (Expr::Var(self.var(fused)), [(self.var(fused), fused_set.clone())].into()),
        };
        let high = add(floor_div(position.clone(), step.clone()), range(self.ranges, outer).min);
        let low = add(floor_mod(position, step), range(self.ranges, inner).min);
        self.insert(outer, &high, &env);
        self.insert(inner, &low, &env);
    }
}
