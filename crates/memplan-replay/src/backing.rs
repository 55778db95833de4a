//! The memory that an allocator hands out: address ranges, pages, and the order of streams.
//!
//! A backing gives away large *address ranges* that cost nothing ([`Backing::reserve`]) and
//! maps *pages* into them on demand ([`Backing::map`]). So a hole of whole pages between two
//! allocations costs nothing, and a region grows in place. CUDA's virtual memory calls work in
//! this way; [`Host`] imitates them with ordinary memory and a limit, for tests and for trying
//! things out without a GPU.

use std::collections::{HashMap, HashSet};
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

/// Physical pages that are mapped nowhere else, or at stale addresses only.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Stock(pub(crate) Vec<u64>);

impl Stock {
    /// Number of pages.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.0.len() as u64
    }
}

/// A moment in the work of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark(pub(crate) u64);

/// Memory of devices, in pages that can be mapped and unmapped.
pub trait Backing: Send + Sync {
    /// Bytes of a page. Addresses and lengths of all calls are multiples of it.
    fn page(&self) -> u64;

    /// Reserves an address range that nothing else will use; no page is mapped.
    fn reserve(&self, device: u32, bytes: u64) -> Result<u64, BackingError>;

    /// Maps every page of a range inside a reserved one, with physical pages from the stock first and new ones then.
    /// Either all of it or nothing.
    fn map(&self, device: u32, address: u64, bytes: u64, stock: &mut Stock) -> Result<(), BackingError>;

    /// Puts the physical pages under a mapped range into the stock. Work that was given to the device before may still
    /// use them at these addresses. The range is *stale* from here on: it must be unmapped before it is mapped again.
    fn lend(&self, device: u32, address: u64, bytes: u64, stock: &mut Stock);

    /// Unmaps every page of a range that is mapped or stale. The device must have done all work that uses it.
    fn unmap(&self, device: u32, address: u64, bytes: u64);

    /// Gives the physical pages of a stock back to the device. None of their addresses may be mapped any more.
    fn release(&self, device: u32, stock: &mut Stock);

    /// Waits until the device has done all work that was given to it.
    fn settle(&self, device: u32);

    /// A mark behind all work that was given to a stream so far; an older mark may be used again.
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
    capacity: u64,
    state: Mutex<HostState>,
}

#[derive(Default)]
struct HostState {
    ranges: Vec<Vec<u8>>,
    /// Physical pages that exist, by device.
    pages: Vec<u64>,
    /// The physical page under each address that is mapped and not stale, and the addresses that are stale.
    mapped: HashMap<u64, u64>,
    stale: HashSet<u64>,
    /// The number of the next physical page.
    next: u64,
    /// Calls of `settle`, `reach` and `order`, for tests.
    settled: u64,
    reached: u64,
    ordered: Vec<(u64, u64)>,
}

/// A page of the host backing; much smaller than a GPU's, so that small tests meet many pages.
const HOST_PAGE: u64 = 1 << 16;

/// The addresses of the pages that a range touches.
fn pages(address: u64, bytes: u64) -> impl Iterator<Item = u64> {
    let first = address / HOST_PAGE * HOST_PAGE;
    (first..address + bytes).step_by(HOST_PAGE as usize)
}

impl Host {
    /// Devices with this many bytes each.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self { capacity, state: Mutex::default() }
    }

    /// Bytes that are mapped on a device.
    #[must_use]
    pub fn mapped(&self, device: u32) -> u64 {
        locked(&self.state).pages.get(device as usize).copied().unwrap_or(0) * HOST_PAGE
    }

    /// Whether physical pages lie under all bytes of a range. Two addresses never have the same one, so what lies
    /// there has bytes of its own.
    #[must_use]
    pub fn backs(&self, address: u64, bytes: u64) -> bool {
        let state = locked(&self.state);
        pages(address, bytes).all(|page| state.mapped.contains_key(&page))
    }

    /// How often somebody waited for a device, how often for a mark, and which streams were put in order.
    #[must_use]
    pub fn waits(&self) -> (u64, u64, Vec<(u64, u64)>) {
        let state = locked(&self.state);
        (state.settled, state.reached, state.ordered.clone())
    }
}

impl Backing for Host {
    fn page(&self) -> u64 {
        HOST_PAGE
    }

    fn reserve(&self, _device: u32, bytes: u64) -> Result<u64, BackingError> {
        // Zeroed memory is not touched before somebody writes to it, so a large range is cheap.
        // Two pages more: one to align the range, one that keeps two ranges from touching.
        let too_large = |_| BackingError::OutOfMemory { asked: bytes, free: self.capacity };
        let length = usize::try_from(bytes + 2 * HOST_PAGE).map_err(too_large)?;
        let range = vec![0_u8; length];
        let base = (range.as_ptr() as u64).next_multiple_of(HOST_PAGE);
        locked(&self.state).ranges.push(range);
        Ok(base)
    }

    fn map(&self, device: u32, address: u64, bytes: u64, stock: &mut Stock) -> Result<(), BackingError> {
        let mut state = locked(&self.state);
        let device = device as usize;
        let devices = state.pages.len().max(device + 1);
        state.pages.resize(devices, 0);
        let free = self.capacity - state.pages[device] * HOST_PAGE;
        let new = (bytes / HOST_PAGE).saturating_sub(stock.pages());
        if new * HOST_PAGE > free {
            return Err(BackingError::OutOfMemory { asked: new * HOST_PAGE, free });
        }
        state.pages[device] += new;
        for page in pages(address, bytes) {
            let physical = stock.0.pop().unwrap_or_else(|| {
                state.next += 1;
                state.next
            });
            assert!(!state.stale.contains(&page), "{page:#x} is stale and was not unmapped");
            let before = state.mapped.insert(page, physical);
            assert!(before.is_none(), "{page:#x} is mapped twice");
        }
        Ok(())
    }

    fn lend(&self, _device: u32, address: u64, bytes: u64, stock: &mut Stock) {
        let mut state = locked(&self.state);
        for page in pages(address, bytes) {
            stock.0.extend(state.mapped.remove(&page));
            state.stale.insert(page);
        }
    }

    fn unmap(&self, device: u32, address: u64, bytes: u64) {
        let mut state = locked(&self.state);
        for page in pages(address, bytes) {
            let was_mapped = state.mapped.remove(&page).is_some();
            state.pages[device as usize] -= u64::from(was_mapped);
            assert!(was_mapped || state.stale.remove(&page), "{page:#x} is not mapped");
        }
    }

    fn release(&self, device: u32, stock: &mut Stock) {
        let mut state = locked(&self.state);
        if let Some(pages) = state.pages.get_mut(device as usize) {
            *pages -= stock.0.drain(..).count() as u64;
        }
    }

    fn settle(&self, _device: u32) {
        locked(&self.state).settled += 1;
    }

    fn mark(&self, _device: u32, _stream: u64, _older: Option<Mark>) -> Option<Mark> {
        Some(Mark(0))
    }

    fn reach(&self, _device: u32, _mark: Mark) {
        locked(&self.state).reached += 1;
    }

    fn order(&self, _device: u32, earlier: u64, later: u64) {
        locked(&self.state).ordered.push((earlier, later));
    }

    fn memory(&self, device: u32) -> (u64, u64) {
        (self.capacity - self.mapped(device), self.capacity)
    }
}
