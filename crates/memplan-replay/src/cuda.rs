//! Device memory from the CUDA driver, which is loaded when it is first needed.
//!
//! Pages are physical memory of the driver's granularity (2 MiB), one handle each, mapped into
//! reserved address ranges: `cuMemAddressReserve`, `cuMemCreate`, `cuMemMap`, `cuMemSetAccess`.
//! The driver's functions are looked up by name in `libcuda.so.1`, so that nothing of CUDA is
//! needed to build this crate or to load it on a machine without a GPU.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::Mutex;

use crate::backing::{Backing, BackingError, Frame, Mark, locked};

unsafe extern "C" {
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// Asks the loader to resolve all names of a library at once.
const RTLD_NOW: c_int = 2;
/// The driver's answer when the device has no memory left (`CUDA_ERROR_OUT_OF_MEMORY`).
const OUT_OF_MEMORY: c_int = 2;

/// `CUmemLocation`: a device by its number.
#[repr(C)]
#[derive(Clone, Copy)]
struct Location {
    kind: c_int,
    id: c_int,
}

/// `CUmemAllocationProp`.
#[repr(C)]
struct Properties {
    kind: c_int,
    handle_types: c_int,
    location: Location,
    win32: *mut c_void,
    flags: [u8; 8],
}

/// `CUmemAccessDesc`.
#[repr(C)]
struct Access {
    location: Location,
    flags: c_int,
}

// Numbers of cuda.h: a location that is a device, memory that stays where it is, and access for reading and writing.
const DEVICE: c_int = 1;
const PINNED: c_int = 1;
const READ_WRITE: c_int = 3;

/// Declares the driver's functions and the struct that holds their addresses.
macro_rules! driver {
    ($($field:ident = $name:literal: fn($($argument:ty),*);)*) => {
        struct Driver { $($field: unsafe extern "C" fn($($argument),*) -> c_int,)* }

        impl Driver {
            fn load() -> Result<Self, BackingError> {
                let missing = |what: &str| BackingError::Driver { call: "dlopen", reason: format!("{what} was not found") };
                // SAFETY: the name is a C string; loading the driver runs its own start-up code only.
                let library = unsafe { dlopen(c"libcuda.so.1".as_ptr(), RTLD_NOW) };
                if library.is_null() {
                    return Err(missing("libcuda.so.1"));
                }
                $(
                    // SAFETY: the library is loaded and the name is a C string.
                    let $field = unsafe { dlsym(library, $name.as_ptr()) };
                    if $field.is_null() {
                        return Err(missing($name.to_str().unwrap_or_default()));
                    }
                )*
                // SAFETY: the addresses are not null, and the types are those of cuda.h.
                Ok(Self { $($field: unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) -> c_int>($field) },)* })
            }
        }
    };
}

driver! {
    init = c"cuInit": fn(c_uint);
    device_get = c"cuDeviceGet": fn(*mut c_int, c_int);
    retain = c"cuDevicePrimaryCtxRetain": fn(*mut *mut c_void, c_int);
    push = c"cuCtxPushCurrent_v2": fn(*mut c_void);
    pop = c"cuCtxPopCurrent_v2": fn(*mut *mut c_void);
    synchronize = c"cuCtxSynchronize": fn();
    memory_info = c"cuMemGetInfo_v2": fn(*mut usize, *mut usize);
    granularity = c"cuMemGetAllocationGranularity": fn(*mut usize, *const Properties, c_int);
    reserve = c"cuMemAddressReserve": fn(*mut u64, usize, usize, u64, u64);
    create = c"cuMemCreate": fn(*mut u64, usize, *const Properties, u64);
    release = c"cuMemRelease": fn(u64);
    map = c"cuMemMap": fn(u64, usize, usize, u64, u64);
    unmap = c"cuMemUnmap": fn(u64, usize);
    set_access = c"cuMemSetAccess": fn(u64, usize, *const Access, usize);
    event_create = c"cuEventCreate": fn(*mut *mut c_void, c_uint);
    event_record = c"cuEventRecord": fn(*mut c_void, *mut c_void);
    event_destroy = c"cuEventDestroy_v2": fn(*mut c_void);
    event_wait = c"cuEventSynchronize": fn(*mut c_void);
    stream_wait = c"cuStreamWaitEvent": fn(*mut c_void, *mut c_void, c_uint);
    error_string = c"cuGetErrorString": fn(c_int, *mut *const c_char);
}

/// The devices of the CUDA driver.
pub(crate) struct Cuda {
    /// The driver's functions.
    driver: Driver,
    /// Bytes of a page: the driver's granularity.
    page: u64,
    /// Addresses of contexts by device; plain numbers, so that they may be sent between threads.
    contexts: Mutex<Vec<Option<usize>>>,
}

impl Cuda {
    /// Loads the driver.
    pub(crate) fn load() -> Result<Self, BackingError> {
        let driver = Driver::load()?;
        let mut cuda = Self { driver, page: 0, contexts: Mutex::default() };
        // SAFETY: the driver takes no pointer here.
        cuda.check("cuInit", unsafe { (cuda.driver.init)(0) })?;
        let mut bytes = 0_usize;
        let properties = Self::properties(0);
        // SAFETY: both pointers are to locals that outlive the call. 0 asks for the minimum.
        let code = unsafe { (cuda.driver.granularity)(&raw mut bytes, &raw const properties, 0) };
        cuda.check("cuMemGetAllocationGranularity", code)?;
        cuda.page = bytes as u64;
        Ok(cuda)
    }

    /// What the driver is told about pages that are to be made: memory of this device.
    fn properties(device: u32) -> Properties {
        let location = Location { kind: DEVICE, id: device as c_int };
        Properties { kind: PINNED, handle_types: 0, location, win32: std::ptr::null_mut(), flags: [0; 8] }
    }

    /// Makes an error of the answer of a call: 0 is success, anything else is looked up in the driver's list of texts.
    fn check(&self, call: &'static str, code: c_int) -> Result<(), BackingError> {
        if code == 0 {
            return Ok(());
        }
        let mut text = std::ptr::null();
        // SAFETY: the driver writes the address of a string that lives for ever, or null.
        unsafe { (self.driver.error_string)(code, &raw mut text) };
        // SAFETY: not null, so it is the driver's string.
        let reason = if text.is_null() { "".into() } else { unsafe { CStr::from_ptr(text) }.to_string_lossy() };
        Err(BackingError::Driver { call, reason: format!("error {code}: {reason}") })
    }

    /// Runs a call with the device's primary context, which is PyTorch's, too.
    fn within<T>(&self, device: u32, call: impl FnOnce() -> T) -> Result<T, BackingError> {
        // A driver call works on the context on top of the thread's stack of contexts. PyTorch's own is put back
        // afterwards.
        let known = locked(&self.contexts).get(device as usize).copied().flatten();
        let context = match known {
            Some(context) => context,
            None => self.retain(device)?,
        };
        // SAFETY: the context was retained and is never released.
        self.check("cuCtxPushCurrent", unsafe { (self.driver.push)(context as *mut c_void) })?;
        let answer = call();
        let mut popped = std::ptr::null_mut();
        // SAFETY: the pointer is to a local; the context on top is the one pushed above.
        self.check("cuCtxPopCurrent", unsafe { (self.driver.pop)(&raw mut popped) })?;
        Ok(answer)
    }

    /// Asks the driver for a device's primary context, and remembers it, so that this is done once for each device.
    fn retain(&self, device: u32) -> Result<usize, BackingError> {
        let (mut handle, mut context) = (0, std::ptr::null_mut());
        // SAFETY: the pointers are to locals that outlive the calls.
        self.check("cuDeviceGet", unsafe { (self.driver.device_get)(&raw mut handle, device as c_int) })?;
        // SAFETY: as above.
        self.check("cuDevicePrimaryCtxRetain", unsafe { (self.driver.retain)(&raw mut context, handle) })?;
        let mut contexts = locked(&self.contexts);
        let count = contexts.len().max(device as usize + 1);
        contexts.resize(count, None);
        contexts[device as usize] = Some(context as usize);
        Ok(context as usize)
    }

    /// Creates a physical page.
    fn create_one(&self, device: u32) -> Result<Frame, BackingError> {
        let mut handle = 0;
        let properties = Self::properties(device);
        // SAFETY: both pointers are to locals that outlive the call.
        let code = unsafe { (self.driver.create)(&raw mut handle, self.page as usize, &raw const properties, 0) };
        if code == OUT_OF_MEMORY {
            return Err(BackingError::OutOfMemory { asked: self.page, free: self.memory(device).0 });
        }
        self.check("cuMemCreate", code)?;
        Ok(Frame(handle))
    }

    /// Creates physical pages and adds them to `frames`; all or none.
    fn create_all(&self, device: u32, count: u64, frames: &mut Vec<Frame>) -> Result<(), BackingError> {
        let before = frames.len();
        for _ in 0..count {
            let created = self.create_one(device);
            match created {
                Ok(frame) => frames.push(frame),
                Err(error) => {
                    self.release_all(&frames[before..]);
                    frames.truncate(before);
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Maps pages at neighbouring addresses and makes them accessible; all or none.
    fn map_all(&self, device: u32, address: u64, frames: &[Frame]) -> Result<(), BackingError> {
        for (done, frame) in frames.iter().enumerate() {
            let page = address + done as u64 * self.page;
            // SAFETY: the address lies in a range that we reserved, and nothing is mapped there. The page may be
            // mapped elsewhere, too; the driver lets a page have several addresses.
            let code = unsafe { (self.driver.map)(page, self.page as usize, 0, frame.0, 0) };
            self.check("cuMemMap", code).inspect_err(|_| self.unmap_all(address, done as u64))?;
        }
        let access = Access { location: Location { kind: DEVICE, id: device as c_int }, flags: READ_WRITE };
        let bytes = frames.len() * self.page as usize;
        // SAFETY: the range was mapped above; the pointer is to a local.
        let code = unsafe { (self.driver.set_access)(address, bytes, &raw const access, 1) };
        self.check("cuMemSetAccess", code).inspect_err(|_| self.unmap_all(address, frames.len() as u64))
    }

    /// Unmaps so many pages from an address on.
    fn unmap_all(&self, address: u64, pages: u64) {
        for page in (address..).step_by(self.page as usize).take(pages as usize) {
            // SAFETY: this page is mapped, and the caller knows that no work uses it any more.
            unsafe { (self.driver.unmap)(page, self.page as usize) };
        }
    }

    /// Gives physical pages back to the driver.
    fn release_all(&self, frames: &[Frame]) {
        for frame in frames {
            // SAFETY: the page was created here and is released once; the caller has unmapped it.
            unsafe { (self.driver.release)(frame.0) };
        }
    }
}

impl Backing for Cuda {
    fn page(&self) -> u64 {
        self.page
    }

    fn reserve(&self, device: u32, bytes: u64) -> Result<u64, BackingError> {
        let mut address = 0;
        // SAFETY: the pointer is to a local that outlives the call.
        let reserve = || unsafe { (self.driver.reserve)(&raw mut address, bytes as usize, 0, 0, 0) };
        let code = self.within(device, reserve)?;
        self.check("cuMemAddressReserve", code)?;
        Ok(address)
    }

    fn create(&self, device: u32, count: u64, frames: &mut Vec<Frame>) -> Result<(), BackingError> {
        // Asked before, a request that cannot be met costs one call, not thousands of pages.
        let (asked, (free, _)) = (count.saturating_mul(self.page), self.memory(device));
        if asked > free {
            return Err(BackingError::OutOfMemory { asked, free });
        }
        self.within(device, || self.create_all(device, count, frames))?
    }

    fn release(&self, device: u32, frames: &[Frame]) {
        let _ = self.within(device, || self.release_all(frames));
    }

    fn map(&self, device: u32, address: u64, frames: &[Frame]) -> Result<(), BackingError> {
        self.within(device, || self.map_all(device, address, frames))?
    }

    fn unmap(&self, device: u32, address: u64, pages: u64) {
        let _ = self.within(device, || self.unmap_all(address, pages));
    }

    fn settle(&self, device: u32) {
        // SAFETY: no pointer is passed.
        let _ = self.within(device, || unsafe { (self.driver.synchronize)() });
    }

    fn mark(&self, device: u32, stream: u64, older: Option<Mark>) -> Option<Mark> {
        let record = || {
            let mut event = older.map_or(std::ptr::null_mut(), |mark| mark.0 as *mut c_void);
            // SAFETY: the event is an older mark, or it is made here; the stream is PyTorch's. The flag 2 is
            // `CU_EVENT_DISABLE_TIMING`: nobody asks when the event happened, and an event without a time is cheaper.
            unsafe {
                if event.is_null() && (self.driver.event_create)(&raw mut event, 2) != 0 {
                    return None;
                }
                ((self.driver.event_record)(event, stream as *mut c_void) == 0).then_some(Mark(event as u64))
            }
        };
        self.within(device, record).ok().flatten()
    }

    fn reach(&self, device: u32, mark: Mark) {
        // SAFETY: a mark is an event that is never destroyed.
        let _ = self.within(device, || unsafe { (self.driver.event_wait)(mark.0 as *mut c_void) });
    }

    /// `earlier` and `later` are handles of streams. Work that is given to the stream `later` from now on starts only
    /// when the work given to `earlier` so far is done. If the driver has no event for that, the whole device comes to
    /// rest instead: then the work given to `earlier` is done as well.
    fn order(&self, device: u32, earlier: u64, later: u64) {
        let wait = || {
            let mut event = std::ptr::null_mut();
            // SAFETY: the streams are PyTorch's and alive. The event is made here and not used after its destruction.
            // It may be destroyed at once: the driver keeps it until the work that it marks is done. The flag 2 is
            // `CU_EVENT_DISABLE_TIMING`, as in `mark`.
            unsafe {
                if (self.driver.event_create)(&raw mut event, 2) != 0 {
                    return false;
                }
                let is_ordered = (self.driver.event_record)(event, earlier as *mut c_void) == 0
                    && (self.driver.stream_wait)(later as *mut c_void, event, 0) == 0;
                (self.driver.event_destroy)(event);
                is_ordered
            }
        };
        if !self.within(device, wait).unwrap_or(false) {
            self.settle(device);
        }
    }

    fn memory(&self, device: u32) -> (u64, u64) {
        let (mut free, mut total) = (0_usize, 0_usize);
        // SAFETY: the pointers are to locals that outlive the call.
        let _ = self.within(device, || unsafe { (self.driver.memory_info)(&raw mut free, &raw mut total) });
        (free as u64, total as u64)
    }
}
