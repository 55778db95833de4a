//! A small random number generator, so that instances are the same everywhere and for ever.

/// SplitMix64: a counter, scrambled. Equal seeds give equal sequences.
#[derive(Clone, Debug)]
pub struct Random {
    /// The counter: the seed, plus a fixed step for each number that was drawn.
    state: u64,
}

impl Random {
    /// A generator whose sequence depends on the seed alone.
    pub fn new(seed: u64) -> Random {
        Random { state: seed }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        // The state is a counter with a large odd step; two rounds of multiplying and shifting scatter its bits.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below `limit`; 0 if `limit` is 0. The bits are taken as a fraction of 2^64 and multiplied by the limit.
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(limit)) >> 64) as u64
    }

    /// A number in `low..=high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low).saturating_add(1))
    }

    /// A position in a list of this length, 0 if it is empty.
    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// True once in `times`.
    pub fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// A number of at least 1 from an exponential distribution with this mean.
    pub fn exponential(&mut self, mean: u64) -> u64 {
        // 53 bits are what a float holds exactly. Half a step more keeps the number above 0, which has no logarithm.
        let unit = ((self.bits() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        (-unit.ln() * mean as f64).round().max(1.0) as u64
    }

    /// A number in `low..=high` whose logarithm is uniform: every order of
    /// magnitude is equally likely.
    pub fn log_uniform(&mut self, low: u64, high: u64) -> u64 {
        let unit = (self.bits() >> 11) as f64 / (1u64 << 53) as f64;
        let (low_log, high_log) = ((low.max(1) as f64).ln(), (high.max(1) as f64).ln());
        let value = (low_log + unit * (high_log - low_log)).exp().round() as u64;
        value.clamp(low, high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_in_their_ranges() {
        let mut random = Random::new(1);
        for _ in 0..1000 {
            assert!((3..=9).contains(&random.between(3, 9)));
            assert!((64..=4096).contains(&random.log_uniform(64, 4096)));
            assert!(random.exponential(50) >= 1);
        }
        let mean = (0..10_000).map(|_| random.exponential(50)).sum::<u64>() / 10_000;
        assert!((47..=53).contains(&mean), "{mean}");
        assert_eq!(random.below(0), 0);
        assert_eq!(Random::new(7).bits(), Random::new(7).bits());
        assert_ne!(Random::new(7).bits(), Random::new(8).bits());
    }
}
