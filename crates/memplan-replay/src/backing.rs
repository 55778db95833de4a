//! The memory that an allocator hands out: address ranges, pages, and the order of streams.
//!
//! A backing gives away large *address ranges* that cost nothing ([`Backing::reserve`]) and
//! maps *pages* into them on demand ([`Backing::map`]). So a hole of whole pages between two
//! allocations costs nothing, and a region grows in place. CUDA's virtual memory calls work in
//! this way; [`Host`] imitates them with ordinary memory and a limit, for tests and for trying
//! things out without a GPU.

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

/// Memory of devices, in pages that can be mapped and unmapped.
pub trait Backing: Send + Sync {
    /// Bytes of a page. Addresses and lengths of all calls are multiples of it.
    fn page(&self) -> u64;

    /// Reserves an address range that nothing else will use; no page is mapped.
    fn reserve(&self, device: u32, bytes: u64) -> Result<u64, BackingError>;

    /// Maps every page of a range inside a reserved one. Either all of it or nothing.
    fn map(&self, device: u32, address: u64, bytes: u64) -> Result<(), BackingError>;

    /// Unmaps every page of a mapped range. The device must have come to rest before.
    fn unmap(&self, device: u32, address: u64, bytes: u64);

    /// Waits until the device has done all work that was given to it.
    fn settle(&self, device: u32);

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
    /// Mapped bytes by device.
    mapped: Vec<u64>,
    /// Calls of `settle` and `order`, for tests.
    settled: u64,
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
        locked(&self.state).mapped.get(device as usize).copied().unwrap_or(0)
    }

    /// How often somebody waited for a device, and which streams were put in order.
    #[must_use]
    pub fn waits(&self) -> (u64, Vec<(u64, u64)>) {
        let state = locked(&self.state);
        (state.settled, state.ordered.clone())
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

    fn map(&self, device: u32, _address: u64, bytes: u64) -> Result<(), BackingError> {
        let mut state = locked(&self.state);
        let device = device as usize;
        if state.mapped.len() <= device {
            state.mapped.resize(device + 1, 0);
        }
        let free = self.capacity - state.mapped[device];
        if bytes > free {
            return Err(BackingError::OutOfMemory { asked: bytes, free });
        }
        state.mapped[device] += bytes;
        Ok(())
    }

    fn unmap(&self, device: u32, _address: u64, bytes: u64) {
        let mut state = locked(&self.state);
        state.mapped[device as usize] -= bytes;
    }

    fn settle(&self, _device: u32) {
        locked(&self.state).settled += 1;
    }

    fn order(&self, _device: u32, earlier: u64, later: u64) {
        locked(&self.state).ordered.push((earlier, later));
    }

    fn memory(&self, device: u32) -> (u64, u64) {
        (self.capacity - self.mapped(device), self.capacity)
    }
}
