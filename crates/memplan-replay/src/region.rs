//! An address range that maps pages where it is used.
//!
//! ```text
//!  pages     │ mapped │ mapped │        │ mapped │        │   …
//!  in use    │███  ███│███     │        │     ███│        │
//!                  ▲ holes inside of mapped pages are reserved memory that nobody uses
//! ```
//! A request takes the free run that needs the fewest new pages; among those, the shortest.
//! [`Region::trim`] unmaps every page on which nothing lies. So what lives long costs its own
//! pages only, wherever the first steps have scattered it.

use crate::backing::{Backing, BackingError};
use crate::runs::Runs;

/// How many runs a request looks at. Runs are looked at from short to long; the last run, the
/// end of the range, is always long enough, so that few suffice.
const LOOKED_AT: usize = 24;

/// An address range of one device, its free bytes and its mapped pages.
pub struct Region {
    device: u32,
    base: u64,
    length: u64,
    page: u64,
    free: Runs,
    /// Whether a page is mapped; pages beyond the end of the list are not.
    pages: Vec<bool>,
    reserved: u64,
}

impl Region {
    /// Reserves a range; no page is mapped.
    pub fn new(backing: &dyn Backing, device: u32, length: u64) -> Result<Self, BackingError> {
        let page = backing.page();
        let length = length.next_multiple_of(page);
        let base = backing.reserve(device, length)?;
        Ok(Self { device, base, length, page, free: Runs::whole(length), pages: Vec::new(), reserved: 0 })
    }

    /// Bytes of mapped pages.
    #[must_use]
    pub fn reserved(&self) -> u64 {
        self.reserved
    }

    /// Whether an address lies in this range.
    #[must_use]
    pub fn contains(&self, address: u64) -> bool {
        (self.base..self.base + self.length).contains(&address)
    }

    /// Finds a place for bytes and maps the pages that are missing there.
    pub fn take(&mut self, backing: &dyn Backing, bytes: u64) -> Result<u64, BackingError> {
        let out = || BackingError::OutOfMemory { asked: bytes, free: backing.memory(self.device).0 };
        let candidates = self.free.fitting(bytes).take(LOOKED_AT);
        // `min_by_key` keeps the first of equals, which is the shortest run.
        let start = candidates.min_by_key(|&start| self.missing(start, bytes)).ok_or_else(out)?;
        self.map(backing, start, bytes)?;
        let taken = self.free.take(start, bytes);
        debug_assert!(taken, "the run was free a moment ago");
        Ok(self.base + start)
    }

    /// The same, but only where every page is mapped already.
    pub fn take_mapped(&mut self, bytes: u64) -> Option<u64> {
        let start = self.free.fitting(bytes).take(LOOKED_AT).find(|&start| self.missing(start, bytes) == 0)?;
        self.free.take(start, bytes).then_some(self.base + start)
    }

    /// Gives bytes back; their pages stay mapped.
    pub fn give(&mut self, address: u64, bytes: u64) {
        self.free.give(address - self.base, bytes);
    }

    /// Unmaps all pages on which nothing lies. The device must have come to rest.
    pub fn trim(&mut self, backing: &dyn Backing) {
        let free = std::mem::take(&mut self.free);
        self.unmap_free(backing, &free);
        self.free = free;
    }

    /// Unmaps all pages that lie in free runs, by somebody's own account of them.
    pub(crate) fn unmap_free(&mut self, backing: &dyn Backing, free: &Runs) {
        let end = self.pages.len() as u64 * self.page;
        for (start, run_end) in free.iter().take_while(|&(start, _)| start < end) {
            let pages = start.div_ceil(self.page)..run_end.min(end) / self.page;
            self.unmap(backing, pages);
        }
    }

    /// Bytes that [`Region::take`] would have to map for a request.
    #[must_use]
    pub fn needed(&self, bytes: u64) -> u64 {
        let candidates = self.free.fitting(bytes).take(LOOKED_AT);
        candidates.map(|start| self.missing(start, bytes)).min().unwrap_or(0) * self.page
    }

    /// Unmaps pages on which nothing lies until `bytes` are given back, those in short runs first: a large request
    /// has no use for them. How many bytes that were. The device must have come to rest.
    pub fn trim_some(&mut self, backing: &dyn Backing, bytes: u64) -> u64 {
        let before = self.reserved;
        let end = self.pages.len() as u64 * self.page;
        let runs = self.free.iter().take_while(|&(start, _)| start < end);
        let mut runs: Vec<(u64, u64)> = runs.map(|(start, run_end)| (start, run_end.min(end))).collect();
        runs.sort_unstable_by_key(|&(start, run_end)| (run_end - start, start));
        for (start, run_end) in runs {
            let missing = bytes.saturating_sub(before - self.reserved).div_ceil(self.page);
            if missing == 0 {
                break;
            }
            let first = start.div_ceil(self.page);
            let last = run_end / self.page;
            // The end of a run goes first: requests are put at its beginning.
            self.unmap(backing, first.max(last.saturating_sub(missing))..last);
        }
        before - self.reserved
    }

    /// Bytes on mapped pages that [`Region::trim`] would unmap.
    #[must_use]
    pub fn spare(&self) -> u64 {
        let end = self.pages.len() as u64 * self.page;
        let runs = self.free.iter().take_while(|&(start, _)| start < end);
        let pages = runs.flat_map(|(start, run_end)| start.div_ceil(self.page)..run_end.min(end) / self.page);
        pages.filter(|&page| self.pages[page as usize]).count() as u64 * self.page
    }

    fn is_mapped(&self, page: u64) -> bool {
        self.pages.get(page as usize).copied().unwrap_or(false)
    }

    /// Pages under the bytes that are not mapped.
    fn missing(&self, start: u64, bytes: u64) -> u64 {
        let pages = start / self.page..(start + bytes).div_ceil(self.page);
        pages.filter(|&page| !self.is_mapped(page)).count() as u64
    }

    /// Maps the missing pages under a range, run by run; if one run fails, the others stay.
    fn map(&mut self, backing: &dyn Backing, start: u64, bytes: u64) -> Result<(), BackingError> {
        let end = (start + bytes).div_ceil(self.page);
        let mut page = start / self.page;
        while page < end {
            let stop = (page..end).find(|&other| self.is_mapped(other) != self.is_mapped(page)).unwrap_or(end);
            if !self.is_mapped(page) {
                let (from, length) = (page * self.page, (stop - page) * self.page);
                backing.map(self.device, self.base + from, length)?;
                self.pages.resize(self.pages.len().max(stop as usize), false);
                self.pages[page as usize..stop as usize].fill(true);
                self.reserved += length;
            }
            page = stop;
        }
        Ok(())
    }

    /// Unmaps those of some pages that are mapped, run by run.
    fn unmap(&mut self, backing: &dyn Backing, pages: std::ops::Range<u64>) {
        let mut page = pages.start;
        while page < pages.end {
            let same = |other: &u64| self.is_mapped(*other) != self.is_mapped(page);
            let stop = (page..pages.end).find(same).unwrap_or(pages.end);
            if self.is_mapped(page) {
                let length = (stop - page) * self.page;
                backing.unmap(self.device, self.base + page * self.page, length);
                self.pages[page as usize..stop as usize].fill(false);
                self.reserved -= length;
            }
            page = stop;
        }
    }
}

/// What an arena does with its range: places are given, not searched.
impl Region {
    /// The first address.
    #[must_use]
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Bytes of the address range.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Maps all pages below `bytes`, or says what was missing.
    pub fn map_below(&mut self, backing: &dyn Backing, bytes: u64) -> Result<(), BackingError> {
        self.map(backing, 0, bytes)
    }

    /// Unmaps all pages from `bytes` on; the caller knows that nothing lies there.
    pub fn unmap_above(&mut self, backing: &dyn Backing, bytes: u64) {
        self.unmap(backing, bytes.div_ceil(self.page)..self.pages.len() as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backing::Host;

    #[test]
    fn a_hole_of_whole_pages_costs_nothing() {
        let host = Host::new(1 << 24);
        let page = host.page();
        let mut region = Region::new(&host, 0, 1 << 24).unwrap();
        let [a, b, c] = [1, 2, 3].map(|_| region.take(&host, 2 * page).unwrap());
        assert_eq!((region.reserved(), host.mapped(0)), (6 * page, 6 * page));
        region.give(b, 2 * page);
        assert_eq!((region.spare(), region.reserved()), (2 * page, 6 * page));
        region.trim(&host);
        assert_eq!((region.spare(), host.mapped(0)), (0, 4 * page));
        // The hole is used again, before the end of the range is.
        assert_eq!(region.take(&host, page).unwrap(), b);
        assert_eq!(host.mapped(0), 5 * page);
        for (address, bytes) in [(a, 2 * page), (b, page), (c, 2 * page)] {
            region.give(address, bytes);
        }
        region.trim(&host);
        assert_eq!(host.mapped(0), 0);
    }

    #[test]
    fn mapped_holes_come_before_new_pages() {
        let host = Host::new(1 << 20);
        let mut region = Region::new(&host, 0, 1 << 24).unwrap();
        let wide = region.take(&host, 4 * host.page()).unwrap();
        let _wall = region.take(&host, 512).unwrap();
        region.give(wide, 4 * host.page());
        region.trim(&host);
        let reserved = region.reserved();
        // The end of the range has most of a mapped page left; the hole in front has none.
        region.take(&host, 1024).unwrap();
        assert_eq!(region.reserved(), reserved);
        let too_much = region.take(&host, 1 << 21).unwrap_err();
        assert!(matches!(too_much, BackingError::OutOfMemory { .. }), "{too_much}");
    }
}
