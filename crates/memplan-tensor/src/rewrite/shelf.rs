//! Free entries of one place, memory and element type, and the search for the entry that fits best.
//!
//! The entries of constant size are ordered by their size, and entries of one size by the time of their return:
//!
//! ```text
//! size, returned   (64, 3)  (128, 1)  (128, 5)  (512, 2)
//!                            ^ the first from 100 bits on
//!                                      ^ the last below 200 bits
//! ```
//!
//! As a rule few entries are free at the same time. They stand in a sorted list, which is searched and changed faster
//! than a tree. When they become many, they move to a tree, so that no input makes the list slow.

use super::pool::{Attach, EntryId};
use super::sequence::StmtId;
use crate::DType;
use crate::ir::StorageScope;
use std::collections::{BTreeMap, VecDeque};

/// The most entries that stand in a list. Moving half of them, which a change of the list does at worst, takes as long
/// as a search in a tree.
const MOST_IN_LIST: usize = 32;

/// The size of a free entry in bits, and its number in the order of returns.
type Key = (u64, u64);

/// Free entries, by the place where they are attached.
#[derive(Default)]
pub(super) struct Free {
    /// Those at the top of the function, where most are.
    top: Vec<Shelf>,
    /// Those at the top of a statement.
    inside: BTreeMap<StmtId, Vec<Shelf>>,
}

impl Free {
    /// The shelves of a place; `None` if it has none.
    pub(super) fn at(&mut self, attach: Attach) -> Option<&mut Vec<Shelf>> {
        match attach {
            None => Some(&mut self.top),
            Some(stmt) => self.inside.get_mut(&stmt),
        }
    }

    /// The shelf of a place, memory and element type, made on first use.
    pub(super) fn shelf_for(&mut self, attach: Attach, scope: &StorageScope, element: DType) -> &mut Shelf {
        let shelves = match attach {
            None => &mut self.top,
            Some(stmt) => self.inside.entry(stmt).or_default(),
        };
        let known = shelves.iter().position(|shelf| shelf.element == element && shelf.scope == *scope);
        let position = known.unwrap_or_else(|| {
            shelves.push(Shelf { scope: scope.clone(), element, sized: BySize::new(), symbolic: VecDeque::new() });
            shelves.len() - 1
        });
        &mut shelves[position]
    }

    /// Forgets the entries that are attached to a statement.
    pub(super) fn forget(&mut self, stmt: StmtId) {
        self.inside.remove(&stmt);
    }
}

/// Free entries of one place, memory and element type.
pub(super) struct Shelf {
    pub(super) scope: StorageScope,
    pub(super) element: DType,
    /// Entries of constant size.
    pub(super) sized: BySize,
    /// Entries of symbolic size, in the order in which they became free.
    pub(super) symbolic: VecDeque<EntryId>,
}

/// Free entries of constant size, in the order of their keys.
pub(super) enum BySize {
    Few(Vec<(Key, EntryId)>),
    Many(BTreeMap<Key, EntryId>),
}

impl BySize {
    /// No entries.
    pub(super) fn new() -> BySize {
        BySize::Few(Vec::new())
    }

    /// Adds an entry. No other entry has its key.
    pub(super) fn insert(&mut self, key: Key, entry: EntryId) {
        match self {
            BySize::Few(list) if list.len() < MOST_IN_LIST => {
                let position = list.partition_point(|(other, _)| *other < key);
                list.insert(position, (key, entry));
            }
            BySize::Few(list) => {
                let mut tree: BTreeMap<Key, EntryId> = list.drain(..).collect();
                tree.insert(key, entry);
                *self = BySize::Many(tree);
            }
            BySize::Many(tree) => {
                tree.insert(key, entry);
            }
        }
    }

    /// The key of the first entry of `least` to `most` bits that suits.
    pub(super) fn first_from(&self, least: u64, most: u64, suits: impl Fn(EntryId) -> bool) -> Option<Key> {
        match self {
            BySize::Few(list) => {
                let start = list.partition_point(|((bits, _), _)| *bits < least);
                let fitting = list[start..].iter().take_while(|((bits, _), _)| *bits <= most);
                fitting.map(|(key, entry)| (*key, *entry)).find(|(_, entry)| suits(*entry)).map(|(key, _)| key)
            }
            BySize::Many(tree) => {
                let mut fitting = tree.range((least, 0)..=(most, u64::MAX));
                fitting.find(|(_, entry)| suits(**entry)).map(|(key, _)| *key)
            }
        }
    }

    /// The key of the last entry that suits among those of at least `least` and fewer than `below` bits.
    pub(super) fn last_below(&self, least: u64, below: u64, suits: impl Fn(EntryId) -> bool) -> Option<Key> {
        match self {
            BySize::Few(list) => {
                let end = list.partition_point(|((bits, _), _)| *bits < below);
                let fitting = list[..end].iter().rev().take_while(|((bits, _), _)| *bits >= least);
                fitting.map(|(key, entry)| (*key, *entry)).find(|(_, entry)| suits(*entry)).map(|(key, _)| key)
            }
            BySize::Many(tree) => {
                let mut fitting = tree.range((least, 0)..(below, 0)).rev();
                fitting.find(|(_, entry)| suits(**entry)).map(|(key, _)| *key)
            }
        }
    }

    /// Takes the entry of this key out.
    pub(super) fn remove(&mut self, key: Key) -> Option<EntryId> {
        match self {
            BySize::Few(list) => {
                let position = list.partition_point(|(other, _)| *other < key);
                let is_there = list.get(position).is_some_and(|(other, _)| *other == key);
                is_there.then(|| list.remove(position).1)
            }
            BySize::Many(tree) => tree.remove(&key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memplan_core::Id;
    use memplan_testkit::Random;

    /// A list and a tree that have had the same entries give the same answers.
    #[test]
    fn a_list_and_a_tree_agree() {
        let (mut few, mut many) = (BySize::new(), BySize::Many(BTreeMap::new()));
        let mut random = Random::new(1);
        let (mut inside, mut became_many) = (0, false);
        for returned in 0..20_000 {
            let (least, width, odd) = (random.below(100), random.below(60), random.below(3));
            let suits = |entry: EntryId| odd != 0 || entry.index() % 2 == 1;
            let first = few.first_from(least, least + width, suits);
            let last = few.last_below(least, least + width, suits);
            assert_eq!(first, many.first_from(least, least + width, suits));
            assert_eq!(last, many.last_below(least, least + width, suits));
            for key in [first, last].into_iter().flatten() {
                let taken = few.remove(key);
                assert_eq!(taken, many.remove(key));
                inside -= usize::from(taken.is_some());
            }
            let most = if returned % 2_000 < 1_000 { 10 } else { 2 * MOST_IN_LIST };
            if inside < most {
                let entry = EntryId::from_index(random.index(1_000));
                let key = (random.below(120), returned);
                few.insert(key, entry);
                many.insert(key, entry);
                inside += 1;
            }
            became_many |= matches!(few, BySize::Many(_));
        }
        assert!(became_many);
    }
}
