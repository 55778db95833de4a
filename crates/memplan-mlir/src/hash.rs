//! Hash maps for short names and small numbers.
//!
//! The standard library's hasher is made for keys that an attacker chooses. Looking up the names of a
//! text with it took a tenth of all the time that a pass takes. This one multiplies and folds,
//! eight bytes at a time; it starts from a number that differs from run to run, so that
//! nobody can prepare a text whose names all collide.
//!
//! Nothing may depend on the order of such a map, as with any hash map.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::OnceLock;

/// A map by [`Quick`].
pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, Quick>;

/// A set by [`Quick`].
pub(crate) type HashSet<T> = std::collections::HashSet<T, Quick>;

/// Makes hashers that start from this number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quick(u64);

impl Default for Quick {
    fn default() -> Quick {
        static START: OnceLock<u64> = OnceLock::new();
        Quick(*START.get_or_init(|| RandomState::new().hash_one(0u64)))
    }
}

impl BuildHasher for Quick {
    type Hasher = QuickHasher;

    fn build_hasher(&self) -> QuickHasher {
        QuickHasher(self.0)
    }
}

/// The factor of the hash: 2^64 over the golden ratio, an odd number with about as many ones as zeros, so that every
/// bit of a key changes many bits of the product.
const ODD: u64 = 0x9E37_79B9_7F4A_7C15;

/// What has been hashed so far.
pub(crate) struct QuickHasher(u64);

impl QuickHasher {
    /// Takes in one number. Low bits of the product depend only on low bits of the number, so the high half is folded
    /// onto the low half.
    fn add(&mut self, number: u64) {
        let product = u128::from(self.0 ^ number) * u128::from(ODD);
        self.0 = (product as u64) ^ (product >> 64) as u64;
    }
}

impl Hasher for QuickHasher {
    /// Takes in a text: eight bytes at a time, then the rest.
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for &word in words {
            self.add(u64::from_le_bytes(word));
        }
        // At most seven bytes are left. Their number goes into the highest byte, so that `a` and `a\0` differ.
        let number = match (rest.first_chunk(), rest.last_chunk()) {
            // Four to seven bytes: the first four and the last four. These overlap, but each byte also stands in a place
            // where nothing else does, so texts of one length that differ have numbers that differ.
            (Some(&first), Some(&last)) => {
                u64::from(u32::from_le_bytes(first)) | u64::from(u32::from_le_bytes(last)) << 24
            }
            _ if rest.is_empty() => return,
            _ => rest.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)),
        };
        self.add(number | (rest.len() as u64) << 56);
    }

    fn write_u8(&mut self, number: u8) {
        self.add(u64::from(number));
    }

    fn write_u32(&mut self, number: u32) {
        self.add(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        self.add(number);
    }

    fn write_usize(&mut self, number: usize) {
        self.add(number as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_have_different_hashes() {
        let names = (0..10_000).flat_map(|n| [format!("%x{n}"), format!("%{n}x"), "%".repeat(n % 40) + &n.to_string()]);
        let names: std::collections::BTreeSet<String> = names.collect();
        let quick = Quick::default();
        let hashes: std::collections::BTreeSet<u64> = names.iter().map(|name| quick.hash_one(name)).collect();
        assert_eq!(hashes.len(), names.len());
        // Tables look at the lowest bits for the place and at the highest for a first comparison.
        for shift in [0, 57] {
            let mut counts = [0; 128];
            hashes.iter().for_each(|hash| counts[(hash >> shift) as usize % 128] += 1);
            let mean = names.len() / 128;
            assert!(counts.iter().all(|&count| count > mean / 2 && count < mean * 2), "{counts:?}");
        }
    }
}
