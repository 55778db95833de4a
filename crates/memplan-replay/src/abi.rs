//! The functions that PyTorch and the Python half of memplan call.
//!
//! One allocator lives in the process: [`memplan_replay_open`] makes it, [`memplan_replay_close`]
//! drops it. No panic crosses this boundary. A request that cannot be served ends in the failure
//! function that was set, which throws PyTorch's own error, or in a null pointer.
//!
//! An `Allocator` serves the requests of all devices. A *step* is one run of a function of the user's program, such
//! as one iteration of training; its number says which function. A *lane* is one stream of one device.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::allocator::Allocator;
use crate::backing::{Backing, Host};
use crate::cuda::Cuda;
use crate::lane::Granted;
use crate::plan;
use crate::recording::Event;

/// Every call holds it for reading, so that nobody closes the allocator while a request is served.
static ALLOCATOR: RwLock<Option<Allocator>> = RwLock::new(None);
/// The address of the `Observer`; 0 if there is none.
static OBSERVER: AtomicUsize = AtomicUsize::new(0);
/// The address of the `Failure` function; 0 if there is none.
static FAILURE: AtomicUsize = AtomicUsize::new(0);
/// Whether the observer hears of every request, and not only of deviations.
static WATCHING: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// What went wrong in the last call of this thread that failed.
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// Hears of requests: kind (100 for one that is as it should be, else the deviation), the request's
/// number in the step, the slot that was expected, its bytes, the bytes asked for, the device and the stream.
type Observer = extern "C" fn(u32, u32, u32, u64, u64, c_int, u64);

/// `c10::detail::torchCheckFail`: function, file, line, message. It throws.
type Failure = extern "C-unwind" fn(*const c_char, *const c_char, u32, *const c_char);

/// Keeps the message of a failed call, for [`memplan_replay_message`]. A C string ends at its first zero byte, so zero
/// bytes become blanks.
fn remember(message: &str) {
    let text = CString::new(message.replace('\0', " ")).unwrap_or_default();
    // A thread that ends may drop its tensors after its message. Then nobody can ask for the message any more.
    let _ = MESSAGE.try_with(|slot| *slot.borrow_mut() = text);
}

/// Runs the body of a call; an error or a panic becomes a message and `-1`.
fn guarded(body: impl FnOnce() -> Result<i64, String>) -> i64 {
    // Keeps the message and makes the answer of a call that failed.
    let failed = |message: &str| {
        remember(message);
        -1
    };
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(answer)) => answer,
        Ok(Err(message)) => failed(&message),
        Err(_) => failed("a bug in memplan, please report it"),
    }
}

/// Runs the body of a call with the process's allocator; -1 with a message if none is open, or if the body fails.
fn with(body: impl FnOnce(&Allocator) -> Result<i64, String>) -> i64 {
    guarded(|| {
        let slot = ALLOCATOR.read().unwrap_or_else(PoisonError::into_inner);
        body(slot.as_ref().ok_or("no allocator is open")?)
    })
}

/// Opens the process's allocator: over the CUDA driver if `capacity` is 0, else over host memory of so
/// many bytes a device. 0, or -1 with a message.
#[unsafe(no_mangle)]
pub extern "C" fn memplan_replay_open(capacity: u64) -> i64 {
    guarded(|| {
        let backing: Arc<dyn Backing> = match capacity {
            0 => Arc::new(Cuda::load().map_err(|error| error.to_string())?),
            bytes => Arc::new(Host::new(bytes)),
        };
        let mut slot = ALLOCATOR.write().unwrap_or_else(PoisonError::into_inner);
        if slot.is_some() {
            return Err("an allocator is open already".into());
        }
        *slot = Some(Allocator::new(backing));
        Ok(0)
    })
}

/// Drops the process's allocator. What it has handed out must not be used any more.
#[unsafe(no_mangle)]
pub extern "C" fn memplan_replay_close() {
    guarded(|| {
        ALLOCATOR.write().unwrap_or_else(PoisonError::into_inner).take();
        Ok(0)
    });
}

/// The message of this thread's last call that answered -1.
#[unsafe(no_mangle)]
pub extern "C" fn memplan_replay_message() -> *const c_char {
    MESSAGE.try_with(|slot| slot.borrow().as_ptr()).unwrap_or(c"the thread ends".as_ptr())
}

/// The allocation function of `CUDAPluggableAllocator`: the address of `bytes` bytes on a device, for work on a stream.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn memplan_replay_malloc(bytes: isize, device: c_int, stream: *mut c_void) -> *mut c_void {
    // The answer leaves `with` in this variable, so that the allocator's lock is released before the observer is
    // called.
    let mut granted = None;
    let status = with(|allocator| {
        let size = u64::try_from(bytes).map_err(|_| format!("{bytes} bytes asked for"))?;
        let device = u32::try_from(device).map_err(|_| format!("device {device}"))?;
        granted = Some(allocator.allocate(size, device, stream as u64).map_err(|error| error.to_string())?);
        Ok(0)
    });
    match granted {
        Some(granted) if status == 0 => {
            observe(granted, bytes as u64, device, stream as u64);
            granted.address as *mut c_void
        }
        _ => {
            fail();
            std::ptr::null_mut()
        }
    }
}

/// Tells the observer. No lock is held here: Python may wait for its own lock, which another thread
/// may hold while it waits for one of ours.
fn observe(granted: Granted, bytes: u64, device: c_int, stream: u64) {
    if granted.deviation.is_none() && !WATCHING.load(Ordering::Relaxed) {
        return;
    }
    let observer = OBSERVER.load(Ordering::Acquire);
    if observer == 0 {
        return;
    }
    // SAFETY: the number was made from a function of this type in `memplan_replay_observe`.
    let observer = unsafe { std::mem::transmute::<usize, Observer>(observer) };
    // Outside of steps requests have no number.
    let number = granted.number.unwrap_or(u32::MAX);
    match granted.deviation {
        Some((kind, slot, expected)) => observer(kind as u32, number, slot, expected, bytes, device, stream),
        // A request that follows the plan: what was expected is what was asked for.
        None => observer(100, number, number, bytes, bytes, device, stream),
    }
}

/// Throws this thread's message as PyTorch's error, if that is possible.
fn fail() {
    let failure = FAILURE.load(Ordering::Acquire);
    if failure == 0 {
        return;
    }
    // SAFETY: the number was made from a function of this type in `memplan_replay_failure`.
    let failure = unsafe { std::mem::transmute::<usize, Failure>(failure) };
    failure(c"memplan_replay_malloc".as_ptr(), c"memplan".as_ptr(), 0, memplan_replay_message());
}

/// The free function of `CUDAPluggableAllocator`. An address that is not known is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn memplan_replay_free(address: *mut c_void, _bytes: isize, device: c_int, stream: *mut c_void) {
    with(|allocator| {
        let device = u32::try_from(device).map_err(|_| format!("device {device}"))?;
        Ok(i64::from(allocator.free(address as u64, device, stream as u64)))
    });
}

/// The `record_stream` function of `CUDAPluggableAllocator`: a second stream uses an allocation, so the stream that the
/// allocation belongs to must wait for that one before the bytes are used again.
#[unsafe(no_mangle)]
pub extern "C" fn memplan_replay_record_stream(address: *mut c_void, stream: *mut c_void) {
    with(|allocator| Ok(i64::from(allocator.used_on(address as u64, stream as u64))));
}

/// A step begins: 1, or 0 if it is part of a running one. Its requests are written down unless `recorded` is 0.
#[unsafe(no_mangle)]
pub extern "C" fn memplan_replay_begin(step: u32, recorded: c_int) -> i64 {
    with(|allocator| {
        let began = if recorded == 0 { allocator.begin_unrecorded(step) } else { allocator.begin(step) };
        Ok(i64::from(began))
    })
}

/// The innermost step ends: the number of deviations, -2 if no lane had a plan, -3 if a step around it goes on.
#[unsafe(no_mangle)]
pub extern "C" fn memplan_replay_end() -> i64 {
    with(|allocator| {
        let ended = allocator.end();
        let deviations = ended.deviations.map_or(-2, |count| i64::try_from(count).unwrap_or(i64::MAX));
        Ok(if ended.nested { -3 } else { deviations })
    })
}

/// Reads a file of plans, verifies them and takes them over. 0, or -1 with a message; then none is taken over, and if
/// one of them had no room, their steps have no plan any more.
///
/// # Safety
/// `bytes` points to `length` bytes, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memplan_replay_adopt(bytes: *const u8, length: usize) -> i64 {
    // In C, a null pointer with a length of 0 is an empty list. In Rust no list is at the null pointer.
    let file = match bytes.is_null() {
        true => &[][..],
        // SAFETY: the caller promises it.
        false => unsafe { std::slice::from_raw_parts(bytes, length) },
    };
    with(|allocator| {
        let plans = plan::read(file).map_err(|error| error.to_string())?;
        allocator.adopt(plans).map_err(|error| error.to_string())?;
        Ok(0)
    })
}

/// Forgets the plans of a step; the pool serves it from then on.
#[unsafe(no_mangle)]
pub extern "C" fn memplan_replay_withdraw(step: u32) -> i64 {
    with(|allocator| {
        allocator.withdraw(step).map_err(|error| error.to_string())?;
        Ok(0)
    })
}

/// Writes three numbers for each of the first `room` lanes: its device, its number among the lanes of that device, and
/// its stream. Returns the number of all lanes, so that the caller can come again with more room; -1 with a message.
///
/// # Safety
/// `out` points to `room` times three numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memplan_replay_lanes(out: *mut u64, room: usize) -> i64 {
    with(|allocator| {
        let lanes = allocator.lanes();
        for (index, &(device, lane, stream)) in lanes.iter().take(room).enumerate() {
            for (part, value) in [u64::from(device), u64::from(lane), stream].into_iter().enumerate() {
                // SAFETY: the index is below `room`, and the caller promises the rest.
                unsafe { out.add(3 * index + part).write(value) };
            }
        }
        Ok(lanes.len() as i64)
    })
}

/// Writes the first `room` requests that a lane had in the last step, and returns how many there were in all; -1 with a
/// message. `lane` is a position in the list of [`memplan_replay_lanes`].
///
/// # Safety
/// `out` points to `room` events.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memplan_replay_recording(lane: usize, out: *mut Event, room: usize) -> i64 {
    with(|allocator| {
        let events = allocator.recording(lane);
        for (index, event) in events.iter().take(room).enumerate() {
            // SAFETY: the index is below `room`, and the caller promises the rest.
            unsafe { out.add(index).write(*event) };
        }
        Ok(events.len() as i64)
    })
}

/// Writes the report as JSON with a zero at its end, if it fits into `room` bytes, and returns its length without the
/// zero; -1 with a message.
///
/// # Safety
/// `out` points to `room` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memplan_replay_report(out: *mut u8, room: usize) -> i64 {
    with(|allocator| {
        let text = allocator.report();
        if text.len() < room {
            // SAFETY: the text and its zero fit into `room` bytes.
            unsafe {
                std::ptr::copy_nonoverlapping(text.as_ptr(), out, text.len());
                out.add(text.len()).write(0);
            }
        }
        Ok(text.len() as i64)
    })
}

/// Gives back every page on which nothing lies.
#[unsafe(no_mangle)]
pub extern "C" fn memplan_replay_trim() -> i64 {
    with(|allocator| {
        allocator.trim();
        Ok(0)
    })
}

/// Forgets the peaks of all devices.
#[unsafe(no_mangle)]
pub extern "C" fn memplan_replay_restart_peaks() -> i64 {
    with(|allocator| {
        allocator.restart_peaks();
        Ok(0)
    })
}

/// Sets the function that hears of deviations (of every request, if `every` is not 0); null for none.
#[unsafe(no_mangle)]
pub extern "C" fn memplan_replay_observe(observer: Option<Observer>, every: c_int) {
    OBSERVER.store(observer.map_or(0, |function| function as usize), Ordering::Release);
    WATCHING.store(every != 0, Ordering::Relaxed);
}

/// Sets the function that throws; null for none.
#[unsafe(no_mangle)]
pub extern "C" fn memplan_replay_failure(failure: Option<Failure>) {
    FAILURE.store(failure.map_or(0, |function| function as usize), Ordering::Release);
}

/// The version of this library's functions, for the Python half.
#[unsafe(no_mangle)]
pub extern "C" fn memplan_replay_version() -> u32 {
    3
}

/// This thread's message as text; for tests in Rust.
#[must_use]
pub fn last_message() -> String {
    // SAFETY: the message lives until this thread's next call.
    unsafe { CStr::from_ptr(memplan_replay_message()) }.to_string_lossy().into_owned()
}
