//! Irreducible witnesses: a set of items that do not fit together, such that the others fit if any one is left out.
//!
//! The search starts with items that are proved not to fit. It leaves some of them out and tries to prove it for the
//! rest. If that succeeds, these items are dropped for good. First halves are left out, then quarters, down to single
//! items. In the end every item is needed: without any one of them the rest fits, or could not be refuted within
//! [`WITNESS_NODES`] nodes.
//!
//! An [`Instance`] is one space with its items; items are named by their positions in it. [`Exact`] is the exact search
//! of such an instance within a capacity.

use memplan_core::Bytes;

use super::budget::Budget;
use super::exact::{Exact, Limit, Rules, Verdict};
use super::instance::Instance;
use super::rank::PLAIN_ORDERS;
use crate::tuning::WITNESS_NODES;

/// Those of `items` that cannot be placed within `capacity` (bytes) together and of which none can be spared. `None`
/// if it could not be proved, within the node limit, that `items` do not fit.
pub(crate) fn irreducible(
    instance: &Instance,
    items: &[u32],
    capacity: Bytes,
    budget: &mut Budget,
) -> Option<Vec<u32>> {
    let mut kept = items.to_vec();
    if !is_refuted(instance, &kept, capacity, budget) {
        return None;
    }
    // The smallest are tried first, so that few large ones remain.
    kept.sort_by_key(|&item| (instance.items[item as usize].height, item));
    // Chunks of half of the items are left out first, then of a quarter, and so on.
    let mut chunk = kept.len().div_ceil(2);
    loop {
        let before = kept.len();
        let mut start = 0;
        while start < kept.len() && budget.stop().is_none() {
            // If the items without this chunk still do not fit, the chunk is gone, and the next one begins at `start`.
            let end = (start + chunk).min(kept.len());
            let rest = [&kept[..start], &kept[end..]].concat();
            if is_refuted(instance, &rest, capacity, budget) {
                kept = rest;
            } else {
                start = end;
            }
        }
        // Single items are tried until nothing changes. An item may have been kept only because the others could not be
        // refuted within the node limit; once some of these are gone, the rest may be easier to refute.
        if chunk == 1 && (kept.len() == before || budget.stop().is_some()) {
            break;
        }
        chunk = chunk.div_ceil(2).max(1);
    }
    kept.sort_unstable();
    Some(kept)
}

/// Whether it can be proved that these items do not fit into a capacity: by the lower bound, or by the exact search
/// within the node limit.
fn is_refuted(instance: &Instance, items: &[u32], capacity: Bytes, budget: &mut Budget) -> bool {
    let subset = instance.subset(items);
    // The lower bound costs next to nothing, so it is asked first.
    if subset.lower_bound() > capacity {
        return true;
    }
    let mut search = Exact::<i64>::new(&subset);
    let limit = Limit::nodes(WITNESS_NODES);
    let verdict = search.run(capacity, (PLAIN_ORDERS[0], &[]), Rules::PROOF, limit, &|| budget.is_late());
    budget.spend(search.work().max(1));
    verdict == Verdict::Refuted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::instance::{Slab, Stretch};

    fn slab(start: u64, end: u64, height: u64) -> Slab {
        Slab { stretches: vec![Stretch { start, end, height }], size: height, alignment: 1, fixed: None }
    }

    #[test]
    fn only_what_is_needed_remains() {
        // Item 1 cannot be spared, nor 3; 0 and 2 are elsewhere or small.
        let slabs = [slab(5, 9, 9), slab(0, 4, 6), slab(0, 4, 1), slab(2, 5, 5)];
        let instance = Instance::new(&slabs, &[]).unwrap();
        let mut budget = Budget::of(&crate::Request::default());
        assert_eq!(irreducible(&instance, &[0, 1, 2, 3], Bytes(10), &mut budget), Some(vec![1, 3]));
        assert_eq!(irreducible(&instance, &[0, 1, 2, 3], Bytes(12), &mut budget), None);
    }
}
