//! A lane: one stream of one device, with memory that no other lane touches.
//!
//! Work on a stream happens in order, so bytes that were freed on a stream can be given to the
//! same stream at once: a later write comes later in the stream, too. Between streams this does not hold, and
//! lanes therefore share nothing. A tensor that is also used on another stream
//! (`record_stream` in PyTorch) makes its own stream wait for that one when it is freed.

use std::cmp::Ordering;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::arena::{Arena, Deviation, Place, Tenant};
use crate::backing::{Backing, BackingError, Frame};
use crate::hashing::Table;
use crate::parked::Parked;
use crate::plan::{ALIGNMENT, StepPlan};
use crate::recording::Recording;
use crate::region::{Region, Spot};

/// Requests below one part in so many of a page (a mebibyte on GPUs) come from a region of their own. Otherwise a few
/// small survivors would keep the pages of large blocks mapped.
const SMALL_PART: u64 = 2;

/// The pool holds at most this part (a twentieth) more than has ever been in use: before it takes new pages beyond
/// that, it moves pages that are mapped where nobody is. A page takes the driver about 70 µs, so some slack is worth
/// its bytes.
const SLACK_PART: u64 = 20;

/// Pages that the pool may hold beyond that, since small programs do not fill theirs.
const SLACK_PAGES: u64 = 16;

/// Bytes of a request as they are handed out. Even nothing gets bytes of its own: PyTorch knows
/// allocations by their address.
#[must_use]
pub fn rounded(requested: u64) -> Option<u64> {
    requested.max(1).checked_next_multiple_of(ALIGNMENT)
}

/// A number of bytes and the most that it has been.
#[derive(Debug, Default)]
pub struct Level {
    now: AtomicU64,
    peak: AtomicU64,
}

impl Level {
    fn add(&self, bytes: u64) {
        let now = self.now.fetch_add(bytes, Relaxed) + bytes;
        // Few requests reach a new peak, and a look costs the processor less than a write that others must see.
        if now > self.peak.load(Relaxed) {
            self.peak.fetch_max(now, Relaxed);
        }
    }

    fn take(&self, bytes: u64) {
        self.now.fetch_sub(bytes, Relaxed);
    }

    /// Bytes now, and the most since the last [`Totals::restart`].
    #[must_use]
    pub fn read(&self) -> (u64, u64) {
        (self.now.load(Relaxed), self.peak.load(Relaxed))
    }

    fn restart(&self) {
        self.peak.store(self.now.load(Relaxed), Relaxed);
    }
}

/// Bytes of a device, over all of its lanes.
#[derive(Debug, Default)]
pub struct Totals {
    /// In use.
    pub live: Level,
    /// On mapped pages.
    pub reserved: Level,
}

impl Totals {
    /// Forgets the peaks.
    pub fn restart(&self) {
        self.live.restart();
        self.reserved.restart();
    }
}

/// Where an allocation lies.
#[derive(Debug, Clone, Copy)]
enum Home {
    Small,
    Large,
    Arena(Tenant),
}

/// An allocation that is in use. There are thousands, and each call reads or writes one that has long left the
/// processor's caches: so all that is seldom needed is kept elsewhere.
struct Live {
    requested: u64,
    /// The serial of the run of a step that asked for it, and its number in that run; [`OUTSIDE`] and 0 outside of steps.
    serial: u64,
    number: u32,
    home: Home,
}

/// In place of a run's serial, for allocations that were made outside of steps. Serials begin at 1.
const OUTSIDE: u64 = 0;

impl Live {
    fn bytes(&self) -> u64 {
        // The sum was checked when the bytes were handed out.
        self.requested.max(1).next_multiple_of(ALIGNMENT)
    }
}

/// What was handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Granted {
    /// The address.
    pub address: u64,
    /// The allocation's number in the running step.
    pub number: Option<u32>,
    /// How the request deviated from the plan: the kind, a slot and its bytes. The slot is the one that the request
    /// stands for ([`Deviation::Order`], [`Deviation::Held`]), or the one that was expected if it stands for none.
    pub deviation: Option<(Deviation, u32, u64)>,
}

/// How requests were served.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Counts {
    /// At their planned address.
    pub planned: u64,
    /// From the pool, as planned, since they live longer than a step.
    pub lasting: u64,
    /// Deviations by kind, in the order of [`Deviation::ALL`].
    pub deviations: [u64; 5],
    /// Bytes of pages that were moved from where nobody was to where they were needed.
    pub moved: u64,
    /// Steps that ran on a plan.
    pub steps: u64,
    /// Steps that ran on a plan and did not deviate.
    pub exact_steps: u64,
    /// In a step that has no plan, or outside of steps.
    pub unplanned: u64,
}

/// The memory of one stream of one device.
///
/// Between two requests a program does other things, so a request finds little of its lane in the processor's caches and
/// fetches it in lines of 64 bytes. The order of the fields is therefore the order in memory (`repr(C)`), and what a
/// request from the pool reads or writes lies on four lines. The first of them begins with what [`crate::allocator`]
/// keeps about a lane, which has 24 bytes:
///
/// ```text
///  line 1   device, number, stream, lock │ in_use … totals
///  line 2   live, guests
///  line 3   parked, the first fields of recording
///  line 6   … the last count │ the first field of arena …
/// ```
#[repr(C)]
pub struct Lane {
    /// Bytes in use.
    in_use: u64,
    /// The most bytes in use since the last step began.
    step_peak: u64,
    /// Requests below this many bytes are small.
    small_below: u64,
    running: bool,
    totals: Arc<Totals>,
    live: Table<u64, Live>,
    /// Other streams that use an allocation, by its address. Most programs use one stream.
    guests: Table<u64, Vec<u64>>,
    /// Small blocks that wait for a request of their size.
    parked: Parked,
    recording: Recording,
    counts: Counts,
    arena: Arena,
    large: Region,
    small: Region,
    /// Physical pages on their way from one place of the pool to another; none between two requests.
    stock: Vec<Frame>,
    deviations_before: u64,
    /// Mapped bytes as the totals know them.
    noted: u64,
    /// The most bytes that were ever in use.
    most: u64,
    stream: u64,
    device: u32,
}

impl Lane {
    /// A lane without any memory.
    pub fn new(backing: &dyn Backing, device: u32, stream: u64, totals: Arc<Totals>) -> Result<Self, BackingError> {
        // Twice the device's memory each: holes then never make an address range too short.
        let (_, total) = backing.memory(device);
        Ok(Self {
            in_use: 0,
            step_peak: 0,
            small_below: backing.page() / SMALL_PART,
            running: false,
            totals,
            live: Table::default(),
            guests: Table::default(),
            parked: Parked::default(),
            recording: Recording::default(),
            counts: Counts::default(),
            arena: Arena::default(),
            large: Region::new(backing, device, total.saturating_mul(2))?,
            small: Region::new(backing, device, total.saturating_mul(2))?,
            stock: Vec::new(),
            deviations_before: 0,
            noted: 0,
            most: 0,
            stream,
            device,
        })
    }

    /// A step begins on this lane.
    pub fn begin(&mut self, step: u32, serial: u64) {
        let Self { arena, live, .. } = self;
        let base = arena.base();
        arena.begin(step, &|| tenants(live, base));
        self.recording.restart(step, serial);
        self.deviations_before = self.counts.deviations.iter().sum();
        self.running = true;
        self.step_peak = self.in_use;
    }

    /// The step ends on this lane. Whether it had a plan and how often it deviated from it.
    pub fn end(&mut self) -> Option<u64> {
        self.running = false;
        self.counts.deviations[Deviation::Survived as usize] += self.arena.end();
        if !self.arena.has_plan() {
            return None;
        }
        let deviations = self.counts.deviations.iter().sum::<u64>() - self.deviations_before;
        self.counts.steps += 1;
        self.counts.exact_steps += u64::from(deviations == 0);
        Some(deviations)
    }

    /// Takes over a plan and maps what it needs, after everything unused has been given back.
    pub fn adopt(&mut self, backing: &dyn Backing, plan: StepPlan) -> Result<(), BackingError> {
        let held = self.held();
        backing.settle(self.device);
        self.trim(backing);
        let adopted = self.arena.adopt(backing, plan, held);
        self.note_reserved();
        adopted
    }

    /// Forgets the plan of a step and gives its bytes back, as far as nothing lies there.
    pub fn withdraw(&mut self, backing: &dyn Backing, step: u32) {
        let held = self.held();
        backing.settle(self.device);
        self.arena.withdraw(backing, step, held);
        self.note_reserved();
    }

    /// The end of the last tenant of the arena.
    fn held(&self) -> u64 {
        let ends = tenants(&self.live, self.arena.base()).into_iter().map(|(offset, bytes)| offset + bytes);
        ends.max().unwrap_or(0)
    }

    /// Tells the totals what has been mapped or unmapped since the last time.
    fn note_reserved(&mut self) {
        let reserved: u64 = self.reserved().iter().sum();
        match reserved.cmp(&self.noted) {
            Ordering::Equal => return,
            Ordering::Greater => self.totals.reserved.add(reserved - self.noted),
            Ordering::Less => self.totals.reserved.take(self.noted - reserved),
        }
        self.noted = reserved;
    }

    /// Serves a request. `relieve` makes other lanes give back what they do not use.
    pub fn allocate(
        &mut self,
        backing: &dyn Backing,
        requested: u64,
        relieve: &dyn Fn(),
    ) -> Result<Granted, BackingError> {
        let Some(bytes) = rounded(requested) else {
            return Err(BackingError::OutOfMemory { asked: requested, free: backing.memory(self.device).0 });
        };
        // Outside of a recorded step nothing is planned, and all memory comes from the pool.
        let place = if self.running { self.place(bytes) } else { Place::Pool(None) };
        // A request may deviate from the plan and still be a slot of it (`At`, `Pool`), or find no place there
        // (`None`). It is served in either case, and the deviation is reported. If the pool cannot serve it, the pool
        // has already given up all plans for their pages: the cursor then means nothing, and a request that is made
        // again deviates from nothing.
        let (address, home, deviation) = match place {
            Place::At(offset, tenant, deviation) => {
                let number = tenant.slot.unwrap_or_default();
                (self.arena.base() + offset, Home::Arena(tenant), deviation.map(|kind| (kind, number, bytes)))
            }
            Place::Pool(deviation) => {
                let (address, home) = self.pool(backing, bytes, relieve)?;
                (address, home, deviation.map(|(kind, number)| (kind, number, bytes)))
            }
            Place::None(kind, number, expected) => {
                let (address, home) = self.deviating(backing, bytes, relieve)?;
                (address, home, Some((kind, number, expected)))
            }
        };
        self.count(place, deviation);
        // The request is recorded also when it follows a plan, so that a new plan can be made if the program has
        // changed.
        let (serial, number) = match self.running {
            true => (self.recording.serial, self.recording.allocated(requested)),
            false => (OUTSIDE, 0),
        };
        self.totals.live.add(bytes);
        self.in_use += bytes;
        if self.in_use > self.step_peak {
            self.step_peak = self.in_use;
            self.most = self.most.max(self.in_use);
        }
        let old = self.live.insert(address, Live { requested, serial, number, home });
        // Two owners of one address would overwrite each other, and nothing behind this line would notice.
        debug_assert!(old.is_none(), "address {address:#x} has two owners");
        Ok(Granted { address, number: self.running.then_some(number), deviation })
    }

    fn place(&mut self, bytes: u64) -> Place {
        let Self { arena, live, .. } = self;
        let base = arena.base();
        arena.place(bytes, &|| tenants(live, base))
    }

    fn count(&mut self, place: Place, deviation: Option<(Deviation, u32, u64)>) {
        if let Some((kind, _, _)) = deviation {
            self.counts.deviations[kind as usize] += 1;
        }
        match place {
            Place::At(..) => self.counts.planned += 1,
            Place::Pool(_) if self.running && self.arena.has_plan() => self.counts.lasting += 1,
            Place::Pool(_) => self.counts.unplanned += 1,
            Place::None(..) => {}
        }
    }

    /// Bytes for a request that has no place in the plan. While the plan still helps, its bytes are left alone.
    #[cold]
    fn deviating(
        &mut self,
        backing: &dyn Backing,
        bytes: u64,
        relieve: &dyn Fn(),
    ) -> Result<(u64, Home), BackingError> {
        if self.arena.is_lost() {
            if let Some(address) = self.region(bytes).0.take_mapped(bytes) {
                return Ok((address, self.region(bytes).1));
            }
            if let Some(found) = self.hole(bytes) {
                return Ok(found);
            }
        }
        self.pool(backing, bytes, relieve)
    }

    fn region(&mut self, bytes: u64) -> (&mut Region, Home) {
        if bytes < self.small_below { (&mut self.small, Home::Small) } else { (&mut self.large, Home::Large) }
    }

    fn hole(&mut self, bytes: u64) -> Option<(u64, Home)> {
        let Self { arena, live, .. } = self;
        let base = arena.base();
        let (offset, tenant) = arena.hole(bytes, &|| tenants(live, base))?;
        Some((base + offset, Home::Arena(tenant)))
    }

    /// Bytes from the pool.
    fn pool(&mut self, backing: &dyn Backing, bytes: u64, relieve: &dyn Fn()) -> Result<(u64, Home), BackingError> {
        if bytes < self.small_below
            && let Some(address) = self.parked.take(bytes)
        {
            return Ok((address, Home::Small));
        }
        // Most requests find mapped pages, and nothing has to be weighed for them.
        let (region, home) = self.region(bytes);
        match region.take_mapped(bytes) {
            Some(address) => Ok((address, home)),
            None => {
                let found = self.pool_with_new_pages(backing, bytes, relieve);
                self.note_reserved();
                found
            }
        }
    }

    /// Bytes from the pool where pages have to be mapped first. On a full device everything that is mapped and unused is
    /// given back first. If that is not enough, the arena's holes are used, and then its plans are given up for their
    /// pages.
    #[cold]
    fn pool_with_new_pages(
        &mut self,
        backing: &dyn Backing,
        bytes: u64,
        relieve: &dyn Fn(),
    ) -> Result<(u64, Home), BackingError> {
        if let Some(spot) = self.spot(backing, bytes) {
            self.make_room(backing, bytes, spot);
            if let Ok(found) = self.take(backing, bytes, spot) {
                return Ok(found);
            }
        }
        self.trim(backing);
        relieve();
        match self.take_anywhere(backing, bytes) {
            Ok(found) => Ok(found),
            Err(_) => match self.hole(bytes) {
                Some(found) => Ok(found),
                None => self.without_plans(backing, bytes),
            },
        }
    }

    /// The place for a request that needs the fewest new pages, once parked blocks have gone back to where they lie. Stale
    /// pages under it get their physical pages back.
    fn spot(&mut self, backing: &dyn Backing, bytes: u64) -> Option<Spot> {
        self.unpark();
        let stream = self.stream;
        let region = self.region(bytes).0;
        let spot = region.spot(bytes)?;
        region.take_back(backing, stream, spot);
        Some(spot)
    }

    fn unpark(&mut self) {
        for (address, bytes) in self.parked.drain() {
            self.small.give(address, bytes);
        }
    }

    /// Takes a place in the pool, with the pages of the stock.
    fn take(&mut self, backing: &dyn Backing, bytes: u64, spot: Spot) -> Result<(u64, Home), BackingError> {
        let mut stock = std::mem::take(&mut self.stock);
        let (region, home) = self.region(bytes);
        let taken = region.take(backing, spot, &mut stock);
        self.stock = stock;
        taken.map(|address| (address, home))
    }

    fn take_anywhere(&mut self, backing: &dyn Backing, bytes: u64) -> Result<(u64, Home), BackingError> {
        let out = || BackingError::OutOfMemory { asked: bytes, free: backing.memory(self.device).0 };
        let spot = if bytes < self.small_below { self.small.spot(bytes) } else { self.large.spot(bytes) };
        let spot = spot.ok_or_else(out)?;
        self.take(backing, bytes, spot)
    }

    /// Bytes from the pool, with the pages that the plans have held for slots nobody is in.
    fn without_plans(&mut self, backing: &dyn Backing, bytes: u64) -> Result<(u64, Home), BackingError> {
        let Self { arena, live, .. } = self;
        let base = arena.base();
        backing.settle(self.device);
        arena.surrender(backing, &|| tenants(live, base));
        self.note_reserved();
        self.take_anywhere(backing, bytes)
    }

    /// Lends pages before new ones are mapped for a spot, if the lane would hold too much otherwise.
    fn make_room(&mut self, backing: &dyn Backing, bytes: u64, spot: Spot) {
        let missing = self.region(bytes).0.missing(spot);
        if missing == 0 {
            return;
        }
        // A request may be absurdly large; it is refused later.
        let most = self.most.max(self.in_use.saturating_add(bytes));
        let limit = most.saturating_add(most / SLACK_PART + SLACK_PAGES * backing.page());
        let held = self.reserved().iter().sum::<u64>();
        let over = held.saturating_add(missing).saturating_sub(limit).min(missing);
        if over == 0 {
            return;
        }
        let (in_large, in_small) = if bytes < self.small_below { (None, Some(spot)) } else { (Some(spot), None) };
        let Self { stream, large, small, stock, .. } = self;
        let lent = large.lend(backing, *stream, over, in_large, stock);
        let more = small.lend(backing, *stream, over - lent.min(over), in_small, stock);
        self.counts.moved += lent + more;
    }

    /// Gives back every page on which nothing lies, after the device has come to rest.
    pub fn trim(&mut self, backing: &dyn Backing) {
        self.unpark();
        if self.large.spare() + self.small.spare() > 0 || !self.stock.is_empty() {
            backing.settle(self.device);
            // A physical page may be stale in one region and in use in the other.
            self.large.forget_stale(backing);
            self.small.forget_stale(backing);
            self.large.trim(backing);
            self.small.trim(backing);
            // A request that was to have these pages has failed.
            backing.release(self.device, &self.stock);
            self.stock.clear();
            self.note_reserved();
        }
    }

    /// Takes an allocation back; false if it is not of this lane.
    pub fn free(&mut self, backing: &dyn Backing, address: u64) -> bool {
        let Some(live) = self.live.remove(&address) else { return false };
        if !self.guests.is_empty() {
            self.wait_for_guests(backing, address);
        }
        let bytes = live.bytes();
        match live.home {
            Home::Small => self.parked.park(address, bytes),
            Home::Large => self.large.give(address, bytes),
            Home::Arena(tenant) => self.arena.freed(address - self.arena.base(), bytes, tenant),
        }
        if live.serial != OUTSIDE {
            self.recording.freed(live.number, live.serial, live.requested, self.running);
        }
        self.totals.live.take(bytes);
        self.in_use -= bytes;
        true
    }

    /// Lets this lane's stream wait for all other streams that use an allocation.
    #[cold]
    fn wait_for_guests(&mut self, backing: &dyn Backing, address: u64) {
        for guest in self.guests.remove(&address).into_iter().flatten() {
            backing.order(self.device, guest, self.stream);
        }
    }

    /// Remembers that another stream uses an allocation; false if it is not of this lane.
    pub fn used_on(&mut self, address: u64, stream: u64) -> bool {
        if !self.live.contains_key(&address) {
            return false;
        }
        let guests = self.guests.entry(address).or_default();
        if stream != self.stream && !guests.contains(&stream) {
            guests.push(stream);
        }
        true
    }
}

/// What a lane says about itself.
impl Lane {
    /// The device and the stream.
    #[must_use]
    pub fn key(&self) -> (u32, u64) {
        (self.device, self.stream)
    }

    /// Mapped bytes of the arena, the large and the small region.
    #[must_use]
    pub fn reserved(&self) -> [u64; 3] {
        [self.arena.reserved(), self.large.reserved(), self.small.reserved()]
    }

    /// The arena.
    #[must_use]
    pub fn arena(&self) -> &Arena {
        &self.arena
    }

    /// The requests of the step that runs or ran last.
    #[must_use]
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// How requests were served so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Number of allocations in use.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.live.len()
    }

    /// The most bytes that were in use at once since the last step began.
    #[must_use]
    pub fn step_peak(&self) -> u64 {
        self.step_peak
    }
}

fn tenants(live: &Table<u64, Live>, base: u64) -> Vec<(u64, u64)> {
    let inside = live.iter().filter(|(_, live)| matches!(live.home, Home::Arena(_)));
    inside.map(|(address, live)| (address - base, live.bytes())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::{offset_of, size_of};

    /// What the doc of [`Lane`] says about lines of 64 bytes. An allocator's entry has 24 bytes before its lane.
    #[test]
    fn a_request_from_the_pool_needs_four_lines() {
        let line = |offset: usize| (24 + offset) / 64;
        assert_eq!(line(offset_of!(Lane, in_use)), 0);
        assert_eq!(line(offset_of!(Lane, totals) + size_of::<Arc<Totals>>() - 1), 0);
        assert_eq!(line(offset_of!(Lane, live)), 1);
        assert_eq!(line(offset_of!(Lane, guests) + size_of::<Table<u64, Vec<u64>>>() - 1), 1);
        assert_eq!(line(offset_of!(Lane, parked)), 2);
        assert_eq!(line(offset_of!(Lane, recording) + offset_of!(Recording, step)), 2);
        let counts = offset_of!(Lane, counts) + offset_of!(Counts, unplanned);
        assert_eq!((line(counts), line(offset_of!(Lane, arena) + 15)), (5, 5));
    }
}
