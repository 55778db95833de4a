//! In which order the exact search tries items that could come next.
//!
//! An [`Order`] weighs three things on a logarithmic scale: the largest load an
//! item meets, its width in sections, its height. A second set of weights breaks
//! ties, and noise makes a different order of every seed. Wide items first is
//! the best single order we know; which order solves a given instance quickly is
//! a matter of luck, so a search goes through a portfolio of them with a small
//! node limit each.

use super::random::Random;

/// Weights of (load met, width, height).
pub(crate) type Weights = [i64; 3];

/// What items are sorted by: the weighed traits with noise, then others, then noise alone.
pub(crate) type Key = (i64, i64, u32);

/// How to rank items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) first: Weights,
    pub(crate) then: Weights,
    /// Largest perturbation of the first key, in thousandths of a doubling.
    pub(crate) noise: u64,
}

const fn plain(first: Weights, then: Weights) -> Order {
    Order { first, then, noise: 0 }
}

/// Orders without noise, most successful first.
pub(crate) const PLAIN_ORDERS: [Order; 7] = [
    plain([0, 1, 0], [0, 1, 1]),
    plain([1, 0, 0], [0, 1, 1]),
    plain([1, 0, 0], [0, 1, 0]),
    plain([0, 4, -1], [1, 0, 0]),
    plain([0, 1, 1], [1, 0, 0]),
    plain([0, 1, 0], [1, 0, 0]),
    plain([0, 2, 1], [1, 0, 0]),
];

/// Orders to perturb, with the noise that suits them; without any, only ties are broken at random.
const NOISY_ORDERS: [(Order, u64); 14] = [
    (plain([1, 0, 0], [0, 1, 0]), 0),
    (plain([1, 0, 0], [0, 1, 1]), 0),
    (plain([0, 1, 0], [0, 1, 1]), 0),
    (plain([0, 1, 0], [1, 0, 0]), 0),
    (plain([0, 1, 0], [0, 1, 1]), 1000),
    (plain([16, 1, 0], [0, 0, 1]), 60),
    (plain([0, 4, -1], [1, 0, 0]), 500),
    (plain([1, 1, 0], [0, 0, 1]), 400),
    (plain([4, 1, 0], [0, 0, 1]), 150),
    (plain([0, 1, 1], [1, 0, 0]), 1000),
    (plain([4, 4, 1], [0, 0, 1]), 1000),
    (plain([1, 0, 0], [0, 1, 1]), 200),
    (plain([16, 1, 0], [0, 0, 1]), 30),
    (plain([16, 1, 0], [0, 0, 1]), 150),
];

impl Order {
    /// An order to perturb, at random.
    pub(crate) fn noisy(random: &mut Random) -> Order {
        let (base, noise) = NOISY_ORDERS[random.below(NOISY_ORDERS.len() as u64) as usize];
        Order { noise, ..base }
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
        let key = |width| PLAIN_ORDERS[0].key((10, width, 5), 0);
        assert!(key(8) < key(7));
    }
}
