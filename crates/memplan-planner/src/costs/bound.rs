//! A quick lower bound on the cost: groups of pieces that are too large to be kept apart.
//!
//! If every two of some pieces are alive together or have a price, and their sizes add up to more than the capacity,
//! then at least one of the priced pairs is active. Two groups that have no priced pair in common are paid for
//! separately:
//!
//! ```text
//!   100 bytes;  a, b, c: 40 bytes each, a-b alive together, a-c costs 2, b-c costs 3
//!   120 > 100, so a-c or b-c is active: every plan costs 2 or more
//! ```
//!
//! Groups are grown greedily from each priced pair, largest pieces first; a priced pair is used in one group only.
//! Relations ("these two pieces share bytes if their distance is in this interval", forbidden or at a price) are those
//! of [`super::model`].
//!
//! A [`Model`] has an item for each piece, with its size, its homes (the spaces that it may live in, each with the
//! highest offset there) and its relations. Each relation is listed at both of its pieces, with the same number.

use super::model::Model;
use crate::search::Budget;
use crate::tuning::RELATIONS_PER_UNIT;

/// A lower bound of what every placement costs, without the pairs that always share. The bound is divided among the
/// pieces: each has the sum of the groups that were grown from it. The numbers of all pieces may be added up.
pub(super) fn lower_bound(model: &Model, budget: &mut Budget) -> Vec<u64> {
    let mut groups = Groups { model, used: vec![false; model.relations as usize], priced: Vec::new() };
    let mut bounds = vec![0; model.items.len()];
    for (item, info) in model.items.iter().enumerate() {
        if budget.stop().is_some() {
            break;
        }
        // Each pair once, from its piece with the smaller number.
        for relation in info.relations.iter().filter(|relation| relation.other as usize > item) {
            if relation.weight.is_some() && !groups.used[relation.number as usize] {
                budget.spend(1 + info.relations.len() as u64 / u64::from(RELATIONS_PER_UNIT));
                bounds[item] += groups.grow(item, relation.other as usize).unwrap_or(0);
            }
        }
    }
    bounds
}

/// The groups that have been grown so far.
struct Groups<'m> {
    model: &'m Model,
    /// By relation: whether a group has counted it.
    used: Vec<bool>,
    /// Scratch memory: the numbers of the priced relations inside the group that is being grown.
    priced: Vec<u32>,
}

impl Groups<'_> {
    /// Grows a group around two pieces. If the group is too large for the space, returns the price of its cheapest
    /// pair, and no later group may count its pairs. `None` if the group fits, if it has no priced pair, if a piece has
    /// a choice of spaces, or if a sum overflows.
    fn grow(&mut self, one: usize, other: usize) -> Option<u64> {
        let homes = &self.model.items[one].homes;
        let [home] = homes.as_slice() else { return None };
        // The highest offset was rounded down to the alignment, so the capacity is at most this.
        let limit = home.highest.checked_add(self.model.items[one].size + home.alignment - 1)?;
        let mut group = vec![one];
        self.priced.clear();
        let mut cheapest = u64::MAX;
        let mut sum = self.model.items[one].size;
        // Every two pieces of the group need a relation, so only pieces with a relation to the first one can join.
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
            self.priced.extend(numbers);
            group.push(candidate);
        }
        // A group that fits costs nothing. If a group that does not fit has no priced pair, there is no plan at all;
        // other code finds that out.
        if sum <= limit || cheapest == u64::MAX {
            return None;
        }
        self.priced.iter().for_each(|&number| self.used[number as usize] = true);
        Some(cheapest)
    }

    /// Says whether a piece can join a group. It can if, with each member, sharing is forbidden or has a price that no
    /// group has counted. Then returns the least of these prices (`u64::MAX` if sharing is forbidden with all members)
    /// and the numbers of the priced relations. `None` if the piece may share with a member for free or at a price that
    /// was counted before, or lives in another space.
    fn joins(&self, candidate: usize, group: &[usize]) -> Option<(u64, Vec<u32>)> {
        let info = &self.model.items[candidate];
        let (mut least, mut numbers) = (u64::MAX, Vec::new());
        for &member in group {
            let size = self.model.items[member].size;
            // Only a relation that holds whenever any two bytes of the pieces coincide counts: distances from minus
            // the own size to the member's size.
            let mut relations = info.relations.iter().filter(|relation| {
                relation.other as usize == member && relation.low == -info.size && relation.high == size
            });
            // A forbidden pair never shares, whatever its price is.
            if relations.clone().any(|relation| relation.weight.is_none()) {
                continue;
            }
            // A priced pair counts in one group only. Without any relation that counts, the two may share some byte at
            // no further price, and the piece cannot join.
            let relation = relations.find(|relation| !self.used[relation.number as usize])?;
            least = least.min(relation.weight?);
            numbers.push(relation.number);
        }
        let shares_space = info.homes.len() == 1 && info.homes[0].space == self.model.items[group[0]].homes[0].space;
        shares_space.then_some((least, numbers))
    }
}
