//! What the pool holds for a recorded program that runs again and again without a plan.
//!
//! `cargo run --release -p memplan-replay --example pool -- recording.csv`
//!
//! The file has a line `id,lower,upper,size` for each allocation. Host memory has pages of 64 KiB, a GPU of 2 MiB, so
//! sizes are divided by 32.
//!
//! A program does other things between two requests, so that little of the allocator is left in the processor's caches.
//! So the last figures are measured with other memory touched before each call (`BETWEEN` bytes). They are the medians of
//! allocations and of frees, of small and of large blocks.

use std::error::Error;
use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use memplan_replay::abi;
use memplan_replay::allocator::Allocator;
use memplan_replay::backing::Host;

const SCALE: u64 = 32;
const ROUNDS: u32 = 10;
/// Bytes that are touched between two calls; about what PyTorch touches between two requests.
const BETWEEN: usize = 5 << 19;
/// Bytes of a cache line.
const LINE: usize = 64;
/// From here on (a mebibyte on a GPU) blocks are large.
const LARGE: u64 = (1 << 20) / SCALE;

/// The step, whether it is an allocation (or a free), whose, and of how many bytes.
type Event = (u64, bool, usize, u64);

/// Allocations and frees in the order in which they happen.
fn events(text: &str) -> Result<Vec<Event>, Box<dyn Error>> {
    let mut events = Vec::new();
    for (number, line) in text.lines().skip(1).enumerate() {
        let fields: Vec<&str> = line.split(',').collect();
        let [_, lower, upper, size] = fields[..] else { return Err(format!("line {}: {line}", number + 2).into()) };
        let size = size.parse::<u64>()? / SCALE;
        events.push((lower.parse()?, true, number, size));
        events.push((upper.parse()?, false, number, size));
    }
    // At the same step, what ends goes before anything starts.
    events.sort_unstable();
    Ok(events)
}

fn fact(report: &str, name: &str) -> u64 {
    let (_, rest) = report.split_once(&format!("\"{name}\":")).unwrap_or_default();
    rest.split([',', '}']).next().and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// Nanoseconds of an allocation and of a free, of small and then of large blocks, when caches are cold.
fn cold(events: &[Event]) -> [u128; 4] {
    let stream = std::ptr::null_mut();
    abi::memplan_replay_open((64 << 30) / SCALE);
    let mut addresses = vec![std::ptr::null_mut(); events.len()];
    let mut others = vec![0_u8; BETWEEN];
    let mut times = [const { Vec::new() }; 4];
    for round in 0..3 {
        // A step that the pool serves is not recorded.
        abi::memplan_replay_begin(0, 0);
        for &(_, is_allocation, who, bytes) in events {
            if round == 2 {
                others.iter_mut().step_by(LINE).for_each(|byte| *byte = byte.wrapping_add(1));
            }
            let begun = Instant::now();
            if is_allocation {
                addresses[who] = abi::memplan_replay_malloc(bytes as isize, 0, stream);
            } else {
                abi::memplan_replay_free(addresses[who], bytes as isize, 0, stream);
            }
            if round == 2 {
                let kind = 2 * usize::from(bytes >= LARGE) + usize::from(!is_allocation);
                times[kind].push(begun.elapsed().as_nanos());
            }
        }
        abi::memplan_replay_end();
    }
    abi::memplan_replay_close();
    times.map(|mut times| {
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or(0)
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout();
    for file in std::env::args().skip(1) {
        let events = events(&std::fs::read_to_string(&file)?)?;
        let allocator = Allocator::new(Arc::new(Host::new((64 << 30) / SCALE)));
        let mut addresses = vec![0; events.len()];
        let mut moved_first = 0;
        let mut begun = Instant::now();
        for round in 0..ROUNDS {
            for &(_, is_allocation, who, bytes) in &events {
                if is_allocation {
                    addresses[who] = allocator.allocate(bytes, 0, 0)?.address;
                } else {
                    allocator.free(addresses[who], 0, 0);
                }
            }
            if round == 0 {
                moved_first = fact(&allocator.report(), "moved");
                begun = Instant::now();
            }
        }
        let each = begun.elapsed().as_nanos() / u128::from(ROUNDS - 1) / (events.len() as u128 / 2);
        let report = allocator.report();
        let (peak, reserved) = (fact(&report, "peak"), fact(&report, "reserved_peak"));
        let moved = (fact(&report, "moved") - moved_first) / u64::from(ROUNDS - 1) * SCALE / (1 << 20);
        let ratio = reserved as f64 / peak as f64;
        let facts = format!("{ratio:.4} of what is in use at the peak, {moved} MiB of pages moved a round");
        let cold = cold(&events);
        writeln!(out, "{file}: {facts}, {each} ns for a request with its free, {cold:?} ns when caches are cold")?;
    }
    Ok(())
}
