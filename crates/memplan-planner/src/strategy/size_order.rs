//! `size-order`: the largest buffers first, each into the smallest gap.
//!
//! The same best fit as `greedy-by-size` makes for offsets
//! (`smallest_gap.rs`), with the habits of the global-memory
//! allocator it comes from: sizes are padded to the alignment *before* they are
//! compared, and of two equal sizes the one that starts *later* is placed first.
//!
//! ```text
//!   a 64 [0,2)   b 64 [1,3)   c 32 [2,4)
//!
//!   b -> 0    a -> 64, above b    c -> 64, above b; a has ended     extent 128
//! ```
//!
//! O(n log n + conflicts).
//!
//! A [`Record`] is a buffer as a size and one stretch of time; [`padded`] rounds sizes up to the common alignment.

use std::cmp::Reverse;

use memplan_core::{Bytes, Outcome, Problem};

use crate::records::{Packing, Record, by_start, common_alignment, padded, plan_offsets, supports_records};
use crate::smallest_gap::{AtSameOffset, pack_into_smallest_gaps};
use crate::{Assign, Feature, Request, Strategy};

/// See the module documentation.
pub struct SizeOrder;

impl Strategy for SizeOrder {
    fn name(&self) -> &'static str {
        "size-order"
    }

    fn describe(&self) -> &'static str {
        "largest first into the smallest gap, later buffers first among equals"
    }

    fn assigns(&self) -> &'static [Assign] {
        &[Assign::Offsets]
    }

    fn supports(&self, feature: Feature, _: Assign) -> bool {
        supports_records(feature)
    }

    fn plan(&self, problem: &Problem, request: &Request) -> Outcome {
        plan_offsets(problem, |records| pack_in_size_order(records, request.ceiling))
    }
}

/// Places the largest records first, each into the smallest gap in which it fits. `None` if numbers exceed 2^63 bytes,
/// if a padded record ends a granule or more above the ceiling, or if the caller's patience ends. So a packing that
/// reaches the ceiling may be returned; the caller, who has a plan of that extent, compares.
fn pack_in_size_order(records: &[Record], ceiling: Option<Bytes>) -> Option<Packing> {
    let padded = padded(records)?;
    // Records are placed with their padding, but the extent counts their true sizes. The padding of a record is smaller
    // than the granule (the common alignment). So a record whose padded end is below ceiling + granule may still end
    // below the ceiling, and only padded ends at ceiling + granule or above end the placement.
    let granule = Bytes(common_alignment(records)?);
    let ceiling = ceiling.and_then(|ceiling| ceiling.checked_add(granule));
    let mut order = by_start(&padded);
    // The list goes from the latest start to the earliest. The sort by size is stable, so of equal sizes the record
    // that starts later is placed first.
    order.reverse();
    order.sort_by_key(|&index| Reverse(padded[index].bytes));
    let offsets = pack_into_smallest_gaps(&padded, &order, AtSameOffset::First, ceiling)?;
    // The extent is that of the records without their padding.
    Some(Packing::tight(records, offsets))
}
