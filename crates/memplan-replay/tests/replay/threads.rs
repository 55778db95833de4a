//! Several threads at once, on streams of their own and on a common one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use memplan_replay::allocator::Allocator;
use memplan_replay::backing::Host;
use memplan_replay::plan::{Moment, Slot, StepPlan};
use memplan_testkit::Random;

use crate::model::Owners;
use crate::planner::plan;

/// The truth is updated before a free and after an allocation: in between, bytes have no owner.
fn work(allocator: &Allocator, owners: &Mutex<Owners>, seed: u64, calls: usize) {
    let mut dice = Random::new(seed);
    let mut alive = Vec::new();
    for _ in 0..calls {
        if alive.len() > 20 || (!alive.is_empty() && dice.one_in(2)) {
            let (address, stream) = alive.swap_remove(dice.below(alive.len() as u64) as usize);
            owners.lock().unwrap().release(address);
            assert!(allocator.free(address, 0, stream));
        } else {
            let (bytes, stream) = (dice.below(50_000), if dice.one_in(2) { 0 } else { seed });
            let address = allocator.allocate(bytes, 0, stream).unwrap().address;
            owners.lock().unwrap().acquire(address, bytes);
            alive.push((address, stream));
        }
    }
    for (address, stream) in alive {
        owners.lock().unwrap().release(address);
        assert!(allocator.free(address, 0, stream));
    }
}

#[test]
fn threads_never_share_a_byte_while_steps_begin_and_end() {
    let calls = if std::env::var_os("MEMPLAN_FULL").is_some() { 100_000 } else { 4_000 };
    let allocator = Arc::new(Allocator::new(Arc::new(Host::new(1 << 27))));
    let owners = Arc::new(Mutex::new(Owners::default()));
    // A recorded step, so that lane 0 has a plan, which the threads then do not follow.
    allocator.begin(0);
    work(&allocator, &owners, 0, 500);
    allocator.end();
    allocator.adopt(vec![plan((0, 0, 0), &allocator.recording(0))]).unwrap();
    std::thread::scope(|scope| {
        for seed in 1..5 {
            let (allocator, owners) = (allocator.clone(), owners.clone());
            scope.spawn(move || work(&allocator, &owners, seed, calls));
        }
        for _ in 0..50 {
            allocator.begin(0);
            std::thread::yield_now();
            allocator.end();
            allocator.trim();
            let report = allocator.report();
            assert!(report.starts_with(r#"{"devices":[{"device":0,"#), "{report}");
        }
    });
    allocator.begin(0);
    work(&allocator, &owners, 0, 500);
    assert_eq!(allocator.end().deviations, Some(0), "{}", allocator.report());
    assert!(allocator.report().contains(r#""live":0"#));
}

/// One thread asks for reports while another one hands over plans that find no room: neither waits for ever.
#[test]
fn a_report_and_a_plan_without_room_do_not_wait_for_each_other() {
    let allocator = Arc::new(Allocator::new(Arc::new(Host::new(1 << 20))));
    let first = allocator.allocate(1, 0, 0).unwrap().address;
    allocator.free(first, 0, 0);
    let (done, finished) = mpsc::channel();
    let is_over = Arc::new(AtomicBool::new(false));
    let (reporting, over) = (allocator.clone(), is_over.clone());
    // Threads that are not joined: if they wait for each other, the test fails and does not wait, too.
    std::thread::spawn(move || {
        while !over.load(Ordering::Relaxed) {
            assert!(reporting.report().contains("nested"));
        }
    });
    std::thread::spawn(move || {
        let slot = Slot { offset: Some(0), most: 2 << 20, least: 2 << 20 };
        let plan = StepPlan::verified((0, 0, 0), vec![slot], vec![Moment::Alloc(0), Moment::Free(0)]).unwrap();
        for _ in 0..2_000 {
            assert!(allocator.adopt(vec![plan.clone()]).is_err());
        }
        done.send(()).unwrap();
    });
    let ended = finished.recv_timeout(Duration::from_secs(60));
    is_over.store(true, Ordering::Relaxed);
    assert!(ended.is_ok(), "the two threads wait for each other");
}
