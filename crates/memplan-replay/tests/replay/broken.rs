//! A driver that fails now and then: what it refuses is lost to nobody.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use memplan_replay::allocator::Allocator;
use memplan_replay::backing::{Backing, BackingError, Frame, Host, Mark};
use memplan_replay::plan::{Moment, Slot, StepPlan};
use memplan_testkit::Random;

use crate::model::Owners;

/// Host memory whose calls for pages fail at random.
struct Broken {
    host: Host,
    /// One call in so many fails; 0: none.
    rarity: AtomicU64,
    /// The number of calls so far, from which chance is made.
    calls: AtomicU64,
    /// How many calls failed.
    failed: AtomicU64,
}

impl Broken {
    fn refuse(&self, call: &'static str) -> Result<(), BackingError> {
        let (rarity, calls) = (self.rarity.load(Relaxed), self.calls.fetch_add(1, Relaxed));
        if rarity == 0 || !Random::new(calls).one_in(rarity) {
            return Ok(());
        }
        self.failed.fetch_add(1, Relaxed);
        Err(BackingError::Driver { call, reason: "error 999".into() })
    }
}

impl Backing for Broken {
    fn page(&self) -> u64 {
        self.host.page()
    }

    fn reserve(&self, device: u32, bytes: u64) -> Result<u64, BackingError> {
        self.refuse("reserve")?;
        self.host.reserve(device, bytes)
    }

    fn create(&self, device: u32, count: u64, frames: &mut Vec<Frame>) -> Result<(), BackingError> {
        self.refuse("create")?;
        self.host.create(device, count, frames)
    }

    fn release(&self, device: u32, frames: &[Frame]) {
        self.host.release(device, frames);
    }

    fn map(&self, device: u32, address: u64, frames: &[Frame]) -> Result<(), BackingError> {
        self.refuse("map")?;
        self.host.map(device, address, frames)
    }

    fn unmap(&self, device: u32, address: u64, pages: u64) {
        self.host.unmap(device, address, pages);
    }

    fn settle(&self, device: u32) {
        self.host.settle(device);
    }

    fn mark(&self, device: u32, stream: u64, older: Option<Mark>) -> Option<Mark> {
        self.refuse("mark").ok()?;
        self.host.mark(device, stream, older)
    }

    fn reach(&self, device: u32, mark: Mark) {
        self.host.reach(device, mark);
    }

    fn order(&self, device: u32, earlier: u64, later: u64) {
        self.host.order(device, earlier, later);
    }

    fn memory(&self, device: u32) -> (u64, u64) {
        self.host.memory(device)
    }
}

/// Plans of two steps on both lanes; the sizes are those that `drive` asks for.
fn plans() -> Vec<StepPlan> {
    let key = |which: u64| (which as u32 / 2, 0, which as u32 % 2);
    let plan = |which: u64| {
        let slot = |number: u64| Slot { offset: Some(number << 20), most: 1 << 20, least: 1 << 20 };
        let slots = (0..3 + which).map(slot).collect::<Vec<_>>();
        let numbers = 0..slots.len() as u32;
        let moments = numbers.clone().map(Moment::Alloc).chain(numbers.map(Moment::Free)).collect();
        StepPlan::verified(key(which), slots, moments).unwrap()
    };
    (0..4).map(plan).collect()
}

/// Bytes in use on different pages lie on different physical pages. Allocations are (address, bytes, stream).
fn check_pages(host: &Host, alive: &[(u64, u64, u64)]) {
    let mut pages = BTreeMap::new();
    for &(address, bytes, _) in alive {
        for (page, frame) in host.frames(address, bytes.max(1)) {
            assert!(frame.is_some(), "{address:#x} has lost the page {page:#x}");
            assert_eq!(*pages.entry(frame).or_insert(page), page, "two pages in use are the same memory");
        }
    }
}

/// Random requests in and between steps, on a device that is nearly full, with plans that come and go.
fn drive(seed: u64) -> u64 {
    let host = Host::new(32 << 20);
    let broken = Arc::new(Broken { host, rarity: 4.into(), calls: (seed << 32).into(), failed: 0.into() });
    let allocator = Allocator::new(broken.clone());
    let (mut dice, mut owners, mut alive) = (Random::new(seed), Owners::default(), Vec::new());
    for round in 0..600_u64 {
        if round % 40 == 0 {
            allocator.end();
            let _ = allocator.adopt(plans());
            allocator.begin(dice.below(2) as u32);
        }
        let bytes = [1 << 20, dice.below(6 << 20), dice.below(60_000)][dice.below(3) as usize];
        let stream = dice.below(2);
        if let Ok(granted) = allocator.allocate(bytes, 0, stream) {
            owners.acquire(granted.address, bytes);
            let frames = broken.host.frames(granted.address, bytes.max(1));
            assert!(frames.iter().all(|(_, frame)| frame.is_some()), "seed {seed}: no page");
            alive.push((granted.address, bytes, stream));
        }
        if round % 16 == 0 {
            check_pages(&broken.host, &alive);
        }
        while alive.len() > 12 || (!alive.is_empty() && dice.one_in(3)) {
            let (address, _, stream) = alive.swap_remove(dice.below(alive.len() as u64) as usize);
            owners.release(address);
            assert!(allocator.free(address, 0, stream));
        }
    }
    alive.iter().for_each(|&(address, _, stream)| assert!(allocator.free(address, 0, stream)));
    allocator.end();
    broken.rarity.store(0, Relaxed);
    (0..2).for_each(|step| allocator.withdraw(step).unwrap());
    allocator.trim();
    assert_eq!(broken.host.mapped(0), 0, "seed {seed}: pages are lost");
    broken.failed.load(Relaxed)
}

#[test]
fn calls_of_the_driver_that_fail_lose_no_page_and_share_none() {
    let failed: u64 = (0..30).map(drive).sum();
    assert!(failed > 500, "{failed} calls failed");
}
