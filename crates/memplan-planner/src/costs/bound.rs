//! A quick lower bound on the cost: groups of pieces that are too large to be kept apart.
//!
//! If every two of some pieces are alive together or have a price, and their sizes add up to more than the capacity, then
//! at least one of the priced pairs is active. Two groups that have no priced pair in common are paid for separately:
//!
//! ```text
//!   100 bytes;  a, b, c: 40 bytes each, a-b alive together, a-c costs 2, b-c costs 3
//!   120 > 100, so a-c or b-c is active: every plan costs 2 or more
//! ```
//!
//! Groups are grown greedily from each priced pair, largest pieces first; a priced pair is used once.

use super::model::Model;
use crate::search::Budget;
use crate::tuning::RELATIONS_PER_UNIT;

/// A lower bound on what every placement costs in addition to pairs that always share. It is given piece by piece: the
/// sum of the groups that were grown from the piece. The bounds of all pieces may be added up.
pub(super) fn lower_bound(model: &Model, budget: &mut Budget) -> Vec<u64> {
    let mut groups = Groups { model, used: vec![false; model.relations as usize], matrix: Vec::new() };
    let mut bounds = vec![0; model.items.len()];
    for (item, info) in model.items.iter().enumerate() {
        if budget.stop().is_some() {
            break;
        }
        for relation in info.relations.iter().filter(|relation| relation.other as usize > item) {
            if relation.weight.is_some() && !groups.used[relation.number as usize] {
                budget.spend(1 + info.relations.len() as u64 / u64::from(RELATIONS_PER_UNIT));
                bounds[item] += groups.grow(item, relation.other as usize).unwrap_or(0);
            }
        }
    }
    bounds
}

struct Groups<'m> {
    model: &'m Model,
    /// By relation: whether a group has counted it.
    used: Vec<bool>,
    /// Scratch memory: priced relations of the group.
    matrix: Vec<u32>,
}

impl Groups<'_> {
    /// Grows a group around two pieces. If it is too large for the space, its cheapest pair is paid for and its pairs are used up.
    fn grow(&mut self, one: usize, other: usize) -> Option<u64> {
        let homes = &self.model.items[one].homes;
        let [home] = homes.as_slice() else { return None };
        let limit = home.highest.checked_add(self.model.items[one].size + home.alignment - 1)?;
        let mut group = vec![one];
        self.matrix.clear();
        let mut cheapest = u64::MAX;
        let mut sum = self.model.items[one].size;
        let mut candidates: Vec<usize> =
            self.model.items[one].relations.iter().map(|relation| relation.other as usize).collect();
        // The pair itself comes first; then large pieces, so that few of them fill the space and few pairs are used up.
        candidates.sort_unstable_by_key(|&item| (item != other, std::cmp::Reverse(self.model.items[item].size), item));
        candidates.dedup();
        for candidate in candidates {
            if sum > limit {
                break;
            }
            let Some((least, numbers)) = self.joins(candidate, &group) else { continue };
            sum = sum.checked_add(self.model.items[candidate].size)?;
            cheapest = cheapest.min(least);
            self.matrix.extend(numbers);
            group.push(candidate);
        }
        if sum <= limit || cheapest == u64::MAX {
            return None;
        }
        self.matrix.iter().for_each(|&number| self.used[number as usize] = true);
        Some(cheapest)
    }

    /// Whether a piece cannot share with any of a group for free: its priced relations with them, and the least price.
    fn joins(&self, candidate: usize, group: &[usize]) -> Option<(u64, Vec<u32>)> {
        let info = &self.model.items[candidate];
        let (mut least, mut numbers) = (u64::MAX, Vec::new());
        for &member in group {
            let size = self.model.items[member].size;
            // Only relations of whole pieces count: two such pieces cannot have a byte in common.
            let mut relations = info.relations.iter().filter(|relation| {
                relation.other as usize == member && relation.low == -info.size && relation.high == size
            });
            let first = relations.next()?;
            let forbidden = std::iter::once(first).chain(relations.clone()).find(|relation| relation.weight.is_none());
            let priced = std::iter::once(first).chain(relations).find(|relation| !self.used[relation.number as usize]);
            match (forbidden, priced) {
                (Some(_), _) => {}
                (None, Some(relation)) => {
                    least = least.min(relation.weight.unwrap_or(u64::MAX));
                    numbers.push(relation.number);
                }
                (None, None) => return None,
            }
        }
        let shares_space = info.homes.len() == 1 && info.homes[0].space == self.model.items[group[0]].homes[0].space;
        shares_space.then_some((least, numbers))
    }
}
