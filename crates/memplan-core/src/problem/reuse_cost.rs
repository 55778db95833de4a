//! The price of reusing memory.
//!
//! Two buffers with disjoint lives may lie on the same bytes. If they belong to units that run beside each other, the
//! later one's first write then has to wait for the earlier one's last access: sharing adds a synchronisation.
//!
//! ```text
//!   bytes                                 the load of b writes where the vector unit reads a:
//!   32 ┤ a a a b b b                      it has to wait                     cost 1
//!    0 └─────────────> step
//!
//!   64 ┤       b b b
//!   32 ┤ a a a                            32 bytes more, and nobody waits    cost 0
//!    0 └─────────────> step
//! ```
//!
//! A pair is *active* in a plan if both buffers lie in the same space and have a byte in common, whatever their lives
//! and windows. The cost of a plan is the sum of the weights of its active pairs. `must_not_share` is the case of an
//! infinite weight.

use crate::{BufferId, Bytes, Placement, Plan, Problem, Size};

/// Two buffers, and what it costs if they have a byte in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReuseCost {
    /// One of the two; the order means nothing.
    pub one: BufferId,
    /// The other.
    pub other: BufferId,
    /// The price.
    pub weight: u64,
}

impl Plan {
    /// The pairs with a price that have a byte in common, in the problem's order.
    pub fn active_pairs<'p>(&self, problem: &'p Problem) -> Vec<&'p ReuseCost> {
        problem.reuse_costs().iter().filter(|pair| self.share_bytes(problem, pair.one, pair.other)).collect()
    }

    /// The sum of the weights of the active pairs.
    pub fn reuse_cost(&self, problem: &Problem) -> u64 {
        self.active_pairs(problem).iter().map(|pair| pair.weight).sum()
    }

    /// Whether two buffers lie on a common byte, whenever they live. A shared object is used as a whole, so two
    /// buffers in one object always do, unless one of them has size 0.
    fn share_bytes(&self, problem: &Problem, one: BufferId, other: BufferId) -> bool {
        // A buffer without a place shares with nobody.
        let place = |id: BufferId| self.placements.get(id).and_then(Option::as_ref);
        let (Some(here), Some(there)) = (place(one), place(other)) else { return false };
        let size = |id: BufferId| problem.buffers()[id].bytes();
        let is_nothing = |id: BufferId| match &problem.buffers()[id].size {
            Size::Shape(components) => components.contains(&0),
            size => size.bytes() == Some(Bytes::ZERO),
        };
        match (here.object, there.object) {
            (Some(object), Some(other_object)) => object == other_object && !is_nothing(one) && !is_nothing(other),
            (None, None) => {
                let (size, other_size) = (size(one).unwrap_or_default(), size(other).unwrap_or_default());
                here.space == there.space && meet(here, size, there, other_size)
            }
            // A shared object and a place with an offset have no bytes in common.
            _ => false,
        }
    }
}

/// Whether any slot of the one has a byte in common with any slot of the other.
fn meet(here: &Placement, size: Bytes, there: &Placement, other_size: Bytes) -> bool {
    let is_common = |low: Bytes, other_low: Bytes| {
        let (high, other_high) = (low.0.saturating_add(size.0), other_low.0.saturating_add(other_size.0));
        // Two ranges have a byte in common if the later start is before the earlier end.
        low.0.max(other_low.0) < high.min(other_high)
    };
    here.offsets.iter().any(|&low| there.offsets.iter().any(|&other_low| is_common(low, other_low)))
}
