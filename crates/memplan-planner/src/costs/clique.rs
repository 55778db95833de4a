//! The heaviest clique of a small graph: pieces every two of which have to be kept apart.
//!
//! ```text
//!   a 4 ─── b 4        {a, b, c} weighs 9, {b, d} weighs 6: the first is the heaviest
//!     \    /  \
//!      c 1     d 2
//! ```
//!
//! Cliques grow by one vertex at a time. The vertices that may still join are divided into *classes*: no two vertices
//! of a class are adjacent, so a clique has at most one of each class. So the sum of the heaviest vertices of all
//! classes bounds what a clique may still gain, and branches that cannot reach the heaviest clique so far are cut.
//! Vertices are best numbered from heavy to light.

use crate::tuning::MOST_CLIQUE_NODES;

/// Vertices as bits.
pub(super) type Set = u128;

/// Most vertices of a graph.
pub(super) const MOST_VERTICES: usize = Set::BITS as usize;

/// The vertices of a set, ascending.
pub(super) fn vertices(mut set: Set) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        // The lowest bit that is set is the next vertex; `set & (set - 1)` clears it.
        let vertex = set.trailing_zeros() as usize;
        (set != 0).then(|| {
            set &= set - 1;
            vertex
        })
    })
}

/// A clique, and how many nodes it took to find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clique {
    pub(super) members: Set,
    pub(super) weight: i64,
    pub(super) nodes: u64,
}

/// The heaviest clique; if that takes more than [`MOST_CLIQUE_NODES`] nodes, the heaviest one found so far. `adjacent`
/// has the neighbours of each vertex; there are at most [`MOST_VERTICES`] vertices.
pub(super) fn heaviest(adjacent: &[Set], weights: &[i64]) -> Clique {
    let mut search = Search { adjacent, weights, best: Clique { members: 0, weight: 0, nodes: 0 } };
    // As many ones as there are vertices. (Rust does not shift all bits out: without vertices `checked_shr` gives
    // `None`.)
    let all = Set::MAX.checked_shr((MOST_VERTICES - weights.len()) as u32).unwrap_or(0);
    search.grow(0, 0, all);
    search.best
}

/// The search for the heaviest clique.
struct Search<'g> {
    adjacent: &'g [Set],
    weights: &'g [i64],
    best: Clique,
}

impl Search<'_> {
    /// Adds candidates to a clique; each of them is adjacent to all of its members.
    fn grow(&mut self, members: Set, weight: i64, mut candidates: Set) {
        self.best.nodes += 1;
        if weight > self.best.weight {
            (self.best.members, self.best.weight) = (members, weight);
        }
        for (vertex, gain) in self.bounds(candidates).into_iter().rev() {
            // A clique of `members`, this candidate and candidates before it gains at most `gain`. The candidates after
            // it in the list have been tried, because the list is walked from its end.
            if weight + gain <= self.best.weight || self.best.nodes >= MOST_CLIQUE_NODES {
                return;
            }
            self.grow(members | 1 << vertex, weight + self.weights[vertex], candidates & self.adjacent[vertex]);
            candidates &= !(1 << vertex);
        }
    }

    /// The candidates class by class, each with a bound on what it and all before it can add to a clique: the sum of
    /// the heaviest vertices of its class and of the classes before.
    fn bounds(&self, mut candidates: Set) -> Vec<(usize, i64)> {
        // `sum` is the weight that a clique can have at most from the classes so far.
        let (mut bounds, mut sum) = (Vec::new(), 0);
        while candidates != 0 {
            // One class: take a candidate, strike out its neighbours, and go on with what is left.
            let (mut free, mut heaviest) = (candidates, 0);
            let start = bounds.len();
            while free != 0 {
                let vertex = free.trailing_zeros() as usize;
                free &= !(1 << vertex) & !self.adjacent[vertex];
                candidates &= !(1 << vertex);
                heaviest = heaviest.max(self.weights[vertex]);
                bounds.push((vertex, 0));
            }
            sum += heaviest;
            bounds[start..].iter_mut().for_each(|(_, gain)| *gain = sum);
        }
        bounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Random;

    #[test]
    fn as_heavy_as_the_heaviest_of_all_subsets() {
        let mut random = Random::new(11);
        for _ in 0..300 {
            let count = 1 + random.below(9) as usize;
            let weights: Vec<i64> = (0..count).map(|_| 1 + random.below(9) as i64).collect();
            let mut adjacent = vec![0; count];
            for (one, other) in (0..count).flat_map(|one| (0..one).map(move |other| (one, other))) {
                if random.below(3) > 0 {
                    adjacent[one] |= 1 << other;
                    adjacent[other] |= 1 << one;
                }
            }
            let is_clique = |set: Set| vertices(set).all(|vertex| set & !(1 << vertex) & !adjacent[vertex] == 0);
            let weight = |set: Set| vertices(set).map(|vertex| weights[vertex]).sum::<i64>();
            let truth = (0..1 << count).filter(|&set| is_clique(set)).map(weight).max().unwrap();
            let found = heaviest(&adjacent, &weights);
            assert!(is_clique(found.members));
            assert_eq!((weight(found.members), found.weight), (truth, truth), "{adjacent:?} {weights:?}");
        }
    }
}
