//! Random choices for generated programs, from the test kit's generator.

use memplan_testkit::Random as Numbers;

#[derive(Clone, Debug)]
pub(crate) struct Random(Numbers);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(Numbers::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03))
    }

    /// A number in `low..high`; `low` if that is empty.
    pub(crate) fn range(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.bits() % high.saturating_sub(low).max(1)
    }

    /// True once in `n` times.
    pub(crate) fn once_in(&mut self, n: u64) -> bool {
        self.range(0, n) == 0
    }

    pub(crate) fn pick<'s, T>(&mut self, items: &'s [T]) -> Option<&'s T> {
        items.get(self.range(0, items.len() as u64) as usize)
    }
}
