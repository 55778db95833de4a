//! The offsets that are enough to look at, and the groups of pieces that have nothing to do with each other.
//!
//! A relation ([`super::model`]) holds if the distance of two offsets is in an interval. Take a plan. If a relation
//! does not hold in it, the distance is at or below the interval, or at or above it; either is an inequality "one
//! offset is at least the other plus a constant". Among all placements that keep these inequalities there is one in
//! which every piece is as low as in any other. That placement costs no more than the plan, because relations that did
//! not hold in the plan do not hold in it either. In it every piece lies at its lowest offset, or just past another
//! piece. So the offsets to look at are those that chains of relations reach from 0 (or from a fixed offset):
//!
//! ```text
//!   pieces of 2 and 3 bytes, 8 bytes:   0, 2, 3, 4, 5, 6   (no piece ever needs to be at 1)
//! ```
//!
//! Tiles of a kernel have few sizes, so there are few offsets. If there are too many, the exact search is left out.

use std::collections::BTreeSet;

use super::model::Model;
use crate::tuning::MOST_COST_OFFSETS;

/// Pieces that relations connect, directly or through others; all of them in one space.
#[derive(Clone, Debug)]
pub(super) struct Component {
    /// Positions in [`Model::items`], ascending.
    pub(super) items: Vec<usize>,
}

/// The components of a model, small ones first; `None` if a piece has a choice of spaces.
pub(super) fn components(model: &Model) -> Option<Vec<Component>> {
    let count = model.items.len();
    if model.items.iter().any(|item| item.homes.len() != 1) {
        return None;
    }
    let mut component_of: Vec<Option<usize>> = vec![None; count];
    let mut components = Vec::new();
    // From each piece that is in no component yet, everything that can be reached along relations.
    for seed in 0..count {
        if component_of[seed].is_some() {
            continue;
        }
        let space = model.items[seed].homes[0].space;
        let number = components.len();
        component_of[seed] = Some(number);
        // `items` is also the queue: the relations of the pieces at position `next` and later were not looked at yet.
        let (mut items, mut next) = (vec![seed], 0);
        while let Some(&item) = items.get(next) {
            next += 1;
            for relation in &model.items[item].relations {
                let other = relation.other as usize;
                if component_of[other].is_none() && model.items[other].homes[0].space == space {
                    component_of[other] = Some(number);
                    items.push(other);
                }
            }
        }
        items.sort_unstable();
        components.push(Component { items });
    }
    components.sort_by_key(|component| component.items.len());
    Some(components)
}

/// For each piece of a component, the offsets to look at, ascending; `None` if there are too many.
pub(super) fn offsets(model: &Model, component: &Component) -> Option<Vec<Vec<i64>>> {
    let mut offsets: Vec<BTreeSet<i64>> = vec![BTreeSet::new(); component.items.len()];
    let mut count = 0;
    // Offsets whose consequences for other pieces have not been looked at, each with the place of its piece in the
    // component.
    let mut fresh: Vec<(usize, i64)> = Vec::new();
    for (place, &item) in component.items.iter().enumerate() {
        let lowest = model.items[item].fixed.unwrap_or(0);
        offsets[place].insert(lowest);
        fresh.push((place, lowest));
    }
    // A piece that may lie just past another one gets a new offset for each offset of that one.
    while let Some((place, offset)) = fresh.pop() {
        for relation in &model.items[component.items[place]].relations {
            let Ok(other) = component.items.binary_search(&(relation.other as usize)) else { continue };
            let info = &model.items[component.items[other]];
            let alignment = info.homes[0].alignment;
            // The relation does not hold if own offset − other offset ≤ `low`. So the lowest offset of the other piece
            // past this one is own offset − `low`.
            let past = (offset - relation.low).max(0);
            let Some(aligned) = past.checked_add(alignment - 1).map(|sum| sum / alignment * alignment) else {
                continue;
            };
            if info.fixed.is_none() && aligned <= info.homes[0].highest && offsets[other].insert(aligned) {
                count += 1;
                fresh.push((other, aligned));
            }
        }
        if count > MOST_COST_OFFSETS {
            return None;
        }
    }
    Some(offsets.into_iter().map(|offsets| offsets.into_iter().collect()).collect())
}
