//! Lowers pieces where that costs nothing, so that a cheap plan is no larger than it has to be.
//!
//! From the lowest piece to the highest, each goes to the lowest offset at which nothing is forbidden and its relations
//! cost no more than before. The passes over all pieces are repeated until no piece moves.
//!
//! A [`Relation`] of two pieces holds if the difference of their offsets lies in an interval; then it is forbidden or
//! has a price. A [`Spot`] is where a piece lies.

use super::model::{Model, Relation, Spot};
use crate::tuning::{MOST_SINKING_PASSES, MOST_SUNK_PIECES};

/// The same placement with every piece as low as it can go on its own. With very many pieces it is returned as it is.
pub(super) fn sink(model: &Model, mut spots: Vec<Spot>) -> Vec<Spot> {
    if model.items.len() > MOST_SUNK_PIECES {
        return spots;
    }
    // Pieces with a fixed offset stay.
    let mut order: Vec<usize> = (0..model.items.len()).filter(|&item| model.items[item].fixed.is_none()).collect();
    for _ in 0..MOST_SINKING_PASSES {
        order.sort_by_key(|&item| (spots[item].offset, item));
        let mut has_moved = false;
        for &item in &order {
            let lower = lowest(model, &spots, item);
            has_moved |= lower < spots[item].offset;
            spots[item].offset = lower;
        }
        if !has_moved {
            break;
        }
    }
    spots
}

/// The lowest offset for a piece at which its relations cost no more than at its present offset, and none is broken.
/// The present offset if there is no lower one.
fn lowest(model: &Model, spots: &[Spot], item: usize) -> i64 {
    let here = spots[item];
    let info = &model.items[item];
    let alignment = info.homes[here.home as usize].alignment;
    let neighbours = info.relations.iter().filter(|relation| {
        let other = relation.other as usize;
        model.are_together(item, here, other, spots[other])
    });
    // Only 0 and the offsets at which a relation ends (just past a neighbour) need to be tried. From any other offset
    // the piece could go further down, until it reaches one of these, and on the way no relation begins to hold.
    let past = neighbours.clone().map(|relation| spots[relation.other as usize].offset + relation.high);
    let aligned = past.chain([0]).map(|offset| (offset.max(0) + alignment - 1) / alignment * alignment);
    let mut candidates: Vec<i64> = aligned.filter(|&offset| offset < here.offset).collect();
    candidates.sort_unstable();
    candidates.dedup();
    let Some(own) = cost_at(here.offset, neighbours.clone(), spots) else { return here.offset };
    let lower = candidates.into_iter().find(|&offset| {
        let cost = cost_at(offset, neighbours.clone(), spots);
        cost.is_some_and(|cost| cost <= own)
    });
    lower.unwrap_or(here.offset)
}

/// What a piece at an offset pays for its relations; `None` if it breaks one that is forbidden.
fn cost_at<'m>(offset: i64, neighbours: impl Iterator<Item = &'m Relation>, spots: &[Spot]) -> Option<u64> {
    let mut cost = 0;
    for relation in neighbours {
        if relation.holds(offset, spots[relation.other as usize].offset) {
            cost += relation.weight?;
        }
    }
    Some(cost)
}
