//! The C functions, called as PyTorch and Python call them.

use std::cell::RefCell;
use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use memplan_replay::abi::{
    last_message, memplan_replay_adopt, memplan_replay_begin, memplan_replay_close, memplan_replay_end,
    memplan_replay_free, memplan_replay_malloc, memplan_replay_message, memplan_replay_observe, memplan_replay_open,
    memplan_replay_recording, memplan_replay_report,
};
use memplan_replay::plan;
use memplan_replay::recording::{Event, Kind};

use crate::planner;

/// The process has one allocator: tests of the boundary take turns.
static TURN: Mutex<()> = Mutex::new(());
static HEARD: AtomicU64 = AtomicU64::new(0);

extern "C" fn hear(kind: u32, _number: u32, slot: u32, expected: u64, bytes: u64, device: i32, stream: u64) {
    assert_eq!((kind, slot, expected, bytes, device, stream), (0, 1, 1024, 5000, 0, 0));
    HEARD.fetch_add(1, Ordering::Relaxed);
}

/// A step of two requests; the memory is written to from end to end, which a sanitizer looks at.
fn step(second: isize) -> i64 {
    assert_eq!(memplan_replay_begin(3, 1), 1);
    let sizes = [512, second];
    let addresses = sizes.map(|bytes| memplan_replay_malloc(bytes, 0, null_mut()));
    for (mark, (address, bytes)) in addresses.iter().zip(sizes).enumerate() {
        // SAFETY: these bytes were just handed out.
        unsafe { address.cast::<u8>().write_bytes(mark as u8 + 1, bytes as usize) };
    }
    for (mark, (address, bytes)) in addresses.iter().zip(sizes).enumerate() {
        // SAFETY: as above, and written.
        let held = unsafe { std::slice::from_raw_parts(address.cast::<u8>(), bytes as usize) };
        assert!(held.iter().all(|byte| *byte == mark as u8 + 1));
        memplan_replay_free(*address, bytes, 0, null_mut());
    }
    memplan_replay_end()
}

#[test]
fn a_step_is_recorded_planned_and_replayed_through_c() {
    let _turn = TURN.lock().unwrap();
    assert_eq!(memplan_replay_begin(0, 1), -1);
    assert_eq!(last_message(), "no allocator is open");
    assert_eq!(memplan_replay_open(1 << 22), 0);
    assert_eq!(memplan_replay_open(1 << 22), -1);
    assert_eq!((step(1024), step(1024)), (-2, -2), "no plan yet");
    let mut events = vec![Event { kind: Kind::Alloc, index: 0, bytes: 0 }; 8];
    // SAFETY: there is room for eight events.
    let count = unsafe { memplan_replay_recording(0, events.as_mut_ptr(), events.len()) };
    events.truncate(usize::try_from(count).unwrap());
    assert_eq!(events.iter().map(|event| event.index).collect::<Vec<_>>(), [0, 1, 0, 1]);
    let mut file = plan::write(&[planner::plan((3, 0, 0), &events)]);
    // SAFETY: the pointer and the length are those of a list.
    assert_eq!(unsafe { memplan_replay_adopt(file.as_ptr(), file.len()) }, 0, "{}", last_message());
    memplan_replay_observe(Some(hear), 0);
    assert_eq!((step(1024), step(5000), step(1024)), (0, 1, 0));
    assert_eq!(HEARD.load(Ordering::Relaxed), 1);
    memplan_replay_observe(None, 0);
    file[20] ^= 1;
    // SAFETY: as above.
    assert_eq!(unsafe { memplan_replay_adopt(file.as_ptr(), file.len()) }, -1);
    assert_eq!(last_message(), "the plan was damaged: its checksum is wrong");
    assert!(memplan_replay_malloc(-1, 0, null_mut()).is_null());
    assert!(memplan_replay_malloc(1 << 40, 0, null_mut()).is_null());
    assert!(last_message().starts_with("CUDA out of memory. memplan: out of memory on device 0"), "{}", last_message());
    let mut text = vec![0_u8; 4096];
    // SAFETY: there is room for 4096 bytes.
    let length = unsafe { memplan_replay_report(text.as_mut_ptr(), text.len()) };
    let report = std::str::from_utf8(&text[..usize::try_from(length).unwrap()]).unwrap();
    assert!(report.contains(r#""steps":3,"exact_steps":2,"planned":5"#), "{report}");
    memplan_replay_close();
}

/// Frees memory when its thread ends, as a tensor in a variable of the thread does.
struct FreesAtTheEnd;

impl Drop for FreesAtTheEnd {
    fn drop(&mut self) {
        memplan_replay_free(null_mut(), 0, -1, null_mut());
        assert!(memplan_replay_malloc(-1, 0, null_mut()).is_null());
        assert!(!memplan_replay_message().is_null());
    }
}

thread_local! {
    static LATE: RefCell<Option<FreesAtTheEnd>> = const { RefCell::new(None) };
}

/// A thread's variables are dropped in the reverse order of their first use, so that the message of this thread is gone
/// when the late free fails. A panic there would end the process.
#[test]
fn a_free_that_fails_while_its_thread_ends_is_ignored() {
    let _turn = TURN.lock().unwrap();
    let thread = std::thread::spawn(|| {
        LATE.with(|late| *late.borrow_mut() = Some(FreesAtTheEnd));
        assert_eq!(memplan_replay_begin(0, 1), -1);
        assert_eq!(last_message(), "no allocator is open");
    });
    thread.join().unwrap();
}

#[test]
fn an_empty_file_is_no_plan_even_at_the_null_pointer() {
    let _turn = TURN.lock().unwrap();
    assert_eq!(memplan_replay_open(1 << 22), 0);
    // SAFETY: there are no bytes at all.
    assert_eq!(unsafe { memplan_replay_adopt(std::ptr::null(), 0) }, -1);
    assert_eq!(last_message(), "not a replay plan: it is too short");
    memplan_replay_close();
}

/// Sizes of devices that no machine has.
#[test]
fn a_device_that_is_too_large_for_the_host_is_refused() {
    let _turn = TURN.lock().unwrap();
    for capacity in [u64::MAX, u64::MAX / 2, 1 << 62, 1 << 48] {
        assert_eq!(memplan_replay_open(capacity), 0);
        assert!(memplan_replay_malloc(100, 0, null_mut()).is_null());
        assert!(last_message().starts_with("out of memory: "), "{}", last_message());
        memplan_replay_close();
    }
}
