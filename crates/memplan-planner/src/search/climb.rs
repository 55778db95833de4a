//! Orders that get better: hill climbing on the noise of a search.
//!
//! Which candidate the exact search tries first is decided by an [`Order`] and a random number per item, the *noise*. A
//! short search with an order and its noise either finds a plan or ends at its node limit with some items placed. The
//! more items it has placed, the better are the order and its noise. If a few of the random numbers change, the number
//! of placed items mostly changes little. So good noise can be improved:
//!
//! ```text
//!   parent   order, noise 7 1 9 4 …   placed 180 of 213
//!   child           noise 7 1 2 4 …   placed 184: becomes the parent
//!   child           noise 7 8 2 4 …   placed 171: forgotten
//! ```
//!
//! There are a few *parents* side by side, which have *turns* one after the other. In its turn a parent has a
//! *child*, a copy with some numbers drawn anew. A child that came at least as far as its parent replaces it, even if
//! it came no further, so that the search does not stay where all neighbours are equally good. Now and then a
//! *newborn*, an order with fresh noise, takes the place of the child. On instances where one in a thousand random
//! orders leads to a plan this finds one within a few hundred, and it does so for any seed.

use std::sync::Arc;

use memplan_core::Bytes;

use super::random::Random;
use super::rank::Order;
use crate::tuning::{BEST_PARENT_TURN, CHANGED_THOUSANDTHS, FIRST_NEWBORNS, NEWBORN_TURN, POPULATION};

/// An order with its noise.
#[derive(Clone, Debug)]
pub(crate) struct Genes {
    pub(crate) order: Order,
    /// A random number per item; an empty list if the order has no noise.
    pub(crate) noise: Arc<[u32]>,
}

impl Genes {
    /// An order without noise.
    pub(crate) fn plain(order: Order) -> Genes {
        Genes { order, noise: Arc::new([]) }
    }

    /// A random order with new noise for `items` items.
    pub(crate) fn newborn(items: usize, random: &mut Random) -> Genes {
        let order = Order::noisy(random);
        Genes { order, noise: (0..items).map(|_| number(random)).collect() }
    }

    /// The same order with some of the numbers drawn anew. The share of numbers that change is drawn, too.
    fn mutated(&self, random: &mut Random) -> Genes {
        let share = CHANGED_THOUSANDTHS[random.below(CHANGED_THOUSANDTHS.len() as u64) as usize];
        let noise = self.noise.iter().map(|&noise| if random.below(1000) < share { number(random) } else { noise });
        Genes { order: self.order, noise: noise.collect() }
    }
}

/// A random number of 32 bits: the upper half of one of 64.
fn number(random: &mut Random) -> u32 {
    (random.next() >> 32) as u32
}

/// Genes and what a search with them came to.
#[derive(Clone, Debug)]
struct Parent {
    genes: Genes,
    /// The extent within which the search was to find a plan.
    target: Bytes,
    /// Most items placed at once.
    depth: usize,
}

/// Parents that are improved side by side. See the module documentation.
#[derive(Clone, Debug)]
pub(crate) struct Climbers {
    /// How many items the instance has: noise has a number for each.
    items: usize,
    /// Children and newborns judged so far.
    births: u64,
    /// `None` where no search has been judged yet.
    parents: Vec<Option<Parent>>,
}

impl Climbers {
    pub(crate) fn new(items: usize) -> Climbers {
        Climbers { items, births: 0, parents: (0..POPULATION).map(|_| None).collect() }
    }

    /// The genes to try next: mostly a child of the parent whose turn it is, sometimes a child of the best parent. A
    /// newborn in the first [`FIRST_NEWBORNS`] turns, in one of [`NEWBORN_TURN`] later ones, and if that parent does
    /// not exist yet. Whichever it is, [`Climbers::judge`] compares it with the parent whose turn it is.
    pub(crate) fn child(&self, turn: u64, random: &mut Random) -> Genes {
        let own = self.parents[place(turn)].as_ref();
        // The best parent aims at the smallest extent, and of those it has placed the most items.
        let best = self.parents.iter().flatten().max_by_key(|parent| (std::cmp::Reverse(parent.target), parent.depth));
        let parent = if random.below(BEST_PARENT_TURN) == 0 { best } else { own };
        match parent {
            Some(parent) if self.births >= FIRST_NEWBORNS && random.below(NEWBORN_TURN) > 0 => {
                parent.genes.mutated(random)
            }
            _ => Genes::newborn(self.items, random),
        }
    }

    /// Compares a child with the parent whose turn it was: `genes` are what [`Climbers::child`] gave for that turn, and
    /// `depth` is how many items the search with them placed. The child replaces the parent if it placed at least as
    /// many items, if there is no parent, or if the parent's result was for another target and cannot be compared.
    pub(crate) fn judge(&mut self, turn: u64, genes: &Genes, target: Bytes, depth: usize) {
        // `births` says when the first turns, in which there are only newborns, are over.
        self.births += 1;
        let parent = &mut self.parents[place(turn)];
        if parent.as_ref().is_none_or(|parent| parent.target != target || depth >= parent.depth) {
            *parent = Some(Parent { genes: genes.clone(), target, depth });
        }
    }
}

/// The position of the parent that has this turn.
fn place(turn: u64) -> usize {
    (turn % POPULATION as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_worse_child_is_forgotten() {
        let mut random = Random::new(1);
        let mut climbers = Climbers::new(8);
        let children: Vec<Genes> = (0..4).map(|_| Genes::newborn(8, &mut random)).collect();
        for (child, depth, is_kept) in [(0, 5, true), (1, 4, false), (2, 5, true)] {
            climbers.judge(4, &children[child], Bytes(10), depth);
            let parent = climbers.parents[0].as_ref().unwrap();
            assert_eq!(parent.genes.noise == children[child].noise, is_kept);
        }
        climbers.judge(0, &children[3], Bytes(9), 0);
        assert_eq!(climbers.parents[0].as_ref().unwrap().target, Bytes(9));
    }
}
