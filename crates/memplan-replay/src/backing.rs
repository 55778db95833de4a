//! The memory that an allocator hands out: address ranges, pages, and the order of streams.
//!
//! A backing gives away large *address ranges* that cost nothing ([`Backing::reserve`]) and
//! maps *pages* into them on demand ([`Backing::map`]). So a hole of whole pages between two
//! allocations costs nothing, and a region grows in place. CUDA's virtual memory calls work in
//! this way; [`Host`] imitates them with ordinary memory and a limit, for tests and for trying
//! things out without a GPU.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use thiserror::Error;

/// Why memory could not be had.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BackingError {
    /// The device has fewer free bytes than were asked for.
    #[error("out of memory: {asked} bytes asked for, {free} free")]
    OutOfMemory {
        /// Bytes that were to be mapped.
        asked: u64,
        /// Bytes that the device still has.
        free: u64,
    },
    /// The driver refused a call; the text is the driver's own.
    #[error("{call}: {reason}")]
    Driver {
        /// The driver's function.
        call: &'static str,
        /// What the driver says about it.
        reason: String,
    },
}

/// A physical page of a device. It can be mapped at several addresses at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Frame(pub(crate) u64);

/// A moment in the work of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark(pub(crate) u64);

/// Memory of devices, in pages that can be mapped and unmapped.
pub trait Backing: Send + Sync {
    /// Bytes of a page. Addresses and lengths of all calls are multiples of it.
    fn page(&self) -> u64;

    /// Reserves an address range that nothing else will use; no page is mapped.
    fn reserve(&self, device: u32, bytes: u64) -> Result<u64, BackingError>;

    /// Makes physical pages and adds them to a list. Either all of them or none.
    fn create(&self, device: u32, count: u64, frames: &mut Vec<Frame>) -> Result<(), BackingError>;

    /// Gives physical pages back to the device. They must not be mapped anywhere.
    fn release(&self, device: u32, frames: &[Frame]);

    /// Maps physical pages at neighbouring addresses, from `address` upwards, inside a reserved range where nothing is
    /// mapped. If one cannot be mapped, none is.
    fn map(&self, device: u32, address: u64, frames: &[Frame]) -> Result<(), BackingError>;

    /// Unmaps so many pages. The device must have done all work that uses these addresses.
    fn unmap(&self, device: u32, address: u64, pages: u64);

    /// Waits until the device has done all work that was given to it.
    fn settle(&self, device: u32);

    /// A mark after all work that was given to a stream so far. `older` is a mark that is not needed any more; it may
    /// be moved and returned instead of a new one. `None` if no mark could be made.
    fn mark(&self, device: u32, stream: u64, older: Option<Mark>) -> Option<Mark>;

    /// Waits until the device has done all work before a mark.
    fn reach(&self, device: u32, mark: Mark);

    /// Lets all later work on the stream `later` wait for the work given to `earlier` so far.
    fn order(&self, device: u32, earlier: u64, later: u64);

    /// Free bytes and all bytes of a device.
    fn memory(&self, device: u32) -> (u64, u64);
}

/// A lock whose state stays usable after a panic: every method below leaves it consistent.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Plain host memory with the manners of a device.
///
/// The memory is real: whoever gets an address may write there. Each device has the same
/// capacity, and mapping more fails as a full GPU does.
pub struct Host {
    /// Bytes of each device.
    capacity: u64,
    /// Everything that changes.
    state: Mutex<HostState>,
}

/// What a [`Host`] has given away, and counts for tests.
#[derive(Default)]
struct HostState {
    /// The memory behind the reserved address ranges. It is never freed, so that addresses stay valid.
    ranges: Vec<Vec<u8>>,
    /// How many physical pages exist, by device.
    frames: Vec<u64>,
    /// The number of the next physical page.
    next: u64,
    /// The physical page under each mapped address.
    mapped: BTreeMap<u64, Frame>,
    /// At how many addresses each physical page is mapped.
    uses: BTreeMap<Frame, u64>,
    /// How often `settle` was called.
    settled: u64,
    /// How often `reach` was called.
    reached: u64,
    /// How many marks were set so far, which is the number of the last one.
    marked: u64,
    /// The mark that was waited for last.
    last_reached: Option<Mark>,
    /// The pairs of streams with which `order` was called: the earlier one and the later one.
    ordered: Vec<(u64, u64)>,
}

/// A page of the host backing; much smaller than a GPU's, so that small tests meet many pages.
const HOST_PAGE: u64 = 1 << 16;

impl Host {
    /// Devices with this many bytes each.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self { capacity, state: Mutex::default() }
    }

    /// Bytes that are mapped on a device.
    #[must_use]
    pub fn mapped(&self, device: u32) -> u64 {
        locked(&self.state).frames.get(device as usize).copied().unwrap_or(0) * HOST_PAGE
    }

    /// The physical pages under the bytes of a range; `None` where nothing is mapped. Two owners of bytes on different
    /// pages must never have the same physical page.
    #[must_use]
    pub fn frames(&self, address: u64, bytes: u64) -> Vec<(u64, Option<Frame>)> {
        let state = locked(&self.state);
        let first = address / HOST_PAGE * HOST_PAGE;
        let pages = (first..address + bytes).step_by(HOST_PAGE as usize);
        pages.map(|page| (page, state.mapped.get(&page).copied())).collect()
    }

    /// How often the allocator waited for a device, how often for a mark, and which streams were put in order.
    #[must_use]
    pub fn waits(&self) -> (u64, u64, Vec<(u64, u64)>) {
        let state = locked(&self.state);
        (state.settled, state.reached, state.ordered.clone())
    }

    /// How many marks were set. The n-th is `Mark(n)`.
    #[must_use]
    pub fn marks(&self) -> u64 {
        locked(&self.state).marked
    }

    /// The mark that the allocator waited for last.
    #[must_use]
    pub fn last_reached(&self) -> Option<Mark> {
        locked(&self.state).last_reached
    }
}

impl Backing for Host {
    fn page(&self) -> u64 {
        HOST_PAGE
    }

    /// A range of host memory stands for a range of addresses.
    fn reserve(&self, _device: u32, bytes: u64) -> Result<u64, BackingError> {
        // Zeroed memory is not touched before it is written to, so a large range is cheap.
        // Two pages more: one to align the range, one that keeps two ranges from touching.
        let too_large = || BackingError::OutOfMemory { asked: bytes, free: self.capacity };
        let length = bytes.checked_add(2 * HOST_PAGE).and_then(|length| usize::try_from(length).ok());
        let length = length.ok_or_else(too_large)?;
        // A list of zeros that the host has no room for would end the process, so the host is asked before. The
        // compiler would leave out a list that nobody looks at.
        let mut probe = Vec::<u8>::new();
        probe.try_reserve_exact(length).map_err(|_| too_large())?;
        drop(std::hint::black_box(probe));
        let range = vec![0_u8; length];
        let base = (range.as_ptr() as u64).next_multiple_of(HOST_PAGE);
        locked(&self.state).ranges.push(range);
        Ok(base)
    }

    /// Only counts physical pages: they are numbers here, and none is created beyond the capacity.
    fn create(&self, device: u32, count: u64, frames: &mut Vec<Frame>) -> Result<(), BackingError> {
        let mut state = locked(&self.state);
        let device = device as usize;
        let devices = state.frames.len().max(device + 1);
        state.frames.resize(devices, 0);
        let free = self.capacity - state.frames[device] * HOST_PAGE;
        if count * HOST_PAGE > free {
            return Err(BackingError::OutOfMemory { asked: count * HOST_PAGE, free });
        }
        state.frames[device] += count;
        frames.extend((state.next..state.next + count).map(Frame));
        state.next += count;
        Ok(())
    }

    fn release(&self, device: u32, frames: &[Frame]) {
        let mut state = locked(&self.state);
        for frame in frames {
            assert!(!state.uses.contains_key(frame), "{frame:?} is mapped and released");
            state.frames[device as usize] -= 1;
        }
    }

    /// Writes down what is mapped where, and panics on what a driver would refuse. This backing is for tests.
    fn map(&self, _device: u32, address: u64, frames: &[Frame]) -> Result<(), BackingError> {
        let mut state = locked(&self.state);
        for (page, &frame) in (address..).step_by(HOST_PAGE as usize).zip(frames) {
            *state.uses.entry(frame).or_default() += 1;
            let before = state.mapped.insert(page, frame);
            assert!(before.is_none(), "{page:#x} is mapped twice");
        }
        Ok(())
    }

    fn unmap(&self, _device: u32, address: u64, pages: u64) {
        let mut state = locked(&self.state);
        for page in (address..).step_by(HOST_PAGE as usize).take(pages as usize) {
            let frame = state.mapped.remove(&page);
            let uses = frame.and_then(|frame| state.uses.get_mut(&frame));
            let Some(uses) = uses else { panic!("{page:#x} is not mapped") };
            *uses -= 1;
            if let (0, Some(frame)) = (*uses, frame) {
                state.uses.remove(&frame);
            }
        }
    }

    fn settle(&self, _device: u32) {
        locked(&self.state).settled += 1;
    }

    fn mark(&self, _device: u32, _stream: u64, _older: Option<Mark>) -> Option<Mark> {
        let mut state = locked(&self.state);
        state.marked += 1;
        Some(Mark(state.marked))
    }

    fn reach(&self, _device: u32, mark: Mark) {
        let mut state = locked(&self.state);
        state.reached += 1;
        state.last_reached = Some(mark);
    }

    fn order(&self, _device: u32, earlier: u64, later: u64) {
        locked(&self.state).ordered.push((earlier, later));
    }

    fn memory(&self, device: u32) -> (u64, u64) {
        (self.capacity - self.mapped(device), self.capacity)
    }
}
