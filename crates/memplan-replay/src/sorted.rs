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

/// A pair; pairs are ordered by their first number, then by their second.
pub(crate) type Pair = (u64, u64);

/// Pairs of a list at most: 4 KiB, which a processor shifts in about 50 ns.
const LONGEST: usize = 256;

/// A sorted set of pairs. No list is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sorted {
    lists: Vec<Vec<Pair>>,
}

impl Sorted {
    /// The list and the place in it of the first pair that is not below `from`; the place may be the end of the last
    /// list.
    fn place(&self, from: Pair) -> (usize, usize) {
        // The first list whose last pair is not below `from`; the last list if there is none.
        let before_last = self.lists.len().saturating_sub(1);
        let list = self.lists[..before_last].partition_point(|list| list.last().is_some_and(|&last| last < from));
        (list, self.lists.get(list).map_or(0, |pairs| pairs.partition_point(|&pair| pair < from)))
    }

    /// Adds a pair that is not in the set.
    pub(crate) fn insert(&mut self, pair: Pair) {
        let (list, place) = self.place(pair);
        let Some(pairs) = self.lists.get_mut(list) else {
            self.lists.push(vec![pair]);
            return;
        };
        debug_assert!(pairs.get(place) != Some(&pair), "{pair:?} is in the set already");
        pairs.insert(place, pair);
        if pairs.len() > LONGEST {
            let upper = pairs.split_off(LONGEST / 2);
            self.lists.insert(list + 1, upper);
        }
    }

    /// Takes out the pair `(key, _)`, whose second number is not known, and gives that number; `None` if there is none.
    pub(crate) fn remove_key(&mut self, key: u64) -> Option<u64> {
        let (list, place) = self.place((key, 0));
        let &(found, value) = self.lists.get(list)?.get(place)?;
        (found == key).then(|| {
            self.remove_at(list, place);
            value
        })
    }

    /// Takes out a pair that is in the set.
    pub(crate) fn remove(&mut self, pair: Pair) {
        let (list, place) = self.place(pair);
        debug_assert_eq!(self.lists[list].get(place), Some(&pair), "it is in the set");
        self.remove_at(list, place);
    }

    fn remove_at(&mut self, list: usize, place: usize) {
        self.lists[list].remove(place);
        if self.lists[list].is_empty() {
            self.lists.remove(list);
        }
    }

    /// The first pair that is not below `from`. Its second number may be changed, if the first one is in no other pair.
    pub(crate) fn first_from(&mut self, from: Pair) -> Option<&mut Pair> {
        let (list, place) = self.place(from);
        self.lists.get_mut(list)?.get_mut(place)
    }

    /// All pairs that are not below `from`, from small to large.
    pub(crate) fn from(&self, from: Pair) -> impl Iterator<Item = Pair> + '_ {
        let (list, place) = self.place(from);
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
                if !grows || random.below(4) == 0 {
                    set.remove(&pair);
                    sorted.remove(pair);
                }
            } else if grows || random.below(4) == 0 {
                set.insert(pair);
                sorted.insert(pair);
            }
            let from = (random.below(3_100), random.below(2));
            assert_eq!(sorted.first_from(from).copied(), set.range(from..).next().copied());
            assert!(sorted.lists.iter().all(|list| (1..=LONGEST).contains(&list.len())));
            if round % 500 == 0 {
                assert!(sorted.from(from).eq(set.range(from..).copied()));
                assert!(sorted.iter().rev().eq(set.iter().rev().copied()));
            }
        }
        while let Some(&(key, _)) = set.first() {
            assert_eq!((sorted.remove_key(key), sorted.remove_key(key)), (Some(0), None));
            set.pop_first();
        }
        assert_eq!(sorted, Sorted::default());
    }
}
