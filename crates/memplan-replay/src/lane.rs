//! A lane: one stream of one device, with memory that no other lane touches.
//!
//! Work on a stream happens in order, so bytes that were freed on a stream can be given to the
//! same stream at once: a later write comes later in the stream, too. Between streams this does not hold, and
//! lanes therefore share nothing. A tensor that is also used on another stream
//! (`record_stream` in PyTorch) makes its own stream wait for that one when it is freed.
//!
//! The memory of a lane has three parts: the `Arena` with the planned places, and the pool, which has a `Region`
//! for large requests and one for small ones. A request goes to the arena if the running step has a plan with a place
//! for it (`Place`), and to the pool otherwise.

use std::cmp::Ordering;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::arena::{Arena, Deviation, Place, Tenant};
use crate::backing::{Backing, BackingError, Frame};
use crate::hashing::Table;
use crate::live::{Live, LiveTable, OUTSIDE};
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
    /// Bytes now.
    now: AtomicU64,
    /// The most so far.
    peak: AtomicU64,
}

impl Level {
    /// Adds bytes, and raises the peak if it is passed.
    fn add(&self, bytes: u64) {
        let now = self.now.fetch_add(bytes, Relaxed) + bytes;
        // Few requests reach a new peak, and a look costs the processor less than a write that others must see.
        if now > self.peak.load(Relaxed) {
            self.peak.fetch_max(now, Relaxed);
        }
    }

    /// Takes bytes away.
    fn take(&self, bytes: u64) {
        self.now.fetch_sub(bytes, Relaxed);
    }

    /// Changes the number from what it was to what it is.
    fn change(&self, from: u64, to: u64) {
        match to.cmp(&from) {
            Ordering::Equal => {}
            Ordering::Greater => self.add(to - from),
            Ordering::Less => self.take(from - to),
        }
    }

    /// Bytes now, and the most since the last [`Totals::restart`].
    #[must_use]
    pub fn read(&self) -> (u64, u64) {
        (self.now.load(Relaxed), self.peak.load(Relaxed))
    }

    /// Forgets the peak.
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

/// Bytes that were found for a request: their address, and what the arena knows of them if they lie in it.
type Found = (u64, Option<Tenant>);

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
/// fetches it in lines of 64 bytes. The order of the fields is therefore the order in memory (`repr(C)`), and a small
/// request of a step that has no plan and is not recorded needs two lines of them. The first line begins with what
/// [`crate::allocator`] keeps about a lane, which has 24 bytes:
///
/// ```text
///  line 1   device, number, stream, lock │ in_use … is_alone
///  line 2   live, requests, parked
///  line 3   the first fields of recording
/// ```
#[repr(C)]
pub struct Lane {
    /// Bytes in use.
    in_use: u64,
    /// The most bytes in use since the totals were told of them.
    peak: u64,
    /// The most bytes in use since the last step began.
    step_peak: u64,
    /// Requests below this many bytes are small.
    small_below: u64,
    /// Whether a step runs.
    running: bool,
    /// Whether the running step may have a plan. If not, nobody need ask the arena.
    is_planned: bool,
    /// Whether the requests of the running step are written down.
    is_recorded: bool,
    /// Whether other streams use allocations of this lane.
    has_guests: bool,
    /// Whether the device has no other lane. Then the totals need not be told of every request: what this lane knows of
    /// its own bytes is all there is to know.
    is_alone: bool,
    /// The allocations that are in use, by address.
    live: LiveTable,
    /// All requests that were served.
    requests: u64,
    /// Small blocks that wait for a request of their size.
    parked: Parked,
    /// The requests of the step that runs or ran last.
    recording: Recording,
    /// How requests were served so far.
    counts: Counts,
    /// Requests of planned steps that had no place in the plan.
    misplaced: u64,
    /// The planned places.
    arena: Arena,
    /// The pool for large requests.
    large: Region,
    /// The pool for small requests.
    small: Region,
    /// Other streams that use an allocation, by its address. Most programs use one stream.
    guests: Table<u64, Vec<u64>>,
    /// Physical pages on their way from one place of the pool to another; none between two requests.
    stock: Vec<Frame>,
    /// How many deviations there were when the running step began.
    deviations_before: u64,
    /// The bytes of the device, which all its lanes count together.
    totals: Arc<Totals>,
    /// Bytes in use, as the totals know them.
    noted_live: u64,
    /// Mapped bytes as the totals know them.
    noted: u64,
    /// The most bytes that were ever in use, up to the begin of the last step.
    most: u64,
    /// The stream's handle.
    stream: u64,
    /// The device.
    device: u32,
}

impl Lane {
    /// A lane without any memory.
    pub fn new(backing: &dyn Backing, device: u32, stream: u64, totals: Arc<Totals>) -> Result<Self, BackingError> {
        // Twice the device's memory each: holes then never make an address range too short.
        let (_, total) = backing.memory(device);
        Ok(Self {
            in_use: 0,
            peak: 0,
            step_peak: 0,
            small_below: backing.page() / SMALL_PART,
            running: false,
            is_planned: false,
            is_recorded: false,
            has_guests: false,
            is_alone: false,
            live: LiveTable::default(),
            requests: 0,
            parked: Parked::default(),
            recording: Recording::default(),
            counts: Counts::default(),
            misplaced: 0,
            arena: Arena::default(),
            large: Region::new(backing, device, total.saturating_mul(2))?,
            small: Region::new(backing, device, total.saturating_mul(2))?,
            guests: Table::default(),
            stock: Vec::new(),
            deviations_before: 0,
            totals,
            noted_live: 0,
            noted: 0,
            most: 0,
            stream,
            device,
        })
    }

    /// A step begins on this lane; its requests are written down if it `is_recorded`.
    pub fn begin(&mut self, step: u32, serial: u64, is_recorded: bool) {
        // The list of tenants is a function, because the arena needs the list only if it leaves lockstep.
        let Self { arena, live, .. } = self;
        let base = arena.base();
        arena.begin(step, &|| tenants(live, base));
        self.recording.restart(step, serial);
        self.deviations_before = self.counts.deviations.iter().sum();
        (self.running, self.is_planned, self.is_recorded) = (true, self.arena.has_plan(), is_recorded);
        self.most = self.most.max(self.step_peak);
        self.step_peak = self.in_use;
    }

    /// The step ends on this lane. How often it deviated from its plan; `None` if it had no plan.
    pub fn end(&mut self) -> Option<u64> {
        (self.running, self.is_planned, self.is_recorded) = (false, false, false);
        // What is still alive though the plan frees it in the step counts as a deviation of the step.
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
        // Pages may be unmapped only when the device has done all work that uses them. What is unused is given back
        // first, so that the device has room for the plan.
        let held = self.held();
        backing.settle(self.device);
        self.trim(backing);
        let adopted = self.arena.adopt(backing, plan, held);
        self.note_reserved();
        adopted
    }

    /// Forgets the plan of a step and gives its bytes back, as far as nothing lies there.
    pub fn withdraw(&mut self, backing: &dyn Backing, step: u32) {
        // Pages may be unmapped only when the device has done all work that uses them.
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
        self.totals.reserved.change(self.noted, reserved);
        self.noted = reserved;
    }

    /// Tells the totals how many bytes are in use. A lane that is alone on its device also knows the most bytes that
    /// were in use since the last time.
    pub(crate) fn note_live(&mut self) {
        if self.is_alone {
            self.totals.live.change(self.noted_live, self.peak);
            self.noted_live = self.peak;
        }
        self.totals.live.change(self.noted_live, self.in_use);
        self.noted_live = self.in_use;
        self.peak = self.in_use;
    }

    /// Whether the device has no other lane from here on.
    pub(crate) fn set_alone(&mut self, is_alone: bool) {
        self.note_live();
        self.is_alone = is_alone;
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
        // Outside of a planned step all memory comes from the pool.
        let place = if self.is_planned { self.place(bytes) } else { Place::Pool(None) };
        // A request may deviate from the plan and still be a slot of it (`At`, `Pool`), or find no place there
        // (`None`). It is served in either case, and the deviation is reported. If the pool cannot serve it, the pool
        // has already given up all plans for their pages: the cursor then means nothing, and a request that is made
        // again deviates from nothing. Only a request that no pages could serve leaves the plans: its slot counts as
        // left out.
        let ((address, tenant), deviation) = match place {
            Place::At(offset, tenant, deviation) => {
                let found = (self.arena.base() + offset, Some(tenant));
                (found, deviation.map(|kind| (kind, tenant.slot, bytes)))
            }
            Place::Pool(deviation) => {
                let found = self.pool(backing, bytes, relieve)?;
                (found, deviation.map(|(kind, number)| (kind, number, bytes)))
            }
            Place::None(kind, number, expected) => {
                (self.deviating(backing, bytes, relieve)?, Some((kind, number, expected)))
            }
        };
        self.requests += 1;
        if self.is_planned {
            self.count(place, deviation);
        }
        // The request is recorded also when it follows a plan, so that a new plan can be made if the program has
        // changed.
        let (serial, number) = match self.is_recorded {
            true => (self.recording.serial as u32, self.recording.allocated(requested)),
            false => (OUTSIDE, 0),
        };
        self.in_use += bytes;
        self.peak = self.peak.max(self.in_use);
        self.step_peak = self.step_peak.max(self.in_use);
        if !self.is_alone {
            self.note_live();
        }
        self.live.insert(Live { address, requested, serial, number, tenant });
        Ok(Granted { address, number: self.is_recorded.then_some(number), deviation })
    }

    /// What the plan of the running step has for a request.
    fn place(&mut self, bytes: u64) -> Place {
        let Self { arena, live, .. } = self;
        let base = arena.base();
        arena.place(bytes, &|| tenants(live, base))
    }

    /// Counts a request of a step that had a plan when it began.
    fn count(&mut self, place: Place, deviation: Option<(Deviation, u32, u64)>) {
        if let Some((kind, _, _)) = deviation {
            self.counts.deviations[kind as usize] += 1;
        }
        match place {
            Place::At(..) => self.counts.planned += 1,
            Place::Pool(_) if self.arena.has_plan() => self.counts.lasting += 1,
            Place::Pool(_) => {}
            Place::None(..) => self.misplaced += 1,
        }
    }

    /// Bytes for a request that has no place in the plan. While the plan still helps, its bytes are left alone.
    #[cold]
    fn deviating(&mut self, backing: &dyn Backing, bytes: u64, relieve: &dyn Fn()) -> Result<Found, BackingError> {
        // Once the plan does not help this step any more, bytes that are mapped anyway are used before new pages are.
        if self.arena.is_lost() {
            if let Some(address) = self.region(bytes).take_mapped(bytes) {
                return Ok((address, None));
            }
            if let Some(found) = self.hole(bytes) {
                return Ok(found);
            }
        }
        self.pool(backing, bytes, relieve)
    }

    /// The region of the pool for blocks of so many bytes.
    fn region(&mut self, bytes: u64) -> &mut Region {
        if bytes < self.small_below { &mut self.small } else { &mut self.large }
    }

    /// Free bytes of the arena for a request that has no place in the plan.
    fn hole(&mut self, bytes: u64) -> Option<Found> {
        let Self { arena, live, .. } = self;
        let base = arena.base();
        let (offset, tenant) = arena.hole(bytes, &|| tenants(live, base))?;
        Some((base + offset, Some(tenant)))
    }

    /// Bytes from the pool, and where in it they are. A small request first looks for a parked block: one of its size
    /// that was freed and has not yet gone back to its region.
    fn pool(&mut self, backing: &dyn Backing, bytes: u64, relieve: &dyn Fn()) -> Result<Found, BackingError> {
        if bytes < self.small_below
            && let Some(address) = self.parked.take(bytes)
        {
            return Ok((address, None));
        }
        // Most requests find mapped pages, and nothing has to be weighed for them.
        match self.region(bytes).take_mapped(bytes) {
            Some(address) => Ok((address, None)),
            None => {
                let found = self.pool_with_new_pages(backing, bytes, relieve);
                self.note_reserved();
                found
            }
        }
    }

    /// Bytes from the pool where pages have to be mapped first. On a full device everything that is mapped and unused is
    /// given back first, and `relieve` makes the other lanes do so, too. If that is not enough, the arena's holes are
    /// used, and then its plans are given up for their pages.
    #[cold]
    fn pool_with_new_pages(
        &mut self,
        backing: &dyn Backing,
        bytes: u64,
        relieve: &dyn Fn(),
    ) -> Result<Found, BackingError> {
        // `spot` is `None` if no range of addresses is long enough. `take` fails if the device has no more pages.
        if let Some(spot) = self.spot(backing, bytes) {
            self.make_room(backing, bytes, spot);
            if let Ok(found) = self.take(backing, bytes, spot) {
                return Ok(found);
            }
        }
        // A request that would be refused all the same costs nobody a page or a plan.
        let (free, total) = backing.memory(self.device);
        if bytes > total.saturating_sub(self.in_use) {
            return Err(BackingError::OutOfMemory { asked: bytes, free });
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

    /// The place for a request that needs the fewest new pages. Stale pages under it get their physical pages back. For a
    /// small request, parked blocks go back to where they lie first: they may make room for it.
    fn spot(&mut self, backing: &dyn Backing, bytes: u64) -> Option<Spot> {
        if bytes < self.small_below {
            self.unpark();
        }
        let stream = self.stream;
        let region = self.region(bytes);
        let spot = region.spot(bytes)?;
        region.take_back(backing, stream, spot);
        Some(spot)
    }

    /// Gives all parked blocks back to the small region, where they merge with their free neighbours.
    fn unpark(&mut self) {
        for (address, bytes) in self.parked.drain() {
            self.small.give(address, bytes);
        }
    }

    /// Takes a place in the pool, with the pages of the stock.
    fn take(&mut self, backing: &dyn Backing, bytes: u64, spot: Spot) -> Result<Found, BackingError> {
        let mut stock = std::mem::take(&mut self.stock);
        let taken = self.region(bytes).take(backing, spot, &mut stock);
        self.stock = stock;
        taken.map(|address| (address, None))
    }

    /// Takes the place in the pool that needs the fewest new pages.
    fn take_anywhere(&mut self, backing: &dyn Backing, bytes: u64) -> Result<Found, BackingError> {
        let out = || BackingError::OutOfMemory { asked: bytes, free: backing.memory(self.device).0 };
        let spot = if bytes < self.small_below { self.small.spot(bytes) } else { self.large.spot(bytes) };
        let spot = spot.ok_or_else(out)?;
        self.take(backing, bytes, spot)
    }

    /// Bytes from the pool, with the pages that the plans have held for slots nobody is in.
    fn without_plans(&mut self, backing: &dyn Backing, bytes: u64) -> Result<Found, BackingError> {
        self.surrender(backing);
        self.take_anywhere(backing, bytes)
    }

    /// Gives up all plans and the pages on which no tenant of the arena lies.
    fn surrender(&mut self, backing: &dyn Backing) {
        let Self { arena, live, .. } = self;
        let base = arena.base();
        backing.settle(self.device);
        arena.surrender(backing, &|| tenants(live, base));
        self.note_reserved();
    }

    /// For a request of another lane that would be refused: gives back every page on which nothing lies, also those that
    /// plans have held.
    pub(crate) fn give_up(&mut self, backing: &dyn Backing) {
        self.trim(backing);
        self.surrender(backing);
    }

    /// Bytes of pages that [`Lane::give_up`] would give back.
    pub(crate) fn spare(&mut self) -> u64 {
        self.unpark();
        let Self { arena, live, .. } = self;
        let base = arena.base();
        self.large.spare() + self.small.spare() + arena.spare(&|| tenants(live, base))
    }

    /// The steps whose plans were given up since the last call.
    pub(crate) fn take_lost(&mut self) -> Vec<u32> {
        self.arena.take_lost()
    }

    /// If the lane would hold too many pages with those that a spot still needs, takes physical pages from free places
    /// of the pool into the stock. `take` then maps these at the spot instead of new ones.
    fn make_room(&mut self, backing: &dyn Backing, bytes: u64, spot: Spot) {
        let missing = self.region(bytes).missing(spot);
        if missing == 0 {
            return;
        }
        // The most that will have been in use once the request is served. A request may be absurdly large; it is
        // refused later.
        let most = self.most.max(self.step_peak).max(self.in_use.saturating_add(bytes));
        // A lane may hold somewhat more than it ever had in use: moving pages takes time, too.
        let limit = most.saturating_add(most / SLACK_PART + SLACK_PAGES * backing.page());
        let held = self.reserved().iter().sum::<u64>();
        // What would be held above the limit. No more than `missing` bytes can be used at the spot.
        let over = held.saturating_add(missing).saturating_sub(limit).min(missing);
        if over == 0 {
            return;
        }
        // The spot itself is free, but its pages are needed where they are: the region in which it lies must not lend
        // them.
        let (in_large, in_small) = if bytes < self.small_below { (None, Some(spot)) } else { (Some(spot), None) };
        // Pages of the large region go first; what is still missing comes from the small one.
        let mut lent = self.large.lend(backing, self.stream, over, in_large, &mut self.stock);
        if lent < over {
            // Pages under parked blocks can be lent only once these have gone back.
            self.unpark();
            lent += self.small.lend(backing, self.stream, over - lent, in_small, &mut self.stock);
        }
        self.counts.moved += lent;
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
        let Some(live) = self.live.remove(address) else { return false };
        if self.has_guests {
            self.wait_for_guests(backing, address);
        }
        let bytes = live.bytes();
        match live.tenant {
            Some(tenant) => self.arena.freed(address - self.arena.base(), bytes, tenant),
            None if bytes < self.small_below => self.parked.park(address, bytes),
            None => self.large.give(address, bytes),
        }
        // An allocation that was made outside of steps stands in no recording.
        if live.serial != OUTSIDE {
            self.recording.freed(live.number, live.serial, live.requested, self.running);
        }
        self.in_use -= bytes;
        if !self.is_alone {
            self.note_live();
        }
        true
    }

    /// Lets this lane's stream wait for all other streams that use an allocation.
    #[cold]
    fn wait_for_guests(&mut self, backing: &dyn Backing, address: u64) {
        for guest in self.guests.remove(&address).into_iter().flatten() {
            backing.order(self.device, guest, self.stream);
        }
        self.has_guests = !self.guests.is_empty();
    }

    /// Remembers that another stream uses an allocation; false if it is not of this lane.
    pub fn used_on(&mut self, address: u64, stream: u64) -> bool {
        if !self.live.contains(address) {
            return false;
        }
        // The lane's own stream is no guest: what it frees, it may use again at once.
        if stream != self.stream {
            let guests = self.guests.entry(address).or_default();
            if !guests.contains(&stream) {
                guests.push(stream);
            }
            self.has_guests = true;
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
        let Counts { planned, lasting, .. } = self.counts;
        Counts { unplanned: self.requests - planned - lasting - self.misplaced, ..self.counts }
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

/// The offset and the bytes of every allocation in the arena, which begins at the address `base`, in no order that
/// means anything.
fn tenants(live: &LiveTable, base: u64) -> Vec<(u64, u64)> {
    let inside = live.iter().filter(|live| live.tenant.is_some());
    inside.map(|live| (live.address - base, live.bytes())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::{offset_of, size_of};

    /// What the doc of [`Lane`] says about lines of 64 bytes. An allocator's entry has 24 bytes before its lane.
    #[test]
    fn a_request_from_the_pool_needs_two_lines() {
        let line = |offset: usize| (24 + offset) / 64;
        assert_eq!(line(offset_of!(Lane, in_use)), 0);
        assert_eq!(line(offset_of!(Lane, is_alone)), 0);
        assert_eq!(line(offset_of!(Lane, live)), 1);
        assert_eq!(line(offset_of!(Lane, requests)), 1);
        assert_eq!(line(offset_of!(Lane, parked) + size_of::<Parked>() - 1), 1);
        assert_eq!(line(offset_of!(Lane, recording) + offset_of!(Recording, step)), 2);
    }
}
