//! An address range that maps pages where it is used.
//!
//! ```text
//!  pages     │ mapped │ mapped │        │ mapped │        │   …
//!  in use    │███  ███│███     │        │     ███│        │
//!                  ▲ holes inside of mapped pages are reserved memory that nobody uses
//! ```
//! A request takes the free run that needs the fewest new pages; among those, the shortest.
//! [`Region::trim`] unmaps every page on which nothing lies. So allocations that live long cost only
//! the pages on which they lie, wherever the first steps have scattered them.
//!
//! **Pages move without a wait.** A page may only be unmapped when the device has done all work that
//! uses it, and a program gives work to the device long before the device does it. So a physical page
//! on which nothing lies is *lent*: it goes to the *stock*, a list of physical pages that nobody uses,
//! and is mapped at a second address as well, where the next request gets it. Work on one stream
//! happens in order, so work that uses the first address is done before the request's own work begins:
//!
//! ```text
//!  address     A (stale)      B (owner)
//!               ╲            ╱
//!              physical page            work: … reads A │ A is freed │ writes B …
//! ```
//! From then on the first address, A, is *stale*, and the second, B, is the *owner* of the physical page.
//! If a later request lies at A and nothing lies at B, the two change roles, which takes no call of the
//! driver: in a program that goes back and forth between a few sizes, most pages move in this way.
//! Otherwise A is unmapped when a request needs it, mostly long after the last work that used it. A mark in
//! the stream, set whenever a page becomes stale, says when that work is done.

use std::ops::Range;

use crate::backing::{Backing, BackingError, Frame, Mark};
use crate::hashing::Table;
use crate::pages::Pages;
use crate::runs::Runs;

/// Upper limit on the free runs that a request compares, from the shortest that holds it to longer ones, so that a
/// request does not take longer in a region of thousands of runs. The limit costs memory only: a longer run whose pages
/// are mapped may be missed, and new pages are mapped instead.
const LOOKED_AT: usize = 24;

/// An address range of one device, its free bytes and its mapped pages.
pub struct Region {
    /// The device.
    device: u32,
    /// The first address.
    base: u64,
    /// Bytes of the address range.
    length: u64,
    /// Bytes of a page.
    page: u64,
    /// The bytes on which nothing lies, as offsets from `base`. Their pages may be mapped or not.
    free: Runs,
    /// The numbers of pages that own the physical page under them.
    mapped: Pages,
    /// The numbers of pages whose physical pages were lent: another address owns these now.
    stale: Pages,
    /// The physical page under each page that is mapped or stale, by the number of the page.
    frames: Vec<Option<Frame>>,
    /// The number of the page that owns a physical page. Physical pages that other regions own are not in it.
    owners: Table<Frame, u64>,
    /// A mark after the last work that may use stale pages; `None` if there is none, so that all work must be waited
    /// for.
    behind: Option<Mark>,
    /// Bytes of mapped pages.
    reserved: u64,
}

/// Where a request would lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spot {
    /// Its first byte, counted from the start of the region.
    start: u64,
    /// Its bytes.
    bytes: u64,
}

impl Region {
    /// Reserves a range; no page is mapped.
    pub fn new(backing: &dyn Backing, device: u32, length: u64) -> Result<Self, BackingError> {
        let page = backing.page();
        // Lengths come from the backing, which may say any number.
        let length = length.checked_next_multiple_of(page).unwrap_or(u64::MAX / page * page);
        let base = backing.reserve(device, length)?;
        Ok(Self {
            device,
            base,
            length,
            page,
            free: Runs::whole(length),
            mapped: Pages::default(),
            stale: Pages::default(),
            frames: Vec::new(),
            owners: Table::default(),
            behind: None,
            reserved: 0,
        })
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
        self.cheapest(bytes).map(|(_, start)| Spot { start, bytes })
    }

    /// The free run in which a request needs the fewest new pages: the bytes of these pages, and the start of the run.
    /// Only the `LOOKED_AT` shortest runs that hold the request are compared. `None` if no run holds it.
    fn cheapest(&self, bytes: u64) -> Option<(u64, u64)> {
        let mut best: Option<(u64, u64)> = None;
        for start in self.free.fitting(bytes).take(LOOKED_AT) {
            let missing = self.missing(Spot { start, bytes });
            // Among equals the first one stays, which is the shortest run.
            if best.is_none_or(|(least, _)| missing < least) {
                best = Some((missing, start));
            }
            if missing == 0 {
                break;
            }
        }
        best
    }

    /// Bytes of pages that have to be mapped for a request.
    #[must_use]
    pub fn missing(&self, spot: Spot) -> u64 {
        let pages = self.pages_under(spot.start, spot.bytes);
        (pages.end - pages.start - self.mapped.count(pages)) * self.page
    }

    /// Gives stale pages under a spot their physical pages back, so that nothing need be mapped there. A stale page is
    /// the address at which a lent physical page was mapped first; the *owner* of a physical page is the page at whose
    /// address it is used now. A page is only taken back if nothing lies on its owner; the owner becomes stale.
    /// `stream` is the stream whose work uses this region.
    pub fn take_back(&mut self, backing: &dyn Backing, stream: u64, spot: Spot) {
        let pages = self.pages_under(spot.start, spot.bytes);
        let mut is_moved = false;
        for page in self.stale.runs(pages.clone(), true).into_iter().flatten() {
            let Some(frame) = self.frames[page as usize] else { continue };
            // If the physical page was lent to another region, its owner is not known here, and it stays there.
            let Some(&owner) = self.owners.get(&frame) else { continue };
            // The spot needs a physical page at the owner's address as well, or something lies there.
            if pages.contains(&owner) || !self.free.covers(owner * self.page, self.page) {
                continue;
            }
            self.owners.insert(frame, page);
            self.mapped.remove(owner..owner + 1);
            self.stale.insert(owner..owner + 1);
            self.stale.remove(page..page + 1);
            self.mapped.insert(page..page + 1);
            is_moved = true;
        }
        if is_moved {
            self.mark_stale(backing, stream);
        }
    }

    /// Marks the place in the stream after which no work uses a page that is stale now. Work that was given to the
    /// stream so far may still use these pages; only when it is done may their addresses be unmapped.
    fn mark_stale(&mut self, backing: &dyn Backing, stream: u64) {
        self.behind = backing.mark(self.device, stream, self.behind);
    }

    /// Takes a place. The pages that are missing there get physical pages: those of the stock, and new ones if the
    /// stock has too few. The *stock* is a list of physical pages that regions have lent and nobody uses.
    pub fn take(&mut self, backing: &dyn Backing, spot: Spot, stock: &mut Vec<Frame>) -> Result<u64, BackingError> {
        self.map(backing, spot.start, spot.bytes, stock)?;
        let taken = self.free.take(spot.start, spot.bytes);
        debug_assert!(taken, "the run was free a moment ago");
        Ok(self.base + spot.start)
    }

    /// Finds a place where every page is mapped already, and takes it.
    pub fn take_mapped(&mut self, bytes: u64) -> Option<u64> {
        let (mapped, page) = (&self.mapped, self.page);
        let is_mapped = |start: u64| mapped.holds(start / page..(start + bytes).div_ceil(page));
        Some(self.base + self.free.take_front(bytes, LOOKED_AT, is_mapped)?)
    }

    /// Gives bytes back; their pages stay mapped.
    pub fn give(&mut self, address: u64, bytes: u64) {
        self.free.give(address - self.base, bytes);
    }

    /// Unmaps all stale pages. The device must have come to rest.
    pub fn forget_stale(&mut self, backing: &dyn Backing) {
        self.unmap_stale(backing, 0..self.stale.end());
    }

    /// Unmaps all pages on which nothing lies. The device must have come to rest, and no region of the lane may have
    /// stale pages.
    pub fn trim(&mut self, backing: &dyn Backing) {
        let free = std::mem::take(&mut self.free);
        self.unmap_free(backing, &free);
        self.free = free;
    }

    /// Unmaps all pages that lie in free runs; the caller says which runs are free.
    pub(crate) fn unmap_free(&mut self, backing: &dyn Backing, free: &Runs) {
        let end = self.mapped.end() * self.page;
        for (start, run_end) in free.iter().take_while(|&(start, _)| start < end) {
            self.unmap(backing, self.pages_inside(start, run_end));
        }
    }

    /// Lends physical pages on which nothing lies: adds them to `stock`, up to `bytes` bytes of them, rounded up to
    /// whole pages. Returns how many bytes were lent, which is less if the region has fewer such pages.
    ///
    /// Pages under the spot `except` are not lent, because a request is about to lie there. Pages at the highest
    /// addresses are lent first: the address range is far longer than the device's memory, so its last free run is the
    /// longest, and requests go into short runs first. So these pages are likely to be needed last. `stream` is the
    /// stream whose work uses this region.
    pub fn lend(
        &mut self,
        backing: &dyn Backing,
        stream: u64,
        bytes: u64,
        except: Option<Spot>,
        stock: &mut Vec<Frame>,
    ) -> u64 {
        // The pages that must not be lent, and how many pages are still wanted.
        let kept = except.map_or(0..0, |spot| self.pages_under(spot.start, spot.bytes));
        let mut wanted = bytes.div_ceil(self.page);
        let mut lent = Vec::new();
        for (start, end) in self.free.iter().rev() {
            let pages = self.pages_inside(start, end);
            // If the spot lies in this run, it lies at the beginning of the run, so the pages at higher addresses than
            // the spot may still be lent.
            let is_kept = pages.start < kept.end && kept.start < pages.end;
            let first = if is_kept { kept.end.min(pages.end) } else { pages.start };
            for run in self.mapped.runs(first..pages.end, true).into_iter().rev() {
                let part = run.start.max(run.end.saturating_sub(wanted))..run.end;
                wanted -= part.end - part.start;
                lent.push(part);
            }
            if wanted == 0 {
                break;
            }
        }
        let before = self.reserved;
        for pages in lent {
            self.lend_pages(pages, stock);
        }
        if before > self.reserved {
            self.mark_stale(backing, stream);
        }
        before - self.reserved
    }

    /// Moves the physical pages of mapped pages to the stock. The pages become stale: still mapped at their addresses,
    /// but not to be used there.
    fn lend_pages(&mut self, pages: Range<u64>, stock: &mut Vec<Frame>) {
        self.reserved -= (pages.end - pages.start) * self.page;
        self.mapped.remove(pages.clone());
        self.stale.insert(pages.clone());
        for frame in pages.filter_map(|page| self.frames[page as usize]) {
            self.owners.remove(&frame);
            stock.push(frame);
        }
    }

    /// Bytes on mapped pages on which nothing lies.
    #[must_use]
    pub fn spare(&self) -> u64 {
        self.spare_in(&self.free)
    }

    /// Bytes on mapped pages that lie in free runs; the caller says which runs are free.
    pub(crate) fn spare_in(&self, free: &Runs) -> u64 {
        let end = self.mapped.end() * self.page;
        let runs = free.iter().take_while(|&(start, _)| start < end);
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

    /// Maps the pages under a range of bytes that are not mapped. They get physical pages of the stock, and new ones if
    /// the stock has too few. If mapping one run of pages fails, the runs before it stay mapped.
    fn map(
        &mut self,
        backing: &dyn Backing,
        start: u64,
        bytes: u64,
        stock: &mut Vec<Frame>,
    ) -> Result<(), BackingError> {
        let pages = self.pages_under(start, bytes);
        let missing = pages.end - pages.start - self.mapped.count(pages.clone());
        if missing == 0 {
            return Ok(());
        }
        // The stock is filled up before anything is mapped, so that the region stays as it is if the device has no
        // memory left.
        if missing > stock.len() as u64 {
            backing.create(self.device, missing - stock.len() as u64, stock)?;
        }
        // Stale pages in the range are unmapped, to be mapped again with other physical pages. The device may still
        // work on them, so it must have reached the mark after their last use. Without a mark it must do all its work.
        if self.stale.count(pages.clone()) > 0 {
            match self.behind {
                Some(mark) => backing.reach(self.device, mark),
                None => backing.settle(self.device),
            }
            self.unmap_stale(backing, pages.clone());
        }
        self.frames.resize(self.frames.len().max(pages.end as usize), None);
        for run in self.mapped.runs(pages, false) {
            let count = (run.end - run.start) as usize;
            let frames = stock.split_off(stock.len() - count);
            // Pages that could not be mapped go back to the stock, so that none is lost.
            let mapped = backing.map(self.device, self.base + run.start * self.page, &frames);
            mapped.inspect_err(|_| stock.extend(&frames))?;
            for (page, frame) in run.clone().zip(frames) {
                self.frames[page as usize] = Some(frame);
                self.owners.insert(frame, page);
            }
            self.mapped.insert(run);
            self.reserved += count as u64 * self.page;
        }
        Ok(())
    }

    /// Unmaps those of `pages` that are mapped, and gives their physical pages back to the device.
    fn unmap(&mut self, backing: &dyn Backing, pages: Range<u64>) {
        for run in self.mapped.runs(pages, true) {
            let count = run.end - run.start;
            backing.unmap(self.device, self.base + run.start * self.page, count);
            let frames: Vec<Frame> = run.clone().filter_map(|page| self.frames[page as usize].take()).collect();
            for frame in &frames {
                self.owners.remove(frame);
            }
            backing.release(self.device, &frames);
            self.mapped.remove(run);
            self.reserved -= count * self.page;
        }
    }

    /// Unmaps those of `pages` that are stale. The device must have done the work that used them. Their physical pages
    /// have other owners, so they are not given back.
    fn unmap_stale(&mut self, backing: &dyn Backing, pages: Range<u64>) {
        for run in self.stale.runs(pages, true) {
            backing.unmap(self.device, self.base + run.start * self.page, run.end - run.start);
            self.frames[run.start as usize..run.end as usize].fill(None);
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

    /// Whether all pages under these bytes are mapped.
    #[must_use]
    pub fn is_mapped(&self, start: u64, bytes: u64) -> bool {
        self.missing(Spot { start, bytes }) == 0
    }

    /// Maps all pages below `bytes`, or says what was missing.
    pub fn map_below(&mut self, backing: &dyn Backing, bytes: u64) -> Result<(), BackingError> {
        let mut stock = Vec::new();
        // Without an error no page is left over. After one, those that could not be mapped go back to the device.
        self.map(backing, 0, bytes, &mut stock).inspect_err(|_| backing.release(self.device, &stock))
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
        region.take(host, spot, &mut Vec::new())
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

    /// The pages of a hole serve a request that is too long for it, on a device that has no others, and come back when
    /// the hole is used again: all without a wait.
    #[test]
    fn lent_pages_serve_a_longer_request_and_come_back() {
        let host = Host::new(6 << 16);
        let page = host.page();
        let mut region = Region::new(&host, 0, 1 << 24).unwrap();
        let wall = take(&mut region, &host, page).unwrap();
        let hole = take(&mut region, &host, 2 * page).unwrap();
        let _wall = take(&mut region, &host, page).unwrap();
        let rest = take(&mut region, &host, 2 * page).unwrap();
        region.give(hole, 2 * page);
        region.give(rest, 2 * page);
        let spot = region.spot(4 * page).unwrap();
        assert_eq!(region.missing(spot), 2 * page, "it begins where the second hole does");
        let mut stock = Vec::new();
        assert_eq!(region.lend(&host, 0, 2 * page, Some(spot), &mut stock), 2 * page);
        let long = region.take(&host, spot, &mut stock).unwrap();
        assert_eq!((long, host.mapped(0), stock.len()), (rest, 6 * page, 0));
        let [stale, lent] = [hole, long + 2 * page].map(|address| {
            let frames = host.frames(address, 2 * page).into_iter().map(|(_, frame)| frame.unwrap());
            frames.collect::<std::collections::BTreeSet<_>>()
        });
        assert_eq!(stale, lent, "the same memory at two addresses");
        region.give(long, 4 * page);
        let spot = region.spot(2 * page).unwrap();
        region.take_back(&host, 0, spot);
        let again = region.take(&host, spot, &mut stock).unwrap();
        assert_eq!(again, rest, "the shortest run whose pages are mapped");
        let spot = Spot { start: hole - wall, bytes: 2 * page };
        region.take_back(&host, 0, spot);
        assert_eq!(region.missing(spot), 0);
        assert_eq!(region.take(&host, spot, &mut stock).unwrap(), hole);
        assert_eq!((host.waits().0, host.waits().1, host.mapped(0)), (0, 0, 6 * page));
    }

    /// When a page goes back to where it came from, the address that it leaves becomes stale. Work on that address may
    /// have been given to the stream after the page was lent, so the wait before it is unmapped is for a new mark.
    #[test]
    fn an_address_that_gives_its_page_back_waits_for_its_own_work() {
        let host = Host::new(4 << 16);
        let page = host.page();
        let mut region = Region::new(&host, 0, 1 << 24).unwrap();
        let first = take(&mut region, &host, page).unwrap();
        let _wall = take(&mut region, &host, page).unwrap();
        let rest = take(&mut region, &host, page).unwrap();
        region.give(first, page);
        // The page of the first address serves a longer request behind the wall.
        region.give(rest, page);
        let mut stock = Vec::new();
        let long = Spot { start: rest - first, bytes: 2 * page };
        assert_eq!(region.lend(&host, 0, page, Some(long), &mut stock), page);
        assert_eq!(region.take(&host, long, &mut stock).unwrap(), rest);
        let lent = host.marks();
        // Work on the long request is given to the stream here. Then the page goes back.
        region.give(rest, 2 * page);
        region.take_back(&host, 0, Spot { start: 0, bytes: page });
        assert_eq!(region.missing(Spot { start: 0, bytes: page }), 0);
        assert_eq!(host.marks(), lent + 1, "the work on the long request is before a new mark");
        // Nothing moves, so nothing is marked.
        region.take_back(&host, 0, Spot { start: 0, bytes: page });
        assert_eq!(host.marks(), lent + 1);
        // The long request comes again: its last page is unmapped behind the new mark.
        region.take(&host, Spot { start: 0, bytes: page }, &mut stock).unwrap();
        region.take(&host, long, &mut stock).unwrap();
        assert_eq!((host.waits().1, host.last_reached()), (1, Some(Mark(lent + 1))));
    }
}
