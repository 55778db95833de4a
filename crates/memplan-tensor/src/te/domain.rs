//! Moving ranges and values along split, fuse and rebase relations.
//!
//! Downwards, from an operation's own axes to its loops: ranges. `i` over 34 values split by 8 makes `i.outer` run over
//! 5 and `i.inner` over 8. Upwards, from loops to axes: values (`i = i.inner + i.outer * 8`) and sets of values.

use super::arith::{Interval, add, ceil_div, floor_div, floor_mod, interval, mul, prove_compare, simplify};
use super::graph::{IterId, Range};
use super::schedule::{Relation, Schedule, SplitBy, Stage, StageId};
use crate::ir::{BinaryOp, Expr};
use std::collections::{BTreeMap, BTreeSet};

/// The range of every axis that has one.
pub(crate) type Ranges = BTreeMap<IterId, Range>;

/// A value for each axis.
pub(crate) type Values = BTreeMap<IterId, Expr>;

fn range(ranges: &Ranges, axis: IterId) -> Range {
    ranges.get(&axis).cloned().unwrap_or_else(|| Range::up_to(Expr::int(1)))
}

/// Derives the ranges of a stage's loops from those of its own axes.
pub(super) fn pass_down(schedule: &Schedule, stage: StageId, ranges: &mut Ranges) {
    let threaded = above_threads(schedule, stage);
    for relation in &schedule.stages[stage].relations {
        match relation {
            Relation::Split { parent, outer, inner, by } => {
                let extent = range(ranges, *parent).extent;
                // A loop is never longer than the axis it comes from, unless a thread is bound to it: a launch has the
                // declared number of threads, and a condition guards the idle ones.
                let tight = |axis: &IterId, size: i64| match Expr::int(size) {
                    size if !threaded.contains(axis)
                        && prove_compare(BinaryOp::Lt, &extent, &size, &BTreeMap::new()) =>
                    {
                        extent.clone()
                    }
                    size => size,
                };
                let (outer_extent, inner_extent) = match by {
                    SplitBy::Factor(factor) => (ceil_div(&extent, &Expr::int(*factor)), tight(inner, *factor)),
                    SplitBy::Parts(parts) => (tight(outer, *parts), ceil_div(&extent, &Expr::int(*parts))),
                };
                ranges.insert(*outer, Range::up_to(outer_extent));
                ranges.insert(*inner, Range::up_to(inner_extent));
            }
            // A fused loop runs over all pairs of its two parts.
            Relation::Fuse { outer, inner, fused } => {
                let product = mul(range(ranges, *outer).extent, range(ranges, *inner).extent);
                ranges.insert(*fused, Range::up_to(simplify(&product)));
            }
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

/// Axes that are bound to threads, and those from which such come.
fn above_threads(schedule: &Schedule, stage: StageId) -> BTreeSet<IterId> {
    let stage = &schedule.stages[stage];
    let mut above: BTreeSet<IterId> =
        stage.attrs.iter().filter(|(_, attrs)| attrs.bind.is_some()).map(|(axis, _)| *axis).collect();
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

/// Derives the values of a stage's axes from those of its loops.
pub(super) fn pass_up_values(stage: &Stage, ranges: &Ranges, values: &mut Values) {
    let value = |values: &Values, axis: &IterId| values.get(axis).cloned().unwrap_or_else(|| Expr::int(0));
    for relation in stage.relations.iter().rev() {
        match relation {
            Relation::Split { parent, outer, inner, .. } => {
                let step = range(ranges, *inner).extent;
                let inside = plus(value(values, inner), times(value(values, outer), step));
                values.insert(*parent, plus(inside, range(ranges, *parent).min));
            }
            Relation::Fuse { outer, inner, fused } => {
                let (fused, step) = (value(values, fused), range(ranges, *inner).extent);
                let quotient = quotient(BinaryOp::FloorDiv, fused.clone(), step.clone());
                values.insert(*outer, plus(quotient, range(ranges, *outer).min));
                let remainder = quotient_of(fused, step);
                values.insert(*inner, plus(remainder, range(ranges, *inner).min));
            }
            Relation::Rebase { parent, rebased } => {
                values.insert(*parent, plus(value(values, rebased), range(ranges, *parent).min));
            }
        }
    }
}

fn quotient_of(value: Expr, divisor: Expr) -> Expr {
    quotient(BinaryOp::FloorMod, value, divisor)
}

fn quotient(op: BinaryOp, value: Expr, divisor: Expr) -> Expr {
    match (value.as_int(), divisor.as_int(), op) {
        (Some(0), ..) => Expr::int(0),
        (_, Some(1), BinaryOp::FloorDiv) => value,
        (_, Some(1), _) => Expr::int(0),
        (_, _, BinaryOp::FloorDiv) => floor_div(value, divisor),
        _ => floor_mod(value, divisor),
    }
}

fn plus(a: Expr, b: Expr) -> Expr {
    match (a.as_int(), b.as_int()) {
        (Some(0), _) => b,
        (_, Some(0)) => a,
        _ => add(a, b),
    }
}

fn times(a: Expr, b: Expr) -> Expr {
    match (a.as_int(), b.as_int()) {
        (Some(0), _) | (_, Some(0)) => Expr::int(0),
        (Some(1), _) => b,
        (_, Some(1)) => a,
        _ => mul(a, b),
    }
}

/// Derives what a stage's axes can be from what its loops can be.
pub(super) fn pass_up_sets(
    schedule: &Schedule,
    stage: StageId,
    ranges: &Ranges,
    sets: &mut BTreeMap<IterId, Interval>,
) {
    let whole = |axis: IterId| {
        let range = range(ranges, axis);
        Interval::range(&range.min, &range.extent)
    };
    let set_of =
        |sets: &BTreeMap<IterId, Interval>, axis: IterId| sets.get(&axis).cloned().unwrap_or_else(|| whole(axis));
    let var = |axis: IterId| schedule.graph.axes[axis].var;
    for relation in schedule.stages[stage].relations.iter().rev() {
        match relation {
            Relation::Split { parent, outer, inner, .. } => {
                let (outer_set, inner_set) = (set_of(sets, *outer), set_of(sets, *inner));
                if outer_set == whole(*outer) && inner_set == whole(*inner) {
                    sets.insert(*parent, whole(*parent));
                    continue;
                }
                let step = range(ranges, *inner).extent;
                let value = add(mul(Expr::Var(var(*outer)), step), Expr::Var(var(*inner)));
                let env = [(var(*outer), outer_set), (var(*inner), inner_set)].into();
                let inside = add(value, range(ranges, *parent).min);
                sets.insert(*parent, or_whole(interval(&simplify(&inside), &env), whole(*parent)));
            }
            Relation::Fuse { outer, inner, fused } => {
                let fused_set = set_of(sets, *fused);
                if fused_set == whole(*fused) {
                    sets.insert(*outer, whole(*outer));
                    sets.insert(*inner, whole(*inner));
                    continue;
                }
                let step = range(ranges, *inner).extent;
                // A point stands for itself; anything larger is followed through the division.
                let (position, env) = match (&fused_set.lo, fused_set.is_point()) {
                    (Some(at), true) => (at.clone(), BTreeMap::new()),
                    _ => (Expr::Var(var(*fused)), [(var(*fused), fused_set.clone())].into()),
                };
                let high = add(floor_div(position.clone(), step.clone()), range(ranges, *outer).min);
                let low = add(floor_mod(position, step), range(ranges, *inner).min);
                sets.insert(*outer, or_whole(interval(&simplify(&high), &env), whole(*outer)));
                sets.insert(*inner, or_whole(interval(&simplify(&low), &env), whole(*inner)));
            }
            Relation::Rebase { parent, rebased } => {
                let set = set_of(sets, *rebased);
                let shift = |end: Option<Expr>| end.map(|end| simplify(&add(end, range(ranges, *parent).min)));
                sets.insert(*parent, Interval { lo: shift(set.lo), hi: shift(set.hi) });
            }
        }
    }
}

fn or_whole(set: Interval, whole: Interval) -> Interval {
    if set.lo.is_some() && set.hi.is_some() { set } else { whole }
}
