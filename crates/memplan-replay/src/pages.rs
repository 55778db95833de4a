//! A set of pages by number: one bit each, counted a word at a time.
//!
//! A gigabyte is 512 pages of 2 MiB, and a request looks at two dozen places of that length. So
//! [`Pages::count`] takes 64 pages in one look.

use std::ops::Range;

/// Pages of a word.
const BITS: u64 = u64::BITS as u64;

/// A set of page numbers. Pages beyond the last word are not in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Pages {
    /// Bit `n % 64` of word `n / 64` is set if page `n` is in the set.
    words: Vec<u64>,
}

impl Pages {
    /// The words that a range of pages touches, each with the bits that belong to the range.
    fn masks(range: &Range<u64>) -> impl Iterator<Item = (usize, u64)> + use<> {
        let Range { start, end } = *range;
        let words = if start < end { start / BITS..end.div_ceil(BITS) } else { 0..0 };
        words.map(move |word| {
            // The bits from `low` up to, but not including, `high` of this word belong to the range.
            let (low, high) = (start.saturating_sub(word * BITS), (end - word * BITS).min(BITS));
            (word as usize, (u64::MAX << low) & (u64::MAX >> (BITS - high)))
        })
    }

    /// One more than the largest number that may be in the set.
    pub(crate) fn end(&self) -> u64 {
        self.words.len() as u64 * BITS
    }

    /// Adds a range of pages.
    pub(crate) fn insert(&mut self, range: Range<u64>) {
        let words = range.end.div_ceil(BITS) as usize;
        self.words.resize(self.words.len().max(words), 0);
        for (word, mask) in Self::masks(&range) {
            self.words[word] |= mask;
        }
    }

    /// Takes a range of pages out.
    pub(crate) fn remove(&mut self, range: Range<u64>) {
        for (word, mask) in Self::masks(&(range.start..range.end.min(self.end()))) {
            self.words[word] &= !mask;
        }
    }

    /// How many pages of a range are in the set.
    pub(crate) fn count(&self, range: Range<u64>) -> u64 {
        let masks = Self::masks(&(range.start..range.end.min(self.end())));
        masks.map(|(word, mask)| u64::from((self.words[word] & mask).count_ones())).sum()
    }

    /// Whether all pages of a range are in the set. Every request asks this, mostly of pages of one word.
    pub(crate) fn holds(&self, range: Range<u64>) -> bool {
        let Range { start, end } = range;
        if start >= end {
            return true;
        }
        let (first, last) = ((start / BITS) as usize, ((end - 1) / BITS) as usize);
        let Some(words) = self.words.get(first..=last) else { return false };
        let (low, high) = (u64::MAX << (start % BITS), u64::MAX >> (BITS - 1 - (end - 1) % BITS));
        match words {
            &[word] => word & low & high == low & high,
            &[below, ref between @ .., above] => {
                below & low == low && above & high == high && between.iter().all(|&word| word == u64::MAX)
            }
            [] => true,
        }
    }

    /// The first page of a range that is in the set (`wanted`) or is not, or the end of the range.
    fn next(&self, range: Range<u64>, wanted: bool) -> u64 {
        // Pages beyond the last word are not in the set. So a page that is in it is not found there, and a page that is
        // not is found at once.
        let absent = if wanted { range.end } else { range.end.min(self.end().max(range.start)) };
        let found = Self::masks(&(range.start..range.end.min(self.end()))).find_map(|(word, mask)| {
            let bits = if wanted { self.words[word] } else { !self.words[word] } & mask;
            (bits != 0).then(|| word as u64 * BITS + u64::from(bits.trailing_zeros()))
        });
        found.unwrap_or(absent)
    }

    /// The maximal runs of a range whose pages are all in the set (`wanted`), or all not.
    pub(crate) fn runs(&self, range: Range<u64>, wanted: bool) -> Vec<Range<u64>> {
        let mut runs = Vec::new();
        let mut from = self.next(range.clone(), wanted);
        while from < range.end {
            let to = self.next(from..range.end, !wanted);
            runs.push(from..to);
            from = self.next(to..range.end, wanted);
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a list of truth values, for ranges that begin and end inside of words and at their borders.
    #[test]
    fn ranges_are_what_a_list_says() {
        let mut pages = Pages::default();
        let mut truth = vec![false; 400];
        let ranges = [(0, 1), (60, 70), (64, 128), (130, 130), (100, 300), (63, 64), (256, 257), (5, 390)];
        for (turn, &(start, end)) in ranges.iter().cycle().take(40).enumerate() {
            let (start, end) = (start + turn as u64 % 3, end + turn as u64 % 3);
            let is_in = turn % 3 != 1;
            if is_in {
                pages.insert(start..end)
            } else {
                pages.remove(start..end)
            }
            truth[start as usize..end as usize].fill(is_in);
            for (from, to) in [(0, 400), (1, 63), (64, 64), (63, 129), (200, 400)] {
                let part = &truth[from as usize..to as usize];
                assert_eq!(pages.count(from..to), part.iter().filter(|page| **page).count() as u64);
                assert_eq!(pages.holds(from..to), part.iter().all(|page| *page), "{from}..{to}");
                for wanted in [true, false] {
                    let mut listed = vec![!wanted; part.len()];
                    for run in pages.runs(from..to, wanted) {
                        assert!(run.start < run.end);
                        listed[(run.start - from) as usize..(run.end - from) as usize].fill(wanted);
                    }
                    assert_eq!(listed, part, "{from}..{to} {wanted}");
                }
            }
        }
    }
}
