//! What a call costs: a step of 2,000 requests, at most 40 alive, with and without a plan.
//!
//! `cargo run --release -p memplan-replay --example per_call`

use std::error::Error;
use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use memplan_replay::allocator::Allocator;
use memplan_replay::backing::Host;
use memplan_replay::plan::{Moment, Slot, StepPlan};

const REQUESTS: u32 = 2_000;
const ALIVE: u32 = 40;
const BYTES: u64 = 4096;
const ROUNDS: u32 = 500;

/// Nanoseconds for each allocation with its free.
fn measure(allocator: &Allocator) -> Result<f64, Box<dyn Error>> {
    let begun = Instant::now();
    for _ in 0..ROUNDS {
        allocator.begin(0);
        let mut alive = std::collections::VecDeque::new();
        for _ in 0..REQUESTS {
            if alive.len() == ALIVE as usize {
                alive.pop_front().map(|address| allocator.free(address, 0, 0));
            }
            alive.push_back(allocator.allocate(BYTES, 0, 0)?.address);
        }
        for address in alive {
            allocator.free(address, 0, 0);
        }
        allocator.end();
    }
    Ok(begun.elapsed().as_nanos() as f64 / f64::from(ROUNDS * REQUESTS))
}

/// The n-th request takes over the place of the one that was freed just before.
fn plan() -> Result<StepPlan, Box<dyn Error>> {
    let place = |number: u32| Some(u64::from(number % ALIVE) * BYTES);
    let slots = (0..REQUESTS).map(|number| Slot { offset: place(number), most: BYTES, least: BYTES }).collect();
    let mut moments = Vec::new();
    for number in 0..REQUESTS {
        moments.extend(number.checked_sub(ALIVE).map(Moment::Free));
        moments.push(Moment::Alloc(number));
    }
    moments.extend((REQUESTS - ALIVE..REQUESTS).map(Moment::Free));
    Ok(StepPlan::verified((0, 0, 0), slots, moments)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let allocator = Allocator::new(Arc::new(Host::new(1 << 26)));
    let pool = measure(&allocator)?;
    allocator.adopt(vec![plan()?])?;
    let planned = measure(&allocator)?;
    let mut out = std::io::stdout();
    writeln!(out, "allocation and free: {planned:.0} ns at planned addresses, {pool:.0} ns from the pool")?;
    Ok(())
}
