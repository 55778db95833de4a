//! What the exact search decides next, and which item it tries first.
//!
//! At a node the search picks a section and decides which item starts there, at the lowest open offset (the *floor*).
//! An [`Order`] picks the section ([`Pick`]), mostly one with few choices. The items that could start there are
//! ranked by three things on a logarithmic scale: the largest load an item meets (the heights still to be placed in
//! its fullest section), its width in sections, its height. A second set of weights breaks ties, and noise, a random
//! number for each item, makes a different order of every seed.
//!
//! The best single order we know takes the items that meet the largest load first, and of these the wide ones before
//! the narrow ones. But which order solves a given instance quickly is a matter of luck, so a search goes through a
//! portfolio of them with a small node limit each.

use super::random::Random;

/// Weights of (load met, width, height).
pub(crate) type Weights = [i64; 3];

/// What items are sorted by, smaller first: the traits weighed by [`Order::first`] and shifted by noise, the traits
/// weighed by [`Order::then`], the noise alone.
pub(crate) type Key = (i64, i64, u32);

/// Which section the search decides next. A *choice* of a section is an item that can start there, or leaving the point
/// empty if the section has *slack*: granules that may stay empty. The less slack, the *tighter* is the section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pick {
    /// The section with the fewest choices; of several the tightest.
    FewestTightest,
    /// The section with the fewest choices; of several the first in time.
    FewestFirst,
    /// The section with the fewest choices; of several the last in time.
    FewestLast,
    /// The section with the least product of choices and slack; of several the first in time.
    Product,
    /// The section with the least slack; of several the first in time.
    Tightest,
    /// The section with the fewest fillers: items that can be the lowest of those to come, at this offset or a higher
    /// one; of several the tightest.
    Scarcest,
    /// Of the sections of the item that ranks first: the tightest.
    FirstItem,
    /// The section that is first in time.
    First,
}

impl Pick {
    /// How urgent a section is: the section with the smallest pair is decided next. `choices` is how many items can
    /// start at the floor in that section, `slack` how many of its granules may stay empty, `fillers` how many items
    /// can be the lowest of its items to come.
    pub(crate) fn urgency(self, section: usize, choices: u64, slack: u64, fillers: u64) -> (u64, u64) {
        // With slack, leaving the point empty is one more choice.
        let choices = choices + u64::from(slack > 0);
        let place = section as u64;
        match self {
            Pick::FewestTightest => (choices, slack),
            Pick::FewestFirst => (choices, place),
            Pick::FewestLast => (choices, u64::MAX - place),
            Pick::Product => ((slack + 1).saturating_mul(choices), place),
            Pick::Tightest | Pick::FirstItem => (slack, place),
            Pick::Scarcest => (fillers, slack),
            Pick::First => (place, 0),
        }
    }
}

/// How to rank items, and which section to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) pick: Pick,
    /// Weights of the first key.
    pub(crate) first: Weights,
    /// Weights of the second key, which decides between items with equal first keys.
    pub(crate) then: Weights,
    /// Largest perturbation of the first key, in thousandths of a doubling.
    pub(crate) noise: u64,
}

const fn plain(pick: Pick, first: Weights, then: Weights) -> Order {
    Order { pick, first, then, noise: 0 }
}

const fn ranked(first: Weights, then: Weights) -> Order {
    plain(Pick::FewestTightest, first, then)
}

/// Orders without noise, most successful first.
pub(crate) const PLAIN_ORDERS: [Order; 8] = [
    plain(Pick::FewestTightest, [16, 1, 0], [0, 0, 1]),
    plain(Pick::FirstItem, [1, 0, 0], [0, 1, 0]),
    plain(Pick::Tightest, [0, 1, 0], [0, 1, 1]),
    plain(Pick::FewestTightest, [1, 0, 0], [0, 1, 1]),
    plain(Pick::FewestLast, [16, 1, 0], [0, 0, 1]),
    plain(Pick::First, [0, 1, 1], [1, 0, 0]),
    plain(Pick::Scarcest, [1, 0, 0], [0, 1, 0]),
    plain(Pick::Product, [16, 1, 0], [0, 0, 1]),
];

/// Orders to perturb, with the noise that suits them ([`Order::noise`]). With noise 0 only ties are broken at random.
const NOISY_ORDERS: [(Order, u64); 12] = [
    (ranked([1, 0, 0], [0, 1, 0]), 0),
    (ranked([1, 0, 0], [0, 1, 1]), 0),
    (ranked([1, 0, 0], [0, 1, 1]), 200),
    (ranked([0, 1, 0], [0, 1, 1]), 0),
    (ranked([0, 1, 0], [0, 1, 1]), 1000),
    (ranked([16, 1, 0], [0, 0, 1]), 30),
    (ranked([16, 1, 0], [0, 0, 1]), 60),
    (ranked([16, 1, 0], [0, 0, 1]), 150),
    (ranked([4, 1, 0], [0, 0, 1]), 150),
    (ranked([1, 1, 0], [0, 0, 1]), 400),
    (ranked([4, 4, 1], [0, 0, 1]), 1000),
    (ranked([0, 1, 1], [1, 0, 0]), 1000),
];

/// The picks of noisy orders; one that stands here several times is drawn more often.
const PICKS: [Pick; 10] = [
    Pick::FewestTightest,
    Pick::FewestTightest,
    Pick::FewestTightest,
    Pick::FewestFirst,
    Pick::FewestLast,
    Pick::Product,
    Pick::Tightest,
    Pick::FirstItem,
    Pick::Scarcest,
    Pick::First,
];

impl Order {
    /// A random one of the orders to perturb, with a random pick.
    pub(crate) fn noisy(random: &mut Random) -> Order {
        let (base, noise) = NOISY_ORDERS[random.below(NOISY_ORDERS.len() as u64) as usize];
        let pick = PICKS[random.below(PICKS.len() as u64) as usize];
        Order { noise, pick, ..base }
    }

    /// The sort key of an item with these traits and this number of noise: smaller comes first. The signs are turned,
    /// because large traits should come first.
    pub(crate) fn key(&self, (load, width, height): (u64, u64, u64), noise: u32) -> Key {
        let logs = [log2(load), log2(width), log2(height)];
        let weigh = |weights: &Weights| -> i64 { weights.iter().zip(logs).map(|(weight, log)| weight * log).sum() };
        // A doubling is 2^32 on the scale of `log2`. The remainder is below `self.noise` · 2^10, so the shift is below
        // `self.noise` thousandths of a doubling.
        let shift = if self.noise == 0 { 0 } else { ((u64::from(noise) % (self.noise * 1024)) << 22) as i64 / 1000 };
        (-weigh(&self.first) - shift, -weigh(&self.then), noise)
    }
}

/// Binary logarithm in units of 2^-32, linear between powers of two: `log2(8)` is 3 · 2^32, `log2(12)` is 3.5 · 2^32,
/// and that of 0 counts as that of 1. It never falls, and it is the same on every machine, which a logarithm of
/// floating point numbers is not.
fn log2(value: u64) -> i64 {
    let value = value.max(1);
    let exponent = 63 - value.leading_zeros();
    // The binary digits after the first one, as a fraction of 63 bits; 32 of them are kept.
    let mantissa = (value << (63 - exponent)) & (u64::MAX >> 1);
    (i64::from(exponent) << 32) | (mantissa >> 31) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_strictly_monotone_on_small_numbers() {
        assert_eq!(log2(1), 0);
        assert_eq!(log2(1 << 20), 20 << 32);
        assert!((1..5000).all(|value| log2(value) < log2(value + 1)));
    }

    #[test]
    fn wide_items_come_first() {
        let key = |width| PLAIN_ORDERS[1].key((10, width, 5), 0);
        assert!(key(8) < key(7));
    }
}
