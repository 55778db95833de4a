//! What the exact search decides next, and which item it tries first.
//!
//! An [`Order`] picks the section to look at ([`Pick`]), mostly one with few choices. The
//! items that could come there are ranked by three things on a logarithmic scale: the largest load an
//! item meets, its width in sections, its height. A second set of weights breaks
//! ties, and noise makes a different order of every seed. The items that meet the largest load first, wide ones before narrow ones, is
//! the best single order we know; which order solves a given instance quickly is
//! a matter of luck, so a search goes through a portfolio of them with a small
//! node limit each.

use super::random::Random;

/// Weights of (load met, width, height).
pub(crate) type Weights = [i64; 3];

/// What items are sorted by: the weighed traits with noise, then others, then noise alone.
pub(crate) type Key = (i64, i64, u32);

/// Which section the search decides next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pick {
    /// The one with the fewest choices; of several the tightest.
    FewestTightest,
    /// The one with the fewest choices; of several the first.
    FewestFirst,
    /// The one with the fewest choices; of several the last.
    FewestLast,
    /// Few choices and little slack: the least product.
    Product,
    /// The one with the least slack.
    Tightest,
    /// The one that the fewest items can fill at all.
    Scarcest,
    /// The tightest of the item that ranks first.
    FirstItem,
    /// The first.
    First,
}

impl Pick {
    /// How urgent a section is, least first: `choices` for its lowest item, `slack` for
    /// waste, `fillers` that could be its lowest item sooner or later.
    pub(crate) fn urgency(self, section: usize, choices: u64, slack: u64, fillers: u64) -> (u64, u64) {
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
    pub(crate) first: Weights,
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

/// Orders to perturb, with the noise that suits them; without any, only ties are broken at random.
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

/// What noisy orders pick.
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
    /// An order to perturb, at random.
    pub(crate) fn noisy(random: &mut Random) -> Order {
        let (base, noise) = NOISY_ORDERS[random.below(NOISY_ORDERS.len() as u64) as usize];
        let pick = PICKS[random.below(PICKS.len() as u64) as usize];
        Order { noise, pick, ..base }
    }

    /// The sort key of an item: smaller comes first.
    pub(crate) fn key(&self, (load, width, height): (u64, u64, u64), noise: u32) -> Key {
        let logs = [log2(load), log2(width), log2(height)];
        let weigh = |weights: &Weights| -> i64 { weights.iter().zip(logs).map(|(weight, log)| weight * log).sum() };
        let shift = if self.noise == 0 { 0 } else { ((u64::from(noise) % (self.noise * 1024)) << 22) as i64 / 1000 };
        (-weigh(&self.first) - shift, -weigh(&self.then), noise)
    }
}

/// Binary logarithm in 2^-32ths, linear between powers of two: monotone, and the same on every machine.
fn log2(value: u64) -> i64 {
    let value = value.max(1);
    let exponent = 63 - value.leading_zeros();
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
