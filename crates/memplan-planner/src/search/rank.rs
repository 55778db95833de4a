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

/// How to rank items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) first: Weights,
    pub(crate) then: Weights,
    /// Largest perturbation of the first key, in thousandths of a doubling.
    pub(crate) noise: u64,
    pub(crate) seed: u64,
    /// Follow the best plan instead: its lowest items first, noise in thousandths of its extent.
    pub(crate) guided: bool,
}

const fn plain(first: Weights, then: Weights) -> Order {
    Order { first, then, noise: 0, seed: 0, guided: false }
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

/// Orders to perturb, with the noise that suits them.
const NOISY_ORDERS: [(Order, u64); 10] = [
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
    /// The `round`-th order of the endless portfolio of a seed.
    pub(crate) fn of_round(round: u64, seed: u64) -> Order {
        let plain = PLAIN_ORDERS.len() as u64;
        if round < plain {
            return PLAIN_ORDERS[round as usize];
        }
        let mut random = Random::new(seed ^ round.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let (base, noise) = NOISY_ORDERS[random.below(NOISY_ORDERS.len() as u64) as usize];
        Order { noise, seed: random.next(), ..base }
    }

    /// An order near that of the best plan.
    pub(crate) fn near_best(round: u64, seed: u64) -> Order {
        let mut random = Random::new(seed ^ round.wrapping_mul(0xD134_2543_DE82_EF95));
        let noise = [3, 10, 30, 100, 300][random.below(5) as usize];
        Order { noise, seed: random.next(), guided: true, ..PLAIN_ORDERS[0] }
    }

    /// The sort key of an item in a plan of this height: smaller comes first.
    pub(crate) fn guided_key(&self, offset: u64, height: u64, noise: u64) -> (i64, i64) {
        let spread = u128::from(height) * u128::from(self.noise) / 1000;
        let shift = (u128::from(noise) * spread) >> 63;
        ((u128::from(offset) + shift).min(1 << 62) as i64, 0)
    }

    /// The sort key of an item: smaller comes first.
    pub(crate) fn key(&self, (load, width, height): (u64, u64, u64), noise: u64) -> (i64, i64) {
        let logs = [log2(load), log2(width), log2(height)];
        let weigh = |weights: &Weights| -> i64 { weights.iter().zip(logs).map(|(weight, log)| weight * log).sum() };
        let noise = if self.noise == 0 { 0 } else { ((noise % (self.noise * 1024)) << 22) as i64 / 1000 };
        (-weigh(&self.first) - noise, -weigh(&self.then))
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
