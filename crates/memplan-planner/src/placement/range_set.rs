//! A set of bytes: sorted, disjoint ranges that grow together where they touch.

/// See the module documentation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RangeSet {
    ranges: Vec<(u64, u64)>,
}

impl RangeSet {
    /// Adds the bytes `low..high`. O(log k + ranges moved) for k ranges.
    pub(crate) fn insert(&mut self, low: u64, high: u64) {
        // The ranges that overlap or touch `low..high`: from the first that does not end below `low`, as long as they
        // do not begin above `high`.
        let first = self.ranges.partition_point(|range| range.1 < low);
        let touched = self.ranges[first..].partition_point(|range| range.0 <= high);
        match self.ranges[first..first + touched] {
            [] => self.ranges.insert(first, (low, high)),
            // All of them become one range.
            [(from, _), ..] => {
                let to = self.ranges[first + touched - 1].1;
                self.ranges[first] = (from.min(low), to.max(high));
                self.ranges.drain(first + 1..first + touched);
            }
        }
    }

    /// The ranges, ascending.
    pub(crate) fn ranges(&self) -> &[(u64, u64)] {
        &self.ranges
    }

    /// Takes everything away.
    pub(crate) fn clear(&mut self) {
        self.ranges.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn holds_the_bytes_that_were_put_in(ranges in prop::collection::vec((0u64..60, 1u64..12), 0..30)) {
            let mut set = RangeSet::default();
            let mut bytes = [false; 80];
            for (low, length) in ranges {
                set.insert(low, low + length);
                bytes[low as usize..(low + length) as usize].fill(true);
            }
            let mut expected = Vec::new();
            let mut low = 0;
            for run in bytes.chunk_by(|a, b| a == b) {
                if run[0] {
                    expected.push((low, low + run.len() as u64));
                }
                low += run.len() as u64;
            }
            prop_assert_eq!(set.ranges(), expected);
        }
    }
}
