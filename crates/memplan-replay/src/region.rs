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
//!
//! **Pages move without a wait.** To unmap a page, the device must have done all work that uses it,
//! and work is given to it long before it is done. So a page on which nothing lies is *lent*: it is
//! mapped at a second address as well, where the next request gets it. Work on one stream happens in
//! order, so whatever still uses the first address is done before the request's own work begins:
//!
//! ```text
//!  address     A (stale)      B
//!               ╲            ╱
//!                 one page            work: … reads A │ a is freed │ writes B …
//! ```
//! The first address is *stale* from then on. It is unmapped when it is needed again, mostly long
//! after the last work that used it.

use std::ops::Range;

use crate::backing::{Backing, BackingError, Mark, Stock};
use crate::pages::Pages;
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
    mapped: Pages,
    /// Pages that were lent: another address has their physical pages.
    stale: Pages,
    /// Behind the last work that may use stale pages; `None` if that is not known.
    behind: Option<Mark>,
    reserved: u64,
}

/// Where a request would lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spot {
    start: u64,
    bytes: u64,
    /// Bytes of pages that have to be mapped for it.
    pub missing: u64,
}

impl Region {
    /// Reserves a range; no page is mapped.
    pub fn new(backing: &dyn Backing, device: u32, length: u64) -> Result<Self, BackingError> {
        let page = backing.page();
        let length = length.next_multiple_of(page);
        let base = backing.reserve(device, length)?;
        let (mapped, stale) = (Pages::default(), Pages::default());
        Ok(Self { device, base, length, page, free: Runs::whole(length), mapped, stale, behind: None, reserved: 0 })
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

    /// The place for a request that needs the fewest new pages.
    #[must_use]
    pub fn spot(&self, bytes: u64) -> Option<Spot> {
        let mut best: Option<((u64, u64), u64)> = None;
        for start in self.free.fitting(bytes).take(LOOKED_AT) {
            let pages = self.pages_under(start, bytes);
            // Stale pages must be unmapped first, so that other places are better.
            let cost = (pages.end - pages.start - self.mapped.count(pages.clone()), self.stale.count(pages));
            // Among equals the first one stays, which is the shortest run.
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, start));
            }
            if cost.0 == 0 {
                break;
            }
        }
        best.map(|((missing, _), start)| Spot { start, bytes, missing: missing * self.page })
    }

    /// Takes a place, and maps the pages that are missing there.
    pub fn take(&mut self, backing: &dyn Backing, spot: Spot, stock: &mut Stock) -> Result<u64, BackingError> {
        self.map(backing, spot.start, spot.bytes, stock)?;
        let taken = self.free.take(spot.start, spot.bytes);
        debug_assert!(taken, "the run was free a moment ago");
        Ok(self.base + spot.start)
    }

    /// Finds a place where every page is mapped already, and takes it.
    pub fn take_mapped(&mut self, bytes: u64) -> Option<u64> {
        let spot = self.spot(bytes).filter(|spot| spot.missing == 0)?;
        self.free.take(spot.start, bytes).then_some(self.base + spot.start)
    }

    /// Gives bytes back; their pages stay mapped.
    pub fn give(&mut self, address: u64, bytes: u64) {
        self.free.give(address - self.base, bytes);
    }

    /// Unmaps all pages on which nothing lies. The device must have come to rest.
    pub fn trim(&mut self, backing: &dyn Backing) {
        self.unmap_stale(backing, 0..self.stale.end());
        let free = std::mem::take(&mut self.free);
        self.unmap_free(backing, &free);
        self.free = free;
    }

    /// Unmaps all pages that lie in free runs, by somebody's own account of them.
    pub(crate) fn unmap_free(&mut self, backing: &dyn Backing, free: &Runs) {
        let end = self.mapped.end() * self.page;
        for (start, run_end) in free.iter().take_while(|&(start, _)| start < end) {
            self.unmap(backing, self.pages_inside(start, run_end));
        }
    }

    /// Lends pages on which nothing lies until the stock has `bytes` more, except for those under a spot. Pages in
    /// short runs go first: a large request has no use for them. `stream` is the one that uses this region. How many
    /// bytes were lent.
    pub fn lend(
        &mut self,
        backing: &dyn Backing,
        stream: u64,
        bytes: u64,
        except: Option<Spot>,
        stock: &mut Stock,
    ) -> u64 {
        let kept = except.map_or(0..0, |spot| self.pages_under(spot.start, spot.bytes));
        let end = self.mapped.end() * self.page;
        let runs = self.free.iter().take_while(|&(start, _)| start < end);
        let mut runs: Vec<(u64, u64)> = runs.map(|(start, run_end)| (run_end - start, start)).collect();
        runs.sort_unstable();
        let mut wanted = bytes.div_ceil(self.page);
        let before = self.reserved;
        for (length, start) in runs {
            let pages = self.pages_inside(start, start + length);
            // What the spot needs lies at the beginning of its run.
            let is_kept = pages.start < kept.end && kept.start < pages.end;
            let first = if is_kept { kept.end } else { pages.start };
            // The end of a run goes first: requests are put at its beginning.
            for run in self.mapped.runs(first.min(pages.end)..pages.end, true).into_iter().rev() {
                let part = run.start.max(run.end.saturating_sub(wanted))..run.end;
                wanted -= part.end - part.start;
                self.lend_pages(backing, part, stock);
            }
            if wanted == 0 {
                break;
            }
        }
        if before > self.reserved {
            self.behind = backing.mark(self.device, stream, self.behind);
        }
        before - self.reserved
    }

    fn lend_pages(&mut self, backing: &dyn Backing, pages: Range<u64>, stock: &mut Stock) {
        let bytes = (pages.end - pages.start) * self.page;
        if bytes > 0 {
            backing.lend(self.device, self.base + pages.start * self.page, bytes, stock);
            self.mapped.remove(pages.clone());
            self.stale.insert(pages);
            self.reserved -= bytes;
        }
    }

    /// Bytes on mapped pages on which nothing lies.
    #[must_use]
    pub fn spare(&self) -> u64 {
        let end = self.mapped.end() * self.page;
        let runs = self.free.iter().take_while(|&(start, _)| start < end);
        runs.map(|(start, run_end)| self.mapped.count(self.pages_inside(start, run_end))).sum::<u64>() * self.page
    }

    /// Pages that hold some of the bytes.
    fn pages_under(&self, start: u64, bytes: u64) -> Range<u64> {
        start / self.page..(start + bytes).div_ceil(self.page)
    }

    /// Pages that hold nothing but bytes from `start` to `end`.
    fn pages_inside(&self, start: u64, end: u64) -> Range<u64> {
        let first = start.div_ceil(self.page);
        first..(end / self.page).max(first).min(self.mapped.end().max(first))
    }

    /// Maps the missing pages under a range, run by run; if one run fails, the others stay.
    fn map(&mut self, backing: &dyn Backing, start: u64, bytes: u64, stock: &mut Stock) -> Result<(), BackingError> {
        let pages = self.pages_under(start, bytes);
        if self.stale.count(pages.clone()) > 0 {
            match self.behind {
                Some(mark) => backing.reach(self.device, mark),
                None => backing.settle(self.device),
            }
            self.unmap_stale(backing, pages.clone());
        }
        for run in self.mapped.runs(pages, false) {
            let length = (run.end - run.start) * self.page;
            backing.map(self.device, self.base + run.start * self.page, length, stock)?;
            self.mapped.insert(run);
            self.reserved += length;
        }
        Ok(())
    }

    /// Unmaps those of some pages that are mapped, run by run.
    fn unmap(&mut self, backing: &dyn Backing, pages: Range<u64>) {
        for run in self.mapped.runs(pages, true) {
            let length = (run.end - run.start) * self.page;
            backing.unmap(self.device, self.base + run.start * self.page, length);
            self.mapped.remove(run);
            self.reserved -= length;
        }
    }

    /// Unmaps those of some pages that are stale; the work that used them is done.
    fn unmap_stale(&mut self, backing: &dyn Backing, pages: Range<u64>) {
        for run in self.stale.runs(pages, true) {
            backing.unmap(self.device, self.base + run.start * self.page, (run.end - run.start) * self.page);
            self.stale.remove(run);
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
        self.map(backing, 0, bytes, &mut Stock::default())
    }

    /// Unmaps all pages from `bytes` on; the caller knows that nothing lies there.
    pub fn unmap_above(&mut self, backing: &dyn Backing, bytes: u64) {
        self.unmap(backing, bytes.div_ceil(self.page)..self.mapped.end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backing::Host;

    fn take(region: &mut Region, host: &Host, bytes: u64) -> Result<u64, BackingError> {
        let spot = region.spot(bytes).unwrap();
        region.take(host, spot, &mut Stock::default())
    }

    #[test]
    fn a_hole_of_whole_pages_costs_nothing() {
        let host = Host::new(1 << 24);
        let page = host.page();
        let mut region = Region::new(&host, 0, 1 << 24).unwrap();
        let [a, b, c] = [1, 2, 3].map(|_| take(&mut region, &host, 2 * page).unwrap());
        assert_eq!((region.reserved(), host.mapped(0)), (6 * page, 6 * page));
        region.give(b, 2 * page);
        assert_eq!((region.spare(), region.reserved()), (2 * page, 6 * page));
        region.trim(&host);
        assert_eq!((region.spare(), host.mapped(0)), (0, 4 * page));
        // The hole is used again, before the end of the range is.
        assert_eq!(take(&mut region, &host, page).unwrap(), b);
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
        let wide = take(&mut region, &host, 4 * host.page()).unwrap();
        let _wall = take(&mut region, &host, 512).unwrap();
        region.give(wide, 4 * host.page());
        region.trim(&host);
        let reserved = region.reserved();
        // The end of the range has most of a mapped page left; the hole in front has none.
        take(&mut region, &host, 1024).unwrap();
        assert_eq!(region.reserved(), reserved);
        let too_much = take(&mut region, &host, 1 << 21).unwrap_err();
        assert!(matches!(too_much, BackingError::OutOfMemory { .. }), "{too_much}");
    }

    /// The pages of a hole serve a request that is too long for it, on a device that has no others, without a wait.
    #[test]
    fn lent_pages_serve_a_longer_request() {
        let host = Host::new(6 << 16);
        let page = host.page();
        let mut region = Region::new(&host, 0, 1 << 24).unwrap();
        let hole = take(&mut region, &host, 2 * page).unwrap();
        let _wall = take(&mut region, &host, page).unwrap();
        let also = take(&mut region, &host, 3 * page).unwrap();
        region.give(hole, 2 * page);
        region.give(also, 3 * page);
        let spot = region.spot(5 * page).unwrap();
        assert_eq!(spot.missing, 2 * page, "it begins where the second hole does");
        let mut stock = Stock::default();
        assert_eq!(region.lend(&host, 0, spot.missing, Some(spot), &mut stock), 2 * page);
        let long = region.take(&host, spot, &mut stock).unwrap();
        assert_eq!((long, host.mapped(0), stock.pages()), (also, 6 * page, 0));
        assert!(host.backs(long, 5 * page) && !host.backs(hole, page));
        assert_eq!(host.waits().0 + host.waits().1, 0);
        // The stale addresses can be had again, after a wait for the work that used them.
        region.give(long, 5 * page);
        region.trim(&host);
        assert_eq!(take(&mut region, &host, 2 * page).unwrap(), hole);
        assert!(host.backs(hole, 2 * page));
        assert_eq!(host.mapped(0), 3 * page);
    }
}
