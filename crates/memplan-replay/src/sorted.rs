//! A sorted set of pairs of numbers that is quick when it is small.
//!
//! An allocator is called between pieces of a program that fill the processor's caches with other things. The code of a
//! tree is long and its nodes are scattered in memory, and fetching both into the caches takes most of the time of a
//! call. So the pairs lie in plain sorted lists. A look-up is a binary search, and an insertion shifts the pairs after
//! it:
//!
//! ```text
//!  lists   [(1,0) (1,8) (3,2)]   [(4,0) (7,5)]   [(9,1)]
//!            ▲ at most LONGEST pairs each; a longer list is cut in halves
//! ```
//! Most programs need one list. With n pairs a change shifts at most [`LONGEST`] of them and, where lists are cut or
//! become empty, n / [`LONGEST`] lists.
//!
//! A search gives a [`Position`], and changes take positions, so that who has found a pair does not search it again.
//! Every change makes other positions invalid, except [`Sorted::set`], which moves nothing.

/// A pair; pairs are ordered by their first number, then by their second.
pub(crate) type Pair = (u64, u64);

/// Pairs of a list at most: 4 KiB, which a processor shifts in about 50 ns.
const LONGEST: usize = 256;

/// A sorted set of pairs. No list is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sorted {
    /// The lists, each sorted; every pair of a list is below every pair of the next list.
    lists: Vec<Vec<Pair>>,
}

/// Where a pair lies: the number of its list, and its place in the list. The position behind all pairs is the end of the
/// last list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Position {
    list: usize,
    place: usize,
}

/// A pair as one number of the same order: a processor compares two of them without a jump that it may guess wrong.
fn key((first, second): Pair) -> u128 {
    u128::from(first) << u64::BITS | u128::from(second)
}

/// The place in a sorted list of the first pair that is not below `from`.
fn place_in(pairs: &[Pair], from: Pair) -> usize {
    pairs.partition_point(|&pair| key(pair) < key(from))
}

impl Sorted {
    /// The position of the first pair that is not below `from`; the end if there is none.
    pub(crate) fn place(&self, from: Pair) -> Position {
        // The first list whose last pair is not below `from`; the last list if there is none.
        let before_last = self.lists.len().saturating_sub(1);
        let list = self.lists[..before_last].partition_point(|list| list.last().is_some_and(|&last| last < from));
        Position { list, place: self.lists.get(list).map_or(0, |pairs| place_in(pairs, from)) }
    }

    /// The pair at a position; `None` at the end.
    pub(crate) fn get(&self, at: Position) -> Option<Pair> {
        self.lists.get(at.list)?.get(at.place).copied()
    }

    /// The position after that of a pair.
    pub(crate) fn next(&self, at: Position) -> Position {
        if at.place + 1 == self.lists[at.list].len() && at.list + 1 < self.lists.len() {
            return Position { list: at.list + 1, place: 0 };
        }
        Position { place: at.place + 1, ..at }
    }

    /// Puts a pair in the place of another one, where it must be in order as well.
    pub(crate) fn set(&mut self, at: Position, pair: Pair) {
        self.lists[at.list][at.place] = pair;
    }

    /// Adds a pair at its position: where [`Sorted::place`] finds it.
    pub(crate) fn insert_at(&mut self, at: Position, pair: Pair) {
        let Some(pairs) = self.lists.get_mut(at.list) else {
            self.lists.push(vec![pair]);
            return;
        };
        pairs.insert(at.place, pair);
        if pairs.len() > LONGEST {
            let upper = pairs.split_off(LONGEST / 2);
            self.lists.insert(at.list + 1, upper);
        }
    }

    /// Adds a pair that is not in the set.
    pub(crate) fn insert(&mut self, pair: Pair) {
        let at = self.place(pair);
        debug_assert!(self.get(at) != Some(pair), "{pair:?} is in the set already");
        self.insert_at(at, pair);
    }

    /// Takes out the pair at a position.
    pub(crate) fn remove_at(&mut self, at: Position) {
        self.lists[at.list].remove(at.place);
        if self.lists[at.list].is_empty() {
            self.lists.remove(at.list);
        }
    }

    /// Takes out a pair that is in the set.
    pub(crate) fn remove(&mut self, pair: Pair) {
        let at = self.place(pair);
        debug_assert_eq!(self.get(at), Some(pair), "it is in the set");
        self.remove_at(at);
    }

    /// Takes out the pair at a position and adds another one.
    pub(crate) fn replace_at(&mut self, at: Position, pair: Pair) {
        let Position { list, place } = at;
        let lists = self.lists.len();
        let pairs = &mut self.lists[list];
        let to = place_in(pairs, pair);
        // At the border of a list, the pair may belong to the list before or behind.
        let is_inside = (to > 0 || list == 0) && (to < pairs.len() || list + 1 == lists);
        if !is_inside {
            self.remove_at(at);
            self.insert(pair);
        } else if to > place {
            // Only the pairs between the old place and the new one are shifted.
            pairs.copy_within(place + 1..to, place);
            pairs[to - 1] = pair;
        } else {
            pairs.copy_within(to..place, to + 1);
            pairs[to] = pair;
        }
    }

    /// Takes out a pair that is in the set and adds another one.
    pub(crate) fn replace(&mut self, old: Pair, new: Pair) {
        let at = self.place(old);
        debug_assert_eq!(self.get(at), Some(old), "it is in the set");
        self.replace_at(at, new);
    }

    /// All pairs that are not below `from`, from small to large.
    pub(crate) fn from(&self, from: Pair) -> impl Iterator<Item = Pair> + '_ {
        let Position { list, place } = self.place(from);
        self.lists[list..]
            .iter()
            .enumerate()
            .flat_map(move |(number, pairs)| &pairs[if number == 0 { place } else { 0 }..])
            .copied()
    }

    /// All pairs, from small to large.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = Pair> + '_ {
        self.lists.iter().flatten().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memplan_testkit::Random;
    use std::collections::BTreeSet;

    /// Against the standard library's set, with so many pairs that lists are cut and become empty.
    #[test]
    fn lists_are_what_a_set_is() {
        let mut random = Random::new(1);
        let (mut sorted, mut set) = (Sorted::default(), BTreeSet::new());
        for round in 0..20_000 {
            // The set grows for a while and shrinks then.
            let grows = round / 4_000 % 2 == 0;
            let pair = (random.below(3_000), 0);
            if set.contains(&pair) {
                let other = (random.below(3_000), 0);
                if !set.contains(&other) {
                    set.remove(&pair);
                    set.insert(other);
                    sorted.replace(pair, other);
                } else if !grows || random.below(4) == 0 {
                    set.remove(&pair);
                    sorted.remove(pair);
                }
            } else if grows || random.below(4) == 0 {
                set.insert(pair);
                sorted.insert(pair);
            }
            let from = (random.below(3_100), random.below(2));
            let at = sorted.place(from);
            let mut rest = set.range(from..).copied();
            assert_eq!(sorted.get(at), rest.next());
            if sorted.get(at).is_some() {
                assert_eq!(sorted.get(sorted.next(at)), rest.next());
            }
            assert!(sorted.lists.iter().all(|list| (1..=LONGEST).contains(&list.len())));
            if round % 500 == 0 {
                assert!(sorted.from(from).eq(set.range(from..).copied()));
                assert!(sorted.iter().rev().eq(set.iter().rev().copied()));
            }
        }
        assert!(sorted.lists.len() > 1, "one list is not enough for a test");
        while let Some(pair) = set.pop_first() {
            sorted.remove(pair);
            assert!(sorted.iter().eq(set.iter().copied()));
        }
        assert_eq!(sorted, Sorted::default());
    }
}
