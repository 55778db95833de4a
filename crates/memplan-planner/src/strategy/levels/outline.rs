//! The outline of a memory: which stretches of addresses are taken when.
//!
//! ```text
//!   address 0         64          160                capacity
//!           | A, then C |    B      |      free       |
//!             [0,3)[5,9)   [2,7)
//! ```
//!
//! Placing an item replaces the bounds under it; taking it back puts them there again.
//!
//! An [`Item`] is one slot of an entry; a [`Life`] is a list of stretches of time, sorted, with gaps between them, and
//! [`unite`] joins two of them.

use super::entry::{Item, Life, unite};

/// A stretch of addresses on which the same items lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    /// Its first byte.
    pub(super) offset: u64,
    /// How many bytes it has.
    pub(super) extent: u64,
    /// When it is taken.
    pub(super) life: Life,
    /// Whether an exclusive item has it, so that no other item may.
    pub(super) exclusive: bool,
    /// The item that took it last; `None` if nothing has been put there.
    pub(super) last: Option<Item>,
}

/// What is needed to undo a placement: `count` new bounds from position `at` on took the place of `bounds`.
#[derive(Clone, Debug)]
pub(super) struct Replaced {
    at: usize,
    count: usize,
    bounds: Vec<Bound>,
}

/// All addresses of a memory as bounds, each starting at the end of the one before it; the first starts at address 0.
#[derive(Clone, Debug)]
pub(super) struct Outline {
    pub(super) bounds: Vec<Bound>,
    /// Whether an item that covers several bounds leaves them separate, each with its own lives. Otherwise they become
    /// one.
    pub(super) split: bool,
}

impl Outline {
    /// A memory in which nothing has been put: one bound.
    pub(super) fn new(capacity: u64, split: bool) -> Outline {
        let free = Bound { offset: 0, extent: capacity, life: Life::new(), exclusive: false, last: None };
        Outline { bounds: vec![free], split }
    }

    /// Puts an item of `size` bytes onto the bounds `first..=last`, from the start of the bound `first`. The caller has
    /// made sure that these bounds together have at least `size` bytes. Returns what is needed to undo the placement.
    pub(super) fn put(
        &mut self,
        first: usize,
        last: usize,
        item: Item,
        size: u64,
        life: &Life,
        exclusive: bool,
    ) -> Replaced {
        let covered: Vec<Bound> = self.bounds[first..=last].to_vec();
        let address = covered[0].offset;
        let end = address + size;
        let mut bounds = Vec::with_capacity(covered.len() + 1);
        // In split mode each covered stretch keeps the lives of the items that were there before, which is exact.
        // Otherwise the item becomes one stretch with the lives of all, which is coarser.
        if self.split {
            for bound in &covered {
                let extent = bound.extent.min(end - bound.offset);
                let exclusive = exclusive || bound.exclusive;
                let life = unite(&bound.life, life);
                bounds.push(Bound { offset: bound.offset, extent, life, exclusive, last: Some(item) });
            }
        } else {
            let united = covered.iter().fold(life.clone(), |life, bound| unite(&life, &bound.life));
            let exclusive = exclusive || covered.iter().any(|bound| bound.exclusive);
            bounds.push(Bound { offset: address, extent: size, life: united, exclusive, last: Some(item) });
        }
        // The last covered bound may reach above the end of the item. The part above it keeps its lives and its owner.
        if let Some(tail) = covered.last().filter(|bound| bound.offset + bound.extent > end) {
            let extent = tail.offset + tail.extent - end;
            bounds.push(Bound { offset: end, extent, ..tail.clone() });
        }
        let count = bounds.len();
        self.bounds.splice(first..=last, bounds);
        // The old bounds are handed back, so that the placement can be undone.
        Replaced { at: first, count, bounds: covered }
    }

    /// Undoes the latest placement that has not been undone.
    pub(super) fn restore(&mut self, replaced: Replaced) {
        self.bounds.splice(replaced.at..replaced.at + replaced.count, replaced.bounds);
    }

    /// The positions of the first and the last bound that `size` bytes from an address on reach into; `None` if no
    /// bound starts at the address, or if the memory ends before.
    pub(super) fn window(&self, address: u64, size: u64) -> Option<(usize, usize)> {
        let first = self.bounds.binary_search_by_key(&address, |bound| bound.offset).ok()?;
        let end = address.checked_add(size)?;
        let last = self.bounds.partition_point(|bound| bound.offset < end).checked_sub(1)?;
        let bound = self.bounds.get(last)?;
        (last >= first && bound.offset.checked_add(bound.extent)? >= end).then_some((first, last))
    }
}
