//! Reproducible random numbers (SplitMix64).

/// A generator that gives the same numbers everywhere.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next number, of all 64-bit numbers with the same chance.
    pub(crate) fn next(&mut self) -> u64 {
        // The state is a counter with a large odd step; two rounds of multiplying and shifting scatter its bits.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit` (0 if there is none).
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        // `next() / 2^64` is a fraction from 0 to below 1; this is that fraction of the limit, rounded down.
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }
}
