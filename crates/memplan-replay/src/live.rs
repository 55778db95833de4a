//! The allocations in use, by address.
//!
//! Every call of the allocator looks one up, and mostly finds that the processor's caches have long been filled with
//! other things. So what is known of an allocation has 32 bytes, half a cache line, and lies where the hash of its
//! address says, or a few places behind:
//!
//! ```text
//!  place     0     1     2     3     4     5     6     7
//!          │     │  a  │     │  b  │  c  │     │     │  d  │
//!                               ▲     ▲
//!                               │     c belongs to place 3, too, which b has
//!                               b belongs here
//! ```
//! A search begins at the place that an address belongs to and ends at the first empty one. When b is taken out, c moves
//! to place 3, so that the search for c still finds it. At most half of the places are taken.

use crate::arena::Tenant;
use crate::hashing::spread;
use crate::plan::ALIGNMENT;

/// An allocation that is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Live {
    /// Where it begins. 0 is no address of any device and stands for an empty place.
    pub(crate) address: u64,
    /// Bytes as requested.
    pub(crate) requested: u64,
    /// The serial of the run of a step that asked for it (its lower half), and its number in that run; [`OUTSIDE`] and
    /// 0 if it was not recorded.
    pub(crate) serial: u32,
    /// See `serial`.
    pub(crate) number: u32,
    /// What the arena knows of it; `None` if it lies in the pool.
    pub(crate) tenant: Option<Tenant>,
}

/// In place of a run's serial, for allocations that were not recorded. Serials begin at 1.
pub(crate) const OUTSIDE: u32 = 0;

impl Live {
    const EMPTY: Self = Self { address: 0, requested: 0, serial: OUTSIDE, number: 0, tenant: None };

    /// Bytes that it takes.
    pub(crate) fn bytes(&self) -> u64 {
        // The sum was checked when the bytes were handed out.
        self.requested.max(1).next_multiple_of(ALIGNMENT)
    }
}

/// A set of allocations by address.
#[derive(Debug, Default)]
pub(crate) struct LiveTable {
    /// No places, or a power of two of them.
    places: Vec<Live>,
    count: usize,
}

impl LiveTable {
    /// How many allocations there are.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// All allocations, in no order that means anything.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Live> {
        self.places.iter().filter(|live| live.address != 0)
    }

    /// The place that an address belongs to: as many upper bits of its hash as it takes to number the places.
    fn home(&self, address: u64) -> usize {
        (spread(address) >> (self.places.len().leading_zeros() + 1)) as usize
    }

    /// The place of an allocation; `None` if it is not in the table.
    fn find(&self, address: u64) -> Option<usize> {
        let last = self.places.len().checked_sub(1)?;
        let mut place = self.home(address);
        loop {
            match self.places[place].address {
                0 => return None,
                found if found == address => return Some(place),
                _ => place = (place + 1) & last,
            }
        }
    }

    /// Whether an allocation is in use.
    pub(crate) fn contains(&self, address: u64) -> bool {
        self.find(address).is_some()
    }

    /// Adds an allocation whose address is not in the table.
    pub(crate) fn insert(&mut self, live: Live) {
        if 2 * (self.count + 1) > self.places.len() {
            self.grow();
        }
        // Two owners of one address would overwrite each other, and nothing behind this line would notice.
        debug_assert!(!self.contains(live.address), "address {:#x} has two owners", live.address);
        self.put(live);
        self.count += 1;
    }

    /// Puts an allocation into the first empty place from the one on that it belongs to.
    fn put(&mut self, live: Live) {
        let last = self.places.len() - 1;
        let mut place = self.home(live.address);
        while self.places[place].address != 0 {
            place = (place + 1) & last;
        }
        self.places[place] = live;
    }

    #[cold]
    fn grow(&mut self) {
        let places = vec![Live::EMPTY; (2 * self.places.len()).max(64)];
        for live in std::mem::replace(&mut self.places, places) {
            if live.address != 0 {
                self.put(live);
            }
        }
    }

    /// Takes an allocation out; `None` if its address is not in the table.
    pub(crate) fn remove(&mut self, address: u64) -> Option<Live> {
        let last = self.places.len().checked_sub(1)?;
        let mut gap = self.find(address)?;
        let removed = self.places[gap];
        let mut place = gap;
        loop {
            place = (place + 1) & last;
            let live = self.places[place];
            if live.address == 0 {
                break;
            }
            // An allocation may move to the gap unless it belongs to a place behind the gap. Places are a ring, so
            // distances are counted backwards from where the allocation lies.
            let (to_home, to_gap) = (place.wrapping_sub(self.home(live.address)), place.wrapping_sub(gap));
            if to_home & last >= to_gap & last {
                self.places[gap] = live;
                gap = place;
            }
        }
        self.places[gap] = Live::EMPTY;
        self.count -= 1;
        Some(removed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memplan_testkit::Random;
    use std::collections::BTreeMap;

    #[test]
    fn an_allocation_takes_half_a_cache_line() {
        assert_eq!(size_of::<Live>(), 32);
    }

    /// Against the standard library's map: so many allocations that the table grows, and so few addresses that searches
    /// go around the end of the table.
    #[test]
    fn the_table_is_what_a_map_is() {
        let mut random = Random::new(3);
        let (mut table, mut map) = (LiveTable::default(), BTreeMap::new());
        assert_eq!((table.remove(512), table.contains(0)), (None, false));
        table.insert(Live { address: 512, ..Live::EMPTY });
        assert_eq!((table.remove(0), table.remove(512).is_some()), (None, true));
        for round in 0..40_000_u32 {
            let most = if round < 20_000 { 200 } else { 3_000 };
            let address = 0x7f00_0000_0000 + 512 * random.below(most);
            let known = map.remove(&address);
            assert_eq!(table.remove(address), known);
            if known.is_none() {
                let live = Live { address, requested: random.below(1 << 40), serial: round, number: 7, tenant: None };
                table.insert(live);
                map.insert(address, live);
            }
            let other = 0x7f00_0000_0000 + 512 * random.below(most);
            assert_eq!(table.contains(other), map.contains_key(&other));
            assert_eq!(table.len(), map.len());
            if round % 1_000 == 0 {
                let mut all: Vec<Live> = table.iter().copied().collect();
                all.sort_unstable_by_key(|live| live.address);
                assert!(all.iter().eq(map.values()));
            }
        }
        let addresses: Vec<u64> = map.keys().copied().collect();
        assert!(addresses.iter().all(|address| table.remove(*address).is_some()));
        assert_eq!((table.len(), table.iter().count()), (0, 0));
    }
}
