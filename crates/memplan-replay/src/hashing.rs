//! Hashing of addresses and of handles of pages.
//!
//! Every request looks its address up, and the standard hasher takes longer than the table: it withstands
//! people who choose the keys to make a table slow. Nobody chooses addresses here, so one multiplication
//! is enough. Addresses differ in their middle bits; the multiplication carries these into the upper bits,
//! and the rotation brings the upper bits down to where tables look first.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A table by address or by handle.
pub(crate) type Table<K, V> = HashMap<K, V, BuildHasherDefault<OneNumber>>;

/// Hashes a single number.
#[derive(Debug, Default)]
pub(crate) struct OneNumber(u64);

/// 2^64 over the golden ratio: an odd number whose multiples are spread evenly.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// A number whose upper bits differ for addresses that lie 512 bytes or a few pages apart.
pub(crate) fn spread(address: u64) -> u64 {
    address.wrapping_mul(SPREAD)
}

impl Hasher for OneNumber {
    // The number that is hashed.
    fn write_u64(&mut self, number: u64) {
        self.0 = spread(self.0 ^ number).rotate_left(26);
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Neither the lower bits, which choose the place in a table, nor the upper seven, which tell neighbours apart,
    /// are the same for addresses that lie 512 bytes or two mebibytes apart.
    #[test]
    fn addresses_are_spread() {
        for step in [512_u64, 2 << 20] {
            let hashes = (0..256).map(|number| {
                let mut hasher = OneNumber::default();
                hasher.write_u64(0x7f00_0000_0000 + number * step);
                hasher.finish()
            });
            let hashes: Vec<u64> = hashes.collect();
            let places: BTreeSet<u64> = hashes.iter().map(|hash| hash % 256).collect();
            let tags: BTreeSet<u64> = hashes.iter().map(|hash| hash >> 57).collect();
            assert!(places.len() > 128 && tags.len() > 32, "{step}: {} places, {} tags", places.len(), tags.len());
        }
    }
}
